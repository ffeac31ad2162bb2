"""The `service` command."""

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import click

from vault_memory.cli.common import Shared, command
from vault_memory.daemon import service as services
from vault_memory.daemon.service import State, Supervisor
from vault_memory.errors import VaultError
from vault_memory.rendering.common import clean, dump, schema


@command("memory service install", short_help="Have the vault looked after by itself: at login and at night.")
@click.argument("action", type=click.Choice(["install", "uninstall", "status"]))
@click.option("--print", "only_print", is_flag=True, help="Only show what would be written or deleted.")
@click.option("--kind", type=click.Choice(services.KINDS), help="For systemd, launchd or cron (what this system has).")
def service(shared: Shared, action: str, only_print: bool, kind: str | None) -> None:
    """Install, uninstall or show what starts `memory watch` at login and the nightly work, for this user and vault."""
    from vault_memory.config import load

    config = load(shared.vault)
    if kind is None:
        kind = "launchd" if sys.platform == "darwin" else "systemd" if shutil.which("systemctl") else "cron"
    supervisor = Supervisor(kind, services.target(config.vault, config.reflect_at, os.environ), os.environ)
    if action == "install" and not config.vault.is_dir():
        raise VaultError(f"The vault {config.vault} is not there.", "Check the path and that its drive is mounted.")
    if kind == "cron":
        _show_cron(shared, supervisor, action)
    elif action == "status":
        _show_status(shared, supervisor)
    elif only_print:
        (_show_uninstall if action == "uninstall" else _show_install)(shared, supervisor)
    else:
        written: list[Path] = []
        if action == "install":
            written, removed = supervisor.install(services.units(kind, supervisor.target, os.environ))
        else:
            removed = supervisor.uninstall()
        paths = {"written": [str(path) for path in written], "removed": [str(path) for path in removed]}
        lines = [*(f"wrote {path}" for path in written), *(f"deleted {path}" for path in removed)]
        states = supervisor.states() if shared.json else []
        _say(shared, _document(supervisor, states) | paths, "\n".join(lines) or "Nothing changed.")
        if action == "install" and any(name.startswith("MEMORY_") and name != "MEMORY_VAULT" for name in os.environ):
            what = "Settings in environment variables are not seen by a service"
            shared.note(f"{what}: put them into your own config file.")


def _say(shared: Shared, document: dict[str, Any], text: str) -> None:
    shared.say(dump(document) if shared.json else text)


def _show_cron(shared: Shared, supervisor: Supervisor, action: str) -> None:
    """A person's crontab is theirs: it is neither read nor changed."""
    lines = services.cron(supervisor.target)
    _say(shared, _document(supervisor, []) | {"lines": lines.splitlines()}, lines.rstrip("\n"))
    what = {"install": "Add these lines", "uninstall": "Delete these lines", "status": "Look for these lines"}[action]
    shared.note(f"{what} with `crontab -e`; nothing was changed.")


def _show_uninstall(shared: Shared, supervisor: Supervisor) -> None:
    files = [state.path for state in supervisor.states() if state.installed]
    text = "\n".join(f"would delete {path}" for path in files) or "Nothing is installed."
    _say(shared, _document(supervisor, []) | {"removed": [str(path) for path in files]}, text)


def _show_install(shared: Shared, supervisor: Supervisor) -> None:
    units = services.units(supervisor.kind, supervisor.target, os.environ)
    commands = supervisor.commands(units)
    files = [{"path": str(unit.path), "text": unit.text} for unit in units]
    text = "\n".join((*(f"==> {unit.path}\n{unit.text}" for unit in units), "==> then", *commands))
    _say(shared, _document(supervisor, []) | {"files": files, "commands": commands}, text)


def _show_status(shared: Shared, supervisor: Supervisor) -> None:
    states = supervisor.states()
    width = max(len(state.name) for state in states)
    lines = [f"{state.name:{width}}  {_words(state)}" for state in states]
    text = "\n".join((f"vault  {clean(str(supervisor.target.vault))}", *lines))
    _say(shared, _document(supervisor, states), text)


def _words(state: State) -> str:
    if not state.installed:
        return "not installed"
    known = [] if state.enabled is None else ["enabled" if state.enabled else "not enabled"]
    known += [] if state.active is None else ["active" if state.active else "not active"]
    known = known or ["whether it runs cannot be asked here"]
    return ", ".join(("installed", *known, *(["edited"] if state.edited else [])))


def _document(supervisor: Supervisor, states: list[State]) -> dict[str, Any]:
    units = [state._asdict() | {"path": str(state.path)} for state in states]
    return schema("service") | {"vault": str(supervisor.target.vault), "kind": supervisor.kind, "units": units}
