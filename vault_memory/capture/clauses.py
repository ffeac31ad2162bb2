"""Cuts a sentence into clauses and drops from both ends what is no statement: orders, questions, suppositions, jokes,
what is of this day. Pure.

An order is known by what it lacks, a subject and a verb behind its first word, so that no list of verbs is needed. Of
114 messages that people typed to agents over their work, hardly one of them worth keeping, 28 sentences were taken for
statements by fewer of these rules, and 13 are by all.
"""

import re
from collections.abc import Sequence
from itertools import dropwhile, islice, pairwise, takewhile

from vault_memory.capture import exclusions
from vault_memory.capture.requests import MARKS, STANDING, TAG
from vault_memory.capture.retractions import RETRACTION
from vault_memory.text.word_classes import Grammar, count_words, lowered, words_of

MIN_WORDS, MAX_WORDS = 4, 45
"""A statement has so many words."""

_OPENING = re.compile(
    r"^(?:(?:ok(?:ay)?|oh|ah|ach|hm+|and|but|aber|mais|mas|pero|also|well|btw|fyi|omg|argh|ta|nah|nope|yes|yep"
    r"|yeah|exactly|exact|right|ja|genau|gut|und|oui|et|bom|e|olha|sim|y|sí|bueno|en|top|cool|nice"
    r"|(?:no|nein|nee|non|não|so|ah non|first|second|third)(?=[,.:!]))\b[,.:!]*\s+)+",
    re.IGNORECASE,
)
_BREAK = re.compile(r"[,;:]\s+|\s[–—-]+\s|\s(?=(?:but|so|cause|because|aber|denn|donc|mais|pero|mas)\s)")
"""Where one clause of a sentence ends."""
_WHETHER = re.compile(r"(?:[^\W\d][\w'-]*,? ){1,5}(?:if|whether|ob|si)\b")
"""Begins with what is to be found out: "check if", "I wonder whether"; who says "never if" states a rule."""
_HALT = re.compile(r"(?:[^\W\d]+ )?(?:wait|hold on|halt|moment|warte|attends|espera|aguarda|peraí|oops|no)\W*")
VERB_WORDS = 6
"""Among so many words of a clause stands its verb."""
_LASTING = "always every denying"
"""What may stand for a verb: "static types everywhere"."""
_ANDS = frozenset(("and", "or", "und", "oder", "et", "ou", "y"))
_PLEASE = frozenset(("please", "bitte"))
_LINKS = frozenset(
    ("and", "then", "just", "so", "also", "donc", "alors", "así", "então", "und", "dann", "et", "puis", "y", "luego",
     "e", "depois")
)  # fmt: skip
"""What may stand before an order, where it goes on with one."""
_NO_ORDER = re.compile(r".*s|\w{3,}ing")
"""How no order ends: a thing or several, or what somebody is doing."""
_DONT = frozenset(("don't", "dont"))


def lasting_part(sentence: str, grammar: Grammar) -> str:
    """What of a sentence may last: without clauses at its ends that ask, suppose, joke, or speak of this day."""
    text = _OPENING.sub("", TAG.sub(".", sentence))
    if not MIN_WORDS <= count_words(sentence) <= MAX_WORDS or sentence.rstrip(" .").endswith(":"):
        return ""
    if _is_question(text, grammar) or exclusions.is_foreign(sentence):
        return ""
    parts = clauses(text)
    if RETRACTION.search(lowered(text)) or any(_HALT.fullmatch(lowered(part)) for part in parts):
        return ""
    if STANDING.search(lowered(text)):  # what is to be done from now on is a rule, and no order
        return "" if exclusions.is_passing(lowered(text)) or exclusions.supposes(lowered(text)) else text
    first = next((at for at, part in enumerate(parts) if not _drops(part, grammar, is_start=True)), len(parts))
    if any(_supposes(lowered(part), grammar) for part in parts[: first + 1]):
        return ""
    if _is_symptom(parts, words_of(text), grammar):
        return ""
    kept = "".join(takewhile(lambda part: not _drops(part, grammar, is_start=False), parts[first:])).rstrip(MARKS)
    if first > 0 and not _stands_alone(kept, grammar):
        return ""
    return kept if count_words(kept) >= MIN_WORDS else ""


def _is_symptom(parts: Sequence[str], words: Sequence[str], grammar: Grammar) -> bool:
    """Whether a sentence says what always happens together with when it did, or what to do about it now: "the printer
    always eats a page, take the other one"."""
    if grammar.has("ours", words) or not grammar.has("always every", words):
        return False
    if any(exclusions.is_passing(lowered(part)) for part in parts):
        return True
    is_told = not _drops(parts[0], grammar, is_start=True) and any(_drops(part, grammar, False) for part in parts[1:])
    return is_told and grammar.has("always", words) and not grammar.has("mine", words)


def _stands_alone(text: str, grammar: Grammar) -> bool:
    """Whether what a sentence says behind a clause that was dropped says something without that."""
    words = words_of(text)
    hangs = words[:1] != ["so"] and grammar.has("reasons interrogatives", words[:1])
    hangs = hangs or words[:1] in (["dass"], ["que"]) or words[:2] == ["so", "that"]
    return not hangs and text.count("(") >= text.count(")")


def clauses(text: str) -> list[str]:
    """The clauses of a text, each with the marks and blanks behind it."""
    breaks = (one.end() for one in _BREAK.finditer(text))
    return [text[start:end] for start, end in pairwise([0, *breaks, len(text)])]


def _drops(clause: str, grammar: Grammar, is_start: bool) -> bool:
    """Whether a clause is none that a statement may begin with, or go on with."""
    lower, words = lowered(clause), words_of(clause)
    if not words:
        return is_start
    return exclusions.is_idle(lower) or _is_order(clause, words, grammar, is_start)


def _supposes(lower: str, grammar: Grammar) -> bool:
    """Whether a sentence that goes on from this clause is a supposition."""
    return exclusions.supposes(lower) or grammar.unreal.search(lower) is not None


def _is_order(clause: str, words: Sequence[str], grammar: Grammar, is_start: bool) -> bool:
    """Whether a clause tells the agent to do something, once: no subject stands before what it begins with."""
    words = [*dropwhile(_LINKS.__contains__, words)] or words
    if words[0] in grammar.classes["yours"] | _PLEASE:
        return True
    if grammar.has("always", words) or (grammar.has("every", words[:5]) and not is_start):
        return False
    if words[0] in _DONT or (exclusions.WISH.match(lowered(clause)) and not grammar.has("denying", words)):
        return True
    if (
        words[0] in grammar.openers
        or grammar.has("wishes changes", words[:1])
        or grammar.past.fullmatch(words[0])
        or not words[0][0].isalpha()
        or (clause[0].isupper() and not is_start)
    ):
        return False
    if len(words) < 2 or words[1] in _ANDS or grammar.has("verbs duty denying", words[1:2]):
        return False
    if _NO_ORDER.fullmatch(words[0]):
        return False
    object_words = [words[1], *islice(dropwhile(grammar.classes["idle"].__contains__, words[1:]), 1)]
    if not grammar.openers.isdisjoint(object_words) or grammar.has("pointing interrogatives", object_words):
        return True
    if not is_start or len(words) <= MIN_WORDS:
        return False
    return not (_has_verb(words, grammar) or grammar.has(_LASTING, words))


def _has_verb(words: Sequence[str], grammar: Grammar) -> bool:
    """Whether a clause may have a finite verb, as far as closed classes and endings tell."""
    is_of_name = any(grammar.third.search(word) or grammar.past.fullmatch(word) for word in words[1:3])
    return is_of_name or grammar.has("verbs duty changes wishes", words[:VERB_WORDS])


def _is_question(sentence: str, grammar: Grammar) -> bool:
    """Whether a sentence asks, with or without its mark, or says that somebody wants to know or to find out."""
    wondered = _WHETHER.match(lowered(sentence))
    if wondered and not grammar.has("always every denying", words_of(wondered[0])):
        return True
    return sentence.rstrip().endswith("?") or grammar.has("questions", words_of(sentence[:40])[:1])
