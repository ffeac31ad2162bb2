"""The pages bank/world.md, bank/experience.md and bank/opinions.md as a person reads them."""

import re
from pathlib import Path

import pytest
from reflecting import block, reflected, texts
from vaults import fill, put

WORLD, EXPERIENCE, OPINIONS = "bank/world.md", "bank/experience.md", "bank/opinions.md"
LOGS = {
    "memory/2025-10-30.md": "## Retain\n- B: Rowed to the weir, counted nine herons.\n- W @Mara: Lives in Bergen.\n",
    "memory/2025-11-03.md": "## Retain\n- W @Mara: Keeps the key of it.\n- W: The harbour freezes in hard winters.\n"
    "- B @Odd: Sold the ferry to the museum.\n- O(c=0.8) @Mara: Prefers letters to calls.\n",
    "memory/2025-11-05.md": "## Retain\n- W @Mara: Now lives in Oslo.\n- S @Odd: Whistles before he says no.\n"
    "- B: We decided to paint the boathouse red in spring.\n- W: We decided to keep the old lamp.\n",
}
OWN = "# World\n\nMy own words.\n\n## Retain\n\n- W @Odd: Was born on the isle of Kallö.\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = fill(tmp_path / "v", {**LOGS, WORLD: OWN})
    reflected(made)
    return made


def test_how_things_are(root: Path) -> None:
    lines = block(texts(root)[WORLD])
    assert lines[0] == "## From the logs"
    told = "\n".join(lines)
    for said in ("Keeps the key", "harbour freezes", "Whistles before", "Now lives in Oslo"):
        assert said in told
    for not_said in ("Lives in Bergen", "herons", "Sold the ferry", "Prefers letters", "born on the isle"):
        assert not_said not in told, "superseded, done, held, or written on the page itself"


def test_a_short_fact_keeps_the_names_of_those_it_is_about(tmp_path: Path) -> None:
    facts = "- W @Gus: Has a boat.\n- W @Dora: Is a vet.\n- W @Hans @Ida: Are married.\n- W: The sea is cold.\n"
    root = fill(tmp_path / "v", {"memory/2026-11-10.md": f"## Retain\n{facts}"})
    reflected(root)
    lines = [line.partition(" — ")[0] for line in block(texts(root)[WORLD]) if line.startswith("- ")]
    assert sorted(lines) == ["- Dora: Is a vet", "- Gus: Has a boat", "- Hans, Ida: Are married", "- The sea is cold"]


def test_what_was_done_the_newest_month_first(root: Path) -> None:
    lines = block(texts(root)[EXPERIENCE])
    assert [line for line in lines if line.startswith("#")] == [
        "## From the logs", "### November 2025", "### October 2025"
    ]  # fmt: skip
    assert [re.split(r" — |: ", line)[-1] for line in lines if line.startswith("- ")] == [
        "[[2025-11-03]] L4", "[[2025-11-05]] L4", "[[2025-10-30]] L2"
    ]  # fmt: skip


def test_an_opinion_that_holds_no_more_comes_behind_those_that_do(tmp_path: Path) -> None:
    newer = "- O(c=0.6, supersedes=[[2025-11-01#^tea]]) @Peter: Prefers coffee.\n"
    logs = {"2025-11-01": "- O(c=0.95) @Peter: Prefers tea. ^tea\n", "2025-11-07": newer}
    root = fill(tmp_path / "v", {f"memory/{day}.md": f"## Retain\n{text}" for day, text in logs.items()})
    reflected(root)
    for page, name in (OPINIONS, "opinions"), ("bank/entities/Peter.md", "facts"):
        told = [line.partition(" — ")[0] for line in block(texts(root)[page], name) if line.startswith("- **")]
        assert told == ["- **.60** Prefers coffee", "- **.80** Prefers tea (no longer)"]


SAID = ["harbour", "kettle", "lantern", "mooring", "orchard", "parcel", "quarry", "ridge", "saddle", "timber",
        "umbrella", "valley", "wagon", "bakery"]  # fmt: skip


def test_what_was_told_last_has_a_place(tmp_path: Path) -> None:
    def log(month: int, day: int) -> str:
        told = (f"{SAID[(day + n) % 14]} {SAID[(day * n + month) % 14]} {month * day * n % 97}" for n in range(1, 5))
        facts = "".join(f"- W(i=0.9) @Tern: We decided about the {words} on the {day}th of it.\n" for words in told)
        return f"## Retain\n{facts}- W @Tern: Version 0.{month}.{day} is deployed on all three nodes.\n"

    days = [(month, day) for month in (9, 10, 11) for day in range(1, 29, 2)]
    root = fill(tmp_path / "v", {f"memory/2025-{month:02}-{day:02}.md": log(month, day) for month, day in days})
    put(root, "memory/2025-12-02.md", log(12, 2))
    reflected(root)
    for page in (WORLD, "bank/entities/Tern.md"):
        told = "\n".join(block(texts(root)[page]))
        assert "more fact" in told, "there is no room for all"
        assert set(re.findall(r"Version ([\d.]+) is deployed", told)) <= {"0.12.2"}
        assert "[[2025-12-02]]" in told


TOLD_DIFFERENTLY = [
    ("The spare key of the flat is with Mrs Sutherland.", "The spare key of the flat is with Mrs Petzold."),
    ("The Skye trip is planned for 12 February 2027.", "The Skye trip on 12 February 2027 is cancelled."),
    ("The ferry to Skye is on in February.", "The ferry to Skye is off in February."),
    ("The grant was confirmed for Skye.", "The grant was refused for Skye."),
]


@pytest.mark.parametrize(("older", "newer"), TOLD_DIFFERENTLY)
def test_what_differs_in_one_word_is_two_facts(tmp_path: Path, older: str, newer: str) -> None:
    logs = {"2026-11-01": older, "2026-11-10": newer, "2026-11-12": "The hostel is booked."}
    root = fill(tmp_path, {f"memory/{day}.md": f"## Retain\n- W @Trip: {text}\n" for day, text in logs.items()})
    reflected(root)
    for path in ("bank/entities/Trip.md", WORLD):
        lines = "\n".join(block(texts(root)[path]))
        assert older[:-1] in lines and newer[:-1] in lines
    assert "more fact" not in lines


def test_of_what_is_said_again_the_newest_line_stands(tmp_path: Path) -> None:
    said = {"2026-11-01": "the hostel is booked", "2026-11-10": "The hostel is booked.", "2026-11-11": "Skye is far."}
    root = fill(tmp_path, {f"memory/{day}.md": f"## Retain\n- W @Trip: {text}\n" for day, text in said.items()})
    reflected(root)
    for path in ("bank/entities/Trip.md", WORLD):
        lines = "\n".join(block(texts(root)[path]))
        assert "The hostel is booked" in lines and "the hostel is booked" not in lines
        assert "1 more fact" in lines
