"""The `capture`, `proposals`, `facts` and `journal` commands."""

import click

from vault_memory.cli.common import Shared, command, scope_option
from vault_memory.rendering import capture as printing


@command("memory capture --dry-run", short_help="Propose what sessions and logs hold that is worth remembering.")
@click.option("--since", metavar="D", help="Look again at all that was said from D on.")
@click.option(
    "--idle", type=click.IntRange(0, 10_000), default=0, metavar="MINUTES",
    help="Leave out sessions that went on within so many minutes.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Only show what would be proposed or written.")
@click.option("--explain", is_flag=True, help="Show every statement that was found, and how sure it is to last.")
@click.option("--ticks", is_flag=True, help="Only carry out what is ticked or refused.")
def capture(shared: Shared, since: str | None, idle: int, dry_run: bool, explain: bool, ticks: bool) -> None:
    """Find what was said that is worth keeping. Requests ("remember …") are written; the rest waits for your tick."""
    done = shared.memory().capture(since=since, dry_run=dry_run, idle_minutes=idle, only_ticks=ticks)
    shared.say(printing.capture_document(done) if shared.json else printing.capture_text(done, explain))


@command("memory proposals --yes 1a2b3c4d", short_help="List what was captured, accept or refuse it.")
@click.option("--yes", multiple=True, metavar="ID", help="Accept this one; may be repeated.")
@click.option("--no", multiple=True, metavar="ID", help="Refuse this one for good; may be repeated.")
@click.option("--held", is_flag=True, help="List those held back for another day, best first.")
def proposals(shared: Shared, yes: tuple[str, ...], no: tuple[str, ...], held: bool) -> None:
    """List the proposals that wait for an answer, or answer them. Ticking them on their page does the same."""
    memory = shared.memory()
    if yes or no:
        accepted, refused = ([name.removeprefix("^").removeprefix("p-") for name in names] for names in (yes, no))
        done = memory.capture(yes=accepted, no=refused)
        shared.say(printing.capture_document(done) if shared.json else printing.capture_text(done, explain=False))
        return
    found = memory.proposals(held=held)
    shared.say(printing.proposals_document(found) if shared.json else printing.proposals_text(found, held))


@command("memory facts --by agent --since 7d", short_help="List the facts that are kept, and by whom.")
@click.option("--entity", metavar="E", help="Only about this entity.")
@click.option("--kind", multiple=True, metavar="K", help="Only this kind (W, B, O, S); may be repeated.")
@click.option("--since", metavar="D", help="Only of D and later.")
@click.option("--by", metavar="WHO", help="Only from: person, agent, agent:<id>, web, tool, import.")
@scope_option
def facts(
    shared: Shared, entity: str | None, kind: tuple[str, ...], since: str | None, by: str | None, scope: tuple[str, ...]
) -> None:
    """List the facts that are kept, newest first, each with its source and who it is from."""
    found = shared.memory().facts(entity=entity, kinds=kind, since=since, by=by, scopes=scope)
    shared.say(printing.facts_document(found) if shared.json else printing.facts_text(found))


@command("memory journal --days 2", short_help="Show what was recalled, handed over, captured and answered.")
@click.option("--days", type=click.IntRange(1, 3650), default=7, show_default=True, help="How many days back.")
def journal(shared: Shared, days: int) -> None:
    """Show the journals: recalls, context handed over, captures, answers to proposals, forgotten facts."""
    found = shared.memory().journal(days)
    shared.say(printing.journal_document(found) if shared.json else printing.journal_text(found, days))
