"""The `mcp` command: the MCP server on standard input and output."""

from pathlib import Path

from vault_memory.cli.common import Shared, command
from vault_memory.errors import VaultMemoryError


@command("memory mcp --vault ~/Notes", short_help="Serve agents over MCP, on standard input and output.")
def mcp(shared: Shared) -> None:
    """Serve the vault to an agent over MCP, on standard input and output, until its client closes them.

    The client (Claude Desktop, Cursor, VS Code, any other) starts it; its settings say how:

    \b
    {"mcpServers": {"memory": {"command": "memory", "args": ["mcp", "--vault", "/path/to/Notes"]}}}

    Started in a project's folder, it also sees notes scoped to that project. Its log goes to standard error.
    """
    import gc

    gc.disable()  # the protocol's classes are made once and stay: searching them for garbage is a tenth of the start
    try:
        from vault_memory.agents import mcp_server
    except ImportError as error:
        raise VaultMemoryError(
            f"The MCP SDK cannot be loaded: {error}.", 'Install it: pip install "mcp>=2.3,<3".'
        ) from error
    gc.freeze()
    gc.enable()
    mcp_server.serve(shared.vault, Path.cwd())
