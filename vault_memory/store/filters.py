"""The filters of a search: which passages may be found, worked out once into a table that every lane reads.

So that no lane can leak: what is not in the table is not read.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any, NamedTuple

from vault_memory.markdown.entities import slug
from vault_memory.store.rows import KINDS, PASSAGES
from vault_memory.store.view import View
from vault_memory.text.terms import quoted

_ALLOWED = f"""
INSERT INTO temp.allowed
SELECT p.id FROM note n CROSS JOIN {PASSAGES} LEFT JOIN fact f ON f.passage_id = p.id
WHERE (:since IS NULL OR coalesce(f.occurred_to, n.day) >= :since)
  AND (:until IS NULL OR coalesce(f.occurred_from, n.day) <= :until)
  AND (:as_of IS NULL OR n.day IS NULL OR n.day <= :as_of)
  AND (:kinds IS NULL OR p.kind IN (SELECT value FROM json_each(:kinds)))
  AND (:scopes IS NULL OR coalesce(p.scope, n.scope) IN (SELECT value FROM json_each(:scopes)))
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
"""


class Filters(NamedTuple):
    """What an answer must satisfy; empty means anything. Dates are local days, both ends included."""

    since: date | None = None
    until: date | None = None
    as_of: date | None = None
    entities: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self != Filters()


class AllowedPassages:
    """The passages of one view that its filters leave; all it sees while there are none."""

    def __init__(self, store: View) -> None:
        self._store = store
        self._is_filtered = False
        store.define("slug", slug, deterministic=True)
        store.define("folded", _folded, deterministic=True)

    @property
    def is_filtered(self) -> bool:
        """Whether anything is left out."""
        return self._is_filtered or self._store.is_narrowed

    def restrict(self, filters: Filters, slugs: Iterable[str], forms: Iterable[str]) -> int:
        """Work out which passages the filters allow; returns how many.

        `slugs` and `forms` are the names of the entities asked for: it is also where its name stands in plain text.
        """
        self.release()
        forms = [form for form in forms if any(c.isalnum() for c in form)]
        # FTS5 narrows; it stems and skips punctuation, so the name itself must stand there too.
        match = " OR ".join(quoted(form) for form in forms)
        parameters = {
            "since": _day(filters.since), "until": _day(filters.until), "as_of": _day(filters.as_of),
            "kinds": _array([KINDS.index(kind) for kind in filters.kinds]), "scopes": _array(filters.scopes),
            "tags": _array([tag.lstrip("#").strip("/") for tag in filters.tags]),
            "slugs": _array(list(slugs)) if filters.entities else None, "match": match or None,
            "forms": json.dumps([form.casefold() for form in forms]),
        }  # fmt: skip
        self._store.connection.execute("SAVEPOINT filtered")
        self._is_filtered = True
        self._store.connection.execute("CREATE TEMP TABLE allowed(id INTEGER PRIMARY KEY)")
        self._store.one(_ALLOWED, parameters)
        return int(self._store.one("SELECT count(*) FROM allowed"))

    def release(self) -> None:
        """Forget the filters."""
        if self._is_filtered:
            self._is_filtered = False
            connection = self._store.connection
            if connection.in_transaction:  # else a failed statement has taken it back by itself
                # Not by DROP, which fails while an error holds a question that was not read to its end.
                connection.execute("ROLLBACK TO filtered; RELEASE filtered")

    def where(self, column: str, word: str = "AND") -> str:
        """The condition on a passage's id in a statement; "" where nothing is left out."""
        # With a plus it only checks: else SQLite looks up each of the allowed (400 ms where there are 11,000).
        if self._is_filtered:
            return f" {word} {column} IN (SELECT id FROM temp.allowed)"
        return f" {word} EXISTS (SELECT 1 FROM passage seen WHERE seen.id = {column})" if self.is_filtered else ""

    def joined(self, places: str) -> str:
        """Those rows of a table of passages, as `p`, that may be found."""
        return f"temp.allowed a JOIN {places} p ON p.id = a.id" if self._is_filtered else f"{places} p"

    def of(self, ids: Iterable[int]) -> list[int]:
        """Those of these passages that may be found."""
        if not self.is_filtered:
            return list(ids)
        sql = "SELECT j.value FROM json_each(?) j" + self.where("j.value", "WHERE")
        return [row[0] for row in self._store.rows(sql, json.dumps(list(ids)))]


def _folded(*values: Any) -> str:  # noqa: ANN401 - as SQLite calls it
    return str(values[0]).casefold()


def _day(day: date | None) -> str | None:
    return day.isoformat() if day else None


def _array(values: Sequence[Any]) -> str | None:
    return json.dumps(list(values)) if values else None
