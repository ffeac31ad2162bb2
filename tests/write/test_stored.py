"""What an agent stores: known already only where it sees all of it, found when it is told so, written once."""

from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

import pytest
from vaults import fill, memory

from vault_memory.agents import mcp_tools
from vault_memory.agents.mcp_answers import Caller, search, store
from vault_memory.agents.vault_session import VaultSession

LOG = f"memory/{date.today():%Y-%m-%d}.md"


def moss(root: Path) -> Caller:
    memory(root).index()
    return Caller(VaultSession(str(root), root.parent), "moss")


# --- what stands already ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["- W(scope=agent:adder) The berth is {}.", "- scope:: agent:adder The berth is {}."])
@pytest.mark.parametrize("place", ["top", "middle", "end"])
def test_a_guess_at_a_hidden_line_is_told_nothing(tmp_path: Path, line: str, place: str) -> None:
    open_lines = ["The ferry plan is settled.", "We leave at nine."]

    def plan(pin: int) -> str:
        lines = list(open_lines)
        lines.insert(("top", "middle", "end").index(place), line.format(pin))
        return "\n\n".join(lines) + "\n"

    caller = moss(fill(tmp_path / "Notes", {"notes/note/plan.md": plan(4711)}))
    for text in (plan(4710), plan(4711), "\n\n".join(open_lines)):
        assert store(caller, {"title": "Ferry", "content": text}).startswith("Stored as")


ALIKE = {
    "memory/2025-11-27.md": "## Retain\n- O @Nora: I prefer dark themes in all editors\n"
    "- O(scope=agent:adder) @Nora: Likes the sea.\n- W @Nora: Lives in Lisbon.\n- W @Nora: The boiler is 12 years old\n"
    "- B @Nora: Mended the boiler with Anna\n- W @Nora: Prefers light red wine\n",
}  # fmt: skip


@pytest.mark.parametrize("kind", ["opinion", "O", "o"])
def test_a_paraphrase_is_answered_with_the_line_it_resembles(tmp_path: Path, kind: str) -> None:
    caller = moss(fill(tmp_path / "Notes", ALIKE))
    given = {"content": "Likes dark themes in every editor she uses", "entities": ["Nora"]}
    given = mcp_tools.checked(mcp_tools.STORE, {**given, "kind": kind})
    found = store(caller, given)
    assert "nothing was written" in found and "memory/2025-11-27.md#L2" in found and "in all editors" in found
    assert not (caller.vault.memory().vault.root / LOG).exists()
    done = store(caller, {**given, "even_if_similar": True})
    assert done.startswith("Stored;") and "memory/2025-11-27.md#L2 says nearly the same" in done
    other = store(caller, {"content": "Prefers dark red wine now", "entities": ["Nora"]})
    assert other.startswith("Stored;") and "memory/2025-11-27.md#L7 says otherwise" in other


@pytest.mark.parametrize(
    ("content", "kind", "entity"),
    [
        ("Lives in Porto now", "W", "Nora"), ("The boiler is 13 years old", "W", "Nora"),
        ("Mended the boiler with Anna again", "B", "Nora"), ("Prefers dark themes in all editors", "O", "Peter"),
        ("Likes the open sea", "O", "Nora"),
    ],
)  # fmt: skip
def test_another_value_or_name_is_no_paraphrase_nor_is_what_is_hidden(
    tmp_path: Path, content: str, kind: str, entity: str
) -> None:
    caller = moss(fill(tmp_path / "Notes", ALIKE))
    assert store(caller, {"content": content, "kind": kind, "entities": [entity]}).startswith("Stored;")


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("Likes dark themes in every editor she uses", "O", "#L2 says nearly the same."),
        ("Prefers dark red wine now", "W", "#L7 says otherwise."),
        ("Mended the boiler with Anna", "B", ""),
        ("Keeps bees on the roof", "W", ""),
    ],
)
def test_who_retains_a_fact_is_told_which_line_it_resembles(tmp_path: Path, text: str, kind: str, said: str) -> None:
    root = fill(tmp_path / "Notes", ALIKE)
    kept = memory(root)
    kept.index()
    done = kept.retain(text, kind=kind, entities=["Nora"])
    assert (said in done.warning) if said else not done.warning
    assert done.bullet in (root / done.path).read_text()


@pytest.mark.parametrize("other", [{"content": "Buy elm."}, {"title": "Ship"}, {"scope": "agent:moss"}])
def test_a_note_is_written_once_and_one_that_differs_beside_it(tmp_path: Path, other: dict[str, str]) -> None:
    caller = moss(fill(tmp_path / "Notes", {"a.md": "x\n"}))
    given = {"title": "Boat", "content": "Buy oak."}
    told = [store(caller, each) for each in (given, given, given | other, given | other)]
    assert [each.startswith("Stored as") for each in told] == [True, False, True, False]


# --- what can be found -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("private", ["note", "template", "folders"])
def test_what_is_stored_for_all_is_found_in_a_private_place(tmp_path: Path, private: str) -> None:
    notes = {"a.md": "x\n"}
    if private == "note":
        notes[LOG] = "---\nscope: agent:adder\n---\n# Day\n\nsecret one\n"
    elif private == "template":
        notes[".obsidian/daily-notes.json"] = '{"folder": "memory", "template": "Day"}'
        notes["Day.md"] = "---\nscope: agent:adder\n---\n# Day\n"
    else:
        notes[".memory/config.toml"] = '[scopes]\nmemory = "user:ada"\nnotes = "user:ada"\n'
    caller = moss(root := fill(tmp_path / "Notes", notes))
    for given in ({"content": "The kettle is red"}, {"content": "Buy oak.", "title": "Boat"}):
        assert "it can be found now" in store(caller, given)
        assert given["content"] in search(caller, {"query": given["content"]})
        assert "already say this" in store(caller, given)
    assert "it can be found now" in store(caller, {"content": "Mine alone", "scope": "agent:moss"})
    assert "Mine alone" in search(caller, {"query": "mine alone"})
    log = (root / LOG).read_text()
    assert log.count("scope=global): The kettle is red") == 1 and log.count("scope=agent:moss): Mine") == 1
    (note,) = (root / "notes").rglob("*.md")
    assert note.read_text().count("scope:") == (private == "folders")


def test_of_two_that_store_the_same_at_once_one_writes(tmp_path: Path) -> None:
    caller = moss(root := fill(tmp_path / "Notes", {"a.md": "x\n"}))
    for given in ({"content": "The kettle is red"}, {"content": "Buy oak.", "title": "Boat"}):
        others = [Caller(VaultSession(str(root), tmp_path), caller.agent) for _ in range(4)]
        with ThreadPoolExecutor() as pool:
            told = list(pool.map(store, others, [given] * len(others)))
        assert sum("already say this" in each for each in told) == len(told) - 1
    assert (root / LOG).read_text().count("kettle") == len(list((root / "notes").rglob("*.md"))) == 1
