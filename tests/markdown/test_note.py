"""Reading one note: tables for each thing a line can be, and properties over any bytes."""

import re
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_memory.markdown.links import block_id, links, tags
from vault_memory.markdown.note import (
    BLANK,
    TEXT,
    Heading,
    Note,
    decoded_lines,
    folded,
    heading_path,
    says_property,
    speaker,
)
from vault_memory.markdown.parse import parse


def read(text: str | bytes, path: str = "notes/Harbour.md") -> Note:
    return parse(path, text if isinstance(text, bytes) else text.encode())


def states(text: str) -> str:
    """The states of a text's lines, a letter each: Text, Blank, Front, Code, comment (%), Heading."""
    return "".join("TBFC%H"[state] for state in read(text).states)


def messages(note: Note) -> list[str]:
    return [problem.message for problem in note.problems]


def named(note: Note) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in note.headings]


# --- bytes and lines ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a", ["a"]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("a\rb\r", ["a", "b"]),
        ("a\n\rb", ["a", "", "b"]),
        ("a\u2028b\u2029c\x0bd\x0ce\x85f\x1cg", ["a\u2028b\u2029c\x0bd\x0ce\x85f\x1cg"]),
    ],
)
def test_a_line_ends_at_three_things_only(text: str, lines: list[str]) -> None:
    assert decoded_lines(text.encode()) == (lines, None)


@pytest.mark.parametrize(
    ("data", "text", "said"),
    [
        (b"plain", "plain", None),
        (b"\xef\xbb\xbf# A", "# A", None),
        ("Zürich".encode("latin-1"), "Z\ufffdrich", (1, "bytes that are not UTF-8")),
        (b"one\r\ntwo\r\n\xff", "one\ntwo\n\ufffd", (3, "bytes that are not UTF-8")),
        ("Öl".encode("utf-16"), "Öl", (1, "UTF-16")),
    ],
)
def test_bytes_become_text_and_what_was_wrong_is_said(data: bytes, text: str, said: tuple[int, str] | None) -> None:
    lines, damage = decoded_lines(data)
    assert lines == text.split("\n")
    assert (damage is None) == (said is None)
    if damage and said:
        assert damage[0] == said[0] and damage[1].startswith(said[1])


BLOCKS = ["---", "```", "~~~~", "# A", "### B ##", "- W @X: y", "    ", "\t", "word", " ", "\n", "\r\n", "\r"]
INLINE = ["%%", "<!--", "-->", "`", "``", "#tag", "[[N|m]]", "a: &a [*a]", "^id"]
OWNED = ["<!-- memory:begin facts -->", "<!-- memory:end facts sha=1 -->"]
MARKUP = st.lists(st.sampled_from(BLOCKS + INLINE + OWNED), max_size=40).map("".join)


@settings(deadline=None)
@given(MARKUP | st.text(max_size=80))
def test_any_text_keeps_its_lines(text: str) -> None:
    note = read(text.encode("utf-8", "replace"))
    kept = text.encode("utf-8", "replace").decode("utf-8-sig")
    assert "\n".join(note.lines) == re.sub(r"\r\n|\r", "\n", kept).removesuffix("\n")
    for number, line in enumerate(note.lines, 1):
        assert len(note.plain(number)) == len(line)
        assert (note.states[number - 1] == BLANK) <= (not line.strip())
        assert len(note.shown(number)) <= len(line)


@pytest.mark.parametrize(
    "line",
    [
        "# a" + " " * 200_000 + "b",
        "a" + "`" * 200_000 + " b",
        " ".join("`" * n for n in range(1, 600)),
        "#a " * 100_000,
        "[[" * 100_000,
        "[a](" * 50_000,
        "<!-- " * 100_000,
    ],
    ids=lambda line: line[:8],
)
def test_a_long_odd_line_takes_linear_time(line: str) -> None:
    note = read(f"{line}\n")
    list(links(note)), list(tags(note))


# --- frontmatter --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "properties", "problem"),
    [
        ("---\ntitle: Harbour\naliases: [Port, Docks]\n---\n", {"title": "Harbour", "aliases": ["Port", "Docks"]}, ""),
        ("\ufeff---\ntitle: Marked\n---\n", {"title": "Marked"}, ""),
        ("---\n---\nx", {}, ""),
        ("---\n\n# only a remark\n\n---\n", {}, "not a list of properties"),
        ("---\ntitle: Open\n\ntext", {}, "never closed"),
        ("---\ntitle: [1, 2\n---\n", {}, "broken YAML"),
        ("---\nrun: !!python/object/apply:os.getcwd []\n---\n", {}, "broken YAML"),
        ("---\n- one\n- two\n---\n", {}, "not a list of properties"),
        ("---\na: &a {b: 1}\nc:\n  <<: *a\n---\n", {}, "merge keys"),
        ('---\na: "\\ud800"\n---\n', {}, "broken YAML"),
        ("---\ndeep: {a: {b: c}}\nlist: [1, [2], {3: 4}]\n---\n", {"deep": None, "list": [1]}, ""),
        (
            "---\nset: !!set {a, b}\npairs: !!pairs [a: b]\nraw: !!binary aGk=\n---\n",
            {"set": None, "pairs": [], "raw": None},
            "",
        ),
    ],
)
def test_frontmatter(text: str, properties: dict[str, object], problem: str) -> None:
    note = read(text)
    assert note.properties == properties
    assert [problem in message for message in messages(note)] == ([True] if problem else [])


@pytest.mark.parametrize("link", ["[{}]", "{{<<: [{}]}}"], ids=["lists", "merge keys"])
def test_alias_bombs_cost_nothing(link: str) -> None:
    rows = ["a0: &a0 [x]" if link[0] == "[" else "a0: &a0 {x: y}"]
    rows += [f"a{n}: &a{n} " + link.format(", ".join([f"*a{n - 1}"] * 9)) for n in range(1, 12)]
    note = read("---\n" + "\n".join(rows) + "\n---\nbody\n")
    assert len(str(note.properties)) < 1000
    assert note.states[-1] == TEXT


@pytest.mark.parametrize(
    ("path", "text", "stem", "title"),
    [
        ("a/Harbour.md", "", "Harbour", "Harbour"),
        ("a/b.md", "---\ntitle: ' The Docks '\n---\n", "b", "The Docks"),
        ("a/b.md", "---\ntitle: ''\n---\n", "b", "b"),
    ],
)
def test_name_and_title(path: str, text: str, stem: str, title: str) -> None:
    note = read(text, path)
    assert (note.stem, note.title) == (stem, title)


# --- headings -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("# One", (1, "One")),
        ("####### Seven", None),
        ("#NoSpace", None),
        ("## Closed #######  ", (2, "Closed")),
        ("## C# in depth", (2, "C# in depth")),
        ("\\# Escaped", None),
        ("# Shown %% hidden %%", (1, "Shown")),
    ],
)
def test_headings(line: str, found: tuple[int, str] | None) -> None:
    assert named(read(f"{line}\n")) == ([found] if found else [])


def test_the_path_of_headings_above_a_line() -> None:
    note = read("intro\n# A\nx\n### Deep\ny\n## B\nz\n# C\n")
    found = [list(heading_path(note.headings, n)) for n in range(1, 9)]
    assert found == [[], ["A"], ["A"], ["A", "Deep"], ["A", "Deep"], ["A", "B"], ["A", "B"], ["C"]]
    assert heading_path([Heading(3, 2, "Two"), Heading(5, 1, "One")], 5) == ("One",)


# --- code ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("```\n# x\n```\ny", "CCCT"),
        ("````\n```\nx\n````\ny", "CCCCT"),
        ("~~~ a`b\nx\n~~~\ny", "CCCT"),
        ("``` a`b\ny", "TT"),
        ("  ```\n  x\n  ```\ny", "CCCT"),
        ("```\nx\n``` y\nz", "CCCC"),
        ("```\n%%\n```\n# H", "CCCH"),
        ("- ```sh\n  # x\n  ```\n# H", "CCCH"),
        ("- [ ] ```x```\ny", "TT"),
    ],
)
def test_code_fences(text: str, found: str) -> None:
    assert states(text) == found


@pytest.mark.parametrize(
    ("text", "found", "problem"),
    [
        ("a\n\n```\n# x\n\ny\n", "TBCCCC", "code fence is never closed"),
        ("a\n\nb %% c\n# d\n", "TBT%", "comment is never closed"),
        ("a\n\nb <!-- c\n# d\n", "TBT%", "comment is never closed"),
    ],
)
def test_an_unclosed_fence_or_comment_takes_the_rest_and_is_reported(text: str, found: str, problem: str) -> None:
    assert states(text) == found
    assert [(p.line, problem in p.message) for p in read(text).problems] == [(3, True)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("    code", "C"),
        ("text\n\n    code\n    more\n\ntext", "TBCCBT"),
        ("- item\n\n    goes on", "TBT"),
        ("1. item\n\n    goes on\n\ntext\n\n    code", "TBTBTBC"),
        ("- item\n# H\n    code", "THC"),
    ],
)
def test_indented_code_is_no_continuation(text: str, found: str) -> None:
    assert states(text) == found


# --- comments -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("%% hidden %%", "%"),
        ("%%\n# H\n%%\n# Real", "%%%H"),
        ("%%\n\n```\n%%\nx", "%%%%T"),
        ("<!--\n# H\n-->\nx", "%%%T"),
        ("<!-- %% -->\n# H", "%H"),
        ("a %% b\nc\nd %% e\nf", "T%TT"),
        ("`%%` is the mark\n# H", "TH"),
        ("%% a `b %% c`\n# H", "TH"),
        ("`a` %% `b\n` %% # c\n# H", "TTH"),
    ],
)
def test_comments(text: str, found: str) -> None:
    assert states(text) == found


@pytest.mark.parametrize(
    ("line", "plain", "shown"),
    [
        ("a %%b%% c", "a       c", "a  c"),
        ("a <!-- b --> c", "a            c", "a  c"),
        ("a `b` c", "a     c", "a `b` c"),
        ("a ``b ` c`` d", "a           d", "a ``b ` c`` d"),
        ("a `%%` b %% c %% d", "a      b         d", "a `%%` b  d"),
    ],
)
def test_a_line_without_its_comments_and_code(line: str, plain: str, shown: str) -> None:
    note = read(f"{line}\n")
    assert (note.plain(1), note.shown(1)) == (plain, shown)


# --- links, tags, block ids ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("[[Harbour]]", [("Harbour", "")]),
        ("[[Harbour#Tides#Spring|tides]]", [("Harbour", "Tides#Spring")]),
        ("[[Harbour#^b1]]", [("Harbour", "^b1")]),
        ("[[a]b]]", []),
        ("![[map.png]] ![[map.png|200]] ![[Tea]] [[Node.js]]", [("Node.js", ""), ("Tea", "")]),
        ("[docks](places/Harbour.md)", [("places/Harbour.md", "")]),
        ("[docks](The%20Harbour.md#Tides)", [("The Harbour.md", "Tides")]),
        ("[site](https://example.org/a.md)", []),
        ("`[[Not]]` %%[[Nor]]%% <!-- [[This]] -->", []),
        ("    [[Code]]", []),
    ],
)
def test_links(line: str, found: list[tuple[str, str]]) -> None:
    assert [(link.target, link.anchor) for link in links(read(f"{line}\n"))] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a #boat, (#sail) #sea; x", [(1, "boat"), (1, "sail"), (1, "sea")]),
        ("a #boat/sail/jib/", [(1, "boat/sail/jib")]),
        ("a #été #船 #y-2 #a_b", [(1, "a_b"), (1, "y-2"), (1, "été"), (1, "船")]),
        ("a#boat https://example.org/#boat [[Note#boat]]", []),
        ("a `#boat` %%#boat%%", []),
        ("---\ntags: [boat, '#sail', sea shore]\n---\n", [(0, "boat"), (0, "sail"), (0, "sea"), (0, "shore")]),
        ("---\ntag: boat\n---\nx #boat", [(0, "boat"), (4, "boat")]),
    ],
)
def test_tags(text: str, found: list[tuple[int, str]]) -> None:
    assert [(tag.line, tag.name) for tag in tags(read(text))] == found


@pytest.mark.parametrize(
    ("line", "found"), [("text ^a1", "a1"), ("^alone", "alone"), ("text ^a_1", None), ("2 ^ 3", None)]
)
def test_block_ids(line: str, found: str | None) -> None:
    assert block_id(line) == found


# --- owned blocks -------------------------------------------------------------------------------------------


def owned(rows: Iterable[str]) -> tuple[list[tuple[int, int, str]], int]:
    note = read("\n".join(rows))
    return [tuple(block) for block in note.owned], len(note.problems)


BEGIN, END = "<!-- memory:begin facts -->", "<!-- memory:end facts sha=1a2b3c4d -->"


@pytest.mark.parametrize(
    ("rows", "blocks", "problems"),
    [
        ([BEGIN, "x", END], [(1, 3, "facts")], 0),
        ([BEGIN, "x"], [], 1),
        ([BEGIN, BEGIN, "x", END, END], [(1, 4, "facts")], 2),
        ([BEGIN, "x", END.replace("facts", "other")], [], 2),
        (["```", BEGIN, "x", END, "```"], [], 0),
        ([f"text {BEGIN}", "x", END], [], 1),
    ],
)
def test_owned_blocks(rows: list[str], blocks: list[tuple[int, int, str]], problems: int) -> None:
    assert owned(rows) == (blocks, problems)


# --- who says a line ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("- Mara: hello", "mara"),
        ("- **Mara Berg**: hello", "mara berg"),
        ("**Mara:** hello", "mara"),
        ("- [14:15] Mara Berg: hello", "mara berg"),
        ("- 10:32 am – Mara: hello", "mara"),
        ("[12/03/2024, 10:32:11] Mara Berg: hello", "mara berg"),
        ("- mara: hello", ""),
        ("- 09:10 Coffee with Mara: she was late", ""),
        ("- https://example.org: x", ""),
    ],
)
def test_who_speaks(text: str, found: str) -> None:
    assert speaker(text) == found


@pytest.mark.parametrize(
    ("properties", "says"),
    [
        ("author: Forster", True), ('director:\n  - "[[Ridley Scott]]"', True), ("url: https://x.example/a", True),
        ("aliases: [A, B]", False), ("aliases:\n  - https://x.example/a", False), ("author:\nmaker: []", False),
    ],
)  # fmt: skip
def test_properties_say_something_that_the_file_does_not(properties: str, says: bool) -> None:
    assert says_property(properties) is says


# --- when two texts are the same but for their letters ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Says “Göteborg” isn’t far.", "says 'Go\u0308teborg' isn't far"),
        ("«Tern» sails", '"tern" sails!'),
        ("He said 'it isn't far'.", "He said “it isn’t far.”"),
        ("Reads ‘The Sea’ and “Loss”", "reads The Sea and Loss"),
    ],
)
def test_the_same_in_other_letters(one: str, other: str) -> None:
    assert folded(one) == folded(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2³ long", "23 long"),
        ("5½", "51⁄2"),
        ("6' high", "6 high"),
        ('5" wide', "5 wide"),
        ('5" wide and 6" high', "5 wide and 6 high"),
        ("6' by 7' of oak", "6 by 7 of oak"),
        ("6’ high", "6 high"),
        ("Lives here?", "Lives here"),
        ("x² grows", "x2 grows"),
    ],
)
def test_another_statement(one: str, other: str) -> None:
    assert folded(one) != folded(other)
