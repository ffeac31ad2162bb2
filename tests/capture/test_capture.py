"""Capture from end to end: sessions and logs, the page of proposals, answers, undo."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import session_makers as make
from vaults import age, fill

from vault_memory.capture.job import A_DAY
from vault_memory.capture.judge import CaptureReport
from vault_memory.config import Config
from vault_memory.errors import UsageError, VaultMemoryError
from vault_memory.federation import Federation
from vault_memory.health.status import status
from vault_memory.reflect.run_log import CaptureEnd, RunLog
from vault_memory.rendering.capture import capture_document, capture_text, proposals_text

pytestmark = pytest.mark.usefixtures("no_editor")

SAMPLE = Path(__file__).parents[2] / "sample-vault"
PAGE = "bank/proposals.md"
KEY = "Please remember: the spare key hangs behind the door."
REVIEW = "Our code review takes place on Wednesdays."
EMOJI = "I prefer short commit messages without emoji."
SAID = [
    ("user", KEY),
    ("assistant", "Noted."),
    ("user", REVIEW),
    ("assistant", "I prefer tabs, always."),
    ("user", EMOJI),
]


@pytest.fixture
def memory(tmp_path: Path, tmp_data: Path) -> Federation:
    vault = fill(tmp_path / "Notes", {"memory.md": "# Memory\n"})
    make.claude(tmp_path / "claude", "s1", SAID)
    return Federation(Config(vault=vault, sessions_tools=("claude-code",), sessions_claude_code=tmp_path / "claude"))


def page(memory: Federation) -> str:
    return (memory.vault.root / PAGE).read_text()


def day_log(memory: Federation) -> str:
    """The note of the day on which everything was said."""
    return (memory.vault.root / "memory/2026-03-01.md").read_text()


def save(memory: Federation, text: str, path: str = PAGE) -> None:
    """Save a note as a person does, a minute ago."""
    fill(memory.vault.root, {path: text})
    age(memory.vault.root / path, 60)


def say(memory: Federation, session: str, *texts: str, **more: str) -> Path:
    """The transcript of a session in which a person says these texts."""
    assert memory.config.sessions_claude_code
    return make.claude(memory.config.sessions_claude_code, session, [("user", text) for text in texts], **more)


def answer(memory: Federation, edit: dict[str, str]) -> CaptureReport:
    """Change the page's lines as a person does, each named by words it holds; "" deletes it; then capture."""
    lines = page(memory).split("\n")
    for words, to in edit.items():
        (at,) = [at for at, line in enumerate(lines) if words in line]
        lines[at] = lines[at].replace("- [ ]", to) if to else ""
    save(memory, "\n".join(lines))
    return memory.capture()


def test_a_plain_request_is_written_in_its_words_and_the_rest_is_proposed(memory: Federation) -> None:
    done = memory.capture(now="2026-03-02")
    assert done.written == ["memory/2026-03-01.md#L9"]
    assert f"(scope=project:app-d6c220): {KEY} — sessions/claude-code/s1#m1" in day_log(memory)
    assert f"): {REVIEW} — sessions/claude-code/s1#m3 ^p-" in page(memory)
    assert f"- [ ] O: {EMOJI} — sessions/claude-code/s1#m5 ^p-" in page(memory)  # about the person: it holds everywhere
    assert "tabs" not in page(memory)  # the agent's own words
    assert [item.message for item in done.items] == ["s1-0", "s1-2", "s1-4"]


def test_a_second_run_finds_nothing_and_changes_nothing(memory: Federation) -> None:
    memory.capture()
    before = page(memory)
    done = memory.capture()
    assert (done.items, done.written, done.proposals, done.run) == ([], [], [], "")
    last = RunLog(memory.vault.root).last(CaptureEnd)  # which `memory status` shows
    assert last and (last.written, last.proposed, last.waiting) == (1, 2, 2)
    assert page(memory) == before


def test_a_dry_run_says_what_the_run_will_do_and_writes_nothing(memory: Federation) -> None:
    def seen() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in memory.vault.root.rglob("*.[mj]*") if path.is_file()}

    before = seen()
    would = capture_text(memory.capture(dry_run=True), explain=True)
    assert seen() == before
    did = capture_text(memory.capture(), explain=True).split("\n")
    for one, other in (("Would remember", "Remembered"), ("Would propose", "Proposed")):
        would = would.replace(one, other)
    assert would.split("\n")[:-1] == [line for line in did if not line.startswith(("Tick in", "`memory undo"))]
    assert f"Remembered:\n  {KEY}  (memory/2026-03-01.md#L9, project:app-d6c220)\nProposed:\n" in would
    assert "keep  - O: I prefer" in would and "preferences, 0." in would


def test_a_tick_writes_the_owners_words_and_keys(memory: Federation) -> None:
    memory.capture()
    text = (
        page(memory)
        .replace("Wednesdays.", "Wednesdays at ten.")
        .replace("- [ ] O: I", "- [x] O(c=0.9, scope=private) @Me: I")
    )
    save(memory, text)
    done = answer(memory, {"Wednesdays": "- [x]"})
    assert done.accepted == 2
    assert "code review takes place on Wednesdays at ten. — sessions/claude-code/s1#m3" in day_log(memory)
    assert f"- O(c=0.9, i=0.85, scope=custom:private) @Me: {EMOJI} — sessions/claude-code/s1#m5" in day_log(memory)
    assert "Nothing open." in page(memory)


def test_a_line_whose_head_was_deleted_is_something_of_the_world(memory: Federation) -> None:
    memory.capture()
    save(memory, re.sub(r"- \[ \] \w\([^)]*\): Our code", "- [x] Our code", page(memory)))
    memory.capture()
    assert f"- W: {REVIEW} — sessions" in day_log(memory)


@pytest.mark.parametrize("refusal", ["- [-]", ""])
def test_what_is_refused_never_comes_back(memory: Federation, refusal: str) -> None:
    memory.capture()
    done = answer(memory, {"Wednesdays": refusal})
    assert len(done.refused) == 1 and "Wednesdays" not in page(memory)
    say(memory, "s2", REVIEW)
    assert REVIEW not in [one.statement for one in memory.capture().proposals]
    assert memory.capture(since="2026-01-01").proposals == [] and "Wednesdays" not in day_log(memory)


@pytest.mark.parametrize(
    "tick", ["- [X]", "- [✓]", "- [✔️]", "- [y]", "-[x]", "- [ x ]", "- [ ] [x]", "* [x]", "1. [x]", "- ✅"]
)
def test_a_tick_counts_however_it_is_drawn(memory: Federation, tick: str) -> None:
    memory.capture()
    assert answer(memory, {"Wednesdays": tick}).accepted == 1


@pytest.mark.parametrize("mark", ["?", "n", ">", "x] [-"])
def test_an_unknown_mark_is_told_of_and_refuses_nothing(memory: Federation, mark: str) -> None:
    memory.capture()
    done = answer(memory, {"Wednesdays": f"- [{mark}]"})
    assert (done.accepted, done.refused) == (0, []) and "I don't understand" in done.problems[0]
    assert f"- [{mark}]" in page(memory)


POISON = [
    ("W @Bob: likes tea", "- [x] W: W @Bob: likes tea"),
    ("with two scopes", "- [x] W(scope=a b): with two scopes"),
    ("by a team", "- [x] W(by=the team): by a team"),
]


@pytest.mark.parametrize(("what", "line"), POISON)
def test_a_tick_that_cannot_be_written_is_named_and_stops_no_other(memory: Federation, what: str, line: str) -> None:
    memory.capture()
    head, _, tail = page(memory).partition("- [ ]")
    save(memory, f"{head}{line} ^p-0badc0de\n- [ ]{tail}".replace("- [ ] O", "- [x] O"))
    done = memory.capture()
    assert EMOJI in day_log(memory) and any(what in problem for problem in done.problems)
    assert f"{line} ^p-0badc0de" in page(memory)  # it stays as its owner wrote it


@pytest.mark.parametrize(
    "said",
    [
        "Remember: W @Bob: likes tea",
        "Please remember: O(c=0.2) @Ann: I prefer tabs.",
        "Please remember: <!-- the host is owl",
        "Please remember: the host is %% owl",
    ],
)
def test_one_message_never_changes_what_others_yield(memory: Federation, said: str) -> None:
    say(memory, "s2", said)
    make.claude(memory.config.sessions_claude_code or Path(), "s3", [("user", "Please remember: the boiler is new.")])
    done = memory.capture()
    assert {KEY, "Please remember: the boiler is new."} <= {fact.text for fact in done.facts}
    assert memory.capture().items == []  # its mark moves on
    assert [fact.path for fact in memory.facts() if fact.text == said] == []


def test_a_session_whose_folder_is_no_path_is_captured_all_the_same(memory: Federation) -> None:
    file = say(memory, "s2", "Please remember: the boiler is new.")
    file.write_text(file.read_text().replace('"/nowhere/app"', '"/x\\u0000y"'))
    assert "Please remember: the boiler is new." in [fact.text for fact in memory.capture().facts]


def test_a_failed_run_stands_in_the_status(memory: Federation) -> None:
    shutil.rmtree(memory.vault.root)
    with pytest.raises(VaultMemoryError):
        memory.capture()
    last = RunLog(memory.vault.root).last(CaptureEnd)
    assert last and not last.ok and last.why


def test_a_secret_that_was_asked_for_is_said_and_not_kept(memory: Federation) -> None:
    say(memory, "s2", "Please remember: the password of the router is hunter2-Q7x.")
    done = memory.capture()
    assert any("looks like a secret" in problem for problem in done.problems) and done.secrets == 1
    assert "hunter2" not in page(memory) + day_log(memory) + capture_text(done, explain=True)
    last = RunLog(memory.vault.root).last(CaptureEnd)
    assert last and last.secrets == 1
    branch = "Please remember: work on feature/JIRA-1234-tile-cache never goes to main."
    say(memory, "s3", branch)
    assert branch in [fact.text for fact in memory.capture().facts]


def test_what_an_editor_would_load_or_run_is_written_inert(memory: Federation) -> None:
    say(memory, "s2", "I prefer short answers, ![x](http://example.org/x.png), `= this` and <% tp %>.")
    memory.capture()
    assert "\\![x](" in page(memory) and "'= this`" in page(memory) and "&lt;%" in page(memory)


def test_copies_of_the_page_are_neither_obeyed_nor_found(memory: Federation) -> None:
    memory.capture()
    copy = page(memory).replace("- [ ]", "- [x]")
    save(memory, copy, "bank/proposals 2.md")
    assert memory.capture().accepted == 0
    found = memory.recall("code review on Wednesdays", k=20).results
    assert not {one.path for one in found} & {PAGE, "bank/proposals 2.md"}


def test_answers_from_the_command_line(memory: Federation) -> None:
    memory.capture()
    names = {one.statement: one.name for one in memory.proposals()}
    done = memory.capture(yes=[names[REVIEW]], no=[names[EMOJI]])
    assert done.accepted == 1 and REVIEW in day_log(memory) and memory.proposals() == []
    with pytest.raises(UsageError, match="No proposal `0badc0de`"):
        memory.capture(yes=["0badc0de"])


def test_one_command_answers_proposals_for_the_core_too(memory: Federation) -> None:
    fact = "## Retain\n- O(c=0.95, i=0.9) @Nora: Prefers dark themes.\n"
    fill(memory.vault.root, {"memory/2026-02-01.md": fact, "memory/2026-02-02.md": fact, "memory/2026-02-03.md": fact})
    memory.reflect(now="2026-03-02")
    (core,) = [one for one in memory.proposals() if one.text.startswith("add: ")]
    assert memory.capture(yes=[core.name]).accepted == 1
    assert "Prefers dark themes" in (memory.vault.root / "memory.md").read_text()
    assert core.name not in {one.name for one in memory.proposals()}


TOWNS = ("Bergen", "Ghent", "Turin", "Porto", "Cork", "Graz", "Lund", "Nantes", "Oviedo", "Bremen", "Tartu", "Zagreb")
FACTS = [f"Our office in {town} opens at {hour}." for hour, town in enumerate(TOWNS, 1)]


def test_the_best_are_proposed_and_the_others_held_and_listed(memory: Federation) -> None:
    of = Federation(replace(memory.config, capture_max_per_day=3))
    say(memory, "s2", *FACTS)
    done = of.capture()
    assert len(done.proposals) == 3 and done.held
    assert f"{len(done.held)} held back; `memory proposals --held` lists them." in page(of)
    held = of.proposals(held=True)
    assert {one.name for one in held} == {one.name for one in done.held}
    assert min(one.score for one in done.proposals) >= max(one.score for one in held)
    assert held[0].statement in proposals_text(held, held=True)
    assert of.capture().proposals == []  # the page is full for today
    assert len(of.capture(no=[one.name for one in of.proposals()]).proposals) == 3  # who answers gets the next
    of.capture(yes=[of.proposals(held=True)[0].name])


def test_few_proposals_come_from_logs_and_pages_are_for_written_names(memory: Federation) -> None:
    lease = "signed the lease for the {} office, 1,200 a month from 1 March"
    day = f"# Day\n\n- woke up late\n- {lease}\n- [[Bob Keller]] called @Ann\n- soup\n"
    fill(memory.vault.root, {f"memory/2026-02-0{at}.md": day.format(town) for at, town in enumerate(TOWNS[:7], 1)})
    done = memory.capture()
    of_logs = [one for one in done.proposals if one.source.startswith("memory/") and not one.is_page]
    assert 0 < len(of_logs) <= A_DAY["log"]
    assert sorted(one.statement for one in done.proposals if one.is_page) == [
        "Ann, named on several days", "Bob Keller, named on several days",
    ]  # fmt: skip
    answer(memory, {"page: Bob Keller": "- [x]"})
    assert (memory.vault.root / "bank/entities/Bob Keller.md").exists()


def test_undo_takes_a_capture_back_and_its_ticks(memory: Federation) -> None:
    memory.capture()
    answer(memory, {"Wednesdays": "- [x]"})
    assert REVIEW in day_log(memory)
    memory.undo()
    assert REVIEW not in day_log(memory) and f"- [ ] W(scope=project:app-d6c220): {REVIEW}" in page(memory)
    assert memory.capture().accepted == 0  # the tick went with it
    assert answer(memory, {"Wednesdays": "- [x]"}).accepted == 1


def test_what_takes_an_older_facts_place_is_shown_beside_it_and_says_so_when_ticked(memory: Federation) -> None:
    old = "# Day\n\n## Retain\n- W: We always release on Tuesdays.\n"
    fill(memory.vault.root, {"memory/2026-02-01.md": old})
    say(memory, "s2", "We always release on Thursdays.", folder="/nowhere/other")
    of = Federation(replace(memory.config, projects=(("/nowhere/other", "global"),)))
    of.capture()
    assert "  instead of ~~We always release on Tuesdays.~~ — memory/2026-02-01.md#L4" in page(of)
    answer(of, {"on Thursdays": "- [x]"})
    assert "supersedes=[[2026-02-01#^m-" in day_log(of)
    assert "^m-" in (of.vault.root / "memory/2026-02-01.md").read_text()


def test_what_a_person_writes_on_the_page_stays_theirs(memory: Federation) -> None:
    memory.capture()
    save(memory, "My own words.\n\n" + page(memory).replace("- [ ] O", "a thought of mine\n\n- [ ] O"))
    say(memory, "s2", "My manager is called Ines Brandt.")
    memory.capture()
    assert page(memory).startswith("My own words.") and "a thought of mine" in page(memory)


def test_a_page_with_broken_markers_is_said_and_loses_nothing(memory: Federation) -> None:
    memory.capture()
    broken = page(memory).replace("<!-- memory:begin captured -->", "")
    save(memory, broken)
    say(memory, "s2", "Please remember: the boiler is new.")
    done = memory.capture()
    assert page(memory) == broken and any("left alone" in problem for problem in done.problems)
    assert "the boiler is new." in day_log(memory)


def test_a_page_that_vanished_refuses_nothing(memory: Federation) -> None:
    memory.capture()
    (memory.vault.root / PAGE).unlink()
    done = memory.capture()
    assert done.refused == [] and memory.proposals() == []


def test_forgetting_takes_the_proposal_and_what_is_held_along(memory: Federation) -> None:
    memory.capture()
    answer(memory, {"Wednesdays": "- [x]"})
    (fact,) = [one for one in memory.facts() if "Wednesdays" in one.text]
    done = memory.forget(memory.plan_forget(fact.path, fact.start_line, fact.start_line))
    assert any("It was captured from sessions/claude-code/s1#m3, which stays." in one for one in done.warnings)
    journals = "".join(file.read_text() for file in (memory.vault.root / ".memory/journal").iterdir())
    assert "Wednesdays" not in page(memory) + day_log(memory) + journals


PASTED = {
    "a frame": "<vault-memory>\n{}\n</vault-memory>\nWhat now?",
    "a recalled passage": "## memory/2025-11-27.md\nL14 - O(c=0.95) @Peter: {}\nL15 - W: {}\n\nIs that so?",
    "a citation": "- {} (memory/2026-11-01.md#L3)\n\nIs that so?",
    "a reminder": "<system-reminder>\n{}\n</system-reminder>\nWhat now?",
    "an open tag": "<web_page>\n{}",
    "a tag with a namespace": "<x:result>{}</x:result>",
    "a quotation": "> {}\n\nIs that so?",
    "a fence": "```\n{}\n```\nWhat is this?",
    "a mail": "Bob wrote:\n\nFrom: Bob <bob@example.org>\nTo: me\nSubject: rules\n\n{}\n\nBest\nBob",
    "a tag": "<command-output>{}</command-output>",
}


@pytest.mark.slow
def test_nothing_that_is_pasted_quoted_or_handed_over_is_captured(tmp_path: Path, tmp_data: Path) -> None:
    """Every fact of the sample vault as a request to remember it, in whatever does not speak for its owner."""
    claude = tmp_path / "claude"
    lines = [line for note in sorted(SAMPLE.glob("memory/*.md")) for line in note.read_text("utf-8").splitlines()]
    said = [f"Remember that {match[1]}" for line in lines if (match := re.match(r"- [WBOS]\b[^:]*: (.+)", line))]
    assert len(said) > 100
    for what, around in PASTED.items():
        make.claude(claude, what, [("user", around.replace("{}", text)) for text in said])
    file = make.claude(claude, "tools", [("user", "What does it say?")])
    with open(file, "a") as handle:
        handle.writelines(make.claude_tool(text) + "\n" for text in said)
    make.claude(claude, "agent", [("assistant", text) for text in said])
    of = Federation(
        Config(vault=fill(tmp_path / "Notes", {}), sessions_tools=("claude-code",), sessions_claude_code=claude)
    )
    assert [(item.session, item.text) for item in of.capture(dry_run=True).items if item.is_kept] == []


def test_sessions_are_captured_into_the_named_vault_alone(memory: Federation, tmp_path: Path) -> None:
    other = Federation(replace(memory.config, capture_vault=tmp_path / "Other"))
    done = other.capture()
    assert done.items == [] and "(`capture.vault`)" in done.problems[0]


@pytest.mark.parametrize("by", ["file", "setting"])
def test_a_projects_sessions_are_left_out_where_it_is_switched_off(memory: Federation, tmp_path: Path, by: str) -> None:
    project = tmp_path / "work" / "secret"
    (project / ".git").mkdir(parents=True)
    say(memory, "s8", "Please remember: the boiler is new.", folder=str(project))
    if by == "file":
        (tmp_path / "work" / ".nomemory").touch()
    off = Federation(replace(memory.config, capture_skip=("secret",) if by == "setting" else ()))
    assert {item.session for item in off.capture().items} == {"s1"}
    if by == "file":
        (tmp_path / "work" / ".nomemory").unlink()
    assert memory.capture().items == []  # not what was said meanwhile


def test_it_is_off_where_the_settings_say_so(memory: Federation) -> None:
    with pytest.raises(UsageError, match="Capture is off"):
        Federation(replace(memory.config, capture_mode="off")).capture()


def test_the_classic_scores_are_an_extra_condition(memory: Federation) -> None:
    near = "## Retain\n- W: We decided to use Postgres for the search service.\n"
    fill(memory.vault.root, {"memory/2026-03-01.md": near})
    said = "We decided to use Postgres for the billing service."
    say(memory, "s1", said)
    for admission, why in (("off", ""), ("conservative", "admission")):
        of = Federation(replace(memory.config, capture_admission=admission))
        assert [(item.text, item.why) for item in of.capture(dry_run=True).items] == [(said, why)]


def test_status_tells_what_waits(memory: Federation) -> None:
    memory.capture()
    document = status(memory)
    assert document["capture"]["waiting"] == 2 and document["capture"]["ok"]


def test_the_json_document_has_every_candidate(memory: Federation) -> None:
    (first, *_) = json.loads(json.dumps(capture_document(memory.capture(dry_run=True))))["items"]
    assert first["text"] == KEY and first["decision"] == "create" and first["message"] == "s1-0"
    assert {"session", "kind", "category", "score", "source"} <= first.keys()


@pytest.mark.parametrize("day", ["2026-99-99", "2026-02-30"])
def test_a_tick_with_an_impossible_day_stops_nothing(memory: Federation, day: str) -> None:
    memory.capture()
    odd = f"- [x] W: Tea is in the box. — memory/{day}.md#L1 ^p-0badc0d1"
    lines = page(memory).split("\n")
    lines.insert(lines.index("<!-- memory:begin captured -->") + 1, odd)
    save(memory, "\n".join(lines).replace("- [ ] O", "- [x] O"))
    memory.retain("The tea is in the box by the door.")
    assert EMOJI in day_log(memory)


@pytest.mark.parametrize("opens", ["```", "%%"])
def test_a_block_behind_an_open_fence_is_said_and_loses_nothing(memory: Federation, opens: str) -> None:
    memory.capture()
    save(memory, page(memory).replace("# Proposals\n", f"# Proposals\n\n{opens}\n"))
    say(memory, "s2", "We never release on a Friday.")
    done = memory.capture()
    assert any("stands in code or in a comment" in problem for problem in done.problems)
    assert page(memory).count("memory:begin captured") == 1 and done.proposals == []
    save(memory, page(memory).replace(f"\n{opens}\n", ""))
    memory.capture()
    assert all(text in page(memory) for text in (EMOJI, REVIEW, "We never release on a Friday."))


def test_a_request_for_what_is_kept_already_is_not_written_again(memory: Federation) -> None:
    memory.retain("The spare key hangs behind the shed.", date="2026-03-01")
    say(memory, "s2", "Please remember that the spare key hangs behind the shed.")
    assert [item.why for item in memory.capture().items if item.session == "s2"] == ["known"]


def test_a_refusal_that_says_what_it_is_about_leaves_the_message_before(memory: Federation) -> None:
    say(memory, "s2", "My brother Tom is allergic to walnuts.", "Off the record: I'm getting divorced.")
    said = [(item.text, item.why) for item in memory.capture().items if item.session == "s2"]
    assert ("My brother Tom is allergic to walnuts.", "") in said


@pytest.mark.parametrize("mark", ["[x]", "[X]", "[x ]", "[ x]", "[✓]"])
def test_an_undo_leaves_no_tick_whatever_its_form(memory: Federation, mark: str) -> None:
    memory.capture()
    answer(memory, {EMOJI: f"- {mark}"})
    assert EMOJI in day_log(memory)
    memory.undo()
    memory.capture()
    assert f"- [ ] O: {EMOJI}" in page(memory) and EMOJI not in day_log(memory)


def test_a_ticked_line_without_words_is_no_fact(memory: Federation) -> None:
    memory.capture()
    before = day_log(memory)
    save(memory, page(memory).replace(f"- [ ] O: {EMOJI}", "- [x] O: "))
    assert any("is not one fact" in problem for problem in memory.capture().problems) and day_log(memory) == before
