"""Owns the proposals for the core: what reflect would add, change or remove there, and what was said to them. Pure.

    - [ ] add: "Prefers concise replies on WhatsApp" because it was told on 3 days ([[2025-11-27]] L14) ^p-1a2b3c4d

A tick (`[x]`) has it done at the next run, `[-]` or a deleted line refuses it, for good. Proposed is little, and only
what is sure: a small core is worth more than a full one.
"""

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from vault_memory.reflect import wording
from vault_memory.reflect.beliefs import Opinion
from vault_memory.reflect.blocks import Line
from vault_memory.reflect.core import ADD, CHANGE, REMOVE, Change, Item
from vault_memory.reflect.dated import bare
from vault_memory.reflect.model import Fact
from vault_memory.reflect.opinion_page import decimal
from vault_memory.reflect.polarity import CONTRADICTS, SUPPORTS, Stance
from vault_memory.reflect.sections import Context
from vault_memory.reflect.select import in_order

PATH, BLOCK = "bank/proposals.md", "proposals"

NOTHING = (Line("Nothing open.", slot="nothing"),)

MOST = 5
"""So many additions are open at a time: a long list is read by nobody."""

SURE, SURE_DAYS = 0.85, 2
"""An opinion is proposed when it is this sure, and was told or borne out on so many days."""

WEIGHTY = 0.85
"""A standing fact is proposed when it is in the core tier, or so important by its own `i=` or by being told again."""

SAID = 0.6
"""A fact is in the core already when one of its lines has this share of its words."""

_LINE = re.compile(
    r"\s*[-*+] \[(?P<box>.)\] (?:"
    r'(?P<change>change): "(?P<old>.*?)" → "(?P<new>.*?)"|(?P<what>add|remove): "(?P<text>.*?)"'
    r") because .*\^p-(?P<name>[0-9a-f]{8})\s*$"
)


class Proposal(NamedTuple):
    """One change of the core that reflect would make, why, and the facts it rests on."""

    change: Change
    because: str
    evidence: tuple[Fact, ...]
    told: tuple[Fact, ...] = ()
    """All facts that state the same, the first of `evidence` among them."""

    @property
    def name(self) -> str:
        """What it is known by, so that it is asked only once: how it is worded today plays no part."""
        return self._name(self.evidence[0])

    @property
    def names(self) -> frozenset[str]:
        """What it may have been known by before it was stated anew."""
        return frozenset(map(self._name, (self.evidence[0], *self.told)))

    def _name(self, fact: Fact) -> str:
        words = f"{self.change.what}\0{self.change.old}\0{fact.key}"
        return hashlib.blake2b(words.encode("utf-8", "replace"), digest_size=4).hexdigest()


class Answer(NamedTuple):
    """What a person said to one proposal: a change to be made, or None for a refusal."""

    name: str
    change: Change | None


def answers(lines: Iterable[str]) -> Iterator[Answer]:
    """What a person ticked or refused on the page, with their own wording where they changed the quoted one."""
    for line in lines:
        match = _LINE.match(line)
        if not match or match["box"] == " ":
            continue
        if match["box"] not in "xX":
            yield Answer(match["name"], None)
            continue
        change = _asked(match)
        if change.text or change.what == REMOVE:
            yield Answer(match["name"], change)


def _asked(match: re.Match[str]) -> Change:
    if match["change"]:
        return Change(CHANGE, match["new"].strip(), match["old"])
    return Change(ADD, match["text"].strip()) if match["what"] == ADD else Change(REMOVE, "", match["text"])


def name_of(line: str) -> str:
    """The name of the proposal that a line of the page states, or ""."""
    match = _LINE.match(line)
    return match["name"] if match else ""


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
    text = f"- [ ] {change.what}: {quoted} because {proposal.because} ({cited}) ^p-{proposal.name}"
    return Line(text, slot=proposal.name)


# --- what is proposed ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Grounds:
    """What proposals are made from; `slugs` gives the entities that a line of the core mentions."""

    facts: Sequence[Fact]
    opinions: Sequence[Opinion]
    items: Sequence[Item]
    stems: Callable[[str], Sequence[str]]
    slugs: Callable[[str], Sequence[str]]
    names: Callable[[str], Sequence[str]]
    exists: Callable[[str], bool]
    shown: Callable[[str], str]
    refused: Collection[str] = frozenset()


def proposed(grounds: Grounds) -> list[Proposal]:
    """The proposals that nobody has refused: changes and removals of what is there first, then a few additions."""
    refused = frozenset(grounds.refused)
    changes = [one for one in _changes(grounds) if refused.isdisjoint(one.names)]
    said = [item.text for item in grounds.items]
    added: list[Proposal] = []
    for one in _additions(grounds):
        if len(added) < MOST and not _is_said(one.evidence[0], said, grounds):
            said.append(one.change.text)  # one like it need not be asked as well, refused or not
            if refused.isdisjoint(one.names):
                added.append(one)
    return [*changes, *added]


def _changes(grounds: Grounds) -> Iterator[Proposal]:
    """Lines of the core that a newer fact about the same entity contradicts, and none after it bears out."""
    about: dict[str, list[Fact]] = {}
    for fact in sorted(grounds.facts, key=in_order):
        for slug in fact.subjects:
            about.setdefault(slug, []).append(fact)
    for item in grounds.items:
        slugs = grounds.slugs(item.text)
        found = {fact.key: fact for slug in slugs for fact in about.get(slug, ()) if fact.day}
        newest = _newest_word(item, sorted(found.values(), key=in_order), grounds, slugs)
        if newest is None or newest.succeeded_by is not None:
            continue
        text = _quotable(newest, grounds)
        change = Change(CHANGE, text, item.text)
        yield Proposal(change, f"on {newest.day} it was told otherwise", (newest,))


def _newest_word(item: Item, facts: Sequence[Fact], grounds: Grounds, slugs: Sequence[str]) -> Fact | None:
    """The newest fact that bears on a line, where that contradicts it."""
    stance = Stance(wording.told(item.text, lambda _: False), [name for slug in slugs for name in grounds.names(slug)])
    for fact in reversed(facts):
        relation = stance.relation(fact.text)
        if relation in (CONTRADICTS, SUPPORTS):
            return fact if relation == CONTRADICTS else None
    return None


def _additions(grounds: Grounds) -> Iterator[Proposal]:
    """What is sure enough to stand in the core, said there already or not; the surest opinions first."""
    told: set[int] = set()
    for opinion in grounds.opinions:
        told |= {fact.key for fact in opinion.told}
        days = {fact.day for fact in (*opinion.told, *opinion.supports) if fact.day}
        if opinion.belief.shown >= SURE and len(days) >= SURE_DAYS:
            sure = decimal(opinion.belief.shown)
            because = f"it is held with {sure} and was told or borne out on {len(days)} days"
            evidence = tuple(sorted((opinion.statement, *opinion.supports), key=in_order, reverse=True))[:3]
            first = (opinion.statement, *(fact for fact in evidence if fact is not opinion.statement))
            yield Proposal(Change(ADD, _quotable(opinion.statement, grounds)), because, first, opinion.told)
    # What has a day of its own is over some day: that is for the calendar.
    lasting = (f for f in grounds.facts if f.kind == "world" and f.succeeded_by is None and f.occurred is None)
    standing = [f for f in lasting if f.key not in told]
    for fact in sorted(standing, key=lambda f: (f.tier != "core", -f.importance, in_order(f))):
        if fact.tier == "core" or fact.importance >= WEIGHTY:
            because = "it was needed again and again" if fact.tier == "core" else "it is important"
            yield Proposal(Change(ADD, _quotable(fact, grounds)), because, (fact,))


def _is_said(fact: Fact, said: Iterable[str], grounds: Grounds) -> bool:
    """Whether a line says what the first sentence of a fact says, and names whom it is about."""
    stems = frozenset(grounds.stems(re.split(r"(?<=[.!?;]) ", bare(fact.text), maxsplit=1)[0]))
    names = [name.casefold() for slug in fact.subjects for name in grounds.names(slug)]
    of_them = (line for line in said if not names or any(name in line.casefold() for name in names))
    return not stems or any(len(stems.intersection(grounds.stems(line))) >= SAID * len(stems) for line in of_them)


def _quotable(fact: Fact, grounds: Grounds) -> str:
    text = wording.told(fact.text, grounds.exists).replace('"', "'")
    names = [name for slug in fact.subjects for name in grounds.names(slug)]
    is_named = any(name.casefold() in text.casefold() for name in names)
    return text if is_named or not fact.subjects else f"{grounds.shown(fact.subjects[0])}: {text}"
