"""What all commands share: global options before or after the command, output and progress."""

import contextlib
import errno
import functools
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from vault_memory.errors import VaultMemoryError
from vault_memory.startup import __version__, named_vault

if TYPE_CHECKING:
    from vault_memory.federation import Federation
    from vault_memory.rendering.common import Document


@dataclass(frozen=True)
class Shared:
    """The global options of one invocation."""

    vault: str | None = None
    json: bool = False
    quiet: bool = False
    verbose: bool = False

    def memory(self, with_problems: bool = False) -> "Federation":
        """Open the vault; `with_problems` tolerates invalid settings."""
        from vault_memory.config import load
        from vault_memory.federation import Federation

        return Federation(load(self.vault, with_problems=with_problems))

    def can_ask(self) -> bool:
        """Whether the user can be prompted."""
        return sys.stdin.isatty() and sys.stdout.isatty() and not self.json

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Call a method of the vault's daemon, or run it in this process if no daemon can answer."""
        from vault_memory.daemon import client

        root = named_vault(self.vault, os.environ, os.getcwd())
        if root is None:
            from vault_memory.config import load

            root = str(load(None).vault)
        found = client.ask(root, method, params)
        if found is None:
            from vault_memory.daemon import rpc_methods

            with progress_bar(self) as bar:
                found = rpc_methods.call(method, self.memory(), params, bar)
        return found

    def say(self, result: "str | Document") -> None:
        """Print a result: a text, or a document as one line of JSON."""
        try:
            click.echo(result if isinstance(result, str) else json.dumps(result))
        except OSError as error:
            if error.errno == errno.EPIPE:  # the reader closed the pipe (`| head`): click ends quietly
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left in the buffer fails no more
            what = f"The answer cannot be printed: {error.strerror or error}."
            raise VaultMemoryError(what, "What the command writes to the vault may be written already.") from error

    def note(self, text: str) -> None:
        """Print a remark about the result to standard error."""
        if not self.quiet and not self.json:
            is_plain = os.environ.get("NO_COLOR") or not sys.stderr.isatty()  # https://no-color.org
            click.echo(text if is_plain else click.style(text, dim=True), err=True)


def say_from_index(shared: Shared, memory: "Federation", result: "str | Document" = "", otherwise: str = "") -> None:
    """Print a result (`otherwise` is the remark if it is empty), then remarks about the index that it came from."""
    from vault_memory.rendering.common import index_state_document, index_state_notes

    if result:
        shared.say(result if isinstance(result, str) else result | index_state_document(memory.index_state))
    elif otherwise:
        shared.note(otherwise)
    for note in index_state_notes(memory.index_state):
        shared.note(note)


def shared_options(wanted: Callable[..., Any]) -> Callable[..., Any]:
    """Add the global options to a command, and pass them, merged with those before the command, as first argument."""

    @functools.wraps(wanted)
    def with_shared(*args: Any, **options: Any) -> Any:  # noqa: ANN401
        before = click.get_current_context().obj or Shared()
        shared = {name: options.pop(f"shared_{name}") or value for name, value in vars(before).items()}
        if shared["verbose"]:
            import logging

            logging.getLogger("vault_memory").setLevel(logging.DEBUG)
        return wanted(Shared(**shared), *args, **options)

    function: Callable[..., Any] = with_shared
    where = "The vault (default: $MEMORY_VAULT, else found from the current folder)."
    for option in (
        click.version_option(__version__, prog_name="vault-memory"),
        click.option("-v", "--verbose", "shared_verbose", is_flag=True, help="Show more, including tracebacks."),
        click.option("--quiet", "shared_quiet", is_flag=True, help="Show only results and errors."),
        click.option("--json", "shared_json", is_flag=True, help="Print one JSON document instead of text."),
        click.option("--vault", "shared_vault", metavar="PATH", help=where),
    ):
        function = option(function)
    return function


def words(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> str:
    """Join the words of an argument into one text; raises click's UsageError if it is empty (a click callback)."""
    text = " ".join(given).strip()
    if not text:
        raise click.BadParameter("it is empty.", ctx, param)
    return text


scope_option = click.option(
    "--scope", multiple=True, metavar="S", help="Only this scope (global, project:x …); may be repeated."
)


def command(example: str, **settings: Any) -> Callable[[Callable[..., Any]], click.Command]:  # noqa: ANN401
    """Define a command whose function takes `shared` first; its help lists its own options before the global ones."""

    def define(function: Callable[..., Any]) -> click.Command:
        made = click.command(cls=click.Command, epilog=f"Example: {example}", **settings)(shared_options(function))
        made.params.sort(key=lambda each: each.name == "version" or (each.name or "").startswith("shared_"))
        return made

    return define


@contextlib.contextmanager
def progress_bar(shared: Shared, what: str = "Indexing", unit: str = "notes") -> Iterator[Callable[..., None]]:
    """Show progress on standard error if that is a terminal: notes, passages, seconds left.

    Yields a function to call with units done, units in total and passages written by this run.
    """
    is_shown = sys.stderr.isatty() and not shared.quiet and not shared.json
    started = last = 0.0

    def show(done: int, total: int, passages: int) -> None:
        nonlocal started, last
        now = time.monotonic()
        started = started or now
        if not is_shown or now - last < 0.1 or now - started < 0.4:
            return
        last = now
        # Work done before this run says nothing about its speed.
        left = (now - started) / max(done if unit == "notes" else passages, 1) * (total - done)
        filled = 24 * done // max(total, 1)
        bar = "█" * filled + "░" * (24 - filled)
        read = f" notes, {passages:,} passages" if unit == "notes" else f" {unit}"
        click.echo(f"\r{what} {bar} {done:,}/{total:,}{read}, {left:.0f} s left\x1b[K", nl=False, err=True)

    try:
        yield show
    finally:
        if last:
            click.echo("\r\x1b[K", nl=False, err=True)
