"""Owns when a vault's jobs last ran on this device, how its last reflect ended, and the lock of each job.

That is kept in small files in the user's data folder; no words of a note are among it.
"""

import contextlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any, NamedTuple

from vault_memory.config import user_folder
from vault_memory.errors import BusyError, IndexUnusableError, VaultMemoryError
from vault_memory.startup import vault_id
from vault_memory.vault import locations

REFLECT = "reflect"
"""The job that writes pages at night."""

PAGES = "pages"
"""The lock of who writes a vault's pages, whoever asked for it."""


class Run(NamedTuple):
    """How far a job has come: `seen_to` is the last local day whose slot needs no run any more, under the slot `at`.

    `ran` is when it last ran and `ok` whether that went well; both None before the first time.
    """

    at: str
    seen_to: date
    ran: datetime | None = None
    ok: bool | None = None


class Ended(NamedTuple):
    """How a reflect ended, whoever asked for it: pages written and skipped, and why the first of those was.

    Where it did not come to its end (not `ok`), `why` says that. `proposals` is how many wait for an answer, None where
    that was not looked at; `run` names what it wrote ("" when it wrote nothing).
    """

    at: datetime
    pages: int = 0
    skipped: int = 0
    why: str = ""
    next_step: str = ""
    proposals: int | None = None
    run: str = ""
    ok: bool = True
    undone: bool = False
    """Whether what it wrote was taken back since."""


def wordless(path: str, why: str) -> str:
    """Why a page was skipped, with its path, and without the words of a note that it may quote."""
    said = re.sub('".*"', '"…"', why, flags=re.DOTALL)
    return said if path in said else f"{path}: {said}"


class Runs:
    """The runs of one vault's jobs; a file that is missing or damaged holds none."""

    def __init__(self, root: Path, environ: Mapping[str, str] | None = None) -> None:
        data = user_folder("data", os.environ if environ is None else environ)
        self._root = root
        self.file = data / "runs" / f"{vault_id(root)}.json"
        self._unwritten: dict[str, Run] = {}

    def get(self, job: str) -> Run | None:
        """What is known of a job; another process may have noted it."""
        return self._unwritten.get(job) or _run(self._jobs().get(job))

    def note(self, job: str, run: Run) -> None:
        """Keep a run. Where the disk takes nothing it is kept in this object, lest a job begin again and again."""
        self._unwritten[job] = run
        with contextlib.suppress(OSError, VaultMemoryError), locations.writer_lock(self.file, 1.0):
            jobs = self._jobs() | {name: _document(kept) for name, kept in self._unwritten.items()}
            self._write(self._read() | {"jobs": jobs})
            self._unwritten.clear()

    def ended(self) -> Ended | None:
        """How the last reflect ended; None where none is known of."""
        return _ended(self._read().get("reflected"))

    def note_ended(self, ended: Ended) -> None:
        """Keep how a reflect ended; where the disk takes nothing, nobody is told later."""
        with contextlib.suppress(OSError, VaultMemoryError), locations.writer_lock(self.file, 1.0):
            self._write(self._read() | {"reflected": ended._asdict() | {"at": ended.at.isoformat(timespec="seconds")}})

    @contextlib.contextmanager
    def alone(self, job: str) -> Iterator[None]:
        """Hold a job's lock, so that timer, daemon and command line never run it at once.

        The lock lies in the data folder, not in the vault, where a link could lead anywhere. Raises BusyError when
        another process runs the job, VaultMemoryError when the folder cannot be written.
        """
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(locations.writer_lock(self.file.with_name(f"{self.file.stem}-{job}"), 0.0))
            except BusyError as error:
                what = "is writing the pages of" if job == PAGES else f"runs {job} for"
                raise BusyError(f"Another process {what} this vault.", "Try again when it is done.") from error
            except IndexUnusableError as error:
                raise VaultMemoryError(f"{self.file.parent} cannot be written.", "Make it writable.") from error
            yield

    def _jobs(self) -> dict[str, Any]:
        jobs = self._read().get("jobs")
        return jobs if isinstance(jobs, dict) else {}

    def _read(self) -> dict[str, Any]:
        with contextlib.suppress(OSError, ValueError, RecursionError):
            document = json.loads(self.file.read_text("utf-8"))
            return document if isinstance(document, dict) else {}
        return {}

    def _write(self, document: dict[str, Any]) -> None:
        part = self.file.with_name(f"{self.file.name}.part")
        part.unlink(missing_ok=True)
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as handle:
            json.dump(document, handle)
        os.replace(part, self.file)


def _document(run: Run) -> dict[str, Any]:
    ran = run.ran.isoformat() if run.ran else None
    return {"at": run.at, "seen_to": run.seen_to.isoformat(), "ran": ran, "ok": run.ok}


def _run(kept: Any) -> Run | None:  # noqa: ANN401 - a file can hold anything
    try:
        ran = datetime.fromisoformat(kept["ran"]) if kept["ran"] else None
        if ran is not None and ran.tzinfo is None:
            return None
        return Run(str(kept["at"]), date.fromisoformat(kept["seen_to"]), ran, kept["ok"] if ran else None)
    except (KeyError, TypeError, ValueError):
        return None


def _ended(kept: Any) -> Ended | None:  # noqa: ANN401
    try:
        at, waiting = datetime.fromisoformat(kept["at"]), kept["proposals"]
        if at.tzinfo is None:
            return None
        return Ended(
            at, int(kept["pages"]), int(kept["skipped"]), str(kept["why"]), str(kept["next_step"]),
            None if waiting is None else int(waiting), str(kept["run"]), bool(kept["ok"]),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError):
        return None
