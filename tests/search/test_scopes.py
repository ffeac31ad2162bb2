"""What was meant to be private stays so, however long it is and however badly its scope is written."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import asking
import pytest
from sample import at_home
from vaults import fill, memory, opened

from vault_memory.health.doctor import lint
from vault_memory.markdown.scopes import SCOPE, of_passage
from vault_memory.search.answer import Answer, Request
from vault_memory.store.view import Filters
from vault_memory.text.scope_syntax import UNREADABLE_SCOPE

FILLER = "The walnut tree stood on the slope behind the old mill and nobody had counted its branches. "


def ask(root: Path, query: str, scope: str = "global", **more: object) -> Answer:
    filters = Filters(scopes=(scope,), **more)  # type: ignore[arg-type]
    return asking.ask(memory(root), query, k=200, budget_tokens=None, filters=filters)


class Seen(NamedTuple):
    """What is had of a vault under `--scope global`: by recall, by get of each note; and which notes lint reports."""

    recalled: str
    notes: Mapping[str, str]
    reported: frozenset[str]


def seen_of(root: Path, notes: Mapping[str, str]) -> Seen:
    mine = memory(fill(root, dict(notes)))
    questions = ("secret zanzibar", "walnut tree", "Peter", "what happened on 2025-11-06", "mill branches counted")
    filters = Filters(scopes=("global",))
    answers = mine.answers([Request(each, asking.NOON, 400, None, filters) for each in questions], keep=False)
    recalled = "\n".join(result.content for answer in answers for result in answer.results)
    shown = {path: mine.get(path, scopes=("global",)).text for path in notes}
    return Seen(recalled, shown, frozenset(problem.path for problem in lint(mine)))


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


@pytest.fixture(scope="module")
def vault_of_items(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Seen]]:
    """Every item in a note of its own, named by its place."""
    root = tmp_path_factory.mktemp("items") / "Notes"
    texts = [text.replace("Secret", f"Secret {n}x") for n, text in enumerate(ITEMS.values())]
    notes = {f"a{n}.md": f"## Retain\n{t}\n\n## Open\n- Zanzibar {n}x is an island.\n" for n, t in enumerate(texts)}
    with at_home(root.parent):
        yield root, seen_of(root, {**notes, "b.md": FILLER * 9})


@pytest.mark.parametrize("number", range(len(ITEMS)), ids=list(ITEMS))
def test_an_item_with_a_scope_is_private_to_its_last_line(vault_of_items: tuple[Path, Seen], number: int) -> None:
    root, seen = vault_of_items
    secret, island = f"Secret {number}x", f"Zanzibar {number}x is an island"
    assert island in seen.recalled and island in seen.notes[f"a{number}.md"]
    assert secret not in seen.recalled and secret not in seen.notes[f"a{number}.md"]
    with opened(memory(root)) as store:
        texts = dict(store.rows("SELECT text, scope FROM passage"))
        assert any(secret in text and scope for text, scope in texts.items())
        assert texts[f"- {island}."] is None


HEADS = {
    "a value with a colon": "---\nscope: agent: moss\n---\n",
    "broken elsewhere": "---\ntitle: [open\nscope: agent:moss\n---\n",
    "never closed": "---\nscope: agent:moss\n\n",
    "a capital letter": "---\nScope: agent:moss\n---\n",
    "a mapping": "---\nscope:\n  agent: moss\n---\n",
    "no properties": "---\nscope agent:moss\n---\n",
    "a merge key": "---\n<<: {a: b}\nscope: agent:moss\n---\n",
}


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
    "a capital letter",
}  # fmt: skip
"""What is read as it was meant: nothing is to be reported."""


OPEN = [
    "---\ntitle: [broken\n---\nOpen Zanzibar.\n",
    "---\nmy scope: agent:moss\nscoped: x\n---\nOpen Zanzibar.\n",
    "---\nscope: [global]\n---\nOpen Zanzibar.\n",
    "The scope: open.\n\nOpen Zanzibar.\n",
    "- The scope of it: Open Zanzibar.\n",
    "## Retain\n- W @Peter: With scope=local set, Open Zanzibar works.\n",
    "## Retain\n- W(scope=agent:moss): Private.\n\nOpen Zanzibar.\n",
    "## Retain\n- W(scope=agent:moss): Private.\n- W: Open Zanzibar.\n",
    "## Retain\n- W(scope=agent:moss): Private.\n# Heading\n  Open Zanzibar.\n",
]
"""What only looks like a scope, or is not that of the line behind it."""

NO_SCOPE = ["scope:", "scope: ''", "scope: []", "scope: ~", "Scopes: '  '", "meta:\n  scope: agent:moss"]
"""Properties that name no scope: the note is open, and it is said."""

SLIPS = {
    **{name: f"{head}Secret Zanzibar.\n" for name, head in HEADS.items()},
    **{slip: f"---\n{slip}\n---\nSecret Zanzibar.\n" for slip in HEAD_SLIPS},
    **{slip: f"## Retain\n- W{slip} @Peter: Secret Zanzibar.\n" for slip in KEY_SLIPS},
    **{head: f"---\n{head}\n---\nOpen Zanzibar.\n" for head in NO_SCOPE},
    **{text: text for text in OPEN},
}


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    """What is had of a vault with every slip in a note of its own, whose words bear its number."""
    root = tmp_path_factory.mktemp("slips") / "Notes"
    marked = [text.replace("Secret", "Secret %x").replace("Open", "Open %x") for text in SLIPS.values()]
    with at_home(root.parent):
        yield seen_of(root, {f"a{n}.md": text.replace("%x", f"{n}x") for n, text in enumerate(marked)})


@pytest.mark.parametrize("slip", [*HEADS, *HEAD_SLIPS, *KEY_SLIPS])
def test_a_slip_shuts_the_note_or_the_item_and_is_reported(seen: Seen, slip: str) -> None:
    number = list(SLIPS).index(slip)
    assert f"Secret {number}x" not in seen.recalled + seen.notes[f"a{number}.md"]
    assert (f"a{number}.md" in seen.reported) != (slip in GOOD)


@pytest.mark.parametrize("slip", [*NO_SCOPE, *OPEN])
def test_what_names_no_scope_stays_open(seen: Seen, slip: str) -> None:
    number = list(SLIPS).index(slip)
    assert f"Open {number}x Zanzibar" in seen.recalled
    assert slip not in NO_SCOPE or f"a{number}.md" in seen.reported


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
        answer = asking.ask(memory(tmp_path), "walnut zanzibar", filters=Filters(scopes=scopes))
        return {result.path for result in answer.results}

    assert seen("global", "agent:moss") == {"moss.md"}
    assert seen("global", "user:ada") == {"ada.md"}
    assert seen("global", "agent:moss", "user:ada") == {"ada.md", "moss.md"}
    assert seen() == {"ada.md", "both.md", "moss.md"}
    found = {1: "agent:moss", 2: "user:ada", 4: "agent:moss"}
    assert [of_passage(found, *lines, SCOPE) for lines in ((1, 2), (1, 1), (2, 3), (1, 4), (3, 3))] == [
        UNREADABLE_SCOPE, "agent:moss", "user:ada", UNREADABLE_SCOPE, None,
    ]  # fmt: skip
