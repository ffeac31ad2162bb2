"""Resolves names of entities: by exact name first, then by alias, never by similarity."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from vault_memory.embedding.builtin_embedder import builtin
from vault_memory.markdown import entities
from vault_memory.store import note_queries
from vault_memory.store.view import View


class Names:
    """The names of all entities in one index: which slugs mean the same entity, and how each is displayed.

    A note is named by its title, file name and aliases, as an entity's page is; the page takes precedence.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._spelled: dict[str, str | None] = {}
        self._notes: dict[str, list[str]] = {}
        self._note_names: dict[str, list[tuple[str, str]]] = {}  # path of a note → the names that mean only it
        self._known_as: dict[str, str] = {}  # path of a note → the slug it is known by
        rows = note_queries.page_names(view)
        self.pages = {_own(path): path for path, *_ in reversed(rows)}
        """Slug → path of each entity's page; the first path if two pages share a name."""
        self._own: dict[str, str] = {}  # own slug → page slug
        self._aliases: dict[str, list[str]] = defaultdict(list)  # alias slug → page slugs
        self._names: dict[str, list[str]] = defaultdict(list)  # page slug → all its names, file name first
        for path, slug, name, is_own in rows:
            page = _own(path)
            self._names[page].append(name)
            if is_own:
                self._own.setdefault(slug, page)
            else:
                self._aliases[slug].append(page)
        self._slugs: dict[str, list[str]] = defaultdict(list)  # page slug → all slugs that mean it, its own first
        for slug in {**self._own, **self._aliases}:
            if known := entities.resolve(slug, self._own, self._aliases):
                self._slugs[known].append(slug)

    @property
    def claimed(self) -> dict[str, list[str]]:
        """The aliases claimed by several pages, each with those pages: such an alias resolves to nothing."""
        several = {slug: dict.fromkeys(pages) for slug, pages in self._aliases.items() if slug not in self._own}
        return {s: [self.pages[page] for page in several[s]] for s in sorted(several) if len(several[s]) > 1}

    def canonical(self, name: str) -> str:
        """Return an entity's canonical slug: its page's if it has one, else its note's, else the name's own.

        A note is known by its file name, unless facts mention it only by another name (a README's alias Anna).
        """
        found = entities.resolve(name, self._own, self._aliases)
        path = "" if found else self._only_note(name)
        if not path:
            return found or entities.slug(name)
        if path not in self._known_as:
            slugs = [_own(path)]
            if self._only_note(slugs[0]) != path or not note_queries.is_mentioned(self._view, slugs[0]):  # seldom
                slugs = [slug for _, slug in self._names_of(path)]
            self._known_as[path] = next((s for s in slugs if note_queries.is_mentioned(self._view, s)), slugs[0])
        return self._known_as[path]

    def _only_note(self, name: str) -> str:
        """Return the path of the note whose names include this one; "" if ambiguous, or if an entity's page has it."""
        if entities.resolve(name, self._own, self._aliases):
            return ""
        paths, slug = self.notes(name), entities.slug(name)
        files = [path for path in paths if _own(path) == slug] or paths
        return files[0] if len(files) == 1 else ""

    def _names_of(self, path: str) -> list[tuple[str, str]]:
        """Return (name, slug) of each name that means only this note, its file name first; [] for an empty path."""
        if path and path not in self._note_names:
            names = note_queries.names_of_note(self._view, path)
            alone = [each for each in names if self._only_note(each[1]) == path]
            self._note_names[path] = sorted(alone, key=lambda each: each[1] != _own(path))
        return self._note_names[path] if path else []

    def note(self, name: str) -> str:
        """Return the path of the first of `notes`, or ""."""
        return next(iter(self.notes(name)), "")

    def notes(self, name: str) -> list[str]:
        """Return the notes whose own name it is, else the only one with such an alias; [] if an entity's page has it.

        File names come before titles, as for a link, then the nearest to the root.
        """
        slug = entities.slug(name)
        if not slug or slug in self._own or entities.is_day(slug):
            return []
        if slug not in self._notes:
            found = note_queries.notes_named(self._view, slug)
            meant = [path for path, is_own in found if is_own] or [path for path, _ in found if len(found) == 1]
            self._notes[slug] = sorted(meant, key=lambda path: _own(path) != slug)
        return self._notes[slug]

    def named_in(self, runs: Mapping[str, bool], words: Sequence[str]) -> dict[int, float]:
        """Return the notes whose whole name is one of these runs of words: id → share of `words` in that name.

        A name within a longer one is ignored ("Well Made" in "Well Made 145"), and so is a single word (False) unless
        it is in no dictionary. Of several notes with one name, the one a link would open is returned.
        """
        notes = {(name, path): i for name, path, i in note_queries.notes_called(self._view, runs)}
        names = {name for name, _ in notes if runs[name] or builtin().word_length(name) is None}
        whole = [each for each in names if not any(each != name and f"-{each}-" in f"-{name}-" for name in names)]
        ids = {name: notes.get((name, self.note(name))) for name in sorted(whole)}
        slugs = [f"-{entities.slug(word)}-" for word in words]
        shares = {name: sum(slug in f"-{name}-" for slug in slugs) / max(len(words), 1) for name in ids}
        return {note: shares[name] for name, note in ids.items() if note is not None}

    def page(self, slug: str) -> str | None:
        """Return the path of an entity's page, or else of the note with that name."""
        return self.pages.get(slug) or self.note(slug) or None

    def slugs(self, name: str) -> list[str]:
        """Return every slug that means the same entity, the canonical one first."""
        canonical = self.canonical(name)
        same = [slug for _, slug in self._names_of(self._only_note(canonical))]
        return list(dict.fromkeys((canonical, entities.slug(name), *self._slugs.get(canonical, ()), *same)))

    def forms(self, name: str) -> list[str]:
        """Return the spellings of an entity's names, for finding it in plain text."""
        canonical = self.canonical(name)
        own = [form for form, _ in self._names_of(self._only_note(canonical))]
        return list(dict.fromkeys((*self._names.get(canonical, ()), *own, name)))

    def shown(self, slug: str) -> str | None:
        """Return an entity's display name: its page's or note's file name, else its most frequent spelling, if any."""
        path = self.page(slug)
        if path and _own(path) == slug:
            return entities.link_name(path)
        if slug not in self._spelled:  # the query counts every mention
            self._spelled[slug] = note_queries.spelling(self._view, slug)
        return self._spelled[slug] or (entities.link_name(path) if path else None)

    def near(self, name: str) -> list[str]:
        """Return similar names as suggestions: never used to resolve."""
        import difflib

        known = note_queries.spellings(self._view)
        close = difflib.get_close_matches(entities.slug(name), list(known), n=3, cutoff=0.75)
        return [known[slug] for slug in close]


def _own(path: str) -> str:
    return entities.slug(entities.link_name(path))
