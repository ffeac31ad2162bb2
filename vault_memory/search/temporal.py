"""Owns the temporal lane: what lies in the time a question names, and how well each candidate's day fits it."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from vault_memory.search.query import Question
from vault_memory.search.spread_over_time import OUTSIDE_FIT, in_order, spread
from vault_memory.store.candidate import Candidate
from vault_memory.store.lanes import Search

NAMING_POOL = 50
"""Passages that name the day or month in words, at most."""

OCCURRED = 0.7
"""A fact told at another time about the days in question, against one told in them."""

HALF_A_YEAR = 183
"""A day named without its year is that of the nearest one, counted from when it was written."""


class Within(NamedTuple):
    """Passages of a time and those that name it, how many more there are, and whether anything is known of it."""

    passages: list[int]
    beyond: int
    is_known: bool


class TimeLane:
    """The lane over one open store."""

    def __init__(self, search: Search) -> None:
        self._search = search

    def within(self, question: Question, pool: int, today: date) -> "Within":
        """Passages of the question's days, in the order in which they tell of them."""
        if not question.window:
            return Within([], 0, False)
        lying, total = self._search.within(question.window.span, pool)
        order = spread(lying, question.window.middle)[:pool]
        naming = self._naming(question)
        # A note without a day that names one ("rent is due on the 7th of November") may mean that of any year, or
        # what is to come; it does not tell that anything is known of a day that is past.
        is_ahead = question.window.span.end > today
        is_known = bool(order) or any(is_ahead or day for day in naming.values())
        return Within(order + [i for i in naming if i not in set(order)], total - len(order), is_known)

    def _naming(self, question: Question) -> dict[int, date | None]:
        """Passages that name the question's day or month, each with its own day; without a year, of the nearest."""
        if not question.window or not question.named:
            return {}
        naming = dict(self._search.lexical(question.named, NAMING_POOL))
        start = question.window.span.start
        days = {i: day for i, day, _ in self._search.days(naming) if not day or abs((day - start).days) <= HALF_A_YEAR}
        by_path = self._search.passages(days)  # equal scores in the same order in every index
        return {i: days[i] for i in sorted(by_path, key=lambda i: -naming[i])}

    def fits(
        self, question: Question, passages: Mapping[int, Candidate], order: Sequence[int], only_time: bool
    ) -> dict[int, float]:
        """How well each passage's day fits the question's window: 1 inside, fading out within as many days again.

        "Around" a day prefers the day itself to the edges of its window. Where nothing else is asked, the order in
        which they tell of the window decides, and what lies outside comes last.
        """
        if not question.window:
            return {}
        start, end = question.window.span
        soft = timedelta(days=max((end - start).days, 3))
        if question.window.middle:
            start = end = question.window.middle
        fits: dict[int, float] = {}
        for passage_id, day, occurred in self._search.days(passages):
            told = _fit(day, day, start, end, soft) if day else 0.0
            happened = _fit(*occurred, start, end, soft) if occurred else 1.0
            told *= 1.0 if happened == 1.0 else OCCURRED
            fits[passage_id] = max(told, OCCURRED * happened if occurred else 0.0)
        if question.named:
            fits |= {i: max(fits[i], OCCURRED) for i in order if i in fits}
        return {i: OUTSIDE_FIT * fit for i, fit in fits.items()} | in_order(order) if only_time else fits

    def order(self, question: Question, found: Mapping[int, int]) -> dict[int, float]:
        """For "last time" and "first time": 1 for the newest (oldest) of the passages found by words, down to 0.

        `found` maps these passages to their notes.
        """
        if not (question.wants_latest or question.wants_earliest):
            return {}
        day_of = {note.id: note.day for note in self._search.notes(set(found.values())).values() if note.day}
        days = sorted(set(day_of.values()), reverse=question.wants_earliest)
        place = {day: (i + 1) / len(days) for i, day in enumerate(days)}
        return {i: place[day_of[note_id]] for i, note_id in found.items() if note_id in day_of}


def _fit(first: date, last: date, start: date, end: date, soft: timedelta) -> float:
    if first <= end and last >= start:
        return 1.0
    away = start - last if last < start else first - end
    return max(0.0, 0.5 * (1 - away / soft))
