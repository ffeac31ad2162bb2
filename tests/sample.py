"""What tests over the sample vault share: an indexed copy of it, and the command line run in this process."""

import contextlib
import io
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest
from vaults import age, memory

from vault_memory.cli import main

SAMPLE = Path(__file__).parent.parent / "sample-vault"
NOW = "2025-12-01T09:00:00Z"
"""The morning after the sample's last day."""


class Said(NamedTuple):
    """What one call of the command line gave."""

    code: int
    out: str
    err: str


def make_sample(target: Path) -> Path:
    """Copy the sample vault and index it; its notes look saved long ago, so that their times can be trusted."""
    shutil.copytree(SAMPLE, target, ignore=shutil.ignore_patterns(".memory"))
    for file in target.rglob("*.md"):
        age(file, 86400)
    memory(target).index()
    return target


def call(*arguments: str, stdin: bytes = b"") -> Said:
    """Run `memory ARGUMENTS` in this process, by the function the console script calls."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n") for _ in range(2))
    given, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as end:
            main(list(arguments))
    finally:
        sys.stdin = given
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())  # type: ignore[attr-defined]
    return Said(int(end.value.code or 0), *texts)


@contextlib.contextmanager
def at_home(home: Path, more: Mapping[str, str] | None = None) -> Iterator[None]:
    """A user of their own in UTC: their folders, no vault named, a terminal 100 wide without colour."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        patch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
        patch.setenv("XDG_DATA_HOME", str(home / ".local/share"))
        patch.setenv("XDG_STATE_HOME", str(home / ".local/state"))
        for name, value in {"TZ": "UTC", "NO_COLOR": "1", "COLUMNS": "100", **(more or {})}.items():
            patch.setenv(name, value)
        if "MEMORY_VAULT" not in (more or {}):
            patch.delenv("MEMORY_VAULT", raising=False)
        _set_zone()
        yield
    _set_zone()


def _set_zone() -> None:
    if hasattr(time, "tzset"):
        time.tzset()


@contextlib.contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Another working directory for a while."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
