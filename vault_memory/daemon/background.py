"""What a daemon does though nobody asked: vectors of a configured embedder, agents' sessions, the nightly reflect."""

import json
import logging
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta, tzinfo
from datetime import time as clock
from pathlib import Path

from vault_memory.daemon.index_worker import RECONCILE_SECONDS
from vault_memory.daemon.settings import LiveSettings
from vault_memory.errors import VaultMemoryError, of_exit_code
from vault_memory.federation import Federation
from vault_memory.reflect.run_log import NightlyRun, RunLog, without_quotes
from vault_memory.sessions import pending

QUIET_SECONDS = 60.0
"""How long the user must not have saved before reflect may begin."""

_DAY = timedelta(days=1)

log = logging.getLogger(__name__)


class Background:
    """The work beside answering, begun after each run of the index worker; reflect runs in the thread `slow`."""

    def __init__(self, root: Path, settings: LiveSettings, slow: ThreadPoolExecutor) -> None:
        self._settings, self._slow = settings, slow
        self._nightly = Nightly(RunLog(root), self._reflect)
        self._embedding, self._reading = _Repeated("backfill", self._embed), _Repeated("sessions", self._read_sessions)
        self._last_saved: datetime | None = None
        self._is_stopping = False
        self._is_looking = False
        self._reflecting: subprocess.Popen[bytes] | None = None

    def stop(self) -> None:
        """Begin nothing more, and end a reflect: pages are whole, and the next run goes on."""
        self._is_stopping = True
        if self._reflecting:
            self._reflecting.terminate()

    def index_was_updated(self, changed: bool) -> None:
        """What follows a run of the index worker, in its thread; `changed` is whether a note had changed."""
        config = self._settings.current().config
        if changed:
            self._last_saved = datetime.now(UTC)
        if config.embedding_provider != "builtin":
            self._embedding.start(at_once=changed)
        if config.sessions_tools:
            self._reading.start(at_once=pending.are_waiting())
        if not (self._is_looking or self._is_stopping):
            self._is_looking = True
            self._slow.submit(self._run_nightly)

    def _run_nightly(self) -> None:
        """Reflect if that is due. It is looked at every few minutes: a timer stands still in a sleeping computer."""
        try:
            at = self._settings.current().config.reflect_at
            if at and not self._is_stopping:
                self._nightly.run_if_due(clock.fromisoformat(at), datetime.now(UTC), self._last_saved)
        except Exception as error:  # the edge of a thread: reflect is tried at its next time
            log.error("reflect failed: %s", error if isinstance(error, VaultMemoryError) else type(error).__name__)
        finally:
            self._is_looking = False

    def _reflect(self) -> None:
        """Have the pages written that the facts make, in a process of its own.

        It needs ten times the memory of a question on a large vault, and would slow the questions asked meanwhile.
        """
        vault = str(self._settings.current().config.vault)
        command = [sys.executable, "-m", "vault_memory", "--vault", vault, "--json", "reflect"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as self._reflecting:
            if self._is_stopping:
                self._reflecting.terminate()  # stopped while it was being started
            output = self._reflecting.communicate()[0]
        document = json.loads(output) if output else {}
        if "pages" not in document:
            error = document.get("error", {})
            code, sentence = int(error.get("exit_code", 1)), str(error.get("message", "reflect ended without a word"))
            raise of_exit_code(code, sentence, str(error.get("next_step", "")))
        moved = sum(None not in (one["before"], one["after"]) for one in document["opinions"])
        pages, skipped = len(document["pages"]), document["skipped"]
        first = "".join(f", the first: {without_quotes(one['path'], one['why'])}" for one in skipped[:1])
        log.info("reflect: %d pages written, %d opinions moved, %d skipped%s", pages, moved, len(skipped), first)

    def _embed(self) -> None:
        """Have the vectors of a configured embedder made; each batch is kept as it comes."""
        filled = Federation(self._settings.current().config).search.backfill()
        if filled and (filled.embedded or filled.stopped):
            counts = f"{filled.embedded} embedded, {filled.waiting} waiting"
            log.info("%s: %s%s", filled.embedder, counts, ", stopped" if filled.stopped else "")
            log.debug("stopped: %s", filled.stopped)  # a server may repeat the text it was sent

    def _read_sessions(self) -> None:
        """Have agents' transcripts read; what is not remembered of a sweep is written again by the next one."""
        swept = Federation(self._settings.current().config).refresh_sessions()
        if swept and (swept.changed or swept.problems):
            counts = f"{swept.changed} changed, {swept.messages} messages, {len(swept.problems)} problems"
            log.info("sessions: %s", counts)


class _Repeated:
    """Work that is done once at a time, at most every few minutes unless there is cause to."""

    def __init__(self, name: str, work: Callable[[], None]) -> None:
        self._name, self._work = name, work
        self._thread: threading.Thread | None = None
        self._started = -RECONCILE_SECONDS

    def start(self, at_once: bool) -> None:
        """Begin it where it is due and not under way, in a thread that ends with the process: a server may hang."""
        is_running = self._thread is not None and self._thread.is_alive()
        if is_running or not (at_once or time.monotonic() - self._started >= RECONCILE_SECONDS):
            return
        self._started = time.monotonic()
        self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._work()
        except Exception as error:  # the edge of a thread: it is tried again
            why = error if isinstance(error, VaultMemoryError) else type(error).__name__
            log.warning("%s failed: %s", self._name, why)


class Nightly:
    """Runs something once a local day, at a time of it; a day that was missed is caught up, several of them once.

    A day is remembered as a day, not as a moment: a clock that steps back within it, a summer-time change or a journey
    cannot run it twice. What kills the process leaves no note, and the run is caught up. `zone` None is local time.
    """

    def __init__(self, kept: RunLog, run: Callable[[], None], zone: tzinfo | None = None) -> None:
        self._kept, self._run, self._zone = kept, run, zone
        self._night: NightlyRun | None = None  # where the disk takes nothing it must not begin again and again

    def run_if_due(self, at: clock, now: datetime, last_saved: datetime | None = None) -> bool:
        """Run it where its time has come, and the user has not saved for a minute; whether it ran.

        The first time ever, and with another `at` than before, it waits for the next day. Raises what it raises, which
        is noted as a run, too.
        """
        day, name = _latest_day(at, now, self._zone), f"{at:%H:%M}"
        night = self._night or self._kept.night()
        if night is None or night.at != name or night.seen_to > day + _DAY:  # or the clock was far ahead
            self._note(NightlyRun(name, day, night and night.ran, night and night.ok))
            return False
        # A note saved in the far future comes from another clock and says nothing of who is typing here.
        if day <= night.seen_to or (last_saved and abs((now - last_saved).total_seconds()) < QUIET_SECONDS):
            return False
        try:
            self._run()
        except Exception:
            self._note(NightlyRun(name, day, now, ok=False))
            raise
        self._note(NightlyRun(name, day, now, ok=True))
        return True

    def _note(self, night: NightlyRun) -> None:
        self._kept.note_night(night)
        self._night = night if self._kept.night() != night else None


def _latest_day(at: clock, now: datetime, zone: tzinfo | None) -> date:
    """The local day on which the clock last showed this time or a later one; in the gap of a summer time too."""
    local = now.astimezone(zone)
    return local.date() if local.time() >= at else local.date() - _DAY
