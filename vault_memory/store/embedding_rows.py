"""Stores vectors in an index: the text embedded for each passage, the vectors present, and those still to be made.

A passage refers to its builtin vector directly (`passage.embedding_id`). A configured embedder's vectors are found by
the hash of their text and assigned to passages in `placed`; every space embeds the same texts, so one hash serves all.
A vector is kept while any passage has its text, whichever embedder is configured now: switching back costs nothing.
A text without a usable vector gets the zero vector until a rebuild: it is near nothing and not requested again.
"""

import importlib.machinery
import json
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import apsw

from vault_memory.errors import IndexUnusableError
from vault_memory.store.vectors import bit_code
from vault_memory.store.view import FACTS, KINDS, IndexConnection, Store, View, text_hash
from vault_memory.text import terms

BUILTIN = "builtin/"

SLICE = 512
"""Passages read or given vectors at a time."""

PROBE_KEY = "probe:"
"""Prefix of the `meta` key, before an embedder's name, of its vector for a known text, to detect a changed model."""

PassageText = tuple[int, int, str]
"""(passage id, hash of the embedded text, embedded text)."""


class Space(NamedTuple):
    """One embedder's vectors in this index."""

    id: int
    name: str
    dimensions: int

    @property
    def is_builtin(self) -> bool:
        return self.name.startswith(BUILTIN)

    @property
    def width(self) -> int:
        """Bytes of a stored vector: its dimensions, padded to a multiple of 8."""
        return self.dimensions + -self.dimensions % 8


def all_spaces(store: IndexConnection) -> dict[str, Space]:
    """Return every space of this index by name, including the builtin one."""
    # A damaged index, which `carry_over` may read, can contain anything.
    sql = (
        "SELECT id, name, dimensions FROM embedder"
        " WHERE typeof(name) = 'text' AND typeof(dimensions) = 'integer' AND dimensions > 0 ORDER BY id"
    )
    return {row[1]: Space(*row) for row in store.rows(sql)}


def configured_spaces(store: IndexConnection) -> list[Space]:
    """Return the spaces of embedders that are or were configured."""
    return [space for space in all_spaces(store).values() if not space.is_builtin]


def make_space(store: Store, name: str, dimensions: int) -> Space:
    """Return the space of that name, created if new. Inside a transaction."""
    store.connection.execute("INSERT OR IGNORE INTO embedder(name, dimensions) VALUES(?, ?)", (name, dimensions))
    return Space(int(store.one("SELECT id FROM embedder WHERE name = ?", name)), name, dimensions)


def count_vectors(view: View, space: Space) -> int:
    """Count the vectors in a space; for a configured embedder only the usable ones."""
    usable = "" if space.is_builtin else " AND vector <> zeroblob(length(vector))"
    return int(view.one(f"SELECT count(*) FROM embedding WHERE embedder = ?{usable}", space.id))


def count_placed(view: View, space: Space) -> tuple[int, int]:
    """Count the passages that have a vector in a space, and those whose text its embedder has no usable vector for."""
    if space.is_builtin:
        return int(view.one("SELECT count(*) FROM passage WHERE embedding_id IS NOT NULL")), 0
    without = int(
        view.one(
            "SELECT count(*) FROM placed WHERE embedder = ?1 AND embedding_id IN"
            " (SELECT id FROM embedding WHERE embedder = ?1 AND vector = zeroblob(length(vector)))",
            space.id,
        )
    )
    return int(view.one("SELECT count(*) FROM placed WHERE embedder = ?", space.id)) - without, without


def vector_version() -> str:
    """Return the versions of sqlite-vec and SQLite; raises IndexUnusableError if they do not work together."""
    try:
        with closing(apsw.Connection(":memory:")) as connection:
            load_vector_functions(IndexConnection(connection))
            return f"{connection.execute('SELECT vec_version()').get} in SQLite {apsw.sqlite_lib_version()}"
    except apsw.Error as error:
        raise IndexUnusableError(str(error)) from error


def load_vector_functions(store: IndexConnection) -> None:
    """Load sqlite-vec, which compares vectors; raises IndexUnusableError if it is not installed or fails to load.

    Importing the package pulls in numpy (150 ms), so its library is found by path and loaded directly.
    """
    spec = importlib.machinery.PathFinder.find_spec("sqlite_vec")
    if spec is None or not spec.submodule_search_locations:
        raise IndexUnusableError(
            "sqlite-vec is not installed.", "Reinstall vault-memory: pip install --force-reinstall vault-memory"
        )
    store.connection.enable_load_extension(True)
    try:
        store.connection.load_extension(str(Path(spec.submodule_search_locations[0]) / "vec0"))
    except apsw.Error as error:
        raise IndexUnusableError(str(error)) from error
    finally:
        store.connection.enable_load_extension(False)


# --- texts ---------------------------------------------------------------------------------------------------------


def passage_texts(store: Store, first: int, last: int) -> list[PassageText]:
    """Return what is embedded for passages `first`..`last`: their own text, then their neighbours' in the section.

    In that order, a model that truncates its input cuts the neighbours. A heading is embedded alone.
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
        found.append((i, text_hash(whole), whole))
    return found


def _body(kind: int, text: str) -> str:
    return terms.body(text, KINDS[kind] in FACTS) or text


def waiting_texts(store: Store, space: Space | None) -> Iterator[PassageText]:
    """Yield the texts of passages without a vector in a space, newest note first; no query stays open between two."""
    number = space.id if space else 0
    done = "SELECT passage_id FROM placed WHERE embedder = ?1 AND passage_id BETWEEN {0} AND {1}"
    sql = (
        f"SELECT first, count FROM note n WHERE count > (SELECT count(*) FROM"
        f" ({done.format('n.first', 'n.first + n.count - 1')}))"
        " ORDER BY coalesce(day, date(mtime_ns / 1000000000, 'unixepoch')) DESC, n.id DESC"
    )
    for first, count in list(store.rows(sql, number)):
        for start in range(first, first + count, SLICE):
            end = min(start + SLICE, first + count) - 1
            known = {row[0] for row in store.rows(done.format("?2", "?3"), number, start, end)}
            yield from [text for text in passage_texts(store, start, end) if text[0] not in known]


# --- storing vectors -------------------------------------------------------------------------------------------------


def embedding_ids(store: Store, space: Space, keys: Iterable[int]) -> dict[int, int]:
    """Return text hash → embedding id for those of these text hashes that have one in a space."""
    sql = (
        "SELECT e.text_hash, e.id FROM json_each(?) j"
        " CROSS JOIN embedding e ON e.embedder = ? AND e.text_hash = j.value"
    )
    return dict(store.rows(sql, json.dumps(list(keys)), space.id))


def add_vectors(store: Store, space: Space, vectors: Iterable[tuple[int, bytes]]) -> dict[int, int]:
    """Store the new ones among these (text hash, vector); returns their embedding ids by hash. Inside a transaction."""
    fresh = dict(vectors)
    for key in embedding_ids(store, space, fresh):
        del fresh[key]
    last = int(store.one("SELECT coalesce(max(id), 0) FROM embedding"))
    ids = {key: last + i for i, key in enumerate(fresh, 1)}
    run = store.connection.executemany
    run("INSERT INTO embedding VALUES(?, ?, ?, ?)", ((ids[key], space.id, key, fresh[key]) for key in fresh))
    run("INSERT INTO embedding_code VALUES(?, ?, ?)", ((ids[key], space.id, bit_code(fresh[key])) for key in fresh))
    return ids


def place_passages(store: Store, ids: Iterable[int]) -> None:
    """Assign to these passages the stored vectors of their texts, in every space. Inside a transaction."""
    sql = (
        "INSERT OR IGNORE INTO placed SELECT r.id, j.value ->> 0, e.id FROM json_each(?) j CROSS JOIN embedder r"
        " CROSS JOIN embedding e ON e.embedder = r.id AND e.text_hash = j.value ->> 1"
        " WHERE r.name NOT LIKE 'builtin/%'"
    )
    for _, run in groupby(enumerate(sorted(ids)), lambda pair: pair[1] - pair[0]):
        consecutive = [passage_id for _, passage_id in run]
        for at in range(0, len(consecutive), SLICE):
            part = consecutive[at : at + SLICE]
            given = [(passage, key) for passage, key, _ in passage_texts(store, part[0], part[-1])]
            store.connection.execute(sql, (json.dumps(given),))


def place_note(store: Store, note_id: int) -> None:
    """Assign stored vectors to a note that was just written; embeds nothing. Inside a transaction."""
    first, count = next(store.rows("SELECT first, count FROM note WHERE id = ?", note_id))
    place_passages(store, range(first, first + count))


# --- carrying vectors over, and deleting them ------------------------------------------------------------------------


def carry_over(store: Store, old: Store) -> int:
    """Copy configured embedders' vectors of texts that still exist from an older index; returns how many.

    The old one may be of another version or damaged: whatever is readable is copied. Inside a transaction of the new
    one.
    """
    taken = 0
    last = int(store.one("SELECT coalesce(max(id), 0) FROM passage"))
    sql = (
        "SELECT text_hash, vector FROM json_each(?) j CROSS JOIN embedding ON embedder = ? AND text_hash = j.value"
        " WHERE typeof(vector) = 'blob' AND length(vector) = ? AND vector <> zeroblob(length(vector))"
    )
    with suppress(apsw.Error, UnicodeDecodeError):
        for space in configured_spaces(old):
            mine = make_space(store, space.name, space.dimensions)
            if probe := old.meta(PROBE_KEY + space.name):
                store.set_meta(PROBE_KEY + space.name, probe)
            for start in range(1, last + 1, SLICE):
                keys = [key for _, key, _ in passage_texts(store, start, min(start + SLICE - 1, last))]
                found = list(old.rows(sql, json.dumps(keys), space.id, space.width))
                taken += len(add_vectors(store, mine, found))
    if taken:
        place_passages(store, range(1, last + 1))
    return taken


def sweep(store: Store) -> int:
    """Delete vectors whose text no passage has any more, SLICE at a time; returns how many.

    Those of an embedder that is no longer configured stay as long as their text does.
    """
    spaces = configured_spaces(store)
    if not spaces or store.meta("swept") == store.generation:
        return 0
    unused_sql = (
        "SELECT id FROM embedding WHERE embedder = ?1"
        " AND id NOT IN (SELECT embedding_id FROM placed WHERE embedder = ?1) LIMIT ?2"
    )
    gone = 0
    for space in spaces:
        while ids := list(store.rows(unused_sql, space.id, SLICE)):
            with store.writing():
                store.connection.executemany("DELETE FROM embedding WHERE id = ?", ids)
                store.connection.executemany("DELETE FROM embedding_code WHERE id = ?", ids)
                store.grow()
            gone += len(ids)
    store.set_meta("swept", store.generation)
    return gone


def drop_space(store: Store, space: Space) -> None:
    """Delete a space and all its vectors."""
    with store.writing():
        for table in ("placed", "embedding_code", "embedding"):
            store.connection.execute(f"DELETE FROM {table} WHERE embedder = ?", (space.id,))
        store.connection.execute("DELETE FROM embedder WHERE id = ?", (space.id,))
        store.connection.execute("DELETE FROM meta WHERE key = ?", (PROBE_KEY + space.name,))
        store.grow()
