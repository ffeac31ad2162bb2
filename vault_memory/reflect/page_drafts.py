"""Decides which pages the facts of a vault make, and drafts each from the facts that belong on it.

A page depends on those facts alone: a signature of them tells whether it can have changed, and only then is it drafted
again. This reads the index and writes nothing.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property, lru_cache, partial
from itertools import chain
from typing import NamedTuple

from vault_memory.config import Config, template
from vault_memory.markdown import entities, fact_text
from vault_memory.markdown.entities import link_name
from vault_memory.reflect import entity_page, fact_set, opinion_page, summaries
from vault_memory.reflect.edit_plan import NOTHING_LEFT, Draft, PageProblem
from vault_memory.reflect.entity_page import EntityPage
from vault_memory.reflect.fact import Citations, Fact
from vault_memory.reflect.fact_lines import PageContext
from vault_memory.reflect.generated_blocks import Line
from vault_memory.reflect.merge import LINKED
from vault_memory.reflect.model_writer import Ask
from vault_memory.reflect.opinions import HeldOpinion, OpinionInputs, find_opinions
from vault_memory.reflect.user_feedback import Feedback
from vault_memory.search.names import Names
from vault_memory.startup import REFLECTED
from vault_memory.store import note_queries
from vault_memory.store.search_queries import Lexicon
from vault_memory.store.view import View
from vault_memory.text import tokens
from vault_memory.text.calendar_days import PERIODS, Period, finer, period_of
from vault_memory.text.output import plural

VERSION = 13
"""Increment whenever the same facts would make a different page: every page is then drafted again."""

OPINIONS_ON_A_PAGE = 5
"""An entity's page shows at most this many opinions, in short form; the page of opinions has the rest."""


@dataclass(frozen=True)
class ReflectRequest:
    """The options of a reflect; `now` is timezone-aware."""

    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    since: date | None = None
    """Only pages with a fact recorded on or after this day."""
    only: tuple[str, ...] = ()
    """Which kinds of pages; empty means all."""
    dry_run: bool = False
    force: bool = False

    @property
    def today(self) -> date:
        return self.now.astimezone().date()


class Subject(NamedTuple):
    """What a model writes about on a page: the name of its subject, and the page's facts, shown or folded away.
    `tokens` is the page's limit; `slug` is the entity's, if the page is about one."""

    name: str
    what: str
    own: Sequence[Fact]
    tokens: int
    slug: str = ""


class PageJob(NamedTuple):
    """A page to make: a signature of what it depends on, and how to draft it, given a model's paragraph or none."""

    path: str
    signature: bytes
    draft: Callable[[Sequence[Line]], Draft | None]
    subject: Subject | None = None
    """None for a page on which a model writes nothing."""
    without: str = ""
    """The reason to give if the facts turn out not to make a page."""


class PageJobs:
    """The pages that the facts of a vault make, as of a day.

    `removed` are pages not to recreate because the user removed them; `holds_block` tells whether a note, in any
    folder, contains the block of an entity's page; `ask` asks the configured model.
    """

    def __init__(
        self, view: View, config: Config, asked: ReflectRequest, feedback: Feedback, *,
        ask: Ask | None, removed: Collection[str], holds_block: Callable[[str], bool],
    ) -> None:  # fmt: skip
        self.store, self.asked, self.feedback, self.entity_days = view, asked, feedback, config.reflect_entity_days
        self._has_model, self._ask = config.reflect_provider != "off", ask
        self._removed, self._holds_block, self._layout = removed, holds_block, view.layout
        public = view.public()
        self._names, self._lexicon = Names(public), Lexicon(view)
        self._stems = lru_cache(1 << 17)(lambda text: tuple(self._lexicon.stems(text)))
        self._paths = note_queries.note_paths(view)
        self._open_paths = note_queries.note_paths(public)
        """The notes that everybody may read: what a page names, links or omits depends only on these."""
        self.unmade: list[str] = []
        """Pages that are not recreated because the user removed them."""
        self.fact_set = fact_set.read(view, self._names, asked.today)
        self.by_key = {fact.key: fact for fact in self.fact_set.facts}
        self._by_day: dict[date, list[Fact]] = defaultdict(list)
        self._about: dict[str, list[Fact]] = defaultdict(list)
        for fact in self.fact_set.facts:
            if when := fact.when:
                self._by_day[when].append(fact)
            for slug in fact.about:
                self._about[slug].append(fact)
        known = self._summary_paths  # any other note there summarises no known period
        self._made = {link_name(path) for path in self._open_paths if path in known}

    def jobs(self) -> Iterator[PageJob]:
        """The pages that the facts make; summaries first, finer periods before coarser, since other pages link to them.

        Finish or skip each job before requesting the next.
        """
        jobs = {"summaries": self._summaries, "entities": self._entities, "opinions": self._opinions}
        for job in chain.from_iterable(make() for kind, make in jobs.items() if kind in self._wanted):
            if job.path in self._removed:
                self.unmade.append(job.path)
            else:
                yield job

    @property
    def _wanted(self) -> Sequence[str]:
        return self.asked.only or REFLECTED

    def stale_pages(self) -> Iterator[Draft]:
        """Drafts that empty pages an earlier run may have made, to use where no fact belongs on them any more."""
        layout = self._layout
        # A summary stays even if the clock is set back to before the end of its period.
        running = {layout.summary(period.name) for period in self._periods.keys() - self._closed.keys()}
        for path in self._paths if self.asked.since is None else ():
            if path in running:
                continue
            if path.startswith(layout.summaries) and "summaries" in self._wanted:
                yield Draft(path, summaries.BLOCK, (NOTHING_LEFT,), "")
            elif path.startswith((layout.entities, layout.world, layout.experience)) and "entities" in self._wanted:
                yield Draft(path, entity_page.BLOCK, (NOTHING_LEFT,), "")

    def notices(self) -> Iterator[PageProblem]:
        """Problems that keep facts off the page where the user would look for them."""
        for slug, paths in self._names.claimed.items():
            why = f"{' and '.join(paths)} have the same alias `{slug}`: facts about @{slug} are on none of their pages."
            yield PageProblem(paths[0], why, "Leave it to one of them, or write full names.")

    # --- pages ---------------------------------------------------------------------------------------------------

    def _sign(self, path: str, about: Iterable[Fact], more: Iterable[str]) -> bytes:
        parts = (f"{VERSION}\0{path}", *(self._signs[id(fact)] for fact in about), *more)
        return hashlib.blake2b("".join(parts).encode("utf-8", "replace"), digest_size=16).digest()

    @cached_property
    def _signs(self) -> dict[int, str]:
        """All that pages may show of each fact, except its line, which moves, and its tier, which depends on today."""
        found: dict[int, str] = {}  # by id: hashing whole facts costs more than everything else here
        for fact in self.fact_set.facts:
            named = [self._cite.target(fact.path), *map(self._link_entity, fact.about)]
            linked = [self.is_linked(target) for target in LINKED.findall(fact.text)]
            own = (fact.day, fact.when, fact.importance, fact.tokens, fact.succeeded_by, fact.block_id, fact.by)
            found[id(fact)] = f"{fact.key} {own} {fact.path} {named} {linked}"
        return found

    def _is_touched(self, about: Iterable[Fact]) -> bool:
        since = self.asked.since
        return since is None or any(fact.day and fact.day >= since for fact in about)

    def _entities(self) -> Iterator[PageJob]:
        for slug, path in sorted(self._pages.items()):
            about = self._about.get(slug, [])
            if not about or not self._is_touched(about):
                continue
            opinions = self._opinions_about.get(slug, [])[:OPINIONS_ON_A_PAGE]
            entries = [line for one in opinions for line in opinion_page.entry(one, self.context, is_short=True)]
            told = {fact.key for opinion in opinions for fact in opinion.statements}.union(*(e.keys for e in entries))
            rest = [fact for fact in about if fact.key not in told]
            newer = self._newer(rest)
            months = {period_of(day, "month").name for fact in rest if (day := fact.when)} & self._made
            newest = max((fact.day for fact in about if fact.day), default=None)
            page = EntityPage(slug, self.name(slug), rest, self.context, entries, newer, newest)
            more = (*(line.text for line in entries), *sorted(months), "".join(fact.tier[0] for fact in rest))
            sign = self._sign(path, [*about, *newer], more)
            subject = Subject(page.name, "is known of", about, entity_page.PAGE_TOKENS, slug)
            size = entity_page.size(rest) if rest else f"{plural(len(about), 'fact')} in opinions"
            yield PageJob(path, sign, partial(self._entity_page, page, path, size), subject)
        yield from self._bank()

    def _entity_page(self, page: EntityPage, path: str, size: str, paragraph: Sequence[Line]) -> Draft:
        start = template("entity.md").read_text("utf-8").replace("{{title}}", link_name(path))
        return Draft(path, entity_page.BLOCK, page.lines(paragraph=paragraph), size, start)

    def _bank(self) -> Iterator[PageJob]:
        for path, title, kinds in (
            (self._layout.world, "World", ("world", "observation", "experience")),
            (self._layout.experience, "Experience", ("experience",)),
        ):
            about = [fact for fact in self.fact_set.facts if fact.kind in kinds and fact.path != path]
            if about and self._is_touched(about):
                yield PageJob(path, self._sign(path, about, ()), partial(self._bank_page, path, title, about))

    def _bank_page(self, path: str, title: str, about: Sequence[Fact], _: Sequence[Line]) -> Draft:
        lines = entity_page.bank_lines(about, self.context, is_world=path == self._layout.world)
        told = {key for line in lines for key in line.keys}
        return Draft(path, entity_page.BLOCK, lines, f"{plural(len(told), 'fact')} told", f"# {title}\n")

    def _opinions(self) -> Iterator[PageJob]:
        lines, path = opinion_page.page(self.opinions, self.context), self._layout.opinions
        draft = Draft(
            path, opinion_page.BLOCK, lines, plural(len(self.opinions), "opinion"), "# Opinions\n",
            account=lambda was, now: opinion_page.summarize_moves(self.find_moves(was, now)),
        )  # fmt: skip
        yield PageJob(path, self._sign(path, (), (line.text for line in lines)), lambda _: draft)

    def find_moves(self, was: Sequence[Line], lines: Sequence[Line]) -> list[opinion_page.Move]:
        return opinion_page.find_moves(was, lines, self.opinions, self._cite.fact)

    def _summaries(self) -> Iterator[PageJob]:
        for period, about in self._closed.items():
            if not self._is_touched(about):
                continue
            given, path = [*about, *self._newer(about)], self._layout.summary(period.name)
            sign = self._sign(path, given, [name for name in finer(period) if name in self._made])
            inside = [fact for fact in given if period.holds(fact.when)]
            subject = Subject(period.title, "happened in", inside, summaries.limit(period, inside, self.context))
            draft = partial(summaries.summary, period, given, self.context)
            yield PageJob(path, sign, draft, subject, summaries.too_little(period, about))

    @property
    def max_pages(self) -> int:
        return len(self._closed) + len(self._pages) + 3

    @cached_property
    def slugs_in(self) -> Callable[[str], Sequence[str]]:
        """A function that finds the entities named in a text."""
        # Pages yet to be made already count as names, so that nothing changes once they exist.
        pages = self._open_pages.items()
        forms = ((form, slug) for slug, path in pages for form in (*self._names.forms(slug), link_name(path)))
        names = fact_text.NameIndex(forms, lambda: (fact.text for fact in self.fact_set.facts))
        return lambda text: names.slugs(text, self._names.canonical)

    def allow_links_to(self, path: str) -> None:
        """Let other pages link to a summary, since it has a page."""
        if path.startswith(self._layout.summaries):
            self._made.add(link_name(path))

    # --- pages, periods and opinions -----------------------------------------------------------------------------

    @cached_property
    def _pages(self) -> dict[str, str]:
        """The page of each entity that has or will get one, by slug; a private page is kept up to date as well."""
        private = sorted({*self._paths}.difference(self._open_paths), reverse=True)
        named = {entities.slug(link_name(path)): path for path in private if path.startswith(self._layout.entities)}
        return self._open_pages | {slug: path for slug, path in named.items() if slug not in self._standing}

    @cached_property
    def _standing(self) -> dict[str, str]:
        """The existing public pages of entities, by slug, including those that were moved out of their folder."""
        noted = {slug: self._names.note(slug) for slug in self._about.keys() - self._names.pages.keys()}
        moved = {slug: path for slug, path in noted.items() if path and not path.startswith(f"{self._layout.bank}/")}
        return self._names.pages | {slug: moved[slug] for slug in sorted(moved) if self._holds_block(moved[slug])}

    @cached_property
    def _open_pages(self) -> dict[str, str]:
        """The pages of entities that other pages may link to, by slug: as they would be if no note were private."""
        taken = {entities.slug(link_name(path)) for path in self._open_paths} | self._names.claimed.keys()
        found = dict(self._standing)
        for slug, about in self._about.items():
            days = {fact.day for fact in about if fact.day}
            is_new = slug not in found and slug not in taken and not self._names.note(slug)
            if len(slug) > 1 and is_new and len(days) >= self.entity_days:
                path = f"{self._layout.entities}{entities.file_name(self.name(slug))}.md"
                if path in self._removed:
                    self.unmade.append(path)
                else:
                    found[slug] = path
        return found

    @cached_property
    def _closed(self) -> dict[Period, list[Fact]]:
        """The periods that have ended, each with the facts of its days."""
        over = ((period, days) for period, days in self._periods.items() if period.end < self.asked.today)
        return {period: [fact for day in days for fact in self._by_day[day]] for period, days in over}

    @cached_property
    def _periods(self) -> dict[Period, list[date]]:
        """The weeks, months and years that contain a fact, each with the days of its facts."""
        found: dict[Period, list[date]] = {}
        for kind in PERIODS:  # finer periods first, so that coarser pages can link to them
            for day in sorted(self._by_day):
                found.setdefault(period_of(day, kind), []).append(day)
        return found

    @cached_property
    def opinions(self) -> tuple[HeldOpinion, ...]:
        return find_opinions(self.fact_set.facts, self.opinion_inputs)

    @cached_property
    def opinion_inputs(self) -> OpinionInputs:
        return OpinionInputs(
            names=self._called,
            stems=self._stems,
            stop_stems=self._lexicon.stop_stems,
            by_hand=self.feedback.given,
            known=self._known_verdicts if self._has_model else {},  # without a model its old verdicts do not count
            ask=self._ask,
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
        """A model's new verdicts, with the hashes of statement and fact, and the pairs whose verdicts are not used."""
        if "opinions" not in self.__dict__:  # not computed in this run
            return [], []
        known, found = self._known_verdicts.keys(), self.opinion_inputs.verdicts
        return [(*pair, found[pair]) for pair in found.keys() - known], list(known - found.keys())

    @cached_property
    def _opinions_about(self) -> dict[str, list[HeldOpinion]]:
        found: dict[str, list[HeldOpinion]] = defaultdict(list)
        for opinion in self.opinions:
            for slug in opinion.subjects:
                found[slug].append(opinion)
        return found

    def _newer(self, about: Iterable[Fact]) -> list[Fact]:
        return [self.by_key[fact.succeeded_by] for fact in about if fact.succeeded_by in self.by_key]

    # --- names and links -----------------------------------------------------------------------------------------

    @cached_property
    def _cite(self) -> Citations:
        cited = {fact.path for fact in self.fact_set.facts}  # private notes too: a line of one may be public
        return Citations({*self._open_paths, *cited, *self._open_pages.values(), *self._may_come})

    @cached_property
    def _may_come(self) -> set[str]:
        """The pages that a run may add: links must be written the same before and after these exist."""
        layout = self._layout
        return self._summary_paths | {layout.world, layout.experience, layout.opinions, layout.proposals}

    @cached_property
    def _summary_paths(self) -> set[str]:
        return {self._layout.summary(period.name) for period in self._periods}

    @cached_property
    def _targets(self) -> set[str]:
        paths = {*self._open_paths, *self._open_pages.values()} - self._may_come
        found = {name.casefold() for path in paths for name in (link_name(path), path.removesuffix(".md"))}
        # A name that a generated page also has, or may get, is ambiguous.
        return found - {link_name(path).casefold() for path in self._may_come}

    def is_linked(self, target: str) -> bool:
        """Whether a link to this name leads to a note."""
        return target.strip().removesuffix(".md").casefold() in self._targets

    @cached_property
    def context(self) -> PageContext:
        return PageContext(
            cite=self._cite,
            link_entity=self._link_entity,
            exists=self.is_linked,
            stems=lambda text: [stem for stem in self._stems(text) if stem not in self._lexicon.stop_stems],
            count=tokens.count,
            summaries=self._made,
            layout=self._layout,
        )

    def name(self, slug: str) -> str:
        """The display name of an entity."""
        return self._names.shown(slug) or self.fact_set.speakers.get(slug) or slug

    def _link_entity(self, slug: str) -> str:
        path = self._open_pages.get(slug)
        return self._cite.link(path) if path else self.name(slug)

    def forms(self, slug: str) -> Sequence[str]:
        """All names of an entity."""
        return self._names.forms(slug) if slug else ()
