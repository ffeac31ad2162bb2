"""What is known of entities: their pages, facts and timeline, read from the index."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import normalize

from vault_memory.markdown import provenance
from vault_memory.markdown.entities import link_name
from vault_memory.search.names import Names
from vault_memory.store import note_rows, search_rows
from vault_memory.store.rows import KINDS
from vault_memory.store.view import View


@dataclass(frozen=True)
class FactLine:
    """A fact as it stands in its note; `superseded_by` is where the newer one stands (superseded.py)."""

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


def listing(store: View, with_private: bool = True) -> list[EntityRow]:
    """Every entity with a page or a mention, most mentioned first; without what is private to some scope on wish."""
    names = Names(store, with_private)
    found: dict[str, list[tuple[int, str | None, str | None]]] = defaultdict(list)
    for slug, count, first, last in search_rows.mentions(store, with_private):
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


def fact_line(row: Sequence[object]) -> FactLine:
    """A row of `search_rows.facts_about` as a value."""
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
    slugs = names.slugs(name)
    together: dict[str, int] = defaultdict(int)
    for other, count in search_rows.mentioned_with(store, slugs):
        if names.canonical(other) != slug:
            together[names.canonical(other)] += count
    best = sorted(together.items(), key=lambda pair: (-pair[1], pair[0]))
    return EntityProfile(
        row=row,
        facts=[fact_line(found) for found in search_rows.facts_about(store, slugs)],
        related=[(names.shown(other) or other, count) for other, count in best],
    )


def notes_called(view: View, name: str) -> list[str]:
    """The paths of notes that a link with this name would open, else of those with such a title or alias."""
    wanted = _plain(name)
    files = [path for path in note_rows.note_paths(view) if _plain(path) == wanted]
    titles = (path for path, title in note_rows.note_titles(view) if _plain(title) == wanted)
    return files or list(dict.fromkeys(titles))


def _plain(text: str) -> str:
    return normalize("NFC", link_name(text)).casefold().removesuffix(".md")
