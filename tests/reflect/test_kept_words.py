"""How long words live on in `.memory`: what a run kept goes after its time, and what was forgotten is in no index."""

import os
import re
import time
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
from reflecting import reflected
from sample import call
from vaults import fill, memory, put

from vault_memory.reflect.generated_blocks import WRITTEN_SECONDS
from vault_memory.vault import undo_history
from vault_memory.vault.undo_history import UndoHistory

STAMP = "%Y%m%dT%H%M%S.%fZ"
SECRET, LOG = "marzipan in the lighthouse", "memory/2025-01-01.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    day = "## Retain\n- W @Nora: {} in the lighthouse.\n- W @Odd: Sails on day {}.\n"
    made = fill(
        tmp_path / "v",
        {f"memory/2025-01-{n:02d}.md": day.format("Hid the marzipan" if n == 1 else f"Lamp {n}", n) for n in (1, 2)},
    )
    reflected(made, "2025-01-03")
    return made


def holding(root: Path, words: str = SECRET) -> set[str]:
    """All files that hold the words."""
    held = (file for file in root.rglob("*") if file.is_file() and words.encode() in file.read_bytes())
    return {file.relative_to(root).as_posix() for file in held}


def aged(root: Path, days: int) -> None:
    """Let everything that a run kept be older by so many days."""
    history = root / ".memory/history"
    for folder in sorted(history.iterdir()):
        if found := re.fullmatch(r"(\d{8}T\d{6}\.\d{6}Z)(-.*)", folder.name):
            before = datetime.strptime(found[1], STAMP) - timedelta(days=days)
            folder.rename(history / f"{before.strftime(STAMP)}{found[2]}")
    for file in (history / "written").iterdir():
        then = file.stat().st_mtime - days * 86400
        os.utime(file, (then, then))


def nights(root: Path, first: int, last: int) -> None:
    """Nightly runs, each with one new fact."""
    for night in range(first, last):
        day = date(2025, 1, 3) + timedelta(days=night)
        put(root, f"memory/{day}.md", f"## Retain\n- W @Odd: Rowed {night} miles.\n")
        reflected(root, str(day + timedelta(days=1)))
        aged(root, 1)


def test_what_was_forgotten_is_in_no_page_and_no_index_after_the_next_run(root: Path) -> None:
    assert {LOG, "bank/entities/Nora.md", ".memory/index.sqlite"} <= holding(root)
    assert call("--vault", str(root), "forget", f"{LOG}#L2", "--yes").code == 0
    reflected(root, "2025-01-03")
    assert {path for path in holding(root) if not path.startswith(".memory/history/")} == set()
    assert any(path.startswith(".memory/history/written/") for path in holding(root)), "the guide says so"


def test_what_notes_do_not_say_any_more_is_not_legible_in_the_index(tmp_path: Path) -> None:
    root = tmp_path / "v"
    for n in range(60):
        put(root, f"n{n}.md", f"## Retain\n- W: What is said in note {n} and in no other. {'So it is. ' * (n * 3)}\n")
    memory(root).index()
    for n in range(0, 60, 3):
        (root / f"n{n}.md").unlink()
    memory(root).index()
    assert holding(root, "said in note 1 and")
    assert {n for n in range(0, 60, 3) if holding(root, f"said in note {n} and")} == set()


def test_what_runs_kept_goes_after_its_time(root: Path) -> None:
    assert call("--vault", str(root), "forget", f"{LOG}#L2", "--yes").code == 0
    nights(root, 0, undo_history.KEPT_RUNS + 3)
    assert holding(root)
    aged(root, undo_history.KEPT_DAYS)
    kept = len(UndoHistory(root).runs())
    nights(root, undo_history.KEPT_RUNS + 3, undo_history.KEPT_RUNS + 6)
    runs = UndoHistory(root).runs()
    assert len(runs) == undo_history.KEPT_RUNS
    assert kept > len(runs)
    assert holding(root) == set()
    named = set(
        re.findall(r"sha=([0-9a-f]{8})", "".join(page.read_text("utf-8") for page in root.rglob("bank/**/*.md")))
    )
    oldest = time.time() - WRITTEN_SECONDS
    old = [file for file in (root / ".memory/history/written").iterdir() if file.stat().st_mtime < oldest]
    assert {file.stem for file in old} <= named
