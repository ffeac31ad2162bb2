"""Drafts the blocks of bank/world.md and bank/experience.md: how things are, by whom; what was done, by month. Pure.

What a person wrote on the page itself stands there already and is not told again.
"""

from collections.abc import Iterator, Sequence
from datetime import date

from vault_memory.reflect.blocks import Line
from vault_memory.reflect.entity_page import CITATION_TOKENS, FACT_TOKENS, LATELY_SHARE, by_month, is_over, weighed
from vault_memory.reflect.model import Fact
from vault_memory.reflect.periods import period_of
from vault_memory.reflect.sections import Body, PageContext
from vault_memory.reflect.select import Turn, Weights, in_turns, lately

PATHS = WORLD, EXPERIENCE = "bank/world.md", "bank/experience.md"

PAGE_TOKENS = 2000
"""More than an entity's page: what does not fit here stands on one of those."""


def world(facts: Sequence[Fact], context: PageContext, tokens: int = PAGE_TOKENS) -> tuple[Line, ...]:
    """How things are now, by the person, place or project it is about."""
    newest = max((fact.day for fact in facts if fact.day), default=None)
    standing = [
        fact
        for fact in facts
        if fact.kind in ("world", "observation") and fact.succeeded_by is None and fact.path != WORLD
        if not is_over(fact, newest)
    ]
    return tuple(_lines(standing, context, tokens, by_thread=True))


def experience(facts: Sequence[Fact], context: PageContext, tokens: int = PAGE_TOKENS) -> tuple[Line, ...]:
    """What was done and what came of it, the newest month first."""
    done = [fact for fact in facts if fact.kind == "experience" and fact.path != EXPERIENCE]
    return tuple(_lines(done, context, tokens, by_thread=False, newer=facts))


def _lines(
    facts: Sequence[Fact], context: PageContext, tokens: int, by_thread: bool, newer: Sequence[Fact] = ()
) -> list[Line]:
    """The block for these facts, within `tokens`; `newer` are facts that took the place of some, wherever told."""
    if not facts:
        return []

    def cost(fact: Fact) -> int:
        return min(context.count(fact.text), FACT_TOKENS) + CITATION_TOKENS

    last = max((fact.when for fact in facts if fact.when), default=date.min)
    body = Body(period_of(last, "month"), facts, context, tokens, newer, is_opened=False)
    telling = [fact for fact in weighed(facts) if body.says_how_it_stands(fact, "")]
    weigh, late = Weights(context.stems, context.rarity, cost), lately(telling)
    room = tokens
    while True:
        turns = [Turn(room // LATELY_SHARE, late), Turn(room)]
        taken = [fact for found in in_turns(telling, room, weigh, turns) for fact in found]
        found = [*_told(taken, body, by_thread), *_folded(len(facts) - len(taken))]
        over = context.count("\n".join(line.text for line in found)) - tokens
        if over <= 0 or not taken:
            return found
        room = max(room - over, 0)


def _told(taken: Sequence[Fact], body: Body, by_thread: bool) -> Iterator[Line]:
    yield Line("## From the logs")
    if by_thread:
        for text, cited in body.lines(taken):
            yield body.line(text, cited)
            if text.startswith("#"):
                yield Line("")
        return
    for title, of_month in by_month(taken):
        yield from (Line(""), Line(f"### {title}"), Line(""))
        for text, cited in body.listed(of_month, ""):
            yield body.line(text, cited)


def _folded(folded: int) -> Iterator[Line]:
    if folded:
        more = f"…and {folded:,} more fact{'s' * (folded != 1)}: on the pages of those they are about, and in the logs."
        yield from (Line(""), Line(more, slot="folded"))
