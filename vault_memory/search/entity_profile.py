"""Collects what is known about entities: a listing of all, a profile of one with its facts, and notes by name."""

import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TypeVar

from vault_memory.markdown import entities, provenance
from vault_memory.markdown.entities import is_day, link_name, slug
from vault_memory.search.names import Names
from vault_memory.search.superseded_facts import superseded
from vault_memory.store import note_queries
from vault_memory.store.view import KINDS, Filters, View
from vault_memory.text.scope_syntax import GLOBAL


@dataclass(frozen=True)
class FactLine:
    """A fact as written in its note; `superseded_by` cites the newer one."""

    kind: str
    text: str
    path: str
    start_line: int
    end_line: int
    date: str | None
    occurred: str | None
    confidence: float | None
    superseded_by: str | None = None
    by: str = provenance.PERSON
    """Its origin (provenance.py)."""
    trusted: bool = True
    """Whether its origin is trusted: not a web page or a tool's output."""


@dataclass(frozen=True)
class KeptFact(FactLine):
    """A fact with its scope and the entities it mentions."""

    scope: str = GLOBAL
    entities: tuple[str, ...] = ()


F = TypeVar("F", bound=FactLine)


@dataclass(frozen=True)
class EntityRow:
    """One entity of the listing: display name, page (or None), number of facts that mention it, first and last day."""

    name: str
    page: str | None
    aliases: tuple[str, ...]
    mentions: int
    first_day: str | None
    last_day: str | None
    links: int = 0
    """Links to it anywhere in the notes."""


@dataclass(frozen=True)
class LinkingLine:
    """A line that links to an entity but is not a fact."""

    path: str
    line: int
    date: str | None
    text: str


@dataclass(frozen=True)
class EntityProfile:
    """All that is known about one entity; facts newest first."""

    row: EntityRow
    facts: Sequence[FactLine]
    related: Sequence[tuple[str, int]]
    linked_in: Sequence[LinkingLine] = ()
    namesakes: Sequence[str] = ()
    """Other notes with its name: a mention or link by name alone is ambiguous."""


def listing(view: View, with_links: bool = True, names: Names | None = None) -> list[EntityRow]:
    """List every entity with a page, a mention or, if `with_links`, a link to it; most mentioned first."""
    names = names or Names(view)
    found: dict[str, list[tuple[int, str | None, str | None]]] = defaultdict(list)
    for key, count, first, last in note_queries.mentions(view):
        found[names.canonical(key)].append((count, first, last))
    linked: dict[str, list[tuple[int, str | None, str | None]]] = defaultdict(list)
    spelled: dict[str, str] = {}
    attachments = note_queries.attachment_names(view)
    for target, count, first, last in note_queries.link_targets(view) if with_links else ():
        name = link_name(target)
        canonical = names.canonical(name)
        if not is_day(slug(name)) and (canonical in found or name.casefold() not in attachments or names.note(name)):
            linked[canonical].append((count, first, last))
            spelled.setdefault(canonical, name)
    for known in (*names.pages, *linked):
        found.setdefault(known, [])
    rows: list[EntityRow] = []
    for key, parts in found.items():
        if key:
            name = names.shown(key) or spelled.get(key, key)
            told = parts or linked.get(key, [])
            rows.append(EntityRow(
                name=name,
                page=names.page(key),
                aliases=tuple(form for form in names.forms(key) if form not in (name, key)),
                mentions=sum(count for count, _, _ in parts),
                first_day=min((first for _, first, _ in told if first), default=None),
                last_day=max((last for _, _, last in told if last), default=None),
                links=sum(count for count, _, _ in linked.get(key, ())),
            ))  # fmt: skip
    return sorted(rows, key=lambda row: (-row.mentions, -row.links, row.name))


def profile(view: View, name: str) -> EntityProfile | None:
    """Return what is known about an entity under any of its names or a link to it, or None if nothing is."""
    names = Names(view)
    if (link := entities.MENTION.fullmatch(name.strip())) and link["plain"]:
        name = link_name(link["plain"])
    known = names.canonical(name)
    row = next((row for row in listing(view, names=names) if names.canonical(row.name) == known), None)
    if row is None and (path := names.page(known)):
        forms = tuple(form for form in names.forms(known) if form not in (link_name(path), known))
        row = EntityRow(link_name(path), path, forms, 0, None, None)
    if row is None:
        return None
    slugs = names.slugs(name)
    targets = [t for t, *_ in note_queries.link_targets(view) if names.canonical(link_name(t)) == known]
    together: dict[str, int] = defaultdict(int)
    for other, count in note_queries.mentioned_with(view, slugs):
        if names.canonical(other) != known:
            together[names.canonical(other)] += count
    facts = list(map(_fact_line, note_queries.facts_about(view, slugs)))
    best = sorted(together.items(), key=lambda pair: (-pair[1], pair[0]))
    return EntityProfile(
        row=row,
        facts=facts,
        related=[(names.shown(other) or other, count) for other, count in best],
        linked_in=[
            LinkingLine(path, line, day, text)
            for path, line, day, text in note_queries.lines_linking(view, targets)
            if path != row.page
        ],
        namesakes=[path for path in names.notes(known) if path != row.page],
    )


def kept_facts(
    view: View, entity: str | None, kinds: Collection[str], since: date | None, by: str | None
) -> list[KeptFact]:
    """Return the stored facts, newest first, optionally filtered by entity, kinds, first day and origin.

    `by` is `person`, `agent` for any agent, or an exact origin (`agent:moss`, `web`).
    """
    names = Names(view)
    slugs = names.slugs(entity) if entity else ()
    found = (
        KeptFact(**vars(_fact_line(known)), scope=known.scope, entities=tuple(json.loads(known.names)))
        for known in note_queries.facts_about(view, slugs)
    )
    kept = [
        fact
        for fact in found
        if (not kinds or fact.kind in kinds)
        and not (since and (not fact.date or fact.date < since.isoformat()))
        and (by is None or by in (fact.by, fact.by.partition(":")[0]))
    ]
    return marked(view, names, kept, date.today())


def _fact_line(known: note_queries.KnownFact) -> FactLine:
    since, until = known.occurred_from, known.occurred_to
    return FactLine(
        KINDS[known.kind], known.narrative, known.path, known.line, known.end_line, known.day,
        occurred=since if since == until else f"{since}/{until}", confidence=known.confidence, by=known.by,
        trusted=provenance.is_trusted(known.by),
    )  # fmt: skip


def notes_called(view: View, name: str) -> list[str]:
    """Return the paths of notes that a link with this name would open, or else of those with such a title or alias."""
    key = slug(link_name(name.casefold()))
    paths = [path for path, _ in note_queries.notes_named(view, key)]
    return [path for path in paths if slug(link_name(path)) == key] or paths


def marked(view: View, names: Names, facts: Sequence[F], today: date) -> list[F]:
    """Return the same facts in the same order, with the citation of each one's successor in `superseded_by`."""
    places = {(fact.path, fact.start_line) for fact in facts}
    rows = note_queries.fact_lines(view, {path for path, _ in places})
    ids = {(path, line): passage for path, line, passage in rows if (path, line) in places}
    after = superseded(view, names, ids.values(), today, Filters())
    newer = (after.get(ids[fact.path, fact.start_line]) for fact in facts)
    return [replace(fact, superseded_by=new.source) if new else fact for fact, new in zip(facts, newer, strict=True)]
