"""The test set in several scripts: `tests/scripts/*.txt`, each a small vault and questions about it.

`=== path` begins a note, `=== questions seen|unseen` a half of the questions (`question | words of the line that
answers it`). Terms and stop words were mended while looking at the seen half; the unseen half was asked afterwards.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "scripts"
NOW = "2025-06-20T12:00:00Z"


class Asked(NamedTuple):
    """A question and words that only the right line holds."""

    half: str
    question: str
    answer: str


class Language(NamedTuple):
    """Notes by path, and the questions about them."""

    name: str
    notes: dict[str, str]
    questions: list[Asked]

    def write(self, root: Path) -> None:
        """Make the vault below `root`."""
        for path, text in self.notes.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text, "utf-8")


def languages() -> list[Language]:
    """Every language of the set, by name."""
    return [_language(path) for path in sorted(FOLDER.glob("*.txt"))]


def _language(path: Path) -> Language:
    found = Language(path.stem, {}, [])
    for block in path.read_text("utf-8").split("=== ")[1:]:
        head, _, body = block.partition("\n")
        if head.startswith("questions "):
            found.questions.extend(_questions(head.split()[1], body))
        else:
            found.notes[head] = body
    return found


def _questions(half: str, body: str) -> Iterator[Asked]:
    for line in body.splitlines():
        question, _, answer = line.partition(" | ")
        yield Asked(half, question, answer)
