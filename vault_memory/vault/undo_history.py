"""Keeps the pre-images of each run that changes notes, so that the run can be undone byte for byte."""

import contextlib
import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from vault_memory.errors import ConflictError, RefusedError, UsageError, VaultError, VaultMemoryError
from vault_memory.vault import locations
from vault_memory.vault.undo_record import FOLDER, NoteChange, UndoRecord, hash_or_none
from vault_memory.vault.vault import Vault

KEPT_RUNS, KEPT_DAYS = 20, 90
"""The newest runs that are kept whatever their age, and the age in days up to which all are kept."""

_NAME = re.compile(r"\d{8}T\d{6}\.\d{6}Z-[^\W_]+-[a-z]+")


class RestoredNote(NamedTuple):
    """A note to be restored: its current bytes, and those to restore (None: it is to be deleted)."""

    path: str
    now: bytes
    text: bytes | None


class UndoReport(NamedTuple):
    """What undoing a run of that kind does, or has done; `kept` are the notes changed since, which stay as they are."""

    run: str
    kind: str
    started: datetime
    backs: tuple[RestoredNote, ...]
    kept: tuple[str, ...] = ()

    @property
    def paths(self) -> list[str]:
        return [back.path for back in self.backs]


class UndoHistory:
    """All runs of one vault; `root` is the vault's real path."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def begin(self, kind: str) -> UndoRecord:
        """A new run of that kind (`reflect`, `forget` …, in lower case); prunes old runs first."""
        self.prune()
        return UndoRecord.begin(self._root, kind)

    def runs(self, kind: str = "") -> list[UndoRecord]:
        """The runs of all devices, newest first; with `kind`, only those of that kind."""
        if locations.derived(self._root, FOLDER) is None:
            return []
        names: list[str] = []
        with contextlib.suppress(OSError), os.scandir(self._root / locations.MEMORY_FOLDER / FOLDER) as entries:
            names = [e.name for e in entries if _NAME.fullmatch(e.name) and e.is_dir(follow_symlinks=False)]
        found = [UndoRecord(self._root, name) for name in sorted(names, reverse=True)]
        return [run for run in found if kind in ("", run.kind)]

    def named(self, name: str) -> UndoRecord:
        """The run of that name; raises UsageError when there is none."""
        found = [run for run in self.runs() if run.name == name]
        if not found:
            raise UsageError(f"There is no run `{name}`.", "Runs are named as their folders in .memory/history.")
        return found[0]

    def prune(self) -> None:
        """Delete the runs that are older than KEPT_DAYS and not among the KEPT_RUNS newest."""
        oldest = datetime.now(UTC) - timedelta(days=KEPT_DAYS)
        for run in self.runs()[KEPT_RUNS:]:
            if run.started < oldest:
                run.drop()

    def undo(self, run: UndoRecord, vault: Vault, *, force: bool = False) -> UndoReport:
        """Restore the notes that run changed, byte for byte, and delete those it created.

        A note that was never written, or is already as it was before, is left alone, so that a second undo continues
        an interrupted one. Raises like `undoing` before anything is written, VaultMemoryError if only some could be.
        """
        found = self.undoing(run, vault, force=force)
        failed: dict[str, VaultMemoryError] = {}
        for path, now, text in found.backs:
            try:
                if text is None:
                    vault.remove(path, now)
                else:
                    vault.write(path, text, now)
            except VaultMemoryError as error:  # one failure must not keep the others from being restored
                failed[path] = error
        done = [path for path in found.paths if path not in failed]
        if failed and not done:
            raise next(iter(failed.values()))
        if failed:
            whys = "; ".join(str(error).partition(";")[0].rstrip(".") for error in failed.values())
            raise VaultMemoryError(
                f"{run.name} is undone in part. As before it: {', '.join(done)}. Not put back: {whys}.",
                f"When that is fixed, `memory undo {run.name}` goes on.",
            )
        for folder in reversed([str(line["folder"]) for line in run.lines() if "folder" in line]):
            vault.remove_folder(folder)
        with contextlib.suppress(VaultError):  # the notes are restored all the same
            run.note({"undone": datetime.now(UTC).isoformat(timespec="seconds")}, "run.jsonl")
        return found

    def undoing(self, run: UndoRecord, vault: Vault, *, force: bool = False) -> UndoReport:
        """What `undo` would do; writes nothing. With `force`, notes changed since the run are left as they are.

        Without it, raises ConflictError if a note is neither as the run found it nor as the run left it. Raises
        UsageError if there is nothing to undo.
        """
        notes: dict[str, list[NoteChange]] = {}
        for change in run.changes():
            notes.setdefault(change.path, []).append(change)
        backs: list[tuple[bytes, NoteChange]] = []
        changed: list[str] = []
        for path, made in notes.items():
            now = _read_note(vault, path)
            held, first = hash_or_none(now), None
            for change in reversed(made):  # from the last one that was written
                if held == change.after:
                    held, first = change.before, change
            if first is not None and now is not None and held != hash_or_none(now):
                backs.append((now, first))
            elif held not in [change.before for change in made]:
                changed.append(path)
        if changed and not (force and backs):
            rest = "With --force all else is put back. " if backs else ""
            raise ConflictError(
                f"{', '.join(sorted(changed))}: changed since {run.name}; nothing was undone.",
                f"{rest}The earlier texts lie in {run.place}.",
            )
        if not backs:
            raise UsageError(f"There is nothing to undo in {run.name}.", "All its notes are as they were before.")
        # All texts are read before the first note is touched.
        found = tuple(RestoredNote(change.path, now, run.text(change)) for now, change in backs)
        return UndoReport(run.name, run.kind, run.started, found, tuple(sorted(changed)))


def _read_note(vault: Vault, path: str) -> bytes | None:
    if not locations.is_inside(vault.root, vault.root / path):
        raise RefusedError(f"{path} leads out of the vault: nothing was undone.", "Somebody else wrote that run.")
    try:
        return vault.read(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise VaultError(f"{path} cannot be read: {error}; nothing was undone.", "Check its permissions.") from error
