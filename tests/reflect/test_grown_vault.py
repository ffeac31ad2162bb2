"""Pages follow the notes wherever these go: a vault that was changed has the pages of one made of the same notes."""

from pathlib import Path

from reflecting import reflected, texts
from vaults import age, fill, put

LEFT = "Nothing in the notes tells of this any more."
WEEK, NORA, NONNI = "bank/summaries/2025-W45.md", "bank/entities/Nora.md", "bank/entities/Nonni.md"
LOG, LATER = "memory/2025-11-03.md", "memory/2025-11-13.md"

THINGS = ("lens", "keel", "oven", "gate", "roof", "well", "pump", "loom", "barn", "mill")
PLACES = ("weir", "chapel", "island", "farm", "bridge", "fjord", "town", "shed", "harbour", "school")
DEEDS = (
    "was polished with chalk before the inspector came over from Bergen in the morning boat",
    "had to be scraped and tarred by the two brothers who had done it ten years before as well",
    "burnt the bread because its door does not close and nobody has found the time to mend that",
)  # fmt: skip


def bullets(count: int) -> list[str]:
    return [
        f"- W @Nora: The {THINGS[n]} near the {PLACES[n]} {DEEDS[n % 3]}, which cost {n * 37 + 11} crowns in all.\n"
        for n in range(count)
    ]


def settle(root: Path) -> None:
    for path in texts(root):
        age(root / path, 60)


def block(root: Path, path: str) -> str:
    text = (root / path).read_text("utf-8")
    return text[text.index("<!-- memory:begin") : text.index("<!-- memory:end")]


def grown(root: Path, notes: dict[str, str]) -> Path:
    made = fill(root, notes)
    settle(made)
    reflected(made)
    settle(made)
    return made


def test_a_log_of_another_day_leaves_nothing_on_the_pages_of_its_old_one(tmp_path: Path) -> None:
    root = grown(tmp_path / "v", {LOG: "## Retain\n" + "".join(bullets(10))})
    assert "[[2025-11-03]]" in block(root, WEEK)
    (root / LOG).rename(root / LATER)
    settle(root)
    reflected(root)
    assert block(root, WEEK).splitlines()[1:] == [LEFT]
    assert not [path for path, data in texts(root).items() if b"[[2025-11-03]]" in data or b"[[2025-W45]]" in data]
    settle(root)
    assert reflected(root).edits == ()


def test_facts_that_go_with_a_dropped_alias_stand_on_one_page_only(tmp_path: Path) -> None:
    says = {f"memory/2025-11-0{day}.md": f"## Retain\n- W @Nonni: Rowed on day {day}.\n" for day in (3, 5)}
    root = grown(tmp_path / "v", {NORA: "---\naliases: [Nonni]\n---\n# Nora\n\nhello\n", **says})
    put(root, NORA, (root / NORA).read_text("utf-8").replace("[Nonni]", "[]"))
    settle(root)
    reflected(root)
    assert "2 facts on 2 days" in block(root, NONNI)
    assert block(root, NORA).splitlines()[1:] == [LEFT] and b"hello" in (root / NORA).read_bytes()
    settle(root)
    assert reflected(root).edits == ()
