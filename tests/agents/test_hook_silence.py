"""What of a prompt is looked for: what a person asked, and not what was pasted around it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.agents.hook_silence import LONGEST_PROMPT, find_questions
from vault_memory.text.agent_frame import CLOSING, OPENING

ROOF = "what did the roof of the castle cost?"


@pytest.mark.parametrize(
    "prompt",
    ["", "  ", "y", "1", "2.", "👍", "/compact", "/model opus", "/mcp__a:b c", "...", f"{OPENING}\nPeter\n{CLOSING}",
     "[Image #1]", "[Pasted text #2 +48 lines]", "@src/app/main.tsx", '@"my notes/a b.md"', "@lib/", "@a.py#L3-9"],
)  # fmt: skip
def test_what_has_no_words_asks_for_nothing(prompt: str) -> None:
    assert find_questions(prompt) == ()


@pytest.mark.parametrize(
    ("prompt", "asks"),
    [
        ("why is [Image #1] so dark?", "why is   so dark?"),
        ("@src/app.ts: the boiler", ": the boiler"),
        ("ask @Peter about it", "ask @Peter about it"),
        ("ask @Peter. And @Anna?", "ask @Peter. And @Anna?"),
        ("mail ada@example.org", "mail ada@example.org"),
        ("the [Image of Peter]", "the [Image of Peter]"),
    ],
)
def test_what_stands_for_an_image_a_text_or_a_file_is_not_looked_for(prompt: str, asks: str) -> None:
    assert find_questions(prompt) == (asks,)


@pytest.mark.parametrize("mark", ["```", "~~~"])
@pytest.mark.parametrize("lines", [1, 90])
def test_what_stands_in_a_fence_is_looked_for_last(mark: str, lines: int) -> None:
    code = "cost = roof()\n" * lines
    typed, whole = find_questions(f"why?\n{mark}py\n{code}{mark}\n{ROOF}")
    assert typed == f"why?\n\n{ROOF}" and "roof()" in whole
    assert "roof()" in find_questions(f"{ROOF}\n{mark}\n{code}")[-1], "it is not closed"


PASTED = "\n".join(f"E  worker {n} of the castle -> 0x{n:04}" for n in range(8))
FIRST, LAST = PASTED.split("\n")[0], PASTED.split("\n")[-1]


@pytest.mark.parametrize(
    "question",
    [ROOF, f'"{ROOF}"', f"({ROOF})", "鍋炉はいくらでしたか？",
     "كم كلف سقف القلعة؟", "où est le toit ?", f"**{ROOF}** "],
)  # fmt: skip
def test_the_questions_of_a_long_prompt_are_looked_for_first(question: str) -> None:
    asked = question.strip()
    for prompt, lines in (
        (f"{PASTED}\n\n{question}", (asked, FIRST)),
        (f"{question}\n\n{PASTED}", (asked, LAST)),
        (f"{PASTED}\r\n\r\n{question}\r\n{PASTED}", (asked, FIRST, LAST)),
    ):
        assert find_questions(prompt) == (*lines, prompt.strip())
    assert find_questions(question) == (asked,)
    assert find_questions(f"{PASTED}\n{ROOF}\n\n{question}")[0] == f"{ROOF}\n{asked}"


@pytest.mark.parametrize(
    "prompt",
    ["at 10:30 I meet Peter", "2025-11-27: what happened?\nAnd on the day before?", "Error: the boiler is cold\nwhy?",
     "at the castle (the old one)\nor at home?", "INFORMATION about Nora\nplease", "please look\nERROR roof: cost",
     "ERROR handling of the boiler\nhow do we do it?", "10:30:00 met Anna\nwhy?", "One.\n\nTwo\n\nThree.\n\nWho is it?",
     "`x`, ```y``` and Peter"],
)  # fmt: skip
def test_what_was_typed_is_looked_for(prompt: str) -> None:
    assert find_questions(prompt) == (prompt,)


@given(st.text())
def test_any_prompt_can_be_looked_at(prompt: str) -> None:
    asks = find_questions(prompt)
    assert len(asks) <= 4 and all(0 < len(text) <= LONGEST_PROMPT for text in asks)
