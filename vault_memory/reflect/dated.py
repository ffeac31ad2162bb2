"""Owns what a statement says of other days: those it cites as its evidence, and those it was told otherwise on. Pure.

It knows no opinions and no confidence: which statements were told on such a day is for beliefs.py to find.
"""

import re
from collections.abc import Iterator
from datetime import date, timedelta

from vault_memory.markdown.entities import link_name
from vault_memory.text.daily_notes import name_day
from vault_memory.text.dates import Span, find_window, occurred

A_WEEK = timedelta(days=7)
"""Who speaks of more days than these names none of them."""

_CITED = r"(?:\[\[[^\[\]]+\]\]|\d{4}-\d{2}-\d{2})(?: L\d+(?:, L\d+)*)?"
_EVIDENCE = re.compile(rf"(?:^|(?<=[.!?…])\s+)Evidence: (?:{_CITED}(?:[.,;]|,? and\b|\s&)?\s*)+$")
"""What somebody cited for it, and nothing else: prose behind the word is a part of what is told."""

_TARGET = re.compile(r"\[\[([^\[\]|#]+)|(?<![\[\w])(\d{4}-\d{2}-\d{2})")

_SENTENCE = re.compile(r"(?<=[.!?;])\s+(?!\d)|\s[–—]\s")
_SAID = r"(?:\w+ )??(?:wrote|written|said|thought|believed|noted|claimed|assumed|stated|saw|put down|expected|decided)"
_WRONG = r"(?:wrong|mistaken|false|untrue|nonsense|a mistake|an error|not (?:true|right|so))"
_WAS = r"(?:was|were|is|are|turned out|proved|has been)(?: to be)?(?: (?:quite|just|all|plain|\w+ly))?"
_OTHERWISE = r"(?:(?:it|so|this|that|quite|rather|very) )*(?:otherwise|differently|the opposite|the contrary)"
_ADVERB = r"(?:(?:quite|just|\w+ly) )?"
_TAKES_BACK = re.compile(
    rf"\bwhat (?:I|we) {_SAID}\b.{{0,200}}?\b{_WAS} {_WRONG}\b"
    rf"|\b(?:contrary to|unlike|different from) what (?:I|we) {_SAID}\b"
    rf"|\b(?:I|we) {_SAID} {_OTHERWISE}\b"
    rf"|\b(?:I|we) (?:was|were) {_ADVERB}(?:wrong|mistaken)\b"
    r"|\b(?:I|we) (?:take|took) back\b|\b(?:I|we) (?:retract|withdraw|withdrew)\b"
    r"|\b(?:I|we)(?:['’]ve| have)? changed (?:my|our) minds?\b"
    r"|\bno longer (?:think|believe|hold|stand by) what (?:I|we)\b"
    r"|\b(?:my|our|the) (?:note|entry|opinion|view|judgement|verdict|guess) (?:of|from|on)\b"
    rf".{{0,200}}?\b{_WAS} {_WRONG}\b",
    re.I,
)
_HINTS = (
    "wrong", "mistake", "otherwise", "differen", "opposite", "ontrary", "nlike", " back", "retract", "withdr", " mind",
    "no longer", "true", "not right", "not so", "false", "nonsense", "an error",
)  # fmt: skip
"""Some of this stands in every sentence that takes something back; looking for them costs little."""

_SUPPOSED = re.compile(
    r"\b(?i:if|whether|unless|maybe|perhaps|not|never|nobody|wonder|sa(?:ys?|id)|thinks?|claim(?:s|ed)|told)\b"
    r"|\b(?:may|might|could)\b|n['’]t\b"
)
"""Before it in its clause: then nobody takes anything back. "May" is a month."""


def bare(text: str) -> str:
    """A statement without what it cites as its evidence."""
    return _EVIDENCE.sub("", text) if "Evidence: " in text else text


def cited(text: str) -> frozenset[str]:
    """The notes that a statement cites as its evidence, as they are linked, in small letters."""
    match = _EVIDENCE.search(text) if "Evidence: " in text else None
    targets = (found[1] or found[2] for found in _TARGET.finditer(match[0])) if match else ()
    return frozenset(target.strip().removesuffix(".md").casefold() for target in targets)


def names_note(names: frozenset[str], path: str) -> bool:
    """Whether one of these links leads to the note at a path."""
    return link_name(path).casefold() in names or path.removesuffix(".md").casefold() in names


def newest_cited(text: str) -> date | None:
    """The newest day whose note a statement cites: it was not written before."""
    days = (name_day(link_name(name)) for name in cited(text))
    return max((day for day in days if day), default=None)


def taken_back(text: str, day: date | None) -> tuple[Span, ...]:
    """The days of which a text of a day says that what its writer told then was wrong."""
    for hint in _HINTS:
        if hint in text:
            return tuple(_taken_back(text, day))
    return ()


def _taken_back(text: str, day: date | None) -> Iterator[Span]:
    for sentence in _SENTENCE.split(bare(text)):
        match = _TAKES_BACK.search(sentence)
        if match is None or sentence.endswith("?"):
            continue
        if _SUPPOSED.search(re.split("[,:;]", sentence[: match.start()])[-1]):
            continue
        span = _days(sentence[match.start() :], day) or _days(sentence, day)
        if span and span.end - span.start < A_WEEK and (day is None or span.start < day):
            yield span


def _days(text: str, day: date | None) -> Span | None:
    """The first days that a sentence names, which lie behind its own."""
    if day is None:
        return occurred(text, None)
    window = find_window(text, day)
    if window is None:
        return None
    return Span(window.span.start, window.span.start) if window.kind == "since" else window.span
