"""What doctor says of agents: which have which vault, with a program that is there, and whole; whose hooks failed.

It looks at the user's own settings of each agent and at those of the project at hand. Of another vault it knows nothing
but the path that stands there.
"""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence, Set
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

FAILED_DAYS = 7
"""What failed longer ago is told no more."""


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
        """The command lines of ours."""
        return [words for file in self.files for words in file.commands.values()]

    def command(self, name: str) -> str:
        """The command that installs or uninstalls it."""
        return f"`memory {name} {self.agent}{' --scope project' if self.scope == 'project' else ''}`"


def checks(config: Config, folder: Path, environ: Mapping[str, str]) -> Iterator[Check]:
    """What there is to say of each agent that has a vault, seen from a folder."""
    looked_at = list(_installations(projects.checkout(folder) or folder, config.hooks_seconds, environ))
    for found in looked_at:
        if not found.commands:
            continue
        same = [other for other in looked_at if other.agent == found.agent]
        present = {label for other in same for file in other.files for label in file.commands}
        off = {file for other in same for file in other.switched_off}
        amiss = [
            *_program_checks(found), *_vault_checks(found, config.vault), *_settings_checks(found, off),
            *_missing_checks(found, present),
        ]  # fmt: skip
        yield from amiss or [Check("agents", "ok", f"{found.name} has this vault")]
    yield from _log_checks(config.vault, environ)


def _installations(project: Path, seconds: float, environ: Mapping[str, str]) -> Iterator[Installation]:
    """What each agent has, in each scope; some have nothing."""
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


def _program_checks(found: Installation) -> Iterator[Check]:
    for program in sorted({words[0] for words in found.commands}):
        if os.path.isabs(program) and not os.access(program, os.X_OK):
            what = f"{found.name} starts {_in_a_line(program)}, which is not there"
            yield Check("agents", "warning", what, f"{found.command('install')} names the program that runs now.")


def _vault_checks(found: Installation, mine: Path) -> Iterator[Check]:
    for vault in sorted({settings_edit.vault(words) for words in found.commands} - {""}):
        if not os.path.isdir(vault):
            what = f"{found.name} has the vault {_in_a_line(vault)}, which is not there"
            mend = f"Mount its drive, or {found.command('install')} puts this one in its place."
            yield Check("agents", "warning", what, mend)
        elif os.path.realpath(vault) != os.path.realpath(mine):
            what = f"{found.name} has the vault {_in_a_line(vault)}, not this one"
            yield Check("agents", "notice", what, f"{found.command('install')} puts this one in its place.")


def _settings_checks(found: Installation, off: Set[Path]) -> Iterator[Check]:
    """Why an agent may run nothing of what stands in its settings."""
    for file in sorted(off):
        where = _in_a_line(str(file))
        what = f"{found.name} runs no hooks: `{settings_paths.HOOKS_OFF}` in {where} switches them off"
        yield Check("agents", "warning", what, "Take that out of it, to be told what your notes say.")
    for state in found.files:
        if state.commands and state.problem:
            where = _in_a_line(f"{state.file}, {state.problem}")
            what = f"{found.name} may skip a whole file of its settings: {where}"
            yield Check("agents", "warning", what, f"{PLAIN}.")


def _missing_checks(found: Installation, present: Set[str]) -> Iterator[Check]:
    """What is missing of what an install puts in; `present` is what another scope's settings have, too."""
    missing = [label for file in found.files for label in file.missing if label not in present]
    if not missing:
        return
    what = f"{found.name} has it half: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
    mend = f"{found.command('install')} puts it in, {found.command('uninstall')} takes out the rest."
    closed = [f"{file.file} cannot be edited: {file.problem}" for file in found.files if file.missing and file.problem]
    if closed:
        what, mend = f"{what}, and {_in_a_line(' and '.join(closed))}", f"{PLAIN}; then {mend}"
    yield Check("agents", "warning", what, mend)


def _in_a_line(path: str) -> str:
    """A path as a project's file may have it, which is no line of doctor's."""
    return " ".join(path.split())


def _log_checks(vault: Path, environ: Mapping[str, str]) -> Iterator[Check]:
    """What a vault's hooks said last, where that is a failure."""
    since = datetime.now(UTC) - timedelta(days=FAILED_DAYS)
    failed = [line for line in hook_log.last_failures(str(vault), environ) if line.at >= since]
    if failed:
        at, who, why = failed[-1]
        times = f", {len(failed)} times in {FAILED_DAYS} days" if len(failed) > 1 else ""
        log = hook_log.folder(environ) / hook_log.NAME
        what = f"{who} failed last on {at.astimezone():%Y-%m-%d %H:%M}{times}: {why}"
        faster = "`memory service install` has hooks answered faster; " if why.startswith(hook_log.TOO_LATE) else ""
        yield Check("hooks", "warning", what, f"{faster}{log} tells more.")
