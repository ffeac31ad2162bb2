"""What is put before an agent unasked: what the notes say to a prompt about them, nothing to any other."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from vaults import fill, memory

from vault_memory.agents.hook_silence import find_questions
from vault_memory.config import Config
from vault_memory.context.bundle import ContextRequest, bundle
from vault_memory.memory import Memory

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
Wer ist Ingrid Falk?
tell me about The Castle
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
Hi Peter
Hallo Peter
I have a TypeScript monorepo with three packages. The first exports a set of React hooks, the second a design system \
with buttons, inputs and modals, and the third is the website that consumes both. When I run the production build, \
tree shaking does not remove the unused icons. Find out which import pulls in the whole icon library.
""".strip().split("\n")


def told(of: Memory, prompt: str) -> str:
    """What a hook puts before a model."""
    wants = (ContextRequest(words, core=False, unasked=True, now=NOW) for words in find_questions(prompt))
    return next((found.text for found in (bundle(of, each, patience=0) for each in wants) if found.is_relevant), "")


@pytest.mark.parametrize("prompt", ABOUT_IT)
def test_a_prompt_about_the_notes_is_told_what_they_say(indexed_sample: Path, prompt: str) -> None:
    assert told(Memory(Config(vault=indexed_sample, journal=False)), prompt)


@pytest.mark.parametrize("prompt", ABOUT_NOTHING)
def test_a_prompt_about_nothing_in_them_is_told_nothing(indexed_sample: Path, prompt: str) -> None:
    assert told(Memory(Config(vault=indexed_sample, journal=False)), prompt) == ""


def test_in_a_small_vault_no_word_is_rare(tmp_path: Path) -> None:
    of = memory(fill(tmp_path / "v", {"a.md": "The latch of the greenhouse is broken.\n", "b.md": "Ask Bo.\n"}))
    of.index()
    assert told(of, "is the greenhouse latch mended?") and not told(of, "where does the quokka live?")


def test_of_a_script_without_spaces_pairs_of_characters_decide_nothing(tmp_path: Path) -> None:
    of = memory(fill(tmp_path / "v", {"a.md": "- 母の手術は六月五日。\n", "b.md": "- 猫の餌を変えた。\n"}))
    of.index()
    assert told(of, "お母さんはいつ手術を受けるのでしょうか")
