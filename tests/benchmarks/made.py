"""Made-up vaults: the same notes for the same numbers, of any size, with words as unevenly used as real ones.

Words come from the builtin embedder's vocabulary, drawn by Zipf's law; a third of a note's words are its topic's, so
that meaning has neighbourhoods. Three kinds of note take turns: daily logs with facts, prose, technical notes.
"""

from bisect import bisect
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache
from itertools import accumulate
from pathlib import Path
from random import Random

from vault_memory.embedding.builtin_embedder import BUILTIN_PATH, TokenTable

TOPICS, TOPIC_WORDS, TOPIC_SHARE = 400, 40, 0.33
ZIPF_SHIFT = 2.7
"""Mandelbrot's correction: the commonest words of English are less common than 1/rank says."""
PEOPLE = ("Alma", "Boris", "Chidi", "Dora", "Emil", "Farah", "Goran", "Hanna", "Ines", "Jonas", "Kira", "Luis")
FIRST_DAY = date(2020, 1, 1)


def write(root: Path, notes: int, passages_each: int = 12, seed: int = 1) -> None:
    """Write notes number 0 to `notes`; with another seed the same paths get other words."""
    for number in range(notes):
        path, text = note(number, passages_each, seed)
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")


def note(number: int, passages_each: int, seed: int = 1) -> tuple[str, str]:
    """The path and text of one note."""
    random = Random(f"{seed}/{number}")
    writer = _Writer(random, topic(random.randrange(TOPICS)))
    if number % 3 == 0:
        day = FIRST_DAY + timedelta(days=number // 3)
        return f"memory/{day}.md", f"# {day}\n" + "\n".join(writer.log(passages_each)) + "\n"
    if number % 3 == 1:
        return f"notes/{number // 300}/prose {number}.md", "\n\n".join(writer.prose(passages_each)) + "\n"
    return f"work/{number // 300}/tech {number}.md", "\n".join(writer.technical(passages_each)) + "\n"


def questions(count: int, notes: int, seed: int = 7) -> list[str]:
    """Questions as people ask them, about topics of the vault."""
    random = Random(seed)
    asked = []
    for number in range(count):
        subject = topic(Random(f"1/{random.randrange(notes)}").randrange(TOPICS))
        one, two, three = random.sample(subject, 3)
        forms = (
            f"what did {random.choice(PEOPLE)} say about the {one} and the {two}?",
            f"when was the {one} {two} finished?",
            f"{one} {two} {three}",
            f"last time we tried the {one}",
            one,
        )
        asked.append(forms[number % len(forms)])
    return asked


@cache
def words() -> tuple[str, ...]:
    """Whole words of the vocabulary in a fixed shuffled order: the earlier, the commoner."""
    table = TokenTable(BUILTIN_PATH)
    found = [text for row in range(table.count) if (text := table[row].decode()).isascii() and text.isalpha()]
    found = [word for word in found if len(word) > 2]
    Random(0).shuffle(found)
    return tuple(found)


@cache
def _heights() -> list[float]:
    return list(accumulate(1 / (rank + ZIPF_SHIFT) for rank in range(len(words()))))


@cache
def topic(number: int) -> list[str]:
    """The words of one topic, none of them among the thousand commonest."""
    return Random(f"topic {number}").sample(words()[1000:], TOPIC_WORDS)


class _Writer:
    def __init__(self, random: Random, subject: list[str]) -> None:
        self._random, self._subject = random, subject

    def log(self, lines: int) -> Iterator[str]:
        for _ in range(lines - lines // 3):
            yield f"- {self._random.choice(PEOPLE)}: {self._sentence(18)}"
        yield "\n## Retain"
        for _ in range(lines // 3):
            yield f"- {self._random.choice('WBOS')} @{self._random.choice(PEOPLE)}: {self._sentence(12)}"

    def prose(self, paragraphs: int) -> Iterator[str]:
        for _ in range(paragraphs):
            yield " ".join(self._sentence(15) for _ in range(3))

    def technical(self, lines: int) -> Iterator[str]:
        for number in range(lines):
            if number % 8 == 0:
                yield f"\n## {self._sentence(3)}\n"
            code = f"`{self._word()}_{self._word()} --{self._word()} {self._random.randrange(9999)}`"
            yield f"- {self._sentence(9)} {code} {self._sentence(5)}"

    def _sentence(self, length: int) -> str:
        return " ".join(self._word() for _ in range(length)).capitalize() + "."

    def _word(self) -> str:
        if self._random.random() < TOPIC_SHARE:
            return self._random.choice(self._subject)
        heights = _heights()
        return words()[bisect(heights, self._random.random() * heights[-1])]
