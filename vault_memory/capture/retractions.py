"""Tells what somebody took back of what they said in a session. Pure."""

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import islice

from vault_memory.capture.own_words import ends
from vault_memory.capture.requests import find_refusals
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
    forget (?:that|it|about|what|the|everything|my)|after all|ignore (?:that|what i)|strike that|cancel that|
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


def is_retracted(sentence: str, rest: str, later: Collection[str], *, is_request: bool) -> bool:
    """Whether a sentence was taken back in the rest of its message or in later ones: by its words, or by the next thing
    that was said."""
    own = telling_words(sentence)
    texts = list(map(ends, [rest, *later]))
    interruption = _INTERRUPTION.search(lowered(texts[1]), 0, AT_ONCE_CHARS) if texts[1:] else None
    if interruption and _takes_back(texts[1], interruption, own, is_next=True):
        return True
    return any(
        _takes_back(text, retraction, own, is_next=place < 2)
        for place, text in enumerate(texts)
        for retraction in _retractions(text)
        if is_request or not _DELETING.match(retraction[0])
    )


def forget_texts() -> None:
    """Keep no message of a session longer than it is read."""
    _retractions.cache_clear()
    find_refusals.cache_clear()


def telling_words(text: str) -> set[str]:
    """The words of a text that tell what it is about: numbers, and words of no closed class with a long vector."""
    words = {word for word in _WORD.findall(lowered(text)) if not any(word in each.common for each in grammars())}
    lengths = {word: builtin().word_length(word) for word in words}
    telling = (word for word, length in lengths.items() if (length or len(word) / 5) >= TELLING_LENGTH)
    return {*filter(str.isdigit, words), *(word[:STEM_LETTERS] for word in telling)}


@lru_cache(maxsize=1024)
def _retractions(text: str) -> Sequence[re.Match[str]]:
    """Where a message takes something back; kept, for each statement before it asks."""
    lower = lowered(text)
    return [*islice(RETRACTION.finditer(lower), RETRACTIONS), *find_refusals(lower)]


def _takes_back(text: str, retraction: re.Match[str], own: set[str], *, is_next: bool) -> bool:
    """Whether a retraction names one of these words in its clause, or in the first one after it that names anything.

    In the very next thing somebody says it may also name them anywhere around, or nothing at all ("scrap that").
    """
    start, end = retraction.span()
    near = text[max(0, start - RETRACTION_CHARS) : start]
    last = next((clause for clause in reversed(_CLAUSE_END.split(near)) if clause.strip()), "")
    before = telling_words(near if is_next else last)
    clause, *further = map(telling_words, _CLAUSE_END.split(text[end : end + RETRACTION_CHARS]))
    if is_next and start < AT_ONCE_CHARS and (not clause or _POINTS.search(retraction[0])):
        return True
    after = set().union(clause, *further) if is_next else next(filter(None, [clause, *further]), set())
    named = before | after
    if "forgetting" in retraction.re.groupindex:  # what it asks not to remember says something of its own
        return 2 * len(own & named) >= max(1, min(len(own), len(named)))
    return bool(own & named)
