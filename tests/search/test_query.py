"""Reading a question: what it is about, when, and that any text is one."""

from datetime import UTC, datetime

import apsw
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vault_memory.search.answer import Request
from vault_memory.search.query import Query, understand
from vault_memory.store import schema


def ask(text: str, now: datetime = datetime(2025, 12, 3, 12, tzinfo=UTC)) -> Query:
    return understand(Request(text, now))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("what does Mara prefer?", ["Mara", "prefer"]),
        ("tell me about The Castle", ["Castle"]),
        ("What happened around Nov 27?", []),
        ("who fixed the pump last week", ["fixed", "pump"]),
        ("to be or not to be", ["to", "be", "or", "not"]),
        ("Mara's boat", ["Mara", "boat"]),
        ("l'anniversaire d’Élodie", ["anniversaire", "elodie"]),
        ("(boat), [boat] *boat* 'boat'", ["boat"]),
        ("tile-server", ["tile-server", "tile", "server"]),
        ("run app.py --rebuild", ["run", "app.py", "app", "--rebuild", "rebuild"]),
        ('say "a b" NEAR(c)', ["say", "b", "NEAR(c", "NEAR"]),
        ("AND OR NOT", ["AND", "OR", "NOT"]),
        ("猫 京都", None),
        ("", []),
        ("\0", []),
    ],
)
def test_the_words_a_question_asks_for(text: str, words: list[str] | None) -> None:
    wanted = ('"猫"*', '"京都"') if words is None else tuple(f'"{word}"' for word in words)
    assert ask(text).phrases == wanted


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ('the "blue house" there', ("blue house",)),
        ("c++ in /etc/hosts", ("c++", "/etc/hosts")),
        ("use --force with v1.2.3", ("--force", "v1.2.3")),
        ("a well-known tile-server", ()),
        ("plain words", ()),
        ('one " alone', ()),
    ],
)
def test_what_should_occur_as_it_is(text: str, exact: tuple[str, ...]) -> None:
    assert ask(text).exact == exact


@pytest.mark.parametrize(
    ("text", "slugs"),
    [
        ("tell me about The Blue House", {"the-blue-house", "blue-house", "house"}),
        ("what does Mara prefer?", {"mara"}),
        ("who is @Henrike", {"henrike"}),
        ("is 京都 far", {"京都"}),
        ("a/b c", {"a-b", "a-b-c"}),
    ],
)
def test_runs_that_may_name_an_entity(text: str, slugs: set[str]) -> None:
    assert slugs <= set(ask(text).entity_slugs)


@pytest.mark.parametrize(
    ("text", "kinds", "asks_when"),
    [
        ("what does Mara prefer?", ("opinion",), False),
        ("what did we try", ("experience",), False),
        ("what did I think of it", ("opinion", "experience"), False),
        ("When did it break?", (), True),
        ("¿when?", (), True),
        ("plain", (), False),
    ],
)
def test_hints(text: str, kinds: tuple[str, ...], asks_when: bool) -> None:
    assert (ask(text).kinds, ask(text).asks_when) == (kinds, asks_when)


@pytest.mark.parametrize(
    ("question", "latest", "earliest"),
    [
        ("last time we tried Y", True, False),
        ("when did I last speak with Peter", True, False),
        ("what did Peter last week", False, False),
        ("the last one of ours", False, False),
        ("the first time we met", False, True),
        ("what did we originally plan", False, True),
        ("", False, False),
    ],
)
def test_which_end_of_time_is_wanted(question: str, latest: bool, earliest: bool) -> None:
    query = ask(question)
    assert (query.wants_latest, query.wants_earliest) == (latest, earliest)


@example("?" * 5000)
@example("a-" * 1000)
@example("Nov 27 " * 300)
@given(st.text(max_size=80) | st.text(st.sampled_from("ab \"'“”*^:()+-#._\0猫🎉\ud800NEARO?"), max_size=40))
def test_any_text_is_a_question_and_a_safe_match(text: str) -> None:
    asked = ask(text)
    connection = apsw.Connection(":memory:")
    connection.execute(schema.TABLES)
    match = "SELECT rowid FROM passage_fts WHERE passage_fts MATCH ?"
    if asked.phrases:
        assert list(connection.execute(match, (" OR ".join(asked.phrases),))) == []
    assert all(slug and slug == slug.casefold() for slug in asked.entity_slugs)
    asked.text.encode("utf-8")


def test_which_words_nobody_has() -> None:
    question = ask("Did Limpetron's tile-server move to München, 東京?")
    assert question.unknown(()) == ("limpetron", "tile-server", "move", "münchen")
    assert question.unknown(['"Server"', '"MOVE"']) == ("limpetron", "münchen")
    assert ask("on 12 December with Nora, the last of that year").unknown(()) == ("nora",)


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("Wie viel Mehl kommt in den Zwetschgenkuchen?", ("mehl", "zwetschgenkuchen")),
        ("Was kostet die Miete?", ("kostet", "miete")),
        ("Welche Nüsse darf Hannes nicht", ("nüsse", "hannes")),
        ("Wo wohnt Greta?", ("wohnt", "greta")),
        ("Mit wem war ich beim Konzert und warum?", ("konzert",)),
        ("Qu'est-ce que Luc ne peut pas manger ?", ("luc", "manger")),
        ("Combien de farine faut-il pour la tarte ?", ("farine", "tarte")),
        ("Quel est le code de la porte chez nous ?", ("code", "porte")),
        ("¿Cuánta harina lleva la tarta de ciruelas?", ("harina", "lleva", "tarta", "ciruelas")),
        ("quien es el medico de Lucia", ("medico", "lucia")),
        ("Quanto custa o aluguel do apartamento?", ("custa", "aluguel", "apartamento")),
        ("Quando é que a Inês vai para o Porto?", ("inês", "porto")),
        ("where did the man die in the war?", ("man", "die", "war")),
        ("car insurance", ("car", "insurance")),
        ("who has the policy of the comment section?", ("policy", "comment", "section")),
    ],
)
def test_no_word_that_only_makes_a_sentence_is_unknown_in_its_language(text: str, unknown: tuple[str, ...]) -> None:
    assert ask(text).unknown(()) == unknown
