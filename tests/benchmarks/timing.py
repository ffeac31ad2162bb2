"""The stopwatch: percentiles, and where the time of a warm recall goes."""

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from vault_memory.embedding.query_vector import QueryEmbedder
from vault_memory.memory import Memory
from vault_memory.search.recall import Recall
from vault_memory.search.request import build

LANES = {
    "lexical": ("lexical", "count", "frequent", "titles", "holding", "substring"),
    "semantic": ("semantic", "cosines", "note_cosines", "vectors"),
}
"""Methods of `Search` and `Lexicon` whose time is a lane's; everything else is the rest."""


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


class Watched:
    """Passes every call on to an object and adds up how long each method took."""

    def __init__(self, watched: Any) -> None:
        self._watched = watched
        self.spent: dict[str, float] = defaultdict(float)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._watched, name)
        if not callable(found):
            return found

        def timed(*arguments: Any, **named: Any) -> Any:
            started = time.perf_counter()
            try:
                return found(*arguments, **named)
            finally:
                self.spent[name] += time.perf_counter() - started

        return timed


def warm_recall(memory: Memory, asked: Sequence[str]) -> tuple[list[float], dict[str, float]]:
    """Seconds of each question from one open index, after a first round; and the mean of each lane."""
    now = "2025-12-01"
    requests = [build({"query": query, "now": now}, memory.config) for query in asked]
    with memory.index_file.reading() as (store, _):
        engine = Recall(store, memory.vault, QueryEmbedder(store, memory.index_file.embedder))
        for request in requests[: len(requests) // 4]:
            engine.answer(request)
        times = [seconds(lambda request=request: engine.answer(request)) for request in requests]
        inner: Any = engine._everything
        watched: Any = Watched(inner._search)
        inner._search = inner._finder._search = watched
        inner._finder.lexicon = lexicon = Watched(inner._finder.lexicon)
        total = sum(seconds(lambda request=request: engine.answer(request)) for request in requests)
    spent = watched.spent | lexicon.spent
    lanes = {lane: sum(spent.get(name, 0.0) for name in names) / len(asked) for lane, names in LANES.items()}
    return times, {**lanes, "rest": total / len(asked) - sum(lanes.values())}
