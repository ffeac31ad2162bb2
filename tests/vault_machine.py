"""The machine that does to a vault and its index what people, programs and crashes do, in any order."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from vaults import command, memory, opened, put

from vault_memory.indexing.index_file import LOCK_SECONDS
from vault_memory.indexing.walk_diff import diff
from vault_memory.memory import Memory
from vault_memory.search.answer import Request
from vault_memory.store.content_digest import damage
from vault_memory.vault import locations

FOLDERS = ("memory", "bank/entities", "deep", "deep/er")
PATHS = ("a.md", "ÜB er.md", "memory/2025-11-27.md", "bank/entities/Nora.md", "deep/a.md", "deep/b.md", "deep/er/b.md")
LINES = (
    "# Heading", "## Retain", "- W @Nora: Lives in Gothenburg.", "- O(c=0.8) @[[Nora]]: Likes trains.",
    "- S(c=7): malformed",
    "- B(t=2025-11-06, scope=agent:x) @Tern: We sailed.", "See [[a]] and [[b#part|the other]]. #tag/one",
    "The heron stood by the weir.", "- 09:30 Rang [[Nora]] about the boat.", "- Ada: I moved to Lund yesterday.",
    "- Bo: I bought a canoe. Did you?",
    "---", "aliases: [N, Nanna]", "```", "%% hidden %%", "", "日本語の行", "caf\udce9",
)  # fmt: skip
QUESTIONS = ("where does Nora live?", "heron", "what happened on Nov 6?")

texts = st.lists(st.sampled_from(LINES), max_size=9).map(
    lambda lines: "\n".join(lines).encode("utf-8", "surrogateescape")
)
notes = st.sampled_from(PATHS)
ages = st.sampled_from([0.0, 0.0, 1.0, 3.0, 60.0])


class VaultMachine(RuleBasedStateMachine):
    """A vault that people and programs change while its index is used, restarted and killed."""

    def __init__(self) -> None:
        super().__init__()
        self.top = Path(tempfile.mkdtemp())
        self.root = self.top / "vault"
        put(self.root, "anchor.md", "A note that is never deleted: an emptied vault is another story.\n")
        self.mine = memory(self.root)

    def teardown(self) -> None:
        self.equals_a_fresh_build()
        shutil.rmtree(self.top)

    # --- what happens to notes ---------------------------------------------------------------------------------------

    @rule(note=notes, data=texts, age=ages)
    def save(self, note: str, data: bytes, age: float) -> None:
        put(self.root, note, data, age)

    @rule(note=notes, data=texts)
    def save_atomically(self, note: str, data: bytes) -> None:
        part = put(self.root, f"{note}.tmp123", data, 0)
        os.replace(part, self.root / note)

    @rule(note=notes, line=st.sampled_from(LINES))
    def append(self, note: str, line: str) -> None:
        if (self.root / note).exists():
            with open(self.root / note, "ab") as file:
                file.write(b"\n" + line.encode("utf-8", "surrogateescape"))

    @rule(note=notes, just_indexed=st.booleans())
    def edit_without_trace(self, note: str, just_indexed: bool) -> None:
        """Same size, and its time set back."""
        file = self.root / note
        data = file.read_bytes() if file.exists() else b""
        if not data:
            return
        if just_indexed:
            os.utime(file)
            self.mine.index()
        before = file.stat()
        file.write_bytes(bytes([*data[:-1], data[-1] ^ 1 if data[-1] not in b"\n\x0b" else data[-1]]))
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    @rule(note=notes, age=ages)
    def touch(self, note: str, age: float) -> None:
        if (self.root / note).exists():
            then = time.time_ns() - int(age * 1e9)
            os.utime(self.root / note, ns=(then, then))

    @rule(note=notes, to=notes)
    def rename(self, note: str, to: str) -> None:
        if (self.root / note).exists():
            (self.root / to).parent.mkdir(parents=True, exist_ok=True)
            os.replace(self.root / note, self.root / to)

    @rule(one=notes, other=notes)
    def swap(self, one: str, other: str) -> None:
        if one != other and (self.root / one).exists() and (self.root / other).exists():
            os.replace(self.root / one, self.root / "aside")
            os.replace(self.root / other, self.root / one)
            os.replace(self.root / "aside", self.root / other)

    @rule(note=notes, to=notes)
    def copy(self, note: str, to: str) -> None:
        if (self.root / note).exists() and note != to:
            (self.root / to).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self.root / note, self.root / to)

    @rule(folder=st.sampled_from(FOLDERS), to=st.sampled_from(["Archive", "deep/er/est", ".hidden"]))
    def move_folder(self, folder: str, to: str) -> None:
        if (self.root / folder).is_dir() and not (self.root / to).exists() and not to.startswith(f"{folder}/"):
            (self.root / to).parent.mkdir(parents=True, exist_ok=True)
            (self.root / folder).rename(self.root / to)

    @rule(note=notes)
    def delete(self, note: str) -> None:
        (self.root / note).unlink(missing_ok=True)

    @rule()
    def delete_folder(self) -> None:
        shutil.rmtree(self.root / "deep", ignore_errors=True)

    # --- what happens to the index -----------------------------------------------------------------------------------

    @rule()
    def index(self) -> None:
        assert self.mine.index().failed == []

    @rule(note=notes)
    def index_one(self, note: str) -> None:
        self.mine.index(paths=[str(self.root / note)])

    @rule()
    def rebuild(self) -> None:
        assert self.mine.index(rebuild=True).rebuilt == "asked for"

    @rule()
    def catch_up(self) -> None:
        with self.mine.index_file.reading() as (_, freshness):
            assert freshness.fresh

    @rule()
    def restart(self) -> None:
        self.mine = memory(self.root)

    @rule(done=st.integers(0, 4))
    def stop_midway(self, done: int) -> None:
        """A run that ends after a few notes, as one does whose time is up."""
        if self.mine.index_file.unusable():
            return

        def stop(count: int, total: int, passages: int) -> None:
            if count > done:
                raise KeyboardInterrupt

        with locations.writer_lock(self.mine.index_file.path, LOCK_SECONDS), opened(self.mine) as store:
            try:
                self.mine.index_file.indexer(store).update(self.mine.vault.walk(), stop)
            except KeyboardInterrupt:
                return

    @rule(delay=st.floats(0.1, 0.45), rebuild=st.booleans())
    def kill(self, delay: float, rebuild: bool) -> None:
        arguments = command(self.root, "index", *(["--rebuild"] if rebuild else []))
        process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()

    @rule(suffix=st.sampled_from(["", "-wal", "-shm"]))
    def delete_index(self, suffix: str) -> None:
        self.mine.index_file.path.with_name(self.mine.index_file.path.name + suffix).unlink(missing_ok=True)

    # --- what must hold ----------------------------------------------------------------------------------------------

    @rule()
    def equals_a_fresh_build(self) -> None:
        mine, fresh = self.mine.index_file.check()
        assert mine == fresh
        assert answers(self.mine) == self.fresh_answers()
        assert_rows_hang_together(self.mine)
        assert list(self.mine.index_file.path.parent.glob("index.sqlite.new-*")) == []

    def fresh_answers(self) -> list[list[str]]:
        """What an index built from nothing answers."""
        (self.top / "fresh.sqlite").unlink(missing_ok=True)
        return answers(memory(self.root, index_path=self.top / "fresh.sqlite"))

    @initialize(saved=st.dictionaries(notes, texts, min_size=2), indexed=st.booleans())
    def begin(self, saved: dict[str, bytes], indexed: bool) -> None:
        for note, data in saved.items():
            put(self.root, note, data)
        if indexed:
            self.mine.index()

    @invariant()
    def the_index_opens(self) -> None:
        if self.mine.index_file.path.exists():
            assert "damaged" not in self.mine.index_file.unusable()


def answers(of: Memory) -> list[list[str]]:
    """All that is found for some questions, in order."""
    now = datetime(2025, 12, 1, tzinfo=UTC)
    asked = [Request(query, now, None, None, all=True) for query in QUESTIONS]
    return [[f"{r.source} {r.kind} {r.tier} {r.content}" for r in a.results] for a in of.answers(asked, keep=False)]


def assert_rows_hang_together(of: Memory) -> None:
    """What the digest does not cover: no row without its owner, search finds exactly the lines there are."""
    with opened(of) as store:
        assert not damage(store)
        for table, key, owner in (
            ("fact", "passage_id", "passage"), ("inferred", "passage_id", "passage"),
            ("mention", "passage_id", "passage"),
            ("alias", "note_id", "note"), ("link", "note_id", "note"), ("tag", "note_id", "note"),
            ("problem", "note_id", "note"),
            ("passage", "note_id", "note"), ("passage_fts", "rowid", "passage"), ("note_fts", "rowid", "note"),
            ("embedding_code", "id", "embedding"),
        ):  # fmt: skip
            assert store.one(f"SELECT count(*) FROM {table} WHERE {key} NOT IN (SELECT id FROM {owner})") == 0, table
        assert store.one("SELECT count(*) FROM embedding") == store.one(
            "SELECT count(DISTINCT embedding_id) FROM passage"
        )
        for word in ("heron", "nora", "gothenburg", "hidden"):
            found = {row[0] for row in store.rows("SELECT rowid FROM passage_fts WHERE passage_fts MATCH ?", word)}
            assert found == {row[0] for row in store.rows("SELECT id FROM passage WHERE text LIKE ?", f"%{word}%")}
        spans = sorted(store.rows("SELECT first, first + count, count FROM note WHERE count > 0"))
        assert all(end <= start for (_, end, _), (start, _, _) in pairwise(spans))
        assert sum(count for _, _, count in spans) == store.one("SELECT count(*) FROM passage")
        rows, checked = store.notes(), int(store.meta("checked_ns") or 0)
    changes = diff(of.vault.walk(), rows, checked)
    assert (changes.new, changes.gone) == ([], [])
