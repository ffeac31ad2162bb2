"""Reading a note for somebody with scopes: what is shut or excluded is not there, whatever it holds."""

from dataclasses import replace
from pathlib import Path

import pytest
from vaults import fill, memory

SCOPES = ("global", "agent:me")


@pytest.mark.parametrize("text", ["", "words\n", "---\nscope: agent:other\n---\n"])
def test_a_note_in_a_shut_folder_is_not_found(tmp_path: Path, text: str) -> None:
    mine = memory(fill(tmp_path, {"shut/a.md": text}), folder_scopes=(("shut", "agent:other"),))
    assert mine.get("shut/a.md", scopes=SCOPES).not_found
    assert not mine.get("shut/a.md").not_found


def test_an_empty_note_that_is_open_is_empty(tmp_path: Path) -> None:
    assert not memory(fill(tmp_path, {"a.md": ""})).get("a.md", scopes=SCOPES).not_found


def test_what_the_user_excluded_is_not_found_by_an_agent(tmp_path: Path) -> None:
    excluded = '{"userIgnoreFilters": ["Diary/"]}'
    notes = {"Out/a.md": "x\n", "Diary/b.md": "x\n", "c.md": "x\n", ".obsidian/app.json": excluded}
    mine = memory(fill(tmp_path, notes), ignore=("Out/*",))
    (tmp_path / "link.md").symlink_to(tmp_path / "Diary/b.md")
    for path, is_out in {"Out/a.md": True, "Diary/b": True, "link.md": True, "c.md": False}.items():
        assert mine.get(path, scopes=SCOPES).not_found == is_out
        assert not mine.get(path).not_found


SHUT = "- (scope=agent:other) shut\n"
MIXED = f"# Log\n\n- open\n{SHUT}- open too\n\n{SHUT}{SHUT}"
BLANKED = "# Log\n\n- open\n\n- open too\n\n"


@pytest.mark.parametrize("lines", [None, (1, None), (4, 4), (4, 5), (6, 6), (7, 7), (7, 9), (8, None), (40, 40)])
def test_shut_lines_read_as_blank_ones_and_at_the_end_as_none(
    tmp_path: Path, lines: tuple[int, int | None] | None
) -> None:
    """Not even how many there are is told: scopes leak in no count."""
    mine = memory(fill(tmp_path, {"a.md": MIXED, "b/a.md": BLANKED}))
    mixed, blanked = mine.get("a.md", lines, scopes=SCOPES), mine.get("b/a.md", lines, scopes=SCOPES)
    assert mixed == replace(blanked, path="a.md")
    assert not mixed.not_found and mixed.lines == 6


def test_a_note_whose_lines_are_all_shut_is_not_found(tmp_path: Path) -> None:
    mine = memory(fill(tmp_path, {"a.md": f"{SHUT}\n{SHUT}"}))
    for lines in (None, (2, 2), (1, 1), (9, 9)):
        assert mine.get("a.md", lines, scopes=SCOPES) == replace(mine.get("b.md", lines, scopes=SCOPES), path="a.md")


BUDGET = """# Budget

## Spent **so far**
Rope and paint. ^p1

### Boats
- A keel, which
  was dear ^keel
  - and a mast
- A sail

## Left
Nothing much,
and less by the day.

^left
"""


@pytest.mark.parametrize(
    ("anchor", "lines"),
    [
        ("Spent so far", (3, 10)),
        ("spent-so-far", (3, 10)),
        ("Boats", (6, 10)),
        ("Budget#Boats", (6, 10)),
        ("Left#Boats", (1, 16)),
        ("Budget", (1, 16)),
        ("No such", (1, 16)),
        ("^p1", (4, 4)),
        ("^Keel", (7, 9)),
        ("^left", (13, 16)),
        ("^none", (1, 16)),
    ],
)
def test_a_heading_or_block_id_behind_a_note_reads_that_section(
    tmp_path: Path, anchor: str, lines: tuple[int, int]
) -> None:
    mine = memory(fill(tmp_path, {"Budget.md": BUDGET}))
    found = mine.get(f"Budget#{anchor}")
    assert (found.path, found.start_line, found.end_line) == ("Budget.md", *lines)
    assert found.text == "\n".join(BUDGET.split("\n")[lines[0] - 1 : lines[1]])
    assert bool(found.missing_section) == (anchor in ("No such", "Left#Boats", "^none"))


def test_lines_of_a_section_end_with_it(tmp_path: Path) -> None:
    mine = memory(fill(tmp_path, {"Budget.md": BUDGET, "C#.md": "sharp\n"}))
    found = mine.get("Budget.md#Boats", (8, None))
    assert (found.start_line, found.end_line) == (8, 10)
    assert mine.get("C#").text == "sharp"  # a file's own name comes first


def test_a_section_that_is_shut_is_as_one_that_is_not_there(tmp_path: Path) -> None:
    text = "# Log\n\n## Plans (scope=agent:other)\n- (scope=agent:other) shut ^s\n- open\n"
    mine = memory(fill(tmp_path, {"a.md": text}))
    assert not mine.get("a#^s").missing_section
    shut, none = (mine.get(f"a#^{name}", scopes=SCOPES) for name in ("s", "n"))
    assert shut == replace(none, missing_section="^s")
