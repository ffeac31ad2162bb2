"""Owns when a vault's jobs last ran on this device, and the lock of each: small files in the user's data folder."""

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any, NamedTuple

from vault_memory import places
from vault_memory.config import user_folder
from vault_memory.errors import BusyError, IndexUnusableError, VaultMemoryError
from vault_memory.folders import vault_id

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


class Runs:
    """The runs of one vault's jobs; a file that is missing or damaged holds none."""

    def __init__(self, root: Path, environ: Mapping[str, str] | None = None) -> None:
        data = user_folder("data", os.environ if environ is None else environ)
        self._root = root
        self.file = data / "runs" / f"{vault_id(root)}.json"
        self._unwritten: dict[str, Run] = {}

    def get(self, job: str) -> Run | None:
        """What is known of a job; another process may have noted it."""
        return self._unwritten.get(job) or _run(self._read().get(job))

    def note(self, job: str, run: Run) -> None:
        """Keep a run. Where the disk takes nothing it is kept in this object, lest a job begin again and again."""
        self._unwritten[job] = run
        with contextlib.suppress(OSError, VaultMemoryError), places.writer_lock(self.file, 1.0):
            jobs = self._read() | {name: _document(kept) for name, kept in self._unwritten.items()}
            part = self.file.with_name(f"{self.file.name}.part")
            part.write_text(json.dumps({"jobs": jobs}), "utf-8")
            os.replace(part, self.file)
            self._unwritten.clear()

    @contextlib.contextmanager
    def alone(self, job: str) -> Iterator[None]:
        """Hold a job's lock, so that timer, daemon and command line never run it at once.

        The lock lies in the data folder, not in the vault, where a link could lead anywhere. Raises BusyError when
        another process runs the job, VaultMemoryError when the folder cannot be written.
        """
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(places.writer_lock(self.file.with_name(f"{self.file.stem}-{job}"), 0.0))
            except BusyError as error:
                what = "is writing the pages of" if job == PAGES else f"runs {job} for"
                raise BusyError(f"Another process {what} this vault.", "Try again when it is done.") from error
            except IndexUnusableError as error:
                raise VaultMemoryError(f"{self.file.parent} cannot be written.", "Make it writable.") from error
            yield

    def _read(self) -> dict[str, Any]:
        with contextlib.suppress(OSError, ValueError, RecursionError):
            document = json.loads(self.file.read_text("utf-8"))
            jobs = document.get("jobs") if isinstance(document, dict) else None
            return jobs if isinstance(jobs, dict) else {}
        return {}


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
