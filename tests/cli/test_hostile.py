"""A vault may come from anywhere (law 8): nothing in it runs, and nothing outside it is written or read."""

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from sample import call
from vaults import fill

from vault_memory.indexing.indexer import WORKERS_FROM

# --- nothing in it runs ----------------------------------------------------------------------------------------------

MARK = "import os\nopen(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'RAN-' + __name__), 'w').close()\n"
SHADOWED = ("pickle", "json", "signal", "numpy", "tiktoken", "yaml", "sqlite_vec", "vault_memory")


@pytest.mark.parametrize("start", [["-P", "-c", "from vault_memory.cli import main; main()"], ["-m", "vault_memory"]])
def test_programs_in_a_vault_do_not_run_when_it_is_the_working_folder(tmp_path: Path, start: list[str]) -> None:
    named = SHADOWED if start[0] == "-P" else SHADOWED[:-1]  # -m itself looks for its package in the working folder
    root = fill(tmp_path / "vault", {f"{n}.md": f"Line of note {n}.\n" for n in range(WORKERS_FROM + 1)})
    fill(root, {f"{name}.py": MARK for name in named} | {".obsidian/app.json": "{}"})
    for arguments in (["index"], ["recall", "line of note 7"]):
        ended = subprocess.run(
            [sys.executable, *start, *arguments], cwd=root, capture_output=True, text=True, timeout=120, check=False
        )
        assert (ended.returncode, "Error" in ended.stderr) == (0, False), ended.stderr
    assert [path.name for path in root.glob("RAN-*")] == []
    assert not (root / "__pycache__").exists()


# --- nothing outside it is written -----------------------------------------------------------------------------------

NOTES = {"a.md": "Say hello to the lighthouse keeper.\n", "inside/b.md": "A note that a link leads to.\n",
         "c.md": "- One item.\n- Another.\n"}  # fmt: skip
DERIVED = (
    "index.sqlite", "index.sqlite-wal", "index.sqlite-shm", "index.sqlite-journal", "index.sqlite.lock", "retain.lock",
    "journal", "history", "tmp", ".gitignore", "",
)  # fmt: skip
COMMANDS = (
    ["recall", "hello"], ["index"], ["index", "--rebuild"], ["index", "--check"], ["doctor", "--fix"],
    ["retain", "A fact about the keeper.", "--date", "2025-11-01"], ["forget", "c.md#L1", "--yes"],
)  # fmt: skip


TARGETS = ("file", "database", "folder", "nothing", "note")


def outside(tmp_path: Path) -> dict[str, bytes | None]:
    """Every file and folder beside the vault, with its bytes."""
    return {str(path): path.read_bytes() if path.is_file() else None for path in (tmp_path / "elsewhere").rglob("*")}


@pytest.mark.parametrize("name", DERIVED)
def test_a_link_in_place_of_a_derived_file_is_never_followed(tmp_path: Path, name: str) -> None:
    for place, target in enumerate(TARGETS, DERIVED.index(name)):
        root = fill(tmp_path / target / "vault", NOTES)
        elsewhere = fill(root.parent / "elsewhere", {"file": "the user's own\n", "folder/x.txt": "x"})
        with closing(apsw.Connection(str(elsewhere / "database"))) as database:
            database.execute("CREATE TABLE poems(text); INSERT INTO poems VALUES('mine')")
        link = root / ".memory" / name
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(root / "inside/b.md" if target == "note" else elsewhere / target)
        before = outside(root.parent)
        for arguments in COMMANDS[place % 2 :: 2]:  # every command meets every name, and every target
            ended = call("--vault", str(root), *arguments)
            assert "Unexpected" not in ended.err
            assert outside(root.parent) == before, (target, arguments, ended.err)
            assert (root / "inside/b.md").read_text() == NOTES["inside/b.md"], (target, arguments, ended.err)
        ended = call("--vault", str(root), "recall", "hello lighthouse")
        if name or target != "note":
            assert (ended.code, "a.md" in ended.out) == (0, True), (target, ended.err)


@pytest.mark.parametrize("link", ["bank", "bank/entities", "memory", "memory.md", "bank/world.md", ".memory"])
@pytest.mark.parametrize("target", ["folder", "nothing"])
def test_init_makes_nothing_outside(tmp_path: Path, link: str, target: str) -> None:
    root = fill(tmp_path / "vault", NOTES)
    elsewhere = fill(tmp_path / "elsewhere", {"folder/x.txt": "x"})
    (root / link).parent.mkdir(exist_ok=True)
    (root / link).symlink_to(elsewhere / target)
    before, mine = outside(tmp_path), sorted(root.rglob("*"))
    ended = call("init", str(root))
    assert outside(tmp_path) == before
    if target == "nothing" or link in ("bank", ".memory"):  # else what is there already is left as it is
        assert (ended.code, "leads out of the vault" in ended.err) == (6, True), ended
        assert sorted(root.rglob("*")) == mine
