"""What a vault said at the end of a day, by git, the journal and the notes' own days.

An answer "as of" a day leaves out a line that git first saw after it, and keeps what git or the journal knew by then.
A dated note may be committed much later than it was written: what came with its first commit, or on the day after its
own, counts by its day. Of what neither git nor the journal knows the answer says so.

Git only reads here, and runs nothing else: a vault may come from anywhere (law 8), its `.git/config` too, so hooks,
monitors, conversions, outside programs and fetching are switched off. The committed version is asked for, never the
file as it lies there: reading that would run the clean filter its settings name.
"""

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from vault_memory.store import journal, note_queries
from vault_memory.store.view import Candidate, NoteInfo, View

DEADLINE_SECONDS = 3.0
"""How long git may be asked about one answer."""

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


class AsOf:
    """What was written by the end of a day."""

    def __init__(self, store: View, root: Path, day: date, notes: Mapping[int, NoteInfo]) -> None:
        self._store, self._root, self._day = store, root, day
        self._notes = notes
        self._deadline = time.monotonic() + DEADLINE_SECONDS
        # Whether the folder looks like it lies in a git work tree; nothing is run for that.
        self._is_tracked = any((folder / ".git").exists() for folder in (root, *root.parents))
        self._git: dict[int, dict[str, CommittedLine] | None] = {}
        self._known: dict[int, bool | None] = {}

    def later(self, places: Iterable[Sequence[Candidate]]) -> set[int]:
        """Those passages of an answer that were written later, by their ids."""
        asked = [p for place in places for p in place]
        fresh = [p for p in asked if p.id not in self._known]
        # What answered a question by then was there.
        seen = note_queries.used_by(self._store, [(p.id, journal.passage_key(p.text)) for p in fresh], self._day)
        for passage in fresh:
            known = self._by_git(passage)
            self._known[passage.id] = True if known is None and passage.id in seen else known
        return {p.id for p in asked if self._known[p.id] is False}

    def unsure(self, places: Iterable[Sequence[Candidate]]) -> list[tuple[str, str]]:
        """What the answer must say of results that nothing dates."""
        first = (place[0] for place in places)
        days = [self._notes[p.note_id].day for p in first if self._known.get(p.id) is None]
        parts = (
            (days.count(None), "from notes without a day"),
            (len(days) - days.count(None), "by the note's day alone"),
        )
        said = [f"{count} result{'s' * (count > 1)} {what}" for count, what in parts if count]
        return [("as-of", f"not known to have been written by {self._day}: {', '.join(said)}")] if said else []

    def _by_git(self, passage: Candidate) -> bool | None:
        """Whether the lines of a passage were there on the day; None when git does not know.

        Not known: the repository's first commit after the day, that of a note with a day of its own or one until the
        day after that, and a line that is not committed when nothing was committed since.
        """
        if not self._is_tracked:
            return None
        note, day = self._notes[passage.note_id], self._day
        if note.id not in self._git:
            self._git[note.id] = committed_lines(self._root, note.path, self._deadline)
        known = self._git[note.id]
        if known is None:
            return None
        found: list[CommittedLine | None] = []
        for text in filter(None, (text.strip("\ufeff \t\r") for text in passage.text.split("\n"))):
            # A part of a long line is looked for within.
            wholes = (line for whole, line in known.items() if text in whole)
            found.append(known.get(text) if passage.from_char is None else min(wholes, default=None))
        if None in found and max(line.day for line in known.values()) > day:
            return False
        late = [line for line in found if line and line.day > day and not line.is_first]
        if note.day:
            own = date.fromisoformat(note.day)
            late = [line for line in late if not line.is_new and line.day > own + timedelta(1)]
        if late:
            return False
        return True if all(line and line.day <= day for line in found) else None


def committed_lines(root: Path, path: str, deadline: float) -> dict[str, CommittedLine] | None:
    """When each line of a note was committed, by its text; None when git is absent, knows nothing, or is late.

    `deadline` is by time.monotonic.
    """
    import shutil
    import subprocess  # only such an answer needs it

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
    return found or None


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
