"""Tells which scopes are open to whoever asks: what is for all, the project at hand, the agent itself.

A hook, a server or `memory context` asks for somebody; on the command line all scopes are open. It reads no note.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from vault_memory.config import Config
from vault_memory.errors import UsageError
from vault_memory.sessions import projects
from vault_memory.text.scope_syntax import GLOBAL, is_scope, normal_scope

VARIABLE = "MEMORY_SCOPE"


class Asker(NamedTuple):
    """Who asks: the agent's name, "" for none, and the folder it works in."""

    agent: str = ""
    folder: Path | None = None


def scopes(asker: Asker, config: Config, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The scopes that are open to somebody, never none; raises UsageError for a bad one in $MEMORY_SCOPE."""
    found = [GLOBAL]
    if asker.folder and (project := projects.of_folder(asker.folder, config, environ)):
        found.append(project)
    if name := projects.identifier(asker.agent):
        found.append(f"agent:{name}")
    return tuple(dict.fromkeys((*found, *_named(environ))))


def _named(environ: Mapping[str, str]) -> list[str]:
    """The scopes that the environment opens besides."""
    given = [text.strip() for text in environ.get(VARIABLE, "").split(",")]
    for text in given:
        if text and not is_scope(text):
            raise UsageError(
                f"${VARIABLE} names `{text}`, which is no scope.",
                "Write global, agent:<id>, project:<id>, user:<id> or custom:<name>, several with commas between.",
            )
    return [normal_scope(text) for text in given if text]
