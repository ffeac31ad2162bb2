"""The commands that create, read and add to notes: `init`, `get`, `retain`."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vault_memory.cli.common import SCOPE_HELP, Shared, command
from vault_memory.errors import RefusedError, VaultError
from vault_memory.rendering.common import clean, dump, schema
from vault_memory.rendering.notes import get_document, past_the_end, retain_document, unit
from vault_memory.search import request
from vault_memory.search.get import parse_span
from vault_memory.vault import locations
from vault_memory.vault.private_files import make_private, private

if TYPE_CHECKING:
    from vault_memory.memory import Memory
    from vault_memory.search.get import Excerpt

CREATED = ("memory.md", "bank/world.md", "bank/experience.md", "bank/opinions.md", "bank/proposals.md")


@command("memory init ~/Notes", short_help="Create the missing parts of a vault; overwrites nothing.")
@click.argument("path", required=False)
@click.option("--dry-run", is_flag=True, help="Only say what would be created.")
def init(shared: Shared, path: str | None, dry_run: bool) -> None:
    """Create the missing parts of a vault (PATH, else --vault, else here) from the templates; overwrites nothing."""
    from vault_memory.config import template

    root = Path(path or shared.vault or ".").expanduser().absolute()
    wanted = {name: name for name in CREATED} | {
        ".memory/config.toml": "config.toml",
        ".memory/.gitignore": "gitignore",
    }
    missing = {target: source for target, source in wanted.items() if not (root / target).exists()}
    if (root / "MEMORY.md").exists():
        missing.pop("memory.md", None)
    folders = [name for name in ("memory", "bank/entities") if not (root / name).is_dir()]
    for name in (*folders, *missing):
        if not locations.is_inside(root, root / name):
            raise RefusedError(
                f"{root / name} leads out of the vault: nothing was created.", "Replace the link with a folder."
            )
    if not dry_run:
        try:
            for folder in folders:
                (root / folder).mkdir(parents=True)
            for target, source in missing.items():
                is_ours = target.startswith(".memory/")
                if is_ours:
                    make_private((root / target).parent)
                opener = private if is_ours else None
                with open(root / target, "xb", opener=opener) as handle, open(template(source), "rb") as shipped:
                    shutil.copyfileobj(shipped, handle)
        except OSError as error:
            raise VaultError(
                f"{root} cannot be written: {error.strerror}.", "Choose a folder you may write to."
            ) from error
    created = [*(f"{folder}/" for folder in folders), *missing]
    if shared.json:
        shared.say(dump(schema("init") | {"vault": str(root), "created": created, "dry_run": dry_run}))
        return
    verb = "would create" if dry_run else "created"
    shared.say("\n".join(f"{verb} {name}" for name in created) or f"{root} is already complete.")
    if not dry_run:
        shared.note(f'Next: memory --vault "{root}" retain "a first fact"')


@command('memory get "memory/2025-11-27.md#L12-L18"', short_help="Read lines of a note.")
@click.argument("path")
@click.option("--lines", metavar="A:B", help="Lines A to B; either may be omitted.")
@click.option(
    "--max-tokens", type=click.IntRange(1), metavar="N", help="Return at most N tokens (default: 10,000 characters)."
)
@click.option("--scope", multiple=True, metavar="S", help=SCOPE_HELP)
def get(shared: Shared, path: str, lines: str | None, max_tokens: int | None, scope: tuple[str, ...]) -> None:
    """Read lines of a note, as PATH, PATH#L12 or PATH#L12-L18; never from outside the vault."""
    path, span = parse_span(path, lines)
    excerpt = shared.memory().get(path, span, max_tokens, request.scopes({"scope": scope}))
    if shared.json:
        shared.say(dump(get_document(excerpt)))
    elif excerpt.not_found:
        shared.note(_missing(shared.memory(), path))
    elif excerpt.end_line < excerpt.start_line:
        shared.note(past_the_end(excerpt))
    else:
        shared.say(clean(excerpt.text))
        if excerpt.truncated:
            shared.note(_cut(excerpt))


def _missing(memory: "Memory", path: str) -> str:
    """What is said where there is no such note."""
    from vault_memory.federation import SESSIONS_OFF

    if (memory.vault.root / path).is_dir():  # what leads out was refused before
        return f"`{path}` is a folder: name a note inside it."
    if path.startswith("sessions/") and not memory.config.sessions_tools:
        return f"There is no note `{path}`: {SESSIONS_OFF}."
    return f"There is no note `{path}`: give its path within the vault."


def _cut(excerpt: "Excerpt") -> str:
    what = unit(excerpt.path)
    if excerpt.line_cut:
        return f"Cut within {what} {excerpt.end_line}; use --max-tokens to see more of it."
    rest = f"memory get '{excerpt.path}' --lines {excerpt.end_line + 1}:"
    return f"Cut after {what} {excerpt.end_line}; continue with: {rest}"


@command(
    'memory retain "Prefers trains to planes" --kind O --entity Nora --confidence 0.8',
    short_help="Add a fact to today's note, or to another day's.",
)
@click.argument("text", nargs=-1, required=True)
@click.option("--kind", default="W", metavar="W|B|O|S", help="World, experience, opinion or observation (W).")
@click.option("--entity", multiple=True, metavar="E", help="Who or what it is about; may be repeated.")
@click.option("--confidence", type=click.FloatRange(0, 1), metavar="C", help="How sure, 0 to 1.")
@click.option("--scope", default="", metavar="S", help="Who it is for: project:tern, agent:moss … (everybody).")
@click.option("--date", "day", metavar="D", help="The day it belongs to (today).")
@click.option("--dry-run", is_flag=True, help="Only show the bullet and its note.")
def retain(
    shared: Shared, text: tuple[str, ...], kind: str, entity: tuple[str, ...], confidence: float | None,
    scope: str, day: str | None, dry_run: bool,
) -> None:  # fmt: skip
    """Append one fact to that day's `## Retain` section; a missing note is created from its template."""
    from vault_memory.write.retain import parse_bullet, parse_day

    bullet = parse_bullet(" ".join(text), kind, entity, confidence, scope)
    when = parse_day(day)
    memory = shared.memory()
    if dry_run:
        path = memory.writer.daily_path(when)
        document = schema("retain") | {"path": path, "line": None, "bullet": str(bullet), "dry_run": True}
        shared.say(dump(document) if shared.json else f"{path}\n{clean(str(bullet))}")
        _warn_of_secrets(shared, str(bullet))
        return
    done = memory.retain(" ".join(text), kind=kind, entities=entity, confidence=confidence, day=when, scope=scope)
    if shared.json:
        shared.say(dump(retain_document(done) | {"dry_run": False}))
    else:
        shared.say(f"{done.path}#L{done.line}  {clean(done.bullet)}")
        if done.warning:
            shared.note(clean(done.warning))
    _warn_of_secrets(shared, str(bullet))


def _warn_of_secrets(shared: Shared, text: str) -> None:
    """Say that a text holds what an agent may not store; its owner may."""
    from vault_memory.sessions.redact import kinds

    if found := kinds(text):
        shared.note(f"Warning: this looks like a secret ({', '.join(sorted(found))}), and notes are plain text.")
