"""Tells what somebody took back of what they said in a session. Pure."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, takewhile
from typing import NamedTuple

from vault_memory.capture.own_words import ends
from vault_memory.capture.requests import find_refusals, without_forgetting
from vault_memory.embedding.builtin_embedder import builtin
from vault_memory.text.word_classes import grammars, joined, lowered

TELLING_LENGTH = 1.0
"""The length of a word's vector from which it is about something; function words are shorter."""

STEM_LETTERS = 5
"""The first letters of a word stand for its forms."""

AT_ONCE_CHARS = 12
"""What begins so early in the next message takes back what was said last."""

RETRACTIONS, RETRACTION_CHARS = 20, 300
"""So many retractions of one message are read, and so many characters to each side of one: more is no speech."""

RETRACTION = re.compile(
    joined(r"""
        \b(?:jk|(?:just )?kidding|scrap|(?:delete|erase|remove|drop) (?:that|it|this)|
    forget (?:that|it|about|what|the|everything|my)|after all|ignore (?:that|it|this|what i)|ni caso|strike that|
    cancel that|
    correction|my mistake|i misspoke|let'?s not|on reflection|never ?mind|actually,? no|wait,? no|no,? wait|
    hm+,? wait|argh,? no|undo that|i was wrong|scratch that|on second thoughts?|take (?:it|that) back|disregard|
    bin (?:that|it)|drop the idea|got (?:it|that) wrong|or rather|ignore my|changed my mind|doch nicht|doch lieber|
    nein,? doch|ach (?:nee|nein)|lassen wir|vergiss (?:das|es|die|den)|lösche? (?:das|es)|streich das|kommando zurück|
    ich hab mich (?:geirrt|vertan)|quatsch|ich nehm das zurück|finalement,? non|laisse tomber|
    (?:efface|supprime)[- ](?:ça|le|la)|oublie|tout compte fait|réflexion faite|je me suis trompée?|en fait,? non|
    olvida|olvídalo|bórralo|borra eso|mejor no|al final no|espera, (?:no|lo)|ya no lo|me equivoqué|esquece|apaga isso|
    deixa (?:pra lá|isso)|pensando bem|me enganei|melhor não|na verdade,? não)\b
""")
)
_DELETING = re.compile(r"(?:delete|erase|remove|drop) |(?:lösche?|efface|supprime|apaga)\b")
"""Takes back only what was to be remembered: else it speaks of the work at hand."""
_INTERRUPTION = re.compile(r"\b(?:wait|hold on|halt|warte|attends|espera|ai não|peraí|argh,? no|oops)\b")
"""With what somebody begins who takes back what was said just before."""
_POINTS = re.compile(r"\b(?:that|it|this|das|es|ça|le|la|eso|isso|lo)$|lo$")
"""What takes back without saying what: the last thing that was said."""
_CLAUSE_END = re.compile(r"[,.;!?\n]")
_WORD = re.compile(r"\w+")


class Retraction(NamedTuple):
    """Where a message takes something back, and by which words it says what."""

    is_early: bool
    """At the beginning of its message, naming nothing behind it, or only pointing back."""
    is_deletion: bool
    is_refusal: bool
    """Asks not to remember: it says something of its own."""
    named: set[str]
    """In its clause, or in the first one behind it that names anything."""
    around: set[str]
    """Anywhere around."""

    def names(self, own: set[str], *, is_next: bool) -> bool:
        """Whether it takes back what these words tell; in the very next thing somebody says it may name them anywhere
        around, or nothing at all ("scrap that")."""
        if is_next and self.is_early:
            return True
        named = self.around if is_next else self.named
        if self.is_refusal:
            return 2 * len(own & named) >= max(1, min(len(own), len(named)))
        return bool(own & named)


class UserMessages:
    """What a session's user said, with what of it takes something back: each message is read once."""

    def __init__(self, messages: Mapping[int, str]) -> None:
        """`messages` by their numbers, in order."""
        self.numbers = [*messages]
        self._texts = [ends(text) for text in messages.values()]
        self._retractions = [[*_retractions(text)] for text in self._texts]
        self._naming: dict[str, list[tuple[int, Retraction]]] = {}
        """By word, the places of the messages that name it where they take something back."""
        for place, found in enumerate(self._retractions):
            for one in found:
                for word in one.named:
                    self._naming.setdefault(word, []).append((place, one))

    def retracting(self, sentence: str, number: int, rest: str, *, is_request: bool) -> int | None:
        """The number of the message that takes a sentence of message `number` back, by its words or as the next thing
        that was said; `rest` is what that message says behind it. None where none does."""
        own = telling_words(sentence)
        following = bisect_right(self.numbers, number)
        if _takes_back(_retractions(ends(rest)), own, is_request=is_request):
            return number
        if following == len(self.numbers):
            return None
        interruption = _INTERRUPTION.search(lowered(self._texts[following]), 0, AT_ONCE_CHARS)
        at_once = [_retraction(self._texts[following], interruption)] if interruption else []
        if _takes_back([*at_once, *self._retractions[following]], own, is_request=is_request):
            return self.numbers[following]
        later = (
            place
            for word in own
            for place, one in takewhile(lambda naming: naming[0] > following, reversed(self._naming.get(word, ())))
            if (is_request or not one.is_deletion) and one.names(own, is_next=False)
        )
        place = next(later, None)
        return None if place is None else self.numbers[place]


def telling_words(text: str) -> set[str]:
    """The words of a text that tell what it is about: numbers, and words of no closed class with a long vector."""
    words = {word for word in _WORD.findall(lowered(text)) if not any(word in each.common for each in grammars())}
    lengths = {word: builtin().word_length(word) for word in words}
    telling = (word for word, length in lengths.items() if (length or len(word) / 5) >= TELLING_LENGTH)
    return {*filter(str.isdigit, words), *(word[:STEM_LETTERS] for word in telling)}


def _retractions(text: str) -> Iterator[Retraction]:
    """Where a message takes something back."""
    lower = lowered(text)
    for found in [*islice(RETRACTION.finditer(without_forgetting(lower)), RETRACTIONS), *find_refusals(lower)]:
        yield _retraction(text, found)


def _retraction(text: str, found: re.Match[str]) -> Retraction:
    start, end = found.span()
    near = text[max(0, start - RETRACTION_CHARS) : start]
    last = next((clause for clause in reversed(_CLAUSE_END.split(near)) if clause.strip()), "")
    clause, *further = map(telling_words, _CLAUSE_END.split(text[end : end + RETRACTION_CHARS]))
    return Retraction(
        is_early=start < AT_ONCE_CHARS and (not clause or _POINTS.search(found[0]) is not None),
        is_deletion=_DELETING.match(found[0]) is not None,
        is_refusal="forgetting" in found.re.groupindex,
        named=telling_words(last) | next(filter(None, [clause, *further]), set()),
        around=telling_words(near).union(clause, *further),
    )


def _takes_back(retractions: Iterable[Retraction], own: set[str], *, is_request: bool) -> bool:
    """Whether one of these, said next, takes back what these words tell."""
    return any(one.names(own, is_next=True) for one in retractions if is_request or not one.is_deletion)
