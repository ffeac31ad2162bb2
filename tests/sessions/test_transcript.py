"""The derived text of a session: whatever a message says, it is one line, and no Markdown of ours."""

from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.markdown import facts, scopes
from vault_memory.markdown.note import TEXT, decoded_lines
from vault_memory.markdown.parse import parse
from vault_memory.sessions import transcript
from vault_memory.sessions.transcript import Message

MARKS = st.sampled_from(
    ["\n", "\r", "\u2028", "```", "~~~", "# H", "<!--", "-->", "%%", "- W @A: b", "## Retain", "---", "scope=global",
     "(scope: global)", "SCOPE =global", "`", "[[X]]", "    x", "> ", "\t", "<!-- memory:begin facts -->", "%", "<!"]
)  # fmt: skip
TEXTS = st.lists(st.one_of(MARKS, st.text(max_size=8)), max_size=12).map("".join)


@given(st.lists(TEXTS, min_size=1, max_size=6), TEXTS)
def test_nothing_a_message_says_is_markdown_of_ours(said: list[str], title: str) -> None:
    text = transcript.format_head("claude-code", title, date(2026, 3, 1), "project:x")
    for words in said:
        text += transcript.format_line(Message("User", words), None)
    note = parse("s.md", text.encode())
    assert len(decoded_lines(text.encode())[0]) == transcript.HEAD_LINES + len(said) == len(note.lines)
    assert all(state == TEXT for state in note.states[transcript.HEAD_LINES :])
    assert not note.headings and not note.owned and not list(facts.facts(note, None, []))
    assert scopes.by_line(note) == {}
    assert note.properties["scope"] == "project:x" and str(note.properties["date"]) == "2026-03-01"
    assert note.properties["title"] == transcript.shorten_title(title)


def test_the_day_is_told_when_it_changes() -> None:
    at, later = datetime(2026, 3, 1, 9), datetime(2026, 3, 2, 9)
    first = at.date()
    assert transcript.format_line(Message("User", "a", at), None) == "- [2026-03-01] User: a\n"
    assert transcript.format_line(Message("User", "a", at), first) == "- User: a\n"
    assert transcript.format_line(Message("User", "a\n\n  b", later), first) == "- [2026-03-02] User: a ⏎ b\n"
    assert transcript.format_line(Message("User", "a"), first) == "- User: a\n"


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("sessions/claude-code/a-b.c", ("claude-code/a-b.c.md", None)),
        ("sessions/opencode/ses_1#m12", ("opencode/ses_1.md", (12, 12))),
        ("sessions/opencode/ses_1#m3-m5", ("opencode/ses_1.md", (3, 5))),
        ("memory/a.md#m3", None),
        ("sessions/", None),
        ("sessions/a#L3", None),
    ],
)
def test_names(name: str, found: tuple[str, tuple[int, int] | None] | None) -> None:
    assert transcript.parse_name(name) == found


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\n\n b", "a ⏎ b"), ("  a \r\n \t \u2028 b  ", "a ⏎ b"), ("a   b", "a   b"), ("\n\n", ""), ("a\0b", "ab"),
        ("| x" + " " * 60_000 + "|\n" * 2, "| x" + " " * 60_000 + "| ⏎ |"),  # a pattern took minutes over that
    ],
)  # fmt: skip
def test_several_lines_become_one(text: str, line: str) -> None:
    assert transcript.one_line(text) == line
