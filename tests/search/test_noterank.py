"""Whole notes: BM25 over their candidates, what the best of them teach, and what those like them score."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.search.rank_notes import FEEDBACK_SHARE, FEEDBACK_TERMS, NoteRanker, note_frequency, similarities
from vault_memory.store.candidate import Candidate, Evidence, NoteFacts


def found(*notes: str, asked: str = "boat", words: int = 10) -> Evidence:
    """One passage a note, numbered from 1; `asked` is the question's only term."""
    stems = {n: tuple(text.split()) for n, text in enumerate(notes, 1)}
    return Evidence(
        passages={n: Candidate(n, n, 1, 1, None, None, "note", 5, 0, text) for n, text in enumerate(notes, 1)},
        notes={n: NoteFacts(20, words) for n in stems},
        stems=stems,
        note_rarity={asked: 2.0},
        rarity={asked: 2.0},
        hits={asked: {n: text.count(asked) for n, text in stems.items() if asked in text}},
        average_note_words=words,
    )


def test_bm25_of_a_note_by_hand() -> None:
    # k1 2, b .6, average length: norm 2; twice the term: 2.0 * 2 * 3 / (2 + 2)
    assert NoteRanker(found("boat boat sail", "oar")).asked == {1: pytest.approx(3.0), 2: 0.0}


def test_the_best_notes_teach_their_telling_stems() -> None:
    ranker = NoteRanker(found("boat boat sail the", "boat oar", "tree"))
    learnt = ranker.learnt({"boat": 1.0, "sail": 1.0, "oar": 1.0})
    assert set(learnt) == {"boat", "sail", "oar"}  # what tells nothing has no rarity and is not learnt
    assert max(learnt, key=lambda stem: learnt[stem]) == "boat"
    assert sum(learnt.values()) == pytest.approx(FEEDBACK_SHARE)  # a question of one term is not outvoted
    assert ranker.learnt({}) == {}


def test_learnt_stems_are_bounded() -> None:
    stems = [f"s{n}" for n in range(200)]
    assert len(NoteRanker(found("boat " + " ".join(stems))).learnt(dict.fromkeys(stems, 1.0))) == FEEDBACK_TERMS


def test_a_note_without_the_word_is_found_by_what_the_best_one_taught() -> None:
    scores, _ = NoteRanker(found("boat sail", "sail", "tree")).rank({"sail": 1.0, "tree": 1.0})
    assert scores[1] == 1.0 and scores[2] > scores[3]


def test_what_similar_notes_score_counts() -> None:
    _, similar = NoteRanker(found("boat sail mast", "sail mast", "tree")).rank({"mast": 1.0, "sail": 1.0, "tree": 1.0})
    assert similar[2] > 0 == similar[3]


def test_near_counts_the_notes_that_hold_a_stem() -> None:
    assert NoteRanker(found("boat boat sail", "sail")).near() == {"boat": 1, "sail": 2}


def test_similarity_is_a_cosine() -> None:
    like = similarities({1: {"a": 3.0, "b": 4.0}, 2: {"a": 1.0}, 3: {"c": 1.0}})
    assert like[1][2] == like[2][1] == pytest.approx(0.6)
    assert not like[3]


@given(st.dictionaries(st.integers(1, 6), st.dictionaries(st.sampled_from("abcdef"), st.floats(0.01, 10)), max_size=6))
def test_similarities_are_bounded_and_symmetric(vectors: dict[int, dict[str, float]]) -> None:
    like = similarities(vectors)
    for first, row in like.items():
        for second, value in row.items():
            assert 0 <= value <= 1 + 1e-9 and like[second][first] == value and first != second


@given(st.integers(1, 10_000), st.integers(0, 20_000))
def test_a_rarer_term_tells_more(total: int, holding: int) -> None:
    assert 0 < note_frequency(total, holding + 1) <= note_frequency(total, holding) <= math.log(2 + 2 * total)
