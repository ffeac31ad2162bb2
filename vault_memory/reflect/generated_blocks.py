"""Reads and writes a page's generated blocks, between their two markers, and stores what was last written in them.

    <!-- memory:begin facts -->
    …
    <!-- memory:end facts sha=1a2b3c4d cites=8f3a1b2c,… yours=… -->

`sha` is the hash of the block's text as written, `cites` names the facts it cites, in order, and `yours` gives the
positions of the lines that the user added or changed (`3-5,9`; 1 is the first line after the marker).

The lines of each written block are stored in `.memory/history/written` under that hash, so that merge.py can compare
the page with them. Everything else here is pure.
"""

import hashlib
import json
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from vault_memory.errors import ConflictError, RefusedError, VaultError
from vault_memory.markdown.parse import parse
from vault_memory.reflect.fact import LINE_NUMBER
from vault_memory.vault import locations, safe_files
from vault_memory.write.rewrite import decode_utf8, lines_of, split_end

_VALUE = re.compile(r"\b(sha|cites|yours|by)=([^\s>]*)")
_BROKEN = re.compile(r"memory:(?:begin|end) ")
_PLACES = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?")
_HEADING = re.compile(r"(#{1,6})(?:[ \t]|$)")
_BULLET = re.compile(r"([ \t]*)[-*+][ \t]+(?=\S)")
_CONFIDENCE = re.compile(r"(?<=\*\*)(?:[01]?\.\d{1,4}|[01]|(?:\d{1,2}|100)%)(?=\*\* )")
_OPENS = re.compile(r"\s*[-*+] \*\*")
_SHA = re.compile(r"[0-9a-f]{8}")

WRITTEN = "history/written"
WRITTEN_SECONDS = 90 * 86400.0
"""How long a text that no page has any more is kept: a page may come back from another device or a backup."""


class Line(NamedTuple):
    """One line of a block: its text, the keys of the facts it cites, and a `slot` that identifies a line without facts.

    Facts or slot identify a line that the user deleted, even if it would now be worded differently.
    """

    text: str
    keys: tuple[int, ...] = ()
    slot: str = ""
    of: str = ""
    """For a line below an entry, the entry's name: the same fact may be an entry of its own elsewhere."""

    @property
    def facts(self) -> frozenset[str]:
        return frozenset(map(fact_name, self.keys))

    @property
    def stands_for(self) -> bool:
        """Whether this line, if the user's, replaced a generated one."""
        return bool(self.keys or self.slot)

    @property
    def names(self) -> frozenset[str]:
        """The names that identify the line."""
        if self.keys:
            return frozenset(f"{self.of}/{fact}" for fact in self.facts) if self.of else self.facts
        return frozenset([self.slot or text_name(self.text)])


class Block(NamedTuple):
    """A block as it is in a page: the lines between the markers, and the values in the closing marker."""

    lines: tuple[str, ...]
    sha: str
    cites: tuple[str, ...] = ()
    yours: frozenset[int] = frozenset()
    """Positions in `lines`, from 0, at the time of writing."""
    by: str = ""

    @property
    def is_as_written(self) -> bool:
        return sha(self.lines) == self.sha


class PageLine(NamedTuple):
    """A line written by the user, to be reported."""

    path: str
    line: str


class Page(NamedTuple):
    """A page's text around one of its blocks; `block` is None if it has none yet and is to get one at its end."""

    before: str
    block: Block | None
    after: str
    newline: str = "\n"


def fact_name(key: int) -> str:
    """The first eight hex digits of a fact's key: enough to distinguish the facts of one page."""
    return f"{key & (1 << 64) - 1:016x}"[:8]


def text_name(text: str) -> str:
    """The name of a line without facts: a hash of its words, ignoring the kind of bullet and cited line numbers."""
    words = " ".join(bare(text).split())
    return hashlib.blake2b(words.encode("utf-8", "replace"), digest_size=4).hexdigest()


def bare(text: str) -> str:
    """A line normalised for comparison: no trailing spaces, no cited line numbers (they move), and `-` as bullet.

    Linters and editors change spaces and bullets on their own: that is style, not an edit.
    """
    text = text.rstrip()
    if "]] L" in text:
        text = LINE_NUMBER.sub("L", text)
    found = None if text.startswith("- ") and not text.startswith("-  ") else _BULLET.match(text)
    return f"{found[1]}- {text[found.end() :]}" if found else text


def bullet(text: str) -> str:
    """The indentation and bullet of a list item, or ""."""
    found = _BULLET.match(text)
    return found[0] if found else ""


def leading_confidence(text: str) -> float | None:
    """The confidence, 0..1, that a line opens with, written as `.95` or `95%`; None if there is none."""
    opens = _OPENS.match(text)
    found = _CONFIDENCE.match(text, opens.end()) if opens else None
    if found is None:
        return None
    number = int(found[0][:-1]) / 100 if found[0].endswith("%") else float(found[0])
    return number if number <= 1 else None


def without_confidence(text: str) -> str:
    """A line normalised as in `bare`, with its leading confidence replaced by 0."""
    return bare(text) if leading_confidence(text) is None else _CONFIDENCE.sub("0", bare(text), count=1)


def indent(text: str) -> int:
    """The indentation of a line; a tab counts as four spaces."""
    text = text.expandtabs(4)
    return len(text) - len(text.lstrip())


def heading_level(text: str) -> int:
    """The level of a heading; 0 for any other line."""
    found = _HEADING.match(text) if text.startswith("#") else None
    return len(found[1]) if found else 0


def sha(lines: Sequence[str]) -> str:
    """The hash of a block's text, eight hex digits; line endings and trailing spaces do not affect it."""
    text = "\n".join(line.rstrip() for line in lines)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]


def read_page(path: str, data: bytes, name: str) -> Page:
    """Find the block `name` in a page; raises ConflictError if its markers are broken or the page is not UTF-8."""
    text, note = decode_utf8(path, data), parse(path, data)
    if broken := next((problem for problem in note.problems if _BROKEN.match(problem.message)), None):
        sentence = f"{path}:{broken.line}: {broken.message}: the page was left alone."
        raise ConflictError(sentence, "Delete the markers that have no partner, or the whole block.")
    found = [owned for owned in note.owned if owned.name == name]
    if len(found) > 1:
        sentence = f"{path}:{found[1].start_line}: a second block `{name}`: the page was left alone."
        raise ConflictError(sentence, "Delete one of them.")
    lines = lines_of(text)
    ours = f"<!-- memory:end {name} sha="  # which nobody writes who only shows what a marker looks like
    if not found and (at := next((n for n, line in enumerate(lines, 1) if line.startswith(ours)), 0)):
        sentence = f"{path}:{at}: the block `{name}` stands in code or in a comment: the page was left alone."
        raise ConflictError(sentence, "Close the ``` or %% that is open above it.")
    if not found:
        ends = Counter(end for _, end in map(split_end, lines) if end)  # the most frequent; of a tie, the first
        return Page(text, None, "", max(ends, key=lambda end: ends[end], default="\n"))
    start, end = found[0].start_line, found[0].end_line
    # A byte order mark belongs to the page, even if the page is nothing but the block.
    before = "".join(lines[: start - 1]) or "\ufeff" * text.startswith("\ufeff")
    closing, closing_end = split_end(lines[end - 1])
    said = dict(_VALUE.findall(closing))
    block = Block(
        lines=tuple(split_end(line)[0] for line in lines[start : end - 1]),
        sha=said.get("sha", ""),
        cites=tuple(filter(None, said.get("cites", "").split(","))),
        yours=_read_places(said.get("yours", "")),
        by=said.get("by", ""),
    )
    return Page(before, block, closing_end + "".join(lines[end:]), split_end(lines[start - 1])[1])


def _read_places(said: str) -> frozenset[int]:
    """Parse `3-5,9` into positions from 0."""
    runs = filter(None, map(_PLACES.fullmatch, said.split(",")))
    return frozenset(place for run in runs for place in range(int(run[1]) - 1, int(run[2] or run[1])))


def _write_places(places: frozenset[int]) -> str:
    """Format positions from 0 as `3-5,9`."""
    firsts, lasts = sorted(places - {at + 1 for at in places}), sorted(places - {at - 1 for at in places})
    runs = zip(firsts, lasts, strict=True)
    return ",".join(f"{first + 1}-{last + 1}" if last > first else f"{first + 1}" for first, last in runs)


def put_block(page: Page, name: str, block: Block) -> bytes:
    """The page with its block replaced by this one, or with it appended; everything around it stays as it is."""
    before = page.before
    if page.block is None and before.strip("\ufeff"):
        lacks = "" if before.endswith(("\n", "\r")) else page.newline
        before += lacks + ("" if before.endswith((page.newline * 2, "---" + page.newline)) else page.newline)
    after = page.after if page.block is not None else page.newline
    closing = f"<!-- memory:end {name} sha={block.sha}"
    for key, value in (("cites", ",".join(block.cites)), ("yours", _write_places(block.yours)), ("by", block.by)):
        closing += f" {key}={value}" if value else ""
    inner = [f"<!-- memory:begin {name} -->", *block.lines, closing + " -->"]
    return (before + page.newline.join(inner) + after).encode("utf-8")


def marker_word(text: str) -> str:
    """A text made safe for the closing marker."""
    return re.sub(r"[\s<>-]*[\s<>][\s<>-]*|-{2,}", "-", text.strip())


def is_same(one: Block, other: Block) -> bool:
    """Whether two blocks say the same, ignoring moved cited lines, blank lines and style."""
    if (one.cites, one.by) != (other.cites, other.by):
        return False
    said, say = ([bare(line) for line in block.lines if line.strip()] for block in (one, other))
    return said == say


# --- stored texts ----------------------------------------------------------------------------------------------------


class WrittenBlocks:
    """Stores the texts written into one vault's pages; `root` is the vault's real path."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def last(self, sha: str) -> list[Line] | None:
        """The lines of the block with this hash, or None if it was not written here."""
        file = locations.derived(self._root, f"{WRITTEN}/{sha}.json") if _SHA.fullmatch(sha) else None
        if file is None:
            return None
        with suppress(OSError, ValueError, TypeError, RecursionError):
            return [
                Line(str(text), tuple(map(int, keys)), str(slot), of=str(*of))
                for text, keys, slot, *of in json.loads(file.read_bytes())
            ]
        return None

    def keep(self, sha: str, lines: Sequence[Line]) -> None:
        """Store a block's lines durably, before it is written; raises RefusedError or VaultError."""
        file = locations.derived(self._root, f"{WRITTEN}/{sha}.json")
        if file is None:
            raise RefusedError(f".memory/{WRITTEN} is behind a link: nothing was written.", "Make it a plain folder.")
        plain = [(line.text, line.keys, line.slot, *filter(None, [line.of])) for line in lines]
        if self.last(sha) == list(lines):
            return
        try:
            locations.make_folder(file.parent)
            safe_files.replace_durably(file, json.dumps(plain, separators=(",", ":")).encode("ascii"))
        except OSError as error:
            raise VaultError(
                f".memory/{WRITTEN} cannot be written: {error.strerror or error}; nothing was changed.",
                "Check permissions and free space.",
            ) from error

    def sweep(self, used: Callable[[], Container[str]]) -> None:
        """Delete old texts that no page names any more; `used` is called only if there are old ones."""
        folder = locations.derived(self._root, WRITTEN)
        if folder is None:
            return
        oldest = time.time() - WRITTEN_SECONDS
        with suppress(OSError):
            with os.scandir(folder) as entries:
                old = [entry for entry in entries if entry.stat(follow_symlinks=False).st_mtime < oldest]
            known = used() if old else ()
            for entry in old:
                if entry.name.partition(".")[0] not in known:
                    Path(entry.path).unlink(missing_ok=True)
                else:
                    os.utime(entry.path, follow_symlinks=False)  # so that not every run checks it again
