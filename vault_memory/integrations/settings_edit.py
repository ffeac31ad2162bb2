"""Edits an agent's settings in place: our entries found, put in, renewed and taken out of a JSON text. Pure.

A settings file is its owner's: indentation, line ends, odd spacing, doubled keys, large numbers and comments stay.
What is put in follows the last child directly, or the opening bracket of an empty container. An entry is known as ours
by its command line, of whatever version; members that its owner has added to it are kept.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

NAME = "vault-memory"
"""What our MCP server is called in an agent's settings."""

_HOOKS = "hooks"
"""The array in a group of Claude Code's hooks."""

KeyPath = tuple[str, ...]

DEEPEST = 200
"""No settings file nests so deep; one that does is not worth the stack."""

BOM = "\ufeff"

PLAIN = "Make it plain JSON (no comment, no comma behind the last entry)"
"""What makes a text one that every program reads."""

_SPACE = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.S)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_SCALAR = re.compile(_STRING.pattern + r"|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
_LINE_END = re.compile(r"\r\n|\n|\r")


class NotJsonError(ValueError):
    """The text is no JSON, even with comments; says where."""


class Node(NamedTuple):
    """One value: `kind` is "object", "array" or "scalar", its text is `text[start:end]`."""

    kind: str
    start: int
    end: int
    children: tuple["Child", ...] = ()


class Child(NamedTuple):
    """A member (with a `key`) or an item of a container; `start` is where its key or value begins.

    `gap` is where the white space before it begins, `comma` where the comma behind it stands (-1: none).
    `is_below_comment` tells that the white space ends a line comment, and must stay for it.
    """

    start: int
    node: Node
    gap: int
    comma: int
    key: str | None = None
    is_below_comment: bool = False


@dataclass(frozen=True)
class Document:
    """A text with the places of all that is in it."""

    text: str
    root: Node
    extension: str
    """The first thing in it that is no plain JSON (`line 2: a comment, which its program does not read`), or ""."""

    def find(self, path: tuple[str, ...]) -> Node | None:
        """The value at a path of keys; of a doubled key the last counts, as it does for those who read the file."""
        node = self.root
        for key in path:
            named = [child.node for child in node.children if child.key == key]
            if not named:
                return None
            node = named[-1]
        return node

    def value(self, node: Node) -> Any:  # noqa: ANN401 - it can be anything
        """The value as Python has it; an integer that is longer than Python reads as a float."""
        if node.kind == "object":
            return {child.key: self.value(child.node) for child in node.children}
        if node.kind == "array":
            return [self.value(child.node) for child in node.children]
        return json.loads(self.text[node.start : node.end], parse_int=_integer)

    def inside(self, node: Node) -> str:
        """What stands between the brackets of a container."""
        return self.text[node.start + 1 : node.end - 1]


def _integer(digits: str) -> float:
    return int(digits) if len(digits) < 300 else float(digits)


def parse(text: str) -> Document:
    """Read a text, in which comments and a comma behind the last child may stand. Raises NotJsonError."""
    return _Parser(text).document()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 1 if text.startswith(BOM) else 0
        self.gap, self.is_below_comment = self.at, False
        self.extension = ""

    def document(self) -> Document:
        self._skip()
        root = self._value(0)
        self._skip()
        if self.at != len(self.text):
            raise NotJsonError(self._at_line("more behind the end"))
        return Document(self.text, root, self.extension)

    def _skip(self) -> None:
        """Go to the next token; remember where the white space before it begins."""
        self.gap, self.is_below_comment = self.at, False
        while True:
            self.at += len(self._matched(_SPACE))
            comment = self._matched(_COMMENT)
            if not comment:
                return
            self._note("a comment")
            self.gap = self.at = self.at + len(comment)
            self.is_below_comment = comment.startswith("//")

    def _value(self, depth: int) -> Node:
        start = self.at
        if depth > DEEPEST:
            raise NotJsonError(self._at_line(f"more than {DEEPEST} levels"))
        if self._sees("{"):
            return self._container("object", "}", depth)
        if self._sees("["):
            return self._container("array", "]", depth)
        self._take(_SCALAR, "no value")
        return Node("scalar", start, self.at)

    def _container(self, kind: str, closing: str, depth: int) -> Node:
        start = self.at
        children: list[Child] = []
        self.at += 1
        while True:
            self._skip()
            if self._sees(closing):
                if children and children[-1].comma >= 0:
                    self._note("a comma behind the last entry")
                self.at += 1
                return Node(kind, start, self.at, tuple(children))
            if children and children[-1].comma < 0:
                raise NotJsonError(self._at_line(f"no `,` or `{closing}`"))
            children.append(self._child(kind == "object", depth))

    def _child(self, has_key: bool, depth: int) -> Child:
        start, gap, is_below_comment = self.at, self.gap, self.is_below_comment
        key = None
        if has_key:
            key = str(json.loads(self._take(_STRING, "no key")))
            self._skip()
            self._take(re.compile(":"), "no `:`")
            self._skip()
        node = self._value(depth + 1)
        self._skip()
        comma = self.at if self._sees(",") else -1
        self.at += comma >= 0
        return Child(start, node, gap, comma, key, is_below_comment)

    def _sees(self, mark: str) -> bool:
        return self.text.startswith(mark, self.at)

    def _matched(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        return match[0] if match else ""

    def _take(self, pattern: re.Pattern[str], wrong: str) -> str:
        token = self._matched(pattern)
        if not token:
            raise NotJsonError(self._at_line(wrong))
        self.at += len(token)
        return token

    def _note(self, what: str) -> None:
        self.extension = self.extension or self._at_line(f"{what}, which its program does not read")

    def _at_line(self, what: str) -> str:
        return f"line {len(_LINE_END.findall(self.text, 0, self.at)) + 1}: {what}"


def nodes(node: Node) -> Iterator[Node]:
    """A value and all that is in it."""
    yield node
    for child in node.children:
        yield from nodes(child.node)


# --- a child put in --------------------------------------------------------------------------------------------------


def insert_child(document: Document, into: Node, value: Any, key: str | None = None) -> str:  # noqa: ANN401
    """The text with a last child more in a container: a member with `key` in an object, an item in an array."""
    text, layout = document.text, _JsonLayout(document)
    if into.children:
        last = into.children[-1]
        indent = _indentation(text, last.start) if _begins_line(text, last.start) else None
        before = layout.space if indent is None else layout.line_end + indent
        return _spliced(text, last.node.end, f",{before}{layout.child(key, value, indent)}")
    if not layout.is_spread:
        return _spliced(text, into.start + 1, layout.child(key, value, None))
    outer = _indentation(text, into.start)
    indent = outer + layout.unit
    after = "" if _LINE_END.search(document.inside(into)) else layout.line_end + outer
    child = layout.line_end + indent + layout.child(key, value, indent)
    return _spliced(text, into.start + 1, child + after)


def replace_value(document: Document, node: Node, value: Any) -> str:  # noqa: ANN401
    """The text with another value in the place of one."""
    text = document.text
    is_spread = _LINE_END.search(text, node.start, node.end) is not None
    new = _JsonLayout(document).value(value, _indentation(text, node.start) if is_spread else None)
    return text[: node.start] + new + text[node.end :]


class _JsonLayout:
    """The line ends, indentation and spacing that a text's own parts have."""

    def __init__(self, document: Document) -> None:
        text, root = document.text, document.root
        line_end = _LINE_END.search(text)
        self.line_end = line_end[0] if line_end else "\n"
        self.is_spread = not root.children or _LINE_END.search(text, root.start, root.end) is not None
        own_line = [child for child in root.children if _begins_line(text, child.start)]
        self.unit = _indentation(text, own_line[0].start) if own_line else "  "
        members = (child for node in nodes(root) for child in node.children if child.key is not None)
        first = next(members, None)
        self.space = " " if first is None or text[first.node.start - 1] != ":" else ""

    def child(self, key: str | None, value: Any, indent: str | None) -> str:  # noqa: ANN401
        name = "" if key is None else f"{_dumped(key)}:{self.space}"
        return name + self.value(value, indent)

    def value(self, value: Any, indent: str | None) -> str:  # noqa: ANN401
        """A value on lines of its own, further ones indented; on one line where `indent` is None."""
        if indent is None:
            return _dumped(value, separators=(f",{self.space}", f":{self.space}"))
        spread = _dumped(value, indent=self.unit, separators=(",", f":{self.space}"))
        return spread.replace("\n", self.line_end + indent)


def _dumped(value: Any, **layout: Any) -> str:  # noqa: ANN401
    return json.dumps(value, ensure_ascii=False, **layout)


def _begins_line(text: str, at: int) -> bool:
    start = _line_start(text, at)
    return start > 0 and not text[start:at].strip(" \t")


def _indentation(text: str, at: int) -> str:
    """The white space that the line of a place begins with."""
    start = _line_start(text, at)
    return text[start : len(text) - len(text[start:].lstrip(" \t"))] if start else ""


def _line_start(text: str, at: int) -> int:
    return max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1


def _spliced(text: str, at: int, new: str) -> str:
    return text[:at] + new + text[at:]


# --- a child taken out -----------------------------------------------------------------------------------------------


def remove_child(document: Document, container: Node, index: int) -> str:
    """The text without a child, and with one comma less."""
    text, child = document.text, container.children[index]
    start, end = child.start if child.is_below_comment else child.gap, child.node.end
    if child.comma >= 0:
        is_near = not text[end : child.comma].strip(" \t\r\n")
        return text[:start] + text[end : end if is_near else child.comma] + text[child.comma + 1 :]
    if index:
        comma = container.children[index - 1].comma
        return text[:comma] + text[comma + 1 : start] + text[end:]
    return text[:start] + text[end:]


def refill(document: Document, container: Node, inside: str) -> str:
    """The text with something else between the brackets of a container."""
    return document.text[: container.start + 1] + inside + document.text[container.end - 1 :]


# --- our entries in it -----------------------------------------------------------------------------------------------


class MisshapenError(ValueError):
    """The settings hold something else where ours is to go."""


class TakenError(ValueError):
    """Another program's stands in the settings under our name."""


class Entry(NamedTuple):
    """One object of ours: the member `key` of the object at `path`, or (no key) a hook in a group of the array there.

    `words` gives the command line of one of ours, and none of what is not. `keeps` says which members of one that is
    there are left as they are when the others are renewed, by name and value.
    """

    path: KeyPath
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
        document = parse(text)
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
        return insert_child(document, into, value, entry.key)
    value = {entry.key: value} if entry.key else [value]
    for name in reversed(missing[1:]):
        value = {name: value}
    return insert_child(document, into, value, missing[0])


def _deepest(document: Document, entry: Entry) -> KeyPath:
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
        node = next(node for node in nodes(document.root) if node.start == start)
        there = [child.node for child in node.children if child.key == name]
        if not there:
            text = insert_child(document, node, value, name)
        elif document.value(there[-1]) == value or spot.entry.keeps(name, document.value(there[-1])):
            continue
        else:
            text = replace_value(document, there[-1], value)
        document = parse(text)
    return document.text


# --- taking out ------------------------------------------------------------------------------------------------------


def take(text: str, entries: Sequence[Entry], inside_before: Callable[[KeyPath, str], str | None]) -> str:
    """The text without the entries. Raises NotJsonError.

    `inside_before` is asked of each container that is empty then, by its path and what is between its brackets: what
    was there before ours came, or None where the container was not there.
    """
    for entry in reversed(entries):
        document = parse(text)
        while spots := _spots(document, entry):
            spot = spots[-1]
            where = spot.group if spot.group and spot.is_alone else (spot.container, spot.place)
            document = parse(remove_child(document, *where))
        for depth in range(len(entry.path), -1, -1):
            document = _emptied(document, entry.path[:depth], inside_before)
        text = document.text
    return text


def _emptied(document: Document, path: KeyPath, inside_before: Callable[[KeyPath, str], str | None]) -> Document:
    node = document.find(path)
    if node is None or node.kind == "scalar" or document.inside(node).strip():
        return document
    inside = inside_before(path, document.inside(node))
    if inside is not None or not path:
        return parse(refill(document, node, inside or ""))
    holder = document.find(path[:-1])
    assert holder
    index = max(place for place, child in enumerate(holder.children) if child.key == path[-1])
    return parse(remove_child(document, holder, index))
