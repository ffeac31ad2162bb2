"""Splits a sentence into clauses and drops from both ends what is no statement: orders, questions, suppositions, jokes
and matters of the day. Pure.

An order is recognised by what it lacks, a subject and a verb after its first word, so no list of verbs is needed. Of
114 messages typed to agents at work, hardly one of them worth keeping, a subset of these rules let 28 sentences pass as
statements; all of them let 13 pass.
"""

import re
from collections.abc import Sequence
from itertools import dropwhile, islice, pairwise, takewhile

from vault_memory.capture import exclusions
from vault_memory.capture.remember_requests import MARKS, STANDING, TAG
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
_WHETHER = re.compile(r"(?:[^\W\d][\w'-]*,? ){1,5}(?:if|whether|ob|si)\b")
"""The opening of an indirect question: "check if", "I wonder whether". ("Never … if" states a rule instead.)"""
_HALT = re.compile(r"(?:[^\W\d]+ )?(?:wait|hold on|halt|moment|warte|attends|espera|aguarda|peraí|oops|no)\W*")
MIN_ORDER_WORDS = 3
"""The minimum length of an order that belongs to the preference before it: "go ahead" does not."""
VERB_WORDS = 6
"""How many words at the beginning of a clause are searched for its verb."""
_LASTING = "always every denying"
"""Word classes that make a verb unnecessary: "static types everywhere"."""
_ANDS = frozenset(("and", "or", "und", "oder", "et", "ou", "y"))
_PLEASE = frozenset(("please", "bitte"))
LINKS = frozenset(
    ("and", "then", "just", "so", "also", "donc", "alors", "así", "então", "und", "dann", "sondern", "et", "puis", "y",
     "luego", "e", "depois")
)  # fmt: skip
"""Words that may precede an order, linking it to the clause before."""
_NO_ORDER = re.compile(r".*s|\w{3,}ing")
"""First words that open no order: plurals (and others in -s), and words in -ing."""
_DONT = frozenset(("don't", "dont"))


def lasting_part(sentence: str, grammar: Grammar) -> str:
    """The lasting part of a sentence, without leading or trailing orders, guesses, jokes and matters of the day."""
    text = OPENING.sub("", TAG.sub(".", sentence))
    if not MIN_WORDS <= count_words(sentence) <= MAX_WORDS or sentence.rstrip(" .").endswith(":"):
        return ""
    if is_question(text, grammar) or exclusions.is_foreign(sentence):
        return ""
    parts = clauses(text)
    if RETRACTION.search(lowered(text)) or any(_HALT.fullmatch(lowered(part)) for part in parts):
        return ""
    if STANDING.search(lowered(text)):  # "from now on …" is a rule, not an order
        return "" if exclusions.is_passing(lowered(text)) or exclusions.supposes(lowered(text)) else text
    first = next((at for at, part in enumerate(parts) if not _drops(part, grammar, is_start=True)), len(parts))
    opening = [lowered(part) for part in parts[: first + 1]]
    if any(exclusions.supposes(lower) or grammar.unreal.search(lower) for lower in opening):
        return ""
    if _is_symptom(parts, words_of(text), grammar):
        return ""
    words = words_of(text)
    is_wish = grammar.has("wishes likes", words[:5]) and grammar.has("mine", words[:1])

    def stays(part: str) -> bool:
        return not _drops(part, grammar, is_start=False) or (is_wish and _is_general(part, grammar))

    kept = "".join(takewhile(stays, parts[first:])).rstrip(MARKS)
    if first > 0 and not _stands_alone(kept, grammar):
        return ""
    return kept if count_words(kept) >= MIN_WORDS else ""


def _is_general(clause: str, grammar: Grammar) -> bool:
    """Whether an order is no matter of the moment, as in "I hate tabs, use two spaces"."""
    words = words_of(clause)
    is_at_hand = exclusions.is_idle(lowered(clause)) or grammar.has("pointing definite yours", words)
    return not is_at_hand and len(words) >= MIN_ORDER_WORDS


def _is_symptom(parts: Sequence[str], words: Sequence[str], grammar: Grammar) -> bool:
    """Whether a sentence with an "always" or "every" is about the moment: it also says when, or what to do about it
    now, as in "the printer always eats a page, take the other one"."""
    if grammar.has("ours", words) or not grammar.has("always every", words):
        return False
    if any(exclusions.is_passing(lowered(part)) for part in parts):
        return True
    is_told = not _drops(parts[0], grammar, is_start=True) and any(_drops(part, grammar, False) for part in parts[1:])
    return is_told and grammar.has("always", words) and not grammar.has("mine", words)


def _stands_alone(text: str, grammar: Grammar) -> bool:
    """Whether the rest of a sentence makes sense without the clauses dropped before it."""
    words = words_of(text)
    hangs = words[:1] != ["so"] and grammar.has("reasons interrogatives", words[:1])
    hangs = hangs or words[:1] in (["dass"], ["que"]) or words[:2] == ["so", "that"]
    return not hangs and text.count("(") >= text.count(")")


def clauses(text: str) -> list[str]:
    """The clauses of a text, each with the punctuation and blanks that follow it."""
    breaks = (one.end() for one in _BREAK.finditer(text))
    return [text[start:end] for start, end in pairwise([0, *breaks, len(text)])]


def _drops(clause: str, grammar: Grammar, is_start: bool) -> bool:
    """Whether a statement can neither begin with a clause (`is_start`) nor continue with it."""
    lower, words = lowered(clause), words_of(clause)
    if not words:
        return is_start
    return exclusions.is_idle(lower) or _is_order(clause, words, grammar, is_start)


def _is_order(clause: str, words: Sequence[str], grammar: Grammar, is_start: bool) -> bool:
    """Whether a clause is a one-off order to the agent: it begins with a verb without a subject."""
    words = [*dropwhile(LINKS.__contains__, words)] or words
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
    if grammar.has("prepositions", words[1:2]) and grammar.has("verbs", words[3:4]):
        return grammar.has("interrogatives", words[2:3])  # "production of lumen is …" has a subject and a verb
    object_words = [words[1], *islice(dropwhile(grammar.classes["idle"].__contains__, words[1:]), 1)]
    if not grammar.openers.isdisjoint(object_words) or grammar.has("pointing interrogatives", object_words):
        return True
    if not is_start or len(words) <= MIN_WORDS:
        return False
    return not (_has_verb(words, grammar) or grammar.has(_LASTING, words))


def is_sentence(text: str, grammar: Grammar) -> bool:
    """Whether a text makes sense without what was said before it: it has a subject of its own and a verb."""
    words, first = words_of(text), words_of(clauses(text)[0])
    is_begun = grammar.has("prepositions reasons interrogatives pointing yours", first[:1])
    return len(first) > 2 and not (is_begun or grammar.has("pointing", words)) and _has_verb(first, grammar)


def _has_verb(words: Sequence[str], grammar: Grammar) -> bool:
    """Whether a clause may have a finite verb, judging by closed word classes and endings."""
    is_of_name = any(grammar.third.search(word) or grammar.past.fullmatch(word) for word in words[1:3])
    return is_of_name or grammar.has("verbs duty changes wishes", words[:VERB_WORDS])


def is_question(sentence: str, grammar: Grammar) -> bool:
    """Whether a sentence is a question, with or without a question mark, direct or indirect."""
    wondered = _WHETHER.match(lowered(sentence))
    if wondered and not grammar.has(_LASTING, words_of(wondered[0])):
        return True
    return sentence.rstrip().endswith("?") or grammar.has("questions", words_of(sentence[:40])[:1])
