"""Reminding an agent, once, to store what was said."""

import json
from pathlib import Path

import pytest
import session_makers as make
from hooks import hooked_here, recorded, settings
from vaults import fill, memory

from vault_memory.agents.hook_events import STORE_LATER, STORE_NOW

FACT = "I prefer to sign the contracts on Tuesdays."


@pytest.fixture
def root(tmp_path: Path) -> Path:
    settings("[capture]\nremind = true\n")
    root = fill(tmp_path / "vault", {"memory.md": "# Core\n- I prefer tea.\n"})
    memory(root).index()
    return root


def told(root: Path, session: str, *said: str, event: str = "Stop", stored: str = "", **more: object) -> str:
    file = make.claude(root.parent / "claude", session, [("user", text) for text in said])
    if stored:
        call = {"type": "tool_use", "name": "mcp__vault-memory__memory_store", "input": {"content": stored}}
        with open(file, "a") as handle:
            handle.write(json.dumps({"type": "assistant", "message": {"role": "assistant", "content": [call]}}) + "\n")
    return hooked_here(root, event, recorded(event, session, transcript_path=str(file), **more))


def test_it_is_reminded_once(root: Path) -> None:
    assert json.loads(told(root, "s", FACT)) == {"decision": "block", "reason": STORE_NOW}
    assert told(root, "s", FACT, FACT) == ""
    assert told(root, "s", FACT, event="PreCompact") == ""


def test_before_a_compaction_the_summary_is_asked_to_keep_it(root: Path) -> None:
    assert told(root, "s", FACT, event="PreCompact") == f"{STORE_LATER}\n"
    assert told(root, "s", FACT) == ""


def test_who_has_stored_something_is_not(root: Path) -> None:
    assert told(root, "s", FACT, stored=FACT) == ""
    assert told(root, "s", FACT) == ""


@pytest.mark.parametrize(
    ("said", "event", "is_held_up"),
    [("What is the time?", "Stop", False), ("run the tests please", "Stop", False),
     ("I prefer tea.", "Stop", False), (FACT, "SessionEnd", False), (FACT, "PostCompact", False),
     (FACT, "Stop", True)],
)  # fmt: skip
def test_for_nothing_new_at_an_event_that_reaches_no_model_or_twice_it_is_not(
    root: Path, said: str, event: str, is_held_up: bool
) -> None:
    assert told(root, "s", said, event=event, stop_hook_active=is_held_up) == ""


def test_it_is_off_until_it_is_asked_for(root: Path) -> None:
    settings("")
    assert told(root, "s", FACT) == ""


def test_opencode_is_reminded_once_by_what_its_plugin_hands_over(root: Path) -> None:
    def paused(session: str, said: str, **more: object) -> str:
        given = {"session_id": session, "cwd": "/tmp", "said": [said], **more}
        return hooked_here(root, "session.idle", given, agent="opencode")

    assert paused("o", "run the tests please") == paused("p", FACT, stored=True) == ""
    assert json.loads(paused("o", FACT)) == {"remind": STORE_NOW}
    assert json.loads(paused("o", f'"{FACT}"')) == {"remind": STORE_NOW}  # its process ended before it was told
    assert paused("o", FACT, stored=True) == paused("o", FACT) == ""


def test_opencode_is_reminded_before_a_compaction_with_what_it_is_handed(root: Path) -> None:
    given = {"session_id": "c", "cwd": "/tmp", "said": [FACT]}
    told = hooked_here(root, "session.compacting", given, agent="opencode")
    assert json.loads(told)["context"].endswith(STORE_LATER)
    assert hooked_here(root, "session.idle", given, agent="opencode") == ""
    settings("")
    assert STORE_LATER not in hooked_here(root, "session.compacting", given | {"session_id": "d"}, agent="opencode")
