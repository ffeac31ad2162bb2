"""Prints what was captured, the proposals that wait, the facts that are kept, and the journal."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from vault_memory.capture.capture import CaptureItem, CaptureReport
from vault_memory.capture.proposal_page import PATH, OpenProposal
from vault_memory.markdown import facts, provenance
from vault_memory.rendering.common import clean, place, plural, schema
from vault_memory.search.entity_profile import FactLine
from vault_memory.store.journal import JournalEntry

MAX_NAMED = 3
"""So many citations of one entry are printed."""


def capture_document(done: CaptureReport) -> dict[str, Any]:
    """The `capture@1` document."""
    return schema("capture") | {
        "items": [
            {
                "session": item.session, "message": item.message or None, "text": item.text,
                "kind": facts.KINDS[item.kind], "category": item.category, "decision": item.decision,
                "score": item.score,
                "signals": dict(item.signals), "source": item.source, "cue": item.cue, "why": item.why or None,
                "resembles": item.resembles or None, "entities": list(item.entities), "scope": item.scope or None,
                "day": str(item.day) if item.day else None, "id": item.name,
            }
            for item in done.items
        ],
        "sessions": done.sessions, "written": done.written, "proposed": done.proposed, "held_back": done.held_back,
        "accepted": done.accepted, "declined": done.declined, "lost": done.lost, "waiting": done.waiting,
        "dry_run": done.dry_run, "run": done.run or None, "problems": done.problems, "seconds": round(done.seconds, 3),
    }  # fmt: skip


def capture_text(done: CaptureReport, explain: bool) -> str:
    """What was found and done, for a person."""
    return "\n".join(_lines(done, explain))


def _lines(done: CaptureReport, explain: bool) -> Iterator[str]:
    for problem in done.problems:
        yield f"Notice: {problem}."
    shown = done.items if explain else [item for item in done.items if item.is_kept]
    if done.dry_run or explain:
        for item in shown:
            yield clean(f"{_what(item)}  {item.bullet}")
            if explain:
                why = f", {item.why}" if item.why else ""
                gate = ", ".join(f"{name} {value:.2f}" for name, value in item.signals.items() if value)
                yield f"    {item.cue}{why}, score {item.score:.2f}; {gate}"
                if item.resembles:
                    yield f"    resembles {item.resembles}"
    if done.dry_run:
        yield f"Read {plural(done.sessions, 'session')}: nothing was written (--dry-run)."
        return
    for source in done.written:
        yield f"Remembered: {source}"
    if done.proposed:
        yield f"{plural(done.proposed, 'proposal')} in {PATH}: tick what should be remembered."
    if done.held_back:
        yield f"{done.held_back} more wait for another day."
    if done.declined:
        yield f"{plural(done.declined, 'proposal')} refused for good."
    if done.lost:
        yield f"{plural(done.lost, 'proposal')} vanished from {PATH}, and were put back."
    if not (done.written or done.proposed or done.accepted or done.declined):
        yield f"Nothing new ({plural(done.sessions, 'session')} and {plural(done.logs, 'log')} read)."
    if done.run:
        yield f"`memory reflect --undo {done.run}` takes it back."


def _what(item: CaptureItem) -> str:
    return "leave out" if not item.is_kept else "remember" if item.is_asked_for else "propose "


def proposals_document(found: Sequence[OpenProposal]) -> dict[str, Any]:
    """The `proposals@1` document."""
    rows = [
        {"id": one.name, "text": one.text, "day": one.day or None, "score": one.score, "proposed": one.proposed or None}
        for one in found
    ]
    return schema("proposals") | {"proposals": rows}


def proposals_text(found: Sequence[OpenProposal]) -> str:
    """The proposals that wait, one a line."""
    lines = [clean(f"{one.name}  {one.text}") for one in found]
    if not lines:
        return "No proposal is open."
    return "\n".join((*lines, "`memory proposals --yes ID` accepts one, `--no ID` refuses it."))


def facts_document(found: Sequence[FactLine]) -> dict[str, Any]:
    """The `facts@1` document."""
    return schema("facts") | {"facts": [asdict(fact) for fact in found]}


def facts_text(found: Sequence[FactLine]) -> str:
    """The facts that are kept, one a line, newest first."""
    lines = []
    for fact in found:
        who = f" ({provenance.teller_name(fact.by)})" if fact.by != provenance.PERSON else ""
        sure = f" {fact.confidence:.2f}" if fact.confidence is not None else ""
        lines.append(f"{fact.kind}{sure}{who}: {clean(fact.text)}  ({place(fact.path)}#L{fact.start_line})")
    return "\n".join(lines) or "No fact is kept that fits."


def journal_document(found: Sequence[JournalEntry]) -> dict[str, Any]:
    """The `journal@1` document."""
    return schema("journal") | {"entries": [entry._asdict() for entry in found]}


def journal_text(found: Sequence[JournalEntry], days: int) -> str:
    """The entries, one a line, newest first."""
    lines = []
    for entry in found:
        about = entry.text or ", ".join(entry.about[:MAX_NAMED])
        more = f", {len(entry.about) - MAX_NAMED} more" if len(entry.about) > MAX_NAMED and not entry.text else ""
        lines.append(f"{entry.at[:16].replace('T', ' ')}  {entry.event:10} {clean(about)}{more}".rstrip())
    return "\n".join(lines) or f"Nothing in {plural(days, 'day')}."
