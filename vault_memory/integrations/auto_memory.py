"""Moves Claude Code's own notes of a project into the vault: its folder there, and copies of what it wrote before.

The setting goes into `.claude/settings.local.json`: Claude Code 2.1 reads it there and, in a trusted folder, in
`settings.json` too, which is meant for git; earlier versions take it from the former alone.
"""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from vault_memory import startup
from vault_memory.config import Config
from vault_memory.errors import RefusedError, UsageError
from vault_memory.integrations.install import FileChange
from vault_memory.integrations.settings_paths import InstallPlace
from vault_memory.sessions import projects
from vault_memory.text.scope_syntax import AGENT_NOTES

LARGEST_NOTE_BYTES = 1 << 20
"""Claude Code reads 25 kB of an index and a topic at a time: what is larger than this is no note of its."""


def notes_folder(place: InstallPlace, config: Config) -> Path:
    """Where the notes of a place's project go; raises UsageError where it is none, RefusedError for a link."""
    if place.is_user:
        raise UsageError("--auto-memory is for one project.", "Add --scope project, in the project's folder.")
    name = projects.find_project(place.project, config, place.environ).removeprefix("project:")
    if not name or projects.identifier(name) != name:
        what = f"{place.project} is no project with a name that a folder can have."
        raise UsageError(what, "Run this in a git repository, or name the folder in `[projects]` of your settings.")
    folder = config.vault / AGENT_NOTES / name
    if not Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(config.vault)):
        raise RefusedError(f"{folder} leads out of the vault by a link.", "Delete the link, and run again.")
    return folder


def usual_folder(place: InstallPlace) -> Path:
    """Where Claude Code keeps the notes of a place's project unless a setting says otherwise."""
    root = os.path.realpath(projects.git_root(place.project) or place.project)
    return place.claude_folder / "projects" / re.sub(r"[^A-Za-z0-9]", "-", root) / "memory"


def copies(source: Path, target: Path) -> list[FileChange]:
    """What copies the notes below a folder to another, and overwrites none that is there; links are not followed."""
    found = []
    for file in sorted(_notes(source)):
        copy = target / file.relative_to(source)
        if not os.path.lexists(copy):
            found.append(FileChange(copy, None, startup.read_regular(file, LARGEST_NOTE_BYTES)))
    return found


def _notes(source: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(source):
        for name in names:
            file = Path(folder, name)
            status = file.lstat()
            if name.endswith(".md") and stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST_NOTE_BYTES:
                yield file
