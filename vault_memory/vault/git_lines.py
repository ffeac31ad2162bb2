"""Owns what git knows of when the lines of a note were written. It only reads history, and runs nothing else.

A vault may come from anywhere (law 8), its `.git/config` too: hooks, file monitor, text conversion, outside diff
programs, pagers and fetching are switched off. The committed version is asked for, never the file as it lies there:
reading that would run the clean filter its settings name.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import date, datetime
from pathlib import Path
from typing import NamedTuple

_SAFE = (
    "--no-pager", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}",
    "-c", "core.pager=cat", "-c", "diff.external=", "-c", "protocol.allow=never", "-c", "blame.ignoreRevsFile=",
    "-c", "log.showSignature=false", "-c", "core.sshCommand=false", "-c", "maintenance.auto=false", "-c", "gc.auto=0",
)  # fmt: skip
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none",
    "GIT_PAGER": "cat", "GIT_ATTR_NOSYSTEM": "1", "LC_ALL": "C",
}  # fmt: skip


_MOVED = ("-w", "-M12", "-C12")
"""A line moved, indented, or split off into another note in one commit is as old as it was; of 12 letters at least."""


class CommittedLine(NamedTuple):
    """When a line was committed (a local day), wherever it stood then.

    Of the lines of the repository's first commit (`is_first`) and of a note's own (`is_new`) it is not known how old
    they were then.
    """

    day: date
    is_first: bool
    is_new: bool = False


class CommittedLines(NamedTuple):
    """The committed lines of a note by their text, and the last day any of them was committed."""

    lines: Mapping[str, CommittedLine]
    last: date


def is_tracked(root: Path) -> bool:
    """Whether a folder looks like it lies in a git work tree; nothing is run for that."""
    return any((folder / ".git").exists() for folder in (root, *root.parents))


def lines(root: Path, path: str, deadline: float) -> CommittedLines | None:
    """When each line of a note was committed; None when git is absent, knows nothing, or is late (time.monotonic)."""
    left, git = deadline - time.monotonic(), shutil.which("git")
    # Some systems look into the working folder first: a program that lies in the vault is not the user's git.
    if left <= 0 or git is None or Path(os.path.realpath(git)).is_relative_to(os.path.realpath(root)):
        return None
    command = [git, *_SAFE, "blame", *_MOVED, "--line-porcelain", "--no-textconv", "HEAD", "--", path]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | _ENVIRONMENT
    try:
        done = subprocess.run(
            command, cwd=root, env=environment, timeout=left, check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    found: dict[str, CommittedLine] = {}
    porcelain = done.stdout.decode("utf-8", "replace").replace("\r\n", "\n")
    # Where git would part or read lines otherwise than note.py does, it knows nothing of them.
    if done.returncode == 0 and not any(odd in porcelain for odd in "\r\0\ufffd"):
        with suppress(ValueError, KeyError, IndexError, OverflowError):
            for text, line in _parsed(porcelain):
                found[text] = min(line, found.get(text, line))
    return CommittedLines(found, max(line.day for line in found.values())) if found else None


def _parsed(porcelain: str) -> Iterator[tuple[str, CommittedLine]]:
    """Yield each line and when it was committed; a note's first commit has no `previous` one."""
    day, headers = date.max, set[str]()
    for row in porcelain.split("\n"):
        if row.startswith("\t"):
            yield row[1:].strip("\ufeff \t"), CommittedLine(day, "boundary" in headers, "previous" not in headers)
            headers.clear()
        elif row.startswith("author-time "):
            day = datetime.fromtimestamp(int(row.split()[1])).astimezone().date()
        else:
            headers.add(row.split(" ", 1)[0])
