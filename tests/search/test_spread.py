"""The spread over a period: hand-made days, and what holds for any of them."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.search.candidates import LAST_FIT, in_order, informativeness, spread
from vault_memory.store.search_queries import DatedPassage, parts_of
from vault_memory.text.spans import Span

FIRST = date(2025, 1, 1)


def line(number: int, day: int, importance: float | None = None, tokens: int = 20, **more: bool) -> DatedPassage:
    kind = "note" if importance is None else "experience"
    of = {"aside": False, "told": True, "happened": True} | more
    return DatedPassage(number, FIRST + timedelta(day), kind, day, importance, tokens, decided=None, **of)


@pytest.mark.parametrize(
    ("period", "parts"),
    [
        ((date(2025, 1, 1), date(2025, 1, 1)), ("day", 1)),
        ((date(2025, 1, 1), date(2025, 1, 14)), ("day", 1)),
        ((date(2025, 1, 1), date(2025, 1, 31)), ("day", 7)),
        ((date(2025, 7, 1), date(2025, 9, 30)), ("day", 7)),
        ((date(2025, 1, 1), date(2025, 12, 31)), ("month", 1)),
        ((date(2024, 12, 3), date(2025, 12, 3)), ("month", 1)),
        ((date(2019, 1, 1), date(2021, 12, 31)), ("month", 3)),
        ((date.min, date.max), ("month", 9230)),
    ],
)
def test_the_parts_of_a_period(period: tuple[date, date], parts: tuple[str, int]) -> None:
    assert parts_of(Span(*period)) == parts


def test_what_tells_most() -> None:
    ranked = [
        line(1, 0, 0.9), line(2, 0, 0.0), line(3, 0), line(4, 0, tokens=2), line(5, 0, 1.0, happened=False),
    ]  # fmt: skip
    assert [informativeness(passage) for passage in ranked] == [pytest.approx(0.935), 0.35, 0.3, 0.2, 0.1]
    assert informativeness(line(6, 0, 0.5, told=False)) < informativeness(line(7, 0, 0.4))
    assert informativeness(line(8, 0, aside=True)) == 0.1
    assert informativeness(line(9, 0, 0.0)._replace(importance=None, decided=True)) == pytest.approx(0.74)


lines = st.lists(
    st.builds(line, st.none(), st.integers(0, 400), st.none() | st.floats(0, 1), st.integers(1, 60)), max_size=40
)


@given(lines, st.none() | st.integers(0, 400))
def test_an_order_holds_each_once_and_its_fits_fall(found: list[DatedPassage], around: int | None) -> None:
    found = [passage._replace(id=number) for number, passage in enumerate(found)]
    order = spread(found, None if around is None else FIRST + timedelta(around))
    assert sorted(order) == list(range(len(found)))
    fits = list(in_order(order).values())
    assert fits == sorted(fits, reverse=True)
    assert all(LAST_FIT - 1e-9 <= fit <= 1 for fit in fits)
