"""core_proposals.py: what is proposed for memory.md, and what comes of a tick, a refusal or a deleted line."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from page_checker import problems
from reflecting import forget, journal_lines, reflected, rewrite, texts, without_index
from sample import call
from vaults import fill, memory, put

from vault_memory.errors import ConflictError
from vault_memory.reflect import core_proposals
from vault_memory.reflect.core_proposals import (
    ADD,
    CHANGE,
    CORE_TOKENS,
    REMOVE,
    CoreChange,
    ProposalCounts,
    apply_change,
    list_items,
    read_change,
)
from vault_memory.reflect.run_log import ReflectEnd, RunLog
from vault_memory.reflect.user_feedback import TICK, read_line

PAGE = "bank/proposals.md"
SURE = "O(c=0.95) @Mara: Prefers letters to calls."
LOGS = {
    "memory/2025-11-03.md": f"## Retain\n- {SURE}\n- W(i=0.9) @Odd: Is allergic to hazelnuts.\n"
    "- W @Odd: Sails on Fridays.\n- W(i=0.95): The signing is on 12 December 2025.\n- O(c=0.6) @Odd: Likes rain.\n",
    "memory/2025-11-05.md": f"## Retain\n- {SURE}\n- O(c=0.95) @Odd: Needs eight hours of sleep.\n"
    "- W @Odd: Now lives in Oslo.\n- W @Mara: Sings.\n",
}
LETTERS, NUTS = "Mara: Prefers letters to calls", "Odd: Is allergic to hazelnuts"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return fill(tmp_path / "v", LOGS)


def asked(root: Path) -> dict[str, str]:
    """The open lines of the page, by what they quote, links shown as they read."""
    lines = [line for line in (root / PAGE).read_text("utf-8").splitlines() if line.startswith("- [")]
    quoted = [re.search(r': "(.*?)" because', line) for line in lines]
    return {plain(one[1]): line for one, line in zip(quoted, lines, strict=True) if one}


def plain(text: str) -> str:
    return re.sub(r"\[\[(?:[^\]|]*\|)?([^\]|]*)\]\]", r"\1", text)


def mark(root: Path, box: str, quote: str) -> None:
    """Write into the box of one proposal."""
    line = asked(root)[quote]
    rewrite(root, PAGE, line, line.replace("[ ]", f"[{box}]"))


# --- what is proposed ------------------------------------------------------------------------------------------------


def test_what_is_sure_or_important_is_proposed_and_nothing_else(root: Path) -> None:
    reflected(root)
    assert list(asked(root)) == [LETTERS, NUTS]
    assert problems(root) == []
    assert "told or borne out on 2 days" in asked(root)[LETTERS]


def test_a_proposal_says_whose_words_it_is_where_no_person_said_so(root: Path) -> None:
    told = "- O(c=0.95, by=agent:{}) @Mara: Sings at dawn.\n"
    put(
        root,
        "memory/2025-11-07.md",
        "## Retain\n" + told.format("moss") + "- W(i=0.9, by=agent:moss) @Odd: Is tall.\n",
    )
    put(
        root,
        "memory/2025-11-08.md",
        "## Retain\n" + told.format("rye") + f"- {SURE}\n".replace("95)", "95, by=import)"),
    )
    reflected(root)
    lines = asked(root)
    assert "on 2 days, told by moss, rye ([[" in lines["Mara: Sings at dawn"]
    assert "it is important, told by moss ([[" in lines["Odd: Is tall"]
    assert "told by" not in lines[LETTERS].replace("it was told", "") and "told by" not in lines[NUTS]
    mark(root, "x", "Odd: Is tall")
    reflected(root)
    assert "- [[Odd]]: Is tall" in (root / "memory.md").read_text("utf-8")


@pytest.mark.parametrize("line", ["- Mara prefers letters to calls.", "* [[Mara]] prefers letters to phone calls"])
def test_what_the_core_says_already_is_not_proposed(root: Path, line: str) -> None:
    put(root, "memory.md", f"# Me\n\n{line}\n")
    reflected(root)
    assert list(asked(root)) == [NUTS]


def test_what_is_open_new_and_too_unsure_is_counted(root: Path) -> None:
    first = reflected(root)
    assert (first.proposed, first.added) == (ProposalCounts(open=2, unsure=1), 2)
    assert reflected(root).added == 0


def test_a_line_that_a_newer_fact_contradicts_is_to_be_changed(root: Path) -> None:
    put(root, "memory.md", "# Me\n\n- [[Odd]] lives in Bergen.\n")
    put(root, "bank/entities/Odd.md", "# Odd\n")
    reflected(root)
    line = next(line for line in (root / PAGE).read_text().splitlines() if "change" in line)
    assert line.startswith('- [ ] change: "[[Odd]] lives in Bergen." → "')
    rewrite(root, PAGE, line, line.replace("[ ]", "[x]"))
    reflected(root)
    assert re.fullmatch(r"# Me\n\n- .*Now lives in Oslo\n", (root / "memory.md").read_text())
    assert "change:" not in (root / PAGE).read_text()
    assert reflected(root).edits == ()


def test_only_so_many_additions_are_open_and_the_others_come_later(tmp_path: Path) -> None:
    things = ["hazelnuts", "feathers", "penicillin", "shrimps", "latex", "pollen", "aspirin"]
    root = fill(
        tmp_path / "v",
        {"memory/2025-11-03.md": "## Retain\n" + "".join(f"- W(i=0.9): Beware of the {one}.\n" for one in things)},
    )
    reflected(root)
    first = set(asked(root))
    assert len(first) == core_proposals.MOST_OPEN
    rewrite(root, PAGE, asked(root)[min(first)] + "\n", "")
    mark(root, "-", max(first))
    reflected(root)
    second = set(asked(root))
    assert len(second) == core_proposals.MOST_OPEN
    assert not {min(first), max(first)} & second
    assert reflected(root).edits == ()


# --- a tick ----------------------------------------------------------------------------------------------------------

BEFORE = "---\ncreated: 2025-01-01\n---\n# Me\n\n- Coffee  black.  \n\n\ttail\twith tabs"
ADDED = f"- {LETTERS}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, f"# Memory\n\n## Learnt\n\n{ADDED}\n"),
        ("", f"# Memory\n\n## Learnt\n\n{ADDED}\n"),
        ("# Me\n", f"# Me\n\n## Learnt\n\n{ADDED}\n"),
        (BEFORE, f"{BEFORE}\n\n## Learnt\n\n{ADDED}\n"),
        ("\ufeff# Me\r\n\r\n- Tea.\r\n", f"\ufeff# Me\r\n\r\n- Tea.\r\n\r\n## Learnt\r\n\r\n{ADDED}\r\n"),
        ("## Learnt\n\n- Tea.\n\n## More\n\n- x\n", f"## Learnt\n\n- Tea.\n{ADDED}\n\n## More\n\n- x\n"),
        ("# A\n\n## Learnt\n", f"# A\n\n## Learnt\n\n{ADDED}\n"),
        ("## Learnt\n- Tea.", f"## Learnt\n- Tea.\n{ADDED}"),
    ],
)
def test_a_tick_adds_one_line_and_changes_no_other_byte(root: Path, before: str | None, after: str) -> None:
    if before is not None:
        put(root, "memory.md", before)
    put(root, "bank/entities/Mara.md", "# Mara\n\n- O: not a fact\n")
    reflected(root)
    mark(root, "x", LETTERS)
    done = reflected(root)
    written = (root / "memory.md").read_bytes().decode()
    assert plain(written) == after
    assert [edit.path for edit in done.edits] == ["memory.md", PAGE]
    assert LETTERS not in asked(root)
    assert reflected(root).edits == ()
    assert (root / "memory.md").read_bytes().decode() == written


def test_a_tick_may_be_drawn_and_a_mark_that_says_neither_yes_nor_no_leaves_the_proposal_open(root: Path) -> None:
    reflected(root)
    mark(root, "✔", LETTERS)
    mark(root, "?", NUTS)
    (notice,) = reflected(root).notices
    assert notice.path == PAGE and "`[?]`" in notice.why
    assert list(asked(root)) == [NUTS] and "[?]" in asked(root)[NUTS]
    assert "Prefers letters" in (root / "memory.md").read_text()
    assert journal_lines(root, "refused") == []


def test_a_quote_that_was_edited_is_taken_as_it_stands(root: Path) -> None:
    reflected(root)
    line = asked(root)[LETTERS]
    rewrite(
        root,
        PAGE,
        line,
        re.sub(
            r'add: ".*?" because', 'add: "Write to Mara, "by hand", never ring" because', line.replace("[ ]", "[x]")
        ),
    )
    reflected(root)
    assert '\n- Write to Mara, "by hand", never ring\n' in (root / "memory.md").read_text()
    assert list(asked(root)) == [LETTERS, NUTS] or LETTERS not in asked(root)


def test_a_tick_is_only_done_where_its_page_is_written_too(root: Path) -> None:
    reflected(root)
    mark(root, "x", LETTERS)
    for only in ("entities", "opinions", "summaries"):
        assert reflected(root, only=(only,)).edits == ()
    assert "memory.md" not in texts(root)
    reflected(root, only=("proposals",))
    assert (root / "memory.md").read_text().count("Prefers letters") == 1


# --- a tick whose fact is gone ---------------------------------------------------------------------------------------


def test_what_was_ticked_and_then_forgotten_is_not_put_there_and_told_once(root: Path) -> None:
    reflected(root)
    mark(root, "x", NUTS)
    mark(root, "x", LETTERS)
    forget(root, "memory/2025-11-03.md#L3")
    done = reflected(root)
    assert ([one.path for one in done.notices], done.skipped) == (["memory.md"], ())
    last = RunLog(root).last(ReflectEnd)
    assert last is not None and last.skipped == 0  # no page was
    assert done.notices[0].why.startswith("1 proposal that you ticked rests on what no note holds")
    assert "hazelnuts" not in str(done.notices) + "".join(data.decode() for data in texts(root).values())
    assert "Prefers letters" in (root / "memory.md").read_text()
    assert asked(root) == {}
    again = reflected(root)
    assert (again.edits, again.notices) == ((), ())


# --- after an undo ---------------------------------------------------------------------------------------------------


def test_a_tick_that_was_undone_and_taken_back_leaves_the_proposal_open(root: Path) -> None:
    reflected(root)
    mark(root, "x", LETTERS)
    reflected(root)
    memory(root).undo()
    rewrite(root, PAGE, "- [x]", "- [ ]")
    done = reflected(root)
    assert list(asked(root)) == [LETTERS, NUTS]
    assert done.proposed is not None and done.proposed.open == 2
    assert "memory.md" not in texts(root)
    assert reflected(root).edits == ()
    mark(root, "-", LETTERS)
    found = reflected(root).proposed
    assert found is not None and found.open == 1


# --- a core that cannot be read --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("how", "code"), [("folder", 1), ("link", 6), ("latin", 5)])
def test_a_core_that_cannot_be_read_stops_nothing_else(root: Path, how: str, code: int) -> None:
    if how == "folder":
        (root / "memory.md").mkdir()
    elif how == "link":
        (root / "memory.md").symlink_to(put(root.parent, "outside.md", "- Secret.\n"))
    else:
        put(root, "memory.md", b"- caf\xe9\n")
    for _ in range(2):
        done = reflected(root)
        assert [(one.path, one.exit_code) for one in done.skipped] == [("memory.md", code)]
        assert done.proposed is None
    assert "bank/world.md" in texts(root)
    assert not (root / PAGE).exists()


# --- what cannot be done ---------------------------------------------------------------------------------------------


def test_a_change_of_a_line_that_is_gone_is_told_and_its_tick_stays_and_others_are_done(root: Path) -> None:
    put(root, "memory.md", "# Me\n\n- [[Odd]] lives in Bergen.\n")
    put(root, "bank/entities/Odd.md", "# Odd\n")
    reflected(root)
    line = next(line for line in (root / PAGE).read_text().splitlines() if "change" in line)
    rewrite(root, PAGE, line, line.replace("[ ]", "[x]"))
    mark(root, "x", LETTERS)
    rewrite(root, "memory.md", "lives in Bergen", "lives on a boat")
    for _ in range(2):
        done = reflected(root)
        assert [(one.path, one.exit_code) for one in done.skipped] == [("memory.md", 5)]
        assert 'no line "[[Odd]] lives in Bergen." any more' in done.skipped[0].why
        assert line.replace("[ ]", "[x]") in (root / PAGE).read_text()
        assert "- [[Odd]] lives on a boat." in (root / "memory.md").read_text()
        assert (root / "memory.md").read_text().count("Prefers letters") == 1


def test_the_core_does_not_grow_beyond_its_tokens(root: Path) -> None:
    full = "# Me\n\n" + "".join(f"- Line {n} of what must be known.\n" for n in range(CORE_TOKENS // 9))
    put(root, "memory.md", full)
    reflected(root)
    mark(root, "x", LETTERS)
    before = texts(root)
    done = reflected(root)
    assert [one.exit_code for one in done.skipped] == [5]
    assert "at most" in done.skipped[0].why
    assert {path: data for path, data in texts(root).items() if path == "memory.md"} == {
        "memory.md": before["memory.md"]
    }
    assert "[x]" in (root / PAGE).read_text()


# --- a refusal -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["mark", "delete"])
def test_what_was_refused_is_not_asked_again(root: Path, how: str) -> None:
    reflected(root)
    if how == "mark":
        mark(root, "-", LETTERS)
    else:
        rewrite(root, PAGE, asked(root)[LETTERS] + "\n", "")
    reflected(root)
    assert list(asked(root)) == [NUTS]
    assert "memory.md" not in texts(root)
    assert len(journal_lines(root, "refused", "deleted")) == 1
    (root / PAGE).unlink()
    reflected(root)
    assert list(asked(root)) == [NUTS]
    without_index(root)
    put(root, "memory/2025-11-20.md", "## Retain\n- O(c=0.98) @Mara: Prefers letters to calls.\n")
    reflected(root)
    assert list(asked(root)) == [NUTS], "told again it is still refused"


# --- what is to be taken out ------------------------------------------------------------------------------------------


def removals(root: Path) -> dict[str, str]:
    page = (root / PAGE).read_text("utf-8") if (root / PAGE).exists() else ""
    lines = [line for line in page.splitlines() if line.startswith("- [ ] remove: ")]
    return {line.split('"')[1]: line.partition(" because ")[2] for line in lines}


def test_a_line_put_there_for_a_fact_that_was_forgotten_is_to_go(root: Path) -> None:
    reflected(root)
    rewrite(root, PAGE, '"[[Odd]]: Is allergic to hazelnuts"', '"No hazelnuts for Odd"')
    mark(root, "x", "No hazelnuts for Odd")
    mark(root, "x", LETTERS)
    reflected(root)
    assert removals(root) == {}
    forget(root, "memory/2025-11-03.md#L3")
    without_index(root)
    reflected(root)
    assert removals(root) == {"No hazelnuts for Odd": removals(root)["No hazelnuts for Odd"]}
    assert "forgotten" in removals(root)["No hazelnuts for Odd"]
    rewrite(root, "memory.md", "No hazelnuts for Odd", "No nuts for Odd, nor for me")
    reflected(root)
    assert removals(root) == {}, "what they wrote since is theirs"


# --- the page's lines, read again ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "change"),
    [
        ('- [x] add: "A" because so ([[n]] L1) ^p-0123abcd', CoreChange(ADD, "A")),
        ('* [X] add: "A "b" c" because so ^p-0123abcd  ', CoreChange(ADD, 'A "b" c')),
        ('- [x] change: "A" → "B" because so ^p-0123abcd', CoreChange(CHANGE, "B", "A")),
        ('- [x] remove: "A" because so ^p-0123abcd', CoreChange(REMOVE, "", "A")),
        ('- [x] add: "A" because B" because so ^p-0123abcd', CoreChange(ADD, 'A" because B')),
    ],
)  # fmt: skip
def test_a_ticked_line(line: str, change: CoreChange) -> None:
    one = read_line(line)
    assert one is not None and one.mark == TICK
    assert (one.name, read_change(one.text)) == (line.rstrip()[-8:], change)


@pytest.mark.parametrize("part", [" ", "[ ]", "[ ] ", "✅ "])
def test_a_line_of_many_blanks_or_boxes_comes_to_an_end(part: str) -> None:
    """120,000 characters of it: they took minutes when each blank and box was tried from each place."""
    assert read_line("- " + part * (120_000 // len(part))) is None
    assert read_line("- " + "[ ]" * 40_000 + " A ^p-0123abcd") is not None


@pytest.mark.parametrize(
    "line",
    [
        '- [x] add: "" because so ^p-0123abcd',
        '- [x] change: "A" because so ^p-0123abcd',
        "- [x] buy milk",
        '- [x] add: "A" because so',
    ],
)
def test_a_line_that_asks_nothing(line: str) -> None:
    one = read_line(line)
    assert one is None or read_change(one.text) is None


# --- the core's lines ------------------------------------------------------------------------------------------------


LINES = st.lists(st.sampled_from(["- a", "- b", "  - c", "", "text", "# h", "- a b", "  goes on"]), max_size=8)


@given(LINES, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.sampled_from(["a", "b", "c", "zz"]))
def test_a_change_touches_its_line_and_no_other(lines: list[str], end: str, is_ended: bool, old: str) -> None:
    data = (end.join(lines) + end * is_ended).encode()
    there = list_items("memory.md", data).get(old)
    for change in (CoreChange(CHANGE, "new", old), CoreChange(REMOVE, "", old)):
        if not there and change.what == REMOVE:
            assert apply_change("memory.md", data, change) == data
            continue
        if not there:
            with pytest.raises(ConflictError):
                apply_change("memory.md", data, change)
            continue
        after = apply_change("memory.md", data, change).decode().split(end)
        before = data.decode().split(end)
        at = there - 1
        kept = [before[at].replace(old, "new")] if change.what == CHANGE else []
        assert after == [*before[:at], *kept, *before[at + 1 :]] or (not after[-1] and at == len(before) - 1)


def test_proposals_on_the_command_line(root: Path) -> None:
    assert call("--vault", str(root), "reflect", "--now", "2025-12-10").code == 0
    mark(root, "x", LETTERS)
    put(root, "memory/2025-11-07.md", "## Retain\n- W @Mara: Bought a piano.\n")
    ended = call("--vault", str(root), "reflect", "--now", "2025-12-10", "--apply-core")
    assert ended.code == 0, ended.err
    assert b"piano" not in texts(root)["bank/entities/Mara.md"]
    assert LETTERS in plain((root / "memory.md").read_text())
    assert core_proposals.CORE_HEADING in (root / "memory.md").read_text()
    assert "1 proposal for memory.md: tick it in bank/proposals.md." in ended.out
    mark(root, "x", NUTS)
    call("--vault", str(root), "reflect", "--now", "2025-12-10", "--apply-core")
    ended = call("--vault", str(root), "reflect", "--now", "2025-12-10", "--apply-core")
    assert ended.out == "Nothing new: 1 page already up to date.\n"
