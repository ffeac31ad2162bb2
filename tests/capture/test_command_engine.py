"""`memory capture` with a program as the model, from the settings file to the page of proposals."""

import json
import sys
from pathlib import Path

import pytest
import session_makers as make
from vaults import fill, run

from vault_memory.startup import user_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the programs are scripts")

PRINTERS = "The warehouse printers are all 203 dpi."
EMOJI = "I prefer short commit messages without emoji."


class Desk:
    """A user's vault, sessions, settings and program."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.vault = folder, fill(folder / "Notes", {"memory.md": "# Memory\n"})
        self.script, self.ran = folder / "oracle.py", folder / "ran"
        make.claude(folder / "claude", "s1", [("user", PRINTERS), ("user", EMOJI)])
        self.settings = f"""[reflect]
            provider = "command"
            command = ['{sys.executable}', '{self.script}']
        """

    def capture(self, program: str, settings: str, *options: str) -> tuple[str, str]:
        """Run `memory capture` with this program; returns its output and its errors."""
        opened = f"import sys\nopen({str(self.ran)!r}, 'w')\n"
        self.script.write_text(opened + program)
        config = Path(user_folder("config", {"XDG_CONFIG_HOME": str(self.folder / "config")}), "config.toml")
        config.parent.mkdir(parents=True, exist_ok=True)
        sessions = f"[sessions]\ntools = ['claude-code']\nclaude_code = '{self.folder / 'claude'}'\n"
        config.write_text(f"{sessions}{settings}")
        done = run(self.vault, *options, "capture")
        assert not done.returncode, done.stderr
        return done.stdout, done.stderr

    def page(self) -> str:
        return (self.vault / "bank/proposals.md").read_text()


@pytest.fixture
def desk(tmp_path: Path, tmp_data: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return Desk(tmp_path)


def printing(*texts: str) -> str:
    """A program that finds these texts in the first message, and wraps its JSON as models do."""
    items = [{"text": text, "category": "entities", "message": 1} for text in texts]
    return f"print('Here it is:\\n```json\\n' + {json.dumps(json.dumps({'items': items}))} + '\\n```')"


def test_what_a_program_finds_is_checked_and_proposed(desk: Desk) -> None:
    desk.capture(printing(PRINTERS, "The warehouse has 40 printers."), desk.settings)
    assert PRINTERS in desk.page() and "40 printers" not in desk.page() and EMOJI not in desk.page()


@pytest.mark.parametrize(
    ("program", "said"),
    [("print('Sure, glad to help.')", "not the JSON"), ("sys.exit('no luck')", "failed with exit code 1")],
)
def test_a_program_that_fails_leaves_it_to_the_trained_judgement(desk: Desk, program: str, said: str) -> None:
    output, errors = desk.capture(program, desk.settings)
    assert said in output + errors and "the trained judgement alone was used" in output + errors
    assert "no luck" not in output + errors
    assert EMOJI in desk.page() and desk.ran.exists()


def test_what_a_program_complains_of_is_shown_with_v(desk: Desk) -> None:
    assert "no luck" in desk.capture("sys.exit('no luck')", desk.settings, "-v")[1]


def test_a_vault_may_not_name_a_program(desk: Desk) -> None:
    (desk.vault / ".memory").mkdir(exist_ok=True)
    (desk.vault / ".memory/config.toml").write_text(desk.settings)
    desk.capture(printing(PRINTERS), "")
    assert EMOJI in desk.page() and not desk.ran.exists()
    doctor = run(desk.vault, "doctor").stdout
    assert "`reflect.command` is ignored: a vault may not set it" in " ".join(doctor.split())


def test_what_an_agent_logs_of_answering_is_not_captured(desk: Desk, tmp_data: Path) -> None:
    desk.capture(printing(PRINTERS), desk.settings)
    make.claude(desk.folder / "claude", "s2", [("user", "I'm allergic to walnuts.")], str(tmp_data / "model-runs"))
    desk.capture("", "")
    assert "walnuts" not in desk.page()
