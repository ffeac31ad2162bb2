"""Owns who is asking, and the scopes that are open to them: everyone's, the project's they work in, their own."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from vault_memory import entities
from vault_memory.config import Config
from vault_memory.errors import UsageError
from vault_memory.retain import normal_scope


class Asker(NamedTuple):
    """An agent ("" where nobody knows which) and the folder it works in."""

    agent: str = ""
    folder: Path | None = None


def scopes(asker: Asker, config: Config, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The scopes open to one who asks; raises UsageError for one in $MEMORY_SCOPE that is none."""
    found = ["global"]
    root = _git_root(asker.folder) if asker.folder else None
    if root and (name := entities.slug(root.name)):
        found.append(f"project:{name}")
    if asker.agent:
        found.append(f"agent:{asker.agent}")
    for named in filter(None, re.split(r"[\s,]+", environ.get("MEMORY_SCOPE", ""))):
        if normal_scope(named) != named:
            raise UsageError(f"$MEMORY_SCOPE: `{named}` is not a scope.", "For example project:garden.")
        found.append(named)
    return tuple(dict.fromkeys(found))


def _git_root(folder: Path) -> Path | None:
    return next((parent for parent in (folder, *folder.parents) if (parent / ".git").exists()), None)
