"""Owns what a daemon does though nobody asked: vectors of a configured embedder, and jobs that have their time."""

import asyncio
import contextlib
import json
import logging
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from datetime import time as clock
from pathlib import Path

from vault_memory.daemon.index_worker import RECONCILE_SECONDS
from vault_memory.daemon.jobs import Jobs
from vault_memory.daemon.schedule import Job
from vault_memory.daemon.settings import LiveSettings
from vault_memory.errors import VaultMemoryError, of_exit_code
from vault_memory.memory import Memory
from vault_memory.sessions import pending
from vault_memory.store.job_log import REFLECT, Runs, wordless

log = logging.getLogger(__name__)


class Background:
    """The work beside answering; `jobs` is where more of it is registered. They run one after the other in `slow`."""

    def __init__(self, root: Path, settings: LiveSettings, slow: ThreadPoolExecutor) -> None:
        self._settings, self.slow = settings, slow
        self.jobs = Jobs(Runs(root))
        self._loop: asyncio.AbstractEventLoop | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._is_looking = False
        self._last_saved: datetime | None = None
        self._filling: threading.Thread | None = None
        self._filled_at = -RECONCILE_SECONDS
        self._sweeping: threading.Thread | None = None
        self._swept_at = -RECONCILE_SECONDS
        self._reflecting: subprocess.Popen[bytes] | None = None

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """See to the jobs from now on; to be called in the loop."""
        self._loop = loop
        self._look()

    def stop(self) -> None:
        """Begin nothing more; to be called in the loop."""
        self._loop = None
        if self._alarm:
            self._alarm.cancel()
        if self._reflecting:
            self._reflecting.terminate()  # wherever it is: pages are whole, and the next run goes on

    def kept_up(self, changed: bool) -> None:
        """What follows a run of upkeep, in its thread; `changed` is whether a note had changed."""
        now = time.monotonic()
        if changed:
            self._last_saved = datetime.now(UTC)
        if changed or now - self._filled_at >= RECONCILE_SECONDS:  # polling looks at everything every few seconds
            self._filled_at = now
            self._backfill()
        if now - self._swept_at >= RECONCILE_SECONDS or pending.are_waiting():
            self._swept_at = now
            self._sweep()
        if loop := self._loop:
            with contextlib.suppress(RuntimeError):  # it has ended meanwhile
                loop.call_soon_threadsafe(self._look)

    # --- jobs ----------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Have the jobs seen to now, and again when the next one is due; after each run of upkeep, too.

        A timer alone would stand still while the computer sleeps. Looking takes a file lock: it is not for the loop.
        """
        if self._loop is None or self._is_looking:
            return
        if self._alarm:
            self._alarm.cancel()
        self._is_looking = True
        self.slow.submit(self._see_to, self._loop)

    def _see_to(self, loop: asyncio.AbstractEventLoop) -> None:
        """Run the job that is due, if one is; in the slow thread."""
        next_at = None
        try:
            self.jobs.register(REFLECT, self._reflect_at(), self._reflect)
            look = self.jobs.look(datetime.now(UTC), self._last_saved)
            next_at = look.next_at
            if look.job and self._loop:
                self._run(look.job)
        except Exception as error:  # the edge of a thread: jobs are looked at again after the next run of upkeep
            log.error("the jobs cannot be seen to: %s", type(error).__name__)
        finally:
            with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(self._looked, next_at)

    def _reflect_at(self) -> clock | None:
        at = self._settings.current().config.reflect_at
        return clock.fromisoformat(at) if at else None

    def _looked(self, next_at: datetime | None) -> None:
        self._is_looking = False
        if self._loop and next_at:
            seconds = max((next_at - datetime.now(UTC)).total_seconds(), 1.0)
            self._alarm = self._loop.call_later(seconds, self._look)

    def _run(self, job: Job) -> None:
        try:
            self.jobs.run(job, datetime.now(UTC), self._last_saved)
        except Exception as error:  # the edge: a job that fails is tried at its next time
            log.error("%s failed: %s", job.name, error if isinstance(error, VaultMemoryError) else type(error).__name__)

    def _reflect(self) -> None:
        """Have the pages written that the facts make, in a process of its own.

        It needs ten times the memory of a question on a large vault, and would slow the questions asked meanwhile.
        """
        vault = str(self._settings.current().config.vault)
        command = [sys.executable, "-m", "vault_memory", "--vault", vault, "--json", "reflect"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as self._reflecting:
            if self._loop is None:
                self._reflecting.terminate()  # stopped while it was being started
            said = self._reflecting.communicate()[0]
        found = json.loads(said) if said else {}
        if "pages" not in found:
            error = found.get("error", {})
            code, sentence = int(error.get("exit_code", 1)), str(error.get("message", "reflect ended without a word"))
            raise of_exit_code(code, sentence, str(error.get("next_step", "")))
        moved = sum(None not in (one["before"], one["after"]) for one in found["opinions"])
        pages, skipped = len(found["pages"]), found["skipped"]
        first = "".join(f", the first: {wordless(one['path'], one['why'])}" for one in skipped[:1])
        log.info("reflect: %d pages written, %d opinions moved, %d skipped%s", pages, moved, len(skipped), first)

    # --- vectors -------------------------------------------------------------------------------------------------

    def _backfill(self) -> None:
        """Have the vectors of a configured embedder made; a server that is away is asked another time."""
        is_running = self._filling is not None and self._filling.is_alive()
        if is_running or self._settings.current().config.embedding_provider == "builtin":
            return
        # A thread that ends with the process: a slow server must not keep it, and each batch is kept as it comes.
        self._filling = threading.Thread(target=self._fill, name="backfill", daemon=True)
        self._filling.start()

    def _fill(self) -> None:
        try:
            filled = Memory(self._settings.current().config).backfill()
        except Exception as error:  # the edge of a thread: it is tried again
            log.warning("no vectors made: %s", error if isinstance(error, VaultMemoryError) else type(error).__name__)
            return
        if filled and (filled.embedded or filled.stopped):
            counts = f"{filled.embedded} embedded, {filled.waiting} waiting"
            log.info("%s: %s%s", filled.embedder, counts, ", stopped" if filled.stopped else "")
            log.debug("stopped: %s", filled.stopped)  # a server may repeat the text it was sent

    # --- sessions ------------------------------------------------------------------------------------------------

    def _sweep(self) -> None:
        """Have agents' transcripts read, where the settings want that."""
        is_running = self._sweeping is not None and self._sweeping.is_alive()
        if is_running or not self._settings.current().config.sessions_tools:
            return
        # A thread that ends with the process: what is not remembered of a sweep is written again by the next one.
        self._sweeping = threading.Thread(target=self._read_sessions, name="sessions", daemon=True)
        self._sweeping.start()

    def _read_sessions(self) -> None:
        try:
            swept = Memory(self._settings.current().config).roots.refresh_sessions()
        except Exception as error:  # the edge of a thread: it is tried again
            why = error if isinstance(error, VaultMemoryError) else type(error).__name__
            log.warning("no transcripts read: %s", why)
            return
        if swept and (swept.changed or swept.problems):
            counts = f"{swept.changed} changed, {swept.messages} messages, {len(swept.problems)} problems"
            log.info("sessions: %s", counts)
