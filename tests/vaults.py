"""What tests of the real thing share: notes on disk, a Memory over them, the command as a process of its own."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from vault_memory.config import Config
from vault_memory.federation import Federation
from vault_memory.memory import Memory
from vault_memory.store.content_digest import digest
from vault_memory.store.view import Store


def put(root: Path, path: str, text: str | bytes, age_seconds: float = 60.0) -> Path:
    """Write one note, saved so long ago that its time stamp can be trusted."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    if age_seconds:
        age(file, age_seconds)
    return file


def fill(root: Path, notes: Mapping[str, str | bytes]) -> Path:
    """Write several notes; returns the vault."""
    root.mkdir(parents=True, exist_ok=True)
    for path, text in notes.items():
        put(root, path, text)
    return root


def age(file: Path, seconds: float) -> None:
    """Make a file look saved so many seconds ago."""
    then = time.time_ns() - int(seconds * 1e9)
    os.utime(file, ns=(then, then))


def memory(root: Path, **settings: object) -> Federation:
    """A Memory as the command line makes it, with settings given here."""
    return Federation(Config(vault=root, **settings))  # type: ignore[arg-type]


@contextmanager
def opened(of: Memory) -> Iterator[Store]:
    """The index as it lies on disk."""
    with closing(Store.open(of.index_file.path)) as store:
        yield store


def index_digest(of: Memory) -> str:
    """The digest of the index as it lies on disk, without bringing it up to date."""
    with opened(of) as store:
        return digest(store)


def paths(of: Memory) -> set[str]:
    """The notes the index knows."""
    with opened(of) as store:
        return set(store.notes())


def snapshot(root: Path) -> dict[str, tuple[bytes, int, int]]:
    """Every file outside `.memory`: bytes, mode and time."""
    found = {}
    for folder, names, files in os.walk(root):
        if ".memory" in names:
            names.remove(".memory")
        for name in files:
            file = Path(folder) / name
            status = file.lstat()
            found[str(file.relative_to(root))] = (file.read_bytes(), status.st_mode, status.st_mtime_ns)
    return found


# --- the command as a process ----------------------------------------------------------------------------------------


def command(root: Path, *arguments: str, first: str = "") -> list[str]:
    """The argument vector of `memory ARGUMENTS` on that vault; `first` is Python to run in the process before it."""
    module = ["-m", "vault_memory", "--vault", str(root), *arguments]
    if not first:
        return [sys.executable, *module]
    return [
        sys.executable,
        "-c",
        f"import os, sys\n{first}\nos.execv(sys.executable, sys.argv[1:])",
        sys.executable,
        *module,
    ]


def run(root: Path, *arguments: str, first: str = "") -> "subprocess.CompletedProcess[str]":
    """Run `memory ARGUMENTS` on that vault to its end."""
    return subprocess.run(
        command(root, *arguments, first=first), capture_output=True, text=True, timeout=120, check=False
    )


def start(root: Path, *arguments: str, first: str = "") -> "subprocess.Popen[str]":
    """Start `memory ARGUMENTS` on that vault; it is ended with the test."""
    process = subprocess.Popen(
        command(root, *arguments, first=first), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    _started.append(process)
    return process


_started: "list[subprocess.Popen[str]]" = []


def end_all() -> None:
    """End what `start` started and the test has left running."""
    while _started:
        process = _started.pop()
        with process:
            process.kill()


def obeying_permissions() -> str:
    """What a process must do first so that file permissions bind it even when the tests run as root."""
    if not hasattr(os, "geteuid"):
        pytest.skip("permissions of folders are a POSIX matter")
    if os.geteuid() != 0:
        return ""
    if not sys.platform.startswith("linux"):
        pytest.skip("root obeys no permissions here")
    # Without CAP_DAC_OVERRIDE (1) and CAP_DAC_READ_SEARCH (2) root is bound by modes like anyone; 24: PR_CAPBSET_DROP.
    return "import ctypes\nfor right in (1, 2): assert ctypes.CDLL(None).prctl(24, right, 0, 0, 0) == 0"


def run_killer(script: str, root: Path, kept: Path) -> "subprocess.CompletedProcess[str]":
    """Run a script that kills what it starts at every step, on a vault and a copy of it, and check that it got through.

    A process of its own, for it forks.
    """
    file = put(kept.parent, "killer.py", script)
    ended = subprocess.run(
        [sys.executable, str(file), str(root), str(kept)],
        capture_output=True, text=True, timeout=900, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return ended
