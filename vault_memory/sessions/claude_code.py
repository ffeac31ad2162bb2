"""Owns what Claude Code's transcripts say: a record of JSON in, messages out. Pure but for finding the files.

`~/.claude/projects/<folder>/<session>.jsonl`, a record a line. What is a subagent's (`isSidechain`, `agent-*.jsonl`),
the tool's own (`isMeta`) or told again (`isCompactSummary`) was said by nobody.
"""

from collections.abc import Mapping
from typing import Any

from vault_memory.sessions.message import ASSISTANT, NOTHING, USER, Record, day_of, said, text_of

TOOL_NAME = "claude-code"
PATTERN = "*/*.jsonl"
_SPEAKERS = {"user": USER, "assistant": ASSISTANT}
_NOT_SAID = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")


def is_transcript(name: str) -> bool:
    """Whether a file of that name is a session's."""
    return not name.startswith("agent-")


def read(record: Mapping[str, Any]) -> Record:
    """What a record says."""
    speaker = _SPEAKERS.get(text_of(record.get("type")))
    message = record.get("message")
    folder = text_of(record.get("cwd"))
    if speaker is None or not isinstance(message, dict) or any(record.get(flag) for flag in _NOT_SAID):
        return NOTHING._replace(folder=folder)
    day = day_of(record.get("timestamp"))
    content = message.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return said(speaker, blocks, day)._replace(folder=folder)
