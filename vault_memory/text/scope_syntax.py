"""Scopes as they are written: the form of one, how it is stored, and which folders of a vault have one. Pure."""

import re
import unicodedata

GLOBAL = "global"
UNREADABLE_SCOPE = "custom:unreadable"
"""What was meant to be private and does not say for whom: nobody asks for it by chance."""

SCOPES = "global, agent:<id>, project:<id>, user:<id> or custom:<name>"
NO_SCOPE = f"is none of {SCOPES}: no agent sees it"
"""What is to be said of a scope that is none."""
_SCOPE_FORM = re.compile(r"global|(?:agent|project|user|custom):\S+")

Folders = tuple[tuple[str, str], ...]
"""(folder as `folder_key` gives it, its scope): what a configuration says of folders."""


def normal_scope(text: str) -> str:
    """A scope as it is stored; an unknown form becomes `custom:<text>`, so that a typing slip never widens access.

    Behind the colon capitals play no part: a folder is one project, however its name is written.
    """
    text = text.strip()
    kind, colon, name = text.partition(":")
    return f"{kind}{colon}{name.casefold()}" if is_scope(text) else f"custom:{text.casefold()}"


def is_scope(text: str) -> bool:
    """Whether a text is a scope as it should be written."""
    return _SCOPE_FORM.fullmatch(text) is not None


AGENT_NOTES = "agents/claude-code"
"""Where Claude Code's own notes lie in a vault, a folder for each project: they do not say whose they are."""


def agent_project(path: str) -> str:
    """The project whose notes an agent keeps in the folder that a note lies in; "" for any other note."""
    inside = folder_key(path).removeprefix(f"{AGENT_NOTES}/")
    name, slash, _ = inside.partition("/")
    return name if slash and inside != folder_key(path) else ""


def folder_key(path: str) -> str:
    """A folder as it is compared: capitals and the way accents are written play no part, a slip would open it."""
    key = unicodedata.normalize("NFC", path.strip().removeprefix("./").strip("/")).casefold()
    return "" if key == "." else key
