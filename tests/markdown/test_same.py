"""When two texts are the same but for their letters."""

import pytest

from vault_memory.markdown.note import folded


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Says “Göteborg” isn’t far.", "says 'Go\u0308teborg' isn't far"),
        ("«Tern» sails", '"tern" sails!'),
        ("He said 'it isn't far'.", "He said “it isn’t far.”"),
        ("Reads ‘The Sea’ and “Loss”", "reads The Sea and Loss"),
    ],
)
def test_the_same_in_other_letters(one: str, other: str) -> None:
    assert folded(one) == folded(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2³ long", "23 long"),
        ("5½", "51⁄2"),
        ("6' high", "6 high"),
        ('5" wide', "5 wide"),
        ('5" wide and 6" high', "5 wide and 6 high"),
        ("6' by 7' of oak", "6 by 7 of oak"),
        ("6’ high", "6 high"),
        ("Lives here?", "Lives here"),
        ("x² grows", "x2 grows"),
    ],
)
def test_another_statement(one: str, other: str) -> None:
    assert folded(one) != folded(other)
