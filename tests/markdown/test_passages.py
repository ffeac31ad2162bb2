"""Passages, the pieces of long lines, and the texts around a passage."""

import base64
import hashlib
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_memory.markdown.facts import facts
from vault_memory.markdown.parse import parse
from vault_memory.markdown.passages import LONG_LINE_CHARS, Passage, passages, pieces, with_context


def cut(text: str, path: str = "notes/x.md") -> list[Passage]:
    note = parse(path, text.encode())
    return list(passages(note, facts(note, None)))


def lines(text: str) -> list[tuple[int, int]]:
    return [(passage.start_line, passage.end_line) for passage in cut(text)]


# --- blobs ---------------------------------------------------------------------------------------------------

BYTES = base64.b64encode(hashlib.shake_256(b"drawing").digest(576)).decode()
DIGEST = hashlib.sha512(b"release").hexdigest()
MINIFIED = "".join(f'function f{n}(e,t){{return"x"===e?t[{n}]:null}}' for n in range(20))
LINK = "https://example.org/" + "/".join(f"a-long-page-about-harbours-and-boats-{n}" for n in range(5))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"a lock\n\n```compressed-json\n\n{BYTES[:256]}\n\n{BYTES[256:512]}\n\n{BYTES[512:600]}\n```", [1]),
        ("\n".join(BYTES[n : n + 76] for n in range(0, 760, 76)), []),  # as in a mail
        (
            f"![]({'data:image/png;base64,' + BYTES})\n\n![](data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'%3E%3Cpath%20d='M0%200'/%3E)",
            [],
        ),
        (MINIFIED, []),
        ("a{color:red}b{margin:0}" * 30, []),
        (" ".join(f"HO-{n} a1b{n}c" for n in range(60)), [1]),
        (",".join(f"HO-{n}" for n in range(100)), [1]),
        ("kept\n\nk\ufffd\ufffd\0a\ufffd~\ufffd\n\n\ufffdber die Br\ufffdcke", [1, 5]),  # a binary file, and Latin-1
        ("\ufffd\ufffd\ufffd\ufffd, 42.\n\nz\0e\0b\0r\0a\0", [1, 3]),  # other encodings
        (f"{LINK}\n\n{DIGEST}\n\n{' '.join([LINK] * 4)}", [1, 3, 5]),  # may be looked for
    ],
)
def test_blobs_are_no_text(text: str, found: list[int]) -> None:
    assert sorted({passage.start_line for passage in cut(text)}) == found


def test_of_a_line_with_a_blob_only_the_words_are_passages() -> None:
    image = f"data:image/png;base64,{BYTES[:200]}"
    assert [each.text for each in cut(f"The crane ![crane]({image}) is old.")] == ["The crane ![crane](", ") is old."]
    assert [each.text for each in cut(f"The crane: {BYTES} and {image}")] == ["The crane:", "and"]
    (key,) = cut(f"- deploy key: {BYTES[:200]}")
    assert BYTES[:200] in key.text  # short enough to be asked for


def test_fences_around_what_is_no_text_are_none_either() -> None:
    assert cut(f"```js\n{MINIFIED}\n```\n\n```compressed-json\n{BYTES[:256]}\n```") == []
    assert [each.text for each in cut("```js\nlet a = 1\n```")] == ["```js\nlet a = 1\n```"]


# --- passages -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("one\ntwo\n\nthree", [(1, 2), (4, 4)]),
        ("# A\none\n# B", [(1, 1), (2, 2), (3, 3)]),
        ("intro\n- a\n- b", [(1, 1), (2, 2), (3, 3)]),
        ("one\n```\n- x\n\n- y\n```\ntwo", [(1, 1), (2, 6), (7, 7)]),
        ("---\na: b\nc: d\n---\none", [(2, 3), (5, 5)]),
        ("## Retain\n- W @A: x\n  y\n- plain", [(1, 1), (2, 3), (4, 4)]),
        ("a\n<!-- memory:begin facts -->\nb\n<!-- memory:end facts sha=1 -->\nc", [(1, 1), (3, 3), (5, 5)]),
        (
            "<!-- memory:begin a -->\nb\n<!-- memory:end a -->\n<!-- memory:begin c -->\nd\n<!-- memory:end c -->",
            [(2, 2), (5, 5)],
        ),
        ("<!-- memory:begin never-ended -->", [(1, 1)]),
        ("%% hidden\nstill %%\nshown", [(1, 3)]),
    ],
)
def test_what_is_one_passage(text: str, found: list[tuple[int, int]]) -> None:
    assert lines(text) == found


@pytest.mark.parametrize(
    ("path", "text", "kinds"),
    [
        (
            "a.md",
            "## Retain\n- W: a\n- B: b\n- O: c\n- S: d\n- e",
            ["note", "world", "experience", "opinion", "observation", "note"],
        ),
        ("bank/summaries/2025.md", "text", ["page"]),
        ("bank/entities/A.md", "mine\n<!-- memory:begin facts -->\nits\n<!-- memory:end facts -->", ["note", "page"]),
    ],
)
def test_the_kind_of_a_passage(path: str, text: str, kinds: list[str]) -> None:
    assert [passage.kind for passage in cut(text, path)] == kinds


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("## Retain\n- O(c=0.9) @Mara: Rye", "@Mara: Rye"),
        ("# A\n# Title", "Title"),
        ("x\n- W: not under Retain", "W: not under Retain"),
    ],
)
def test_the_body_leaves_the_marks_out(text: str, body: str) -> None:
    assert cut(text)[-1].body == body


def test_a_long_paragraph_becomes_windows() -> None:
    row = "x" * 99
    found = lines("\n".join([row] * 7))
    assert found == [(1, 3), (4, 6), (7, 7)]


# --- long lines ---------------------------------------------------------------------------------------------


def test_a_long_line_is_cut_between_sentences() -> None:
    sentence = "The ferry leaves at noon and comes back at six. "
    line = sentence * 20
    found = list(pieces(line))
    assert len(found) > 2
    for begin, end in found:
        assert line[begin:end].startswith("The ferry") and line[begin:end].endswith("six.")


@pytest.mark.parametrize(
    "sentence", ["潮が満ちる前に帰った。", "「もう帰る。」", "他问：“几点？”", "سافرنا بالحافلة إلى العقبة؟ "]
)
def test_sentences_of_other_scripts_end_where_they_end(sentence: str) -> None:
    line = sentence * 60
    found = list(pieces(line))
    assert len(found) > 2
    assert {line[begin:end][-4:] for begin, end in found} == {sentence.rstrip()[-4:]}


@pytest.mark.parametrize("cluster", ["กำ้", "e\u0301\u0323", "👩\u200d👩\u200d👧", "👍🏽", "कि"])
def test_no_character_is_parted_from_its_marks(cluster: str) -> None:
    line = cluster * 700
    assert all(not (e - b) % len(cluster) for b, e in pieces(line)), [e - b for b, e in pieces(line)][:3]


@settings(deadline=None)
@given(st.text(st.sampled_from("ab .!?;:。\t\u00a0)\"'"), min_size=400, max_size=2500))
def test_pieces_of_any_line(line: str) -> None:
    check_pieces(line)


def check_pieces(line: str) -> None:
    found = list(pieces(line))
    assert "".join("".join(line[b:e].split()) for b, e in found) == "".join(line.split())
    assert all(0 < e - b <= LONG_LINE_CHARS for b, e in found)
    assert all(one[1] <= two[0] for one, two in itertools.pairwise(found))
    assert all(line[b:e] == line[b:e].strip() for b, e in found)


def test_each_piece_of_a_long_fact_knows_which_part_of_it_it_is() -> None:
    found = cut("## Retain\n- W @Mara: " + "She rowed across the sound. " * 40 + "\n  and back\n- W: next")
    assert [passage.fact is not None for passage in found] == [False, *[True] * (len(found) - 1)]
    assert [passage.part for passage in found] == [0, *range(len(found) - 2), 0]
    assert len({passage.fact for passage in found[1:-1]}) == 1
    assert {passage.kind for passage in found[1:]} == {"world"}
    assert found[-2].text == "  and back"
    assert len([p for p in found if p.start_line == 2]) > 2


# --- context ------------------------------------------------------------------------------------------------


def around(text: str) -> list[tuple[str, int, list[tuple[str, int]]]]:
    return [(p.text, section, list(texts)) for p, section, texts in with_context(cut(text))]


def test_each_passage_comes_with_the_texts_around_it() -> None:
    found = around("a\n\nb\n\nc\n\nd\n\ne")
    assert [text for text, _, _ in found] == ["a", "b", "c", "d", "e"]
    assert found[0][2] == [("a", 4), ("b", 2), ("c", 1), ("d", 1)]
    assert found[2][2] == [("c", 4), ("a", 1), ("b", 2), ("d", 2), ("e", 1)]
    assert found[4][2] == [("e", 4), ("b", 1), ("c", 1), ("d", 2)]


def test_context_stays_in_its_section_and_a_heading_stands_alone() -> None:
    found = around("a\n# H\nb\n\nc\n# I\nd")
    assert [section for _, section, _ in found] == [0, -1, 1, 1, -2, 2]
    assert [texts for _, _, texts in found] == [
        [("a", 4)],
        [("H", 4)],
        [("b", 4), ("c", 2)],
        [("c", 4), ("b", 2)],
        [("I", 4)],
        [("d", 4)],
    ]


def test_what_a_page_only_counts_is_no_passage() -> None:
    counts = [
        "5 facts on 5 days, 1 November to 14 November 2026; together with [[Odd]] (2).",
        "1 fact of 3 May 2025.",
        "2 facts, one of them of 3 May 2025.",
        "Mostly [[Tern]] (3) and [[The Castle]] (2); 7 facts on 6 days.",
        "…and 2 more facts, on [[2026-11-11]] (1) and [[2026-11-12]] (1).",
        "…and 1 more fact: on the pages of those they are about, and in the logs.",
        "…and 3 more: see `memory opinions`.",
    ]
    told = "- Keeps 2 facts on 3 days in mind — [[2026-11-11]] L2"
    page = ["<!-- memory:begin facts -->", *counts, told, "<!-- memory:end facts sha=1 -->", counts[0]]
    note = parse("bank/entities/Trip.md", "\n".join(page).encode())
    assert [passage.text for passage in passages(note, ())] == [told, counts[0]]
