"""`memory retain`: one bullet more in a day's note, every other byte as it was, and found at once."""

import codecs
import json
import os
import re
import threading
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample import call
from vaults import age, fill, memory, opened, put, snapshot, start

from vault_memory.config import template
from vault_memory.errors import ConflictError, RefusedError, UsageError
from vault_memory.markdown import facts as grammar
from vault_memory.markdown.parse import parse
from vault_memory.memory import Memory
from vault_memory.write.note_writer import NoteWriter
from vault_memory.write.retain import Bullet, RetainResult, daily_path, insert, retain_bullet
from vault_memory.write.rewrite import TRIES, Rewriter

DAY = date(2025, 11, 27)
NOTE = "memory/2025-11-27.md"
FACT = Bullet("Lives in Gothenburg.", "W", ("Nora",))
LINE = "- W @Nora: Lives in Gothenburg."


def write(of: Memory, bullet: Bullet = FACT) -> RetainResult:
    """Retain without indexing."""
    return retain_bullet(Rewriter(of.vault), bullet, DAY, template("daily.md"))


def facts(root: Path, path: str = NOTE) -> list[tuple[str, int, str]]:
    """The facts of a note, as the grammar reads the file."""
    note = parse(path, (root / path).read_bytes())
    return [(fact.kind, fact.start_line, fact.narrative) for fact in grammar.facts(note, DAY)]


# --- a new note ------------------------------------------------------------------------------------------------------


def test_a_new_day_comes_from_the_shipped_template(tmp_path: Path) -> None:
    done = NoteWriter(memory(tmp_path).index_file).retain(FACT, DAY)
    assert (done.path, done.created, done.bullet) == (NOTE, True, LINE)
    lines = (tmp_path / NOTE).read_text().splitlines()
    assert lines == ["---", 'title: "2025-11-27"', "---", "# 2025-11-27", "", "## Log", "", "## Retain", LINE]
    assert lines[done.line - 1] == LINE


def test_a_new_day_comes_from_the_vaults_own_template_where_obsidian_puts_it(tmp_path: Path) -> None:
    settings = '{"folder": "Journal", "format": "YYYY/MM/DD dddd", "template": "Meta/Day"}'
    own = "# {{title}}\r\n{{date:D MMMM YYYY}} {{date}} {{other}}\r\n\r\n### retain\r\n\r\n## Notes\r\n"
    fill(tmp_path, {".obsidian/daily-notes.json": settings, "Meta/Day.md": own})
    mine = memory(tmp_path)
    done = NoteWriter(mine.index_file).retain(FACT, DAY)
    assert done.path == "Journal/2025/11/27 Thursday.md" == daily_path(mine.vault, DAY)
    assert (tmp_path / done.path).read_bytes().decode() == (
        f"# 27 Thursday\r\n27 November 2025 27 Thursday {{{{other}}}}\r\n\r\n### retain\r\n{LINE}\r\n\r\n## Notes\r\n"
    )
    with opened(mine) as store:
        assert store.one("SELECT day FROM note WHERE path = ?", done.path) == "2025-11-27"


@pytest.mark.parametrize("named", ["../secret", "/secret", "way/secret", "link"])
def test_a_template_outside_the_vault_is_never_read(tmp_path: Path, named: str) -> None:
    root = fill(tmp_path / "vault", {".obsidian/daily-notes.json": f'{{"folder": "memory", "template": "{named}"}}'})
    put(tmp_path, "secret.md", "SECRET\n")
    (root / "way").symlink_to(tmp_path)
    (root / "link.md").symlink_to(tmp_path / "secret.md")
    try:
        write(memory(root))
    except RefusedError:
        assert not (root / NOTE).exists()
    else:
        assert b"SECRET" not in (root / NOTE).read_bytes()


# --- an existing note ------------------------------------------------------------------------------------------------

PLACES = [
    ("", "## Retain\n@\n"),
    ("text", "text\n\n## Retain\n@\n"),
    ("one\rtwo\r", "one\rtwo\r\r## Retain\r@\r"),
    ("# T\n\n## Retain", "# T\n\n## Retain\n@"),
    ("## Retain\n- W: a", "## Retain\n- W: a\n@"),
    ("## Retain\n- W: a\n  more\n\n\n", "## Retain\n- W: a\n  more\n@\n\n\n"),
    ("## Retain\n- W: a\n\n## After\ntext\n", "## Retain\n- W: a\n@\n\n## After\ntext\n"),
    ("# RETAIN #\n- W: a\n## Inner\n- W: b\n# After", "# RETAIN #\n- W: a\n@\n## Inner\n- W: b\n# After"),
    ("## Retain\n- W: a\n# T\n## Retain\n- W: b\n# U\n", "## Retain\n- W: a\n# T\n## Retain\n- W: b\n@\n# U\n"),
    ("```\n## Retain\n```\n", "```\n## Retain\n```\n\n## Retain\n@\n"),
    ("---\ntags: [a]\n---", "---\ntags: [a]\n---\n\n## Retain\n@\n"),
    ("text\t \n\n\n", "text\t \n\n\n\n## Retain\n@\n"),
    (
        "## Retain\n<!-- memory:begin x -->\n- W: theirs\n<!-- memory:end x sha=1 -->\n",
        "## Retain\n<!-- memory:begin x -->\n- W: theirs\n<!-- memory:end x sha=1 -->\n@\n",
    ),
]


@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
@pytest.mark.parametrize(("before", "after"), PLACES)
def test_where_a_bullet_goes(tmp_path: Path, before: str, after: str, mark: bytes) -> None:
    put(tmp_path, NOTE, mark + before.encode())
    mine = memory(tmp_path)
    done = write(mine)
    assert (tmp_path / NOTE).read_bytes() == mark + after.replace("@", LINE).encode()
    assert (done.path, done.created) == (NOTE, False)
    assert ("W", done.line, "Lives in Gothenburg.") in facts(tmp_path)


@pytest.mark.parametrize(
    "data",
    [
        b"caf\xe9\n## Retain\n", codecs.BOM_UTF16_LE + "## Retain\n".encode("utf-16-le"), "# A\n".encode("utf-16-le"),
        b"## Retain\n```\nopen fence\n", b"text\n~~~\n", b"## Retain\n%% open comment\n", b"<!-- open\n",
        b"## Retain\n<!-- memory:begin x -->\n- W: a\n\n<!-- memory:end y -->\n<!--",
    ],
)  # fmt: skip
def test_a_note_that_would_swallow_the_bullet_is_left_alone(tmp_path: Path, data: bytes) -> None:
    put(tmp_path, NOTE, data)
    before = snapshot(tmp_path)
    ended = call("--vault", str(tmp_path), "retain", "Lives in Gothenburg.", "--date", "2025-11-27")
    assert (ended.code, "nothing was written" in ended.err, "Traceback" in ended.err) == (5, True, False)
    assert snapshot(tmp_path) == before


TEXT_LINES = [
    "# T", "## Retain", "### retain", "- W: a fact", "  more", "- plain", "", "text", "```", "~~~", "%%", "%% x %%",
    "<!--", "-->", "---", "a: b", "    code", "> [!note] - W: x", "\t- W: deep", "<!-- memory:begin f -->",
    "<!-- memory:end f sha=1 -->", "字", "\x0c", "\u2028",
]  # fmt: skip
texts = st.lists(st.sampled_from(TEXT_LINES), max_size=12)


@given(texts, st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(), st.booleans())
def test_taking_the_bullet_out_gives_the_old_bytes(lines: list[str], end: str, final: bool, marked: bool) -> None:
    old = (codecs.BOM_UTF8 if marked else b"") + (end.join(lines) + (end if final else "")).encode()
    try:
        new, number = insert(NOTE, old, LINE)
    except ConflictError:
        return
    before, after = parse(NOTE, old), parse(NOTE, new)
    assert after.lines[number - 1] == LINE
    bullet = LINE.encode()
    assert new.count(bullet) == 1
    head, tail = new.split(bullet)
    one_end = end.encode() if end.encode() in head + tail else b"\n"
    section = f"## Retain{one_end.decode()}".encode()
    assert old in (
        head + tail.removeprefix(one_end),  # a line more
        head.removesuffix(one_end) + tail,  # behind a note without a final line end
        head.removesuffix(section).removesuffix(one_end),  # a section more
        head.removesuffix(section).removesuffix(one_end * 2),
        head.removesuffix(section),
    )
    kept = [(fact.kind, fact.narrative) for fact in grammar.facts(before, DAY)]
    now = [(fact.kind, fact.narrative) for fact in grammar.facts(after, DAY)]
    assert sorted(now) == sorted([*kept, ("W", "Lives in Gothenburg.")])


@pytest.mark.parametrize("how", ["link", "folder", "setting"])
def test_a_day_outside_the_vault_is_refused(tmp_path: Path, how: str) -> None:
    root, outside = tmp_path / "vault", put(tmp_path, "out/2025-11-27.md", "## Retain\n")
    root.mkdir()
    if how == "folder":
        (root / "memory").symlink_to(tmp_path / "out")
    elif how == "link":
        (root / "memory").mkdir()
        (root / NOTE).symlink_to(outside)
    else:
        put(root, ".obsidian/daily-notes.json", '{"folder": "../out"}')
    ended = call("--vault", str(root), "retain", "x", "--date", "2025-11-27")
    assert (ended.code, "Traceback" in ended.err) == (6, False)
    assert outside.read_text() == "## Retain\n"


# --- searchable right after ------------------------------------------------------------------------------------------


def test_a_fact_is_found_right_after(tmp_path: Path) -> None:
    fill(tmp_path, {"a.md": "The heron stood by the weir.\n"})
    made = call("--vault", str(tmp_path), "retain", "Prefers", "trains to planes", "--kind", "opinion",
                "--entity", "@Nora", "--entity", "Alva Ek", "--confidence", "0.8", "--date", "2025-11-27")  # fmt: skip
    assert (made.code, made.out) == (0, f"{NOTE}#L9  - O(c=0.8) @Nora @[[Alva Ek]]: Prefers trains to planes\n")
    found = call("--vault", str(tmp_path), "recall", "what does Nora prefer?", "--entity", "Alva Ek", "--kind", "O")
    assert "Prefers trains to planes" in found.out
    mine = memory(tmp_path)
    assert mine.index_file.check()[0] == mine.index_file.check()[1]
    assert list((tmp_path / ".memory").glob("tmp/*")) == []


def test_a_fact_may_be_for_one_scope(tmp_path: Path) -> None:
    asked = ("retain", "Deploys on Fridays", "--date", "2025-11-27", "--scope")
    made = call("--vault", str(tmp_path), *asked, "project:Tern")
    assert (made.code, made.out.split("  ")[1]) == (0, "- W(scope=project:Tern): Deploys on Fridays\n")
    for scope, sees in (("project:tern", True), ("global", False)):
        told = call("--vault", str(tmp_path), "recall", "when does it deploy?", "--scope", scope)
        assert ("Deploys" in told.out) is sees
    refused = call("--vault", str(tmp_path), *asked, "private")
    assert refused.code == 2 and "`private` is not a scope" in refused.err


def test_a_fact_that_stands_already_is_written_and_said(tmp_path: Path) -> None:
    day = ("--vault", str(tmp_path), "retain", "--date", "2025-11-27", "--entity", "Nora")
    assert "says the same" not in call(*day, "Keeps bees.").err
    again = call(*day, "keeps bees")
    first, _ = (f"{NOTE}#L{line}" for _, line, _ in facts(tmp_path))
    assert (again.code, f"{first} says the same." in again.err) == (0, True)
    assert "says the same" not in call(*day, "Keeps goats.").err


def test_a_secret_is_stored_with_a_warning(tmp_path: Path) -> None:
    said = "Warning: this looks like a secret (password), and notes are plain text."
    asked = "retain", "The router's password is hunter2", "--date", "2025-11-27"
    assert said in call("--vault", str(tmp_path), *asked, "--dry-run").err and not (tmp_path / NOTE).exists()
    done = call("--vault", str(tmp_path), *asked)
    assert (done.code, facts(tmp_path)[0][2]) == (0, "The router's password is hunter2") and said in done.err
    assert call("--vault", str(tmp_path), "--json", *asked).out.count("\n") == 1
    safe = "retain", "The password is in the safe", "--date", "2025-11-27"
    assert said not in call("--vault", str(tmp_path), *safe).err


@pytest.mark.parametrize(
    ("moment_format", "before", "name"),
    [
        ("dddd D MMMM YYYY", "mardi 25 novembre 2025", "jeudi 27 novembre 2025"),
        ("D. MMMM YYYY", "3. Oktober 2025", "27. November 2025"),
        ("YYYY-MM-DD dddd", "2025-11-28 viernes", "2025-11-27 jueves"),
        ("D MMMM YYYY", "none yet", "27 November 2025"),
    ],
)
def test_a_daily_note_is_named_in_the_language_of_those_around_it(
    tmp_path: Path, moment_format: str, before: str, name: str
) -> None:
    settings = json.dumps({"folder": "Journal", "format": moment_format, "template": "Day"})
    notes = {".obsidian/daily-notes.json": settings, "Day.md": "# {{date}}\n", f"Journal/{before}.md": "Before.\n"}
    mine = memory(fill(tmp_path / "vault", notes))
    done = write(mine)
    assert done.path == f"Journal/{name}.md"
    assert (mine.vault.root / done.path).read_text().startswith(f"# {name}\n")


def test_a_daily_folder_that_is_not_indexed_still_takes_facts(tmp_path: Path) -> None:
    fill(tmp_path, {".obsidian/app.json": '{"userIgnoreFilters": ["memory/"]}', "a.md": "x"})
    mine = memory(tmp_path)
    for _ in range(2):
        assert "cannot be recalled" in NoteWriter(mine.index_file).retain(FACT, DAY).warning
        age(tmp_path / NOTE, 60)
    assert len(facts(tmp_path)) == 2
    said = call("--vault", str(tmp_path), "retain", "Another fact.", "--date", "2025-11-27")
    assert (said.code, "left out of the index" in said.err) == (0, True)


@pytest.mark.parametrize("index", ["a folder", pytest.param("busy", marks=pytest.mark.slow)])
def test_a_fact_that_was_written_is_never_reported_as_failed(tmp_path: Path, index: str) -> None:
    mine = memory(fill(tmp_path, {"a.md": "x"}))
    if index == "a folder":
        mine.index_file.path.mkdir(parents=True)
        said = call("--vault", str(tmp_path), "retain", "Lives in Gothenburg.", "--date", "2025-11-27")
    else:
        mine.index()
        with opened(mine) as store, store.writing():
            said = call("--vault", str(tmp_path), "retain", "Lives in Gothenburg.", "--date", "2025-11-27")
    assert (said.code, "Traceback" in said.err, "not searchable yet" in said.err) == (0, False, True)
    assert said.out.startswith(NOTE)
    assert len(facts(tmp_path)) == 1


# --- someone else at the same note -----------------------------------------------------------------------------------


def test_an_editor_that_keeps_saving_wins_and_loses_nothing(tmp_path: Path) -> None:
    file, stop, saved = put(tmp_path, NOTE, "0\n## Retain\n"), threading.Event(), [0]

    def edit() -> None:  # as a sync program does: whole files with old times
        while not stop.is_set():
            part = put(tmp_path, "part", f"{saved[0] + 1}\n## Retain\n")
            os.replace(part, file)
            saved[0] += 1

    mine, editor = memory(tmp_path), threading.Thread(target=edit)
    editor.start()
    try:
        with pytest.raises(ConflictError, match="nothing was written"):
            for _ in range(50):  # on a busy computer the editor may miss a whole attempt, and saves over it then
                write(mine)
    finally:
        stop.set()
        editor.join()
    assert saved[0] >= TRIES  # each try was overtaken by a save
    assert file.read_text() == f"{saved[0]}\n## Retain\n"
    assert list((tmp_path / ".memory").glob("tmp/*")) == []


def test_a_note_an_editor_has_renamed_away_for_a_moment_is_waited_for(tmp_path: Path) -> None:
    file = put(tmp_path, NOTE, "## Retain\n- W: first\n")
    put(tmp_path, "other.md", "x")
    mine, backup = memory(tmp_path), file.with_name(file.name + "~")
    mine.index()
    os.replace(file, backup)  # as vim saves: the old note goes out of the way, then the new one is written
    saved = threading.Timer(0.2, put, [tmp_path, NOTE, "## Retain\n- W: first\n- W: second\n"])
    saved.start()
    NoteWriter(mine.index_file).retain(FACT, DAY)
    saved.join()
    assert [narrative for _, _, narrative in facts(tmp_path)] == ["first", "second", "Lives in Gothenburg."]


def test_several_retains_at_once_lose_no_fact(tmp_path: Path) -> None:
    put(tmp_path, NOTE, "## Retain\n")
    processes = [start(tmp_path, "retain", f"Fact number {n}.", "--date", "2025-11-27") for n in range(3)]
    said = [process.communicate(timeout=60) for process in processes]
    written = [text for text, _ in said if text]
    codes = {process.returncode for process in processes}
    assert codes <= {0, 5}, said
    found = [narrative for _, _, narrative in facts(tmp_path)]
    assert sorted(found) == sorted(re.sub(r".*- W: ", "", text).strip() for text in written)
    assert len(found) >= 1
    mine = memory(tmp_path)
    assert mine.index_file.check()[0] == mine.index_file.check()[1]


def test_a_whole_line_is_refused_with_the_call_that_states_it(tmp_path: Path) -> None:
    mine = memory(fill(tmp_path / "vault", {"memory/2025-11-27.md": "# T\n"}))
    with pytest.raises(UsageError) as refused:
        mine.retain("- O(c=0.8) @[[The Castle]]: It is dry.", date="2025-11-27")
    assert "memory retain 'It is dry.' --kind O --entity 'The Castle'" in str(refused.value.next_step)
    assert mine.retain("Decided: @Nora keeps the key.", date="2025-11-27").line
