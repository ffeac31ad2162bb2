"""A vault may come from anywhere (law 8): nothing in it runs, and nothing outside it is written or read."""

import subprocess
import sys
from pathlib import Path

import pytest
from vaults import fill

from vault_memory.indexer import WORKERS_FROM

# --- nothing in it runs ----------------------------------------------------------------------------------------------

MARK = "import os\nopen(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'RAN-' + __name__), 'w').close()\n"
SHADOWED = ("pickle", "json", "signal", "numpy", "tiktoken", "yaml", "sqlite_vec", "vault_memory")


@pytest.mark.parametrize("start", [["-P", "-c", "from vault_memory.cli import main; main()"], ["-m", "vault_memory"]])
def test_programs_in_a_vault_do_not_run_when_it_is_the_working_folder(tmp_path: Path, start: list[str]) -> None:
    named = SHADOWED if start[0] == "-P" else SHADOWED[:-1]  # -m itself looks for its package in the working folder
    root = fill(tmp_path / "vault", {f"{n}.md": f"Line of note {n}.\n" for n in range(WORKERS_FROM + 1)})
    fill(root, {f"{name}.py": MARK for name in named} | {".obsidian/app.json": "{}"})
    for arguments in (["index"], ["recall", "line of note 7"]):
        ended = subprocess.run(
            [sys.executable, *start, *arguments], cwd=root, capture_output=True, text=True, timeout=120, check=False
        )
        assert (ended.returncode, "Error" in ended.stderr) == (0, False), ended.stderr
    assert [path.name for path in root.glob("RAN-*")] == []
    assert not (root / "__pycache__").exists()
