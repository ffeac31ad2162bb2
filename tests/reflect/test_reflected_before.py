"""A vault that version 0.1 reflected, with edits by hand, refusals and history, is carried on as it was."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from reflecting import block, reflected, rewrite, texts
from vaults import memory, put

FIXTURE = Path(__file__).parent / "fixtures/reflected_by_0_1"
TOMAS, PETER, OPINIONS, PROPOSALS = (
    "bank/entities/Tomas Ek.md", "bank/entities/Peter Smith.md", "bank/opinions.md", "bank/proposals.md",
)  # fmt: skip
NEXT_DAY = "2025-12-15"

YOURS = {
    TOMAS: ["- Tomas made Maja a tugboat, and painted it red — [[2025-11-01]] L5", "- He still owes me a saw."],
    OPINIONS: [
        "- **.80** Reliable with dates, and gives the lines — [[2025-11-17]] L5",
        "  - but it cannot count beyond a page",
        "### Everything else, as I see it",
    ],
}
DELETED = {TOMAS: "The rot went 2.4 m further", OPINIONS: "The disk of tern-2 may be failing"}
REFUSED = ("left side", "rain barrel")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    found = Path(shutil.copytree(FIXTURE, tmp_path / "v"))
    (found / "dot-memory").rename(found / ".memory")
    for path, data in texts(found).items():
        put(found, path, data)  # saved a while ago
    return found


def page(root: Path, path: str) -> str:
    return (root / path).read_text("utf-8")


def kept(root: Path, path: str, lines: Sequence[str]) -> None:
    """These lines stand on the page, once each."""
    there = page(root, path).splitlines()
    assert [there.count(line) for line in lines] == [1] * len(lines), there


def test_the_old_index_is_rebuilt_once(root: Path) -> None:
    of = memory(root)
    found = [of.index() for _ in range(2)]
    assert [report.rebuilt for report in found] == ["it was made by another version or with other settings", ""]
    assert (found[0].added, found[1].changed) == (len(texts(root)), 0)


def test_no_edit_is_lost_and_nothing_refused_is_asked_again(root: Path) -> None:
    for _ in range(2):
        done = reflected(root, NEXT_DAY)
        assert done.skipped == () and done.orphaned == ()
        for path, lines in YOURS.items():
            kept(root, path, lines)
            assert DELETED[path] not in page(root, path)
        assert "Tomas made a wooden tugboat" not in page(root, TOMAS)
        assert "Good at dates" not in page(root, OPINIONS)
        assert not [words for words in REFUSED if words in page(root, PROPOSALS)]
    assert done.edits == ()


def test_edits_made_since_the_old_run_are_heard(root: Path) -> None:
    rewrite(root, PETER, "- Rings back within a minute", "- Mine: rings back within a minute")
    deleted = next(line for line in page(root, PETER).splitlines() if "Took the train to Copenhagen" in line)
    rewrite(root, PETER, f"{deleted}\n", "")
    rewrite(root, PETER, "### Now\n", "### Now\n\nSays he is fine.\n")
    rewrite(root, OPINIONS, "- **.90** With an intermittent fault", "- **.60** With an intermittent fault")
    rewrite(root, PROPOSALS, '- [ ] add: "[[Tomas Ek]]: Only takes cash', '- [-] add: "[[Tomas Ek]]: Only takes cash')
    for _ in range(2):
        done = reflected(root, NEXT_DAY)
        assert done.skipped == ()
        mine = [line for line in page(root, PETER).splitlines() if line.startswith("- Mine: rings back")]
        assert len(mine) == 1
        kept(root, PETER, ["Says he is fine."])
        assert "Took the train to Copenhagen" not in page(root, PETER)
        assert "**.60** With an intermittent fault" in page(root, OPINIONS)
        assert "Only takes cash" not in "".join(block((root / PROPOSALS).read_bytes(), "proposals"))
        for path, lines in YOURS.items():
            kept(root, path, lines)
    assert done.edits == ()


def test_the_old_runs_can_be_undone(root: Path) -> None:
    edited = {TOMAS, OPINIONS, PROPOSALS}
    for run in sorted((root / ".memory/history").glob("*-reflect"), reverse=True):
        lines = map(json.loads, (run / "run.jsonl").read_text("utf-8").splitlines())
        before = {line["path"]: line["before"] for line in lines if "path" in line}
        done = memory(root).undo(force=True)
        assert done.run == run.name
        for path, held in before.items():
            if path not in done.kept:
                now = (root / path).read_bytes() if (root / path).exists() else None
                assert now == ((run / held).read_bytes() if held else None)
        assert set(done.kept) == edited - set(done.paths)
    assert not (root / "bank/world.md").exists()
