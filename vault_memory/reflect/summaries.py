"""Drafts the page of a period: what a week, a month or a year was about, in words its facts already hold. Pure.

Law 5: a page is selected from the facts dated in the period, cites the notes they stand in, and takes no text from
other pages; those of finer periods are only linked. It has a limit of tokens, and is never more than a share of the
facts it stands for; what does not fit is counted and said. Same facts, same bytes.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from vault_memory.reflect.blocks import Line
from vault_memory.reflect.fact import Citations, Fact
from vault_memory.reflect.periods import Period, finer, page_of
from vault_memory.reflect.plan import EXTRACTIVE
from vault_memory.reflect.sections import Body, PageContext, counted
from vault_memory.reflect.select import Weights, chosen, in_order
from vault_memory.search.decay import OLD_DAYS
from vault_memory.text.spans import plus

LIMITS = {"week": 400, "month": 600, "year": 800}
"""The most tokens a page has, by the kind of its period."""

SHARE = 0.35
"""A page has at most this share of the tokens of its facts."""

FEWEST = 3
"""Of fewer facts a summary is longer than they are."""

FEWEST_LINES = 2
"""What tells fewer facts is none."""

CITATION_TOKENS = 14
"""What a line of the page costs beside its text."""

SPARE = 2
"""So many times the limit is chosen: what is too long for the room that is left makes place for what is not."""

FOLDED = 3
"""How many notes the closing line links: less beside links to finer pages, none on a short page."""

_FINER = {"month": "Weeks", "year": "Months"}


_Told = tuple[str, tuple[Fact, ...]]


class SummaryDraft(NamedTuple):
    """A page's text as the lines of its block, and its flat properties."""

    title: str
    path: str
    told: tuple[tuple[str, tuple[Fact, ...]], ...]
    """Each line with the facts it cites: none for the opening, a heading or an empty line."""
    properties: Mapping[str, str]
    folded: int
    """How many of the period's facts are not told, only counted."""
    block: tuple[Line, ...] = ()
    """The same lines as those of a block."""

    @property
    def start(self) -> str:
        """How a new page begins, before its block."""
        properties = "".join(f"{key}: {value}\n" for key, value in self.properties.items())
        return f"---\n{properties}---\n# {self.title}\n"

    @property
    def lines(self) -> tuple[str, ...]:
        """The text of the lines."""
        return tuple(text for text, _ in self.told)

    @property
    def cited(self) -> tuple[Fact, ...]:
        """The facts that are cited, in the order of the citations."""
        return tuple(fact for _, cited in self.told for fact in cited)


class TooLittle(NamedTuple):
    """Why a period has no page, as a sentence."""

    reason: str


def summary(period: Period, facts: Sequence[Fact], context: PageContext, free: int = 0) -> SummaryDraft | TooLittle:
    """The page of a period from the facts dated in it; of the others only whether they took a fact's place counts.

    So many tokens of its limit are left `free` for what somebody else has to say.
    Their order plays no part. Whoever makes many pages had better give each only its own facts and their successors.
    """
    inside = sorted((fact for fact in facts if period.holds(fact.when)), key=in_order)
    if len(inside) < FEWEST:
        return too_little(period, inside)
    body = Body(period, inside, context, limit(period, inside, context))
    frame = _frame(body)
    taken = _fitted(body, frame, _standing(facts, period), free)
    told = body.lines(taken)
    if sum(bool(cited) for _, cited in told) < FEWEST_LINES:
        return too_little(period, inside)
    folded = len(inside) - len(taken)
    whole = tuple(frame.around(told, taken))
    block = tuple(body.line(text, cited) for text, cited in whole)
    return SummaryDraft(period.title, period.path, whole, _properties(period), folded, block)


def remainder(period: Period, facts: Sequence[Fact], context: PageContext) -> tuple[Line, ...]:
    """What a page says whose facts would not make one any more: how many there still are, and where; none of them."""
    inside = sorted((fact for fact in facts if period.holds(fact.when)), key=in_order)
    body = Body(period, inside, context, limit(period, inside, context))
    notes = Counter(fact.path for fact in inside)
    fullest = sorted(notes, key=lambda path: (-notes[path], path))[:FOLDED]
    where = _and([f"{context.cite.link(path)} ({notes[path]})" for path in fullest])
    among = "it stands in" if len(fullest) == len(notes) else "most of it stands in"
    return Line(_opening(body)), Line(""), Line(f"Too little to sum up; {among} {where}.", slot="remainder")


def too_little(period: Period, facts: Sequence[Fact]) -> TooLittle:
    """Why a period with these facts, if it has no page, has none."""
    size = f"{period.title} has {counted(len(facts), 'fact')}"
    if len(facts) < FEWEST:
        return TooLittle(f"{size}: from {FEWEST} on it is summed up.")
    if len({fact.key for fact in facts}) < FEWEST_LINES:
        return TooLittle(f"{size}, all in the same words.")
    return TooLittle(
        f"{size}, all short: a summary is {SHARE:.0%} as long as its facts at most,"
        " and that holds no two of them with their sources."
    )


def size(facts: Sequence[Fact]) -> str:
    """How much a page stands for, as it says it: `76 facts on 25 days`."""
    days = len({fact.when for fact in facts})
    return f"{counted(len(facts), 'fact')} on {counted(days, 'day')}"


def limit(period: Period, facts: Sequence[Fact], context: PageContext) -> int:
    """The tokens that a page of these facts may have; they are only counted as far as it matters."""
    most, source = LIMITS[period.kind], 0
    for fact in facts:
        source += context.source_tokens(fact)
        if source * SHARE >= most:
            return most
    return int(source * SHARE)


def _standing(facts: Sequence[Fact], period: Period) -> list[Fact]:
    """The period's facts without those of which was known by its end that they hold no more.

    What took a fact's place within the period is told before it (select.py); what did so on a day after the period
    ended changes nothing in how the period was.
    """
    known = {fact.key: fact for fact in facts if fact.day is not None and fact.day <= period.end}
    inside = [fact for fact in facts if period.holds(fact.when)]
    newer = [known.get(fact.succeeded_by) if fact.succeeded_by is not None else None for fact in inside]
    return [one for one, other in zip(inside, newer, strict=True) if other is None or period.holds(other.when)]


def _fitted(body: Body, frame: "_Frame", facts: Sequence[Fact], free: int) -> list[Fact]:
    """The facts that the page tells: the best first, each that still fits with all that stands around it."""
    count = body.context.count

    def cost(fact: Fact) -> int:
        """Near enough to choose by: whether a line really fits is measured below, with all that stands around it."""
        return min(count(fact.text), body.most) + CITATION_TOKENS

    weigh = Weights(body.context.stems, body.context.rarity, cost, old_before=plus(body.period.end, -OLD_DAYS))
    keys = {fact.key for fact in facts}
    taken: list[Fact] = []
    told: set[int] = set()
    for fact in chosen(facts, SPARE * body.limit, weigh):
        if fact.succeeded_by in keys - told - {fact.key}:
            continue  # what took its place found no room
        more = [*taken, fact]
        if count("\n".join(line for line, _ in frame.around(body.lines(more), more))) <= body.limit - free:
            taken = more
            told.add(fact.key)
    return taken


# --- what stands around the facts ------------------------------------------------------------------------------------


class _Frame(NamedTuple):
    """What is the same whichever facts are told: the opening line, how many facts each note has, the line of links."""

    opening: str
    notes: Counter[str]
    finer: str
    cite: Citations
    links: int

    def around(self, told: Sequence[_Told], taken: Sequence[Fact]) -> list[_Told]:
        """All lines of the page, each with the facts it cites."""
        closing = [line for line in (self._folded(taken), self.finer) if line]
        return [(self.opening, ()), *told, *((line, ()) for line in (["", *closing] if closing else []))]

    def _folded(self, taken: Sequence[Fact]) -> str:
        """How many facts are folded away, and the notes that hold most of them; "" where none is."""
        folded = self.notes - Counter(fact.path for fact in taken)
        if not folded:
            return ""
        fullest = sorted(folded, key=lambda path: (-folded[path], path))[: self.links]
        more = counted(folded.total(), "more fact")
        if not fullest:
            return f"…and {more}."
        links = _and([f"{self.cite.link(path)} ({folded[path]})" for path in fullest])
        among = "on" if len(fullest) == len(folded) else "the most on"
        return f"…and {more}, {among} {links}."


def _frame(body: Body) -> _Frame:
    pages = _finer_pages(body.period, body.context)
    links = FOLDED - bool(pages) if body.with_headings else 0
    return _Frame(_opening(body), Counter(fact.path for fact in body.facts), pages, body.context.cite, links)


def _opening(body: Body) -> str:
    """What the period was about: `Mostly Tern (24), The Castle (14) and Peter (9); 76 facts on 25 days.`"""
    total, named = len(body.facts), body.named
    if not named:
        return f"{size(body.facts)}."
    mostly = 2 * sum(not set(named).isdisjoint(fact.about) for fact in body.facts) > total
    names = _and([f"{body.context.shown(slug)} ({body.threads[slug]})" for slug in named])
    return f"{'Mostly' if mostly else 'Among other things'} {names}; {size(body.facts)}."


def _finer_pages(period: Period, context: PageContext) -> str:
    """The links to the pages of the finer periods that there are, or ""."""
    pages = [context.cite.link(page_of(name)) for name in finer(period) if name in context.summaries]
    return f"{_FINER[period.kind]}: {' '.join(pages)}" if pages else ""


def _properties(period: Period) -> dict[str, str]:
    # Without how many facts there are: the block is kept up to date, but what stands around it is the user's.
    return {
        "period": period.name,
        "from": period.start.isoformat(),
        "to": period.end.isoformat(),
        "written": EXTRACTIVE,
    }


def _and(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
