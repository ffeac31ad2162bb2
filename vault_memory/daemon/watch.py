"""Watches a vault: watchdog's events as paths to look at, and whether the system tells of all of them.

Both ends of an event count; a folder's event means everything below it. What a path holds now is not its business.
Where the system cannot be relied on (its limit of watches, a network file system, a lost queue) it says so, and
whoever asks must look for himself. Changed paths wait until they are due: a lone save shortly after its last event,
many when the burst takes breath, and each path at the latest `LONGEST_WAIT_SECONDS` after its first event.
"""

import contextlib
import errno
import logging
import os
import stat
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from watchdog import events
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from vault_memory.markdown.note import is_canvas, is_note_path
from vault_memory.vault import locations
from vault_memory.vault.walk import is_hidden

EVENTS: list[type[events.FileSystemEvent]] = [
    events.DirAttribEvent, events.DirCreatedEvent, events.DirDeletedEvent, events.DirMovedEvent,
    events.FileAttribEvent, events.FileCreatedEvent, events.FileDeletedEvent, events.FileModifiedEvent,
    events.FileMovedEvent,
]  # fmt: skip
"""Without opening and closing: reading a note is no change, and would wake us each time."""

_NAME_EVENTS = ("created", "deleted", "moved")
"""All that matters of a file that is known by its name alone."""

MARK = locations.MEMORY_FOLDER
"""The folder whose events are our own."""

WATCHES, INSTANCES = "/proc/sys/fs/inotify/max_user_watches", "/proc/sys/fs/inotify/max_user_instances"
"""inotify(7): how many folders a user may watch, in how many places."""

LONE_SAVE_SECONDS = 0.05
"""How long a path must be left alone: an editor's save is several events within some milliseconds."""

BURST_SECONDS = 0.2
"""While more than `FEW_PATHS` wait none may have had an event for so long: one look at a folder serves them all."""

LONGEST_WAIT_SECONDS = 1.0

FEW_PATHS = 8
"""More at once are a burst, such as a checkout or a sync, which no question waits for."""

warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
"""watchdog's, when a folder that was moved out of the vault comes back at once: it is watched all the same."""

_OVERFLOW = "overflow"
"""watchdog tells no handler that the kernel's queue of events was full: it only logs a line with this word."""


EVERYTHING = ""
"""The vault's own folder, whose change means all that lies in it."""

Batch = Mapping[str, float]
"""What is to be looked at in one go: relative paths, each with the time of its first event."""


class _WaitingPath(NamedTuple):
    first: float
    last: float


class ChangeQueue:
    """The paths that wait to be indexed; `clock` gives seconds that never run backwards."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._paths: dict[str, _WaitingPath] = {}
        self._latest = 0.0
        self._in_hand: Batch = {}
        self._failed: Batch = {}
        self._hurrying = 0
        self._stopped = False

    def add(self, paths: Iterable[str]) -> None:
        """Note an event at each of these paths."""
        with self._changed:
            now = self._latest = self._clock()
            for path in paths:
                known = self._paths.get(path)
                self._paths[path] = _WaitingPath(known.first if known else now, now)
            self._changed.notify_all()

    def add_everything(self) -> None:
        """Note that anything may have changed: the next batch is everything, at once."""
        self.add([EVERYTHING])

    def stop(self) -> None:
        """Let whoever waits for a batch go."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def wait(self, seconds: float) -> Batch | None:
        """The next batch that is due, pending until `done`; None after so many seconds, or when stopped."""
        until = self._clock() + seconds
        with self._changed:
            while not self._stopped:
                now = self._clock()
                all_are_due = EVERYTHING in self._paths
                due = [path for path, waiting in self._paths.items() if all_are_due or now >= self._due_at(waiting)]
                if due:
                    self._in_hand = {path: self._paths.pop(path).first for path in due}
                    return self._in_hand
                if now >= until:
                    return None
                following = min(map(self._due_at, self._paths.values()), default=until)
                self._changed.wait(max(min(following, until) - now, 0.0))
            return None

    def _due_at(self, waiting: _WaitingPath) -> float:
        if self._hurrying:
            return waiting.first
        quiet = waiting.last + LONE_SAVE_SECONDS if len(self._paths) <= FEW_PATHS else self._latest + BURST_SECONDS
        return min(quiet, waiting.first + LONGEST_WAIT_SECONDS)

    def done(self, batch: Batch, failed: Iterable[str] = ()) -> None:
        """Say that a batch has been dealt with; what `failed` counts as waiting, and the next look may succeed."""
        with self._changed:
            self._in_hand = {}
            since = {**batch, **self._failed}
            others = {} if EVERYTHING in batch else {p: at for p, at in self._failed.items() if p not in batch}
            self._failed = others | {path: since.get(path, self._clock()) for path in failed}
            self._changed.notify_all()

    def settle(self, seconds: float) -> None:
        """Have what waits now indexed, if it is only a few paths, and wait for that.

        What comes meanwhile is not waited for, nor another look at what failed.
        """
        until = self._clock() + seconds
        with self._changed:
            wanted = (self._paths.keys() | self._in_hand.keys()) - {EVERYTHING}
            self._hurrying += 1
            self._changed.notify_all()
            while 0 < len(wanted) <= FEW_PATHS and EVERYTHING not in self._paths and not self._stopped:
                left = until - self._clock()
                if left <= 0:
                    break
                self._changed.wait(left)
                wanted &= self._paths.keys() | self._in_hand.keys()
            self._hurrying -= 1

    @property
    def count(self) -> int:
        """How many paths wait, are in hand or failed; everything counts as one."""
        with self._changed:
            return len(self._paths.keys() | self._in_hand.keys() | self._failed.keys())

    @property
    def failed(self) -> frozenset[str]:
        """Notes and folders that could not be read when they were looked at last."""
        with self._changed:
            return frozenset(self._failed)

    @property
    def oldest_seconds(self) -> float | None:
        """How long the oldest of them has been waiting; None when nothing waits."""
        with self._changed:
            begun = [waiting.first for waiting in self._paths.values()]
            begun += [*self._in_hand.values(), *self._failed.values()]
            return max(self._clock() - min(begun), 0.0) if begun else None


# --- what the system tells -------------------------------------------------------------------------------------------


class Trouble(NamedTuple):
    """Why something is not done, and what to do about it, or ""."""

    what: str
    next_step: str = ""


class Watcher(events.FileSystemEventHandler):
    """Watches one vault while it is started; the paths of its events go to `changes`."""

    def __init__(self, root: Path, changes: ChangeQueue) -> None:
        self._root, self._changes = root, changes
        self._observer: BaseObserver | None = None
        self._identity: tuple[int, int] | None = None
        self._mounts: list[locations.Mount] = []
        self._lost_folder = False
        self._threads: set[threading.Thread] = set()
        self._marked = threading.Condition()
        self._mark_is_out = False
        self._starts = 0
        self._circumstances: tuple[object, ...] = ()
        self._overflows = logging.Handler(logging.WARNING)
        self._overflows.addFilter(self._notice_overflow)
        self.trouble: Trouble | None = Trouble("not started")
        """Why not every change is told of."""

    def start(self) -> None:
        """Begin to watch, in place of what was watched before; `trouble` says with what success."""
        self.stop()
        self.trouble = Trouble("watching has just begun")
        self._lost_folder = False
        with self._marked:  # a mark that is under way to who watched before comes no more
            self._starts, self._mark_is_out = self._starts + 1, False
            self._marked.notify_all()
        self._mounts = locations.mounts_below(self._root)
        self._identity = locations.identity(self._root)
        before, observer = set(threading.enumerate()), Observer()
        try:
            observer.schedule(self, str(self._root), recursive=True, event_filter=EVENTS)
            observer.start()
        except OSError as error:
            with contextlib.suppress(RuntimeError):  # it had not begun
                observer.stop()
            limits = {errno.ENOSPC: WATCHES, errno.EMFILE: INSTANCES}
            fix = _raise(limits[error.errno]) if error.errno in limits else "Check that its drive is mounted."
            self.trouble = Trouble(f"the vault cannot be watched: {error.strerror or error}", fix)
            return
        self._observer, self._threads = observer, set(threading.enumerate()) - before
        logging.getLogger("watchdog").addHandler(self._overflows)
        self.trouble = self._find_trouble()

    def stop(self) -> None:
        """Watch no longer."""
        logging.getLogger("watchdog").removeHandler(self._overflows)
        if self._observer is not None:
            observer, self._observer = self._observer, None
            observer.stop()
            observer.join()

    def is_stale(self) -> bool:
        """Whether something else is watched than what is there, such as another folder at the vault's path.

        Watches go silently with a drive, and do not come back with it.
        """
        is_another = self._identity is None or locations.identity(self._root) != self._identity
        return self._lost_folder or is_another or locations.mounts_below(self._root) != self._mounts

    def wait_for_events(self, seconds: float) -> bool:
        """Whether all that happened before this call has been told of; waits for that, at most so long.

        A note saved and asked for within a millisecond is still on its way through the kernel's queue and three
        threads. So we make an event of our own, which comes after all others: the mode of our folder (or the vault's)
        is set to what it is. False where that cannot be; on other systems than Linux it is taken for granted.
        """
        if sys.platform != "linux":
            return True
        until = time.monotonic() + seconds
        with self._marked:
            starts = self._starts
            # One that is still under way, for whoever asked before, proves nothing of what happened since.
            if not self._wait_for_mark(until) or not self._mark():
                return False
            return self._wait_for_mark(until) and starts == self._starts

    def _wait_for_mark(self, until: float) -> bool:
        return self._marked.wait_for(lambda: not self._mark_is_out, max(until - time.monotonic(), 0.0))

    def _mark(self) -> bool:
        """Make the event; to be called with the lock."""
        ours = self._root / MARK
        folder = ours if ours.is_dir() and not ours.is_symlink() else self._root
        try:
            self._mark_is_out = True
            os.chmod(folder, stat.S_IMODE(os.stat(folder).st_mode))
        except OSError:
            self._mark_is_out = False
        return self._mark_is_out

    def check(self) -> None:
        """Look whether everything is still watched, and fix what is not."""
        alive = self._observer is not None and all(thread.is_alive() for thread in self._threads)
        if not alive or self.is_stale():
            self.start()
            return
        before, known = self.trouble, self._circumstances
        self.trouble = self._find_trouble()
        # A folder made in a hurry may be watched at the second attempt; and what stood in the way may be gone.
        if (self.trouble and not before) or (before and self._circumstances != known):
            self.start()

    def _find_trouble(self) -> Trouble | None:
        """Why not every change is told of, by the kinds of file systems and the watches that the kernel counts."""
        silent = locations.silent_mounts(self._root)
        readable, watches = _count_folders(self._root), _watches()
        self._circumstances = (silent, readable, *map(_read_number, (WATCHES, INSTANCES)))
        if silent:
            return Trouble(
                f"{silent[0].folder} is on a file system ({silent[0].kind}) that does not tell of every change"
            )
        if watches is not None and watches < readable:
            what = f"only {watches:,} of {readable:,} folders are watched: the system's limit is reached"
            return Trouble(what, _raise(WATCHES))
        return None

    def _notice_overflow(self, record: logging.LogRecord) -> bool:
        if _OVERFLOW in record.getMessage():
            self._changes.add_everything()  # first: whoever waits for the mark looks at what is pending next
            self._meet_mark()
        return False  # no line of ours

    def _meet_mark(self) -> bool:
        """Note that our mark has come; whether one was under way."""
        with self._marked:
            was_out, self._mark_is_out = self._mark_is_out, False
            self._marked.notify_all()
        return was_out

    def on_any_event(self, event: events.FileSystemEvent) -> None:
        """Note the paths of an event of watchdog's, in its thread."""
        found: list[str] = []
        root = f"{self._root}{os.sep}".replace(os.sep * 2, os.sep)
        for path in (os.fsdecode(event.src_path), os.fsdecode(event.dest_path)):
            if not f"{path}{os.sep}".startswith(root):
                continue
            path = path[len(root) :].replace(os.sep, "/")
            if path in (MARK, "") and isinstance(event, events.DirAttribEvent) and (self._meet_mark() or path == MARK):
                return
            if is_hidden(path):
                continue
            has_content = is_note_path(path) or is_canvas(path)
            if event.is_directory or has_content or event.event_type in _NAME_EVENTS:
                found.append(path)
        if found:
            self._changes.add(found)
        if found and isinstance(event, events.DirDeletedEvent):
            # It may have been moved out of the vault: it is still watched then, and by its old name.
            self._lost_folder = True
            self._changes.add_everything()


def _raise(limit: str) -> str:
    name, least = Path(limit).name, {WATCHES: 524_288, INSTANCES: 1024}[limit]
    value, file = max(4 * (_read_number(limit) or 0), least), f"/etc/sysctl.d/60-{name.replace('_', '-')}.conf"
    return f"Raise the limit: echo fs.inotify.{name}={value} | sudo tee {file} && sudo sysctl --system"


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


def _count_folders(root: Path) -> int:
    """How many folders can be read, hidden ones too, for all of them are watched."""
    count, waiting = 0, [str(root)]
    while waiting:
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            waiting += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
            count += 1
    return count


def _read_number(file: str) -> int | None:
    try:
        return int(Path(file).read_text("ascii"))
    except (OSError, ValueError):
        return None
