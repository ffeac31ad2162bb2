"""Writes and reads the journal: append-only files under `.memory/journal/`, two per device, one JSON object per line.

It records what notes cannot: recalls, results that were only injected (`shown`), people's verdicts, captured
statements, and what was forgotten or restored. The latter only by hash, since forgotten words must not survive here;
when a captured fact is forgotten, its words are overwritten with blanks. No two devices write the same file, so a
synced vault has no conflicts. Damaged lines are skipped and counted.

The journal is the source of truth and the index only caches it (law 1): each file is read from where reading stopped.
Neither the order of lines and files nor reading a line twice makes a difference.
"""

import hashlib
import heapq
import json
import os
import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from vault_memory.errors import RefusedError, VaultError
from vault_memory.store.view import IndexConnection, Store, text_hash
from vault_memory.vault import locations, safe_files

TAIL_BYTES = 64
"""How many of the last bytes read are compared on the next read: a file that was replaced is read anew."""

MAX_LINE = 1 << 20
"""Bytes read at a time, however long a journal is; a longer line counts as damaged."""

LAST_YEAR = 9000
"""Events dated later are rejected: the clock was wrong, and no later event could ever override them."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BLOCK_ID = re.compile(r"\s\^[\w-]+\s*$")


class CitedPassage(NamedTuple):
    """A passage as the journal records it: where it was, and the hash of its text, which stays valid if it moves."""

    source: str
    key: int


class Tombstone(NamedTuple):
    """A passage was forgotten (`stands`) or restored; `at`, in microseconds since 1970, orders these events."""

    at: int
    stands: bool


MAX_NAME = 80
VERDICTS = ("deleted", "refused", "given", "ticked", "removed")
"""A person's verdicts on what reflect wrote.

In this order: they deleted the line `name` from the page `about`, refused the proposal `name`, gave the opinion `name`
the confidence `value` (0..1), ticked the proposal `name`, or removed the page `about` (`value` 0: it is back). For a
ticked proposal, `about` names its fact and the line of the core, by hashes.
"""

Mark = tuple[int, bytes, int]
"""How far a file was read: number of bytes, the last of those bytes, and damaged lines so far."""

UNREAD: Mark = (0, b"", 0)

# --- writing ---------------------------------------------------------------------------------------------------------


def note_recall(root: Path, query: str, now: datetime, passages: Sequence[CitedPassage], event: str = "recall") -> None:
    """Append one recall, if the vault is writable.

    The event "shown" records unsolicited results: it counts for nothing, or memory would learn from its own output.
    """
    told = {
        "query": hashlib.sha256(" ".join(query.casefold().split()).encode("utf-8", "replace")).hexdigest()[:16],
        "passages": [passage.source for passage in passages],
        "texts": [digits(passage.key) for passage in passages],
    }
    with suppress(OSError, RefusedError):
        _append(root, event, now, told)


def note_tombstone(root: Path, passage: CitedPassage, now: datetime) -> None:
    """Append that a passage was forgotten; raises RefusedError behind a symlink, VaultError if the system refuses."""
    _note_aloud(root, "tombstone", now, {"text": digits(passage.key), "source": passage.source})


def note_restored(root: Path, key: int, now: datetime) -> None:
    """Append that a forgotten passage was written again on purpose; raises like `note_tombstone`."""
    _note_aloud(root, "restored", now, {"text": digits(key)})


def note_verdicts(
    root: Path, what: str, names: Iterable[str], now: datetime, about: str = "", value: float = 0.0,
    day: date | None = None,
) -> None:  # fmt: skip
    """Append a person's verdicts (see `VERDICTS`); raises like `note_tombstone`.

    `day` is the verdict's day if not that of `now`: facts after it count as newer.
    """
    told = {"about": about, "names": sorted(names), "value": value, **({"day": day.isoformat()} if day else {})}
    if told["names"]:
        _note_aloud(root, what, now, told)


def note_session(root: Path, what: str, session: str, now: datetime) -> None:
    """Append what became of an agent's session (`sessions/claude-code/<id>`), if the journal is writable.

    `what` begins with "session".
    """
    if (root / locations.MEMORY_FOLDER).is_dir():  # do not turn a folder that is no vault yet into one
        with suppress(OSError, RefusedError):
            _append(root, what, now, {"source": session[:MAX_NAME]})


CAPTURE_EVENTS = ("proposed", "held", "accepted", "declined", "folded")
"""What became of a captured statement: put on the proposals page, held back for another day, ticked or written at once,
refused, or folded away after a month."""

LEFT_OUT, BLANKED = "left out", "blanked"
"""A statement that capture found but did not keep, recorded without its words; and one whose words were erased since
its fact was forgotten."""

UNDONE = "undone"
"""An answer or a fact of a capture that was undone."""

_CAPTURES = ".captures.jsonl"
"""The ending of each device's file for these events, kept apart from recalls because each capture reads all of them."""

_TEXT = re.compile(rb'"text":"((?:[^"\\]|\\.)*)"')


def note_capture(root: Path, what: str, now: datetime, run: str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Append what became of statements (see `CAPTURE_EVENTS`) in a run; raises like `note_tombstone`."""
    for row in rows:
        _note_aloud(root, what, now, {"run": run, **row}, _CAPTURES)


def note_undone(root: Path, run: str, now: datetime) -> None:
    """Append that what a capture wrote or was answered is undone; raises like `note_tombstone`."""
    rows = [event for event in capture_events(root) if event.get("run") == run]
    taken = ({**row, "text": row["text"] or ""} for row in rows if row["event"] in ("accepted", "declined"))
    taken = ({key: row[key] for key in ("name", "text", "source") if row.get(key)} for row in taken)
    note_capture(root, UNDONE, now, run, taken)


def capture_events(root: Path) -> list[dict[str, Any]]:
    """Return the CAPTURE_EVENTS of all devices in order of time, skipping damaged lines; blanked texts are empty."""
    found = list(_captures(root))
    blanked, kept = _blanked(found), [event for event in found if event["event"] in CAPTURE_EVENTS]
    for event in kept:
        event["text"] = "" if str(event.get("name")) in blanked else event.get("text")
    return sorted(kept, key=lambda event: str(event.get("at")))


def blank_captured(root: Path, names: Iterable[str] = (), now: datetime = _EPOCH) -> None:
    """Erase the words of these statements, and of those other devices blanked, from this device's file.

    Each device erases them from its own file whenever it captures, since only it may write there. Raises like
    `note_tombstone`.
    """
    note_capture(root, BLANKED, now, "", [{"name": name} for name in sorted(names)])
    blanked, own = _blanked(_captures(root)), files(root).get(f"{locations.device_id()}{_CAPTURES}")
    if not (own and blanked):
        return
    with suppress(OSError), open(own, "r+b") as handle:
        at = 0
        for line in handle.readlines():
            words = _TEXT.search(line)
            if words and words[1].strip() and any(f'"name":"{name}"'.encode() in line for name in blanked):
                handle.seek(at + words.start(1))
                handle.write(b" " * len(words[1]))  # in place: another process may be appending
            at += len(line)


def other_devices_hold(root: Path, names: Collection[str]) -> bool:
    """Return whether other devices' journals still contain words of these statements."""
    events = _captures(root, but=f"{locations.device_id()}{_CAPTURES}")
    return any(event.get("name") in names and str(event.get("text", "")).strip() for event in events)


def _captures(root: Path, but: str = "") -> Iterator[dict[str, Any]]:
    """Yield the events in every device's file of captures, but one."""
    chosen = (file for name, file in files(root).items() if name.endswith(_CAPTURES) and name != but)
    return (event for file in chosen for event in _events(file))


def _blanked(events: Iterable[Mapping[str, Any]]) -> set[str]:
    return {str(event.get("name")) for event in events if event["event"] == BLANKED}


def _events(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the events of a file, skipping damaged lines."""
    with suppress(OSError), open(file, "rb") as handle:
        for line in handle:
            with suppress(ValueError, RecursionError):
                event = json.loads(line) if len(line) < MAX_LINE else None
                if isinstance(event, dict) and isinstance(event.get("event"), str):
                    yield event


class JournalEntry(NamedTuple):
    """One line of a journal: when (ISO, UTC), the device, the event, what it cites or names, and a text if it has one.

    `text` is a captured statement's, `signals` are its gate's, and `why` says why it was left out; no other event
    contains words.
    """

    at: str
    device: str
    event: str
    about: tuple[str, ...] = ()
    text: str = ""
    signals: Mapping[str, float] = {}
    why: str = ""


MAX_ENTRIES = 500


def entries(root: Path, days: int) -> list[JournalEntry]:
    """Return the entries of all devices for the last `days` days, newest first; at most MAX_ENTRIES."""
    first = (date.today() - timedelta(days=max(days, 1) - 1)).isoformat()
    blanked, found = _blanked(_captures(root)), list[JournalEntry]()
    for name, file in files(root).items():
        for event in _events(file):
            with suppress(KeyError, TypeError, ValueError, AttributeError):
                if str(event["day"]) >= first and event["event"] != BLANKED:
                    entry = _entry(name.partition(".")[0], event)
                    found.append(entry._replace(text="") if str(event.get("name")) in blanked else entry)
    return heapq.nlargest(MAX_ENTRIES, found, key=lambda entry: entry[:3])


def _entry(device: str, event: Mapping[str, Any]) -> JournalEntry:
    cited = [event["source"]] if "source" in event else event.get("passages", [])
    named = [str(one) for one in [*cited, *event.get("names", []), *filter(None, [event.get("about")])]]
    text = str(event.get("text") or "") if event["event"] in (*CAPTURE_EVENTS, UNDONE) else ""
    signals = {str(name): float(value) for name, value in event.get("signals", {}).items()}
    return JournalEntry(
        str(event["at"]), device, str(event["event"]), tuple(named), text, signals, str(event.get("why", ""))
    )


def _note_aloud(root: Path, event: str, now: datetime, told: Mapping[str, Any], ending: str = ".jsonl") -> None:
    try:
        _append(root, event, now, told, ending)
    except OSError as error:
        why = f"The journal in .memory/journal cannot be written: {error.strerror or error}."
        raise VaultError(why, "Check permissions and free space.") from error


def digits(key: int) -> str:
    """Format a passage's hash as the journal writes it: 16 hex digits."""
    return f"{key & (1 << 64) - 1:016x}"


def _append(root: Path, event: str, now: datetime, told: Mapping[str, Any], ending: str = ".jsonl") -> None:
    """Append an event to this device's file with that ending; raises RefusedError behind a symlink, or OSError."""
    when = {"day": now.astimezone().date().isoformat(), "at": now.isoformat(timespec="microseconds")}
    line = {"event": event, **when, **told}
    file = locations.place_to_write(root, f"journal/{locations.device_id()}{ending}")
    locations.make_folder(file.parent)
    safe_files.append(file, json.dumps(line, separators=(",", ":")).encode("ascii"))


# --- reading ---------------------------------------------------------------------------------------------------------


def passage_key(text: str) -> int:
    """Return the hash that identifies a passage wherever it moves: of its words, without a block id (signed 64-bit)."""
    return text_hash(" ".join((_BLOCK_ID.sub("", text) if "^" in text else text).split()))


def files(root: Path) -> dict[str, Path]:
    """Return every device's files by name; none if `.memory` leads out of the vault, and no symlinks (law 8)."""
    if locations.derived(root, "journal") is None:
        return {}
    found: dict[str, Path] = {}
    with suppress(OSError), os.scandir(root / ".memory" / "journal") as entries:
        for entry in entries:
            if entry.name.endswith(".jsonl") and entry.is_file(follow_symlinks=False):
                found[entry.name] = Path(entry.path)
    return found


def _is_continued(file: Path, size: int, tail: bytes) -> bool:
    """Return whether a file still has `tail` where reading stopped."""
    with suppress(OSError), open(file, "rb") as handle:
        start = max(size - TAIL_BYTES, 0)
        handle.seek(start)
        return handle.read(size - start) == tail
    return False


def read(file: Path, mark: Mark = UNREAD) -> Iterator[tuple[dict[str, list[tuple[Any, ...]]], Mark]]:
    """Yield the rows, by table, of complete lines after `mark`, with the mark after them; raises OSError.

    An incomplete last line is left for the next time: it may still be being written.
    """
    place, tail, damaged = mark
    with open(file, "rb") as handle:
        handle.seek(place)
        while data := handle.read(MAX_LINE):
            end = data.rfind(b"\n") + 1
            if not end and len(data) < MAX_LINE:
                return
            data = data[: end or MAX_LINE]
            made: dict[str, list[tuple[Any, ...]]] = {}
            for line in data.removesuffix(b"\n").split(b"\n"):
                try:
                    table, rows = _rows(line)
                    made.setdefault(table, []).extend(rows)
                except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                    damaged += 1
            place, tail = place + len(data), (tail + data)[-TAIL_BYTES:]
            handle.seek(place)
            yield made, (place, tail, damaged)


def _rows(line: bytes) -> tuple[str, list[tuple[Any, ...]]]:
    """Return the table and rows for a line, no rows if it counts for nothing; a damaged line raises some error."""
    event = json.loads(line) if line.strip() else {"event": ""}
    what = event["event"]
    if what not in ("recall", "tombstone", "restored", *VERDICTS):
        return "used", []
    day = date.fromisoformat(event["day"]).toordinal()
    if what == "recall":
        return "used", [(signed(text), signed(event["query"]), day) for text in event["texts"]]
    at = datetime.fromisoformat(event["at"])
    if at.tzinfo is None or at.year > LAST_YEAR:
        raise ValueError("not a time that can be compared")
    moment = (at - _EPOCH) // timedelta(microseconds=1)
    if what not in VERDICTS:
        return "tombstone", [(signed(event["text"]), moment, day, what == "tombstone")]
    about, value, names = str(event["about"]), float(event["value"]), event["names"]
    if not (0 <= value <= 1 and all(isinstance(name, str) and len(name) <= MAX_NAME for name in names)):
        raise ValueError("not a share, or no names")
    return "verdict", [(what, about, name, value, moment, day) for name in names]


def later(now: datetime, at: int | None) -> datetime:
    """Return a time for an event that must come after the one at `at`, even if that device's clock was ahead."""
    return now if at is None else max(now, _EPOCH + timedelta(microseconds=at + 1))


def signed(text: Any) -> int:  # noqa: ANN401
    """Parse a hash written by `digits`; raises ValueError for anything else."""
    if not isinstance(text, str) or len(text) != 16:
        raise ValueError("not 16 hex digits")
    return int.from_bytes(bytes.fromhex(text), "big", signed=True)


_KEEP = {
    "used": (
        "INSERT INTO used VALUES(?, ?, ?) ON CONFLICT(passage, question) DO UPDATE SET day = excluded.day"
        " WHERE excluded.day < day"
    ),
    "tombstone": (
        "INSERT INTO tombstone VALUES(?, ?, ?, ?) ON CONFLICT(passage) DO UPDATE"
        " SET at = excluded.at, day = excluded.day, stands = excluded.stands"
        " WHERE (excluded.at, excluded.stands, excluded.day) > (at, stands, day)"
    ),
    "verdict": (
        "INSERT INTO verdict VALUES(?, ?, ?, ?, ?, ?) ON CONFLICT(what, about, name) DO UPDATE"
        " SET value = excluded.value, at = excluded.at, day = excluded.day"
        " WHERE (excluded.at, excluded.value) > (at, value)"
    ),
}
"""The upsert of each table: a question counts on the first day it was asked; of other events the latest counts."""


def is_behind(store: Store, root: Path) -> bool:
    """Return whether a journal file has changed size or vanished since it was read; costs a stat per file."""
    sizes: dict[str, int] = dict(store.rows("SELECT file, size FROM journal"))
    present = files(root)
    for name, file in present.items():
        size = 0
        with suppress(OSError):
            size = file.stat().st_size
        if size != sizes.get(name, 0):
            return True
    return bool(sizes.keys() - present.keys())


def read_new_lines(store: Store, root: Path, deadline: float = float("inf")) -> None:
    """Read new lines of the journals, or all of them anew if one vanished or was replaced. Inside a transaction.

    What remains at the `deadline` (time.monotonic) waits for the next time, as does an unreadable file.
    """
    present, run = files(root), store.connection.executemany
    marks: dict[str, Mark] = {
        name: (size, tail, damaged)
        for name, size, tail, damaged in store.rows("SELECT file, size, tail, damaged FROM journal")
    }
    if not all(name in present and _is_continued(present[name], *mark[:2]) for name, mark in marks.items()):
        store.connection.execute("DELETE FROM used; DELETE FROM tombstone; DELETE FROM verdict; DELETE FROM journal")
        marks = {}
    for name, file in sorted(present.items()):
        mark = marks.get(name, UNREAD)
        with suppress(OSError):
            for made, reached in read(file, mark):
                for table, new in made.items():
                    run(_KEEP[table], new)
                mark = reached
                if time.monotonic() > deadline:
                    break
        run("INSERT OR REPLACE INTO journal VALUES(?, ?, ?, ?)", [(name, *mark)])


def days_of_use(store: IndexConnection, keys: Iterable[tuple[int, int]], today: int) -> dict[int, tuple[int, ...]]:
    """Return passage id → its days of use up to `today`, ascending; `keys` yields (id, hash).

    Each question counts only on its first day, and each day counts once: neither a job that asks the same thing every
    morning nor an afternoon of many questions makes a memory important.
    """
    if store.one("SELECT 1 FROM used LIMIT 1") is None:  # then nothing needs to be hashed
        return {}
    sql = (
        "SELECT j.value ->> 0, min(u.day) FROM json_each(?) j JOIN used u ON u.passage = j.value ->> 1"
        " GROUP BY j.value ->> 0, u.question"
    )
    found: dict[int, set[int]] = {}
    for passage, day in store.rows(sql, json.dumps(list(keys))):
        if day <= today:
            found.setdefault(passage, set()).add(day)
    return {passage: tuple(sorted(days)) for passage, days in found.items()}


# --- what was forgotten ----------------------------------------------------------------------------------------------


def forgotten(store: IndexConnection) -> dict[int, date]:
    """Return the passages that were forgotten and not restored: `passage_key` of the text → day."""
    sql = "SELECT passage, day FROM tombstone WHERE stands"
    return {passage: date.fromordinal(day) for passage, day in store.rows(sql)}


def last_word(store: IndexConnection, key: int) -> Tombstone | None:
    """Return the latest event of a passage being forgotten or restored; None if there is none."""
    rows = store.rows("SELECT at, stands FROM tombstone WHERE passage = ?", key)
    return next((Tombstone(at, bool(stands)) for at, stands in rows), None)


def verdicts(store: IndexConnection, what: str) -> list[tuple[str, str, float, int]]:
    """Return (about, name, value, day as an ordinal) of one kind of `VERDICTS`, the latest for each about and name."""
    sql = "SELECT about, name, value, day FROM verdict WHERE what = ? ORDER BY about, name"
    return list(store.rows(sql, what))
