"""Splits a sentence into clauses and drops from both ends what is no statement: orders, questions, suppositions, jokes
and matters of the day. Pure.

An order is recognised by what it lacks, a subject and a verb after its first word, so no list of verbs is needed.
"""

import re
from collections.abc import Sequence
from itertools import dropwhile, islice, pairwise, takewhile

from vault_memory.capture import exclusions
from vault_memory.capture.cues import find_cue
from vault_memory.capture.remember_requests import MARKS, TAG
from vault_memory.capture.retractions import RETRACTION
from vault_memory.text.word_classes import Grammar, count_words, lowered, words_of

MIN_WORDS, MAX_WORDS = 4, 45
"""Bounds on the number of words of a statement."""

OPENING = re.compile(
    r"^(?:(?:ok(?:ay)?|oh|ah|ach|hm+|and|but|aber|mais|mas|pero|also|well|btw|by the way|übrigens|au fait|por cierto"
    r"|aliás|fyi|omg|argh|ta|nah|nope|yes|yep|yeah|exactly|exact|right|ja|genau|gut|und|oui|et|bom|e|olha|sim|y|sí|bueno|en|top|cool|nice"
    r"|(?:no|nein|nee|non|não|so|ah non|first|second|third)(?=[,.:!]))\b[,.:!]*\s+)+",
    re.IGNORECASE,
)
_BREAK = re.compile(r"[,;:]\s+|\s[–—-]+\s|\s(?=(?:but|so|cause|because|aber|denn|donc|mais|pero|mas)\s)")
"""The end of a clause."""
LINKS = frozenset(
    ("and", "then", "just", "so", "also", "donc", "alors", "así", "então", "und", "dann", "sondern", "et", "puis", "y",
     "luego", "e", "depois")
)  # fmt: skip
"""Words that may precede an order, linking it to the clause before."""
_NO_ORDER = re.compile(r".*s|\w{3,}ing")
"""First words that open no order: plurals (and others in -s), and words in -ing."""


def lasting_part(sentence: str, grammar: Grammar) -> tuple[str, str]:
    """The lasting part of a sentence, without leading or trailing orders, guesses, jokes and matters of the day; if
    there is none, "" and why."""
    text, number = OPENING.sub("", TAG.sub(".", sentence)), count_words(sentence)
    lower = lowered(text)
    if number > MAX_WORDS:
        return "", "too long"
    if is_question(text, grammar):
        return "", "a question"
    if exclusions.is_reported(sentence):
        return "", "what somebody else says"
    if RETRACTION.search(lower):
        return "", "taken back"
    if standing := find_cue("standing", text, grammar):  # a rule, not an order
        beside = lowered(text[: standing.start()] + text[standing.end() :])
        is_idle = exclusions.is_passing(beside) or exclusions.supposes(lower)
        return ("", "about the day, or a guess") if is_idle else (text, "")
    parts = clauses(text)
    first = next((at for at, part in enumerate(parts) if not _drops(part, grammar, is_start=True)), len(parts))
    opening = [lowered(part) for part in parts[: first + 1]]
    if any(exclusions.supposes(one) or grammar.unreal.search(one) for one in opening):
        return "", "a guess or a condition"
    kept = "".join(takewhile(lambda part: not _drops(part, grammar, is_start=False), parts[first:])).rstrip(MARKS)
    # It may hang on a clause that was dropped; "so …" states what follows.
    hangs = first > 0 and grammar.has("reasons interrogatives", words_of(kept.removeprefix("so "))[:1])
    # "No como carne" holds its subject in its verb.
    least = MIN_WORDS - bool(find_cue("lives", kept, grammar, at_start=True))
    if min(number, count_words(kept)) >= least and not (hangs or sentence.rstrip(" .").endswith(":")):
        return kept, ""
    is_passing = exclusions.is_passing(lower)
    return "", "about the day, or one of many" if is_passing else "a task, or about the matter at hand"


def clauses(text: str) -> list[str]:
    """The clauses of a text, each with the punctuation and blanks that follow it."""
    breaks = (one.end() for one in _BREAK.finditer(text))
    return [text[start:end] for start, end in pairwise([0, *breaks, len(text)])]


def _drops(clause: str, grammar: Grammar, is_start: bool) -> bool:
    """Whether a statement can neither begin with a clause (`is_start`) nor continue with it."""
    words = words_of(clause)
    if not words:
        return is_start
    if find_cue("decided", clause, grammar, at_start=True):
        return exclusions.is_idle(lowered(clause))
    return exclusions.is_idle(lowered(clause)) or _is_order(words, grammar, is_start)


def _is_order(words: Sequence[str], grammar: Grammar, is_start: bool) -> bool:
    """Whether a clause is a one-off order to the agent: it begins with a verb without a subject."""
    words = [*dropwhile(LINKS.__contains__, words)] or words
    if grammar.has("yours", words[:1]):
        return True
    if grammar.has("always", words) or (grammar.has("every", words[:5]) and not is_start):
        return False
    if words[0] in grammar.openers or grammar.past.fullmatch(words[0]) or _NO_ORDER.fullmatch(words[0]):
        return False
    if len(words) < 2 or words[1] in LINKS or grammar.has("verbs duty denying", words[1:2]):
        return False
    object_words = [words[1], *islice(dropwhile(grammar.classes["idle"].__contains__, words[1:]), 1)]
    if not grammar.openers.isdisjoint(object_words) or grammar.has("pointing", object_words):
        return True
    if not is_start or len(words) <= MIN_WORDS:
        return False
    return not (grammar.has_verb(words) or grammar.has("always every denying", words))


def is_question(sentence: str, grammar: Grammar) -> bool:
    """Whether a sentence is a question, with or without a question mark."""
    return sentence.rstrip().endswith("?") or grammar.has("questions", words_of(sentence[:40])[:1])
