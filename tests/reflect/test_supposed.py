"""supposed.py: what is ruled out and what is found, of statements that say that they may be so."""

import pytest

from vault_memory.reflect.supposed import is_supposed, settled

PUMP = "The pump of the well may be leaking (hypothesis 2)."
SEAL = "The cause of the wet cellar may be the seal of the rain pipe, which opens when frost lifts it; to be proved."


@pytest.mark.parametrize(
    ("supposition", "fact", "says"),
    [
        (PUMP, "The gauge held for two days; the machinery (hypothesis 2) is ruled out.", "contradicts"),
        (PUMP, "A leaking pump has been ruled out.", "contradicts"),
        (PUMP, "The gauge rules out a leaking pump.", "contradicts"),
        (PUMP, "The machinery (hypothesis 3) is ruled out.", ""),
        (PUMP, "The pump is not ruled out (hypothesis 2).", ""),
        (PUMP, "Hypothesis 2 cannot be ruled out.", ""),
        (PUMP, "If hypothesis 2 is ruled out, we dig.", ""),
        (PUMP, "Is hypothesis 2 ruled out?", ""),
        (PUMP, "A loan for the pump and the road is ruled out.", ""),
        (PUMP, "The pump is ruled out as a present.", ""),
        (PUMP, "The key was found beside the pump.", ""),
        (SEAL, "The cause of the wet cellar is found: frost lifts the seal of the rain pipe.", "supports"),
        (SEAL, "The cause of the wet cellar is found: a root in the drain.", ""),
        (SEAL, "The cause of the wet cellar is found: not the seal of the rain pipe, nor frost.", ""),
        (SEAL, "The cause of the wet cellar is not found; the seal of the rain pipe opens in frost.", ""),
        (SEAL, "The rain pipe has a seal that frost lifts; the cellar is wet.", ""),
    ],
)
def test_what_a_fact_makes_of_a_supposition(supposition: str, fact: str, says: str) -> None:
    assert settled(supposition, fact, frozenset()) == says


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (PUMP, True),
        (SEAL, True),
        ("Probably the mice.", True),
        ("Likes early meetings.", False),
        ("In May it rains", False),
    ],
)
def test_what_says_of_itself_that_it_may_be_so(text: str, is_one: bool) -> None:
    assert is_supposed(text) is is_one
