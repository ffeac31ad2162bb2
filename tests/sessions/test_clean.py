"""What of a message is nobody's words: blocks that tools put there, however they are nested, cut or repeated."""

import pytest

from vault_memory.sessions.transcript import MAX_MESSAGE_CHARS, clean_message

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
