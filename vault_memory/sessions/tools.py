"""Owns which tools' transcripts can be read, and where each keeps them."""

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from vault_memory.config import Config
from vault_memory.sessions import claude_code, jsonl, openclaw
from vault_memory.sessions.source import Found
from vault_memory.startup import TOOLS


def root(tool: str, config: Config, environ: Mapping[str, str]) -> Path:
    """The folder of a tool's transcripts: what the settings name, else what the tool's own variables and custom say."""
    named = {
        "claude-code": config.sessions_claude_code, "opencode": config.sessions_opencode,
        "openclaw": config.sessions_openclaw,
    }[tool]  # fmt: skip
    if named:
        return named
    home = Path(environ.get("HOME") or os.path.expanduser("~"))
    if tool == "claude-code":
        return Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude") / "projects"
    if tool == "openclaw":
        return Path(environ.get("OPENCLAW_STATE_DIR") or home / ".openclaw") / "agents"
    return Path(environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "opencode"


def found(tool: str, folder: Path) -> Found:
    """The transcripts of a tool below its folder."""
    if tool == "opencode":
        from vault_memory.sessions import opencode

        return opencode.found(folder)
    return _JSONL[tool](folder)


_JSONL = {
    made.TOOL_NAME: partial(jsonl.found, pattern=made.PATTERN, is_transcript=made.is_transcript, parse=made.read)
    for made in (claude_code, openclaw)
}
assert set(_JSONL) | {"opencode"} == set(TOOLS)
