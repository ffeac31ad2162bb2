"""Figures of an index: notes, passages, facts and vectors, the days they are of, and the questions asked."""

from collections.abc import Mapping
from datetime import date
from typing import NamedTuple

from vault_memory.store.view import View

_NOTES = "SELECT count(*), count(day), coalesce(sum(words), 0), coalesce(sum(size), 0) FROM note"
_PASSAGES = "SELECT count(*) FROM passage"
_FACTS = "SELECT count(*) FROM fact WHERE part = 0"
_VECTORS = "SELECT count(*) FROM embedding WHERE embedder = ?"
_DAYS = "SELECT day, count(*) FROM note WHERE day IS NOT NULL AND substr(path, 1, ?) <> ? GROUP BY day"
_QUESTIONS = "SELECT count(DISTINCT question) FROM used WHERE day > ? AND day <= ?"


class NoteFigures(NamedTuple):
    """How many notes there are, how many of them have a day, and their words and bytes together."""

    notes: int
    dated: int
    words: int
    bytes: int


def note_figures(view: View) -> NoteFigures:
    return NoteFigures(*next(view.rows(_NOTES)))


def count_passages(view: View) -> int:
    return int(view.one(_PASSAGES))


def count_facts(view: View) -> int:
    return int(view.one(_FACTS))


def count_vectors(view: View, space: int) -> int:
    """How many vectors a space holds."""
    return int(view.one(_VECTORS, space))


def notes_by_day(view: View, without: str) -> Mapping[date, int]:
    """How many notes each day has, not counting those whose path begins with `without`."""
    return {date.fromisoformat(day): count for day, count in view.rows(_DAYS, len(without), without)}


def count_questions(view: View, after: date, until: date) -> int:
    """How many questions were answered after a day and until another."""
    return int(view.one(_QUESTIONS, after.toordinal(), until.toordinal()))
