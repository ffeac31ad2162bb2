"""Shared parts of all output: JSON documents, and sentences about degraded results and the state of the index."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from vault_memory.markdown.note import one_line
from vault_memory.search.answer import Answer
from vault_memory.text.output import clean, plural

if TYPE_CHECKING:
    from vault_memory.indexing.index_file import IndexState

Document = dict[str, Any]


def schema(name: str) -> Document:
    """The `schema` field that every document starts with."""
    return {"schema": f"vault-memory/{name}@1"}


def degraded_notes(degraded: Iterable[tuple[str, str]]) -> list[str]:
    """What did not run, as sentences, capitalised unless they start with a path."""
    notes = []
    for what, why in degraded:
        if what != "files" and why.partition(" ")[0].isalpha():
            why = why[:1].upper() + why[1:]
        notes.append(why if why.endswith((".", ":", "?", "!")) else f"{why}.")
    return notes


def place(path: str) -> str:
    """A note's path on one line, safe to print on a terminal."""
    return clean(one_line(path))


# --- the index an answer came from -----------------------------------------------------------------------------------


def index_state_document(seen: "IndexState | None") -> Document:
    """The fields `index` and `degraded` of every answer from the index."""
    if seen is None:
        return {}
    index = {name: getattr(seen, name) for name in ("fresh", "pending", "generation", "notes")}
    return {"index": index, "degraded": [{"what": what, "why": why} for what, why in seen.degraded]}


def index_state_notes(seen: "IndexState | Answer | None") -> list[str]:
    """Remarks on the index that an answer came from: what did not run, how far it is behind."""
    if seen is None:
        return []
    notes = degraded_notes(seen.degraded)
    roots = seen.roots if isinstance(seen, Answer) else []
    sessions = sum(root.pending for root in roots if root.name == "sessions")
    return notes if seen.fresh else [*notes, behind(seen.pending, sessions)]


def behind(pending: int, sessions: int = 0) -> str:
    """How far the index is behind; `sessions` of the `pending` are sessions, the rest notes."""
    parts = [plural(pending - sessions, "note")] if pending > sessions or not sessions else []
    parts += [plural(sessions, "session")] if sessions else []
    return f"The index is {' and '.join(parts)} behind; `memory index` updates it."
