"""Ranking over real vaults: age, superseded facts, presets."""

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from asking import ask
from sample import call
from vaults import fill, memory

from vault_memory.memory import Memory
from vault_memory.search.answer import Answer
from vault_memory.startup import PRESETS
from vault_memory.store.view import Filters
from vault_memory.text import tokens

NOTES = {
    "memory/2025-10-01.md": "## Retain\n- W @Peter: Peter lives in Malmö.\n- W @Peter: Peter has a red boat.\n",
    "memory/2025-11-01.md": "## Retain\n- W @[[Peter Smith]]: Peter now lives in Lund.\n",
    "memory/2025-11-02.md": "Nothing of note but rain.\n",
    "bank/entities/Peter Smith.md": "---\naliases: [Peter]\n---\n# Peter Smith\n",
}


@pytest.fixture
def vault(tmp_path: Path) -> Memory:
    return memory(fill(tmp_path / "vault", NOTES))


def marks(answer: Answer) -> dict[str, str | None]:
    return {result.source: result.superseded_by for result in answer.results if result.kind == "world"}


OLD, BOAT, NEW = "memory/2025-10-01.md#L2", "memory/2025-10-01.md#L3", "memory/2025-11-01.md#L2"


def world(*lines: str) -> str:
    return "## Retain\n" + "".join(f"- {line}\n" for line in lines)


def test_the_older_fact_comes_behind_and_says_so(vault: Memory) -> None:
    found = marks(ask(vault, "where does Peter live"))
    assert (found[OLD], found[NEW], found[BOAT]) == (NEW, None, None)
    assert list(found).index(NEW) < list(found).index(OLD)


def test_who_asks_for_the_old_value_gets_it_first(vault: Memory) -> None:
    assert next(iter(marks(ask(vault, "Malmö")))) == OLD


@pytest.mark.parametrize("newer", ["Bo moved to Oslo.", "Bo relocated to Oslo.", "Bo now resides in Oslo."])
def test_words_for_what_is_asked_do_not_put_the_older_first(tmp_path: Path, newer: str) -> None:
    of = memory(fill(tmp_path, {
        "memory/2026-01-05.md": "## Retain\n- W @Bo: Bo lives in Malmö.\n- W @Bo: Bo has a red boat.\n",
        "memory/2026-03-05.md": f"## Retain\n- W @Bo: {newer}\n",
    }))  # fmt: skip
    now = datetime(2026, 4, 1, tzinfo=UTC)
    for query in ("where does Bo live", "does Bo still live there", "in which town is Bo living"):
        assert list(marks(ask(of, query, now=now)))[:2] == ["memory/2026-03-05.md#L2", "memory/2026-01-05.md#L2"]
        assert next(iter(marks(ask(of, f"{query}, in Malmö", now=now)))) == "memory/2026-01-05.md#L2"


def test_a_successor_that_no_lane_found_is_brought_in(tmp_path: Path) -> None:
    talk = {f"n{n}.md": f"The house of number {n} was sold in spring.\n" for n in range(180)}
    of = memory(fill(tmp_path, talk | {
        "memory/2025-10-01.md": "## Retain\n- W @Flat: The monthly rent is 900 euro for the house.\n",
        "memory/2025-10-02.md": "## Retain\n- W @Flat: The fee is 12.\n- W @Bo: Bo lives in Malmö.\n",
        "memory/2025-11-01.md": "## Retain\n- W @Bo: He relocated to Oslo.\n",
    }))  # fmt: skip
    answer = ask(of, "who lives anywhere", mode="lexical", k=2, explain=True)
    assert [r.source for r in answer.results] == ["memory/2025-11-01.md#L2", "memory/2025-10-02.md#L3"]
    assert (answer.results[0].why or {})["lanes"] == {}
    hidden = ask(of, "who lives anywhere", mode="lexical", filters=Filters(kinds=("world",), until=date(2025, 10, 30)))
    assert [r.date for r in hidden.results] == ["2025-10-02"] * len(hidden.results) != []


def test_nothing_was_superseded_before_it_was(vault: Memory) -> None:
    assert marks(ask(vault, "where does Peter live", filters=Filters(as_of=date(2025, 10, 31))))[OLD] is None
    before = datetime(2025, 10, 15, 12, tzinfo=UTC)
    assert marks(ask(vault, "where does Peter live", now=before))[OLD] is None


def test_a_successor_in_a_scope_that_is_not_asked_is_not_named(tmp_path: Path) -> None:
    secret = {"memory/2025-11-01.md": "## Retain\n- W(scope=agent:moss) @Peter: Peter now lives in Lund.\n"}
    of = memory(fill(tmp_path, NOTES | secret))
    assert marks(ask(of, "where does Peter live"))[OLD] == NEW
    assert marks(ask(of, "where does Peter live", filters=Filters(scopes=("global",))))[OLD] is None


def test_what_begins_later_takes_its_place_on_that_day(tmp_path: Path) -> None:
    of = memory(fill(tmp_path, {
        "memory/2025-05-01.md": "## Retain\n- W @Flat: The flat is based in Lund.\n",
        "memory/2025-05-10.md": "## Retain\n- W @Flat: The flat is based in Bern from June.\n",
    }))  # fmt: skip
    old, new = "memory/2025-05-01.md#L2", "memory/2025-05-10.md#L2"
    assert marks(ask(of, "where is the flat", now=datetime(2025, 5, 31, 12, tzinfo=UTC)))[old] is None
    found = marks(ask(of, "where is the flat", now=datetime(2025, 6, 1, 12, tzinfo=UTC)))
    assert (found[old], list(found)) == (new, [new, old])


def test_what_has_no_day_supersedes_nothing_as_of_a_day(tmp_path: Path) -> None:
    of = memory(fill(tmp_path, {
        "bank/world.md": world("W @Anna: Anna lives in Oslo.", "W @Anna: Anna now lives in Bergen."),
    }))  # fmt: skip
    answer = ask(of, "where does Anna live", filters=Filters(as_of=date(2025, 6, 1)))
    assert [r.superseded_by for r in answer.results if r.kind == "world"] == [None, None]


def test_text_and_json_say_it_within_the_budget(vault: Memory) -> None:
    query = ["recall", "where does Peter live", "--vault", str(vault.vault.root), "--no-journal", "--now", "2025-12-01"]
    text = call(*query).out
    assert "L2 - W @Peter: Peter lives in Malmö. ← older; see 2025-11-01#L2\n" in text
    document = json.loads(call(*query, "--json").out)
    assert {r["source"]: r["superseded_by"] for r in document["results"]}[OLD] == NEW
    for budget in range(20, 160, 7):
        said = call(*query, "--budget", str(budget)).out.rstrip("\n")
        assert tokens.count(said) <= budget


# --- presets ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_answers_and_explains(vault: Memory, preset: str) -> None:
    answer = ask(vault, "where does Peter live", preset=preset, explain=True)
    scores = [result.score for result in answer.results]
    assert scores
    for result in answer.results:
        assert result.why is not None
        assert (result.why.get("preset") or "tuned") == preset
        assert ("steps" in result.why) == (preset != "tuned")
    found = marks(answer)
    assert NEW in found
    assert OLD not in found or list(found).index(NEW) < list(found).index(OLD)


def test_a_preset_comes_from_a_request_the_environment_or_a_file(
    vault: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = vault.vault.root
    file = root.parent / "batch"

    def preset(**values: str) -> str:
        file.write_text(json.dumps({"query": "red boat", "explain": True, "now": "2025-12-01", **values}), "utf-8")
        (document,) = map(json.loads, call("recall", "--batch", str(file), "--vault", str(root)).out.splitlines())
        if "error" in document:
            return str(document["error"]["message"])
        return str(document["results"][0]["why"].get("preset", "tuned"))

    vault.index()
    assert preset() == "tuned"
    (root / ".memory" / "config.toml").write_text('[recall]\npreset = "weighted"\n', "utf-8")
    assert preset() == "weighted"
    monkeypatch.setenv("MEMORY_PRESET", "rrf")
    assert (preset(), preset(preset="tuned")) == ("rrf", "tuned")
    assert "is not a preset" in preset(preset="best")


# --- age -------------------------------------------------------------------------------------------------------------


def test_of_equal_lines_the_younger_comes_first_and_says_why(tmp_path: Path) -> None:
    of = memory(fill(tmp_path, {
        "memory/2025-03-01.md": "## Retain\n- O @Mara: The harbour café is good on a Monday.\n",
        "memory/2025-11-28.md": "## Retain\n- O @Mara: The harbour café is good on a Friday.\n",
    }))  # fmt: skip
    answer = ask(of, "harbour café", explain=True)
    assert [result.date for result in answer.results if result.kind == "opinion"] == ["2025-11-28", "2025-03-01"]
    first, second = (result for result in answer.results if result.kind == "opinion")
    assert (first.tier, second.tier) == ("working", "peripheral")
    assert first.why and second.why
    assert second.why["boosts"]["age"] < first.why["boosts"]["age"] <= 0
    assert second.why["life"]["age_days"] == 275


def test_the_one_exact_hit_is_never_buried(tmp_path: Path) -> None:
    """The only line with the word asked for, far older than many vague ones."""
    vague = {
        f"memory/2025-11-{day:02}.md": f"## Retain\n- W(i=1.0) @Mara: The anchor of boat {day} was lifted.\n"
        for day in range(1, 29)
    }
    old = {"memory/1995-01-01.md": "## Retain\n- W(i=0.0) @Mara: The sextant is broken.\n"}
    of = memory(fill(tmp_path, vague | old))
    answer = ask(of, "sextant of the boat")
    assert answer.results[0].content.endswith("The sextant is broken.")
    assert answer.results[0].tier == "peripheral"


def test_habits_that_share_a_common_word_do_not_outweigh_the_rare_one(tmp_path: Path) -> None:
    habits = (
        "Ran {} km, easy pace.", "Standup ran {} minutes too long.", "Watered the plants; the ficus loses leaves.",
        "Cooked lentils.", "CI was red all morning.", "Read {} pages.", "Slept badly.", "Bread in the oven at 230 °C.",
    )  # fmt: skip
    days = {
        f"memory/2025-11-{day:02}.md": "".join(f"- {habits[(day + 1) * k % 8].format(day)}\n" for k in (1, 3, 5))
        for day in range(1, 29)
    }
    backups = "Restic to a box every night; 7 daily, 4 weekly are kept."
    server = f"# Home server\n\nAn old PC, Debian.\n\n## Backups\n\n{backups}\n\n## Services\n\n- Jellyfin\n"
    mine = memory(fill(tmp_path / "vault", {**days, "Home server.md": server}))
    assert mine.recall("when does restic run?").results[0].path == "Home server.md"
