"""Packing: no budget is ever exceeded, long lines are cited once, and what is left out is counted."""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vault_memory.markdown.note import note_header
from vault_memory.rendering.recall import recall_document, recall_text
from vault_memory.search.answer import Answer, Request, Result, Understanding
from vault_memory.search.fit_budget import JOINER, JOINER_TOKENS, Packing, content
from vault_memory.store.view import Candidate
from vault_memory.text import tokens

LINE_TOKENS = 4  # of a line numbered below 1000


def passage(
    number: int, text: str, note: int = 1, cost: int = 10, chars: tuple[int, int] | None = None, line: int = 0
) -> Candidate:
    start, stop = chars or (None, None)
    line = line or number
    return Candidate(number, note, line, line + text.count("\n"), start, stop, "note", cost, 0, text)


def taken(packed: Packing) -> list[list[int]]:
    return [[part.id for part in place] for place in packed.places]


def limited(k: int | None = None, budget: int | None = None, rendered: bool = False) -> Request:
    return Request("boat", datetime(2025, 12, 3, 9, tzinfo=UTC), k, budget, rendered=rendered)


FOUR = [passage(n, text) for n, text in enumerate(["red boat", "blue oar", "green sail", "white rope"], 1)]


@pytest.mark.parametrize(
    ("limits", "found", "over_k", "over_budget"),
    [
        (limited(), [[1], [2], [3], [4]], 0, 0),
        (limited(k=2), [[1], [2]], 2, 0),
        (limited(budget=30), [[1], [2], [3]], 0, 1),
        (limited(budget=9), [], 0, 4),
        (limited(k=1, budget=30), [[1]], 3, 0),
        (limited(budget=7 + 2 * (10 + LINE_TOKENS), rendered=True), [[1], [2]], 0, 2),
        (limited(budget=6 + 10 + LINE_TOKENS, rendered=True), [], 0, 4),
    ],
)
def test_limits(limits: Request, found: list[list[int]], over_k: int, over_budget: int) -> None:
    packed = Packing(limits, {1: 7}).fill(FOUR)
    assert taken(packed) == found
    assert (packed.omitted["over_k"], packed.omitted["over_budget"], packed.omitted["near_duplicates"]) == (
        over_k,
        over_budget,
        0,
    )


@pytest.mark.parametrize(
    ("one", "two", "repeats"),
    [
        ("- The boat is red.", "* the BOAT is red", True),
        ("The boat is red", "The boat is blue", False),
        ("- I lost a key", "- I lost the key", True),
        ("a b c d e f g h i j k l m n o p q r s t", "a b c d e f g h i j k l m n o p q r s t u", False),
        ("- gas meter reading is 4711", "- gas meter reading is 4811", False),
        ("Nora may take the tablets", "Nora may not take the tablets", False),
        ("Ann owes Bob forty crowns", "Bob owes Ann forty crowns", False),
        ("short", "short but with much more to say", False),
        ("京都に住む", "京都に行く", False),
    ],
)
def test_near_duplicates(one: str, two: str, repeats: bool) -> None:
    packed = Packing(limited()).fill([passage(1, one), passage(2, two, note=2)])
    assert packed.omitted["near_duplicates"] == int(repeats)
    assert len(packed.places) == (1 if repeats else 2)


def test_what_did_not_fit_gives_its_place_only_to_what_is_nearly_as_good() -> None:
    rows = [passage(1, "red boat", cost=20), passage(2, "blue oar", cost=90), passage(3, "green sail", cost=25),
            passage(4, "white rope", cost=2)]  # fmt: skip
    packed = Packing(limited(budget=50)).fill(rows, {1: 9.0, 2: 8.0, 3: 4.0, 4: 3.9})
    assert (taken(packed), packed.omitted["over_budget"], packed.best_needs) == ([[1], [3]], 2, 0)


def test_a_heading_fills_no_room_that_an_answer_did_not_fit() -> None:
    heading = passage(4, "# Boats", cost=3)._replace(section=-1)
    rows = [passage(1, "red boat"), heading, passage(2, "blue oar", cost=90), heading._replace(id=5, text="# Oars")]
    assert taken(Packing(limited(budget=30)).fill(rows)) == [[1], [4]]


def test_it_is_told_what_the_best_needs_when_it_does_not_fit() -> None:
    rows = [passage(1, "red boat", cost=20), passage(2, "blue oar", cost=5)]
    assert Packing(limited(budget=10)).fill(rows, {1: 9.0, 2: 8.0}).best_needs == 20
    rendered = Packing(limited(budget=20, rendered=True), {1: 7}).fill(rows, {1: 9.0, 2: 1.0})
    assert (taken(rendered), rendered.best_needs) == ([], 20 + 7 + LINE_TOKENS)


def test_parts_of_one_line_share_a_place_and_a_result() -> None:
    rows = [passage(1, "one", chars=(0, 3), line=9), passage(5, "other"), passage(2, "two", chars=(4, 7), line=9)]
    packed = Packing(limited(k=2), {1: 3}).fill(rows)
    assert taken(packed) == [[1, 2], [5]]
    assert packed.tokens == 30 + JOINER_TOKENS
    assert packed.rendered_tokens == 3 + 2 * LINE_TOKENS + packed.tokens
    elsewhere = passage(2, "two", note=2, chars=(0, 3), line=9)  # the same line number of another note
    assert taken(Packing(limited()).fill([rows[0], elsewhere])) == [[1], [2]]


LINE = "One fish. Two fish. Red fish. Blue fish."


@pytest.mark.parametrize(
    ("spans", "text", "truncated"),
    [
        ([(0, 9)], "One fish.", True),
        ([(0, 9), (10, 19)], "One fish. Two fish.", True),
        ([(20, 29), (0, 9)], f"One fish.{JOINER}Red fish.", True),
        ([(30, 40), (0, 9), (20, 29)], f"One fish.{JOINER}Red fish. Blue fish.", True),
        ([(10, 19), (30, 40), (20, 29), (0, 9)], LINE, False),
    ],
)
def test_the_text_of_a_place(spans: list[tuple[int, int]], text: str, truncated: bool) -> None:
    place = [passage(n, LINE[a:b], chars=(a, b), line=1) for n, (a, b) in enumerate(spans)]
    assert content(place, LINE) == (text, truncated)
    assert content([passage(1, "  two\nlines ")], None) == ("  two\nlines ", False)


_WORDS = "boat oar sail rope tide 京都 🎉 1,234 café #tag [[Link]] W(c=0.9) @Mara: -- `x` …"
WORDS = st.lists(st.sampled_from(_WORDS.split()), min_size=1, max_size=12)


TEXTS = (
    WORDS.map(" ".join)
    | st.lists(WORDS.map(" ".join), min_size=1, max_size=3).map("\n".join)
    | st.sampled_from(["    four", "\ttab", "- 12:30", "7"])
)
ROWS = st.lists(st.tuples(TEXTS, st.integers(1, 4), st.integers(1, 1999)), max_size=15, unique_by=lambda row: row[1:])
LIMITS = st.builds(limited, st.none() | st.integers(1, 8), st.none() | st.integers(1, 120), st.booleans())
DAYS = {1: None, 2: "2025-11-27", 3: "2025-11-28", 4: None}
PATHS = {1: "Harbour.md", 2: "memory/2025-11-27.md", 3: "trips/The long way round.md", 4: "京都/日記.md"}
HEADERS = {note: tokens.count(f"{note_header(PATHS[note], DAYS[note])}\n\n") for note in PATHS}


def candidates(rows: Iterable[tuple[str, int, int]]) -> list[Candidate]:
    return [passage(n, text, note, tokens.count(text), line=line) for n, (text, note, line) in enumerate(rows)]


@given(ROWS, LIMITS)
def test_nothing_is_exceeded_or_lost_uncounted(rows: list[tuple[str, int, int]], limits: Request) -> None:
    ranked = candidates(rows)
    packed = Packing(limits, HEADERS).fill(ranked)
    parts = [part for place in packed.places for part in place]
    assert limits.k is None or len(packed.places) <= limits.k
    assert packed.tokens == sum(part.tokens for part in parts)
    if limits.budget_tokens is not None:
        assert (packed.rendered_tokens if limits.rendered else packed.tokens) <= limits.budget_tokens
    assert len(parts) + packed.omitted["over_budget"] + packed.omitted["over_k"] + packed.omitted[
        "near_duplicates"
    ] == len(ranked)
    assert [part.id for part in parts] == sorted(part.id for part in parts)
    assert max(Counter(tuple(part.text.split()) for part in parts).values(), default=1) == 1


@given(ROWS, LIMITS)
@example([("boat", 1, 999), ("oar", 3, 100)], limited(rendered=True))
def test_what_is_printed_costs_no_more_than_was_counted(rows: list[tuple[str, int, int]], limits: Request) -> None:
    packed = Packing(limits, HEADERS).fill(candidates(rows))
    printed = recall_text(recall_document(answer([result(n, p) for n, p in enumerate(packed.places, 1)]))["results"])
    assert tokens.count(printed) <= packed.rendered_tokens


def result(rank: int, place: list[Candidate]) -> Result:
    first = place[0]
    text, truncated = content(place, None)
    return Result(
        rank, 1.0, "note", DAYS[first.note_id], None, (), None, None, text, PATHS[first.note_id], first.start_line,
        first.end_line, (), sum(part.tokens for part in place), truncated,
    )  # fmt: skip


def answer(results: list[Result]) -> Answer:
    return Answer(limited(), results, "lexical", {}, None, Understanding(), 0, 0, {})
