"""What a model is asked, and the checks on what it wrote: form, citations, and whether it stands in its facts."""

import json
from collections.abc import Mapping, Sequence
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_memory.reflect.fact import Fact
from vault_memory.reflect.model_writer import (
    FACT_CHARACTERS,
    FACTS_TOKENS,
    MAX_SENTENCES,
    CitedSentence,
    checked,
    fact_line,
    messages,
    number_facts,
    read_answer,
)  # fmt: skip
from vault_memory.text.calendar_days import Span

FACTS = {
    1: "2025-11-27: @Ada prefers short replies (<1500 chars) on the ferry's Wi-Fi.",
    2: "2025-11-29 (happened 2025-12-03): Bought three lamps for €1,500 with [[Ben Lowe|Ben]].",
    3: "Ada does not eat fish.",
    4: "The Otter project moves to v2.1 at 14:30, for 2.5k users, from 27–29 October 2025.",
    5: "2025-11-20: 田中さんは東京に住む。",
    6: "Cleo paid 40% of the rent, twenty-five dollars, on the 3rd.",
    7: "2025-10-04: Dr. Ida Holm met iOS people from R2 Labs.",
    8: "Set `rope.length` by hand in boat.toml.",
    9: "2025-11-21: Mag das neue Büro in Kiel sehr.",
}


NAMES = ("Ada Voss", "Addie")


def wrong(text: str, *facts: int, given: Mapping[int, str] = FACTS, names: Sequence[str] = NAMES) -> str:
    """Why a sentence may not stand on a page; "" where it may."""
    try:
        checked(CitedSentence(text, facts), given, names)
    except ValueError as error:
        return str(error)
    return ""


# --- what stands in the facts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Ada prefers short replies on the ferry.", (1,)),
        ("Ada Voss's replies should be short, under 1500 chars.", (1,)),
        ("In November 2025 Ada prefers short replies.", (1,)),
        ("On 2025-12-03 she bought three lamps with Ben.", (2,)),
        ("Ada prefers short replies; three lamps were bought with Ben.", (1, 2)),
        ("The Otter project moves to v2.1 at 14:30, for 2.5k users.", (4,)),
        ("田中さんは東京に住む。", (5,)),
        ("They met Dr. Ida Holm with R2 Labs people of iOS.", (7,)),
        ("The rope.length was set by hand in boat.toml.", (8,)),
        ("Mag das neue Büro in Kiel sehr.", (9,)),
    ],
)
def test_a_sentence_that_stands_in_its_facts_is_accepted(text: str, facts: tuple[int, ...]) -> None:
    assert wrong(text, *facts) == ""


@pytest.mark.parametrize(
    ("text", "facts", "said"),
    [
        ("Bob prefers short replies on the ferry.", (1,), "the name “bob”"),
        ("Аda prefers short replies on the ferry.", (1,), "the name"),  # a Cyrillic А
        ("Mag das neue Büro in Köln sehr.", (9,), "the name “köln”"),
        ("Ada prefers 27 short replies on the ferry.", (1,), "the number 27"),  # a day is no number of replies
        ("Ada prefers short replies on ferry.example there.", (1,), "“ferry.example” is in none"),
        ("The Otter project moves at 14:31.", (4,), "the number 14:31"),
        ("Bought three lamps with Ben on 2025-12-04.", (2,), "the number 2025-12-04"),
        ("Bought three lamps with Ben in May.", (2,), "the name “may”"),
        ("She secretly wants to leave everything behind.", (1,), "too few of its words"),
        ("This page sums up what the notes say of Ada.", (1,), "too few of its words"),
    ],
)
def test_what_stands_in_no_fact_is_refused(text: str, facts: tuple[int, ...], said: str) -> None:
    assert said in wrong(text, *facts)


@pytest.mark.parametrize(
    ("facts", "said"), [((), "cites no fact"), ((99,), "no fact 99"), ((1, 0), "no fact 0"), ((-1,), "no fact -1")]
)
def test_a_sentence_cites_facts_that_it_was_given(facts: tuple[int, ...], said: str) -> None:
    assert said in wrong("Ada prefers short replies on the ferry.", *facts)


# --- properties ------------------------------------------------------------------------------------------------------

VOCABULARY = st.lists(
    st.sampled_from(["boathouse", "painted", "green", "mended", "oars", "ferry", "lamps", "Tarn", "Ben", "12", "700"]),
    min_size=4, max_size=9, unique=True,
)  # fmt: skip


@settings(max_examples=40)
@given(VOCABULARY, st.data())
def test_whatever_is_put_into_it_is_found(words: list[str], data: st.DataObject) -> None:
    invented = data.draw(st.sampled_from(["Zebulon", "Qu-7", "8431", "19 March", "2031-05-06"]))
    at = data.draw(st.integers(0, len(words)))
    text = f"Ada {' '.join([*words[:at], invented, *words[at:]])}."
    assert wrong(text, 1, given={1: f"Ada {' '.join(words)}."}, names=["Ada"])


@settings(max_examples=40)
@given(
    st.text(max_size=30),
    st.sampled_from("\n\r\t\0\x1b\u2028\u2029\u202e\u200b\ufeff\ud800`[]{}|\\*#^@"),
    st.text(max_size=30),
)
def test_no_sign_of_structure_passes(before: str, sign: str, after: str) -> None:
    text = f"Ada {before}{sign}{after} mended oars."
    assert wrong(text, 1, given={1: text}, names=["Ada"])


# --- form ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "plain text"),
        ("# Mended oars there.", "marks"),
        ("Mended oars\nthere with Ben.", "plain text"),
        ("Mended oars there %% hidden %%.", "marks"),
        ("Mended oars:: there they are.", "marks"),
        ("Mended [[oars]] there.", "marks"),
        ("Mended <b>oars</b> there.", "marks"),
        ("Mended oars <!-- there -->.", "marks"),
        ("Mended oars for <1500 or > 20 of it; $40.", ""),
    ],
)
def test_what_is_no_plain_sentence_is_refused(text: str, said: str) -> None:
    found = wrong(text, 1, given={1: f"Mended oars there, the oars. {text}"}, names=["Oars"])
    assert said in found if said else not found


# --- reading an answer -----------------------------------------------------------------------------------------------


def test_of_an_answer_the_good_sentences_are_taken_each_once() -> None:
    rows = [(" Ada prefers short replies. ", [1, 1]), ("Bob swims.", [1]), ("ADA prefers short replies.", [1])]
    reply = json.dumps({"sentences": [{"text": text, "facts": facts} for text, facts in rows], "more": 1})
    found = (
        (CitedSentence("Ada prefers short replies.", (1,)),),
        ["sentence 2: the name “bob” is in none of the facts it cites"],
    )
    assert read_answer(reply, FACTS, NAMES) == read_answer(f"```json\n{reply}\n```", FACTS, NAMES) == found
    many = json.dumps({"sentences": [{"text": f"Ada prefers short replies{'!' * n}", "facts": [1]} for n in range(9)]})
    assert len(read_answer(many, FACTS, NAMES)[0]) == MAX_SENTENCES


# --- asking ----------------------------------------------------------------------------------------------------------


def test_a_model_sees_the_first_facts_that_fit() -> None:
    given = number_facts(["語" * 900] * 40)
    assert list(given.items()) == [
        (n + 1, "語" * FACT_CHARACTERS) for n in range(FACTS_TOKENS // (FACT_CHARACTERS + 8))
    ]


def test_the_question_has_its_limits_and_the_last_mistakes() -> None:
    system, user = messages("Ada", FACTS, "", ["it cites no fact"])
    assert f"At most {MAX_SENTENCES} sentences" in system["content"] and '{"sentences": [' in system["content"]
    data = json.loads(user["content"])
    assert data["corrections"] == ["it cites no fact"] and len(data["facts"]) == len(FACTS)


@pytest.mark.parametrize(
    ("day", "occurred", "expected"),
    [
        (date(2025, 11, 27), None, "2025-11-27: Mended <oars>"),
        (date(2025, 11, 27), Span(date(2025, 11, 27), date(2025, 11, 27)), "2025-11-27: Mended <oars>"),
        (date(2025, 11, 27), Span(date(2025, 12, 1), date(2025, 12, 2)),
         "2025-11-27 (happened 2025-12-01/2025-12-02): Mended <oars>"),
        (None, Span(date(2025, 12, 1), date(2025, 12, 1)), "2025-12-01: Mended <oars>"),
        (None, None, "Mended <oars>"),
    ],
)  # fmt: skip
def test_a_fact_is_told_with_its_day(day: date | None, occurred: Span | None, expected: str) -> None:
    assert fact_line(Fact(1, "world", "Mended\n <oars>", "a.md", 1, day, occurred)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Met [[Ben Lowe|Ben]] and @Ida at [[Tarn]].", "Met Ben and Ida at Tarn."),
        (
            "Read **the** `oar_book.md`, [here](https://x.example/a) ==now== #todo",
            "Read the oar_book.md, here now todo",
        ),
        ("Wrote to a@x.example about HO-212 and C#.", "Wrote to a@x.example about HO-212 and C#."),
    ],
)
def test_a_fact_is_told_without_marks_that_a_model_would_copy(text: str, expected: str) -> None:
    assert fact_line(Fact(1, "world", text, "a.md", 1, None)) == expected
    assert (
        fact_line(Fact(1, "world", text, "a.md", 1, date(2025, 1, 2)), ("Ada", "Ben"))
        == f"2025-01-02: Ada, Ben: {expected}"
    )
