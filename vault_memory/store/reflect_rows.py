"""What reflect reads from the index, and what it notes there of the pages it wrote."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from vault_memory.store.rows import KINDS, Store
from vault_memory.store.view import View

_FACTS = """
SELECT p.id, p.kind, f.narrative, n.path, p.start_line, p.end_line, n.day, f.occurred_from, f.occurred_to,
  coalesce(p.scope, n.scope), p.text, f.confidence, f.importance, f.block_id, f.key, f.decided, f.wording, NULL,
  coalesce(p.origin, n.origin), p.tokens, p.start_line
FROM fact f CROSS JOIN passage p ON p.id = f.passage_id CROSS JOIN note n ON n.id = p.note_id
WHERE f.part = 0 ORDER BY n.day, n.path, p.start_line
"""
_INFERRED = """
SELECT -p.id * 10000 - i.line, i.kind, i.text, n.path, i.line, i.line, n.day, i.occurred_from, i.occurred_to,
  coalesce(p.scope, n.scope), p.text, NULL, NULL, NULL, i.key, i.decided, 0, coalesce(i.speaker, ''),
  coalesce(p.origin, n.origin), p.tokens, p.start_line
FROM inferred i CROSS JOIN passage p ON p.id = i.passage_id CROSS JOIN note n ON n.id = p.note_id
ORDER BY n.day, n.path, i.line
"""
_MENTIONS = "SELECT m.passage_id, name.slug FROM mention m JOIN name ON name.id = m.name_id"
_PATHS = "SELECT path FROM note WHERE ? OR scope = 'global'"
_PRIVATE_SCOPES = """
SELECT DISTINCT coalesce(p.scope, n.scope) FROM passage p JOIN note n ON n.id = p.note_id
WHERE p.kind = ? AND coalesce(p.scope, n.scope) <> 'global' ORDER BY 1
"""
_PAGES = """
SELECT r.path, r.signature, coalesce(n.hash, zeroblob(0)) = r.hash, n.id IS NOT NULL, length(r.hash) > 0
FROM reflected r LEFT JOIN note n ON n.path = r.path
"""
_PUT_PAGE = (
    "INSERT OR REPLACE INTO reflected VALUES(?, ?, coalesce((SELECT hash FROM note WHERE path = ?), zeroblob(0)))"
)
_DROP_PAGE = "DELETE FROM reflected WHERE path = ?"
_VERDICTS = "SELECT statement, fact, relation FROM bearing"
_PUT_VERDICT = "INSERT OR REPLACE INTO bearing VALUES(?, ?, ?)"
_DROP_VERDICT = "DELETE FROM bearing WHERE (statement, fact) = (?, ?)"


class FactRow(NamedTuple):
    """What the index holds of one fact; `speaker` is None for a Retain bullet, "" for what was inferred of oneself."""

    id: int
    kind: int
    text: str
    path: str
    line: int
    end_line: int
    day: str | None
    since: str | None
    until: str | None
    scope: str
    whole: str
    confidence: float | None
    importance: float | None
    block_id: str | None
    key: int
    decided: int
    wording: int
    speaker: str | None
    by: str
    tokens: int
    first_line: int


class WrittenPage(NamedTuple):
    """A page that reflect wrote: the signature of its facts, and what has become of it since."""

    signature: bytes
    is_same: bool
    """Whether it is as it was written."""
    is_there: bool
    was_there: bool
    """Whether it was there after the last run."""


def fact_rows(view: View) -> Iterator[FactRow]:
    """All facts by day, path and line: those of Retain bullets, then those read from the lines of logs."""
    for sql in (_FACTS, _INFERRED):
        yield from map(FactRow._make, view.rows(sql))


def mentions(view: View) -> Iterator[tuple[int, str]]:
    """Passages with the slug of somebody who is mentioned in each."""
    return ((passage, slug) for passage, slug in view.rows(_MENTIONS))


def paths(view: View, with_private: bool = True) -> list[str]:
    """The paths of all notes, or of those that everybody may read."""
    return [path for (path,) in view.rows(_PATHS, with_private)]


def scopes_of_opinions(view: View) -> list[str]:
    """The private scopes in which some opinion is stated."""
    return [scope for (scope,) in view.rows(_PRIVATE_SCOPES, KINDS.index("opinion"))]


def written_pages(view: View) -> dict[str, WrittenPage]:
    """The pages of earlier runs, by path."""
    rows = view.rows(_PAGES)
    return {
        path: WrittenPage(signature, bool(same), bool(there), bool(was)) for path, signature, same, there, was in rows
    }


def model_verdicts(view: View) -> dict[tuple[int, int], int]:
    """What a model said a fact means for a statement, by the hashes of both."""
    return {(statement, fact): relation for statement, fact, relation in view.rows(_VERDICTS)}


def remember_pages(store: Store, signatures: Mapping[str, bytes], gone: Iterable[str]) -> None:
    """Note what pages were made of, as they are now; forget those that are gone. Inside `store.writing()`."""
    forget_pages(store, gone)
    store.connection.executemany(_PUT_PAGE, [(path, sign, path) for path, sign in signatures.items()])


def forget_pages(store: Store, paths: Iterable[str]) -> None:
    """Know of these pages no more that reflect wrote them."""
    store.connection.executemany(_DROP_PAGE, [(path,) for path in paths])


def remember_verdicts(store: Store, found: Collection[tuple[int, int, int]], gone: Collection[tuple[int, int]]) -> None:
    """Note what a model said of statements and facts, and forget what nobody asks any more."""
    store.connection.executemany(_DROP_VERDICT, gone)
    store.connection.executemany(_PUT_VERDICT, found)
