"""Owns the `index` command."""

import os

import click

from vault_memory.cli.common import Bar, Shared, command
from vault_memory.rendering import index as indexed
from vault_memory.rendering import render


@command("memory index --rebuild", short_help="Bring the index up to date, or build it anew.")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--rebuild", is_flag=True, help="Build a new index and swap it in.")
@click.option("--check", is_flag=True, help="Compare the index with a fresh build, by digest.")
def index(shared: Shared, paths: tuple[str, ...], rebuild: bool, check: bool) -> None:
    """Bring the index up to date with the vault, or with PATHs in it; no note is changed."""
    if check and (rebuild or paths):
        raise click.UsageError("--check goes without PATH and --rebuild.")
    memory = shared.memory()
    with Bar(shared) as bar:
        if check:
            _check(shared, *memory.index_file.check(bar))
            return
        report = memory.index(paths, rebuild=rebuild, progress=bar)
    if not (shared.json or shared.quiet):
        shared.say(indexed.index_text(report))  # before the vectors: they may take long
    if not paths:
        for name, done in memory.refresh_further():
            shared.note(render.clean(f"{name}: {done if isinstance(done, Exception) else indexed.index_text(done)}"))
    with Bar(shared, "Reading", "transcripts") as bar:
        swept = None if paths else memory.refresh_sessions(bar)
    if swept and not (shared.json or shared.quiet):
        shared.say(indexed.sessions_text(swept))
    with Bar(shared, "Embedding", "passages") as bar:
        filled = memory.search.backfill(bar)
    if shared.json:
        shared.say(render.dump(indexed.index_document(report, filled, swept)))
    elif not shared.quiet:
        if filled:
            shared.say(indexed.backfill_text(filled))
    else:
        if filled and filled.stopped:
            click.echo(indexed.backfill_text(filled), err=True)
        for problem in report.failed:
            click.echo(indexed.problem_line(problem), err=True)
    root = memory.vault.root
    gone = [path for path in paths if not (os.path.lexists(path) or os.path.lexists(root / path))]
    if gone and not report.removed:
        shared.note(f"there is no {' and no '.join(gone)}")
    click.get_current_context().exit(1 if report.failed else 0)


def _check(shared: Shared, mine: str, fresh: str) -> None:
    same = mine == fresh
    if shared.json:
        shared.say(render.dump(render.schema("index-check") | {"same": same, "digest": mine, "fresh_digest": fresh}))
    elif same:
        shared.say(f"The index equals a fresh build (digest {mine[:12]}).")
    else:
        shared.say("The index differs from a fresh build: run `memory index --rebuild`, and please report it.")
    click.get_current_context().exit(0 if same else 1)
