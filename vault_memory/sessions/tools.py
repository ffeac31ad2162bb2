"""Knows the tools whose transcripts can be read: where each keeps them, and what a record of theirs says.

Claude Code writes `~/.claude/projects/<folder>/<session>.jsonl`, OpenClaw
`~/.openclaw/agents/<agent>/sessions/<session>.jsonl`, each a record a line; opencode has a database (opencode.py).
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vault_memory.config import Config
from vault_memory.sessions import jsonl
from vault_memory.sessions.records import (
    NOTHING,
    SPEAKERS,
    Listing,
    Record,
    bytes_of,
    day_of,
    output_note,
    read_blocks,
    text_of,
)  # fmt: skip

_NOT_SAID = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
"""Flags of what nobody said: a subagent's, Claude Code's own, what is told again."""


def tool_folder(tool: str, config: Config, environ: Mapping[str, str]) -> Path:
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


def list_transcripts(tool: str, folder: Path) -> Listing:
    """The transcripts of a tool below its folder."""
    if tool == "opencode":
        from vault_memory.sessions import opencode

        return opencode.list_sessions(folder)
    if tool == "claude-code":  # `agent-*.jsonl` is a subagent's
        return jsonl.list_files(folder, "*", lambda name: not name.startswith("agent-"), _claude_code)
    # Checkpoints and archives have further dots.
    return jsonl.list_files(folder, "*/sessions", lambda name: "." not in name.removesuffix(".jsonl"), _openclaw)


def _claude_code(record: Mapping[str, Any]) -> Record:
    speaker = SPEAKERS.get(text_of(record.get("type")))
    message = record.get("message")
    folder = text_of(record.get("cwd"))
    if speaker is None or not isinstance(message, dict) or any(record.get(flag) for flag in _NOT_SAID):
        return NOTHING._replace(folder=folder)
    return read_blocks(speaker, message.get("content"), day_of(record.get("timestamp")))._replace(folder=folder)


def _openclaw(record: Mapping[str, Any]) -> Record:
    if record.get("type") == "session":
        return Record(folder=text_of(record.get("cwd")))
    message = record.get("message")
    if record.get("type") != "message" or not isinstance(message, dict):
        return NOTHING
    day = day_of(record.get("timestamp") or message.get("timestamp"))
    role, content = text_of(message.get("role")), message.get("content")
    if role in ("toolResult", "tool"):
        return Record(tuple(output_note(bytes_of(content), day)), outputs=1)
    return read_blocks(SPEAKERS[role], content, day) if role in SPEAKERS else NOTHING
