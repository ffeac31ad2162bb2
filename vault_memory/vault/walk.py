"""Walks a vault's folders: which files are notes or attachments, which are skipped and why. It opens no file.

Everything comes from folder listings, since only a listing proves that a file is gone, which deleting from the index
requires.
"""

import errno
import fnmatch
import math
import os
import re
import stat
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from vault_memory.errors import RefusedError
from vault_memory.markdown.note import Problem, is_canvas, is_note_path

_CONFLICT_COPY = re.compile(
    r" \((?:[^()]*'s )?(?:conflicted copy|case conflict)[^()]*\)"
    r"|\.sync-conflict-\d{8}-\d{6}-[A-Z0-9]+"
    r"|_conflict-\d{8}-\d{6}",
    re.IGNORECASE,
)

# Such a name is neither a dot file nor a conflict copy, and the folders above it have been checked already.
_PLAIN_NAME = re.compile(r"(?!.*conflict)[A-Za-z0-9][A-Za-z0-9 _,'.-]*\.md", re.IGNORECASE).fullmatch

MAX_NOTE_BYTES = 100_000_000
"""A larger file is not a note: a sparse file takes no disk space, but would fill the memory when read."""

_MAX_WALKS = 3
"""Attempts at a walk before a folder that keeps moving meanwhile counts as unreadable."""

MAX_FILTERED_CHARS = 500
"""A longer path counts as left out if there are regular expressions to match: their time grows steeply."""
MAX_REPEATS = 3
"""Repeats in an expression, an unanchored start counting as one: 500 characters take 0.2 s."""
MAX_WAYS = 1000
"""Ways through the alternatives and optional parts of an expression."""
MAX_EXPRESSION_CHARS = 1000

_LITERAL = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)


class IgnoreRules(NamedTuple):
    """Path prefixes, globs for whole paths, regular expressions searched in paths, and the problems found in them."""

    prefixes: tuple[str, ...] = ()
    globs: tuple[re.Pattern[str], ...] = ()
    expressions: tuple[re.Pattern[str], ...] = ()
    problems: tuple[str, ...] = ()
    unknown: str = ""

    def leave_out(self, path: str) -> bool:
        """Whether a relative path (a folder's with a trailing `/`) is left out."""
        if path.startswith(self.prefixes):
            return True
        if not (self.globs or self.expressions):  # most vaults; called for up to 20,000 paths
            return False
        too_long = len(path) > MAX_FILTERED_CHARS and bool(self.expressions)
        return too_long or any(g.match(path) for g in self.globs) or any(e.search(path) for e in self.expressions)


def ignore_rules(globs: Iterable[str], excluded: object, more: Iterable[str] = (), unknown: str = "") -> IgnoreRules:
    """Compile the settings' globs, Obsidian's `userIgnoreFilters` (any JSON) and further path prefixes."""
    prefixes, expressions, problems = list(more), [], [unknown] if unknown else []
    for text in excluded if isinstance(excluded, list) else []:
        if not isinstance(text, str) or not text:
            continue
        if len(text) > 2 and text[0] == text[-1] == "/":  # /regular expression/, as Obsidian reads it
            try:
                expressions.append(_expression(text[1:-1]))
            except ValueError as error:
                problems.append(f"the filter `{text:.100}` is not used: {error}")
        else:
            prefixes.append(text)
    # `**/` also matches no folder at all.
    forms = dict.fromkeys(form for glob in globs for form in (glob, re.sub(r"(?:^|(?<=/))\*\*/", "", glob)) if form)
    patterns = tuple(re.compile(fnmatch.translate(form)) for form in forms)
    return IgnoreRules(tuple(prefixes), patterns, tuple(expressions), tuple(problems), unknown)


def _expression(text: str) -> re.Pattern[str]:
    """Compile a regular expression; raises ValueError if it is invalid or could take exponential time (law 8)."""
    if len(text) > MAX_EXPRESSION_CHARS:
        raise ValueError("it is too long")
    try:
        compiled = re.compile(text, re.DOTALL)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"it is no regular expression ({error})") from error
    refers_back = re.search(r"\\[1-9]|\(\?P=|\(\?\(", text)
    plain = _LITERAL.sub("x", text).replace("(?", "(")
    repeats = len(re.findall(r"[*+]|\{\d*,\d*\}", plain)) + ("|" in plain or not plain.startswith("^"))
    ways = math.prod((part.count("|") + 1) << part.count("?") for part in re.split(r"[()]", plain))
    if refers_back or re.search(r"\)[*+{]", plain) or repeats > MAX_REPEATS or ways > MAX_WAYS:
        raise ValueError("its matching could take for ever; write it without a repeat of repeats or of alternatives")
    return compiled


class File(NamedTuple):
    """One file as the walk saw it: vault-relative path, size in bytes, mtime and ctime in nanoseconds.

    A program can set mtime back after an edit, but never ctime. All are 0 for a file known by its name only.
    """

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int = 0


@dataclass
class Walk:
    """The result of a walk: notes and attachments by path, what was skipped and why, and what could not be read.

    `covered` are the paths that a partial walk examined, each including everything below it; None means all.
    """

    files: dict[str, File] = field(default_factory=dict)
    skipped: list[Problem] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    folders: int = 0
    covered: set[str] | None = None

    @property
    def notes(self) -> list[str]:
        """The paths of the notes among the files."""
        return [path for path in self.files if is_note_path(path)]

    def joined(self, later: "Walk") -> "Walk":
        """This walk merged with a later one: only what neither saw is gone."""
        unreadable = list(dict.fromkeys((*self.unreadable, *later.unreadable)))
        skipped = list(dict.fromkeys((*self.skipped, *later.skipped)))
        return Walk({**self.files, **later.files}, skipped, unreadable, later.folders, self.covered)

    def cannot_tell(self, path: str) -> bool:
        """Whether that path is, or is below, something unreadable, so that its absence proves nothing."""
        return any(path == folder or path.startswith(f"{folder}/") for folder in self.unreadable)


class Walker:
    """Walks one vault; `leave_out` says whether filters exclude a relative path (a folder's with a trailing `/`)."""

    def __init__(self, root: Path, leave_out: Callable[[str], bool]) -> None:
        self._root, self._leave_out = root, leave_out
        self._found = Walk()
        self._folders: list[str] = []  # still to be listed

    def walk(self) -> Walk:
        """List every folder and note; raises RefusedError when the vault itself is gone."""
        for _ in range(_MAX_WALKS):
            self._found, self._folders = Walk(), [""]
            if not self._scan_folders():
                break
        return self._found

    def walk_paths(self, paths: Iterable[str]) -> Walk:
        """Walk only these paths, and all below folders among them; raises RefusedError when the vault is gone."""
        wanted = set(paths)
        names_in: dict[str, set[str]] = {}
        for path in wanted:
            parts = path.split("/")
            if not any("/".join(parts[:n]) in wanted for n in range(1, len(parts))):
                names_in.setdefault(path.removesuffix(parts[-1]), set()).add(parts[-1])
        if "" in wanted:  # the vault itself
            return self.walk()
        covered = self._found.covered = {start + name for start, names in names_in.items() for name in names}
        for start, names in names_in.items():
            self._scan_names(start, names, covered)
        self._scan_folders()
        return self._found

    def _scan_names(self, start: str, names: set[str], covered: set[str]) -> None:
        """Examine some entries in the listing of the folder that `start` names; one that is gone is not listed."""
        folder = start.removesuffix("/")
        try:
            if folder and not self._is_walked(folder):
                return
            # A name that differs only in case or Unicode form may be the same file, renamed: use the listed name.
            alike = {_folded(name) for name in names}
            with os.scandir(self._root / folder) as entries:
                for entry in entries:
                    if entry.name in names or _folded(entry.name) in alike:
                        covered.add(start + entry.name)
                        self._scan_entry(entry, start + entry.name)
        except (FileNotFoundError, NotADirectoryError):
            if not folder or not self._root.is_dir():
                raise self._vault_gone(FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))) from None
        except OSError as error:
            if not folder:
                raise self._vault_gone(error) from error
            self._add_unreadable(folder, f"folder cannot be read: {error.strerror}")

    def _is_walked(self, folder: str) -> bool:
        """Whether a walk would enter a folder: none on the way to it is hidden, ignored or a link."""
        if self.is_left_out(f"{folder}/"):
            return False
        paths = [folder, *map(str, PurePosixPath(folder).parents)]
        return all(stat.S_ISDIR(os.lstat(self._root / path).st_mode) for path in paths)

    def _scan_folders(self) -> bool:
        """List all pending folders; return whether one had moved since its parent was listed."""
        has_moved = False
        while self._folders:
            folder = self._folders.pop()
            start = f"{folder}/" if folder else ""
            try:
                with os.scandir(self._root / folder) as entries:
                    self._found.folders += 1
                    for entry in entries:
                        self._scan_entry(entry, start + entry.name)
            except OSError as error:
                if not folder:
                    raise self._vault_gone(error) from error
                if isinstance(error, FileNotFoundError):
                    has_moved = True
                    if self._found.covered is not None:
                        continue  # its move will raise an event
                self._add_unreadable(folder, f"folder cannot be read: {error.strerror}")
        return has_moved

    def _vault_gone(self, error: OSError) -> RefusedError:
        return RefusedError(
            f"The vault {self._root} cannot be read ({error.strerror or error}): nothing was changed.",
            "Check that its drive is mounted, then run again.",
        )

    # --- one entry -----------------------------------------------------------------------------------------------

    def _skip(self, path: str, why: str, level: str = "notice") -> None:
        self._found.skipped.append(Problem(printable(path), 0, why, level))

    def _add_unreadable(self, path: str, why: str) -> None:
        self._found.unreadable.append(path)
        self._skip(path, why, "error")

    def _scan_entry(self, entry: "os.DirEntry[str]", path: str) -> None:
        try:
            # Fast path for most entries: a recall waits for up to 20,000 of them.
            is_plain = path.isascii() and _PLAIN_NAME(entry.name) and entry.is_file(follow_symlinks=False)
            if (is_plain and self._leave_out(path)) or (not is_plain and not self._is_indexed(entry, path)):
                return
            if not (is_plain or is_note_path(path) or is_canvas(path)):
                self._found.files[path] = File(path, 0, 0)  # known by its name only
                return
            status = entry.stat(follow_symlinks=False)
            if status.st_size > MAX_NOTE_BYTES:
                self._skip(path, f"larger than {MAX_NOTE_BYTES // 1_000_000} MB: not indexed", "error")
            else:
                self._found.files[path] = File(path, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        except FileNotFoundError:
            return  # gone since its folder was listed, as an editor's temporary files are
        except OSError as error:
            self._add_unreadable(path, f"cannot be looked at: {error.strerror}")

    def _is_indexed(self, entry: "os.DirEntry[str]", path: str) -> bool:
        """Whether an entry is a note or an attachment; queues a folder for later and reports what is skipped."""
        if entry.name.startswith("."):
            return False
        if entry.is_symlink():
            self._report_link(path)
            return False
        if entry.is_dir(follow_symlinks=False):
            if not self._leave_out(f"{path}/"):
                self._folders.append(path)
            return False
        if self._leave_out(path) or path[-5:].lower() == ".base":  # a view of notes, without content of its own
            return False
        if not is_encodable(path):
            level = "error" if is_note_path(path) else "notice"
            self._skip(path, "the file's name is not UTF-8: rename it to index it", level)
        elif not entry.is_file(follow_symlinks=False):
            if is_note_path(path):
                self._skip(path, "not a regular file (pipe, socket or device)")
        elif _CONFLICT_COPY.search(entry.name):
            self._skip(path, "a sync conflict copy: left out; merge and delete it", "warning")
        else:
            return True
        return False

    def _report_link(self, path: str) -> None:
        """Report a link that seems to lead to notes, except one to a note of this vault, which is indexed itself."""
        target = Path(os.path.realpath(self._root / path))
        is_file = target.is_file()
        if is_file and not is_note_path(path):
            return  # to a picture, say
        inside = target.relative_to(self._root).as_posix() if target.is_relative_to(self._root) else ""
        if not inside:
            self._skip(path, "a link out of the vault: not followed")
        elif not is_file or not is_note_path(inside) or self.is_left_out(inside):
            self._skip(path, "a link to no note of the vault: not followed")

    def is_left_out(self, path: str) -> bool:
        """Whether a walk would not reach a path, because it or a folder on the way is hidden or ignored."""
        folders = (path[: slash.end()] for slash in re.finditer("/", path))
        return is_hidden(path) or any(map(self._leave_out, folders)) or self._leave_out(path)


def is_hidden(path: str) -> bool:
    """Whether a relative path has a dot file or dot folder in it."""
    return path.startswith(".") or "/." in path


def printable(path: str) -> str:
    """A printable path: bytes that are not UTF-8 as \\xNN."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _folded(name: str) -> str:
    return name.casefold() if name.isascii() else unicodedata.normalize("NFC", name).casefold()


def is_encodable(path: str) -> bool:
    """Whether a path is valid Unicode: a file name may be any bytes."""
    return not any("\ud800" <= character <= "\udfff" for character in path)
