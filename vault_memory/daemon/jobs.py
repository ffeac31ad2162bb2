"""Owns the jobs of one vault: which there are, which one is to run now, and that none runs twice or beside another.

It holds no thread and no clock: who has it (the daemon) asks at its wake-ups, with the time, and runs what is due.
"""

import threading
from collections.abc import Callable
from contextlib import ExitStack
from datetime import date, datetime, time, timedelta, tzinfo
from typing import NamedTuple

from vault_memory.daemon.schedule import Due, Job, due, last_slot, settled
from vault_memory.errors import BusyError
from vault_memory.store.job_log import Run, Runs

_LATER = timedelta(seconds=60)
"""When to look again while a job runs, here or in another process."""


class Look(NamedTuple):
    """The job to run now, or None, and when to look again at the latest (None: no job is registered)."""

    job: Job | None
    next_at: datetime | None


class Jobs:
    """The registered jobs; `zone` None is the system's local time. Safe to use from several threads."""

    def __init__(self, runs: Runs, zone: tzinfo | None = None) -> None:
        self._runs, self._zone = runs, zone
        self._jobs: dict[str, Job] = {}
        self._one = threading.Lock()
        self._waiting_since: dict[str, datetime] = {}

    def register(self, name: str, at: time | None, run: Callable[[], object]) -> None:
        """Add a job, or give it another time; `at` None takes it out."""
        others = {other: job for other, job in self._jobs.items() if other != name}
        self._jobs = others | ({name: Job(name, at, run)} if at is not None else {})

    def look(self, now: datetime, last_saved: datetime | None = None) -> Look:
        """What to do at `now` (aware); `last_saved` is when the user last saved a note.

        Nothing is due while a job runs, or within a minute of `last_saved`. A job seen for the first time, or with
        another time than before, waits for its next slot.
        """
        answers = [(self._due(job, now, last_saved), job) for job in tuple(self._jobs.values())]
        ready = [job for answer, job in answers if answer.is_due]
        return Look(ready[0] if ready else None, min((answer.next_at for answer, _ in answers), default=None))

    def run(self, job: Job, now: datetime, last_saved: datetime | None = None) -> bool:
        """Run a job here, alone on this device, and note it, also when it raises; False when it is not due any more.

        `now` and `last_saved` are those of its beginning: it may have waited for its thread since it was looked up.
        What kills the process leaves no note, and the run is caught up.
        Raises BusyError when a job runs here, or this one in another process; and what the job raises.
        """
        with ExitStack() as held:
            self._alone(job, now, held)
            if not self._due(job, now, last_saved, alone=True).is_due:
                return False
            try:
                job.run()
            except Exception:
                self._note(job, now, ok=False)
                raise
            self._note(job, now, ok=True)
        return True

    def _alone(self, job: Job, now: datetime, held: ExitStack) -> None:
        try:
            if not self._one.acquire(blocking=False):
                raise BusyError("A job runs already.", "Try again when it is done.")
            held.callback(self._one.release)
            held.enter_context(self._runs.alone(job.name))
        except BusyError:
            self._waiting_since[job.name] = now
            raise
        self._waiting_since.pop(job.name, None)

    def _due(self, job: Job, now: datetime, last_saved: datetime | None, alone: bool = False) -> Due:
        found = due(job.at, self._seen_to(job, now), now, last_saved, self._zone)
        waits = now - self._waiting_since.get(job.name, now - _LATER)
        if found.is_due and not alone and (self._one.locked() or timedelta(0) <= waits < _LATER):
            return Due(False, found.slot, now + _LATER)
        return found

    def _seen_to(self, job: Job, now: datetime) -> date:
        """The last day that was seen to, noted anew where that is another one than was kept."""
        kept = self._runs.get(job.name)
        at = f"{job.at:%H:%M}"
        day = last_slot(job.at, now, self._zone)
        if kept and kept.at == at:
            day = settled(kept.seen_to, job.at, now, self._zone)
        if kept is None or (kept.at, kept.seen_to) != (at, day):
            self._runs.note(job.name, Run(at, day, kept and kept.ran, kept and kept.ok))
        return day

    def _note(self, job: Job, now: datetime, ok: bool) -> None:
        day = max(self._seen_to(job, now), last_slot(job.at, now, self._zone))
        self._runs.note(job.name, Run(f"{job.at:%H:%M}", day, now, ok))
