"""A vault asked together with other vaults of the user's settings and with the agents' sessions.

Each root is a Memory with its own index, asked as if it were alone with the whole budget. Their answers are merged by
score (the same features and weights, made comparable by score_scaling.py) and packed anew into the one budget.
What one root cannot answer is said, and takes nothing from the others.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vault_memory.errors import RefusedError, VaultMemoryError
from vault_memory.indexing.index_file import IndexFile
from vault_memory.memory import Memory
from vault_memory.search.answer import Answer, Request, Result, RootStatus
from vault_memory.startup import NOTES, SESSIONS
from vault_memory.store import journal

if TYPE_CHECKING:
    from vault_memory.config import Config
    from vault_memory.federation.other_vaults import Further
    from vault_memory.indexing.indexer import Progress, Report
    from vault_memory.search.get import Excerpt
    from vault_memory.sessions.sync import SyncReport


class SourceAnswer(NamedTuple):
    """What one source answered: its name, its memory for the journal, its answer with results as cited outside."""

    name: str
    memory: Memory
    answer: Answer


class _Part(NamedTuple):
    """What is wanted of a note: its lines (all for None), how much at most, and for whom."""

    lines: tuple[int, int | None] | None
    max_tokens: int | None
    scopes: tuple[str, ...]


class Federation(Memory):
    """One vault, asked together with the other vaults and the sessions that the user's settings name.

    It offers what a Memory does; `source` says who is asked. `index_of` makes the index file of each of the others.
    """

    def __init__(
        self, vault: "str | Path | Config | None" = None, *, index_file: IndexFile | None = None,
        index_of: "Callable[[Config], IndexFile]" = IndexFile,
    ) -> None:  # fmt: skip
        super().__init__(vault, index_file=index_file)
        self._index_of = index_of
        self._beside: dict[str, Memory] = {}

    def answers(
        self, requests: Iterable[Request], progress: "Progress | None" = None, keep: bool = True
    ) -> Iterator[Answer]:
        """Answer questions one after the other, each from the roots that its source names."""
        waiting = _Waiting(requests)
        while waiting.next:
            if not self.is_asked_beside(waiting.next.source):
                yield from super().answers(waiting.while_of(NOTES), progress, keep)
            else:
                request = waiting.next
                yield self._merged(request, progress, keep)
                waiting.step()

    def get(
        self, path: str, lines: tuple[int, int | None] | None = None, max_tokens: int | None = None,
        scopes: Sequence[str] = (),
    ) -> "Excerpt":  # fmt: skip
        """Read lines of a note, or messages of a session; a note of the vault comes first where a path names both.

        What lies outside the scopes, where there are any, is not found.
        """
        part = _Part(lines, max_tokens, tuple(scopes))
        session = None
        if path.startswith("sessions/"):
            from vault_memory.sessions import transcript

            session = transcript.inner(path)
        if session and session[1] is not None:
            return self._session(session, part)
        found = super().get(path, lines, max_tokens, scopes)
        if session and found.not_found:
            return self._session(session, part)
        return self._further_note(path, part) or found if found.not_found else found

    def refresh_sessions(self, progress: "Progress | None" = None) -> "SyncReport | None":
        """Read what was appended to the transcripts, and index it; None where the settings want no sessions.

        What cannot be read or indexed is among the problems.
        """
        if not self.config.sessions_tools:
            return None
        from vault_memory.sessions import session_root as sessions
        from vault_memory.sessions.sync import sync_transcripts

        swept = sync_transcripts(self.config, os.environ, progress)
        try:
            if sessions.has_texts(self.config, os.environ):
                self._index_sessions()
        except VaultMemoryError as error:
            swept.problems.append(f"the sessions' index: {error}")
        return swept

    def _index_sessions(self) -> None:
        """Index the derived texts; where most are gone, only if the ledger knows that they were deleted (law 7)."""
        from vault_memory.sessions import ledger
        from vault_memory.sessions import session_root as sessions

        memory = self.sessions
        try:
            memory.index()
        except RefusedError:
            if ledger.missing(self.config, os.environ):
                raise
            if memory.vault.walk().files:
                memory.index(rebuild=True)
            else:
                sessions.forget_index(memory.vault.root, memory.index_file.path)

    def close(self) -> None:
        """Let go of what is held open."""
        super().close()
        for memory in (self.__dict__.get("sessions"), *self._beside.values()):
            if memory:
                memory.close()

    def _memory(self, config: "Config") -> Memory:
        return Memory(config, index_file=self._index_of(config))

    # --- further vaults ------------------------------------------------------------------------------------------

    @cached_property
    def further(self) -> "list[Further]":
        """The further vaults that the settings name."""
        config = self.config
        if not (config.roots or config.roots_under):
            return []  # nearly everybody: nothing is imported for it
        from vault_memory.federation import other_vaults

        return other_vaults.found(config, os.environ)

    def refresh_further(self, progress: "Progress | None" = None) -> "Iterator[tuple[str, Report | VaultMemoryError]]":
        """Bring the index of each further vault up to date: its name, and what was done or why it could not be."""
        for root in self.further:
            try:
                yield root.name, self.memory_of(root).index(progress=progress)
            except VaultMemoryError as error:
                yield root.name, error

    def memory_of(self, root: "Further") -> "Memory":
        """Raises VaultError where the folder is not there now."""
        if root.name not in self._beside:
            from vault_memory.federation import other_vaults

            self._beside[root.name] = self._memory(other_vaults.config_of(root, self.config, os.environ))
        return self._beside[root.name]

    def _further_note(self, name: str, part: _Part) -> "Excerpt | None":
        """Lines of a note of a further vault; None where the name is of none."""
        if not self.further:
            return None
        from vault_memory.federation import other_vaults

        there = other_vaults.inner(name, self.further)
        if there is None:
            return None
        root, path = there
        if not root.is_open(part.scopes):
            return None  # who may see nothing of it is not told that it is there
        found = self.memory_of(root).get(path, *part)
        return replace(found, path=f"{other_vaults.PREFIX}{root.name}/{found.path}")

    def _of_further(self, root: "Further", request: Request, progress: "Progress | None") -> SourceAnswer:
        """What a further vault answers."""
        from vault_memory.federation import other_vaults

        memory = self.memory_of(root)
        (answer,) = memory.answers([request], progress, keep=False)
        results = [other_vaults.told(root, result) for result in answer.results]
        return SourceAnswer(root.name, memory, answer._replace(results=results))

    # --- the sessions --------------------------------------------------------------------------------------------

    @cached_property
    def sessions(self) -> "Memory":
        """The derived texts of the sessions, as a Memory of their own."""
        from vault_memory.sessions import session_root as sessions

        return self._memory(sessions.config_of(self.config, os.environ))

    def sessions_below(self, folder: str, scopes: tuple[str, ...]) -> list[str]:
        """The sessions in these scopes that `sessions` or a folder in it holds, as they are cited."""
        from vault_memory.sessions import session_root as sessions
        from vault_memory.sessions import transcript

        if not f"{folder}/".startswith(transcript.PREFIX) or not sessions.has_texts(self.config, os.environ):
            return []
        inner = folder.removeprefix(transcript.PREFIX.rstrip("/")).strip("/")
        return [transcript.outer(path) for path in self.sessions.notes_below(inner, scopes)]

    def _session(self, session: tuple[str, tuple[int, int] | None], part: _Part) -> "Excerpt":
        from vault_memory.search.get import Excerpt
        from vault_memory.sessions import session_root as sessions
        from vault_memory.sessions import transcript

        path, messages = session
        if not sessions.may_open(path, self.config, os.environ):
            return Excerpt(transcript.outer(path), 0, 0, "", not_found=True)
        found = self.sessions.get(path, sessions.lines_of(part.lines or messages), *part[1:])
        if found.not_found:
            return Excerpt(transcript.outer(path), 0, 0, "", not_found=True)
        return sessions.outside_excerpt(found)

    def _of_sessions(self, request: Request, progress: "Progress | None") -> "SourceAnswer | str":
        """What the sessions answer, or why they do not."""
        config = self.config
        if not config.sessions_tools:
            from vault_memory.federation.merging import OFF

            return OFF
        from vault_memory.sessions import session_root as sessions

        if not sessions.has_texts(config, os.environ):
            return "no session transcripts are indexed yet: `memory index` reads them"
        asked = sessions.sessions_request(request)
        if asked is None:
            return "sessions hold none of these kinds"
        behind = sessions.catch_up(config, os.environ)
        (answer,) = self.sessions.answers([asked], progress, keep=False)
        results = [sessions.outside_result(result) for result in answer.results]
        fresh, pending = answer.fresh and not behind, answer.pending + behind
        return SourceAnswer(SESSIONS, self.sessions, answer._replace(results=results, fresh=fresh, pending=pending))

    # --- merging -----------------------------------------------------------------------------------------------------

    def _merged(self, request: Request, progress: "Progress | None", keep: bool) -> Answer:
        started = time.perf_counter()
        own = None
        if request.source != SESSIONS:
            (own,) = super().answers([request._replace(source=NOTES)], progress, keep=False)
        given, missing = self._given(request, own, progress)
        answer = self._one(request, given, missing)
        if keep and self.config.journal and not request.is_pinned:
            _note(request, given, answer.results)
        return answer._replace(seconds=time.perf_counter() - started)

    def beside(self, request: Request, own: Answer | None, may_wait: bool = True) -> Answer:
        """The vault's own answer, where its notes were asked, with what other sources say; not journalled.

        Where nothing may be waited for, other vaults answer from the index they have; the sessions, which are always
        behind, do not.
        """
        if may_wait:
            if own and not self.is_asked_beside(request.source):
                return own
            return self._one(request, *self._given(request, own))
        given = [SourceAnswer(NOTES, self, own)] if own else []
        missing: list[RootStatus] = []
        if request.source != SESSIONS and (self.config.roots or self.config.roots_under):
            from vault_memory.federation import deadline

            for name, answer in deadline.ask(self, request).items():
                if isinstance(answer, str):
                    missing.append(RootStatus(name, why_not=answer))
                else:
                    given.append(SourceAnswer(name, self, answer))
        if request.source != NOTES:
            missing.append(RootStatus(SESSIONS, why_not="sessions are not asked where nothing may be waited for"))
        return self._one(request, given, missing)

    def _one(self, request: Request, given: Sequence[SourceAnswer], missing: Sequence[RootStatus]) -> Answer:
        from vault_memory.federation.merging import merged  # nearly everybody asks one vault alone

        return merged(request, given, missing, self.vault.root.name)

    def is_asked_beside(self, source: str) -> bool:
        """Whether other sources than the vault's notes answer a question of this source."""
        return source != NOTES or bool(self.further)

    def _given(
        self, request: Request, own: Answer | None, progress: "Progress | None" = None
    ) -> tuple[list[SourceAnswer], list[RootStatus]]:
        """What each root gave, and which gave nothing and why."""
        given = [SourceAnswer(NOTES, self, own)] if own else []
        missing: list[RootStatus] = []
        for name, ask in self._beside_of(request, progress):
            try:
                found = ask()
            except VaultMemoryError as error:
                found = str(error)
            if isinstance(found, str):
                missing.append(RootStatus(name, why_not=found))
            else:
                given.append(found)
        return given, missing

    def _beside_of(
        self, request: Request, progress: "Progress | None"
    ) -> Iterator[tuple[str, Callable[[], SourceAnswer | str]]]:
        """The roots besides the vault that the question's source means and its scopes open, and how each is asked."""
        if request.source != SESSIONS:
            for root in self.further:
                if root.is_open(request.filters.scopes):
                    yield root.name, partial(self._of_further, root, request, progress)
        if request.source != NOTES:
            yield SESSIONS, partial(self._of_sessions, request, progress)


class _Waiting:
    """The questions to come; the next one is always known."""

    def __init__(self, requests: Iterable[Request]) -> None:
        self._requests = iter(requests)
        self.next: Request | None = None
        self.step()

    def step(self) -> None:
        self.next = next(self._requests, None)

    def while_of(self, source: str) -> Iterator[Request]:
        """The next questions as long as they are asked of that source."""
        while self.next and self.next.source == source:
            yield self.next
            self.step()


def _note(request: Request, given: Sequence[SourceAnswer], results: Sequence[Result]) -> None:
    """Note in the journal of each root what of it was handed over."""
    keys = {(result.source, result.key) for result in results}
    for each in given:
        if each.name not in (NOTES, SESSIONS):
            continue  # a further vault is only read
        cited = [journal.Cited(r.source, r.key) for r in each.answer.results if (r.source, r.key) in keys]
        journal.note_recall(each.memory.vault.root, request.query, datetime.now(UTC), cited)
