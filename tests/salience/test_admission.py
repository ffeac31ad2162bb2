"""The gate and the admission score, against values worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.salience.admission import PRESETS, PRIORS, AdmissionInput, admission, gating_scalar

share = st.floats(0, 1)


def test_the_gate_of_a_plain_sentence() -> None:
    gate = gating_scalar("Nora always prefers dark themes", [], [])
    # No path, no code: T = 0, so that G is the branch of talk, .35 · 1 (nothing known) + .25 · .4 (a preference).
    assert (gate.T, gate.H, gate.R, gate.D) == (0, 1, 0, 0.4)
    assert pytest.approx(0.45) == gate.G


def test_the_gate_of_a_technical_sentence() -> None:
    gate = gating_scalar("decided: fix the ValueError in src/app.py, see `pip install x`", [], [])
    assert pytest.approx((0.4 + 0.4) / 1.5) == gate.T
    assert pytest.approx(0.4 + 0.5) == gate.P
    assert pytest.approx(0.5 + 0.4) == gate.A
    assert gate.Gtech == pytest.approx(0.4 * 0.9 + 0.35 * 0.9 + 0.25 * 0)


def test_what_memory_is_full_of_is_not_repeated_into_it() -> None:
    said_often = gating_scalar("we deploy here", [], [0.9] * 5)
    assert said_often.R == 1
    known_as_well = gating_scalar("we deploy here", [0.9] * 3, [0.9] * 5)
    assert (known_as_well.R, known_as_well.MemSaturation) == (0, 1)


@given(st.text(max_size=80), st.lists(st.floats(-1, 1), max_size=8), st.lists(st.floats(-1, 1), max_size=12))
def test_the_gate_lies_between_its_branches(text: str, known: list[float], turns: list[float]) -> None:
    gate = gating_scalar(text, known, turns)
    assert min(gate.Gconv, gate.Gtech) - 1e-9 <= gate.G <= max(gate.Gconv, gate.Gtech) + 1e-9
    assert all(0 <= value <= 1 + 1e-9 for value in gate)


def test_the_admission_of_a_preference() -> None:
    # .1 · .8 + .1 · 1 + .1 · (1 − .5) + .1 · 1 + .6 · .9 · .8
    score = admission("preferences", AdmissionInput(0.8, 1.0, 0.5), PRESETS["balanced"])
    assert score == pytest.approx(0.08 + 0.1 + 0.05 + 0.1 + 0.432)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_no_category_is_kept_for_its_prior_alone(preset) -> None:
    """The weak spot of the original: in `balanced` the prior alone reached what is rejected below."""
    useless = AdmissionInput(0.0, 0.0, 1.0, 0.0)
    assert all(admission(category, useless, preset) < preset.reject for category in PRIORS)
    assert sum(preset[:5]) == pytest.approx(1)


@given(share, share, share, share)
def test_more_use_never_lowers_the_score(low: float, high: float, confidence: float, similarity: float) -> None:
    one, two = sorted((low, high))
    scores = [
        admission("cases", AdmissionInput(use, confidence, similarity), PRESETS["balanced"]) for use in (one, two)
    ]
    assert scores[0] <= scores[1] + 1e-12
