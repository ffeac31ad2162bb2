"""Asks a configured model to sum facts up in sentences, within its time, and takes only what passes the checks.

Either a page gets sentences that passed every check (reflect/prose.py), or a RemoteError says why it gets none and
keeps the text it would have without a model.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from vault_memory.config import Config
from vault_memory.embedding.endpoints import reflect_endpoint
from vault_memory.errors import RemoteError
from vault_memory.reflect.prose import (
    FORM,
    SUMMARY,
    About,
    CitedSentence,
    messages,
    number_facts,
    parse_answer,
    problems,
)

if TYPE_CHECKING:
    from vault_memory.embedding.servers import ModelServer

TRIES = 2
"""What does not pass the checks is asked for once more, with what was wrong."""

FAILED_PAGES = 2
"""After so many pages on end that its server failed, it is not asked again in this run."""

USELESS_PAGES = 5
"""Likewise after so many on end whose text was of no use: another night's work would be no better."""


_MORE_TIME = "Give it more with `reflect.run_deadline_seconds`."


class Budget:
    """The seconds that a model may take for a page and for a run, and whether it is still worth asking.

    The run begins with its first page. `clock` and `sleep` are for whoever counts the seconds differently.
    """

    def __init__(
        self, page_seconds: float, run_seconds: float, clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:  # fmt: skip
        self.sleep = sleep
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

    def question(self) -> float:
        """Begin a question about two facts, likewise; half of the run's time is left to its pages."""
        until = self.page()
        if self._until is not None and self.left(self._until) < self._run_seconds / 2:
            raise RemoteError("half of the time that a model has in a run is over", _MORE_TIME, "slow")
        return until

    def over(self) -> RemoteError | None:
        """Why nobody is to be asked any more; None: go on."""
        if self._last and (self._failed >= FAILED_PAGES or self._useless >= USELESS_PAGES):
            pages = max(self._failed, self._useless)
            said = f"{self._last} ({pages} pages on end, so it is not asked again in this run)"
            return RemoteError(said, self._last.next_step, self._last.kind)
        if self._until is not None and self._clock() >= self._until:
            return RemoteError(f"the {self._run_seconds:g} s that a model has in a run are over", _MORE_TIME, "slow")
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


class ModelWriter:
    """Writes the summaries of pages with one model; its server is made when the first page is asked for."""

    def __init__(self, method: str, connect: "Callable[[], ModelServer]", budget: Budget) -> None:
        self.method = method
        """How a page's frontmatter names it: `ollama/llama3.2`."""
        self._connect, self._budget = connect, budget
        self._server: ModelServer | None = None

    @property
    def is_over(self) -> bool:
        """Whether the time of the run is over, or too many pages failed."""
        return self._budget.over() is not None

    def write(self, subject: str, facts: Sequence[str], about: About = SUMMARY) -> tuple[CitedSentence, ...]:
        """Sentences that cite `facts` by their numbers from 1; none for no facts.

        Of very many facts the first are shown to the model, as many as it reads. Raises RemoteError: "unusable" where
        what it wrote did not pass the checks twice.
        """
        given = number_facts(facts)
        if not given:
            return ()
        until = self._budget.page()
        with self._noted() as server:
            return self._sentences(server, subject, given, about, until)

    def ask(self, messages: list[dict[str, str]], form: Mapping[str, Any]) -> str:
        """What the model answers to a question, which should be JSON of the schema `form`; raises RemoteError."""
        until = self._budget.question()
        with self._noted() as server:
            return self._reply(server, messages, form, until)

    def close(self) -> None:
        """Let the connection go."""
        if self._server is not None:
            self._server.close()
            self._server = None

    @contextmanager
    def _noted(self) -> "Iterator[ModelServer]":
        """The server, connected; how it went counts for whether it is asked again."""
        try:
            if self._server is None:
                self._server = self._connect()
            self._server.connect()
            yield self._server
        except RemoteError as error:
            self._budget.note(error)
            raise
        self._budget.note(None)

    def _sentences(
        self, server: "ModelServer", subject: str, given: Mapping[int, str], about: About, until: float
    ) -> tuple[CitedSentence, ...]:
        wrong = list[str]()
        for _ in range(TRIES):
            try:
                found = parse_answer(self._reply(server, messages(subject, given, about, wrong), FORM, until))
                wrong = problems(found, given, subject, about)
            except ValueError as error:
                wrong = [str(error)]
            except RemoteError as error:
                if error.kind != "unusable":
                    raise
                wrong = [str(error)]
            if not wrong:
                return found
        said = f"{server.where} wrote what cannot stand on a page: {server.plain(wrong[0])}"
        raise RemoteError(said, "If this goes on, use another model.", "unusable")

    def _reply(self, server: "ModelServer", asked: list[dict[str, str]], form: Mapping[str, Any], until: float) -> str:
        """What the model says; raises RemoteError, "unusable" for more than anybody should read."""
        from vault_memory.embedding.servers import retry, within

        def ask() -> str:
            left = self._budget.left(until)
            if left <= 0:
                more = "Give it more with `reflect.deadline_seconds`."
                raise RemoteError(f"{server.where} did not answer in time", more, "slow")
            return within(max(round(left, 1), 0.1), lambda: server.chat(asked, form), f"{server.where} did not answer")

        return retry(ask, self._budget.sleep, lambda: self._budget.left(until))


def configured_writer(
    config: Config, environ: Mapping[str, str] | None = None, clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> ModelWriter | None:  # fmt: skip
    """The writer that the settings name, for one run; None where they name none."""
    environ = os.environ if environ is None else environ
    to = reflect_endpoint(config, environ)
    if to is None:
        return None

    def connect() -> "ModelServer":
        from vault_memory.embedding.servers import server_of

        return server_of(to, to.key(environ), config.reflect_deadline_seconds)

    budget = Budget(config.reflect_deadline_seconds, config.reflect_run_deadline_seconds, clock, sleep)
    return ModelWriter(to.name, connect, budget)
