"""Pages follow the notes wherever these go: a vault that was changed has the pages of one made of the same notes."""

import random
import re
from datetime import date, timedelta
from pathlib import Path

import pytest
from reflecting import reflected, texts
from vaults import age, fill, memory, put

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


def forget(root: Path, line: int) -> None:
    asked = memory(root)
    asked.forget(asked.plan_forget(LOG, line, line))


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


# --- any changes -----------------------------------------------------------------------------------------------------

START = date(2025, 10, 1)
NAMES = ("Nora", "Odd", "Zed", "Oddvar")
SAID = (
    "Keeps the lighthouse", "Sold the boat to a cousin", "Likes coffee without milk", "Prefers tea over coffee",
    "Painted the boathouse with the neighbours", "Moved to Bergen", "Walked to the church with the children",
    "Finds short mails better than long ones", "Bought a lamp; it came broken", "Decided to use rye for the bread",
)  # fmt: skip


class Grown:
    """A vault that somebody changes in all the ways that move facts from page to page, or take them away."""

    def __init__(self, root: Path, seed: int) -> None:
        self._draw = random.Random(seed)
        days = self._draw.sample(range(60), self._draw.randint(4, 12))
        logs = {self._log(day): self._text(self._draw.randint(1, 6)) for day in days}
        self.root = fill(root, {"bank/entities/Odd.md": "---\naliases: [Oddvar]\n---\n# Odd\n", **logs})

    def _log(self, day: int) -> str:
        return f"memory/{START + timedelta(day)}.md"

    def _text(self, count: int) -> str:
        return "## Retain\n" + "".join(self._bullet() for _ in range(count))

    def _bullet(self) -> str:
        said = f"{self._draw.choice(SAID)} number {self._draw.randrange(40)}"
        return f"- {self._draw.choice('WWBOS')} @{self._draw.choice(NAMES)}: {said}.\n"

    def change(self) -> None:
        logs = sorted(path for path in texts(self.root) if path.startswith("memory/"))
        path = self._draw.choice(logs)
        lines = (self.root / path).read_text("utf-8").splitlines(keepends=True)
        at = self._draw.randrange(1, len(lines)) if len(lines) > 1 else 0
        match self._draw.randrange(5):
            case 0:
                other = self._log(self._draw.randrange(60))
                if other not in logs:
                    (self.root / path).rename(self.root / other)
            case 1:
                page = (self.root / "bank/entities/Odd.md").read_text("utf-8")
                alias = self._draw.choice(["[]", "[Oddvar]", "[Zed]", "[Oddvar, Zed]"])
                put(self.root, "bank/entities/Odd.md", re.sub(r"aliases: .*", f"aliases: {alias}", page))
            case 2 if at:
                asked = memory(self.root)
                asked.forget(asked.plan_forget(path, at + 1, at + 1))
            case 3 if at:
                lines[at] = re.sub(r"- (\w) ", r"- \1(scope=private) ", lines[at])
                put(self.root, path, "".join(lines))
            case _:
                put(self.root, path, "".join([*lines, self._bullet()]))
        settle(self.root)


def pages(root: Path) -> dict[str, str]:
    """What the pages with a block say, but for the numbers of cited lines: one that only moved is no edit."""
    found = {path: data.decode() for path, data in texts(root).items() if path.startswith("bank/")}
    return {
        path: re.sub(r"<!-- memory:end.*?-->|(?<=\]\] )L\d+(?:, L\d+)*", "", text)
        for path, text in found.items()
        if "memory:begin" in text
    }


@pytest.mark.parametrize("seed", range(5))
def test_pages_are_those_of_a_vault_made_of_the_same_notes(tmp_path: Path, seed: int) -> None:
    vault = Grown(tmp_path / "v", seed)
    for _ in range(3):
        reflected(vault.root, force=True)
        settle(vault.root)
        for _ in range(2):
            vault.change()
    reflected(vault.root, force=True)
    notes = {path: data.decode() for path, data in texts(vault.root).items()}
    start = {path: text.partition("<!-- memory:begin")[0].rstrip("\n") + "\n" for path, text in notes.items()}
    scratch = fill(tmp_path / "s", start)  # with the pages there are, for others link these
    settle(scratch)
    reflected(scratch, force=True)
    made, wanted = pages(vault.root), pages(scratch)
    assert {path: made.get(path) for path in wanted} == wanted
    beyond = {path: made[path].partition("-->\n")[2] for path in made.keys() - wanted.keys()}
    assert not [path for path, text in beyond.items() if LEFT not in text and "Too little to sum up" not in text]
