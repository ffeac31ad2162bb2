"""What is private changes no score either, whatever the preset and however few results are wanted; nor does history.

Compared to the last bit, with private notes and lines that share words, titles and whole lines with the visible ones,
indexed before, between and after them, changed and deleted again. In the default preset an index that hides nothing
learns further words by what it counted of frequent ones (feedback.py), one that hides something from the candidates
alone: there what is hidden is compared with an empty note that is hidden.
"""

import os
import random
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from vaults import fill, memory, opened

from vault_memory.daemon.held_memory import Told, WarmMemory
from vault_memory.memory import Memory
from vault_memory.search.answer import Request
from vault_memory.search.recall import Recall
from vault_memory.store.filters import Filters
from vault_memory.store.lexicon import Lexicon
from vault_memory.store.schema import writing

DRAWN = settings(
    max_examples=int(os.environ.get("SIGHT_EXAMPLES", "10")),
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)

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
SHUT = ("agent:adder", "project:other")

HIDING = {"p.md": "---\nscope: agent:adder\n---\n# Walnut\n\nKettle.\n", "o.md": "A walnut.\n"}

Vault = dict[str, str]


def line(rng: random.Random) -> str:
    """One of few, so that many lines are equal and many others of one length."""
    said = " ".join(rng.choices(WORDS[: rng.randint(2, len(WORDS))], k=rng.randint(1, 4)))
    return rng.choice(("{}.", "- {}", "- W @Nora: {}", "- O(c=0.8) @Peter: {}")).format(said)


def note(rng: random.Random, scope: str = "") -> str:
    head = f"---\nscope: {scope}\n---\n" if scope else ""
    title = f"# {rng.choice(WORDS)} {rng.choice(WORDS)}\n\n" if rng.random() < 0.5 else ""
    return head + title + "## Retain\n\n" + "\n\n".join(line(rng) for _ in range(rng.randint(1, 6))) + "\n"


def path(rng: random.Random, number: int) -> str:
    return rng.choice((f"note {number}.md", f"memory/2025-11-{number + 1:02}.md", f"bank/entities/Nora {number}.md"))


def grown(root: Path, notes: Vault, private: Vault, rng: random.Random) -> Memory:
    """An index with a history: notes come one by one in any order, say something else first, and others go again."""
    mine = memory(fill(root, {}))
    waiting = list((notes | private).items())
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
        for answer in mine.recall(requests, keep=False)
    ]  # fmt: skip


@DRAWN
@given(st.integers(0, 1 << 48))
def test_what_is_private_changes_no_score(seed: int) -> None:
    rng = random.Random(seed)
    notes = {path(rng, number): note(rng) for number in range(rng.randint(1, 9))}
    private = {f"x{path(rng, n)}": note(rng, rng.choice(SHUT)) for n in range(rng.randint(1, 9))}
    with TemporaryDirectory() as folder:
        hiding = grown(Path(folder) / "hiding", notes, private, rng)
        nothing = fresh(Path(folder) / "nothing", {**notes, "x.md": "---\nscope: agent:adder\n---\n"})
        without = fresh(Path(folder) / "without", notes)
        asked = rng.sample(QUESTIONS, 2)
        found = told(hiding, PRESETS, asked)
        assert found == told(nothing, PRESETS, asked)
        assert [one for one in found if one[1] != "tuned"] == told(without, PRESETS[1:], asked)


@st.composite
def mixed(draw: st.DrawFn) -> tuple[Vault, Vault, int]:
    """Notes with private lines among the others, the same with other private lines in their places, and a seed."""
    seed = draw(st.integers(0, 1 << 48))
    rng, one, other = random.Random(seed), {}, {}
    for number in range(rng.randint(1, 9)):
        name = path(rng, number)
        one[name] = other[name] = note(rng)
        for _ in range(rng.randint(0, 3)):
            scope, seen = rng.choice(SHUT), line(rng)
            one[name] += f"\n- W(scope={scope}) {line(rng)}\n\n{seen}\n"
            other[name] += f"\n- W(scope={scope}) {rng.choice(('quokka', line(rng)))}\n\n{seen}\n"
    return one, other, seed


@DRAWN
@given(mixed())
def test_what_private_lines_say_changes_no_score(drawn: tuple[Vault, Vault, int]) -> None:
    one, other, seed = drawn
    rng = random.Random(seed)
    asked = rng.sample(QUESTIONS, 2)
    with TemporaryDirectory() as folder:
        hiding = grown(Path(folder) / "hiding", one, {"x.md": note(rng, SHUT[0])}, rng)
        others = fresh(Path(folder) / "others", {**other, "x.md": f"---\nscope: {SHUT[0]}\n---\n"})
        assert told(hiding, PRESETS, asked) == told(others, PRESETS, asked)


@pytest.mark.parametrize("seed", range(2))
def test_the_history_of_an_index_changes_no_answer(tmp_path: Path, seed: int) -> None:
    """Many lines are equal, more of them than any pool holds. Only the counts of frequent words may lag by a tenth."""
    rng = random.Random(seed)
    few = [line(rng) for _ in range(12)]
    notes = {path(rng, number): "\n\n".join(rng.choices(few, k=25)) for number in range(28)}
    old = grown(tmp_path / "old", notes, {}, rng)
    with opened(old) as store, writing(store.connection):
        store.set_meta("frequent_at", 0)
        Lexicon(store).refresh()
    new = fresh(tmp_path / "new", notes)
    assert told(old, PRESETS, QUESTIONS, ()) == told(new, PRESETS, QUESTIONS, ())


def test_a_process_that_stays_follows_the_index_for_an_asker_who_sees_a_part(tmp_path: Path) -> None:
    """Numbers of rows grow, are given again and go: nothing that was counted holds longer than the index."""
    cold = memory(fill(tmp_path, HIDING))
    cold.index()
    warm = WarmMemory(cold.config, lambda: Told(False, 0), lambda: None)
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
        stays = mine.engine(store)
        before = scores(stays)
        store.outdated = ("a.md",)
        assert before != scores(stays) == scores(mine.engine(store))


def test_a_note_that_a_line_of_its_own_opens_is_not_found_by_its_title(tmp_path: Path) -> None:
    """Its title is private, and its path is not what a question is asked for either."""
    found = []
    for number, title in enumerate(("Zanzibar", "Quokka walnut", "")):
        head = f"---\nscope: agent:adder\naliases: [{title}]\ntags: [{title or 'x'}]\n---\n# {title}\n"
        private = f"{head}\n## Retain\n- W(scope=global): Ferry.\n"
        root = fill(
            tmp_path / str(number), {"Private/a.md": private, "b.md": "# Walnut\n\nFerry.\n", "c.md": "Zanzibar.\n"}
        )
        found.append(told(memory(root), PRESETS, ("zanzibar", "walnut", "ferry", "quokka")))
    assert found[0] == found[1] == found[2]
