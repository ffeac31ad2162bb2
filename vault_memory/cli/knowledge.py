"""Owns the commands that show what is known: `entity`, `entities`, `opinions`."""

import click

from vault_memory.cli.common import SCOPE_HELP, Bar, Shared, command, say_of_index
from vault_memory.rendering import opinions as convictions
from vault_memory.rendering import render
from vault_memory.search import request


@command('memory entity "Peter Smith"', short_help="Show what is known of one person, place or thing.")
@click.argument("name", nargs=-1, required=True)
@click.option("--scope", multiple=True, metavar="S", help=SCOPE_HELP)
def entity(shared: Shared, name: tuple[str, ...], scope: tuple[str, ...]) -> None:
    """Show what is known of one person, place, project or thing: its page, facts, opinions and whom it goes with."""
    wanted = " ".join(name)
    memory, scopes = shared.memory(), request.scopes({"scope": scope})
    with Bar(shared) as bar:
        profile = memory.entity(wanted, bar, scopes)
    if shared.json:
        shared.say(render.dump(render.entity_document(profile, wanted, memory.index_state)))
    elif profile:
        shared.say(render.entity_text(profile))
    else:
        shared.note(f"Nothing is known of {wanted}.{_did_you_mean(memory.similar_names(wanted, scopes))}")
    say_of_index(shared, memory)


@command("memory entities", short_help="List every entity.")
@click.option("--scope", multiple=True, metavar="S", help=SCOPE_HELP)
def entities(shared: Shared, scope: tuple[str, ...]) -> None:
    """List every entity with a page or a mention, most mentioned first."""
    memory = shared.memory()
    with Bar(shared) as bar:
        rows = memory.entities(bar, request.scopes({"scope": scope}))
    if shared.json:
        shared.say(render.dump(render.entities_document(rows) | render.seen_document(memory.index_state)))
    elif rows:
        shared.say(render.entities_text(rows))
    else:
        shared.note("No entities yet: write facts like `- W @Name: …` under a heading Retain.")
    say_of_index(shared, memory)


@command("memory opinions --entity Peter --history")
@click.option("--entity", metavar="E", help="Only about this entity.")
@click.option("--history", is_flag=True, help="All that an opinion rests on, newest first, and how sure it made.")
@click.option("--scope", multiple=True, metavar="S", help=SCOPE_HELP)
def opinions(shared: Shared, entity: str | None, history: bool, scope: tuple[str, ...]) -> None:
    """Show beliefs with confidence, trend and evidence."""
    memory, scopes = shared.memory(), request.scopes({"scope": scope})
    with Bar(shared) as bar:
        held = memory.opinions(entity, bar, scopes)
    if shared.json:
        shared.say(render.dump(convictions.document(held) | render.seen_document(memory.index_state)))
    elif held:
        shared.say(convictions.text(held, history))
    elif entity:
        known = memory.entity(entity, scopes=scopes) is not None
        near = [] if known else memory.similar_names(entity, scopes)
        shared.note(f"No opinions about {entity}.{_did_you_mean(near)}")
    else:
        shared.note("No opinions yet: write `- O(c=0.8) @Name: …` under a heading Retain.")
    say_of_index(shared, memory)


def _did_you_mean(names: list[str]) -> str:
    return f" Did you mean {' or '.join(names)}?" if names else ""
