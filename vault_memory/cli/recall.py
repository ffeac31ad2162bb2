"""The commands that answer: `recall`, one question or a batch, and `context`, what an agent is given beforehand."""

import json
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import click

from vault_memory.cli.common import SCOPE_HELP, Bar, Shared, command
from vault_memory.errors import UsageError
from vault_memory.startup import FORMATS, MODES, SOURCES


@command(
    'memory recall "what happened around Nov 7" --budget 500',
    short_help="Answer a question from the vault, with citations.",
)
@click.argument("query", nargs=-1)
@click.option("--k", type=click.IntRange(1), metavar="N", help="Maximum results (8, or unlimited with --budget).")
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
@click.option("--scope", multiple=True, metavar="S", help=SCOPE_HELP)
@click.option("--source", type=click.Choice(SOURCES), help="Notes, sessions (transcripts of agents) or all (notes).")
@click.option("--mode", type=click.Choice(MODES), help="Words, meaning or both (auto).")
@click.option("--explain", is_flag=True, help="Explain each result's rank; leaves no trace in the journal.")
@click.option("--no-journal", is_flag=True, help="Do not record this recall in the journal.")
@click.option("--batch", metavar="FILE|-", help="Requests, one JSON object per line; answers likewise, in order.")
def recall(shared: Shared, query: tuple[str, ...], no_journal: bool, batch: str | None, **options: Any) -> None:  # noqa: ANN401
    """Answer a question from the vault, with citations, within a token budget."""
    if batch is not None:
        if query:
            raise click.UsageError("--batch takes its questions from the file: leave out QUERY.")
        _batch(shared, batch, {key: value for key, value in options.items() if value})
        return
    if not query:
        raise click.UsageError("What would you like to recall?")
    values = {"query": " ".join(query), **{key: value for key, value in options.items() if value not in (None, ())}}
    found = shared.ask_daemon("recall", {**values, "no_journal": no_journal, "as_text": not shared.json})
    if found is None:
        _answer(shared, values, no_journal)
    elif shared.json:
        shared.say(json.dumps(found))
    else:
        _print(shared, found["text"], found["said"])


def _answer(shared: Shared, values: dict[str, Any], no_journal: bool) -> None:
    """Answer in this process, as a daemon would."""
    from vault_memory.rendering.common import dump
    from vault_memory.rendering.recall import recall_document, recall_notes, recall_text
    from vault_memory.search.request import build

    started = time.perf_counter()
    memory = shared.memory()
    request = build(values, memory.config, rendered=not shared.json)
    with Bar(shared) as bar:
        (answer,) = memory.answers([request], bar, keep=not (no_journal or request.explain))
    if shared.json:
        seconds = round(time.perf_counter() - started, 4)
        shared.say(dump(recall_document(answer) | {"seconds": seconds}))
    else:
        _print(shared, recall_text(answer), recall_notes(answer))


def _print(shared: Shared, text: str, notes: Sequence[str]) -> None:
    """Print an answer, a note that introduces it (it ends with a colon) before it, the others after."""
    for note in (note for note in notes if note.endswith(":")):
        shared.note(note)
    if text:
        shared.say(text)
    for note in (note for note in notes if not note.endswith(":")):
        shared.note(note)


def _batch(shared: Shared, file: str, defaults: dict[str, Any]) -> None:
    """Answer request lines as they come; a bad line gets an answer that says so."""
    from vault_memory.rendering.common import dump
    from vault_memory.rendering.recall import recall_document

    memory = shared.memory()
    stream: BinaryIO
    try:
        stream = sys.stdin.buffer if file == "-" else open(file, "rb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.", "Name a file of JSON lines, or - .") from error
    lines = _parsed(stream, defaults, memory.config)
    # The engine asks for the next request only after yielding the answer before it: bad lines are printed in turn.
    for answer in memory.answers(_good(shared, lines), keep=False):
        shared.say(dump(recall_document(answer)))
    if file != "-":
        stream.close()


def _parsed(stream: Iterable[bytes], defaults: dict[str, Any], config: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401
    from vault_memory.search.request import build

    for line in stream:
        if not line.strip():
            continue
        identifier = None
        try:
            values = _json(line)
            if not isinstance(values, dict):
                raise UsageError("a request is a JSON object.")
            identifier = values.get("id")
            yield identifier, build({**defaults, **values}, config)
        except UsageError as error:
            yield identifier, error


def _json(line: bytes) -> Any:  # noqa: ANN401 - it can be anything
    try:
        return json.loads(line.decode("utf-8-sig"))  # a file from Windows may begin with a byte order mark
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the line is not JSON: {error}.") from error


def _good(shared: Shared, lines: Iterable[tuple[Any, Any]]) -> Iterator[Any]:
    from vault_memory.rendering.common import dump, schema

    for identifier, parsed in lines:
        if isinstance(parsed, Exception):
            error = {"message": str(parsed), "exit_code": 2}
            shared.say(dump(schema("recall") | {"id": identifier, "error": error}))
        else:
            yield parsed


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
