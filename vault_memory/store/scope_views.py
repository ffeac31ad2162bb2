"""Owns what an asker with scopes sees of an index: views of the connection's own that stand before its tables.

SQLite looks for a name among the temporary things first, so that every statement, whoever wrote it, reads only what
lies in the asker's scopes: notes, passages, facts, names, claims, counts. Nothing can be forgotten in a lane, and a
statement that would write fails. The two tables of words cannot be seen through a view: who reads them joins `passage`,
or looks at `Store.is_narrowed`; how rare a word is and how long rows are is counted anew over what is seen
(seenwords.py), so that no score tells what the rest says. That there is a rest it may tell: the counts of frequent
words (lexicon.py) are of the whole index, and not used then.

A note out of scope that holds a line which its own key opens is seen by its path and day alone, for that line is cited.
A note that is not as it was indexed is not seen at all: it may have been made private since.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from vault_memory.store.rows import KINDS, NOTE_VECTOR_PASSAGES, Store, note_vector
from vault_memory.store.schema import undo
from vault_memory.text import terms

_WITHIN = "IN (SELECT value FROM json_each(?1))"

_HIDES_A_NOTE = f"SELECT EXISTS (SELECT 1 FROM main.note WHERE NOT scope {_WITHIN})"
_HIDES_A_LINE = f"SELECT EXISTS (SELECT 1 FROM main.passage WHERE scope IS NOT NULL AND NOT scope {_WITHIN})"

_HIDES_OUTDATED = "SELECT EXISTS (SELECT 1 FROM main.note WHERE path IN (SELECT value FROM json_each(?1)))"

_TABLES = f"""
CREATE TEMP TABLE unseen(id INTEGER PRIMARY KEY, note_id INTEGER NOT NULL);
INSERT INTO temp.unseen SELECT p.id, n.id FROM main.note n
  CROSS JOIN main.passage p ON p.id BETWEEN n.first AND n.first + n.count - 1
  WHERE NOT n.scope {_WITHIN} AND NOT coalesce(p.scope, n.scope) {_WITHIN};
INSERT OR IGNORE INTO temp.unseen SELECT id, note_id FROM main.passage WHERE scope IS NOT NULL AND NOT scope {_WITHIN};
CREATE INDEX temp.unseen_note ON unseen(note_id);
CREATE TEMP TABLE opened(id INTEGER PRIMARY KEY);
INSERT INTO temp.opened SELECT n.id FROM main.note n WHERE NOT n.scope {_WITHIN}
  AND n.count > (SELECT count(*) FROM temp.unseen u WHERE u.note_id = n.id);
CREATE TEMP TABLE shut(id INTEGER PRIMARY KEY);
INSERT INTO temp.shut SELECT id FROM main.note WHERE NOT scope {_WITHIN} AND id NOT IN (SELECT id FROM temp.opened);
INSERT OR IGNORE INTO temp.shut SELECT id FROM main.note WHERE path IN (SELECT value FROM json_each(?2));
INSERT OR IGNORE INTO temp.unseen SELECT p.id, n.id FROM main.note n
  CROSS JOIN main.passage p ON p.id BETWEEN n.first AND n.first + n.count - 1
  WHERE n.path IN (SELECT value FROM json_each(?2));
DELETE FROM temp.opened WHERE id IN (SELECT id FROM temp.shut);
CREATE TEMP TABLE mixed(id INTEGER PRIMARY KEY);
INSERT INTO temp.mixed SELECT DISTINCT note_id FROM temp.unseen WHERE note_id NOT IN (SELECT id FROM temp.shut);
"""

_OF_PASSAGES = ("fact", "claim", "inferred", "mention", "placed", "unplaced")
_OF_NOTES = ("alias", "link", "tag", "problem", "note_vector", "chunk")

_VIEWS = """
CREATE TEMP VIEW note AS SELECT id, path, size, mtime_ns, ctime_ns, hash, day,
  CASE WHEN id IN (SELECT id FROM temp.opened) THEN '' ELSE title END AS title, scope, origin,
  CASE WHEN id IN (SELECT id FROM temp.opened) THEN '[]' ELSE headings END AS headings, header_tokens,
  CASE WHEN id IN (SELECT id FROM temp.mixed) THEN seen_tokens(id) ELSE tokens END AS tokens,
  CASE WHEN id IN (SELECT id FROM temp.mixed) THEN seen_words(id) ELSE words END AS words,
  CASE WHEN id IN (SELECT id FROM temp.mixed) THEN seen_vector(id) ELSE vector END AS vector, first, count
  FROM main.note WHERE id NOT IN (SELECT id FROM temp.shut);
CREATE TEMP VIEW passage AS SELECT * FROM main.passage WHERE id NOT IN (SELECT id FROM temp.unseen);
CREATE TEMP VIEW frequent AS SELECT * FROM main.frequent WHERE 0;
CREATE TEMP VIEW name AS SELECT * FROM main.name WHERE EXISTS (SELECT 1 FROM main.mention m
  WHERE m.name_id = main.name.id AND m.passage_id NOT IN (SELECT id FROM temp.unseen));
""" + "".join(
    f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} WHERE passage_id NOT IN (SELECT id FROM temp.unseen);\n"
    for table in _OF_PASSAGES
) + "".join(
    f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} WHERE note_id NOT IN (SELECT id FROM temp.shut)"
    " AND note_id NOT IN (SELECT id FROM temp.opened);\n"
    for table in _OF_NOTES
)  # fmt: skip

_SEEN = "FROM main.note n CROSS JOIN passage p ON p.id BETWEEN n.first AND n.first + n.count - 1 WHERE n.id = ?"


@contextmanager
def seen(store: Store, scopes: Sequence[str]) -> Iterator[bool]:
    """Let the connection see only what lies in these scopes, all where none are given; yields whether it hides any.

    To be called inside a transaction, or where nobody else uses the connection meanwhile.
    """
    if not scopes or not hides(store, scopes):
        yield False
        return
    store.connection.execute("SAVEPOINT narrowed")
    try:
        _narrow(store, scopes)
        yield True
    finally:
        store.is_narrowed = False
        undo(store.connection, "narrowed")


def hides(store: Store, scopes: Sequence[str]) -> bool:
    """Whether there is anything that an asker with these scopes may not see, or not before it is indexed anew."""
    allowed = json.dumps(list(scopes))
    return bool(
        store.one(_HIDES_A_NOTE, allowed)
        or store.one(_HIDES_A_LINE, allowed)
        or (store.outdated and store.one(_HIDES_OUTDATED, json.dumps(store.outdated)))
    )


def _narrow(store: Store, scopes: Sequence[str]) -> None:
    connection = store.connection
    allowed = json.dumps(list(scopes))
    outdated = json.dumps(store.outdated)
    for statement in filter(str.strip, _TABLES.split(";\n")):
        given = (None, outdated) if "?2" in statement else (allowed,) if "?1" in statement else ()
        connection.execute(statement, given)
    store.define("seen_tokens", partial(_tokens, store))
    store.define("seen_words", partial(_words, store))
    store.define("seen_vector", partial(_vector, store))
    connection.execute(_VIEWS)
    store.is_narrowed = True


def _tokens(store: Store, *note: Any) -> int:  # noqa: ANN401 - as SQLite calls it
    return int(store.one(f"SELECT coalesce(sum(p.tokens), 0) {_SEEN}", *note))


def _words(store: Store, *note: Any) -> int:  # noqa: ANN401
    """The words of those lines of a note that are seen, counted as they were when they were indexed (prepare.py)."""
    rows = store.rows(f"SELECT p.text, p.kind {_SEEN}", *note)
    bodies = (terms.body(text, KINDS[kind] not in ("note", "page")) for text, kind in rows)
    return sum(terms.index_text(body).count(" ") + 1 for body in bodies)


def _vector(store: Store, *note: Any) -> bytes | None:  # noqa: ANN401
    """Where those lines of a note point together that are seen."""
    rows = store.rows(
        f"SELECT e.vector {_SEEN.replace('WHERE', 'JOIN embedding e ON e.id = p.embedding_id WHERE')}"
        f" ORDER BY p.id LIMIT {NOTE_VECTOR_PASSAGES}", *note
    )  # fmt: skip
    return note_vector([vector for (vector,) in rows])
