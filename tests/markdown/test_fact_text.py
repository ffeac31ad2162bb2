"""How the words of a fact stand on a page."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.markdown import fact_text

KNOWN = {"Tomas Ek", "2025-11-01", "Projects/Tern/Runbook"}


def told(text: str) -> str:
    return fact_text.readable(text, KNOWN.__contains__)


def count(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Waited … and waited...", "Waited … and waited..."),
        ("Lent by @[[Tomas Ek]].", "Lent by [[Tomas Ek]]"),
        ("@[[Tomas Ek]]'s bill is 41 200 kr.", "[[Tomas Ek]]'s bill is 41 200 kr"),
        ("@Peter @[[Tomas Ek]]", "Peter [[Tomas Ek]]"),
        ("Mail peter@example.org or @handle.", "Mail peter@example.org or handle"),
        ("It is dry. @[[Tomas Ek]] @Albin", "It is dry"),
        ("See [[Nowhere]] and [[2025-11-01]].", "See Nowhere and [[2025-11-01]]"),
        ("See [[Nowhere|the lost page]].", "See the lost page"),
        ("See [[2025-11-01#^roof|the roof]].", "See [[2025-11-01#^roof|the roof]]"),
        ("A view ![[sea.jpg]] of it", "A view sea.jpg of it"),
        (
            "Read [the plan](plan.md) and [its page](https://example.org/a).",
            "Read the plan and [its page](https://example.org/a)",
        ),
        ("A ![chart](https://example.org/a.png) came", "A [chart](https://example.org/a.png) came"),
        ("Finished the roof. #castle/roof #done", "Finished the roof"),
        ("Spread\nover   lines", "Spread over lines"),
        ("<!-- memory:end facts -->", "‹!-- memory:end facts --›"),
    ],
)
def test_told(text: str, expected: str) -> None:
    assert told(text) == expected


@pytest.mark.parametrize("text", ["Open [[ here", "Closed ]] there", "[[a]] and [[", "[[a|b|c]]", "[[[Tomas Ek]]]"])
def test_brackets_left_open_do_not_swallow_the_citation(text: str) -> None:
    line = f"{told(text)} — [[2025-11-01]] L3"
    links = re.findall(r"\[\[([^\[\]|#]+)[^\[\]]*\]\]", line)
    assert links[-1] == "2025-11-01"
    assert set(links) <= KNOWN


@given(st.text(st.sampled_from("ab [](){}#|^@!`<>-%*.;\n"), max_size=40))
def test_told_never_links_what_is_not_there(text: str) -> None:
    found = fact_text.readable(text, lambda target: target == "a")
    for target in re.findall(r"\[\[([^\]|#^]+)", found):
        assert target.strip() == "a"
    assert "<!--" not in found
    assert "\n" not in found


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [
        ("The roof is dry. It held all night long.", 5, "The roof is dry …"),
        ("The roof is dry. It held. Nobody slept at all.", 7, "The roof is dry. It held …"),
        ("The roof is dry; it held all night long.", 6, "The roof is dry …"),
        ("One sentence a little over its room here.", 6, "One sentence a little over its room here."),
        ("One single sentence far over the room that it has here.", 5, "One single sentence far over …"),
        ("We saw e.g. Dr. Holm there today again.", 6, "We saw e.g. Dr. Holm there today again."),
        ("The new lamp went live … then much was said", 5, "The new lamp went live …"),
        ("Use `a b c d e f g h` for it and then a good deal more of it", 4, "Use …"),
    ],
)
def test_clipped(text: str, most: int, expected: str) -> None:
    assert fact_text.clipped(text, most, count) == expected


@pytest.mark.parametrize(
    ("line", "source", "expected"),
    [
        ("Roof is dry", "- B @Castle: Roof is dry.", 2 / 3),
        ("2 Nov, [[The Castle|Castle]]: Roof is dry", "Roof is dry", 1 / 2),
        ("Roof is dry; mast was painted", "Roof is dry", 2 / 5),
        ("We had it and you had them", "We had it", 3 / 7),
        ("", "Anything", 1.0),
    ],
)
def test_traced(line: str, source: str, expected: float) -> None:
    assert fact_text.traced(line, source) == pytest.approx(expected)


# --- sources ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "rest", "found"),
    [
        ("Likes tea. Evidence: [[2025-10-29]] L4.", "Likes tea.", {fact_text.EvidenceSource("2025-10-29")}),
        (
            "Likes tea. Evidence: [[log/A.md|a]], 2025-11-11.",
            "Likes tea.",
            {fact_text.EvidenceSource("log/a"), fact_text.EvidenceSource("2025-11-11")},
        ),
        ("Likes tea. Evidence: [[2025-10-29#^late]]", "Likes tea.", {fact_text.EvidenceSource("2025-10-29", "late")}),
        ("Evidence: none so far.", "Evidence: none so far.", set()),
        ("Likes [[Assam]].", "Likes [[Assam]].", set()),
    ],
)
def test_what_is_cited_as_evidence(text: str, rest: str, found: set[fact_text.EvidenceSource]) -> None:
    assert (fact_text.without_evidence(text), fact_text.sources(text)) == (rest, found)
