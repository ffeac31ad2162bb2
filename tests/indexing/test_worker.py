"""The worker processes of a bulk load: the same rows as without them, whatever happens to them."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from vault_memory.config import Config
from vault_memory.embedding.builtin_embedder import builtin
from vault_memory.indexing import indexer, prepare_note
from vault_memory.memory import Memory
from vault_memory.store import schema
from vault_memory.store.content_digest import digest
from vault_memory.store.rows import PreparedNote
from vault_memory.store.view import Store
from vault_memory.vault.walk import File

NOTES = indexer.WORKERS_FROM + 40


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("vault")
    for n in range(NOTES):
        facts = f"## Retain\n- W @Rope{n % 7}: Coil {n} hangs on hook {n * 3}.\n- O(c=0.{n % 9 + 1}) @Mara: Odd {n}.\n"
        (root / f"note {n:04}.md").write_text(f"# Note {n}\n\nLine about rope number {n}.\n\n{facts}", "utf-8")
    (root / "large.md").write_text("A line of a large note.\n" * 50_000, "utf-8")
    assert (root / "large.md").stat().st_size > prepare_note.LARGEST_NOTE_BYTES
    return root


def files_of(memory: Memory) -> list[File]:
    return sorted(memory.vault.walk().files.values())


def test_every_small_note_is_made_in_order_and_a_large_one_left(vault: Path) -> None:
    memory = Memory(Config(vault=vault))
    files = files_of(memory)
    made = list(prepare_note.prepare_in_workers(memory.vault, files))
    assert [p.file.path if p else None for p in made] == [None if f.path == "large.md" else f.path for f in files]
    rows = [row for p in made if p for row in p.passages]
    assert rows and all(row.vector and len(row.vector) == builtin().dimensions for row in rows)


def test_an_index_made_with_workers_equals_one_made_note_by_note(vault: Path, tmp_path: Path) -> None:
    with_workers = Memory(Config(vault=vault, index_path=tmp_path / "a" / "index.sqlite"))
    assert with_workers.index().added == NOTES + 1
    one_by_one = Memory(Config(vault=vault, index_path=tmp_path / "b" / "index.sqlite"))
    with closing(schema.create(tmp_path / "c.sqlite")) as connection:
        store = Store(connection)
        hour = time.monotonic() + 3600  # who has a deadline asks for no workers
        one_by_one.index_file.indexer(store).update(one_by_one.vault.walk(), deadline=hour)
        mine = digest(store)
    with closing(Store.open(with_workers.index_file.path)) as store:
        assert digest(store) == mine


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the worker processes through /proc")
def test_a_worker_that_dies_loses_nothing(vault: Path) -> None:
    memory = Memory(Config(vault=vault))
    files = files_of(memory)
    found: list[PreparedNote | None] = []
    stream: Iterator[PreparedNote | None] = prepare_note.prepare_in_workers(memory.vault, files)
    found.append(next(stream))
    kill_children()
    found += list(stream)
    assert 1 <= len(found) < len(files)
    assert [p.file.path for p in found if p] == [f.path for f in files[: len(found)] if f.path != "large.md"]


def kill_children() -> None:
    for task in Path("/proc/self/task").glob("*/children"):
        for pid in task.read_text().split():
            os.kill(int(pid), signal.SIGKILL)
