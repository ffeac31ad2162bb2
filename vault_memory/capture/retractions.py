"""Finds retractions: messages in which the user takes back something said earlier in a session. Pure."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise, takewhile
from typing import NamedTuple

from vault_memory.capture.own_words import SessionTurn, ends, last_question
from vault_memory.capture.remember_requests import asks_to_remember, denies_request, find_refusals, without_forgetting
from vault_memory.embedding.builtin_embedder import builtin
from vault_memory.text.word_classes import grammars, lowered, pattern_of

TELLING_LENGTH = 1.0
"""The minimum vector length of a content word; function words have shorter vectors."""

STEM_LETTERS = 5
"""The length of the prefix by which the forms of a word are matched."""

AT_ONCE_CHARS = 12
"""A retraction within the first so many characters of the next message refers to what was said last."""

RETRACTIONS, RETRACTION_CHARS = 20, 300
"""How many retractions of one message are read, and how many characters on each side of one; longer is not speech."""

RETRACTION = pattern_of(r"""
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
_DELETING = re.compile(r"(?:delete|erase|remove|drop) |(?:lösche?|efface|supprime|apaga)\b")
"""Retracts only requests to remember: otherwise it is about the work at hand ("delete that")."""
_INTERRUPTION = re.compile(r"\b(?:wait|hold on|halt|warte|attends|espera|ai não|peraí|argh,? no|oops)\b")
"""An interjection that opens a retraction of what was said just before."""
_POINTS = re.compile(r"\b(?:that|it|this|das|es|ça|le|la|eso|isso|lo)$|lo$")
"""A retraction that ends in a pronoun, which refers to the last thing said."""
_LAST_SAID = pattern_of(r"""
    ,? (?:(?:was )?ich|ce que j[e']|(?:lo|o) que)\b[^,.;!?\n]{0,25}?\b
    (?:gesagt|geschrieben|dire|dit|écrire|écrit|decir|dicho|dije|dizer|disse|falei)\b(?: habe?\b)?
""")
"""What its speaker has just said, as the object of a word for forgetting."""
_CLAUSE_END = re.compile(r"[,.;!?\n]")
_WORD = re.compile(r"\w+")


class Retraction(NamedTuple):
    """One retraction in a message, and the words that identify what it retracts."""

    is_early: bool
    """Whether it opens its message, and no content word follows in its clause or it ends in a pronoun."""
    is_deletion: bool
    is_refusal: bool
    """Whether it is a request not to remember, which has content of its own."""
    named: set[str]
    """The telling words of its clause, or of the first one after it that has any."""
    around: set[str]
    """The telling words on both sides of it."""

    def takes_back(self, own: set[str], *, is_request: bool, is_next: bool) -> bool:
        """Whether it retracts a sentence with these telling words. In the very next message it may have them anywhere
        around, or have none at all ("scrap that")."""
        if self.is_deletion and not is_request:
            return False
        if is_next and self.is_early:
            return True
        named = self.around if is_next else self.named
        if self.is_refusal:
            return 2 * len(own & named) >= max(1, min(len(own), len(named)))
        return bool(own & named)


class SessionReview:
    """Finds which sentences of a session its user later retracted or declined to have remembered."""

    def __init__(self, messages: Sequence[SessionTurn]) -> None:
        self._messages = {said.number: said for said in messages}
        self._asked = {after.number: before for before, after in pairwise(messages) if not before.by_user}
        """The agent's message right before a message."""
        self._by_user = [said for said in messages if said.by_user]
        self._numbers = [said.number for said in self._by_user]
        self._retractions = [[*_retractions(ends(said.text))] for said in self._by_user]
        self._naming: dict[str, list[tuple[int, Retraction]]] = {}
        """By word, the retractions that name it and the indices of their messages."""
        for place, found in enumerate(self._retractions):
            for one in found:
                for word in one.named:
                    self._naming.setdefault(word, []).append((place, one))

    def taken_back_at(self, sentence: str, number: int, *, is_request: bool) -> int | None:
        """The number of the message that retracts a sentence of message `number`, or None.

        That is its own if it also asks not to remember or retracts what it says before; the next if it declines the
        agent's question whether to remember this, or retracts what was said last; or a later one, by its words.
        """
        text, own, after = self._messages[number].text, telling_words(sentence), self.messages_after(number)
        if not is_request:
            if after and self._declines(after[0], own):
                return after[0].number
            if find_refusals(lowered(ends(text))):
                return number
        rest = _retractions(ends(text.rpartition(sentence)[2]))
        if any(one.takes_back(own, is_request=is_request, is_next=True) for one in rest):
            return number
        if not after:
            return None
        following = len(self._by_user) - len(after)
        next_text = ends(after[0].text)
        interruption = _INTERRUPTION.search(lowered(next_text), 0, AT_ONCE_CHARS)
        at_once = [_retraction(next_text, interruption)] if interruption else []
        retractions = [*at_once, *self._retractions[following]]
        if any(one.takes_back(own, is_request=is_request, is_next=True) for one in retractions):
            return after[0].number
        later = (
            self._numbers[place]
            for word in own
            for place, one in takewhile(lambda naming: naming[0] > following, reversed(self._naming.get(word, ())))
            if one.takes_back(own, is_request=is_request, is_next=False)
        )
        return next(later, None)

    def _declines(self, answer: SessionTurn, own: set[str]) -> bool:
        """Whether an answer declines the agent's question whether to remember a sentence with these telling words."""
        asked = self._asked.get(answer.number)
        if asked is None or not denies_request(answer.text):
            return False
        points_back, named = asks_to_remember(last_question(asked.text))
        words = telling_words(named)
        return points_back or (bool(words) and 2 * len(words & own) >= len(words))

    def messages_after(self, number: int) -> Sequence[SessionTurn]:
        """The user's later messages, in order."""
        return self._by_user[bisect_right(self._numbers, number) :]


def telling_words(text: str) -> set[str]:
    """The words that say what a text is about: numbers, and stems of open-class words with a long vector."""
    words = {word for word in _WORD.findall(lowered(text)) if not any(word in each.common for each in grammars())}
    lengths = {word: builtin().word_length(word) for word in words}
    telling = (word for word, length in lengths.items() if (length or len(word) / 5) >= TELLING_LENGTH)
    return {*filter(str.isdigit, words), *(word[:STEM_LETTERS] for word in telling)}


def _retractions(text: str) -> Iterator[Retraction]:
    """The retractions in a message."""
    lower = lowered(text)
    for found in [*islice(RETRACTION.finditer(without_forgetting(lower)), RETRACTIONS), *find_refusals(lower)]:
        yield _retraction(text, found)


def _retraction(text: str, found: re.Match[str]) -> Retraction:
    start, end = found.span()
    if last_said := _LAST_SAID.match(lowered(text), end):
        end = last_said.end()
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
