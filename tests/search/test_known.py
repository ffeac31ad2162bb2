"""Whether the notes know anything of a question: what is said and shown where they hardly do."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sample import Said, call
from vaults import fill, memory

from vault_memory.config import Config
from vault_memory.markdown.note import ASIDE
from vault_memory.memory import Memory
from vault_memory.search import relevance_gate
from vault_memory.search.answer import CLOSEST, Answer, Request
from vault_memory.search.relevance_threshold import PROMPTS
from vault_memory.store.view import Candidate

DAYS = {
    f"memory/2025-11-{day:02}.md": f"- Rowed to the island with Bo, {what}.\n- Paid {day} kr for {what} at the quay.\n"
    for day, what in enumerate(("herring", "mackerel", "cod", "plaice", "turbot", "salmon", "trout", "pike"), 1)
}
GERMAN = {
    "a.md": "# Werkstatt\n\n- Die Hobelbank steht jetzt am Fenster, der Schraubstock links davon.\n",
    "b.md": "# Garten\n\n- Die Quitten wurden am Samstag geerntet, es waren elf Kilo.\n- Guter Boden, viel Regen.\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return fill(tmp_path / "vault", DAYS)


def recall(root: Path, query: str, *more: str) -> Said:
    return call("--vault", str(root), "recall", query, *more)


def document(root: Path, query: str, *more: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(recall(root, query, "--json", *more).out)
    return found


def lines(said: Said) -> int:
    """How many lines were cited."""
    return sum(line.startswith("L") for line in said.out.splitlines())


def test_what_no_note_mentions_is_said_first_with_the_closest_three(root: Path) -> None:
    said = recall(root, "when is my dentist appointment with Bo?")
    assert said.err.startswith("No note mentions “dentist” or “appointment”. Closest:\n")
    assert (lines(said), lines(recall(root, "when is my dentist appointment with Bo?", "--all"))) == (3, 8)


def test_a_script_is_told_by_a_field_and_gets_all_results(root: Path) -> None:
    answers = [document(root, query) for query in ("dentist with Bo", "turbot at quay")]
    assert [answer["known"] for answer in answers] == [False, True]
    assert len(answers[0]["results"]) == 8


def test_what_holds_a_whole_name_that_was_asked_for_is_not_weak(tmp_path: Path) -> None:
    page = "# Harbour Office\n\nThe harbour office keeps the berths, the berth lists and the pilots of the harbour.\n"
    line = "- 09:40 walked the dog past the Harbour Office, then bread, milk, two stamps and a haircut at Mario's.\n"
    notes = {"bank/entities/Harbour Office.md": page, "a.md": line, "b.md": "- Painted the office door green, twice.\n"}
    answer = document(fill(tmp_path / "vault", notes), "Harbour Office")
    assert {each["path"] for each in answer["results"]} == {"bank/entities/Harbour Office.md", "a.md"}


def test_what_shares_only_a_name_is_too_weak_unless_all_is_wanted(tmp_path: Path) -> None:
    others = {
        f"{n}.md": f"- Bo {what}.\n" for n, what in enumerate(("cut the hedge", "sold the sledge", "swam at dawn"))
    }
    root = fill(
        tmp_path / "vault", others | {"a.md": "- Bo prefers short messages on the phone.\n", "Bo.md": "- Tall.\n"}
    )
    query = "What messages does Bo prefer?"
    found = [document(root, query, *more) for more in ((), ("--all",), ("--budget", "900"))]
    assert [result["path"] for result in found[0]["results"]] == ["a.md", "Bo.md"]
    assert (found[0]["omitted"]["weak"], len(found[1]["results"]), len(found[2]["results"])) == (3, 5, 5)
    assert "Left out: 3 too weak (shown with --all)." in recall(root, query).err


def test_a_name_in_the_question_does_not_hide_the_line_that_answers_without_it(tmp_path: Path) -> None:
    page = (
        "# Delft\n\nI live here.\n\nThe baker opens at six, the market is on Thursdays.\n\nThe tram is loud at night.\n"
    )
    facts = "".join(f"- W @Delft: In Delft {what}.\n" for what in ("the canal froze", "it rained", "the bridge is up"))
    notes = {"bank/entities/Delft.md": page, "memory/2025-11-02.md": f"## Retain\n\n{facts}"}
    numbers = "# Numbers\n\n- Tax office, deductions: form 41-B.\n\n- Paint: RAL 6005.\n"
    of = memory(fill(tmp_path / "vault", DAYS | notes | {"numbers.md": numbers}))
    for question in ("Which deductions form do we use for Delft?", "RAL of the paint for Delft, please"):
        answer, hook = of.recall(question), _unasked(of, question)[0]
        wanted = "41-B" if "form" in question else "6005"
        assert any(wanted in result.content for result in answer.results[:CLOSEST])
        assert any(wanted in result.content for result in hook.results)


def test_a_rare_word_that_hardly_asks_for_anything_brings_nothing_up(indexed_sample: Path) -> None:
    of = Memory(Config(vault=indexed_sample, journal=False))

    def places(answer: Answer) -> list[tuple[str, int]]:
        return [(result.path, result.start_line) for result in answer.results]

    told, noted = _unasked(
        of, "Tell Peter thanks, he likes short messages", "Tell Ingrid that the fence needs new paint, thanks"
    )
    assert ("memory/2025-10-25.md", 5) not in places(told)
    assert not any("Heat shield" in result.content for result in noted.results)
    asked = of.recall("Does Peter like short messages, thanks?")
    assert ("memory/2025-11-11.md", 36) in places(asked)[:5]
    code = of.recall("Which EPSG code do we use for Gothenburg?")
    assert any("EPSG:3007" in result.content for result in code.results[:CLOSEST])
    assert any(result.path == "bank/world.md" and "EPSG:3007" in result.content for result in code.results)


def test_what_is_near_a_question_only_by_its_name_is_too_weak(tmp_path: Path) -> None:
    log = "- Bram wants messages short, on the phone.\n- Bram lives at the lock.\n- Bram sold the sledge to Ida.\n"
    others = ("was born in Hoorn", "owns a barge", "plays the tuba", "turned forty", "paints in oils", "has a twin")
    facts = "## Retain\n\n- O @Bram: Reads short texts at once.\n" + "".join(f"- W @Bram: He {o}.\n" for o in others)
    of = memory(fill(tmp_path / "vault", DAYS | BRAM | {"a.md": log, "memory/2025-11-30.md": facts}))
    texts = "\n".join(result.content for result in _unasked(of, "How does Bram like his messages?")[0].results)
    assert "wants messages" in texts and "Reads short" in texts
    assert sum(words in texts for words in ("lives at", "sledge", *others)) <= 2


def test_unasked_only_the_closest_are_handed_over_where_a_word_is_missing(tmp_path: Path) -> None:
    many = {
        f"{n}.md": f"- The ferry {what}, Bram said.\n" for n, what in enumerate(("sails", "sinks", "stays", "turns"))
    }
    of = memory(fill(tmp_path / "vault", DAYS | BRAM | many))
    prompts = ("Did Bram say whether the ferry takes a bicycle helmet?", "What did Bram say of the ferry?")
    lacking, known = _unasked(of, *prompts)
    assert lacking.missing and len(lacking.results) <= CLOSEST < len(known.results)


BRAM = {
    "bank/entities/Bram.md": "# Bram\n\nBram keeps the locks of the canal and rings before he comes.\n",
    "memory/2025-12-03.md": "- @Bram wants his messages short, and none before nine.\n",
    "memory/2025-12-04.md": "- Painted the shed: the colour is called oxide, a favourite of the neighbours.\n",
}


def test_a_known_name_does_not_hide_that_nothing_is_known_of_what_is_asked_about_it(tmp_path: Path) -> None:
    root = fill(tmp_path / "vault", BRAM)
    said = recall(root, "What is Bram's favourite colour?").err
    assert said.startswith("No note mentions “favourite” or “colour” with Bram. Closest:\n")
    questions = ("What is Bram's favourite colour?", "How long may messages to Bram be?", "Who is Bram?")
    assert [document(root, query)["known"] for query in questions] == [False, True, True]


def test_what_filters_keep_away_is_not_said_to_stand_in_no_note(tmp_path: Path) -> None:
    facts = "## Retain\n\n- O @Bram: Wants his messages short.\n- B @Bram: Drove a tractor to the lock.\n"
    root = fill(tmp_path / "vault", BRAM | {"memory/2025-12-05.md": facts})
    every, opinions = (recall(root, "Did Bram drive a tractor?", *more).err for more in ((), ("--kind", "O")))
    assert "mentions" not in every
    assert opinions.startswith("Nothing that the filters let through mentions “drive” or “tractor” with Bram.")


def test_a_question_in_other_words_than_the_notes_is_known(tmp_path: Path) -> None:
    line = "- Saw the movie about the lighthouse with Per, who was ill the week after.\n"
    of = memory(fill(tmp_path / "vault", DAYS | {"a.md": line, "Per.md": "- Tall.\n"}))
    asked = ("Which film about the lighthouse did Per see?", "Which opera about the lighthouse did Per conduct?")
    assert [bool(of.recall(question).missing) for question in asked] == [False, True]


def test_a_word_that_no_note_has_nor_anything_like_it_is_named_first(root: Path) -> None:
    said = recall(root, "Who rowed to the island with Bo for herring and paid at the quay before the election?")
    assert said.err.startswith("No note mentions “election”.\n") and lines(said) > 3


def test_what_is_asked_of_a_name_is_measured_without_the_name(indexed_sample: Path) -> None:
    questions = ("Does Moss play chess?", "Is Peter married?", "What does Peter prefer?", "Where does Elin live?")
    known = [
        not answer.missing for answer in map(Memory(Config(vault=indexed_sample, journal=False)).recall, questions)
    ]
    assert known == [False, False, True, True]


def test_a_page_of_nothing_but_the_name_answers_only_who_asks_for_nothing_else(tmp_path: Path) -> None:
    notes = {
        "People/Bram.md": "# Bram\n",
        "memory/2025-11-03.md": "- @Bram wants his messages short, and none before nine.\n",
        "memory/2025-11-04.md": "- Met Bram at the lock, he was late. He told about the flood of 1995.\n",
    }
    root = fill(tmp_path / "vault", DAYS | notes)
    page, *others = notes
    for query, paths in {"how should I write to Bram?": others, "Who is Bram?": [page, *others]}.items():
        assert [result["path"] for result in document(root, query)["results"]] == paths


def test_a_greeting_with_a_known_name_is_no_question_where_nobody_asked(tmp_path: Path) -> None:
    lives = {"memory/2025-12-06.md": "- @Bram lives at the lock.\n"}
    of = memory(fill(tmp_path / "vault", BRAM | DAYS | lives))
    prompts = (
        "Hi Bram",
        "Thanks, Bram!",
        "Does Bram want his messages short?",
        "Where does Bram live?",
        "wo wohnt Bram?",
        "hi Bram?",
    )
    assert [answer.is_relevant for answer in _unasked(of, *prompts)] == [False, False, True, True, True, False]


def test_everyday_talk_is_not_about_the_notes_in_another_language_either(tmp_path: Path) -> None:
    of = memory(fill(tmp_path / "vault", GERMAN))
    answers = _unasked(of, "Wo steht die Hobelbank?", "Wie viel Kilo Quitten?", "Hello!")
    assert [answer.is_relevant for answer in answers] == [True, True, False]


def test_what_only_makes_a_sentence_is_never_missing(tmp_path: Path) -> None:
    notes = {"Hannes.md": "- Isst keine Haselnüsse.\n", "c.md": "# Hof\n\n- Im Hof darf niemand parken, wie bisher.\n"}
    of = memory(fill(tmp_path / "vault", GERMAN | notes))
    of.index()
    asked = ("Wie viel Mehl kommt denn in den Kuchen?", "Welche Nüsse darf Hannes nicht?", "Was darf Hannes?")
    missing = [of.recall(question).missing for question in asked]
    assert missing == [("mehl", "kuchen"), ("nüsse",), ()]


@pytest.mark.parametrize("language", ["de", "fr", "es", "pt"])
def test_everyday_talk_that_stands_in_notes_raises_the_bound_in_its_language(tmp_path: Path, language: str) -> None:
    talk = PROMPTS[language]
    of = memory(fill(tmp_path / "vault", DAYS | {"talk.md": "\n\n".join(talk[::2])}))
    of.index()
    assert _kept(of) > 1.0


@pytest.mark.parametrize("refresh", [Memory.index, lambda of: of.recall("turbot")], ids=["index", "recall"])
def test_indexing_finds_the_bounds_and_again_when_the_notes_have_grown(
    root: Path, refresh: Callable[[Memory], object]
) -> None:
    of = memory(root)
    refresh(of)
    kept = _kept(of)
    assert kept != relevance_gate.USUAL
    fill(root, {"one.md": "- Mended the oars.\n"})
    refresh(of)
    assert _kept(of) == kept
    fill(root, {"more.md": "\n".join(f"- {prompt}" for prompt in PROMPTS["en"])})
    refresh(of)
    assert _kept(of) > kept


def test_few_of_the_everyday_prompts_are_taken_for_questions_about_the_sample(indexed_sample: Path) -> None:
    answers = _unasked(Memory(Config(vault=indexed_sample, journal=False)), *PROMPTS["en"])
    assert sum(answer.is_relevant for answer in answers) <= len(PROMPTS["en"]) // 5


def _unasked(of: Memory, *prompts: str) -> list[Answer]:
    requests = [
        Request(prompt, datetime.now(UTC), k=None, rendered=True, self_contained=True, unasked=True, is_pinned=True)
        for prompt in prompts
    ]
    return list(of.answers(requests, keep=False))


def _kept(of: Memory) -> float:
    with of.index_file.reading() as (store, _):
        return relevance_gate.load_threshold(store)


# --- what tells something by itself ----------------------------------------------------------------------------------


def passage(text: str, section: int = 0) -> Candidate:
    return Candidate(1, 1, 1, 1, None, None, "note", 5, section, text)


@pytest.mark.parametrize(
    ("text", "does"),
    [
        ("tags: [boat]\naliases:\n  - old boat\ndate: 2025-01-02", False), ("title: \"x\"\nby: web", False),
        ("tags: [book]\nauthor: Hanne Voss", True), ("attendees:\n  - Ada\n  - Ida", True), ("email:", False),
        ("rating: []\nnote: \"\"", False), ("%% author: me %%", False), ("<!-- to: do\nmore: so -->", False),
        ("  - Ada", False), ("Geburtstag: 2.5.1980", True), ("see also: [[Boats]]", True),
    ],
)  # fmt: skip
def test_properties_tell_unless_they_are_only_the_file_s_own(text: str, does: bool) -> None:
    assert relevance_gate.is_informative(passage(text, section=ASIDE)) == does


def test_what_a_plugin_runs_tells_nothing() -> None:
    assert not relevance_gate.is_informative(passage("```dataview\nLIST FROM #boat\n```"))
    assert not relevance_gate.is_informative(passage(" ~~~~ tasks\nnot done"))
    assert relevance_gate.is_informative(passage("```python\nprint('base')\n```"))
    assert relevance_gate.is_informative(passage("`dataview` is a plugin"))
