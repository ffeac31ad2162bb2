"""The `forget` command: which fact is meant, what would be removed, and the question before it is."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from vault_memory.cli.common import Bar, Shared, command
from vault_memory.errors import UsageError
from vault_memory.rendering.common import clean, dump, seen_notes
from vault_memory.rendering.notes import candidates_document, candidates_text, forget_document
from vault_memory.search import request
from vault_memory.search.get import parse_span

if TYPE_CHECKING:
    from vault_memory.memory import Memory
    from vault_memory.search.answer import Result
    from vault_memory.write.forget import ForgetResult, Removal


@command('memory forget "memory/2025-11-27.md#L14"', short_help="Remove a fact from its note.")
@click.argument("target", nargs=-1, required=True, metavar="PATH#L14 | QUERY")
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def forget(shared: Shared, target: tuple[str, ...], dry_run: bool, yes: bool) -> None:
    """Remove one fact, or one list item, from its note, and remember that it was forgotten.

    Name it by its line, as `memory recall` cites it; a QUERY lists the facts it may mean and asks which one. What would
    be removed is always shown first. Without a terminal to ask, nothing is removed unless --yes is given.
    """
    memory = shared.memory()
    path, lines = parse_span(" ".join(target), None)
    if lines is None:
        chosen = _chosen(shared, memory, path, yes and not dry_run)
        if chosen is None:
            return
        path, lines = chosen.path, (chosen.start_line, chosen.end_line)
    planned = memory.plan_forget(path, lines[0], lines[1] or lines[0])
    if not shared.json:
        shared.say("\n".join(clean(line) for line in planned.diff.split("\n")))
    wanted = not dry_run and (yes or (_can_ask(shared) and click.confirm("Forget this?", err=True)))
    _tell(shared, planned, memory.forget(planned) if wanted else None, dry_run or _can_ask(shared))


def _can_ask(shared: Shared) -> bool:
    """Whether somebody sees the preview and can answer."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not shared.json


def _tell(shared: Shared, planned: "Removal", done: "ForgetResult | None", is_known: bool) -> None:
    if shared.json:
        shared.say(dump(forget_document(planned, done)))
    elif done is None:
        shared.note("Nothing was written." if is_known else "Nothing was written: use --yes to remove it.")
    else:
        shared.say(clean(f"Forgotten: {done.removal.source}"))
        shared.note(f"`memory reflect --undo {done.run}` restores it; the old note is kept in {done.kept_in}.")
        for warning in done.warnings:
            shared.note(clean(warning))


def _chosen(shared: Shared, memory: "Memory", query: str, is_final: bool) -> "Result | None":
    """The fact that was chosen of those a question may mean; None where there is none, or nobody to ask.

    Raises UsageError where one would be forgotten (`is_final`) that nobody has chosen.
    """
    if is_final and not _can_ask(shared):
        raise UsageError(
            "--yes needs a line, because words may match several facts.",
            "Name it as PATH#L14, or list them without --yes.",
        )
    found = _candidates(shared, memory, query)
    if shared.json:
        shared.say(dump(candidates_document(found)))
        return None
    if not found:
        shared.note("No matching fact found.")
        return None
    shared.say(candidates_text(found))
    if not _can_ask(shared):
        shared.note(f'Nothing was written. Name the one you mean: memory forget "{clean(found[0].source)}"')
        return None
    number = click.prompt("Which one? (0 for none)", default=0, type=click.IntRange(0, len(found)), err=True)
    return found[number - 1] if number else None


def _candidates(shared: Shared, memory: "Memory", query: str) -> "Sequence[Result]":
    """The facts a question may mean; asking for them to be forgotten is no use of them, and leaves no trace."""
    from vault_memory.markdown.facts import KINDS

    asked = request.build({"query": query, "k": 8, "kind": tuple(KINDS)}, memory.config)
    with Bar(shared) as bar:
        (answer,) = memory.answers([asked], bar, keep=False)
    for note in seen_notes(answer):
        shared.note(note)
    return answer.results
