"""Owns what a setting's value may be: each check gives it back as the program uses it, or raises ValueError. Pure.

The error says what it must be ("must be true or false"); whoever checks puts the name of the setting before it.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from urllib.parse import SplitResult


def text(value: Any) -> str:  # noqa: ANN401 - a TOML value can be anything
    if not isinstance(value, str) or not value.strip():
        raise ValueError("must be text in quotes")
    return value


def path(value: Any) -> Path:  # noqa: ANN401
    return Path(text(value)).expanduser().absolute()


def flag(value: Any) -> bool:  # noqa: ANN401
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def texts(value: Any) -> tuple[str, ...]:  # noqa: ANN401
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError("must be a list of texts")
    return tuple(value)


def notes_inside(value: Any) -> tuple[str, ...]:  # noqa: ANN401
    found = texts(value)
    for name in found:
        parts = name.split("/")
        if not name.endswith(".md") or any(part in ("", ".", "..") or part.startswith(".") for part in parts):
            raise ValueError('must be a list of notes inside the vault, such as ["SOUL.md", "USER.md"]')
        if "\\" in name or ":" in name or "\0" in name:
            raise ValueError('must be a list of notes inside the vault, such as ["SOUL.md", "USER.md"]')
    return found


def folder(value: str) -> str:
    """A folder of a vault as it is written in the settings: relative, and not out of it."""
    parts = value.replace("\\", "/").split("/")
    if not value.strip() or ".." in parts:
        raise ValueError("must be a folder of the vault, or `.` for all of it")
    return "/".join(parts)


def scope(value: Any) -> str:  # noqa: ANN401
    from vault_memory.markdown import facts

    if not isinstance(value, str) or not facts.is_scope(value):
        raise ValueError("must be global, agent:<id>, project:<id>, user:<id> or custom:<name>")
    return facts.normal_scope(value)


def project(value: Any) -> str:  # noqa: ANN401
    """The scope of a project, of its id with or without `project:` before it."""
    given = text(value)
    return scope(given if given.startswith("project:") else f"project:{given}")


def roots(value: Any) -> tuple[tuple[Path, str], ...]:  # noqa: ANN401
    """Folders with the scope of what is in them ("" for that of their project): paths, or tables of path and scope."""
    wrong = 'must be a list of paths or of {path = "…", scope = "…"}'
    if not isinstance(value, list):
        raise ValueError(wrong)
    found = []
    for each in value:
        table = {"path": each} if isinstance(each, str) else each
        if not isinstance(table, dict) or not {"path"} <= set(table) <= {"path", "scope"}:
            raise ValueError(wrong)
        found.append((path(table["path"]), text(table["scope"]) if "scope" in table else ""))
    return tuple(found)


def paths(value: Any) -> tuple[Path, ...]:  # noqa: ANN401
    return tuple(path(each) for each in texts(value))


def some_of(*allowed: str) -> Callable[[Any], tuple[str, ...]]:
    """Several of these, as a list or, in an environment variable, with commas between."""

    def check(value: Any) -> tuple[str, ...]:  # noqa: ANN401
        named = [part.strip() for part in value.split(",")] if isinstance(value, str) else value
        if not isinstance(named, list) or any(name not in allowed for name in named):
            raise ValueError(f"must be a list of some of {', '.join(allowed)}")
        return tuple(dict.fromkeys(named))

    return check


def between(low: int, high: int) -> Callable[[Any], int]:
    def check(value: Any) -> int:  # noqa: ANN401
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise ValueError(f"must be a whole number from {low} to {high}")
        return value

    return check


def seconds(low: float, high: float) -> Callable[[Any], float]:
    def check(value: Any) -> float:  # noqa: ANN401
        if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high:
            raise ValueError(f"must be a number from {low:g} to {high:g}")
        return float(value)

    return check


def one_of(*allowed: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:  # noqa: ANN401
        if value not in allowed:
            raise ValueError(f"must be one of {', '.join(allowed)}")
        return str(value)

    return check


def prefix(value: Any) -> str:  # noqa: ANN401
    if not isinstance(value, str):
        raise ValueError("must be text in quotes")
    return value


def time_of_day(value: Any) -> str:  # noqa: ANN401
    from vault_memory.daemon.schedule import clock

    clock(value if isinstance(value, str) else "?")
    return str(value)


def url(value: Any) -> str:  # noqa: ANN401
    given = text(value)
    if split(given) is None or any(c.isspace() for c in given):
        raise ValueError("must be an address such as http://127.0.0.1:11434")
    return given


def split(address: str) -> "SplitResult | None":
    """The parts of an address, with or without `http://` before it; None where it is none."""
    from urllib.parse import urlsplit

    bare = "://" not in address
    try:
        parts = urlsplit(f"http://{address}" if bare else address)
        port = parts.port  # raises ValueError for what is no port
    except ValueError:
        return None
    # `:56789` is that port of this computer, as Ollama reads it.
    named = bool(parts.hostname) or (bare and port is not None)
    return parts if named and port != 0 and parts.scheme in ("http", "https") else None


def variable(value: Any) -> str:  # noqa: ANN401
    # A key pasted here by mistake would be shown wherever the variable is named.
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", value):
        raise ValueError("must be the name of an environment variable, not the key itself")
    return value
