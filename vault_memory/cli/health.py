"""Owns the commands that look after things: `status`, `doctor`, `lint`."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vault_memory.cli.common import Bar, Shared, command, say_of_index
from vault_memory.health import doctor as doctors
from vault_memory.health import lint as linting
from vault_memory.health import status as state
from vault_memory.health.doctor import Check
from vault_memory.rendering import index, render
from vault_memory.rendering import status as report
from vault_memory.startup import __version__

if TYPE_CHECKING:
    from vault_memory.memory import Memory


@command("memory status", short_help="Show where vault and index are, and whether it is up to date.")
def status(shared: Shared) -> None:
    """Show how things are: vault, index, what it holds, whether it is up to date. Writes nothing."""
    found = shared.ask_daemon("status", {}) or report.status_document(state.status(shared.memory()))
    shared.say(render.dump(found) if shared.json else report.status_text(found))


@command("memory doctor --fix", short_help="Say what is wrong and how to mend it.")
@click.option(
    "--fix",
    is_flag=True,
    help="Rebuild an index that cannot be used; delete vectors whose text is gone, and those of a model that is not the"
    " one it was. Never touches a note.",
)
@click.option(
    "--forget",
    metavar="MODEL|sessions",
    help="Only delete the vectors kept of a model that is not configured now; with `sessions`, the texts of agents'"
    " sessions that are switched off.",
)
def doctor(shared: Shared, fix: bool, forget: str | None) -> None:
    """Look for what commonly goes wrong and say how to mend it."""
    memory = shared.memory()
    checks = (
        [doctors.forget_vectors(memory, forget)]
        if forget
        else [*doctors.doctor(memory, fix), *_agents(memory), *_daemon(shared)]
    )
    shared.say(render.dump(report.doctor_document(checks)) if shared.json else report.doctor_text(checks))
    click.get_current_context().exit(1 if any(check.level == "error" for check in checks) else 0)


def _agents(memory: "Memory") -> Iterator[Check]:
    from vault_memory.health import agents

    yield from agents.checks(memory.config, Path.cwd(), os.environ)


def _daemon(shared: Shared) -> Iterator[Check]:
    """What the daemon cannot do, and what would mend that."""
    health = shared.ask_daemon("health", {})
    if health is None:
        yield Check("daemon", "notice", "none runs: each command looks through the vault itself", "Run `memory watch`.")
        return
    yield Check("daemon", "ok", f"process {health['pid']} answers at {health['socket']}, its log is {health['log']}")
    if health["version"] != __version__:
        what = f"the daemon is version {health['version']}, this is {__version__}: it is not asked"
        yield Check("version", "warning", what, "Stop it and start it again.")
    if health["why"]:
        yield Check("watching", "warning", f"it looks every few seconds: {health['why']}", health["mend"] or "")
    if health["trouble"]:
        what = f"the index is not brought up to date: {health['trouble']['what']}"
        yield Check("upkeep", "error", what, health["trouble"]["mend"])
    if health["settings"]:
        yield Check("settings", "warning", f"the daemon's stay as they were: {health['settings']}", "Mend the file.")


@command("memory lint", short_help="List format problems of the notes.")
def lint(shared: Shared) -> None:
    """List format problems as `path:line: what is wrong`; exits with 1 when there are any."""
    memory = shared.memory()
    with Bar(shared) as bar:
        problems = linting.lint(memory, bar)
    if shared.json:
        shared.say(render.dump(report.lint_document(problems) | render.seen_document(memory.index_state)))
    elif problems:
        shared.say("\n".join(index.problem_line(problem) for problem in problems))
    else:
        shared.note("No findings.")
    say_of_index(shared, memory)
    click.get_current_context().exit(1 if problems else 0)
