"""Decides when a hook stays silent, and explains it for hook.log. Reasons, in the order in which they are checked:

1. The event takes no answer, or the time is up: hook.py.
2. The prompt contains nothing to search for, for example a slash command or a digit: `find_questions`.
3. The notes are unrelated to the prompt: search/relevance_gate.py measures that, and there are no results.
4. Results are weak, or hardly better than what the session was shown in its last turns (`ShownSession`): the thresholds
   are in search/recall.py (UNASKED_FLOOR, SHOWN_FLOOR).
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

# --- prompts without anything to search for ---------------------------------------------------------------------------

LONGEST_PROMPT = 4000
"""How many characters of a prompt are searched for, half of them from its end: the question comes before or after
pasted text."""

LONGEST_TYPED = 8 * LONGEST_PROMPT
"""How many characters outside code fences are scanned for questions, half of them from the end."""

MAX_TYPED_LINES = 5
"""How many lines a person usually types; a longer prompt contains pasted text and is searched for questions."""

_COMMAND = re.compile(r"/[\w:.-]+(?=\s|$)")
_WORD = re.compile(r"[^\W_]+")
_STANDS_FOR = re.compile(
    r"\[(?:Image|Pasted text) #\d{1,6}(?: \+\d{1,9} lines)?\]"
    r"|(?<![\w@])@(?:\"[^\"\n]{1,300}\"|[\w.~/\\-]{0,300}(?:/|\.[a-z][a-z0-9]{0,4}\b))(?:#L\d{1,9}(?:-L?\d{1,9})?)?"
)
"""Claude Code's placeholders for an image, pasted text or a file; only the model gets their content, not the hook."""

_FENCED = re.compile(r"^ {0,3}(```|~~~)[^`\n]*\n(?:(?! {0,3}\1)[^\n]*\n)*+ {0,3}\1[^\n]*", re.MULTILINE)
_ASKING = re.compile(r"[?？؟][\"'”’»)\]*_]*+\s*\Z")


def find_questions(prompt: str) -> tuple[str, ...]:
    """Return the parts of a prompt to search for; each is a fallback if the notes are unrelated to the previous ones.

    For a long prompt, in which pasted text would outweigh the question: its questions, first line, last line, and all
    of it. For a short one: the text outside code fences, and all of it. Empty for a slash command, a digit and so on.
    """
    if "vault-memory" in prompt.casefold():  # an earlier answer of ours may be pasted into it
        # Imported here: its patterns take longer to compile than most hooks take to answer.
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
    """Whether a line is a question: of at least three words, or in a script that does not separate words."""
    return bool(_ASKING.search(line)) and (len(line.split()) > 2 or "？" in line)


def _names_something(words: str) -> bool:
    """Whether there is a word of two letters, or of one that is not ASCII (`鍋`); numbers do not count."""
    named = (word for word in _WORD.findall(words) if not word.isdigit())
    return any(len(word) > 1 or not word.isascii() for word in named)


def shorten(words: str, most: int) -> str:
    half = most // 2
    return words if len(words) <= most else f"{words[: half - 1]}\n{words[-half:]}"


# --- passages a session was already shown -----------------------------------------------------------------------------

SHOWN_TURNS = 8
"""For how many turns a passage is not shown again, because it is still in the conversation."""

MAX_PROMPTS, LONGEST_KEPT_PROMPT = 3, 400
"""The last prompts, shortened to both ends, are kept until the session ends and searched for after a compaction."""

TURN, BESIDE, ANSWERED, CLEARED, REMINDED = "turn", "beside", "answered", "clear", "reminded"

_KEY = re.compile(r"[0-9a-f]{16}")
"""A passage's hash, as in `context@1`; a malformed one would have the whole request refused."""

MAX_SESSION_BYTES = 1 << 19

KEPT_SESSION_DAYS = 7
MAX_SESSIONS = 500


class ShownSession:
    """What one session of an agent was shown from one vault; without a session id nothing is recorded."""

    def __init__(self, agent: str, session: str, environ: Mapping[str, str], vault: str = "") -> None:
        self.folder = Path(startup.user_folder("data", environ)) / "hooks" / "sessions"
        name = hashlib.sha256(f"{agent}\n{session}\n{vault}".encode("utf-8", "replace")).hexdigest()[:24]
        self.file = self.folder / f"{name}.jsonl" if session else None

    def recent_keys(self, turns: int | None = SHOWN_TURNS) -> frozenset[str]:
        """Return the keys of the passages shown since the last compaction, in the last `turns` or in all (None)."""
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
        """Whether the agent was reminded to store something, or has done so."""
        return any(line["what"] == REMINDED for line in self._newest_first(past_clear=True))

    def note(self, what: str, keys: Iterable[str] = (), prompt: str = "") -> None:
        """Record the keys of passages that were shown, and the prompt.

        `what` says where they were shown: in a TURN, in the system prompt or similar (BESIDE), or in an answer of
        memory's tools (ANSWERED). CLEARED forgets earlier ones, because the conversation no longer contains them.
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
        """Forget what was shown in turns; what was shown BESIDE them is still in the system prompt."""
        keys = [key for line in self._newest_first() if line["what"] == BESIDE for key in line["keys"]]
        self.note(CLEARED)
        self.note(BESIDE, keys)

    def delete(self) -> None:
        """Delete the file of a session that is over."""
        if self.file:
            with contextlib.suppress(OSError):
                self.file.unlink()

    def sweep(self) -> None:
        """Delete the files of sessions that were never ended."""
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
                continue  # truncated or damaged
            if what == CLEARED and not past_clear:
                return
            yield {"what": what, "keys": keys, "prompt": prompt}


# --- reasons for the log ----------------------------------------------------------------------------------------------


def explain_silence(document: dict[str, Any]) -> str:
    """Return why a `context@1` document has no text."""
    from vault_memory.rendering.recall import context_notes

    if document["index"] is None:
        found = "; ".join(each["why"] for each in document["degraded"])
        return f"No index could be asked: {found}. One is being built."
    # That the lexical lane found nothing adds nothing to the statement that there are no results.
    degraded = [each for each in document["degraded"] if each["what"] != "lexical"]
    return " ".join(context_notes(document | {"degraded": degraded}))
