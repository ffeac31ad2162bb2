"""Finds the project a folder belongs to (from the settings, else its git root's name) and the scopes open to a caller.

Notes refer to a project by a short name that is the same on every device. On one device only one folder gets that name,
or a second folder of the same name would see the first one's notes. The user's data folder records who came first.
"""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from vault_memory import startup
from vault_memory.config import Config
from vault_memory.errors import UsageError
from vault_memory.markdown import entities
from vault_memory.text.scope_syntax import GLOBAL, is_scope, normal_scope
from vault_memory.vault import safe_files

_POINTS_TO = re.compile(r"gitdir:[ \t]*(.+?)[ \t]*\Z")
_FILE = "projects.jsonl"


class NamedFolder(NamedTuple):
    """A folder seen under a project name; its `inode` survives a move."""

    name: str
    folder: str
    inode: int


def find_project(folder: Path, config: Config, environ: Mapping[str, str]) -> str:
    """The scope of the project a folder belongs to, or "" if none.

    The settings' entry for the folder or its nearest mapped parent, else the name of its git root.
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
    return name_project(root, config, environ) if root else ""


def name_project(root: Path, config: Config, environ: Mapping[str, str]) -> str:
    """The scope of a project's root folder: its name, with a hash appended if another folder already has that name."""
    name = identifier(root.name)
    if not name:
        return ""
    try:
        mine = NamedFolder(name, os.path.realpath(root), os.stat(root).st_ino)
        is_first = _is_first(mine, config, environ)
    except OSError:  # the record cannot be read or written: better a scope of its own than another project's
        is_first = False
    return f"project:{name}" if is_first else f"project:{name}-{hash_folder(os.path.realpath(root))}"


def list_shared_names(config: Config, environ: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """The names that several existing folders share, each with those folders, first come first."""
    names: dict[str, list[str]] = {}
    for each in _read_folders(config, environ):
        if os.path.isdir(each.folder):
            names.setdefault(each.name, []).append(each.folder)
    yield from ((name, found) for name, found in names.items() if len(found) > 1)


def _is_first(mine: NamedFolder, config: Config, environ: Mapping[str, str]) -> bool:
    known = [each for each in _read_folders(config, environ) if each.name == mine.name]
    if mine.folder not in [each.folder for each in known]:
        # Entries are never dropped: the name would pass to the next comer.
        safe_files.append(_file(environ), json.dumps(mine._asdict()).encode())
        # Read again: another process may have been faster.
        known = [each for each in _read_folders(config, environ) if each.name == mine.name]
    if not known or known[0].folder == mine.folder:
        return bool(known)
    # The first folder may be this one, moved. On an unmounted drive the two cases cannot be told apart.
    return known[0].inode == mine.inode and not os.path.lexists(known[0].folder)


def _read_folders(config: Config, environ: Mapping[str, str]) -> Iterator[NamedFolder]:
    """The recorded folders, first come first, each once, without those that the settings map."""
    mapped = dict(config.projects)
    seen: set[str] = set()
    try:
        data = _file(environ).read_bytes()
    except FileNotFoundError:
        return
    for line in data.splitlines():
        try:
            fields = json.loads(line)
            found = NamedFolder(str(fields["name"]), str(fields["folder"]), int(fields["inode"]))
        except (ValueError, KeyError, TypeError):
            continue  # empty, or cut off
        if found.folder not in seen and found.folder not in mapped:
            seen.add(found.folder)
            yield found


def _file(environ: Mapping[str, str]) -> Path:
    return Path(startup.user_folder("data", environ)) / _FILE


# --- repositories and names ------------------------------------------------------------------------------------------


def checkout(folder: Path) -> Path | None:
    """The working tree a folder is in: the nearest folder with `.git`, itself or a parent."""
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), None)


def git_root(folder: Path) -> Path | None:
    """The root of the repository a folder is in; for a linked worktree, the root of the main one.

    The main repository must list the worktree, since anybody can write a `.git` file that points to it.
    """
    place = checkout(folder)
    if place is None or not (mark := place / ".git").is_file():
        return place
    with contextlib.suppress(OSError, ValueError):  # missing, or not a path
        said = _POINTS_TO.match(_read(mark))
        entry = (place / said[1]).resolve() if said else mark
        is_entry = entry.parent.name == "worktrees" and entry.parent.parent.name == ".git"
        if is_entry and Path(_read(entry / "gitdir")).resolve() == mark.resolve():
            return entry.parent.parent.parent
    return place


def _read(file: Path) -> str:
    with startup.open_regular(file) as opened:
        return opened.read(4096).decode("utf-8", "replace").strip()


def identifier(name: str) -> str:
    """A name as used in a scope, safe within the key of a fact: `Client A (old)` becomes `client-a-old`."""
    return re.sub(r"(?:[^\w.-]|-)+", "-", entities.slug(name)).strip("-.")


def hash_folder(folder: str) -> str:
    """Six hex digits that distinguish a folder from others of the same name."""
    return hashlib.sha256(os.path.normpath(folder).encode("utf-8", "replace")).hexdigest()[:6]


SCOPE_VARIABLE = "MEMORY_SCOPE"


class Asker(NamedTuple):
    """The caller: the agent's name, "" for none, and its working directory."""

    agent: str = ""
    folder: Path | None = None


def open_scopes(asker: Asker, config: Config, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The scopes open to a caller, always including global; raises UsageError for a bad one in $MEMORY_SCOPE."""
    found = [GLOBAL]
    if asker.folder and (project := find_project(asker.folder, config, environ)):
        found.append(project)
    if name := identifier(asker.agent):
        found.append(f"agent:{name}")
    for text in filter(None, map(str.strip, environ.get(SCOPE_VARIABLE, "").split(","))):
        if not is_scope(text):
            raise UsageError(
                f"${SCOPE_VARIABLE} names `{text}`, which is not a scope.",
                "Write global, agent:<id>, project:<id>, user:<id> or custom:<name>, several with commas between.",
            )
        found.append(normal_scope(text))
    return tuple(dict.fromkeys(found))
