"""Owns bringing the derived texts of sessions up to date with the transcripts that agents' tools write.

How a sweep goes, and why in this order:
1. One at a time: whoever finds another at work leaves it to that one.
2. Each tool's folder is listed, what hooks have marked first. A transcript with the stamp known is not even opened.
3. What was appended is read in pieces and appended to the derived file as it comes by; only then is it remembered.
   A sweep that was killed between the two has written more than is known: that is cut off, and written again.
   Only where the head changes is it remembered first that all is to be read: what is there then fits no mark.
4. What was said once stays, whatever becomes of its transcript (law 7): tools delete theirs after weeks, a drive may
   not be mounted. It is only noted that the transcript is gone. Who wants a text gone deletes it.
"""

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vault_memory.config import Config
from vault_memory.errors import BusyError, IndexUnusableError
from vault_memory.sessions import access, clean, ledger, projects, tools, transcript
from vault_memory.sessions import pending as marks
from vault_memory.sessions.ledger import Known
from vault_memory.sessions.source import Found, Reading, Source
from vault_memory.sessions.writer import Writer
from vault_memory.vault import locations
from vault_memory.vault.private_files import make_private

COUNT_SECONDS = 0.25
"""How long after its deadline a sweep counts what it leaves; what it cannot look at by then counts as well."""

SAVE_SECONDS = 5.0
"""How much work a sweep that is killed may lose."""

_ORPHAN = "gone:"
"""How the key begins of a derived text of which nothing else is known."""

_SAFE = re.compile(r"[^A-Za-z0-9._-]+")

Progress = Callable[[int, int, int], None]
"""Called with transcripts done, transcripts to do, messages written."""


@dataclass
class Swept:
    """What one sweep did; counts are transcripts unless named otherwise."""

    tools: tuple[str, ...] = ()
    transcripts: int = 0
    added: int = 0
    grown: int = 0
    anew: int = 0
    removed: int = 0
    """Texts that somebody deleted, whose transcripts are gone as well."""
    gone: int = 0
    """Texts that stay while their transcripts are gone, of all that is known."""
    unfinished: int = 0
    """Transcripts whose last line has no end, of all that is known."""
    messages: int = 0
    """Messages written."""
    outputs: int = 0
    """Outputs of tools that were left out of them."""
    bytes_read: int = 0
    skipped: int = 0
    """Corrupt records, of all that is known."""
    pending: int = 0
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)

    @property
    def changed(self) -> int:
        return self.added + self.grown + self.anew + self.removed


def sweep(
    config: Config, environ: Mapping[str, str], progress: Progress | None = None, deadline: float = float("inf")
) -> Swept:
    """Bring the derived texts up to date; after `deadline` (time.monotonic) what is left is counted as pending.

    Never raises for a transcript: what is wrong with one is among the problems.
    """
    started = time.monotonic()
    swept = Swept(config.sessions_tools)
    if not config.sessions_tools:
        return swept
    home = ledger.folder(environ)
    try:
        for made in (home, home / ledger.STATE):
            make_private(made)
        with locations.writer_lock(home / ledger.STATE / "sweep", 0):
            marked = {os.path.realpath(mark.path): None for mark in marks.take(environ)}
            for tool in config.sessions_tools:
                root = tools.root(tool, config, environ)
                _Sweep(tool, home, _Scopes(tool, config, environ), swept).run(root, list(marked), progress, deadline)
            if not swept.pending:
                (home / ledger.STATE / ledger.SWEPT).touch(0o600)
    except BusyError:
        swept.problems.append("another process is reading the transcripts")
        swept.pending = behind(config, environ)
    except (OSError, IndexUnusableError) as error:
        swept.problems.append(f"{home} cannot be written: {error}")
        swept.pending = behind(config, environ)
    swept.seconds = time.monotonic() - started
    return swept


def behind(config: Config, environ: Mapping[str, str]) -> int:
    """How many transcripts have changed since they were read, without reading any."""
    home, until = ledger.folder(environ), time.monotonic() + COUNT_SECONDS
    found = 0
    for tool in config.sessions_tools:
        with contextlib.suppress(OSError):
            sources = tools.found(tool, tools.root(tool, config, environ)).sources
            found += _behind(sources, ledger.load(ledger.file_of(home, tool)), home, until)
    return found


def _behind(sources: Sequence[Source], known: Mapping[str, Known], home: Path, until: float) -> int:
    """How many transcripts are others than those that were read, as far as there is time to look."""
    count = 0
    for done, source in enumerate(sources):
        if time.monotonic() > until:
            return count + len(sources) - done
        with contextlib.suppress(OSError):
            count += not _is_read(source, known.get(source.key), home, at_a_glance=True)
    return count


def _is_read(source: Source, before: Known | None, home: Path, at_a_glance: bool) -> bool:
    """Whether all there is was read and written, as far as a glance shows; raises OSError."""
    if before is None:
        return False
    is_same = before.glance == source.glance if at_a_glance else before.stamp == source.stamp
    return is_same and bool(before.stamp) and _is_whole(before, home)


def _is_whole(before: Known, home: Path) -> bool:
    """Whether the derived file still holds all that was written to it; it is ours, but anybody may delete it."""
    if not before.messages:
        return True
    with contextlib.suppress(OSError):
        return os.stat(home / before.path).st_size >= before.size
    return False


class _Scopes:
    """The scope of a session: the project of its working directory, else the agent's own that held it.

    A directory that is gone may have been a project's: its sessions have a scope of their own, or every project would
    see them.
    """

    def __init__(self, tool: str, config: Config, environ: Mapping[str, str]) -> None:
        self._tool, self._config = tool, config
        self._environ = {name: value for name, value in environ.items() if name != "MEMORY_SCOPE"}
        self._found: dict[str, str] = {}

    def of(self, folder: str) -> str:
        if folder not in self._found:
            asker = access.Asker(folder=Path(folder)) if os.path.isabs(folder) else access.Asker()
            try:
                seen = access.scopes(asker, self._config, self._environ)
            except ValueError:  # no path at all, as a NUL in it
                seen = ()
            project = next((s for s in seen if s.startswith("project:")), "")
            self._found[folder] = project or _of_gone(asker.folder) or f"agent:{self._tool}"
        return self._found[folder]


def _of_gone(folder: Path | None) -> str:
    """The scope of a folder that is not there; "" for one that is, or for none."""
    if folder is None or folder.is_dir():
        return ""
    return f"project:{projects.identifier(folder.name) or 'folder'}-{projects.digest(str(folder))}"


class _Sweep:
    """The sweep of one tool."""

    def __init__(self, tool: str, home: Path, scopes: _Scopes, swept: Swept) -> None:
        self._tool, self._home, self._scopes, self._swept = tool, home, scopes, swept
        self._ledger = ledger.file_of(home, tool)
        self._known = ledger.load(self._ledger)
        self._names = {each.path for each in self._known.values()}
        self._saved = time.monotonic()
        self._is_changed = False

    def run(self, root: Path, marked: list[str], progress: Progress | None, deadline: float) -> None:
        make_private(self._home / self._tool)
        for part in (self._home / self._tool).glob(".*.part"):  # of a sweep that was killed
            part.unlink(missing_ok=True)
        found = tools.found(self._tool, root)
        if found.cannot_tell:
            self._swept.problems.append(f"parts of {root} cannot be read: what is known of them stays")
        if found.is_gone or (self._known and not found.sources):
            self._stay(root)
            return
        sources = _ordered(found.sources, marked)
        try:
            for done, source in enumerate(sources):
                if time.monotonic() > deadline:
                    until = time.monotonic() + COUNT_SECONDS
                    self._swept.pending += _behind(sources[done:], self._known, self._home, until)
                    break
                self._take(source, deadline)
                if progress:
                    progress(done + 1, len(sources), self._swept.messages)
            self._forget(found)
        finally:
            self._save()
        self._count()

    def _stay(self, root: Path) -> None:
        """Keep what is known: where everything is gone at once, it may only be out of sight."""
        known = f", but {len(self._known)} are known: they stay" if self._known else ""
        self._swept.problems.append(f"{root} holds no transcripts of {self._tool}{known}")
        self._count()

    def _count(self) -> None:
        self._swept.transcripts += len(self._known)
        self._swept.skipped += sum(each.skipped for each in self._known.values())
        self._swept.gone += sum(each.is_gone for each in self._known.values())
        self._swept.unfinished += sum(each.is_unfinished for each in self._known.values())

    # --- one transcript ------------------------------------------------------------------------------------------

    def _take(self, source: Source, deadline: float) -> None:
        before = self._known.get(source.key)
        try:
            if before and _is_read(source, before, self._home, at_a_glance=deadline < float("inf")):
                if before.is_gone:  # it is back
                    self._known[source.key], self._is_changed = before._replace(is_gone=False), True
                return
            glance = source.glance  # before it is listed: what comes between the two is seen the next time
            reading = source.read(self._mark(source, before))
            if before is None or not (reading.is_anew and before.messages):  # else what was said would be away a while
                reading.deadline = deadline
            after = self._write(source, before, reading)
            stamp = "" if reading.is_cut or reading.waits else source.stamp
        except OSError as error:
            self._swept.problems.append(f"{source.file} cannot be read: {error.strerror or error}")
            return
        self._swept.bytes_read += reading.bytes_read
        self._swept.pending += reading.is_cut
        after = after._replace(stamp=stamp, glance=glance, is_gone=False)
        if after != before:
            self._known[source.key], self._is_changed = after, True
        if time.monotonic() - self._saved > SAVE_SECONDS:
            self._save()

    def _mark(self, source: Source, before: Known | None) -> str:
        """From where to read on; all is read again for a head with another title."""
        if not (before and before.messages and _is_whole(before, self._home)):
            return ""
        if source.title and before.title != clean.words(source.title):
            self._known[source.key], self._is_changed = before._replace(mark=""), True
            self._save()
            return ""
        return before.mark

    def _write(self, source: Source, before: Known | None, reading: Reading) -> Known:
        """Write what a reading gives; the derived file is touched only where there is something to write."""
        if before and not reading.is_anew:
            writer = Writer(self._home, before, self._scopes.of, self._tool)
        else:
            path = before.path if before and before.path else self._free_name(source.name)
            writer = Writer(self._home, Known(path=path), self._scopes.of, self._tool)
        with writer:
            for record in reading.records:
                writer.title = writer.title or (clean.words(record.title) if record.title else "")
                writer.folder = writer.folder or record.folder
                self._swept.outputs += record.outputs
                for message in record.messages:
                    writer.add(message)
        if before and before.messages and not writer.known.messages:
            self._swept.problems.append(f"{source.file} says nothing any more: what it said before stays")
            return before
        skipped = writer.known.skipped + reading.skipped
        after = writer.known._replace(mark=reading.mark, skipped=skipped, is_unfinished=reading.is_unfinished)
        self._swept.messages += writer.added
        self._tell(before, reading, writer.added)
        return after

    def _tell(self, before: Known | None, reading: Reading, added: int) -> None:
        if before is None:
            self._swept.added += 1
        elif reading.is_anew and before.messages:
            self._swept.anew += 1
        elif added:
            self._swept.grown += 1

    def _free_name(self, name: str) -> str:
        """A file name of a session's own: two of one name may lie in two folders of a tool."""
        safe = _SAFE.sub("-", name).strip(".-")[:100] or "session"
        path, number = f"{self._tool}/{safe}.md", 1
        if self._known.pop(_ORPHAN + path, None):  # its transcript is back
            return path
        while path in self._names:
            number += 1
            path = f"{self._tool}/{safe}-{number}.md"
        self._names.add(path)
        return path

    # --- what is gone, and what is remembered --------------------------------------------------------------------

    def _forget(self, found: Found) -> None:
        there = {source.key for source in found.sources}
        for key in [key for key in self._known if key not in there]:
            if any(not folder or key.startswith(folder) for folder in found.cannot_tell):
                continue
            known = self._known[key]
            if not (known.messages and (self._home / known.path).is_file()):
                del self._known[key]
                self._is_changed = True
                self._swept.removed += known.messages > 0
            elif not known.is_gone:
                self._known[key], self._is_changed = known._replace(is_gone=True), True
        if not (self._swept.pending or found.cannot_tell):
            self._take_orphans_in()

    def _take_orphans_in(self) -> None:
        """Know of derived files again of which nothing is known: that was lost, and their transcripts are gone."""
        mine = {each.path for each in self._known.values()}
        for file in (self._home / self._tool).glob("*.md"):
            path = f"{self._tool}/{file.name}"
            if path not in mine:
                with open(file, "rb") as handle:
                    messages = transcript.message_number(sum(1 for _ in handle))
                size = file.stat().st_size
                self._known[_ORPHAN + path] = Known(path=path, messages=messages, size=size, is_gone=True)
                self._is_changed = True

    def _save(self) -> None:
        if self._is_changed:
            ledger.save(self._ledger, self._known)
            self._is_changed, self._saved = False, time.monotonic()


def _ordered(sources: Iterable[Source], marked: list[str]) -> list[Source]:
    """What hooks have marked first, the newest mark before the others."""
    place = {path: number for number, path in enumerate(marked)}
    if not place:
        return list(sources)
    return sorted(sources, key=lambda source: place.get(os.path.realpath(source.file), len(place)))
