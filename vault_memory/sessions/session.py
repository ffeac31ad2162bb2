"""Reads a session from its derived text: its head, and its messages one a line."""

import json
import re
from datetime import date
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from vault_memory.sessions import transcript
from vault_memory.text.agent_frame import unquoted
from vault_memory.text.own_words import SessionTurn

_LINE = re.compile(r"- (?:\[(?P<day>\d{4}-\d\d-\d\d)\] )?(?P<speaker>User|Assistant|Tool): (?P<text>.*)")


class Session(NamedTuple):
    """A session; `path` is its derived file, `key` its transcript's key, `id` the tool's own id."""

    path: str
    tool: str
    key: str
    id: str
    scope: str
    title: str
    messages: tuple[SessionTurn, ...]
    length: int
    """The number of its last entry, summaries included, which are not in `messages`."""

    @property
    def name(self) -> str:
        """The name used in citations: `sessions/claude-code/<id>`."""
        return transcript.public_name(self.path)


def read_session(home: Path, tool: str, key: str, path: str) -> Session:
    """Read a derived text; raises OSError or ValueError."""
    messages, length = [], 0
    with open(home / path, encoding="utf-8") as lines:
        head = dict(line.rstrip().partition(": ")[::2] for line in islice(lines, transcript.HEAD_LINES))
        day = date.fromisoformat(head["date"]) if head.get("date") else None
        for length, line in enumerate(lines, start=1):
            if turn := read_turn(line, length, day):
                messages.append(turn)
                day = turn.day
    scope, title = (str(json.loads(head.get(name, '""'))) for name in ("scope", "title"))
    return Session(path, tool, key, Path(key).stem, scope, title, tuple(messages), length)


def read_turn(line: str, number: int, day: date | None) -> SessionTurn | None:
    """The message on a line of a derived text; `day` is that of the message before it. None for a summary."""
    if found := _LINE.match(line):
        day = date.fromisoformat(found["day"]) if found["day"] else day
        text = unquoted(found["text"]).replace(transcript.BREAK, "\n")
        return SessionTurn(number, found["speaker"] == "User", text, day)
    return None
