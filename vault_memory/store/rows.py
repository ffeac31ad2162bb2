"""Writes notes into an index with all that hangs on them, and takes them out again.

Row ids of a note's passages are consecutive (`note.first`, `note.count`), so that the lines around a passage are
the rows around it and a note is deleted by a range.
"""

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import apsw

from vault_memory.markdown import entities
from vault_memory.markdown.note import folded
from vault_memory.store import schema
from vault_memory.store.vectors import total
from vault_memory.store.view import IndexConnection, View
from vault_memory.text import terms

if TYPE_CHECKING:
    from vault_memory.markdown.links import Link, NoteTag
    from vault_memory.markdown.note import Problem
    from vault_memory.markdown.passages import Chunk

KINDS = ("note", "world", "experience", "opinion", "observation", "session", "page")
"""What a passage is; stored as the position in this tuple."""

NOTE_VECTOR_PASSAGES = 64

PASSAGES = "passage p ON p.id BETWEEN n.first AND n.first + n.count - 1"
"""What to CROSS JOIN to `note n`: no index leads from a note to its passages but this range (80 ms at 300,000)."""

_SLICE = 512
"""Passages written at a time: bounds memory for a note of any size, and is enough for a bulk embedding call."""


_FILE = "n.id, n.path, n.size, n.mtime_ns, n.hash, n.ctime_ns"
_NOTES_AT = f"""
SELECT {_FILE} FROM json_each(?1) j CROSS JOIN note n ON n.path = j.value
UNION SELECT {_FILE} FROM json_each(?1) j CROSS JOIN note n ON n.path > j.value || '/' AND n.path < j.value || '0'
"""
"""By ranges of the index on paths: `0` is the character behind `/`."""

_WORD_VERSIONS = " UNION ALL ".join(f"SELECT v FROM {t}_fts_config WHERE k = 'version'" for t in ("passage", "note"))

Context = tuple[tuple[str, int], ...]
"""A passage's text and those around it, each with its weight."""


class NoteRow(NamedTuple):
    """What the index knows of a note's file."""

    id: int
    path: str
    size: int
    mtime_ns: int
    hash: bytes
    ctime_ns: int = 0


class NoteHead(NamedTuple):
    """What is stored of a note besides its passages; `names` are its aliases, `own_names` file name and title."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    hash: bytes
    day: str | None
    title: str
    scope: str
    origin: str
    """Who the note is from (provenance.py)."""
    headings: Sequence[tuple[int, int, str]]
    header_tokens: int
    own_names: Sequence[str]
    names: Sequence[str]
    links: "Iterable[Link]"
    tags: "Sequence[NoteTag]"


class FactColumns(NamedTuple):
    """What is stored of a fact; `wording` hashes what it says, `key` is what the journal knows its words by."""

    confidence: float | None
    importance: float | None
    occurred_from: str | None
    occurred_to: str | None
    block_id: str | None
    narrative: str
    wording: int
    key: int
    decided: bool
    """Whether a decision is in it (decay.py)."""
    part: int


class InferredColumns(NamedTuple):
    """What is stored of what a line of a log without facts tells (reflect/infer.py)."""

    line: int
    kind: str
    text: str
    speaker: str | None
    occurred_from: str | None
    occurred_to: str | None
    key: int
    decided: bool


class PassageRow(NamedTuple):
    """A passage ready to be stored; `context` is the weighted texts its embedding is made of, `key` their hash.

    `vector` (int8, bit code) spares the embedding when it was made already.
    """

    start_line: int
    end_line: int
    from_char: int | None
    to_char: int | None
    kind: str
    text: str
    terms: str
    tokens: int
    scope: str | None
    section: int
    context: Context
    fact: FactColumns | None
    mentions: Sequence[str]
    key: int
    vector: tuple[bytes, bytes] | None = None
    claims: Sequence[tuple[str, str, str, str, bool, str | None]] = ()
    inferred: Sequence[InferredColumns] = ()
    origin: str | None = None


Embed = Callable[[Sequence[Context]], list[tuple[bytes, bytes]]]
"""Contexts → (int8 vector, bit code) each."""


class WriteCounts(NamedTuple):
    """What storing one note did."""

    passages: int
    facts: int
    embedded: int
    from_cache: int
    words: int
    tokens: int


class Store(IndexConnection):
    """One open index. Not safe for use by several threads at once."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        super().__init__(connection)
        self.path = path
        self._names: dict[str, int] = {}
        self.outdated: tuple[str, ...] = ()
        """Notes that are not as they were indexed: their scopes may be others by now."""

    @classmethod
    def open(cls, path: Path) -> "Store":
        """Open an existing index; raises apsw errors when it is damaged or absent."""
        return cls(schema.connect(path), path)

    def close(self, keep_log: bool = False) -> None:
        """Close it; with `keep_log` without tidying up the write-ahead log, which may be another index's by now."""
        if keep_log:
            self.connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        self.connection.close()

    def view(self, scopes: Sequence[str]) -> View:
        """What is seen with these scopes: ask it within one transaction."""
        return View(self.connection, scopes, self.outdated)

    def check_words(self) -> None:
        """Raise CorruptError where FTS5's own settings are damaged: it reports that as a mistake in the SQL."""
        found = [version for (version,) in self.rows(_WORD_VERSIONS)]
        if len(found) != 2 or not all(version in (4, 5) for version in found):
            raise apsw.CorruptError("the tables of words have no version")

    # --- transactions --------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """One write transaction; a failure undoes all of it."""
        self.begin()
        try:
            yield
        except BaseException:
            self.roll_back()
            raise
        self.commit()

    def begin(self) -> None:
        """Begin to write at once: a transaction that reads first fails with BUSY_SNAPSHOT, whatever the timeout."""
        self.connection.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        try:
            self.connection.execute("COMMIT")
        except BaseException:
            self.roll_back()
            raise

    def roll_back(self) -> None:
        with contextlib.suppress(apsw.Error):  # a failed statement may have rolled back by itself
            self.connection.execute("ROLLBACK")
        self._names.clear()

    def checkpoint(self) -> None:
        """Shorten the write-ahead log to nothing when no reader needs it; else leave it for the next time."""
        with contextlib.suppress(*schema.BUSY):
            self.connection.execute(schema.CHECKPOINT)

    def map_nothing(self) -> None:
        """Have nothing of the file in the process's memory map, for a process that stays.

        What is mapped counts as its memory, and a file that somebody truncates would end it by SIGBUS.
        """
        self.connection.execute("PRAGMA mmap_size=0")

    def set_meta(self, key: str, value: str | int) -> None:
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES(?, ?)", (key, value))

    def grow(self) -> None:
        """Give the index its next generation; inside the transaction that changes it."""
        self.set_meta("generation", self.generation + 1)

    # --- notes in ------------------------------------------------------------------------------------------------

    def notes(self, covered: Iterable[str] | None = None) -> dict[str, NoteRow]:
        """Every indexed note by path, or only those with these paths and those below them."""
        if covered is None:
            rows = self.rows(f"SELECT {_FILE} FROM note n")
        else:
            rows = self.rows(_NOTES_AT, json.dumps(list(covered)))
        return {row[1]: NoteRow(*row) for row in rows}

    def put_note(
        self, head: NoteHead, passages: Iterable[PassageRow], embed: Embed, embedder: int, vector: bytes | None = None
    ) -> tuple[int, WriteCounts]:
        """Store a note, replacing what was there under its path; returns its id. To be called inside a transaction.

        `vector` is its `note_vector` where that is known already.
        """
        old = self.one("SELECT id FROM note WHERE path = ?", head.path)
        spare = self._embeddings_of(old) if old else set()
        if old:
            self._delete_rows(old)
        first = int(self.one("SELECT coalesce(max(id), 0) FROM passage")) + 1
        note_id = self._insert_head(head, first)
        written = WriteCounts(0, 0, 0, 0, 0, 0)
        following = iter(passages)
        while batch := list(islice(following, _SLICE)):
            written = self._insert_passages(note_id, first + written.passages, batch, embed, embedder, written)
        vector = vector or self._note_vector(first, written.passages)
        totals = (written.passages, written.words, written.tokens, vector, note_id)
        self.connection.execute("UPDATE note SET count = ?, words = ?, tokens = ?, vector = ? WHERE id = ?", totals)
        self._drop_unused(spare)
        return note_id, written

    def put_chunks(self, note_id: int, chunks: "Iterable[Chunk]") -> None:
        """Store the chunks of a note; positions count from its first passage."""
        self.connection.executemany("INSERT INTO chunk VALUES(?, ?, ?, ?)", ((note_id, *chunk) for chunk in chunks))

    def put_problems(self, note_id: int, problems: "Iterable[Problem]") -> None:
        """Replace the findings about a note."""
        self.connection.execute("DELETE FROM problem WHERE note_id = ?", (note_id,))
        rows = ((note_id, p.line, p.level, p.message) for p in problems)
        self.connection.executemany("INSERT INTO problem VALUES(?, ?, ?, ?)", rows)

    def touch(self, note_id: int, size: int, mtime_ns: int, ctime_ns: int) -> None:
        """Note a file's new times when its content is the same."""
        sql = "UPDATE note SET size = ?, mtime_ns = ?, ctime_ns = ? WHERE id = ?"
        self.connection.execute(sql, (size, mtime_ns, ctime_ns, note_id))

    def remove(self, note_id: int) -> None:
        """Delete a note and all that hangs on it."""
        spare = self._embeddings_of(note_id)
        self._delete_rows(note_id)
        self._drop_unused(spare)

    def _insert_head(self, head: NoteHead, first: int) -> int:
        sql = (
            "INSERT INTO note(path, size, mtime_ns, ctime_ns, hash, day, title, scope, origin, headings, header_tokens,"
            " first, count) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)"
        )
        headings = json.dumps(head.headings, ensure_ascii=False, separators=(",", ":"))
        columns = (*head[:9], headings, head.header_tokens, first)
        self.connection.execute(sql, columns)
        note_id = self.connection.last_insert_rowid()
        whole = " ".join(tag.name for tag in head.tags if tag.line == 0)
        searched = (" ".join(head.own_names), " ".join(head.names), head.path, whole)
        self.connection.execute(
            "INSERT INTO note_fts(rowid, title, names, path, tags) VALUES(?, ?, ?, ?, ?)",
            (note_id, *map(terms.index_text, searched)),
        )
        if head.path.startswith(entities.ENTITY_FOLDER):
            known = {entities.slug(n): (n, 0) for n in head.names} | {entities.slug(n): (n, 1) for n in head.own_names}
            rows = ((slug, note_id, name, own) for slug, (name, own) in known.items() if slug)
            self.connection.executemany("INSERT INTO alias VALUES(?, ?, ?, ?)", rows)
        self.connection.executemany(
            "INSERT OR IGNORE INTO link VALUES(?, ?, ?, ?)", ((note_id, *x) for x in head.links)
        )
        self.connection.executemany("INSERT OR IGNORE INTO tag VALUES(?, ?, ?)", ((note_id, *t) for t in head.tags))
        return int(note_id)

    def _insert_passages(
        self, note_id: int, start: int, batch: list[PassageRow], embed: Embed, embedder: int, so_far: WriteCounts
    ) -> WriteCounts:
        ids, embedded = self._embedding_ids(batch, embed, embedder)
        run = self.connection.executemany
        run(
            "INSERT INTO passage VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (start + i, note_id, p.start_line, p.end_line, p.from_char, p.to_char, KINDS.index(p.kind), p.tokens,
                 p.scope, p.origin, p.section, ids[i], p.text)
                for i, p in enumerate(batch)
            ),
        )  # fmt: skip
        run("INSERT INTO passage_fts(rowid, body) VALUES(?, ?)", ((start + i, p.terms) for i, p in enumerate(batch)))
        facts = [(start + i, *p.fact) for i, p in enumerate(batch) if p.fact]
        run("INSERT INTO fact VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", facts)
        claims = [(start + i, *claim) for i, p in enumerate(batch) for claim in p.claims]
        run("INSERT OR IGNORE INTO claim VALUES(?, ?, ?, ?, ?, ?, ?)", claims)
        inferred = [(start + i, x[0], KINDS.index(x[1]), *x[2:]) for i, p in enumerate(batch) for x in p.inferred]
        run("INSERT INTO inferred VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)", inferred)
        mentions = ((start + i, self._name_id(name)) for i, p in enumerate(batch) for name in p.mentions)
        run("INSERT OR IGNORE INTO mention VALUES(?, ?)", list(mentions))
        cached = len(batch) - embedded
        words, tokens = sum(p.terms.count(" ") + 1 for p in batch), sum(p.tokens for p in batch)
        done = (len(batch), sum(fact[-1] == 0 for fact in facts), embedded, cached, words, tokens)
        return WriteCounts(*(old + new for old, new in zip(so_far, done, strict=True)))

    def _note_vector(self, first: int, count: int) -> bytes | None:
        sql = (
            "SELECT e.vector FROM passage p JOIN embedding e ON e.id = p.embedding_id"
            " WHERE p.id BETWEEN ? AND ? ORDER BY p.id"
        )
        return note_vector([row[0] for row in self.rows(sql, first, first + min(count, NOTE_VECTOR_PASSAGES) - 1)])

    def _embedding_ids(self, batch: list[PassageRow], embed: Embed, embedder: int) -> tuple[list[int], int]:
        """The embedding of each passage, made where the same text has none yet; and how many were made."""
        hashes = [p.key for p in batch]
        sql = (
            "SELECT e.text_hash, e.id FROM json_each(?) j"
            " CROSS JOIN embedding e ON e.embedder = ? AND e.text_hash = j.value"
        )
        known: dict[int, int] = dict(self.rows(sql, json.dumps(hashes), embedder))
        fresh = {p.key: p for p in batch if p.key not in known}
        following = self.next_embedding()
        bare = [p for p in fresh.values() if p.vector is None]
        made = dict(zip((p.key for p in bare), embed([p.context for p in bare]), strict=True)) if bare else {}
        known |= {h: following + i for i, h in enumerate(fresh)}
        run = self.connection.executemany
        both = [(known[key], *(p.vector or made[key]), key) for key, p in fresh.items()]
        run("INSERT INTO embedding VALUES(?, ?, ?, ?)", ((i, embedder, key, vector) for i, vector, _, key in both))
        run("INSERT INTO embedding_code VALUES(?, ?, ?)", ((i, embedder, code) for i, _, code, _ in both))
        return [known[h] for h in hashes], len(fresh)

    def next_embedding(self) -> int:
        """The number of the next embedding: never one that was in use before, for processes hold vectors by it."""
        return int(self.one("SELECT seq FROM sqlite_sequence WHERE name = 'embedding'") or 0) + 1

    def _name_id(self, name: str) -> int:
        known = self._names.get(name)
        if known is None:
            self.connection.execute("INSERT OR IGNORE INTO name(text, slug) VALUES(?, ?)", (name, entities.slug(name)))
            known = self._names[name] = int(self.one("SELECT id FROM name WHERE text = ?", name))
        return known

    def _embeddings_of(self, note_id: int) -> set[int]:
        sql = "SELECT DISTINCT embedding_id FROM passage WHERE id BETWEEN ? AND ? AND embedding_id IS NOT NULL"
        return {row[0] for row in self.connection.execute(sql, self._range(note_id))}

    def _range(self, note_id: int) -> tuple[int, int]:
        first, count = next(self.rows("SELECT first, count FROM note WHERE id = ?", note_id))
        return first, first + count - 1

    def _delete_rows(self, note_id: int) -> None:
        span = self._range(note_id)
        for table in ("mention", "fact", "claim", "inferred"):
            self.connection.execute(f"DELETE FROM {table} WHERE passage_id BETWEEN ? AND ?", span)
        self.connection.execute("DELETE FROM passage WHERE id BETWEEN ? AND ?", span)
        for table in ("chunk", "alias", "link", "tag", "problem"):
            self.connection.execute(f"DELETE FROM {table} WHERE note_id = ?", (note_id,))
        self.connection.execute("DELETE FROM note WHERE id = ?", (note_id,))

    def _drop_unused(self, ids: set[int]) -> None:
        """Delete those embeddings that no passage uses any more."""
        used = "SELECT 1 FROM passage WHERE embedding_id = ? LIMIT 1"
        unused = [(i,) for i in ids if self.one(used, i) is None]
        self.connection.executemany("DELETE FROM embedding WHERE id = ?", unused)
        self.connection.executemany("DELETE FROM embedding_code WHERE id = ?", unused)

    def embedder_id(self, name: str, dimensions: int) -> int:
        """The number of an embedder's vector space in this index, given one if it is new."""
        self.connection.execute("INSERT OR IGNORE INTO embedder(name, dimensions) VALUES(?, ?)", (name, dimensions))
        return int(self.one("SELECT id FROM embedder WHERE name = ?", name))


def note_vector(vectors: Sequence[bytes]) -> bytes | None:
    """Where a note points as a whole: the sum of its first passages' int8 vectors (a long note points nowhere)."""
    return total(vectors[:NOTE_VECTOR_PASSAGES]) if vectors else None


def text_hash(text: str) -> int:
    """A signed 64-bit hash of a text's words, whatever the white space between them, the same everywhere."""
    return _signed_hash(" ".join(text.split()))


def wording_hash(narrative: str) -> int:
    """The hash by which facts of the same words are known, whatever their letters (note.py)."""

    return text_hash(folded(narrative))


def _signed_hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big", signed=True)


def context_hash(context: Context) -> int:
    """A signed 64-bit hash of what an embedding is made of, the same everywhere."""
    return _signed_hash("\x1f".join(f"{weight}{text}" for text, weight in context))
