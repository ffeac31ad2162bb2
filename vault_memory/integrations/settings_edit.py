"""Edits an agent's settings in place: finds, inserts, updates and removes our entries in a JSON text. Pure.

The file belongs to its owner: indentation, line endings, odd spacing, duplicate keys, large numbers and comments stay.
Our entries are recognised by their command line, from any version; members that the owner added to one are kept.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

NAME = "vault-memory"
"""The name of our MCP server in an agent's settings."""

_HOOKS = "hooks"
"""The key of the array in a group of Claude Code's hooks."""

BOM = "\ufeff"

_GAP = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.S)
"""White space and comments between values and punctuation marks."""

_LINE_END = re.compile(r"\r\n|\n|\r")

# Python refuses to parse an integer of more than 4,300 digits.
_DECODER = json.JSONDecoder(parse_int=lambda digits: int(digits) if len(digits) < 300 else float(digits))


Place = tuple[str | int, ...]
"""The keys and numbers that lead to a value."""


class NotEditableError(ValueError):
    """The text is not JSON, even with comments, or has something else where our entry belongs; it says where."""


class Node(NamedTuple):
    """A value, whose text is `text[start:end]`. A member starts `at` its `key`; the key of an item is its number."""

    start: int
    end: int
    value: Any
    at: int
    key: str | int | None = None
    comma: int = -1
    """The offset of the comma after it; -1 for none."""
    children: "tuple[Node, ...]" = ()
    """The members of an object, or the items of an array."""


class Document:
    """A JSON text and its values; comments and trailing commas are allowed.

    Raises NotEditableError for anything else that is not JSON.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self.root = self._node(self._skip(len(BOM) if text.startswith(BOM) else 0))
            if (end := self._skip(self.root.end)) < len(text):
                raise json.JSONDecodeError("Extra data", text, end)
        except json.JSONDecodeError as error:
            line = len(_LINE_END.findall(text, 0, error.pos)) + 1
            raise NotEditableError(f"line {line}: {error.msg}") from error
        except RecursionError as error:
            raise NotEditableError("it is nested too deep") from error
        line_end = _LINE_END.search(text)
        self._line_end = line_end[0] if line_end else "\n"
        lines = (self._line_until(member.at) for member in self.root.children)
        self._unit = next((line for line in lines if not line.strip()), "  ")

    def find(self, path: Place) -> Node | None:
        """Return the value at a path; of duplicate keys the last counts, as for other readers of the file."""
        node: Node | None = self.root
        for step in path:
            node = next((child for child in reversed(node.children) if child.key == step), None) if node else None
        return node

    def is_empty(self, path: Place) -> bool:
        """Whether there is a container at a path with nothing in it, not even a comment."""
        node = self.find(path)
        return node is not None and node.value in ({}, []) and not self.text[node.start + 1 : node.end - 1].strip()

    # --- parsing -------------------------------------------------------------------------------------------------

    def _skip(self, at: int) -> int:
        """Return the offset of the next value or punctuation mark."""
        gap = _GAP.match(self.text, at)
        return gap.end() if gap else at

    def _node(self, start: int) -> Node:
        closing = {"{": "}", "[": "]"}.get(self.text[start : start + 1])
        if closing is None:
            value, end = _DECODER.raw_decode(self.text, start)
            return Node(start, end, value, start)
        children: list[Node] = []
        at = self._skip(start + 1)
        while not self.text.startswith(closing, at):
            child = self._member(at) if closing == "}" else self._node(at)._replace(key=len(children))
            at = self._skip(child.end)
            if self.text.startswith(",", at):
                child, at = child._replace(comma=at), self._skip(at + 1)
            else:
                self._check(closing, at, "Expecting ',' delimiter")
            children.append(child)
        values: Any = {child.key: child.value for child in children} if closing == "}" else [c.value for c in children]
        return Node(start, at + 1, values, start, children=tuple(children))

    def _member(self, at: int) -> Node:
        self._check('"', at, "Expecting property name enclosed in double quotes")
        key, end = _DECODER.raw_decode(self.text, at)
        colon = self._skip(end)
        self._check(":", colon, "Expecting ':' delimiter")
        return self._node(self._skip(colon + 1))._replace(at=at, key=key)

    def _check(self, mark: str, at: int, what: str) -> None:
        if not self.text.startswith(mark, at):
            raise json.JSONDecodeError(what, self.text, at)

    # --- edits, each of which returns the new text ---------------------------------------------------------------

    def set(self, path: Place, value: Any) -> str:  # noqa: ANN401
        """Set the value at a path, with any missing containers around it; a place beyond an array's end appends."""
        into = self.root
        for depth, step in enumerate(path):
            kind, article = (dict, "an object") if isinstance(step, str) else (list, "an array")
            if not isinstance(into.value, kind):
                name = ".".join(map(str, path[:depth]))
                raise NotEditableError(f"`{name}` is not {article}" if depth else "it is not a JSON object")
            child = self.find(path[: depth + 1])
            if child is None:
                for inner in reversed(path[depth + 1 :]):
                    value = {inner: value} if isinstance(inner, str) else [value]
                return self.insert(into, value, step if isinstance(step, str) else None)
            into = child
        return self.text if into.value == value else self.replace(into, value)

    def delete(self, path: Place) -> str:
        """Remove the value at a path."""
        container, child = self.find(path[:-1]), self.find(path)
        assert container and child
        return self.remove(container, container.children.index(child))

    def insert(self, into: Node, value: Any, key: str | None = None) -> str:  # noqa: ANN401
        """Append a child to a container: a member with `key` to an object, an item to an array."""
        text, name = self.text, "" if key is None else f"{_dump(key)}: "
        if into.children:
            last = into.children[-1]
            line = self._line_until(last.at)
            indent = None if line.strip() else line
            gap = " " if indent is None else self._line_end + indent
            return f"{text[: last.end]},{gap}{name}{self._spread(value, indent)}{text[last.end :]}"
        outer = self._indentation(into.start)
        indent = outer + self._unit
        after = "" if _LINE_END.search(text[into.start + 1 : into.end - 1]) else self._line_end + outer
        new = f"{self._line_end}{indent}{name}{self._spread(value, indent)}{after}"
        return text[: into.start + 1] + new + text[into.start + 1 :]

    def replace(self, node: Node, value: Any) -> str:  # noqa: ANN401
        """Replace a value."""
        is_spread = _LINE_END.search(self.text, node.start, node.end) is not None
        new = self._spread(value, self._indentation(node.start) if is_spread else None)
        return self.text[: node.start] + new + self.text[node.end :]

    def remove(self, container: Node, index: int) -> str:
        """Remove a child and one comma; comments around it stay."""
        text, child = self.text, container.children[index]
        if not (text[container.start + 1 : child.at] + text[child.end : container.end - 1]).strip():
            return text[: container.start + 1] + text[container.end - 1 :]
        comma = container.children[index - 1].comma if index else container.start
        # A comment before the child may need its line ending.
        start = child.at if text[comma + 1 : child.at].strip() else comma + 1
        if child.comma >= 0:
            between = text[child.end : child.comma]
            return text[:start] + (between if between.strip() else "") + text[child.comma + 1 :]
        head = text[:comma] + text[comma + 1 : start] if index else text[:start]
        return head + text[child.end :]

    def _spread(self, value: Any, indent: str | None) -> str:  # noqa: ANN401
        """Format a value over several lines, all but the first indented; on one line if `indent` is None."""
        if indent is None:
            return _dump(value)
        return _dump(value, indent=self._unit).replace("\n", self._line_end + indent)

    def _line_until(self, at: int) -> str:
        return self.text[max(self.text.rfind("\n", 0, at), self.text.rfind("\r", 0, at)) + 1 : at]

    def _indentation(self, at: int) -> str:
        line = self._line_until(at)
        return line[: len(line) - len(line.lstrip(" \t"))]


def _dump(value: Any, **layout: Any) -> str:  # noqa: ANN401
    return json.dumps(value, ensure_ascii=False, **layout)


# --- our entries -----------------------------------------------------------------------------------------------------


class Entry(NamedTuple):
    """An object of ours: the member `key` of the object at `path`, or (no key) a hook in a group of the array there.

    A string instead of an object replaces an existing value, which is restored when ours is removed.
    `words` returns the command line of a value that is ours, and an empty sequence for any other. `keeps` tells which
    members (name, value) of an existing entry are not updated.
    """

    path: tuple[str, ...]
    value: Mapping[str, Any] | str
    words: Callable[[Any], Sequence[str]]
    key: str | None = None
    keeps: Callable[[str, Any], bool] = lambda name, value: False

    @property
    def place(self) -> tuple[str, ...]:
        """The keys that lead to it; for a hook, to the array of groups."""
        return (*self.path, self.key) if self.key else self.path

    @property
    def label(self) -> str:
        return ".".join(self.place)


class Spot(NamedTuple):
    """An entry of ours in a document: where it is, its value and command line, and what the owner added to it.

    `whole` is what to remove: for a hook that is alone in its group, the whole group.
    """

    place: Place
    value: Any
    words: Sequence[str]
    added: Sequence[str]
    whole: Place


def is_program(words: Sequence[Any]) -> bool:
    """Whether a command line runs this program, wherever it is installed."""
    if not words or not all(isinstance(word, str) for word in words):
        return False
    name = re.split(r"[\\/]", words[0])[-1].removesuffix(".exe")
    return name in ("memory", "vault-memory") or list(words[1:3]) == ["-m", "vault_memory"]


def find_vault(words: Sequence[str]) -> str:
    """Return the vault that a command line names; "" if it names none."""
    return words[words.index("--vault") + 1] if "--vault" in words[:-1] else ""


def find(document: Document, entries: Iterable[Entry]) -> list[Spot]:
    """Find everything of ours at the places of these entries."""
    found: list[Spot] = []
    for entry in entries:
        node = document.find(entry.place)
        if node is None:
            continue
        if entry.key is None:
            found += _find_hooks(entry, node.value)
        elif words := entry.words(node.value):
            names = node.value if isinstance(node.value, dict) else ()
            added = [f"{entry.label}.{name}" for name in names if name not in entry.value]
            found.append(Spot(entry.place, node.value, words, added, entry.place))
    return found


def _find_hooks(entry: Entry, groups: Any) -> Iterator[Spot]:  # noqa: ANN401 - settings can hold anything
    for number, group in enumerate(groups if isinstance(groups, list) else ()):
        found: Any = group.get(_HOOKS) if isinstance(group, dict) else None
        hooks = found if isinstance(found, list) else []
        for place, hook in enumerate(hooks):
            if words := entry.words(hook):
                where: Place = (*entry.path, number, _HOOKS, place)
                whole = where
                added = [name for name in hook if name not in entry.value]
                if len(hooks) == 1:
                    whole, added = where[:-2], [*(name for name in group if name != _HOOKS), *added]
                yield Spot(where, hook, words, [f"{entry.label}.{name}" for name in added], whole)


def find_foreign(document: Document, entries: Iterable[Entry]) -> list[str]:
    """Return entries under our name that are not ours: `mcpServers.vault-memory`."""
    found = ((entry, document.find(entry.place)) for entry in entries if not isinstance(entry.value, str))
    return [entry.label for entry, node in found if entry.key and node and not entry.words(node.value)]


def put(text: str, entries: Iterable[Entry]) -> str:
    """Return the text with the entries inserted, or updated in place; raises NotEditableError.

    Members of an existing entry that its owner added, or that the entry `keeps`, stay.
    """
    for entry in entries:
        document = Document(text)
        spots, value = find(document, [entry]), entry.value
        if isinstance(value, str) or not spots:
            groups = document.find(entry.path)
            end = (len(groups.children) if groups else 0,)
            text = document.set(entry.place, value) if entry.key else document.set(entry.path + end, {_HOOKS: [value]})
        else:
            present = spots[-1].value
            kept = {name: value for name, value in present.items() if entry.keeps(name, value)}
            text = document.set(spots[-1].place, present | value | kept)
    return text


def take(text: str, entries: Sequence[Entry], before: str) -> str:
    """Return the text without the entries and the containers that become empty; raises NotEditableError.

    `before` is the text from before our entries were inserted.
    """
    earlier, document = Document(before), Document(text)
    for entry in reversed(entries):
        was = earlier.find(entry.place)
        is_replaced = isinstance(entry.value, str) and was is not None and not entry.words(was.value)
        while spots := find(document, [entry]):
            node = document.find(spots[-1].place)
            if is_replaced and was and node:
                there = earlier.text[was.start : was.end]
                document = Document(document.text[: node.start] + there + document.text[node.end :])
            else:
                document = Document(document.delete(spots[-1].whole))
        for depth in range(len(entry.path), 0, -1):
            if document.is_empty(entry.path[:depth]):
                document = Document(document.delete(entry.path[:depth]))
    return document.text
