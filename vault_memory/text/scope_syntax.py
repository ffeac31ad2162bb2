"""The syntax of scopes: their form and normalisation, and the folder keys they are configured under. Pure."""

import re
import unicodedata

GLOBAL = "global"
UNREADABLE_SCOPE = "custom:unreadable"
"""The scope of text that was meant to be private but does not say for whom: no caller requests it by chance."""

SCOPES = "global, agent:<id>, project:<id>, user:<id> or custom:<name>"
NO_SCOPE = f"is none of {SCOPES}: no agent sees it"
"""The message for an invalid scope."""
_SCOPE_FORM = re.compile(r"global|(?:agent|project|user|custom):\S+")

Folders = tuple[tuple[str, str], ...]
"""The configured (folder, scope) pairs, each folder as returned by `folder_key`."""


def normal_scope(text: str) -> str:
    """A scope in its stored form; an unknown form becomes `custom:<text>`, so that a typo never widens access.

    Case is ignored after the colon: a folder is one project, however its name is capitalised.
    """
    text = text.strip()
    kind, colon, name = text.partition(":")
    return f"{kind}{colon}{name.casefold()}" if is_scope(text) else f"custom:{text.casefold()}"


def is_scope(text: str) -> bool:
    """Whether a text is a well-formed scope."""
    return _SCOPE_FORM.fullmatch(text) is not None


AGENT_NOTES = "agents/claude-code"
"""Where Claude Code's own notes are in a vault, one folder per project; the notes themselves name no scope."""


def agent_project(path: str) -> str:
    """The project of an agent's own note, from the folder it is in; "" for any other note."""
    inside = folder_key(path).removeprefix(f"{AGENT_NOTES}/")
    name, slash, _ = inside.partition("/")
    return name if slash and inside != folder_key(path) else ""


def folder_key(path: str) -> str:
    """A folder normalised for comparison: case and accent encoding are ignored, since a mismatch would expose it."""
    key = unicodedata.normalize("NFC", path.strip().removeprefix("./").strip("/")).casefold()
    return "" if key == "." else key
