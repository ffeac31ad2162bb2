"""An open index, and what somebody with certain scopes sees of it: queries run through a view, and a view needs scopes.

A view that hides something puts definitions of the same names before each statement, so that its `note`, `passage`,
`fact`, … hold only what lies in the scopes: a statement cannot forget them. The tables of words cannot be defined so
(`MATCH` needs the real one): a statement names them `main.passage_fts`, and joins `passage` or the allowed passages.
How rare a word is, and how long notes are, is counted over the whole index.

A note out of scope with a line in scope is seen by its path and day alone, for that line is cited. A note that is not
as it was indexed is not seen at all: it may have been made private since.
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
"""The scopes of who sees everything: this very object, which no text can name. No scopes at all open nothing."""

State = tuple[object, ...]
"""How an index stood: equal as long as nothing in it has changed but counts of use by the same connection."""


KINDS = ("note", "world", "experience", "opinion", "observation", "session", "page", "file")
"""What a passage is; stored as the position in this tuple."""

IS_NOTE = "path LIKE '%.md'"
"""The rows of `note` that are one: attachments have rows of their own there."""

PASSAGES = "passage p ON p.id BETWEEN n.first AND n.first + n.count - 1"
"""What to CROSS JOIN to `note n`: no index leads from a note to its passages but this range (80 ms at 300,000)."""


class Filters(NamedTuple):
    """What an answer must satisfy; empty means anything. Dates are local days, both ends included."""

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
    """One open index, and what holds for all of it."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection

    def rows(self, sql: str, *parameters: Any) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 - as SQLite takes them
        """The rows of a query, with its parameters in order."""
        return iter(self.connection.execute(sql, parameters))

    def one(self, sql: str, *parameters: Any) -> Any:  # noqa: ANN401 - a column has whatever type it has
        """The first column of the first row, or None."""
        row = next(self.rows(sql, *parameters), None)
        return row[0] if row else None

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """One read transaction, or the one that is open: all statements see the index as it stood at one moment."""
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
        """How many notes there are; of a view, how many are seen."""
        return int(self.one(f"SELECT count(*) FROM note WHERE {IS_NOTE}"))

    @property
    def file(self) -> Path:
        return Path(self.connection.db_filename("main"))

    def meta(self, key: str) -> str | int | None:
        value = self.one("SELECT value FROM meta WHERE key = ?", key)
        return value if isinstance(value, str | int) else None

    @cached_property
    def layout(self) -> Layout:
        """Where the indexed vault keeps what: an index of another layout is built anew."""
        said = self.meta("layout")
        return Layout(*json.loads(str(said))) if said else STANDARD

    @property
    def is_frozen(self) -> bool:
        """Whether it could be opened for reading alone, and shows nothing that others write (schema.connect)."""
        return self.connection.readonly("main")

    @property
    def generation(self) -> int:
        """A number that grows with each change of the content."""
        return int(self.meta("generation") or 0)

    def state(self) -> State:
        """What is another after each change, by whomever: then what was read may be stale."""
        sql = "SELECT value FROM meta WHERE key IN ('built', 'frequent_at', 'generation') ORDER BY key"
        version = self.connection.execute("PRAGMA data_version").get
        return int(version), *(row[0] for row in self.rows(sql))


class View(IndexConnection):
    """What is seen of one open index with these scopes (all with `ALL`), without the notes that are `outdated`."""

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
        """The same without what is private to some scope."""
        is_open = self._scopes is ALL or GLOBAL in self._scopes
        return View(self.connection, (GLOBAL,) if is_open else (), self._outdated)

    def totals(self) -> Totals:
        """How many passages, words and notes there are."""
        # A part of a note's passages may be hidden: then they are to be counted.
        passages = "(SELECT count(*) FROM passage)" if self.is_narrowed else "coalesce(sum(count), 0)"
        counts = f"{passages}, coalesce(sum(words), 0), count(*) FILTER (WHERE {IS_NOTE})"
        row = next(self.rows(f"SELECT {counts} FROM note"))
        return Totals(int(row[0]), int(row[1]), int(row[2]))


def text_hash(text: str) -> int:
    """A signed 64-bit hash of a text, the same everywhere."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big", signed=True)


@lru_cache(maxsize=256)
def _narrowed(sql: str) -> str:
    """The same statement over what is visible; its own parameters come behind the two of the view."""
    sql = sql.strip()
    sql = f", {sql[5:]}" if sql.startswith("WITH ") else sql
    return f"WITH {_VISIBLE} {re.sub(r'[?]([0-9]+)', lambda number: f'?{int(number[1]) + 2}', sql)}"


_FILE = "n.id, n.hash, n.path, n.size, n.mtime_ns, n.ctime_ns"
_NOTES_AT = f"""
SELECT {_FILE} FROM json_each(?1) j CROSS JOIN note n ON n.path = j.value
UNION SELECT {_FILE} FROM json_each(?1) j CROSS JOIN note n ON n.path > j.value || '/' AND n.path < j.value || '0'
"""
"""By ranges of the index on paths: `0` is the character behind `/`."""

_WORD_VERSIONS = " UNION ALL ".join(f"SELECT v FROM {t}_fts_config WHERE k = 'version'" for t in ("passage", "note"))


class NoteRow(NamedTuple):
    """What the index knows of a note's file, as the walk saw it when it was indexed."""

    id: int
    hash: bytes
    file: File


_GROW = "INSERT INTO meta VALUES('generation', 1) ON CONFLICT(key) DO UPDATE SET value = value + 1"


class Store(IndexConnection):
    """One open index. Not safe for use by several threads at once."""

    outdated: tuple[str, ...] = ()
    """Notes that are not as they were indexed: their scopes may be others by now."""
    _begun: float | None = None
    """When the open write transaction began."""

    @classmethod
    def open(cls, path: Path) -> "Store":
        """Open an existing index; what goes wrong is to be mapped (schema.mapped_errors)."""
        return cls(schema.connect(path))

    @classmethod
    @contextlib.contextmanager
    def opened(cls, path: Path) -> Iterator["Store"]:
        """An existing index, open for a while; whatever is wrong raises as `schema.mapped_errors` says."""
        with schema.mapped_errors(path), contextlib.closing(cls.open(path)) as store:
            yield store

    @classmethod
    def create(cls, path: Path) -> "Store":
        """A new and empty index for bulk loading, open."""
        return cls(schema.create(path))

    def temporary_copy(self) -> "Store":
        """A copy of this index, as it is seen now, that nobody else sees and that goes when it is closed.

        It lies in the system's temporary folder, without a name, but for what fits into SQLite's cache.
        """
        copied = apsw.Connection("")
        with copied.backup("main", self.connection, "main") as backup:
            backup.step(-1)
        return Store(copied)

    def close(self, keep_log: bool = False) -> None:
        """Close it; with `keep_log` without tidying up the write-ahead log, which may be another index's by now."""
        if keep_log:
            self.connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        self.connection.close()

    def view(self, scopes: Sequence[str]) -> View:
        """What is seen with these scopes, nothing with none: ask it within one transaction."""
        return View(self.connection, scopes, self.outdated)

    def is_index(self) -> bool:
        """Whether the tables of an index are there; what FTS5 cannot work with counts as damaged."""
        try:
            # FTS5 itself reports these, where they are damaged, as a mistake in the SQL.
            found = [version for (version,) in self.rows(_WORD_VERSIONS)]
        except apsw.SQLError:
            return False
        if len(found) != 2 or not all(version in (4, 5) for version in found):
            raise apsw.CorruptError("the tables of words have no version")
        return True

    @contextlib.contextmanager
    def writing(self, together_seconds: float = 0.0) -> Iterator[None]:
        """A write transaction, which those begun within `together_seconds` of it share; a failure undoes all of it."""
        if self._begun is None:
            # At once: a transaction that reads first fails with BUSY_SNAPSHOT, whatever the timeout.
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
        """Commit what `writing` left open to be shared, if anything."""
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
        """Shorten the write-ahead log to nothing when no reader needs it; else leave it for the next time."""
        with contextlib.suppress(*schema.BUSY):
            self.connection.execute(schema.CHECKPOINT)

    def map_nothing(self) -> None:
        """For a process that stays: what is mapped counts as its memory, and a truncated file ends it by SIGBUS."""
        self.connection.execute("PRAGMA mmap_size=0")

    def set_meta(self, key: str, value: str | int) -> None:
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES(?, ?)", (key, value))

    def grow(self) -> None:
        """Give the index its next generation, inside the transaction that changes it."""
        self.connection.execute(_GROW)

    def notes(self, covered: Iterable[str] | None = None) -> dict[str, NoteRow]:
        """Every indexed note by path, or only those with these paths and those below them."""
        if covered is None:
            rows = self.rows(f"SELECT {_FILE} FROM note n")
        else:
            rows = self.rows(_NOTES_AT, json.dumps(list(covered)))
        return {row[2]: NoteRow(row[0], row[1], File._make(row[2:])) for row in rows}


FACTS = frozenset(("world", "experience", "opinion", "observation"))
"""Kinds that someone wrote down to be remembered: each stands for itself."""
PAGE = "page"
"""What reflect wrote."""
ATTACHMENT = "file"
"""The name of an attachment, or a card of a canvas: cited by its path alone, and evidence for nothing."""


class Candidate(NamedTuple):
    """A passage with what ranking and answering need of it."""

    id: int
    note_id: int
    start_line: int
    end_line: int
    from_char: int | None
    to_char: int | None
    kind: str
    tokens: int
    section: int
    """How many headings stand above it; negative for a heading itself, ASIDE for frontmatter and comments."""
    text: str


class NoteInfo(NamedTuple):
    """What an answer says of a passage's note, and its length for ranking."""

    id: int
    path: str
    day: str | None
    title: str
    headings: str
    header_tokens: int
    tokens: int
    words: int
