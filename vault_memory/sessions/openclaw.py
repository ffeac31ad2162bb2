"""Owns what OpenClaw's transcripts say: a record of JSON in, messages out. Pure.

`~/.openclaw/agents/<agent>/sessions/<session>.jsonl`: a record `session` first, then `message` records among others.
"""

from collections.abc import Mapping
from typing import Any

from vault_memory.sessions.message import ASSISTANT, NOTHING, USER, Record, bytes_of, day_of, noted, said, text_of

TOOL_NAME = "openclaw"
PATTERN = "*/sessions/*.jsonl"
_SPEAKERS = {"user": USER, "assistant": ASSISTANT}


def is_transcript(name: str) -> bool:
    """Whether a file of that name is a session's: checkpoints and archives have further dots."""
    return "." not in name.removesuffix(".jsonl")


def read(record: Mapping[str, Any]) -> Record:
    """What a record says."""
    if record.get("type") == "session":
        return Record(folder=text_of(record.get("cwd")))
    message = record.get("message")
    if record.get("type") != "message" or not isinstance(message, dict):
        return NOTHING
    day = day_of(record.get("timestamp") or message.get("timestamp"))
    role, content = text_of(message.get("role")), message.get("content")
    if role in ("toolResult", "tool"):
        return Record(tuple(noted(bytes_of(content), day)), outputs=1)
    if role not in _SPEAKERS:
        return NOTHING
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return said(_SPEAKERS[role], blocks, day)
