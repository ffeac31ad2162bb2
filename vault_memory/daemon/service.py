"""Owns what systemd, launchd and cron are given to start this program by itself: their files and lines, as text.

Each format has its own way of quoting; a path that cannot be said in it is refused. Nothing is read, written or run
here but the templates.
"""

import hashlib
import os
import re
import shlex
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from vault_memory.config import template, user_folder
from vault_memory.errors import UsageError
from vault_memory.startup import vault_id

KINDS = ("systemd", "launchd", "cron")

_FOLDERS = ("config", "data", "state")
"""Where the user's folders are; a service does not get them from the shell, and would keep its data elsewhere."""

_MARK = re.compile(r"^(?:# |<!-- )vault-memory sha=([0-9a-f]{12})\b.*\n", re.M)
_BEGINS = 2  # XML wants its own declaration first


@dataclass(frozen=True)
class Target:
    """What is to be started: `program` are the words that run it, `at` is "HH:MM" or "" for no nightly work."""

    vault: Path
    program: tuple[str, ...]
    at: str
    environment: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        return f"vault-memory-{vault_id(self.vault)}"

    @property
    def watch(self) -> tuple[str, ...]:
        return (*self.program, "--vault", str(self.vault), "watch")

    @property
    def reflect(self) -> tuple[str, ...]:
        return (*self.program, "--vault", str(self.vault), "--quiet", "reflect")


class Unit(NamedTuple):
    """One file: its name for systemctl or launchctl, where it lies, what it holds, whether it is started by name."""

    name: str
    path: Path
    text: str
    is_started: bool = True


def target(vault: Path, at: str, environ: Mapping[str, str]) -> Target:
    """What to start for a vault, by the program that is running now."""
    usual = {"HOME": environ.get("HOME") or os.path.expanduser("~"), "APPDATA": environ.get("APPDATA", "")}
    moved = (kind for kind in _FOLDERS if user_folder(kind, environ) != user_folder(kind, usual))
    named = tuple((name, environ[name]) for name in (f"XDG_{kind.upper()}_HOME" for kind in moved))
    return Target(Path(os.path.realpath(vault)), program(), at, named)


def program() -> tuple[str, ...]:
    """The words that run this program from anywhere: its script, else Python with the module."""
    script = Path(os.path.abspath(sys.argv[0]))
    if script.name in ("memory", "vault-memory") and os.access(script, os.X_OK) and script.is_file():
        return (str(script),)
    return (os.path.abspath(sys.executable), "-m", "vault_memory")


def units(kind: str, of: Target, environ: Mapping[str, str]) -> list[Unit]:
    """The files of one kind; none for cron. Raises UsageError for a path that the format cannot hold."""
    _refuse(of)
    if kind == "systemd":
        return _systemd(of, folder(kind, environ))
    return _launchd(of, folder(kind, environ)) if kind == "launchd" else []


def names(kind: str, of: Target) -> list[str]:
    """The names of all files that any settings would give."""
    endings = {"systemd": (".service", "-nightly.service", "-nightly.timer"), "launchd": (".plist", "-nightly.plist")}
    return [of.name + ending for ending in endings.get(kind, ())]


def folder(kind: str, environ: Mapping[str, str]) -> Path:
    """Where the user's files of this kind lie."""
    home = Path(environ.get("HOME") or os.path.expanduser("~"))
    if kind == "launchd":
        return home / "Library" / "LaunchAgents"
    named = environ.get("XDG_CONFIG_HOME", "")
    return (Path(named) if os.path.isabs(named) else home / ".config") / "systemd" / "user"


# --- systemd ---------------------------------------------------------------------------------------------------------


def _systemd(of: Target, where: Path) -> list[Unit]:
    if re.search(r"[\"'\\]", of.program[0]):
        raise UsageError(f"systemd starts no program whose path has a quote or backslash: {of.program[0]}.", _ELSEWHERE)
    lines = (f"Environment={_quoted(f'{name}={value}')}\n" for name, value in of.environment)
    values = {
        "vault": _percent(str(of.vault)),
        "watch": _exec(of.watch),
        "reflect": _exec(of.reflect),
        "environment": "".join(lines),
        "at": of.at,
    }
    made = [("daemon.service", ".service", True)]
    if of.at:
        made += [("nightly.service", "-nightly.service", False), ("nightly.timer", "-nightly.timer", True)]
    return [
        Unit(of.name + ending, where / (of.name + ending), _mark("# {}\n", _filled(source, values)), started)
        for source, ending, started in made
    ]


def _exec(words: Iterable[str]) -> str:
    """A command line of systemd: `$` is doubled in the arguments, but stands as it is in the program's path."""
    first, *rest = map(_quoted, words)
    return " ".join((first, *(word.replace("$", "$$") for word in rest)))


def _quoted(word: str) -> str:
    escaped = _percent(word).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _percent(text: str) -> str:
    return text.replace("%", "%%")


# --- launchd ---------------------------------------------------------------------------------------------------------


def _launchd(of: Target, where: Path) -> list[Unit]:
    def one(source: str, label: str) -> Unit:
        text = _filled(f"{source}.plist", {**values, "label": label})
        return Unit(f"{label}.plist", where / f"{label}.plist", _mark("<!-- {} -->\n", text))

    pairs = (f"    <key>{name}</key>\n    <string>{_xml(value)}</string>\n" for name, value in of.environment)
    values = {"watch": _strings(of.watch), "reflect": _strings(of.reflect), "environment": "".join(pairs), **_clock(of)}
    return [one("daemon", of.name), *([one("nightly", f"{of.name}-nightly")] if of.at else [])]


def _strings(words: Iterable[str]) -> str:
    return "\n".join(f"    <string>{_xml(word)}</string>" for word in words)


def _xml(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _clock(of: Target) -> dict[str, str]:
    hour, _, minute = of.at.partition(":")
    return {"hour": str(int(hour)), "minute": str(int(minute))} if of.at else {}


# --- cron ------------------------------------------------------------------------------------------------------------


def cron(of: Target) -> str:
    """The lines for a crontab."""
    _refuse(of)
    words = (f"{name}={_shell(value)} " for name, value in of.environment)
    values = {"vault": str(of.vault), "environment": "".join(words), **_clock(of)}
    values |= {name: " ".join(map(_shell, command)) for name, command in (("watch", of.watch), ("reflect", of.reflect))}
    return "".join(_filled(f"{source}.cron", values) for source in ("daemon", *(["nightly"] if of.at else [])))


def _shell(word: str) -> str:
    """A word for the shell behind cron, which takes `%` for a line's end unless a backslash stands before it.

    What else a backslash does before another one differs from cron to cron: a closed and opened quote parts them.
    """
    return shlex.quote(word).replace("\\", "\\''").replace("%", "\\%")


# --- all of them -----------------------------------------------------------------------------------------------------

_ELSEWHERE = "Install it, or move the vault, to a path without such characters."


def _refuse(of: Target) -> None:
    for text in (*of.watch, *(value for _, value in of.environment)):
        if re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]", text):
            raise UsageError(f"A service cannot name this path, for its control characters: {text!a}.", _ELSEWHERE)


def _filled(name: str, values: Mapping[str, str]) -> str:
    """A template with its places filled in; what is filled in is not looked at again."""
    text = template(f"service/{name}").read_text("utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda place: values[place[1]], text)


def _mark(comment: str, text: str) -> str:
    line = comment.format(f"vault-memory sha={_hash(text)}, made by `memory service install`")
    first, newline, rest = text.partition("\n")
    return first + newline + line + rest if first.startswith("<?xml") else line + text


def is_ours(text: str) -> bool:
    """Whether a file was made here, edited since or not."""
    return _MARK.search("".join(text.splitlines(keepends=True)[:_BEGINS])) is not None


def is_edited(text: str) -> bool:
    """Whether a file that was made here has been changed since."""
    found = _MARK.search(text)
    return found is None or found[1] != _hash(text[: found.start()] + text[found.end() :])


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
