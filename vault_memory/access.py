"""Owns who may see what: the scopes of whoever asks, from an agent's name, a working directory, `$MEMORY_SCOPE`."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from vault_memory.config import Config
from vault_memory.entities import slug
from vault_memory.retain import normal_scope


class Asker(NamedTuple):
    """Who asks: an agent by name, and the folder it works in."""

    agent: str = ""
    folder: Path | None = None


def scopes(asker: Asker, config: Config, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The scopes that this asker may see; never empty."""
    found = ["global"]
    root = (
        next((f for f in (asker.folder, *asker.folder.parents) if (f / ".git").exists()), None)
        if asker.folder
        else None
    )
    if root:
        found.append(f"project:{slug(root.name)}")
    if asker.agent:
        found.append(f"agent:{asker.agent}")
    found += [normal_scope(part) for part in environ.get("MEMORY_SCOPE", "").split(",") if part.strip()]
    return tuple(dict.fromkeys(found))
