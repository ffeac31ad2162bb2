"""The query commands: `recall`, for one question or a batch, and `context`, for an agent's prompt."""

import json
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from vault_memory.cli.common import Shared, command, scope_option
from vault_memory.errors import UsageError
from vault_memory.startup import FORMATS, MODES, RECALL_FORMATS, SOURCES, TASKS

if TYPE_CHECKING:
    from vault_memory.config import Config
    from vault_memory.search.answer import Request


@command(
    'memory recall "what happened around Nov 7" --budget 500',
    short_help="Answer a question from the vault, with citations.",
)
@click.argument("query", nargs=-1)
@click.option("-k", "--k", type=click.IntRange(1), metavar="N", help="Maximum results (8, or unlimited with --budget).")
@click.option(
    "--budget", type=click.IntRange(1), metavar="TOKENS", help="Maximum tokens (2000, or unlimited with --k)."
)
@click.option("--since", metavar="D", help='Nothing before this date: 2025-11-27, 2025-11, 30d, "last week".')
@click.option("--until", metavar="D", help="Nothing after this date.")
@click.option("--as-of", metavar="D", help="Answer as of the end of that day, ignoring later notes.")
@click.option("--now", metavar="T", help='The time to count "last week" from (now); leaves no trace in the journal.')
@click.option("--entity", multiple=True, metavar="E", help="Only what mentions this entity; may be repeated.")
@click.option("--kind", multiple=True, metavar="K", help="Only W, B, O, S, or world, opinion, note …; may be repeated.")
@click.option("--tag", multiple=True, metavar="T", help="Only what has this tag or one below it; may be repeated.")
@click.option("--task", type=click.Choice(TASKS), help="Only open tasks (`- [ ]`), or only those done.")
@scope_option
@click.option("--source", type=click.Choice(SOURCES), help="Notes, sessions (transcripts of agents) or all (notes).")
@click.option("--mode", type=click.Choice(MODES), help="Words, meaning or both (auto).")
@click.option("--explain", is_flag=True, help="Explain each result's rank; leaves no trace in the journal.")
@click.option(
    "--all", is_flag=True, help="Show weak results too, and more than three where the notes hardly cover the question."
)
@click.option("--no-journal", is_flag=True, help="Do not record this recall in the journal.")
@click.option(
    "--format", "shape", type=click.Choice(RECALL_FORMATS),
    help="Only the notes' paths, best first; Markdown, on a terminal too; or JSON, as --json.",
)  # fmt: skip
@click.option("--batch", metavar="FILE|-", help="Requests, one JSON object per line; answers likewise, in order.")
def recall(
    shared: Shared, query: tuple[str, ...], no_journal: bool, shape: str | None, batch: str | None,
    **options: Any,  # noqa: ANN401
) -> None:  # fmt: skip
    """Answer a question from the vault, with citations, within a token budget."""
    if shape in ("paths", "md") and (shared.json or batch is not None):
        raise click.UsageError(f"--format {shape} cannot be combined with {'--json' if shared.json else '--batch'}.")
    shared = replace(shared, json=shared.json or shape == "json")
    if batch is not None:
        if query:
            raise click.UsageError("--batch takes its questions from the file: leave out QUERY.")
        _batch(shared, batch, {key: value for key, value in options.items() if value})
        return
    filters = ("since", "until", "as_of", "entity", "kind", "tag", "task")
    if not "".join(query).strip() and not any(map(options.get, filters)):
        raise click.UsageError("What would you like to recall? Ask a question, or give a filter to list by.")
    values = {"query": " ".join(query), **{key: value for key, value in options.items() if value not in (None, ())}}
    is_screen = shape is None and not shared.json and sys.stdout.isatty()
    found = shared.ask("recall", {**values, "no_journal": no_journal, "as_text": not shared.json})
    if shared.json:
        shared.say(found)
        return
    for note in found["before"]:
        shared.note(note)
    text, notes = found["text"], [*found["notes"], *found["left_out"]]
    if shape == "paths":
        text = "\n".join(dict.fromkeys(result["path"] for result in found["results"]))
    elif is_screen:
        text, notes = _on_screen(found)
    if text:
        shared.say(text)
    for note in notes:
        shared.note(note)


def _on_screen(found: dict[str, Any]) -> tuple[str, list[str]]:
    """An answer wrapped to the terminal's width, and the remarks below it, ending with what was left out."""
    import shutil

    from vault_memory.rendering.recall import Screen, recall_screen, wrapped

    is_plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"  # https://no-color.org
    screen = Screen(shutil.get_terminal_size().columns, not is_plain, found["links"])
    notes = filter(None, (*found["notes"], " ".join(found["left_out"])))
    rows = [row.lstrip() for note in notes for row in wrapped(note, screen.width)]
    return recall_screen(found["results"], found["matched"], screen), rows


def _batch(shared: Shared, file: str, defaults: dict[str, Any]) -> None:
    from vault_memory.rendering.recall import recall_document

    memory = shared.memory()
    try:
        stream = click.open_file(file, "rb")
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.", "Name a file of JSON lines, or - .") from error
    with stream:
        # Requests are consumed one at a time, after the previous answer, so errors of bad lines are printed in order.
        for answer in memory.answers(_requests(shared, stream, defaults, memory.config), keep=False):
            shared.say(recall_document(answer))


def _requests(
    shared: Shared, lines: Iterable[bytes], defaults: dict[str, Any], config: "Config"
) -> "Iterator[Request]":
    from vault_memory.rendering.common import schema
    from vault_memory.search.recall_options import build

    for line in filter(bytes.strip, lines):
        identifier = None
        try:
            values = json.loads(line.decode("utf-8-sig"))  # a file from Windows may begin with a byte order mark
            if not isinstance(values, dict):
                raise UsageError("a request is a JSON object.")
            identifier = values.get("id")
            asked = build({**defaults, **values}, config)
        except (UsageError, ValueError, RecursionError) as error:
            why = str(error) if isinstance(error, UsageError) else f"the line is not JSON: {error}."
            shared.say(schema("recall") | {"id": identifier, "error": {"message": why, "exit_code": 2}})
        else:
            yield asked


# --- context ---------------------------------------------------------------------------------------------------------


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
    from pathlib import Path  # takes 7 ms, which a recall through the daemon avoids

    from vault_memory.config import load
    from vault_memory.rendering.recall import context_notes
    from vault_memory.sessions import projects
    from vault_memory.text import agent_frame

    asker = projects.Asker(agent or "", Path(os.getcwd()))
    config = load(shared.vault)
    allowed = scope or projects.open_scopes(asker, config, os.environ)
    values = {"prompt": " ".join(prompt), "scope": list(allowed)}
    values |= {key: value for key, value in options.items() if value is not None}
    found = shared.ask("context", values)
    if shared.json:
        shared.say(found)
        return
    # A consumer of JSON must get a document, even if it is empty.
    if text := found["text"] or (agent_frame.framed_json({"passages": []}) if found["format"] == "json" else ""):
        shared.say(text)
    for note in context_notes(found):
        shared.note(note)
