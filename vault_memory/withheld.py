"""Owns which lines of a note are not for one who may see only some scopes. Pure."""

from collections.abc import Collection

from vault_memory import retain, scopes
from vault_memory.note import decode, split_lines
from vault_memory.parse import parse


def lines(path: str, data: bytes, open_scopes: Collection[str]) -> frozenset[int]:
    """The lines of a note (1-based) that belong to a scope not among those; all of them where the whole note does."""
    note = parse(path, data)
    value = next((value for key, value in note.properties.items() if key.casefold() == "scope"), None)
    whole = retain.normal_scope(str(value)) if value else "global"
    own = dict(scopes.by_line(note))
    for fact in retain.facts(note, None):
        if fact.scope:
            own |= dict.fromkeys(range(fact.start_line, fact.end_line + 1), fact.scope)
    everything = range(1, len(note.lines) + 1)
    return frozenset(line for line in everything if own.get(line, whole) not in open_scopes)


def without(data: bytes, hidden: Collection[int]) -> bytes:
    """A note's bytes with those lines blank, so that the others keep their numbers."""
    if not hidden:
        return data
    everything = split_lines(decode(data)[0])
    return "".join("\n" if number in hidden else f"{line}\n" for number, line in enumerate(everything, 1)).encode()
