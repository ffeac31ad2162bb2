"""A reflect killed at any step of its writing: every page is as it was or as it is to be, and the next run ends it."""

import json
import sys
from pathlib import Path

import pytest
from reflecting import NORA, reflect, rewrite, small_vault, texts
from vaults import age, put, run_killer

KILLER = '''
"""Runs `memory` commands as forks of one warm process, each killed at one step of its writing."""
import builtins, json, os, shutil, signal, sys
from pathlib import Path

import vault_memory.cli.reflect, vault_memory.reflect.job, vault_memory.indexing.indexer
from vault_memory.cli import main
from reflecting import texts

ROOT, KEPT = Path(sys.argv[1]), Path(sys.argv[2])
EVERY = 1
STEPS = ("fsync", "replace", "link", "rename", "mkdir", "unlink", "rmdir")


class Halves:
    """A file whose every write happens in two halves."""

    def __init__(self, handle, step):
        self._handle, self._step = handle, step

    def write(self, data):
        self._handle.write(data[: len(data) // 2])
        self._handle.flush()
        self._step()
        return self._handle.write(data[len(data) // 2 :])

    def __getattr__(self, name):
        return getattr(self._handle, name)

    def __enter__(self):
        self._handle.__enter__()
        return self

    def __exit__(self, *error):
        return self._handle.__exit__(*error)


def armed(limit):
    """Die at the step of that number; returns how many there have been so far, as a function."""
    count = 0

    def step():
        nonlocal count
        count += 1
        if count == limit:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(function):
        def wrapped(*arguments, **named):
            step()
            return function(*arguments, **named)

        return wrapped

    for name in STEPS:
        setattr(os, name, around(getattr(os, name)))
    opened = builtins.open

    def halving(file, mode="r", *arguments, **named):
        if not set(mode) & set("wxa+"):
            return opened(file, mode, *arguments, **named)
        step()
        return Halves(opened(file, mode, *arguments, **named), step)

    builtins.open = halving
    return lambda: count


def ended(*arguments):
    """Run a command in this process; returns its exit code."""
    try:
        main(["--vault", str(ROOT), *arguments])
    except SystemExit as error:
        return error.code


def forked(work):
    """Do some work in a fork; returns what it made (JSON), or None when it was killed."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(writing, json.dumps(work()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        found = pipe.read()
    os.waitpid(child, 0)
    return json.loads(found) if found else None


def back():
    shutil.rmtree(ROOT)
    shutil.copytree(KEPT, ROOT, symlinks=True)


def reflected(limit):
    """Reflect, to be killed at that step; returns the exit code and the number of steps."""
    taken = armed(limit)
    return ended(*REFLECT), taken()


def whole():
    """Reflect and take it back, as at each step below: what the user's own folders hold is then as it is there."""
    found = reflected(0)
    ended("reflect", "--undo")
    return found


def mended(left):
    """Reflect again and take it all back; returns what is wrong with what comes of it."""
    faults = []
    if ended(*REFLECT) or texts(ROOT) != after:
        faults.append("the next run")
    if left != after and (ended("reflect", "--undo") or texts(ROOT) != left):
        faults.append("undo of the next run")
    if left != before and (ended("reflect", "--undo") or texts(ROOT) != before):
        faults.append("undo of what was killed")
    return faults


os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
REFLECT = ["reflect", "--now", "2025-12-10"]
before = texts(ROOT)
ended("index")
shutil.copytree(ROOT, KEPT)
ended(*REFLECT)  # in this process, so that the forks have loaded all they need
after = texts(ROOT)
for _ in range(2):
    back()
    code, steps = forked(whole)
faults, written = [f"unkilled: {code}"] if code else [], []
for limit in range(1, steps + 1, EVERY):
    back()
    if forked(lambda: reflected(limit)):
        faults.append(f"{limit}: not killed")
    left = texts(ROOT)
    odd = [path for path in before.keys() | left.keys() if left.get(path) not in (before.get(path), after.get(path))]
    written.append(sum(before.get(path) != data for path, data in left.items()))
    faults += [f"{limit}: {fault}" for fault in [*odd, *forked(lambda: mended(left))]]
told = {"steps": steps, "pages": sum(before.get(path) != data for path, data in after.items())}
print(json.dumps(told | {"faults": faults, "written": written}), file=sys.stderr)
'''


def prepare(root: Path) -> None:
    """Pages as they were written, one edited by hand, one of which a fact is gone, and one to be made."""
    small_vault(root)
    reflect(root)
    rewrite(root, NORA, "- Sent the broken lamp back", "- Sent that awful lamp back")
    rewrite(root, NORA, "## In the logs\n", "## In the logs\n\nMine.\n")
    rewrite(root, "memory/2025-11-20.md", "- W @Odd: Wrote a letter to the harbour office about the weir.\n", "")
    for day in ("06", "07"):
        put(root, f"memory/2025-12-{day}.md", "## Retain\n- W @Birger: Came to mend the boathouse roof.\n")
    for path in texts(root):
        age(root / path, 60)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks and signals as on Linux")
@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_killed_at_every_step(tmp_path: Path, every: int) -> None:
    root = tmp_path / "v"
    prepare(root)
    ended = run_killer(KILLER.replace("EVERY = 1", f"EVERY = {every}"), root, tmp_path / "kept")
    told = json.loads(ended.stderr.splitlines()[-1])
    assert told["faults"] == []
    assert told["pages"] >= 3
    assert set(told["written"]) == set(range(told["pages"] + 1))  # it was killed before, between and after the pages
    assert told["steps"] > 30
