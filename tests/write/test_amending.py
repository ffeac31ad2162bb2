"""Exact edits of a core file: nothing but what is named changes, and what cannot be done changes nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.errors import ConflictError, UsageError, VaultMemoryError
from vault_memory.search.get import OpenScopes
from vault_memory.write.edit import EditRequest, apply_edit, check, diff

NOTE = b"# Memory\n\n- Likes trains.\n- Lives in Lisbon.\n"


def edit(before: bytes | None, action: str, text: str, old: str = "") -> bytes:
    wanted = EditRequest("memory.md", action, text, old)
    check(wanted)
    return apply_edit(wanted, before)


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
        ("replace", "x", "planes"), ("replace", "x", "Li"), ("delete", "x", ""),
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


@pytest.mark.parametrize(
    ("before", "action", "text", "old"),
    [
        (b"# Memory\n", "append", "```", ""),
        (b"Likes trains.\nLikes tea.\n", "insert", "~~~\nx", "Likes trains."),
        (b"Likes trains.\n```\nx = 1\n```\n", "insert", "```python", "Likes trains."),
        (b"Run:\n```\nx = 1\n```\n", "replace", "x = 1", "x = 1\n```"),
    ],
)  # fmt: skip
def test_what_is_written_below_is_not_made_code(before: bytes, action: str, text: str, old: str) -> None:
    with pytest.raises(ConflictError, match="code"):
        apply_edit(EditRequest("memory.md", action, text, old), before)
    apply_edit(EditRequest("memory.md", "append", "```\nx = 1\n```"), before)


@pytest.mark.parametrize(
    ("before", "action", "text", "old"),
    [
        (b"# M\n- a\n", "append", "<!-- open", ""), (b"# M\n- a\n- b\n", "insert", "%% open", "- a"),
        (b"# M\n\n%% open\n- a\n", "append", "- nobody reads it", ""), (b"- a\n- b\n", "replace", "<!--", "- a"),
    ],
)  # fmt: skip
def test_nothing_is_hidden_in_a_comment(before: bytes, action: str, text: str, old: str) -> None:
    with pytest.raises(ConflictError, match="comment"):
        edit(before, action, text, old)


@given(st.text(alphabet="ab\n- ", max_size=40), st.text(alphabet="ab\n", min_size=1, max_size=6))
def test_all_that_is_not_named_stays(before: str, old: str) -> None:
    try:
        after = edit(before.encode(), "replace", "NEW", old).decode()
    except VaultMemoryError:
        return
    assert after.replace("NEW", old) == before


# --- scopes ----------------------------------------------------------------------------------------------------------

MINE = OpenScopes(("global", "agent:me"))
HELD = (
    b"# Memory\n\n- Likes trains.\n- (scope=agent:other) the safe code is 7719\n  and 7720\n"
    b"- (scope=agent:me) mine\n- (by=web) from a page\n"
)


@pytest.mark.parametrize(
    ("action", "old", "text"),
    [
        ("replace", "(scope=agent:me) ", ""), ("replace", "(by=web) ", ""), ("replace", "(by=web)", "(by=person)"),
        ("replace", "# Memory\n", "---\nscope: agent:me\n---\n"), ("replace", "# Memory\n", "---\nby: web\n---\n"),
        ("replace", "Likes", "(scope=agent:me) Likes"), ("replace", "agent:me", "agent:other"),
        ("append", "", "- (scope=agent:other) told"), ("insert", "trains", "- (scope=agent:other) told"),
        ("replace", "- (scope=agent:me) mine\n", "- mine\n"),
    ],
)  # fmt: skip
def test_no_edit_changes_whose_a_line_is(action: str, old: str, text: str) -> None:
    with pytest.raises(ConflictError):
        apply_edit(EditRequest("memory.md", action, text, old), HELD, MINE)


@pytest.mark.parametrize("old", ["safe code", "7720", "mine\n- (scope=agent:other)", "\0\0\0"])
def test_what_is_not_open_is_not_found(old: str) -> None:
    with pytest.raises(UsageError, match="does not occur"):
        apply_edit(EditRequest("memory.md", "replace", "x", old), HELD, MINE)


SIGNED = b"# Memory\n\n## Retain\n- W(scope=project:secret, by=agent:moss) @Bob: salary is reviewed in May\n"


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("below", "old"), [("\nopen para\n", "\n\nopen para"), ("- an open bullet\n", "\n- an open bullet")]
)
def test_what_is_open_is_not_joined_to_a_line_that_is_not(below: str, old: str, ending: str) -> None:
    before = (SIGNED.decode() + below).replace("\n", ending).encode()
    with pytest.raises(UsageError, match="does not occur"):
        apply_edit(EditRequest("memory.md", "replace", " and was cut", old, "agent:x"), before, OpenScopes(("global",)))


def test_a_line_that_is_not_open_is_not_joined_to_one_that_is() -> None:
    before = SIGNED.replace(b"- W", b"- W(by=agent:x) @Ann: open\n- W")
    with pytest.raises(ConflictError):
        apply_edit(EditRequest("memory.md", "replace", "open", "open\n", "agent:x"), before, OpenScopes(("global",)))


@pytest.mark.parametrize("length", [3, SIGNED.index(b"May") + 3 - SIGNED.index(b"- W"), 100])
def test_nothing_tells_how_long_a_line_is_that_is_not_open(length: int) -> None:
    signs = "\1" * length
    before = SIGNED + b"\n# Odd\n"
    wanted = EditRequest("memory.md", "replace", "x", signs)
    assert apply_edit(wanted, before + signs.encode(), OpenScopes(("global",))) == before + b"x"


def test_one_s_own_is_edited_and_the_diff_shows_no_more() -> None:
    for action, old, text in (
        ("replace", "mine", "still mine"), ("insert", "trains", "- (scope=agent:me) too"), ("append", "", "- x"),
        ("replace", "- (by=web) from a page\n", ""), ("replace", "Likes trains", "Hates trains"),
    ):  # fmt: skip
        wanted = EditRequest("memory.md", action, text, old)
        after = apply_edit(wanted, HELD, MINE)
        assert b"(scope=agent:other) the safe code is 7719\n  and 7720\n" in after
        shown = diff(wanted, HELD, after, MINE)
        assert shown and "77" not in shown and "other" not in shown


def test_an_agent_puts_no_fact_into_a_person_s_mouth() -> None:
    retained = b"# Memory\n\n## Retain\n- W @Nora: Has a cat.\n"

    def agents(action: str, text: str, old: str = "") -> bytes:
        return apply_edit(EditRequest("memory.md", action, text, old, "agent:x"), retained)

    for action, text, old in (("append", "- W @Nora: Has a dog.", ""), ("replace", "Has a dog", "Has a cat")):
        with pytest.raises(ConflictError, match="the user's own words"):
            agents(action, text, old)
        assert apply_edit(EditRequest("memory.md", action, text, old), retained)
    assert agents("append", "- W(by=agent:x) @Nora: Has a dog.").endswith(b"Has a dog.\n")
    assert agents("append", "- Has a dog.").endswith(b"- Has a dog.\n")
    assert agents("replace", "", "- W @Nora: Has a cat.\n") == b"# Memory\n\n## Retain\n"
