"""Edits a JSON text in place: a value put in, replaced or taken out, and every other byte as it was. Pure.

A settings file is its owner's: indentation, line ends, odd spacing, doubled keys, large numbers and comments stay.
What is put in follows the last child directly, or the opening bracket of an empty container.
"""

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


# --- putting in ------------------------------------------------------------------------------------------------------


def insert(document: Document, into: Node, value: Any, key: str | None = None) -> str:  # noqa: ANN401
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


def replace(document: Document, node: Node, value: Any) -> str:  # noqa: ANN401
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


# --- taking out ------------------------------------------------------------------------------------------------------


def remove(document: Document, container: Node, index: int) -> str:
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
