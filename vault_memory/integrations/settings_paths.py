"""The settings files of each agent on each system, and our entries for them. Reads no file's contents.

Paths and formats follow each program's manual; a test compares them with examples from the manuals.
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
"""How long Claude Code waits beyond a hook's own deadline: a computer that is waking up is slow to start Python."""


@dataclass(frozen=True)
class InstallPlace:
    """Where to install: for the user, or in a project."""

    scope: str
    project: Path
    environ: Mapping[str, str]

    @property
    def is_user(self) -> bool:
        return self.scope == "user"

    @property
    def claude_folder(self) -> Path:
        """The user's Claude Code folder."""
        named = self.environ.get("CLAUDE_CONFIG_DIR", "")
        return Path(named) if os.path.isabs(named) else self.home / ".claude"

    @property
    def home(self) -> Path:
        return Path(self.environ.get("HOME") or os.path.expanduser("~"))

    def application(self, name: str) -> Path:
        """Return the folder in which a desktop program keeps its settings."""
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
    """The command line of this program, including the vault, and the time limit of its hooks."""

    words: tuple[str, ...]
    hook_seconds: float


class SettingsFile(NamedTuple):
    """A JSON file and our entries in it."""

    file: Path
    entries: Sequence[Entry]


class Script(NamedTuple):
    """A file that is entirely ours: its template and the values to fill in."""

    file: Path
    template: str
    values: Mapping[str, str]


class InstallTarget(NamedTuple):
    """All files to install for one agent."""

    settings: tuple[SettingsFile, ...]
    scripts: tuple[Script, ...] = ()
    within: Path | None = None
    """The project that must contain all of them after links are resolved."""


def target(agent: str, place: InstallPlace, program: Program, notes: Path | None = None) -> InstallTarget:
    """Return what to install where for an agent; raises UsageError if the agent does not have this scope.

    `notes` is the folder in which Claude Code is to keep its own notes on the project; None does not set it.
    """
    make = {"claude-code": _claude_code, "opencode": _opencode}.get(agent)
    found = make(place, program) if make else InstallTarget((_server_settings(agent, place, program),))
    if notes and agent == "claude-code" and not place.is_user:
        entry = Entry((), str(notes), _notes_words, key="autoMemoryDirectory")
        settings = SettingsFile(place.project / ".claude" / "settings.local.json", [entry])
        found = found._replace(settings=(*found.settings, settings))
    return found._replace(within=None if place.is_user else place.project)


def _server_settings(agent: str, place: InstallPlace, program: Program) -> SettingsFile:
    """Return the settings file of an agent that supports only an MCP server."""
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
    """Return the entries for Claude Code's hooks; a timeout that the owner set is kept unless it is too short."""

    def keeps(name: str, value: Any) -> bool:  # noqa: ANN401 - settings can hold anything
        return name == "timeout" and isinstance(value, int | float) and value >= program.hook_seconds

    wait = int(program.hook_seconds) + TIMEOUT_MARGIN_SECONDS
    made = []
    for event in CLAUDE_CODE_EVENTS:
        words = (*program.words, "hook", "claude-code", event)
        line = subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)
        value = {"type": "command", "command": line, "timeout": wait}
        made.append(Entry(("hooks", event), value, _hook_words, keeps=keeps))
    return made


def _hook_words(hook: Any) -> list[str]:  # noqa: ANN401
    line = hook.get("command") if isinstance(hook, dict) else None
    words: list[str] = []
    with contextlib.suppress(ValueError):  # an unbalanced quote
        words = shlex.split(line, posix=sys.platform != "win32") if isinstance(line, str) else []
    if sys.platform == "win32":  # non-POSIX splitting keeps the quotes around a word
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
    """Return words that name the vault in which Claude Code keeps its notes; none if the folder is not ours."""
    folder = Path(value) if isinstance(value, str) else Path()
    is_ours = folder.parent.parts[-2:] == Path(AGENT_NOTES).parts
    return [NAME, "--vault", str(folder.parents[2])] if is_ours else []


def _skill(folder: Path) -> Script:
    return Script(folder / "skills" / NAME / "SKILL.md", "SKILL.md", {})


def _server(holder: str, value: Mapping[str, Any]) -> Entry:
    return Entry((holder,), value, _server_words, key=NAME, keeps=lambda name, _: name == "enabled")


def _server_words(value: Any) -> list[Any]:  # noqa: ANN401 - settings can hold anything
    if not isinstance(value, dict):
        return []
    command, arguments = value.get("command"), value.get("args", [])
    words = list(command) if isinstance(command, list) else [command]
    words += arguments if isinstance(arguments, list) else []
    return words if is_program(words) and "mcp" in words else []
