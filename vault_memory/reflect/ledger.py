"""Owns what reflect remembers of the blocks it wrote: line by line, what each rested on. Files in `.memory/history`.

A block that a person edited is merged with what was written there last (merge.py), so that text must be known. It is
kept by its hash, which the block's own closing marker names: no state of this device decides what it was.
"""

import contextlib
import json
import os
import re
import time
from collections.abc import Callable, Container, Sequence
from pathlib import Path

from vault_memory.errors import RefusedError, VaultError
from vault_memory.reflect.blocks import Line
from vault_memory.vault import locations

FOLDER = "history/written"
KEPT_SECONDS = 90 * 86400.0
"""A text that no page has any more is kept so long from when it was written: a page may come back from another device
or a backup. Then it goes, and with it the words of what was forgotten."""

_LINK_IS_NONE = getattr(os, "O_NOFOLLOW", 0)
_SHA = re.compile(r"[0-9a-f]{8}")


class Ledger:
    """The texts written into one vault's pages; `root` is the vault's real path."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def last(self, sha: str) -> list[Line] | None:
        """The lines of the block with this hash, or None when it was not written here."""
        file = locations.derived(self._root, f"{FOLDER}/{sha}.json") if _SHA.fullmatch(sha) else None
        if file is None:
            return None
        with contextlib.suppress(OSError, ValueError, TypeError, RecursionError):
            return [
                Line(str(text), tuple(map(int, keys)), str(slot), of=str(*of))
                for text, keys, slot, *of in json.loads(file.read_bytes())
            ]
        return None

    def keep(self, sha: str, lines: Sequence[Line]) -> None:
        """Keep a block's lines, durably, before it is written; raises RefusedError or VaultError."""
        file = locations.derived(self._root, f"{FOLDER}/{sha}.json")
        if file is None:
            raise RefusedError(f".memory/{FOLDER} is behind a link: nothing was written.", "Make it a plain folder.")
        plain = [(line.text, line.keys, line.slot, *filter(None, [line.of])) for line in lines]
        if self.last(sha) == [line._replace(parts=()) for line in lines]:
            return
        try:
            locations.make_folder(file.parent)
            part = file.with_suffix(".part")
            with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _LINK_IS_NONE, 0o600), "wb") as handle:
                handle.write(json.dumps(plain, separators=(",", ":")).encode("ascii"))
                handle.flush()
                os.fsync(handle.fileno())
            os.replace(part, file)
        except OSError as error:
            raise VaultError(
                f".memory/{FOLDER} cannot be written: {error.strerror or error}; nothing was changed.",
                "Check permissions and free space.",
            ) from error

    def sweep(self, used: Callable[[], Container[str]]) -> None:
        """Delete what is old and, as `used` is asked only then, what no page names any more."""
        folder = locations.derived(self._root, FOLDER)
        if folder is None:
            return
        oldest = time.time() - KEPT_SECONDS
        with contextlib.suppress(OSError):
            with os.scandir(folder) as entries:
                old = [entry for entry in entries if entry.stat(follow_symlinks=False).st_mtime < oldest]
            known = used() if old else ()
            for entry in old:
                if entry.name.partition(".")[0] not in known:
                    Path(entry.path).unlink(missing_ok=True)
                else:
                    os.utime(entry.path, follow_symlinks=False)  # not to be asked of again with every run
