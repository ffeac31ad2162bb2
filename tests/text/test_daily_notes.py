"""Names of daily notes: from a day to a path and back under many formats (test_date_finder.py has more names)."""

from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.text.daily_notes import format_day, name_day, note_path

DAY = datetime(2025, 11, 7, 9, 5, 3)  # a Friday of week 45


@pytest.mark.parametrize(
    ("moment_format", "text"),
    [
        ("YYYY-MM-DD", "2025-11-07"),
        ("dddd, MMMM Do YYYY", "Friday, November 7th 2025"),
        ("YYYY/MM/YYYY-MM-DD", "2025/11/2025-11-07"),
        ("[Day] YYYY-MM-DD", "Day 2025-11-07"),
        ("GGGG-[W]WW", "2025-W45"),
        ("HH:mm:ss", "09:05:03"),
        ("", ""),
    ],
)
def test_a_day_is_written(moment_format: str, text: str) -> None:
    assert format_day(DAY, moment_format) == text


@pytest.mark.parametrize(
    ("folder", "moment_format", "path"),
    [
        ("memory", "YYYY-MM-DD", "memory/2025-11-07.md"),
        ("", "YYYY-MM-DD", "2025-11-07.md"),
        ("a/b", "YYYY/MM/DD", "a/b/2025/11/07.md"),
        ("a", "/YYYY-MM-DD/", "a/2025-11-07.md"),
    ],
)
def test_the_path_of_a_days_note(folder: str, moment_format: str, path: str) -> None:
    assert note_path(DAY.date(), folder, moment_format) == path


FORMATS = [
    "YYYY-MM-DD",
    "DD.MM.YYYY",
    "MMMM Do, YYYY",
    "dddd MMM D YYYY",
    "YYYY/MMMM/YYYY-MM-DD dddd",
    "[log] YYYY_MM_DD",
    "GGGG-[W]WW/YYYY-MM-DD",
    "YYYY MM-DD",
]


@given(st.dates(), st.sampled_from(FORMATS), st.sampled_from(["", "memory", "a/2024-01-01"]))
def test_a_written_name_is_read_back(day: date, moment_format: str, folder: str) -> None:
    assert name_day(note_path(day, folder, moment_format).removesuffix(".md"), moment_format) == day


@given(st.text(max_size=30), st.text(st.sampled_from("YMDdWwQEgGHhmsAao[]/-. x("), max_size=16))
def test_any_name_under_any_format_is_a_day_or_none(stem: str, moment_format: str) -> None:
    assert isinstance(name_day(stem, moment_format), date | None)
    assert isinstance(format_day(DAY, moment_format), str)
