"""Asks one vault for a server that stays: through its daemon, else from an index held in this process.

What is wrong with vault, settings or index is an error of the one question it is met at; the next one tries again.
A questioner is one thread; what writes works on objects of its own, and may run in another.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from vault_memory.config import Config, load
from vault_memory.daemon import client, methods
from vault_memory.daemon.settings import LiveSettings
from vault_memory.errors import BusyError, ConflictError, RefusedError, VaultError, of_exit_code
from vault_memory.federation import Federation
from vault_memory.indexing.held_index import HeldIndex
from vault_memory.rendering.status import narrowed
from vault_memory.sessions import projects
from vault_memory.vault.vault import Vault

if TYPE_CHECKING:
    from vault_memory.search.entity_profile import EntityProfile
    from vault_memory.search.get import Excerpt
    from vault_memory.write.edit import EditRequest, EditResult
    from vault_memory.write.new_note import NewNote, StoredNote
    from vault_memory.write.retain import Bullet, RetainResult

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
        self._building: _IndexBuild | None = None

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
        """A `recall@1` document with `text` and `said`; None while there is no index yet: it is being built then."""
        params = {**options, "as_text": True}
        found = self._of_daemon("recall", params)
        if found is None and self._has_index():
            found = methods.call("recall", self._memory(), params)
        return found

    def status(self, scopes: tuple[str, ...]) -> Document:
        """The `status@1` document of what lies in the open scopes; raises VaultError for a vault that is not there."""
        Vault(self.config())  # a daemon would tell of an index that cannot be used, and not why
        params = {"scope": list(scopes)}
        found = self._of_daemon("status", params)
        return narrowed(found or methods.call("status", Federation(self.config()), params))

    def entity(self, name: str, scopes: tuple[str, ...]) -> "EntityProfile | None":
        """What the open scopes hold of an entity; raises BusyError while there is no index yet."""
        if not self._has_index():
            raise BusyError("The index is being built.", "Try again in a moment.")
        return self._memory().entity(name, scopes=scopes)

    def similar_names(self, name: str, scopes: tuple[str, ...]) -> list[str]:
        """Known names that look like one that is not known."""
        return self._memory().similar_names(name, scopes)

    def notes_called(self, name: str, scopes: tuple[str, ...]) -> list[str]:
        """The paths of notes in the open scopes that a link with this name would open; none while there is no index."""
        return self._memory().notes_called(name, scopes) if self._has_index() else []

    def notes_below(self, folder: str, scopes: tuple[str, ...]) -> list[str]:
        """The paths of notes in the open scopes that lie in a folder, "" for the vault's own; raises as `entity`."""
        if not self._has_index():
            raise BusyError("The index is being built.", "Try again in a moment.")
        return self._memory().notes_below(folder, scopes)

    def sessions_below(self, folder: str, scopes: tuple[str, ...]) -> list[str]:
        """The sessions in the open scopes that lie in such a folder, as they are cited."""
        return self._memory().sessions_below(folder, scopes)

    def no_sessions(self) -> str:
        """Why no sessions can be opened; "" where the settings want them."""
        from vault_memory.federation import SESSIONS_OFF

        return "" if self.config().sessions_tools else SESSIONS_OFF

    def read(self, path: str, lines: tuple[int, int | None] | None, scopes: tuple[str, ...]) -> "Excerpt":
        """Lines of a note, those of no open scope blank.

        Raises RefusedError for a way out of the vault, VaultError for a note that cannot be read.
        """
        try:
            return Federation(self.config()).get(path, lines, scopes=scopes)
        except (OSError, ValueError) as error:  # no system has such a path, or it may not be read
            why = error.strerror if isinstance(error, OSError) else None
            raise VaultError(f"{path} cannot be read: {why or 'no file has such a name'}.", "") from error

    def is_open(self, path: str, scopes: tuple[str, ...]) -> bool:
        """Whether a note is in an open scope, or not there at all."""
        return not Vault(self.config()).locate(path) or not self.read(path, None, scopes).not_found

    def hidden(self, path: str, lines: tuple[int, int] | None, scopes: tuple[str, ...]) -> int:
        """The first of a note's lines, all for None, that is in no open scope; 0 where there is none."""
        from vault_memory.markdown.parse import parse
        from vault_memory.markdown.scopes import of_all_lines

        config = self.config()
        first, last = lines or (1, None)
        with suppress(OSError):  # gone already: then nothing is hidden
            standing = of_all_lines(parse(path, Vault(config).read(path)), config.folder_scopes)[first - 1 : last]
            return next((number for number, own in enumerate(standing, first) if own.scope not in scopes), 0)
        return 0

    def core_files(self) -> list[str]:
        """The notes that make up the core and are there, the first of them the vault's memory.md."""
        from vault_memory.context import core_notes

        vault = Vault(self.config())
        found: dict[str, None] = {}
        for name in core_notes.core_names(vault):
            with suppress(RefusedError):  # one that leads out is no reason to serve none
                found |= dict.fromkeys(filter(None, [vault.locate(name)]))
        return list(found)

    def core_file(self, name: str) -> str:
        """The core file that a text names, "" for the first; raises ConflictError for any other note."""
        from vault_memory.context import core_notes

        allowed = list(core_notes.core_names(Vault(self.config())))
        if name and name not in allowed:
            # The settings that name them may come with the vault: they are no words of ours.
            raise ConflictError(
                f"{name} is not a core file.", "Leave `file` out for memory.md; memory://core shows all."
            )
        return name or allowed[0]

    # --- what is written -----------------------------------------------------------------------------------------

    def retain(self, bullet: "Bullet", scopes: tuple[str, ...]) -> "RetainResult | str":
        """Append a fact to today's note, or say where a note in these scopes says the same already."""
        return Federation(self.config()).writer.retain_once(bullet, datetime.now().date(), scopes)

    def file(self, filing: "NewNote", scopes: tuple[str, ...]) -> "StoredNote | str":
        """Make a note of its own, or say which one in these scopes holds the same text already."""
        return Federation(self.config()).writer.create_once(filing, datetime.now(), scopes)

    def amend(self, wanted: "EditRequest", scopes: tuple[str, ...]) -> "EditResult":
        """Edit a core file, as far as the open scopes go."""
        return Federation(self.config()).writer.amend(wanted, scopes)

    def reflecting(self, dry_run: bool) -> list[str]:
        """The command that reflects, in a process of its own: it needs much memory, and must not slow the answers."""
        command = [*_command(self.config()), "--json", "reflect"]
        return [*command, "--dry-run"] if dry_run else command

    def warm_up(self) -> bool:
        """Load some of what the first question waits for; False where a daemon answers it, or there is no index."""
        if self._of_daemon("health", {}) is not None or not self._has_index():
            return False
        methods.call("recall", self._memory(), {"query": "warm", "no_journal": True})
        return True

    # --- how it is asked -----------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the index that is held open."""
        if self._warm:
            self._warm[0].close()

    def _of_daemon(self, method: str, params: Mapping[str, Any]) -> Document | None:
        """What the vault's daemon answers; None where none runs that can be asked: then it is done in this process."""
        return client.asked(self.config().vault, method, params, DAEMON_SECONDS)

    def _memory(self) -> Federation:
        config = self.config()
        if self._warm is None or self._warm[0].config is not config:
            self.close()
            # Nobody watches the vault for this process: each question looks through it first, a second at most.
            held = HeldIndex(config, index_lost=self._build)
            self._warm = Federation(config, index_file=held, index_of=HeldIndex), held
        return self._warm[0]

    def _missing(self) -> str:
        """Why there is no index to answer from at once, or ""."""
        self._memory()
        assert self._warm is not None
        return self._warm[1].missing()

    def _has_index(self) -> bool:
        """Whether there is an index to answer from; where there is none, it is being built from now on.

        Raises what the build failed with.
        """
        if not self._missing():
            return True
        if self._building is None:
            self._build()
        assert self._building is not None
        ended = self._building.ended_within(WAIT_FOR_INDEX_SECONDS)
        if ended:
            building, self._building = self._building, None
            building.raise_failure()
        return ended and not self._missing()

    def _build(self) -> None:
        """Have the index built in a process of its own, which goes on when this one ends."""
        if self._building is None or self._building.ended_within(0):
            self._building = _IndexBuild([*_command(self.config()), "--json", "index"])


def _command(config: Config) -> list[str]:
    return [sys.executable, "-m", "vault_memory", "--vault", str(config.vault)]


class _IndexBuild:
    """An index being built by another process."""

    def __init__(self, command: list[str]) -> None:
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with this object
        nowhere = subprocess.DEVNULL
        self._process = subprocess.Popen(
            command, stdin=nowhere, stdout=self._said, stderr=nowhere, start_new_session=True
        )

    def ended_within(self, seconds: float) -> bool:
        """Whether it ends within so many seconds."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self._process.returncode is not None

    def raise_failure(self) -> None:
        """Raise what it ended with, unless the index was built."""
        import json

        self._said.seek(0)
        try:
            error = json.loads(self._said.read() or b"{}").get("error")
        except ValueError:
            error = {"message": "The index could not be built.", "exit_code": 1}
        finally:
            self._said.close()
        if error:
            code, sentence = int(error.get("exit_code", 1)), str(error.get("message", ""))
            raise of_exit_code(code, sentence, str(error.get("next_step", "")))
