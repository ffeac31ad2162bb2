"""Asks and reads the sessions as a root: the folder of their derived texts, with an index of its own like a vault's.

What goes out says `sessions/<tool>/<id>` and counts messages; what is inside says paths and lines. Only here and in
`transcript` the one becomes the other.
"""

import os
import re
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from vault_memory.config import Config
from vault_memory.markdown.note import decoded_lines
from vault_memory.search.answer import SESSION, Request, Result
from vault_memory.search.get import Excerpt
from vault_memory.sessions import ledger, transcript
from vault_memory.sessions.sync import sync_transcripts
from vault_memory.startup import TOOLS
from vault_memory.store.journal import passage_key
from vault_memory.store.note_queries import newest_notes, note_tokens
from vault_memory.store.view import View
from vault_memory.text.vault_layout import STANDARD
from vault_memory.vault import locations
from vault_memory.vault.vault import Vault

NAME = "sessions"
CATCH_UP_SECONDS = 0.5
"""How long a question may spend on transcripts that have grown, before their texts are looked at."""

PREFIX_TOKENS = 4
"""The most that `sessions/` before a path costs."""


def derive_config(config: Config, environ: Mapping[str, str]) -> Config:
    """The settings of the sessions' root: the vault's, but for where things are and what is left out."""
    off = tuple(f"{tool}/**" for tool in TOOLS if tool not in config.sessions_tools)
    return replace(
        config, vault=ledger.folder(environ), index_path=None, daily_folder="memory", daily_format="YYYY-MM-DD",
        bank_folder=STANDARD.bank, core_file=STANDARD.core, core_files=(), ignore=off, folder_scopes=(),
        ignored=(), unknown=(),
    )  # fmt: skip


def has_texts(config: Config, environ: Mapping[str, str]) -> bool:
    """Whether there are derived texts to be asked, and the settings want them."""
    return bool(config.sessions_tools) and os.path.isdir(ledger.folder(environ))


def catch_up(config: Config, environ: Mapping[str, str]) -> int:
    """Read what was appended to the transcripts, as far as there is time; how many of them are behind still."""
    return sync_transcripts(config, environ, deadline=time.monotonic() + CATCH_UP_SECONDS).pending


def may_open(path: str, config: Config, environ: Mapping[str, str]) -> bool:
    """Whether a derived file is of a tool that the settings want."""
    return has_texts(config, environ) and path.partition("/")[0] in config.sessions_tools


def sessions_request(request: Request) -> Request | None:
    """The question as the sessions' root understands it; None where only other kinds are wanted."""
    kinds = request.filters.kinds
    if kinds and SESSION not in kinds:
        return None
    return request._replace(source="notes", filters=request.filters._replace(kinds=()))


def outside_result(result: Result) -> Result:
    """A result of that root as it is told outside."""
    return result._replace(
        kind=SESSION, path=transcript.public_name(result.path), heading=(),
        start_line=transcript.message_number(result.start_line), end_line=transcript.message_number(result.end_line),
        header_tokens=result.header_tokens + PREFIX_TOKENS, root=NAME,
    )  # fmt: skip


_ONLY_ASKS = re.compile(r"- (?:\[[\d-]+\] )?User: (?:(?![.!。！](?:\s|$)|⏎).)*[?？؟][\"'”’»)\]]*")
"""A message that is one question: the sessions hold what is asked now, and that answers nothing."""

WORD_STEM = 5
"""So many letters of a word stand for all its forms."""


def answers(result: Result, words: Sequence[str]) -> bool:
    """Whether a message holds one of these words, and does more than ask."""
    text = result.content.casefold()
    is_about = any(word.casefold()[:WORD_STEM] in text for word in words)
    return is_about and not _ONLY_ASKS.fullmatch(result.content.strip())


class SessionEntry(NamedTuple):
    """One session of a list: as it is cited, its first day, its title, its project ("" for none) and its messages."""

    name: str
    day: str
    title: str
    project: str
    messages: int

    def __str__(self) -> str:
        what = (self.day, self.project, self.title, f"{self.messages} message{'s' * (self.messages != 1)}", self.name)
        return " · ".join(filter(None, what))


def entry(path: str, day: str | None, title: str, scope: str, last_line: int | None) -> SessionEntry:
    """A derived text as it is listed."""
    project = scope.removeprefix("project:") if scope.startswith("project:") else ""
    messages = transcript.message_number(last_line or 0)
    return SessionEntry(transcript.public_name(path), day or "", title, project, messages)


_SUMMARY = re.compile(rf"- (?:\[[\d-]+\] )?{transcript.SUMMARY}: ")
SUMMARY_SESSIONS = 5
"""Among so many of a project's last sessions a summary is looked for."""


def last_summary(vault: Vault, view: View) -> Result | None:
    """The beginning, of some 320 characters, of the last summary that a tool made of one of these sessions."""
    for path, day, *_ in newest_notes(view, "")[:SUMMARY_SESSIONS]:
        lines = decoded_lines(vault.read(path))[0]
        numbers = range(len(lines), transcript.HEAD_LINES, -1)
        number = next((number for number in numbers if _SUMMARY.match(lines[number - 1])), 0)
        header_tokens, known = note_tokens(view, path)
        if text := next((text for text in known if number and lines[number - 1].startswith(text)), ""):
            return outside_result(Result(
                path=path, date=day, start_line=number, end_line=number, content=text, tokens=known[text],
                key=passage_key(text), by="agent", header_tokens=header_tokens or 0,
                truncated=len(text) < len(lines[number - 1]),
            ))  # fmt: skip
    return None


def outside_excerpt(excerpt: Excerpt) -> Excerpt:
    """What was read of a derived text as it is told outside."""
    if excerpt.not_found:
        return excerpt
    return replace(
        excerpt, path=transcript.public_name(excerpt.path), start_line=transcript.message_number(excerpt.start_line),
        end_line=excerpt.end_line - transcript.HEAD_LINES, lines=transcript.message_number(excerpt.lines),
    )  # fmt: skip


def find_lines(messages: tuple[int, int | None] | None) -> tuple[int, int | None]:
    """The lines of messages (1-based, both ends included, None is the last); all of them but the head for None."""
    first, last = messages or (1, None)
    return transcript.line_number(max(first, 1)), None if last is None else transcript.line_number(last)


class UnwantedTexts(NamedTuple):
    """Texts of tools that the settings do not want any more."""

    tools: tuple[str, ...]
    texts: int
    bytes: int
    folder: Path


def unwanted_texts(config: Config, environ: Mapping[str, str]) -> UnwantedTexts:
    """What is kept of tools that the settings do not want any more; with all of them, the index too."""
    home = ledger.folder(environ)
    off = tuple(tool for tool in TOOLS if tool not in config.sessions_tools and (home / tool).is_dir())
    texts = sum(1 for tool in off for _ in (home / tool).glob("*.md"))
    size = sum(ledger.bytes_below(home / tool) for tool in off) if config.sessions_tools else ledger.bytes_below(home)
    return UnwantedTexts(off, texts, size, home)


def forget(off: Sequence[str], config: Config, environ: Mapping[str, str]) -> None:
    """Delete the texts of these tools' sessions; with those of all, the index too. Raises BusyError, OSError."""
    home, index = ledger.folder(environ), None
    if not config.sessions_tools:
        index, _ = locations.index_place(derive_config(config, environ), home)
    with locations.writer_lock(home / ledger.STATE / "sweep", 0):
        for tool in off:
            shutil.rmtree(home / tool)
            ledger.state_file(home, tool).unlink(missing_ok=True)
        if index:
            forget_index(home, index)
            shutil.rmtree(home)


def forget_index(root: Path, index: Path) -> None:
    """Delete the index of sessions that are all gone: they were ours, and no drive is missing."""
    for file in (*index.parent.glob(f"{index.name}*"), locations.memory_of(root)):
        with suppress(OSError):
            file.unlink()
