"""Opens an index and restricts queries to the scopes of a caller: they run through a view, and a view requires scopes.

A view that hides something prefixes each statement with common table expressions of the same names, so that `note`,
`passage`, `fact`, … contain only rows in scope: no statement can forget to filter. The FTS tables cannot be redefined
that way (`MATCH` needs the real table): statements name them `main.passage_fts` and join `passage` or the allowed
passages. Word rarity and note length are computed over the whole index.

Of a note out of scope with a line in scope only the path and day are visible, since that line is cited. A note that has
changed since it was indexed is not visible at all: it may have been made private.
"""

import contextlib
import hashlib
import json
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import apsw

from vault_memory.store import schema
from vault_memory.text.scope_syntax import GLOBAL
from vault_memory.text.vault_layout import STANDARD, Layout
from vault_memory.vault.walk import File

ALL: Final[tuple[str, ...]] = ("every scope",)
"""The scopes of a view of everything, compared by identity, so that no text can name it. A view with no scopes shows
nothing, so that none can be left out by mistake."""

State = tuple[object, ...]
"""The state of an index: equal as long as its content has not changed and no other connection has written to it."""


KINDS = ("note", "world", "experience", "opinion", "observation", "session", "page", "file")
"""The kinds of passages; stored as the position in this tuple."""

IS_NOTE = "path LIKE '%.md'"
"""The rows of `note` that are notes: attachments have rows there too."""

PASSAGES = "passage p ON p.id BETWEEN n.first AND n.first + n.count - 1"
"""What to CROSS JOIN to `note n`: this range is the only indexed way from a note to its passages (a scan takes 80 ms at
300,000)."""


class Filters(NamedTuple):
    """Conditions on results; empty means no condition, so no scopes mean every scope (`Store.view_asked_for`).

    Dates are local days, both ends included.
    """

    since: date | None = None
    until: date | None = None
    as_of: date | None = None
    entities: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    task: str = ""
    """Only tasks: "open" (`- [ ]`) or "done" (`- [x]`)."""


class Totals(NamedTuple):
    passages: int
    words: int
    notes: int


_OPEN = "IN (SELECT value FROM json_each(?1))"
_OUTDATED = "IN (SELECT value FROM json_each(?2))"

_VISIBLE = f"""
passage AS NOT MATERIALIZED (SELECT * FROM main.passage
  WHERE coalesce(scope, (SELECT n.scope FROM main.note n WHERE n.id = note_id)) {_OPEN}
    AND note_id NOT IN (SELECT id FROM main.note WHERE path {_OUTDATED})),
note AS NOT MATERIALIZED (SELECT id, path, size, mtime_ns, ctime_ns, hash, day, iif(scope {_OPEN}, title, '') AS title,
  scope, origin, iif(scope {_OPEN}, headings, '[]') AS headings, header_tokens, tokens, words,
  first, count FROM main.note
  WHERE path NOT {_OUTDATED} AND (scope {_OPEN} OR id IN (SELECT note_id FROM main.passage WHERE scope {_OPEN}))),
""" + "".join(
    f"{table} AS NOT MATERIALIZED (SELECT * FROM main.{table} t"
    " WHERE EXISTS (SELECT 1 FROM passage WHERE passage.id = t.passage_id)),\n"
    for table in ("fact", "claim", "inferred", "mention", "placed")
) + "".join(
    f"{table} AS NOT MATERIALIZED (SELECT * FROM main.{table} t WHERE EXISTS (SELECT 1 FROM main.note n"
    f" WHERE n.id = t.note_id AND n.scope {_OPEN} AND n.path NOT {_OUTDATED})),\n"
    for table in ("alias", "link", "tag", "problem")
) + """
name AS NOT MATERIALIZED (SELECT * FROM main.name t WHERE EXISTS (SELECT 1 FROM mention m WHERE m.name_id = t.id)),
frequent AS (SELECT * FROM main.frequent WHERE 0),
passage_fts AS (SELECT 1 WHERE 0), note_fts AS (SELECT 1 WHERE 0)
"""  # fmt: skip

_HIDES = (
    f"SELECT EXISTS (SELECT 1 FROM note WHERE NOT scope {_OPEN})"
    f" OR EXISTS (SELECT 1 FROM passage WHERE scope IS NOT NULL AND NOT scope {_OPEN})"
    f" OR EXISTS (SELECT 1 FROM note WHERE path {_OUTDATED})"
)


class IndexConnection:
    """One open index, with queries and properties that apply to all of it."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection

    def rows(self, sql: str, *parameters: Any) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 - as SQLite takes them
        """Return the rows of a query, with positional parameters."""
        return iter(self.connection.execute(sql, parameters))

    def one(self, sql: str, *parameters: Any) -> Any:  # noqa: ANN401 - a column has whatever type it has
        """Return the first column of the first row, or None."""
        row = next(self.rows(sql, *parameters), None)
        return row[0] if row else None

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Open a read transaction unless one is open: all statements see the index as of one moment."""
        if self.connection.in_transaction:
            yield
            return
        self.connection.execute("BEGIN")
        try:
            yield
        finally:
            with contextlib.suppress(apsw.Error):  # a failed statement may have ended it by itself
                self.connection.execute("ROLLBACK")

    def count_notes(self) -> int:
        """Count the notes; in a view, the visible ones."""
        return int(self.one(f"SELECT count(*) FROM note WHERE {IS_NOTE}"))

    @property
    def file(self) -> Path:
        return Path(self.connection.db_filename("main"))

    def meta(self, key: str) -> str | int | None:
        value = self.one("SELECT value FROM meta WHERE key = ?", key)
        return value if isinstance(value, str | int) else None

    @cached_property
    def layout(self) -> Layout:
        """The folder layout of the indexed vault: an index with another layout is rebuilt."""
        said = self.meta("layout")
        return Layout(*json.loads(str(said))) if said else STANDARD

    @property
    def is_frozen(self) -> bool:
        """Whether it could only be opened read-only, without seeing others' writes (schema.connect)."""
        return self.connection.readonly("main")

    @property
    def generation(self) -> int:
        """A number that grows with each change of content."""
        return int(self.meta("generation") or 0)

    def state(self) -> State:
        """Return a value that differs after any change, by whichever connection: what was read before may be stale."""
        sql = "SELECT value FROM meta WHERE key IN ('built', 'frequent_at', 'generation') ORDER BY key"
        version = self.connection.execute("PRAGMA data_version").get
        return int(version), *(row[0] for row in self.rows(sql))


class View(IndexConnection):
    """The part of an open index visible with these scopes (everything with `ALL`), without `outdated` notes."""

    def __init__(self, connection: apsw.Connection, scopes: Sequence[str], outdated: Sequence[str] = ()) -> None:
        super().__init__(connection)
        self._scopes, self._outdated = scopes, outdated
        self._limits = (json.dumps(list(scopes)), json.dumps(list(outdated)))
        self.is_narrowed = scopes is not ALL and bool(connection.execute(_HIDES, self._limits).get)
        """Whether it hides anything."""

    def rows(self, sql: str, *parameters: Any) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401
        if not self.is_narrowed:
            return super().rows(sql, *parameters)
        return iter(self.connection.execute(_narrowed(sql), (*self._limits, *parameters)))

    def public(self) -> "View":
        """Return the same view without private scopes."""
        is_open = self._scopes is ALL or GLOBAL in self._scopes
        return View(self.connection, (GLOBAL,) if is_open else (), self._outdated)

    def totals(self) -> Totals:
        """Count the visible passages, words and notes."""
        # Some of a note's passages may be hidden, so `note.count` cannot be used.
        passages = "(SELECT count(*) FROM passage)" if self.is_narrowed else "coalesce(sum(count), 0)"
        counts = f"{passages}, coalesce(sum(words), 0), count(*) FILTER (WHERE {IS_NOTE})"
        row = next(self.rows(f"SELECT {counts} FROM note"))
        return Totals(int(row[0]), int(row[1]), int(row[2]))


def text_hash(text: str) -> int:
    """Return a signed 64-bit hash of a text, the same on every machine."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big", signed=True)


@lru_cache(maxsize=256)
def _narrowed(sql: str) -> str:
    """Rewrite a statement to see only visible rows; its own parameters follow the view's two."""
    sql = sql.strip()
    sql = f", {sql[5:]}" if sql.startswith("WITH ") else sql
    return f"WITH {_VISIBLE} {re.sub(r'[?]([0-9]+)', lambda number: f'?{int(number[1]) + 2}', sql)}"


_FILE = "n.id, n.hash, n.path, n.size, n.mtime_ns, n.ctime_ns"
_NOTES_AT = f"""
SELECT {_FILE} FROM json_each(?1) j CROSS JOIN note n ON n.path = j.value
UNION SELECT {_FILE} FROM json_each(?1) j CROSS JOIN note n ON n.path > j.value || '/' AND n.path < j.value || '0'
"""
"""By ranges of the path index: `0` is the character after `/`."""

_WORD_VERSIONS = " UNION ALL ".join(f"SELECT v FROM {t}_fts_config WHERE k = 'version'" for t in ("passage", "note"))


class NoteRow(NamedTuple):
    """What the index knows about a note's file, as the walk saw it at indexing."""

    id: int
    hash: bytes
    file: File


_GROW = "INSERT INTO meta VALUES('generation', 1) ON CONFLICT(key) DO UPDATE SET value = value + 1"


class Store(IndexConnection):
    """One open index. Not safe for use by several threads at once."""

    outdated: tuple[str, ...] = ()
    """Notes that have changed since they were indexed: their scopes may differ by now."""
    _begun: float | None = None
    """When the open write transaction began."""

    @classmethod
    def open(cls, path: Path) -> "Store":
        """Open an existing index; raises apsw's errors, for the caller to map (schema.mapped_errors)."""
        return cls(schema.connect(path))

    @classmethod
    @contextlib.contextmanager
    def opened(cls, path: Path) -> Iterator["Store"]:
        """Open an existing index for a `with` block; errors are mapped by `schema.mapped_errors`."""
        with schema.mapped_errors(path), contextlib.closing(cls.open(path)) as store:
            yield store

    @classmethod
    def create(cls, path: Path) -> "Store":
        """Create an empty index for bulk loading and open it."""
        return cls(schema.create(path))

    def temporary_copy(self) -> "Store":
        """Return a private copy of this index as it is now, which vanishes when closed.

        What does not fit into SQLite's cache is in an unnamed file in the system's temporary folder.
        """
        copied = apsw.Connection("")
        with copied.backup("main", self.connection, "main") as backup:
            backup.step(-1)
        return Store(copied)

    def close(self, keep_log: bool = False) -> None:
        """Close it; `keep_log` leaves the write-ahead log alone, since it may belong to another index by now."""
        if keep_log:
            self.connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        self.connection.close()

    def view(self, scopes: Sequence[str]) -> View:
        """Return what is visible with these scopes (nothing with none); use it within one transaction."""
        return View(self.connection, scopes, self.outdated)

    def view_asked_for(self, scopes: Sequence[str]) -> View:
        """Return what is visible to a caller who names these scopes; one who names none may see everything."""
        return View(self.connection, scopes or ALL, self.outdated)

    def is_index(self) -> bool:
        """Return whether it has an index's tables; raises CorruptError if the FTS5 versions are missing or unknown."""
        try:
            # If these tables are damaged, FTS5 itself reports an SQL error.
            found = [version for (version,) in self.rows(_WORD_VERSIONS)]
        except apsw.SQLError:
            return False
        if len(found) != 2 or not all(version in (4, 5) for version in found):
            raise apsw.CorruptError("the tables of words have no version")
        return True

    @contextlib.contextmanager
    def writing(self, together_seconds: float = 0.0) -> Iterator[None]:
        """Run in a write transaction, kept open and shared for `together_seconds`; a failure rolls back all of it."""
        if self._begun is None:
            # IMMEDIATE: a transaction that reads before it writes can fail with BUSY_SNAPSHOT despite the timeout.
            self.connection.execute("BEGIN IMMEDIATE")
            self._begun = time.monotonic()
        try:
            yield
            if time.monotonic() - self._begun >= together_seconds:
                self.commit()
        except BaseException:
            self._roll_back()
            raise

    def commit(self) -> None:
        """Commit the shared transaction that `writing` left open, if any."""
        if self._begun is not None:
            try:
                self.connection.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise
            self._begun = None

    def _roll_back(self) -> None:
        self._begun = None
        with contextlib.suppress(apsw.Error):  # a failed statement may have rolled back by itself
            self.connection.execute("ROLLBACK")

    def checkpoint(self) -> None:
        """Truncate the write-ahead log if no reader needs it; otherwise leave it for next time."""
        with contextlib.suppress(*schema.BUSY):
            self.connection.execute(schema.CHECKPOINT)

    def map_nothing(self) -> None:
        """Disable mmap for a long-lived process: mapped pages count as its memory, and truncation raises SIGBUS."""
        self.connection.execute("PRAGMA mmap_size=0")

    def set_meta(self, key: str, value: str | int) -> None:
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES(?, ?)", (key, value))

    def grow(self) -> None:
        """Increment the generation, inside the transaction that changes the index."""
        self.connection.execute(_GROW)

    def notes(self, covered: Iterable[str] | None = None) -> dict[str, NoteRow]:
        """Return every indexed note by path, or only those at or below these paths."""
        if covered is None:
            rows = self.rows(f"SELECT {_FILE} FROM note n")
        else:
            rows = self.rows(_NOTES_AT, json.dumps(list(covered)))
        return {row[2]: NoteRow(row[0], row[1], File._make(row[2:])) for row in rows}


FACTS = frozenset(("world", "experience", "opinion", "observation"))
"""The kinds of facts, which were written down to be remembered and are self-contained."""
PAGE = "page"
"""A line written by reflect."""
ATTACHMENT = "file"
"""An attachment's name or a canvas card: cited by its path alone, and evidence for nothing."""


class Candidate(NamedTuple):
    """A passage with what ranking and answering need to know about it."""

    id: int
    note_id: int
    start_line: int
    end_line: int
    from_char: int | None
    to_char: int | None
    kind: str
    tokens: int
    section: int
    """How many of the note's headings precede it; negative for a heading itself, ASIDE for frontmatter and comments."""
    text: str
    by: str = "person"
    """Its origin (provenance.py)."""
    occurred_from: str | None = None
    occurred_to: str | None = None
    confidence: float | None = None
    """These three of a fact only."""

    @classmethod
    def of(cls, row: Sequence[Any]) -> "Candidate":
        """Return the passage in a row of the columns CANDIDATE."""
        return cls._make((*row[:6], KINDS[row[6]], *row[7:]))


CANDIDATE = (
    "p.id, n.id, p.start_line, p.end_line, p.from_char, p.to_char, p.kind, p.tokens, p.section, p.text,"
    " coalesce(p.origin, n.origin), f.occurred_from, f.occurred_to, f.confidence"
)
"""The columns of a passage `p` of a note `n`, with its fact `f` if it is one."""


class NoteInfo(NamedTuple):
    """What an answer says about a passage's note, and the note's length for ranking."""

    id: int
    path: str
    day: str | None
    title: str
    headings: str
    header_tokens: int
    tokens: int
    words: int
