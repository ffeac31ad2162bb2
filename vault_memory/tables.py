"""Owns the tables of the settings whose keys are folders: `[scopes]` of the vault's, `[projects]` of the user's. Pure.

    [scopes]
    "Work/Client A" = "project:client-a"
    [projects]
    "~/src/client-a" = "client-a"

Law 8: a vault may make its own folders private, opens none, and says nothing of folders outside it.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from vault_memory import checks
from vault_memory.markdown import scopes

SCOPES, PROJECTS = "scopes.", "projects."

USER, VAULT = "user", "vault"
"""Whose file a problem stands in."""


class Taken(NamedTuple):
    """What a settings file has in the two tables."""

    scopes: Mapping[str, Any]
    projects: Mapping[str, Any]


class Maps(NamedTuple):
    """What the tables of both files come to; `problems` are (whose file, what), `ignored` what a vault may not say."""

    folders: scopes.Folders
    projects: tuple[tuple[str, str], ...]
    problems: list[tuple[str, str]]
    ignored: list[str]


def taken(flat: Mapping[str, Any]) -> Taken:
    """The tables of a file whose keys are flat (config.py)."""

    def of(table: str) -> dict[str, Any]:
        return {key.removeprefix(table): value for key, value in flat.items() if key.startswith(table)}

    return Taken(of(SCOPES), of(PROJECTS))


def read(user: Taken, vault: Taken) -> Maps:
    """The maps of the user's file and of what the vault's may add."""
    problems: list[tuple[str, str]] = []
    own = _folders(user.scopes, USER, problems)
    folders, refused = scopes.joined(own, _folders(vault.scopes, VAULT, problems))
    ignored = [
        f"`scopes.{name}` is ignored: a vault opens no folder, nor one that you have a scope for" for name in refused
    ]
    ignored += [f"`projects.{name}` is ignored: a vault may not set it" for name in vault.projects]
    projects = _each(user.projects, (PROJECTS, USER), checks.project, problems)
    paths = {str(Path(name).expanduser().absolute()): scope for name, scope in projects.items()}
    return Maps(folders, tuple(sorted(paths.items())), problems, ignored)


def _folders(table: Mapping[str, Any], whose: str, problems: list[tuple[str, str]]) -> scopes.Folders:
    found: dict[str, str] = {}
    for name, scope in _each(table, (SCOPES, whose), checks.scope, problems).items():
        try:
            key = scopes.folder_key(checks.folder(name))
        except ValueError as error:
            problems.append((whose, f"`{SCOPES}{name}` {error}"))
            continue
        if found.setdefault(key, scope) != scope:
            problems.append((whose, f"`{SCOPES}{name}` is there twice, with two scopes: capitals play no part"))
    return tuple(sorted(found.items()))


def _each(
    table: Mapping[str, Any], where: tuple[str, str], check: Callable[[Any], str], problems: list[tuple[str, str]]
) -> dict[str, str]:
    found = {}
    for name, value in table.items():
        try:
            found[name] = check(value)
        except ValueError as error:
            problems.append((where[1], f"`{where[0]}{name}` {error}"))
    return found
