"""The labelled corpus: its format (GUIDE.md), read and checked."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "corpus"
CATEGORIES = ("profile", "preferences", "entities", "events", "cases", "patterns")
_HEAD = ("writer", "language", "genre", "about")
_SESSION_LINE = re.compile(rf"([RCWOSB])(?: ({'|'.join(CATEGORIES)}))?: (.*\S)|([PXN])(): (.*\S)")
_LOG_LINE = re.compile(rf"([KM]) ([WOSBC])(?: ({'|'.join(CATEGORIES)}))?: (.*\S)|(N)()(): (.*\S)")


@dataclass(frozen=True)
class Labelled:
    """One sentence of a message, or one line of a log.

    `label` is a letter of a session (R P X C W O S B N), or the kind of a log's line (W O S B C, N where it says none);
    `keep` is K, M or N of a log's line and empty in a session.
    """

    text: str
    label: str
    category: str
    keep: str = ""


@dataclass(frozen=True)
class Block:
    """One message with the agent's last sentence, or one day of a log."""

    agent: str
    lines: tuple[Labelled, ...]


@dataclass(frozen=True)
class Voice:
    """One file: everything that one writer wrote in one language and genre."""

    writer: str
    language: str
    genre: str
    blocks: tuple[Block, ...]

    @property
    def size(self) -> int:
        return sum(len(block.lines) for block in self.blocks)


def read_voice(path: Path) -> Voice:
    """One corpus file.

    Raises ValueError, naming file and line, for a line that GUIDE.md does not allow.
    """
    texts = path.read_text(encoding="utf-8").split("\n\n")
    head = dict(line.split(": ", 1) for line in texts[0].strip().split("\n") if ": " in line)
    if tuple(head) != _HEAD or head["genre"] not in ("session", "log"):
        raise ValueError(f"{path.name}: the head must be {', '.join(_HEAD)}; genre session or log")
    blocks = [_block(path.name, head["genre"], text.strip("\n").split("\n")) for text in texts[1:] if text.strip()]
    return Voice(head["writer"], head["language"], head["genre"], tuple(blocks))


def _block(name: str, genre: str, lines: list[str]) -> Block:
    agent = ""
    if genre == "session" and lines[0].startswith("> "):
        agent = lines.pop(0)[2:].strip()
    return Block(agent, tuple(_labelled(name, genre, line) for line in lines))


def _labelled(name: str, genre: str, line: str) -> Labelled:
    found = (_SESSION_LINE if genre == "session" else _LOG_LINE).fullmatch(line)
    if found is None:
        raise ValueError(f"{name}: not a labelled line: {line!r}")
    if genre == "session":
        label, category, text = (group or "" for group in (found[1] or found[4], found[2], found[3] or found[6]))
        return Labelled(text, label, category)
    keep, kind, category, text = found.groups()[:4] if found[1] else ("N", "N", "", found[8])
    return Labelled(text, kind, category or "", keep)


def read_corpus(folder: Path = FOLDER) -> list[Voice]:
    """Every voice, in the order of file names."""
    return [read_voice(path) for path in sorted(folder.glob("*.txt"))]


def _summary(voices: list[Voice]) -> Iterator[str]:
    for voice in voices:
        labels = Counter(line.keep or line.label for block in voice.blocks for line in block.lines)
        shares = "  ".join(f"{label} {count / voice.size:.0%}" for label, count in labels.most_common())
        yield f"{voice.writer:24} {voice.language} {voice.genre:7} {voice.size:5}  {shares}"
    yield f"{sum(voice.size for voice in voices)} lines by {len(voices)} voices"


if __name__ == "__main__":
    chosen = [Path(name) for name in sys.argv[1:]]
    print("\n".join(_summary([read_voice(path) for path in chosen] if chosen else read_corpus())))
