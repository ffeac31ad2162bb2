"""select.py: what is choose under a budget, by tables and properties."""

import re
from datetime import date, timedelta

import pytest

from vault_memory.reflect.fact import Fact
from vault_memory.reflect.select import Weights, choose

DAY = date(2025, 11, 3)


def stems(text: str) -> list[str]:
    return text.casefold().replace(".", "").split()


def fact(text: str, line: int = 1, *about: str, **more: object) -> Fact:
    day = more.pop("day", DAY)
    assert isinstance(day, date)
    given = {"key": hash_of(text), "kind": "experience", "path": f"memory/{day}.md", "day": day, **more}
    return Fact(text=text, line=line, about=about, subjects=about, **given)  # type: ignore[arg-type]


def hash_of(text: str) -> int:
    return int.from_bytes(text.encode()[:8].ljust(8), "big") + len(text) * 7919


def weigh(**more: object) -> Weights:
    plain = {"stems": stems, "cost": lambda fact: len(stems(fact.text)) + 10}
    return Weights(**{**plain, **more})  # type: ignore[arg-type]


def texts(facts: list[Fact]) -> list[str]:
    return [one.text for one in facts]


# --- what comes first --------------------------------------------------------------------------------------------


def test_people_come_before_repeating() -> None:
    hers = ["Ann fed hens.", "Ann saw geese.", "Ann met friends."]
    facts = [fact(text, line, "ann") for line, text in enumerate(hers)]
    facts += [fact("Bob mended gates.", 10, "bob"), fact("Cy sold honey.", 11, "cy")]
    found = choose(facts, 14 * 3, weigh())
    assert {slug for one in found for slug in one.about} == {"ann", "bob", "cy"}


# --- what is taken once, or not before its time ------------------------------------------------------------------


def test_near_duplicates_are_taken_once() -> None:
    facts = [
        fact("Swam 1500 m in the big pool.", 1),
        fact("Swam 1500 m in the old pool.", 2),
        fact("Bought a stove.", 3),
    ]
    found = texts(choose(facts, 1000, weigh()))
    assert len(found) == 2
    assert "Bought a stove." in found


def test_a_superseded_fact_comes_after_its_successor() -> None:
    old = fact("Lives at Harbour Street with two cats.", 1, "ann", importance=0.9)
    new = fact("Moved upriver.", 2, "ann", importance=0.1)
    old = old._replace(succeeded_by=new.key)
    assert texts(choose([old, new], 1000, weigh())) == [new.text, old.text]
    assert texts(choose([old, new], 12, weigh())) == [new.text]
    assert choose([old], 1000, weigh()) == [old], "one whose successor is not among them stands by itself"
    assert choose([new._replace(succeeded_by=new.key)], 1000, weigh()) != [], "nothing waits for itself"


@pytest.mark.parametrize(
    ("older", "newer", "goes"),
    [
        ({}, {}, True),
        ({}, {"importance": 0.1}, True),
        ({"subjects": ("heron",)}, {}, False),
        ({"kind": "experience"}, {"kind": "experience"}, False),
        ({"text": "Version 0.9.2 is deployed on one node."}, {}, False),
        ({"text": "Version 0.9.5 is deployed on all nodes!"}, {}, False),
        ({}, {"day": DAY}, False),
        ({}, {"succeeded_by": 7}, False),
        ({"text": "41."}, {"text": "42."}, False),
    ],
)
def test_of_two_numbers_in_the_same_words_the_newer_holds(
    older: dict[str, object], newer: dict[str, object], goes: bool
) -> None:
    told = fact("Version 0.9.2 is deployed on all nodes.", 1, "tern", kind="world")._replace(key=1)
    later = told._replace(text="Version 0.9.5 is deployed on all nodes.", key=2, day=DAY + timedelta(20))
    old, new = told._replace(**older), later._replace(**newer)  # type: ignore[arg-type]
    # Nothing is too alike here, so that what is left out is left out for its number.
    found = choose([old, new], 1000, weigh(alike=1.0, stems=spelled))
    assert (old not in found) == goes and len(found) == 2 - goes


def spelled(text: str) -> list[str]:
    return re.findall(r"[\w.]*\w", text.casefold())
