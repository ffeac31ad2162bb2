"""decay.py: hand-computed values and properties of ageing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.markdown.facts import is_decision
from vault_memory.search import decay
from vault_memory.search.decay import Trace

unit = st.floats(0, 1)
days = st.integers(0, 4000)


TODAY = 740_000


# --- tiers -----------------------------------------------------------------------------------------------------------


def every(gap: int, count: int, last: int = TODAY) -> tuple[int, ...]:
    """`count` days of use, `gap` apart, the last one `last`."""
    return tuple(last - gap * i for i in reversed(range(count)))


@pytest.mark.parametrize(
    ("trace", "tier"),
    [
        (Trace(TODAY), "working"),
        (Trace(None), "working"),  # undated: does not age
        (Trace(TODAY - 61), "peripheral"),  # old with fewer than three recalls
        (Trace(TODAY - 61, every(5, 3)), "working"),
        (Trace(TODAY - 400, every(5, 3)), "working"),  # peripheral before, and up with the third
        (Trace(TODAY - 400, every(5, 3, TODAY - 300), importance=0.0), "peripheral"),  # below 0.15 again: 0.125
        (Trace(TODAY - 59, importance=0.0, confidence=0.1), "peripheral"),  # 0.4·0.256 = 0.102, below 0.15
        (Trace(TODAY - 90, every(3, 10), importance=0.8), "core"),
        (Trace(TODAY - 90, every(3, 9), importance=0.8), "working"),  # one recall short
        (Trace(TODAY - 90, every(3, 10), importance=0.8, confidence=0.1), "working"),  # 0.4 + 0.247 + 0.024: under 0.7
        (
            Trace(TODAY - 900, every(3, 12, TODAY - 800), importance=0.8, confidence=0.3),
            "working",
        ),  # 0.33, long unasked
    ],
)
def test_tier(trace: Trace, tier: str) -> None:
    assert decay.tier_of(trace, TODAY) == tier


traces = st.builds(
    Trace,
    day=st.none() | st.integers(TODAY - 2000, TODAY + 50),
    uses=st.lists(st.integers(TODAY - 2000, TODAY + 100), max_size=15, unique=True).map(lambda v: tuple(sorted(v))),
    importance=unit,
    confidence=unit,
)


@given(traces, st.booleans())
def test_a_life_is_bounded_and_knows_nothing_of_tomorrow(trace: Trace, is_fact: bool) -> None:
    here = decay.life(trace, TODAY, is_fact)
    assert 0 <= here.worth <= 1 + 1e-9
    assert (decay.FLOORS[here.tier] if here.tier else 0.3) <= here.multiplier <= 1 + 1e-9
    assert (here.tier is not None) == is_fact
    known = trace._replace(uses=tuple(day for day in trace.uses if day <= TODAY))
    assert decay.life(known, TODAY, is_fact) == here
    if trace.day is None:
        assert here.multiplier == 1


@pytest.mark.parametrize(
    ("kind", "text", "told", "expected"),
    [
        ("world", "Peter lives in Malmö.", 1, 0.5),
        ("experience", "Swam 1500 m in 33:05.", 1, 0.4),
        ("opinion", "Thinks the index is sound.", 1, 0.5),
        ("world", "Allergic to nuts.", 1, 0.7),
        ("experience", "The road is chosenly made.", 1, 0.4),
        ("experience", "We chose tarred felt.", 3, 0.75),
        ("world", "Peter lives in Malmö.", 2, 0.5),
        ("note", "decided", 9, 0.85),
    ],
)
def test_importance(kind: str, text: str, told: int, expected: float) -> None:
    assert decay.importance_of(kind, is_decision(text), told) == pytest.approx(expected)
