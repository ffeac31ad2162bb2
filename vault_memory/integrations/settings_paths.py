"""Which files each agent reads its settings from, on each system, and what of ours goes into them. Reads none.

Places and shapes are those of each program's manual; a test compares them with what the manuals show.
"""

import contextlib
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from vault_memory.errors import UsageError
from vault_memory.integrations.settings_edit import NAME, Entry, is_program
from vault_memory.text.scope_syntax import AGENT_NOTES

NAMES = {
    "claude-code": "Claude Code", "opencode": "opencode", "claude-desktop": "Claude Desktop", "cursor": "Cursor",
    "vscode": "VS Code",
}  # fmt: skip
AGENTS = tuple(NAMES)
SCOPES = ("user", "project")

CLAUDE_CODE_EVENTS = ("SessionStart", "UserPromptSubmit", "PreCompact", "PostCompact", "Stop", "SessionEnd")

TIMEOUT_MARGIN_SECONDS = 8
"""What Claude Code waits for a hook beyond its own deadline: a machine that wakes up is slow to start Python."""


@dataclass(frozen=True)
class InstallPlace:
    """For whom it is installed: the user, or a project."""

    scope: str
    project: Path
    environ: Mapping[str, str]

    @property
    def is_user(self) -> bool:
        return self.scope == "user"

    @property
    def claude_folder(self) -> Path:
        """The user's folder of Claude Code."""
        named = self.environ.get("CLAUDE_CONFIG_DIR", "")
        return Path(named) if os.path.isabs(named) else self.home / ".claude"

    @property
    def home(self) -> Path:
        return Path(self.environ.get("HOME") or os.path.expanduser("~"))

    def application(self, name: str) -> Path:
        """The folder in which a desktop program keeps its settings."""
        if sys.platform == "darwin":
            return self.home / "Library" / "Application Support" / name
        if sys.platform == "win32":
            return Path(self.environ.get("APPDATA") or self.home / "AppData" / "Roaming") / name
        return self.config / name

    @property
    def config(self) -> Path:
        named = self.environ.get("XDG_CONFIG_HOME", "")
        return Path(named) if os.path.isabs(named) else self.home / ".config"


class Program(NamedTuple):
    """What is to be run: the program with the vault it is for; a hook has so many seconds."""

    words: tuple[str, ...]
    hook_seconds: float


class SettingsFile(NamedTuple):
    """A JSON file and what of ours it holds."""

    file: Path
    entries: Sequence[Entry]


class Script(NamedTuple):
    """A file that is ours as a whole: the template it is made from, and what is filled in."""

    file: Path
    template: str
    values: Mapping[str, str]


class InstallTarget(NamedTuple):
    """All that one agent gets."""

    settings: tuple[SettingsFile, ...]
    scripts: tuple[Script, ...] = ()
    within: Path | None = None
    """The project that all of it must lie in, links followed."""


def target(agent: str, place: InstallPlace, program: Program, notes: Path | None = None) -> InstallTarget:
    """What goes where for an agent; raises UsageError where it has no such scope.

    `notes` is where Claude Code is to keep its own notes of the project; None leaves that as it is.
    """
    make = {"claude-code": _claude_code, "opencode": _opencode}.get(agent)
    found = make(place, program) if make else InstallTarget((_server_settings(agent, place, program),))
    if notes and agent == "claude-code" and not place.is_user:
        entry = Entry((), str(notes), _notes_words, key="autoMemoryDirectory")
        settings = SettingsFile(place.project / ".claude" / "settings.local.json", [entry])
        found = found._replace(settings=(*found.settings, settings))
    return found._replace(within=None if place.is_user else place.project)


def _server_settings(agent: str, place: InstallPlace, program: Program) -> SettingsFile:
    """The settings of an agent that takes an MCP server alone."""
    value = _server_value(program)
    if agent == "vscode":
        folder = place.application("Code") / "User" if place.is_user else place.project / ".vscode"
        return SettingsFile(folder / "mcp.json", [_server("servers", value)])
    if agent == "cursor":
        folder = place.home if place.is_user else place.project
        return SettingsFile(folder / ".cursor" / "mcp.json", [_server("mcpServers", value)])
    if not place.is_user:
        raise UsageError("Claude Desktop has no project settings.", "Install it with --scope user.")
    del value["type"]
    return SettingsFile(place.application("Claude") / "claude_desktop_config.json", [_server("mcpServers", value)])


def _server_value(program: Program) -> dict[str, Any]:
    command, *arguments = (*program.words, "mcp")
    return {"type": "stdio", "command": command, "args": arguments}


def _claude_code(place: InstallPlace, program: Program) -> InstallTarget:
    server = _server("mcpServers", _server_value(program))
    if place.is_user:
        folder = place.claude_folder
        servers = (folder if os.path.isabs(place.environ.get("CLAUDE_CONFIG_DIR", "")) else place.home) / ".claude.json"
    else:
        folder, servers = place.project / ".claude", place.project / ".mcp.json"
    settings = SettingsFile(folder / "settings.json", _hooks(program)), SettingsFile(servers, [server])
    return InstallTarget(settings, (_skill(folder),))


def _hooks(program: Program) -> list[Entry]:
    """Claude Code's hooks."""
    wait = int(program.hook_seconds) + TIMEOUT_MARGIN_SECONDS
    made = []
    for event in CLAUDE_CODE_EVENTS:
        words = (*program.words, "hook", "claude-code", event)
        line = subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)
        value = {"type": "command", "command": line, "timeout": wait}
        made.append(Entry(("hooks", event), value, _hook_words))
    return made


def _hook_words(hook: Any) -> list[str]:  # noqa: ANN401
    line = hook.get("command") if isinstance(hook, dict) else None
    words: list[str] = []
    with contextlib.suppress(ValueError):  # a quote without its other half
        words = shlex.split(line, posix=sys.platform != "win32") if isinstance(line, str) else []
    if sys.platform == "win32":  # there the quotes around a word are not taken off
        words = [word.strip('"') for word in words]
    return words if is_program(words) and words[-3:-1] == ["hook", "claude-code"] else []


def _opencode(place: InstallPlace, program: Program) -> InstallTarget:
    base = place.config / "opencode" if place.is_user else place.project
    commented = base / "opencode.jsonc"
    file = commented if commented.exists() and not (base / "opencode.json").exists() else base / "opencode.json"
    value = {"type": "local", "command": [*program.words, "mcp"], "enabled": True}
    folder = base if place.is_user else base / ".opencode"
    wait = str(int(program.hook_seconds * 1000) + 3000)
    words = json.dumps([*program.words, "hook", "opencode"])
    plugin = Script(folder / "plugins" / "vault-memory.js", "opencode.js", {"command": words, "wait": wait})
    settings = SettingsFile(file, [_server("mcp", value)])
    return InstallTarget((settings,), (plugin, _skill(folder)))


def _notes_words(value: Any) -> list[str]:  # noqa: ANN401 - settings can hold anything
    """What names the vault that Claude Code keeps its notes in."""
    folder = Path(value) if isinstance(value, str) else Path()
    is_ours = folder.parent.parts[-2:] == Path(AGENT_NOTES).parts
    return [NAME, "--vault", str(folder.parents[2])] if is_ours else []


def _skill(folder: Path) -> Script:
    return Script(folder / "skills" / NAME / "SKILL.md", "SKILL.md", {})


def _server(holder: str, value: Mapping[str, Any]) -> Entry:
    return Entry((holder,), value, _server_words, key=NAME)


def _server_words(value: Any) -> list[Any]:  # noqa: ANN401 - settings can hold anything
    if not isinstance(value, dict):
        return []
    command, arguments = value.get("command"), value.get("args", [])
    words = list(command) if isinstance(command, list) else [command]
    words += arguments if isinstance(arguments, list) else []
    return words if is_program(words) and "mcp" in words else []
