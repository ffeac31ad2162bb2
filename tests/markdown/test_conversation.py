"""What a log that is a conversation tells: who talks, which lines, which words of them, of when; and in rows."""

import re
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vaults import fill, memory, opened, put

from vault_memory.markdown.conversation import MAX_LINES, Utterance, speakers, utterances
from vault_memory.markdown.parse import parse
from vault_memory.memory import Memory
from vault_memory.text.calendar_days import Span

DAY = date(2025, 11, 27)  # a Thursday
PATH = "memory/2025-11-27.md"


def told(text: str, day: date | None = DAY, path: str = PATH) -> list[Utterance]:
    return list(utterances(parse(path, text.encode()), day))


TALK = """\
## Session

- Ada: I moved to Lund last week, near the old harbour. You look well, Bo!
- Bo: Where do you work now? Do you like it there?
- Ada: I work at the observatory now, mostly at night. [shares an image: a dome under stars]
- Bo: Yeah, we adopted a cat from the shelter, her name is Plum.
- Ada: Nice!
- Bo: Ich mag das neue Büro am Hafen wirklich sehr gern. ^buero
  Es liegt gleich neben der alten Werft von Malmö.
- a line of somebody else, in as many words as it takes
"""


def test_a_conversation() -> None:
    week = Span(date(2025, 11, 17), date(2025, 11, 23))
    assert told(TALK) == [
        (3, "I moved to Lund last week, near the old harbour.", "Ada", week),
        (5, "I work at the observatory now, mostly at night.", "Ada", None),
        (6, "Yeah, we adopted a cat from the shelter, her name is Plum.", "Bo", None),
        (8, "Ich mag das neue Büro am Hafen wirklich sehr gern.", "Bo", None),
        (9, "Es liegt gleich neben der alten Werft von Malmö.", "Bo", None),
    ]


def test_with_a_model_only_the_person_speaks_and_in_their_own_name() -> None:
    talk = "User: Tomorrow I shall row over to the island and back again.\nAssistant: Shall I look up the wind there?\n"
    talk += "User: Yes.\nAssistant: The wind comes from the west at four metres a second.\n"
    day = date(2025, 11, 28)
    assert told(talk) == [(1, "Tomorrow I shall row over to the island and back again.", None, Span(day, day))]


SAID = "I sold the old canoe to a neighbour down the road."


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (TALK, {"ada", "bo"}),
        ("Ada: I see.\nBo: You do?\n" * 3, {"ada", "bo"}),
        ("Ada: 見た。\nBo: 本当？\n" * 3, {"ada", "bo"}),
        ("Ada: I see.\nBo: You do?\n" * 2 + "Kim: I do.\n", set()),  # so little is only quoted
        ("User: I see.\nAssistant: You do?\n" * 2, {"user", "assistant"}),
        ("**Ada:** I see.\n\n**Bo:** You do?\n\n" * 3, {"ada", "bo"}),
        ("[10:32] Ada Berg: I see.\n12:40 - Bo: You do?\n" * 3, {"ada berg", "bo"}),
        ("- Ada: I see.\n- Bo: You do?\n" + "- Ada: I do.\n" * 5, set()),  # Bo only once
        ("- Ada: I see.\n- Ada: You do?\n" * 3, set()),  # nobody to talk with
        ("- Roses: dug.\n- Hull: tarred.\n" * 3, set()),  # nobody asks: topics
        ("- Roses: dug?\n" * 4 + "- Hull: tarred.\n" * 4, set()),  # they do not take turns
        ("- Q: I see?\n- A: You do.\n" * 3, set()),
        ("- Ada: I see.\n- Bo: You do?\n" * 3 + "- a line\n" * 7, set()),
        ("> Ada: I see.\n> Bo: You do?\n" * 3, set()),
    ],
)
def test_who_talks(text: str, names: set[str]) -> None:
    assert speakers(parse(PATH, text.encode())) == names


@pytest.mark.parametrize(
    ("path", "day", "text"),
    [
        (PATH, DAY, f"{SAID}\n- 09:30 {SAID}\n"),  # prose
        (PATH, DAY, f"- Ada: {SAID}\n- 10:00 Rang Bo, who asked: when?\n"),  # quoted once
        (PATH, None, TALK),
        ("bank/entities/Ada.md", DAY, TALK),
        (PATH, DAY, TALK + "## Retain\n- W @Ada: Lives in Lund.\n"),
        (PATH, DAY, TALK + "\n" * MAX_LINES),
        (PATH, DAY, f"```\n{TALK}```\n"),
    ],
    ids=["prose", "quoted", "no day", "a page", "with facts", "very long", "code"],
)
def test_where_nothing_is_told(path: str, day: date | None, text: str) -> None:
    assert told(text, day, path) == []


PIECES = (
    "- ", "Ada: ", "Bo: ", "I sold the canoe", "we went to Lund yesterday", "! ", "? ", ". ", "[shows a red boat]",
    "[[Nora]]", "“", "`", "~~", "\n", "\n\n", "## Retain\n", "- [x] ", "09:30 ", "%%", "ß", "日本。", "…", "^id", "\t",
)  # fmt: skip


@settings(deadline=None, max_examples=150)
@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join) | st.text(max_size=120))
def test_any_text_gives_whole_words_of_its_lines(text: str) -> None:
    note = parse(PATH, (TALK + text).encode("utf-8", "replace"))
    found = list(utterances(note, DAY))
    assert [one.line for one in found] == sorted({one.line for one in found})
    for one in found:
        left = iter(re.findall(r"\w+", note.shown(one.line)))
        assert all(word in left for word in re.findall(r"\w+", one.text)), (one.text, note.shown(one.line))


# --- in the index ----------------------------------------------------------------------------------------------------


def rows(of: Memory) -> list[tuple[object, ...]]:
    sql = "SELECT n.path, i.line, i.speaker FROM inferred i JOIN passage p ON p.id = i.passage_id JOIN note n"
    with opened(of) as store:
        return list(store.rows(f"{sql} ON n.id = p.note_id ORDER BY n.path, i.line"))


def test_what_a_conversation_tells_is_stored_with_its_note(tmp_path: Path) -> None:
    mine = memory(fill(tmp_path, {PATH: TALK, "memory/2025-11-28.md": SAID, "undated.md": TALK}))
    mine.index()
    assert rows(mine) == [(PATH, 3, "Ada"), (PATH, 5, "Ada"), (PATH, 6, "Bo"), (PATH, 8, "Bo"), (PATH, 9, "Bo")]
    put(tmp_path, PATH, "A dry day.\n" + TALK, age_seconds=30)
    mine.index()
    assert [row[1] for row in rows(mine)] == [4, 6, 7, 9, 10]
    assert mine.index_file.check()[0] == mine.index_file.check()[1]
    with opened(mine) as store:
        store.connection.execute("UPDATE inferred SET text = 'another'")
    assert mine.index_file.check()[0] != mine.index_file.check()[1]
    put(tmp_path, PATH, TALK + "\n## Retain\n- W @Ada: Lives in Lund.\n", age_seconds=30)
    mine.index()
    assert rows(mine) == []
