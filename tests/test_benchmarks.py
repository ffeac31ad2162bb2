"""The benchmarks run, on next to nothing; what they print is for people."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from vaults import fill

ROOT = Path(__file__).parent.parent


def printed(*arguments: str) -> str:
    call = [sys.executable, "-m", "tests.benchmarks", *arguments]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_quality_judges_lines_and_notes(tmp_path: Path) -> None:
    vault = fill(tmp_path / "small", {"a.md": "# Boats\nThe blue ferry leaves at noon.\n", "b.md": "Rye bread.\n"})
    asked = [
        {"question": "when does the ferry leave?", "category_name": "one", "evidence": [["a.md", 2]]},
        {"question": "which bread?", "category_name": "one", "evidence": [["a.md", 1], ["b.md", 1]]},
        {"question": "rye bread", "category_name": "graded", "relevant": {"b.md": 2}},
        {"question": "what did nobody say?", "category": 5, "evidence": [["a.md", 2]]},
    ]
    (vault / "questions.jsonl").write_text("\n".join(map(json.dumps, asked)), "utf-8")
    lines = printed("quality", str(vault)).splitlines()
    assert [line.split()[:2] for line in lines][:3] == [["@250", "all"], ["@250", "one"], ["@250", "small"]]
    assert lines[-1].split()[:3] == ["nDCG@10", "small", "1.0000"] and "n=2" in lines[0]


def test_speed_runs() -> None:
    assert "warm recall" in printed("speed", "--notes", "6", "--passages", "4", "--repeat", "1")


@pytest.mark.slow
def test_a_short_soak_loses_nothing() -> None:
    """Edits, questions and one kill -9: the figures are for people, what must hold is not."""
    lines = printed("soak", "--minutes", "0.15", "--notes", "60", "--kill-every", "5").splitlines()
    told = {line[:15].strip(): line[16:] for line in lines}
    wanted = ("words not found", "notes changed", "index differs", "unanswered", "errors", "log errors")
    assert {what: told[what] for what in wanted} == dict.fromkeys(wanted, "0")
    assert sum(" killed " in line for line in lines) == 1
    assert any(line.endswith("as the daemon was away") and not line.startswith("0 ") for line in lines)
