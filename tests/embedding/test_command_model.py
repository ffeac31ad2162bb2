"""A program as the configured model: what it is given, what it does wrong, and that nothing of it stays behind."""

import json
import logging
import os
import sys
import textwrap
import time
from pathlib import Path

import pytest

from vault_memory.config import Config
from vault_memory.embedding.model_clients import MAX_CHAT_BYTES
from vault_memory.errors import RemoteError
from vault_memory.reflect.model_writer import ModelWriter, configured_writer, object_form

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the programs are scripts")

FORM = object_form(ok={"type": "boolean"})
ASKED = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Größe? " * 30_000}]


class Asking:
    """A program written in Python, and the waits between its runs."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.slept = folder, list[float]()

    def program(self, body: str, name: str = "oracle") -> Path:
        file = self.folder / name
        imports = "import os, sys, time, json, subprocess"
        file.write_text(f"#!{sys.executable}\n{imports}\n{textwrap.dedent(body)}")
        file.chmod(0o755)
        return file

    def writer(self, *command: str, seconds: float = 30.0) -> ModelWriter:
        config = Config(
            vault=self.folder, reflect_provider="command", reflect_command=command, reflect_deadline_seconds=seconds
        )
        environ = {**os.environ, "PATH": f"relative:{self.folder}:{os.environ['PATH']}"}
        found = configured_writer(config, environ, sleep=self.slept.append)
        assert found
        return found

    def says(self, body: str) -> str:
        return self.writer(str(self.program(body)), "--flag", "a b; exit 9").ask(ASKED, FORM)

    def fails(self, body: str, seconds: float = 30.0) -> RemoteError:
        with pytest.raises(RemoteError) as raised:
            self.writer(str(self.program(body)), seconds=seconds).ask(ASKED, FORM)
        return raised.value


@pytest.fixture
def asking(tmp_path: Path, tmp_data: Path) -> Asking:
    return Asking(tmp_path)


def test_a_program_gets_the_prompt_and_its_arguments_without_a_shell_and_in_a_folder_of_its_own(
    asking: Asking, tmp_data: Path
) -> None:
    said = json.loads(asking.says("""
        asked = sys.stdin.buffer.read().decode()
        print(json.dumps([asked[:9], asked.count("Größe?"), '"ok"' in asked, sys.argv[1:], os.getcwd()]))
    """))  # fmt: skip
    assert said == ["Be brief.", 30_000, True, ["--flag", "a b; exit 9"], str(tmp_data / "model-runs")]
    assert os.listdir(tmp_data / "model-runs") == [".nomemory"]


def test_a_program_may_leave_its_prompt_unread_and_is_found_by_its_name(asking: Asking) -> None:
    asking.program("print('{}')")
    writer = asking.writer("oracle")
    assert (writer.method, writer.ask(ASKED, FORM)) == ("command/oracle", "{}\n")


def test_a_program_that_hangs_is_killed_with_what_it_started(asking: Asking) -> None:
    body = """
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        open(sys.argv[0] + ".pids", "w").write(f"{os.getpid()} {child.pid}")
        time.sleep(600)
    """
    assert "the program" in (said := str(asking.fails(body, 3.0))) and "did not answer in 3 s" in said
    pids = (asking.folder / "oracle.pids").read_text().split()
    assert len(pids) == 2 and not asking.slept
    for pid in map(int, pids):
        _wait_for_the_end_of(pid)


def _wait_for_the_end_of(pid: int) -> None:
    """Fail unless a process ends; one that nobody has waited for has ended."""
    for _ in range(200):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        state = Path(f"/proc/{pid}/stat")
        if state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.05)
    pytest.fail(f"process {pid} still runs")


@pytest.mark.parametrize(
    ("body", "kind", "said", "runs"),
    [
        ("print('no luck', file=sys.stderr); sys.exit(3)", "busy", "failed with exit code 3", 4),
        ("sys.stdout.buffer.write(bytes([255, 0, 255]))", "wrong", "cannot be read", 1),
        ("while True: print('and on and on')", "unusable", f"more than {MAX_CHAT_BYTES // 1024} kB", 1),
    ],
)
def test_a_program_that_fails_is_an_error_like_a_servers(
    asking: Asking, body: str, kind: str, said: str, runs: int,
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    caplog.set_level(logging.INFO, "vault_memory")  # another test's `-v` may have left it at debug
    error = asking.fails(body)
    assert (error.kind, len(asking.slept) + 1) == (kind, runs) and said in str(error) and error.next_step
    assert capfd.readouterr() == ("", "")


def test_a_program_that_fails_only_once_is_asked_again(asking: Asking) -> None:
    done = asking.folder / "tried"
    assert asking.says(f"p = {str(done)!r}\nif not os.path.exists(p): open(p, 'w'); sys.exit(1)\nprint('{{}}')")
    assert asking.slept == [0.5]


@pytest.mark.parametrize("name", ["missing-oracle", "/nowhere/oracle"])
def test_a_program_that_is_not_there_is_named_without_its_arguments(asking: Asking, name: str) -> None:
    for act in (lambda of: of.check(), lambda of: of.ask(ASKED, FORM)):
        with pytest.raises(RemoteError, match=f"the program {name} is not there") as raised:
            act(asking.writer(name, "--key=sk-secret"))
        assert "reflect.command" in raised.value.next_step and "sk-" not in str(raised.value)


def test_nothing_in_the_current_folder_is_run(asking: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    (asking.folder / "relative").mkdir()
    asking.program("print('{}')", "relative/trap")
    monkeypatch.chdir(asking.folder)
    with pytest.raises(RemoteError, match="is not there"):
        asking.writer("trap").ask(ASKED, FORM)
