"""The commands that show what is known: `entity`, `entities`, `opinions`."""

import shlex

import click

from vault_memory.cli.common import SCOPE_HELP, Bar, Shared, command, say_of_index
from vault_memory.rendering.common import dump, seen_document
from vault_memory.rendering.entities import (
    entities_document,
    entities_text,
    entity_document,
    entity_text,
    opinions_document,
    opinions_text,
)
from vault_memory.search import request


@command('memory entity "Peter Smith"', short_help="Show what is known about one person, place or thing.")
@click.argument("name", nargs=-1, required=True)
@click.option("--scope", multiple=True, metavar="S", help=SCOPE_HELP)
def entity(shared: Shared, name: tuple[str, ...], scope: tuple[str, ...]) -> None:
    """Show what is known about one person, place, project or thing: page, facts, opinions, related names."""
    wanted = " ".join(name)
    memory, scopes = shared.memory(), request.scopes({"scope": scope})
    with Bar(shared) as bar:
        profile = memory.entity(wanted, bar, scopes)
    if shared.json:
        shared.say(dump(entity_document(profile, wanted, memory.index_state)))
    elif profile:
        shared.say(entity_text(profile))
    else:
        near = _did_you_mean(memory.similar_names(wanted, scopes))
        shared.note(f"No facts about {wanted}.{near} To search the notes: memory recall {shlex.quote(wanted)}")
    say_of_index(shared, memory)


@command("memory entities", short_help="List every entity.")
@click.option("--scope", multiple=True, metavar="S", help=SCOPE_HELP)
def entities(shared: Shared, scope: tuple[str, ...]) -> None:
    """List every entity with a page or a mention, most mentioned first."""
    memory = shared.memory()
    with Bar(shared) as bar:
        rows = memory.entities(bar, request.scopes({"scope": scope}))
    if shared.json:
        shared.say(dump(entities_document(rows) | seen_document(memory.index_state)))
    elif rows:
        shared.say(entities_text(rows))
    else:
        shared.note("No entities yet: write facts like `- W @Name: …` under a `Retain` heading.")
    say_of_index(shared, memory)


@command("memory opinions --entity Peter --history")
@click.option("--entity", metavar="E", help="Only about this entity.")
@click.option(
    "--history", is_flag=True, help="All evidence for each opinion, newest first, with the confidence after each day."
)
@click.option("--scope", multiple=True, metavar="S", help=SCOPE_HELP)
def opinions(shared: Shared, entity: str | None, history: bool, scope: tuple[str, ...]) -> None:
    """Show beliefs with confidence, trend and evidence."""
    memory, scopes = shared.memory(), request.scopes({"scope": scope})
    with Bar(shared) as bar:
        held = memory.opinions(entity, bar, scopes)
    if shared.json:
        shared.say(dump(opinions_document(held) | seen_document(memory.index_state)))
    elif held:
        shared.say(opinions_text(held, history))
    elif entity:
        known = memory.entity(entity, scopes=scopes) is not None
        near = [] if known else memory.similar_names(entity, scopes)
        shared.note(f"No opinions about {entity}.{_did_you_mean(near)}")
    else:
        shared.note("No opinions yet: write `- O(c=0.8) @Name: …` under a `Retain` heading.")
    say_of_index(shared, memory)


def _did_you_mean(names: list[str]) -> str:
    return f" Did you mean {' or '.join(names)}?" if names else ""
