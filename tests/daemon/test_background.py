"""What a daemon's background does and says, with a real vault, a real model server and a real log."""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime, time, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from daemons import until
from model_server import ModelServer, model_server
from vaults import fill, memory

from vault_memory.config import Config
from vault_memory.daemon.background import Background
from vault_memory.daemon.debounce import Pending
from vault_memory.daemon.index_worker import Gate, Upkeep
from vault_memory.daemon.settings import LiveSettings
from vault_memory.daemon.watch import Watcher
from vault_memory.indexing.indexer import Report
from vault_memory.memory import Memory
from vault_memory.store.job_log import Run, Runs

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
    with ThreadPoolExecutor(1) as slow:
        yield Background(root, LiveSettings(config), slow)


def test_what_a_server_says_of_a_text_is_not_in_the_log(
    root: Path, server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    """A server's refusal may repeat the text it was sent, and that is a note's."""
    memory(root).index()
    server.trouble.refuses = lambda texts: (
        ("herring" in str(texts) and (500, {"error": f"cannot embed {texts}"})) or None
    )
    caplog.set_level(logging.INFO, "vault_memory")
    with background(
        root, embedding_provider="ollama", embedding_model="nomic-embed-text", embedding_url=f"http://{server.host}"
    ) as mine:
        mine.kept_up(changed=True)
        until(lambda: "waiting" in caplog.text)
    assert any("herring" in text for text in server.texts)
    assert "0 embedded, 2 waiting, stopped" in caplog.text
    assert "herring" not in caplog.text


SECRET = "could not read '- W: my PIN is 4711'"


class Faulty(Memory):
    """A Keeper whose runs fail in a way nobody thought of, with a note's text in what is said."""

    def refresh(self, *arguments: Any, **named: Any) -> Report:
        raise ValueError(SECRET)


def test_what_a_fault_says_is_told_when_asked_and_not_logged(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    pending, mine = Pending(), memory(root)
    upkeep = Upkeep(lambda: Faulty(mine.config), pending, Watcher(mine.vault.root, pending, dict), Gate())
    caplog.set_level(logging.INFO, "vault_memory")
    upkeep.start()
    try:
        assert upkeep.looked.wait(30)
        until(lambda: "not brought up to date: ValueError" in caplog.text)
    finally:
        assert upkeep.stop(30)
    assert upkeep.trouble and "4711" in upkeep.trouble.what
    assert "4711" not in caplog.text


# --- jobs ------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def busy(slow: ThreadPoolExecutor) -> Iterator[None]:
    """The thread for slow work has something in hand; afterwards all it was given is done."""
    done = threading.Event()
    slow.submit(done.wait)
    try:
        yield
    finally:
        done.set()
        slow.submit(lambda: None).result()


@pytest.mark.parametrize("saves", [False, True])
def test_a_job_does_not_begin_behind_other_work_just_after_a_save(root: Path, saves: bool) -> None:
    ran: list[str] = []

    async def lived() -> None:
        with background(root) as mine:
            missed(root, "tidy")
            mine.jobs.register("tidy", time(0), lambda: ran.append("tidy"))
            with busy(mine.slow):
                mine.start(asyncio.get_running_loop())
                if saves:
                    mine.kept_up(changed=True)
            mine.stop()

    asyncio.run(lived())
    assert ran == ([] if saves else ["tidy"])


def missed(root: Path, job: str) -> None:
    """Note that a job for midnight last ran three days ago."""
    Runs(root).note(job, Run("00:00", datetime.now().date() - timedelta(days=3)))


def test_the_loop_waits_for_no_file_of_the_jobs(root: Path) -> None:
    """Reading and noting runs takes a lock that another process may have; only the alarm is the loop's."""
    runs, before = Runs(root), Run("03:30", date(2025, 11, 11))
    runs.note("other", before)
    written = runs.file.stat().st_mtime_ns

    async def lived() -> None:
        with background(root) as mine:
            mine.jobs.register("tidy", time(3, 30), lambda: None)
            with busy(mine.slow):
                mine.start(asyncio.get_running_loop())
                await asyncio.sleep(0.05)
                assert runs.file.stat().st_mtime_ns == written and runs.get("tidy") is None
            assert runs.get("tidy")
            mine.stop()

    asyncio.run(lived())


def test_after_a_job_the_next_one_is_seen_to(root: Path) -> None:
    ran: list[str] = []

    async def lived() -> None:
        with background(root) as mine:
            for name in ("clean", "tidy"):
                missed(root, name)
                mine.jobs.register(name, time(0), partial(ran.append, name))
            mine.start(asyncio.get_running_loop())
            await asyncio.to_thread(until, lambda: len(ran) == 2)
            mine.stop()

    asyncio.run(lived())
    assert ran == ["clean", "tidy"]


def test_at_its_time_pages_are_written(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    facts = {f"memory/2025-11-{day}.md": f"## Retain\n- W @Ada: Mended boat {day}.\n" for day in (10, 11)}
    root = fill(tmp_path / "vault", facts)
    caplog.set_level(logging.INFO, "vault_memory")

    async def lived() -> None:
        with background(root, reflect_at="00:00") as mine:
            missed(root, "reflect")
            mine.start(asyncio.get_running_loop())
            await asyncio.to_thread(until, lambda: "pages written" in caplog.text)
            mine.stop()

    asyncio.run(lived())
    assert "Mended boat 11" in (root / "bank/entities/Ada.md").read_text("utf-8")
    assert "boat" not in caplog.text


def test_a_reflect_that_fails_is_told_in_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    root = fill(tmp_path / "vault", {"a.md": "# A\n"})

    async def lived() -> None:
        with background(root, reflect_at="00:00") as mine, Runs(root).alone("pages"):
            missed(root, "reflect")
            mine.start(asyncio.get_running_loop())
            await asyncio.to_thread(until, lambda: "reflect failed" in caplog.text)
            mine.stop()

    asyncio.run(lived())
    assert "Another process" in caplog.text
