"""What every call needs before the settings are read: words that options accept, the user's folders, which vault.

It imports next to nothing, and paths are text: each question to a daemon comes this way, and pathlib and the settings
would cost half as much as Python itself.
"""

import os
import sys
from collections.abc import Mapping

MODES = ("auto", "hybrid", "lexical", "semantic")
PRESETS = ("tuned", "weighted", "classic", "rrf")
FORMATS = ("markdown", "json", "xml")
NOTES, SESSIONS = "notes", "sessions"
STALE_SOURCE = "stale_source"
"""The problem of an answer that another vault's index is missing or behind."""

SOURCES = (NOTES, SESSIONS, "all")
TOOLS = ("claude-code", "opencode", "openclaw")
"""Whose sessions can be a source."""

REFLECTED = ("entities", "opinions", "summaries", "proposals")
"""What a reflect can be limited to."""

__version__ = "0.1.0"

APP = "vault-memory"
MARKERS = (".memory", ".obsidian")

_VARIABLES = ("OLLAMA_HOST", "TZ", "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")


def user_folder(kind: str, environ: Mapping[str, str]) -> str:
    """The user's `config`, `data` or `state` folder for this program, following each system's custom."""
    home = environ.get("HOME") or os.path.expanduser("~")
    xdg = environ.get(f"XDG_{kind.upper()}_HOME")
    if xdg and os.path.isabs(xdg):
        return os.path.join(xdg, APP)
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support", APP)
    if sys.platform == "win32":
        return os.path.join(environ.get("APPDATA") or os.path.join(home, "AppData", "Roaming"), APP)
    return os.path.join(
        home, *{"config": [".config"], "state": [".local", "state"]}.get(kind, [".local", "share"]), APP
    )


def named_vault(flag: str | None, environ: Mapping[str, str], cwd: str) -> str | None:
    """The vault's folder by flag, $MEMORY_VAULT or the nearest marked parent; None where the settings must name it."""
    named = flag or environ.get("MEMORY_VAULT")
    if named:
        return os.path.join(cwd, os.path.expanduser(named))
    folder = cwd
    while not any(os.path.isdir(os.path.join(folder, marker)) for marker in MARKERS):
        if folder == os.path.dirname(folder):
            return None
        folder = os.path.dirname(folder)
    return folder


def vault_id(root: str | os.PathLike[str]) -> str:
    """12 hex digits of the SHA-256 of the vault's real path."""
    import hashlib

    return hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:12]


def relevant_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that an answer may depend on."""
    return {name: value for name, value in environ.items() if name in _VARIABLES or name.startswith("MEMORY_")}
