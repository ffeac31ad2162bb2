"""nearby.py: which facts about a subject are held against a statement."""

import random
from collections import Counter
from datetime import date

from hypothesis import given, settings
from hypothesis import strategies as st

from vault_memory.reflect.model import Fact
from vault_memory.reflect.nearby import ENOUGH, LOOKED_AT, Around

WORDS = "oak Oak, ash elms rowan: lindens_tree birch-wood it a Ash. larch/pine yew hazel".split()  # noqa: SIM905


def facts(seed: int, number: int) -> list[Fact]:
    dice = random.Random(seed)
    texts = [" ".join(dice.choices(WORDS, range(1, len(WORDS) + 1), k=dice.randrange(1, 6))) for _ in range(number)]
    return [Fact(n, "world", text, f"memory/{n % 7}.md", n, date(2025, 1, 1)) for n, text in enumerate(texts)]


def words(text: str) -> set[str]:
    for mark in ",.:_-/":
        text = text.replace(mark, " ")
    return {word[:5] for word in text.casefold().split() if len(word) > 2}


def nearest(told: list[Fact], text: str, own: set[int]) -> list[Fact]:
    """The same by the letter of what it should be."""
    held = {word: {n for n, fact in enumerate(told) if word in words(fact.text)} for word in sorted(words(text))}
    shared: Counter[int] = Counter()
    for places in sorted(held.values(), key=len):
        if len(shared) >= ENOUGH * LOOKED_AT:
            break
        shared.update(places)
    ranked = sorted(shared, key=lambda n: (-shared[n], -n))
    return [told[n] for n in sorted([n for n in ranked if told[n].key not in own][:LOOKED_AT])]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 99), st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), st.sets(st.integers(0, 899)))
def test_the_nearest_are_those_that_share_most_words(seed: int, asked: list[str], own: set[int]) -> None:
    told = facts(seed, 900)
    assert Around(told).near(" ".join(asked), own) == nearest(told, " ".join(asked), own)


def test_a_statement_of_more_words_than_a_byte_counts() -> None:
    """What holds 300 of them shares no less than what holds one."""
    rare = [f"word{n:03}"[-5:] for n in range(300)]
    told = [Fact(n, "world", text, "a.md", n, None) for n, text in enumerate([" ".join(rare), *rare, *["none"] * 200])]
    assert Around(told).near(" ".join(rare), ())[0].key == 0


def test_of_few_facts_all_are_near_but_its_own() -> None:
    told = facts(1, LOOKED_AT)
    assert Around(told).near("nothing of it", {3}) == [fact for fact in told if fact.key != 3]


def test_the_facts_of_a_note() -> None:
    told = facts(1, 20)
    assert {fact.line for fact in Around(told).of_notes(frozenset(["3", "memory/5"]))} == {3, 10, 17, 5, 12, 19}
    assert Around(told).of_notes(frozenset()) == []
