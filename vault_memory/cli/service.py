"""Owns the `service` command."""

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import click

from vault_memory.cli.common import Shared, command
from vault_memory.daemon import service as made
from vault_memory.daemon.supervisor import State, Supervisor
from vault_memory.errors import VaultError
from vault_memory.rendering import render


@command("memory service install", short_help="Have the vault looked after by itself: at login and at night.")
@click.argument("action", type=click.Choice(["install", "uninstall", "status"]))
@click.option("--print", "only_print", is_flag=True, help="Only show what would be written or deleted.")
@click.option("--kind", type=click.Choice(made.KINDS), help="For systemd, launchd or cron (what this system has).")
def service(shared: Shared, action: str, only_print: bool, kind: str | None) -> None:
    """Install, uninstall or show what starts `memory watch` at login and the nightly work, for this user and vault."""
    from vault_memory.config import load

    config = load(shared.vault)
    kind = kind or _usual()
    supervisor = Supervisor(kind, made.target(config.vault, config.reflect_at, os.environ), os.environ)
    if action == "install" and not config.vault.is_dir():
        raise VaultError(f"The vault {config.vault} is not there.", "Check the path and that its drive is mounted.")
    if kind == "cron":
        _cron(shared, supervisor, action)
    elif action == "status":
        _status(shared, supervisor)
    elif only_print:
        _print(shared, supervisor, action)
    elif action == "install":
        _install(shared, supervisor)
    else:
        _uninstall(shared, supervisor)


def _usual() -> str:
    if sys.platform == "darwin":
        return "launchd"
    return "systemd" if shutil.which("systemctl") else "cron"


def _cron(shared: Shared, supervisor: Supervisor, action: str) -> None:
    """A person's crontab is theirs: it is neither read nor changed."""
    lines = made.cron(supervisor.target)
    if shared.json:
        shared.say(render.dump(_document(supervisor, []) | {"lines": lines.splitlines()}))
        return
    shared.say(lines.rstrip("\n"))
    what = {"install": "Add these lines", "uninstall": "Delete these lines", "status": "Look for these lines"}[action]
    shared.note(f"{what} with `crontab -e`; nothing was changed.")


def _print(shared: Shared, supervisor: Supervisor, action: str) -> None:
    if action == "uninstall":
        files = [state.path for state in supervisor.states() if state.installed]
        if shared.json:
            shared.say(render.dump(_document(supervisor, []) | {"removed": [str(path) for path in files]}))
        else:
            shared.say("\n".join(f"would delete {path}" for path in files) or "Nothing is installed.")
        return
    units = made.units(supervisor.kind, supervisor.target, os.environ)
    commands = supervisor.commands(units)
    if shared.json:
        files_made = [{"path": str(unit.path), "text": unit.text} for unit in units]
        shared.say(render.dump(_document(supervisor, []) | {"files": files_made, "commands": commands}))
        return
    shared.say("\n".join(f"==> {unit.path}\n{unit.text}" for unit in units))
    shared.say("\n".join(("==> then", *commands)))


def _install(shared: Shared, supervisor: Supervisor) -> None:
    units = made.units(supervisor.kind, supervisor.target, os.environ)
    written, removed = supervisor.install(units)
    _say_done(shared, supervisor, written, removed)
    if any(name.startswith("MEMORY_") and name != "MEMORY_VAULT" for name in os.environ):
        shared.note("Settings in environment variables are not seen by a service: put them into your own config file.")


def _uninstall(shared: Shared, supervisor: Supervisor) -> None:
    _say_done(shared, supervisor, [], supervisor.uninstall())


def _say_done(shared: Shared, supervisor: Supervisor, written: list[Path], removed: list[Path]) -> None:
    if shared.json:
        done = {"written": [str(path) for path in written], "removed": [str(path) for path in removed]}
        shared.say(render.dump(_document(supervisor, supervisor.states()) | done))
        return
    lines = [*(f"wrote {path}" for path in written), *(f"deleted {path}" for path in removed)]
    shared.say("\n".join(lines) or "Nothing changed.")


def _status(shared: Shared, supervisor: Supervisor) -> None:
    states = supervisor.states()
    if shared.json:
        shared.say(render.dump(_document(supervisor, states)))
        return
    width = max(len(state.name) for state in states)
    lines = [f"{state.name:{width}}  {_words(state)}" for state in states]
    shared.say("\n".join((f"vault  {render.clean(str(supervisor.target.vault))}", *lines)))


def _words(state: State) -> str:
    if not state.installed:
        return "not installed"
    words = {True: ("enabled", "active"), False: ("not enabled", "not active")}
    known = [
        words[bool(is_so)][place] for place, is_so in enumerate((state.enabled, state.active)) if is_so is not None
    ]
    known = known or ["whether it runs cannot be asked here"]
    return ", ".join(("installed", *known, *(["edited"] if state.edited else [])))


def _document(supervisor: Supervisor, states: list[State]) -> dict[str, Any]:
    units = [state._asdict() | {"path": str(state.path)} for state in states]
    return render.schema("service") | {"vault": str(supervisor.target.vault), "kind": supervisor.kind, "units": units}
