"""What a daemon's background does and says, with a real vault, a real model server and a real log."""

import contextlib
import logging
import threading
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import pytest
from daemons import until
from model_server import ModelServer, model_server
from vaults import fill, memory

from vault_memory.config import Config
from vault_memory.daemon.background import Background, Nightly
from vault_memory.daemon.index_worker import IndexWorker
from vault_memory.daemon.settings import LiveSettings
from vault_memory.daemon.watch import ChangeQueue, Watcher
from vault_memory.indexing.index_file import IndexFile
from vault_memory.indexing.indexer import Report
from vault_memory.reflect.run_log import NightlyRun, RunLog

# The program itself ignores this one, see watch.py; pytest has its own list of what is ignored.
pytestmark = pytest.mark.filterwarnings("ignore:Callback with id:RuntimeWarning")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return fill(tmp_path / "vault", {"secret.md": "# Heron\n\nThe password is herring.\n"})


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running


@contextlib.contextmanager
def background(root: Path, **settings: object) -> Iterator[Background]:
    config = Config(vault=root, **settings)  # type: ignore[arg-type]
    mine = Background(root, LiveSettings(config))
    yield mine
    mine.wait()


def test_what_a_server_says_of_a_text_is_not_in_the_log(
    root: Path, server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    """A server's refusal may repeat the text it was sent, and that is a note's."""
    memory(root).index()
    server.trouble.refuses = lambda texts: (
        ("herring" in str(texts) and (404, {"error": f"cannot embed {texts}"})) or None
    )
    caplog.set_level(logging.INFO, "vault_memory")
    with background(
        root, embedding_provider="ollama", embedding_model="nomic-embed-text", embedding_url=f"http://{server.host}"
    ) as mine:
        mine.index_was_updated(changed=True)
        until(lambda: "waiting" in caplog.text)
    assert any("herring" in text for text in server.texts)
    assert "0 embedded, 2 waiting, stopped" in caplog.text
    assert "herring" not in caplog.text


SECRET = "could not read '- W: my PIN is 4711'"


class Faulty(IndexFile):
    """An index whose runs fail in a way nobody thought of, with a note's text in what is said."""

    def update(self, *arguments: Any, **named: Any) -> Report:
        raise ValueError(SECRET)


def test_what_a_fault_says_is_told_when_asked_and_not_logged(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    changes, mine = ChangeQueue(), memory(root)
    worker = IndexWorker(
        LiveSettings(mine.config), changes, Watcher(mine.vault.root, changes), threading.Lock(), index_of=Faulty
    )
    caplog.set_level(logging.INFO, "vault_memory")
    worker.start()
    try:
        assert worker.looked.wait(30)
        until(lambda: "not brought up to date: ValueError" in caplog.text)
    finally:
        assert worker.stop(30)
    assert worker.trouble and "4711" in worker.trouble.what
    assert "4711" not in caplog.text


# --- the nightly reflect ---------------------------------------------------------------------------------------------


def missed(root: Path) -> None:
    """Note that the reflect of midnight last ran three days ago."""
    RunLog(root).record(NightlyRun("00:00", datetime.now().date() - timedelta(days=3)))


def test_at_its_time_pages_are_written_but_not_just_after_a_save(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    facts = {f"memory/2025-11-{day}.md": f"## Retain\n- W @Ada: Mended boat {day}.\n" for day in (10, 11)}
    root = fill(tmp_path / "vault", facts)
    caplog.set_level(logging.INFO, "vault_memory")
    missed(root)
    with background(root, reflect_at="00:00") as mine:
        mine.index_was_updated(changed=True)
    assert not caplog.text and not (root / "bank").exists()
    with background(root, reflect_at="00:00") as mine:
        mine.index_was_updated(changed=False)
    assert "pages written" in caplog.text and "boat" not in caplog.text
    assert "Mended boat 11" in (root / "bank/entities/Ada.md").read_text("utf-8")
    night = RunLog(root).last(NightlyRun)
    assert night and night.ok and night.ran


def test_a_reflect_that_fails_is_told_in_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    root = fill(tmp_path / "vault", {"a.md": "# A\n"})
    missed(root)
    with RunLog(root).writing_pages(), background(root, reflect_at="00:00") as mine:
        mine.index_was_updated(changed=False)
    assert "reflect failed" in caplog.text and "Another process" in caplog.text


AT = time(3, 30)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.fixture
def kept(tmp_path: Path) -> RunLog:
    return RunLog(tmp_path / "vault", {"XDG_DATA_HOME": str(tmp_path / "data")})


def at_each(kept: RunLog, job: Mock, *moments: str, at: time = AT, zone: tzinfo = UTC) -> list[int]:
    """Look at each moment, as if each time after a start, and say how often it has run by then."""
    counts = []
    for text in moments:
        Nightly(kept, job, zone).run_if_due(at, utc(text))
        counts.append(job.call_count)
    return counts


def test_the_first_time_ever_it_waits_for_the_next_day_and_a_missed_one_is_caught_up_once(kept: RunLog) -> None:
    job = Mock()
    assert at_each(kept, job, "2025-11-10T09:00", "2025-11-10T23:00") == [0, 0]
    assert at_each(kept, job, "2025-11-11T03:29", "2025-11-11T03:30", "2025-11-11T03:31") == [0, 1, 1]
    assert at_each(kept, job, "2025-11-20T12:00", "2025-11-20T12:01", "2025-11-21T03:30") == [2, 2, 3]
    assert kept.last(NightlyRun) == NightlyRun("03:30", date(2025, 11, 21), utc("2025-11-21T03:30"), True)


def test_another_time_waits_for_its_day_and_a_clock_that_was_in_2040_stops_nothing(kept: RunLog) -> None:
    job = Mock()
    assert at_each(kept, job, "2025-11-10T12:00", "2025-11-10T22:00", at=time(22)) == [0, 1]
    assert at_each(kept, job, "2025-11-11T12:00", "2025-11-12T03:30") == [1, 2]
    assert at_each(kept, job, "2040-01-01T04:00", "2025-11-13T12:00", "2025-11-14T03:30") == [3, 3, 4]


@pytest.mark.parametrize(
    ("zone", "at", "moments", "ran"),
    [
        # 30 March 2025: 02:00 becomes 03:00 at 01:00 UTC, and there is no 02:30
        ("Europe/Berlin", time(2, 30), ["2025-03-29T12:00", "2025-03-30T00:59", "2025-03-30T01:00"], [0, 0, 1]),
        # 26 October 2025: 03:00 becomes 02:00 at 01:00 UTC, and 02:30 comes twice
        ("Europe/Berlin", time(2, 30), ["2025-10-25T12:00", "2025-10-26T00:30", "2025-10-26T01:30"], [0, 1, 1]),
        # a day without midnight: 4 November 2018, 00:00 becomes 01:00 at 03:00 UTC
        ("America/Sao_Paulo", time(0), ["2018-11-03T12:00", "2018-11-04T02:59", "2018-11-04T03:00"], [0, 0, 1]),
    ],
)
def test_summer_time_neither_skips_nor_doubles_a_day(
    kept: RunLog, zone: str, at: time, moments: list[str], ran: list[int]
) -> None:
    try:
        local = ZoneInfo(zone)
    except ZoneInfoNotFoundError:
        pytest.skip("this system has no time zone data")
    assert at_each(kept, Mock(), *moments, at=at, zone=local) == ran


@pytest.mark.parametrize(("saved", "ran"), [(0, 0), (59, 0), (60, 1), (3600, 1), (-30, 0), (-86400, 1)])
def test_who_has_just_saved_is_left_in_peace(kept: RunLog, saved: int, ran: int) -> None:
    job, now = Mock(), utc("2025-11-11T04:00")
    at_each(kept, job, "2025-11-10T12:00")
    Nightly(kept, job, UTC).run_if_due(AT, now, now - timedelta(seconds=saved))
    assert job.call_count == ran


def test_what_fails_waits_for_the_next_day_and_what_killed_the_process_is_caught_up(kept: RunLog) -> None:
    at_each(kept, Mock(), "2025-11-10T12:00")
    with pytest.raises(SystemExit):
        at_each(kept, Mock(side_effect=SystemExit), "2025-11-11T12:00")
    with pytest.raises(OSError, match="no"):
        at_each(kept, Mock(side_effect=OSError("no")), "2025-11-11T12:00")
    assert kept.last(NightlyRun) == NightlyRun("03:30", date(2025, 11, 11), utc("2025-11-11T12:00"), False)
    assert at_each(kept, Mock(), "2025-11-11T12:01", "2025-11-12T03:30") == [0, 1]
