"""What doctor says of agents: whose vault it is, what is missing, whose hooks failed; nothing is written by it."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from test_install import SETTINGS, Home
from vaults import fill

from vault_memory.integrations import hook_log, settings_paths
from vault_memory.integrations.hook_log import Call, Log


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def told(home: Home, *names: str) -> list[dict[str, Any]]:
    """The checks of these names, by default of agents."""
    checks = json.loads(home.done("--json", "doctor"))["checks"]
    return [check for check in checks if check["name"] in (names or ("agents",))]


def test_without_agents_there_is_nothing_to_say(home: Home) -> None:
    home.put(".cursor/mcp.json", b'{"mcpServers": {"vault-memory": {"command": "npx", "args": ["mcp"]}}}')
    assert told(home, "agents", "hooks") == []


@pytest.mark.parametrize("agent", settings_paths.AGENTS)
def test_an_agent_that_has_this_vault_is_well(home: Home, agent: str) -> None:
    home.done("install", agent)
    before = home.files()
    (check,) = told(home)
    assert (check["level"], check["message"]) == ("ok", f"{settings_paths.NAMES[agent]} uses this vault")
    assert home.files().keys() == before.keys()


@pytest.mark.parametrize("agent", ["claude-code", "opencode", "vscode"])
def test_another_vault_is_named_by_its_path_only(home: Home, agent: str) -> None:
    other = fill(home.folder / "other", {"secret.md": "# 4711\n"})
    home.done("install", agent, "--scope", "project", vault=other)
    (check,) = told(home)
    name = settings_paths.NAMES[agent]
    assert check["message"] == f"{name} in this project uses the vault {other}, not this one"
    assert check["mend"].startswith(f"`memory install {agent} --scope project` switches") and "4711" not in str(check)
    home.done("install", agent, "--scope", "project")
    assert [check["level"] for check in told(home)] == ["ok"]


@pytest.mark.parametrize("agent", ["claude-code", "opencode", "cursor"])
def test_a_vault_that_is_gone_is_told(home: Home, agent: str) -> None:
    other = fill(home.folder / "other", {"b.md": "# B\n"})
    home.done("install", agent, vault=other)
    (other / "b.md").unlink()
    for part in sorted(other.rglob("*"), reverse=True):
        part.rmdir() if part.is_dir() else part.unlink()
    other.rmdir()
    (check,) = told(home)
    assert check["level"] == "warning" and f"uses the vault {other}, which does not exist" in check["message"]
    assert f"`memory install {agent}`" in check["mend"]


def test_a_program_that_is_gone_is_told(home: Home) -> None:
    home.done("install", "claude-code")
    file = home.folder / ".claude.json"
    document = json.loads(file.read_text())
    document["mcpServers"]["vault-memory"]["command"] = str(home.folder / "gone/bin/memory")
    file.write_text(json.dumps(document))
    (check,) = told(home)
    assert check["message"] == f"Claude Code starts {home.folder}/gone/bin/memory, which does not exist"
    home.done("install", "claude-code")
    assert [check["level"] for check in told(home)] == ["ok"]


def test_what_the_other_scope_has_is_not_missing(home: Home) -> None:
    home.done("install", "claude-code")
    server = json.loads((home.folder / ".claude.json").read_text())["mcpServers"]["vault-memory"]
    (home.project / ".mcp.json").write_text(json.dumps({"mcpServers": {"vault-memory": server}}))
    assert [check["level"] for check in told(home)] == ["ok", "ok"]


def test_a_projects_file_writes_no_line_of_its_own(home: Home) -> None:
    server = {"command": "/bin/x/memory", "args": ["--vault", "/no\nok  agents  all is well", "mcp"]}
    (home.project / ".mcp.json").write_text(json.dumps({"mcpServers": {"vault-memory": server}}))
    assert not any("\n" in check["message"] for check in told(home))
    assert any("/no ok agents all is well, which does not exist" in check["message"] for check in told(home))


def test_settings_that_cannot_be_read_are_no_obstacle(home: Home) -> None:
    home.put(SETTINGS, b"{")
    home.put(".cursor/mcp.json", b"\xff")
    (home.project / ".mcp.json").symlink_to("/dev/zero")
    (home.project / ".vscode").symlink_to("../elsewhere")
    assert told(home) == []


def failed(home: Home, why: str, vault: str = "", how: str = hook_log.FAILED) -> None:
    call = Call("claude-code", "UserPromptSubmit", vault or str(home.vault))
    Log(call, time.monotonic(), home.environ).write(why, how)


def test_hooks_that_fell_silent_are_told(home: Home) -> None:
    failed(home, "The disk is full.")
    failed(home, "The disk is full.")
    failed(home, "Secret of another.", str(home.folder / "other"))
    (check,) = told(home, "hooks")
    assert check["level"] == "warning" and check["message"].endswith(", 2 times in 7 days: The disk is full.")
    assert check["message"].startswith("claude-code UserPromptSubmit last failed on 2") and "hook.log" in check["mend"]
    failed(home, "Not done within 2 s.", how=hook_log.TOO_LATE)
    assert "`memory service install`" in told(home, "hooks")[0]["mend"]
    failed(home, "The prompt names nothing to look for.", how=hook_log.NOTHING_GIVEN)
    assert told(home, "hooks") == []
