"""Where the daemon is reached, and that nobody but its user can be there."""

import hashlib
import os
import socket
import sys
from pathlib import Path

import pytest

from vault_memory.daemon import client
from vault_memory.errors import RefusedError
from vault_memory.startup import vault_id

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has a loopback port instead")
as_root = pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give a file away")
pytestmark = posix


@pytest.fixture
def runtime(short_folder: Path) -> Path:
    folder = short_folder / "run"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def vault(short_folder: Path) -> Path:
    folder = short_folder / "Notes"
    folder.mkdir()
    return folder


def listening(path: Path) -> socket.socket:
    it = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    it.bind(str(path))
    it.listen()
    return it


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_in_the_runtime_folder_by_the_vaults_id(vault: Path, runtime: Path) -> None:
    digest = hashlib.sha256(os.fsencode(os.path.realpath(vault))).hexdigest()[:12]
    path = Path(client.socket_path(vault, {"XDG_RUNTIME_DIR": str(runtime)}))
    assert path == runtime / "vault-memory" / f"{digest}.sock"
    assert list(runtime.iterdir()) == []  # naming it makes nothing


@pytest.mark.parametrize(
    "kind",
    ["unset", "relative", "missing", "a file", "open to others", pytest.param("another user's", marks=as_root)],
)
def test_without_a_runtime_folder_of_ones_own_in_the_data_folder(
    kind: str, vault: Path, short_folder: Path, runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(short_folder)
    (short_folder / "file").touch()
    named = {"unset": "", "relative": "run", "missing": f"{short_folder}/none", "a file": f"{short_folder}/file",
             "open to others": str(runtime), "another user's": str(runtime)}[kind]  # fmt: skip
    if kind == "open to others":
        runtime.chmod(0o770)
    elif kind == "another user's":
        os.chown(runtime, 65534, 65534)
    usual = Path(f"/run/user/{os.getuid()}")
    data = short_folder / "data" / "vault-memory" / "run"
    folder = usual / "vault-memory" if sys.platform == "linux" and usual.is_dir() else data
    environ = {"XDG_RUNTIME_DIR": named, "XDG_DATA_HOME": str(short_folder / "data"), "HOME": str(short_folder)}
    assert Path(client.socket_path(vault, environ)) == folder / f"{vault_id(vault)}.sock"


def runtime_of_length(short_folder: Path, length: int) -> Path:
    """A private folder whose socket's path has as many bytes."""
    rest = length - len(os.fsencode(short_folder)) - len("//vault-memory/abcdef012345.sock")
    folder = short_folder / ("é" * (rest // 2) + "x" * (rest % 2))
    folder.mkdir(mode=0o700)
    return folder


def test_the_longest_path_is_counted_in_bytes_and_can_be_bound(vault: Path, short_folder: Path) -> None:
    folder = runtime_of_length(short_folder, 103)
    path = Path(client.socket_path(vault, {"XDG_RUNTIME_DIR": str(folder)}))
    assert len(os.fsencode(path)) == 103 and folder in path.parents
    client.prepare(path)
    listening(path).close()


def test_a_longer_path_goes_under_a_hashed_name_into_the_temporary_folder(vault: Path, short_folder: Path) -> None:
    folder = runtime_of_length(short_folder, 104)
    path = Path(client.socket_path(vault, {"XDG_RUNTIME_DIR": str(folder), "TMPDIR": str(short_folder)}))
    assert path.parent == short_folder / f"vault-memory-{os.getuid()}"
    usual = folder / "vault-memory" / f"{vault_id(vault)}.sock"
    digest = hashlib.sha256(os.fsencode(usual)).hexdigest()
    assert path.name == f"{digest[:24]}.sock"
    environ = {"XDG_RUNTIME_DIR": str(folder), "TMPDIR": str(short_folder)}
    other = Path(client.socket_path(short_folder / "Other", environ))
    assert other.parent == path.parent and other != path


def test_prepare_makes_a_private_folder_and_mends_our_own(short_folder: Path) -> None:
    path = short_folder / "data" / "run" / "x.sock"
    before = os.umask(0o777)  # a folder of no mode at all, unless it is set
    try:
        (short_folder / "data").mkdir()
        (short_folder / "data").chmod(0o755)
        client.prepare(path)
    finally:
        os.umask(before)
    assert mode(path.parent) == 0o700
    path.parent.chmod(0o777)
    client.prepare(path)
    assert mode(path.parent) == 0o700


def test_prepare_refuses_a_link_a_file_and_another_users_folder(short_folder: Path) -> None:
    (short_folder / "real").mkdir(mode=0o755)
    (short_folder / "link").symlink_to(short_folder / "real")
    (short_folder / "file").touch()
    (short_folder / "theirs").mkdir(mode=0o700)
    if is_root := os.getuid() == 0:
        os.chown(short_folder / "theirs", 65534, 65534)
    for name in ("link", "file", *(["theirs"] if is_root else [])):
        with pytest.raises(RefusedError, match=name):
            client.prepare(short_folder / name / "x.sock")
    assert mode(short_folder / "real") == 0o755


@pytest.mark.parametrize("bits", [0o701, 0o710, 0o770, 0o777])
def test_prepare_refuses_a_folder_in_the_temporary_one_that_others_may_enter(bits: int, short_folder: Path) -> None:
    folder = short_folder / f"vault-memory-{os.getuid()}"
    folder.mkdir()
    folder.chmod(bits)
    with pytest.raises(RefusedError, match="only you can enter"):
        client.prepare(folder / "x.sock")
    assert mode(folder) == bits


def test_a_socket_of_ones_own_in_a_private_folder(runtime: Path) -> None:
    path = runtime / "x.sock"
    assert not client.is_own(path)
    with listening(path):
        assert client.is_own(path)
        for bits in (0o750, 0o705, 0o722):
            runtime.chmod(bits)
            assert not client.is_own(path)
        runtime.chmod(0o700)
        assert client.is_own(path)


@as_root
def test_what_belongs_to_another_is_not_own(runtime: Path) -> None:
    path = runtime / "x.sock"
    with listening(path):
        os.chown(path, 65534, 65534)
        assert not client.is_own(path)
        os.chown(path, 0, 0)
        assert client.is_own(path)
        os.chown(runtime, 65534, 65534)
        assert not client.is_own(path)
