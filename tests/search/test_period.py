"""Questions of nothing but a time: answered from the whole of it, the telling before the rest, the rest counted."""

import shutil
from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest
from asking import ask_with
from sample import at_home
from vaults import fill, memory

from vault_memory.memory import Memory
from vault_memory.search.answer import Answer

NEXT_MARCH = "2025-03-01T12:00:00Z"
WORK = ("repaired the mast of", "painted", "sold a photo of", "measured", "cleaned", "insured", "moored", "sailed")
MATTERS = ("moss", "rain", "iron", "owls", "salt", "bread", "glass")


def ask(of: Memory, query: str, now: str, **options: object) -> Answer:
    return ask_with(of, query, now=now, **options)


@pytest.fixture
def sample(indexed_sample: Path, tmp_path: Path) -> Iterator[Memory]:
    shutil.copytree(indexed_sample, tmp_path / "Notes")
    with at_home(tmp_path):
        yield memory(tmp_path / "Notes")


def months(answer: Answer) -> Counter[str]:
    return Counter((result.date or "")[:7] for result in answer.results)


@pytest.fixture(scope="module")
def year(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A daily note of two lines for every day of 2024."""
    root = tmp_path_factory.mktemp("period") / "year"
    days = [date(2024, 1, 1) + timedelta(days) for days in range(366)]
    logs = {
        f"memory/{day}.md": f"- {WORK[day.day % 8]} the boat number {day.toordinal() % 977}\n"
        f"- wrote {day.toordinal() % 89} pages about {MATTERS[day.toordinal() % 7]}\n"
        for day in days
    }
    with at_home(root.parent):
        made = memory(fill(root, logs))
        made.index()
        yield made


def test_a_year_is_answered_from_all_of_it(year: Memory) -> None:
    answer = ask(year, "what happened in 2024?", NEXT_MARCH)
    assert len(months(answer)) == len(answer.results) == 8
    assert {month[5:] for month in months(answer)} & {"01", "02", "03"}
    assert {month[5:] for month in months(answer)} & {"10", "11", "12"}


@pytest.mark.parametrize("question", ["what happened on May 5, 2024?", "5. May 2024", "May 5th, 2024"])
def test_a_day_alone_is_answered_from_it_however_it_is_written(year: Memory, question: str) -> None:
    assert {result.date for result in ask(year, question, NEXT_MARCH).results} == {"2024-05-05"}


def test_the_function_words_around_a_day_are_no_question_in_another_language_either(tmp_path: Path) -> None:
    days = {"memory/2024-05-05.md": "- Zaun gestrichen.\n", "memory/2024-05-07.md": "- Das war am Hafen.\n"}
    found = ask(memory(fill(tmp_path / "vault", days)), "was war am 2024-05-05?", NEXT_MARCH).results
    assert [result.date for result in found] == ["2024-05-05"]


def test_what_is_left_out_of_the_time_is_counted(year: Memory) -> None:
    answer = ask(year, "what happened in 2024?", NEXT_MARCH, k=1000)
    assert sum(answer.omitted.values()) + len(answer.results) == 2 * 366
    assert "beyond_pool" not in answer.omitted
    assert ask(year, "what happened in 2024?", NEXT_MARCH, k=100).omitted["beyond_pool"] == 2 * 366 - 200
    assert "beyond_pool" not in ask(year, "what happened on 2024-05-05?", NEXT_MARCH).omitted
    assert ask(year, "which boat was painted in 2024?", NEXT_MARCH).omitted["beyond_pool"] > 90  # that hold a word


LOG = """# A day

Met Ida.

A long walk along the river, first in the rain and then in the sun, with the dog.

## Retain

- B: Walked along the river with the dog.
- B(i=0.9) @Tern: The cause of the crash is found, a lock was taken twice.
- B(t=2025-11-03): Had been to the dentist the week before.
"""


def test_the_telling_comes_first(tmp_path: Path) -> None:
    with at_home(tmp_path):
        day = memory(fill(tmp_path / "day", {"memory/2025-11-12.md": LOG}))
        answer = ask(day, "what did we do last week?", "2025-11-17T12:00:00Z")
    order = ["crash", "Walked", "sun", "Ida", "dentist"]
    assert [next(word for word in order if word in result.content) for result in answer.results] == order


@pytest.mark.parametrize("query", ["what was said on October 14", "what did we talk about on 14 October?"])
def test_who_asks_what_was_said_on_a_day_is_told_the_lines_of_the_last_such_day(sample: Memory, query: str) -> None:
    answer = ask(sample, query, "2026-11-17T12:00:00Z")
    assert answer.understood.window == (date(2025, 10, 14), date(2025, 10, 14))
    assert len(answer.results) > 5
    assert all("2025-10-14" in (result.date or "", result.occurred or "") for result in answer.results)


def test_the_sample_tells_of_its_week(sample: Memory) -> None:
    answer = ask(sample, "what did we do last week?", "2025-11-17T12:00:00Z")
    assert "The cause of HO-212 is found" in answer.results[0].content
    assert any("Version 0.9.4" in result.content for result in answer.results[:4])
    assert all("2025-11-10" <= (result.occurred or result.date or "")[:10] <= "2025-11-16" for result in answer.results)
    assert len({result.date for result in answer.results}) >= 6


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """Logs of November that name days to come in passing."""
    root = tmp_path_factory.mktemp("period") / "plans"
    logs = {
        "memory/2025-11-20.md": "- dentist on 12 December at nine, bring the papers\n- bought salt\n",
        "memory/2025-11-21.md": "- Ida wants to see the roof, Dec 15th or later\n- the course in January is full\n",
        "memory/2025-11-22.md": "- the harbour is closed from 2025-12-17 on\n- nothing else is happening here\n",
        "memory/2025-11-23.md": "- plans for the boat: 5.3.2026 out of the water\n",
        "memory/2024-12-12.md": "- a year before there was snow\n",
        "memory/2024-12-15.md": "- 17 December is the day of the fair\n",
        "memory/2025-12-12.md": "- saw the film about herring\n",
        "memory/2024-11-12.md": "- the first frost\n",
        "memory/2024-11-14.md": "- the second frost\n",
        "todo.md": "- rent is due on 12 November\n",
    }
    with at_home(root.parent):
        made = memory(fill(root, logs))
        made.index()
        yield made


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("15 December", "see the roof"),
        ("what happens on 15 December", "see the roof"),
        ("what is planned for Dec 15?", "see the roof"),
        ("17 December", "the harbour"),
        ("what is on in January", "the course"),
        ("what will happen on 5 March", "plans for the boat"),
        ("2026-03-05", "plans for the boat"),
        ("what is due on 12 December", "the film"),
        ("what happened on 12 December", "snow"),
        ("what happened on 12 November", "the first frost"),
        ("12 November", "the first frost"),
        ("around 12 November", "the first frost"),
    ],
)
def test_a_day_is_found_where_it_is_named(plans: Memory, query: str, first: str) -> None:
    answer = ask(plans, query, "2025-11-30T12:00:00Z")
    assert first in answer.results[0].content, [result.content for result in answer.results]


def test_words_beside_a_time_of_which_nothing_is_known_are_searched(plans: Memory) -> None:
    answer = ask(plans, "what is happening in 2019", "2025-11-30T12:00:00Z")
    assert "happening" in answer.results[0].content
    assert ("temporal", "no notes are dated 2019") in answer.degraded


def test_of_a_time_nobody_tells_of_nothing_is_guessed(plans: Memory) -> None:
    answer = ask(plans, "what happened in 2018?", "2025-11-30T12:00:00Z")
    assert list(answer.results) == []
    assert list(answer.degraded) == [("temporal", "no notes are dated 2018")]


@pytest.mark.parametrize("query", ["20 May", "notes on 20 May"])
def test_a_day_of_no_tense_is_the_one_of_which_something_is_known(year: Memory, query: str) -> None:
    answer = ask(year, query, "2025-01-10T12:00:00Z")
    assert answer.understood.window == (date(2024, 5, 20), date(2024, 5, 20))
    assert {result.date for result in answer.results} == {"2024-05-20"}
    assert ask(year, query, "2026-01-10T12:00:00Z").understood.window == (date(2026, 5, 20), date(2026, 5, 20))


@pytest.mark.parametrize("query", ["what happened on 3/5/2026?", "5/3/2026"])
def test_a_day_that_may_be_another_is_said_not_to_be_read(plans: Memory, query: str) -> None:
    answer = ask(plans, query, "2025-11-30T12:00:00Z")
    assert answer.understood.window is None
    assert any(what == "temporal" and "2026-05-03" in why for what, why in answer.degraded)


def test_a_time_decides_where_no_word_of_the_question_occurs(plans: Memory) -> None:
    answer = ask(plans, "was geschah am 12.12.2025?", "2025-12-30T12:00:00Z")
    assert [result.content.split()[1] for result in answer.results] == ["saw", "dentist"]
    assert any("the date alone decides" in why for _, why in answer.degraded)


def test_a_line_of_nothing_but_a_link_comes_behind_what_tells_of_the_time(tmp_path: Path) -> None:
    notes = {
        f"2024-0{n}-01.md": f"[Source](https://example.org/{n})\n\nThe hull was painted by {n}.\n" for n in range(1, 7)
    }
    results = memory(fill(tmp_path / "v", notes)).recall("What happened in 2024?", k=6).results
    assert not [result.content for result in results if "Source" in result.content]


def test_lines_that_name_the_month_are_found_wherever_they_stand(tmp_path: Path) -> None:
    notes = {
        "memory/2026-11-17.md": "## Retain\n- W @Train: Leaves on 29 December at 7:40.\n",
        "Projects/Kestrel.md": "# Kestrel\n\n- [ ] Rotate the key before 15 December\n",
        "memory/2024-12-02.md": "In December everything is closed.\n",
    }
    mine = memory(fill(tmp_path / "vault", notes))
    found = mine.recall("what is planned for December?", now="2026-11-23").results
    assert [one.path for one in found] == ["memory/2026-11-17.md", "Projects/Kestrel.md"]


def test_may_is_a_month_only_behind_a_preposition(tmp_path: Path) -> None:
    notes = {"Shed.md": "# Shed\n\n- [ ] Door: to be painted in May\n", "Rules.md": "Guests may bring a dog.\n"}
    found = memory(fill(tmp_path / "vault", notes)).recall("what is to do in May?", now="2026-02-23")
    assert [one.path for one in found.results] == ["Shed.md"]
    assert "in" not in found.matched
