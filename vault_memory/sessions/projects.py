"""Finds the project that a folder belongs to (settings, else its git root's name), and the scopes open to an asker.

A note names a project by a short name that is the same on every device. On one device only one folder has it: another
of the same name would see what was kept for the first. Who came first is kept in the user's data folder.
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
    """A folder that was met under a name; `inode` is that of the folder, which stays the same where it is moved."""

    name: str
    folder: str
    inode: int


def find_project(folder: Path, config: Config, environ: Mapping[str, str]) -> str:
    """The scope of the project that a folder belongs to, or "" outside of any.

    That is what the user's settings say of the nearest folder above it, else the name of its git root.
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
    """The scope of the project that a folder is: its name's, or one of its own where another has that already."""
    name = identifier(root.name)
    if not name:
        return ""
    try:
        mine = NamedFolder(name, os.path.realpath(root), os.stat(root).st_ino)
        is_first = _is_first(mine, config, environ)
    except OSError:  # who was first cannot be read or kept: rather no project's than another's
        is_first = False
    return f"project:{name}" if is_first else f"project:{name}-{hash_folder(os.path.realpath(root))}"


def list_shared_names(config: Config, environ: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """The names that several folders have which are there, and those folders, the one that was first first."""
    names: dict[str, list[str]] = {}
    for each in _read_folders(config, environ):
        if os.path.isdir(each.folder):
            names.setdefault(each.name, []).append(each.folder)
    yield from ((name, found) for name, found in names.items() if len(found) > 1)


def _is_first(mine: NamedFolder, config: Config, environ: Mapping[str, str]) -> bool:
    known = [each for each in _read_folders(config, environ) if each.name == mine.name]
    if mine.folder not in [each.folder for each in known]:
        # Nothing is ever dropped of that file: the name would go to the next who comes.
        safe_files.append(_file(environ), json.dumps(mine._asdict()).encode())
        # Read anew: another process may have been faster.
        known = [each for each in _read_folders(config, environ) if each.name == mine.name]
    if not known or known[0].folder == mine.folder:
        return bool(known)
    # It may be this one, under another path now; of a drive that is away nobody knows.
    return known[0].inode == mine.inode and not os.path.lexists(known[0].folder)


def _read_folders(config: Config, environ: Mapping[str, str]) -> Iterator[NamedFolder]:
    """The folders that were met, first first, each once, but for those of which the settings say what they are."""
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
    """The folder with the files of a repository that a folder lies in: the nearest with `.git`."""
    return next((place for place in (folder, *folder.parents) if (place / ".git").exists()), None)


def git_root(folder: Path) -> Path | None:
    """The folder of the repository that a folder lies in: of a further worktree, that of the repository itself.

    That must know of the worktree: anybody can write such a file.
    """
    place = checkout(folder)
    if place is None or not (mark := place / ".git").is_file():
        return place
    with contextlib.suppress(OSError, ValueError):  # nothing there, or no path
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
    """A name as it stands in a scope, so that a key of a fact can hold it: `Client A (old)` is `client-a-old`."""
    return re.sub(r"(?:[^\w.-]|-)+", "-", entities.slug(name)).strip("-.")


def hash_folder(folder: str) -> str:
    """What tells a folder from others of its name, in six characters."""
    return hashlib.sha256(os.path.normpath(folder).encode("utf-8", "replace")).hexdigest()[:6]


SCOPE_VARIABLE = "MEMORY_SCOPE"


class Asker(NamedTuple):
    """Who asks: the agent's name, "" for none, and the folder it works in."""

    agent: str = ""
    folder: Path | None = None


def open_scopes(asker: Asker, config: Config, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The scopes that are open to somebody, never none; raises UsageError for a bad one in $MEMORY_SCOPE."""
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
