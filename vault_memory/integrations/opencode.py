"""Owns what is particular to opencode: the events that our plugin there passes on, and what it is told. Pure.

The plugin is `templates/opencode.js`; both ends of that conversation are ours.
"""

import json
from typing import Any

from vault_memory.agents import hook_events
from vault_memory.agents.hook_events import Occasion, text

AGENT = "opencode"
EVENTS = ("session.created", "chat.message", "session.idle", "session.compacting", "session.deleted")

LONGEST_CONTEXT = 20_000
"""UTF-16 units: no limit of opencode's, only one of sense."""

_WHAT = {
    "session.created": hook_events.STARTED, "chat.message": hook_events.ASKED, "session.idle": hook_events.PAUSED,
    "session.compacting": hook_events.SUMMED_UP, "session.deleted": hook_events.GONE,
}  # fmt: skip


def read(event: str, given: dict[str, Any]) -> Occasion:
    """The occasion that the input of one of our events tells of."""
    return Occasion(_WHAT[event], text(given, "session_id"), "", text(given, "cwd"), text(given, "prompt"))


def answer(event: str, context: str) -> str:
    """What the plugin is told: the text to put before the model."""
    return json.dumps({"context": context}) if context else ""
