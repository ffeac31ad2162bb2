"""Keeps the lines of each written block in `.memory/history/written`, for merge.py to compare the page with.

They are known by the hash that the block's own closing marker names.
"""

import json
import os
import re
import time
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from pathlib import Path

from vault_memory.errors import RefusedError, VaultError
from vault_memory.reflect.generated_blocks import Line
from vault_memory.vault import locations, safe_files

WRITTEN = "history/written"
WRITTEN_SECONDS = 90 * 86400.0
"""A text that no page has any more is kept so long, for a page may come back from another device or a backup."""

_SHA = re.compile(r"[0-9a-f]{8}")


class WrittenBlocks:
    """The texts written into one vault's pages; `root` is the vault's real path."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def last(self, sha: str) -> list[Line] | None:
        """The lines of the block with this hash, or None when it was not written here."""
        file = locations.derived(self._root, f"{WRITTEN}/{sha}.json") if _SHA.fullmatch(sha) else None
        if file is None:
            return None
        with suppress(OSError, ValueError, TypeError, RecursionError):
            return [
                Line(str(text), tuple(map(int, keys)), str(slot), of=str(*of))
                for text, keys, slot, *of in json.loads(file.read_bytes())
            ]
        return None

    def keep(self, sha: str, lines: Sequence[Line]) -> None:
        """Keep a block's lines, durably, before it is written; raises RefusedError or VaultError."""
        file = locations.derived(self._root, f"{WRITTEN}/{sha}.json")
        if file is None:
            raise RefusedError(f".memory/{WRITTEN} is behind a link: nothing was written.", "Make it a plain folder.")
        plain = [(line.text, line.keys, line.slot, *filter(None, [line.of])) for line in lines]
        if self.last(sha) == list(lines):
            return
        try:
            locations.make_folder(file.parent)
            safe_files.replace_durably(file, json.dumps(plain, separators=(",", ":")).encode("ascii"))
        except OSError as error:
            raise VaultError(
                f".memory/{WRITTEN} cannot be written: {error.strerror or error}; nothing was changed.",
                "Check permissions and free space.",
            ) from error

    def sweep(self, used: Callable[[], Container[str]]) -> None:
        """Delete what is old and, as `used` is asked only then, what no page names any more."""
        folder = locations.derived(self._root, WRITTEN)
        if folder is None:
            return
        oldest = time.time() - WRITTEN_SECONDS
        with suppress(OSError):
            with os.scandir(folder) as entries:
                old = [entry for entry in entries if entry.stat(follow_symlinks=False).st_mtime < oldest]
            known = used() if old else ()
            for entry in old:
                if entry.name.partition(".")[0] not in known:
                    Path(entry.path).unlink(missing_ok=True)
                else:
                    os.utime(entry.path, follow_symlinks=False)  # not to be asked of again with every run
