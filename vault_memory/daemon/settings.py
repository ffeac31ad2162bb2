"""The settings of a long-running process: reloaded when one of their files has changed, or on demand.

Obsidian's own settings of the vault are among these files: they say what is excluded and where daily notes are.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from vault_memory import startup
from vault_memory.config import Config, load
from vault_memory.errors import VaultMemoryError
from vault_memory.vault.vault import Vault

log = logging.getLogger(__name__)

SAVE_SECONDS = 0.05
"""How long to wait after a settings file has changed before reading it."""

_OBSIDIAN = ("app.json", "daily-notes.json", "templates.json")


class LiveSettings:
    """The settings of one vault, thread-safe. A mistake in a file leaves the previous settings in force.

    `pause` lets an editor finish a save: a file that is still truncated or empty may be valid, too.
    """

    def __init__(
        self, config: Config, changed: Callable[[], None] = lambda: None,
        pause: Callable[[], None] = lambda: time.sleep(SAVE_SECONDS),
    ) -> None:  # fmt: skip
        self._lock = threading.Lock()
        self._current, self._changed, self._pause = config, changed, pause
        folder = Vault(config).settings_folder
        self._files = [
            Path(startup.user_folder("config", os.environ), "config.toml"), config.vault / ".memory" / "config.toml",
            *(config.vault / folder / name for name in _OBSIDIAN),
        ]  # fmt: skip
        self._stamps = self._file_stamps()
        self.trouble = ""
        """Why the current files are not in force, or ""."""

    def current(self) -> Config:
        """Return the settings, reloaded if a file has changed; a reload returns a new object."""
        with self._lock:
            return self._current if self._file_stamps() == self._stamps else self._read()

    def read_again(self) -> Config:
        """Reload the settings and return them."""
        with self._lock:
            return self._read()

    def _read(self) -> Config:
        self._stamps = self._file_stamps()  # taken first: a change from now on is noticed next time
        self._pause()
        try:
            self._current = load(str(self._current.vault))
        except VaultMemoryError as error:
            self.trouble = f"{str(error).rstrip('.')}. {error.next_step}"
            log.warning("the settings stay as they were: %s", self.trouble)
        else:
            self.trouble = ""
            log.info("the settings were read again")
            self._changed()
        return self._current

    def are_those_of(self, environ: Mapping[str, str]) -> bool:
        """Whether a process with these variables (its `relevant_environment`) has the same settings."""
        config, own = self._current, startup.relevant_environment(os.environ)
        others = {name: value for name, value in os.environ.items() if name not in own} | dict(environ)
        named = ["TZ"]
        if "ollama" in (config.embedding_provider, config.rerank_provider, config.reflect_provider):
            named.append("OLLAMA_HOST")
        if any(others.get(name) != os.environ.get(name) for name in named):
            return False
        if startup.user_folder("data", others) != startup.user_folder("data", os.environ):
            return False
        try:
            return replace(load(str(config.vault), others), vault=config.vault) == config
        except VaultMemoryError:
            return False  # that process will report the error itself

    def _file_stamps(self) -> list[tuple[int, int] | None]:
        """Return the modification time (ns) and size of each file; None for a missing one."""
        stamps: list[tuple[int, int] | None] = []
        for file in self._files:
            try:
                status = os.stat(file)
                stamps.append((status.st_mtime_ns, status.st_size))
            except OSError:
                stamps.append(None)
        return stamps
