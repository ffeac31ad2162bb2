"""What no note tells any more, or nobody but some may know, goes from every page, to the last fact of it."""

import re
from pathlib import Path

import pytest
from reflecting import reflected, texts
from sample import call
from vaults import age, fill, put

ZOE = "bank/entities/Zoe.md"
LOG, LATER = "memory/2025-11-03.md", "memory/2025-11-05.md"
FACTS = (
    "- W @Zoe: Bought a red boat from the harbour master.\n",
    "- B @Zoe: Rowed to the island with the whole family.\n",
    "- W @Zoe: Keeps the key of the boathouse under a stone.\n",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    logs = {LOG: "## Retain\n" + "".join(FACTS[:2]), LATER: "## Retain\n" + FACTS[2]}
    found = fill(tmp_path / "v", logs)
    settle(found)
    reflected(found)
    settle(found)
    return found


def settle(root: Path) -> None:
    for path in texts(root):
        age(root / path, 60)


def told(root: Path) -> list[str]:
    """The pages that tell of a boat, an island or a key."""
    pages = {path: data for path, data in texts(root).items() if path.startswith("bank/")}
    return sorted(path for path, data in pages.items() if re.search(rb"boat|island|key of", data))


def forget(root: Path, path: str, line: int) -> None:
    asked = call("--vault", str(root), "forget", f"{path}#L{line}", "--yes")
    assert asked.code == 0, asked.err


def test_who_is_forgotten_wholly_is_on_no_page(root: Path) -> None:
    assert told(root) == [ZOE, "bank/experience.md", "bank/world.md"]
    for path, line in ((LOG, 3), (LOG, 2), (LATER, 2)):
        forget(root, path, line)
    settle(root)
    done = reflected(root)
    assert told(root) == [] and not done.skipped
    assert b"Nothing in the notes tells of this any more." in (root / ZOE).read_bytes()
    settle(root)
    assert reflected(root).edits == ()


def test_what_becomes_private_goes_and_what_becomes_public_comes(root: Path) -> None:
    files = {path: (root / path).read_text("utf-8") for path in (LOG, LATER)}
    for path, text in files.items():
        put(root, path, re.sub(r"- (\w) ", r"- \1(scope=private) ", text))
    settle(root)
    assert reflected(root).left_out == {"private": 3}
    assert told(root) == []
    for path, text in files.items():
        put(root, path, text)
    settle(root)
    reflected(root)
    assert told(root) == [ZOE, "bank/experience.md", "bank/world.md"]


def test_a_summary_with_too_little_left_tells_nothing_that_is_gone(tmp_path: Path) -> None:
    things = ("lens", "keel", "oven", "gate", "roof", "well", "pump", "loom", "barn", "mill")
    deeds = (
        "was polished with chalk before the inspector came", "had to be scraped and tarred by the two brothers",
        "burnt the bread because its door does not close", "was painted green although Odd wanted it blue",
        "leaks at the chimney whenever the wind is westerly", "gave clear water again after the night of rain",
        "needs a leather washer that only Bergen sells", "wove the grey blanket for the harbour master",
        "holds forty bales of hay and one stubborn goat", "ground eleven sacks of rye for the neighbours",
    )  # fmt: skip
    where = ("by the weir", "behind Odd's shed", "on the island", "at the mill", "below the bridge", "up at the farm",
             "in the old town", "near the chapel", "across the fjord", "on the north side")  # fmt: skip
    bullets = [
        f"- W @Nora: The {thing} {place} {deed}, which took until noon and cost {n * 37} crowns in all.\n"
        for n, (thing, deed, place) in enumerate(zip(things, deeds, where, strict=True), 1)
    ]
    root = fill(tmp_path / "v", {LOG: "## Retain\n" + "".join(bullets), LATER: "## Retain\n- B @Nora: Went home.\n"})
    settle(root)
    reflected(root)
    week = root / "bank/summaries/2025-W45.md"
    named = [thing for thing in things if f"The {thing} " in week.read_text("utf-8")]
    assert named
    for name in reversed(range(len(things))):
        if things[name] in named:
            forget(root, LOG, name + 2)
    forget(root, LATER, 2)
    settle(root)
    reflected(root)
    assert not [thing for thing in named if f"The {thing} " in week.read_text("utf-8")]
