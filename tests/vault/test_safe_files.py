"""A save of another program at any moment of a write is kept: in the note, or as a conflict that is told."""

import contextlib
import os
import sys
from collections.abc import Callable
from itertools import count, takewhile
from pathlib import Path

import pytest
from interleaving import disturbed
from vaults import run

from vault_memory.config import Config
from vault_memory.errors import ConflictError, VaultError, VaultMemoryError
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


def write(of: Vault) -> None:
    with contextlib.suppress(VaultMemoryError):
        of.write("note.md", OURS, BEFORE)


def write_by_link(of: Vault) -> None:
    (of.root / "x.part").write_bytes(OURS)
    safe_files.replace_by_link(of.root / "x.part", of.root / "note.md", BEFORE)


@pytest.mark.parametrize(
    ("replace", "save"),
    [(write, append), (write, rename_over), (write, overwrite), (write_by_link, append), (write_by_link, overwrite)],
)
def test_a_save_at_any_moment_of_a_write_is_not_lost(
    tmp_path: Path, replace: Callable[[Vault], None], save: Callable[[Path], None]
) -> None:
    of, note = Vault(Config(vault=tmp_path)), tmp_path / "note.md"
    note.write_bytes(BEFORE)
    for at in count():
        if not disturbed(lambda: replace(of), lambda: save(note), at):
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


@pytest.mark.parametrize("second", ["save", "rename"])
def test_a_save_and_what_is_done_next_during_one_write_lose_nothing(tmp_path: Path, second: str) -> None:
    """What a save itself writes over is its own program's business; anything else is in the note or kept."""
    of, note, saves = Vault(Config(vault=tmp_path)), tmp_path / "note.md", [THEIRS, b"later\n"]
    acts, overwritten, kept_as_later_won = list[str](), list[bytes](), False

    def act() -> None:
        if acts.pop() == "rename":
            os.replace(note, tmp_path / "note.md~")
            return
        overwritten.append(note.read_bytes())
        (tmp_path / "editor.tmp").write_bytes(saves[len(overwritten) - 1])
        os.replace(tmp_path / "editor.tmp", note)

    def reaches(at: int, then: int) -> bool:
        nonlocal kept_as_later_won
        for file in (*tmp_path.glob("note.md~"), *tmp_path.glob(".memory/history/*/*")):
            file.unlink()
        note.write_bytes(BEFORE)
        acts[:], overwritten[:] = [second, "save"], []
        is_reached = disturbed(lambda: write(of), act, at, then)
        kept = [file.read_bytes() for file in tmp_path.glob(".memory/history/*-save/[0-9a-f]*")]
        there = {*overwritten, *kept, *(file.read_bytes() for file in tmp_path.glob("note.md*"))}
        assert {*saves[: len(overwritten)]} <= there, (at, then)
        kept_as_later_won |= THEIRS in kept and note.exists() and note.read_bytes() == saves[1]
        return is_reached

    for at in takewhile(lambda at: reaches(at, at + 1), count()):
        for gap in (2, 3, 5, 8):
            reaches(at, at + gap)
    assert kept_as_later_won is (second == "save")


def test_what_a_killed_writer_had_taken_out_is_kept_in_the_history(tmp_path: Path) -> None:
    of, left = Vault(Config(vault=tmp_path)), tmp_path / ".memory/tmp/0123456789abcdef.part"
    of.write("note.md", BEFORE, None)
    left.write_bytes(THEIRS)
    left.with_name("empty.part").write_bytes(b"")
    left.with_name("kept.txt").write_bytes(b"not ours")
    os.utime(left, (0, 0))  # as the user's note had it
    of.write("note.md", OURS, BEFORE)
    assert [file.read_bytes() for file in tmp_path.glob(".memory/history/*-save/[0-9a-f]*")] == [THEIRS]
    assert [file.name for file in tmp_path.glob(".memory/tmp/*")] == ["kept.txt"]


NO_EXCHANGE = """
import ctypes, platform, struct
number = {"x86_64": 316, "aarch64": 276}[platform.machine()]  # of renameat2
code = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x50000 | 38), (0x06, 0, 0, 0x7FFF0000)]  # 38: ENOSYS
program = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in code))
wanted = ctypes.create_string_buffer(struct.pack("=HxxxxxxQ", len(code), ctypes.addressof(program)))
library = ctypes.CDLL(None, use_errno=True)
assert library.prctl(38, 1, 0, 0, 0) == 0 and library.prctl(22, 2, wanted, 0, 0) == 0
"""
"""Has the system refuse the call to this process (seccomp), as older ones and some file systems do."""


@pytest.mark.skipif(sys.platform != "linux", reason="seccomp is Linux's")
@pytest.mark.parametrize("first", ["", NO_EXCHANGE])
def test_where_two_files_cannot_change_places_doctor_says_so(tmp_path: Path, first: str) -> None:
    (tmp_path / "note.md").write_bytes(BEFORE)
    Vault(Config(vault=tmp_path)).write("note.md", OURS, BEFORE)
    assert ("cannot swap two files" in run(tmp_path, "doctor", first=first).stdout) == bool(first)
    assert run(tmp_path, "retain", "A fact.", first=first).returncode == 0
    assert not list(tmp_path.glob(".memory/tmp/*"))


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
