"""Owns what is particular to Claude Code: its hook events and their fields, what it takes from a hook, its settings.

Names and shapes are those of its hooks reference (code.claude.com/docs/en/hooks). Pure.
"""

import contextlib
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vault_memory.agents import hook_events
from vault_memory.agents.hook_events import Occasion, text

if TYPE_CHECKING:
    from vault_memory.integrations.entries import Entry

AGENT = "claude-code"
EVENTS = ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd")

OFF = "disableAllHooks"
"""The setting that, where it is true, has no hook run."""

LONGEST_CONTEXT = 9500
"""UTF-16 units of `additionalContext`: up to 10,000 reach the model whole, of more it sees the beginning only."""

TIMEOUT_MARGIN_SECONDS = 8
"""What Claude Code waits for a hook beyond its own deadline: a machine that wakes up is slow to start Python."""

_STARTS = {"resume": hook_events.RESUMED, "compact": hook_events.COMPACTED}
_NOTES = {"Stop": hook_events.PAUSED, "SessionEnd": hook_events.ENDED}


def read(event: str, given: dict[str, Any]) -> Occasion:
    """The occasion that the input of one of our events tells of."""
    common = text(given, "session_id"), text(given, "transcript_path"), text(given, "cwd")
    if event == "SessionStart":
        return Occasion(_STARTS.get(text(given, "source"), hook_events.STARTED), *common)
    if event == "UserPromptSubmit":
        return Occasion(hook_events.ASKED, *common, text(given, "prompt"))
    if event == "PreCompact":
        return Occasion(hook_events.COMPACTING, *common, text(given, "custom_instructions"))
    return Occasion(_NOTES[event], *common)


def answer(event: str, context: str) -> str:
    """What a hook prints to have text put before the model; only these two events take any."""
    if event not in ("SessionStart", "UserPromptSubmit") or not context:
        return ""
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}})


def entries(words: Sequence[str], seconds: float) -> "list[Entry]":
    """What the settings hold for our hooks: `words` run this program. A group without a matcher is for every case.

    A hook has so many `seconds`; another timeout that its owner has set is kept, unless it would come before that.
    """
    from vault_memory.integrations.entries import Entry  # lazy, as all below: a hook needs nothing of it

    def keeps(name: str, there: Any) -> bool:  # noqa: ANN401 - settings can hold anything
        with contextlib.suppress(TypeError, ValueError):
            return name == "timeout" and float(there) >= seconds
        return False

    wait = int(seconds) + TIMEOUT_MARGIN_SECONDS
    return [
        Entry(("hooks", event), _group((*words, "hook", AGENT, event), wait), _words, inner="hooks", keeps=keeps)
        for event in EVENTS
    ]


def _group(words: Sequence[str], timeout_seconds: int) -> dict[str, Any]:
    import shlex
    import subprocess

    line = subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)
    return {"hooks": [{"type": "command", "command": line, "timeout": timeout_seconds}]}


def _words(group: Any) -> list[str]:  # noqa: ANN401 - settings can hold anything
    """The command line of a group all of whose hooks are ours."""
    hooks = group.get("hooks") if isinstance(group, dict) else None
    found = [_words_of_hook(hook) for hook in hooks] if isinstance(hooks, list) else []
    return found[0] if found and all(found) else []


def _words_of_hook(hook: Any) -> list[str]:  # noqa: ANN401
    import shlex

    from vault_memory.integrations.entries import is_program

    line = hook.get("command") if isinstance(hook, dict) else None
    try:
        words = shlex.split(line, posix=sys.platform != "win32") if isinstance(line, str) else []
    except ValueError:  # a quote without its other half
        return []
    if sys.platform == "win32":  # there the quotes around a word are not taken off
        words = [word.strip('"') for word in words]
    return words if is_program(words) and words[-3:-1] == ["hook", AGENT] else []
