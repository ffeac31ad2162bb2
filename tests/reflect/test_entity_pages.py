"""entity_page.py: who has a page, what stands on it and in which section, and when it changes."""

import random
import re
import zlib
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

import pytest
from reflecting import block, page_context, reflected, texts
from sample import call
from vaults import fill

from vault_memory.reflect.entity_page import EntityPage
from vault_memory.reflect.fact import Fact
from vault_memory.reflect.generated_blocks import Line
from vault_memory.text import tokens
from vault_memory.text.calendar_days import Span


def fact(text: str, day: int = 3, *about: str, **more: object) -> Fact:
    on = more.pop("on", None) or date(2025, 11, day)
    who = about or ("nora",)
    values = {
        "key": zlib.crc32(f"{text}{on}".encode()),
        "path": f"memory/{on}.md",
        "day": on,
        "about": who,
        "subjects": who,
    }
    return Fact(kind="world", text=text, **{"line": 10, **values, **more})  # type: ignore[arg-type]


def page(facts: Sequence[Fact], limit: int = 1800, **more: object) -> list[Line]:
    newest = max(one.day for one in facts if one.day)
    known = EntityPage("nora", "Nora", facts, page_context(facts), newest=newest, **more)  # type: ignore[arg-type]
    return list(known.lines(limit))


def written(lines: Sequence[Line]) -> list[str]:
    return [line.text for line in lines]


def section(lines: Sequence[str], title: str) -> list[str]:
    """The lines below a heading."""
    if title not in lines:
        return []
    rest = list(lines[lines.index(title) + 1 :])
    end = next((place for place, line in enumerate(rest) if line.startswith("#")), len(rest))
    return rest[:end]


WORDS = (
    "anchor boards rafters harbour kettle lanterns mooring noon orchard parcel quarry ridge saddle timber umbrella"
    " valley wagon yarn bakery cellar ditch engine ferry gravel hatch iron jetty kiln ladder meadow north oven pump"
)


def many(number: int, **more: object) -> list[Fact]:
    dice = random.Random(3)
    start = date(2025, 3, 1)
    return [
        fact(f"{' '.join(dice.sample(WORDS.split(), 12)).capitalize()} {n}.", on=start + timedelta(n // 2), **more)
        for n in range(number)
    ]


# --- the page of one entity -------------------------------------------------------------------------------------------


def test_a_small_page() -> None:
    facts = [
        fact("Lives in Bergen.", 3, succeeded_by=7, key=6),
        fact("Lives in Oslo.", 9, key=7),
        fact("Rowed out to the weir with Odd.", 9, "nora", "odd", line=12),
    ]
    assert written(page(facts)) == [
        "## In the logs",
        "",
        "**Rowed out to the weir with Odd** — [[2025-11-09]] L12",
        "",
        "3 facts on 2 days, 3 November to 9 November 2025; together with Odd (1).",
        "",
        "- Lives in Oslo — [[2025-11-09]] L10",
        "- Lives in Bergen (until 9 Nov) — [[2025-11-03]] L10",
    ]


@pytest.mark.parametrize("number", [1, 2, 7, 40, 300])
def test_what_is_told_and_what_is_folded_are_all_facts_and_none_twice(number: int) -> None:
    facts = many(number, tier="peripheral")
    lines = page(facts)
    told = [key for line in lines for key in line.keys]
    assert len(told) == len(set(told))
    folded = next((re.search(r"…and (\d+) more", line.text) for line in lines if line.slot == "folded"), None)
    assert len(told) + (int(folded[1]) if folded else 0) == number
    if folded:
        counts = [int(count) for count in re.findall(r"\]\] \((\d+)\)", lines[-1].text)]
        assert sum(counts) <= int(folded[1])
        assert ("the most on" in lines[-1].text) == (sum(counts) < int(folded[1]))
    assert written(lines)[4].startswith(f"{number} fact")


@pytest.mark.parametrize("limit", [400, 900, 1800])
def test_a_page_keeps_to_its_tokens(limit: int) -> None:
    facts = many(300)
    opinions = [Line(f"- **.80** Thinks that {n} is enough — [[2025-11-03]] L{n}", (n,)) for n in range(3)]
    lines = page(facts, limit, opinions=opinions)
    assert tokens.count("\n".join(written(lines))) <= limit
    assert sum(line in lines for line in opinions) == 3


NOISE = [
    fact(f"Decided on {word} and {n} crews for {n * 37} kr.", n, importance=0.9)
    for n, word in enumerate(WORDS.split()[:20], 1)
]
"""What fills an overview, so that other facts stand in their sections."""

HEADING = fact(
    "Nora is the keeper of the Great Weir and of its 12 lamps, 7 oars and 40 ledgers, of the two iron sluices of Malmö"
    " above the mill pond, and of the rowing boats that lie upside down on the jetty until the ice is gone.",
    1,
    importance=1.5,  # before all others that say what she is
)


def day_of(day: int, month: int = 11) -> Span:
    return Span(date(2025, month, day), date(2025, month, day))


@pytest.mark.parametrize(
    ("one", "where"),
    [
        (fact("Is on call for the weir.", 4, occurred=Span(date(2025, 11, 6), date(2025, 11, 10))), "Earlier"),
        (fact("Built the house in 1938.", 10, occurred=Span(date(1938, 1, 1), date(1938, 12, 31))), "Now"),
        (fact("Keeps the key of the weir.", 4), "Now"),
        (fact("The signing is on 12 December.", 4, occurred=day_of(12, 12)), "Ahead"),
        (fact("Painted the boat house.", 4)._replace(kind="experience"), "Earlier"),
        (fact("The disk may be failing.", 4)._replace(kind="opinion"), "Earlier"),
        (fact("Keeps the key of the weir.", 4, tier="peripheral"), "Earlier"),
    ],
)
def test_what_is_over_what_is_so_and_what_lies_ahead(one: Fact, where: str) -> None:
    lines = written(page([*NOISE, HEADING, one]))
    found = {
        title
        for title in ("Now", "Ahead", "Earlier")
        if any(one.text[:-1] in t for t in section(lines, f"### {title}"))
    }
    assert found == {where}


def test_first_stands_how_things_are_now_not_how_they_were() -> None:
    facts = [
        fact("Nora keeps the lighthouse of Kallö.", 1),
        fact("The lamp is mended except for the lens; two days of work with a borrowed saw, in the rain.", 5),
        *(
            fact(f"Wrote letter {n} to the office about something else entirely, as every week.", 6 + n)
            for n in range(9)
        ),
        fact("Lens in, lamp lit: the lamp is mended.", 20),
    ]
    told = written(page(facts))
    overview = told[: told.index("### Now")] if "### Now" in told else told
    assert any("the lamp is mended" in line for line in overview)
    assert not any("except for the lens" in line for line in overview)


def test_the_headline_is_the_newest_line_on_its_matter() -> None:
    facts = [
        fact("The spare key of the flat is with Mrs Sutherland.", 1),
        fact("The spare key of the flat is with Mrs Petzold.", 5),
        fact("The hostel is booked.", 9),
    ]
    assert written(page(facts))[2] == "**The spare key of the flat is with Mrs Petzold** — [[2025-11-05]] L10"
    assert written(page(facts))[-1] == "- The spare key of the flat is with Mrs Sutherland — [[2025-11-01]] L10"


def test_what_holds_no_more_is_told_with_its_end_or_not_at_all() -> None:
    old = fact("Lives in Bergen, in the yellow house on the hill.", 3, key=6, succeeded_by=7)
    new = fact("Lives in Oslo.", 9, "nora", key=7)
    elsewhere = new._replace(about=("odd",))
    ends = "- Lives in Bergen, in the yellow house on the hill (until 9 Nov) — [[2025-11-03]] L10"
    both = written(page([old, new]))
    assert ends in both
    assert "**Lives in Oslo** — [[2025-11-09]] L10" in both
    assert any("(until 9 Nov)" in line for line in written(page([old], newer=[elsewhere])))
    unknown = written(page([old, fact("Sings.", 4)]))
    assert not any("Bergen" in line for line in unknown)
    assert any(line.startswith("…and 1 more fact") for line in unknown)


# --- who has a page ---------------------------------------------------------------------------------------------------


def log(*lines: str) -> str:
    return "## Retain\n" + "".join(f"- {line}\n" for line in lines)


def pages(root: Path) -> list[str]:
    return sorted(path for path in texts(root) if path.startswith("bank/entities/"))


@pytest.mark.parametrize(
    ("notes", "expected"),
    [
        ({"memory/2025-11-03.md": log("W @Nora: Rows.", "W @Nora: Sings.")}, []),
        ({"memory/2025-11-03.md": log("W @Nora: Rows."), "memory/2025-11-04.md": log("W @Nora: Sings.")}, ["Nora"]),
        ({"memory/2025-11-03.md": log("W @Nora: Rows."), "Idea.md": log("W @Nora: Sings.")}, []),
        (
            {
                "memory/2025-11-03.md": log("W @Nora: Rows."),
                "memory/2025-11-04.md": log("W @Nora: Sings."),
                "People/nora.md": "My neighbour.\n",
            },
            [],
        ),
        (
            {
                "memory/2025-11-03.md": log("W @[[Nora Berg]]: Rows."),
                "memory/2025-11-04.md": log("W: With @[[nora berg|her]] at the weir."),
            },
            ["Nora Berg"],
        ),
    ],
)
def test_who_has_a_page(tmp_path: Path, notes: dict[str, str], expected: list[str]) -> None:
    root = fill(tmp_path / "v", notes)
    reflected(root)
    assert [Path(path).stem for path in pages(root)] == expected


def test_the_message_a_line_was_captured_from_is_cited_in_the_log_alone(tmp_path: Path) -> None:
    said = "— sessions/claude-code/11111111-aaaa-4bbb-8ccc-222222222222#m19"
    logs = {"2025-11-03": log(f"W @Nora: Rows. {said}"), "2025-11-04": log(f"O(c=0.9) @Nora: Likes boats. {said}")}
    root = fill(tmp_path / "v", {f"memory/{day}.md": text for day, text in logs.items()})
    reflected(root)
    assert "Likes boats — [[2025-11-04]] L" in texts(root)["bank/entities/Nora.md"].decode()
    assert not [path for path, text in texts(root).items() if b"sessions/" in text and path.startswith("bank/")]
    shown = call("--vault", str(root), "entity", "Nora").out
    assert "Rows.  (memory/2025-11-03.md#L" in shown and "sessions/" not in shown
    assert said.encode() in texts(root)["memory/2025-11-03.md"]


def test_aliases_and_speakers_are_on_one_page(tmp_path: Path) -> None:
    chat = "".join(
        f"**{'Nora' if n % 2 else 'Odd'}**: {said}\n\n"
        for n, said in enumerate(
            ["Did you sleep?", "I moved to Trondheim on Monday.", "Good.", "I sold the old boat to the museum.", "Oh!"]
        )
    )
    root = fill(
        tmp_path / "v",
        {
            "bank/entities/Nora Berg.md": "---\naliases: [Nora, Norrie]\n---\n# Nora Berg\n",
            "memory/2025-11-03.md": log("W @Nora: Rows to the weir."),
            "memory/2025-11-04.md": log("W @Norrie: Sings in the choir."),
            "memory/2025-11-05.md": log("W @[[Nora Berg]]: Bought a lamp."),
            "memory/2025-11-06.md": chat,
        },
    )
    reflected(root)
    assert not [path for path in pages(root) if "Norrie" in path or path.endswith("/Nora.md")]
    lines = "\n".join(block(texts(root)["bank/entities/Nora Berg.md"]))
    for said in ("Rows to the weir", "Sings in the choir", "Bought a lamp", "Trondheim", "the museum"):
        assert said in lines


# --- when a page changes ----------------------------------------------------------------------------------------------


def test_a_name_too_long_for_a_file_stops_no_page(tmp_path: Path) -> None:
    told = "## Retain\n- W @[[{name}]]: Keeps a light on day {day}.\n- W @Zoe: Rows on day {day}.\n"
    root = fill(tmp_path / "v", {f"memory/2025-11-0{n}.md": told.format(name="Æ" * 200, day=n) for n in (3, 5)})
    done = reflected(root)
    assert done.exit_code == 0 and "bank/entities/Zoe.md" in {edit.path for edit in done.edits}
    assert reflected(root).edits == ()
