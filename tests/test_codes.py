"""The codes a process holds: the same rows as SQLite's scan, kept in step with the index."""

import contextlib
import random
from pathlib import Path

import pytest

from vault_memory import schema, spaces
from vault_memory.codes import EARNED, WORTH, Codes
from vault_memory.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    schema.create(tmp_path / "index.sqlite").close()
    opened = Store.open(tmp_path / "index.sqlite")
    schema.load_vector_functions(opened.connection)
    fill(opened, range(1, WORTH + 500))
    return opened


def fill(store: Store, ids: range) -> None:
    chance = random.Random(ids.start)
    rows = ((i, 1, chance.randbytes(16)) for i in ids)
    store.connection.executemany("INSERT INTO embedding_code(id, embedder, code) VALUES(?, ?, ?)", rows)


def scanned(store: Store, code: bytes, count: int) -> set[int]:
    sql = (
        "SELECT id FROM embedding_code WHERE embedder = 1"
        " ORDER BY vec_distance_hamming(vec_bit(code), vec_bit(?)), id LIMIT ?"
    )
    return {row[0] for row in store.rows(sql, code, count)}


def earned(store: Store) -> Codes:
    codes = Codes(store)
    for _ in range(EARNED - 1):
        assert codes.nearest(1, bytes(16), 10) is None  # a process that asks once leaves it to SQLite
    return codes


@pytest.mark.parametrize("count", [1, 10, 500, WORTH, WORTH * 2])
def test_the_nearest_are_those_of_a_scan(store: Store, count: int) -> None:
    with contextlib.closing(store):
        codes = earned(store)
        for seed in range(5):
            code = random.Random(seed).randbytes(16)
            found = codes.nearest(1, code, count)
            assert found is not None and set(found) == scanned(store, code, count)
            assert len(found) == len(set(found))


def test_a_change_of_the_index_is_seen(store: Store) -> None:
    with contextlib.closing(store):
        codes = earned(store)
        codes.nearest(1, bytes(16), 10)
        fill(store, range(WORTH + 500, WORTH * 2))
        store.connection.execute("DELETE FROM embedding_code WHERE id % 3 = 0")
        store.set_meta("generation", store.generation + 1)
        code = random.Random(9).randbytes(16)
        assert set(codes.nearest(1, code, 700) or ()) == scanned(store, code, 700)


def test_few_codes_and_other_spaces_are_left_to_sqlite(store: Store) -> None:
    with contextlib.closing(store):
        codes = earned(store)
        assert codes.nearest(2, bytes(16), 10) is None
        store.connection.execute("DELETE FROM embedding_code WHERE id > 100")
        store.set_meta("generation", store.generation + 1)
        assert codes.nearest(1, bytes(16), 10) is None


def test_a_space_that_is_forgotten_is_no_longer_held(store: Store) -> None:
    with contextlib.closing(store):
        store.connection.execute("INSERT INTO embedder(id, name, dimensions) VALUES(1, 'some/model@1', 128)")
        codes = earned(store)
        assert codes.nearest(1, bytes(16), 10)
        spaces.drop(store, spaces.Space(1, "some/model@1", 128))
        assert codes.nearest(1, bytes(16), 10) is None  # its number may go to the next space
