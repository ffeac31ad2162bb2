"""The edge of the command line: what a transcript cannot show, because it differs from machine to machine."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sample import at_home, call, working_in
from vaults import fill

from vault_memory.errors import VaultError


@pytest.fixture
def vault(indexed_sample: Path, tmp_path: Path):
    shutil.copytree(indexed_sample, tmp_path / "Notes")
    with at_home(tmp_path), working_in(tmp_path / "Notes"):
        yield tmp_path / "Notes"


def test_a_traceback_is_shown_only_when_asked_for(vault: Path) -> None:
    plain, verbose = call("recall", "roof", "--kind", "Z"), call("-v", "recall", "roof", "--kind", "Z")
    assert plain.code == verbose.code == 2
    assert "Traceback" not in plain.err
    assert verbose.err.startswith("Traceback") and verbose.err.endswith(plain.err)


@pytest.mark.parametrize("arguments", [
    ["recall"], ["recall", "roof", "--k", "0"], ["recall", "roof", "--no-such"], ["no-such"], ["get"],
    ["recall", "roof", "--entity", "\udcff"],
])  # fmt: skip
def test_wrong_usage_is_a_document_too(vault: Path, arguments: list[str]) -> None:
    said = call(*arguments, "--json")
    document = json.loads(said.out)
    assert (said.code, document["schema"], document["error"]["exit_code"]) == (2, "vault-memory/error@1", 2)
    assert document["error"]["message"] in said.err


def test_what_is_unexpected_is_said_in_one_sentence(vault: Path) -> None:
    (vault / ".memory" / "index.sqlite").unlink()
    (vault / ".memory" / "index.sqlite").mkdir()
    said = call("recall", "roof")
    assert said.code in (1, 4)
    assert said.err.startswith("Error: ") and "Traceback" not in said.err


BAD_VALUES = [
    {"entity": "\ud800"}, {"tag": ["ok", "\udcff"]}, {"scope": "\ud800"}, {"since": "\ud800"},
    {"now": "9999-12-31T23:59:59Z"}, {"now": "9999-12-31"}, {"now": "0001-01-01T00:00:00Z"},
    {"now": "0001-01-01", "since": "30d"},
]  # fmt: skip


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Los_Angeles"])
def test_a_batch_goes_on_after_values_no_calendar_or_text_holds(vault: Path, zone: str) -> None:
    lines = [json.dumps({"query": "roof", **bad}).encode() for bad in BAD_VALUES]
    lines += [b'{"query": "\xff"}', b'{"query": "roof \\ud800"}', b'\xef\xbb\xbf{"query": "roof"}']
    with at_home(vault.parent, {"TZ": zone}):
        said = call("recall", "--batch", "-", "--k", "1", stdin=b"\n".join(lines))
    *refused, odd, answer = map(json.loads, said.out.splitlines())
    assert [each["error"]["exit_code"] for each in refused] == [2] * (len(lines) - 2), said.err
    assert "error" not in odd and len(answer["results"]) == 1


def test_a_line_too_long_is_said_to_be_cut(vault: Path) -> None:
    (vault / "Long.md").write_text("short\n" + "word " * 4000 + "\nlast\n")
    whole, one = call("get", "Long.md"), call("get", "Long.md", "--lines", "2:")
    assert (whole.out, "Cut after line 1;" in whole.err) == ("short\n", True)
    assert len(one.out) == 10_001 and "Cut within line 2" in one.err
    assert json.loads(call("get", "Long.md#L2", "--json").out)["line_cut"] is True
    assert call("get", "Long.md#L2", "--max-tokens", "100000").out == "word " * 4000 + "\n"


@pytest.mark.skipif(sys.platform == "win32", reason="a closed pipe is another thing there")
def test_a_reader_that_goes_away_is_no_fault(vault: Path) -> None:
    command = [sys.executable, "-m", "vault_memory", "entity", "Tern"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout and process.stderr
    process.stdout.close()
    with process.stderr:
        assert (process.wait(30), process.stderr.read()) == (0, b"")


SLOW = {"numpy", "tiktoken", "yaml", "tokenizers", "httpx", "mcp", "watchdog", "sqlite_vec", "array"}
OTHERS = {"reflect", "context", "integrations", "health", "agents"}
"""Packages that a question has no business in."""


def test_one_question_loads_only_what_answers_it(vault: Path) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "vault_memory", "recall", "what does Peter prefer?"]
    for _ in range(2):  # whatever the index still needs is done by the first
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=vault, check=True)
    lines = [line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")]
    loaded = {name.removeprefix("vault_memory.") for name in lines}
    assert "Peter" in done.stdout and {"search.recall", "rendering.recall"} <= loaded
    assert {name for name in loaded if name.split(".")[0] in OTHERS | SLOW} == set()


def test_a_damaged_part_of_the_package_is_an_error_with_a_next_step(vault: Path, tmp_path: Path) -> None:
    checkout = Path(__file__).parents[2]
    for folder in ("vault_memory", "templates"):
        shutil.copytree(checkout / folder, tmp_path / "copy" / folder, ignore=shutil.ignore_patterns("__pycache__"))
    with open(tmp_path / "copy/vault_memory/data/cl100k_base.tiktoken", "ab") as vocabulary:
        vocabulary.write(b"\n")
    arguments = [sys.executable, "-m", "vault_memory", "--vault", str(vault), "index", "--rebuild"]
    said = subprocess.run(arguments, capture_output=True, text=True, cwd=tmp_path / "copy", check=False)
    assert (said.returncode, "cl100k_base.tiktoken is damaged" in said.stderr) == (4, True), said.stderr
    assert "Reinstall vault-memory." in said.stderr


def test_a_name_or_a_number_beyond_what_the_system_takes_is_no_fault_of_the_program(vault: Path) -> None:
    name, number = "a" * 300, "9" * 20
    for arguments in (("get", name), ("recall", "boat", "--k", number), ("recall", "boat", "--budget", number)):
        assert call(*arguments).code == 0
    refused = call("init", name)
    assert (refused.code, "Unexpected" in refused.err) == (VaultError.exit_code, False)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "-u"])
def test_an_answer_that_cannot_be_printed_is_said_in_one_sentence(vault: Path, unbuffered: str) -> None:
    python = [sys.executable, *filter(None, [unbuffered])]
    for arguments in (["facts", "--json"], ["recall", "peter"]):
        command = [*python, "-m", "vault_memory", "--vault", str(vault), *arguments]
        with open("/dev/full", "w") as full:
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        assert done.returncode == 1
        assert done.stderr.startswith("Error: The answer cannot be printed: No space left on device.\n")
        assert "Traceback" not in done.stderr and "report" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_a_closed_stream_is_no_fault(vault: Path, closed: str) -> None:
    command = f'"$0" -m vault_memory --vault "$1" recall peter {closed}'
    done = subprocess.run(["sh", "-c", command, sys.executable, str(vault)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, "Unexpected" in done.stderr) == (0, False)


def test_nothing_is_known_of_an_entity_that_is_not_there(vault: Path) -> None:
    for arguments, known in (
        (["--entity", "Nobody"], False),
        (["peter", "--entity", "Nobody"], False),
        (["peter"], True),
    ):
        assert json.loads(call("--vault", str(vault), "recall", *arguments, "--json").out)["known"] is known


def test_facts_name_the_entity_unless_their_text_does(tmp_path: Path) -> None:
    facts = "- W @Ann: The annual plan is ready.\n- W @B: They are numbered.\n- W @Mara: Mara's boat leaks.\n"
    fill(tmp_path, {"memory/2026-11-20.md": f"## Retain\n{facts}"})
    said = call("--vault", str(tmp_path), "facts").out
    assert "Ann: The annual" in said and "B: They" in said and "Mara: Mara" not in said


def test_reflect_says_why_pages_are_missing_and_nothing_when_quiet(tmp_path: Path) -> None:
    fact = "- W @Mara: Mara sails to Lund.\n- W @Mara: Mara owns a red boat.\n"
    fill(tmp_path, {"memory/2026-11-20.md": f"## Retain\n{fact}"})
    assert call("--vault", str(tmp_path), "--quiet", "reflect").out.strip() == ""
    (tmp_path / "bank").rename(tmp_path / "Bank2")
    assert "Not recreated, because you removed" in call("--vault", str(tmp_path), "reflect").out
    fill(tmp_path, {"memory/2026-11-20.md": "## Retain\n- W(scope=project:x) @Mara: Mara sails.\n"})
    said = call("--vault", str(tmp_path), "reflect").out
    assert "no note holds a fact" not in said and "Left out: 1 private fact." in said


def test_lint_names_a_fact_that_replaces_none(tmp_path: Path) -> None:
    old = "- W @Mara: Mara lives in Lund. ^home\n- W(supersedes=^home) @Mara: Mara lives in Malmö.\n"
    new = "- W(supersedes=[[2026-11-20#^Home]]) @Mara: Mara lives in Ystad.\n- W(supersedes=^nope) @Mara: Mara sails.\n"
    links = "- W(supersedes=[[2026-11-20#^gone]]) @Mara: Mara rows.\n- W(supersedes=^home) @Mara: Mara runs.\n"
    fill(tmp_path, {"memory/2026-11-20.md": f"## Retain\n{old}", "memory/2026-11-21.md": f"## Retain\n{new}{links}"})
    said = [line for line in call("--vault", str(tmp_path), "lint").out.splitlines() if "supersedes" in line]
    assert [line.split(":")[1] for line in said] == ["3", "4", "5"]
