"""A vault asked together with the other vaults and the agents' sessions that the user's settings name.

Each source is a Memory with its own index, asked as if it were alone with the whole budget. Their results are taken in
turn by rank and packed anew into the one budget. What one source cannot answer is said, and takes nothing from others.
Other vaults are read and never written: an index of theirs lies in the user's data folder. Each has a scope: whoever
may not see that sees nothing in it, and a note there may be closed to more.
"""

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vault_memory.config import Config, user_folder
from vault_memory.errors import RefusedError, VaultMemoryError
from vault_memory.indexing.index_file import IndexFile
from vault_memory.memory import Memory
from vault_memory.search.answer import Answer, Request, Result, RootStatus, Understanding, without_results
from vault_memory.startup import NOTES, SESSIONS
from vault_memory.store import journal, schema

if TYPE_CHECKING:
    from vault_memory.indexing.indexer import Progress, Report
    from vault_memory.search.get import Excerpt
    from vault_memory.sessions.sync import SyncReport

PREFIX = "roots/"
PROJECT_MEMORY = (".claude", "memory")
"""Where a project keeps what an agent learnt of it."""

SESSIONS_OFF = "no session transcripts are indexed: `sessions.tools` in the user's own settings switches them on"

DEADLINE_SECONDS = 0.5
"""So long other vaults are waited for where nothing may be waited for: a quarter of what a hook has."""

UPDATE_HINT = "`memory index` brings it up to date"
"""What is said at the end where an index is not what it could be."""

_OF_ONE_SOURCE = ("lexical", "entity", "temporal")
"""What a source says of these is that it holds nothing of the question; another may."""


class OtherVault(NamedTuple):
    """One other vault: its name in citations, its folder, and the scope of all that is in it."""

    name: str
    path: Path
    scope: str

    def is_open(self, scopes: Sequence[str]) -> bool:
        """Whether its own scope is among these, or none are asked for: else nothing in it is, whatever its notes say.

        A note with another scope needs that one, too.
        """
        return not scopes or self.scope in scopes


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
        self, vault: str | Path | Config | None = None, *, index_file: IndexFile | None = None,
        index_of: Callable[[Config], IndexFile] = IndexFile,
    ) -> None:  # fmt: skip
        super().__init__(vault, index_file=index_file)
        self._index_of = index_of
        self._beside: dict[str, Memory] = {}

    def answers(
        self, requests: Iterable[Request], progress: "Progress | None" = None, keep: bool = True
    ) -> Iterator[Answer]:
        """Answer questions one after the other, each from the roots that its source names."""
        for beside, group in groupby(requests, lambda request: self.is_asked_beside(request.source)):
            if beside:
                yield from (self._merged(request, progress, keep) for request in group)
            else:
                yield from super().answers(group, progress, keep)

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
        return self._other_note(path, part) or found if found.not_found else found

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

    def _memory(self, config: Config) -> Memory:
        return Memory(config, index_file=self._index_of(config))

    # --- other vaults ------------------------------------------------------------------------------------------

    @cached_property
    def further(self) -> list[OtherVault]:
        """The other vaults that the settings name."""
        return list(_find_vaults(self.config, os.environ))

    def refresh_further(self, progress: "Progress | None" = None) -> "Iterator[tuple[str, Report | VaultMemoryError]]":
        """Bring the index of each other vault up to date: its name, and what was done or why it could not be."""
        for root in self.further:
            try:
                yield root.name, self.memory_of(root).index(progress=progress)
            except VaultMemoryError as error:
                yield root.name, error

    def memory_of(self, root: OtherVault) -> "Memory":
        """Raises VaultError where the folder is not there now."""
        if root.name not in self._beside:
            self._beside[root.name] = self._memory(_config_of(root, self.config, os.environ))
        return self._beside[root.name]

    def _other_note(self, name: str, part: _Part) -> "Excerpt | None":
        """Lines of a note of a other vault; None where the name is of none."""
        if not name.startswith(PREFIX):
            return None
        name, _, path = name.removeprefix(PREFIX).partition("/")
        root = next((each for each in self.further if each.name == name), None)
        if root is None or not path or not root.is_open(part.scopes):
            return None  # who may see nothing of it is not told that it is there
        found = self.memory_of(root).get(path, *part)
        return replace(found, path=f"{PREFIX}{root.name}/{found.path}")

    def _of_further(self, root: OtherVault, request: Request, progress: "Progress | None") -> SourceAnswer:
        """What a other vault answers."""
        memory = self.memory_of(root)
        (answer,) = memory.answers([request._replace(source=NOTES)], progress, keep=False)
        results = [_cited_outside(root, result) for result in answer.results]
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

    def _of_sessions(self, request: Request, progress: "Progress | None") -> SourceAnswer | str:
        """What the sessions answer, or why they do not."""
        config = self.config
        if not config.sessions_tools:
            return SESSIONS_OFF
        from vault_memory.sessions import session_root as sessions

        if not sessions.has_texts(config, os.environ):
            return "no session transcripts are indexed yet: `memory index` reads them"
        asked = sessions.sessions_request(request)
        if asked is None:
            return "sessions hold none of these kinds"
        behind = sessions.catch_up(config, os.environ)
        (answer,) = self.sessions.answers([asked._replace(source=NOTES)], progress, keep=False)
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
            for name, answer in _ask_quickly(self, request).items():
                if isinstance(answer, str):
                    missing.append(RootStatus(name, why_not=answer))
                else:
                    given.append(SourceAnswer(name, self, answer))
        if request.source != NOTES:
            missing.append(RootStatus(SESSIONS, why_not="sessions are not asked where nothing may be waited for"))
        return self._one(request, given, missing)

    def _one(self, request: Request, given: Sequence[SourceAnswer], missing: Sequence[RootStatus]) -> Answer:
        if request.source == NOTES and not missing and [each.name for each in given] == [NOTES]:
            return given[0].answer
        return _merge(request, given, missing, self.vault.root.name)

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


def _note(request: Request, given: Sequence[SourceAnswer], results: Sequence[Result]) -> None:
    """Note in the journal of each root what of it was handed over."""
    keys = {(result.source, result.key) for result in results}
    for each in given:
        if each.name not in (NOTES, SESSIONS):
            continue  # a further vault is only read
        cited = [journal.CitedPassage(r.source, r.key) for r in each.answer.results if (r.source, r.key) in keys]
        journal.note_recall(each.memory.vault.root, request.query, datetime.now(UTC), cited)


def _merge(request: Request, given: Sequence[SourceAnswer], missing: Sequence[RootStatus], vault: str) -> Answer:
    """One answer of several: without the guesses of a source that has nothing to do with an unasked question."""
    from vault_memory.context.context import in_turn

    given = [
        each._replace(answer=each.answer if each.answer.has_footing else without_results(each.answer)) for each in given
    ]
    answers = [each.answer for each in given]
    lanes = dict.fromkeys(("lexical", "semantic", "entity", "temporal"), 0)
    first = answers[0] if answers else Answer(request, [], request.mode, lanes, None, Understanding(), 0, 0, {})
    # Who knows most words of the question comes first in each turn; the notes where all know the same.
    order = sorted(range(len(answers)), key=lambda number: -len(answers[number].words))
    turns, repeats = in_turn([answers[number] for number in order])
    ranked = [(order[number], result) for number, result in turns]
    taken, left_out, tokens, rendered = _pack(request, ranked)
    omitted = Counter(left_out | {"near_duplicates": repeats})
    for answer in answers:
        omitted.update(answer.omitted)
    # What is switched off is no part of all there is.
    degraded = [
        ("source", each.why_not) for each in missing if each.why_not != SESSIONS_OFF or request.source == SESSIONS
    ]
    counts = Counter(number for number, _ in taken)
    status = [
        RootStatus(each.name, each.answer.notes, counts[number], each.answer.fresh, each.answer.pending)
        for number, each in enumerate(given)
    ]
    unknown = [word for word in first.understood.unknown if all(word in a.understood.unknown for a in answers)]
    return first._replace(
        request=request,
        results=[result._replace(rank=rank) for rank, (_, result) in enumerate(taken, 1)],
        lanes={lane: sum(answer.lanes.get(lane, 0) for answer in answers) for lane in first.lanes},
        tokens=tokens,
        rendered_tokens=rendered,
        omitted=omitted,
        degraded=list(dict.fromkeys([*degraded, *_problems(answers)])),
        fresh=all(answer.fresh for answer in answers),
        pending=sum(answer.pending for answer in answers),
        notes=sum(answer.notes for answer in answers),
        passages=sum(answer.passages for answer in answers),
        words=sum((Counter(answer.words) for answer in answers), Counter()),
        has_footing=any(answer.has_footing for answer in answers),
        vault=vault,
        roots=[*status, *missing],
        understood=first.understood._replace(unknown=tuple(unknown)),
    )


def _problems(answers: Sequence[Answer]) -> Iterator[tuple[str, str]]:
    """What the sources say did not run; that a word is not known counts only where none of them knows it."""
    said = [{(what, why.partition("; ")[0]) for what, why in answer.degraded} for answer in answers]
    for what, why in (problem for answer in answers for problem in answer.degraded):
        if what not in _OF_ONE_SOURCE or all((what, why.partition("; ")[0]) in problems for problems in said):
            yield what, why


def _pack(
    request: Request, ranked: Iterable[tuple[int, Result]]
) -> tuple[list[tuple[int, Result]], dict[str, int], int, int]:
    """What fits the limits, best first, why the rest was left out, and what it costs without and with citations."""
    taken: list[tuple[int, Result]] = []
    left_out = {"over_budget": 0, "over_k": 0}
    named: set[str] = set()
    tokens = rendered = 0
    for number, result in ranked:
        cost = result.tokens + result.citation_tokens + (0 if result.path in named else result.header_tokens)
        used = rendered + cost if request.rendered else tokens + result.tokens
        if request.k is not None and len(taken) >= request.k:
            left_out["over_k"] += 1
        elif request.budget_tokens is not None and used > request.budget_tokens:
            left_out["over_budget"] += 1
        else:
            named.add(result.path)
            taken.append((number, result))
            tokens, rendered = tokens + result.tokens, rendered + cost
    return taken, left_out, tokens, rendered


# --- other vaults ----------------------------------------------------------------------------------------------------


def _find_vaults(config: Config, environ: Mapping[str, str]) -> Iterator[OtherVault]:
    """The other vaults that the settings name, and those found below the parents they name; the vault is none."""
    if not (config.roots or config.roots_under):
        return  # nearly everybody: nothing is imported for it
    from vault_memory.markdown import entities
    from vault_memory.sessions import projects
    from vault_memory.text.scope_syntax import GLOBAL, UNREADABLE_SCOPE, normal_scope

    known, names = {os.path.realpath(config.vault)}, Counter[str]()
    for path, scope in (*config.roots, *((path, "") for path in _project_memories(config.roots_under))):
        real = os.path.realpath(path)
        if real in known:
            continue
        known.add(real)
        owner = path.parent.parent if path.parts[-2:] == PROJECT_MEMORY else path
        if scope:
            scope = normal_scope(scope)
        elif owner == path:
            scope = projects.of_folder(owner, config, environ) or GLOBAL
        else:  # a project's own memory without a repository around it is nobody else's, either
            own = projects.of_folder(owner, config, environ) or projects.of_root(owner, config, environ)
            scope = own or UNREADABLE_SCOPE
        base = entities.slug(owner.name) or "root"
        names[base] += 1
        yield OtherVault(base if names[base] == 1 else f"{base}-{names[base]}", path, scope)


def _project_memories(parents: Sequence[Path]) -> Iterator[Path]:
    for parent in parents:
        try:
            names = sorted(entry.name for entry in os.scandir(parent) if entry.is_dir())
        except OSError:
            continue  # doctor's business
        for path in (parent.joinpath(*PROJECT_MEMORY), *(parent.joinpath(name, *PROJECT_MEMORY) for name in names)):
            if path.is_dir():
                yield path


def _config_of(root: OtherVault, config: Config, environ: Mapping[str, str]) -> Config:
    """The settings of another vault: the vault's own, but for where it is and what is left out."""
    index = user_folder("data", environ) / "roots"
    return replace(
        config, vault=root.path, index_path=index, ignore=(), folder_scopes=(("", root.scope),), core_files=(),
        ignored=(), unknown=(), sources=(),
    )  # fmt: skip


def _cited_outside(root: OtherVault, result: Result) -> Result:
    """A result of that vault as it is cited outside; a prefix costs a token a byte at most."""
    prefix = f"{PREFIX}{root.name}/"
    after, cost = result.superseded_by and prefix + result.superseded_by, len(prefix.encode())
    return result._replace(
        path=prefix + result.path, root=root.name, superseded_by=after, header_tokens=result.header_tokens + cost,
        citation_tokens=result.citation_tokens + (cost if after else 0),
    )  # fmt: skip


# --- where nothing may be waited for ---------------------------------------------------------------------------------

_asking: dict[Path, "_QuickQuestion"] = {}
"""What was asked last, by the vault it was asked for."""


class _QuickQuestion(threading.Thread):
    """Asks other vaults one after the other, from the index they have; `answers` is what they say so far, or why not.

    A folder on a drive that hangs must not cost the vault's own answer: the thread is left behind when the time is
    over, and not joined by another while it hangs.
    """

    def __init__(self, federation: Federation, request: Request) -> None:
        super().__init__(daemon=True)
        self._federation, self._request = federation, request
        self.answers: dict[str, Answer | str] = {}

    def run(self) -> None:
        try:
            for root in self._federation.further:
                if root.is_open(self._request.filters.scopes):
                    self.answers[root.name] = self._answer(root)
        except Exception as error:  # the edge: what is wrong elsewhere never costs the vault's own answer
            self.answers["roots"] = str(error)

    def _answer(self, root: OtherVault) -> Answer | str:
        config = _config_of(root, self._federation.config, os.environ)
        try:
            memory = Memory(replace(config, embedding_provider="builtin", rerank_provider="off"))
            if why := memory.index_file.unusable():
                return f"{root.name} has no index that can be used ({why}): {UPDATE_HINT}"
            with memory.index_file.reading(write=False) as (store, freshness), store.snapshot():
                answer = memory.search.engine(store).answer(self._request._replace(source=NOTES))
        except (VaultMemoryError, *schema.DAMAGED) as error:
            return f"{root.name}: {error}"
        behind = [] if freshness.fresh else [("source", f"{root.name} has changed since it was indexed: {UPDATE_HINT}")]
        return answer._replace(
            results=[_cited_outside(root, result) for result in answer.results], fresh=freshness.fresh,
            pending=freshness.pending, degraded=(*answer.degraded, *behind),
        )  # fmt: skip


def _ask_quickly(federation: Federation, request: Request) -> dict[str, Answer | str]:
    """What each of the other vaults answers that the question's scopes open, or why it does not."""
    root = federation.vault.root
    if (before := _asking.get(root)) and before.is_alive():
        return {"roots": "the other vaults still hang from an earlier question"}
    asking = _asking[root] = _QuickQuestion(federation, request)
    asking.start()
    asking.join(DEADLINE_SECONDS)
    late = {"roots": f"not every other vault answered in {DEADLINE_SECONDS:g} s"} if asking.is_alive() else {}
    return {**asking.answers, **late}
