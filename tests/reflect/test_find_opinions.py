"""Which statements are one opinion, what bears on it, and how sure that makes; over made-up facts."""

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reflecting import page_context, stems

from vault_memory.errors import RemoteError
from vault_memory.reflect import opinion_page
from vault_memory.reflect.confidence import CONTRADICTS, RELATED, STEP_DOWN, STEP_DOWN_AGREED, SUPPORTS, UNRELATED
from vault_memory.reflect.fact import Fact
from vault_memory.reflect.fact_lines import PageContext
from vault_memory.reflect.generated_blocks import fact_name
from vault_memory.reflect.opinions import (
    MAX_RELATED,
    ConfidenceByHand,
    HeldOpinion,
    OpinionInputs,
    find_opinions,
    relation,
    verdict,
    verdict_key,
)

CONCISE = "Prefers concise replies on WhatsApp; long content goes into files."
EARLY, NOT_EARLY = "Likes early meetings.", "Anna does not like early meetings any more."
EARLY_TOO = "Anna likes early meetings!"
EARLY_NEAR = "Asked for early meetings in Bergen."
TEA = "Prefers tea to coffee."
OPPOSED = [("Mag das neue Büro.", "Hasst das neue Büro."), ("Gillar det nya kontoret.", "Hatar det nya kontoret.")]
NAMES = {"anna": ("Anna", "Anna Berg"), "ben": ("Ben",)}


def fact(text: str, day: int | None = 1, *about: str, kind: str = "world", **more: object) -> Fact:
    on = date(2025, 11, 1) + timedelta(day - 1) if day else None
    path = f"memory/{on}.md" if on else "Notes.md"
    values = {"key": hash_of(text, day), "path": path, "line": 3, "day": on, "about": about, "subjects": about, **more}
    return Fact(kind=kind, text=text, **values)  # type: ignore[arg-type]


def hash_of(text: str, day: int | None) -> int:
    return random.Random(f"{text}{day}").getrandbits(63)


def opinion(text: str, day: int | None = 1, *about: str, c: float | None = 0.7, **more: object) -> Fact:
    return fact(text, day, *(about or ("anna",)), kind="opinion", confidence=c, **more)


def inputs(by_hand: Mapping[str, ConfidenceByHand] | None = None, **more: Any) -> OpinionInputs:
    return OpinionInputs(lambda slug: NAMES.get(slug, (slug,)), stems, by_hand=by_hand or {}, **more)


def only(*facts: Fact, by_hand: Mapping[str, ConfidenceByHand] | None = None) -> HeldOpinion:
    found = find_opinions(facts, inputs(by_hand))
    assert len(found) == 1, [one.statement.text for one in found]
    return found[0]


def texts(facts: Sequence[Fact]) -> list[str]:
    return [one.text for one in facts]


def context(found: Sequence[HeldOpinion]) -> PageContext:
    return page_context((one.statement for one in found), count=lambda text: len(text.split()))


# --- which statements are one ----------------------------------------------------------------------------------------


def test_the_same_words_are_one_opinion_told_twice() -> None:
    one = only(opinion(EARLY, 1), opinion("Likes early meetings", 4))
    assert [told.day.day for told in one.statements if told.day] == [1, 4]
    assert one.statement.day == date(2025, 11, 4)
    assert one.updated == date(2025, 11, 4)


def test_what_is_cited_for_it_is_no_other_opinion() -> None:
    assert len(only(opinion(EARLY, 1), opinion(f"{EARLY} Evidence: [[2025-11-01]] L3.", 4)).statements) == 2


@pytest.mark.parametrize("other", ["ben", "anna ben", ""])
def test_the_same_words_of_others_are_another_opinion(other: str) -> None:
    found = find_opinions([opinion(EARLY, 1, "anna"), fact(EARLY, 2, *other.split(), kind="opinion")], inputs())
    assert len(found) == 2


def test_the_opposite_is_another_opinion_and_speaks_against_it() -> None:
    found = {one.statement.text: one for one in find_opinions([opinion(EARLY, 1), opinion(NOT_EARLY, 3)], inputs())}
    assert len(found) == 2
    assert texts(found[EARLY].contradicts) == [NOT_EARLY]
    assert found[EARLY].confidence.value < 0.7


@settings(max_examples=20)
@given(st.permutations(range(8)), st.randoms())
def test_the_order_of_notes_plays_no_part(order: list[int], dice: random.Random) -> None:
    facts = [
        opinion(EARLY, 1), opinion(EARLY, 9, c=0.9), opinion(CONCISE, 2), fact(EARLY_TOO, 3, "anna"),
        fact(NOT_EARLY, 4, "anna"), fact(EARLY_NEAR, 4, "anna"), opinion(EARLY, 5, "ben"), fact(EARLY_NEAR, 6, "ben"),
    ]  # fmt: skip
    assert find_opinions([facts[place] for place in order], inputs()) == find_opinions(facts, inputs())


# --- what one statement says of another: nothing but what is certain, in whatever language ----------------------------


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ("Mag das neue Büro.", "Hasst das neue Büro.", UNRELATED),
        ("Aime le nouveau bureau.", "Déteste le nouveau bureau.", UNRELATED),
        ("Gillar det nya kontoret.", "Hatar det nya kontoret.", UNRELATED),
        ("Likes the new office.", "Doesn't like the new office.", CONTRADICTS),
        ("Likes the new office.", "Does not like the new office any more.", CONTRADICTS),
        ("Anna likes early meetings.", "No longer likes early meetings.", CONTRADICTS),
        ("Mag das neue Büro.", "Mag das neue Büro nicht mehr.", CONTRADICTS),
        ("Aime le nouveau bureau.", "N'aime pas le nouveau bureau.", CONTRADICTS),
        ("Does not like it.", "DOES NOT LIKE IT.", SUPPORTS),
        ("Prefers tea.", "[[Anna]] prefers **tea**", SUPPORTS),
        ("Prefers tea. Evidence: [[2025-11-01]] L3.", "Prefers tea.", SUPPORTS),
        ("Works with music.", "Works without music.", UNRELATED),
        ("Lives in Bergen.", "Moved to Oslo.", CONTRADICTS),
        ("Lives in Bergen.", "Lives in Bergen now.", SUPPORTS),
        ("…", "!", UNRELATED),
    ],
)
def test_what_one_statement_says_of_another(one: str, other: str, said: str) -> None:
    assert relation(one, other, ["Anna"]) == relation(other, one, ["Anna"]) == said


# --- what bears on it, and how far -----------------------------------------------------------------------------------


def test_the_nearest_facts_are_related() -> None:
    near = [fact(f"Anna asked for early meetings again, number {n}.", 2 + n % 20, "anna") for n in range(30)]
    one = only(opinion(EARLY), *near, fact("Anna likes rye.", 4, "anna"), fact("Swims.", 5, "anna"))
    assert len(one.related) == MAX_RELATED
    assert set(texts(one.related)) <= set(texts(near))


def test_facts_about_others_do_not_bear_on_it() -> None:
    one = only(opinion(EARLY), fact("Ben does not like early meetings.", 3, "ben"), fact(NOT_EARLY, 4))
    assert (one.supports, one.contradicts, one.related) == ((), (), ())
    assert one.confidence.value == 0.7


def test_a_contradiction_on_one_day_and_on_two() -> None:
    once = only(opinion(EARLY), fact(NOT_EARLY, 3, "anna")).confidence.value
    same_day = only(
        opinion(EARLY), fact(NOT_EARLY, 3, "anna"), fact("Anna never likes early meetings.", 3, "anna")
    ).confidence.value
    twice = only(
        opinion(EARLY), fact(NOT_EARLY, 3, "anna"), fact("Anna never likes early meetings.", 8, "anna")
    ).confidence.value
    assert 0.7 > once >= 0.7 - STEP_DOWN
    assert once > same_day > twice >= once - STEP_DOWN_AGREED


@pytest.mark.parametrize(
    ("c", "way"), [(0.1, "related"), (0.49, "related"), (0.5, "contradicts"), (None, "contradicts")]
)
def test_a_doubt_bears_neither_way(c: float | None, way: str) -> None:
    right, wrong = opinion("Felt is right for the roof.", 1), opinion("Felt is not right for the roof.", 3, c=c)
    one = next(one for one in find_opinions([right, wrong], inputs()) if one.statement == right)
    assert texts(getattr(one, way)) == [wrong.text]
    assert (one.confidence.value == 0.7) == (way == "related")


# --- what is cited, and known before ----------------------------------------------------------------------------------


LISTED = f"{CONCISE} Evidence: [[2025-11-05]], [[2025-11-09]]."


def mine(text: str) -> Fact:
    return opinion(text, None, c=0.9, path="bank/opinions.md")


def test_the_days_that_are_cited_are_for_it_and_are_in_its_number_already() -> None:
    message = fact("The plan of the house went to Anna in files.", 9, "anna")
    one = only(mine(LISTED), fact("Anna's replies are in files.", 5, "anna"), message, fact("Anna swims.", 9, "anna"))
    assert texts(one.supports) == ["Anna's replies are in files.", message.text]
    assert one.confidence.value == 0.9
    assert one.confidence.history == ()
    assert one.updated == date(2025, 11, 9)
    assert texts(only(mine(LISTED), message).supports) == [message.text]


def test_a_block_id_cites_that_very_fact() -> None:
    cited = fact("Left at once.", 9, "anna", block_id="left")
    one = only(mine(f"{CONCISE} Evidence: [[2025-11-09#^left]]."), cited, fact("Long replies tire her.", 9, "anna"))
    assert texts(one.supports) == [cited.text]


@pytest.mark.parametrize(("day", "moves"), [(2, False), (5, False), (6, True)])
def test_what_was_known_when_a_number_was_given_does_not_move_it(day: int, moves: bool) -> None:
    one = only(opinion(EARLY, 5), fact(NOT_EARLY, day, "anna"))
    assert texts(one.contradicts) == [NOT_EARLY]
    assert (one.confidence.value < 0.7) is moves


# --- what counts once -------------------------------------------------------------------------------------------------

EARLIEST = "Anna likes early meetings."


def again(one: Fact, day: int, **more: object) -> Fact:
    """The same words on another day: the key is of the words alone."""
    return fact(one.text, day, *one.about, kind=one.kind, confidence=one.confidence, **{"key": one.key, **more})


def test_what_was_known_and_is_told_again_in_the_same_words_is_not_news() -> None:
    known_then = fact(EARLIEST, 2, "anna")
    told = [opinion(EARLY, 5), known_then]
    assert only(*told, again(known_then, 9)).confidence == only(*told).confidence
    assert texts(only(*told, again(known_then, 9)).supports) == [EARLIEST] * 2


def test_a_page_tells_the_same_words_once_by_the_newest_line() -> None:
    first = fact(EARLIEST, 2, "anna")
    found = find_opinions([opinion(EARLY, 1), first, again(first, 4), again(first, 9, line=8)], inputs())
    lines = [line.text for line in opinion_page.page(found, context(found)) if line.text.startswith("  - for")]
    assert lines == [f"  - for: {EARLIEST.rstrip('.')} — [[2025-11-09]] L8"]


# --- one opinion for another ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("day", "is_newer"), [(2, False), (5, False), (6, True)])
def test_only_a_newer_opinion_bears_another_out_and_no_further_than_it_is_held(day: int, is_newer: bool) -> None:
    both = opinion(EARLY, day, "anna", "ben", c=0.62, key=5)
    one = next(one for one in find_opinions([opinion(EARLY, 5, c=0.6), both], inputs()) if one.subjects == ("anna",))
    assert texts(one.supports if is_newer else one.related) == [EARLY]
    assert (0.6 < one.confidence.value <= 0.62) is is_newer


# --- what a person says counts more ----------------------------------------------------------------------------------


def test_the_number_in_the_bank_is_the_prior_wherever_it_stands_in_time() -> None:
    mine = opinion(EARLY, None, c=0.3, path="bank/opinions.md")
    one = only(opinion(EARLY, 1, c=0.9), mine)
    assert one.confidence.prior == 0.3


def test_a_number_given_by_hand_is_moved_by_newer_facts_only() -> None:
    facts = [opinion(EARLY, 1, c=0.9), fact(NOT_EARLY, 4, "anna"), opinion(EARLY, 6, c=0.8)]
    by_hand = {fact_name(facts[0].key): ConfidenceByHand(0.4, date(2025, 11, 6))}
    one = only(*facts, by_hand=by_hand)
    assert (one.confidence.prior, one.confidence.value) == (0.4, 0.4)
    assert texts(one.contradicts) == [NOT_EARLY]
    later = only(*facts, fact("Anna never likes early meetings.", 7, "anna"), by_hand=by_hand)
    assert later.confidence.prior == 0.4
    assert 0.4 - STEP_DOWN <= later.confidence.value < 0.4
    undated = only(*facts, fact("Never likes early meetings.", None, "anna"), by_hand=by_hand)
    assert undated.confidence.value == 0.4


# --- whose opinions ---------------------------------------------------------------------------------------------------


def test_opinions_of_no_entity_are_held_against_facts_of_none() -> None:
    one = only(
        fact("Coffee in the evening keeps me awake.", 1, kind="opinion", confidence=0.6),
        fact("Coffee in the evening keeps me awake!", 3, kind="experience"),
        fact("Coffee in the evening keeps me awake!", 4, "ben", kind="experience"),
    )
    assert len(one.supports) == 1
    assert one.confidence.value > 0.6
    assert one.subjects == ()


def test_a_statement_whose_place_another_took_is_still_held_and_less_sure() -> None:
    new = opinion(TEA, 5, c=0.9)
    found = find_opinions([opinion(EARLY, 1)._replace(succeeded_by=new.key), new], inputs())
    sure = {one.statement.text: one.confidence.rounded for one in found}
    assert sure[EARLY] < 0.7 < sure[TEA]


# --- limits -----------------------------------------------------------------------------------------------------------


def many(number: int, days: int = 1) -> list[Fact]:
    dice = random.Random(5)
    letters = "bdfgklmnprstvz"
    made = ["".join(dice.choices(letters, k=7)) for _ in range(number * 3)]
    return [
        opinion(f"Thinks {a} {b} {c}.", 1 + n % days) for n, (a, b, c) in enumerate(zip(*[iter(made)] * 3, strict=True))
    ]


def test_a_page_of_few_tokens_tells_of_the_surest_and_counts_the_rest() -> None:
    facts = [one._replace(confidence=0.3 + n / 100) for n, one in enumerate(many(30))]
    facts.append(opinion("Thinks that the surest of all stands with another.", 1, "zoe", c=0.95))
    found = find_opinions(facts, inputs())
    lines = [line.text for line in opinion_page.page(found, context(found), tokens=120)]
    kept = [line for line in lines if line.startswith("- **")]
    assert 3 < len(kept) < 20
    assert lines[-1] == f"…and {31 - len(kept)} more: see `memory opinions`."
    assert any("surest of all" in line for line in kept)
    sure = sorted((one.confidence.rounded for one in found), reverse=True)
    assert sorted((float(line[4:7]) for line in kept), reverse=True) == sure[: len(kept)]


def test_an_opinion_that_moved_shows_its_course() -> None:
    told = find_opinions([opinion(EARLY, 1, c=0.8), fact(NOT_EARLY, 3, "anna"), opinion("Wants tea.", 1)], inputs())
    lines = [line.text for line in opinion_page.page(told, context(told)) if line.text.startswith("  - ")]
    assert [re.sub(r" — .*", "", line) for line in lines] == [
        "  - ▇▆ falling from .80, last on 3 November 2025",
        "  - against: Anna does not like early meetings any more",
    ]


# --- what a model says ------------------------------------------------------------------------------------------------


def says(said: str) -> Callable[..., str]:
    return lambda messages, form: answer(said, "Büro")


@pytest.mark.parametrize(
    ("said", "way"), [("supports", "supports"), ("contradicts", "contradicts"), ("neither", "related")]
)
def test_what_a_model_says_of_a_related_fact_counts_and_is_kept(said: str, way: str) -> None:
    facts = [opinion(OPPOSED[0][0]), fact(OPPOSED[0][1], 4, "anna"), fact("Wohnt in Lund.", 5, "anna")]
    first = inputs(ask=says(said))
    (one,) = find_opinions(facts, first)
    assert texts(getattr(one, way)) == [facts[1].text]
    assert [key for _, key in first.verdicts] == [facts[1].key]
    again = inputs(known=first.verdicts)
    assert find_opinions(facts, again) == (one,)
    assert again.verdicts == first.verdicts


def test_where_the_model_is_away_all_is_as_without_one() -> None:
    def away(messages: object, form: object) -> str:
        raise RemoteError("away")

    facts = [opinion(OPPOSED[0][0]), fact(OPPOSED[0][1], 4, "anna")]
    asked = inputs(ask=away)
    assert find_opinions(facts, asked) == find_opinions(facts, inputs())
    assert asked.verdicts == {}


STATED, NEWER = "Mag das neue Büro. Evidence: [[2025-10-29]]", "Hasst das neue Büro; zieht bald um."


class Chat:
    """Says what it is told to, and keeps what it was asked."""

    def __init__(self, answer: str) -> None:
        self.answer, self.asked = answer, list[list[dict[str, str]]]()

    def __call__(self, messages: list[dict[str, str]], form: Mapping[str, Any]) -> str:
        self.asked.append(messages)
        return self.answer


def answer(said: object, quote: object) -> str:
    return f"Sure: {json.dumps({'relation': said, 'quote': quote})}"


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (answer("contradicts", "hasst das  neue Büro"), CONTRADICTS),
        (answer("supports", "zieht bald um"), SUPPORTS),
        (answer("neither", "zieht bald um"), RELATED),
        (answer("supports", "mag das neue Büro"), RELATED),
        (answer("supports", ""), RELATED),
        (answer("certainly", "Hasst"), RELATED),
        ('{"relation": "supports"}', RELATED),
        ("{" * 5000 + "}", RELATED),
    ],
)
def test_a_verdict_counts_only_with_words_of_the_fact(said: str, found: str) -> None:
    chat = Chat(said)
    assert verdict(chat, STATED, NEWER) == found
    assert json.loads(chat.asked[0][1]["content"]) == {"opinion": "Mag das neue Büro.", "fact": NEWER}


def test_a_verdict_is_kept_by_the_words_and_the_names() -> None:
    keys = {verdict_key(STATED, ["Anna"]), verdict_key("Mag das neue Büro.", ["Anna"]), verdict_key(NEWER, ["Anna"])}
    assert len(keys | {verdict_key(STATED, ["Ben"])}) == 3
