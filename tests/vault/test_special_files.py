"""Pipes, devices, endless and deeply nested files in a vault: no command waits for them, eats memory or breaks."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from sample import call
from vaults import fill

from vault_memory.vault.vault import MAX_NOTE_BYTES

TODAY = "2025-11-27"
RUN = f"""
import json
from sample import call
for command in (["index"], ["recall", "keeper"], ["retain", "A fact.", "--date", "{TODAY}"], ["reflect"], ["doctor"]):
    said = call("--vault", ".", *command)
    print(json.dumps([command[0], said.code, said.out + said.err]), flush=True)
"""


def outcomes(root: Path) -> dict[str, tuple[int, str]]:
    """What each command ended with and said, in a process that may neither wait nor take much memory."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))

    environ = os.environ | {"PYTHONPATH": str(Path(__file__).parent.parent)}
    ended = subprocess.run(
        [sys.executable, "-c", RUN], cwd=root, env=environ, capture_output=True, text=True, timeout=60, check=True,
        preexec_fn=limit,
    )  # fmt: skip
    found = {name: (code, said) for name, code, said in map(json.loads, ended.stdout.splitlines())}
    assert not any("Unexpected" in said for _, said in found.values()), found
    return found


SETTINGS = (".obsidian/app.json", ".obsidian/daily-notes.json", ".memory/config.toml")
OWN = (".memory/index.sqlite", ".memory/index.sqlite-wal", ".memory/journal", ".memory/tmp")


@pytest.mark.parametrize("kind", ["pipe", "endless", "nested"])
@pytest.mark.parametrize("name", SETTINGS)
def test_settings_that_are_no_plain_file_are_said(tmp_path: Path, name: str, kind: str) -> None:
    root = fill(tmp_path / "vault", {"a.md": "Say hello to the lighthouse keeper.\n"})
    file = root / name
    file.parent.mkdir()
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "endless":
        file.symlink_to("/dev/zero")
    else:
        file.write_text("x = " * name.endswith("toml") + "[" * 100_000)
    found = outcomes(root)
    if name.endswith("config.toml"):
        code, said = found.pop("doctor")  # which looks at all else
        assert (code, "config.toml" in said, "sqlite-vec" in said, "1 note in" in said) == (1, True, True, True), said
        assert all(code == 2 and "config.toml" in said for code, said in found.values()), found
    elif name.endswith("app.json"):  # what it leaves out is not known
        assert (found["recall"][0], found["retain"][0]) == (6, 0), found
        assert "app.json cannot be read" in found["recall"][1]
    else:
        assert "a.md" in found["recall"][1]
        assert found["retain"][0] == 6, found
        assert name.partition("/")[2] in found["doctor"][1]


@pytest.mark.parametrize("name", OWN)
def test_a_pipe_in_place_of_a_derived_file_stops_nothing(tmp_path: Path, name: str) -> None:
    root = fill(tmp_path / "vault", {"a.md": "Say hello to the lighthouse keeper.\n", ".memory/x": ""})
    os.mkfifo(root / name)
    found = outcomes(root)
    assert (found["recall"][0], "a.md" in found["recall"][1]) == (0, True), found


def test_a_pipe_in_place_of_the_days_note_is_refused(tmp_path: Path) -> None:
    root = fill(tmp_path / "vault", {"a.md": "Say hello to the lighthouse keeper.\n", "memory/x.md": ""})
    os.mkfifo(root / f"memory/{TODAY}.md")
    code, said = outcomes(root)["retain"]
    assert (code, "not a regular file" in said) == (5, True), said


@pytest.mark.parametrize(("name", "said"), [("caf\udce9.md", "caf\\xe9.md"), ("b.md", "b.md: larger than")])
def test_a_note_that_cannot_be_indexed_is_named_each_time(tmp_path: Path, name: str, said: str) -> None:
    root = fill(tmp_path / "vault", {"a.md": "Say hello to the lighthouse keeper.\n", name: ""})
    os.truncate(root / name, MAX_NOTE_BYTES + 1 if name == "b.md" else 0)
    for _ in range(2):
        done = call("--vault", str(root), "index")
        assert (done.code, said in done.out) == (1, True)
    assert call("--vault", str(root), "recall", "lighthouse").code == 0
