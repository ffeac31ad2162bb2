"""A further vault on a drive that is gone: whoever reads it waits for ever, and nobody waits for whoever does."""

import json
from pathlib import Path

import pytest
from daemons import start_daemon
from hooks import asked, logged, settings
from vaults import fill, memory, run

from vault_memory.federation import Federation

QUOKKA = "where is the quokka server?"

DRIVE = """
import os, threading

def hang(name):
    real = getattr(os, name)
    def call(path=".", *arguments, **options):
        folder = options.get("dir_fd")
        path_of = folder if folder is not None else path
        where = os.readlink(f"/proc/self/fd/{path_of}") if isinstance(path_of, int) else os.fspath(path_of)
        if os.fsdecode(where).startswith(os.environ["HUNG"]) and os.access(os.environ["GONE"], os.F_OK):
            threading.Event().wait()
        return real(path, *arguments, **options)
    setattr(os, name, call)

for name in os.environ["HANGING"].split():
    hang(name)
"""
"""Run when a process starts: from when the file $GONE is there, these functions of the system never come back."""


@pytest.fixture
def main(tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault with two further ones; the first lies on a drive that goes once `gone` is there."""
    if not Path("/proc/self/fd").is_dir():
        pytest.skip("what a descriptor is open on is asked of /proc")
    main = fill(tmp_path / "Main", {"a.md": "# Quokka\n\nThe quokka server is painted green.\n"})
    hung = fill(tmp_path / "Hung", {"h.md": "# Quokka\n\nThe quokka server hums.\n"})
    work = fill(tmp_path / "Work", {"z.md": "# Quokka\n\nThe quokka server lives in rack 7 of the cellar.\n"})
    settings(f'[roots]\nvaults = ["{hung}", "{work}"]\n', hooks="seconds = 8")
    memory(main).index()
    list(Federation(main).refresh_further_vaults())
    drive = fill(tmp_path / "drive", {"sitecustomize.py": DRIVE})
    for name, value in {"PYTHONPATH": drive, "HUNG": hung, "GONE": tmp_path / "gone"}.items():
        monkeypatch.setenv(name, str(value))
    return main


@pytest.mark.slow
def test_one_that_cannot_even_be_looked_for_keeps_no_other_from_answering(
    main: Path, tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANGING", "stat lstat scandir open")
    (tmp_path / "gone").touch()
    found = json.loads(run(main, "recall", QUOKKA, "--json").stdout)
    assert {result["path"] for result in found["results"]} == {"a.md", "roots/work/z.md"}
    assert [(root["name"], bool(root["why_not"])) for root in found["roots"]] == [
        ("notes", False), ("work", False), ("hung", True),
    ]  # fmt: skip
    assert "hung did not answer in time" in str(found["degraded"])
    # Whose scope is not known is not named to an agent.
    said = asked(main, "s1", QUOKKA, as_process=True)
    assert "painted green" in said and "rack 7" in said
    assert asked(main, "s1", QUOKKA, as_process=True) == ""
    assert "A further vault did not answer in time" in logged(data) and "hung did" not in logged(data).casefold()
    assert "rack 7" in run(main, "get", "roots/work/z.md").stdout
    told = run(main, "index").stderr.casefold()
    assert "hung: hung did not answer in time" in told and "work: " in told


def test_one_that_can_be_opened_and_not_listed_keeps_the_daemon_from_no_answer(
    main: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANGING", "scandir")
    daemon = start_daemon(main).settled()
    (tmp_path / "gone").touch()
    for _ in range(2):
        found = daemon.ask("recall", query=QUOKKA)
        assert {result["path"] for result in found["results"]} == {"a.md", "roots/work/z.md"}
        assert "hung did not answer in time" in str(found["degraded"])
        assert [bool(root["why_not"]) for root in daemon.ask("status")["roots"]] == [True, False]
