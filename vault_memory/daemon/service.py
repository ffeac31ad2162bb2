"""Has systemd, launchd or cron start this program by itself: their files made from templates, put in place, taken away.

Each format has its own way of quoting; a path that cannot be said in it is refused. Only files made here are replaced
or deleted, and what could not be started is told.
"""

import contextlib
import html
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from vault_memory.errors import ConflictError, UsageError, VaultMemoryError
from vault_memory.integrations.install import SEAL, fill_template, is_sealed, seal
from vault_memory.startup import user_folder, vault_id
from vault_memory.vault import safe_files

KINDS = ("systemd", "launchd", "cron")

_FOLDERS = ("config", "data", "state")
"""Where the user's folders are; a service does not get them from the shell, and would keep its data elsewhere."""

_FILES = {
    "systemd": (("daemon.service", ".service"), ("nightly.service", "-nightly.service"),
                ("nightly.timer", "-nightly.timer")),
    "launchd": (("daemon.plist", ".plist"), ("nightly.plist", "-nightly.plist")),
}  # fmt: skip
"""The templates of each kind, and how the names of the files end that are made of them."""

_BEGINS = 2  # XML wants its own declaration first

_ELSEWHERE = "Install it, or move the vault, to a path without such characters."


@dataclass(frozen=True)
class ServiceTarget:
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


def target(vault: Path, at: str, environ: Mapping[str, str]) -> ServiceTarget:
    """What to start for a vault, by the program that is running now."""
    usual = {"HOME": environ.get("HOME") or os.path.expanduser("~"), "APPDATA": environ.get("APPDATA", "")}
    moved = (kind for kind in _FOLDERS if user_folder(kind, environ) != user_folder(kind, usual))
    named = tuple((name, environ[name]) for name in (f"XDG_{kind.upper()}_HOME" for kind in moved))
    return ServiceTarget(Path(os.path.realpath(vault)), program(), at, named)


def program() -> tuple[str, ...]:
    """The words that run this program from anywhere: its script, else Python with the module."""
    script = Path(os.path.abspath(sys.argv[0]))
    if script.name in ("memory", "vault-memory") and os.access(script, os.X_OK) and script.is_file():
        return (str(script),)
    return (os.path.abspath(sys.executable), "-m", "vault_memory")


def units(kind: str, job: ServiceTarget, environ: Mapping[str, str]) -> list[Unit]:
    """The files of one kind; none for cron. Raises UsageError for a path that the format cannot hold."""
    _refuse_controls(job)
    values = _systemd(job) if kind == "systemd" else _launchd(job)
    found = []
    for source, ending in _FILES.get(kind, ()):
        if source.startswith("nightly") and not job.at:
            continue
        name = job.name + ending
        text = fill_template(f"service/{source}", values | {"label": name.removesuffix(".plist")})
        sealed = seal(text, "memory service install")
        first, newline, rest = text.partition("\n")
        text = f"{first}{newline}<!-- {sealed} -->\n{rest}" if kind == "launchd" else f"# {sealed}\n{text}"
        found.append(Unit(name, folder(kind, environ) / name, text, is_started=ending != "-nightly.service"))
    return found


def folder(kind: str, environ: Mapping[str, str]) -> Path:
    """Where the user's files of this kind lie."""
    home = Path(environ.get("HOME") or os.path.expanduser("~"))
    if kind == "launchd":
        return home / "Library" / "LaunchAgents"
    named = environ.get("XDG_CONFIG_HOME", "")
    return (Path(named) if os.path.isabs(named) else home / ".config") / "systemd" / "user"


# --- systemd ---------------------------------------------------------------------------------------------------------


def _systemd(job: ServiceTarget) -> dict[str, str]:
    if re.search(r"[\"'\\]", job.program[0]):
        raise UsageError(
            f"systemd starts no program whose path has a quote or backslash: {job.program[0]}.", _ELSEWHERE
        )
    lines = (f"Environment={_quoted(f'{name}={value}')}\n" for name, value in job.environment)
    vault = str(job.vault).replace("%", "%%")
    return {"vault": vault, "watch": _exec(job.watch), "reflect": _exec(job.reflect), "environment": "".join(lines),
            "at": job.at}  # fmt: skip


def _exec(words: Iterable[str]) -> str:
    """A command line of systemd: `$` is doubled in the arguments, but stands as it is in the program's path."""
    first, *rest = map(_quoted, words)
    return " ".join((first, *(word.replace("$", "$$") for word in rest)))


def _quoted(word: str) -> str:
    escaped = word.replace("%", "%%").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


# --- launchd ---------------------------------------------------------------------------------------------------------


def _launchd(job: ServiceTarget) -> dict[str, str]:
    def strings(words: Iterable[str]) -> str:
        return "\n".join(f"    <string>{html.escape(word, quote=False)}</string>" for word in words)

    pairs = (f"    <key>{name}</key>\n{strings([value])}\n" for name, value in job.environment)
    return {"watch": strings(job.watch), "reflect": strings(job.reflect), "environment": "".join(pairs), **_clock(job)}


def _clock(job: ServiceTarget) -> dict[str, str]:
    hour, _, minute = job.at.partition(":")
    return {"hour": str(int(hour)), "minute": str(int(minute))} if job.at else {}


# --- cron ------------------------------------------------------------------------------------------------------------


def cron(job: ServiceTarget) -> str:
    """The lines for a crontab."""
    _refuse_controls(job)
    words = (f"{name}={_shell(value)} " for name, value in job.environment)
    values = {"vault": str(job.vault), "environment": "".join(words), **_clock(job)}
    values |= {
        name: " ".join(map(_shell, command)) for name, command in (("watch", job.watch), ("reflect", job.reflect))
    }
    sources = ("daemon", "nightly") if job.at else ("daemon",)
    return "".join(fill_template(f"service/{source}.cron", values) for source in sources)


def _shell(word: str) -> str:
    """A word for the shell behind cron, which takes `%` for a line's end unless a backslash stands before it.

    What else a backslash does before another one differs from cron to cron: a closed and opened quote parts them.
    """
    return shlex.quote(word).replace("\\", "\\''").replace("%", "\\%")


def _refuse_controls(job: ServiceTarget) -> None:
    for text in (*job.watch, *(value for _, value in job.environment)):
        if re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]", text):
            raise UsageError(f"A service cannot name this path, for its control characters: {text!a}.", _ELSEWHERE)


def is_ours(text: str) -> bool:
    """Whether a file was made here, edited since or not."""
    return SEAL.search("".join(text.splitlines(keepends=True)[:_BEGINS])) is not None


# --- put in place and taken away -------------------------------------------------------------------------------------

_ENABLED = {"enabled": True, "linked": True, "disabled": False, "masked": False}
"""What `is-enabled` says; a unit that only its timer starts is `static`, which is neither."""

_ACTIVE = {"active": True, "activating": True, "reloading": True, "inactive": False, "failed": False}


class State(NamedTuple):
    """How one file's unit is; `enabled` and `active` are None where nobody can tell."""

    name: str
    path: Path
    installed: bool
    edited: bool
    enabled: bool | None
    active: bool | None


class ToolResult(NamedTuple):
    """What systemctl or launchctl said; `problem` is "" where it did its work."""

    out: str
    problem: str
    is_missing: bool = False


class Supervisor:
    """systemd or launchd, for one vault."""

    def __init__(self, kind: str, target: ServiceTarget, environ: Mapping[str, str]) -> None:
        self.kind, self.target, self._environ = kind, target, environ
        self.folder = folder(kind, environ)

    def states(self) -> list[State]:
        """Each file that could be there."""
        found = []
        for _, ending in _FILES.get(self.kind, ()):
            name = self.target.name + ending
            text = _text(self.folder / name)
            ours = text is not None and is_ours(text)
            enabled, active = self._status(name) if ours else (False, False)
            found.append(State(name, self.folder / name, ours, ours and not is_sealed(text or ""), enabled, active))
        return found

    def _status(self, name: str) -> tuple[bool | None, bool | None]:
        if self.kind == "launchd":
            printed = self._run("launchctl", "print", _label(name))
            known = None if printed.is_missing else not printed.problem
            return known, known and "state = running" in printed.out
        enabled = self._run("systemctl", "--user", "is-enabled", name).out.strip()
        active = self._run("systemctl", "--user", "is-active", name).out.strip()
        return _ENABLED.get(enabled), _ACTIVE.get(active)

    def install(self, units: Sequence[Unit]) -> tuple[list[Path], list[Path]]:
        """Put the files in place and have them started; returns what was written and what was taken away.

        Raises ConflictError, before anything is written, where a file is someone else's or was edited, and
        VaultMemoryError where it was all written and could not be started.
        """
        present = {unit.name: _text(unit.path) for unit in units}
        for unit in units:
            text = present[unit.name]
            if text is not None and not is_ours(text):
                raise ConflictError(f"{unit.path} is there and was not made by this program.", "Move it away first.")
            if text is not None and not is_sealed(text):
                raise ConflictError(
                    f"{unit.path} was edited since it was installed.",
                    "Run `memory service uninstall` first, which deletes it with what was edited, then install again.",
                )
        changed = [unit for unit in units if present[unit.name] != unit.text]
        surplus = [state.name for state in self.states() if state.installed and state.name not in present]
        for unit in changed:
            _write(unit)
        removed, problem = self._take_away(surplus)
        if self.kind == "launchd":
            problem = self._bootstrap(units, changed) or problem
        else:
            restarted = [unit.name for unit in changed if unit.is_started and present[unit.name] is not None]
            problem = self._start([unit.name for unit in units if unit.is_started], restarted, bool(changed)) or problem
        if problem:
            lines = " ".join(str(unit.path) for unit in changed) or "nothing, for all was there"
            raise VaultMemoryError(
                f"Written: {lines}. It could not be started: {problem}",
                "Run this when you are logged in: " + " && ".join(self.commands(units)),
            )
        return [unit.path for unit in changed], removed

    def commands(self, units: Iterable[Unit]) -> list[str]:
        """What has the files started, for a person to type."""
        if self.kind == "launchd":
            return [shlex.join(["launchctl", "bootstrap", _domain(), str(unit.path)]) for unit in units]
        started = " ".join(unit.name for unit in units if unit.is_started)
        return ["systemctl --user daemon-reload", f"systemctl --user enable --now {started}"]

    def _start(self, started: Sequence[str], restarted: Sequence[str], is_changed: bool) -> str:
        """Have systemd run the units as they are written now; returns what went wrong, or ""."""
        if not is_changed and all(self._status(name) == (True, True) for name in started):
            return ""
        steps = [["daemon-reload"], ["enable", "--now", *started], *([["restart", *restarted]] if restarted else [])]
        return next((problem for step in steps if (problem := self._run("systemctl", "--user", *step).problem)), "")

    def _bootstrap(self, units: Sequence[Unit], changed: Sequence[Unit]) -> str:
        for unit in units:
            is_loaded = not self._run("launchctl", "print", _label(unit.name)).problem
            if is_loaded and unit not in changed:
                continue
            if is_loaded:
                self._run("launchctl", "bootout", _label(unit.name))
            if problem := self._run("launchctl", "bootstrap", _domain(), str(unit.path)).problem:
                return problem
        return ""

    def uninstall(self) -> list[Path]:
        """Stop what was installed and take it away, edited or not; returns the files.

        Raises VaultMemoryError where the files are gone and what runs could not be stopped.
        """
        removed, problem = self._take_away([state.name for state in self.states() if state.installed])
        if problem:
            files = " ".join(str(path) for path in removed)
            what = f"Deleted: {files}. What runs was not stopped: {problem}"
            raise VaultMemoryError(what, "It ends when you log out.")
        return removed

    def _take_away(self, names: Sequence[str]) -> tuple[list[Path], str]:
        """Stop these and delete their files; returns those, and what could not be stopped."""
        if not names:
            return [], ""
        if self.kind == "launchd":
            loaded = [_label(name) for name in names if not self._run("launchctl", "print", _label(name)).problem]
            results = [self._run("launchctl", "bootout", label) for label in loaded]
        else:
            results = [self._run("systemctl", "--user", "disable", "--now", name) for name in names]
            # What systemd does not know, for want of itself or of the unit, has nothing running.
            results = [one for one in results if not one.is_missing and "does not exist" not in one.problem]
        removed = [self.folder / name for name in names]
        for file in removed:
            try:
                file.unlink(missing_ok=True)
            except OSError as error:
                what = f"{file} cannot be deleted: {error.strerror or error}."
                raise VaultMemoryError(what, "Delete it yourself, then run it again.") from error
        if self.kind == "systemd":
            self._sweep(names)
            self._run("systemctl", "--user", "daemon-reload")
            self._run("systemctl", "--user", "reset-failed", *names)
        return removed, " ".join(dict.fromkeys(one.problem for one in results if one.problem))

    def _sweep(self, names: Sequence[str]) -> None:
        """What systemd keeps of units: links to start them, the stamp of a timer, and folders that are empty now."""
        home, data = self._environ.get("HOME") or os.path.expanduser("~"), self._environ.get("XDG_DATA_HOME", "")
        timers = Path(data if os.path.isabs(data) else f"{home}/.local/share", "systemd/timers")
        wants = [self.folder / f"{name}.wants" for name in ("default.target", "timers.target")]
        for link in (*(folder / name for folder in wants for name in names), *(timers / f"stamp-{n}" for n in names)):
            with contextlib.suppress(OSError):
                link.unlink()
        for place in (*wants, self.folder, self.folder.parent):
            with contextlib.suppress(OSError):
                place.rmdir()  # one that still holds something stays

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
    """What a file holds; None where there is none. A link is someone else's, whatever it leads to."""
    if path.is_symlink():
        return ""
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise VaultMemoryError(f"{path} cannot be read: {error.strerror or error}.", "Fix its permissions.") from error


def _write(unit: Unit) -> None:
    part = unit.path.with_name(f".{unit.name}.{os.urandom(6).hex()}.part")
    try:
        unit.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            safe_files.write_durably(part, unit.text.encode("utf-8"))
            os.chmod(part, 0o644)
            os.replace(part, unit.path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise VaultMemoryError(
            f"{unit.path} cannot be written: {error.strerror or error}.", "`--print` shows what would stand there."
        ) from error
