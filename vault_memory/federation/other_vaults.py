"""Owns the further vaults of the user's settings: which there are, what they are called, whose notes they hold.

They are read and never written: an index of theirs lies in the user's data folder. Each has a scope, and whoever may
not see that sees nothing in it: a note there may be shut to more, and opens itself to nobody.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from vault_memory.config import Config, user_folder
from vault_memory.markdown import entities
from vault_memory.search.answer import Result
from vault_memory.sessions import projects
from vault_memory.text.scope_syntax import GLOBAL, UNREADABLE_SCOPE, normal_scope

PREFIX = "roots/"
UNDER = (".claude", "memory")
"""Where a project keeps what an agent learnt of it."""


class Further(NamedTuple):
    """One further vault: its name in citations, its folder, and the scope of all that is in it."""

    name: str
    path: Path
    scope: str

    def is_open(self, scopes: Sequence[str]) -> bool:
        """Whether its own scope is among these, or none are asked for: else nothing in it is, whatever its notes say.

        A note with another scope needs that one, too.
        """
        return not scopes or self.scope in scopes


def found(config: Config, environ: Mapping[str, str]) -> list[Further]:
    """The further vaults that the settings name, and those found below the parents they name; the vault is none."""
    roots: list[Further] = []
    seen = {os.path.realpath(config.vault)}
    for path, scope in (*config.roots, *((path, "") for path in _below(config.roots_under))):
        real = os.path.realpath(path)
        if real in seen:
            continue
        seen.add(real)
        scope = normal_scope(scope) if scope else _project(path, config, environ)
        roots.append(Further(_name(path, {root.name for root in roots}), path, scope))
    return roots


def config_of(root: Further, config: Config, environ: Mapping[str, str]) -> Config:
    """The settings of a further vault: the vault's own, but for where it is and what is left out."""
    index = user_folder("data", environ) / "roots"
    return replace(
        config, vault=root.path, index_path=index, ignore=(), folder_scopes=(("", root.scope),), core_files=(),
        ignored=(), unknown=(), sources=(),
    )  # fmt: skip


def told(root: Further, result: Result) -> Result:
    """A result of that vault as it is told outside."""
    prefix = f"{PREFIX}{root.name}/"
    after = result.superseded_by and prefix + result.superseded_by
    return result._replace(
        path=prefix + result.path, root=root.name, superseded_by=after,
        header_tokens=result.header_tokens + prefix_tokens(prefix),
        citation_tokens=result.citation_tokens + (prefix_tokens(prefix) if after else 0),
    )  # fmt: skip


def prefix_tokens(prefix: str) -> int:
    """The most that a prefix costs where it is printed: a token holds a byte at the least."""
    return len(prefix.encode())


def inner(name: str, roots: Sequence[Further]) -> tuple[Further, str] | None:
    """The further vault, and the path in it, that `roots/<name>/<path>` names."""
    if not name.startswith(PREFIX):
        return None
    root, _, path = name.removeprefix(PREFIX).partition("/")
    return next(((each, path) for each in roots if each.name == root and path), None)


def _below(parents: Sequence[Path]) -> Iterator[Path]:
    for parent in parents:
        try:
            names = sorted(entry.name for entry in os.scandir(parent) if entry.is_dir())
        except OSError:
            continue  # doctor's business
        for path in (parent.joinpath(*UNDER), *(parent.joinpath(name, *UNDER) for name in names)):
            if path.is_dir():
                yield path


def _owner(path: Path) -> Path:
    """The folder a further vault belongs to: the project of its `.claude/memory`, else itself."""
    return path.parent.parent if path.parts[-2:] == UNDER else path


def _project(path: Path, config: Config, environ: Mapping[str, str]) -> str:
    owner = _owner(path)
    if own := projects.of_folder(owner, config, environ):
        return own
    # A project's own memory without a repository around it is nobody else's, either.
    return projects.of_root(owner, config, environ) or UNREADABLE_SCOPE if owner != path else GLOBAL


def _name(path: Path, taken: set[str]) -> str:
    base = entities.slug(_owner(path).name) or "root"
    name, number = base, 1
    while name in taken:
        number += 1
        name = f"{base}-{number}"
    return name
