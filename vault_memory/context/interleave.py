"""Owns what several answers are together: in which order their results are handed over, by turns and nothing twice.
Pure."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

from vault_memory.search.answer import Answer, Result, without_results
from vault_memory.search.pack import said

_OF_THE_PROMPT = frozenset({"lexical", "entity", "temporal"})
"""The problems that say how the results of a prompt came about, not what did not run."""


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
    answers = [answer if is_founded else _emptied(answer) for answer, is_founded in zip(answers, founded, strict=True)]
    omitted: dict[str, int] = {}
    for name, count in ((name, count) for answer in answers for name, count in answer.omitted.items()):
        omitted[name] = max(omitted.get(name, 0), count)  # most of it is left out of each
    results, repeats = in_turn(answers)
    omitted["near_duplicates"] = omitted.get("near_duplicates", 0) + repeats
    degraded = dict.fromkeys(_told_of(problem, room) for answer in answers for problem in answer.degraded)
    return Together(results, omitted, list(degraded), all(answer.fresh for answer in answers), any(founded))


def in_turn(answers: Sequence[Answer]) -> tuple[list[tuple[int, Result]], int]:
    """The best result of each answer, then the second of each; how many are left out, for their words or all of their
    parts were told before."""
    parts: set[int] = set()
    words: set[tuple[str, ...]] = set()
    told: list[tuple[int, Result]] = []
    repeats = 0
    for rank in zip_longest(*(answer.results for answer in answers)):
        for number, result in enumerate(rank):
            if result is None:
                continue
            own, says = set(result.parts), said(result.content) or (result.content,)
            if says in words or (own and own <= parts):
                repeats += 1
                continue
            told.append((number, result))
            parts |= own
            words.add(says)
    return told, repeats


def _emptied(answer: Answer) -> Answer:
    """An answer without its guesses, and without what it says of its prompt to who reads them."""
    answer = without_results(answer)
    return answer._replace(degraded=[problem for problem in answer.degraded if problem[0] not in _OF_THE_PROMPT])


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
