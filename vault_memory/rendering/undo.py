"""Renders the output of `undo`: what was restored and deleted, as text or as a `reflect@1` document."""

from collections.abc import Iterator

from vault_memory.markdown.note import decoded_lines
from vault_memory.rendering.common import Document, schema
from vault_memory.text.output import clean, plural
from vault_memory.vault.undo_history import RestoredNote, UndoReport
from vault_memory.write.rewrite import difference
from vault_memory.write.undo import RESCUED

NAMES = {RESCUED: "another program's save"}
"""Kinds of runs that are not named like a command."""


def undone_document(undone: UndoReport, dry_run: bool) -> Document:
    """The `reflect@1` document of an undo or, in a dry run, of what it would do."""
    pages = [{"path": back.path, "action": "deleted" if back.text is None else "restored"} for back in undone.backs]
    return schema("reflect") | {
        "dry_run": dry_run, "run": undone.run, "kind": undone.kind, "undone": None if dry_run else undone.run,
        "pages": pages, "kept": list(undone.kept),
    }  # fmt: skip


def undone_text(undone: UndoReport, dry_run: bool) -> str:
    """What an undo restored and deleted or, in a dry run, would."""
    return "\n".join(map(clean, _lines(undone, dry_run)))


def _lines(undone: UndoReport, dry_run: bool) -> Iterator[str]:
    deleted = sum(back.text is None for back in undone.backs)
    counts = ((len(undone.backs) - deleted, "restored"), (deleted, "it had created deleted"))
    parts = ", ".join(f"{plural(count, 'note')} {what}" for count, what in counts if count)
    at = f"{undone.started.astimezone():%Y-%m-%d %H:%M}"
    dry = " (dry run: nothing was written)" if dry_run else ""
    yield f"Undo of {NAMES.get(undone.kind, undone.kind)}, {at}: {parts}{dry}."
    yield from (f"  {'-' if back.text is None else '~'} {back.path}" for back in undone.backs)
    yield from (f"  = {path}: changed since, left as it is" for path in undone.kept)
    if undone.kind == "forget":
        yield f"What was forgotten {'would be' if dry_run else 'is'} back:"
        yield from (f"  {line}" for back in undone.backs for line in _forgotten(back))


def _forgotten(back: RestoredNote) -> list[str]:
    diff = difference(back.path, *(decoded_lines(data)[0] for data in (back.now, back.text or b""))).split("\n")
    return [line[1:] for line in diff[2:] if line.startswith("+")]
