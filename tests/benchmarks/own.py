"""The quality figures over what this repository ships: the sample vault's questions and the other scripts."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests import multilingual
from vault_memory.config import Config
from vault_memory.memory import Memory
from vault_memory.search.request import build

TESTS = Path(__file__).parent.parent


class Hits(NamedTuple):
    """Of so many questions, how many had their answer first, and how many among the first five."""

    name: str
    asked: int
    first: int
    five: int


def sample_hits() -> Hits:
    """The questions of tests/retrieval/test_questions.py over the sample vault."""
    sys.path[:0] = [str(TESTS), str(TESTS / "retrieval")]  # the tests import each other by their bare names
    from sample import NOW
    from test_questions import QUESTIONS, found_at

    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary) / "sample-vault"
        shutil.copytree(TESTS.parent / "sample-vault", root, ignore=shutil.ignore_patterns(".memory"))
        memory = Memory(Config(vault=root))
        requests = [build({"query": query, "now": NOW, "k": 5}, memory.config) for query, *_ in QUESTIONS]
        answers = memory.recall(requests, keep=False)
        ranks = [found_at(answer, asked[1], asked[2]) for answer, asked in zip(answers, QUESTIONS, strict=True)]
    return Hits("sample vault", len(ranks), sum(rank == 1 for rank in ranks), sum(rank is not None for rank in ranks))


def script_hits() -> Iterator[Hits]:
    """Both halves of each language of the set in other scripts."""
    for language in multilingual.languages():
        with tempfile.TemporaryDirectory() as temporary:
            language.write(Path(temporary))
            memory = Memory(Config(vault=Path(temporary)))
            for half in multilingual.HALVES:
                asked = [question for question in language.questions if question.half == half]
                yield _hits(f"{language.name}, {half}", memory, asked)


def _hits(name: str, memory: Memory, asked: list[multilingual.Asked]) -> Hits:
    requests = [build({"query": q.question, "k": 5, "now": multilingual.NOW}, memory.config) for q in asked]
    held = [
        [question.answer in result.content for result in answer.results]
        for question, answer in zip(asked, memory.recall(requests, keep=False), strict=True)
    ]
    return Hits(name, len(asked), sum(row[:1] == [True] for row in held), sum(map(any, held)))
