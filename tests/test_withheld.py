"""What of a note is not for one who sees only some scopes."""

from vault_memory.withheld import lines, without

NOTE = b"# Log\n\n## Retain\n- W @A: open to all\n- W(scope=agent:x) @A: for x\n  and more of it\n- W @B: open too\n"


def test_a_private_fact_is_withheld_with_all_its_lines() -> None:
    assert lines("a.md", NOTE, ("global",)) == {5, 6}
    assert lines("a.md", NOTE, ("global", "agent:x")) == frozenset()
    left = without(NOTE, {5, 6})
    assert b"for x" not in left
    assert left.count(b"\n") == NOTE.count(b"\n")
    assert left.split(b"\n")[6] == b"- W @B: open too"


def test_a_private_note_is_withheld_but_for_what_names_an_open_scope() -> None:
    private = b"---\nScope: project:p\n---\n# Plan\n\n## Retain\n- W(scope=global): this is for everyone\n"
    assert lines("a.md", private, ("global",)) == {1, 2, 3, 4, 5, 6}
    assert lines("a.md", private, ("project:p",)) == {7}


def test_a_scope_that_is_written_badly_opens_nothing() -> None:
    assert lines("a.md", b"## Retain\n- W(scope=, c=0.5): whose?\n", ("global",)) == {2}
