"""Writes and reads hook.log: why a hook gave nothing, a line each, in plain words; small, and for its user alone.

No line holds what was asked. A log that cannot be written is done without.
"""

import contextlib
import re
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from vault_memory import startup
from vault_memory.errors import VaultMemoryError
from vault_memory.vault import safe_files

MAX_BYTES = 1 << 16
LONGEST_REASON = 600
LONGEST_VAULT = 200

NAME = "hook.log"

FAILED, TOO_LATE, NOTHING_GIVEN = "failed", "too late", "nothing given"
"""How a hook ended that gave nothing: the last is as it should be."""

_LINE = re.compile(
    r"(?P<at>\S+) (?P<who>\S+ \S+) \((?P<vault>.*?)\): (?P<how>failed|too late|nothing given) after [\d.]+ s\. "
    r"(?P<why>.*)"
)


class Call(NamedTuple):
    """The words of a hook's command line; `vault` is "" where the vault is to be found."""

    agent: str
    event: str
    vault: str = ""


class Log(NamedTuple):
    """Where one hook says why it gave nothing; `begun` is the monotonic time at which it was called."""

    call: Call
    begun: float
    environ: Mapping[str, str]

    def write(self, why: str, how: str = NOTHING_GIVEN) -> None:
        """Append a line: when, who asked for what, how it ended and after how long, and why."""
        agent, event, vault = self.call
        who = f"{agent[:40]} {event[:40]}{vault and f' ({vault[:LONGEST_VAULT]})'}"
        took = time.monotonic() - self.begun
        words = " ".join(f"{who}: {how} after {took:.2f} s. {why[:LONGEST_REASON]}".split())
        with contextlib.suppress(OSError):
            now = datetime.now(UTC).isoformat(timespec="seconds")
            safe_files.append(folder(self.environ) / NAME, f"{now} {words}".encode("utf-8", "replace"), MAX_BYTES)


class Failure(NamedTuple):
    """A line about what failed: `who` is the agent and its event."""

    at: datetime
    who: str
    how: str
    why: str


def last_failures(vault: str, environ: Mapping[str, str]) -> list[Failure]:
    """The failures that a vault's hooks told of last, oldest first; none where something else was told after them."""
    try:
        text = (folder(environ) / NAME).read_text("utf-8", "replace")
    except OSError:
        return []
    mine = " ".join(vault[:LONGEST_VAULT].split())
    failures: list[Failure] = []
    for line in reversed(text.split("\n")):
        match = _LINE.fullmatch(line)
        if match and match["vault"] == mine:
            if match["how"] == NOTHING_GIVEN:
                break
            with contextlib.suppress(ValueError):
                failures.append(Failure(datetime.fromisoformat(match["at"]), *match.group("who", "how", "why")))
    return failures[::-1]


def folder(environ: Mapping[str, str]) -> Path:
    """Where hooks keep what is theirs."""
    return Path(startup.user_folder("data", environ)) / "hooks"


def explain(error: BaseException) -> str:
    """What went wrong and what to do about it, as a person would say it."""
    if isinstance(error, VaultMemoryError):
        return f"{str(error).rstrip('.')}. {error.next_step}"
    name = f"{type(error).__name__}: {error}"
    if isinstance(error, ImportError):
        return f"{sys.executable} lacks a part of vault-memory ({name}). Reinstall vault-memory, then the hooks."
    if isinstance(error, OSError):
        return f"A file could not be read or written ({name})."
    return f"That is a bug in vault-memory ({name}). `memory doctor` looks at the vault and its index."
