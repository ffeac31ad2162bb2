"""The `install` and `uninstall` commands."""

import contextlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vault_memory.cli.common import Shared, command
from vault_memory.errors import UsageError, VaultError, VaultMemoryError
from vault_memory.integrations import settings_paths
from vault_memory.integrations.install import FileChange, Installer, SettingValues, copies, notes_folder, usual_folder
from vault_memory.integrations.settings_paths import InstallPlace
from vault_memory.sessions import projects
from vault_memory.text.output import patch
from vault_memory.text.scope_syntax import AGENT_NOTES

if TYPE_CHECKING:
    from vault_memory.config import Config


TRANSCRIPTS_STAY = {
    "claude-code": "Claude Code deletes the transcripts of its sessions after 30 days.",
    "opencode": "opencode keeps its sessions until you delete them there.",
}
"""How long each agent whose sessions can be read keeps its transcripts."""


def _options(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--dry-run", is_flag=True, help="Only show what would be changed."),
        click.option("--scope", type=click.Choice(settings_paths.SCOPES), default="user",
                     help="For you everywhere (user), or in the current project."),
        click.argument("agent", metavar="AGENT", type=click.Choice(settings_paths.AGENTS)),
    ):  # fmt: skip
        function = option(function)
    return function


@command("memory install claude-code --dry-run", short_help="Connect an agent to this vault: hooks and MCP server.")
@_options
@click.option(
    "--sessions/--no-sessions", default=None, help="Keep what is said in its sessions searchable; asked on a terminal."
)
@click.option(
    "--auto-memory",
    is_flag=True,
    help="Have Claude Code keep its own notes of this project in the vault (with --scope project).",
)
def install(shared: Shared, agent: str, scope: str, dry_run: bool, sessions: bool | None, auto_memory: bool) -> None:
    """Put this vault's hooks and MCP server into an agent's settings; all else in them stays as it is.

    AGENT is claude-code, opencode, claude-desktop, cursor or vscode. Claude Code deletes the transcripts of its
    sessions after 30 days: with --sessions their text is kept in your data folder.
    """
    from vault_memory.config import load
    from vault_memory.daemon import client

    config = load(shared.vault)
    if not config.vault.is_dir():
        raise VaultError(f"The vault {config.vault} is not there.", "Check the path and that its drive is mounted.")
    place = _place(scope)
    if auto_memory and agent != "claude-code":
        raise UsageError("--auto-memory is for Claude Code alone.", "Leave it out.")
    notes = notes_folder(place, config) if auto_memory else None
    installer = _installer(agent, place, config, notes)
    changes = installer.install()
    can_ask = shared.can_ask() and not dry_run
    if notes:
        changes += copies(usual_folder(place), notes)
    keeping = _sessions_settings(agent, config, sessions, can_ask)
    if keeping:
        changes.append(installer.add_settings(keeping, f"{agent} {scope}"))
    if not dry_run:
        installer.apply(changes)
    name = settings_paths.NAMES[agent]
    about = {"agent": agent, "scope": scope, "dry_run": dry_run, "vault": str(config.vault)}
    _report(shared, "install", changes, about)
    if dry_run:
        return
    is_changed = any(change.before != change.after for change in changes)
    if "sessions.tools" in keeping:
        shared.note(f"{TRANSCRIPTS_STAY[agent]} `memory index` keeps their text.")
    is_kept = agent in config.sessions_tools or "sessions.tools" in keeping
    if is_kept and config.capture_vault and config.capture_vault != config.vault:
        other = f"Sessions are captured into {config.capture_vault}, not into this vault"
        shared.note(f"{other}: change `[capture] vault` in your settings if you want that.")
    if scope == "project" and is_changed:
        shared.note("These files hold paths of this computer: keep them out of git.")
    if others := _name_vaults(changes, str(config.vault)):
        shared.note(f"{name} now uses {config.vault} instead of {others}.")
    with contextlib.suppress(VaultMemoryError):  # doctor reports an unreadable index
        if not shared.memory().has_index():
            shared.note("Next: run `memory index`; until then an agent has core memory at most.")
    if is_changed and client.ask(config.vault, "health", {}) is None:
        shared.note("`memory service install` keeps the index up to date in the background.")


@command("memory uninstall claude-code", short_help="Remove from an agent's settings what install added.")
@_options
def uninstall(shared: Shared, agent: str, scope: str, dry_run: bool) -> None:
    """Remove our entries from an agent's settings; whatever else was changed there since stays.

    AGENT is claude-code, opencode, claude-desktop, cursor or vscode.
    """
    installer = _installer(agent, _place(scope), notes=Path(AGENT_NOTES))
    changes = [*installer.uninstall(), *installer.drop_settings(agent, f"{agent} {scope}")]
    if not dry_run:
        installer.apply(changes)
    _report(shared, "uninstall", changes, {"agent": agent, "scope": scope, "dry_run": dry_run})
    if dry_run:
        return
    for change in changes:
        for name in change.others:
            shared.note(f"`{name}` in {change.file} belongs to another program and was left alone.")
        if change.added:
            kept = f"a copy is kept in {installer.backups}"
            shared.note(f"This removed what you had added there: {', '.join(change.added)} ({kept}).")
    if vaults := _name_vaults(changes):
        shared.note(f"{settings_paths.NAMES[agent]} no longer uses {vaults}.")


def _place(scope: str) -> InstallPlace:
    here = Path.cwd()
    return InstallPlace(scope, projects.checkout(here) or here, os.environ)


def _sessions_settings(agent: str, config: "Config", wanted: bool | None, can_ask: bool) -> SettingValues:
    """The settings to add so that an agent's sessions are kept; prompts if no option decides it."""
    if agent not in TRANSCRIPTS_STAY:
        if wanted:
            raise UsageError(f"The sessions of {settings_paths.NAMES[agent]} cannot be read.", "Leave out --sessions.")
        return {}
    if agent in config.sessions_tools or wanted is False or not (wanted or can_ask):
        return {}
    name = settings_paths.NAMES[agent]
    question = f"{TRANSCRIPTS_STAY[agent]} Keep what is said in {name}'s sessions searchable, for you alone?"
    if not (wanted or click.confirm(question, err=True)):
        return {}
    log = "Also list each day's sessions in its daily note, under `## Sessions`?"
    is_logged = can_ask and not config.sessions_log and click.confirm(log, err=True)
    named = {} if config.capture_vault else {"capture.vault": str(config.vault)}
    return {"sessions.tools": [agent], **named, **({"sessions.log": True} if is_logged else {})}


def _installer(agent: str, place: InstallPlace, config: "Config | None" = None, notes: Path | None = None) -> Installer:
    """The installer for a vault; without `config`, one that uninstalls any vault, which may no longer exist."""
    from vault_memory.daemon.service import program

    words = program() if config is None else (*program(), "--vault", str(config.vault))
    try:
        "".join(words).encode("utf-8")
    except UnicodeEncodeError:
        raise UsageError("The vault's path is not UTF-8 and cannot be written to a JSON file.", "Rename it.") from None
    run = settings_paths.Program(words, config.hooks_seconds if config else 0)
    return Installer(settings_paths.target(agent, place, run, notes), os.environ)


def _name_vaults(changes: Sequence[FileChange], but: str = "") -> str:
    """The vaults, other than `but`, that the files named before the change."""
    vaults = {vault for change in changes for vault in change.vaults} - {but}
    return " and ".join(f"the vault {vault}" for vault in sorted(vaults))


def _report(shared: Shared, name: str, changes: Sequence[FileChange], about: dict[str, Any]) -> None:
    from vault_memory.rendering.common import schema

    if shared.json:
        names = ("action", "added", "others")
        files = [
            {"path": str(change.file), "diff": _diff(change)} | {name: getattr(change, name) for name in names}
            for change in changes
        ]
        vaults = sorted({vault for change in changes for vault in change.vaults})
        shared.say(schema(name) | about | {"vaults": vaults, "files": files})
        return
    done = [change for change in changes if change.before != change.after]
    for change in changes:
        if change.action == "kept":
            what = "has changed since it was installed and was left alone: delete it if you do not need it."
            shared.note(f"{change.file} {what}")
    if about["dry_run"]:
        shared.say("".join(map(_diff, done)).rstrip("\n") or "Nothing would be changed.")
        return
    shared.say("\n".join(f"{change.action} {change.file}" for change in done) or "Nothing to do.")
    if done:
        shared.note(f"Restart {settings_paths.NAMES[about['agent']]} for this to take effect.")


def _diff(change: FileChange) -> str:
    return patch(change.before, change.after, str(change.file), str(change.file))
