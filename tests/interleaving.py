"""Lets another program do something at each system call of ours in turn: what only a race shows is then certain."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

Action = Callable[[], object]


def disturbed(action: Action, disturb: Action, *at: int) -> bool:
    """Run `action` in this thread, and `disturb` just before its system calls of these numbers, in ascending order.

    Returns whether it made so many.
    """
    steps, waiting = -1, list(at)

    def trace(frame: FrameType, event: str, called: Any) -> None:
        nonlocal steps
        is_foreign = event == "c_call" and getattr(called, "__module__", None) in ("posix", "_io", "fcntl")
        is_step = event == "return" and "vault_memory" in frame.f_code.co_filename  # a foreign call through ctypes
        steps += is_foreign or is_step
        if waiting and steps == waiting[0]:
            del waiting[0]
            sys.setprofile(None)
            disturb()
            if waiting:
                sys.setprofile(trace)

    sys.setprofile(trace)
    try:
        action()
    finally:
        sys.setprofile(None)
    return not waiting
