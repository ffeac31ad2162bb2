"""Owns the file a drawing goes into: written whole or not at all, and never over what is not a drawing of ours.

A drawing ends with a seal, the hash of all before it; one that was changed by hand has it no more and is kept.
"""

import hashlib
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from vault_memory.errors import RefusedError, UsageError, VaultError
from vault_memory.rendering.picture import svg
from vault_memory.vault import atomic_write
from vault_memory.vault.vault import Vault
from vault_memory.vault.walk import is_hidden, printable

if TYPE_CHECKING:
    from vault_memory.health.stats import Stats

_SEAL = re.compile(rb"<!-- vault-memory stats sha=([0-9a-f]{12}) -->\s*\Z")


def sealed(svg: str) -> bytes:
    """A drawing as it is written."""
    data = svg.encode("utf-8")
    return data + f"<!-- vault-memory stats sha={_hash(data)} -->\n".encode()


def is_ours(data: bytes) -> bool:
    """Whether a file is a drawing of ours as it was written; what git makes of line ends is no change."""
    data = data.replace(b"\r\n", b"\n")
    seal = _SEAL.search(data)
    return seal is not None and _hash(data[: seal.start()]) == seal[1].decode()


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]


def draw(vault: Vault, stats: "Stats", file: Path, force: bool = False) -> Path:
    """Write figures as a drawing (SVG) into a file; raises as `put` does."""
    return put(vault, file, svg(stats.picture(vault.root.name)), force)


def put(vault: Vault, file: Path, svg: str, force: bool = False) -> Path:
    """Write a drawing; returns where it lies.

    Raises UsageError for a name that is not that of an SVG file, RefusedError for a hidden place in the vault, a link
    out of it, and (unless forced) a file that is not ours, VaultError where the system refuses.
    """
    named = Path(os.path.abspath(file))
    if named.suffix.lower() != ".svg":
        raise UsageError(f"{printable(str(file))} is not the name of an SVG file.", "For example --plot stats.svg.")
    target = Path(os.path.realpath(named))
    before = _before(target, force)
    inside = _inside(vault, named) or _inside(vault, target)
    if inside is None:
        _replace(target, sealed(svg), before)
        return named
    if is_hidden(inside):
        what = f"{printable(inside)} lies in a hidden folder of the vault, or is hidden: nothing was written."
        raise RefusedError(what, "Name a file that can be seen there.")
    vault.write(inside, sealed(svg), before)
    return named


def _inside(vault: Vault, file: Path) -> str | None:
    """A file's path in the vault; None outside."""
    bases = (vault.root, Path(os.path.abspath(vault.config.vault)))
    return next((file.relative_to(base).as_posix() for base in bases if file.is_relative_to(base)), None)


def _before(target: Path, force: bool) -> bytes | None:
    """What is there now; None for nothing."""
    try:
        before = target.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise VaultError(f"{printable(str(target))} cannot be read: {error.strerror}.", "Name another file.") from error
    if target.suffix.lower() != ".svg" or not (force or is_ours(before)):
        what = "is not a drawing of this program, or was changed since: it was not touched."
        raise RefusedError(f"{printable(str(target))} {what}", "Name another file, or replace it with --force.")
    return before


def _replace(target: Path, data: bytes, before: bytes | None) -> None:
    """Put a file outside the vault in its place."""
    part = target.with_name(f".{target.name}.{os.urandom(6).hex()}.part")
    try:
        part.write_bytes(data)
        if before is None:
            atomic_write.place_new(part, target)
        else:
            atomic_write.keep_attributes(target, part)
            os.replace(part, target)
    except OSError as error:
        what = f"{printable(str(target))} cannot be written: {error.strerror or error}."
        raise VaultError(what, "Check the folder, its permissions and free space.") from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
