"""Plans a run's edits: merges each draft with the current page, and records what the edit changes and why. Pure.

A draft is what a block would contain on its own; merge.py combines it with what the user did to the page.
"""

import re
from collections import Counter
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from typing import NamedTuple

from vault_memory.errors import ConflictError, RefusedError, VaultError, VaultMemoryError
from vault_memory.reflect import generated_blocks, merge
from vault_memory.reflect.fact_lines import counted_each
from vault_memory.reflect.generated_blocks import Block, Line, fact_name
from vault_memory.reflect.merge import PageHistory
from vault_memory.text.output import patch, plural

LOSS_SHARE, LOSS_FEW = 0.25, 3
"""A run removes at most this share of a page's entries, or this many if that is more."""

NOTHING_LEFT = Line("Nothing in the notes tells of this any more.", slot="nothing")

EXTRACTIVE = "extractive"
"""The value of a generated page's `written` property if no model wrote any of it."""

_CITED = re.compile(r"(\[\[[^\[\]]+\]\]|\[[^\[\]]*\]\([^()\s]+\))(?: (L\d+(?:, L\d+)*))?")
_FRONT = re.compile(r"\ufeff?---[ \t]*(\r\n|\n|\r)(?:.*?\1)?---[ \t]*(?:\1|\Z)", re.DOTALL)


class Draft(NamedTuple):
    """One page as the facts alone would make it: the block's name and lines, and how a new page starts."""

    path: str
    block: str
    lines: tuple[Line, ...]
    why: str
    """The reason for writing a page that has no such block yet; for others the reason is what changed."""
    start: str = ""
    """The text before the block, for a page that does not exist yet."""
    by: str = ""
    """The model that wrote some of it, if any."""
    settled: Callable[[str], bool] | None = None
    """Tells which lines of the page have been dealt with and are dropped."""
    account: Callable[[Sequence[Line], Sequence[Line]], str] | None = None
    """Describes what changed between two blocks, if there is more to say than fact counts; else returns ""."""


class FactChanges(NamedTuple):
    """How many facts an edit adds to a page and removes from it, each counted once."""

    new: int = 0
    changed: int = 0
    """The cited line is still there but says something else."""
    retracted: int = 0
    """The cited line is gone."""
    folded: int = 0
    """The fact still exists but no longer fits on the page."""
    deleted: int = 0
    """The user deleted it."""

    def __str__(self) -> str:
        """What changed: `2 facts new, 1 retracted`; "" if the facts are the same."""
        names = ("new", "changed", "retracted", "folded away", "taken out by you")
        return counted_each("fact", zip(self, names, strict=True))


class Edit(NamedTuple):
    """One page to write: its bytes before (None: no such page) and after, and why."""

    path: str
    before: bytes | None
    after: bytes
    why: str
    sha: str = ""
    lines: tuple[Line, ...] = ()
    deleted: frozenset[str] = frozenset()
    """The names of lines that the user deleted or replaced."""
    block: str = ""
    was: tuple[Line, ...] = ()
    """The block's current lines, with the facts they rest on as far as known."""
    change: FactChanges = FactChanges()

    def diff(self) -> str:
        """The edit as a unified diff for `patch -p1`, without a final newline."""
        tab = "\t" if " " in self.path else ""  # terminates a path with spaces
        return patch(self.before, self.after, f"a/{self.path}{tab}", f"b/{self.path}{tab}").removesuffix("\n")


class PageProblem(NamedTuple):
    """Why a page is not written, or something else the user should know about it; `exit_code` for the command line."""

    path: str
    why: str
    next_step: str
    exit_code: int = 0


LEFT_ALONE = (ConflictError, RefusedError, VaultError)
"""Errors that make reflect skip one page and write the others."""


def page_problem(path: str, error: VaultMemoryError) -> PageProblem:
    """Turn such an error into a PageProblem; since the run continues, a disk error's exit code becomes 1."""
    exit_code = error.exit_code if isinstance(error, ConflictError | RefusedError) else 1
    return PageProblem(path, str(error), error.next_step, exit_code)


def make_edit(draft: Draft, present: bytes | None, past: PageHistory) -> tuple[Edit | None, tuple[str, ...]]:
    """Plan the edit of one page, None if the page needs none; also returns the user's lines whose facts are gone.

    Raises ConflictError if the page cannot be merged, RefusedError if it would lose too much.
    """
    page = generated_blocks.read_page(draft.path, draft.start.encode() if present is None else present, draft.block)
    block, hidden = page.block, past.hidden(draft.path)
    last = past.last(block.sha) if block else None
    if block and last is None and not block.is_as_written:
        raise ConflictError(
            f"{draft.path} was edited by hand, and its earlier version is not known here: it was left alone.",
            "Keep what you want outside the block, then delete the block: it is made anew.",
        )
    edits = merge.find_edits(block, last, past.is_linked) if block else merge.Edits()
    standing = edits.without(draft.settled) if draft.settled else edits
    found = merge.merge_block(draft.lines, standing, past, hidden)
    new = found.block._replace(by=generated_blocks.marker_word(draft.by))
    if block is None:
        is_new = any(line.text.strip() for line in found.lines)
    else:
        is_new = edits.is_edited or not generated_blocks.is_same(block, new)
    if is_new and block is not None and not past.force:
        _refuse_loss(draft, block, edits.lines, past)
    after = _write_block(draft, page, new) if is_new else present
    if after is None or after == present:
        return None, found.orphaned
    change = count_changes(block, edits, found.lines, past.facts)
    why = _why(draft, block, edits, found.lines, change)
    deleted = edits.deleted.union(name for name in found.replaced if name not in hidden)
    return Edit(
        draft.path, present, after, why, new.sha, found.lines, deleted, draft.block, edits.lines, change
    ), found.orphaned


def _why(draft: Draft, block: Block | None, edits: merge.Edits, lines: Sequence[Line], change: FactChanges) -> str:
    if block is None:
        return draft.why
    if draft.account and (why := draft.account(edits.lines, lines)):
        return why
    kept = "what you changed is kept" if edits.is_edited and not change.deleted else ""
    return "; ".join(filter(None, (str(change), kept))) or "the same facts, worded or ordered differently"


def count_changes(block: Block | None, edits: merge.Edits, lines: Sequence[Line], facts: Container[str]) -> FactChanges:
    """Count the facts that change from a block to its next lines; `facts` are the names of all known facts."""
    before = frozenset(block.cites if block else ()).union(*(line.facts for line in edits.lines))
    after = frozenset[str]().union(*(line.facts for line in lines))
    new, gone = after - before, before - after
    deleted = gone.intersection(name.rpartition("/")[2] for name in edits.deleted)
    retracted = {name for name in gone - deleted if name not in facts}
    changed = (_places(edits.lines, retracted) & _places(lines, new)).total()
    folded = len(gone - deleted - retracted)
    return FactChanges(len(new) - changed, changed, len(retracted) - changed, folded, len(deleted))


def _places(lines: Sequence[Line], names: Container[str]) -> Counter[tuple[str, str]]:
    """The places these facts are cited from: a note and a line number, or a block id."""
    found: set[tuple[str, tuple[str, str]]] = set()
    for line in lines:
        links = _CITED.findall(line.text.rpartition(" — ")[2])
        cited = [(link, number) for link, numbers in links for number in numbers.split(", ") if number or "#^" in link]
        if len(cited) == len(line.keys):
            found.update((fact_name(key), place) for key, place in zip(line.keys, cited, strict=True))
    return Counter(place for name, place in found if name in names)


def _write_block(draft: Draft, page: generated_blocks.Page, new: Block) -> bytes:
    before, by, front = page.before, page.block.by if page.block else "", _FRONT.match(page.before)
    if front and by != new.by:  # update the `written` property, unless somebody changed it
        said = re.compile(rf"(?<=[\r\n])(written:[ \t]+){re.escape(by or EXTRACTIVE)}(?=[ \t]*[\r\n])")
        before = said.sub(lambda found: found[1] + (new.by or EXTRACTIVE), front[0], count=1) + before[front.end() :]
    after = generated_blocks.put_block(page._replace(before=before), draft.block, new)
    with suppress(ConflictError):
        if generated_blocks.read_page(draft.path, after, draft.block).block == new:
            return after
    # Otherwise every run would write the block again.
    what = "a code fence, comment or frontmatter that is never closed would hide the block"
    raise ConflictError(f"{draft.path}: {what}: it was left alone.", "Close it.")


def _refuse_loss(draft: Draft, block: Block, was: Sequence[Line], past: PageHistory) -> None:
    """Raise RefusedError if too many of a page's entries rest on facts that no note contains any more, not counting
    those reworded on the same line of their note."""
    lost = [name for name in block.cites if not (name in past.facts or name in past.withheld)]
    known = frozenset(block.cites).union(*(line.facts for line in was))
    new = frozenset[str]().union(*(line.facts for line in draft.lines)) - known
    reworded = (_places(was, lost) & _places(draft.lines, new)).total()  # in place, in their notes
    count, entries = len(lost) - reworded, len(block.cites)
    if count and past.unread:
        raise RefusedError(
            f"{draft.path} would lose {plural(count, 'fact')}, and {past.unread} cannot be read.",
            "Make that note readable; with --force the page is written anyway.",
        )
    if entries > LOSS_FEW and not count and not any(line.facts for line in draft.lines):
        raise RefusedError(
            f"{draft.path} would lose all {entries} entries: the notes call what it is about by another name.",
            "If you renamed the page, add its old name to its aliases; with --force it is emptied.",
        )
    if count > LOSS_FEW and count > LOSS_SHARE * entries:
        raise RefusedError(
            f"{draft.path} would lose {len(lost)} of {entries} entries, because their notes no longer hold them.",
            "Check that all notes are there and synced; with --force it is written anyway.",
        )
