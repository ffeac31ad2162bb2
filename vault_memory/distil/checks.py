"""Owns the check that a file is the one that is meant."""

import hashlib
from pathlib import Path

from vault_memory.errors import UsageError


def checked(path: Path, sha256: str) -> None:
    """Raise UsageError unless the file is there and has that digest."""
    if not path.is_file():
        raise UsageError(f"The source model lacks {path}.", "Install its package again.")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != sha256:
        raise UsageError(
            f"{path} is not the file that is meant: sha256 {found}, expected {sha256}.",
            "Install the version of the package named in the project's `distil` extra.",
        )
