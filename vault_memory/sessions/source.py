"""Owns what a transcript is to whoever keeps it up to date: a key, a stamp, and a reading that goes on where one ended.

Must not know what becomes of the messages. A tool's way of keeping its sessions is its own module's business.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

from vault_memory.sessions.message import Record


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


class Source(Protocol):
    """One session's transcript."""

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
class Found:
    """What a tool's folder holds; `cannot_tell` names what could not be looked at: absence there proves nothing."""

    sources: list[Source] = field(default_factory=list)
    is_gone: bool = False
    cannot_tell: list[str] = field(default_factory=list)
