"""The vault's files: the only module that reads or writes notes, and the only one that handles absolute paths.

Paths that leave this module are vault-relative POSIX paths. Reading never changes a byte; a write replaces one whole
file, and only if it still contains the bytes that were read (law 2).
"""

import contextlib
import errno
import hashlib
import json
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from vault_memory.config import Config
from vault_memory.errors import ConflictError, RefusedError, UsageError, VaultError, VaultMemoryError
from vault_memory.markdown.note import Note, Problem, attachment_text, is_canvas, is_note_path
from vault_memory.startup import open_regular, read_bounded, read_regular
from vault_memory.text.vault_layout import Layout
from vault_memory.vault import locations, safe_files
from vault_memory.vault.walk import MAX_NOTE_BYTES, IgnoreRules, Walk, Walker, ignore_rules, is_hidden, printable

SETTLE_SECONDS = 3.0
"""A writer waits until a note has been left alone by its editor for this long."""

READ_TRIES = 5
"""Attempts to open a note: one that is replaced while being opened may already be in `.memory/tmp`."""


@dataclass(frozen=True)
class DailySettings:
    """Where daily notes are: folder ("" for the root), moment.js format, and template note or ""."""

    folder: str = "memory"
    format: str = "YYYY-MM-DD"
    template: str = ""
    problem: str = ""
    """Why Obsidian's own settings could not be read, or ""."""


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

    def _read_settings(self, name: str) -> tuple[dict[str, object], str]:
        """The contents of one of Obsidian's settings files, and what is wrong with it, or ""."""
        try:
            loaded = json.loads(read_regular(self.root / self.settings_folder / name).decode("utf-8-sig"))
        except FileNotFoundError:
            return {}, ""
        except (OSError, ValueError, RecursionError) as error:
            return {}, f"{self.settings_folder}/{name} cannot be read ({getattr(error, 'strerror', None) or error})"
        return (loaded, "") if isinstance(loaded, dict) else ({}, self._strange(name))

    def _strange(self, name: str) -> str:
        return f"{self.settings_folder}/{name} is not as Obsidian writes it"

    @cached_property
    def daily(self) -> DailySettings:
        """Daily-note settings: our own, else Obsidian's, else memory/YYYY-MM-DD.md."""
        found, wrong = self._read_settings("daily-notes.json")
        default = DailySettings() if not found else DailySettings(folder="")
        text = {key: str(found.get(key) or "").strip("/") for key in ("folder", "format", "template")}
        template = text["template"].removesuffix(".md")
        return DailySettings(
            folder=(self.config.daily_folder or text["folder"] or default.folder).strip("/"),
            format=self.config.daily_format or text["format"] or default.format,
            template=template and f"{template}.md",
            problem=wrong and f"{wrong}: it is not known where daily notes lie",
        )

    @cached_property
    def layout(self) -> Layout:
        """The locations of this vault's generated pages, core and daily notes."""
        return Layout(self.config.bank_folder, self.config.core_file, self.daily.folder)

    @cached_property
    def filters(self) -> IgnoreRules:
        """The ignore rules: our settings, Obsidian's excluded files, and its templates."""
        found, wrong = self._read_settings("app.json")
        excluded = found.get("userIgnoreFilters")
        wrong = wrong if isinstance(excluded, list | None) else self._strange("app.json")
        unknown = wrong and f"{wrong}: it is not known which notes it leaves out"
        templates = str(self._read_settings("templates.json")[0].get("folder") or "").strip("/")
        more = [path for path in (templates and f"{templates}/", self.daily.template) if path]
        return ignore_rules(self.config.ignore, excluded, more, unknown)

    # --- walking -------------------------------------------------------------------------------------------------

    def walk(self) -> Walk:
        """List every folder and note without opening a file; raises RefusedError when the vault itself is gone."""
        found = Walker(self.root, self.filters.leave_out).walk()
        wrong = {
            "app.json": self.filters.problems,
            "daily-notes.json": filter(None, [self.daily.problem]),
            "templates.json": filter(None, [self._read_settings("templates.json")[1]]),
        }
        found.skipped[:0] = [
            Problem(f"{self.settings_folder}/{name}", 0, sentence, "warning")
            for name, sentences in wrong.items()
            for sentence in sentences
        ]
        return found

    def walk_paths(self, paths: Iterable[str]) -> Walk:
        """Walk only these relative paths, and all that is below those that are folders; raises like `walk`."""
        return Walker(self.root, self.filters.leave_out).walk_paths(paths)

    # --- reading -------------------------------------------------------------------------------------------------

    def parse(self, path: str, data: bytes) -> Note:
        """Parse the contents of a note of this vault; never raises on any bytes."""
        from vault_memory.markdown.parse import parse  # lazy: a recall over unchanged notes parses none

        return parse(path, data, self.layout)

    def read(self, path: str) -> bytes:
        """The bytes of one note, or the text that stands for an attachment (note.py): only canvases are opened.

        Raises OSError when it cannot be read, or is outside the vault at the time it is opened.
        """
        if is_note_path(path):
            return self._read_inside(path)
        if not is_canvas(path):
            os.lstat(self.root / path)
        return attachment_text(path, self._read_inside(path) if is_canvas(path) else b"")

    def _read_inside(self, path: str) -> bytes:
        """Read a file inside the vault, checked on the open descriptor: a link may replace a path after any check."""
        for _ in range(READ_TRIES):
            with open_regular(self.root / path) as handle:
                place = path_of(handle.fileno(), self.root / path)
                if place.startswith(self._opened_root) and not is_hidden(place[len(self._opened_root) :]):
                    return read_bounded(handle, MAX_NOTE_BYTES)
        raise PermissionError(errno.EACCES, "it leads out of the vault", path)

    @cached_property
    def _opened_root(self) -> str:
        """The vault's folder with a trailing slash, as the system reports paths of open files in it."""
        if sys.platform == "win32":
            return os.path.join(os.path.realpath(self.root), "")
        descriptor = os.open(self.root, os.O_RDONLY)
        try:
            return os.path.join(path_of(descriptor, self.root), "")
        finally:
            os.close(descriptor)

    def hash(self, path: str) -> bytes | None:
        """The hash of a note's current bytes; None when it cannot be read."""
        with contextlib.suppress(OSError):
            return content_hash(self.read(path))
        return None

    def locate(self, path: str, with_attachments: bool = False) -> str | None:
        """The vault-relative path of a note (or an attachment) named by a person, or None when there is none.

        Accepts `a/b.md`, `a/b`, or an absolute path inside the vault. Raises RefusedError for a path that leaves the
        vault (dots, absolute paths, links) or leads into a hidden folder.
        """
        named = Path(path)
        with contextlib.suppress(ValueError):
            named = named.relative_to(self.root if named.is_relative_to(self.root) else self.config.vault)
        candidates = [named, named.with_name(named.name + ".md")] if named.name else []
        for candidate in candidates[:1] if path.endswith("/") else candidates:  # `a/` is a folder, and never a.md
            full = Path(os.path.normpath(self.root / candidate))
            real = self._real(full)
            if real is None or self.root not in full.parents:
                raise RefusedError(
                    f"{printable(path)} leads out of the vault.", "Name a note by its path inside the vault."
                )
            if os.path.isfile(full) and (with_attachments or is_note_path(full.name)):
                relative = full.relative_to(self.root).as_posix()
                if is_hidden(relative) or is_hidden(real):
                    raise RefusedError(f"{printable(path)} is not a note.", "Hidden folders are not part of the vault.")
                return relative
        return None

    def _real(self, path: Path) -> str | None:
        """The vault-relative path with links resolved; None if it leads out of the vault."""
        with contextlib.suppress(OSError, ValueError):  # not a valid file name, or outside the vault
            return Path(os.path.realpath(path)).relative_to(self.root).as_posix()
        return None

    def is_left_out(self, path: str) -> bool:
        """Whether the user has excluded a located note, or the target it links to."""
        real = self._real(self.root / path)
        walker = Walker(self.root, self.filters.leave_out)
        return walker.is_left_out(path) or real is None or walker.is_left_out(real)

    # --- writing -------------------------------------------------------------------------------------------------

    def write(self, path: str, data: bytes, expected: bytes | None) -> None:
        """Atomically replace the note `path` with `data` if its bytes are still `expected` (None: it must not exist).

        Mode, owner and extended attributes are kept; a link that stays inside the vault is written through.
        Raises ConflictError when the note changed or appeared meanwhile, RefusedError for a path outside the vault,
        VaultError when the write fails.
        """
        target = self.target(path)
        self._check_unchanged(path, target, expected)  # first, so that no folder is created for a note that is gone
        if expected is not None and not os.access(target, os.W_OK):  # a rename would not check
            raise VaultError(f"{path} is read-only; nothing was changed.", "Make it writable first.")
        try:
            os.scandir(self.root).close()  # do not recreate a vault that is gone (law 7)
            target.parent.mkdir(parents=True, exist_ok=True)
            with self._temporary_file(path, data, expected) as part:
                safe_files.write_durably(part, data)
                if expected is not None:
                    safe_files.keep_attributes(target, part)
                self._check_unchanged(path, target, expected)
                if expected is None:
                    safe_files.place_new(part, target)
                elif not safe_files.replace(part, target, expected):
                    raise _changed(path)
        except (FileExistsError, FileNotFoundError) as error:  # it appeared, or vanished
            raise _changed(path) from error
        except OSError as error:
            raise VaultError(
                f"{path} cannot be written: {error.strerror or error}; nothing was changed.",
                "Check permissions and free space.",
            ) from error

    def _clear(self, path: str, part: Path, ours: tuple[bytes | None, ...]) -> None:
        """Delete a temporary file; another program's save in it goes to the history, else stays under another name."""
        from vault_memory.vault.undo_record import UndoRecord  # lazy: reading needs no history

        with contextlib.suppress(FileNotFoundError):
            try:
                saved = read_regular(part, MAX_NOTE_BYTES)
                if not any(each is not None and each.startswith(saved) for each in ours):
                    why = "saved by another program while this one wrote"
                    UndoRecord.begin(self.root, "save").keep(path, saved, ours[0] or b"", why)
            except FileNotFoundError:
                raise
            except (OSError, VaultMemoryError):
                part.rename(part.with_suffix(".saved"))
            else:
                part.unlink()

    def remove(self, path: str, expected: bytes) -> None:
        """Delete a note that this program made, if its bytes are still `expected`; raises like `write`."""
        target = self.target(path)
        try:
            with self._temporary_file(path, expected) as part:
                self._check_unchanged(path, target, expected)
                if not safe_files.remove(target, part, expected):
                    raise _changed(path)
        except OSError as error:
            raise VaultError(
                f"{path} cannot be deleted: {error.strerror or error}; it was not changed.", "Check its permissions."
            ) from error

    def missing_folders(self, path: str) -> list[str]:
        """The folders that must be created for a note, outermost first."""
        parents = [parent.as_posix() for parent in reversed(PurePosixPath(path).parents)][1:]
        return [parent for parent in parents if not os.path.lexists(self.root / parent)]

    def remove_folder(self, path: str) -> None:
        """Delete a folder that this program made, if it is empty and inside the vault."""
        with contextlib.suppress(OSError, RefusedError):
            if not (self.root / path).is_symlink():
                self.target(path).rmdir()

    def target(self, path: str) -> Path:
        """The real file of a note's path; raises RefusedError if it is outside the vault or in a hidden folder."""
        target = Path(os.path.realpath(self.root / path))
        if not all(self.root in place.parents for place in (target, Path(os.path.normpath(self.root / path)))):
            raise RefusedError(f"{path} leads out of the vault: nothing was written.", "Name a note inside the vault.")
        if is_hidden(target.relative_to(self.root).as_posix()):
            raise RefusedError(
                f"{path} is not a note: nothing was written.", "Hidden folders are not part of the vault."
            )
        return target

    @contextlib.contextmanager
    def _temporary_file(self, path: str, *ours: bytes | None) -> Iterator[Path]:
        """Yield a path for a temporary file under the writer lock; bytes other than `ours` are kept as a save."""
        folder = locations.place_to_write(self.root, "tmp")
        locations.make_folder(folder)
        part = folder / f"{os.urandom(8).hex()}.part"
        with safe_files.one_writer(folder) as is_alone:
            # Left by a killed writer; one may contain a save of the user's that it had swapped out.
            for left in folder.glob("*.part") if is_alone else ():
                self._clear(f"{locations.MEMORY_FOLDER}/tmp/{left.name}", left, (b"",))
            try:
                yield part
            finally:
                self._clear(path, part, ours)

    def _check_unchanged(self, path: str, target: Path, expected: bytes | None) -> None:
        try:
            current = read_regular(target, MAX_NOTE_BYTES)
        except (FileNotFoundError, NotADirectoryError):
            current = None
        except OSError as error:
            why = f"{path} cannot be read: {error.strerror or error}; nothing was changed."
            raise VaultError(why, "Check its permissions, and how long its name is.") from error
        if current != expected:
            raise _changed(path)

    def seconds_since_saved(self, path: str) -> float:
        """Seconds since a note was saved; infinite when it does not exist."""
        try:
            return time.time() - (self.root / path).stat().st_mtime
        except OSError:
            return float("inf")


def _changed(path: str) -> ConflictError:
    return ConflictError(
        f"{path} was changed by another program meanwhile; nothing was written.", "Run the command again."
    )


def path_of(descriptor: int, path: Path) -> str:
    """The current path of an open file or folder; `path` is the one it was opened by. Raises OSError."""
    if sys.platform == "linux":
        with contextlib.suppress(FileNotFoundError):  # /proc is not mounted
            return os.readlink(f"/proc/self/fd/{descriptor}")
    if sys.platform == "darwin":
        import fcntl

        return os.fsdecode(fcntl.fcntl(descriptor, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0"))
    real = os.path.realpath(path)
    if not os.path.samestat(os.lstat(real), os.fstat(descriptor)):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    return real


def content_hash(data: bytes) -> bytes:
    """The identity of a note's bytes: 16 bytes of BLAKE2b."""
    return hashlib.blake2b(data, digest_size=16).digest()


MAX_PATH_CHARS = 1000

_LEADS_OUT = re.compile(r"\A[/~]|\\|\A[A-Za-z]:|[\x00-\x1f\x7f]|(?:\A|/)[. ]*\.\.[. ]*(?:/|\Z)")
"""Matches a path that leaves its folder on any system; nothing here decodes `%2e`."""


def inside(path: str) -> str:
    """Normalise a note's path given by an agent: no `.` parts, no doubled slashes.

    Raises RefusedError for a path that leaves the vault, UsageError for one that is not a path.
    """
    if len(path) > MAX_PATH_CHARS or not path.strip():
        what = "too long" if path.strip() else "empty"
        raise UsageError(f"The path is {what}.", "Name a note by its path inside the vault, as answers cite it.")
    if any("\ud800" <= char <= "\udfff" for char in path):
        raise UsageError("The path is not text that UTF-8 can hold.", "Name it as an answer cites it.")
    if _LEADS_OUT.search(path):
        what = "A note is named by its path inside the vault, as answers cite it: memory/2025-11-27.md."
        raise RefusedError("This path leads out of the vault, or is no note's.", what)
    found = "/".join(part for part in path.split("/") if part not in ("", "."))
    return found if found.strip() else ""
