"""The `watch` command: the daemon in the foreground."""

from vault_memory.cli.common import Shared, command


@command("memory watch", short_help="Keep the index up to date and questions fast, until stopped.")
def watch(shared: Shared) -> None:
    """Watch the vault: a saved note is searchable at once, and `memory recall` is answered by this process.

    It runs until it is stopped (Ctrl-C); `memory service install` has it start by itself.
    """
    from vault_memory.config import load
    from vault_memory.daemon.process import Daemon

    Daemon(load(shared.vault), shared.note).run(loud=shared.verbose)
