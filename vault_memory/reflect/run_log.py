"""Keeps how a vault's last reflect and capture here ended, and which night was seen to; holds the lock of page writers.

That lies in small files in the user's data folder; no words of a note are among it.
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

REFLECT = "reflect"
"""What a run is called in the log, and in the undo history."""


class NightlyRun(NamedTuple):
    """How far the nightly reflect has come: `seen_to` is the last local day that needs none any more, at the `time`;
    `ran` is when it last ran and `ok` whether that went well, both None before the first time."""

    time: str
    seen_to: date
    ran: datetime | None = None
    ok: bool | None = None


class ReflectEnd(NamedTuple):
    """How a reflect ended, whoever asked for it: pages written and skipped, and why the first of those was, or why it
    did not come to its end (not `ok`). `run` names what it wrote ("" when it wrote nothing)."""

    at: datetime
    pages: int = 0
    skipped: int = 0
    why: str = ""
    next_step: str = ""
    proposals: int | None = None
    """How many wait for an answer; None where that was not looked at."""
    run: str = ""
    ok: bool = True
    undone: bool = False
    """Whether what it wrote, or what it found written, was taken back since."""


class CaptureEnd(NamedTuple):
    """How a capture ended, whoever asked for it: facts written, statements proposed, and proposals without an answer;
    or why it did not come to its end (not `ok`)."""

    at: datetime
    written: int = 0
    proposed: int = 0
    waiting: int = 0
    why: str = ""
    next_step: str = ""
    ok: bool = True


def without_quotes(path: str, why: str) -> str:
    """Why a page was skipped, with its path, and without the words of a note that it may quote."""
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
    """What is known of one vault's reflects; a file that is missing or damaged holds nothing."""

    def __init__(self, root: Path, environ: Mapping[str, str] | None = None) -> None:
        data = Path(user_folder("data", os.environ if environ is None else environ))
        self.file = data / "runs" / f"{vault_id(root)}.json"

    def last(self, kind: type[E]) -> E | None:
        """How the last run of a kind ended; None where none is known of."""
        try:
            kept: dict[str, Any] = dict(self._read()[_NAMES[kind]])
            kept.update((name, read(kept[name])) for name, read in _READERS.items() if kept.get(name))
            return kind(**kept)
        except (KeyError, TypeError, ValueError):
            return None

    def note(self, end: NightlyRun | ReflectEnd | CaptureEnd) -> None:
        """Keep how a run ended, in the place of the last one of its kind."""
        with contextlib.suppress(OSError, VaultMemoryError), locations.writer_lock(self.file, 1.0):
            part = self.file.with_name(f"{self.file.name}.part")
            part.unlink(missing_ok=True)
            with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as handle:
                json.dump(self._read() | {_NAMES[type(end)]: end._asdict()}, handle, default=str)
            os.replace(part, self.file)

    @contextlib.contextmanager
    def writing_pages(self) -> Iterator[None]:
        """Hold the lock of who writes the vault's pages, so that timer, daemon and command line never do it at once.

        Raises BusyError when another process holds it, VaultMemoryError when its folder cannot be written.
        """
        # In the data folder: within the vault a link could lead anywhere.
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

    def _read(self) -> dict[str, Any]:
        with contextlib.suppress(OSError, ValueError, RecursionError):
            document = json.loads(self.file.read_text("utf-8"))
            return document if isinstance(document, dict) else {}
        return {}
