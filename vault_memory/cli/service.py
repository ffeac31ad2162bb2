"""The background commands: `watch`, which runs the daemon, and `service`, which starts it at login."""

import os
import shlex
import shutil
import sys
from typing import Any

import click

from vault_memory.cli.common import Shared, command
from vault_memory.daemon import service as services
from vault_memory.daemon.service import State, Supervisor
from vault_memory.errors import VaultError
from vault_memory.rendering.common import schema
from vault_memory.text.output import clean


@command("memory watch", short_help="Keep the index up to date and recall fast, until stopped.")
def watch(shared: Shared) -> None:
    """Watch the vault: a saved note is searchable at once, and `memory recall` is answered by this process.

    It runs until stopped (Ctrl-C); `memory service install` starts it automatically.
    """
    from vault_memory.config import load
    from vault_memory.daemon.process import Daemon

    Daemon(load(shared.vault), shared.note).run(loud=shared.verbose)


@command("memory service install", short_help="Keep the index up to date from login on, and reflect at night.")
@click.argument("action", type=click.Choice(["install", "uninstall", "status"]))
@click.option("--print", "only_print", is_flag=True, help="Only show what would be written or deleted.")
@click.option("--kind", type=click.Choice(services.KINDS), help="For systemd, launchd or cron (what this system has).")
def service(shared: Shared, action: str, only_print: bool, kind: str | None) -> None:
    """Install, uninstall or show what starts `memory watch` at login, for this user and vault.

    It keeps the index up to date, and reflects at night.
    """
    from vault_memory.config import load

    config = load(shared.vault)
    if kind is None:
        kind = "launchd" if sys.platform == "darwin" else "systemd" if shutil.which("systemctl") else "cron"
    supervisor = Supervisor(kind, services.target(config.vault, os.environ), os.environ)
    if action == "install" and not config.vault.is_dir():
        raise VaultError(f"The vault {config.vault} is not there.", "Check the path and that its drive is mounted.")
    found, text = _perform(supervisor, action, only_print)
    document = schema("service") | {"vault": str(config.vault), "kind": kind, "units": []} | found
    shared.say(document if shared.json else text)
    if kind == "cron":
        what = {"install": "Add", "uninstall": "Delete", "status": "Look for"}[action]
        shared.note(f"{what} this line with `crontab -e`; nothing was changed.")
    elif action == "install" and any(name.startswith("MEMORY_") and name != "MEMORY_VAULT" for name in os.environ):
        shared.note("A service does not see settings in environment variables: put them into your own config file.")


def _perform(supervisor: Supervisor, action: str, only_print: bool) -> tuple[dict[str, Any], str]:
    target, kind = supervisor.target, supervisor.kind
    if kind == "cron":  # the user's crontab is neither read nor changed
        text = services.service_text(kind, target).rstrip("\n")
        return {"lines": text.splitlines()}, text
    if action == "status":
        state = supervisor.state()
        return {"units": _units(state)}, f"vault  {clean(str(target.vault))}\n{state.name}  {_describe(state)}"
    if action == "install":
        if only_print:
            text, commands = services.service_text(kind, target), list(map(shlex.join, supervisor.commands()))
            files = [{"path": str(supervisor.file), "text": text}]
            shown = "\n".join((f"==> {supervisor.file}\n{text}", "==> then", *commands))
            return {"files": files, "commands": commands}, shown
        written, removed = supervisor.install()
    elif only_print:
        state = supervisor.state()
        deleted = [str(state.path)] if state.installed else []
        return {"removed": deleted}, f"would delete {state.path}" if deleted else "Nothing is installed."
    else:
        written, removed = [], supervisor.uninstall()
    paths = {"written": [str(path) for path in written], "removed": [str(path) for path in removed]}
    lines = [*(f"wrote {path}" for path in written), *(f"deleted {path}" for path in removed)]
    return {"units": _units(supervisor.state())} | paths, "\n".join(lines) or "Nothing changed."


def _units(state: State) -> list[dict[str, Any]]:
    return [state._asdict() | {"path": str(state.path)}]


def _describe(state: State) -> str:
    if not state.installed:
        return "not installed"
    known = [] if state.enabled is None else ["enabled" if state.enabled else "not enabled"]
    known += [] if state.active is None else ["active" if state.active else "not active"]
    known = known or ["cannot tell here whether it is running"]
    return ", ".join(("installed", *known, *(["edited"] if state.edited else [])))
