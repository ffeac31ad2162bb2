"""Owns how a reflect is told: a summary a person wants to read, a diff, the `reflect@1` document.

It decides nothing. A person is told what changed and why in as few lines as that takes: summaries of one kind in one
line, opinions with where they went, and of what was not done the reason. The document has all of it, one by one.
"""

import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from vault_memory.markdown.entities import ENTITY_FOLDER
from vault_memory.markdown.passages import SUMMARIES
from vault_memory.reflect.periods import KINDS, kind_of
from vault_memory.rendering.render import Document, clean, plural, schema

if TYPE_CHECKING:
    from vault_memory.reflect.job import ReflectReport
    from vault_memory.reflect.opinion_changes import Move
    from vault_memory.reflect.plan import Edit
    from vault_memory.reflect.plan_run import ProposalCounts
    from vault_memory.vault.undo_history import UndoReport

SHOWN = 20
"""So many pages of entities are named; the others are counted."""

MOVED, OTHERS = 10, 3
"""So many opinions that moved are named, and of those that came or went."""

STATEMENT = 52
"""The characters of an opinion that are shown: enough to know it by."""

WIDTH = 79

NOT_ASKED = "is not asked in a dry run: what it would write is not shown"


# --- the document ----------------------------------------------------------------------------------------------------


def document(done: "ReflectReport") -> Document:
    """The `reflect@1` document."""
    return schema("reflect") | {
        "dry_run": done.dry_run,
        "run": done.run or None,
        "facts": done.facts,
        "pages": [_page(edit, done.dry_run) for edit in done.edits],
        "unchanged": done.unchanged,
        "opinions": [_opinion(move) for move in done.moves],
        "proposals": _proposals(done.proposed, done.added) if done.proposed else None,
        "periods_skipped": [{"path": path, "why": why} for path, why in done.untold.items()],
        "skipped": [{"path": s.path, "why": s.why, "next_step": s.next_step} for s in done.skipped],
        "notices": [{"path": n.path, "why": n.why, "next_step": n.next_step} for n in done.notices],
        "orphaned": [{"path": orphan.path, "line": orphan.line} for orphan in done.orphaned],
        "odd": [{"path": odd.path, "line": odd.line} for odd in done.odd],
        "left_out": done.left_out,
        "removed": list(done.removed),
        "model": _model(done),
        "seconds": round(done.seconds, 3),
    }


def _page(edit: "Edit", with_diff: bool) -> Document:
    change = edit.change
    counts = {"new": change.new, "changed": change.changed, "retracted": change.retracted, "folded": change.folded}
    return {
        "path": edit.path,
        "action": "created" if edit.before is None else "updated",
        "why": edit.why,
        "facts": counts,
        **({"diff": edit.diff()} if with_diff else {}),
    }


def _opinion(move: "Move") -> Document:
    evidence = [
        {"path": fact.path, "line": fact.line, "date": fact.day.isoformat() if fact.day else None, "text": fact.text}
        for fact in move.evidence
    ]
    return {
        "statement": move.statement, "before": move.before, "after": move.after, "why": move.why, "evidence": evidence
    }  # fmt: skip


def _proposals(proposed: "ProposalCounts", added: int) -> Document:
    reasons = proposed.passed._asdict() | {"full": proposed.full}
    return {"open": proposed.open, "added": added, "reasons": reasons, "gates": proposed.gates._asdict()}


def _model(done: "ReflectReport") -> Document | None:
    """What came of asking the configured model."""
    model = done.model
    if model is None:
        return None
    why = NOT_ASKED if done.dry_run else model.why or None
    return {"method": model.method, "pages": model.pages, "failed": model.failed, "why": why}


# --- for a person ----------------------------------------------------------------------------------------------------


def text(done: "ReflectReport", verbose: bool = False) -> str:
    """What was done, or in a dry run the diff of what would be, and why; with `verbose` nothing is only counted."""
    lines = [clean_diff(edit.diff()) for edit in done.edits] if done.dry_run else []
    lines += _wrapped(_headline(done))
    lines += _asked(done)
    lines += _pages(done.edits, verbose)
    lines += _opinions(done.moves, verbose)
    if done.edits or verbose:
        for sentence in (*_proposed(done), *_left(done), *_removed(done, verbose), *_untold(done, verbose)):
            lines += _wrapped(sentence)
    lines += _orphaned(done, verbose)
    for odd in done.odd:
        lines.append(
            f'  ! {clean(odd.path)}: "{_short(odd.line)}" has no number between 0 and 1: it counts for nothing.'
        )
    lines += (f"  ! {clean(notice.why)} {notice.next_step}" for notice in done.notices)
    for skipped in done.skipped:
        lines.append(f"  ! {clean(skipped.why)} {skipped.next_step}")
    if done.run:
        lines.append(f"Undo with: memory reflect --undo {done.run}")
    return "\n".join(lines)


def _wrapped(sentence: str) -> list[str]:
    return textwrap.wrap(clean(sentence), WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _headline(done: "ReflectReport") -> str:
    """`2 pages made, 3 updated, 2 opinions moved, 1 proposal for memory.md.`"""
    if not done.edits:
        return _nothing(done)
    made = sum(edit.before is None for edit in done.edits)
    parts = [part for part in (_of(made, "page", "made"), _of(len(done.edits) - made, "page", "updated")) if part]
    moved = sum(None not in (move.before, move.after) for move in done.moves)
    parts += [part for part in (_of(moved, "opinion", "moved"), _of(done.added, "proposal", "made")) if part]
    if made and made < len(done.edits):
        parts[1] = f"{len(done.edits) - made:,} updated"
    dry = " (dry run: nothing was written)" if done.dry_run else ""
    return f"{', '.join(parts)}{dry}."


def _of(count: int, noun: str, what: str) -> str:
    return f"{plural(count, noun)} {what}" if count else ""


def _nothing(done: "ReflectReport") -> str:
    """What is said where there was nothing to write."""
    if done.skipped:
        return "Nothing was written."
    if not done.facts:
        return 'Nothing to write yet: no note holds a fact. Try `memory retain "…"`, or keep a daily log.'
    open_ = done.proposed.open if done.proposed else 0
    waits = f" {plural(open_, 'proposal')} for memory.md {_verb(open_, 'wait')} in bank/proposals.md."
    what = "Nothing new to write."
    if done.is_core_only:
        what = "Nothing is ticked in bank/proposals.md."
    elif done.unchanged:
        what = f"Nothing new: {plural(done.unchanged, 'page')} {_verb(done.unchanged, 'say')} what your notes say."
    return f"{what}{waits}" if open_ else what


def _verb(count: int, verb: str) -> str:
    return f"{verb}s" if count == 1 else verb


def _asked(done: "ReflectReport") -> Iterator[str]:
    """What came of asking the configured model, where there is something to tell."""
    model = done.model
    if model is None:
        return
    if done.dry_run:
        yield f"  {clean(model.method)} {NOT_ASKED}."
    if model.pages:
        yield f"  {clean(model.method)} wrote sentences on {plural(model.pages, 'page')}."
    if model.failed:
        yield (
            f"  ! {clean(model.method)} wrote nothing on {plural(model.failed, 'page')}: {clean(model.why)}."
            " They are as without a model; the next run asks again, but not for what it can make nothing of."
        )


# --- pages -----------------------------------------------------------------------------------------------------------


def _pages(edits: Sequence["Edit"], verbose: bool) -> Iterator[str]:
    """Each page with what changed on it; summaries by their kind."""
    summaries = [edit for edit in edits if edit.path.startswith(SUMMARIES)]
    if len(summaries) > 1 and not verbose:
        edits = [edit for edit in edits if not edit.path.startswith(SUMMARIES)]
        yield from _summaries(summaries)
    named = 0
    for edit in edits:
        is_entity = edit.path.startswith(ENTITY_FOLDER)
        named += is_entity
        if verbose or not is_entity or named <= SHOWN:
            yield f"  {'+' if edit.before is None else '~'} {clean(edit.path)}: {clean(edit.why)}"
        elif named == SHOWN + 1:
            count = sum(one.path.startswith(ENTITY_FOLDER) for one in edits) - SHOWN
            yield f"    … and {plural(count, 'more page')} in {ENTITY_FOLDER.rstrip('/')} (-v names them)"


def _summaries(edits: Sequence["Edit"]) -> Iterator[str]:
    """`+ bank/summaries: 8 weeks, 2 months and a year summed up`."""
    folder = SUMMARIES.rstrip("/")
    made = [edit.path for edit in edits if edit.before is None]
    anew = [edit.path for edit in edits if edit.before is not None]
    for mark, paths, what in (("+", made, "summed up"), ("~", anew, "told anew")):
        if paths:
            yield f"  {mark} {folder}: {_kinds(paths)} {what}"


def _kinds(paths: Sequence[str]) -> str:
    """`8 weeks, 2 months and a year`."""
    counts = Counter(map(kind_of, paths))
    return _and([f"a {kind}" if counts[kind] == 1 else plural(counts[kind], kind) for kind in KINDS if counts[kind]])


def _and(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


# --- opinions and proposals ------------------------------------------------------------------------------------------


def _opinions(moves: Sequence["Move"], verbose: bool) -> Iterator[str]:
    """Where opinions went, and why; of those that came or went a few."""
    if not moves:
        return
    yield "Opinions"
    moved = [move for move in moves if move.before is not None and move.after is not None]
    new = [move for move in moves if move.before is None]
    gone = [move for move in moves if move.after is None]
    for kind, most, lines in ((moved, MOVED, _moved), (new, OTHERS, _new), (gone, OTHERS, _gone)):
        shown = len(kind) if verbose or len(kind) <= most + 1 else most
        for move in kind[:shown]:
            yield from lines(move)
        if len(kind) > shown:
            what = "moved" if kind is moved else "new" if kind is new else "gone"
            yield f"    … and {len(kind) - shown:,} more {what} (-v names them)"


def _moved(move: "Move") -> Iterator[str]:
    mark = "↑" if (move.after or 0) > (move.before or 0) else "↓"
    yield f"  {mark} {_quoted(move)} {_decimal(move.before)} → {_decimal(move.after)}:"
    yield f"    {clean(move.why)}"


def _new(move: "Move") -> Iterator[str]:
    yield f"  + {_quoted(move)} {_decimal(move.after)}"


def _gone(move: "Move") -> Iterator[str]:
    yield f"  - {_quoted(move)} {_decimal(move.before)}:"
    yield f"    {clean(move.why)}"


def _quoted(move: "Move") -> str:
    return f'"{_short(move.statement)}"'


def _short(text: str) -> str:
    found = textwrap.shorten(clean(text), STATEMENT, placeholder="…")
    return re.sub(r"[\s.,:;–-]+…$", "…", found)


def _decimal(value: float | None) -> str:
    return f"{value or 0:.2f}".lstrip("0")


def _proposed(done: "ReflectReport") -> Iterator[str]:
    """What waits for a tick, or why nothing does."""
    proposed = done.proposed
    if proposed is None:
        return
    if not proposed.open and done.is_core_only:
        return
    if not proposed.open:
        yield f"0 proposed for memory.md because {_and(list(_reasons(proposed)))}."
        return
    them = "it" if proposed.open == 1 else "them"
    yield f"{plural(proposed.open, 'proposal')} for memory.md (tick {them} in bank/proposals.md)."
    if proposed.full:
        what = "it" if proposed.open == 1 else f"{proposed.full:,} of them"
        yield f"memory.md has no room for {what} ({proposed.gates.core_tokens:,} tokens at most): shorten it first."


def _reasons(proposed: "ProposalCounts") -> Iterator[str]:
    passed, gates = proposed.passed, proposed.gates
    if passed.unsure:
        yield f"{plural(passed.unsure, 'opinion')} {_be(passed.unsure)} less sure than {_decimal(gates.confidence)}"
    if passed.once:
        seldom = "one day only" if gates.days == 2 else f"fewer than {gates.days} days"
        yield f"{plural(passed.once, 'sure one')} {_be(passed.once, 'was', 'were')} told on {seldom}"
    if passed.said:
        yield f"{passed.said:,} {_verb(passed.said, 'stand')} there already"
    if passed.refused:
        yield f"you refused {passed.refused:,}"
    if not any(passed):
        yield "nothing sure or important enough was told yet"


def _be(count: int, one: str = "is", several: str = "are") -> str:
    return one if count == 1 else several


# --- what was not done -----------------------------------------------------------------------------------------------


def _left(done: "ReflectReport") -> Iterator[str]:
    """What stands on no page, and what has no room on one any more."""
    if left := [f"{count:,} {what}" for what, count in done.left_out.items() if count]:
        yield f"Left out: {_and(left)} {'fact' if sum(done.left_out.values()) == 1 else 'facts'}."
    full = [edit.change.folded for edit in done.edits if edit.change.folded]
    if full:
        yield f"Folded away: {plural(sum(full), 'fact')} on {plural(len(full), 'page')}, and counted there."


def _removed(done: "ReflectReport", verbose: bool) -> Iterator[str]:
    """The pages that nobody wants back, and how one who does gets them."""
    named = done.removed if verbose else done.removed[:3]
    more = [f"{len(done.removed) - len(named):,} more"] if len(done.removed) > len(named) else []
    if named:
        yield f"Not made again, for you removed {'it' if len(done.removed) == 1 else 'them'}: {_and([*named, *more])}."
        yield "  To have one back, make an empty note of that name, or run `memory reflect --force`."


def _untold(done: "ReflectReport", verbose: bool) -> Iterator[str]:
    """The periods that have no page because their facts are too few, or of too few words."""
    if verbose:
        yield from done.untold.values()
    elif done.untold:
        are = "has" if len(done.untold) == 1 else "have"
        yield f"Not summed up: {_kinds(list(done.untold))} {are} too few facts, or too short ones (-v says of each)."


def _orphaned(done: "ReflectReport", verbose: bool) -> Iterator[str]:
    """Lines of a person's that rest on what no note holds any more."""
    shown = len(done.orphaned) if verbose else OTHERS
    for orphan in done.orphaned[:shown]:
        what = f'"{_short(orphan.line)}" is yours, and no note bears it out any more. Keep it or delete it.'
        yield f"  ! {clean(orphan.path)}: {what}"
    if len(done.orphaned) > shown:
        yield f"  ! … and {plural(len(done.orphaned) - shown, 'more line')} like that."


def clean_diff(diff: str) -> str:
    """A diff fit for a terminal, its lines kept as they end: `patch` is to understand it."""
    return "\n".join(clean(line.removesuffix("\r")) + "\r" * line.endswith("\r") for line in diff.split("\n"))


def undone_document(undone: "UndoReport", dry_run: bool) -> Document:
    """The `reflect@1` document of an undo, or of what one would do."""
    pages = [{"path": back.path, "action": "deleted" if back.text is None else "restored"} for back in undone.backs]
    return schema("reflect") | {
        "dry_run": dry_run, "run": undone.run, "undone": None if dry_run else undone.run, "pages": pages,
        "kept": list(undone.kept),
    }  # fmt: skip


def undone_text(undone: "UndoReport", dry_run: bool) -> str:
    """What an undo put back and what it deleted, or would."""
    noun = "page" if undone.run.endswith("-reflect") else "note"
    restored, deleted = len(undone.restored), len(undone.deleted)
    if restored:
        said = f"{plural(restored, noun)} put back as before {undone.run}"
        said += f", {deleted:,} deleted that it had made" if deleted else ""
    else:
        said = f"{plural(deleted, noun)} deleted that {undone.run} had made"
    dry = " (dry run: nothing was written)" if dry_run else ""
    lines = [f"  {'-' if back.text is None else '~'} {clean(back.path)}" for back in undone.backs]
    kept = [f"  = {clean(path)}: changed since, and left as it is" for path in undone.kept]
    return "\n".join([f"{said}{dry}.", *lines, *kept])
