"""The commands for notes and their content: `init`, `get`, `retain`, `forget`, `entity`, `entities`, `opinions`."""

import json
import os
import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vault_memory.cli.common import Shared, command, progress_bar, say_from_index, scope_option, words
from vault_memory.errors import RefusedError, UsageError, VaultError
from vault_memory.federation import SESSIONS_OFF
from vault_memory.markdown.facts import KINDS
from vault_memory.rendering import notes as printing
from vault_memory.rendering.common import index_state_notes, place, schema
from vault_memory.search import recall_options
from vault_memory.search.get import parse_span
from vault_memory.text.output import clean, plural
from vault_memory.text.vault_layout import STANDARD, Layout
from vault_memory.vault import locations
from vault_memory.vault.safe_files import make_private, private

if TYPE_CHECKING:
    from collections.abc import Mapping

    from vault_memory.memory import Memory


SETTINGS = ".memory/config.toml"


@command("memory init ~/Notes", short_help="Create the missing parts of a vault; overwrites nothing.")
@click.argument("path", required=False)
@click.option("--daily-folder", metavar="NAME", help="Where daily notes are (memory, or as Obsidian has it).")
@click.option("--bank", metavar="NAME", help="Where the pages made from them are (bank).")
@click.option("--core", metavar="NAME", help="The note of what agents should always know (memory.md).")
@click.option("--dry-run", is_flag=True, help="Only say what would be created.")
def init(shared: Shared, path: str | None, dry_run: bool, **options: str | None) -> None:
    """Create the missing parts of a vault (PATH, else --vault, else here) from the templates; overwrites nothing."""
    root = Path(path or shared.vault or ".").expanduser().absolute()
    layout = _layout_of(root)
    named = {key: _checked_name(key, name) for key, name in options.items() if name is not None}
    if named and os.path.exists(root / SETTINGS):
        lines = " and ".join(_setting_lines(named))
        raise UsageError(f"{root / SETTINGS} already exists.", f"Write {lines} below [vault] in it.")
    layout = layout._replace(**named)
    if layout.clash:
        raise UsageError(f"{layout.clash} Nothing was created.", "Give one of them another name.")
    wanted = {
        layout.core: "memory.md", layout.world: "bank/world.md", layout.experience: "bank/experience.md",
        layout.opinions: "bank/opinions.md", layout.proposals: "bank/proposals.md", SETTINGS: "config.toml",
        ".memory/.gitignore": "gitignore",
    }  # fmt: skip
    missing = {target: source for target, source in wanted.items() if not os.path.exists(root / target)}
    if any(os.path.exists(root / core) for core in layout.cores):
        missing.pop(layout.core, None)
    folders = [layout.daily_folder, layout.entities.rstrip("/")]
    folders = [name for name in folders if name and not os.path.isdir(root / name)]
    for name in (*folders, *missing):
        if not locations.is_inside(root, root / name):
            what = f"{root / name} leads out of the vault: nothing was created."
            raise RefusedError(what, "Replace the link with a folder.")
    if not dry_run:
        try:
            for folder in folders:
                (root / folder).mkdir(parents=True)
            for target, source in missing.items():
                _create(root / target, _filled(source, layout, named))
        except OSError as error:
            why = f"{root} cannot be written: {error.strerror}."
            raise VaultError(why, "Choose a folder you may write to.") from error
    created = [*(f"{folder}/" for folder in folders), *missing]
    if shared.json:
        shared.say(schema("init") | {"vault": str(root), "created": created, "dry_run": dry_run})
        return
    verb = "would create" if dry_run else "created"
    shared.say("\n".join(f"{verb} {name}" for name in created) or f"{root} is already complete.")
    if not dry_run:
        shared.note(f'Next: memory --vault "{root}" retain "a first fact"')


def _layout_of(root: Path) -> Layout:
    """The layout found in a future vault's folder; raises RefusedError if a known vault's notes are gone."""
    from vault_memory.config import load
    from vault_memory.memory import Memory

    config = load(str(root))
    vault = Memory(config).vault if os.path.isdir(root) else None
    known = locations.remembered(root)
    if known and not (vault and vault.walk().notes):
        raise RefusedError(
            f"{root} held {plural(known, 'note')} and holds none now: nothing was created.",
            f"Check that its drive is mounted. If the notes are really gone, delete {locations.memory_of(root)}.",
        )
    if vault:
        return vault.layout
    return Layout(config.bank_folder, config.core_file, (config.daily_folder or STANDARD.daily_folder).strip("/"))


def _checked_name(key: str, name: str) -> str:
    from vault_memory.config import SETTINGS as KEYS

    try:
        checked: str = KEYS[f"vault.{key}"].metadata["check"](name)
    except ValueError as error:
        raise click.UsageError(f"`{clean(name)}` {error}.") from error
    return checked.strip("/")


def _setting_lines(named: "Mapping[str, str]") -> list[str]:
    return [f"{key} = {json.dumps(name or '/', ensure_ascii=False)}" for key, name in named.items()]


def _filled(source: str, layout: Layout, named: "Mapping[str, str]") -> str:
    """A template with the chosen names filled in."""
    from vault_memory.config import template

    text = template(source).read_text("utf-8")
    if source == "config.toml":
        for line in _setting_lines(named):
            usual = next(each for each in text.split("\n") if each.startswith(f"# {line.partition('=')[0]}="))
            text = text.replace(usual, line)
    return text.replace("memory.md", layout.core) if source == "bank/proposals.md" else text


def _create(file: Path, text: str) -> None:
    """Create a file; those in `.memory` are readable by the user only."""
    is_ours = file.parent.name == ".memory"
    (make_private if is_ours else partial(Path.mkdir, parents=True, exist_ok=True))(file.parent)
    with open(file, "xb", opener=private if is_ours else None) as handle:
        handle.write(text.encode())


@command('memory get "memory/2025-11-27.md#L12-L18"', short_help="Read lines of a note.")
@click.argument("path")
@click.option("--lines", metavar="A:B", help="Lines A to B; either may be omitted.")
@click.option(
    "--max-tokens", type=click.IntRange(1), metavar="N", help="Return at most N tokens (default: 10,000 characters)."
)
@scope_option
def get(shared: Shared, path: str, lines: str | None, max_tokens: int | None, scope: tuple[str, ...]) -> None:
    """Read lines of a note, never from outside the vault.

    PATH is a path (memory/2025-11-27.md), optionally followed by lines (#L12, #L12-L18), a heading (#Retain) or a
    block id (#^id), or a name instead of a path: Note, "[[Note]]", "[[Note#Heading]]".
    """
    memory, scopes = shared.memory(), recall_options.scopes({"scope": scope})
    excerpt, called = memory.open_note(path, lines, max_tokens, scopes)
    path = excerpt.path
    sessions = memory.sessions_below(path.rstrip("/"), scopes) if excerpt.not_found else []
    if shared.json:
        listed = {"sessions": [session._asdict() for session in sessions]} if sessions else {}
        shared.say(printing.get_document(excerpt) | listed)
    elif sessions:
        shared.say("\n".join(clean(str(session)) for session in sessions))
    elif called and excerpt.not_found:
        shared.note(f"There is no note `{path}`. Notes with that name: {', '.join(map(place, called))}.")
    elif excerpt.not_found:
        is_off = path.startswith("sessions/") and not memory.config.sessions_tools
        shared.note(f"There is no note `{path}`: {SESSIONS_OFF if is_off else 'give its path within the vault'}.")
    elif excerpt.end_line < excerpt.start_line:
        shared.note(printing.past_the_end(excerpt))
    else:
        shared.say(clean(excerpt.text))
        if excerpt.missing_section:
            what = f"{place(excerpt.path)} has no heading or block `{clean(excerpt.missing_section)}`"
            shared.note(f"{what}; this is from the whole note.")
        what = printing.unit(excerpt.path)
        if excerpt.line_cut:
            shared.note(f"Cut within {what} {excerpt.end_line}; use --max-tokens to see more of it.")
        elif excerpt.truncated:
            rest = f"memory get '{excerpt.path}' --lines {excerpt.end_line + 1}:"
            shared.note(f"Cut after {what} {excerpt.end_line}; continue with: {rest}")


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
    from vault_memory.sessions.redact import kinds

    done = shared.memory().retain(
        " ".join(text), kind=kind, entities=entity, confidence=confidence, date=day, scope=scope, dry_run=dry_run
    )
    if dry_run:
        document = schema("retain") | {"path": done.path, "line": None, "bullet": done.bullet, "dry_run": True}
        shared.say(document if shared.json else f"{done.path}\n{clean(done.bullet)}")
    else:
        document = printing.retain_document(done) | {"dry_run": False}
        shared.say(document if shared.json else f"{done.path}#L{done.line}  {clean(done.bullet)}")
        if done.warning:
            shared.note(clean(done.warning))
    if found := kinds(done.bullet):  # an agent may not store such text; the user may, with a warning
        shared.note(f"Warning: this looks like a secret ({', '.join(sorted(found))}), and notes are plain text.")


# --- entities and opinions -------------------------------------------------------------------------------------------


@command('memory entity "Peter Smith"', short_help="Show what is known about one person, place or thing.")
@click.argument("name", nargs=-1, required=True, callback=words)
@scope_option
def entity(shared: Shared, name: str, scope: tuple[str, ...]) -> None:
    """Show what is known about one person, place, project or thing: page, facts, opinions, related names."""
    memory, scopes = shared.memory(), recall_options.scopes({"scope": scope})
    with progress_bar(shared) as bar:
        profile = memory.entity(name, bar, scopes)
    if shared.json:
        say_from_index(shared, memory, printing.entity_document(profile, name))
    elif profile:
        say_from_index(shared, memory, printing.entity_text(profile))
    else:
        near = _did_you_mean(memory.similar_names(name, scopes))
        nothing = f"No facts about {name}.{near} To search the notes: memory recall {shlex.quote(name)}"
        say_from_index(shared, memory, otherwise=nothing)


@command("memory entities", short_help="List every entity.")
@scope_option
def entities(shared: Shared, scope: tuple[str, ...]) -> None:
    """List every entity with a page or a mention, most mentioned first."""
    memory = shared.memory()
    with progress_bar(shared) as bar:
        rows = memory.entities(bar, recall_options.scopes({"scope": scope}))
    result = printing.entities_document(rows) if shared.json else printing.entities_text(rows)
    nothing = "No entities yet: write facts like `- W @Name: …` under a `Retain` heading."
    say_from_index(shared, memory, result, nothing)


@command("memory opinions --entity Peter --history")
@click.option("--entity", metavar="E", help="Only about this entity.")
@click.option(
    "--history", is_flag=True, help="All evidence for each opinion, newest first, with the confidence after each day."
)
@scope_option
def opinions(shared: Shared, entity: str | None, history: bool, scope: tuple[str, ...]) -> None:
    """Show beliefs with confidence, trend and evidence."""
    memory, scopes = shared.memory(), recall_options.scopes({"scope": scope})
    with progress_bar(shared) as bar:
        held = memory.opinions(entity, bar, scopes)
    nothing = "No opinions yet: write `- O(c=0.8) @Name: …` under a `Retain` heading."
    if entity and not (held or shared.json):
        near = [] if memory.entity(entity, scopes=scopes) else memory.similar_names(entity, scopes)
        nothing = f"No opinions about {entity}.{_did_you_mean(near)}"
    result = printing.opinions_document(held) if shared.json else printing.opinions_text(held, history)
    say_from_index(shared, memory, result, nothing)


def _did_you_mean(names: list[str]) -> str:
    return f" Did you mean {' or '.join(names)}?" if names else ""


# --- forget ----------------------------------------------------------------------------------------------------------


@command('memory forget "memory/2025-11-27.md#L14"', short_help="Remove a fact from its note.")
@click.argument("target", nargs=-1, required=True, callback=words, metavar="PATH#L14 | QUERY")
@click.option("--text", metavar="TEXT", help="What the line should say; refused if it says something else.")
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def forget(shared: Shared, target: str, text: str | None, dry_run: bool, yes: bool) -> None:
    """Remove one fact, or one list item, from its note, and remember that it was forgotten.

    Name it by its line, as `memory recall` cites it; a QUERY lists the facts that it may mean, each with its line. What
    would be removed is always shown first. Without a terminal to ask, nothing is removed unless --yes is given.
    """
    memory = shared.memory()
    path, lines = parse_span(target, None)
    if lines is None:
        if yes:
            why = "--yes needs a line, because words may match several facts."
            raise UsageError(why, "Name it as PATH#L14, or list them without --yes.")
        _list_candidates(shared, memory, target)
        return
    meant = text or ("" if yes else None)  # without a prompt, remove only what was cited
    planned = memory.plan_forget(path, lines[0], lines[1] or lines[0], meant)
    if not shared.json:
        shared.say("\n".join(clean(line) for line in planned.diff.split("\n")))
    wanted = not dry_run and (yes or (shared.can_ask() and click.confirm("Forget this?", err=True)))
    done = memory.forget(planned) if wanted else None
    if shared.json:
        shared.say(printing.forget_document(planned, done))
    elif done:
        shared.say(clean(f"Forgotten: {done.removal.source}"))
        shared.note(f"`memory undo {done.run}` restores it; the old note is kept in {done.kept_in}.")
        for warning in done.warnings:
            shared.note(clean(warning))
    else:
        is_known = dry_run or shared.can_ask()
        shared.note("Nothing was written." if is_known else "Nothing was written: use --yes to remove it.")


def _list_candidates(shared: Shared, memory: "Memory", query: str) -> None:
    # Looking for facts to forget does not count as a use of them, so it is not journalled.
    answer = memory.recall(query, k=8, kinds=tuple(KINDS), journal=False)
    for said in index_state_notes(answer):
        shared.note(said)
    if shared.json:
        shared.say(printing.candidates_document(answer.results))
    elif answer.results:
        shared.say(printing.candidates_text(answer.results))
        named = clean(answer.results[0].source)
        shared.note(f'Nothing was written. Name the one you mean: memory forget "{named}"')
    else:
        shared.note("No matching fact found.")
