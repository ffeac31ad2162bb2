"""Worker processes of a bulk load: they read, parse, cut, count and embed notes while the parent stores them.

Plain pipes to our own child, not multiprocessing: when the parent is killed, a worker reads the end of its input and
ends too. Whatever goes wrong with workers, the parent does the rest itself: they can only make a load faster.
"""

import contextlib
import os
import pickle
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterator

from vault_memory.config import Config
from vault_memory.embedding.builtin import BUILTIN_ID, builtin
from vault_memory.indexing.prepare import PreparedNote, prepare
from vault_memory.store.rows import note_vector
from vault_memory.store.vectors import bit_code
from vault_memory.vault.vault import Vault
from vault_memory.vault.walk import File

BATCH = 32
"""Notes a request: small enough that the last one keeps nobody waiting."""

AHEAD = 2
"""Requests a worker has in hand, so that it is never idle."""

LARGEST_BYTES = 1_000_000
"""A larger note is left to the parent, which makes its passages lazily."""

MOST_WORKERS = 4

Reply = list[PreparedNote | None]


def prepared(vault: Vault, embedder: str, files: list[File]) -> Iterator[PreparedNote | None]:
    """Yield each file made ready, in order, or None for one the parent must do; ends early when a worker is lost."""
    count = min(os.cpu_count() or 1, MOST_WORKERS)
    if count < 2 or embedder != BUILTIN_ID or not sys.executable:
        return
    workers: list[_Worker] = []
    try:
        for _ in range(count):
            workers.append(_Worker(vault))
        batches = deque(files[i : i + BATCH] for i in range(0, len(files), BATCH))
        asked: deque[_Worker] = deque()
        for worker in workers * AHEAD:
            if batches:
                worker.ask(batches.popleft())
                asked.append(worker)
        while asked:
            worker = asked.popleft()
            yield from worker.answer()
            if batches:
                worker.ask(batches.popleft())
                asked.append(worker)
    except (OSError, EOFError, pickle.UnpicklingError):
        return
    finally:
        for worker in workers:
            worker.close()


class _Worker:
    """One child and its two pipes."""

    def __init__(self, vault: Vault) -> None:
        # The working folder may be a vault from anywhere: a pickle.py in it must not be imported (-P, and no "").
        path = [folder for folder in sys.path if folder]
        code = f"import sys; sys.path[:] = {path!r}; from vault_memory.indexing.worker_pool import main; main()"
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._send(vault.config)

    def ask(self, files: list[File]) -> None:
        self._send(files)

    def answer(self) -> Reply:
        assert self._process.stdout is not None
        reply: Reply = pickle.load(self._process.stdout)  # our own child wrote it
        return reply

    def close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()
        self._process.kill()
        self._process.wait()

    def _send(self, message: object) -> None:
        assert self._process.stdin is not None
        pickle.dump(message, self._process.stdin)
        self._process.stdin.flush()


def main() -> None:
    """Serve one parent: its Config first, then lists of files, until the pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group; the parent decides
    if hasattr(os, "nice"):
        os.nice(5)  # the parent, which stores what they make and may be answering questions, comes first
    config: Config = pickle.load(sys.stdin.buffer)
    vault = Vault(config)
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            files: list[File] = pickle.load(sys.stdin.buffer)
            pickle.dump(_embedded([_whole(vault, file) for file in files]), sys.stdout.buffer)
            sys.stdout.buffer.flush()


def _whole(vault: Vault, file: File) -> PreparedNote | None:
    """One note with all its passages; None when it is large or cannot be read."""
    if file.size > LARGEST_BYTES:
        return None
    try:
        data = vault.read(file.path)
    except OSError:
        return None
    ready = prepare(file, data, vault.daily, vault.config.folder_scopes)
    return ready._replace(rows=list(ready.rows))


def _embedded(batch: Reply) -> Reply:
    """The same notes with their vectors, made in one call: a call for each small note is mostly its fixed cost."""
    vectors = iter(builtin().embed_contexts([row.context for note in batch if note for row in note.rows]))
    return [note and _with_vectors(note, vectors) for note in batch]


def _with_vectors(note: PreparedNote, vectors: Iterator[bytes]) -> PreparedNote:
    rows = [row._replace(context=(), vector=(v, bit_code(v))) for row, v in zip(note.rows, vectors, strict=False)]
    return note._replace(rows=rows, vector=note_vector([row.vector[0] for row in rows if row.vector]))
