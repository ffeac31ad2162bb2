"""Writes a plan page by page, each replaced whole under the guest rules, and remembers what each block was made of.

A run that is killed leaves every page as it was or as it is to be, and what it wrote can be undone: the text before and
what the block was made of are durable before the page is replaced (DESIGN.md §2, law 2). The lines of a block are kept
in `.memory/history/written` by the hash that the block's own closing marker names, for merge.py to compare with.
"""

import contextlib
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vault_memory.errors import ConflictError, RefusedError, VaultError
from vault_memory.reflect import proposals
from vault_memory.reflect.blocks import Line
from vault_memory.reflect.plan import Edit, SkippedPage, skip
from vault_memory.vault import atomic_write, locations
from vault_memory.vault.undo_history import SavedRun, UndoHistory
from vault_memory.vault.vault import SETTLE_SECONDS, Vault

FOLDER = "history/written"
KEPT_SECONDS = 90 * 86400.0
"""A text that no page has any more is kept so long from when it was written: a page may come back from another device
or a backup. Then it goes, and with it the words of what was forgotten."""

TRIES = 3

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
            atomic_write.replace_durably(file, json.dumps(plain, separators=(",", ":")).encode("ascii"))
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


Again = Callable[[Edit], Edit | None]
"""The edit of a page as it stands now; None when it says all already. Raises like `plan.edit`, or VaultError."""


@dataclass
class WriteResult:
    """What came of a plan: the run to undo it by ("" when nothing was written), what was written, and what was not."""

    run: str = ""
    edits: list[Edit] = field(default_factory=list)
    skipped: list[SkippedPage] = field(default_factory=list)


class Writer:
    """Writes edits into one vault, once; `heed` is told of each just before."""

    def __init__(self, vault: Vault, heed: Callable[[Edit], None] = lambda edit: None) -> None:
        self._vault, self._heed = vault, heed
        self._preimages = UndoHistory(vault.root)
        self._ledger = Ledger(vault.root)
        self._ours = self._written_last()

    def write(self, edits: Iterable[Edit], again: Again) -> WriteResult:
        """Write edits in turn; a page that changes under our hands is merged anew, three times at most."""
        run, done, is_core_left = self._preimages.begin("reflect"), WriteResult(), False
        for edit in edits:
            if edit.path == proposals.PATH and is_core_left:
                continue  # or a tick would go that nothing came of
            try:
                written = self._settled(run, edit, again)
            except (ConflictError, RefusedError, VaultError) as error:
                done.skipped.append(skip(edit.path, error))
                is_core_left = is_core_left or not edit.block
                continue
            if written:
                done.run = run.name
                done.edits.append(written)
        if not done.edits:
            run.drop()
        return done

    def _settled(self, run: SavedRun, edit: Edit, again: Again) -> Edit | None:
        """Write one page; returns what was written, None when somebody else has done so."""
        found: Edit | None = edit
        for attempt in range(1, TRIES + 1):
            if found and found.before is not None and self._waited_for_editor(found.path):
                found = again(found)
            if found is None:
                return None
            try:
                self._write(run, found)
            except ConflictError:
                if attempt == TRIES:
                    raise
                found = again(found)
            else:
                return found
        return None

    def _write(self, run: SavedRun, edit: Edit) -> None:
        for folder in self._vault.missing_folders(edit.path) if edit.before is None else ():
            run.keep_folder(folder)
        run.keep(edit.path, edit.before, edit.after, edit.why)
        if edit.sha:
            self._ledger.keep(edit.sha, edit.lines)
        self._heed(edit)
        self._vault.write(edit.path, edit.after, edit.before)
        self._ours[edit.path] = _digest(edit.after)

    def _waited_for_editor(self, path: str) -> bool:
        """Give an editor that has just saved a moment; whether there was anything to wait for."""
        wait = SETTLE_SECONDS - self._vault.seconds_since_saved(path)
        if 0 < wait <= SETTLE_SECONDS and not self._is_ours(path):
            time.sleep(wait)
            return True
        return False

    def _is_ours(self, path: str) -> bool:
        """Whether the page is as this program wrote it last: that needs no waiting."""
        with contextlib.suppress(OSError):
            return self._ours.get(path) == _digest(self._vault.read(path))
        return False

    def _written_last(self) -> dict[str, str]:
        """What the last run wrote, as hashes by path."""
        newest = next(iter(self._preimages.runs("reflect")), None)
        with contextlib.suppress(VaultError):
            return {change.path: change.after for change in newest.changes()} if newest else {}
        return {}


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
