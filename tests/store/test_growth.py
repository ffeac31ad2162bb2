"""What questions to the index take, in steps and in memory, as it grows."""

from contextlib import closing
from datetime import date
from pathlib import Path

import apsw
import pytest
from vaults import fill, memory, opened

from vault_memory.store import note_queries
from vault_memory.store.view import ALL


@pytest.mark.parametrize("text", ["The same words.", "Number {}."])
def test_what_was_told_of_facts(tmp_path: Path, text: str) -> None:
    def taken(count: int) -> int:
        lines = "".join(f"- W @Peter: {text.format(n)}\n" for n in range(count))
        of = memory(fill(tmp_path / str(count), {"memory/2025-11-27.md": f"## Retain\n{lines}"}))
        of.index()
        with opened(of) as store:
            ids = [row[0] for row in store.rows("SELECT passage_id FROM fact")]
            steps = 0

            def tell() -> bool:
                nonlocal steps
                steps += 1
                return False

            store.connection.set_progress_handler(tell, 100)
            found = note_queries.told_facts(store.view(ALL), ids, date(2025, 12, 1))
            assert len(found) == count and {days for *_, days in found.values()} == {1}
        return steps

    assert taken(800) < 3 * taken(400)


def test_a_temporary_copy_of_a_large_index_is_not_held_in_memory(tmp_path: Path) -> None:
    of = memory(fill(tmp_path, {"a.md": "One line.\n"}))
    of.index()
    with opened(of) as store:
        with store.writing():
            store.connection.execute("INSERT INTO meta VALUES('large', randomblob(8 << 20))")
        with closing(store.temporary_copy()) as copy:
            assert copy.one("SELECT length(value) FROM meta WHERE key = 'large'") == 8 << 20
            used, _ = copy.connection.status(apsw.SQLITE_DBSTATUS_CACHE_USED)
        assert used < 4 << 20
