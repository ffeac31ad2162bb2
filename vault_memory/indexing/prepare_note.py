"""Prepares a note's bytes for the store: parses it, cuts it into passages, counts tokens, collects names.

Passages are generated one by one as they are stored, so a large note never has all of them in memory.

In a bulk load, worker processes prepare notes, with all their passages, while the parent stores them. They use plain
pipes instead of multiprocessing: when the parent is killed, a worker reads the end of its input and exits, too. If
workers fail, the parent does the rest itself.
"""

import contextlib
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from itertools import chain

from vault_memory.config import Config
from vault_memory.embedding.builtin_embedder import builtin
from vault_memory.markdown import claims, conversation, entities, provenance, scopes
from vault_memory.markdown import facts as retain
from vault_memory.markdown.frontmatter import texts
from vault_memory.markdown.links import links, tags
from vault_memory.markdown.note import Note, Problem, is_note_path, note_header
from vault_memory.markdown.passages import Passage, passages, with_context
from vault_memory.store.rows import PassageRow, PreparedNote
from vault_memory.store.view import text_hash
from vault_memory.text import date_finder, terms, tokens
from vault_memory.text.daily_notes import name_day
from vault_memory.text.scope_syntax import agent_project
from vault_memory.vault.vault import Vault, content_hash
from vault_memory.vault.walk import File


def prepare(file: File, data: bytes, vault: Vault) -> PreparedNote:
    """Parse one note according to the vault's settings; never raises, whatever the bytes."""
    note, daily = vault.parse(file.path, data), vault.daily
    is_note = is_note_path(note.path)
    named = name_day(note.path.removesuffix(".md").removeprefix(f"{daily.folder}/"), daily.format)
    days = (date_finder.property_day(note.properties.get(key)) for key in ("date", "created"))
    day = (named or next(filter(None, days), None)) if is_note else None
    problems, origin = list(note.problems), provenance.note_origin(note.properties, note.path)
    if origin == provenance.UNCLEAR:
        problems.append(Problem(note.path, 1, f"`by` is none of {provenance.KNOWN}: all of it counts as from outside"))
    problems += scopes.scope_problems(note)
    return PreparedNote(
        file=file,
        hash=content_hash(data),
        day=day.isoformat() if day else None,
        title=note.title,
        scope=scopes.note_scope(note.properties, note.path, vault.config.folder_scopes),
        origin=origin,
        headings=[(h.line, h.level, h.text) for h in note.headings],
        header_tokens=tokens.count(note_header(file.path, day.isoformat() if day else None) + "\n\n"),
        own_names=list(dict.fromkeys((note.stem, note.title))),
        names=[name for key in ("aliases", "alias") for name in texts(note.properties.get(key))],
        links=list(links(note)) if is_note else (),
        tags=list(tags(note)) if is_note else (),
        passages=_passage_rows(note, origin, day, named is not None, problems),
        problems=problems if is_note else (),
    )


def _passage_rows(
    note: Note, note_origin: str, day: date | None, is_log: bool, problems: list[Problem]
) -> Iterator[PassageRow]:
    """Yield the note's passages; formatting problems are added to `problems`."""
    scope_of, origin_of = scopes.by_line(note), scopes.by_line(note, scopes.BY)

    def own_scope(passage: Passage) -> str | None:
        said = passage.fact.scope if passage.fact else None
        return said or scopes.of_passage(scope_of, passage.start_line, passage.end_line, scopes.SCOPE)

    facts = retain.facts(note, day, problems)
    first = next(facts, None)
    told: dict[int, conversation.Utterance] = {}  # of a log without facts, by line number
    if day and is_log and first is None and not agent_project(note.path):
        if len(note.lines) > conversation.MAX_LINES and conversation.speakers(note):
            why = f"a conversation of more than {conversation.MAX_LINES:,} lines: its lines are no facts"
            problems.append(Problem(note.path, 1, why))
        told = {said.line: said for said in conversation.utterances(note, day)}
    cut = passages(note, chain([first], facts) if first else ())
    for passage, section, context in with_context(cut, *([own_scope] if scope_of else [])):
        fact, start, end = passage.fact, passage.start_line, passage.end_line
        by = (fact.by if fact else None) or scopes.of_passage(origin_of, start, end, scopes.BY)
        yield PassageRow(
            passage=passage,
            terms=terms.index_text(context[0][0]),
            tokens=tokens.count(passage.text),
            scope=own_scope(passage),
            origin=provenance.line_origin(by, note_origin),
            section=section,
            context=context,
            key=text_hash("\x1f".join(f"{weight}{text}" for text, weight in context)),
            claims=_claims(fact, day) if fact and not passage.part else (),
            inferred=[told.pop(n) for n in range(start, end + 1) if n in told] if told else (),
        )


def _claims(fact: retain.RetainFact, day: date | None) -> list[tuple[str, str, str, str, bool, str | None]]:
    """(subject, slot, value, how, whole, start) of each claim of a fact; the subject is what precedes its colon."""
    subject = "&".join(sorted({entities.slug(name) for name in fact.heads}))
    kind, occurred = retain.KINDS[fact.kind], fact.occurred.start if fact.occurred else None
    found = claims.claims(kind, fact.heads, fact.narrative, occurred or day)
    found += claims.denials(kind, fact.heads, fact.narrative)
    found += claims.plans(fact.narrative, day, occurred) if day else ()
    said = [(subject, *claim[:4], claim.start.isoformat() if claim.start else None) for claim in found]
    if fact.supersedes:  # a new deadline holds from the day it was stated, but "from May" from May on
        is_date = day and occurred == claims.date_in(fact.narrative, day)
        said.append(("", *claims.replaces(fact.supersedes)[:4], day.isoformat() if day and is_date else None))
    return said


NOTES_A_REQUEST = 32
"""Small enough that the last request does not keep the others waiting."""

REQUESTS_AHEAD = 2
"""Requests queued per worker, so that it is never idle."""

LARGEST_NOTE_BYTES = 1_000_000
"""A larger note is prepared by the parent, which needs no copy of it."""

MOST_WORKERS = 4


def prepare_in_workers(vault: Vault, files: list[File]) -> Iterator[PreparedNote | None]:
    """Yield each prepared note in order, None for one that the parent must do; ends early if a worker is lost."""
    count = min(os.cpu_count() or 1, MOST_WORKERS)
    if count < 2 or not sys.executable:
        return
    workers: list[_Worker] = []
    try:
        for _ in range(count):
            workers.append(_Worker(vault))
        batches = [files[i : i + NOTES_A_REQUEST] for i in range(0, len(files), NOTES_A_REQUEST)]
        ahead = min(count * REQUESTS_AHEAD, len(batches))
        for turn in range(len(batches) + ahead):  # round-robin: each worker answers in the order of its requests
            if turn >= ahead:
                yield from workers[(turn - ahead) % count].answer()
            if turn < len(batches):
                workers[turn % count].ask(batches[turn])
    except (OSError, EOFError, pickle.UnpicklingError):
        return
    finally:
        for worker in workers:
            worker.close()


class _Worker:
    """One child process and its two pipes."""

    def __init__(self, vault: Vault) -> None:
        # The working directory may be an untrusted vault: a pickle.py in it must not be imported (-P, and no "").
        path = [folder for folder in sys.path if folder]
        code = f"import sys; sys.path[:] = {path!r}; from vault_memory.indexing.prepare_note import main; main()"
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.ask(vault.config)

    def ask(self, message: Config | list[File]) -> None:
        assert self._process.stdin is not None
        pickle.dump(message, self._process.stdin)
        self._process.stdin.flush()

    def answer(self) -> list[PreparedNote | None]:
        assert self._process.stdout is not None
        notes: list[PreparedNote | None] = pickle.load(self._process.stdout)  # safe: written by our own child
        return notes

    def close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()
        self._process.kill()
        self._process.wait()


def main() -> None:
    """Worker process: read the Config, then answer lists of files until the pipe ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides
    if hasattr(os, "nice"):
        os.nice(5)  # the parent, which stores the notes and may be answering queries, has priority
    config: Config = pickle.load(sys.stdin.buffer)
    vault = Vault(config)
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            files: list[File] = pickle.load(sys.stdin.buffer)
            notes: list[PreparedNote | None] = []
            for file in files:
                data = None
                with contextlib.suppress(OSError):  # the parent reports it
                    data = vault.read(file.path) if file.size <= LARGEST_NOTE_BYTES else None
                note = None if data is None else prepare(file, data, vault)
                notes.append(note and note._replace(passages=list(note.passages)))
            # One call for all: for a small note the fixed cost dominates.
            contexts = [row.context for note in notes if note for row in note.passages]
            vectors = iter(builtin().embed_contexts(contexts))
            for n, note in enumerate(notes):
                if note:
                    rows = [row._replace(context=(), vector=next(vectors)) for row in note.passages]
                    notes[n] = note._replace(passages=rows)
            pickle.dump(notes, sys.stdout.buffer)
            sys.stdout.buffer.flush()
