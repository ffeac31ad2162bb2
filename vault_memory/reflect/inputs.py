"""Owns what the pages of a run are made from: facts by whom and when, opinions, the pages that are there or may come.

How an entity is called, cited and counted stands here too, for every page does it alike. It reads the index only.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property, lru_cache
from typing import NamedTuple

from vault_memory.markdown import entities
from vault_memory.markdown.entities import ENTITY_FOLDER, link_name
from vault_memory.reflect import bank_page, beliefs, facts, opinion_page, periods, proposals, stance
from vault_memory.reflect.beliefs import OpinionInputs
from vault_memory.reflect.cite import Citations
from vault_memory.reflect.entity_page import weighed
from vault_memory.reflect.merge import LINKED
from vault_memory.reflect.model import Fact
from vault_memory.reflect.sections import Context
from vault_memory.reflect.user_feedback import Said
from vault_memory.search.names import Names
from vault_memory.store import reflect_rows
from vault_memory.store.lexicon import Lexicon
from vault_memory.store.view import View
from vault_memory.text import tokens


@dataclass(frozen=True)
class Options:
    """What a run is asked for: the day it is, which pages (none: all), and only what facts since a day touch."""

    today: date
    only: tuple[str, ...] = ()
    since: date | None = None
    entity_days: int = facts.PAGE_DAYS
    """A new page is made for what is mentioned on so many days."""
    holds_block: Callable[[str], bool] = lambda path: False
    """Whether a note holds the block of an entity's page, wherever it lies."""
    removed: frozenset[str] = frozenset()
    """The pages that are not made, for a person removed them."""
    has_model: bool = True
    """Whether what a model said of opinions counts: not where none is configured any more."""
    ask: stance.Ask | None = None
    """Asks the configured model."""


class Verdicts(NamedTuple):
    """What a model said that facts mean for statements, by the hashes of both, and what was known and is not now."""

    found: list[tuple[int, int, int]]
    gone: list[tuple[int, int]]


class Material:
    """The facts of a vault as of a day, and all that is worked out from them once for all pages."""

    def __init__(self, store: View, options: Options, said: Said) -> None:
        self._store, self._options, self._said = store, options, said
        self._names = Names(store, with_private=False)
        self._lexicon = Lexicon(store)
        self.unmade: list[str] = []
        """The pages that would be made, had nobody removed them."""
        self.told = facts.read(store, options.today, options.entity_days)
        known = {period.path for period in self._periods}  # of others there is nothing to tell, whatever stands there
        self._made = {link_name(path) for path in self._open_paths if path in known}

    # --- what there is -------------------------------------------------------------------------------------------

    @cached_property
    def _paths(self) -> list[str]:
        return reflect_rows.paths(self._store)

    @cached_property
    def _open_paths(self) -> list[str]:
        """The notes that everybody may read: what a page names, links or leaves out hangs on no other."""
        return reflect_rows.paths(self._store, with_private=False)

    @cached_property
    def _about(self) -> dict[str, list[Fact]]:
        found: dict[str, list[Fact]] = defaultdict(list)
        for fact in self.told.facts:
            for slug in fact.about:
                found[slug].append(fact)
        return found

    @cached_property
    def _pages(self) -> dict[str, str]:
        """The page of each entity that has one or is to have one, by slug; a private one is kept up to date, too."""
        beside = {slug: path for slug, path in self._private_pages.items() if slug not in self._standing}
        return self._open_pages | beside

    @cached_property
    def _private_pages(self) -> dict[str, str]:
        """The private pages of entities, by slug."""
        paths = sorted({*self._paths}.difference(self._open_paths), reverse=True)
        inside = {entities.slug(link_name(path)): path for path in paths if path.startswith(ENTITY_FOLDER)}
        return self._moved(paths) | inside

    @cached_property
    def _standing(self) -> dict[str, str]:
        """The open pages of entities that are there, by slug."""
        return self._names.pages | self._moved(self._open_paths)

    @cached_property
    def _open_pages(self) -> dict[str, str]:
        """The pages of entities that others link, by slug: those that would be there if no note were private."""
        taken = {entities.slug(link_name(path)) for path in self._open_paths} | self._names.claimed.keys()
        found = dict(self._standing)
        for slug, about in self._about.items():
            days = {fact.day for fact in about if fact.day}
            if len(slug) > 1 and slug not in found and slug not in taken and len(days) >= self._options.entity_days:
                path = f"{ENTITY_FOLDER}{entities.file_name(self._name(slug))}.md"
                if path in self._options.removed:
                    self.unmade.append(path)
                else:
                    found[slug] = path
        return found

    def _moved(self, paths: Iterable[str]) -> dict[str, str]:
        """The pages of entities that somebody moved out of their folder, by slug: they are kept up to date there."""
        elsewhere = {entities.slug(link_name(path)): path for path in sorted(paths, reverse=True)}
        named = ((slug, elsewhere[slug]) for slug in sorted(self._about.keys() & elsewhere.keys() - self._names.pages))
        return {slug: path for slug, path in named if not path.startswith("bank/") and self._options.holds_block(path)}

    @cached_property
    def _closed(self) -> dict[periods.Period, list[Fact]]:
        """The periods that are over, each with the facts of its days."""
        told, today = self._by_day, self._options.today
        over = ((period, days) for period, days in self._periods.items() if period.end < today)
        return {period: [fact for day in days for fact in told[day]] for period, days in over}

    @cached_property
    def _periods(self) -> dict[periods.Period, list[date]]:
        """The weeks, months and years with a fact in them."""
        return periods.grouped(self._by_day)

    @cached_property
    def _by_day(self) -> dict[date, list[Fact]]:
        found: dict[date, list[Fact]] = defaultdict(list)
        for fact in self.told.facts:
            if when := fact.when:
                found[when].append(fact)
        return found

    @cached_property
    def opinions(self) -> tuple[beliefs.Opinion, ...]:
        """The opinions held, surest first."""
        return beliefs.held(self.told.facts, self.opinion_inputs)

    @cached_property
    def opinion_inputs(self) -> OpinionInputs:
        """What its opinions are read with."""
        return OpinionInputs(
            names=lru_cache(1 << 12)(self._called),
            stems=self._stems,
            idle=self._lexicon.idle,
            by_hand=self._said.given,
            known=self._known_verdicts if self._options.has_model else {},
            ask=self._options.ask,
        )

    @cached_property
    def _known_verdicts(self) -> dict[tuple[int, int], int]:
        return reflect_rows.model_verdicts(self._store)

    def _called(self, slug: str) -> tuple[str, ...]:
        """What an entity is called: by the name of its page already before that is there."""
        path = self._open_pages.get(slug) if slug not in self._names.pages else None
        names = ((link_name(path),) if path else ()) + tuple(self._names.forms(slug))
        return (slug.replace("-", " "), *dict.fromkeys(names))

    @property
    def verdicts(self) -> Verdicts:
        """What is to be known the next time of what a model said; nothing where nobody looked."""
        if "opinions" not in self.__dict__:
            return Verdicts([], [])
        known, found = self._known_verdicts.keys(), self.opinion_inputs.verdicts
        return Verdicts([(*pair, found[pair]) for pair in found.keys() - known], list(known - found.keys()))

    @cached_property
    def _opinions_about(self) -> dict[str, list[beliefs.Opinion]]:
        found: dict[str, list[beliefs.Opinion]] = defaultdict(list)
        for opinion in self.opinions:
            for slug in opinion.subjects:
                found[slug].append(opinion)
        return found

    @cached_property
    def _by_key(self) -> dict[int, Fact]:
        return {fact.key: fact for fact in self.told.facts}

    def _newer(self, about: Iterable[Fact]) -> list[Fact]:
        """The facts that took the place of some of these."""
        return [self._by_key[fact.succeeded_by] for fact in about if fact.succeeded_by in self._by_key]

    # --- how it is told ------------------------------------------------------------------------------------------

    @cached_property
    def _stems(self) -> Callable[[str], Sequence[str]]:
        return lru_cache(1 << 17)(lambda text: tuple(self._lexicon.stems(text)))

    @cached_property
    def _cite(self) -> Citations:
        cited = {fact.path for fact in self.told.facts}  # also of a private note, for a line of it may be open
        return Citations({*self._open_paths, *cited, *self._open_pages.values(), *self._may_come})

    @cached_property
    def _may_come(self) -> set[str]:
        """The pages that a run may add: what is written must be the same before they are there and after."""
        found = {period.path for period in self._periods}
        return found | {bank_page.WORLD, bank_page.EXPERIENCE, opinion_page.PATH, proposals.PATH}

    @cached_property
    def _targets(self) -> set[str]:
        paths = {*self._open_paths, *self._open_pages.values()} - self._may_come
        found = {name.casefold() for path in paths for name in (link_name(path), path.removesuffix(".md"))}
        # A name that a page of ours has, or may have, as well leads to one of two.
        return found - {link_name(path).casefold() for path in self._may_come}

    def _exists(self, target: str) -> bool:
        return target.strip().removesuffix(".md").casefold() in self._targets

    def is_linked(self, target: str) -> bool:
        """Whether there is a note of this name, or a fact that links one."""
        return self._exists(target) or target in self._linked

    @cached_property
    def _linked(self) -> frozenset[str]:
        texts = (fact.text for fact in self.told.facts if "[[" in fact.text)
        return frozenset(name for text in texts for name in LINKED.findall(text))

    @cached_property
    def _context(self) -> Context:
        return Context(
            cite=self._cite,
            shown=lru_cache(1 << 14)(self._shown),
            exists=self._exists,
            stems=self._stems,
            rarity=lambda stem: 1.0,
            count=lru_cache(1 << 15)(tokens.count),
            summaries=self._made,
        )

    def _context_of(self, about: Sequence[Fact]) -> Context:
        """The context of one page: how rare a stem is, is told by the facts that belong there and by no others."""
        return replace(self._context, rarity=facts.rarity(weighed(about), self._stems, self._lexicon.idle))

    def _name(self, slug: str) -> str:
        return self._names.shown(slug) or self.told.speakers.get(slug) or slug

    def _shown(self, slug: str) -> str:
        path = self._open_pages.get(slug)
        return self._cite.named(path, link_name(path)) if path else self._name(slug)
