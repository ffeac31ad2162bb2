"""`memory stats`: figures counted by hand, drawings that hold them, and a file that is never anybody else's."""

import json
import os
import re
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample import call
from vaults import fill, memory, opened, put

from vault_memory.cli.health import write_drawing
from vault_memory.errors import RefusedError
from vault_memory.health.stats import Figures, days_of, has_moved, stats
from vault_memory.integrations.install import is_unchanged
from vault_memory.memory import Memory
from vault_memory.rendering import stats as drawing
from vault_memory.rendering.stats import stats_text
from vault_memory.text.calendar_days import period_of
from vault_memory.text.output import cells

TODAY = date(2025, 12, 3)
NOTES = {
    "memory/2025-12-03.md": "One two three\n\n## Retain\n- O(c=0.8) @[[Ann]]: Likes the sea.\n- W @Bo: Has a boat.\n",
    "memory/2025-12-02.md": "## Retain\n- S @Bo: The boat was wet.\n- W(scope=work) @Bo: Owes us money.\n",
    "memory/2025-11-10.md": "## Retain\n- O(c=0.5) @[[Ann]]: Likes the sea.\n- B: Swam to the island.\n",
    "memory/2025-09-01.md": "## Retain\n- W @[[Ann]]: Bought a tent.\n- O(c=0.3) @Bo: Never pays.\n",
    "memory/2026-01-10.md": "## Retain\n- B @Bo: Sails round the cape.\n",
    "Boats.md": "## Retain\n- W: Boats need paint.\n- O(c=0.9): Wood is better than steel.\n",
    "bank/entities/Ann.md": "---\ncreated: 2024-01-01\n---\n# Ann\n",
    "bank/summaries/2025-W36.md": "# Week 36\n",
    "bank/summaries/2025-11.md": "# November\n",
    "bank/summaries/notes.md": "# Not a period\n",
}


def curve(name: str, *points: tuple[date, float]) -> Figures:
    return {"opinion": name, "points": [{"date": day.isoformat(), "confidence": value} for day, value in points]}


def week(start: date, notes: int, facts: int) -> Figures:
    return {"week": period_of(start, "week").name, "notes": notes, "facts": facts}


@pytest.fixture
def vault(tmp_path: Path) -> Memory:
    return memory(fill(tmp_path / "vault", NOTES))


# --- figures ---------------------------------------------------------------------------------------------------------


def test_the_figures_of_a_small_vault(vault: Memory) -> None:
    found = stats(vault, TODAY)
    assert found["notes"] == {"count": 10, "dated": 6, "bytes": sum(len(text) for text in NOTES.values())}
    assert found["days"] == {
        "logged": 4, "first": "2025-09-01", "last": "2025-12-03", "streak": 2, "ahead": 1,
        "longest_gap": {"days": 69, "from": "2025-09-02", "to": "2025-11-09"},
    }  # fmt: skip
    # Those of 1 September are older than sixty days and nobody asked for them.
    assert found["facts"] == {
        "count": 10, "private": 1, "inferred": 0, "tiers": {"core": 0, "working": 8, "peripheral": 2},
        "kinds": {"world": 3, "experience": 2, "opinion": 4, "observation": 1},
    }  # fmt: skip
    most = [{"name": "Bo", "facts": 4}, {"name": "Ann", "facts": 3}]
    assert found["entities"] == {"count": 2, "with_page": 1, "mentioned": 1, "most_mentioned": most}
    assert found["opinions"] == {
        "held": 3, "moved_30_days": 1, "confidence": {"sure": 1, "likely": 1, "open": 0, "doubted": 1},
        "last_told": [
            curve("Ann: Likes the sea", (date(2025, 11, 10), 0.5), (TODAY, 0.6)),
            curve("Bo: Never pays", (date(2025, 9, 1), 0.3)),
        ],
    }  # fmt: skip
    assert found["summaries"] == {"week": 1, "month": 1, "year": 0}
    assert found["weeks"] == [
        week(date(2025, 9, 1), 1, 2), week(date(2025, 11, 10), 1, 2), week(date(2025, 12, 1), 2, 3),
    ]  # fmt: skip
    index_bytes = vault.index_file.path.stat().st_size
    assert found["index"] == {"bytes": index_bytes, "ratio": round(index_bytes / found["notes"]["bytes"], 2)}


def test_an_empty_vault_has_no_figures(tmp_path: Path) -> None:
    found = stats(memory(fill(tmp_path / "vault", {})), TODAY)
    assert (found["notes"]["count"], found["days"]["logged"], found["opinions"]["last_told"]) == (0, 0, [])
    assert "none with a log yet" in stats_text(found) and found["index"]["ratio"] == 0
    assert drawing.sparklines(found, 80).count("none with a date yet") == 2
    ElementTree.fromstring(drawing.svg(found, "vault"))


def test_what_was_asked_in_the_last_thirty_days_is_counted(vault: Memory) -> None:
    vault.index()
    with opened(vault) as store:
        days = (TODAY, TODAY - timedelta(days=29), TODAY - timedelta(days=30), TODAY + timedelta(days=1))
        rows = [(n, n, day.toordinal()) for n, day in enumerate(days)] + [(9, 0, TODAY.toordinal())]
        store.connection.executemany("INSERT INTO used VALUES(?, ?, ?)", rows)
    assert stats(vault, TODAY)["recalls_30_days"] == 2


@pytest.mark.parametrize(
    ("logged", "gap_days", "streak", "ahead"),
    [([], 0, 0, 0), ([0], 0, 1, 0), ([0, 1, 2, 5], 2, 3, 0), ([1, 2, 9, 30], 20, 2, 0), ([-1, -40], 0, 0, 2)],
)
def test_the_habit(logged: list[int], gap_days: int, streak: int, ahead: int) -> None:
    found = days_of([TODAY - timedelta(days=ago) for ago in logged], TODAY)
    assert (found["longest_gap"] or {"days": 0})["days"] == gap_days
    assert (found["logged"], found["streak"], found["ahead"]) == (len(logged) - ahead, streak, ahead)


@pytest.mark.parametrize(
    ("points", "moved"),
    [
        ([(90, 0.5), (60, 0.9)], False),
        ([(90, 0.5), (10, 0.6)], True),
        ([(20, 0.5), (10, 0.6)], True),
        ([(90, 0.5), (20, 0.9), (10, 0.5)], False),
    ],
)
def test_an_opinion_that_moved_lately(points: list[tuple[int, float]], moved: bool) -> None:
    told = curve("", *((TODAY - timedelta(days=ago), value) for ago, value in points))
    assert has_moved(told["points"], TODAY) is moved


# --- what is said ----------------------------------------------------------------------------------------------------


def test_no_name_moves_the_cursor(tmp_path: Path) -> None:
    root = fill(tmp_path / "vault", {"memory/2025-12-01.md": "## Retain\n- O @[[A\x1b2J]]: Is\x9b odd \u202e.\n"})
    said = call("--vault", str(root), "stats", "--plot").out
    assert "odd" in said and not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", said)


PRIVATE = {
    "memory/2025-12-01.md": "## Retain\n- O(c=0.4, scope=work) @Bo: Is lazy.\n- W(scope=work) @[[Ghost]] @Ann: Knows.\n"
    "- W(scope=work) @Ann: Was told.\n- W @Ann: Sails.\n",
    "memory/2025-12-02.md": "---\nscope: work\n---\n## Retain\n- O(c=0.9) @Eve: Is right.\n- W @Eve: Left.\n",
    "bank/entities/Ghost.md": "---\nscope: work\n---\n# Ghost\n",
    "bank/entities/Ann.md": "# Ann\n",
}


def test_what_is_private_is_in_one_figure_only(tmp_path: Path) -> None:
    root = fill(tmp_path / "vault", PRIVATE)
    found = stats(memory(root), TODAY)
    assert (found["facts"]["count"], found["facts"]["private"]) == (1, 5)
    assert found["entities"]["most_mentioned"] == [{"name": "Ann", "facts": 1}] and found["entities"]["count"] == 1
    assert (found["opinions"]["held"], set(found["opinions"]["confidence"].values())) == (0, {0})
    said = stats_text(found) + json.dumps(found) + drawing.svg(found, "")
    assert not re.search(r"\b(?:Ghost|Eve|Bo)\b", said)
    assert len(memory(root).opinions()) == 2, "they are shown to who asks for them"
    assert {"Ghost", "Eve", "Bo"} <= {row.name for row in memory(root).entities()}


# --- drawing ---------------------------------------------------------------------------------------------------------

ODD = 'Tern <b> & "co"'
CURVES = (
    curve(f"{ODD}: rises", (date(2025, 1, 1), 0.5), (date(2025, 2, 1), 0.9)),
    curve("falls", (date(2025, 1, 1), 0.9), (date(2025, 1, 20), 0.2)),
)
WEEKS = (week(date(2024, 12, 30), 3, 12345), week(date(2025, 1, 20), 1, 0))


def figures_of(curves: Sequence[Figures], weeks: Sequence[Figures]) -> Figures:
    opinions = {"held": len(curves), "last_told": list(curves)}
    facts = {"count": 7, "tiers": {}}
    return {"day": str(TODAY), "notes": {"count": 4321}, "facts": facts, "opinions": opinions, "weeks": list(weeks)}


names = st.text(max_size=40)
points = st.dictionaries(st.dates(), st.floats(0, 1), min_size=1, max_size=9).map(lambda d: sorted(d.items()))
mondays = st.integers(0, 521_000).map(lambda week: date.fromordinal(1 + 7 * week))
weeks = st.dictionaries(mondays, st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), max_size=70).map(
    lambda known: tuple(week(start, *both) for start, both in sorted(known.items()))
)
drawn = st.builds(
    figures_of, st.lists(st.builds(lambda name, told: curve(name, *told), names, points), max_size=10), weeks
)


@given(drawn, st.integers(0, 240))
def test_no_line_is_wider_than_the_terminal(found: Figures, width: int) -> None:
    assert max(map(cells, drawing.sparklines(found, width).split("\n"))) <= max(width, 24)


@given(drawn, names)
def test_a_drawing_is_xml_that_stands_alone_and_keeps_within_its_page(found: Figures, title: str) -> None:
    svg = drawing.svg(found, title).encode()
    root = ElementTree.fromstring(svg)
    assert root.tag.endswith("svg") and is_unchanged(svg)
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags <= {"svg", "title", "style", "text", "rect", "path", "circle"}
    assert not any("href" in name or name.startswith("on") for element in root.iter() for name in element.attrib)
    height = float(root.attrib["height"])
    for element in root.iter():
        place = {name: float(element.attrib[name]) for name in ("x", "y", "width", "height") if name in element.attrib}
        assert 0 <= place.get("x", 0) <= place.get("x", 0) + place.get("width", 0) <= 800.1
        assert 0 <= place.get("y", 0) <= place.get("y", 0) + place.get("height", 0) <= height + 0.1


def test_a_drawing_holds_the_numbers_and_the_names() -> None:
    root = ElementTree.fromstring(drawing.svg(figures_of(CURVES, WEEKS), f"{ODD} notes"))
    texts = [element.text or "" for element in root.iter() if element.tag.rpartition("}")[2] in ("text", "title")]
    assert {f"{ODD} notes", f"{ODD}: rises", "0.90 ↗", "0.20 ↘", "up to 12,345"} <= set(texts)
    assert {"Week 4 of 2025, 20–26 January: 1 note", "0.50 on 2025-01-01", "0.90 on 2025-02-01"} <= set(texts)
    assert "30 Dec 2024 – 26 Jan 2025" in texts and any(text.startswith("4,321 notes, 7 facts") for text in texts)


# --- the file ---------------------------------------------------------------------------------------------------------


def draw(found: Figures, file: Path) -> None:
    write_drawing(file, drawing.svg(found, "vault"))


def test_a_drawing_is_written_and_drawn_again(vault: Memory, tmp_path: Path) -> None:
    for file in (vault.vault.root / "Pictures/stats.svg", tmp_path / "out.SVG"):
        said = call("--vault", str(vault.vault.root), "stats", "--plot", str(file))
        assert (said.code, said.out) == (0, f"Wrote {file}\n")
        first = file.read_bytes()
        assert b"Likes the sea" in first and is_unchanged(first) and ElementTree.fromstring(first) is not None
        put(vault.vault.root, f"New {file.stem}.md", "new")
        assert call("--vault", str(vault.vault.root), "stats", "--plot", str(file)).code == 0
        assert file.read_bytes() != first
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".part")]


@pytest.mark.parametrize("where", ["vault/a.svg", "a.svg"])
@pytest.mark.parametrize("data", [b"", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"changed"])
def test_a_file_that_is_not_ours_stays(vault: Memory, tmp_path: Path, where: str, data: bytes) -> None:
    found, file = stats(vault, TODAY), tmp_path / where
    if data == b"changed":
        draw(found, file)
        data = file.read_bytes().replace(b"notes", b"leaves")
    file.write_bytes(data)
    file.chmod(0o640)
    with pytest.raises(RefusedError, match="not a drawing made by this program"):
        draw(found, file)
    assert file.read_bytes() == data and file.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs links")
def test_links_lead_nowhere_else(vault: Memory, tmp_path: Path) -> None:
    found, root = stats(vault, TODAY), vault.vault.root
    secret = tmp_path / "secret.txt"
    secret.write_text("mine")
    (root / "a.svg").symlink_to(secret)
    (root / "b.svg").symlink_to(root / "Boats.md")
    for file in (root / "a.svg", root / "b.svg"):
        with pytest.raises(RefusedError):
            draw(found, file)
    assert secret.read_text() == "mine" and (root / "Boats.md").read_text() == NOTES["Boats.md"]
