"""Asks one vault for a server that stays: through its daemon, else from an index held in this process.

What is wrong with vault, settings or index is an error of the one question it is met at; the next one tries again.
One thread asks; what writes works on objects of its own, and may run in another.
"""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vault_memory.config import Config, load
from vault_memory.daemon import client, rpc_methods
from vault_memory.daemon.settings import LiveSettings
from vault_memory.errors import BusyError, IndexUnusableError
from vault_memory.federation import Federation
from vault_memory.indexing.held_index import HeldIndex
from vault_memory.rendering.status import narrowed
from vault_memory.sessions import projects
from vault_memory.startup import own_command, start_indexing

Document = dict[str, Any]

DAEMON_SECONDS = 10.0
"""How long a daemon that lives may take to answer; what takes longer is done in this process."""

WAIT_FOR_INDEX_SECONDS = 1.0
"""A small vault's index is made in that time; of a larger one the answer says that it is being made."""


class VaultSession:
    """One vault, whichever the options name: found again at each question until it is there."""

    def __init__(self, vault: str | None, folder: Path) -> None:
        self._named, self._folder = vault, folder
        self._settings: LiveSettings | None = None
        self._warm: tuple[Federation, HeldIndex] | None = None
        self._building: subprocess.Popen[bytes] | None = None
        """The process that builds the index."""

    # --- what is asked -------------------------------------------------------------------------------------------

    def config(self) -> Config:
        """The settings as they stand; raises UsageError or VaultError."""
        if self._settings is None:
            self._settings = LiveSettings(load(self._named, cwd=self._folder))
        return self._settings.current()

    def scopes(self, agent: str) -> tuple[str, ...]:
        """The scopes that are open to an agent that works where this process does."""
        return projects.open_scopes(projects.Asker(agent, self._folder), self.config(), os.environ)

    def recall(self, options: Mapping[str, Any]) -> Document | None:
        """The `recall@1` document with its text and notes; None while there is no index yet: it is built then."""
        params = {**options, "as_text": True}
        found = self._ask_daemon("recall", params)
        if found is None and self._has_index():
            found = rpc_methods.call("recall", self._memory(), params)
        return found

    def status(self, scopes: tuple[str, ...]) -> Document:
        """The `status@1` document of what lies in the open scopes; raises VaultError for a vault that is not there."""
        self.memory()  # a daemon would tell of an index that cannot be used, and not why
        params = {"scope": list(scopes)}
        found = self._ask_daemon("status", params)
        return narrowed(found or rpc_methods.call("status", self.memory(), params))

    def memory(self) -> Federation:
        """The vault as its files are now: to read notes, and to write, in any thread."""
        return Federation(self.config())

    def indexed(self) -> Federation:
        """The vault with an index that stays open; raises BusyError while there is none yet, and has it built."""
        if not self._has_index():
            raise BusyError("The index is being built.", "Try again in a moment.")
        return self._memory()

    def command(self, *words: str) -> list[str]:
        """What does such work in a process of its own: it needs much memory, and must not slow the answers."""
        return own_command(self.config().vault, "--json", *words)

    def warm_up(self) -> None:
        """Load what the first question waits for, unless a daemon answers it or there is no index."""
        if self._ask_daemon("health", {}) is None and self._has_index():
            rpc_methods.call("recall", self._memory(), {"query": "warm", "no_journal": True})

    # --- how it is asked -----------------------------------------------------------------------------------------

    def close(self) -> None:
        if self._warm:
            self._warm[0].close()

    def _ask_daemon(self, method: str, params: Mapping[str, Any]) -> Document | None:
        """What the vault's daemon answers; None where none runs that can be asked: then it is done in this process."""
        return client.ask(self.config().vault, method, params, DAEMON_SECONDS)

    def _memory(self) -> Federation:
        config = self.config()
        if self._warm is None or self._warm[0].config is not config:
            self.close()
            # Nobody watches the vault for this process: each question looks through it first, a second at most.
            held = HeldIndex(config, index_lost=self._build_again)
            self._warm = Federation(config, index_file=held, index_of=HeldIndex), held
        return self._warm[0]

    def _has_index(self) -> bool:
        """Whether there is an index to answer from; where there is none, it is being built from now on.

        Raises IndexUnusableError where that fails.
        """
        self._memory()
        assert self._warm is not None
        if not self._warm[1].missing():
            return True
        building, self._building = self._building or start_indexing(self.config().vault), None
        try:
            failed = building.wait(WAIT_FOR_INDEX_SECONDS)
        except subprocess.TimeoutExpired:
            self._building = building
            return False
        if failed:
            raise IndexUnusableError("The index could not be built.", "`memory index` says why.")
        return not self._warm[1].missing()

    def _build_again(self) -> None:
        """Have an index that was lost built, unless that is under way."""
        if self._building is None or self._building.poll() is not None:
            self._building = start_indexing(self.config().vault)
