"""Recognises conversations in notes: who speaks, and what each line states, attributed to its speaker. Pure.

Only dated notes without Retain facts that read as a conversation (`- Nora: …`) yield statements.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from datetime import date
from itertools import pairwise
from typing import NamedTuple

from vault_memory.markdown import facts
from vault_memory.markdown.links import ITEM, block_id
from vault_memory.markdown.note import BLANK, HEADING, SPEAKER, TEXT, Note, speaker
from vault_memory.text import date_finder
from vault_memory.text.calendar_days import Span

LEAST_TURNS_EACH, LEAST_TURNS_TOGETHER = 2, 5
"""Minimum turns of a speaker, and of all speakers together: with fewer, a note is a log that quotes somebody."""

LEAST_CHANGE_SHARE = 0.5
"""Minimum share of turns that change the speaker: under topic labels, consecutive lines keep theirs."""

MODELS = frozenset(("assistant", "ai", "bot", "system", "model", "claude", "chatgpt", "gpt", "gemini", "copilot"))
"""Language models: their lines are not recorded, and with one of them two turns make a conversation."""

_SELF = frozenset(("me", "user", "human", "myself"))

MAX_LINES = 5_000
"""A longer note is not a log that somebody wrote, and yields nothing."""

LEAST_WORDS = 6
"""An utterance of fewer words says nothing by itself."""

_SENTENCE = re.compile(r"(?<=[.!?…。！？؟])[\"'»”’)\]*_]*\s+|(?<=[。！？])")
_QUESTION = re.compile(r"[?？؟][\"'»”’)\]*_]*$")
_QUESTION_MARKS = frozenset("?？؟")
_ASIDE = re.compile(r"\s*(?<![\[\]!\w])\[(?![\[^])[^\[\]]{3,}\](?![\[(:])")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_LINK = re.compile(r"\[\[[^\[\]]*\]\]")  # a citation of a day does not say when it happened


class Utterance(NamedTuple):
    """What one line of a conversation states, and the days it names; `speaker` is None for the log's owner."""

    line: int
    text: str
    speaker: str | None
    occurred: Span | None


def utterances(note: Note, day: date | None) -> Iterator[Utterance]:
    """Yield the statements of a conversation in order; none without a day or if the note has a Retain fact."""
    if day is None or note.layout.is_page(note.path) or len(note.lines) > MAX_LINES:
        return
    names = speakers(note)
    if not names or next(facts.facts(note, day), None) is not None:
        return
    for number, name, text in _turns(note, names):
        said = _statements(text, names - {name.casefold()})
        if said and name.casefold() not in MODELS:
            occurred = date_finder.occurred(_LINK.sub(" ", said), day)
            yield Utterance(number, said, None if name.casefold() in _SELF else name, occurred)


def speakers(note: Note) -> frozenset[str]:
    """The speakers of a note that reads as a conversation, case folded; none for any other.

    It needs two or more labels on at least two lines each, on at least five lines together, and on at least half of
    the lines with a list marker or a label; the labels must alternate and one line must ask a question, unlike topic
    labels (`Garden:`).
    """
    labels: list[str] = []
    lines, has_question = 0, False
    for number, line in _lines(note):
        name = speaker(line) if number else ""
        lines += bool(name) or ITEM.match(line) is not None
        labels += [name] if len(name) > 1 else []
        has_question = has_question or (bool(name) and not _QUESTION_MARKS.isdisjoint(line))
    often = {name for name, count in Counter(labels).items() if count >= LEAST_TURNS_EACH}
    turns = [name for name in labels if name in often]
    changes = sum(one != other for one, other in pairwise(turns))
    least = LEAST_TURNS_TOGETHER if MODELS.isdisjoint(often) else LEAST_TURNS_EACH
    is_talk = len(often) > 1 and len(turns) >= least and 2 * len(turns) >= lines and has_question
    return frozenset(often) if is_talk and changes >= LEAST_CHANGE_SHARE * (len(turns) - 1) else frozenset()


def _lines(note: Note) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines of a note's own text, without quotations; 0 ends a paragraph or section."""
    for number, state in enumerate(note.states, 1):
        if state in (BLANK, HEADING):
            yield 0, ""
        elif state == TEXT and not (note.owned and note.is_owned(number)):
            line = note.shown(number)
            if line.lstrip()[:1] not in (">", "|"):
                yield number, line


def _turns(note: Note, names: Collection[str]) -> Iterator[tuple[int, str, str]]:
    """Yield (line, speaker, words). A plain line directly below a turn continues it, a list item does not."""
    current = ""
    for number, line in _lines(note):
        match = SPEAKER.match(line) if number else None
        if match and match["name"].casefold() in names:
            current = match["name"]
        elif not number or (ITEM.match(line) and not line[0].isspace()):
            current = ""
        if current:
            yield number, current, line[match.end() if match else 0 :].strip()


def _statements(text: str, others: Collection[str]) -> str:
    """The statements of a turn: no questions, nothing addressed to another speaker by name, no asides."""
    if "^" in text and block_id(text):
        text = text[: text.rindex("^")]
    sentences = filter(None, _SENTENCE.split(_ASIDE.sub("", text).strip()))
    said = " ".join(one for one in sentences if not _QUESTION.search(one) and not _addresses(one, others))
    return said if len(_WORD.findall(said)) >= LEAST_WORDS else ""


def _addresses(sentence: str, others: Collection[str]) -> bool:
    """Whether a sentence addresses another speaker by name, or by a short form of it ("Mel")."""
    words = [word.casefold() for word in _WORD.findall(sentence) if word[0].isupper()]
    return any(word == name or (len(word) > 2 and name.startswith(word)) for word in words for name in others)
