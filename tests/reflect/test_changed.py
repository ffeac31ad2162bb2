"""changed.py: what an edit changes on a page, counted, and the sentence that says so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.reflect.blocks import Line, short
from vault_memory.reflect.changed import Change, Compared, change, sentence, standing
from vault_memory.reflect.merge import closed

DAY = "[[2025-11-01]]"


def fact(number: int, words: str = "", at: str = "") -> Line:
    return Line(f"- {words or f'fact {number}'} — {at or f'{DAY} L{number}'}", (number << 32,))


def names(*numbers: int) -> frozenset[str]:
    return frozenset(short(number << 32) for number in numbers)


def compared(was: list[Line], lines: list[Line], known: frozenset[str] | None = None, **more: object) -> Change:
    block = closed(was)
    found = Compared(standing(block, was), block.cites, lines, **more)  # type: ignore[arg-type]
    return change(found, names(*range(100)) if known is None else known)


@pytest.mark.parametrize(
    ("was", "lines", "known", "said"),
    [
        ([1, 2], [1, 2, 3], (1, 2, 3), "1 fact new"),
        ([1], [1, 2, 3], (1, 2, 3), "2 facts new"),
        ([1, 2, 3], [1, 4, 5], (1, 4, 5), "2 facts new, 2 retracted"),
        ([1, 2], [1], (1,), "1 fact retracted"),
        ([1, 2, 3], [1, 4], (1, 2, 3, 4), "1 fact new, 2 folded away"),
        ([1, 2], [2, 1], (1, 2), "the same facts, in another order"),
        ([1, 2], [1, 2], (1, 2), "the same facts, counted anew"),
    ],
)
def test_facts_are_counted_by_what_became_of_them(
    was: list[int], lines: list[int], known: tuple[int, ...], said: str
) -> None:
    assert sentence(compared(list(map(fact, was)), list(map(fact, lines)), names(*known))) == said


def test_another_fact_in_the_same_line_of_a_note_is_a_change() -> None:
    was, lines = [fact(1), fact(2, at=f"{DAY} L9")], [fact(1), fact(3, at=f"{DAY} L9")]
    assert sentence(compared(was, lines, names(1, 3))) == "1 fact changed"
    elsewhere = [fact(1), fact(3, at=f"{DAY} L10")]
    assert sentence(compared(was, elsewhere, names(1, 3))) == "1 fact new, 1 retracted"
    with_id = [fact(1), fact(3, at="[[2025-11-01#^lamp]]")]
    assert sentence(compared([fact(1), fact(2, at="[[2025-11-01#^lamp]]")], with_id, names(1, 3))) == "1 fact changed"


def test_facts_that_share_a_line_are_told_apart_by_their_place() -> None:
    was = [Line(f"- one; two — {DAY} L4, L6", (1 << 32, 2 << 32))]
    lines = [Line(f"- one; other — {DAY} L4, L6", (1 << 32, 3 << 32))]
    assert compared(was, lines, names(1, 3)) == Change(changed=1, is_moved=True)
    lines = [Line(f"- one; other — {DAY} L4, L7", (1 << 32, 3 << 32))]
    assert compared(was, lines, names(1, 3))[:3] == (1, 0, 1)


def test_a_fact_that_one_took_out_is_neither_retracted_nor_folded() -> None:
    found = compared([fact(1), fact(2)], [fact(1)], deleted=names(2), is_edited=True)
    assert found == Change(deleted=1, is_moved=True, is_edited=True)
    assert sentence(found) == "1 fact taken out by you"


def test_what_a_person_changed_is_said_to_be_kept() -> None:
    assert sentence(compared([fact(1)], [fact(1), Line("mine")], is_edited=True)) == "what you changed is kept"
    more = compared([fact(1)], [fact(1), fact(2)], is_edited=True)
    assert sentence(more) == "1 fact new; what you changed is kept"


def test_lines_in_other_words_are_counted_and_moved_ones_are_not() -> None:
    assert sentence(compared([fact(1), fact(2)], [fact(1, "once more"), fact(2)])) == "the same facts, 1 line told anew"
    assert sentence(compared([fact(1)], [fact(1, at=f"{DAY} L7")])) == "the same facts, counted anew"


def test_without_what_was_written_last_the_marker_tells_the_facts() -> None:
    block = closed([fact(1), fact(2)])
    was = standing(block, None)
    assert [line.keys for line in was] == [(), ()]
    found = change(Compared(was, block.cites, [fact(2), fact(3)]), names(2, 3))
    assert (found.new, found.retracted, found.changed) == (1, 1, 0)


def test_a_block_that_is_not_there_has_no_lines() -> None:
    assert standing(None, None) == ()
    assert compared([], [fact(1), fact(2)]).new == 2


NUMBERS = st.lists(st.integers(1, 12), unique=True)


@given(NUMBERS, NUMBERS, st.sets(st.integers(1, 12)))
def test_the_counts_account_for_every_fact(was: list[int], lines: list[int], known: set[int]) -> None:
    found = compared(list(map(fact, was)), list(map(fact, lines)), names(*known, *lines))
    assert len(was) + found.new - found.retracted - found.folded - found.deleted == len(lines)
    assert found.retracted + found.changed == len(set(was) - set(lines) - known)
    assert sentence(found)
