"""`memory forget`: one fact less in its note, every other byte as it was, and it does not come back unnoticed."""

import codecs
import json
import os
import sys
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reflecting import journal_lines
from sample import call
from vaults import command, fill, memory, obeying_permissions, opened, put, run, run_killer, snapshot

from vault_memory.errors import ConflictError, RefusedError, UsageError, VaultError
from vault_memory.health.doctor import lint
from vault_memory.markdown import facts
from vault_memory.markdown.parse import parse
from vault_memory.memory import Memory
from vault_memory.store import journal
from vault_memory.vault.undo_history import UndoHistory
from vault_memory.write.forget import removal

pytestmark = pytest.mark.usefixtures("no_editor")

NOTE = "memory/2025-11-27.md"
TEXT = "# T\n\n## Retain\n- W @Nora: Keeps bees. ^bees\n- O(c=0.8) @Nora: Prefers trains\n  to planes.\n- W: last"

# --- what goes, and what stays (pure) --------------------------------------------------------------------------------

CUTS = [
    # the note, the line named, what is left
    ("## Retain\n- W: a\n- W: b\n", 2, "## Retain\n- W: b\n"),
    ("## Retain\n- W: a\n  - aside\n- W: b\n", 3, "## Retain\n- W: b\n"),
    ("## Retain\n- W: a\n  - W: deep\n- W: b\n", 3, "## Retain\n- W: a\n- W: b\n"),
    ("## Retain\n1. W: a\n2. W: b\n3. W: c\n", 3, "## Retain\n1. W: a\n3. W: c\n"),
    ("## Retain\n\n- W: a ^id\n\n- W: b\n\n", 3, "## Retain\n\n\n- W: b\n\n"),
    ("## Retain\n- W: a\n- W: twin\n- W: b\n- W: twin\n", 5, "## Retain\n- W: a\n- W: twin\n- W: b\n"),
    ("## Retain\n```\n- W: a\n```\n- W: a\n", 5, "## Retain\n```\n- W: a\n```\n"),
    ("## Log\n- 10:00 rang Nora\n- 11:00 lunch\n", 2, "## Log\n- 11:00 lunch\n"),
    ("- only\n", 1, ""),
    ("---\ntags: [a]\n---\n## Retain\n- W: a\n", 5, "---\ntags: [a]\n---\n## Retain\n"),
    ("## Retain\n- X: no kind\n", 2, "## Retain\n"),
    ("## Retain\n- W: a\n- W: a stray \0 byte\n", 2, "## Retain\n- W: a stray \0 byte\n"),
]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
@pytest.mark.parametrize(("before", "line", "after"), CUTS)
def test_what_goes_and_what_stays(before: str, line: int, after: str, mark: bytes, end: str) -> None:
    data, left = (mark + text.replace("\n", end).encode() for text in (before, after))
    found = removal(NOTE, data, line, line)
    assert (found.before, found.after) == (data, left)
    assert found.start_line <= line <= found.end_line
    assert found.text == "\n".join(before.split("\n")[found.start_line - 1 : found.end_line])


@pytest.mark.parametrize(
    ("note", "line", "why"),
    [
        ("# T\ntext\n", 2, "neither"), ("# T\ntext\n", 1, "neither"), ("text\n\nmore\n", 2, "neither"),
        ("## Retain\n```\n- W: a\n```\n", 3, "neither"), ("%%\n- W: a\n%%\n", 2, "neither"),
        ("---\ntags:\n  - a\n---\n", 3, "neither"), ("> - W: a\n", 1, "neither"), ("-W: a\n", 1, "neither"),
        ("- plain\n  more of it\n", 1, "more than one"), ("- plain\n  more of it\n", 2, "neither"),
        ("a\n", 2, "no line 2"), ("a\n", 0, "no line 0"), ("", 1, "no line 1"),
        ("<!-- memory:begin f -->\n- W: a\n<!-- memory:end f sha=1 -->\n", 2, "reflect"),
    ],
)  # fmt: skip
def test_what_is_neither_fact_nor_list_item_is_refused(note: str, line: int, why: str) -> None:
    with pytest.raises(UsageError, match=why) as error:
        removal(NOTE, note.encode(), line, line)
    assert error.value.next_step


@pytest.mark.parametrize(
    ("note", "line"),
    [
        ("## Retain\n- W: a\n\n    - W: b\n", 2),  # b would become code
        ("## Retain\n- W: a %% open\n- W: b\n%% - W: c\n", 2),  # what was hidden would be read
        ("## Retain\n- W: outer\n  - W: inner\n tail\n", 3),  # the tail would belong to the outer fact
        ("- first\n---\na: b\n---\n", 1),  # would become frontmatter
    ],
)
def test_a_removal_that_changes_what_is_left_is_refused(note: str, line: int) -> None:
    with pytest.raises(ConflictError, match=r"otherwise|something else"):
        removal(NOTE, note.encode(), line, line)


@pytest.mark.parametrize("data", [b"- caf\xe9\n", codecs.BOM_UTF16_LE + "- a\n".encode("utf-16-le")])
def test_a_note_that_is_not_utf8_is_left_alone(data: bytes) -> None:
    with pytest.raises(ConflictError, match="UTF-8"):
        removal(NOTE, data, 1, 1)


LINES = [
    "# T", "## Retain", "- W: a fact", "- W: another ^id", "  more", "- plain", "  - inner", "  - W: deep", "", "text",
    "```", "%%", "- W: %% half", "<!--", "-->", "---", "a: b", "    code", "1. B @Nora: done", "> quoted", "\t- O: tab",
    "<!-- memory:begin f -->", "<!-- memory:end f sha=1 -->", "字", "\x0c- W: x", "\u2028",
]  # fmt: skip


@given(st.lists(st.sampled_from(LINES), max_size=12), st.sampled_from(["\n", "\r\n", "\r"]), st.booleans(),
       st.booleans(), st.integers(1, 13))  # fmt: skip
def test_only_whole_lines_of_one_item_go(lines: list[str], end: str, final: bool, marked: bool, line: int) -> None:
    data = (codecs.BOM_UTF8 if marked else b"") + (end.join(lines) + (end if final else "")).encode()
    try:
        found = removal(NOTE, data, line, line)
    except (UsageError, ConflictError):
        return
    before, after = parse(NOTE, data), parse(NOTE, found.after)
    assert found.start_line <= line <= found.end_line
    assert after.lines == before.lines[: found.start_line - 1] + before.lines[found.end_line :]
    assert found.after.startswith(codecs.BOM_UTF8) == marked
    if after.lines and after.lines[-1]:  # behind a blank line nothing tells
        assert found.after.endswith(end.encode()) == data.endswith(end.encode())
    told = [(f.kind, f.narrative) for f in facts.facts(before, None) if f.start_line != found.start_line]
    assert [(f.kind, f.narrative) for f in facts.facts(after, None)] == told
    assert [h.text for h in after.headings] == [h.text for h in before.headings]


# --- the command -----------------------------------------------------------------------------------------------------


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return fill(tmp_path / "vault", {NOTE: TEXT, "a.md": "See [[2025-11-27#^bees]].\n"})


def everything(root: Path) -> dict[str, bytes]:
    """Every file of the vault, our own included."""
    return {str(file.relative_to(root)): file.read_bytes() for file in root.rglob("*") if file.is_file()}


def standing(of: Memory) -> set[int]:
    with opened(of) as store:
        journal.read_new_lines(store, of.vault.root)
        return set(journal.forgotten(store))


def test_a_fact_goes_with_its_lines_and_leaves_a_tombstone(root: Path) -> None:
    mine = memory(root)
    mine.index()
    done = call("--vault", str(root), "forget", f"{NOTE}#L5", "--yes")
    assert (done.code, done.out.splitlines()[-1]) == (0, f"Forgotten: {NOTE}#L5-L6")
    assert "-- O(c=0.8) @Nora: Prefers trains\n-  to planes.\n" in done.out
    assert (root / NOTE).read_text() == TEXT.replace("- O(c=0.8) @Nora: Prefers trains\n  to planes.\n", "")
    key = journal.passage_key("- O(c=0.8) @Nora: Prefers trains\n  to planes.")
    assert standing(mine) == {key}
    (file,) = journal.files(root).values()
    assert b"trains" not in file.read_bytes()
    assert "Prefers trains" not in call("--vault", str(root), "recall", "what does Nora prefer?").out
    assert mine.index_file.check()[0] == mine.index_file.check()[1]
    mine.index(rebuild=True)
    assert standing(mine) == {key}


@pytest.mark.parametrize("arguments", [[], ["--dry-run"], ["--dry-run", "--yes"], ["--json"], ["--json", "--dry-run"]])
def test_a_preview_writes_nothing_at_all(root: Path, arguments: list[str]) -> None:
    before, times = everything(root), snapshot(root)
    done = call("--vault", str(root), "forget", f"{NOTE}#L4", *arguments)
    assert (done.code, "Keeps bees" in done.out) == (0, True)
    assert (everything(root), snapshot(root)) == (before, times)
    if "--json" in arguments:
        assert json.loads(done.out)["written"] is False
    else:
        assert ("--yes" in done.err, "Nothing was written" in done.err) == ("--dry-run" not in arguments, True)


def test_the_document(root: Path) -> None:
    said = json.loads(call("--vault", str(root), "forget", f"{NOTE}#L4", "--yes", "--json").out)
    (known,) = UndoHistory(root).runs("forget")
    assert said == {
        "schema": "vault-memory/forget@1", "path": NOTE, "line": 4, "end_line": 4, "source": f"{NOTE}#L4",
        "removed": "- W @Nora: Keeps bees. ^bees", "diff": said["diff"], "written": True, "kept_in": known.place,
        "warnings": [], "candidates": [],
    }  # fmt: skip
    assert "\n-- W @Nora: Keeps bees. ^bees\n" in said["diff"]


def test_what_else_there_is_to_know_is_said(root: Path) -> None:
    put(root, "other.md", "## Retain\n- W(i=0.9) @Nora: Keeps bees.\n")
    memory(root).index()
    done = call("--vault", str(root), "forget", f"{NOTE}#L4", "--yes")
    assert "The same words still stand at other.md#L2." in done.err


@pytest.mark.parametrize("path", [NOTE, "other.md"])
def test_of_two_equal_lines_the_one_that_is_named_is_forgotten(root: Path, path: str) -> None:
    put(root, path, (root / path).read_text() if path == NOTE else "# T\n\n## Retain\n")
    with (root / path).open("a") as note:
        note.write("\n## Retain\n- W @Nora: Keeps bees. ^bees\n")
    mine = memory(root)
    mine.index()
    done = mine.forget(mine.plan_forget(NOTE, 4, 4))
    assert standing(mine) == set() and lint(mine) == []
    (other,) = [fact for fact in mine.facts(entity="Nora") if fact.text.startswith("Keeps bees")]
    assert done.warnings[0] == f"The same words still stand at {other.path}#L{other.start_line}."
    mine.undo(done.run)
    mine.forget(mine.plan_forget(NOTE, 4, 4))
    last = mine.forget(mine.plan_forget(other.path, other.start_line, other.start_line))
    assert len(standing(mine)) == 1
    mine.undo(last.run)
    assert standing(mine) == set()


def test_a_question_lists_the_facts_it_may_mean(root: Path) -> None:
    done = call("--vault", str(root), "forget", "does", "Nora", "keep", "bees")
    assert (done.code, done.out.splitlines()[:2]) == (
        0, [f"1. {NOTE}#L4", "   - W @Nora: Keeps bees. ^bees"],
    )  # fmt: skip
    assert f'memory forget "{NOTE}#L4"' in done.err
    assert journal.files(root) == {}
    said = json.loads(call("--vault", str(root), "forget", "bees", "--json").out)
    assert (said["path"], said["written"], said["candidates"][0]["source"]) == (None, False, f"{NOTE}#L4")
    assert (root / NOTE).read_text() == TEXT


@pytest.mark.parametrize("named", ["2025-11-27#L4", "[[2025-11-27]]#L4", "memory/2025-11-27#L4"])
def test_a_note_is_named_as_get_and_links_name_it(root: Path, named: str) -> None:
    assert call("--vault", str(root), "forget", named, "--yes").out.endswith(f"Forgotten: {NOTE}#L4\n")


@pytest.mark.parametrize("arguments", [["--yes"], ["--yes", "--json"]])
def test_words_alone_never_forget_anything(root: Path, arguments: list[str]) -> None:
    done = call("--vault", str(root), "forget", "bees", *arguments)
    assert (done.code, "needs a line" in done.err) == (2, True)
    assert (root / NOTE).read_text() == TEXT


@pytest.mark.parametrize(
    ("named", "code"),
    [("nope.md#L1", 2), ("2025-11-27.md#L4", 2), (f"{NOTE}#L99", 2), (f"{NOTE}#L1", 2), (f"{NOTE}#L0", 2),
     ("../a.md#L1", 6), (".memory/config.toml#L1", 2), ("/etc/passwd#L1", 6)],
)  # fmt: skip
def test_what_cannot_be_forgotten_says_why_and_what_to_do(root: Path, named: str, code: int) -> None:
    done = call("--vault", str(root), "forget", named, "--yes")
    assert (done.code, "Traceback" in done.err, len(done.err.splitlines())) == (code, False, 2)
    assert (journal.files(root), (root / NOTE).read_text()) == ({}, TEXT)


# --- on a terminal ---------------------------------------------------------------------------------------------------


def on_terminal(root: Path, *arguments: str, typed: str) -> str:
    """What the command shows on a terminal where somebody types."""
    if sys.platform == "win32":
        pytest.skip("terminals are a POSIX matter here")
    import pty

    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, command(root, *arguments))
    os.write(terminal, typed.encode())
    shown = b""
    while True:
        try:
            more = os.read(terminal, 4096)
        except OSError:  # Linux says so when the other end is gone
            break
        if not more:
            break
        shown += more
    os.close(terminal)
    assert os.waitpid(child, 0)[1] == 0, shown
    return shown.decode()


@pytest.mark.parametrize(("typed", "is_gone"), [("y\n", True), ("n\n", False), ("\n", False)])
def test_it_is_asked_first(root: Path, typed: str, is_gone: bool) -> None:
    shown = on_terminal(root, "forget", f"{NOTE}#L4", typed=typed)
    assert "Forget this? [y/N]" in shown
    assert shown.index("-- W @Nora: Keeps bees.") < shown.index("Forget this?")
    assert ((root / NOTE).read_text() != TEXT) == is_gone
    assert ("Nothing was written." in shown) == (not is_gone)


def test_a_line_that_moved_since_it_was_cited_is_not_forgotten_in_its_place(root: Path) -> None:
    memory(root).index()
    put(root, NOTE, TEXT.replace("- W @Nora: Keeps", "- W @Nora: A new one.\n- W @Nora: Keeps"))
    before = snapshot(root)
    for more in (["--yes"], ["--yes", "--text", "Keeps bees"], ["--dry-run", "--text", "Keeps bees"]):
        done = call("--vault", str(root), "forget", f"{NOTE}#L4", *more)
        assert (done.code, "Keeps bees" in done.err, "A new one." in done.err) == (5, True, True), done
        assert snapshot(root) == before
    done = call("--vault", str(root), "forget", f"{NOTE}#L5", "--yes", "--text", "@Nora:  Keeps bees.")
    assert (done.code, "Keeps bees" in (root / NOTE).read_text()) == (0, False)
    memory(root).index()
    assert call("--vault", str(root), "forget", f"{NOTE}#L4", "--yes").code == 0


def test_a_command_given_twice_does_not_take_the_next_line(root: Path) -> None:
    assert call("--vault", str(root), "forget", f"{NOTE}#L4", "--yes").code == 0
    left = (root / NOTE).read_bytes()
    for line, said in ((4, "- W @Nora: Keeps bees. ^bees"), (6, "- O(c=0.8) @Nora: Prefers trains\\n  to planes.")):
        again = call("--vault", str(root), "forget", f"{NOTE}#L{line}", "--yes")
        assert (again.code, f'#L{line} said "{said}" before' in again.err, "--text" in again.err) == (5, True, True)
    assert (root / NOTE).read_bytes() == left
    meant = call("--vault", str(root), "forget", f"{NOTE}#L6", "--yes", "--text", "last")
    assert (meant.code, b"last" in (root / NOTE).read_bytes()) == (0, False)
    assert call("--vault", str(root), "forget", f"{NOTE}#L5", "--yes").code == 0, "it says what it said there"


@pytest.mark.parametrize("is_of_an_older_release", [False, True])
def test_what_was_undone_is_no_more_forgotten_and_may_be_anew(root: Path, is_of_an_older_release: bool) -> None:
    assert call("--vault", str(root), "forget", f"{NOTE}#L4", "--yes").code == 0
    (done,) = UndoHistory(root).runs("forget")
    log = root / done.place / "run.jsonl"
    if is_of_an_older_release:
        log.write_text("".join(line for line in log.read_text().splitlines(keepends=True) if '"forgot"' not in line))
    assert call("--vault", str(root), "reflect", "--undo", done.name).code == 0
    assert [line["event"] for line in journal_lines(root)] == ["tombstone", "restored"]
    assert call("--vault", str(root), "forget", f"{NOTE}#L4", "--yes").code == 0


# --- somebody else at the same note ----------------------------------------------------------------------------------


def test_a_note_changed_since_the_preview_loses_nothing(root: Path) -> None:
    mine = memory(root)
    planned = mine.plan_forget(NOTE, 4, 4)
    put(root, NOTE, TEXT.replace("Keeps bees", "Kept bees"))
    before = snapshot(root)
    with pytest.raises(ConflictError, match="changed meanwhile"):
        mine.forget(planned)
    assert snapshot(root) == before
    assert (UndoHistory(root).runs(), journal.files(root)) == ([], {})


KILLER = '''
"""Forgets a fact in forks of one process, each killed at one step of its writing; prints what is wrong after it."""
import json, os, shutil, signal, sys
from pathlib import Path

from test_forget import NOTE, standing
from vaults import memory

ROOT, KEPT = Path(sys.argv[1]), Path(sys.argv[2])
STEPS = ("fsync", "write", "replace", "link", "rename", "mkdir", "unlink", "rmdir")


def forget(limit):
    count = 0

    def around(function):
        def wrapped(*arguments, **named):
            nonlocal count
            count += 1
            if count == limit:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **named)

        return wrapped

    mine = memory(ROOT)
    planned = mine.plan_forget(NOTE, 4, 4)
    for name in STEPS:
        setattr(os, name, around(getattr(os, name)))
    mine.forget(planned)


def forked(limit):
    """Whether a fork was killed at that step, which is so until there are no more of them."""
    child = os.fork()
    if not child:
        forget(limit)
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


memory(ROOT).index()
shutil.copytree(ROOT, KEPT)
before, limit, faults, seen = (ROOT / NOTE).read_bytes(), 1, [], []
while forked(limit):
    gone, mine = (ROOT / NOTE).read_bytes() != before, memory(ROOT)
    mine.index()
    seen.append([gone, len(standing(mine))])
    if not gone:
        mine.forget(mine.plan_forget(NOTE, 4, 4))
    if len(standing(mine)) != 1 or b"bees" in (ROOT / NOTE).read_bytes():
        faults.append(f"{limit}: not forgotten in the end")
    shutil.rmtree(ROOT)
    shutil.copytree(KEPT, ROOT)
    limit += 1
print(json.dumps({"faults": faults, "seen": seen}))
'''


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks and signals as on Linux")
def test_killed_at_every_step_no_fact_is_gone_that_nobody_remembers(root: Path, tmp_path: Path) -> None:
    ended = run_killer(KILLER, root, tmp_path / "kept")
    told = json.loads(ended.stdout)
    assert told["faults"] == []
    assert {(gone, count) for gone, count in told["seen"]} == {(False, 0), (False, 1), (True, 1)}


# --- links, rights ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["note", "folder"])
def test_a_link_out_of_the_vault_is_refused(tmp_path: Path, how: str) -> None:
    outside, inside = put(tmp_path, "out/2025-11-27.md", TEXT), tmp_path / "vault"
    inside.mkdir()
    if how == "folder":
        (inside / "memory").symlink_to(tmp_path / "out")
    else:
        (inside / "memory").mkdir()
        (inside / NOTE).symlink_to(outside)
    done = call("--vault", str(inside), "forget", f"{NOTE}#L4", "--yes")
    assert (done.code, "Traceback" in done.err, outside.read_text()) == (6, False, TEXT)


@pytest.mark.parametrize("name", ["history", "journal"])
def test_nothing_is_forgotten_where_it_could_not_be_kept(root: Path, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / ".memory").mkdir()
    (root / ".memory" / name).symlink_to(outside)
    mine = memory(root)
    with pytest.raises(RefusedError):
        mine.forget(mine.plan_forget(NOTE, 4, 4))
    assert ((root / NOTE).read_text(), list(outside.iterdir())) == (TEXT, [])


@pytest.mark.parametrize("what", ["note", "folder"])
def test_what_is_read_only_stays_so(root: Path, what: str) -> None:
    first = obeying_permissions()
    file = root / NOTE
    if what == "note":
        file.chmod(0o444)
    else:
        (root / ".memory").mkdir()
        (root / ".memory").chmod(0o555)
    done = run(root, "forget", f"{NOTE}#L4", "--yes", first=first)
    (root / ".memory").chmod(0o755)
    assert (done.returncode, "Traceback" in done.stderr) == (VaultError.exit_code, False), done.stderr
    assert file.read_text() == TEXT
    memory(root).index()
    assert (UndoHistory(root).runs(), standing(memory(root))) == ([], set())


# --- what a tombstone does -------------------------------------------------------------------------------------------

LONG = "- W @Nora: " + " ".join(f"Sentence number {n} of a very long fact about bees." for n in range(20))


@pytest.mark.parametrize("text", ["- W @Nora: Keeps bees.", "- W @Nora: Keeps bees\n  and ducks. ^id", LONG])
def test_lint_tells_of_what_has_come_back(root: Path, text: str) -> None:
    put(root, NOTE, f"## Retain\n{text}\n")
    mine = memory(root)
    mine.forget(mine.plan_forget(NOTE, 2, 2))
    assert lint(mine) == []
    put(root, "other.md", f"# T\n\n## Retain\n- W: before\n{text}\n")
    (problem,) = lint(mine)
    assert (problem.path, problem.line) == ("other.md", 5)
    assert problem.message == (
        f"forgotten on {date.today()}, and here again: delete it, or `memory retain` it to keep it"
    )
    assert call("--vault", str(root), "lint").code == 1
    assert "bees" in call("--vault", str(root), "recall", "bees", "--k", "1").out
