"""Renders the output of `capture`, `proposals`, `facts` and `journal`."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from vault_memory.capture.judge import CaptureItem, CaptureReport
from vault_memory.capture.proposals_page import Proposal
from vault_memory.markdown import facts, provenance
from vault_memory.markdown.note import one_line
from vault_memory.markdown.parse import parse
from vault_memory.markdown.provenance import older_suffix, without_citation
from vault_memory.rendering.common import place, schema
from vault_memory.search.entity_profile import KeptFact
from vault_memory.store.journal import JournalEntry
from vault_memory.text.output import clean, plural
from vault_memory.text.scope_syntax import GLOBAL

MAX_NAMED = 3
"""Maximum number of citations printed for one journal entry."""


def capture_document(done: CaptureReport) -> dict[str, Any]:
    """The `capture@1` document."""
    return schema("capture") | {
        "items": list(map(_item, done.items)),
        "sessions": done.sessions, "written": done.written, "proposed": len(done.proposals),
        "held_back": len(done.held), "accepted": done.accepted, "declined": len(done.refused), "lost": done.lost,
        "waiting": done.waiting,
        "remembered": [fact._asdict() for fact in done.facts],
        "proposals": list(map(_proposal_row, done.proposals)), "refused": list(map(_proposal_row, done.refused)),
        "dry_run": done.dry_run, "run": done.run or None, "problems": done.problems, "seconds": round(done.seconds, 3),
    }  # fmt: skip


def _item(item: CaptureItem) -> dict[str, Any]:
    fields = item._asdict() | {name: getattr(item, name) or None for name in ("message", "why", "resembles", "scope")}
    for name in ("instead", "corrects", "is_request", "is_sure"):
        del fields[name]
    named = {"cue": "request" if item.is_request else "statement", "id": item.name}
    return fields | {"kind": facts.KINDS[item.kind], "day": str(item.day) if item.day else None} | named


def capture_text(done: CaptureReport, explain: bool) -> str:
    """The report of a capture run as text."""
    return "\n".join(map(clean, _lines(done, explain)))


def _lines(done: CaptureReport, explain: bool) -> Iterator[str]:
    for problem in done.problems:
        yield f"Notice: {problem}."
    if explain:
        yield from (line for item in done.items for line in _figures(item))
    yield from _section("Would remember" if done.dry_run else "Remembered", _remembered(done))
    proposed = (f"{one.name}  {one.statement}" for one in done.proposals)
    yield from _section("Would propose" if done.dry_run else "Proposed", proposed)
    refused = (one.statement or f"the deleted line ^p-{one.name}" for one in done.refused)
    yield from _section("Would refuse for good" if done.dry_run else "Refused for good", refused)
    if done.held:
        yield f"{len(done.held)} held back; `memory proposals --held` lists them."
    if done.lost:
        yield f"{plural(done.lost, 'proposal')} vanished from {done.page}: no answer, and no longer open."
    if not (done.facts or done.proposals or done.refused or done.accepted):
        but = ", but a page was brought up to date" if done.run else ""
        yield f"Nothing new ({plural(done.sessions, 'session')} and {plural(done.logs, 'log')} read){but}."
    elif done.dry_run:
        yield "Nothing was written (--dry-run); `memory capture` does it."
    if done.proposals and not done.dry_run:
        yield f"Tick in {done.page} what should be remembered, or answer here: `memory proposals --yes ID`, `--no ID`."
    if done.run:
        yield f"`memory undo {done.run}` takes it back."


def _section(heading: str, lines: Iterable[str]) -> list[str]:
    found = [f"  {line}" for line in lines]
    return [f"{heading}:", *found] if found else []


def _figures(item: CaptureItem) -> Iterator[str]:
    """A statement that was found, how sure it is to last, and what became of it."""
    yield f"{'keep' if item.is_kept else 'leave out'}  {item.bullet}"
    what = "asked to be remembered" if item.is_request else item.category
    yield f"    {what}, {item.score:.2f}{f', {item.why}' if item.why else ''}"
    if item.resembles:
        yield f"    resembles {item.resembles}"


def _remembered(done: CaptureReport) -> Iterator[str]:
    for fact in done.facts:
        scope = f", {fact.scope}" if fact.scope else ""
        yield f"{fact.text}  ({place(fact.source)}{scope})"
        if fact.instead:
            yield f"  instead of {fact.instead}"


def proposals_document(found: Sequence[Proposal]) -> dict[str, Any]:
    """The `proposals@1` document."""
    return schema("proposals") | {"proposals": list(map(_proposal_row, found))}


def _proposal_row(one: Proposal) -> dict[str, Any]:
    return {"id": one.name, "text": one.text, "day": one.day or None, "score": one.score}


def proposals_text(found: Sequence[Proposal], held: bool = False) -> str:
    """The open or held proposals, each with kind, scope and source."""
    if not found:
        return "No proposal is held back." if held else "No proposal is open."
    lines = []
    for one in found:
        fact = next(facts.facts(parse("x.md", f"## Retain\n- {one.text}\n".encode("utf-8", "replace")), None), None)
        kind = facts.KINDS[fact.kind] if fact else one.text.partition(":")[0]  # a proposal for a page has no kind
        scope = (fact.scope or "all projects") if fact else ""
        parts = [kind, scope, one.source, f"instead of {one.instead[1]}" if one.instead[1] else ""]
        lines += [f"{one.name}  {one.statement}", f"          {', '.join(filter(None, parts))}"]
    answers = "Accept with `memory proposals --yes ID`, refuse with `--no ID`"
    return "\n".join([*map(clean, lines), f"{answers}; `memory get SOURCE` shows what was said."])


def facts_document(found: Sequence[KeptFact]) -> dict[str, Any]:
    """The `facts@1` document."""
    rows = [
        asdict(fact) | {"said_in": fact.text.removeprefix(without_citation(fact.text)).removeprefix(" — ") or None}
        for fact in found
    ]
    return schema("facts") | {"facts": rows}


def facts_text(found: Sequence[KeptFact]) -> str:
    """One line per fact, newest first: day, kind, text, citation, scope and origin."""
    lines = []
    for fact in found:
        text = without_citation(one_line(fact.text))
        unnamed = (name for name in fact.entities if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.I))
        names = ", ".join(unnamed)
        sure = f" {fact.confidence:.2f}" if fact.confidence is not None else ""
        scope = "" if fact.scope == GLOBAL else f", {fact.scope}"
        by = "" if fact.by == provenance.PERSON else f", by {fact.by}"
        said = f"{names}: {text}" if names else text
        where, after = f"{place(fact.path)}#L{fact.start_line}", older_suffix(fact.superseded_by, fact.path)
        lines.append(f"{fact.date or 'no day':10}  {fact.kind}{sure}  {said}  ({where}{scope}{by}){after}")
    return "\n".join(map(clean, lines)) or "No fact is kept that fits."


def journal_document(found: Sequence[JournalEntry]) -> dict[str, Any]:
    """The `journal@1` document."""
    return schema("journal") | {"entries": [entry._asdict() for entry in found]}


_EVENTS = {
    "recall": "asked", "shown": "handed over", "tombstone": "forgotten", "restored": "taken back", "held": "held back",
    "accepted": "remembered", "declined": "refused", "folded": "folded away", "given": "number set",
    "deleted": "line deleted", "removed": "page removed", "renamed": "page renamed",
}  # fmt: skip
"""Journal event → the word shown to the user."""

_NAMELESS = {
    "recall": "(without a result)", "shown": "(without a result)",
    "ticked": "(a proposal of reflect)", "refused": "(a proposal of reflect)", "given": "(an opinion)",
}  # fmt: skip
"""Journal event → what is shown if it names nothing readable: only hashes of proposals and opinions are kept."""

_HASH = re.compile(r"[0-9a-f]{8,}(?: [0-9a-f]{8,})*")


def journal_text(found: Sequence[JournalEntry], days: int) -> str:
    """One line per entry in local time, newest first; names that are hashes are left out."""
    lines = []
    for entry in found:
        at = datetime.fromisoformat(entry.at).astimezone()
        about = [one.replace("\n", " to ") for one in entry.about if not _HASH.fullmatch(one)]
        more = f", {len(about) - MAX_NAMED} more" if len(about) > MAX_NAMED else ""
        named = entry.text or ", ".join(about[:MAX_NAMED]) + more
        text = named or _NAMELESS.get(entry.event, "(the words are forgotten)")
        because = f"{entry.why}; " if entry.why else ""
        why = f"  ({because}gate {entry.signals['G']:.2f})" if "G" in entry.signals else ""
        lines.append(f"{at:%Y-%m-%d %H:%M}  {_EVENTS.get(entry.event, entry.event):17}  {clean(text + why)}".rstrip())
    return "\n".join(lines) or f"Nothing in {plural(days, 'day')}."
