"""Owns the writing of a session's derived text: appended to, or made anew and put in the old one's place."""

import os
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import BinaryIO

from vault_memory.sessions import clean, transcript
from vault_memory.sessions.ledger import Known
from vault_memory.sessions.message import Message


class Writer:
    """Writes a derived file: appends to the one there is, or makes a new one and puts it in the old one's place."""

    def __init__(self, home: Path, before: Known, scope: Callable[[str], str], tool: str) -> None:
        self._file, self._scope, self._tool = home / before.path, scope, tool
        self.known = before
        self.title, self.folder = "", ""
        self.added = 0
        self._day: date | None = before.last_day
        self._handle: BinaryIO | None = None
        self._part: Path | None = None

    def __enter__(self) -> "Writer":
        return self

    def add(self, message: Message) -> None:
        """Write a message, if somebody said something in it."""
        words = clean.words(message.text)
        if not words:
            return
        if self._handle is None:
            self._handle = self._opened(words, message.day)
        line = transcript.line(message._replace(text=words), self._day).encode()
        self._handle.write(line)
        self._day = message.day or self._day
        self.added += 1
        messages, size = self.known.messages + 1, self.known.size + len(line)
        self.known = self.known._replace(messages=messages, size=size, day=str(self._day or ""))

    def _opened(self, words: str, day: date | None) -> BinaryIO:
        if self.known.messages:
            os.truncate(self._file, self.known.size)  # what a sweep that was killed wrote besides
            return open(self._file, "ab")
        self._part = self._file.with_name(f".{self._file.name}.part")
        self._part.unlink(missing_ok=True)
        handle = os.fdopen(os.open(self._part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
        head = transcript.head(self._tool, self.title or words, day, self._scope(self.folder)).encode()
        handle.write(head)
        self.known = self.known._replace(size=len(head), title=self.title)
        return handle

    def __exit__(self, kind: object, *_: object) -> None:
        if self._handle:
            self._handle.close()
        if self._part and kind is None:
            os.replace(self._part, self._file)
        elif self._part:
            self._part.unlink(missing_ok=True)
