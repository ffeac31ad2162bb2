"""Scoring: each feature moves a score the way it should, and a score is the sum of what explains it."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.search.answer import Request
from vault_memory.search.candidates import Candidates
from vault_memory.search.query import Query
from vault_memory.search.ranking import FEEDBACK_SHARE, FEEDBACK_TERMS, NOTE_SHARE, WEIGHTS, Scorer, longest_run
from vault_memory.store.view import Candidate, NoteInfo, Totals


def passage(number: int, text: str = "text", note: int = 1, section: int = 0, kind: str = "note") -> Candidate:
    return Candidate(number, note, number, number, None, None, kind, 5, section, text)


def note(number: int, tokens: int, words: int) -> NoteInfo:
    return NoteInfo(number, f"{number}.md", None, "", "[]", 1, tokens, words)


def evidence(*passages: Candidate, **found: object) -> Candidates:
    """Candidates with what was found about them; what a question has goes to the query."""
    notes = {p.note_id: note(p.note_id, tokens=1000, words=100) for p in passages}
    asked = {name: found.pop(name) for name in Query._fields if name in found}
    query = Query(Request("", datetime(2025, 12, 1, tzinfo=UTC)))._replace(**asked)  # type: ignore[arg-type]
    return Candidates(query, passages={p.id: p for p in passages}, notes=notes)._replace(**found)  # type: ignore[arg-type]


def scores(found: Candidates) -> dict[int, float]:
    return Scorer(found).score({}, {})


@pytest.mark.parametrize(
    ("found", "better"),
    [
        ({"lexical": {1: 1.0, 2: 1.0}, "words": ("broke",)}, 2),
        ({"lexical": {1: 1.0, 2: 1.0}, "spoken_words": ("server", "broke", "in")}, 2),
        ({"cosine": {1: 0.2, 2: 0.7}}, 2),
        ({"cosine": {1: -0.2}}, 2),
        ({"date_fit": {2: 0.4}}, 2),
        ({"entity": {2: 1.0}}, 2),
        ({"exact": ("tile-server",)}, 2),
        ({"full_text": "what is plain at all", "lexical": {1: 1.0, 2: 1.0}}, 2),
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


def test_a_hit_counts_for_its_neighbours_in_the_same_section_only() -> None:
    rows = [passage(n, section=1 if n < 4 else 2) for n in range(1, 7)]
    found = scores(evidence(*rows, rarity={"boat": 1.0}, hits={"boat": {3: 1}}))
    assert found[3] > found[2] > found[1] > found[4] == found[5] == found[6]


def test_an_answer_follows_its_question() -> None:
    asked = evidence(
        passage(1, "Where is the boat?"), passage(2, "In the shed."), passage(3, "Fine."), lexical={1: 3.0}
    )
    assert scores(asked)[2] > scores(asked)[3]
    apart = evidence(passage(1, "Where is the boat?"), passage(2, "In the shed.", section=4), lexical={1: 3.0})
    assert scores(apart)[2] == 0


UNIT = st.floats(0, 1)
ROWS = st.lists(
    st.tuples(
        st.integers(1, 3), st.integers(-2, 2), st.sampled_from(["- Mara: a?", "plain", "in March", "- b"]),
        UNIT, UNIT, st.floats(-1, 1),
    ),
    min_size=1,
    max_size=12,
)  # fmt: skip


@given(ROWS, st.booleans())
def test_a_score_is_the_sum_of_what_explains_it(
    rows: list[tuple[int, int, str, float, float, float]], asks: bool
) -> None:
    passages = [passage(n, text, note, section) for n, (note, section, text, *_) in enumerate(rows, 1)]
    found = evidence(
        *passages,
        lexical={n: row[3] for n, row in enumerate(rows, 1) if row[3] > 0.3},
        date_fit={n: row[4] for n, row in enumerate(rows, 1) if row[4] > 0.5},
        cosine={n: row[5] for n, row in enumerate(rows, 1)},
        rarity={"boat": 1.5},
        hits={"boat": {1: 2}},
        names=("Mara",),
        asks_when=asks,
    )
    scorer = Scorer(found)
    ranked = scorer.score({}, {})
    assert list(ranked) == sorted(ranked, key=lambda n: -ranked[n])
    assert set(ranked) == {p.id for p in passages}
    for number, score in ranked.items():
        parts = scorer.explain(number)
        assert 0 < parts["note_share"] <= NOTE_SHARE
        assert set(parts["boosts"]) <= {*WEIGHTS, "section"}
        assert score == pytest.approx(sum(parts["boosts"].values()), abs=0.002)  # each is rounded to 4 digits
    backwards = found._replace(passages=dict(reversed(found.passages.items())))
    assert Scorer(backwards).score({}, {}) == ranked


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
    return Scorer(found._replace(notes={n: note(n, 20, words) for n in stems}))


def similar(scorer: Scorer, rarity: dict[str, float], number: int) -> tuple[float, float]:
    """What a note scores, and what those most like it score."""
    scorer.score(rarity, {})
    features = scorer.features(number)
    return features["note"], features["similar"]


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
