"""Owns where the files lie that come with this program as templates. It knows no vault."""

from pathlib import Path

from vault_memory.errors import IndexUnusableError


def template(name: str) -> Path:
    """A file of the shipped templates: in the package when installed, beside it in a checkout."""
    package = Path(__file__).parent
    for folder in (package / "templates", package.parent / "templates"):
        if (folder / name).exists():
            return folder / name
    raise IndexUnusableError(f"The template {name} is missing.", "Reinstall vault-memory.")
