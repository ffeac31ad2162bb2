"""Writes and reads hook.log: one line in plain words for each hook without an answer; small, and private to the user.

No line contains the prompt. A log that cannot be written is ignored.
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
"""How a hook without an answer ended; the last one is normal."""

_LINE = re.compile(
    r"(?P<at>\S+) (?P<who>\S+ \S+) \((?P<vault>.*?)\): (?P<how>failed|too late|nothing given) after [\d.]+ s\. "
    r"(?P<why>.*)"
)


class Call(NamedTuple):
    """The arguments of a hook's command line; `vault` is "" if the vault is not named and must be found."""

    agent: str
    event: str
    vault: str = ""


class Log(NamedTuple):
    """The log of one hook call; `begun` is the monotonic time at which it started."""

    call: Call
    begun: float
    environ: Mapping[str, str]

    def write(self, why: str, how: str = NOTHING_GIVEN) -> None:
        """Append a line: time, agent, event and vault, how it ended, after how long, and why."""
        agent, event, vault = self.call
        who = f"{agent[:40]} {event[:40]}{vault and f' ({vault[:LONGEST_VAULT]})'}"
        took = time.monotonic() - self.begun
        words = " ".join(f"{who}: {how} after {took:.2f} s. {why[:LONGEST_REASON]}".split())
        with contextlib.suppress(OSError):
            now = datetime.now(UTC).isoformat(timespec="seconds")
            safe_files.append(folder(self.environ) / NAME, f"{now} {words}".encode("utf-8", "replace"), MAX_BYTES)


class Failure(NamedTuple):
    """A logged failure; `who` is the agent and its event."""

    at: datetime
    who: str
    how: str
    why: str


def last_failures(vault: str, environ: Mapping[str, str]) -> list[Failure]:
    """Return the failures of a vault's hooks since the last line that is not a failure, oldest first."""
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
    """Return the folder of the hooks' files."""
    return Path(startup.user_folder("data", environ)) / "hooks"


def explain(error: BaseException) -> str:
    """Explain in plain words what went wrong and what to do about it."""
    if isinstance(error, VaultMemoryError):
        return f"{str(error).rstrip('.')}. {error.next_step}"
    name = f"{type(error).__name__}: {error}"
    if isinstance(error, ImportError):
        return f"{sys.executable} lacks a part of vault-memory ({name}). Reinstall vault-memory, then the hooks."
    if isinstance(error, OSError):
        return f"A file could not be read or written ({name})."
    return f"That is a bug in vault-memory ({name}). `memory doctor` looks at the vault and its index."
