"""What the index knows of notes as wholes: paths, titles, hashes, links, recent passages, findings about them."""

import json
from collections.abc import Collection, Iterator
from typing import NamedTuple

from vault_memory.markdown.note import ASIDE
from vault_memory.store.candidate import Candidate
from vault_memory.store.rows import KINDS, PASSAGES
from vault_memory.store.view import View
from vault_memory.text.spans import Span

_COUNT = "SELECT count(*) FROM note"
_PATHS = "SELECT path FROM note ORDER BY path"
_PATHS_BELOW = "SELECT path FROM note WHERE path > ? AND path < ? ORDER BY path"
_TITLES = "SELECT path, title FROM note UNION SELECT path, name FROM alias JOIN note ON id = note_id ORDER BY 1"
_HASH = "SELECT hash FROM note WHERE path = ?"
_HEADER_TOKENS = "SELECT header_tokens FROM note WHERE path = ?"
_PASSAGE_TOKENS = f"SELECT p.text, p.tokens FROM note n CROSS JOIN {PASSAGES} WHERE n.path = ?"
_LINKS = "SELECT n.path, l.line, l.target FROM link l JOIN note n ON n.id = l.note_id WHERE l.anchor = ? ORDER BY 1, 2"
_PROBLEMS = "SELECT n.path, b.line, b.message, b.level FROM problem b JOIN note n ON n.id = b.note_id"
_RARE_NAMES = (
    "SELECT name.text, name.slug, n.path, p.start_line FROM name JOIN mention m ON m.name_id = name.id"
    " JOIN fact f ON f.passage_id = m.passage_id AND f.part = 0"
    " JOIN passage p ON p.id = m.passage_id JOIN note n ON n.id = p.note_id"
    " GROUP BY name.slug HAVING count(*) = 1 AND name.slug NOT IN (SELECT slug FROM alias)"
)
_PAGE_SLUGS = "SELECT DISTINCT slug FROM alias"
_FACTS = (
    "SELECT n.path, p.start_line, p.text FROM fact f JOIN passage p ON p.id = f.passage_id AND f.part = 0"
    " JOIN note n ON n.id = p.note_id"
)
_RECENT = (
    "SELECT n.path, n.day, n.header_tokens, coalesce(p.origin, n.origin), p.id, n.id, p.start_line, p.end_line,"
    f" p.from_char, p.to_char, p.kind, p.tokens, p.section, p.text FROM note n CROSS JOIN {PASSAGES}"
    " WHERE n.day BETWEEN ? AND ? AND p.section >= 0 AND p.section < ?"
    " AND p.kind NOT IN (SELECT value FROM json_each(?))"
    " ORDER BY p.kind IN (SELECT value FROM json_each(?)) DESC, n.day DESC, n.path, p.start_line DESC, p.id LIMIT ?"
)


class RecentPassage(NamedTuple):
    """A passage of a dated note, the tokens of the note's header, and who it is from."""

    path: str
    day: str
    header_tokens: int
    by: str
    passage: Candidate


def count_notes(view: View) -> int:
    return int(view.one(_COUNT))


def note_paths(view: View, folder: str = "") -> list[str]:
    """The paths of all notes, or of those below a folder, in order."""
    rows = view.rows(_PATHS_BELOW, f"{folder}/", f"{folder}0") if folder else view.rows(_PATHS)
    return [row[0] for row in rows]


def note_titles(view: View) -> list[tuple[str, str]]:
    """(path, title or alias) of all notes, by path."""
    return list(view.rows(_TITLES))


def note_hash(view: View, path: str) -> bytes | None:
    """The hash of a note's bytes as they were indexed; None where it is not indexed."""
    found = view.one(_HASH, path)
    return None if found is None else bytes(found)


def header_tokens(view: View, path: str) -> int | None:
    """What naming a note costs; None where it is not indexed."""
    found = view.one(_HEADER_TOKENS, path)
    return None if found is None else int(found)


def passage_tokens(view: View, path: str) -> dict[str, int]:
    """The tokens of each passage of a note, by its text."""
    return dict(view.rows(_PASSAGE_TOKENS, path))


def links_to_anchor(view: View, anchor: str) -> list[tuple[str, int, str]]:
    """(path, line, target) of each link to `#anchor` of some note."""
    return list(view.rows(_LINKS, anchor))


def recent_passages(
    view: View, days: Span, limit: int, preferred: Collection[str], without: Collection[str]
) -> list[RecentPassage]:
    """Passages of notes of those days, without headings, frontmatter, comments and the kinds in `without`.

    The `preferred` kinds come first, then what is newest.
    """
    kinds = [json.dumps(sorted(map(KINDS.index, some))) for some in (without, preferred)]
    rows = view.rows(_RECENT, days.start.isoformat(), days.end.isoformat(), ASIDE, *kinds, limit)
    return [
        RecentPassage(path, day, header, by, Candidate(*place, KINDS[kind], tokens, section, text))  # type: ignore[call-arg]
        for path, day, header, by, *place, kind, tokens, section, text in rows
    ]


# --- what is amiss ---------------------------------------------------------------------------------------------------


def note_problems(view: View) -> Iterator[tuple[str, int, str, str]]:
    """(path, line, message, level) of each finding about a note."""
    return view.rows(_PROBLEMS)


def names_mentioned_once(view: View) -> Iterator[tuple[str, str, str, int]]:
    """(name, slug, path, line) of each name without a page that one fact alone mentions."""
    return view.rows(_RARE_NAMES)


def page_slugs(view: View) -> list[str]:
    """The slugs of all names that some page has."""
    return [row[0] for row in view.rows(_PAGE_SLUGS)]


def fact_texts(view: View) -> Iterator[tuple[str, int, str]]:
    """(path, line, text) of each fact."""
    return view.rows(_FACTS)
