"""How opinions stand on a page: the statement with its confidence, where it has been going, and why. Pure.

- **.85** Prefers concise replies on WhatsApp — [[2025-11-27]] L14
  - also: Wants short messages — [[2025-10-29]] L16
  - ▅▆▇ rising from .70, last on 27 November 2025
  - stated .70 on 29 October, .85 on 27 November 2025
  - for: Skips messages that need scrolling — [[2025-11-11]] L36
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from vault_memory.markdown import fact_text
from vault_memory.reflect.beliefs import HeldOpinion
from vault_memory.reflect.blocks import Line, short
from vault_memory.reflect.confidence import shown
from vault_memory.reflect.model import Fact
from vault_memory.reflect.periods import long
from vault_memory.reflect.sections import PageContext, unlinked
from vault_memory.reflect.select import in_order

BLOCK = "opinions"
PATH = "bank/opinions.md"

PAGE_TOKENS = 4000
"""What a page of opinions may cost; those that are least sure, and oldest, are folded away first."""

LEAST_TOKENS = 12
"""No opinion with its citation costs less."""

FRAME_TOKENS = 30
"""The heading, and the line that counts what is folded."""

TEXT_TOKENS = 44

STATED = 3
"""So many of the numbers it was stated with are told, the newest."""


class Detail(NamedTuple):
    """How many facts are named that speak for an opinion, against it or unclearly; and how many other wordings."""

    supports: int = 3
    contradicts: int = 3
    related: int = 1
    wordings: int = 2


def page(opinions: Sequence[HeldOpinion], context: PageContext, tokens: int = PAGE_TOKENS) -> tuple[Line, ...]:
    """The block of bank/opinions.md: by whom they are about, those with most opinions first."""
    if not opinions:
        return ()
    lines = [Line("## As the logs have it")]
    kept = _fitting(opinions, context, tokens - FRAME_TOKENS)
    for subject, of_subject in _by_subject([opinion for opinion in opinions if id(opinion) in kept]):
        told = [line for opinion in of_subject for line in kept[id(opinion)]]
        lines += [Line(""), Line(_title(subject, context)), Line(""), *told]
    folded = len(opinions) - len(kept)
    if folded:
        lines += [Line(""), Line(f"…and {folded:,} more: see `memory opinions`.", slot="folded")]
    return tuple(lines)


def _fitting(opinions: Sequence[HeldOpinion], context: PageContext, tokens: int) -> Mapping[int, Sequence[Line]]:
    """The entries that there is room for, by the opinion's id: the surest, and of those as sure the newest, first."""
    kept: dict[int, Sequence[Line]] = {}
    titled: set[str] = set()
    for one in sorted(opinions, key=lambda one: (-one.belief.shown, -(one.updated or date.min).toordinal())):
        if tokens < LEAST_TOKENS:
            break
        lines, subject = tuple(entry(one, context)), _subject(one)
        cost = context.count("\n".join(line.text for line in lines)) + 1
        if subject not in titled:
            cost += context.count(_title(subject, context)) + 3
        if cost <= tokens:
            tokens -= cost
            kept[id(one)] = lines
            titled.add(subject)
    return kept


def _subject(opinion: HeldOpinion) -> str:
    return next(iter(opinion.subjects), "")


def _title(subject: str, context: PageContext) -> str:
    return f"### {unlinked(context.shown(subject)) if subject else 'Everything else'}"


def _by_subject(opinions: Sequence[HeldOpinion]) -> list[tuple[str, list[HeldOpinion]]]:
    found: dict[str, list[HeldOpinion]] = defaultdict(list)
    for opinion in opinions:
        found[_subject(opinion)].append(opinion)
    return sorted(found.items(), key=lambda pair: (not pair[0], -len(pair[1]), pair[0]))


def entry(opinion: HeldOpinion, context: PageContext, detail: Detail | None = None) -> Iterator[Line]:
    """One opinion with what speaks for and against it."""
    detail = detail or Detail()
    name, of = short(opinion.statement.key), short(opinion.told[0].key)
    yield Line(f"- **{decimal(opinion.belief.shown)}** {_told(opinion.statement, context)}", (opinion.statement.key,))
    for fact in _other_wordings(opinion, context)[: detail.wordings]:
        yield Line(f"  - also: {_told(fact, context)}", (fact.key,), of=of)
    if opinion.belief.history:
        yield Line(f"  - {_course(opinion)}", slot=f"course {name}")
    if len(opinion.stated) > 1:
        yield Line(f"  - {_stated(opinion)}", slot=f"stated {name}")
    for word, facts, most in (
        ("for", opinion.supports, detail.supports),
        ("against", opinion.contradicts, detail.contradicts),
        ("related", opinion.related, detail.related),
    ):
        worded = _newest_of_each(facts, context)
        for fact in worded[:most]:
            yield Line(f"  - {word}: {_told(fact, context)}", (fact.key,), of=of)
        if len(worded) > most and word != "related":
            yield Line(f"  - {word}: {len(worded) - most} more", slot=f"{word} {name}")


def _other_wordings(opinion: HeldOpinion, context: PageContext) -> list[Fact]:
    """The newest statement of each other wording of an opinion."""
    if len(opinion.told) == 1:  # as nearly all are
        return []
    own = _worded(opinion.statement, context)
    return [fact for fact in _newest_of_each(opinion.told, context) if _worded(fact, context) != own]


def _newest_of_each(facts: Sequence[Fact], context: PageContext) -> list[Fact]:
    """The newest of those that say the same on a page, newest first."""
    newest = {_worded(fact, context): fact for fact in sorted(facts, key=in_order)}
    return sorted(newest.values(), key=in_order, reverse=True)


def _worded(fact: Fact, context: PageContext) -> str:
    return fact_text.readable(fact.text, context.exists).casefold()


def _told(fact: Fact, context: PageContext) -> str:
    text = fact_text.clipped(fact_text.readable(fact.text, context.exists), TEXT_TOKENS, context.count)
    return f"{text} — {context.cite.of(fact)}"


def _course(opinion: HeldOpinion) -> str:
    """Where the confidence has been going, from where, and since when it has not."""
    belief, day = opinion.belief, opinion.updated
    start = f" from {decimal(shown(belief.prior))}" if shown(belief.prior) != belief.shown else ""
    last = f", last on {long(day)}" if day else ""
    return f"{belief.sparkline} {belief.trend}{start}{last}"


def _stated(opinion: HeldOpinion) -> str:
    """The last numbers it was stated with: `stated .60 on 18 March, .85 on 20 March 2025`."""
    last = opinion.stated[-STATED:]
    days = [day for day, _ in last]
    told = (
        f"{decimal(number)} on {long(day, beside)}"
        for (day, number), beside in zip(last, [*days[1:], None], strict=True)
    )
    return f"stated {', '.join(told)}"


def decimal(value: float) -> str:
    """A confidence as `.85`."""
    return f"{value:.2f}".lstrip("0")
