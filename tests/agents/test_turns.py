"""What several answers are together: their results by turns, nothing twice, and what is said of them once."""

from datetime import UTC, datetime
from pathlib import Path

from vaults import fill, memory

from vault_memory.context.context import Bundle, Wanted, bundle
from vault_memory.context.interleave import together
from vault_memory.memory import Memory
from vault_memory.search.answer import Answer, Request, Result, Understanding

NOW = datetime(2025, 12, 3, 12, tzinfo=UTC)
LANES = {"lexical": 1, "semantic": 0, "entity": 0, "temporal": 0}


def result(content: str, *parts: int, score: float = 1.0) -> Result:
    return Result(
        1, score, "note", None, None, (), None, None, content, "a.md", 1, 1, (), 9, False, key=parts[0], parts=parts
    )


def answer(*results: Result, unknown: tuple[str, ...] = (), lexical: int = 1, **omitted: int) -> Answer:
    of_words = Understanding(unknown=unknown)
    guesses = [("lexical", "these are guesses by meaning"), ("semantic", "words only")] if not lexical else []
    return Answer(
        Request("boat", NOW), results, "hybrid", {**LANES, "lexical": lexical}, None, of_words, 0, 0, omitted, guesses
    )


def told(*answers: Answer) -> tuple[list[str], int]:
    found = together(answers, 100, False)
    return [result.content for _, result in found.results], found.omitted.get("near_duplicates", 0)


def test_the_best_of_each_comes_before_the_second_of_any() -> None:
    first, second = answer(result("a", 1), result("b", 2), result("c", 3)), answer(result("d", 4))
    assert told(first, second) == (["a", "d", "b", "c"], 0)
    assert [number for number, _ in together([first, second], 100, False).results] == [0, 1, 0, 0]


def test_what_several_answers_hold_is_told_once_and_counted() -> None:
    one = answer(result("The boat", 1), result("its pier", 2), near_duplicates=3)
    other = answer(result("its pier", 2), result("- boat!", 7), near_duplicates=2)
    assert told(one, other) == (["The boat", "its pier"], 5)


def test_a_result_with_a_part_that_is_new_is_told() -> None:
    one = answer(result("it began", 1))
    other = answer(result("it began … it ended", 1, 2), result("it ended", 2))
    assert told(one, other) == (["it began", "it began … it ended"], 1)


def test_of_each_reason_the_most_that_one_answer_leaves_out_is_told() -> None:
    found = together([answer(below_floor=22, over_k=1), answer(below_floor=20, over_budget=4)], 100, False)
    assert found.omitted == {"below_floor": 22, "over_k": 1, "over_budget": 4, "near_duplicates": 0}


def test_an_answer_that_is_left_out_has_nothing_to_say_of_its_prompt() -> None:
    guess = answer(result("far", 1), lexical=0)
    asked, unasked = (together([answer(result("near", 2)), guess], 100, kind) for kind in (False, True))
    assert [each.content for _, each in asked.results] == ["near", "far"]
    assert asked.degraded == [("lexical", "these are guesses by meaning"), ("semantic", "words only")]
    assert [each.content for _, each in unasked.results] == ["near"]
    assert unasked.degraded == [("semantic", "words only")] and unasked.has_footing
    assert not together([guess], 100, True).has_footing


def ask(of: Memory, prompt: str, *also: str, **wanted: object) -> Bundle:
    return bundle(of, Wanted(prompt, 400, now=NOW, also=also, **wanted))  # type: ignore[arg-type]


def test_two_prompts_that_find_the_same_lines_tell_each_once(tmp_path: Path) -> None:
    of = memory(fill(tmp_path / "v", {"Boat.md": "- the boat was moved to Lund\n- the boat was sold in May\n"}))
    found = ask(of, "where was the boat moved?", "when was the boat sold?")
    assert found.text.count("to Lund") == found.text.count("in May") == 1
    assert found.omitted["near_duplicates"] == 2 and len(found.shown) == 2
