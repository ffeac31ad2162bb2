"""The `watch` command: the daemon in the foreground."""

from vault_memory.cli.common import Shared, command


@command("memory watch", short_help="Keep the index up to date and recall fast, until stopped.")
def watch(shared: Shared) -> None:
    """Watch the vault: a saved note is searchable at once, and `memory recall` is answered by this process.

    It runs until stopped (Ctrl-C); `memory service install` starts it automatically.
    """
    from vault_memory.config import load
    from vault_memory.daemon.process import Daemon

    Daemon(load(shared.vault), shared.note).run(loud=shared.verbose)
