"""The derived text of a session: whatever a message says, it is one line, and no Markdown of ours."""

from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.markdown import facts, scopes
from vault_memory.markdown.note import TEXT, decoded_lines
from vault_memory.markdown.parse import parse
from vault_memory.sessions import transcript
from vault_memory.sessions.transcript import MAX_MESSAGE_CHARS, Message, clean_message

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
    assert transcript.format_line(Message("User", "a\n\n  b", later), first) == "- [2026-03-02] User: a ⏎   b\n"
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
        ("a\n\n b", "a ⏎  b"), ("  a \r\n \t \u2028 b  ", "  a ⏎  b"), ("a   b", "a   b"), ("\n\n", ""), ("a\0b", "ab"),
        ("| x" + " " * 60_000 + "|\n" * 2, "| x" + " " * 60_000 + "| ⏎ |"),  # a pattern took minutes over that
    ],
)  # fmt: skip
def test_several_lines_become_one(text: str, line: str) -> None:
    assert transcript.one_line(text) == line


# --- what of a message is nobody's words: blocks that tools put there, however they are nested, cut or repeated ------

NAME, MESSAGE, ARGS = (
    f"<command-{part}>{text}</command-{part}>" for part, text in (("name", "/x"), ("message", "x"), ("args", "a b"))
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a <thinking>x</thinking> b", "a  b"),
        ("<thinking>x<thinking>y</thinking>z</thinking>w", "w"),
        ("<thinking>\nof the tag <thinking> I say\n</thinking>\nThe answer.", "The answer."),
        ("What is <thinking> for?\n<thinking>x</thinking>\nb", "What is <thinking> for?\n\nb"),
        ("a\n<thinking>\nnever closed\nb", "a\n<thinking>\nnever closed\nb"),
        ("<system-reminder> is in my prompts, why?", "<system-reminder> is in my prompts, why?"),
        ("What is <vault-memory> for?\nAnd who writes it?", "What is <vault-memory> for?\nAnd who writes it?"),
        ("\n<stop-hook>\nnoise and no end", ""),
        ("a <thinking> is a tag", "a <thinking> is a tag"),
        ("<thinking>a<tool_call>b</thinking>c</tool_call>d", "c</tool_call>d"),
        ('<system-reminder kind="x">a</system-reminder >b', "b"),
        ("<command-name>/x</command-name> <command-args>a < b\nc</command-args>", "/x a < b\nc"),
        (f"{NAME}\n    {MESSAGE}\n    {ARGS}\nc", "/x a b\nc"),
        (ARGS + MESSAGE + NAME, "/x a b"),
        (f"{NAME}\n{MESSAGE}\n<command-args></command-args>", ""),
        ("<command-name>/x</command-name>", ""),
        (f"{ARGS} is a tag", f"{ARGS} is a tag"),
        ("<bash-input>ls</bash-input><bash-stdout>x</bash-stdout>", ""),
        ("Conversation info (untrusted metadata):\n```json\n{}\n```\nHello", "Hello"),
        ("HEARTBEAT_OK", ""),
        ("This session is being continued from a previous conversation that ran out of context.", ""),
        ("if a < b: <div>x</div>", "if a < b: <div>x</div>"),
    ],
)
def test_blocks_are_nobodys_words(text: str, said: str) -> None:
    assert clean_message(text) == said


@pytest.mark.parametrize(
    ("piece", "said"),
    [
        ("<thinking>\n", ""),
        ("<thinking ", None),
        ("<command-name>", None),
        ("<command-name>x</command-name><command-args>", None),
        ("<thinking></thinking>", None),
        ("x (untrusted):\n```\n", None),
        ("-----BEGIN PRIVATE KEY-----\n", None),
        ('{"vault-memory": "notes"', None),
    ],
)
def test_a_megabyte_of_one_tag_is_read_to_its_end(piece: str, said: str | None) -> None:
    """None of these ended in a day, when each tag looked for its end in all that followed."""
    found = clean_message(piece * (1_000_000 // len(piece)))
    assert len(found) <= MAX_MESSAGE_CHARS + 40
    assert said is None or found.partition(" … [")[0] == said


def test_a_secret_across_the_bound_goes_whole() -> None:
    text = "x" * (MAX_MESSAGE_CHARS - 20) + " sk-ant-api03-aZ3kQ9xLm2Vb7NcR5tYw8PdF4 " + "y" * 5000
    assert "sk-ant-api03" not in clean_message(text)
