"""Formats the derived text of a session: its head, a line a message without what nobody said, and their numbers.

Each message is one item of a list, so that it is ranked and cited by itself. Nothing it says may be read as Markdown:
it stands on one line behind its speaker's name, where no heading, fence, fact or block of ours can begin, and what
would open a comment over several lines, or give the item a scope of its own, is taken apart. Pure.
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
"""Lines of the head; the first message stands on the next."""

SUMMARY = "Summary"
"""Who speaks where a tool summed up what was said before, at a compaction."""

BREAK = " ⏎ "
TITLE_CHARS = 80

_SCOPE = re.compile(r"(\bscopes?[ \t*_]*)([=:])", re.IGNORECASE)
_WIDE = {"=": "＝", ":": "："}
"""What an item's `scope=` would be read from (scopes.py): a message must not widen who sees it."""
_UNPRINTABLE = re.compile("[^\\x20-\\x7e\\xa0-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
"""What YAML does not take, not even in quotes."""
_CITED = re.compile(r"sessions/(?P<path>[^#]+?)(?:\.md)?(?:#m(?P<first>\d{1,9})(?:-m?(?P<last>\d{1,9}))?)?")


class Message(NamedTuple):
    """Who said what, and when (aware, local) where that is known; `id` is the tool's own."""

    speaker: str
    text: str
    at: datetime | None = None
    id: str = ""

    @property
    def day(self) -> date | None:
        return self.at.date() if self.at else None


def format_head(tool: str, title: str, day: date | None, scope: str) -> str:
    """The first lines of a session's text: frontmatter, always of so many lines."""
    return f"---\n{format_title(title)}\ndate: {day or ''}\nscope: {json.dumps(scope)}\nsession: {tool}\n---\n"


def format_title(title: str) -> str:
    """The line of the head with the title."""
    return f"title: {json.dumps(shorten_title(title), ensure_ascii=False)}"


def format_line(message: Message, before: date | None) -> str:
    """A message as its line, with its end; the day is told where it is another than the message's before."""
    day = f"[{message.day}] " if message.day and message.day != before else ""
    return f"- {day}{message.speaker}: {one_line(message.text)}\n"


def one_line(text: str) -> str:
    """Text of several lines as one, in which no comment begins and no scope is named."""
    lines = map(str.strip, text.replace("\0", "").splitlines())  # a pattern for it takes minutes over padded tables
    text = BREAK.join(filter(None, lines))
    text = text.replace("<!--", "<! --")
    while "%%" in text:
        text = text.replace("%%", "% %")
    text = _SCOPE.sub(lambda match: f"{match[1]}{_WIDE[match[2]]}", text)
    return text.encode("utf-8", "replace").decode("utf-8")  # JSON can hold halves of characters


def shorten_title(title: str) -> str:
    """A title of one line, cut at a word."""
    flat = _UNPRINTABLE.sub("", one_line(title).replace(BREAK, " "))
    if len(flat) <= TITLE_CHARS:
        return flat
    cut = flat[:TITLE_CHARS].rpartition(" ")[0] or flat[:TITLE_CHARS]
    return f"{cut} …"


# --- how they are numbered and named ---------------------------------------------------------------------------------


def message_number(line_number: int) -> int:
    """The message on a line of the derived text; 0 for its head."""
    return max(line_number - HEAD_LINES, 0)


def line_number(message: int) -> int:
    """The line on which a message stands."""
    return message + HEAD_LINES


def public_name(path: str) -> str:
    """What a derived file is called outside: `sessions/claude-code/<id>`."""
    return PREFIX + path.removesuffix(".md")


def parse_name(name: str) -> tuple[str, tuple[int, int] | None] | None:
    """The derived file that `sessions/<tool>/<id>#m3-m5` names, and the messages; None where it names no session.

    Raises UsageError for messages that cannot be.
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
"""Of one message; the rest is left out with a note."""

MAX_READ_CHARS = 8 * MAX_MESSAGE_CHARS
"""Of one message; what tools put before somebody's words is seldom longer."""

_BLOCKS = (
    "system-reminder", "system_reminder", "local-command-stdout", "local-command-stderr", "local-command-caveat",
    "command-message", "command-contents", "bash-input", "bash-stdout", "bash-stderr", "user-prompt-submit-hook",
    "session-start-hook", "pre-tool-use-hook", "post-tool-use-hook", "stop-hook", "hook-output", "task-notification",
    "ide_opened_file", "ide_selection", "ide_diagnostics", "relevant-memories", "relevant_memories",
    "persisted-output", "environment_context", "environment_details", "user_instructions", "additional_context",
    "tool_call", "tool_result", "function_calls", "function_results", "thinking",
)  # fmt: skip
"""What Claude Code, opencode, OpenClaw and their kind mark as their own."""

_NAMED = "|".join(_BLOCKS)
_TAG = re.compile(rf"(?P<line>^[ \t]*+)?<(?P<end>/?)(?P<name>{_NAMED})(?:\s[^<>]*+)?>", re.MULTILINE)
_COMMAND_PART = re.compile(r"<command-(name|message|args)>((?:(?!</?command-).)*+)</command-\1>", re.DOTALL)
_COMMAND = re.compile(rf"(?:{_COMMAND_PART.pattern}\s*+)+", re.DOTALL)
"""All look no further than to the next tag, so that a text of nothing but tags takes no longer than another."""

_METADATA = re.compile(r"^[^\n]{0,80}\(untrusted[^\n]{0,60}\):?\n```(?:json)?\n.*?\n```\n?", re.DOTALL | re.MULTILINE)
_NOBODYS = re.compile(
    r"\s*(?:\[Request interrupted by user[^\]]*\]|HEARTBEAT_OK|NO_REPLY|\(no content\)|No response requested\.)\s*"
)
_TOLD_AGAIN = (
    "Caveat: The messages below were generated by the user while running local commands",
    "This session is being continued from a previous conversation",
    "Stop hook feedback:",
)
"""How messages begin that the tool wrote in the user's name."""


def clean_message(text: str, speaker: str = "") -> str:
    """What was said in a message, without what tools, hooks and recall put there, and without secrets; or ""."""
    text, over = text[:MAX_READ_CHARS], text[MAX_READ_CHARS:]
    text = stripped(text)
    if "<" in text:
        text = _drop_blocks(_COMMAND.sub(_format_command, text), is_cut=bool(over))
    if "(untrusted" in text:
        text = _METADATA.sub("", text)
    text = text.strip()
    if _NOBODYS.fullmatch(text) or (text.startswith(_TOLD_AGAIN) and speaker != SUMMARY):
        return ""
    text = redacted(text)  # whole: a secret may lie across the bound
    cut = text[MAX_MESSAGE_CHARS:] + over
    return f"{text[:MAX_MESSAGE_CHARS]} … [{len(cut) // 1024:,} kB left out]" if cut else text


def clean_title(title: str) -> str:
    """A session's title; "" where its tool made it of a frame that was put before what somebody said, and cut it."""
    words = clean_message(title)
    return "" if words.startswith("<") else words


def _drop_blocks(text: str, is_cut: bool) -> str:
    """The text without blocks, each tag looked at once; of nested ones the outermost counts.

    A block that begins a line and is not closed goes on to the last end of that name, where a block like it was told
    of inside. One that is sure to be a block, for nobody begins a message with a line that is such a tag, or its end
    may have been cut off, goes on to the end of the text. Else somebody only talks of it.
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
    """A command that was typed with words of its own, in whatever order its parts stand; one alone says nothing."""
    parts = {name: text.strip() for name, text in _COMMAND_PART.findall(command[0])}
    if "name" not in parts:
        return command[0]
    return f"{parts['name']} {parts['args']}\n" if parts.get("args") else ""
