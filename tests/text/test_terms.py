"""Terms: what is indexed is found by the same word, through a real FTS5 table; any text is a safe MATCH."""

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.store import schema
from vault_memory.text import terms

INSERT = "INSERT INTO passage_fts(rowid, body) VALUES (?, ?)"
MATCH = "SELECT rowid FROM passage_fts WHERE passage_fts MATCH ? ORDER BY rowid"


def table(*texts: str) -> apsw.Connection:
    """The index's own FTS5 table holding `texts`, numbered from 0."""
    connection = apsw.Connection(":memory:")
    connection.execute(schema.TABLES)
    connection.executemany(INSERT, [(n, terms.index_text(text)) for n, text in enumerate(texts)])
    return connection


def hits(connection: apsw.Connection, word: str) -> list[int]:
    """The rows that hold all the phrases of one word."""
    phrases = terms.match_terms(word)
    return [row for (row,) in connection.execute(MATCH, (" AND ".join(phrases),))] if phrases else []


TEXTS = [
    "plain words about boats",
    "the C++ compiler, and C# too",
    "C and nothing else",
    "the tile-server logs to app.py and v1.2.3",
    "she said \"boat house\" twice; rock'n'roll",
    "京都に住んでいる",
    "猫",
    "จังหวัดเชียงใหม่สวย",
    "party 🎉 at noon",
    "café déjà vu Straße",
    "東京タワー and Tokyo",
    "nul\0byte",
    "snake_case and kebab-case",
    "→ arrow ★ star",
    "F# minor, A++ rated, #hashtag",
    "회의에서 결정",
    "वे किताबें पढ़ते हैं",
    "ＡＢＣ ﾊﾟﾝ",
    "וַיֹּאמֶר Αθήνα Κύπρος",
    "مَكْتَبَـــة إدارة",
    "новые ёлки и счётчики",
]


@pytest.fixture(scope="module")
def full() -> apsw.Connection:
    return table(*TEXTS)


@pytest.mark.parametrize(
    ("word", "rows"),
    [
        ("c++", [1]),
        ("C", [1, 2]),
        ("tile-server", [3]),
        ("app.py", [3]),
        ("rock'n'roll", [4]),
        ('"boat', [0, 4]),
        ("住んで", [5]),
        ("京", [5, 10]),
        ("京住", []),
        ("猫", [6]),
        ("เชียงใหม่", [7]),
        ("🎉", [8]),
        ("cafe", [9]),
        ("→", [13]),
        ("hashtag", [14]),
        ("회의", [15]),
        ("किताब", [16]),
        ("पढ़ाई", []),
        ("ויאמר", [18]),
        ("αθηνα", [18]),
        ("الإدارة", [19]),
        ("елка", [20]),
        ("", []),
        ("\0", []),
    ],
)
def test_a_word_finds_its_texts(full: apsw.Connection, word: str, rows: list[int]) -> None:
    assert hits(full, word) == rows


@pytest.mark.parametrize(
    ("text", "is_fact", "body"),
    [
        ("- O(c=0.9) @Mara: Rye", True, "@Mara: Rye"),
        ("- O(c=0.9) @Mara: Rye", False, "O(c=0.9) @Mara: Rye"),
        ("- W: Rye", True, ": Rye"),
        ("### Title", False, "Title"),
        ("", False, ""),
    ],
)
def test_the_body_of_a_passage(text: str, is_fact: bool, body: str) -> None:
    assert terms.body(text, is_fact) == body


@pytest.mark.parametrize(
    ("question", "phrases"),
    [
        ("谁不能吃花生？", ['"不能"', '"能吃"', '"吃花"', '"花生"']),
        ("什么时候", ['"什么"', '"么时"', '"时候"']),  # nothing is left but the question itself
        ("猫の餌は", ['"猫"*', '"餌"*']),
        ("회의에서", ['"회의"']),
        ("집을", ['"집"*']),
    ],
)
def test_a_sentence_without_spaces_is_asked_for_by_its_pairs(question: str, phrases: list[str]) -> None:
    assert terms.match_terms(question) == phrases


def test_a_name_is_one_phrase_as_it_stands_in_the_index() -> None:
    connection = table("田中さんは来た", "中田さん", "Кости нет")
    assert [row for (row,) in connection.execute(MATCH, (terms.quoted("田中さん"),))] == [0]
    assert [row for (row,) in connection.execute(MATCH, (terms.quoted("Костя"),))] == [2]


SIGNS = st.text(st.sampled_from("ab1 \"'*^:()+-#.{}[]\0猫京ก็🎉→é_NEAR OR AND NOT"), max_size=20)
WORDS = SIGNS | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(st.lists(WORDS, max_size=4))
def test_any_words_are_a_safe_match(full: apsw.Connection, words: list[str]) -> None:
    for phrase in [phrase for word in words for phrase in terms.match_terms(word)]:
        for expression in (phrase, f'({phrase}) OR "boats"', f'{phrase} AND "boats"'):
            list(full.execute(MATCH, (expression,)))


@given(st.text(st.characters(categories=["Ll", "Lu", "Lo", "Nd"]), min_size=1, max_size=8), WORDS)
def test_any_word_finds_the_text_it_stands_in(word: str, other: str) -> None:
    connection = table(f"{other} {word} {other}", "boats")
    assert 0 in hits(connection, word)


@pytest.mark.parametrize(
    ("text", "word", "found"),
    [
        ("Paweł came from Łódź", "pawel", True),
        ("Pawel", "Paweł", True),
        ("smørrebrød in the Straße", "strasse", True),
        ("Ann buys a canoe", "bought", True),
        ("BROKE the vase!", "break", True),
        ("a bit of ground", "bite", False),
        ("she lives here", "life", False),
    ],
)
def test_a_word_is_found_in_another_form(text: str, word: str, found: bool) -> None:
    assert hits(table(text), word) == ([0] if found else [])
