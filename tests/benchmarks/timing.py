"""The stopwatch: percentiles, and how long a warm recall takes."""

import time
from collections.abc import Callable, Sequence

from vault_memory.memory import Memory
from vault_memory.search.recall import Recall
from vault_memory.search.recall_options import build


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which this share lies."""
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def seconds(work: Callable[[], object]) -> float:
    """How long a piece of work takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def milliseconds(values: Sequence[float]) -> str:
    """Median and 95th percentile, for a table."""
    return f"{1000 * percentile(values, 0.5):8.1f} {1000 * percentile(values, 0.95):8.1f}"


def warm_recall(memory: Memory, asked: Sequence[str]) -> list[float]:
    """Seconds of each question from one open index, after a first round."""
    requests = [build({"query": query, "now": "2025-12-01"}, memory.config) for query in asked]
    with memory.index_file.reading() as (store, _):
        engine = Recall(store, memory.vault)
        for request in requests[: len(requests) // 4]:
            engine.answer(request)
        return [seconds(lambda request=request: engine.answer(request)) for request in requests]
