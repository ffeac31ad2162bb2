"""Removes one fact or one list item from a note without changing any other byte. Pure.

Whole lines go, including a fact's continuation lines; the byte order mark, line endings and a missing final newline
stay. The rest is parsed again: a removal that would change the meaning of another line is refused.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from vault_memory.errors import ConflictError, UsageError
from vault_memory.markdown import facts as retain
from vault_memory.markdown.note import TEXT, Note, decoded_lines
from vault_memory.markdown.parse import parse
from vault_memory.markdown.passages import passages
from vault_memory.store import journal
from vault_memory.store.rows import wording_hash
from vault_memory.text.vault_layout import STANDARD, Layout
from vault_memory.write.rewrite import decode_utf8, difference, lines_of

BY_HAND = "Nothing was written. Take it out of the note by hand."


@dataclass(frozen=True)
class Removal:
    """A fact or list item to remove from a note: lines `start_line`..`end_line`, which contain `text`.

    `key` identifies it in the journal and the index (`journal.passage_key`), `narrative` is the fact's text, "" for a
    plain list item; `before` and `after` are the note's bytes.
    """

    path: str
    start_line: int
    end_line: int
    text: str
    key: int
    narrative: str
    before: bytes
    after: bytes

    @property
    def source(self) -> str:
        """The citation: `path#L12` or `path#L12-L14`."""
        return f"{self.path}#L{self.start_line}" + (f"-L{self.end_line}" if self.end_line > self.start_line else "")

    @property
    def wording(self) -> int:
        """The hash of the fact's wording in the index (`fact.wording`)."""
        return wording_hash(self.narrative)

    @property
    def diff(self) -> str:
        """The change as a unified diff."""
        return difference(self.path, *(decoded_lines(data)[0] for data in (self.before, self.after)))


@dataclass(frozen=True)
class ForgetResult:
    """What was removed, and where the note's earlier bytes are kept (a run of undo_history.py)."""

    removal: Removal
    run: str
    kept_in: str
    warnings: tuple[str, ...] = ()


def removal(path: str, data: bytes, first: int, last: int, layout: Layout = STANDARD) -> Removal:
    """What forgetting lines `first`..`last` of a note would remove: the whole fact they belong to, or one list item.

    Raises UsageError if they are neither, ConflictError if the removal would change the meaning of what is left.
    """
    decode_utf8(path, data)  # raises if it is not UTF-8
    note = parse(path, data, layout)
    fact = next((fact for fact in retain.facts(note, None) if fact.start_line <= first <= fact.end_line), None)
    if fact and last <= fact.end_line:
        return _cut(note, data, fact.start_line, fact.end_line)
    place = f"{path}#L{first}" + (f"-L{last}" if last > first else "")
    if not 1 <= first <= len(note.lines):
        raise UsageError(f"{path} has no line {first}.", f"It has {len(note.lines)} lines.")
    if note.is_owned(first):
        raise UsageError(f"{place} is written by reflect, and would come back.", "Forget the fact that it cites.")
    item = next(retain.bullets(note, first, len(note.lines)), None) if note.states[first - 1] == TEXT else None
    if item is None or item.start_line != first:
        raise UsageError(
            f"{place} is neither a fact nor a list item: only those can be forgotten.",
            "Name the line of one, as `memory recall` cites it, or edit the note by hand.",
        )
    if max(item.end_line, last) > first:
        raise UsageError(
            f"{place} is more than one fact, or more than one line of a list.",
            "Name one line, or edit the note by hand.",
        )
    return _cut(note, data, first, first)


def check_text(planned: Removal, said: str | None, as_indexed: bool = False) -> None:
    """Raise ConflictError unless a removal matches the text it is meant to remove (None: no check).

    An indexed text must cover everything removed; a text given by a person may be a part of it.
    """
    meant, found = (
        [" ".join(line.split()) for line in text.splitlines() if line.strip()] for text in (said or "", planned.text)
    )
    is_part = " ".join(meant) in " ".join(found)
    # A passage may have more lines than are removed, and may lack the list marker.
    is_same = set(found) <= set(meant) or " ".join(found).endswith(" ".join(meant))
    if meant and not (is_same if as_indexed else is_part):
        raise ConflictError(
            f'{planned.source} says "{" ".join(found):.200}" and not "{" ".join(meant):.200}": nothing was written.',
            "The lines have moved since they were cited: ask `memory recall` for them again.",
        )


def key(note: Note, start_line: int) -> int:
    """The key of a fact or list item in the journal and the index; a long fact is keyed by its first piece."""
    facts = list(retain.facts(note, None))
    if any(fact.start_line == start_line for fact in facts):
        first = next(found for found in passages(note, facts) if found.start_line == start_line)
        return journal.passage_key(first.text)
    return journal.passage_key(note.lines[start_line - 1])


def _cut(note: Note, data: bytes, first: int, last: int) -> Removal:
    text = data.decode("utf-8")
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    lines = lines_of(text.removeprefix(mark))
    left = "".join(lines[: first - 1] + lines[last:])
    if not lines[-1].endswith(("\r", "\n")) and last == len(lines):  # the final newline was missing and stays so
        left = left.removesuffix("\n").removesuffix("\r")
    after = (mark + left).encode("utf-8")
    rest = parse(note.path, after, note.layout)
    if rest.states != note.states[: first - 1] + note.states[last:]:
        raise ConflictError(f"{note.path}#L{first}: without it, lines of the note would mean something else.", BY_HAND)
    facts = {fact.start_line: fact for fact in retain.facts(note, None)}
    gone = facts.pop(first, None)
    if _facts_with_lines(rest, retain.facts(rest, None)) != _facts_with_lines(note, facts.values()):
        raise ConflictError(
            f"{note.path}#L{first}: without it, another fact of the note would read otherwise.", BY_HAND
        )
    said, narrative = "\n".join(note.lines[first - 1 : last]), gone.narrative if gone else ""
    return Removal(note.path, first, last, said, key(note, first), narrative, data, after)


def _facts_with_lines(note: Note, facts: Iterable[retain.RetainFact]) -> list[tuple[retain.RetainFact, list[str]]]:
    return [
        (replace(fact, start_line=0, end_line=0), note.lines[fact.start_line - 1 : fact.end_line]) for fact in facts
    ]
