"""The origin of a text and whether it is trusted: the values of `by=` and of the property `by`. Pure.

The default is `person`; `web` and `tool` are from outside, and so is an import of those. An unreadable value is never
trusted.
"""

import re
from collections.abc import Iterable, Mapping

from vault_memory.markdown.entities import link_name
from vault_memory.text.scope_syntax import agent_project

PERSON, WEB, UNCLEAR = "person", "web", "unclear"

_FORM = re.compile(r"person|web|tool|import(?::[^\s,()]+)?|agent:[^\s,()]+")
_OUTSIDE = re.compile(r"(?:import:)?(?:web|tool).*|unclear")
_PAGE = re.compile(r"\s*+<?https?://", re.IGNORECASE)
_SAYS_WEB = re.compile(
    r"\A\W*+(?:https?://|from (?:(?:the|a) )?(?:web|internet|web ?page|web ?site)\b)|\(from the web\)"
    r"|\b(?:sources?|from|via|according to|read (?:at|in|on)|quelle|fuente|fonte|källa|bron)\b"
    r"\W{0,6}(?:\w[^\[\]\n]{0,200}\]\()?https?://"
    r"|^\[\^?\w+\]:[ \t]*<?https?://",
    re.IGNORECASE | re.MULTILINE,
)
"""A URL that a text cites as its source: after such a word, possibly as a link, or as a footnote; not any other URL."""
_SAYS_TOOL = re.compile(r"\A\W*+(?:from (?:a|the) tool|tool (?:output|result))\b|\(tool output\)", re.IGNORECASE)

KNOWN = "person, agent:<id>, import, import:<what>, web or tool"


def normal(text: str) -> str:
    """An origin in its stored form: lower case, or UNCLEAR if it is malformed."""
    text = text.strip().casefold()
    return text if _FORM.fullmatch(text) else UNCLEAR


def is_trusted(by: str) -> bool:
    """Whether a text was written by or for a person, rather than taken from a web page or a tool's output."""
    return by == PERSON or _OUTSIDE.fullmatch(by) is None


def least_trusted(found: Iterable[str]) -> str:
    """The least trusted of several origins."""
    return min(sorted(found), key=is_trusted)


def line_origin(said: str | None, of_note: str) -> str | None:
    """The origin of a line if it differs from its note's, else None; a line cannot claim more trust than its note."""
    if said is None or said == of_note or _weight(said) > _weight(of_note):
        return None
    return said


def _weight(by: str) -> int:
    """The trust in an origin: a person most, then what was written for them, then the outside."""
    return 2 if by == PERSON else int(is_trusted(by))


def note_origin(properties: Mapping[str, object], path: str) -> str:
    """The origin of a note, in any spelling of `by`; the web if it only names a web page as its `source`.

    A note in an agent's folder has at most the agent's trust, since the agent wrote its properties.
    """
    from vault_memory.markdown.frontmatter import guarded  # a recall reads no properties

    named = [(key, value) for key, value in properties.items() if value not in (None, "")]
    is_page = any(key.casefold() == "source" and _is_page(value) for key, value in named)
    said = next((normal(str(value)) for key, value in named if guarded(key) == "by"), WEB if is_page else PERSON)
    of_folder = "agent:claude-code" if agent_project(path) else PERSON
    return line_origin(said, of_folder) or of_folder


def _is_page(value: object) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_is_page, value))
    return isinstance(value, str) and _PAGE.match(value) is not None


def stored_origin(text: str, by: str) -> str:
    """The origin to store for a text: an import if the text itself says that it came from outside."""
    return "import:web" if _SAYS_WEB.search(text) else "import:tool" if _SAYS_TOOL.search(text) else by


def origin_suffix(by: str) -> str:
    """The suffix for a text from outside, such as ` (from the web)`; "" for a trusted one."""
    if is_trusted(by):
        return ""
    return " (from the web)" if "web" in by else " (tool output)" if "tool" in by else " (origin unclear)"


def older_suffix(successor: str | None, path: str) -> str:
    """The suffix for a superseded line: where its successor is, the line number alone within the same note."""
    if not successor:
        return ""
    other, _, line = successor.rpartition("#")
    return f" ← older; see {line if other == path else f'{link_name(other)}#{line}'}"


def teller_name(by: str) -> str:
    """The display name of an origin: `claude-code` for `agent:claude-code`; "" for a person."""
    return "" if by == PERSON else by.removeprefix("agent:")


_CAPTURED = re.compile(r" — (?:sessions/\S+|\S+\.md)#[mL]\d+$")


def without_citation(text: str) -> str:
    """A statement without the source citation that capture appends to it."""
    return _CAPTURED.sub("", text)
