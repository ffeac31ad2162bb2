"""Looking at some paths only: the same as looking at everything, for what lies there."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vaults import fill, memory, obeying_permissions, put, run

from vault_memory.config import Config
from vault_memory.errors import RefusedError
from vault_memory.vault.vault import Vault
from vault_memory.vault.walk import Walk, Walker

NOTES = {
    "a.md": "a", "deep/b.md": "b", "deep/er/c.md": "c", "deep/er/d.txt": "no note", "Out/x.md": "x",
    ".trash/gone.md": "gone", "deep/.hidden/h.md": "h", "deep/e (conflicted copy 2025).md": "copy", "Ünder/ü.md": "u",
}  # fmt: skip
PATHS = [*NOTES, "", "deep", "deep/er", "Out", "nowhere.md", "deep/nowhere/n.md", "a.md/b.md", ".trash", "link.md"]


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    root = fill(tmp_path / "vault", NOTES)
    (root / "link.md").symlink_to(root / "deep/er/d.txt")
    (root / "linked").symlink_to(root / "deep")
    return Vault(Config(vault=root, ignore=("Out/*",)))


def is_at(path: str, places: list[str]) -> bool:
    return any(place in ("", path) or path.startswith(f"{place}/") for place in places)


@given(st.data())
def test_a_look_sees_what_a_walk_sees_there(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    root = tmp_path_factory.getbasetemp() / "looked-at"
    if not root.exists():
        fill(root, NOTES)
        (root / "link.md").symlink_to(root / "deep/er/d.txt")
    vault = Vault(Config(vault=root, ignore=("Out/*",)))
    at = data.draw(st.lists(st.sampled_from(PATHS), max_size=5))
    walk, look = vault.walk(), vault.walk_paths(at)
    assert look.files == {path: file for path, file in walk.files.items() if is_at(path, at)}
    assert look.covered is None or all(is_at(path, at) for path in look.covered)


def test_a_link_to_what_is_no_note_is_passed_over_in_silence(vault: Vault) -> None:
    (vault.root / "picture.png").symlink_to("deep/er/d.txt")
    walk = vault.walk()
    assert "picture.png" not in walk.files and "picture.png" not in {problem.path for problem in walk.skipped}


def test_a_walk_in_which_a_folder_moves_is_begun_again(tmp_path: Path) -> None:
    """To a place that was looked at already, for example: its notes would be taken for gone, or for unreadable."""
    root = fill(tmp_path / "vault", {"old/x.md": "x", "old/y.md": "y", "z.md": "z"})

    def leave_out(path: str) -> bool:
        if path == "old/":  # listed above, and not yet looked into
            (root / "old").rename(root / "new")
        return False

    found = Walker(root, leave_out).walk()
    assert found.files.keys() == {"new/x.md", "new/y.md", "z.md"}
    assert (found.unreadable, found.skipped) == ([], [])


def test_what_moves_to_where_a_walk_has_been_is_not_gone(tmp_path: Path) -> None:
    mine = memory(fill(tmp_path / "vault", {"p/old/x.md": "An otter.", "z.md": "z"}))
    mine.index()
    root, walked = mine.vault.root, []

    class Moving(Vault):
        def walk(self) -> Walk:
            found = super().walk()
            if not walked:  # as if it had been moved after the vault's own folder was listed, and before `p` was
                (root / "p/old").rename(root / "new")
                found.files.pop("p/old/x.md")
            walked.append(found)
            return found

    mine.index_file.vault = Moving(mine.config)
    report = mine.index()
    assert (report.moved, report.removed, len(walked)) == (1, 0, 2)
    assert mine.index().unchanged == 2


def test_names_that_differ_in_case_are_looked_at_together(vault: Vault) -> None:
    """On a file system that takes them for one, only the listing tells under which name the file is now."""
    put(vault.root, "A.MD", "another")
    assert vault.walk_paths(["a.md"]).covered == {"a.md", "A.MD"}
    os.replace(vault.root / "a.md", vault.root / "A.md")
    assert set(vault.walk_paths(["a.md"]).files) == {"A.MD", "A.md"}


def test_a_vault_that_is_gone_is_refused_whatever_is_looked_at(vault: Vault) -> None:
    vault.root.rename(vault.root.parent / "elsewhere")
    for path in ("a.md", "deep/b.md", "nowhere/n.md", ""):
        with pytest.raises(RefusedError):
            vault.walk_paths([path])


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of folders are a POSIX matter")
@pytest.mark.parametrize(("mode", "why"), [(0, "folder cannot be read"), (0o444, "cannot be looked at")])
def test_what_cannot_be_looked_at_is_not_gone(vault: Vault, mode: int, why: str) -> None:
    first = obeying_permissions()
    vault_file = vault.root / "deep/er/c.md"
    assert run(vault.root, "index").returncode == 0
    (vault.root / "deep/er").chmod(mode)
    try:
        said = run(vault.root, "index", str(vault_file), "--json", first=first)
        assert '"removed": 0' in said.stdout and why in said.stdout
    finally:
        (vault.root / "deep/er").chmod(0o755)
    assert vault_file.exists()
