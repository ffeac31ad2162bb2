"""Lets another program do something at each system call of ours in turn: what only a race shows is then certain."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

Action = Callable[[], object]


def disturbed(action: Action, disturb: Action, at: int) -> bool:
    """Run `action` in this thread, and `disturb` just before its system call number `at`; whether it made so many."""
    left = at

    def trace(frame: FrameType, event: str, called: Any) -> None:
        nonlocal left
        is_foreign = event == "c_call" and getattr(called, "__module__", None) in ("posix", "_io", "fcntl")
        is_step = event == "return" and "vault_memory" in frame.f_code.co_filename  # a foreign call through ctypes
        if is_foreign or is_step:
            left -= 1
            if left < 0:
                sys.setprofile(None)
                disturb()

    sys.setprofile(trace)
    try:
        action()
    finally:
        sys.setprofile(None)
    return left < 0
