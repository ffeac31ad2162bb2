"""Whatever a client gives a daemon's method is an answer or an error that tells what is wrong with it."""

from pathlib import Path

import pytest
from vaults import fill, memory, snapshot

from vault_memory.daemon import rpc_methods
from vault_memory.errors import UsageError, VaultMemoryError

ODD = [
    {}, [], False, 0, -1, 2**63, -(2**70), 1e308, float("nan"), "", "x" * 5000, "\ud800", "\0", [[]], [None], {"a": 1},
]  # fmt: skip
BAD: list[tuple[str, dict[str, object]]] = [
    ("recall", {}), ("recall", {"query": "x", "colour": "red"}), ("recall", {"query": "x", "no_journal": "yes"}),
    ("get", {}), ("get", {"path": "a.md", "lines": "x"}), ("status", {"x": 1}), ("index", {"paths": [7]}),
    ("retain", {"text": " "}), ("retain", {"text": "x", "kind": "Q"}), ("retain", {"text": "x", "confidence": 7}),
    ("retain", {"text": "x", "date": "someday"}), ("retain", {"text": "x", "scope": "private"}),
]  # fmt: skip
GOOD = {
    "recall": {"query": "tea"}, "get": {"path": "a.md"}, "entity": {"name": "Peter"}, "context": {"prompt": "tea"},
    "read": {"name": "entities"}, "write": {"name": "forget", "arguments": {"planned": "{}"}},
}  # fmt: skip


def test_odd_parameters_are_errors_with_a_sentence(tmp_path: Path) -> None:
    of = memory(fill(tmp_path, {"a.md": "## Retain\n- W @Peter: likes tea.\n- O(c=0.5) @Peter: Prefers tea.\n"}))
    of.index()
    for name in ("recall", "get", "entity", "entities", "opinions", "context", "status", "read", "write"):
        for parameter in sorted(rpc_methods.METHODS[name].takes):
            for value in ODD:
                try:
                    rpc_methods.call(name, of, {**GOOD.get(name, {}), parameter: value})
                except VaultMemoryError as error:
                    assert str(error).endswith(".")


def test_bad_parameters_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    of = memory(fill(tmp_path, {"a.md": "tea\n"}))
    of.index()
    before = snapshot(tmp_path)
    for name, params in BAD:
        with pytest.raises(UsageError):
            rpc_methods.call(name, of, params)
    assert snapshot(tmp_path) == before


def test_a_text_comes_with_what_a_terminal_shows(tmp_path: Path) -> None:
    of = memory(fill(tmp_path, {"a.md": "Likes oolong tea.\n"}))
    shown = rpc_methods.call("recall", of, {"query": "oolong", "as_text": True})
    assert "L1 Likes oolong tea." in shown["text"]
    assert (shown["results"][0]["path"], shown["matched"]) == ("a.md", ["oolong"])
