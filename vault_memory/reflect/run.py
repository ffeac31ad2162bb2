"""Owns one run of reflect: facts out of the index, drafts of all pages, and the plan of what is to be written.

It reads the index and the pages, and writes nothing; apply.py does.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache

from vault_memory import entities, tokens
from vault_memory.entities import ENTITY_FOLDER, link_name
from vault_memory.knowledge import Names
from vault_memory.lexicon import Lexicon
from vault_memory.reflect import entity_page, facts, periods, summaries
from vault_memory.reflect.blocks import Line
from vault_memory.reflect.cite import Citations
from vault_memory.reflect.model import Fact
from vault_memory.reflect.plan import Draft
from vault_memory.reflect.sections import Context
from vault_memory.store import Store

SUMMARY_BLOCK = "summary"

KINDS = ("entities", "opinions", "summaries", "proposals")
"""What `--only` chooses from."""


@dataclass(frozen=True)
class Options:
    """What a run is asked for: the day it is, which pages (none: all), and only what facts since a day touch."""

    today: date
    only: tuple[str, ...] = ()
    since: date | None = None
    entity_days: int = 2
    """A new page is made for what is mentioned on so many days."""


class Run:
    """One look at the facts of a vault. `template` is how a new page of an entity begins."""

    def __init__(self, store: Store, options: Options, template: str) -> None:
        self._store, self._options, self._template = store, options, template
        self._names = Names(store)
        self._lexicon = Lexicon(store)
        self.told = facts.read(store, options.today)

    # --- what there is -------------------------------------------------------------------------------------------

    @cached_property
    def _paths(self) -> list[str]:
        return [row[0] for row in self._store.rows("SELECT path FROM note")]

    @cached_property
    def _about(self) -> dict[str, list[Fact]]:
        found: dict[str, list[Fact]] = defaultdict(list)
        for fact in self.told.facts:
            for slug in fact.about:
                found[slug].append(fact)
        return found

    @cached_property
    def _pages(self) -> dict[str, str]:
        """The page of each entity that has one or is to have one, by slug."""
        taken = {entities.slug(link_name(path)) for path in self._paths}
        found = dict(self._names.pages)
        for slug, about in self._about.items():
            days = {fact.day for fact in about if fact.day}
            if slug not in found and slug not in taken and len(days) >= self._options.entity_days:
                found[slug] = f"{ENTITY_FOLDER}{_file_name(self._names.shown(slug) or slug)}.md"
        return found

    @cached_property
    def _periods(self) -> list[periods.Period]:
        days = {fact.when for fact in self.told.facts if fact.when}
        return periods.closed(days, self._options.today)

    def _context(self, summaries_made: frozenset[str]) -> Context:
        paths = [*self._paths, *(path for path in self._pages.values() if path not in set(self._paths))]
        paths += [periods.page_of(name) for name in sorted(summaries_made) if periods.page_of(name) not in set(paths)]
        targets = {link_name(path).casefold() for path in paths} | {
            path.removesuffix(".md").casefold() for path in paths
        }
        cite = Citations(paths)
        return Context(
            cite=cite,
            shown=lambda slug: self._shown(slug, cite),
            exists=lambda target: target.strip().removesuffix(".md").casefold() in targets,
            stems=self._stems,
            rarity=lambda stem: self._rarities.get(stem, 1.0),
            count=lru_cache(1 << 14)(tokens.count),
            summaries=summaries_made,
        )

    def _shown(self, slug: str, cite: Citations) -> str:
        name = self._names.shown(slug) or slug
        path = self._pages.get(slug)
        if path is None:
            return name
        target = cite.target(path)
        return f"[[{target}]]" if target == name or "|" in target else f"[[{target}|{name}]]"

    @cached_property
    def _stems(self) -> Callable[[str], Sequence[str]]:
        return lru_cache(1 << 17)(lambda text: tuple(self._lexicon.stems(text)))

    @cached_property
    def _rarities(self) -> dict[str, float]:
        """How rare each stem is among the facts: 1 for what stands in one alone, 0 for what stands everywhere.

        Not in the whole index: that holds our own pages, and what they say would change what they are to say.
        """
        held = Counter(stem for fact in self.told.facts for stem in set(self._stems(fact.text)))
        most = math.log(max(len(self.told.facts), 2))
        found = {stem: max(1 - math.log(count) / most, 0.0) for stem, count in held.items()}
        return found | dict.fromkeys(self._lexicon.idle, 0.0)

    # --- drafts --------------------------------------------------------------------------------------------------

    def drafts(self) -> Iterator[Draft]:
        """The pages as the facts would have them."""
        made = list(self._summaries()) if self._is_wanted("summaries") else []
        context = self._context(frozenset(link_name(draft.path) for draft in made))
        if self._is_wanted("entities"):
            yield from self._entities(context)
        yield from made

    def _is_wanted(self, kind: str) -> bool:
        return not self._options.only or kind in self._options.only

    def _entities(self, context: Context) -> Iterator[Draft]:
        for slug, path in sorted(self._pages.items()):
            about = self._about.get(slug, [])
            known = entity_page.Profile(slug, self._names.shown(slug) or slug, about)
            lines = entity_page.lines(known, context) if about else ()
            start = self._template.replace("{{title}}", link_name(path))
            yield Draft(path, entity_page.BLOCK, lines, _why(about), start)

    def _summaries(self) -> Iterator[Draft]:
        made: set[str] = set()
        for period in self._periods:
            context = self._context(frozenset(made))
            found = summaries.summary(period, self.told.facts, context)
            if isinstance(found, summaries.TooLittle):
                continue
            made.add(period.name)
            lines = tuple(Line(text) for text in found.lines)
            yield Draft(found.path, SUMMARY_BLOCK, lines, f"{period.title} is over", _start(found))


def _start(found: summaries.Draft) -> str:
    properties = "".join(f"{key}: {value}\n" for key, value in found.properties.items())
    return f"---\n{properties}---\n# {found.title}\n"


def _why(about: Sequence[Fact]) -> str:
    days = {fact.day for fact in about if fact.day}
    return f"{plural(len(about), 'fact')} on {plural(len(days), 'day')}"


def plural(count: int, noun: str) -> str:
    """`1 fact`, `2 facts`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _file_name(name: str) -> str:
    """A name as a file can have it everywhere."""
    clean = "".join(" " if char in '/\\:*?"<>|#^[]' or ord(char) < 32 else char for char in name)
    clean = " ".join(clean.split()).strip(". ") or "unnamed"
    return f"{clean}_" if entities.is_reserved(clean) else clean
