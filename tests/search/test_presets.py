"""presets.py: the other ways to rank, against values worked out by hand."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.search import presets
from vault_memory.search.answer import Request
from vault_memory.search.candidates import Candidates
from vault_memory.search.decay import Life
from vault_memory.search.query import Query
from vault_memory.startup import PRESETS
from vault_memory.store.view import Candidate, NoteInfo


def query(k: int | None, budget: int | None = None, preset: str = "tuned") -> Query:
    return Query(Request("", datetime(2025, 12, 1, tzinfo=UTC), k, budget, preset=preset))


def evidence(rows: dict[int, tuple[float, float, str]]) -> Candidates:
    """Candidates by id: BM25 (0 for none), cosine, text."""
    passages = {i: Candidate(i, 1, i, i, None, None, "note", 5, 1, text) for i, (_, _, text) in rows.items()}
    return Candidates(
        query(8),
        passages=passages,
        notes={1: NoteInfo(1, "1.md", None, "", "[]", 1, 100, 80)},
        lexical={i: words for i, (words, _, _) in rows.items() if words},
        cosine={i: cosine for i, (_, cosine, _) in rows.items()},
        stems={i: text.split() for i, (_, _, text) in rows.items()},
    )


def scores(steps: presets.Steps) -> dict[int, float]:
    return {i: step["score"] for i, step in steps.items()}


FOUND = evidence({
    1: (10.0, 0.2, "roof quote"),  # words 1.0, the exact hit
    2: (5.0, 0.8, "the price of the roof"),  # words 0.5
    3: (0.0, 0.9, "what it all cost"),  # meaning alone
    4: (2.0, 0.0, "roof"),  # keywords alone, 0.2
})  # fmt: skip


def test_weighted() -> None:
    ranked = presets.weighted(FOUND, 8)
    # 1: max(0.14 + 0.3, 0.92); 2: 0.56 + 0.15; 3: 0.63; 4: 0.06
    assert list(scores(ranked).items()) == [(1, 0.92), (2, pytest.approx(0.71)), (3, pytest.approx(0.63)),
                                            (4, pytest.approx(0.06))]  # fmt: skip
    assert ranked[2] == {"vector": 0.8, "words": 0.5, "score": pytest.approx(0.71)}


def test_rrf() -> None:
    ranked = presets.rrf(FOUND, 8)
    # Words: 1, 2, 4. Meaning: 3, 2, 1; 4 has no likeness at all.
    assert scores(ranked) == pytest.approx({
        1: 1 / 61 + 1 / 63, 2: 1 / 62 + 1 / 62, 3: 1 / 61, 4: 1 / 63,
    })  # fmt: skip
    assert list(ranked) == [1, 2, 3, 4]


def life(age: int | None, importance: float = 1.0, tier: str | None = "working") -> Life:
    return Life(tier, age, importance, 0.5, 1.0)


def test_classic_with_age_and_importance() -> None:
    # Half of what matters most is left after 30·e^1.5 = 134.45 days.
    lives = {1: life(134), 2: life(0, importance=0.0), 3: life(134), 4: life(0)}
    ranked, dropped = presets.classic(FOUND, lives, 8)
    # 1: 0.92·0.501; 2: 0.71·0.7; 3: 0.63·0.501 = 0.316 < 0.35: the hard minimum
    assert scores(ranked) == pytest.approx({2: 0.497, 1: 0.461}, abs=0.0005)
    assert dropped == 2
    assert ranked[1] == pytest.approx(
        {"vector": 0.2, "words": 1.0, "score": 0.461, "recency": 0.501, "importance": 1.0, "length": 1.0}, abs=0.0005
    )


def test_mmr() -> None:
    stems = {1: ["a", "b"], 2: ["a", "b"], 3: ["c", "d"]}
    # After 1: 2 has 0.7·0.9 - 0.3·1 = 0.33, 3 has 0.7·0.5 = 0.35
    assert presets.mmr({1: 1.0, 2: 0.9, 3: 0.5}, stems, 3) == [1, 3, 2]
    assert presets.mmr({1: 1.0, 2: 0.9, 3: 0.5}, stems, 1) == [1]
    assert presets.mmr({}, {}, 3) == []


scored = st.dictionaries(st.integers(1, 40), st.tuples(st.floats(0, 30), st.floats(-1, 1), st.just("a b")), max_size=25)


@given(scored, st.sampled_from(PRESETS[1:]), st.integers(1, 30))
def test_every_candidate_is_ranked_or_counted(
    rows: dict[int, tuple[float, float, str]], preset: str, limit: int
) -> None:
    found = evidence(rows)._replace(query=query(limit, preset=preset))
    ranked, dropped = presets.score(found, {})
    values = list(scores(ranked).values())
    assert values == sorted(values, reverse=True) or preset == "classic"
    assert set(ranked) <= set(rows)
    assert all(0 <= value <= 1 + 1e-12 for value in values)
    if preset == "classic":
        assert len(ranked) == min(limit, len(presets.weighted(found, limit)) - dropped)
