"""The marks that hooks leave for transcripts: kept once, taken once, harmless when damaged."""

from pathlib import Path

import pytest

from vault_memory.sessions import ledger


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}


def test_a_mark_is_taken_once_and_the_newest_comes_first(environ: dict[str, str]) -> None:
    for session in ("a", "b", "c", "a", "d"):
        ledger.mark(f"/x/{session}.jsonl", environ)
    assert ledger.take_marks(environ) == [f"/x/{session}.jsonl" for session in "dacb"]
    assert ledger.take_marks(environ) == []


def test_a_damaged_line_is_passed_over(environ: dict[str, str], tmp_path: Path) -> None:
    ledger.mark("/x/ä b\n.jsonl", environ)
    file = tmp_path / "data" / "vault-memory" / "session-marks"
    assert file.stat().st_mode & 0o777 == 0o600
    file.write_bytes(b'{"no": 1}\n["a"]\n\xff\n' + file.read_bytes() + b'"half')
    assert ledger.take_marks(environ) == ["/x/ä b\n.jsonl"]
    assert list(file.parent.iterdir()) == []


def test_marks_that_nobody_takes_do_not_grow_for_ever(environ: dict[str, str], tmp_path: Path) -> None:
    ledger.mark("/x", environ)
    (tmp_path / "data" / "vault-memory" / "session-marks").write_bytes(b"x" * ledger.MAX_MARKS_BYTES)
    ledger.mark("/y", environ)
    assert (tmp_path / "data" / "vault-memory" / "session-marks").stat().st_size < ledger.MAX_MARKS_BYTES
    assert ledger.take_marks(environ) == ["/y"]
