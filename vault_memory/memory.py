"""The public API: searches, writes and maintains one vault through plain methods.

Every front end (command line, daemon, MCP server, hook) calls a Memory, a Federation of several, or the daemon's
client.
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
from vault_memory.search import recall_options
from vault_memory.search.answer import Answer, Request, Result
from vault_memory.search.searcher import Searcher

if TYPE_CHECKING:
    from vault_memory.capture.judge import CaptureReport
    from vault_memory.capture.proposals_page import Proposal
    from vault_memory.context.bundle import Bundle, ContextRequest
    from vault_memory.embedding.configured_embedder import BackfillReport
    from vault_memory.indexing.indexer import Progress, Report
    from vault_memory.reflect.job import ReflectReport, Steps
    from vault_memory.reflect.opinion_query import Opinion
    from vault_memory.salience.admission import Gating
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
"""The scopes that the caller may see; empty means all."""


class Memory:
    """One vault: search it, write to it, reflect on it. Thread-safe: calls from several threads wait for each other.

    `vault` is its folder; without one it is found the way the command line finds it. The first query builds a missing
    index. Raises VaultError if there is no vault, UsageError for invalid settings; every method may raise the errors
    that `errors` defines.
    """

    def __init__(self, vault: str | Path | Config | None = None, *, index_file: IndexFile | None = None) -> None:
        self.config = vault if isinstance(vault, Config) else load(os.path.expanduser(vault) if vault else None)
        self.index_file = index_file or IndexFile(self.config)
        self.search = Searcher(self.index_file)
        self._lock = RLock()

    @cached_property
    def _writer(self) -> "NoteWriter":
        """The writer, imported on first use."""
        from vault_memory.write.note_writer import NoteWriter

        return NoteWriter(self.index_file)

    @property
    def vault(self) -> "Vault":
        """The vault's folder and its notes."""
        return self.index_file.vault

    @property
    def index_state(self) -> IndexState | None:
        """The state of the index at this thread's last query for entities, names, facts or opinions."""
        return self.index_file.state

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close open files and connections; a closed Memory reopens when it is used again."""
        self.search.close()
        self.index_file.close()

    # --- reading -----------------------------------------------------------------------------------------------------

    def recall(
        self, query: str, *, k: int | None = None, budget: int | None = None, since: str | date | None = None,
        until: str | date | None = None, as_of: str | date | None = None, now: str | date | datetime | None = None,
        entities: Sequence[str] = (), kinds: Sequence[str] = (), tags: Sequence[str] = (), scopes: Scopes = (),
        source: str = "notes", mode: str = "auto", explain: bool = False, all: bool = False, journal: bool = True,
        task: str | None = None,
    ) -> Answer:  # fmt: skip
        """Answer a question with cited lines of notes, best first; "" lists all that passes the filters, newest first.

        At most `k` results and `budget` tokens: 8 and 2000 if neither is given; if only one is, the other is unlimited.
        Dates are as on the command line ("2025-11", "30d", "last week") or `date`s. `kinds` are letters or words, empty
        `scopes` mean all, `task` is "open" or "done". The recall is recorded in the journal as a person's, unless
        `journal` is False, `explain` is set or `now` is given. Raises UsageError for an invalid option.
        """
        options = {
            "query": query, "k": k, "budget": budget, "since": since, "until": until, "as-of": as_of, "now": now,
            "entity": _texts(entities=entities), "kind": _texts(kinds=kinds), "tag": _texts(tags=tags),
            "scope": _texts(scopes=scopes), "source": source, "mode": mode, "explain": explain, "all": all,
            "task": task,
        }  # fmt: skip
        return self.answer(recall_options.build(options, self.config), journal=journal)

    def answer(self, asked: Request, progress: "Progress | None" = None, *, journal: bool = True) -> Answer:
        """Answer one parsed request."""
        with self._lock:
            (answer,) = self.answers([asked], progress, keep=journal)
        return answer

    def answers(
        self, requests: Iterable[Request], progress: "Progress | None" = None, keep: bool = True
    ) -> Iterator[Answer]:
        """Answer requests in order from one open index, in one thread; `keep` records them in the journal.

        Raises UsageError for a source other than the notes: only a Federation has more.
        """
        yield from self.search.answers(map(_check_source, requests), progress, keep)

    def get(
        self, path: str, lines: tuple[int, int | None] | None = None, max_tokens: int | None = None, scopes: Scopes = ()
    ) -> "Excerpt":
        """Read lines of a note (1-based, inclusive, None means the last), by default at most 10,000 characters.

        A note that is missing, or not visible in `scopes`, gives an empty Excerpt with `not_found`. Raises RefusedError
        for a path that leads outside the vault, UsageError for an invalid line range.
        """
        from vault_memory.search.get import check_lines

        _text(path=path)
        check_lines(lines)
        most = recall_options.count({"max_tokens": max_tokens}, "max_tokens")
        return self._get(path, lines, most, _scope_names(scopes))

    def _get(
        self, path: str, lines: tuple[int, int | None] | None, max_tokens: int | None, scopes: tuple[str, ...]
    ) -> "Excerpt":
        from vault_memory.search.get import OpenScopes, read

        return read(self.vault, path, lines, max_tokens, OpenScopes(scopes, self.config.folder_scopes))

    def open_note(
        self, named: str, lines: tuple[int, int | None] | str | None = None, max_tokens: int | None = None,
        scopes: Scopes = (),
    ) -> "tuple[Excerpt, list[str]]":  # fmt: skip
        """Read the note named by a path, a note name or a link (`[[Note#Heading|shown]]`).

        Also returns the paths of the notes with that name if it is no path. A suffix `#L12-L14` limits the lines, as
        does `lines`, which may be text (`"12:14"`). A name that several notes share, or one with a folder that does not
        match, opens none of them. Raises as `get` does.
        """
        from vault_memory.search.get import parse_span

        _text(named=named)
        if lines is None or isinstance(lines, str):
            named, lines = parse_span(named, lines)
        excerpt = self.get(named, lines, max_tokens, scopes)
        link = named.removeprefix("[[").removesuffix("]]").partition("|")[0].strip()
        name, mark, section = (part.strip() for part in link.partition("#"))
        if not (excerpt.not_found and name) or named.startswith("sessions/"):  # there `#m3` is a message, not a heading
            return excerpt, []
        if link != named:
            excerpt = self.get(link, lines, max_tokens, scopes)
        called: list[str] = []
        if excerpt.not_found:
            with suppress(VaultMemoryError):  # names are resolved through the index
                called = self.notes_called(name, scopes)
        if len(called) == 1 and "/" not in name:  # a link by name contains no folder
            excerpt = self.get(called[0] + mark + section, lines, max_tokens, scopes)
        return excerpt, called

    def entity(self, name: str, progress: "Progress | None" = None, scopes: Scopes = ()) -> "EntityProfile | None":
        """What is known about one entity, superseded facts last; None if it is unknown."""
        from vault_memory.search.entity_profile import marked, profile
        from vault_memory.search.names import Names

        _text(name=name)

        def ask(view: "View", _: object) -> "EntityProfile | None":
            found = profile(view, name)
            facts = marked(view, Names(view), found.facts, date.today()) if found else []
            return found and replace(found, facts=sorted(facts, key=lambda fact: bool(fact.superseded_by)))

        return self._ask_index(ask, scopes, progress)

    def entities(self, progress: "Progress | None" = None, scopes: Scopes = ()) -> "list[EntityRow]":
        """List every entity that has a page or a mention."""
        from vault_memory.search.entity_profile import listing

        return self._ask_index(lambda view, _: listing(view), scopes, progress)

    def similar_names(self, name: str, scopes: Scopes = ()) -> list[str]:
        """Known names similar to an unknown one."""
        from vault_memory.search.names import Names

        _text(name=name)
        return self._ask_index(lambda view, _: Names(view).near(name), scopes)

    def notes_called(self, name: str, scopes: Scopes = ()) -> list[str]:
        """Paths of the notes in these scopes that a link with this name would open, else of those with this title."""
        from vault_memory.search.entity_profile import notes_called

        _text(name=name)
        return self._ask_index(lambda view, _: notes_called(view, name), scopes)

    def notes_below(self, folder: str, scopes: Scopes = ()) -> list[str]:
        """Paths of the notes in these scopes below a folder, at any depth; "" is the whole vault."""
        from vault_memory.store.note_queries import note_paths

        _text(folder=folder)
        return self._ask_index(lambda view, _: note_paths(view, folder), scopes)

    def opinions(
        self, entity: str | None = None, progress: "Progress | None" = None, scopes: Scopes = ()
    ) -> "list[Opinion]":
        """List opinions, most confident first, superseded ones last."""
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
        """List retained facts, newest first; `by` filters by origin: "person", "agent" (any agent), `agent:moss` ….

        Raises UsageError for an invalid option.
        """
        from vault_memory.markdown import provenance
        from vault_memory.search.entity_profile import kept_facts

        if by not in (None, "agent", provenance.UNCLEAR) and provenance.normal(by) == provenance.UNCLEAR:
            raise UsageError(f"`{by}` does not say who it is from.", f"Write agent, {provenance.KNOWN}.")
        wanted = {recall_options.kind(kind) for kind in _texts(kinds=kinds)}
        day = None if since is None else recall_options.option_days(str(since), "since", date.today()).start
        return self._ask_index(lambda view, _: kept_facts(view, entity, wanted, day, by), scopes)

    def journal(self, days: int = 7) -> "list[JournalEntry]":
        """Entries of the last `days` days from the journals of all devices, newest first, at most 500."""
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

        Without a prompt it covers the last seven days. Empty `scopes` mean `global` only. The passages are recorded in
        the journal as shown, which does not count as a use, unless `now` is given. Raises UsageError for an invalid
        option.
        """
        from vault_memory.context.bundle import parse_request

        options = {"prompt": prompt, "budget": budget, "source": source, "format": format, "now": now}
        return self.bundle(parse_request(options | {"scope": _texts(scopes=scopes)}, self.config))

    def bundle(self, wanted: "ContextRequest", patience: float = 1.0, progress: "Progress | None" = None) -> "Bundle":
        """Build the context bundle for an agent; with `patience` 0 (seconds) it waits for nothing."""
        from vault_memory.context.bundle import bundle

        with self._lock:
            return bundle(self, wanted, patience, progress)

    def add_other_sources(self, request: Request, own: Answer | None, may_wait: bool = True) -> Answer:
        """Return the vault's own answer; a Federation merges in the answers of its other sources."""
        _check_source(request)
        assert own, "the notes answer every question to them"
        return own

    def project_summary(self, project: str) -> Result | None:
        """The start of the latest session summary in this project scope; always None for a single vault."""
        return None

    # --- writing -----------------------------------------------------------------------------------------------------

    def index(
        self, paths: Sequence[str] = (), *, rebuild: bool = False, progress: "Progress | None" = None
    ) -> "Report":
        """Update the index, or with `rebuild` build a new one and swap it in; `paths` limits an update to those.

        Raises RefusedError if too much would be lost, BusyError if another process keeps the writer lock.
        """
        limited = [self.index_file.relative(path) for path in _texts(paths=paths)]
        with self._lock:
            return self.index_file.update(limited or None, progress, rebuild)

    def has_index(self) -> bool:
        """Whether there is a usable index; if not, the next query builds one."""
        return not self.index_file.unusable()

    def check(self, progress: "Progress | None" = None) -> tuple[str, str]:
        """Update the index; return its digest and that of a fresh build, which are equal if the index is correct."""
        with self._lock:
            return self.index_file.check(progress)

    def backfill(self, progress: "Progress | None" = None) -> "BackfillReport | None":
        """Embed the passages that have no vector of the configured embedder yet; None if none is configured.

        A server failure is reported in the result, not raised; the next call resumes from there.
        """
        return self.search.backfill(progress)

    def retain(
        self, text: str, *, kind: str = "world", entities: Sequence[str] = (), confidence: float | None = None,
        date: str | date | None = None, scope: str = "", dry_run: bool = False,
    ) -> "RetainResult":  # fmt: skip
        """Append a fact to a day's note (today's) and index it; `dry_run` only returns the bullet and its note.

        `kind` is a letter or a word (W world, B experience, O opinion, S observation), `confidence` 0..1. Raises
        UsageError if the fact would not parse back as stated, ConflictError if the note keeps changing.
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
            self._carry_out_ticks()
            return self._writer.retain(bullet, day)

    def _carry_out_ticks(self, *, core: bool = True) -> None:
        """What was ticked on the page of proposals comes before what a command writes."""
        from vault_memory.capture.job import carry_out_ticks

        carry_out_ticks(self.index_file, os.environ, core=core)

    def retain_once(
        self, bullet: "Bullet", scopes: Scopes = (), *, even_if_similar: bool = True
    ) -> "RetainResult | Comparison":
        """Retain a fact under today's date, unless one in these scopes says the same.

        With `even_if_similar=False` a fact that says nearly the same also prevents it. Returns the Comparison then.
        """
        with self._lock:
            return self._writer.retain_once(bullet, date.today(), _scope_names(scopes), even_if_similar)

    def create_note(self, note: "NewNote", scopes: Scopes = ()) -> "StoredNote | str":
        """Create a note named after title and time; if a note in these scopes has the same text, return its path."""
        with self._lock:
            return self._writer.create_once(note, datetime.now(), _scope_names(scopes))

    def edit(self, wanted: "EditRequest", scopes: Scopes = ()) -> "EditResult":
        """Make one exact edit in a note visible in these scopes, and save a pre-image of the note.

        Raises UsageError or ConflictError if the edit cannot be made exactly as requested; nothing is written then.
        """
        with self._lock:
            return self._writer.amend(wanted, _scope_names(scopes))

    def plan_forget(self, path: str, first: int, last: int, text: str | None = None) -> "Removal":
        """What forgetting these lines of a note would remove; writes nothing.

        `text` is what the lines are expected to say, or a part of it; "" means what the index has for them, which is
        what was cited. Raises UsageError for lines that are neither a fact nor a list item, RefusedError for a path
        outside the vault, ConflictError if the lines say something else.
        """
        from vault_memory.markdown.note import is_note_path
        from vault_memory.search.get import check_lines

        _text(path=path)
        check_lines((first, last))
        if not is_note_path(path):  # a name or a link; of a file that is not there no other is guessed
            found, _ = self.open_note(path)
            path = path if found.not_found else found.path
        return self._writer.forgettable(path, first, last, text)

    def forget(self, planned: "Removal") -> "ForgetResult":
        """Remove what `plan_forget` returned, save a pre-image of the note, and record the text's hash as forgotten.

        Copies that capture made are removed too: in the journal, the daily lists of sessions and the proposals.
        Raises ConflictError if the text is no longer in the note as it was shown.
        """
        from vault_memory.capture.job import forget_everywhere

        with self._lock:
            return forget_everywhere(self.index_file, os.environ, planned, self._writer.forget)

    def reflect(
        self, *, since: str | date | None = None, now: str | date | datetime | None = None, only: Sequence[str] = (),
        dry_run: bool = False, force: bool = False, apply_core: bool = False, steps: "Steps | None" = None,
    ) -> "ReflectReport":  # fmt: skip
        """Write the pages derived from the facts: entities, opinions, summaries, proposals; `dry_run` only plans them.

        Raises BusyError if another process is running reflect.
        """
        from vault_memory.reflect.job import parse_request, reflect

        asked = parse_request(since, now, _texts(only=only), dry_run=dry_run, force=force, apply_core=apply_core)
        with self._lock:
            if not dry_run:
                self._carry_out_ticks(core=False)
            return reflect(self.index_file, asked, steps)

    def capture(
        self, *, since: str | date | None = None, now: str | date | datetime | None = None, dry_run: bool = False,
        yes: Sequence[str] = (), no: Sequence[str] = (), idle_minutes: int = 0, only_ticks: bool = False,
    ) -> "CaptureReport":  # fmt: skip
        """Find what is worth keeping in sessions and logs, and carry out ticked or refused proposals.

        A plain request to remember is written, the rest is proposed; `dry_run` only reports what would be found. `yes`
        and `no` answer proposals by name; then, and with `only_ticks`, nothing new is searched for. `idle_minutes`
        skips sessions that were active within that time. Raises UsageError for a name that is not an open proposal.
        """
        from vault_memory.capture.job import capture
        from vault_memory.capture.judge import parse_request

        asked = parse_request(since, now, dry_run, idle_minutes)
        accepted, refused = dict.fromkeys(_texts(yes=yes), True), dict.fromkeys(_texts(no=no), False)
        if both := accepted.keys() & refused.keys():
            raise UsageError(f"`{min(both)}` cannot be both accepted and refused.", "Name it once.")
        answers = {} if only_ticks else accepted | refused or None
        with self._lock:
            return capture(self.index_file, os.environ, asked, answers)

    def proposals(self, *, held: bool = False) -> "list[Proposal]":
        """Captured proposals that await an answer; with `held` those held back for another day, best first."""
        from vault_memory.capture.job import held_proposals, open_proposals

        with self._lock:
            return held_proposals(self.index_file, os.environ) if held else open_proposals(self.index_file)

    def gating_scalar(self, text: str, *, turns: Sequence[str] = (), scopes: Scopes = ()) -> "Gating":
        """Score whether a text is worth keeping long-term: the gate `G` (kept from .35 up) and its signals, all 0..1.

        `turns` are the preceding turns of the conversation.
        """
        from vault_memory.capture.judge import gate_text

        _text(text=text)
        before = _texts(turns=turns)
        return self._ask_index(lambda view, _: gate_text(view, text, before), scopes)

    def undo(self, run: str = "", *, dry_run: bool = False, force: bool = False) -> "UndoReport":
        """Undo a run, by default the last one that wrote anything; `dry_run` only reports what that would do.

        With `force`, notes changed since are left as they are and the others restored. Raises UsageError if there is
        nothing to undo, ConflictError if a note was changed since.
        """
        from vault_memory.reflect.run_log import RunLog

        _text(run=run)
        with self._lock, RunLog(self.vault.root).undoing():
            return self._writer.undo(run, dry_run=dry_run, force=force)


def _check_source(request: Request) -> Request:
    if request.source != "notes":
        raise UsageError(f"One vault alone has no {request.source}.", "Ask a Federation for sessions and other vaults.")
    return request


def _text(**options: object) -> None:
    """Raise UsageError for an option that is not text, or cannot be encoded as UTF-8."""
    for name, value in options.items():
        if not isinstance(value, str):
            raise UsageError(f"`{name}` must be text.", "Give it as text.")
        recall_options.texts(options, name)


def _texts(**option: object) -> tuple[str, ...]:
    """The strings of one option; raises UsageError for a bare string, whose letters would be taken for several."""
    ((name, value),) = option.items()
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise UsageError(f"`{name}` must be a list of texts.", f"Write {name}=[{str(value)!r}].")
    return recall_options.texts({name: list(value)}, name)


def _scope_names(scopes: Scopes) -> tuple[str, ...]:
    return recall_options.scopes({"scope": _texts(scopes=scopes)})
