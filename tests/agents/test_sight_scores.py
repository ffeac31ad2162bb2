"""The history of an index changes no answer, and what is counted for an asker who sees a part follows the index."""

import random
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from vaults import fill, memory, opened

from vault_memory.federation import Federation
from vault_memory.indexing.held_index import HeldIndex, WatcherReport
from vault_memory.memory import Memory
from vault_memory.search.answer import Request
from vault_memory.search.recall import Recall
from vault_memory.store.filters import Filters
from vault_memory.store.lexicon import Lexicon
from vault_memory.store.view import ALL

WORDS = (
    "walnut",
    "walk",
    "harbour",
    "tile-server",
    "kettle",
    "Lisbon",
    "ferry",
    "木の",
    "木箱",
    "@Nora",
    "Peter",
    "C++",
)
QUESTIONS = (
    "walnut", "harbour kettle", "tile-server ferry", "木", "what does Nora walk", "Peter", "note 3",
    "c++ Lisbon walnut", "what happened on 2025-11-06",
)  # fmt: skip
NOW = datetime(2025, 12, 10, tzinfo=UTC)
OPEN = ("global", "agent:moss")

HIDING = {"p.md": "---\nscope: agent:adder\n---\n# Walnut\n\nKettle.\n", "o.md": "A walnut.\n"}

Vault = dict[str, str]


def line(rng: random.Random) -> str:
    """One of few, so that many lines are equal and many others of one length."""
    said = " ".join(rng.choices(WORDS[: rng.randint(2, len(WORDS))], k=rng.randint(1, 4)))
    return rng.choice(("{}.", "- {}", "- W @Nora: {}", "- O(c=0.8) @Peter: {}")).format(said)


def note(rng: random.Random) -> str:
    title = f"# {rng.choice(WORDS)} {rng.choice(WORDS)}\n\n" if rng.random() < 0.5 else ""
    return title + "## Retain\n\n" + "\n\n".join(line(rng) for _ in range(rng.randint(1, 6))) + "\n"


def path(rng: random.Random, number: int) -> str:
    return rng.choice((f"note {number}.md", f"memory/2025-11-{number + 1:02}.md", f"bank/entities/Nora {number}.md"))


def grown(root: Path, notes: Vault, rng: random.Random) -> Memory:
    """An index with a history: notes come one by one in any order, say something else first, and others go again."""
    mine = memory(fill(root, {}))
    waiting = list(notes.items())
    rng.shuffle(waiting)
    while waiting:
        some, waiting = waiting[: (size := rng.randint(1, 5))], waiting[size:]
        fill(root, {name: note(rng) if rng.random() < 0.3 else text for name, text in some})
        gone = fill(root, {"gone.md": note(rng)}) / "gone.md"
        mine.index()
        fill(root, dict(some))
        gone.unlink()
    mine.index()
    return mine


def fresh(root: Path, notes: Vault) -> Memory:
    mine = memory(fill(root, notes))
    mine.index()
    return mine


PRESETS = ("tuned", "weighted", "classic", "rrf")


def told(
    mine: Memory, presets: Sequence[str], questions: Sequence[str], scopes: tuple[str, ...] = OPEN
) -> list[tuple[Any, ...]]:
    """The answers, with scores, in one process that stays."""
    requests = [
        Request(question, NOW, k, None, Filters(scopes=scopes), preset=preset, mode=mode)
        for question in questions
        for preset in presets
        for k, mode in ((1, "auto"), (1, "lexical"), (3, "semantic"), (300, "auto"))
    ]
    return [
        (
            answer.request.query, answer.request.preset, answer.request.k, answer.request.mode,
            [result._replace(why=None) for result in answer.results], answer.omitted, answer.lanes, answer.degraded,
        )
        for answer in mine.answers(requests, keep=False)
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(2))
def test_the_history_of_an_index_changes_no_answer(tmp_path: Path, seed: int) -> None:
    """Many lines are equal, more of them than any pool holds. Only the counts of frequent words may lag by a tenth."""
    rng = random.Random(seed)
    few = [line(rng) for _ in range(12)]
    notes = {path(rng, number): "\n\n".join(rng.choices(few, k=25)) for number in range(28)}
    old = grown(tmp_path / "old", notes, rng)
    with opened(old) as store, store.writing():
        store.set_meta("frequent_at", 0)
        Lexicon(store.view(ALL)).refresh(store)
    new = fresh(tmp_path / "new", notes)
    assert told(old, PRESETS, QUESTIONS, ()) == told(new, PRESETS, QUESTIONS, ())


def test_a_process_that_stays_follows_the_index_for_an_asker_who_sees_a_part(tmp_path: Path) -> None:
    """Numbers of rows grow, are given again and go: nothing that was counted holds longer than the index."""
    cold = memory(fill(tmp_path, HIDING))
    cold.index()
    warm = Federation(cold.config, index_file=HeldIndex(cold.config, lambda: WatcherReport(False, 0)))
    try:
        for day in range(1, 5):
            found = told(warm, ("tuned", "classic"), ("walnut", "kettle 7"))
            assert found == told(memory(tmp_path), ("tuned", "classic"), ("walnut", "kettle 7"))
            fill(
                tmp_path,
                {f"n{number}.md": f"# Walnut {day}\n\n{'Kettle ' * day}{number} ferry.\n" for number in range(9 * day)},
            )
            (tmp_path / f"n{day}.md").unlink()
    finally:
        warm.close()


def test_what_was_counted_of_a_note_goes_when_it_is_outdated(tmp_path: Path) -> None:
    """The index stays as it is then: nobody may write it."""
    mine = memory(
        fill(tmp_path, {**HIDING, "a.md": "# Walnut\n\nWalnut and kettle.\n", "b.md": "# Walnut ferry\n\nFerry.\n"})
    )
    mine.index()
    requests = [
        Request(text, NOW, 9, None, Filters(scopes=OPEN), mode="lexical") for text in ("walnut", "ferry", "Peter")
    ]

    def scores(engine: Recall) -> list[Any]:
        return [[(each.path, each.score) for each in engine.answer(request).results] for request in requests]

    with opened(mine) as store:
        stays = mine.search.engine(store)
        before = scores(stays)
        store.outdated = ("a.md",)
        assert before != scores(stays) == scores(mine.search.engine(store))


def test_a_note_that_a_line_of_its_own_opens_is_not_found_by_its_title(tmp_path: Path) -> None:
    """Its title is private, and its path is not what a question is asked for either."""
    head = "---\nscope: agent:adder\naliases: [Zanzibar]\ntags: [zanzibar]\n---\n# Zanzibar\n"
    private = f"{head}\n## Retain\n- W(scope=global): Ferry.\n"
    root = fill(tmp_path, {"Zanzibar/a.md": private, "b.md": "# Walnut\n\nFerry.\n", "c.md": "Zanzibar.\n"})
    request = Request("zanzibar", NOW, 9, None, Filters(scopes=OPEN), mode="lexical")
    (answer,) = memory(root).answers([request], keep=False)
    assert [result.path for result in answer.results] == ["c.md"] and answer.lanes["lexical"] == 1
