"""Names of notes that agents give: nothing leads out of the vault, however it is spelt, and real names pass."""

import os
from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.errors import VaultMemoryError
from vault_memory.vault.vault import inside

OUT = [
    "../secret.md", "..", "a/../../secret.md", "a/..", "/etc/passwd", "//server/share", "~/x.md", "~root/x.md",
    "C:/x.md", "c:x.md", "\\\\server\\share\\x.md", "..\\x.md", "a\\b.md", "a\0.md", "a.md\0.txt", "a\n.md",
    ".. /x.md", "a/... /x.md", "a/.../x.md", "", "  ", "x" * 1001,
]  # fmt: skip

IN = {
    "memory.md": "memory.md", "./memory.md": "memory.md", "memory//2025-11-27.md": "memory/2025-11-27.md",
    "100%.md": "100%.md", "50%25 done.md": "50%25 done.md", "a..b.md": "a..b.md", "...and more.md": "...and more.md",
    "Über uns/日記.md": "Über uns/日記.md", "what? really: yes.md": "what? really: yes.md", "a~b.md": "a~b.md",
    "%2e%2e.md": "%2e%2e.md", "notes/a b.md": "notes/a b.md",
}  # fmt: skip


@pytest.mark.parametrize("path", OUT)
def test_a_way_out_is_refused(path: str) -> None:
    with pytest.raises(VaultMemoryError) as error:
        inside(path)
    assert error.value.next_step
    assert "\0" not in str(error.value)


@pytest.mark.parametrize("path", IN)
def test_a_name_in_the_vault_passes(path: str) -> None:
    assert inside(path) == IN[path]


PARTS = st.sampled_from(["..", ".", "a", "/", "\\", "%2e", " ", "~", "C:", ".md", "\0"])


@given(st.one_of(st.text(), st.lists(PARTS, max_size=12).map("".join)))
def test_what_passes_stays_below_the_vault_on_every_system(path: str) -> None:
    try:
        found = inside(path)
    except VaultMemoryError:
        return
    assert os.path.normpath(f"/vault/{found}").startswith("/vault/") or found == ""
    windows = PureWindowsPath("D:\\vault") / found
    assert windows.drive == "D:" and ".." not in windows.parts
    assert ".." not in PurePosixPath(found).parts and "\\" not in found
