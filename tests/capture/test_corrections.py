"""What its speaker corrects at once is kept as corrected."""

import pytest

from vault_memory.capture.own_words import SessionTurn
from vault_memory.capture.statements import find_statements

LANGUAGES = ("en", "de", "fr", "es", "pt")


def kept(*said: str) -> list[str]:
    """What is kept of a session in which the user and the agent speak in turn."""
    turns = [SessionTurn(at, at % 2 == 1, text) for at, text in enumerate(said, 1)]
    return [one.text for one in find_statements(turns, LANGUAGES) if one.cue.kind and not one.why]


@pytest.mark.parametrize(
    ("told", "correction", "right"),
    [
        ("Remember that the choir meets on Mondays.", "sorry, Wednesdays", "The choir meets on Wednesdays."),
        ("Remember that the choir meets on Mondays.", "no, it's on Wednesdays.", "The choir meets on Wednesdays."),
        ("Remember that the pump takes 40 bar and 12 volts.", "wait, 45 bar", "The pump takes 45 bar and 12 volts."),
        ("Remember that the cache listens on port 5433.", "Actually no, it's port 5434",
         "The cache listens on port 5434."),
        ("merk dir: die Datenbank lauscht auf Port 5433.", "nein, sie lauscht auf Port 5434",
         "Die Datenbank lauscht auf Port 5434."),
        ("Remember that Ada keeps the keys and Rob the tools.", "actually Ida keeps the keys",
         "Ida keeps the keys and Rob the tools."),
        ("Merk dir: die Heizung wird am 3. Mai gewartet.", "nein, am 5. Mai", "Die Heizung wird am 5. Mai gewartet."),
        ("Retiens que la livraison est le mardi.", "non, le jeudi, désolé", "La livraison est le jeudi."),
        ("Recuerda que la copia se hace a las 3.", "perdón, a las 4", "La copia se hace a las 4."),
        ("Lembra que o backup roda na terça.", "não, na quinta", "O backup roda na quinta."),
        ("Remember that Tofu weighs 4.2 kg.", "scratch that, 5.1 kg.", "Tofu weighs 5.1 kg."),
        ("We never deploy on Fridays.", "I meant Thursdays", "We never deploy on Thursdays."),
    ],
)  # fmt: skip
def test_what_is_corrected_is_kept_as_corrected(told: str, correction: str, right: str) -> None:
    assert kept(told, "Noted.", correction) == [right]
    assert kept(f"{told} {correction[:1].upper()}{correction[1:]}") == [right]


def test_in_the_same_message_any_word_may_be_corrected() -> None:
    assert kept("Remember that the spare key is behind the shed. No, behind the garage.") == [
        "The spare key is behind the garage."
    ]


@pytest.mark.parametrize(
    ("told", "agent", "answer"),
    [
        ("Remember that the tests listen on port 4100.", "Noted. Shall I set the timeout to 30?", "no, 60"),
        ("Remember that Ada keeps the keys.", "Noted. I'll ask Rob about the tools.", "no, Ida"),
        ("Remember that the choir meets on Mondays.", "Noted.", "no, open the second file, from last Friday"),
        ("Remember that the choir meets on Mondays.", "Noted.", "Thursdays are for the band"),
        ("We always run the linter first.", "I have fixed the parser.", "no, the lexer"),
        ("Remember that I use only Rust.", "Noted. Anything else?", "No, Claude."),
        ("Remember that I have 3 kids.", "Shall I list four tasks?", "No, 2."),
        ("Remember that the choir meets on Mondays.", "Noted.", "Actually, Tuesdays too."),
        ("Remember that the choir meets on Mondays.", "Noted.", "No dates on Fridays."),
        ("Remember that the choir meets on Mondays.", "Noted.", "Actually, Tuesday?"),
    ],
)
def test_what_may_be_about_something_else_corrects_nothing(told: str, agent: str, answer: str) -> None:
    asked = told.removeprefix("Remember that ")
    assert f"{asked[0].upper()}{asked[1:]}" in kept(told, agent, answer)


def test_the_last_of_several_corrections_counts() -> None:
    assert kept("Remember that the choir meets on Mondays.", "Ok.", "no, Tuesdays", "Ok.", "sorry, Wednesdays") == [
        "The choir meets on Wednesdays."
    ]
    assert kept("Remember that the choir meets on Mondays.", "Ok.", "no, Tuesdays", "Ok.", "forget that") == []


def test_a_sentence_that_comes_twice_is_corrected_all_the_same() -> None:
    assert kept("We never deploy on Mondays. No, Tuesdays. No, Wednesdays. No, Tuesdays. No, Thursdays.") == [
        "We never deploy on Thursdays."
    ]


def test_a_correction_that_reveals_a_secret_is_not_kept() -> None:
    assert kept("Remember that I use Sommer as guest wifi password.", "Ok.", "Sorry, Winter2024") == []
