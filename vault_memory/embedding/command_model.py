"""Asks a program on this computer instead of a server: the prompt on its standard input, the answer on its output.

The program comes from the user's own settings and runs without a shell. It never runs in the current folder: an agent's
program reads settings there, and a vault may come from anywhere (law 8).
"""

import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import wait
from contextlib import suppress
from pathlib import Path
from typing import Any

from vault_memory.embedding.endpoints import Endpoint
from vault_memory.embedding.model_clients import MAX_CHAT_BYTES, MORE_TIME, Messages
from vault_memory.errors import RemoteError
from vault_memory.startup import MODEL_RUN_VARIABLE, OFF_FILE, start_thread, user_folder
from vault_memory.vault.safe_files import make_private

log = logging.getLogger(__name__)


class CommandModel:
    """A program that answers prompts; it is started for each request, and killed with all it started if it is late."""

    def __init__(self, to: Endpoint, environ: Mapping[str, str]) -> None:
        self.where = to.where
        self._command, self._environ = to.command, environ
        self._check = f"Check `{to.setting}.command`, or {to.without_it}."

    def chat_within(self, seconds: float, messages: Messages, form: Mapping[str, Any]) -> str:
        """The program's answer, which should be JSON of the schema `form`; raises RemoteError."""
        until = time.monotonic() + seconds
        process = self._start()
        try:
            said = self._talk(process, _prompt(messages, form), until)
        except subprocess.TimeoutExpired:
            raise RemoteError(f"{self.where} did not answer in {seconds:g} s", MORE_TIME) from None
        finally:
            if process.returncode is None:  # after a wait, the group's number may be another's
                _kill_group(process)
        if process.returncode:
            raise RemoteError(f"{self.where} failed with exit code {process.returncode}", self._if_failed, "busy")
        try:
            return said.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise RemoteError(f"{self.where} answered with something that cannot be read", self._check) from None

    def find_model(self) -> None:
        """Raise RemoteError unless the program exists; it is not run."""
        self._program()

    def connect(self) -> None:
        """Nothing to prepare."""

    def close(self) -> None:
        """Nothing is left open."""

    def plain(self, text: object) -> str:
        """A message on one short line."""
        return " ".join(str(text).split())[:200]

    @property
    def _if_failed(self) -> str:
        return f"Run the command with `-v` to see what the program says. {self._check}"

    def _program(self) -> str:
        """The program's absolute path: nothing in the current folder is ever meant."""
        name = os.path.expanduser(self._command[0])
        folders = filter(os.path.isabs, self._environ.get("PATH", os.defpath).split(os.pathsep))
        found = shutil.which(name, path=os.pathsep.join(folders))
        if not found or not os.path.isabs(found):
            raise RemoteError(f"{self.where} is not there, or is no program", self._check)
        return found

    def _start(self) -> "subprocess.Popen[bytes]":
        command = [self._program(), *self._command[1:]]
        shown = None if log.isEnabledFor(logging.DEBUG) else subprocess.DEVNULL
        try:
            return subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=shown, start_new_session=True,
                cwd=_empty_folder(self._environ), env={**self._environ, MODEL_RUN_VARIABLE: "1"},
            )  # fmt: skip
        except OSError as error:
            raise RemoteError(f"{self.where} cannot be started ({error.strerror})", self._check) from None

    def _talk(self, process: "subprocess.Popen[bytes]", prompt: bytes, until: float) -> bytes:
        """What the program prints until it ends; raises TimeoutExpired, or RemoteError if that is too much."""
        source, output = process.stdin, process.stdout
        assert source and output

        def feed() -> None:
            with suppress(OSError), source:  # a program need not read it all
                source.write(prompt)

        def read() -> bytes:
            with output:
                return output.read(MAX_CHAT_BYTES + 1)

        start_thread(feed)
        reading = start_thread(read)
        if not wait([reading], until - time.monotonic()).done:
            raise subprocess.TimeoutExpired(process.args, 0)
        said = reading.result()
        if len(said) > MAX_CHAT_BYTES:
            what = f"{self.where} answered with more than {MAX_CHAT_BYTES // 1024} kB"
            raise RemoteError(what, "Use another model.", "unusable")
        process.wait(max(until - time.monotonic(), 0.1))
        return said


def _prompt(messages: Messages, form: Mapping[str, Any]) -> bytes:
    """The messages as one text, with the form of the answer after the instructions."""
    first, *rest = (message["content"] for message in messages)
    schema = f"The answer is one JSON object of this schema, and nothing else:\n{json.dumps(form)}"
    return "\n\n".join((first, schema, *rest, "")).encode("utf-8", "replace")


def _empty_folder(environ: Mapping[str, str]) -> Path:
    """The folder that programs run in; its `OFF_FILE` keeps what agents log there from capture."""
    folder = Path(user_folder("data", environ)) / "model-runs"
    make_private(folder)
    (folder / OFF_FILE).touch()
    return folder


def _kill_group(process: "subprocess.Popen[bytes]") -> None:
    """Kill a program and all that it started."""
    if sys.platform == "win32":
        process.kill()
    else:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
