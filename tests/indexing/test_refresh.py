"""Bringing an index up to date with some paths only: what that may not conclude, and what it must not believe."""

import os
from pathlib import Path

import pytest
from vaults import fill, memory, opened, paths

from vault_memory.errors import RefusedError
from vault_memory.indexing.walk_diff import LOSS_CAP
from vault_memory.memory import Memory


def vault(tmp_path: Path, inside: int, outside: int) -> Memory:
    """An indexed vault with notes in a folder `sub`, and others."""
    notes = {f"sub/{n}.md": f"inside {n}" for n in range(inside)} | {f"{n}.md": f"outside {n}" for n in range(outside)}
    mine = memory(fill(tmp_path / "vault", notes))
    mine.index()
    return mine


def test_many_notes_that_are_gone_from_a_path_are_looked_for_in_the_whole_vault(tmp_path: Path) -> None:
    mine = vault(tmp_path, LOSS_CAP + 1, 2 * LOSS_CAP)
    (mine.vault.root / "sub").rename(mine.vault.root / "moved")
    report = mine.index_file.update(["sub"])  # the other end was not told of yet
    assert (report.moved, report.removed) == (LOSS_CAP + 1, 0)


def test_most_notes_gone_from_a_path_are_refused_like_in_a_look_at_everything(tmp_path: Path) -> None:
    mine = vault(tmp_path, 2 * LOSS_CAP, LOSS_CAP)
    (mine.vault.root / "sub").rename(tmp_path / "away")
    with pytest.raises(RefusedError, match="nothing was deleted"):
        mine.index_file.update(["sub"])
    assert len(paths(mine)) == 3 * LOSS_CAP


def test_what_was_told_of_is_read_whatever_its_times_say(tmp_path: Path) -> None:
    mine = vault(tmp_path, 1, 1)
    for path in ("sub/0.md", "0.md"):
        note = mine.vault.root / path
        note.write_text(note.read_text().replace("side", "SIDE"))
        seen_already(mine, path)
    assert mine.index().modified == 0
    assert mine.index_file.update(["0.md"]).modified == 1
    assert mine.index_file.update(["sub"]).modified == 1


def seen_already(mine: Memory, path: str) -> None:
    """Make the index believe that it read the note as it is now, long after it was saved."""
    status = os.stat(mine.vault.root / path)
    with opened(mine) as store, store.writing():
        changed = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, path)
        store.connection.execute("UPDATE note SET size=?, mtime_ns=?, ctime_ns=? WHERE path=?", changed)
        store.set_meta("checked_ns", status.st_mtime_ns + 10**12)
