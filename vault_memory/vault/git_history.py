"""What git knows of a vault's notes at the end of a day.

Git only reads here, and runs nothing else: a vault may come from anywhere (law 8), its `.git/config` too, so hooks,
monitors, conversions, outside programs and fetching are switched off. Committed texts are asked for, never the files
as they lie there: reading those would run the clean filter its settings name.
"""

import hashlib
import os
import time
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from vault_memory.vault.walk import MAX_NOTE_BYTES

_SAFE = (
    "--no-pager", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}",
    "-c", "core.pager=cat", "-c", "diff.external=", "-c", "protocol.allow=never",
    "-c", "log.showSignature=false", "-c", "core.sshCommand=false", "-c", "maintenance.auto=false", "-c", "gc.auto=0",
)  # fmt: skip
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none",
    "GIT_PAGER": "cat", "GIT_ATTR_NOSYSTEM": "1", "LC_ALL": "C",
}  # fmt: skip

Blobs = Mapping[str, str]
"""The notes of one commit: the hash of each text by its path below the vault."""


class Version(NamedTuple):
    """A note as it was committed: the hash of its text, and whether it is certain that it was so by the day."""

    blob: str
    is_certain: bool


class GitHistory:
    """The repository that a vault's folder lies in, as the main line of its history tells; empty without one.

    Where git is missing, fails or is not done by `deadline` (time.monotonic), it knows nothing.
    """

    def __init__(self, root: Path, deadline: float) -> None:
        self._root, self._deadline = root, deadline
        is_tracked = any((folder / ".git").exists() for folder in (root, *root.parents))
        asked = self._ask("log", "--first-parent", "--format=%H %at", "HEAD") if is_tracked else b""
        rows = (row.split() for row in asked.decode("ascii", "replace").splitlines())
        self._commits = [(_local_day(int(stamp)), commit) for commit, stamp in rows]
        """Newest first."""
        self._trees: dict[str, Blobs] = {}

    @property
    def now(self) -> Blobs:
        """What was committed last."""
        return self._blobs(self._commits[0][1]) if self._commits else {}

    def versions(self, day: date, days: Mapping[str, date | None]) -> dict[str, Version | None]:
        """The notes that git knows, as they were at the end of a day; None for what was not there yet.

        `days` are the notes' own. Commits come late: what came with a dated note's first commit, or by the day after
        its own, counts by its day. How old the lines of the very first commit were then, nobody knows.
        """
        if not self._commits:
            return {}
        known: dict[str, Version | None] = dict.fromkeys(self.now)
        at_day = self._at(day)
        then = self._blobs(self._commits[-1][1]) if at_day is None else at_day
        known |= {path: Version(blob, is_certain=at_day is not None) for path, blob in then.items()}
        dated = {path: own for path, own in days.items() if own and own <= day and path in known}
        moved = set(then.values())
        for path, blob in self._first_versions(path for path in dated if not known[path]).items():
            known[path] = None if blob in moved else Version(blob, is_certain=False)
        the_day_after = self._at(day + timedelta(1)) or {}
        of_the_day = {path for path, own in dated.items() if own == day and path in the_day_after}
        return known | {path: Version(the_day_after[path], is_certain=True) for path in of_the_day}

    def texts(self, blobs: Iterable[str]) -> dict[str, bytes]:
        """The texts with these hashes, as far as they are there."""
        wanted = sorted(set(blobs))
        if not wanted:
            return {}
        answer, found, at = self._ask("cat-file", "--batch", given="\n".join(wanted).encode() + b"\n"), {}, 0
        while (end := answer.find(b"\n", at)) >= 0:
            blob, *kind_and_size = answer[at:end].decode("ascii", "replace").split()
            at = end + 1
            if len(kind_and_size) == 2:
                size = int(kind_and_size[1])
                found[blob] = answer[at : at + size]
                at += size + 1
        return found

    def _at(self, day: date) -> Blobs | None:
        """The notes of the newest commit by the end of a day; None when there was none yet."""
        return next((self._blobs(commit) for made, commit in self._commits if made <= day), None)

    def _blobs(self, commit: str) -> Blobs:
        if commit not in self._trees:
            rows = self._ask("ls-tree", "-r", "-l", "-z", commit).split(b"\0")
            parts = (row.decode("utf-8", "surrogateescape").partition("\t") for row in rows if row.startswith(b"100"))
            notes = ((path, meta.split()) for meta, _, path in parts if path.endswith(".md"))
            self._trees[commit] = {path: blob for path, (_, _, blob, size) in notes if int(size) <= MAX_NOTE_BYTES}
        return self._trees[commit]

    def _first_versions(self, paths: Iterable[str]) -> dict[str, str]:
        """The hash of what each of these notes held when it was committed first."""
        wanted = sorted(paths)
        if not wanted:
            return {}
        options = ("--first-parent", "-m", "--raw", "--no-renames", "--no-abbrev", "--diff-filter=A", "--relative")
        parts = self._ask("log", *options, "-z", "--format=", "HEAD", "--", *wanted).split(b"\0")
        pairs = zip(parts[::2], parts[1::2], strict=False)
        return {path.decode("utf-8", "surrogateescape"): meta.split()[3].decode() for meta, path in pairs}

    def _ask(self, *command: str, given: bytes = b"") -> bytes:
        """What git says; nothing when it is absent, fails or is late."""
        import shutil
        import subprocess  # only a question of an earlier day needs it

        left, git = self._deadline - time.monotonic(), shutil.which("git")
        # Some systems look into the working folder first: a program that lies in the vault is not the user's git.
        if left <= 0 or git is None or Path(os.path.realpath(git)).is_relative_to(os.path.realpath(self._root)):
            return b""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | _ENVIRONMENT
        try:
            done = subprocess.run(
                [git, *_SAFE, *command], cwd=self._root, env=environment, timeout=left, check=False,
                input=given, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError):
            return b""
        return done.stdout if done.returncode == 0 else b""


def is_blob(data: bytes, blob: str) -> bool:
    """Whether a text is the one with that hash; git may have committed it with other line ends."""
    algorithm = hashlib.sha256 if len(blob) == 64 else hashlib.sha1
    forms = (data, data.replace(b"\r\n", b"\n"))
    return any(algorithm(b"blob %d\0" % len(form) + form).hexdigest() == blob for form in forms)


def _local_day(stamp: int) -> date:
    try:
        return datetime.fromtimestamp(stamp).astimezone().date()
    except (ValueError, OverflowError, OSError):
        return date.max
