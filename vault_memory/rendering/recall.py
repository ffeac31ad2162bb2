"""What `recall` and `context` print: Markdown grouped by note, notes for a person beside it, JSON documents."""

import json
import re
from collections.abc import Mapping
from datetime import UTC
from typing import TYPE_CHECKING

from vault_memory.markdown import provenance
from vault_memory.markdown.note import note_header
from vault_memory.rendering.common import (
    Document,
    behind,
    clean,
    degraded_notes,
    plural,
    schema,
    seen_document,
    seen_notes,
    superseded,
)
from vault_memory.search.answer import SESSION, Answer, Result, no_mention
from vault_memory.search.query import understand
from vault_memory.store.journal import digits
from vault_memory.store.search_queries import stemmer
from vault_memory.text.terms import RUN, index_text

if TYPE_CHECKING:
    from vault_memory.context.context import Bundle, ContextRequest


def recall_document(answer: Answer) -> Document:
    """The `recall@1` document."""
    request, filters = answer.request, answer.request.filters
    window = answer.understood.window
    days = {"since": filters.since, "until": filters.until, "as_of": filters.as_of}
    roots = [ran._asdict() | {"why_not": ran.why_not or None} for ran in answer.roots]
    return schema("recall") | {
        "id": request.id, "query": request.query,
        "now": request.now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), "mode": answer.mode,
        "lanes": dict(answer.lanes), "embedder": answer.embedder,
        "degraded": [{"what": what, "why": why} for what, why in answer.degraded],
        "index": {name: getattr(answer, name) for name in ("fresh", "pending", "generation", "notes")},
        "filters": {
            **{name: day and day.isoformat() for name, day in days.items()},
            "entities": list(filters.entities), "kinds": list(filters.kinds), "tags": list(filters.tags),
            "scopes": list(filters.scopes), "task": filters.task or None, "source": request.source,
        },
        "understood": {
            "entities": list(answer.understood.entities),
            "window": [day.isoformat() for day in window] if window else None,
            "kinds": list(answer.understood.kinds), "unknown": list(answer.understood.unknown),
        },
        "known": not answer.missing,
        "results": [_result(result, answer.vault) for result in answer.results],
        "tokens": answer.tokens, "rendered_tokens": answer.rendered_tokens, "budget": request.budget_tokens,
        "omitted": dict(answer.omitted), "seconds": round(answer.seconds, 4),
    } | ({"roots": roots} if roots else {})  # fmt: skip


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
    blocks = []
    for path, results in by_note.items():
        lines = [clean(note_header(path, results[0].date))]
        for result in sorted(results, key=lambda r: (r.start_line, r.rank)):
            texts = result.content.split("\n")
            numbered = result.end_line - result.start_line + 1 == len(texts)
            letter = "m" if result.kind == SESSION else "L"
            for offset, text in enumerate(texts):
                is_named = bool(result.start_line) and (numbered or not offset)
                number = f"{letter}{result.start_line + offset} " if is_named else ""
                lines.append(f"{number}{clean(text)}")
            lines[-1] += provenance.mark(result.by) + superseded(result.superseded_by, path)
            if result.why is not None:
                why = json.dumps(result.why, ensure_ascii=False, sort_keys=True).replace('"', "")
                lines.append(f"    {result.rank}. {result.score:.3f} {why}")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def screen_document(answer: Answer, has_links: bool) -> Document:
    """What `screen.recall_screen` shows of an answer: its results, and the words of them that match the question."""
    query, stems = understand(answer.request), stemmer()
    wanted = {stem for phrase in (*query.phrases, *query.named) for stem in stems(phrase)}
    words = {word for result in answer.results for word in re.findall(r"\w+", result.content.casefold())}
    matched = {word for word in words if not RUN.search(word) and wanted.intersection(stems(index_text(word)))}
    matched.update(filter(RUN.search, query.words))
    results = [_result(result, answer.vault) for result in answer.results]
    return {"results": results, "matched": sorted(matched), "links": has_links}


def recall_notes(answer: Answer) -> tuple[list[str], list[str]]:
    """What a person should know of an answer: what introduces its results, and what stands below them."""
    before, notes = list[str](), seen_notes(answer)
    for at, (what, _) in enumerate(answer.degraded):
        if answer.is_guess and what == "lexical":
            before.append(f"{notes.pop(at)[:-1]}:")
            break
    if answer.missing and answer.results:
        before = [f"{no_mention(answer.missing)} Closest:"]
    if not answer.results:
        noun = "session" if answer.request.source == "sessions" else "note"
        nothing = "Nothing fits the budget" if answer.omitted.get("over_budget") else "Nothing found"
        notes.insert(0, f"{nothing} in {plural(answer.notes, noun)}.")
    return before, notes


_LEFT_OUT = {
    "near_duplicates": "near-duplicate",
    "changed": "whose note has changed since",
    "later": "written later, according to git",
    "below_threshold": "below the preset's thresholds",
    "unreadable": "in notes that cannot be read",
    "core_lines": "core memory line",
    "shown_before": "already shown",
    "weak": "too weak",
    "below_floor": "too weak to show unasked",
}


_NOUNS = ("near-duplicate", "core memory line")


def left_out_notes(omitted: Mapping[str, int], more_with: str = "use --k to see more") -> list[str]:
    """What an answer leaves out, and how to see more results."""
    notes = []
    if more := omitted.get("over_k", 0) + omitted.get("beyond_pool", 0):
        at_least = "At least " if omitted.get("beyond_pool") else ""
        notes.append(f"{at_least}{plural(more, 'more match')}; {more_with}.")
    if more := omitted.get("over_budget", 0):
        notes.append(f"{more:,} more did not fit the budget.")
    counts = [(omitted[reason], what) for reason, what in _LEFT_OUT.items() if omitted.get(reason)]
    if counts:
        others = (plural(count, what) if what in _NOUNS else f"{count:,} {what}" for count, what in counts)
        notes.append(f"Left out: {', '.join(others)}.")
    return notes


def context_document(bundle: "Bundle", wanted: "ContextRequest") -> Document:
    """The `context@1` document."""
    return schema("context") | {
        "prompt": wanted.prompt, "also": list(wanted.also), "has_footing": bundle.is_relevant, "format": wanted.format,
        "text": bundle.text, "tokens": bundle.tokens,
        "budget": wanted.budget, "filters": {"scopes": list(bundle.scopes), "source": wanted.source},
        "core": list(bundle.core),
        "shown": [{"source": cited.source, "key": digits(cited.key)} for cited in bundle.shown],
        "omitted": bundle.omitted, "seconds": round(bundle.seconds, 4), "index": None, **seen_document(bundle.seen),
        "degraded": [{"what": what, "why": why} for what, why in bundle.degraded],
    }  # fmt: skip


def context_notes(document: Document) -> list[str]:
    """What a person should know beside a context: staleness, what was left out, what did not run."""
    notes, index = degraded_notes((each["what"], each["why"]) for each in document["degraded"]), document["index"]
    if index and not index["fresh"]:
        notes.append(behind(index["pending"]))
    notes += left_out_notes(document["omitted"])
    if index and not document["text"]:
        notes.insert(0, f"Nothing to hand over from {plural(index['notes'], 'note')}.")
    return notes
