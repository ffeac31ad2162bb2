"""One run's pre-images: the contents of notes before the run changed them.

They are in `.memory/history/<UTC stamp>-<device>-<kind>/`: each earlier text once, named by its hash, and `run.jsonl`
with one line per change. Both are durable before a note is replaced, so a killed run can be undone too.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from vault_memory.errors import RefusedError, VaultError
from vault_memory.startup import open_regular
from vault_memory.vault import locations, safe_files

FOLDER = "history"
_STAMP = "%Y%m%dT%H%M%S.%fZ"
_LINK_IS_NONE = getattr(os, "O_NOFOLLOW", 0)


class NoteChange(NamedTuple):
    """One change to a note: the SHA-256 of its bytes before (None: it did not exist) and after, and the reason."""

    path: str
    before: str | None
    after: str
    why: str = ""


class UndoRecord:
    """One run's pre-images. The folder is created with the first one: a run that changes nothing leaves nothing."""

    def __init__(self, root: Path, name: str) -> None:
        self._root, self.name = root, name
        stamp, _, self.kind = name.split("-")
        self.started = datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC)

    @classmethod
    def begin(cls, root: Path, kind: str) -> "UndoRecord":
        """A new run of that kind (`reflect`, `forget` …, in lower case)."""
        return cls(root, f"{datetime.now(UTC).strftime(_STAMP)}-{locations.device_id()}-{kind}")

    @property
    def place(self) -> str:
        """The folder, relative to the vault."""
        return f"{locations.MEMORY_FOLDER}/{FOLDER}/{self.name}"

    @cached_property
    def _folder(self) -> Path:
        return locations.place_to_write(self._root, f"{FOLDER}/{self.name}")

    def keep(self, path: str, before: bytes | None, after: bytes, why: str = "") -> None:
        """Save a note's bytes durably before `after` replaces them; raises RefusedError (a link out) or VaultError."""
        self.note(NoteChange(path, hash_or_none(before), digest(after), why)._asdict(), path, before)

    def note(self, line: dict[str, Any], path: str, before: bytes | None = None) -> None:
        """Append a line to run.jsonl, once `before`, the contents of the note at `path`, is saved; raises like `keep`.

        `{"folder": …}` is a folder about to be created, `{"forgot": key, "note": path}` a forgotten fact.
        """
        try:
            if not self._folder.is_dir():
                locations.make_folder(self._folder)  # for its owner only, as the notes themselves may be
                _settle(self._folder.parent)
            if before is not None:
                safe_files.replace_durably(self._folder / digest(before), before)
            flags = os.O_RDWR | os.O_CREAT | _LINK_IS_NONE
            with open(os.open(self._folder / "run.jsonl", flags, 0o600), "r+b") as handle:
                # A line truncated by a crash is about a write that never happened: overwrite it.
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
        """The changes the run made or was about to make, in order. Raises VaultError when they cannot be read."""
        return [NoteChange(**line) for line in self.lines() if "path" in line]

    def forgotten(self) -> dict[str, str]:
        """The notes from which the run removed a forgotten fact, each with the fact's key as hex digits."""
        return {str(line["note"]): str(line["forgot"]) for line in self.lines() if "forgot" in line}

    @property
    def is_undone(self) -> bool:
        return any("undone" in line for line in self.lines())

    def lines(self) -> Iterator[dict[str, Any]]:
        """The lines of run.jsonl, without a truncated last one: its write never happened."""
        for number, line in enumerate(self._read("run.jsonl").split(b"\n")[:-1], start=1):
            try:
                found = json.loads(line)
                if {"undone", "folder", "forgot"}.isdisjoint(found):
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
        """The note's contents before that change (None: it did not exist); raises VaultError if missing or damaged."""
        if change.before is None:
            return None
        held = self._read(change.before) if re.fullmatch(r"[0-9a-f]{64}", change.before) else b""
        if digest(held) != change.before:
            what = f"What {change.path} held before is missing from {self.place}, or damaged."
            raise VaultError(what, "Nothing was changed.")
        return held

    def drop(self) -> None:
        """Delete these pre-images: the run changed nothing after all, or they are too old."""
        with contextlib.suppress(RefusedError):
            shutil.rmtree(self._folder, ignore_errors=True)


def digest(data: bytes) -> str:
    """The hash that names a pre-image."""
    return hashlib.sha256(data).hexdigest()


def hash_or_none(data: bytes | None) -> str | None:
    return None if data is None else digest(data)


def _settle(folder: Path) -> None:
    """Sync a folder, so that the names in it survive a power cut, where the system supports it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
