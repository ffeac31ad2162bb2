"""opinion_page.py: which opinions moved since their page was written, which came and went, and why."""

from collections.abc import Sequence
from datetime import date
from itertools import count

from vault_memory.reflect.confidence import weigh_evidence
from vault_memory.reflect.fact import Fact
from vault_memory.reflect.generated_blocks import Line
from vault_memory.reflect.opinion_page import ANEW, GONE, Move, find_moves, summarize_moves
from vault_memory.reflect.opinions import HeldOpinion

_KEYS = count(1)


def fact(text: str, day: str | None = "2025-11-03", kind: str = "world", confidence: float | None = None) -> Fact:
    key = next(_KEYS) << 32
    when = date.fromisoformat(day) if day else None
    return Fact(key, kind, text, f"memory/{day}.md", 4, when, about=("nora",), confidence=confidence)


def opinion(*told: Fact, supports: tuple[Fact, ...] = (), contradicts: tuple[Fact, ...] = ()) -> HeldOpinion:
    return HeldOpinion(told[-1], told, weigh_evidence(0.8, ()), supports, contradicts)


def moves(was: list[Line], lines: list[Line], opinions: Sequence[HeldOpinion]) -> list[Move]:
    return find_moves(was, lines, opinions, lambda fact: f"[[{fact.day}]] L{fact.line}")


def stated(number: str, one: Fact) -> Line:
    return Line(f"- **{number}** {one.text} — [[{one.day}]] L4", (one.key,))


def detail(what: str, one: Fact) -> Line:
    return Line(f"  - {what}: {one.text} — [[{one.day}]] L4", (one.key,))


COFFEE = fact("Likes her coffee without milk", kind="opinion")
MILK = fact("Poured milk into her coffee", "2025-11-20")
BLACK = fact("Ordered it black again", "2025-11-21")


def test_an_opinion_that_was_contradicted_says_by_what_and_when() -> None:
    found = moves([stated(".80", COFFEE)], [stated(".65", COFFEE)], [opinion(COFFEE, contradicts=(MILK,))])
    why = "contradicted on 20 November 2025 ([[2025-11-20]] L4)"
    assert found == [Move("Likes her coffee without milk", 0.8, 0.65, why, (MILK,))]


def test_of_what_is_new_since_the_page_the_newest_is_named() -> None:
    before = [stated(".80", COFFEE), detail("for", MILK)]
    (move,) = moves(before, [stated(".90", COFFEE)], [opinion(COFFEE, supports=(MILK, BLACK))])
    assert move.why == "borne out on 21 November 2025 ([[2025-11-21]] L4)"
    assert move.evidence == (BLACK,)


def test_a_move_that_no_new_evidence_explains_says_so() -> None:
    before = [stated(".65", COFFEE), detail("against", MILK)]
    (move,) = moves(before, [stated(".80", COFFEE)], [opinion(COFFEE)])
    assert move == Move("Likes her coffee without milk", 0.65, 0.8, ANEW)


def test_a_newer_statement_of_the_same_opinion_is_no_new_opinion() -> None:
    again = fact("She likes coffee without milk", "2025-12-01", "opinion", 0.6)
    (move,) = moves([stated(".80", COFFEE)], [stated(".70", again)], [opinion(COFFEE, again)])
    assert (move.before, move.after) == (0.8, 0.7)
    assert move.why == "told again as .60 on 1 December 2025 ([[2025-12-01]] L4)"


def test_new_ones_come_surest_first_and_gone_ones_last() -> None:
    bees, ferry = fact("Bees are gentle", kind="opinion"), fact("The ferry is slow", kind="opinion")
    found = moves([stated(".80", COFFEE)], [stated(".6", bees), stated(".7", ferry)], [opinion(bees), opinion(ferry)])
    assert [(m.statement, m.before, m.after) for m in found] == [
        ("The ferry is slow", None, 0.7), ("Bees are gentle", None, 0.6), ("Likes her coffee without milk", 0.8, None)
    ]  # fmt: skip
    assert found[-1].why == GONE
    assert summarize_moves(found) == "2 opinions new, 1 gone"
