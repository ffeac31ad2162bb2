"""Reading a note for somebody with scopes: what is shut or excluded is not there, whatever it holds."""

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
