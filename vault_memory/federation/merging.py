"""Owns how the answers of several roots become one: by score, made comparable by shares.py, packed anew."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from vault_memory.federation import score_scaling
from vault_memory.search.answer import Answer, Request, Result, RootStatus, Understanding, weak
from vault_memory.startup import NOTES, SESSIONS

if TYPE_CHECKING:
    from vault_memory.federation.federation import SourceAnswer

OFF = "no session transcripts are indexed: `sessions.tools` in the user's own settings switches them on"
_UNKNOWN = ("lexical", "entity", "temporal")
"""What a root says of these is that it holds nothing of the question; another may."""
_SPEAKER = re.compile(r"- (?:\[[\d-]{10}\] )?(?:User|Assistant|Tool): ")
_FACT = re.compile(r"[-*+] [WBOS](?:\([^()]*\))?[^:]*: ")


def merged(request: Request, given: Sequence["SourceAnswer"], missing: Sequence[RootStatus], vault: str) -> Answer:
    """One answer of several; the vault's own where nothing else was to be asked."""
    if request.source == NOTES and not missing and [each.name for each in given] == [NOTES]:
        return given[0].answer
    told = score_scaling.scaled([each.answer for each in given])
    given = [each._replace(answer=answer) for each, answer in zip(given, map(_founded, told), strict=True)]
    ranked = sorted((r for each in given for r in each.answer.results), key=lambda result: -result.score)
    taken, left_out, tokens, rendered = _packed(request, ranked)
    omitted = dict(left_out)
    for each in given:
        for what, count in each.answer.omitted.items():
            omitted[what] = omitted.get(what, 0) + count
    ran = [_ran(each, taken) for each in given]
    # What is switched off is no part of all there is.
    degraded = [("source", ran.why_not) for ran in missing if ran.why_not != OFF or request.source == SESSIONS]
    first = given[0].answer if given else _nothing(request, vault)
    degraded += _problems([each.answer.degraded for each in given])
    return first._replace(
        request=request,
        results=[result._replace(rank=number) for number, result in enumerate(taken, 1)],
        lanes={lane: sum(each.answer.lanes.get(lane, 0) for each in given) for lane in first.lanes},
        tokens=tokens,
        rendered_tokens=rendered,
        omitted=omitted,
        degraded=list(dict.fromkeys(degraded)),
        fresh=all(each.answer.fresh for each in given),
        pending=sum(each.answer.pending for each in given),
        notes=sum(each.answer.notes for each in given),
        passages=sum(each.answer.passages for each in given),
        words=sum((Counter(each.answer.words) for each in given), Counter()),
        has_footing=any(each.answer.has_footing for each in given),
        vault=vault,
        roots=[*ran, *missing],
        understood=first.understood._replace(unknown=_unknown([each.answer for each in given])),
    )


def _unknown(answers: Sequence[Answer]) -> tuple[str, ...]:
    """The question's words that no root knows."""
    kept = answers[0].understood.unknown if answers else ()
    return tuple(word for word in kept if all(word in answer.understood.unknown for answer in answers))


def _founded(answer: Answer) -> Answer:
    """A root's answer without guesses, where it has nothing to do with a question that nobody asked."""
    return answer if answer.has_footing else weak(answer)


def _problems(of_roots: Sequence[Sequence[tuple[str, str]]]) -> Iterator[tuple[str, str]]:
    """What the roots say did not run; that nothing is known of a word counts only where none of them knows it."""
    unknown = [{_bare(problem) for problem in problems} for problems in of_roots]
    for problem in (problem for problems in of_roots for problem in problems):
        if problem[0] not in _UNKNOWN or all(_bare(problem) in problems for problems in unknown):
            yield problem


def _bare(problem: tuple[str, str]) -> tuple[str, str]:
    """A problem without what was done instead, which each root says of itself."""
    return problem[0], problem[1].partition("; ")[0]


def _ran(given: "SourceAnswer", taken: Sequence[Result]) -> RootStatus:
    own = {id(result) for result in given.answer.results}
    answer = given.answer
    return RootStatus(given.name, answer.notes, sum(id(r) in own for r in taken), answer.fresh, answer.pending)


def _nothing(request: Request, vault: str) -> Answer:
    """The answer where no root could be asked."""
    lanes = dict.fromkeys(("lexical", "semantic", "entity", "temporal"), 0)
    return Answer(request, [], request.mode, lanes, None, Understanding(), 0, 0, {}, vault=vault)


def _packed(request: Request, ranked: Iterable[Result]) -> tuple[list[Result], dict[str, int], int, int]:
    """What fits the limits, best first, why the rest was left out, and what it costs without and with citations."""
    taken: list[Result] = []
    left_out = {"over_budget": 0, "over_k": 0, "near_duplicates": 0}
    said: set[tuple[str, ...]] = set()
    named: set[str] = set()
    tokens = rendered = 0
    for result in ranked:
        cost = result.tokens + result.citation_tokens + (0 if result.path in named else result.header_tokens)
        used = rendered + cost if request.rendered else tokens + result.tokens
        if request.k is not None and len(taken) >= request.k:
            left_out["over_k"] += 1
        elif request.budget_tokens is not None and used > request.budget_tokens:
            left_out["over_budget"] += 1
        elif (words := _words(result)) in said:
            left_out["near_duplicates"] += 1
        else:
            said.add(words)
            named.add(result.path)
            taken.append(result)
            tokens, rendered = tokens + result.tokens, rendered + cost
    return taken, left_out, tokens, rendered


def _words(result: Result) -> tuple[str, ...]:
    """What a result says, whoever says it and wherever: its words in order."""
    head = _SPEAKER.match(result.content) or _FACT.match(result.content)
    text = result.content[head.end() :] if head else result.content
    return tuple(re.findall(r"\w+", text.casefold())) or (text,)
