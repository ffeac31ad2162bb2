"""Owns in which order what several answers hold is handed over: by turns, and nothing twice. Pure."""

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest

from vault_memory.ranking.pack import said
from vault_memory.retrieval.answer import Answer, Result


def in_turn(answers: Sequence[Answer]) -> Iterator[Result]:
    """The best result of each answer, then the second of each; none twice, nor another with its words."""
    taken: set[int | tuple[str, ...]] = set()
    for result in chain.from_iterable(zip_longest(*(answer.results for answer in answers))):
        if result is not None:
            known = {*result.parts, said(result.content) or (result.content,)}
            if taken.isdisjoint(known):
                yield result
            taken |= known
