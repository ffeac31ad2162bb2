"""What `index` and `lint` print: what a run found, sessions and vectors with it, what is wrong with the notes."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from vault_memory.markdown.note import Problem
from vault_memory.rendering.common import Document, clean, plural, schema

if TYPE_CHECKING:
    from vault_memory.embedding.backfill import BackfillReport
    from vault_memory.indexing.indexer import Report
    from vault_memory.sessions.sync import SyncReport

MAX_PROBLEMS = 12


def index_document(
    report: "Report", filled: "BackfillReport | None" = None, swept: "SyncReport | None" = None
) -> Document:
    """The `index@1` document."""
    names = ("added", "modified", "moved", "removed", "unchanged", "passages", "facts", "embedded", "from_cache")
    return schema("index") | {name: getattr(report, name) for name in names} | {
        "rebuilt": report.rebuilt or None, "seconds": round(report.seconds, 3), "problems": problems(report.problems),
        "backfill": asdict(filled) | {"waiting": filled.waiting} if filled else None,
        "sessions": asdict(swept) | {"tools": list(swept.tools), "seconds": round(swept.seconds, 3)} if swept else None,
    }  # fmt: skip


def index_text(report: "Report") -> str:
    """A summary line and what needs attention: errors and warnings whole, format findings counted."""
    lines = []
    if report.rebuilt and report.rebuilt not in ("asked for", "there was none"):
        lines.append(f"Rebuilt the index: {report.rebuilt}.")
    counts = ((getattr(report, name), name) for name in ("added", "modified", "moved", "removed"))
    total = report.added + report.modified + report.moved + report.unchanged
    lines.append(
        f"{plural(total, 'note')} ({_changes(counts)}), {plural(report.passages, 'passage')} and"
        f" {plural(report.facts, 'fact')} read in {report.seconds:.1f} s"
    )
    pressing = [problem for problem in report.problems if problem.level in ("error", "warning")]
    lines += map(problem_line, pressing[:MAX_PROBLEMS])
    if len(pressing) > MAX_PROBLEMS:
        lines.append(f"… and {len(pressing) - MAX_PROBLEMS} more: see `memory lint`")
    if others := len(report.problems) - len(pressing):
        lines.append(f"{plural(others, 'formatting problem')}: see `memory lint`")
    return "\n".join(lines)


def _changes(counts: Iterable[tuple[int, str]]) -> str:
    return ", ".join(f"{count:,} {what}" for count, what in counts if count) or "nothing changed"


def sessions_text(swept: "SyncReport") -> str:
    """What was read of the transcripts, and what is wrong with them."""
    counts = ((swept.added, "added"), (swept.grown, "grown"), (swept.anew, "reread"), (swept.removed, "removed"))
    left_out = f", {plural(swept.outputs, 'tool output')} left out" if swept.outputs else ""
    lines = [
        f"{plural(swept.transcripts, 'session')} ({_changes(counts)}), {plural(swept.messages, 'message')} read"
        f" in {swept.seconds:.1f} s{left_out}"
    ]
    if swept.skipped:
        lines.append(f"{plural(swept.skipped, 'damaged record')} in transcripts skipped")
    if swept.gone:
        lines.append(f"{plural(swept.gone, 'session')} whose transcript is gone: their text is kept")
    if swept.unfinished:
        lines.append(f"{plural(swept.unfinished, 'transcript')} ending in an unfinished line, to be read when complete")
    return "\n".join([*lines, *map(clean, swept.problems)])


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
        lines += [clean(f"{filled.stopped}{still}."), clean(filled.next_step)]
    return "\n".join(lines)


def problem_line(problem: Problem) -> str:
    """`path:line: what is wrong`."""
    place = f"{problem.path}:{problem.line}" if problem.line else problem.path
    return clean(f"{place}: {problem.message}").replace("\n", "\\n")


def problems(problems: Iterable[Problem]) -> list[Document]:
    return [{"path": p.path, "line": p.line, "message": p.message, "level": p.level} for p in problems]


def lint_document(found: Sequence[Problem]) -> Document:
    """The `lint@1` document."""
    return schema("lint") | {"count": len(found), "problems": problems(found)}
