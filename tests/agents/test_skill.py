"""The skill that teaches an agent the tools names those that there are, with their parameters."""

import re

from vault_memory.agents import mcp_tools
from vault_memory.cli import COMMANDS
from vault_memory.config import template

SKILL = template("SKILL.md").read_text("utf-8")


def test_it_names_each_tool_it_should_and_no_other() -> None:
    known = {tool.name for tool in mcp_tools.tools(True)}
    assert set(re.findall(r"memory_\w+", SKILL)) == known - {"memory_status"}


def test_its_calls_are_calls_of_the_tools() -> None:
    tools = {tool.name: tool for tool in mcp_tools.tools(True)}
    calls = re.findall(r"(memory_\w+)\((.*?)\)", SKILL.replace("\n", " "))
    assert calls
    for name, arguments in calls:
        given = dict.fromkeys(re.findall(r"(\w+)=", arguments))
        assert set(given) <= set(tools[name].parameters) and set(tools[name].required) <= set(given)


def test_its_command_is_the_one_that_is_scoped_and_framed() -> None:
    assert set(re.findall(r"`memory (\w+)", SKILL)) == {"context"} < set(COMMANDS)
    assert "<vault-memory>" in SKILL and SKILL.startswith("---\nname: vault-memory\ndescription: ")
