"""The `index` command."""

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import click

from vault_memory import startup
from vault_memory.cli.common import Shared, command, progress_bar
from vault_memory.config import load
from vault_memory.errors import NoVaultError, RefusedError, UsageError
from vault_memory.integrations.install import add_user_settings, replace_file
from vault_memory.memory import Memory
from vault_memory.rendering.common import schema
from vault_memory.rendering.status import backfill_text, index_document, index_text, problem_line, sessions_text
from vault_memory.text.output import clean, plural


@command("memory index --rebuild", short_help="Update the index, or rebuild it.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--rebuild", is_flag=True, help="Build a new index and swap it in.")
@click.option("--check", is_flag=True, help="Compare the index with a fresh build, by digest.")
def index(shared: Shared, paths: tuple[str, ...], rebuild: bool, check: bool) -> None:
    """Update the index from the vault, or from PATHs in it; no note is changed."""
    if check and (rebuild or paths):
        raise click.UsageError("--check cannot be combined with PATH or --rebuild.")
    if not (paths or check):
        shared = _with_vault(shared)
    memory = shared.memory()
    with progress_bar(shared) as bar:
        if check:
            _check(shared, *memory.check(bar))
            return
        report = memory.index(paths, rebuild=rebuild, progress=bar)
    root = memory.vault.root
    gone = [path for path in paths if not (os.path.lexists(path) or os.path.lexists(root / path))]
    if gone and not (report.removed or report.failed):
        where = f"Name notes or folders by their paths in {root}."
        raise UsageError(clean(f"There is no {' and no '.join(gone)}."), where)
    if not (shared.json or shared.quiet):
        shared.say(index_text(report))  # before embedding, which may take long
    if not paths:
        for name, done in memory.refresh_further_vaults():
            shared.note(clean(f"{name}: {done if isinstance(done, Exception) else index_text(done)}"))
    with progress_bar(shared, "Reading", "transcripts") as bar:
        swept = None if paths else memory.refresh_sessions(bar)
    if swept and not (shared.json or shared.quiet):
        shared.say(sessions_text(swept))
    with progress_bar(shared, "Embedding", "passages") as bar:
        filled = memory.backfill(bar)
    if shared.json:
        shared.say(index_document(report, filled, swept))
    elif filled and (filled.stopped or not shared.quiet):
        click.echo(backfill_text(filled), err=shared.quiet)
    if shared.quiet and not shared.json:
        for problem in report.failed:
            click.echo(problem_line(problem), err=True)
    if shared.vault and not paths:
        _remember(shared, root)
    click.get_current_context().exit(1 if report.failed else 0)


def _with_vault(shared: Shared) -> Shared:
    """The options; if no vault is configured and the user agrees, with the current folder as the vault."""
    try:
        load(shared.vault)
    except NoVaultError as error:
        if not error.folder or not shared.can_ask():
            raise
        notes = plural(len(Memory(error.folder).vault.walk().notes), "note")
        if not click.confirm(f"Use {error.folder} with its {notes} as your vault?", default=True, err=True):
            raise
        return replace(shared, vault=error.folder)
    return shared


def _remember(shared: Shared, root: Path) -> None:
    """Add a vault that has no marker (its index is elsewhere) to the user's settings, so that it is found again."""
    if startup.named_vault(None, os.environ, str(root)):
        return
    with suppress(RefusedError):  # another vault is set there, or the file must not be changed
        change = add_user_settings(os.environ, {"vault.path": str(root)})
        if change.before != change.after:
            replace_file(change.file, change.before, change.after)
            shared.note(f"From now on this is your vault everywhere (set in {change.file}).")


def _check(shared: Shared, mine: str, fresh: str) -> None:
    same = mine == fresh
    if shared.json:
        shared.say(schema("index-check") | {"same": same, "digest": mine, "fresh_digest": fresh})
    elif same:
        shared.say(f"The index equals a fresh build (digest {mine[:12]}).")
    else:
        shared.say("The index differs from a fresh build: run `memory index --rebuild`, and please report it.")
    click.get_current_context().exit(0 if same else 1)
