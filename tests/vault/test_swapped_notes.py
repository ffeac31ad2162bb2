"""A note that is swapped for a link at any moment of its reading is never read outside the vault."""

import os
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from interleaving import disturbed
from vaults import fill

from vault_memory.config import Config
from vault_memory.errors import VaultMemoryError
from vault_memory.search.get import OpenScopes, read
from vault_memory.vault.vault import Vault


def link_note(root: Path) -> None:
    (root / "a/note.md").unlink()
    (root / "a/note.md").symlink_to(root.parent / "outside/note.md")


def link_folder(root: Path) -> None:
    os.rename(root / "a", root / "b")
    (root / "a").symlink_to(root.parent / "outside")


def link_hidden(root: Path) -> None:
    (root / "a/note.md").unlink()
    (root / "a/note.md").symlink_to(root / ".trash/note.md")


def remove(root: Path) -> None:
    (root / "a/note.md").unlink()


SWAPS = (link_note, link_folder, link_hidden, remove)


@pytest.mark.parametrize(("swap", "scopes"), [(link_note, ()), *((swap, ("global",)) for swap in SWAPS)])
def test_a_note_swapped_while_it_is_got(tmp_path: Path, swap: Callable[[Path], None], scopes: tuple[str, ...]) -> None:
    fill(tmp_path / "outside", {"note.md": "secret\n"})
    told = []

    def get() -> None:
        try:
            told.append(read(vault, "a/note.md", opened=OpenScopes(scopes)).text)
        except VaultMemoryError as error:
            told.append(str(error))

    for at in count():
        vault = Vault(Config(vault=fill(tmp_path / str(at), {"a/note.md": "mine\n", ".trash/note.md": "secret\n"})))
        if not disturbed(get, lambda root=vault.root: swap(root), at):  # type: ignore[misc]
            break
        assert "secret" not in told[-1], at
    assert "mine\n" in told[0] or "mine" in told[-1]


def test_a_note_swapped_for_a_pipe_ends_the_reading(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "note.md")
    with pytest.raises(OSError, match="not a regular file"):
        Vault(Config(vault=tmp_path)).read("note.md")
