"""Starting a daemon for a benchmark and what the system says of its process: memory, files, time."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.daemons import Running

KINDS = ("CONFIG", "DATA", "CACHE", "STATE")


class Use(NamedTuple):
    """What a process uses now; processor seconds since its start."""

    memory_mb: float
    files: int
    threads: int
    cpu_seconds: float


@contextmanager
def own_folders(folder: Path | None) -> Iterator[Path]:
    """A folder to work in, and settings and data of nobody else in this process and those it starts."""
    with tempfile.TemporaryDirectory() as temporary:
        before = dict(os.environ)
        run = Path(temporary) / "run"
        run.mkdir(mode=0o700)
        os.environ |= {f"XDG_{kind}_HOME": str(Path(temporary) / kind.lower()) for kind in KINDS}
        os.environ["XDG_RUNTIME_DIR"] = str(run)
        try:
            yield folder or Path(temporary)
        finally:
            os.environ.clear()
            os.environ |= before


def watch(root: Path) -> Running:
    """A daemon for that vault, which answers from now on."""
    call = [sys.executable, "-m", "vault_memory", "--vault", str(root), "watch"]
    quiet = subprocess.DEVNULL
    return Running(root, subprocess.Popen(call, stdout=quiet, stderr=quiet, text=True)).ready()


def use(pid: int) -> Use:
    """What a process uses, as Linux tells it in /proc."""
    status = _fields(Path(f"/proc/{pid}/status"))
    # The name, in brackets, may hold blanks; user and system time are the 14th and 15th fields.
    times = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[11:13]
    return Use(
        memory_mb=int(status["VmRSS"].split()[0]) / 1024,
        files=len(os.listdir(f"/proc/{pid}/fd")),
        threads=len(os.listdir(f"/proc/{pid}/task")),
        cpu_seconds=sum(map(int, times)) / os.sysconf("SC_CLK_TCK"),
    )


def _fields(file: Path) -> dict[str, str]:
    lines = (line.partition(":") for line in file.read_text("utf-8").splitlines())
    return {name: value.strip() for name, _, value in lines}
