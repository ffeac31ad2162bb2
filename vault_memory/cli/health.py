"""The commands that describe and check a vault: `status`, `stats`, `doctor`, `lint`."""

import os
import shutil
from datetime import date
from pathlib import Path

import click

from vault_memory.cli.common import Shared, command, progress_bar, say_from_index
from vault_memory.errors import RefusedError, UsageError, VaultError
from vault_memory.rendering.common import index_state_document
from vault_memory.rendering.status import doctor_document, doctor_text, lint_document, problem_line, status_text
from vault_memory.text.output import clean
from vault_memory.vault.walk import printable


@command("memory status", short_help="Show where the vault and its index are, and whether the index is up to date.")
def status(shared: Shared) -> None:
    """Show where the vault and its index are, what they contain and whether they are up to date. Writes nothing."""
    found = shared.ask("status", {})
    shared.say(found if shared.json else status_text(found))


@command("memory stats --plot", short_help="Show statistics about the vault, and draw them.")
@click.option(
    "--plot", is_flag=False, flag_value="", metavar="[FILE.svg]",
    help="Draw notes, facts and opinions: here, or as an SVG file.",
)  # fmt: skip
def stats(shared: Shared, plot: str | None) -> None:
    """Show statistics about the vault: days, facts, entities, opinions, summaries, recalls, index."""
    from vault_memory.health.stats import stats as count
    from vault_memory.rendering.stats import sparklines, stats_text, svg

    memory = shared.memory()
    with progress_bar(shared) as bar:
        found = count(memory, date.today(), bar)
    file = write_drawing(Path(plot), svg(found, memory.vault.root.name)) if plot else None
    if shared.json:
        seen = index_state_document(memory.index_state)
        found["index"] |= seen.pop("index", {})
        shared.say(found | seen | {"plot": str(file) if file else None})
    elif file:
        shared.say(f"Wrote {clean(str(file))}")
    else:
        shared.say(stats_text(found))
        if plot is not None:
            lines = sparklines(found, shutil.get_terminal_size().columns).split("\n")
            shared.say("\n".join(("", *map(clean, lines))))
    say_from_index(shared, memory)


def write_drawing(file: Path, drawing: str) -> Path:
    """Write a drawing atomically; returns its absolute path.

    Raises UsageError for a name without `.svg`, RefusedError for a symbolic link or a file not written by this program,
    VaultError if reading or writing fails.
    """
    from vault_memory.integrations.install import is_unchanged, replace_file

    target = Path(os.path.realpath(file.parent), file.name)
    shown = printable(str(target))
    if target.suffix.lower() != ".svg":
        raise UsageError(f"{printable(str(file))} is not the name of an SVG file.", "For example --plot stats.svg.")
    try:
        before = target.read_bytes() if os.path.lexists(target) else None
    except OSError as error:
        raise VaultError(f"{shown} cannot be read: {error.strerror}.", "Choose another file.") from error
    if target.is_symlink() or not (before is None or is_unchanged(before)):
        what = "is not a drawing made by this program, or has been changed since: it was left alone."
        raise RefusedError(f"{shown} {what}", "Choose another file, or delete that one.")
    replace_file(target, before, drawing.encode("utf-8"))
    return Path(os.path.abspath(file))


@command("memory doctor --fix", short_help="Check for problems and say how to fix them.")
@click.option(
    "--fix", is_flag=True,
    help="Rebuild an unusable index; delete the vectors of a model that has changed. Never touches a note.",
)  # fmt: skip
@click.option(
    "--forget", type=click.Choice(["sessions"]), help="Only delete the texts of agents' sessions that are switched off."
)
def doctor(shared: Shared, fix: bool, forget: str | None) -> None:
    """Check for common problems and say how to fix them."""
    from vault_memory.daemon import client
    from vault_memory.health import doctor as doctors

    memory = shared.memory(with_problems=not (fix or forget))
    if forget:
        checks = [doctors.forget_sessions(memory)]
    else:
        checks = [*doctors.doctor(memory, fix), *doctors.agent_checks(memory.config, Path.cwd(), os.environ)]
        checks += doctors.daemon_checks(client.ask(memory.config.vault, "health", {}))
    shared.say(doctor_document(checks) if shared.json else doctor_text(checks))
    click.get_current_context().exit(1 if any(check.level == "error" for check in checks) else 0)


@command("memory lint", short_help="List formatting problems in the notes.")
def lint(shared: Shared) -> None:
    """List formatting problems as `path:line: what is wrong`; exits with 1 if there are any."""
    from vault_memory.health.doctor import lint as find_problems

    memory = shared.memory()
    with progress_bar(shared) as bar:
        problems = find_problems(memory, bar)
    result = lint_document(problems) if shared.json else "\n".join(map(problem_line, problems))
    say_from_index(shared, memory, result, "No problems found.")
    click.get_current_context().exit(1 if problems else 0)
