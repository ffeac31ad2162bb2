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


def test_notes_of_one_file_name_stay_two_entities_by_their_aliases(tmp_path: Path) -> None:
    notes = {f"{name}/README.md": f"---\naliases: [{name}, {name}lein]\n---\nOn {name}.\n" for name in ("Anna", "Bob")}
    notes["memory/2025-11-03.md"] = "## Retain\n- W @Anna: Lives in Lund.\n- B @Annalein: Rowed to the weir.\n"
    notes["memory/2025-11-08.md"] = "## Retain\n- W @Bob: Lives in Oslo.\n"
    with memory(fill(tmp_path / "vault", notes)) as asked:
        rows = [(row.name, row.page, row.mentions) for row in asked.entities() if row.mentions]
        assert rows == [("Anna", "Anna/README.md", 2), ("Bob", "Bob/README.md", 1)]
        assert not any(fact.superseded_by for name in ("Anna", "Bob") for fact in asked.entity(name).facts)
        asked.reflect(now="2025-12-01")
        world = (tmp_path / "vault/bank/world.md").read_text("utf-8")
        assert "Anna: Lives in Lund" in world and "Bob: Lives in Oslo" in world


def test_who_is_mentioned_only_by_an_alias_is_not_called_by_the_file(tmp_path: Path) -> None:
    notes = {"Recipes/Pie.md": "---\naliases: [Anna]\n---\nWith apples.\n"}
    notes["memory/2025-11-03.md"] = "## Retain\n- W @Anna: Lives in Lund.\n"
    with memory(fill(tmp_path / "vault", notes)) as asked:
        assert [row.name for row in asked.entities() if row.mentions] == ["Anna"]
        assert asked.entity("Pie").row.mentions == 1, "the note joins its names"
