"""What holds for every test: no settings, data or vault of the person who runs them are read or written."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hooks
import pytest
from hypothesis import settings
from sample import make_sample
from vaults import end_all

from vault_memory.startup import user_folder

settings.register_profile("project", deadline=None, derandomize=True)  # no test depends on speed, or on chance
settings.load_profile("project")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-transcripts", action="store_true", help="write the golden transcripts anew")


@pytest.fixture(scope="session")
def indexed_sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample vault with its index, made once: copy it before you change it."""
    return make_sample(tmp_path_factory.mktemp("sample") / "Notes")


@pytest.fixture(autouse=True, scope="session")
def _own_user_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        for kind in ("CONFIG", "DATA", "CACHE", "STATE"):
            patch.setenv(f"XDG_{kind}_HOME", str(home / kind.lower()))
        (home / "run").mkdir(mode=0o700)
        patch.setenv("XDG_RUNTIME_DIR", str(home / "run"))
        patch.delenv("MEMORY_VAULT", raising=False)
        yield


@pytest.fixture(autouse=True)
def _nothing_of_other_tests() -> None:
    """No project is known, for folders of one name are of one in different tests, and no settings of the user's."""
    for environ in (os.environ, {"HOME": os.environ["HOME"]}):
        Path(user_folder("data", environ), "projects.jsonl").unlink(missing_ok=True)
        Path(user_folder("config", environ), "config.toml").unlink(missing_ok=True)


@pytest.fixture
def tmp_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a test's own user data."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "vault-memory"


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A private folder for sockets: with `tmp_path` their paths may be longer than the system takes."""
    with tempfile.TemporaryDirectory(dir="/tmp" if os.path.isdir("/tmp") else None) as folder:
        yield Path(folder)


@pytest.fixture(autouse=True)
def _no_process_left() -> Iterator[None]:
    yield
    end_all()


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folders of the user for one test of hooks; returns that in which hooks keep what is theirs."""
    for kind in ("CONFIG", "DATA"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind.lower()))
    hooks.settings("")
    return Path(user_folder("data", os.environ), "hooks")


@pytest.fixture
def no_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test has just written need not be left alone for a while first."""
    monkeypatch.setattr("vault_memory.write.rewrite.SETTLE_SECONDS", 0.05)
