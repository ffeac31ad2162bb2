"""Owns how a run of the index is told: what it found, what of sessions and vectors, what is wrong with the notes."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING

from vault_memory.markdown.note import Problem
from vault_memory.rendering.render import Document, clean, plural, schema

if TYPE_CHECKING:
    from vault_memory.embedding.backfill import BackfillReport
    from vault_memory.indexing.indexer import Report
    from vault_memory.sessions.sync import SyncReport


def problems(problems: Iterable[Problem]) -> list[Document]:
    return [{"path": p.path, "line": p.line, "message": p.message, "level": p.level} for p in problems]


def index_document(
    report: "Report", filled: "BackfillReport | None" = None, swept: "SyncReport | None" = None
) -> Document:
    """The `index@1` document."""
    names = ("added", "modified", "moved", "removed", "unchanged", "passages", "facts", "embedded", "from_cache")
    counts = {name: getattr(report, name) for name in names}
    return schema("index") | counts | {
        "rebuilt": report.rebuilt or None, "seconds": round(report.seconds, 3), "problems": problems(report.problems),
        "backfill": backfill_document(filled), "sessions": sessions_document(swept),
    }  # fmt: skip


def sessions_document(swept: "SyncReport | None") -> Document | None:
    """What `index@1` says of the transcripts of agents' sessions."""
    return asdict(swept) | {"tools": list(swept.tools), "seconds": round(swept.seconds, 3)} if swept else None


def sessions_text(swept: "SyncReport") -> str:
    """What was read of the transcripts, and what is wrong with them."""
    counts = ((swept.added, "added"), (swept.grown, "grown"), (swept.anew, "read anew"), (swept.removed, "removed"))
    parts = ", ".join(f"{count:,} {what}" for count, what in counts if count) or "nothing changed"
    left_out = f" and {plural(swept.outputs, 'output')} of tools left out" if swept.outputs else ""
    lines = [
        f"{plural(swept.transcripts, 'session')} ({parts}), {plural(swept.messages, 'message')} read{left_out}"
        f" in {swept.seconds:.1f} s"
    ]
    if swept.skipped:
        lines.append(f"{plural(swept.skipped, 'damaged record')} in transcripts, passed over")
    if swept.gone:
        lines.append(f"{plural(swept.gone, 'session')} without a transcript by now: what was said in them stays")
    if swept.unfinished:
        lines.append(f"{plural(swept.unfinished, 'transcript')} ending within a line, which is read once it is whole")
    return "\n".join([*lines, *map(clean, swept.problems)])


def index_text(report: "Report", shown: int = 12) -> str:
    """A summary line and what needs attention: errors and warnings whole, format findings counted."""
    parts = [
        f"{getattr(report, name)} {name}" for name in ("added", "modified", "moved", "removed") if getattr(report, name)
    ]
    lines = []
    if report.rebuilt and report.rebuilt not in ("asked for", "there was none"):
        lines.append(f"Built the index anew: {report.rebuilt}.")
    done = ", ".join(parts) or "nothing changed"
    total = report.added + report.modified + report.moved + report.unchanged
    lines.append(
        f"{plural(total, 'note')} ({done}), {plural(report.passages, 'passage')} and {plural(report.facts, 'fact')}"
        f" read in {report.seconds:.1f} s"
    )
    pressing = [p for p in report.problems if p.level in ("error", "warning")]
    lines += [problem_line(p) for p in pressing[:shown]]
    if len(pressing) > shown:
        lines.append(f"… and {len(pressing) - shown} more: see `memory lint`")
    others = len(report.problems) - len(pressing)
    if others:
        lines.append(f"{plural(others, 'finding')} about the format: see `memory lint`")
    return "\n".join(lines)


def backfill_document(filled: "BackfillReport | None") -> Document | None:
    """What `index@1` says of a configured embedder's vectors."""
    return asdict(filled) | {"waiting": filled.waiting} if filled else None


def backfill_text(filled: "BackfillReport") -> str:
    """What was embedded, what was cut or given up, and what still waits and why."""
    parts = [f"{filled.embedded:,} embedded"]
    parts += [f"{filled.from_cache:,} known already"] if filled.from_cache else []
    parts += [f"{filled.removed:,} no longer needed"] if filled.removed else []
    lines = [f"{filled.embedder}: {filled.done:,} of {plural(filled.passages, 'passage')} ({', '.join(parts)})"]
    if filled.cut:
        lines.append(f"{plural(filled.cut, 'text')} longer than the model reads: embedded without the end")
    if filled.without:
        lines.append(f"{plural(filled.without, 'passage')} without a usable vector: found by words only")
    if filled.stopped:
        still = f": {plural(filled.waiting, 'passage')} still to embed" if filled.waiting else ""
        lines.append(clean(f"{filled.stopped}{still}."))
        lines.append(clean(filled.next_step))
    return "\n".join(lines)


def problem_line(problem: Problem) -> str:
    """`path:line: what is wrong`."""
    place = f"{problem.path}:{problem.line}" if problem.line else problem.path
    return clean(f"{place}: {problem.message}").replace("\n", "\\n")
