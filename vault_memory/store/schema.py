"""Defines the index file: tables, pragmas, opening, and swapping in a rebuilt index."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import apsw

from vault_memory.errors import BusyError, IndexDamagedError, IndexUnusableError, RefusedError
from vault_memory.vault.safe_files import close_folder, close_to_others

VERSIONS = {"schema": 18, "notes": 30, "passages": 11, "terms": 5, "relevance": 5}
"""Versions of what an index is derived by. Raise one whenever the same notes would give a different index: every index
is then rebuilt.

`schema` covers the tables below, `notes` what `markdown/` and `text/` read from a note, `passages` how
markdown/passages.py splits it, `terms` text/terms.py, `relevance` what search/relevance_threshold.py stores in `meta`.
"""

BUSY_TIMEOUT_MS = 2000
"""How long to wait for a writer that does not use the lock file beside the index, as ours do."""

APPLICATION_ID = 0x564D454D
"""`VMEM` at byte 68 of the file: readable even when its pages are damaged (sqlite.org/fileformat.html §1.3.15)."""

TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE note(
  id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
  ctime_ns INTEGER NOT NULL, hash BLOB NOT NULL,
  day TEXT, title TEXT NOT NULL, scope TEXT NOT NULL, origin TEXT NOT NULL, headings TEXT NOT NULL,
  header_tokens INTEGER NOT NULL, tokens INTEGER NOT NULL DEFAULT 0, words INTEGER NOT NULL DEFAULT 0,
  first INTEGER NOT NULL, count INTEGER NOT NULL);
CREATE TABLE passage(
  id INTEGER PRIMARY KEY, note_id INTEGER NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
  from_char INTEGER, to_char INTEGER, kind INTEGER NOT NULL, tokens INTEGER NOT NULL, scope TEXT,
  origin TEXT, section INTEGER NOT NULL, embedding_id INTEGER, text TEXT NOT NULL);
CREATE INDEX passage_embedding ON passage(embedding_id);
CREATE INDEX passage_scope ON passage(scope) WHERE scope IS NOT NULL;
CREATE INDEX passage_origin ON passage(origin) WHERE origin IS NOT NULL;
CREATE TABLE fact(
  passage_id INTEGER PRIMARY KEY, confidence REAL, importance REAL, occurred_from TEXT, occurred_to TEXT,
  block_id TEXT, narrative TEXT NOT NULL, wording INTEGER NOT NULL, key INTEGER NOT NULL, decided INTEGER NOT NULL,
  part INTEGER NOT NULL);
CREATE INDEX fact_wording ON fact(wording);
CREATE TABLE claim(passage_id INTEGER NOT NULL, subject TEXT NOT NULL, slot TEXT NOT NULL, value TEXT NOT NULL,
  how TEXT NOT NULL, whole INTEGER NOT NULL, start TEXT, PRIMARY KEY(passage_id, slot, value, how)) WITHOUT ROWID;
CREATE INDEX claim_slot ON claim(slot, subject);
CREATE TABLE inferred(
  passage_id INTEGER NOT NULL, line INTEGER NOT NULL, kind INTEGER NOT NULL, text TEXT NOT NULL, speaker TEXT,
  occurred_from TEXT, occurred_to TEXT, key INTEGER NOT NULL, decided INTEGER NOT NULL,
  PRIMARY KEY(passage_id, line)) WITHOUT ROWID;
CREATE TABLE journal(file TEXT PRIMARY KEY, size INTEGER NOT NULL, tail BLOB NOT NULL, damaged INTEGER NOT NULL)
  WITHOUT ROWID;
CREATE TABLE used(passage INTEGER NOT NULL, question INTEGER NOT NULL, day INTEGER NOT NULL,
  PRIMARY KEY(passage, question)) WITHOUT ROWID;
CREATE TABLE tombstone(passage INTEGER PRIMARY KEY, at INTEGER NOT NULL, day INTEGER NOT NULL, stands INTEGER NOT NULL);
CREATE TABLE verdict(what TEXT NOT NULL, about TEXT NOT NULL, name TEXT NOT NULL, value REAL NOT NULL,
  at INTEGER NOT NULL, day INTEGER NOT NULL, PRIMARY KEY(what, about, name)) WITHOUT ROWID;
CREATE TABLE bearing(statement INTEGER NOT NULL, fact INTEGER NOT NULL, relation INTEGER NOT NULL,
  PRIMARY KEY(statement, fact)) WITHOUT ROWID;
CREATE TABLE reflected(path TEXT PRIMARY KEY, signature BLOB NOT NULL, hash BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE name(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, slug TEXT NOT NULL);
CREATE INDEX name_slug ON name(slug);
CREATE TABLE mention(passage_id INTEGER NOT NULL, name_id INTEGER NOT NULL,
  PRIMARY KEY(passage_id, name_id)) WITHOUT ROWID;
CREATE INDEX mention_name ON mention(name_id, passage_id);
CREATE TABLE alias(slug TEXT NOT NULL, note_id INTEGER NOT NULL, name TEXT NOT NULL, own INTEGER NOT NULL,
  PRIMARY KEY(slug, note_id)) WITHOUT ROWID;
CREATE TABLE link(note_id INTEGER NOT NULL, line INTEGER NOT NULL, target TEXT NOT NULL, anchor TEXT NOT NULL,
  PRIMARY KEY(note_id, line, target, anchor)) WITHOUT ROWID;
CREATE TABLE tag(note_id INTEGER NOT NULL, line INTEGER NOT NULL, name TEXT NOT NULL,
  PRIMARY KEY(note_id, line, name)) WITHOUT ROWID;
CREATE INDEX tag_name ON tag(name, note_id, line);
CREATE TABLE problem(note_id INTEGER NOT NULL, line INTEGER NOT NULL, level TEXT NOT NULL, message TEXT NOT NULL);
CREATE INDEX problem_note ON problem(note_id);
CREATE TABLE embedding(
  id INTEGER PRIMARY KEY, embedder INTEGER NOT NULL, text_hash INTEGER NOT NULL, vector BLOB NOT NULL);
CREATE UNIQUE INDEX embedding_text ON embedding(embedder, text_hash);
CREATE INDEX embedding_unusable ON embedding(embedder) WHERE vector = zeroblob(length(vector));
CREATE TABLE embedding_code(id INTEGER PRIMARY KEY, embedder INTEGER NOT NULL, code BLOB NOT NULL);
CREATE TABLE embedder(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, dimensions INTEGER NOT NULL);
CREATE TABLE placed(embedder INTEGER NOT NULL, passage_id INTEGER NOT NULL, embedding_id INTEGER NOT NULL,
  PRIMARY KEY(embedder, passage_id)) WITHOUT ROWID;
CREATE INDEX placed_embedding ON placed(embedder, embedding_id);
CREATE TABLE frequent(term TEXT PRIMARY KEY, passages INTEGER NOT NULL, notes INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE long_term(term TEXT PRIMARY KEY, backwards TEXT NOT NULL, passages INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX long_term_backwards ON long_term(backwards);
CREATE TABLE repeated(text_hash INTEGER PRIMARY KEY, notes INTEGER NOT NULL);
CREATE VIRTUAL TABLE passage_fts USING fts5(
  body, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE note_fts USING fts5(
  title, names, path, tags, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2');
CREATE TRIGGER passage_gone AFTER DELETE ON passage BEGIN
  DELETE FROM passage_fts WHERE rowid = old.id;
  DELETE FROM placed WHERE embedder IN (SELECT id FROM embedder) AND passage_id = old.id;
END;
CREATE TRIGGER note_gone AFTER DELETE ON note BEGIN
  DELETE FROM note_fts WHERE rowid = old.id;
END;
"""


DAMAGED = (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError)
"""What is raised if the file is damaged, including for text that is not UTF-8, since none is ever written."""

CANNOT_WRITE = "the disk is full, or the file is read-only"

BUSY = (apsw.BusyError, apsw.LockedError)


@contextlib.contextmanager
def mapped_errors(index: Path) -> Iterator[None]:
    """Translate SQLite errors into BusyError, IndexDamagedError or IndexUnusableError."""
    try:
        yield
    except BUSY as error:
        raise BusyError("Another program is writing this index.", "Try again in a moment.") from error
    except DAMAGED as error:
        raise IndexDamagedError(str(error), "Run `memory index --rebuild`.") from error
    except apsw.Error as error:
        why = CANNOT_WRITE if isinstance(error, apsw.ReadOnlyError) else str(error)
        step = "Check free space and permissions there; the index is derived and may be deleted."
        if index.is_dir():
            why, step = "it is a folder", "Move that folder away, then run `memory index`."
        raise IndexUnusableError(f"The index {index} cannot be used: {why}.", step, why) from error


def size(index: Path) -> int:
    """Return the size of an index in bytes, including its write-ahead log."""
    total = 0
    for suffix in ("", "-wal"):
        with contextlib.suppress(OSError):
            total += os.path.getsize(f"{index}{suffix}")
    return total


def refuse_foreign(path: Path, named: Path | None) -> None:
    """Refuse to replace a file that is not ours: the setting `index.path` (`named`) may name any file by mistake.

    A file that is no database is refused only if named by the setting; otherwise it is a damaged index.
    """
    try:
        with open(path, "rb") as file:
            header = file.read(100)
    except OSError:
        return  # missing or unreadable; opening it will report that
    if not header or int.from_bytes(header[68:72], "big") == APPLICATION_ID:
        return
    is_foreign = path == named
    if header.startswith(b"SQLite format 3\0"):
        with (
            contextlib.suppress(apsw.Error, UnicodeDecodeError),
            contextlib.closing(_connect_untouched(path)) as connection,
        ):
            tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            log = path.with_name(path.name + "-wal")
            is_empty = not tables and not (log.exists() and log.stat().st_size)
            is_foreign = not (is_empty or tables >= {"meta", "note", "passage", "passage_fts"})
    if is_foreign:
        raise RefusedError(
            f"{path} is not an index of this program: it was not touched.",
            "Let index.path name a folder or another file; if this one is of no use, delete it.",
        )


def _connect_untouched(path: Path) -> apsw.Connection:
    """Open a database read-only without touching it or the files beside it."""
    from urllib.parse import quote

    uri = f"file:{quote(os.fsencode(path))}?immutable=1"
    return apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)


SECURE_DELETE = "PRAGMA secure_delete=ON"
"""Overwrite deleted content so that text no longer in any note cannot be read from the file, at no measurable cost."""


def connect(path: Path) -> apsw.Connection:
    """Open an existing index for reading and writing in WAL mode; raises apsw's errors.

    If a full disk prevents even creating the files beside it, a cleanly closed index is opened read-only.
    """
    close_folder(str(path.parent))
    for suffix in ("", "-wal", "-shm", ".lock"):  # from an earlier version: they contain text of private notes
        close_to_others(f"{path}{suffix}")
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    try:
        # Executed separately: this statement returns a row, and any after it in one string would not run.
        connection.execute("PRAGMA journal_mode=WAL")
    except (apsw.FullError, apsw.IOError):
        connection.close()
        with contextlib.suppress(FileNotFoundError):
            if os.path.getsize(f"{path}-wal"):
                raise
        connection = _connect_untouched(path)
    else:
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute(SECURE_DELETE)
    connection.execute("PRAGMA temp_store=MEMORY; PRAGMA cache_size=-16000; PRAGMA mmap_size=268435456")
    return connection


def create(path: Path) -> apsw.Connection:
    """Create an index file for bulk loading: no rollback journal, since a failed build is discarded whole.

    Its folder must exist: creating it here could take the place of a vault just unmounted (law 7).
    """
    with contextlib.suppress(OSError):  # SQLite reports what is wrong, and gives its other files this file's mode
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA page_size=4096; PRAGMA journal_mode=OFF")
    connection.execute("PRAGMA temp_store=MEMORY; PRAGMA cache_size=-64000")
    connection.execute(SECURE_DELETE)
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    connection.execute(TABLES)
    return connection


CHECKPOINT = "PRAGMA wal_checkpoint(TRUNCATE)"


def new_name(index: Path) -> Path:
    """Return a path beside the index for one being built."""
    return index.with_name(f"{index.name}.new-{os.urandom(4).hex()}")


def sweep(index: Path) -> None:
    """Delete unfinished builds; call only under the writer lock, when no other build can be under way."""
    for orphan in index.parent.glob(f"{index.name}.new-{'[0-9a-f]' * 8}"):
        with contextlib.suppress(OSError):
            orphan.unlink()


def swap_in(built: Path, index: Path) -> None:
    """Put a finished build in the index's place: readers see the old content or the new, never a mixture.

    Over a live index the pages are copied in one transaction. A rename would leave the old write-ahead log beside the
    new file, and a reader of the old file would delete the new one's log on closing (sqlite.org/howtocorrupt.html
    §2.4).
    """
    # A damaged file can have no readers: replace it.
    with contextlib.suppress(*DAMAGED):
        if index.exists():
            with (
                contextlib.closing(connect(index)) as target,
                contextlib.closing(apsw.Connection(str(built))) as source,
            ):
                with target.backup("main", source, "main") as backup:
                    while not backup.done:
                        backup.step(-1)
                with contextlib.suppress(*BUSY):
                    target.execute(CHECKPOINT)
            built.unlink()
            return
    for suffix in ("-wal", "-shm", "-journal"):
        index.with_name(index.name + suffix).unlink(missing_ok=True)
    try:
        os.replace(built, index)
    except FileNotFoundError as error:
        raise IndexUnusableError(
            f"The folder of the index {index} went while it was built.", "Check that the vault's drive is mounted."
        ) from error
