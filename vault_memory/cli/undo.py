"""The `undo` command."""

import click

from vault_memory.cli.common import Shared, command


@command("memory undo --dry-run", short_help="Take back the last thing that a command wrote.")
@click.argument("run", required=False, default="", metavar="[RUN]")
@click.option("--dry-run", is_flag=True, help="Only show what would be restored and deleted.")
@click.option("--force", is_flag=True, help="Leave notes changed since as they are, and restore the others.")
def undo(shared: Shared, run: str, dry_run: bool, force: bool) -> None:
    """Take back the last thing that a command wrote, or the RUN named, byte for byte.

    Once more takes back what was written before that. A fact that `memory forget` removed is back, too, and counts.
    """
    take_back(shared, run, dry_run=dry_run, force=force)


def take_back(shared: Shared, run: str, *, dry_run: bool, force: bool) -> None:
    """Undo a run, "" for the last, and print what that did."""
    from vault_memory.rendering.undo import undone_document, undone_text

    undone = shared.memory().undo(run, dry_run=dry_run, force=force)
    shared.say(undone_document(undone, dry_run) if shared.json else undone_text(undone, dry_run))
