"""journal.py: what counts as use, replayed from the files of all devices."""

import json
import shutil
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from asking import ask
from hypothesis import given, settings
from hypothesis import strategies as st
from sample import call
from vaults import fill, index_digest, memory, opened

from vault_memory.errors import RefusedError
from vault_memory.memory import Memory
from vault_memory.store import journal
from vault_memory.store.journal import CitedPassage

FACT = "- W(i=0.8) @Mara: Mara keeps the logbook in the red box."
NOTES = {"memory/2025-10-01.md": f"# Log\n\n## Retain\n\n{FACT}\n- W @Mara: Mara has a dog.\n"}
WORDS = ("red", "box", "keeps", "where", "who", "what", "now", "again", "still", "then", "ever")
QUESTIONS = [f"logbook of Mara {word}" for word in WORDS]
NOON = datetime(2025, 10, 20, 12, tzinfo=UTC)


def tier(of: Memory) -> str | None:
    return {r.content: r.tier for r in ask(of, "logbook red box", NOON).results}.get(FACT)


def used_days(of: Memory) -> list[int]:
    """On how many days each passage the index knows to be used was of use, most first."""
    sql = "SELECT count(DISTINCT day) FROM used GROUP BY passage ORDER BY 1 DESC"
    with opened(of) as store:
        journal.read_new_lines(store, of.vault.root)
        return [row[0] for row in store.rows(sql)]


@pytest.fixture
def vault(tmp_path: Path) -> Memory:
    return memory(fill(tmp_path / "vault", NOTES))


def use(of: Memory, questions: Sequence[str], first: int = 5) -> None:
    """Ask questions as if one a day from that day of October on: what the journal would have noted then."""
    for number, question in enumerate(questions):
        answer = ask(of, question, NOON.replace(day=first + number))
        cited = [CitedPassage(result.source, result.key) for result in answer.results]
        journal.note_recall(of.vault.root, question, answer.request.now, cited)


def test_ten_questions_on_ten_days_make_a_core_fact(vault: Memory) -> None:
    assert tier(vault) == "working"
    use(vault, QUESTIONS[:9])
    assert tier(vault) == "working"
    use(vault, QUESTIONS[9:10], first=14)
    assert tier(vault) == "core"


def test_the_same_question_every_day_counts_once(vault: Memory) -> None:
    use(vault, [QUESTIONS[0]] * 11)
    assert tier(vault) == "working"
    assert used_days(vault)[0] == 1


@pytest.mark.parametrize(
    "options",
    [["logbook", "--explain"], ["logbook", "--no-journal"], ["logbook", "--now", "2019-01-01"], ["--batch", "-"]],
)
def test_what_explains_is_of_another_day_or_comes_in_a_batch_leaves_no_trace(vault: Memory, options: list[str]) -> None:
    said = call("--vault", str(vault.vault.root), "recall", *options, stdin=b'{"query": "logbook"}\n')
    assert said.code == 0 and ("logbook in the red box" in said.out or "--now" in options)
    for flags in ({"explain": True}, {"journal": False}, {"now": "2019-01-01"}):
        vault.recall("logbook", **flags)
    assert journal.files(vault.vault.root) == {}
    assert vault.recall("logbook").results
    assert len(journal.files(vault.vault.root)) == 1


def test_a_rebuild_replays_the_journal(vault: Memory) -> None:
    use(vault, QUESTIONS[:10])
    before = used_days(vault)
    digest = index_digest(vault)
    vault.index(rebuild=True)
    assert (used_days(vault), tier(vault), index_digest(vault)) == (before, "core", digest)
    assert len(set(vault.index_file.check())) == 1


def test_two_devices_are_one_memory(vault: Memory) -> None:
    use(vault, QUESTIONS[:10])
    folder = vault.vault.root / ".memory" / "journal"
    (mine,) = folder.iterdir()
    lines = mine.read_bytes().splitlines(keepends=True)
    mine.write_bytes(b"".join(lines[:4]))
    (folder / "other.jsonl").write_bytes(b"".join(lines[3:]))
    assert tier(vault) == "core"
    (folder / "other.jsonl").unlink()
    assert tier(vault) == "working"


def test_damaged_lines_are_passed_over(vault: Memory) -> None:
    use(vault, QUESTIONS[:5])
    (file,) = (vault.vault.root / ".memory" / "journal").iterdir()
    bad = [b"\xff\xfe\n", b"[]\n", b'{"event":"recall"}\n', b'{"event":"recall","day":"x","query":"y","texts":[]}\n',
           b'{"event":"recall","day":"2025-10-01","query":1,"texts":3}\n', b"[" * 5000 + b"\n"]  # fmt: skip
    other = [b"\n", b'{"event":"of a later version","what":"x"}\n']
    file.write_bytes(b"".join([*bad, *other]) + file.read_bytes() + b'{"event":"recall","day":"20')
    use(vault, QUESTIONS[5:10], first=10)  # the line cut off by a crash takes none with it
    assert tier(vault) == "core"


def test_a_journal_that_leads_out_is_none(vault: Memory, tmp_path: Path) -> None:
    use(vault, QUESTIONS[:10])
    folder = vault.vault.root / ".memory" / "journal"
    shutil.move(folder, tmp_path / "elsewhere")
    folder.mkdir()
    for file in (tmp_path / "elsewhere").iterdir():
        (folder / file.name).symlink_to(file)
    assert journal.files(vault.vault.root) == {}
    assert tier(vault) == "working"


events = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(1, 28), st.sampled_from("abc")), max_size=25
)


@pytest.fixture(scope="module")
def read_vault(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    of = memory(fill(tmp_path_factory.mktemp("vault"), NOTES))
    of.index()
    return of


@settings(max_examples=25)
@given(events, st.lists(st.integers(0, 25), max_size=4), st.booleans())
def test_reading_in_steps_equals_reading_at_once(
    read_vault: Memory, happened: list[tuple[int, int, int, str]], stops: list[int], cut: bool
) -> None:
    """Whatever was appended where, and wherever reading stopped between: the same counts as a replay from nothing."""
    of, folder = read_vault, read_vault.vault.root / ".memory" / "journal"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    with opened(of) as store:
        store.connection.execute("DELETE FROM used; DELETE FROM journal")
    for number, (passage, question, day, device) in enumerate(happened):
        line = {
            "event": "recall",
            "day": f"2025-10-{day:02}",
            "query": f"{question:016x}",
            "texts": [f"{passage:016x}"],
        }
        with open(folder / f"{device}.jsonl", "ab") as handle:
            handle.write(json.dumps(line).encode() + b"\n")
        if number in stops:
            with opened(of) as store:
                journal.read_new_lines(store, of.vault.root)
    if cut and happened:
        (folder / f"{happened[0][3]}.jsonl").unlink()
    rows = "SELECT * FROM used ORDER BY passage, question"
    with opened(of) as store:
        journal.read_new_lines(store, of.vault.root)
        stepwise = list(store.rows(rows))
        store.connection.execute("DELETE FROM used; DELETE FROM journal")
        journal.read_new_lines(store, of.vault.root)
        assert list(store.rows(rows)) == stepwise


# --- tombstones ------------------------------------------------------------------------------------------------------

KEY = journal.passage_key(FACT)


def standing(of: Memory) -> set[int]:
    with opened(of) as store:
        journal.read_new_lines(store, of.vault.root)
        return set(journal.forgotten(store))


def test_what_was_forgotten_is_known_by_its_hash_alone_until_it_is_taken_back(vault: Memory) -> None:
    vault.index()
    root, now = vault.vault.root, datetime(2025, 12, 1, 12, tzinfo=UTC)
    journal.note_tombstone(root, CitedPassage("memory/2025-10-01.md#L5", KEY), now)
    (file,) = journal.files(root).values()
    line = json.loads(file.read_text("ascii"))
    assert line == {
        "event": "tombstone", "day": line["day"], "at": "2025-12-01T12:00:00.000000+00:00",
        "text": f"{KEY & (1 << 64) - 1:016x}", "source": "memory/2025-10-01.md#L5",
    }  # fmt: skip
    assert standing(vault) == {KEY}
    with opened(vault) as store:
        assert journal.forgotten(store) == {KEY: date.fromisoformat(line["day"])}
    vault.index(rebuild=True)
    assert standing(vault) == {KEY}
    journal.note_restored(root, KEY, now + timedelta(seconds=1))
    assert standing(vault) == set()
    assert used_days(vault) == []
    vault.index(rebuild=True)
    assert standing(vault) == set()


def test_a_device_whose_clock_is_ahead_is_outdone_all_the_same(vault: Memory) -> None:
    vault.index()
    root, now = vault.vault.root, datetime.now(UTC)
    journal.note_tombstone(root, CitedPassage("x.md#L1", KEY), now + timedelta(days=400))
    standing(vault)
    with opened(vault) as store:
        known = journal.last_word(store, KEY)
    assert known
    journal.note_restored(root, KEY, journal.later(now, known.at))
    assert standing(vault) == set()
    assert journal.later(now, None) == journal.later(now, 0) == now


@pytest.mark.parametrize(
    "bad",
    [{"at": "2025-12-01T12:00:00"}, {"at": "soon"}, {"at": None}, {"at": "9999-12-31T23:59:59+00:00"}, {"text": "x"},
     {"text": 3}, {"day": "2025-13-01"}],
)  # fmt: skip
def test_a_damaged_tombstone_is_passed_over_and_counted(tmp_path: Path, bad: dict[str, object]) -> None:
    line = {"event": "tombstone", "day": "2025-12-01", "at": "2025-12-01T12:00:00+00:00", "text": "0" * 15 + "a"}
    file = tmp_path / "a.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in (line, {**line, **bad})), "ascii")
    read = list(journal.read(file))
    assert [row[0] for made, _ in read for row in made["tombstone"]] == [10]
    assert read[-1][-1][-1] == 1


@pytest.mark.parametrize("link", [".memory", ".memory/journal"])
def test_a_tombstone_that_cannot_be_left_is_said(tmp_path: Path, link: str) -> None:
    root, outside = fill(tmp_path / "vault", {"a.md": "x"}), tmp_path / "outside"
    outside.mkdir()
    (root / link).parent.mkdir(exist_ok=True)
    (root / link).symlink_to(outside)
    with pytest.raises(RefusedError):
        journal.note_tombstone(root, CitedPassage("a.md#L1", 1), datetime.now(UTC))
    journal.note_recall(root, "x", datetime.now(UTC), [CitedPassage("a.md#L1", 1)])
    assert list(outside.iterdir()) == []
