"""Renders the output of `get`, `retain`, `forget`, `entity`, `entities` and `opinions`."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from vault_memory.markdown import provenance
from vault_memory.markdown.fact_text import readable
from vault_memory.rendering.common import Document, place, schema
from vault_memory.search.answer import Result
from vault_memory.text import terms
from vault_memory.text.output import clean, cut, plural

if TYPE_CHECKING:
    from vault_memory.reflect.opinion_query import Opinion
    from vault_memory.search.entity_profile import EntityProfile, EntityRow, FactLine
    from vault_memory.search.get import Excerpt
    from vault_memory.write.forget import ForgetResult, Removal
    from vault_memory.write.retain import RetainResult


def get_document(excerpt: "Excerpt") -> Document:
    """The `get@1` document."""
    document = schema("get") | asdict(excerpt)
    del document["origins"]  # only for a caller with scopes
    return document


def unit(path: str) -> str:
    """The unit that citations of this path count: messages of a session, lines of any other note."""
    return "message" if path.startswith("sessions/") else "line"


def past_the_end(excerpt: "Excerpt") -> str:
    """The message for a line range that starts after the end of a note."""
    if not excerpt.lines:
        return f"{clean(excerpt.path)} is empty."
    what = unit(excerpt.path)
    return f"{clean(excerpt.path)} has {plural(excerpt.lines, what)}; there is no {what} {excerpt.start_line}."


def retain_document(done: "RetainResult") -> Document:
    """The `retain@1` document."""
    return schema("retain") | asdict(done) | {"source": done.source}


def forget_document(planned: "Removal", done: "ForgetResult | None") -> Document:
    """The `forget@1` document of what was, or would be, removed."""
    shown = done.removal if done else planned
    return schema("forget") | {
        "path": shown.path, "line": shown.start_line, "end_line": shown.end_line, "source": shown.source,
        "removed": shown.text, "diff": shown.diff, "written": done is not None,
        "kept_in": done.kept_in if done else None, "warnings": list(done.warnings) if done else [], "candidates": [],
    }  # fmt: skip


def candidates_document(found: Sequence[Result]) -> Document:
    """The `forget@1` document of the facts that a query may mean; nothing is chosen or written."""
    nothing = dict.fromkeys(("path", "line", "end_line", "source", "removed", "diff"))
    names = ("path", "start_line", "end_line", "source", "kind", "date", "content")
    return schema("forget") | nothing | {
        "written": False, "kept_in": None, "warnings": [],
        "candidates": [{name: getattr(result, name) for name in names} for result in found],
    }  # fmt: skip


def candidates_text(found: Sequence[Result]) -> str:
    """The facts that a query may mean, numbered, each with its citation."""
    lines: list[str] = []
    for number, result in enumerate(found, start=1):
        lines += [f"{number}. {result.source}", *(f"   {line}" for line in result.content.split("\n"))]
    return "\n".join(map(clean, lines))


# --- entities --------------------------------------------------------------------------------------------------------


MAX_RELATED, MAX_LINKING, LINKING_CELLS = 12, 10, 160


def entities_document(rows: "Sequence[EntityRow]") -> Document:
    """The `entities@1` document."""
    return schema("entities") | {"entities": [asdict(row) for row in rows]}


def entities_text(rows: "Sequence[EntityRow]") -> str:
    """One line per entity."""
    width = max((len(row.name) for row in rows), default=0)
    lines = []
    for row in rows:
        days = f"{row.first_day} – {row.last_day}" if row.first_day != row.last_day else row.first_day or ""
        said = plural(row.mentions, "mention") if row.mentions or not row.links else plural(row.links, "link")
        line = f"{clean(row.name):{width}}  {said:13} {days:24} {place(row.page or '')}"
        lines.append(line.rstrip())
    return "\n".join(lines)


def entity_document(profile: "EntityProfile | None", asked: str) -> Document:
    """The `entity@1` document."""
    if profile is None:
        return schema("entity") | {"name": None, "asked": asked, "not_found": True}
    facts = [asdict(fact) for fact in profile.facts]
    return schema("entity") | asdict(profile.row) | {
        "facts": [fact for fact in facts if fact["kind"] != "opinion"],
        "opinions": [fact for fact in facts if fact["kind"] == "opinion"],
        "timeline": sorted({fact["date"] for fact in facts if fact["date"]}),
        "related": [{"name": name, "together": count} for name, count in profile.related],
        "linked_in": [asdict(line) for line in profile.linked_in],
        "namesakes": list(profile.namesakes),
        "not_found": False,
    }  # fmt: skip


def entity_text(profile: "EntityProfile") -> str:
    """An entity's name, page, opinions, facts (newest first), links and related entities."""
    row = profile.row
    lines = [f"# {clean(row.name)}" + (f" ({', '.join(map(clean, row.aliases))})" if row.aliases else "")]
    if row.page:
        lines.append(f"page: {place(row.page)}")
    if profile.namesakes:
        lines.append(f"also called so: {', '.join(map(place, profile.namesakes))}")
    for title in ("Opinions", "Facts"):
        facts = [fact for fact in profile.facts if (fact.kind == "opinion") == (title == "Opinions")]
        lines += ["", f"## {title}"] if facts else []
        for fact in facts:
            sure = f"[{fact.confidence:.2f}] " if fact.confidence is not None else ""
            text = clean(provenance.without_citation(fact.text)) + provenance.origin_suffix(fact.by)
            after = clean(provenance.older_suffix(fact.superseded_by, fact.path))
            lines.append(f"- {sure}{text}  ({place(fact.path)}#L{fact.start_line}){after}")
    if profile.linked_in:
        lines += ["", "## Linked in"]
        for line in profile.linked_in[:MAX_LINKING]:
            said = cut(" ".join(terms.body(line.text).split()), LINKING_CELLS)
            lines.append(f"- {clean(said)}  ({place(line.path)}#L{line.line})")
        if len(profile.linked_in) > MAX_LINKING:
            lines.append(f"… and {len(profile.linked_in) - MAX_LINKING:,} more")
    if related := [f"{clean(name)} ({count})" for name, count in profile.related[:MAX_RELATED]]:
        lines += ["", f"Related: {', '.join(related)}"]
    return "\n".join(lines)


# --- opinions --------------------------------------------------------------------------------------------------------

MARGIN = " " * 13
EVIDENCE_CELLS = 100
"""Maximum width of a fact for or against in the short form, without `--history`."""

_LISTS = ("evidence", "supports", "contradicts", "related", "history")


def opinions_document(opinions: "Sequence[Opinion]") -> Document:
    """The `opinions@1` document; dataclasses.asdict would double the total time for 20,000 opinions."""
    return schema("opinions") | {
        "opinions": [
            vars(one) | {name: [vars(part) for part in getattr(one, name)] for name in _LISTS} for one in opinions
        ]
    }


def opinions_text(opinions: "Sequence[Opinion]", history: bool) -> str:
    """One line per opinion, and below it its trend and the newest fact for and against; with `history` all facts."""
    lines: list[str] = []
    for one in opinions:
        newest = next((line for line in one.evidence if line.text == one.statement), one.evidence[0])
        about = f"{', '.join(map(clean, one.entities))}: " if one.entities else ""
        private = f"  (private to {clean(one.scope)})" if one.scope != "global" else ""
        after = clean(provenance.older_suffix(one.superseded_by, newest.path))
        statement = f"{one.confidence:.2f} {one.trend:7} {about}{_unlinked(one.statement)}"
        lines.append(f"{statement}  ({_cited(newest)}){private}{after}")
        lines += (MARGIN + line for line in (_history(one) if history else _in_short(one)))
    return "\n".join(lines)


def _in_short(opinion: "Opinion") -> Iterator[str]:
    marks = f"{opinion.sparkline} " if len(opinion.sparkline) > 1 else ""
    start = opinion.history[0] if opinion.history else None
    if start and (marks or start.confidence != opinion.confidence):
        yield f"{marks}from {start.confidence:.2f} on {start.date}"
    if opinion.set_by_hand:
        yield f"set by hand on {opinion.set_by_hand}"
    for word, facts in (("for:", opinion.supports), ("against:", opinion.contradicts)):
        if facts:
            more = f", and {len(facts) - 1:,} more" if len(facts) > 1 else ""
            yield f"{word:8} {cut(_unlinked(facts[0].text), EVIDENCE_CELLS)}  ({_cited(facts[0])}){more}"


def _history(opinion: "Opinion") -> Iterator[str]:
    """Every fact an opinion is based on, newest first, with the confidence at the end of its day."""

    def row(day: str | None, what: str) -> tuple[str, str]:
        known = [moment.confidence for moment in opinion.history if day and moment.date <= day]
        return day or "", f"{day or 'undated':10}  {f'{known[-1]:.2f}' if known else '':4}  {what}"

    every = [("stated", line) for line in opinion.evidence]
    every += [("for", line) for line in opinion.supports] + [("against", line) for line in opinion.contradicts]
    every.sort(key=lambda one: one[1].date or "", reverse=True)
    rows = []
    for word, line in every:
        what = f"{_unlinked(line.text)}  ({_cited(line)})"
        if word == "stated":
            word = f"stated {line.confidence:.2f}" if line.confidence is not None else word
            what = _cited(line) if line.text == opinion.statement else what
        rows.append(row(line.date, f"{word:12} {what}"))
    if opinion.set_by_hand:
        newer = sum(day > opinion.set_by_hand for day, _ in rows)
        rows.insert(newer, row(opinion.set_by_hand, "set by hand"))
    yield from (text for _, text in rows)
    yield from (f"{'related:':18}{_unlinked(fact.text)}  ({_cited(fact)})" for fact in opinion.related)


def _unlinked(text: str) -> str:
    return clean(readable(text, lambda _: False))


def _cited(line: "FactLine") -> str:
    return f"{place(line.path)}#L{line.start_line}{provenance.origin_suffix(line.by)}"
