"""claims.py and supersede.py: a labelled table of pairs, both ways, and the rules of order."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.markdown import supersede
from vault_memory.markdown.claims import claims
from vault_memory.markdown.supersede import Told

DAY = 740_000


def told(key: int, head: str, text: str, day: int, kind: str = "world", since: int | None = None) -> list[Told]:
    subjects = [head] if head else []
    return [
        Told(key, head.casefold(), claim, day, since or (claim.start.toordinal() if claim.start else day), key, key)
        for claim in claims(kind, subjects, text, date.fromordinal(day))
    ]


def replaced(head: str, *texts: str) -> dict[int, int]:
    """Which of these facts of one subject, told a month apart, is replaced by which."""
    every = [claim for i, text in enumerate(texts) for claim in told(i, head, text, DAY + 30 * i)]
    return supersede.successors(every, DAY + 1000)


REPLACED = [
    ("Peter", "Lives in Zurich.", "Lives in Bern."),
    ("Peter", "lives in Zurich", "now lives in Bern"),
    ("Peter", "Peter lives in Malmö.", "Peter now lives in Lund."),
    ("Peter", "Peter lives in Malmö.", "Peter moves from Malmö to Lund on 29 November, into the flat above the shop."),
    ("Peter", "Lives in Zurich.", "Moved to Bern in May 2025."),
    ("Peter", "He lives in Zurich.", "Has moved to Bern."),
    ("Peter", "Is based in Zurich.", "Relocated to Bern."),
    ("Peter", "Lives in Zurich.", "No longer lives in Zurich."),
    ("Peter", "His brother lives in Oslo.", "His brother now lives in Bergen."),
    ("Peter", "Works at Google.", "Works at Spotify now."),
    ("Peter", "Works for Ericsson as a tester.", "Works for Volvo as an engineer."),
    ("Peter", "Works at Google.", "Left Google in March."),
    ("", "The rent is 1,200.", "The rent is 1,350."),
    ("", "My rate is 950 kr an hour.", "My rate is 1 050 kr an hour."),
    ("Flat", "Rent is 1,200 CHF.", "The rent went up to 1,350 CHF."),
    ("Flat", "Rent is 1,200 CHF.", "The rent was raised to 1,350 CHF."),
    ("Flat", "The rent is 1200 CHF a month.", "The rent has changed from 1200 to 1350."),
    ("Flat", "The deposit is 3000 EUR.", "The deposit is now 2500 EUR."),
    ("Tern", "The port is 8080.", "The port is 9090."),
    ("Tern", "Current release is 0.9.4.", "The current release is 0.9.5."),
    ("Tern", "The version is 2.3.1.", "The version is 2.4.0."),
    ("Tern", "The deadline is 12 May.", "The deadline moved to 20 May."),
    ("Team", "The standup is at 9:30.", "The standup is now at 10:00."),
    ("Team", "The standup is at 9:30.", "The standup moved to 10:00."),
    ("Peter", "His manager is Anna.", "His manager is Lars."),
    ("Peter", "Peter's manager is Anna.", "Manager is now Lars."),
    ("Peter", "Reports to Anna.", "Now reports to Lars."),
    ("Peter", "His phone number is +46 70 123.", "His phone number is +46 73 999."),
    ("Peter", "Favourite colour is green.", "His favourite colour is blue."),
    ("Maja", "Maja is 5 years old.", "Maja is 6 years old."),
    ("Maja", "She is 5.", "She is 6."),
    ("Peter", "Prefers tea.", "Now prefers coffee instead."),
    ("Peter", "Prefers tea.", "Prefers coffee instead of tea."),
    ("Peter", "Prefers tea over coffee.", "Prefers coffee over tea."),
    ("Peter", "Prefers long messages.", "Now prefers short messages."),
    ("Tern", "Prefers Postgres for the tile index.", "Now prefers SQLite for the tile index."),
    ("Peter", "Uses vim.", "Switched from vim to Helix."),
    ("Peter", "Drinks coffee.", "Has switched from coffee to tea."),
    ("Peter", "Drinks coffee.", "No longer drinks coffee."),
    ("Peter", "Smokes.", "Stopped smoking."),
    ("Peter", "Eats meat.", "Does not eat meat any more."),
    ("Peter", "Drives a Volvo.", "Gave up the Volvo."),
    ("Peter", "Likes cilantro.", "Hates cilantro."),
    ("Peter", "Likes cilantro.", "Doesn't like cilantro any more."),
    ("Peter", "Dislikes olives.", "Likes olives now."),
    ("Peter", "Is on the board.", "Is no longer on the board."),
    ("Peter", "Is vegetarian.", "Is not vegetarian any more."),
    ("Peter", "No longer plays tennis.", "Plays tennis again."),
    ("Tern", "Postgres is the right place for the tile index, because we run it anyway.",
     "SQLite is the better place for the tile index: one file beside the pack. I thought otherwise before."),
    ("Tern", "Uses Postgres.", "Migrated from Postgres to SQLite."),
    ("Peter", "The best place for the bike is the cellar.", "The best place for the bike is the shed."),
    ("", "The rent is 900 in winter.", "The rent is 950 in winter."),
    ("Peter", "Works at Siemens on Mondays.", "Works at Bosch on Mondays."),
    ("Peter", "Drinks coffee in the evening.", "No longer drinks coffee in the evening."),
    ("Peter", "His manager is Ida Berg.", "His manager is Lars from now on."),
    ("Tern", "The port is 8080 on staging.", "The port is 8443 on staging."),
    ("Flat", "The rent is 1180 until the end of May 2025.", "The rent is 1240."),
    ("Peter", "Lives in Oslo since 2019.", "Moved to Bergen last month."),
]  # fmt: skip

KEPT = [
    ("Peter", "Likes tea.", "Likes coffee."),
    ("Peter", "Likes tea.", "Loves trains."),
    ("Peter", "Likes tea.", "Hates coffee."),
    ("Peter", "Prefers tea.", "Prefers window seats."),
    ("Peter", "Prefers tea.", "Prefers coffee."),
    ("Peter", "Prefers tea for breakfast.", "Now prefers wine for dinner."),
    ("Peter", "Visited Rome.", "Visited Paris."),
    ("Peter", "Was in Rome in May.", "Was in Rome in June."),
    ("Peter", "Has a daughter, Maja.", "Has a daughter, Elin."),
    ("Peter", "His daughter is 5 years old.", "His son is 7 years old."),
    ("Peter", "His daughter lives in Bern.", "His son lives in Zurich."),
    ("Peter", "A daughter lives in Bern.", "A daughter lives in Zurich."),
    ("Peter", "His brother lives in Oslo.", "Lives in Bern."),
    ("Peter", "Anna lives in Oslo.", "Lars lives in Bern."),
    ("Peter", "Lives in Bern.", "Lives in Switzerland."),
    ("Peter", "Lives in Bern.", "Lives in Bern, near the station."),
    ("Peter", "Lives in Zurich.", "Lives in Zurich."),
    ("Peter", "Lives in Zurich.", "Wants to move to Bern."),
    ("Peter", "Lives in Zurich.", "Might move to Bern in May."),
    ("Peter", "Lives in Zurich.", "Will live in Bern from May."),
    ("Peter", "Lives in Zurich.", "Lived in Bern in 2010."),
    ("Peter", "Lives in Zurich.", "Used to live in Bern."),
    ("Peter", "Lives in Zurich.", "Also lives in Bern in the summer."),
    ("Peter", "Lives in Zurich.", "His meeting moved to Bern."),
    ("Peter", "Lives in Zurich.", "Moved to the sales team."),
    ("Peter", "Lives in Zurich.", "Moved to Slack."),
    ("Peter", "Prefers aisle seats.", "Prefers window seats on trains now."),
    ("Peter", "Her favourite book is Dune.", "Her favourite film is Alien."),
    ("Peter", "The meeting is at 10:00.", "The meeting is at 14:00."),
    ("Peter", "Phone is +41 1.", "Work phone is +41 2."),
    ("Peter", "Works at Google.", "Works on Tern."),
    ("Peter", "Works at Google.", "Works from home."),
    ("Peter", "Drinks coffee.", "Drinks tea."),
    ("Peter", "Uses vim.", "Uses Emacs."),
    ("Peter", "Uses vim.", "Switched from Emacs to Helix."),
    ("Peter", "Uses vim.", "No longer uses tmux."),
    ("Peter", "Eats meat.", "Stopped smoking."),
    ("Peter", "Speaks French.", "Speaks German."),
    ("Peter", "Reads Le Guin.", "Reads Lem."),
    ("Peter", "Plays the piano.", "Plays tennis."),
    ("Peter", "Plays tennis.", "No longer plays chess."),
    ("Peter", "Is vegetarian.", "Is on the board."),
    ("Peter", "Is a father.", "Is an engineer."),
    ("Peter", "Is on call while I travel.", "Is ill."),
    ("", "The quote is 38 500 kr.", "The quote is 41 200 kr."),
    ("", "The invoice is 300 EUR.", "The invoice is 500 EUR."),
    ("", "Swam 1500 m in 35:20.", "Swam 1500 m in 34:50."),
    ("", "The fee for the permit is 3 150 kr.", "The fee for the sweep is 1 400 kr."),
    ("", "The rent in Bern is 900.", "The rent in Zurich is 1200."),
    ("", "The rent is 1200.", "The deposit is 1350."),
    ("", "The table is 80 cm.", "The table is 30 kg."),
    ("", "The rent is 1,200.", "The rent would be 1,350."),
    ("", "The rent is 1,200.", "Is the rent 1,350?"),
    ("", "The rent is 1,200.", "Anna says the rent is 1,350."),
    ("Tern", "The disk of tern-1 is 500 GB.", "The disk of tern-2 is 300 GB."),
    ("Tern", "Postgres is the right place for the berths.", "SQLite is the right place for the tile index."),
    ("Tern", "Version 0.9.2 is deployed on all three nodes.", "Version 0.9.3 is deployed on tern-2."),
    ("Peter", "Buy milk.", "Buy bread."),
    ("Peter", "Yoga is on Tuesday.", "Swimming is on Thursday."),
    ("Peter", "His sister is Alice.", "His sister is Elin."),
    ("Peter", "Allergic to nuts.", "Allergic to eggs."),
    ("Peter", "Married to Anna.", "Met Lena."),
    # What holds at times only, or in one place, and what holds always, never meet.
    ("Flat", "The rent is 900 in winter.", "The rent is 1200 in summer."),
    ("Flat", "The rent is 900.", "The rent is 1200 in July and August."),
    ("Peter", "Drinks coffee.", "No longer drinks coffee in the evening."),
    ("Peter", "Drinks coffee.", "Stopped drinking coffee at night."),
    ("Peter", "Drinks coffee.", "Switched from coffee to tea in the evening."),
    ("Peter", "Likes fish.", "Cannot stand fish on Fridays."),
    ("Peter", "Likes coffee cake.", "Dislikes coffee."),
    ("Peter", "Likes coffee.", "Dislikes coffee cake."),
    ("Peter", "Works at Acme.", "Works at Globex on Fridays."),
    ("Peter", "Works at Siemens on Mondays.", "Works at Bosch on Fridays."),
    ("Peter", "Works for volvo.", "Works for Bosch every other week."),
    ("Peter", "Lives in Oslo.", "Lives in Bergen in summer."),
    ("Peter", "Lives in Oslo.", "Lives in Bergen during the holidays."),
    ("Peter", "Lives in Oslo.", "Lives in Paris on weekdays."),
    ("Peter", "Lives in Oslo.", "Is living in Paris this month."),
    ("Peter", "Lives in Oslo.", "Is living in Paris for the summer."),
    ("Peter", "Lives in Oslo.", "Lives in the Old Town."),
    ("Peter", "Does not live in Oslo.", "Does not live in Bern."),
    ("Peter", "His manager is Ida.", "His manager is out sick."),
    ("Peter", "His manager is Ida.", "His manager is happy."),
    ("Peter", "His wife is Ida.", "His wife is Swedish."),
    ("Peter", "His phone number is 555 1234.", "His phone number is 555 9999 at work."),
    ("Peter", "His phone number is 555 1234.", "His phone number is wrong."),
    ("Peter", "His email is p@work.com.", "His email is p@home.net for private things."),
    ("Peter", "Reports to Ida.", "Reports to Mona on Mondays."),
    ("Peter", "His favourite season is autumn.", "His favourite season is not winter."),
    ("Peter", "His dentist is Dr Lund.", "His dentist is not Dr Holm."),
    ("Tern", "The editor is Vim.", "The editor is good."),
    ("Tern", "The port is 8443 on staging.", "The port is 8080 on production."),
    ("Tern", "The price is 100 kr.", "The price is 120 kr on Saturday."),
    ("Tern", "The price is 110 kr on Sunday.", "The price is 120 kr on Saturday."),
    ("Tern", "The price is 100 kr.", "The price is 100.00 kr."),
    ("Tern", "The price is 100 kr.", "The price is 100."),
    ("Tern", "The price is 12,50 kr.", "The price is 12.5 kr."),
    ("Tern", "The price is 1 200 kr.", "The price is 1,200 kr."),
    ("Tern", "The budget is 300 for 2025.", "The budget is 400 for 2026."),
    ("Peter", "Yoga is on Tuesday.", "Yoga is on Thursday."),
]  # fmt: skip


@pytest.mark.parametrize(("head", "older", "newer"), REPLACED)
def test_a_newer_claim_takes_the_place_of_the_older(head: str, older: str, newer: str) -> None:
    assert replaced(head, older, newer) == {0: 1}


@pytest.mark.parametrize(("head", "older", "newer"), KEPT)
def test_what_is_only_similar_stays(head: str, older: str, newer: str) -> None:
    assert replaced(head, older, newer) == {}
    assert replaced(head, newer, older) == {}


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Lives in Zurich and has two cats.", "Lives in Bern."),
        ("Lives in Zurich. Has two cats.", "Lives in Bern."),
        ("His doctor is Holm and his dentist is Berg.", "His doctor is Ek."),
        ("Prefers tea; long talks tire him.", "No longer prefers tea."),
    ],
)
def test_a_fact_that_says_more_is_never_retired(older: str, newer: str) -> None:
    assert replaced("Peter", older, newer) == {}


def test_of_several_preferences_nobody_knows_which_was_replaced() -> None:
    assert replaced("Peter", "Prefers tea.", "Prefers window seats.", "Now prefers coffee instead.") == {}


def test_the_newest_is_named() -> None:
    texts = ("Lives in Zurich.", "Lives in Bern.", "Lives in Basel.")
    assert replaced("Peter", *texts) == {0: 2, 1: 2}


def test_what_was_said_again_since_holds() -> None:
    assert replaced("Peter", "Lives in Zurich.", "Lives in Bern.", "Lives in Zurich again.") == {1: 2}


def test_an_experience_ends_a_claim_but_is_none() -> None:
    moved = told(2, "Peter", "Switched from vim to Helix.", DAY + 9, "experience")
    assert supersede.successors([*told(1, "Peter", "Uses vim.", DAY), *moved], DAY + 99) == {1: 2}
    assert told(3, "Peter", "Uses vim.", DAY, "experience") == []


def test_what_holds_later_replaces_nothing_yet() -> None:
    pair = [*told(1, "Peter", "Lives in Malmö.", DAY), *told(2, "Peter", "Moves to Lund.", DAY + 5, since=DAY + 20)]
    assert supersede.successors(pair, DAY + 19) == {}
    assert supersede.successors(pair, DAY + 20) == {1: 2}


@pytest.mark.parametrize("newer", ["His dentist is Dr Holm from 2030.", "From May 2030 his dentist is Dr Holm."])
def test_what_a_sentence_says_to_begin_later_counts_from_then(newer: str) -> None:
    begins = date(2030, 5 if "May" in newer else 1, 1).toordinal()
    pair = [*told(1, "Peter", "His dentist is Dr Lund.", DAY), *told(2, "Peter", newer, DAY + 30)]
    assert supersede.successors(pair, begins - 1) == {}
    assert supersede.successors(pair, begins) == {1: 2}


def test_a_month_without_a_year_is_the_next_one() -> None:
    may = date(2026, 5, 10).toordinal()
    pair = [
        *told(1, "Flat", "The rent is 1180 until the end of May.", may),
        *told(2, "Flat", "The rent is 1240 from June.", may + 2),
    ]
    assert supersede.successors(pair, date(2026, 5, 31).toordinal()) == {}
    assert supersede.successors(pair, date(2026, 6, 1).toordinal()) == {1: 2}


def test_a_beginning_that_nothing_dates_and_an_end_replace_nothing() -> None:
    (undated,) = claims("world", ["Flat"], "The rent is 1240 from June.")
    (ending,) = claims("world", ["Flat"], "The rent is 1180 until the end of May.")
    (before,) = claims("world", ["Flat"], "The rent is 1100.")
    assert not supersede.supersedes(undated, before)
    assert not supersede.supersedes(ending, before)


def test_what_held_earlier_replaces_nothing() -> None:
    """Told later, of an earlier time: neither is known to be the newer."""
    pair = [*told(1, "Peter", "Lives in Malmö.", DAY), *told(2, "Peter", "Lives in Lund.", DAY + 5, since=DAY - 900)]
    assert supersede.successors(pair, DAY + 99) == {}


def test_two_people_are_two() -> None:
    pair = [*told(1, "Peter", "Lives in Malmö.", DAY), *told(2, "Alice", "Lives in Lund.", DAY + 5)]
    assert supersede.successors(pair, DAY + 99) == {}


def undated(key: int, text: str, note: int = 7) -> list[Told]:
    return [one._replace(day=None, since=None, note=note) for one in told(key, "Anna", text, DAY)]


def test_a_dated_change_is_newer_than_what_has_no_day() -> None:
    old = undated(1, "Lives in Oslo.")
    assert supersede.successors([*old, *told(2, "Anna", "Now lives in Bergen.", DAY)], DAY) == {1: 2}
    assert supersede.successors([*old, *told(2, "Anna", "Moved to Bergen.", DAY)], DAY) == {1: 2}
    assert supersede.successors([*old, *told(2, "Anna", "Lives in Bergen.", DAY)], DAY) == {}
    likes = undated(1, "Likes fish.")
    assert supersede.successors([*likes, *told(2, "Anna", "No longer likes fish.", DAY)], DAY) == {1: 2}
    assert supersede.successors([*likes, *told(2, "Anna", "Hates fish.", DAY)], DAY) == {}
    again = told(3, "Anna", "Lives in Oslo.", DAY + 9)
    assert supersede.successors([*old, *told(2, "Anna", "Now lives in Bergen.", DAY), *again], DAY + 9).get(1) is None


def test_what_has_no_day_is_newer_than_nothing_dated() -> None:
    dated = told(1, "Anna", "Lives in Oslo.", DAY)
    assert supersede.successors([*dated, *undated(2, "Now lives in Bergen.")], DAY + 9) == {}


def test_in_one_undated_note_a_later_line_that_tells_of_a_change_decides() -> None:
    old, plain, change = (undated(n, text) for n, text in enumerate(
        ("Lives in Oslo.", "Lives in Bergen.", "Now lives in Bergen."), 1
    ))  # fmt: skip
    assert supersede.successors([*old, *plain], DAY) == {}
    assert supersede.successors([*old, *change], DAY) == {1: 3}
    assert supersede.successors([*old, *undated(3, "Now lives in Bergen.", note=8)], DAY) == {}
    above = [one._replace(line=9) for one in old]
    assert supersede.successors([*above, *change], DAY) == {}


def test_of_one_day_the_line_decides_in_one_note_only() -> None:
    first, second = told(1, "Peter", "Lives in Malmö.", DAY), told(2, "Peter", "Lives in Lund.", DAY)
    together = [one._replace(note=7) for one in (*first, *second)]
    assert supersede.successors(together, DAY) == {1: 2}
    assert supersede.successors([*first, *second], DAY) == {}
    turned = [one._replace(since=DAY + 3) if one.key == 1 else one for one in together]
    assert supersede.successors(turned, DAY + 3) == {2: 1}


@given(
    st.text(max_size=80), st.sampled_from(["world", "experience", "opinion"]), st.lists(st.text(max_size=8), max_size=2)
)
def test_any_text_is_read_and_never_replaces_itself(text: str, kind: str, heads: list[str]) -> None:
    found = claims(kind, heads, text)
    assert not any(supersede.supersedes(claim, claim) for claim in found)


words = st.sampled_from(
    [
        "Peter",
        "lives",
        "in",
        "works",
        "at",
        "prefers",
        "likes",
        "Bern",
        "Malmö",
        "tea",
        "now",
        "instead",
        "no",
        "longer",
        "from",
        "to",
        "the",
        "is",
        "rent",
        "5",
    ]
)


@given(st.lists(words, max_size=9), st.lists(words, max_size=9))
def test_of_two_at_most_one_is_replaced(first: list[str], second: list[str]) -> None:
    found = replaced("Peter", " ".join(first), " ".join(second))
    assert found in ({}, {0: 1})
