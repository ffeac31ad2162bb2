"""What doctor says of the model that writes summaries: there, unknown to its server, or no server at all."""

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
