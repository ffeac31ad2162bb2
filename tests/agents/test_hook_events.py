"""What of a prompt is looked for: what a person asked, neither a nod nor what was pasted around it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.agents import hook_events
from vault_memory.text.frame import CLOSING, OPENING

ROOF = "what did the roof of the castle cost?"


@pytest.mark.parametrize(
    "prompt",
    ["", "  ", "yes", "Yes, continue.", "ok go ahead!", "y", "1", "2.", "👍", "/compact", "/model opus", "/mcp__a:b c",
     "ja, mach weiter", "sí", "继续", "はい", "...", "lgtm, thanks", f"{OPENING}\nPeter\n{CLOSING}", "[Image #1]",
     "[Pasted text #2 +48 lines] thanks", "@src/app/main.tsx ok", '@"my notes/a b.md"', "@lib/", "@a.py#L3-9 go on"],
)  # fmt: skip
def test_a_nod_asks_for_nothing(prompt: str) -> None:
    assert hook_events.asks(prompt) == ()


@pytest.mark.parametrize(
    "prompt", ["Peter?", "fix the boiler", "/etc/hosts is wrong, why?", "yes, but what of Anna?", "鍋炉", "R2D2"]
)
def test_a_question_does(prompt: str) -> None:
    assert hook_events.asks(prompt) == (prompt,)


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
    assert hook_events.asks(prompt) == (asks,)


LOGS = {
    "dated": "2025-11-27 10:00:{0:02} ERROR worker {0} of the castle",
    "in brackets": "[2025-11-27T10:00:{0:02}.123Z] worker {0} of the castle",
    "time": "10:00:{0:02},123 worker {0} of the castle",
    "syslog": "Nov  7 10:00:{0:02} tern-3 kernel: worker {0}",
    "level": "WARNING: worker {0} of the castle",
    "level in brackets": "[error] worker {0} of the castle",
    "Java": "\tat org.castle.Roof.cost(Roof.java:{0})",
    "JavaScript": "    at Roof.cost (/src/castle/roof.js:{0}:5)",
    "a function without a name": "    at async file:///src/castle/roof.mjs:{0}:5",
    "Python": '  File "/src/castle/roof.py", line {0}, in cost',
}


@pytest.mark.parametrize("line", LOGS.values(), ids=list(LOGS))
@pytest.mark.parametrize("lines", [6, 70])
def test_a_log_that_is_pasted_is_looked_for_last(line: str, lines: int) -> None:
    log = "\n".join(line.format(n) for n in range(lines))
    for end in ("\n", "\r\n"):
        assert hook_events.asks(f"{ROOF}{end}{log}{end}".replace("\n", end))[0].strip() == ROOF
        assert "worker" not in hook_events.asks(f"{ROOF} Look:{end}{log}")[0]
        typed, whole = hook_events.asks(f"{log}{end}{end}{ROOF}")
        assert typed == ROOF and "castle" in whole and whole.endswith(ROOF)
    assert len(hook_events.asks(log)) == 1, "there is nothing else"
    assert hook_events.asks(f"thanks, ok\n{log}")[0].count("\n") > 4


@pytest.mark.parametrize(
    "trace",
    ['Traceback (most recent call last):\n  File "/a/x.py", line 3, in f\n    return worker[1]\n           ~~~^^^\n'
     '  File "/a/x.py", line 3, in g\n    worker()\nKeyError: worker',
     'Exception in thread "main" java.lang.IllegalStateException: worker\n\tat com.tern.Pack.open(Pack.java:31)\n'
     "Caused by: java.io.IOException: worker\n\t... 12 more",
     "Error: connect worker\n    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1278:16)",
     "java.lang.IllegalStateException\n\tat com.tern.Pack.open(Pack.java:31)"],
    ids=["Python", "Java", "JavaScript", "an exception that says nothing"],
)  # fmt: skip
def test_of_a_stack_trace_the_exception_is_passed_over_too(trace: str) -> None:
    for prompt in (f"{trace}\n{ROOF}", f"{ROOF}\n{trace}"):
        assert hook_events.asks(prompt) == (ROOF, prompt)


@pytest.mark.parametrize("mark", ["```", "~~~"])
@pytest.mark.parametrize("lines", [1, 90])
def test_what_stands_in_a_fence_is_looked_for_last(mark: str, lines: int) -> None:
    code = "cost = roof()\n" * lines
    assert "roof()" in hook_events.asks(f"why does this fail?\n{mark}\n{code}{mark}")[0], "that is what it asks about"
    typed, whole = hook_events.asks(f"why?\n{mark}py\n{code}{mark}\n{ROOF}")
    assert typed == f"why?\n\n{ROOF}" and "roof()" in whole
    assert "roof()" in hook_events.asks(f"ok:\n{mark}\n{code}{mark}")[0]
    assert "roof()" in hook_events.asks(f"{ROOF}\n{mark}\n{code}")[-1], "it is not closed"


PASTED = "\n".join(f"E  worker {n} of the castle -> 0x{n:04}" for n in range(8))


@pytest.mark.parametrize(
    "question",
    [ROOF, f'"{ROOF}"', f"({ROOF})", "鍋炉はいくらでしたか？",
     "كم كلف سقف القلعة؟", "où est le toit ?", f"**{ROOF}** "],
)  # fmt: skip
def test_the_questions_of_a_long_prompt_are_looked_for_first(question: str) -> None:
    for prompt in (f"{PASTED}\n\n{question}", f"{question}\n\n{PASTED}", f"{PASTED}\r\n\r\n{question}\r\n"):
        asks = hook_events.asks(prompt)
        assert len(asks) == 2 and asks[0] == question.strip() and "worker 7" in asks[1]
    assert hook_events.asks(question) == (question.strip(),)
    assert hook_events.asks(f"{PASTED}\n{ROOF}\n\n{question}")[0] == f"{ROOF}\n{question.strip()}"


@pytest.mark.parametrize(
    "line",
    [
        "really, why?",
        "how do I fix this?",
        "x = a ? b c : d",
        '{"a": "b c d?"}',
    ],
)
def test_what_is_no_question_is_not_looked_for_first(line: str) -> None:
    prompt = f"{PASTED}\n\n{line}"
    assert hook_events.asks(prompt) == (prompt,)


def test_a_question_in_a_fence_is_none_of_the_questions() -> None:
    assert hook_events.asks(f"{PASTED}\n```\n# who is Nora again?\n```\n\n{ROOF}")[0] == ROOF


@pytest.mark.parametrize(
    "prompt",
    ["at 10:30 I meet Peter", "2025-11-27: what happened?\nAnd on the day before?", "Error: the boiler is cold\nwhy?",
     "at the castle (the old one)\nor at home?", "INFORMATION about Nora\nplease", "please look\nERROR roof: cost",
     "ERROR handling of the boiler\nhow do we do it?", "10:30:00 met Anna\nwhy?", "One.\n\nTwo\n\nThree.\n\nWho is it?",
     "`x`, ```y``` and Peter"],
)  # fmt: skip
def test_what_was_typed_is_looked_for(prompt: str) -> None:
    assert hook_events.asks(prompt) == (prompt,)


@given(st.text())
def test_any_prompt_can_be_looked_at(prompt: str) -> None:
    asks = hook_events.asks(prompt)
    assert len(asks) <= 3 and all(0 < len(text) <= hook_events.LONGEST_PROMPT for text in asks)
