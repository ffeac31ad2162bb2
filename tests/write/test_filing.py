"""Notes that an agent has made: frontmatter that is read back, names every system takes."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.errors import UsageError
from vault_memory.markdown.parse import parse
from vault_memory.vault.vault import inside
from vault_memory.write.new_note import NewNote, check, note, path

NOW = datetime(2025, 12, 3, 14, 5)


def test_a_note_has_its_title_day_kind_and_writer() -> None:
    filing = NewNote('Trains: "the" plan', "# Why\n\nBecause.\n", "opinion", ("Nora",), "agent:x")
    assert path(filing, NOW) == "notes/opinion/trains-the-plan-2025-12-03-1405.md"
    assert path(filing, NOW, 1) == "notes/opinion/trains-the-plan-2025-12-03-1405-2.md"
    text = note(filing, NOW)
    assert text.endswith(b"---\n\n# Why\n\nBecause.\n\n[[Nora]]\n")
    found = parse("x.md", text)
    assert found.title == 'Trains: "the" plan'
    assert [str(found.properties[key]) for key in ("date", "kind", "by")] == ["2025-12-03", "opinion", "agent:x"]


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("", "x"), (" \n", "x"), ("../", "x"), ("x", " "), ("x", "x" * 100_001), ("x", "<!-- open"),
        ("x", "<!-- memory:begin facts -->\n- Ours?\n<!-- memory:end facts sha=1a -->"),
    ],
)  # fmt: skip
def test_what_makes_no_note_is_refused(title: str, text: str) -> None:
    with pytest.raises(UsageError):
        check(NewNote(title, text))


@given(st.text(min_size=1, max_size=200))
def test_any_title_gives_a_name_in_the_vault_and_is_read_back(title: str) -> None:
    filing = NewNote(title, "text")
    try:
        check(filing)
    except UsageError:
        return
    name = path(filing, NOW)
    assert inside(name) == name and len(name) < 120 and name.count("/") == 2
    found = parse(name, note(filing, NOW))
    assert found.title == " ".join(title.split())
    assert found.lines[-1] == "text"
