"""Renders the output of `reflect`: a summary, a diff, or the `reflect@1` document, which alone is complete."""

import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from vault_memory.reflect.core_proposals import CORE_TOKENS, MOST_OPEN, SURE, SURE_DAYS
from vault_memory.reflect.opinion_page import decimal
from vault_memory.rendering.common import Document, schema
from vault_memory.text.calendar_days import PERIODS, kind_of
from vault_memory.text.output import clean, cut, listed, plural

if TYPE_CHECKING:
    from vault_memory.reflect.job import ReflectReport
    from vault_memory.reflect.opinion_page import Move

MAX_PAGES = 20
MAX_MOVED, MAX_OTHERS = 10, 3
STATEMENT_CELLS = 52
WIDTH = 79

NOT_COUNTED = ("once", "said", "refused", "repeated", "later", "full")
"""Obsolete fields of `proposals.reasons`, kept in `reflect@1` as null for compatibility."""

NOT_ASKED = "is not asked in a dry run, so what it would write is not shown"


# --- documents -------------------------------------------------------------------------------------------------------


def reflect_document(done: "ReflectReport") -> Document:
    """The `reflect@1` document."""
    model, proposed = done.model, done.proposed
    return schema("reflect") | {
        "dry_run": done.dry_run,
        "run": done.run or None,
        "facts": done.facts,
        "pages": [
            {
                "path": edit.path, "action": "created" if edit.before is None else "updated", "why": edit.why,
                "facts": {name: getattr(edit.change, name) for name in ("new", "changed", "retracted", "folded")},
            }
            | ({"diff": edit.diff()} if done.dry_run else {})
            for edit in done.edits
        ],
        "unchanged": done.unchanged,
        "opinions": [
            {
                "statement": move.statement, "before": move.before, "after": move.after, "why": move.why,
                "evidence": [
                    {"path": at.path, "line": at.line, "date": str(at.day) if at.day else None, "text": at.text}
                    for at in move.evidence
                ],
            }
            for move in done.moves
        ],
        "proposals": proposed and {
            "open": proposed.open, "added": done.added,
            "reasons": {"unsure": proposed.unsure} | dict.fromkeys(NOT_COUNTED),
            "gates": {"confidence": SURE, "days": SURE_DAYS, "open": MOST_OPEN, "core_tokens": CORE_TOKENS},
        },
        "periods_skipped": [{"path": path, "why": why} for path, why in done.untold.items()],
        "skipped": [{"path": s.path, "why": s.why, "next_step": s.next_step} for s in done.skipped],
        "notices": [{"path": n.path, "why": n.why, "next_step": n.next_step} for n in done.notices],
        "orphaned": [{"path": orphan.path, "line": orphan.line} for orphan in done.orphaned],
        "odd": [{"path": odd.path, "line": odd.line} for odd in done.odd],
        "left_out": done.left_out,
        "removed": list(done.removed),
        "model": model and {
            "method": model.method, "pages": model.pages, "failed": model.failed,
            "why": NOT_ASKED if done.dry_run else model.why or None,
        },
        "seconds": round(done.seconds, 3),
    }  # fmt: skip


# --- text ------------------------------------------------------------------------------------------------------------


def reflect_text(done: "ReflectReport", verbose: bool = False) -> str:
    """What was done and why, preceded in a dry run by the diff; with `verbose` all items are listed, not counted."""
    # Keep the line endings of a diff, so that `patch` can apply it.
    diffs = [line for edit in done.edits for line in edit.diff().split("\n")] if done.dry_run else []
    lines = [clean(line.removesuffix("\r")) + "\r" * line.endswith("\r") for line in diffs]
    lines += _wrapped(_headline(done))
    if (model := done.model) and done.dry_run:
        lines.append(f"  {clean(model.method)} {NOT_ASKED}.")
    if model and model.pages:
        lines.append(f"  {clean(model.method)} wrote sentences on {plural(model.pages, 'page')}.")
    if model and model.failed:
        failed = f"{clean(model.method)} failed on {plural(model.failed, 'page')}: {clean(model.why)}."
        lines.append(f"  ! {failed} They were written without it; the next run tries again where that may help.")
    pages = [f"  {'+' if edit.before is None else '~'} {clean(edit.path)}: {clean(edit.why)}" for edit in done.edits]
    lines += _first(pages, MAX_PAGES, "pages", verbose)
    lines += _opinions(done.moves, verbose)
    is_told = done.edits or verbose
    is_odd = not done.facts or len(done.removed) > done.unchanged  # there is a reason for so few pages
    sentences = (*(_proposals(done) if is_told else ()), *(_left_out(done, verbose) if is_told or is_odd else ()))
    for sentence in sentences:
        lines += _wrapped(sentence)
    orphaned = [
        f'  ! {clean(one.path)}: no note supports your line "{_short(one.line)}" any more. Keep or delete it.'
        for one in done.orphaned
    ]
    lines += _first(orphaned, MAX_OTHERS, "lines like that", verbose)
    for odd in done.odd:
        lines.append(f'  ! {clean(odd.path)}: "{_short(odd.line)}" has no number between 0 and 1 and is ignored.')
    lines += (f"  ! {clean(notice.why)} {notice.next_step}" for notice in done.notices)
    reasons = defaultdict(list)  # by what is left of each without the page's name
    for skipped in done.skipped:
        reasons[skipped.why.replace(skipped.path, "")].append(skipped)
    for first, *others in reasons.values():
        same = f" The same holds for {plural(len(others), 'more page')}." if others else ""
        lines.append(f"  ! {clean(first.why)} {first.next_step}{same}")
    if done.run:
        lines.append(f"Undo with: memory undo {done.run}")
    return "\n".join(lines)


def _wrapped(sentence: str) -> list[str]:
    return textwrap.wrap(clean(sentence), WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _headline(done: "ReflectReport") -> str:
    """`2 pages made, 3 updated, 2 opinions moved, 1 proposal made.`"""
    made = sum(edit.before is None for edit in done.edits)
    updated = len(done.edits) - made
    moved = sum(None not in (move.before, move.after) for move in done.moves)
    if done.edits:
        parts = [f"{plural(made, 'page')} made"] if made else []
        parts += [f"{f'{updated:,}' if made else plural(updated, 'page')} updated"] if updated else []
        parts += [f"{plural(moved, 'opinion')} moved"] if moved else []
        parts += [f"{plural(done.added, 'proposal')} made"] if done.added else []
        return f"{', '.join(parts)}{' (dry run: nothing was written)' if done.dry_run else ''}."
    if done.skipped:
        return "Nothing was written."
    if not done.facts and any(done.left_out.values()):
        return "Nothing to write: no fact is for pages."
    if not done.facts:
        return 'Nothing to write yet: no note holds a fact. Try `memory retain "…"`, or keep a daily log.'
    what, layout = "Nothing new to write.", done.layout
    if done.unchanged:
        what = f"Nothing new: {plural(done.unchanged, 'page')} already up to date."
    waiting = done.proposed.open if done.proposed else 0
    wait = "waits" if waiting == 1 else "wait"
    return f"{what} {plural(waiting, 'proposal')} for {layout.core} {wait} in {layout.proposals}." if waiting else what


def _first(lines: Sequence[str], most: int, what: str, verbose: bool) -> Iterator[str]:
    """At most `most` lines (one more if that completes them), then how many are left."""
    shown = len(lines) if verbose or len(lines) <= most + 1 else most
    yield from lines[:shown]
    if len(lines) > shown:
        yield f"    … and {len(lines) - shown:,} more {what} (-v lists them)"


# --- opinions and proposals ------------------------------------------------------------------------------------------


def _opinions(moves: Sequence["Move"], verbose: bool) -> Iterator[str]:
    if moves:
        yield "Opinions"
    moved = [_moved(move) for move in moves if None not in (move.before, move.after)]
    new = [_moved(move) for move in moves if move.before is None]
    gone = [_moved(move) for move in moves if move.after is None]
    for what, lines, most in (("moved", moved, MAX_MOVED), ("new", new, MAX_OTHERS), ("gone", gone, MAX_OTHERS)):
        yield from _first(lines, most, what, verbose)


def _moved(move: "Move") -> str:
    quoted = f'"{_short(move.statement)}"'
    if move.before is None:
        return f"  + {quoted} {decimal(move.after or 0)}"
    mark = "-" if move.after is None else "↑" if move.after > move.before else "↓"
    after = f" → {decimal(move.after)}" if move.after is not None else ""
    return f"  {mark} {quoted} {decimal(move.before)}{after}:\n    {clean(move.why)}"


def _short(text: str) -> str:
    return cut(clean(" ".join(text.split())), STATEMENT_CELLS)


def _proposals(done: "ReflectReport") -> Iterator[str]:
    proposed, core = done.proposed, done.layout.core
    if proposed and proposed.open:
        them = "it" if proposed.open == 1 else "them"
        yield f"{plural(proposed.open, 'proposal')} for {core}: tick {them} in {done.layout.proposals}."
    elif proposed:
        unsure = f"{plural(proposed.unsure, 'opinion')} below {decimal(SURE)}" if proposed.unsure else ""
        yield f"Nothing proposed for {core}: {unsure or 'nothing new is certain or important enough yet'}."


# --- what was not done -----------------------------------------------------------------------------------------------


def _left_out(done: "ReflectReport", verbose: bool) -> Iterator[str]:
    """What is on no page, and why."""
    if left := [f"{count:,} {what}" for what, count in done.left_out.items() if count]:
        yield f"Left out: {listed(left)} {'fact' if sum(done.left_out.values()) == 1 else 'facts'}."
    if full := [edit.change.folded for edit in done.edits if edit.change.folded]:
        are = "is" if sum(full) == 1 else "are"
        yield f"{plural(sum(full), 'older fact')} on {plural(len(full), 'page')} {are} now only counted."
    named = done.removed if verbose else done.removed[:3]
    more = [f"{len(done.removed) - len(named):,} more"] if len(done.removed) > len(named) else []
    if named:
        them = "it" if len(done.removed) == 1 else "them"
        yield f"Not recreated, because you removed {them}: {listed([*named, *more])}."
        yield "  To get one back, create an empty note with that name or run `memory reflect --force`."
    if verbose:
        yield from done.untold.values()
    elif done.untold:
        counts = Counter(map(kind_of, done.untold))
        periods = listed([plural(counts[kind], kind) for kind in PERIODS if counts[kind]])
        yield f"Skipped {periods} with too little to summarise (-v for details)."
