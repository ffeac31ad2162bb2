"""Who a text is from, and whether that is to be trusted: the values of `by=` and of the property `by`. Pure.

`person` wrote it unless something else is said; `web` and `tool` came from outside, and so did an import of those. What
cannot be read is trusted by nobody.
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
"""An address that a text cites as where it is from: named so, as a link too, or as a footnote; not any it tells of."""
_SAYS_TOOL = re.compile(r"\A\W*+(?:from (?:a|the) tool|tool (?:output|result))\b|\(tool output\)", re.IGNORECASE)

KNOWN = "person, agent:<id>, import, import:<what>, web or tool"


def normal(text: str) -> str:
    """Who a text is from as it is stored: in small letters; UNCLEAR where it is none of the forms."""
    text = text.strip().casefold()
    return text if _FORM.fullmatch(text) else UNCLEAR


def is_trusted(by: str) -> bool:
    """Whether a text is a person's own, or was written for them: not from a web page or a tool's output."""
    return by == PERSON or _OUTSIDE.fullmatch(by) is None


def least_trusted(found: Iterable[str]) -> str:
    """Of several that a text may be from, the one who is trusted least."""
    return min(sorted(found), key=is_trusted)


def line_origin(said: str | None, of_note: str) -> str | None:
    """Who a line is from where that is not what its note says; no line claims more than its note does."""
    if said is None or said == of_note or _weight(said) > _weight(of_note):
        return None
    return said


def _weight(by: str) -> int:
    """How much the word of somebody counts: a person's most, then what was written for them, then the outside."""
    return 2 if by == PERSON else int(is_trusted(by))


def note_origin(properties: Mapping[str, object], path: str) -> str:
    """Who a note is from, however the property is called; the web where it only names a page as its source.

    A note in an agent's folder is the agent's at most: what it says of itself, the agent wrote.
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
    """Who a text is from that somebody stores: an import where it says itself that it came from outside."""
    return "import:web" if _SAYS_WEB.search(text) else "import:tool" if _SAYS_TOOL.search(text) else by


def origin_suffix(by: str) -> str:
    """What is written behind a text that came from outside: ` (from the web)`, or nothing."""
    if is_trusted(by):
        return ""
    return " (from the web)" if "web" in by else " (tool output)" if "tool" in by else " (origin unclear)"


def older_suffix(successor: str | None, path: str) -> str:
    """What is written behind a superseded line: where its successor stands, in its own note the line alone."""
    if not successor:
        return ""
    other, _, line = successor.rpartition("#")
    return f" ← older; see {line if other == path else f'{link_name(other)}#{line}'}"


def teller_name(by: str) -> str:
    """What somebody who is no person is called: `claude-code` for `agent:claude-code`; "" for a person."""
    return "" if by == PERSON else by.removeprefix("agent:")


_CAPTURED = re.compile(r" — (?:sessions/\S+|\S+\.md)#[mL]\d+$")


def without_citation(text: str) -> str:
    """A statement without the message or line that it was captured from, which capture puts at its end."""
    return _CAPTURED.sub("", text)
