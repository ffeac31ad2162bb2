"""The calling of hooks as agents call them: documented input in, what is put before the model out."""

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from vault_memory.agents.hook import HookRun
from vault_memory.config import template
from vault_memory.integrations.hook_log import Call
from vault_memory.startup import user_folder
from vault_memory.text.agent_frame import CLOSING, OPENING


def settings(text: str, hooks: str = "seconds = 30") -> None:
    """Write the user's own settings; a busy machine is given more time, unless that is what it is about."""
    file = Path(user_folder("config", os.environ), "config.toml")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"[hooks]\n{hooks}\n{text}")


def hooked(root: Path, event: str, given: dict[str, Any] | bytes, agent: str = "claude-code") -> str:
    """What a hook prints; whatever it is given it ends well, and says nothing else."""
    words = [sys.executable, "-m", "vault_memory", "--vault", str(root), "hook", agent, event]
    text = given if isinstance(given, bytes) else json.dumps(given).encode()
    ended = subprocess.run(words, input=text, capture_output=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
    return ended.stdout.decode("ascii")


def recorded(event: str, session: str, **more: Any) -> dict[str, Any]:
    """The input of an event in the shape its reference documents."""
    common = {"session_id": session, "transcript_path": f"/home/u/.claude/projects/p/{session}.jsonl", "cwd": "/tmp"}
    own: dict[str, dict[str, Any]] = {
        "SessionStart": {"source": "startup", "model": "a-model"},
        "UserPromptSubmit": {"permission_mode": "default", "prompt": "How does Peter like his replies?"},
        "PreCompact": {"trigger": "manual", "custom_instructions": ""},
        "PostCompact": {"trigger": "manual", "compact_summary": "We mended the boiler."},
        "Stop": {"permission_mode": "default", "stop_hook_active": False},
        "SessionEnd": {"reason": "exit"},
    }
    return {**common, "hook_event_name": event, **own[event], **more}


def logged(data: Path) -> str:
    return (data / "hook.log").read_text().strip()


def context(said: str, event: str) -> str:
    """The text that a hook's answer has put before the model, "" for an answer that is empty."""
    if not said:
        return ""
    output = json.loads(said)
    assert set(output) == {"hookSpecificOutput"}
    assert set(output["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    assert output["hookSpecificOutput"]["hookEventName"] == event
    text = str(output["hookSpecificOutput"]["additionalContext"])
    assert text.startswith(OPENING) and text.endswith(CLOSING) and text.count(CLOSING) == 1
    return text


def hooked_here(root: Path, event: str, given: dict[str, Any], agent: str = "claude-code") -> str:
    """What a hook would print, answered in this process: its index must be there and fresh, for none is built then."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(given).encode())))
        work = HookRun(Call(agent, event, str(root)))
        work.run()
    return work.output.decode("ascii")


def asked(root: Path, session: str, prompt: str, as_process: bool = False, **more: Any) -> str:
    given = recorded("UserPromptSubmit", session, prompt=prompt, **more)
    return context((hooked if as_process else hooked_here)(root, "UserPromptSubmit", given), "UserPromptSubmit")


def begun(root: Path, session: str, source: str, as_process: bool = False) -> str:
    given = recorded("SessionStart", session, source=source)
    return context((hooked if as_process else hooked_here)(root, "SessionStart", given), "SessionStart")


def hosted(tmp_path: Path, words: list[str]) -> dict[str, Any]:
    """What a session has with the plugin, in a host that calls it as opencode does."""
    node = shutil.which("node")
    if not node:
        pytest.skip("there is no node")
    text = template("opencode.js").read_text().replace("{{command}}", json.dumps(words)).replace("{{wait}}", "20000")
    (tmp_path / "plugin.mjs").write_text(text)
    host = shutil.copy(Path(__file__).parent / "agents" / "opencode_host.mjs", tmp_path)
    ended = subprocess.run([node, str(host)], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)  # type: ignore[no-any-return]
