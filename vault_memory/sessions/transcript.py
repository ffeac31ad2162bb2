"""Formats the derived text of a session: its head, a line a message, and the numbers of messages and lines.

Each message is one item of a list, so that it is ranked and cited by itself. Nothing it says may be read as Markdown:
it stands on one line behind its speaker's name, where no heading, fence, fact or block of ours can begin, and what
would open a comment over several lines, or give the item a scope of its own, is taken apart. Pure.
"""

import json
import re
from datetime import date

from vault_memory.errors import UsageError
from vault_memory.sessions.records import Message

PREFIX = "sessions/"
HEAD_LINES = 6
"""Lines of the head; the first message stands on the next."""

BREAK = " ⏎ "
TITLE_CHARS = 80

_SCOPE = re.compile(r"(\bscopes?[ \t*_]*)([=:])", re.IGNORECASE)
_WIDE = {"=": "＝", ":": "："}
"""What an item's `scope=` would be read from (scopes.py): a message must not widen who sees it."""
_UNPRINTABLE = re.compile("[^\\x20-\\x7e\\xa0-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
"""What YAML does not take, not even in quotes."""
_CITED = re.compile(r"sessions/(?P<path>[^#]+?)(?:\.md)?(?:#m(?P<first>\d{1,9})(?:-m?(?P<last>\d{1,9}))?)?")


def head(tool: str, title: str, day: date | None, scope: str) -> str:
    """The first lines of a session's text: frontmatter, always of so many lines."""
    named = json.dumps(short(title), ensure_ascii=False)
    return f"---\ntitle: {named}\ndate: {day or ''}\nscope: {json.dumps(scope)}\nsession: {tool}\n---\n"


def line(message: Message, before: date | None) -> str:
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


def short(title: str) -> str:
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


def outer(path: str) -> str:
    """What a derived file is called outside: `sessions/claude-code/<id>`."""
    return PREFIX + path.removesuffix(".md")


def inner(name: str) -> tuple[str, tuple[int, int] | None] | None:
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
