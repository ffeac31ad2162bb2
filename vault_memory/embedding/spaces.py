"""Owns the rows of configured embedders: which text a passage has in their spaces, which vectors are there, which wait.

The builtin vectors are the passage's own (`passage.embedding_id`). Those of a configured embedder are found by the
hash of their text and placed on passages by `placed`; every space uses the same texts, so one hash finds them all.
A vector is kept while any passage has its text, whichever embedder is configured now: going back costs nothing.
Texts that an embedder has no usable vector for are remembered likewise (`vectorless`, and `unplaced` for passages),
until a rebuild: nothing asks for them again and again, and they keep nobody waiting.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

import apsw

from vault_memory.store.candidate import FACTS
from vault_memory.store.rows import KINDS, NOTE_VECTOR_PASSAGES, Store
from vault_memory.store.schema import writing
from vault_memory.store.vectors import bit_code, has_numpy, total
from vault_memory.text import terms

BUILTIN = "builtin/"

SLICE = 512
"""Passages read or placed at a time."""


class Text(NamedTuple):
    """What is embedded for a passage, and its hash."""

    passage_id: int
    key: int
    text: str


class Space(NamedTuple):
    """One embedder's vectors in this index."""

    id: int
    name: str
    dimensions: int

    @property
    def is_builtin(self) -> bool:
        return self.name.startswith(BUILTIN)


def space_of(store: Store, name: str) -> Space | None:
    """The space of that name, if this index has it."""
    return next((s for s in spaces(store) if s.name == name), None)


def spaces(store: Store) -> list[Space]:
    """Every space of this index, the builtin one among them."""
    # A damaged index, which `carry_over` may read, holds anything.
    sql = (
        "SELECT id, name, dimensions FROM embedder"
        " WHERE typeof(name) = 'text' AND typeof(dimensions) = 'integer' AND dimensions > 0 ORDER BY id"
    )
    return [Space(*row) for row in store.rows(sql)]


def configured_spaces(store: Store) -> list[Space]:
    """The spaces of embedders that are or were configured."""
    return [space for space in spaces(store) if not space.is_builtin]


def placed(store: Store, space: Space) -> int:
    """How many passages have a vector in a space."""
    if space.is_builtin:
        return int(store.one("SELECT count(*) FROM passage WHERE embedding_id IS NOT NULL"))
    return int(store.one("SELECT count(*) FROM placed WHERE embedder = ?", space.id))


def without(store: Store, space: Space) -> int:
    """How many passages have a text that a space's embedder has no usable vector for."""
    return int(store.one("SELECT count(*) FROM unplaced WHERE embedder = ?", space.id))


def probe(store: Store, name: str) -> bytes | None:
    """The vector that an embedder gave for `models.PROBE` when its space was begun."""
    value = store.meta(f"probe:{name}")
    return bytes.fromhex(value) if isinstance(value, str) else None


def set_probe(store: Store, name: str, vector: bytes) -> None:
    """Note how an embedder answers, to know it again."""
    store.set_meta(f"probe:{name}", vector.hex())


def digest(store: Store, name: str) -> str | None:
    """The digest that a model had when it was last recognised by its vector, where its server tells."""
    value = store.meta(f"digest:{name}")
    return value if isinstance(value, str) else None


def set_digest(store: Store, name: str, value: str) -> None:
    """Note a model's digest: while that stays, the model need not be loaded to be recognised."""
    store.set_meta(f"digest:{name}", value)


# --- texts ---------------------------------------------------------------------------------------------------------


def texts(store: Store, first: int, last: int) -> list[Text]:
    """What is embedded for the passages `first`..`last`: their own text, then those beside them in their section.

    Their own text comes first: what a model does not read any more of is then the neighbours'. A heading stands alone.
    """
    sql = "SELECT id, note_id, section, kind, text FROM passage WHERE id BETWEEN ? AND ? ORDER BY id"
    rows = {row[0]: row for row in store.rows(sql, first - 1, last + 1)}
    found = []
    for i, note_id, section, kind, text in rows.values():
        if not first <= i <= last:
            continue
        around = [rows[n] for n in (i - 1, i + 1) if n in rows and section >= 0]
        beside = [_body(row[3], row[4]) for row in around if row[1:3] == (note_id, section)]
        whole = "\n".join([_body(kind, text), *beside])
        found.append(Text(i, text_key(whole), whole))
    return found


def _body(kind: int, text: str) -> str:
    return terms.body(text, KINDS[kind] in FACTS) or text


def text_key(text: str) -> int:
    """A signed 64-bit hash of a text to embed, the same everywhere."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big", signed=True)


def waiting(store: Store, space: Space | None) -> Iterator[Text]:
    """The texts of passages that have no vector in a space yet, newest note first.

    Nothing is held open between two of them: the caller may take hours, and the index may change meanwhile.
    """
    number = space.id if space else 0
    sql = (
        "SELECT first, count FROM note n WHERE count >"
        " (SELECT count(*) FROM placed WHERE embedder = ?1 AND passage_id BETWEEN n.first AND n.first + n.count - 1) +"
        " (SELECT count(*) FROM unplaced WHERE embedder = ?1 AND passage_id BETWEEN n.first AND n.first + n.count - 1)"
        " ORDER BY coalesce(day, date(mtime_ns / 1000000000, 'unixepoch')) DESC, n.id DESC"
    )
    for first, count in list(store.rows(sql, number)):
        for start in range(first, first + count, SLICE):
            end = min(start + SLICE, first + count) - 1
            there = (
                "SELECT passage_id FROM placed WHERE embedder = ?1 AND passage_id BETWEEN ?2 AND ?3 UNION ALL"
                " SELECT passage_id FROM unplaced WHERE embedder = ?1 AND passage_id BETWEEN ?2 AND ?3"
            )
            done = {row[0] for row in store.rows(there, number, start, end)}
            yield from [text for text in texts(store, start, end) if text.passage_id not in done]


# --- vectors in ------------------------------------------------------------------------------------------------------


def known(store: Store, space: Space, keys: Iterable[int]) -> set[int]:
    """Which of these texts have a vector in a space."""
    sql = "SELECT e.text_hash FROM json_each(?) j CROSS JOIN embedding e ON e.embedder = ? AND e.text_hash = j.value"
    return {row[0] for row in store.rows(sql, json.dumps(list(keys)), space.id)}


def keep(store: Store, space: Space, vectors: Iterable[tuple[int, bytes]]) -> int:
    """Store (text hash, vector) pairs that are not there yet; returns how many. To be called inside a transaction."""
    fresh = dict(vectors)
    for key in known(store, space, fresh):
        del fresh[key]
    following = store.next_embedding()
    rows = [(following + i, space.id, *pair) for i, pair in enumerate(fresh.items())]
    run = store.connection.executemany
    run("INSERT INTO embedding VALUES(?, ?, ?, ?)", rows)
    run("INSERT INTO embedding_code VALUES(?, ?, ?)", ((i, s, bit_code(vector)) for i, s, _, vector in rows))
    return len(rows)


def give_up(store: Store, space: Space, keys: Iterable[int]) -> None:
    """Remember texts that a space's embedder has no usable vector for. To be called inside a transaction."""
    rows = ((space.id, key) for key in keys)
    store.connection.executemany("INSERT OR IGNORE INTO vectorless VALUES(?, ?)", rows)


def place(store: Store, found: Sequence[Text]) -> None:
    """Give passages what is known for their texts, in every space: a vector, or that there is none.

    To be called inside a transaction.
    """
    given = json.dumps([(t.passage_id, t.key) for t in found])
    sql = (
        "INSERT OR IGNORE INTO placed SELECT r.id, j.value ->> 0, e.id FROM json_each(?) j CROSS JOIN embedder r"
        " CROSS JOIN embedding e ON e.embedder = r.id AND e.text_hash = j.value ->> 1"
        " WHERE r.name NOT LIKE 'builtin/%'"
    )
    store.connection.execute(sql, (given,))
    sql = (
        "INSERT OR IGNORE INTO unplaced SELECT v.embedder, j.value ->> 0, v.text_hash FROM json_each(?) j"
        " CROSS JOIN embedder r CROSS JOIN vectorless v ON v.embedder = r.id AND v.text_hash = j.value ->> 1"
    )
    store.connection.execute(sql, (given,))


def place_ids(store: Store, ids: Iterable[int]) -> None:
    """Place what is there for these passages, as they stand now, and let their notes point anew.

    The texts are read again: while their vectors were made the passages may have become others.
    """
    notes: set[int] = set()
    for first, last in _runs(sorted(ids)):
        place(store, texts(store, first, last))
        sql = "SELECT DISTINCT note_id FROM passage WHERE id BETWEEN ? AND ?"
        notes.update(row[0] for row in store.rows(sql, first, last))
    for note_id in notes:
        point(store, note_id)


def place_note(store: Store, note_id: int) -> None:
    """Place what is there for a note that was just stored; nothing is embedded. To be called inside a transaction."""
    for first, count in list(store.rows("SELECT first, count FROM note WHERE id = ?", note_id)):
        for start in range(first, first + count, SLICE):
            place(store, texts(store, start, min(start + SLICE, first + count) - 1))
    point(store, note_id)


def point(store: Store, note_id: int) -> None:
    """Where a note points in each space: the sum of its first passages' vectors there."""
    sql = (
        "SELECT d.embedder, e.vector FROM note n CROSS JOIN embedder r ON r.name NOT LIKE 'builtin/%'"
        " CROSS JOIN placed d ON d.embedder = r.id AND d.passage_id BETWEEN n.first AND n.first + min(n.count, ?) - 1"
        " JOIN embedding e ON e.id = d.embedding_id WHERE n.id = ? ORDER BY d.passage_id"
    )
    vectors: dict[int, list[bytes]] = {}
    for space, vector in store.rows(sql, NOTE_VECTOR_PASSAGES, note_id):
        vectors.setdefault(space, []).append(vector)
    rows = ((space, note_id, total(found)) for space, found in vectors.items())
    store.connection.executemany("INSERT OR REPLACE INTO note_vector VALUES(?, ?, ?)", rows)


def _runs(ids: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Consecutive numbers as (first, last), at most `SLICE` each."""
    start = 0
    for i in range(1, len(ids) + 1):
        if i == len(ids) or ids[i] != ids[i - 1] + 1 or i - start >= SLICE:
            yield ids[start], ids[i - 1]
            start = i


# --- vectors from an older index, and out ----------------------------------------------------------------------------


def carry_over(store: Store, old: Store) -> int:
    """Take what configured embedders made for texts that are still there from an older index; returns how many.

    The old index may be of another version or damaged: what can be read of it is taken. To be called inside a
    transaction of the new one.
    """
    taken = 0
    with suppress(apsw.Error, UnicodeDecodeError):
        for space in configured_spaces(old):
            number = store.embedder_id(space.name, space.dimensions)
            mine = Space(number, space.name, space.dimensions)
            if vector := probe(old, space.name):
                set_probe(store, space.name, vector)
            for found in _all_texts(store):
                taken += keep(store, mine, _vectors(old, space, found))
    if taken:
        has_numpy()  # summing the notes' vectors is many times as fast once it is imported
        for (note_id,) in list(store.rows("SELECT id FROM note")):
            place_note(store, note_id)
    return taken


def _vectors(store: Store, space: Space, found: Sequence[Text]) -> list[tuple[int, bytes]]:
    sql = (
        "SELECT text_hash, vector FROM json_each(?) j CROSS JOIN embedding ON embedder = ? AND text_hash = j.value"
        " WHERE typeof(vector) = 'blob' AND length(vector) = ?"
    )
    width = space.dimensions + -space.dimensions % 8
    return list(store.rows(sql, json.dumps([t.key for t in found]), space.id, width))


def _all_texts(store: Store) -> Iterator[list[Text]]:
    last = int(store.one("SELECT coalesce(max(id), 0) FROM passage"))
    for start in range(1, last + 1, SLICE):
        yield texts(store, start, min(start + SLICE - 1, last))


def sweep(store: Store) -> int:
    """Delete vectors whose text no passage has any more, a slice at a time; returns how many.

    Those of an embedder that is no longer configured stay while their text does. Where the index is as the last sweep
    left it there is nothing to do, and nothing is read.
    """
    found = configured_spaces(store)
    if not found or store.meta("swept") == store.generation:
        return 0
    gone = sum(_sweep(store, space) for space in found)
    store.set_meta("swept", store.generation)
    return gone


def _sweep(store: Store, space: Space) -> int:
    settle(store, space)
    gone, spare = 0, _spare(store, space)
    while gone < spare and (ids := list(store.rows(_UNUSED, space.id, SLICE))):
        with writing(store.connection):
            store.connection.executemany("DELETE FROM embedding WHERE id = ?", ids)
            store.connection.executemany("DELETE FROM embedding_code WHERE id = ?", ids)
            store.grow()
        gone += len(ids)
    sql = (
        "DELETE FROM vectorless WHERE embedder = ?1"
        " AND text_hash NOT IN (SELECT text_hash FROM unplaced WHERE embedder = ?1)"
    )
    store.connection.execute(sql, (space.id,))
    return gone


_UNUSED = (
    "SELECT id FROM embedding WHERE embedder = ?1"
    " AND id NOT IN (SELECT embedding_id FROM placed WHERE embedder = ?1) LIMIT ?2"
)


def _spare(store: Store, space: Space) -> int:
    """How many vectors of a space no passage has: by two counts (14 ms for 100,000) before they are looked for (60)."""
    sql = (
        "SELECT (SELECT count(*) FROM embedding WHERE embedder = ?1)"
        " - (SELECT count(DISTINCT embedding_id) FROM placed WHERE embedder = ?1)"
    )
    return int(store.one(sql, space.id))


def settle(store: Store, space: Space) -> None:
    """Place every vector that is there for a passage still without one in this space.

    Where every vector has its passage there is nothing to do, and nothing is read: steps of a backfill stay small.
    """
    if not _spare(store, space):
        return
    pending: list[int] = []
    for text in waiting(store, space):
        pending.append(text.passage_id)
        if len(pending) == SLICE:
            _placed_in_one(store, pending)
    _placed_in_one(store, pending)


def _placed_in_one(store: Store, ids: list[int]) -> None:
    if ids:
        with writing(store.connection):
            place_ids(store, ids)
        ids.clear()


def drop(store: Store, space: Space) -> None:
    """Forget a space and all its vectors."""
    with writing(store.connection):
        for table in ("placed", "unplaced", "vectorless", "note_vector", "embedding_code", "embedding"):
            store.connection.execute(f"DELETE FROM {table} WHERE embedder = ?", (space.id,))
        store.connection.execute("DELETE FROM embedder WHERE id = ?", (space.id,))
        for key in ("probe", "digest"):
            store.connection.execute("DELETE FROM meta WHERE key = ?", (f"{key}:{space.name}",))
        store.grow()
