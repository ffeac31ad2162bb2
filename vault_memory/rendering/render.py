"""How reports and answers look: text a person reads, Markdown an agent reads, versioned JSON a script reads.

It decides nothing. JSON is ASCII-escaped; text from notes is stripped of control characters, so that a note cannot
move the cursor of the terminal it is shown on.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from vault_memory.markdown import provenance
from vault_memory.markdown.note import note_header, one_line
from vault_memory.search.answer import SESSION, Answer, Result, RootStatus
from vault_memory.search.pack import clean as clean
from vault_memory.store.journal import digits

if TYPE_CHECKING:
    from vault_memory.context.context import Bundle, Wanted
    from vault_memory.indexing.index_file import IndexState
    from vault_memory.search.entities import EntityProfile, EntityRow, FactLine
    from vault_memory.search.get import Excerpt
    from vault_memory.write.retain import RetainResult

Document = dict[str, Any]


def dump(document: Document) -> str:
    """One document as one line of JSON."""
    return json.dumps(document, ensure_ascii=True)


def schema(name: str) -> Document:
    """The beginning of every document."""
    return {"schema": f"vault-memory/{name}@1"}


def instant(moment: datetime) -> str:
    """A time in UTC as `2025-12-03T09:00:00Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def plural(count: int, noun: str) -> str:
    """`1 note`, `2 notes`."""
    return (
        f"{count:,} {noun}"
        if count == 1
        else f"{count:,} {noun[:-1]}ies"
        if noun.endswith("y") and noun[-2:] != "ay"
        else f"{count:,} {noun}s"
    )


# --- recall --------------------------------------------------------------------------------------------------------


def recall_document(answer: Answer) -> Document:
    """The `recall@1` document."""
    request, filters = answer.request, answer.request.filters
    window = answer.understood.window
    return schema("recall") | {
        "id": request.id, "query": request.query, "now": instant(request.now), "mode": answer.mode,
        "lanes": dict(answer.lanes), "embedder": answer.embedder,
        "degraded": [{"what": what, "why": why} for what, why in answer.degraded],
        "index": {name: getattr(answer, name) for name in ("fresh", "pending", "generation", "notes")},
        "filters": {
            "since": _iso(filters.since), "until": _iso(filters.until), "as_of": _iso(filters.as_of),
            "entities": list(filters.entities), "kinds": list(filters.kinds), "tags": list(filters.tags),
            "scopes": list(filters.scopes), "source": request.source,
        },
        "understood": {
            "entities": list(answer.understood.entities),
            "window": [day.isoformat() for day in window] if window else None,
            "kinds": list(answer.understood.kinds), "unknown": list(answer.understood.unknown),
        },
        "results": [_result(result, answer.vault) for result in answer.results],
        "tokens": answer.tokens, "rendered_tokens": answer.rendered_tokens, "budget": request.budget_tokens,
        "omitted": dict(answer.omitted), "seconds": round(answer.seconds, 4),
    } | ({"roots": [_root(ran) for ran in answer.roots]} if answer.roots else {})  # fmt: skip


def _root(ran: RootStatus) -> Document:
    """A root that was asked, and why it was not where it could not be."""
    return ran._asdict() | {"why_not": ran.why_not or None}


def _iso(day: Any) -> str | None:  # noqa: ANN401
    return day.isoformat() if day else None


def _result(result: Result, vault: str) -> Document:
    from urllib.parse import quote

    file = quote(result.path.removesuffix(".md"), safe="")
    document = {
        "rank": result.rank, "score": round(result.score, 4), "kind": result.kind, "date": result.date,
        "occurred": result.occurred, "entities": list(result.entities), "confidence": result.confidence,
        "tier": result.tier, "content": result.content, "path": result.path, "start_line": result.start_line,
        "end_line": result.end_line, "source": result.source, "heading": list(result.heading),
        "tokens": result.tokens, "truncated": result.truncated,
        "superseded_by": result.superseded_by, "by": result.by, "trusted": result.trusted,
        "uri": "" if result.root else f"obsidian://open?vault={quote(vault, safe='')}&file={file}",
    }  # fmt: skip
    document |= {"root": result.root} if result.root else {}
    return document | ({"why": result.why} if result.why is not None else {})


def recall_text(answer: Answer) -> str:
    """The answer as Markdown, grouped by note: path and day once, the line number before each line."""
    by_note: dict[str, list[Result]] = {}
    for result in answer.results:
        by_note.setdefault(result.path, []).append(result)
    blocks = [_note_block(path, results) for path, results in by_note.items()]
    return "\n\n".join(blocks)


def _note_block(path: str, results: Sequence[Result]) -> str:
    lines = [clean(note_header(path, results[0].date))]
    for result in sorted(results, key=lambda r: (r.start_line, r.rank)):
        texts = result.content.split("\n")
        numbered = result.end_line - result.start_line + 1 == len(texts)
        letter = "m" if result.kind == SESSION else "L"
        for offset, text in enumerate(texts):
            is_named = bool(result.start_line) and (numbered or not offset)
            number = f"{letter}{result.start_line + offset} " if is_named else ""
            lines.append(f"{number}{clean(text)}")
        lines[-1] += provenance.mark(result.by) + superseded(result.superseded_by, result.path)
        if result.why is not None:
            lines.append(f"    {result.rank}. {result.score:.3f} {_why(result.why)}")
    return "\n".join(lines)


def place(path: str) -> str:
    """A note's path fit for a terminal, on one line."""
    return clean(one_line(path))


def superseded(successor: str | None, path: str) -> str:
    """That a line was superseded, and where its successor stands: the line alone when it is in the same note."""
    other, _, line = (successor or "").rpartition("#")
    return f" ← superseded by {line if other == path else f'{place(other)} {line}'}" if successor else ""


_LEFT_OUT = {
    "over_budget": "{} that did not fit the budget",
    "over_k": "{} ranked lower (--k shows more)",
    "near_duplicates": "{} with the same words",
    "changed": "{} whose note has changed since",
    "later": "{} written later, as git knows",
    "beyond_pool": "at least {} more that were not ranked",
    "below_threshold": "{} that the preset's thresholds dropped",
    "unreadable": "{} whose note cannot be read",
    "core_lines": "{} of the core's lines",
    "shown_before": "{} handed over already",
    "below_floor": "{} too weak to be handed over unasked",
}


def _why(why: Any) -> str:  # noqa: ANN401
    return json.dumps(why, ensure_ascii=False, sort_keys=True).replace('"', "")


def recall_notes(answer: Answer) -> list[str]:
    """What a person should know beside the results: staleness, what was left out, what did not run."""
    notes = seen_notes(answer)
    left = [_LEFT_OUT[what].format(count) for what, count in answer.omitted.items() if count]
    if left:
        notes.append("left out: " + ", ".join(left))
    if not answer.results:
        found = "nothing fits the budget" if answer.omitted.get("over_budget") else "nothing found"
        noun = "session" if answer.request.source == "sessions" else "note"
        notes.insert(0, f"{found} in {plural(answer.notes, noun)}")
    return notes


def seen_document(seen: "IndexState | None") -> Document:
    """What every answer out of the index says of that index: `index` and `degraded`."""
    if seen is None:
        return {}
    index = {name: getattr(seen, name) for name in ("fresh", "pending", "generation", "notes")}
    return {"index": index, "degraded": [{"what": what, "why": why} for what, why in seen.degraded]}


def seen_notes(seen: "IndexState | Answer | None") -> list[str]:
    """What a person should know of the index that an answer came from: what did not run, how far it is behind."""
    if seen is None:
        return []
    notes = [f"{what}: {why}" for what, why in seen.degraded]
    if not seen.fresh:
        notes.append(_behind(seen.pending, *_pending_sessions(seen)))
    return notes


def _pending_sessions(seen: "IndexState | Answer") -> list[int]:
    """How much of what is pending are sessions, where there are any."""
    roots = seen.roots if isinstance(seen, Answer) else []
    return [root.pending for root in roots if root.name == "sessions" and root.pending]


def _behind(pending: int, sessions: int = 0) -> str:
    notes = [plural(pending - sessions, "note")] if pending > sessions or not sessions else []
    what = " and ".join(notes + ([plural(sessions, "session")] if sessions else []))
    return f"the index is {what} behind; `memory index` brings it up to date"


# --- context -------------------------------------------------------------------------------------------------------


def context_document(bundle: "Bundle", wanted: "Wanted") -> Document:
    """The `context@1` document."""
    return schema("context") | {
        "prompt": wanted.prompt, "also": list(wanted.also), "has_footing": bundle.has_footing, "format": wanted.format,
        "text": bundle.text, "tokens": bundle.tokens,
        "budget": wanted.budget, "filters": {"scopes": list(bundle.scopes), "source": wanted.source},
        "core": list(bundle.core),
        "shown": [{"source": cited.source, "key": digits(cited.key)} for cited in bundle.shown],
        "omitted": bundle.omitted, "seconds": round(bundle.seconds, 4), "index": None, **seen_document(bundle.seen),
        "degraded": [{"what": what, "why": why} for what, why in bundle.degraded],
    }  # fmt: skip


def context_notes(document: Document) -> list[str]:
    """What a person should know beside a context: staleness, what was left out, what did not run."""
    notes = [f"{each['what']}: {each['why']}" for each in document["degraded"]]
    if document["index"] and not document["index"]["fresh"]:
        notes.append(_behind(document["index"]["pending"]))
    left = [_LEFT_OUT[what].format(count) for what, count in document["omitted"].items() if count]
    if left:
        notes.append("left out: " + ", ".join(left))
    if not document["text"] and document["index"]:
        notes.insert(0, f"nothing to hand over from {plural(document['index']['notes'], 'note')}")
    return notes


# --- the smaller documents -------------------------------------------------------------------------------------------


def get_document(excerpt: "Excerpt") -> Document:
    """The `get@1` document."""
    document = asdict(excerpt)
    del document["origins"]  # an asker's own marks
    return schema("get") | document


def unit(path: str) -> str:
    """What a citation of this path counts: messages of a session, lines of any other note."""
    return "message" if path.startswith("sessions/") else "line"


def past_the_end(excerpt: "Excerpt") -> str:
    """What is said of lines that a note does not have."""
    if not excerpt.lines:
        return f"{clean(excerpt.path)} is empty."
    what = unit(excerpt.path)
    return f"{clean(excerpt.path)} has {plural(excerpt.lines, what)}; {what} {excerpt.start_line} is not there."


def entities_document(rows: "Sequence[EntityRow]") -> Document:
    """The list of entities; not to be confused with `entity@1`."""
    return schema("entities") | {"entities": [asdict(row) for row in rows]}


def entities_text(rows: "Sequence[EntityRow]") -> str:
    """A line an entity."""
    width = max((len(row.name) for row in rows), default=0)
    lines = []
    for row in rows:
        days = f"{row.first_day} – {row.last_day}" if row.first_day != row.last_day else row.first_day or ""
        line = f"{clean(row.name):{width}}  {plural(row.mentions, 'mention'):13} {days:24} {place(row.page or '')}"
        lines.append(line.rstrip())
    return "\n".join(lines)


def entity_document(profile: "EntityProfile | None", asked: str, seen: "IndexState | None") -> Document:
    """The `entity@1` document."""
    if profile is None:
        return schema("entity") | {"name": None, "asked": asked, "not_found": True} | seen_document(seen)
    facts = [asdict(fact) for fact in profile.facts]
    return schema("entity") | asdict(profile.row) | {
        "facts": [fact for fact in facts if fact["kind"] != "opinion"],
        "opinions": [fact for fact in facts if fact["kind"] == "opinion"],
        "timeline": sorted({fact["date"] for fact in facts if fact["date"]}),
        "related": [{"name": name, "together": count} for name, count in profile.related],
        "not_found": False,
    } | seen_document(seen)  # fmt: skip


def entity_text(profile: "EntityProfile") -> str:
    """Name, page, opinions, facts by day (newest first), related entities."""
    row = profile.row
    lines = [f"# {clean(row.name)}" + (f" ({', '.join(map(clean, row.aliases))})" if row.aliases else "")]
    if row.page:
        lines.append(f"page: {place(row.page)}")
    opinions = [fact for fact in profile.facts if fact.kind == "opinion"]
    for title, facts in (("Opinions", opinions), ("Facts", [f for f in profile.facts if f.kind != "opinion"])):
        if facts:
            lines += ["", f"## {title}"]
            lines += map(_fact_line, facts)
    if profile.related:
        lines += ["", "Related: " + ", ".join(f"{clean(name)} ({count})" for name, count in profile.related[:12])]
    return "\n".join(lines)


def _fact_line(fact: "FactLine") -> str:
    after = superseded(fact.superseded_by, fact.path)
    text = clean(fact.text) + provenance.mark(fact.by)
    return f"- {_confidence(fact.confidence)}{text}  ({place(fact.path)}#L{fact.start_line}){after}"


def _confidence(value: float | None) -> str:
    return f"[{value:.2f}] " if value is not None else ""


def retain_document(done: "RetainResult") -> Document:
    """The `retain@1` document."""
    return schema("retain") | asdict(done) | {"source": f"{done.path}#L{done.line}"}
