"""Owns the vault's files: the only module that walks, reads or writes notes, and the only one with absolute paths.

Paths that leave this module are vault-relative POSIX. Reading never changes a byte; a write replaces one file whole,
and only if the file still has the hash that was read (DESIGN.md §2, law 2).
"""

import contextlib
import errno
import hashlib
import json
import os
import re
import stat
import time
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from vault_memory import filters, places, replacing
from vault_memory.config import Config
from vault_memory.errors import ConflictError, RefusedError, VaultError
from vault_memory.note import Problem

SETTLE_SECONDS = 3.0
"""A note saved more recently than this is left to its editor for a moment before a writer touches it."""

_CONFLICT_COPY = re.compile(
    r" \((?:[^()]*'s )?(?:conflicted copy|Conflicted copy|case conflict|Case Conflict)[^()]*\)"
    r"|\.sync-conflict-\d{8}-\d{6}-[A-Z0-9]+"
    r"|_conflict-\d{8}-\d{6}",
    re.IGNORECASE,
)


# Such a name is no dot file and no conflict copy, and every folder above it has been looked at already.
_PLAIN_NAME = re.compile(r"(?!.*conflict)[A-Za-z0-9][A-Za-z0-9 _,'.-]*\.md", re.IGNORECASE).fullmatch


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
    """What one walk found: notes by path, what was passed over and why, folders (or files) that could not be read."""

    files: dict[str, File] = field(default_factory=dict)
    skipped: list[Problem] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    folders: int = 0

    def cannot_tell(self, path: str) -> bool:
        """Whether that path is or lies below what could not be read, so that its absence proves nothing."""
        return any(path == folder or path.startswith(f"{folder}/") for folder in self.unreadable)


@dataclass(frozen=True)
class DailySettings:
    """Where daily notes live: folder ("" for the root), moment.js format, template note or ""."""

    folder: str = "memory"
    format: str = "YYYY-MM-DD"
    template: str = ""


class Vault:
    """A folder of notes. `root` is absolute and resolved; raises VaultError when it is not a readable folder."""

    def __init__(self, config: Config) -> None:
        self.config = config
        try:
            self.root = config.vault.resolve(strict=True)
            os.scandir(self.root).close()
        except OSError as error:
            raise VaultError(
                f"The vault {config.vault} cannot be read: {error.strerror or error}.",
                "Check the path and that its drive is mounted; `memory init PATH` makes a new vault.",
            ) from error

    # --- settings ------------------------------------------------------------------------------------------------

    @cached_property
    def settings_folder(self) -> str:
        """Obsidian's settings folder: `.obsidian`, or the renamed one (a dot folder with an app.json)."""
        if (self.root / ".obsidian").is_dir():
            return ".obsidian"
        renamed = sorted(p.parent.name for p in self.root.glob(".*/app.json"))
        return renamed[0] if renamed else ".obsidian"

    def _setting(self, name: str) -> dict[str, object]:
        try:
            loaded = json.loads((self.root / self.settings_folder / name).read_text("utf-8-sig"))
        except (OSError, ValueError):
            return {}
        return loaded if isinstance(loaded, dict) else {}

    @cached_property
    def daily(self) -> DailySettings:
        """Daily-note settings: the project's own, else Obsidian's, else memory/YYYY-MM-DD.md."""
        found = self._setting("daily-notes.json")
        default = DailySettings() if not found else DailySettings(folder="")
        text = {key: str(found.get(key) or "").strip("/") for key in ("folder", "format", "template")}
        return DailySettings(
            folder=(self.config.daily_folder or text["folder"] or default.folder).strip("/"),
            format=self.config.daily_format or text["format"] or default.format,
            template=text["template"].removesuffix(".md") and text["template"].removesuffix(".md") + ".md",
        )

    @cached_property
    def _template_folder(self) -> str:
        return str(self._setting("templates.json").get("folder") or "").strip("/")

    @cached_property
    def _filters(self) -> filters.Filters:
        excluded = self._setting("app.json").get("userIgnoreFilters")
        return filters.filters(
            self.config.ignore, excluded, [f"{self._template_folder}/"] * bool(self._template_folder)
        )

    def _ignored(self, path: str) -> bool:
        """Whether a relative path (folders with a trailing `/`) is left out by the user's filters."""
        return self._filters.leave_out(path) or path == self.daily.template

    def _is_left_out(self, path: str) -> bool:
        """Whether a walk would not come to a path, for a hidden or ignored folder on its way or for itself."""
        parts = path.split("/")
        folders = ("/".join(parts[:n]) + "/" for n in range(1, len(parts)))
        return _is_hidden(path) or any(map(self._ignored, folders)) or self._ignored(path)

    # --- walking -------------------------------------------------------------------------------------------------

    def walk(self) -> Walk:
        """Look at every folder and note without opening any; raises RefusedError when the vault itself is gone."""
        found = Walk()
        settings = f"{self.settings_folder}/app.json"
        found.skipped += [Problem(settings, 0, sentence, "warning") for sentence in self._filters.problems]
        links: list[str] = []
        pending = [""]
        while pending:
            folder = pending.pop()
            try:
                with os.scandir(self.root / folder) as entries:
                    found.folders += 1
                    for entry in entries:
                        path = f"{folder}/{entry.name}" if folder else entry.name
                        if not self._is_plain_note(entry, path, found):
                            self._look(entry, path, found, pending, links)
            except OSError as error:
                if not folder:
                    raise RefusedError(
                        f"The vault {self.root} cannot be read ({error.strerror or error}): nothing was changed.",
                        "Check that its drive is mounted, then run again.",
                    ) from error
                found.unreadable.append(folder)
                found.skipped.append(Problem(folder, 0, f"folder cannot be read: {error.strerror}", "error"))
        for path in sorted(links):
            self._visit_link(path, found)
        return found

    def _is_plain_note(self, entry: "os.DirEntry[str]", path: str, found: Walk) -> bool:
        """Take in what most entries are, a note with an ordinary name, the short way: 20,000 make a recall wait."""
        if not (path.isascii() and _PLAIN_NAME(entry.name) and entry.is_file(follow_symlinks=False)):
            return False
        if self._ignored(path):
            return False
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            return False
        found.files[path] = _file(path, status)
        return True

    def _look(self, entry: "os.DirEntry[str]", path: str, found: Walk, pending: list[str], links: list[str]) -> None:
        try:
            self._visit(entry, path, found, pending, links)
        except FileNotFoundError:
            return  # gone since its folder was read, as an editor's temporary files are
        except OSError as error:
            found.unreadable.append(path)
            found.skipped.append(Problem(_shown(path), 0, f"cannot be looked at: {error.strerror}", "error"))

    def _visit(self, entry: "os.DirEntry[str]", path: str, found: Walk, pending: list[str], links: list[str]) -> None:
        name = entry.name
        if name.startswith("."):
            return
        note = name[-3:].lower() == ".md"
        if entry.is_symlink():
            if note or os.path.isdir(entry.path):  # DirEntry.is_dir raises for a link in a loop
                links.append(path)
            elif not os.path.exists(entry.path):
                found.skipped.append(Problem(_shown(path), 0, "a link that leads nowhere"))
            return
        if entry.is_dir(follow_symlinks=False):
            if not self._ignored(f"{path}/"):
                pending.append(path)
            return
        if not note or self._ignored(path):
            return
        if not _is_encodable(path):
            found.skipped.append(
                Problem(_shown(path), 0, "the file's name is not UTF-8: rename it to index it", "warning")
            )
        elif not entry.is_file(follow_symlinks=False):
            found.skipped.append(Problem(path, 0, "not a regular file (pipe, socket or device)"))
        elif _CONFLICT_COPY.search(name):
            found.skipped.append(Problem(path, 0, "a sync conflict copy: left out; merge and delete it", "warning"))
        else:
            status = entry.stat(follow_symlinks=False)
            found.files[path] = _file(path, status)

    def _visit_link(self, path: str, found: Walk) -> None:
        """Index a linked note only if it leads to a file inside the vault that is not indexed as itself."""
        try:
            target = (self.root / path).resolve(strict=True)
            status = target.stat()
        except (OSError, RuntimeError) as error:
            loop = isinstance(error, RuntimeError) or error.errno == errno.ELOOP  # the former before Python 3.13
            reason = "a link in a loop" if loop else "a link that leads nowhere"
            found.skipped.append(Problem(_shown(path), 0, reason))
            return
        inside = self.root in target.parents
        if not inside or stat.S_ISDIR(status.st_mode) or not stat.S_ISREG(status.st_mode):
            what = (
                "a linked folder or file: not followed"
                if inside or target == self.root
                else "a link out of the vault: not followed"
            )
            found.skipped.append(Problem(_shown(path), 0, what))
            return
        leads_to = target.relative_to(self.root).as_posix()
        if self._is_left_out(leads_to):
            found.skipped.append(Problem(_shown(path), 0, "a link to what is left out: not followed"))
        elif leads_to not in found.files and _is_encodable(path) and not self._ignored(path):
            found.files[path] = _file(path, status)

    # --- reading -------------------------------------------------------------------------------------------------

    def read(self, path: str) -> bytes:
        """The bytes of one note; raises OSError when it cannot be read."""
        return (self.root / path).read_bytes()

    def locate(self, path: str) -> str | None:
        """The vault-relative path of a note named by a person, or None when there is none.

        Accepts `a/b.md`, `a/b`, or an absolute path inside the vault. Raises RefusedError for a way out of the vault
        (dots, absolute paths, links) and for what is not a note.
        """
        named = Path(path)
        with contextlib.suppress(ValueError):
            named = named.relative_to(self.root if named.is_relative_to(self.root) else self.config.vault)
        for candidate in (named, named.with_name(named.name + ".md")) if named.name else ():
            full = Path(os.path.normpath(self.root / candidate))
            if "\0" in str(candidate) or not (self._is_inside(full) and self._is_inside(Path(os.path.realpath(full)))):
                raise RefusedError(
                    f"{_shown(path)} leads out of the vault.", "Name a note by its path inside the vault."
                )
            if os.path.isfile(full) and full.name[-3:].lower() == ".md":
                relative = full.relative_to(self.root).as_posix()
                real = Path(os.path.realpath(full)).relative_to(self.root).as_posix()
                if _is_hidden(relative) or _is_hidden(real):
                    raise RefusedError(f"{_shown(path)} is not a note.", "Hidden folders are not part of the vault.")
                return relative
        return None

    def _is_inside(self, path: Path) -> bool:
        return self.root in path.parents

    # --- writing -------------------------------------------------------------------------------------------------

    def write(self, path: str, data: bytes, expected: bytes | None) -> None:
        """Replace the note `path` by `data`, atomically, if its bytes are still `expected` (None: it must not exist).

        Mode, owner and extended attributes are kept; a link that stays inside the vault is written through.
        Raises ConflictError when the note changed or appeared meanwhile, RefusedError for a path out of the vault,
        VaultError when the system refuses.
        """
        target = Path(os.path.realpath(self.root / path))
        if not self._is_inside(target) or not self._is_inside(Path(os.path.normpath(self.root / path))):
            raise RefusedError(f"{path} leads out of the vault: nothing was written.", "Name a note inside the vault.")
        if _is_hidden(target.relative_to(self.root).as_posix()):
            raise RefusedError(
                f"{path} is not a note: nothing was written.", "Hidden folders are not part of the vault."
            )
        self._check_unchanged(path, target, expected)  # first, so that no folder is made for a note that is gone
        part = None
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            part = self._temporary_file()
            with open(part, "xb") as handle:
                handle.write(data)
                handle.flush()
                os.fsync(handle.fileno())
            with replacing.one_writer(part.parent):
                if expected is not None:
                    replacing.keep_attributes(target, part)
                self._check_unchanged(path, target, expected)  # last, so that the window for a lost edit is smallest
                if expected is None:
                    replacing.place_new(part, target)
                else:
                    os.replace(part, target)
        except FileExistsError as error:
            raise ConflictError(
                f"{path} appeared while it was being written; nothing was written.", "Try again."
            ) from error
        except FileNotFoundError as error:
            raise ConflictError(
                f"{path} vanished while it was being written; nothing was written.", "Try again."
            ) from error
        except OSError as error:
            raise VaultError(
                f"{path} cannot be written: {error.strerror or error}; nothing was changed.",
                "Check permissions and free space.",
            ) from error
        finally:
            if part:
                part.unlink(missing_ok=True)

    def _temporary_file(self) -> Path:
        folder = places.derived(self.root, "tmp")
        if folder is None:
            raise RefusedError(".memory/tmp is a link: nothing was written.", "Make `.memory` and it plain folders.")
        folder.mkdir(parents=True, exist_ok=True)
        replacing.sweep(folder)
        return folder / f"{os.urandom(8).hex()}.part"

    def _check_unchanged(self, path: str, target: Path, expected: bytes | None) -> None:
        current = target.read_bytes() if target.exists() else None
        if current != expected:
            raise ConflictError(
                f"{path} was changed by another program meanwhile; nothing was written.", "Run the command again."
            )

    def seconds_since_saved(self, path: str) -> float:
        """How long ago a note was saved, in seconds; infinite when it does not exist."""
        try:
            return time.time() - (self.root / path).stat().st_mtime
        except OSError:
            return float("inf")


def content_hash(data: bytes) -> bytes:
    """The identity of a note's bytes: 16 bytes of BLAKE2b."""
    return hashlib.blake2b(data, digest_size=16).digest()


def _file(path: str, status: os.stat_result) -> File:
    return File(path, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _is_hidden(path: str) -> bool:
    return any(part.startswith(".") for part in path.split("/"))


def _is_encodable(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _shown(path: str) -> str:
    """A path that can be printed: bytes that are not UTF-8 as \\xNN."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
