"""Owns what is known of entities: their names, pages, facts and timeline, read from the index.

Names resolve here and nowhere else: exact first, then alias, never by guess.
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from vault_memory.markdown import entities, provenance
from vault_memory.store.rows import KINDS
from vault_memory.store.view import View


@dataclass(frozen=True)
class FactLine:
    """A fact as it stands in its note; `superseded_by` is where the newer one stands (history.py)."""

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
    """Who it is from (provenance.py)."""
    trusted: bool = True
    """Whether that is somebody here: not a web page or a tool's output."""


@dataclass(frozen=True)
class EntityRow:
    """One entity of the listing: shown name, page (or None), facts that mention it, first and last day."""

    name: str
    page: str | None
    aliases: tuple[str, ...]
    mentions: int
    first_day: str | None
    last_day: str | None


@dataclass(frozen=True)
class EntityProfile:
    """All that is known of one entity; facts in the order they were mentioned, newest first."""

    row: EntityRow
    facts: Sequence[FactLine]
    related: Sequence[tuple[str, int]]


_NAMES = """
SELECT n.path, a.slug, a.name, a.own FROM alias a JOIN note n ON n.id = a.note_id ORDER BY n.path, a.own DESC, a.name
"""
_PRIVATE_NOTES = "SELECT path FROM note WHERE scope <> 'global'"

_SPELLING = """
SELECT name.text FROM name JOIN mention m ON m.name_id = name.id JOIN passage p ON p.id = m.passage_id
  JOIN note n ON n.id = p.note_id WHERE name.slug = ? AND (? OR coalesce(p.scope, n.scope) = 'global')
  GROUP BY name.id ORDER BY count(*) DESC, name.text LIMIT 1
"""


class Names:
    """The names of all entities in one index: slugs that mean the same, and what they are called.

    Without `with_private` as far as everybody may know: as if there were no private page.
    """

    def __init__(self, store: View, with_private: bool = True) -> None:
        self._store, self.with_private = store, with_private

    def look_again(self) -> None:
        """Take the names anew where they are others: the index has changed, but mostly no page of an entity."""
        known = self.__dict__.pop("_rows", None)
        if known is not None and known != self._rows:
            self.__dict__.pop("_pages", None)
            self.__dict__.pop("pages", None)

    @cached_property
    def _rows(self) -> list[tuple[Any, ...]]:
        """(path, slug, name, whether it is the page's own) of each name of a page."""
        rows = self._told()
        copies = _copies(rows)
        return [row for row in rows if row[0] not in copies] if copies else rows

    def _told(self) -> list[tuple[Any, ...]]:
        rows = list(self._store.rows(_NAMES))
        private = set() if self.with_private else {path for (path,) in self._store.rows(_PRIVATE_NOTES)}
        return [row for row in rows if row[0] not in private] if private else rows

    @property
    def copies(self) -> dict[str, str]:
        """The copies of pages, which name nobody, each with the page it is one of."""
        return _copies(self._told())

    @property
    def claimed(self) -> dict[str, list[str]]:
        """The aliases that several pages claim, each with these: it means none of them, and nobody else either."""
        own, aliases, _ = self._pages
        several = (slug for slug, pages in aliases.items() if len(set(pages)) > 1 and slug not in own)
        return {slug: [self.pages[page] for page in dict.fromkeys(aliases[slug])] for slug in sorted(several)}

    @cached_property
    def _pages(self) -> tuple[dict[str, str], dict[str, list[str]], dict[str, list[str]]]:
        """Own slug → page slug, alias slug → page slugs, page slug → all its names (file name first)."""
        own: dict[str, str] = {}
        aliases: dict[str, list[str]] = defaultdict(list)
        names: dict[str, list[str]] = defaultdict(list)
        for path, slug, name, is_own in self._rows:
            page = entities.slug(entities.link_name(path))
            names[page].append(name)
            if is_own:
                own.setdefault(slug, page)
            else:
                aliases[slug].append(page)
        return own, aliases, names

    def canonical(self, name: str) -> str:
        """The slug an entity is known by: its page's if it has one, else the name's own."""
        own, aliases, _ = self._pages
        return entities.resolve(name, own, aliases) or entities.slug(name)

    def slugs(self, name: str) -> list[str]:
        """Every slug that means the same entity, its own first."""
        canonical = self.canonical(name)
        own, aliases, _ = self._pages
        same = [slug for slug, page in own.items() if page == canonical]
        same += [slug for slug, pages in aliases.items() if pages == [canonical] and slug not in own]
        return list(dict.fromkeys((canonical, entities.slug(name), *same)))

    def forms(self, name: str) -> list[str]:
        """The texts an entity is called by, for finding it in plain text."""
        names = self._pages[2].get(self.canonical(name), [])
        return list(dict.fromkeys((*names, name)))

    def shown(self, slug: str) -> str | None:
        """What an entity is called: its page's file name, else its most frequent spelling; None when unknown."""
        names = self._pages[2].get(slug)
        if names:
            return entities.link_name(self.pages[slug]) if slug in self.pages else names[0]
        found = self._store.one(_SPELLING, slug, self.with_private)
        return str(found) if found is not None else None

    @cached_property
    def pages(self) -> dict[str, str]:
        """The path of each entity's page, by its slug; the first path where two pages share a name."""
        return {entities.slug(entities.link_name(path)): path for path, *_ in reversed(self._rows)}

    def in_question(self, slugs: Sequence[str]) -> list[str]:
        """Which of these candidate slugs name an entity, as canonical slugs in the same order, each once."""
        sql = (
            "SELECT j.value FROM json_each(?) j WHERE EXISTS (SELECT 1 FROM alias WHERE slug = j.value)"
            " OR EXISTS (SELECT 1 FROM name JOIN mention m ON m.name_id = name.id WHERE name.slug = j.value)"
        )
        known = [row[0] for row in self._store.rows(sql, json.dumps(list(slugs)))]
        return list(dict.fromkeys(self.canonical(slug) for slug in known))

    def near(self, name: str) -> list[str]:
        """Names that look alike, for a suggestion: never used to resolve."""
        import difflib

        known = {slug: text for text, slug in self._store.rows("SELECT text, slug FROM name ORDER BY text")}
        known |= {slug: text for text, slug in self._store.rows("SELECT name, slug FROM alias ORDER BY name")}
        close = difflib.get_close_matches(entities.slug(name), list(known), n=3, cutoff=0.75)
        return [known[slug] for slug in close]


def _copies(rows: Sequence[tuple[Any, ...]]) -> dict[str, str]:
    """The pages that have all their names from another one, and a file name as copies of it have."""
    named = {path: entities.copied(entities.link_name(path)) for path in dict.fromkeys(row[0] for row in rows)}
    if not any(named.values()):
        return {}
    names: dict[str, set[str]] = defaultdict(set)
    for path, slug, *_ in rows:
        names[path].add(slug)
    paths = {entities.slug(entities.link_name(path)): path for path in names}
    found: dict[str, str] = {}
    for path, name in named.items():
        original = paths.get(entities.slug(name)) if name else None
        others = names[path] - {entities.slug(entities.link_name(path))}
        if original and others and others <= names[original]:
            found[path] = original
    return found


def listing(store: View, with_private: bool = True) -> list[EntityRow]:
    """Every entity with a page or a mention, most mentioned first; without what is private to some scope on wish."""
    names = Names(store, with_private)
    sql = (
        "SELECT name.slug, count(*), min(n.day), max(n.day) FROM name JOIN mention m ON m.name_id = name.id"
        " JOIN fact f ON f.passage_id = m.passage_id AND f.part = 0"
        " JOIN passage p ON p.id = m.passage_id JOIN note n ON n.id = p.note_id"
        " WHERE ? OR coalesce(p.scope, n.scope) = 'global' GROUP BY name.slug"
    )
    found: dict[str, list[tuple[int, str | None, str | None]]] = defaultdict(list)
    for slug, count, first, last in store.rows(sql, with_private):
        found[names.canonical(slug)].append((count, first, last))
    for slug in names.pages:
        found.setdefault(slug, [])
    rows = [_row(names, slug, parts) for slug, parts in found.items() if slug]
    return sorted(rows, key=lambda row: (-row.mentions, row.name))


def _row(names: Names, slug: str, parts: list[tuple[int, str | None, str | None]]) -> EntityRow:
    name = names.shown(slug) or slug
    return EntityRow(
        name=name,
        page=names.pages.get(slug),
        aliases=tuple(form for form in names.forms(slug) if form not in (name, slug)),
        mentions=sum(count for count, _, _ in parts),
        first_day=min((first for _, first, _ in parts if first), default=None),
        last_day=max((last for _, _, last in parts if last), default=None),
    )


FACT_COLUMNS = (
    "SELECT p.kind, f.narrative, n.path, p.start_line, p.end_line, n.day, f.occurred_from, f.occurred_to, f.confidence,"
    " coalesce(p.origin, n.origin)"
    " FROM fact f JOIN passage p ON p.id = f.passage_id AND f.part = 0 JOIN note n ON n.id = p.note_id"
)


def fact_line(row: Sequence[object]) -> FactLine:
    """A row of FACT_COLUMNS as a value."""
    kind, text, path, start, end, day, since, until, confidence, by = row
    occurred = since if since == until else f"{since}/{until}"
    return FactLine(
        kind=KINDS[int(str(kind))],
        text=str(text),
        path=str(path),
        start_line=int(str(start)),
        end_line=int(str(end)),
        date=_text(day),
        occurred=_text(occurred) if since else None,
        confidence=confidence if isinstance(confidence, float) else None,
        by=str(by),
        trusted=provenance.is_trusted(str(by)),
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def profile(store: View, name: str) -> EntityProfile | None:
    """What is known of one entity by any of its names, or None when nothing is."""
    names = Names(store)
    slug = names.canonical(name)
    row = next((row for row in listing(store) if names.canonical(row.name) == slug), None)
    if row is None:
        return None
    slugs = json.dumps(names.slugs(name))
    about = (
        " WHERE f.passage_id IN (SELECT m.passage_id FROM mention m JOIN name ON name.id = m.name_id"
        " WHERE name.slug IN (SELECT value FROM json_each(?))) ORDER BY n.day DESC, n.path, p.start_line"
    )
    related = (
        "SELECT other.slug, count(DISTINCT b.passage_id) FROM mention a JOIN name ON name.id = a.name_id"
        " JOIN fact f ON f.passage_id = a.passage_id AND f.part = 0"
        " JOIN mention b ON b.passage_id = a.passage_id JOIN name other ON other.id = b.name_id"
        " WHERE name.slug IN (SELECT value FROM json_each(?)) GROUP BY other.slug"
    )
    together: dict[str, int] = defaultdict(int)
    for other, count in store.rows(related, slugs):
        if names.canonical(other) != slug:
            together[names.canonical(other)] += count
    best = sorted(together.items(), key=lambda pair: (-pair[1], pair[0]))
    return EntityProfile(
        row=row,
        facts=[fact_line(found) for found in store.rows(FACT_COLUMNS + about, slugs)],
        related=[(names.shown(other) or other, count) for other, count in best],
    )
