"""Owns what doctor says of scopes: folders of the settings that are not there, names that several projects have."""

import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from vault_memory.config import Config
from vault_memory.sessions import projects
from vault_memory.text.scope_syntax import folder_key
from vault_memory.vault.walk import Walk


class Remark(NamedTuple):
    """What should be known, and how it is mended."""

    message: str
    mend: str


def remarks(config: Config, walk: Walk, environ: Mapping[str, str] = os.environ) -> Iterator[Remark]:
    """What may open or shut more than was meant."""
    paths = [f"{folder_key(path)}/" for path in walk.files] if config.folder_scopes else []
    for folder, scope in config.folder_scopes:
        if folder and not any(path.startswith(f"{folder}/") for path in paths):
            yield Remark(f"`scopes.{folder}` ({scope}) names a folder without notes", "Mend its name, if it is one.")
    for name, found in projects.shared(config, environ):
        others = ", ".join(f"{folder} is project:{name}-{projects.digest(folder)}" for folder in found[1:])
        yield Remark(
            f"{len(found)} folders are called {name}: {found[0]} is project:{name}, {others}",
            "Say in `[projects]` of your own settings which project each is.",
        )
