"""Renders the output of `recall` and `context`: Markdown grouped by note, terminal output, remarks and documents."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from vault_memory.markdown.note import note_header
from vault_memory.markdown.provenance import older_suffix, origin_suffix
from vault_memory.rendering.common import (
    Document,
    behind,
    degraded_notes,
    index_state_document,
    index_state_notes,
    schema,
)
from vault_memory.search.answer import Answer, Result, no_mention
from vault_memory.store.journal import digits
from vault_memory.text.output import cells, clean, plural
from vault_memory.text.terms import RUN

if TYPE_CHECKING:
    from vault_memory.context.bundle import Bundle, ContextRequest


FROM_SESSIONS, CLOSEST_NOTES = "The closest notes come last. From sessions:", "Closest:"
"""Introductions to the results of a question that no note mentions."""


_RESULT_FIELDS = (
    "rank", "score", "kind", "date", "occurred", "entities", "confidence", "tier", "content", "path", "start_line",
    "end_line", "source", "heading", "tokens", "truncated", "superseded_by", "by", "trusted",
)  # fmt: skip


def recall_document(answer: Answer) -> Document:
    """The `recall@1` document."""
    request, filters, window = answer.request, answer.request.filters, answer.understood.window
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
        "known": not answer.missing and bool(answer.results or answer.omitted.get("over_budget")),
        "results": [_result(result, answer.vault) for result in answer.results],
        "tokens": answer.tokens, "rendered_tokens": answer.rendered_tokens, "budget": request.budget_tokens,
        "omitted": dict(answer.omitted), "seconds": round(answer.seconds, 4),
    } | ({"roots": roots} if roots else {})  # fmt: skip


def _result(result: Result, vault: str) -> Document:
    from urllib.parse import quote

    file = quote(result.path.removesuffix(".md"), safe="")
    document: Document = {name: getattr(result, name) for name in _RESULT_FIELDS} | {
        "score": round(result.score, 4), "entities": list(result.entities), "heading": list(result.heading),
        "uri": "" if result.root else f"obsidian://open?vault={quote(vault, safe='')}&file={file}",
    }  # fmt: skip
    document |= {"root": result.root} if result.root else {}
    return document | ({"why": result.why} if result.why is not None else {})


def recall_text(results: Sequence[Document]) -> str:
    """The results of `recall@1` as Markdown: each note's path and day once, and a line number before each line."""
    blocks = []
    for note in by_note(results):
        lines = [clean(note_header(note[0]["path"], note[0]["date"]))]
        for result in note:
            lines += (clean(f"{number} {text}" if number else text) for number, text in numbered_lines(result))
            lines += explained(result)
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def by_note(results: Sequence[Document]) -> list[list[Document]]:
    """Group results by note, the note with the best result first, in line order within each."""
    notes: dict[str, list[Document]] = {}
    for result in results:
        notes.setdefault(result["path"], []).append(result)
    return [sorted(note, key=lambda each: (each["start_line"], each["rank"])) for note in notes.values()]


def numbered_lines(result: Document) -> list[tuple[str, str]]:
    """(citation, text) for each line of a result; if the lines are parts of one line, only the first is numbered.

    The last line ends with the result's origin and what superseded it.
    """
    texts = result["content"].split("\n")
    texts[-1] += origin_suffix(result["by"]) + older_suffix(result["superseded_by"], result["path"])
    start, letter = result["start_line"], "m" if result["kind"] == "session" else "L"
    is_numbered = result["end_line"] - start + 1 == len(texts)
    lines = enumerate(texts, start)
    return [(f"{letter}{at}" if start and (is_numbered or at == start) else "", text) for at, text in lines]


def explained(result: Document) -> Iterator[str]:
    """The explanation of a result's rank, if requested."""
    if result.get("why"):
        why = json.dumps(result["why"], ensure_ascii=False, sort_keys=True).replace('"', "")
        yield f"    {result['rank']}. {result['score']:.3f} {why}"


def recall_notes(answer: Answer) -> tuple[list[str], list[str]]:
    """Remarks on an answer: those printed before its results, and those after."""
    before, notes = list[str](), index_state_notes(answer)
    reasons = [what for what, _ in answer.degraded]
    if answer.is_guess and "lexical" in reasons:
        before.append(f"{notes.pop(reasons.index('lexical'))[:-1]}:")
    if answer.missing and answer.results:
        is_from_sessions = answer.request.source == "notes" and answer.results[0].root == "sessions"
        # A note may contain what the filters exclude.
        is_filtered = bool(answer.missing_with) and any(answer.request.filters._replace(scopes=(), as_of=None))
        lacking = no_mention(answer.missing, answer.missing_with, is_filtered)
        before = [f"{lacking} {FROM_SESSIONS if is_from_sessions else CLOSEST_NOTES}"]
    elif answer.understood.unknown and answer.results and not answer.is_guess:
        before.append(no_mention(answer.understood.unknown))
    if not answer.results:
        noun = "session" if answer.request.source == "sessions" else "note"
        nothing = "Nothing fits the budget" if answer.omitted.get("over_budget") else "Nothing found"
        notes.insert(0, f"{nothing} in {plural(answer.notes, noun)}.")
    return before, notes


_LEFT_OUT = {
    "near_duplicates": "near-duplicate",
    "changed": "whose note has changed since",
    "later": "written later",
    "below_threshold": "below the preset's thresholds",
    "unreadable": "in notes that cannot be read",
    "core_lines": "core memory line",
    "shown_before": "already shown",
    "weak": "too weak",
    "below_floor": "too weak to show unasked",
}
_NOUNS = ("near-duplicate", "core memory line")

RECALL_OPTIONS = {"over_k": "--k", "over_budget": "--budget", "weak": "--all"}
CONTEXT_OPTIONS = {"over_budget": "--budget"}
"""Reason for leaving something out → the option of the command that shows it."""


def left_out_notes(omitted: Mapping[str, int], options: Mapping[str, str] = RECALL_OPTIONS) -> list[str]:
    """Sentences about what an answer leaves out, and which of the `options` shows it."""
    use = {reason: f"; use {option} to see more" for reason, option in options.items()}
    notes = []
    if more := omitted.get("over_k", 0) + omitted.get("beyond_pool", 0):
        at_least = "At least " if omitted.get("beyond_pool") else ""
        notes.append(f"{at_least}{plural(more, 'more match')}{use.get('over_k', '')}.")
    if more := omitted.get("over_budget", 0):
        notes.append(f"{more:,} more did not fit the budget{use.get('over_budget', '')}.")
    counts = []
    for reason, what in _LEFT_OUT.items():
        if count := omitted.get(reason):
            shown_by = f" (shown with {options[reason]})" if reason in options else ""
            counts.append((plural(count, what) if what in _NOUNS else f"{count:,} {what}") + shown_by)
    return [*notes, f"Left out: {', '.join(counts)}."] if counts else notes


def context_document(bundle: "Bundle", wanted: "ContextRequest") -> Document:
    """The `context@1` document."""
    return schema("context") | {
        "prompt": wanted.prompt, "also": list(wanted.also), "has_footing": bundle.is_relevant, "format": wanted.format,
        "text": bundle.text, "tokens": bundle.tokens,
        "budget": wanted.budget, "filters": {"scopes": list(bundle.scopes), "source": wanted.source},
        "core": list(bundle.core),
        "shown": [{"source": cited.source, "key": digits(cited.key)} for cited in bundle.shown],
        "omitted": bundle.omitted, "seconds": round(bundle.seconds, 4),
        "index": None, **index_state_document(bundle.seen),
        "degraded": [{"what": what, "why": why} for what, why in bundle.degraded],
    }  # fmt: skip


def context_notes(document: Document) -> list[str]:
    """Remarks on a context: what did not run, how stale the index is, what was left out."""
    notes, index = degraded_notes((each["what"], each["why"]) for each in document["degraded"]), document["index"]
    if index and not index["fresh"]:
        notes.append(behind(index["pending"]))
    notes += left_out_notes(document["omitted"], CONTEXT_OPTIONS)
    if index and not document["text"]:
        notes.insert(0, f"Nothing to hand over from {plural(index['notes'], 'note')}.")
    return notes


# --- on a terminal: wrapped to its width, headings above the lines, matched words in bold -----------------------------

BOLD, DIM, PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"
FEWEST_CELLS = 20
"""Minimum line width, even in a narrower window."""


class Screen(NamedTuple):
    """The terminal: its width in cells, and whether it shows styled text and links."""

    width: int
    has_styles: bool = True
    has_links: bool = True

    def styled(self, style: str, text: str) -> str:
        """Text in a style, if the terminal supports styles."""
        return f"{style}{text}{PLAIN}" if self.has_styles and text.strip() else text

    def link(self, uri: str, text: str) -> str:
        """Text as a hyperlink (OSC 8), if supported."""
        is_link = uri and self.has_styles and self.has_links
        return f"\x1b]8;;{uri}\x1b\\{text}\x1b]8;;\x1b\\" if is_link else text


def recall_screen(results: Sequence[Document], matched: Sequence[str], screen: Screen) -> str:
    """The results of a `recall@1` document for a terminal, with the `matched` words in bold."""
    words = _pattern(matched)
    return "\n\n".join("\n".join(_note(note, words, screen)) for note in by_note(results))


def _note(results: Sequence[Document], words: re.Pattern[str] | None, screen: Screen) -> Iterator[str]:
    path = results[0]["path"]
    name = clean(note_header(path, results[0]["date"])).removeprefix("## ").replace("\n", " ")
    yield screen.link(results[0]["uri"], screen.styled(BOLD, name))
    column = max(len(number) for result in results for number, _ in numbered_lines(result))
    above: Sequence[str] = ()
    end = 0
    for result in results:
        # Leave out a title that only repeats the note's name.
        heading = [part for part in result["heading"] if part != PurePosixPath(path).stem]
        if heading != list(above):
            yield from (screen.styled(DIM, row) for row in wrapped(clean(" › ".join(heading)), screen.width))
        elif end and result["start_line"] > end + 1:
            yield screen.styled(DIM, "⋮".rjust(column))
        above, end = heading, result["end_line"]
        for number, text in numbered_lines(result):
            rows = wrapped(clean(text), screen.width - column - 1 if column else screen.width)
            for cite, row in zip([number, *[""] * len(rows)], rows, strict=False):
                row = words.sub(lambda word: screen.styled(BOLD, word[0]), row) if words else row
                yield f"{screen.styled(DIM, cite.rjust(column))} {row}".rstrip() if column else row
        yield from explained(result)


def _pattern(matched: Sequence[str]) -> re.Pattern[str] | None:
    """A pattern for the matched words; in scripts without spaces it matches anywhere, as words have no boundaries."""
    longest_first = sorted(map(re.escape, matched), key=len, reverse=True)
    forms = [word if RUN.search(word) else rf"(?<!\w){word}(?!\w)" for word in longest_first]
    return re.compile("|".join(forms), re.IGNORECASE) if forms else None


def wrapped(text: str, width: int) -> list[str]:
    """Wrap a line into rows of at most `width` cells, at spaces, or within a word that is longer than a row."""
    width = max(width, FEWEST_CELLS)
    rows, row, used = list[str](), "", 0
    for word in re.findall(r"\s*\S+|\s+", text):
        taken = cells(word)
        if used and used + taken > width:
            rows.append(row)
            word = word.lstrip()
            row, used, taken = "", 0, cells(word)
        for character in word if used + taken > width else ():
            if used + cells(character) > width:
                rows.append(row)
                row, used = "", 0
            row, used = row + character, used + cells(character)
            word, taken = "", 0
        row, used = row + word, used + taken
    return [*rows, row]
