"""Owns the writing of a plan: page by page, each kept before it is changed, each replaced whole under the guest rules.

A run that is killed leaves every page as it was or as it is to be, and what it wrote can be undone: the pre-image and
what the block was made of are durable before the page is replaced (DESIGN.md §2, law 2).
"""

import contextlib
import hashlib
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from vault_memory.errors import ConflictError, RefusedError, VaultError
from vault_memory.reflect import proposals
from vault_memory.reflect.ledger import Ledger
from vault_memory.reflect.plan import Edit, Skipped, skip
from vault_memory.vault.undo_history import Preimages, Run
from vault_memory.vault.vault import SETTLE_SECONDS, Vault

TRIES = 3

Again = Callable[[Edit], Edit | None]
"""The edit of a page as it stands now; None when it says all already. Raises like `plan.edit`, or VaultError."""


@dataclass
class Applied:
    """What came of a plan: the run to undo it by ("" when nothing was written), what was written, and what was not."""

    run: str = ""
    edits: list[Edit] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


class Writer:
    """Writes edits into one vault, once; `heed` is told of each just before."""

    def __init__(self, vault: Vault, heed: Callable[[Edit], None] = lambda edit: None) -> None:
        self._vault, self._heed = vault, heed
        self._preimages = Preimages(vault.root)
        self._ledger = Ledger(vault.root)
        self._ours = self._written_last()

    def write(self, edits: Iterable[Edit], again: Again) -> Applied:
        """Write edits in turn; a page that changes under our hands is merged anew, three times at most."""
        run, done, is_core_left = self._preimages.begin("reflect"), Applied(), False
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

    def _settled(self, run: Run, edit: Edit, again: Again) -> Edit | None:
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

    def _write(self, run: Run, edit: Edit) -> None:
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
