"""Writes notes and their dependent rows into an index, and deletes them; every function runs inside a transaction.

The row ids of a note's passages are consecutive (`note.first`, `note.count`): neighbouring passages are neighbouring
rows, and a note is deleted by range.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from vault_memory.markdown import entities
from vault_memory.markdown.facts import is_decision
from vault_memory.markdown.note import folded, is_note_path
from vault_memory.store.embedding_rows import Space, add_vectors, embedding_ids
from vault_memory.store.journal import passage_key
from vault_memory.store.vectors import Context
from vault_memory.store.view import KINDS, Store, text_hash
from vault_memory.text import terms

if TYPE_CHECKING:
    from vault_memory.markdown.conversation import Utterance
    from vault_memory.markdown.facts import RetainFact
    from vault_memory.markdown.links import Link, NoteTag
    from vault_memory.markdown.note import Problem
    from vault_memory.markdown.passages import Passage
    from vault_memory.text.calendar_days import Span
    from vault_memory.vault.walk import File

_SLICE = 512
"""Passages written at a time: bounds memory for a note of any size, yet is enough for a bulk embedding call."""

Embed = Callable[[Sequence[Context]], list[bytes]]
"""Contexts → int8 vectors."""


class PassageRow(NamedTuple):
    """A passage ready to be stored; a missing `vector` is made from `context`, whose hash is `key`."""

    passage: "Passage"
    terms: str
    tokens: int
    scope: str | None
    origin: str | None
    section: int
    context: Context
    key: int
    claims: Sequence[tuple[str, str, str, str, bool, str | None]] = ()
    inferred: "Sequence[Utterance]" = ()
    """Statements inferred from its lines, where it is part of a conversation log without facts."""
    vector: bytes | None = None


class PreparedNote(NamedTuple):
    """A note ready to be stored; `names` are its aliases, `own_names` its file name and title.

    `passages` can be iterated only once; `problems` are complete after that.
    """

    file: "File"
    hash: bytes
    day: str | None
    title: str
    scope: str
    origin: str
    """The note's origin (provenance.py)."""
    headings: Sequence[tuple[int, int, str]]
    header_tokens: int
    own_names: Sequence[str]
    names: Sequence[str]
    links: "Iterable[Link]"
    tags: "Sequence[NoteTag]"
    passages: Iterable[PassageRow]
    problems: "Sequence[Problem]" = ()


def put_note(store: Store, note: PreparedNote, embed: Embed, space: Space) -> tuple[int, Counter[str]]:
    """Store a note, replacing any under its path; returns its id and counts of what was written: passages, facts…"""
    old = store.one("SELECT id FROM note WHERE path = ?", note.file.path)
    spare = _delete_rows(store, old) if old else set()
    first = int(store.one("SELECT coalesce(max(id), 0) FROM passage")) + 1
    note_id = _insert_head(store, note, first)
    written = Counter[str](passages=0)
    following = iter(note.passages)
    while batch := list(islice(following, _SLICE)):
        _insert_passages(store, note_id, first + written["passages"], batch, embed, space, written)
    totals = (written["passages"], written["words"], written["tokens"], note_id)
    store.connection.execute("UPDATE note SET count = ?, words = ?, tokens = ? WHERE id = ?", totals)
    problems = ((note_id, p.line, p.level, p.message) for p in note.problems)
    store.connection.executemany("INSERT INTO problem VALUES(?, ?, ?, ?)", problems)
    _drop_unused(store, spare)
    return note_id, written


def touch(store: Store, note_id: int, size: int, mtime_ns: int, ctime_ns: int) -> None:
    """Record a file's new size and times when its content is unchanged."""
    sql = "UPDATE note SET size = ?, mtime_ns = ?, ctime_ns = ? WHERE id = ?"
    store.connection.execute(sql, (size, mtime_ns, ctime_ns, note_id))


def remove(store: Store, note_id: int) -> None:
    """Delete a note and its dependent rows."""
    _drop_unused(store, _delete_rows(store, note_id))


def _insert_head(store: Store, note: PreparedNote, first: int) -> int:
    run = store.connection.executemany
    sql = (
        "INSERT INTO note(path, size, mtime_ns, ctime_ns, hash, day, title, scope, origin, headings, header_tokens,"
        " first, count) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)"
    )
    headings = json.dumps(note.headings, ensure_ascii=False, separators=(",", ":"))
    row = (*note.file, note.hash, note.day, note.title, note.scope, note.origin, headings, note.header_tokens, first)
    store.connection.execute(sql, row)
    note_id = int(store.connection.last_insert_rowid())
    whole = " ".join(tag.name for tag in note.tags if tag.line == 0)
    searched = (" ".join(note.own_names), " ".join(note.names), note.file.path, whole)
    store.connection.execute(
        "INSERT INTO note_fts(rowid, title, names, path, tags) VALUES(?, ?, ?, ?, ?)",
        (note_id, *map(terms.index_text, searched)),
    )
    known = {entities.slug(n): (n, 0) for n in note.names} | {entities.slug(n): (n, 1) for n in note.own_names}
    rows = ((slug, note_id, name, own) for slug, (name, own) in known.items() if slug)
    if is_note_path(note.file.path):  # an attachment names no entity
        run("INSERT INTO alias VALUES(?, ?, ?, ?)", rows)
    run("INSERT OR IGNORE INTO link VALUES(?, ?, ?, ?)", ((note_id, *link) for link in note.links))
    run("INSERT OR IGNORE INTO tag VALUES(?, ?, ?)", ((note_id, *tag) for tag in note.tags))
    return note_id


def _insert_passages(
    store: Store, note_id: int, start: int, batch: Sequence[PassageRow], embed: Embed, space: Space,
    written: Counter[str],
) -> None:  # fmt: skip
    """Store passages with their embeddings, made where the same text has none yet; add to the counts in `written`."""
    known = embedding_ids(store, space, [p.key for p in batch])
    fresh = {p.key: p for p in batch if p.key not in known}
    bare = [p for p in fresh.values() if p.vector is None]
    made = dict(zip((p.key for p in bare), embed([p.context for p in bare]), strict=True)) if bare else {}
    known |= add_vectors(store, space, ((key, p.vector or made[key]) for key, p in fresh.items()))
    numbered = [(i, p.passage, p) for i, p in enumerate(batch, start)]
    run = store.connection.executemany
    run(
        "INSERT INTO passage VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (i, note_id, of.start_line, of.end_line, of.from_char, of.to_char, KINDS.index(of.kind), p.tokens,
             p.scope, p.origin, p.section, known[p.key], of.text)
            for i, of, p in numbered
        ),
    )  # fmt: skip
    run("INSERT INTO passage_fts(rowid, body) VALUES(?, ?)", ((i, p.terms) for i, _, p in numbered))
    told = [(i, of.fact, of) for i, of, _ in numbered if of.fact]
    facts = [(i, *_fact_columns(fact, passage)) for i, fact, passage in told]
    run("INSERT INTO fact VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", facts)
    claims = [(i, *claim) for i, _, p in numbered for claim in p.claims]
    run("INSERT OR IGNORE INTO claim VALUES(?, ?, ?, ?, ?, ?, ?)", claims)
    inferred = [
        (i, said.line, KINDS.index("observation"), said.text, said.speaker, *_days(said.occurred),
         passage_key(f"{said.speaker or ''}: {said.text}"), is_decision(said.text))
        for i, _, p in numbered
        for said in p.inferred
    ]  # fmt: skip
    run("INSERT INTO inferred VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", inferred)
    mentions = [(i, name) for i, fact, _ in told for name in fact.entities]
    run("INSERT OR IGNORE INTO name(text, slug) VALUES(?, ?)", ((name, entities.slug(name)) for _, name in mentions))
    run("INSERT OR IGNORE INTO mention SELECT ?, id FROM name WHERE text = ?", mentions)
    written.update(
        passages=len(batch),
        facts=sum(passage.part == 0 for *_, passage in told),
        embedded=len(fresh),
        words=sum(p.terms.count(" ") + 1 for p in batch),
        tokens=sum(p.tokens for p in batch),
    )


def _fact_columns(fact: "RetainFact", passage: "Passage") -> tuple[object, ...]:
    narrative = "" if passage.part else fact.narrative
    return (
        fact.confidence, fact.importance, *_days(fact.occurred), fact.block_id, narrative,
        wording_hash(fact.narrative), passage_key(passage.text), is_decision(passage.text), passage.part,
    )  # fmt: skip


def _days(occurred: "Span | None") -> tuple[str | None, str | None]:
    return (occurred.start.isoformat(), occurred.end.isoformat()) if occurred else (None, None)


def _delete_rows(store: Store, note_id: int) -> set[int]:
    """Delete a note's rows; returns the ids of the embeddings its passages used."""
    first, count = next(store.rows("SELECT first, count FROM note WHERE id = ?", note_id))
    span = (first, first + count - 1)
    sql = "SELECT DISTINCT embedding_id FROM passage WHERE id BETWEEN ? AND ?"
    used = {row[0] for row in store.rows(sql, *span)}
    for table in ("mention", "fact", "claim", "inferred"):
        store.connection.execute(f"DELETE FROM {table} WHERE passage_id BETWEEN ? AND ?", span)
    store.connection.execute("DELETE FROM passage WHERE id BETWEEN ? AND ?", span)
    for table in ("alias", "link", "tag", "problem"):
        store.connection.execute(f"DELETE FROM {table} WHERE note_id = ?", (note_id,))
    store.connection.execute("DELETE FROM note WHERE id = ?", (note_id,))
    return used


def _drop_unused(store: Store, embeddings: set[int]) -> None:
    """Delete those of these embeddings that no passage uses any more."""
    used = "SELECT 1 FROM passage WHERE embedding_id = ? LIMIT 1"
    unused = [(i,) for i in embeddings if store.one(used, i) is None]
    store.connection.executemany("DELETE FROM embedding WHERE id = ?", unused)
    store.connection.executemany("DELETE FROM embedding_code WHERE id = ?", unused)


@lru_cache(maxsize=1)  # the parts of a long fact arrive consecutively
def wording_hash(narrative: str) -> int:
    """Return the hash that identifies facts with the same words, compared as `folded` (markdown/note.py)."""
    return text_hash(" ".join(folded(narrative).split()))
