"""A note renamed in Obsidian, links and all: its page goes on under the new name, and no line becomes a person's."""

import shutil
from collections import Counter
from pathlib import Path

from reflecting import NORA, reflected, small_vault, texts
from sample import SAMPLE
from vaults import age, memory, put

from vault_memory.rendering.reflect import reflect_text

OLD, NEW = "Tomas Ek", "Tomas the roofer"
DAY = "2025-12-03"


def renamed(root: Path) -> None:
    """Rename the page, and replace the links to it in every note, as Obsidian does."""
    (root / f"bank/entities/{OLD}.md").rename(root / f"bank/entities/{NEW}.md")
    for path, data in texts(root).items():
        found = data
        for end in ("]]", "|", "#"):
            found = found.replace(f"[[{OLD}{end}".encode(), f"[[{NEW}{end}".encode())
        if found != data:
            put(root, path, found)


def test_the_pages_go_on_as_before(tmp_path: Path) -> None:
    root = Path(shutil.copytree(SAMPLE, tmp_path / "v"))
    for file in root.rglob("*.md"):
        age(file, 60)
    reflected(root, DAY)
    renamed(root)
    done = reflected(root, DAY)
    assert (done.exit_code, done.orphaned, done.removed, done.skipped) == (0, (), (), ())
    assert f"bank/entities/{NEW}.md" in [edit.path for edit in done.edits]
    for path, data in texts(root).items():
        if path.startswith("bank/"):
            assert (b" yours=" in data, f"[[{OLD}".encode() in data) == (False, False), path
    for path in (f"bank/entities/{NEW}.md", "bank/experience.md", "bank/summaries/2025-11.md"):
        entries = Counter(line for line in (root / path).read_text("utf-8").splitlines() if line.startswith("- "))
        assert max(entries.values()) == 1
    assert reflected(root, DAY).edits == ()


def test_a_page_that_was_moved_out_of_its_folder_is_kept_up_to_date_where_it_is(tmp_path: Path) -> None:
    root = small_vault(tmp_path / "v")
    reflected(root)
    (root / "People").mkdir()
    elsewhere = "People/Nora.md"
    (root / NORA).rename(root / elsewhere)
    put(root, "memory/2025-12-08.md", "## Retain\n- W @Nora: Has a new boat.\n")
    asked = memory(root)
    asked.forget(asked.plan_forget("memory/2025-11-20.md", 2, 2))
    for path in texts(root):
        age(root / path, 60)
    done = reflected(root)
    text = (root / elsewhere).read_text("utf-8")
    assert "Has a new boat" in text and "arrived broken" not in text
    assert not (root / NORA).exists() and done.removed == ()
    assert reflected(root).edits == ()


def test_a_page_renamed_outside_obsidian_is_not_emptied(tmp_path: Path) -> None:
    root = Path(shutil.copytree(SAMPLE, tmp_path / "v"))
    reflected(root, DAY)
    page = root / "bank/entities/Farah Demir.md"
    before = (root / "bank/entities/Farah Nouri.md").rename(page).read_bytes()
    done = reflected(root, DAY)
    assert (done.exit_code, page.read_bytes()) == (6, before)
    assert "add its old name to its aliases" in reflect_text(done)
    page.write_bytes(before.replace(b"[Farah]", b"[Farah, Farah Nouri]", 1))
    assert reflected(root, DAY).exit_code == 0
    assert b"key is on the hook" in page.read_bytes()
