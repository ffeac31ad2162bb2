"""A note is found by what only its `aliases` call it, by recall and by entity."""

from pathlib import Path

import pytest
from vaults import fill, memory

NOTES = {
    "Projects/Heat pump.md": "---\naliases: [Warm giant, Knut]\n---\n# Heat pump\n\nInstalled behind the shed.\n\n"
    "The installer asked 84,000 crowns for it.\n"
}
NOTES |= {
    f"Shop/Warm socks {n}.md": f"Warm socks cost {n} crowns at the giant store. Knut Berg knits them.\n"
    for n in range(1, 12)
}


@pytest.mark.parametrize("question", ["Knut", "who is Knut?", "Warm giant", "what is the warm giant?"])
def test_a_question_with_nothing_but_the_alias_finds_the_note(tmp_path: Path, question: str) -> None:
    with memory(fill(tmp_path / "vault", NOTES)) as asked:
        answer = asked.recall(question, k=3, journal=False)
        assert "Projects/Heat pump.md" in [result.path for result in answer.results]
        assert answer.understood.entities == ("Heat pump",)


@pytest.mark.parametrize("alias", ["knut", "Warm giant"])
def test_an_alias_names_the_entity(tmp_path: Path, alias: str) -> None:
    with memory(fill(tmp_path / "vault", NOTES)) as asked:
        profile = asked.entity(alias)
        assert profile and profile.row.name == "Heat pump"
