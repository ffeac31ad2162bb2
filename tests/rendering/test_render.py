"""How answers and reports look: ASCII documents with a schema, text without control characters, one line a problem."""

import json
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_memory.indexing.indexer import Report
from vault_memory.markdown.note import Problem
from vault_memory.rendering.notes import entities_text, entity_text
from vault_memory.rendering.recall import left_out_notes, recall_document, recall_notes, recall_text
from vault_memory.rendering.status import index_text, problem_line
from vault_memory.search.answer import Answer, Request, Result, Understanding
from vault_memory.search.entity_profile import EntityProfile, EntityRow
from vault_memory.text.output import clean, plural

NOW = datetime(2025, 12, 3, 9, tzinfo=UTC)


def result(
    rank: int = 1, path: str = "log/2025-11-27.md", line: int = 4, text: str = "- W @Mara: Keeps bees", **more: Any
) -> Result:
    return Result(
        rank=rank, score=1.23456, kind="world", date="2025-11-27", occurred=None, entities=("Mara",), confidence=None,
        tier=None, content=text, path=path, start_line=line, end_line=line + text.count("\n"), heading=("Retain",),
        tokens=9, truncated=False,
    )._replace(**more)  # fmt: skip


def answer(*results: Result, request: Request | None = None, **more: Any) -> Answer:
    understood = Understanding(("Mara",), (date(2025, 11, 1), date(2025, 11, 30)), ("opinion",), ("keel",))
    return Answer(
        request=request or Request("bees?", NOW), results=results, mode="hybrid", lanes={"lexical": 3},
        embedder="builtin/x@1", understood=understood, tokens=9, rendered_tokens=20,
        omitted={"over_budget": 0, "near_duplicates": 0}, notes=12, vault="my vault",
    )._replace(**more)  # fmt: skip


# --- text ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ångström 京都 🎉", "plain ångström 京都 🎉"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\0b\x07\x7f", "a\\x00b\\x07\\x7f"),
        ("a\rb\x0bc\x0cd", "a\\x0db\\x0bc\\x0cd"),
        ("a\u202eb\u2066c", "a\\u202eb\\u2066c"),
        ("a\u2028b", "a\\u2028b"),
    ],
)
def test_control_characters_are_shown_not_sent(text: str, shown: str) -> None:
    assert clean(text) == shown


@settings(deadline=None)
@given(st.text(max_size=60))
def test_nothing_that_moves_a_cursor_is_printed(text: str) -> None:
    problem = problem_line(Problem("a\x1b.md", 3, text))
    assert len(problem.splitlines()) == 1
    printed = recall_text(recall_document(answer(result(text=text)))["results"])
    assert not any((ord(c) < 32 and c not in "\t\n") or 0x7F <= ord(c) < 0xA0 for c in printed + problem)


@pytest.mark.parametrize(
    ("count", "noun", "text"), [(1, "note", "1 note"), (1234, "passage", "1,234 passages"), (2, "entity", "2 entities")]
)
def test_plurals(count: int, noun: str, text: str) -> None:
    assert plural(count, noun) == text


# --- recall -------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.text(max_size=60))
def test_json_is_ascii_and_keeps_the_very_text(text: str) -> None:
    printed = json.dumps(recall_document(answer(result(text=text))))
    assert printed.isascii() and "\n" not in printed
    assert json.loads(printed)["results"][0]["content"] == text


def test_results_are_grouped_by_note_in_line_order() -> None:
    said = answer(
        result(1, line=9, text="nine"),
        result(2, "Harbour.md", 3, "three", date=None),
        result(3, line=4, text="four\nfive"),
        result(4, "trip.md", 1, "one", date="2025-11-20"),
    )
    assert recall_text(recall_document(said)["results"]) == (
        "## log/2025-11-27.md\nL4 four\nL5 five\nL9 nine\n\n## Harbour.md\nL3 three\n\n## trip.md\n(2025-11-20)\nL1 one"
    )


def test_what_was_left_out_or_stale_is_said() -> None:
    omitted = {"over_budget": 3, "over_k": 1, "near_duplicates": 2}
    said = answer(result(), degraded=[("semantic", "no vectors")], fresh=False, pending=2, omitted=omitted)
    behind = "The index is 2 notes behind; `memory index` updates it."
    assert recall_notes(said) == (["No note mentions “keel”."], ["No vectors.", behind])
    assert left_out_notes(omitted) == [
        "1 more match; use --k to see more.", "3 more did not fit the budget; use --budget to see more.",
        "Left out: 2 near-duplicates.",
    ]  # fmt: skip


def test_a_note_that_begins_with_a_path_keeps_its_letters() -> None:
    why = "sub cannot be read, so it was not searched"
    assert recall_notes(answer(result(), degraded=(("files", why),))) == (["No note mentions “keel”."], [f"{why}."])


def test_guesses_by_meaning_are_introduced_as_such() -> None:
    why = "no note contains any of these words"
    assert recall_notes(answer(result(), degraded=[("lexical", why)], is_guess=True)) == ([f"N{why[1:]}:"], [])
    assert left_out_notes({"beyond_pool": 9, "over_k": 2}) == ["At least 11 more matches; use --k to see more."]
    assert left_out_notes({"weak": 185, "unreadable": 1}) == [
        "Left out: 1 in notes that cannot be read, 185 too weak (shown with --all)."
    ]
    assert left_out_notes({"over_k": 2, "weak": 1}, {}) == ["2 more matches.", "Left out: 1 too weak."]
    assert left_out_notes({"near_duplicates": 1, "changed": 1, "core_lines": 2}) == [
        "Left out: 1 near-duplicate, 1 whose note has changed since, 2 core memory lines."
    ]


# --- the other documents --------------------------------------------------------------------------------------

MARA = EntityRow("Mara\x1b", "bank/entities/Mara.md", ("Mari",), 3, "2025-11-01", "2025-11-27")


def test_an_index_report_is_told_in_a_line_and_what_needs_attention() -> None:
    problems = [Problem("a.md", 1, "odd"), Problem("b.md", 2, "bytes", "warning"), Problem("c.md", 0, "gone", "error")]
    text = index_text(Report(added=2, unchanged=3, passages=40, facts=5, seconds=1.25, problems=problems))
    assert text.splitlines()[0].startswith("5 notes (2 added), 40 passages and 5 facts")
    assert text.splitlines()[1:] == ["b.md:2: bytes", "c.md: gone", "1 formatting problem: see `memory lint`"]
    many = Report(problems=[Problem(f"{n}.md", 1, "bytes", "warning") for n in range(20)])
    assert "8 more" in index_text(many)
    assert "nothing changed" in index_text(Report(unchanged=3))


def test_entities_are_shown_without_control_characters() -> None:
    assert "\x1b" not in entities_text([MARA]) + entity_text(EntityProfile(MARA, (), [("Odd\x1b", 2)]))
