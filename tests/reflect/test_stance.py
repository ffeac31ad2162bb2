"""What one statement says of another: nothing but what is certain, in whatever language it stands."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from vault_memory.markdown.fact_text import EvidenceSource, sources, without_evidence
from vault_memory.reflect.confidence import CONTRADICTS, RELATED, SUPPORTS, UNRELATED
from vault_memory.reflect.opinions import relation, verdict, verdict_key


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ("Mag das neue Büro.", "Hasst das neue Büro.", UNRELATED),
        ("Aime le nouveau bureau.", "Déteste le nouveau bureau.", UNRELATED),
        ("Gillar det nya kontoret.", "Hatar det nya kontoret.", UNRELATED),
        ("Likes the new office.", "Doesn't like the new office.", CONTRADICTS),
        ("Likes the new office.", "Does not like the new office any more.", CONTRADICTS),
        ("Anna likes early meetings.", "No longer likes early meetings.", CONTRADICTS),
        ("Mag das neue Büro.", "Mag das neue Büro nicht mehr.", CONTRADICTS),
        ("Aime le nouveau bureau.", "N'aime pas le nouveau bureau.", CONTRADICTS),
        ("Does not like it.", "DOES NOT LIKE IT.", SUPPORTS),
        ("Prefers tea.", "[[Anna]] prefers **tea**", SUPPORTS),
        ("Prefers tea. Evidence: [[2025-11-01]] L3.", "Prefers tea.", SUPPORTS),
        ("Works with music.", "Works without music.", UNRELATED),
        ("Lives in Bergen.", "Moved to Oslo.", CONTRADICTS),
        ("Lives in Bergen.", "Lives in Bergen now.", SUPPORTS),
        ("…", "!", UNRELATED),
    ],
)
def test_what_one_statement_says_of_another(one: str, other: str, said: str) -> None:
    assert relation(one, other, ["Anna"]) == relation(other, one, ["Anna"]) == said


# --- sources ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "rest", "found"),
    [
        ("Likes tea. Evidence: [[2025-10-29]] L4.", "Likes tea.", {EvidenceSource("2025-10-29")}),
        (
            "Likes tea. Evidence: [[log/A.md|a]], 2025-11-11.",
            "Likes tea.",
            {EvidenceSource("log/a"), EvidenceSource("2025-11-11")},
        ),
        ("Likes tea. Evidence: [[2025-10-29#^late]]", "Likes tea.", {EvidenceSource("2025-10-29", "late")}),
        ("Evidence: none so far.", "Evidence: none so far.", set()),
        ("Likes [[Assam]].", "Likes [[Assam]].", set()),
    ],
)
def test_what_is_cited_as_evidence(text: str, rest: str, found: set[EvidenceSource]) -> None:
    assert (without_evidence(text), sources(text)) == (rest, found)


# --- what a model says ------------------------------------------------------------------------------------------------

OPINION, FACT = "Mag das neue Büro. Evidence: [[2025-10-29]]", "Hasst das neue Büro; zieht bald um."


class Chat:
    """Says what it is told to, and keeps what it was asked."""

    def __init__(self, answer: str) -> None:
        self.answer, self.asked = answer, list[list[dict[str, str]]]()

    def __call__(self, messages: list[dict[str, str]], form: Mapping[str, Any]) -> str:
        self.asked.append(messages)
        return self.answer


def answer(relation: object, quote: object) -> str:
    return f"Sure: {json.dumps({'relation': relation, 'quote': quote})}"


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (answer("contradicts", "hasst das  neue Büro"), CONTRADICTS),
        (answer("supports", "zieht bald um"), SUPPORTS),
        (answer("neither", "zieht bald um"), RELATED),
        (answer("supports", "mag das neue Büro"), RELATED),
        (answer("supports", ""), RELATED),
        (answer("certainly", "Hasst"), RELATED),
        ('{"relation": "supports"}', RELATED),
        ("{" * 5000 + "}", RELATED),
    ],
)
def test_a_verdict_counts_only_with_words_of_the_fact(said: str, found: str) -> None:
    chat = Chat(said)
    assert verdict(chat, OPINION, FACT) == found
    assert json.loads(chat.asked[0][1]["content"]) == {"opinion": "Mag das neue Büro.", "fact": FACT}


def test_a_verdict_is_kept_by_the_words_and_the_names() -> None:
    keys = {verdict_key(OPINION, ["Anna"]), verdict_key("Mag das neue Büro.", ["Anna"]), verdict_key(FACT, ["Anna"])}
    assert len(keys | {verdict_key(OPINION, ["Ben"])}) == 3
