"""Every kind of event, on a real vault under a real watchdog: the index follows, without a look at everything.

The next look at everything would come after five minutes: what these tests wait for has to be told of.
"""

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from vaults import fill, index_digest, memory, opened, paths, put

from vault_memory.daemon import watch
from vault_memory.daemon.index_worker import IndexWorker
from vault_memory.daemon.settings import LiveSettings
from vault_memory.daemon.watch import ChangeQueue, Watcher
from vault_memory.memory import Memory
from vault_memory.search.relevance_gate import USUAL, load_threshold
from vault_memory.vault import locations

NOTES = {
    "anchor.md": "The anchor lies in the harbour.", "a.md": "alpha", "deep/b.md": "beta", "deep/er/c.md": "gamma",
    "Other/d.md": "delta",
}  # fmt: skip
PATIENCE_SECONDS = 30.0

# The program itself ignores this one, see watch.py; pytest has its own list of what is ignored.
pytestmark = pytest.mark.filterwarnings("ignore:Callback with id:RuntimeWarning")


class WatchedVault:
    """A vault whose index is kept in step."""

    def __init__(self, root: Path, after: Callable[[bool], None] = lambda changed: None, **settings: Any) -> None:
        self.root = root
        self.memory = memory(root, **settings)
        self.changes = ChangeQueue()
        self.watcher = Watcher(self.memory.vault.root, self.changes)
        live = LiveSettings(self.memory.config)
        self.worker = IndexWorker(live, self.changes, self.watcher, threading.Lock(), after)
        self.worker.start()
        assert self.worker.looked.wait(PATIENCE_SECONDS)
        self.until(lambda: self.changes.count == 0)

    def stop(self) -> None:
        assert self.worker.stop(PATIENCE_SECONDS)

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something holds; fails when it does not come."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            assert time.monotonic() < deadline, f"waited in vain: {sorted(paths(self.memory))}, {self.worker.trouble}"
            time.sleep(0.01)

    def has(self, path: str, word: str) -> bool:
        """Whether the index has that word in that note."""
        with opened(self.memory) as store:
            sql = "SELECT 1 FROM note n JOIN passage p ON p.note_id = n.id WHERE n.path = ? AND p.text LIKE ?"
            return store.one(sql, path, f"%{word}%") is not None

    def settles_as(self, expected: set[str]) -> None:
        """The index comes to know just these notes besides the anchor, as an index built anew would have them."""
        self.until(lambda: self.changes.count == 0 and paths(self.memory) == expected | {"anchor.md"})
        other = memory(self.root, index_path=self.root.parent / "fresh" / "index.sqlite")
        other.index(rebuild=True)
        assert index_digest(self.memory) == index_digest(other)


ALL = NOTES.keys() - {"anchor.md"}


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[WatchedVault]:
    found = WatchedVault(fill(tmp_path / "vault", NOTES))
    yield found
    found.stop()


def test_what_questions_would_wait_for_is_found_before_any(kept: WatchedVault) -> None:
    with opened(kept.memory) as store:
        assert load_threshold(store) != USUAL


# --- one note --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", [".a.md.tmp", "a.md.tmp123", "part", "vim"])
def test_a_save_by_temporary_file_or_by_way_of_a_backup(kept: WatchedVault, part: str) -> None:
    if part == "vim":  # after a file that only tries whether one can be made
        (kept.root / "4913").write_text("")
        (kept.root / "4913").unlink()
        (kept.root / "a.md").rename(kept.root / "a.md~")
        (kept.root / "a.md").write_text("heron")
        (kept.root / "a.md~").unlink()
    else:
        (kept.root / part).write_text("heron")
        (kept.root / part).replace(kept.root / "a.md")
    kept.until(lambda: kept.has("a.md", "heron"))
    kept.settles_as(set(ALL))


@pytest.mark.parametrize(
    "places", [["deep/renamed.md"], ["A.md"], [".trash/a.md", "a.md"]], ids=["name", "case", "trash and back"]
)
def test_a_rename(kept: WatchedVault, places: list[str]) -> None:
    (kept.root / ".trash").mkdir()
    before = "a.md"
    for place in places:
        (kept.root / before).rename(kept.root / place)
        kept.settles_as(ALL - {"a.md"} | ({place} if not place.startswith(".trash") else set()))
        before = place


def test_the_same_size_and_time_with_another_content(kept: WatchedVault) -> None:
    """Whatever the clock says: what was told of is read."""
    file = kept.root / "a.md"
    before = file.stat()
    file.write_text("omega")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    kept.until(lambda: kept.has("a.md", "omega"))


def test_a_new_attachment_is_found_and_what_is_written_into_it_wakes_nobody(kept: WatchedVault) -> None:
    (kept.root / "picture.png").write_bytes(b"")
    kept.until(lambda: kept.has("picture.png", "picture.png"))
    woke = kept.worker.last_sign
    (kept.root / ".obsidian").mkdir()
    (kept.root / ".obsidian/workspace.json").write_text("{}")
    (kept.root / "picture.png").write_bytes(b"png")
    (kept.root / "a.md").read_text()
    (kept.root / "b.md").write_text("a note, so that all events before it have come")
    kept.until(lambda: kept.has("b.md", "a note") and not kept.changes.count)
    batches = kept.worker.last_sign
    assert batches > woke
    time.sleep(0.3)
    assert (kept.worker.last_sign, kept.changes.count) == (batches, 0)


# --- folders ---------------------------------------------------------------------------------------------------------


def test_a_folder_renamed_and_saved_into(kept: WatchedVault) -> None:
    (kept.root / "deep").rename(kept.root / "Deeper")
    (kept.root / "Deeper/er/new.md").write_text("heron")
    expected = {"a.md", "Other/d.md", "Deeper/b.md", "Deeper/er/c.md", "Deeper/er/new.md"}
    kept.settles_as(expected)
    (kept.root / "Deeper/er/new.md").write_text("still told of under its new name")
    kept.until(lambda: kept.has("Deeper/er/new.md", "still told of"))


def test_a_folder_moved_out_and_in(kept: WatchedVault) -> None:
    (kept.root / "deep").rename(kept.root.parent / "outside")
    kept.settles_as({"a.md", "Other/d.md"})
    (kept.root.parent / "outside/new.md").write_text("heron")
    (kept.root.parent / "outside").rename(kept.root / "back")
    kept.settles_as({"a.md", "Other/d.md", "back/b.md", "back/er/c.md", "back/new.md"})
    (kept.root / "back/er/c.md").write_text("told of again")
    kept.until(lambda: kept.has("back/er/c.md", "told of again"))


# --- what cannot be told ---------------------------------------------------------------------------------------------


def test_what_changed_while_nobody_watched(tmp_path: Path) -> None:
    root = fill(tmp_path / "vault", NOTES)
    WatchedVault(root).stop()
    put(root, "a.md", "heron")
    (root / "deep/b.md").unlink()
    put(root, "new.md", "new")
    kept = WatchedVault(root)
    kept.settles_as(ALL - {"deep/b.md"} | {"new.md"})
    kept.stop()


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_vault_that_is_taken_away_loses_nothing_and_comes_back(kept: WatchedVault, is_replaced: bool) -> None:
    away = kept.root.parent / "away"
    index = kept.memory.index_file.path.relative_to(kept.root)
    kept.root.rename(away)
    if is_replaced:  # by another folder
        kept.root.mkdir()
        assert kept.watcher.is_stale()
    assert not kept.worker.knows_everything()
    kept.changes.add(["a.md"])  # as the first question does
    kept.until(lambda: kept.worker.trouble is not None)
    assert not is_replaced or "nothing was deleted" in (kept.worker.trouble.what if kept.worker.trouble else "")
    put(away, "a.md", "changed elsewhere")
    if is_replaced:
        shutil.rmtree(kept.root)
    away.rename(kept.root)
    assert (kept.root / index).exists()
    kept.until(lambda: kept.worker.knows_everything() and kept.has("a.md", "elsewhere"))
    (kept.root / "deep/b.md").write_text("told of again")
    kept.until(lambda: kept.has("deep/b.md", "told of again"))
    kept.settles_as(set(ALL))


def test_a_folder_that_is_exchanged_while_it_is_looked_at_is_watched_anew(tmp_path: Path) -> None:
    root, swaps = fill(tmp_path / "vault", NOTES), [tmp_path / "away"]

    def swap(changed: bool) -> None:
        if swaps:
            root.rename(swaps[0])
            shutil.copytree(swaps.pop(), root)

    vault = WatchedVault(root, after=swap)
    vault.until(vault.worker.knows_everything)
    vault.stop()
    assert not swaps


@pytest.mark.skipif(not Path(watch.WATCHES).exists(), reason="only inotify has a queue that overflows")
def test_a_lost_queue_of_events_is_followed_by_a_look_at_everything(kept: WatchedVault) -> None:
    observer = kept.watcher._observer
    assert observer is not None
    reader = observer._inotify_fd  # type: ignore[attr-defined]
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    with reader._lock:  # nobody reads the queue meanwhile
        assert not kept.watcher.wait_for_events(0.01)
        for n in range(most // 2 + 200):
            os.utime(kept.root / "a.md", (n, n))
            os.utime(kept.root / "Other/d.md", (n, n))
        (kept.root / "deep/b.md").write_text("heron")
        fill(kept.root, {"unheard/of.md": "weir"})
    kept.until(lambda: kept.has("deep/b.md", "heron") and kept.has("unheard/of.md", "weir"))
    assert kept.watcher.wait_for_events(PATIENCE_SECONDS)
    (kept.root / "unheard/of.md").write_text("told of from now on")
    kept.until(lambda: kept.has("unheard/of.md", "told of"))


def limited(root: Path, code: str, limit: str, value: int) -> str:
    """What a process prints that has a limit of inotify's lowered, in a user namespace of its own."""
    lowered = f'echo {value} > /proc/sys/user/{limit} && exec {sys.executable} -c "$0" "$@"'
    start = "import sys, time; sys.path[:0] = sys.argv[2:]; from pathlib import Path; from test_watch import *\n"
    command = ["unshare", "--user", "--map-root-user", "sh", "-c", lowered, start + code, str(root), *sys.path]
    said = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if said.returncode and ("unshare" in said.stderr or limit in said.stderr):
        pytest.skip(f"no namespace of its own: {said.stderr.strip()}")
    assert said.returncode == 0, said
    return said.stdout


@pytest.mark.skipif(not Path(watch.WATCHES).exists(), reason="only inotify has a limit of watches")
def test_at_the_limit_of_watches_it_polls_and_says_so_until_it_is_raised(tmp_path: Path) -> None:
    root = fill(tmp_path / "vault", {f"{n}/note.md": "note" for n in range(30)})
    code = """
kept = WatchedVault(Path(sys.argv[1]))
print(*kept.watcher.trouble)
for n in range(30):
    (kept.root / f"{n}/note.md").write_text("heron")
kept.until(lambda: all(kept.has(f"{n}/note.md", "heron") for n in range(30)))
shutil.rmtree(kept.root / "1")  # fewer folders: now the limit is enough for them
for n in range(10, 30):
    shutil.rmtree(kept.root / str(n))
kept.until(lambda: kept.watcher.trouble is None)
kept.stop()
"""
    said = limited(root, code, "max_inotify_watches", 15)
    assert re.match(r"only 15 of 3\d folders", said) and "max_user_watches" in said, said


@pytest.mark.parametrize(
    ("lines", "kinds"),
    [
        ("25 1 8:1 / / rw - ext4 /dev/sda1 rw", []),
        ("25 1 8:1 / / rw - ext4 /dev/sda1 rw\n30 25 0:40 / /v rw - nfs4 host:/v rw", ["nfs4"]),
        (
            "25 1 8:1 / / rw - ext4 /dev/sda1 rw\n30 25 0:40 / /v/Sh\\040are rw master:1 - fuse.sshfs x rw",
            ["fuse.sshfs"],
        ),
        ("25 1 8:1 / / rw - ext4 a rw\n30 25 0:40 / /v rw - virtiofs host rw\n31 25 0:41 / /v rw - ext4 b rw", []),
        ("25 1 8:1 / / rw - overlay overlay rw\n30 25 0:40 / /vault rw - 9p host rw", []),
    ],
)
def test_file_systems_that_tell_nothing_are_known_by_their_kind(tmp_path: Path, lines: str, kinds: list[str]) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(lines)
    assert [mount.kind for mount in locations.silent_mounts(Path("/v"), table)] == kinds


def test_a_watcher_whose_threads_have_ended_is_started_again(kept: WatchedVault) -> None:
    for thread in threading.enumerate():
        if type(thread).__module__.startswith("watchdog"):
            thread.stop()  # type: ignore[attr-defined]
            thread.join(PATIENCE_SECONDS)
    (kept.root / "a.md").write_text("unheard of")
    kept.changes.add_everything()
    kept.until(lambda: kept.has("a.md", "unheard of"))
    (kept.root / "a.md").write_text("told of again")
    kept.until(lambda: kept.has("a.md", "told of again"))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it is taken for granted")
@pytest.mark.parametrize("ours", [True, False])
def test_all_that_happened_is_heard_of_before_the_answer(tmp_path: Path, ours: bool) -> None:
    # An index elsewhere, as in a synced vault.
    kept = WatchedVault(fill(tmp_path / "vault", NOTES), **({} if ours else {"index_path": tmp_path / "index"}))
    assert (kept.root / ".memory").exists() == ours
    for n in range(4):
        (kept.root / f"Other/{n}.md").write_text("heron")
        assert kept.watcher.wait_for_events(PATIENCE_SECONDS)
        assert kept.changes.count
        kept.until(lambda: kept.changes.count == 0)
    (kept.root / "a.md").rename(kept.root.parent / "a.md")  # watchdog holds this back for half a second
    assert not kept.watcher.wait_for_events(0.05)
    assert kept.watcher.wait_for_events(PATIENCE_SECONDS)
    kept.until(lambda: "a.md" not in paths(kept.memory))
    kept.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it is taken for granted")
def test_a_mark_made_before_a_save_proves_nothing_of_it(tmp_path: Path) -> None:
    """A question that waited in vain leaves its mark under way; the next one asks of what was saved since."""

    class Behind(ChangeQueue):
        def add(self, found: Iterable[str]) -> None:
            time.sleep(0.1)
            super().add(found)

    changes = Behind()
    watcher = Watcher(fill(tmp_path / "vault", {".memory/x": ""}), changes)
    watcher.start()
    try:
        put(tmp_path / "vault", "a.md", "1", 0)
        assert not watcher.wait_for_events(0.05)
        put(tmp_path / "vault", "b.md", "2", 0)
        assert watcher.wait_for_events(PATIENCE_SECONDS)
        assert changes.count == 2
        put(tmp_path / "vault", "c.md", "3", 0)
        waiting = ThreadPoolExecutor(1)
        heard = waiting.submit(watcher.wait_for_events, PATIENCE_SECONDS)
        time.sleep(0.02)
        watcher.start()  # what is under way to who watched before never comes
        assert heard.result() is False
        waiting.shutdown()
    finally:
        watcher.stop()


# --- what goes wrong -------------------------------------------------------------------------------------------------


def test_another_process_that_writes_is_waited_for(kept: WatchedVault) -> None:
    with locations.writer_lock(kept.memory.index_file.path, 0):
        (kept.root / "a.md").write_text("heron")
        kept.until(lambda: kept.changes.count == 1)
        assert not kept.has("a.md", "heron")
    kept.until(lambda: kept.has("a.md", "heron"))


def test_a_stop_ends_a_run_between_two_notes(tmp_path: Path) -> None:
    root = fill(tmp_path / "vault", NOTES)
    mine = Memory(memory(root).config)
    mine.index()
    fill(root, {f"{n}.md": f"heron {n}\n" * 30 for n in range(250)})
    changes, kept = ChangeQueue(), memory(root)
    watcher = Watcher(kept.vault.root, changes)
    worker = IndexWorker(LiveSettings(kept.config), changes, watcher, threading.Lock())
    worker.start()
    while worker.progress[0] < 3:
        time.sleep(0.001)
    assert worker.stop(PATIENCE_SECONDS)
    assert len(NOTES) < len(paths(mine)) < 250
    mine.index()
    assert len(paths(mine)) == 250 + len(NOTES)
