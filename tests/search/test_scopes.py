"""What was meant to be private stays so, however long it is and however badly its scope is written."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from vaults import fill, memory, opened

from vault_memory.health.doctor import lint
from vault_memory.markdown.scopes import of_lines
from vault_memory.search.answer import Answer, Request
from vault_memory.store.view import Filters
from vault_memory.text.scope_syntax import UNREADABLE_SCOPE

FILLER = "The walnut tree stood on the slope behind the old mill and nobody had counted its branches. "


def ask(root: Path, query: str, scope: str = "global", **more: object) -> Answer:
    filters = Filters(scopes=(scope,), **more)  # type: ignore[arg-type]
    (answer,) = memory(root).answers(
        [Request(query, datetime(2025, 12, 1, tzinfo=UTC), 200, None, filters)], keep=False
    )
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


HEAD_SLIPS = [
    "scopes: agent:moss", "scopes: [agent:moss]", "scopes:\n- agent:moss\n- global", "scopes: global, agent:moss",
    "scope: agent:moss\nscope: global", "scope: global\nscope: agent:moss", "Scope: agent:moss\nscope: global",
    "scope: global\nSCOPE: agent:moss", "scope: global\nscopes: agent:moss", "scope : agent:moss",
    " scope: agent:moss", '"scope": agent:moss', "'scope ': agent:moss", "scope:agent:moss", "scope:: agent:moss",
    "ｓｃｏｐｅ: agent:moss", "sc\u200bope: agent:moss", "scope\u00a0: agent:moss", "- scope: agent:moss",
    "title: x\nscope：agent:moss", "{title: [x, scope: agent:moss}", "? scope\n: agent:moss",
    "scope: private", "scope: Global", "scope: Agent:moss", "scope: agent :moss", "scope: [global, agent:moss]",
    "scope: [global, {a: b}]", "scope: [{a: b}]", "scope: [global, null]", "scope: false", "scope: no", "scope: 0",
    "scope: 9" + "9" * 2000, "scope: 2025-11-06",
]  # fmt: skip
"""What should be a note's scope, in its properties: each is shut to whoever may only see `global`."""


KEY_SLIPS = [
    "(scope=agent:moss, scope=global)", "(scope=global, scope=agent:moss)", "(scopes=agent:moss)",
    "(SCOPE=agent:moss)", "(scope = agent:moss)", "(scope:agent:moss)", "(scope=private)", "(scope=Global)",
    "(scope=agent:)", "[scope=agent:moss]", "{scope=agent:moss}", "(scope=[global,agent:moss])", '(scope="global")',
    "(scope=)", "(scope=agent:moss global)", "(scope=global;scope=agent:moss)", "(scope=global) (scope=agent:moss)",
    "(c=7, scope=global,\n  scope=agent:moss)", "(scope=agent:moss", "(i=0.5 scope=agent:moss)",
]  # fmt: skip

GOOD = {
    "scopes: agent:moss", "scopes: [agent:moss]", "scope : agent:moss", " scope: agent:moss", '"scope": agent:moss',
    "'scope ': agent:moss", "scope:: agent:moss", "ｓｃｏｐｅ: agent:moss", "sc\u200bope: agent:moss",
    "scope\u00a0: agent:moss", "? scope\n: agent:moss", "(scope = agent:moss)",
}  # fmt: skip
"""What is read as it was meant: nothing is to be reported."""


@pytest.mark.parametrize("slip", HEAD_SLIPS)
def test_a_slip_in_the_properties_shuts_the_note_and_is_reported(tmp_path: Path, slip: str) -> None:
    shut_and_reported(tmp_path, f"---\n{slip}\n---\nSecret Zanzibar.\n", is_good=slip in GOOD)


@pytest.mark.parametrize("slip", KEY_SLIPS)
def test_a_slip_in_a_key_shuts_the_item_and_is_reported(tmp_path: Path, slip: str) -> None:
    shut_and_reported(tmp_path, f"## Retain\n- W{slip} @Peter: Secret Zanzibar.\n", is_good=slip in GOOD)


def shut_and_reported(root: Path, text: str, is_good: bool = False) -> None:
    mine = memory(fill(root, {"a.md": text, "b.md": "Zanzibar is an island.\n"}))
    found = open_to_all(root)
    assert ("Zanzibar is an island" in found, "Secret" in found) == (True, False)
    assert "Secret" not in mine.get("a.md", scopes=("global",)).text
    assert any(problem.path == "a.md" for problem in lint(mine)) != is_good


@pytest.mark.parametrize(
    "head", ["scope:", "scope: ''", "scope: []", "scope: ~", "Scopes: '  '", "meta:\n  scope: agent:moss"]
)
def test_properties_that_name_no_scope_are_reported(tmp_path: Path, head: str) -> None:
    fill(tmp_path, {"a.md": f"---\n{head}\n---\nOpen Zanzibar.\n"})
    assert "Open Zanzibar" in open_to_all(tmp_path)
    assert any("scope" in problem.message for problem in lint(memory(tmp_path)))


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: [broken\n---\nOpen Zanzibar.\n",
        "---\nmy scope: agent:moss\nscoped: x\n---\nOpen Zanzibar.\n",
        "---\nscope: [global]\n---\nOpen Zanzibar.\n",
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


def test_a_paragraph_whose_lines_have_different_scopes_is_nobodys(tmp_path: Path) -> None:
    """Whoever may see one of its lines may not see the other; alone, each is for those whose scope it names."""
    moss, ada = "Walnut kettle [scope:: agent:moss]", "Zanzibar ferry [scope:: user:ada]"
    fill(tmp_path, {"both.md": f"{moss}\n{ada}\n", "moss.md": f"{moss}\nIn the harbour.\n", "ada.md": f"{ada}\n"})

    def seen(*scopes: str) -> set[str]:
        now = datetime(2025, 12, 1, tzinfo=UTC)
        request = Request("walnut zanzibar", now, k=9, budget_tokens=None, filters=Filters(scopes=scopes))
        (answer,) = memory(tmp_path).answers([request], keep=False)
        return {result.path for result in answer.results}

    assert seen("global", "agent:moss") == {"moss.md"}
    assert seen("global", "user:ada") == {"ada.md"}
    assert seen("global", "agent:moss", "user:ada") == {"ada.md", "moss.md"}
    assert seen() == {"ada.md", "both.md", "moss.md"}
    found = {1: "agent:moss", 2: "user:ada", 4: "agent:moss"}
    assert [of_lines(found, *lines) for lines in ((1, 2), (1, 1), (2, 3), (1, 4), (3, 3))] == [
        UNREADABLE_SCOPE, "agent:moss", "user:ada", UNREADABLE_SCOPE, None,
    ]  # fmt: skip
