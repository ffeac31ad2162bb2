"""Reads core memory for agents: which notes it is, and their lines as the files hold them now."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from vault_memory.context.prompt_sheet import Piece
from vault_memory.errors import RefusedError
from vault_memory.markdown import facts, passages, provenance, scopes
from vault_memory.markdown.note import ASIDE, COMMENT, Note, note_header
from vault_memory.markdown.parse import parse
from vault_memory.reflect.core import PATHS
from vault_memory.store.journal import passage_key
from vault_memory.store.note_queries import note_tokens
from vault_memory.store.view import ALL, Store
from vault_memory.vault.vault import Vault


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
    """The notes that make up the core, there or not: the vault's memory.md, then what the settings name."""
    yield next((path for path in PATHS if (vault.root / path).is_file()), PATHS[0])
    yield from (name for name in vault.config.core_files if name not in PATHS)


def _read_note(vault: Vault, store: Store | None, path: str, allowed: tuple[str, ...]) -> CoreNote:
    # What is not indexed as it is now is bounded by its bytes: counting it would load tiktoken.
    name_tokens, known = note_tokens(store.view(ALL), path) if store else (None, {})
    if name_tokens is None:
        name_tokens = len(note_header(path, None).encode("utf-8", "replace")) + 2
    note = parse(path, vault.read(path))
    of_note = scopes.note_scope(note.properties, note.path, vault.config.folder_scopes)
    private, origins = scopes.by_line(note), scopes.origins_by_line(note)
    whole = provenance.note_origin(note.properties)
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
