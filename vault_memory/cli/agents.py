"""The commands that agents run: `hook`, and `mcp`, a server on standard input and output."""

import os
import sys
from pathlib import Path

import click

from vault_memory.cli.common import Shared, command
from vault_memory.errors import VaultMemoryError


@command(
    "memory hook claude-code UserPromptSubmit < event.json",
    short_help="Answer an agent's hook; agents run this, people do not.",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.argument("agent", default="")
@click.argument("event", default="")
def hook(shared: Shared, agent: str, event: str) -> None:
    """Answer an agent's hook event: its JSON on standard input, the context for the model on standard output.

    On any failure it still exits in time, silently and with code 0; hooks/hook.log in the data folder says why.
    """
    from vault_memory.agents.hook import run
    from vault_memory.agents.hook_events import AGENTS
    from vault_memory.integrations.hook_log import Call

    # An agent takes exit code 2, which a usage error has, for a refusal and would block its user's prompt.
    if agent not in AGENTS and sys.stdin is not None and sys.stdin.isatty():
        raise click.UsageError(f"`{agent}` is not an agent with hooks. Known are: {', '.join(AGENTS)}.")
    # A relative path refers to the caller's working directory; the event may name another folder.
    vault = os.path.abspath(os.path.expanduser(shared.vault)) if shared.vault else ""
    run(Call(agent, event, vault))


@command("memory mcp --vault ~/Notes", short_help="Serve agents over MCP, on standard input and output.")
def mcp(shared: Shared) -> None:
    """Serve the vault to an agent over MCP, on standard input and output, until its client closes them.

    The client (Claude Desktop, Cursor, VS Code, any other) starts it; its settings say how:

    \b
    {"mcpServers": {"memory": {"command": "memory", "args": ["mcp", "--vault", "/path/to/Notes"]}}}

    Started in a project's folder, it also sees notes scoped to that project. Its log goes to standard error.
    """
    import gc

    gc.disable()  # the protocol's classes are permanent: scanning them for garbage takes a tenth of the start-up
    try:
        from vault_memory.agents import mcp_server
    except ImportError as error:
        raise VaultMemoryError(
            f"The MCP SDK cannot be loaded: {error}.", 'Install it: pip install "mcp>=2.3,<3".'
        ) from error
    gc.freeze()
    gc.enable()
    mcp_server.serve(shared.vault, Path.cwd())
