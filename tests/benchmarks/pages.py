"""Owns the figures of `memory reflect` on a large made-up vault: the first run, one with nothing new, and nights."""

import json
import os
import subprocess
import sys
import time
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.benchmarks import made
from tests.benchmarks.process import own_folders
from tests.benchmarks.timing import percentile


class Took(NamedTuple):
    """What one `memory reflect` took, as a process of its own, and how many pages it wrote."""

    seconds: float
    memory_mb: float
    pages: int


def run(notes: int, new_facts: int, nights: int, vault: Path | None) -> None:
    """Print the figures; the pages are written into `vault`, if one is given."""
    with own_folders(vault) as root:
        if vault is None:
            made.write(root, notes)
        last = _last_day(root)
        print(f"{'':34}{'seconds':>8} {'MB':>6} {'pages written':>14}")
        _print("index", _index(root))
        _print("first run", _reflect(root, last))
        _print("nothing new", _reflect(root, last))
        took = []
        for night in range(nights):
            _tell(root, last - timedelta(days=3 * night), new_facts, night)
            took.append(_reflect(root, last))
            _print(f"night after {new_facts} new facts", took[-1])
        print(f"nights, median: {percentile([one.seconds for one in took], 0.5):.2f} s")


def _print(what: str, took: Took) -> None:
    print(f"{what:34}{took.seconds:8.2f} {took.memory_mb:6.0f} {took.pages:14}", flush=True)


def _last_day(root: Path) -> date:
    """The day after the last log: what has a day is over then."""
    return date.fromisoformat(max(path.stem for path in (root / "memory").glob("????-??-??.md"))) + timedelta(days=1)


def _tell(root: Path, now: date, count: int, seed: int) -> None:
    """New facts of one of the last weeks, about people who have pages."""
    random = Random(seed)
    note = root / "memory" / f"{now - timedelta(days=20)}.md"
    words = made.words()
    lines = (
        f"- {random.choice('WBO')} @{random.choice(made.PEOPLE)}: {' '.join(random.choices(words[:4000], k=9))}.\n"
        for _ in range(count)
    )
    note.write_text(f"{note.read_text('utf-8')}\n## Retain\n{''.join(lines)}", "utf-8")


def _index(root: Path) -> Took:
    return _took(root, "index")[0]


def _reflect(root: Path, now: date) -> Took:
    took, printed = _took(root, "reflect", "--now", now.isoformat(), "--json")
    return took._replace(pages=len(json.loads(printed)["pages"]))


def _took(root: Path, *arguments: str) -> tuple[Took, str]:
    started = time.perf_counter()
    call = [sys.executable, "-m", "vault_memory", "--vault", str(root), *arguments]
    process = subprocess.Popen(call, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    printed = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, printed
    return Took(time.perf_counter() - started, used.ru_maxrss / 1024, 0), printed
