"""A vault whose owner chose other names: nothing is made or said under the names that everybody else has."""

import json
import re
import shlex
from pathlib import Path

import pytest
import session_makers as make
from sample import at_home, call, working_in
from vaults import age, put

import vault_memory
from vault_memory.text.vault_layout import STANDARD, Layout

_USUAL = re.compile(r"\bbank/|\bmemory\.md", re.IGNORECASE)

LETTERS = "- O(c=0.95) @Mara: Prefers letters to calls.\n"
DONE = ("Painted the fence of the lower garden in green", "Sold the old rowing boat to the harbour master",
        "Repaired the gate behind the greenhouse with oak", "Met the surveyor about the eastern boundary wall",
        "Ordered four tons of gravel for the long drive")  # fmt: skip
LOGS = {
    "2025-11-03": f"## Retain\n{LETTERS}- W(i=0.9) @Odd: Is allergic to hazelnuts.\n- B @Odd: Moved the ladder.\n",
    "2025-11-04": "## Retain\n" + "".join(f"- B @{who}: {what}.\n" for who in ("Odd", "Mara") for what in DONE),
    "2025-11-05": f"## Retain\n{LETTERS}- W @Odd: Now lives in Oslo.\n- W @Mara: Sings.\n",
    "2025-11-06": "- Ida: What did Odd say about the roof?\n- Nils: The roof is done by the end of May, he said.\n"
    "- Ida: Then who pays for the new ladder?\n- Nils: Nobody has paid for the ladder since last summer.\n"
    "- Ida: Could the harbour office lend us theirs?\n- Nils: Their ladder went to the lighthouse in October.\n",
}
SAID = [("user", "Please remember: I'm allergic to walnuts."), ("user", "Our code review takes place on Wednesdays.")]
OWN = "# Opinions\n\n- O(c=0.6) @Odd: Would rather sail than row.\n"


class Story:
    """What somebody does with a vault, from `init` on: all that is printed, and the texts that are there at the end."""

    def __init__(self, home: Path, layout: Layout) -> None:
        self.root, self.layout, self.said = home / "v", layout, ""
        make.claude(home / "claude", "s1", SAID)
        settings = f'[sessions]\ntools = ["claude-code"]\nclaude_code = {json.dumps(str(home / "claude"))}\n'
        put(home, ".config/vault-memory/config.toml", settings)
        bank, core, daily = layout
        self.run(f"init '{self.root}' --bank '{bank}' --core '{core}' --daily-folder '{daily}'")
        for day, text in LOGS.items():
            put(self.root, f"{layout.daily_folder}/{day}.md", text)
        put(self.root, layout.opinions, OWN)
        put(self.root, layout.core, "# Memory\n\n- The boiler is in the cellar.\n")

    def run(self, line: str) -> str:
        arguments = shlex.split(line)
        got = call(*arguments) if arguments[0] == "init" else call("--vault", str(self.root), *arguments)
        assert got.code == 0, (line, got)
        self.said += f"$ {arguments[0]}\n{got.out}{got.err}"
        for file in self.root.rglob("*.md"):
            age(file, 60)
        return got.out

    def tick(self, quote: str) -> None:
        page = self.text(self.layout.proposals)
        (line,) = [line for line in page.split("\n") if quote in line]
        put(self.root, self.layout.proposals, page.replace(line, line.replace("- [ ]", "- [x]")))

    def text(self, path: str) -> str:
        return (self.root / path).read_text()

    def tree(self) -> dict[str, str]:
        files = sorted(file for file in self.root.rglob("*") if file.is_file() and ".memory" not in file.parts)
        return {file.relative_to(self.root).as_posix(): file.read_text() for file in files}


def told(home: Path, layout: Layout) -> Story:
    with at_home(home):
        story = Story(home, layout)
        story.run("index")
        story.run("retain 'The rowing boat leaks.' --entity Odd --date 2025-11-07")
        assert "Would rather sail" in story.run("opinions")  # a fact, though under no `Retain`
        story.run("reflect --now 2025-12-02 -v")
        written = (layout.world, layout.experience, layout.opinions, f"{layout.entities}Odd.md")
        assert all("memory:begin" in story.text(page) for page in (*written, layout.summary("2025-W45")))
        assert story.run("reflect --now 2025-12-02").startswith("Nothing new: 8 pages already up to date.")
        story.tick("allergic to hazelnuts")
        story.run("reflect --now 2025-12-02 --apply-core")
        assert "## Learnt\n\n- Odd: Is allergic to hazelnuts" in story.text(layout.core).replace("[[Odd]]", "Odd")
        context = story.run("context 'who is allergic to hazelnuts?'")
        assert context.index(f"{layout.core}") < context.index(f"{layout.daily_folder}/2025-11-03.md")
        story.run("capture")
        story.tick("takes place on Wednesdays")
        for line in (
            "proposals", "capture --dry-run", "capture", "facts", "recall 'what does Odd like?' --now 2025-12-02 -k 20",
            "entity Odd", "entities", f"get '{layout.opinions}#Opinions'",
            f"forget '{layout.opinions}#L3' --yes --text 'Would rather sail than row'",
            "stats --json", "lint", "doctor", "status", "--rebuild", "index --check",
        ):  # fmt: skip
            story.run(line)
        for kind in ("forget", "capture", "reflect"):
            if kind == "reflect":
                story.run("reflect --now 2026-04-02")
            run = re.findall(rf"\b\d{{8}}T[\w.]+-\w+-{kind}\b", story.said)[-1]
            assert story.run(f"undo {run}").startswith(f"Undo of {kind}, ")
        story.run("reflect --now 2025-12-02 --dry-run")
    return story


@pytest.mark.parametrize(
    "layout",
    [
        Layout("Wissen", "Kern.md", "Tage"), Layout("Mein Wissen", "Mein Wissen/Kern.md", "Mein Wissen/Tage/Logs"),
        Layout("Alles/Wissen", "Alles/Kern.md", "Alles"),
    ],
    ids=["names", "folders", "one folder"],
)  # fmt: skip
def test_nothing_is_made_or_said_under_other_names(tmp_path: Path, layout: Layout) -> None:
    story = told(tmp_path, layout)
    everything = story.said + json.dumps(story.tree())
    assert not re.findall(r"\bbank\b.*|memory\.md.*|(?<![\w.-])memory/.*", everything, re.IGNORECASE)
    assert {path.partition("/")[0] for path in story.tree()} <= {name.partition("/")[0] for name in layout}


def test_other_names_change_nothing_else(tmp_path: Path) -> None:
    """Names as long as the usual ones, in the same order."""
    other = Layout("bunk", "memori.md", "memory")
    usual, own = told(tmp_path / "a", STANDARD), told(tmp_path / "b", other)

    def plain(text: str) -> str:
        text = text.replace("bunk", "bank").replace("memori.md", "memory.md")
        text = text.replace(str(own.root.parent), str(usual.root.parent))
        return re.sub(r"\d{8}T[\w.]+-\w+|\b[0-9a-f]{12}\b|\d\d:\d\d|[\d.]+ (?:s|MB)\b", "#", text)

    assert plain(own.said) == plain(usual.said)
    assert {plain(path): plain(text) for path, text in own.tree().items()} == usual.tree()


def test_no_message_names_a_page_by_its_usual_name() -> None:
    """But for the layout itself, the settings, and `init`, which fills it from the templates."""
    package = Path(vault_memory.__file__).parent
    naming = {file.relative_to(package).as_posix() for file in package.rglob("*.py") if _USUAL.search(file.read_text())}
    assert naming == {"text/vault_layout.py", "config.py", "cli/notes.py"}


def test_a_name_that_is_changed_later_has_the_index_built_anew(tmp_path: Path) -> None:
    with at_home(tmp_path), working_in(tmp_path):
        put(tmp_path, "Wissen/opinions.md", "- O(c=0.6) @Odd: Would rather sail than row.\n")
        call("init")
        assert call("opinions").out == ""
        put(tmp_path, ".memory/config.toml", '[vault]\nbank = "Wissen"\n')
        changed = call("opinions")
        assert "Would rather sail" in changed.out and "with other settings" in changed.err


def test_what_was_deleted_on_a_page_stays_away_where_the_bank_is_renamed(tmp_path: Path) -> None:
    usual = Layout(STANDARD.bank, STANDARD.core, "memory")
    with at_home(tmp_path):
        story = Story(tmp_path, usual)
        story.run("reflect --now 2025-12-02")
        page = story.root / f"{usual.entities}Odd.md"
        page.write_text("".join(line for line in page.read_text().splitlines(True) if "eastern boundary" not in line))
        (story.root / usual.summary("2025-11")).unlink()
        story.run("reflect --now 2025-12-02")
        (story.root / "bank").rename(story.root / "Wissen")
        settings = story.root / ".memory/config.toml"
        settings.write_text(settings.read_text().replace('bank = "bank"', 'bank = "Wissen"'))
        put(story.root, "memory/2025-11-08.md", "## Retain\n- W @Odd: Keeps bees.\n")
        story.run("reflect --now 2025-12-02")
    now = story.text("Wissen/entities/Odd.md")
    assert "Keeps bees" in now and "eastern boundary" not in now
    assert not (story.root / "Wissen/summaries/2025-11.md").exists() and not (story.root / "bank").exists()


@pytest.mark.parametrize("name", ["../x", "/etc", ".hidden", "a//b", "a|b", "a\u2028b", ""])
def test_a_name_that_is_no_plain_path_is_refused(tmp_path: Path, name: str) -> None:
    for option in ("--bank", "--core"):
        refused = call("init", str(tmp_path / "v"), option, f"{name}.md" if name and option == "--core" else name)
        assert refused.code == 2 and "inside the vault" in refused.err
    assert not (tmp_path / "v").exists()


@pytest.mark.parametrize(
    ("core", "daily", "bank", "wrong"),
    [
        ("memory.md", "D", "D/", "`D` would hold daily notes and the pages"),
        ("memory.md", "./D", "D", "`./D` would hold daily notes and the pages"),
        ("memory.md", "D/summaries", "D", "`D/summaries` would hold daily notes and the pages"),
        ("B/opinions.md", "D", "B", "`B/opinions.md` would be the core and a page"),
        ("B/entities/Me.md", "D", "B", "`B/entities/Me.md` would be the core and a page"),
        ("B/core.md", "B/days", "B", ""),
        ("memory.md", "D", "D/pages", ""),
    ],
)
def test_one_name_for_two_things_is_refused(tmp_path: Path, core: str, daily: str, bank: str, wrong: str) -> None:
    with at_home(tmp_path), working_in(tmp_path):
        got = call("init", "v", "--core", core, "--daily-folder", daily, "--bank", bank)
        assert (got.code == 2, Path("v").exists()) == (bool(wrong), not wrong)
        assert wrong in got.err and ("Give one of them another name." in got.err) == bool(wrong)
        names = f'core = "{core}"\ndaily_folder = "{daily}"\nbank = "{bank}"\n'
        put(tmp_path, "v/.memory/config.toml", f"[vault]\n{names}")
        assert ("would " in call("--vault", "v", "doctor").out) == bool(wrong)
