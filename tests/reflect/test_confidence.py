"""Confidence: the same evidence, the same value; one piece moves it by one step, and taken away it takes that back."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_memory.reflect.confidence import (
    CONTRADICTS,
    HIGHEST,
    LOWEST,
    MAX_MARKS,
    RESTATES,
    STEP_DOWN,
    STEP_DOWN_AGREED,
    STEP_UP,
    SUPPORTS,
    Evidence,
    weigh_evidence,
)

NEW = 10_000
EPSILON = 1e-9

priors = st.floats(0, 1)
days = st.one_of(st.none(), st.integers(0, 5), st.integers(0, 4000))
relations = st.sampled_from([SUPPORTS, CONTRADICTS, RESTATES])


def pieces(last_key):
    return st.builds(Evidence, st.integers(0, last_key), days, relations, st.floats(0, 1))


evidence = st.lists(pieces(30), max_size=14, unique_by=lambda piece: piece.key)


def value(prior, told):
    return weigh_evidence(prior, told).value


# --- properties ------------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(priors, st.lists(pieces(6), max_size=14), st.randoms())
def test_the_order_does_not_matter(prior, told, chance: random.Random):
    shuffled = chance.sample(told, len(told))
    assert weigh_evidence(prior, shuffled) == weigh_evidence(prior, told)


@settings(max_examples=40)
@given(priors, evidence, days)
def test_a_support_raises_by_one_step_at_most(prior, told, day):
    change = value(prior, [*told, Evidence(NEW, day, SUPPORTS)]) - value(prior, told)
    assert -EPSILON <= change <= STEP_UP + EPSILON


@settings(max_examples=40)
@given(priors, evidence, days)
def test_a_contradiction_lowers_by_one_step_at_most(prior, told, day):
    change = value(prior, [*told, Evidence(NEW, day, CONTRADICTS)]) - value(prior, told)
    known = {piece.day for piece in told if piece.relation == CONTRADICTS} - {None}
    after = known | ({day} - {None})
    step = STEP_DOWN if len(after) < 2 else STEP_DOWN_AGREED
    assert -step - EPSILON <= change <= EPSILON


@settings(max_examples=40)
@given(priors, evidence)
def test_it_stays_within_bounds(prior, told):
    belief = weigh_evidence(prior, told)
    assert LOWEST <= belief.value <= HIGHEST
    assert 0.05 <= belief.rounded <= 0.95
    assert belief.rounded * 20 == pytest.approx(round(belief.rounded * 20))
    assert all(LOWEST <= then <= HIGHEST for _, then in belief.history)
    assert len(belief.sparkline) == min(len(belief.history) + bool(belief.history), MAX_MARKS)


# --- by hand ---------------------------------------------------------------------------------------------------------


def supports(*on):
    return [Evidence(n, day, SUPPORTS) for n, day in enumerate(on)]


def contradicts(*on):
    return [Evidence(100 + n, day, CONTRADICTS) for n, day in enumerate(on)]


@pytest.mark.parametrize(
    ("prior", "told", "expected"),
    [
        (0.7, [], 0.7),
        (0.0, [], 0.02),
        (0.7, supports(10), (9 * 0.7 + 1) / 10),
        # Half a year older: .3 + .7 / 2.
        (0.7, supports(0, 180), (9 * 0.7 + 0.65 + 1) / (9 + 0.65 + 1)),
        (0.7, contradicts(10), 9 * 0.7 / 10.5),
        # Two days agree: each counts three; .55 to .42 is within the wider step.
        (0.7, contradicts(10, 10, 190), 9 * 0.7 / (9 + 3 * (0.65 + 0.65 + 1))),
        # Of one day the contradiction comes first, to .6; the support then draws to .635.
        (0.7, supports(10) + contradicts(10), (9 * 0.7 + 1) / 11.5),
        # Stated anew: the whole step towards the number, and no further than it.
        (0.7, [Evidence(1, 10, RESTATES, 0.9)], 0.8),
        (0.6, [Evidence(1, 10, RESTATES, 0.85), Evidence(2, 11, RESTATES, 0.95)], 0.8),
        (0.7, [Evidence(1, 10, RESTATES, 0.75)], 0.75),
        (0.7, [*supports(5), Evidence(200, 10, RESTATES, 0.7)], 0.7),
        # Without a day it is as old as can be, once there is a day at all.
        (0.7, supports(None), (9 * 0.7 + 1) / 10),
        (0.7, supports(None, 10), (9 * 0.7 + 0.3 + 1) / (9 + 0.3 + 1)),
    ],
)
def test_values_by_hand(prior, told, expected):
    assert value(prior, told) == pytest.approx(expected)


def test_the_same_words_on_another_day_say_what_is_held_then_and_bear_nothing_out_again():
    stated = [Evidence(1, NEW + day, RESTATES, 0.95) for day in (0, 0, 1, 2)]
    assert value(0.5, stated) == pytest.approx(0.5 + 3 * STEP_UP)
    told = [Evidence(1, NEW + day, SUPPORTS) for day in range(4)]
    assert value(0.5, told) == value(0.5, told[:1])


@pytest.mark.parametrize(
    ("told", "trend", "marks"),
    [
        ([], "new", ""),
        (supports(10), "rising", "▆▆"),
        (contradicts(10), "falling", "▆▅"),
        (supports(10) + contradicts(20), "falling", "▆▆▆"),
        ([Evidence(1, 10, RESTATES, 0.7)], "steady", "▆▆"),
    ],
)
def test_trend_and_sparkline(told, trend, marks):
    belief = weigh_evidence(0.7, told)
    assert belief.prior == 0.7
    assert (belief.trend, belief.sparkline) == (trend, marks)
