"""The thread that keeps an index in step with its vault: changed notes at once, everything now and then.

How a turn goes, and why in this order:
1. Wait until something is due, at the longest until the next look at everything.
2. Where changes may have been missed (a lost queue, another folder at the vault's path, a system that does not tell),
   watch anew first and look at everything then: what changes in between is told of.
3. Refresh the index. What fails is not forgotten: it waits, longer each time, and the trouble is there to be asked for.
"""

import logging
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from vault_memory.daemon.debounce import Batch, ChangeQueue
from vault_memory.daemon.watch import Watcher
from vault_memory.errors import BusyError, VaultMemoryError

if TYPE_CHECKING:
    from vault_memory.indexing.index_file import IndexFile
    from vault_memory.indexing.indexer import Report

RECONCILE_SECONDS = 300.0
"""How often everything is looked at though all is well: 20,000 notes take 0.1 s, 0.03 % of the time."""

POLL_SECONDS = 2.0
"""How often where not every change is told of; more seldom where a look takes long, see `POLL_SHARE`."""

POLL_SHARE = 0.02
"""Of the time polling may take at the most this part."""

RETRY_SECONDS = (0.5, 60.0)
"""The first and the longest pause before something that failed is tried again; each is twice the one before."""

GIVE_WAY_SECONDS = 0.05
"""How long a note waits for questions to be answered first."""

WORK_SECONDS = 0.05
"""How long notes are stored before they wait for questions again: who asks all the time must not stop them."""

log = logging.getLogger(__name__)


class Trouble(NamedTuple):
    """Why the index is not brought up to date, and what to do about it."""

    what: str
    mend: str


class QuestionGate:
    """Lets questions go before indexing: both are Python, and would take turns in mid-work."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._inside = 0

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Whoever answers a question is in here."""
        with self._changed:
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1
                self._changed.notify_all()

    def give_way(self) -> None:
        """Wait a moment while a question is being answered."""
        with self._changed:
            self._changed.wait_for(lambda: not self._inside, GIVE_WAY_SECONDS)


class _StoppedError(Exception):
    """Ends a run between two notes."""


class IndexWorker(threading.Thread):
    """Keeps one index up to date until it is stopped.

    `keeper` gives the index file of the settings as they stand; `after` is called after each run that changed something
    or looked at everything, and told which.
    """

    def __init__(
        self, keeper: "Callable[[], IndexFile]", changes: ChangeQueue, watcher: Watcher, gate: QuestionGate,
        after: Callable[[bool], None] = lambda changed: None,
    ) -> None:  # fmt: skip
        super().__init__(name="index", daemon=True)
        self._keeper, self._changes, self._watcher, self._gate, self._after = keeper, changes, watcher, gate, after
        self._stopping = threading.Event()
        self._failures = 0
        self._logged: set[tuple[str, str]] = set()
        self._walk_seconds = 0.0
        self._gave_way = 0.0
        self.looked = threading.Event()
        """Set once everything has been looked at, or could not be: questions can be answered."""
        self.trouble: Trouble | None = None
        self.last_sign = time.monotonic()
        """When the thread last woke; it does at least every `RECONCILE_SECONDS`, unless a run takes longer."""
        self.progress = (0, 0)
        """Notes done and to be done in the run under way."""
        self.unread: frozenset[str] = frozenset()
        """Notes and folders that could not be read when they were looked at last."""

    def stop(self, seconds: float) -> bool:
        """End after the note in hand; whether it did within so many seconds."""
        self._stopping.set()
        self._changes.stop()
        self.join(seconds)
        return not self.is_alive()

    def knows_everything(self) -> bool:
        """Whether every change since the last look is in the index or among the changes that wait."""
        return self.looked.is_set() and self.trouble is None and self._watcher.sees_everything()

    def run(self) -> None:
        self._changes.add_everything()
        while not self._stopping.is_set():
            batch = self._changes.wait(self._pause_seconds())
            if self._stopping.is_set():
                break
            self.last_sign = time.monotonic()
            self._turn(batch or Batch({}, everything=True))
        self._watcher.stop()

    def _pause_seconds(self) -> float:
        if self.trouble:
            return self._retry_seconds()
        if self._watcher.reach.is_whole:
            return RECONCILE_SECONDS
        return max(POLL_SECONDS, self._walk_seconds / POLL_SHARE)

    def _retry_seconds(self) -> float:
        return float(min(RETRY_SECONDS[0] * 2 ** max(self._failures - 1, 0), RETRY_SECONDS[1]))

    def _turn(self, batch: Batch) -> None:
        everything = batch.everything or not self.knows_everything()
        left: frozenset[str] = frozenset(batch.paths)
        try:
            if everything:
                self._watch_anew()
            report = self._refresh(None if everything else batch)
            left = frozenset(problem.path for problem in report.failed)
            self.unread = left if everything else left | (self.unread - batch.paths.keys())
        except _StoppedError:
            left = frozenset()
        except VaultMemoryError as error:
            self._fail(Trouble(str(error), error.next_step), logging.INFO if isinstance(error, BusyError) else 0)
        except Exception as error:  # this thread must outlive whatever happens in one run
            # Without the error's own text, which may hold a note's.
            kind, trace = type(error).__name__, "".join(traceback.format_tb(error.__traceback__))
            log.error("not brought up to date: %s\n%s", kind, trace)
            log.debug("not brought up to date: %s", error)
            self.trouble = Trouble(f"{kind}: {error}", "Look into the log, and please report it.")
        finally:
            self.progress = (0, 0)
            self.looked.set()
        self._failures = self._failures + 1 if left or self.trouble else 0
        self._changes.done(batch, left, self._retry_seconds())

    def _watch_anew(self) -> None:
        before = self._watcher.reach
        self._watcher.check()
        reach = self._watcher.reach
        if reach != before:
            if reach.is_whole:
                log.info("watching every folder")
            else:
                log.warning("looking every few seconds, for %s. %s", reach.why, reach.mend)

    def _refresh(self, batch: Batch | None) -> "Report":
        started, keeper = time.monotonic(), self._keeper()
        links = keeper.links
        report = keeper.refresh(batch and list(batch.paths), self._progressed)
        if keeper.links != links:  # what they lead to may have changed before anybody knew that they do
            self._changes.add(keeper.links)
        seconds = time.monotonic() - started
        if batch is None and not report.changed:
            self._walk_seconds = seconds
        why = keeper.vault.filters_unknown
        if why and report.pending > len(report.failed):
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
        """Between two notes: end if that is wanted, and let questions go before."""
        if self._stopping.is_set():
            raise _StoppedError
        self.progress = (done, total)
        if time.monotonic() - self._gave_way > WORK_SECONDS:
            self._gate.give_way()
            self._gave_way = time.monotonic()

    def _fail(self, trouble: Trouble, level: int = 0) -> None:
        """Keep the trouble, and log it when it is another one than before."""
        if self.trouble != trouble:
            log.log(level or logging.WARNING, "not brought up to date: %s. %s", trouble.what.rstrip("."), trouble.mend)
            self.trouble = trouble

    def _log(self, report: "Report", seconds: float) -> None:
        if report.rebuilt:
            log.info("built the index anew: %s", report.rebuilt)
        names = ("added", "modified", "moved", "removed")
        counts = ", ".join(f"{getattr(report, name)} {name}" for name in names if getattr(report, name))
        if counts:
            log.info("%s in %.2f s", counts, seconds)
        failed = {(problem.path, problem.message) for problem in report.failed}
        for path, message in sorted(failed - self._logged):  # once, however often it is tried
            log.warning("%s: %s", path, message)
        self._logged = failed
