"""Turns the facts of a vault into the drafts of its pages: which pages there are, and what each is made from.

A page is made from the facts that belong on it alone: a signature of those tells whether it can have changed, and only
then it is drafted. This reads the index and writes nothing.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache, partial
from itertools import chain
from typing import NamedTuple

from vault_memory.markdown import entities, fact_text, provenance
from vault_memory.markdown.entities import link_name
from vault_memory.reflect import (
    beliefs,
    entity_page,
    fact_set,
    opinion_page,
    proposals,
    retell,
    summaries,
)
from vault_memory.reflect.beliefs import OpinionInputs
from vault_memory.reflect.blocks import Line
from vault_memory.reflect.edit_plan import NOTHING_LEFT, Draft, Notice
from vault_memory.reflect.fact import Citations, Fact
from vault_memory.reflect.merge import LINKED
from vault_memory.reflect.model_writer import Ask
from vault_memory.reflect.sections import PageContext, counted
from vault_memory.reflect.user_feedback import Feedback
from vault_memory.search.names import Names
from vault_memory.startup import REFLECTED
from vault_memory.store import note_queries
from vault_memory.store.search_queries import Lexicon
from vault_memory.store.view import View
from vault_memory.text import tokens
from vault_memory.text.calendar_days import PERIODS, Period, finer, period_of

VERSION = 9
"""Raise it whenever the same facts would make another page: every page is then looked at again."""

OPINIONS_ON_A_PAGE = 5
"""An entity's page tells so many opinions, in short; that of opinions has the rest."""


class Job(NamedTuple):
    """A page that facts make: what would have to change for it to change, and how to draft it."""

    path: str
    signature: bytes
    draft: Callable[[], Draft | None]
    subject: Callable[[], retell.Subject] | None = None
    """What a configured model may write of on it."""
    without: str = ""
    """Why there is no page, where these facts make none."""


@dataclass(frozen=True)
class Options:
    """What a run is asked for: the day it is, which pages (none: all), and only what facts since a day touch."""

    today: date
    since: date | None = None
    only: tuple[str, ...] = ()
    force: bool = False
    only_core: bool = False
    """Only what was ticked in the proposals is done."""
    entity_days: int = fact_set.PAGE_DAYS
    """A new page is made for what is mentioned on so many days."""
    has_model: bool = True
    """Whether what a model said of opinions counts: not where none is configured any more."""
    unread: str = ""
    """A note that cannot be read, and whose facts are not known from before."""
    ask: Ask | None = None
    """Asks the configured model."""
    holds_block: Callable[[str], bool] = lambda path: False
    """Whether a note holds the block of an entity's page, wherever it lies."""
    removed: frozenset[str] = frozenset()
    """The pages that are not made, for a person removed them."""


class PageJobs:
    """The pages that the facts of a vault make as of a day; `template` is how a new page of an entity begins."""

    def __init__(self, store: View, options: Options, template: str, feedback: Feedback) -> None:
        self.store, self.options, self._template, self._feedback = store, options, template, feedback
        self._layout = store.layout
        self._names, self._lexicon = Names(store, with_private=False), Lexicon(store)
        self._stems = lru_cache(1 << 17)(lambda text: tuple(self._lexicon.stems(text)))
        self._paths = note_queries.note_paths(store)
        self._open_paths = note_queries.note_paths(store, with_private=False)
        """The notes that everybody may read: what a page names, links or leaves out hangs on no other."""
        self.unmade: list[str] = []
        """The pages that would be made, had nobody removed them."""
        self.fact_set = fact_set.read(store, self._names, options.today, options.entity_days)
        self._by_key = {fact.key: fact for fact in self.fact_set.facts}
        self._by_day: dict[date, list[Fact]] = defaultdict(list)
        self._about: dict[str, list[Fact]] = defaultdict(list)
        for fact in self.fact_set.facts:
            if when := fact.when:
                self._by_day[when].append(fact)
            for slug in fact.about:
                self._about[slug].append(fact)
        known = self._summary_paths  # of others there is nothing to tell, whatever stands there
        self._made = {link_name(path) for path in self._open_paths if path in known}

    def jobs(self) -> Iterator[Job]:
        """The pages that the facts make; summaries first, the finer before the coarser, for others link them.

        A job must be done, or its page left as it is, before the next one is asked for.
        """
        wanted = self.options.only or REFLECTED
        found = chain(
            self._summaries() if "summaries" in wanted else (),
            self._entities() if "entities" in wanted else (),
            self._bank() if "entities" in wanted else (),
            self._opinions() if "opinions" in wanted else (),
        )
        for job in found:
            if job.path in self.options.removed:
                self.unmade.append(job.path)
            else:
                yield job

    def stale_pages(self) -> Iterator[Draft]:
        """The pages that an earlier run may have made, as they are to be where no fact belongs on them."""
        wanted, layout = self.options.only or REFLECTED, self._layout
        # What was summed up once stays so where the clock is set back to before its end.
        running = {layout.summary(period.name) for period in self._periods.keys() - self._closed.keys()}
        for path in self._paths if self.options.since is None else ():
            if path in running:
                continue
            if path.startswith(layout.summaries) and "summaries" in wanted:
                yield Draft(path, summaries.BLOCK, (NOTHING_LEFT,), "")
            elif path.startswith((layout.entities, layout.world, layout.experience)) and "entities" in wanted:
                yield Draft(path, entity_page.BLOCK, (NOTHING_LEFT,), "")

    def notices(self) -> Iterator[Notice]:
        """What keeps facts off the page on which somebody looks for them."""
        for slug, paths in self._names.claimed.items():
            why = f"{' and '.join(paths)} have the same alias `{slug}`: facts about @{slug} are on none of their pages."
            yield Notice(paths[0], why, "Leave it to one of them, or write full names.")
        folder = self._layout.entities
        for path in (path for path in self._pages.values() if not path.startswith(folder)):
            why = f"{path} is a page of {folder.rstrip('/')} that lies elsewhere: its aliases name nobody there."
            yield Notice(path, why, "Move it back, or delete its block.")

    # --- pages ---------------------------------------------------------------------------------------------------

    def _job(self, path: str, about: Sequence[Fact], more: Iterable[str], draft: Callable[[], Draft | None]) -> Job:
        sign = hashlib.blake2b(f"{VERSION}\0{path}".encode("utf-8", "replace"), digest_size=16)
        sign.update(b"".join(map(self._signs.__getitem__, map(id, about))))
        for text in more:
            sign.update(text.encode("utf-8", "replace"))
        return Job(path, sign.digest(), draft)

    @cached_property
    def _signs(self) -> dict[int, bytes]:
        """All of each fact that a page may tell, but for its line, which moves, and its tier, which the clock does."""
        exists = lru_cache(1 << 14)(self.is_linked)
        names = lru_cache(1 << 14)(lambda about: repr([self._link_entity(slug) for slug in about]))
        place = lru_cache(1 << 14)(lambda path: f"{path}\0{self._cite.target(path)}")
        found: dict[int, bytes] = {}  # by id: hashing a fact of fifteen fields costs more than all else here
        for fact in self.fact_set.facts:
            how = f"{fact.block_id}{provenance.mark(fact.by)}"
            stands = f"{fact.importance} {fact.tokens} {fact.succeeded_by} {how}"
            days = " ".join(str(day.toordinal()) if day else "0" for day in (fact.day, fact.when))
            links = [exists(target) for target in LINKED.findall(fact.text)] if "[[" in fact.text else ""
            sign = f"{fact.key} {days} {stands}\0{place(fact.path)}\0{names(fact.about)}\0{links}\0"
            found[id(fact)] = sign.encode("utf-8", "replace")
        return found

    def _is_touched(self, about: Iterable[Fact]) -> bool:
        since = self.options.since
        return since is None or any(fact.day and fact.day >= since for fact in about)

    def _entities(self) -> Iterator[Job]:
        for slug, path in sorted(self._pages.items()):
            about = self._about.get(slug, [])
            if not about or not self._is_touched(about):
                continue
            opinions = self._opinions_about.get(slug, [])[:OPINIONS_ON_A_PAGE]
            entries = [line for one in opinions for line in opinion_page.entry(one, self._context, is_short=True)]
            told = {fact.key for opinion in opinions for fact in opinion.statements}
            told |= {key for line in entries for key in line.keys}
            rest = [fact for fact in about if fact.key not in told]
            newer = self._newer(rest)
            months = {period_of(day, "month").name for fact in rest if (day := fact.when)} & self._made
            newest = max((fact.day for fact in about if fact.day), default=None)
            known = entity_page.Profile(slug, self._name(slug), rest, entries, newer, newest)
            draft = partial(self._entity_page, known, path, about)
            more = (*(line.text for line in entries), *sorted(months), "".join(fact.tier[0] for fact in rest))
            job = self._job(path, [*about, *newer], more, draft)
            subject = partial(
                self._subject, known.name, "is known of", about, entity_page.PAGE_TOKENS, draft, known.slug
            )
            yield job._replace(subject=subject)

    def _entity_page(self, known: entity_page.Profile, path: str, about: Sequence[Fact], free: int = 0) -> Draft:
        lines = entity_page.lines(known, self._context, entity_page.PAGE_TOKENS - free)
        start = self._template.replace("{{title}}", link_name(path))
        size = entity_page.size(known.facts) if known.facts else f"{counted(len(about), 'fact')} in opinions"
        return Draft(path, entity_page.BLOCK, lines, size, start)

    def _bank(self) -> Iterator[Job]:
        for path, title, kinds in (
            (self._layout.world, "World", ("world", "observation", "experience")),
            (self._layout.experience, "Experience", ("experience",)),
        ):
            about = [fact for fact in self.fact_set.facts if fact.kind in kinds and fact.path != path]
            if about and self._is_touched(about):
                yield self._job(path, about, (), partial(self._bank_page, path, title, about))

    def _bank_page(self, path: str, title: str, about: Sequence[Fact]) -> Draft:
        lines = entity_page.bank_lines(about, self._context, is_world=path == self._layout.world)
        told = {key for line in lines for key in line.keys}
        return Draft(path, entity_page.BLOCK, lines, f"{counted(len(told), 'fact')} told", f"# {title}\n")

    def _opinions(self) -> Iterator[Job]:
        lines = opinion_page.page(self.opinions, self._context)
        why = counted(len(self.opinions), "opinion")
        draft = Draft(self._layout.opinions, opinion_page.BLOCK, lines, why, "# Opinions\n")
        draft = draft._replace(account=lambda was, now: opinion_page.summarize_moves(self.find_moves(was, now)))
        yield self._job(draft.path, (), (line.text for line in lines), lambda: draft)

    def find_moves(self, was: Sequence[Line], lines: Sequence[Line]) -> list[opinion_page.Move]:
        return opinion_page.find_moves(was, lines, self.opinions, self._by_key, self._cite.fact)

    def _summaries(self) -> Iterator[Job]:
        for period, about in self._closed.items():
            if not self._is_touched(about):
                continue
            given = [*about, *self._newer(about)]
            links = [name for name in finer(period) if name in self._made]
            draft = partial(summaries.summary, period, given, self._context)
            job = self._job(self._layout.summary(period.name), given, links, draft)
            inside = [fact for fact in given if period.holds(fact.when)]
            limit = summaries.limit(period, inside, self._context)
            subject = partial(self._subject, period.title, "happened in", inside, limit, draft)
            yield job._replace(subject=subject, without=summaries.too_little(period, about))

    # --- what a model may write of --------------------------------------------------------------------------------

    def _subject(
        self, name: str, what: str, own: Sequence[Fact], tokens: int, shorter: Callable[[int], Draft | None],
        slug: str = "",
    ) -> retell.Subject:  # fmt: skip
        return retell.Subject(
            name=name,
            what=f"what {what} {name}",
            aliases=tuple(self._names.forms(slug)) if slug else (),
            own=own,
            facts=self._by_key,
            names=lambda fact: () if fact.subjects == (slug,) else tuple(map(self._name, fact.subjects)),
            tokens=tokens,
            shorter=shorter,
            context=self._context,
        )

    @property
    def max_pages(self) -> int:
        return len(self._closed) + len(self._pages) + 3

    def proposals(self, items: Sequence[proposals.Item], answers: proposals.Answers) -> tuple[Line, ...]:
        """The lines of proposals for a core with these items."""
        # Who is to have a page is called by its name already now: with the page there, nothing is to change.
        pages = self._open_pages.items() if items else ()
        forms = ((form, slug) for slug, path in pages for form in (*self._names.forms(slug), link_name(path)))
        names = fact_text.NameIndex(forms, lambda: (fact.text for fact in self.fact_set.facts))
        # As if what came from outside were not there: nothing of it may move a line of the core, nor make one surer.
        own = [fact for fact in self.fact_set.facts if fact.is_trusted]
        inputs = proposals.ProposalInputs(
            facts=own,
            opinions=self.opinions,
            items=items,
            slugs=lambda text: names.slugs(text, self._names.canonical),
            names=self.opinion_inputs.names,
            context=self._context,
            feedback=self._feedback,
            answers=answers,
        )
        return proposals.page_lines(proposals.propose(inputs), self._context)

    def note_page(self, path: str) -> None:
        """Note that a summary has its page, so that others may link it."""
        if path.startswith(self._layout.summaries):
            self._made.add(link_name(path))

    # --- what there is -------------------------------------------------------------------------------------------

    @cached_property
    def _pages(self) -> dict[str, str]:
        """The page of each entity that has one or is to have one, by slug; a private one is kept up to date, too."""
        paths = sorted({*self._paths}.difference(self._open_paths), reverse=True)
        private = self._find_moved(paths)
        private |= {entities.slug(link_name(path)): path for path in paths if path.startswith(self._layout.entities)}
        return self._open_pages | {slug: path for slug, path in private.items() if slug not in self._standing}

    @cached_property
    def _standing(self) -> dict[str, str]:
        """The open pages of entities that are there, by slug."""
        return self._names.pages | self._find_moved(self._open_paths)

    @cached_property
    def _open_pages(self) -> dict[str, str]:
        """The pages of entities that others link, by slug: those that would be there if no note were private."""
        taken = {entities.slug(link_name(path)) for path in self._open_paths} | self._names.claimed.keys()
        found = dict(self._standing)
        for slug, about in self._about.items():
            days = {fact.day for fact in about if fact.day}
            if len(slug) > 1 and slug not in found and slug not in taken and len(days) >= self.options.entity_days:
                path = f"{self._layout.entities}{entities.file_name(self._name(slug))}.md"
                if path in self.options.removed:
                    self.unmade.append(path)
                else:
                    found[slug] = path
        return found

    def _find_moved(self, paths: Iterable[str]) -> dict[str, str]:
        """The pages of entities that somebody moved out of their folder, by slug: they are kept up to date there."""
        elsewhere = {entities.slug(link_name(path)): path for path in sorted(paths, reverse=True)}
        named = ((slug, elsewhere[slug]) for slug in sorted(self._about.keys() & elsewhere.keys() - self._names.pages))
        bank = f"{self._layout.bank}/"
        return {slug: path for slug, path in named if not path.startswith(bank) and self.options.holds_block(path)}

    @cached_property
    def _closed(self) -> dict[Period, list[Fact]]:
        """The periods that are over, each with the facts of its days."""
        over = ((period, days) for period, days in self._periods.items() if period.end < self.options.today)
        return {period: [fact for day in days for fact in self._by_day[day]] for period, days in over}

    @cached_property
    def _periods(self) -> dict[Period, list[date]]:
        """The weeks, months and years with a fact in them, each with its days."""
        found: dict[Period, list[date]] = {}
        for kind in PERIODS:  # the finer come first, so that who writes them in turn can link them
            for day in sorted(self._by_day):
                found.setdefault(period_of(day, kind), []).append(day)
        return found

    @cached_property
    def opinions(self) -> tuple[beliefs.HeldOpinion, ...]:
        return beliefs.find_opinions(self.fact_set.facts, self.opinion_inputs)

    @cached_property
    def opinion_inputs(self) -> OpinionInputs:
        return OpinionInputs(
            names=lru_cache(1 << 12)(self._called),
            stems=self._stems,
            idle=self._lexicon.idle,
            by_hand=self._feedback.given,
            known=self._known_verdicts if self.options.has_model else {},
            ask=self.options.ask,
            own_list=self._layout.opinions,
        )

    @cached_property
    def _known_verdicts(self) -> dict[tuple[int, int], int]:
        return note_queries.model_verdicts(self.store)

    def _called(self, slug: str) -> tuple[str, ...]:
        path = self._open_pages.get(slug) if slug not in self._names.pages else None
        names = ((link_name(path),) if path else ()) + tuple(self._names.forms(slug))
        return (slug.replace("-", " "), *dict.fromkeys(names))

    def changed_verdicts(self) -> tuple[list[tuple[int, int, int]], list[tuple[int, int]]]:
        """What a model said anew that facts mean for statements, by the hashes of both, and what nobody asks now."""
        if "opinions" not in self.__dict__:  # nobody looked at them
            return [], []
        known, found = self._known_verdicts.keys(), self.opinion_inputs.verdicts
        return [(*pair, found[pair]) for pair in found.keys() - known], list(known - found.keys())

    @cached_property
    def _opinions_about(self) -> dict[str, list[beliefs.HeldOpinion]]:
        found: dict[str, list[beliefs.HeldOpinion]] = defaultdict(list)
        for opinion in self.opinions:
            for slug in opinion.subjects:
                found[slug].append(opinion)
        return found

    def _newer(self, about: Iterable[Fact]) -> list[Fact]:
        return [self._by_key[fact.succeeded_by] for fact in about if fact.succeeded_by in self._by_key]

    # --- how it is told ------------------------------------------------------------------------------------------

    @cached_property
    def _cite(self) -> Citations:
        cited = {fact.path for fact in self.fact_set.facts}  # also of a private note, for a line of it may be open
        return Citations({*self._open_paths, *cited, *self._open_pages.values(), *self._may_come})

    @cached_property
    def _may_come(self) -> set[str]:
        """The pages that a run may add: what is written must be the same before they are there and after."""
        layout = self._layout
        return self._summary_paths | {layout.world, layout.experience, layout.opinions, layout.proposals}

    @cached_property
    def _summary_paths(self) -> set[str]:
        return {self._layout.summary(period.name) for period in self._periods}

    @cached_property
    def _targets(self) -> set[str]:
        paths = {*self._open_paths, *self._open_pages.values()} - self._may_come
        found = {name.casefold() for path in paths for name in (link_name(path), path.removesuffix(".md"))}
        # A name that a page of ours has, or may have, as well leads to one of two.
        return found - {link_name(path).casefold() for path in self._may_come}

    def is_linked(self, target: str) -> bool:
        """Whether a link of this name leads to a note."""
        return target.strip().removesuffix(".md").casefold() in self._targets

    @cached_property
    def _context(self) -> PageContext:
        return PageContext(
            cite=self._cite,
            link_entity=lru_cache(1 << 14)(self._link_entity),
            exists=self.is_linked,
            stems=lambda text: [stem for stem in self._stems(text) if stem not in self._lexicon.idle],
            count=lru_cache(1 << 15)(tokens.count),
            summaries=self._made,
            layout=self._layout,
        )

    def _name(self, slug: str) -> str:
        return self._names.shown(slug) or self.fact_set.speakers.get(slug) or slug

    def _link_entity(self, slug: str) -> str:
        path = self._open_pages.get(slug)
        return self._cite.named(path, link_name(path)) if path else self._name(slug)
