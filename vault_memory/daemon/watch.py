"""Watches a vault: turns watchdog's events into paths to re-index, and reports whether events may be missing.

Both source and destination of an event count; a folder's event stands for everything below it. Files are not read here.
If events are not reliable (the limit of watches, a network file system, a queue overflow), `Watcher.trouble` says so,
and callers must scan for themselves. Changed paths are debounced: a single save until shortly after its last event,
many until the burst pauses, but each path for at most `LONGEST_WAIT_SECONDS` after its first event.
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
"""No open or close events: reading a note changes nothing, yet would wake us each time."""

_NAME_EVENTS = ("created", "deleted", "moved")
"""The only events that matter for a file of which just the name is indexed."""

MARK = locations.MEMORY_FOLDER
"""The folder whose events we cause ourselves."""

WATCHES, INSTANCES = "/proc/sys/fs/inotify/max_user_watches", "/proc/sys/fs/inotify/max_user_instances"
"""inotify(7): the limits per user, of watched folders and of inotify instances."""

LONE_SAVE_SECONDS = 0.05
"""How long a path must be quiet: an editor's save is several events within a few milliseconds."""

BURST_SECONDS = 0.2
"""How long all paths must be quiet while more than `FEW_PATHS` are waiting: one scan of a folder serves them all."""

LONGEST_WAIT_SECONDS = 1.0

FEW_PATHS = 8
"""More than this at once are a burst."""

MANY_PATHS = 100
"""More than this at once, such as a checkout or a sync, no question waits for: at some 15 ms each it would take longer
than questions wait."""

warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
"""watchdog warns if a folder that was moved out of the vault comes back at once; the folder is watched all the same."""

EVERYTHING = ""
"""The path of the vault's own folder, which stands for everything in it."""

Batch = Mapping[str, float]
"""Relative paths to be re-indexed together, each with the time of its first event."""


class _WaitingPath(NamedTuple):
    first: float
    last: float


class ChangeQueue:
    """The paths waiting to be indexed; `clock` is a monotonic clock in seconds."""

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
        """Record an event at each of these paths."""
        with self._changed:
            now = self._latest = self._clock()
            for path in paths:
                known = self._paths.get(path)
                self._paths[path] = _WaitingPath(known.first if known else now, now)
            self._changed.notify_all()

    def add_everything(self) -> None:
        """Record that anything may have changed: the next batch is everything, due at once."""
        self.add([EVERYTHING])

    def stop(self) -> None:
        """Release all waiting threads."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def wait(self, seconds: float) -> Batch | None:
        """Return the next batch that is due, pending until `done`; None after `seconds`, or when stopped."""
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
        """Mark a batch as processed; paths that `failed` still count as pending, to be retried with a full scan."""
        with self._changed:
            self._in_hand = {}
            since = {**batch, **self._failed}
            others = {} if EVERYTHING in batch else {p: at for p, at in self._failed.items() if p not in batch}
            self._failed = others | {path: since.get(path, self._clock()) for path in failed}
            self._changed.notify_all()

    def hurry(self, seconds: float) -> None:
        """If not too many paths are pending, have them indexed now and wait for that, for at most `seconds`.

        Later events, and retries of failed paths, are not waited for.
        """
        until = self._clock() + seconds
        with self._changed:
            wanted = (self._paths.keys() | self._in_hand.keys()) - {EVERYTHING}
            self._hurrying += 1
            self._changed.notify_all()
            while 0 < len(wanted) <= MANY_PATHS and EVERYTHING not in self._paths and not self._stopped:
                left = until - self._clock()
                if left <= 0:
                    break
                self._changed.wait(left)
                wanted &= self._paths.keys() | self._in_hand.keys()
            self._hurrying -= 1

    @property
    def count(self) -> int:
        """How many paths are waiting, being processed or failed; everything counts as one."""
        with self._changed:
            return len(self._paths.keys() | self._in_hand.keys() | self._failed.keys())

    @property
    def failed(self) -> frozenset[str]:
        """Notes and folders that could not be read at the last attempt."""
        with self._changed:
            return frozenset(self._failed)

    @property
    def oldest_seconds(self) -> float | None:
        """How long the oldest pending path has been waiting; None if there is none."""
        with self._changed:
            begun = [waiting.first for waiting in self._paths.values()]
            begun += [*self._in_hand.values(), *self._failed.values()]
            return max(self._clock() - min(begun), 0.0) if begun else None


# --- file system events ----------------------------------------------------------------------------------------------


class Trouble(NamedTuple):
    """What is wrong, and what to do about it, or ""."""

    what: str
    next_step: str = ""


class Watcher(events.FileSystemEventHandler):
    """Watches one vault between `start` and `stop`; the paths of its events go to `changes`."""

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
        """Why some changes may not be reported; None if all are."""

    def start(self) -> None:
        """Start watching, or restart; `trouble` says whether it succeeded."""
        self.stop()
        self.trouble = Trouble("watching has just begun")
        self._lost_folder = False
        with self._marked:  # a mark sent to the previous observer will never arrive
            self._starts, self._mark_is_out = self._starts + 1, False
            self._marked.notify_all()
        self._mounts = locations.mounts_below(self._root)
        self._identity = locations.identity(self._root)
        before, observer = set(threading.enumerate()), Observer()
        try:
            observer.schedule(self, str(self._root), recursive=True, event_filter=EVENTS)
            observer.start()
        except OSError as error:
            with contextlib.suppress(RuntimeError):  # it had not been started
                observer.stop()
            limits = {errno.ENOSPC: WATCHES, errno.EMFILE: INSTANCES}
            fix = _raise(limits[error.errno]) if error.errno in limits else "Check that its drive is mounted."
            self.trouble = Trouble(f"the vault cannot be watched: {error.strerror or error}", fix)
            return
        self._observer, self._threads = observer, set(threading.enumerate()) - before
        logging.getLogger("watchdog").addHandler(self._overflows)
        self.trouble = self._find_trouble()

    def stop(self) -> None:
        """Stop watching."""
        logging.getLogger("watchdog").removeHandler(self._overflows)
        if self._observer is not None:
            observer, self._observer = self._observer, None
            observer.stop()
            observer.join()

    def is_stale(self) -> bool:
        """Whether the watches no longer match the files, for example because another folder is at the vault's path.

        Unmounting a drive drops its watches silently, and mounting it again does not restore them.
        """
        is_another = self._identity is None or locations.identity(self._root) != self._identity
        return self._lost_folder or is_another or locations.mounts_below(self._root) != self._mounts

    def wait_for_events(self, seconds: float) -> bool:
        """Wait for at most `seconds` until every earlier event has been received; return whether that is certain.

        The event of a note saved within the last millisecond is still on its way through the kernel's queue and three
        threads. So we cause an event of our own, which arrives after all earlier ones, by setting the mode of our
        folder (or the vault's) to its current value. False if that fails; always True on systems other than Linux.
        """
        if sys.platform != "linux":
            return True
        until = time.monotonic() + seconds
        with self._marked:
            starts = self._starts
            # A mark still in flight for an earlier caller proves nothing about events since then.
            if not self._wait_for_mark(until):
                return False
            ours = self._root / MARK
            folder = ours if ours.is_dir() and not ours.is_symlink() else self._root
            try:
                os.chmod(folder, stat.S_IMODE(os.stat(folder).st_mode))
            except OSError:
                return False
            self._mark_is_out = True  # in time: it can be met only once this thread waits
            return self._wait_for_mark(until) and starts == self._starts

    def _wait_for_mark(self, until: float) -> bool:
        return self._marked.wait_for(lambda: not self._mark_is_out, max(until - time.monotonic(), 0.0))

    def check(self) -> None:
        """Check that everything is still being watched, and restart watching if not."""
        alive = self._observer is not None and all(thread.is_alive() for thread in self._threads)
        if not alive or self.is_stale():
            self.start()
            return
        before, known = self.trouble, self._circumstances
        self.trouble = self._find_trouble()
        # A restart may catch a folder whose creation was missed, and the cause of an earlier failure may be gone.
        if (self.trouble and not before) or (before and self._circumstances != known):
            self.start()

    def _find_trouble(self) -> Trouble | None:
        """Return why changes may be missed, judging by the kinds of file systems and the kernel's count of watches."""
        silent = locations.silent_mounts(self._root)
        # Hidden folders count, since all are watched; os.walk leaves out what cannot be read.
        readable, watches = sum(1 for _ in os.walk(self._root)), _watches()
        self._circumstances = (silent, readable, *map(_read_number, (WATCHES, INSTANCES)))
        if silent:
            what = f"{silent[0].folder} is on a file system ({silent[0].kind}) that does not tell of every change"
            return Trouble(what)
        if watches is not None and watches < readable:
            what = f"only {watches:,} of {readable:,} folders are watched: the system's limit is reached"
            return Trouble(what, _raise(WATCHES))
        return None

    def _notice_overflow(self, record: logging.LogRecord) -> bool:
        # watchdog tells no handler of an overflow of the kernel's event queue; it only logs a line with this word.
        if "overflow" in record.getMessage():
            self._changes.add_everything()  # first: whoever waits for the mark checks what is pending next
            self._meet_mark()
        return False  # never emit the line itself

    def _meet_mark(self) -> bool:
        """Record that our mark has arrived; return whether one was in flight."""
        with self._marked:
            was_out, self._mark_is_out = self._mark_is_out, False
            self._marked.notify_all()
        return was_out

    def on_any_event(self, event: events.FileSystemEvent) -> None:
        """Queue the paths of a watchdog event; called in watchdog's thread."""
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
            # It may have been moved out of the vault, in which case it is still watched under its old name.
            self._lost_folder = True
            self._changes.add_everything()


def _raise(limit: str) -> str:
    name, least = Path(limit).name, {WATCHES: 524_288, INSTANCES: 1024}[limit]
    value, file = max(4 * (_read_number(limit) or 0), least), f"/etc/sysctl.d/60-{name.replace('_', '-')}.conf"
    return f"Raise the limit: echo fs.inotify.{name}={value} | sudo tee {file} && sudo sysctl --system"


def _watches() -> int | None:
    """Return how many folders the kernel watches for this process; None if unknown."""
    if sys.platform != "linux":
        return None
    count = 0
    try:
        for descriptor in os.listdir("/proc/self/fdinfo"):
            with contextlib.suppress(OSError), open(f"/proc/self/fdinfo/{descriptor}", "rb") as file:
                count += sum(line.startswith(b"inotify wd:") for line in file)
    except OSError:
        return None
    return count


def _read_number(file: str) -> int | None:
    try:
        return int(Path(file).read_text("ascii"))
    except (OSError, ValueError):
        return None
