"""Reminding an agent, once, to store what was said."""

import json
from pathlib import Path

import pytest
import session_makers as make
from hooks import hooked_here, recorded, settings
from vaults import fill, memory

from vault_memory.agents.hook_events import STORE_LATER, STORE_NOW

FACT = "Mara Lindqvist always prefers to sign the contracts on Tuesdays."


@pytest.fixture
def root(tmp_path: Path) -> Path:
    settings("[capture]\nremind = true\n")
    root = fill(tmp_path / "vault", {"memory.md": "# Core\n- We meet on Mondays.\n"})
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


@pytest.mark.parametrize("said", ["What is the time?", "run the tests please", "We meet on Mondays."])
def test_where_nothing_was_said_it_is_not(root: Path, said: str) -> None:
    assert told(root, "s", said) == ""


def test_who_has_stored_something_is_not(root: Path) -> None:
    assert told(root, "s", FACT, stored=FACT) == ""
    assert told(root, "s", FACT) == ""


@pytest.mark.parametrize("event", ["SessionEnd", "PostCompact"])
def test_events_that_reach_no_model_say_nothing(root: Path, event: str) -> None:
    assert told(root, "s", FACT, event=event) == ""


def test_a_stop_that_was_held_up_is_not_held_up_again(root: Path) -> None:
    assert told(root, "s", FACT, stop_hook_active=True) == ""


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
