"""One vault as used by a long-running server: through its daemon, or else from an index held open in this process.

A problem with vault, settings or index is an error of the current question only; the next one tries again. Questions
come from a single thread; writes use objects of their own and may run in another.
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
from vault_memory.startup import start_indexing

Document = dict[str, Any]

DAEMON_SECONDS = 10.0
"""How long a live daemon may take to answer; after that the work is done in this process."""

WAIT_FOR_INDEX_SECONDS = 1.0
"""How long a question waits for the index, enough for a small vault; otherwise the answer says it is being built."""


class VaultSession:
    """The vault that the options name; looked up anew at each question until it is found."""

    def __init__(self, vault: str | None, folder: Path) -> None:
        self._named, self._folder = vault, folder
        self._settings: LiveSettings | None = None
        self._warm: tuple[Federation, HeldIndex] | None = None
        self._building: subprocess.Popen[bytes] | None = None
        """The process that builds the index."""

    # --- questions -----------------------------------------------------------------------------------------------

    def config(self) -> Config:
        """Return the current settings; raises UsageError or VaultError."""
        if self._settings is None:
            self._settings = LiveSettings(load(self._named, cwd=self._folder))
        return self._settings.current()

    def scopes(self, agent: str) -> tuple[str, ...]:
        """Return the scopes open to an agent that works in this session's folder."""
        return projects.open_scopes(projects.Asker(agent, self._folder), self.config(), os.environ)

    def recall(self, options: Mapping[str, Any]) -> Document | None:
        """Return the `recall@1` document with its text and notes; None while the index is still being built."""
        params = {**options, "as_text": True}
        found = self._ask_daemon("recall", params)
        if found is None and (memory := self._find_indexed()):
            found = rpc_methods.call("recall", memory, params)
        return found

    def status(self, scopes: tuple[str, ...]) -> Document:
        """Return the `status@1` document of the open scopes; raises VaultError if the vault does not exist."""
        self.memory()  # a daemon would report an unusable index, but not why
        params = {"scope": list(scopes)}
        found = self._ask_daemon("status", params)
        return narrowed(found or rpc_methods.call("status", self.memory(), params))

    def memory(self) -> Federation:
        """Return a fresh view of the vault for reading notes and for writing, usable in any thread."""
        return Federation(self.config())

    def indexed(self) -> Federation:
        """Return the vault with an index held open; without an index, starts building one and raises BusyError."""
        memory = self._find_indexed()
        if memory is None:
            raise BusyError("The index is being built.", "Try again in a moment.")
        return memory

    def warm_up(self) -> None:
        """Load what the first question would wait for, unless a daemon answers it or there is no index."""
        if self._ask_daemon("health", {}) is None and (memory := self._find_indexed()):
            rpc_methods.call("recall", memory, {"query": "warm", "no_journal": True})

    # --- the daemon, or an index held open -----------------------------------------------------------------------

    def close(self) -> None:
        if self._warm:
            self._warm[0].close()

    def _ask_daemon(self, method: str, params: Mapping[str, Any]) -> Document | None:
        """Return the daemon's answer; None if no usable daemon runs, and the work must be done in this process."""
        return client.ask(self.config().vault, method, params, DAEMON_SECONDS)

    def _find_indexed(self) -> Federation | None:
        """Return the vault with an index held open; without an index, start building one and wait for it briefly.

        None while it is being built. Raises IndexUnusableError if building fails.
        """
        config = self.config()
        if self._warm is None or self._warm[0].config is not config:
            self.close()
            # No watcher serves this process, so each question scans the vault first, for a second at most.
            held = HeldIndex(config, index_lost=self._build_again)
            self._warm = Federation(config, index_file=held, index_of=HeldIndex), held
        memory, held = self._warm
        if not held.missing():
            return memory
        building, self._building = self._building or start_indexing(config.vault), None
        try:
            failed = building.wait(WAIT_FOR_INDEX_SECONDS)
        except subprocess.TimeoutExpired:
            self._building = building
            return None
        if failed:
            raise IndexUnusableError("The index could not be built.", "`memory index` says why.")
        return None if held.missing() else memory

    def _build_again(self) -> None:
        """Start rebuilding a lost index, unless that is already under way."""
        if self._building is None or self._building.poll() is not None:
            self._building = start_indexing(self.config().vault)
