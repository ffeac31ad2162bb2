"""Formats the derived text of a session: a head, then one line per message, cleaned of tool output and secrets.

Each message is a list item, so that it is ranked and cited by itself. None of its text may be parsed as Markdown: it is
on one line after the speaker's name, where no heading, fence, fact or managed block can begin, and whatever would open
a multi-line comment or give the item a scope of its own is broken up. Pure.
"""

import json
import re
from collections import Counter
from datetime import date, datetime
from typing import NamedTuple

from vault_memory.errors import UsageError
from vault_memory.sessions.redact import redacted
from vault_memory.text.agent_frame import stripped

PREFIX = "sessions/"
HEAD_LINES = 6
"""Lines of the head; the first message is on the next line."""

SUMMARY = "Summary"
"""The speaker of a tool's summary of the conversation so far, written at a compaction."""

BREAK = " ⏎ "
TITLE_CHARS = 80

_SCOPE = re.compile(r"(\bscopes?[ \t*_]*)([=:])", re.IGNORECASE)
_WIDE = {"=": "＝", ":": "："}
"""Replacements for the sign after `scope`: a message must not widen its own scope (scopes.py parses `scope=`)."""
_UNPRINTABLE = re.compile("[^\\x20-\\x7e\\xa0-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
"""Characters that YAML does not allow even in quotes."""
_CITED = re.compile(r"sessions/(?P<path>[^#]+?)(?:\.md)?(?:#m(?P<first>\d{1,9})(?:-m?(?P<last>\d{1,9}))?)?")


class Message(NamedTuple):
    """One message; `at` is aware and local, None if unknown, `id` the tool's own."""

    speaker: str
    text: str
    at: datetime | None = None
    id: str = ""

    @property
    def day(self) -> date | None:
        return self.at.date() if self.at else None


def format_head(tool: str, title: str, day: date | None, scope: str) -> str:
    """The frontmatter of a session's text, always HEAD_LINES lines."""
    return f"---\n{format_title(title)}\ndate: {day or ''}\nscope: {json.dumps(scope)}\nsession: {tool}\n---\n"


def format_title(title: str) -> str:
    """The title line of the head."""
    return f"title: {json.dumps(shorten_title(title), ensure_ascii=False)}"


def format_line(message: Message, before: date | None) -> str:
    """A message as one line, newline included, with its day if that differs from `before`, the last message's day."""
    day = f"[{message.day}] " if message.day and message.day != before else ""
    return f"- {day}{message.speaker}: {one_line(message.text)}\n"


def one_line(text: str) -> str:
    """Text joined into one line, in which no comment opens and no scope is set."""
    lines = map(str.rstrip, text.replace("\0", "").splitlines())  # a regex takes minutes over padded tables
    text = BREAK.join(filter(None, lines))  # indentation stays: it tells what was pasted
    text = text.replace("<!--", "<! --")
    while "%%" in text:
        text = text.replace("%%", "% %")
    text = _SCOPE.sub(lambda match: f"{match[1]}{_WIDE[match[2]]}", text)
    return text.encode("utf-8", "replace").decode("utf-8")  # JSON can contain lone surrogates


def shorten_title(title: str) -> str:
    """A title on one line, cut at a word to TITLE_CHARS."""
    flat = _UNPRINTABLE.sub("", one_line(title).replace(BREAK, " "))
    if len(flat) <= TITLE_CHARS:
        return flat
    cut = flat[:TITLE_CHARS].rpartition(" ")[0] or flat[:TITLE_CHARS]
    return f"{cut} …"


# --- message numbers and public names --------------------------------------------------------------------------------


def message_number(line_number: int) -> int:
    """The number of the message on a line of the derived text; 0 for the head."""
    return max(line_number - HEAD_LINES, 0)


def line_number(message: int) -> int:
    """The line of a message in the derived text."""
    return message + HEAD_LINES


def public_name(path: str) -> str:
    """The public name of a derived file: `sessions/claude-code/<id>`."""
    return PREFIX + path.removesuffix(".md")


def parse_name(name: str) -> tuple[str, tuple[int, int] | None] | None:
    """The derived file and the message range of `sessions/<tool>/<id>#m3-m5`; None if it is no session's name.

    Raises UsageError for an impossible range.
    """
    match = _CITED.fullmatch(name)
    if match is None:
        return None
    messages = (int(match["first"]), int(match["last"] or match["first"])) if match["first"] else None
    if messages and not 1 <= messages[0] <= messages[1]:
        first, last = messages
        raise UsageError(f"There are no messages {first} to {last}.", "They count from 1, the smaller number first.")
    return f"{match['path']}.md", messages


MAX_MESSAGE_CHARS = 64 * 1024
"""The longest text kept of one message; a note says how much was left out."""

MAX_READ_CHARS = 8 * MAX_MESSAGE_CHARS
"""How much of one message is cleaned at all; what tools put before the actual words is seldom longer."""

_BLOCKS = (
    "system-reminder", "system_reminder", "local-command-stdout", "local-command-stderr", "local-command-caveat",
    "command-message", "command-contents", "bash-input", "bash-stdout", "bash-stderr", "user-prompt-submit-hook",
    "session-start-hook", "pre-tool-use-hook", "post-tool-use-hook", "stop-hook", "hook-output", "task-notification",
    "ide_opened_file", "ide_selection", "ide_diagnostics", "relevant-memories", "relevant_memories",
    "persisted-output", "environment_context", "environment_details", "user_instructions", "additional_context",
    "tool_call", "tool_result", "function_calls", "function_results", "thinking",
)  # fmt: skip
"""Tags in which Claude Code, opencode, OpenClaw and similar tools wrap their own text."""

_NAMED = "|".join(_BLOCKS)
_TAG = re.compile(rf"(?P<line>^[ \t]*+)?<(?P<end>/?)(?P<name>{_NAMED})(?:\s[^<>]*+)?>", re.MULTILINE)
_COMMAND_PART = re.compile(r"<command-(name|message|args)>((?:(?!</?command-).)*+)</command-\1>", re.DOTALL)
_COMMAND = re.compile(rf"(?:{_COMMAND_PART.pattern}\s*+)+", re.DOTALL)
"""None of these patterns looks beyond the next tag, so that text full of tags stays linear."""

_METADATA = re.compile(r"^[^\n]{0,80}\(untrusted[^\n]{0,60}\):?\n```(?:json)?\n.*?\n```\n?", re.DOTALL | re.MULTILINE)
_NOBODYS = re.compile(
    r"\s*(?:\[Request interrupted by user[^\]]*\]|HEARTBEAT_OK|NO_REPLY|\(no content\)|No response requested\.)\s*"
)
_TOLD_AGAIN = (
    "Caveat: The messages below were generated by the user while running local commands",
    "This session is being continued from a previous conversation",
    "Stop hook feedback:",
)
"""The beginnings of messages that the tool wrote in the user's name."""


def clean_message(text: str, speaker: str = "") -> str:
    """A message's own text, without what tools, hooks and recall inserted, secrets redacted; "" if nothing is left."""
    text, over = text[:MAX_READ_CHARS], text[MAX_READ_CHARS:]
    text = stripped(text)
    if "<" in text:
        text = _drop_blocks(_COMMAND.sub(_format_command, text), is_cut=bool(over))
    if "(untrusted" in text:
        text = _METADATA.sub("", text)
    text = text.strip("\n").rstrip()
    if _NOBODYS.fullmatch(text) or (text.startswith(_TOLD_AGAIN) and speaker != SUMMARY):
        return ""
    text = redacted(text)  # before the cut, which may fall within a secret
    cut = text[MAX_MESSAGE_CHARS:] + over
    return f"{text[:MAX_MESSAGE_CHARS]} … [{len(cut) // 1024:,} kB left out]" if cut else text


def clean_title(title: str) -> str:
    """A session's title; "" if the tool made it from the cut-off beginning of an inserted block."""
    words = clean_message(title)
    return "" if words.startswith("<") else words


def _drop_blocks(text: str, is_cut: bool) -> str:
    """Remove the tools' blocks in one pass over the tags; nested blocks go with the outermost.

    An unclosed block that begins a line extends to the last end tag of its name, if one follows (its content mentioned
    such a block). Failing that, it extends to the end of the text if it begins the message on a line of its own, or if
    the text was cut, its end tag perhaps with it. Any other unclosed tag is only mentioned in the text, and stays.
    """
    begin = len(text) - len(text.lstrip())
    open_: list[re.Match[str]] = []
    found: list[tuple[int, int]] = []
    counts: Counter[str] = Counter()
    ends: dict[str, int] = {}
    for tag in _TAG.finditer(text):
        name = tag["name"]
        if not tag["end"]:
            open_.append(tag)
            counts[name] += 1
        elif counts[name]:
            ends[name] = tag.end()
            while (begun := open_.pop())["name"] != name:
                counts[begun["name"]] -= 1
            counts[name] -= 1
            found.append((begun.start("end") - 1, tag.end()))
    for tag in open_:
        start, end = tag.start("end") - 1, ends.get(tag["name"], 0)
        if (is_cut or tag["line"] is not None) and end > start:
            found.append((start, end))
        elif is_cut or (start == begin and text[tag.end() : tag.end() + 1] in ("", "\n")):
            found.append((start, len(text)))
    kept, at = [], 0
    for start, end in sorted(found):
        kept.append(text[at:start])
        at = max(at, end)
    return "".join((*kept, text[at:]))


def _format_command(command: re.Match[str]) -> str:
    """A typed command with its arguments, whose parts come in any order; "" for a command without arguments."""
    parts = {name: text.strip() for name, text in _COMMAND_PART.findall(command[0])}
    if "name" not in parts:
        return command[0]
    return f"{parts['name']} {parts['args']}\n" if parts.get("args") else ""
