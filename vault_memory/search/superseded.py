"""Which of the facts found were superseded, and where the fact stands that took their place.

The claims lie in the index; who is meant by a name, and what was known by a day, is decided when asked.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from vault_memory.markdown import provenance
from vault_memory.markdown.supersede import ANY, STATES, Claim, DatedClaim, naming_slots, successors
from vault_memory.search.names import Names
from vault_memory.store import search_rows
from vault_memory.store.filters import Filters
from vault_memory.store.view import View

if TYPE_CHECKING:
    from vault_memory.search.entities import FactLine


class Successor(NamedTuple):
    """The fact that took another's place."""

    id: int
    path: str
    start_line: int
    end_line: int
    header_tokens: int
    instead_of: str = ""
    """What the older claimed, in words: who asks for that very thing wants the older."""

    @property
    def source(self) -> str:
        """The citation: `path#L12` or `path#L12-L14`."""
        lines = f"#L{self.start_line}" + (f"-L{self.end_line}" if self.end_line > self.start_line else "")
        return self.path + lines


def superseded(
    store: View, names: Names, ids: Iterable[int], today: date, filters: Filters, by_each_other: bool = False
) -> dict[int, Successor]:
    """Which of these passages were superseded by what was written by `today` (or the filters' days and scopes).

    `by_each_other` leaves all others out, as if they were not there. What came from outside takes the place of nothing
    that anybody here wrote: a web page retires no fact.
    """
    given = set(ids)
    asked, named = search_rows.claimed_slots(store, given), _named(store, given)
    if not asked and not named:
        return {}
    subjects = {subject: _meaning(names, subject) for subject, _ in asked}
    pairs = {(slot, same) for subject, slot in asked for same in subjects[subject][1]}
    pairs |= {(ANY, subject) for _, subject in pairs} | {(row[2], "") for row in named}
    last = min(day for day in (today, filters.as_of, filters.until) if day)
    rows = [*search_rows.claims_about(store, pairs, last, filters.scopes), *named]
    outside = {row[0] for row in rows if not provenance.is_trusted(row[-1])}
    notes = {path: number for number, path in enumerate(sorted({str(row[8]) for row in rows}))}
    told = [_dated(names, row, notes) for row in rows]
    if filters.as_of or filters.until:
        # Nobody knows whether what has no day was written by then.
        told = [one if one.day else one._replace(since=date.max.toordinal()) for one in told]
    if by_each_other:
        told = [one for one in told if one.key in given]
    after = successors(told, last.toordinal(), given)
    if outside:
        own = [one for one in told if one.key not in outside]
        after = {old: new for old, new in after.items() if old in outside} | dict(
            successors(own, last.toordinal(), given - outside)
        )
    found = {old: new for old, new in after.items() if old in given}
    places = {row[0]: Successor(*row) for row in search_rows.places(store, found.values())}
    said: dict[int, str] = {}
    for one in told:
        said[one.key] = f"{said.get(one.key, '')} {one.claim.value}"
    return {old: places[new]._replace(instead_of=said[old]) for old, new in found.items()}


def marked(store: View, facts: "Sequence[FactLine]", today: date) -> "list[FactLine]":
    """The same facts in the same order, each with where the fact stands that took its place."""
    places = {(fact.path, fact.start_line) for fact in facts}
    rows = search_rows.fact_lines(store, {path for path, _ in places})
    ids = {(path, line): passage for path, line, passage in rows if (path, line) in places}
    after = superseded(store, Names(store), ids.values(), today, Filters())
    newer = (after.get(ids[fact.path, fact.start_line]) for fact in facts)
    return [replace(fact, superseded_by=new.source) if new else fact for fact, new in zip(facts, newer, strict=True)]


def _named(store: View, ids: Iterable[int]) -> list[search_rows.ClaimRow]:
    """The facts with a block id among these, under the slots by which others may name them."""
    return [
        (key, "", slot, "", STATES, 1, day, since, path, line, origin)
        for key, block_id, day, since, path, line, origin in search_rows.facts_with_block_ids(store, ids)
        for slot in naming_slots(path, block_id)
    ]


def _dated(names: Names, row: search_rows.ClaimRow, notes: Mapping[str, int]) -> DatedClaim:
    key, subject, slot, value, how, whole, day, since, path, line, _ = row
    begins = date.fromisoformat(since).toordinal() if since else None
    mentioned = date.fromisoformat(day).toordinal() if day else begins
    return DatedClaim(
        key=key,
        subject=path if slot.startswith("^#") else _meaning(names, subject)[0],
        claim=Claim(slot, value, how, bool(whole)),
        day=mentioned,
        since=begins or mentioned,
        note=notes[path],
        line=line,
    )


def _meaning(names: Names, subject: str) -> tuple[str, list[str]]:
    """Who is meant by a subject, and every way that is written; of several heads only the very same ones."""
    if not subject or "&" in subject:
        return subject, [subject]
    return names.canonical(subject), names.slugs(subject)
