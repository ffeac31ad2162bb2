"""Owns what an agent's settings are to hold of ours: where in a JSON text, how ours is known, put in and taken out.

What had to be made for it, and what closing brackets were given, is told in a `Made`, so that taking it all out gives
the text there was. Pure: which file it is, and writing it, is install.py's business.
"""

import re
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from vault_memory.integrations import jsontext
from vault_memory.integrations.jsontext import Document, Node

NAME = "vault-memory"
"""What our MCP server is called in an agent's settings."""


class MisshapenError(ValueError):
    """The settings hold something else where ours is to go."""


class TakenError(ValueError):
    """Another program's stands in the settings under our name."""


def _renew_all(name: str, there: Any) -> bool:  # noqa: ANN401 - settings can hold anything
    return False


class Entry(NamedTuple):
    """One thing of ours: the member `key` of the object at `path`, or (no key) an item of the array there.

    `words` are the command line of ours, of whatever version, and none of what is not ours. An item may have been taken
    apart by its owner: then it is looked for in the array `inner` of each item, too.

    Where it is there already, its members are renewed, but for those that it `keeps` as they are (by their name and
    value); members that it does not have are its owner's, and stay.
    """

    path: tuple[str, ...]
    value: Any
    words: Callable[[Any], Sequence[str]]
    key: str | None = None
    inner: str = ""
    keeps: Callable[[str, Any], bool] = _renew_all

    @property
    def label(self) -> str:
        """Where it stands, as a person would say it."""
        return ".".join((*self.path, self.key) if self.key else self.path)


@dataclass(frozen=True)
class Made:
    """What was made besides: containers by their paths, and what was put behind something for a closing bracket."""

    containers: frozenset[tuple[str, ...]] = frozenset()
    tails: dict[tuple[str, ...], str] = field(default_factory=dict)
    is_known: bool = True
    """Nobody knows where the record was lost: then a container of ours that is left empty counts as made."""


class Found(NamedTuple):
    """Where something of ours stands, and its command line; whether that is the inner list of an entry."""

    container: Node
    place: int
    words: Sequence[str]
    is_inner: bool = False


def is_program(words: Sequence[Any]) -> bool:
    """Whether a command line runs this program, wherever it was installed."""
    if not words or not all(isinstance(word, str) for word in words):
        return False
    name = re.split(r"[\\/]", words[0])[-1].removesuffix(".exe")
    return name in ("memory", "vault-memory") or list(words[1:3]) == ["-m", "vault_memory"]


def is_in(text: str, entries: Sequence[Entry], comments: bool = False) -> bool:
    """Whether any of the entries, of whatever version, is in the text. Raises NotJsonError."""
    of = jsontext.parse(text, comments)
    return any(_find(of, entry) for entry in entries)


def commands(text: str, entries: Sequence[Entry], comments: bool = False) -> list[tuple[Entry, Sequence[str]]]:
    """The command lines of ours in the text, with the entries they are of. Raises NotJsonError."""
    of = jsontext.parse(text, comments)
    return [(entry, one.words) for entry in entries for one in _find(of, entry)]


def vaults(text: str, entries: Sequence[Entry], comments: bool = False) -> frozenset[str]:
    """The vaults that ours in the text are for, as they name them. Raises NotJsonError."""
    return frozenset(named for _, words in commands(text, entries, comments) if (named := vault(words)))


def vault(words: Sequence[str]) -> str:
    """The vault that a command line names; "" where it is to be found."""
    return words[words.index("--vault") + 1] if "--vault" in words[:-1] else ""


def others(text: str, entries: Sequence[Entry], comments: bool = False) -> list[str]:
    """What stands under our name and is not ours: `mcpServers.vault-memory`. Raises NotJsonError."""
    of = jsontext.parse(text, comments)
    return [entry.label for entry in entries if _is_taken(of, entry)]


def standing(text: str, entries: Sequence[Entry], comments: bool = False) -> tuple[list[str], str]:
    """What of ours is in the text: its labels, and itself as one JSON object without all else. Raises NotJsonError."""
    of = jsontext.parse(text, comments)
    found = [(entry.label, one.container.children[one.place].node) for entry in entries for one in _find(of, entry)]
    ours = _only(of.root, {node.start for _, node in found})
    return list(dict.fromkeys(label for label, _ in found)), of.written(ours) if ours else ""


def _only(node: Node, starts: Set[int]) -> Node | None:
    """The value with nothing in it but what begins in these places; None for nothing."""
    if node.start in starts:
        return node
    left = [child._replace(node=inner) for child in node.children if (inner := _only(child.node, starts))]
    return node._replace(children=tuple(left)) if left else None


def added(text: str, entries: Sequence[Entry], comments: bool = False) -> list[str]:
    """The members that their owner has given to ours: `mcpServers.vault-memory.env`. Raises NotJsonError."""
    of = jsontext.parse(text, comments)
    return [
        f"{entry.label}.{name}"
        for entry in entries
        for one in _find(of, entry)
        for name in _unknown(of.plain(one.container.children[one.place].node), _value(entry, one))
    ]


def _unknown(there: Any, ours: Any) -> Iterator[str]:  # noqa: ANN401
    if isinstance(there, list) and isinstance(ours, list):
        for item in there:
            yield from _unknown(item, ours[0])
    elif isinstance(there, dict) and isinstance(ours, dict):
        for name, value in there.items():
            yield from _unknown(value, ours[name]) if name in ours else (name,)


# --- putting in ------------------------------------------------------------------------------------------------------


def put(text: str, entries: Sequence[Entry], made: Made, comments: bool = False) -> tuple[str, Made]:
    """The text with the entries in it; one that is there already stays, an older one is renewed where it stands.

    Raises NotJsonError, MisshapenError where another kind of value is in the way, TakenError where another program is.
    """
    containers, tails, was_there = set(made.containers), dict(made.tails), False
    for entry in entries:
        of = jsontext.parse(text, comments)
        if _is_taken(of, entry):
            raise TakenError(entry.label)
        found = _find(of, entry)
        if found:
            text, was_there = _renewed(of, entry, found[-1]), True
            continue
        known = _deepest(of, entry)
        into = of.find(known)
        assert into
        rest = entry.path[len(known) :]
        containers |= {entry.path[: len(known) + depth] for depth in range(1, len(rest) + 1)}
        key = rest[0] if rest else entry.key
        done = jsontext.insert(of, into, _wrapped(entry, rest), key)
        text = done.text
        if done.tail:
            tails[(*known, key or "")] = done.tail
    return text, Made(frozenset(containers), tails, made.is_known or not was_there)


def _wrapped(entry: Entry, rest: tuple[str, ...]) -> Any:  # noqa: ANN401
    """The entry's value with the containers around it that are missing, but for the outermost one's key."""
    value = entry.value
    if rest:
        value = [value] if entry.key is None else {entry.key: value}
    for name in reversed(rest[1:]):
        value = {name: value}
    return value


def _deepest(of: Document, entry: Entry) -> tuple[str, ...]:
    """As much of the entry's path as there is."""
    if of.root.kind != "object":
        raise MisshapenError("it holds no object")
    path: tuple[str, ...] = ()
    for depth in range(len(entry.path) + 1):
        node = of.find(entry.path[:depth])
        if node is None:
            break
        path = entry.path[:depth]
        wanted = "array" if depth == len(entry.path) and entry.key is None else "object"
        if node.kind != wanted:
            raise MisshapenError(f"`{'.'.join(path)}` is no {wanted}")
    return path


def _is_taken(of: Document, entry: Entry) -> bool:
    """Whether what an agent reads under our name is none of ours."""
    container = of.find(entry.path)
    there = [child.node for child in container.children if child.key == entry.key] if container and entry.key else []
    return bool(there) and not entry.words(of.plain(there[-1]))


def _renewed(of: Document, entry: Entry, found: Found) -> str:
    """The text with each member of ours as it is to be."""
    node, value = found.container.children[found.place].node, _value(entry, found)
    if entry.inner and not found.is_inner:
        node, value = _member(node, entry.inner).children[0].node, value[entry.inner][0]
    for name, wanted in value.items():
        into = _at(of, node.start)  # all that is changed lies behind its beginning
        if not any(child.key == name for child in into.children):
            of = jsontext.parse(jsontext.insert(of, into, wanted, name).text, of.comments)
            continue
        there = _member(into, name)
        plain = of.plain(there)
        if plain != _as_read(wanted) and not entry.keeps(name, plain):
            of = jsontext.parse(jsontext.replace(of, there, wanted), of.comments)
    return of.text


def _value(entry: Entry, found: Found) -> Any:  # noqa: ANN401
    return entry.value[entry.inner][0] if found.is_inner else entry.value


def _member(of: Node, key: str) -> Node:
    """The value of a member that is there; of a doubled key the last."""
    return [child.node for child in of.children if child.key == key][-1]


def _at(of: Document, start: int) -> Node:
    return next(node for node in jsontext.nodes(of.root) if node.start == start)


def _as_read(value: Any) -> Any:  # noqa: ANN401
    """A value as `Document.plain` gives it: numbers as text."""
    if isinstance(value, dict):
        return {key: _as_read(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_as_read(inner) for inner in value]
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _find(of: Document, entry: Entry) -> list[Found]:
    """Everything of ours where an entry belongs."""
    container = of.find(entry.path)
    found: list[Found] = []
    for index, child in enumerate(container.children if container else ()):
        assert container
        if entry.key is not None and child.key != entry.key:
            continue
        if words := entry.words(of.plain(child.node)):
            found.append(Found(container, index, words))
        elif entry.inner:
            found += _inside(of, entry, child.node)
    return found


def _inside(of: Document, entry: Entry, item: Node) -> list[Found]:
    arrays = [child.node for child in item.children if child.key == entry.inner]
    return [
        Found(array, index, words, is_inner=True)
        for array in arrays
        for index, child in enumerate(array.children)
        if (words := entry.words({entry.inner: [of.plain(child.node)]}))
    ]


# --- taking out ------------------------------------------------------------------------------------------------------


def take(text: str, entries: Sequence[Entry], made: Made, comments: bool = False) -> str:
    """The text without the entries, and without what was made for them and is empty now. Raises NotJsonError."""
    for entry in reversed(entries):
        of, before = jsontext.parse(text, comments), text
        while found := _find(of, entry):
            one = found[-1]
            tail = "" if one.is_inner else made.tails.get((*entry.path, entry.key or ""), "")
            of = jsontext.parse(jsontext.remove(of, one.container, one.place, tail), comments)
        text = of.text
        paths = [entry.path[:depth] for depth in range(len(entry.path), 0, -1)]
        for path in paths:
            if path in made.containers or (text != before and not made.is_known):
                text = _without_empty(text, path, made, comments)
    return text


def _without_empty(text: str, path: tuple[str, ...], made: Made, comments: bool) -> str:
    of = jsontext.parse(text, comments)
    node, holder = of.find(path), of.find(path[:-1])
    if node is None or holder is None or node.kind == "scalar":
        return text
    if text[node.start + 1 : node.end - 1].strip():
        return text
    index = max(place for place, child in enumerate(holder.children) if child.key == path[-1])
    return jsontext.remove(of, holder, index, made.tails.get(path, ""))
