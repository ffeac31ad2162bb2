"""What is known of an entity, and which of it holds no longer."""

import json
from pathlib import Path

import pytest
from sample import call
from vaults import fill, memory

from vault_memory.memory import Memory

NOTES = {
    "memory/2025-01-05.md": "## Retain\n- W @Lea: Lea works at Siemens.\n- O(c=0.9) @Lea: Prefers Thai food.\n"
    "- O(c=0.6) @Lea: Likes trains.\n",
    "memory/2025-03-05.md": "## Retain\n- W @Lea: Lea works at Bosch.\n- O(c=0.9) @Lea: No longer prefers Thai food.\n",
    "memory/2025-03-06.md": "## Retain\n- W @Lea: Lea lives in Lund.\n- W @Lea: Lea moved to Bern.\n",
}
JOB, FOOD = "memory/2025-03-05.md#L2", "memory/2025-03-05.md#L3"


@pytest.fixture
def vault(tmp_path: Path) -> Memory:
    return memory(fill(tmp_path / "vault", NOTES))


def test_an_entity_tells_what_was_superseded_last(vault: Memory) -> None:
    profile = vault.entity("lea")
    assert profile is not None
    assert [(fact.text, fact.superseded_by) for fact in profile.facts if fact.kind == "world"] == [
        ("Lea moved to Bern.", None), ("Lea works at Bosch.", None),
        ("Lea lives in Lund.", "memory/2025-03-06.md#L3"), ("Lea works at Siemens.", JOB),
    ]  # fmt: skip
    text = call("--vault", str(vault.vault.root), "entity", "Lea").out
    assert "- Lea works at Siemens.  (memory/2025-01-05.md#L2) ← older; see 2025-03-05#L2\n" in text
    assert "- Lea lives in Lund.  (memory/2025-03-06.md#L2) ← older; see L3\n" in text
    assert text.index("No longer prefers Thai") < text.index("Likes trains") < text.index("Prefers Thai")
    document = json.loads(call("--vault", str(vault.vault.root), "entity", "Lea", "--json").out)
    assert {fact["text"]: fact["superseded_by"] for fact in document["opinions"]} == {
        "Prefers Thai food.": FOOD, "Likes trains.": None, "No longer prefers Thai food.": None,
    }  # fmt: skip


def test_opinions_that_hold_no_longer_come_last(vault: Memory) -> None:
    assert [(o.statement, o.superseded_by) for o in vault.opinions()] == [
        ("No longer prefers Thai food.", None), ("Likes trains.", None), ("Prefers Thai food.", FOOD),
    ]  # fmt: skip
    root = str(vault.vault.root)
    last, _, why = call("--vault", root, "opinions").out.splitlines()[-3:]
    assert last.endswith("Lea: Prefers Thai food  (memory/2025-01-05.md#L3) ← older; see 2025-03-05#L3")
    assert why.endswith("against: No longer prefers Thai food  (memory/2025-03-05.md#L3)")
    document = json.loads(call("--vault", root, "opinions", "--json").out)
    assert document["opinions"][-1]["superseded_by"] == FOOD
    assert document["opinions"][-1]["evidence"][0]["superseded_by"] == FOOD


def test_an_opinion_held_again_is_held(vault: Memory) -> None:
    fill(vault.vault.root, {"memory/2025-05-01.md": "## Retain\n- O(c=0.8) @Lea: Prefers Thai food.\n"})
    found = {o.statement: o.superseded_by for o in vault.opinions()}
    assert found["Prefers Thai food."] is None
    assert found["No longer prefers Thai food."] == "memory/2025-05-01.md#L2"


GARDEN = {
    "People/Steph Ango.md": "---\naliases: [kepano]\n---\nMakes notes.\n",
    "Notes/Meeting.md": '---\npeople:\n  - "[[kepano]]"\n---\n'
    "With [[People/Steph Ango|Steph]] about [[Emergence]]. ![[map.png]]\n",
    "memory/2025-02-01.md": "- talked to [[Steph Ango]], see [[2025-01-05]]\n",
    "memory/2025-02-02.md": "---\nscope: work\n---\nSee [[Steph Ango]] and [[Ghost]].\n",
}


def test_a_note_is_an_entity_by_its_name_aliases_and_links(tmp_path: Path) -> None:
    garden = memory(fill(tmp_path / "vault", GARDEN))
    for name in ("kepano", "steph ango", "Steph Ango"):
        found = garden.entity(name)
        assert found is not None
        assert (found.row.name, found.row.page, found.row.links) == ("Steph Ango", "People/Steph Ango.md", 4)
        assert [(line.path, line.line) for line in found.linked_in] == [
            ("memory/2025-02-02.md", 4), ("memory/2025-02-01.md", 1), ("Notes/Meeting.md", 3), ("Notes/Meeting.md", 5),
        ]  # fmt: skip
    assert [(row.name, row.links) for row in garden.entities()] == [("Steph Ango", 4), ("Emergence", 1), ("Ghost", 1)]
    public = [(row.name, row.links) for row in garden.entities(scopes=("global",))]
    assert public == [("Steph Ango", 3), ("Emergence", 1)]
    answer = garden.recall("what was said?", entities=["kepano"], journal=False)
    assert {result.path for result in answer.results} == set(GARDEN)
    text = call("--vault", str(tmp_path / "vault"), "entity", "kepano").out
    assert "## Linked in\n- See [[Steph Ango]] and [[Ghost]].  (memory/2025-02-02.md#L4)\n" in text


def test_a_name_with_a_dot_is_a_note_unless_a_file_has_it(tmp_path: Path) -> None:
    notes = {
        "a.md": "See [[Node.js]], [[Vue.js]], [[plan.pdf]] and [[Deno.js]].",
        "Node.js.md": "Runs.",
        "plan.pdf": "x",
    }
    found = memory(fill(tmp_path / "vault", notes | {"Vue.js": "code"}))
    assert [(row.name, row.page) for row in found.entities()] == [("Deno.js", None), ("Node.js", "Node.js.md")]
    assert found.recall("vue.js", k=1).results[0].source == "Vue.js"


def test_notes_of_one_name_are_all_told(tmp_path: Path) -> None:
    notes = {
        "Kim.md": "---\ntitle: Peter\n---\nA dog.",
        "Work/Clients/Peter.md": "Pays late.",
        "Family/Peter.md": "My uncle.",
        "memory/2025-01-01.md": "Met [[Peter]].",
    }
    mine = memory(fill(tmp_path / "vault", notes))
    found = mine.entity("Peter")
    assert mine.entity("[[Peter]]") == mine.entity("[[People/Peter.md|him]]") == found
    assert found is not None and found.row.page == "Family/Peter.md"  # what the link opens in Obsidian
    assert found.namesakes == ["Work/Clients/Peter.md", "Kim.md"]
    text = call("--vault", str(tmp_path / "vault"), "entity", "Peter").out
    assert "page: Family/Peter.md\nalso called so: Work/Clients/Peter.md, Kim.md\n" in text


def test_pages_of_one_name_share_what_is_told_of_their_alias(tmp_path: Path) -> None:
    notes = {f"bank/entities/{folder}/Bo.md": "---\naliases: [Robert]\n---\n# Bo\n" for folder in "ab"}
    facts = {"memory/2025-11-03.md": "## Retain\n- W @Robert: Lives in Lund.\n- W @Bo: Rows.\n"}
    found = memory(fill(tmp_path / "vault", notes | facts)).entity("Bo")
    assert found is not None and len(found.facts) == found.row.mentions == 2


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("[[Steph Ango]]", "Makes notes."), ("[[People/Steph Ango|Steph]]", "Makes notes."),
        ("[[kepano]]", "Makes notes."), ("steph ango", "Makes notes."), ("[[Meeting#People]]", "map.png"),
    ],
)  # fmt: skip
def test_a_note_is_read_by_its_link(tmp_path: Path, name: str, said: str) -> None:
    root = str(fill(tmp_path / "vault", GARDEN))
    assert said in call("--vault", root, "get", name).out
    assert "There is no note" in call("--vault", root, "get", "[[Nobody]]").err
