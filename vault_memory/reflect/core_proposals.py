"""Proposes additions, changes and removals for the core memory file, as lines that the user ticks or refuses. Pure.

Reflect never changes the core without being asked to.

    - [ ] add: "Prefers concise replies on WhatsApp" because it was told on 3 days ([[2025-11-27]] L14) ^p-1a2b3c4d

A tick (`[x]`) is carried out at the next run; `[-]` or deleting the line refuses the proposal for good. Proposals are
few and well supported: a small core is worth more than a full one.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, pairwise
from typing import NamedTuple

from vault_memory.errors import ConflictError
from vault_memory.markdown import fact_text, provenance
from vault_memory.markdown.fact_text import first_sentence, without_evidence
from vault_memory.markdown.note import TEXT
from vault_memory.markdown.parse import parse
from vault_memory.reflect.confidence import CONTRADICTS, SUPPORTS
from vault_memory.reflect.fact import Fact, timeline_key
from vault_memory.reflect.fact_lines import PageContext
from vault_memory.reflect.generated_blocks import Block, Line, read_page, text_name
from vault_memory.reflect.merge import find_edits
from vault_memory.reflect.opinion_page import decimal
from vault_memory.reflect.opinions import is_doubt, relation
from vault_memory.reflect.page_drafts import PageJobs
from vault_memory.reflect.user_feedback import REFUSAL, TICK, Feedback, ProposalLine, UserAnswer, read_line
from vault_memory.store import journal
from vault_memory.text import tokens
from vault_memory.write.rewrite import append_item, decode_utf8, lines_of, split_end

BLOCK = "proposals"

NOTHING = (Line("Nothing open.", slot="nothing"),)

MOST_OPEN = 5
"""Maximum open additions, and maximum open removals: nobody reads a long list."""

SURE, SURE_DAYS = 0.85, 2
"""An opinion is proposed at this confidence or more, if stated or supported on at least this many days."""

IMPORTANT = 0.85
"""A world fact is proposed if it is in the core tier or this important; an opinion also if its bullet has `i=0.85`."""

SAME_WORDS = 0.6
"""A line of the core already says a fact if it contains this share of the stems of the fact's first sentence."""

COMPARED_FACTS = 500
"""A core line is compared with at most this many of the newest facts about its entities: each takes 0.3 ms."""

CORE_TOKENS = 2000
"""The core's maximum size in tokens: agents are given all of it."""

CORE_HEADING = "Learnt"
"""Where ticked additions go."""

NEW_CORE = b"# Memory\n"
"""The content of a core that does not exist yet."""

ADD, CHANGE, REMOVE = "add", "change", "remove"

_ITEM = re.compile(r"([ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+)(?!\[ \])(\S.*)$")
_STARTS = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]|#{1,6}(?:[ \t]|$)|[ \t]*(?:```|~~~|---|___|\*\*\*|>|<!--|%%)")
"""The start of a line that does not continue the one before it."""

_CHANGE = re.compile(r'(add|change|remove): "(.*)" because .*')
"""The quoted text may itself contain `" because `: the last one is ours."""

_TO = '" → "'


class CoreChange(NamedTuple):
    """The change a ticked proposal asks for: the new `text`, and the `old` item it replaces ("" for an addition)."""

    what: str
    text: str
    old: str = ""

    def name(self, fact: Fact | None) -> str:
        """The proposal's stable name: of its fact however worded; for a removal, of its line whatever the reason."""
        about = "" if self.what == REMOVE or fact is None else fact.key
        words = f"{self.what}\0{self.old}\0{about}"
        return hashlib.blake2b(words.encode("utf-8", "replace"), digest_size=4).hexdigest()


class Proposal(NamedTuple):
    """A change to the core that reflect would make, the reason, and the proposal's name.

    `restated` are all facts that state the same opinion, including the first of `evidence`.
    """

    change: CoreChange
    because: str
    evidence: tuple[Fact, ...] = ()
    restated: tuple[Fact, ...] = ()
    name: str = ""


class ProposalCounts(NamedTuple):
    """How many proposals are open, and how many opinions are below SURE."""

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
    if tellers and "" not in tellers:  # no person said it: whoever ticks it should know whose words they are
        because += f", told by {', '.join(sorted(tellers))}"
    if cited := ", ".join(context.cite.fact(fact) for fact in proposal.evidence):
        because += f" ({cited})"
    return Line(f'- [ ] {what}: "{quoted}" because {because} ^p-{proposal.name}', slot=proposal.name)


def read_change(text: str) -> CoreChange | None:
    """Parse the change that a proposal's text asks for; None if it asks for nothing."""
    match = _CHANGE.fullmatch(text)
    if match is None:
        return None
    what, quoted = match.groups()
    if what == REMOVE:
        return CoreChange(REMOVE, "", quoted) if quoted else None
    was, _, new = quoted.partition(_TO) if what == CHANGE else ("", "", quoted)
    return CoreChange(what, new.strip(), was) if new.strip() else None


def name_of(line: str) -> str:
    """The name of the proposal on a line; "" if there is none."""
    found = read_line(line)
    return found.name if found else ""


def names_of(lines: Iterable[Line]) -> set[str]:
    return {name_of(line.text) for line in lines} - {""}


def lines_on_page(path: str, data: bytes) -> list[ProposalLine]:
    """The proposals for the core that stand on the page, answered or not; raises ConflictError."""
    block = read_page(path, data, BLOCK).block
    return [one for one in filter(None, map(read_line, block.lines if block else ())) if read_change(one.text)]


def with_marks(path: str, data: bytes, marks: Mapping[str, str]) -> bytes:
    """The page with these marks in the boxes of proposals for the core, by name; raises ConflictError."""
    text = decode_utf8(path, data)
    for one in lines_on_page(path, data):
        if one.name in marks:
            text = text.replace(one.line, f"- [{marks[one.name]}] {one.text} ^p-{one.name}", 1)
    return text.encode("utf-8")


# --- the user's answers ----------------------------------------------------------------------------------------------


@dataclass
class ProposalAnswers:
    """The answers on the page of proposals, by proposal name; `open` are all proposals on the page."""

    open: set[str] = field(default_factory=set)
    ticked: dict[str, CoreChange] = field(default_factory=dict)
    settled: set[str] = field(default_factory=set)
    """Ticked, refused or dropped proposals, which leave the page."""
    unclear: list[str] = field(default_factory=list)
    """Marks that mean neither yes nor no."""
    dropped: int = 0
    """How many ticked proposals rest on facts that no note contains any more."""
    facts: dict[str, Fact] = field(default_factory=dict)
    """The facts that the ticked proposals rest on."""

    def ticks(self) -> Iterator[UserAnswer]:
        """The ticks for the journal, with the facts behind them."""
        for name, change in self.ticked.items():
            fact = self.facts.get(name)
            about = f"{journal.digits(fact.key)} {text_name(change.text)}" if fact else ""
            yield UserAnswer("ticked", name, about=about)


def read_answers(
    block: Block | None, last: Sequence[Line] | None, facts: Iterable[Fact], feedback: Feedback
) -> ProposalAnswers:
    """The answers on the page whose lines were `last` written; refusals are also added to `feedback`."""
    found = ProposalAnswers()
    if block is None:
        return found
    if last is not None and not block.is_as_written:
        feedback.refused |= find_edits(block, last).deleted  # journalled when the page is written
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
            feedback.new.append(UserAnswer("refused", one.name))
        elif one.mark:
            found.unclear.append(one.mark)
    # A ticked proposal whose fact is gone is dropped: the fact may have been forgotten.
    resting = {name: change for name, change in found.ticked.items() if change.what != REMOVE}
    for fact in facts if resting else ():
        found.facts |= {name: fact for change in resting.values() if (name := change.name(fact)) in resting}
    dropped = resting.keys() - found.facts.keys()
    found.dropped = len(dropped)
    found.settled |= dropped
    found.ticked = {name: change for name, change in found.ticked.items() if name not in dropped}
    return found


# --- making proposals ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Proposer:
    """Proposes changes to a core with these list items, except what the user has already answered."""

    jobs: PageJobs
    items: Collection[str]
    answers: ProposalAnswers

    def propose(self) -> list[Proposal]:
        """The unanswered proposals, changes and removals first."""
        changes = list(self._unanswered(self._changes()))
        changed = {one.change.old for one in changes}
        because = "it was put there for a fact that you had forgotten since"
        stale = [text for text in self.items if text not in changed and self.jobs.feedback.is_forgotten(text)]
        removed = islice(self._unanswered(Proposal(CoreChange(REMOVE, "", text), because) for text in stale), MOST_OPEN)
        said, added = [*self.items], list[Proposal]()
        for one in self._additions():
            if len(added) < MOST_OPEN and not self._is_said(one.evidence[0], said):
                said.append(one.change.text)  # nothing similar is proposed as well, whether this is refused or not
                added += self._unanswered([one])
        return [*changes, *removed, *added]

    def _unanswered(self, found: Iterable[Proposal]) -> Iterator[Proposal]:
        """The proposals without an answer, each under the name it already has on the page."""
        answers, feedback = self.answers, self.jobs.feedback
        # Ticked earlier but open on the page: not done, because the run was undone or the core could not be changed.
        done = (feedback.done - (answers.open - answers.settled)) | answers.ticked.keys()
        for one in found:
            # It may have been named after an earlier statement of the same opinion.
            names = [one.change.name(fact) for fact in (*one.evidence[:1], *one.restated) or (None,)]
            if (feedback.refused | done).isdisjoint(names):
                yield one._replace(name=min(answers.open.intersection(names), default=names[0]))

    @cached_property
    def _facts(self) -> list[Fact]:
        """The trusted facts in timeline order: nothing from outside may affect the core."""
        return sorted((fact for fact in self.jobs.fact_set.facts if fact.is_trusted), key=timeline_key)

    def _changes(self) -> Iterator[Proposal]:
        """Lines of the core that a newer fact about the same entity contradicts and no later one supports."""
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

    def _additions(self) -> Iterator[Proposal]:
        """Everything certain enough for the core, even if it is there already; the surest opinions first."""
        proposed: set[int] = set()
        for opinion in self.jobs.opinions:
            sure, days = opinion.confidence.rounded, {f.day for f in (*opinion.statements, *opinion.supports) if f.day}
            if sure >= SURE and len(days) >= SURE_DAYS and not opinion.is_superseded:
                newest = sorted((opinion.statement, *opinion.supports), key=timeline_key, reverse=True)[:3]
                evidence = (opinion.statement, *(fact for fact in newest if fact is not opinion.statement))
                proposed |= {fact.key for fact in opinion.statements}
                because = f"it is held with {decimal(sure)} and was told or borne out on {len(days)} days"
                change = CoreChange(ADD, self._quotable(opinion.statement))
                yield Proposal(change, because, evidence, opinion.statements)
        # Facts with a day of their own will pass: they belong in a calendar.
        lasting = (f for f in self._facts if f.succeeded_by is None and f.occurred is None and f.key not in proposed)
        for fact in sorted(lasting, key=lambda f: (f.tier != "core", -f.importance)):
            is_needed = fact.tier == "core" and fact.kind == "world"
            if is_needed or (fact.importance >= IMPORTANT and fact.kind in ("world", "opinion")):
                because = "it was needed again and again" if fact.tier == "core" else "it is important"
                yield Proposal(CoreChange(ADD, self._quotable(fact)), because, (fact,))

    def _names(self, slugs: Iterable[str]) -> list[str]:
        return [name for slug in slugs for name in self.jobs.opinion_inputs.names(slug)]

    def _is_said(self, fact: Fact, said: Iterable[str]) -> bool:
        """Whether a line says what the fact's first sentence says and names one of its subjects, if it has any."""
        stems_of = self.jobs.context.stems
        stems = frozenset(stems_of(first_sentence(without_evidence(fact.text))))
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
    """The core's single-line list items with their 1-based line numbers; of equal items, the last."""
    note = parse(path, data)
    lines = [line if state == TEXT else "" for line, state in zip(note.lines, note.states, strict=True)]
    found: dict[str, int] = {}
    for number, (line, following) in enumerate(pairwise([*lines, ""]), 1):
        goes_on = following.strip() and not _STARTS.match(following)
        if (match := _ITEM.match(line)) and not goes_on:
            found[match[2].rstrip()] = number
    return found


def apply_change(path: str, data: bytes, change: CoreChange) -> bytes:
    """The core with one change made and all other bytes kept; unchanged if a killed run made the change already.

    Raises ConflictError if the item is no longer there, or the core would grow beyond CORE_TOKENS.
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
