"""A word that stands nowhere itself finds the compounds it begins or ends."""

from pathlib import Path

import pytest
from vaults import fill, memory

NOTES = {
    "Notizen/Huffman.md": "Die Kodierungslänge hängt von der Häufigkeit ab.\n",
    "Notizen/Haus.md": "Die Hausratversicherung kostet 80 Euro im Jahr.\n",
    "Notizen/Boot.md": "Das Boot liegt in Hamburg.\n",
    "Notes/Keys.md": "The harbourmaster has the key.\n\nThe vegetables are in the shed.\n",
}


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("kodierung", "Notizen/Huffman.md"), ("was kostet die Versicherung?", "Notizen/Haus.md"),
        ("Kodierung?", "Notizen/Huffman.md"), ("who is at the harbour?", "Notes/Keys.md"),
    ],
)  # fmt: skip
def test_a_part_finds_its_compound(tmp_path: Path, question: str, path: str) -> None:
    answer = memory(fill(tmp_path / "vault", NOTES)).recall(question, k=2, journal=False)
    assert answer.lanes["lexical"]
    assert answer.results[0].path == path
    assert answer.understood.unknown == ()


def test_a_word_that_stands_somewhere_is_no_part(tmp_path: Path) -> None:
    notes = {**NOTES, "Notes/Code.md": "Kodierung: how text becomes bytes.\n"}
    answer = memory(fill(tmp_path / "vault", notes)).recall("kodierung", k=2, mode="lexical", journal=False)
    assert [result.path for result in answer.results] == ["Notes/Code.md"]
