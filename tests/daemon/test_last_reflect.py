"""How the last reflect of this device ended: `status` and `doctor` tell it, whoever ran it, and so does the log."""

import json
import logging
import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from reflecting import NORA, reflect, reflected, rewrite, small_vault
from sample import call
from vaults import memory, put

from vault_memory.config import Config
from vault_memory.daemon.background import Background
from vault_memory.daemon.settings import LiveSettings
from vault_memory.errors import RefusedError
from vault_memory.health.doctor import Check, doctor
from vault_memory.health.status import status
from vault_memory.reflect.run_log import NightlyRun, ReflectEnd, RunLog, without_quotes
from vault_memory.rendering.status import narrowed, status_text
from vault_memory.vault.undo_history import UndoHistory

NOON = datetime(2025, 12, 10, 12, tzinfo=UTC)
BROKEN = "\n<!-- memory:begin facts -->\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return small_vault(tmp_path / "v")


def test_an_agent_is_not_told_of_pages_written_or_skipped(root: Path) -> None:
    ended = ReflectEnd(NOON, 3, 1, "bank/entities/Secret.md: its markers are broken", "Mend bank/entities/Secret.md.")
    RunLog(root).record(ended)
    found = status(memory(root), ("global",))
    text = status_text(narrowed(found))
    assert "pages" not in text and "skipped" not in text and "Secret" not in text
    assert "Secret" in status_text(found)


def told(root: Path) -> tuple[dict[str, object] | None, str]:
    """What status tells of it, as JSON and as text."""
    document = json.loads(call("--vault", str(root), "status", "--json").out)
    return document["reflect"], status_text(document)


def checked(root: Path) -> list[Check]:
    return [check for check in doctor(memory(root)) if check.name == "reflect"]


def test_what_was_written_and_how_to_undo_it(root: Path) -> None:
    began = datetime.now(UTC).replace(microsecond=0)
    done = reflect(root)
    document, text = told(root)
    assert document is not None
    assert began <= datetime.fromisoformat(str(document.pop("at"))) <= datetime.now(UTC)
    assert document == {
        "ok": True, "pages": len(done["pages"]), "skipped": 0, "why": None, "next_step": None,
        "proposals": done["proposals"]["open"], "undo": done["run"], "undone": False,
    }  # fmt: skip
    assert f"{len(done['pages'])} pages written" in text and f"memory undo {done['run']}" in text
    assert checked(root) == []
    reflect(root, "--undo")
    document, text = told(root)
    assert document is not None and document["undo"] is None and "memory undo" not in text
    assert (document["undone"], document["proposals"]) == (True, None)
    assert f"{len(done['pages'])} pages written, undone since" in text and "waiting" not in text
    reflect(root)
    assert "undone" not in told(root)[1]


def test_a_page_that_was_skipped_is_told_with_its_reason_until_a_run_skips_none(root: Path) -> None:
    reflect(root)
    page = (root / NORA).read_text()
    put(root, NORA, page + BROKEN)
    reflect(root, code=5)
    document, text = told(root)
    assert document is not None
    assert (document["pages"], document["skipped"], document["undo"]) == (0, 1, None)
    assert f"{NORA}:" in str(document["why"]) and document["next_step"]
    assert "1 skipped" in text and "never ended" in text
    (check,) = checked(root)
    assert (check.level, NORA in check.message, bool(check.fix)) == ("warning", True, True)
    put(root, NORA, page)
    reflect(root)
    assert checked(root) == []


def test_one_that_failed_is_told(root: Path) -> None:
    reflected(root)
    for folder in ("memory", "bank", "People"):
        shutil.rmtree(root / folder, ignore_errors=True)
    for note in root.glob("*.md"):
        note.unlink()
    with pytest.raises(RefusedError):
        reflected(root)
    document, text = told(root)
    assert document is not None
    assert (document["ok"], document["pages"]) == (False, 0)
    assert "failed" in text
    assert [check.level for check in checked(root)] == ["warning"]


def test_a_night_that_ended_without_a_word_is_told(root: Path) -> None:
    reflected(root)
    later = datetime.now(UTC) + timedelta(hours=1)
    RunLog(root).record(NightlyRun("03:30", later.date(), later, ok=False))
    document, _ = told(root)
    assert document is not None and (document["ok"], document["at"]) == (False, later.isoformat(timespec="seconds"))
    reflected(root)
    RunLog(root).record(NightlyRun("03:30", later.date(), datetime.now(UTC) - timedelta(hours=1), ok=False))
    document, _ = told(root)
    assert document is not None and document["ok"] is True


# --- where it is kept ------------------------------------------------------------------------------------------------


def test_words_of_a_note_stay_in_the_vault() -> None:
    why = 'memory.md has no line "He said "no" to it" any more: what was ticked was not put there.'
    assert without_quotes("memory.md", why) == 'memory.md has no line "…" any more: what was ticked was not put there.'
    assert without_quotes("a.md", "It is late.") == "a.md: It is late."


def test_the_night_and_the_last_reflect_are_kept_beside_each_other_for_the_owner_only(root: Path) -> None:
    log, end = RunLog(root), ReflectEnd(NOON, 3, 1, "a.md: why", "Do this.", 2, "x-reflect")
    night = NightlyRun("03:30", NOON.date(), NOON, ok=True)
    log.record(night)
    log.record(end)
    assert (RunLog(root).last(ReflectEnd), RunLog(root).last(NightlyRun)) == (end, night)
    if os.name != "nt":
        assert log.file.stat().st_mode & 0o777 == 0o600


# --- the night -------------------------------------------------------------------------------------------------------


def test_the_log_of_the_night_names_the_first_page_skipped(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    reflected(root)
    put(root, NORA, (root / NORA).read_text() + BROKEN)
    rewrite(root, "memory/2025-12-02.md", "keeps bees", "keeps geese")
    caplog.set_level(logging.INFO, "vault_memory")

    RunLog(root).record(NightlyRun("00:00", datetime.now().date() - timedelta(days=3)))
    background = Background(root, LiveSettings(Config(vault=root, reflect_at="00:00")))
    background.index_was_updated(changed=False)
    background.wait()
    assert f"1 skipped, the first: {NORA}:" in caplog.text
    document, _ = told(root)
    assert document is not None and (document["ok"], document["skipped"]) == (True, 1)
    assert UndoHistory(root).runs()[0].name == document["undo"]
