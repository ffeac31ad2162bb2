"""What stands in very many notes word for word tells nothing, and hides nothing."""

from datetime import date, timedelta
from pathlib import Path

import pytest
from vaults import fill, memory

from vault_memory.memory import Memory

DAYS = [date(2025, 1, 1) + timedelta(n) for n in range(300)]
FOOTER = "<div>This vault is tended like a garden</div>"
COMMENT = "<!-- Which plants were watered in the garden? -->"
DAILY = "- [x] Water the plants"


@pytest.fixture(scope="module")
def diary(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    notes = {
        f"memory/{day}.md": f"{COMMENT}\n\n{DAILY}\n\nRain on day {n}.\n\n{FOOTER}\n" for n, day in enumerate(DAYS)
    }
    notes["Home/Balcony.md"] = "The plants on the balcony get water from the tank, the fern twice.\n"
    notes["Home/Allotment.md"] = "My vegetable garden lies behind the station.\n"
    return memory(fill(tmp_path_factory.mktemp("diary") / "vault", notes))


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("where does the water for the plants come from?", "Home/Balcony.md"),
        ("which plants were watered in the garden?", "Home/Balcony.md"),
        ("garden", "Home/Allotment.md"),
    ],
)
def test_what_stands_in_every_note_comes_behind_what_tells_something(diary: Memory, question: str, wanted: str) -> None:
    assert wanted in [result.path for result in diary.recall(question, k=3, journal=False).results]


def test_a_daily_line_leaves_room_for_others_and_the_newest_is_found(diary: Memory) -> None:
    answer = diary.recall("when did I last water the plants?", k=8, journal=False)
    said = [result.content for result in answer.results]
    assert 1 <= said.count(DAILY) <= 4
    newest = next(result for result in answer.results if result.content == DAILY)
    assert newest.date == DAYS[-1].isoformat()


def test_a_daily_line_asked_for_is_found(diary: Memory) -> None:
    assert diary.recall("tended vault", k=1, journal=False).results[0].content == FOOTER


@pytest.mark.parametrize(
    ("older", "newer", "stands"),
    [
        ("O(c=0.7)", "O(c=0.4)", date(2025, 10, 5)),
        ("W(by=tool)", "W", date(2025, 10, 5)),
        ("O", "O(by=web)", date(2025, 9, 1)),
    ],
)
@pytest.mark.parametrize("is_crowded", [True, False])
def test_of_facts_in_the_same_words_the_newest_trusted_one_stands(
    tmp_path: Path, older: str, newer: str, stands: date, is_crowded: bool
) -> None:
    crowd = "".join(f"- W @Thing{n}: Item {n} was put on shelf {n}.\n" for n in range(9))
    sections = ["", f"Slept badly.\n\n{crowd}"] if is_crowded else [f"Slept badly.\n\n{crowd}", ""]
    notes = {
        f"memory/{day}.md": f"## Retain\n{section}- {kind}: Rye bread keeps longer than wheat.\n"
        for day, kind, section in zip(("2025-09-01", "2025-10-05"), (older, newer), sections, strict=True)
    }
    answer = memory(fill(tmp_path, notes)).recall("does rye bread keep?", journal=False)
    assert [result.date for result in answer.results if "Rye" in result.content] == [stands.isoformat()]
    assert answer.omitted["near_duplicates"] == 1
