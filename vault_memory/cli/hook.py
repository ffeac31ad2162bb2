"""The `hook` command."""

import os
import sys

import click

from vault_memory.agents.hook import run
from vault_memory.agents.hook_events import AGENTS
from vault_memory.cli.common import Shared, command
from vault_memory.integrations.hook_log import Call


@command(
    "memory hook claude-code UserPromptSubmit < event.json",
    short_help="Answer an agent's hook; agents run this, people do not.",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.argument("agent", default="")
@click.argument("event", default="")
def hook(shared: Shared, agent: str, event: str) -> None:
    """Answer an event of an agent: its JSON on standard input, what is to be put before the model on standard output.

    Whatever goes wrong, it ends in time, with 0 and without a word; why is in hooks/hook.log of the data folder.
    """
    # An agent takes the exit code 2 of wrong usage for a refusal, and would hold back what its user typed.
    if agent not in AGENTS and sys.stdin is not None and sys.stdin.isatty():
        raise click.UsageError(f"`{agent}` is not an agent with hooks. Known are: {', '.join(AGENTS)}.")
    # A path is told by whoever calls from where they stand: the event may name another folder.
    vault = os.path.abspath(os.path.expanduser(shared.vault)) if shared.vault else ""
    run(Call(agent, event, vault))
