"""One run's pre-images: what notes held before it changed them.

They lie in `.memory/history/<UTC stamp>-<device>-<kind>/`: each earlier text once, named by its hash, and `run.jsonl`
with a line a change. Both are durable before a note is replaced, so a killed run can be undone too.
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
    """One note as a run changed it: SHA-256 of its bytes before (None: there was none) and after, and why."""

    path: str
    before: str | None
    after: str
    why: str = ""


class SavedRun:
    """One run's pre-images. The folder is made with the first of them: a run that changes nothing leaves nothing."""

    def __init__(self, root: Path, name: str) -> None:
        self._root, self.name = root, name
        stamp, _, self.kind = name.split("-")
        self.started = datetime.strptime(stamp, _STAMP).replace(tzinfo=UTC)

    @classmethod
    def begin(cls, root: Path, kind: str) -> "SavedRun":
        """A new run of that kind (`reflect`, `forget`: small letters)."""
        return cls(root, f"{datetime.now(UTC).strftime(_STAMP)}-{locations.device_id()}-{kind}")

    @property
    def place(self) -> str:
        """The folder, relative to the vault."""
        return f"{locations.MEMORY_FOLDER}/{FOLDER}/{self.name}"

    @cached_property
    def _folder(self) -> Path:
        return locations.place_to_write(self._root, f"{FOLDER}/{self.name}")

    def keep(self, path: str, before: bytes | None, after: bytes, why: str = "") -> None:
        """Keep what a note holds, if there is one, before it is replaced by `after`. Durable when it returns.

        Raises RefusedError for a link out of the vault, VaultError when the system refuses.
        """
        self.note(NoteChange(path, hash_or_none(before), digest(after), why)._asdict(), path, before)

    def note(self, line: dict[str, Any], path: str, before: bytes | None = None) -> None:
        """Add a line to run.jsonl, after what the note at `path` held; raises like `keep`.

        `{"folder": …}` is a folder that is about to be made, `{"forgot": key, "note": path}` a fact that is forgotten.
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

    def forgotten(self) -> dict[str, str]:
        """The notes from which the run has taken a fact that is forgotten, each with the fact's key as hex digits."""
        return {str(line["note"]): str(line["forgot"]) for line in self.lines() if "forgot" in line}

    @property
    def is_undone(self) -> bool:
        return any("undone" in line for line in self.lines())

    def lines(self) -> Iterator[dict[str, Any]]:
        """The lines of run.jsonl; a last one that was cut off tells of a write that was never made."""
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


def digest(data: bytes) -> str:
    """The hash by which a run names what a note held."""
    return hashlib.sha256(data).hexdigest()


def hash_or_none(data: bytes | None) -> str | None:
    return None if data is None else digest(data)


def _settle(folder: Path) -> None:
    """Have the names in a folder outlive a power cut, where the system can do that."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
