"""Reads passages from the current files of notes: core memory, recent notes, and what is about a project."""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta
from typing import NamedTuple

from vault_memory.errors import RefusedError
from vault_memory.markdown import facts, passages, provenance, scopes
from vault_memory.markdown.entities import link_name
from vault_memory.markdown.note import ASIDE, COMMENT, decoded_lines, note_header
from vault_memory.search.answer import Result
from vault_memory.search.candidates import lives_of
from vault_memory.search.names import Names
from vault_memory.search.recall import found_at
from vault_memory.search.superseded_facts import superseded
from vault_memory.store import note_queries
from vault_memory.store.journal import passage_key
from vault_memory.store.note_queries import LocatedPassage, note_tokens
from vault_memory.store.view import ALL, ATTACHMENT, FACTS, PAGE, Candidate, Filters, Store, View
from vault_memory.text import terms
from vault_memory.text.calendar_days import Span
from vault_memory.vault.vault import Vault

MAX_PASSAGES = 2000
"""The maximum number of passages considered: more than fit into any prompt."""

MAX_FACTS = 200
"""How many of a project's facts, those of highest worth, are read from their files."""

SUMMARY_DAYS = 62
"""A week or month that began more than this many days ago says nothing about the present."""

MAX_OPEN_TASKS = 5
"""How many of a project's open tasks, the newest, are shown beside its facts."""

_CAPTURED = re.compile(r" — (sessions/[^\s#]+)#m\d+")
"""The end of a fact that was captured from a session."""

_WEEK, _MONTH = re.compile(r"\d{4}-W\d\d"), re.compile(r"\d{4}-\d\d")


def read_notes(
    vault: Vault, store: Store | None, names: Iterable[str], allowed: tuple[str, ...]
) -> tuple[list[list[Result]], list[tuple[str, str]]]:
    """The passages in `allowed` scopes of the named notes that exist, one list per note; and the problems found."""
    found: dict[str, list[Result]] = {}
    degraded: list[tuple[str, str]] = []
    for name in names:
        try:
            path = vault.locate(name)
            if path and path not in found:
                found[path] = _read_note(vault, store, path, allowed)
        except (RefusedError, OSError) as error:
            degraded.append(("core", f"{name} is not used: {error}"))
    return list(filter(None, found.values())), degraded


def core_names(vault: Vault) -> Iterator[str]:
    """The notes that make up the core, whether or not they exist: the vault's own, then those the settings name."""
    cores = vault.layout.cores
    yield next((path for path in cores if (vault.root / path).is_file()), cores[0])
    yield from (name for name in vault.config.core_files if name not in cores)


def _read_note(vault: Vault, store: Store | None, path: str, allowed: tuple[str, ...]) -> list[Result]:
    # Text not in the index in its current form is bounded by its bytes: counting it would load tiktoken.
    header_tokens, known = note_tokens(store.view(ALL), path) if store else (None, {})
    if header_tokens is None:
        header_tokens = len(note_header(path, None).encode("utf-8", "replace")) + 2
    note = vault.parse(path, vault.read(path))
    of_note = scopes.note_scope(note.properties, note.path, vault.config.folder_scopes)
    private, origins = scopes.by_line(note), scopes.by_line(note, scopes.BY)
    whole = provenance.note_origin(note.properties, note.path)
    pieces, has_text = [], False
    for passage, section, _ in passages.with_context(passages.passages(note, facts.facts(note, None))):
        own = passage.fact.scope if passage.fact else None
        scope = own or scopes.of_passage(private, passage.start_line, passage.end_line, scopes.SCOPE) or of_note
        if section == ASIDE or scope not in allowed:
            continue
        said = passage.fact.by if passage.fact else None
        by = said or scopes.of_passage(origins, passage.start_line, passage.end_line, scopes.BY)
        # Strip comment lines from both ends; the key is still the hash of the whole passage.
        text, first, last = passage.text, passage.start_line, passage.end_line
        while last > first and note.states[last - 1] == COMMENT:
            last, text = last - 1, text[: text.rindex("\n")]
        while last > first and note.states[first - 1] == COMMENT:
            first, text = first + 1, text[text.index("\n") + 1 :]
        count = known.get(passage.text, len(passage.text.encode("utf-8", "replace")))
        pieces.append(Result(
            path=path, start_line=first, end_line=last, kind=passage.kind, content=text, tokens=count,
            key=passage_key(passage.text), by=provenance.line_origin(by, whole) or whole, header_tokens=header_tokens,
        ))  # fmt: skip
        has_text = has_text or not passage.is_heading
    return pieces if has_text else []


# --- recent notes, and the project's ---


class ProjectNotes(NamedTuple):
    """What the notes contain about a project: its page, if any, and the passages that name it or are in its scope."""

    pages: tuple[str, ...]
    passages: list[LocatedPassage]


def pieces_about(view: View, project: str, today: date) -> ProjectNotes:
    """Find what is about the project with this scope; an entity with its name is taken to be the project."""
    names, name = Names(view), project.partition(":")[2]
    page = names.pages.get(names.canonical(name))
    called = {*names.slugs(name), *(form.casefold() for form in names.forms(name))}
    found = note_queries.passages_about(view, project, called, today, MAX_PASSAGES, without=(PAGE, ATTACHMENT))
    return ProjectNotes((page,) if page else (), [row for row in found if row[0] != view.layout.proposals])


def project_brief(vault: Vault, view: View, about: ProjectNotes, today: date) -> Iterator[Result]:
    """What was captured from the project's last session, its newest open tasks, then its facts of highest worth."""
    session, last = "", []
    for row in about.passages:
        if row[-1].kind in FACTS and (cited := _CAPTURED.search(row[-1].text)):
            session = session or cited[1]
            last += [row] if cited[1] == session else []
    tasks = [row for row in about.passages if terms.task(row[-1].text) == "open"][:MAX_OPEN_TASKS]
    return _current_pieces(vault, view, [*last, *tasks, *_best_facts(view, about, today)], today)


def _best_facts(view: View, about: ProjectNotes, today: date) -> list[LocatedPassage]:
    """The facts about a project, highest worth first (decay.py)."""
    rows = {row[-1].id: row for row in about.passages if row[-1].kind in FACTS}
    lives = lives_of(view, {i: row[-1] for i, row in rows.items()}, today)
    return sorted(rows.values(), key=lambda row: lives[row[-1].id].worth, reverse=True)[:MAX_FACTS]


def recent_pieces(vault: Vault, view: View, days: Span, is_wanted: Callable[[Candidate], bool]) -> Iterator[Result]:
    """The passages of those days that are not superseded: facts first, then other lines, newest first."""
    rows = note_queries.recent_passages(view, days, MAX_PASSAGES, preferred=FACTS, without=(PAGE,))
    return _current_pieces(vault, view, [row for row in rows if is_wanted(row[-1])], days.end)


def _current_pieces(vault: Vault, view: View, rows: Iterable[LocatedPassage], last: date) -> Iterator[Result]:
    """The passages that are not superseded as of `last` and are still in their files."""
    rows = list(rows)
    old = superseded(view, Names(view), [found.id for *_, found in rows if found.kind in FACTS], last, Filters())
    files: dict[str, list[str]] = {}
    for path, day, header_tokens, found in rows:
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
        yield Result(
            path=path, date=day, start_line=start, end_line=start + found.end_line - found.start_line, kind=found.kind,
            content=found.text, tokens=found.tokens, key=passage_key(found.text), by=found.by,
            header_tokens=header_tokens,
        )  # fmt: skip


def summary_pages(view: View, today: date) -> list[str]:
    """The summary pages of the newest week and the newest month that have one, within SUMMARY_DAYS."""
    days, found = (today - timedelta(days=SUMMARY_DAYS), today), []
    pages = note_queries.note_paths(view, view.layout.summaries)
    for called, shape in (("%G-W%V", _WEEK), ("%Y-%m", _MONTH)):
        start, end = (view.layout.summary(day.strftime(called)) for day in days)
        found += [path for path in pages if start < path <= end and shape.fullmatch(link_name(path))][-1:]
    return found
