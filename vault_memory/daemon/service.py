"""Installs and removes the daemon as a service of systemd or launchd, or as a line for cron, from a template.

The daemon also does the nightly work, so files that earlier versions installed for it are removed. A path with a
double quote, a backslash or a control character is refused. Only files made here are replaced or deleted.
"""

import contextlib
import html
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from vault_memory.errors import ConflictError, UsageError, VaultMemoryError
from vault_memory.integrations.install import SEAL, fill_template, is_sealed, plain_errors, seal
from vault_memory.integrations.settings_paths import InstallPlace
from vault_memory.startup import user_folder, vault_id
from vault_memory.vault import safe_files

KINDS = ("systemd", "launchd", "cron")

_ENDINGS = {"systemd": ".service", "launchd": ".plist", "cron": ".cron"}

_FORMER_ENDINGS = {"systemd": ("-nightly.service", "-nightly.timer"), "launchd": ("-nightly.plist",)}
"""Files of earlier versions, in which the nightly work was a service of its own."""


@dataclass(frozen=True)
class ServiceTarget:
    """The service to start; `program` is the command line that runs this program."""

    vault: Path
    program: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()

    @property
    def name(self) -> str:
        return f"vault-memory-{vault_id(self.vault)}"

    @property
    def command(self) -> tuple[str, ...]:
        return (*self.program, "--vault", str(self.vault), "watch")


def target(vault: Path, environ: Mapping[str, str]) -> ServiceTarget:
    """Return the service of a vault, run by the program that is running now."""
    usual = {"HOME": environ.get("HOME") or os.path.expanduser("~"), "APPDATA": environ.get("APPDATA", "")}
    # A service does not inherit the shell's variables, so the file says where the user's folders were moved.
    kinds = "config", "data", "state"
    moved = (kind for kind in kinds if user_folder(kind, environ) != user_folder(kind, usual))
    named = tuple((name, environ[name]) for name in (f"XDG_{kind.upper()}_HOME" for kind in moved))
    return ServiceTarget(Path(os.path.realpath(vault)), program(), named)


def program() -> tuple[str, ...]:
    """Return the command line that runs this program from anywhere: its script, else Python with the module."""
    script = Path(os.path.abspath(sys.argv[0]))
    if script.name in ("memory", "vault-memory") and os.access(script, os.X_OK) and script.is_file():
        return (str(script),)
    return (os.path.abspath(sys.executable), "-m", "vault_memory")


def service_text(kind: str, job: ServiceTarget) -> str:
    """Return the service file for systemd or launchd, or the line for a crontab, with a comment.

    Raises UsageError for a path with a character that not every format can express in a simple way.
    """
    for word in (*job.command, *(value for _, value in job.environment)):
        if re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff\"\\]", word):
            what = f"A service cannot name this path, for its quotes, backslashes or control characters: {word!a}."
            raise UsageError(what, "Install it, or move the vault, to a path without such characters.")
    values = {"systemd": _systemd, "launchd": _launchd, "cron": _cron}[kind](job)
    text = fill_template(f"service/daemon{_ENDINGS[kind]}", values)
    sealed = seal(text, "memory service install")
    if kind == "launchd":
        first, newline, rest = text.partition("\n")
        return f"{first}{newline}<!-- {sealed} -->\n{rest}"
    return f"# {sealed}\n{text}" if kind == "systemd" else text


def _systemd(job: ServiceTarget) -> dict[str, str]:
    lines = (f'Environment="{name}={value}"\n' for name, value in job.environment)
    # systemd replaces variables in the arguments, but not in the program's path; `%` is special everywhere.
    words = (job.command[0], *(word.replace("$", "$$") for word in job.command[1:]))
    watch = " ".join(f'"{word}"' for word in words)
    values = {"vault": str(job.vault), "watch": watch, "environment": "".join(lines)}
    return {name: value.replace("%", "%%") for name, value in values.items()}


def _launchd(job: ServiceTarget) -> dict[str, str]:
    def strings(words: Iterable[str]) -> str:
        return "\n".join(f"    <string>{html.escape(word, quote=False)}</string>" for word in words)

    pairs = (f"    <key>{name}</key>\n{strings([value])}\n" for name, value in job.environment)
    return {"label": job.name, "watch": strings(job.command), "environment": "".join(pairs)}


def _cron(job: ServiceTarget) -> dict[str, str]:
    words = "".join(f"{name}={shlex.quote(value)} " for name, value in job.environment).replace("%", "\\%")
    watch = shlex.join(job.command).replace("%", "\\%")  # cron would end the command at a plain `%`
    return {"vault": str(job.vault), "environment": words, "watch": watch}


def is_ours(text: str) -> bool:
    """Whether a file was made here, even if edited since."""
    # The seal is on the first or second line: XML needs its declaration first.
    return SEAL.search("".join(text.splitlines(keepends=True)[:2])) is not None


# --- installing and uninstalling -------------------------------------------------------------------------------------


class State(NamedTuple):
    """The state of one service file; `enabled` and `active` are None if unknown."""

    name: str
    path: Path
    installed: bool
    edited: bool
    enabled: bool | None
    active: bool | None


class ToolResult(NamedTuple):
    """The outcome of systemctl or launchctl; `problem` is "" on success."""

    out: str
    problem: str
    is_missing: bool = False


class Supervisor:
    """systemd or launchd, for one vault; `file` is the daemon's service file."""

    def __init__(self, kind: str, target: ServiceTarget, environ: Mapping[str, str]) -> None:
        self.kind, self.target, self._environ = kind, target, environ
        place = InstallPlace("user", Path(), environ)
        is_launchd = kind == "launchd"
        folder = place.home / "Library" / "LaunchAgents" if is_launchd else place.config / "systemd" / "user"
        self.file = folder / (target.name + _ENDINGS[kind])

    def state(self) -> State:
        """Return the state of the daemon's service file, installed or not."""
        text = _text(self.file) or ""
        ours = is_ours(text)
        enabled, active = self._status(self.file.name) if ours else (False, False)
        return State(self.file.name, self.file, ours, ours and not is_sealed(text), enabled, active)

    def _status(self, name: str) -> tuple[bool | None, bool | None]:
        """Return whether a unit is enabled and whether it is running; None if unknown."""
        if self.kind == "launchd":
            printed = self._run("launchctl", "print", _label(name))
            known = None if printed.is_missing else not printed.problem
            return known, known and "state = running" in printed.out
        enabled = self._run("systemctl", "--user", "is-enabled", name).out.strip()
        active = self._run("systemctl", "--user", "is-active", name).out.strip()
        is_active = {"active": True, "inactive": False, "failed": False}.get(active)
        return {"enabled": True, "disabled": False}.get(enabled), is_active

    def install(self) -> tuple[list[Path], list[Path]]:
        """Install the file and start the service; return the files written and the files removed.

        Raises ConflictError, before anything is written, if the existing file is not ours or was edited, and
        VaultMemoryError if the service could not be started.
        """
        file, text, before = self.file, service_text(self.kind, self.target), _text(self.file)
        if before is not None and not is_ours(before):
            raise ConflictError(f"{file} is there and was not made by this program.", "Move it away first.")
        if before is not None and not is_sealed(before):
            step = "Run `memory service uninstall` first, which deletes it with what was edited, then install again."
            raise ConflictError(f"{file} was edited since it was installed.", step)
        written = [file] if before != text else []
        if written:
            with plain_errors(file):
                file.parent.mkdir(parents=True, exist_ok=True)
                safe_files.replace_durably(file, text.encode("utf-8"))
        removed, _ = self._take_away(_FORMER_ENDINGS[self.kind])
        if problem := self._start(is_changed=bool(written)):
            what = f"Written: {file if written else 'nothing new'}. It could not be started: "
            step = "Run this when you are logged in: " + " && ".join(map(shlex.join, self.commands()))
            raise VaultMemoryError(what + problem, step)
        return written, removed

    def commands(self) -> list[list[str]]:
        """Return the commands that start the service."""
        if self.kind == "launchd":
            return [["launchctl", "bootstrap", _domain(), str(self.file)]]
        steps = ["daemon-reload"], ["enable", self.file.name], ["restart", self.file.name]
        return [["systemctl", "--user", *words] for words in steps]

    def _start(self, is_changed: bool) -> str:
        """Run the daemon as its file now says; return what went wrong, or ""."""
        is_enabled, is_active = self._status(self.file.name)
        if is_enabled and (is_active or self.kind == "launchd") and not is_changed:
            return ""
        steps = self.commands()
        if self.kind == "launchd" and is_enabled:
            steps = [["launchctl", "bootout", _label(self.file.name)], *steps]
        return next((problem for step in steps if (problem := self._run(*step).problem)), "")

    def uninstall(self) -> list[Path]:
        """Stop what was installed and delete its files, edited or not; return the files.

        Raises VaultMemoryError if the files were deleted but a running service could not be stopped.
        """
        removed, problem = self._take_away([_ENDINGS[self.kind], *_FORMER_ENDINGS[self.kind]])
        if problem:
            files = " ".join(str(path) for path in removed)
            what = f"Deleted: {files}. What runs was not stopped: {problem}"
            raise VaultMemoryError(what, "It ends when you log out.")
        return removed

    def _take_away(self, endings: Iterable[str]) -> tuple[list[Path], str]:
        """Stop and delete our files with these endings; return them and what went wrong in stopping, or ""."""
        named = (self.file.with_name(self.target.name + ending) for ending in endings)
        files = [file for file in named if is_ours(_text(file) or "")]
        problems = [self._stop(file.name) for file in files]
        for file in files:
            with plain_errors(file):
                file.unlink()
        if files and self.kind == "systemd":
            # systemd leaves links to units in `*.wants`, and folders that are now empty.
            folder = self.file.parent
            wants = [folder / f"{name}.wants" for name in ("default.target", "timers.target")]
            for link in (place / file.name for place in wants for file in files):
                link.unlink(missing_ok=True)
            for place in (*wants, folder, folder.parent):
                with contextlib.suppress(OSError):
                    place.rmdir()  # fails if it is not empty
            self._run("systemctl", "--user", "daemon-reload")
        return files, " ".join(dict.fromkeys(filter(None, problems)))

    def _stop(self, name: str) -> str:
        """Stop and disable a unit; return what went wrong, or ""."""
        if self.kind == "launchd":
            return self._run("launchctl", "bootout", _label(name)).problem if self._status(name)[0] else ""
        said = self._run("systemctl", "--user", "disable", "--now", name)
        # Without systemd, or without the unit, nothing is running.
        return "" if said.is_missing or "does not exist" in said.problem else said.problem

    def _run(self, *command: str) -> ToolResult:
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=90, check=False, env=dict(self._environ)
            )
        except FileNotFoundError:
            return ToolResult("", f"{command[0]} is not there.", is_missing=True)
        except (OSError, subprocess.TimeoutExpired) as error:
            return ToolResult("", f"{command[0]}: {error}")
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        problem = f"{command[0]} said: {lines[0]}" if lines else f"{command[0]} ended with {done.returncode}."
        return ToolResult(done.stdout.decode("utf-8", "replace"), problem if done.returncode else "")


def _domain() -> str:
    return f"gui/{os.getuid()}" if hasattr(os, "getuid") else "gui"


def _label(name: str) -> str:
    return f"{_domain()}/{name.removesuffix('.plist')}"


def _text(path: Path) -> str | None:
    """Return a file's text, or None if it does not exist; "" for a symbolic link, which is never ours."""
    if path.is_symlink():
        return ""
    with plain_errors(path):
        return path.read_bytes().decode("utf-8", "replace") if path.exists() else None
