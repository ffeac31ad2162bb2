"""A page file that a person removed is not made again and is told of; of many gone at once nothing is written."""

import json
import shutil
from pathlib import Path

import pytest
from page_checker import problems
from reflecting import NORA, ODD, journal_lines, reflect, reflected, small_vault, texts, without_index
from sample import call
from vaults import age, memory, put

from vault_memory.reflect.job import ReflectReport
from vault_memory.rendering.reflect import reflect_text

KALLO = "bank/entities/Kallö.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = small_vault(tmp_path / "v")
    reflected(made)
    return made


def noted(root: Path) -> list[tuple[str, float]]:
    return [(line["about"], line["value"]) for line in journal_lines(root, "removed")]


def paths(done: ReflectReport) -> list[str]:
    return [edit.path for edit in done.edits]


@pytest.mark.parametrize("path", [NORA, KALLO, "bank/world.md", "bank/opinions.md"])
def test_it_is_not_made_again_whatever_is_told_and_whatever_becomes_of_the_index(root: Path, path: str) -> None:
    (root / path).unlink()
    assert (path in paths(reflected(root)), noted(root)) == (False, [(path, 1.0)])
    put(root, "memory/2025-12-08.md", "## Retain\n- W @Nora @Kallö: Has a new boat.\n- O @Nora: Loves the boat.\n")
    done = reflected(root)
    assert (path in paths(done), done.removed, noted(root)) == (False, (path,), [(path, 1.0)])
    without_index(root)
    done = reflected(root)
    assert (paths(done), done.removed, (root / path).exists()) == ([], (path,), False)
    assert problems(root) == []


def test_it_is_told_with_how_to_have_it_back(root: Path) -> None:
    (root / NORA).unlink()
    ended = call("--vault", str(root), "reflect", "--now", "2025-12-10")
    assert ended.code == 0
    assert f"Not recreated, because you removed it: {NORA}." in " ".join(ended.out.split())
    assert reflect(root)["removed"] == [NORA]
    assert "removed them: a, b, c, d and e." in reflect_text(ReflectReport((), removed=tuple("abcde")), verbose=True)


def test_force_makes_it_again_and_from_then_on_it_is_a_page_like_others(root: Path) -> None:
    (root / NORA).unlink()
    reflected(root)
    assert paths(reflected(root, only=("summaries",), force=True)) == []
    done = reflected(root, force=True)
    assert (NORA in paths(done), done.removed) == (True, ())
    assert reflected(root).edits == ()
    assert noted(root) == [(NORA, 1.0), (NORA, 0.0)]
    without_index(root)
    shutil.rmtree(root / "bank")
    assert NORA in paths(reflected(root))


def test_an_empty_note_of_its_name_has_it_back(root: Path) -> None:
    (root / NORA).unlink()
    reflected(root)
    put(root, NORA, "")
    done = reflected(root)
    assert (NORA in paths(done), done.removed) == (True, ())
    assert reflected(root).edits == ()


def without(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).unlink()


@pytest.mark.parametrize("arguments", [(), ("--dry-run",), ("--only", "summaries")])
def test_many_gone_at_once_are_lost_and_nothing_is_written(root: Path, arguments: tuple[str, ...]) -> None:
    shutil.rmtree(root / "bank/entities")
    put(root, "memory/2025-12-08.md", "## Retain\n- W @Nora @Kallö: Has a new boat.\n")
    before = texts(root)
    ended = call("--vault", str(root), "reflect", "--now", "2025-12-10", *arguments)
    assert (ended.code, texts(root), noted(root)) == (6, before, [])
    said = " ".join(ended.err.split())
    assert "3 of 3 pages of bank/entities are gone since the last run: nothing was written." in said
    assert "synced and mounted; `memory reflect --force` recreates them" in said
    assert [call("--vault", str(root), question).code for question in ("opinions", "stats")] == [0, 0]


def test_two_of_three_are_a_persons_tidying_and_so_is_the_third_another_day(root: Path) -> None:
    without(root, NORA, KALLO)
    assert reflected(root).removed == (KALLO, NORA)
    without(root, ODD)
    assert reflected(root).removed == (KALLO, NORA, ODD)


def test_what_an_undo_took_away_comes_back(tmp_path: Path) -> None:
    root = small_vault(tmp_path / "v")
    reflected(root)
    put(root, "memory/2025-12-08.md", "## Retain\n- W @Lund: Has a station.\n")
    put(root, "memory/2025-12-09.md", "## Retain\n- W @Lund: Has a market.\n")
    assert "bank/entities/Lund.md" in paths(reflected(root))
    for back in memory(root).undo().backs:
        if back.text is not None:
            age(root / back.path, 60)
    done = reflected(root)
    assert ("bank/entities/Lund.md" in paths(done), done.removed, noted(root)) == (True, (), [])


@pytest.mark.parametrize("path", ["../outside.md", "a\0b.md", "", ".memory/index.sqlite", "memory/2025-11-03.md"])
def test_a_journal_from_elsewhere_can_do_no_harm(root: Path, path: str) -> None:
    line = {"event": "removed", "day": "2025-12-01", "at": "2025-12-01T08:00:00+00:00", "about": path}
    put(root, ".memory/journal/other.jsonl", json.dumps({**line, "names": ["page"], "value": 1.0}) + "\n")
    done = reflected(root)
    assert (done.edits, done.removed) == ((), ())


@pytest.mark.parametrize("first", ["the page", "the index"])
def test_it_is_not_made_again_where_the_index_went_before_the_next_run(root: Path, first: str) -> None:
    if first == "the index":
        without_index(root)
        memory(root).index()
    (root / NORA).unlink()
    if first == "the page":
        without_index(root)
    put(root, "memory/2025-12-08.md", "## Retain\n- W @Nora @Kallö: Has a new boat.\n")
    done = reflected(root)
    assert (NORA in paths(done), KALLO in paths(done), done.removed) == (False, True, (NORA,))
    assert noted(root) == [(NORA, 1.0)]
