"""Reads lines of notes as the files hold them now: core memory, what was told lately, what is about a project."""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta
from typing import NamedTuple

from vault_memory.context.prompt_sheet import Piece
from vault_memory.errors import RefusedError
from vault_memory.markdown import facts, passages, provenance, scopes
from vault_memory.markdown.entities import link_name
from vault_memory.markdown.note import ASIDE, COMMENT, Note, decoded_lines, note_header
from vault_memory.search import decay
from vault_memory.search.decay import Trace
from vault_memory.search.names import Names
from vault_memory.search.recall import found_at
from vault_memory.search.successors import superseded
from vault_memory.store import journal, note_queries
from vault_memory.store.journal import passage_key
from vault_memory.store.note_queries import DatedPassage, note_tokens
from vault_memory.store.view import ALL, ATTACHMENT, FACTS, PAGE, Candidate, Filters, Store, View
from vault_memory.text.calendar_days import Span
from vault_memory.vault.vault import Vault

MAX_PASSAGES = 2000
"""So many passages are looked at: more than fit into any prompt."""

MAX_FACTS = 200
"""Of the facts about a project that are worth most, so many are read from their files."""

SUMMARY_DAYS = 62
"""A week or a month that began before so many days says nothing of now."""

MAX_OPEN_TASKS = 5
"""Of a project's open tasks, so many of the newest are told beside its facts."""

_OPEN_TASK = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+\[ \]\s")
_CAPTURED = re.compile(r" — (sessions/[^\s#]+)#m\d+")
"""How a fact ends that was captured from a session."""

_WEEK, _MONTH = re.compile(r"\d{4}-W\d\d"), re.compile(r"\d{4}-\d\d")


class CoreNote(NamedTuple):
    """One note of the core: what its header costs, and its lines in order."""

    path: str
    name_tokens: int
    pieces: list[Piece]


def read_notes(
    vault: Vault, store: Store | None, names: Iterable[str], allowed: tuple[str, ...]
) -> tuple[list[CoreNote], list[tuple[str, str]]]:
    """The named notes that exist, in order, and what is amiss; only lines that the `allowed` scopes cover."""
    found: list[CoreNote] = []
    degraded: list[tuple[str, str]] = []
    for name in names:
        try:
            path = vault.locate(name)
            core = _read_note(vault, store, path, allowed) if path else None
        except (RefusedError, OSError) as error:
            degraded.append(("core", f"{name} is not used: {error}"))
            continue
        if core and core.pieces and core.path not in {other.path for other in found}:
            found.append(core)
    return found, degraded


def core_names(vault: Vault) -> Iterator[str]:
    """The notes that make up the core, there or not: the vault's own, then what the settings name."""
    cores = vault.layout.cores
    yield next((path for path in cores if (vault.root / path).is_file()), cores[0])
    yield from (name for name in vault.config.core_files if name not in cores)


def _read_note(vault: Vault, store: Store | None, path: str, allowed: tuple[str, ...]) -> CoreNote:
    # What is not indexed as it is now is bounded by its bytes: counting it would load tiktoken.
    name_tokens, known = note_tokens(store.view(ALL), path) if store else (None, {})
    if name_tokens is None:
        name_tokens = len(note_header(path, None).encode("utf-8", "replace")) + 2
    note = vault.parse(path, vault.read(path))
    of_note = scopes.note_scope(note.properties, note.path, vault.config.folder_scopes)
    private, origins = scopes.by_line(note), scopes.origins_by_line(note)
    whole = provenance.note_origin(note.properties, note.path)
    pieces = []
    has_text = False
    for passage, section, _ in passages.with_context(passages.passages(note, facts.facts(note, None))):
        own = passage.fact.scope if passage.fact else None
        scope = own or scopes.passage_scope(private, passage.start_line, passage.end_line) or of_note
        if section != ASIDE and scope in allowed:
            count = known.get(passage.text, len(passage.text.encode("utf-8", "replace")))
            said = passage.fact.by if passage.fact else None
            by = said or scopes.passage_origin(origins, passage.start_line, passage.end_line)
            pieces.append(_piece(note, passage, count)._replace(by=provenance.line_origin(by, whole) or whole))
            has_text = has_text or not passage.is_heading
    return CoreNote(path, name_tokens, pieces if has_text else [])


def _piece(note: Note, passage: passages.Passage, count: int) -> Piece:
    """A passage of the core, without lines at its ends that are only comments; known by the hash of all of it."""
    first, last, text = passage.start_line, passage.end_line, passage.text
    while last > first and note.states[last - 1] == COMMENT:
        last, text = last - 1, text[: text.rindex("\n")]
    while last > first and note.states[first - 1] == COMMENT:
        first, text = first + 1, text[text.index("\n") + 1 :]
    return Piece(note.path, None, first, last, passage.kind, text, count, passage_key(passage.text))


# --- what was told lately, or of a project ---


class ProjectNotes(NamedTuple):
    """What the notes hold of a project: its page if there is one, and the passages that name it or are of its scope."""

    pages: tuple[str, ...]
    passages: list[DatedPassage]

    @property
    def ids(self) -> set[int]:
        return {found.id for *_, found in self.passages}


def pieces_about(view: View, project: str, today: date) -> ProjectNotes:
    """What is about the project with this scope; an entity of its name is the project itself."""
    names, name = Names(view), project.partition(":")[2]
    page = names.pages.get(names.canonical(name))
    called = {*names.slugs(name), *(form.casefold() for form in names.forms(name))}
    found = note_queries.passages_about(view, project, called, today, MAX_PASSAGES, without=(PAGE, ATTACHMENT))
    return ProjectNotes((page,) if page else (), [row for row in found if row[0] != view.layout.proposals])


def project_brief(vault: Vault, view: View, about: ProjectNotes, today: date) -> Iterator[tuple[Piece, int]]:
    """What was captured from the project's last session, its newest open tasks, then its facts that are worth most."""
    session, last = "", []
    for row in about.passages:
        if row[-1].kind in FACTS and (cited := _CAPTURED.search(row[-1].text)):
            session = session or cited[1]
            last += [row] if cited[1] == session else []
    tasks = [row for row in about.passages if _OPEN_TASK.match(row[-1].text)][:MAX_OPEN_TASKS]
    return _current_pieces(vault, view, [*last, *tasks, *_best_facts(view, about, today)], today)


def _best_facts(view: View, about: ProjectNotes, today: date) -> list[DatedPassage]:
    """The facts about a project, those of most worth first (decay.py)."""
    rows = {row[-1].id: row for row in about.passages if row[-1].kind in FACTS}
    told = note_queries.told_facts(view, rows, today)
    used = journal.days_of_use(view, ((i, passage_key(row[-1].text)) for i, row in rows.items()), today.toordinal())

    def worth(row: DatedPassage) -> float:
        found = row[-1]
        confidence, importance, decided, told_days = told.get(found.id, (None, None, False, 1))
        if importance is None:
            importance = decay.importance_of(found.kind, decided, told_days)
        day = date.fromisoformat(row[1]).toordinal() if row[1] else None
        trace = Trace(day, used.get(found.id, ()), importance, 1.0 if confidence is None else confidence)
        return decay.life(trace, today.toordinal()).worth

    return sorted(rows.values(), key=worth, reverse=True)[:MAX_FACTS]


def recent_pieces(
    vault: Vault, view: View, days: Span, is_wanted: Callable[[Candidate], bool]
) -> Iterator[tuple[Piece, int]]:
    """What was told on those days: facts first, then other lines, newest first; nothing that is superseded."""
    rows = note_queries.recent_passages(view, days, MAX_PASSAGES, preferred=FACTS, without=(PAGE,))
    return _current_pieces(vault, view, [row for row in rows if is_wanted(row[-1])], days.end)


def _current_pieces(vault: Vault, view: View, rows: Iterable[DatedPassage], last: date) -> Iterator[tuple[Piece, int]]:
    """The passages that nothing has superseded by a day and that still stand, with what their note's header costs."""
    rows = list(rows)
    old = superseded(view, Names(view), [found.id for *_, found in rows if found.kind in FACTS], last, Filters())
    files: dict[str, list[str]] = {}
    for path, day, name_tokens, by, found in rows:
        if found.id in old:
            continue
        if path not in files:
            try:
                files[path] = decoded_lines(vault.read(path))[0]
            except OSError:
                files[path] = []
        start = found_at([found], files[path])
        if start is None:
            continue
        end = start + found.end_line - found.start_line
        piece = Piece(path, day, start, end, found.kind, found.text, found.tokens, passage_key(found.text), by=by)
        yield piece, name_tokens


def summary_pages(view: View, today: date) -> list[str]:
    """The pages of the newest week and the newest month that have one, of those that are not long over."""
    days, found = (today - timedelta(days=SUMMARY_DAYS), today), []
    pages = note_queries.note_paths(view, view.layout.summaries)
    for called, shape in (("%G-W%V", _WEEK), ("%Y-%m", _MONTH)):
        start, end = (view.layout.summary(day.strftime(called)) for day in days)
        found += [path for path in pages if start < path <= end and shape.fullmatch(link_name(path))][-1:]
    return found
