"""Owns the `reflect` command."""

from collections.abc import Sequence

import click

from vault_memory.cli.common import Bar, Shared, command
from vault_memory.errors import UsageError
from vault_memory.rendering import reflection
from vault_memory.rendering.render import dump
from vault_memory.startup import REFLECTED


@command("memory reflect --dry-run", short_help="Write pages from what was logged: entities, opinions, summaries.")
@click.option("--since", metavar="D", help="Only pages that something told since then touches.")
@click.option(
    "--now", metavar="T", help="Reckon with that day as today; what notes of later days say counts all the same."
)
@click.option("--force", is_flag=True, help="Write also pages that would lose much; undo what nobody changed since.")
@click.option("--dry-run", is_flag=True, help="Only say what would be written (a diff), or undone.")
@click.option("--only", multiple=True, type=click.Choice(REFLECTED), help="Only these pages; may be repeated.")
@click.option("--apply-core", is_flag=True, help="Put the ticked proposals into memory.md, and write nothing else.")
@click.option("--undo", is_flag=False, flag_value="", metavar="[RUN]", help="Take back the last run, or the one named.")
def reflect(
    shared: Shared, since: str | None, now: str | None, force: bool, dry_run: bool, only: tuple[str, ...],
    apply_core: bool, undo: str | None,
) -> None:  # fmt: skip
    """Write what was logged as pages a person can read, edit and undo. Your own words on a page are never touched."""
    from vault_memory.reflect.job import Steps, parse_request

    memory = shared.memory()
    if undo is not None:
        given = {"--since": since, "--now": now, "--only": only, "--apply-core": apply_core}
        _refuse_beside_undo([option for option, value in given.items() if value])
        undone = memory.undo(undo, dry_run=dry_run, force=force)
        tell = reflection.undone_text
        shared.say(dump(reflection.undone_document(undone, dry_run)) if shared.json else tell(undone, dry_run))
        return
    asked = parse_request(since, now, only, dry_run=dry_run, force=force, apply_core=apply_core)
    with Bar(shared) as index, Bar(shared, "Planning", "pages") as plan, Bar(shared, "Writing", "pages") as write:
        done = memory.reflect_as(asked, Steps(index, plan, write))
    if done.edits and not dry_run:
        with Bar(shared, "Embedding", "passages") as bar:
            memory.search.backfill(bar)
    shared.say(dump(reflection.document(done)) if shared.json else reflection.text(done, shared.verbose))
    if done.exit_code:
        click.get_current_context().exit(done.exit_code)


def _refuse_beside_undo(options: Sequence[str]) -> None:
    """Raise UsageError for options that say what to write: an undo takes back a whole run."""
    if options:
        what = f"{' and '.join(options)} {'does' if len(options) == 1 else 'do'} not go with --undo."
        raise UsageError(
            f"{what} Nothing was undone.", "Run `memory reflect --undo [RUN]`, with --dry-run or --force or without."
        )
