"""Reads a vault's git history: which notes existed at the end of a day, and their text.

Git only reads here and starts no other program. The vault and its `.git/config` are untrusted (law 8), so hooks,
monitors, conversions, external programs and fetching are disabled. Only committed blobs are read, never the working
tree, which would run the clean filter that the configuration names.
"""

import hashlib
import os
import time
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
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
"""The notes of one commit: vault-relative path → blob hash."""


class Version(NamedTuple):
    """A committed note: its blob hash, and whether it certainly existed in this form by the day."""

    blob: str
    is_certain: bool


class GitHistory:
    """The first-parent history of the repository that contains a vault; empty without a repository.

    Also empty if git is missing, fails or has not finished by `deadline` (time.monotonic).
    """

    def __init__(self, root: Path, deadline: float) -> None:
        self._root, self._deadline = root, deadline
        is_tracked = any((folder / ".git").exists() for folder in (root, *root.parents))
        asked = self._ask("log", "--first-parent", "--format=%H %at", "HEAD") if is_tracked else b""
        rows = (row.split() for row in asked.decode("ascii", "replace").splitlines())
        self._commits = [(_local_day(int(stamp)), commit) for commit, stamp in rows]
        """Newest first."""
        self._trees: dict[str, Blobs] = {}

    def versions(self, day: date, days: Mapping[str, date | None]) -> dict[str, Version | None]:
        """The notes known to git, as they were at the end of a day; None for those that did not exist yet.

        `days` are the notes' own dates. Commits lag behind: a dated note's first commit, or its state by the day after
        its own, counts for its own day. The age of the lines in the very first commit is unknown.
        """
        if not self._commits:
            return {}
        known: dict[str, Version | None] = dict.fromkeys(self._blobs(self._commits[0][1]))
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
        """The texts of these blobs, as far as they exist."""
        if not (wanted := sorted(set(blobs))):
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
        """The notes of the newest commit by the end of a day; None if there was no commit yet."""
        return next((self._blobs(commit) for made, commit in self._commits if made <= day), None)

    def _blobs(self, commit: str) -> Blobs:
        if commit not in self._trees:
            rows = self._ask("ls-tree", "-r", "-l", "-z", commit).split(b"\0")
            parts = (row.decode("utf-8", "surrogateescape").partition("\t") for row in rows if row.startswith(b"100"))
            notes = ((path, meta.split()) for meta, _, path in parts if path.endswith(".md"))
            self._trees[commit] = {path: blob for path, (_, _, blob, size) in notes if int(size) <= MAX_NOTE_BYTES}
        return self._trees[commit]

    def _first_versions(self, paths: Iterable[str]) -> dict[str, str]:
        """The blob hash of each of these notes in the commit that added it."""
        if not (wanted := sorted(paths)):
            return {}
        options = ("--first-parent", "-m", "--raw", "--no-renames", "--no-abbrev", "--diff-filter=A", "--relative")
        parts = self._ask("log", *options, "-z", "--format=", "HEAD", "--", *wanted).split(b"\0")
        pairs = zip(parts[::2], parts[1::2], strict=False)
        return {path.decode("utf-8", "surrogateescape"): meta.split()[3].decode() for meta, path in pairs}

    def _ask(self, *command: str, given: bytes = b"") -> bytes:
        """Git's output; empty if it is missing, fails or times out."""
        import shutil
        import subprocess  # lazy: needed only for a question about an earlier day

        left, git = self._deadline - time.monotonic(), shutil.which("git")
        # Some systems search the working folder first: a program inside the vault is not the user's git.
        if left <= 0 or git is None or Path(os.path.realpath(git)).is_relative_to(os.path.realpath(self._root)):
            return b""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")} | _ENVIRONMENT
        try:
            return subprocess.run(
                [git, *_SAFE, *command], cwd=self._root, env=environment, timeout=left, check=True,
                input=given, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            ).stdout  # fmt: skip
        except (OSError, subprocess.SubprocessError):
            return b""


def is_blob(data: bytes, blob: str) -> bool:
    """Whether a text has that blob hash; git may have committed it with other line endings."""
    algorithm = hashlib.sha256 if len(blob) == 64 else hashlib.sha1
    forms = (data, data.replace(b"\r\n", b"\n"))
    return any(algorithm(b"blob %d\0" % len(form) + form).hexdigest() == blob for form in forms)


def _local_day(stamp: int) -> date:
    try:
        return date.fromtimestamp(stamp)
    except (ValueError, OverflowError, OSError):
        return date.max
