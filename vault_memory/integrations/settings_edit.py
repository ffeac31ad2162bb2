"""Edits an agent's settings in place: finds, inserts, updates and removes our entries in a JSON text. Pure.

The file belongs to its owner: indentation, line endings, odd spacing, duplicate keys, large numbers and comments stay.
Our entries are recognised by their command line, from any version; members that the owner added to one are kept.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
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


class NotEditableError(ValueError):
    """The text is not JSON, even with comments, or has something else where our entry belongs; it says where."""


class Node(NamedTuple):
    """A value, whose text is `text[start:end]`. A member of an object has a `key`, which starts `at` its own offset."""

    start: int
    end: int
    value: Any
    at: int
    key: str | None = None
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

    def find(self, path: Sequence[str]) -> Node | None:
        """Return the value at a path of keys; of duplicate keys the last counts, as for other readers of the file."""
        node: Node | None = self.root
        for key in path:
            node = next((child for child in reversed(node.children) if child.key == key), None) if node else None
        return node

    def inside(self, node: Node) -> str:
        """Return the text between the brackets of a container."""
        return self.text[node.start + 1 : node.end - 1]

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
            child = self._member(at) if closing == "}" else self._node(at)
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
        after = "" if _LINE_END.search(self.inside(into)) else self._line_end + outer
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
    """A place where an entry of ours was found, its command line, and the owner's additions that are removed with it.

    The child `place` of `container` is what to remove: for a hook that is alone in its group, the whole group.
    """

    node: Node
    words: Sequence[str]
    container: Node
    place: int
    added: Sequence[str]


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
        if not (holder := document.find(entry.path)):
            continue
        for index, child in enumerate(holder.children):
            if entry.key is None:
                found += _find_hooks(entry, holder, index, child)
            elif child.key == entry.key and (words := entry.words(child.value)):
                names = child.value if isinstance(child.value, dict) else ()
                added = [f"{entry.label}.{name}" for name in names if name not in entry.value]
                found.append(Spot(child, words, holder, index, added))
    return found


def _find_hooks(entry: Entry, holder: Node, index: int, group: Node) -> list[Spot]:
    found = []
    for hooks in (member for member in group.children if member.key == _HOOKS):
        for place, hook in enumerate(hooks.children):
            if words := entry.words(hook.value):
                added = [name for name in hook.value if name not in entry.value]
                where = hooks, place
                if len(hooks.children) == 1:
                    added, where = [*(name for name in group.value if name != _HOOKS), *added], (holder, index)
                found.append(Spot(hook, words, *where, [f"{entry.label}.{name}" for name in added]))
    return found


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
        spots = find(document, [entry])
        if isinstance(entry.value, str):
            node = document.find(entry.place)
            text = document.replace(node, entry.value) if node else _insert_entry(document, entry)
        elif not spots:
            text = _insert_entry(document, entry)
        else:
            present = spots[-1].node.value
            kept = {name: value for name, value in present.items() if entry.keeps(name, value)}
            renewed = present | entry.value | kept
            text = text if renewed == present else document.replace(spots[-1].node, renewed)
    return text


def _insert_entry(document: Document, entry: Entry) -> str:
    """Return the text with a new entry, and with any missing containers around it."""
    into = document.root
    if not isinstance(into.value, dict):
        raise NotEditableError("it is not a JSON object")
    value: Any = entry.value if entry.key else {_HOOKS: [entry.value]}
    for depth, name in enumerate(entry.path, 1):
        node = document.find(entry.path[:depth])
        is_array = depth == len(entry.path) and entry.key is None
        if node is None:
            value = {entry.key: value} if entry.key else [value]
            for inner in reversed(entry.path[depth:]):
                value = {inner: value}
            return document.insert(into, value, name)
        if not isinstance(node.value, list if is_array else dict):
            raise NotEditableError(f"`{'.'.join(entry.path[:depth])}` is not an {'array' if is_array else 'object'}")
        into = node
    return document.insert(into, value, entry.key)


def take(text: str, entries: Sequence[Entry], before: str) -> str:
    """Return the text without the entries and the containers that become empty; raises NotEditableError.

    `before` is the text from before our entries were inserted.
    """
    earlier = Document(before)
    for entry in reversed(entries):
        document, was = Document(text), earlier.find(entry.place)
        is_replaced = isinstance(entry.value, str) and was is not None and not entry.words(was.value)
        while spots := find(document, [entry]):
            node, container, place = spots[-1].node, spots[-1].container, spots[-1].place
            if is_replaced and was:
                there = earlier.text[was.start : was.end]
                document = Document(document.text[: node.start] + there + document.text[node.end :])
            else:
                document = Document(document.remove(container, place))
        for depth in range(len(entry.path), 0, -1):
            document = _drop_empty(document, entry.path[:depth])
        text = document.text
    return text


def _drop_empty(document: Document, path: tuple[str, ...]) -> Document:
    node, holder = document.find(path), document.find(path[:-1])
    if node is None or holder is None or node.value not in ({}, []) or document.inside(node).strip():
        return document
    place = max(place for place, child in enumerate(holder.children) if child.key == path[-1])
    return Document(document.remove(holder, place))
