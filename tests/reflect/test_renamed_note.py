"""A note renamed in Obsidian, links and all: its page goes on under the new name, and no line becomes a person's."""

import shutil
from collections import Counter
from pathlib import Path

from reflecting import NORA, ODD, reflected, small_vault, texts
from sample import SAMPLE
from vaults import age, memory, put

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


def renamed_alone(root: Path, before: str, after: str) -> None:
    """Rename a page as `mv` does, and the heading in it as a person would; no link follows."""
    text = (root / before).read_text("utf-8")
    (root / before).unlink()
    put(root, after, text.replace("# Nora\n", "# The keeper\n\nMy own words.\n"))
    age(root / after, 60)


def test_a_page_renamed_where_no_link_followed_goes_on_under_its_new_name(tmp_path: Path) -> None:
    root = small_vault(tmp_path / "v")
    reflected(root)
    keeper, last = "bank/entities/The keeper.md", "bank/entities/Lamp lady.md"
    renamed_alone(root, NORA, keeper)
    put(root, "memory/2025-12-08.md", "## Retain\n- W @Nora: Has a new boat.\n")
    would = reflected(root, dry_run=True)
    done = reflected(root)
    for one in (would, done):
        assert (one.removed, one.exit_code, [notice.path for notice in one.notices]) == ((), 0, [keeper])
        assert one.notices[0].why.startswith(f"{NORA} was renamed to {keeper}")
    text = (root / keeper).read_text("utf-8")
    assert "My own words." in text and "Has a new boat" in text and "Keeps the lighthouse" in text
    assert "[[The keeper]]" in (root / ODD).read_text("utf-8") and not (root / NORA).exists()
    assert (reflected(root).edits, reflected(root).notices) == ((), ())
    assert memory(root).entity("Nora").row.page == keeper
    # Under either name, whatever becomes of the index, and renamed once more.
    for file in (root / ".memory").glob("index.sqlite*"):
        file.unlink()
    put(root, "memory/2025-12-09.md", "## Retain\n- W @[[The keeper]]: Sold the boat. @Odd bought it.\n")
    reflected(root)
    assert "Sold the boat" in (root / keeper).read_text("utf-8") and not (root / NORA).exists()
    renamed_alone(root, keeper, last)
    done = reflected(root)
    assert ([notice.path for notice in done.notices], done.removed) == ([last], ())
    assert all(words in (root / last).read_text("utf-8") for words in ("Has a new boat", "Sold the boat"))
    renamed_alone(root, last, NORA)
    assert reflected(root).removed == ()
    assert all(words in (root / NORA).read_text("utf-8") for words in ("Has a new boat", "Sold the boat"))
    assert reflected(root).edits == ()


def test_a_page_removed_is_not_taken_for_renamed_where_another_comes_from_a_backup(tmp_path: Path) -> None:
    root = small_vault(tmp_path / "v")
    reflected(root)
    text = (root / ODD).read_text("utf-8")
    assert "[[Nora]]" in text
    (root / ODD).unlink()
    reflected(root)
    put(root, ODD, text)
    (root / NORA).unlink()
    done = reflected(root)
    assert (done.removed, done.notices) == ((NORA,), ())


def test_a_page_that_was_moved_out_of_its_folder_is_kept_up_to_date_and_told_of(tmp_path: Path) -> None:
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
    assert [(notice.path, elsewhere in notice.why) for notice in done.notices] == [(elsewhere, True)]
    again = reflected(root)
    assert (again.edits, len(again.notices)) == ((), 1)
    put(root, elsewhere, "# Nora\n\nMy own page.\n")
    assert reflected(root).notices == ()
