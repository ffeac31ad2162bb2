"""Installs what an agent needs in its files, and uninstalls it: all is looked at first, backed up and recorded.

An uninstall gives back the text that was there; where the file was changed since, it takes out our entries alone.
"""

import contextlib
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
"""The line by which a file that was written whole is known as ours, and as unchanged."""

SettingValues = Mapping[str, bool | str | list[str]]
"""What is to be set, by `table.key`."""


class InstallRecord(NamedTuple):
    """A file before an install: its text (None for no file), the hash of what the last install wrote ("" where the file
    was changed before that), and the folders that were made for it.

    Of the user's own settings also which installs (`claude-code user`) have added to them.
    """

    before: str | None
    written: str = ""
    folders: tuple[str, ...] = ()
    installs: tuple[str, ...] = ()


class FileChange(NamedTuple):
    """One file's bytes before and after, None for no file; `record` is to be kept with it, None to be dropped."""

    file: Path
    before: bytes | None
    after: bytes | None
    record: InstallRecord | None = None
    is_theirs: bool = False
    """Whether it would be ours as a whole, and a person changed it: then it is left as it is."""
    vaults: frozenset[str] = frozenset()
    """The vaults that it named before."""
    added: tuple[str, ...] = ()
    """What its owner had added to ours, and goes with it."""
    others: tuple[str, ...] = ()
    """What stands under our name and is another program's: it stays."""

    @property
    def action(self) -> str:
        if self.before == self.after:
            return "kept" if self.is_theirs else "unchanged"
        return "created" if self.before is None else "deleted" if self.after is None else "changed"


@dataclass(frozen=True)
class Installer:
    """Puts what a target names in place, and takes it away."""

    target: InstallTarget
    environ: Mapping[str, str]

    def install(self) -> list[FileChange]:
        """What an install would change.

        Raises RefusedError for a file that is not to be touched, ConflictError where another program has our name.
        """
        settings = [self._add_settings(settings) for settings in self.target.settings]
        return _check_files([*settings, *(self._add_script(script) for script in self.target.scripts)])

    def uninstall(self) -> list[FileChange]:
        """What an uninstall would change; raises like `install`."""
        # In reverse, for what was made first holds the folders of the rest.
        scripts = [self._drop_script(script) for script in reversed(self.target.scripts)]
        return _check_files([*scripts, *(self._drop_settings(settings) for settings in reversed(self.target.settings))])

    def apply(self, changes: Sequence[FileChange]) -> None:
        """Write the changes; raises ConflictError where a file is not as it was looked at."""
        for change in changes:
            if change.before != change.after:
                self._apply(change)

    def _apply(self, change: FileChange) -> None:
        file, before, after, record = change.file, change.before, change.after, change.record
        if before is not None:
            self._back_up(file, before)
        record_file, folders = self._record_file(file), self._record(file).folders
        if record:  # first: an entry without its record could not be taken out exactly
            missing = [str(place) for place in file.parents if before is None and not place.exists()]
            kept = record._replace(folders=(*record.folders, *missing))._asdict() | {"file": str(file)}
            _write_private(record_file, json.dumps(kept).encode("ascii"))
        replace_file(file, before, after)
        if not record:
            with plain_errors(file):
                record_file.unlink(missing_ok=True)
        if after is None:
            with contextlib.suppress(OSError):  # one is gone, or not empty
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

    def _add_script(self, script: Script) -> FileChange:
        file, before = _read(script.file, self.target.within)
        if before is not None and not is_unchanged(before):
            return FileChange(file, before, before, is_theirs=True)
        record = InstallRecord(None) if before is None else self._record(file)
        return FileChange(file, before, _fill_script(script).encode("utf-8"), record)

    def _drop_script(self, script: Script) -> FileChange:
        file, before = _read(script.file, self.target.within)
        is_theirs = before is not None and not is_unchanged(before)
        return FileChange(file, before, before if is_theirs else None, is_theirs=is_theirs)

    # --- the user's own settings ---------------------------------------------------------------------------------

    def add_settings(self, added: SettingValues, install: str) -> FileChange:
        """What adds keys (`sessions.tools`) to the user's own settings, for an install of this name."""
        change = add_user_settings(self.environ, added)
        others = self._record(change.file).installs
        record = self._next_record(change.file, change.before, change.after, is_first=not others)
        return change._replace(record=record._replace(installs=(*others, install)))

    def drop_settings(self, agent: str, install: str) -> list[FileChange]:
        """What takes an agent that such an install added out again, or gives an unchanged file back with the last."""
        file, before = _read(_user_settings(self.environ))
        record = self._record(file)
        if install not in record.installs:
            return []
        others = tuple(one for one in record.installs if one != install)
        if record.written == _hash(before) and not others:
            return _check_files([FileChange(file, before, _encoded(record.before))])
        after = _drop_item(_text(file, before), "sessions.tools", agent).encode("utf-8")
        kept = self._next_record(file, before, after, is_first=False)._replace(installs=others)
        return _check_files([FileChange(file, before, after, kept if others else None)])

    # --- backups and records -------------------------------------------------------------------------------------

    @property
    def backups(self) -> Path:
        """Where files lie as they were before a change."""
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
        """What is known of a file that an install changed: nothing but our entries where its record is damaged."""
        try:
            kept = json.loads(self._record_file(file).read_bytes())
            folders, installs = (tuple(kept.get(name, ())) for name in ("folders", "installs"))
            return InstallRecord(kept["before"], str(kept.get("written", "")), folders, installs)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return InstallRecord(_EMPTY)

    def _next_record(self, file: Path, before: bytes | None, after: bytes | None, is_first: bool) -> InstallRecord:
        """What is to be known of a file after this change; `is_first` where nothing of ours is in it yet."""
        # What was recorded of it then was never written, or was taken out since.
        first = InstallRecord(None if before is None else _text(file, before), _hash(before))
        record = first if is_first else self._record(file)
        return record._replace(written=_hash(after) if record.written == _hash(before) else "")


# --- the user's own settings: of the texts that may be meant the first that reads as it should ------------------------


def _user_settings(environ: Mapping[str, str]) -> Path:
    return Path(startup.user_folder("config", environ), "config.toml")


def add_user_settings(environ: Mapping[str, str], added: SettingValues) -> FileChange:
    """What adds keys (`sessions.tools`) to the user's own settings; raises RefusedError where it cannot be done."""
    file, before = _read(_user_settings(environ))
    text = _text(file, before)
    for name, value in added.items():
        text = add_setting(text, name, value)
    (change,) = _check_files([FileChange(file, before, text.encode("utf-8") if added else before)])
    return change


def add_setting(text: str, name: str, value: bool | str | list[str]) -> str:
    """A TOML text with `table.key` set, or with the items that its list lacks; another value there stays.

    Raises RefusedError where the file's form leaves no place for it.
    """
    table, _, key = name.partition(".")
    tree = tomllib.loads(text)
    keys = tree.get(table, {})
    there = keys.get(key) if isinstance(keys, dict) else None
    line, wanted = f"{key} = {_written(value)}\n", value if there is None else there
    place, added = rf"^[ \t]*\[[ \t]*{table}[ \t]*\][^\n]*\n", line
    if isinstance(value, list) and isinstance(there, list):
        items = [item for item in value if item not in there]
        wanted = [*items, *there]
        place, added = rf"^[ \t]*{key}[ \t]*=[ \t]*\[", _written(items)[1:-1] + (", " if there else "")
    if wanted == there:
        return text
    candidates = [f"{text[: each.end()]}{added}{text[each.end() :]}" for each in re.finditer(place, text, re.MULTILINE)]
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    candidates.append(f"{text}{gap}[{table}]\n{line}")
    found = _first_that_reads(candidates, tree, table, key, wanted) if isinstance(keys, dict) else None
    if found is None:
        line = f"{key} = {_written(wanted)}"
        raise RefusedError(f"`{name}` cannot be added to your settings.", f"Write `{line}` into [{table}] yourself.")
    return found


def _drop_item(text: str, name: str, item: str) -> str:
    """A TOML text without an item of a list; unchanged where that is not written as `add_setting` writes it."""
    table, _, key = name.partition(".")
    tree: dict[str, Any] = {}
    with contextlib.suppress(tomllib.TOMLDecodeError):
        tree = tomllib.loads(text)
    keys = tree.get(table)
    there = keys.get(key) if isinstance(keys, dict) else None
    if not isinstance(there, list) or item not in there:
        return text
    candidates = [f"{text[: each.start()]}{text[each.end() :]}" for each in re.finditer(rf'"{item}"(?:, )?', text)]
    return _first_that_reads(candidates, tree, table, key, [each for each in there if each != item]) or text


def _first_that_reads(
    candidates: Sequence[str], tree: dict[str, Any], table: str, key: str, value: object
) -> str | None:
    """The first text that holds what a TOML tree does, but for this value of `table.key`."""
    wanted = tree | {table: tree.get(table, {}) | {key: value}}
    for candidate in candidates:
        with contextlib.suppress(tomllib.TOMLDecodeError):
            if tomllib.loads(candidate) == wanted:
                return candidate
    return None


def _written(value: Any) -> str:  # noqa: ANN401
    """A text, a flag or a list of texts as TOML, which writes them as JSON does."""
    return json.dumps(value, ensure_ascii=False)


# --- what is installed -----------------------------------------------------------------------------------------------


def find_commands(target: InstallTarget) -> list[Sequence[str]]:
    """The command lines of ours in an agent's files; a file that cannot be read has none."""
    found: list[Sequence[str]] = []
    for settings in target.settings:
        with contextlib.suppress(NotEditableError):
            document = _parse(_read_text(settings.file, target.within))
            found += [spot.words for spot in settings_edit.find(document, settings.entries)]
    return found


def _check_files(changes: list[FileChange]) -> list[FileChange]:
    """The changes; raises RefusedError for a file that is read-only, or would be parted from its hard links."""
    for file in (change.file for change in changes if change.before not in (None, change.after)):
        with plain_errors(file):
            status = file.stat()
        if not status.st_mode & 0o222 or not os.access(file, os.W_OK):
            raise RefusedError(
                f"{file} is read-only: it was not touched.",
                "Make it writable, and run again; if another program writes it, change it there.",
            )
        if status.st_nlink > 1:
            raise RefusedError(
                f"{file} is one of {status.st_nlink} hard links to one file and would be separated from the others.",
                "Make it a copy (cp, then mv over it) or a symbolic link, which is followed, and run again.",
            )
    return changes


def _parse(text: str) -> Document:
    return Document(text if text.strip() else _EMPTY)


def _named_vaults(spots: Iterable[Spot]) -> frozenset[str]:
    return frozenset(vault for spot in spots if (vault := settings_edit.find_vault(spot.words)))


def fill_template(name: str, values: Mapping[str, str]) -> str:
    """A template with its places filled in; what is filled in is not looked at again."""
    return re.sub(r"\{\{(\w+)\}\}", lambda place: values[place[1]], template(name).read_text("utf-8"))


def seal(text: str, by: str) -> str:
    """What a comment in a file of ours says: what it holds besides, hashed, and which command made it."""
    return f"vault-memory sha={_short_hash(text)}, made by `{by}`"


def is_sealed(text: str) -> bool:
    """Whether a file is as it was written."""
    found = SEAL.search(text)
    return found is not None and found[1] == _short_hash(text[: found.start()] + text[found.end() :])


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]


def _fill_script(script: Script) -> str:
    text = fill_template(script.template, script.values)
    line = f"{seal(text, 'memory install')}: changed by hand, it is left alone."
    # Markdown begins with its frontmatter, so there it stands at the end.
    return f"{text}<!-- {line} -->\n" if script.template.endswith(".md") else f"// {line}\n{text}"


def is_unchanged(data: bytes) -> bool:
    """Whether a file of ours is as it was written; what git makes of line ends is no change."""
    return is_sealed(data.decode("utf-8", "replace").replace("\r\n", "\n"))


def _hash(data: bytes | None) -> str:
    return hashlib.sha256(data or b"").hexdigest()


# --- Claude Code's own notes of a project: its folder in the vault, and copies of what it wrote before ---------------

LARGEST_NOTE_BYTES = 1 << 20
"""Claude Code reads 25 kB of an index and a topic at a time."""


def notes_folder(place: InstallPlace, config: Config) -> Path:
    """Where the notes of a place's project go; raises UsageError where it is none, RefusedError for a link."""
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
    """Where Claude Code keeps the notes of a place's project unless a setting says otherwise."""
    root = os.path.realpath(projects.git_root(place.project) or place.project)
    return place.claude_folder / "projects" / re.sub(r"[^A-Za-z0-9]", "-", root) / "memory"


def copies(source: Path, target: Path) -> list[FileChange]:
    """What copies the notes below a folder to another, and overwrites none that is there; links are not followed."""
    found = []
    for file in sorted(source.rglob("*.md")):
        copy = target / file.relative_to(source)
        if file.is_file() and not file.is_symlink() and not os.path.lexists(copy):
            found.append(FileChange(copy, None, startup.read_regular(file, LARGEST_NOTE_BYTES)))
    return found


# --- one file, through links and whole -------------------------------------------------------------------------------


def _read(named: Path, within: Path | None = None) -> tuple[Path, bytes | None]:
    """The file that a name leads to, through links, and what it holds; None where there is none.

    Raises RefusedError for what is no plain file, and for one that does not lie `within` the real path of that folder.
    """
    file = Path(os.path.realpath(named))
    if within and not file.is_relative_to(os.path.realpath(within)):
        # Whoever wrote the repository would choose which file of this computer is changed.
        what = f"{named} leads out of the project by a link, to {file}: it was not followed."
        raise RefusedError(what, "Delete the link and run again, or install with --scope user.")
    with plain_errors(file):
        try:
            mode = file.stat().st_mode
        except FileNotFoundError:
            return file, None
        if not stat.S_ISREG(mode):  # a pipe would be waited for, and a device may never end
            raise RefusedError(f"{file} is not a regular file: it was not touched.", "Move it away, and run again.")
        return file, file.read_bytes()


def _text(file: Path, data: bytes | None) -> str:
    """What a file holds as text, "" for no file; raises RefusedError where that is not UTF-8."""
    try:
        return (data or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise RefusedError(f"{file} is not UTF-8: it was not touched.", "Save it as UTF-8, and run again.") from error


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8")


def _read_text(named: Path, within: Path | None) -> str:
    """What a file holds as text, "" where it cannot be read."""
    with contextlib.suppress(VaultMemoryError):
        return _text(*_read(named, within))
    return ""


def replace_file(file: Path, before: bytes | None, after: bytes | None) -> None:
    """Put a file as it is to be, None for no file; raises ConflictError where it is not as it was."""
    with plain_errors(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f".{file.name}.vault-memory.part")
        with safe_files.one_writer(file.parent):
            part.unlink(missing_ok=True)  # of a write that was killed
            try:
                is_done = _replace(file, part, before, after)
            finally:
                part.unlink(missing_ok=True)
    if not is_done:
        what = f"{file} was changed meanwhile: it was not touched."
        raise ConflictError(what, "Run this again; close the program that writes it if need be.")


def _replace(file: Path, part: Path, before: bytes | None, after: bytes | None) -> bool:
    """Put a file as it is to be, by way of a temporary one; returns whether it was as it is said to have been."""
    if after is not None:
        safe_files.write_durably(part, after)
    if (file.read_bytes() if file.exists() else None) != before:
        return False
    if before is None:
        safe_files.place_new(part, file)
        return True
    if after is None:
        return safe_files.remove(file, part, before)
    safe_files.keep_attributes(file, part)
    return safe_files.replace(part, file, before)


def _write_private(file: Path, data: bytes) -> None:
    with plain_errors(file):
        safe_files.make_private(file.parent)
        safe_files.replace_durably(file, data)


@contextlib.contextmanager
def plain_errors(file: Path) -> Iterator[None]:
    """Raise what is wrong with a file as a sentence for a person."""
    try:
        yield
    except NotEditableError as error:
        what = f"{file} cannot be edited: {error}. It was not touched."
        raise RefusedError(what, "Correct that, and run again.") from error
    except OSError as error:
        what = f"{error.filename or file} cannot be read or written: {error.strerror or error}."
        raise VaultMemoryError(what, "Check its permissions and free space.") from error
