"""Owns what holds for every test: no settings, data or vault of the person who runs them are read or written."""

from collections.abc import Iterator

import pytest
from vaults import end_all


@pytest.fixture(autouse=True, scope="session")
def _own_user_folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        for kind in ("CONFIG", "DATA", "CACHE", "STATE"):
            patch.setenv(f"XDG_{kind}_HOME", str(home / kind.lower()))
        patch.delenv("MEMORY_VAULT", raising=False)
        yield


@pytest.fixture(autouse=True)
def _no_process_left() -> Iterator[None]:
    yield
    end_all()
