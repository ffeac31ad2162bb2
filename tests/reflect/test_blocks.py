"""generated_blocks.py: a block is found and written in any page, and not one byte around it changes."""

import pytest

from vault_memory.errors import ConflictError
from vault_memory.reflect import generated_blocks
from vault_memory.reflect.generated_blocks import Block, sha

BEGIN, END = b"<!-- memory:begin facts -->", b"<!-- memory:end facts sha=1a2b3c4d -->"


def block(*lines: str) -> Block:
    return Block(lines, sha(lines), ("0a0b0c0d", "00000001"), frozenset([0]) if lines else frozenset())


def wrote(data: bytes, *lines: str) -> bytes:
    """The page with a block of these lines."""
    return generated_blocks.put_block(generated_blocks.read_page("p.md", data, "facts"), "facts", block(*lines))


PAGES = {
    "plain": b"# Peter\n\nMine.\n",
    "no final newline": b"# Peter\n\nMine.",
    "empty": b"",
    "only a mark": b"\xef\xbb\xbf",
    "a mark and CRLF": b"\xef\xbb\xbf# Peter\r\n\r\nMine.\r\n",
    "CRLF without an end": b"# Peter\r\nMine.",
    "lone CR": b"# Peter\rMine.\r",
    "mixed, mostly CRLF": b"# Peter\r\none\r\ntwo\nthree\r\n",
    "mixed, mostly LF": b"# Peter\none\r\ntwo\nthree\n",
    "frontmatter only": b"---\naliases: []\n---\n",
    "frontmatter without an end": b"---\naliases: []\n---",
    "blank lines at the end": b"# Peter\n\n\n\n",
    "another block": b"<!-- memory:begin opinions -->\n- x\n<!-- memory:end opinions sha=00000000 -->\n",
    "broken YAML": b"---\na: [\n---\ntext\n",
    "markers in a code fence": b"```\n<!-- memory:begin facts -->\n<!-- memory:end facts -->\n```\n",
    "markers in a comment": b"%%\n<!-- memory:begin facts -->\n%%\ntext\n",
    "markers in inline code": b"`<!-- memory:begin facts -->` is a marker\n",
    "form feeds and separators": "a\x0cb\u2028c\x85d\x1ce\n".encode(),
}


@pytest.mark.parametrize("data", PAGES.values(), ids=PAGES)
def test_a_first_block_is_put_at_the_end_and_nothing_else_changes(data: bytes) -> None:
    after = wrote(data, "- one", "", "- two")
    assert after.startswith(data)
    page = generated_blocks.read_page("p.md", after, "facts")
    assert page.block == block("- one", "", "- two")
    assert generated_blocks.put_block(page, "facts", block("- one", "", "- two")) == after
    changed = generated_blocks.put_block(page, "facts", block("- three"))
    assert changed.startswith(data)
    assert generated_blocks.read_page("p.md", changed, "facts").block == block("- three")


def test_the_form_of_a_block() -> None:
    assert wrote(b"# Peter\n", "- one") == (
        b"# Peter\n\n<!-- memory:begin facts -->\n- one\n"
        b"<!-- memory:end facts sha=" + sha(["- one"]).encode() + b" cites=0a0b0c0d,00000001 yours=1 -->\n"
    )
    assert wrote(b"# Peter\r\n", "- one").count(b"\r\n") == wrote(b"# Peter\r\n", "- one").count(b"\n") == 5


BROKEN = {
    "no end": BEGIN + b"\n- x\n",
    "no beginning": b"- x\n" + END + b"\n",
    "another's end": BEGIN + b"\n- x\n<!-- memory:end opinions -->\n",
    "one in another": BEGIN + b"\n<!-- memory:begin opinions -->\n<!-- memory:end opinions -->\n" + END,
    "one in itself": BEGIN + b"\n" + BEGIN + b"\n" + END + b"\n" + END,
    "doubled": BEGIN + b"\n" + END + b"\n" + BEGIN + b"\n" + END,
    "two ends": BEGIN + b"\n" + END + b"\n" + END,
    "the end in code": BEGIN + b"\n```\n" + END + b"\n",
    "another block without its end": b"<!-- memory:begin opinions -->\n" + BEGIN + b"\n" + END,
    "not UTF-8": b"caf\xe9\n",
    "UTF-16": "# Peter\n".encode("utf-16"),
    "UTF-16 without a mark": "# Peter\n".encode("utf-16-le"),
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_a_page_that_is_broken_is_left_alone(data: bytes) -> None:
    with pytest.raises(ConflictError, match=r"p\.md.*left alone"):
        generated_blocks.read_page("p.md", data, "facts")


@pytest.mark.parametrize("data", [b"---\nmemory: [\n---\ntext\n", b"# memory:begin facts\n"])
def test_what_only_speaks_of_markers_breaks_nothing(data: bytes) -> None:
    assert generated_blocks.read_page("p.md", data, "facts").block is None


def test_two_blocks_keep_out_of_each_others_way() -> None:
    data = wrote(b"# Peter\n", "- one")
    page = generated_blocks.read_page("p.md", data, "opinions")
    assert page.block is None
    both = generated_blocks.put_block(page, "opinions", block("- held"))
    assert both.startswith(data)
    assert generated_blocks.read_page("p.md", both, "facts").block == block("- one")
    changed = generated_blocks.put_block(generated_blocks.read_page("p.md", both, "facts"), "facts", block("- two"))
    assert generated_blocks.read_page("p.md", changed, "opinions").block == block("- held")


def test_what_the_closing_marker_says_is_read_with_forbearance() -> None:
    odd = b"<!-- memory:end facts yours=x,3-1,2,999999999 sha= by=a/b:3b cites=,,1, other=5 -->"
    found = generated_blocks.read_page("p.md", BEGIN + b"\n- x\n" + odd, "facts").block
    assert found == Block(("- x",), "", ("1",), frozenset([1]), "a/b:3b")
    assert not found.is_as_written
    assert generated_blocks.marker_word(" a model>b --> c:3--d-e ") == "a-model-b-c:3-d-e"
