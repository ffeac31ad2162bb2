"""Drafts the page of a period: what a week, a month or a year was about, in words its facts already hold. Pure.

Law 5: a page is selected from the facts dated in the period, cites the notes they stand in, and takes no text from
other pages; those of finer periods are only linked. It has a limit of tokens, and is never more than a share of the
facts it stands for; what does not fit is counted and said. Same facts, same bytes.
"""

from collections.abc import Callable, Sequence

from vault_memory.reflect.choose_facts import Turn, Weights, choose_in_turns
from vault_memory.reflect.edit_plan import EXTRACTIVE, Draft
from vault_memory.reflect.fact import Fact, timeline_key
from vault_memory.reflect.fact_lines import Body, PageContext, folded
from vault_memory.reflect.generated_blocks import Line
from vault_memory.text.calendar_days import Period, finer
from vault_memory.text.output import listed, plural

BLOCK = "summary"

LIMITS = {"week": 400, "month": 600, "year": 800}
"""The most tokens a page has, by the kind of its period."""

SHARE_OF_FACTS = 0.35
"""A page has at most this share of the tokens of its facts."""

FEWEST_FACTS, FEWEST_LINES = 3, 2
"""Of fewer facts a summary is longer than they are; what tells fewer is none."""

SPARE_CHOICE = 2
"""So many times the limit is chosen: what is too long for the room that is left makes place for what is not."""

FOLDED_LINKS = 3
"""How many notes the closing line links: less beside links to finer pages, none on a short page."""

TOO_LITTLE = Line("Too little to sum up.", slot="remainder")
"""What a page says whose facts would not make one any more."""

_FINER = {"month": "Weeks", "year": "Months"}


def summary(
    period: Period, facts: Sequence[Fact], context: PageContext, paragraph: Sequence[Line] = ()
) -> Draft | None:
    """The page of a period from the facts dated in it; of the others only whether they took a fact's place counts.

    None where there is too little to sum up. A paragraph that somebody else wrote stands behind its opening line. The
    order of the facts plays no part.
    """
    inside = sorted((fact for fact in facts if period.holds(fact.when)), key=timeline_key)
    if len(inside) < FEWEST_FACTS:
        return None
    body = Body(period, inside, context, limit(period, inside, context))
    opening = Line(_opening(body))
    pages = [context.cite.link(context.layout.summary(name)) for name in finer(period) if name in context.summaries]
    links = FOLDED_LINKS - bool(pages) if body.with_headings else 0

    def lines(taken: Sequence[Fact]) -> list[Line]:
        """All lines of a page that tells these facts."""
        closing = [folded(inside, taken, links, lambda fact: context.cite.link(fact.path))]
        if pages:
            closing.append(f"{_FINER[period.kind]}: {' '.join(pages)}")
        closing = [line for line in closing if line]
        return [opening, *paragraph, *body.lines(taken), *([Line(""), *map(Line, closing)] if closing else [])]

    # Without those of which was known by its end that they hold no more. What took a fact's place within the period is
    # told before it (choose_facts.py); what did so on a day after it ended changes nothing in how the period was.
    known: dict[int | None, Fact] = {fact.key: fact for fact in facts if fact.day and fact.day <= period.end}
    told = [one for one in inside if (newer := known.get(one.succeeded_by)) is None or period.holds(newer.when)]
    found = lines(_fitting(body, lines, told))
    if sum(bool(line.keys) for line in found) < FEWEST_LINES:
        return None
    # Without how many facts there are: the block is kept up to date, but what stands around it is the user's.
    properties = f"period: {period.name}\nfrom: {period.start}\nto: {period.end}\nwritten: {EXTRACTIVE}\n"
    start = f"---\n{properties}---\n# {period.title}\n"
    return Draft(context.layout.summary(period.name), BLOCK, tuple(found), f"{period.title}: {size(inside)}", start)


def too_little(period: Period, facts: Sequence[Fact]) -> str:
    """Why a period with these facts, if it has no page, has none."""
    told = f"{period.title} has {plural(len(facts), 'fact')}"
    if len(facts) < FEWEST_FACTS:
        return f"{told}: from {FEWEST_FACTS} on it is summed up."
    return f"{told}, too short or too much alike: a summary is {SHARE_OF_FACTS:.0%} as long as its facts at most."


def size(facts: Sequence[Fact]) -> str:
    """How much a page stands for, as it says it: `76 facts on 25 days`."""
    days = len({fact.when for fact in facts})
    return f"{plural(len(facts), 'fact')} on {plural(days, 'day')}"


def limit(period: Period, facts: Sequence[Fact], context: PageContext) -> int:
    """The tokens that a page of these facts may have; they are only counted as far as it matters."""
    most, source = LIMITS[period.kind], 0
    for fact in facts:
        source += fact.tokens or context.count(fact.text)
        if source * SHARE_OF_FACTS >= most:
            return most
    return int(source * SHARE_OF_FACTS)


def _fitting(body: Body, lines: Callable[[Sequence[Fact]], Sequence[Line]], facts: Sequence[Fact]) -> list[Fact]:
    """The facts that the page tells: the best first, each that still fits with all that stands around it."""
    keys, taken, room = {fact.key for fact in facts}, list[Fact](), SPARE_CHOICE * body.limit
    (chosen,) = choose_in_turns(facts, room, Weights(body.context.stems, body.cost), [Turn(room)])
    for fact in chosen:
        newer = fact.succeeded_by
        if newer in keys and newer != fact.key and newer not in {one.key for one in taken}:
            continue  # it found no room
        more = [*taken, fact]
        if body.context.tokens(lines(more)) <= body.limit:
            taken = more
    return taken


# --- what stands around the facts ------------------------------------------------------------------------------------


def _opening(body: Body) -> str:
    """What the period was about: `Mostly Tern (24), The Castle (14) and Peter (9); 76 facts on 25 days.`"""
    total, named = len(body.facts), body.named
    if not named:
        return f"{size(body.facts)}."
    mostly = 2 * sum(not set(named).isdisjoint(fact.about) for fact in body.facts) > total
    names = listed([f"{body.context.link_entity(slug)} ({body.threads[slug]})" for slug in named])
    return f"{'Mostly' if mostly else 'Among others:'} {names}; {size(body.facts)}."
