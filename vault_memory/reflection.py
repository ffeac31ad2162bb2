"""Owns how a reflect is told: a summary a person wants to read, a diff, the `reflect@1` document."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from vault_memory.render import Document, clean, plural, schema

if TYPE_CHECKING:
    from vault_memory.reflect.job import Reflected

SHOWN = 20
"""So many pages are named; the others are counted."""

NOT_ASKED = "is not asked in a dry run: what it would write is not shown"


def document(done: "Reflected") -> Document:
    """The `reflect@1` document."""
    pages = [
        {
            "path": edit.path,
            "action": "created" if edit.before is None else "updated",
            "why": edit.why,
            **({"diff": edit.diff()} if done.dry_run else {}),
        }
        for edit in done.edits
    ]
    return schema("reflect") | {
        "dry_run": done.dry_run,
        "run": done.run or None,
        "facts": done.facts,
        "pages": pages,
        "unchanged": done.unchanged,
        "skipped": [{"path": s.path, "why": s.why, "next_step": s.next_step} for s in done.skipped],
        "left_out": done.left_out,
        "removed": list(done.removed),
        "model": _model(done),
        "seconds": round(done.seconds, 3),
    }


def text(done: "Reflected") -> str:
    """What was done, or in a dry run the diff of what would be, and why."""
    lines = [clean_diff(edit.diff()) for edit in done.edits] if done.dry_run else []
    lines.append(_counts(done))
    lines += _asked(done)
    for edit in done.edits[:SHOWN]:
        lines.append(f"  {'+' if edit.before is None else '~'} {clean(edit.path)}: {edit.why}")
    if len(done.edits) > SHOWN:
        lines.append(f"  … and {len(done.edits) - SHOWN:,} more")
    if done.removed:
        lines.append(f"  {_removed(done)}")
    for skipped in done.skipped:
        lines.append(f"  ! {clean(skipped.why)} {skipped.next_step}")
    if done.run:
        lines.append(f"Undo with: memory reflect --undo {done.run}")
    return "\n".join(lines)


def _counts(done: "Reflected") -> str:
    """`2 pages made, 3 updated, 21 as they were.`"""
    made = sum(edit.before is None for edit in done.edits)
    counts = ((made, "made"), (len(done.edits) - made, "updated"), (done.unchanged, "as they were"))
    parts = [f"{count:,} {what}" for count, what in counts if count]
    dry = " (dry run: nothing was written)" if done.dry_run else ""
    return f"Pages: {', '.join(parts) or 'none'}{dry}."


def _removed(done: "Reflected") -> str:
    """The pages that nobody wants back, and how one who does gets them."""
    named = ", ".join(clean(path) for path in done.removed[:3])
    more = f" and {len(done.removed) - 3:,} more" if len(done.removed) > 3 else ""
    are = "was removed and is" if len(done.removed) == 1 else "were removed and are"
    again = "make an empty note of that name, or run `memory reflect --force`"
    return f"{named}{more} {are} not made again; to have it back, {again}."


def _model(done: "Reflected") -> Document | None:
    """What came of asking the configured model."""
    model = done.model
    if model is None:
        return None
    why = NOT_ASKED if done.dry_run else model.why or None
    return {"method": model.method, "pages": model.pages, "failed": model.failed, "why": why}


def _asked(done: "Reflected") -> Iterator[str]:
    """The same for a person, where there is something to tell."""
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
            " They are as without a model; the next run asks again."
        )


def clean_diff(diff: str) -> str:
    """A diff fit for a terminal, its lines kept as they end: `patch` is to understand it."""
    return "\n".join(clean(line.removesuffix("\r")) + "\r" * line.endswith("\r") for line in diff.split("\n"))


def undone_document(run: str, paths: list[str]) -> Document:
    """The `reflect@1` document of an undo."""
    return schema("reflect") | {"undone": run, "pages": [{"path": path, "action": "restored"} for path in paths]}


def undone_text(run: str, paths: list[str]) -> str:
    """What an undo put back."""
    return "\n".join(
        [f"{plural(len(paths), 'page')} put back as before {run}.", *(f"  {clean(path)}" for path in paths)]
    )
