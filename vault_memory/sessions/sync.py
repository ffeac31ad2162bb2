"""Brings the derived texts of sessions up to date with the transcripts that agent tools write.

The steps of a sync, and why in this order:
1. One sync at a time: a process that finds another one running leaves the work to it.
2. Each tool's folder is listed, newest first. A transcript whose stamp is unchanged is not even opened.
3. What was appended is read record by record and the derived file replaced as a whole; the state is saved after that.
   A sync killed in between has written more messages than the state counts; the next sync writes those again.
4. A derived text stays even if its transcript disappears (law 7): tools delete transcripts after weeks, a drive may be
   unmounted. The state only records that the transcript is gone. To get rid of a text, delete it.
"""

import contextlib
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import islice
from pathlib import Path

from vault_memory.config import Config
from vault_memory.errors import BusyError, IndexUnusableError
from vault_memory.sessions import ledger, projects, readers, transcript
from vault_memory.sessions.ledger import TranscriptState
from vault_memory.sessions.readers import Record, Transcript
from vault_memory.sessions.transcript import Message
from vault_memory.vault import locations
from vault_memory.vault.safe_files import make_private, private

_SAFE = re.compile(r"[^A-Za-z0-9._-]+")
SAVE_SECONDS = 5.0
"""How often a sync saves its state: a killed sync loses at most this much work."""

Progress = Callable[[int, int, int], None]
"""Called with the number of transcripts done, of all transcripts, and of messages written."""


@dataclass
class SyncReport:
    """What one sync did; counts are of transcripts unless named otherwise.

    `removed` counts texts that the user deleted and whose transcripts are gone as well; `outputs` tool outputs left out
    of the messages written. `gone` (transcript gone, text kept), `unfinished` (last line without a newline) and
    `skipped` (corrupt records) are totals over all known transcripts, not only those of this sync.
    """

    tools: tuple[str, ...] = ()
    transcripts: int = 0
    added: int = 0
    grown: int = 0
    anew: int = 0
    removed: int = 0
    gone: int = 0
    unfinished: int = 0
    messages: int = 0
    outputs: int = 0
    bytes_read: int = 0
    skipped: int = 0
    pending: int = 0
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)

    @property
    def changed(self) -> int:
        return self.added + self.grown + self.anew + self.removed


def sync_transcripts(
    config: Config, environ: Mapping[str, str], progress: Progress | None = None, deadline: float = float("inf")
) -> SyncReport:
    """Bring the derived texts up to date; what remains at `deadline` (time.monotonic) is counted as pending.

    Never raises because of a transcript; its error is added to the report's problems.
    """
    started = time.monotonic()
    report = SyncReport(config.sessions_tools)
    if not config.sessions_tools:
        return report
    home = ledger.folder(environ)
    try:
        for made in (home, home / ledger.STATE):
            make_private(made)
        with locations.writer_lock(home / ledger.STATE / "sweep", 0):
            ledger.marks_file(environ).unlink(missing_ok=True)  # first: what grows during the sync is marked again
            for tool in config.sessions_tools:
                _ToolSync(tool, config, environ, report).run(progress, deadline)
            if not report.pending:
                (home / ledger.STATE / ledger.SYNCED).touch(0o600)
    except BusyError:
        report.problems.append("another process is reading the transcripts")
        report.pending = count_behind(config, environ)
    except (OSError, IndexUnusableError) as error:
        report.problems.append(f"{home} cannot be written: {error}")
        report.pending = count_behind(config, environ)
    report.seconds = time.monotonic() - started
    return report


def count_behind(config: Config, environ: Mapping[str, str]) -> int:
    """How many transcripts have changed since they were read, without reading any."""
    found = 0
    for tool in config.sessions_tools:
        with contextlib.suppress(OSError):
            sync = _ToolSync(tool, config, environ, SyncReport())
            found += sync.count_behind(readers.list_transcripts(tool, readers.tool_folder(tool, config, environ)))
    return found


class _ToolSync:
    """Syncs the transcripts of one tool."""

    def __init__(self, tool: str, config: Config, environ: Mapping[str, str], report: SyncReport) -> None:
        self._tool, self._config, self._environ, self._report = tool, config, environ, report
        self._root, self._home = readers.tool_folder(tool, config, environ), ledger.folder(environ)
        self._ledger = ledger.state_file(self._home, tool)
        self._known = ledger.load(self._ledger)
        self._names = {each.path for each in self._known.values()}
        self._scopes: dict[str, str] = {}
        self._saved, self._saved_at = dict(self._known), time.monotonic()

    def count_behind(self, sources: Sequence[Transcript]) -> int:
        """How many transcripts differ from what was last read."""
        count = 0
        for source in sources:
            with contextlib.suppress(OSError):
                count += not self._is_read(source, self._known.get(source.key, TranscriptState()))
        return count

    def _is_read(self, source: Transcript, before: TranscriptState) -> bool:
        return before.stamp == self._stamp(source) and self._is_whole(before)

    def _stamp(self, source: Transcript) -> str:
        """A stamp that changes whenever the transcript or the summaries kept by hooks do."""
        with contextlib.suppress(OSError):
            summaries = ledger.summaries_file(self._home, self._tool, Path(source.key).stem)
            return f"{source.stamp} {os.stat(summaries).st_size}"
        return source.stamp

    def _is_whole(self, before: TranscriptState) -> bool:
        """Whether the derived file is still as long as when it was written: anybody may delete or truncate it."""
        with contextlib.suppress(OSError):
            return not before.messages or os.stat(self._home / before.path).st_size >= before.size
        return False

    def run(self, progress: Progress | None, deadline: float) -> None:
        """Sync what is new, until `deadline`."""
        make_private(self._home / self._tool)
        for part in (self._home / self._tool).glob(".*.part"):  # of a sync that was killed
            part.unlink(missing_ok=True)
        found: Sequence[Transcript] = ()
        try:
            found = readers.list_transcripts(self._tool, self._root)
        except OSError as error:
            self._report.problems.append(f"{self._root} cannot be read: {error}")
        if not found and (self._known or not os.path.isdir(self._root)):
            # If all transcripts are gone at once, the folder is probably just unavailable.
            known = f", but {len(self._known)} are known: they stay" if self._known else ""
            self._report.problems.append(f"{self._root} holds no transcripts of {self._tool}{known}")
        else:
            self._sync_all(found, progress, deadline)
        for each in self._known.values():
            self._report.transcripts += 1
            self._report.skipped += each.skipped
            self._report.gone += each.is_gone
            self._report.unfinished += each.is_unfinished

    def _sync_all(self, sources: Sequence[Transcript], progress: Progress | None, deadline: float) -> None:
        try:
            for done, source in enumerate(sources):
                if time.monotonic() > deadline:
                    self._report.pending += self.count_behind(sources[done:])
                    break
                self._sync_one(source, deadline)
                if time.monotonic() - self._saved_at > SAVE_SECONDS:
                    self._save()
                if progress:
                    progress(done + 1, len(sources), self._report.messages)
            self._note_gone({source.key for source in sources})
        finally:
            self._save()

    def _save(self) -> None:
        if self._known != self._saved:
            ledger.save(self._ledger, self._known)
            self._saved, self._saved_at = dict(self._known), time.monotonic()

    def _scope(self, folder: str) -> str:
        """The scope of a session: the project of its working directory, else that of its agent.

        A directory that no longer exists may have been a project's, so its sessions get a scope of their own; with the
        agent's, they would be visible from every project.
        """
        if folder not in self._scopes:
            place, project = Path(folder) if os.path.isabs(folder) else None, ""
            with contextlib.suppress(ValueError):  # not a path, for instance with a NUL
                project = projects.find_project(place, self._config, self._environ) if place else ""
            if not project.startswith("project:"):  # settings may map a folder to any scope, even a wider one
                project = ""
            if not project and place and not place.is_dir():
                project = f"project:{projects.identifier(place.name) or 'folder'}-{projects.hash_folder(str(place))}"
            self._scopes[folder] = project or f"agent:{self._tool}"
        return self._scopes[folder]

    # --- one transcript ------------------------------------------------------------------------------------------

    def _sync_one(self, source: Transcript, deadline: float) -> None:
        before = self._known.get(source.key, TranscriptState())
        try:
            if self._is_read(source, before):
                self._known[source.key] = before._replace(is_gone=False)
                return
            start = readers.resume(source, before.mark) if before.messages and self._is_whole(before) else 0
            if before.messages and not start:
                deadline = float("inf")  # a rewrite cut short would drop messages that are already known
            self._known[source.key] = self._write(source, before, start, deadline)
        except OSError as error:
            self._report.problems.append(f"{source.file} cannot be read: {error.strerror or error}")

    def _write(self, source: Transcript, before: TranscriptState, start: int, deadline: float) -> TranscriptState:
        """Add a transcript's messages from `start` on, until `deadline`; without new ones the file is not touched."""
        path = before.path or self._free_name(Path(source.key).stem)
        stamp = self._stamp(source)
        summaries = ledger.read_summaries(self._home, self._tool, Path(source.key).stem)
        text, report = _SessionText(before if start else TranscriptState(path=path), start, summaries), self._report
        for record in source.records(start):
            if time.monotonic() > deadline:
                stamp = ""  # differs from the source's, so that the next sync resumes here
                report.pending += 1
                break
            text.take(record)
            report.outputs += record.outputs
            report.bytes_read += record.size
        else:
            text.add_summaries()
        if before.messages and not text.known.messages:
            report.problems.append(f"{source.file} says nothing any more: what it said before stays")
            return before._replace(stamp=stamp, is_gone=False)
        after = text.write(self._home / path, self._tool, self._scope)
        report.messages += len(text.lines)
        if source.key not in self._known:
            report.added += 1
        elif before.messages and not start:
            report.anew += 1
        elif text.lines:
            report.grown += 1
        return after._replace(stamp=stamp, mark=source.mark(text.end), is_gone=False)

    def _free_name(self, name: str) -> str:
        """An unused file name for a session: two folders of a tool may have transcripts of the same name."""
        safe = _SAFE.sub("-", name).strip(".-")[:100] or "session"
        path, number = f"{self._tool}/{safe}.md", 1
        while path in self._names:
            number += 1
            path = f"{self._tool}/{safe}-{number}.md"
        self._names.add(path)
        return path

    # --- transcripts that are gone -------------------------------------------------------------------------------

    def _note_gone(self, there: Set[str]) -> None:
        for key in self._known.keys() - there:
            known = self._known[key]
            if not (known.messages and (self._home / known.path).is_file()):
                del self._known[key]
                self._report.removed += known.messages > 0
                ledger.summaries_file(self._home, self._tool, Path(key).stem).unlink(missing_ok=True)
            else:
                self._known[key] = known._replace(is_gone=True)


class _SessionText:
    """The derived text of a session: its state so far, and the lines that this reading adds."""

    def __init__(self, known: TranscriptState, start: int, summaries: Sequence[Message] = ()) -> None:
        self.known, self.end, self.title, self.folder = known._replace(is_unfinished=False), start, "", ""
        self._summaries = summaries
        """Summaries kept by hooks. Each goes before the messages that followed it, and replaces the transcript's own
        version, which the tool wraps in instructions to the agent."""
        self.lines: list[str] = []
        self._is_chosen = False
        self._day = date.fromisoformat(known.day) if known.day else None
        self._first = Message("", "")

    def take(self, record: Record) -> None:
        """Add the message, title and folder of a record, if it has any."""
        if record.title and (record.is_chosen or not self._is_chosen):
            self.title, self._is_chosen = transcript.clean_title(record.title), record.is_chosen
        self.folder = self.folder or record.folder
        if record.message:
            self._add(record.message)
        self.end = record.end
        skipped = self.known.skipped + record.damaged
        self.known = self.known._replace(skipped=skipped, is_unfinished=record.is_unfinished)

    def add_summaries(self, before: datetime | None = None) -> None:
        """Add the remaining summaries from before a time, or all of them."""
        for summary in self._summaries[self.known.summaries :]:
            if before and summary.at and summary.at >= before:
                break
            self.known = self.known._replace(summaries=self.known.summaries + 1)
            self._add_line(summary)

    def _add(self, message: Message) -> None:
        """Add a message unless nothing is left of it after cleaning, or a hook has kept the same summary."""
        message = message._replace(text=transcript.clean_message(message.text, message.speaker))
        if message.speaker == transcript.SUMMARY:
            if any(summary.text in message.text for summary in self._summaries):
                return
        elif message.at:
            self.add_summaries(message.at)
        if message.text:
            self._add_line(message)

    def _add_line(self, message: Message) -> None:
        known = self.known
        self._first = self._first if self.lines else message
        self.lines.append(transcript.format_line(message, self._day))
        self._day = message.day or self._day
        at = message.at.isoformat() if message.at else known.at
        self.known = known._replace(messages=known.messages + 1, day=str(self._day or ""), at=at)

    def write(self, file: Path, tool: str, scope: Callable[[str], str]) -> TranscriptState:
        """Replace the derived file; any lines beyond the known messages, left by a killed sync, are dropped."""
        known, is_titled = self.known, self.title not in ("", self.known.title)
        if not self.lines and not (known.messages and is_titled):
            return known
        if before := known.messages - len(self.lines):
            with open(file, encoding="utf-8", newline="\n") as said:
                lines = list(islice(said, transcript.line_number(before)))
            lines[1] = f"{transcript.format_title(self.title)}\n" if is_titled else lines[1]
        else:
            first = self._first
            lines = [transcript.format_head(tool, self.title or first.text, first.day, scope(self.folder))]
        data = "".join((*lines, *self.lines)).encode()
        part = file.with_name(f".{file.name}.part")
        with open(part, "wb", opener=private) as handle:
            handle.write(data)
        os.replace(part, file)
        return known._replace(size=len(data), title=self.title or known.title)
