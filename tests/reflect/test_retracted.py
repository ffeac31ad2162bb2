"""What no note tells any more, or nobody but some may know, goes from every page, to the last fact of it."""

import re
from pathlib import Path

import pytest
from reflecting import block, forget, reflected, texts
from vaults import fill, memory, put

from vault_memory.health.doctor import lint
from vault_memory.rendering.reflect import reflect_document, reflect_text

LEFT = "Nothing in the notes tells of this any more."
WEEK, ZOE, NORA, NONNI = (
    "bank/summaries/2025-W45.md", "bank/entities/Zoe.md", "bank/entities/Nora.md", "bank/entities/Nonni.md",
)  # fmt: skip
LOG, LATER = "memory/2025-11-03.md", "memory/2025-11-05.md"
FACTS = (
    "- W @Zoe: Bought a red boat from the harbour master.\n",
    "- B @Zoe: Rowed to the island with the whole family.\n",
    "- W @Zoe: Keeps the key of the boathouse under a stone.\n",
)


def grown(root: Path, notes: dict[str, str]) -> Path:
    """A vault of these notes, reflected."""
    reflected(fill(root, notes))
    return root


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return grown(tmp_path / "v", {LOG: "## Retain\n" + "".join(FACTS[:2]), LATER: "## Retain\n" + FACTS[2]})


def told(root: Path) -> list[str]:
    """The pages that tell of a boat, an island or a key."""
    pages = {path: data for path, data in texts(root).items() if path.startswith("bank/")}
    return sorted(path for path, data in pages.items() if re.search(rb"boat|island|key of", data))


def test_who_is_forgotten_wholly_is_on_no_page(root: Path) -> None:
    assert told(root) == [ZOE, "bank/experience.md", "bank/world.md"]
    for place in (f"{LOG}#L3", f"{LOG}#L2", f"{LATER}#L2"):
        forget(root, place)
    done = reflected(root)
    assert told(root) == [] and not done.skipped
    assert b"Nothing in the notes tells of this any more." in (root / ZOE).read_bytes()
    assert reflected(root).edits == ()


def test_what_becomes_private_goes_and_what_becomes_public_comes(root: Path) -> None:
    files = {path: (root / path).read_text("utf-8") for path in (LOG, LATER)}
    for path, text in files.items():
        put(root, path, re.sub(r"- (\w) ", r"- \1(scope=private) ", text))
    assert reflected(root).left_out == {"private": 3}
    assert told(root) == []
    for path, text in files.items():
        put(root, path, text)
    reflected(root)
    assert told(root) == [ZOE, "bank/experience.md", "bank/world.md"]


THINGS = ("lens", "keel", "oven", "gate", "roof", "well", "pump", "loom", "barn", "mill")
DEEDS = (
    "was polished with chalk before the inspector came", "had to be scraped and tarred by the two brothers",
    "burnt the bread because its door does not close", "was painted green although Odd wanted it blue",
    "leaks at the chimney whenever the wind is westerly", "gave clear water again after the night of rain",
    "needs a leather washer that only Bergen sells", "wove the grey blanket for the harbour master",
    "holds forty bales of hay and one stubborn goat", "ground eleven sacks of rye for the neighbours",
)  # fmt: skip
WHERE = ("by the weir", "behind Odd's shed", "on the island", "at the mill", "below the bridge", "up at the farm",
         "in the old town", "near the chapel", "across the fjord", "on the north side")  # fmt: skip
SAYS = "".join(
    f"- W @Nora: The {thing} {place} {deed}, which took until noon and cost {n * 37} crowns in all.\n"
    for n, (thing, deed, place) in enumerate(zip(THINGS, DEEDS, WHERE, strict=True), 1)
)


def test_a_summary_with_too_little_left_tells_nothing_that_is_gone(tmp_path: Path) -> None:
    root = grown(tmp_path / "v", {LOG: "## Retain\n" + SAYS, LATER: "## Retain\n- B @Nora: Went home.\n"})
    week = root / WEEK
    named = [thing for thing in THINGS if f"The {thing} " in week.read_text("utf-8")]
    assert named
    for name in reversed(range(len(THINGS))):
        if THINGS[name] in named:
            forget(root, f"{LOG}#L{name + 2}")
    forget(root, f"{LATER}#L2")
    reflected(root)
    assert not [thing for thing in named if f"The {thing} " in week.read_text("utf-8")]


# --- notes that go elsewhere -----------------------------------------------------------------------------------------


def test_a_log_of_another_day_leaves_nothing_on_the_pages_of_its_old_one(tmp_path: Path) -> None:
    root = grown(tmp_path / "v", {LOG: f"## Retain\n{SAYS}"})
    assert "[[2025-11-03]]" in (root / WEEK).read_text("utf-8")
    (root / LOG).rename(root / "memory/2025-11-13.md")
    reflected(root)
    assert block((root / WEEK).read_bytes(), "summary") == [LEFT]
    assert not [path for path, data in texts(root).items() if b"[[2025-11-03]]" in data or b"[[2025-W45]]" in data]
    assert reflected(root).edits == ()


# --- names that mean another, or nobody ------------------------------------------------------------------------------


def test_facts_that_go_with_a_dropped_alias_stand_on_one_page_only(tmp_path: Path) -> None:
    says = {f"memory/2025-11-0{day}.md": f"## Retain\n- W @Nonni: Rowed on day {day}.\n" for day in (3, 5)}
    root = grown(tmp_path / "v", {NORA: "---\naliases: [Nonni]\n---\n# Nora\n\nhello\n", **says})
    put(root, NORA, (root / NORA).read_text("utf-8").replace("[Nonni]", "[]"))
    reflected(root)
    assert "2 facts on 2 days" in (root / NONNI).read_text("utf-8")
    assert block((root / NORA).read_bytes()) == [LEFT] and b"hello" in (root / NORA).read_bytes()
    assert reflected(root).edits == ()


SAM = {f"bank/entities/Sam {name}.md": f"---\naliases: [Sam]\n---\n# Sam {name}\n" for name in ("Brown", "Green")}
ROWED = {
    f"memory/2025-11-{day:02}.md": f"## Retain\n- W @Sam: Rowed on day {day} with the crew.\n" for day in (3, 4, 5)
}


def test_an_alias_of_two_is_nobodys_and_that_is_told(tmp_path: Path) -> None:
    root = fill(tmp_path / "v", SAM | ROWED)
    done = reflected(root)
    assert not (root / "bank/entities/Sam.md").exists()
    assert not [path for path in SAM if b"Rowed" in (root / path).read_bytes()]
    brown, green = SAM
    assert all(path in done.notices[0].why for path in SAM) and "`sam`" in done.notices[0].why
    assert done.notices[0].why.split()[0] in reflect_text(done)
    assert reflect_document(done)["notices"][0]["path"] == brown
    assert done.exit_code == 0
    problems = [problem for problem in lint(memory(root)) if "alias" in problem.message]
    assert [(problem.path, problem.level) for problem in problems] == [(brown, "warning"), (green, "warning")]
    assert green in problems[0].message and brown in problems[1].message
    assert reflected(root).edits == ()
