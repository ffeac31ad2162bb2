"""Owns what readers of transcripts give, messages and what is known of a session, and how they make them. Pure."""

from datetime import UTC, date, datetime
from typing import Any, NamedTuple

from vault_memory.sessions.longlines import left_out_of

USER, ASSISTANT, TOOL = "User", "Assistant", "Tool"

LARGE_OUTPUT_BYTES = 64 * 1024
"""From here on a tool's output is told of by a note; a smaller one is left out as what it is, no part of the talk."""


class Message(NamedTuple):
    """Who said what, and on which local day where that is known."""

    speaker: str
    text: str
    day: date | None = None


class Record(NamedTuple):
    """What one record of a transcript holds: messages, and the session's title and working directory where it says.

    `outputs` counts those of tools, which are all left out; of the large ones a message tells.
    """

    messages: tuple[Message, ...] = ()
    title: str = ""
    folder: str = ""
    outputs: int = 0


NOTHING = Record()


def left_out(count: int) -> str:
    """The note in place of a tool's output."""
    return f"[tool output, {kilobytes(count)}, left out]"


def kilobytes(count: int) -> str:
    """`51,200 kB`."""
    return f"{max(count, 1023) // 1024:,} kB"


def day_of(stamp: Any) -> date | None:  # noqa: ANN401 - whatever JSON came
    """The local day of a time: an ISO text, or milliseconds since 1970; None for anything else."""
    try:
        if isinstance(stamp, str):
            return datetime.fromisoformat(stamp).astimezone().date()
        if isinstance(stamp, int | float) and not isinstance(stamp, bool):
            return datetime.fromtimestamp(stamp / 1000, UTC).astimezone().date()
    except (ValueError, OverflowError, OSError):
        pass
    return None


def text_of(value: Any) -> str:  # noqa: ANN401
    """A field that should be text; "" for any other."""
    return value if isinstance(value, str) else ""


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
