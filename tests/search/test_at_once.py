"""Questions asked while others edit and index: each is answered whole, from the index as it stood at one moment."""

import random
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count, islice, takewhile
from pathlib import Path

import pytest
from vaults import fill, memory, opened, put

from vault_memory.search.answer import Answer, Request
from vault_memory.store.filters import Filters

NOTES = 40
NOW = datetime(2025, 12, 1, tzinfo=UTC)


def text(note: int, chance: random.Random) -> str:
    return "\n\n".join(f"zebra river {note} {n} market bridge {chance.random()}" for n in range(chance.randint(5, 30)))


def questions() -> Iterator[Request]:
    for n in count():
        filters = Filters(scopes=("global",)) if n % 2 else Filters()
        yield Request(query=f"zebra river market {n}", now=NOW, k=5, filters=filters)


def test_every_question_is_answered_while_another_edits_and_indexes(tmp_path: Path) -> None:
    chance = random.Random(4)
    root = fill(tmp_path / "vault", {f"n{n}.md": text(n, chance) for n in range(NOTES)})
    memory(root).index()
    stop, runs = threading.Event(), [0]

    def write() -> None:
        mine = memory(root)
        while not stop.is_set():
            for n in chance.sample(range(NOTES), 6):
                put(root, f"n{n}.md", text(n, chance), age_seconds=0)
            mine.index()
            runs[0] += 1

    writer, before = threading.Thread(target=write), sys.getswitchinterval()
    sys.setswitchinterval(0.0005)
    writer.start()
    try:
        asked = takewhile(lambda request: runs[0] < 4 or int(request.query.split()[-1]) < 100, questions())
        answers = list(memory(root).answers(asked, keep=False))
    finally:
        stop.set()
        writer.join()
        sys.setswitchinterval(before)
    assert len(answers) >= 100
    # A line that was edited since is not cited, and that is said.
    assert [a.request.query for a in answers if not a.results and not a.omitted["changed"]] == []


def test_an_answer_leaves_no_transaction_behind(tmp_path: Path) -> None:
    mine = memory(fill(tmp_path, {"a.md": "The ferry leaves at seven.\n"}))
    answers: list[Answer] = []
    for answer in mine.answers(islice(questions(), 3), keep=False):
        answers.append(answer)
        put(tmp_path, "b.md", f"changed {len(answers)}\n")
        memory(tmp_path).index()  # would be busy, or leave its log behind, if the answer still held its snapshot
        with opened(mine) as store:
            assert next(store.rows("PRAGMA wal_checkpoint(TRUNCATE)"))[0] == 0
    assert [answer.notes for answer in answers] == [1, 2, 2]


@pytest.mark.parametrize("mode", ["lexical", "semantic"])
def test_a_long_lived_reader_counts_what_there_is_now(tmp_path: Path, mode: str) -> None:
    mine = memory(fill(tmp_path, {"a.md": "The ferry leaves at seven.\n"}))
    asked = [Request(query="ferry", now=NOW, k=5, mode=mode), Request(query="lighthouse", now=NOW, k=5, mode=mode)]
    seen = []
    for answer in mine.answers(asked, keep=False):
        seen.append((answer.notes, len(answer.results)))
        put(tmp_path, "b.md", "The lighthouse keeper.\n")
        memory(tmp_path).index()
    assert seen[0] == (1, 1)
    assert seen[1][0] == 2
    assert seen[1][1] >= 1
