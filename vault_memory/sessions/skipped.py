"""Decides which sessions the user keeps out of capture, by their project or folder."""

import os
from collections.abc import Iterable
from pathlib import Path

from vault_memory.config import Config
from vault_memory.sessions import projects
from vault_memory.startup import OFF_FILE


class SkippedSessions:
    """Decides which sessions to skip: those whose project or folder (or a parent) is named in the settings, or whose
    folder, repository root or a parent of either contains an OFF_FILE.

    `marked` are the folders seen with an OFF_FILE; a mark persists while its drive is unmounted or its folder is gone.
    """

    def __init__(self, config: Config, marked: Iterable[str]) -> None:
        self.marked = set(marked)
        self._names = {one.removeprefix("project:") for one in config.capture_skip}
        self._folders = {os.path.realpath(os.path.expanduser(one)) for one in config.capture_skip if os.sep in one}

    def hold(self, scope: str, folder: str) -> bool:
        """Whether to skip a session with this scope that began in this folder."""
        names, off, place = {scope.removeprefix("project:")}, [False], Path(folder)
        if place.is_absolute():
            is_there = place.is_dir()
            names |= set() if is_there else set(map(projects.identifier, place.parts))  # its project cannot be known
            places = (*_upwards(place), *_upwards(projects.git_root(place) or place))
            off = [self._is_off(one, is_there) for one in places]  # no short circuit: each call updates the marks
        return any(off) or not names.isdisjoint(self._names)

    def _is_off(self, place: str, is_there: bool) -> bool:
        """Whether a folder is excluded; `is_there`: the session's folder exists, so the drive is mounted."""
        if os.path.lexists(os.path.join(place, OFF_FILE)):
            self.marked.add(place)
        elif is_there:
            self.marked.discard(place)
        return place in self.marked or place in self._folders


def _upwards(folder: Path) -> list[str]:
    """A folder and its parents, both as given and with links resolved."""
    real = Path(os.path.realpath(folder))
    return list(dict.fromkeys(map(str, (folder, *folder.parents, real, *real.parents))))
