"""Killed at any moment, or several at once: the index goes on serving, and the next run makes it whole."""

import json
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from vaults import fill, index_digest, memory, opened, put, run, start

from vault_memory.memory import Memory

WORDS = [
    "heron", "weir", "ferry", "harbour", "lighthouse", "keeper", "herring",
    "trains", "Gothenburg", "castle", "invoice", "night", "winter", "letter",
]  # fmt: skip


def notes(chance: random.Random, count: int, lines: int = 12) -> dict[str, str]:
    """Notes of random words, enough that a run over them takes a while."""
    found = {"anchor.md": "The anchor lies in the harbour of Kallö.\n"}
    for n in range(count):
        body = "\n".join(f"- {' '.join(chance.choices(WORDS, k=9))} {chance.random()}" for _ in range(lines))
        found[f"{n % 5}/note {n}.md"] = f"# Note {n}\n\n## Retain\n- W @Nora: {chance.choice(WORDS)} {n}.\n\n{body}\n"
    return found


def fresh_digest(root: Path) -> str:
    """The digest of an index built from nothing, elsewhere."""
    other = memory(root, index_path=root.parent / "fresh" / "index.sqlite")
    other.index(rebuild=True)
    return index_digest(other)


def assert_whole(mine: Memory) -> None:
    """Brought up to date, the index is sound, equal to a fresh one, and nothing lies beside it."""
    assert mine.index().failed == []
    with opened(mine) as store:
        assert store.one("PRAGMA integrity_check") == "ok"
        for table in ("passage_fts", "note_fts"):
            store.connection.execute(f"INSERT INTO {table}({table}) VALUES('integrity-check')")
    assert index_digest(mine) == fresh_digest(mine.vault.root)
    beside = {path.name for path in mine.index_file.path.parent.iterdir() if path.name.startswith("index.sqlite")}
    assert beside <= {"index.sqlite", "index.sqlite-wal", "index.sqlite-shm", "index.sqlite.lock"}


def recalled(root: Path) -> dict[str, object]:
    """What `memory recall` answers, as a process of its own."""
    ended = run(root, "recall", "anchor in the harbour of Kallö", "--json", "--no-journal")
    assert ended.returncode == 0, ended.stderr
    answer = json.loads(ended.stdout)
    assert answer["results"][0]["path"] == "anchor.md"
    return dict(answer)


def killed(process: "subprocess.Popen[str]", delay: float) -> bool:
    """Kill a process after a while; whether it was still at work."""
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


@pytest.mark.parametrize(
    ("rebuild", "turns"),
    [(False, 4), (True, 4), *(pytest.param(rebuild, 30, marks=pytest.mark.slow) for rebuild in (False, True))],
)
def test_killed_at_any_moment(tmp_path: Path, rebuild: bool, turns: int) -> None:
    chance = random.Random(11 + rebuild)
    root = fill(tmp_path / "vault", notes(chance, 60))
    mine = memory(root)
    mine.index()
    arguments = ("index", "--rebuild") if rebuild else ("index",)
    hits, longest = 0, 1.0
    for turn in range(turns):
        for file in chance.sample(sorted(root.glob("*/*.md")), 25):
            text = f"# Note {turn}\n" + "\n".join(chance.choices(WORDS, k=30))
            put(root, str(file.relative_to(root)), text, age_seconds=chance.choice([0, 60]))
        put(root, f"new {turn}.md", "new\n")
        (root / f"new {turn - 3}.md").unlink(missing_ok=True)
        here, there = ("3", "aside") if (root / "3").exists() else ("aside", "3")
        (root / here).rename(root / there)
        begun = time.monotonic()
        hit = killed(start(root, *arguments), chance.uniform(0.12, longest))
        longest = longest if hit else max(0.3, 0.8 * (time.monotonic() - begun))
        hits += hit
        with opened(mine) as store:
            assert store.one("PRAGMA integrity_check") == "ok"
        if turn % 5 == 0:
            recalled(root)
        if turn % 3 == 0:
            assert_whole(mine)
    assert hits >= turns // 4
    assert_whole(mine)


def test_a_rebuild_that_was_killed_leaves_the_old_index_serving(tmp_path: Path) -> None:
    chance = random.Random(6)
    root = fill(tmp_path / "vault", notes(chance, 100, lines=40))
    mine = memory(root)
    mine.index()
    before = index_digest(mine)
    process = start(root, "index", "--rebuild")
    deadline = time.monotonic() + 20
    while not list(mine.index_file.path.parent.glob("index.sqlite.new-*")) and time.monotonic() < deadline:
        time.sleep(0.005)
    assert killed(process, 0.05)
    assert list(mine.index_file.path.parent.glob("index.sqlite.new-*"))
    assert index_digest(mine) == before
    answer = recalled(root)
    assert answer["index"] == {"fresh": True, "pending": 0, "generation": 1, "notes": 101}
    assert_whole(mine)


@pytest.mark.parametrize(
    ("before", "commands"),
    [
        ("nothing", (["index"], ["index"])),
        ("an old index", (["index", "--rebuild"], ["index", "--rebuild"], ["index", "--check"], ["index"])),
    ],
)
def test_several_at_once(tmp_path: Path, commands: tuple[list[str], ...], before: str) -> None:
    chance = random.Random(3)
    root = fill(tmp_path / "vault", notes(chance, 60))
    mine = memory(root)
    if before != "nothing":
        mine.index()
        for n in range(0, 60, 2):
            put(root, f"{n % 5}/note {n}.md", f"changed {n}\n")
        (root / "3").rename(root / "three")
    processes = [start(root, *arguments) for arguments in commands]
    for process, arguments in zip(processes, commands, strict=True):
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (0, ""), arguments
    assert index_digest(mine) == fresh_digest(root)
    assert_whole(mine)


def test_recalls_during_rebuilds_neither_fail_nor_see_an_empty_index(tmp_path: Path) -> None:
    chance = random.Random(4)
    root = fill(tmp_path / "vault", notes(chance, 40))
    mine = memory(root)
    mine.index()
    batch = tmp_path / "questions.jsonl"
    batch.write_text('{"query": "anchor in the harbour of Kallö", "k": 1}\n' * 50)
    asking = start(root, "recall", "--batch", str(batch))
    rebuilding = [start(root, "index", "--rebuild")]
    generations = set()
    while rebuilding[-1].poll() is None or len(rebuilding) < 2:
        if rebuilding[-1].poll() is not None:
            rebuilding.append(start(root, "index", "--rebuild"))
        answer = recalled(root)
        index = answer["index"]
        assert isinstance(index, dict)
        assert (index["notes"], index["fresh"]) == (41, True)
        generations.add(index["generation"])
    for process in rebuilding:
        assert process.communicate()[1] == ""
        assert process.returncode == 0
    lines, errors = asking.communicate(timeout=60)
    answers = [json.loads(line) for line in lines.splitlines()]
    assert (asking.returncode, errors, len(answers)) == (0, "", 50)
    assert {answer["results"][0]["path"] for answer in answers} == {"anchor.md"}
    assert len(generations) > 1
    assert_whole(mine)
