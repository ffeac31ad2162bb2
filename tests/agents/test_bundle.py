"""What an agent is handed: the core, what the notes say to a prompt or told lately, in scope, in budget, as data."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from daemons import start_daemon
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sample import Said, call, make_sample, working_in
from test_prompt_sheet import lines
from vaults import fill, memory, opened, put, snapshot

from vault_memory.config import Config, load
from vault_memory.context.bundle import LONGEST_PROMPT, Bundle, ContextRequest, bundle
from vault_memory.errors import UsageError
from vault_memory.federation import Federation
from vault_memory.memory import Memory
from vault_memory.search.answer import Request
from vault_memory.store import journal
from vault_memory.text import agent_frame, tokens

NOW = datetime(2025, 12, 3, 12, tzinfo=UTC)
OPEN = ("global",)

NOTES = {
    "memory.md": "# Memory\n\n## Me\n\n- Coffee black.\n- Peter: prefers short replies.\n<!-- a remark -->\n",
    "memory/2025-11-27.md": "# Log\n\n- the pool was closed\n\n## Retain\n\n- W @Peter: The boat was moved to Lund.\n"
    "- O(c=0.9) @Peter: Prefers short replies.\n",
    "memory/2025-12-02.md": "# Log\n\n- the stove was lit\n- the stove went out\n\n## Retain\n\n"
    "- W @Anna: The stove needs birch.\n- W(scope=agent:moss) @Anna: The stove is secret.\n",
    "memory/2025-12-09.md": "## Retain\n\n- W @Anna: The stove comes later.\n",
    "Private.md": "---\nscope: project:tern\n---\n\nThe stove of Tern is blue.\n",
}


@pytest.fixture
def kept(tmp_path: Path) -> Memory:
    return memory(fill(tmp_path / "vault", NOTES))


def make(of: Memory, prompt: str = "", budget: int = 2000, **wanted: object) -> Bundle:
    return bundle(of, ContextRequest(prompt, budget, **{"now": NOW, **wanted}))  # type: ignore[arg-type]


def texts(found: Bundle) -> list[str]:
    """The lines of notes in a bundle in Markdown, without their numbers."""
    return [line.partition(" ")[2] for line in found.text.split("\n") if line.startswith("L")]


PROJECT = {
    "bank/entities/Tern.md": "# Tern\n\nA tile server for harbour charts.\n\n## Later\n\nLarger disks.\n",
    "memory/2025-03-02.md": "## Retain\n- W(i=1.0) @Tern: Releases go out on Tuesdays only.\n- W @Anna: Has a boat.\n"
    "- W(scope=project:tern): The launch code is 4711.\n- W @Tern: Peter works at Harbour Office.\n",
    "memory/2025-12-03.md": "The first birch.\n\nWith [[Tern]] all day.\n\n## Retain\n"
    "- W @Tern: The index moved.\n- W @Anna: Plays the cello.\n",
}  # fmt: skip


# --- what is in it ---------------------------------------------------------------------------------------------------


def test_the_core_comes_first_and_what_it_says_is_not_said_twice(kept: Memory) -> None:
    found = make(kept, "what does Peter prefer?")
    assert texts(found)[:4] == ["# Memory", "## Me", "- Coffee black.", "- Peter: prefers short replies."]
    assert found.core == ("memory.md",)
    assert found.text.count("short replies") == 1
    assert "a remark" not in found.text
    assert "- O(c=0.9) @Peter: Prefers short replies." in texts(make(kept, "what does Peter prefer?", core=False))


def test_what_stands_in_it_is_cited_as_the_files_hold_it(kept: Memory) -> None:
    found = make(kept, "stove", recent_days=30)
    assert len(found.shown) > 6
    for cited in found.shown:
        path, _, span = cited.source.partition("#")
        first, _, last = span.replace("L", "").partition("-")
        held = (kept.vault.root / path).read_text("utf-8").split("\n")[int(first) - 1 : int(last or first)]
        assert cited.key == journal.passage_key("\n".join(held)) or path == "memory.md"  # which has a comment
        assert all(line in found.text for line in held)


PAGES = {
    "bank/opinions.md": "# Opinions\n<!-- memory:begin opinions -->\n\n"
    "- **.85** Kites fly at noon — [[2025-11-27]] L14\n"
    "  - ▅▆▇ rising from .70, kites last on 27 November 2025\n<!-- memory:end opinions sha=1a2b cites=kites -->\n",
    "bank/proposals.md": "# Proposals\n<!-- memory:begin proposals -->\n- [ ] Kites are dangerous.\n"
    "<!-- memory:end proposals sha=1a2b -->\n",
    "memory/2025-11-27.md": "---\ntags: [kites]\nby: web\ndate: 2025-11-27\n---\n# Kites\n\n- Kites are for sale.\n\n"
    "%% kites: to be checked %%\n",
}


@pytest.mark.parametrize("source", ["notes", "all"])
def test_only_what_tells_something_is_handed_over_unasked(tmp_path: Path, source: str) -> None:
    """No marks of owned blocks, no charts, comments or properties of a file, and nothing that waits to be ticked."""
    mine = memory(fill(tmp_path, PAGES))
    found = make(mine, "what of the kites? rising, web, dangerous, opinions", core=False, recent_days=30, source=source)
    assert sorted(line.removesuffix(" (from the web)") for line in texts(found) if not line.startswith("#")) == [
        "- **.85** Kites fly at noon — [[2025-11-27]] L14", "- Kites are for sale.",
    ]  # fmt: skip
    (answer,) = mine.answers([Request("by web about kites", NOW, 50, None)], keep=False)
    said = "\n".join(result.content for result in answer.results)
    assert "tags: [kites]" in said and "rising" in said and "memory:" not in said


def test_without_a_prompt_it_tells_what_was_noted_lately_facts_first_newest_first(kept: Memory) -> None:
    found = make(kept, recent_days=7, core=False)
    assert [cited.source for cited in found.shown] == [
        "memory/2025-12-02.md#L8", "memory/2025-11-27.md#L8", "memory/2025-11-27.md#L7",
        "memory/2025-12-02.md#L4", "memory/2025-12-02.md#L3", "memory/2025-11-27.md#L3",
    ]  # fmt: skip
    assert "later" not in found.text
    assert make(kept, recent_days=2, core=False).shown[0].source == "memory/2025-12-02.md#L8"
    assert "2025-11-27" not in make(kept, recent_days=2, core=False).text


def test_a_superseded_fact_is_not_news(tmp_path: Path) -> None:
    of = memory(fill(tmp_path / "vault", {
        "memory/2025-11-28.md": "## Retain\n\n- W @Peter: Peter lives in Malmö.\n",
        "memory/2025-12-01.md": "## Retain\n\n- W @Peter: Peter now lives in Lund.\n",
    }))  # fmt: skip
    found = make(of, recent_days=7)
    assert "Lund" in found.text and "Malmö" not in found.text


def test_what_was_shown_is_left_out_and_the_next_best_comes(tmp_path: Path) -> None:
    note = "".join(f"- the stove burns log number {n} of birch\n" for n in range(60))
    of = memory(fill(tmp_path / "vault", {"Stove.md": note}))
    seen: frozenset[int] = frozenset()
    sizes = []
    for _ in range(5):
        found = make(of, "which birch burns in the stove?", 250, without=seen)
        keys = {cited.key for cited in found.shown}
        assert keys and not keys & seen
        sizes.append(len(keys))
        assert found.omitted.get("shown_before", 0) == len(seen)
        seen |= keys
    assert max(sizes) - min(sizes) <= 1


def test_further_prompts_are_each_asked_for_themselves_and_take_turns(tmp_path: Path) -> None:
    note = "".join(f"- the stove burns log number {n} of birch\n" for n in range(60))
    boat = "- the boat was moved to Lund\n"
    of = memory(fill(tmp_path / "vault", {"Stove.md": note, "Boat.md": boat, "Harbour.md": f"{boat}- its pier\n"}))
    stove, where = "which birch burns in the stove?", "where was the boat moved?"
    for prompt, also in ((stove, (where, "", stove)), (where, (stove,)), ("", (stove, where))):
        found = make(of, prompt, 250, also=also)
        assert found.text.count("moved to Lund") == 1 and found.text.count("log number") > 3
        assert tokens.count(found.text) <= found.tokens <= 250
    assert not make(of, "zebrafish quokka", also=("xyzzy",), unasked=True).is_relevant
    assert make(of, "zebrafish quokka", also=(where,), unasked=True).is_relevant


def summed_up(name: str, *lines: str) -> dict[str, str]:
    block = "\n".join(lines)
    text = f"# {name}\n\n<!-- memory:begin summary -->\n{block}\n<!-- memory:end summary sha=1a2b cites=a -->\n"
    return {f"bank/summaries/{name}.md": f"---\nperiod: {name}\n---\n{text}"}


SUMMED_UP = {
    **summed_up("2025-W48", "- Anna: The stove needs birch — [[2025-11-27]] L9", "- The pool was closed — [[2025]]"),
    **summed_up("2025-W47", "- An older week — [[2025-11-20]] L9"),
    **summed_up("2025-W50", "- A week to come — [[2025-12-10]] L9"),
    **summed_up("2025-11", "- The pool was closed — [[2025-11-27]] L3", "- Nets were mended — [[2025-11-03]] L3"),
    **summed_up("2025", "- A year — [[2025-11-03]] L3"),
    **summed_up("2025-11-x", "- A note of somebody's"),
}  # fmt: skip


def test_the_newest_week_and_month_that_are_summed_up_are_told_where_wanted(tmp_path: Path) -> None:
    kept = memory(fill(tmp_path / "vault", NOTES | SUMMED_UP))
    found = make(kept, "does the stove need birch?", recent_days=30, summaries=True)
    section = found.text.partition("\n# What was summed up lately\n")[2].partition("\n# What the")[0]
    assert (
        "L7 - Anna: The stove needs birch — [[2025-11-27]] L9" in section and "## bank/summaries/2025-W48.md" in section
    )
    assert "Nets were mended" in section and section.count("The pool was closed") == 1
    assert "- W @Anna: The stove needs birch." not in texts(found)  # the summary has said it
    for other in ("An older week", "A week to come", "A year", "A note of somebody's", "period:"):
        assert other not in section
    assert "summed up" not in make(kept, "stove", recent_days=30).text


def test_what_a_summary_cites_is_not_told_beside_it(tmp_path: Path) -> None:
    fact = "- W(t=2025-11-27) @Anna: The stove of the boat house needs birch, plenty of it, all through the winter.\n"
    told = "- Anna: The stove of the boat house needs birch, plenty of it … — [[2025-11-27]] L2"
    vault = fill(tmp_path / "vault", {"memory/2025-11-27.md": f"## Retain\n{fact}", **summed_up("2025-W48", told)})
    for prompt in ("does the stove need birch?", ""):
        found = make(memory(vault), prompt, recent_days=30, summaries=True)
        assert "plenty of it …" in found.text and "all through the winter" not in found.text
        assert found.omitted["near_duplicates"]


def test_a_project_is_told_its_own_best_and_no_other_days(tmp_path: Path) -> None:
    kept = memory(fill(tmp_path / "vault", NOTES | PROJECT))
    inside = {"recent_days": 2, "project": "project:tern", "scopes": ("global", "project:tern")}
    found = make(kept, **inside)
    brief = found.text.partition("# What the notes hold of this project\n")[2].partition("# What was noted lately")[0]
    assert (
        "L3 A tile server" in brief and "on Tuesdays only" in brief and "4711" in brief and "The index moved" in brief
    )
    assert "L3 With [[Tern]] all day." in found.text.partition("# What was noted lately\n")[2]
    for other in ("birch", "cello", "boat", "oak"):
        assert other not in found.text
    keys = frozenset(cited.key for cited in make(kept, budget=400, **inside).shown)
    assert "of this project" not in make(kept, **inside, without=keys).text
    assert "4711" not in make(kept, **inside | {"scopes": OPEN}).text
    after = make(kept, **inside, summaries=True).text  # as after a compaction: it may have been stored before it
    assert "cello" in after and "first birch" not in after
    assert "of this project" not in make(kept, "where does Peter work?", **inside).text
    assert "Core memory" in make(kept, **inside | {"project": "project:unknown"}).text
    small = make(kept, budget=300, core=False, **inside)
    assert small.tokens <= 300 and small.text.count("\n# What") == 2


def test_a_project_is_told_its_open_tasks_and_what_its_last_session_decided(tmp_path: Path) -> None:
    said = "sessions/claude-code/{}#m{}"
    older = f"## Retain\n- O(scope=project:tern) @Ann: Prefers tabs. — {said.format('first', 2)}\n"
    newer = f"## Retain\n- W(scope=project:tern): Releases get signed. — {said.format('second', 4)}\n"
    many = "".join(f"- W(i=1.0) @Tern: Rule {n} about buoy {n} of the harbour.\n" for n in range(60))
    notes = NOTES | {
        "Projects/Tern.md": "---\nscope: project:tern\n---\n- [ ] renew the certificate\n- [x] buy a domain\n",
        "bank/proposals.md": "# Proposals\n\n- [ ] O(scope=project:tern) @Tern: Wants a logo. ^p-1a2b3c4d\n",
        "memory/2025-11-01.md": older, "memory/2025-11-02.md": newer, "memory/2025-03-02.md": f"## Retain\n{many}",
    }  # fmt: skip
    kept = memory(fill(tmp_path / "vault", notes))
    inside = {"recent_days": 2, "project": "project:tern", "scopes": ("global", "project:tern")}
    brief = make(kept, budget=8000, **inside).text.partition("# What the notes hold of this project\n")[2]
    assert "renew the certificate" in brief and "Releases get signed" in brief and "Rule " in brief
    assert "Wants a logo" not in brief and "buy a domain" not in brief
    assert brief.index("get signed") < brief.index("renew") < brief.index("Prefers tabs")
    assert tokens.count(brief.partition("# What was noted lately")[0]) <= 400


def test_many_passages_leave_room_for_the_last_days(tmp_path: Path) -> None:
    stoves = "".join(f"- Stove number {n} of the castle burns oak.\n" for n in range(200))
    notes = {"memory/2025-12-02.md": "## Retain\n\n- W @Anna: The kiln needs birch.\n", "Stoves.md": stoves}
    found = make(memory(fill(tmp_path / "vault", notes)), "castle stove", 500, recent_days=2)
    lately = found.text.partition("# What was noted lately\n")[2]
    assert "- W @Anna: The kiln needs birch." in lately and "castle burns oak" in found.text


def test_more_notes_may_be_core(tmp_path: Path) -> None:
    root = fill(tmp_path / "vault", {
        **NOTES, "SOUL.md": "- I am Moss.\n", "people/USER.md": "---\nscope: agent:moss\n---\n- The user is Nora.\n",
        ".memory/config.toml": '[core]\nfiles = ["SOUL.md", "people/USER.md", "memory.md", "Gone.md"]\n',
    })  # fmt: skip
    of = Federation(load(str(root), {}, tmp_path))
    assert make(of).core == ("memory.md", "SOUL.md")
    found = make(of, scopes=("global", "agent:moss"))
    assert found.core == ("memory.md", "SOUL.md", "people/USER.md")
    assert texts(found)[-2:] == ["- I am Moss.", "- The user is Nora."]


@pytest.mark.parametrize(
    "name", ["../x.md", "/etc/x.md", "a//b.md", ".obsidian/x.md", "x.txt", "a\\b.md", "C:x.md", "./a.md", "a\0.md"]
)
def test_a_core_file_lies_inside_the_vault(tmp_path: Path, name: str) -> None:
    root = fill(tmp_path / "vault", {".memory/config.toml": f"[core]\nfiles = [{json.dumps(name)}]\n"})
    with pytest.raises(UsageError, match="inside the vault"):
        load(str(root), {}, tmp_path)


def test_a_core_file_behind_a_link_out_of_the_vault_is_refused_and_said(tmp_path: Path) -> None:
    root = fill(tmp_path / "vault", NOTES)
    put(tmp_path, "secret.md", "- the secret of the house\n")
    (root / "SOUL.md").symlink_to(tmp_path / "secret.md")
    found = make(memory(root, core_files=("SOUL.md",)), "secret of the house")
    assert "secret of the house" not in found.text
    assert any(what == "core" and "SOUL.md" in why for what, why in found.degraded)


def test_a_core_changed_since_the_index_is_told_as_it_is_now(kept: Memory) -> None:
    make(kept)
    put(kept.vault.root, "memory.md", "- Tea with milk.\n- (scope=agent:moss) hidden\n")
    found = bundle(kept, ContextRequest("", 400, now=NOW), patience=0)
    assert texts(found) == ["- Tea with milk."]
    assert found.seen and (found.seen.fresh, found.seen.pending) == (False, 1)
    assert tokens.count(found.text) <= found.tokens <= 400


# --- who may see it --------------------------------------------------------------------------------------------------


def test_a_private_core_stays_private(tmp_path: Path) -> None:
    of = memory(fill(tmp_path / "vault", {"memory.md": "---\nscope: agent:moss\n---\n- Coffee black.\n"}))
    assert make(of).text == "" and make(of, scopes=("agent:moss",)).core == ("memory.md",)
    put(of.vault.root, "memory.md", "---\nscope: agent:moss\n---\n# Shut\n- W(scope=global): Tea.\n- Coffee black.\n")
    found = make(of)  # a line that its own key opens is open here as in any other note
    assert (
        found.core == ("memory.md",) and "Tea" in found.text and "Coffee" not in found.text and "Shut" not in found.text
    )


# --- within the budget -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("examples", [6, pytest.param(60, marks=pytest.mark.slow)])
def test_no_budget_is_exceeded_whatever_the_notes_hold(tmp_path_factory: pytest.TempPathFactory, examples: int) -> None:
    @settings(max_examples=examples, suppress_health_check=[HealthCheck.too_slow])
    @given(
        notes=st.lists(st.lists(lines, max_size=14), min_size=1, max_size=4),
        core=st.lists(lines, max_size=20),
        budgets=st.lists(st.integers(20, 4000), min_size=3, max_size=3),
        prompt=st.sampled_from(
            ["Peter prefers concise", "", "江湖 égalité 12:45", "SelectedIndexChanged </vault-memory>"]
        ),
    )
    def within(notes: list[list[str]], core: list[str], budgets: list[int], prompt: str) -> None:
        held = {f"memory/2025-12-0{n}.md": "# Log\n" + "\n".join(told) for n, told in enumerate(notes, 1)}
        of = memory(fill(tmp_path_factory.mktemp("random"), {"memory.md": "\n".join(core), **held}))
        for budget in budgets:
            for form in ("markdown", "json", "xml"):
                found = make(of, prompt, budget, format=form, recent_days=7)
                assert tokens.count(found.text) <= found.tokens <= budget
                assert agent_frame.stripped(found.text).strip() == ""

    within()


@pytest.mark.parametrize("form", ["markdown", "json", "xml"])
def test_a_budget_too_small_gives_no_text_and_says_so(kept: Memory, form: str) -> None:
    found = make(kept, "stove", 20, format=form, recent_days=7)
    assert (found.text, found.tokens, found.shown, found.core) == ("", 0, (), ())
    assert any(what == "budget" and "20 tokens" in why for what, why in found.degraded)


def test_a_long_core_leaves_half_of_the_budget_to_the_prompt(tmp_path: Path) -> None:
    core = "".join(f"## Part {n}\n- The key number {n} hangs behind the door.\n" for n in range(90))
    of = memory(fill(tmp_path / "vault", {"memory.md": core, "Stove.md": "The stove burns birch.\n" * 3}))
    found = make(of, "what does the stove burn?", 600)
    assert "The stove burns birch." in texts(found)
    shown = [line for line in texts(found._replace(text=found.text.partition("# What")[0])) if "key number" in line]
    cut = 2 * len(shown) + 1
    assert 5 < len(shown) < 90 and f"({180 - cut + 1} more lines of this note left out: L{cut}-L180)" in found.text
    assert found.omitted["core_lines"] == 181 - cut
    everything = make(of, "what does the stove burn?", 8000)
    assert len([line for line in texts(everything) if "key number" in line]) == 90


def test_of_a_small_budget_the_answer_comes_before_the_core(tmp_path: Path) -> None:
    core = "# Me\n" + "".join(f"- Rule {n}: be brief about things of kind {n}.\n" for n in range(40))
    facts = "".join(f"- W @Stove: Wants birch of size {n}, dry and split by hand.\n" for n in range(8))
    small = memory(fill(tmp_path / "vault", {"memory.md": core, "a.md": f"## Retain\n{facts}"}))
    asked = make(small, "does the stove need birch?", budget=200)
    assert asked.core == () and asked.text.count("birch of size") >= 4
    assert "Rule 0" in make(small, "okapi", budget=200, unasked=True).text


@pytest.mark.parametrize("recent", [False, True])
def test_without_a_prompt_the_core_takes_what_nothing_else_needs(tmp_path: Path, recent: bool) -> None:
    core = "".join(f"- Rule {n} is to keep the kettle and the stove apart.\n" for n in range(40))
    lately = {"memory/2025-12-02.md": "## Retain\n- W: The stove was lit.\n"} if recent else {}
    found = make(memory(fill(tmp_path / "vault", {"memory.md": core, **lately})), budget=500, recent_days=7)
    assert tokens.count(found.text) <= found.tokens <= 500 and found.tokens > 440
    assert found.omitted["core_lines"] and ("The stove was lit" in found.text) == recent


def test_a_long_prompt_is_read_at_both_ends(kept: Memory) -> None:
    found = make(kept, "x " * LONGEST_PROMPT + "where was the boat moved?", core=False)
    assert "The boat was moved to Lund." in found.text


# --- what it does besides --------------------------------------------------------------------------------------------


def test_what_was_only_handed_over_counts_for_nothing(kept: Memory) -> None:
    before = snapshot(kept.vault.root)
    for _ in range(3):
        found = make(kept, "stove", now=None)
    kept.index()
    with opened(kept) as store:
        assert not store.one("SELECT 1 FROM used")
    written = "".join(file.read_text("utf-8") for file in journal.files(kept.vault.root).values())
    events = [json.loads(line) for line in written.splitlines()]
    assert [event["event"] for event in events] == ["shown"] * 3
    assert events[0]["passages"] == [cited.source for cited in found.shown]
    assert snapshot(kept.vault.root) == before


def test_without_patience_no_index_is_built(kept: Memory) -> None:
    why = (("index", "there is none yet: `memory index` builds it"),)
    found = bundle(kept, ContextRequest("stove", core=False), patience=0)
    assert (found.text, found.shown, found.seen, found.degraded) == ("", (), None, why)
    found = bundle(kept, ContextRequest("stove", recent_days=7, summaries=True), patience=0)
    assert (found.core, found.seen, found.degraded) == (("memory.md",), None, why)
    assert "Coffee black" in found.text and "stove" not in found.text
    put(kept.vault.root, "memory.md", "".join(f"- The key number {n} hangs behind the door.\n" for n in range(90)))
    alone = bundle(kept, ContextRequest(budget=500), patience=0)
    assert 7 < len(alone.shown) < 90 and alone.tokens > 430
    for asked in (
        ContextRequest("stove", 500),
        ContextRequest("", 500, also=("stove",)),
        ContextRequest("stove", 500, recent_days=7),
    ):
        assert bundle(kept, asked, patience=0).shown == alone.shown
    assert not kept.index_file.path.exists()
    assert bundle(kept, ContextRequest("stove")).text
    assert bundle(kept, ContextRequest("stove"), patience=0).text


def test_that_the_index_was_behind_is_said_where_something_came_out_of_it(kept: Memory) -> None:
    kept.index()
    asked, lately = ContextRequest("stove", now=NOW, core=False), ContextRequest("", now=NOW, core=False, recent_days=7)
    core, nothing = ContextRequest("", now=NOW), ContextRequest("okapi quokka", now=NOW, core=False, unasked=True)
    assert not any("may be missing" in bundle(kept, wanted, patience=0).text for wanted in (asked, lately, core))
    put(kept.vault.root, "new.md", "The stove has a new door.\n")
    for wanted in (asked, lately):
        found = bundle(kept, wanted, patience=0)
        assert found.text.endswith(f"\n\n(newer notes may be missing: the index is behind)\n{agent_frame.CLOSING}")
        assert tokens.count(found.text) <= found.tokens
    assert "Coffee" in bundle(kept, core, patience=0).text and "may be" not in bundle(kept, core, patience=0).text
    assert bundle(kept, nothing, patience=0).text == ""


# --- the command -----------------------------------------------------------------------------------------------------


def run(root: Path, *arguments: str) -> Said:
    with working_in(root):
        return call("context", "--vault", str(root), *arguments)


def test_the_command_prints_the_bundle_and_says_beside_it_what_was_left_out(kept: Memory) -> None:
    done = run(kept.vault.root, "what", "does", "Peter", "prefer?", "--budget", "150")
    assert done.code == 0, done.err
    assert agent_frame.stripped(done.out).strip() == "" and "Coffee black" in done.out
    assert "Left out: " in done.err and tokens.count(done.out) <= 150
    assert "secret" in run(kept.vault.root, "stove", "--agent", "moss").out
    assert "secret" not in run(kept.vault.root, "stove").out
    assert "Tern" in run(kept.vault.root, "stove", "--scope", "project:tern").out
    assert run(kept.vault.root, "stove", "--format", "html").code == 2


@pytest.mark.parametrize(
    ("form", "text"), [("json", {agent_frame.NAME: agent_frame.NOTE, "passages": []}), ("xml", None)]
)
def test_the_command_gives_json_even_of_nothing(tmp_path: Path, form: str, text: dict[str, object] | None) -> None:
    root = fill(tmp_path / "empty", {"a.md": ""})
    done = run(root, "okapi", "--format", form)
    assert done.code == 0, done.err
    assert (json.loads(done.out) if done.out else None) == text


def test_the_command_gives_a_document(kept: Memory) -> None:
    document = json.loads(run(kept.vault.root, "stove", "--json", "--format", "xml").out)
    assert document["schema"] == "vault-memory/context@1"
    assert document["has_footing"] is True
    assert document["text"].startswith(agent_frame.OPENING) and document["core"] == ["memory.md"]
    assert document["filters"] == {"scopes": ["global"], "source": "notes"}
    assert document["index"] == {"fresh": True, "pending": 0, "generation": 1, "notes": 4}, "one is out of scope"
    assert (document["budget"], document["format"], document["degraded"]) == (2000, "xml", [])
    assert tokens.count(document["text"]) <= document["tokens"] <= 2000
    small = json.loads(run(kept.vault.root, "stove", "--json", "--budget", "20").out)
    assert small["text"] == "" and small["degraded"][0]["what"] == "budget"


def test_a_daemon_gives_the_same_bundle(kept: Memory) -> None:
    kept.index()
    alone = json.loads(run(kept.vault.root, "stove", "--json").out)
    daemon = start_daemon(kept.vault.root)
    served = json.loads(run(kept.vault.root, "stove", "--json").out)
    assert {**served, "seconds": 0} == {**alone, "seconds": 0}
    keys = [shown["key"] for shown in alone["shown"]]
    less = daemon.ask("context", prompt="stove", without=keys, without_core=True, patience=0)
    assert not {shown["key"] for shown in less["shown"]} & set(keys)
    assert daemon.ask("context", prompt="stove", also=[f"stove {number}" for number in range(7)])["text"]
    wrong: list[dict[str, object]] = [
        {"without": ["x"]}, {"format": "html"}, {"recent_days": -1}, {"patience": True}, {"prompt": 1}, {"scopes": []},
        {"also": [f"stove {number}" for number in range(8)], "prompt": "stove"}, {"also": [1]},
    ]  # fmt: skip
    for params in wrong:
        with pytest.raises(UsageError):
            daemon.ask("context", **params)


# --- who asks --------------------------------------------------------------------------------------------------------


def test_what_came_from_outside_is_told_as_such_in_every_format(tmp_path: Path) -> None:
    page = "---\nby: web\ndate: 2025-11-27\n---\nThe stove burns birch only.\n"
    own = memory(fill(tmp_path / "v", {"web.md": page, "memory/2025-11-27.md": "- The stove is paid for.\n"}))
    marks = {"markdown": "birch only. (from the web)", "json": '"trusted": false', "xml": 'by="web" trusted="no"'}
    for form, mark in marks.items():
        for wanted in (ContextRequest("stove", format=form), ContextRequest(format=form, recent_days=9, now=NOW)):
            found = bundle(own, wanted)
            assert mark in found.text, found.text
            assert tokens.count(found.text) <= found.tokens <= wanted.budget


@pytest.mark.parametrize("form", ["markdown", "json", "xml"])
def test_a_line_of_the_core_from_outside_is_told_as_such(tmp_path: Path, form: str) -> None:
    core = "## Retain\n- W(by=web): The stove is safe.\n- W: The stove needs birch.\n"
    found = make(memory(fill(tmp_path / "vault", {"memory.md": core})), "", 400, format=form).text
    mark = {"markdown": "(from the web)", "json": '"trusted": false', "xml": 'trusted="no"'}[form]
    assert found.count(mark) == 1 and found.index("is safe") - 60 < found.index(mark) < found.index("needs birch")


def test_sessions_and_further_vaults_are_asked_where_they_are_wanted(tmp_path: Path) -> None:
    vault = fill(tmp_path / "v", {"a.md": "The heron is here.\n"})
    work = fill(tmp_path / "w", {"b.md": "The heron is there.\n"})
    own = Federation(Config(vault=vault, roots=((work, "project:work"),)))
    found = bundle(own, ContextRequest("heron", scopes=("global", "project:work")))
    assert "## a.md" in found.text and "## roots/w/b.md" in found.text
    assert "roots/w" not in bundle(own, ContextRequest("heron")).text
    assert "roots/w" in bundle(own, ContextRequest("heron", scopes=("global", "project:work")), patience=0).text
    assert "roots/w" not in bundle(own, ContextRequest("heron"), patience=0).text
    off = bundle(own, ContextRequest("heron", source="sessions"))
    assert off.text == "" and "sessions.tools" in dict(off.degraded)["source"]


@pytest.mark.parametrize("unasked", [False, True])
def test_words_of_the_prompt_that_no_note_has_are_named_above_the_passages(kept: Memory, unasked: bool) -> None:
    text = make(kept, "does Peter prefer short zeppelins?", core=False, unasked=unasked).text
    assert text.split("\n\n")[1] == "No note mentions “zeppelins”."
    assert "No note" not in make(kept, "does Peter prefer short replies?", core=False, unasked=unasked).text
    assert make(kept, "zeppelins", core=False, unasked=True).text == ""


def test_unasked_nothing_weak_is_handed_over(kept: Memory) -> None:
    def told(prompt: str, without: frozenset[int] = frozenset(), unasked: bool = True) -> Bundle:
        return make(kept, prompt, core=False, unasked=unasked, without=without)

    assert told("qwer zxcv", unasked=False).text and told("qwer zxcv").text == ""
    assert told("qwer zxcv").omitted["below_floor"] > 0
    once = told("what does Peter prefer?")
    assert "short replies" in once.text and len(texts(once)) < len(
        texts(told("what does Peter prefer?", unasked=False))
    )
    shown = frozenset(cited.key for cited in once.shown)
    again = told("what does Peter prefer?", shown)
    assert again.text == "" and again.omitted["below_floor"] >= once.omitted["below_floor"]


def test_a_question_in_other_words_brings_nothing_weaker_in_the_place_of_what_was_shown(tmp_path: Path) -> None:
    of = memory(make_sample(tmp_path / "sample"))

    def told(prompt: str, without: frozenset[int] = frozenset()) -> Bundle:
        return make(of, prompt, core=False, unasked=True, without=without)

    once = told("what did we decide about the floor boards at the castle?")
    assert "floor boards, larch" in once.text
    again = told("which wood do we take for the castle floor?", frozenset(cited.key for cited in once.shown))
    assert again.text == "" and again.is_relevant and again.omitted["shown_before"] > 0
