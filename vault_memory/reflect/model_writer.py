"""Owns the optional Writer: a configured model that sums facts up in sentences, within its time and its checks.

Either a page gets sentences that passed every check (reflect/prose.py), or a RemoteError says why it gets none and
keeps the text it would have without a model. It knows no page, and of servers only that they answer (chats.py).
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from vault_memory.config import Config
from vault_memory.embedding.known import ChatEndpoint, chat_endpoint
from vault_memory.embedding.remote import within
from vault_memory.errors import RemoteError
from vault_memory.reflect.prose import FORM, SUMMARY, About, Sentence, messages, problems, read, shown

if TYPE_CHECKING:
    from vault_memory.embedding.chats import Chat

TRIES = 2
"""What does not pass the checks is asked for once more, with what was wrong."""

FAILED_PAGES = 2
"""After so many pages on end that its server failed, it is not asked again in this run."""

USELESS_PAGES = 5
"""Likewise after so many on end whose text was of no use: another night's work would be no better."""


class Writer(Protocol):
    """Writes the summary of a page."""

    method: str
    """How a page's frontmatter names it: `ollama/llama3.2`."""

    @property
    def is_over(self) -> bool:
        """Whether nobody is to be asked any more in this run."""

    def write(self, subject: str, facts: Sequence[str], about: About = SUMMARY) -> tuple[Sentence, ...]:
        """Sentences that cite `facts` by their numbers from 1; raises RemoteError where there are none to be had."""

    def close(self) -> None:
        """Let the connection go."""


class Budget:
    """The seconds that a model may take for a page and for a run, and whether it is still worth asking.

    The run begins with its first page. `clock` is for whoever counts the seconds differently.
    """

    def __init__(self, page_seconds: float, run_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._page_seconds, self._run_seconds, self._clock = page_seconds, run_seconds, clock
        self._until: float | None = None
        self._failed = self._useless = 0
        self._last: RemoteError | None = None

    def page(self) -> float:
        """Begin a page: when it must be done, by the clock; raises RemoteError where nobody is to be asked any more."""
        if over := self.over():
            raise over
        now = self._clock()
        if self._until is None:
            self._until = now + self._run_seconds
        return min(now + self._page_seconds, self._until)

    def over(self) -> RemoteError | None:
        """Why nobody is to be asked any more; None: go on."""
        if self._last and (self._failed >= FAILED_PAGES or self._useless >= USELESS_PAGES):
            said = (
                f"{self._last} ({max(self._failed, self._useless)} pages on end, so it is not asked again in this run)"
            )
            return RemoteError(said, self._last.next_step, self._last.kind)
        if self._until is not None and self._clock() >= self._until:
            said = f"the {self._run_seconds:g} s that a model has in a run are over"
            return RemoteError(said, "Give it more with `reflect.run_deadline_seconds`.", "slow")
        return None

    def left(self, until: float) -> float:
        """The seconds until then."""
        return until - self._clock()

    def note(self, error: RemoteError | None) -> None:
        """How a page went: None is well."""
        useless = error is not None and error.kind == "unusable"
        self._useless = self._useless + 1 if useless else 0
        self._failed = self._failed + 1 if error and not useless else 0
        self._last = error


class ChatWriter:
    """A Writer over one chat server. `connect` is called when the first page is asked for."""

    def __init__(self, method: str, connect: Callable[[], "Chat"], budget: Budget) -> None:
        self.method = method
        self._connect, self._budget = connect, budget
        self._chat: Chat | None = None

    @property
    def is_over(self) -> bool:
        """Whether the time of the run is over, or too many pages failed."""
        return self._budget.over() is not None

    def write(self, subject: str, facts: Sequence[str], about: About = SUMMARY) -> tuple[Sentence, ...]:
        """Sentences that cite `facts` by their numbers from 1; none for no facts.

        Of very many facts the first are shown to the model, as many as it reads. Raises RemoteError: "unusable" where
        what it wrote did not pass the checks twice.
        """
        given = shown(facts)
        if not given:
            return ()
        until = self._budget.page()
        try:
            found = self._tried(subject, given, about, until)
        except RemoteError as error:
            self._budget.note(error)
            raise
        self._budget.note(None)
        return found

    def close(self) -> None:
        """Let the connection go."""
        if self._chat is not None:
            self._chat.close()
            self._chat = None

    def _tried(self, subject: str, given: Mapping[int, str], about: About, until: float) -> tuple[Sentence, ...]:
        if self._chat is None:
            self._chat = self._connect()
        chat, wrong = self._chat, list[str]()
        chat.ready()
        for _ in range(TRIES):
            try:
                found = read(self._reply(messages(subject, given, about, wrong), until))
                wrong = problems(found, given, subject, about)
            except ValueError as error:
                wrong = [str(error)]
            if not wrong:
                return found
        said = f"{chat.spoken.where} wrote what cannot stand on a page: {chat.spoken.plain(wrong[0])}"
        raise RemoteError(said, "If this goes on, use another model.", "unusable")

    def _reply(self, asked: list[dict[str, str]], until: float) -> str:
        """What the model says; raises ValueError for more than anybody should read, RemoteError for the rest."""
        chat, left = self._chat, self._budget.left(until)
        assert chat is not None
        if left <= 0:
            raise RemoteError(f"{chat.spoken.where} did not answer in time", _MORE_TIME, "slow")
        try:
            # The request has the same deadline; a name that resolves slowly would pass it.
            return within(
                max(round(left, 1), 0.1), lambda: chat.ask(asked, FORM, left), f"{chat.spoken.where} did not answer"
            )
        except RemoteError as error:
            if error.kind != "unusable":
                raise
            raise ValueError(str(error)) from None


_MORE_TIME = "Give it more with `reflect.deadline_seconds`."


def configured(
    config: Config, environ: Mapping[str, str] | None = None, clock: Callable[[], float] = time.monotonic
) -> Writer | None:
    """The Writer that the settings name, for one run; None where they name none."""
    environ = os.environ if environ is None else environ
    to = chat_endpoint(config, environ)
    if to is None:
        return None
    budget = Budget(config.reflect_deadline_seconds, config.reflect_run_deadline_seconds, clock)
    return ChatWriter(to.method, lambda: _connected(to, environ), budget)


def _connected(to: ChatEndpoint, environ: Mapping[str, str]) -> "Chat":
    from vault_memory.embedding.chats import chat

    key = environ.get(to.key_env, "").strip() if to.key_env else ""
    if to.needs_key and not key:
        raise RemoteError(f"${to.key_env}, which should hold the key of {to.where}, is not set", f"Set ${to.key_env}.")
    return chat(to, key)
