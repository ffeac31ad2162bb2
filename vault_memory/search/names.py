"""Resolves the names of entities: exact first, then alias, never by guess."""

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from vault_memory.markdown import entities
from vault_memory.store import search_rows
from vault_memory.store.view import View


class Names:
    """The names of all entities in one index: slugs that mean the same, and what they are called.

    Without `with_private` as far as everybody may know: as if there were no private page.
    """

    def __init__(self, store: View, with_private: bool = True) -> None:
        self._store, self.with_private = store, with_private

    def reset(self) -> None:
        """Take the names anew where they are others: the index has changed, but mostly no page of an entity."""
        known = self.__dict__.pop("_rows", None)
        if known is not None and known != self._rows:
            self.__dict__.pop("_pages", None)
            self.__dict__.pop("pages", None)

    @cached_property
    def _rows(self) -> list[tuple[Any, ...]]:
        """(path, slug, name, whether it is the page's own) of each name of a page."""
        rows = search_rows.page_names(self._store, self.with_private)
        copies = _copies(rows)
        return [row for row in rows if row[0] not in copies] if copies else rows

    @property
    def copies(self) -> dict[str, str]:
        """The copies of pages, which name nobody, each with the page it is one of."""
        return _copies(search_rows.page_names(self._store, self.with_private))

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
        return search_rows.spelling(self._store, slug, self.with_private)

    @cached_property
    def pages(self) -> dict[str, str]:
        """The path of each entity's page, by its slug; the first path where two pages share a name."""
        return {entities.slug(entities.link_name(path)): path for path, *_ in reversed(self._rows)}

    def in_question(self, slugs: Sequence[str]) -> list[str]:
        """Which of these candidate slugs name an entity, as canonical slugs in the same order, each once."""
        known = search_rows.known_slugs(self._store, slugs)
        return list(dict.fromkeys(self.canonical(slug) for slug in known))

    def near(self, name: str) -> list[str]:
        """Names that look alike, for a suggestion: never used to resolve."""
        import difflib

        known = search_rows.spellings(self._store)
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
