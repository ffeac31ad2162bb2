"""Owns which lines of the core have had their day: said twice, over, or resting on what is no more. Pure.

Only what is sure is named, and each with its reason: a wrong proposal costs more trust than a right one earns.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from vault_memory.markdown import fact_text
from vault_memory.reflect.core import Item
from vault_memory.reflect.model import Fact
from vault_memory.reflect.periods import long, period_of
from vault_memory.text.spans import MONTHS, day_of, plus

SAID = 0.6
"""A fact and a line are of one thing when the line has this share of the fact's words."""

_MONTH = "|".join(f"{name}|{name[:3]}" for name in MONTHS)
_DATE = re.compile(
    rf"(?P<iso>\b\d{{4}}-\d\d-\d\d\b)|\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?P<month>{_MONTH})\.?,? (?P<year>\d{{4}})\b"
    rf"|\b(?P<month2>{_MONTH})\.? (?P<day2>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year2>\d{{4}})\b",
    re.IGNORECASE,
)
_LASTING = re.compile(
    r"\b(?:since|from|as of|starts?|starting|started|begins?|beginning|began|born|birthdays?|anniversary|every|each"
    r"|yearly|annual(?:ly)?|monthly|weekly)\b",
    re.IGNORECASE,
)
"""What a line says that goes on behind its date, or comes again."""

_CITED = re.compile(
    r"\[\[(?P<name>[^\[\]|#]*?(?P<day>\d{4}-\d\d-\d\d))"
    r"(?:#\^[\w-]+(?:\|[^\[\]]*)?\]\]|(?:\|[^\[\]]*)?\]\] L\d)"
)
"""A citation as reflect writes it: of a line, or of a block. A mere link to a day may be to one that is to come."""


class Old(NamedTuple):
    """A line that could go, why, and the facts that say so."""

    item: Item
    because: str
    evidence: tuple[Fact, ...] = ()
    is_twin: bool = False
    """Whether it stands there twice to the letter, and one of them is to stay."""


@dataclass(frozen=True)
class Known:
    """What tells that a line is outdated. `stems` gives the words that a text is about, `exists` whether a note is
    there, `is_forgotten` whether a line was put there for a fact that was forgotten since."""

    facts: Sequence[Fact]
    today: date
    stems: Callable[[str], Sequence[str]]
    exists: Callable[[str], bool]
    is_forgotten: Callable[[str], bool]


def outdated(items: Sequence[Item], known: Known) -> Iterator[Old]:
    """The lines of the core that have had their day, in their order, each for its first reason."""
    ahead = (fact for fact in known.facts if fact.occurred and fact.day and fact.day < fact.occurred.start)
    dated = [fact for fact in ahead if fact.kind != "opinion"]
    twins = {item.line: one for one, item in _twins(items)}
    for item in items:
        if known.is_forgotten(item.text):
            yield Old(item, "it was put there for a fact that you had forgotten since")
        elif gone := _gone(item.text, known):
            yield Old(item, f"it rests on {gone} alone, and there is no such note any more")
        elif item.line in twins:
            twin = twins[item.line]
            yield Old(item, f"line {twin.line} says the same", is_twin=twin.text == item.text)
        elif planned := _over(item, dated, known):
            day = planned.occurred.start if planned.occurred else known.today
            yield Old(item, f"{long(day)} is over", (planned,))


def _twins(items: Iterable[Item]) -> Iterator[tuple[Item, Item]]:
    """Lines that say the same to the letter, but for links, case and what ends them: the first and the later one."""
    first: dict[str, Item] = {}
    for item in items:
        words = " ".join(fact_text.readable(item.text, lambda _: False).casefold().split()).rstrip(".;, ")
        if words in first:
            yield first[words], item
        first.setdefault(words, item)


def _gone(text: str, known: Known) -> str:
    """The last note that a line cites, where none of those it cites is there; "" where one is, or it cites none."""
    cited = [(found["name"], found["day"]) for found in _CITED.finditer(text)]
    days = [_day(day) for _, day in cited]
    if not cited or any(day is None or day >= known.today for day in days) or any(known.exists(n) for n, _ in cited):
        return ""
    return cited[-1][1]


# --- what is over ----------------------------------------------------------------------------------------------------


def _over(item: Item, dated: Sequence[Fact], known: Known) -> Fact | None:
    """The fact that told ahead of the day that a line names, where that is over and nothing newer was told of it.

    Only by such a fact it is known that the line is of something that was to come: other dates are history, and stay.
    """
    last = max(days_in(item.text), default=None)
    if last is None or not is_over(last, known.today) or _LASTING.search(item.text):
        return None
    words = frozenset(known.stems(item.text))
    of_then = (fact for fact in dated if fact.occurred and fact.occurred.start >= last)
    of_it = [fact for fact in of_then if _is_of(fact, words, known)]
    planned = [f for f in of_it if f.occurred and f.occurred.start == f.occurred.end == last and f.succeeded_by is None]
    is_moved = any(fact.occurred and fact.occurred.start > last for fact in of_it)
    return None if is_moved or not planned else max(planned, key=lambda fact: (fact.day or date.min, fact.line))


def _is_of(fact: Fact, words: frozenset[str], known: Known) -> bool:
    """Whether a fact and a line are of one thing, by what both say beside the date: enough of the shorter of them."""
    told = frozenset(known.stems(_DATE.sub(" ", fact.text)))
    least = min(len(told), len(words))
    return least > 0 and len(told & words) >= SAID * least


def days_in(text: str) -> list[date]:
    """The days that a text names with their year."""
    found = []
    for match in _DATE.finditer(text):
        if match["iso"]:
            found.append(_day(match["iso"]))
            continue
        month = (match["month"] or match["month2"])[:3].casefold()
        number = [name[:3].casefold() for name in MONTHS].index(month) + 1
        found.append(day_of(int(match["year"] or match["year2"]), number, int(match["day"] or match["day2"])))
    return [day for day in found if day]


def is_over(day: date, today: date) -> bool:
    """Whether a day is past, and the month after its own too: the clock moves pages when a period closes, not daily."""
    return period_of(plus(period_of(day, "month").end, 1), "month").end < today


def _day(text: str) -> date | None:
    return day_of(*map(int, text.split("-")))
