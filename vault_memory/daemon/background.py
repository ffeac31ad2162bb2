"""The daemon's background jobs: computing vectors, reading agents' sessions, capture and the nightly reflect.

Jobs are started after a run of the index worker, each in a thread of its own.
"""

import json
import logging
import os
import subprocess
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from datetime import time as clock
from pathlib import Path
from typing import Any

from vault_memory.capture.proposals_page import has_answers
from vault_memory.capture.sources import has_sessions_due
from vault_memory.daemon.index_worker import RECONCILE_SECONDS
from vault_memory.daemon.settings import LiveSettings
from vault_memory.errors import VaultMemoryError, error_from
from vault_memory.federation import Federation
from vault_memory.reflect.run_log import NightlyRun, RunLog, without_quotes
from vault_memory.sessions import ledger
from vault_memory.startup import own_command
from vault_memory.vault.vault import Vault

IDLE_MINUTES = 10
"""How long a session that has not ended must be idle before capture reads it: its user may still retract something."""

ANSWER_SECONDS = 15.0
"""How long the page of proposals must be left alone before its ticks are carried out: a line may be half deleted."""

QUIET_SECONDS = 60.0
"""How long after the user's last save reflect may start."""

_DAY = timedelta(days=1)

log = logging.getLogger(__name__)


class Background:
    """Starts the jobs that are due after each run of the index worker, each in a thread of its own."""

    def __init__(self, root: Path, settings: LiveSettings) -> None:
        self._settings = settings
        self._nightly = Nightly(RunLog(root), self._night)
        self._begun: dict[str, tuple[float, threading.Thread]] = {}
        self._last_saved: datetime | None = None
        self._looked_at = 0
        """When the page of proposals was last changed, in nanoseconds, as of the last look at it."""
        self._is_stopping = False
        self._one_command = threading.Lock()
        self._command: subprocess.Popen[bytes] | None = None

    def stop(self) -> None:
        """Start no more jobs and terminate a running capture or reflect; notes stay intact and the next run resumes."""
        self._is_stopping = True
        if self._command:
            self._command.terminate()

    def wait(self) -> None:
        """Wait for a running reflect to end."""
        if "reflect" in self._begun:
            self._begun["reflect"][1].join()

    def index_was_updated(self, changed: bool) -> None:
        """Start what is due after a run of the index worker, in its thread; `changed` says whether a note changed."""
        config = self._settings.current()
        if changed:
            self._last_saved = datetime.now(UTC)
        if config.embedding_provider != "builtin":
            self._begin("backfill", self._embed, at_once=changed)
        if config.sessions_tools:
            self._begin("sessions", self._read_sessions, at_once=ledger.marks_file(os.environ).exists())
        if self._has_new_answers():
            self._begin("answers", self._carry_out, at_once=True)
        if config.reflect_at:  # checked here because a timer would stop while the computer sleeps
            at = clock.fromisoformat(config.reflect_at)
            self._begin("reflect", lambda: self._nightly.run_if_due(at, datetime.now(UTC), self._last_saved))

    def is_busy(self, name: str) -> bool:
        """Whether the job of this name is running."""
        return name in self._begun and self._begun[name][1].is_alive()

    def _begin(self, name: str, work: Callable[[], object], at_once: bool = False) -> None:
        """Start a job that is not running: at once if `at_once`, otherwise every `RECONCILE_SECONDS` at most.

        It runs in a daemon thread, because an embedding server may hang.
        """
        began = self._begun[name][0] if name in self._begun else -RECONCILE_SECONDS
        is_due = at_once or time.monotonic() - began >= RECONCILE_SECONDS
        if self._is_stopping or self.is_busy(name) or not is_due:
            return

        thread = threading.Thread(target=self._attempt, args=(name, work), name=name, daemon=True)
        self._begun[name] = time.monotonic(), thread
        thread.start()

    def _attempt(self, name: str, work: Callable[[], object]) -> None:
        try:
            work()
        except Exception as error:  # top of a thread; the job is tried again later
            why = error if isinstance(error, VaultMemoryError) else type(error).__name__
            log.warning("%s failed: %s", name, why)

    def _night(self) -> None:
        """Run capture if the settings enable it, then reflect, which writes the pages derived from facts."""
        if self._captures():
            self._attempt("capture", self._capture)
        document = self._run_command("reflect")
        moved = sum(None not in (one["before"], one["after"]) for one in document["opinions"])
        pages, skipped = len(document["pages"]), document["skipped"]
        first = "".join(f", the first: {without_quotes(one['path'], one['why'])}" for one in skipped[:1])
        log.info("reflect: %d pages written, %d opinions moved, %d skipped%s", pages, moved, len(skipped), first)

    def _run_command(self, name: str, *options: str) -> dict[str, Any]:
        """Run a command that writes notes in a separate process and return its document; raises the error it reports.

        On a large vault a reflect needs ten times the memory of a question, and both commands would slow questions.
        """
        command = own_command(self._settings.current().vault, "--json", name, *options)
        with (
            self._one_command,
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as self._command,
        ):
            if self._is_stopping:
                self._command.terminate()  # stop() was called while the process was starting
            output = self._command.communicate()[0]
        document: dict[str, Any] = json.loads(output) if output else {}
        if document.get("schema") != f"vault-memory/{name}@1":
            raise error_from(document.get("error", {}), f"{name} ended without saying why")
        return document

    def _has_new_answers(self) -> bool:
        """Whether the page of proposals has changed since it was last looked at, and holds answers to carry out."""
        vault = Vault(self._settings.current())
        page = vault.layout.proposals
        try:
            stamp = os.stat(vault.root / page).st_mtime_ns
            if stamp == self._looked_at:
                return False
            self._looked_at = stamp
            return has_answers(page, vault.read(page))
        except (OSError, VaultMemoryError):
            return False

    def _carry_out(self) -> None:
        """Carry out what is ticked or refused on the page of proposals, once nobody has saved it for a while."""
        vault = Vault(self._settings.current())
        while not self._is_stopping and 0 <= vault.seconds_since_saved(vault.layout.proposals) < ANSWER_SECONDS:
            time.sleep(1)
        if not self._is_stopping:
            done = self._run_command("capture", "--ticks")
            log.info("proposals: %d accepted, %d refused", done["accepted"], done["declined"])

    def _captures(self) -> bool:
        return self._settings.current().capture_mode != "off"

    def _capture(self) -> None:
        """Capture from sessions that have ended or are idle, and from logs that nobody is editing."""
        done = self._run_command("capture", "--idle", str(IDLE_MINUTES))
        counts = len(done["written"]), done["proposed"], done["waiting"], len(done["problems"])
        log.info("capture: %d written, %d proposed, %d waiting, %d problems", *counts)

    def _embed(self) -> None:
        """Compute missing vectors with the configured embedder; each batch is stored as it arrives."""
        filled = Federation(self._settings.current()).backfill()
        if filled and (filled.embedded or filled.stopped):
            counts, stopped = (filled.embedded, filled.waiting), ", stopped" if filled.stopped else ""
            log.info("%s: %d embedded, %d waiting%s", filled.embedder, *counts, stopped)
            log.debug("stopped: %s", filled.stopped)  # debug only: a server may echo the text it was sent

    def _read_sessions(self) -> None:
        """Read agents' transcripts, then capture from the sessions that are due.

        What an interrupted sweep did not record is written again by the next one.
        """
        swept = Federation(self._settings.current()).refresh_sessions()
        if swept and (swept.changed or swept.problems):
            counts = swept.changed, swept.messages, len(swept.problems)
            log.info("sessions: %d changed, %d messages, %d problems", *counts)
        config, until = self._settings.current(), datetime.now(UTC) - timedelta(minutes=IDLE_MINUTES)
        if self._captures() and has_sessions_due(config.vault, config, os.environ, until):
            self._attempt("capture", self._capture)


class Nightly:
    """Runs a job once per local day, at a given time; any number of missed days are made up for by one run.

    The log records the day, not the moment, so a clock set back, summer time or a change of time zone cannot run the
    job twice. A run cut short by the end of the process is not recorded and is repeated. `zone` None is local time.
    """

    def __init__(self, run_log: RunLog, run: Callable[[], None], zone: tzinfo | None = None) -> None:
        self._run_log, self._run, self._zone = run_log, run, zone
        self._night: NightlyRun | None = None  # set if the log cannot be written, to prevent endless reruns

    def run_if_due(self, at: clock, now: datetime, last_saved: datetime | None = None) -> bool:
        """Run the job if it is due and the user has not saved for `QUIET_SECONDS`; return whether it ran.

        On the very first call, and whenever `at` has changed, it waits for the next occurrence of `at`. An exception of
        the job is passed on; that run is recorded too.
        """
        local = now.astimezone(self._zone)
        # The latest local day on which the clock reached `at`, even where a summer-time change skipped `at` itself.
        day, name = local.date() if local.time() >= at else local.date() - _DAY, f"{at:%H:%M}"
        night = self._night or self._run_log.last(NightlyRun)
        if night is None or night.time != name or night.seen_to > day + _DAY:  # last: the clock had been far ahead
            self._note(NightlyRun(name, day, night and night.ran, night and night.ok))
            return False
        # A save time in the far future comes from another clock and does not mean that someone is typing now.
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
        self._run_log.record(night)
        self._night = night if self._run_log.last(NightlyRun) != night else None
