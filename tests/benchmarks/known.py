"""Known-item questions, made from a vault itself: short ones of people who know that it stands somewhere.

Conversations and graded collections are asked in sentences. People also type a word, two words, a quotation, a title, a
file name, `who is X`, `last time X`; what serves those is measured here by the mean reciprocal rank of the item, after
Azzopardi & de Rijke 2006. The same vault and seed give the same questions.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from tests.benchmarks.quality import Judged
from vault_memory.memory import Memory
from vault_memory.text.terms import STOP_WORDS

EACH = 40
"""Questions of a kind at most."""

_WORD = re.compile(r"[^\W\d_]{4,20}")
_CODE = re.compile(r"(?<![\w/])(?=[\w./:-]*[./:_\d])(?=[\w./:-]*[a-z])[\w-]+(?:[./:_-]+[\w-]+)+")


class _Row(NamedTuple):
    id: int
    path: str
    start_line: int
    end_line: int
    section: int
    day: str | None
    text: str

    @property
    def lines(self) -> frozenset[tuple[str, int]]:
        return frozenset((self.path, line) for line in range(self.start_line, self.end_line + 1))


def known_items(memory: Memory, seed: int = 7) -> list[Judged]:
    """Questions about an indexed vault, each with the lines that it means; the category says what kind it is."""
    with memory.index_file.reading() as (store, _):
        sql = (
            "SELECT p.id, path, start_line, end_line, section, day, text FROM passage p"
            " JOIN note n ON n.id = p.note_id ORDER BY n.path, p.id"
        )
        rows = [_Row(*row) for row in store.rows(sql)]
        titles: dict[str, str] = dict(store.rows("SELECT path, title FROM note ORDER BY path"))
    chance = random.Random(seed)
    found: list[Judged] = []
    for kind, made in (
        ("word", _words(rows, 1)), ("two words", _words(rows, 2)), ("quotation", _quotations(rows)),
        ("code", _codes(rows)), ("title", _titles(rows, titles)), ("heading", _headings(rows)),
        ("last", _last(rows)),
    ):  # fmt: skip
        items = list(made)
        chance.shuffle(items)
        found += [
            Judged(f"{kind} {number}", text, None, f"known: {kind}", lines, {})
            for number, (text, lines) in enumerate(items[:EACH])
        ]
    return found


Items = Iterator[tuple[str, frozenset[tuple[str, int]]]]


def _holding(rows: list[_Row]) -> dict[str, list[_Row]]:
    holding: dict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        for word in dict.fromkeys(word.casefold() for word in _WORD.findall(row.text)):
            if word not in STOP_WORDS:
                holding[word].append(row)
    return holding


def _words(rows: list[_Row], count: int) -> Items:
    """The rarest words of a line of running text: one that stands only there, or two that stand in few lines."""
    holding = _holding(rows)
    for row in rows:
        if not 0 <= row.section < 1000 or len(row.text) < 30:
            continue
        words = {w.casefold(): None for w in _WORD.findall(row.text) if w.casefold() in holding}
        rare = sorted((len(holding[word]), word) for word in words)
        if count == 1 and rare and rare[0][0] == 1:
            yield rare[0][1], row.lines
        elif count == 2 and len(rare) > 3 and rare[1][0] > 1:
            yield f"{rare[1][1]} {rare[2][1]}", row.lines


def _quotations(rows: list[_Row]) -> Items:
    """Six words of the middle of a line, without quotation marks."""
    for row in rows:
        words = re.findall(r"[\w'’-]+", row.text)
        if 0 <= row.section < 1000 and len(words) >= 14 and "\n" not in row.text:
            yield " ".join(words[5:11]), row.lines


def _codes(rows: list[_Row]) -> Items:
    """Paths, versions, options and names of files in the text."""
    holding: dict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        for code in dict.fromkeys(_CODE.findall(row.text)):
            holding[code].append(row)
    yield from ((code, held[0].lines) for code, held in holding.items() if len(held) == 1 and not code.isdigit())


def _titles(rows: list[_Row], titles: dict[str, str]) -> Items:
    lines: dict[str, frozenset[tuple[str, int]]] = defaultdict(frozenset)
    for row in rows:
        if row.section < 1000:
            lines[row.path] |= row.lines
    for path, title in titles.items():
        if lines[path] and not re.fullmatch(r"[\d-]+", title):
            yield title, lines[path]


def _headings(rows: list[_Row]) -> Items:
    """A heading that stands once, for itself and what stands below it."""
    below: dict[tuple[str, int], frozenset[tuple[str, int]]] = defaultdict(frozenset)
    texts: dict[str, list[_Row]] = defaultdict(list)
    for row in rows:
        below[row.path, row.section] |= row.lines
        if row.section < 0:
            texts[row.text.lstrip("# ")].append(row)
    for text, held in texts.items():
        if len(held) == 1 and (lines := below.get((held[0].path, -held[0].section))):
            yield text, lines | held[0].lines


def _last(rows: list[_Row]) -> Items:
    """The last (first) day on which a word was written, of three or more."""
    for word, held in _holding(rows).items():
        days: dict[str, frozenset[tuple[str, int]]] = defaultdict(frozenset)
        for row in held:
            if row.day and 0 <= row.section < 1000:
                days[row.day] |= row.lines
        if 3 <= len(days) <= 12 and len(held) <= 15 and not word.endswith("day"):
            yield f"last time {word}", days[max(days)]
            yield f"first time {word}", days[min(days)]
