"""The Retain grammar: each odd line is a fact, plain text or a notice, none is lost, and what is written reads back."""

from datetime import date

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from vault_memory.errors import UsageError
from vault_memory.markdown import entities, facts, scopes
from vault_memory.markdown.facts import RetainFact
from vault_memory.markdown.note import BLANK, Note, Problem
from vault_memory.markdown.parse import parse
from vault_memory.markdown.passages import passages
from vault_memory.write.retain import Bullet, check

DAY = date(2025, 11, 27)


def read(text: str, path: str = "memory/2025-11-27.md") -> tuple[Note, list[RetainFact], list[Problem]]:
    note = parse(path, text.encode("utf-8", "replace"))
    problems: list[Problem] = []
    return note, list(facts.facts(note, DAY, problems)), problems


def one(bullet: str) -> tuple[RetainFact | None, list[str]]:
    """The fact of one line (or one bullet of several) under Retain, and what lint says of it."""
    note, found, problems = read(f"## Retain\n{bullet}\n")
    assert len(found) <= 1, found
    assert bullet in "\n".join(p.text for p in passages(note, found)), "the line is lost"
    return (found[0] if found else None), [problem.message for problem in problems]


# --- facts --------------------------------------------------------------------------------------------------

FACTS = [
    # line, kind, entities, narrative
    ("- W @Mara: Moved to Bergen", "W", ("Mara",), "Moved to Bergen"),
    ("- W: Ferries stop at ten", "W", (), "Ferries stop at ten"),
    ("- W @Mara @mara: Once only", "W", ("Mara",), "Once only"),
    ("- W @[[Blue House|the house]]: Has a loft", "W", ("Blue House",), "Has a loft"),
    ("- W @[[places/Blue House.md]]: Has a loft", "W", ("Blue House",), "Has a loft"),
    ("- W @Mara: Rents to @Odd", "W", ("Odd", "Mara"), "Rents to @Odd"),
    ("- W @Mara: Rents [[Blue House|the house]]", "W", ("Blue House", "Mara"), "Rents [[Blue House|the house]]"),
    ("- W @Mara: Said so in [[2025-11-20]]", "W", ("Mara",), "Said so in [[2025-11-20]]"),
    ("- W @tile-server_2: Listens on 8080", "W", ("tile-server_2",), "Listens on 8080"),
    ("- W (c=0.5) @Mara: Space before the keys", "W", ("Mara",), "Space before the keys"),
    ("- W @Mara: Uses `a %% b` there", "W", ("Mara",), "Uses `a %% b` there"),
    ("- W @Mara: Shown %% hidden %%", "W", ("Mara",), "Shown"),
    ("- [ ] W @Mara: A task", "W", ("Mara",), "A task"),
    ("- W @Mara: Goes on\n  over two lines\n  and three", "W", ("Mara",), "Goes on over two lines and three"),
    ("- W @Mara:\n  Text on the next line", "W", ("Mara",), "Text on the next line"),
    ("- W @Mara: Goes on\n  %% not this %%", "W", ("Mara",), "Goes on"),
]


@pytest.mark.parametrize(("line", "kind", "names", "narrative"), FACTS)
def test_a_fact(line: str, kind: str, names: tuple[str, ...], narrative: str) -> None:
    fact, notices = one(line)
    assert fact is not None, notices
    assert (fact.kind, fact.entities, fact.narrative) == (kind, names, narrative)
    assert notices == []
    shown = [row for row in line.split("\n") if not row.strip().startswith("%%")]
    assert (fact.start_line, fact.end_line) == (2, 1 + len(shown))


KEYS = [
    # keys, confidence, importance, occurred, scope
    ("W", None, None, None, None),
    ("O", 0.7, None, None, None),
    ("O(c=0.95)", 0.95, None, None, None),
    ("W( c = 0.5 , i = 0.25 )", 0.5, 0.25, None, None),
    ("W(t=2025-11-20/2025-12-01)", None, None, "2025-11-20/2025-12-01", None),
    ("W(scope=agent:scribe, c=1)", 1.0, None, None, "agent:scribe"),
    ("W(scope=secret)", None, None, None, "custom:secret"),
]


@pytest.mark.parametrize(("head", "confidence", "importance", "occurred", "scope"), KEYS)
def test_keys(
    head: str, confidence: float | None, importance: float | None, occurred: str | None, scope: str | None
) -> None:
    fact, notices = one(f"- {head} @Mara: Keeps bees")
    assert fact is not None, notices
    assert (fact.confidence, fact.importance, fact.scope) == (confidence, importance, scope)
    assert (fact.occurred.isoformat() if fact.occurred else None) == occurred
    slip = (scope or "").startswith("custom:")
    assert [" is none of global, agent:<id>" in notice for notice in notices] == [True] * slip


# --- facts with a notice ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "names", "notice"),
    [
        ("- W @Mara Berg: Moved", ("Mara",), "write `@[[Mara Berg]]`"),
        ("- W @Odd @Mara van Berg: Moved", ("Odd", "Mara"), "write `@[[Mara van Berg]]`"),
    ],
)
def test_a_fact_with_a_notice(line: str, names: tuple[str, ...], notice: str) -> None:
    fact, notices = one(line)
    assert fact is not None and fact.entities == names
    assert len(notices) == 1 and notice in notices[0]


# --- plain text with a notice -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "notice"),
    [
        ("- O(c=1.7) @Mara: Above one", "`c=1.7` is not a number"),
        ("- O(c=0,9) @Mara: Decimal comma", "`9` is not a key"),
        ("- O(conf=0.9) @Mara: Another key", "`conf=0.9` is not a key"),
        ("- W(t=2025-13-45) @Mara: No such day", "is not an ISO date"),
        ("- W(t=2025-12-01/2025-11-01) @Mara: Backwards", "is not an ISO date"),
        ("- W(scope=) @Mara: Nothing", "names no scope"),
        ("- O(c=0.9 @Mara: Never closed", "does not belong"),
        ("- X @Mara: Unknown kind", "`X` is not a kind"),
        ("- W Mara: A bare name", "stands before the colon"),
        ("- W @Mara@Odd: Names in one word", "`@Odd` does not belong"),
        ("- W @Mara Moved without a colon", "not a fact"),
        ("- W @Mara:", "a fact without text"),
        ("- W @Mara: %% all hidden %%", "a fact without text"),
        ("- ~~W @Mara: Struck out~~", "struck-out"),
        ("-W @Mara: No space", "no space after the bullet"),
    ],
)
def test_a_malformed_bullet_is_plain_text_and_reported(line: str, notice: str) -> None:
    fact, notices = one(line)
    assert fact is None
    assert len(notices) == 1 and notice in notices[0], notices


@pytest.mark.parametrize(
    "line", ["- Bread, milk", "- @Mara: without a kind", "- %% W @Mara: hidden %%", "W @Mara: no bullet", "-"]
)
def test_ordinary_text_is_plain_and_not_reported(line: str) -> None:
    assert one(line) == (None, [])


# --- where facts are read -----------------------------------------------------------------------------------

BULLET = "- W @Mara: Keeps bees"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"# Retain\n{BULLET}", [2]),
        (f"## Retained\n{BULLET}", []),
        (f"## Retain\n{BULLET}\n## Notes\n{BULLET}", [2]),
        (f"## Retain\n{BULLET}\n### Deeper\n{BULLET}\n# Up\n{BULLET}", [2, 4]),
        (f"## Retain\n{BULLET}\n### Retain\n{BULLET}\n## Retain\n{BULLET}", [2, 4, 6]),
        (f"## Retain\n\n\n{BULLET}\n\ntext\n\n{BULLET}", [4, 8]),
        (f"## Retain\n```\n{BULLET}\n```\n{BULLET}", [5]),
        (f"## Retain\n\n    {BULLET}\n    {BULLET}\n", []),
        (f"```\n## Retain\n```\n{BULLET}", []),
        (f"## Retain\n%%\n{BULLET}\n%%\n{BULLET}", [5]),
        (f"## Retain\n%%\n{BULLET} %% tail\n{BULLET}", [4]),
        (f"## Retain\n<!-- memory:begin facts -->\n{BULLET}\n<!-- memory:end facts sha=1 -->\n{BULLET}", [5]),
        (f"---\nx: |\n  ## Retain\n---\n{BULLET}", []),
        (f"## Retain\n- plain\n  {BULLET}\n    {BULLET}", [3, 4]),
        ("## Retain\n- W @Mara: Keeps bees\n  - O @Mara: Likes them\n", [2, 3]),
    ],
)
def test_where_facts_are_read(text: str, lines: list[int]) -> None:
    _, found, problems = read(text)
    assert [fact.start_line for fact in found] == lines
    assert problems == []


def test_the_whole_of_the_opinions_note_is_read() -> None:
    _, found, _ = read("# Opinions\n- O @Mara: Rye beats wheat\n", "bank/opinions.md")
    assert [fact.start_line for fact in found] == [2]


def test_a_comment_that_ends_in_a_bullet_hides_what_it_covers() -> None:
    _, found, _ = read("## Retain\n- W @Mara: Shown %% hidden\nhidden %% tail\n- W @Odd: Next\n")
    assert [(fact.narrative, fact.start_line) for fact in found] == [("Shown", 2), ("Next", 4)]


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("- O(c=2, scope=agent:scribe) @Mara: bad", "agent:scribe"),
        ("* X(scope = diary): bad", "custom:diary"),
        ("- W(SCOPE=agent:scribe): bad", "agent:scribe"),
        ("- W(scope=): bad", "custom:unreadable"),
        ("- the scope: of it", None),
        ("- W: a narrative with scope=agent:scribe", None),
        ("prose that explains scope=agent:scribe and scope=user:odd", None),
    ],
)
def test_what_was_meant_to_be_private_stays_so_in_a_malformed_bullet(text: str, scope: str | None) -> None:
    assert scopes.by_line(parse("x.md", text.encode())).get(1) == scope


@pytest.mark.parametrize(
    "bullet",
    [
        "- W" + " " * 100_000 + "x",
        "- W @A" + " " * 100_000 + "x",
        "- W(" + " " * 100_000,
        "-W" + " " * 100_000,
        "- W " + "@A " * 50_000,
        "- W @A: " + "[[" * 50_000,
    ],
    ids=lambda line: line[:8].strip(),
)
def test_a_long_odd_bullet_takes_linear_time(bullet: str) -> None:
    read(f"## Retain\n{bullet}\n")


# --- properties ---------------------------------------------------------------------------------------------

FACT_PARTS = ["- ", "* ", "W", "O(c=0.9)", "(t=2025)", " @A", "@[[B c|d]]", ": ", "text", " ^id", "[[N]]", ". ", " "]
BLOCKS = ["## Retain\n", "# Up\n", "\n", "\n  ", "\r\n", "```\n", "---\n", "    ", "word " * 100]
PIECES = [*FACT_PARTS, *BLOCKS, "%%", "<!--", "-->", "`", "~~"]
NOTES = st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text(max_size=200)


@settings(deadline=None)
@given(NOTES)
def test_every_line_with_text_lies_in_exactly_one_passage(text: str) -> None:
    note, found, _ = read(f"## Retain\n{text}")
    count = [0] * len(note.lines)
    parts: dict[int, str] = {}
    for passage in passages(note, found):
        if passage.from_char is not None:
            assert passage.start_line == passage.end_line
            assert passage.text == note.lines[passage.start_line - 1][passage.from_char : passage.to_char]
            parts[passage.start_line] = parts.get(passage.start_line, "") + passage.text
            continue
        assert passage.text == "\n".join(note.lines[passage.start_line - 1 : passage.end_line])
        for number in range(passage.start_line, passage.end_line + 1):
            count[number - 1] += 1
    for number, (line, state) in enumerate(zip(note.lines, note.states, strict=True), 1):
        if number in parts:
            assert count[number - 1] == 0
            assert "".join(parts[number].split()) == "".join(line.split())
        elif any(map(str.isalnum, line)):
            assert count[number - 1] == 1
        elif line.strip() and state != BLANK:
            assert count[number - 1] <= 1  # fences around nothing
    assert [p.fact for p in passages(note, found) if p.fact and not p.part] == found


NAMES = st.text(min_size=1, max_size=12) | st.sampled_from(
    ["Mara", "Blue House", "a/b", "x.md", "2025-11-27", "con", "@A"]
)
TEXTS = st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=8).map("".join)


@settings(deadline=None)
@given(
    st.builds(
        Bullet,
        TEXTS,
        st.sampled_from("WBOS"),
        st.lists(NAMES, max_size=3).map(tuple),
        st.none() | st.floats(0, 1).map(lambda number: round(number, 6)),
    )
)
@example(Bullet("100 %% sure"))
@example(Bullet("never <!-- closed"))
@example(Bullet("x", entities=("a/b",)))
@example(Bullet("x", entities=("2025-11-27",)))
@example(Bullet("x", confidence=0.000001))
@example(Bullet("says `%% this %%`"))
def test_what_is_written_reads_back(bullet: Bullet) -> None:
    try:
        check(bullet)
    except UsageError:
        return
    _, found, _ = read(f"## Retain\n- W: before\n{bullet}\n- W: after\n")
    assert [fact.narrative for fact in found[::2]] == ["before", "after"]
    fact = found[1]
    text = fact.narrative + (f" ^{fact.block_id}" if fact.block_id else "")
    assert (fact.kind, text) == (bullet.kind, " ".join(bullet.text.split()))
    wanted = 0.7 if bullet.kind == "O" and bullet.confidence is None else bullet.confidence
    assert fact.confidence == wanted
    mentioned = {entities.slug(name) for name in entities.mentions(bullet.text)}
    assert {entities.slug(name) for name in fact.entities} == mentioned | {entities.slug(n) for n in bullet.entities}


@pytest.mark.parametrize(
    "bullet",
    [
        Bullet(""),
        Bullet("100 %% sure"),
        Bullet("never <!-- closed"),
        Bullet("x", kind="Q"),
        Bullet("x", confidence=float("nan")),
        Bullet("^id"),
        *(
            Bullet("x", entities=(name,))
            for name in ("", " ", "[[A]]", "a|b", "a#b", "a/b", "a\nb", "n.md", "...", "2025-11-27")
        ),
    ],
    ids=repr,
)
def test_what_would_not_read_back_is_refused(bullet: Bullet) -> None:
    with pytest.raises(UsageError):
        check(bullet)


@pytest.mark.parametrize(
    ("text", "shut"),
    [
        ("> [!note]\n> - W(scope=user:ada): okapi quoted\n>   on\n>\n> open", {2, 3}),
        ("> - W(scope=user:ada): okapi\n\nopen", {1}),
        ("> ## Retain\n> > * O(scope=user:ada): okapi\n> > * W: open", {2}),
        ("- open\n  > - W(scope=user:ada): okapi\n\n- open", {2}),
        ("- W(scope=user:ada): okapi\n\n  > quoted\n\n> open", {1, 3}),
        ("open\n\nscope:: user:ada\n\nopen", {3}),
        ("- okapi [scope:: user:ada] there\n- open", {1}),
        ("- W @Ada: okapi (scope:: user:ada)\n- open", {1}),
        ("- `[scope:: user:ada]` is how\n\n```\nscope:: user:ada\n```\n\n[scope:: global]\n\nscopes:: none", {9}),
    ],
)
def test_a_quoted_item_and_an_inline_field_shut_their_lines_too(text: str, shut: set[int]) -> None:
    found = scopes.by_line(parse("x.md", text.encode()))
    assert set(found) == shut
    assert set(found.values()) <= {"user:ada", "custom:none"}
