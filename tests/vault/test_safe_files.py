"""A save of another program at any moment of a write is kept: in the note, or as a conflict that is told."""

import contextlib
import os
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from interleaving import disturbed

from vault_memory.config import Config
from vault_memory.errors import ConflictError, VaultError
from vault_memory.vault import safe_files
from vault_memory.vault.vault import Vault

BEFORE, OURS, THEIRS = b"one\n", b"one\nours\n", b"theirs\n"


def append(note: Path) -> None:
    with open(note, "ab") as handle:
        handle.write(THEIRS)


def rename_over(note: Path) -> None:
    part = note.with_name("editor.tmp")
    part.write_bytes(note.read_bytes() + THEIRS)
    os.replace(part, note)


def overwrite(note: Path) -> None:
    note.write_bytes(note.read_bytes() + THEIRS)


@pytest.mark.parametrize("save", [append, rename_over, overwrite])
def test_a_save_at_any_moment_of_a_write_is_not_lost(tmp_path: Path, save: Callable[[Path], None]) -> None:
    of, note = Vault(Config(vault=tmp_path)), tmp_path / "note.md"

    def write() -> None:
        with contextlib.suppress(ConflictError):
            of.write("note.md", OURS, BEFORE)

    note.write_bytes(BEFORE)
    for at in count():
        if not disturbed(write, lambda: save(note), at):
            break
        assert THEIRS in note.read_bytes(), at
        assert not list(tmp_path.glob(".memory/tmp/*"))
        note.write_bytes(BEFORE)


@pytest.mark.skipif(sys.platform != "linux", reason="no other system tells who holds a file open")
def test_what_a_program_writes_into_a_note_it_holds_open_is_not_lost(tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_bytes(BEFORE)
    with open(note, "ab") as recorder:
        with pytest.raises(ConflictError):
            Vault(Config(vault=tmp_path)).write("note.md", OURS, BEFORE)
        recorder.write(THEIRS)
    assert note.read_bytes() == BEFORE + THEIRS


@pytest.mark.parametrize("save", [append, overwrite])
def test_a_save_is_not_lost_where_two_files_cannot_change_places(tmp_path: Path, save: Callable[[Path], None]) -> None:
    note, part = tmp_path / "note.md", tmp_path / "x.part"

    def replace() -> bool:
        part.write_bytes(OURS)
        return safe_files.replace_by_link(part, note, BEFORE)

    note.write_bytes(BEFORE)
    for at in count():
        if not disturbed(replace, lambda: save(note), at):
            break
        assert THEIRS in note.read_bytes(), at
        note.write_bytes(BEFORE)


def test_a_note_that_is_gone_is_not_replaced(tmp_path: Path) -> None:
    note, part = tmp_path / "note.md", tmp_path / "x.part"
    part.write_bytes(OURS)
    for replace in (safe_files.replace, safe_files.replace_by_link):
        with pytest.raises(FileNotFoundError):
            replace(part, note, BEFORE)
    note.write_bytes(THEIRS)
    with pytest.raises(FileExistsError):
        safe_files.place_new(part, note)
    assert (note.read_bytes(), part.read_bytes()) == (THEIRS, OURS)


@pytest.mark.parametrize("save", [append, rename_over, overwrite])
def test_a_save_at_any_moment_of_a_deletion_is_not_lost(tmp_path: Path, save: Callable[[Path], None]) -> None:
    of, note = Vault(Config(vault=tmp_path)), tmp_path / "note.md"

    def remove() -> None:
        with contextlib.suppress(ConflictError, VaultError):
            of.remove("note.md", BEFORE)

    for at in count():
        note.write_bytes(BEFORE)
        saved = []

        def save_what_is_there(saved: list[bool] = saved) -> None:
            if note.exists():
                save(note)
                saved.append(True)

        if not disturbed(remove, save_what_is_there, at):
            break
        assert not saved or THEIRS in note.read_bytes(), at
