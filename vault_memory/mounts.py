"""Owns what is known of file systems: where one is mounted, and which kinds tell nobody what others change in them."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_MOUNTS = Path("/proc/self/mounts")

_NETWORK = ("nfs", "cifs", "smb", "sshfs", "fuse.", "9p", "afpfs", "webdav", "davfs")
"""Where locks and a database are not safe either."""

_SILENT = (*_NETWORK, "fuse", "fuseblk", "virtiofs", "vboxsf", "prl_fs", "drvfs", "grpcfuse", "osxfs", "ceph", "gfs")
"""Changes made on the other side (a host, a server, another machine) raise no event here."""


class Mount(NamedTuple):
    """A mounted file system: its folder and its kind."""

    folder: Path
    kind: str


def network(folder: Path) -> str:
    """The kind of network file system a folder is on, or ""."""
    kind = _on(folder)
    return kind if kind.startswith(_NETWORK) else ""


def silent(root: Path) -> list[Mount]:
    """The file systems at and below a folder that do not tell of every change."""
    below = [mount for mount in _mounts() if root in mount.folder.parents]
    return [mount for mount in (Mount(root, _on(root)), *below) if mount.kind.startswith(_SILENT)]


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
        fields = line.split(" ")
        if len(fields) > 2:
            yield Mount(Path(_plain(fields[1])), fields[2])


def _plain(text: str) -> str:
    """A folder's name as the table of mounts writes it, with its octal escapes undone."""
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, char)
    return text
