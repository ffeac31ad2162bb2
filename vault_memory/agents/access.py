"""Owns who is asking, and which scopes that opens: what is for all, the project at hand, the agent itself.

A hook, a server or `memory context` asks for somebody; on the command line all scopes are open. It reads no note.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from vault_memory.config import Config
from vault_memory.errors import UsageError
from vault_memory.notes import entities, retain
from vault_memory.notes.scopes import GLOBAL

VARIABLE = "MEMORY_SCOPE"

_POINTS_TO = re.compile(r"gitdir:[ \t]*(.+?)[ \t]*\Z")


class Asker(NamedTuple):
    """Who asks: the agent's name, "" for none, and the folder it works in."""

    agent: str = ""
    folder: Path | None = None


def scopes(asker: Asker, config: Config, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The scopes that are open to somebody, never none; raises UsageError for a bad one in $MEMORY_SCOPE."""
    found = [GLOBAL]
    if asker.folder and (project := project_of(asker.folder, config)):
        found.append(project)
    if name := identifier(asker.agent):
        found.append(f"agent:{name}")
    return tuple(dict.fromkeys((*found, *_named(environ))))


def _named(environ: Mapping[str, str]) -> list[str]:
    """The scopes that the environment opens besides."""
    given = [text.strip() for text in environ.get(VARIABLE, "").split(",")]
    for text in given:
        if text and not retain.is_scope(text):
            raise UsageError(
                f"${VARIABLE} names `{text}`, which is no scope.",
                "Write global, agent:<id>, project:<id>, user:<id> or custom:<name>, several with commas between.",
            )
    return [retain.normal_scope(text) for text in given if text]


def project_of(folder: Path, config: Config) -> str:
    """The scope of the project that a folder belongs to, or "" outside of any.

    That is what the user's settings say of the nearest folder above it, else the name of its git root.
    Two repositories of one name are one project unless the settings say otherwise: a note names it by that name.
    """
    try:
        here = folder.expanduser().absolute()
        places = list(dict.fromkeys((here, *here.parents, *(resolved := here.resolve(),), *resolved.parents)))
    except (OSError, RuntimeError):  # a loop of links, or no home
        return ""
    mapped = dict(config.projects)
    for place in places:
        if str(place) in mapped:
            return mapped[str(place)]
    root = git_root(here)
    name = identifier(root.name) if root else ""
    return f"project:{name}" if name else ""


def git_root(folder: Path) -> Path | None:
    """The folder of the repository that a folder lies in: of a further worktree, that of the repository itself."""
    for place in (folder, *folder.parents):
        mark = place / ".git"
        if mark.is_dir():
            return place
        if mark.is_file():
            return _of_worktree(mark) or place
    return None


def _of_worktree(mark: Path) -> Path | None:
    """The repository that a worktree says it belongs to, where that knows of it: anybody can write such a file."""
    try:
        said = _POINTS_TO.match(_read(mark))
        entry = (mark.parent / said[1]).resolve() if said else mark
        is_entry = entry.parent.name == "worktrees" and entry.parent.parent.name == ".git"
        knows_it = is_entry and Path(_read(entry / "gitdir")).resolve() == mark.resolve()
    except (OSError, ValueError):  # nothing there, or no path
        return None
    return entry.parent.parent.parent if knows_it else None


def _read(file: Path) -> str:
    with open(file, "rb") as opened:
        return opened.read(4096).decode("utf-8", "replace").strip()


def identifier(name: str) -> str:
    """A name as it stands in a scope, so that a key of a fact can hold it: `Client A (old)` is `client-a-old`."""
    return re.sub(r"(?:[^\w.-]|-)+", "-", entities.slug(name)).strip("-.")
