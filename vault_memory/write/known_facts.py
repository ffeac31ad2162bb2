"""Finds what the notes say already of a fact that is to be stored: the same words, or nearly the same."""

import re
from collections.abc import Iterable
from datetime import date

from vault_memory.embedding.builtin_embedder import builtin
from vault_memory.markdown import facts, provenance
from vault_memory.markdown.facts import RetainFact
from vault_memory.markdown.parse import parse
from vault_memory.search.names import Names
from vault_memory.search.successors import superseded
from vault_memory.store import journal, note_queries
from vault_memory.store.note_queries import KnownFact
from vault_memory.store.rows import wording_hash
from vault_memory.store.vectors import cosine
from vault_memory.store.view import KINDS, Filters, View
from vault_memory.write.retain import Bullet

MIN_LIKENESS = 0.6
"""The least cosine (builtin vectors) of two facts that may say the same. Of 125 logged facts 2 were so near to an
earlier one that also had their kind, names and numbers: one took its place, one repeated it."""

MAX_COMPARED = 1000
"""The newest facts that a fact is compared with."""

_WORD = re.compile(r"\d+|[^\W\d_]+")


def find_same(store: View, bullet: Bullet, today: date) -> str | None:
    """The citation of a fact that says the same in the same words, of all whom this one is about, and still counts.

    What was done is done again on another day. What was forgotten or superseded counts no more, nor does what came
    from outside where the new one did not.
    """
    wanted = _fact(bullet)
    found = [
        known
        for known in note_queries.same_words(store, wording_hash(wanted.narrative))
        if wanted.kind != "B" or (known.day == today.isoformat() and KINDS[known.kind] == "experience")
    ]
    standing = _standing(store, wanted, found, today)
    return standing[0].source if standing else None


def find_alike(store: View, bullet: Bullet, today: date) -> str | None:
    """The citation and text of the fact that says nearly, but not just, the same: of one kind, with every number and
    name of this one, and else as `find_same` has it. What was done is never alike."""
    wanted = _fact(bullet)
    if wanted.kind == "B" or find_same(store, bullet, today):
        return None
    names = [slug for name in wanted.entities for slug in Names(store).slugs(name)]
    kind = KINDS.index(facts.KINDS[wanted.kind])
    newest = note_queries.newest_facts(store, kind, names, MAX_COMPARED)
    known = [each for each in newest if _values(wanted.narrative) <= set(_WORD.findall(each.narrative.casefold()))]
    own, *others = builtin().embed([wanted.narrative, *(each.narrative for each in known)])
    near = {each: cosine(own, other) for each, other in zip(known, others, strict=True)}
    alike = sorted((each for each in near if near[each] >= MIN_LIKENESS), key=lambda each: -near[each])
    best = _standing(store, wanted, alike, today)
    return f"{best[0].source}\n{best[0].narrative}" if best else None


def _fact(bullet: Bullet) -> RetainFact:
    (wanted,) = facts.facts(parse("x.md", f"## Retain\n{bullet}\n".encode()), None)
    return wanted


def _values(text: str) -> set[str]:
    """Its numbers, and its words with a capital but for the first: with another of these it says something else."""
    words = _WORD.findall(text)
    return {word.casefold() for word in words if word[0].isdigit()} | {
        word.casefold() for word in words[1:] if word[0].isupper() and len(word) > 1
    }


def _standing(store: View, wanted: RetainFact, known: Iterable[KnownFact], today: date) -> list[KnownFact]:
    """Those that still count, in the same order, and are about all whom the wanted one is about."""
    trusted = provenance.is_trusted(wanted.by or provenance.PERSON)
    known = [
        each
        for each in known
        if (provenance.is_trusted(each.by) or not trusted)
        and not ((last := journal.last_word(store, each.key)) and last.stands)
    ]
    if not known:
        return []
    names = Names(store)
    about = set(map(names.canonical, wanted.entities))
    after = superseded(store, names, [each.id for each in known], today, Filters())

    def is_about(each: KnownFact) -> bool:
        return about <= set(map(names.canonical, note_queries.mentioned_in(store, each.id)))

    return [each for each in known if each.id not in after and is_about(each)]
