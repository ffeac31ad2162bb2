"""The public API: a vault's index, search and writer behind plain methods.

A surface (command line, daemon, MCP server, hook) calls a Memory, a Federation of several, or the daemon's client.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Self, TypeVar

from vault_memory.config import Config, load
from vault_memory.errors import UsageError, VaultMemoryError
from vault_memory.indexing.index_file import Freshness, IndexFile, IndexState
from vault_memory.search import request
from vault_memory.search.answer import Answer, Request, Result
from vault_memory.search.searcher import Searcher

if TYPE_CHECKING:
    from vault_memory.capture.captured_proposals import OpenProposal
    from vault_memory.capture.judge import CaptureReport
    from vault_memory.capture.scores import Gating
    from vault_memory.context.bundle import Bundle, ContextRequest
    from vault_memory.embedding.configured_embedder import BackfillReport
    from vault_memory.indexing.indexer import Progress, Report
    from vault_memory.reflect.job import ReflectReport, Steps
    from vault_memory.reflect.opinion_query import Opinion
    from vault_memory.search.entity_profile import EntityProfile, EntityRow, KeptFact
    from vault_memory.search.get import Excerpt
    from vault_memory.store.journal import JournalEntry
    from vault_memory.store.view import View
    from vault_memory.vault.undo_history import UndoReport
    from vault_memory.vault.vault import Vault
    from vault_memory.write.comparison import Comparison
    from vault_memory.write.edit import EditRequest, EditResult
    from vault_memory.write.forget import ForgetResult, Removal
    from vault_memory.write.new_note import NewNote, StoredNote
    from vault_memory.write.note_writer import NoteWriter
    from vault_memory.write.retain import Bullet, RetainResult

T = TypeVar("T")

Scopes = Sequence[str]
"""The scopes that are open to whoever asks; none given means all."""


class Memory:
    """One vault: ask it, write to it, have it reflect. Safe from several threads, which wait for each other.

    `vault` is its folder; without one it is found as the command line finds it. A missing index is built by the first
    question. Raises VaultError where there is no vault, UsageError for settings that cannot be read; every method may
    raise what `errors` defines.
    """

    def __init__(self, vault: str | Path | Config | None = None, *, index_file: IndexFile | None = None) -> None:
        self.config = vault if isinstance(vault, Config) else load(os.path.expanduser(vault) if vault else None)
        self.index_file = index_file or IndexFile(self.config)
        self.search = Searcher(self.index_file)
        self._lock = RLock()

    @cached_property
    def _writer(self) -> "NoteWriter":
        """Writes into the notes; loaded only when something is to be written."""
        from vault_memory.write.note_writer import NoteWriter

        return NoteWriter(self.index_file)

    @property
    def vault(self) -> "Vault":
        """The vault's folder and its notes."""
        return self.index_file.vault

    @property
    def index_state(self) -> IndexState | None:
        """What this thread's last answer about entities, names or opinions came from: how fresh the index was."""
        return self.index_file.state

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of what is held open; a closed Memory opens again when it is asked."""
        self.search.close()
        self.index_file.close()

    # --- asking ------------------------------------------------------------------------------------------------------

    def recall(
        self, query: str, *, k: int | None = None, budget: int | None = None, since: str | date | None = None,
        until: str | date | None = None, as_of: str | date | None = None, now: str | date | datetime | None = None,
        entities: Sequence[str] = (), kinds: Sequence[str] = (), tags: Sequence[str] = (), scopes: Scopes = (),
        source: str = "notes", mode: str = "auto", explain: bool = False, all: bool = False, journal: bool = True,
        task: str | None = None,
    ) -> Answer:  # fmt: skip
        """Answer a question with cited lines of the notes, best first; "" lists what the filters keep, newest first.

        `k` results and `budget` tokens at most: 8 and 2000 where neither is given, else the other is unlimited. Dates
        are as on the command line ("2025-11", "30d", "last week") or `date`s. `kinds` are letters or words,
        `scopes` none for all, `task` is "open" or "done". The recall is noted in the journal as a person's, unless
        `journal` is False, `explain` is set or `now` given. Raises UsageError for an option that cannot be read.
        """
        options = {
            "query": query, "k": k, "budget": budget, "since": since, "until": until, "as-of": as_of, "now": now,
            "entity": _texts(entities=entities), "kind": _texts(kinds=kinds), "tag": _texts(tags=tags),
            "scope": _texts(scopes=scopes), "source": source, "mode": mode, "explain": explain, "all": all,
            "task": task,
        }  # fmt: skip
        return self.answer(request.build(options, self.config), journal=journal)

    def answer(self, asked: Request, progress: "Progress | None" = None, *, journal: bool = True) -> Answer:
        """Answer one question whose options have been read."""
        with self._lock:
            (answer,) = self.answers([asked], progress, keep=journal)
        return answer

    def answers(
        self, requests: Iterable[Request], progress: "Progress | None" = None, keep: bool = True
    ) -> Iterator[Answer]:
        """Answer questions one after the other from one opened index, for one thread; `keep` notes them in the journal.

        Raises UsageError for a question to other sources than the notes: those are a Federation's.
        """
        yield from self.search.answers(map(_check_source, requests), progress, keep)

    def get(
        self, path: str, lines: tuple[int, int | None] | None = None, max_tokens: int | None = None, scopes: Scopes = ()
    ) -> "Excerpt":
        """Read lines (1-based, both ends included, None the last) of a note, at most 10,000 characters unless told.

        A missing note, or one that these scopes do not open, is an empty Excerpt with `not_found`. Raises RefusedError
        for a path that leads out of the vault, UsageError for lines that there cannot be.
        """
        from vault_memory.search.get import check_lines

        _text(path=path)
        check_lines(lines)
        return self._get(path, lines, request.count({"max_tokens": max_tokens}, "max_tokens"), _scope_names(scopes))

    def _get(
        self, path: str, lines: tuple[int, int | None] | None, max_tokens: int | None, scopes: tuple[str, ...]
    ) -> "Excerpt":
        from vault_memory.search.get import OpenScopes, read

        return read(self.vault, path, lines, max_tokens, OpenScopes(scopes, self.config.folder_scopes))

    def open_note(
        self, named: str, lines: tuple[int, int | None] | str | None = None, max_tokens: int | None = None,
        scopes: Scopes = (),
    ) -> "tuple[Excerpt, list[str]]":  # fmt: skip
        """Read what a path, a name or a link (`[[Note#Heading|shown]]`) names; and the notes of that name, if no path.

        `#L12-L14` behind it limits the lines, as `lines` does, which may be text (`"12:14"`). A name of several notes,
        or in another folder, opens none of them. Raises as `get` does.
        """
        from vault_memory.search.get import parse_span

        _text(named=named)
        if lines is None or isinstance(lines, str):
            named, lines = parse_span(named, lines)
        excerpt = self.get(named, lines, max_tokens, scopes)
        link = named.removeprefix("[[").removesuffix("]]").partition("|")[0].strip()
        name, mark, section = (part.strip() for part in link.partition("#"))
        if not (excerpt.not_found and name) or named.startswith("sessions/"):  # whose `#m3` is no heading
            return excerpt, []
        if link != named:
            excerpt = self.get(link, lines, max_tokens, scopes)
        called: list[str] = []
        if excerpt.not_found:
            with suppress(VaultMemoryError):  # without an index nothing is known of names
                called = self.notes_called(name, scopes)
        if len(called) == 1 and "/" not in name:  # links in notes name no folders
            excerpt = self.get(called[0] + mark + section, lines, max_tokens, scopes)
        return excerpt, called

    def entity(self, name: str, progress: "Progress | None" = None, scopes: Scopes = ()) -> "EntityProfile | None":
        """What is known of one entity, or None when nothing is; what was superseded comes last."""
        _text(name=name)
        from vault_memory.search.entity_profile import marked, profile
        from vault_memory.search.names import Names

        def ask(view: "View", _: object) -> "EntityProfile | None":
            found = profile(view, name)
            facts = marked(view, Names(view), found.facts, date.today()) if found else []
            return found and replace(found, facts=sorted(facts, key=lambda fact: bool(fact.superseded_by)))

        return self._ask_index(ask, scopes, progress)

    def entities(self, progress: "Progress | None" = None, scopes: Scopes = ()) -> "list[EntityRow]":
        """Every entity with a page or a mention."""
        from vault_memory.search.entity_profile import listing

        return self._ask_index(lambda view, _: listing(view), scopes, progress)

    def similar_names(self, name: str, scopes: Scopes = ()) -> list[str]:
        """Known names that look like one that is not known."""
        from vault_memory.search.names import Names

        _text(name=name)
        return self._ask_index(lambda view, _: Names(view).near(name), scopes)

    def notes_called(self, name: str, scopes: Scopes = ()) -> list[str]:
        """The paths of notes in these scopes that a link with this name would open, else of those with such a title."""
        from vault_memory.search.entity_profile import notes_called

        _text(name=name)
        return self._ask_index(lambda view, _: notes_called(view, name), scopes)

    def notes_below(self, folder: str, scopes: Scopes = ()) -> list[str]:
        """The paths of notes in these scopes that lie in a folder or in one below it, "" for the vault's own."""
        from vault_memory.store.note_queries import note_paths

        _text(folder=folder)
        return self._ask_index(lambda view, _: note_paths(view, folder), scopes)

    def opinions(
        self, entity: str | None = None, progress: "Progress | None" = None, scopes: Scopes = ()
    ) -> "list[Opinion]":
        """The beliefs held, surest first; those that hold no longer last."""
        from vault_memory.reflect.opinion_query import query_opinions
        from vault_memory.reflect.page_drafts import ReflectRequest
        from vault_memory.reflect.run_plan import RunPlanner

        if entity is not None:
            _text(entity=entity)

        def ask(view: "View", _: object) -> "list[Opinion]":
            return query_opinions(RunPlanner(self.vault, view, self.config, ReflectRequest()).jobs, entity)

        return self._ask_index(ask, scopes, progress)

    def facts(
        self, *, entity: str | None = None, kinds: Sequence[str] = (), since: str | date | None = None,
        by: str | None = None, scopes: Scopes = (),
    ) -> "list[KeptFact]":  # fmt: skip
        """The facts that are kept, newest first, and by whom: `by` is "person", "agent" for any, or `agent:moss`.

        Raises UsageError for an option that cannot be read.
        """
        from vault_memory.markdown import provenance
        from vault_memory.search.entity_profile import kept_facts

        if by not in (None, "agent", provenance.UNCLEAR) and provenance.normal(by) == provenance.UNCLEAR:
            raise UsageError(f"`{by}` does not say who it is from.", f"Write agent, {provenance.KNOWN}.")
        wanted = {request.kind(kind) for kind in _texts(kinds=kinds)}
        day = None if since is None else request.option_days(str(since), "since", date.today()).start
        return self._ask_index(lambda view, _: kept_facts(view, entity, wanted, day, by), scopes)

    def journal(self, days: int = 7) -> "list[JournalEntry]":
        """What the journals of all devices tell of so many days, newest first, at most 500 entries."""
        from vault_memory.store.journal import entries

        return entries(self.vault.root, days)

    def _ask_index(
        self, ask: "Callable[[View, Freshness], T]", scopes: Scopes, progress: "Progress | None" = None
    ) -> "T":
        with self._lock:
            return self.index_file.read(ask, _scope_names(scopes), progress)

    def context(
        self, prompt: str = "", *, budget: int | None = None, scopes: Scopes = (), source: str = "notes",
        format: str = "markdown", now: str | date | datetime | None = None,
    ) -> "Bundle":  # fmt: skip
        """Core memory and what the notes say about a prompt, as text within `budget` tokens (2000), framed as data.

        Without a prompt the last seven days stand in its place. No scopes mean `global` alone. What was handed over is
        journalled as shown, which counts for nothing, unless `now` is given. Raises UsageError for an option that
        cannot be read.
        """
        from vault_memory.context.bundle import parse_request

        options = {
            "prompt": prompt, "budget": budget, "scope": _texts(scopes=scopes), "source": source, "format": format,
            "now": now,
        }  # fmt: skip
        return self.bundle(parse_request(options, self.config))

    def bundle(self, wanted: "ContextRequest", patience: float = 1.0, progress: "Progress | None" = None) -> "Bundle":
        """Put together what an agent is handed; with no `patience` (seconds) nothing is waited for."""
        from vault_memory.context.bundle import bundle

        with self._lock:
            return bundle(self, wanted, patience, progress)

    def add_other_sources(self, request: Request, own: Answer | None, may_wait: bool = True) -> Answer:
        """The vault's own answer with what other sources have to say; a vault alone has none."""
        _check_source(request)
        assert own, "the notes answer every question to them"
        return own

    def project_summary(self, project: str) -> Result | None:
        """The beginning of the last summary of a session of the project with this scope; a vault alone has none."""
        return None

    # --- writing -----------------------------------------------------------------------------------------------------

    def index(
        self, paths: Sequence[str] = (), *, rebuild: bool = False, progress: "Progress | None" = None
    ) -> "Report":
        """Bring the index up to date, or build a new one and swap it in; `paths` limits the run to those.

        Raises RefusedError when too much would be lost, BusyError when another process keeps writing.
        """
        limited = [self.index_file.relative(path) for path in _texts(paths=paths)]
        with self._lock:
            return self.index_file.update(limited or None, progress, rebuild)

    def has_index(self) -> bool:
        """Whether there is an index that can be used: else the next question builds one."""
        return not self.index_file.unusable()

    def check(self, progress: "Progress | None" = None) -> tuple[str, str]:
        """The digests of the index, brought up to date, and of a fresh build: equal when all is well."""
        with self._lock:
            return self.index_file.check(progress)

    def backfill(self, progress: "Progress | None" = None) -> "BackfillReport | None":
        """Make the vectors that a configured embedder still owes; None where the settings name none.

        A server that fails is told of in the result, not raised; the next call goes on from there.
        """
        return self.search.backfill(progress)

    def retain(
        self, text: str, *, kind: str = "world", entities: Sequence[str] = (), confidence: float | None = None,
        date: str | date | None = None, scope: str = "", dry_run: bool = False,
    ) -> "RetainResult":  # fmt: skip
        """Append a fact to a day's note (today's), and make it searchable; `dry_run` only says how and where.

        `kind` is a letter or a word (W world, B experience, O opinion, S observation), `confidence` 0..1. Raises
        UsageError unless the fact would be read back as it is stated, ConflictError where the note keeps changing.
        """
        from vault_memory.write.retain import RetainResult, daily_path, parse_bullet, parse_day

        _text(text=text, kind=kind, scope=scope)
        is_number = isinstance(confidence, int | float) and not isinstance(confidence, bool)
        if confidence is not None and not (is_number and 0 <= confidence <= 1):
            raise UsageError(f"`confidence` is {confidence}: it must be a number from 0 to 1.", "For example 0.8.")
        bullet, day = parse_bullet(text, kind, _texts(entities=entities), confidence, scope), parse_day(date)
        if dry_run:
            return RetainResult(daily_path(self.vault, day), 0, str(bullet), created=False)
        with self._lock:
            return self._writer.retain(bullet, day)

    def retain_once(
        self, bullet: "Bullet", scopes: Scopes = (), *, even_if_similar: bool = True
    ) -> "RetainResult | Comparison":
        """Retain a fact of today, or tell of the one in these scopes that says the same, or nearly."""
        with self._lock:
            return self._writer.retain_once(bullet, date.today(), _scope_names(scopes), even_if_similar)

    def create_note(self, note: "NewNote", scopes: Scopes = ()) -> "StoredNote | str":
        """Make a note, named by its title and the time, or say which one in these scopes holds the same text."""
        with self._lock:
            return self._writer.create_once(note, datetime.now(), _scope_names(scopes))

    def edit(self, wanted: "EditRequest", scopes: Scopes = ()) -> "EditResult":
        """Make one exact edit in a note, within what these scopes open, and keep the note as it was.

        Raises UsageError or ConflictError where it cannot be made as it was asked for; nothing is written then.
        """
        with self._lock:
            return self._writer.amend(wanted, _scope_names(scopes))

    def plan_forget(self, path: str, first: int, last: int, text: str | None = None) -> "Removal":
        """What forgetting these lines of a note would take out; writes nothing.

        `text` is what they say, or a part of it; "" stands for what the index had there, which is what was cited.
        Raises UsageError for lines that are neither a fact nor a list item, RefusedError for a way out of the vault,
        ConflictError where the lines say something else.
        """
        from vault_memory.search.get import check_lines

        _text(path=path)
        check_lines((first, last))
        return self._writer.forgettable(path, first, last, text)

    def forget(self, planned: "Removal") -> "ForgetResult":
        """Take out what `plan_forget` said, keep the note as it was, and remember the text by its hash.

        No copy is left that capture made of it: in the journal, a day's list of sessions, or among the proposals.
        Raises ConflictError when that text no longer stands in the note as it was shown.
        """
        from vault_memory.capture.job import forget_everywhere

        with self._lock:
            return forget_everywhere(self.index_file, planned, self._writer.forget)

    def reflect(
        self, *, since: str | date | None = None, now: str | date | datetime | None = None, only: Sequence[str] = (),
        dry_run: bool = False, force: bool = False, apply_core: bool = False, steps: "Steps | None" = None,
    ) -> "ReflectReport":  # fmt: skip
        """Write the pages that the facts make: entities, opinions, summaries, proposals; `dry_run` only plans them.

        Raises BusyError when another process reflects.
        """
        from vault_memory.reflect.job import parse_request, reflect

        asked = parse_request(since, now, _texts(only=only), dry_run=dry_run, force=force, apply_core=apply_core)
        with self._lock:
            return reflect(self.index_file, asked, steps)

    def capture(
        self, *, since: str | date | None = None, now: str | date | datetime | None = None, dry_run: bool = False,
        yes: Sequence[str] = (), no: Sequence[str] = (), idle_minutes: int = 0,
    ) -> "CaptureReport":  # fmt: skip
        """Find what sessions and logs hold that is worth keeping, and do what was ticked or refused.

        What was asked to be remembered is written, the rest proposed; `dry_run` only says what would be found. `yes`
        and `no` answer proposals by their names, and nothing is looked for then. `idle_minutes` leaves out sessions
        that went on within so many. Raises UsageError for a name that is not open.
        """
        from vault_memory.capture.job import capture
        from vault_memory.capture.judge import parse_request

        asked = parse_request(since, now, dry_run, idle_minutes)
        answers = dict.fromkeys(_texts(yes=yes), True)
        if both := answers.keys() & set(_texts(no=no)):
            raise UsageError(f"`{min(both)}` cannot be both accepted and refused.", "Name it once.")
        answers |= dict.fromkeys(_texts(no=no), False)
        with self._lock:
            return capture(self.index_file, os.environ, asked, answers)

    def proposals(self) -> "list[OpenProposal]":
        """What was captured and waits for an answer, best first."""
        from vault_memory.capture.job import open_proposals

        with self._lock:
            return open_proposals(self.index_file)

    def gating_scalar(self, text: str, *, turns: Sequence[str] = (), scopes: Scopes = ()) -> "Gating":
        """Whether a text is worth keeping for long: the gate `G` (kept from .35 on) and its signals, all 0..1.

        `turns` is what was said just before it.
        """
        from vault_memory.capture.judge import gate_text

        _text(text=text)
        before = _texts(turns=turns)
        return self._ask_index(lambda view, _: gate_text(view, text, before), scopes)

    def undo(self, run: str = "", *, dry_run: bool = False, force: bool = False) -> "UndoReport":
        """Undo a run, the last of reflect unless another is named, or only say what that would do (`dry_run`).

        With `force` notes that were changed since stay as they are, and the others are put back. Raises UsageError when
        there is nothing to undo, ConflictError when a page was changed since.
        """
        from vault_memory.reflect.job import undo

        _text(run=run)
        with self._lock:
            return undo(self.index_file, run, dry_run=dry_run, force=force, unforgetting=self._writer.unforgetting)


def _check_source(request: Request) -> Request:
    if request.source != "notes":
        raise UsageError(f"One vault alone has no {request.source}.", "Ask a Federation for sessions and other vaults.")
    return request


def _text(**options: object) -> None:
    """Raise UsageError for an option that is no text, or none that UTF-8 can hold."""
    for name, value in options.items():
        if not isinstance(value, str):
            raise UsageError(f"`{name}` must be text.", "Give it as text.")
        request.texts(options, name)


def _texts(**option: object) -> tuple[str, ...]:
    """The texts of one option; raises UsageError for a text alone: its letters would be taken for several."""
    ((name, value),) = option.items()
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise UsageError(f"`{name}` must be a list of texts.", f"Write {name}=[{str(value)!r}].")
    return request.texts({name: list(value)}, name)


def _scope_names(scopes: Scopes) -> tuple[str, ...]:
    return request.scopes({"scope": _texts(scopes=scopes)})
