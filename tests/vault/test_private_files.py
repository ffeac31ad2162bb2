"""What this program makes of notes is for their owner alone: a note may be private, and its text is in the index."""

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sample import call
from vaults import age, fill, memory

from vault_memory.startup import user_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such modes")

NOTE = "memory/2025-11-27.md"


@pytest.fixture(autouse=True)
def _usual_mask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def open_to_others(*folders: Path) -> list[str]:
    """What somebody else could read or enter."""
    found = [path for folder in folders for path in (folder, *folder.rglob("*")) if not path.is_socket()]
    return [str(path) for path in found if stat.S_IMODE(path.lstat().st_mode) & 0o077]


@pytest.mark.parametrize("place", ["Notes", "Dropbox/Notes"])
def test_nothing_that_is_made_is_open_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    data, root = Path(user_folder("data", os.environ)), tmp_path / place
    assert call("init", str(root)).code == 0
    for asked in (
        ("retain", "A secret diary.", "--date", "2025-11-27"), ("recall", "diary"), ("reflect",),
        ("index", "--rebuild"), ("retain", "Another.", "--date", "2025-11-27"), ("forget", f"{NOTE}#L9", "--yes"),
    ):  # fmt: skip
        for note in root.rglob("*.md"):
            age(note, 60)  # or its editor would be given a moment
        assert call("--vault", str(root), *asked).code in (0, 1), asked
    assert (root / ".memory/index.sqlite").exists() == (place == "Notes")
    assert open_to_others(root / ".memory", data) == []
    assert stat.S_IMODE((root / NOTE).stat().st_mode) == 0o644


def test_what_an_earlier_version_left_open_is_closed(tmp_path: Path) -> None:
    root = fill(tmp_path, {"a.md": "A secret diary.\n"})
    mine = memory(root)
    mine.index()
    (root / ".memory").chmod(0o755)
    for path in (root / ".memory").rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    with mine.index_file.reading():
        assert [Path(path).name for path in open_to_others(root / ".memory") if "index.sqlite" in path] == []
        assert stat.S_IMODE((root / ".memory").stat().st_mode) == 0o700


def test_a_folder_that_the_user_chose_keeps_its_mode(tmp_path: Path) -> None:
    root, chosen = fill(tmp_path / "Notes", {"a.md": "x\n"}), tmp_path / "shared"
    chosen.mkdir(mode=0o755)
    memory(root, index_path=chosen).index()
    assert stat.S_IMODE(chosen.stat().st_mode) == 0o755
    assert open_to_others(*chosen.iterdir()) == []
