"""Names of daily notes: from a day to a path and back under many formats (test_date_finder.py has more names)."""

from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.text.daily_notes import DATE_NAMES, format_day, name_day, note_path

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


@given(
    st.dates(),
    st.sampled_from(FORMATS),
    st.sampled_from(["", "memory", "a/2024-01-01"]),
    st.sampled_from([*DATE_NAMES]),
)
def test_a_written_name_is_read_back(day: date, moment_format: str, folder: str, language: str) -> None:
    assert name_day(note_path(day, folder, moment_format, language).removesuffix(".md"), moment_format) == day


@pytest.mark.parametrize(
    ("name", "moment_format", "day"),
    [
        ("mercredi 16 septembre 2026", "dddd D MMMM YYYY", date(2026, 9, 16)),
        ("1er août 2026", "Do MMMM YYYY", date(2026, 8, 1)),
        ("3. Oktober 2026", "D. MMMM YYYY", date(2026, 10, 3)),
        ("5. M\u0061\u0308rz 2026", "D. MMMM YYYY", date(2026, 3, 5)),  # as macOS spells it
        ("9 de noviembre de 2026", "D [de] MMMM [de] YYYY", date(2026, 11, 9)),
        ("2026 dez. 08", "YYYY MMM DD", date(2026, 12, 8)),
        ("8 juil. 2026", "D MMM YYYY", date(2026, 7, 8)),
        ("8 jui 2026", "D MMM YYYY", None),  # juin or juillet
        ("8 Foo 2026", "D MMM YYYY", None),
    ],
)
def test_names_of_months_are_read_in_five_languages(name: str, moment_format: str, day: date | None) -> None:
    assert name_day(name, moment_format) == day


@given(st.text(max_size=30), st.text(st.sampled_from("YMDdWwQEgGHhmsAao[]/-. x("), max_size=16))
def test_any_name_under_any_format_is_a_day_or_none(stem: str, moment_format: str) -> None:
    assert isinstance(name_day(stem, moment_format), date | None)
    assert isinstance(format_day(DAY, moment_format), str)
