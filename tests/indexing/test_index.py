"""The index: what a run finds changed, what it stores, what it survives, and what it must never delete or touch."""

import os
import shutil
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path

import apsw
import pytest
from interleaving import disturbed
from sample import call
from vaults import age, fill, index_digest, memory, obeying_permissions, opened, paths, put, run, snapshot

from vault_memory.config import Config
from vault_memory.errors import BusyError, RefusedError, UsageError
from vault_memory.federation import Federation
from vault_memory.health.doctor import doctor
from vault_memory.indexing.prepare_note import prepare
from vault_memory.indexing.walk_diff import LOSS_CAP, RACY_SECONDS, diff, refuse_loss
from vault_memory.memory import Memory
from vault_memory.search.answer import Request
from vault_memory.startup import vault_id
from vault_memory.store import schema
from vault_memory.store.view import NoteRow
from vault_memory.vault import locations
from vault_memory.vault.vault import Vault
from vault_memory.vault.walk import File, Walk
from vault_memory.write.note_writer import NoteWriter
from vault_memory.write.retain import Bullet

NOTES = {
    "a.md": "# Harbour\n\nThe ferry to Kallö leaves at seven.\n",
    "memory/2025-11-27.md": (
        "# Thursday\n\n## Retain\n- W @Nora: Lives in Gothenburg.\n- O(c=0.8) @Nora: Likes trains.\n"
    ),
    "deep/er/b.md": "See [[a]] and [[Nora|her]].\n\nThe lighthouse keeper retired.\n",
}


@pytest.fixture
def mine(tmp_path: Path) -> Federation:
    """A memory of NOTES with its index."""
    made = memory(fill(tmp_path, NOTES))
    made.index()
    return made


def answers(of: Memory, query: str) -> list[str]:
    """The paths a question is answered from."""
    asked = Request(query=query, now=datetime(2025, 12, 1, tzinfo=UTC), k=10)
    (answer,) = of.answers([asked], keep=False)
    return [result.path for result in answer.results]


# --- the diff --------------------------------------------------------------------------------------------------------

SECOND = 1_000_000_000
CHECKED = 1_000 * SECOND
RACY = int(RACY_SECONDS * SECOND)


@pytest.mark.parametrize(
    ("file", "row", "outcome"),
    [
        ((5, CHECKED - 9 * SECOND), None, "new"),
        ((5, CHECKED - 9 * SECOND), (5, CHECKED - 9 * SECOND), "same"),
        ((6, CHECKED - 9 * SECOND), (5, CHECKED - 9 * SECOND), "suspect"),
        ((5, CHECKED - 8 * SECOND), (5, CHECKED - 9 * SECOND), "suspect"),
        ((5, CHECKED - 9 * SECOND + 1), (5, CHECKED - 9 * SECOND), "suspect"),  # a nanosecond is a difference
        ((5, CHECKED - RACY), (5, CHECKED - RACY), "suspect"),
        ((5, CHECKED), (5, CHECKED), "suspect"),
        ((5, CHECKED + 3600 * SECOND), (5, CHECKED + 3600 * SECOND), "suspect"),  # a time in the future proves nothing
        (None, (5, CHECKED), "gone"),
    ],
)
def test_diff(file: tuple[int, int] | None, row: tuple[int, int] | None, outcome: str) -> None:
    walk = Walk({"n.md": File("n.md", *file)} if file else {})
    rows = {"n.md": NoteRow(1, b"hash", File("n.md", *row))} if row else {}
    changes = diff(walk, rows, CHECKED)
    found = {"new": changes.new, "suspect": changes.suspect, "gone": changes.gone}
    assert {name for name, paths in found.items() if paths} == ({outcome} - {"same"})


@pytest.mark.parametrize(
    ("before", "now", "lost", "refused"),
    [
        (0, 0, 0, False), (0, 5, 0, False), (1, 0, 1, True), (500, 0, 500, True), (5, 1, 4, False),
        (LOSS_CAP, 1, LOSS_CAP, False), (LOSS_CAP + 1, 1, LOSS_CAP + 1, True), (100, 50, 50, False),
        (100, 49, 51, True), (100, 100, 51, True),
    ],
)  # fmt: skip
def test_what_counts_as_a_loss(before: int, now: int, lost: int, refused: bool) -> None:
    if not refused:
        refuse_loss(before, now, lost)
        return
    with pytest.raises(RefusedError, match="nothing was deleted"):
        refuse_loss(before, now, lost)


# --- runs ------------------------------------------------------------------------------------------------------------


def test_a_first_run_then_nothing_to_do(tmp_path: Path) -> None:
    mine = memory(fill(tmp_path, NOTES))
    first = mine.index()
    assert (first.added, first.modified, first.removed, first.unchanged, first.facts) == (3, 0, 0, 0, 2)
    assert first.rebuilt == "there was none"
    assert first.passages == first.embedded + first.from_cache > 6
    again = mine.index()
    assert (again.changed, again.unchanged, again.passages, again.rebuilt) == (0, 3, 0, "")
    assert len(set(mine.index_file.check())) == 1


def test_the_hash_decides_not_the_time(tmp_path: Path, mine: Federation) -> None:
    for name in NOTES:
        age(tmp_path / name, 30)
    with opened(mine) as store:
        generation = store.generation
    touched = mine.index()
    assert (touched.changed, touched.passages, touched.unchanged) == (0, 0, 3)
    with opened(mine) as store:
        assert store.generation == generation
        times = {path: row.file.mtime_ns for path, row in store.notes().items()}
    assert times == {name: (tmp_path / name).stat().st_mtime_ns for name in NOTES}


@pytest.mark.parametrize(
    ("loss", "what"),
    [
        ("DELETE FROM passage_fts", "8 passages without words"),
        ("DELETE FROM note_fts WHERE rowid = 1", "1 note without words"),
        ("DELETE FROM embedding_code", "vectors without bit code"),
        ("DELETE FROM embedding", "passages without vector"),
        ("INSERT INTO passage_fts(rowid, body) VALUES(99, 'stray')", ""),
    ],
)
def test_an_index_that_lacks_what_is_searched_is_no_equal_of_a_fresh_build(
    tmp_path: Path, mine: Federation, loss: str, what: str
) -> None:
    with opened(mine) as store:
        store.connection.execute(loss)
    if what:
        check = next(check for check in doctor(mine) if check.name == "index")
        assert (check.level, what in check.message) == ("error", True), check
    assert len(set(mine.index_file.check())) == 2
    assert run(tmp_path, "index", "--check").returncode == 1
    doctor(mine, fix=True) if what else mine.index(rebuild=True)
    assert len(set(mine.index_file.check())) == 1
    assert "error" not in {check.level for check in doctor(mine)}


def test_an_edit_whose_time_was_set_back_is_found(tmp_path: Path, mine: Federation) -> None:
    time.sleep(0.02)  # a file system may count in hundredths of a second
    stamp = (tmp_path / "a.md").stat()
    (tmp_path / "a.md").write_text(NOTES["a.md"].replace("seven", "eight"))
    os.utime(tmp_path / "a.md", ns=(stamp.st_mtime_ns, stamp.st_mtime_ns))
    assert ((tmp_path / "a.md").stat().st_size, (tmp_path / "a.md").stat().st_mtime_ns) == (
        stamp.st_size, stamp.st_mtime_ns,
    )  # fmt: skip
    answer = next(iter(mine.answers([Request("When does the ferry leave?", datetime.now(UTC), k=1)])))
    assert "eight" in answer.results[0].content
    assert mine.index().changed == 0


@pytest.mark.parametrize("between", [False, True])
def test_an_edit_of_the_same_size_and_time_is_found(tmp_path: Path, between: bool) -> None:
    """Also when another note was indexed between."""
    mine = memory(fill(tmp_path, NOTES))
    saved = put(tmp_path, "young.md", "The password is swordfish.\n", age_seconds=0).stat()
    mine.index()
    put(tmp_path, "young.md", "The password is shellfish.\n", age_seconds=0)
    os.utime(tmp_path / "young.md", ns=(saved.st_atime_ns, saved.st_mtime_ns))
    if between:
        put(tmp_path, "a.md", "changed\n")
        mine.index(paths=[str(tmp_path / "a.md")])
    report = mine.index()
    assert (report.modified, report.unchanged) == (1, 3)
    assert answers(mine, "shellfish")[0] == "young.md"
    assert len(set(mine.index_file.check())) == 1


def test_a_moved_note_or_folder_keeps_its_embeddings(tmp_path: Path, mine: Federation) -> None:
    (tmp_path / "deep").rename(tmp_path / "Archive")
    (tmp_path / "a.md").rename(tmp_path / "port.md")
    report = mine.index()
    assert (report.moved, report.added, report.removed, report.modified, report.unchanged) == (2, 0, 0, 0, 1)
    assert report.embedded <= 1  # a passage that shows its note's name has another text now
    assert report.from_cache >= report.passages - 1
    assert answers(mine, "lighthouse keeper")[0] == "Archive/er/b.md"
    assert len(set(mine.index_file.check())) == 1


def test_a_run_can_be_limited_to_paths(tmp_path: Path, mine: Federation) -> None:
    put(tmp_path, "a.md", "changed\n")
    put(tmp_path, "deep/new.md", "new\n")
    put(tmp_path, "deep/er/b.md", "other\n")
    (tmp_path / "memory/2025-11-27.md").unlink()
    report = mine.index(paths=[str(tmp_path / "deep")])
    assert (report.added, report.modified, report.removed) == (1, 1, 0)
    assert paths(mine) == {"a.md", "memory/2025-11-27.md", "deep/er/b.md", "deep/new.md"}
    rest = mine.index()
    assert (rest.added, rest.modified, rest.removed) == (0, 1, 1)
    with pytest.raises(RefusedError, match="not inside the vault"):
        mine.index(paths=[str(tmp_path.parent / "elsewhere")])


# --- rows ------------------------------------------------------------------------------------------------------------

RICH = """---
title: Nora Ek
aliases: [Nora, NE]
tags: [person, friends/close]
scope: agent:home
created: 2025-11-02
link: "[[From properties]]"
---
#whole-note #second

Met through [[Tern|the project]], see [[Runbook#Steps]] and [text](other%20note.md#part). #inline/tag
```
[[not a link]] #no-tag
```
%% [[hidden]] #hidden %%
## Retain
- W(i=0.9) @[[Nora Ek]] @Tern: Runs the harbour office. ^nora-1
- O(c=0.4, scope=agent:x) @Nora: Prefers trains.
- B(t=2025-11-06/2025-11-10) @Nora: We sailed to Kallö.
- S(c=2, scope=user:y) @Nora: malformed, and private.
- O: Opinions have a default confidence.
"""


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"\xff\xfe\x00", b"---\n", b"\xef\xbb\xbf", b"\r", b"x" * 70_000, b"\x00\x01"]
)
def test_a_note_of_any_bytes_is_indexed(tmp_path: Path, data: bytes) -> None:
    mine = memory(fill(tmp_path, {"odd.md": data, "a.md": "x"}))
    assert mine.index().added == 2
    assert len(set(mine.index_file.check())) == 1
    assert (tmp_path / "odd.md").read_bytes() == data


def test_a_large_note_never_has_all_its_passages_in_memory(tmp_path: Path) -> None:
    data = b"".join(b"- Line %d is one of many, and a passage.\n" % n for n in range(10_000))
    vault = Vault(Config(vault=tmp_path))
    assert list(prepare(File("small.md", 9, 1, 1), b"- A line.", vault).passages)  # loads what counts tokens
    tracemalloc.start()
    try:
        ready = prepare(File("large.md", len(data), 1, 1), data, vault)
        tracemalloc.reset_peak()
        assert sum(1 for _ in ready.passages) == 10_000
        assert tracemalloc.get_traced_memory()[1] < 16 * len(data)  # 10 made one by one, 25 all at once
    finally:
        tracemalloc.stop()


# --- when the index cannot be used as it is --------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{"daily_folder": "Journal"}, {"daily_format": "DD.MM.YYYY"}])
def test_other_settings_make_another_index(tmp_path: Path, settings: dict[str, object]) -> None:
    memory(fill(tmp_path, NOTES)).index()
    other = memory(tmp_path, **settings)
    report = other.index()
    assert report.rebuilt == "it was made by another version or with other settings"
    assert report.added == 3
    assert other.index().rebuilt == ""
    assert memory(tmp_path).index().rebuilt


def _garbage(data: bytes) -> bytes:
    return b"not a database, but long enough to look like one\n" * 200


def _flipped(data: bytes) -> bytes:
    page = data[4096:8192]
    return data[:4096] + bytes(255 - byte for byte in page) + data[8192:]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "garbage": _garbage,
    "empty": lambda data: b"",
    "a few bytes": lambda data: data[:50],
    "zeros": lambda data: bytes(len(data)),
    "second page": _flipped,
    "every page but the first": lambda data: data[:4096] + bytes(255 - byte for byte in data[4096:]),
    "a format of the future": lambda data: data[:18] + b"\x09\x09" + data[20:],
}


@pytest.mark.parametrize(
    ("damage", "first"), [*((name, "index") for name in DAMAGES), ("garbage", "recall"), ("second page", "recall")]
)
def test_a_damaged_index_is_built_anew_and_that_is_said(
    tmp_path: Path, mine: Federation, damage: str, first: str
) -> None:
    before = index_digest(mine)
    mine.index_file.path.write_bytes(DAMAGES[damage](mine.index_file.path.read_bytes()))
    put(tmp_path, "new.md", "A heron stood by the weir.\n")
    if first == "index":
        report = mine.index()
        assert "damaged" in report.rebuilt or "not an index" in report.rebuilt
    else:
        assert answers(mine, "ferry to Kallö")[0] == "a.md"
    assert answers(mine, "heron weir")[0] == "new.md"
    (tmp_path / "new.md").unlink()
    mine.index()
    assert index_digest(mine) == before
    assert _sound(mine)
    assert [path.name for path in mine.index_file.path.parent.glob("index.sqlite.new-*")] == []


COMMANDS = (
    ["recall", "ferry"], ["entity", "Kallö"], ["entities"], ["lint"], ["status"], ["stats"], ["context"], ["doctor"],
    ["reflect", "--dry-run"], ["index", "--check"],
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_damaged_index_is_said_or_built_anew_by_every_command(tmp_path: Path, command: list[str]) -> None:
    path = memory(fill(tmp_path, NOTES)).index_file.path
    memory(tmp_path).index()
    whole = path.read_bytes()
    for page in range(1 + COMMANDS.index(command), len(whole) // 4096, 9):  # among them all they meet every page
        path.write_bytes(whole[: page * 4096] + bytes(4096) + whole[(page + 1) * 4096 :])
        said = call("--vault", str(tmp_path), *command)
        assert "Unexpected" not in said.err, page
        assert said.code == 0 or "Run `memory index" in said.out + said.err, (page, said)


@pytest.mark.parametrize("command", [*COMMANDS, ["index"], ["index", "--rebuild"]], ids=" ".join)
def test_a_folder_in_the_place_of_the_index_is_said_by_every_command(tmp_path: Path, command: list[str]) -> None:
    memory(fill(tmp_path, NOTES)).index_file.path.mkdir(parents=True)
    said = call("--vault", str(tmp_path), *command)
    assert said.code
    assert "cannot be used: it is a folder.\n" in said.out + said.err
    assert "Move that folder away, then run `memory index`." in said.out + said.err


def test_a_note_saved_during_a_check_is_no_fault_of_the_index(tmp_path: Path) -> None:
    mine = memory(fill(tmp_path, {**NOTES, "z.md": "Last.\n"}))
    mine.index()
    with pytest.raises(BusyError):
        mine.index_file.check(lambda done, total, passages: put(tmp_path, "z.md", f"Saved as number {done}.\n", 0))
    assert not list(tmp_path.glob(".memory/*.new-*"))


def _sound(of: Memory) -> bool:
    with opened(of) as store:
        for table in ("passage_fts", "note_fts"):
            store.connection.execute(f"INSERT INTO {table}({table}) VALUES('integrity-check')")
        return bool(store.one("PRAGMA integrity_check") == "ok")


def _poems(file: Path, in_log: bool = False) -> bytes:
    """A database of another program, all of it still in its write-ahead log on wish; returns the file's bytes."""
    file.parent.mkdir(parents=True, exist_ok=True)
    other = apsw.Connection(str(file))
    if in_log:
        other.execute("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0")
        other.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    other.execute("CREATE TABLE meta(key, something); CREATE TABLE poems(text); INSERT INTO poems VALUES('mine')")
    other.close()
    return file.read_bytes()


def _numbered(file: Path, data: bytes) -> bytes:
    return put(file.parent, file.name, data[:68] + b"GPKG" + data[72:]).read_bytes()


FOREIGN: dict[str, Callable[[Path], bytes]] = {
    "a database": _poems,
    "a database whose tables are in its log": lambda file: _poems(file, in_log=True),
    "a database with another program's number": lambda file: _numbered(file, _poems(file)),
    "no database": lambda file: put(file.parent, file.name, "my text file\n").read_bytes(),
    "nearly a database": lambda file: put(file.parent, file.name, b"SQLite format 3\0" + bytes(500)).read_bytes(),
}


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("what", FOREIGN)
def test_a_file_of_another_program_is_never_replaced(tmp_path: Path, what: str, named: bool) -> None:
    mine = memory(
        fill(tmp_path / "vault", NOTES), **({"index_path": tmp_path / "theirs" / "mine.sqlite"} if named else {})
    )
    before = FOREIGN[what](mine.index_file.path)
    if not named and not what.startswith("a database"):  # only this program puts files there: it is a damaged index
        assert "damaged" in mine.index().rebuilt
        return
    with pytest.raises(UsageError):
        mine.plan_forget("a.md", 99, 99, "")  # asks the index what it had there
    for use in (
        mine.index, lambda: mine.index(rebuild=True), lambda: answers(mine, "ferry"), mine.entities,
        mine.index_file.check,
        lambda: NoteWriter(mine.index_file).retain(Bullet("The boat was painted green."), date(2025, 11, 27)),
    ):  # fmt: skip
        with pytest.raises(RefusedError, match="not an index of this program"):
            use()
        assert mine.index_file.path.read_bytes() == before
    assert [check.level for check in doctor(mine, fix=True) if check.name == "index"] == ["error"]
    assert mine.index_file.path.read_bytes() == before
    assert "painted green" not in (mine.vault.root / "memory/2025-11-27.md").read_text()
    if what == "a database whose tables are in its log":
        with closing(apsw.Connection(str(mine.index_file.path))) as theirs:
            assert theirs.execute("SELECT text FROM poems").get == "mine"


@pytest.mark.parametrize("left", ["", "CREATE TABLE x(y); DROP TABLE x"])
def test_a_file_with_nothing_in_it_may_become_the_index(tmp_path: Path, left: str) -> None:
    mine = memory(fill(tmp_path / "vault", NOTES), index_path=tmp_path / "mine.sqlite")
    with closing(apsw.Connection(str(mine.index_file.path))) as other:
        other.execute(left)
    assert mine.index().added == 3


def test_only_its_own_unfinished_builds_are_swept(tmp_path: Path) -> None:
    mine = memory(fill(tmp_path / "vault", NOTES), index_path=tmp_path / "mine.sqlite")
    put(tmp_path, "mine.sqlite.new-chapter", "a user's own file")
    put(tmp_path, schema.new_name(mine.index_file.path).name, "left by a killed build")
    mine.index()
    assert sorted(file.name for file in tmp_path.glob("mine.sqlite.new-*")) == ["mine.sqlite.new-chapter"]


def test_logs_of_an_index_that_was_deleted_do_no_harm(tmp_path: Path, mine: Federation) -> None:
    with opened(mine) as store:
        store.set_meta("pages", "in the write-ahead log")
        shutil.copy(f"{mine.index_file.path}-wal", tmp_path / "kept")
    mine.index_file.path.unlink()
    shutil.copy(tmp_path / "kept", f"{mine.index_file.path}-wal")
    assert mine.index().rebuilt == "there was none"
    assert _sound(mine)
    assert len(set(mine.index_file.check())) == 1


def test_another_writer_makes_a_run_busy(tmp_path: Path, mine: Federation) -> None:
    put(tmp_path, "a.md", "changed\n")
    with opened(mine) as other:
        other.connection.execute("BEGIN IMMEDIATE")
        ended = run(tmp_path, "index")
        assert answers(mine, "lighthouse keeper")  # reading goes on meanwhile
        other.connection.execute("ROLLBACK")
    assert (ended.returncode, "Traceback" in ended.stderr) == (75, False)
    assert mine.index().modified == 1


FULL_DISK = (
    "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    "resource.setrlimit(resource.RLIMIT_FSIZE, (900000, 900000))"
)
MUCH = "".join(f"- the herring count of day {n} was {n * n}\n" for n in range(4000))


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits on a file's size")
def test_on_a_full_disk_the_index_answers_as_it_is_and_says_so(tmp_path: Path) -> None:
    memory(fill(tmp_path, NOTES)).index()
    put(tmp_path, "much.md", MUCH)
    ended = run(tmp_path, "recall", "lighthouse keeper", first=FULL_DISK)
    assert (ended.returncode, "Traceback" in ended.stderr) == (0, False), ended.stderr
    assert "The lighthouse keeper retired." in ended.stdout
    assert "The index cannot be updated: " in ended.stderr


NOTHING_LEFT = FULL_DISK.replace("900000", "0")


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits on a file's size")
@pytest.mark.parametrize("behind", [False, True])
def test_where_not_a_byte_is_left_an_index_that_was_closed_cleanly_answers(tmp_path: Path, behind: bool) -> None:
    memory(fill(tmp_path, NOTES)).index()
    if behind:
        put(tmp_path, "much.md", MUCH)
    for command in (["recall", "lighthouse keeper"], ["status"], ["entities"], ["lint"], ["context"], ["doctor"]):
        ended = run(tmp_path, *command, first=NOTHING_LEFT)
        assert (ended.returncode, "Unexpected" in ended.stderr) == (0, False), (command, ended.stdout + ended.stderr)
        if command[0] == "recall":
            assert "The lighthouse keeper retired." in ended.stdout
            assert ("The index cannot be updated: " in ended.stderr) == behind
    assert run(tmp_path, "index", first=NOTHING_LEFT).returncode == (4 if behind else 0)


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits on a file's size")
@pytest.mark.parametrize("option", [(), ("--rebuild",)])
def test_a_full_disk_leaves_the_old_index_serving(tmp_path: Path, mine: Federation, option: tuple[str, ...]) -> None:
    before = index_digest(mine)
    put(tmp_path, "much.md", MUCH)
    ended = run(tmp_path, "index", *option, first=FULL_DISK)
    assert (ended.returncode, "Traceback" in ended.stderr) == (4, False), ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 2
    assert index_digest(mine) == before
    assert _sound(mine)
    assert mine.index().added == 1
    assert [path.name for path in mine.index_file.path.parent.glob("index.sqlite.new-*")] == []


# --- an absent vault is not an empty vault ---------------------------------------------------------------------------


def test_a_vault_that_is_gone_is_said_and_nothing_made(tmp_path: Path) -> None:
    ended = run(tmp_path / "unmounted", "index")
    assert (ended.returncode, list(tmp_path.iterdir())) == (3, [])
    assert "cannot be read" in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        (("index",), "."), (("index",), "image.png"), (("index", "--rebuild"), "."), (("recall", "ferry"), "."),
        (("index", "--check"), "."),
    ],
)  # fmt: skip
def test_an_emptied_vault_deletes_nothing(tmp_path: Path, arguments: tuple[str, ...], left: str) -> None:
    root = fill(tmp_path / "vault", NOTES)
    mine = memory(root)
    mine.index()
    before = index_digest(mine)
    for name in ("a.md", "memory", "deep"):
        (root / name).rename(tmp_path / name)
    if left != ".":
        put(root, left, b"png")
    ended = run(root, *arguments)
    assert ended.returncode == 6
    assert "nothing was deleted" in ended.stderr
    assert index_digest(mine) == before
    for name in ("a.md", "memory", "deep"):
        (tmp_path / name).rename(root / name)
    assert mine.index().changed == 0


@pytest.mark.parametrize("mode", [0o000, 0o600])
def test_an_unreadable_folder_loses_no_note(tmp_path: Path, mode: int) -> None:
    first = obeying_permissions()
    root = fill(tmp_path / "vault", NOTES | {"locked/in/x.md": "The heron stood by the weir.\n", "locked/y.md": "y\n"})
    mine = memory(root)
    mine.index()
    before = index_digest(mine)
    os.chmod(root / "locked", mode)
    try:
        for arguments in (("index",), ("index", "--rebuild")):
            ended = run(root, *arguments, first=first)
            assert (ended.returncode, "Traceback" in ended.stderr) in {(1, False), (6, False)}, ended.stderr
            assert "locked" in ended.stdout + ended.stderr
            assert index_digest(mine) == before
        put(root, "a.md", "changed\n")
        assert run(root, "index", first=first).returncode == 1
        assert paths(mine) == {*NOTES, "locked/in/x.md", "locked/y.md"}
    finally:
        os.chmod(root / "locked", 0o700)
    assert mine.index().changed == 0
    assert len(set(mine.index_file.check())) == 1


def test_an_unreadable_vault_is_no_vault(tmp_path: Path) -> None:
    first = obeying_permissions()
    root = fill(tmp_path / "vault", NOTES)
    mine = memory(root)
    mine.index()
    before = index_digest(mine)
    os.chmod(root, 0)
    ended = run(root, "index", first=first)
    os.chmod(root, 0o700)
    assert (ended.returncode, "cannot be read" in ended.stderr, "Traceback" in ended.stderr) == (3, True, False)
    assert index_digest(mine) == before


# --- where the index lies --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("folder", "marker", "why"),
    [
        ("vault", None, "vault"),
        ("Dropbox (Nora Ek)/a/vault", None, "Dropbox (Nora Ek)"),
        ("OneDrive - Firm/vault", None, "OneDrive - Firm"),
        ("Library/Mobile Documents/iCloud~md~obsidian/Documents/vault", None, "iCloud~md~obsidian"),
        ("vault", "vault/.stfolder/", ".stfolder"),
        ("sync/vault", "sync/.stfolder/", "sync"),
        ("home/vault", "home/.dropbox/", "vault"),
    ],
)
def test_a_synced_vault_has_its_index_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, marker: str | None, why: str
) -> None:
    root = fill(tmp_path / folder, NOTES)
    if marker and marker.endswith("/"):
        (tmp_path / marker).mkdir()
    elif marker:
        put(tmp_path, marker, "x")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    found = locations.index_place(Config(vault=root), root)
    elsewhere = tmp_path / "data/vault-memory" / vault_id(root) / "index.sqlite"
    if why == "vault":
        assert found == (root / ".memory/index.sqlite", "vault")
        return
    assert (found[0], "synced" in found[1], len(vault_id(root))) == (elsewhere, True, 12)


@pytest.mark.parametrize("name", ["index.sqlite-wal", "index.sqlite-shm"])
def test_an_index_that_is_closed_meanwhile_lies_where_it_lay(tmp_path: Path, name: str) -> None:
    root, file = fill(tmp_path / "vault", NOTES), tmp_path / "vault/.memory" / name
    file.parent.mkdir()
    places: list[tuple[Path, str]] = []
    for step in range(1000):
        file.touch()
        if not disturbed(lambda: places.append(locations.index_place(Config(vault=root), root)), file.unlink, step):
            break
    assert set(places) == {(root / ".memory/index.sqlite", "vault")}


def test_an_index_elsewhere_leaves_nothing_in_the_vault(tmp_path: Path) -> None:
    root = fill(tmp_path / "Dropbox/vault", NOTES)
    mine = memory(root)
    assert (mine.index().added, answers(mine, "ferry to Kallö")[0]) == (3, "a.md")
    memory(root, index_path=tmp_path / "mine.sqlite").index()
    assert (tmp_path / "mine.sqlite").exists() and not (root / ".memory").exists()


def test_a_read_only_vault_is_indexed_in_the_data_folder(tmp_path: Path) -> None:
    first = obeying_permissions()
    root = fill(tmp_path / "vault", NOTES)
    for folder, _, _ in os.walk(root):
        os.chmod(folder, 0o500)
    before = snapshot(root)
    try:
        assert run(root, "index", first=first).returncode == 0
        ended = run(root, "recall", "ferry to Kallö", first=first)
        assert (ended.returncode, "a.md" in ended.stdout) == (0, True), ended.stderr
        for arguments in (("status",), ("doctor",)):
            assert run(root, *arguments, first=first).returncode == 0
        refused = run(root, "retain", "A fact.", first=first)
        assert refused.returncode not in (0, 1)
        assert "Traceback" not in refused.stderr
    finally:
        for folder, _, _ in os.walk(root):
            os.chmod(folder, 0o700)
    assert snapshot(root) == before
    assert not (root / ".memory").exists()


# --- a guest in the vault --------------------------------------------------------------------------------------------


def test_no_command_but_a_writer_changes_anything_in_the_vault(tmp_path: Path) -> None:
    odd = {"crlf.md": b"a\r\nb\r\n", "bom.md": b"\xef\xbb\xbfx", "latin.md": b"caf\xe9", "no-end.md": b"x", "0.md": b""}
    root = fill(tmp_path / "vault", NOTES | odd | {".obsidian/app.json": "{}", "Nora.md": RICH, "pic.png": b"\x89PNG"})
    os.chmod(root / "a.md", 0o444)
    before = snapshot(root)
    for arguments in (
        ("index",), ("index", "--rebuild"), ("index", "--check"), ("recall", "where does Nora live?"),
        ("recall", "--explain", "trains"),
        ("get", "a.md#L1"), ("get", "nope.md"), ("entity", "Nora"), ("entities",), ("opinions",), ("status",),
        ("doctor",),
        ("doctor", "--fix"), ("lint",), ("retain", "--dry-run", "x"), ("init", "--dry-run"),
        ("forget", "where does Nora live?"), ("forget", "--dry-run", "trains"),
    ):  # fmt: skip
        ended = call("--vault", str(root), *arguments)
        assert ended.code in (0, 1), (arguments, ended.err)
        assert snapshot(root) == before, arguments
    made = {path.name for path in (root / ".memory").iterdir()}
    index = {f"index.sqlite{suffix}" for suffix in ("", "-wal", "-shm", ".lock")}
    assert made <= index | {"journal", ".gitignore"}


# --- a recall and changes --------------------------------------------------------------------------------------------


def test_a_recall_catches_up_first(tmp_path: Path) -> None:
    mine = memory(fill(tmp_path, NOTES))
    assert answers(mine, "ferry to Kallö")[0] == "a.md"  # with no index at all
    put(tmp_path, "a.md", "The heron stood by the weir.\n")
    (tmp_path / "deep/er/b.md").unlink()
    assert answers(mine, "heron by the weir")[0] == "a.md"
    assert paths(mine) == {"a.md", "memory/2025-11-27.md"}
    assert len(set(mine.index_file.check())) == 1


def test_a_busy_writer_does_not_block_a_recall(tmp_path: Path, mine: Federation) -> None:
    put(tmp_path, "new.md", "The heron stood by the weir.\n")
    with locations.writer_lock(mine.index_file.path, 0):
        (answer,) = mine.answers([Request(query="ferry", now=datetime(2025, 12, 1, tzinfo=UTC))], keep=False)
    assert (answer.fresh, answer.pending, answer.results[0].path) == (False, 1, "a.md")
    assert answers(mine, "heron weir")[0] == "new.md"


def test_a_note_that_vanishes_while_it_is_indexed_is_no_failure(tmp_path: Path, mine: Federation) -> None:
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            for n in range(8):
                put(tmp_path, f"passing{n}.md", f"x{n}\n", age_seconds=0)
            for n in range(8):
                (tmp_path / f"passing{n}.md").unlink()

    worker = threading.Thread(target=churn)
    worker.start()
    try:
        reports = [memory(tmp_path).index() for _ in range(8)]
    finally:
        stop.set()
        worker.join()
    assert [problem for report in reports for problem in report.failed] == []
    mine.index()
    assert paths(mine) == set(NOTES)
    assert len(set(mine.index_file.check())) == 1


def test_retained_facts_are_in_an_index_of_any_state(tmp_path: Path) -> None:
    mine = memory(fill(tmp_path, NOTES))
    for state in ("none", "fresh", "stale", "damaged"):
        if state == "stale":
            put(tmp_path, "a.md", "changed\n")
        if state == "damaged":
            mine.index_file.path.write_bytes(b"garbage")
        for log in tmp_path.glob("memory/2025-11-28.md"):
            age(log, 60)  # else it is left to its editor for a moment
        NoteWriter(mine.index_file).retain(Bullet(f"The boat {state} was painted green."), date(2025, 11, 28))
        assert answers(mine, f"boat {state} painted green")[0] == "memory/2025-11-28.md"
    assert len(set(mine.index_file.check())) == 1
