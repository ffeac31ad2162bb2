"""Finds which facts supersede which, and the fact that settles a matter other lines only mention.

The index stores the facts' claims; whom a name means, and what was known by a day, is decided at query time.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date
from typing import NamedTuple

from vault_memory.markdown import entities, provenance
from vault_memory.markdown.supersession import ANY, STATES, Claim, DatedClaim, successors
from vault_memory.search.candidates import Finder, lives_of
from vault_memory.search.names import Names
from vault_memory.store import note_queries
from vault_memory.store.view import FACTS, Candidate, Filters, View
from vault_memory.text.terms import quoted


class Successor(NamedTuple):
    """The fact that superseded another."""

    id: int
    source: str
    """Its citation: `path#L12` or `path#L12-L14`."""
    header_tokens: int
    instead_of: str = ""
    """The value the older fact claimed, in words: a question for that value wants the older fact."""


def superseded(
    view: View, names: Names, ids: Iterable[int], today: date, filters: Filters, by_each_other: bool = False
) -> dict[int, Successor]:
    """Return the successor of each of these passages superseded by something written by `today` or the filters' days.

    `by_each_other` considers only these passages. A fact of untrusted origin never supersedes a trusted one: a web page
    retires no fact.
    """
    given, last = set(ids), min(day for day in (today, filters.as_of, filters.until) if day)
    rows = [row for row in _rivals(view, names, given, last) if row.passage in given or not by_each_other]
    note_numbers = {path: number for number, path in enumerate(sorted({row.path for row in rows}))}
    claims: list[DatedClaim] = []
    for row in rows:
        since = date.fromisoformat(row.since).toordinal() if row.since else None
        written = date.fromisoformat(row.day).toordinal() if row.day else since
        if (filters.as_of or filters.until) and not written:
            since = date.max.toordinal()  # an undated fact cannot be known to have been written by then
        subject = row.subject if "&" in row.subject else names.canonical(row.subject)
        if row.slot.startswith("^#"):
            subject = row.path  # a block id without a note is one of its own note
        claim = Claim(row.slot, row.value, row.how, bool(row.whole))
        place = note_numbers[row.path], row.line
        claims.append(DatedClaim(row.passage, subject, claim, written, since or written, *place))

    newer = successors(claims, last.toordinal(), given)
    outside = {row.passage for row in rows if not provenance.is_trusted(row.origin)}
    if outside:
        trusted = [claim for claim in claims if claim.key not in outside]
        newer = {old: new for old, new in newer.items() if old in outside}
        newer |= successors(trusted, last.toordinal(), given - outside)

    row_of = {row.passage: row for row in rows}
    values: dict[int, str] = defaultdict(str)
    for row in rows:
        values[row.passage] += f" {row.value}"
    return {
        old: Successor(new, row_of[new].citation, row_of[new].header_tokens, instead_of=values[old])
        for old, new in newer.items()
    }


def _rivals(view: View, names: Names, ids: set[int], last: date) -> list[note_queries.ClaimRow]:
    """Return the claims of these facts and, of any fact, those about the same subjects, or about these very facts."""
    # A fact with a block id can be cited from any note, and without a path from its own.
    cited = [
        note_queries.ClaimRow(passage, "", slot, "", STATES, 1, day, since, path, *place)
        for passage, block_id, day, since, path, *place in note_queries.facts_with_block_ids(view, ids)
        for slot in (f"^{entities.link_name(path)}#{block_id}".casefold(), f"^#{block_id}".casefold())
    ]
    pairs = {(row.slot, "") for row in cited}
    for subject, slot in note_queries.claimed_slots(view, ids):
        # A group ("&") matches only itself; one entity is known by any of its names.
        for known_as in [subject] if "&" in subject else names.slugs(subject):
            pairs |= {(slot, known_as), (ANY, known_as)}
    return [*note_queries.claims_about(view, pairs, last), *cited] if pairs else []


# --- threads -------------------------------------------------------------------------------------------------------

BEST_LINES, FIRST_LINES = 8, 3
"""The question is about what two of the BEST_LINES name, one of them among the FIRST_LINES."""

MOST_FACTS = 50
"""An identifier in more passages than this is no thread but the subject of the vault."""

_IDENTIFIER = re.compile(r"(?<![\w-])(?=[\w.-]*\d)[^\W\d_]\w*(?:[-.]\w+)*")
"""A word that begins with a letter and contains a digit: `HO-212`, `tern-2`, `BN-2025-4471`."""


def leading_facts(best: Sequence[Candidate], finder: Finder, today: date) -> dict[Candidate, int]:
    """Return, for identifiers that the best lines share, the fact more important than those lines → the first of them.

    A question why something happened uses the words of the problem, and so do the guesses it finds; the fact that
    settled the matter has words of its own and shares only an identifier with them: a ticket, a machine, a case.
    """
    naming: dict[str, list[Candidate]] = defaultdict(list)
    for passage in best:
        for name in dict.fromkeys(map(str.casefold, _IDENTIFIER.findall(passage.text))):
            naming[name].append(passage)
    found: dict[Candidate, int] = {}
    for name, lines in naming.items():
        if len(lines) < 2 or lines[0] not in best[:FIRST_LINES]:
            continue
        ids = [i for i, _ in finder.search.lexical([quoted(name)], MOST_FACTS + 1)]
        passages = finder.search.passages(ids) if len(ids) <= MOST_FACTS else {}
        facts = {i: passage for i, passage in passages.items() if passage.kind in FACTS}
        lives = lives_of(finder.view, facts | {line.id: line for line in lines}, today)
        weights = {i: life.importance for i, life in lives.items()}
        most = max(facts, key=lambda i: (weights[i], -(lives[i].age_days or 0), i), default=None)
        others = [weights.get(line.id, 0.0) for line in lines if line.id != most]
        if most is not None and most != lines[0].id and weights[most] > max(others):
            found.setdefault(facts[most], lines[0].id)
    return found
