"""What waits to be looked at: when it is due, and what is said of it meanwhile."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.daemon.watch import (
    BURST_SECONDS,
    EVERYTHING,
    FEW_PATHS,
    LONE_SAVE_SECONDS,
    LONGEST_WAIT_SECONDS,
    MANY_PATHS,
    Batch,
    ChangeQueue,
)


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pending(clock: Clock) -> ChangeQueue:
    return ChangeQueue(clock)


def taken(pending: ChangeQueue) -> Batch | None:
    """The batch that is due now, without waiting."""
    return pending.wait(0.0)


def test_a_lone_save_is_due_shortly_after_its_last_event(pending: ChangeQueue, clock: Clock) -> None:
    pending.add(["a.md"])
    clock.now += LONE_SAVE_SECONDS * 0.9
    assert taken(pending) is None
    pending.add(["a.md"])  # the second event of the same save
    clock.now += LONE_SAVE_SECONDS * 0.9
    assert taken(pending) is None
    clock.now += LONE_SAVE_SECONDS * 0.2
    assert taken(pending) == {"a.md": 100.0}


def test_a_burst_is_one_batch_once_it_takes_breath(pending: ChangeQueue, clock: Clock) -> None:
    for n in range(FEW_PATHS * 3):
        pending.add([f"{n}.md"])
        clock.now += 0.01
    clock.now += LONE_SAVE_SECONDS
    assert taken(pending) is None
    clock.now += BURST_SECONDS
    batch = taken(pending)
    assert batch is not None and len(batch) == FEW_PATHS * 3


def fail(pending: ChangeQueue, clock: Clock) -> None:
    """Have a note looked at that cannot be indexed now."""
    pending.add(["bad.md"])
    clock.now += 1
    batch = taken(pending)
    assert batch is not None
    pending.done(batch, ["bad.md"])


def test_what_failed_counts_until_it_is_looked_at_again_and_holds_up_nothing_else(
    pending: ChangeQueue, clock: Clock
) -> None:
    fail(pending, clock)
    assert (pending.count, pending.oldest_seconds, pending.failed) == (1, 1.0, {"bad.md"})
    pending.add(["good.md"])
    clock.now += LONE_SAVE_SECONDS
    assert taken(pending) == {"good.md": 101.0}
    pending.done({"good.md": 101.0})
    assert (taken(pending), pending.failed) == (None, {"bad.md"})
    pending.add(["bad.md"])
    clock.now += LONE_SAVE_SECONDS
    batch = taken(pending)
    assert batch is not None and [*batch] == ["bad.md"]
    pending.done(batch, ["bad.md"])
    assert pending.oldest_seconds == clock.now - 100.0  # since it failed first
    pending.done({EVERYTHING: clock.now})
    assert (pending.count, pending.failed) == (0, frozenset())


def test_whoever_settles_has_a_few_looked_at_now() -> None:
    pending = ChangeQueue()
    done: list[str] = []

    def work() -> None:
        while batch := pending.wait(10.0):
            done.extend(batch)
            pending.done(batch)

    worker = threading.Thread(target=work)
    worker.start()
    pending.add(["a.md", "b.md"])
    pending.hurry(10.0)
    assert pending.count == 0
    assert sorted(done) == ["a.md", "b.md"]
    pending.stop()
    worker.join(10)
    assert not worker.is_alive()


def test_nobody_waits_for_many_or_for_what_failed(pending: ChangeQueue, clock: Clock) -> None:
    pending.add(f"{n}.md" for n in range(MANY_PATHS + 1))
    pending.hurry(1000.0)
    assert pending.count == MANY_PATHS + 1
    failed = ChangeQueue(clock)
    fail(failed, clock)
    failed.hurry(1000.0)
    assert failed.count == 1


@given(st.lists(st.tuples(st.sampled_from("abcdefghijklmn"), st.floats(0.0, 0.5)), max_size=60))
def test_nothing_is_lost_and_nothing_is_late(events: list[tuple[str, float]]) -> None:
    clock = Clock()
    pending = ChangeQueue(clock)
    added: dict[str, float] = {}
    for path, pause in events:
        pending.add([path])
        added.setdefault(path, clock.now)
        clock.now += pause
        batch = taken(pending)
        if batch:
            assert all(added.pop(name) == first for name, first in batch.items())
            pending.done(batch)
        assert all(clock.now - first < LONGEST_WAIT_SECONDS for first in added.values())
        assert pending.count == len(added)
    clock.now += LONGEST_WAIT_SECONDS
    batch = taken(pending)
    assert (batch or {}) == added
