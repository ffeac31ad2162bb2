"""Queries the index for the search lanes: passages by words, vectors, entity and day, under filters; and term counts.

Filters are evaluated once into a table of allowed passages that every lane checks. Ties are ordered by path and line,
since row ids depend on the order of indexing.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import date
from functools import cached_property, lru_cache
from sys import intern
from typing import Any, NamedTuple

import apsw

from vault_memory.markdown.entities import slug
from vault_memory.markdown.note import ASIDE
from vault_memory.store.embedding_rows import Space
from vault_memory.store.vectors import bit_code
from vault_memory.store.view import CANDIDATE, KINDS, PASSAGES, Candidate, Filters, NoteInfo, Store, View, text_hash
from vault_memory.text import terms
from vault_memory.text.calendar_days import Span
from vault_memory.text.terms import STOP_WORDS, quoted

_FILTERS = ("since", "until", "as_of", "kinds", "tags", "slugs", "match", "forms", "task")
_ALLOWED = f"""
INSERT INTO temp.allowed
SELECT p.id FROM note n CROSS JOIN {PASSAGES} LEFT JOIN fact f ON f.passage_id = p.id
WHERE (:since IS NULL OR coalesce(f.occurred_to, n.day) >= :since)
  AND (:until IS NULL OR coalesce(f.occurred_from, n.day) <= :until)
  AND (:as_of IS NULL OR n.day IS NULL OR n.day <= :as_of)
  AND (:kinds IS NULL OR p.kind IN (SELECT value FROM json_each(:kinds)))
  AND (:tags IS NULL OR EXISTS (
    SELECT 1 FROM tag t, json_each(:tags) w WHERE t.note_id = n.id
      AND (t.line = 0 OR t.line BETWEEN p.start_line AND p.end_line)
      AND (t.name = w.value COLLATE NOCASE
        OR t.name LIKE replace(replace(w.value, '%', ''), '_', '\\_') || '/%' ESCAPE '\\')))
  AND (:slugs IS NULL OR p.id IN (
      SELECT m.passage_id FROM mention m JOIN name ON name.id = m.name_id
      WHERE name.slug IN (SELECT value FROM json_each(:slugs)))
    OR (:match IS NOT NULL AND p.id IN (SELECT rowid FROM main.passage_fts WHERE passage_fts MATCH :match)
      AND EXISTS (SELECT 1 FROM json_each(:forms) w WHERE instr(folded(p.text), w.value)))
    OR n.id IN (SELECT note_id FROM alias WHERE slug IN (SELECT value FROM json_each(:slugs)))
    OR EXISTS (SELECT 1 FROM link l WHERE l.note_id = n.id AND l.line BETWEEN p.start_line AND p.end_line
      AND slug(l.target) IN (SELECT value FROM json_each(:slugs))))
  AND (:task IS NULL OR task(p.text) = :task)
"""
for _number, _name in enumerate(_FILTERS, 1):  # a view binds by number
    _ALLOWED = _ALLOWED.replace(f":{_name}", f"?{_number}")


DAILY, WEEKLY, MOST_PARTS = 14, 93, 13
"""A period of at most DAILY days is split into days, of at most WEEKLY days into weeks, and a longer one into at most
MOST_PARTS runs of months."""

MOST_LINES_READ, LEAST_LINES_READ = 6000, 3
"""Passages examined across all notes of a period, and at least per note; facts are always included."""

_PERIOD_FIGURES = f"""
SELECT min(day), max(day), count(*), sum(passages) FROM (
  SELECT n.day, (SELECT count(*) FROM (SELECT 1) CROSS JOIN {PASSAGES} WHERE p.section >= 0 {{allowed}}) AS passages
  FROM note n WHERE n.day BETWEEN ?1 AND ?2)
"""
_HAPPENED = """
FROM fact f CROSS JOIN passage p ON p.id = f.passage_id JOIN note n ON n.id = p.note_id
WHERE f.occurred_from <= ?2 AND f.occurred_to >= ?1 AND (n.day IS NULL OR n.day NOT BETWEEN ?1 AND ?2)
"""
_WORTH = "coalesce(f.importance, 0.4 + 0.1 * (p.kind IN (1, 3)) + 0.2 * f.decided, 0)"
"""A fact's importance, inferred as in decay.py if it has none of its own; 0 for what is no fact."""
_OF_PERIOD = f"""
WITH dated AS (
  SELECT p.id, n.day, n.path, p.id - n.first AS place, p.section = {ASIDE} AS aside, p.tokens, {_WORTH} AS worth,
    n.day IS NULL AS elsewhen, coalesce(f.occurred_to >= ?1 AND f.occurred_from <= ?2, 1) AS happened
  FROM note n CROSS JOIN {PASSAGES} LEFT JOIN fact f ON f.passage_id = p.id AND p.kind > 0
  WHERE n.day BETWEEN ?1 AND ?2 AND p.section >= 0 AND (p.id < n.first + ?6 OR f.passage_id IS NOT NULL) {{allowed}}
  UNION ALL
  SELECT p.id, f.occurred_from, n.path, p.id - n.first, p.section = {ASIDE}, p.tokens, {_WORTH}, n.day IS NOT NULL, 1
  {_HAPPENED} {{allowed}}),
ranked AS (
  SELECT *, row_number() OVER (PARTITION BY part ORDER BY
    NOT happened, worth = 0, elsewhen, worth DESC, aside, tokens < 8, place,
    CAST(julianday(day) AS INTEGER) * 619 % 1000, path, id) AS nth
  FROM (SELECT *, max(0, {{part}}) AS part FROM dated))
SELECT id FROM ranked
ORDER BY nth + coalesce(abs(julianday(day) - julianday(?7)), 0), worth DESC, part * 619 % 1000, path, id LIMIT ?5
"""
"""The parts of the period take turns, in an order that spreads them out (by the golden section); each day away from the
preferred day counts like one turn."""

NOTE_WEIGHTS = "4.0, 4.0, 2.0, 1.0"
"""BM25 weights of a note's title, other names, path and tags."""

_BY_PATH = """
SELECT p.id FROM json_each(?) j CROSS JOIN passage p ON p.id = j.value CROSS JOIN note n ON n.id = p.note_id
ORDER BY n.path, p.id
"""
_PASSAGES = f"""
SELECT {CANDIDATE} FROM json_each(?) j CROSS JOIN passage p ON p.id = j.value CROSS JOIN note n ON n.id = p.note_id
LEFT JOIN fact f ON f.passage_id = p.id
"""
_NOTES = """
SELECT n.id, n.path, day, title, headings, header_tokens, tokens, words
FROM json_each(?) j JOIN note n ON n.id = j.value
"""
_NOTES_BY_PATH = "SELECT n.id FROM json_each(?) j CROSS JOIN note n ON n.id = j.value ORDER BY n.path"

_PART = {
    "day": "CAST((julianday(day) - julianday(?3)) / ?4 AS INTEGER)",
    "month": "(12 * substr(day, 1, 4) + substr(day, 6, 2) - 12 * substr(?3, 1, 4) - substr(?3, 6, 2)) / ?4",
}


class Search:
    """The lanes over one view of an index, optionally under filters."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._is_restricted = False
        self.is_filtered = view.is_narrowed
        """Whether any passage is excluded, by the view or by filters."""

    # --- filters -----------------------------------------------------------------------------------------------------

    def restrict(self, filters: Filters, slugs: Iterable[str], forms: Iterable[str]) -> int:
        """Restrict every lane to the passages the filters allow, until `release`; returns how many there are.

        Scopes are up to the view. `slugs` and `forms` are the names of the filter's entities: an entity's name in plain
        text counts too.
        """
        self.release()
        connection = self._view.connection
        functions: dict[str, Any] = {"slug": slug, "folded": str.casefold, "task": terms.task}
        for name, function in functions.items():
            # SQLite cannot redefine a function while a statement is active.
            if not self._view.one("SELECT EXISTS (SELECT 1 FROM pragma_function_list WHERE name = ?)", name):
                connection.create_scalar_function(name, function, 1, deterministic=True)
        forms = [form for form in forms if any(c.isalnum() for c in form)]
        # FTS5 only narrows the search: it stems and skips punctuation, so the exact name is checked too.
        match = " OR ".join(quoted(form) for form in forms)
        days = (day and day.isoformat() for day in (filters.since, filters.until, filters.as_of))
        kinds = [KINDS.index(kind) for kind in filters.kinds]
        tags = [tag.lstrip("#").strip("/") for tag in filters.tags]
        lists = [json.dumps(values) if values else None for values in (kinds, tags)]
        named = json.dumps(list(slugs)) if filters.entities else None
        folded = json.dumps([form.casefold() for form in forms])
        connection.execute("SAVEPOINT filtered")
        self._is_restricted = self.is_filtered = True
        connection.execute("CREATE TEMP TABLE allowed(id INTEGER PRIMARY KEY)")
        self._view.one(_ALLOWED, *days, *lists, named, match or None, folded, filters.task or None)
        return int(self._view.one("SELECT count(*) FROM allowed"))

    def release(self) -> None:
        """Remove the filters."""
        if self._is_restricted:
            self._is_restricted, self.is_filtered = False, self._view.is_narrowed
            connection = self._view.connection
            if connection.in_transaction:  # otherwise a failed statement has already rolled back
                # Not DROP, which fails while an exception keeps an unfinished statement alive.
                connection.execute("ROLLBACK TO filtered; RELEASE filtered")

    def _where(self, column: str, word: str = "AND") -> str:
        """Return the SQL condition on a passage's id; "" if nothing is excluded."""
        # The caller's unary plus makes this a mere check: else SQLite looks up each allowed id (400 ms for 11,000).
        if self._is_restricted:
            return f" {word} {column} IN (SELECT id FROM temp.allowed)"
        return f" {word} EXISTS (SELECT 1 FROM passage seen WHERE seen.id = {column})" if self.is_filtered else ""

    # --- words -------------------------------------------------------------------------------------------------------

    def lexical(self, phrases: Sequence[str], limit: int) -> list[tuple[int, float]]:
        """Return (passage id, BM25 score, higher is better) of the best passages with any of these phrases."""
        sql = (
            "SELECT rowid, -bm25(passage_fts) AS s FROM main.passage_fts WHERE passage_fts MATCH ?"
            + self._where("+rowid")
            + " ORDER BY s DESC LIMIT ?"
        )
        return self._best(limit, sql, " OR ".join(phrases))

    def _best(self, limit: int, sql: str, *parameters: Any, ties: str = _BY_PATH) -> list[tuple[int, float]]:  # noqa: ANN401
        """Return the best `limit` of a statement ending in a LIMIT, best first, with ties in the order of `ties`.

        Without `ties`, all that tie with the last are returned too.
        """
        most = limit + limit // 2 + 1
        found = list(self._view.rows(sql, *parameters, most))
        if len(found) == most and found[-1][1] == found[limit - 1][1]:  # so many ties are rare
            found = list(self._view.rows(sql, *parameters, -1))
        if len(found) > limit:
            found = [pair for pair in found if pair[1] >= found[limit - 1][1]]
        if not ties:
            return found
        if len({score for _, score in found}) < len(found):
            score_of = dict(found)
            ids = (row[0] for row in self._view.rows(ties, json.dumps(list(score_of))))
            found = sorted(((i, score_of[i]) for i in ids), key=lambda pair: -pair[1])
        return found[:limit]

    def matching(self, match: str) -> int:
        """Count the passages that satisfy the FTS5 expression `match`."""
        sql = "SELECT count(*) FROM main.passage_fts WHERE passage_fts MATCH ?" + self._where("+rowid")
        return int(self._view.one(sql, match))

    def titles(self, phrases: Sequence[str], limit: int, with_all: bool = False) -> list[tuple[int, float]]:
        """Return (note id, BM25 score) of notes whose title, aliases, path or tags contain any of these phrases.

        `with_all` instead requires all of them, in the title, file name and aliases.
        """
        match = f"{{title names}} : ({' AND '.join(phrases)})" if with_all else " OR ".join(phrases)
        seen = (
            " AND EXISTS (SELECT 1 FROM note n WHERE n.id = +rowid AND n.title <> '')" if self._view.is_narrowed else ""
        )
        sql = (
            f"SELECT rowid, -bm25(note_fts, {NOTE_WEIGHTS}) AS s FROM main.note_fts"
            f" WHERE note_fts MATCH ?{seen} ORDER BY s DESC LIMIT ?"
        )
        return self._best(limit, sql, match, ties=_NOTES_BY_PATH)

    def files(self, names: Sequence[str]) -> list[int]:
        """Return the ids of notes with one of these lower-case paths or file names."""
        sql = (
            "SELECT n.id FROM note n WHERE EXISTS (SELECT 1 FROM json_each(?) w WHERE lower(n.path) = w.value"
            " OR substr(lower(n.path), -length(w.value) - 1) = '/' || w.value) ORDER BY n.path"
        )
        return [row[0] for row in self._view.rows(sql, json.dumps(names))] if names else []

    def substring(self, text: str, limit: int) -> list[int]:
        """Return the ids of passages that contain `text` verbatim, by a full scan: for questions without words."""
        sql = (
            f"SELECT p.id FROM note n CROSS JOIN {PASSAGES} WHERE instr(p.text, ?) > 0"
            + self._where("p.id")
            + " ORDER BY n.path, p.id LIMIT ?"
        )
        return [row[0] for row in self._view.rows(sql, text, limit)]

    # --- vectors -----------------------------------------------------------------------------------------------------

    def semantic(self, space: Space, vector: bytes, pool: int, limit: int) -> list[tuple[int, float]]:
        """Return (passage id, cosine) of the nearest passages in a space: the `pool` nearest bit codes, rescored."""
        source, grouped = "embedding_code c", ""
        if self.is_filtered:  # only the codes of allowed passages
            allowed = "temp.allowed a CROSS JOIN" if self._is_restricted else ""
            where = "p.id = a.id AND" if self._is_restricted else ""
            source = f"{allowed} {_places(space)} p JOIN embedding_code c ON {where} c.id = p.embedding_id"
            grouped = "GROUP BY c.id"
        nearest = (
            f"SELECT c.id, -vec_distance_hamming(vec_bit(c.code), vec_bit(?1)) AS s FROM {source}"
            f" WHERE c.embedder = ?2 {grouped} ORDER BY s DESC LIMIT ?3"
        )
        codes = [i for i, _ in self._best(pool, nearest, bit_code(vector), space.id, ties="")]
        sql = (
            "SELECT p.id, 1 - vec_distance_cosine(vec_int8(e.vector), vec_int8(?)) AS s FROM json_each(?) j"
            f" CROSS JOIN embedding e ON e.id = j.value CROSS JOIN {_places(space)} p ON p.embedding_id = e.id"
            " WHERE s IS NOT NULL" + self._where("+p.id") + " ORDER BY s DESC LIMIT ?"
        )
        return self._best(limit, sql, vector, json.dumps(codes))

    def cosines(self, space: Space, ids: Iterable[int], vector: bytes) -> dict[int, float]:
        """Return the cosines to a query vector of those of these passages that have a vector in its space."""
        sql = (
            "SELECT p.id, 1 - vec_distance_cosine(vec_int8(e.vector), vec_int8(?)) FROM json_each(?) j"
            f" CROSS JOIN {_places(space)} p ON p.id = j.value CROSS JOIN embedding e ON e.id = p.embedding_id"
        )
        return {row[0]: row[1] or 0.0 for row in self._view.rows(sql, vector, json.dumps(list(ids)))}

    def vectors(self, space: Space, ids: Iterable[int]) -> list[bytes]:
        """Return the vectors of these passages in one space."""
        sql = (
            f"SELECT e.vector FROM json_each(?) j CROSS JOIN {_places(space)} p ON p.id = j.value"
            " JOIN embedding e ON e.id = p.embedding_id"
        )
        return [row[0] for row in self._view.rows(sql, json.dumps(list(ids)))]

    def opening(self, notes: Sequence[int], limit: int) -> list[int]:
        """Return the ids of these notes' first passages, including properties but not headings."""
        sql = (
            "SELECT p.id FROM json_each(?) j JOIN note n ON n.id = j.value"
            " JOIN passage p ON p.id BETWEEN n.first AND n.first + 11 AND p.note_id = n.id"
            " WHERE p.section >= 0" + self._where("p.id") + " ORDER BY j.key, p.id LIMIT ?"
        )
        return [row[0] for row in self._view.rows(sql, json.dumps(list(notes)), limit)]

    def on_pages(self, slugs: Sequence[str], limit: int) -> list[int]:
        """Return the ids of the first passages on these entities' pages, without headings and frontmatter."""
        sql = (
            f"SELECT p.id FROM alias a CROSS JOIN note n ON n.id = a.note_id CROSS JOIN {PASSAGES}"
            " WHERE a.own AND p.section BETWEEN 0 AND 1000000 AND a.slug IN (SELECT value FROM json_each(?))"
            + self._where("p.id")
            + " GROUP BY p.id ORDER BY n.path, p.id LIMIT ?"
        )
        return [row[0] for row in self._view.rows(sql, json.dumps(list(slugs)), limit)]

    def newest(self, limit: int) -> tuple[list[int], int]:
        """Return the ids of allowed passages, newest first and undated last, and how many there are.

        Headings, frontmatter and comments are excluded, since they say nothing by themselves.
        """
        where = f" WHERE p.section >= 0 AND p.section < {ASIDE}" + self._where("p.id")
        sql = f"SELECT p.id FROM note n CROSS JOIN {PASSAGES}{where} ORDER BY n.day DESC, n.path, p.id LIMIT ?"
        count = f"SELECT count(*) FROM note n CROSS JOIN {PASSAGES}{where}"
        return [row[0] for row in self._view.rows(sql, limit)], int(self._view.one(count))

    def mentioning(self, slugs: Sequence[str], limit: int) -> list[int]:
        """Return the ids of facts that mention any of these entities, newest note first."""
        sql = (
            "SELECT m.passage_id FROM name JOIN mention m ON m.name_id = name.id"
            " JOIN passage p ON p.id = m.passage_id JOIN note n ON n.id = p.note_id"
            " WHERE name.slug IN (SELECT value FROM json_each(?))"
            + self._where("m.passage_id")
            + " GROUP BY m.passage_id ORDER BY n.day DESC, n.path, m.passage_id LIMIT ?"
        )
        return [row[0] for row in self._view.rows(sql, json.dumps(list(slugs)), limit)]

    def within(self, period: Span, around: date | None, limit: int) -> tuple[list[int], int]:
        """Return the ids of passages in notes of a period and of facts that occurred in it; and how many there are.

        The parts of the period take turns, each starting with its most important passages, parts near the day `around`
        first. Headings are excluded; if there are very many notes, only their first passages are included.
        """
        days, allowed = (period.start.isoformat(), period.end.isoformat()), self._where("p.id")
        first, last, notes, told = next(self._view.rows(_PERIOD_FIGURES.format(allowed=allowed), *days))
        total = (told or 0) + int(self._view.one(f"SELECT count(*) {_HAPPENED}{allowed}", *days))
        # An open period ("before March") begins with the notes.
        known = Span(date.fromisoformat(first), date.fromisoformat(last)) if first else period
        unit, count = parts_of(known)
        sql = _OF_PERIOD.format(allowed=allowed, part=_PART[unit])
        lines, middle = max(MOST_LINES_READ // max(notes, 1), LEAST_LINES_READ), around and around.isoformat()
        rows = self._view.rows(sql, *days, known.start.isoformat(), count, limit, lines, middle)
        return [row[0] for row in rows], total

    def passages(self, ids: Iterable[int]) -> dict[int, Candidate]:
        """Return those of these passages that the filters allow, by path and line."""
        sql = _PASSAGES + self._where("+p.id", "WHERE") + " ORDER BY n.path, p.id"
        rows = self._view.rows(sql, json.dumps(list(ids)))
        return {row[0]: Candidate.of(row) for row in rows}

    def repeats(self, passages: Iterable[Candidate]) -> dict[int, int]:
        """Return, for passages whose exact text occurs in many notes, in how many."""
        hashes = {passage.id: text_hash(passage.text) for passage in passages}
        sql = "SELECT r.text_hash, r.notes FROM json_each(?) j CROSS JOIN repeated r ON r.text_hash = j.value"
        held = dict(self._view.rows(sql, json.dumps([*set(hashes.values())])))
        return {i: held[key] for i, key in hashes.items() if key in held}

    def notes(self, ids: Iterable[int]) -> dict[int, NoteInfo]:
        """Return the notes with these ids."""
        return {row[0]: NoteInfo._make(row) for row in self._view.rows(_NOTES, json.dumps(list(ids)))}


def _places(space: Space) -> str:
    """Return a table expression with the passages' vectors in a space: (id, embedding_id).

    After a list of ids it needs a CROSS JOIN, or SQLite scans the whole space first (1.6 s at 10,000).
    """
    if space.is_builtin:
        return "passage"
    return f"(SELECT passage_id AS id, embedding_id FROM placed WHERE embedder = {space.id:d})"


def parts_of(period: Span) -> tuple[str, int]:
    """Return the unit of a period's parts, "day" or "month", and how many units make a part."""
    days = (period.end - period.start).days + 1
    if days <= WEEKLY:
        return "day", 1 if days <= DAILY else 7
    months = 12 * (period.end.year - period.start.year) + period.end.month - period.start.month + 1
    return "month", -(-months // MOST_PARTS)


FREQUENT_SHARE = 500
"""Counts are cached for terms in more than 1/FREQUENT_SHARE of the passages."""

REMEMBERED_TEXTS = 1 << 14
"""Passages whose stems are cached (some 400 bytes each): about those of 1,000 notes, or of 40 questions."""


LEAST_PART_CHARS, LEAST_REST_CHARS, MAX_COMPOUNDS = 6, 3, 3
"""The least letters of a compound's part and of its rest, and how many compounds may replace a word."""

REPEATED_NOTES = 5
"""A text in at least this many notes is counted as repeated: from a template, a footer, a daily line."""


_VOCABULARY = """
CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab('main', 'passage_fts', 'row');
CREATE VIRTUAL TABLE IF NOT EXISTS temp.instances USING fts5vocab('main', 'passage_fts', 'instance');
"""
_COUNT_FREQUENT = """
INSERT INTO frequent SELECT v.term, v.doc, count(DISTINCT p.note_id) FROM temp.vocabulary v
  CROSS JOIN temp.instances i ON i.term = v.term CROSS JOIN passage p ON p.id = i.doc WHERE v.doc > ? GROUP BY v.term
"""


class TermCounts(NamedTuple):
    """How many passages and how many notes contain a term."""

    passages: int
    notes: int


class Lexicon:
    """The terms of one open index: stems, counts, compounds."""

    def __init__(self, view: View) -> None:
        self._store = view
        self._tokenize = view.connection.fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])
        self._irregular = frozenset(self.stems(" ".join(terms.BASES)))
        # Keyed by text, not id: ids are reused after a note has changed, whereas a text's stems never change.
        self.of_passage = lru_cache(maxsize=REMEMBERED_TEXTS)(self._of_passage)
        self.frequent: dict[str, TermCounts] = {}

    def read_frequent(self) -> None:
        """Load the counts of frequent stems, a few thousand at most, until the index changes."""
        self.frequent = {row[0]: TermCounts(row[1], row[2]) for row in self._store.rows("SELECT * FROM frequent")}

    def stems(self, text: str) -> list[str]:
        """Return the stems of a text, in order, by FTS5's own tokenizer."""
        data, reason = text.encode("utf-8", "replace"), apsw.FTS5_TOKENIZE_DOCUMENT
        # Without offsets and colocated stems the result is a list of texts.
        return self._tokenize(data, reason, None, include_offsets=False, include_colocated=False)  # type: ignore[return-value]

    def _of_passage(self, text: str, kind: str) -> tuple[str, ...]:
        """Return the stems of a passage as indexed, interned to save memory."""
        body = terms.body(text, kind not in ("note", "page"))
        stems = self.stems(terms.index_text(body, with_bases=False))
        if not self._irregular.isdisjoint(stems):  # rare; the test costs a third of scanning the words
            stems += self.stems(" ".join(terms.bases(body)))
        return tuple(map(intern, stems))

    @cached_property
    def stop_stems(self) -> frozenset[str]:
        """The stems of stop words."""
        return frozenset(self.stems(terms.index_text(" ".join(STOP_WORDS))))

    def count(self, phrase: str) -> TermCounts:
        """Count the passages and notes that contain an FTS5 phrase, without reading a frequent term's posting list."""
        stem = " ".join(self.stems(phrase.strip('"*')))
        known = self.frequent.get(stem)
        if known and not phrase.endswith("*"):
            return known
        sql = (
            "SELECT count(*), count(DISTINCT p.note_id) FROM main.passage_fts f CROSS JOIN passage p ON p.id = f.rowid"
            " WHERE f.passage_fts MATCH ?"
        )
        return TermCounts(*next(self._store.rows(sql, phrase)))

    def compounds(self, word: str) -> list[str]:
        """Return the rare terms that begin or end with a word that does not occur itself, most passages first."""
        stems = self.stems(word)
        if len(stems) != 1 or len(stems[0]) < LEAST_PART_CHARS or not stems[0].isalpha():
            return []
        sql = (
            "SELECT term FROM (SELECT term, passages FROM long_term WHERE term BETWEEN ?1 AND ?1 || char(0x10ffff)"
            " UNION SELECT term, passages FROM long_term WHERE backwards BETWEEN ?2 AND ?2 || char(0x10ffff))"
            " WHERE length(term) >= length(?1) + ?3 ORDER BY passages DESC, term LIMIT ?4"
        )
        return [row[0] for row in self._store.rows(sql, stems[0], stems[0][::-1], LEAST_REST_CHARS, MAX_COMPOUNDS)]

    def refresh(self, store: Store) -> bool:
        """Recount frequent terms and repeated texts if the index has grown or shrunk by a tenth; returns whether.

        Counting a term reads its whole posting list (10 ms at 100,000 passages), so `count` uses these figures first.
        """
        total = int(self._store.one("SELECT count(*) FROM passage"))
        counted = int(self._store.meta("frequent_at") or 0)
        if abs(total - counted) * 10 <= counted:
            return False
        connection = self._store.connection
        few = max(total // FREQUENT_SHARE, 10)
        connection.execute(_VOCABULARY)
        connection.execute("DELETE FROM frequent; DELETE FROM long_term; DELETE FROM repeated")
        connection.execute(_COUNT_FREQUENT, (few,))
        sql = "SELECT term, doc FROM temp.vocabulary WHERE length(term) >= ? AND doc <= ?"
        rare = self._store.rows(sql, LEAST_PART_CHARS + LEAST_REST_CHARS, few)
        long_terms = [(term, term[::-1], doc) for term, doc in rare if term.isalpha()]
        connection.executemany("INSERT INTO long_term VALUES(?, ?, ?)", long_terms)
        sql = (
            "SELECT text, count(DISTINCT note_id) AS notes FROM passage WHERE from_char IS NULL"
            " GROUP BY text HAVING notes >= ?"
        )
        texts = [(text_hash(text), notes) for text, notes in self._store.rows(sql, REPEATED_NOTES)]
        connection.executemany("INSERT INTO repeated VALUES(?, ?)", texts)
        store.set_meta("frequent_at", total)
        return True
