"""Answers an agent's hook: within its time, whatever hangs, and silent about whatever goes wrong.

A prompt waits for this: a thread works, and is left behind when the time is over. Why nothing was printed is a line in
a log (hook_log.py).
"""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from vault_memory import startup
from vault_memory.agents import hook_events
from vault_memory.agents.hook_events import AGENTS, HookEvent
from vault_memory.agents.hook_silence import (
    ANSWERED,
    BESIDE,
    CLEARED,
    REMINDED,
    TURN,
    ShownSession,
    explain_silence,
    find_questions,
)
from vault_memory.errors import VaultMemoryError
from vault_memory.integrations import hook_log
from vault_memory.integrations.hook_log import Call
from vault_memory.vault import safe_files

if TYPE_CHECKING:
    from vault_memory.config import Config

SECONDS = 2.0
"""Until the settings are read, which may be on the disk that hangs."""

STARTUP_SECONDS = 0.1
"""What has gone by, at most as a rule, when this begins: Python and the command line."""

MAX_INPUT_BYTES = 16 << 20
"""Of standard input; a prompt with that much pasted into it is not searched for."""

RECENT_DAYS = 2
BUILDING_SECONDS = 10.0
"""So long after an indexing was started no other is; one that is at work longer is waited for by the next."""

GATED_SENTENCES = 12
"""So many of the last sentences of a session's user may be a reason to remind the agent of storing."""

Params = dict[str, Any]
Document = dict[str, Any]

MAX_TRANSCRIPT_BYTES = 1 << 18
"""Of the end of a transcript, where it is looked for what its user said, what memory's tools have answered and whether
something was stored."""

_NOTED = {
    hook_events.ENDED: "session ended", hook_events.GONE: "session ended",
    hook_events.COMPACTING: "session compacted", hook_events.SUMMED_UP: "session compacted",
}  # fmt: skip
"""What of a session the journal tells."""

_MARKED = (hook_events.COMPACTING, hook_events.COMPACTED, hook_events.SUMMED_UP, hook_events.PAUSED, hook_events.ENDED)


def run(call: Call) -> NoReturn:
    """Answer one event, read from standard input, on standard output, and end the process."""
    try:
        out = os.dup(1)
    except OSError:  # nobody listens
        os._exit(0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2):  # a stray word of any library would spoil the answer, or be shown to the user
        os.dup2(nowhere, descriptor)
    work = HookRun(call)
    threading.Thread(target=work.run, daemon=True).start()
    if not work.wait() and not work.output:
        why = f"Not done within {work.seconds:g} s, while {work.doing}; see `hooks.seconds`."
        writing = threading.Thread(target=work.log.write, args=(why, hook_log.TOO_LATE), daemon=True)
        writing.start()
        writing.join(0.05)  # the disk may hang, too
    with contextlib.suppress(OSError):
        os.write(out, work.output)
    os._exit(0)  # whatever the thread hangs in


class HookRun:
    """One event's work; `output` is to be printed, `seconds` is what the whole may take, `doing` what takes it."""

    def __init__(self, call: Call) -> None:
        self.call, self.environ = call, dict(os.environ)
        self.begun = time.monotonic() - STARTUP_SECONDS
        self.log = hook_log.Log(call, self.begun, self.environ)
        self.output = b""
        self.seconds = SECONDS
        self.doing = "waiting for its input"
        self._done = threading.Event()

    def wait(self) -> bool:
        """Whether it is done before its time is over; that may be set anew meanwhile."""
        while (left := self.begun + self.seconds - time.monotonic()) > 0:
            if self._done.wait(min(left, 0.05)):
                return True
        return self._done.is_set()

    def run(self) -> None:
        """Do it; nothing is raised."""
        try:
            self._answer()
        except BaseException as error:  # the edge: an agent's prompt is never in the way of a mistake of ours
            self.log.write(hook_log.explain(error), hook_log.FAILED)
        finally:
            self._done.set()

    def _answer(self) -> None:
        call, agent = self.call, AGENTS.get(self.call.agent)
        if agent is None or call.event not in agent.events:
            known = agent.events if agent else AGENTS
            self.log.write(f"The {'event' if agent else 'agent'} is unknown. Known: {', '.join(known)}.")
            return
        data = sys.stdin.buffer.read(MAX_INPUT_BYTES + 1) if not sys.stdin.isatty() else b"{}"
        given = hook_events.parse_input(data[:MAX_INPUT_BYTES])
        if given is None:
            self.log.write("Its input is not a JSON object." if data.strip() else "It had no input.")
        event = self.event = agent.read(call.event, given or {})
        session = self.session = ShownSession(call.agent, event.session, self.environ, call.vault)
        self.doing = "reading or writing its session's file"
        self._update_session()
        reminder = agent.reminder(call.event, given or {})
        if reminder and self._is_worth_storing():
            self.output = agent.remind(call.event, reminder).encode("ascii")
            if call.event != "session.idle":  # opencode's plugin says when it has: it may end before that
                session.note(REMINDED)
        requests = _requests(event, session)
        if not requests:
            if event.what == hook_events.ASKED and given is not None:
                self.log.write("The prompt names nothing to look for.")
            return
        document = self._context(requests, agent.longest_context)
        keys = [each["key"] for each in document["shown"]]
        texts = filter(None, (document["text"], reminder if self.output else ""))
        self.output = agent.answer(call.event, "\n\n".join(texts)).encode("ascii")
        if event.what == hook_events.ASKED:
            # What the notes have nothing to do with would after a compaction stand in the way of what they do.
            session.note(TURN, keys, document["about"])
        elif event.what != hook_events.SUMMED_UP:
            session.note(BESIDE, keys)

    @property
    def folder(self) -> Path:
        """Where the agent works."""
        named = self.event.folder
        return Path(named) if os.path.isabs(named) and "\0" not in named else Path.cwd()

    @cached_property
    def config(self) -> "Config":
        """The settings, which say how long all may take; raises VaultMemoryError where there is no vault."""
        from vault_memory.config import load

        self.doing = "reading the settings"
        config = load(self.call.vault or None, self.environ, self.folder)
        self.seconds = config.hooks_seconds
        return config

    def _update_session(self) -> None:
        """Keep what is to be known later: that a transcript has grown, what does not occur in it any more."""
        from vault_memory.sessions.ledger import mark_ended, mark_grown

        event, session = self.event, self.session
        if event.what in _MARKED and event.session:
            mark_grown(self.environ)
        if event.what == hook_events.ENDED and event.session:
            mark_ended(self.environ, self.call.agent, event.session)
        if event.what in _NOTED and event.session:
            self._note_session(_NOTED[event.what])
        if event.summary and event.session:
            self._keep_summary()
        if event.what in (hook_events.STARTED, hook_events.COMPACTING, hook_events.COMPACTED):
            session.note(CLEARED)
        if event.what == hook_events.SUMMED_UP:
            session.clear_turns()
        if event.what == hook_events.COMPACTING and event.prompt:
            session.note(BESIDE, (), event.prompt)
        if event.answers:
            session.note(ANSWERED, _keys(event.answers))
        if event.settled and not session.is_reminded():
            session.note(REMINDED)
        if event.what == hook_events.STARTED:
            session.sweep()
        if event.what == hook_events.GONE:
            session.delete()

    def _note_session(self, what: str) -> None:
        """Have the vault's journal tell what became of a session."""
        from vault_memory.store import journal

        with contextlib.suppress(VaultMemoryError):  # no vault that could be written to
            if self.config.journal:
                session = f"sessions/{self.call.agent}/{self.event.session}"
                journal.note_session(self.config.vault, what, session, datetime.now(UTC))

    def _keep_summary(self) -> None:
        """Have the next sync put a compaction's summary into the session's text, where sessions are kept."""
        from vault_memory.sessions.ledger import keep_summary

        with contextlib.suppress(VaultMemoryError, OSError):  # no settings, or a disk that is full
            if self.call.agent in self.config.sessions_tools:
                keep_summary(self.environ, self.call.agent, self.event.session, self.event.summary)

    def _is_worth_storing(self) -> bool:
        """Whether a session's user said something that memory should know, and nothing was stored; asked but once."""
        try:
            if not (self.session.file and self.config.capture_remind) or self.session.is_reminded():
                return False
        except VaultMemoryError:  # whoever asks something is told
            return False
        lines = _transcript_end(self.event.transcript)
        if not self.event.said and hook_events.has_stored(lines):
            self.session.note(REMINDED)
            return False
        from vault_memory.capture.own_words import split_sentences, unquoted
        from vault_memory.capture.scores import GATE
        from vault_memory.capture.statements import is_statable
        from vault_memory.sessions.transcript import clean_message

        self.doing = "weighing what was said"
        said = self.event.said or _typed(lines)
        texts = [unquoted(clean_message(text)) for text in said]
        sentences = [each for text in texts for each in split_sentences(text) if is_statable(each)]
        return any(self._ask("gating_scalar", {"text": each})["G"] >= GATE for each in sentences[-GATED_SENTENCES:])

    def _ask(self, method: str, params: Params) -> Document:
        """What the vault's daemon answers in half of the time left, else this process, without any model."""
        from vault_memory.daemon import client

        left = self.begun + self.seconds - time.monotonic()
        document = client.ask(self.config.vault, method, params, max(left / 2, 0.05))
        if document is not None:
            return document
        from dataclasses import replace

        from vault_memory.daemon import rpc_methods
        from vault_memory.federation import Federation

        # The client of a model takes longer to import than all the rest.
        memory = Federation(replace(self.config, embedding_provider="builtin", rerank_provider="off"))
        return rpc_methods.call(method, memory, params)

    # --- what is put before the model ----------------------------------------------------------------------------

    def _context(self, requests: Sequence[Params], longest: int) -> Document:
        """The `context@1` document of the first of these that the notes have to do with, and what it is `about`."""
        from vault_memory.sessions.projects import Asker, open_scopes

        scopes = open_scopes(Asker(self.call.agent, self.folder), self.config, self.environ)
        project = [scope for scope in scopes if scope.startswith("project:")][:1]
        self.doing = "reading the vault and its index (is another process using them?)"
        for params in requests:
            document = self._bundle_within(longest, params | {"scope": list(scopes), "project": project})
            if document["text"] or document["has_footing"]:
                break
        if not document["text"]:
            self.log.write(explain_silence(document))
        return document | {"about": params["prompt"] if document["has_footing"] else ""}

    def _bundle_within(self, longest: int, params: Params) -> Document:
        """The bundle, asked for with less as long as it is longer than the agent takes (in UTF-16 units)."""
        budget, size = self.config.hooks_budget, longest + 1
        while size > longest:
            document = self._ask("context", params | {"budget": budget})
            size = len(document["text"].encode("utf-16-le")) // 2
            budget = max(1, int(budget * longest / max(size, 1) * 0.95))
        is_fresh = document["index"] is not None and document["index"]["fresh"]
        if not is_fresh or any(each["what"] == startup.STALE_SOURCE for each in document["degraded"]):
            _build(self.config.vault, self.environ)
        return document


def _requests(event: HookEvent, session: ShownSession) -> list[Params]:
    """What an event asks of the vault, each where the notes have nothing to do with the one before."""
    if event.what in (hook_events.STARTED, hook_events.CONTINUED):
        return [_context_params([], core=True)]
    if event.what == hook_events.RESUMED:  # the conversation still holds what was said in it, however long ago
        return [_context_params([], session.recent_keys(turns=None), core=True)]
    if event.what == hook_events.SUMMED_UP:  # the core stands in the system prompt before and after
        return [_context_params(session.prompts(), summaries=True)]
    if event.what == hook_events.COMPACTED:
        return [_context_params(session.prompts(), core=True, summaries=True)]
    if event.what != hook_events.ASKED:
        return []
    questions = find_questions(event.prompt)
    if not questions:
        session.note(TURN)
        return []
    shown = session.recent_keys() | _keys(hook_events.tool_answers(_transcript_end(event.transcript)))
    return [_context_params([prompt], shown) for prompt in questions]


def _transcript_end(path: str) -> list[bytes]:
    """The last lines of a transcript; none where it cannot be read."""
    with contextlib.suppress(OSError, ValueError), startup.open_regular(path) as handle:
        handle.seek(max(0, handle.seek(0, os.SEEK_END) - MAX_TRANSCRIPT_BYTES))
        return handle.read(MAX_TRANSCRIPT_BYTES).splitlines()
    return []


def _typed(lines: Iterable[bytes]) -> Iterator[str]:
    """What a session's user typed, by the lines of a transcript."""
    from vault_memory.sessions.readers import SPEAKERS, read_claude_code

    said = (message for message in map(read_claude_code, lines) if message and message.speaker == SPEAKERS["user"])
    return (message.text for message in said)


def _keys(answers: Iterable[str]) -> set[str]:
    """The keys of the passages in what memory's tools have answered: they stand in the conversation already."""
    texts = [text for answer in answers for text in hook_events.answered_passages(answer)]
    if not texts:
        return set()
    from vault_memory.store.journal import digits, passage_key

    return {digits(passage_key(text)) for text in texts}


def _context_params(
    prompts: Sequence[str], without: Iterable[str] = (), core: bool = False, summaries: bool = False
) -> Params:
    """What is to be put before the model: passages for prompts, with `core` what is always there, and summaries."""
    return {
        "prompt": prompts[0] if prompts else "", "also": prompts[1:], "without": sorted(without),
        "without_core": not core, "recent_days": RECENT_DAYS if core else 0, "summaries": summaries,
        "patience": 0, "unasked": True,
    }  # fmt: skip


def _build(vault: Path, environ: Mapping[str, str]) -> None:
    """Have the index built or brought up to date by a process that stays when this one ends, unless one just was."""
    stamp = hook_log.folder(environ) / f"building-{startup.vault_id(vault)}"
    with contextlib.suppress(OSError):
        if time.time() - stamp.stat().st_mtime < BUILDING_SECONDS:
            return
    safe_files.make_private(stamp.parent)
    stamp.touch(0o600)
    startup.start_indexing(vault)
