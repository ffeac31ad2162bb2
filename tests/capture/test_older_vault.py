"""A vault of an earlier release opens: nothing is lost, nothing answered is asked again (see fixtures/README.md)."""

import hashlib
import json
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sample import Said, at_home, call
from vaults import age

from vault_memory.startup import vault_id

pytestmark = pytest.mark.usefixtures("no_editor")

ARCHIVE = Path(__file__).parent / "fixtures" / "vault-54183c5.tar.xz"
BEGIN = b"<!-- memory:begin"
OLD_ID = "33abb1f96c51"
PAGE = "bank/proposals.md"
OPEN = {"3ae5d170", "d8f0478c", "6fa15015", "b531a19c", "175a1963", "e13e55c2"}
TAKEN_BACK = "3ae5d170"
"""Ticked, but its run was undone; the tick is on the page again."""
HELD = {"a32de33b", "dd14763e", "31716c1c", "ff2d60ca"}
ANSWERED = {
    "accepted at once": "The spare key of the shed hangs behind the boiler",
    "accepted": "I'm allergic to walnuts",
    "refused": "We use tabs in the label templates",
    "deleted": "We never call bare pytest here",
    "forgotten": "Releases always go out on Thursdays",
}


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Path]:
    """A copy of the home folder, in which the vault has another path and so another id."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    for file in [*tmp_path.rglob(f"*{OLD_ID}*")]:
        file.rename(file.with_name(file.name.replace(OLD_ID, vault_id(tmp_path / "Notes"))))
    for file in (tmp_path / "Notes").rglob("*.md"):
        age(file, 60)
    with at_home(tmp_path):
        yield tmp_path / "Notes"


def run(vault: Path, *arguments: str) -> Said:
    done = call("--vault", str(vault), *arguments)
    assert done.code == 0, done
    return done


def names(vault: Path, *more: str) -> set[str]:
    """The ids of the proposals that are open or, with `--held`, held back."""
    return {one["id"] for one in json.loads(run(vault, "proposals", *more, "--json").out)["proposals"]}


def notes(vault: Path) -> dict[str, bytes]:
    files = (file for file in vault.rglob("*.md") if ".memory" not in file.parts)
    return {file.relative_to(vault).as_posix(): file.read_bytes() for file in files}


def own_text(data: bytes) -> bytes:
    """A note without its managed blocks, before which a command may put a line break."""
    return data if BEGIN not in data else re.sub(rb"\n*" + BEGIN + rb"[\s\S]*?<!-- memory:end .*\n?", b"", data)


def tick(vault: Path, name: str) -> None:
    page = vault / PAGE
    lines = page.read_text().split("\n")
    (at,) = [at for at, line in enumerate(lines) if line.endswith(f"^p-{name}")]
    lines[at] = lines[at].replace("- [ ]", "- [x]")
    page.write_text("\n".join(lines))
    age(page, 60)


def test_every_command_works_and_no_byte_of_the_user_is_lost(vault: Path) -> None:
    before = notes(vault)
    assert "3 from claude-code" in run(vault, "status").out
    run(vault, "index")
    assert "Runs the paper mill at Lower Tarn" in run(vault, "recall", "Who runs the paper mill?").out
    assert notes(vault) == before
    run(vault, "capture")
    run(vault, "capture", "--since", "2000-01-01")
    run(vault, "reflect")
    after = notes(vault)
    assert {path: own_text(after[path]) for path in before} == {path: own_text(data) for path, data in before.items()}
    heron, opinions, page = (after[path].decode() for path in ("bank/entities/Heron.md", "bank/opinions.md", PAGE))
    assert "- Heron prints its labels on the old thermal printer in the attic — [[2026-09-03]]" in heron
    assert "\n- I still want a backup on paper.\n" in heron
    assert "- **.30** The label printer will not last another winter" in opinions
    assert "Mara owns the billing module and its tests. — sessions/claude-code/a1b2#m7 ^p-e13e55c2" in page
    assert "Taught Pim to pare leather" not in after["bank/entities/Pim.md"].decode()


def test_open_proposals_stay_open_and_held_ones_are_listed(vault: Path) -> None:
    assert names(vault) == OPEN - {TAKEN_BACK}
    assert names(vault, "--held") == HELD
    run(vault, "capture")
    assert names(vault) >= OPEN
    assert names(vault) | names(vault, "--held") == OPEN | HELD


@pytest.mark.parametrize("options", [(), ("--since", "2000-01-01")])
def test_nothing_that_was_answered_is_proposed_or_written_again(vault: Path, options: tuple[str, ...]) -> None:
    logs = {path: own_text(data) for path, data in notes(vault).items() if path.startswith("memory/")}
    said = run(vault, "capture", *options, "--json").out
    offered = run(vault, "proposals").out + run(vault, "proposals", "--held").out
    assert [how for how, text in ANSWERED.items() if text.lower() in offered.lower()] == []
    if options:  # everything was read again, and these were found
        assert [how for how, text in ANSWERED.items() if text[4:] not in said] == []
    assert {path: own_text(data) for path, data in notes(vault).items() if path in logs} == logs


def test_a_tick_writes_the_fact_with_its_day_and_citation(vault: Path) -> None:
    tick(vault, "e13e55c2")
    tick(vault, "b531a19c")
    run(vault, "capture")
    scoped = "- W(scope=project:heron): Mara owns the billing module and its tests. — sessions/claude-code/a1b2#m7\n"
    assert scoped in (vault / "memory/2026-10-12.md").read_text()
    assert (
        "We always invoice in kroner. — sessions/claude-code/c3d4#m5\n" in (vault / "memory/2026-10-14.md").read_text()
    )
    assert names(vault).isdisjoint({"e13e55c2", "b531a19c"})


def test_a_tick_that_an_undo_put_back_waits_for_a_new_one(vault: Path) -> None:
    assert "waits for a new tick" in run(vault, "capture").out
    log = vault / "memory/2026-10-14.md"
    assert "I always write my notes in English" not in log.read_text()
    tick(vault, TAKEN_BACK)
    run(vault, "capture")
    assert "I always write my notes in English. — sessions/claude-code/c3d4#m13" in log.read_text()


@pytest.mark.parametrize("at", [1, 4])  # a reflect, a forget
def test_an_older_run_is_undone_byte_for_byte(vault: Path, at: int) -> None:
    folder = sorted((vault / ".memory/history").glob("*Z-*"))[at]
    run(vault, "reflect", "--undo", folder.name)
    changes = [json.loads(line) for line in reversed((folder / "run.jsonl").read_text().splitlines())]
    kept = {change["path"]: change["before"] for change in changes if "path" in change}
    assert kept
    assert {path: hashlib.sha256((vault / path).read_bytes()).hexdigest() for path in kept} == kept
