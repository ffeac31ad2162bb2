"""Proposes what to add to the core, change or remove there, as lines that a person ticks or refuses. Pure.

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
from vault_memory.reflect.beliefs import HeldOpinion, is_doubt
from vault_memory.reflect.blocks import Line
from vault_memory.reflect.core import ADD, CHANGE, REMOVE, TOKENS, CoreChange, Item
from vault_memory.reflect.fact import Fact
from vault_memory.reflect.opinion_page import decimal
from vault_memory.reflect.periods import long, period_of
from vault_memory.reflect.sections import PageContext
from vault_memory.reflect.select import in_order
from vault_memory.reflect.stance import CONTRADICTS, SUPPORTS, relation
from vault_memory.store.view import PROPOSALS
from vault_memory.text.spans import MONTH_NAMES, day_of, plus

PATH, BLOCK = PROPOSALS, "proposals"

NOTHING = (Line("Nothing open.", slot="nothing"),)

MOST_OPEN = 5
"""So many additions are open at a time, and so many removals: a long list is read by nobody."""

SURE, SURE_DAYS = 0.85, 2
"""An opinion is proposed when it is this sure, and was told or borne out on so many days."""

WEIGHTY = 0.85
"""A standing fact is proposed when it is in the core tier, or so important by its own `i=` or by being told again."""

SAID = 0.6
"""A fact and a line of the core are of one thing when one has this share of the other's words."""

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

    change: CoreChange
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


def name_for(change: CoreChange, fact: Fact | None) -> str:
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
    """What waits until fewer than MOST_OPEN are open."""


class Gates(NamedTuple):
    """What it takes to be proposed, and to be put there."""

    confidence: float = SURE
    days: int = SURE_DAYS
    open: int = MOST_OPEN
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

    def change(self, written: "ProposalLine | None" = None) -> CoreChange:
        """What it asks; which line of the core it is about says the proposal as it was `written` by us."""
        if self.what == ADD:
            return CoreChange(ADD, self.quoted.strip())
        if self.what == CHANGE:
            old = written if written and written.what == CHANGE else self
            return CoreChange(CHANGE, self.quoted.partition(_TO)[2].strip(), old.quoted.partition(_TO)[0])
        once, twice = CoreChange(REMOVE, "", self.quoted), CoreChange(REMOVE, self.quoted, self.quoted)
        known = {name_for(change, None): change for change in (once, twice)}
        return known.get(self.name, once._replace(is_as_asked=False))


def stated(line: str) -> ProposalLine | None:
    """The proposal that a line of the page states, if it states one; one without a text asks for nothing."""
    match = _LINE.match(line)
    if not match or (match["what"] == CHANGE and _TO not in match["quoted"]):
        return None
    found = ProposalLine(match["name"], match["box"], match["what"], match["quoted"])
    asks = found.quoted if found.what == REMOVE else found.change().text
    return found if asks or not found.is_ticked else None


def name_of(line: str) -> str:
    """The name of the proposal that a line of the page states, or ""."""
    match = _LINE.match(line)
    return match["name"] if match else ""


def left(lines: Iterable[Line], settled: Collection[str]) -> tuple[Line, ...]:
    """The lines of the page without those that are settled."""
    kept = tuple(line for line in lines if name_of(line.text) not in settled)
    return kept if any(name_of(line.text) for line in kept) else NOTHING


def shown(proposals: Sequence[Proposal], context: PageContext) -> tuple[Line, ...]:
    """The lines of the page's block."""
    if not proposals:
        return NOTHING
    intro = "Tick what should be done (`[x]`), mark what should not (`[-]`); it happens at the next `memory reflect`."
    return (Line(intro, slot="intro"), Line(""), *(_line(proposal, context) for proposal in proposals))


def _line(proposal: Proposal, context: PageContext) -> Line:
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
    opinions: Sequence[HeldOpinion]
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
        if len(added) >= MOST_OPEN:
            passed["later"] += 1
        elif _is_said(one.evidence[0], items, grounds):
            passed["said"] += 1
        elif _is_said(one.evidence[0], asked, grounds):
            passed["repeated"] += 1
        else:
            asked.append(one.change.text)  # one like it need not be asked as well, refused or not
            added += _unanswered([one], grounds, passed)
    return [one.known_as(grounds.open) for one in (*changes, *removed[:MOST_OPEN], *added)], PassedOver(**passed)


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


def _days(opinion: HeldOpinion) -> set[date]:
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
        change = CoreChange(CHANGE, text, item.text)
        yield Proposal(change, f"on {newest.day} it was told otherwise", (newest,))


def _removals(grounds: Grounds) -> Iterator[Proposal]:
    """Lines of the core that have had their day, each once and for its first reason."""
    ahead = (fact for fact in grounds.facts if fact.occurred and fact.day and fact.day < fact.occurred.start)
    dated = [fact for fact in ahead if fact.kind != "opinion"]
    first: dict[str, Item] = {}
    asked: set[CoreChange] = set()
    for item in grounds.items:
        words = " ".join(fact_text.readable(item.text, lambda _: False).casefold().split()).rstrip(".;, ")
        twin = first.setdefault(words, item)
        change, evidence = CoreChange(REMOVE, "", item.text), ()  # type: tuple[CoreChange, tuple[Fact, ...]]
        if grounds.is_forgotten(item.text):
            because = "it was put there for a fact that you had forgotten since"
        elif gone := _gone(item.text, grounds):
            because = f"it rests on {gone} alone, and there is no such note any more"
        elif twin is not item:
            because = f"line {twin.line} says the same"
            change = change._replace(text=item.text if twin.text == item.text else "")  # one of them stays
        elif planned := _over(item, dated, grounds):
            because, evidence = (
                f"{long(planned.occurred.start if planned.occurred else grounds.today)} is over",
                (planned,),
            )
        else:
            continue
        if change not in asked:
            yield Proposal(change, because, evidence)
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
            yield Proposal(CoreChange(ADD, _quotable(opinion.statement, grounds)), because, first, opinion.told)
    # What has a day of its own is over some day: that is for the calendar.
    lasting = (f for f in grounds.facts if f.kind == "world" and f.succeeded_by is None and f.occurred is None)
    weighty = [f for f in lasting if (f.tier == "core" or f.importance >= WEIGHTY) and f.key not in told]
    for fact in sorted(weighty, key=lambda f: (f.tier != "core", -f.importance, in_order(f))):
        because = "it was needed again and again" if fact.tier == "core" else "it is important"
        yield Proposal(CoreChange(ADD, _quotable(fact, grounds)), because, (fact,))


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


# --- what has had its day ---------------------------------------------------------------------------------------------

_MONTH = "|".join(f"{name}|{name[:3]}" for name in MONTH_NAMES)
_DATE = re.compile(
    rf"(?P<iso>\b\d{{4}}-\d\d-\d\d\b)|\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?P<month>{_MONTH})\.?,? (?P<year>\d{{4}})\b"
    rf"|\b(?P<month2>{_MONTH})\.? (?P<day2>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year2>\d{{4}})\b",
    re.IGNORECASE,
)
_LASTING = re.compile(
    r"\b(?:since|from|as of|starts?|starting|started|begins?|beginning|began|born|birthdays?|anniversary|every|each"
    r"|yearly|annual(?:ly)?|monthly|weekly)\b",
    re.IGNORECASE,
)
"""What a line says that goes on behind its date, or comes again."""

_CITED = re.compile(
    r"\[\[(?P<name>[^\[\]|#]*?(?P<day>\d{4}-\d\d-\d\d))"
    r"(?:#\^[\w-]+(?:\|[^\[\]]*)?\]\]|(?:\|[^\[\]]*)?\]\] L\d)"
)
"""A citation as reflect writes it: of a line, or of a block. A mere link to a day may be to one that is to come."""


def _gone(text: str, grounds: Grounds) -> str:
    """The last note that a line cites, where none of those it cites is there; "" where one is, or it cites none."""
    cited = [(found["name"], found["day"]) for found in _CITED.finditer(text)]
    days = [_day(day) for _, day in cited]
    if (
        not cited
        or any(day is None or day >= grounds.today for day in days)
        or any(grounds.exists(n) for n, _ in cited)
    ):
        return ""
    return cited[-1][1]


def _over(item: Item, dated: Sequence[Fact], grounds: Grounds) -> Fact | None:
    """The fact that told ahead of the day that a line names, where that is over and nothing newer was told of it.

    Only by such a fact it is known that the line is of something that was to come: other dates are history, and stay.
    """
    last = max(days_in(item.text), default=None)
    if last is None or not is_over(last, grounds.today) or _LASTING.search(item.text):
        return None
    words = frozenset(grounds.stems(item.text))
    of_then = (fact for fact in dated if fact.occurred and fact.occurred.start >= last)
    of_it = [fact for fact in of_then if _is_of(fact, words, grounds)]
    planned = [f for f in of_it if f.occurred and f.occurred.start == f.occurred.end == last and f.succeeded_by is None]
    is_moved = any(fact.occurred and fact.occurred.start > last for fact in of_it)
    return None if is_moved or not planned else max(planned, key=lambda fact: (fact.day or date.min, fact.line))


def _is_of(fact: Fact, words: frozenset[str], grounds: Grounds) -> bool:
    """Whether a fact and a line are of one thing, by what both say beside the date: enough of the shorter of them."""
    told = frozenset(grounds.stems(_DATE.sub(" ", fact.text)))
    least = min(len(told), len(words))
    return least > 0 and len(told & words) >= SAID * least


def days_in(text: str) -> list[date]:
    """The days that a text names with their year."""
    found = []
    for match in _DATE.finditer(text):
        if match["iso"]:
            found.append(_day(match["iso"]))
            continue
        month = (match["month"] or match["month2"])[:3].casefold()
        number = [name[:3].casefold() for name in MONTH_NAMES].index(month) + 1
        found.append(day_of(int(match["year"] or match["year2"]), number, int(match["day"] or match["day2"])))
    return [day for day in found if day]


def is_over(day: date, today: date) -> bool:
    """Whether a day is past, and the month after its own too: the clock moves pages when a period closes, not daily."""
    return period_of(plus(period_of(day, "month").end, 1), "month").end < today


def _day(text: str) -> date | None:
    return day_of(*map(int, text.split("-")))
