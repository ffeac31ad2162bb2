"""Finds retractions: messages in which the user takes back something said earlier in a session. Pure."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from vault_memory.capture.own_words import SessionTurn, ends, last_question
from vault_memory.capture.remember_requests import (
    asks_to_remember,
    denies_request,
    find_refusals,
    find_request,
    without_forgetting,
)
from vault_memory.embedding.builtin_embedder import builtin
from vault_memory.text.word_classes import count_words, grammar_of, grammars, lowered, pattern_of, words_of

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
_DENIAL = pattern_of(r"""
    ^\W*(?:(?:no|nope|nein|nee|non|não)\b[,.:!]+|(?:actually|sorry|eigentlich|en fait|en realidad|na verdade)\b)
""")
"""Opens a message that corrects the one before ("no, it's port 5434")."""
_POINTS = re.compile(r"\b(?:that|it|this|das|es|ça|le|la|eso|isso|lo)$|lo$")
"""A retraction that ends in a pronoun, which refers to the last thing said."""
_LAST_SAID = pattern_of(r"""
    ,? (?:(?:was )?ich|ce que j[e']|(?:lo|o) que)\b[^,.;!?\n]{0,25}?\b
    (?:gesagt|geschrieben|dire|dit|écrire|écrit|decir|dicho|dije|dizer|disse|falei)\b(?: habe?\b)?
""")
"""What its speaker has just said, as the object of a word for forgetting."""
_CLAUSE_END = re.compile(r"[,.;!?\n]")
_SENTENCE_END = re.compile(r"[.!?\n]")
_WORD = re.compile(r"\w+")


class Retraction(NamedTuple):
    """One retraction in a message, and the words that identify what it retracts."""

    is_early: bool
    """Whether it opens its message, and no content word follows in its clause or it ends in a pronoun."""
    is_explained: bool
    """Whether the rest of its sentence turns to something else ("never mind, I found it"): only words shared with that
    show what it retracts."""
    is_deletion: bool
    is_weak: bool
    """Whether it is a denial or a request not to remember: these have content of their own, so half must be shared."""
    named: set[str]
    """The telling words of its clause and of the one before; if they have none, of the first one after it that has."""
    around: set[str]
    """The telling words on both sides of it."""

    def takes_back(self, own: set[str], *, is_request: bool, is_next: bool, is_last: bool = False) -> bool:
        """Whether it retracts a sentence with these telling words. In the very next message it may have them anywhere
        around, or have none at all ("scrap that") if the sentence was the last one said (`is_last`)."""
        if self.is_deletion and not is_request:
            return False
        if is_next and self.is_early and (is_request or (is_last and not self.is_explained)):
            return True
        named = self.around if is_next else self.named
        least = min(len(own), len(named)) / 2 if self.is_weak or not is_next else 0
        return len(own & named) > 0 and len(own & named) >= least


class SessionReview:
    """Finds which sentences of a session its user later retracted or declined to have remembered."""

    def __init__(self, messages: Sequence[SessionTurn]) -> None:
        self._messages = {said.number: said for said in messages}
        self._asked = {after.number: before for before, after in pairwise(messages) if not before.by_user}
        """The agent's message right before a message."""
        self._by_user = [said for said in messages if said.by_user]
        self._numbers = [said.number for said in self._by_user]
        self._retractions = {said.number: [*_retractions(ends(said.text))] for said in self._by_user}

    def is_taken_back(self, sentence: str, number: int, *, is_request: bool) -> bool:
        """Whether a sentence of message `number` is retracted: by the rest of its message or a later one, by its words
        or, in the next message, by what has no object of its own; or since its user declines to have it remembered."""
        text, own = self._messages[number].text, telling_words(find_request(sentence).text or sentence)
        after = self._by_user[bisect_right(self._numbers, number) :]
        if not is_request and (find_refusals(lowered(ends(text))) or (after and self._declines(after[0], own))):
            return True
        rest = ends(text.rpartition(sentence)[2])
        is_last = not count_words(rest) or RETRACTION.match(lowered(rest).lstrip(" .,;:!?\n-–—")) is not None
        at_once = [*_retractions(rest)]
        if after:
            denial = _DENIAL.match(lowered(after[0].text))
            at_once += [_retraction(ends(after[0].text), denial)] if denial else []
            at_once += self._retractions[after[0].number]
        if any(one.takes_back(own, is_request=is_request, is_next=True, is_last=is_last) for one in at_once):
            return True
        later = (one for said in after[1:] for one in self._retractions[said.number])
        return any(one.takes_back(own, is_request=is_request, is_next=False) for one in later)

    def _declines(self, answer: SessionTurn, own: set[str]) -> bool:
        """Whether an answer declines the agent's question whether to remember a sentence with these telling words."""
        asked = self._asked.get(answer.number)
        if asked is None or not denies_request(answer.text):
            return False
        points_back, named = asks_to_remember(last_question(asked.text))
        words = telling_words(named)
        return points_back or (bool(words) and 2 * len(words & own) >= len(words))


def telling_words(text: str) -> set[str]:
    """The words that say what a text is about: numbers, and stems of open-class words with a long vector."""
    words = {word for word in _WORD.findall(lowered(text)) if not any(word in each.common for each in grammars())}
    lengths = {word: builtin().word_length(word) for word in words}
    telling = (word for word, length in lengths.items() if (length or len(word) / 5) >= TELLING_LENGTH)
    return {*filter(str.isdigit, words), *(word[:STEM_LETTERS] for word in telling)}


def _retractions(text: str) -> Iterator[Retraction]:
    """The retractions in a message; a request not to remember is one."""
    lower = lowered(text)
    for found in [*islice(RETRACTION.finditer(without_forgetting(lower)), RETRACTIONS), *find_refusals(lower)]:
        yield _retraction(text, found)


def _retraction(text: str, found: re.Match[str]) -> Retraction:
    start, end = found.span()
    if last_said := _LAST_SAID.match(lowered(text), end):
        end = last_said.end()
    near = text[max(0, start - RETRACTION_CHARS) : start]
    last = next((clause for clause in reversed(_CLAUSE_END.split(near)) if clause.strip()), "")
    after = text[end : end + RETRACTION_CHARS]
    clause, *further = map(telling_words, _CLAUSE_END.split(after))
    explanation = _SENTENCE_END.split(after)[0].partition(",")[2]
    opening, is_again = words_of(explanation)[:1], RETRACTION.search(lowered(explanation)) is not None
    is_of_it = any(each.has("pointing", opening) for each in grammars())
    is_other = opening in (["let's"], ["lets"]) or any(each.has("mine", opening) for each in grammars())
    is_bare, is_denial = not clause, found.re is _DENIAL
    # "Forget that we …" names its object, "delete that from …" points to it.
    next_word = words_of(after)[:1] if after[:1] == " " else []
    is_clause = found[0].endswith("that") and next_word and not grammar_of("en").has("prepositions", next_word)
    is_pointing = _POINTS.search(found[0]) is not None and not is_clause
    return Retraction(
        is_early=start < AT_ONCE_CHARS and ((is_bare and not is_denial) or is_pointing),
        is_explained=not (is_again or is_of_it) and (is_other or bool(telling_words(explanation))),
        is_deletion=_DELETING.match(found[0]) is not None,
        is_weak=is_denial or "forgetting" in found.re.groupindex,
        named=clause if is_clause else telling_words(last) | clause or next(filter(None, further), set()),
        around=clause if is_clause else telling_words(near).union(clause, *further),
    )
