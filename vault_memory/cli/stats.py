"""Owns the `stats` command."""

import shutil
from datetime import date
from pathlib import Path

import click

from vault_memory.cli.common import Bar, Shared, command, say_of_index
from vault_memory.errors import UsageError
from vault_memory.health import stats as health
from vault_memory.rendering import plot, svg_file
from vault_memory.rendering import stats as figures
from vault_memory.rendering.render import clean, dump, seen_document


@command("memory stats --plot", short_help="Show the figures of the vault, and draw them.")
@click.option(
    "--plot", "drawing", is_flag=False, flag_value="", metavar="[FILE.svg]",
    help="Draw notes, facts, opinions and tiers: here, or as an SVG file.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Replace the file even if it is not a drawing of this program.")
def stats(shared: Shared, drawing: str | None, force: bool) -> None:
    """Show the figures of the vault: days, facts, entities, opinions, summaries, recalls, index."""
    if force and not drawing:
        raise UsageError("--force goes with --plot FILE.svg.", "It replaces that file, whatever it is.")
    memory = shared.memory()
    with Bar(shared) as bar:
        found = health.stats(memory, date.today(), bar)
    file = svg_file.draw(memory.vault, found, Path(drawing), force) if drawing else None
    if shared.json:
        document = figures.document(found, str(memory.vault.root))
        seen = seen_document(memory.index_state)
        document["index"] |= seen.pop("index", {})
        shared.say(dump(document | seen | {"plot": str(file) if file else None}))
    elif file:
        shared.say(f"Drawn: {clean(str(file))}")
    else:
        shared.say(figures.text(found))
        if drawing is not None:
            width = shutil.get_terminal_size().columns
            shared.say(
                "\n" + "\n".join(map(clean, plot.text(found.picture(memory.vault.root.name), width).split("\n")))
            )
    say_of_index(shared, memory)
