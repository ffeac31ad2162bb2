"""Cites a line of a note as a page does, so that it opens in Obsidian. Pure.

`[[2025-11-27]] L12`, or `[[2025-11-27#^id]]` where the line has a block id (DESIGN.md §4). A name that two notes
share is written with its path, and shown without: `[[memory/2025-11-27|2025-11-27]] L12`. A name that no wikilink can
hold (`C# notes`) is a Markdown link with its path: `[C# notes](Work/C%23%20notes.md) L12`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from urllib.parse import quote

from vault_memory.markdown import provenance
from vault_memory.markdown.entities import link_name
from vault_memory.reflect.model import Fact

LINE_NUMBER = re.compile(r"(?:(?<=\]\] )|(?<=\.md\) ))L\d+(?:, L\d+)*")
"""The numbers of cited lines: a moved line alone is no reason to write a page."""

_UNFIT = re.compile(r"[#^|\[\]]|%%")
"""What Obsidian reads in a wikilink as something else than a part of the name."""


class Citations:
    """The links to the notes of one vault; `paths` are all of its notes, vault-relative."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._names = Counter(link_name(path).casefold() for path in paths)

    def of(self, fact: Fact) -> str:
        """The citation of one fact, and that it came from outside where it did."""
        return self._of(fact) + provenance.mark(fact.by)

    def _of(self, fact: Fact) -> str:
        if not fact.block_id:
            return f"{self.link(fact.path)} L{fact.line}"
        if _UNFIT.search(fact.path):
            return _markdown(fact.path, f"#^{fact.block_id}")
        name, bar, shown = self.target(fact.path).partition("|")
        return f"[[{name}#^{fact.block_id}{bar}{shown}]]"

    def several(self, facts: Sequence[Fact]) -> str:
        """The citation of several facts of one note without block ids: `[[2025-11-27]] L12, L14`."""
        marks = dict.fromkeys(provenance.mark(fact.by) for fact in facts)
        return ", ".join((self._of(facts[0]), *(f"L{fact.line}" for fact in facts[1:]))) + "".join(marks)

    def link(self, path: str) -> str:
        """A link to a whole note."""
        return _markdown(path) if _UNFIT.search(path) else f"[[{self.target(path)}]]"

    def named(self, path: str, name: str) -> str:
        """A link to a whole note that shows a name of its own."""
        if _UNFIT.search(path):
            return _markdown(path, shown=name)
        target = self.target(path)
        plain_name = re.sub(r"[\[\]|]", " ", name)
        return f"[[{target}]]" if target == name or "|" in target else f"[[{target}|{plain_name}]]"

    def target(self, path: str) -> str:
        """What stands between the brackets: the note's name, or its path and name where another note has it too."""
        name = link_name(path)
        return name if self._names[name.casefold()] < 2 else f"{path.removesuffix('.md')}|{name}"


def _markdown(path: str, anchor: str = "", shown: str = "") -> str:
    words = re.sub(r"([\[\]])", r"\\\1", shown or link_name(path))
    return f"[{words}]({quote(path, safe='/')}{anchor})"
