"""Walks folders: which files in them are notes, what is passed over and why. It opens no note.

A whole walk looks at everything; a partial one at the paths it is told of. Both come through the listing of a folder,
which alone tells the exact name of a file, and that one is not there: a delete needs positive absence.
"""

import errno
import fnmatch
import os
import re
import stat
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from vault_memory.errors import RefusedError
from vault_memory.markdown.note import Problem

_CONFLICT_COPY = re.compile(
    r" \((?:[^()]*'s )?(?:conflicted copy|Conflicted copy|case conflict|Case Conflict)[^()]*\)"
    r"|\.sync-conflict-\d{8}-\d{6}-[A-Z0-9]+"
    r"|_conflict-\d{8}-\d{6}",
    re.IGNORECASE,
)


# Such a name is no dot file and no conflict copy, and every folder above it has been looked at already.
_PLAIN_NAME = re.compile(r"(?!.*conflict)[A-Za-z0-9][A-Za-z0-9 _,'.-]*\.md", re.IGNORECASE).fullmatch

_MAX_WALKS = 3
"""So often a walk is begun before a folder that is moved meanwhile counts as one that cannot be read."""


MAX_FILTERED_CHARS = 500
"""A longer path counts as left out where an expression would have to be tried on it: its time grows steeply."""
MAX_REPEATS = 3
"""Unbounded repeats in an expression, one of them for where it may begin: 500 characters take 0.2 s."""
MAX_WAYS = 1000
"""Ways through the alternatives and optional parts of an expression."""
MAX_EXPRESSION_CHARS = 1000

_LITERAL = re.compile(r"\\(?:[1-9]|.)|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_REPEAT = r"([*+?]|\{(?:\d+,?\d*|,\d+)\})[?+]?"
_GROUP_KIND = re.compile(r"\(\?(?:P<\w+>|<?[=!]|[:>#]|[aiLmsux-]+:?)")
_INNERMOST_GROUP = re.compile(rf"\(([^()]*)\)(?:{_REPEAT})?")


class IgnoreRules(NamedTuple):
    """Texts that a path may begin with, globs for the whole of it, expressions found in it; and what is amiss."""

    prefixes: tuple[str, ...] = ()
    globs: tuple[re.Pattern[str], ...] = ()
    expressions: tuple[re.Pattern[str], ...] = ()
    problems: tuple[str, ...] = ()

    def leave_out(self, path: str) -> bool:
        """Whether a relative path (of a folder with a `/` at its end) is left out."""
        if path.startswith(self.prefixes):
            return True
        if not (self.globs or self.expressions):  # most vaults: 20,000 paths come by
            return False
        too_long = len(path) > MAX_FILTERED_CHARS and bool(self.expressions)
        return too_long or any(g.match(path) for g in self.globs) or any(e.search(path) for e in self.expressions)


def ignore_rules(globs: Iterable[str], excluded: object, more: Iterable[str] = ()) -> IgnoreRules:
    """Read the settings' globs, Obsidian's `userIgnoreFilters` (any JSON) and more beginnings of paths."""
    prefixes, expressions, problems = list(more), [], []
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
    return IgnoreRules(tuple(prefixes), tuple(p for g in globs for p in _glob(g)), tuple(expressions), tuple(problems))


def _glob(text: str) -> list[re.Pattern[str]]:
    """The patterns of a glob: `**/` also stands for no folder at all."""
    forms = dict.fromkeys((text, re.sub(r"(?:^|(?<=/))\*\*/", "", text)))
    return [re.compile(fnmatch.translate(form)) for form in forms if form]


def _expression(text: str) -> re.Pattern[str]:
    """Compile a regular expression; raises ValueError for a wrong one, or one that may take for ever on some path.

    A vault may come from anywhere (law 8).
    """
    if len(text) > MAX_EXPRESSION_CHARS:
        raise ValueError("it is too long")
    try:
        compiled = re.compile(text, re.DOTALL)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"it is no regular expression ({error})") from error
    if _may_take_long(text):
        raise ValueError("its matching could take for ever; write it without a repeat of repeats or of alternatives")
    return compiled


def _may_take_long(text: str) -> bool:
    """Whether an expression repeats what has several ways itself, or has too many ways in a row.

    Strict rather than clever: the engine tries every way, so ways multiply; some harmless expressions are refused too.
    """
    if re.search(r"\\[1-9]|\(\?P=|\(\?\(", text):  # what refers back to a group
        return True
    text = _GROUP_KIND.sub("(", _LITERAL.sub("x", text))
    repeats, ways = int("|" in text or not text.startswith("^")), 1
    text = f"({text})"
    while group := _INNERMOST_GROUP.search(text):
        body, repeat = group[1], group[2] or ""
        inside = re.findall(_REPEAT, body)
        repeats += len(inside) - inside.count("?")
        ways *= (body.count("|") + 1) << inside.count("?")
        is_varied = bool(inside) or "|" in body or "\0" in body
        if is_varied and repeat not in ("", "?"):
            return True
        text = text[: group.start()] + ("\0" if is_varied else "x") + repeat + text[group.end() :]
    return repeats > MAX_REPEATS or ways > MAX_WAYS


class File(NamedTuple):
    """One note as the walk saw it: vault-relative path, bytes, times of its content and of its inode, in nanoseconds.

    A program can set the first time back after an edit, never the second.
    """

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int = 0


@dataclass
class Walk:
    """What one walk found: notes by path, what was passed over and why, folders (or files) that could not be read.

    `links` are notes that change with what is at another path. `covered` is what a partial walk looked at, each with
    all that may lie below it; None means everything.
    """

    files: dict[str, File] = field(default_factory=dict)
    skipped: list[Problem] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    folders: int = 0
    links: frozenset[str] = frozenset()
    covered: set[str] | None = None

    def joined(self, later: "Walk") -> "Walk":
        """This walk and one after it: only what neither saw is gone."""
        unreadable = list(dict.fromkeys((*self.unreadable, *later.unreadable)))
        skipped = list(dict.fromkeys((*self.skipped, *later.skipped)))
        files, links = {**self.files, **later.files}, self.links | later.links
        return Walk(files, skipped, unreadable, later.folders, links, self.covered)

    def came_to(self, path: str) -> bool:
        """Whether a path is, or lies below, something that was looked at."""
        return self.covered is None or any(path == place or path.startswith(f"{place}/") for place in self.covered)

    def cannot_tell(self, path: str) -> bool:
        """Whether that path is or lies below what could not be read, so that its absence proves nothing."""
        return any(path == folder or path.startswith(f"{folder}/") for folder in self.unreadable)


class Walker:
    """Looks at one vault; `leave_out` says whether filters exclude a relative path (a folder with `/` at its end)."""

    def __init__(self, root: Path, leave_out: Callable[[str], bool]) -> None:
        self._root, self._leave_out = root, leave_out

    def walk(self) -> Walk:
        """Look at every folder and note; raises RefusedError when the vault itself is gone."""
        for _ in range(_MAX_WALKS):
            found = Walk()
            links: list[str] = []
            if not self._below([""], found, links):
                break
        for path in sorted(links):
            self._visit_link(path, found)
        return found

    def look(self, paths: Iterable[str]) -> Walk:
        """Look only at these paths, and below those that are folders; raises RefusedError when the vault is gone."""
        found = Walk(covered=set())
        links: list[str] = []
        folders: list[str] = []
        for folder, names in _by_folder(paths).items():
            if "" in names:  # the vault itself
                return self.walk()
            found.covered |= {_joined(folder, name) for name in names}  # type: ignore[operator]
            self._look_into(folder, names, found, folders, links)
        self._below(folders, found, links)
        for path in sorted(links):
            self._visit_link(path, found)
        return found

    def _look_into(self, folder: str, names: set[str], found: Walk, folders: list[str], links: list[str]) -> None:
        """Look at some entries of one folder, by its listing; a folder that is no longer there has none."""
        try:
            if not self._is_walked(folder):
                return
            # A name differing only in case or form may be the same file, renamed: it is looked at under the new name.
            alike = {_folded(name) for name in names}
            with _entries(self._root / folder) as entries:
                for entry in entries:
                    if entry.name in names or _folded(entry.name) in alike:
                        path = _joined(folder, entry.name)
                        found.covered.add(path)  # type: ignore[union-attr]
                        if not self._is_plain_note(entry, path, found):
                            self._look(entry, path, found, folders, links)
        except (FileNotFoundError, NotADirectoryError):
            if not folder or not self._root.is_dir():
                raise self._gone(FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))) from None
        except OSError as error:
            if not folder:
                raise self._gone(error) from error
            self._unreadable(folder, error, found)

    def _is_walked(self, folder: str) -> bool:
        """Whether a walk would come into a folder: none on its way is hidden, ignored or a link."""
        parts = folder.split("/") if folder else []
        for n in range(1, len(parts) + 1):
            path = "/".join(parts[:n])
            if parts[n - 1].startswith(".") or self._leave_out(f"{path}/"):
                return False
            if not stat.S_ISDIR(os.lstat(self._root / path).st_mode):
                return False
        return True

    def _below(self, pending: list[str], found: Walk, links: list[str]) -> bool:
        """Look below folders; whether one was no longer where its own folder had it."""
        has_moved = False
        while pending:
            folder = pending.pop()
            try:
                with _entries(self._root / folder) as entries:
                    found.folders += 1
                    for entry in entries:
                        path = f"{folder}/{entry.name}" if folder else entry.name
                        if not self._is_plain_note(entry, path, found):
                            self._look(entry, path, found, pending, links)
            except OSError as error:
                if not folder:
                    raise self._gone(error) from error
                if isinstance(error, FileNotFoundError):
                    has_moved = True
                    if found.covered is not None:
                        continue  # an event will tell
                self._unreadable(folder, error, found)
        return has_moved

    def _gone(self, error: OSError) -> RefusedError:
        return RefusedError(
            f"The vault {self._root} cannot be read ({error.strerror or error}): nothing was changed.",
            "Check that its drive is mounted, then run again.",
        )

    def _unreadable(self, folder: str, error: OSError, found: Walk) -> None:
        found.unreadable.append(folder)
        found.skipped.append(Problem(printable(folder), 0, f"folder cannot be read: {error.strerror}", "error"))

    # --- one entry -----------------------------------------------------------------------------------------------

    def _is_plain_note(self, entry: "os.DirEntry[str]", path: str, found: Walk) -> bool:
        """Take in what most entries are, a note with an ordinary name, the short way: 20,000 make a recall wait."""
        if not (path.isascii() and _PLAIN_NAME(entry.name) and entry.is_file(follow_symlinks=False)):
            return False
        if self._leave_out(path):
            return False
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            return False
        _take_in(path, status, found)
        return True

    def _look(self, entry: "os.DirEntry[str]", path: str, found: Walk, pending: list[str], links: list[str]) -> None:
        try:
            self._visit(entry, path, found, pending, links)
        except FileNotFoundError:
            return  # gone since its folder was read, as an editor's temporary files are
        except OSError as error:
            found.unreadable.append(path)
            found.skipped.append(Problem(printable(path), 0, f"cannot be looked at: {error.strerror}", "error"))

    def _visit(self, entry: "os.DirEntry[str]", path: str, found: Walk, pending: list[str], links: list[str]) -> None:
        name = entry.name
        if name.startswith("."):
            return
        note = name[-3:].lower() == ".md"
        if entry.is_symlink():
            if note or os.path.isdir(self._root / path):  # DirEntry.is_dir raises for a link in a loop
                links.append(path)
            elif not os.path.exists(self._root / path):
                found.skipped.append(Problem(printable(path), 0, "a link that leads nowhere"))
            return
        if entry.is_dir(follow_symlinks=False):
            if not self._leave_out(f"{path}/"):
                pending.append(path)
            return
        if not note or self._leave_out(path):
            return
        if not is_encodable(path):
            found.skipped.append(
                Problem(printable(path), 0, "the file's name is not UTF-8: rename it to index it", "warning")
            )
        elif not entry.is_file(follow_symlinks=False):
            found.skipped.append(Problem(path, 0, "not a regular file (pipe, socket or device)"))
        elif _CONFLICT_COPY.search(name):
            found.skipped.append(Problem(path, 0, "a sync conflict copy: left out; merge and delete it", "warning"))
        else:
            _take_in(path, entry.stat(follow_symlinks=False), found)

    def _visit_link(self, path: str, found: Walk) -> None:
        """Index a linked note only if it leads to a file inside the vault that is not indexed as itself."""
        if path[-3:].lower() == ".md":
            found.links |= {path}
        try:
            target = (self._root / path).resolve(strict=True)
            status = target.stat()
        except (OSError, RuntimeError) as error:
            loop = isinstance(error, RuntimeError) or error.errno == errno.ELOOP  # the former before Python 3.13
            reason = "a link in a loop" if loop else "a link that leads nowhere"
            found.skipped.append(Problem(printable(path), 0, reason))
            return
        inside = self._root in target.parents
        if not inside or stat.S_ISDIR(status.st_mode) or not stat.S_ISREG(status.st_mode):
            what = (
                "a linked folder or file: not followed"
                if inside or target == self._root
                else "a link out of the vault: not followed"
            )
            found.skipped.append(Problem(printable(path), 0, what))
            return
        leads_to = target.relative_to(self._root).as_posix()
        if self.is_left_out(leads_to):
            found.skipped.append(Problem(printable(path), 0, "a link to what is left out: not followed"))
        elif not _is_note_name(leads_to) and is_encodable(path) and not self._leave_out(path):
            _take_in(path, status, found)

    def is_left_out(self, path: str) -> bool:
        """Whether a walk would not come to a path, for a hidden or ignored folder on its way or for itself."""
        parts = path.split("/")
        folders = ("/".join(parts[:n]) + "/" for n in range(1, len(parts)))
        return is_hidden(path) or any(map(self._leave_out, folders)) or self._leave_out(path)


@contextmanager
def _entries(folder: Path) -> Iterator[Iterator["os.DirEntry[str]"]]:
    """The entries of a folder that stays open meanwhile: the system then looks each up by its name, not the whole path.

    Their `path` is no more than their name. A seventh less time: 20,000 make a recall wait.
    """
    if os.scandir not in os.supports_fd:  # Windows
        with os.scandir(folder) as entries:
            yield entries
        return
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with os.scandir(opened) as entries:
            yield entries
    finally:
        os.close(opened)


def is_hidden(path: str) -> bool:
    """Whether a relative path has a dot file or dot folder in it."""
    return path.startswith(".") or "/." in path


def printable(path: str) -> str:
    """A path that can be printed: bytes that are not UTF-8 as \\xNN."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _by_folder(paths: Iterable[str]) -> dict[str, set[str]]:
    """Names by the folder they are in, without what lies below a path that is there as well."""
    wanted = set(paths)
    found: dict[str, set[str]] = {}
    for path in wanted:
        parts = path.split("/")
        if not any("/".join(parts[:n]) in wanted for n in range(1, len(parts))):
            folder, _, name = path.rpartition("/")
            found.setdefault(folder, set()).add(name)
    return found


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _folded(name: str) -> str:
    return name.casefold() if name.isascii() else unicodedata.normalize("NFC", name).casefold()


def _take_in(path: str, status: os.stat_result, found: Walk) -> None:
    found.files[path] = File(path, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _is_note_name(path: str) -> bool:
    """Whether a file that is not left out is indexed as itself."""
    name = path.rpartition("/")[2]
    return name[-3:].lower() == ".md" and is_encodable(path) and not _CONFLICT_COPY.search(name)


def is_encodable(path: str) -> bool:
    """Whether a path is text: a name may be any bytes."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
