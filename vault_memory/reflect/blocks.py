"""Owns the blocks that reflect writes into a page: where one stands, what closes it, what a person changed in it. Pure.

    <!-- memory:begin facts -->
    …
    <!-- memory:end facts sha=1a2b3c4d cites=8f3a1b2c,… yours=… -->

`sha` is of the text between as it was written, `cites` the texts of the facts cited in it, in order, and `yours` the
lines a person added or changed in it. DESIGN.md §4.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from vault_memory.errors import ConflictError
from vault_memory.parse import parse
from vault_memory.reflect.cite import LINE_NUMBER

_ENDS = re.compile(r"(\r\n|\n|\r)")
_VALUE = re.compile(r"\b(sha|cites|yours|by)=([^\s>]*)")


class Line(NamedTuple):
    """One line of a block: its text, the keys of the facts it cites, and for a line without any what it is.

    By its facts or its `slot` a line that a person deleted is known again when it would say the same in other words.
    """

    text: str
    keys: tuple[int, ...] = ()
    slot: str = ""

    @property
    def names(self) -> frozenset[str]:
        """What the line is known by."""
        if self.keys:
            return frozenset(map(short, self.keys))
        return frozenset([self.slot or text_name(self.text)])


class Block(NamedTuple):
    """A block as it stands in a page: the lines between the markers, and what the closing one says."""

    lines: tuple[str, ...]
    sha: str
    cites: tuple[str, ...] = ()
    yours: frozenset[str] = frozenset()
    by: str = ""

    @property
    def is_as_written(self) -> bool:
        """Whether nobody has changed it since it was written."""
        return sha(self.lines) == self.sha


class Page(NamedTuple):
    """A page's text around one of its blocks; `block` is None where it has none yet, and belongs at the end."""

    before: str
    block: Block | None
    after: str
    newline: str = "\n"


def short(key: int) -> str:
    """Eight hex digits of a fact's key: enough to tell the facts of one page apart."""
    return f"{key & (1 << 64) - 1:016x}"[:8]


def text_name(text: str) -> str:
    """What a line without facts is known by: its words, whatever the numbers in it."""
    words = re.sub(r"\d+", "0", " ".join(text.split()))
    return hashlib.blake2b(words.encode("utf-8", "replace"), digest_size=4).hexdigest()


def line_name(text: str) -> str:
    """What a person's own line is known by: the whole of it."""
    return hashlib.blake2b(text.rstrip().encode("utf-8", "replace"), digest_size=4).hexdigest()


def sha(lines: Sequence[str]) -> str:
    """The hash of a block's text: eight hex digits, whatever the line ends of its file."""
    return hashlib.sha256("\n".join(lines).encode("utf-8", "replace")).hexdigest()[:8]


def read(path: str, data: bytes, name: str) -> Page:
    """Find the block `name` in a page; raises ConflictError where its markers are broken or the page is not UTF-8."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConflictError(f"{path} is not UTF-8: it was left alone.", "Save it as UTF-8.") from error
    note = parse(path, data)
    broken = next((problem for problem in note.problems if "memory:" in problem.message), None)
    if broken:
        sentence = f"{path}:{broken.line}: {broken.message}: the page was left alone."
        raise ConflictError(sentence, "Delete the markers that have no partner, or the whole block.")
    newline = "\r\n" if "\r\n" in text else "\r" if "\r" in text and "\n" not in text else "\n"
    found = [owned for owned in note.owned if owned.name == name]
    if not found:
        return Page(text, None, "", newline)
    if len(found) > 1:
        sentence = f"{path}:{found[1].start_line}: a second block `{name}`: the page was left alone."
        raise ConflictError(sentence, "Delete one of them.")
    parts = _ENDS.split(text)
    start, end = found[0].start_line, found[0].end_line
    before, after = "".join(parts[: 2 * (start - 1)]), "".join(parts[2 * end - 1 :])
    inner = tuple(parts[2 * start : 2 * (end - 1) : 2])
    return Page(before, _block(inner, parts[2 * (end - 1)]), after, newline)


def _block(lines: tuple[str, ...], marker: str) -> Block:
    said = dict(_VALUE.findall(marker))
    return Block(
        lines=lines,
        sha=said.get("sha", ""),
        cites=tuple(filter(None, said.get("cites", "").split(","))),
        yours=frozenset(filter(None, said.get("yours", "").split(","))),
        by=said.get("by", ""),
    )


def written(page: Page, name: str, block: Block) -> bytes:
    """The page with this block in place of what it had, or at its end; all around it stays as it is."""
    before = page.before
    if page.block is None and before.strip("\ufeff"):
        lacks = "" if before.endswith(("\n", "\r")) else page.newline
        before += lacks + ("" if before.endswith((page.newline * 2, "---" + page.newline)) else page.newline)
    after = page.after if page.block is not None else page.newline
    closing = f"<!-- memory:end {name} sha={block.sha}"
    for key, values in (("cites", block.cites), ("yours", sorted(block.yours)), ("by", [block.by])):
        closing += f" {key}={','.join(values)}" if any(values) else ""
    inner = [f"<!-- memory:begin {name} -->", *block.lines, closing + " -->"]
    return (before + page.newline.join(inner) + after).encode("utf-8")


def is_same(one: Block, other: Block) -> bool:
    """Whether two blocks say the same; that a cited line has moved in its note is no difference."""
    return (
        [LINE_NUMBER.sub("L", line) for line in one.lines] == [LINE_NUMBER.sub("L", line) for line in other.lines]
        and one[2:] == other[2:]
    )  # fmt: skip


def names_of(lines: Iterable[Line]) -> frozenset[str]:
    """What any of these lines is known by."""
    return frozenset(name for line in lines for name in line.names)
