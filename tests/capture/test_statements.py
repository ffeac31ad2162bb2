"""What becomes of the sentences of a session: requests, refusals, corrections and answers among their neighbours."""

import pytest

from vault_memory.capture.statements import SECRET, Statement, find_log_statements, find_statements
from vault_memory.text.own_words import SessionTurn

HOST = "Remember that the prod database is on host owl."
REVIEW = "Our code review takes place on Wednesdays."
MOVED, OTHER = "No, the code review is on Thursdays.", "No, that one is wrong: the deploy server is heron."
SISTER = "My sister Anna is allergic to nuts."


def said(*messages: str) -> list[Statement]:
    """The statements of a session; what the agent says begins with `>`."""
    turns = [SessionTurn(n, not text.startswith(">"), text.lstrip("> ")) for n, text in enumerate(messages, 1)]
    return find_statements(turns)


def kept(*messages: str) -> list[str]:
    return [one.text for one in said(*messages) if not one.why]


@pytest.mark.parametrize(
    ("messages", "left"),
    [
        ((HOST, "Don't remember this, but Ben is leaving."), [HOST]),
        (
            ("I work with Mara every Monday.", "Off the record: I had trouble with Ben."),
            ["I work with Mara every Monday."],
        ),
        ((SISTER, "Don't save this."), []),
        ((SISTER, "> Noted.", "Please don't save anything about my sister Anna in your notes."), []),
        ((f"{SISTER} Don't save this, it is private.",), []),
    ],
)
def test_a_refusal_silences_what_it_is_about_and_nothing_else(messages: tuple[str, ...], left: list[str]) -> None:
    assert kept(*messages) == left


@pytest.mark.parametrize(
    ("messages", "left"),
    [
        ((REVIEW, "> OK.", "No, on Thursdays."), [f"{REVIEW} → No, on Thursdays."]),
        ((REVIEW, SISTER, MOVED), [SISTER, f"{REVIEW} → {MOVED}"]), ((HOST, OTHER), [HOST, OTHER]),
    ],
)  # fmt: skip
def test_a_correction_goes_with_what_it_corrects(messages: tuple[str, ...], left: list[str]) -> None:
    assert kept(*messages) == left


def test_a_request_for_what_stands_before_it_takes_that_up() -> None:
    (found,) = said("The wifi of the cabin is called Larch. Please remember that.")
    assert found.text.startswith("The wifi of the cabin is called Larch.") and found.is_request
    (found,) = said("> The staging server is on port 8443.", "Please remember that.")
    assert found.text.startswith("The staging server is on port 8443.") and found.is_request


def test_a_sentence_that_says_too_little_brings_the_one_before_it() -> None:
    assert kept("> Which database do you use?", "Postgres 16, on host owl.") == [
        "Which database do you use? – Postgres 16, on host owl."
    ]
    assert kept(f"{SISTER} She lives in Bergen with her two sons.")[-1].startswith(SISTER)


@pytest.mark.parametrize(
    "text", ["Remember my AWS key AKIAIOSFODNN7EXAMPLE please.", "Please remember: the password is hunter2-Q7x."]
)
def test_a_secret_that_was_asked_for_is_named_and_not_told(text: str) -> None:
    assert [(one.why, one.is_request) for one in said(text)] == [(SECRET, True)]
    assert "AKIA" not in str(said(text)) and "hunter2" not in str(said(text))


@pytest.mark.parametrize(
    ("text", "is_sure"),
    [
        (HOST, True), ("Please remember that the boiler code of the cabin is 4471-B.", True),
        ("Merk dir nicht, dass ich im Mai die Stelle wechsle.", False),
        ("Merk dir das bloß nicht: ich will im Frühjahr kündigen.", False), (f"Bob: {HOST}", False),
        (f"# {HOST}", False), (f"Hello\n{HOST}", False), (REVIEW, False),
    ],
)  # fmt: skip
def test_only_a_plain_request_may_be_written_unasked(text: str, is_sure: bool) -> None:
    assert any(one.is_sure and not one.why for one in said(text)) == is_sure


def test_a_correction_in_a_log_goes_with_the_line_before() -> None:
    lines = [(3, "We moved the standup to Mondays."), (4, "Correction: on Tuesdays.")]
    *_, last = find_log_statements(lines)
    assert (last.text, last.corrects) == ("We moved the standup to Mondays. → Correction: on Tuesdays.", lines[0][1])


def test_a_cause_is_a_case() -> None:
    cause = "The printer was offline because its cable was loose; a new cable fixed it."
    assert [one.category for one in said(cause)] == ["cases"]
