"""What `status` and `doctor` print."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from vault_memory.rendering.common import Document, clean, plural, schema

if TYPE_CHECKING:
    from vault_memory.health.doctor import Check
    from vault_memory.health.status import Status
    from vault_memory.sessions.ledger import SessionCounts

MARKS = {"ok": "✓", "notice": "·", "warning": "!", "error": "✗"}

INDENT = " " * 9


def status_document(status: "Status") -> Document:
    """The `status@1` document; a daemon fills in its own part."""
    names = ("path", "bytes", "fresh", "pending", "generation", "notes", "passages", "facts", "why_there")
    index: Document = {name: getattr(status, name) for name in names}
    index["embedders"] = [each._asdict() for each in status.embedders]
    return schema("status") | {
        "vault": status.vault, "index": index,
        "sessions": _sessions_document(status.sessions) if status.sessions else None,
        "roots": [root._asdict() | {"why_not": root.why_not or None} for root in status.roots],
        "reflect": _reflect_document(status), "daemon": None,
    }  # fmt: skip


def _sessions_document(sessions: "SessionCounts") -> Document:
    document = sessions._asdict() | {"tools": list(sessions.tools)}
    synced = document.pop("synced")
    return document | {"swept": synced and datetime.fromtimestamp(synced, UTC).isoformat(timespec="seconds")}


def _reflect_document(status: "Status") -> Document | None:
    """How the last reflect of this device ended."""
    last = status.reflect
    return last and {
        "at": last.at.isoformat(timespec="seconds"), "ok": last.ok, "pages": last.pages, "skipped": last.skipped,
        "why": last.why or None, "next_step": last.next_step or None, "proposals": last.proposals,
        "undo": last.run or None, "undone": last.undone,
    }  # fmt: skip


def narrowed(document: Document) -> Document:
    """The document without what its daemon, and the last reflect, say of all notes: for somebody who sees some."""
    daemon, document = document["daemon"], document | {"reflect": None}  # it names and counts pages, private ones too
    if not daemon or not document["index"]["generation"]:
        return document
    return document | {"daemon": daemon | {"oldest_pending_seconds": None, "indexing": None}}


def status_text(document: Document) -> str:
    """A `status@1` document as a line each for vault, index, what it holds, vectors and the daemon."""
    index = document["index"]
    lines = [f"vault    {document['vault']}"]
    if not index["generation"]:
        lines.append(f"index    none that can be used: {_instead(document['daemon'])}")
    else:
        where = "" if index["why_there"] == "vault" else f" ({index['why_there']})"
        behind = "not up to date" if index["pending"] is None else f"{plural(index['pending'], 'note')} behind"
        size = f", {index['bytes'] / 1e6:.1f} MB" if index["bytes"] is not None else ""
        counts = ", ".join(plural(index[f"{noun}s"], noun) for noun in ("note", "passage", "fact"))
        lines.append(f"index    {index['path']}{where}{size}, {'up to date' if index['fresh'] else behind}")
        lines.append(f"holds    {counts}")
        lines += [_vectors(each, index["passages"]) for each in index["embedders"]]
    lines += _sessions(document["sessions"]) if document.get("sessions") else []
    lines += [_root(root) for root in document.get("roots", ())]
    lines += _reflected(document["reflect"]) if document.get("reflect") else []
    lines += _daemon(document["daemon"]) if document["daemon"] else ["daemon   not running: `memory watch` starts it"]
    return "\n".join(lines)


def _instead(daemon: Document | None) -> str:
    """What comes of an index that cannot be used."""
    if daemon and daemon["indexing"]:
        return "it is being built"
    return "see below" if daemon and daemon["trouble"] else "run `memory index`"


def _vectors(each: Document, passages: int) -> str:
    line = f"vectors  {each['vectors']:,} of {each['id']}"
    if each["passages"] < passages:
        line += f", for {each['passages']:,} of {plural(passages, 'passage')}"
        line += f", {each['without']:,} without one" if each["without"] else ""
    return line + ("" if each["configured"] else " (not configured now)")


def _sessions(found: Document) -> Iterator[str]:
    """Agents' sessions, and what of their transcripts could not be read."""
    damaged = f", {plural(found['skipped'], 'damaged record')} skipped" if found["skipped"] else ""
    gone = f", {found['gone']:,} whose transcript is gone" if found["gone"] else ""
    unfinished = f", {found['unfinished']:,} ending in an unfinished line" if found["unfinished"] else ""
    held = f"{found['transcripts']:,} from {', '.join(found['tools'])}, {plural(found['messages'], 'message')}"
    yield f"sessions {held}{gone}{unfinished}{damaged}"
    if found.get("swept"):  # a daemon of an earlier version does not say
        behind = f"{plural(found['pending'], 'session')} behind" if found["pending"] else "up to date"
        yield f"{INDENT}{found['folder']}, {found['bytes'] / 1e6:.1f} MB, read {_local(found['swept'])}, {behind}"


def _root(root: Document) -> str:
    """A further vault."""
    if root["why_not"]:
        return f"root     {root['name']}: {clean(root['why_not'])}"
    state = "up to date" if root["fresh"] else f"{plural(root['pending'] or 0, 'note')} behind"
    held = f"{plural(root['notes'], 'note')}, {(root['bytes'] or 0) / 1e6:.1f} MB, {state}"
    return clean(f"root     {root['name']}: {root['path']}, {root['scope']}, {held}")


def _reflected(last: Document) -> Iterator[str]:
    """How the last reflect of this device ended, and what is to be done about it."""
    if last["ok"]:
        skipped = f", {last['skipped']:,} skipped" if last["skipped"] else ""
        waiting = f", {plural(last['proposals'], 'proposal')} waiting" if last["proposals"] else ""
        undone = ", undone since" if last.get("undone") else ""
        yield f"reflect  {_local(last['at'])}, {plural(last['pages'], 'page')} written{undone}{skipped}{waiting}"
    else:
        yield f"reflect  {_local(last['at'])}, failed"
    if last["why"]:
        yield f"{INDENT}{clean(last['why'])}"
    if last["next_step"]:
        yield f"{INDENT}→ {clean(last['next_step'])}"
    if last["undo"]:
        yield f"{INDENT}undo with: memory reflect --undo {last['undo']}"


def _local(instant: str) -> str:
    return f"{datetime.fromisoformat(instant).astimezone():%Y-%m-%d %H:%M}"


def _daemon(daemon: Document) -> Iterator[str]:
    """How the daemon is, and what it cannot do."""
    watching = "watching for changes" if daemon["watching"] == "native" else "checking every few seconds"
    waits = daemon["oldest_pending_seconds"]
    waiting = f", {plural(daemon['pending'], 'change')} waiting for {waits:.1f} s" if waits is not None else ""
    yield f"daemon   process {daemon['pid']}, up {_duration(daemon['uptime_seconds'])}, {watching}{waiting}"
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


def _duration(seconds: float) -> str:
    """`40 s`, `12 min`, `3 h 5 min`, `2 d 4 h`."""
    minutes = int(seconds // 60)
    if not minutes:
        return f"{seconds:.0f} s"
    if minutes < 60:
        return f"{minutes} min"
    hours = minutes // 60
    return f"{hours} h {minutes % 60} min" if hours < 48 else f"{hours // 24} d {hours % 24} h"


def doctor_document(checks: "Sequence[Check]") -> Document:
    """The `doctor@1` document."""
    return schema("doctor") | {"ok": not any(c.level == "error" for c in checks), "checks": [asdict(c) for c in checks]}


def doctor_text(checks: "Sequence[Check]") -> str:
    """A line a check, with what to do about it."""
    lines = []
    for check in checks:
        lines.append(f"{MARKS[check.level]} {check.name:11} {clean(check.message)}")
        lines += [f"  {'':11} → {clean(check.mend)}"] if check.mend else []
    return "\n".join(lines)
