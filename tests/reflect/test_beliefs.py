"""beliefs.py: which statements are one opinion, what bears on it, and how sure that makes; over made-up facts."""

import random
import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_memory.reflect import bearing, beliefs, opinion_page
from vault_memory.reflect.bearing import Given, Vault
from vault_memory.reflect.beliefs import Held, Opinion, held
from vault_memory.reflect.blocks import short
from vault_memory.reflect.cite import Citations
from vault_memory.reflect.confidence import STEP_DOWN, STEP_DOWN_AGREED, STEP_UP
from vault_memory.reflect.model import Fact
from vault_memory.reflect.sections import Context
from vault_memory.text.languages import STOP_WORDS

CONCISE = "Prefers concise replies on WhatsApp; long content goes into files."
SHORTER = "Anna asked for a shorter reply on WhatsApp; the long one went into a file."
EARLY, NOT_EARLY = "Likes early meetings.", "Anna does not like early meetings any more."
EARLY_AGAIN = "Anna asked for an early meeting again, half past seven."
NAMES = {"anna": ("Anna", "Anna Berg"), "ben": ("Ben",)}


def stems(text: str) -> list[str]:
    return [word.rstrip("s") for word in re.findall(r"\w+", text.casefold()) if word not in STOP_WORDS]


def fact(text: str, day: int | None = 1, *about: str, kind: str = "world", **more: object) -> Fact:
    on = date(2025, 11, 1) + timedelta(day - 1) if day else None
    path = f"memory/{on}.md" if on else "Notes.md"
    values = {"key": hash_of(text, day), "path": path, "line": 3, "day": on, "about": about, "subjects": about, **more}
    return Fact(kind=kind, text=text, **values)  # type: ignore[arg-type]


def hash_of(text: str, day: int | None) -> int:
    return random.Random(f"{text}{day}").getrandbits(63)


def opinion(text: str, day: int | None = 1, *about: str, c: float | None = 0.7, **more: object) -> Fact:
    return fact(text, day, *(about or ("anna",)), kind="opinion", confidence=c, **more)


def vault(given: Mapping[str, Given] | None = None, known: Mapping[tuple[int, int], int] | None = None) -> Vault:
    return Vault(lambda slug: NAMES.get(slug, (slug,)), stems, known or {}, given or {})


def only(*facts: Fact, given: Mapping[str, Given] | None = None) -> Opinion:
    found = held(facts, vault(given)).opinions
    assert len(found) == 1, [one.statement.text for one in found]
    return found[0]


def texts(facts: Sequence[Fact]) -> list[str]:
    return [one.text for one in facts]


# --- which statements are one ----------------------------------------------------------------------------------------


def test_the_same_words_are_one_opinion_told_twice() -> None:
    one = only(opinion(EARLY, 1), opinion("Likes early meetings", 4))
    assert [told.day.day for told in one.told if told.day] == [1, 4]
    assert one.statement.day == date(2025, 11, 4)
    assert one.updated == date(2025, 11, 4)


def test_what_is_cited_for_it_is_no_other_opinion() -> None:
    assert len(only(opinion(EARLY, 1), opinion(f"{EARLY} Evidence: [[2025-11-01]] L3.", 4)).told) == 2


def test_statements_that_bear_each_other_out_are_one_opinion() -> None:
    one = only(opinion(CONCISE, 1), opinion("Prefers concise replies on WhatsApp and long content in files.", 5))
    assert len(one.told) == 2


@pytest.mark.parametrize("other", ["ben", "anna ben", ""])
def test_the_same_words_of_others_are_another_opinion(other: str) -> None:
    found = held([opinion(EARLY, 1, "anna"), fact(EARLY, 2, *other.split(), kind="opinion")], vault()).opinions
    assert len(found) == 2


def test_the_opposite_is_another_opinion_and_speaks_against_it() -> None:
    found = {one.statement.text: one for one in held([opinion(EARLY, 1), opinion(NOT_EARLY, 3)], vault()).opinions}
    assert len(found) == 2
    assert texts(found[EARLY].contradicts) == [NOT_EARLY]
    assert found[EARLY].belief.value < 0.7


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(8)), st.randoms())
def test_the_order_of_notes_plays_no_part(order: list[int], dice: random.Random) -> None:
    facts = [
        opinion(EARLY, 1), opinion(EARLY, 9, c=0.9), opinion(CONCISE, 2), fact(SHORTER, 3, "anna"),
        fact(NOT_EARLY, 4, "anna"), fact(EARLY_AGAIN, 4, "anna"), opinion(EARLY, 5, "ben"), fact(EARLY_AGAIN, 6, "ben"),
    ]  # fmt: skip
    assert held([facts[place] for place in order], vault()).opinions == held(facts, vault()).opinions


# --- what bears on it, and how far -----------------------------------------------------------------------------------


def test_a_fact_that_bears_it_out_raises_it_and_taking_it_away_takes_that_back() -> None:
    alone = only(opinion(CONCISE))
    more = only(opinion(CONCISE), fact(SHORTER, 4, "anna"))
    assert texts(more.supports) == [SHORTER]
    assert 0 < more.belief.value - alone.belief.value <= STEP_UP
    assert more.updated == date(2025, 11, 4)
    assert only(opinion(CONCISE)) == alone


def test_facts_about_others_do_not_bear_on_it() -> None:
    one = only(opinion(EARLY), fact("Ben does not like early meetings.", 3, "ben"), fact(NOT_EARLY, 4))
    assert (one.supports, one.contradicts, one.related) == ((), (), ())
    assert one.belief.value == 0.7


def test_a_contradiction_on_one_day_and_on_two() -> None:
    once = only(opinion(EARLY), fact(NOT_EARLY, 3, "anna")).belief.value
    same_day = only(
        opinion(EARLY), fact(NOT_EARLY, 3, "anna"), fact("Anna dislikes early meetings.", 3, "anna")
    ).belief.value
    twice = only(
        opinion(EARLY), fact(NOT_EARLY, 3, "anna"), fact("Anna dislikes early meetings.", 8, "anna")
    ).belief.value
    assert 0.7 > once >= 0.7 - STEP_DOWN
    assert once > same_day > twice >= once - STEP_DOWN_AGREED


def test_a_restatement_with_another_confidence_draws_it_there() -> None:
    lower, higher = (only(opinion(EARLY, 1, c=0.7), opinion(EARLY, 5, c=c)).belief.value for c in (0.2, 0.95))
    assert 0.7 - STEP_DOWN <= lower < 0.7 < higher <= 0.7 + STEP_UP


def test_an_opinion_told_again_without_a_number_stays_as_sure() -> None:
    assert only(opinion(EARLY, 1, c=0.9), opinion(EARLY, 5, c=None)).belief.value == 0.9


def test_the_numbers_it_was_stated_with_are_told() -> None:
    said = [opinion(EARLY, day, c=c) for day, c in ((1, 0.6), (2, 0.6), (3, 0.85), (5, None), (70, 0.95))]
    one = only(*said)
    assert [number for _, number in one.stated] == [0.6, 0.85, 0.95]
    context = Context(Citations(set()), str.title, lambda _: False, stems, lambda _: 0.5, len)
    lines = [line.text for line in opinion_page.entry(one, context)]
    assert "  - stated .60 on 1 November, .85 on 3 November 2025, .95 on 9 January 2026" in lines
    assert not [line for line in opinion_page.entry(only(said[0]), context) if "stated" in line.text]


@pytest.mark.parametrize(
    ("c", "way"), [(0.1, "related"), (0.49, "related"), (0.5, "contradicts"), (None, "contradicts")]
)
def test_a_doubt_bears_neither_way(c: float | None, way: str) -> None:
    right, wrong = opinion("Felt was right for the roof.", 1), opinion("Felt was wrong for the roof.", 3, c=c)
    one = next(one for one in held([right, wrong], vault()).opinions if one.statement == right)
    assert texts(getattr(one, way)) == [wrong.text]
    assert (one.belief.value == 0.7) == (way == "related")


def test_an_opinion_without_a_number_has_the_default() -> None:
    assert only(opinion(EARLY, c=None)).prior == 0.7


def test_a_statement_without_a_day_is_no_newer_than_one_with_a_day() -> None:
    one = only(opinion(EARLY, None, c=0.5), opinion(EARLY, 4, c=0.6))
    assert one.statement.day == date(2025, 11, 4)


# --- what is taken back, cited, and known before ----------------------------------------------------------------------

COFFEE = "I do not tolerate coffee any more; it gives me heartburn."
WRONG = "Coffee is fine for me; what I wrote on 3 November was wrong."


def nobodys(text: str, day: int | None, c: float = 0.7, **more: object) -> Fact:
    return fact(text, day, kind="opinion", confidence=c, **more)


def by_text(*facts: Fact) -> dict[str, Opinion]:
    return {one.statement.text: one for one in held(facts, vault()).opinions}


def test_who_takes_back_what_was_told_on_a_day_speaks_against_it() -> None:
    found = by_text(nobodys(COFFEE, 3), nobodys(WRONG, 17))
    assert texts(found[COFFEE].contradicts) == [WRONG]
    assert found[COFFEE].taken_back == {hash_of(WRONG, 17)}
    assert 0.7 - STEP_DOWN <= found[COFFEE].belief.value < 0.7
    assert found[WRONG].belief.value == 0.7
    assert by_text(nobodys(COFFEE, 3))[COFFEE].belief.value == 0.7


@pytest.mark.parametrize(
    "other",
    [
        nobodys(WRONG.replace("3 Nov", "2 Nov"), 17),
        nobodys(WRONG.replace("Coffee is fine", "The boat is dry"), 17),
        nobodys(WRONG, 2),
        opinion(WRONG, 17),
    ],
    ids=["another day", "another thing", "before", "of somebody"],
)
def test_what_was_told_on_another_day_or_of_another_thing_is_not_taken_back(other: Fact) -> None:
    assert by_text(nobodys(COFFEE, 3), other)[COFFEE].contradicts == ()


def test_a_name_is_no_thing_that_both_speak_of() -> None:
    stands = opinion("Anna is right for the choir.", 3)
    assert by_text(stands, opinion("Anna swims; I was wrong on 3 November.", 17))[stands.text].contradicts == ()


def test_words_that_are_taken_back_and_said_again_are_two_opinions() -> None:
    again = nobodys("Coffee gives me heartburn and I do not tolerate it; I thought otherwise on 3 November.", 17)
    assert set(by_text(nobodys(COFFEE, 3), again)) == {COFFEE, again.text}


SKIPS = "Skips messages that need scrolling."
LISTED = f"{CONCISE} Evidence: [[2025-11-05]], [[2025-11-09]]."


def mine(text: str) -> Fact:
    return opinion(text, None, c=0.9, path="bank/opinions.md")


def test_the_days_that_are_cited_are_for_it_and_are_in_its_number_already() -> None:
    message = fact("The plan of the house went to Anna in files.", 9, "anna")
    one = only(mine(LISTED), fact("Anna's replies are in files.", 5, "anna"), message, fact("Anna swims.", 9, "anna"))
    assert texts(one.supports) == ["Anna's replies are in files.", message.text]
    assert one.belief.value == 0.9
    assert one.belief.history == ()
    assert one.updated == date(2025, 11, 9)
    assert texts(only(mine(LISTED), message).supports) == [message.text]


def test_what_contradicts_it_on_a_day_that_is_cited_does() -> None:
    against = fact("Anna does not prefer concise replies on WhatsApp.", 9, "anna")
    assert texts(only(mine(LISTED), against).contradicts) == [against.text]


def test_a_fact_after_the_newest_day_that_is_cited_moves_it() -> None:
    assert only(mine(LISTED), fact(SHORTER, 8, "anna")).belief.value == 0.9
    assert only(mine(LISTED), fact(SHORTER, 10, "anna")).belief.value > 0.9


@pytest.mark.parametrize(("day", "moves"), [(2, False), (5, False), (6, True)])
def test_what_was_known_when_a_number_was_given_does_not_move_it(day: int, moves: bool) -> None:
    one = only(opinion(EARLY, 5), fact(NOT_EARLY, day, "anna"))
    assert texts(one.contradicts) == [NOT_EARLY]
    assert (one.belief.value < 0.7) is moves


def test_each_wording_of_it_is_held_against_the_facts() -> None:
    """The newest wording speaks of replies only, the one before of messages."""
    one = only(
        opinion("Prefers concise messages and concise replies.", 1),
        opinion("Prefers concise replies and concise messages on WhatsApp.", 3),
        fact("Anna likes concise messages.", 8, "anna"),
    )
    assert len(one.told) == 2
    assert len(one.supports) == 1


def test_an_opinion_that_this_one_contradicts_contradicts_it() -> None:
    whole = opinion("Likes to have the whole reasoning in the message itself, however long.", 1, c=0.6)
    short_ = opinion("Wants short messages on WhatsApp and everything long in a file.", 5, c=0.9)
    found = by_text(whole, short_)
    assert texts(found[whole.text].contradicts) == [short_.text]
    assert texts(found[short_.text].contradicts) == [whole.text]
    assert found[whole.text].belief.value < 0.6
    assert found[short_.text].belief.value == 0.9


def test_who_is_no_longer_sure_speaks_against_it() -> None:
    sure = opinion("The cellar is the right place for the wine.", 1, c=0.8)
    doubt = opinion("Not sure any more that the cellar is the right place for the wine.", 9, c=0.5)
    found = by_text(sure, doubt)
    assert texts(found[sure.text].contradicts) == [doubt.text]
    assert found[sure.text].belief.trend == "falling"


MICE = "The mice in the larder may come through the drain of the cellar (hypothesis 2)."


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("The grating held all week; the pipes (hypothesis 2) are ruled out.", "contradicts"),
        ("It is proved: the mice in the larder come through the drain of the cellar.", "supports"),
    ],
)
def test_what_settles_a_supposition_moves_it(text: str, way: str) -> None:
    one = by_text(opinion(MICE, 1, c=0.5), fact(text, 5, "anna"))[MICE]
    assert texts(getattr(one, way)) == [text]
    assert (one.belief.value > 0.5) is (way == "supports")
    assert one.belief.value != 0.5


# --- what counts once -------------------------------------------------------------------------------------------------

EARLIEST = "Anna likes the early meetings in Bergen."


def again(one: Fact, day: int, **more: object) -> Fact:
    """The same words on another day: the key is of the words alone."""
    return fact(one.text, day, *one.about, kind=one.kind, confidence=one.confidence, **{"key": one.key, **more})


def test_what_was_known_and_is_told_again_in_the_same_words_is_not_news() -> None:
    known_then = fact(EARLIEST, 2, "anna")
    told = [opinion(EARLY, 5), known_then]
    assert only(*told, again(known_then, 9)).belief == only(*told).belief
    assert texts(only(*told, again(known_then, 9)).supports) == [EARLIEST] * 2


def test_a_line_on_another_matter_changes_nothing_of_it() -> None:
    first = fact(EARLIEST, 2, "anna")
    told = [opinion(EARLY, 1, c=0.5), first, fact(NOT_EARLY, 4, "anna"), again(first, 20)]
    other = opinion("What I wrote on 3 May 2024 about the harbour was wrong.", 25)
    assert by_text(*told, other)[EARLY] == by_text(*told)[EARLY]


@pytest.mark.parametrize("wording", ["* {}", "@[[Anna]] {}"], ids=["bullet", "link"])
def test_evidence_counts_once_however_its_bullet_is_written(wording: str) -> None:
    first = fact(EARLIEST, 2, "anna")
    other = again(first, 4, key=hash_of(wording.format(EARLIEST), 4))
    told = [opinion(EARLY, 1, c=0.5), first]
    assert only(*told, other).belief == only(*told).belief


def test_the_same_words_of_another_are_other_evidence() -> None:
    both = opinion(EARLY, 1, "anna", "ben", c=0.5)
    one, other = (fact("Likes the early meetings in Bergen.", 2, slug) for slug in ("anna", "ben"))
    assert only(both, one, other._replace(key=other.key + 1)).belief.value > only(both, one).belief.value


def test_the_same_words_on_two_days_take_back_what_each_of_them_means() -> None:
    wrong = nobodys("Coffee is fine for me; what I wrote yesterday was wrong.", 4, key=7)
    told = [nobodys(COFFEE, 3), wrong, nobodys("Coffee in the evening keeps me awake.", 9), again(wrong, 10)]
    found = by_text(*told)
    assert [one.day for one in found[COFFEE].contradicts] == [date(2025, 11, 4)]
    assert date(2025, 11, 10) in [one.day for one in found[told[2].text].contradicts]


def test_a_page_tells_the_same_words_once_by_the_newest_line() -> None:
    first = fact(EARLIEST, 2, "anna")
    found = held([opinion(EARLY, 1), first, again(first, 4), again(first, 9, line=8)], vault())
    lines = [line.text for line in opinion_page.page(found, context(found)) if line.text.startswith("  - for")]
    assert lines == [f"  - for: {EARLIEST.rstrip('.')} — [[2025-11-09]] L8"]


# --- one opinion for another ------------------------------------------------------------------------------------------

ROOF = "Felt was right for the roof."
ALL_OVER = "Felt was right for the roof, the walls of the shed, the porch and the boat house down at the pier."


@pytest.mark.parametrize(("day", "is_newer"), [(2, False), (5, False), (6, True)])
def test_of_two_opinions_that_say_nearly_the_same_only_the_newer_bears_the_other_out(day: int, is_newer: bool) -> None:
    one = by_text(opinion(ROOF, 5, c=0.6), opinion(ALL_OVER, day, c=0.9))[ROOF]
    assert texts(one.supports if is_newer else one.related) == [ALL_OVER]
    assert (0.6 < one.belief.value <= 0.7) is is_newer


def test_an_opinion_bears_another_out_no_further_than_it_is_held_itself() -> None:
    for c in (0.6, 0.9):
        found = by_text(opinion(ROOF, 1, c=0.9), opinion(ALL_OVER, 5, c=c))
        assert texts(found[ROOF].supports) == [ALL_OVER]
        assert found[ROOF].belief.value == 0.9
    assert by_text(opinion(ROOF, 1, c=0.9), fact(ALL_OVER, 5, "anna"))[ROOF].belief.value > 0.9


# --- what one more statement does -------------------------------------------------------------------------------------

numbers = st.sampled_from([n / 20 for n in range(1, 20)])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(2, 40), numbers), max_size=6), st.tuples(st.integers(2, 60), numbers), numbers)
def test_stated_once_more_it_moves_by_one_step_at_most(
    said: list[tuple[int, float]], more: tuple[int, float], c: float
) -> None:
    """Wherever in time behind the first: that one's number is what it begins with."""
    told = [opinion(EARLY, 1, c=c), *(opinion(EARLY, day, c=number) for day, number in said)]
    change = only(*told, opinion(EARLY, more[0], c=more[1])).belief.value - only(*told).belief.value
    assert -STEP_DOWN - 1e-9 <= change <= STEP_DOWN + 1e-9


def test_stated_surer_and_surer_it_rises() -> None:
    one = only(*(opinion(EARLY, day, c=c) for day, c in ((1, 0.3), (3, 0.5), (5, 0.7), (9, 0.9))))
    assert (one.belief.shown, one.belief.trend) == (0.6, "rising")


def test_a_line_without_a_day_is_stated_on_no_day() -> None:
    one = only(mine(f"{CONCISE} Evidence: [[2025-11-05]]."), opinion(CONCISE, 5, c=0.7), opinion(CONCISE, 8, c=0.8))
    assert one.stated == ((date(2025, 11, 5), 0.7), (date(2025, 11, 8), 0.8))


def test_of_two_numbers_of_one_day_the_last_is_told() -> None:
    said = [opinion(EARLY, 3, c=0.5, line=4, key=4), opinion(EARLY, 3, c=0.9, line=9, key=9), opinion(EARLY, 5, c=0.6)]
    assert only(*said).stated == ((date(2025, 11, 3), 0.9), (date(2025, 11, 5), 0.6))


# --- what a person says counts more ----------------------------------------------------------------------------------


def test_the_number_in_the_bank_is_the_prior_wherever_it_stands_in_time() -> None:
    mine = opinion(EARLY, None, c=0.3, path="bank/opinions.md")
    one = only(opinion(EARLY, 1, c=0.9), mine)
    assert one.prior == 0.3


def test_a_number_given_by_hand_is_moved_by_newer_facts_only() -> None:
    facts = [opinion(EARLY, 1, c=0.9), fact(NOT_EARLY, 4, "anna"), opinion(EARLY, 6, c=0.8)]
    by_hand = {short(facts[0].key): Given(0.4, date(2025, 11, 6))}
    one = only(*facts, given=by_hand)
    assert (one.prior, one.belief.value) == (0.4, 0.4)
    assert texts(one.contradicts) == [NOT_EARLY]
    later = only(*facts, fact("Anna dislikes early meetings.", 7, "anna"), given=by_hand)
    assert later.prior == 0.4
    assert 0.4 - STEP_DOWN <= later.belief.value < 0.4
    undated = only(*facts, fact("Anna hates early meetings.", None, "anna"), given=by_hand)
    assert undated.belief.value == 0.4


def test_of_two_numbers_given_by_hand_the_later_one_counts() -> None:
    facts = [opinion(EARLY, 1), opinion(EARLY, 2, c=0.8)]
    given = {short(facts[0].key): Given(0.2, date(2025, 11, 9)), short(facts[1].key): Given(0.6, date(2025, 11, 5))}
    assert only(*facts, given=given).prior == 0.2


# --- whose opinions ---------------------------------------------------------------------------------------------------


def test_opinions_of_no_entity_are_held_against_facts_of_none() -> None:
    one = only(
        fact("Coffee in the evening keeps me awake.", 1, kind="opinion", confidence=0.6),
        fact("Had coffee after dinner and lay awake until three.", 3, kind="experience"),
        fact("Had coffee after dinner and lay awake until three.", 4, "ben", kind="experience"),
    )
    assert len(one.supports) == 1
    assert one.belief.value > 0.6
    assert one.subjects == ()


def test_an_inferred_fact_bears_it_out_only_where_it_is_near() -> None:
    told = only(opinion(CONCISE), fact(SHORTER, 3, "anna"))
    assert texts(told.supports) == [SHORTER]
    near = fact(CONCISE, 4, "anna", is_inferred=True)
    one = only(opinion(CONCISE), fact(SHORTER, 3, "anna", is_inferred=True), near)
    assert texts(one.supports) == [near.text]
    against = only(opinion(EARLY), fact(NOT_EARLY, 3, "anna", is_inferred=True))
    assert texts(against.contradicts) == [NOT_EARLY]


def test_a_statement_whose_place_another_took_is_still_held_and_less_sure() -> None:
    new = opinion(NOT_EARLY, 5, c=0.9)
    found = held([opinion(EARLY, 1)._replace(succeeded_by=new.key), new], vault()).opinions
    sure = {one.statement.text: one.belief.shown for one in found}
    assert sure[EARLY] < 0.7 < sure[NOT_EARLY]


# --- limits -----------------------------------------------------------------------------------------------------------


def many(number: int, days: int = 1) -> list[Fact]:
    dice = random.Random(5)
    letters = "bdfgklmnprstvz"
    made = ["".join(dice.choices(letters, k=7)) for _ in range(number * 3)]
    return [
        opinion(f"Thinks {a} {b} {c}.", 1 + n % days) for n, (a, b, c) in enumerate(zip(*[iter(made)] * 3, strict=True))
    ]


def test_of_too_many_the_number_that_is_left_out_is_said() -> None:
    found = held(many(beliefs.KEPT + 7), vault())
    assert (len(found.opinions), found.more) == (beliefs.KEPT, 7)
    told = [line.text for line in opinion_page.page(found, context(found))]
    assert told[-1] == "…and 7 more: see `memory opinions`."


def test_what_a_person_wrote_down_is_never_left_out() -> None:
    mine = opinion("Thinks that bridges should be painted red.", None, path="bank/opinions.md")
    found = held([*many(beliefs.KEPT + 7), mine], vault())
    assert mine in [one.statement for one in found.opinions]


def test_a_page_of_few_tokens_tells_of_the_surest_and_counts_the_rest() -> None:
    facts = [one._replace(confidence=0.3 + n / 100) for n, one in enumerate(many(30))]
    facts.append(opinion("Thinks that the surest of all stands with another.", 1, "zoe", c=0.95))
    found = held(facts, vault())
    lines = [line.text for line in opinion_page.page(found, context(found), tokens=120)]
    kept = [line for line in lines if line.startswith("- **")]
    assert 3 < len(kept) < 20
    assert lines[-1] == f"…and {31 - len(kept)} more: see `memory opinions`."
    assert any("surest of all" in line for line in kept)
    sure = sorted((one.belief.shown for one in found.opinions), reverse=True)
    assert sorted((float(line[4:7]) for line in kept), reverse=True) == sure[: len(kept)]


def test_an_opinion_that_moved_shows_its_course_and_what_else_it_was_called() -> None:
    told = held(
        [
            opinion(EARLY, 1, c=0.8), fact(NOT_EARLY, 3, "anna"),
            opinion(CONCISE, 1), opinion("Prefers concise replies on WhatsApp and long content in files.", 5),
        ],
        vault(),
    )  # fmt: skip
    lines = [line.text for line in opinion_page.page(told, context(told)) if line.text.startswith("  - ")]
    assert [re.sub(r" — .*", "", line) for line in lines] == [
        "  - ▇▆ falling from .80, last on 3 November 2025",
        "  - against: Anna does not like early meetings any more",
        "  - also: Prefers concise replies on WhatsApp; long content goes into files",
        "  - ▆▆ steady, last on 5 November 2025",
    ]


def test_a_page_tells_what_was_taken_back() -> None:
    told = held([nobodys(COFFEE, 3), nobodys(WRONG, 17)], vault())
    lines = [line.text for line in opinion_page.page(told, context(told)) if line.text.startswith("  - ")]
    assert lines == [
        "  - ▆▅ falling from .70, last on 17 November 2025",
        f"  - taken back: {WRONG.rstrip('.')} — [[2025-11-17]] L3",
    ]


def test_an_opinion_that_nothing_moved_has_no_course() -> None:
    told = held([opinion(EARLY, 5), fact(NOT_EARLY, 3, "anna")], vault())
    lines = [line.text for line in opinion_page.page(told, context(told)) if line.text.startswith("  - ")]
    assert [line.partition(":")[0] for line in lines] == ["  - against"]


def context(found: Held) -> Context:
    return Context(
        cite=Citations({one.statement.path for one in found.opinions}),
        shown=str.title,
        exists=lambda target: False,
        stems=stems,
        rarity=lambda stem: 0.5,
        count=lambda text: len(text.split()),
    )


# --- what was found before is not worked out again --------------------------------------------------------------------


def test_what_is_known_is_believed_and_all_that_was_found_is_handed_on() -> None:
    facts = [opinion(CONCISE), fact(SHORTER, 4, "anna"), fact("Lives in Lund.", 5, "anna")]
    first = vault()
    before = held(facts, first)
    known = dict(first.found)
    assert {key for _, key in known} == {facts[1].key, facts[2].key}
    again = vault(known=known)
    assert held(facts, again) == before
    assert again.found == first.found
    turned = vault(known=dict.fromkeys(known, bearing.RELATIONS.index("contradicts")))
    assert len(held(facts, turned).opinions[0].contradicts) == 2


SAID = [CONCISE, SHORTER, EARLY, NOT_EARLY, EARLY_AGAIN, COFFEE, WRONG, LISTED, SKIPS]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(SAID), st.integers(1, 9), st.booleans()), max_size=9), st.randoms())
def test_what_is_known_changes_nothing(said: list[tuple[str, int, bool]], dice: random.Random) -> None:
    facts = [opinion(text, day) if is_held else fact(text, day, "anna") for text, day, is_held in dict.fromkeys(said)]
    first = vault()
    plain = held(facts, first)
    known = {pair: place for pair, place in first.found.items() if dice.random() < 0.7}
    again = vault(known=known)
    assert held(facts, again) == plain
    assert again.found == first.found
