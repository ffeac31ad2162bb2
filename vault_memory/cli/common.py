"""What all commands share: the global options, before or after the command, output and progress."""

import contextlib
import functools
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from vault_memory.errors import VaultMemoryError
from vault_memory.startup import __version__

if TYPE_CHECKING:
    from vault_memory.federation import Federation

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Shared:
    """The global options of one call."""

    vault: str | None = None
    json: bool = False
    quiet: bool = False
    verbose: bool = False

    def merged(self, other: "Shared") -> "Shared":
        """These options with those given after the command laid over them."""
        return Shared(
            other.vault or self.vault, self.json or other.json, self.quiet or other.quiet, self.verbose or other.verbose
        )

    def memory(self) -> "Federation":
        """Open the vault these options name."""
        from vault_memory.config import load
        from vault_memory.federation import Federation

        return Federation(load(self.vault))

    def ask_daemon(self, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        """What the vault's daemon answers; None where none runs that can be asked: then it is done in this process."""
        import os

        from vault_memory import startup
        from vault_memory.daemon import client

        root = startup.named_vault(self.vault, os.environ, os.getcwd()) or self._configured_vault()
        return client.asked(root, method, params)

    def _configured_vault(self) -> str:
        from vault_memory.config import load

        return str(load(self.vault).vault)

    def say(self, text: str) -> None:
        """Print a result; raises VaultMemoryError where standard output cannot take it."""
        try:
            click.echo(text)
        except BrokenPipeError:
            raise  # a reader that went away is no fault: click ends the program quietly
        except OSError as error:
            _give_up_output()
            what = f"The answer could not be written: {error.strerror or error}."
            raise VaultMemoryError(what, "Check where standard output goes.") from error

    def note(self, text: str) -> None:
        """Print what a person should know beside the result, on standard error."""
        if not self.quiet and not self.json:
            click.echo(click.style(text, dim=True) if colour(sys.stderr) else text, err=True)


def _give_up_output() -> None:
    """Let what is left in standard output's buffer go nowhere: Python would try, and complain, once more at its end."""
    import os

    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say_of_index(shared: Shared, memory: "Federation") -> None:
    """Say what a person should know of the index that the last answer came from."""
    from vault_memory.rendering.common import seen_notes

    for note in seen_notes(memory.index_state):
        shared.note(note)


def colour(stream: Any) -> bool:  # noqa: ANN401
    """Whether a stream is a terminal that wants colour (https://no-color.org)."""
    import os

    return not os.environ.get("NO_COLOR") and bool(stream.isatty())


def shared_options(function: F) -> F:
    """Add the global options to a command."""
    for option in (
        click.version_option(__version__, prog_name="vault-memory"),
        click.option("-v", "--verbose", "shared_verbose", is_flag=True, help="Show more, including tracebacks."),
        click.option("--quiet", "shared_quiet", is_flag=True, help="Show only results and errors."),
        click.option("--json", "shared_json", is_flag=True, help="Print one JSON document instead of text."),
        click.option(
            "--vault",
            "shared_vault",
            metavar="PATH",
            help="The vault (default: $MEMORY_VAULT, else found from the current folder).",
        ),
    ):
        function = option(function)
    return function


def pass_shared(function: Callable[..., Any]) -> Callable[..., Any]:
    """Hand the merged global options to a command as its first argument."""

    @functools.wraps(function)
    def wrapped(
        *args: Any,  # noqa: ANN401
        shared_vault: str | None = None,
        shared_json: bool = False,
        shared_quiet: bool = False,
        shared_verbose: bool = False,
        **kwargs: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        here = Shared(shared_vault, shared_json, shared_quiet, shared_verbose)
        context = click.get_current_context()
        before = context.obj if isinstance(context.obj, Shared) else Shared()
        return function(before.merged(here), *args, **kwargs)

    return wrapped


class Command(click.Command):
    """A command whose help names its own options first, then the global ones, and ends with an example."""

    def __init__(self, *args: Any, example: str = "", **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__(*args, **kwargs)
        self.params.sort(key=lambda p: p.name == "version" or (p.name or "").startswith("shared_"))
        self.epilog = f"Example: {example}" if example else None


SCOPE_HELP = "Only this scope (global, project:x …); may be repeated."


def command(example: str, **settings: Any) -> Callable[[Callable[..., Any]], click.Command]:  # noqa: ANN401
    """Define a command: its own options, then the global ones; the function gets `shared` first."""

    def decorate(function: Callable[..., Any]) -> click.Command:
        options = shared_options(pass_shared(function))
        return click.command(cls=Command, example=example, **settings)(options)

    return decorate


class Bar:
    """Progress on a terminal, on standard error: notes, passages, seconds left. Elsewhere nothing."""

    def __init__(self, shared: Shared, what: str = "Indexing", unit: str = "notes") -> None:
        self._unit = unit
        self._shown = sys.stderr.isatty() and not shared.quiet and not shared.json
        self._what = what
        self._started = 0.0
        self._last = 0.0

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *_: object) -> None:
        if self._last:
            click.echo("\r\x1b[K", nl=False, err=True)

    def __call__(self, done: int, total: int, passages: int) -> None:
        """Show `done` of `total` units, and how many passages this run has written."""
        now = time.monotonic()
        self._started = self._started or now
        if not self._shown or now - self._last < 0.1 or now - self._started < 0.4:
            return
        self._last = now
        # What was done before this run says nothing of its speed.
        here = done if self._unit == "notes" else passages
        left = (now - self._started) / max(here, 1) * (total - done)
        filled = 24 * done // max(total, 1)
        bar = "█" * filled + "░" * (24 - filled)
        read = f" notes, {passages:,} passages" if self._unit == "notes" else f" {self._unit}"
        text = f"\r{self._what} {bar} {done:,}/{total:,}{read}, {left:.0f} s left"
        click.echo(text + "\x1b[K", nl=False, err=True)
