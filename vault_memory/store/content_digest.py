"""Computes a digest of an index's content, equal for an incremental index and a rebuild of the same notes.

It covers content, lines, facts, links, days and searchable words; not row ids, generations, file times or vector bytes
(law 1). Rows whose words or vectors are missing from the index are reported as gaps.
"""

import hashlib

from vault_memory.store.view import Store

_QUERIES = (
    "SELECT path, hex(hash), day, title, scope, origin, headings, count FROM note ORDER BY path",
    "SELECT n.path, p.start_line, p.end_line, p.from_char, p.to_char, p.kind, p.tokens, p.scope, p.origin,"
    " p.text, e.text_hash"
    " FROM note n JOIN passage p ON p.note_id = n.id LEFT JOIN embedding e ON e.id = p.embedding_id"
    " ORDER BY n.path, p.id",
    "SELECT n.path, p.id - n.first, f.confidence, f.importance, f.occurred_from, f.occurred_to, f.block_id,"
    " f.narrative, f.part FROM note n JOIN passage p ON p.note_id = n.id JOIN fact f ON f.passage_id = p.id"
    " ORDER BY n.path, p.id",
    "SELECT n.path, p.id - n.first, name.text FROM note n JOIN passage p ON p.note_id = n.id"
    " JOIN mention m ON m.passage_id = p.id JOIN name ON name.id = m.name_id ORDER BY n.path, p.id, name.text",
    "SELECT n.path, p.id - n.first, c.subject, c.slot, c.value, c.how, c.whole, c.start FROM note n"
    " JOIN passage p ON p.note_id = n.id JOIN claim c ON c.passage_id = p.id"
    " ORDER BY n.path, p.id, c.slot, c.value, c.how",
    "SELECT n.path, p.id - n.first, i.line, i.kind, i.text, i.speaker, i.occurred_from, i.occurred_to FROM note n"
    " JOIN passage p ON p.note_id = n.id JOIN inferred i ON i.passage_id = p.id ORDER BY n.path, p.id, i.line",
    "SELECT n.path, a.slug, a.name, a.own FROM note n JOIN alias a ON a.note_id = n.id ORDER BY n.path, a.slug",
    "SELECT n.path, l.line, l.target, l.anchor FROM note n JOIN link l ON l.note_id = n.id"
    " ORDER BY n.path, l.line, l.target, l.anchor",
    "SELECT n.path, t.line, t.name FROM note n JOIN tag t ON t.note_id = n.id ORDER BY n.path, t.line, t.name",
    "SELECT n.path, b.line, b.level, b.message FROM note n JOIN problem b ON b.note_id = n.id"
    " ORDER BY n.path, b.line, b.message, b.level",
)


def digest(store: Store) -> str:
    """Return 64 hex digits of SHA-256 over every derived row and word, independent of the order of indexing."""
    total = hashlib.sha256(repr(gaps(store)).encode())
    queries = list(_QUERIES)
    for table in ("passage_fts", "note_fts"):
        name = f"temp.{table}_words"
        create = f"CREATE VIRTUAL TABLE IF NOT EXISTS {name} USING fts5vocab('main', '{table}', 'col')"
        store.connection.execute(create)
        queries.append(f"SELECT term, col, doc, cnt FROM {name} ORDER BY term, col")
    for sql in queries:
        total.update(sql.encode())
        for row in store.rows(sql):
            total.update(repr(row).encode("utf-8", "surrogatepass"))
    return total.hexdigest()


def damage(store: Store) -> str:
    """Return what SQLite, FTS5 and this program find wrong in an index, or ""; raises if it cannot be read at all."""
    verdict = str(store.one("PRAGMA integrity_check"))
    for table in ("passage_fts", "note_fts"):
        store.connection.execute(f"INSERT INTO {table}({table}) VALUES('integrity-check')")
    return "; ".join(gaps(store)) if verdict == "ok" else verdict


_GAPS = (
    ("passage", "words", "SELECT count(*) FROM passage WHERE id NOT IN (SELECT id FROM passage_fts_docsize)"),
    ("note", "words", "SELECT count(*) FROM note WHERE id NOT IN (SELECT id FROM note_fts_docsize)"),
    ("passage", "vector", "SELECT count(*) FROM passage WHERE embedding_id NOT IN (SELECT id FROM embedding)"),
    ("vector", "bit code", "SELECT count(*) FROM embedding WHERE id NOT IN (SELECT id FROM embedding_code)"),
)


def gaps(store: Store) -> list[str]:
    """Return descriptions of missing search data (words, vectors, bit codes); empty for an intact index."""
    counted = [(int(store.one(sql)), noun, lacks) for noun, lacks, sql in _GAPS]
    return [f"{count:,} {noun}{'' if count == 1 else 's'} without {lacks}" for count, noun, lacks in counted if count]
