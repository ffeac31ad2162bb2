"""What a person sees: the program run in a terminal of its own, whose screen is read as text."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample import NOW, at_home, call, working_in
from vaults import put

from vault_memory.rendering.recall import BOLD, FEWEST_CELLS, wrapped
from vault_memory.text.output import cells

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


@pytest.fixture
def home(tmp_path: Path):
    with at_home(tmp_path), working_in(tmp_path):
        yield tmp_path


# --- the first minute ------------------------------------------------------------------------------------------------


MANUAL = "The manual is in the blue folder.\n"


def test_a_plain_folder_of_notes_becomes_the_vault_when_asked(home: Path) -> None:
    put(home, "Notes/Boiler.md", MANUAL)
    assert "--vault ." not in call("index").err, "nobody is offered all of their home"
    with working_in(home / "Notes"):
        refused = call("index")
        assert (refused.code, "`memory index --vault .`" in refused.err) == (3, True)
        assert "with its 1 note as your vault?" in screen("index", typed="n\n")
        assert call("recall", "manual").code == 3
        screen("index", typed="y\n")
        assert "blue folder" in call("recall", "manual").out


@pytest.mark.parametrize(
    "settings", ["", "[recall]\nk = 3\n", '[vault] # mine\nignore = ["x"]\n', "index.path = 'x'\n"]
)
def test_a_vault_whose_index_lies_elsewhere_is_remembered(home: Path, settings: str) -> None:
    put(home, "Dropbox/Boiler.md", MANUAL)
    put(home, ".config/vault-memory/config.toml", settings)
    assert call("index", "--vault", "Dropbox").code == 0
    assert "blue folder" in call("recall", "manual").out
    assert "your vault" not in call("index", "--vault", "Dropbox").err


# --- looks -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def sample(indexed_sample: Path, home: Path):
    shutil.copytree(indexed_sample, home / "Notes")
    with working_in(home / "Notes"):
        yield home


ASKED = ("recall", "what does Peter prefer?", "-k", "3", "--now", NOW)


def test_a_terminal_shows_bold_words_and_links(sample: Path) -> None:
    shown = screen(*ASKED, NO_COLOR="")
    assert f"@{BOLD}Peter" in shown and f"{BOLD}Prefers" in shown
    assert "\x1b]8;;obsidian://open?vault=Notes&file=memory%2F2025-11-27\x1b\\" in shown
    put(sample, ".config/vault-memory/config.toml", "[terminal]\nlinks = false\n")
    shown = screen(*ASKED, NO_COLOR="")
    assert BOLD in shown and "\x1b]8;" not in shown


KITES = """Flown in autumn.

## Retain
- W: The red kite needs a new line before the next strong wind from the west.
- W: Bread is sold until noon.
- W: The kite flew all morning.

## Shop
- a kite of silk
"""
SHOWN = """\
Autumn.md
Retain
L4 - W: The red kite needs a new line
   before the next strong wind from the
   west.
 ⋮
L6 - W: The kite flew all morning.
Shop
L9 - a kite of silk
"""


def test_an_answer_on_a_narrow_terminal_without_colour(home: Path) -> None:
    put(home, "Notes/Autumn.md", KITES)
    assert screen("--vault", "Notes", "recall", "kite", "-k", "3", "--quiet", columns=40) == SHOWN
    shown = screen("--vault", "Notes", "recall", "kite", "-k", "1", columns=30)
    assert " more matches; use --k to see more." in shown.replace("\n", " ")
    assert max(map(cells, shown.split("\n"))) <= 30


def test_the_compound_of_which_a_word_is_part_is_bold(home: Path) -> None:
    put(home, "Notes/Signal.md", "Die Kodierungslänge war neun.\n")
    assert f"{BOLD}Kodierungslänge" in screen("--vault", "Notes", "recall", "kodierung", NO_COLOR="")


def test_a_note_closes_no_link_and_sets_no_style(home: Path) -> None:
    put(home, "Notes/a.md", "The kite \x1b[31mis red\x1b]8;;http://x\x1b\\.\n")
    shown = screen("--vault", "Notes", "recall", "kite", NO_COLOR="")
    assert re.findall(r"\x1b\[31m|\x1b]8;;http", shown) == []


def test_what_scripts_read_is_the_same_on_a_terminal_and_in_a_pipe(sample: Path) -> None:
    for shape in ("md", "json", "paths"):
        piped = call(*ASKED, "--format", shape, "--quiet").out
        shown = screen(*ASKED, "--format", shape, "--quiet", columns=20, NO_COLOR="")
        assert re.sub(r'"seconds".*', "", shown) == re.sub(r'"seconds".*', "", piped)
    assert call(*ASKED, "--format", "md").out == call(*ASKED).out
    for both in ((*ASKED, "--format", "paths", "--json"), ("recall", "--batch", "-", "--format", "md")):
        assert call(*both).code == 2
    assert call(*ASKED, "--format", "paths").out.split("\n")[0] == "memory/2025-11-27.md"


@given(st.text(), st.integers(FEWEST_CELLS, 80))
def test_wrapping_loses_nothing_but_spaces(text: str, width: int) -> None:
    rows = wrapped(text, width)
    assert "".join("".join(rows).split()) == "".join(text.split())
    assert all(cells(row.rstrip()) <= width for row in rows)


def test_the_shell_completes_commands_and_options() -> None:
    environ = os.environ | {"_MEMORY_COMPLETE": "bash_complete", "COMP_WORDS": "memory recall --f", "COMP_CWORD": "2"}
    command = [str(Path(sys.executable).with_name("memory"))]
    done = subprocess.run(command, env=environ, capture_output=True, timeout=60, check=False)
    assert done.stdout.decode() == "plain,--format\n"


# --- what an install asks --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "settings"),
    [
        ("n\n", None), ("y\nn\n", '[sessions]\ntools = ["claude-code"]\n'),
        ("y\ny\n", '[sessions]\nlog = true\ntools = ["claude-code"]\n'),
    ],
)  # fmt: skip
def test_an_install_asks_whether_sessions_are_kept(home: Path, typed: str, settings: str | None) -> None:
    put(home, "Notes/memory.md", "# Memory\n")
    file = home / ".config/vault-memory/config.toml"
    shown = screen("install", "claude-code", "--vault", "Notes", typed=typed, columns=400)
    assert "deletes the transcripts of its sessions after 30 days" in shown
    captured = f'\n[capture]\nvault = "{home}/Notes"\n'
    assert (file.read_text() if file.exists() else None) == (settings and settings + captured)
    if settings:
        assert "searchable" not in screen("install", "claude-code", "--vault", "Notes")
