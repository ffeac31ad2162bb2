"""What an agent's settings are to hold of ours: found, put in, renewed and taken out of a JSON text. Pure.

An entry is known as ours by its command line, of whatever version; members that its owner has added to it are kept.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from vault_memory.integrations import json_text
from vault_memory.integrations.json_text import Document, Node

NAME = "vault-memory"
"""What our MCP server is called in an agent's settings."""

_HOOKS = "hooks"
"""The array in a group of Claude Code's hooks."""

Path = tuple[str, ...]


class MisshapenError(ValueError):
    """The settings hold something else where ours is to go."""


class TakenError(ValueError):
    """Another program's stands in the settings under our name."""


class Entry(NamedTuple):
    """One object of ours: the member `key` of the object at `path`, or (no key) a hook in a group of the array there.

    `words` gives the command line of one of ours, and none of what is not. `keeps` says which members of one that is
    there are left as they are when the others are renewed, by name and value.
    """

    path: Path
    value: Mapping[str, Any]
    words: Callable[[Any], Sequence[str]]
    key: str | None = None
    keeps: Callable[[str, Any], bool] = lambda name, value: False

    @property
    def label(self) -> str:
        """Where it stands, as a person would say it."""
        return ".".join((*self.path, self.key) if self.key else self.path)


class Spot(NamedTuple):
    """Where something of ours stands, and its command line; a hook's group by its array and place."""

    entry: Entry
    container: Node
    place: int
    words: Sequence[str]
    group: tuple[Node, int] | None = None

    @property
    def node(self) -> Node:
        return self.container.children[self.place].node

    @property
    def is_alone(self) -> bool:
        """Whether a hook is all that its group has."""
        return self.group is not None and len(self.container.children) == 1


def is_program(words: Sequence[Any]) -> bool:
    """Whether a command line runs this program, wherever it was installed."""
    if not words or not all(isinstance(word, str) for word in words):
        return False
    name = re.split(r"[\\/]", words[0])[-1].removesuffix(".exe")
    return name in ("memory", "vault-memory") or list(words[1:3]) == ["-m", "vault_memory"]


def vault(words: Sequence[str]) -> str:
    """The vault that a command line names; "" where it is to be found."""
    return words[words.index("--vault") + 1] if "--vault" in words[:-1] else ""


def find(document: Document, entries: Iterable[Entry]) -> list[Spot]:
    """Everything of ours where the entries belong."""
    return [spot for entry in entries for spot in _spots(document, entry)]


def _spots(document: Document, entry: Entry) -> list[Spot]:
    holder = document.find(entry.path)
    places: list[tuple[Node, int, tuple[Node, int] | None]] = []
    for index, child in enumerate(holder.children if holder else ()):
        assert holder
        if entry.key is None:
            lists = [inner.node for inner in child.node.children if inner.key == _HOOKS]
            places += [(hooks, place, (holder, index)) for hooks in lists for place in range(len(hooks.children))]
        elif child.key == entry.key:
            places.append((holder, index, None))
    return [
        Spot(entry, container, index, words, group)
        for container, index, group in places
        if (words := entry.words(document.value(container.children[index].node)))
    ]


def foreign(document: Document, entries: Iterable[Entry]) -> list[str]:
    """What stands under our name and is not ours: `mcpServers.vault-memory`."""
    return [entry.label for entry in entries if _is_taken(document, entry)]


def _is_taken(document: Document, entry: Entry) -> bool:
    there = document.find((*entry.path, entry.key)) if entry.key else None
    return there is not None and not entry.words(document.value(there))


def added(document: Document, spots: Iterable[Spot]) -> list[str]:
    """The members that their owner has given to ours: `mcpServers.vault-memory.env`."""
    names = []
    for spot in spots:
        if spot.group and spot.is_alone:
            group = spot.group[0].children[spot.group[1]].node
            names += [f"{spot.entry.label}.{child.key}" for child in group.children if child.key != _HOOKS]
        extra = (child.key for child in spot.node.children if child.key not in spot.entry.value)
        names += [f"{spot.entry.label}.{name}" for name in extra]
    return names


def snippet(values: Iterable[tuple[Entry, Any]]) -> str:
    """Values of ours as one JSON object, for a person to paste or to look for."""
    document: dict[str, Any] = {}
    for entry, value in values:
        holder = document
        for name in entry.path if entry.key else entry.path[:-1]:
            holder = holder.setdefault(name, {})
        if entry.key:
            holder[entry.key] = value
        else:
            holder.setdefault(entry.path[-1], []).append({_HOOKS: [value]})
    return json.dumps(document, indent=2, ensure_ascii=False)


# --- putting in ------------------------------------------------------------------------------------------------------


def put(text: str, entries: Iterable[Entry]) -> str:
    """The text with the entries in it; one that is there already is renewed where it stands.

    Raises NotJsonError, MisshapenError where another kind of value is in the way, TakenError where another program is.
    """
    for entry in entries:
        document = json_text.parse(text)
        if _is_taken(document, entry):
            raise TakenError(entry.label)
        spots = _spots(document, entry)
        text = _renewed(document, spots[-1]) if spots else _with(document, entry)
    return text


def _with(document: Document, entry: Entry) -> str:
    """The text with an entry that was not there, and the containers around it that are missing."""
    known = _deepest(document, entry)
    into, missing = document.find(known), entry.path[len(known) :]
    assert into
    value: Any = entry.value if entry.key else {_HOOKS: [entry.value]}
    if not missing:
        return json_text.insert(document, into, value, entry.key)
    value = {entry.key: value} if entry.key else [value]
    for name in reversed(missing[1:]):
        value = {name: value}
    return json_text.insert(document, into, value, missing[0])


def _deepest(document: Document, entry: Entry) -> Path:
    """As much of the entry's path as there is."""
    if document.root.kind != "object":
        raise MisshapenError("it holds no object")
    for depth in range(1, len(entry.path) + 1):
        path = entry.path[:depth]
        node = document.find(path)
        if node is None:
            return path[:-1]
        wanted = "array" if path == entry.path and entry.key is None else "object"
        if node.kind != wanted:
            raise MisshapenError(f"`{'.'.join(path)}` is no {wanted}")
    return entry.path


def _renewed(document: Document, spot: Spot) -> str:
    """The text with each member of ours as it is to be."""
    start = spot.node.start  # all that is changed lies behind it
    for name, value in spot.entry.value.items():
        node = next(node for node in json_text.nodes(document.root) if node.start == start)
        there = [child.node for child in node.children if child.key == name]
        if not there:
            text = json_text.insert(document, node, value, name)
        elif document.value(there[-1]) == value or spot.entry.keeps(name, document.value(there[-1])):
            continue
        else:
            text = json_text.replace(document, there[-1], value)
        document = json_text.parse(text)
    return document.text


# --- taking out ------------------------------------------------------------------------------------------------------


def take(text: str, entries: Sequence[Entry], inside_before: Callable[[Path, str], str | None]) -> str:
    """The text without the entries. Raises NotJsonError.

    `inside_before` is asked of each container that is empty then, by its path and what is between its brackets: what
    was there before ours came, or None where the container was not there.
    """
    for entry in reversed(entries):
        document = json_text.parse(text)
        while spots := _spots(document, entry):
            spot = spots[-1]
            where = spot.group if spot.group and spot.is_alone else (spot.container, spot.place)
            document = json_text.parse(json_text.remove(document, *where))
        for depth in range(len(entry.path), -1, -1):
            document = _emptied(document, entry.path[:depth], inside_before)
        text = document.text
    return text


def _emptied(document: Document, path: Path, inside_before: Callable[[Path, str], str | None]) -> Document:
    node = document.find(path)
    if node is None or node.kind == "scalar" or document.inside(node).strip():
        return document
    inside = inside_before(path, document.inside(node))
    if inside is not None or not path:
        return json_text.parse(json_text.refill(document, node, inside or ""))
    holder = document.find(path[:-1])
    assert holder
    index = max(place for place, child in enumerate(holder.children) if child.key == path[-1])
    return json_text.parse(json_text.remove(document, holder, index))
