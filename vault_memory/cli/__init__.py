"""The `memory` command line: parses options, calls Memory, prints the result. Commands are imported on first use."""

import gc
import os
import sys
from importlib import import_module

import click

from vault_memory.cli.common import Shared, shared_options
from vault_memory.errors import VaultMemoryError

COMMANDS = {
    "init": "notes", "index": "index", "recall": "recall", "context": "recall", "get": "notes", "entity": "notes",
    "entities": "notes", "opinions": "notes", "retain": "notes", "forget": "notes", "capture": "capture",
    "proposals": "capture", "facts": "capture", "journal": "capture", "reflect": "reflect",
    "undo": "undo", "status": "health", "doctor": "health", "lint": "health", "stats": "health", "watch": "service",
    "service": "service", "hook": "agents", "install": "install", "uninstall": "install", "mcp": "agents",
}  # fmt: skip
"""Command → the module of this package that defines it."""


class LazyGroup(click.Group):
    """Imports a command's module only when it is called, so that recall does not wait for the imports of index."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = COMMANDS.get(cmd_name)
        if module is None:
            return None
        command: click.Command = getattr(import_module(f"vault_memory.cli.{module}"), cmd_name)
        return command


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog='Example: memory recall "what does Peter prefer?"',
)
@click.option("--rebuild", is_flag=True, help="Same as `memory index --rebuild`.")
@shared_options
def group(shared: Shared, rebuild: bool) -> None:
    """Long-term memory in Markdown files you own: index a vault of notes, recall from it with citations."""
    ctx = click.get_current_context()
    ctx.obj = shared
    if ctx.invoked_subcommand is None:
        if not rebuild:
            click.echo(ctx.get_help())
            ctx.exit(0)
        ctx.invoke(import_module("vault_memory.cli.index").index, rebuild=True)
    elif rebuild:
        raise click.UsageError("--rebuild works alone: write `memory --rebuild` or `memory index --rebuild`.")


group.commands = dict.fromkeys(COMMANDS)  # type: ignore[assignment]  # click takes suggestions for typos from here


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code; an error prints one sentence and the next step to standard error."""
    is_whole_process = arguments is None
    if is_whole_process:
        gc.set_threshold(50_000)  # a bulk load makes millions of tuples and no cycles: GC took a tenth of its time
    arguments = sys.argv[1:] if arguments is None else arguments
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115
    try:
        code = group.main(arguments, prog_name="memory", standalone_mode=False)
    except click.exceptions.Exit as error:
        code = error.exit_code
    except click.ClickException as error:
        _as_json(arguments, error.format_message(), "Run it with --help.", error.exit_code)
        error.show()
        code = error.exit_code
    except SystemExit:
        code = 0  # click exits like this when the reader closed the pipe (`| head`)
    except click.Abort:
        click.echo("Stopped.", err=True)
        code = 130
    except Exception as error:  # the outermost handler: no traceback unless requested
        if "-v" in arguments or "--verbose" in arguments:
            import traceback

            traceback.print_exc()
        if not isinstance(error, VaultMemoryError):
            unexpected = f"Unexpected: {type(error).__name__}: {error}"
            error = VaultMemoryError(unexpected, "Run it with -v, and please report it.")
        _as_json(arguments, str(error), error.next_step, error.exit_code)
        click.echo(f"Error: {error}", err=True)
        if error.next_step:
            click.echo(error.next_step, err=True)
        code = error.exit_code
    if is_whole_process:
        gc.freeze()  # skips the final garbage collection at exit (0.3 s after a large reflect)
    sys.exit(code if isinstance(code, int) else 0)


def _as_json(arguments: list[str], message: str, next_step: str, exit_code: int) -> None:
    """With `--json`, print the `error@1` document; the sentence still goes to standard error."""
    if "--json" in arguments:
        from vault_memory.rendering.common import schema

        error = {"message": message, "next_step": next_step, "exit_code": exit_code}
        Shared().say(schema("error") | {"error": error})
