"""What an edit changes on a page, counted and as a phrase."""

import pytest

from vault_memory.reflect.blocks import Line, fact_name
from vault_memory.reflect.merge import MergeResult, close_block
from vault_memory.reflect.plan import FactChanges, count_changes

DAY = "[[2025-11-01]]"


def fact(number: int, at: str = "") -> Line:
    return Line(f"- fact {number} — {at or f'{DAY} L{number}'}", (number << 32,))


def names(*numbers: int) -> frozenset[str]:
    return frozenset(fact_name(number << 32) for number in numbers)


def compared(
    was: list[Line], lines: list[Line], known: frozenset[str], deleted: frozenset[str] = names()
) -> FactChanges:
    return count_changes(was, close_block(was).cites, MergeResult(close_block(lines), tuple(lines), deleted), known)


@pytest.mark.parametrize(
    ("was", "lines", "known", "said"),
    [
        ([1, 2], [1, 2, 3], (1, 2, 3), "1 fact new"),
        ([1, 2, 3], [1, 4, 5], (1, 4, 5), "2 facts new, 2 retracted"),
        ([1, 2, 3], [1, 4], (1, 2, 3, 4), "1 fact new, 2 folded away"),
        ([1, 2], [2, 1], (1, 2), ""),
    ],
)
def test_facts_are_counted_by_what_became_of_them(
    was: list[int], lines: list[int], known: tuple[int, ...], said: str
) -> None:
    assert str(compared(list(map(fact, was)), list(map(fact, lines)), names(*known))) == said
    assert str(compared([fact(1), fact(2)], [fact(1)], names(1, 2), names(2))) == "1 fact taken out by you"


def test_another_fact_in_the_same_line_of_a_note_is_a_change() -> None:
    was, lines = [fact(1), fact(2, f"{DAY} L9")], [fact(1), fact(3, f"{DAY} L9")]
    assert str(compared(was, lines, names(1, 3))) == "1 fact changed"
    assert str(compared(was, [fact(1), fact(3, f"{DAY} L10")], names(1, 3))) == "1 fact new, 1 retracted"
    joined, id_ = Line(f"- one; two — {DAY} L4, L6", (1 << 32, 2 << 32)), "[[2025-11-01#^lamp]]"
    other = Line(f"- one; other — {DAY} L4, L6", (1 << 32, 3 << 32))
    assert compared([joined], [other], names(1, 3)) == FactChanges(changed=1)
    assert compared([fact(2, id_)], [fact(3, id_)], names(3)) == FactChanges(changed=1)
