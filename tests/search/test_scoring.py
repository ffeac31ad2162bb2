"""Scoring: each feature moves a score the way it should, and a score is the sum of what explains it."""

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_memory.markdown.note import ASIDE
from vault_memory.search.answer import Request
from vault_memory.search.candidates import Candidates, inverse_frequency, note_frequency, occurrences
from vault_memory.search.query import Query
from vault_memory.search.scoring import (
    FEEDBACK_SHARE,
    FEEDBACK_TERMS,
    NOTE_SHARE,
    WEIGHTS,
    RelevanceFeedback,
    Scorer,
    longest_run,
    similarities,
)
from vault_memory.store.candidate import Candidate, NoteFacts
from vault_memory.store.view import Totals


def passage(number: int, text: str = "text", note: int = 1, section: int = 0, kind: str = "note") -> Candidate:
    return Candidate(number, note, number, number, None, None, kind, 5, section, text)


def evidence(*passages: Candidate, **found: object) -> Candidates:
    """Candidates with what was found about them; what a question has goes to the query."""
    notes = {p.note_id: NoteFacts(tokens=1000, words=100) for p in passages}
    asked = {name: found.pop(name) for name in Query._fields if name in found}
    query = Query(Request("", datetime(2025, 12, 1, tzinfo=UTC)))._replace(**asked)  # type: ignore[arg-type]
    return Candidates(query, passages={p.id: p for p in passages}, notes=notes)._replace(**found)  # type: ignore[arg-type]


def scores(found: Candidates) -> dict[int, float]:
    return Scorer(found).score(RelevanceFeedback())


def test_without_evidence_the_candidates_keep_their_order() -> None:
    # They come by path and line: row ids would depend on the order of indexing.
    assert list(scores(evidence(passage(3), passage(1), passage(2)))) == [3, 1, 2]
    assert scores(evidence()) == {}


@pytest.mark.parametrize(
    ("found", "better"),
    [
        ({"lexical": {1: 1.0, 2: 1.0}, "words": ("broke",)}, 2),
        ({"lexical": {1: 1.0, 2: 1.0}, "spoken": ("server", "broke", "in")}, 2),
        ({"cosine": {1: 0.2, 2: 0.7}}, 2),
        ({"cosine": {1: -0.2}}, 2),
        ({"days": {2: 0.4}}, 2),
        ({"about": {2: 1.0}}, 2),
        ({"exact": ("tile-server",)}, 2),
        ({"whole": "what is plain at all", "lexical": {1: 1.0, 2: 1.0}}, 2),
        ({"asks_when": True}, 2),
        ({"names": ("Mara",)}, 2),
        ({"names": ("Mara", "Odd")}, 1),
        ({"names": ("Nobody",)}, 1),
        ({"title": {2: 0.5}}, 2),
        ({"order": {2: 1.0}}, 2),
        ({"rarity": {"boat": 2.0}, "hits": {"boat": {2: 1}}}, 2),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else None,
)
def test_what_raises_a_passage(found: dict[str, object], better: int) -> None:
    one = passage(1, "- Odd: (what is plain, at all)")
    two = passage(2, "- Mara: the tile-server broke in March", note=2)
    assert next(iter(scores(evidence(one, two, **found)))) == better


def test_where_only_meaning_is_asked_for_nothing_else_counts() -> None:
    rows = [passage(1, kind="world"), passage(2, note=2), passage(3, note=2)]
    found = evidence(*rows, cosine={1: 0.1, 2: 0.2, 3: 0.3}, title={1: 1.0}, only_meaning=True)
    assert list(scores(found)) == [3, 2, 1]


def test_a_fact_stands_before_plain_text() -> None:
    assert list(scores(evidence(passage(1), passage(2, kind="world")))) == [2, 1]


def test_a_heading_is_not_lifted_by_its_words_alone() -> None:
    found = evidence(
        passage(1, "# Boat", section=-1),
        passage(2, "The sail.", section=1),
        rarity={"boat": 1.0},
        hits={"boat": {1: 1}},
    )
    assert list(scores(found)) == [2, 1]


@pytest.mark.parametrize(
    ("spoken", "text", "share"),
    [
        ("medium is the message", "he said: the medium is the message.", 1.0),
        ("who said medium is the message", "the medium, is the message", 4 / 6),
        ("the message", "the message", 0.0),
        ("one two three", "three two one", 0.0),
    ],
)
def test_the_longest_run_of_the_questions_words(spoken: str, text: str, share: float) -> None:
    assert longest_run(spoken.split(), text) == pytest.approx(share)


@pytest.mark.parametrize(("text", "section"), [("Is it raining?", 1), ("tags: [rain]", ASIDE)])
def test_what_lowers_a_passage(text: str, section: int) -> None:
    assert list(scores(evidence(passage(1, text, section=section), passage(2, "It is.", section=5)))) == [2, 1]


def test_a_hit_counts_for_its_neighbours_in_the_same_section_only() -> None:
    rows = [passage(n, section=1 if n < 4 else 2) for n in range(1, 7)]
    found = scores(evidence(*rows, rarity={"boat": 1.0}, hits={"boat": {3: 1}}))
    assert found[3] > found[2] > found[1] > found[4] == found[5] == found[6]


def test_a_hit_does_not_reach_into_the_next_note() -> None:
    found = scores(evidence(passage(1, note=1), passage(2, note=2), rarity={"boat": 1.0}, hits={"boat": {1: 1}}))
    assert found[2] == 0


def test_an_answer_follows_its_question() -> None:
    asked = evidence(
        passage(1, "Where is the boat?"), passage(2, "In the shed."), passage(3, "Fine."), lexical={1: 3.0}
    )
    assert scores(asked)[2] > scores(asked)[3]
    apart = evidence(passage(1, "Where is the boat?"), passage(2, "In the shed.", section=4), lexical={1: 3.0})
    assert scores(apart)[2] == 0


def test_a_rare_term_covers_more_than_a_common_one() -> None:
    found = evidence(
        passage(1, section=1),
        passage(2, section=2),
        rarity={"the": 0.1, "boat": 3.0},
        hits={"the": {1: 9}, "boat": {2: 1}},
    )
    assert list(scores(found)) == [2, 1]


def test_a_short_note_is_judged_as_a_whole() -> None:
    found = evidence(passage(1, note=1), passage(2, note=2), lexical={1: 1.0, 2: 1.0})
    short = found._replace(notes={1: NoteFacts(50, 10), 2: NoteFacts(5000, 1000)})
    scorer = Scorer(short)
    scorer.score(RelevanceFeedback())
    assert scorer.explain(1)["note_share"] == NOTE_SHARE
    assert scorer.explain(2)["note_share"] == pytest.approx(NOTE_SHARE * 400 / 5000)


def test_the_first_round_prefers_text_to_headings_and_is_bounded() -> None:
    rows = [passage(1, section=-1), *(passage(n) for n in range(2, 40))]
    best = Scorer(evidence(*rows, lexical={1: 1.0, 9: 1.0})).best_passages()
    assert best[0] == 9 and len(best) == 8 and 1 not in best


def test_feedback_moves_the_passage_it_points_to() -> None:
    found = evidence(passage(1, note=1), passage(2, note=2))
    moved = Scorer(found).score(RelevanceFeedback(cosine={2: 0.3}))
    assert list(moved) == [2, 1] and moved[1] == 0


UNIT = st.floats(0, 1)
ROWS = st.lists(
    st.tuples(
        st.integers(1, 3),
        st.integers(-2, 2),
        st.sampled_from(["- Mara: a?", "plain", "in March", "- b"]),
        UNIT,
        UNIT,
        st.floats(-1, 1),
    ),
    min_size=1,
    max_size=12,
)


@settings(deadline=None)
@given(ROWS, st.booleans())
def test_a_score_is_the_sum_of_what_explains_it(
    rows: list[tuple[int, int, str, float, float, float]], asks: bool
) -> None:
    passages = [passage(n, text, note, section) for n, (note, section, text, *_) in enumerate(rows, 1)]
    found = evidence(
        *passages,
        lexical={n: row[3] for n, row in enumerate(rows, 1) if row[3] > 0.3},
        days={n: row[4] for n, row in enumerate(rows, 1) if row[4] > 0.5},
        cosine={n: row[5] for n, row in enumerate(rows, 1)},
        rarity={"boat": 1.5},
        hits={"boat": {1: 2}},
        names=("Mara",),
        asks_when=asks,
    )
    scorer = Scorer(found)
    ranked = scorer.score(RelevanceFeedback())
    assert list(ranked) == sorted(ranked, key=lambda n: -ranked[n])
    assert set(ranked) == {p.id for p in passages}
    for number, score in ranked.items():
        parts = scorer.explain(number)
        assert 0 < parts["note_share"] <= NOTE_SHARE
        assert set(parts["boosts"]) <= {*WEIGHTS._fields, "section"}
        assert score == pytest.approx(sum(parts["boosts"].values()), abs=0.002)  # each is rounded to 4 digits
    backwards = found._replace(passages=dict(reversed(found.passages.items())))
    assert Scorer(backwards).score(RelevanceFeedback()) == ranked


def test_a_phrase_is_counted_by_its_stems() -> None:
    assert occurrences(("boat", "sail", "boat", "sail"), ("boat", "sail"), False) == 2
    assert occurrences(("boats", "boat", "oar"), ("boat",), True) == 2
    assert occurrences(("boat",), (), False) == 0


@settings(deadline=None)
@given(st.integers(1, 10**6), st.data())
def test_rarer_is_worth_more(total: int, data: st.DataObject) -> None:
    few = data.draw(st.integers(0, total))
    many = data.draw(st.integers(few, total))
    assert inverse_frequency(total, few) >= inverse_frequency(total, many) > 0
    assert math.isfinite(inverse_frequency(total, 0))


# --- whole notes -----------------------------------------------------------------------------------------------------


def notes(*texts: str, asked: str = "boat", words: int = 10) -> Scorer:
    """The scorer of one passage a note, numbered from 1; `asked` is the question's only term."""
    stems = {n: tuple(text.split()) for n, text in enumerate(texts, 1)}
    found = evidence(
        *(passage(n, text, n) for n, text in enumerate(texts, 1)),
        stems=stems,
        note_rarity={asked: 2.0},
        rarity={asked: 2.0},
        hits={asked: {n: text.count(asked) for n, text in stems.items() if asked in text}},
        totals=Totals(len(texts), words * len(texts), len(texts)),
    )
    return Scorer(found._replace(notes={n: NoteFacts(20, words) for n in stems}))


def similar(scorer: Scorer, rarity: dict[str, float], number: int) -> tuple[float, float]:
    """What a note scores, and what those most like it score."""
    scorer.score(RelevanceFeedback(rarity))
    features = scorer.features(number)
    return features.note, features.similar


def test_bm25_of_a_note_by_hand() -> None:
    # k1 2, b .6, average length: norm 2; "boat" learnt at 1.5, twice in the note: (2.0 + 1.5) * 2 * 3 / (2 + 2)
    scorer = notes("boat boat", "boat")
    first, second = (similar(scorer, {"boat": 1.0}, n)[0] / NOTE_SHARE for n in (1, 2))
    assert (first, second) == (1.0, pytest.approx((3.5 * 3 / 3) / (3.5 * 2 * 3 / 4)))


def test_the_best_notes_teach_their_telling_stems() -> None:
    scorer = notes("boat boat sail the", "boat oar", "tree")
    learnt = scorer.learnt({"boat": 1.0, "sail": 1.0, "oar": 1.0})
    assert set(learnt) == {"boat", "sail", "oar"}  # what tells nothing has no rarity and is not learnt
    assert max(learnt, key=lambda stem: learnt[stem]) == "boat"
    assert sum(learnt.values()) == pytest.approx(FEEDBACK_SHARE)  # a question of one term is not outvoted
    assert scorer.learnt({}) == {}
    stems = [f"s{n}" for n in range(200)]
    assert len(notes("boat " + " ".join(stems)).learnt(dict.fromkeys(stems, 1.0))) == FEEDBACK_TERMS


def test_a_note_without_the_word_is_found_by_what_the_best_one_taught() -> None:
    scorer = notes("boat sail mast", "sail mast", "tree")
    rarity = {"mast": 1.0, "sail": 1.0, "tree": 1.0}
    assert similar(scorer, rarity, 2)[0] > similar(scorer, rarity, 3)[0]
    assert similar(scorer, rarity, 2)[1] > 0 == similar(scorer, rarity, 3)[1]
    assert notes("boat boat sail", "sail").near_stems() == {"boat": 1, "sail": 2}


@given(st.dictionaries(st.integers(1, 6), st.dictionaries(st.sampled_from("abcdef"), st.floats(0.01, 10)), max_size=6))
def test_similarities_are_bounded_and_symmetric(vectors: dict[int, dict[str, float]]) -> None:
    like = similarities(vectors)
    for first, row in like.items():
        for second, value in row.items():
            assert 0 <= value <= 1 + 1e-9 and like[second][first] == value and first != second
    assert similarities({1: {"a": 3.0, "b": 4.0}, 2: {"a": 1.0}})[1][2] == pytest.approx(0.6)


@given(st.integers(1, 10_000), st.integers(0, 20_000))
def test_a_rarer_term_tells_more(total: int, holding: int) -> None:
    assert 0 < note_frequency(total, holding + 1) <= note_frequency(total, holding) <= math.log(2 + 2 * total)
