"""When two texts are the same but for their letters."""

import pytest

from vault_memory.markdown.note import folded, folded_lines
from vault_memory.markdown.parse import parse


def of_note(text: str) -> str:
    note = parse("x.md", f"\n{text}".encode())
    return folded_lines(note.lines, note.states)


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
    assert folded(one) == folded(other) and of_note(one) == of_note(other)


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
    assert folded(one) != folded(other) and of_note(one) != of_note(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("- a\n- b", "- a - b"),
        ("- a\n  - b", "- a\n- b"),
        ("Run\n\n    make", "Run\n\nmake"),
        ("one\ntwo", "one\n\ntwo"),
        ("```\ncd $HOME\n```", "```\ncd $home\n```"),
        ('```\ncat "$x"\n```', "```\ncat $x\n```"),
    ],
)
def test_another_note(one: str, other: str) -> None:
    assert of_note(one) != of_note(other)
