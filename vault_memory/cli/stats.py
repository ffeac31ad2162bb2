"""The `stats` command: the figures of the vault, and a drawing of them."""

import shutil
from datetime import date
from pathlib import Path

import click

from vault_memory.cli.common import Bar, Shared, command, say_of_index
from vault_memory.errors import UsageError
from vault_memory.health import stats as health
from vault_memory.rendering.common import clean, dump, seen_document
from vault_memory.rendering.stats import sparklines, stats_document, stats_text, svg, write_drawing


@command("memory stats --plot", short_help="Show statistics about the vault, and draw them.")
@click.option(
    "--plot", is_flag=False, flag_value="", metavar="[FILE.svg]",
    help="Draw notes, facts and opinions: here, or as an SVG file.",
)  # fmt: skip
@click.option("--force", is_flag=True, help="Replace the file even if this program did not make it.")
def stats(shared: Shared, plot: str | None, force: bool) -> None:
    """Show statistics about the vault: days, facts, entities, opinions, summaries, recalls, index."""
    if force and not plot:
        raise UsageError("--force only works with --plot FILE.svg.", "It replaces that file, whatever it is.")
    memory = shared.memory()
    with Bar(shared) as bar:
        found = health.stats(memory, date.today(), bar)
    title = memory.vault.root.name
    file = write_drawing(memory.vault, Path(plot), svg(found, title), force) if plot else None
    if shared.json:
        document, seen = stats_document(found, str(memory.vault.root)), seen_document(memory.index_state)
        document["index"] |= seen.pop("index", {})
        shared.say(dump(document | seen | {"plot": str(file) if file else None}))
    elif file:
        shared.say(f"Wrote {clean(str(file))}")
    else:
        shared.say(stats_text(found))
        if plot is not None:
            lines = sparklines(found, shutil.get_terminal_size().columns).split("\n")
            shared.say("\n".join(("", *map(clean, lines))))
    say_of_index(shared, memory)
