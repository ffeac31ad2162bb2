"""The scale figures: how recall's lanes grow with the index, the embedder's pace, exactness, and churn."""

import random
import tempfile
from pathlib import Path

from tests.benchmarks import made
from tests.benchmarks.timing import milliseconds, seconds, warm_recall
from vault_memory.config import Config
from vault_memory.embedding.builtin import StaticEmbedder
from vault_memory.memory import Memory
from vault_memory.search.candidates import RESCORE, SEMANTIC_POOL
from vault_memory.store.embedding_rows import find_space
from vault_memory.store.lanes import Search
from vault_memory.store.schema import load_vector_functions
from vault_memory.store.view import ALL

NOTE_PASSAGES, BIG_NOTE_PASSAGES, BIG = 40, 400, 300_000
CHURN_ROUNDS, CHURN_SHARE = 4, 4


def run(sizes: list[int], folder: Path | None, questions: int, churn_passages: int) -> None:
    """Print all tables; vaults and indexes stay in `folder` for the next run, if one is given."""
    with tempfile.TemporaryDirectory() as temporary:
        root = folder or Path(temporary)
        embedding()
        print(
            f"{'passages':>9} {'p50 ms':>8} {'p95 ms':>8} {'lexical':>8} {'semantic':>8} {'rest':>8} {'recall@10':>9}"
        )
        for size in sizes:
            memory, notes = built(root / str(size), size)
            _row(size, memory, made.questions(questions, notes))
        if churn_passages:
            churn(root / "churn", churn_passages, questions)


def built(root: Path, size: int, seed: int = 1) -> tuple[Memory, int]:
    """A vault of about so many passages with its index, made now or by an earlier run; and its number of notes."""
    each = BIG_NOTE_PASSAGES if size > BIG else NOTE_PASSAGES
    notes = max(size // each, 3)
    done = root / ".made"
    if not done.exists():
        print(f"# making {notes} notes of {each} passages", flush=True)
        made.write(root, notes, each, seed)
        done.touch()
    memory = Memory(Config(vault=root))
    took = seconds(lambda: memory.index(progress=_Progress()))
    print(f"# index up to date in {took:.1f} s", flush=True)
    return memory, notes


class _Progress:
    """A line on the console at every tenth of the work."""

    def __init__(self) -> None:
        self._shown = 0

    def __call__(self, done: int, total: int, passages: int) -> None:
        if total and done * 10 // total > self._shown:
            self._shown = done * 10 // total
            print(f"# {done} of {total} notes, {passages} passages", flush=True)


def _row(size: int | str, memory: Memory, asked: list[str]) -> None:
    times, lanes = warm_recall(memory, asked)
    spent = " ".join(f"{1000 * lanes[lane]:8.1f}" for lane in ("lexical", "semantic", "rest"))
    print(f"{size:>9} {milliseconds(times)} {spent} {exactness(memory, asked[:50]):9.3f}", flush=True)


def embedding(passages: int = 20_000, tokens_each: int = 100) -> None:
    """Print how fast the builtin embedder is, on one core: passages in bulk, and questions one by one."""
    vocabulary, draw = made.words(), random.Random(3)
    texts = [" ".join(draw.choices(vocabulary[:5000], k=tokens_each)) for _ in range(passages)]
    embedder = StaticEmbedder()
    embedder.embed(texts[:1000])
    pace = (passages - 1000) / seconds(lambda: embedder.embed(texts[1000:]))
    asked, single = made.questions(200, 1000), StaticEmbedder()
    times = [seconds(lambda query=query: single.embed([query])) for query in asked]
    print(f"builtin embedder: {pace:,.0f} passages of {tokens_each} tokens a second")
    print(f"a question's embedding, milliseconds: p50, p95 {milliseconds(times)}")


def exactness(memory: Memory, asked: list[str], k: int = 10) -> float:
    """The share of the k nearest by exact cosine that the two-stage search finds too (ties by score count)."""
    import numpy as np

    with memory.index_file.reading() as (store, _):
        load_vector_functions(store.connection)
        space = find_space(store, memory.index_file.embedder.id)
        assert space is not None
        rows = store.rows("SELECT vector FROM embedding WHERE embedder = ? ORDER BY id", space.id)
        held = np.frombuffer(b"".join(row[0] for row in rows), np.int8).reshape(
            -1, memory.index_file.embedder.dimensions
        )
        lengths = np.concatenate([np.linalg.norm(held[i : i + 65536].astype(np.float32), axis=1)
                                  for i in range(0, len(held), 65536)])  # fmt: skip
        search, shares = Search(store.view(ALL)), []
        for (vector,) in (memory.index_file.embedder.embed([query]) for query in asked):
            if any(vector):
                exact = np.sort(_cosines(held, lengths, vector))[-k:]
                found = search.semantic(space, vector, SEMANTIC_POOL * RESCORE, SEMANTIC_POOL)
                near = sorted({round(score, 6) for _, score in found}, reverse=True)[:k]
                shares.append(
                    sum(score >= exact[0] - 1e-5 for score in near) / len({round(float(x), 6) for x in exact})
                )
    return sum(min(share, 1.0) for share in shares) / max(len(shares), 1)


def _cosines(held, lengths, vector: bytes):  # type: ignore[no-untyped-def]  # numpy arrays, imported late
    import numpy as np

    asked = np.frombuffer(vector, np.int8).astype(np.float32)
    parts = [held[i : i + 65536].astype(np.float32) @ asked for i in range(0, len(held), 65536)]
    return np.concatenate(parts) / np.maximum(lengths * np.linalg.norm(asked), 1e-9)


def churn(root: Path, size: int, questions: int) -> None:
    """Print recall on an index whose notes were rewritten, and on a fresh one of the same notes."""
    memory, notes = built(root, size)
    for turn in range(CHURN_ROUNDS):
        for number in range(turn, notes, CHURN_SHARE):
            path, text = made.note(number, NOTE_PASSAGES, seed=turn + 2)
            (root / path).write_text(text, "utf-8")
        took = seconds(memory.index)
        print(
            f"# churn {turn + 1} of {CHURN_ROUNDS}: a quarter of the notes rewritten, indexed in {took:.1f} s",
            flush=True,
        )
    asked = made.questions(questions, notes)
    for label in ("churned", "fresh"):
        _row(label, memory, asked)
        print(f"# index of {memory.index_file.path.stat().st_size / 1e6:.0f} MB", flush=True)
        if label == "churned":
            memory.index(rebuild=True)
