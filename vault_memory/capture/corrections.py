"""Puts right what its speaker corrects at once: "Releases go out on Tuesdays." – "sorry, Thursdays". Pure."""

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from vault_memory.capture.exclusions import is_passing
from vault_memory.capture.own_words import SessionTurn, last_question, split_sentences
from vault_memory.capture.retractions import telling_words
from vault_memory.text.word_classes import joined, lowered
from vault_memory.write.comparison import DAY, NUMBER

_DENIAL = joined(r"""
    \W*\b(?:(?:no|nope|nah|nein|nee|non|não|wait)(?=\W*$|\s*[,.:;!–—-]| it'?s\b| wait\b| sorry\b| actually\b)|oops|
    sorry|pardon|désolée?|perdón|desculpa|actually|eigentlich|en fait|en realidad|na verdade|correction|korrektur|
    corrección|correção|i meant?|ich (?:meine|meinte)|je (?:veux|voulais) dire|quer(?:ía|o|ia) (?:decir|dizer)|
    or rather|my mistake|i was wrong|(?:scratch|strike|make) that)\b
""")
_OPENING = re.compile(f"(?:{_DENIAL})+")
_END = re.compile(rf"(?:{_DENIAL})+\W*$")
_PLAIN_NO = re.compile(r"\W*(?:no|nope|nah|nein|nee|non|não)\b(?!,? (?:wait|sorry|it'?s)\b)")
"""What answers a question rather than corrects what was said before it."""
_ADDS = re.compile(r"\b(?:too|also|as well|auch|aussi|également|también|também)\b")
_NAME = re.compile(r"\b[^\W\d_a-z][\w-]+")
_FIRST_WORD = re.compile(r"(?:^|[.!?:\n]\s*)\w+")
"""The first word of a sentence, whose capital says nothing."""
_WORD = re.compile(r"[\w-]+")


class Correction(NamedTuple):
    """A text put right, with the number of the message and the sentence that does so."""

    text: str
    message: int
    sentence: str


def find_correction(text: str, sentence: str, number: int, messages: Sequence[SessionTurn]) -> Correction | None:
    """The correction of a `text` from a `sentence` of message `number`, in the sentence after it or at the beginning of
    the next message of the user; None if there is none."""
    at = next(place for place, said in enumerate(messages) if said.number == number)
    own = [*split_sentences(messages[at].text)]
    following = own[len(own) - own[::-1].index(sentence) :][:1] if sentence in own else []
    if following and (after := corrected(text, following[0], [DAY, NUMBER, _NAME, _WORD])):
        return Correction(after, number, following[0])
    by_agent = ""
    for said in messages[at + 1 :]:
        if not said.by_user:
            by_agent = said.text
            continue
        # Where the agent names something of the kind itself, the user may be correcting that.
        named = _FIRST_WORD.sub("", by_agent)
        kinds = [kind for kind in (DAY, NUMBER, _NAME) if _values(kind, named) <= _values(kind, text)]
        answer = next(split_sentences(said.text), "")
        if last_question(by_agent) and _PLAIN_NO.match(lowered(answer)):
            return None
        after = corrected(text, answer, kinds)
        return Correction(after, said.number, answer) if after else None
    return None


def corrected(text: str, correction: str, kinds: Sequence[re.Pattern[str]]) -> str:
    """A text with its day, number, name or word replaced by the one that a correction gives; "" if that is no
    correction of it: it has to begin by denying, and to say nothing else that is new."""
    lower = lowered(correction)
    opening = _OPENING.match(lower)
    if opening is None or lower.endswith("?") or _ADDS.search(lower) or is_passing(lower):
        return ""
    end = _END.search(lower)
    rest = correction[opening.end() : end.start() if end else None]
    for kind in kinds:
        new = [one for one in kind.finditer(rest) if one[0].casefold() not in _values(kind, text)]
        old = [one for one in kind.finditer(text) if one[0].casefold() not in _values(kind, rest)]
        if len(new) == 1 and telling_words(rest) - telling_words(new[0][0]) <= telling_words(text):
            shared = [_shared_context(rest, new[0], text, one) for one in old]
            best = max(shared, default=0)
            if shared.count(best) == 1 and (best or kind is not _WORD):
                at = old[shared.index(best)]
                return text[: at.start()] + new[0][0] + text[at.end() :]
    return ""


def _values(kind: re.Pattern[str], text: str) -> set[str]:
    return {one.casefold() for one in kind.findall(text)}


def _shared_context(correction: str, new: re.Match[str], text: str, old: re.Match[str]) -> int:
    """How many words before and after both places are the same."""
    before = ([*reversed(_WORD.findall(lowered(one)))] for one in (correction[: new.start()], text[: old.start()]))
    after = (_WORD.findall(lowered(one)) for one in (correction[new.end() :], text[old.end() :]))
    same = (takewhile(lambda pair: pair[0] == pair[1], zip(*words, strict=False)) for words in (before, after))
    return sum(len([*pairs]) for pairs in same)
