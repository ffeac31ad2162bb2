"""`memory watch` as users meet it: asked by the command line, one a vault, stopped, reloaded, robbed of its index."""

import contextlib
import json
import os
import re
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from daemons import PATIENCE_SECONDS, Running, freeze, start_daemon, until
from rpc_server import Raw, request
from sample import Said, call
from vaults import fill, index_digest, memory, obeying_permissions, put, snapshot, start

from vault_memory.daemon import client
from vault_memory.errors import BusyError, VaultMemoryError

NOTES = {
    "anchor.md": "The anchor lies in the harbour of Kallö.\n",
    "memory/2025-11-27.md": "# Day\n\n## Retain\n- O(c=0.9) @Nora: Prefers the night train to Gothenburg.\n",
    "bank/entities/Nora.md": "# Nora\n\nA friend.\n",
}
ASKED = ("recall", "what does Nora prefer?", "--now", "2025-12-01")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return fill(tmp_path / "vault", NOTES)


def run(root: Path, *arguments: str) -> Said:
    return call("--vault", str(root), *arguments)


def told(root: Path, *arguments: str) -> Any:
    """The JSON that a command prints."""
    ended = run(root, *arguments, "--json")
    assert ended.code == 0, ended
    return json.loads(ended.out)


def without_measures(document: dict[str, Any]) -> dict[str, Any]:
    index = {key: value for key, value in document.get("index", {}).items() if key != "bytes"}
    return {key: value for key, value in document.items() if key not in ("seconds", "daemon")} | {"index": index}


# --- asked by the command line ---------------------------------------------------------------------------------------


def test_the_answer_is_the_same_with_a_daemon_and_without(root: Path) -> None:
    questions = [
        (*ASKED, "--json", "--explain"), ("recall", "anchor", "--k", "1"), ("recall", "nothing", "--entity", "Nobody"),
        ("recall", "anchor", "--since", "the 40th"), ("recall", "anchor", "--kind", "X", "--json"),
        ("recall", "caf\udce9", "--json", "--now", "2025-12-01"), ("recall", "x" * 100_000), ("status", "--json"),
    ]  # fmt: skip
    memory(root).index()
    alone = [run(root, *question) for question in questions]
    start_daemon(root)
    for question, before in zip(questions, alone, strict=True):
        asked = run(root, *question)
        assert (asked.code, asked.err) == (before.code, before.err)
        if "--json" in question:
            assert without_measures(json.loads(asked.out)) == without_measures(json.loads(before.out))
        else:
            assert asked.out == before.out


def test_it_is_the_daemon_that_answers(root: Path) -> None:
    daemon = start_daemon(root).settled()
    freeze(daemon.process)
    assert told(root, *ASKED)["results"]  # in its own process, for nobody answers
    daemon.process.send_signal(signal.SIGCONT)
    status = told(root, "status")["daemon"]
    assert status["pid"] == daemon.process.pid
    assert (status["watching"], status["oldest_pending_seconds"], status["trouble"]) == ("native", None, None)
    assert "watching for changes" in run(root, "status").out


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a note may need some milliseconds to be told of")
def test_a_saved_note_is_in_the_very_next_answer(root: Path) -> None:
    """About a millisecond lies between the save and the question."""
    daemon = start_daemon(root).settled()
    for n in range(30):
        put(root, f"new/{n}.md", f"heron{n:03} by the weir", 0)
        found = client.call(daemon.socket, "recall", {"query": f"heron{n:03}", "mode": "lexical", "no_journal": True})
        assert [result["path"] for result in found["results"]] == [f"new/{n}.md"]
        assert found["index"] == {**found["index"], "fresh": True, "pending": 0}


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a note may need some milliseconds to be told of")
def test_a_folder_that_was_renamed_is_in_the_very_next_answer(root: Path) -> None:
    for n in range(12):
        put(root, f"Ideas/{n}.md", f"heron{n:03} by the weir", 0)
    daemon = start_daemon(root).settled()
    for old, new in (("Ideas", "Gedanken"), ("Gedanken", "Idées")):
        (root / old).rename(root / new)
        found = client.call(daemon.socket, "recall", {"query": "heron007", "mode": "lexical", "no_journal": True})
        assert [result["path"] for result in found["results"]] == [f"{new}/7.md"]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a note may need some milliseconds to be told of")
def test_a_note_that_takes_a_while_to_index_is_in_the_very_next_answer(root: Path) -> None:
    """As any note does on a busy machine: its reading takes much longer than the telling of it."""
    daemon = start_daemon(root).settled()
    lines = "\n\n".join(f"line {n} of the weir where heron{n} stands, {n * 7} feet from the bank" for n in range(2500))
    put(root, "new.md", f"{lines}\n\nthe kingfisher\n", 0)
    found = client.call(daemon.socket, "recall", {"query": "kingfisher", "mode": "lexical", "no_journal": True})
    assert "the kingfisher" in [result["content"] for result in found["results"]]


@pytest.mark.parametrize("variables", [{"MEMORY_PRESET": "rrf"}, {"TZ": "Asia/Tokyo"}, {"HOME": "/nowhere"}])
def test_a_process_with_other_settings_answers_itself(
    root: Path, variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon = start_daemon(root)
    environment = {
        name: os.environ[name] for name in ("HOME", "TZ", "XDG_CONFIG_HOME", "XDG_DATA_HOME") if name in os.environ
    }
    assert daemon.ask("recall", query="anchor", no_journal=True, process={"environment": environment})["results"]
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME") if "HOME" in variables else ():
        environment.pop(name, None)
    with pytest.raises(VaultMemoryError, match="other settings"):
        daemon.ask("recall", query="anchor", process={"environment": {**environment, **variables}})
    with pytest.raises(VaultMemoryError, match="is version"):
        daemon.ask("recall", query="anchor", process={"version": "0.0.1"})
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert run(root, *ASKED).code == 0


# --- one a vault -----------------------------------------------------------------------------------------------------


def test_a_second_one_says_who_has_the_vault(root: Path) -> None:
    daemon = start_daemon(root)
    second = run(root, "watch")
    assert second.code == 75
    assert f"process {daemon.process.pid}, since 20" in second.err
    assert daemon.ask("health")["pid"] == daemon.process.pid


def test_a_second_one_is_refused_though_the_first_ones_folder_was_deleted(root: Path) -> None:
    daemon = start_daemon(root).settled()
    shutil.rmtree(root / ".memory")
    other = {"XDG_RUNTIME_DIR": str(root.parent / "other"), "TMPDIR": str(root.parent)}
    (root.parent / "other").mkdir(mode=0o700)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in other.items():
            patch.setenv(name, value)
        assert run(root, "watch").code == 75
        assert told(root, "status")["daemon"]["pid"] == daemon.process.pid  # found all the same


@pytest.mark.parametrize("lost", ["socket", "its folder", "the runtime folder"])
def test_a_socket_that_vanished_is_made_again(
    root: Path, lost: str, short_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last logout empties /run/user/N, or takes it away; and the next login brings it back."""
    runtime = short_folder / "run"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    daemon = start_daemon(root).settled()
    before = daemon.socket
    with Raw(before) as connection:
        before.unlink()
        if lost != "socket":
            shutil.rmtree(before.parent if lost == "its folder" else runtime)
        assert daemon.socket.exists() is False
        put(root, "heron.md", "heron", 0)
        until(daemon.socket.exists)
        assert connection.ask(request("health"))["result"]["socket"] == str(daemon.socket)
    assert _found(daemon, "heron")
    assert (daemon.socket == before) is (lost != "the runtime folder")
    if lost == "the runtime folder":
        elsewhere = daemon.socket
        runtime.mkdir(mode=0o700)
        put(root, "heron.md", "another heron", 0)
        until(before.exists)
        until(lambda: daemon.ask("health")["socket"] == str(before))
        assert not elsewhere.exists()
    assert daemon.stop() == 0
    assert not before.exists()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_when_told_and_leaves_nothing_behind(root: Path, how: signal.Signals) -> None:
    daemon = start_daemon(root).settled()
    before = index_digest(memory(root))
    socket = daemon.socket
    assert stat.S_IMODE(socket.stat().st_mode) == 0o600
    assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o700
    daemon.process.send_signal(how)
    out, errors = daemon.process.communicate(timeout=30)
    assert (daemon.process.returncode, out) == (0, "")
    assert errors.startswith("Watching") and errors.count("\n") == 1
    assert not socket.exists()
    assert index_digest(memory(root)) == before
    assert sorted(p.name for p in (root / ".memory").iterdir()) == [
        ".gitignore", "index.sqlite", "index.sqlite.lock",
    ]  # fmt: skip
    assert (root / ".memory/.gitignore").read_text().count("*.lock") == 1


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists a process's threads and lets one be signalled")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_whichever_thread_the_system_gives_the_signal_to(root: Path, how: signal.Signals) -> None:
    daemon = start_daemon(root).settled()
    threads = {int(name) for name in os.listdir(f"/proc/{daemon.process.pid}/task")} - {daemon.process.pid}
    os.kill(min(threads), how)  # it stays: younger ones may answer a question and end
    daemon.process.communicate(timeout=PATIENCE_SECONDS)
    assert daemon.process.returncode == 0


# --- settings --------------------------------------------------------------------------------------------------------


def test_settings_are_read_again_when_their_file_changes(root: Path) -> None:
    daemon = start_daemon(root)
    put(root, "Private/secret.md", "heron", 0)
    daemon.settled()
    assert daemon.ask("recall", query="heron", mode="lexical")["results"]
    put(root, ".memory/config.toml", '[vault]\nignore = ["Private/*"]\n', 0)
    until(lambda: not daemon.ask("recall", query="heron", mode="lexical")["results"])
    put(root, ".memory/config.new", "[vault\n", 0)  # all at once: a file that is empty for a moment has no mistake
    (root / ".memory" / "config.new").replace(root / ".memory" / "config.toml")
    until(lambda: daemon.ask("status")["daemon"]["settings"] is not None)
    assert not daemon.ask("recall", query="heron", mode="lexical")["results"]  # what was in force stays so
    assert "still using the old settings" in run(root, "status").out or run(root, "status").code == 2


def test_obsidians_own_settings_count_too_and_a_hang_up_has_all_read_again(root: Path) -> None:
    (root / ".obsidian").mkdir()
    daemon = start_daemon(root)
    assert daemon.ask("recall", query="anchor", mode="lexical")["results"]
    put(root, ".obsidian/app.json", '{"userIgnoreFilters": ["anchor.md"]}', 0)
    until(lambda: not daemon.ask("recall", query="anchor", mode="lexical")["results"])
    log = Path(daemon.ask("health")["log"])
    before = log.read_text().count("settings were read again")
    daemon.process.send_signal(signal.SIGHUP)
    until(lambda: log.read_text().count("settings were read again") > before)


# --- what goes wrong -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["deleted", "deleted with its log", "damaged", "emptied", "an older one in its place"])
def test_whatever_is_done_to_the_index_under_it_is_put_right(root: Path, how: str) -> None:
    daemon = start_daemon(root).settled()
    index, older = root / ".memory/index.sqlite", root.parent / "older.sqlite"
    with contextlib.closing(sqlite3.connect(index)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("VACUUM INTO ?", (str(older),))
    if how.startswith("deleted"):
        for file in (root / ".memory").glob("index.sqlite*" if "log" in how else "index.sqlite"):
            file.unlink()
        assert daemon.ask("recall", query="anchor")["results"]
    elif how == "damaged":
        index.write_bytes(index.read_bytes()[:4096] + b"\xff" * (index.stat().st_size - 4096))
    elif how == "emptied":
        os.truncate(index, 0)
    put(root, "heron.md", "heron", 0)
    if how == "an older one in its place":
        daemon.settled()
        os.replace(older, index)
        found = daemon.ask("recall", query="heron", mode="lexical")
        assert found["results"] or not found["index"]["fresh"]
    until(lambda: index.exists() and _found(daemon, "heron") and _found(daemon, "anchor"))
    daemon.settled()
    assert run(root, "index", "--check").code == 0


def test_an_index_that_cannot_be_written_is_told_of_and_answers(root: Path) -> None:
    memory(root).index()
    daemon = Running(root, start(root, "watch", first=obeying_permissions())).ready().settled()
    files = [root / ".memory" / name for name in ("index.sqlite", "index.sqlite.lock")]
    for file in files:
        file.chmod(0o400)
    put(root, "heron.md", "heron", 0)
    until(lambda: daemon.ask("health")["trouble"])
    answer = daemon.ask("recall", query="anchor", no_journal=True)
    assert (answer["results"][0]["path"], answer["index"]["fresh"]) == ("anchor.md", False)
    for file in files:
        file.chmod(0o600)
    until(lambda: _found(daemon, "heron"))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_full_disk_is_told_of_and_answers(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", str(disk)], check=False).returncode:
        pytest.skip("this machine lets nobody mount")
    try:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
        put(tmp_path, "vault-memory/config.toml", f'[index]\npath = "{disk}/index.sqlite"\n')
        daemon = start_daemon(root).settled()
        with contextlib.suppress(OSError), open(disk / "ballast", "wb", buffering=0) as file:
            while file.write(b"x" * 4096):
                pass
        put(root, "long.md", "heron " + "stands by the weir and waits " * 6_000, 0)
        until(lambda: daemon.ask("health")["trouble"])
        answer = daemon.ask("recall", query="anchor")
        assert (answer["results"][0]["path"], answer["index"]["fresh"]) == ("anchor.md", False)
        (disk / "ballast").unlink()
        until(lambda: _found(daemon, "heron"))
        assert daemon.stop() == 0
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def _found(daemon: Running, word: str) -> bool:
    try:
        return bool(daemon.ask("recall", query=word, mode="lexical")["results"])
    except VaultMemoryError:
        return False


def test_a_change_that_nobody_tells_of_is_doubted_when_it_is_met(root: Path) -> None:
    import mmap

    put(root, "mapped.md", "heron " * 2000)
    daemon = start_daemon(root).settled()
    with open(root / "mapped.md", "r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[:12000] = b"ferry " * 2000
        mapped.flush()
    found = daemon.ask("recall", query="heron", mode="lexical")
    assert not found["results"] and not found["index"]["fresh"]
    until(lambda: _found(daemon, "ferry"))


def test_a_vault_that_is_gone_is_said_to_be_gone(root: Path) -> None:
    daemon = start_daemon(root).settled()
    root.rename(root.parent / "away")
    root.mkdir()
    with pytest.raises(VaultMemoryError, match="nothing was deleted") as refused:
        daemon.ask("recall", query="anchor")
    assert refused.value.exit_code == 6
    assert list(root.rglob("*")) == []
    root.rmdir()
    (root.parent / "away").rename(root)
    until(lambda: _found(daemon, "anchor"))
    daemon.settled()


# --- the socket's methods --------------------------------------------------------------------------------------------


@pytest.mark.slow  # enough notes for the stop to come in the midst
def test_a_stop_ends_a_rebuild_and_leaves_the_index_as_it_was(root: Path) -> None:
    fill(root, {f"{n}.md": f"# heron {n}\n\nlives by the weir\n" for n in range(1500)})
    memory(root).index()
    daemon = start_daemon(root).settled()
    kept, digest = {path.name for path in (root / ".memory").iterdir()}, index_digest(memory(root))
    with ThreadPoolExecutor(1) as asking:
        asked = asking.submit(daemon.ask, "index", rebuild=True)
        until(lambda: {path.name for path in (root / ".memory").iterdir()} - kept)
        assert daemon.stop() == 0
        assert isinstance(asked.exception(30), BusyError)
    assert index_digest(memory(root)) == digest
    assert {path.name for path in (root / ".memory").iterdir()} <= kept


def test_many_ask_at_once(root: Path) -> None:
    daemon = start_daemon(root).settled()
    with ThreadPoolExecutor(12) as asking:
        answers = list(asking.map(lambda _: daemon.ask("recall", query="anchor", now="2025-12-01"), range(40)))
    assert len({json.dumps(without_measures(answer)) for answer in answers}) == 1
    assert answers[0]["results"][0]["path"] == "anchor.md"


# --- its log ---------------------------------------------------------------------------------------------------------


def test_nothing_of_a_notes_text_is_in_the_log_and_the_notes_are_as_they_were(root: Path) -> None:
    daemon = start_daemon(root)
    put(root, "secret.md", "# Heron\nThe password is herring.\n\n## Retain\n- X(c=9) broken herring\n", 0)
    daemon.settled()
    before = snapshot(root)
    daemon.ask("recall", query="password herring", no_journal=True)
    assert snapshot(root) == before
    log = Path(daemon.ask("health")["log"])
    assert daemon.ask("shutdown") == {"stopping": True}
    daemon.process.communicate(timeout=30)
    assert daemon.process.returncode == 0
    assert (stat.S_IMODE(log.stat().st_mode), stat.S_IMODE(log.parent.stat().st_mode)) == (0o600, 0o700)
    text = log.read_text()
    assert re.search(r"INFO +vault-memory .* watches", text) and re.search(r"\d added", text) and "stopped" in text
    assert "herring" not in text and "Heron" not in text


def test_doctor_tells_of_the_daemon(root: Path) -> None:
    assert "not running" in run(root, "doctor").out
    daemon = start_daemon(root)
    said = run(root, "doctor")
    assert (said.code, f"process {daemon.process.pid} answers" in said.out) == (0, True)
