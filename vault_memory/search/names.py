"""Names of entities: exact first, then alias, never by guess."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from vault_memory.embedding.builtin_embedder import builtin
from vault_memory.markdown import entities
from vault_memory.store import note_queries
from vault_memory.store.view import View


class Names:
    """The names of all entities in one index: slugs that mean the same, and what they are called.

    A note's title, file name and aliases name it as those of an entity's page do, which comes first. Without
    `with_private` as far as everybody may know: as if there were no private page.
    """

    def __init__(self, store: View, with_private: bool = True) -> None:
        self._store, self.with_private = store, with_private
        self._spelled: dict[str, str | None] = {}
        self._notes: dict[str, list[str]] = {}
        rows = note_queries.page_names(store, with_private)
        self.pages = {entities.slug(entities.link_name(path)): path for path, *_ in reversed(rows)}
        """The path of each entity's page, by its slug; the first where two pages share a name."""
        self._own: dict[str, str] = {}  # own slug → page slug
        self._aliases: dict[str, list[str]] = defaultdict(list)  # alias slug → page slugs
        self._names: dict[str, list[str]] = defaultdict(list)  # page slug → all its names, file name first
        for path, slug, name, is_own in rows:
            page = entities.slug(entities.link_name(path))
            self._names[page].append(name)
            if is_own:
                self._own.setdefault(slug, page)
            else:
                self._aliases[slug].append(page)
        self._slugs: dict[str, list[str]] = defaultdict(list)  # page slug → all slugs that mean it, its own first
        for slug, page in self._own.items():
            self._slugs[page].append(slug)
        for slug, pages in self._aliases.items():
            if len(pages) == 1 and slug not in self._own:
                self._slugs[pages[0]].append(slug)

    @property
    def claimed(self) -> dict[str, list[str]]:
        """The aliases that several pages claim, each with these: it means none of them, and nobody else either."""
        several = {slug: dict.fromkeys(pages) for slug, pages in self._aliases.items() if slug not in self._own}
        return {s: [self.pages[page] for page in several[s]] for s in sorted(several) if len(several[s]) > 1}

    def canonical(self, name: str) -> str:
        """The slug an entity is known by: its page's if it has one, else the name's own."""
        found = entities.resolve(name, self._own, self._aliases)
        return found or entities.slug(entities.link_name(self.note(name))) or entities.slug(name)

    def note(self, name: str) -> str:
        """The path of the one note that a name means which no entity's page has; "" for none, or several aliases."""
        return next(iter(self.notes(name)), "")

    def notes(self, name: str) -> list[str]:
        """That note, and others of that file name or title: a link means a file name first, the nearest to the root."""
        slug = entities.slug(name)
        if not slug or slug in self._own or entities.is_day(slug):
            return []
        if slug not in self._notes:
            found = note_queries.notes_named(self._store, slug, self.with_private)
            own = [path for path, is_own in found if is_own] or [path for path, _ in found if len(found) == 1]
            self._notes[slug] = sorted(own, key=lambda path: entities.slug(entities.link_name(path)) != slug)
        return self._notes[slug]

    def called(self, runs: Mapping[str, bool], words: Sequence[str]) -> dict[int, float]:
        """The ids of the notes whose whole name is one of some runs of words, each with the share of `words` in it.

        None of a name within another ("Well Made" in "Well Made 145"); a single word (False) only if no dictionary has
        it. Of several notes of one name that which a link means.
        """
        notes = {(name, path): i for name, path, i in note_queries.notes_called(self._store, runs)}
        names = {name for name, _ in notes if runs[name] or builtin().word_length(name) is None}
        whole = [each for each in names if not any(each != name and f"-{each}-" in f"-{name}-" for name in names)]
        ids = {name: notes.get((name, self.note(name))) for name in sorted(whole)}
        slugs = [f"-{entities.slug(word)}-" for word in words]
        shares = {name: sum(slug in f"-{name}-" for slug in slugs) / max(len(words), 1) for name in ids}
        return {note: shares[name] for name, note in ids.items() if note is not None}

    def page(self, slug: str) -> str | None:
        """The path of an entity's page, else of the note it is."""
        return self.pages.get(slug) or self.note(slug) or None

    def slugs(self, name: str) -> list[str]:
        """Every slug that means the same entity, its own first."""
        canonical = self.canonical(name)
        path = self.note(canonical)
        same = [own for _, own in note_queries.names_of_note(self._store, path)] if path else []
        return list(dict.fromkeys((canonical, entities.slug(name), *self._slugs.get(canonical, ()), *same)))

    def forms(self, name: str) -> list[str]:
        """The texts an entity is called by, for finding it in plain text."""
        canonical = self.canonical(name)
        path = self.note(canonical)
        own = [form for form, _ in note_queries.names_of_note(self._store, path)] if path else []
        return list(dict.fromkeys((*self._names.get(canonical, ()), *own, name)))

    def shown(self, slug: str) -> str | None:
        """What an entity is called: its page's file name, else its most frequent spelling; None when unknown."""
        if slug in self.pages:
            return entities.link_name(self.pages[slug])
        if path := self.note(slug):
            return entities.link_name(path)
        if slug not in self._spelled:  # it counts every mention
            self._spelled[slug] = note_queries.spelling(self._store, slug, self.with_private)
        return self._spelled[slug]

    def near(self, name: str) -> list[str]:
        """Names that look alike, for a suggestion: never used to resolve."""
        import difflib

        known = note_queries.spellings(self._store)
        close = difflib.get_close_matches(entities.slug(name), list(known), n=3, cutoff=0.75)
        return [known[slug] for slug in close]
