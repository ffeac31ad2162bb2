"""What tests of the daemon share: `memory watch` as a process, asked through its socket, stopped and killed."""

import contextlib
import itertools
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from vault_memory.daemon import client
from vault_memory.errors import VaultMemoryError

T = TypeVar("T")

PATIENCE_SECONDS = 30.0
"""So long a test waits before it fails; a machine with other things to do may need some of it."""

_numbers = itertools.count()


def start_daemon(root: Path, *options: str) -> "Running":
    """Start `memory watch` on a vault and wait until it answers; it is ended with the test."""
    from vaults import start

    return Running(root, start(root, "watch", *options)).ready()


def until(wanted: Callable[[], T], seconds: float = PATIENCE_SECONDS) -> T:
    """What `wanted` gives once it is true; fails with what it gave last when the time is over."""
    deadline = time.monotonic() + seconds
    while not (found := wanted()):
        assert time.monotonic() < deadline, f"still {found!r} after {seconds:.0f} s"
        time.sleep(0.01)
    return found


def freeze(process: "subprocess.Popen[Any]") -> None:
    """Stop a process by SIGSTOP, as a debugger does, and wait until all of its threads stand still."""
    process.send_signal(signal.SIGSTOP)
    os.waitpid(process.pid, os.WUNTRACED)


class Running:
    """A daemon that was started, and the vault it watches."""

    def __init__(self, root: Path, process: "subprocess.Popen[str]") -> None:
        self.root, self.process = root, process

    @property
    def socket(self) -> Path:
        """Where it is reached."""
        return Path(client.socket_path(self.root))

    def ask(self, method: str, wait_seconds: float = PATIENCE_SECONDS, **params: Any) -> Any:
        """Its answer, over a connection of its own; raises what client.py raises."""
        return client.call(self.socket, method, params, wait_seconds)

    def ready(self) -> "Running":
        """Wait until it answers; the first look at the vault may still be under way."""
        until(self._answers)
        return self

    def settled(self, seconds: float = PATIENCE_SECONDS) -> "Running":
        """Wait until it has dealt with everything that happened to the vault before this call.

        The system tells of changes in the order in which they happened: a note that appears and goes is waited for.
        """
        probe = f"settling{next(_numbers)}.md"
        (self.root / probe).write_text(f"{Path(probe).stem}\n", "utf-8")
        until(lambda: self._knows(probe), seconds)
        (self.root / probe).unlink()
        until(lambda: not self._knows(probe), seconds)
        until(lambda: self.is_idle(), seconds)
        return self

    def is_idle(self) -> bool:
        """Whether nothing waits, and it says that its index has everything."""
        health = self.ask("health")
        if health["pending"] or health["oldest_pending_seconds"] is not None:
            return False
        return bool(self.ask("status")["index"]["fresh"])

    def stop(self) -> int:
        """End it by SIGTERM, as a service manager does; returns its exit code."""
        return self._end(signal.SIGTERM)

    def kill(self) -> int:
        """End it by SIGKILL, as no one should."""
        return self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> int:
        self.process.send_signal(how)
        self.process.communicate(timeout=PATIENCE_SECONDS)
        return self.process.returncode

    def _answers(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError(f"the daemon ended: {self.process.communicate()}")
        with contextlib.suppress(VaultMemoryError):
            return bool(self.ask("health", 1.0)["pid"] == self.process.pid)
        return False

    def _knows(self, note: str) -> bool:
        """Whether its index has a note: where the file is gone, recall cites nothing of it but counts what it had."""
        found = self.ask("recall", query=f'"{Path(note).stem}"', no_journal=True)
        return any(result["path"] == note for result in found["results"]) or found["omitted"]["changed"] > 0
