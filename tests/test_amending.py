"""Exact edits of a core file: nothing but what is named changes, and what cannot be done changes nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.amending import Amendment, amended, check
from vault_memory.errors import ConflictError, UsageError, VaultMemoryError

NOTE = b"# Memory\n\n- Likes trains.\n- Lives in Lisbon.\n"


def edit(before: bytes | None, action: str, text: str, old: str = "") -> bytes:
    wanted = Amendment("memory.md", action, text, old)
    check(wanted)
    return amended(wanted, before)


def test_append_puts_a_line_at_the_end() -> None:
    assert edit(NOTE, "append", "- Has a cat.") == NOTE + b"- Has a cat.\n"
    assert edit(b"# Memory", "append", "- x") == b"# Memory\n- x\n"
    assert edit(None, "append", "- x") == b"- x\n"
    assert edit(b"\xef\xbb\xbf# M\r\n", "append", "- x\n- y") == b"\xef\xbb\xbf# M\r\n- x\r\n- y\r\n"


def test_replace_and_insert_take_a_text_that_stands_once() -> None:
    assert edit(NOTE, "replace", "Porto", "Lisbon") == NOTE.replace(b"Lisbon", b"Porto")
    assert edit(NOTE, "replace", "", "- Likes trains.\n") == b"# Memory\n\n- Lives in Lisbon.\n"
    assert edit(NOTE, "insert", "- Hates planes.", "trains") == NOTE.replace(b"- Lives", b"- Hates planes.\n- Lives")
    assert edit(b"- a", "insert", "- b", "a") == b"- a\n- b"
    assert edit(b"- a\r\n- c\r\n", "insert", "- b", "- a\n") == b"- a\r\n- b\r\n- c\r\n"


@pytest.mark.parametrize(
    ("action", "text", "old"),
    [
        ("append", " ", ""), ("append", "x", "trains"), ("replace", "x", ""), ("insert", "", "trains"),
        ("replace", "x", "planes"), ("replace", "x", "Li"), ("delete", "x", ""), ("append", "x" * 20_001, ""),
        ("replace", "trains", "trains"),
    ],
)  # fmt: skip
def test_an_edit_that_is_not_clear_is_refused(action: str, text: str, old: str) -> None:
    with pytest.raises(UsageError):
        edit(NOTE, action, text, old)


def test_what_reflect_writes_is_not_touched() -> None:
    owned = b"# M\n\n<!-- memory:begin facts -->\n- theirs\n<!-- memory:end facts sha=1a2b3c4d -->\n"
    with pytest.raises(ConflictError):
        edit(owned, "replace", "mine", "theirs")
    with pytest.raises(ConflictError):
        edit(owned, "insert", "- mine", "theirs")
    assert edit(owned, "append", "- mine").startswith(owned)


def test_a_file_that_is_not_utf8_is_left_alone() -> None:
    with pytest.raises(ConflictError):
        edit(b"caf\xe9", "append", "x")


@given(st.text(alphabet="ab\n- ", max_size=40), st.text(alphabet="ab\n", min_size=1, max_size=6))
def test_all_that_is_not_named_stays(before: str, old: str) -> None:
    try:
        after = edit(before.encode(), "replace", "NEW", old).decode()
    except VaultMemoryError:
        return
    assert after.replace("NEW", old) == before
