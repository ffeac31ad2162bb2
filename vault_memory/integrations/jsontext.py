"""Owns the editing of a JSON text in place: a child put in or taken out, and every other byte as it was. Pure.

A settings file is its owner's: indentation, line ends, odd spacing, doubled keys, large numbers and, where the format
allows them, comments stay. It knows no file and no agent.

What is put in always follows the last child directly, or the opening bracket of an empty container, so that taking it
out gives back the text there was, whatever was changed elsewhere meanwhile.
"""

import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

DEEPEST = 200
"""No settings file nests so deep; one that does is not worth the stack."""

BOM = "\ufeff"

PLAIN = "Make it plain JSON (no comment, no comma behind the last entry)"
"""What makes a text one that every program reads."""

_SPACE = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.S)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
_LINE_END = re.compile(r"\r\n|\n|\r")


class NotJsonError(ValueError):
    """The text is no JSON of the kind that was allowed; says where."""


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
    comments: bool = False

    def find(self, path: tuple[str, ...]) -> Node | None:
        """The value at a path of keys; of a doubled key the last counts, as it does for those who read the file."""
        node = self.root
        for key in path:
            found = [child.node for child in node.children if child.key == key]
            if not found:
                return None
            node = found[-1]
        return node

    def plain(self, node: Node) -> Any:  # noqa: ANN401 - it can be anything
        """The value as Python has it; numbers as their text, for some are larger than Python reads."""
        if node.kind == "object":
            return {child.key: self.plain(child.node) for child in node.children}
        if node.kind == "array":
            return [self.plain(child.node) for child in node.children]
        return json.loads(self.text[node.start : node.end], parse_int=str, parse_float=str)

    def written(self, node: Node, indent: str = "") -> str:
        """The value as plain JSON in lines, its keys and scalars as they stand."""
        opening, closing = "{}" if node.kind == "object" else "[]"
        if node.kind == "scalar":
            return self.text[node.start : node.end]
        inner = indent + "  "
        lines = [
            inner + ("" if child.key is None else f"{_dumped(child.key)}: ") + self.written(child.node, inner)
            for child in node.children
        ]
        return opening + ("\n" + ",\n".join(lines) + "\n" + indent if lines else "") + closing


def parse(text: str, comments: bool = False) -> Document:
    """Read a text; with `comments`, comments and a comma behind the last child are allowed. Raises NotJsonError."""
    return Document(text, _Scanner(text, comments).whole(), comments)


def unread(text: str, comments: bool = False) -> NotJsonError | None:
    """What a program that allows no `comments` stumbles over in a text that is JSON but for such; None for nothing."""
    try:
        parse(text, comments)
    except NotJsonError as error:
        with contextlib.suppress(NotJsonError):
            parse(text, comments=True)
            return error
    return None


class _Scanner:
    def __init__(self, text: str, comments: bool) -> None:
        self.text, self.comments = text, comments
        self.at = 1 if text.startswith(BOM) else 0
        self.gap, self.is_below_comment = self.at, False

    def whole(self) -> Node:
        self._space()
        node = self._value(0)
        self._space()
        if self.at != len(self.text):
            raise self._wrong("more behind the end")
        return node

    def _space(self) -> None:
        """Go to the next token; remember where the white space before it begins."""
        self.gap, self.is_below_comment = self.at, False
        while True:
            self.at = _matched(_SPACE, self.text, self.at)
            found = _COMMENT.match(self.text, self.at) if self.comments else None
            if not found:
                return
            self.gap = self.at = found.end()
            self.is_below_comment = found[0].startswith("//")

    def _value(self, depth: int) -> Node:
        if depth > DEEPEST:
            raise self._wrong(f"more than {DEEPEST} levels")
        begins = self.text[self.at : self.at + 1]
        if begins in ("{", "["):
            return self._container("object" if begins == "{" else "array", depth)
        start = self.at
        found = (_STRING if begins == '"' else _SCALAR).match(self.text, self.at)
        if not found:
            raise self._wrong("no value")
        self.at = found.end()
        return Node("scalar", start, self.at)

    def _container(self, kind: str, depth: int) -> Node:
        start, closing = self.at, "}" if kind == "object" else "]"
        self.at += 1
        children: list[Child] = []
        while True:
            self._space()
            if self._sees(closing):
                if children and children[-1].comma >= 0 and not self.comments:
                    raise self._wrong("a comma behind the last entry, which its program does not read")
                self.at += 1
                return Node(kind, start, self.at, tuple(children))
            if children and children[-1].comma < 0:
                raise self._wrong(f"no `,` or `{closing}`")
            children.append(self._child(kind, depth))

    def _child(self, kind: str, depth: int) -> Child:
        start, gap, is_below_comment = self.at, self.gap, self.is_below_comment
        key = self._key() if kind == "object" else None
        node = self._value(depth + 1)
        self._space()
        comma = self.at if self._sees(",") else -1
        if comma >= 0:
            self.at += 1
        return Child(start, node, gap, comma, key, is_below_comment)

    def _key(self) -> str:
        found = _STRING.match(self.text, self.at)
        if not found:
            raise self._wrong("no key")
        self.at = found.end()
        self._space()
        if not self._sees(":"):
            raise self._wrong("no `:`")
        self.at += 1
        self._space()
        return str(json.loads(found[0]))

    def _sees(self, char: str) -> bool:
        return self.text.startswith(char, self.at)

    def _wrong(self, what: str) -> NotJsonError:
        line = len(_LINE_END.findall(self.text, 0, self.at)) + 1
        comment = not self.comments and self.text.startswith(("//", "/*"), self.at)
        return NotJsonError(f"line {line}: {'a comment, which its program does not read' if comment else what}")


def _matched(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


# --- putting in ------------------------------------------------------------------------------------------------------


class Put(NamedTuple):
    """The text with a child more, and what was put behind that for the closing bracket's sake."""

    text: str
    tail: str


def insert(of: Document, into: Node, value: Any, key: str | None = None) -> Put:  # noqa: ANN401
    """Put a last child into a container: a member with `key` into an object, an item into an array."""
    if into.children:
        return _append(of, into, value, key)
    shape = _Shape(of)
    inside = of.text[into.start + 1 : into.end - 1]
    if not shape.is_spread:
        return Put(_spliced(of.text, into.start + 1, shape.child(key, value, None)), "")
    outer = _indentation(of.text, into.start)
    tail = "" if _LINE_END.search(inside) else shape.line_end + outer
    child = shape.line_end + outer + shape.unit + shape.child(key, value, outer + shape.unit)
    return Put(_spliced(of.text, into.start + 1, child + tail), tail)


def _append(of: Document, into: Node, value: Any, key: str | None) -> Put:  # noqa: ANN401
    shape, last = _Shape(of), into.children[-1]
    if _begins_line(of.text, last.start):
        indent = _indentation(of.text, last.start)
        child = f",{shape.line_end}{indent}{shape.child(key, value, indent)}"
    else:
        child = f",{shape.space}{shape.child(key, value, None)}"
    return Put(_spliced(of.text, last.node.end, child), "")


def replace(of: Document, node: Node, value: Any) -> str:  # noqa: ANN401
    """The text with another value in the place of one."""
    shape = _Shape(of)
    is_spread = _LINE_END.search(of.text, node.start, node.end) is not None
    new = shape.value(value, _indentation(of.text, node.start) if is_spread else None)
    return of.text[: node.start] + new + of.text[node.end :]


class _Shape:
    """How a text is laid out: the line ends, indentation and spacing that its own parts have."""

    def __init__(self, of: Document) -> None:
        text, root = of.text, of.root
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


def nodes(node: Node) -> Iterator[Node]:
    """A value and all that is in it."""
    yield node
    for child in node.children:
        yield from nodes(child.node)


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


# --- taking out ------------------------------------------------------------------------------------------------------


def remove(of: Document, container: Node, index: int, tail: str = "") -> str:
    """Take a child out, with one comma; the `tail` that was put behind it goes where it is still there."""
    child = container.children[index]
    start, end = child.start if child.is_below_comment else child.gap, child.node.end
    cuts = [(start, end)]
    if child.comma >= 0:
        is_near = not of.text[end : child.comma].strip(" \t\r\n")
        cuts.append((end if is_near else child.comma, child.comma + 1))
    elif index:
        comma = container.children[index - 1].comma
        cuts.insert(0, (comma, comma + 1))
    if tail and len(container.children) == 1 and of.text.startswith(tail, cuts[-1][1]):
        cuts.append((cuts[-1][1], cuts[-1][1] + len(tail)))
    text = of.text
    for first, last in reversed(cuts):
        text = text[:first] + text[last:]
    return text
