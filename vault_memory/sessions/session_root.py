"""Searches and reads the sessions as a root of their own: the folder of their derived texts, indexed like a vault.

Callers see `sessions/<tool>/<id>` and message numbers; internally these are paths and line numbers. Only this module
and `transcript` convert between the two.
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
"""How long a query may spend on syncing grown transcripts before it searches."""

PREFIX_TOKENS = 4
"""Upper bound of the tokens that the prefix `sessions/` adds to a path."""


def derive_config(config: Config, environ: Mapping[str, str]) -> Config:
    """The settings of the sessions root: the vault's, except for its locations and what it ignores."""
    off = tuple(f"{tool}/**" for tool in TOOLS if tool not in config.sessions_tools)
    return replace(
        config, vault=ledger.folder(environ), index_path=None, daily_folder="memory", daily_format="YYYY-MM-DD",
        bank_folder=STANDARD.bank, core_file=STANDARD.core, core_files=(), ignore=off, folder_scopes=(),
        ignored=(), unknown=(),
    )  # fmt: skip


def has_texts(config: Config, environ: Mapping[str, str]) -> bool:
    """Whether there are derived texts, and the settings name any tools."""
    return bool(config.sessions_tools) and os.path.isdir(ledger.folder(environ))


def catch_up(config: Config, environ: Mapping[str, str]) -> int:
    """Sync the transcripts for up to CATCH_UP_SECONDS; return how many are still behind."""
    return sync_transcripts(config, environ, deadline=time.monotonic() + CATCH_UP_SECONDS).pending


def may_open(path: str, config: Config, environ: Mapping[str, str]) -> bool:
    """Whether a derived file belongs to a tool named in the settings."""
    return has_texts(config, environ) and path.partition("/")[0] in config.sessions_tools


def sessions_request(request: Request) -> Request | None:
    """The request as put to the sessions root; None if its kinds exclude sessions."""
    kinds = request.filters.kinds
    if kinds and SESSION not in kinds:
        return None
    return request._replace(source="notes", filters=request.filters._replace(kinds=()))


def outside_result(result: Result) -> Result:
    """A result of the sessions root in public terms: session name and message numbers."""
    return result._replace(
        kind=SESSION, path=transcript.public_name(result.path), heading=(),
        start_line=transcript.message_number(result.start_line), end_line=transcript.message_number(result.end_line),
        header_tokens=result.header_tokens + PREFIX_TOKENS, root=NAME,
    )  # fmt: skip


_ONLY_ASKS = re.compile(r"- (?:\[[\d-]+\] )?User: (?:(?![.!。！](?:\s|$)|⏎).)*[?？؟][\"'”’»)\]]*")
"""A message that is a single question: the current question is itself in a session, and answers nothing."""

WORD_STEM = 5
"""The length of the prefix by which the forms of a word are matched."""


def answers(result: Result, words: Sequence[str]) -> bool:
    """Whether a message contains one of these words and is more than a question."""
    text = result.content.casefold()
    is_about = any(word.casefold()[:WORD_STEM] in text for word in words)
    return is_about and not _ONLY_ASKS.fullmatch(result.content.strip())


class SessionEntry(NamedTuple):
    """One session of a list; `name` is its public name, `day` its first, `messages` their number."""

    name: str
    day: str
    title: str
    project: str
    messages: int

    def __str__(self) -> str:
        what = (self.day, self.project, self.title, f"{self.messages} message{'s' * (self.messages != 1)}", self.name)
        return " · ".join(filter(None, what))


def entry(path: str, day: str | None, title: str, scope: str, last_line: int | None) -> SessionEntry:
    """The list entry of a derived text."""
    project = scope.removeprefix("project:") if scope.startswith("project:") else ""
    messages = transcript.message_number(last_line or 0)
    return SessionEntry(transcript.public_name(path), day or "", title, project, messages)


_SUMMARY = re.compile(rf"- (?:\[[\d-]+\] )?{transcript.SUMMARY}: ")
SUMMARY_SESSIONS = 5
"""How many of a project's latest sessions are searched for a summary."""


def last_summary(vault: Vault, view: View) -> Result | None:
    """The first passage (some 320 characters) of the last summary in the newest session of the view that has one."""
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
    """An excerpt of a derived text in public terms: session name and message numbers."""
    if excerpt.not_found:
        return excerpt
    return replace(
        excerpt, path=transcript.public_name(excerpt.path), start_line=transcript.message_number(excerpt.start_line),
        end_line=excerpt.end_line - transcript.HEAD_LINES, lines=transcript.message_number(excerpt.lines),
    )  # fmt: skip


def find_lines(messages: tuple[int, int | None] | None) -> tuple[int, int | None]:
    """The lines of a range of messages (1-based, inclusive, None as its end for the last); None for all messages."""
    first, last = messages or (1, None)
    return transcript.line_number(max(first, 1)), None if last is None else transcript.line_number(last)


class UnwantedTexts(NamedTuple):
    """Derived texts of tools that the settings no longer name."""

    tools: tuple[str, ...]
    texts: int
    bytes: int
    folder: Path


def unwanted_texts(config: Config, environ: Mapping[str, str]) -> UnwantedTexts:
    """What is kept of tools that the settings no longer name; if they name none, `bytes` is of the whole folder."""
    home = ledger.folder(environ)
    off = tuple(tool for tool in TOOLS if tool not in config.sessions_tools and (home / tool).is_dir())
    texts = sum(1 for tool in off for _ in (home / tool).glob("*.md"))
    size = sum(ledger.bytes_below(home / tool) for tool in off) if config.sessions_tools else ledger.bytes_below(home)
    return UnwantedTexts(off, texts, size, home)


def forget(off: Sequence[str], config: Config, environ: Mapping[str, str]) -> None:
    """Delete the texts of these tools; if the settings name none, the whole folder and its index.

    Raises BusyError and OSError.
    """
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
    """Delete the index of the sessions root once its texts are deleted, and the record of where it was."""
    for file in (*index.parent.glob(f"{index.name}*"), locations.memory_of(root)):
        with suppress(OSError):
            file.unlink()
