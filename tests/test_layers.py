"""One folder is one layer: a package imports only from packages above it in this list. All imports count."""

import ast
import re
import tokenize
from graphlib import TopologicalSorter
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "vault_memory"

LAYERS = [
    "errors", "text", "startup", "config", "markdown", "salience", "vault", "store", "embedding", "indexing", "search",
    "write", "sessions", "reflect", "capture", "context", "memory", "federation", "integrations", "health", "rendering",
    "daemon", "agents", "cli", "__main__",
]  # fmt: skip


def _modules() -> dict[str, Path]:
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def _package(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def _imports(path: Path) -> set[str]:
    """The names of ours that a module imports, wherever the import stands; the root where it is not known which."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: imports are absolute"
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("import_module", "__import__"):
            name = node.args[0]
            name = name.values[0] if isinstance(name, ast.JoinedStr) else name
            found.add(str(name.value).rstrip(".") if isinstance(name, ast.Constant) else "vault_memory")
    return {name for name in found if name.split(".")[0] == "vault_memory"}


def test_a_package_imports_only_from_those_above_it() -> None:
    refused = set()
    for module, path in _modules().items():
        own = _package(module)
        for name in _imports(path) if own else ():  # the root itself hands on what is public
            other = _package(name)
            if other not in LAYERS or LAYERS.index(other) > LAYERS.index(own):
                refused.add(f"{module} -> {name}")
    assert refused == set()


def test_no_modules_import_each_other() -> None:
    modules = _modules()
    graph = {}
    for module, path in modules.items():
        names = {name if name in modules else name.rpartition(".")[0] for name in _imports(path)}
        graph[module] = names - {module}
    TopologicalSorter(graph).prepare()  # raises CycleError, which names them


def test_every_package_has_its_place_in_the_list() -> None:
    packages = {_package(module) for module in _modules()} - {""}
    assert packages == set(LAYERS)


FOREIGN = {"app.py", "json.py", "openai_public.py", "pickle.py"}
"""Examples, and files of others."""


def test_the_modules_that_texts_name_are_there() -> None:
    here = [path for folder in ("vault_memory", "tests", "tools") for path in (PACKAGE.parent / folder).rglob("*.py")]
    known = {f"/{path.relative_to(PACKAGE.parent).as_posix()}" for path in here}
    texts = {path: _comments(path) for path in here} | {
        path: path.read_text("utf-8") for path in [PACKAGE.parent / "CONTRIBUTING.md"]
    }
    named = {
        (path.name, name)
        for path, text in texts.items()
        for name in re.findall(r"(?<![\w./-])(?:\w+/)*\w+\.py\b", text)
        if name.split("/")[-1] not in FOREIGN
    }
    assert len(named) > 50
    assert not {(where, name) for where, name in named if not any(path.endswith(f"/{name}") for path in known)}


def _comments(path: Path) -> str:
    """The docstrings and comments of a module."""
    source = path.read_text("utf-8")
    said = [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Expr)]
    said = [str(node.value) for node in said if isinstance(node, ast.Constant)]
    with path.open("rb") as handle:
        said += [token.string for token in tokenize.tokenize(handle.readline) if token.type == tokenize.COMMENT]
    return "\n".join(said)
