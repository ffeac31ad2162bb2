"""Keeps what notes held before a run of this program changed them, so that it can be undone byte for byte.

They lie in `.memory/history/<UTC stamp>-<device>-<kind>/`, a folder a run: each earlier text once, named by its hash,
and `run.jsonl` with a line a change. Both are durable before a note is replaced, so a killed run can be undone too.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from vault_memory.errors import ConflictError, RefusedError, UsageError, VaultError, VaultMemoryError
from vault_memory.startup import open_regular
from vault_memory.vault import locations, safe_files
from vault_memory.vault.vault import Vault

FOLDER = "history"
KEPT_RUNS, KEPT_DAYS = 20, 90
"""So many of the newest runs are kept whatever their age, and all that are younger than this."""

_STAMP = "%Y%m%dT%H%M%S.%fZ"
_NAME = re.compile(r"\d{8}T\d{6}\.\d{6}Z-[^\W_]+-[a-z]+")
_LINK_IS_NONE = getattr(os, "O_NOFOLLOW", 0)


class NoteChange(NamedTuple):
    """One note as a run changed it: SHA-256 of its bytes before (None: there was none) and after, and why."""

    path: str
    before: str | None
    after: str
    why: str = ""


class RestoredNote(NamedTuple):
    """A note to be put back: what it holds now, and is to hold again (None: it is to be deleted)."""

    path: str
    now: bytes
    text: bytes | None


class UndoReport(NamedTuple):
    """What an undo of a run does, or has done; `kept` are the notes that were changed since and stay as they are."""

    run: str
    backs: tuple[RestoredNote, ...]
    kept: tuple[str, ...] = ()

    @property
    def paths(self) -> list[str]:
        return [back.path for back in self.backs]


class SavedRun:
    """One run's pre-images. The folder is made with the first of them: a run that changes nothing leaves nothing."""

    def __init__(self, root: Path, name: str) -> None:
        self._root, self.name = root, name
        stamp, _, self.kind = name.split("-")
        self.started = datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC)

    @property
    def place(self) -> str:
        """The folder, relative to the vault."""
        return f"{locations.MEMORY_FOLDER}/{FOLDER}/{self.name}"

    @cached_property
    def _folder(self) -> Path:
        folder = locations.derived(self._root, f"{FOLDER}/{self.name}")
        if folder is None:
            what = f"{self.place} is behind a link: nothing was written."
            raise RefusedError(what, "Make `.memory` and `history` plain folders.")
        return folder

    def keep(self, path: str, before: bytes | None, after: bytes, why: str = "") -> None:
        """Keep what a note holds, if there is one, before it is replaced by `after`. Durable when it returns.

        Raises RefusedError for a link out of the vault, VaultError when the system refuses.
        """
        self.note(NoteChange(path, _hash(before), digest(after), why)._asdict(), path, before)

    def note(self, line: dict[str, Any], path: str, before: bytes | None = None) -> None:
        """Add a line to run.jsonl, after what the note at `path` held; raises like `keep`.

        `{"folder": …}` is a folder that is about to be made.
        """
        try:
            if not self._folder.is_dir():
                locations.make_folder(self._folder)  # for its owner only: the notes in it may be
                _settle(self._folder.parent)
            if before is not None:
                safe_files.replace_durably(self._folder / digest(before), before)
            flags = os.O_RDWR | os.O_CREAT | _LINK_IS_NONE
            with open(os.open(self._folder / "run.jsonl", flags, 0o600), "r+b") as handle:
                # A line cut off by a crash tells of a write that was never made: nothing may be written behind it.
                handle.seek(handle.read().rfind(b"\n") + 1)
                handle.truncate()
                handle.write(json.dumps(line, separators=(",", ":")).encode("ascii") + b"\n")
                handle.flush()
                os.fsync(handle.fileno())
            _settle(self._folder)
        except OSError as error:
            raise VaultError(
                f"{self.place} cannot be written: {error.strerror or error}; {path} was not changed.",
                "Check permissions and free space.",
            ) from error

    def changes(self) -> list[NoteChange]:
        """What the run changed or was about to, in order. Raises VaultError when that cannot be read."""
        return [NoteChange(**line) for line in self.lines() if "path" in line]

    @property
    def is_undone(self) -> bool:
        return any("undone" in line for line in self.lines())

    def lines(self) -> Iterator[dict[str, Any]]:
        """The lines of run.jsonl; a last one that was cut off tells of a write that was never made."""
        for number, line in enumerate(self._read("run.jsonl").split(b"\n")[:-1], start=1):
            try:
                found = json.loads(line)
                if "undone" not in found and "folder" not in found:
                    NoteChange(**found)
            except (ValueError, TypeError, RecursionError) as error:
                what = f"{self.place}/run.jsonl is damaged in line {number}: nothing was changed."
                raise VaultError(what, "Its other files hold what the notes held before.") from error
            yield found

    def _read(self, name: str) -> bytes:
        try:
            with open_regular(self._folder / name, _LINK_IS_NONE) as handle:
                return handle.read()
        except FileNotFoundError:
            return b""
        except OSError as error:
            what = f"{self.place}/{name} cannot be read: {error.strerror}."
            raise VaultError(what, "Nothing was changed.") from error

    def text(self, change: NoteChange) -> bytes | None:
        """What the note held before that change; raises VaultError when it is not there any more as it was kept."""
        if change.before is None:
            return None
        held = self._read(change.before) if re.fullmatch(r"[0-9a-f]{64}", change.before) else b""
        if digest(held) != change.before:
            what = f"What {change.path} held before is missing from {self.place}, or damaged."
            raise VaultError(what, "Nothing was changed.")
        return held

    def drop(self) -> None:
        """Delete these pre-images: nothing was changed after all, or they are too old."""
        with contextlib.suppress(RefusedError):
            shutil.rmtree(self._folder, ignore_errors=True)


class UndoHistory:
    """All runs of one vault; `root` is the vault's real path."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def begin(self, kind: str) -> SavedRun:
        """A new run of that kind (`reflect`, `forget`: small letters); what is too old to be kept goes."""
        self.prune()
        return SavedRun(self._root, f"{datetime.now(UTC).strftime(_STAMP)}-{locations.device_id()}-{kind}")

    def runs(self, kind: str = "") -> list[SavedRun]:
        """The runs, newest first, of all devices; only those of one kind where it is given."""
        if locations.derived(self._root, FOLDER) is None:
            return []
        names: list[str] = []
        with contextlib.suppress(OSError), os.scandir(self._root / locations.MEMORY_FOLDER / FOLDER) as entries:
            names = [e.name for e in entries if _NAME.fullmatch(e.name) and e.is_dir(follow_symlinks=False)]
        found = [SavedRun(self._root, name) for name in sorted(names, reverse=True)]
        return [run for run in found if kind in ("", run.kind)]

    def named(self, name: str) -> SavedRun:
        """The run of that name; raises UsageError when there is none."""
        found = [run for run in self.runs() if run.name == name]
        if not found:
            raise UsageError(f"There is no run `{name}`.", "Runs are named as their folders in .memory/history.")
        return found[0]

    def prune(self) -> None:
        """Delete the runs that are too old to be kept."""
        oldest = datetime.now(UTC) - timedelta(days=KEPT_DAYS)
        for run in self.runs()[KEPT_RUNS:]:
            if run.started < oldest:
                run.drop()

    def undo(self, run: SavedRun, vault: Vault, *, force: bool = False) -> UndoReport:
        """Put back, byte for byte, what that run changed. What was not there before is deleted.

        A note that was never written, or is as it was already, is left alone; so a second undo goes on where one was
        cut short. Raises like `undoing` before anything is written, and VaultMemoryError where only a part could be.
        """
        found = self.undoing(run, vault, force=force)
        failed: dict[str, VaultMemoryError] = {}
        for path, now, text in found.backs:
            try:
                if text is None:
                    vault.remove(path, now)
                else:
                    vault.write(path, text, now)
            except VaultMemoryError as error:  # one that cannot be written keeps no other from its place
                failed[path] = error
        done = [path for path in found.paths if path not in failed]
        if failed and not done:
            raise next(iter(failed.values()))
        if failed:
            whys = "; ".join(str(error).partition(";")[0].rstrip(".") for error in failed.values())
            raise VaultMemoryError(
                f"{run.name} is undone in part. As before it: {', '.join(done)}. Not put back: {whys}.",
                f"When that is fixed, `memory reflect --undo {run.name}` goes on.",
            )
        for folder in reversed([str(line["folder"]) for line in run.lines() if "folder" in line]):
            vault.remove_folder(folder)
        with contextlib.suppress(VaultError):  # the notes are as they were all the same
            run.note({"undone": datetime.now(UTC).isoformat(timespec="seconds")}, "run.jsonl")
        return found

    def undoing(self, run: SavedRun, vault: Vault, *, force: bool = False) -> UndoReport:
        """What `undo` would do; nothing is written. With `force` what was changed since is left as it is.

        Else raises ConflictError when a note is neither as the run found it nor as the run left it, and UsageError when
        nothing is to undo.
        """
        notes: dict[str, list[NoteChange]] = {}
        for change in run.changes():
            notes.setdefault(change.path, []).append(change)
        backs: list[tuple[bytes, NoteChange]] = []
        changed: list[str] = []
        for path, made in notes.items():
            now = _read_note(vault, path)
            held, first = _hash(now), None
            for change in reversed(made):  # from the last that was made: those after it were never written
                if held == change.after:
                    held, first = change.before, change
            if first is not None and now is not None and held != _hash(now):
                backs.append((now, first))
            elif held not in [change.before for change in made]:
                changed.append(path)
        if changed and not force:
            raise ConflictError(
                f"{', '.join(sorted(changed))}: changed since {run.name}; nothing was undone.",
                f"With --force all else is put back. The earlier texts lie in {run.place}.",
            )
        if not backs:
            raise UsageError(f"There is nothing to undo in {run.name}.", "All its notes are as they were before.")
        # All texts are read before the first note is touched.
        found = tuple(RestoredNote(change.path, now, run.text(change)) for now, change in backs)
        return UndoReport(run.name, found, tuple(sorted(changed)))


def _read_note(vault: Vault, path: str) -> bytes | None:
    if not locations.is_inside(vault.root, vault.root / path):
        raise RefusedError(f"{path} leads out of the vault: nothing was undone.", "Somebody else wrote that run.")
    try:
        return vault.read(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise VaultError(f"{path} cannot be read: {error}; nothing was undone.", "Check its permissions.") from error


def digest(data: bytes) -> str:
    """The hash by which a run names what a note held."""
    return hashlib.sha256(data).hexdigest()


def _hash(data: bytes | None) -> str | None:
    return None if data is None else digest(data)


def _settle(folder: Path) -> None:
    """Have the names in a folder outlive a power cut, where the system can do that."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
