"""Owns what settles a supposition: a statement that says of itself that it may be so, and is ruled out or found. Pure.

It knows words only: whom they are about, and which texts are held against each other, is for bearing.py.
"""

import re
from collections.abc import Iterator

from vault_memory.reflect.clauses import topics
from vault_memory.reflect.polarity import CONTRADICTS, SUPPORTS

SHARED = 3
"""So many things that it is about, and half of them, must stand in what bears a supposition out."""

_SUPPOSITION = re.compile(
    r"\b(?:may|might|could) (?:well |still |just )?(?:be|have|lie|come)\b|\bto be (?:proved|proven|confirmed|checked)\b"
    r"|\b(?:hypothesis|hypotheses|suspect|suspects|probably|possibly|perhaps|maybe)\b",
    re.I,
)
_IS = r"\b(?:is|are|was|were|has been|have been|can be)(?: (?:now|thus|thereby|finally|definitely))?"
_RULED_OUT = re.compile(
    rf"(?P<what>.+?) {_IS} (?:ruled out|refuted|disproved)\b|\brul(?:es?|ed) out (?P<then>.+)", re.I
)
_FOUND = re.compile(rf"{_IS} (?:found|confirmed|proved|proven|established)\b", re.I)
_OPEN = re.compile(
    r"\b(?i:if|unless|until|once|when|whether|not|never|no|nobody|cannot|may|might|could|should)\b|n['’]t\b|\?"
)
"""What makes it no news that something was ruled out or found."""

_CLAUSE = re.compile(r"[.;:!]\s+|,\s+(?:and|but|so)\s+")
_LABEL = re.compile(r"\b(hypothesis|theory|suspect|option|variant) (\d{1,3}|[A-Z])\b", re.I)


def is_supposed(text: str) -> bool:
    """Whether a statement says of itself that it may be so."""
    return _SUPPOSITION.search(text) is not None


def settled(supposition: str, fact: str, names: frozenset[str]) -> str:
    """What a fact makes of a supposition: CONTRADICTS where it is ruled out, SUPPORTS where found so, else ""."""
    if any(_is_meant(what, supposition, names) for what in _ruled_out(fact)):
        return CONTRADICTS
    if _FOUND.search(fact) is None or _OPEN.search(fact) or is_supposed(fact):
        return ""
    said = topics(supposition, names)
    shared = len(said & topics(fact, names))
    return SUPPORTS if shared >= SHARED and 2 * shared >= len(said) else ""


def _ruled_out(fact: str) -> Iterator[str]:
    for clause in _CLAUSE.split(fact):
        found = None if _OPEN.search(clause) else _RULED_OUT.search(clause)
        if found:
            yield found["what"] or found["then"]


def _is_meant(what: str, supposition: str, names: frozenset[str]) -> bool:
    """Whether something is what a supposition says: by its number, else all that it speaks of."""
    one, other = _labels(what), _labels(supposition)
    if one and other:
        return not one.isdisjoint(other)
    told = topics(what, names)
    return len(told) > 1 and told <= topics(supposition, names)


def _labels(text: str) -> set[tuple[str, str]]:
    return {(kind.casefold(), number.casefold()) for kind, number in _LABEL.findall(text)}
