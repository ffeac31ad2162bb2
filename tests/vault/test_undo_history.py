"""undo_history.py: what a run changed is put back byte for byte, or nothing is."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vaults import fill, memory, put, snapshot

from vault_memory.errors import ConflictError, RefusedError, UsageError, VaultError
from vault_memory.vault import undo_history
from vault_memory.vault.undo_history import UndoHistory
from vault_memory.vault.undo_record import UndoRecord
from vault_memory.vault.vault import Vault

HISTORY = ".memory/history"


def vault(root: Path) -> Vault:
    return memory(root).vault


def begun(root: Path) -> tuple[UndoHistory, Vault, UndoRecord]:
    """A vault's history, the vault, and a run that has begun."""
    history = UndoHistory(root)
    return history, vault(root), history.begin("reflect")


def change(of: Vault, run: UndoRecord, path: str, after: bytes, why: str = "") -> None:
    """Keep and write, as a writer does."""
    file = of.root / path
    before = file.read_bytes() if file.exists() else None
    run.keep(path, before, after, why)
    of.write(path, after, before)


def test_a_run_is_undone_byte_for_byte(tmp_path: Path) -> None:
    root = fill(tmp_path, {"a.md": b"\xef\xbb\xbfone\r\ntwo", "b.md": b"caf\xe9\n", "c.md": "untouched\n"})
    os.chmod(root / "a.md", 0o640)
    before = {path: (data, mode) for path, (data, mode, _) in snapshot(root).items()}
    history, of, run = begun(root)
    change(of, run, "a.md", b"changed", "two facts more")
    change(of, run, "b.md", b"")
    change(of, run, "bank/new.md", b"made\n")
    assert [(kept.path, kept.why) for kept in run.changes()] == [
        ("a.md", "two facts more"), ("b.md", ""), ("bank/new.md", ""),
    ]  # fmt: skip
    assert [(known.name, known.kind, known.is_undone) for known in history.runs()] == [(run.name, "reflect", False)]
    would = history.undoing(run, of)
    assert would.paths == ["a.md", "b.md", "bank/new.md"] and would.backs[2].text is None
    assert history.undo(run, of) == would
    assert {path: (data, mode) for path, (data, mode, _) in snapshot(root).items()} == before
    assert history.named(run.name).is_undone


# --- somebody else at the same notes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("edit", ["edited", "deleted", "new one edited"])
def test_what_was_changed_since_is_listed_and_nothing_is_undone(tmp_path: Path, edit: str) -> None:
    root = fill(tmp_path, {"a.md": "one\n", "b.md": "one\n"})
    history, of, run = begun(root)
    for path in ("a.md", "b.md", "new.md"):
        change(of, run, path, b"two\n")
    edited = "new.md" if edit == "new one edited" else "b.md"
    if edit == "deleted":
        (root / edited).unlink()
    else:
        put(root, edited, "mine\n")
    before = snapshot(root)
    with pytest.raises(ConflictError, match=edited) as error:
        history.undo(run, of)
    assert "a.md" not in str(error.value)
    assert snapshot(root) == before
    assert not run.is_undone


TEXTS = st.sampled_from([b"a", b"b", b"c", b"d"])


@settings(max_examples=25)
@given(st.lists(st.tuples(TEXTS, st.booleans()), min_size=1, max_size=6))
def test_any_chain_of_writes_goes_back_to_its_beginning(
    tmp_path_factory: pytest.TempPathFactory, writes: list[tuple[bytes, bool]]
) -> None:
    """Each write is kept and then made, or kept and never made (`False`): undo gives the first text, or has no work."""
    root = fill(tmp_path_factory.mktemp("vault"), {"a.md": b"start"})
    history, of, run = begun(root)
    for after, is_made in writes:
        before = (root / "a.md").read_bytes()
        run.keep("a.md", before, after)
        if is_made:
            of.write("a.md", after, before)
    moved = (root / "a.md").read_bytes() != b"start"
    if moved:
        history.undo(run, of)
    else:
        with pytest.raises(UsageError):
            history.undo(run, of)
    assert (root / "a.md").read_bytes() == b"start"


# --- killed half-way -------------------------------------------------------------------------------------------------


def test_a_line_that_was_cut_off_is_passed_over_and_one_in_the_middle_is_not(tmp_path: Path) -> None:
    root = fill(tmp_path, {"a.md": "one\n"})
    history, of, run = begun(root)
    change(of, run, "a.md", b"two\n")
    record = root / run.place / "run.jsonl"
    whole = record.read_bytes()
    record.write_bytes(whole + b'{"path":"b.md","bef')
    assert history.undo(run, of).paths == ["a.md"]
    assert run.is_undone
    put(root, "a.md", "two\n")
    for damage in (b"nonsense\n", b"[]\n", b'{"path":"x"}\n', b"[" * 9000 + b"\n"):
        record.write_bytes(damage + whole)
        with pytest.raises(VaultError, match="damaged in line 1"):
            history.undo(run, of)
    assert (root / "a.md").read_text() == "two\n"


@pytest.mark.parametrize("how", ["missing", "damaged"])
def test_a_pre_image_that_is_not_what_it_was_is_never_written(tmp_path: Path, how: str) -> None:
    root = fill(tmp_path, {"a.md": "one\n", "b.md": "uno\n"})
    history, of, run = begun(root)
    change(of, run, "a.md", b"two\n")
    change(of, run, "b.md", b"dos\n")
    kept = root / run.place / str(run.changes()[1].before)
    kept.unlink()
    if how == "damaged":
        kept.write_bytes(b"un")
    with pytest.raises(VaultError, match=r"b\.md"):
        history.undo(run, of)
    assert ((root / "a.md").read_text(), (root / "b.md").read_text()) == ("two\n", "dos\n")


# --- links and other people's runs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["../secret.md", "way/secret.md", "/etc/passwd", ".obsidian/app.json", ".memory/x"])
def test_a_run_that_names_files_elsewhere_touches_none(tmp_path: Path, path: str) -> None:
    root = fill(tmp_path / "vault", {"a.md": "one\n", ".obsidian/app.json": "two\n"})
    secret = put(tmp_path, "secret.md", "two\n")
    (root / "way").symlink_to(tmp_path)
    history = UndoHistory(root)
    run = history.begin("reflect")
    for before in (b"one\n", None):
        run.keep(path, before, b"two\n")
        with pytest.raises((RefusedError, ConflictError, UsageError, VaultError)):
            history.undo(run, vault(root))
    assert secret.read_text() == (root / ".obsidian/app.json").read_text() == "two\n"


def test_links_inside_a_run_lead_nowhere(tmp_path: Path) -> None:
    root = fill(tmp_path / "vault", {"a.md": "one\n"})
    history, of, run = begun(root)
    change(of, run, "a.md", b"two\n")
    secret = put(tmp_path, "secret.md", "one\n")
    kept = root / run.place / str(run.changes()[0].before)
    kept.unlink()
    kept.symlink_to(secret)
    with pytest.raises(VaultError):
        history.undo(run, of)
    elsewhere = root / HISTORY / run.name.replace("reflect", "other")
    elsewhere.symlink_to(tmp_path)
    assert [known.name for known in history.runs()] == [run.name]
    record = root / run.place / "run.jsonl"
    record.rename(tmp_path / "run.jsonl")
    record.symlink_to(tmp_path / "run.jsonl")
    with pytest.raises(VaultError):
        run.changes()


def test_folders_made_for_notes_go_with_them_and_others_stay(tmp_path: Path) -> None:
    root = fill(tmp_path / "vault", {"a.md": "one\n"})
    (tmp_path / "outside").mkdir()
    (root / "theirs").mkdir()
    (root / "way").symlink_to(tmp_path / "outside")
    history, of, run = begun(root)
    assert of.missing_folders("bank/entities/new.md") == ["bank", "bank/entities"]
    assert (of.missing_folders("new.md"), of.missing_folders("theirs/new.md")) == ([], [])
    for folder in ("bank", "bank/entities", "../outside", "way", ".memory/tmp", "gone"):
        run.note({"folder": folder}, folder)
    change(of, run, "bank/entities/new.md", b"x")
    assert [kept.path for kept in run.changes()] == ["bank/entities/new.md"]
    history.undo(run, of)
    assert (tmp_path / "outside").is_dir()
    assert {path.name for path in root.iterdir()} == {"a.md", "theirs", "way", ".memory"}
    assert (root / ".memory/tmp").is_dir()


# --- what is kept how long -------------------------------------------------------------------------------------------


def made(root: Path, days: float) -> str:
    """A run of that many days ago."""
    stamp = (datetime.now(UTC) - timedelta(days=days)).strftime("%Y%m%dT%H%M%S.%fZ")
    folder = root / HISTORY / f"{stamp}-abc-reflect"
    folder.mkdir(parents=True)
    line = {"path": "a.md", "before": None, "after": "0" * 64, "why": ""}
    (folder / "run.jsonl").write_text(json.dumps(line) + "\n")
    return folder.name


def test_old_runs_go_but_never_the_newest_twenty(tmp_path: Path) -> None:
    history = UndoHistory(tmp_path)
    old = [made(tmp_path, undo_history.KEPT_DAYS + 1 + n) for n in range(undo_history.KEPT_RUNS + 5)]
    theirs = tmp_path / HISTORY / "my own notes"
    theirs.mkdir()
    history.begin("reflect")
    assert [run.name for run in history.runs()] == old[: undo_history.KEPT_RUNS]
    young = [made(tmp_path, n) for n in range(undo_history.KEPT_RUNS + 5)]
    history.begin("reflect")
    assert [run.name for run in history.runs()] == young
    assert theirs.is_dir()
