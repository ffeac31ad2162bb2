"""Owns being told of changes: watchdog's events as paths to look at, and whether the system tells of all of them.

Both ends of an event count; a folder's event means everything below it. What a path holds now is not its business.
Where the system cannot be relied on (its limit of watches, a network file system, a lost queue) it says so, and
whoever asks must look for himself.
"""

import contextlib
import logging
import os
import stat
import sys
import threading
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from watchdog.events import (
    DirAttribEvent,
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileAttribEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from vault_memory import mounts, places
from vault_memory.pending import Pending
from vault_memory.walk import is_hidden

EVENTS: list[type[FileSystemEvent]] = [
    DirAttribEvent, DirCreatedEvent, DirDeletedEvent, DirMovedEvent,
    FileAttribEvent, FileCreatedEvent, FileDeletedEvent, FileModifiedEvent, FileMovedEvent,
]  # fmt: skip
"""Without opening and closing: reading a note is no change, and would wake us each time."""

MARK = places.MEMORY_FOLDER
"""The folder whose events are our own."""

LIMIT = "/proc/sys/fs/inotify/max_user_watches"

warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
"""watchdog's, when a folder that was moved out of the vault comes back at once: it is watched all the same."""

_OVERFLOW = "overflow"
"""watchdog tells no handler that the kernel's queue of events was full: it only logs a line with this word."""


class Reach(NamedTuple):
    """How much the system tells: `why` it is not everything, or "", and what would mend that."""

    why: str = ""
    mend: str = ""

    @property
    def is_whole(self) -> bool:
        return not self.why


Identity = tuple[int, int]


class Watcher:
    """Watches one vault while it is started; the paths of its events go to `pending`.

    `linked` gives the notes that change with what is at another path, by that path.
    """

    def __init__(self, root: Path, pending: Pending, linked: Callable[[], Mapping[str, Collection[str]]]) -> None:
        self._root, self._pending, self._linked = root, pending, linked
        self._observer: BaseObserver | None = None
        self._identity: Identity | None = None
        self._mounts = mounts.Changes(root, self._remounted)
        self._is_stale = False
        self._threads: set[threading.Thread] = set()
        self._marked = threading.Condition()
        self._mark_is_out = False
        self.reach = Reach("not started")

    def start(self) -> None:
        """Begin to watch, in place of what was watched before; `reach` says with what success."""
        self.stop()
        self._is_stale = self._mark_is_out = False
        self._mounts.start()
        self._identity = _identity(self._root)
        handler = _Handler(self._events)
        before = set(threading.enumerate())
        observer: BaseObserver = Observer()
        try:
            observer.schedule(handler, str(self._root), recursive=True, event_filter=EVENTS)
            observer.start()
        except OSError as error:
            with contextlib.suppress(RuntimeError):
                observer.stop()
            self.reach = _unwatched(error)
            return
        self._observer, self._threads = observer, set(threading.enumerate()) - before
        _overflows.add(self._pending.add_everything)
        self.reach = self._measured()

    def stop(self) -> None:
        """Watch no longer."""
        _overflows.discard(self._pending.add_everything)
        self._mounts.stop()
        if self._observer is not None:
            observer, self._observer = self._observer, None
            observer.stop()
            observer.join()

    def is_whole(self) -> bool:
        """Whether every change is told of, as far as can be known at the cost of one look at the vault's folder."""
        return self.reach.is_whole and not self.is_misled()

    def is_misled(self) -> bool:
        """Whether something else is watched than what is there, such as another folder at the vault's path."""
        return self._is_stale or self._identity is None or _identity(self._root) != self._identity

    def has_heard_all(self, seconds: float) -> bool:
        """Whether all that happened before this call has been told of; waits for that, at most so long.

        A note that is saved and asked for within a millisecond is still on its way through the kernel's queue and three
        threads. So we make an event of our own, which comes after all others: the mode of our folder is set to what it
        is. Where that cannot be (another system, no folder of ours) nobody can know, and it is taken for granted.
        """
        folder = self._root / MARK
        with self._marked:
            if not self._mark_is_out:  # else the last one is still under way: events are far behind
                try:
                    mode = os.stat(folder).st_mode if sys.platform == "linux" else None
                    if mode is None:
                        return True
                    self._mark_is_out = True
                    os.chmod(folder, stat.S_IMODE(mode))
                except OSError:
                    self._mark_is_out = False
                    return True
            return self._marked.wait_for(lambda: not self._mark_is_out, seconds)

    def check(self) -> bool:
        """Look whether everything is still watched, and mend what is not; whether changes may have been missed."""
        alive = self._observer is not None and all(thread.is_alive() for thread in self._threads)
        if not alive or self.is_misled():
            self.start()
            return True
        before = self.reach
        self.reach = self._measured()
        if not self.reach.is_whole and before.is_whole:
            self.start()  # a folder made in a hurry may have been missed, and be watched at the second attempt
            return True
        return False

    def _measured(self) -> Reach:
        """How much is told, from the kinds of file systems and the number of watches the kernel knows."""
        for mount in mounts.silent(self._root):
            return Reach(f"{mount.folder} is on a file system ({mount.kind}) that does not tell of every change")
        watches = _watches()
        if watches is None:
            return Reach()
        readable, unreadable = _folders(self._root)
        if watches < readable:
            return _limited(f"only {watches:,} of {readable:,} folders are watched: the system's limit is reached")
        if unreadable:
            what = f"{unreadable[0]} cannot be watched" + (
                f", and {len(unreadable) - 1} more" if unreadable[1:] else ""
            )
            return Reach(what, "Make it readable, or leave it out.")
        return Reach()

    def _remounted(self) -> None:
        """Watches go silently with what was mounted, and do not come back with it."""
        self._is_stale = True
        self._pending.add_everything()

    def _events(self, event: FileSystemEvent) -> None:
        if isinstance(event, DirAttribEvent) and self._relative(os.fsdecode(event.src_path)) == MARK:
            with self._marked:
                self._mark_is_out = False
                self._marked.notify_all()
            return
        found = list(self._dirty(event))
        if found:
            self._pending.add(found)
        if found and isinstance(event, DirDeletedEvent):
            # It may have been moved out of the vault: it is still watched then, and by its old name.
            self._is_stale = True
            self._pending.add_everything()

    def _dirty(self, event: FileSystemEvent) -> Iterator[str]:
        linked = self._linked()
        for end in (event.src_path, event.dest_path):
            path = self._relative(os.fsdecode(end)) if end else None
            if path is None:
                continue
            yield from linked.get(path, ())
            if not is_hidden(path) and (event.is_directory or path[-3:].lower() == ".md"):
                yield path

    def _relative(self, path: str) -> str | None:
        root = f"{self._root}{os.sep}".replace(os.sep * 2, os.sep)
        if path + os.sep == root:
            return ""
        return path.removeprefix(root).replace(os.sep, "/") if path.startswith(root) else None


class _Handler(FileSystemEventHandler):
    def __init__(self, tell: Callable[[FileSystemEvent], None]) -> None:
        self._tell = tell

    def on_any_event(self, event: FileSystemEvent) -> None:
        self._tell(event)


class _Overflows(logging.Handler):
    """Hears of lost events by watchdog's log."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._tell: set[Callable[[], None]] = set()
        logging.getLogger("watchdog").addHandler(self)

    def add(self, tell: Callable[[], None]) -> None:
        self._tell.add(tell)

    def discard(self, tell: Callable[[], None]) -> None:
        self._tell.discard(tell)

    def emit(self, record: logging.LogRecord) -> None:
        if _OVERFLOW in record.getMessage():
            for tell in list(self._tell):
                tell()


_overflows = _Overflows()


def _identity(root: Path) -> Identity | None:
    """Which folder stands at a path: that of an unmounted drive is another one."""
    try:
        status = os.stat(root)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _unwatched(error: OSError) -> Reach:
    import errno

    if error.errno in (errno.ENOSPC, errno.EMFILE):
        return _limited(f"the vault cannot be watched: {error.strerror}")
    return Reach(f"the vault cannot be watched: {error.strerror or error}", "Check that its drive is mounted.")


def _limited(why: str) -> Reach:
    most = _read_number(LIMIT) or 8192
    return Reach(
        why,
        f"Raise the limit: echo fs.inotify.max_user_watches={max(4 * most, 524_288)} | sudo tee"
        " /etc/sysctl.d/60-inotify.conf && sudo sysctl --system",
    )


def _watches() -> int | None:
    """How many folders the kernel watches for this process; None where it does not say."""
    if sys.platform != "linux":
        return None
    count = 0
    try:
        with os.scandir("/proc/self/fdinfo") as entries:
            for entry in entries:
                with contextlib.suppress(OSError), open(entry.path, "rb") as file:
                    count += sum(line.startswith(b"inotify wd:") for line in file)
    except OSError:
        return None
    return count


def _folders(root: Path) -> tuple[int, list[str]]:
    """How many folders can be read, hidden ones too, for all of them are watched; and those that cannot."""
    readable, unreadable, pending = 0, [], [str(root)]
    while pending:
        folder = pending.pop()
        try:
            with os.scandir(folder) as entries:
                pending += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
            readable += 1
        except FileNotFoundError:
            continue
        except OSError:
            unreadable.append(folder)
    return readable, unreadable


def _read_number(file: str) -> int | None:
    try:
        return int(Path(file).read_text("ascii"))
    except (OSError, ValueError):
        return None
