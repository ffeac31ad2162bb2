"""`memory undo`, also as `memory reflect --undo`: what it would do, what it did, what it could not do, and
what it leaves to a person."""

import json
from pathlib import Path

import pytest
from reflecting import HAND_MADE, NORA, ODD, reflect, reflected, rewrite, small_vault, texts
from sample import call
from vaults import memory, obeying_permissions, opened, put, run

from vault_memory.health.doctor import lint
from vault_memory.store import journal
from vault_memory.vault.undo_history import UndoHistory
from vault_memory.vault.undo_record import UndoRecord
from vault_memory.write.edit import EditRequest

KALLO = "bank/entities/Kallö.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Pages as they were written."""
    made = small_vault(tmp_path / "v")
    reflected(made)
    return made


def actions(done: dict[str, object]) -> dict[str, str]:
    pages = done["pages"]
    assert isinstance(pages, list)
    return {one["path"]: one["action"] for one in pages}


# --- a dry run -------------------------------------------------------------------------------------------------------


def test_a_dry_run_says_what_would_be_put_back_and_deleted_and_does_nothing(root: Path) -> None:
    before = texts(root)
    would = reflect(root, "--undo", "--dry-run")
    assert (would["dry_run"], would["undone"], texts(root)) == (True, None, before)
    assert not UndoHistory(root).runs()[0].is_undone
    said = call("--vault", str(root), "reflect", "--undo", "--dry-run")
    assert (said.code, texts(root)) == (0, before)
    assert "nothing was written" in said.out and f"  - {NORA}" in said.out and f"  ~ {ODD}" in said.out
    done = reflect(root, "--undo")
    assert (done["dry_run"], done["undone"], done["run"]) == (False, would["run"], would["run"])
    assert actions(done) == actions(would)
    assert {actions(done)[NORA], actions(done)[ODD]} == {"deleted", "restored"}
    assert not (root / NORA).exists()


@pytest.mark.parametrize(
    "option", [("--since", "2025-11-01"), ("--now", "2025-12-01"), ("--only", "entities"), ("--apply-core",)]
)
def test_an_option_that_does_not_go_with_undo_is_an_error_and_nothing_is_undone(
    root: Path, option: tuple[str, ...]
) -> None:
    before = texts(root)
    said = call("--vault", str(root), "reflect", "--undo", *option)
    assert (said.code, "--undo takes --dry-run and --force alone: nothing was undone" in said.err) == (2, True)
    assert texts(root) == before


# --- which run -------------------------------------------------------------------------------------------------------


def test_the_last_thing_written_is_undone_whatever_wrote_it_and_then_the_one_before(tmp_path: Path) -> None:
    root = small_vault(tmp_path / "v")
    mine, stages = memory(root), [texts(root)]
    reflected(root)
    stages.append(texts(root))
    mine.edit(EditRequest("memory/2025-12-02.md", "append", "- W @Odd: Has four hives."))
    stages.append(texts(root))
    mine.forget(mine.plan_forget("memory/2025-11-20.md", 2, 2))
    UndoRecord.begin(root, "save").keep("memory/2025-11-20.md", b"theirs", (root / "memory/2025-11-20.md").read_bytes())
    for kind in ("forget", "edit", "reflect"):
        told = dict(json.loads(call("--vault", str(root), "undo", "--json").out))
        assert (told["kind"], texts(root)) == (kind, stages.pop())
    nothing = call("--vault", str(root), "undo")
    assert (nothing.code, "taken back already" in nothing.err) == (2, True)


def test_a_rescued_save_is_put_back_by_its_name(root: Path) -> None:
    UndoRecord.begin(root, "save").keep(NORA, b"theirs\n", (root / NORA).read_bytes())
    told = call("--vault", str(root), "undo", UndoHistory(root).runs("save")[0].name)
    assert (told.code, told.out.startswith("Undo of another program's save, ")) == (0, True)
    assert (root / NORA).read_bytes() == b"theirs\n"


# --- what was done is told -------------------------------------------------------------------------------------------


def test_one_that_fails_keeps_no_other_from_its_place_and_a_second_undo_goes_on(tmp_path: Path) -> None:
    root = small_vault(tmp_path / "v")
    before = texts(root)
    reflected(root)
    (root / ODD).chmod(0o444)
    said = run(root, "reflect", "--undo", first=obeying_permissions())
    assert (said.returncode, "Traceback" in said.stderr) == (1, False), said.stderr
    told = " ".join(said.stderr.split())
    assert f"Not put back: {ODD}" in told and NORA in told.partition("Not put back")[0] and "`memory undo 2" in told
    assert "nothing was changed" not in told
    assert not (root / NORA).exists()
    (root / ODD).chmod(0o644)
    done = reflect(root, "--undo")
    assert (actions(done), texts(root)) == ({ODD: "restored"}, before)
    assert call("--vault", str(root), "undo").code == 2


# --- an undo of what was forgotten -----------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["- W @Kallö: Got a new pier.", "- W @Kallö: Got a new pier\n  of oak. ^pier"])
def test_a_fact_that_is_put_back_is_not_forgotten_any_more(root: Path, line: str) -> None:
    note = put(root, "memory/2025-12-04.md", f"## Retain\n- W @Kallö: Got a new pier\n{line}\n")
    before, mine = note.read_bytes(), memory(root)
    done = mine.forget(mine.plan_forget("memory/2025-12-04.md", 3, 3))
    assert reflected(root).left_out.get("forgotten", 0) == 0
    said = call("--vault", str(root), "reflect", "--undo", done.run)
    assert (said.code, note.read_bytes()) == (0, before), said.err
    with opened(mine) as store:
        journal.read_new_lines(store, root)
        assert not journal.forgotten(store)
    assert lint(mine) == []
    assert any(b"new pier" in data for path, data in _after(root).items() if path == KALLO)


def _after(root: Path) -> dict[str, bytes]:
    reflected(root)
    return texts(root)


def test_an_undo_of_forget_that_is_refused_leaves_it_forgotten(root: Path) -> None:
    note = put(root, "memory/2025-12-04.md", "## Retain\n- W @Kallö: Got a new pier.\n- W @Kallö: Is quiet.\n")
    mine = memory(root)
    done = mine.forget(mine.plan_forget("memory/2025-12-04.md", 2, 2))
    put(root, "memory/2025-12-04.md", note.read_bytes() + b"mine\n")
    for arguments in (("--dry-run",), ()):
        assert call("--vault", str(root), "reflect", "--undo", done.run, *arguments).code == 5
    mine.index()
    with opened(mine) as store:
        journal.read_new_lines(store, root)
        assert len(journal.forgotten(store)) == 1


# --- how it ends -----------------------------------------------------------------------------------------------------

BROKEN = "\n<!-- memory:begin facts -->\n"


def test_a_conflict_ends_with_one_where_other_pages_were_written_and_with_five_where_none_was(root: Path) -> None:
    before = put(root, NORA, (root / NORA).read_text() + BROKEN).read_bytes()
    assert reflect(root, code=5)["pages"] == []
    put(root, "memory/2025-12-05.md", "## Retain\n- W @Odd: Bought a kite in Lund.\n")
    done = reflect(root, code=1)
    assert (actions(done)[ODD], [one["path"] for one in done["skipped"]]) == ("updated", [NORA])
    assert (root / NORA).read_bytes() == before


def test_with_force_all_is_put_back_but_what_was_changed_since(root: Path) -> None:
    rewrite(root, NORA, "## In the logs", "## In my logs")
    mine = (root / NORA).read_bytes()
    assert reflect(root, "--undo", code=5)["error"]["exit_code"] == 5
    would = reflect(root, "--undo", "--force", "--dry-run")
    assert would["kept"] == [NORA] and NORA not in actions(would)
    said = call("--vault", str(root), "reflect", "--undo", "--force")
    assert (said.code, f"  = {NORA}: changed since" in said.out) == (0, True)
    assert (root / NORA).read_bytes() == mine
    assert (root / ODD).read_bytes() == HAND_MADE[ODD] and not (root / KALLO).exists()
    assert call("--vault", str(root), "reflect", "--undo", "--force").code == 2, "nothing is left to undo"
