"""What doctor says of the model that writes summaries: there, unknown to its server, or no server at all."""

import sys
from pathlib import Path

import pytest
from model_server import Model, free_port, model_server
from vaults import fill, memory

from vault_memory.health.doctor import Check, doctor


def checked(root: Path, url: str, provider: str, model: str = "llama3.2") -> Check:
    """What doctor says of the writing model."""
    url += "/v1" if provider == "openai" else ""
    of = memory(root, reflect_provider=provider, reflect_model=model, reflect_url=url, reflect_deadline_seconds=20.0)
    return next(check for check in doctor(of) if check.name == "writer")


@pytest.mark.parametrize("provider", ["ollama", "openai", "anthropic"])
def test_doctor_checks_the_writing_model(tmp_path: Path, provider: str) -> None:
    root = fill(tmp_path / "v", {"a.md": "The boiler was mended.\n"})
    with model_server(Model("llama3.2")) as server:
        server.trouble.reply = lambda _: '{"ok": true}'
        there = checked(root, f"http://{server.host}", provider)
        unknown = checked(root, f"http://{server.host}", provider, "nope")
    away = checked(root, f"http://127.0.0.1:{free_port()}", provider)
    assert (there.level, unknown.level, away.level) == ("ok", "warning", "warning")
    assert "llama3.2" in there.message and "nope" in unknown.message and unknown.fix
    assert "reflect.url" in away.fix
    assert not [check for check in doctor(memory(root)) if check.name == "writer"]


def test_anthropic_is_sent_no_text_and_without_a_key_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = fill(tmp_path / "v", {"a.md": "The boiler was mended.\n"})
    with model_server(Model("llama3.2")) as server:
        assert checked(root, f"http://{server.host}", "anthropic").level == "ok"
    assert [(path, body) for path, body, _ in server.requests] == [("/v1/models/llama3.2", {})]
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    without = checked(root, "", "anthropic")
    assert without.level == "warning" and "$ANTHROPIC_API_KEY" in without.message


def test_doctor_says_whether_a_program_exists_and_does_not_run_it(tmp_path: Path) -> None:
    root = fill(tmp_path / "v", {"a.md": "The boiler was mended.\n"})

    def check(program: str) -> Check:
        of = memory(root, reflect_provider="command", reflect_command=(program, "-c", "open('ran', 'w')"))
        return next(check for check in doctor(of) if check.name == "writer")

    there, away = check(sys.executable), check("no-such-oracle")
    assert (there.level, away.level) == ("ok", "warning")
    assert "no-such-oracle is not there" in away.message and "reflect.command" in away.fix
    assert not (tmp_path / "ran").exists()
