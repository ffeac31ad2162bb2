"""Parses the hook events of each agent and formats the answers they accept. Pure.

Names and shapes follow Claude Code's hooks reference (code.claude.com/docs/en/hooks) and our own plugin for opencode
(`templates/opencode.js`). A missing field, or one of the wrong type, counts as empty.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

from vault_memory.text.agent_frame import unquoted

_Kind = TypeVar("_Kind")

STARTED, RESUMED, ASKED, COMPACTING, COMPACTED = "started", "resumed", "asked", "compacting", "compacted"
CONTINUED = "continued"
"""A session continued by another process: its system prompt is built anew, its turns are still there."""

SUMMED_UP = "summed up"
"""A compaction whose context goes to the model that writes the summary, not into the conversation."""

PAUSED, ENDED, GONE = "paused", "ended", "gone"
"""A session that has ended may be resumed; one that is gone cannot."""

STORE_NOW = (
    "Nothing from this session is in memory yet. If something was decided, or is worth knowing in another session, "
    "keep it with memory_store, one fact a call; if not, end here. You are reminded once."
)
STORE_LATER = (
    "Keep in the summary what was decided or asked to be remembered, and that it is still to be kept with memory_store."
)

_NUMBERED = re.compile(r"^[Lm]\d{1,9} (.+)$", re.MULTILINE)


class HookEvent(NamedTuple):
    """What happened in which session; `prompt` is what the user asked, or what to search for.

    If the agent passes them instead of a transcript, `said` is what the user typed last and `answers` are those of
    memory's tools since the last prompt. `settled` means that the agent has stored something or was reminded to.
    `summary` replaces the conversation after a compaction.
    """

    what: str
    session: str = ""
    transcript: str = ""
    folder: str = ""
    prompt: str = ""
    said: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    summary: str = ""
    settled: bool = False


class Agent(NamedTuple):
    """The hook protocol of an agent: what its events mean, and the longest answer it accepts, in UTF-16 units.

    `answered` are the events of Claude Code that accept an answer.
    """

    name: str
    events: dict[str, str]
    longest_context: int
    answered: tuple[str, ...] = ()

    def read(self, event: str, fields: dict[str, Any]) -> HookEvent:
        """Parse the input of an event."""
        what, prompt = self.events[event], "prompt"
        if self.name == "claude-code":
            if event == "SessionStart":
                what = {"resume": RESUMED, "compact": COMPACTED}.get(text_field(fields, "source"), STARTED)
            prompt = {"UserPromptSubmit": "prompt", "PreCompact": "custom_instructions"}.get(event, "")
        session, transcript, folder, asked, summary = (
            text_field(fields, name) for name in ("session_id", "transcript_path", "cwd", prompt, "compact_summary")
        )
        asked = unquoted(asked) if self.name == "opencode" else asked
        said, answers = (tuple(_only(str, fields.get(name))) for name in ("said", "answers"))
        return HookEvent(what, session, transcript, folder, asked, said, answers, summary, fields.get("stored") is True)

    def answer(self, event: str, context: str) -> str:
        """Return what a hook prints to add text to the model's context; "" for nothing."""
        if not context:
            return ""
        if self.name != "claude-code":
            return json.dumps({"context": context})
        output = {"hookEventName": event, "additionalContext": context}
        return json.dumps({"hookSpecificOutput": output}) if event in self.answered else ""

    def reminder(self, event: str, fields: dict[str, Any]) -> str:
        """Return the text that reminds the model to store what was said; "" if the event cannot deliver one."""
        if fields.get("stop_hook_active") is True or fields.get("stored") is True:
            return ""
        return {
            "Stop": STORE_NOW, "session.idle": STORE_NOW, "PreCompact": STORE_LATER, "session.compacting": STORE_LATER,
        }.get(event, "")  # fmt: skip

    def remind(self, event: str, reminder: str) -> str:
        """Return what a hook prints to deliver a reminder.

        Claude Code continues once more after a blocked Stop, and takes the output of PreCompact as instructions for the
        summary. Our opencode plugin adds the text to an idle session, or to the prompt of the summary.
        """
        if self.name == "claude-code":
            return json.dumps({"decision": "block", "reason": reminder}) if event == "Stop" else f"{reminder}\n"
        return json.dumps({"remind": reminder}) if event == "session.idle" else self.answer(event, reminder)


_CLAUDE_CODE = Agent(
    "claude-code",
    {"SessionStart": STARTED, "UserPromptSubmit": ASKED, "PreCompact": COMPACTING, "PostCompact": PAUSED,
     "Stop": PAUSED, "SessionEnd": ENDED},
    longest_context=9500,  # `additionalContext` reaches the model whole up to 10,000, beyond that only its beginning
    answered=("SessionStart", "UserPromptSubmit"),
)  # fmt: skip
_OPENCODE = Agent(
    "opencode",
    {"session.created": STARTED, "session.resumed": CONTINUED, "chat.message": ASKED, "session.idle": PAUSED,
     "session.compacting": SUMMED_UP, "session.deleted": GONE},
    longest_context=20_000,  # opencode has no limit; this is a sensible one
)  # fmt: skip
AGENTS = {agent.name: agent for agent in (_CLAUDE_CODE, _OPENCODE)}


def parse_input(data: bytes) -> dict[str, Any] | None:
    """Parse what an agent wrote to a hook's standard input; None if it is not a JSON object."""
    try:
        document = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def text_field(fields: dict[str, Any], name: str) -> str:
    """Return a text field, with what UTF-8 cannot encode replaced; "" for anything but text."""
    value = fields.get(name)
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def tool_answers(lines: Iterable[bytes]) -> Iterator[str]:
    """Yield the answers of memory's tools since the last compaction in the lines of a Claude Code transcript."""
    since: list[bytes] = []
    for line in lines:
        if b'"compact_boundary"' in line:
            since.clear()
        elif b'"tool_result"' in line and b"vault-memory" in line:
            since.append(line)
    for document in filter(None, map(parse_input, since)):
        message = document.get("message")
        for block in _only(dict, message.get("content") if isinstance(message, dict) else None):
            content = block.get("content")
            parts = [part.get("text") for part in _only(dict, content)] if isinstance(content, list) else [content]
            yield from (part for part in parts if isinstance(part, str) and "vault-memory" in part)


def has_stored(lines: Iterable[bytes]) -> bool:
    """Whether the lines of a Claude Code transcript show that the agent has stored something."""
    return any(b'"tool_use"' in line and (b"memory_store" in line or b"memory retain" in line) for line in lines)


def answered_passages(text: str) -> list[str]:
    """Return the passages in an answer of memory's tools, given as text or as structured content."""
    if structured := parse_input(text.encode("utf-8", "replace")):
        return [text_field(each, "content") for each in _only(dict, structured.get("passages"))]
    return _NUMBERED.findall(text)


def _only(kind: type[_Kind], value: object) -> list[_Kind]:
    """Return the items of this type in a list; nothing if it is not a list."""
    return [each for each in value if isinstance(each, kind)] if isinstance(value, list) else []
