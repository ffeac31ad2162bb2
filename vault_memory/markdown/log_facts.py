"""Owns the facts that a log without a Retain section tells: which of its lines, and which words of them. Pure.

Read by rules, in English only, and never written back into the log (telling.py has what counts). Only a note with a
day and without a Retain fact is read, and no page of `bank/`. Left out are headings, code, comments, quotations,
tables, owned blocks, open tasks, the words of a model (`Assistant:`) and what stands in quotation marks.
A fact has the words of its line: a list mark, a task box, a time of day, a speaker's label, interjections and
sentences that tell nothing are left out. A sentence that goes on in the next line is not read.
"""

import re
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from vault_memory.markdown import facts
from vault_memory.markdown.likes import words_of
from vault_memory.markdown.links import block_id
from vault_memory.markdown.note import TEXT, Note
from vault_memory.markdown.speakers import MODELS, Turns, talking
from vault_memory.markdown.telling import (
    EXPERIENCE,
    OBSERVATION,
    OPINION,
    WORLD,
    Place,
    elaborates,
    kind_of,
    says_something,
)
from vault_memory.markdown.telling_words import INTERJECTIONS, TASKS
from vault_memory.text import dates
from vault_memory.text.spans import Span, plus

MOST_LINES = 5_000
"""A longer note is no log that somebody wrote: nothing is inferred from it."""

MOST_OF_MORE = 240
"""Of what only elaborates ("Her name's Coco.") a line gives so many characters."""

MOST_CHARS, MOST_OF_A_SENTENCE = 8_000, 1_000
"""What is longer than any line or sentence that somebody writes is not read: some patterns look ahead to its end."""

PAGES = "bank/"

_SELF = frozenset(("me", "user", "human", "myself"))


class Inferred(NamedTuple):
    """What one line of a log tells; at most one a line.

    `speaker` is whose turn it is in a conversation, None for the person whose log it is; `occurred` the days it names,
    relative ones read from the note's day.
    """

    line: int
    kind: str
    text: str
    speaker: str | None
    occurred: Span | None


class _Line(NamedTuple):
    """The words of a line behind its marks, where they stand, and whether a paragraph goes on below."""

    text: str
    speaker: str | None
    place: Place
    goes_on: bool = False


_LEAD = re.compile(
    r"\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)*(?:\[(?P<box>.)\]\s+)?"
    r"(?P<time>[*_(\[]*\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?:\s?[AaPp]\.?[Mm]\.?)?(?![\d%])[)\]*_]*[\s,:–-]+(?=\D))?"
    r"(?:#[\w/-]+\s+)*"
)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]{0,500}”|«[^»]{0,500}»|`[^`]+`|~~[^~]+~~")
_FIRST_WORD = re.compile(r"\s*([A-Za-z]+)")
_MARKED = re.compile(r"[\"“«`~]")
_ASIDE = re.compile(r"(?<![\[\]!\w])\[(?![\[^])([^\[\]]{3,})\](?![\[(:])")
_END = re.compile(
    r"(?:(?<![!?…])[!?…]+|(?<!\.)\.+(?<!\bDr\.)(?<!\bMr\.)(?<!\bMrs\.)(?<!\bMs\.)(?<!\bSt\.)(?<!\bNo\.)(?<!\bvs\.)"
    r"(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\betc\.)(?<!\bca\.)(?<!\bapprox\.)(?<!\b[A-Z]\.)(?![\"'»”’)\]*_]*\s+[a-z]))[\"'»”’)\]*_]*(?=\s)"
)
_COMMA = r"(?:,? [A-Z]\w+)?[,!.…–—-]+\s*"
_INTERJECTION = re.compile(
    rf"(?:(?:oh|wow|yeah|yes|yep|yup|nope|hey|hi|hello|haha\w*|hehe|lol|ah|aww*|ooh|btw|by the way|omg|hmm+|um+|uh"
    rf"|fyi|whoa|yay|ugh|gosh)(?:{_COMMA}|\s+)"
    rf"|(?:no|nah|well|so|ok|okay|sure|absolutely|definitely|totally|exactly|right|anyways?|actually|honestly|true"
    rf"|thanks(?: so much| a lot| for asking)?|thank you(?: so much)?|awesome|cool|great|nice|sweet|man|of course"
    rf"|speaking of which|guess what|you know|i mean|look|listen|indeed|agreed|amazing|wonderful|sorry|oh my god"
    rf"|same here|good question|for sure|me too|fun fact|in fact|luckily|unfortunately|thankfully){_COMMA})+",
    re.I,
)
_SINCE = re.compile(r"\bsince\b(?:(?! [–—-] )[^.,;!])*|\[\[[^\[\]]*\]\]")
_YEAR = re.compile(r"\b(?:last|ago|years?|(?:19|20)\d\d)\b")
FAR_DAYS, OVER_DAYS = 183, 31
"""A day without a year that would lie further away is misread; so is one of how things are or shall be, once over."""


def inferred(note: Note, day: date | None) -> Iterator[Inferred]:
    """Yield what a log tells, in the order of its lines; nothing where it has no day or holds a Retain fact."""
    if day is None or note.path.startswith(PAGES) or len(note.lines) > MOST_LINES:
        return
    if next(facts.facts(note, day), None) is not None:
        return
    for number, line in _lines(note):
        found = _told(line)
        if found:
            kind, text = found
            yield Inferred(number, kind, text, line.speaker, _occurred(kind, text, day))


def _occurred(kind: str, text: str, day: date) -> Span | None:
    """The days a fact names; not since when it holds, and not what is still to come of something done."""
    text = _SINCE.sub(" ", text) if "since" in text or "[[" in text else text
    span = dates.occurred(text, day)
    if span is None or (kind == EXPERIENCE and span.start > day):
        return None
    past = OVER_DAYS if kind == WORLD else FAR_DAYS
    is_far = span.start > plus(day, FAR_DAYS) or span.end < plus(day, -past)
    return None if is_far and not _YEAR.search(text) else span


def _lines(note: Note) -> Iterator[tuple[int, _Line]]:
    """Every line that may tell something, by its number."""
    turns = Turns(talking(note))
    for number, state in enumerate(note.states, 1):
        line = note.shown(number) if state == TEXT else ""
        begin, is_known = turns.take(line, state)
        if state != TEXT or not is_known or len(line) > MOST_CHARS or (note.owned and note.is_owned(number)):
            continue
        if line.lstrip()[:1] in (">", "|") or turns.speaker.casefold() in MODELS:
            continue
        read = _read(line, begin, turns.speaker)
        if read:
            place = read.place._replace(is_quoted=turns.is_quoted)
            yield number, read._replace(place=place, goes_on=_goes_on(note, number))


def _goes_on(note: Note, number: int) -> bool:
    """Whether the paragraph goes on below a line."""
    if number >= len(note.lines) or note.states[number] != TEXT:
        return False
    below = note.lines[number]
    return not (facts.BULLET.match(below) or below.lstrip()[:1] in (">", "|"))


def _read(line: str, begin: int, speaker: str) -> _Line | None:
    """The words of a line; None for a task that is not done."""
    lead = _LEAD.match(line, begin)
    if lead is None or (lead["box"] or "x") not in "xX":
        return None
    text = line[lead.end() :].rstrip()
    if "^" in text and block_id(text):
        text = text[: text.rindex("^")].rstrip()
    named = None if speaker.casefold() in _SELF else speaker or None
    return _Line(text, named, Place(bool(speaker), lead["time"] is not None, lead["box"] is not None))


def _told(line: _Line) -> tuple[str, str] | None:
    """The kind and the words of what a line tells, or None."""
    judged, asides = _judged(line.text)
    kinds: list[str] = []
    told: list[str] = []
    is_told = False  # the sentence before
    room = MOST_OF_MORE
    for begin, end in _sentences(judged, line.goes_on):
        sentence = judged[begin:end]
        kind = kind_of(sentence, line.place) or (_done(sentence) if line.place.is_done and not begin else None)
        is_new = line.text[begin:end] not in told
        goes_on = is_told and is_new and not kind and end - begin <= room and elaborates(sentence, kinds[-1])
        if kind or goes_on:
            kinds += [kind] if kind else []
            told.append(line.text[begin:end])
        room -= end - begin if goes_on else 0
        is_told = bool(kind) or goes_on
    if told:
        # An opinion is held of one thing: what tells something else beside it is none.
        return next((kind for kind in kinds if kind != OPINION), OPINION), " ".join(told)
    aside = next((text for text in asides if says_something(words_of(text))), None) if line.place.is_turn else None
    return (OBSERVATION, aside.strip()) if aside else None


def _done(task: str) -> str | None:
    """The kind of a ticked task that says what was to be done."""
    words = words_of(task)
    return EXPERIENCE if words and words[0] in TASKS and "?" not in task and says_something(words) else None


def _judged(text: str) -> tuple[str, list[str]]:
    """The text as it is judged, of the same length, with quotations and asides blanked out; and the asides."""
    judged, asides = text.replace("’", "'"), []
    if _MARKED.search(judged):
        judged = _QUOTED.sub(_blanked, judged)
    if "[" in judged:
        asides = [text[match.start(1) : match.end(1)] for match in _ASIDE.finditer(judged)]
        judged = _ASIDE.sub(lambda aside: " " * len(aside[0]), judged)
    return judged, asides


def _blanked(quoted: re.Match[str]) -> str:
    """What stands for a quotation: it may end a sentence."""
    text = quoted[0]
    return "_" * (len(text) - 2) + "._" if text[-2] in ".!?" else "_" * len(text)


def _sentences(text: str, goes_on: bool) -> Iterator[tuple[int, int]]:
    """Where the sentences of a line begin, behind interjections, and end; without one that goes on in the next line."""
    begin = 0
    ends = [match.end() for match in _END.finditer(text)]
    last = len(text.rstrip())
    if last and (not ends or ends[-1] < last) and not (goes_on and text[last - 1] not in ".!?…:"):
        ends.append(last)
    for end in ends:
        start = _begin(text, begin)
        if start < end and end - start < MOST_OF_A_SENTENCE:
            yield start, min(end, last)
        begin = end


def _begin(text: str, begin: int) -> int:
    """Where a sentence begins that may have white space and interjections before it."""
    first = _FIRST_WORD.match(text, begin)
    if first and first[1].lower() in INTERJECTIONS:
        lead = _INTERJECTION.match(text, first.start(1))
        return lead.end() if lead else first.start(1)
    return first.start(1) if first else begin + len(text[begin:]) - len(text[begin:].lstrip())
