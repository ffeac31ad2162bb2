"""Owns what is particular to Claude Code: its hook events and their fields, what it takes from a hook, its settings.

Names and shapes are those of its hooks reference (code.claude.com/docs/en/hooks). Pure.
"""

import json
from typing import Any

from vault_memory.integrations import occasion
from vault_memory.integrations.occasion import Occasion, text

AGENT = "claude-code"
EVENTS = ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd")

LONGEST_CONTEXT = 9500
"""UTF-16 units of `additionalContext`: up to 10,000 reach the model whole, of more it sees the beginning only."""

_NOTES = {"PreCompact": occasion.COMPACTING, "Stop": occasion.PAUSED, "SessionEnd": occasion.ENDED}


def read(event: str, given: dict[str, Any]) -> Occasion | None:
    """The occasion that an event's input tells of; None for an event that is none of ours."""
    common = text(given, "session_id"), text(given, "transcript_path"), text(given, "cwd")
    if event == "SessionStart":
        return Occasion(occasion.COMPACTED if given.get("source") == "compact" else occasion.STARTED, *common)
    if event == "UserPromptSubmit":
        return Occasion(occasion.ASKED, *common, text(given, "prompt"))
    if event == "PreCompact":
        return Occasion(occasion.COMPACTING, *common, text(given, "custom_instructions"))
    return Occasion(_NOTES[event], *common) if event in _NOTES else None


def answer(event: str, context: str) -> str:
    """What a hook prints to have text put before the model; only these two events take any."""
    if event not in ("SessionStart", "UserPromptSubmit") or not context:
        return ""
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}})


def hooks(command: str, timeout_seconds: int) -> dict[str, dict[str, Any]]:
    """For each event the group that its array in `hooks` of the settings holds; without a matcher it is for all."""
    return {
        event: {"hooks": [{"type": "command", "command": command.format(event=event), "timeout": timeout_seconds}]}
        for event in EVENTS
    }
