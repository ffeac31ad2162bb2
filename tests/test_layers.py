"""The layers of DESIGN.md §5: a module imports only from its own layer or a lower one, and there is no circle."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "vault_memory"

LAYERS: list[dict[str, str]] = [
    {
        "": "__init__ errors folders shipped garbage",
        "retrieval": "__init__ choices",
        "index": "__init__ columns",
        "notes": "__init__",
        "language": "__init__",
        "files": "__init__",
        "embedding": "__init__",
        "models": "__init__",
        "ranking": "__init__",
        "writing": "__init__",
        "daemon": "__init__",
        "rendering": "__init__",
        "health": "__init__",
        "agents": "__init__",
    },
    {
        "": "config checks tables",
        "notes": "note properties parse links daily retain chunk tokens entities claimwords claims scopes turns "
                 "provenance same",
        "language": "spans tense timetokens timewords dates english languages terms",
        "retrieval": "query answer",
        "ranking": "evidence weights footing noterank rank spread pack decay supersede presets",
        "embedding": "wordpiece vectors",
        "models": "known",
        "files": "filters lines mounts",
        "daemon": "pending schedule",
        "reflect": "__init__ model cite blocks merge plan edits placing changed moves dated nearby supposed "
                   "grounds prose outdated called periods select wording sections summaries clauses polarwords "
                   "polarity statements confidence bearing ended beliefs entity_page opinion_page bank_page core "
                   "proposals likes reported telling tellwords infer",
        "integrations": "__init__ jsontext occasion claude_code opencode entries",
        "conversations": "__init__ marks message redact clean derived longlines source claude_code openclaw",
        "agents": "frame sheet turns",
        "rendering": "plot picture",
    },
    {
        "agents": "access projects sight further shares merging mcp_tools",
        "files": "vault walk aliases drives replacing places journal gitlines preimages pathnames",
        "index": "schema store lexicon held shelf postings seenwords allowed search digest changes",
        "embedding": "embed spaces",
        "models": "wire remote chats llm",
        "daemon": "address client runs",
        "integrations": "shown hooklog targets agentfiles switches",
        "reflect": "ledger",
        "conversations": "jsonl opencode ledger tools",
        "rendering": "drawn",
    },
    {
        "index": "prepare worker indexer uses",
        "retrieval": "lives history ordering asof knowledge feedback timelane wordlane gather recall reading rerank"
        " standing",
        "writing": "writer rewriting forgetting amending filing",
        "health": "status doctor lint scoped agents",
        "embedding": "meaning backfill recognise",
        "daemon": "jobs",
        "reflect": "facts material run verdicts apply retell",
        "agents": "corefiles recent unwaited",
        "conversations": "sweep writer root",
    },
    {
        "index": "keeper",
        "": "memory",
        "daemon": "warm settings",
        "retrieval": "request opinions",
        "writing": "scribe",
        "reflect": "job look",
        "agents": "roots",
        "health": "stats",
    },
    {
        "rendering": "render indexed convictions forgotten report reflection figures",
        "integrations": "install",
        "agents": "context",
        "daemon": "watch upkeep rpc methods service supervisor",
    },
    {
        "daemon": "background process",
        "integrations": "hook",
        "agents": "desk mcp_reading mcp_answers mcp_server",
    },
    {
        "cli": "common index recall notes knowledge health daemon service hook install context reflect forget "
               "stats mcp __init__",
        "": "__main__",
    },
]  # fmt: skip
"""Layer 0 first: the modules of each package; those of no package stand under "". `distil` is a build tool and stands
outside."""

LAYER = {
    f"{room}.{name}".strip(".").removesuffix(".__init__"): number
    for number, rooms in enumerate(LAYERS)
    for room, names in rooms.items()
    for name in names.split()
}


def modules() -> list[str]:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
        found.append(name)
    return [name for name in found if name.split(".")[0] != "distil"]


def imports(name: str) -> set[str]:
    """The modules of this package that a module imports, lazily or not; imports for type checking only do not count."""
    path = PACKAGE / f"{name.replace('.', '/')}.py"
    if not path.exists():
        path = PACKAGE / name.replace(".", "/") / "__init__.py"
    tree = ast.parse(path.read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        found |= {n.removeprefix("vault_memory.") for n in names if n.startswith("vault_memory.")}
    return {n for n in found if n in LAYER}


def test_every_module_has_a_layer() -> None:
    assert set(modules()) == set(LAYER)


@pytest.mark.parametrize("name", sorted(LAYER))
def test_imports_only_downwards(name: str) -> None:
    assert {other for other in imports(name) if LAYER[other] > LAYER[name]} == set()


def test_there_is_no_circle() -> None:
    TopologicalSorter({name: imports(name) - {name} for name in LAYER}).prepare()


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: p.stem)
def test_first_line_says_what_the_module_owns(path: Path) -> None:
    first = (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").partition("\n")[0]
    assert first, f"{path.name} has no docstring"
    if path.name not in ("__init__.py", "__main__.py") or path.parent.name == "cli":
        assert first.startswith(("Owns", "Makes")), first
