"""Holds changed paths until they are due to be indexed. It knows no files and no index.

A lone save is due shortly after its last event, many of them when the burst takes breath, and each path at the latest
`LATEST_SECONDS` after its first event, however often it is saved again. Safe for use by several threads.
"""

import threading
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

LONE_SAVE_SECONDS = 0.05
"""How long a path must be left alone: an editor's save is several events within some milliseconds."""

BURST_SECONDS = 0.2
"""While more than `FEW_PATHS` wait none may have had an event for so long: one look at a folder serves them all."""

LATEST_SECONDS = 1.0

FEW_PATHS = 8


class Batch(NamedTuple):
    """What is to be looked at in one go: relative paths with the time of their first event, or everything."""

    paths: dict[str, float]
    everything: bool = False


class _WaitingPath(NamedTuple):
    first: float
    last: float
    not_before: float = 0.0
    """What failed is left alone until then, unless another event comes."""


class ChangeQueue:
    """The paths that wait to be indexed; `clock` gives seconds that never run backwards."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._paths: dict[str, _WaitingPath] = {}
        self._latest = 0.0
        self._everything: float | None = None
        self._in_hand = Batch({})
        self._hurry = False
        self._stopped = False

    # --- in ------------------------------------------------------------------------------------------------------

    def add(self, paths: Iterable[str]) -> None:
        """Note an event at each of these paths."""
        with self._changed:
            now = self._latest = self._clock()
            for path in paths:
                known = self._paths.get(path)
                self._paths[path] = _WaitingPath(known.first if known else now, now)
            self._changed.notify_all()

    def add_everything(self) -> None:
        """Note that anything may have changed: the next batch is everything, at once."""
        with self._changed:
            if self._everything is None:
                self._everything = self._clock()
            self._changed.notify_all()

    def stop(self) -> None:
        """Let whoever waits for a batch go."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    # --- out -----------------------------------------------------------------------------------------------------

    def wait(self, seconds: float) -> Batch | None:
        """The next batch that is due, pending until `done`; None after so many seconds, or when stopped."""
        until = self._clock() + seconds
        with self._changed:
            while not self._stopped:
                now = self._clock()
                batch = self._due(now)
                if batch:
                    self._in_hand = batch
                    return batch
                following = min(map(self._due_at, self._paths.values()), default=until)
                if now >= until:
                    return None
                self._changed.wait(max(min(following, until) - now, 0.0))
            return None

    def done(self, batch: Batch, left: Iterable[str] = (), pause_seconds: float = 0.0) -> None:
        """Say that a batch has been dealt with; paths that are `left` go back, and wait for so long."""
        with self._changed:
            self._in_hand = Batch({})
            now = self._clock()
            for path in left:
                known = self._paths.get(path)
                first = batch.paths.get(path, known.first if known else now)
                # An event that came meanwhile is not made to wait.
                self._paths[path] = (
                    known._replace(first=first) if known else _WaitingPath(first, now, now + pause_seconds)
                )
            self._changed.notify_all()

    def settle(self, seconds: float) -> None:
        """Have what waits now indexed, if it is only a few paths, and wait for that.

        What comes meanwhile is not waited for, nor what has failed before.
        """
        until = self._clock() + seconds
        with self._changed:
            wanted = self._ready()
            while 0 < len(wanted) <= FEW_PATHS and self._everything is None and not self._stopped:
                left = until - self._clock()
                if left <= 0:
                    break
                self._hurry = True
                self._changed.notify_all()
                self._changed.wait(left)
                wanted &= self._ready()
            self._hurry = False

    # --- asked ---------------------------------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """How many paths wait or are in hand; everything counts as one."""
        with self._changed:
            everything = self._everything is not None or self._in_hand.everything
            return len(self._paths.keys() | self._in_hand.paths.keys()) + everything

    @property
    def oldest_seconds(self) -> float | None:
        """How long the oldest of them has been waiting; None when nothing waits."""
        with self._changed:
            begun = [waiting.first for waiting in self._paths.values()]
            begun += [*self._in_hand.paths.values()] + ([self._everything] if self._everything is not None else [])
            return max(self._clock() - min(begun), 0.0) if begun else None

    # --- under the lock --------------------------------------------------------------------------------------------

    def _ready(self) -> set[str]:
        """The paths that are in hand or may be taken now."""
        now = self._clock()
        waiting = {path for path, waiting in self._paths.items() if waiting.not_before <= now}
        return waiting | self._in_hand.paths.keys()

    def _due(self, now: float) -> Batch | None:
        if self._everything is not None:
            batch = Batch({path: waiting.first for path, waiting in self._paths.items()}, everything=True)
            self._paths, self._everything = {}, None
            return batch
        due = {path: waiting.first for path, waiting in self._paths.items() if now >= self._due_at(waiting)}
        for path in due:
            del self._paths[path]
        return Batch(due) if due else None

    def _due_at(self, waiting: _WaitingPath) -> float:
        if self._hurry:
            return waiting.not_before
        quiet = waiting.last + LONE_SAVE_SECONDS if len(self._paths) <= FEW_PATHS else self._latest + BURST_SECONDS
        return max(min(quiet, waiting.first + LATEST_SECONDS), waiting.not_before)
