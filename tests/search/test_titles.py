"""What finds a line that lacks the words: titles, headings and aliases of its note, and compounds of a word."""

from pathlib import Path

import pytest
from vaults import fill, memory

NOTES = {f"Journal/Meeting {n}.md": f"The prizes of day {n}.\n\nAt Obsidian, in October.\n" for n in range(30)}
NOTES |= {
    "Obsidian October 2022 prizes.md": "A license and a hoodie.\n\nFive mugs.\n",
    "Notes/Film.md": "The animation of that film took ten years, and the last one longer.\n",
    "Notes/Layout.md": "The UI should last; how long is a question of taste.\n",
    "Notes/Design.md": "# Design\n\n## Colour\n\n- no more than five\n- never pure black\n\n"
    "## UI animation\n\n- https://example.org/motion\n- less than 300ms\n\n"
    "## Type\n\n- one family\n- at most 75 letters\n",
}


@pytest.mark.parametrize(
    ("question", "path", "said"),
    [
        ("prizes at obsidian october 2022", "Obsidian October 2022 prizes.md", ""),
        ("obsidian october prizes", "Obsidian October 2022 prizes.md", ""),
        ("how long should a UI animation last?", "Notes/Design.md", "- less than 300ms"),
    ],
)
def test_a_line_is_found_by_what_stands_above_it(tmp_path: Path, question: str, path: str, said: str) -> None:
    results = memory(fill(tmp_path / "vault", NOTES)).recall(question, k=4, journal=False).results
    assert (results[0].path if not said else path) == path
    assert not said or said in [result.content for result in results if result.path == path]


def test_a_title_of_all_the_words_and_no_others_comes_before_a_line_that_repeats_them(tmp_path: Path) -> None:
    line = "The prizes at Obsidian in October 2022: prizes at Obsidian, October 2022 prizes, at Obsidian.\n"
    root = fill(tmp_path / "vault", NOTES | {"Echo.md": f"# Prizes\n\n{line}", "Journal/Echo 2.md": line})
    for question in ("prizes at obsidian october 2022", "Obsidian October 2022 prizes"):
        assert memory(root).recall(question, journal=False).results[0].path == "Obsidian October 2022 prizes.md"


def test_a_property_that_only_names_the_file_answers_nothing_but_its_own_words(tmp_path: Path) -> None:
    front = '---\ntitle: "Day one"\ntags: [harbour]\n---\n'
    of = memory(fill(tmp_path / "vault", {"memory/2025-11-01.md": f"{front}# Day one\n\n- The boiler was serviced.\n"}))
    found = {
        question: any("title:" in result.content for result in of.recall(question, budget=500, journal=False).results)
        for question in ("boiler", "harbour")
    }
    assert found == {"boiler": False, "harbour": True}


def test_what_only_embeds_comes_behind_what_says_something(tmp_path: Path) -> None:
    notes = {
        "Categories/Books.md": "![[Books.base]]\n",
        "Categories/Books I read.md": "![[Books.base#read]]\n",
        "Templates/Author.md": "## Books\n\n![[Books.base#Author]]\n![[Books.base#Year]]\n",
        "Notes/Steph.md": "- Discussed the book Out of Control with Steph\n",
    }
    found = memory(fill(tmp_path / "vault", notes)).recall("books I read", k=2, journal=False).results
    assert "Notes/Steph.md" in [result.path for result in found]


def test_a_note_called_what_is_asked_comes_first_whatever_its_title_spells_out(tmp_path: Path) -> None:
    about = "---\ntitle: Conflict-free Replicated Data Type (CRDT)\n---\nEvery actor converges to one state.\n"
    notes = {"CRDT.md": about, "CRDT Implementations.md": "A CRDT in Go.\n\nA CRDT in Rust.\n"}
    of = memory(fill(tmp_path / "v", notes))
    for question in ("CRDT", "what is a CRDT?"):
        assert of.recall(question).results[0].path == "CRDT.md"


def _stub(**properties: str) -> str:
    return "---\n" + "".join(f"{name}: {value}\n" for name, value in properties.items()) + "---\n"


STUBS = {
    "References/The Machine Stops.md": _stub(categories='"[[Books]]"', author='"[[E. M. Forster]]"', year="1909"),
    "References/Blade Runner.md": _stub(categories='"[[Movies]]"', director='"[[Ridley Scott]]"', year="1982"),
    "References/Catan.md": _stub(categories='"[[Board games]]"', maker="", rating="7", last="2023-09-01"),
    "References/BOTW.md": _stub(aliases="[Breath of the Wild]", maker="Nintendo", rating="7"),
    "Home.md": _stub(icon="house", banner="blue.png"),
    "Movies.md": _stub(tags="[categories]") + "\n![[Movies.base]]\n",
} | {
    f"Clippings/Advice {n}.md": f"- When the machine at work {n} stops, the runner who wrote to me directed us all.\n"
    f"- I went home and played with {n} friends; they wrote about movies, and stopped at the last.\n"
    for n in range(12)
}  # fmt: skip


@pytest.mark.parametrize(
    ("question", "path", "said"),
    [
        ("who wrote The Machine Stops?", "References/The Machine Stops.md", "Forster"),
        ("who was the author of the machine stops", "References/The Machine Stops.md", "Forster"),
        ("who directed Blade Runner", "References/Blade Runner.md", "Ridley Scott"),
        ("when did I last play Catan", "References/Catan.md", "last: 2023-09-01"),
        ("when did i last play catan", "References/Catan.md", "last: 2023-09-01"),
        ("which company made Breath of the Wild, and did friends like it?", "References/BOTW.md", "Nintendo"),
    ],
)
def test_a_question_that_holds_a_whole_title_finds_that_note(
    tmp_path: Path, question: str, path: str, said: str
) -> None:
    results = memory(fill(tmp_path / "vault", STUBS)).recall(question, k=5, journal=False).results
    found = [result for result in results[:2] if result.path == path]
    assert found, [result.path for result in results]
    assert said in found[0].content


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("where is the WHO?", "References/WHO.md"),
        ("is there an answer to Pascal's Wager, and who wrote it down?", "References/Pascal's Wager.md"),
    ],
)
def test_a_name_in_capitals_is_no_everyday_word_and_a_title_may_have_a_possessive(
    tmp_path: Path, question: str, path: str
) -> None:
    named = {"References/WHO.md": _stub(seat="Geneva"), "References/Pascal's Wager.md": _stub(year="1670")}
    others = {f"Wager {n}.md": f"- Pascal {n} had an answer, who wrote it down and lost a wager.\n" for n in range(9)}
    found = memory(fill(tmp_path / "vault", named | others)).recall(question, k=5, journal=False).results
    assert path in [result.path for result in found[:2]]


@pytest.mark.parametrize("question", ["when did I get home with friends", "which movies did they write about"])
def test_a_common_word_names_no_note(tmp_path: Path, question: str) -> None:
    results = memory(fill(tmp_path / "vault", STUBS)).recall(question, k=5, journal=False).results
    assert results
    assert not {"Home.md", "Movies.md"}.intersection(result.path for result in results)


def test_a_word_that_only_a_title_holds_is_contained_in_a_note(tmp_path: Path) -> None:
    notes = {f"Notes/Soup {n}.md": f"Boil it for {n} minutes.\n" for n in range(3)}
    answer = memory(
        fill(tmp_path / "v", notes | {"Alien.md": _stub(director='"[[Ridley Scott]]"', year="1979")})
    ).recall("who directed Alien", journal=False)
    assert answer.results[0].path == "Alien.md"
    assert not answer.degraded


# --- aliases ---------------------------------------------------------------------------------------------------------

KNUT = {
    "Projects/Heat pump.md": "---\naliases: [Warm giant, Knut]\n---\n# Heat pump\n\nInstalled behind the shed.\n\n"
    "The installer asked 84,000 crowns for it.\n"
}
KNUT |= {
    f"Shop/Warm socks {n}.md": f"Warm socks cost {n} crowns at the giant store. Knut Berg knits them.\n"
    for n in range(1, 12)
}


@pytest.mark.parametrize("question", ["Knut", "who is Knut?", "Warm giant", "what is the warm giant?"])
def test_a_question_with_nothing_but_the_alias_finds_the_note(tmp_path: Path, question: str) -> None:
    answer = memory(fill(tmp_path / "vault", KNUT)).recall(question, k=3, journal=False)
    assert "Projects/Heat pump.md" in [result.path for result in answer.results]
    assert answer.understood.entities == ("Heat pump",)


@pytest.mark.parametrize("alias", ["knut", "Warm giant"])
def test_an_alias_names_the_entity(tmp_path: Path, alias: str) -> None:
    profile = memory(fill(tmp_path / "vault", KNUT)).entity(alias)
    assert profile and profile.row.name == "Heat pump"


def test_notes_of_one_file_name_stay_two_entities_by_their_aliases(tmp_path: Path) -> None:
    notes = {f"{name}/README.md": f"---\naliases: [{name}, {name}lein]\n---\nOn {name}.\n" for name in ("Anna", "Bob")}
    notes["memory/2025-11-03.md"] = "## Retain\n- W @Anna: Lives in Lund.\n- B @Annalein: Rowed to the weir.\n"
    notes["memory/2025-11-08.md"] = "## Retain\n- W @Bob: Lives in Oslo.\n"
    with memory(fill(tmp_path / "vault", notes)) as asked:
        rows = [(row.name, row.page, row.mentions) for row in asked.entities() if row.mentions]
        assert rows == [("Anna", "Anna/README.md", 2), ("Bob", "Bob/README.md", 1)]
        assert not any(fact.superseded_by for name in ("Anna", "Bob") for fact in asked.entity(name).facts)
        asked.reflect(now="2025-12-01")
        world = (tmp_path / "vault/bank/world.md").read_text("utf-8")
        assert "Anna: Lives in Lund" in world and "Bob: Lives in Oslo" in world


def test_who_is_mentioned_only_by_an_alias_is_not_called_by_the_file(tmp_path: Path) -> None:
    notes = {"Recipes/Pie.md": "---\naliases: [Anna]\n---\nWith apples.\n"}
    notes["memory/2025-11-03.md"] = "## Retain\n- W @Anna: Lives in Lund.\n"
    with memory(fill(tmp_path / "vault", notes)) as asked:
        assert [row.name for row in asked.entities() if row.mentions] == ["Anna"]
        assert asked.entity("Pie").row.mentions == 1, "the note joins its names"


# --- compounds -------------------------------------------------------------------------------------------------------

COMPOUNDS = {
    "Notizen/Huffman.md": "Die Kodierungslänge hängt von der Häufigkeit ab.\n",
    "Notizen/Haus.md": "Die Hausratversicherung kostet 80 Euro im Jahr.\n",
    "Notizen/Boot.md": "Das Boot liegt in Hamburg.\n",
    "Notes/Keys.md": "The harbourmaster has the key.\n\nThe vegetables are in the shed.\n",
}


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("kodierung", "Notizen/Huffman.md"), ("was kostet die Versicherung?", "Notizen/Haus.md"),
        ("Kodierung?", "Notizen/Huffman.md"), ("who is at the harbour?", "Notes/Keys.md"),
    ],
)  # fmt: skip
def test_a_part_finds_its_compound(tmp_path: Path, question: str, path: str) -> None:
    answer = memory(fill(tmp_path / "vault", COMPOUNDS)).recall(question, k=2, journal=False)
    assert answer.lanes["lexical"]
    assert answer.results[0].path == path
    assert answer.understood.unknown == ()


def test_a_word_that_stands_somewhere_is_no_part(tmp_path: Path) -> None:
    notes = {**COMPOUNDS, "Notes/Code.md": "Kodierung: how text becomes bytes.\n"}
    answer = memory(fill(tmp_path / "vault", notes)).recall("kodierung", k=2, mode="lexical", journal=False)
    assert [result.path for result in answer.results] == ["Notes/Code.md"]
