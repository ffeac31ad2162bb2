"""Installs our entries and scripts in an agent's files and uninstalls them, with checks, backups and records.

An uninstall restores the original text; if the file was changed since, it removes only our entries.
"""

import contextlib
import functools
import hashlib
import json
import os
import re
import stat
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from vault_memory import startup
from vault_memory.config import Config, template
from vault_memory.errors import ConflictError, RefusedError, UsageError, VaultMemoryError
from vault_memory.integrations import settings_edit
from vault_memory.integrations.settings_edit import Document, NotEditableError, Spot
from vault_memory.integrations.settings_paths import InstallPlace, InstallTarget, Script, SettingsFile
from vault_memory.sessions import projects
from vault_memory.text.scope_syntax import AGENT_NOTES
from vault_memory.vault import safe_files

MAX_BACKUPS = 50

_EMPTY = "{}\n"

SEAL = re.compile(r"^(?://|#|<!--) vault-memory sha=([0-9a-f]{12})\b.*\n", re.MULTILINE)
"""The line that marks a file as entirely ours, with a hash that shows whether it was changed."""

SettingValues = Mapping[str, bool | str | list[str]]
"""Values to set, by `table.key`."""


class InstallRecord(NamedTuple):
    """A file before an install: its text (None for no file), the hash of what the last install wrote ("" if the file
    had been changed before that), and the folders that were created for it.

    For the user's own settings, also the installs (`claude-code user`) that have added to them.
    """

    before: str | None
    written: str = ""
    folders: tuple[str, ...] = ()
    installs: tuple[str, ...] = ()


class FileChange(NamedTuple):
    """One file's bytes before and after, None for no file; `record` is the record to keep, None to delete it."""

    file: Path
    before: bytes | None
    after: bytes | None
    record: InstallRecord | None = None
    is_theirs: bool = False
    """Whether it is a file of our name that is not as we wrote it, and is therefore left alone."""
    vaults: frozenset[str] = frozenset()
    """The vaults that our entries named before."""
    added: tuple[str, ...] = ()
    """Members that the owner added to our entries, and that are removed with them."""
    others: tuple[str, ...] = ()
    """Entries under our name that belong to another program and stay."""

    @property
    def action(self) -> str:
        if self.before == self.after:
            return "kept" if self.is_theirs else "unchanged"
        return "created" if self.before is None else "deleted" if self.after is None else "changed"


@dataclass(frozen=True)
class Installer:
    """Installs and uninstalls what a target lists."""

    target: InstallTarget
    environ: Mapping[str, str]

    def install(self) -> list[FileChange]:
        """Return what an install would change.

        Raises RefusedError for a file that must not be touched, ConflictError if another program uses our name.
        """
        settings = [self._add_settings(settings) for settings in self.target.settings]
        scripts = [self._change_script(script, _fill_script(script)) for script in self.target.scripts]
        return _check_files([*settings, *scripts])

    def uninstall(self) -> list[FileChange]:
        """Return what an uninstall would change; raises RefusedError like `install`."""
        # In reverse, because the record of the first file lists the folders that the others share.
        scripts = [self._change_script(script, None) for script in reversed(self.target.scripts)]
        return _check_files([*scripts, *(self._drop_settings(settings) for settings in reversed(self.target.settings))])

    def apply(self, changes: Sequence[FileChange]) -> None:
        """Write the changes; raises ConflictError if a file has changed since it was read."""
        for file, before, after, record, *_ in changes:
            if before == after:
                continue
            if before is not None:
                self._back_up(file, before)
            record_file, folders = self._record_file(file), self._record(file).folders
            if record:  # written first: without its record an entry could not be removed exactly
                missing = [str(place) for place in file.parents if before is None and not place.exists()]
                kept = record._replace(folders=(*record.folders, *missing))._asdict() | {"file": str(file)}
                _write_private(record_file, json.dumps(kept).encode("ascii"))
            replace_file(file, before, after)
            if not record:
                with plain_errors(file):
                    record_file.unlink(missing_ok=True)
            if after is None:
                with contextlib.suppress(OSError):  # a folder is gone, or not empty
                    for folder in folders:
                        os.rmdir(folder)

    # --- settings ------------------------------------------------------------------------------------------------

    def _add_settings(self, settings: SettingsFile) -> FileChange:
        file, before = _read(settings.file, self.target.within)
        text = _text(file, before)
        with plain_errors(file):
            document = _parse(text)
            for label in settings_edit.find_foreign(document, settings.entries):
                what = f"`{label}` in {file} belongs to another program: nothing was changed."
                raise ConflictError(what, "Rename or remove that entry, and run again.")
            spots = settings_edit.find(document, settings.entries)
            after = settings_edit.put(document.text, settings.entries).encode("utf-8")
        record = self._next_record(file, before, after, is_first=not spots)
        return FileChange(file, before, after, record, vaults=_named_vaults(spots))

    def _drop_settings(self, settings: SettingsFile) -> FileChange:
        file, before = _read(settings.file, self.target.within)
        text, record = _text(file, before), self._record(file)
        was_blank = not (record.before or "").strip()
        with plain_errors(file):
            document = _parse(text)
            spots = settings_edit.find(document, settings.entries)
            others = tuple(settings_edit.find_foreign(document, settings.entries))
            if not spots:
                return FileChange(file, before, before, others=others)
            rest: str | None = settings_edit.take(text, settings.entries, _EMPTY if was_blank else record.before or "")
        if record.written == _hash(before) or (was_blank and str(rest).strip() == "{}"):
            rest = record.before
        added = tuple(name for spot in spots for name in spot.added)
        return FileChange(file, before, _encoded(rest), vaults=_named_vaults(spots), added=added, others=others)

    # --- scripts -------------------------------------------------------------------------------------------------

    def _change_script(self, script: Script, after: bytes | None) -> FileChange:
        file, before = _read(script.file, self.target.within)
        if before is not None and not is_unchanged(before):
            return FileChange(file, before, before, is_theirs=True)
        record = InstallRecord(None) if before is None else self._record(file)
        return FileChange(file, before, after, None if after is None else record)

    # --- the user's own settings ---------------------------------------------------------------------------------

    def add_settings(self, added: SettingValues, install: str) -> FileChange:
        """Return the change that adds keys (`sessions.tools`) to the user's settings, for an install of this name."""
        change = add_user_settings(self.environ, added)
        others = self._record(change.file).installs
        record = self._next_record(change.file, change.before, change.after, is_first=not others)
        return change._replace(record=record._replace(installs=(*others, install)))

    def drop_settings(self, agent: str, install: str) -> list[FileChange]:
        """Return the change that removes an agent this install added; the last removal restores an unchanged file."""
        file, before = _read(_user_settings(self.environ))
        record = self._record(file)
        if install not in record.installs:
            return []
        others = tuple(one for one in record.installs if one != install)
        if record.written == _hash(before) and not others:
            return _check_files([FileChange(file, before, _encoded(record.before))])
        after = _drop_agent(_text(file, before), agent).encode("utf-8")
        kept = self._next_record(file, before, after, is_first=False)._replace(installs=others) if others else None
        return _check_files([FileChange(file, before, after, kept)])

    # --- backups and records -------------------------------------------------------------------------------------

    @property
    def backups(self) -> Path:
        """The folder with copies of files from before each change."""
        return Path(startup.user_folder("data", self.environ)) / "backups"

    def _back_up(self, file: Path, data: bytes) -> None:
        _write_private(self.backups / f"{datetime.now():%Y%m%dT%H%M%S%f}-{file.name}", data)
        with plain_errors(self.backups):
            for old in sorted(self.backups.iterdir())[:-MAX_BACKUPS]:
                old.unlink(missing_ok=True)

    def _record_file(self, file: Path) -> Path:
        name = hashlib.sha256(os.fsencode(file)).hexdigest()[:24]
        return Path(startup.user_folder("data", self.environ)) / "installed" / f"{name}.json"

    def _record(self, file: Path) -> InstallRecord:
        """Return the record of a file that an install changed; if missing or damaged, that of a file with `{}`."""
        try:
            kept = json.loads(self._record_file(file).read_bytes())
            folders, installs = tuple(kept.get("folders", ())), tuple(kept.get("installs", ()))
            return InstallRecord(kept["before"], str(kept.get("written", "")), folders, installs)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return InstallRecord(_EMPTY)

    def _next_record(self, file: Path, before: bytes | None, after: bytes | None, is_first: bool) -> InstallRecord:
        """Return the record of a file after this change; `is_first` if nothing of ours is in it yet."""
        # With `is_first`, an existing record is of an install that was never written or was removed since.
        first = InstallRecord(None if before is None else _text(file, before), _hash(before))
        record = first if is_first else self._record(file)
        return record._replace(written=_hash(after) if record.written == _hash(before) else "")


# --- the user's own settings: the first candidate text that parses to the wanted values -------------------------------

_as_toml = functools.partial(json.dumps, ensure_ascii=False)
"""Formats a string, a boolean or a list of strings as TOML, which for these is the same as JSON."""


def _user_settings(environ: Mapping[str, str]) -> Path:
    return Path(startup.user_folder("config", environ), "config.toml")


def add_user_settings(environ: Mapping[str, str], added: SettingValues) -> FileChange:
    """Return the change that adds keys (`sessions.tools`) to the user's own settings; raises RefusedError."""
    file, before = _read(_user_settings(environ))
    text = _text(file, before)
    for name, value in added.items():
        text = add_setting(text, name, value)
    (change,) = _check_files([FileChange(file, before, text.encode("utf-8") if added else before)])
    return change


def add_setting(text: str, name: str, value: bool | str | list[str]) -> str:
    """Return a TOML text with `table.key` set, or with missing items added to its list; any other existing value stays.

    Raises RefusedError if the text's layout does not allow the edit.
    """
    table, _, key = name.partition(".")
    tree = tomllib.loads(text)
    keys = tree.get(table, {})
    there = keys.get(key) if isinstance(keys, dict) else None
    line, wanted = f"{key} = {_as_toml(value)}\n", value if there is None else there
    place, added = rf"^[ \t]*\[[ \t]*{table}[ \t]*\][^\n]*\n", line
    if isinstance(value, list) and isinstance(there, list):
        items = [item for item in value if item not in there]
        wanted = [*items, *there]
        place, added = rf"^[ \t]*{key}[ \t]*=[ \t]*\[", _as_toml(items)[1:-1] + (", " if there else "")
    if wanted == there:
        return text
    candidates = [f"{text[: each.end()]}{added}{text[each.end() :]}" for each in re.finditer(place, text, re.MULTILINE)]
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    candidates.append(f"{text}{gap}[{table}]\n{line}")
    found = _first_that_reads(candidates, tree, table, key, wanted) if isinstance(keys, dict) else None
    if found is None:
        line = f"{key} = {_as_toml(wanted)}"
        raise RefusedError(f"`{name}` cannot be added to your settings.", f"Write `{line}` into [{table}] yourself.")
    return found


def _drop_agent(text: str, agent: str) -> str:
    """Return the settings without an agent in `sessions.tools`; unchanged if it is not there as `add_setting` does."""
    try:
        tree = tomllib.loads(text)
        tools = tree["sessions"]["tools"]
        left = [each for each in tools if each != agent]
    except (tomllib.TOMLDecodeError, KeyError, TypeError):
        return text
    if left == tools:
        return text
    candidates = [f"{text[: each.start()]}{text[each.end() :]}" for each in re.finditer(rf'"{agent}"(?:, )?', text)]
    return _first_that_reads(candidates, tree, "sessions", "tools", left) or text


def _first_that_reads(
    candidates: Sequence[str], tree: dict[str, Any], table: str, key: str, value: object
) -> str | None:
    """Return the first candidate that parses to the TOML tree with this value of `table.key`."""
    wanted = tree | {table: tree.get(table, {}) | {key: value}}
    for candidate in candidates:
        with contextlib.suppress(tomllib.TOMLDecodeError):
            if tomllib.loads(candidate) == wanted:
                return candidate
    return None


# --- installed entries and scripts -----------------------------------------------------------------------------------


def find_commands(target: InstallTarget) -> list[Sequence[str]]:
    """Return our command lines in an agent's files; a file that cannot be read has none."""
    found: list[Sequence[str]] = []
    for settings in target.settings:
        with contextlib.suppress(NotEditableError, VaultMemoryError):
            document = _parse(_text(*_read(settings.file, target.within)))
            found += [spot.words for spot in settings_edit.find(document, settings.entries)]
    return found


def _check_files(changes: list[FileChange]) -> list[FileChange]:
    """Return the changes; raises RefusedError for a file that is read-only or has several hard links."""
    for file in (change.file for change in changes if change.before not in (None, change.after)):
        with plain_errors(file):
            status = file.stat()
        if not status.st_mode & 0o222 or not os.access(file, os.W_OK):
            step = "Make it writable, and run again; if another program writes it, change it there."
            raise RefusedError(f"{file} is read-only: it was not touched.", step)
        if status.st_nlink > 1:
            what = f"{file} is one of {status.st_nlink} hard links to one file and would be separated from the others."
            step = "Make it a copy (cp, then mv over it) or a symbolic link, which is followed, and run again."
            raise RefusedError(what, step)
    return changes


def _parse(text: str) -> Document:
    return Document(text if text.strip() else _EMPTY)


def _named_vaults(spots: Iterable[Spot]) -> frozenset[str]:
    return frozenset(vault for spot in spots if (vault := settings_edit.find_vault(spot.words)))


def fill_template(name: str, values: Mapping[str, str]) -> str:
    """Return a template with its placeholders replaced; placeholders in the values are not expanded."""
    return re.sub(r"\{\{(\w+)\}\}", lambda place: values[place[1]], template(name).read_text("utf-8"))


def seal(text: str, by: str) -> str:
    """Return the comment that marks a file as ours: the hash of the text, and the command that made it."""
    return f"vault-memory sha={_short_hash(text)}, made by `{by}`"


def is_sealed(text: str) -> bool:
    """Whether a file is as we wrote it."""
    found = SEAL.search(text)
    return found is not None and found[1] == _short_hash(text[: found.start()] + text[found.end() :])


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]


def _fill_script(script: Script) -> bytes:
    text = fill_template(script.template, script.values)
    line = f"{seal(text, 'memory install')}: changed by hand, it is left alone."
    # A Markdown file must begin with its frontmatter, so its seal goes at the end.
    is_markdown = script.template.endswith(".md")
    return (f"{text}<!-- {line} -->\n" if is_markdown else f"// {line}\n{text}").encode("utf-8")


def is_unchanged(data: bytes) -> bool:
    """Whether a file is as we wrote it; line endings converted by git do not count as a change."""
    return is_sealed(data.decode("utf-8", "replace").replace("\r\n", "\n"))


def _hash(data: bytes | None) -> str:
    return hashlib.sha256(data or b"").hexdigest()


# --- Claude Code's own notes on a project: their folder in the vault, and copies of earlier ones ---------------------

LARGEST_NOTE_BYTES = 1 << 20
"""The largest note that is copied; Claude Code reads 25 kB of an index and a topic at a time."""


def notes_folder(place: InstallPlace, config: Config) -> Path:
    """Return a project's notes folder in the vault; raises UsageError for no project, RefusedError for a link out."""
    if place.is_user:
        raise UsageError("--auto-memory is for one project.", "Add --scope project, in the project's folder.")
    name = projects.find_project(place.project, config, place.environ).removeprefix("project:")
    if not name or projects.identifier(name) != name:
        what = f"{place.project} is not a project whose name a folder can have."
        raise UsageError(what, "Run this in a git repository, or name the folder in `[projects]` of your settings.")
    folder = config.vault / AGENT_NOTES / name
    if not Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(config.vault)):
        raise RefusedError(f"{folder} leads out of the vault by a link.", "Delete the link, and run again.")
    return folder


def usual_folder(place: InstallPlace) -> Path:
    """Return where Claude Code keeps the notes of a place's project by default."""
    root = os.path.realpath(projects.git_root(place.project) or place.project)
    return place.claude_folder / "projects" / re.sub(r"[^A-Za-z0-9]", "-", root) / "memory"


def copies(source: Path, target: Path) -> list[FileChange]:
    """Return the changes that copy the notes below a folder to another, without overwriting or following links."""
    found = []
    for file in sorted(source.rglob("*.md")):
        copy = target / file.relative_to(source)
        is_note = file.is_file() and not file.is_symlink() and file.stat().st_size <= LARGEST_NOTE_BYTES
        if is_note and not os.path.lexists(copy):
            found.append(FileChange(copy, None, startup.read_regular(file, LARGEST_NOTE_BYTES)))
    return found


# --- reading and replacing single files ------------------------------------------------------------------------------


def _read(named: Path, within: Path | None = None) -> tuple[Path, bytes | None]:
    """Follow links and return the real file and its bytes, None if it does not exist.

    Raises RefusedError if it is not a regular file, or lies outside the real path of the folder `within`.
    """
    file = Path(os.path.realpath(named))
    if within and not file.is_relative_to(os.path.realpath(within)):
        # Otherwise the author of a repository could choose which file on this computer is changed.
        what = f"{named} leads out of the project by a link, to {file}: it was not followed."
        raise RefusedError(what, "Delete the link and run again, or install with --scope user.")
    with plain_errors(file):
        try:
            mode = file.stat().st_mode
        except FileNotFoundError:
            return file, None
        if not stat.S_ISREG(mode):  # reading a pipe would block, and a device may never end
            raise RefusedError(f"{file} is not a regular file: it was not touched.", "Move it away, and run again.")
        return file, file.read_bytes()


def _text(file: Path, data: bytes | None) -> str:
    """Decode the bytes of a file, "" for no file; raises RefusedError if they are not UTF-8."""
    try:
        return (data or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise RefusedError(f"{file} is not UTF-8: it was not touched.", "Save it as UTF-8, and run again.") from error


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8")


def replace_file(file: Path, before: bytes | None, after: bytes | None) -> None:
    """Replace the bytes of a file (None for no file); raises ConflictError if they are not `before` any more."""
    part = file.with_name(f".{file.name}.vault-memory.part")
    what = f"{file} was changed meanwhile: it was not touched."
    conflict = ConflictError(what, "Run this again; close the program that writes it if need be.")
    with plain_errors(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        with safe_files.one_writer(file.parent):  # others use the same part file
            try:
                part.unlink(missing_ok=True)  # left by a write that was killed
                if after is not None:
                    safe_files.write_durably(part, after)
                if (file.read_bytes() if file.exists() else None) != before:
                    raise conflict
                is_done = True
                if after is None:
                    is_done = before is None or safe_files.remove(file, part, before)
                elif before is not None:
                    safe_files.keep_attributes(file, part)
                    is_done = safe_files.replace(part, file, before)
                else:
                    safe_files.place_new(part, file)
                if not is_done:
                    raise conflict
            except FileExistsError:
                raise conflict from None
            finally:
                part.unlink(missing_ok=True)


def _write_private(file: Path, data: bytes) -> None:
    with plain_errors(file):
        safe_files.make_private(file.parent)
        safe_files.replace_durably(file, data)


@contextlib.contextmanager
def plain_errors(file: Path) -> Iterator[None]:
    """Turn low-level errors about a file into messages for the user."""
    try:
        yield
    except NotEditableError as error:
        what = f"{file} cannot be edited: {error}. It was not touched."
        raise RefusedError(what, "Correct that, and run again.") from error
    except OSError as error:
        what = f"{error.filename or file} cannot be read or written: {error.strerror or error}."
        raise VaultMemoryError(what, "Check its permissions and free space.") from error
