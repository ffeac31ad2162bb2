"""What a person sees: the program run in a terminal of its own, whose screen is read as text."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sample import at_home, call, working_in
from vaults import put

pty = pytest.importorskip("pty", reason="needs a pseudo-terminal")


def screen(*arguments: str, typed: str = "", columns: int = 60, **more: str) -> str:
    """All that `memory ARGUMENTS` shows in a terminal of so many columns, where this is typed."""
    leader, follower = pty.openpty()
    environ = os.environ | {"COLUMNS": str(columns), "TERM": "xterm-256color"} | more
    environ = {name: value for name, value in environ.items() if value}
    command = [sys.executable, "-m", "vault_memory", *arguments]
    with subprocess.Popen(command, stdin=follower, stdout=follower, stderr=follower, env=environ):
        os.close(follower)
        os.write(leader, typed.encode())
        shown = b""
        while True:
            try:
                if not (part := os.read(leader, 65536)):
                    break
            except OSError:  # what Linux says when the program has ended
                break
            shown += part
    os.close(leader)
    return shown.decode().replace("\r\n", "\n")


# --- the first minute ------------------------------------------------------------------------------------------------


def test_a_plain_folder_of_notes_becomes_the_vault_when_asked(tmp_path: Path) -> None:
    put(tmp_path, "Notes/Boiler.md", "The manual is in the blue folder.\n")
    with at_home(tmp_path), working_in(tmp_path / "Notes"):
        refused = call("index")
        assert refused.code == 3
        assert "`memory index --vault .`" in refused.err
        assert "with its 1 note as your vault?" in screen("index", typed="n\n")
        assert call("recall", "manual").code == 3
        screen("index", typed="y\n")
        assert "blue folder" in call("recall", "manual").out


def test_nobody_is_offered_all_of_their_home(tmp_path: Path) -> None:
    put(tmp_path, "Notes/Boiler.md", "The manual is in the blue folder.\n")
    with at_home(tmp_path), working_in(tmp_path):
        assert "--vault ." not in call("index").err


@pytest.mark.parametrize(
    "settings", ["", "[recall]\nk = 3\n", '[vault] # mine\nignore = ["x"]\n', "index.path = 'x'\n"]
)
def test_a_vault_whose_index_lies_elsewhere_is_remembered(tmp_path: Path, settings: str) -> None:
    put(tmp_path, "Dropbox/Boiler.md", "The manual is in the blue folder.\n")
    put(tmp_path, ".config/vault-memory/config.toml", settings)
    with at_home(tmp_path), working_in(tmp_path):
        assert call("index", "--vault", "Dropbox").code == 0
        assert "blue folder" in call("recall", "manual").out
        assert "your vault" not in call("index", "--vault", "Dropbox").err
