"""Owns what an install makes of agents' files, and an uninstall makes of them again: backed up, and recorded.

Everything is looked at before anything is written. What was made besides our entries is kept in a record in the
user's data folder, so that an uninstall gives back the bytes there were.
"""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from vault_memory import startup
from vault_memory.config import template
from vault_memory.errors import ConflictError, RefusedError, VaultMemoryError
from vault_memory.integrations import agentfiles, entries, jsontext
from vault_memory.integrations.entries import Entry, Made, MisshapenError, TakenError
from vault_memory.integrations.jsontext import NotJsonError
from vault_memory.integrations.settings_files import Script, Settings, Target
from vault_memory.vault import atomic_write

KEPT_BACKUPS = 50

_PLAIN = f"{jsontext.PLAIN} and run again"

_SEAL = re.compile(r"^(?://|<!--) vault-memory sha=([0-9a-f]{12})\b.*\n", re.MULTILINE)


class Record(NamedTuple):
    """What an install did to a file beyond our entries.

    `before` is the blank text that was there, None for no file; `folders` were made for it.
    """

    made: Made = Made(is_known=False)
    is_new: bool = False
    before: str | None = None
    folders: tuple[str, ...] = ()


class Change(NamedTuple):
    """One file's bytes before and after, None for no file; `record` is to be kept with it, None to be dropped."""

    file: Path
    before: bytes | None
    after: bytes | None
    record: Record | None = None
    is_theirs: bool = False
    """Whether it would be ours as a whole, and a person changed it: then it is left as it is."""
    vaults: frozenset[str] = frozenset()
    """The vaults that it named before."""
    added: tuple[str, ...] = ()
    """What its owner had added to ours, and goes with it."""
    others: tuple[str, ...] = ()
    """What stands under our name and is another program's: it stays."""
    left: tuple[str, ...] = ()
    """What of ours an uninstall had to leave in it."""
    unread: NotJsonError | None = None
    """What its program does not read in it, as a comment: then none of it is rewritten, but what it says counts."""
    refused: RefusedError | None = None
    """Why it is left to its owner, while all else is done."""

    @property
    def action(self) -> str:
        if self.refused:
            return "refused"
        if self.before == self.after:
            return "kept" if self.is_theirs else "unchanged"
        return "created" if self.before is None else "deleted" if self.after is None else "changed"


@dataclass(frozen=True)
class Installer:
    """Puts what a target names in place, and takes it away."""

    target: Target
    environ: Mapping[str, str]

    def install(self) -> list[Change]:
        """What an install would change.

        Raises RefusedError for a file that is not to be touched, ConflictError where another program has our name.
        """
        changes = [
            *(self._with_settings(settings) for settings in self.target.settings),
            *(self._with_script(script) for script in self.target.scripts),
        ]
        return _not_all_refused([_allowed(change) for change in changes])

    def uninstall(self) -> list[Change]:
        """What an uninstall would change; raises like `install`."""
        changes = [
            *(self._without_script(script) for script in self.target.scripts),  # in the folder that settings made
            *(self._without_settings(settings) for settings in self.target.settings),
        ]
        return _not_all_refused([_allowed(change) for change in changes])

    def vaults(self) -> tuple[Path, frozenset[str]]:
        """The settings that come with hooks or a plugin, and the vaults they name; none where they cannot be read."""
        settings = self.target.settings[0]
        with contextlib.suppress(VaultMemoryError, NotJsonError):
            text = agentfiles.text(*self._read(settings.file))
            return settings.file, entries.vaults(text or "{}", settings.entries, comments=True)
        return settings.file, frozenset()

    def apply(self, changes: Sequence[Change]) -> None:
        """Write the changes; raises ConflictError where a file is not as it was looked at."""
        for change in changes:
            if change.before == change.after:
                continue
            self._back_up(change)
            made = agentfiles.missing_folders(change.file.parent)
            if change.record and change.before is None:
                change = change._replace(record=change.record._replace(folders=(*change.record.folders, *made)))
            known = self._record(change.file)
            with self._kept(change):
                agentfiles.write(change.file, change.before, change.after)
            if change.after is None:
                agentfiles.remove_folders(known.folders)

    def _read(self, named: Path) -> tuple[Path, bytes | None]:
        return agentfiles.read(named, self.target.within)

    # --- settings ------------------------------------------------------------------------------------------------

    def _with_settings(self, settings: Settings) -> Change:
        file, before = self._read(settings.file)
        text = agentfiles.text(file, before)
        record = self._record(file)
        try:
            unread = jsontext.unread(text or "{}", settings.comments)
            comments = settings.comments or unread is not None
            if text is None or not text.strip():
                record, text = Record(Made(), True, text), "{}\n"
            elif not entries.is_in(text, settings.entries, comments):
                record = Record()  # what is kept of this file was never written to it, or was taken out
            vaults = entries.vaults(text, settings.entries, comments)
            after, made = entries.put(text, settings.entries, record.made, comments)
        except (NotJsonError, MisshapenError) as error:
            raise _refused(file, error, f"Put this into it yourself:\n{_snippet(settings.entries)}") from error
        except TakenError as error:
            what = f"`{error}` in {file} is another program's: nothing was changed."
            raise ConflictError(what, "Give that entry another name, or take it out, and run again.") from error
        if unread:
            next_step = f"{_PLAIN}, or put this into it yourself:\n{_snippet(settings.entries)}"
            refused = _refused(file, unread, next_step) if after != text else None
            return Change(file, before, before, unread=unread, refused=refused)
        return Change(file, before, after.encode("utf-8"), record._replace(made=made), vaults=vaults)

    def _without_settings(self, settings: Settings) -> Change:
        file, before = self._read(settings.file)
        text = agentfiles.text(file, before)
        if text is None or not text.strip():
            return Change(file, before, before)
        record = self._record(file)
        try:
            unread = jsontext.unread(text, settings.comments)
            comments = settings.comments or unread is not None
            others = tuple(entries.others(text, settings.entries, comments))
            if not entries.is_in(text, settings.entries, comments):
                return Change(file, before, before, others=others)
            vaults = entries.vaults(text, settings.entries, comments)
            if unread:
                left, shown = entries.standing(text, settings.entries, comments)
                refused = _refused(file, unread, f"{_PLAIN}, or take this out of it yourself:\n{shown}")
                return Change(
                    file, before, before, vaults=vaults, others=others, left=tuple(left), unread=unread, refused=refused
                )
            added = tuple(entries.added(text, settings.entries, settings.comments))
            after = entries.take(text, settings.entries, record.made, settings.comments)
            root = jsontext.parse(after, settings.comments).root
        except NotJsonError as error:
            next_step = f"Take out of it yourself what looks like this:\n{_snippet(settings.entries)}"
            raise _refused(file, error, next_step) from error
        is_empty = after.strip() == after[root.start : root.end] and not after[root.start + 1 : root.end - 1].strip()
        rest: bytes | None = after.encode("utf-8")
        if record.is_new and is_empty:
            rest = None if record.before is None else record.before.encode("utf-8")
        return Change(file, before, rest, vaults=vaults, added=added, others=others)

    # --- scripts -------------------------------------------------------------------------------------------------

    def _with_script(self, script: Script) -> Change:
        file, before = self._read(script.file)
        if before is not None and not _is_sealed(before):
            return Change(file, before, before, is_theirs=True)
        record = self._record(file) if before is not None else Record(Made(), True)
        return Change(file, before, _script(script).encode("utf-8"), record)

    def _without_script(self, script: Script) -> Change:
        file, before = self._read(script.file)
        if before is not None and not _is_sealed(before):
            return Change(file, before, before, is_theirs=True)
        return Change(file, before, None)

    # --- backups and records -------------------------------------------------------------------------------------

    @property
    def backups(self) -> Path:
        """Where files lie as they were before a change."""
        return self._folder("backups")

    def _folder(self, name: str) -> Path:
        return Path(startup.user_folder("data", self.environ)) / name

    def _back_up(self, change: Change) -> None:
        if change.before is None:
            return
        folder = self.backups
        with agentfiles.told(folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            stamp = datetime.now().strftime("%Y%m%dT%H%M%S%f")
            file = folder / f"{stamp}-{change.file.name}"
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "wb") as handle:
                handle.write(change.before)
            for old in sorted(folder.iterdir())[:-KEPT_BACKUPS]:
                old.unlink(missing_ok=True)

    def _record_file(self, file: Path) -> Path:
        return self._folder("installed") / f"{hashlib.sha256(os.fsencode(file)).hexdigest()[:24]}.json"

    def _record(self, file: Path) -> Record:
        """What is known of a file that an install changed; a record that is damaged is as good as none."""
        try:
            found = json.loads(self._record_file(file).read_bytes())
            containers = frozenset(tuple(map(str, path)) for path in found["containers"])
            tails = {tuple(map(str, path)): str(tail) for path, tail in found["tails"]}
            made = Made(containers, tails, bool(found["is_known"]))
            return Record(made, found["is_new"], found["before"], tuple(found["folders"]))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return Record()

    @contextlib.contextmanager
    def _kept(self, change: Change) -> Iterator[None]:
        """Keep a change's record while it is written, or drop the one there is; as it was where nothing was written.

        A new one is kept first: an entry without its record could not be taken out exactly.
        """
        file = self._record_file(change.file)
        with agentfiles.told(file):
            before = file.read_bytes() if file.exists() else None
        if change.record:
            self._keep(change.file, change.record)
        try:
            yield
        except BaseException:
            if change.record:
                _write_record(file, before)
            raise
        if change.record is None:
            with agentfiles.told(file):
                file.unlink(missing_ok=True)

    def _keep(self, of: Path, record: Record) -> None:
        file = self._record_file(of)
        with agentfiles.told(file.parent):
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            document = {
                "file": str(of), "is_new": record.is_new, "before": record.before,
                "folders": record.folders, "is_known": record.made.is_known,
                "containers": sorted(record.made.containers), "tails": list(record.made.tails.items()),
            }  # fmt: skip
            _write_record(file, json.dumps(document).encode("ascii"))


def _write_record(file: Path, data: bytes | None) -> None:
    """Write a record whole; None for none."""
    if data is None:
        file.unlink(missing_ok=True)
        return
    part = file.with_suffix(f".{os.urandom(4).hex()}.part")
    atomic_write.write_durably(part, data)
    os.replace(part, file)


def _not_all_refused(changes: list[Change]) -> list[Change]:
    """The changes; raises why they are refused where that is all of them."""
    if all(change.refused for change in changes):
        raise next(change.refused for change in changes if change.refused)
    return changes


def _allowed(change: Change) -> Change:
    """The change, unless its file is not to be replaced."""
    if change.before is not None and change.before != change.after:
        agentfiles.check_writable(change.file)
    return change


def _refused(file: Path, error: ValueError, next_step: str) -> RefusedError:
    return RefusedError(f"{file} cannot be edited: {error}. It was not touched.", next_step)


def _snippet(of: Sequence[Entry]) -> str:
    """The entries as one JSON object, for a person to paste."""
    document: dict[str, Any] = {}
    for entry in of:
        holder = document
        for name in entry.path if entry.key else entry.path[:-1]:
            holder = holder.setdefault(name, {})
        holder[entry.key or entry.path[-1]] = entry.value if entry.key else [entry.value]
    return json.dumps(document, indent=2, ensure_ascii=False)


def _script(script: Script) -> str:
    source = template(script.template).read_text("utf-8")
    text = re.sub(r"\{\{(\w+)\}\}", lambda place: script.values[place[1]], source)
    said = f"vault-memory sha={_hash(text)}, made by `memory install`: changed by hand, it is left alone."
    # Markdown begins with its frontmatter, so there it stands at the end.
    return f"{text}<!-- {said} -->\n" if script.template.endswith(".md") else f"// {said}\n{text}"


def _is_sealed(data: bytes) -> bool:
    """Whether a script is as it was written; what git makes of line ends is no change."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    seal = _SEAL.search(text)
    return seal is not None and _hash(text[: seal.start()] + text[seal.end() :]) == seal[1]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]
