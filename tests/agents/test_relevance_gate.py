"""What is put before an agent unasked: what the notes say to a prompt about them, nothing to any other."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from daemons import start_daemon
from hooks import asked
from sample import make_sample
from vaults import fill, memory

from vault_memory.agents import hook_events
from vault_memory.config import Config
from vault_memory.context.context import ContextRequest, bundle
from vault_memory.memory import Memory
from vault_memory.search.answer import Request
from vault_memory.search.candidates import Candidates
from vault_memory.search.query import Query
from vault_memory.search.relevance_gate import MAX_EXPECTED_WORDS, is_relevant
from vault_memory.store.view import Candidate

NOW = datetime(2025, 12, 3, 9, tzinfo=UTC)

ABOUT_IT = """
How does Peter want his messages?
can I bring an almond cake to Tomas?
I want to change how the rotator replaces a pack file, what must I not do?
what do we know about HO-212
when is my mother's knee operation
plan the work on the floor boards at the castle for spring
fix the p95 regression on tern-3 please
is oat milk ok for Nora's coffee
who is Roland
how fast did I swim 1500 m this year
how do I roll back a bad rotation?
I've been thinking about the floor boards for next year. We said larch, and that they must dry first, and there is \
some money left in the budget. Could you put together a short list of what has to be bought, roughly what it costs, \
and in which order we should do the insulation and the boards, so that I can talk to the carpenter about it?
""".strip().split("\n")

ABOUT_NOTHING = """
where does the zebrafish quokka live?
fix the failing test in src/foo.py
[Image #1] [Pasted text #2 +48 lines]
that looks good to me, commit it and open a pull request
refactor this function into smaller ones and add type hints
Error: ECONNREFUSED 127.0.0.1:5432 - can you look into that?
TypeError: cannot read properties of undefined (reading 'map')
write a haiku about penguins in the desert
there is a merge conflict in package.json, resolve it
who won the football world cup in 1998?
and why is that so?
I have a TypeScript monorepo with three packages. The first exports a set of React hooks, the second a design system \
with buttons, inputs and modals, and the third is the website that consumes both. When I run the production build, \
tree shaking does not remove the unused icons. Find out which import pulls in the whole icon library.
""".strip().split("\n")


def told(of: Memory, prompt: str) -> str:
    """What a hook puts before a model."""
    wants = (ContextRequest(words, core=False, unasked=True, now=NOW) for words in hook_events.find_questions(prompt))
    return next((found.text for found in (bundle(of, each, patience=0) for each in wants) if found.is_relevant), "")


@pytest.mark.parametrize("prompt", ABOUT_IT)
def test_a_prompt_about_the_notes_is_told_what_they_say(indexed_sample: Path, prompt: str) -> None:
    assert told(Memory(Config(vault=indexed_sample, journal=False)), prompt)


@pytest.mark.parametrize("prompt", ABOUT_NOTHING)
def test_a_prompt_about_nothing_in_them_is_told_nothing(indexed_sample: Path, prompt: str) -> None:
    assert told(Memory(Config(vault=indexed_sample, journal=False)), prompt) == ""


def test_who_asks_is_answered_all_the_same(indexed_sample: Path) -> None:
    of = Memory(Config(vault=indexed_sample, journal=False))
    assert bundle(of, ContextRequest("where does the zebrafish quokka live?", core=False, now=NOW)).text


def test_in_a_small_vault_no_word_is_rare(tmp_path: Path) -> None:
    of = memory(fill(tmp_path / "v", {"a.md": "The latch of the greenhouse is broken.\n", "b.md": "Ask Bo.\n"}))
    of.index()
    assert told(of, "is the greenhouse latch mended?") and not told(of, "where does the quokka live?")


def test_of_a_script_without_spaces_pairs_of_characters_decide_nothing(tmp_path: Path) -> None:
    of = memory(fill(tmp_path / "v", {"a.md": "- 母の手術は六月五日。\n", "b.md": "- 猫の餌を変えた。\n"}))
    of.index()
    assert told(of, "お母さんはいつ手術を受けるのでしょうか")


def test_a_daemon_tells_as_little_as_the_process(tmp_path: Path, data: Path) -> None:
    notes = {"a.md": "# Otter\n\nThe otter lives in Perth.\n", "b.md": "# Shed\n\n- Bo fixed the roof of the shed.\n"}
    root = fill(tmp_path / "v", notes)
    daemon = start_daemon(root).settled()
    prompts = "where does the otter live?", "where does the zebrafish quokka live?"
    found = [asked(root, f"s{n}", prompt) for n, prompt in enumerate(prompts)]
    daemon.kill()
    assert "Perth" in found[0] and found[1] == ""
    assert [asked(root, f"t{n}", prompt) for n, prompt in enumerate(prompts)] == found


FACTS = """\
## Retain
- W: We deploy on Fridays only after the smoke tests pass.
- O: Never use mocks for the database; use a real one in a container.
- W: Our TypeScript code uses tabs, not spaces.
- W: Events go to Kafka, with schemas in Avro.
"""


@pytest.mark.parametrize(
    ("prompt", "fact"),
    [
        ("can you deploy this branch to production now?", "We deploy on Fridays"),
        ("create a new TypeScript module for parsing webhook payloads", "tabs, not spaces"),
        ("set up a container for integration testing", "in a container"),
        ("publish an event to Kafka when a parcel was scanned by the zebrafish quokka", "go to Kafka"),
    ],
)
def test_a_task_is_told_the_fact_it_touches_whatever_else_it_names(with_facts: Memory, prompt: str, fact: str) -> None:
    assert fact in told(with_facts, prompt)


def test_facts_make_no_other_prompt_be_about_them(with_facts: Memory) -> None:
    strange = [prompt for prompt in ABOUT_NOTHING if "TypeScript" not in prompt]
    assert [prompt for prompt in strange if told(with_facts, prompt)] == []


@pytest.fixture(scope="module")
def with_facts(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """The sample vault, and some facts that tasks may touch."""
    root = make_sample(tmp_path_factory.mktemp("facts") / "v")
    of = memory(fill(root, {"memory/2025-12-02.md": FACTS}), journal=False)
    of.index()
    return of


# --- the rule --------------------------------------------------------------------------------------------------------


def found(*hits: str, cosine: float = 0.0, kind: str = "note", **more: object) -> Candidates:
    """Candidates of passages that each hold some of the terms a, b, c …, all of one rarity."""
    terms = dict.fromkeys("".join(hits), 1.0)
    at = {term: {n: 1 for n, text in enumerate(hits) if term in text} for term in terms}
    passages = {n: Candidate(n, 1, 1, 1, None, None, kind, 1, 0, text) for n, text in enumerate(hits)}
    near = dict.fromkeys(passages, cosine)
    query = Query(Request("", NOW), words=[*terms, "z"])
    return Candidates(query, passages=passages, rarity=terms, hits=at, cosine=near)._replace(**more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("evidence", "unknown", "holds"),
    [
        (found(), 0, False),
        (found(cosine=0.9), 0, False),
        (found("ab"), 0, True),
        (found("ab"), 1, False),
        (found("ab", cosine=0.2), 1, True),
        (found("a", "b"), 0, False),  # scattered
        (found("a", "b", cosine=0.3), 0, True),
        (found("a", about={0: 1.0}), 3, True),  # what it names is known
        (found("a", title={1: 1.0}), 3, False),
        (found("a", title={1: 3.0}), 3, True),  # it names a note
        (found(only_time=True), 2, True),
        (found("abcdef", "ghijklmnopqrst"[: MAX_EXPECTED_WORDS]), 0, True),
        (found("abcd", *"efghijklmnopqrst", cosine=0.2), 0, True),  # a long prompt, of which one passage holds much
        (found("abcd", *"efghijklmnopqrst", cosine=0.2), 14, False),
        (found("a", cosine=0.1), 3, False),
        (found("a", cosine=0.1, kind="world"), 3, True),  # a fact that is told for that word alone
        (found("a", cosine=-0.1, kind="world"), 3, False),
    ],
)  # fmt: skip
def test_words_and_meaning_must_be_near_enough(evidence: Candidates, unknown: int, holds: bool) -> None:
    assert is_relevant(evidence, unknown, 1.0) == holds
