"""Owns one run of reflect: which pages its material makes.

A page is made from the facts that belong on it and from nothing else: a signature of those tells whether it can have
changed, and only then it is drafted. This reads the index and writes nothing; apply.py does.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from functools import cached_property, lru_cache, partial
from typing import NamedTuple

from vault_memory.markdown import entities, name_spotting, provenance
from vault_memory.markdown.entities import ENTITY_FOLDER, link_name
from vault_memory.markdown.passages import SUMMARIES
from vault_memory.reflect import (
    bank_page,
    core,
    entity_page,
    opinion_changes,
    opinion_page,
    periods,
    proposals,
    retell,
    summaries,
)
from vault_memory.reflect.blocks import Line
from vault_memory.reflect.inputs import Material, Options
from vault_memory.reflect.model import Fact
from vault_memory.reflect.plan import NOTHING_LEFT, Draft, Notice
from vault_memory.reflect.proposals import Passed
from vault_memory.reflect.sections import Context, counted
from vault_memory.reflect.user_feedback import Said
from vault_memory.startup import REFLECTED
from vault_memory.store.view import View

VERSION = 6
"""Raise it whenever the same facts would make another page: every page is then looked at again."""

SUMMARY_BLOCK = "summary"

OPINIONS_ON_A_PAGE = 5
IN_SHORT = opinion_page.Detail(1, 1, 0, 0)
"""What an entity's page tells of an opinion: the newest for and against; bank/opinions.md has the rest."""

_TARGET = re.compile(r"\[\[([^\[\]|#]+)")


class Job(NamedTuple):
    """A page that facts make: what would have to change for it to change, and how to draft it."""

    path: str
    signature: bytes
    draft: Callable[[], Draft | None]
    subject: Callable[[], retell.Subject] | None = None
    """What a configured model may write of on it."""
    left: Callable[[], Draft] | None = None
    """How to draft the page where it stands although its facts make none any more: by what still belongs there."""
    without: str = ""
    """Why there is no page, where these facts make none."""


class Run(Material):
    """One look at the facts of a vault. `template` is how a new page of an entity begins."""

    def __init__(self, store: View, options: Options, template: str, said: Said) -> None:
        super().__init__(store, options, said)
        self._template = template

    def jobs(self) -> Iterator[Job]:
        """The pages that the facts make; summaries first, the finer before the coarser, for others link them.

        A job must be done, or its page left as it is, before the next one is asked for.
        """
        for job in self._jobs():
            if job.path in self._options.removed:
                self.unmade.append(job.path)
            else:
                yield job

    def _jobs(self) -> Iterator[Job]:
        wanted = set(self._options.only or REFLECTED)
        if "summaries" in wanted:
            yield from self._summaries()
        if "entities" in wanted:
            yield from self._entities()
            yield from self._bank()
        if "opinions" in wanted:
            yield self._opinions()

    def older(self) -> Iterator[Draft]:
        """The pages that an earlier run may have made, as they are to be where no fact belongs on them any more."""
        wanted = set(self._options.only or REFLECTED)
        for path in self._paths if self._options.since is None else ():
            if path.startswith(SUMMARIES) and "summaries" in wanted:
                yield Draft(path, SUMMARY_BLOCK, (NOTHING_LEFT,), "", "")
            elif (path.startswith(ENTITY_FOLDER) or path in bank_page.PATHS) and "entities" in wanted:
                yield Draft(path, entity_page.BLOCK, (NOTHING_LEFT,), "", "")

    def is_beside(self, path: str) -> bool:
        """Whether a page lies beside the one of the same entity, as a copy of it does."""
        name = link_name(path)
        original = self._pages.get(entities.slug(entities.copied(name)), path)
        return path.startswith(ENTITY_FOLDER) and (original != path or self._pages.get(entities.slug(name)) != path)

    def notices(self) -> Iterator[Notice]:
        """What keeps facts off the page on which somebody looks for them."""
        for slug, paths in self._names.claimed.items():
            why = f"{' and '.join(paths)} have the same alias `{slug}`: what is told of @{slug} stands on none of them."
            yield Notice(paths[0], why, "Leave it to one of them, or write full names.")
        for path in (path for path in self._pages.values() if not path.startswith(ENTITY_FOLDER)):
            why = f"{path} is a page of {ENTITY_FOLDER.rstrip('/')} that lies elsewhere: its aliases name nobody there."
            yield Notice(path, why, "Move it back, or delete its block.")
        for path, original in self._names.copies.items():
            yield Notice(path, f"{path} looks like a copy of {original}: it is left alone.", "Merge and delete it.")

    # --- pages ---------------------------------------------------------------------------------------------------

    def _job(self, path: str, about: Sequence[Fact], more: Iterable[str], draft: Callable[[], Draft | None]) -> Job:
        sign = hashlib.blake2b(f"{VERSION}\0{path}".encode("utf-8", "replace"), digest_size=16)
        signs = self._signs
        sign.update(b"".join([signs[id(fact)] for fact in about]))
        for text in more:
            sign.update(text.encode("utf-8", "replace"))
        return Job(path, sign.digest(), draft)

    @cached_property
    def _signs(self) -> dict[int, bytes]:
        """All of each fact that a page may tell, but for its line, which moves, and its tier, which the clock does."""
        exists = lru_cache(1 << 14)(self._exists)
        names = lru_cache(1 << 14)(lambda about: repr([self._shown(slug) for slug in about]))
        place = lru_cache(1 << 14)(lambda path: f"{path}\0{self._cite.target(path)}")
        found: dict[int, bytes] = {}  # by id: hashing a fact of fifteen fields costs more than all else here
        for fact in self.told.facts:
            how = f"{fact.block_id}{provenance.mark(fact.by)}"
            stands = f"{fact.importance} {fact.tokens} {fact.succeeded_by} {how}"
            days = f"{_ordinal(fact.day)} {_ordinal(fact.when)}"
            links = [exists(target) for target in _TARGET.findall(fact.text)] if "[[" in fact.text else ""
            sign = f"{fact.key} {days} {stands}\0{place(fact.path)}\0{names(fact.about)}\0{links}\0"
            found[id(fact)] = sign.encode("utf-8", "replace")
        return found

    def _is_touched(self, about: Iterable[Fact]) -> bool:
        since = self._options.since
        return since is None or any(fact.day and fact.day >= since for fact in about)

    def _entities(self) -> Iterator[Job]:
        for slug, path in sorted(self._pages.items()):
            about = self._about.get(slug, [])
            if not about or not self._is_touched(about):
                continue
            opinions = self._opinions_about.get(slug, [])[:OPINIONS_ON_A_PAGE]
            entries = [line for one in opinions for line in opinion_page.entry(one, self._context, IN_SHORT)]
            told = {fact.key for opinion in opinions for fact in opinion.told}
            told |= {key for line in entries for key in line.keys}
            rest = [fact for fact in about if fact.key not in told]
            newer = self._newer(rest)
            days = {(day.year, day.month, 1) for fact in rest if (day := fact.when)}
            months = {periods.period_of(date(*day), "month").name for day in days} & self._made

            newest = max((fact.day for fact in about if fact.day), default=None)
            known = entity_page.Profile(slug, self._name(slug), rest, entries, newer, newest, about)
            draft = partial(self._entity, known, path, about)
            more = (*(line.text for line in entries), *sorted(months), "".join(fact.tier[0] for fact in rest))
            job = self._job(path, [*about, *newer], more, draft)
            yield job._replace(subject=partial(self._person, known, about, draft))

    def _entity(self, known: entity_page.Profile, path: str, about: Sequence[Fact], free: int = 0) -> Draft:
        lines = entity_page.lines(known, self._context_of(known.facts), entity_page.PAGE_TOKENS - free)
        start = self._template.replace("{{title}}", link_name(path))
        size = entity_page.size(known.facts) if known.facts else f"{counted(len(about), 'fact')} in opinions"
        return Draft(path, entity_page.BLOCK, lines, size, start)

    def _bank(self) -> Iterator[Job]:
        for path, title, kinds, lines in (
            (bank_page.WORLD, "World", ("world", "observation", "experience"), bank_page.world),
            (bank_page.EXPERIENCE, "Experience", ("experience",), bank_page.experience),
        ):
            about = [fact for fact in self.told.facts if fact.kind in kinds and fact.path != path]
            if not about or not self._is_touched(about):
                continue

            def draft(
                path: str = path, title: str = title, about: list[Fact] = about,
                lines: Callable[[Sequence[Fact], Context], tuple[Line, ...]] = lines,
            ) -> Draft:  # fmt: skip
                found = lines(about, self._context_of(about))
                told = {key for line in found for key in line.keys}
                return Draft(path, entity_page.BLOCK, found, f"{counted(len(told), 'fact')} told", f"# {title}\n")

            yield self._job(path, about, (), draft)

    def _opinions(self) -> Job:
        lines = opinion_page.page(self.opinions, self._context)
        why = counted(len(self.opinions), "opinion")
        draft = Draft(opinion_page.PATH, opinion_page.BLOCK, lines, why, "# Opinions\n")
        draft = draft._replace(account=lambda was, now: opinion_changes.sentence(self.moved(was, now)))
        return self._job(draft.path, (), (line.text for line in lines), lambda: draft)

    def moved(self, was: Sequence[Line], lines: Sequence[Line]) -> list[opinion_changes.Move]:
        """What became of the opinions from one block of their page to the next."""
        return opinion_changes.moves(was, lines, opinion_changes.Known(self.opinions, self._by_key, self._cite.of))

    def _summaries(self) -> Iterator[Job]:
        for period, about in self._closed.items():
            if not self._is_touched(about):
                continue
            newer = self._newer(about)
            links = [name for name in periods.finer(period) if name in self._made]

            given = [*about, *newer]
            job = self._job(period.path, given, links, partial(self._summary, period, given))
            without = summaries.too_little(period, about).reason
            left = partial(self._remainder, period, about)
            yield job._replace(subject=partial(self._period, period, given), left=left, without=without)

    def _summary(self, period: periods.Period, given: Sequence[Fact], free: int = 0) -> Draft | None:
        found = summaries.summary(period, given, self._context_of(given), free)
        if isinstance(found, summaries.TooLittle):
            return None
        size = summaries.size([fact for fact in given if period.holds(fact.when)])
        return Draft(found.path, SUMMARY_BLOCK, found.block, f"{period.title}: {size}", found.start)

    def _remainder(self, period: periods.Period, about: Sequence[Fact]) -> Draft:
        lines = summaries.remainder(period, about, self._context_of(about))
        return Draft(period.path, SUMMARY_BLOCK, lines, f"{period.title}: {summaries.size(about)}")

    # --- what a model may write of --------------------------------------------------------------------------------

    def _person(
        self, known: entity_page.Profile, about: Sequence[Fact], shorter: Callable[[int], Draft | None]
    ) -> retell.Subject:
        alone = (known.slug,)
        return retell.Subject(
            name=known.name,
            what=f"what is known of {known.name}",
            aliases=tuple(self._names.forms(known.slug)),
            own=about,
            facts=self._by_key,
            names=lambda fact: () if fact.subjects in ((), alone) else tuple(map(self._name, fact.subjects)),
            tokens=entity_page.PAGE_TOKENS,
            shorter=shorter,
            cite=self._cite,
            count=self._context.count,
        )

    def _period(self, period: periods.Period, given: Sequence[Fact]) -> retell.Subject:
        inside = [fact for fact in given if period.holds(fact.when)]
        return retell.Subject(
            name=period.title,
            what=f"what happened in {period.title}",
            aliases=(),
            own=inside,
            facts=self._by_key,
            names=lambda fact: tuple(map(self._name, fact.subjects)),
            tokens=summaries.limit(period, inside, self._context),
            shorter=partial(self._summary, period, given),
            cite=self._cite,
            count=self._context.count,
        )

    @property
    def most(self) -> int:
        """So many pages at most are looked at."""
        return len(self._closed) + len(self._pages) + 3

    def proposals(
        self, items: Sequence[core.Item], said: Said
    ) -> tuple[tuple[Line, ...], list[proposals.Proposal], Passed]:
        """The lines of proposals for a core with these items, what is open there, and what is not proposed."""
        # Who is to have a page is called by its name already now: with the page there, nothing is to change.
        pages = self._open_pages.items() if items else ()
        forms = ((form, slug) for slug, path in pages for form in (*self._names.forms(slug), link_name(path)))
        names = name_spotting.Called(forms, lambda: name_spotting.small_words(fact.text for fact in self.told.facts))
        # As if what came from outside were not there: nothing of it may move a line of the core, nor make one surer.
        own = [fact for fact in self.told.facts if fact.is_trusted]
        grounds = proposals.Grounds(
            facts=own,
            opinions=self.opinions,
            items=items,
            stems=lambda text: [stem for stem in self._stems(text) if stem not in self._lexicon.idle],
            slugs=lambda text: names.slugs(text, self._names.canonical),
            names=self.opinion_inputs.names,
            exists=self._exists,
            shown=self._context.shown,
            today=self._options.today,
            is_forgotten=said.is_forgotten,
            refused=said.refused,
            done=said.done,
            open=said.open,
        )
        open_, passed = proposals.weighed(grounds)
        return proposals.shown(open_, self._context), open_, passed

    def stands(self, path: str) -> None:
        """Note that a summary has its page, so that others may link it."""
        if path.startswith(SUMMARIES):
            self._made.add(link_name(path))


def _ordinal(day: date | None) -> int:
    return day.toordinal() if day else 0
