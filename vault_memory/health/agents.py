"""Owns what doctor says of agents: which have which vault, with a program that is there, and whole; whose hooks failed.

It looks at the user's own settings of each agent and at those of the project at hand. Of another vault it knows nothing
but the path that stands there.
"""

import contextlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from vault_memory.agents import hook_log
from vault_memory.config import Config
from vault_memory.errors import UsageError, VaultMemoryError
from vault_memory.health.doctor import Check
from vault_memory.integrations import agentfiles, entries, jsontext, settings_files, switches
from vault_memory.integrations.jsontext import NotJsonError
from vault_memory.integrations.settings_files import Script, Settings, Switch, Target
from vault_memory.sessions import projects

FAILED_DAYS = 7
"""What failed longer ago is told no more."""

_COMMAND = re.compile(r"^const COMMAND = (\[.*\])$", re.M)


class Installed(NamedTuple):
    """What stands in an agent's settings: our command lines, and what of ours is missing beside them."""

    agent: str
    scope: str
    commands: Sequence[Sequence[str]]
    present: Sequence[str]
    missing: Sequence[str]
    unread: Sequence[str] = ()
    """What its program does not read in a file that has ours: `FILE, line 2: a comment, which …`."""
    closed: Sequence[str] = ()
    """Files that lack some of ours, and what an install would refuse them for: `FILE cannot be edited: …`."""
    off: Sequence[Switch] = ()
    taken: Sequence[str] = ()
    """What is missing beside files that cannot be edited, where they alone have ours: an uninstall had to leave it."""

    @property
    def name(self) -> str:
        return settings_files.NAMES[self.agent] + (" in this project" if self.scope == "project" else "")

    @property
    def mend(self) -> str:
        """The command that puts this vault in place."""
        return self._command("install")

    @property
    def undo(self) -> str:
        """The command that takes all of it out."""
        return self._command("uninstall")

    def _command(self, name: str) -> str:
        return f"`memory {name} {self.agent}{' --scope project' if self.scope == 'project' else ''}`"


def checks(config: Config, folder: Path, environ: Mapping[str, str]) -> Iterator[Check]:
    """What there is to say of each agent that has a vault, seen from a folder."""
    looked_at = list(_installed(projects.checkout(folder) or folder, config.hooks_seconds, environ))
    installed = [found for found in looked_at if found.commands]
    for found in installed:
        there = {part for other in installed if other.agent == found.agent for part in other.present}
        missing = [part for part in found.missing if part not in there]
        if set(missing) & set(found.taken):
            yield _of_left_over(found)
            continue
        off = {switch for other in looked_at if other.agent == found.agent for switch in other.off}
        amiss = [*_of_program(found), *_of_vault(found, config.vault), *_of_settings(found, off)]
        if missing:
            amiss.append(_of_missing(found, missing))
        yield from amiss or [Check("agents", "ok", f"{found.name} has this vault")]
    yield from _of_log(config.vault, environ)


def _of_left_over(found: Installed) -> Check:
    what = f"{found.name} has only {', '.join(found.present)}, left over in {_in_a_line(' and '.join(found.unread))}"
    return Check("agents", "warning", what, f"{jsontext.PLAIN}; then {found.undo} takes that out.")


def _of_missing(found: Installed, missing: Sequence[str]) -> Check:
    what = f"{found.name} has it half: {', '.join(missing)} {_verb(missing)} missing"
    if not found.closed:
        return Check("agents", "warning", what, f"{found.mend} puts it in.")
    why = _in_a_line(" and ".join(found.closed))
    return Check("agents", "warning", f"{what}, and {why}", f"{jsontext.PLAIN}; then {found.mend} puts it in.")


def _verb(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _in_a_line(path: str) -> str:
    """A path as a project's file may have it, which is no line of doctor's."""
    return " ".join(path.split())


def _of_program(found: Installed) -> Iterator[Check]:
    for program in sorted({words[0] for words in found.commands}):
        if os.path.isabs(program) and not os.access(program, os.X_OK):
            what = f"{found.name} starts {_in_a_line(program)}, which is not there"
            yield Check("agents", "warning", what, f"{found.mend} names the program that runs now.")


def _of_vault(found: Installed, mine: Path) -> Iterator[Check]:
    for vault in sorted({entries.vault(words) for words in found.commands} - {""}):
        if not os.path.isdir(vault):
            what = f"{found.name} has the vault {_in_a_line(vault)}, which is not there"
            yield Check("agents", "warning", what, f"Mount its drive, or {found.mend} puts this one in its place.")
        elif os.path.realpath(vault) != os.path.realpath(mine):
            what = f"{found.name} has the vault {_in_a_line(vault)}, not this one"
            yield Check("agents", "notice", what, f"{found.mend} puts this one in its place.")


def _of_settings(found: Installed, off: Set[Switch]) -> Iterator[Check]:
    """Why an agent may run nothing of what stands in its settings."""
    for switch in sorted(off):
        what = f"{found.name} runs no hooks: `{switch.name}` in {_in_a_line(str(switch.file))} switches them off"
        yield Check("agents", "warning", what, "Take that out of it, to be told what your notes say.")
    for where in found.unread:
        what = f"{found.name} may skip a whole file of its settings: {_in_a_line(where)}"
        yield Check("agents", "warning", what, f"{jsontext.PLAIN}.")


def _of_log(vault: Path, environ: Mapping[str, str]) -> Iterator[Check]:
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


# --- what is installed -----------------------------------------------------------------------------------------------


def _installed(project: Path, seconds: float, environ: Mapping[str, str]) -> Iterator[Installed]:
    """What each agent has, in each scope; some have nothing."""
    program = settings_files.Program((entries.NAME,), seconds)
    for agent in settings_files.AGENTS:
        seen: set[str] = set()
        for scope in settings_files.SCOPES:
            with contextlib.suppress(UsageError):  # it has no such scope
                target = settings_files.target(agent, settings_files.Place(scope, project, environ), program)
                files = {os.path.realpath(settings.file) for settings in target.settings}
                found = _of_target(agent, scope, target) if not files & seen else None
                seen |= files  # in the user's home the two scopes have files in common
                if found:
                    yield found


def _of_target(agent: str, scope: str, target: Target) -> Installed:
    commands: list[Sequence[str]] = []
    present: list[str] = []
    missing: list[str] = []
    unread: list[str] = []
    closed: list[str] = []
    taken: list[str] = []
    stuck: list[str] = []
    for settings in target.settings:
        found, stumbles = _commands(settings, target.within)
        unread += [f"{settings.file}, {stumbles}"] if found and stumbles else []
        commands += found.values()
        present += found
        lacking = [entry.label for entry in settings.entries if entry.label not in found]
        missing += lacking
        closed += [f"{settings.file} cannot be edited: {stumbles}"] if lacking and stumbles else []
        taken += lacking if not stumbles else []
        stuck += found if stumbles else []
    for script in target.scripts:
        if "command" in script.values:
            words = _command(script, target.within)
            commands += [words] if words else []
            (present if words else missing).append(script.file.name)
    taken = taken if stuck == present else []
    return Installed(agent, scope, commands, present, missing, unread, closed, switches.off(target), taken)


def _commands(settings: Settings, within: Path | None) -> tuple[dict[str, Sequence[str]], NotJsonError | None]:
    """The command lines of ours in a settings file by what they are for; none where it cannot be read. And what it
    cannot be edited for."""
    with contextlib.suppress(VaultMemoryError):
        text = agentfiles.text(*agentfiles.read(settings.file, within)) or ""
        text = text if text.strip() else "{}"
        try:
            found = entries.commands(text, settings.entries, comments=True)
        except NotJsonError as error:
            return {}, error
        return {entry.label: words for entry, words in found}, jsontext.unread(text, settings.comments)
    return {}, None


def _command(script: Script, within: Path | None) -> list[str]:
    """The command line that a plugin of ours runs; none where there is none."""
    with contextlib.suppress(VaultMemoryError, ValueError, RecursionError):
        found = _COMMAND.search(agentfiles.text(*agentfiles.read(script.file, within)) or "")
        words = json.loads(found[1]) if found else []
        return words if entries.is_program(words) else []
    return []
