"""What doctor says of agents: which vault each uses, whether it is installed whole, whose hooks failed."""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from vault_memory.config import Config
from vault_memory.errors import UsageError
from vault_memory.health.doctor import Check
from vault_memory.integrations import hook_log, install, settings_edit, settings_paths
from vault_memory.integrations.install import FileState
from vault_memory.integrations.settings_edit import PLAIN
from vault_memory.sessions import projects

FAILURE_DAYS = 7
"""Failures longer ago are not mentioned."""


class Installation(NamedTuple):
    """What one agent's files have of ours in one scope, and the files that switch its hooks off."""

    agent: str
    scope: str
    files: Sequence[FileState]
    switched_off: Sequence[Path] = ()

    @property
    def name(self) -> str:
        return settings_paths.NAMES[self.agent] + (" in this project" if self.scope == "project" else "")

    @property
    def commands(self) -> list[Sequence[str]]:
        return [words for file in self.files for words in file.commands.values()]

    def command(self, name: str) -> str:
        return f"`memory {name} {self.agent}{' --scope project' if self.scope == 'project' else ''}`"


def checks(config: Config, folder: Path, environ: Mapping[str, str]) -> Iterator[Check]:
    """What there is to say of each agent that has a vault, seen from a folder."""
    looked_at = list(_installations(projects.checkout(folder) or folder, config.hooks_seconds, environ))
    for found in looked_at:
        if found.commands:
            same = [other for other in looked_at if other.agent == found.agent]
            amiss = [*_target_checks(found, config.vault), *_settings_checks(found, same)]
            yield from amiss or [Check("agents", "ok", f"{found.name} uses this vault")]
    since = datetime.now(UTC) - timedelta(days=FAILURE_DAYS)
    failed = [line for line in hook_log.last_failures(str(config.vault), environ) if line.at >= since]
    if failed:
        at, who, how, why = failed[-1]
        times = f", {len(failed)} times in {FAILURE_DAYS} days" if len(failed) > 1 else ""
        faster = "`memory service install` makes hooks faster. " if how == hook_log.TOO_LATE else ""
        log = hook_log.folder(environ) / hook_log.NAME
        what = f"{who} last failed on {at.astimezone():%Y-%m-%d %H:%M}{times}: {why}"
        yield Check("hooks", "warning", what, f"{faster}See {log} for more.")


def _installations(project: Path, seconds: float, environ: Mapping[str, str]) -> Iterator[Installation]:
    program = settings_paths.Program((settings_edit.NAME,), seconds)
    for agent in settings_paths.AGENTS:
        seen: set[str] = set()
        for scope in settings_paths.SCOPES:
            with contextlib.suppress(UsageError):  # it has no such scope
                target = settings_paths.target(agent, settings_paths.InstallPlace(scope, project, environ), program)
                files = {os.path.realpath(settings.file) for settings in target.settings}
                if not files & seen:  # in the user's home the two scopes have files in common
                    yield Installation(agent, scope, install.inspect(target), install.switched_off(target))
                seen |= files


def _target_checks(found: Installation, mine: Path) -> Iterator[Check]:
    """Which program and which vault an agent's settings name."""
    install = found.command("install")
    for program in sorted({words[0] for words in found.commands}):
        if os.path.isabs(program) and not os.access(program, os.X_OK):
            what = f"{found.name} starts {_in_a_line(program)}, which does not exist"
            yield Check("agents", "warning", what, f"{install} sets the program you are running now.")
    for vault in sorted({settings_edit.find_vault(words) for words in found.commands} - {""}):
        if not os.path.isdir(vault):
            what = f"{found.name} uses the vault {_in_a_line(vault)}, which does not exist"
            yield Check("agents", "warning", what, f"Mount its drive, or switch to this vault with {install}.")
        elif os.path.realpath(vault) != os.path.realpath(mine):
            what = f"{found.name} uses the vault {_in_a_line(vault)}, not this one"
            yield Check("agents", "notice", what, f"{install} switches it to this one.")


def _settings_checks(found: Installation, same: Sequence[Installation]) -> Iterator[Check]:
    """Why an agent may run nothing of what stands in its settings; `same` are all installations of that agent."""
    for file in sorted({file for other in same for file in other.switched_off}):
        what = f"{found.name} runs no hooks: `{settings_paths.HOOKS_OFF}` in {_in_a_line(str(file))} switches them off"
        yield Check("agents", "warning", what, "Remove that setting to let it see your notes.")
    for state in found.files:
        if state.commands and state.problem:
            where = _in_a_line(f"{state.file}, {state.problem}")
            yield Check("agents", "warning", f"{found.name} may ignore a whole settings file: {where}", f"{PLAIN}.")
    present = {label for other in same for file in other.files for label in file.commands}
    missing = [label for file in found.files for label in file.missing if label not in present]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        what = f"{found.name} is only partly installed: {', '.join(missing)} {verb} missing"
        fix = f"{found.command('install')} adds what is missing, {found.command('uninstall')} removes the rest."
        yield Check("agents", "warning", what, fix)


def _in_a_line(path: str) -> str:
    """A path as a project's file may have it, which is no line of doctor's."""
    return " ".join(path.split())
