"""Remembers what a session was shown: the passages of its last turns, a small file a session in the data folder.

A file is appended to, a line a turn, so that hooks which run at once spoil nothing; a line that is damaged is passed
over, and a file that cannot be written is gone without: then a passage may come twice. It must not know what a
passage says.
"""

import contextlib
import hashlib
import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from vault_memory.agents import hook_events
from vault_memory.startup import user_folder
from vault_memory.vault import private_files

TURNS = 8
"""So many turns a passage is not shown again: it still stands in the conversation."""

MAX_PROMPTS, LONGEST_PROMPT = 3, 400
"""What was asked last is kept, the ends of it, until the session ends: after a compaction it is looked for again."""

_KEY = re.compile(r"[0-9a-f]{16}")
"""A passage's hash, as `context@1` gives it: one that is none would have the whole question refused."""

MAX_BYTES, MAX_KEYS = 1 << 19, 1000
"""Eight turns of so many passages have a place in half of the file."""

KEPT_DAYS = 7
MAX_SESSIONS = 500


class ShownSession:
    """What one session of an agent was shown of one vault; without an id nothing is remembered.

    A vault of the user and one of the project may answer the same prompt: each counts its own turns.
    """

    def __init__(self, agent: str, session: str, environ: Mapping[str, str], vault: str = "") -> None:
        self.folder = Path(user_folder("data", environ)) / "hooks" / "sessions"
        name = hashlib.sha256(f"{agent}\n{session}\n{vault}".encode("utf-8", "replace")).hexdigest()[:24]
        self.file = self.folder / f"{name}.jsonl" if session else None

    def recent(self, turns: int | None = TURNS) -> frozenset[str]:
        """The keys of the passages shown since the last compaction, in so many turns, in all of them where None."""
        found: set[str] = set()
        seen = 0
        for line in self._newest_first():
            found |= line["keys"]
            seen += line["what"] == "turn"
            if seen == turns:
                break
        return frozenset(found)

    def prompts(self) -> list[str]:
        """What was asked last, newest first, each once."""
        found = dict.fromkeys(line["prompt"] for line in self._newest_first(past_clear=True) if line["prompt"])
        return list(found)[:MAX_PROMPTS]

    def turn(self, keys: Iterable[str], prompt: str = "") -> None:
        """Note a turn, what was shown in it, and what was asked."""
        self._append({"what": "turn", "keys": list(keys)[:MAX_KEYS], "prompt": _abridged(prompt)})

    def beside(self, keys: Iterable[str], prompt: str = "") -> None:
        """Note what was shown outside a turn, or what is to be kept in mind."""
        self._append({"what": "beside", "keys": list(keys)[:MAX_KEYS], "prompt": _abridged(prompt)})

    def clear(self) -> None:
        """Forget what was shown: it does not stand in the conversation any more. What was asked stays."""
        self._append({"what": "clear"})

    def clear_turns(self) -> None:
        """Forget what was shown in turns alone: what was shown beside them stands in the system prompt."""
        beside = [key for line in self._newest_first() if line["what"] == "beside" for key in line["keys"]]
        self.clear()
        self.beside(beside)

    def forget(self) -> None:
        """The session is over."""
        if self.file:
            with contextlib.suppress(OSError):
                self.file.unlink(missing_ok=True)

    def sweep(self) -> None:
        """Delete the files of sessions that nobody has ended."""
        with contextlib.suppress(OSError):
            files = sorted(((entry.stat().st_mtime, entry.path) for entry in os.scandir(self.folder)), reverse=True)
            oldest = time.time() - KEPT_DAYS * 86_400
            for number, (at, path) in enumerate(files):
                if at < oldest or number >= MAX_SESSIONS:
                    os.unlink(path)

    def _newest_first(self, past_clear: bool = False) -> Iterator[dict[str, Any]]:
        for raw in reversed(self._lines()):
            line = _line(raw)
            if line and line["what"] == "clear" and not past_clear:
                return
            if line:
                yield line

    def _lines(self) -> list[bytes]:
        if self.file is None:
            return []
        try:
            with open(self.file, "rb") as handle:
                return handle.read(2 * MAX_BYTES).splitlines()
        except OSError:
            return []

    def _append(self, line: dict[str, Any]) -> None:
        if self.file is None:
            return
        with contextlib.suppress(OSError):
            private_files.append(self.file, json.dumps(line).encode("ascii"), MAX_BYTES)


def _abridged(prompt: str) -> str:
    """What is kept of a prompt: its beginning and its end, without secrets."""
    if not prompt:
        return ""
    from vault_memory.sessions.redact import redacted  # its patterns take some milliseconds to compile

    return hook_events.ends(redacted(prompt), LONGEST_PROMPT)


def _line(raw: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(raw)
        keys = frozenset(key for key in found.get("keys", ()) if isinstance(key, str) and _KEY.fullmatch(key))
        prompt = found.get("prompt", "")
        return {"what": found["what"], "keys": keys, "prompt": prompt if isinstance(prompt, str) else ""}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
