"""Owns who a text is from, and whether that is to be trusted: the values of `by=` and of the property `by`. Pure.

`person` wrote it unless something else is said; `agent:<id>` and `import[:what]` are told apart and trusted; `web` and
`tool` came from outside, and so did an import of those. What cannot be read is trusted by nobody: a slip must never
make more of a text than it is.
"""

import re
from collections.abc import Mapping

PERSON, UNCLEAR = "person", "unclear"

_FORM = re.compile(r"person|web|tool|import(?::[^\s,()]+)?|agent:[^\s,()]+")
_OUTSIDE = re.compile(r"(?:import:)?(?:web|tool).*|unclear")

KNOWN = "person, agent:<id>, import, import:<what>, web or tool"


def normal(text: str) -> str:
    """Who a text is from as it is stored: in small letters; UNCLEAR where it is none of the forms."""
    text = text.strip().casefold()
    return text if _FORM.fullmatch(text) else UNCLEAR


def is_trusted(by: str) -> bool:
    """Whether a text is a person's own, or was written for them: not from a web page or a tool's output."""
    return by == PERSON or _OUTSIDE.fullmatch(by) is None


def own(said: str | None, of_note: str) -> str | None:
    """Who a line is from where that is not what its note says: a note from outside holds nothing that may be trusted.

    A page that was saved from the web may say of its own lines that a person wrote them.
    """
    if said is None or said == of_note or (is_trusted(said) and not is_trusted(of_note)):
        return None
    return said


def of_properties(properties: Mapping[str, object]) -> str:
    """Who a note is from, whatever the case of the property's name."""
    found = [value for key, value in properties.items() if key.casefold() == "by" and value not in (None, "")]
    return normal(str(found[0])) if found else PERSON


def mark(by: str) -> str:
    """What is written behind a text that came from outside: ` (from the web)`, or nothing."""
    if is_trusted(by):
        return ""
    return " (from the web)" if "web" in by else " (tool output)" if "tool" in by else " (origin unclear)"
