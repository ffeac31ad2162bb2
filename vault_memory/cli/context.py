"""The `context` command: what an agent is given before it answers."""

import json
import os
from pathlib import Path
from typing import Any

import click

from vault_memory.cli.common import Bar, Shared, command
from vault_memory.startup import FORMATS, SOURCES


@command(
    'memory context "what does Peter prefer?" --budget 800',
    short_help="Core memory and what the notes say about a prompt, for an agent.",
)
@click.argument("prompt", nargs=-1)
@click.option("--budget", type=click.IntRange(1), metavar="TOKENS", help="Maximum tokens for everything (2000).")
@click.option("--format", type=click.Choice(FORMATS), help="Output format (markdown).")
@click.option(
    "--scope", multiple=True, metavar="S",
    help="Only this scope, instead of global, this folder's project and the agent's own; may be repeated.",
)  # fmt: skip
@click.option("--agent", metavar="ID", help="Who is asking: includes what is private to that agent.")
@click.option("--source", type=click.Choice(SOURCES), help="Where to look (notes).")
def context(shared: Shared, prompt: tuple[str, ...], agent: str | None, scope: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401
    """Print core memory and what the notes say about PROMPT (without one, recent days), framed as data."""
    from vault_memory.config import load
    from vault_memory.sessions import projects

    asker = projects.Asker(agent or "", Path(os.getcwd()))
    config = load(shared.vault)
    allowed = scope or projects.open_scopes(asker, config, os.environ)
    values = {"prompt": " ".join(prompt), "scope": list(allowed)}
    values |= {key: value for key, value in options.items() if value is not None}
    found = shared.ask_daemon("context", values) or _made(shared, values)
    if not scope and (said := projects.remark(Path(os.getcwd()), config, os.environ)):
        found["degraded"].append({"what": "scope", "why": said})
    if shared.json:
        shared.say(json.dumps(found))
        return
    if text := found["text"] or _empty(found["format"]):
        shared.say(text)
    _say_beside(shared, found)


def _empty(form: str) -> str:
    """What is printed when there is nothing to hand over: who reads JSON must find a document, if an empty one."""
    from vault_memory.text import frame

    return frame.framed_json({"passages": []}) if form == "json" else ""


def _made(shared: Shared, values: dict[str, Any]) -> dict[str, Any]:
    """The bundle made in this process, as a daemon would make it."""
    from vault_memory.daemon import methods

    memory = shared.memory()
    with Bar(shared) as bar:
        return methods.context(memory, values, bar)


def _say_beside(shared: Shared, found: dict[str, Any]) -> None:
    from vault_memory.rendering.recall import context_notes

    for note in context_notes(found):
        shared.note(note)
