"""The layers of DESIGN.md §5: a module imports only from its own layer or a lower one, and there is no circle."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "vault_memory"

LAYERS = [
    ["__init__", "errors", "folders", "choices", "shipped", "garbage", "columns"],
    ["config", "note", "properties", "parse", "links", "spans", "tense", "timetokens", "timewords", "dates", "daily",
     "retain", "chunk", "tokens", "english", "languages", "terms", "entities", "query", "answer", "evidence", "weights",
     "noterank", "rank", "spread", "pack", "wordpiece", "vectors", "decay", "claimwords", "claims", "supersede",
     "presets", "models", "scopes", "filters", "pending", "mounts", "schedule",
     "checks", "reflect", "reflect.model", "reflect.cite", "reflect.blocks", "reflect.merge", "reflect.plan",
     "reflect.edits",
     "reflect.placing",
     "reflect.changed", "reflect.moves",
     "reflect.dated", "reflect.nearby",
     "reflect.supposed",
     "reflect.grounds", "reflect.prose",
     "reflect.outdated", "reflect.called",
     "integrations", "integrations.jsontext", "integrations.occasion", "integrations.claude_code",
     "integrations.opencode", "integrations.entries",
     "conversations", "conversations.marks",
     "reflect.periods", "reflect.select", "reflect.wording", "reflect.sections", "reflect.summaries",
     "reflect.clauses", "reflect.polarwords", "reflect.polarity", "reflect.statements", "reflect.confidence",
     "reflect.bearing",
     "reflect.ended",
     "reflect.beliefs", "reflect.entity_page", "reflect.opinion_page", "reflect.bank_page", "reflect.core",
     "reflect.proposals", "turns",
     "frame", "sheet",
     "provenance", "tables",
     "conversations", "conversations.marks", "conversations.message", "conversations.redact", "conversations.clean",
     "conversations.derived", "conversations.longlines", "conversations.source", "conversations.claude_code",
     "conversations.openclaw",
     "reflect.likes",
     "reflect.reported", "reflect.telling", "reflect.tellwords", "reflect.infer", "plot", "picture"],
    ["access", "sight",
     "vault", "walk", "aliases", "drives", "replacing", "places", "schema", "store", "lexicon", "held", "shelf",
     "postings", "search", "embed", "journal", "digest", "changes", "gitlines", "wire", "remote", "spaces", "address",
     "integrations.shown", "integrations.lines", "integrations.targets",
     "client", "runs", "chats", "llm", "preimages", "reflect.ledger",
     "further",
     "conversations.jsonl", "conversations.opencode", "conversations.ledger", "conversations.tools",
     "drawn",
     "pathnames", "mcp_tools"],
    ["prepare", "worker", "indexer", "uses", "lives", "history", "ordering", "asof",
     "knowledge", "feedback", "timelane", "gather", "recall", "reading", "writer", "health", "meaning",
     "backfill", "rerank", "recognise", "jobs", "rewriting", "forgetting", "lint",
     "reflect.facts", "reflect.material", "reflect.run",
     "reflect.verdicts", "reflect.apply",
     "corefiles", "recent",
     "conversations.sweep", "conversations.root",
     "reflect.retell",
     "amending", "filing"],
    ["keeper", "memory", "warm", "request", "settings", "scribe", "reflect.job", "reflect.look",
     "roots",
     "opinions", "stats"],
    ["render", "convictions",
     "forgotten",
     "integrations.install",
     "context",
     "report", "reflection", "figures", "watch", "upkeep", "rpc", "methods", "service", "supervisor"],
    ["background", "daemon",
     "integrations.hook",
     "desk", "mcp_answers", "mcp_server"],
    ["cli.common", "cli.index", "cli.recall", "cli.notes", "cli.knowledge", "cli.health", "cli.daemon", "cli.service",
     "cli.hook", "cli.install",
     "cli.context",
     "cli.reflect", "cli.forget", "cli.stats",
     "cli.mcp",
     "cli", "__main__"],
]  # fmt: skip
"""Layer 0 first. `distil` is a build tool and stands outside."""

LAYER = {name: number for number, names in enumerate(LAYERS) for name in names}


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
