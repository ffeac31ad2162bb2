"""What a log without a Retain section tells: which lines, which words of them, whose, of when; and in rows."""

import re
import time
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vaults import fill, memory, opened, put

from vault_memory.markdown.log_facts import MOST_CHARS, MOST_LINES, Inferred, inferred
from vault_memory.markdown.parse import parse
from vault_memory.markdown.speakers import talking
from vault_memory.memory import Memory
from vault_memory.store.rows import KINDS
from vault_memory.text.spans import Span

DAY = date(2025, 11, 27)  # a Thursday
PATH = "memory/2025-11-27.md"

W, B, O, S = "world", "experience", "opinion", "observation"  # noqa: E741 - the letters of Retain bullets


def told(text: str, day: date | None = DAY, path: str = PATH) -> list[Inferred]:
    return list(inferred(parse(path, text.encode()), day))


# --- logs of one person ----------------------------------------------------------------------------------------------

LOG = [
    # deeds, telegraphic
    ("- 09:30 Rang the plumber about the boiler.", B, "Rang the plumber about the boiler."),
    ("- 09.30 – Swam 1500 m before work", B, "Swam 1500 m before work"),
    ("- [07:15] Ran to the lighthouse and back.", B, "Ran to the lighthouse and back."),
    ("- 10:00 Put the winter tyres on.", B, "Put the winter tyres on."),
    ("- Put the winter tyres on.", None, ""),  # with no time of day it may as well be a task
    ("Planted garlic in the north bed.", B, "Planted garlic in the north bed."),
    ("1. Sold the old canoe to a neighbour", B, "Sold the old canoe to a neighbour"),
    ("Then finally mended the gate hinge.", B, "Then finally mended the gate hinge."),
    ("- 18:40 #garden Pruned the apple tree. Tired now.", B, "Pruned the apple tree."),
    ("- Tired, and rather bored of rain.", None, ""),
    ("- Inspired by the lecture of the day.", None, ""),
    ("- Corrugated sheet would be cheaper than felt.", None, ""),
    # deeds in the first person
    ("I went to the harbour and sketched two cranes.", B, "I went to the harbour and sketched two cranes."),
    ("Last Friday we took the ferry to Hven.", B, "Last Friday we took the ferry to Hven."),
    ("My brother and I have painted the boathouse red.", B, "My brother and I have painted the boathouse red."),
    ("It rained. I read forty pages of the manual. Soup.", B, "I read forty pages of the manual."),
    ("I’ve been playing chess against the neighbour.", B, "I’ve been playing chess against the neighbour."),
    ("I thought about the ferry for an hour.", None, ""),
    ("We had a great time.", None, ""),
    ("We had a picnic under the viaduct.", B, "We had a picnic under the viaduct."),
    ("I did it!", None, ""),
    ("We got this!", None, ""),
    ("I'd love to see the fjords.", None, ""),
    ("I would have bought the boat.", None, ""),
    ("I won't quit the choir.", None, ""),
    ("I had to close my account.", B, "I had to close my account."),
    ('I just watched "The Tin Drum" with her.', B, 'I just watched "The Tin Drum" with her.'),
    # tasks
    ("- [x] Call the chimney sweep", B, "Call the chimney sweep"),
    ("- [X] Ordered 12 m of rope", B, "Ordered 12 m of rope"),
    ("- [ ] Call the chimney sweep", None, ""),
    ("- [ ] I went to the dentist yesterday", None, ""),
    ("- [-] Rang the chimney sweep about soot", None, ""),
    ("- [x] tarred felt, six rolls", None, ""),
    # decisions
    ("We decided to keep the ledger in SQLite.", B, "We decided to keep the ledger in SQLite."),
    ("Will use Postgres for the berth table.", W, "Will use Postgres for the berth table."),
    ("Decision: weekly releases, on Tuesdays.", W, "Decision: weekly releases, on Tuesdays."),
    ("Decided: no car this year.", B, "Decided: no car this year."),
    ("We have not decided on the colour of the hull.", None, ""),
    ("We did not decide on the payment vendor", None, ""),
    ("Nobody has decided on the vendor of the sails.", None, ""),
    ("Did not decide on the payment vendor.", None, ""),
    ("Did not light the stove in the hall.", B, "Did not light the stove in the hall."),
    ("We never agreed on a berth for the winter.", None, ""),
    ("We talked with Ingrid and decided to sell the boat.", B, "We talked with Ingrid and decided to sell the boat."),
    ("It was decided to keep the ledger in SQLite.", B, "It was decided to keep the ledger in SQLite."),
    ("The team decided to release on Fridays", B, "The team decided to release on Fridays"),
    ("Nora and I decided to sell the canoe.", B, "Nora and I decided to sell the canoe."),
    # what others decided is no deed of mine, and who has no name in a log is nobody
    ("Dorothea decided to marry Casaubon, the fool", S, "Dorothea decided to marry Casaubon, the fool"),
    ("[[Nora]] decided to sell the boathouse.", S, "[[Nora]] decided to sell the boathouse."),
    ("The villain picked the lock of the cellar.", None, ""),
    ("She decided to sell the boathouse.", None, ""),
    # what is only said, asked or joked
    ("Jonas joked that he has decided to become a monk", None, ""),
    ("I joked that I have decided to become a monk.", None, ""),
    ("Nora asked whether we switched to Postgres", None, ""),
    ("Nora wondered if we decided on Postgres.", None, ""),
    ("I wondered whether we decided on Postgres.", None, ""),
    ("I asked Nora whether we switched to Postgres.", B, "I asked Nora whether we switched to Postgres."),
    ("Nora said that we decided on Postgres.", None, ""),
    ("Tomas told me we sold the boathouse.", None, ""),
    ("Rumour has it that we moved the harbour office.", None, ""),
    ("I told Nora that we moved the moorings.", B, "I told Nora that we moved the moorings."),
    ("Nora said hello, and we sketched two cranes.", B, "Nora said hello, and we sketched two cranes."),
    ("Mum told me she sold the canoe.", W, "Mum told me she sold the canoe."),
    ("Nora said: I sold the canoe yesterday.", None, ""),
    ("Nora's mother says she hates the canoe.", None, ""),
    ("I wrote down five", None, ""),
    ("I decided it on Monday.", None, ""),
    # what was not, or is no more
    ("Dreamed that I moved to Paris", None, ""),
    ("I had a strange dream that we sold the canoe.", None, ""),
    ("I was going to call the plumber, but I fell asleep.", None, ""),
    ("I was going to the harbour when I met Ida.", B, "I was going to the harbour when I met Ida."),
    ("I used to prefer tea", None, ""),
    ("I used to work at the harbour.", B, "I used to work at the harbour."),
    ("I wrote down five numbers of the meter.", B, "I wrote down five numbers of the meter."),
    ("I did not go to the harbour with Ida.", None, ""),
    # what has ended, or will not be
    ("I no longer use the almanac; all is in the app now", W, "I no longer use the almanac; all is in the app now"),
    ("I no longer like it", None, ""),
    ("The regatta is cancelled.", W, "The regatta is cancelled."),
    ("The regatta has been postponed.", W, "The regatta has been postponed."),
    ("The regatta is not cancelled.", None, ""),
    ("Nora fears that the regatta is cancelled.", None, ""),
    ("If the regatta is cancelled we sail.", None, ""),
    # preferences
    ("I love rye bread with caraway.", O, "I love rye bread with caraway."),
    ("My favourite café is the one by the lock.", O, "My favourite café is the one by the lock."),
    ("I can't stand fluorescent light in offices.", O, "I can't stand fluorescent light in offices."),
    ("[[Nora]] prefers trains to planes.", O, "[[Nora]] prefers trains to planes."),
    ("I love it!", None, ""),
    ("I think the ferry is faster", O, "I think the ferry is faster"),
    ("I think the ferry is late.", None, ""),
    ("I think it is better.", None, ""),
    ("I think we sail in the other boat.", None, ""),
    ("The Moomins are a favourite of mine.", O, "The Moomins are a favourite of mine."),
    ("I asked how I like the book.", B, "I asked how I like the book."),
    ("Kim hates coriander in soup.", O, "Kim hates coriander in soup."),
    ("You went on a trip and how I loved your letters!", None, ""),
    # states of a life
    ("I don't drink coffee anymore.", W, "I don't drink coffee anymore."),
    ("I don't get it at all.", None, ""),
    ("Kim's allergic to nuts.", W, "Kim's allergic to nuts."),
    ("My new phone number is 555-0101.", W, "My new phone number is 555-0101."),
    ("Got promoted!", B, "Got promoted!"),
    ("I got excited about it.", None, ""),
    ("I have two kids and a lodger.", W, "I have two kids and a lodger."),
    ("I've got two kids and a lodger.", W, "I've got two kids and a lodger."),
    ("I work as a pilot in Malmö.", W, "I work as a pilot in Malmö."),
    ("I'm allergic to walnuts.", W, "I'm allergic to walnuts."),
    ("I'm a nurse at the county hospital.", W, "I'm a nurse at the county hospital."),
    ("My sister Ida lives in Tromsø.", W, "My sister Ida lives in Tromsø."),
    ("I'm a bit tired.", None, ""),
    ("I have to buy stamps.", None, ""),
    # changes of others, and what is dated
    ("Nora moved to Uppsala with her cello.", W, "Nora moved to Uppsala with her cello."),
    ("The standup on Monday is now at 09:30.", W, "The standup on Monday is now at 09:30."),
    ("[[Nora Ek|Nora]] called about the moorings.", S, "[[Nora Ek|Nora]] called about the moorings."),
    ("See [[2025-11-20]] where the crane was described.", None, ""),
    ("The boiler broke yesterday.", S, "The boiler broke yesterday."),
    ("The audit starts on Monday.", W, "The audit starts on Monday."),
    ("The boiler is loud.", None, ""),
    ("The door opens if the token expired yesterday.", None, ""),
    ("Last night was amazing!", None, ""),
    ("I graduated last week.", B, "I graduated last week."),
    ("Graduation was great.", None, ""),
    ("Quit smoking three days ago.", B, "Quit smoking three days ago."),
    ("Deadline, Friday, maybe.", None, ""),
    # plans
    ("I'm going to learn Finnish before summer.", W, "I'm going to learn Finnish before summer."),
    ("We plan to repaint the hull in May.", W, "We plan to repaint the hull in May."),
    ("I'll pick up the sails tomorrow.", W, "I'll pick up the sails tomorrow."),
    ("I'm going to try.", None, ""),
    ("Gonna volunteer at the shelter next month.", W, "Gonna volunteer at the shelter next month."),
    ("I just wanted to say that we sold the canoe.", B, "I just wanted to say that we sold the canoe."),
    ("Must renew the passport before 1 May.", None, ""),
    # what is nobody's own words, or no words
    ("> I went to the harbour yesterday.", None, ""),
    ("| I went to the harbour | yesterday |", None, ""),
    ("## I went to the harbour yesterday", None, ""),
    ("%% I went to the harbour yesterday %%", None, ""),
    ("```\nI went to the harbour yesterday\n```", None, ""),
    ('The sign said "We closed the shop last week. I moved to Spain."', None, ""),
    ("`I moved to the harbour`", None, ""),
    ("~~I went to the harbour yesterday.~~", None, ""),
    ("Did I lock the boathouse yesterday?", None, ""),
    ("If I sold the boat, we could pay for the roof.", None, ""),
    ("Hope we finished the varnish.", None, ""),
    ("Remember that I moved the keys.", None, ""),
    # marks and other languages
    ("Painted the *whole* north wall. ^wall-1", B, "Painted the *whole* north wall."),
    ("I met Dr. Berg at the clinic on Monday.", B, "I met Dr. Berg at the clinic on Monday."),
    ("Ich habe gestern das Boot verkauft und bin müde.", None, ""),
    ("I går sålde jag båten och köpte en cykel på marknaden.", None, ""),
    ("Hier, nous avons vendu le bateau.", None, ""),
    ("I led il gruppo di studenti per una settimana.", None, ""),
]  # fmt: skip


@pytest.mark.parametrize(("line", "kind", "text"), LOG)
def test_a_line_of_a_log(line: str, kind: str | None, text: str) -> None:
    assert [(fact.kind, fact.text, fact.speaker) for fact in told(line)] == ([(kind, text, None)] if kind else [])


@pytest.mark.parametrize(
    ("line", "first", "last"),
    [
        ("I bought a canoe yesterday.", date(2025, 11, 26), date(2025, 11, 26)),
        ("I bought a canoe last week.", date(2025, 11, 17), date(2025, 11, 23)),
        ("Last Friday I bought a canoe.", date(2025, 11, 21), date(2025, 11, 21)),
        ("We plan to sail to Bornholm next month.", date(2025, 12, 1), date(2025, 12, 31)),
        ("The audit begins on 5 December.", date(2025, 12, 5), date(2025, 12, 5)),
        ("Since May - I bought a canoe yesterday.", date(2025, 11, 26), date(2025, 11, 26)),
        ("I sold the house in 2019.", date(2019, 1, 1), date(2019, 12, 31)),
    ],
)
def test_when_it_happened_is_read_from_the_day_of_the_note(line: str, first: date, last: date) -> None:
    assert [fact.occurred for fact in told(line)] == [Span(first, last)]


@pytest.mark.parametrize(
    "line",
    [
        "I bought a canoe.",
        "I wrote a script for tomorrow.",  # done today, whatever it is for
        "I've lived on a boat since 2019.",  # a state that lasts
        "Sent the agenda for 12 December to Ingrid.",
        "We are going to sail to Bornholm in June.",  # the last June is over
        "I read [[2025-03-02]] and rewrote the ending.",  # a citation is no date
    ],
)
def test_no_day_rather_than_a_wrong_one(line: str) -> None:
    assert [fact.occurred for fact in told(line)] == [None]


def test_several_sentences_of_a_line_make_one_fact() -> None:
    (fact,) = told("Wow. I sold the canoe to Ida. It was sad! Did I cry? By the way, we adopted a cat.")
    assert fact.text == "I sold the canoe to Ida. we adopted a cat."


def test_what_only_elaborates_is_told_with_what_it_is_about() -> None:
    (found,) = inferred(
        parse(PATH, b"- Adopted a puppy from the shelter. Her name's Coco and she's brown. Isn't she lovely?\n"), DAY
    )
    assert found.text == "Adopted a puppy from the shelter. Her name's Coco and she's brown."
    assert not list(inferred(parse(PATH, b"- Her name's Coco and she's brown.\n- It rained.\n"), DAY))


def test_what_is_said_of_oneself_in_so_many_words_is_told_in_a_conversation_only() -> None:
    said = "This necklace was a present of my grandmother in Sweden."
    talk = f"- Ada: {said}\n- Bo: I went to the harbour.\n- Ada: I bought a kite.\n- Bo: We sold the boat.\n"
    talk += "- Ada: I see.\n- Bo: You do?\n"
    assert told(talk)[0].text == said
    assert told(f"- {said}\n") == []


def test_a_sentence_that_goes_on_in_the_next_line_is_not_cut() -> None:
    facts = told("I sold the canoe. I bought a sail from\nthe man in Lund. We mended the rudder.\n")
    assert [(fact.line, fact.text) for fact in facts] == [(1, "I sold the canoe."), (2, "We mended the rudder.")]


@pytest.mark.parametrize(
    ("path", "day", "text"),
    [
        (PATH, None, "I sold the canoe."),
        ("bank/summaries/2025-W48.md", DAY, "I sold the canoe."),
        (PATH, DAY, "I sold the canoe.\n\n## Retain\n- B: Sold the canoe.\n"),
        (PATH, DAY, "<!-- memory:begin facts -->\nI sold the canoe.\n<!-- memory:end facts sha=1a2b3c4d -->"),
        (PATH, DAY, "---\nsold: I sold the canoe\n---\n"),
        (PATH, DAY, "I sold the canoe.\n" * (MOST_LINES + 1)),
    ],
)
def test_where_nothing_is_inferred(path: str, day: date | None, text: str) -> None:
    assert told(text, day, path) == []


def test_a_retain_section_without_a_fact_hides_nothing() -> None:
    assert [fact.line for fact in told("I sold the canoe.\n\n## Retain\n\n- nothing today\n")] == [1]


# --- conversations ---------------------------------------------------------------------------------------------------

TALK = """# A talk

- Ada: Hey Bo! Wow, I moved to Lund last week. How are you?
- Bo: Congrats, Ada! You must be thrilled.
- Ada: Thanks, Bo! I work at the observatory now. It is great.
- Bo: Yeah, we adopted a cat, her name is Plum. [holds up a photo of a grey cat on a red chair]
- Ada: You went to the shelter for that!
- Bo: What do you think? [holds up a drawing of a wooden boat house]
- Ada: I love old boats. I'm so proud of you!
"""


def test_a_conversation() -> None:
    week = Span(date(2025, 11, 17), date(2025, 11, 23))
    assert told(TALK) == [
        (3, B, "I moved to Lund last week.", "Ada", week),
        (5, W, "I work at the observatory now.", "Ada", None),
        (6, B, "we adopted a cat, her name is Plum.", "Bo", None),
        (8, S, "holds up a drawing of a wooden boat house", "Bo", None),
        (9, O, "I love old boats.", "Ada", None),
    ]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (TALK, {"ada", "bo"}),
        ("Ada: I see.\nBo: You do?\n" * 3, {"ada", "bo"}),
        ("Ada: I see.\nBo: You do?\n" * 2 + "Kim: I do.\n", set()),  # so little is only quoted
        ("User: I see.\nAssistant: You do?\n" * 2, {"user", "assistant"}),
        ("**Ada:** I see.\n\n**Bo:** You do?\n\n" * 3, {"ada", "bo"}),
        ("- Ada: I see.\n- Bo: You do?\n" + "- Ada: I do.\n" * 5, set()),  # Bo only once
        ("- Ada: I see.\n- Ada: You do?\n" * 3, set()),  # nobody to talk with
        ("- Note: I see.\n- Todo: You do?\n" * 3, set()),
        ("- Roses: dug.\n- Hull: tarred.\n" * 3, set()),  # topics
        ("- Ada: I see.\n- Bo: You do?\n" * 3 + "- a line\n" * 7, set()),
        ("> Ada: I see.\n> Bo: You do?\n" * 3, set()),
    ],
)
def test_who_talks(text: str, names: set[str]) -> None:
    assert talking(parse(PATH, text.encode())) == names


def test_what_others_said_is_told_in_a_conversation() -> None:
    talk = "- Ada: Nora said that we sold the canoe.\n- Bo: I see.\n- Ada: They chose the red boat.\n"
    talk += "- Bo: Did we?\n- Ada: You know.\n- Bo: I see.\n"
    assert [(fact.line, fact.kind) for fact in told(talk)] == [(1, B), (3, S)]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("- Ada: I moved to Lund.\n- 10:00 Rang the plumber about Ada: no answer.\n", [2]),
        ("- Bo: We decided to move to Rome.\n", []),
        ("Ada: I sold the house yesterday\n  We also bought a boat.\n- I bought a bike\n", [3]),
        (
            "- Ada: I am back.\n- Bo: I want red.\n- Ada: Blue. I painted it.\n- Bo: I will paint the mast today\n",
            [],
        ),
        ("- Ada: The boiler broke yesterday.\n", [1]),
        ("- Garden: we planted two plum trees.\n- Decided: we keep the hens.\n", [1, 2]),
        ("- Ada: red.\n\nI sold the house yesterday.\n", [3]),
    ],
)
def test_in_a_log_nobody_else_s_words_are_the_writer_s(text: str, lines: list[int]) -> None:
    assert [(fact.line, fact.speaker) for fact in told(text)] == [(line, None) for line in lines]


def test_an_opinion_holds_nothing_else() -> None:
    (opinion,) = told("Kim prefers letters to calls. The budget went from 10 000 to 12 500 kr.")
    assert (opinion.kind, opinion.text) == (O, "Kim prefers letters to calls.")
    (more,) = told("Kim prefers letters to calls. She hates telephones.")
    assert (more.kind, more.text) == (O, "Kim prefers letters to calls. She hates telephones.")
    (mixed,) = told("I love rye bread. I bought two loaves in Lund.")
    assert mixed.kind == B


def test_whose_words_a_line_without_a_label_holds() -> None:
    talk = "Ada: I see.\nBo: You do?\nAda: I sold the canoe.\nI bought a sail.\n\nI sold the house.\nBo: We do.\n"
    talk += "Ada: I see.\nBo: I do.\n"
    facts = told(f"{talk}\n## Log\nI swam to the island.\n")
    assert [(fact.line, fact.speaker) for fact in facts] == [(3, "Ada"), (4, "Ada"), (12, None)]


def test_a_model_is_nobody() -> None:
    facts = told(
        "User: I sold the canoe.\nAssistant: I sold two.\nUser: I bought a sail.\nAssistant: I see, you did.\n"
    )
    assert [(fact.line, fact.speaker) for fact in facts] == [(1, None), (3, None)]


# --- whatever the text -----------------------------------------------------------------------------------------------

PIECES = (
    "- ", "Ada: ", "Bo: ", "I sold the canoe", "we went to Lund yesterday", "Rang the plumber. ", "! ", "? ", ". ",
    "Yeah, ", "[shows a red boat]", "[[Nora]]", "“", "”", "`", "~~", "\n", "\n\n", "## Retain\n", "- [x] ", "09:30 ",
    "%%",
    "last week", "ß", "日本", "\u2019", "_", "I", "'", "…", "^id", "#tag ", "\t",
)  # fmt: skip
notes = st.lists(st.sampled_from(PIECES), max_size=25).map("".join) | st.text(max_size=120)


@settings(deadline=None, max_examples=400)
@given(notes)
def test_any_text_gives_whole_words_of_its_lines(text: str) -> None:
    note = parse(PATH, text.encode("utf-8", "replace"))
    facts = list(inferred(note, DAY))
    assert facts == list(inferred(note, DAY))
    assert [fact.line for fact in facts] == sorted({fact.line for fact in facts})
    for fact in facts:
        words = re.findall(r"\w+", note.shown(fact.line))
        left = iter(words)
        assert all(word in left for word in re.findall(r"\w+", fact.text)), (fact.text, note.shown(fact.line))
        assert fact.text.strip()
        assert fact.kind in (W, B, O, S)
        assert "\n" not in fact.text


HOSTILE = (
    "I ", "I was ", "my ", "“", '"', "[", "[a b", "oh ", "Oh, ", "yeah Mel, ", "a. ", "I'm also ", "[[", "@a ", "~~a",
    "`", "1. ", "- ", "#a ", "since ", "Ab Cd ", "I have also ", "on 1 may ", "yesterday ",
    "12:30 ", "my a b ", "…", "((", "not yet ", "Ann said that ", "asked me ", "The a is ", "nobody ever ",
)  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_no_line_takes_long(piece: str) -> None:
    text = f"{piece * (1_900 // len(piece))}\n" * 4 + f"- I {piece * (MOST_CHARS // len(piece))}\n"
    note = parse(PATH, text.encode())
    began = time.process_time()
    list(inferred(note, DAY))
    assert time.process_time() - began < 1


# --- in the index ----------------------------------------------------------------------------------------------------


def rows(of: Memory) -> list[tuple[object, ...]]:
    sql = (
        "SELECT n.path, p.start_line, i.line, i.kind, i.text, i.speaker, i.occurred_from, i.occurred_to FROM inferred i"
        " JOIN passage p ON p.id = i.passage_id JOIN note n ON n.id = p.note_id ORDER BY n.path, i.line"
    )
    with opened(of) as store:
        return list(store.rows(sql))


LONG = "- I sold the canoe. " + "It lay there and nobody wanted it, as so often. " * 12


def test_what_a_log_tells_is_stored_with_the_note(tmp_path: Path) -> None:
    prose = "A dry day.\nI bought a sail yesterday.\n\n"
    mine = memory(fill(tmp_path, {PATH: prose + LONG + "\n", "memory/2025-11-28.md": TALK, "undated.md": prose}))
    mine.index()
    kind = KINDS.index(B)
    of_log = [
        (PATH, 1, 2, kind, "I bought a sail yesterday.", None, "2025-11-26", "2025-11-26"),
        (PATH, 4, 4, kind, "I sold the canoe. It lay there and nobody wanted it, as so often.", None, None, None),
    ]
    assert rows(mine)[:2] == of_log
    assert [row[2] for row in rows(mine)[2:]] == [3, 5, 6, 8, 9]
    assert mine.index_file.check()[0] == mine.index_file.check()[1]
    put(tmp_path, PATH, "A dry day.\n", age_seconds=30)
    mine.index()
    assert [row[0] for row in rows(mine)] == ["memory/2025-11-28.md"] * 5
    put(tmp_path, "memory/2025-11-28.md", TALK + "\n## Retain\n- W @Ada: Lives in Lund.\n", age_seconds=30)
    mine.index()
    assert rows(mine) == []
    assert mine.index_file.check()[0] == mine.index_file.check()[1]


def test_an_index_brought_up_to_date_tells_the_same_as_a_rebuilt_one(tmp_path: Path) -> None:
    mine = memory(fill(tmp_path, {PATH: "I sold the canoe.\n", "a.md": "x\n"}))
    mine.index()
    put(tmp_path, PATH, "A dry day.\n\nI sold the canoe.\n- 10:00 Rang [[Nora]] about it.\n", age_seconds=30)
    mine.index()
    before = rows(mine)
    with opened(mine) as store:
        store.connection.execute("UPDATE inferred SET text = 'another'")
    assert mine.index_file.check()[0] != mine.index_file.check()[1]
    mine.index(rebuild=True)
    assert rows(mine) == before != []
    assert mine.index_file.check()[0] == mine.index_file.check()[1]


def test_of_a_very_long_log_it_is_said_that_nothing_is_inferred(tmp_path: Path) -> None:
    mine = memory(fill(tmp_path, {PATH: "I sold the canoe.\n" * (MOST_LINES + 1)}))
    assert [problem.message for problem in mine.index().problems] == [
        "more than 5,000 lines and no facts: none are inferred from it"
    ]
