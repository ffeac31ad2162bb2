"""BM25 over what is seen: to the last bit what FTS5 says of an index that holds nothing else."""

import random
from pathlib import Path

import pytest
from vaults import fill, memory, opened

from vault_memory.memory import Memory
from vault_memory.store import scope_views
from vault_memory.store.lanes import Search
from vault_memory.store.rows import Store

OPEN = ("global", "agent:moss")
WORDS = ("walnut", "walks", "harbour", "tile-server", "木の箱", "C++", "Lisbon", "ferry", "quay", "rain")
PHRASES = (
    ('"walnut"',), ('"tile-server"',), ('"木"*',), ('"wal"*', '"ferry"'), ('"harbour ferry"', '"walk"', '"walk"'),
    ('"nowhere"',), ('""', '"rain"'), ('"quay"', '"rain"', '"walnut"', '"lisbon"'), ('"note"',), ('"md"', '"quay 3"'),
)  # fmt: skip


def note(rng: random.Random, scope: str = "") -> str:
    head = f"---\nscope: {scope}\naliases: [{rng.choice(WORDS)}]\ntags: [{rng.choice(WORDS[:3])}]\n---\n"
    lines = (" ".join(rng.choices(WORDS, [1 / (n + 1) for n in range(10)], k=rng.randint(1, 200))) for _ in range(8))
    return f"{head}# {rng.choice(WORDS)} {rng.choice(WORDS)}\n\n" + "\n\n".join(lines) + "\n"


def told(store: Store, limit: int) -> list[object]:
    """What the two lanes find, by path and line."""
    place = {i: where for i, *where in store.rows(
        "SELECT p.id, n.path, p.start_line, p.from_char FROM passage p JOIN note n ON n.id = p.note_id"
    )}  # fmt: skip
    path = dict(store.rows("SELECT id, path FROM note"))
    search = Search(store)
    return [
        (
            [(place[i], score) for i, score in search.lexical(phrases, limit)],
            [(path[i], score) for i, score in search.titles(phrases, limit)],
        )
        for phrases in PHRASES
    ]


@pytest.mark.parametrize("seed", range(5))
def test_as_fts5_has_it_where_nothing_else_is_indexed(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    notes = {f"{word} {n}.md": note(rng, rng.choice(OPEN)) for n in range(6) for word in ("note", "quay")}
    alone = memory(fill(tmp_path / "alone", notes))
    alone.index()
    root = fill(tmp_path / "hiding", {f"x{n}.md": note(rng, "agent:adder") for n in range(6)})
    hiding = memory(root)
    for some in (dict(list(notes.items())[:4]), {path: note(rng) for path in notes}, notes):
        fill(root, some)
        hiding.index()
    (root / "x0.md").unlink()
    hiding.index()
    for limit in (1, 7, 500):
        assert narrowed(hiding, limit) == whole(alone, limit)


def whole(mine: Memory, limit: int) -> list[object]:
    with opened(mine) as store:
        return told(store, limit)


def narrowed(mine: Memory, limit: int) -> list[object]:
    with opened(mine) as store, scope_views.seen(store, OPEN) as is_narrowed:
        assert is_narrowed
        return told(store, limit)


def test_what_is_seen_of_nothing_is_nothing(tmp_path: Path) -> None:
    mine = memory(fill(tmp_path, {"a.md": "---\nscope: agent:adder\n---\nWalnut.\n"}))
    mine.index()
    assert narrowed(mine, 9) == [([], [])] * len(PHRASES)
