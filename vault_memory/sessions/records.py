"""Defines what readers of transcripts give: messages, records, and a reading that goes on where the last one ended."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, NamedTuple, Protocol

USER, ASSISTANT, TOOL = "User", "Assistant", "Tool"
SPEAKERS = {"user": USER, "assistant": ASSISTANT}

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


@dataclass
class Reading:
    """One reading of a transcript: its records, and after the last of them where it ended.

    `is_anew` says that what was read before no longer holds, and all is read; `skipped` counts what was corrupt;
    `is_unfinished` that it ends within a record. After `deadline` (time.monotonic) no further record is given, and it
    `is_cut`; where it `waits`, there is more to read later though nothing need change until then.
    """

    records: Iterator[Record]
    is_anew: bool
    mark: str = ""
    skipped: int = 0
    bytes_read: int = 0
    is_unfinished: bool = False
    deadline: float = float("inf")
    is_cut: bool = False
    waits: bool = False


class Transcript(Protocol):
    """One session's transcript, as its tool keeps it."""

    @property
    def key(self) -> str:
        """By which it is known among its tool's: a path below the tool's folder, or an id."""

    @property
    def name(self) -> str:
        """What its session is called."""

    @property
    def title(self) -> str:
        """What its tool calls it, where that is known without reading; else ""."""

    @property
    def file(self) -> str:
        """Where it lies, as hooks name it."""

    @property
    def stamp(self) -> str:
        """What changes whenever the transcript does; found without reading it."""

    @property
    def glance(self) -> str:
        """What changes whenever something is appended; found in no time, for a question that waits."""

    def read(self, mark: str) -> Reading:
        """Read on from where a reading with that mark ended ("": from the beginning); raises OSError."""


@dataclass
class Listing:
    """What a tool's folder holds; `unreadable` names what could not be looked at: absence there proves nothing."""

    sources: list[Transcript] = field(default_factory=list)
    is_gone: bool = False
    unreadable: list[str] = field(default_factory=list)


# --- fields of JSON --------------------------------------------------------------------------------------------------


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


def read_blocks(speaker: str, content: Any, day: date | None) -> Record:  # noqa: ANN401
    """What blocks of content, or a text, say: one message, and a note for each large output of a tool."""
    found: list[Message] = []
    texts = [content] if isinstance(content, str) else []
    outputs = 0
    for block in content if isinstance(content, list) else ():
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "text":
            texts.append(text_of(block.get("text")))
        elif kind in ("tool_result", "toolResult"):
            outputs += 1
            found += output_note(bytes_of(block.get("content")), day)
    if any(texts):
        found.append(Message(speaker, "\n".join(texts), day))
    return Record(tuple(found), outputs=outputs)


def output_note(size: int, day: date | None = None) -> list[Message]:
    """The note in place of a tool's output, where it is a large one."""
    return [Message(TOOL, f"[tool output, {kilobytes(size)}, left out]", day)] if size >= LARGE_OUTPUT_BYTES else []


def kilobytes(count: int) -> str:
    """`51,200 kB`."""
    return f"{max(count, 1023) // 1024:,} kB"


def bytes_of(content: Any) -> int:  # noqa: ANN401
    """How large the texts in a piece of content are."""
    if isinstance(content, str):
        return len(content.encode("utf-8", "replace"))
    parts = content.values() if isinstance(content, dict) else content if isinstance(content, list) else ()
    return sum(map(bytes_of, parts))
