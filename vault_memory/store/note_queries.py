"""Queries the index for all but the search lanes: facts, names, claims, whole notes, statistics, reflect's data."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date
from itertools import chain
from typing import Any, NamedTuple

from vault_memory.markdown import entities
from vault_memory.markdown.note import ASIDE
from vault_memory.store.view import CANDIDATE, IS_NOTE, KINDS, PASSAGES, Candidate, Store, View
from vault_memory.text.calendar_days import Span

LocatedPassage = tuple[str, str | None, int, Candidate]
"""Path, day, tokens of the note's header, passage."""

ToldFact = tuple[float | None, bool, int]
"""Importance, whether it is a decision, and on how many days the same words were stated."""


class ClaimRow(NamedTuple):
    """What a fact claims (supersession.py), with the note's day, the day it holds `since`, and where it stands."""

    passage: int
    subject: str
    slot: str
    value: str
    how: str
    whole: int
    day: str | None
    since: str | None
    path: str
    line: int
    origin: str
    citation: str
    header_tokens: int


class KnownFact(NamedTuple):
    """A fact and its place; `key` is its journal hash, `by` its origin, `names` a JSON list of entities it mentions."""

    id: int
    path: str
    line: int
    end_line: int
    key: int
    by: str
    day: str | None
    kind: int
    narrative: str
    scope: str
    confidence: float | None
    occurred_from: str | None
    occurred_to: str | None
    names: str

    @property
    def source(self) -> str:
        return f"{self.path}#L{self.line}"

    @property
    def slugs(self) -> frozenset[str]:
        """The slugs of the entities it mentions."""
        return frozenset(map(entities.slug, json.loads(self.names)))


_TOLD_FACTS = """
WITH asked AS MATERIALIZED (SELECT f.* FROM json_each(?) j JOIN fact f ON f.passage_id = j.value),
  told AS MATERIALIZED (SELECT w.wording AS said, count(DISTINCT n.day) AS days
    FROM (SELECT DISTINCT wording FROM asked) w CROSS JOIN fact g ON g.wording = w.wording
    LEFT JOIN passage p ON p.id = g.passage_id LEFT JOIN note n ON n.id = p.note_id AND n.day <= ? GROUP BY 1)
SELECT passage_id, importance, decided, max(days, 1) FROM asked JOIN told ON said = wording
"""
_USED_BY = """
SELECT DISTINCT j.value ->> 0 FROM json_each(?) j JOIN used u ON u.passage = j.value ->> 1 WHERE u.day <= ?
"""
_PAGE = "n.path > ? AND n.path < ?"  # as `_below` has it
_PAGE_NAMES = f"""
SELECT n.path, a.slug, a.name, a.own FROM note n JOIN alias a ON a.note_id = n.id
WHERE {_PAGE} ORDER BY n.path, a.own DESC, a.name
"""
_NOTES_NAMED = """
SELECT n.path, a.own FROM alias a JOIN note n ON n.id = a.note_id
WHERE a.slug = ? ORDER BY a.own DESC, length(n.path), n.path
"""
_NAMES_OF_NOTE = (
    "SELECT a.name, a.slug FROM note n JOIN alias a ON a.note_id = n.id WHERE n.path = ? ORDER BY a.own DESC, a.name"
)
_NOTES_CALLED = """
SELECT a.slug, n.path, n.id FROM json_each(?) j CROSS JOIN alias a ON a.slug = j.value JOIN note n ON n.id = a.note_id
"""
_LINKED = f"""
SELECT l.target, count(DISTINCT l.note_id || ' ' || l.line), min(n.day), max(n.day)
FROM link l JOIN note n ON n.id = l.note_id CROSS JOIN {PASSAGES} AND l.line BETWEEN p.start_line AND p.end_line
WHERE n.path <> ? GROUP BY l.target
"""
_LINKING = f"""
SELECT n.path, l.line, n.day, p.text, l.line - p.start_line, p.from_char FROM link l JOIN note n ON n.id = l.note_id
  CROSS JOIN {PASSAGES} AND l.line BETWEEN p.start_line AND p.end_line
WHERE l.target IN (SELECT value FROM json_each(?)) AND n.path <> ? AND p.kind NOT IN (1, 2, 3, 4)
GROUP BY p.note_id, l.line ORDER BY n.day DESC, n.path, l.line
"""
_SPELLING = """
SELECT name.text FROM name JOIN mention m ON m.name_id = name.id JOIN passage p ON p.id = m.passage_id
WHERE name.slug = ? GROUP BY name.id ORDER BY count(*) DESC, name.text LIMIT 1
"""
_IS_MENTIONED = """
SELECT 1 FROM name JOIN mention m ON m.name_id = name.id JOIN fact f ON f.passage_id = m.passage_id AND f.part = 0
WHERE name.slug = ? LIMIT 1
"""
_SPELLINGS = """
SELECT slug, text FROM (SELECT slug, text, 0 AS is_page FROM name UNION ALL SELECT slug, name, 1 FROM alias)
ORDER BY is_page, text
"""
_KNOWN_SLUGS = f"""
SELECT j.value FROM json_each(?) j
WHERE EXISTS (SELECT 1 FROM alias a JOIN note n ON n.id = a.note_id WHERE a.slug = j.value AND (NOT a.own OR {_PAGE}))
  OR EXISTS (SELECT 1 FROM name JOIN mention m ON m.name_id = name.id WHERE name.slug = j.value)
"""
_MENTIONS = """
SELECT name.slug, count(*), min(n.day), max(n.day) FROM name JOIN mention m ON m.name_id = name.id
  JOIN fact f ON f.passage_id = m.passage_id AND f.part = 0
  JOIN passage p ON p.id = m.passage_id JOIN note n ON n.id = p.note_id
GROUP BY name.slug
"""
_SLOTS = """
SELECT DISTINCT c.subject, c.slot FROM json_each(?) j JOIN claim c ON c.passage_id = j.value WHERE c.whole
"""
_PLACE = """
n.path, p.start_line, coalesce(p.origin, n.origin),
n.path || '#L' || p.start_line || iif(p.end_line > p.start_line, '-L' || p.end_line, ''), n.header_tokens
"""
_CLAIMS = f"""
SELECT c.passage_id, c.subject, c.slot, c.value, c.how, c.whole, n.day, coalesce(c.start, f.occurred_from), {_PLACE}
FROM json_each(?) j JOIN claim c ON c.slot = j.value ->> 0 AND c.subject = j.value ->> 1
  JOIN passage p ON p.id = c.passage_id JOIN note n ON n.id = p.note_id JOIN fact f ON f.passage_id = p.id
WHERE coalesce(n.day, '') <= ?
"""
_NAMED_FACTS = f"""
SELECT p.id, f.block_id, n.day, coalesce(n.day, f.occurred_from), {_PLACE}
FROM json_each(?) j JOIN fact f ON f.passage_id = j.value AND f.block_id IS NOT NULL AND f.part = 0
  JOIN passage p ON p.id = f.passage_id JOIN note n ON n.id = p.note_id
"""
_BLOCK_IDS = """
SELECT n.path, f.block_id FROM fact f JOIN passage p ON p.id = f.passage_id JOIN note n ON n.id = p.note_id
WHERE f.block_id IS NOT NULL
"""
_REPLACED_IDS = """
SELECT n.path, p.start_line, c.slot FROM claim c JOIN passage p ON p.id = c.passage_id JOIN note n ON n.id = p.note_id
WHERE substr(c.slot, 1, 1) = '^'
"""
_FACTS_OF_NOTES = f"""
SELECT n.path, p.start_line, p.id FROM json_each(?) j CROSS JOIN note n ON n.path = j.value
  CROSS JOIN {PASSAGES} CROSS JOIN fact f ON f.passage_id = p.id AND f.part = 0
"""
_FACT_ROWS = """
SELECT p.id, n.path, p.start_line, p.end_line, f.key, coalesce(p.origin, n.origin), n.day, p.kind, f.narrative,
  coalesce(p.scope, n.scope), f.confidence, f.occurred_from, f.occurred_to,
  (SELECT json_group_array(name.text) FROM mention m JOIN name ON name.id = m.name_id WHERE m.passage_id = p.id)
FROM fact f JOIN passage p ON p.id = f.passage_id AND f.part = 0 JOIN note n ON n.id = p.note_id
"""
_SAME_WORDS = _FACT_ROWS + "WHERE f.wording = ? ORDER BY n.path, p.start_line"
_FACTS_ABOUT = f"""{_FACT_ROWS}
WHERE (?1 IS NULL OR p.kind = ?1) AND (json_array_length(?2) = 0 OR p.id IN (SELECT m.passage_id
  FROM mention m JOIN name ON name.id = m.name_id WHERE name.slug IN (SELECT value FROM json_each(?2))))
ORDER BY n.day DESC, n.path, p.start_line LIMIT ?3
"""
_MENTIONED_WITH = """
SELECT other.slug, count(DISTINCT b.passage_id) FROM mention a JOIN name ON name.id = a.name_id
  JOIN fact f ON f.passage_id = a.passage_id AND f.part = 0
  JOIN mention b ON b.passage_id = a.passage_id JOIN name other ON other.id = b.name_id
WHERE name.slug IN (SELECT value FROM json_each(?)) GROUP BY other.slug
"""


def told_facts(view: View, ids: Iterable[int], today: date) -> dict[int, ToldFact]:
    """Return the ToldFact of each of these facts, counting the days up to `today`."""
    rows = view.rows(_TOLD_FACTS, json.dumps(list(ids)), today.isoformat())
    return {i: (importance, bool(decided), days) for i, importance, decided, days in rows}


def used_by(view: View, keys: Iterable[tuple[int, int]], day: date) -> set[int]:
    """Return the passages, given as (id, journal key), that answered a question by the end of a day."""
    return {row[0] for row in view.rows(_USED_BY, json.dumps(list(keys)), day.toordinal())}


# --- entities --------------------------------------------------------------------------------------------------------


def page_names(view: View) -> list[tuple[str, str, str, int]]:
    """Return (path, slug, name, whether it is the page's own name) for each name of an entity's page."""
    return list(view.rows(_PAGE_NAMES, *_below(view.layout.entities)))


def notes_named(view: View, slug: str) -> list[tuple[str, int]]:
    """Return (path, whether it is its own name) of notes with this title, file name or alias; own names first."""
    return list(view.rows(_NOTES_NAMED, slug))


def notes_called(view: View, slugs: Iterable[str]) -> list[tuple[str, str, int]]:
    """Return (slug, path, id) of each note with one of these titles, file names or aliases."""
    return list(view.rows(_NOTES_CALLED, json.dumps(list(slugs))))


def names_of_note(view: View, path: str) -> list[tuple[str, str]]:
    """Return (name, slug) of each name of a note, its own first."""
    return list(view.rows(_NAMES_OF_NOTE, path))


def link_targets(view: View) -> list[tuple[str, int, str | None, str | None]]:
    """Return (target as written, links to it, first day, last day); links on the proposals page do not count."""
    return list(view.rows(_LINKED, view.layout.proposals))


def lines_linking(view: View, targets: Iterable[str]) -> Iterator[tuple[str, int, str | None, str]]:
    """Yield (path, line, day, text) of lines that link to any of these targets and are not facts, newest first."""
    for path, line, day, text, at, part in view.rows(_LINKING, json.dumps(list(targets)), view.layout.proposals):
        yield path, line, day, text if part is not None else text.split("\n")[at]


def is_mentioned(view: View, slug: str) -> bool:
    """Return whether a fact mentions an entity by this name."""
    return view.one(_IS_MENTIONED, slug) is not None


def spelling(view: View, slug: str) -> str | None:
    """Return an entity's most frequent spelling in mentions."""
    found = view.one(_SPELLING, slug)
    return str(found) if found is not None else None


def spellings(view: View) -> dict[str, str]:
    """Return every slug that is mentioned or names a note, with a spelling."""
    return dict(view.rows(_SPELLINGS))


def known_slugs(view: View, slugs: Iterable[str]) -> list[str]:
    """Return those of these slugs that name an entity's page, are an alias or are mentioned, in the same order."""
    return [row[0] for row in view.rows(_KNOWN_SLUGS, json.dumps(list(slugs)), *_below(view.layout.entities))]


def mentions(view: View) -> Iterator[tuple[str, int, str | None, str | None]]:
    """Yield (slug, facts that mention it, first day, last day) of each entity that facts mention."""
    return view.rows(_MENTIONS)


def facts_about(view: View, slugs: Collection[str] = (), kind: int | None = None, limit: int = -1) -> list[KnownFact]:
    """Return the facts, of one kind or of all, that mention any of these entities (all if none given), newest first."""
    return [KnownFact(*row) for row in view.rows(_FACTS_ABOUT, kind, json.dumps(list(slugs)), limit)]


def mentioned_with(view: View, slugs: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield (slug, count) of the entities that facts mention together with any of these."""
    return view.rows(_MENTIONED_WITH, json.dumps(list(slugs)))


# --- claims ----------------------------------------------------------------------------------------------------------


def claimed_slots(view: View, ids: Iterable[int]) -> list[tuple[str, str]]:
    """Return (subject, slot) of everything these facts claim as a whole."""
    return list(view.rows(_SLOTS, json.dumps(list(ids))))


def claims_about(view: View, pairs: Iterable[tuple[str, str]], last: date) -> list[ClaimRow]:
    """Return the claims with these (slot, subject) pairs in notes dated by `last`, or undated."""
    return list(map(ClaimRow._make, view.rows(_CLAIMS, json.dumps(sorted(pairs)), last.isoformat())))


def facts_with_block_ids(view: View, ids: Iterable[int]) -> Iterator[tuple[Any, ...]]:
    """Yield (passage, block id, and from the day on as in ClaimRow) of those of these facts that have a block id."""
    return view.rows(_NAMED_FACTS, json.dumps(list(ids)))


def block_ids(view: View) -> Iterator[tuple[str, str]]:
    """Yield (path, block id) of each fact that has one."""
    return view.rows(_BLOCK_IDS)


def replaced_ids(view: View) -> Iterator[tuple[str, int, str]]:
    """Yield (path, line, `^note#id` or `^#id`, case folded) of each fact that names the one it replaces."""
    return view.rows(_REPLACED_IDS)


def fact_lines(view: View, paths: Iterable[str]) -> Iterator[tuple[str, int, int]]:
    """Yield (path, line, passage) of each fact in these notes."""
    return view.rows(_FACTS_OF_NOTES, json.dumps(sorted(paths)))


_TEXT_AT = (
    "SELECT p.text FROM passage p JOIN note n ON n.id = p.note_id WHERE n.path = ? AND ? BETWEEN p.start_line"
    " AND p.end_line ORDER BY p.start_line DESC LIMIT 1"
)


def text_at(view: View, path: str, line: int) -> str | None:
    """Return the indexed passage at a note's line; None if there is none."""
    found = view.one(_TEXT_AT, path, line)
    return str(found) if found is not None else None


# --- what is known already -------------------------------------------------------------------------------------------


def same_words(view: View, wording: int) -> list[KnownFact]:
    """Return the facts with this hash of their wording."""
    return [KnownFact(*row) for row in view.rows(_SAME_WORDS, wording)]


_PATHS = f"SELECT path FROM note WHERE {IS_NOTE} AND path > ?1 AND (?2 IS NULL OR path < ?2) ORDER BY path"
_ATTACHMENTS = f"SELECT path FROM note WHERE NOT {IS_NOTE}"
_PASSAGE_TOKENS = f"SELECT p.text, p.tokens FROM note n CROSS JOIN {PASSAGES} WHERE n.path = ?"
_RARE_NAMES = (
    "SELECT name.text, name.slug, n.path, p.start_line FROM name JOIN mention m ON m.name_id = name.id"
    " JOIN fact f ON f.passage_id = m.passage_id AND f.part = 0"
    " JOIN passage p ON p.id = m.passage_id JOIN note n ON n.id = p.note_id"
    " GROUP BY name.slug HAVING count(*) = 1 AND name.slug NOT IN (SELECT slug FROM alias)"
)
_FACT_LINES = (
    "SELECT n.path, p.start_line, p.text FROM fact f JOIN passage p ON p.id = f.passage_id AND f.part = 0"
    " JOIN note n ON n.id = p.note_id"
)
_ABOUT = f"""
SELECT n.path, n.day, n.header_tokens, {CANDIDATE} FROM passage p JOIN note n ON n.id = p.note_id
  LEFT JOIN fact f ON f.passage_id = p.id
WHERE p.id IN (SELECT m.passage_id FROM mention m JOIN name ON name.id = m.name_id
    WHERE name.slug IN (SELECT value FROM json_each(?1))
  UNION SELECT p.id FROM (SELECT note_id, line FROM tag WHERE lower(name) IN (SELECT value FROM json_each(?1))
      UNION SELECT note_id, line FROM link WHERE lower(target) IN (SELECT value FROM json_each(?1))) t
    JOIN note n ON n.id = t.note_id CROSS JOIN {PASSAGES} WHERE t.line = 0 OR t.line BETWEEN p.start_line AND p.end_line
  UNION SELECT id FROM passage WHERE scope = ?2 UNION SELECT p.id FROM note n CROSS JOIN {PASSAGES} WHERE n.scope = ?2)
  AND (n.day IS NULL OR n.day <= ?3) AND p.section >= 0 AND p.section < ?4
  AND p.kind NOT IN (SELECT value FROM json_each(?5))
ORDER BY n.day DESC, n.path, p.start_line DESC, p.id LIMIT ?6
"""
"""A tag on line 0 applies to the whole note."""
_NEWEST_NOTES = (
    "SELECT n.path, n.day, n.title, n.scope, (SELECT max(p.end_line) FROM passage p"
    " WHERE p.id BETWEEN n.first AND n.first + n.count - 1) FROM note n"
    " WHERE n.path >= ?1 AND (?2 IS NULL OR n.path < ?2) ORDER BY n.day DESC, n.path"
)
_RECENT = f"""
SELECT n.path, n.day, n.header_tokens, {CANDIDATE} FROM note n CROSS JOIN {PASSAGES}
  LEFT JOIN fact f ON f.passage_id = p.id
WHERE n.day BETWEEN ? AND ? AND p.section >= 0 AND p.section < ? AND p.kind NOT IN (SELECT value FROM json_each(?))
ORDER BY p.kind IN (SELECT value FROM json_each(?)) DESC, n.day DESC, n.path, p.start_line DESC, p.id LIMIT ?
"""


def note_paths(view: View, folder: str = "") -> list[str]:
    """Return the paths of all notes, or of those below a folder, in order."""
    return [row[0] for row in view.rows(_PATHS, *_below(folder))]


def _below(folder: str) -> tuple[str, str | None]:
    """Return the exclusive bounds of the paths below a folder: `0` is the character after `/`."""
    folder = folder.rstrip("/")
    return (f"{folder}/", f"{folder}0") if folder else ("", None)


def note_days(view: View) -> dict[str, str | None]:
    """Return the day of each note by path."""
    return dict(view.rows("SELECT path, day FROM note"))


def newest_notes(view: View, folder: str) -> list[tuple[str, str | None, str, str, int]]:
    """Return (path, day, title, scope, last line) of the notes below a folder, newest first."""
    return list(view.rows(_NEWEST_NOTES, *_below(folder)))


def attachment_names(view: View) -> set[str]:
    """Return the file names of attachments, case folded."""
    return {path.rpartition("/")[2].casefold() for (path,) in view.rows(_ATTACHMENTS)}


def note_hash(view: View, path: str) -> bytes | None:
    """Return the hash of a note's bytes as indexed; None if it is not indexed."""
    found = view.one("SELECT hash FROM note WHERE path = ?", path)
    return None if found is None else bytes(found)


def note_tokens(view: View, path: str) -> tuple[int | None, dict[str, int]]:
    """Return the tokens of a note's header (None if it is not indexed), and of each of its passages by text."""
    header = view.one("SELECT header_tokens FROM note WHERE path = ?", path)
    return None if header is None else int(header), dict(view.rows(_PASSAGE_TOKENS, path))


def recent_passages(
    view: View, days: Span, limit: int, preferred: Collection[str], without: Collection[str]
) -> list[LocatedPassage]:
    """Return the passages of notes from those days: `preferred` kinds first, then newest first.

    Headings, frontmatter, comments and the kinds in `without` are excluded.
    """
    kinds = [json.dumps(sorted(map(KINDS.index, some))) for some in (without, preferred)]
    rows = view.rows(_RECENT, days.start.isoformat(), days.end.isoformat(), ASIDE, *kinds, limit)
    return [(*row[:3], Candidate.of(row[3:])) for row in rows]


def passages_about(
    view: View, scope: str, called: Collection[str], last: date, limit: int, without: Collection[str]
) -> list[LocatedPassage]:
    """Return passages dated by `last`, or undated, in this scope or that mention, link to or are tagged with a name.

    Newest first, undated last, with the exclusions of `recent_passages`. `called` contains slugs and lower-case names.
    """
    kinds = json.dumps(sorted(map(KINDS.index, without)))
    rows = view.rows(_ABOUT, json.dumps(list(called)), scope, last.isoformat(), ASIDE, kinds, limit)
    return [(*row[:3], Candidate.of(row[3:])) for row in rows]


# --- problems and statistics -----------------------------------------------------------------------------------------


def note_problems(view: View) -> Iterator[tuple[str, int, str, str]]:
    """Yield (path, line, message, level) of each problem in a note."""
    return view.rows("SELECT n.path, b.line, b.message, b.level FROM problem b JOIN note n ON n.id = b.note_id")


def names_mentioned_once(view: View) -> Iterator[tuple[str, str, str, int]]:
    """Yield (name, slug, path, line) of each name that is no note's and that only one fact mentions."""
    return view.rows(_RARE_NAMES)


def fact_texts(view: View) -> Iterator[tuple[str, int, str]]:
    """Yield (path, line, text) of each fact."""
    return view.rows(_FACT_LINES)


_COUNT_NOTES = "SELECT count(*), count(day), coalesce(sum(words), 0), coalesce(sum(size), 0) FROM note WHERE " + IS_NOTE
_COUNT_QUESTIONS = "SELECT count(DISTINCT question) FROM used WHERE day > ? AND day <= ?"


def note_figures(view: View) -> tuple[int, int, int, int]:
    """Return the number of notes, how many of them have a day, and their total words and bytes."""
    notes, dated, words, size = next(view.rows(_COUNT_NOTES))
    return notes, dated, words, size


def count_facts(view: View) -> int:
    return int(view.one("SELECT count(*) FROM fact WHERE part = 0"))


def notes_by_day(view: View) -> Mapping[date, int]:
    """Return the number of notes per day, not counting pages."""
    return Counter(
        date.fromisoformat(day) for path, day in note_days(view).items() if day and not view.layout.is_page(path)
    )


def count_questions(view: View, after: date, until: date) -> int:
    """Return how many questions were answered after one day and up to another."""
    return int(view.one(_COUNT_QUESTIONS, after.toordinal(), until.toordinal()))


# --- reflect, and its records of the pages it wrote -----------------------------------------------------------------

_ALL_FACTS = """
SELECT p.id, p.kind, f.narrative, n.path, p.start_line, p.end_line, n.day, f.occurred_from, f.occurred_to,
  coalesce(p.scope, n.scope), p.text, f.confidence, f.importance, f.block_id, f.key, f.decided, f.wording, NULL,
  coalesce(p.origin, n.origin), p.tokens
FROM fact f CROSS JOIN passage p ON p.id = f.passage_id CROSS JOIN note n ON n.id = p.note_id
WHERE f.part = 0 ORDER BY n.day, n.path, p.start_line
"""
_INFERRED = """
SELECT -p.id * 10000 - i.line, i.kind, i.text, n.path, i.line, i.line, n.day, i.occurred_from, i.occurred_to,
  coalesce(p.scope, n.scope), p.text, NULL, NULL, NULL, i.key, i.decided, 0, coalesce(i.speaker, ''),
  coalesce(p.origin, n.origin), p.tokens
FROM inferred i CROSS JOIN passage p ON p.id = i.passage_id CROSS JOIN note n ON n.id = p.note_id
ORDER BY n.day, n.path, i.line
"""
_ALL_MENTIONS = "SELECT m.passage_id, name.slug FROM mention m JOIN name ON name.id = m.name_id"
_PRIVATE_SCOPES = """
SELECT DISTINCT coalesce(p.scope, n.scope) FROM passage p JOIN note n ON n.id = p.note_id
WHERE p.kind = ? AND coalesce(p.scope, n.scope) <> 'global' ORDER BY 1
"""
_PAGES = """
SELECT r.path, r.signature, coalesce(n.hash, zeroblob(0)) = r.hash, n.id IS NOT NULL, length(r.hash) > 0
FROM reflected r LEFT JOIN note n ON n.path = r.path
"""
_PUT_PAGE = (
    "INSERT OR REPLACE INTO reflected VALUES(?, ?, coalesce((SELECT hash FROM note WHERE path = ?), zeroblob(0)))"
)
_VERDICTS = "SELECT statement, fact, relation FROM bearing"


def fact_rows(view: View) -> Iterator[tuple[Any, ...]]:
    """Yield all facts (as `reflect.fact_set` reads them) by day, path and line: Retain bullets, then lines of logs."""
    return chain(view.rows(_ALL_FACTS), view.rows(_INFERRED))


def mentioned_slugs(view: View) -> Iterator[tuple[int, str]]:
    """Yield (passage, slug of an entity it mentions)."""
    return ((passage, slug) for passage, slug in view.rows(_ALL_MENTIONS))


def scopes_of_opinions(view: View) -> list[str]:
    """Return the private scopes that contain an opinion."""
    return [scope for (scope,) in view.rows(_PRIVATE_SCOPES, KINDS.index("opinion"))]


def written_pages(view: View) -> Iterator[tuple[Any, ...]]:
    """Yield (path, …, as `reflect.run_plan` reads them) of the pages of earlier runs."""
    return view.rows(_PAGES)


def model_verdicts(view: View) -> dict[tuple[int, int], int]:
    """Return a model's verdicts on how facts bear on statements: (statement hash, fact hash) → relation."""
    return {(statement, fact): relation for statement, fact, relation in view.rows(_VERDICTS)}


def remember_pages(store: Store, signatures: Mapping[str, bytes], gone: Iterable[str]) -> None:
    """Record the pages' signatures and current hashes, and forget pages that are gone. Inside `store.writing()`."""
    forget_pages(store, gone)
    store.connection.executemany(_PUT_PAGE, [(path, sign, path) for path, sign in signatures.items()])


def forget_pages(store: Store, paths: Iterable[str]) -> None:
    """Forget that reflect wrote these pages."""
    store.connection.executemany("DELETE FROM reflected WHERE path = ?", [(path,) for path in paths])


def remember_verdicts(store: Store, found: Collection[tuple[int, int, int]], gone: Collection[tuple[int, int]]) -> None:
    """Record a model's verdicts on facts and statements, and delete those no longer needed."""
    store.connection.executemany("DELETE FROM bearing WHERE (statement, fact) = (?, ?)", gone)
    store.connection.executemany("INSERT OR REPLACE INTO bearing VALUES(?, ?, ?)", found)
