"""What an agent reads of the tools: small, and its arguments are checked as the schemas say."""

from typing import Any

import pytest

from vault_memory.agents import mcp_tools
from vault_memory.agents.mcp_tools import EDIT, GET, REFLECT, SEARCH, STORE
from vault_memory.errors import UsageError


def test_the_tools_are_those_of_the_contract() -> None:
    found = {tool.name: list(tool.parameters) for tool in mcp_tools.tools(False)}
    assert found == {
        "memory_search": ["query", "max_results", "budget", "since", "until", "entities", "kinds"],
        "memory_get": ["path", "start_line", "line_count"],
        "memory_store": ["content", "kind", "entities", "title", "scope", "even_if_similar"],
        "memory_reflect": ["dry_run"],
        "memory_status": [],
    }
    assert [tool.name for tool in mcp_tools.tools(True)] == [*found, "memory_edit"]


@pytest.mark.parametrize("tool", mcp_tools.tools(True), ids=lambda tool: tool.name)
def test_each_parameter_is_described(tool: mcp_tools.Tool) -> None:
    assert all(schema["description"] for schema in tool.schema["properties"].values())
    assert set(tool.required) <= set(tool.parameters)


@pytest.mark.parametrize(
    ("tool", "given", "wanted"),
    [
        (SEARCH, {"query": "x", "max_results": "5", "since": "", "until": None}, {"query": "x", "max_results": 5}),
        (SEARCH, {"query": "x", "entities": "Nora"}, {"query": "x", "entities": ["Nora"]}),
        (SEARCH, {"query": "x", "budget": 200.0}, {"query": "x", "budget": 200}),
        (EDIT, {"action": "replace", "text": "", "old": "x"}, {"action": "replace", "text": "", "old": "x"}),
        (REFLECT, {"dry_run": False}, {"dry_run": False}),
    ],
)
def test_what_models_commonly_write_is_understood(
    tool: mcp_tools.Tool, given: dict[str, Any], wanted: dict[str, Any]
) -> None:
    assert mcp_tools.checked(tool, given) == wanted


@pytest.mark.parametrize(
    ("tool", "given", "named"),
    [
        (SEARCH, {}, "query"), (SEARCH, {"query": None}, "query"), (SEARCH, {"query": 3}, "query"),
        (SEARCH, {"query": "x", "k": 3}, "k"), (SEARCH, {"query": "x", "max_results": 0}, "max_results"),
        (SEARCH, {"query": "x" * 4001}, "query"),
        (SEARCH, {"query": "x", "budget": 10**20}, "budget"), (SEARCH, {"query": "x", "kinds": [1]}, "kinds"),
        (SEARCH, {"query": "x", "entities": {"a": 1}}, "entities"), (SEARCH, {"query": "\ud800"}, "query"),
        (GET, {"path": "a.md", "start_line": -1}, "start_line"), (STORE, {"content": "x", "kind": "fact"}, "kind"),
        (REFLECT, {"dry_run": "yes"}, "dry_run"), (STORE, {"content": "x", "entities": ["x" * 201]}, "entities"),
        (STORE, {"content": "x", "entities": ["x"] * 51}, "entities"),
        (SEARCH, {"query": "x", "since": "1 " * 100}, "since"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_named(tool: mcp_tools.Tool, given: dict[str, Any], named: str) -> None:
    with pytest.raises(UsageError, match=f"`{named}`"):
        mcp_tools.checked(tool, given)


@pytest.mark.parametrize("char", ["\0", "\b", "\v", "\x1b", "\x7f"])
def test_what_makes_a_note_binary_is_not_written(char: str) -> None:
    for tool, given, named in (
        (STORE, {"content": f"a{char}b"}, "content"), (STORE, {"content": "x", "title": f"a{char}b"}, "title"),
        (STORE, {"content": "x", "entities": ["y", f"a{char}b"]}, "entities"),
        (EDIT, {"action": "append", "text": f"a{char}b"}, "text"),
    ):  # fmt: skip
        with pytest.raises(UsageError, match=f"`{named}` holds a control character"):
            mcp_tools.checked(tool, given)
    # What stands in a file by now can be named, to be rid of it.
    mended = {"action": "replace", "text": "\ta\r\nb", "old": f"a{char}b"}
    assert mcp_tools.checked(EDIT, mended) == mended
    assert mcp_tools.checked(SEARCH, {"query": f"a{char}b"})
