"""Owns what Claude Code's transcripts say: a record of JSON in, messages out. Pure but for finding the files.

`~/.claude/projects/<folder>/<session>.jsonl`, a record a line. What is a subagent's (`isSidechain`, `agent-*.jsonl`),
the tool's own (`isMeta`) or told again (`isCompactSummary`) was said by nobody.
"""

from collections.abc import Mapping
from datetime import date
from typing import Any

from vault_memory.conversations.longlines import left_out_of
from vault_memory.conversations.message import (
    ASSISTANT,
    LARGE_OUTPUT_BYTES,
    NOTHING,
    TOOL,
    USER,
    Message,
    Record,
    day_of,
    left_out,
    text_of,
)

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


def said(speaker: str, blocks: Any, day: date | None) -> Record:  # noqa: ANN401 - whatever JSON came
    """What blocks of content say: their texts as one message, and a note for each large output of a tool."""
    found: list[Message] = []
    texts: list[str] = []
    outputs = 0
    for block in blocks if isinstance(blocks, list) else ():
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "text":
            texts.append(text_of(block.get("text")))
        elif kind in ("tool_result", "toolResult"):
            outputs += 1
            found += noted(bytes_of(block.get("content")), day)
    if any(texts):
        found.append(Message(speaker, "\n".join(texts), day))
    return Record(tuple(found), outputs=outputs)


def noted(size: int, day: date | None) -> list[Message]:
    """The note in place of a tool's output, where it is a large one."""
    return [Message(TOOL, left_out(size), day)] if size >= LARGE_OUTPUT_BYTES else []


def bytes_of(content: Any) -> int:  # noqa: ANN401
    """How large the texts in a piece of content are, with what was left out of them unread."""
    if isinstance(content, str):
        return len(content.encode("utf-8", "replace")) + left_out_of(content)
    parts = content.values() if isinstance(content, dict) else content if isinstance(content, list) else ()
    return sum(map(bytes_of, parts))
