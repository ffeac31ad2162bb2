"""What was meant to be private stays so, however long it is and however badly its scope is written."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from vaults import fill, memory, opened

from vault_memory.retrieval.answer import Answer, Filters, Request

FILLER = "The walnut tree stood on the slope behind the old mill and nobody had counted its branches. "


def ask(root: Path, query: str, scope: str = "global", **more: object) -> Answer:
    filters = Filters(scopes=(scope,), **more)  # type: ignore[arg-type]
    (answer,) = memory(root).recall([Request(query, datetime(2025, 12, 1, tzinfo=UTC), 200, None, filters)], keep=False)
    return answer


def open_to_all(root: Path) -> str:
    """Everything that can be had under `--scope global`, by words, by meaning, by entity and by day."""
    questions = ("secret zanzibar", "walnut tree", "Peter", "what happened on 2025-11-06", "mill branches counted")
    return "\n".join(result.content for question in questions for result in ask(root, question).results)


LONG = FILLER * 6 + "Secret Zanzibar one. " + FILLER * 8 + "Secret Zanzibar two."
ITEMS = {
    "a long fact": f"- W(scope=agent:moss, t=2025-11-06) @Peter: {LONG}",
    "a long continuation line": f"- W(scope=agent:moss) @Peter: Begins.\n  {LONG}",
    "a long malformed fact": f"- W(c=7, scope=agent:moss) @Peter: {LONG}",
    "windows of a malformed fact": "- W(c=7, scope=agent:moss) @Peter: Begins.\n"
    + "".join(f"  {FILLER}Secret Zanzibar {n}.\n" for n in range(9)),
    "a paragraph of the item": "- W(scope=agent:moss) @Peter: Begins.\n\n  Secret Zanzibar.\n\n      Secret code.",
    "a list in the item": "- W(scope=agent:moss) @Peter: Begins.\n\n  - Secret Zanzibar.\n  - W: Secret fact.",
    "a line that lazily continues it": "- W(scope=agent:moss) @Peter: Begins.\nSecret Zanzibar.",
    "a code fence in the item": "- W(scope=agent:moss) @Peter: Begins.\n  ```\n  Secret Zanzibar\n  ```\n",
    "a capital letter": "- W(Scope=agent:moss) @Peter: Secret Zanzibar.",
    "a colon": "- W (scope: agent:moss) @Peter: Secret Zanzibar.",
    "a wrapped key": "- W(c=7,\n  scope=agent:moss) @Peter: Secret Zanzibar.",
    "no name of a scope": "- W(scope=) @Peter: Secret Zanzibar.",
    "two in a code fence": "```\n- W: Begins.\n- W(scope=agent:moss) @Peter: Secret Zanzibar.\n```",
}


@pytest.mark.parametrize("item", ITEMS)
def test_an_item_with_a_scope_is_private_to_its_last_line(tmp_path: Path, item: str) -> None:
    fill(tmp_path, {"a.md": f"## Retain\n{ITEMS[item]}\n\n## Open\n- Zanzibar is an island.\n", "b.md": FILLER * 9})
    found = open_to_all(tmp_path)
    assert "Zanzibar is an island" in found
    assert "Secret" not in found
    with opened(memory(tmp_path)) as store:
        private = list(store.rows("SELECT text FROM passage WHERE scope IS NOT NULL"))
        assert any("Secret" in text for (text,) in private)
        open_lines = [text for (text,) in store.rows("SELECT text FROM passage WHERE scope IS NULL")]
        assert "- Zanzibar is an island." in open_lines


HEADS = {
    "a value with a colon": "---\nscope: agent: moss\n---\n",
    "broken elsewhere": "---\ntitle: [open\nscope: agent:moss\n---\n",
    "never closed": "---\nscope: agent:moss\n\n",
    "a capital letter": "---\nScope: agent:moss\n---\n",
    "a mapping": "---\nscope:\n  agent: moss\n---\n",
    "no properties": "---\nscope agent:moss\n---\n",
    "a merge key": "---\n<<: {a: b}\nscope: agent:moss\n---\n",
}


@pytest.mark.parametrize("head", HEADS)
def test_a_note_whose_scope_cannot_be_read_is_private(tmp_path: Path, head: str) -> None:
    fill(tmp_path, {"a.md": f"{HEADS[head]}Secret Zanzibar.\n", "b.md": "Zanzibar is an island.\n"})
    found = open_to_all(tmp_path)
    assert ("Zanzibar is an island" in found, "Secret" in found) == (True, False)


@pytest.mark.parametrize(
    "text",
    [
        "---\nscope:\n---\nOpen Zanzibar.\n",
        "---\ntitle: [broken\n---\nOpen Zanzibar.\n",
        "The scope: open.\n\nOpen Zanzibar.\n",
        "- The scope of it: Open Zanzibar.\n",
        "## Retain\n- W @Peter: With scope=local set, Open Zanzibar works.\n",
        "## Retain\n- W(scope=agent:moss): Private.\n\nOpen Zanzibar.\n",
        "## Retain\n- W(scope=agent:moss): Private.\n- W: Open Zanzibar.\n",
        "## Retain\n- W(scope=agent:moss): Private.\n# Heading\n  Open Zanzibar.\n",
    ],
)
def test_what_names_no_scope_stays_open(tmp_path: Path, text: str) -> None:
    fill(tmp_path, {"a.md": text})
    assert "Open Zanzibar" in open_to_all(tmp_path)


def test_every_piece_of_a_long_fact_is_that_fact_and_it_counts_once(tmp_path: Path) -> None:
    fact = f"- O(c=0.9, t=2025-11-06, scope=agent:moss) @Peter: {LONG}"
    fill(tmp_path, {"memory/2025-12-01.md": f"## Retain\n{fact}\n", "b.md": FILLER * 9})
    answer = ask(tmp_path, "secret zanzibar two", "agent:moss")
    first = answer.results[0]
    assert "Zanzibar two" in first.content
    assert (first.kind, first.confidence, first.occurred, first.tier) == ("opinion", 0.9, "2025-11-06", "working")
    day = datetime(2025, 11, 6, tzinfo=UTC).date()
    kept = ask(tmp_path, "zanzibar two", "agent:moss", since=day, until=day, entities=("Peter",)).results
    assert any("Zanzibar two" in result.content for result in kept)
    mine = memory(tmp_path)
    assert (mine.status().facts, [row.mentions for row in mine.entities()]) == (1, [1])
    assert len(mine.opinions()) == 1
    profile = mine.entity("Peter")
    assert profile and len(profile.facts) == 1


@pytest.mark.parametrize(
    ("query", "understood"), [("what does Pete like?", ("Pete",)), ("Quibble", ()), ("Peter Quibble", ())]
)
def test_a_private_page_is_not_named(tmp_path: Path, query: str, understood: tuple[str, ...]) -> None:
    page = "---\nscope: agent:moss\naliases: [Pete]\n---\n# Peter Quibble\n\nLikes trains.\n"
    fact = "## Retain\n- W @Pete: Likes walnut trees.\n- W(scope=agent:moss) @Quibble: Likes beech trees.\n"
    fill(tmp_path, {"bank/entities/Peter Quibble.md": page, "memory/2025-12-01.md": fact})
    answer = ask(tmp_path, query)
    assert answer.understood.entities == understood
    assert {name for result in answer.results for name in result.entities} <= {"Pete"}
    assert ask(tmp_path, "what does Pete like?", "agent:moss").understood.entities == ("Peter Quibble",)
