"""The `index` command."""

import os

import click

from vault_memory.cli.common import Bar, Shared, command
from vault_memory.rendering.common import clean, dump, schema
from vault_memory.rendering.status import backfill_text, index_document, index_text, problem_line, sessions_text


@command("memory index --rebuild", short_help="Update the index, or rebuild it.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--rebuild", is_flag=True, help="Build a new index and swap it in.")
@click.option("--check", is_flag=True, help="Compare the index with a fresh build, by digest.")
def index(shared: Shared, paths: tuple[str, ...], rebuild: bool, check: bool) -> None:
    """Update the index from the vault, or from PATHs in it; no note is changed."""
    if check and (rebuild or paths):
        raise click.UsageError("--check cannot be combined with PATH or --rebuild.")
    memory = shared.memory()
    with Bar(shared) as bar:
        if check:
            _check(shared, *memory.check(bar))
            return
        report = memory.index(paths, rebuild=rebuild, progress=bar)
    if not (shared.json or shared.quiet):
        shared.say(index_text(report))  # before the vectors: they may take long
    if not paths:
        for name, done in memory.refresh_further_vaults():
            shared.note(clean(f"{name}: {done if isinstance(done, Exception) else index_text(done)}"))
    with Bar(shared, "Reading", "transcripts") as bar:
        swept = None if paths else memory.refresh_sessions(bar)
    if swept and not (shared.json or shared.quiet):
        shared.say(sessions_text(swept))
    with Bar(shared, "Embedding", "passages") as bar:
        filled = memory.backfill(bar)
    if shared.json:
        shared.say(dump(index_document(report, filled, swept)))
    elif not shared.quiet:
        if filled:
            shared.say(backfill_text(filled))
    else:
        if filled and filled.stopped:
            click.echo(backfill_text(filled), err=True)
        for problem in report.failed:
            click.echo(problem_line(problem), err=True)
    root = memory.vault.root
    gone = [path for path in paths if not (os.path.lexists(path) or os.path.lexists(root / path))]
    if gone and not report.removed:
        shared.note(f"There is no {' and no '.join(gone)}.")
    click.get_current_context().exit(1 if report.failed else 0)


def _check(shared: Shared, mine: str, fresh: str) -> None:
    same = mine == fresh
    if shared.json:
        shared.say(dump(schema("index-check") | {"same": same, "digest": mine, "fresh_digest": fresh}))
    elif same:
        shared.say(f"The index equals a fresh build (digest {mine[:12]}).")
    else:
        shared.say("The index differs from a fresh build: run `memory index --rebuild`, and please report it.")
    click.get_current_context().exit(0 if same else 1)
