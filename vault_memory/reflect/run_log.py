"""Records how a vault's last reflect, capture and nightly run on this device ended; provides the page writers' lock.

The records are small files in the user's data folder and contain no text of any note.
"""

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from vault_memory.errors import BusyError, IndexUnusableError, VaultMemoryError
from vault_memory.startup import user_folder, vault_id
from vault_memory.vault import locations
from vault_memory.vault.undo_history import UndoHistory

REFLECT = "reflect"
"""The kind of a reflect run in the undo history."""


class NightlyRun(NamedTuple):
    """The state of the nightly reflect, set for `time`: `seen_to` is the last local day that needs no run any more;
    `ran` is when it last ran and `ok` whether it succeeded, both None before the first run."""

    time: str
    seen_to: date
    ran: datetime | None = None
    ok: bool | None = None


class ReflectEnd(NamedTuple):
    """How a reflect ended, however it was started: pages written and skipped; `why` the first was skipped or, if not
    `ok`, why the run failed. `run` is its name for undo ("" if it wrote nothing)."""

    at: datetime
    pages: int = 0
    skipped: int = 0
    why: str = ""
    next_step: str = ""
    proposals: int | None = None
    """How many proposals are open; None if they were not examined."""
    run: str = ""
    ok: bool = True
    undone: bool = False
    """Whether the latest reflect that wrote something has been undone since."""


class CaptureEnd(NamedTuple):
    """How a capture ended, however it was started: facts written, statements proposed and proposals still open; or, if
    not `ok`, why it failed."""

    at: datetime
    written: int = 0
    proposed: int = 0
    waiting: int = 0
    why: str = ""
    next_step: str = ""
    ok: bool = True
    secrets: int = 0
    """Statements that were not kept because they looked like a secret."""
    problems: int = 0
    """What was left out, as its report named it."""


def without_quotes(path: str, why: str) -> str:
    """The reason a page was skipped, with its path, and with any quoted note text elided."""
    said = re.sub('".*"', '"…"', why, flags=re.DOTALL)
    return said if path in said else f"{path}: {said}"


E = TypeVar("E", NightlyRun, ReflectEnd, CaptureEnd)

_NAMES: Mapping[type[Any], str] = {NightlyRun: "night", ReflectEnd: "reflected", CaptureEnd: "captured"}


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a time without a zone")
    return moment


_READERS: Mapping[str, Callable[[str], date]] = {"at": _moment, "ran": _moment, "seen_to": date.fromisoformat}


class RunLog:
    """The log of one vault's runs; a missing or damaged file counts as empty."""

    def __init__(self, root: Path, environ: Mapping[str, str] | None = None) -> None:
        self._root, data = root, Path(user_folder("data", os.environ if environ is None else environ))
        self.file = data / "runs" / f"{vault_id(root)}.json"

    def last(self, kind: type[E]) -> E | None:
        """How the last run of a kind ended; None if none is recorded."""
        try:
            kept: dict[str, Any] = dict(self._read()[_NAMES[kind]])
            kept.update((name, read(kept[name])) for name, read in _READERS.items() if kept.get(name))
            return kind(**kept)
        except (KeyError, TypeError, ValueError):
            return None

    def record(self, end: NightlyRun | ReflectEnd | CaptureEnd) -> None:
        """Record how a run ended, replacing the last record of its kind."""
        with contextlib.suppress(OSError, VaultMemoryError), locations.writer_lock(self.file, 1.0):
            part = self.file.with_name(f"{self.file.name}.part")
            part.unlink(missing_ok=True)
            with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as handle:
                json.dump(self._read() | {_NAMES[type(end)]: end._asdict()}, handle, default=str)
            os.replace(part, self.file)

    @contextlib.contextmanager
    def writing_pages(self) -> Iterator[None]:
        """Hold the lock for writing the vault's pages, so that timer, daemon and command line never write at once.

        Raises BusyError if another process holds it, VaultMemoryError if its folder cannot be written.
        """
        # In the data folder: inside the vault a symbolic link could lead anywhere.
        lock = locations.writer_lock(self.file.with_name(f"{self.file.stem}-pages"), 0.0)
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(lock)
            except BusyError as error:
                what = "Another process is writing the pages of this vault."
                raise BusyError(what, "Try again when it is done.") from error
            except IndexUnusableError as error:
                raise VaultMemoryError(f"{self.file.parent} cannot be written.", "Make it writable.") from error
            yield

    @contextlib.contextmanager
    def undoing(self) -> Iterator[None]:
        """Hold the page writers' lock during an undo, and record if it took the latest reflect back.

        Raises like `writing_pages`.
        """
        with self.writing_pages():
            runs = UndoHistory(self._root).runs(REFLECT)
            latest = next((run for run in runs if not run.is_undone), None)
            yield
            if latest and latest.is_undone and (last := self.last(ReflectEnd)):
                self.record(last._replace(run="", proposals=None, undone=True))

    def _read(self) -> dict[str, Any]:
        with contextlib.suppress(OSError, ValueError, RecursionError):
            document = json.loads(self.file.read_text("utf-8"))
            return document if isinstance(document, dict) else {}
        return {}
