"""Counts the steps of a call: whether they grow faster than its input shows on any machine, at any load."""

import sys
from collections.abc import Callable
from types import FrameType


def steps(action: Callable[[], object]) -> int:
    """How many calls `action` makes, of Python's functions and of C's."""
    count = 0

    def tell(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(tell)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count
