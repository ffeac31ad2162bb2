"""Agents' transcripts as a source: read, kept as text, found, cited, kept up to date, bounded."""

import json
import os
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import session_makers as make
from click.testing import CliRunner
from vaults import fill

from vault_memory.capture import sources
from vault_memory.cli import group
from vault_memory.config import Config
from vault_memory.errors import VaultMemoryError
from vault_memory.federation import Federation
from vault_memory.health.status import status
from vault_memory.rendering.recall import recall_document
from vault_memory.rendering.status import sessions_text, status_text
from vault_memory.search.recall_options import build
from vault_memory.sessions import ledger, sync, transcript

MAKERS: dict[str, Callable[..., object]] = {
    "claude-code": make.claude, "openclaw": make.openclaw, "opencode": make.opencode,
}  # fmt: skip


@pytest.fixture
def config(tmp_path: Path, tmp_data: Path) -> Config:
    for folder in ("claude", "openclaw"):
        (tmp_path / folder).mkdir(parents=True)
    make.opencode_database(tmp_path / "opencode")
    vault = fill(tmp_path / "Notes", {"memory/2026-03-01.md": "# Day\n\n## Retain\n- W @Ann: Deploys with quill7.\n"})
    return Config(
        vault=vault, sessions_tools=("claude-code", "opencode", "openclaw"), sessions_claude_code=tmp_path / "claude",
        sessions_opencode=tmp_path / "opencode", sessions_openclaw=tmp_path / "openclaw",
    )  # fmt: skip


def swept(config: Config) -> sync.SyncReport:
    found = Federation(config).refresh_sessions()
    assert found is not None
    return found


def asked(config: Config, query: str, **options: object) -> dict:
    memory = Federation(config)
    request = build({"query": query, "source": "sessions", **options}, config)
    (answer,) = memory.answers([request])
    return recall_document(answer)


def texts(data: Path) -> dict[str, str]:
    home = data / "sessions"
    return {f.relative_to(home).as_posix(): f.read_text() for f in sorted(home.glob("*/*.md"))}


@pytest.mark.parametrize("tool", MAKERS)
def test_many_transcripts_are_found_and_cited(tool: str, config: Config, tmp_path: Path, tmp_data: Path) -> None:
    root = tmp_path / tool.split("-")[0]
    for number in range(80):
        MAKERS[tool](root, f"s{number:03}", make.talk(number))
    config = replace(config, sessions_tools=(tool,))
    found = swept(config)
    assert (found.transcripts, found.added, found.messages, found.problems) == (80, 80, 320, [])
    result = asked(config, "how is quill67 deployed?")["results"][0]
    assert result["kind"] == "session" and result["path"] == f"sessions/{tool}/s067"
    assert result["source"].startswith(f"sessions/{tool}/s067#m") and "quill67" in result["content"]
    excerpt = Federation(config).get(result["source"])
    assert excerpt.text == result["content"] and excerpt.path == result["path"]
    assert (excerpt.start_line, excerpt.end_line) == (result["start_line"], result["end_line"])
    for text in texts(tmp_data).values():
        assert text.count("\n") == transcript.HEAD_LINES + 4
    again = swept(config)
    assert (again.changed, again.messages, again.bytes_read) == (0, 0, 0)


def test_only_what_was_appended_is_read(config: Config, tmp_path: Path, tmp_data: Path) -> None:
    file = make.claude(tmp_path / "claude", "one", make.talk(1) * 50)
    swept(config)
    before = texts(tmp_data)["claude-code/one.md"]
    whole = make.claude_lines("one", [*make.talk(1) * 50, ("user", "one more about zebras")])[-1]
    with file.open("a") as handle:
        handle.write(whole[:40])
    half = swept(config)
    assert half.messages == 0 and texts(tmp_data)["claude-code/one.md"] == before
    with file.open("a") as handle:
        handle.write(whole[40:] + "\n")
    found = swept(config)
    assert (found.grown, found.messages, found.anew) == (1, 1, 0)
    assert found.bytes_read < 2 * len(whole) < file.stat().st_size / 10
    after = texts(tmp_data)["claude-code/one.md"]
    assert after == before + "- User: one more about zebras\n"
    assert asked(config, "zebras")["results"][0]["source"] == "sessions/claude-code/one#m201"


@pytest.mark.parametrize("how", ["rewritten", "truncated"])
def test_a_transcript_that_is_another_one_is_read_anew(
    how: str, config: Config, tmp_path: Path, tmp_data: Path
) -> None:
    file = make.claude(tmp_path / "claude", "one", make.talk(1) * 3)
    swept(config)
    if how == "rewritten":
        make.claude(tmp_path / "claude", "one", make.talk(2) * 4)
    else:
        make.claude(tmp_path / "claude", "one", make.talk(1))
    found = swept(config)
    assert (found.anew, found.grown) == (1, 0)
    text = texts(tmp_data)["claude-code/one.md"]
    assert text.count("\n") - transcript.HEAD_LINES == (16 if how == "rewritten" else 4)
    assert ("quill1;" in text) == (how == "truncated")
    file.unlink()
    make.claude(tmp_path / "claude", "two", make.talk(3))
    found = swept(config)
    assert (found.gone, found.removed) == (1, 0) and len(texts(tmp_data)) == 2


def test_a_sweep_that_was_killed_leaves_no_message_twice(config: Config, tmp_path: Path, tmp_data: Path) -> None:
    file = make.claude(tmp_path / "claude", "one", make.talk(1))
    swept(config)
    state = (tmp_data / "sessions" / ".state" / "claude-code.json").read_bytes()
    file.write_text("".join(f"{line}\n" for line in make.claude_lines("one", make.talk(1) * 2)))
    swept(config)
    whole = texts(tmp_data)
    (tmp_data / "sessions" / ".state" / "claude-code.json").write_bytes(state)  # not remembered any more
    swept(config)
    assert texts(tmp_data) == whole
    (tmp_data / "sessions" / ".state" / "claude-code.json").write_bytes(b"{damaged")
    swept(config)
    assert texts(tmp_data) == whole
    (tmp_data / "sessions" / ".state" / "claude-code.json").unlink()
    file.rename(file.with_name("two.jsonl"))
    swept(config)
    assert list(texts(tmp_data)) == ["claude-code/one.md", "claude-code/two.md"]
    assert texts(tmp_data)["claude-code/one.md"] == whole["claude-code/one.md"]
    file.with_name("two.jsonl").rename(file)
    found = swept(config)
    assert (found.gone, found.removed) == (1, 0) and len(texts(tmp_data)) == 2
    assert asked(config, "quill1")["results"]


def test_a_sweep_that_was_killed_after_it_wrote_a_title_loses_nothing(
    config: Config, tmp_path: Path, tmp_data: Path
) -> None:
    file = make.claude(tmp_path / "claude", "one", make.talk(1))
    swept(config)
    state = tmp_data / "sessions" / ".state" / "claude-code.json"
    before = state.read_bytes()
    for record in ({"type": "custom-title", "customTitle": "A title " * 9}, {"type": "user", "isMeta": True}):
        with open(file, "a") as handle:
            handle.write(json.dumps(record) + "\n")
        swept(config)
        whole = texts(tmp_data)
        state.write_bytes(before)
    swept(config)
    assert texts(tmp_data) == whole


def test_corrupt_lines_are_counted_and_the_rest_is_read(config: Config, tmp_path: Path, tmp_data: Path) -> None:
    file = make.claude(tmp_path / "claude", "one", make.talk(1))
    lines = file.read_bytes().split(b"\n")
    lines[2:2] = [b'{"type": "user", "mess', b"\xff\xfe\x00", b"[1, 2]", b"", b"[" * 100_000]
    file.write_bytes(b"\n".join(lines))
    found = swept(config)
    assert (found.messages, found.skipped) == (4, 4)
    assert swept(config).skipped == 4
    known = status(Federation(config))["sessions"]
    assert (known["skipped"], known["messages"]) == (4, 4)


def test_what_tools_and_recall_put_there_is_left_out(config: Config, tmp_path: Path, tmp_data: Path) -> None:
    from vault_memory.text.agent_frame import framed

    said = [
        ("user", f"Fix the tests.\n<system-reminder>\nSECRETNOISE\n</system-reminder>\n{framed('RECALLNOISE')}"),
        ("assistant", "Key sk-ant-api03-aZ3kQ9xLm2Vb7NcR5tYw8PdF4 is in use."),
    ]  # fmt: skip
    make.claude(tmp_path / "claude", "one", said)
    swept(config)
    lines = texts(tmp_data)["claude-code/one.md"].split("\n")[transcript.HEAD_LINES : -1]
    assert lines == ["- [2026-03-01] User: Fix the tests.", "- Assistant: Key [redacted: anthropic-key] is in use."]


def test_fifty_megabytes_of_output_are_bounded(config: Config, tmp_path: Path, tmp_data: Path) -> None:
    file = make.claude(tmp_path / "claude", "one", make.talk(1))
    output = 'a line of "output" \\ with ü and more of it to fill it up\n' * 1000
    record = make.claude_tool("OUTPUT")
    before, after = record.split("OUTPUT")
    after = after.replace('"stdout": ""', f'"stdout": "{"y " * 1_000_000}"')  # it keeps a copy, which counts once
    with file.open("ab") as handle:
        handle.write(before.encode())
        for _ in range(52_428_800 // len(output) + 1):
            handle.write(json.dumps(output, ensure_ascii=False)[1:-1].encode())
        handle.write(after.encode() + b"\n")
        handle.write((make.claude_lines("one", [("user", "behind the output")])[1] + "\n").encode())
    tracemalloc.start()
    found = sync.sync_transcripts(config, os.environ)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found.messages, found.skipped, found.problems) == (5, 0, [])
    assert peak < 16e6
    assert found.outputs == 1 and texts(tmp_data)["claude-code/one.md"].endswith("- User: behind the output\n")


def test_a_long_output_is_told_from_a_long_message_that_speaks_of_one(
    config: Config, tmp_path: Path, tmp_data: Path
) -> None:
    pasted = 'see "type":"tool_result" here ' + "a line of a log\n" * 5000
    file = make.claude(tmp_path / "claude", "one", [("user", pasted)])
    file.write_text(file.read_text() + make.claude_tool("x" * 100_000) + "\n")
    found = sync.sync_transcripts(config, os.environ)
    assert (found.messages, found.outputs) == (1, 1)
    assert "a line of a log" in texts(tmp_data)["claude-code/one.md"]


def test_what_was_said_stays_when_its_transcript_is_gone(config: Config, tmp_path: Path, tmp_data: Path) -> None:
    files = [make.claude(tmp_path / "claude", f"s{n}", make.talk(n)) for n in range(30)]
    swept(config)
    (tmp_path / "claude").rename(tmp_path / "unmounted")
    away = swept(config)
    assert away.removed == 0 and "they stay" in away.problems[0] and len(texts(tmp_data)) == 30
    (tmp_path / "claude").mkdir()
    assert swept(config).removed == 0
    (tmp_path / "claude").rmdir()
    (tmp_path / "unmounted").rename(tmp_path / "claude")
    for file in files[1:]:
        file.unlink()
    gone = swept(config)
    assert (gone.gone, gone.removed, gone.problems, len(texts(tmp_data))) == (29, 0, [], 30)
    assert asked(config, "quill5")["results"][0]["path"] == "sessions/claude-code/s5"
    assert "29 sessions whose transcript is gone" in sessions_text(gone)
    assert "29 whose transcript is gone" in status_text(status(Federation(config)))
    make.claude(tmp_path / "claude", "s5", make.talk(5))
    assert swept(config).gone == 28 and len(texts(tmp_data)) == 30


def test_opencode_without_its_database_keeps_what_was_said(config: Config, tmp_path: Path, tmp_data: Path) -> None:
    root = tmp_path / "opencode"
    make.opencode(root, "ses_1", make.talk(1))
    swept(config)
    before = texts(tmp_data)
    for damage in (
        lambda: (root / "opencode.db").rename(root / "away"),
        lambda: (root / "opencode.db").write_text("x" * 4096),
    ):
        damage()
        found = swept(config)
        assert texts(tmp_data) == before and found.anew == found.removed == 0
        assert [p for p in found.problems if "opencode" in p]
    (root / "away").replace(root / "opencode.db")
    found = swept(config)
    assert (texts(tmp_data), found.problems, found.gone) == (before, [], 0)


def test_a_transcript_that_says_nothing_any_more_takes_nothing_away(
    config: Config, tmp_path: Path, tmp_data: Path
) -> None:
    file = make.claude(tmp_path / "claude", "one", make.talk(1))
    swept(config)
    before = texts(tmp_data)
    file.write_text("")
    assert "says nothing any more" in swept(config).problems[0] and texts(tmp_data) == before
    assert swept(config).problems == []


def test_a_last_line_without_an_end_is_told(config: Config, tmp_path: Path, tmp_data: Path) -> None:
    file = make.claude(tmp_path / "claude", "one", make.talk(1))
    whole = file.read_text()
    file.write_text(whole[:-20])
    found = swept(config)
    assert (found.unfinished, found.skipped, found.messages) == (1, 0, 3)
    assert swept(config).unfinished == 1
    file.write_text(whole)
    assert swept(config).unfinished == 0


def test_opencode_reads_on_and_waits_for_an_answer_that_is_being_written(
    config: Config, tmp_path: Path, tmp_data: Path
) -> None:
    root = tmp_path / "opencode"
    make.opencode(root, "ses_1", make.talk(1)[:1])
    swept(config)
    make.opencode_message(root, "ses_1", 1, "assistant", "half of an ans", False, int(time.time() * 1000))
    assert swept(config).messages == 0
    make.opencode_message(root, "ses_1", 1, "assistant", "half of an answer, and the rest")
    found = swept(config)
    assert (found.messages, found.grown, found.anew) == (1, 1, 0)
    text = texts(tmp_data)["opencode/ses_1.md"]
    assert text.endswith("- Assistant: half of an answer, and the rest\n") and "injected" not in text
    assert 'title: "About ses_1"' in text
    make.opencode_message(root, "ses_1", 0, "user", "put otherwise now", updated=1_772_600_000_000)
    assert swept(config).anew == 1


def test_the_scope_is_the_project_of_the_working_directory(config: Config, tmp_path: Path, tmp_data: Path) -> None:
    (tmp_path / "My Project" / ".git").mkdir(parents=True)
    (tmp_path / "My Project" / "src").mkdir()
    make.claude(tmp_path / "claude", "in", make.talk(1), folder=str(tmp_path / "My Project" / "src"))
    make.claude(tmp_path / "claude", "out", make.talk(1), folder=str(tmp_path))
    for name, folder in (("gone", "/nowhere/My App"), ("gone-too", "/elsewhere/My App"), ("odd", "/a\0b/\ud800")):
        make.claude(tmp_path / "claude", name, make.talk(1), folder="/x")
        file = tmp_path / "claude" / "-x" / f"{name}.jsonl"
        file.write_text(file.read_text().replace('"cwd": "/x"', f'"cwd": {json.dumps(folder)}'))
    swept(config)
    scopes = {name: text.split("\n")[3] for name, text in texts(tmp_data).items()}
    assert scopes["claude-code/gone.md"].startswith('scope: "project:my-app-')
    assert len({scopes[f"claude-code/{name}.md"] for name in ("gone", "gone-too", "odd")}) == 3
    assert "agent:" not in scopes["claude-code/odd.md"]
    assert 'scope: "project:my-project"' in texts(tmp_data)["claude-code/in.md"]
    assert 'scope: "agent:claude-code"' in texts(tmp_data)["claude-code/out.md"]
    seen = asked(config, "quill1", scope=["global", "project:my-project"])
    assert {r["path"] for r in seen["results"]} == {"sessions/claude-code/in"}


def test_the_newest_comes_first_and_takes_the_mark(config: Config, tmp_path: Path, tmp_data: Path) -> None:
    files = [make.claude(tmp_path / "claude", f"s{n}", make.talk(n)) for n in range(5)]
    os.utime(files[3], (2e9, 2e9))
    ledger.mark_grown(os.environ)
    first: list[str] = []
    sync.sync_transcripts(
        replace(config, sessions_tools=("claude-code",)), os.environ,
        lambda done, total, messages: first.extend(_parts(tmp_data)) if done == 1 else None,
    )  # fmt: skip
    assert first == ["s3.md"] and not ledger.marks_file(os.environ).exists()


def _parts(data: Path) -> list[str]:
    return [file.name for file in (data / "sessions" / "claude-code").glob("*.md")]


# --- merged with notes ---------------------------------------------------------------------------------------------


def test_off_unless_switched_on(config: Config, tmp_path: Path, tmp_data: Path) -> None:
    off = replace(config, sessions_tools=())
    nowhere = replace(config, sessions_openclaw=tmp_path / "nowhere", sessions_tools=("openclaw",))
    assert "holds no transcripts of openclaw" in swept(nowhere).problems[0]
    (tmp_data / "sessions").rename(tmp_path / "away")
    make.claude(tmp_path / "claude", "one", make.talk(1))
    assert Federation(off).refresh_sessions() is None
    assert not (tmp_data / "sessions").exists()
    found = asked(off, "quill1")
    assert found["results"] == [] and "sessions.tools" in found["degraded"][0]["why"]
    assert found["roots"][0]["why_not"]


def test_a_tool_that_is_switched_off_is_not_searched(config: Config, tmp_path: Path, tmp_data: Path) -> None:
    for number in range(30):
        make.claude(tmp_path / "claude", f"s{number}", make.talk(number))
    make.openclaw(tmp_path / "openclaw", "claw", make.talk(7))
    swept(config)
    assert len({r["path"] for r in asked(config, "quill7", k=50)["results"]}) > 1
    off = replace(config, sessions_tools=("openclaw",))
    assert swept(off).problems == []
    assert {r["path"] for r in asked(off, "quill7", k=50)["results"]} == {"sessions/openclaw/claw"}
    assert Federation(off).get("sessions/claude-code/s7").not_found
    swept(config)
    assert len({r["path"] for r in asked(config, "quill7", k=50)["results"]}) > 1


def test_all_asks_both_and_says_so(config: Config, tmp_path: Path, tmp_data: Path) -> None:
    make.claude(tmp_path / "claude", "one", make.talk(7))
    swept(config)
    found = asked(config, "quill7 deploy", source="all")
    assert {r["kind"] for r in found["results"]} == {"world", "session"}
    assert [(r["name"], r["why_not"]) for r in found["roots"]] == [("notes", None), ("sessions", None)]
    assert [r["rank"] for r in found["results"]] == list(range(1, len(found["results"]) + 1))
    assert {r["kind"] for r in asked(config, "quill7", source="notes")["results"]} == {"world"}
    assert "roots" not in asked(config, "quill7", source="notes")
    assert {r["kind"] for r in asked(config, "quill7 deploy", source="all", kind="session")["results"]} == {"session"}
    assert {r["kind"] for r in asked(config, "quill7 deploy", source="all", kind="W")["results"]} == {"world"}


def test_a_root_that_fails_takes_nothing_from_the_other(config: Config, tmp_path: Path, tmp_data: Path) -> None:
    make.claude(tmp_path / "claude", "one", make.talk(7))
    swept(config)
    (tmp_data / "sessions" / ".memory" / "index.sqlite").unlink()
    for file in (*(tmp_data / "sessions").glob("*/*.md"), *(tmp_path / "claude").glob("*/*.jsonl")):
        file.unlink()
    found = asked(config, "quill7", source="all")
    assert [r["kind"] for r in found["results"]] == ["world"]
    assert any(d["what"] == "source" for d in found["degraded"])


def test_get_never_leaves_the_folder_and_a_note_comes_first(config: Config, tmp_path: Path, tmp_data: Path) -> None:
    make.claude(tmp_path / "claude", "one", make.talk(1))
    swept(config)
    roots = Federation(config)
    with pytest.raises(VaultMemoryError):
        roots.get("sessions/claude-code/../../device#m1")
    for way in ("sessions/../device#m1", "sessions//etc/passwd#m1", "sessions/other/one#m1"):
        assert roots.get(way).not_found
    assert roots.get("sessions/.state/claude-code.json#m1").not_found
    assert roots.get("sessions/claude-code/none#m1").not_found
    whole = roots.get("sessions/claude-code/one")
    assert whole.start_line == 1 and whole.end_line == 4 and whole.text.startswith("- [2026-03-01] User: How")
    assert roots.get("sessions/claude-code/one", (2, 3)).text.count("\n") == 1
    fill(config.vault, {"sessions/claude-code/one.md": "a note of the vault\n"})
    assert Federation(config).get("sessions/claude-code/one").text == "a note of the vault"


def test_the_command_line(config: Config, tmp_path: Path, tmp_data: Path) -> None:
    for number in range(3):
        make.claude(tmp_path / "claude", f"s{number}", make.talk(number))
    env = {
        "MEMORY_SESSIONS_TOOLS": "claude-code", "MEMORY_SESSIONS_CLAUDE_CODE": str(tmp_path / "claude"),
    }  # fmt: skip

    def run(*arguments: str) -> str:
        done = CliRunner(env=env).invoke(group, ["--vault", str(config.vault), *arguments])
        assert done.exit_code == 0, done.output
        return done.stdout

    assert "3 sessions (3 added), 12 messages read" in run("index")
    assert json.loads(run("index", "--json"))["sessions"]["bytes_read"] == 0
    text = run("recall", "rollback of number 2", "--source", "all")
    assert "## sessions/claude-code/s2" in text and "\nm3 - User: And the rollback of number 2?" in text
    long = run("get", "sessions/claude-code/s2", "--max-tokens", "40", "--json")
    assert json.loads(long)["truncated"]
    cut = CliRunner(env=env).invoke(
        group, ["--vault", str(config.vault), "get", "sessions/claude-code/s2", "--max-tokens", "40"]
    )
    assert "Cut after message 1; continue with: memory get 'sessions/claude-code/s2' --lines 2:" in cut.stderr
    back = CliRunner(env=env).invoke(group, ["--vault", str(config.vault), "get", "sessions/claude-code/s2#m3-m2"])
    assert "There are no messages 3 to 2." in str(back.exception)
    assert run("get", "sessions/claude-code/s2#m3") == "- User: And the rollback of number 2?\n"
    assert "12 messages" in run("status")
    batch = tmp_path / "batch.jsonl"
    batch.write_text('{"query": "quill1"}\n{"query": "quill1", "source": "sessions"}\n{"query": "quill7"}\n')
    kinds = [
        {r["kind"] for r in json.loads(line)["results"]} for line in run("recall", "--batch", str(batch)).splitlines()
    ]
    assert kinds[1] == {"session"} and kinds[2] == {"world"}


def test_the_daemon_reads_what_hooks_mark(
    config: Config, tmp_path: Path, tmp_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from daemons import start_daemon, until

    monkeypatch.setenv("MEMORY_SESSIONS_TOOLS", "claude-code")
    monkeypatch.setenv("MEMORY_SESSIONS_CLAUDE_CODE", str(tmp_path / "claude"))
    file = make.claude(tmp_path / "claude", "one", make.talk(1))
    daemon = start_daemon(config.vault).ready()

    def found(query: str) -> list[dict]:
        return daemon.ask("recall", query=query, source="sessions")["results"]

    until(lambda: found("quill1"))
    with file.open("a") as handle:
        handle.write(make.claude_lines("one", [("user", "zebras as well")])[1] + "\n")
    ledger.mark_grown(os.environ)
    fill(config.vault, {"new.md": "a note that wakes it\n"})
    assert until(lambda: [r for r in found("zebras") if "zebras" in r["content"]])[0]["source"].endswith("one#m5")
    assert daemon.ask("get", path="sessions/claude-code/one#m5")["text"] == "- User: zebras as well"
    assert daemon.stop() == 0


@pytest.mark.parametrize("title", ["<vault-memory> - quill is on 3.12 (sa", '<recalled-context source="x">\n- a', "<b"])
def test_a_title_that_was_made_of_an_injected_frame_is_none(
    config: Config, tmp_path: Path, tmp_data: Path, title: str
) -> None:
    file = make.claude(tmp_path / "claude", "one", make.talk(1))
    with open(file, "a") as handle:
        handle.write(json.dumps({"type": "ai-title", "aiTitle": title, "sessionId": "one"}) + "\n")
    swept(config)
    assert 'title: "How do we deploy' in texts(tmp_data)["claude-code/one.md"]


def test_a_session_has_the_title_that_its_tool_gives_it_later(config: Config, tmp_path: Path, tmp_data: Path) -> None:
    file = make.claude(tmp_path / "claude", "one", make.talk(1))
    swept(config)
    before = texts(tmp_data)["claude-code/one.md"]
    assert 'title: "How do we deploy' in before

    def appended(*records: dict[str, str]) -> str:
        with open(file, "a") as handle:
            handle.writelines(json.dumps(record | {"sessionId": "one"}) + "\n" for record in records)
        assert swept(config).anew == 0
        return texts(tmp_data)["claude-code/one.md"]

    made = {"type": "ai-title", "aiTitle": "Deploying quill1"}
    text = appended(made)
    assert text.split("\n")[1] == 'title: "Deploying quill1"' and text.split("\n")[2:] == before.split("\n")[2:]
    text = appended(
        {"type": "custom-title", "customTitle": 'The "blue" one'},
        made,
        *map(json.loads, make.claude_lines("one", make.talk(2))),
    )
    assert (
        text.split("\n")[1] == 'title: "The \\"blue\\" one"'
        and "quill2" in text
        and text.count("quill1") == before.count("quill1") - 1
    )


# --- summaries of a compaction ---------------------------------------------------------------------------------------

SUMMARY = "This session is being continued from a previous conversation. The zebra crossing was painted."


def summarized(tool: str, root: Path) -> None:
    """A session with a compaction in its middle, as its tool writes it."""
    if tool == "opencode":
        make.opencode(root, "one", [*make.talk(1), ("assistant", SUMMARY), ("user", "Thanks for the okapi.")])
        with make.database(root) as db:
            db.execute("UPDATE message SET data = json_set(data, '$.summary', json('true')) WHERE id = 'onem0004'")
        return
    if tool == "claude-code":
        record = {
            "type": "user", "uuid": "s", "isCompactSummary": True, "isVisibleInTranscriptOnly": True,
            "timestamp": make.STAMP.format(day=1, minute=5), "message": {"role": "user", "content": SUMMARY},
        }  # fmt: skip
    else:
        record = {"type": "compaction", "id": "s", "timestamp": make.STAMP.format(day=2, minute=5), "summary": SUMMARY}
    file = MAKERS[tool](root, "one", [*make.talk(1), ("user", "Thanks for the okapi.")])
    *before, last = file.read_text().splitlines()  # type: ignore[attr-defined]
    file.write_text("\n".join([*before, json.dumps(record), last, ""]))  # type: ignore[attr-defined]


@pytest.mark.parametrize("tool", MAKERS)
def test_a_compaction_is_kept_as_a_summary(tool: str, config: Config, tmp_path: Path, tmp_data: Path) -> None:
    summarized(tool, tmp_path / tool.split("-")[0])
    config = replace(config, sessions_tools=(tool,))
    assert swept(config).messages == 6
    lines = texts(tmp_data)[f"{tool}/one.md"].splitlines()[transcript.HEAD_LINES :]
    assert lines[4] == f"- Summary: {SUMMARY}" and lines[5] == "- User: Thanks for the okapi."
    assert asked(config, "zebra crossing")["results"][0]["source"] == f"sessions/{tool}/one#m5"
    marks, problems = sources.load_marks(config.vault, os.environ), list[str]()
    reader = sources.SessionReader(config, os.environ, marks, None)
    (session,) = reader.unread(problems)
    assert [one.number for one in session.messages] == [1, 2, 3, 4, 6] and session.length == 6
    assert reader.messages(session)[6].id in ("one-4", "m4", "")
    marks.sessions[session.path] = session.length
    assert not list(reader.unread(problems)) and not problems
