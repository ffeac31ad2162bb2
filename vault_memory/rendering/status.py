"""Renders the output of `index`, `lint`, `status` and `doctor`."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from vault_memory.markdown.note import Problem
from vault_memory.rendering.common import Document, schema
from vault_memory.text.output import clean, plural

if TYPE_CHECKING:
    from vault_memory.embedding.configured_embedder import BackfillReport
    from vault_memory.health.doctor import Check
    from vault_memory.indexing.indexer import Report
    from vault_memory.sessions.sync import SyncReport

MAX_PROBLEMS = 12

MARKS = {"ok": "✓", "notice": "·", "warning": "!", "error": "✗"}

INDENT = " " * 9


# --- index and lint --------------------------------------------------------------------------------------------------


def index_document(
    report: "Report", filled: "BackfillReport | None" = None, swept: "SyncReport | None" = None
) -> Document:
    """The `index@1` document."""
    names = ("added", "modified", "moved", "removed", "unchanged", "passages", "facts", "embedded", "from_cache")
    return schema("index") | {name: getattr(report, name) for name in names} | {
        "rebuilt": report.rebuilt or None, "seconds": round(report.seconds, 3),
        "problems": [problem._asdict() for problem in report.problems],
        "backfill": asdict(filled) | {"waiting": filled.waiting} if filled else None,
        "sessions": asdict(swept) | {"tools": list(swept.tools), "seconds": round(swept.seconds, 3)} if swept else None,
    }  # fmt: skip


def index_text(report: "Report") -> str:
    """A summary line and the problems that need attention."""
    lines = []
    if report.rebuilt and report.rebuilt not in ("asked for", "there was none"):
        lines.append(f"Rebuilt the index: {report.rebuilt}.")
    changes = _changes(added=report.added, modified=report.modified, moved=report.moved, removed=report.removed)
    total = report.added + report.modified + report.moved + report.unchanged
    read = f"{plural(report.passages, 'passage')} and {plural(report.facts, 'fact')} read in {report.seconds:.1f} s"
    lines.append(f"{plural(total, 'note')} ({changes}), {read}")
    pressing = [problem for problem in report.problems if problem.level in ("error", "warning")]
    lines += map(problem_line, pressing[:MAX_PROBLEMS])
    if len(pressing) > MAX_PROBLEMS:
        lines.append(f"… and {len(pressing) - MAX_PROBLEMS} more: see `memory lint`")
    if others := len(report.problems) - len(pressing):
        lines.append(f"{plural(others, 'formatting problem')}: see `memory lint`")
    return "\n".join(lines)


def _changes(**counts: int) -> str:
    return ", ".join(f"{count:,} {what}" for what, count in counts.items() if count) or "nothing changed"


def sessions_text(swept: "SyncReport") -> str:
    """What was read from the transcripts, and what is wrong with them."""
    changes = _changes(added=swept.added, grown=swept.grown, reread=swept.anew, removed=swept.removed)
    left_out = f", {plural(swept.outputs, 'tool output')} left out" if swept.outputs else ""
    read = f"{plural(swept.messages, 'message')} read in {swept.seconds:.1f} s{left_out}"
    lines = [f"{plural(swept.transcripts, 'session')} ({changes}), {read}"]
    if swept.skipped:
        lines.append(f"{plural(swept.skipped, 'damaged record')} in transcripts skipped")
    if swept.gone:
        lines.append(f"{plural(swept.gone, 'session')} whose transcript is gone: their text is kept")
    return "\n".join([*lines, *map(clean, swept.problems)])


def backfill_text(filled: "BackfillReport") -> str:
    """What was embedded, truncated or given up, and what is still to do and why."""
    done = f"{filled.done:,} of {plural(filled.passages, 'passage')} ({filled.embedded:,} embedded)"
    lines = [f"{filled.embedder}: {done}"]
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


def lint_document(found: Sequence[Problem]) -> Document:
    """The `lint@1` document."""
    return schema("lint") | {"count": len(found), "problems": [problem._asdict() for problem in found]}


# --- status and doctor -----------------------------------------------------------------------------------------------


def narrowed(document: Document) -> Document:
    """The document for a caller with scopes, without what daemon, reflect and capture report about all notes."""
    daemon = document["daemon"]
    if daemon and document["index"]["generation"]:
        daemon = daemon | {"oldest_pending_seconds": None, "indexing": None}
    return document | {"reflect": None, "capture": None, "daemon": daemon}  # those name and count private pages too


def status_text(document: Document) -> str:
    """A `status@1` document as text: vault, index, its content, vectors, other sources, last runs, daemon."""
    index, daemon = document["index"], document["daemon"]
    lines = [f"vault    {document['vault']}"]
    if not index["generation"]:
        lines.append("index    none that can be used: run `memory index`")
    else:
        where = "" if index["why_there"] == "vault" else f" ({index['why_there']})"
        behind = "not up to date" if index["pending"] is None else f"{plural(index['pending'], 'note')} behind"
        size = f", {index['bytes'] / 1e6:.1f} MB" if index["bytes"] is not None else ""
        counts = ", ".join(plural(index[f"{noun}s"], noun) for noun in ("note", "passage", "fact"))
        lines.append(f"index    {index['path']}{where}{size}, {'up to date' if index['fresh'] else behind}")
        lines.append(f"holds    {counts}")
        lines += [_vectors(each, index["passages"]) for each in index["embedders"]]
    lines += _sessions(document["sessions"]) if document["sessions"] else []
    lines += map(_root, document["roots"])
    lines += _reflected(document["reflect"]) if document["reflect"] else []
    lines += _captured(document["capture"]) if document["capture"] else []
    lines += _daemon(daemon) if daemon else ["daemon   not running: `memory watch` starts it"]
    return "\n".join(lines)


def _vectors(each: Document, passages: int) -> str:
    line = f"vectors  {each['vectors']:,} of {each['id']}"
    if each["passages"] < passages:
        line += f", for {each['passages']:,} of {plural(passages, 'passage')}"
        line += f", {each['without']:,} without one" if each["without"] else ""
    return line + ("" if each["configured"] else " (no longer configured)")


def _sessions(found: Document) -> Iterator[str]:
    damaged = f", {plural(found['skipped'], 'damaged record')} skipped" if found["skipped"] else ""
    gone = f", {found['gone']:,} whose transcript is gone" if found["gone"] else ""
    held = f"{found['transcripts']:,} from {', '.join(found['tools'])}, {plural(found['messages'], 'message')}"
    yield f"sessions {held}{gone}{damaged}"
    if found["swept"]:
        behind = f"{plural(found['pending'], 'session')} behind" if found["pending"] else "up to date"
        yield f"{INDENT}{found['folder']}, {found['bytes'] / 1e6:.1f} MB, read {_local(found['swept'])}, {behind}"


def _root(root: Document) -> str:
    if root["why_not"]:
        return f"root     {root['name']}: {clean(root['why_not'])}"
    state = "up to date" if root["fresh"] else f"{plural(root['pending'] or 0, 'note')} behind"
    held = f"{plural(root['notes'], 'note')}, {root['bytes'] / 1e6:.1f} MB, {state}"
    held = held if root["bytes"] else "not indexed yet: the next question does it"
    return clean(f"root     {root['name']}: {root['path']}, {root['scope']}, {held}")


def _reflected(last: Document) -> Iterator[str]:
    if last["ok"]:
        skipped = f", {last['skipped']:,} skipped" if last["skipped"] else ""
        waiting = f", {plural(last['proposals'], 'proposal')} waiting" if last["proposals"] else ""
        undone = ", undone since" if last["undone"] else ""
        yield f"reflect  {_local(last['at'])}, {plural(last['pages'], 'page')} written{undone}{skipped}{waiting}"
    else:
        yield f"reflect  {_local(last['at'])}, failed"
    if last["why"]:
        yield f"{INDENT}{clean(last['why'])}"
    if last["next_step"]:
        yield f"{INDENT}→ {clean(last['next_step'])}"
    if last["undo"]:
        yield f"{INDENT}undo with: memory undo {last['undo']}"


def _captured(last: Document) -> Iterator[str]:
    did = f"{last['written']:,} written, {last['proposed']:,} proposed, {last['waiting']:,} waiting for your answer"
    yield f"capture  {_local(last['at'])}, {did if last['ok'] else 'failed'}"
    if not last["ok"]:
        yield f"{INDENT}{clean(last['why'])}"
        yield f"{INDENT}→ {clean(last['next_step'])}"
    if last["secrets"]:
        yield f"{INDENT}not kept, as it looked like a secret: {plural(last['secrets'], 'statement')}"
    if last["problems"]:
        yield f"{INDENT}{plural(last['problems'], 'notice')}, which `memory capture` printed"


def _local(instant: str) -> str:
    return f"{datetime.fromisoformat(instant).astimezone():%Y-%m-%d %H:%M}"


def _daemon(daemon: Document) -> Iterator[str]:
    watching = "watching for changes" if daemon["watching"] == "native" else "checking every few seconds"
    waits = daemon["oldest_pending_seconds"]
    waiting = f", {plural(daemon['pending'], 'change')} waiting for {waits:.1f} s" if waits is not None else ""
    up = timedelta(seconds=int(daemon["uptime_seconds"]))  # as `2 days, 4:05:06`
    yield f"daemon   process {daemon['pid']}, up {up}, {watching}{waiting}"
    if daemon["indexing"]:
        yield f"{INDENT}indexing {daemon['indexing']['done']:,} of {daemon['indexing']['total']:,}"
    if daemon["why"]:
        yield f"{INDENT}{clean(daemon['why'])}"
        yield from ([f"{INDENT}→ {daemon['mend']}"] if daemon["mend"] else [])
    if daemon["trouble"]:
        yield f"{INDENT}cannot update the index: {clean(daemon['trouble']['what'])}"
        yield f"{INDENT}→ {clean(daemon['trouble']['mend'])}"
    if daemon["settings"]:
        yield f"{INDENT}still using the old settings: {clean(daemon['settings'])}"


def doctor_document(checks: "Sequence[Check]") -> Document:
    """The `doctor@1` document."""
    listed = [{"name": each.name, "level": each.level, "message": each.message, "mend": each.fix} for each in checks]
    return schema("doctor") | {"ok": not any(check.level == "error" for check in checks), "checks": listed}


def doctor_text(checks: "Sequence[Check]") -> str:
    """One line per check, with what to do about it."""
    lines = []
    for check in checks:
        lines.append(f"{MARKS[check.level]} {check.name:11} {clean(check.message)}")
        lines += [f"  {'':11} → {clean(check.fix)}"] if check.fix else []
    return "\n".join(lines)
