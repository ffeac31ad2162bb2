"""Settings of a process that stays: whose they are, and that what was read last is in force."""

import os
import threading
from pathlib import Path

import pytest

from vault_memory.config import Config, load
from vault_memory.daemon.settings import LiveSettings


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "vault/.memory").mkdir(parents=True)
    return tmp_path / "vault"


def test_a_file_of_the_asking_process_counts_as_it_stands_now(root: Path, tmp_path: Path) -> None:
    live, file = LiveSettings(Config(vault=root)), tmp_path / "other/vault-memory/config.toml"
    environ = {name: os.environ[name] for name in ("HOME", "XDG_DATA_HOME")}
    environ["XDG_CONFIG_HOME"] = str(tmp_path / "other")
    assert live.are_those_of(environ)
    file.parent.mkdir(parents=True)
    file.write_text("[recall]\nk = 2\n")
    assert not live.are_those_of(environ)
    file.write_text("")
    assert live.are_those_of(environ)


def test_a_file_that_broke_since_is_not_the_daemons_to_answer_for(root: Path) -> None:
    """Without a daemon the command would say what is wrong with it."""
    live = LiveSettings(Config(vault=root))
    environ = {name: os.environ[name] for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")}
    assert live.are_those_of(environ)
    (root / ".memory/config.toml").write_text("[recall")
    live.current()
    assert not live.are_those_of(environ)
    (root / ".memory/config.toml").write_text("")
    live.current()
    assert live.are_those_of(environ)


def test_a_file_is_read_when_its_save_is_complete(root: Path) -> None:
    """An editor that saves in place leaves the file empty for a moment, and that would be valid."""
    file = root / ".memory/config.toml"
    file.write_text("[recall]\nk = 3\n")

    def complete_save() -> None:
        if not file.stat().st_size:
            file.write_text("[recall]\nk = 5\n")

    live = LiveSettings(load(str(root)), pause=complete_save)
    file.write_text("")
    assert live.current().recall_k == 5


def test_of_two_readings_the_later_wins(root: Path) -> None:
    """The first reads slowly; meanwhile the file is replaced and read by another thread."""
    file, threads = root / ".memory/config.toml", list[threading.Thread]()

    def be_overtaken() -> None:
        if not threads:
            threads.append(threading.Thread(target=live.current, daemon=True))
            file.write_text("[recall]\nk = 5\n")
            threads[0].start()
            threads[0].join(0.3)  # it may have to wait for the first

    live = LiveSettings(load(str(root)), pause=be_overtaken)
    file.write_text("[recall]\nk = 3\n")
    live.read_again()
    threads[0].join(30)
    assert live.current().recall_k == 5
