"""The daemon process of one vault: its lock, socket, threads, signals and log.

Besides watchdog's threads, the main thread waits for signals, one thread keeps the index in sync, one accepts
connections, and each connection has its own. One question at a time is answered from an index held open, alongside at
most one slow or writing method. A question waits briefly for pending notes to be indexed.
"""

import contextlib
import gc
import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from socket import socket, socketpair
from typing import Any

from vault_memory.config import Config
from vault_memory.daemon import client, rpc_methods
from vault_memory.daemon.background import Background
from vault_memory.daemon.index_worker import IndexWorker
from vault_memory.daemon.rpc import Server
from vault_memory.daemon.settings import LiveSettings
from vault_memory.daemon.watch import MANY_PATHS, ChangeQueue, Trouble, Watcher
from vault_memory.errors import BusyError, NotRunningError, UnknownMethodError, VaultMemoryError
from vault_memory.federation import Federation
from vault_memory.indexing.held_index import HeldIndex
from vault_memory.indexing.index_file import Freshness, IndexFile
from vault_memory.startup import __version__, user_folder, vault_id
from vault_memory.vault import locations
from vault_memory.vault.safe_files import close_to_others, make_private, private

SETTLE_SECONDS = 2.0
"""How long a question waits for the events of recent saves, and then for a few notes to be indexed (some 15 ms each,
more on a busy machine). After that it scans the vault itself."""

HASTY_SECONDS = 0.1
"""The same for a question without patience (a hook's), and while many changes are pending."""

FIRST_LOOK_SECONDS = 30.0
"""How long a question waits for the first scan of the vault, which may have to build the index."""

STOP_SECONDS = 10.0
"""How long the index worker may take to finish the current note."""

LOG_BYTES, OLD_LOG_FILES = 1_000_000, 3

log = logging.getLogger("vault_memory")


class Daemon:
    """Watches one vault and answers questions about it until told to stop.

    Raises BusyError if another daemon has the vault, and whatever opening the vault raises.
    """

    def __init__(self, config: Config, say: Callable[[str], None] = lambda text: None) -> None:
        self._say = say
        self._changes = ChangeQueue()
        self._settings = LiveSettings(config, self._changes.add_everything)
        self._answering = threading.Lock()
        self._root = IndexFile(config).vault.root
        self._watcher = Watcher(self._root, self._changes)
        self._warm: Federation | None = None
        self._has_all_events = False  # whether every event before the current question has been received
        self._writing = threading.Lock()
        self._background = Background(self._root, self._settings)
        self._worker = IndexWorker(
            self._settings, self._changes, self._watcher, self._answering, self._index_was_updated
        )
        self._begun = time.monotonic()
        self._is_stopping = self._is_closed = False
        self._waking: socket | None = None
        """Sending anything to it wakes the main thread."""
        self._server = Server(self._handle)
        self._unreachable = ""
        self.socket = Path(client.socket_path(self._root))
        self.log_file = Path(user_folder("state", os.environ), f"{vault_id(self._root)}.log")

    def run(self, loud: bool = False) -> None:
        """Serve until SIGTERM, SIGINT or `shutdown`; `loud` also logs to standard error."""
        with _only_one(self._root, self.socket):
            _begin_log(self.log_file, loud)
            sys.setswitchinterval(0.001)  # or a question waits 5 ms each time the index worker has the interpreter
            log.info("vault-memory %s watches %s, process %d", __version__, self._root, os.getpid())
            self._waking, woken = socketpair()
            try:
                with self._waking, woken:
                    self._serve(self._waking, woken)
            finally:
                log.info("stopped")

    # --- the main thread -----------------------------------------------------------------------------------------

    def _serve(self, waking: socket, woken: socket) -> None:
        self._server.start(self.socket)
        # The system may deliver a signal to any thread, but Python runs handlers only in this one, which must be woken.
        waking.setblocking(False)
        signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        if sys.platform != "win32":
            signal.signal(signal.SIGHUP, lambda *_: threading.Thread(target=self._settings.read_again).start())
        self._worker.start()
        threading.Thread(target=self._warm_up, name="warm-up", daemon=True).start()
        try:
            while not self._is_stopping:
                woken.recv(64)
            log.info("stopping")
        finally:
            self._is_stopping = True
            signal.set_wakeup_fd(-1)
            self._background.stop()
            self._server.close()
            if not self._worker.stop(STOP_SECONDS):
                log.warning("the index worker did not end in %d s", STOP_SECONDS)
            # The vault's lock is held, and `stopped` not logged, until running work has ended too.
            with self._answering, self._writing:
                self._close()
                self._is_closed = True
            self._background.wait()

    def _end(self, *_: object) -> None:
        self._is_stopping = True
        if self._waking:
            with contextlib.suppress(OSError):  # full, so the thread wakes anyway, or closed
                self._waking.send(b"\0")

    def _warm_up(self) -> None:
        """After the first scan, load what the first question would otherwise wait for."""
        self._worker.looked.wait()
        from vault_memory.indexing import prepare_note  # noqa: F401 - needed to read a changed note
        from vault_memory.text import tokens

        tokens.count("warm")
        with contextlib.suppress(Exception):  # the next question will report what is wrong
            self._run_method("recall", {"query": "warm", "no_journal": True}, None)
        gc.collect()
        gc.freeze()  # what is loaded now stays, so the collector need not scan it again
        if not self._is_stopping:
            self._say(f"Watching {self._root}; Ctrl-C stops. Socket {self.socket}, log {self.log_file}")

    # --- the connection threads ----------------------------------------------------------------------------------

    def _handle(self, name: str, params: dict[str, Any]) -> Any:  # noqa: ANN401
        if name == "health":
            return self.health()
        if name == "shutdown":
            self._end()
            return {"stopping": True}
        method = rpc_methods.METHODS.get(name)
        if method is None:
            known = ", ".join(sorted([*rpc_methods.METHODS, "health", "shutdown"]))
            raise UnknownMethodError(f"`{name}` is not a method.", f"Known are: {known}.")
        received, process = time.perf_counter(), params.pop("process", None)
        if name != "status" and not self._worker.looked.wait(FIRST_LOOK_SECONDS):
            done, total = self._worker.progress
            raise BusyError(f"The index is being built ({done:,} of {total:,} notes).", "Try again in a moment.")
        found = self._run_method(name, params, process)
        if name == "recall":
            # A note differs from its indexed state although no event was reported: no system reports writes through a
            # memory map or to a hard link outside the vault.
            if found["omitted"].get("changed") and found["index"]["fresh"]:
                found["index"] |= {"fresh": False, "pending": found["omitted"]["changed"]}
                self._changes.add_everything()
            found["seconds"] = round(time.perf_counter() - received, 4)  # including the wait for its turn
        return found | {"daemon": self.health()} if name == "status" else found

    def health(self) -> dict[str, Any]:
        """Return the state of the daemon, without waiting for any thread."""
        now, unwatched, trouble = time.monotonic(), self._watcher.trouble, self._worker.trouble
        done, total = self._worker.progress
        oldest = self._changes.oldest_seconds
        if not self._worker.is_alive() and not self._is_stopping:
            trouble = Trouble("the thread that keeps the index in step has ended", "Start the daemon again.")
        return {
            "pid": os.getpid(), "version": __version__, "uptime_seconds": round(now - self._begun, 1),
            "oldest_pending_seconds": None if oldest is None else round(oldest, 3), "pending": self._changes.count,
            "watching": "polling" if unwatched else "native", "why": unwatched and unwatched.what,
            "mend": (unwatched and unwatched.next_step) or None,
            "heartbeat_seconds": round(now - self._worker.last_sign, 1),
            "indexing": {"done": done, "total": total} if total else None,
            "trouble": trouble and {"what": trouble.what, "mend": trouble.next_step},
            "settings": self._settings.trouble or None, "socket": str(self.socket), "log": str(self.log_file),
        }  # fmt: skip

    def _index_was_updated(self, changed: bool) -> None:
        """Start the jobs that are due, and listen where clients now look.

        A user's runtime folder is removed at the last logout and created anew.
        """
        self._background.index_was_updated(changed)
        self.socket, before = Path(client.socket_path(self._root)), self._unreachable
        try:
            self._unreachable = ""
            if self._server.listen_again(self.socket):
                log.info("listening anew at %s", self.socket)
                _write_owner(self._root, self.socket)
        except (VaultMemoryError, OSError) as error:
            self._unreachable = str(error)
            if self._unreachable != before:  # log once: this is retried after each run of the index worker
                log.warning("nobody reaches this process: %s", error)

    def _run_method(self, method: str, params: dict[str, Any], process: Any) -> Any:  # noqa: ANN401
        config = self._settings.current()
        if isinstance(process, dict):  # a caller with another version or other settings expects other answers
            if process.get("version", __version__) != __version__:
                raise NotRunningError(f"The daemon is version {__version__}.", "Start it again.")
            environment = process.get("environment")
            if isinstance(environment, dict) and not self._settings.are_those_of(environment):
                raise NotRunningError("The daemon has other settings than this process.", "")
        if rpc_methods.METHODS[method].is_slow:
            with self._writing:
                self._check_running()
                return rpc_methods.call(method, Federation(config), params, self._check_running)
        is_hasty = params.get("patience") == 0 or self._changes.count > MANY_PATHS
        seconds = HASTY_SECONDS if is_hasty else SETTLE_SECONDS
        has_all_events = self._watcher.wait_for_events(seconds)
        # Before taking the lock: the index worker waits for its holder.
        self._changes.hurry(seconds)
        with self._answering:
            if self._is_closed:
                self._check_running()
            self._has_all_events = has_all_events
            if self._warm is None or self._warm.config is not config:  # the settings were reloaded
                self._close()
                held = HeldIndex(config, self._report_watching, self._changes.add_everything)
                self._warm = Federation(config, index_file=held, index_of=HeldIndex)
            return rpc_methods.call(method, self._warm, params)

    def _check_running(self, *_: object) -> None:
        if self._is_stopping:
            raise BusyError("The daemon was told to stop before all was done.", "Run the command again.")

    def _report_watching(self) -> Freshness | None:
        """Return how many notes wait to be indexed; None if changes may have been missed."""
        if self._watcher.is_stale():
            self._changes.add_everything()
        done, total = self._worker.progress
        pending = self._changes.count
        # During a burst of changes events arrive late, but then the answer is reported as not fresh anyway.
        is_whole = self._worker.knows_everything() and (self._has_all_events or pending > MANY_PATHS)
        failed = tuple(sorted(self._changes.failed))
        return Freshness(max(pending, total - done), unreadable=failed) if is_whole else None

    def _close(self) -> None:
        if self._warm:
            self._warm.close()


@contextmanager
def _only_one(root: Path, socket: Path) -> Iterator[None]:
    """Hold the lock of a vault's daemon; raises BusyError naming the current holder.

    The lock lies in the user's data folder: one in the vault's `.memory` would be lost if somebody deleted that.
    """
    file = Path(client.owner_file(root))
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(locations.writer_lock(file, 0))
        except BusyError as error:
            owner = client.owner(root)
            who = f": process {owner['pid']}, since {owner['since']}" if owner else ""
            stop = f"`kill {owner['pid']}` stops it." if owner else "Stop it first."
            raise BusyError(f"A daemon watches this vault already{who}.", stop) from error
        _write_owner(root, socket)
        stack.callback(file.unlink, missing_ok=True)
        yield


def _write_owner(root: Path, socket: Path) -> None:
    owner = {"pid": os.getpid(), "since": time.strftime("%Y-%m-%d %H:%M:%S"), "socket": str(socket)}
    place = client.owner_file(root)
    with contextlib.suppress(OSError), open(place, "w", encoding="utf-8", opener=private) as file:
        json.dump(owner, file)  # best effort: the lock counts, this only tells who holds it


class _PrivateLog(RotatingFileHandler):
    """A log file that only its user can read, since it contains names of notes."""

    def _open(self) -> TextIOWrapper:
        close_to_others(self.baseFilename)  # an earlier version may have created it
        return open(self.baseFilename, "a", encoding=self.encoding, opener=private)


def _begin_log(file: Path, loud: bool) -> None:
    """Start logging to a rotating file; no text of a note is logged."""
    handlers: list[logging.Handler] = [logging.StreamHandler()] if loud else []
    with contextlib.suppress(OSError):  # a full or read-only disk must not stop the daemon
        make_private(file.parent)
        handlers.append(_PrivateLog(file, maxBytes=LOG_BYTES, backupCount=OLD_LOG_FILES, encoding="utf-8"))
    logging.raiseExceptions = False  # a line that cannot be written is dropped silently
    for handler in handlers:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)-7s %(message)s"))
        for name in ("vault_memory", "watchdog"):
            logging.getLogger(name).addHandler(handler)
    log.setLevel(logging.INFO)
