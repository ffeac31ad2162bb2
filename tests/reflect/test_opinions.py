"""The command tells the beliefs that reflect puts on its page, and writes nothing."""

import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest
from reflecting import block, reflected
from sample import call
from vaults import fill, memory, opened, put, snapshot

from vault_memory.health.stats import stats
from vault_memory.memory import Memory
from vault_memory.reflect.opinion_query import Opinion

PAGE = "bank/opinions.md"
TODAY = date.today().isoformat()

LETTERS = {
    "memory/2025-11-03.md": "## Retain\n- O(c=0.8) @Mara: Prefers letters to calls.\n- W @Mara: Lives in Bergen.\n",
    "memory/2025-11-05.md": "## Retain\n- O @Odd: Likes the old ferry.\n- B: Rowed to the weir.\n",
}
AGAINST = {
    "memory/2025-11-07.md": "## Retain\n- W @Mara: Prefers letters to calls.\n",
    "memory/2025-11-09.md": "## Retain\n- W @Mara: Does not prefer letters to calls any more.\n",
    "memory/2025-11-11.md": "## Retain\n- W @Mara: No longer prefers letters to calls.\n",
}
AGAIN = {
    "memory/2025-11-08.md": "## Retain\n- O(c=0.95) @Mara: Prefers letters to calls.\n",
    "memory/2025-11-19.md": "## Retain\n- O(c=0.98) @Mara: Prefers letters to calls!\n",
}
PRIVATE = {
    "memory/2025-11-10.md": "## Retain\n- O(c=0.3, scope=agent:moss) @Mara: Prefers letters to calls.\n"
    "- W(scope=agent:moss) @Mara: Does not prefer letters to calls any more.\n- O(scope=agent:moss): Rain is fine.\n"
}
OWN_PAGE = {PAGE: "# Opinions\n\n- O(c=0.6) @Odd: Likes the old ferry.\n- O @[[Mara]]: Sings out of tune.\n"}
NOBODY = {"memory/2025-11-12.md": "## Retain\n- O(c=0.77): Rye beats wheat.\n- O: Rye does not beat wheat.\n"}
TALK = {"memory/2025-11-13.md": "Odd: So?\nMara: I like the old ferry in the harbour of Bergen.\n" * 3}
NAMED = {"bank/entities/Mara Lund.md": "---\naliases: [Mara]\n---\n# Mara Lund\n"}

VAULTS: Mapping[str, Mapping[str, str]] = {
    "told once": LETTERS,
    "contradicted on two days": LETTERS | AGAINST,
    "told again": LETTERS | AGAIN,
    "told again and contradicted": LETTERS | AGAIN | AGAINST,
    "private too": LETTERS | AGAINST | PRIVATE,
    "a page of one's own": LETTERS | OWN_PAGE,
    "of nobody": LETTERS | NOBODY,
    "said in a conversation": LETTERS | TALK,
    "with a page and an alias": LETTERS | AGAINST | NAMED,
}
_TOLD = re.compile(r"- \*\*(?P<number>\.\d\d)\*\* (?P<text>.*?) — \[\[(?P<note>[^\]|]*)[^\]]*\]\] L(?P<line>\d+)")
_COURSE = re.compile(r"  - (?P<marks>[▁-█]+) (?P<trend>\w+)")
_BEARS = re.compile(r"  - (?P<word>for|against|related): .* — \[\[(?P<note>[^\]|]*)[^\]]*\]\] L(?P<line>\d+)")


def on_page(root: Path) -> list[tuple[object, ...]]:
    """What the page says of each opinion: number, text, place, course, and the places that speak for or against it."""
    found: list[list[object]] = []
    for line in block((root / PAGE).read_bytes(), "opinions"):
        if told := _TOLD.fullmatch(line):
            place = (told["note"].rpartition("/")[2], int(told["line"]))
            found.append([float(told["number"]), told["text"], place, None, []])
        elif course := _COURSE.match(line):
            found[-1][3] = (course["marks"], course["trend"])
        elif bears := _BEARS.fullmatch(line):
            found[-1][4].append((bears["word"], bears["note"].rpartition("/")[2], int(bears["line"])))  # type: ignore[attr-defined]
    return sorted((*one[:4], tuple(sorted(one[4]))) for one in found)  # type: ignore[call-overload]


def as_told(opinion: Opinion) -> tuple[object, ...]:
    """The same of an opinion as the command has it."""
    statement = next(line for line in opinion.evidence if line.text == opinion.statement)
    bears = [
        (word, Path(line.path).stem, line.start_line)
        for word, lines, most in (
            ("for", opinion.supports, 3), ("against", opinion.contradicts, 3), ("related", opinion.related, 1),
        )
        for line in lines[:most]
    ]  # fmt: skip
    course = (opinion.sparkline, opinion.trend) if len(opinion.sparkline) > 1 else None
    text = re.sub(r"@|\[\[|\]\]", "", opinion.statement).removesuffix(".") + " (no longer)" * bool(
        opinion.superseded_by
    )
    return opinion.confidence, text, (Path(statement.path).stem, statement.start_line), course, tuple(sorted(bears))


def shared(of: Memory) -> list[tuple[object, ...]]:
    """All that is for everybody."""
    return sorted(as_told(opinion) for opinion in of.opinions() if opinion.scope == "global")


@pytest.mark.parametrize("name", VAULTS)
def test_the_command_and_the_page_say_the_same(tmp_path: Path, name: str) -> None:
    root = fill(tmp_path / "v", VAULTS[name])
    before = shared(memory(root))
    reflected(root, TODAY)
    assert on_page(root) == before != []
    assert shared(memory(root)) == before, "with what a run remembered, and with its pages there"


def test_the_vaults_tell_more_than_what_is_written(tmp_path: Path) -> None:
    (mara,) = memory(fill(tmp_path / "v", VAULTS["told again and contradicted"])).opinions("mara")
    assert mara.confidence not in {line.confidence for line in mara.evidence}
    assert (len(mara.evidence), len(mara.supports), len(mara.contradicts)) == (3, 1, 2)
    assert [moment.date[-2:] for moment in mara.history] == ["03", "07", "08", "09", "11", "19"]
    assert len(mara.sparkline) > 1 and mara.history[0].confidence == 0.8
    assert mara.history[-1].confidence == mara.confidence
    assert [line.date[-2:] for line in mara.evidence if line.date] == ["19", "08", "03"]


# --- scopes ----------------------------------------------------------------------------------------------------------


def test_what_is_private_moves_nothing_that_is_for_everybody(tmp_path: Path) -> None:
    alone = shared(memory(fill(tmp_path / "a", VAULTS["contradicted on two days"])))
    assert shared(memory(fill(tmp_path / "b", VAULTS["private too"]))) == alone


def test_what_is_private_is_told_with_its_scope(tmp_path: Path) -> None:
    root = fill(tmp_path / "v", VAULTS["private too"])
    mine = {one.statement: one for one in memory(root).opinions() if one.scope == "agent:moss"}
    assert set(mine) == {"Prefers letters to calls.", "Rain is fine."}
    letters = mine["Prefers letters to calls."]
    assert len(letters.evidence) == 2, "what all may see is weighed with it"
    assert {line.date for line in letters.contradicts} == {"2025-11-09", "2025-11-10", "2025-11-11"}
    said = call("--vault", str(root), "opinions").out
    assert "Rain is fine  (memory/2025-11-10.md#L4)  (private to agent:moss)\n" in said
    reflected(root, TODAY)
    assert "Rain" not in (root / PAGE).read_text("utf-8")


# --- asking ----------------------------------------------------------------------------------------------------------


def test_about_one_finds_who_is_only_mentioned(tmp_path: Path) -> None:
    of = memory(fill(tmp_path / "v", {"a.md": "## Retain\n- O @Mara: Trusts @Odd with the boat.\n- O @Ann: Is shy.\n"}))
    (one,) = of.opinions("odd")
    assert one.entities == ("Mara", "Odd")


def test_a_name_and_an_alias_are_one_wherever_the_note_lies_that_joins_them(tmp_path: Path) -> None:
    bullets = {
        "03": "- O(c=0.95) @Pete: Likes tea.\n- W @Pete: Lives in Lund.",
        "05": "- O(c=0.7) @[[Peter Smith]]: Likes tea.",
    }
    notes = {f"memory/2025-11-{day}.md": f"## Retain\n{lines}\n" for day, lines in bullets.items()}
    root = fill(tmp_path / "v", {**notes, "People/Peter Smith.md": "---\naliases: [Pete]\n---\n# Peter Smith\n"})
    of = memory(root)
    assert [(row.name, row.mentions) for row in of.entities()] == [("Peter Smith", 3)]
    figures = stats(of, date(2025, 12, 2))
    assert figures["entities"]["most_mentioned"] == [{"name": "Peter Smith", "facts": 3}]
    assert figures["opinions"]["held"] == len(of.opinions("Pete")) == len(of.opinions("Peter Smith")) == 1
    assert not any("Pete" in edit.path for edit in reflected(root, "2025-12-02").edits), "he has a note"


def test_asking_writes_nothing(tmp_path: Path) -> None:
    root = fill(tmp_path / "v", VAULTS["contradicted on two days"])
    memory(root).index()
    notes, inside = snapshot(root), sorted(str(file) for file in (root / ".memory").rglob("*") if file.is_file())
    for more in ([], ["--history"], ["--entity", "Mara"], ["--json"]):
        assert call("--vault", str(root), "opinions", *more).code == 0
    assert call("--vault", str(root), "stats", "--plot").code == 0
    assert snapshot(root) == notes
    assert [name for name in inside if not Path(name).exists()] == []
    assert not (root / ".memory/history").exists() and not (root / ".memory/journal").exists()
    with opened(memory(root)) as store:
        assert store.one("SELECT count(*) FROM bearing") == 0


# --- how it is told --------------------------------------------------------------------------------------------------


def test_an_opinion_says_why_it_is_as_sure_as_it_is(tmp_path: Path) -> None:
    root = fill(tmp_path / "v", VAULTS["contradicted on two days"])
    lines = call("--vault", str(root), "opinions", "--entity", "Mara").out.splitlines()
    assert re.fullmatch(r"0\.\d[05] falling Mara: Prefers letters to calls  \(memory/2025-11-03\.md#L2\).*", lines[0])
    assert re.fullmatch(r" {13}[▁-█]{3,4} from 0\.80 on 2025-11-03", lines[1])
    assert lines[2:] == [
        " " * 13 + "for:     Prefers letters to calls  (memory/2025-11-07.md#L2)",
        " " * 13 + "against: No longer prefers letters to calls  (memory/2025-11-11.md#L2), and 1 more",
    ]


def test_its_history_tells_each_day(tmp_path: Path) -> None:
    root = fill(tmp_path / "v", VAULTS["contradicted on two days"])
    lines = call("--vault", str(root), "opinions", "--entity", "Mara", "--history").out.splitlines()[1:]
    told = [
        re.fullmatch(r" {13}(2025-11-\d\d)  (0\.\d[05])  (for|against|stated 0\.80) .*#L2\)?", line) for line in lines
    ]
    assert [one and (one[1][-2:], one[3]) for one in told] == [
        ("11", "against"), ("09", "against"), ("07", "for"), ("03", "stated 0.80"),
    ]  # fmt: skip
    numbers = [float(one[2]) for one in told if one]
    assert numbers[0] < numbers[1] < numbers[2] and numbers[3] == 0.8


def test_a_bullet_of_several_lines_is_cited_whole(tmp_path: Path) -> None:
    root = fill(tmp_path / "v", {"memory/2025-11-03.md": "## Retain\n- O @Ann: Likes the sea\n  and the wind.\n"})
    (one,) = memory(root).opinions()
    assert [(line.start_line, line.end_line) for line in one.evidence] == [(2, 3)]


@pytest.mark.parametrize("page", [PAGE, "bank/proposals.md", "bank/entities/Mara.md"])
def test_a_page_that_leads_out_of_the_vault_keeps_nobody_from_asking(tmp_path: Path, page: str) -> None:
    root = fill(tmp_path / "v", VAULTS["contradicted on two days"])
    held = shared(memory(root))
    outside = put(tmp_path, "outside.md", "secret\n")
    (root / page).parent.mkdir(parents=True, exist_ok=True)
    (root / page).symlink_to(outside)
    assert shared(memory(root)) == held
    assert stats(memory(root), date.today())["opinions"]["held"] == 1, "the other one is superseded"
    done = reflected(root, TODAY)
    assert (page in {skipped.path for skipped in done.skipped}) == (page != "bank/proposals.md"), "nothing is proposed"
    assert outside.read_text() == "secret\n"
