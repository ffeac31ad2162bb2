"""What stands above a line counts for it: the note's title and the heading of its section."""

from pathlib import Path

import pytest
from vaults import fill, memory

NOTES = {f"Journal/Meeting {n}.md": f"The prizes of day {n}.\n\nAt Obsidian, in October.\n" for n in range(30)}
NOTES |= {
    "Obsidian October 2022 prizes.md": "A license and a hoodie.\n\nFive mugs.\n",
    "Notes/Film.md": "The animation of that film took ten years, and the last one longer.\n",
    "Notes/Layout.md": "The UI should last; how long is a question of taste.\n",
    "Notes/Design.md": "# Design\n\n## Colour\n\n- no more than five\n- never pure black\n\n"
    "## UI animation\n\n- https://example.org/motion\n- less than 300ms\n\n"
    "## Type\n\n- one family\n- at most 75 letters\n",
}


@pytest.mark.parametrize(
    ("question", "path", "said"),
    [
        ("prizes at obsidian october 2022", "Obsidian October 2022 prizes.md", ""),
        ("obsidian october prizes", "Obsidian October 2022 prizes.md", ""),
        ("how long should a UI animation last?", "Notes/Design.md", "- less than 300ms"),
    ],
)
def test_a_line_is_found_by_what_stands_above_it(tmp_path: Path, question: str, path: str, said: str) -> None:
    results = memory(fill(tmp_path / "vault", NOTES)).recall(question, k=4, journal=False).results
    assert (results[0].path if not said else path) == path
    assert not said or said in [result.content for result in results if result.path == path]


def test_what_only_embeds_comes_behind_what_says_something(tmp_path: Path) -> None:
    notes = {
        "Categories/Books.md": "![[Books.base]]\n",
        "Categories/Books I read.md": "![[Books.base#read]]\n",
        "Templates/Author.md": "## Books\n\n![[Books.base#Author]]\n![[Books.base#Year]]\n",
        "Notes/Steph.md": "- Discussed the book Out of Control with Steph\n",
    }
    found = memory(fill(tmp_path / "vault", notes)).recall("books I read", k=2, journal=False).results
    assert "Notes/Steph.md" in [result.path for result in found]


def test_a_note_called_what_is_asked_comes_first_whatever_its_title_spells_out(tmp_path: Path) -> None:
    about = "---\ntitle: Conflict-free Replicated Data Type (CRDT)\n---\nEvery actor converges to one state.\n"
    notes = {"CRDT.md": about, "CRDT Implementations.md": "A CRDT in Go.\n\nA CRDT in Rust.\n"}
    of = memory(fill(tmp_path / "v", notes))
    for question in ("CRDT", "what is a CRDT?"):
        assert of.recall(question).results[0].path == "CRDT.md"
