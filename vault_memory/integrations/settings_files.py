"""Owns which files an agent reads its settings from, on each system, and what of ours goes into them. Reads none.

Places and shapes are those of each program's manual; a test compares them with what the manuals show.
"""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from vault_memory.errors import UsageError
from vault_memory.integrations import claude_code
from vault_memory.integrations.entries import NAME, Entry, is_program

NAMES = {
    "claude-code": "Claude Code", "opencode": "opencode", "claude-desktop": "Claude Desktop", "cursor": "Cursor",
    "vscode": "VS Code",
}  # fmt: skip
AGENTS = tuple(NAMES)
SCOPES = ("user", "project")


@dataclass(frozen=True)
class Place:
    """For whom it is installed: the user's folders by their variables, and the project's folder."""

    scope: str
    project: Path
    environ: Mapping[str, str]

    @property
    def is_user(self) -> bool:
        return self.scope == "user"

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
    """What is to be run: `words` are the program with the vault it is for; a hook has so many seconds."""

    words: tuple[str, ...]
    hook_seconds: float


class Settings(NamedTuple):
    """A JSON file and what of ours it holds; `comments` where its program allows them."""

    file: Path
    entries: Sequence[Entry]
    comments: bool = False


class Script(NamedTuple):
    """A file that is ours as a whole: the template it is made from, and what is filled in."""

    file: Path
    template: str
    values: Mapping[str, str]


class Switch(NamedTuple):
    """A member of a settings file that, where it is true, switches the agent's hooks off."""

    file: Path
    name: str


class Target(NamedTuple):
    """All that one agent gets."""

    settings: tuple[Settings, ...]
    scripts: tuple[Script, ...] = ()
    switches: tuple[Switch, ...] = ()
    within: Path | None = None
    """The project that all of it must lie in, links followed."""


def target(agent: str, place: Place, program: Program) -> Target:
    """What goes where for an agent; raises UsageError where it has no such scope."""
    return _target(agent, place, program)._replace(within=None if place.is_user else place.project)


def _target(agent: str, place: Place, program: Program) -> Target:
    if agent == "claude-code":
        return _claude_code(place, program)
    if agent == "opencode":
        return _opencode(place, program)
    command, *arguments = (*program.words, "mcp")
    value: dict[str, Any] = {"type": "stdio", "command": command, "args": arguments}
    if agent == "vscode":
        folder = place.application("Code") / "User" if place.is_user else place.project / ".vscode"
        return Target((Settings(folder / "mcp.json", [_server("servers", value)], comments=True),))
    if agent == "cursor":
        folder = place.home if place.is_user else place.project
        return Target((Settings(folder / ".cursor" / "mcp.json", [_server("mcpServers", value)], comments=True),))
    if not place.is_user:
        raise UsageError("Claude Desktop has no settings of a project.", "Install it with --scope user.")
    del value["type"]
    file = place.application("Claude") / "claude_desktop_config.json"
    return Target((Settings(file, [_server("mcpServers", value)]),))


def _claude_code(place: Place, program: Program) -> Target:
    command, *arguments = (*program.words, "mcp")
    server = _server("mcpServers", {"type": "stdio", "command": command, "args": arguments})
    named = place.environ.get("CLAUDE_CONFIG_DIR", "")
    if place.is_user:
        folder = Path(named) if os.path.isabs(named) else place.home / ".claude"
        servers = folder / ".claude.json" if os.path.isabs(named) else place.home / ".claude.json"
    else:
        folder, servers = place.project / ".claude", place.project / ".mcp.json"
    hooks = claude_code.entries(program.words, program.hook_seconds)
    skill = Script(folder / "skills" / NAME / "SKILL.md", "SKILL.md", {})
    names = ["settings.json", *([] if place.is_user else ["settings.local.json"])]
    switches = tuple(Switch(folder / name, claude_code.OFF) for name in names)
    return Target((Settings(folder / "settings.json", hooks), Settings(servers, [server])), (skill,), switches)


def _opencode(place: Place, program: Program) -> Target:
    base = place.config / "opencode" if place.is_user else place.project
    commented = base / "opencode.jsonc"
    file = commented if commented.exists() and not (base / "opencode.json").exists() else base / "opencode.json"
    value = {"type": "local", "command": [*program.words, "mcp"], "enabled": True}
    plugins = (base if place.is_user else base / ".opencode") / "plugins"
    wait = str(int(program.hook_seconds * 1000) + 3000)
    words = json.dumps([*program.words, "hook", "opencode"])
    script = Script(plugins / "vault-memory.js", "opencode.js", {"command": words, "wait": wait})
    return Target((Settings(file, [_server("mcp", value)], comments=True),), (script,))


def _server(holder: str, value: Mapping[str, Any]) -> Entry:
    return Entry((holder,), value, _words, key=NAME, keeps=lambda name, _: name == "enabled")


def _words(value: Any) -> list[Any]:  # noqa: ANN401 - settings can hold anything
    """The command line of a server of ours."""
    if not isinstance(value, dict):
        return []
    command, arguments = value.get("command"), value.get("args", [])
    words = list(command) if isinstance(command, list) else [command]
    words += arguments if isinstance(arguments, list) else []
    return words if is_program(words) and "mcp" in words else []
