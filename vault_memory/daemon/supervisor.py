"""Owns what changes at systemd and launchd: their files put in place and taken away, and systemctl and launchctl run.

It deletes and replaces only files that `service` made, and tells what it could not have started.
"""

import contextlib
import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from vault_memory.daemon import service
from vault_memory.daemon.service import Target, Unit
from vault_memory.errors import ConflictError, VaultMemoryError


class State(NamedTuple):
    """How one file's unit is; `enabled` and `active` are None where nobody can tell."""

    name: str
    path: Path
    installed: bool
    edited: bool
    enabled: bool | None
    active: bool | None


class Said(NamedTuple):
    """What a program said, and whether it did its work."""

    done: bool
    out: str
    problem: str
    is_missing: bool = False


class Supervisor:
    """systemd or launchd, for one vault."""

    def __init__(self, kind: str, target: Target, environ: Mapping[str, str]) -> None:
        self.kind, self.target, self._environ = kind, target, environ
        self.folder = service.folder(kind, environ)

    # --- what is there -------------------------------------------------------------------------------------------

    def states(self) -> list[State]:
        """Each file that could be there."""
        return [self._state(name) for name in service.names(self.kind, self.target)]

    def _state(self, name: str) -> State:
        text = _text(self.folder / name)
        ours = text is not None and service.is_ours(text)
        enabled, active = self._asked(name) if ours else (False, False)
        return State(name, self.folder / name, ours, ours and service.is_edited(text or ""), enabled, active)

    def _asked(self, name: str) -> tuple[bool | None, bool | None]:
        if self.kind == "launchd":
            said = self._run("launchctl", "print", f"{_domain()}/{name.removesuffix('.plist')}")
            known = None if said.is_missing else said.done
            return known, known and "state = running" in said.out
        enabled = self._run("systemctl", "--user", "is-enabled", name).out.strip()
        active = self._run("systemctl", "--user", "is-active", name).out.strip()
        return _ENABLED.get(enabled), _ACTIVE.get(active)

    # --- install -------------------------------------------------------------------------------------------------

    def install(self, units: Sequence[Unit]) -> tuple[list[Path], list[Path]]:
        """Put the files in place and have them started; returns what was written and what was taken away.

        Raises ConflictError, before anything is written, where a file is someone else's or was edited, and
        VaultMemoryError where it was all written and could not be started.
        """
        present = {unit.name: _text(unit.path) for unit in units}
        _refuse_others(units, present)
        changed = [unit for unit in units if present[unit.name] != unit.text]
        surplus = [state.name for state in self.states() if state.installed and state.name not in present]
        for unit in changed:
            _write(unit)
        removed, problem = self._take_away(surplus) if surplus else ([], "")
        problem = self._start(units, [unit.name for unit in changed], present) or problem
        written = [unit.path for unit in changed]
        if problem:
            lines = " ".join(str(path) for path in written) or "nothing, for all was there"
            raise VaultMemoryError(
                f"Written: {lines}. It could not be started: {problem}",
                "Run this when you are logged in: " + " && ".join(self.commands(units)),
            )
        return written, removed

    def commands(self, units: Iterable[Unit]) -> list[str]:
        """What has the files started, for a person to type."""
        if self.kind == "launchd":
            return [shlex.join(["launchctl", "bootstrap", _domain(), str(unit.path)]) for unit in units]
        started = " ".join(unit.name for unit in units if unit.is_started)
        return ["systemctl --user daemon-reload", f"systemctl --user enable --now {started}"]

    def _start(self, units: Sequence[Unit], changed: Sequence[str], before: Mapping[str, str | None]) -> str:
        """Have the units run as they are written now; returns what went wrong, or ""."""
        if self.kind == "launchd":
            return self._bootstrap(units, changed)
        started = [unit.name for unit in units if unit.is_started]
        if not changed and all(self._asked(name) == (True, True) for name in started):
            return ""
        again = [name for name in started if name in changed and before[name] is not None]
        steps = [["daemon-reload"], ["enable", "--now", *started], *([["restart", *again]] if again else [])]
        for step in steps:
            said = self._run("systemctl", "--user", *step)
            if not said.done:
                return said.problem
        return ""

    def _bootstrap(self, units: Sequence[Unit], changed: Sequence[str]) -> str:
        for unit in units:
            label = f"{_domain()}/{unit.name.removesuffix('.plist')}"
            loaded = self._run("launchctl", "print", label).done
            if loaded and unit.name not in changed:
                continue
            if loaded:
                self._run("launchctl", "bootout", label)
            said = self._run("launchctl", "bootstrap", _domain(), str(unit.path))
            if not said.done:
                return said.problem
        return ""

    # --- uninstall -----------------------------------------------------------------------------------------------

    def uninstall(self) -> list[Path]:
        """Stop what was installed and take it away, edited or not; returns the files.

        Raises VaultMemoryError where the files are gone and what runs could not be stopped.
        """
        removed, problem = self._take_away([state.name for state in self.states() if state.installed])
        if problem:
            files = " ".join(str(path) for path in removed)
            told = f"Deleted: {files}. What runs was not stopped: {problem}"
            raise VaultMemoryError(told, "It ends when you log out.")
        return removed

    def _take_away(self, names: Sequence[str]) -> tuple[list[Path], str]:
        if not names:
            return [], ""
        problem = self._stop(names)
        removed = [self.folder / name for name in names]
        for file in removed:
            try:
                file.unlink(missing_ok=True)
            except OSError as error:
                told = f"{file} cannot be deleted: {error.strerror or error}."
                raise VaultMemoryError(told, "Delete it yourself, then run it again.") from error
        if self.kind == "systemd":
            self._sweep(names)
            self._run("systemctl", "--user", "daemon-reload")
            self._run("systemctl", "--user", "reset-failed", *names)
        return removed, problem

    def _stop(self, names: Sequence[str]) -> str:
        if self.kind == "launchd":
            labels = [f"{_domain()}/{name.removesuffix('.plist')}" for name in names]
            loaded = [label for label in labels if self._run("launchctl", "print", label).done]
            said = [self._run("launchctl", "bootout", label) for label in loaded]
            return " ".join(one.problem for one in said if not one.done)
        said = [self._run("systemctl", "--user", "disable", "--now", name) for name in names]
        # What systemd does not know, for want of itself or of the unit, has nothing running.
        failed = [one for one in said if not (one.done or one.is_missing or "does not exist" in one.problem)]
        return " ".join(dict.fromkeys(one.problem for one in failed))

    def _sweep(self, names: Sequence[str]) -> None:
        """What systemd keeps of units: links to start them, the stamp of a timer, and folders that are empty now."""
        home = Path(self._environ.get("HOME") or os.path.expanduser("~"))
        data = self._environ.get("XDG_DATA_HOME", "")
        timers = (Path(data) if os.path.isabs(data) else home / ".local/share") / "systemd" / "timers"
        wants = [self.folder / f"{name}.wants" for name in ("default.target", "timers.target")]
        for link in (*(folder / name for folder in wants for name in names), *(timers / f"stamp-{n}" for n in names)):
            with contextlib.suppress(OSError):
                link.unlink()
        for folder in (*wants, self.folder, self.folder.parent):
            with contextlib.suppress(OSError):
                folder.rmdir()  # one that still holds something stays

    def _run(self, tool: str, *arguments: str) -> Said:
        command = [tool, *arguments]
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=90, check=False, env=dict(self._environ)
            )
        except FileNotFoundError:
            return Said(False, "", f"{tool} is not there.", is_missing=True)
        except (OSError, subprocess.TimeoutExpired) as error:
            return Said(False, "", f"{tool}: {error}")
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        problem = f"{tool} said: {lines[0]}" if lines else f"{tool} ended with {done.returncode}."
        return Said(done.returncode == 0, done.stdout.decode("utf-8", "replace"), problem if done.returncode else "")


_ENABLED = {"enabled": True, "linked": True, "disabled": False, "masked": False}
"""What `is-enabled` says; a unit that only its timer starts is `static`, which is neither."""

_ACTIVE = {"active": True, "activating": True, "reloading": True, "inactive": False, "failed": False}


def _domain() -> str:
    return f"gui/{os.getuid()}" if hasattr(os, "getuid") else "gui"


def _text(path: Path) -> str | None:
    """What a file holds; None where there is none. A link is someone else's, whatever it leads to."""
    if path.is_symlink():
        return ""
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise VaultMemoryError(f"{path} cannot be read: {error.strerror or error}.", "Mend its permissions.") from error


def _refuse_others(units: Iterable[Unit], present: Mapping[str, str | None]) -> None:
    for unit in units:
        text = present[unit.name]
        if text is not None and not service.is_ours(text):
            raise ConflictError(f"{unit.path} is there and was not made by this program.", "Move it away first.")
        if text is not None and service.is_edited(text):
            raise ConflictError(
                f"{unit.path} was edited since it was installed.",
                "Run `memory service uninstall` first, which deletes it with what was edited, then install again.",
            )


def _write(unit: Unit) -> None:
    try:
        unit.path.parent.mkdir(parents=True, exist_ok=True)
        handle, part = tempfile.mkstemp(dir=unit.path.parent, prefix=".vault-memory-")
        try:
            with open(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(unit.text)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(part, 0o644)
            os.replace(part, unit.path)
        except BaseException:
            os.unlink(part)
            raise
    except OSError as error:
        raise VaultMemoryError(
            f"{unit.path} cannot be written: {error.strerror or error}.", "`--print` shows what would stand there."
        ) from error
