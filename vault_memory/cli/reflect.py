"""The `reflect` command."""

import click

from vault_memory.cli.common import Shared, command, progress_bar
from vault_memory.cli.undo import take_back
from vault_memory.errors import UsageError
from vault_memory.rendering.reflect import reflect_document, reflect_text
from vault_memory.startup import REFLECTED


@command("memory reflect --dry-run", short_help="Write pages from what was logged: entities, opinions, summaries.")
@click.option("--since", metavar="D", help="Only pages affected by facts recorded since D.")
@click.option("--now", metavar="T", help="Treat this day as today (later notes still count).")
@click.option("--force", is_flag=True, help="Also write pages that would lose many entries.")
@click.option("--dry-run", is_flag=True, help="Only show what would be written, as a diff.")
@click.option("--only", multiple=True, type=click.Choice(REFLECTED), help="Only these pages; may be repeated.")
@click.option("--apply-core", is_flag=True, help="Add the ticked proposals to the core file; like --only proposals.")
@click.option("--undo", is_flag=False, flag_value="", metavar="[RUN]", help="Same as `memory undo [RUN]`.")
def reflect(
    shared: Shared, since: str | None, now: str | None, force: bool, dry_run: bool, only: tuple[str, ...],
    apply_core: bool, undo: str | None,
) -> None:  # fmt: skip
    """Turn logged facts into pages that you can read, edit and undo. Your own words on a page are never touched."""
    from vault_memory.reflect.job import Steps

    if undo is not None:
        if since or now or only or apply_core:  # an undo reverts a whole run
            raise UsageError("--undo takes --dry-run and --force alone: nothing was undone.", "Leave out the rest.")
        take_back(shared, undo, dry_run=dry_run, force=force)
        return
    memory = shared.memory()
    with (
        progress_bar(shared) as index,
        progress_bar(shared, "Planning", "pages") as plan,
        progress_bar(shared, "Writing", "pages") as write,
    ):
        done = memory.reflect(
            since=since, now=now, only=only, dry_run=dry_run, force=force, apply_core=apply_core,
            steps=Steps(index, plan, write),
        )  # fmt: skip
    if done.edits and not dry_run:
        with progress_bar(shared, "Embedding", "passages") as bar:
            memory.backfill(bar)
    if shared.json:
        shared.say(reflect_document(done))
    elif not shared.quiet or dry_run or done.skipped:  # cron mails whatever is printed
        shared.say(reflect_text(done, shared.verbose))
    click.get_current_context().exit(done.exit_code)
