"""Owns what several answers are together: in which order their results are handed over, by turns and nothing twice.
Pure."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

from vault_memory.ranking.pack import said
from vault_memory.retrieval.answer import Answer, Result, weak


class Together(NamedTuple):
    """What the answers hold, each result with the number of its answer; what they leave out, and what did not run."""

    results: list[tuple[int, Result]]
    omitted: dict[str, int]
    degraded: list[tuple[str, str]]
    is_fresh: bool
    has_footing: bool
    """Whether one of them has to do with what was asked, which is looked at where nobody asked."""


def together(answers: Sequence[Answer], room: int, unasked: bool) -> Together:
    """The answers as one, for which there is `room`; without guesses where nobody asked."""
    founded = [not (unasked and _is_guess(answer)) for answer in answers]
    answers = [answer if is_founded else weak(answer) for answer, is_founded in zip(answers, founded, strict=True)]
    omitted: dict[str, int] = {}
    for answer in answers:
        for name, count in answer.omitted.items():
            omitted[name] = omitted.get(name, 0) + count
    degraded = dict.fromkeys(_told_of(problem, room) for answer in answers for problem in answer.degraded)
    results = in_turn(answers)
    return Together(results, omitted, list(degraded), all(answer.fresh for answer in answers), any(founded))


def in_turn(answers: Sequence[Answer]) -> list[tuple[int, Result]]:
    """The best result of each answer, then the second of each; none twice, nor another with its words."""
    taken: set[int | tuple[str, ...]] = set()
    told: list[tuple[int, Result]] = []
    for rank in zip_longest(*(answer.results for answer in answers)):
        for number, result in enumerate(rank):
            if result is not None:
                known = {*result.parts, said(result.content) or (result.content,)}
                if taken.isdisjoint(known):
                    told.append((number, result))
                taken |= known
    return told


def _told_of(problem: tuple[str, str], room: int) -> tuple[str, str]:
    """A problem, that of the room with how much there was: what stands around the results takes some of the budget."""
    return (problem[0], needs(problem[1], room)) if problem[0] == "budget" else problem


def needs(what: str, room: int) -> str:
    """What the best result needs, beside what there is for it."""
    return f"{what}; {room} are left for it"


def _is_guess(answer: Answer) -> bool:
    """Whether nothing in the notes has a word of the prompt, or what it names, or too little: something near in meaning
    always is."""
    found = answer.understood
    is_met = answer.lanes["lexical"] or answer.lanes["entity"] or found.entities or found.window
    return not (is_met and answer.has_footing)
