"""What keeps a hook silent, in the order in which it is found out; and what hook.log says of it.

1. An event that takes no answer, or time that is over: hook.py.
2. A prompt that names nothing to look for, as a slash command or a digit: `find_questions`.
3. Notes that have nothing to do with it: search/relevance_gate.py measures that, and no result comes.
4. Results that are weak, or hardly better than what the session was shown in its last turns (`ShownSession`): what they
   must reach stands in search/recall.py (UNASKED_FLOOR, SHOWN_FLOOR).
"""

import contextlib
import hashlib
import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from vault_memory import startup
from vault_memory.agents.hook_events import text_field
from vault_memory.vault import safe_files

# --- a prompt that names nothing to look for --------------------------------------------------------------------------

LONGEST_PROMPT = 4000
"""Characters of a prompt that are searched for, half of them from its end: a question stands before what is pasted, or
behind it."""

LONGEST_TYPED = 8 * LONGEST_PROMPT
"""Characters of what seems to be typed that are looked at for questions, half of them from its end."""

MAX_TYPED_LINES = 5
"""Lines that a person types as a rule: more of them hold something pasted, and questions are looked for in them."""

_COMMAND = re.compile(r"/[\w:.-]+(?=\s|$)")
_WORD = re.compile(r"[^\W_]+")
_STANDS_FOR = re.compile(
    r"\[(?:Image|Pasted text) #\d{1,6}(?: \+\d{1,9} lines)?\]"
    r"|(?<![\w@])@(?:\"[^\"\n]{1,300}\"|[\w.~/\\-]{0,300}(?:/|\.[a-z][a-z0-9]{0,4}\b))(?:#L\d{1,9}(?:-L?\d{1,9})?)?"
)
"""What Claude Code writes for an image, for pasted text and for a file: the model is given these, we are not."""

_FENCED = re.compile(r"^ {0,3}(```|~~~)[^`\n]*\n(?:(?! {0,3}\1)[^\n]*\n)*+ {0,3}\1[^\n]*", re.MULTILINE)
_ASKING = re.compile(r"[?？؟][\"'”’»)\]*_]*+\s*\Z")


def find_questions(prompt: str) -> tuple[str, ...]:
    """What of a prompt is worth looking for, each where nothing is known of what stands before it.

    Of a long prompt its questions, its first and its last line, and all of it: what is pasted would outweigh them. Of a
    short one what stands in no fence, and all of it. Empty for a slash command, a digit and the like.
    """
    if "vault-memory" in prompt.casefold():  # an earlier answer of ours may be pasted into it
        # Its patterns take longer to compile than most hooks to answer.
        from vault_memory.text.agent_frame import stripped

        prompt = stripped(prompt)
    words = _STANDS_FOR.sub(" ", prompt).strip()
    if _COMMAND.match(words):
        return ()
    unfenced = _FENCED.sub("", words).strip()
    lines = [line.strip() for line in shorten(unfenced, LONGEST_TYPED).splitlines() if line.strip()]
    typed = [unfenced]
    if len(lines) > MAX_TYPED_LINES:
        typed = ["\n".join(filter(_is_question, lines)), lines[0], lines[-1]]
    found = [shorten(each, LONGEST_PROMPT).strip() for each in (*typed, words)]
    return tuple(dict.fromkeys(each for each in found if _names_something(each)))


def _is_question(line: str) -> bool:
    """Whether a line asks something: it has three words, or is in a script that writes none apart."""
    return bool(_ASKING.search(line)) and (len(line.split()) > 2 or "？" in line)


def _names_something(words: str) -> bool:
    """Whether there is a word of two letters, or of one that is not ASCII (`鍋`); numbers name nothing."""
    named = (word for word in _WORD.findall(words) if not word.isdigit())
    return any(len(word) > 1 or not word.isascii() for word in named)


def shorten(words: str, most: int) -> str:
    half = most // 2
    return words if len(words) <= most else f"{words[: half - 1]}\n{words[-half:]}"


# --- what a session was shown already ---------------------------------------------------------------------------------

SHOWN_TURNS = 8
"""So many turns a passage is not shown again: it still stands in the conversation."""

MAX_PROMPTS, LONGEST_KEPT_PROMPT = 3, 400
"""What was asked last is kept, the ends of it, until the session ends: after a compaction it is looked for again."""

TURN, BESIDE, ANSWERED, CLEARED, REMINDED = "turn", "beside", "answered", "clear", "reminded"

_KEY = re.compile(r"[0-9a-f]{16}")
"""A passage's hash, as `context@1` gives it: one that is none would have the whole question refused."""

MAX_SESSION_BYTES = 1 << 19

KEPT_SESSION_DAYS = 7
MAX_SESSIONS = 500


class ShownSession:
    """What one session of an agent was shown of one vault; without an id nothing is remembered."""

    def __init__(self, agent: str, session: str, environ: Mapping[str, str], vault: str = "") -> None:
        self.folder = Path(startup.user_folder("data", environ)) / "hooks" / "sessions"
        name = hashlib.sha256(f"{agent}\n{session}\n{vault}".encode("utf-8", "replace")).hexdigest()[:24]
        self.file = self.folder / f"{name}.jsonl" if session else None

    def recent_keys(self, turns: int | None = SHOWN_TURNS) -> frozenset[str]:
        """The keys of the passages shown since the last compaction, in so many turns, in all of them where None."""
        found: set[str] = set()
        seen = 0
        for line in self._newest_first():
            found |= line["keys"]
            seen += line["what"] == TURN
            if seen == turns:
                break
        return frozenset(found)

    def prompts(self) -> list[str]:
        found = dict.fromkeys(line["prompt"] for line in self._newest_first(past_clear=True) if line["prompt"])
        return list(found)[:MAX_PROMPTS]

    def is_reminded(self) -> bool:
        """Whether the agent was reminded of storing, or has stored something."""
        return any(line["what"] == REMINDED for line in self._newest_first(past_clear=True))

    def note(self, what: str, keys: Iterable[str] = (), prompt: str = "") -> None:
        """Note passages by their keys, and what was asked.

        `what` they were shown in or by: a TURN, the system prompt or the like (BESIDE), an answer of memory's tools
        (ANSWERED); CLEARED forgets which were shown, for the conversation no longer holds them.
        """
        if self.file is None:
            return
        if prompt:
            from vault_memory.sessions.redact import redacted  # its patterns take some milliseconds to compile

            prompt = shorten(redacted(prompt), LONGEST_KEPT_PROMPT)
        line = {"what": what, "keys": list(keys), "prompt": prompt}
        with contextlib.suppress(OSError):
            safe_files.append(self.file, json.dumps(line).encode("ascii"), MAX_SESSION_BYTES)

    def clear_turns(self) -> None:
        """Forget what was shown in turns; what was shown beside them stands in the system prompt."""
        keys = [key for line in self._newest_first() if line["what"] == BESIDE for key in line["keys"]]
        self.note(CLEARED)
        self.note(BESIDE, keys)

    def delete(self) -> None:
        """The session is over."""
        if self.file:
            with contextlib.suppress(OSError):
                self.file.unlink(missing_ok=True)

    def sweep(self) -> None:
        """Delete the files of sessions that nobody has ended."""
        with contextlib.suppress(OSError):
            files = sorted(((entry.stat().st_mtime, entry.path) for entry in os.scandir(self.folder)), reverse=True)
            oldest = time.time() - KEPT_SESSION_DAYS * 86_400
            for number, (at, path) in enumerate(files):
                if at < oldest or number >= MAX_SESSIONS:
                    os.unlink(path)

    def _newest_first(self, past_clear: bool = False) -> Iterator[dict[str, Any]]:
        lines: list[bytes] = []
        if self.file:
            with contextlib.suppress(OSError), open(self.file, "rb") as handle:
                lines = handle.read(2 * MAX_SESSION_BYTES).splitlines()
        for raw in reversed(lines):
            try:
                line = json.loads(raw)
                what, prompt = line["what"], text_field(line, "prompt")
                keys = set(filter(_KEY.fullmatch, line["keys"]))
            except (ValueError, KeyError, TypeError, RecursionError):
                continue  # cut off, or damaged
            if what == CLEARED and not past_clear:
                return
            yield {"what": what, "keys": keys, "prompt": prompt}


# --- what the log says of it ------------------------------------------------------------------------------------------


def explain_silence(document: dict[str, Any]) -> str:
    """Why a `context@1` document holds no text."""
    from vault_memory.rendering.recall import context_notes

    if document["index"] is None:
        found = "; ".join(each["why"] for each in document["degraded"])
        return f"No index could be asked: {found}. One is being built."
    # Of a lane that found nothing there is no more to say than that nothing was found.
    degraded = [each for each in document["degraded"] if each["what"] != "lexical"]
    return " ".join(context_notes(document | {"degraded": degraded}))
