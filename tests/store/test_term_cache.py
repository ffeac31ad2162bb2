"""The lists of terms a process holds: the same passages as FTS5 finds, with the same scores, and never stale."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from vaults import fill, memory, opened, put

from vault_memory.federation import Federation
from vault_memory.indexing.held_index import HeldIndex, WatcherReport
from vault_memory.memory import Memory
from vault_memory.search.answer import Request
from vault_memory.search.request import build
from vault_memory.store.caches import LEAST_HELD, PASSAGES_EARNED, TermCache
from vault_memory.store.search_queries import Search
from vault_memory.store.view import ALL, Store

WORDS = [f"w{n}" for n in range(60)]
NOTES, LINES = 30, 180


def lines(note: int) -> str:
    """Items of 1 to 40 words, of which some are in most of them and some in hardly any."""
    chosen = random.Random(note)
    items = (chosen.choices(WORDS, [1 / (n + 1) for n in range(60)], k=chosen.randint(1, 40)) for _ in range(LINES))
    return "\n".join(f"- {' '.join(item)}" for item in items)


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    mine = memory(fill(tmp_path_factory.mktemp("held") / "vault", {f"{n}.md": lines(n) for n in range(NOTES)}))
    mine.index()
    return mine


@pytest.fixture
def store(vault: Memory) -> Iterator[Store]:
    with opened(vault) as store:
        yield store


def held(store: Store) -> TermCache:
    """Lists that have been earned."""
    postings = TermCache(store.view(ALL))
    while postings.best(["w0"], 1) is None:
        pass
    return postings


@pytest.mark.parametrize("seed", range(8))
def test_as_fts5_has_it_to_the_last_bit(store: Store, seed: int) -> None:
    stems = random.Random(seed).sample([*WORDS, "nowhere"], 5)
    limit = random.Random(seed).choice([10, 150, 10_000])
    search = Search(store.view(ALL))
    wanted = search.lexical([f'"{stem}"' for stem in stems], limit)
    assert len(wanted) >= 10
    postings = held(store)
    for _ in range(2):
        assert search.in_order(postings.best(stems, limit) or [], limit) == wanted


def test_held_once_it_is_worth_it_and_earned(store: Store, tmp_path: Path) -> None:
    passages = int(store.one("SELECT count(*) FROM passage"))
    assert passages > LEAST_HELD
    postings = TermCache(store.view(ALL))
    asked = [postings.best(["w1"], 5) is not None for _ in range(passages // PASSAGES_EARNED + 2)]
    assert (asked[0], asked[-2:]) == (False, [True, True])
    postings.clear()
    assert postings.best(["w1"], 5) is None
    small = memory(fill(tmp_path / "small", {"a.md": "w1"}))
    small.index()
    with opened(small) as few:
        assert [TermCache(few.view(ALL)).best(["w1"], 5) for _ in range(9)] == [None] * 9


def test_a_process_that_stays_answers_the_same_before_and_after_a_change(vault: Memory) -> None:
    warm = Federation(vault.config, index_file=HeldIndex(vault.config, lambda: WatcherReport(True, 0)))
    questions = [f"w{n} w{n + 1} w{2 * n}" for n in range(1, 9)]
    asked = [build({"query": question, "mode": "lexical"}, vault.config) for question in questions]
    assert found(warm, asked) == found(Memory(vault.config), asked)
    put(vault.vault.root, "3.md", lines(100))
    (vault.vault.root / "5.md").unlink()
    vault.index()
    assert found(warm, asked) == found(Memory(vault.config), asked)


def found(of: Memory, asked: list[Request]) -> list[list[tuple[str, float]]]:
    return [[(r.source, r.score) for r in answer.results] for answer in of.answers(asked, keep=False)]
