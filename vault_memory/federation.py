"""Queries a vault together with the further vaults and agent sessions named in the user's settings.

Each source is a Memory with its own index, queried with the full budget. Results are interleaved by rank and packed
again into the one budget. A source that fails is reported and does not affect the others. Further vaults are never
written to: their indexes are in the user's data folder. Each has a scope: a caller without it sees nothing of that
vault, and a note in it may require another scope as well.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from vault_memory.config import Config, load
from vault_memory.errors import RefusedError, VaultError, VaultMemoryError
from vault_memory.indexing.index_file import IndexFile
from vault_memory.memory import Memory
from vault_memory.search.answer import CLOSEST, Answer, Request, Result, RootStatus, Understanding
from vault_memory.startup import NOTES, SESSIONS, STALE_SOURCE, start_thread, user_folder
from vault_memory.store import journal
from vault_memory.text.scope_syntax import GLOBAL, UNREADABLE_SCOPE, normal_scope

if TYPE_CHECKING:
    from concurrent.futures import Future

    from vault_memory.indexing.indexer import Progress, Report
    from vault_memory.search.get import Excerpt
    from vault_memory.sessions.session_root import SessionEntry
    from vault_memory.sessions.sync import SyncReport

REACH_SECONDS = 5.0
"""How long to wait for all further vaults together: a drive may hang."""

SHARE_OF_A_HOOK = 0.25
"""The share of `hooks.seconds` (2.0) within which further vaults must answer a hook."""

PREFIX = "roots/"
PROJECT_MEMORY = (".claude", "memory")
"""Where a project keeps an agent's notes about it."""

SESSIONS_OFF = "no session transcripts are indexed: `sessions.tools` in the user's own settings switches them on"

_NO_ANSWER = " did not answer in time: is its drive gone, or is it not indexed yet?"
_UPDATE_HINT = "`memory index` brings it up to date"

_OF_ONE_SOURCE = ("lexical", "entity", "temporal")
"""Lanes whose degradation only means that this source has no match; another source may have one."""


class NoAnswer(NamedTuple):
    """Why a source gives no answer, and how the merged answer is marked degraded; "" if the user switched it off."""

    why: str
    problem: str = "source"


SourceAnswer = tuple[str, Answer | NoAnswer]
"""The name of a queried source, and its answer with results as cited from outside it."""


class FurtherVault(NamedTuple):
    """One further vault: its name in citations, its folder, and the scope that everything in it requires.

    If its folder could not be examined, name and scope come from the setting.
    """

    name: str
    path: Path
    scope: str

    def is_open(self, scopes: Sequence[str]) -> bool:
        """Whether anything in it is visible in these scopes (empty: all); a note may require another one as well."""
        return not scopes or self.scope in scopes


VaultResult = tuple[str, FurtherVault, Any]
"""A further vault's real path, the vault, and the result of some work on it, or its error; None outside the scopes."""


class Federation(Memory):
    """One vault, queried together with the further vaults and sessions named in the user's settings.

    It has the interface of a Memory; `source` selects what is queried. `index_of` makes the other sources' IndexFile.
    """

    def __init__(
        self, vault: str | Path | Config | None = None, *, index_file: IndexFile | None = None,
        index_of: Callable[[Config], IndexFile] = IndexFile,
    ) -> None:  # fmt: skip
        super().__init__(vault, index_file=index_file)
        self._index_of = index_of
        self._opened: dict[Path, Memory] = {}
        self._late: dict[Path, Future[list[VaultResult]]] = {}
        """Calls on the vaults of a setting that were not done in time."""

    def answers(
        self, requests: Iterable[Request], progress: "Progress | None" = None, keep: bool = True
    ) -> Iterator[Answer]:
        """Answer requests in order, each from the sources it selects."""
        has_roots = bool(self.config.roots or self.config.roots_under)
        for beside, group in groupby(requests, lambda request: request.source != NOTES or has_roots):
            given = (self._ask_all(each, progress, keep) for each in group) if beside else None
            for answer in given or self.search.answers(group, progress, keep):
                is_known = answer.request.source != NOTES or not answer.missing
                yield answer if is_known else self._add_sessions(answer, progress, keep)

    def add_other_sources(
        self, request: Request, own: Answer | None, may_wait: bool = True, progress: "Progress | None" = None
    ) -> Answer:
        """Merge the vault's own answer, if its notes were queried, with the other sources' answers; not journalled.

        With `may_wait=False` further vaults answer from their index as it is, and sessions, whose index is always
        behind, are not queried.
        """
        given: list[SourceAnswer] = [(NOTES, own)] if own else []
        if request.source != SESSIONS:
            given += self._ask_vaults(request._replace(source=NOTES), may_wait)
        if request.source != NOTES:
            not_now = NoAnswer("sessions are not asked where nothing may be waited for")
            given.append((SESSIONS, self._ask_sessions(request, progress) if may_wait else not_now))
        return _merge(request, given, self.vault.root.name)

    def _get(
        self, path: str, lines: tuple[int, int | None] | None, max_tokens: int | None, scopes: tuple[str, ...]
    ) -> "Excerpt":
        """Lines of a note, or messages of a session; if a path names both, the vault's own note wins."""
        found = super()._get(path, lines, max_tokens, scopes)
        if found.not_found and path.startswith(f"{SESSIONS}/"):
            from vault_memory.sessions import session_root, transcript

            if session := transcript.parse_name(path):
                file, messages = session
                found = replace(found, path=transcript.public_name(file))
                if session_root.may_open(file, self.config, os.environ):
                    span = session_root.find_lines(lines or messages)
                    text = self.sessions._get(file, span, max_tokens, scopes)
                    return found if text.not_found else session_root.outside_excerpt(self._without_withheld(text))
        name, _, inner = path.removeprefix(PREFIX).partition("/")
        if found.not_found and path.startswith(PREFIX) and inner:

            def read(root: FurtherVault) -> "Excerpt | None":
                is_meant = name.startswith(root.name)  # further vaults with the same name get a number as suffix
                return self.memory_of(root)._get(inner, lines, max_tokens, scopes) if is_meant else None

            # A caller without its scope must not learn that the vault exists.
            for root, inside in self.ask_each(read, scopes):
                if root.name == name and isinstance(inside, VaultMemoryError):
                    raise inside
                if root.name == name:
                    found = replace(inside, path=f"{PREFIX}{name}/{inside.path}")
        return found

    def close(self) -> None:
        """Close open files and connections of all sources."""
        super().close()
        for memory in (*self._opened.values(), *([self.sessions] if "sessions" in vars(self) else ())):
            memory.close()

    # --- further vaults ------------------------------------------------------------------------------------------

    @property
    def further_vaults(self) -> list[FurtherVault]:
        """Further vaults named in the settings or found below the parents named there, without the vault itself."""
        return [root for root, _ in self.ask_each(lambda _: None)]

    def memory_of(self, root: FurtherVault) -> Memory:
        """A further vault as a Memory; raises VaultError if its folder is missing."""
        if root.path not in self._opened:
            config = _config_of(root, self.config)
            self._opened[root.path] = Memory(config, index_file=self._index_of(config))
        return self._opened[root.path]

    def ask_each(
        self, work: Callable[[FurtherVault], Any], scopes: Sequence[str] = (), seconds: float = REACH_SECONDS
    ) -> Iterator[tuple[FurtherVault, Any]]:
        """Yield each further vault in these scopes with the result of `work` on it, or the error it raised.

        Each setting has its own thread, which finds its vaults and works on them. One that hangs does not block the
        others, and is not waited for again.
        """
        from concurrent.futures import wait  # 15 ms, which only further vaults are worth

        until = time.monotonic() + seconds
        settings = dict.fromkeys((*self.config.roots, *((parent, None) for parent in self.config.roots_under)))
        hanging = {path for path, call in self._late.items() if not call.done()}
        calls = [
            (path, scope, None if path in hanging else start_thread(partial(self._work_at, path, scope, work, scopes)))
            for path, scope in settings
        ]
        known, names = set[str](), Counter((NOTES, SESSIONS))  # names in use
        for path, scope, call in calls:
            try:
                if call and not wait([call], max(until - time.monotonic(), 0)).done:
                    self._late[path], call = call, None
                if call is None:
                    raise VaultError(f"{_name_of(path)}{_NO_ANSWER}")
                there = call.result()
            except VaultMemoryError as error:
                named, why = FurtherVault(_name_of(path), path, normal_scope(scope) if scope else ""), error
                if not named.scope and scopes:  # its scope is unknown: do not reveal its name to a restricted caller
                    named, why = FurtherVault("roots", path, scopes[0]), VaultError(f"a further vault{_NO_ANSWER}")
                there = [(str(path), named, why)]
            for real, root, given in there:
                if real not in known:
                    known.add(real)
                    names[root.name] += 1
                    number = names[root.name]
                    if root.is_open(scopes):
                        yield root if number == 1 else root._replace(name=f"{root.name}-{number}"), given

    def _work_at(
        self, path: Path, scope: str | None, work: Callable[[FurtherVault], Any], scopes: Sequence[str]
    ) -> list[VaultResult]:
        """Work on the vault at `path`, or on those below it if `scope` is None."""
        found = []
        for each in [path] if scope is not None else _project_memories(path):
            real = os.path.realpath(each)
            if real == os.path.realpath(self.config.vault):
                continue
            root, given = FurtherVault(_name_of(each), each, _scope_of(each, scope, self.config)), None
            try:
                given = work(root) if root.is_open(scopes) else None
            except VaultMemoryError as error:
                given = error
            found.append((real, root, given))
        return found

    def refresh_further_vaults(self) -> "Iterator[tuple[str, Report | VaultMemoryError]]":
        """Update the index of each further vault; yields its name with the report, or the error that prevented it."""
        for root, error in self.ask_each(lambda _: None):
            try:
                yield root.name, error or self.memory_of(root).index()
            except VaultMemoryError as failed:
                yield root.name, failed

    # --- the sessions --------------------------------------------------------------------------------------------

    @cached_property
    def sessions(self) -> Memory:
        """The texts derived from the sessions, as a separate Memory."""
        from vault_memory.sessions import session_root

        config = session_root.derive_config(self.config, os.environ)
        return Memory(config, index_file=self._index_of(config))

    def refresh_sessions(self, progress: "Progress | None" = None) -> "SyncReport | None":
        """Read and index what was appended to the transcripts; None if sessions are switched off.

        What cannot be read or indexed is listed in the report's problems.
        """
        if not self.config.sessions_tools:
            return None
        from vault_memory.sessions.sync import sync_transcripts

        swept = sync_transcripts(self.config, os.environ, progress)
        try:
            self._index_sessions()
        except VaultMemoryError as error:
            swept.problems.append(f"the sessions' index: {error}")
        return swept

    def _index_sessions(self) -> None:
        from vault_memory.sessions import session_root

        if not session_root.has_texts(self.config, os.environ):
            return
        try:
            self.sessions.index()
        except RefusedError:  # most texts are gone; being ours, on no mounted drive, they were deleted on purpose
            if self.sessions.vault.walk().notes:
                self.sessions.index(rebuild=True)
            else:
                session_root.forget_index(self.sessions.vault.root, self.sessions.index_file.path)

    def sessions_below(self, folder: str, scopes: tuple[str, ...]) -> "list[SessionEntry]":
        """The sessions in these scopes in the folder `sessions` or one below it, newest first."""
        from vault_memory.sessions import session_root, transcript
        from vault_memory.store.note_queries import newest_notes

        if not f"{folder}/".startswith(transcript.PREFIX) or not session_root.has_texts(self.config, os.environ):
            return []
        inner = folder.removeprefix(transcript.PREFIX.rstrip("/")).strip("/")
        from vault_memory.capture.statements import is_refusal

        rows = self.sessions._ask_index(lambda view, _: newest_notes(view, inner), scopes)
        entries = (session_root.entry(*row) for row in rows)
        return [each._replace(title="") if is_refusal(each.title) else each for each in entries]

    def _withheld(self, path: str, first: int, last: int) -> dict[int, str]:
        """What replaces the messages of a session that nobody may read, by line."""
        from vault_memory.capture.sources import withheld
        from vault_memory.markdown.note import decoded_lines

        return withheld(decoded_lines(self.sessions.vault.read(path))[0], first, last)

    def _without_withheld(self, excerpt: "Excerpt") -> "Excerpt":
        lines = excerpt.text.split("\n")
        for number, line in self._withheld(excerpt.path, excerpt.start_line, excerpt.end_line).items():
            lines[number - excerpt.start_line] = line
        return replace(excerpt, text="\n".join(lines))

    def project_summary(self, project: str) -> Result | None:
        """The start of the latest session summary in this project scope, from the index as it is."""
        from vault_memory.sessions import session_root

        if not session_root.has_texts(self.config, os.environ) or self.sessions.index_file.unusable():
            return None
        with self.sessions.index_file.reading(write=False) as (store, _), store.snapshot():
            return session_root.last_summary(self.sessions.vault, store.view((project,)))

    # --- queries to all sources ----------------------------------------------------------------------------------

    def _ask_all(self, request: Request, progress: "Progress | None", keep: bool) -> Answer:
        started = time.perf_counter()
        own = None
        if request.source != SESSIONS:
            (own,) = super().answers([request._replace(source=NOTES)], progress, keep=False)
        answer = self.add_other_sources(request, own, progress=progress)
        if keep:
            self._note_recall(answer)
        return answer._replace(seconds=time.perf_counter() - started)

    def _add_sessions(self, answer: Answer, progress: "Progress | None", keep: bool) -> Answer:
        """Put what sessions say before the notes' closest lines, for a question that the notes cannot answer."""
        request = answer.request
        if not self.config.sessions_tools or request.filters.as_of:
            return answer
        found = self._ask_sessions(request, progress)
        if isinstance(found, NoAnswer) or found.missing:
            return answer
        from vault_memory.sessions import session_root

        told = [result for result in found.results if session_root.answers(result, answer.missing)]
        if not told:
            return answer
        own = answer.roots or [RootStatus(NOTES, answer.notes, fresh=answer.fresh, pending=answer.pending)]
        asked = [RootStatus(SESSIONS, found.notes, fresh=found.fresh, pending=found.pending), *own]
        answer = _packed(answer, [*told, *answer.results[:CLOSEST]], asked)._replace(
            omitted=answer.omitted,
            matched=tuple(sorted({*answer.matched, *found.matched})),
            degraded=[each for each in answer.degraded if each[0] not in _OF_ONE_SOURCE],
            is_guess=False,
            fresh=answer.fresh and found.fresh,
            pending=answer.pending + found.pending,
        )
        if keep:
            self._note_recall(answer, (SESSIONS,))
        return answer

    def _note_recall(self, answer: Answer, sources: Sequence[str] = (NOTES, SESSIONS)) -> None:
        """Record the recalled passages of each source in its own journal; a further vault is never written to."""
        if not (self.config.journal and answer.request.is_noted):
            return
        asked = {root.name for root in answer.roots if not root.why_not} or {NOTES}
        for name in asked.intersection(sources):
            root = (self if name == NOTES else self.sessions).vault.root
            results = [each for each in answer.results if (each.root or NOTES) == name]
            cited = [journal.CitedPassage(each.source, each.key) for each in results]
            journal.note_recall(root, answer.request.query, datetime.now(UTC), cited)

    def _ask_vaults(self, request: Request, may_wait: bool) -> Iterator[SourceAnswer]:
        """The further vaults' answers; with `may_wait=False` within a hook's time, from the index as it is."""
        seconds = REACH_SECONDS if may_wait else self.config.hooks_seconds * SHARE_OF_A_HOOK

        def ask(root: FurtherVault) -> Answer | NoAnswer | Memory:
            if not may_wait:
                return self._ask_index_of(request, root)
            memory = self.memory_of(root)
            # An index that must be built first is left to the caller: this thread has no time for it.
            return memory if memory.index_file.unusable() else memory.answer(request, journal=False)

        for root, given in self.ask_each(ask, request.filters.scopes, seconds):
            try:
                found = given.answer(request, journal=False) if isinstance(given, Memory) else given
            except VaultMemoryError as error:
                found = error
            if isinstance(found, Answer):
                yield root.name, _cited_outside(root, found)
            else:
                yield root.name, found if isinstance(found, NoAnswer) else NoAnswer(str(found))

    def _ask_index_of(self, request: Request, root: FurtherVault) -> Answer | NoAnswer:
        """A further vault's answer from its index as it is, without a model server."""
        memory = Memory(replace(_config_of(root, self.config), embedding_provider="builtin"))
        if why := memory.index_file.unusable():
            return NoAnswer(f"{root.name} has no index that can be used ({why}): {_UPDATE_HINT}", STALE_SOURCE)
        with memory.index_file.reading(write=False) as (store, freshness), store.snapshot():
            answer = memory.search.engine(store).answer(request)
        if not freshness.fresh:
            behind = (STALE_SOURCE, f"{root.name} has changed since it was indexed: {_UPDATE_HINT}")
            answer = answer._replace(fresh=False, pending=freshness.pending, degraded=[*answer.degraded, behind])
        return answer

    def _ask_sessions(self, request: Request, progress: "Progress | None") -> Answer | NoAnswer:
        config = self.config
        if not config.sessions_tools:
            return NoAnswer(SESSIONS_OFF, "source" if request.source == SESSIONS else "")
        from vault_memory.sessions import session_root

        try:
            if not session_root.has_texts(config, os.environ):
                return NoAnswer("no session transcripts are indexed yet: `memory index` reads them")
            wanted = session_root.sessions_request(request)
            if wanted is None:
                return NoAnswer("sessions hold none of these kinds")
            behind = session_root.catch_up(config, os.environ)
            (answer,) = self.sessions.answers([wanted], progress, keep=False)
        except VaultMemoryError as error:
            return NoAnswer(str(error))
        shown = [each for each in answer.results if not self._withheld(each.path, each.start_line, each.end_line)]
        results = list(map(session_root.outside_result, shown))
        return answer._replace(results=results, fresh=answer.fresh and not behind, pending=answer.pending + behind)


# --- merging answers -------------------------------------------------------------------------------------------------


def _merge(request: Request, given: Sequence[SourceAnswer], vault: str) -> Answer:
    """Merge several answers: interleave their results and pack them into the one budget."""
    from vault_memory.context.bundle import interleave

    if request.source == NOTES and len(given) == 1 and isinstance(given[0][1], Answer):
        return given[0][1]
    found = [(name, each) for name, each in given if isinstance(each, Answer)]
    missing = [(name, each) for name, each in given if isinstance(each, NoAnswer)]
    lanes = dict.fromkeys(("lexical", "semantic", "entity", "temporal"), 0)
    nothing = Answer(request, [], request.mode, lanes, None, Understanding(), 0, 0, {})
    answers = [answer for _, answer in found] or [nothing]
    # In each round the source that knows most of the question's words comes first; on a tie, the notes.
    turns, repeats = interleave(sorted(answers, key=lambda answer: -len(answer.words)))
    first, of_notes = answers[0], [answer for name, answer in found if name != SESSIONS] or answers
    asked = [RootStatus(name, each.notes, 0, each.fresh, each.pending) for name, each in found]
    asked += [RootStatus(name, why_not=each.why) for name, each in missing]
    packed = _packed(first._replace(request=request), [result for _, result in turns], asked)
    omitted = Counter(packed.omitted)
    omitted["near_duplicates"] += repeats
    for answer in answers:
        omitted.update(answer.omitted)
    problems = [(each.problem, each.why) for _, each in missing if each.problem]
    degraded = list(dict.fromkeys([*problems, *_problems(answers)]))
    unknown = [word for word in first.understood.unknown if all(word in a.understood.unknown for a in answers)]
    return packed._replace(
        lanes={lane: sum(answer.lanes.get(lane, 0) for answer in answers) for lane in first.lanes},
        omitted=omitted,
        degraded=degraded,
        fresh=all(answer.fresh for answer in answers),
        pending=sum(answer.pending for answer in answers),
        notes=sum(answer.notes for answer in answers),
        passages=sum(answer.passages for answer in answers),
        matched=tuple(sorted({word for answer in answers for word in answer.matched})),
        words=sum((Counter(answer.words) for answer in answers), Counter()),
        missing=tuple(word for word in of_notes[0].missing if all(word in a.missing for a in of_notes)),
        is_relevant=any(answer.is_relevant for answer in answers),
        is_guess=any(answer.is_guess for answer in answers) and any(what == "lexical" for what, _ in degraded),
        vault=vault,
        understood=first.understood._replace(unknown=tuple(unknown)),
    )


def _problems(answers: Sequence[Answer]) -> list[tuple[str, str]]:
    """Problems of any of the answers; that a lane has no match counts only if all sources report it."""

    def reason(problem: tuple[str, str]) -> tuple[str, str]:
        # The text of a lexical problem also says what the source shows instead, which differs.
        return ("lexical", "") if problem[0] == "lexical" else problem

    everywhere = set.intersection(*(set(map(reason, answer.degraded)) for answer in answers))
    every = (problem for answer in answers for problem in answer.degraded)
    return [problem for problem in every if problem[0] not in _OF_ONE_SOURCE or reason(problem) in everywhere]


def _packed(answer: Answer, ranked: Iterable[Result], asked: Iterable[RootStatus]) -> Answer:
    """The answer with as many of the ranked results as fit its limits, and the number that each root contributed."""
    request = answer.request
    taken: list[Result] = []
    left_out = Counter({"over_budget": 0, "over_k": 0})
    named: set[str] = set()
    tokens = rendered = 0
    for result in ranked:
        cost = result.tokens + result.citation_tokens + (0 if result.path in named else result.header_tokens)
        used = rendered + cost if request.rendered else tokens + result.tokens
        if request.k is not None and len(taken) >= request.k:
            left_out["over_k"] += 1
        elif request.budget_tokens is not None and used > request.budget_tokens:
            left_out["over_budget"] += 1
        else:
            named.add(result.path)
            taken.append(result._replace(rank=len(taken) + 1))
            tokens, rendered = tokens + result.tokens, rendered + cost
    counts = Counter(result.root or NOTES for result in taken)
    roots = [root._replace(results=counts[root.name]) for root in asked]
    return answer._replace(results=taken, tokens=tokens, rendered_tokens=rendered, omitted=left_out, roots=roots)


# --- finding further vaults ------------------------------------------------------------------------------------------


def _scope_of(path: Path, scope: str | None, config: Config) -> str:
    """The scope set for a further vault, else its project's, else `global`; for a project's own memory never that."""
    from vault_memory.sessions import projects

    if scope:
        return normal_scope(scope)
    owner = _owner(path)
    if named := projects.find_project(owner, config, os.environ):
        return named
    return GLOBAL if owner == path else projects.name_project(owner, config, os.environ) or UNREADABLE_SCOPE


def _owner(path: Path) -> Path:
    return path.parent.parent if path.parts[-2:] == PROJECT_MEMORY else path


def _name_of(path: Path) -> str:
    from vault_memory.markdown import entities

    return entities.slug(_owner(path).name) or "root"


def _project_memories(parent: Path) -> Iterator[Path]:
    try:
        names = sorted(entry.name for entry in os.scandir(parent) if entry.is_dir())
    except OSError:
        return  # doctor reports it
    for path in (parent.joinpath(*PROJECT_MEMORY), *(parent.joinpath(name, *PROJECT_MEMORY) for name in names)):
        if path.is_dir():
            yield path


def _config_of(root: FurtherVault, config: Config) -> Config:
    index = Path(user_folder("data", os.environ), "roots")
    own = load(str(root.path), with_problems=True)
    return replace(
        config, vault=root.path, index_path=index, daily_folder=own.daily_folder, daily_format=own.daily_format,
        bank_folder=own.bank_folder, core_file=own.core_file, core_files=(), ignore=(), rerank_provider="off",
        folder_scopes=(("", root.scope),), ignored=(), unknown=(),
    )  # fmt: skip


def _cited_outside(root: FurtherVault, answer: Answer) -> Answer:
    """A further vault's answer with results as cited from outside it; a prefix costs at most one token per byte."""
    prefix = f"{PREFIX}{root.name}/"
    cost = len(prefix.encode())
    results = [
        result._replace(
            path=prefix + result.path, root=root.name, header_tokens=result.header_tokens + cost,
            superseded_by=result.superseded_by and prefix + result.superseded_by,
            citation_tokens=result.citation_tokens + (cost if result.superseded_by else 0),
        )
        for result in answer.results
    ]  # fmt: skip
    return answer._replace(results=results)
