"""Names of entities: slugs, mentions in text, and which page a name means."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vault_memory.markdown.entities import file_name, mentions, resolve, slug


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Mara Berg", "mara-berg"),
        ("  Mara   Berg ", "mara-berg"),
        ("Straße", "strasse"),
        ("Zoe\u0308", "zoë"),
        ("a/b\\c", "a-b-c"),
        ('a:*?"<>|b', "a-b"),
        ("..", ""),
        ("../../etc", "etc"),
        ("-x-", "x"),
        ("京都", "京都"),
        ("a\0b\nc", "a-b-c"),
        ("", ""),
    ],
)
def test_slugs(name: str, found: str) -> None:
    assert slug(name) == found


@settings(deadline=None)
@given(st.text(max_size=40))
def test_a_slug_is_a_safe_file_name_and_its_own_slug(name: str) -> None:
    found = slug(name)
    assert not set(found) & set('/\\:*?"<>|\0\n\r\t ')
    assert found == "" or found.strip(".-") == found
    assert slug(name.upper()) == slug(name.lower()) or name.upper().casefold() != name.casefold()
    assert slug(unicodedata.normalize("NFD", name)) == slug(unicodedata.normalize("NFC", name))
    assert slug(found) == found or unicodedata.normalize("NFC", found) != found


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("@Mara met @Odd", ["Mara", "Odd"]),
        ("@Mara, (@Odd) and @Åse.", ["Mara", "Odd", "Åse"]),
        ("@[[Blue House]] and [[Blue House|home]]", ["Blue House"]),
        ("[[people/Mara.md#Youth|her]]", ["Mara"]),
        ("mara@example.org, @@Odd, a/@b, x.@y", []),
        ("@tile-server_2 @_x", ["tile-server_2", "_x"]),
        ("@-x @. @[[]] [[]] [[#here]] @[[", []),
        ("[[2025-11-27]] @[[2025-11-27 Thursday]] [[2025-W48]] [[2025-11]]", []),
        ("[[2025-11-2700]] [[2025 plans]]", ["2025-11-2700", "2025 plans"]),
        ("![[map.png]] ![[Node.js.md]] ![[Tea]] [[Node.js]]", ["Node.js", "Tea"]),
        ("", []),
    ],
)
def test_mentions(text: str, names: list[str]) -> None:
    assert list(mentions(text)) == names


PAGES = {"mara-berg": "mara-berg", "the-blue-house": "blue-house", "blue-house": "blue-house"}
ALIASES = {
    "mara": ["mara-berg"],
    "house": ["blue-house", "red-house"],
    "blue-house": ["red-house"],
    "twice": ["a", "a"],
}


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("Mara Berg", "mara-berg"),
        ("mara", "mara-berg"),
        ("The Blue House", "blue-house"),
        ("house", None),
        ("twice", "a"),
        ("Mar", None),
        ("", None),
    ],
)
def test_a_name_means_its_page_then_an_alias_of_one_page_and_nothing_by_guess(name: str, page: str | None) -> None:
    assert resolve(name, PAGES, ALIASES) == page


@given(st.text(st.characters(codec="utf-8"), max_size=400))
def test_every_name_makes_a_file_name(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    made = file_name(name)
    assert 0 < len(made.encode()) <= 184 and made == made.strip(". ") and made == file_name(made)
    (tmp_path_factory.getbasetemp() / f"{made}.md").write_bytes(b"")
    assert (file_name("con"), file_name("Aux.notes"), file_name("a/b")) == ("con_", "Aux.notes_", "a b")
