"""The thread that keeps an index in sync with its vault: changed notes at once, a full scan periodically.

Each turn, in this order:
1. Wait until something is due, at most until the next full scan.
2. If changes may have been missed (queue overflow, another folder at the vault's path, a file system that does not
   report changes), restart watching first and then scan everything, so that changes in between are reported.
3. Refresh the index. After a failure everything is scanned again, each time after a longer pause; the reason is
   available as `trouble`.
"""

import logging
import threading
import time
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING

from vault_memory.config import Config
from vault_memory.daemon.settings import LiveSettings
from vault_memory.daemon.watch import EVERYTHING, Batch, ChangeQueue, Trouble, Watcher
from vault_memory.errors import BusyError, VaultMemoryError
from vault_memory.indexing.index_file import IndexFile
from vault_memory.search.searcher import prepare_for_questions

if TYPE_CHECKING:
    from vault_memory.indexing.indexer import Report

RECONCILE_SECONDS = 300.0
"""The interval of full scans when all is well: 20,000 notes take 0.1 s, 0.03 % of the time."""

POLL_SECONDS = 2.0
"""The interval of full scans when not every change is reported; longer if a scan is slow, see `POLL_SHARE`."""

POLL_SHARE = 0.02
"""The largest share of the time that polling may take."""

RETRY_SECONDS = (0.5, 60.0)
"""The first and the longest pause before a failure is retried; each pause is twice the previous one."""

GIVE_WAY_SECONDS = 0.05
"""How long indexing pauses to let a question be answered first."""

WORK_SECONDS = 0.05
"""How long indexing runs between two such pauses, so that constant questions cannot starve it."""

log = logging.getLogger(__name__)


class _StoppedError(Exception):
    """Raised between two notes to end a run."""


class IndexWorker(threading.Thread):
    """Keeps one index up to date until it is stopped.

    `answering` is the lock held while a question is answered; indexing yields to it, because the two would otherwise
    compete for the interpreter. `after` is called after each run that changed something or scanned everything, with
    whether anything changed. `index_of` makes the index file for given settings.
    """

    def __init__(
        self, settings: LiveSettings, changes: ChangeQueue, watcher: Watcher, answering: threading.Lock,
        after: Callable[[bool], None] = lambda changed: None, index_of: Callable[[Config], IndexFile] = IndexFile,
    ) -> None:  # fmt: skip
        super().__init__(name="index", daemon=True)
        self._settings, self._changes, self._watcher = settings, changes, watcher
        self._answering, self._after, self._index_of = answering, after, index_of
        self.index_file = self._open(settings.current())
        self._stopping = threading.Event()
        self._retry_seconds = 0.0
        self._logged: set[tuple[str, str]] = set()
        self._walk_seconds = 0.0
        self._gave_way = 0.0
        self.looked = threading.Event()
        """Set once the first scan has finished or failed: questions can be answered."""
        self.trouble: Trouble | None = None
        self.last_sign = time.monotonic()
        """When the thread last woke: at least every `RECONCILE_SECONDS`, unless a run takes longer."""
        self.progress = (0, 0)
        """Notes done and notes in total in the current run."""

    def _open(self, config: Config) -> IndexFile:
        index = self._index_of(config)
        index.when_grown = prepare_for_questions
        return index

    def stop(self, seconds: float) -> bool:
        """End after the current note; return whether the thread ended within `seconds`."""
        self._stopping.set()
        self._changes.stop()
        self.join(seconds)
        return not self.is_alive()

    def knows_everything(self) -> bool:
        """Whether every change since the last scan is in the index or among the pending changes."""
        is_watched = self._watcher.trouble is None and not self._watcher.is_stale()
        return is_watched and self.looked.is_set() and self.trouble is None

    def run(self) -> None:
        self._changes.add_everything()
        while not self._stopping.is_set():
            pause = RECONCILE_SECONDS
            if (self._watcher.trouble or self._watcher.is_stale()) and not self.trouble:
                pause = max(POLL_SECONDS, self._walk_seconds / POLL_SHARE)
            elif self._retry_seconds:
                pause = self._retry_seconds
            batch = self._changes.wait(pause)
            if self._stopping.is_set():
                break
            self.last_sign = time.monotonic()
            self._turn(batch or {EVERYTHING: self.last_sign})
        self._watcher.stop()

    def _turn(self, batch: Batch) -> None:
        everything = EVERYTHING in batch or not self.knows_everything()
        failed = frozenset(batch) - {EVERYTHING}
        try:
            if everything:
                before = self._watcher.trouble
                self._watcher.check()
                trouble = self._watcher.trouble
                if trouble and trouble != before:
                    log.warning("looking every few seconds, for %s. %s", trouble.what, trouble.next_step)
                elif trouble != before:
                    log.info("watching every folder")
            report = self._refresh(None if everything else batch)
            failed = frozenset(report.unread)
        except _StoppedError:
            failed = frozenset()
        except VaultMemoryError as error:
            level = logging.INFO if isinstance(error, BusyError) else logging.WARNING
            self._fail(Trouble(str(error), error.next_step), level)
        except Exception as error:  # this thread must survive any failure of a run
            # Without the error's message, which may quote a note.
            kind, trace = type(error).__name__, "".join(traceback.format_tb(error.__traceback__))
            log.error("not brought up to date: %s\n%s", kind, trace)
            log.debug("not brought up to date: %s", error)
            self.trouble = Trouble(f"{kind}: {error}", "Look into the log, and please report it.")
        finally:
            self.progress = (0, 0)
            self.looked.set()
        self._changes.done({**batch, EVERYTHING: self.last_sign} if everything else batch, failed)
        has_failed = self.trouble or self._changes.failed
        self._retry_seconds = min(2 * self._retry_seconds or RETRY_SECONDS[0], RETRY_SECONDS[1]) if has_failed else 0.0

    def _refresh(self, batch: Batch | None) -> "Report":
        started, config = time.monotonic(), self._settings.current()
        if self.index_file.config is not config:  # the settings were reloaded
            self.index_file = self._open(config)
        index = self.index_file
        report = index.update(batch and list(batch), self._progressed)
        seconds = time.monotonic() - started
        if batch is None and not report.changed:
            self._walk_seconds = seconds
        why = index.vault.filters.unknown
        if why and report.pending > len(report.unread):
            self._fail(Trouble(f"{why}: new notes are not taken in", "Fix it, or open Obsidian's settings once."))
        elif self.trouble:
            log.info("the index can be brought up to date again")
            self.trouble = None
        if report.changed or report.rebuilt or report.failed:
            self._log(report, seconds)
        if report.changed or batch is None:
            self._after(bool(report.changed))
        return report

    def _progressed(self, done: int, total: int, passages: int) -> None:
        """Called between two notes: stop if asked to, and let questions go first."""
        if self._stopping.is_set():
            raise _StoppedError
        self.progress = (done, total)
        if time.monotonic() - self._gave_way > WORK_SECONDS:
            if self._answering.acquire(timeout=GIVE_WAY_SECONDS):
                self._answering.release()
            self._gave_way = time.monotonic()

    def _fail(self, trouble: Trouble, level: int = logging.WARNING) -> None:
        if self.trouble != trouble:
            log.log(level, "not brought up to date: %s. %s", trouble.what.rstrip("."), trouble.next_step)
            self.trouble = trouble

    def _log(self, report: "Report", seconds: float) -> None:
        if report.rebuilt:
            log.info("built the index anew: %s", report.rebuilt)
        names = ("added", "modified", "moved", "removed")
        counts = ", ".join(f"{getattr(report, name)} {name}" for name in names if getattr(report, name))
        if counts:
            log.info("%s in %.2f s", counts, seconds)
        failed = {(problem.path, problem.message) for problem in report.failed}
        for path, message in sorted(failed - self._logged):  # once, however often it is retried
            log.warning("%s: %s", path, message)
        self._logged = failed
