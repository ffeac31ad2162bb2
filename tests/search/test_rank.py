"""Ranking: each feature moves a score the way it should, and a score is the sum of what explains it."""

import dataclasses
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_memory.markdown.speakers import speaker
from vault_memory.search.rank import NOTE_SHARE, Ranker, count_stems, inverse_frequency, longest_run
from vault_memory.search.weights import WEIGHTS
from vault_memory.store.candidate import ASIDE, Candidate, Evidence, Feedback, NoteFacts, tells


def passage(number: int, text: str = "text", note: int = 1, section: int = 0, kind: str = "note") -> Candidate:
    return Candidate(number, note, number, number, None, None, kind, 5, section, text)


def evidence(*passages: Candidate, **found: object) -> Evidence:
    notes = {p.note_id: NoteFacts(tokens=1000, words=100) for p in passages}
    return dataclasses.replace(Evidence({p.id: p for p in passages}, notes), **found)  # type: ignore[arg-type]


def scores(found: Evidence) -> dict[int, float]:
    return Ranker(found).rank(Feedback())


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
    short = dataclasses.replace(found, notes={1: NoteFacts(50, 10), 2: NoteFacts(5000, 1000)})
    ranker = Ranker(short)
    ranker.rank(Feedback())
    assert ranker.explain(1)["note_share"] == NOTE_SHARE
    assert ranker.explain(2)["note_share"] == pytest.approx(NOTE_SHARE * 400 / 5000)


def test_the_first_round_prefers_text_to_headings_and_is_bounded() -> None:
    rows = [passage(1, section=-1), *(passage(n) for n in range(2, 40))]
    best = Ranker(evidence(*rows, lexical={1: 1.0, 9: 1.0})).first_round()
    assert best[0] == 9 and len(best) == 8 and 1 not in best


def test_feedback_moves_the_passage_it_points_to() -> None:
    found = evidence(passage(1, note=1), passage(2, note=2))
    moved = Ranker(found).rank(Feedback(cosine={2: 0.3}))
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
    ranker = Ranker(found)
    ranked = ranker.rank(Feedback())
    assert list(ranked) == sorted(ranked, key=lambda n: -ranked[n])
    assert set(ranked) == {p.id for p in passages}
    for number, score in ranked.items():
        parts = ranker.explain(number)
        assert 0 < parts["note_share"] <= NOTE_SHARE
        assert set(parts["boosts"]) <= {*WEIGHTS._fields, "section"}
        assert score == pytest.approx(sum(parts["boosts"].values()), abs=0.002)  # each is rounded to 4 digits
    backwards = dataclasses.replace(found, passages=dict(reversed(found.passages.items())))
    assert Ranker(backwards).rank(Feedback()) == ranked


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("- Mara: hello", "mara"),
        ("- **Mara Berg**: hello", "mara berg"),
        ("* **Odd**: hello", "odd"),
        ("Mara: hello", "mara"),
        ("**Mara:** hello", "mara"),
        ("> Mara: hello", "mara"),
        ("[10:32] Mara: hello", "mara"),
        ("- [14:15] Mara Berg: hello", "mara berg"),
        ("10:32 Mara: hello", "mara"),
        ("- 10:32 am – Mara: hello", "mara"),
        ("[12/03/2024, 10:32:11] Mara Berg: hello", "mara berg"),
        ("12/03/24, 10:32 - Mara: hello", "mara"),
        ("Mara:", "mara"),
        ("- mara: hello", ""),
        ("- 09:10 Coffee with Mara: she was late", ""),
        ("10:32: hello", ""),
        ("- https://example.org: x", ""),
        ("- Mara said hello", ""),
    ],
)
def test_who_speaks(text: str, found: str) -> None:
    assert speaker(text) == found


def test_stems_are_counted() -> None:
    assert count_stems({"boat", "oar"}, {1: ("boat", "sail", "boat"), 2: ("oar",), 3: ()}) == {
        "boat": {1: 2},
        "oar": {2: 1},
    }


@settings(deadline=None)
@given(st.integers(1, 10**6), st.data())
def test_rarer_is_worth_more(total: int, data: st.DataObject) -> None:
    few = data.draw(st.integers(0, total))
    many = data.draw(st.integers(few, total))
    assert inverse_frequency(total, few) >= inverse_frequency(total, many) > 0
    assert math.isfinite(inverse_frequency(total, 0))


@pytest.mark.parametrize(
    ("text", "does"),
    [
        ("tags: [boat]\naliases:\n  - old boat\ndate: 2025-01-02", False), ("title: \"x\"\nby: web", False),
        ("tags: [book]\nauthor: Hanne Voss", True), ("attendees:\n  - Ada\n  - Ida", True), ("email:", False),
        ("rating: []\nnote: \"\"", False), ("%% author: me %%", False), ("<!-- to: do\nmore: so -->", False),
        ("  - Ada", False), ("Geburtstag: 2.5.1980", True), ("see also: [[Boats]]", True),
    ],
)  # fmt: skip
def test_properties_tell_unless_they_are_only_the_file_s_own(text: str, does: bool) -> None:
    assert tells(passage(1, text, section=ASIDE), "a.md") == does


def test_what_a_plugin_runs_tells_nothing() -> None:
    assert not tells(passage(1, "```dataview\nLIST FROM #boat\n```"), "a.md")
    assert not tells(passage(1, " ~~~~ tasks\nnot done"), "a.md")
    assert tells(passage(1, "```python\nprint('base')\n```"), "a.md")
    assert tells(passage(1, "`dataview` is a plugin"), "a.md")
