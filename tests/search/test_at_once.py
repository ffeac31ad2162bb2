"""Questions asked while others edit and index: each is answered whole, from the index as it stood at one moment."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from vaults import fill, memory, opened, put

from vault_memory.search.answer import Answer, Request

NOW = datetime(2025, 12, 1, tzinfo=UTC)


def test_an_answer_leaves_no_transaction_behind(tmp_path: Path) -> None:
    mine = memory(fill(tmp_path, {"a.md": "The ferry leaves at seven.\n"}))
    answers: list[Answer] = []
    asked = [Request(query="ferry", now=NOW, k=5)] * 3
    for answer in mine.answers(iter(asked), keep=False):
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
