"""Owns the plan of a run: what each page is to hold, against what it holds, becomes edits with their reasons. Pure.

A draft says what a block would hold by itself; the page as it stands decides what comes of it (merge.py). Nothing here
writes, and the same page and draft give the same edit.
"""

import difflib
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from vault_memory.errors import ConflictError, RefusedError, VaultMemoryError
from vault_memory.reflect import blocks, merge
from vault_memory.reflect.blocks import Block, Line

LOSS_SHARE, LOSS_LINES = 0.25, 4
"""A page does not lose more than this share of its entries in one run, where that is more than so many lines."""


class Draft(NamedTuple):
    """One page as the facts would have it: the block's name and lines, why, and how a page that is not there begins."""

    path: str
    block: str
    lines: tuple[Line, ...]
    why: str
    start: str = ""
    """The text of the page before its block, where the page does not exist yet."""
    by: str = ""
    """What wrote it, where that was a model."""


class Edit(NamedTuple):
    """One page to be written: its bytes before (None: there is no such page) and after, and why.

    `deleted` names lines that a person took out and does not want to see again; `orphaned` are lines of theirs that
    rest on a fact that is gone.
    """

    path: str
    before: bytes | None
    after: bytes
    why: str
    sha: str = ""
    lines: tuple[Line, ...] = ()
    deleted: frozenset[str] = merge.NOBODY
    orphaned: tuple[str, ...] = ()

    def diff(self) -> str:
        """The edit as a unified diff."""
        old = _shown(self.before)
        name = "/dev/null" if self.before is None else f"a/{self.path}"
        lines = difflib.unified_diff(old, _shown(self.after), name, f"b/{self.path}", lineterm="")
        return "\n".join(lines)


def _shown(data: bytes | None) -> list[str]:
    return [] if data is None else data.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")


class Skipped(NamedTuple):
    """A page that is not written, and why; `exit_code` as the command line knows it."""

    path: str
    why: str
    next_step: str
    exit_code: int


@dataclass(frozen=True)
class Past:
    """What is known besides the page: all facts by name, lines written last, lines people deleted, by page."""

    facts: Container[str]
    last: Callable[[str], Sequence[Line] | None]
    hidden: Callable[[str], Container[str]]
    force: bool = False


@dataclass(frozen=True)
class Plan:
    """The edits of a run, in the order they are made, the pages left alone and those that are as they should be."""

    edits: tuple[Edit, ...]
    skipped: tuple[Skipped, ...] = ()
    unchanged: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)


def planned(drafts: Iterable[Draft], page: Callable[[str], bytes | None], past: Past) -> Plan:
    """Compare drafts with their pages; what cannot be written is skipped with its reason, never silently."""
    edits: list[Edit] = []
    skipped: list[Skipped] = []
    unchanged: list[str] = []
    for draft in drafts:
        try:
            found = edit(draft, page(draft.path), past)
        except (ConflictError, RefusedError) as error:
            skipped.append(skip(draft.path, error))
            continue
        if found:
            edits.append(found)
        else:
            unchanged.append(draft.path)
    return Plan(tuple(edits), tuple(skipped), tuple(unchanged))


def skip(path: str, error: VaultMemoryError) -> Skipped:
    """A page that an error keeps from being written."""
    return Skipped(path, str(error), error.next_step, error.exit_code)


def edit(draft: Draft, present: bytes | None, past: Past) -> Edit | None:
    """What is to be written, None when the page says it already.

    Raises ConflictError for a page that cannot be merged, RefusedError for one that would lose too much.
    """
    page = blocks.read(draft.path, draft.start.encode() if present is None else present, draft.block)
    block = page.block
    last = past.last(block.sha) if block else None
    known = merge.Known(past.hidden(draft.path), past.facts)
    found = merge.merged(draft.lines, block, last, known)
    if found is None:
        raise ConflictError(
            f"{draft.path} was edited by hand, and what it was edited from is not known here: it was left alone.",
            "Keep what you want outside the block, then delete the block: it is made anew.",
        )
    new = found.block._replace(by=draft.by)
    if block is None and not any(line.text.strip() for line in found.lines):
        return None
    if block is not None and block.is_as_written and blocks.is_same(block, new):
        return None
    if block is not None and not past.force:
        _refuse_loss(draft.path, block, past.facts)
    after = blocks.written(page, draft.block, new)
    if after == present:
        return None
    return Edit(draft.path, present, after, draft.why, new.sha, found.lines, found.deleted, found.orphaned)


def _refuse_loss(path: str, block: Block, facts: Container[str]) -> None:
    """Raise RefusedError when too many of a page's entries rest on facts that no note holds any more."""
    lost = sum(name not in facts for name in block.cites)
    if lost > LOSS_LINES and lost > LOSS_SHARE * len(block.cites):
        raise RefusedError(
            f"{path} would lose {lost} of {len(block.cites)} entries, for their notes do not hold them any more.",
            "Check that all notes are there and synced; with --force it is written all the same.",
        )
