"""Owns when jobs run: their slots in local time, what is due at a moment, what was missed. No clock, file or thread.

A job has one slot a local day. A day that was seen to is remembered as a day, not as a moment: a clock that steps back
within it, a summer-time change or a journey cannot run it twice.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import NamedTuple

QUIET_SECONDS = 60.0
"""How long the user must not have saved before a job may begin."""

_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Job:
    """What is run once a local day: `at` is local wall-clock time."""

    name: str
    at: time
    run: Callable[[], object]


class Due(NamedTuple):
    """Whether a job is to run now, for which day's slot, and when to ask again (UTC; `now` itself when it is due)."""

    is_due: bool
    slot: date
    next_at: datetime


def moment(day: date, at: time, zone: tzinfo | None = None) -> datetime:
    """The moment of a local day's slot, in UTC: the first one of two, the end of the gap where there is none.

    `zone` None is the system's local time. Raises OverflowError or ValueError at the ends of the calendar.
    """
    naive = datetime.combine(day, at)
    first, second = (_utc(naive.replace(fold=fold), zone) for fold in (0, 1))
    # PEP 495: in a gap fold 0 reads the clock from before it, which gives the later moment; the gap ends in between.
    return _change(second, first, zone) if first > second else first


def last_slot(at: time, now: datetime, zone: tzinfo | None = None) -> date:
    """The local day of the last slot that has come by `now`."""
    day = _local_day(now, zone) + _DAY  # a gap over midnight moves a slot into the next day
    while moment(day, at, zone) > now:
        day -= _DAY
    return day


def settled(seen_to: date, at: time, now: datetime, zone: tzinfo | None = None) -> date:
    """The day to go on from, given the last day that was seen to.

    It is another one only after the clock was far ahead: a job that ran "in 2040" must not wait until then. Up to a day
    ahead is left: a clock that steps back over a slot has that slot behind it.
    """
    last = last_slot(at, now, zone)
    return last if seen_to > last + _DAY else seen_to


def due(at: time, seen_to: date, now: datetime, last_saved: datetime | None = None, zone: tzinfo | None = None) -> Due:
    """Whether a slot after the day `seen_to` has come; several missed ones are one.

    `now` and `last_saved` are aware. Within a minute of `last_saved` nothing is due; `next_at` is its end.
    """
    last = last_slot(at, now, zone)
    if last <= seen_to:
        return Due(False, seen_to, moment(seen_to + _DAY, at, zone))
    quiet_at = _quiet_at(now, last_saved)
    return Due(quiet_at <= now, last, quiet_at.astimezone(UTC))


def _quiet_at(now: datetime, last_saved: datetime | None) -> datetime:
    quiet = timedelta(seconds=QUIET_SECONDS)
    # A note saved in the far future comes from another clock and says nothing of who is typing here.
    if last_saved is None or abs(now - last_saved) >= quiet:
        return now
    return last_saved + quiet


def _utc(naive: datetime, zone: tzinfo | None) -> datetime:
    # Not astimezone(): in a gap of the system's own zone that reads the clock from after it, whatever fold says.
    return datetime.fromtimestamp(naive.replace(tzinfo=zone).timestamp(), UTC)


def _local_day(now: datetime, zone: tzinfo | None) -> date:
    return now.astimezone(zone).date()


def _change(before: datetime, after: datetime, zone: tzinfo | None) -> datetime:
    """The moment, to the second, between two others at which the local time leaps."""
    old = before.astimezone(zone).utcoffset()
    while after - before > timedelta(seconds=1):
        middle = before + timedelta(seconds=(after - before) // timedelta(seconds=1) // 2)
        if middle.astimezone(zone).utcoffset() == old:
            before = middle
        else:
            after = middle
    return after
