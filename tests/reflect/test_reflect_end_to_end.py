"""`memory reflect` on a small vault: what it writes, what it leaves alone, and how it is taken back."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from reflecting import HAND_MADE, LOGS, NORA, NOW, ODD, block, entities, reflect, rewrite, small_vault, texts
from sample import call
from vaults import age, command, memory, put, run, snapshot

from vault_memory.reflect.run_log import RunLog

KALLO = "bank/entities/Kallö.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return small_vault(tmp_path / "v")


def test_the_first_run_writes_and_the_second_writes_nothing(root: Path) -> None:
    before = texts(root)
    done = reflect(root)
    assert entities(done) == {NORA: "created", ODD: "updated", KALLO: "created"}
    assert (root / ODD).read_bytes().startswith(before[ODD])
    assert (root / ODD).read_bytes().count(b"\r\n") == (root / ODD).read_bytes().count(b"\n")
    assert {path: data.decode() for path, data in texts(root).items() if path in LOGS} == LOGS
    files, history = snapshot(root), sorted(os.listdir(root / ".memory/history"))
    for now in (NOW, "2025-12-11"):
        again = reflect(root, "--now", now)
        assert (again["pages"], again["run"], again["skipped"]) == ([], None, [])
        assert again["unchanged"] == len(done["pages"])
        assert snapshot(root) == files
        assert sorted(os.listdir(root / ".memory/history")) == history


def test_a_persons_words_stay_byte_for_byte(root: Path) -> None:
    put(root, NORA, "# Nora\r\n\r\nMy own words.\r\n")
    before = texts(root)[NORA]
    reflect(root)
    put(root, "memory/2025-12-01.md", "## Retain\n- W @Nora: Has a new lamp.\n")
    reflect(root)
    after = texts(root)[NORA]
    assert after.startswith(before + b"\r\n<!-- memory:begin facts -->\r\n") and b"new lamp" in after


def test_a_fact_of_no_telling_words_stands_once(root: Path) -> None:
    for day in range(1, 5):
        put(root, f"memory/2025-12-0{day}.md", "## Retain\n- W @Nora: Is what it is.\n")
    reflect(root)
    assert texts(root)[NORA].decode().count("s what it is") == 1


# --- dry run ---------------------------------------------------------------------------------------------------------


def test_a_dry_run_writes_nothing_and_its_diff_is_what_the_run_writes(root: Path, tmp_path: Path) -> None:
    if not shutil.which("patch"):
        pytest.skip("there is no patch here")
    before = snapshot(root)
    dry = run(root, "reflect", "--now", NOW, "--dry-run")
    assert dry.returncode == 0, dry.stderr
    assert "nothing was written" in dry.stdout
    assert snapshot(root) == before
    assert not {"history", "journal", "tmp"} & set(os.listdir(root / ".memory"))
    copy = tmp_path / "copy"
    shutil.copytree(root, copy, ignore=shutil.ignore_patterns(".memory"))
    given = run_bytes(root, "reflect", "--now", NOW, "--dry-run")
    patch = subprocess.run(["patch", "-p1", "--fuzz=0"], cwd=copy, input=given, capture_output=True, check=False)
    assert patch.returncode == 0, patch.stdout
    reflect(root)
    assert texts(copy) == texts(root)


def run_bytes(root: Path, *arguments: str) -> bytes:
    """What a command prints, line ends as they are."""
    return subprocess.run(command(root, *arguments), capture_output=True, check=True).stdout


# --- undo ------------------------------------------------------------------------------------------------------------


def texts_after(root: Path) -> dict[str, bytes]:
    """What a run makes of a vault."""
    assert len(entities(reflect(root))) == 3
    return texts(root)


def test_undo_restores_every_byte_and_the_folders(tmp_path: Path) -> None:
    root = small_vault(tmp_path / "v")
    shutil.rmtree(root / "bank")
    before, folders = texts(root), sorted(str(p.relative_to(root)) for p in root.iterdir() if p.name != ".memory")
    made = texts_after(root)
    reflect(root, "--undo")
    assert texts(root) == before
    assert sorted(str(p.relative_to(root)) for p in root.iterdir() if p.name != ".memory") == folders
    assert texts_after(root) == made


def test_a_named_run_is_undone_and_an_unknown_one_is_an_error(root: Path) -> None:
    before, done = texts(root), reflect(root)
    for name in ("20251201T090000.000000Z-abc-reflect", "../../etc", "nonsense"):
        ended = call("--vault", str(root), "reflect", "--undo", name)
        assert (ended.code, name in ended.err) == (2, True)
    assert reflect(root, "--undo", done["run"])["undone"] == done["run"]
    assert texts(root) == before
    assert call("--vault", str(root), "reflect", "--undo", done["run"]).code == 2


# --- hand edits ------------------------------------------------------------------------------------------------------


def test_hand_edits_inside_and_outside_the_block_survive(root: Path) -> None:
    reflect(root)
    page = root / NORA
    rewrite(root, NORA, "# Nora\n", "# Nora\n\nMet her in Bergen.\n")
    rewrite(root, NORA, "- Sent the broken lamp back", "- Sent that awful lamp back")
    rewrite(root, NORA, "## In the logs\n", "## In the logs\n\nRead all of this before you call her.\n")
    put(root, NORA, page.read_bytes() + b"\nBelow the block.")
    assert entities(reflect(root)) == {NORA: "updated"}
    for round in range(3):
        text = page.read_text("utf-8")
        assert text.startswith(
            "---\naliases: []\ntags: []\n---\n# Nora\n\nMet her in Bergen.\n\n<!-- memory:begin facts -->"
        )
        assert text.endswith("-->\n\nBelow the block.")
        assert block(page.read_bytes())[:3] == ["## In the logs", "", "Read all of this before you call her."]
        assert (text.count("Sent that awful lamp back"), text.count("Sent the broken lamp back")) == (1, 0)
        if round:
            assert f"Counted {round} ships" in text
        files = snapshot(root)
        assert reflect(root)["pages"] == []
        assert snapshot(root) == files
        put(root, f"memory/2025-12-0{5 + round}.md", f"## Retain\n- W @Nora: Counted {round + 1} ships.\n")
        assert NORA in [one["path"] for one in reflect(root)["pages"]]


def test_a_block_that_was_deleted_is_made_anew(root: Path) -> None:
    reflect(root)
    written = (root / ODD).read_bytes()
    put(root, ODD, HAND_MADE[ODD])
    reflect(root)
    assert (root / ODD).read_bytes() == written


# --- one at a time ---------------------------------------------------------------------------------------------------


def test_the_second_of_two_at_once_is_told_to_wait(root: Path) -> None:
    before = texts(root)
    with RunLog(memory(root).vault.root).writing_pages():
        for arguments in (("--now", NOW), ("--undo",), ("--now", NOW, "--dry-run")):
            ended = call("--vault", str(root), "reflect", *arguments)
            assert (ended.code, "is writing the pages of this vault" in ended.err) == (75, True), ended.err
    assert texts(root) == before
    reflect(root)


def test_a_question_is_answered_from_the_logs_as_before(root: Path) -> None:
    def sources(question: str) -> list[str]:
        done = call("--vault", str(root), "recall", question, "--k", "3", "--json")
        return [f"{found['path']}#L{found['start_line']}" for found in json.loads(done.out)["results"]]

    questions = (
        "what does Nora like?",
        "who keeps the lighthouse?",
        "what happened to the lamp?",
        "who sails the ferry?",
    )
    before = [sources(question)[0] for question in questions]
    reflect(root)
    assert [sources(question)[0] for question in questions] == before
    assert all(source.startswith("memory/") for source in before)


def test_a_clock_set_back_empties_no_summary(root: Path) -> None:
    did = "".join(f"- B @Nora: Wrote letter {n} to the office about the lamp of pier {n}.\n" for n in range(9))
    put(root, "memory/2025-11-04.md", f"## Retain\n{did}")
    reflect(root)
    before = {path: data for path, data in texts(root).items() if path.startswith("bank/summaries/")}
    assert before
    reflect(root, "--now", "2025-11-04")
    assert {path: data for path, data in texts(root).items() if path.startswith("bank/summaries/")} == before


def test_what_was_forgotten_goes_from_above_a_remark_too(root: Path) -> None:
    reflect(root)
    entry = next(line for line in block((root / NORA).read_bytes()) if "coffee without milk" in line)
    rewrite(root, NORA, entry, f"{entry}\n  - my remark")
    call("--vault", str(root), "forget", "memory/2025-11-03.md#L6", "--yes")
    age(root / "memory/2025-11-03.md", 60)
    reflect(root)
    lines = block((root / NORA).read_bytes())
    assert "  - my remark" in lines and not any("coffee" in line for line in lines)
    reflect(root)
    assert block((root / NORA).read_bytes()) == lines
