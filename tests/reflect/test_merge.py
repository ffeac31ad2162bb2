"""What a person changed in a block stays, what they deleted stays away, and the rest keeps up."""

from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.reflect.generated_blocks import Block, Line, bare, fact_name
from vault_memory.reflect.merge import Edits, MergeResult, PageHistory, find_edits, merge_block

BLANK = Line("")


def fact(number: int, words: str = "") -> Line:
    """A line of one fact, known by its number."""
    return Line(f"- {words or f'fact {number}'} — [[2025-11-{number + 1:02d}]] L{number}", (number << 32,))


def name(number: int) -> str:
    return fact_name(number << 32)


DRAFT = [
    Line("## In the logs"), BLANK, Line("3 facts on 2 days.", slot="opening"), BLANK,
    fact(1), fact(2), BLANK,
    Line("### Now"), BLANK,
    fact(3), fact(4), BLANK,
    Line("### Earlier"), BLANK,
    fact(5),
]  # fmt: skip


class Hand:
    """One block through runs and edits, as the page, its ledger and the journal would keep it."""

    def __init__(self, draft: Sequence[Line] = DRAFT, facts: "frozenset[str] | None" = None) -> None:
        self.hidden: set[str] = set()
        self.linked = {"Tomas"}
        self.facts = frozenset(map(name, range(100))) if facts is None else facts
        self.block: Block | None = None
        self.last: tuple[Line, ...] = ()
        self.run(draft)

    def run(self, draft: Sequence[Line] = DRAFT) -> MergeResult:
        known = PageHistory(self.facts, is_linked=lambda name: name in self.linked)
        self.edits = find_edits(self.block, self.last, known.is_linked) if self.block else Edits()
        found = merge_block(draft, self.edits, known, frozenset(self.hidden))
        self.block, self.last = found.block, found.lines
        self.hidden |= self.edits.deleted
        return found

    @property
    def text(self) -> list[str]:
        assert self.block is not None
        return list(self.block.lines)

    def edit(self, change: Callable[[list[str]], object]) -> "Hand":
        lines = self.text
        change(lines)
        assert self.block is not None
        self.block = self.block._replace(lines=tuple(lines))
        return self

    def theirs(self) -> list[str]:
        assert self.block is not None
        return [self.block.lines[place] for place in sorted(self.block.yours)]


def texts(lines: Sequence[Line]) -> list[str]:
    return [line.text for line in lines]


def after(line: str, *new: str) -> Callable[[list[str]], None]:
    def change(lines: list[str]) -> None:
        at = lines.index(line) + 1
        lines[at:at] = new

    return change


def gone(*away: str) -> Callable[[list[str]], None]:
    return lambda lines: [lines.remove(line) for line in away] and None


def swap(old: str, new: str) -> Callable[[list[str]], None]:
    def change(lines: list[str]) -> None:
        lines[lines.index(old)] = new

    return change


F1, F2, F3, F4, F5 = (fact(n).text for n in range(1, 6))


def test_what_nobody_touched_is_the_draft() -> None:
    hand = Hand()
    assert hand.text == texts(DRAFT)
    again = hand.run()
    assert (again.block.lines, hand.edits.is_edited, hand.edits.deleted, again.block.yours) == (
        tuple(texts(DRAFT)), False, frozenset(), frozenset(),
    )  # fmt: skip
    newer = [*DRAFT[:5], fact(6), *DRAFT[5:]]
    hand.run(newer)
    assert hand.text == texts(newer)


ADDITIONS: dict[str, tuple[Callable[[list[str]], object], list[str]]] = {
    "on top, apart": (lambda lines: lines.__setitem__(slice(0, 0), ["Mine.", ""]), ["Mine."]),
    "at the end, apart": (lambda lines: lines.extend(["", "Mine.", "", "More."]), ["Mine.", "", "More."]),
    "below a line": (after(F1, "  - a word on this"), ["  - a word on this"]),
    "under a heading": (after("### Now", "", "Mine."), ["Mine."]),
    "behind a list": (after(F2, "", "Mine."), ["Mine."]),
    "a section": (after(F4, "", "### Mine", "", "- one", "", "- two"), ["### Mine", "", "- one", "", "- two"]),
    "code": (after(F2, "", "```", "a", "", "", "b", "```"), ["```", "a", "", "", "b", "```"]),
    "the same line twice": (after(F2, "- mine", "- mine"), ["- mine", "- mine"]),
    "a copy of ours": (lambda lines: lines.extend(["", F1]), [F1]),
}


@pytest.mark.parametrize("where", ADDITIONS)
def test_what_a_person_adds_stays_where_it_is_while_ours_keeps_up(where: str) -> None:
    change, mine = ADDITIONS[where]
    hand = Hand().edit(change)
    edited = hand.text
    for _ in range(2):
        hand.run()
        assert (hand.edits.deleted, hand.text, hand.theirs()) == (frozenset(), edited, mine)
    opening = Line("9 facts on 8 days.", slot="opening")
    newer = [*DRAFT[:2], opening, *DRAFT[3:5], fact(6), *DRAFT[5:10], fact(7), fact(5)]
    hand.run(newer)
    ours = [line for place, line in enumerate(hand.text) if place not in hand.block.yours]  # type: ignore[union-attr]
    assert list(filter(None, ours)) == list(filter(None, texts(newer)))
    assert hand.theirs() == mine
    edited = hand.text
    hand.run(newer)
    assert hand.text == edited


def test_style_is_no_edit() -> None:
    for restyle in (
        lambda line: line.replace("- ", "*  "),
        lambda line: f"{line}  " if line else line,
        lambda line: line or None,
    ):
        hand = Hand()
        hand.edit(
            lambda lines, to=restyle: lines.__setitem__(slice(None), [to(one) for one in lines if to(one) is not None])
        )
        found = hand.run()
        assert (hand.edits.is_edited, hand.edits.deleted, found.block.yours) == (False, frozenset(), frozenset())
        assert list(filter(None, hand.text)) == list(filter(None, texts(DRAFT)))


def test_a_line_of_theirs_follows_the_line_it_stands_behind() -> None:
    hand = Hand().edit(after(F1, "  - a word on this"))
    hand.run([*DRAFT[:4], fact(2), fact(6), fact(1), *DRAFT[6:]])
    assert hand.text[4:8] == [F2, fact(6).text, F1, "  - a word on this"]
    hand.run([*DRAFT[:4], fact(2), fact(6), *DRAFT[6:]])
    assert hand.text[4:9] == [F2, fact(6).text, F1, "  - a word on this", ""]


@pytest.mark.parametrize("is_told", [True, False])
def test_an_entry_with_a_line_of_theirs_below_it_stays_with_it(is_told: bool) -> None:
    hand = Hand().edit(after(F1, "  - a word on this"))
    hand.run()
    hand.facts -= frozenset() if is_told else {name(1)}
    without = [line for line in DRAFT if line != fact(1)]
    for _ in range(2):
        found = hand.run([*without[:5], fact(6), *without[5:]])
        assert hand.text[4:8] == [F1, "  - a word on this", F2, fact(6).text]
        assert (hand.theirs(), hand.edits.deleted) == ([F1, "  - a word on this"], frozenset())
        assert found.orphaned == (() if is_told else (F1,))
        assert found.block.cites == tuple(map(name, (2, 6, 3, 4, 5)))
    hand.facts |= {name(1)}
    hand.run()
    assert (hand.text[4:7], hand.text.count(F1)) == ([F1, "  - a word on this", F2], 1)


def below(number: int) -> list[Line]:
    """An entry with lines of its own below it."""
    return [
        fact(number),
        Line(f"  - for {number}", ((50 + number) << 32,)),
        Line(f"  - course {number}", slot=f"c {number}"),
    ]


def test_a_changed_entry_keeps_the_lines_below_it() -> None:
    first, second = below(1), below(3)
    hand = Hand([*first, *second]).edit(swap(second[0].text, "- mine"))
    hand.run([*first, *second])
    other = [*below(5), *second, *first]
    hand.run(other)
    assert hand.text == [*texts(below(5)), "- mine", *texts(second[1:]), *texts(first)]


def test_what_stands_behind_an_entry_goes_behind_the_lines_that_the_entry_gets() -> None:
    hand = Hand([fact(1), fact(2)]).edit(after(F1, "- mine"))
    hand.run([*below(1), fact(2)])
    assert hand.text == [*texts(below(1)), "- mine", F2]


def test_where_lines_of_theirs_go_when_ours_around_them_change() -> None:
    now, earlier = Line("### Now"), Line("### Earlier")
    draft = [now, fact(1), fact(2), BLANK, earlier, fact(3)]
    hand = Hand(draft).edit(after(F2, "  - a remark"))
    hand.run([now, fact(1), BLANK, earlier, fact(3), fact(2)])
    assert hand.text[-2:] == [F2, "  - a remark"]
    hand = Hand(draft).edit(after(F1, "  - a remark", "- mine"))
    hand.run([now, *below(1), *draft[2:]])
    assert hand.text[1:6] == [F1, "  - a remark", *texts(below(1)[1:]), "- mine"]
    hand = Hand(draft).edit(after("### Now", "", "Mine.", ""))
    hand.run([now, *draft[2:]])
    assert hand.text[:5] == ["### Now", "", "Mine.", "", F2]


# --- a note that has another name ------------------------------------------------------------------------------------


def linked(number: int, target: str, key: int = 0) -> Line:
    return Line(f"- [[{target}]] tells {number} — [[2025-11-{number + 1:02d}]] L{number}", ((key or number) << 32,))


def test_a_note_renamed_in_all_lines_makes_none_theirs() -> None:
    opening = Line("2 facts, with [[Tomas]].", slot="opening")
    hand = Hand([linked(1, "Tomas"), BLANK, opening, BLANK, linked(2, "Tomas"), fact(3), linked(4, "Tomas")])
    hand.linked = {"Tomas Ek"}
    hand.edit(lambda lines: lines.__setitem__(slice(None), [line.replace("Tomas", "Tomas Ek") for line in lines]))
    hand.facts = frozenset(map(name, (3, 11, 12, 14)))
    opening = opening._replace(text="2 facts.")
    moved = Line(linked(4, "Tomas Ek").text.replace("L4", "L9"), (14 << 32,))
    draft = [linked(1, "Tomas Ek", 11), BLANK, opening, BLANK, fact(3), moved]
    found = hand.run(draft)
    assert (hand.text, hand.theirs(), found.orphaned, hand.edits.deleted) == (texts(draft), [], (), frozenset())
    assert found.block.cites == tuple(map(name, (11, 3, 14)))
    assert hand.run(draft).block == found.block


def test_a_line_of_theirs_that_names_a_renamed_note_stays() -> None:
    hand = Hand([linked(1, "Tomas"), fact(2)]).edit(after(F2, "- Ask [[Tomas]].")).edit(swap(F2, "- See [[Tomas]]."))
    hand.run([linked(1, "Tomas"), fact(2)])
    hand.linked = {"Tomas Ek"}
    hand.edit(lambda lines: lines.__setitem__(slice(None), [line.replace("Tomas", "Tomas Ek") for line in lines]))
    for _ in range(2):
        hand.run([linked(1, "Tomas Ek", 11), fact(2)])
        assert hand.text == [linked(1, "Tomas Ek").text, "- See [[Tomas Ek]].", "- Ask [[Tomas Ek]]."]
        assert hand.theirs() == hand.text[1:]


# --- changed lines ---------------------------------------------------------------------------------------------------


def test_a_changed_line_is_theirs_and_ours_stays_away() -> None:
    hand = Hand().edit(swap(F3, "- in my own words"))
    found = hand.run()
    assert (hand.edits.deleted, hand.theirs(), hand.text.count(F3)) == (frozenset(), ["- in my own words"], 0)
    assert hand.text[9:11] == ["- in my own words", F4]
    assert found.block.cites == tuple(map(name, (1, 2, 4, 5)))
    hand.run([*DRAFT, fact(6)])
    assert hand.text[9:11] == ["- in my own words", F4]
    assert F3 not in hand.text


def test_what_a_changed_line_replaced_stays_away_where_only_the_page_and_the_journal_came() -> None:
    hand = Hand().edit(swap(F3, "- in my own words")).edit(swap("3 facts on 2 days.", "What I know."))
    replaced = hand.edit(swap("### Now", "These days:")).run().replaced
    assert hand.block is not None
    found = merge_block([*DRAFT, fact(6)], find_edits(hand.block, None), PageHistory(), replaced)
    assert texts(found.lines) == [*hand.text, fact(6).text]


def test_a_line_is_known_by_its_block_id_beside_one_that_was_deleted() -> None:
    lines = [Line(f"- [ ] add: {words} ^p-0{n}", slot=f"p{n}") for n, words in enumerate(("tea", "coffee", "milk"))]
    hand = Hand(lines).edit(gone(lines[0].text, lines[2].text)).edit(swap(lines[1].text, "- [ ] add: tea, milk ^p-01"))
    hand.run(lines)
    assert hand.edits.deleted == {"p0", "p2"}
    assert hand.text == ["- [ ] add: tea, milk ^p-01"]


def test_edited_twice_in_different_runs() -> None:
    hand = Hand().edit(swap(F3, "- once"))
    hand.run()
    hand.edit(swap("- once", "- twice")).edit(swap(F1, "- too"))
    hand.run([*DRAFT, fact(6)])
    assert (hand.theirs(), F1 in hand.text, F3 in hand.text) == (["- too", "- twice"], False, False)
    hand.edit(gone("- twice"))
    hand.run()
    assert (hand.theirs(), F3 in hand.text) == (["- too"], False)


def test_a_line_of_theirs_whose_fact_has_gone_is_told_of_as_long_as_it_stands() -> None:
    hand = Hand().edit(swap(F3, "- mine"))
    assert hand.run().orphaned == ()
    hand.facts -= {name(3)}
    without = [line for line in DRAFT if line != fact(3)]
    assert hand.run(without).orphaned == ("- mine",)
    assert hand.run(without).orphaned == ("- mine",)
    assert "- mine" in hand.text
    hand.edit(gone("- mine"))
    assert hand.run(without).orphaned == ()


# --- deleted lines ---------------------------------------------------------------------------------------------------


def test_a_deleted_section_stays_away_with_all_that_would_be_new_in_it() -> None:
    hand = Hand().edit(gone("### Now", F3, F4))
    hand.run()
    assert hand.text == [*texts(DRAFT[:7]), *texts(DRAFT[12:])]
    hand.run([*DRAFT[:11], fact(6), Line("#### Closely"), fact(7), *DRAFT[11:]])
    assert hand.text == [*texts(DRAFT[:7]), *texts(DRAFT[12:])]


def test_a_heading_deleted_alone_takes_nothing_with_it() -> None:
    hand = Hand().edit(gone("### Now", F3))
    hand.run([*DRAFT[:11], fact(6), *DRAFT[11:]])
    assert ("### Now" in hand.text, F3 in hand.text, F4 in hand.text, fact(6).text in hand.text) == (
        False, False, True, True,
    )  # fmt: skip


def test_a_heading_that_was_reworded_keeps_its_section() -> None:
    hand = Hand().edit(swap("### Now", "### These days"))
    wanted = [*DRAFT[:11], fact(6), *DRAFT[11:]]
    for _ in range(3):
        hand.run(wanted)
        assert hand.text == [line.replace("### Now", "### These days") for line in texts(wanted)]


def test_what_they_do_to_their_own_lines_hides_nothing_of_ours() -> None:
    hand = Hand().edit(after(F1, "- mine", "- too"))
    hand.run()
    found = hand.edit(swap("- mine", "- mine, reworded")).edit(gone("- too")).run()
    assert (hand.edits.deleted, hand.theirs(), hand.edits.is_edited) == (frozenset(), ["- mine, reworded"], True)
    assert [line for line in found.lines if "mine" in line.text] == [Line("- mine, reworded")]


def test_a_moved_line_stays_where_it_was_moved_to() -> None:
    def change(lines: list[str]) -> None:
        lines.remove(F5)
        lines.insert(lines.index(F1), F5)

    hand = Hand().edit(change)
    edited = hand.text
    for _ in range(2):
        hand.run()
        assert (hand.text, hand.theirs()) == (edited, [F5])
    hand.facts -= {name(5)}
    assert hand.run([line for line in DRAFT if line != fact(5)]).orphaned == (F5,)


def test_all_lines_deleted() -> None:
    hand = Hand().edit(list.clear)
    hand.run()
    assert "".join(hand.text) == ""
    hand.run([*DRAFT, fact(6)])
    assert "".join(hand.text) == ""  # the last section is away too
    hand = Hand().edit(lambda lines: lines.__setitem__(slice(None), ["Only this."]))
    hand.run()
    hand.run([*DRAFT, fact(6)])
    assert [line for line in hand.text if line] == ["Only this."]


# --- properties ------------------------------------------------------------------------------------------------------

WORDS = st.sampled_from(
    ["mine", "- a thought", "  - nested", "* starred", "> said", "## Own", "", "1. one", "| a | b |"]
)
EDITS = st.lists(
    st.tuples(st.sampled_from(["add", "change", "delete", "move", "copy"]), st.integers(0, 99), WORDS), max_size=6
)


def made(lines: list[str], edits: Sequence[tuple[str, int, str]], mark: str) -> None:
    """Apply random edits; what is written in by hand carries a mark, so that it can be found again."""
    for number, (what, at, words) in enumerate(edits):
        place = at % (len(lines) + 1)
        text = f"{words} {mark}{number}" if words else ""
        if what == "add":
            lines.insert(place, text)
        elif place < len(lines):
            line = lines.pop(place)
            if what == "change":
                lines.insert(place, text)
            elif what in ("move", "copy"):
                lines.insert((at * 7) % (len(lines) + 1), line)
                lines.insert(place, line) if what == "copy" else None


NUMBERS = st.lists(st.integers(1, 12), unique=True, max_size=8)
OURS = st.builds(
    lambda top, sections: [
        Line("## In the logs"), BLANK, Line(f"{len(top)} facts.", slot="opening"), *([BLANK] if top else []),
        *map(fact, top),
        *(line for title, numbers in sections if numbers for line in (BLANK, Line(title), BLANK, *map(fact, numbers))),
    ],
    NUMBERS,
    st.tuples(
        st.tuples(st.just("### Now"), NUMBERS.map(lambda ns: [n + 12 for n in ns])),
        st.tuples(st.just("### Earlier"), NUMBERS.map(lambda ns: [n + 24 for n in ns])),
    ),
)  # fmt: skip


def marked(lines: Sequence[str]) -> Counter[str]:
    return Counter(line for line in lines if "§" in line)


@given(st.lists(st.tuples(OURS, EDITS), min_size=1, max_size=4), OURS)
def test_whatever_is_edited_no_line_of_theirs_is_lost_or_doubled(
    rounds: Sequence[tuple[list[Line], Sequence[tuple[str, int, str]]]], final: list[Line]
) -> None:
    hand = Hand(rounds[0][0])
    for number, (draft, edits) in enumerate(rounds):
        hand.edit(lambda lines, edits=edits, number=number: made(lines, edits, f"§{number}."))
        before = marked(hand.text)
        hand.run(draft)
        assert marked(hand.text) == before
        assert set(before) <= set(hand.theirs())
    hand.run(final)
    assert marked(hand.text) == before
    # The place of a line whose neighbours are all gone may still settle; its words stay.
    hand.run(final)
    assert (hand.edits.is_edited, marked(hand.text)) == (False, before)


@given(OURS, EDITS, OURS)
def test_our_lines_are_the_drafts_but_for_what_they_touched(
    draft: list[Line], edits: Sequence[tuple[str, int, str]], newer: list[Line]
) -> None:
    hand = Hand(draft)
    written = hand.text
    hand.edit(lambda lines: made(lines, edits, "§"))
    touched = Counter(map(bare, written)) - Counter(map(bare, hand.text))
    has_copy = any(what in ("copy", "move") for what, _, _ in edits)
    hand.run(newer)
    ours = [line for place, line in enumerate(hand.text) if place not in hand.block.yours and line]  # type: ignore[union-attr]
    wanted = [line.text for line in newer if line.text]
    assert [line for line in wanted if line in ours] == ours  # in the draft's order, nothing else among them
    if not edits:
        assert hand.text == texts(newer)
    if not has_copy and not any(line.startswith("#") or "facts." in line for line in touched):
        assert ours == [line for line in wanted if bare(line) not in touched]


def test_a_line_of_theirs_stays_in_its_section_when_the_one_above_it_leaves() -> None:
    hand = Hand().edit(after(F2, "- mine"))
    moved = [line for line in DRAFT if line.text != F2]
    hand.run([*moved[:8], fact(2), *moved[8:]])
    assert hand.text[4:7] == [F1, "- mine", ""] and F2 in hand.text[8:]
