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
from vault_memory.search.candidates import Finder
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
    given = set(ids)
    asked = note_queries.claimed_slots(view, given)
    # Facts with a block id, under the slots others may cite them by: from any note, and from within their own.
    named: list[note_queries.ClaimRow] = [
        (key, "", slot, "", STATES, 1, day, since, path, *place)
        for key, block_id, day, since, path, *place in note_queries.facts_with_block_ids(view, given)
        for slot in (f"^{entities.link_name(path)}#{block_id}".casefold(), f"^#{block_id}".casefold())
    ]
    if not asked and not named:
        return {}
    # A group ("&") matches only itself; one entity is known by any of its names.
    written = {subject: [subject] if "&" in subject else names.slugs(subject) for subject, _ in asked}
    pairs = {(slot, same) for subject, slot in asked for same in written[subject]}
    pairs |= {(ANY, subject) for _, subject in pairs} | {(row[2], "") for row in named}
    last = min(day for day in (today, filters.as_of, filters.until) if day)
    rows = [*note_queries.claims_about(view, pairs, last), *named]
    outside = {row[0] for row in rows if not provenance.is_trusted(row[10])}
    notes = {path: number for number, path in enumerate(sorted({str(row[8]) for row in rows}))}
    told: list[DatedClaim] = []
    for key, subject, slot, value, how, whole, day, since, path, line, *_ in rows:
        if by_each_other and key not in given:
            continue
        begins = date.fromisoformat(since).toordinal() if since else None
        mentioned = date.fromisoformat(day).toordinal() if day else begins
        if (filters.as_of or filters.until) and not mentioned:
            begins = date.max.toordinal()  # an undated fact cannot be known to have been written by then
        same = path if slot.startswith("^#") else subject if "&" in subject else names.canonical(subject)
        claim = Claim(slot, value, how, bool(whole))
        told.append(DatedClaim(key, same, claim, mentioned, begins or mentioned, notes[path], line))
    after = successors(told, last.toordinal(), given)
    if outside:
        own = [one for one in told if one.key not in outside]
        after = {old: new for old, new in after.items() if old in outside} | dict(
            successors(own, last.toordinal(), given - outside)
        )
    places = {row[0]: row[11:] for row in rows}
    said: dict[int, str] = defaultdict(str)
    for one in told:
        said[one.key] += f" {one.claim.value}"
    return {old: Successor(new, *places[new], instead_of=said[old]) for old, new in after.items() if old in given}


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
        lives = finder.lives(facts | {line.id: line for line in lines}, today)
        weights = {i: life.importance for i, life in lives.items()}
        most = max(facts, key=lambda i: (weights[i], -(lives[i].age_days or 0), i), default=None)
        others = [weights.get(line.id, 0.0) for line in lines if line.id != most]
        if most is not None and most != lines[0].id and weights[most] > max(others):
            found.setdefault(facts[most], lines[0].id)
    return found
