"""The speed figures of one made-up vault: building, looking for changes, one-shot and warm recall."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks import made
from tests.benchmarks.timing import milliseconds, seconds, warm_recall
from vault_memory.config import Config
from vault_memory.memory import Memory


def run(notes: int, passages_each: int, repeat: int) -> None:
    """Print the table for a vault of so many notes."""
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary) / "vault"
        made.write(root, notes, passages_each)
        _wait_until_settled()
        print(f"{notes} notes, {notes * passages_each} passages or so; seconds, processes from start to end")
        print(f"  cold index           {_command(root, 'index'):8.2f}")
        print(f"  index, no change     {min(_command(root, 'index') for _ in range(repeat)):8.2f}")
        path, text = made.note(1, passages_each)
        (root / path).write_text(text + "One more line.\n", "utf-8")
        print(f"  index, one changed   {_command(root, 'index'):8.2f}")
        asked = made.questions(max(20 * repeat, 20), notes)
        shots = [_command(root, "recall", "--no-journal", query) for query in asked[: 3 * repeat]]
        print(f"  one-shot recall      {sorted(shots)[len(shots) // 2]:8.2f}  (median of {len(shots)})")
        times = warm_recall(Memory(Config(vault=root)), asked)
        print(f"warm recall, milliseconds: p50, p95 {milliseconds(times)}  ({len(times)} questions)")


def _command(root: Path, *arguments: str) -> float:
    call = [sys.executable, "-m", "vault_memory", "--vault", str(root), *arguments]
    return seconds(lambda: subprocess.run(call, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))


def _wait_until_settled() -> None:
    """A file saved a moment ago is looked at again; measured is the state in which vaults mostly are."""
    time.sleep(2.5)
