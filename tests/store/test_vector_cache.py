"""The vectors a process holds: found and compared as SQLite does it, and kept in step with the index."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from vault_memory.store import embedding_rows
from vault_memory.store.embedding_rows import LEAST_HELD, QUESTIONS_TO_EARN, Space, VectorCache
from vault_memory.store.vectors import bit_code, cosine
from vault_memory.store.view import ALL, Store

DIMENSIONS = 64
FIRST, SECOND = Space(1, "some/model@1", DIMENSIONS), Space(2, "other/model@1", DIMENSIONS)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    Store.create(tmp_path / "index.sqlite").close()
    with Store.opened(tmp_path / "index.sqlite") as opened:
        embedding_rows.load_vector_functions(opened)
        fill(opened, range(1, LEAST_HELD + 500))
        yield opened


def vector(seed: int) -> bytes:
    return random.Random(seed).randbytes(DIMENSIONS).replace(b"\x80", b"\x81")


def fill(store: Store, ids: range, space: int = 1) -> None:
    """Embeddings whose vector follows from their number, and where it was made."""
    rows = [(i, space, i, vector(i * 7 + space)) for i in ids]
    with store.connection:
        store.connection.executemany("INSERT INTO embedding VALUES(?, ?, ?, ?)", rows)
        placed = [(space, i, i) for i in ids]
        store.connection.executemany("INSERT INTO placed VALUES(?, ?, ?)", placed)
        codes = ((i, space, bit_code(found)) for i, _, _, found in rows)
        store.connection.executemany("INSERT INTO embedding_code VALUES(?, ?, ?)", codes)


def remove(store: Store, where: str) -> None:
    for table in ("embedding", "embedding_code"):
        store.connection.execute(f"DELETE FROM {table} WHERE {where}")
    store.connection.execute("DELETE FROM placed WHERE embedding_id NOT IN (SELECT id FROM embedding)")


def nearest(held: VectorCache, query: bytes, pool: int = 10, limit: int = 5, space: Space = FIRST) -> object:
    """What is found once questions have earned that the vectors are held."""
    for _ in range(QUESTIONS_TO_EARN - 1):
        held.nearest(space, query, pool, limit)
    return held.nearest(space, query, pool, limit)


def scanned(store: Store, query: bytes, pool: int, limit: int, space: int = 1) -> list[tuple[int, float]]:
    """The same two stages by SQLite's scan of the codes and plain arithmetic."""
    sql = (
        "SELECT id FROM (SELECT id, rank() OVER (ORDER BY vec_distance_hamming(vec_bit(code), vec_bit(?2))) AS place"
        " FROM embedding_code WHERE embedder = ?1) WHERE place <= ?3"  # with all at the last distance
    )
    near = [row[0] for row in store.rows(sql, space, bit_code(query), pool)]
    of = dict(store.rows("SELECT id, vector FROM embedding"))
    scored = sorted((-cosine(of[i], query), i) for i in near)
    return [(i, pytest.approx(-score)) for score, i in scored[:limit]]


@pytest.mark.parametrize(("pool", "limit"), [(1, 1), (10, 10), (500, 20), (LEAST_HELD * 2, 50)])
def test_the_nearest_are_those_of_a_scan(store: Store, pool: int, limit: int) -> None:
    held = VectorCache(store.view(ALL))
    for seed in range(-5, 0):
        assert nearest(held, vector(seed), pool, limit) == scanned(store, vector(seed), pool, limit)


def test_an_index_built_anew_is_read_anew(store: Store) -> None:
    held = VectorCache(store.view(ALL))
    assert held.nearest(FIRST, vector(-1), 10, 5) is None  # nobody has asked often enough
    assert nearest(held, vector(-1))
    remove(store, "1")
    store.connection.execute("DELETE FROM sqlite_sequence")
    fill(store, range(1, LEAST_HELD + 100))
    store.connection.execute("UPDATE embedding SET vector = ? WHERE id = 9", (vector(-1),))
    store.connection.execute("UPDATE embedding_code SET code = ? WHERE id = 9", (bit_code(vector(-1)),))
    store.set_meta("built", 2)
    store.grow()
    assert held.nearest(FIRST, vector(-1), 10, 5) is None
    found = nearest(held, vector(-1))
    assert isinstance(found, list)
    assert found[0] == (9, pytest.approx(1.0))


def test_few_vectors_and_other_spaces_are_left_to_sqlite(store: Store) -> None:
    held = VectorCache(store.view(ALL))
    assert nearest(held, vector(-1), space=SECOND) is None
    assert nearest(held, vector(-1), space=FIRST._replace(dimensions=DIMENSIONS + 8)) is None  # of no whole words
    few = VectorCache(store.view(ALL))
    remove(store, "id > 100")
    store.grow()
    assert nearest(few, vector(-1)) is None
    fill(store, range(LEAST_HELD + 500, LEAST_HELD * 2))
    store.grow()
    assert nearest(few, vector(-1)) is None
    fill(store, range(LEAST_HELD * 2, LEAST_HELD * 3))
    store.grow()
    assert nearest(few, vector(-1)) == scanned(store, vector(-1), 10, 5)


def test_a_space_that_is_forgotten_gives_its_number_to_no_other(store: Store) -> None:
    assert embedding_rows.make_space(store, "builtin/some@1", DIMENSIONS).id == 1
    first = embedding_rows.make_space(store, "some/model@1", DIMENSIONS).id
    fill(store, range(LEAST_HELD * 2, LEAST_HELD * 4), first)
    held, space = VectorCache(store.view(ALL)), Space(first, "some/model@1", DIMENSIONS)
    assert nearest(held, vector(-1), space=space) == scanned(store, vector(-1), 10, 5, first)
    embedding_rows.drop_space(store, space)
    assert embedding_rows.make_space(store, "some/model@1", DIMENSIONS).id > first
