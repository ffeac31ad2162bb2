"""Every page that reflect writes, by the strict checker: the sample vault, a vault of traps, vaults with nothing."""

from datetime import date
from pathlib import Path

import pytest
from page_checker import problems, written
from reflecting import reflect, texts
from sample import make_sample
from vaults import fill, put, run

LONG = " ".join(f"plank{n} was sawn and planed" for n in range(120))
TRAPS: dict[str, str | bytes] = {
    # a daily note whose folder and name the settings give, a name that a note of the week shares with a page of ours
    ".obsidian/daily-notes.json": '{"folder": "Daily", "format": "YYYY/MM/YYYY-MM-DD"}',
    "Daily/2025/11/2025-11-03.md": (
        "---\ntags: [daily]\n---\n## Retain\n"
        "- W @[[C# Guild]]: Meets on Mondays in the back room of the library. ^guild\n"
        "- W @[[C# Guild]]: Has fourteen members and a borrowed projector.\n"
        "- B @李明: 在图书馆教了一堂关于指针的课。\n"
        '- W @[[Ann "Nan" Berg]]: Keeps the key of the back room on a blue ribbon.\n'
        "- W @Odd: See `code | with pipes` and [[No Such Note]] and [[Odd|him]] for the wiring of the lamp.\n"
        "- W @Odd: The mark <!-- memory:end facts --> stood in the old ledger of the ferry.\n"
        "- W @Odd: A loose end [[ of a link stood in the letter about the mooring.\n"
        f"- W @Odd: {LONG}.\n"
        "- W @Odd: Runs.\n"
    ),
    "Daily/2025/11/2025-11-11.md": (
        b"## Retain\r\n"
        b"- W @Odd: Keeps bees behind the boathouse\r\n  and sells the honey in October.\r\n"
        b"- B @Odd @Mara: Carried the hives over the ice.\r\n"
        b"- W @Mara: Lives in Bergen. ^lives\r\n"
        b"- O(c=0.8) @Mara: Prefers letters to calls.\r\n"
    ),
    "Daily/2025/11/2025-11-12.md": (
        "## Retain\n"
        "- W @[[C# Guild]]: Moved its meetings to Thursdays after a vote.\n"
        "- W @[[Work, and more — notes]]: The archive was painted green in spring.\n"
        "- W @李明: 现在住在上海，每周写信。\n"
        '- W @[[Ann "Nan" Berg]]: Lent the ribbon to the museum for a year.\n'
        "- W(scope=secret) @Odd: Owes the bank forty thousand crowns.\n"
        "- W @Mara: Now lives in Oslo.\n"
        "- W @Mara %%hidden%%: Bought a second 100% wool coat -- a --> b <!-- c.\n"
        "- O(c=0.9) @Mara: Prefers letters to calls, says her sister too.\n"
        "- W @Odd: Trailing words with a tab\tin the middle of them. #honey #bees\n"
    ),
    "Work/C# notes.md": (
        "---\ndate: 2025-11-13\n---\n# C#\n\n## Retain\n"
        "- W @[[C# Guild]]: Decided to buy its own projector before Christmas. ^projector\n"
        "- W @[[C# Guild]]: The library asks for a rent of ninety crowns a month.\n"
    ),
    "Work/Work, and more — notes.md": (
        "---\ndate: 2025-11-14\n---\n## Retain\n- W @Odd: Mended the roof of the archive with tarred felt.\n"
        "- B @Odd: Counted the boxes, two hundred and eleven of them.\n"
        "- W @Mara: Catalogued the maps of the northern harbours.\n"
    ),
    "A/Twin.md": "---\ndate: 2025-11-15\n---\n## Retain\n- W @Odd: Painted the door of the shed red.\n",
    "B/Twin.md": "---\ndate: 2025-11-15\n---\n## Retain\n- W @Odd: Hung a bell over the door of the shed.\n",
    "Weekly/2025-W46.md": "---\ndate: 2025-11-16\n---\n## Retain\n- W @Odd: Plans the week on Sundays with a pencil.\n",
    "Notes/World.md": "---\ndate: 2025-11-16\n---\n## Retain\n- W @Mara: Wants to see the world beyond [[2025-W46]].\n",
    "Daily/2025/11/2025-11-17.md": (
        "# Talk\n\n**Mara**: I decided to sell the old boat to the museum.\n**Odd**: I moved to Trondheim last week.\n"
        "**Mara**: I really love the smell of tar in the morning.\n"
    ),
    "Daily/2025/11/2025-11-18.md": "up at 6. ferry late. decided: no more ferry. bought rope 12 m, 340 kr.\n",
    "bank/entities/Odd.md": "# Odd\n\nMy own words.\n",
}


@pytest.fixture(scope="module")
def traps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = fill(tmp_path_factory.mktemp("traps") / "v", TRAPS)
    reflect(root)
    return root


@pytest.mark.parametrize("today", ["2025-12-02", date.today().isoformat()])
def test_the_pages_of_the_sample_vault(tmp_path: Path, today: str) -> None:
    root = make_sample(tmp_path / "v")
    for _ in range(2):
        ended = run(root, "reflect", "--now", today)
        assert ended.returncode == 0, ended.stderr
        assert problems(root) == []
    assert len(written(root)) > 20
    assert "made" not in ended.stdout
    assert "updated" not in ended.stdout


def test_the_pages_of_a_vault_of_traps(traps: Path) -> None:
    assert problems(traps) == []
    assert len(written(traps)) > 8
    before = texts(traps)
    again = reflect(traps)
    assert (again["pages"], again["skipped"]) == ([], [])
    assert texts(traps) == before


def test_a_note_of_the_same_name_has_its_twin_cited_by_its_path(tmp_path: Path) -> None:
    root = fill(tmp_path / "v", TRAPS)
    reflect(root)
    put(root, "Archive/2025-11-11.md", "An old copy, kept for the drawings.\n")
    assert problems(root) != []
    reflect(root)
    assert problems(root) == []


@pytest.mark.parametrize(
    "notes",
    [
        {},
        {"Idea.md": "A bridge over the sound.\n"},
        {"Idea.md": "## Retain\n- W @Odd: Keeps bees.\n- W @Odd: Sails.\n- O @Odd: Likes rain.\n- B: Slept.\n"},
        {"memory/2025-11-03.md": ""},
        {"memory/2025-11-03.md": "## Retain\n"},
    ],
)
def test_a_vault_with_little_or_nothing(tmp_path: Path, notes: dict[str, str]) -> None:
    root = fill(tmp_path / "v", {"bank/.keep": "", **notes})
    (root / ".obsidian").mkdir()
    reflect(root)
    assert problems(root) == []
    before = texts(root)
    assert reflect(root)["pages"] == []
    assert texts(root) == before
