"""When jobs run: slots in local time over summer time, missed ones, clock steps, typing; and what is kept of runs."""

import json
import os
import subprocess
import sys
import threading
import time as clocks
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.daemon.jobs import Jobs, Look
from vault_memory.daemon.schedule import QUIET_SECONDS, due, last_slot, moment, settled
from vault_memory.errors import BusyError
from vault_memory.store.job_log import Run, Runs

ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Asia/Kolkata", "UTC")


def zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except ZoneInfoNotFoundError:
        pytest.skip("this system has no time zone data")


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


# --- slots over summer time ------------------------------------------------------------------------------------------

SLOTS = [
    # an ordinary day, summer and winter
    ("Europe/Berlin", date(2025, 7, 1), time(3, 30), "2025-07-01T01:30"),
    ("Europe/Berlin", date(2025, 12, 1), time(3, 30), "2025-12-01T02:30"),
    # 30 March 2025: 02:00 becomes 03:00 at 01:00 UTC. There is no 02:30: it runs as the clock reads 03:00.
    ("Europe/Berlin", date(2025, 3, 30), time(1, 59), "2025-03-30T00:59"),
    ("Europe/Berlin", date(2025, 3, 30), time(2, 0), "2025-03-30T01:00"),
    ("Europe/Berlin", date(2025, 3, 30), time(2, 30), "2025-03-30T01:00"),
    ("Europe/Berlin", date(2025, 3, 30), time(3, 0), "2025-03-30T01:00"),
    ("Europe/Berlin", date(2025, 3, 30), time(3, 30), "2025-03-30T01:30"),
    # 26 October 2025: 03:00 becomes 02:00 at 01:00 UTC. 02:30 comes twice: the first counts.
    ("Europe/Berlin", date(2025, 10, 26), time(2, 30), "2025-10-26T00:30"),
    ("Europe/Berlin", date(2025, 10, 26), time(3, 0), "2025-10-26T02:00"),
    # 9 March 2025: 02:00 becomes 03:00 at 07:00 UTC
    ("America/New_York", date(2025, 3, 9), time(2, 30), "2025-03-09T07:00"),
    ("America/New_York", date(2025, 11, 2), time(1, 30), "2025-11-02T05:30"),
    # half an hour of summer time: 5 October 2025, 02:00 becomes 02:30 at 15:30 UTC of the day before
    ("Australia/Lord_Howe", date(2025, 10, 5), time(2, 15), "2025-10-04T15:30"),
    # a day without midnight: 4 November 2018, 00:00 becomes 01:00 at 03:00 UTC
    ("America/Sao_Paulo", date(2018, 11, 4), time(0, 0), "2018-11-04T03:00"),
    # a day that was left out: Samoa had no 30 December 2011; its slots fall together with the next midnight
    ("Pacific/Apia", date(2011, 12, 30), time(3, 30), "2011-12-30T10:00"),
]


@pytest.mark.parametrize(("name", "day", "at", "expected"), SLOTS)
def test_a_slot_is_this_moment(name: str, day: date, at: time, expected: str) -> None:
    assert moment(day, at, zone(name)) == utc(expected)


@pytest.mark.skipif(not hasattr(clocks, "tzset"), reason="this system cannot change its time zone for a test")
@pytest.mark.parametrize(("name", "day", "at", "expected"), SLOTS[:9])
def test_the_systems_own_local_time_gives_the_same(
    name: str, day: date, at: time, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    zone(name)
    with monkeypatch.context() as patch:
        patch.setenv("TZ", name)
        clocks.tzset()
        assert moment(day, at) == utc(expected)
        assert last_slot(at, utc(expected)) == day
    clocks.tzset()


# --- what is due -----------------------------------------------------------------------------------------------------

AT = time(3, 30)
DAY = date(2025, 11, 10)


@pytest.mark.parametrize(
    ("seen_to", "now", "is_due", "next_at"),
    [
        ("2025-11-09", "2025-11-10T03:29:59", False, "2025-11-10T03:30"),
        ("2025-11-09", "2025-11-10T03:30:00", True, "2025-11-10T03:30"),
        ("2025-11-09", "2025-11-10T17:00:00", True, "2025-11-10T17:00"),  # off at the time: caught up
        ("2025-11-01", "2025-11-10T17:00:00", True, "2025-11-10T17:00"),  # nine missed are one
        ("2025-11-10", "2025-11-10T17:00:00", False, "2025-11-11T03:30"),
        ("2025-11-10", "2025-11-10T03:29:00", False, "2025-11-11T03:30"),  # the clock went back over the slot
        ("2025-11-10", "2025-11-09T12:00:00", False, "2025-11-11T03:30"),
    ],
)
def test_due(seen_to: str, now: str, is_due: bool, next_at: str) -> None:
    found = due(AT, date.fromisoformat(seen_to), utc(now), None, UTC)
    assert (found.is_due, found.next_at) == (is_due, utc(next_at))


@pytest.mark.parametrize(
    ("saved_seconds_ago", "waits_seconds"), [(0, 60), (1, 59), (59, 1), (60, 0), (3600, 0), (-30, 90), (-86400, 0)]
)
def test_who_has_just_saved_is_left_in_peace(saved_seconds_ago: int, waits_seconds: int) -> None:
    now = utc("2025-11-10T04:00")
    found = due(AT, date(2025, 11, 9), now, now - timedelta(seconds=saved_seconds_ago), UTC)
    assert found == (waits_seconds == 0, DAY, now + timedelta(seconds=waits_seconds))


def test_a_clock_that_was_far_ahead_does_not_stop_a_job_for_years() -> None:
    now = utc("2025-11-10T12:00")
    assert settled(date(2040, 1, 1), AT, now, UTC) == DAY
    assert settled(date(2025, 11, 11), AT, now, UTC) == date(2025, 11, 11)
    assert settled(date(2025, 11, 3), AT, now, UTC) == date(2025, 11, 3)


moments = st.datetimes(datetime(2024, 1, 1), datetime(2026, 12, 31), timezones=st.just(UTC))
times = st.times().map(lambda t: t.replace(second=0, microsecond=0))


@given(st.sampled_from(ZONES), times, moments)
def test_the_last_slot_has_come_and_the_next_has_not(name: str, at: time, now: datetime) -> None:
    day = last_slot(at, now, zone(name))
    assert moment(day, at, zone(name)) <= now < moment(day + timedelta(days=1), at, zone(name))


@given(st.sampled_from(ZONES), times, st.dates(date(2024, 1, 1), date(2026, 12, 31)))
def test_a_slot_reads_as_its_time_or_as_the_end_of_a_gap(name: str, at: time, day: date) -> None:
    found = moment(day, at, zone(name))
    local = found.astimezone(zone(name)).replace(tzinfo=None)
    before = (found - timedelta(seconds=1)).astimezone(zone(name)).replace(tzinfo=None)
    assert local == datetime.combine(day, at) or before < datetime.combine(day, at) < local


@given(st.sampled_from(ZONES), times, moments, st.lists(st.timedeltas(timedelta(), timedelta(hours=40)), max_size=30))
def test_at_any_wake_ups_each_local_day_runs_at_most_once_and_what_is_asked_for_arrives(
    name: str, at: time, start: datetime, steps: list[timedelta]
) -> None:
    now, seen_to, ran = start, last_slot(at, start, zone(name)), []
    for step in steps:
        now += step
        slots_came = last_slot(at, now, zone(name)) > seen_to
        found = due(at, seen_to, now, None, zone(name))
        assert found.is_due == slots_came
        assert found.next_at >= now
        if found.is_due:
            seen_to = found.slot
            ran.append(found.slot)
            assert not due(at, seen_to, now, None, zone(name)).is_due
    assert ran == sorted(set(ran))


@given(st.sampled_from(ZONES), times, moments, st.lists(st.timedeltas(-timedelta(hours=20), timedelta(hours=40))))
def test_steps_of_the_clock_within_a_day_run_no_day_twice(
    name: str, at: time, start: datetime, steps: list[timedelta]
) -> None:
    now, seen_to, ran = start, last_slot(at, start, zone(name)), []
    for step in steps:
        now = max(now + step, start)
        # back over at most one slot from the furthest: what is further is a clock that was wrong
        if moment(seen_to - timedelta(days=1), at, zone(name)) > now:
            continue
        seen_to = settled(seen_to, at, now, zone(name))
        found = due(at, seen_to, now, None, zone(name))
        if found.is_due:
            seen_to = found.slot
            ran.append(found.slot)
    assert ran == sorted(set(ran))


@given(moments, times, st.timedeltas(timedelta(seconds=-300), timedelta(seconds=300)))
def test_nothing_is_due_within_a_minute_of_a_save_and_it_is_a_minute_after(
    now: datetime, at: time, ago: timedelta
) -> None:
    seen_to = last_slot(at, now, UTC) - timedelta(days=1)
    found = due(at, seen_to, now, now - ago, UTC)
    assert found.is_due == (abs(ago.total_seconds()) >= QUIET_SECONDS)
    assert due(at, seen_to, found.next_at, now - ago, UTC).is_due


# --- what is kept of runs --------------------------------------------------------------------------------------------


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path / "vault", {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")})


def test_a_run_is_kept(runs: Runs, tmp_path: Path) -> None:
    run = Run("03:30", DAY, utc("2025-11-10T03:30:07"), True)
    assert runs.get("reflect") is None
    runs.note("reflect", run)
    runs.note("other", Run("04:00", DAY))
    again = Runs(tmp_path / "vault", {"XDG_DATA_HOME": str(tmp_path / "data")})
    assert (again.get("reflect"), again.get("other")) == (run, Run("04:00", DAY))
    assert not list(runs.file.parent.glob("*.part"))


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"jobs": 3}', '{"jobs": {"reflect": 3}}', '{"jobs": {"reflect": {"at": "03:30"}}}', "[" * 99999,
     '{"jobs": {"reflect": {"at": "03:30", "seen_to": "x", "ran": null, "ok": null}}}',
     '{"jobs": {"reflect": {"at": "03:30", "seen_to": "2025-11-10", "ran": "2025-11-10T03:30", "ok": true}}}'],
)  # fmt: skip
def test_a_damaged_file_holds_nothing_and_is_replaced(runs: Runs, text: str) -> None:
    runs.file.parent.mkdir(parents=True)
    runs.file.write_text(text, "utf-8")
    assert runs.get("reflect") is None
    runs.note("reflect", Run("03:30", DAY))
    assert runs.get("reflect") == Run("03:30", DAY)
    assert "reflect" in json.loads(runs.file.read_text("utf-8"))["jobs"]


def test_a_folder_that_cannot_be_written_loses_no_run_of_this_process(runs: Runs) -> None:
    runs.file.parent.parent.mkdir(parents=True)
    runs.file.parent.write_text("in the way", "utf-8")
    runs.note("reflect", Run("03:30", DAY))
    assert runs.get("reflect") == Run("03:30", DAY)


# --- jobs ------------------------------------------------------------------------------------------------------------


class Told:
    """A job that counts its runs."""

    def __init__(self, then: Callable[[], object] = lambda: None) -> None:
        self.times, self._then = 0, then

    def __call__(self) -> None:
        self.times += 1
        self._then()


def at_each(jobs: Jobs, told: Told, *moments: str) -> list[int]:
    """Look at each moment, run what is due, and say how often the job has run by then."""
    counts = []
    for text in moments:
        job = jobs.look(utc(text)).job
        if job:
            assert jobs.run(job, utc(text))
        counts.append(told.times)
    return counts


def test_the_first_look_ever_waits_for_the_next_slot_and_the_rest_is_caught_up_once(runs: Runs, tmp_path: Path) -> None:
    told = Told()
    for moments, expected in (
        (("2025-11-10T09:00", "2025-11-10T23:00"), [0, 0]),
        (("2025-11-11T09:00", "2025-11-11T09:01", "2025-11-12T03:29", "2025-11-12T03:30"), [1, 1, 1, 2]),
        (("2025-11-20T12:00", "2025-11-20T12:01", "2025-11-21T03:30"), [3, 3, 4]),
    ):
        jobs = Jobs(Runs(tmp_path / "vault", {"XDG_DATA_HOME": str(tmp_path / "data")}), UTC)  # another start of it
        jobs.register("reflect", AT, told)
        assert at_each(jobs, told, *moments) == expected
    assert runs.get("reflect") == Run("03:30", date(2025, 11, 21), utc("2025-11-21T03:30"), True)


def test_the_clock_was_in_2040(runs: Runs) -> None:
    told, jobs = Told(), Jobs(runs, UTC)
    jobs.register("reflect", AT, told)
    assert at_each(jobs, told, "2040-01-01T00:00", "2040-01-01T03:30", "2025-11-10T12:00", "2025-11-11T03:30") == [
        0,
        1,
        1,
        2,
    ]


def test_another_time_waits_for_its_slot_and_none_is_off(runs: Runs) -> None:
    told, jobs = Told(), Jobs(runs, UTC)
    jobs.register("reflect", time(22), told)
    assert at_each(jobs, told, "2025-11-10T12:00", "2025-11-10T22:00") == [0, 1]
    jobs.register("reflect", AT, told)
    assert at_each(jobs, told, "2025-11-11T12:00", "2025-11-12T03:30") == [1, 2]
    jobs.register("reflect", None, told)
    assert jobs.look(utc("2025-11-20T12:00")) == Look(None, None)


def test_a_job_that_fails_is_noted_and_waits_for_the_next_day(runs: Runs) -> None:
    def fail() -> None:
        raise OSError("no")

    jobs = Jobs(runs, UTC)
    jobs.register("reflect", AT, fail)
    jobs.look(utc("2025-11-10T12:00"))
    job = jobs.look(utc("2025-11-11T12:00")).job
    assert job
    with pytest.raises(OSError, match="no"):
        jobs.run(job, utc("2025-11-11T12:00"))
    assert jobs.look(utc("2025-11-11T12:01")) == Look(None, utc("2025-11-12T03:30"))
    assert runs.get("reflect") == Run("03:30", date(2025, 11, 11), utc("2025-11-11T12:00"), False)


def test_no_two_jobs_run_at_once(runs: Runs) -> None:
    begun, go_on = threading.Event(), threading.Event()
    slow, jobs = Told(lambda: (begun.set(), go_on.wait(30))), Jobs(runs, UTC)
    jobs.register("slow", AT, slow)
    jobs.register("other", AT, Told())
    jobs.look(utc("2025-11-10T12:00"))
    now = utc("2025-11-11T12:00")
    job = jobs.look(now).job
    assert job and job.name == "slow"
    thread = threading.Thread(target=jobs.run, args=(job, now))
    thread.start()
    assert begun.wait(30)
    assert jobs.look(now) == Look(None, now + timedelta(seconds=60))
    with pytest.raises(BusyError):
        jobs.run(job, now)
    go_on.set()
    thread.join()
    other = jobs.look(now + timedelta(seconds=60)).job
    assert other and other.name == "other" and slow.times == 1


HOLD = """
import sys
from pathlib import Path
from vault_memory.store.job_log import Runs
with Runs(Path(sys.argv[1])).alone("reflect"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that runs the job `reflect`, until its input ends."""
    environ = os.environ | {"XDG_DATA_HOME": str(tmp_path / "data")}
    command = [sys.executable, "-c", HOLD, str(tmp_path / "vault")]
    with subprocess.Popen(command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout and process.stdout.readline() == b"held\n"
        yield process


def test_a_job_that_another_process_runs_is_left_to_it(runs: Runs, holder: subprocess.Popen[bytes]) -> None:
    told, jobs = Told(), Jobs(runs, UTC)
    jobs.register("reflect", AT, told)
    jobs.look(utc("2025-11-10T12:00"))
    now = utc("2025-11-11T12:00")
    job = jobs.look(now).job
    assert job
    with pytest.raises(BusyError, match="Another process runs reflect"):
        jobs.run(job, now)
    assert jobs.look(now) == Look(None, now + timedelta(seconds=60))  # no spinning until then
    runs.note("reflect", Run("03:30", date(2025, 11, 11), now, True))  # as the other process does
    holder.communicate()
    later = now + timedelta(seconds=61)
    assert jobs.look(later).job is None
    assert not jobs.run(job, later) and told.times == 0


def test_a_job_that_waited_for_its_turn_does_not_begin_while_the_user_types(runs: Runs) -> None:
    told, jobs = Told(), Jobs(runs, UTC)
    jobs.register("reflect", AT, told)
    jobs.look(utc("2025-11-10T12:00"))
    job = jobs.look(utc("2025-11-11T03:30")).job
    assert job
    begins, saved = utc("2025-11-11T03:35"), utc("2025-11-11T03:34:55")
    assert not jobs.run(job, begins, saved) and told.times == 0
    assert jobs.look(begins, saved) == Look(None, saved + timedelta(seconds=60))  # and not for the next day
    assert jobs.run(job, saved + timedelta(seconds=60), saved) and told.times == 1


def test_what_killed_the_process_in_the_middle_is_caught_up(runs: Runs) -> None:
    def die() -> None:
        raise SystemExit

    told, jobs = Told(die), Jobs(runs, UTC)
    jobs.register("reflect", AT, told)
    jobs.look(utc("2025-11-10T12:00"))
    now = utc("2025-11-11T12:00")
    job = jobs.look(now).job
    assert job
    with pytest.raises(SystemExit):
        jobs.run(job, now)
    assert jobs.look(now).job == job
