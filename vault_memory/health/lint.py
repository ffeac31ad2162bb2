"""Owns lint: every finding about the notes' format, and what stands in them again although it was forgotten."""

import difflib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from vault_memory.markdown.note import Problem
from vault_memory.search.names import Names
from vault_memory.store import journal, queries
from vault_memory.store.view import View
from vault_memory.vault.walk import Walk

if TYPE_CHECKING:
    from vault_memory.indexing.indexer import Progress, Report
    from vault_memory.memory import Memory


def lint(memory: "Memory", progress: "Progress | None" = None) -> list[Problem]:
    """Every finding about the notes' format: stored ones, files passed over, names that look like slips of others."""
    return memory.index_file.read(
        lambda store, freshness: _problems(store, memory.vault.walk(), freshness.report), progress
    )


def _problems(store: View, walk: Walk, report: "Report | None") -> list[Problem]:
    found = [Problem(*row) for row in queries.note_problems(store)]
    found += walk.skipped
    found += report.failed if report else []
    found += _lookalikes(store)
    found += _come_back(store)
    found += _claimed(store)
    return sorted(set(found))


def _lookalikes(store: View) -> Iterator[Problem]:
    """Names mentioned once that nearly equal a page's name: suggested, never resolved."""
    names = Names(store)
    pages = queries.page_slugs(store)
    for text, slug, path, line in queries.names_mentioned_once(store):
        close = difflib.get_close_matches(slug, pages, n=1, cutoff=0.84) if len(slug) > 3 else []
        if close:
            yield Problem(path, line, f"`{text}` looks like `{names.shown(names.canonical(close[0]))}`: the same?")


def _claimed(store: View) -> Iterator[Problem]:
    """Aliases that several pages claim, and pages that are copies: what they name is nobody's, or the original's."""
    names = Names(store)
    for slug, paths in names.claimed.items():
        for path in paths:
            others = " and ".join(other for other in paths if other != path)
            what = f"the alias `{slug}` is claimed by {others} too: `@{slug}` means none of them"
            yield Problem(path, 1, what, "warning")
    for path, original in names.copies.items():
        yield Problem(path, 1, f"looks like a copy of {original}: it names nobody; merge and delete it", "warning")


def _come_back(store: View) -> Iterator[Problem]:
    """Facts that were forgotten and stand in a note again; recall finds them, for the notes are the truth."""
    days = journal.forgotten(store)
    if not days:
        return
    for path, line, text in queries.fact_texts(store):
        day = days.get(journal.passage_key(text))
        if day:
            what = f"forgotten on {day}, and here again: delete it, or `memory retain` it to keep it"
            yield Problem(path, line, what)
