"""Owns how opinions are told: as text, and as the `opinions@1` document. It decides nothing."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from vault_memory.markdown import provenance
from vault_memory.markdown.fact_text import readable
from vault_memory.rendering.plot import cut
from vault_memory.rendering.render import Document, clean, place, schema, superseded

if TYPE_CHECKING:
    from vault_memory.reflect.opinion_query import Opinion
    from vault_memory.search.entities import FactLine

MARGIN = " " * 13
"""What stands below an opinion begins where its statement does."""

LISTS = ("evidence", "supports", "contradicts", "related", "history")

TEXT_CELLS = 100
"""So much is shown of a fact that speaks for or against; with the whole history all of it."""


def document(opinions: "Sequence[Opinion]") -> Document:
    """The `opinions@1` document."""
    return schema("opinions") | {"opinions": [_fields(opinion) for opinion in opinions]}


def _fields(opinion: "Opinion") -> Document:
    """As dataclasses.asdict has it, but for 20,000 opinions that takes as long as all else."""
    lists = {name: [vars(one) for one in getattr(opinion, name)] for name in LISTS}
    return vars(opinion) | lists


def text(opinions: "Sequence[Opinion]", history: bool) -> str:
    """An opinion a line, below it where it has been going and the newest for and against; all of them on wish."""
    lines: list[str] = []
    for opinion in opinions:
        lines.append(_statement(opinion))
        lines += (MARGIN + line for line in (_history(opinion) if history else _in_short(opinion)))
    return "\n".join(lines)


def _statement(opinion: "Opinion") -> str:
    newest = _newest(opinion)
    about = f"{', '.join(map(clean, opinion.entities))}: " if opinion.entities else ""
    private = f"  (private to {clean(opinion.scope)})" if opinion.scope != "global" else ""
    return (
        f"{opinion.confidence:.2f} {opinion.trend:7} {about}{_said(opinion.statement)}"
        f"  ({_place(newest)}){private}{superseded(opinion.superseded_by, newest.path)}"
    )


def _newest(opinion: "Opinion") -> "FactLine":
    """Where the statement stands."""
    return next((line for line in opinion.evidence if line.text == opinion.statement), opinion.evidence[0])


def _in_short(opinion: "Opinion") -> Iterator[str]:
    marks = f"{opinion.sparkline} " if len(opinion.sparkline) > 1 else ""
    start = opinion.history[0] if opinion.history else None
    if start and (marks or start.confidence != opinion.confidence):
        yield f"{marks}from {start.confidence:.2f} on {start.date}"
    if opinion.set_by_hand:
        yield f"set by hand on {opinion.set_by_hand}"
    for word, facts in (("for", opinion.supports), ("against", opinion.contradicts)):
        for fact in facts[:1]:
            more = f", and {len(facts) - 1:,} more" if len(facts) > 1 else ""
            yield f"{word + ':':8} {cut(_said(fact.text), TEXT_CELLS)}  ({_place(fact)}){more}"


def _history(opinion: "Opinion") -> Iterator[str]:
    """Every fact it rests on, the newest first, with how sure it left one at the end of its day."""
    every = [("stated", line) for line in opinion.evidence]
    every += [("for", line) for line in opinion.supports] + [("against", line) for line in opinion.contradicts]
    every.sort(key=lambda one: one[1].date or "", reverse=True)
    rows = [(line.date or "", f"{_day(opinion, line.date)}{_row(opinion, word, line)}") for word, line in every]
    if opinion.set_by_hand:
        by_hand = (opinion.set_by_hand, f"{_day(opinion, opinion.set_by_hand)}set by hand")
        rows.insert(sum(day > opinion.set_by_hand for day, _ in rows), by_hand)
    yield from (row for _, row in rows)
    yield from (f"{'related:':18}{_said(fact.text)}  ({_place(fact)})" for fact in opinion.related)


def _day(opinion: "Opinion", day: str | None) -> str:
    known = [moment.confidence for moment in opinion.history if day and moment.date <= day]
    return f"{day or 'undated':10}  {f'{known[-1]:.2f}' if known else '':4}  "


def _row(opinion: "Opinion", word: str, line: "FactLine") -> str:
    if word == "stated":
        word = f"stated {line.confidence:.2f}" if line.confidence is not None else word
        if line.text == opinion.statement:
            return f"{word:12} {_place(line)}"
    return f"{word:12} {_said(line.text)}  ({_place(line)})"


def _said(text: str) -> str:
    """A fact as it reads on a page, where no link leads anywhere."""
    return clean(readable(text, lambda _: False))


def _place(line: "FactLine") -> str:
    return f"{place(line.path)}#L{line.start_line}{provenance.mark(line.by)}"
