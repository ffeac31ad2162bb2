"""Owns what an asking agent may see: the scopes of who asks and of where it works."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from vault_memory.config import Config
from vault_memory.errors import UsageError
from vault_memory.retain import normal_scope


class Asker(NamedTuple):
    """Who asks, and the folder they work in."""

    agent: str = ""
    folder: Path | None = None


def scopes(asker: Asker, config: Config, environ: Mapping[str, str]) -> tuple[str, ...]:
    """`global`, the project of the folder, the agent's own, and what `$MEMORY_SCOPE` names; raises UsageError."""
    found = ["global"]
    if asker.folder and (root := _git_root(asker.folder)):
        found.append(f"project:{_slug(root.name)}")
    if asker.agent:
        found.append(f"agent:{_slug(asker.agent)}")
    for text in filter(None, (part.strip() for part in environ.get("MEMORY_SCOPE", "").split(","))):
        scope = normal_scope(text)
        if scope.startswith("custom:") and not text.casefold().startswith("custom:"):
            raise UsageError(f"$MEMORY_SCOPE: `{text}` is not a scope.", "For example project:tern.")
        found.append(scope)
    return tuple(dict.fromkeys(found))


def _git_root(folder: Path) -> Path | None:
    absolute = folder.absolute()
    return next((each for each in (absolute, *absolute.parents) if (each / ".git").exists()), None)


def _slug(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name.casefold()).strip("-")
