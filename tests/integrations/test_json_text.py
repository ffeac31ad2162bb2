"""A JSON text edited in place: what is put in is there, all else stays, and taking it out gives the old text back."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.integrations.settings_edit import (
    BOM,
    Document,
    Node,
    NotEditableError,
)

SPACE = st.text(" \t\r\n", max_size=4)
NUMBERS = st.sampled_from(["0", "-0", "1e400", "12345678901234567890123", "-1.50E+7", "0.1000"])
STRINGS = st.one_of(
    st.text(max_size=6).map(json.dumps), st.sampled_from(['"\\u00e9\\/"', '"\\ud800"', '"a, }] b"', '"// no comment"'])
)


def _spaced(draw: Any, parts: list[str]) -> str:
    return "".join(draw(SPACE) + part for part in parts) + draw(SPACE)


@st.composite
def texts(draw: Any, depth: int = 3, whole: bool = True) -> str:
    """JSON with white space anywhere; the outermost is an object."""
    kinds = ["scalar", "string", "object", "array"] if depth else ["scalar"]
    kind = "object" if whole else draw(st.sampled_from(kinds))
    if kind in ("scalar", "string"):
        return str(draw(st.one_of(NUMBERS, st.sampled_from(["true", "false", "null"]), STRINGS)))
    items = []
    for _ in range(draw(st.integers(0, 3))):
        value = draw(texts(depth=depth - 1, whole=False))
        name = draw(st.one_of(STRINGS, st.sampled_from(['"hooks"', '"mcp"', '"mcp"'])))
        items.append(_spaced(draw, [name, ":", value]) if kind == "object" else _spaced(draw, [value]))
    body = ",".join(items) or draw(SPACE)
    text = f"{{{body}}}" if kind == "object" else f"[{body}]"
    if not whole or depth != 3:
        return text
    return draw(st.sampled_from(["", BOM])) + draw(SPACE) + text + draw(SPACE)


def containers(of: Document, node: Node | None = None) -> list[Node]:
    node = node or of.root
    below = [found for child in node.children for found in containers(of, child)]
    return [node, *below] if isinstance(node.value, dict | list) else below


VALUES = st.sampled_from([1, "x y", {}, [], {"type": "command", "args": ["a", "ö\n"]}, [{"hooks": [{"a": [1]}]}]])


@given(texts(), st.data())
def test_taking_out_what_was_put_in_gives_the_text_there_was(text: str, data: Any) -> None:
    before = Document(text)
    into = data.draw(st.sampled_from(containers(before)))
    value = data.draw(VALUES)
    after = Document(before.insert(into, value, "of ours" if isinstance(into.value, dict) else None))
    found = next(node for node in containers(after) if node.start == into.start)
    children = found.children
    assert children[-1].value == value
    assert len(children) == len(into.children) + 1
    left = after.remove(found, len(children) - 1)
    # Where a container was empty, a line end for its closing bracket may stay.
    assert left == text if into.children else "".join(left.split()) == "".join(text.split())


@given(st.text('{}[],:"\\ \n/*a1', max_size=12))
def test_what_python_reads_is_read(text: str) -> None:
    try:
        json.loads(text)
    except ValueError:
        return
    Document(text)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("{}", '{\n  "n": {\n    "a": 1\n  }\n}'),
        ("{\n}\n", '{\n  "n": {\n    "a": 1\n  }\n}\n'),
        ('{"b": 2}', '{"b": 2, "n": {"a": 1}}'),
        ('{\r\n\t"b": 2\r\n}\r\n', '{\r\n\t"b": 2,\r\n\t"n": {\r\n\t\t"a": 1\r\n\t}\r\n}\r\n'),
        ('\ufeff{\n    "b": []\n}', '\ufeff{\n    "b": [],\n    "n": {\n        "a": 1\n    }\n}'),
    ],
)
def test_what_is_put_in_looks_like_the_rest(text: str, after: str) -> None:
    assert Document(text).insert(Document(text).root, {"a": 1}, "n") == after


COMMENTED = '{\n  // first\n  "a": 1, // of a\n  /* b\n */ "b": [1, 2,], // of b\n  // last\n}\n'


def test_comments_stay() -> None:
    before = Document(COMMENTED)
    for path, key in ((), "n"), (("b",), None):
        into = before.find(path)
        assert into
        after = Document(before.insert(into, {"x": 1}, key))
        found = after.find(path)
        assert found and found.children[-1].value == {"x": 1}
        assert after.remove(found, len(found.children) - 1) == COMMENTED


@pytest.mark.parametrize(
    ("text", "index", "left"),
    [
        ('{\n  "a": 1, // of a\n  "b": 2\n}', 1, '{\n  "a": 1 // of a\n  \n}'),
        ('{\n  // of a\n  "a": 1, // and b\n  "b": 2,\n}', 0, '{\n  // of a\n   // and b\n  "b": 2,\n}'),
        ("[1 /* one */, 2 /* two */, 3]", 1, "[1 /* one */, /* two */ 3]"),
    ],
)
def test_comments_beside_what_goes_stay(text: str, index: int, left: str) -> None:
    of = Document(text)
    assert of.remove(of.root, index) == left
    Document(left)


@pytest.mark.parametrize("text", ["", "{} {}", '{"a" 1}', "{'a': 1}", '{"a": 01}', "[" * 5000, "{,}", "[1,,2]"])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(NotEditableError):
        Document(text)


def test_the_last_of_a_doubled_key_counts_and_both_stay() -> None:
    of = Document('{"a": {"x": 1}, "a": {"y": 2}}')
    found = of.find(("a",))
    assert found and found.value == {"y": 2}
    assert of.insert(found, 3, "z") == '{"a": {"x": 1}, "a": {"y": 2, "z": 3}}'


def test_a_value_is_replaced_in_its_own_layout() -> None:
    of = Document('{\n  "a": {\n    "x": 1\n  },\n  "b": {"y": 2}\n}')
    a, b = of.find(("a",)), of.find(("b",))
    assert a and b
    assert of.replace(a, {"z": 3}) == '{\n  "a": {\n    "z": 3\n  },\n  "b": {"y": 2}\n}'
    assert of.replace(b, {"z": 3}) == '{\n  "a": {\n    "x": 1\n  },\n  "b": {"z": 3}\n}'
