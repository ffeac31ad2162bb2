"""Drafts the summary page of a week, month or year by selecting from its facts, in their own words. Pure.

A page never learns from other pages (law 5): it consists of facts dated in the period, cites their notes, and takes
no text from other pages; pages of finer periods are only linked. It has a token limit and is at most a share of the
size of its facts; what does not fit is reported as a count. Same facts, same bytes.
"""

from collections.abc import Callable, Sequence
from itertools import chain

from vault_memory.markdown.counts import facts_on_days
from vault_memory.reflect.choose_facts import Turn, choose_in_turns
from vault_memory.reflect.edit_plan import EXTRACTIVE, Draft
from vault_memory.reflect.fact import Fact, timeline_key
from vault_memory.reflect.fact_lines import Body, PageContext, folded
from vault_memory.reflect.generated_blocks import Line
from vault_memory.search.decay import CORE_IMPORTANCE
from vault_memory.text.calendar_days import Period, finer
from vault_memory.text.output import listed, plural

BLOCK = "summary"

LIMITS = {"week": 400, "month": 600, "year": 800}
"""The maximum tokens of a page, by kind of period."""

SHARE_OF_FACTS = 0.35
"""The maximum size of a page, as a share of the tokens of its facts."""

FEWEST_FACTS, FEWEST_LINES = 3, 2
"""With fewer facts a summary would be longer than they are; with fewer lines it would not be a summary."""

SPARE_CHOICE = 2
"""Facts worth this many times the limit are selected, so that shorter ones can replace those that do not fit."""

IMPORTANT_SHARE = 2
"""The most important facts get the first 1/IMPORTANT_SHARE of the limit; the rest is chosen from all."""

FOLDED_LINKS = 3
"""How many notes the closing line links: one fewer beside links to finer pages, none on a short page."""

TOO_LITTLE = Line("Too little to sum up.", slot="remainder")
"""The content of an existing page whose facts no longer make one."""

_FINER = {"month": "Weeks", "year": "Months"}


def summary(
    period: Period, facts: Sequence[Fact], context: PageContext, paragraph: Sequence[Line] = ()
) -> Draft | None:
    """Draft the page of a period from the facts dated in it; other facts matter only if they supersede one of those.

    None if there is too little to sum up. A given paragraph goes after the opening line. The order of the facts does
    not matter.
    """
    inside = sorted((fact for fact in facts if period.holds(fact.when)), key=timeline_key)
    if len(inside) < FEWEST_FACTS:
        return None
    body = Body(period, inside, context, limit(period, inside, context))
    pages = [context.cite.link(context.layout.summary(name)) for name in finer(period) if name in context.summaries]
    finer_pages = f"{_FINER[period.kind]}: {' '.join(pages)}" if pages else ""
    links = FOLDED_LINKS - bool(pages) if body.with_headings else 0

    def lines(taken: Sequence[Fact]) -> list[Line]:
        """All lines of a page with these facts."""
        rest = folded(inside, taken, links, lambda fact: context.cite.link(fact.path))
        closing = [Line(text) for text in (rest, finer_pages) if text]
        opening = Line(_opening(body, taken))
        return [opening, *paragraph, *body.lines(taken), *([Line(""), *closing] if closing else [])]

    # Omit a fact if its successor was written by the end of the period but is dated outside it. A successor within the
    # period is selected before it (choose_facts.py); one written later does not change how the period was.
    known: dict[int | None, Fact] = {fact.key: fact for fact in facts if fact.day and fact.day <= period.end}
    told = [one for one in inside if (newer := known.get(one.succeeded_by)) is None or period.holds(newer.when)]
    found = lines(_fitting(body, lines, told))
    if sum(bool(line.keys) for line in found) < FEWEST_LINES:
        return None
    # No fact counts here: the block is kept up to date, but the text around it is the user's.
    properties = f"period: {period.name}\nfrom: {period.start}\nto: {period.end}\nwritten: {EXTRACTIVE}\n"
    start = f"---\n{properties}---\n# {period.title}\n"
    return Draft(context.layout.summary(period.name), BLOCK, tuple(found), f"{period.title}: {size(inside)}", start)


def too_little(period: Period, facts: Sequence[Fact]) -> str:
    """The reason why a period with these facts has no page, if it has none."""
    told = f"{period.title} has {plural(len(facts), 'fact')}"
    if len(facts) < FEWEST_FACTS:
        return f"{told}: from {FEWEST_FACTS} on it is summed up."
    return f"{told}, too short or too much alike: a summary is {SHARE_OF_FACTS:.0%} as long as its facts at most."


def size(facts: Sequence[Fact]) -> str:
    """How much a page covers, as it says it: `76 facts on 25 days`."""
    return facts_on_days(len(facts), len({fact.when for fact in facts}))


def limit(period: Period, facts: Sequence[Fact], context: PageContext) -> int:
    """The token limit of a page of these facts; counting stops once LIMITS is reached."""
    most, source = LIMITS[period.kind], 0
    for fact in facts:
        source += fact.tokens or context.count(fact.text)
        if source * SHARE_OF_FACTS >= most:
            return most
    return int(source * SHARE_OF_FACTS)


def _fitting(body: Body, lines: Callable[[Sequence[Fact]], Sequence[Line]], facts: Sequence[Fact]) -> list[Fact]:
    """The facts for the page: important ones first, then best first; each that still fits with the lines around it."""
    keys, taken, room = {fact.key for fact in facts}, list[Fact](), SPARE_CHOICE * body.limit
    turns = Turn(body.limit // IMPORTANT_SHARE, lambda fact: fact.importance >= CORE_IMPORTANCE), Turn(room)
    for fact in chain(*choose_in_turns(facts, body.cost, turns)):
        newer = fact.succeeded_by
        if newer in keys and newer != fact.key and newer not in {one.key for one in taken}:
            continue  # its successor did not fit
        more = [*taken, fact]
        if body.context.tokens(lines(more)) <= body.limit:
            taken = more
    return taken


# --- the opening line ------------------------------------------------------------------------------------------------


def _opening(body: Body, taken: Sequence[Fact]) -> str:
    """What the period was about: `Mostly Tern (24), The Castle (14) and Peter (9); 76 facts on 25 days.`

    It names nothing that no line is about.
    """
    told = {slug for fact in taken for slug in fact.about}
    total, named = len(body.facts), [slug for slug in body.named if slug in told]
    if not named:
        return f"{size(body.facts)}."
    mostly = 2 * sum(not set(named).isdisjoint(fact.about) for fact in body.facts) > total
    names = listed([f"{body.context.link_entity(slug)} ({body.threads[slug]})" for slug in named])
    return f"{'Mostly' if mostly else 'Among others:'} {names}; {size(body.facts)}."
