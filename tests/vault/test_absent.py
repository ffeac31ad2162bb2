"""Law 7, however an index comes about: an absent vault is not an empty one, and what cannot be seen is not gone."""

import json
import os
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sample import Said, call
from vaults import fill, index_digest, memory, obeying_permissions, paths, put, run

from vault_memory.errors import IndexUnusableError, VaultMemoryError
from vault_memory.indexing.walk_diff import LOSS_CAP
from vault_memory.store import journal
from vault_memory.vault.locations import writer_lock

NOTES = {"a.md": "The ferry to Kallö.\n", "sub/b.md": "The lighthouse keeper.\n", "sub/c.md": "A heron by the weir.\n"}


def called(root: Path, *arguments: str) -> Said:
    return call("--vault", str(root), *arguments)


@pytest.mark.parametrize("first", ["recall", "lint", "index one"])
@pytest.mark.parametrize("index", ["gone", "kept", "elsewhere"])
def test_a_vault_seen_once_is_remembered_whoever_looked(tmp_path: Path, first: str, index: str) -> None:
    root = fill(tmp_path / "vault", NOTES)
    if index == "elsewhere":
        (root / ".stfolder").mkdir()
    arguments = {"recall": ["recall", "ferry"], "index one": ["index", str(root / "a.md")]}.get(first, [first])
    assert called(root, *arguments).code in (0, 1)
    root.rename(tmp_path / "unmounted")
    root.mkdir()
    if index == "elsewhere":
        (root / ".stfolder").mkdir()
    elif index == "kept":
        shutil.copytree(tmp_path / "unmounted/.memory", root / ".memory")
    before = sorted(root.rglob("*"))
    for arguments in (["recall", "ferry"], ["index"], ["index", "--rebuild"]):
        ended = called(root, *arguments)
        assert (ended.code, "nothing was deleted" in ended.err) == (6, True), ended
    ended = called(root, "init")
    assert (ended.code, "nothing was created" in ended.err) == (6, True), ended
    if index != "kept":
        assert sorted(root.rglob("*")) == before  # it may be where a drive is mounted


@pytest.mark.parametrize("arguments", [["index"], ["recall", "ferry"]])
def test_a_rebuild_of_any_cause_forgets_no_folder_that_cannot_be_read(tmp_path: Path, arguments: list[str]) -> None:
    first = obeying_permissions()
    root = fill(tmp_path / "vault", NOTES)
    memory(root, daily_format="DD.MM.YYYY").index()
    os.chmod(root / "sub", 0)
    try:
        ended = run(root, *arguments, first=first)
        assert (ended.returncode, "sub cannot be read" in ended.stderr) == (6, True), ended
        assert paths(memory(root)) == set(NOTES)
    finally:
        os.chmod(root / "sub", 0o700)
    assert memory(root).index().rebuilt
    assert paths(memory(root)) == set(NOTES)


@pytest.mark.parametrize("index", ["as it was", "of another version", "damaged", "deleted"])
def test_most_notes_gone_are_a_loss_until_told_whatever_the_index_is(tmp_path: Path, index: str) -> None:
    root = fill(tmp_path / "vault", NOTES | {f"many/{n}.md": f"number {n}" for n in range(LOSS_CAP + 10)})
    mine = memory(root, daily_format="DD.MM.YYYY" if index == "of another version" else None)
    mine.index()
    before = index_digest(mine)
    (root / "many").rename(tmp_path / "unmounted")
    if index == "damaged":
        mine.index_file.path.write_bytes(b"garbage")
    elif index == "deleted":
        mine.index_file.path.unlink()
    for arguments in (["index"], ["recall", "number"]):
        ended = called(root, *arguments)
        said = f"{LOSS_CAP + 10} of {LOSS_CAP + 13} notes have vanished"
        assert (ended.code, said in ended.err) == (6, True), ended
    assert index in ("damaged", "deleted") or index_digest(mine) == before
    assert called(root, "index", "--rebuild").code == 0
    assert called(root, "index").code == 0
    assert paths(memory(root)) == set(NOTES)


@pytest.mark.parametrize("mode", [0o000, 0o600])
def test_an_answer_says_what_it_could_not_see(tmp_path: Path, mode: int) -> None:
    first = obeying_permissions()
    root = fill(tmp_path / "vault", NOTES)
    mine = memory(root)
    mine.index()
    stamp = (root / ".memory/index.sqlite.lock").stat().st_mtime_ns
    whole = json.loads(run(root, "--json", "recall", "lighthouse heron ferry").stdout)
    os.chmod(root / "sub", mode)
    try:
        answer = json.loads(run(root, "--json", "recall", "lighthouse heron ferry", first=first).stdout)
        text = run(root, "recall", "lighthouse heron ferry", first=first).stderr
    finally:
        os.chmod(root / "sub", 0o700)
    assert (answer["index"]["fresh"], answer["index"]["pending"]) == (False, 2)
    assert [entry["what"] for entry in answer["degraded"]] == ["files"]
    assert "sub" in answer["degraded"][0]["why"]
    assert (answer["omitted"]["unreadable"], answer["omitted"]["changed"]) == (2, 0)
    assert [result["path"] for result in answer["results"]] == ["a.md"]
    assert answer["tokens"] == sum(result["tokens"] for result in answer["results"]) < whole["tokens"]
    assert answer["tokens"] < answer["rendered_tokens"] < whole["rendered_tokens"]
    assert "2 in notes that cannot be read" in text
    assert "has changed since" not in text
    assert "cannot be read, so it was not searched" in text
    assert (root / ".memory/index.sqlite.lock").stat().st_mtime_ns == stamp


@pytest.mark.parametrize("arguments", [["entity", "Olga"], ["opinions"], ["lint"]])
def test_every_answer_from_the_index_says_how_fresh_it_is(tmp_path: Path, arguments: list[str]) -> None:
    root = fill(tmp_path / "vault", NOTES | {"d.md": "## Retain\n- O @Olga: Likes herons.\n"})
    mine = memory(root)
    mine.index()
    whole = json.loads(called(root, "--json", *arguments).out)
    assert (whole["index"], whole["degraded"]) == ({"fresh": True, "pending": 0, "generation": 1, "notes": 4}, [])
    put(root, "new.md", "## Retain\n- O @Olga: Likes boats.\n")
    with writer_lock(mine.index_file.path, 5):
        behind = json.loads(called(root, "--json", *arguments).out)
        said = called(root, *arguments).err
    assert behind["index"] == {"fresh": False, "pending": 1, "generation": 1, "notes": 4}
    assert "The index is 1 note behind" in said
    assert json.loads(called(root, "--json", *arguments).out)["index"]["notes"] == 5


def test_nothing_makes_the_folder_of_a_vault_that_is_gone(tmp_path: Path) -> None:
    root = tmp_path / "away"
    journal.note_recall(root, "anybody there?", datetime.now(UTC), [])
    with pytest.raises(IndexUnusableError), writer_lock(root / ".memory" / "index.sqlite", 0):
        pass
    assert not root.exists()


@pytest.mark.parametrize("rebuild", [False, True])
@pytest.mark.parametrize("mounted_on", [False, True])
def test_a_vault_that_goes_while_it_is_read_leaves_no_index_of_what_was_left(
    tmp_path: Path, rebuild: bool, mounted_on: bool
) -> None:
    root, away = fill(tmp_path / "vault", NOTES), tmp_path / "away"
    of = memory(root)
    if rebuild:
        of.index()

    def unmount(done: int, total: int, passages: int) -> None:
        if not away.exists():
            root.rename(away)
            if mounted_on:
                root.mkdir()

    with pytest.raises(VaultMemoryError):
        of.index(rebuild=True, progress=unmount)
    assert root.exists() is mounted_on and not list(tmp_path.glob("vault/*"))
    if mounted_on:
        root.rmdir()
    away.rename(root)
    of.index()
    assert paths(memory(root)) == set(NOTES)
