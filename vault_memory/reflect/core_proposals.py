"""Proposes what to add to the core, change or remove there, as lines that a person ticks or refuses. Pure.

Reflect never changes the core unasked.

    - [ ] add: "Prefers concise replies on WhatsApp" because it was told on 3 days ([[2025-11-27]] L14) ^p-1a2b3c4d

A tick (`[x]`) has it done at the next run, `[-]` or a deleted line refuses it, for good. Proposed is little, and only
what is sure: a small core is worth more than a full one.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, pairwise
from typing import NamedTuple

from vault_memory.errors import ConflictError
from vault_memory.markdown import fact_text, provenance
from vault_memory.markdown.fact_text import without_evidence
from vault_memory.markdown.note import TEXT
from vault_memory.markdown.parse import parse
from vault_memory.reflect.beliefs import CONTRADICTS, SUPPORTS, is_doubt, relation
from vault_memory.reflect.fact import Fact, timeline_key
from vault_memory.reflect.fact_lines import PageContext
from vault_memory.reflect.generated_blocks import Block, Line, text_name
from vault_memory.reflect.merge import find_edits
from vault_memory.reflect.opinion_page import decimal
from vault_memory.reflect.page_drafts import PageJobs
from vault_memory.reflect.user_feedback import REFUSAL, TICK, Feedback, FeedbackNote, read_line
from vault_memory.store import journal
from vault_memory.text import tokens
from vault_memory.write.rewrite import append_item, decode_utf8, lines_of, split_end

BLOCK = "proposals"

NOTHING = (Line("Nothing open.", slot="nothing"),)

MOST_OPEN = 5
"""Of additions, and of removals: a long list is read by nobody."""

SURE, SURE_DAYS = 0.85, 2
"""An opinion is proposed when it is this sure, and was told or borne out on so many days."""

IMPORTANT = 0.85
"""A standing fact is proposed when it is in the core tier or so important; an opinion when its bullet says `i=0.85`."""

SAME_WORDS = 0.6
"""A fact and a line of the core say the same when one has this share of the other's words."""

COMPARED_FACTS = 500
"""So many of the newest facts about somebody are compared with a line of the core: each takes 0.3 ms."""

CORE_TOKENS = 2000
"""The core is handed to agents whole."""

CORE_HEADING = "Learnt"
"""Where ticked additions go."""

NEW_CORE = b"# Memory\n"
"""A core that is not there yet."""

ADD, CHANGE, REMOVE = "add", "change", "remove"

_ITEM = re.compile(r"([ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+)(?!\[ \])(\S.*)$")
_STARTS = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]|#{1,6}(?:[ \t]|$)|[ \t]*(?:```|~~~|---|___|\*\*\*|>|<!--|%%)")
"""What begins something else than more of the line before."""

_CHANGE = re.compile(r'(add|change|remove): "(.*)" because .*')
"""What is quoted may hold `" because ` itself: the last one is ours."""

_TO = '" → "'


class CoreChange(NamedTuple):
    """What a ticked proposal asks: `text` is to stand there, `old` is the item it is about ("" for an addition)."""

    what: str
    text: str
    old: str = ""

    def name(self, fact: Fact | None) -> str:
        """What its proposal is known by: its fact, however worded; a removal by its line, whatever speaks for it."""
        about = "" if self.what == REMOVE or fact is None else fact.key
        words = f"{self.what}\0{self.old}\0{about}"
        return hashlib.blake2b(words.encode("utf-8", "replace"), digest_size=4).hexdigest()


class Proposal(NamedTuple):
    """One change of the core that reflect would make, why, and the name it is known by.

    `restated` are all facts that state the same, the first of `evidence` among them.
    """

    change: CoreChange
    because: str
    evidence: tuple[Fact, ...] = ()
    restated: tuple[Fact, ...] = ()
    name: str = ""


class ProposalCounts(NamedTuple):
    """How many proposals are open, and how many opinions are too unsure."""

    open: int
    unsure: int


# --- the page --------------------------------------------------------------------------------------------------------


def page_lines(proposals: Sequence[Proposal], context: PageContext) -> tuple[Line, ...]:
    if not proposals:
        return NOTHING
    intro = "Tick what should be done (`[x]`), mark what should not (`[-]`); it happens at the next `memory reflect`."
    return (Line(intro, slot="intro"), Line(""), *(_line(proposal, context) for proposal in proposals))


def _line(proposal: Proposal, context: PageContext) -> Line:
    what, text, old = proposal.change
    quoted = _TO.join(filter(None, (old, text)))
    because = proposal.because
    tellers = {provenance.teller_name(fact.by) for fact in (*proposal.evidence, *proposal.restated)}
    if tellers and "" not in tellers:  # no person told it: whoever ticks it should know whose words they are
        because += f", told by {', '.join(sorted(tellers))}"
    if cited := ", ".join(context.cite.fact(fact) for fact in proposal.evidence):
        because += f" ({cited})"
    return Line(f'- [ ] {what}: "{quoted}" because {because} ^p-{proposal.name}', slot=proposal.name)


def read_change(text: str) -> CoreChange | None:
    """What a proposal asks, None where that is nothing."""
    match = _CHANGE.fullmatch(text)
    if match is None:
        return None
    what, quoted = match.groups()
    if what == REMOVE:
        return CoreChange(REMOVE, "", quoted) if quoted else None
    was, _, new = quoted.partition(_TO) if what == CHANGE else ("", "", quoted)
    return CoreChange(what, new.strip(), was) if new.strip() else None


def name_of(line: str) -> str:
    """What the proposal of a line is known by; "" where it states none."""
    found = read_line(line)
    return found.name if found else ""


def names_of(lines: Iterable[Line]) -> set[str]:
    return {name_of(line.text) for line in lines} - {""}


# --- what a person answered ------------------------------------------------------------------------------------------


@dataclass
class Answers:
    """What was answered on the page of proposals, by their names; `open` are all that stand there."""

    open: set[str] = field(default_factory=set)
    ticked: dict[str, CoreChange] = field(default_factory=dict)
    settled: set[str] = field(default_factory=set)
    """What was ticked, refused or dropped, and goes from the page."""
    unclear: list[str] = field(default_factory=list)
    """The marks that say neither yes nor no."""
    dropped: int = 0
    """How many that were ticked rest on what no note holds any more."""
    facts: dict[str, Fact] = field(default_factory=dict)
    """What the ticked ones rest on."""

    def notes(self) -> Iterator[FeedbackNote]:
        """The ticks for the journal, with the facts that their lines stand for."""
        for name, change in self.ticked.items():
            fact = self.facts.get(name)
            about = f"{journal.digits(fact.key)} {text_name(change.text)}" if fact else ""
            yield FeedbackNote("ticked", name, about=about)


def read_answers(
    block: Block | None, last: Sequence[Line] | None, facts: Iterable[Fact], feedback: Feedback
) -> Answers:
    """What was answered on the page that was `last` written; `feedback` takes refusals in."""
    found = Answers()
    if block is None:
        return found
    if last is not None and not block.is_as_written:
        feedback.refused |= find_edits(block, last).deleted  # the journal notes it with the page
    for one in filter(None, map(read_line, block.lines)):
        change = read_change(one.text)
        if change is None:
            continue
        found.open.add(one.name)
        if one.mark == TICK:
            found.ticked[one.name] = change
            found.settled.add(one.name)
        elif one.mark == REFUSAL:
            found.settled.add(one.name)
            feedback.refused.add(one.name)
            feedback.new.append(FeedbackNote("refused", one.name))
        elif one.mark:
            found.unclear.append(one.mark)
    # What was ticked and rests on no fact any more may have been forgotten.
    resting = {name: change for name, change in found.ticked.items() if change.what != REMOVE}
    for fact in facts if resting else ():
        found.facts |= {name: fact for change in resting.values() if (name := change.name(fact)) in resting}
    dropped = resting.keys() - found.facts.keys()
    found.dropped = len(dropped)
    found.settled |= dropped
    found.ticked = {name: change for name, change in found.ticked.items() if name not in dropped}
    return found


# --- what is proposed ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Proposer:
    """Proposes changes to a core with these list items, besides what was answered to earlier proposals."""

    jobs: PageJobs
    items: Collection[str]
    answers: Answers

    def propose(self) -> list[Proposal]:
        """The proposals that nobody has answered, changes and removals first."""
        changes = list(self._unanswered(self._changes()))
        changed = {one.change.old for one in changes}
        stale = (one for one in self._removals() if one.change.old not in changed)
        removed = islice(self._unanswered(stale), MOST_OPEN)
        said, added = [*self.items], list[Proposal]()
        for one in self._additions():
            if len(added) < MOST_OPEN and not self._is_said(one.evidence[0], said):
                said.append(one.change.text)  # one like it need not be asked as well, refused or not
                added += self._unanswered([one])
        return [*changes, *removed, *added]

    def _unanswered(self, found: Iterable[Proposal]) -> Iterator[Proposal]:
        """Those that nobody has answered yet, by the name that they have on the page."""
        answers, feedback = self.answers, self.jobs.feedback
        # What was ticked and stands open was not done: the run was undone, or the core could not be changed.
        done = (feedback.done - (answers.open - answers.settled)) | answers.ticked.keys()
        for one in found:
            # It may have been known by another fact that states the same before it was stated anew.
            names = [one.change.name(fact) for fact in (*one.evidence[:1], *one.restated) or (None,)]
            if (feedback.refused | done).isdisjoint(names):
                yield one._replace(name=min(answers.open.intersection(names), default=names[0]))

    @cached_property
    def _facts(self) -> list[Fact]:
        """Nothing that came from outside may move a line of the core, nor make one surer."""
        return sorted((fact for fact in self.jobs.fact_set.facts if fact.is_trusted), key=timeline_key)

    def _changes(self) -> Iterator[Proposal]:
        """Lines of the core that a newer fact about the same entity contradicts, and none after it bears out."""
        about: dict[str, list[Fact]] = defaultdict(list)
        for fact in self._facts if self.items else ():
            for slug in fact.subjects if fact.day and not is_doubt(fact) else ():
                about[slug].append(fact)
        for item in self.items:
            slugs = self.jobs.slugs_in(item)
            facts = sorted({f.key: f for slug in slugs for f in about[slug]}.values(), key=timeline_key, reverse=True)
            names, line = self._names(slugs), fact_text.readable(item, lambda _: False)
            for fact in facts[:COMPARED_FACTS]:
                found = relation(line, fact.text, names)
                if found == CONTRADICTS and fact.succeeded_by is None:
                    change = CoreChange(CHANGE, self._quotable(fact), item)
                    yield Proposal(change, f"on {fact.day} it was told otherwise", (fact,))
                if found in (CONTRADICTS, SUPPORTS):
                    break

    def _removals(self) -> Iterator[Proposal]:
        """Lines of the core that were put there for facts that were forgotten since."""
        because = "it was put there for a fact that you had forgotten since"
        for text in filter(self.jobs.feedback.is_forgotten, self.items):
            yield Proposal(CoreChange(REMOVE, "", text), because)

    def _additions(self) -> Iterator[Proposal]:
        """What is sure enough to stand in the core, said there already or not; the surest opinions first."""
        proposed: set[int] = set()
        for opinion in self.jobs.opinions:
            sure, days = opinion.belief.rounded, {f.day for f in (*opinion.statements, *opinion.supports) if f.day}
            if sure >= SURE and len(days) >= SURE_DAYS and not opinion.is_superseded:
                newest = sorted((opinion.statement, *opinion.supports), key=timeline_key, reverse=True)[:3]
                evidence = (opinion.statement, *(fact for fact in newest if fact is not opinion.statement))
                proposed |= {fact.key for fact in opinion.statements}
                because = f"it is held with {decimal(sure)} and was told or borne out on {len(days)} days"
                change = CoreChange(ADD, self._quotable(opinion.statement))
                yield Proposal(change, because, evidence, opinion.statements)
        # What has a day of its own will be over: that is for the calendar.
        lasting = (f for f in self._facts if f.succeeded_by is None and f.occurred is None and f.key not in proposed)
        for fact in sorted(lasting, key=lambda f: (f.tier != "core", -f.importance)):
            is_needed = fact.tier == "core" and fact.kind == "world"
            if is_needed or (fact.importance >= IMPORTANT and fact.kind in ("world", "opinion")):
                because = "it was needed again and again" if fact.tier == "core" else "it is important"
                yield Proposal(CoreChange(ADD, self._quotable(fact)), because, (fact,))

    def _names(self, slugs: Iterable[str]) -> list[str]:
        return [name for slug in slugs for name in self.jobs.opinion_inputs.names(slug)]

    def _is_said(self, fact: Fact, said: Iterable[str]) -> bool:
        """Whether a line says what the first sentence of a fact says, and names whom it is about."""
        stems_of = self.jobs.context.stems
        stems = frozenset(stems_of(re.split(r"(?<=[.!?;]) ", without_evidence(fact.text), maxsplit=1)[0]))
        names = [name.casefold() for name in self._names(fact.subjects)]
        of_them = (line for line in said if not names or any(name in line.casefold() for name in names))
        return not stems or any(len(stems.intersection(stems_of(line))) >= SAME_WORDS * len(stems) for line in of_them)

    def _quotable(self, fact: Fact) -> str:
        context = self.jobs.context
        text = fact_text.readable(fact.text, context.exists).replace('"', "'")
        is_named = any(name.casefold() in text.casefold() for name in self._names(fact.subjects))
        return text if is_named or not fact.subjects else f"{context.link_entity(fact.subjects[0])}: {text}"


# --- the core itself -------------------------------------------------------------------------------------------------


def list_items(path: str, data: bytes) -> dict[str, int]:
    """The list items of the core that stand in one line, each with that line, 1-based; of equal ones the last."""
    note = parse(path, data)
    lines = [line if state == TEXT else "" for line, state in zip(note.lines, note.states, strict=True)]
    found: dict[str, int] = {}
    for number, (line, following) in enumerate(pairwise([*lines, ""]), 1):
        goes_on = following.strip() and not _STARTS.match(following)
        if (match := _ITEM.match(line)) and not goes_on:
            found[match[2].rstrip()] = number
    return found


def apply_change(path: str, data: bytes, change: CoreChange) -> bytes:
    """The core with one change made; all other bytes stay, and all where a run that was killed made it already.

    Raises ConflictError when the item is not there any more, or the core would grow beyond its limit of tokens.
    """
    there = list_items(path, data)
    line = there.get(change.old)
    if line is None and (change.what == REMOVE or change.text in there):
        return data
    if change.what == ADD:
        after, _ = append_item(path, data, CORE_HEADING, f"- {change.text}", is_apart=True)
    elif line is None:
        raise ConflictError(f'{path} has no line "{change.old}" any more: it was left alone.', "Change it by hand.")
    else:
        lines, at = lines_of(decode_utf8(path, data)), line - 1
        if change.what == REMOVE:
            del lines[at]
        else:
            said, end = split_end(lines[at])
            lines[at] = _ITEM.sub(lambda match: match[1] + change.text, said) + end
        after = "".join(lines).encode("utf-8")
    size = tokens.count(after.decode("utf-8")) if len(after) > len(data) else 0
    if size > CORE_TOKENS:
        raise ConflictError(
            f"{path} would have {size:,} tokens, of {CORE_TOKENS:,} at most: what was ticked was not put there.",
            "Shorten it, or take a line out; the tick stays until then.",
        )
    return after
