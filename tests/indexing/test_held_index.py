"""What an engine that stays keeps between questions: never stale after the index has changed, and bounded."""

import contextlib
import random
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from vaults import age, fill, memory, opened, put

from vault_memory.config import Config
from vault_memory.federation import Federation
from vault_memory.indexing.held_index import HeldIndex
from vault_memory.indexing.index_file import Freshness
from vault_memory.search.answer import Answer, Request
from vault_memory.store import rows

ROUNDS = pytest.mark.parametrize(
    ("seed", "rounds"), [(0, 8), *(pytest.param(seed, 40, marks=pytest.mark.slow) for seed in range(3))]
)
NOW = datetime(2025, 12, 1, tzinfo=UTC)
WORDS = "zebra river market bridge harbour lantern Ada Boris signal orchard".split()  # noqa: SIM905 - shorter so


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return fill(tmp_path / "vault", {f"n{n}.md": note(random.Random(n)) for n in range(12)})


@pytest.fixture
def warm(root: Path) -> Iterator[Federation]:
    """A Memory that stays, and is told that every change is seen: whoever changes a note indexes it."""
    memory(root).index()
    with contextlib.closing(staying(root, watched=True)) as found:
        yield found


def staying(root: Path, watched: bool) -> Federation:
    config = Config(vault=root)
    return Federation(config, index_file=HeldIndex(config, lambda: Freshness(0) if watched else None))


def note(chance: random.Random) -> str:
    lines = (" ".join(chance.choices(WORDS, k=6)) + f" {chance.randrange(50)}" for _ in range(chance.randint(1, 6)))
    return "# Head\n\n" + "\n\n".join(lines) + f"\n\n## Retain\n- W @Ada: {' '.join(chance.choices(WORDS, k=4))}.\n"


def ask(of: Federation, query: str) -> Answer:
    (answer,) = of.answers([Request(query=query, now=NOW, k=20)], keep=False)
    return answer


def told(answer: Answer) -> object:
    """All that an answer says of the vault; scores to the last digit."""
    return [*answer.results], answer.omitted, answer.lanes, answer.notes, answer.understood, answer.generation


def change(root: Path, chance: random.Random) -> None:
    """One change of a note: often of the one indexed last, whose numbers are given again."""
    kind = chance.choice(("rewrite", "rewrite", "remove", "rename", "page"))
    notes = sorted(root.glob("n*.md"))
    file = chance.choice(notes)
    if kind == "rewrite" or len(notes) < 5:
        put(root, f"n{chance.choice((11, 11, 30))}.md", note(chance))
    elif kind == "remove":
        file.unlink()
    elif kind == "rename":
        file.rename(root / f"n{chance.randrange(40, 90)}.md")
    else:
        put(root, "bank/entities/Ada.md", f"---\naliases: [{chance.choice(WORDS)}]\n---\n# Ada\n\n{note(chance)}")


@ROUNDS
def test_what_is_kept_is_never_stale(root: Path, warm: Federation, seed: int, rounds: int) -> None:
    chance = random.Random(seed)
    for _ in range(rounds):
        change(root, chance)
        memory(root).index()
        question = " ".join(chance.sample(WORDS, 3))
        (fresh,) = memory(root).answers([Request(query=question, now=NOW, k=20)], keep=False)
        for _ in range(2):
            assert told(ask(warm, question)) == told(fresh)


@ROUNDS
def test_what_nobody_watches_is_looked_at_before_each_question(root: Path, seed: int, rounds: int) -> None:
    chance = random.Random(seed)
    memory(root).index()
    with contextlib.closing(staying(root, watched=False)) as warm:
        for _ in range(rounds):
            for _ in range(chance.randrange(3)):
                change(root, chance)
            if chance.random() < 0.3:
                memory(root).index()  # another process was faster
            for file in root.rglob("*.md"):
                if time.time() - file.stat().st_mtime < 5:  # else it is suspected to have changed, and no look is kept
                    age(file, 10)
            question = " ".join(chance.sample(WORDS, 3))
            answers = [ask(warm, question) for _ in range(3)]
            (fresh,) = memory(root).answers([Request(query=question, now=NOW, k=20)], keep=False)
            assert [told(answer) for answer in answers] == 3 * [told(fresh)]
            assert all(answer.fresh for answer in answers)


def test_a_note_that_somebody_takes_out_of_the_index_comes_back(root: Path) -> None:
    for file in root.glob("*.md"):
        age(file, 10)
    mine = memory(root)
    mine.index()
    with contextlib.closing(staying(root, watched=False)) as warm:
        assert [ask(warm, "zebra").notes for _ in range(2)] == [12, 12]
        with opened(mine) as store, store.writing():
            rows.remove(store, store.notes()["n3.md"].id)
        assert ask(warm, "zebra").notes == 12


def test_changes_by_its_own_connection_are_noticed_too(root: Path) -> None:
    memory(root).index()
    with contextlib.closing(staying(root, watched=False)) as warm:
        assert ask(warm, "zebra").notes == 12
        put(root, "bank/entities/Chen.md", "---\naliases: [Doctor]\n---\n# Chen\n\nChen keeps bees.\n")
        answer = ask(warm, "what of the Doctor?")
        assert (answer.notes, answer.understood.entities) == (13, ("Chen",))
