"""One folder is one layer: a package imports only from packages above it in this list. All imports count."""

import ast
import re
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "vault_memory"

LAYERS = [
    "errors", "text", "startup", "config", "markdown", "vault", "store", "embedding", "indexing", "search", "write",
    "sessions", "reflect", "context", "memory", "federation", "integrations", "health", "rendering", "daemon", "agents",
    "cli", "__main__",
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
    """The dotted names a module imports, wherever the import stands."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: imports are absolute"
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return {name for name in found if name.startswith("vault_memory.")}


def test_a_package_imports_only_from_those_above_it() -> None:
    upward = set()
    for module, path in _modules().items():
        own = _package(module)
        for name in _imports(path):
            other = name.split(".")[1]
            if own and other != own and other in LAYERS and LAYERS.index(other) > LAYERS.index(own):
                upward.add(f"{own} -> {other}")
    assert upward == set()


def test_every_package_has_its_place_in_the_list() -> None:
    packages = {_package(module) for module in _modules()} - {""}
    assert packages == set(LAYERS)


def test_the_modules_that_contributing_names_are_there() -> None:
    text = (PACKAGE.parent / "CONTRIBUTING.md").read_text("utf-8")
    named = set(re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.py)", text))
    assert named
    assert not {name for name in named if not (PACKAGE / name).exists() and not (PACKAGE.parent / name).exists()}
