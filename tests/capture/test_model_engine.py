"""What a model may say of a session, and what the checks refuse."""

import json
from pathlib import Path

import pytest
import session_makers as make
from model_server import Model, model_server
from vaults import fill

from vault_memory.capture.model_engine import model_statements
from vault_memory.config import Config
from vault_memory.federation import Federation
from vault_memory.text.own_words import SessionTurn

SAID = [
    SessionTurn(1, True, "The warehouse printers are all 203 dpi though, so the default stays 8."),
    SessionTurn(2, False, "Then I keep 8 dots per millimetre. Kettleby uses 300 dpi."),
    SessionTurn(3, True, "Mara never signs before noon. Do we need a second reviewer?"),
]


def found(*items: tuple[str, str, int]) -> list[str]:
    rows = [{"text": text, "category": category, "message": number} for text, category, number in items]
    return [one.text for one in model_statements(lambda *_: json.dumps({"items": rows}), SAID, 0)]


def test_what_a_message_says_is_taken() -> None:
    text = "The warehouse printers are all 203 dpi."
    assert found((text, "entities", 1)) == [text]


@pytest.mark.parametrize(
    ("text", "category", "number"),
    [
        ("The warehouse printers are all 300 dpi.", "entities", 1),  # another number
        ("The Gdansk warehouse printers are all 203 dpi.", "entities", 1),  # another name
        ("Kettleby uses 300 dpi.", "entities", 2),  # the agent's words
        ("Mara signs before noon.", "patterns", 3),  # without its negation
        ("The user enjoys long walks at the sea.", "preferences", 1),  # nobody said it
        ("Mara never signs before noon.", "patterns", 9),  # no such message
        ("Mara never signs before noon.", "gossip", 3),  # no such category
        ("Mara never signs\nbefore noon.", "patterns", 3),
    ],
)
def test_what_no_message_says_is_refused(text: str, category: str, number: int) -> None:
    assert found((text, category, number)) == []


def test_a_session_goes_to_the_model_and_requests_by_their_words(tmp_path: Path, tmp_data: Path) -> None:
    said = [("user", "Please remember: I'm allergic to walnuts."), ("user", "The warehouse printers are all 203 dpi.")]
    make.claude(tmp_path / "claude", "s1", said)
    reply = {"items": [
        {"text": "The warehouse printers are all 203 dpi.", "category": "entities", "message": 2},
        {"text": "The warehouse has 40 printers.", "category": "entities", "message": 2},
    ]}  # fmt: skip
    with model_server(Model("writer")) as server:
        server.trouble.reply = lambda body: json.dumps(reply)
        done = Federation(_config(tmp_path, server.host)).capture(dry_run=True)
    assert [(item.is_request, item.text) for item in done.items] == [
        (True, "Please remember: I'm allergic to walnuts."), (False, "The warehouse printers are all 203 dpi."),
    ]  # fmt: skip


def test_a_dead_server_means_the_trained_judgement(tmp_path: Path, tmp_data: Path) -> None:
    make.claude(tmp_path / "claude", "s1", [("user", "I prefer short commit messages without emoji.")])
    done = Federation(_config(tmp_path, "http://127.0.0.1:9")).capture(dry_run=True)
    assert [item.category for item in done.items] == ["preferences"]
    assert "the trained judgement alone was used" in done.problems[0]


def _config(tmp_path: Path, url: str) -> Config:
    vault = fill(tmp_path / "Notes", {"memory.md": "# Memory\n"})
    return Config(
        vault=vault, sessions_tools=("claude-code",), sessions_claude_code=tmp_path / "claude",
        reflect_provider="ollama", reflect_model="writer", reflect_url=url,
    )  # fmt: skip
