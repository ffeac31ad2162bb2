"""Owns the proposals for the core: what reflect would add, change or remove there, and what was said to them. Pure.

    - [ ] add: "Prefers concise replies on WhatsApp" because it was told on 3 days ([[2025-11-27]] L14) ^p-1a2b3c4d

A tick (`[x]`) has it done at the next run, `[-]` or a deleted line refuses it, for good. Proposed is little, and only
what is sure: a small core is worth more than a full one.
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from vault_memory.markdown import fact_text, provenance
from vault_memory.markdown.fact_text import without_evidence
from vault_memory.reflect import outdated
from vault_memory.reflect.beliefs import Opinion, is_doubt
from vault_memory.reflect.blocks import Line
from vault_memory.reflect.core import ADD, CHANGE, REMOVE, TOKENS, Change, Item
from vault_memory.reflect.model import Fact
from vault_memory.reflect.opinion_page import decimal
from vault_memory.reflect.sections import Context
from vault_memory.reflect.select import in_order
from vault_memory.reflect.stance import CONTRADICTS, SUPPORTS, relation
from vault_memory.store.candidate import PROPOSALS

PATH, BLOCK = PROPOSALS, "proposals"

NOTHING = (Line("Nothing open.", slot="nothing"),)

MOST = 5
"""So many additions are open at a time, and so many removals: a long list is read by nobody."""

SURE, SURE_DAYS = 0.85, 2
"""An opinion is proposed when it is this sure, and was told or borne out on so many days."""

WEIGHTY = 0.85
"""A standing fact is proposed when it is in the core tier, or so important by its own `i=` or by being told again."""

SAID = 0.6
"""A fact is in the core already when one of its lines has this share of its words."""

CLOSELY = 100
"""So many of the newest facts about somebody are weighed against a line of the core; of older ones those that share a
word with it: one that shares none hardly ever bears on it, and weighing takes a third of a millisecond."""

_LINE = re.compile(
    r'\s*[-*+] \[(?P<box>.)\] (?P<what>add|change|remove): "(?P<quoted>.*)" because .*\^p-(?P<name>[0-9a-f]{8})\s*$'
)
"""What is quoted may hold `" because ` itself: the last one is ours."""

_TO = '" → "'


_LINK = re.compile(r"\[\[(?P<target>[^\[\]|#]+)[^\[\]]*\]\]")


class Proposal(NamedTuple):
    """One change of the core that reflect would make, why, and the facts it rests on."""

    change: Change
    because: str
    evidence: tuple[Fact, ...]
    told: tuple[Fact, ...] = ()
    """All facts that state the same, the first of `evidence` among them."""
    asked_as: str = ""
    """The name by which it stands on the page already."""

    @property
    def name(self) -> str:
        """What it is known by, so that it is asked only once: how it is worded today plays no part."""
        return self.asked_as or name_for(self.change, self.evidence[0] if self.evidence else None)

    @property
    def names(self) -> frozenset[str]:
        """What it may have been known by before it was stated anew."""
        return frozenset(name_for(self.change, fact) for fact in (*self.evidence[:1], *self.told)) | {self.name}

    def known_as(self, names: Collection[str]) -> "Proposal":
        """The same, by the name of these that it has: who changes its words there means this one."""
        return self._replace(asked_as=min(self.names.intersection(names), default=""))


def name_for(change: Change, fact: Fact | None) -> str:
    """What a proposal is known by that rests on a fact; a removal is of the line alone, whatever speaks for it."""
    about = ("twice" if change.text else "") if change.what == REMOVE else str(fact.key if fact else "")
    words = f"{change.what}\0{change.old}\0{about}"
    return hashlib.blake2b(words.encode("utf-8", "replace"), digest_size=4).hexdigest()


class PassedOver(NamedTuple):
    """How many candidates were weighed and are not proposed, by the reason."""

    unsure: int = 0
    """Opinions below SURE."""
    once: int = 0
    """Sure ones that were told or borne out on less than SURE_DAYS days."""
    said: int = 0
    """What the core says already."""
    refused: int = 0
    repeated: int = 0
    """What says the same as another proposal, made or refused."""
    later: int = 0
    """What waits until fewer than MOST are open."""


class Gates(NamedTuple):
    """What it takes to be proposed, and to be put there."""

    confidence: float = SURE
    days: int = SURE_DAYS
    open: int = MOST
    core_tokens: int = TOKENS


class ProposalLine(NamedTuple):
    """A proposal as a line of the page states it, maybe in a person's words: what is in its box, all that it quotes."""

    name: str
    box: str
    what: str
    quoted: str

    @property
    def is_open(self) -> bool:
        """Whether nobody answered it."""
        return self.box == " "

    @property
    def is_ticked(self) -> bool:
        """Whether it is to be done."""
        return self.box in "xX"

    def readings(self, before: "ProposalLine | None" = None) -> tuple[Change, ...]:
        """What it may ask, several where a line of the core holds what parts it from the new one.

        `before` is how it was written by us: what a person made of the old line there is no line of the core.
        """
        if self.what == ADD:
            return (Change(ADD, self.quoted.strip()),)
        if self.what == REMOVE:
            once, twice = Change(REMOVE, "", self.quoted), Change(REMOVE, self.quoted, self.quoted)
            known = {name_for(change, None): change for change in (once, twice)}
            return (known.get(self.name, once._replace(is_as_asked=False)),)
        found = _parted(self.quoted)
        olds = [change.old for change in _parted(before.quoted)] if before and before.what == CHANGE else []
        return (*found, *(found[0]._replace(old=old) for old in olds))


def _parted(quoted: str) -> list[Change]:
    parts = quoted.split(_TO)
    return [Change(CHANGE, _TO.join(parts[n:]).strip(), _TO.join(parts[:n])) for n in range(1, len(parts))]


def stated(line: str) -> ProposalLine | None:
    """The proposal that a line of the page states, if it states one; one without a text asks for nothing."""
    match = _LINE.match(line)
    if not match or (match["what"] == CHANGE and _TO not in match["quoted"]):
        return None
    found = ProposalLine(match["name"], match["box"], match["what"], match["quoted"])
    asks = found.quoted if found.what == REMOVE else found.readings()[0].text
    return found if asks or not found.is_ticked else None


def name_of(line: str) -> str:
    """The name of the proposal that a line of the page states, or ""."""
    match = _LINE.match(line)
    return match["name"] if match else ""


def left(lines: Iterable[Line], settled: Collection[str]) -> tuple[Line, ...]:
    """The lines of the page without those that are settled."""
    kept = tuple(line for line in lines if name_of(line.text) not in settled)
    return kept if any(name_of(line.text) for line in kept) else NOTHING


def shown(proposals: Sequence[Proposal], context: Context) -> tuple[Line, ...]:
    """The lines of the page's block."""
    if not proposals:
        return NOTHING
    intro = "Tick what should be done (`[x]`), mark what should not (`[-]`); it happens at the next `memory reflect`."
    return (Line(intro, slot="intro"), Line(""), *(_line(proposal, context) for proposal in proposals))


def _line(proposal: Proposal, context: Context) -> Line:
    change = proposal.change
    quoted = {
        ADD: f'"{change.text}"', CHANGE: f'"{change.old}" → "{change.text}"', REMOVE: f'"{change.old}"'
    }[change.what]  # fmt: skip
    cited = ", ".join(context.cite.of(fact) for fact in proposal.evidence)
    because = proposal.because + _tellers(proposal)
    because = f"{because} ({cited})" if cited else because
    text = f"- [ ] {change.what}: {quoted} because {because} ^p-{proposal.name}"
    return Line(text, slot=proposal.name)


def _tellers(proposal: Proposal) -> str:
    """Who told it, where no person did: whoever ticks it should know whose words they are."""
    names = {provenance.teller(fact.by) for fact in (*proposal.evidence, *proposal.told)}
    return f", told by {', '.join(sorted(names))}" if names and "" not in names else ""


# --- what is proposed ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Grounds:
    """What proposals are made from; `slugs` gives the entities that a line of the core mentions or calls by name."""

    facts: Sequence[Fact]
    opinions: Sequence[Opinion]
    items: Sequence[Item]
    stems: Callable[[str], Sequence[str]]
    slugs: Callable[[str], Sequence[str]]
    names: Callable[[str], Sequence[str]]
    exists: Callable[[str], bool]
    shown: Callable[[str], str]
    today: date
    is_forgotten: Callable[[str], bool]
    """Whether a line was put into the core for a fact that was forgotten since."""
    refused: Collection[str] = frozenset()
    done: Collection[str] = frozenset()
    """The names of those that were ticked: they are not asked again either."""
    open: Collection[str] = frozenset()
    """The names of those that stand on the page."""


def weighed(grounds: Grounds) -> tuple[list[Proposal], PassedOver]:
    """The proposals that nobody has answered, changes and removals first; and how many candidates were passed over."""
    found = list(_changes(grounds))
    passed = Counter(_unfit(grounds))
    changes = _unanswered(found, grounds, passed)
    changed = {one.change.old for one in changes}
    stale = [one for one in _removals(grounds) if one.change.old not in changed]
    removed = _unanswered(stale, grounds, passed)
    items = [item.text for item in grounds.items]
    asked: list[str] = []
    added: list[Proposal] = []
    for one in _additions(grounds):
        if len(added) >= MOST:
            passed["later"] += 1
        elif _is_said(one.evidence[0], items, grounds):
            passed["said"] += 1
        elif _is_said(one.evidence[0], asked, grounds):
            passed["repeated"] += 1
        else:
            asked.append(one.change.text)  # one like it need not be asked as well, refused or not
            added += _unanswered([one], grounds, passed)
    return [one.known_as(grounds.open) for one in (*changes, *removed[:MOST], *added)], PassedOver(**passed)


def _unanswered(found: Iterable[Proposal], grounds: Grounds, passed: Counter[str]) -> list[Proposal]:
    """Those that nobody has answered yet; the others are counted."""
    unasked = []
    for one in found:
        if not one.names.isdisjoint(grounds.refused):
            passed["refused"] += 1
        elif not one.names.isdisjoint(grounds.done):
            passed["said"] += 1
        else:
            unasked.append(one)
    return unasked


def _unfit(grounds: Grounds) -> Iterator[str]:
    """Why each opinion that is no candidate is none."""
    for opinion in grounds.opinions:
        if opinion.belief.shown < SURE:
            yield "unsure"
        elif len(_days(opinion)) < SURE_DAYS:
            yield "once"


def _days(opinion: Opinion) -> set[date]:
    return {fact.day for fact in (*opinion.told, *opinion.supports) if fact.day}


def _changes(grounds: Grounds) -> Iterator[Proposal]:
    """Lines of the core that a newer fact about the same entity contradicts, and none after it bears out."""
    about: dict[str, list[Fact]] = defaultdict(list)
    for fact in grounds.facts:
        for slug in fact.subjects:
            about[slug].append(fact)
    told = lru_cache(maxsize=None)(lambda slug: sorted(about[slug], key=in_order))  # few of all are named in the core
    for item in grounds.items:
        slugs = grounds.slugs(item.text)
        found = {fact.key: fact for slug in slugs for fact in told(slug) if fact.day}
        newest = _newest_word(item, sorted(found.values(), key=in_order), grounds, slugs)
        if newest is None or newest.succeeded_by is not None:
            continue
        text = _linked(_quotable(newest, grounds), item, newest, grounds)
        change = Change(CHANGE, text, item.text)
        yield Proposal(change, f"on {newest.day} it was told otherwise", (newest,))


def _removals(grounds: Grounds) -> Iterator[Proposal]:
    """Lines of the core that have had their day."""
    known = outdated.Known(grounds.facts, grounds.today, grounds.stems, grounds.exists, grounds.is_forgotten)
    asked: set[Change] = set()
    for old in outdated.outdated(grounds.items, known):
        change = Change(REMOVE, old.item.text if old.is_twin else "", old.item.text)
        if change not in asked:
            yield Proposal(change, old.because, old.evidence)
        asked.add(change)


def _newest_word(item: Item, facts: Sequence[Fact], grounds: Grounds, slugs: Sequence[str]) -> Fact | None:
    """The newest fact that bears on a line, where that contradicts it."""
    names = [name for slug in slugs for name in grounds.names(slug)]
    line = fact_text.readable(item.text, lambda _: False)
    words = frozenset(grounds.stems(item.text)).difference(*map(grounds.stems, names))
    for place, fact in enumerate(reversed(facts)):
        if is_doubt(fact):
            continue
        if place >= CLOSELY and words.isdisjoint(grounds.stems(fact.text)):
            continue
        found = relation(line, fact.text, names)
        if found in (CONTRADICTS, SUPPORTS):
            return fact if found == CONTRADICTS else None
    return None


def _additions(grounds: Grounds) -> Iterator[Proposal]:
    """What is sure enough to stand in the core, said there already or not; the surest opinions first."""
    told: set[int] = set()
    for opinion in grounds.opinions:
        told |= {fact.key for fact in opinion.told}
        days = _days(opinion)
        if opinion.belief.shown >= SURE and len(days) >= SURE_DAYS:
            sure = decimal(opinion.belief.shown)
            because = f"it is held with {sure} and was told or borne out on {len(days)} days"
            evidence = tuple(sorted((opinion.statement, *opinion.supports), key=in_order, reverse=True))[:3]
            first = (opinion.statement, *(fact for fact in evidence if fact is not opinion.statement))
            yield Proposal(Change(ADD, _quotable(opinion.statement, grounds)), because, first, opinion.told)
    # What has a day of its own is over some day: that is for the calendar.
    lasting = (f for f in grounds.facts if f.kind == "world" and f.succeeded_by is None and f.occurred is None)
    weighty = [f for f in lasting if (f.tier == "core" or f.importance >= WEIGHTY) and f.key not in told]
    for fact in sorted(weighty, key=lambda f: (f.tier != "core", -f.importance, in_order(f))):
        because = "it was needed again and again" if fact.tier == "core" else "it is important"
        yield Proposal(Change(ADD, _quotable(fact, grounds)), because, (fact,))


def _is_said(fact: Fact, said: Iterable[str], grounds: Grounds) -> bool:
    """Whether a line says what the first sentence of a fact says, and names whom it is about."""
    stems = frozenset(grounds.stems(re.split(r"(?<=[.!?;]) ", without_evidence(fact.text), maxsplit=1)[0]))
    names = [name.casefold() for slug in fact.subjects for name in grounds.names(slug)]
    of_them = (line for line in said if not names or any(name in line.casefold() for name in names))
    return not stems or any(len(stems.intersection(grounds.stems(line))) >= SAID * len(stems) for line in of_them)


def _linked(text: str, item: Item, fact: Fact, grounds: Grounds) -> str:
    """A text for the place of a line, with the line's own links to those whom the fact is about."""
    for link in _LINK.finditer(item.text):
        slugs = set(grounds.slugs(link[0])).intersection(fact.about)
        if not slugs or f"[[{link['target']}" in text:
            continue
        names = sorted({name for slug in slugs for name in grounds.names(slug)}, key=len, reverse=True)
        called = "|".join(map(re.escape, names))
        text = re.sub(rf"(?<![\w\[|@])(?:{called})(?![\w\]|])", lambda _, link=link: link[0], text, count=1)  # type: ignore[misc]
    return text


def _quotable(fact: Fact, grounds: Grounds) -> str:
    text = fact_text.readable(fact.text, grounds.exists).replace('"', "'")
    names = [name for slug in fact.subjects for name in grounds.names(slug)]
    is_named = any(name.casefold() in text.casefold() for name in names)
    return text if is_named or not fact.subjects else f"{grounds.shown(fact.subjects[0])}: {text}"
