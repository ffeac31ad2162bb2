"""What a fact says of an opinion: the labelled pairs as a whole, and each rule by itself."""

import re
import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from polarity_pairs import CONTRAST, KEPT_APART, PAIRS, Pair

from vault_memory.reflect.polarity import CONTRADICTS, RELATED, SUPPORTS, UNRELATED, Stance, relation

BY_LABEL = {
    label: [pair for pair in PAIRS if pair.label == label] for label in (SUPPORTS, CONTRADICTS, RELATED, UNRELATED)
}
DECIDED = (SUPPORTS, CONTRADICTS, UNRELATED)


def counted(pairs: list[Pair]) -> Counter:
    return Counter((p.label, relation(p.opinion, p.fact, p.names)) for p in pairs)


def accuracy(found: Counter) -> float:
    right = sum(found[label, label] for label in DECIDED)
    return right / sum(count for (label, _), count in found.items() if label in DECIDED)


# --- the labelled pairs ----------------------------------------------------------------------------------------------


def test_there_are_enough_pairs():
    assert len(PAIRS) >= 160
    assert all(len(BY_LABEL[label]) >= 50 for label in DECIDED)
    assert len({(pair.opinion, pair.fact) for pair in PAIRS}) == len(PAIRS)


@pytest.mark.parametrize("pairs", [PAIRS, KEPT_APART, CONTRAST], ids=["all", "kept apart", "set apart"])
def test_most_pairs_are_told_rightly(pairs):
    assert accuracy(counted(pairs)) >= 0.85


def test_hardly_any_unrelated_pair_counts_as_a_contradiction():
    found = counted(BY_LABEL[UNRELATED])
    assert found[UNRELATED, CONTRADICTS] <= 0.02 * len(BY_LABEL[UNRELATED])


def test_a_support_is_hardly_ever_a_contradiction_and_the_other_way_round():
    found = counted(PAIRS)
    assert found[SUPPORTS, CONTRADICTS] <= 0.02 * len(BY_LABEL[SUPPORTS])
    assert found[CONTRADICTS, SUPPORTS] <= 0.05 * len(BY_LABEL[CONTRADICTS])


def test_what_is_unclear_mostly_has_no_effect():
    found = counted(BY_LABEL[RELATED])
    assert found[RELATED, SUPPORTS] + found[RELATED, CONTRADICTS] <= len(BY_LABEL[RELATED]) / 2


def test_facts_of_other_opinions_hardly_ever_contradict():
    """Each opinion against each fact of all others, told as if of its own entity: 17,000 pairs that have little in
    common; where one contradicts, it mostly does so rightly ("always late", "on time all week")."""
    found: Counter = Counter()
    for opinion, names in sorted({(pair.opinion, pair.names) for pair in PAIRS}):
        stance = Stance(opinion, names)
        others = (pair for pair in PAIRS if pair.names != names)
        found.update(stance.relation(re.sub(rf"\b{p.names[0]}\b", names[0], p.fact)) for p in others)
    assert found[CONTRADICTS] <= 0.005 * found.total()
    assert found[SUPPORTS] <= 0.005 * found.total()


# --- one rule a line -------------------------------------------------------------------------------------------------

RULES = """
denied          | Ben eats breakfast.            | Ben never eats breakfast.                     | contradicts
denied          | Ben never eats breakfast.      | Ben ate breakfast with us.                    | contradicts
denied          | Ben is afraid of dogs.         | Ben is not afraid of dogs at all.             | contradicts
denied          | Ben likes tea.                 | Ben hardly likes tea.                         | contradicts
denied          | Nobody helps Ben with the car. | Everybody helps Ben with the car.             | contradicts
denied in both  | Ben never eats breakfast.      | Ben did not eat breakfast.                    | supports
denied twice    | Ben likes tea.                 | Ben does not dislike tea.                     | supports
denied twice    | Ben is honest.                 | Ben is not dishonest.                         | supports
denied twice    | Ben is not unreliable.         | Ben is reliable.                              | supports
denied, of two  | Ben eats fish.                 | Ben does not eat meat and fish.               | contradicts
of another      | Ben never eats breakfast.      | Ben never writes letters.                     | unrelated
over            | Ben likes tea.                 | Ben used to like tea.                         | contradicts
over            | Ben likes tea.                 | Ben doesn't like tea any more.                | contradicts
over            | Ben likes tea.                 | Ben gave up tea.                              | contradicts
over            | Ben drinks tea.                | Ben stopped drinking tea.                     | contradicts
over            | Ben smokes.                    | Ben quit smoking.                             | contradicts
over            | Ben trusts the bank.           | Ben no longer trusts the bank.                | contradicts
instead         | Ben drinks tea.                | Ben switched from tea to coffee.              | contradicts
instead         | Ben drinks tea.                | Ben drinks coffee instead of tea.             | contradicts
instead         | Ben reads books on paper.      | Ben reads books on a tablet instead of paper. | contradicts
without         | Ben wants milk in his coffee.  | Ben wants his coffee without milk.            | contradicts
opposite        | Ben likes tea.                 | She loves tea.                                | supports
opposite        | Ben sleeps badly.              | Ben slept well.                               | contradicts
opposite        | Ben sleeps badly.              | Ben slept badly again.                        | supports
opposite        | Ben is honest.                 | Ben lied about the invoice.                   | contradicts
opposite        | Ben is always late.            | Ben was on time again.                        | contradicts
opposite        | Ben is easy to reach.          | Ben was hard to reach.                        | contradicts
of another      | Ben is easy to reach.          | Ben is hard to please.                        | unrelated
of another      | Ben is right about the roof.   | Ben was wrong about the garden.               | unrelated
of another      | Ben is afraid of dogs.         | Ben is afraid of heights.                     | unrelated
of another      | The pump is loud.              | The fan is quiet.                             | unrelated
two attributes  | The soup was cheap and good.   | The soup was expensive.                       | contradicts
the opposite of | Ben likes long walks.          | Ben likes short walks.                        | contradicts
the opposite of | Ben hates long walks.          | Ben likes short walks.                        | supports
two at once     | Ben likes tea.                 | Ben likes tea but hates coffee.               | supports
two at once     | Ben likes coffee.              | Ben likes tea but hates coffee.               | contradicts
compared        | Butter is better than oil.     | Oil is better than butter.                    | contradicts
compared        | Butter is better than oil.     | Oil is worse than butter.                     | supports
compared        | Ben prefers tea to coffee.     | Ben prefers coffee to tea.                    | contradicts
compared        | Ben prefers tea to coffee.     | Ben prefers tea over coffee.                  | supports
compared        | Ben is fast.                   | Karl is slower than Ben.                      | supports
compared        | Ben is fast.                   | Ben is slower than Karl.                      | contradicts
number          | The rent is 900 euros a month. | The rent rose to 950 euros a month.           | contradicts
number          | The rent is 900 euros a month. | The rent is 900 euros a month.                | supports
other unit      | The rent is 900 euros a month. | The rent is 10,800 euros a year.              | unrelated
other unit      | The licence is 40 euros.       | The licence is 4 pages long.                  | unrelated
other thing     | The licence is 40 euros.       | The manual is 60 euros.                       | unrelated
number besides  | Ben likes baths at 40 degrees. | Ben likes baths at 35 degrees.                | related
slot            | Ben lives in Bern.             | Ben moved to Basel.                           | contradicts
slot            | Ben works at Nordbank.         | Ben now works at Sydbank.                     | contradicts
slot            | Ben lives in Bern.             | Ben lives in Bern.                            | supports
a deed          | Ben loves the sea.             | Ben went to the sea again.                    | supports
a deed          | Ben takes the train to work.   | Took the train to work, would do it any time. | supports
no deed         | Ben loves tea.                 | Ben spilt the tea again.                      | related
of somebody     | Ben likes tea.                 | Karin hates tea; Ben was there.               | related
of somebody     | Ben likes tea.                 | His sister hates tea.                         | related
of somebody     | Ben likes tea.                 | I hate tea, Ben knows it.                     | related
of somebody     | Ben is never late.             | I was late for Ben's party.                   | unrelated
of somebody     | Ben forgets no birthday.       | Forgot Ben's birthday.                        | related
of his          | Ben is slow.                   | Ben's phone is slow.                          | unrelated
supposed        | Ben likes tea.                 | Does Ben like tea?                            | related
supposed        | Ben is afraid of dogs.         | Ben may not be afraid of dogs after all.      | related
not sure        | Not sure that Ben likes tea.   | Ben likes tea.                                | related
a month         | Ben is afraid of dogs.         | In May Ben was not afraid of dogs.            | contradicts
set apart       | Ben prefers calls.             | Ben wants letters, not calls.                 | contradicts
set apart       | Ben prefers letters.           | Letters preferred, not calls.                 | supports
set apart       | Letters preferred, not calls.  | Ben prefers letters.                          | supports
set apart       | Ben prefers letters to calls.  | Ben likes calls.                              | related
set apart       | Ben prefers tea.               | Instead of coffee Ben wants tea.              | supports
set apart       | Ben prefers coffee.            | Instead of coffee Ben wants tea.              | contradicts
set apart       | Ben drinks tea, not coffee.    | Ben drank tea.                                | supports
set apart       | Ben wants files, not photos.   | Ben asked for files instead of photos.        | supports
set apart       | Ben likes tea.                 | Ben likes not only tea but coffee too.        | supports
not set apart   | Ben is slow.                   | Ben is reliable, not fast.                    | supports
not set apart   | Ben hates calls.               | Ben hates calls, not letters.                 | supports
of an evening   | Ben likes evenings.            | Ben prefers mornings over evenings.           | contradicts
no longer sure  | Ben likes tea.                 | No longer sure that Ben likes tea.            | contradicts
conceded        | Ben likes tea.                 | Ben likes coffee, though he hates milk.       | unrelated
two sentences   | Ben is always late.            | Rang Ben. He was on time, for once.           | contradicts
at odds         | Ben is always late.            | Ben was late on Monday. He was on time today. | related
at odds         | Ben is allergic to nuts.       | Is allergic to nuts, so nothing with nuts.    | related
judged          | Ben's roof is fine.            | Ben's roof is a bad idea.                     | contradicts
judged          | Ben's roof is sound.           | Ben's roof was a mistake.                     | contradicts
judged          | Ben's figures can be trusted.  | Ben's figures are too optimistic.             | contradicts
judged          | Ben is optimistic.             | Ben's soup is too hot.                        | unrelated
judged          | Ben is good at chess.          | Ben was wrong about the garden.               | unrelated
phrase          | Ben cannot stand opera.        | Ben can't wait for the opera.                 | contradicts
phrase          | Ben's cakes are good.          | Ben's cake was not bad.                       | supports
not a word      | Ben is on time.                | The bus stops at Ben's house.                 | unrelated
"""


@pytest.mark.parametrize("row", [re.split(r" *\| ", line) for line in RULES.strip().splitlines()], ids=" | ".join)
def test_one_rule(row):
    _, opinion, fact, expected = row
    assert relation(opinion, fact, ("Ben",)) == expected


def test_the_names_of_the_entity_are_no_topic():
    assert relation("The night train is worth it.", "The night train has six cars.", ("Night train",)) == UNRELATED
    assert relation("Uses Vim for everything.", "Switched from Vim to Helix.", ("Vim",)) == CONTRADICTS


def test_marks_and_reasons_are_no_part_of_an_opinion():
    opinion = "[[Ben]] likes *tea*, because it is not coffee. Evidence: [[2025-10-11]], [[2025-10-14]]."
    assert relation(opinion, "@Ben hates tea.", ("Ben",)) == CONTRADICTS
    assert relation(opinion, "Ben was seen on 2025-10-11 without evidence.", ("Ben",)) == UNRELATED


WORDS = "Ben he I tea not never likes hates fast slow 40 euros , . ; ' ’ ( ) and than no longer from to without may ?"
words = st.lists(st.sampled_from(WORDS.split()), max_size=14).map(" ".join)
texts = st.one_of(st.text(max_size=80), words)


@given(texts, texts)
def test_any_text_is_read(opinion, fact):
    stance = Stance(opinion, ("Ben",))
    assert stance.relation(fact) in (SUPPORTS, CONTRADICTS, RELATED, UNRELATED)
    assert stance.relation(fact) == relation(opinion, fact, ("Ben",))


@given(words)
def test_no_text_contradicts_itself(text):
    assert relation(text, text, ("Ben",)) != CONTRADICTS


@pytest.mark.parametrize("bit", [" ", ",", "(", "Ben's ", "not ", "no longer ", "1 ", "likes tea ", "a, "])
def test_a_long_line_is_read_in_time_that_grows_with_it(bit):
    """A line of 60 kB took minutes where a rule looked back over all of it for each word."""
    start = time.process_time()
    relation("Ben likes tea at 40 degrees.", bit * (60_000 // len(bit)), ("Ben",))
    relation(bit * (60_000 // len(bit)), "Ben likes tea.", ("Ben",))
    assert time.process_time() - start < 5
