"""A vault asked together with the further vaults and the agents' sessions that the user's settings name.

Each source is a Memory with its own index, asked as if it were alone with the whole budget. Their results are taken in
turn by rank and packed anew into the one budget. What one source cannot answer is said, and takes nothing from others.
Further vaults are read and never written: an index of theirs lies in the user's data folder. Each has a scope: whoever
may not see that sees nothing in it, and a note there may be closed to more.
"""

import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from vault_memory.config import Config
from vault_memory.errors import RefusedError, VaultMemoryError
from vault_memory.indexing.index_file import IndexFile
from vault_memory.memory import Memory
from vault_memory.search.answer import Answer, Request, Result, RootStatus, Understanding, without_results
from vault_memory.startup import NOTES, SESSIONS, STALE_SOURCE, user_folder
from vault_memory.store import journal

if TYPE_CHECKING:
    from vault_memory.indexing.indexer import Progress, Report
    from vault_memory.search.get import Excerpt
    from vault_memory.sessions.sync import SyncReport

PREFIX = "roots/"
PROJECT_MEMORY = (".claude", "memory")
"""Where a project keeps what an agent learnt of it."""

SESSIONS_OFF = "no session transcripts are indexed: `sessions.tools` in the user's own settings switches them on"

DEADLINE_SECONDS = 0.5
"""So long further vaults are waited for where nothing may be waited for: a quarter of what a hook has."""

_OF_ONE_SOURCE = ("lexical", "entity", "temporal")
"""What a source says of these is that it holds nothing of the question; another may."""


SourceAnswer = tuple[str, Answer | str]
"""A source that was asked: its name, and its answer with results as they are cited outside, or why it has none."""

_asking: dict[Path, threading.Thread] = {}
"""Who asks further vaults against the clock, by the vault it asks for."""


class FurtherVault(NamedTuple):
    """One further vault: its name in citations, its folder, and the scope of all that is in it."""

    name: str
    path: Path
    scope: str

    def is_open(self, scopes: Sequence[str]) -> bool:
        """Whether its own scope is among these, or none are asked for: else nothing in it is, whatever its notes say.

        A note with another scope needs that one, too.
        """
        return not scopes or self.scope in scopes


class Federation(Memory):
    """One vault, asked together with the further vaults and the sessions that the user's settings name.

    It offers what a Memory does; `source` says who is asked. `index_of` makes the index file of each of the others.
    """

    def __init__(
        self, vault: str | Path | Config | None = None, *, index_file: IndexFile | None = None,
        index_of: Callable[[Config], IndexFile] = IndexFile,
    ) -> None:  # fmt: skip
        super().__init__(vault, index_file=index_file)
        self._index_of = index_of
        self._opened: dict[str, Memory] = {}

    def answers(
        self, requests: Iterable[Request], progress: "Progress | None" = None, keep: bool = True
    ) -> Iterator[Answer]:
        """Answer questions one after the other, each from the roots that its source names."""
        for beside, group in groupby(requests, lambda request: request.source != NOTES or bool(self.further_vaults)):
            if beside:
                yield from (self._answer(request, progress, keep) for request in group)
            else:
                yield from super().answers(group, progress, keep)

    def add_other_sources(self, request: Request, own: Answer | None, may_wait: bool = True) -> Answer:
        """The vault's own answer, where its notes were asked, with what other sources say; not journalled.

        Where nothing may be waited for, further vaults answer from the index they have; the sessions, which are always
        behind, do not.
        """
        given: list[SourceAnswer] = [(NOTES, own)] if own else []
        if may_wait:
            given += self._ask_others(request)
        else:
            # Even finding the vaults may hang: that is left to the thread that asks them.
            if request.source != SESSIONS and (self.config.roots or self.config.roots_under):
                given += self._ask_against_the_clock(request)
            if request.source != NOTES:
                given.append((SESSIONS, "sessions are not asked where nothing may be waited for"))
        return _merge(request, given, self.vault.root.name)

    def _get(
        self, path: str, lines: tuple[int, int | None] | None, max_tokens: int | None, scopes: tuple[str, ...]
    ) -> "Excerpt":
        """Lines of a note, or messages of a session; a note of the vault comes first where a path names both.

        What lies outside the scopes, where there are any, is not found.
        """
        session = None
        if path.startswith(f"{SESSIONS}/"):
            from vault_memory.sessions import transcript

            session = transcript.parse_name(path)
        if session is None or session[1] is None:  # no note has messages
            found = super()._get(path, lines, max_tokens, scopes)
            if not found.not_found:
                return found
            name, _, inner = path.removeprefix(PREFIX).partition("/")
            for root in self.further_vaults if path.startswith(PREFIX) and inner else ():
                # Who may see nothing of it is not told that it is there.
                if root.name == name and root.is_open(scopes):
                    found = self.memory_of(root)._get(inner, lines, max_tokens, scopes)
                    return replace(found, path=f"{PREFIX}{name}/{found.path}")
            if session is None:
                return found
        from vault_memory.search.get import Excerpt
        from vault_memory.sessions import session_root

        if session_root.may_open(session[0], self.config, os.environ):
            span = session_root.find_lines(lines or session[1])
            found = self.sessions._get(session[0], span, max_tokens, scopes)
            if not found.not_found:
                return session_root.outside_excerpt(found)
        return Excerpt(transcript.public_name(session[0]), 0, 0, "", not_found=True)

    def close(self) -> None:
        """Let go of what is held open."""
        super().close()
        for memory in (self.__dict__.get("sessions"), *self._opened.values()):
            if memory:
                memory.close()

    # --- further vaults ------------------------------------------------------------------------------------------

    @cached_property
    def further_vaults(self) -> list[FurtherVault]:
        """The further vaults that the settings name, and those found below the parents they name; the vault is none."""
        config = self.config
        if not (config.roots or config.roots_under):
            return []  # nearly everybody: nothing is imported for it
        from vault_memory.markdown import entities
        from vault_memory.sessions import projects
        from vault_memory.text.scope_syntax import GLOBAL, UNREADABLE_SCOPE, normal_scope

        found: list[FurtherVault] = []
        known, names = {os.path.realpath(config.vault)}, Counter((NOTES, SESSIONS))  # names that are taken
        for path, scope in (*config.roots, *((path, "") for path in _project_memories(config.roots_under))):
            real = os.path.realpath(path)
            if real in known:
                continue
            known.add(real)
            owner = path.parent.parent if path.parts[-2:] == PROJECT_MEMORY else path
            if scope:
                scope = normal_scope(scope)
            elif owner == path:
                scope = projects.find_project(owner, config, os.environ) or GLOBAL
            else:  # a project's own memory without a repository around it is nobody else's, either
                scope = projects.find_project(owner, config, os.environ)
                scope = scope or projects.name_project(owner, config, os.environ) or UNREADABLE_SCOPE
            name = entities.slug(owner.name) or "root"
            names[name] += 1
            found.append(FurtherVault(name if names[name] == 1 else f"{name}-{names[name]}", path, scope))
        return found

    def memory_of(self, root: FurtherVault) -> Memory:
        """A further vault as a Memory; raises VaultError where the folder is not there now."""
        if root.name not in self._opened:
            config = _config_of(root, self.config)
            self._opened[root.name] = Memory(config, index_file=self._index_of(config))
        return self._opened[root.name]

    def refresh_further_vaults(self) -> "Iterator[tuple[str, Report | VaultMemoryError]]":
        """Bring the index of each further vault up to date: its name, and what was done or why it could not be."""
        for root in self.further_vaults:
            try:
                yield root.name, self.memory_of(root).index()
            except VaultMemoryError as error:
                yield root.name, error

    # --- the sessions --------------------------------------------------------------------------------------------

    @cached_property
    def sessions(self) -> Memory:
        """The derived texts of the sessions, as a Memory of their own."""
        from vault_memory.sessions import session_root

        config = session_root.derive_config(self.config, os.environ)
        return Memory(config, index_file=self._index_of(config))

    def refresh_sessions(self, progress: "Progress | None" = None) -> "SyncReport | None":
        """Read what was appended to the transcripts, and index it; None where the settings want no sessions.

        What cannot be read or indexed is among the problems.
        """
        if not self.config.sessions_tools:
            return None
        from vault_memory.sessions import ledger, session_root
        from vault_memory.sessions.sync import sync_transcripts

        swept = sync_transcripts(self.config, os.environ, progress)
        try:
            if session_root.has_texts(self.config, os.environ):
                try:
                    self.sessions.index()
                except RefusedError:
                    # Most are gone: that is believed only where the ledger knows that they were deleted (law 7).
                    if ledger.list_missing(self.config, os.environ):
                        raise
                    if self.sessions.vault.walk().files:
                        self.sessions.index(rebuild=True)
                    else:
                        session_root.forget_index(self.sessions.vault.root, self.sessions.index_file.path)
        except VaultMemoryError as error:
            swept.problems.append(f"the sessions' index: {error}")
        return swept

    def sessions_below(self, folder: str, scopes: tuple[str, ...]) -> list[str]:
        """The sessions in these scopes that `sessions` or a folder in it holds, as they are cited."""
        from vault_memory.sessions import session_root, transcript

        if not f"{folder}/".startswith(transcript.PREFIX) or not session_root.has_texts(self.config, os.environ):
            return []
        inner = folder.removeprefix(transcript.PREFIX.rstrip("/")).strip("/")
        return [transcript.public_name(path) for path in self.sessions.notes_below(inner, scopes)]

    # --- asked together ------------------------------------------------------------------------------------------

    def _answer(self, request: Request, progress: "Progress | None", keep: bool) -> Answer:
        started = time.perf_counter()
        given: list[SourceAnswer] = []
        if request.source != SESSIONS:
            (own,) = super().answers([request._replace(source=NOTES)], progress, keep=False)
            given.append((NOTES, own))
        given += self._ask_others(request, progress)
        answer = _merge(request, given, self.vault.root.name)
        if keep and self.config.journal and request.is_noted:
            # A further vault is only read.
            answered = {name for name, each in given if isinstance(each, Answer)}
            for source, name in ((NOTES, ""), (SESSIONS, SESSIONS)):
                if source in answered:
                    memory = self.sessions if name else self
                    cited = [
                        journal.CitedPassage(each.source, each.key) for each in answer.results if each.root == name
                    ]
                    journal.note_recall(memory.vault.root, request.query, datetime.now(UTC), cited)
        return answer._replace(seconds=time.perf_counter() - started)

    def _ask_others(
        self, request: Request, progress: "Progress | None" = None, may_wait: bool = True
    ) -> Iterator[SourceAnswer]:
        """What the sources besides the vault say that the question means and its scopes open, one after the other."""
        if request.source != SESSIONS:
            for root in self.further_vaults:
                if root.is_open(request.filters.scopes):
                    yield root.name, self._ask_vault(root, request._replace(source=NOTES), progress, may_wait)
        if request.source != NOTES and may_wait:
            try:
                yield SESSIONS, self._ask_sessions(request, progress)
            except VaultMemoryError as error:
                yield SESSIONS, str(error)

    def _ask_vault(
        self, root: FurtherVault, request: Request, progress: "Progress | None", may_wait: bool
    ) -> Answer | str:
        """What a further vault answers; where nothing may be waited for, from the index it has and without a model."""
        try:
            if may_wait:
                (answer,) = self.memory_of(root).answers([request], progress, keep=False)
                return _cited_outside(root, answer)
            config = replace(_config_of(root, self.config), embedding_provider="builtin", rerank_provider="off")
            memory = Memory(config)
            if why := memory.index_file.unusable():
                return _no_results(
                    request, fresh=False, degraded=[_stale(f"{root.name} has no index that can be used ({why})")]
                )
            with memory.index_file.reading(write=False) as (store, freshness), store.snapshot():
                answer = memory.search.engine(store).answer(request)
        except VaultMemoryError as error:
            return str(error) if may_wait else f"{root.name}: {error}"
        if not freshness.fresh:
            behind = _stale(f"{root.name} has changed since it was indexed")
            answer = answer._replace(fresh=False, pending=freshness.pending, degraded=[*answer.degraded, behind])
        return _cited_outside(root, answer)

    def _ask_against_the_clock(self, request: Request) -> list[SourceAnswer]:
        """What the further vaults say within `DEADLINE_SECONDS`.

        A folder on a drive that hangs must not cost the vault's own answer: the thread is left behind when the time is
        over, and not joined by another while it hangs.
        """
        root = self.vault.root
        if (before := _asking.get(root)) and before.is_alive():
            return [("roots", "the other vaults have not answered an earlier question yet")]
        given: list[SourceAnswer] = []

        def ask() -> None:
            try:
                for each in self._ask_others(request, may_wait=False):
                    given.append(each)
            except Exception as error:  # the edge: what is wrong elsewhere never costs the vault's own answer
                given.append(("roots", str(error)))

        asking = _asking[root] = threading.Thread(target=ask, daemon=True)
        asking.start()
        asking.join(DEADLINE_SECONDS)
        late = [("roots", f"not every other vault answered in {DEADLINE_SECONDS:g} s")] if asking.is_alive() else []
        return [*given, *late]

    def _ask_sessions(self, request: Request, progress: "Progress | None") -> Answer | str:
        config = self.config
        if not config.sessions_tools:
            return SESSIONS_OFF
        from vault_memory.sessions import session_root

        if not session_root.has_texts(config, os.environ):
            return "no session transcripts are indexed yet: `memory index` reads them"
        wanted = session_root.sessions_request(request)
        if wanted is None:
            return "sessions hold none of these kinds"
        behind = session_root.catch_up(config, os.environ)
        (answer,) = self.sessions.answers([wanted._replace(source=NOTES)], progress, keep=False)
        results = [session_root.outside_result(result) for result in answer.results]
        return answer._replace(results=results, fresh=answer.fresh and not behind, pending=answer.pending + behind)


def _stale(why: str) -> tuple[str, str]:
    return STALE_SOURCE, f"{why}: `memory index` brings it up to date"


def _no_results(request: Request, **state: Any) -> Answer:  # noqa: ANN401
    lanes = dict.fromkeys(("lexical", "semantic", "entity", "temporal"), 0)
    return Answer(request, [], request.mode, lanes, None, Understanding(), 0, 0, {}, **state)


def _merge(request: Request, given: Sequence[SourceAnswer], vault: str) -> Answer:
    """One answer of several: without the guesses of a source that has nothing to do with an unasked question."""
    from vault_memory.context.context import in_turn

    if request.source == NOTES and len(given) == 1 and isinstance(given[0][1], Answer):
        return given[0][1]
    found = [(name, each) for name, each in given if isinstance(each, Answer)]
    missing = [RootStatus(name, why_not=each) for name, each in given if isinstance(each, str)]
    answers = [answer if answer.is_relevant else without_results(answer) for _, answer in found]
    first = answers[0] if answers else _no_results(request)
    # Who knows most words of the question comes first in each turn; the notes where all know the same.
    order = sorted(range(len(answers)), key=lambda number: -len(answers[number].words))
    turns, repeats = in_turn([answers[number] for number in order])
    ranked = [(order[number], result) for number, result in turns]
    taken, left_out, tokens, rendered = _pack(request, ranked)
    omitted = Counter(left_out | {"near_duplicates": repeats})
    for answer in answers:
        omitted.update(answer.omitted)
    # What is switched off is no part of all there is; that a word is not known counts where no source knows it.
    degraded = [
        ("source", each.why_not) for each in missing if each.why_not != SESSIONS_OFF or request.source == SESSIONS
    ]
    said = [{what if what == "lexical" else why for what, why in answer.degraded} for answer in answers]
    for what, why in (problem for answer in answers for problem in answer.degraded):
        key = what if what == "lexical" else why  # which says of the results of one source what they are
        if what not in _OF_ONE_SOURCE or all(key in problems for problems in said):
            degraded.append((what, why))
    counts = Counter(number for number, _ in taken)
    status = [
        RootStatus(name, answer.notes, counts[number], answer.fresh, answer.pending)
        for number, (name, answer) in enumerate(found)
    ]
    unknown = [word for word in first.understood.unknown if all(word in a.understood.unknown for a in answers)]
    return first._replace(
        request=request,
        results=[result._replace(rank=rank) for rank, (_, result) in enumerate(taken, 1)],
        lanes={lane: sum(answer.lanes.get(lane, 0) for answer in answers) for lane in first.lanes},
        tokens=tokens,
        rendered_tokens=rendered,
        omitted=omitted,
        degraded=list(dict.fromkeys(degraded)),
        fresh=all(answer.fresh for answer in answers),
        pending=sum(answer.pending for answer in answers),
        notes=sum(answer.notes for answer in answers),
        passages=sum(answer.passages for answer in answers),
        words=sum((Counter(answer.words) for answer in answers), Counter()),
        is_relevant=any(answer.is_relevant for answer in answers),
        is_guess=any(answer.is_guess for answer in answers) and any(what == "lexical" for what, _ in degraded),
        vault=vault,
        roots=[*status, *missing],
        understood=first.understood._replace(unknown=tuple(unknown)),
    )


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


def _project_memories(parents: Sequence[Path]) -> Iterator[Path]:
    for parent in parents:
        try:
            names = sorted(entry.name for entry in os.scandir(parent) if entry.is_dir())
        except OSError:
            continue  # doctor's business
        for path in (parent.joinpath(*PROJECT_MEMORY), *(parent.joinpath(name, *PROJECT_MEMORY) for name in names)):
            if path.is_dir():
                yield path


def _config_of(root: FurtherVault, config: Config) -> Config:
    """The settings of a further vault: the vault's own, but for where it is and what is left out."""
    index = Path(user_folder("data", os.environ), "roots")
    return replace(
        config, vault=root.path, index_path=index, ignore=(), folder_scopes=(("", root.scope),), core_files=(),
        ignored=(), unknown=(), sources=(),
    )  # fmt: skip


def _cited_outside(root: FurtherVault, answer: Answer) -> Answer:
    """That vault's answer with results as they are cited outside; a prefix costs a token a byte at most."""
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
