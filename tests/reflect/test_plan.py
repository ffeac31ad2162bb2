"""Which pages are written, which are left alone and why, and what if others write too."""

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from reflecting import NORA, reflect, small_vault, texts
from sample import call
from vaults import fill, memory, obeying_permissions, put, run

from vault_memory.errors import ConflictError, RefusedError
from vault_memory.reflect import generated_blocks
from vault_memory.reflect.edit_plan import Draft, Edit, make_edit
from vault_memory.reflect.generated_blocks import Line, WrittenBlocks
from vault_memory.reflect.job import WrittenEdits, write_edits
from vault_memory.reflect.merge import PageHistory
from vault_memory.vault.undo_history import UndoHistory
from vault_memory.vault.vault import Vault
from vault_memory.write.rewrite import TRIES

ALL = frozenset(generated_blocks.fact_name(n << 32) for n in range(100))


def fact(number: int, words: str = "", line: int = 0) -> Line:
    return Line(f"- {words or f'fact {number}'} — [[2025-11-01]] L{line or number}", (number << 32,))


def draft(*lines: Line, path: str = "bank/p.md", name: str = "facts", start: str = "# P\n") -> Draft:
    return Draft(path, name, lines, "because", start)


def past(known: Sequence[Edit] = (), facts: frozenset[str] = ALL, *, force: bool = False) -> PageHistory:
    """What is known besides the page, `known` being what was written before."""
    last = {one.sha: one.lines for one in known}
    return PageHistory(facts, last=last.get, force=force)


def first(given: Draft, present: bytes | None = None) -> Edit:
    found = make_edit(given, present, past())[0]
    assert found is not None
    return found


# --- what is written -------------------------------------------------------------------------------------------------


def test_a_page_that_was_there_says_what_changed_and_its_own_account_comes_first() -> None:
    made = first(draft(fact(1), fact(2)))
    left = frozenset([generated_blocks.fact_name(2 << 32), generated_blocks.fact_name(3 << 32)])
    again = make_edit(draft(fact(2), fact(3)), made.after, past([made], facts=left))[0]
    assert again is not None
    assert (again.why, again.was) == ("1 fact new, 1 retracted", made.lines)
    told = draft(fact(2), fact(3))._replace(account=lambda was, lines: f"{len(was)} lines, now {len(lines)}")
    again = make_edit(told, made.after, past([made]))[0]
    assert again is not None and again.why == "2 lines, now 2"


def test_a_cited_line_that_only_moved_is_no_edit() -> None:
    made = first(draft(fact(1), fact(2)))
    assert make_edit(draft(fact(1, line=7), fact(2, line=9)), made.after, past())[0] is None
    wider = make_edit(draft(fact(1, line=7), fact(2), fact(3)), made.after, past())[0]
    assert wider is not None
    assert b"L7" in wider.after


# --- what is left alone ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entries", "lost", "is_refused"),
    [(20, 4, False), (20, 5, False), (20, 6, True), (5, 5, True), (100, 25, False), (100, 26, True),
     (1, 1, False), (3, 3, False), (4, 3, False), (4, 4, True), (15, 4, True), (16, 4, False)],
)  # fmt: skip
def test_a_page_does_not_lose_too_much_at_once(entries: int, lost: int, is_refused: bool) -> None:
    made = first(draft(*map(fact, range(entries))))
    facts = ALL - {generated_blocks.fact_name(n << 32) for n in range(lost)}
    given = draft(*map(fact, range(lost, entries)))
    if is_refused:
        with pytest.raises(RefusedError, match=f"{lost} of {entries}") as error:
            make_edit(given, made.after, past(facts=facts))
        assert "--force" in error.value.next_step
    else:
        assert make_edit(given, made.after, past(facts=facts))[0]
    assert make_edit(given, made.after, past(facts=facts, force=True))[0]


def test_an_edited_block_whose_last_text_is_not_known_is_left_alone() -> None:
    made = first(draft(fact(1), fact(2)))
    edited = made.after.replace(b"fact 1", b"mine")
    with pytest.raises(ConflictError, match="earlier version is not known"):
        make_edit(draft(fact(2)), edited, past())
    assert make_edit(draft(fact(2)), edited, past([made]))[0]


# --- the diff --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["bank/p.md", "bank/a page.md", "bank/Kallö — ø.md", "bank/-p.md"])
@pytest.mark.parametrize(
    "present",
    [None, b"# P\n", b"# P", b"", b"# P\r\nmine\r\n", b"\xef\xbb\xbf# P\r\n", b"a\rb\r", "a\x0cb\u2028c\n".encode()],
)
def test_patch_makes_of_a_page_what_the_run_would(tmp_path: Path, present: bytes | None, path: str) -> None:
    if not shutil.which("patch"):
        pytest.skip("there is no patch here")
    made = first(draft(fact(1), Line(""), fact(2), path=path), present)
    if present is not None:
        put(tmp_path, path, present)
    given, patch = f"{made.diff()}\n".encode(), ["patch", "-p1", "--quiet", "--fuzz=0"]
    ended = subprocess.run(patch, cwd=tmp_path, input=given, capture_output=True, check=False)
    assert (ended.stdout, ended.stderr) == (b"", b"")
    assert (tmp_path / path).read_bytes() == made.after


# --- writing ---------------------------------------------------------------------------------------------------------


def vault(root: Path) -> Vault:
    return memory(root).vault


def page(root: Path, path: str) -> bytes | None:
    return (root / path).read_bytes() if (root / path).exists() else None


def write(root: Path, drafts: Sequence[Draft], meddle: Callable[[], object] = lambda: None) -> WrittenEdits:
    """Plan and write; `meddle` happens in between, and each time a page is looked at again."""
    of = PageHistory(ALL, last=WrittenBlocks(root).last)
    edits = [made for one in drafts if (made := make_edit(one, page(root, one.path), of)[0])]
    meddle()
    by_place = {(one.path, one.block): one for one in drafts}

    def again(late: Edit) -> Edit | None:
        made = make_edit(by_place[late.path, late.block], page(root, late.path), of)[0]
        meddle()
        return made

    return write_edits(vault(root), edits, again)


def test_a_page_that_changed_meanwhile_is_merged_anew(tmp_path: Path) -> None:
    root = fill(tmp_path, {"bank/p.md": "# P\n", "bank/q.md": "# Q\n"})
    is_first = iter([True])
    drafts = [draft(fact(1)), draft(fact(2), path="bank/q.md"), draft(fact(3), path="bank/new.md")]

    def meddle() -> None:
        if next(is_first, False):
            put(root, "bank/p.md", "# P\n\nWritten meanwhile.\n")
            put(root, "bank/new.md", "# Mine\n")

    done = write(root, drafts, meddle)
    assert ([one.path for one in done.edits], done.skipped) == (["bank/p.md", "bank/q.md", "bank/new.md"], [])
    assert (root / "bank/p.md").read_bytes().startswith(b"# P\n\nWritten meanwhile.\n\n<!-- memory:begin facts -->")
    assert (root / "bank/new.md").read_bytes().startswith(b"# Mine\n\n<!-- memory:begin facts -->")
    UndoHistory(root).undo(UndoHistory(root).runs()[0], vault(root))
    assert {path: data for path, data in texts(root).items() if data} == {
        "bank/p.md": b"# P\n\nWritten meanwhile.\n", "bank/q.md": b"# Q\n", "bank/new.md": b"# Mine\n",
    }  # fmt: skip


def test_a_page_that_keeps_changing_is_left_after_three_tries(tmp_path: Path) -> None:
    root = fill(tmp_path, {"bank/p.md": "# P 0\n"})
    tries: list[int] = []

    def meddle() -> None:
        tries.append(1)
        put(root, "bank/p.md", f"# P {len(tries)}\n")

    done = write(root, [draft(fact(1)), draft(fact(2), path="bank/q.md")], meddle)
    assert [one.path for one in done.edits] == ["bank/q.md"]
    assert [(one.path, one.exit_code) for one in done.skipped] == [("bank/p.md", 5)]
    assert (len(tries), (root / "bank/p.md").read_text()) == (TRIES + 1, f"# P {TRIES + 1}\n")


def test_a_page_that_went_away_meanwhile_and_needs_no_writing_is_not_made_empty(tmp_path: Path) -> None:
    left = Edit("bank/p.md", b"# P\n", b"# P 2\n", "1 fact new")
    done = write_edits(vault(fill(tmp_path, {"a.md": "x"})), [left], lambda late: None)
    assert (done, (tmp_path / "bank/p.md").exists()) == (WrittenEdits([], [], ""), False)


def test_a_tick_stays_on_its_page_where_the_core_could_not_be_changed(tmp_path: Path) -> None:
    root = fill(tmp_path, {"memory.md": "# Mine\n", "bank/proposals.md": "- [x] tea\n"})

    def again(late: Edit) -> Edit | None:
        raise ConflictError(f"{late.path} was changed.", "Look at it.")

    ticked = Edit("memory.md", b"# Old\n", b"# Old\n- tea\n", "1 change ticked")
    page = Edit("bank/proposals.md", b"- [x] tea\n", b"", "0 proposals open", block="proposals")
    done = write_edits(vault(root), [ticked, page], again)
    assert ([one.path for one in done.skipped], done.edits, done.run) == (["memory.md"], [], "")
    assert (root / "bank/proposals.md").read_text() == "- [x] tea\n"


# --- whole runs ------------------------------------------------------------------------------------------------------


def test_a_page_that_is_read_only_is_listed_and_the_others_are_written(tmp_path: Path) -> None:
    root = small_vault(tmp_path / "v")
    os.chmod(root / "bank/entities/Odd.md", 0o444)
    before = (root / "bank/entities/Odd.md").read_bytes()
    ended = run(root, "reflect", "--now", "2025-12-10", first=obeying_permissions())
    assert ended.returncode == 1, ended.stderr
    assert "bank/entities/Odd.md is read-only" in ended.stdout
    assert (root / "bank/entities/Odd.md").read_bytes() == before
    assert (root / NORA).exists()


def test_what_keeps_every_page_from_being_written_is_said_once(tmp_path: Path) -> None:
    root = small_vault(tmp_path / "v")
    os.chmod(root, 0o555)
    ended = run(root, "reflect", "--now", "2025-12-10", first=obeying_permissions())
    os.chmod(root, 0o755)
    assert ended.returncode == 1, ended.stderr
    assert ended.stdout.count("  ! ") == 1 and "more pages." in ended.stdout


def test_a_note_that_cannot_be_read_is_not_taken_for_deleted(tmp_path: Path) -> None:
    """By whatever means its rows were lost, the pages keep what they cite of it; and a rebuild does not lose them."""
    root, first = small_vault(tmp_path / "v"), obeying_permissions()
    reflect(root)
    log, before = "memory/2025-11-05.md", texts(root)
    (root / log).chmod(0)
    rebuilt = run(root, "index", "--rebuild", first=first)
    assert (rebuilt.returncode, f"{log} cannot be read" in rebuilt.stderr) == (6, True), rebuilt.stderr
    (root / ".memory/index.sqlite").unlink()
    ended = run(root, "reflect", "--now", "2025-12-10", first=first)
    assert f"{log} cannot be read" in ended.stdout + ended.stderr, ended
    assert texts(root) == before
    told = run(root, "doctor", first=first)
    assert f"{log} cannot be read" in told.stdout
    (root / log).chmod(0o644)
    assert run(root, "reflect", "--now", "2025-12-10").returncode == 0


def test_a_page_behind_a_link_out_of_the_vault_is_neither_read_nor_written(tmp_path: Path) -> None:
    root = small_vault(tmp_path / "v")
    secret = put(tmp_path, "secret.md", "# Secret words\n")
    (root / NORA).symlink_to(secret)
    for arguments in (("--dry-run",), ()):
        ended = call("--vault", str(root), "reflect", "--now", "2025-12-10", *arguments)
        assert ended.code == 6
        assert ("leads out of the vault" in ended.out, "Secret words" in ended.out) == (True, False)
    assert secret.read_text() == "# Secret words\n"
    assert (root / "bank/entities/Kallö.md").exists()
