"""Answers an agent's hook within a time limit, even if something hangs, and never shows the user an error.

The user's prompt waits for the hook, so a thread does the work and is abandoned when the time is up. The reason for an
empty answer goes to a log (hook_log.py).
"""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
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
from vault_memory.text.agent_frame import unquoted
from vault_memory.vault import safe_files

if TYPE_CHECKING:
    from vault_memory.config import Config

SECONDS = 2.0
"""The time limit until the settings have been read; they may be on a disk that hangs."""

STARTUP_SECONDS = 0.1
"""How much time has usually passed at most when this module starts: Python and the command line."""

MAX_INPUT_BYTES = 16 << 20
"""The largest standard input; a prompt with that much pasted into it is not searched for."""

RECENT_DAYS = 2
BUILDING_SECONDS = 10.0
"""How long after starting an indexing process no other is started; a later one waits for one still running."""

WEIGHED_MESSAGES = 12
"""How many of the user's last messages are judged to decide whether to remind the agent to store something."""

Params = dict[str, Any]
Document = dict[str, Any]

MAX_TRANSCRIPT_BYTES = 1 << 18
"""How much of a transcript's end is searched for what the user said, for answers of memory's tools and for signs that
something was stored."""

_NOTED = {
    hook_events.ENDED: "session ended", hook_events.GONE: "session ended",
    hook_events.COMPACTING: "session compacted", hook_events.SUMMED_UP: "session compacted",
}  # fmt: skip
"""The session events that are recorded in the journal."""

_MARKED = (hook_events.COMPACTING, hook_events.COMPACTED, hook_events.SUMMED_UP, hook_events.PAUSED, hook_events.ENDED)


def run(call: Call) -> NoReturn:
    """Read one event from standard input, answer it on standard output, and end the process."""
    if os.environ.get(startup.MODEL_RUN_VARIABLE):  # our own prompt is no session of the user's
        os._exit(0)
    try:
        out = os.dup(1)
    except OSError:  # standard output is closed
        os._exit(0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2):  # stray output of a library would corrupt the answer or be shown to the user
        os.dup2(nowhere, descriptor)
    work = HookRun(call)
    threading.Thread(target=work.run, daemon=True).start()
    if not work.wait() and not work.output:
        why = f"Not done within {work.seconds:g} s, while {work.doing}; see `hooks.seconds`."
        writing = threading.Thread(target=work.log.write, args=(why, hook_log.TOO_LATE), daemon=True)
        writing.start()
        writing.join(0.05)  # the log's disk may hang, too
    with contextlib.suppress(OSError):
        os.write(out, work.output)
    os._exit(0)  # even if the thread hangs


class HookRun:
    """The processing of one event: `output` is to be printed, `seconds` is the time limit, `doing` the current step."""

    def __init__(self, call: Call) -> None:
        self.call, self.environ = call, dict(os.environ)
        self.begun = time.monotonic() - STARTUP_SECONDS
        self.log = hook_log.Log(call, self.begun, self.environ)
        self.output = b""
        self.seconds = SECONDS
        self.doing = "waiting for its input"
        self._done = threading.Event()

    def wait(self) -> bool:
        """Wait for the work to finish, until `seconds`, which may change meanwhile, are over; return whether it did."""
        while (left := self.begun + self.seconds - time.monotonic()) > 0:
            if self._done.wait(min(left, 0.05)):
                return True
        return self._done.is_set()

    def run(self) -> None:
        """Do the work; no exception leaves this method."""
        try:
            self._answer()
        except BaseException as error:  # top level: a bug of ours must never block an agent's prompt
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
            if call.event != "session.idle":  # opencode may end first, so its plugin confirms the delivery
                session.note(REMINDED)
        requests = _requests(event, session)
        if not requests:
            if event.what == hook_events.ASKED and given is not None:
                self.log.write("The prompt names nothing to look for.")
            return
        document = self._context(requests, agent.longest_context)
        keys = [each["key"] for each in document["shown"]]
        secrets = self._refused_secrets() if event.what == hook_events.STARTED else ""
        texts = filter(None, (document["text"], secrets, reminder if self.output else ""))
        self.output = agent.answer(call.event, "\n\n".join(texts)).encode("ascii")
        if event.what == hook_events.ASKED:
            # `about` is empty for a prompt unrelated to the notes, which would crowd out others after a compaction.
            session.note(TURN, keys, document["about"])
        elif event.what != hook_events.SUMMED_UP:
            session.note(BESIDE, keys)

    @property
    def folder(self) -> Path:
        """The agent's working directory."""
        named = self.event.folder
        return Path(named) if os.path.isabs(named) and "\0" not in named else Path.cwd()

    @cached_property
    def config(self) -> "Config":
        """The settings, which also set the time limit; raises VaultMemoryError if there is no vault."""
        from vault_memory.config import load

        self.doing = "reading the settings"
        config = load(self.call.vault or None, self.environ, self.folder)
        self.seconds = config.hooks_seconds
        return config

    def _update_session(self) -> None:
        """Record what later hooks and syncs need, such as that a transcript has grown or was compacted."""
        from vault_memory.sessions.ledger import keep_summary, mark_ended, mark_grown

        event, session = self.event, self.session
        if event.what in _MARKED and event.session:
            mark_grown(self.environ)
        if event.what == hook_events.ENDED and event.session:
            mark_ended(self.environ, self.call.agent, event.session)
        if event.what in _NOTED and event.session:
            from vault_memory.store import journal

            with contextlib.suppress(VaultMemoryError):  # no vault, or none that is writable
                if self.config.journal:
                    name = f"sessions/{self.call.agent}/{event.session}"
                    journal.note_session(self.config.vault, _NOTED[event.what], name, datetime.now(UTC))
        if event.summary and event.session:
            with contextlib.suppress(VaultMemoryError, OSError):  # no settings, or a full disk
                if self.call.agent in self.config.sessions_tools:
                    keep_summary(self.environ, self.call.agent, event.session, event.summary)
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

    def _is_worth_storing(self) -> bool:
        """Whether the user said something worth storing and nothing was stored yet; the agent is reminded only once."""
        try:
            if not (self.session.file and self.config.capture_remind) or self.session.is_reminded():
                return False
        except VaultMemoryError:  # the hook of a prompt logs it
            return False
        lines = _transcript_end(self.event.transcript)
        if not self.event.said and hook_events.has_stored(lines):
            self.session.note(REMINDED)
            return False
        from vault_memory.capture.statements import find_statements
        from vault_memory.salience.admission import GATE
        from vault_memory.sessions.readers import SPEAKERS, read_claude_code
        from vault_memory.sessions.transcript import clean_message
        from vault_memory.text.own_words import SessionTurn

        self.doing = "weighing what was said"
        messages = (message for message in map(read_claude_code, lines) if message)
        typed = (message.text for message in messages if message.speaker == SPEAKERS["user"])
        texts = [unquoted(clean_message(text)) for text in self.event.said or typed]
        turns = [SessionTurn(number, True, text) for number, text in enumerate(texts, start=1)]
        new = (one.text for one in find_statements(turns[-WEIGHED_MESSAGES:]) if not one.why)
        return any(self._ask("gating_scalar", {"text": text})["G"] >= GATE for text in new)

    def _refused_secrets(self) -> str:
        """What the agent should tell its user of requests that the last capture did not keep."""
        from vault_memory.reflect.run_log import CaptureEnd, RunLog

        last = RunLog(self.config.vault, self.environ).last(CaptureEnd)
        if not (last and last.secrets and datetime.now(UTC) - last.at < timedelta(days=1)):
            return ""
        return (
            "Tell the user once: what they said was not kept where it looks like a password or key "
            f"({last.secrets}); `memory status` says when."
        )

    def _ask(self, method: str, params: Params) -> Document:
        """Ask the vault's daemon, within half of the time left; otherwise answer in this process, without any model."""
        from vault_memory.daemon import client

        left = self.begun + self.seconds - time.monotonic()
        document = client.ask(self.config.vault, method, params, max(left / 2, 0.05))
        if document is not None:
            return document
        from dataclasses import replace

        from vault_memory.daemon import rpc_methods
        from vault_memory.federation import Federation

        # A model's client takes longer to import than everything else.
        memory = Federation(replace(self.config, embedding_provider="builtin", rerank_provider="off"))
        return rpc_methods.call(method, memory, params)

    # --- the context for the model -------------------------------------------------------------------------------

    def _context(self, requests: Sequence[Params], longest: int) -> Document:
        """Return the `context@1` document of the first request related to the notes, with its prompt as `about`."""
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
        """Return the bundle, retried with a smaller budget until the agent accepts its length (in UTF-16 units)."""
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
    """Return an event's requests to the vault; each is a fallback if the notes are unrelated to the previous one."""
    if event.what in (hook_events.STARTED, hook_events.CONTINUED):
        return [_context_params([], core=True)]
    if event.what == hook_events.RESUMED:  # the conversation still contains everything, however old
        return [_context_params([], session.recent_keys(turns=None), core=True)]
    if event.what == hook_events.SUMMED_UP:  # the core stays in the system prompt throughout
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
    """Return the last lines of a transcript; none if it cannot be read."""
    with contextlib.suppress(OSError, ValueError), startup.open_regular(path) as handle:
        handle.seek(max(0, handle.seek(0, os.SEEK_END) - MAX_TRANSCRIPT_BYTES))
        return handle.read(MAX_TRANSCRIPT_BYTES).splitlines()
    return []


def _keys(answers: Iterable[str]) -> set[str]:
    """Return the keys of the passages in answers of memory's tools, which are in the conversation already."""
    texts = [text for answer in answers for text in hook_events.answered_passages(answer)]
    if not texts:
        return set()
    from vault_memory.store.journal import digits, passage_key

    return {digits(passage_key(text)) for text in texts}


def _context_params(
    prompts: Sequence[str], without: Iterable[str] = (), core: bool = False, summaries: bool = False
) -> Params:
    """Return the parameters of a `context` request: passages for prompts, optionally the core and summaries."""
    return {
        "prompt": prompts[0] if prompts else "", "also": prompts[1:], "without": sorted(without),
        "without_core": not core, "recent_days": RECENT_DAYS if core else 0, "summaries": summaries,
        "patience": 0, "unasked": True,
    }  # fmt: skip


def _build(vault: Path, environ: Mapping[str, str]) -> None:
    """Start a process that updates the index and outlives this one, unless one was started just now."""
    stamp = hook_log.folder(environ) / f"building-{startup.vault_id(vault)}"
    with contextlib.suppress(OSError):
        if time.time() - stamp.stat().st_mtime < BUILDING_SECONDS:
            return
    safe_files.make_private(stamp.parent)
    stamp.touch(0o600)
    startup.start_indexing(vault)
