"""Which file systems are mounted where, and which kinds tell nobody what others change in them."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

_MOUNTS = Path("/proc/self/mountinfo")

_NETWORK = ("nfs", "cifs", "smb", "sshfs", "fuse.", "9p", "afpfs", "webdav", "davfs")
"""Where locks and a database are not safe either."""

_SILENT = (*_NETWORK, "fuse", "fuseblk", "virtiofs", "vboxsf", "prl_fs", "drvfs", "grpcfuse", "osxfs", "ceph", "gfs")
"""Changes made on the other side (a host, a server, another machine) raise no event here."""


class Mount(NamedTuple):
    """A mounted file system: its folder, its kind, and a number that the same one has not again when it comes back."""

    folder: Path
    kind: str
    number: int = 0


def watch(root: Path, tell: Callable[[], None]) -> Callable[[], None]:
    """Call `tell`, from a thread, when something is mounted or unmounted at, above or below a folder; Linux only.

    Returns what ends that. The thread sleeps until the kernel says that the table of mounts has changed.
    """
    if not _MOUNTS.exists():
        return lambda: None
    import threading  # lazy, as is select: every command asks what kind of file system it is on

    stopped, stop = os.pipe()
    threading.Thread(target=_run, args=(root, tell, stopped, _around(root)), name="mounts", daemon=True).start()
    return lambda: os.close(stop)


def _run(root: Path, tell: Callable[[], None], stopped: int, known: list[Mount]) -> None:
    import select

    with open(_MOUNTS, "rb") as table:
        poll = select.poll()
        poll.register(table, select.POLLERR | select.POLLPRI)  # what the kernel raises when the table has changed
        poll.register(stopped, select.POLLIN)
        while True:  # a look first: something may have changed before the table was opened
            before, known = known, _around(root)
            if known != before:
                tell()
            if stopped in dict(poll.poll()):
                break
    os.close(stopped)


def network(folder: Path) -> str:
    """The kind of network file system a folder is on, or ""."""
    kind = _on(folder)
    return kind if kind.startswith(_NETWORK) else ""


def silent(root: Path) -> list[Mount]:
    """The file systems at and below a folder that do not tell of every change."""
    below = [mount for mount in _mounts() if root in mount.folder.parents]
    return [mount for mount in (Mount(root, _on(root)), *below) if mount.kind.startswith(_SILENT)]


def below(root: Path) -> set[str]:
    """The folders inside a folder, relative to it, at which something is mounted; not what only waits to mount it."""
    inside = (mount.folder for mount in _mounts() if root in mount.folder.parents and mount.kind != "autofs")
    return {folder.relative_to(root).as_posix() for folder in inside}


def _around(root: Path) -> list[Mount]:
    """What is mounted at, above and below a folder."""
    return [m for m in _mounts() if root == m.folder or root in m.folder.parents or m.folder in root.parents]


def _on(folder: Path) -> str:
    """The kind of file system that a folder is on."""
    best = Mount(Path(), "")
    for mount in _mounts():
        above = folder == mount.folder or mount.folder in folder.parents
        if above and len(str(mount.folder)) >= len(str(best.folder)):
            best = mount  # of two mounts on one folder the later one hides the other
    return best.kind


def _mounts() -> Iterator[Mount]:
    if sys.platform != "linux":
        return
    try:
        lines = _MOUNTS.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return
    for line in lines:
        # proc(5): number, parent, device, root, folder, options, optional fields, a lone dash, kind, source, options.
        fields, _, rest = line.partition(" - ")
        parts = fields.split(" ")
        if len(parts) > 4 and rest:
            yield Mount(Path(_plain(parts[4])), rest.split(" ")[0], int(parts[0]))


def _plain(text: str) -> str:
    """A folder's name as the table of mounts writes it, with its octal escapes undone."""
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, char)
    return text
