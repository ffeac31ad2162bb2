"""Questions as people ask them, over the sample vault; and what holds for any text as a question."""

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asking import ask_with
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sample import NOW, at_home, call, working_in
from vaults import fill, memory, put

from vault_memory.memory import Memory
from vault_memory.search.answer import Answer, Result
from vault_memory.search.recall_options import build
from vault_memory.text.tokens import count

ANY = ""
NOVEMBER_7, LAST_WEEK, YESTERDAY = ("2025-11-04", "2025-11-10"), ("2025-11-24", "2025-11-30"), ("2025-11-30",) * 2


@pytest.fixture(scope="module")
def vault(indexed_sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the sample for questions that change nothing in it, and the working directory."""
    root = tmp_path_factory.mktemp("questions") / "Notes"
    shutil.copytree(indexed_sample, root)
    with at_home(root.parent), working_in(root):
        yield root


@pytest.fixture(scope="module")
def sample(vault: Path) -> Memory:
    return memory(vault)


def ask(of: Memory, query: str, **options: object) -> Answer:
    return ask_with(of, query, now=NOW, **options)


def found_at(answer: Answer, where: str | tuple[str, ...], text: str) -> int | None:
    """The rank of the first result from that note (or from a daily log of those days) that holds the text."""
    for result in answer.results:
        if isinstance(where, tuple):
            right = result.path.startswith("memory/") and where[0] <= (result.date or "") <= where[1]
        else:
            right = where in (ANY, result.path)
        if right and text in result.content:
            return result.rank
    return None


QUESTIONS = [
    ("how do I write down an opinion?", "Guide/Vault format.md", ANY, 10),
    ("what happened around Nov 7", NOVEMBER_7, ANY, 1),
    ("last time we tried postgres", ANY, "Postgres", 1),
    ("tell me about The Castle", "bank/entities/The Castle.md", "My boat house", 3),
    # in plain words
    ("what does Peter prefer?", "memory/2025-11-27.md", "Prefers concise replies", 1),
    ("what has happened since last week", LAST_WEEK, ANY, 2),
    ("what did we do yesterday", YESTERDAY, ANY, 2),
    ("last time we tried a rollback", "memory/2025-11-19.md", "roll", 5),
    ("who is Ingrid Falk?", "bank/entities/Ingrid Falk.md", ANY, 2),
    ("SQLite or Postgres for the tile index?", ANY, "SQLite", 2),
    ("what did Peter think of long messages in October?", "memory/2025-10-10.md", "Likes to have the whole", 3),
    ("when does the last bus leave?", ANY, "22:10", 3),
    ("how late was the train to Hamburg?", "memory/2025-11-07.md", "146", 3),
    ("how much is Nora's hourly rate?", "bank/world.md", "950 kr an hour", 5),
    ("where is the spare key to Farah's flat?", "bank/world.md", "hook behind the stairs", 5),
    ("which food must Bosun not get?", "memory.md", "gets no fish", 5),
    ("what did the chimney sweep say?", "memory/2025-11-26.md", "sweep", 5),
    ("when was the first fire in the stove?", ANY, "irst fire", 2),
    ("which commit fixed HO-212?", ANY, "c07e5d8", 5),
    # to the letter
    ("BN-2025-4471", ANY, "BN-2025-4471", 1),
    ("ternctl warm --zoom 10-14", ANY, "ternctl warm", 1),
    ("page-cache", ANY, "page cache", 2),
    ('"Please never again"', ANY, "Please never again", 1),
    ('who said "If I have to scroll, I stop reading"?', ANY, "If I have to scroll", 1),
    ("ftruncate(9, 0)", ANY, "ftruncate(9, 0)", 1),
    ("TestPoolNotReusedBeforeFlush", "memory/2025-10-14.md", "TestPoolNotReusedBeforeFlush", 1),
    ("Malmö", ANY, "Malmö", 1),
    ("malmo", ANY, "Malmö", 1),
    ("where did I leave my book?", "memory/2025-11-07.md", ANY, 5),
]


@pytest.fixture(scope="module")
def answers(sample: Memory) -> dict[str, Answer]:
    """The answers to all of them by their question, from one opened index."""
    requests = [build({"query": query, "now": NOW, "k": k}, sample.config) for query, _, _, k in QUESTIONS]
    return {answer.request.query: answer for answer in sample.answers(requests, keep=False)}


@pytest.mark.parametrize(("query", "where", "text"), [row[:3] for row in QUESTIONS])
def test_the_line_is_among_the_first(
    answers: dict[str, Answer], query: str, where: str | tuple[str, ...], text: str
) -> None:
    answer = answers[query]
    assert found_at(answer, where, text), [(result.source, result.content[:90]) for result in answer.results]


@pytest.mark.parametrize(
    "query",
    [
        "what does Peter prefer?", "what did the roof cost?", "when was the fix deployed?", "who is Alice Smith?",
        "who reported the garbled tiles first?", "what happened on the train?", "what is on 12 December?",
        "where does Peter live?", "what did we decide about the tile index?", "when did we fix the tile bug?",
    ],
)  # fmt: skip
def test_the_guide_answers_no_question_that_the_logs_answer(sample: Memory, query: str) -> None:
    """Its examples ask some of these very questions, and what follows one there is no answer to it."""
    answer = ask(sample, query, k=5)
    guide = [result.rank for result in answer.results if result.path.startswith("Guide/")]
    assert [rank for rank in guide if rank < 3] == []


@pytest.mark.parametrize(
    ("fact", "query"),
    [
        ("The renderer is written in C++, the tests in C#.", "c++"),
        ("The renderer is written in C++, the tests in C#.", "what is written in C#?"),
        ("The pilots voted: 🦆 for the berth, 🚢 for the quay.", "🦆"),
        ("Owes Roland 99 €, payable at O'Brien's.", "O'Brien's"),
        ("Set PYTHONPATH=/opt/x:$HOME and run `make -j8`.", "PYTHONPATH=/opt/x:$HOME"),
        ("The router answers at fe80::1%eth0.", "fe80::1%eth0"),
    ],
)
def test_any_sign_is_found(indexed_sample: Path, tmp_path: Path, fact: str, query: str) -> None:
    shutil.copytree(indexed_sample, tmp_path / "Notes")
    with at_home(tmp_path), working_in(tmp_path / "Notes"):
        assert call("retain", fact, "--date", "2025-11-27").code == 0
        said = call("recall", "--k", "1", "--now", NOW, "--", query)
    assert (said.code, fact in said.out) == (0, True), said


# --- any text --------------------------------------------------------------------------------------------------------

KINDS = {"world", "experience", "opinion", "observation", "note", "session", "page"}
LANES = {"lexical", "semantic", "entity", "temporal"}


NEVER_CUT = 200
"""A line of so many characters is one passage."""


def check(document: dict[str, Any], vault: Path) -> None:
    """True citations, kinds and ranks, a budget that holds."""
    assert document["schema"] == "vault-memory/recall@1"
    assert set(document["lanes"]) == LANES
    assert all(isinstance(number, int) for number in document["omitted"].values())
    results = document["results"]
    assert [result["rank"] for result in results] == list(range(1, len(results) + 1))
    for result in results:
        assert result["kind"] in KINDS
        cited(result, vault)
        cost, is_whole = count(result["content"]), len(result["content"]) <= NEVER_CUT and not result["truncated"]
        assert cost == result["tokens"] if is_whole else cost <= result["tokens"]  # parts are counted apart
    assert document["tokens"] == sum(result["tokens"] for result in results)
    if document["budget"] is not None:
        assert document["tokens"] <= document["budget"]


def cited(result: dict[str, Any], vault: Path) -> None:
    """The content is the very text of the lines it names."""
    lines = re.split(r"\r\n|\n|\r", (vault / result["path"]).read_text("utf-8-sig", errors="replace"))
    text = "\n".join(lines[result["start_line"] - 1 : result["end_line"]])
    if result["truncated"]:
        assert all(part in text for part in result["content"].split(" … ") if part != "…")
    else:
        assert result["content"] == text
    end = f"-L{result['end_line']}" if result["end_line"] > result["start_line"] else ""
    assert result["source"] == f"{result['path']}#L{result['start_line']}{end}"


WORDS = ["tile", "Peter", "the roof", "The Castle", "last week", "2025-11-07", "HO-212", "c++", "京都", "🦆", "#tern"]
SYNTAX = ['"', "'", "*", "^", "(", ")", "NEAR(a b, 2)", "AND", "OR NOT", "text:", "-", "--", "{", "\\", "%", ";", "\0"]
QUERIES = (
    st.text(max_size=40)
    | st.lists(st.sampled_from(WORDS + SYNTAX), max_size=8).map(" ".join)
    | st.sampled_from(["\udcff", "a" * 5000, "why " * 500, "'; DROP TABLE note; --", "\n\t?", "\ufeffroof", "@[["])
).filter(str.strip)
MODES = st.sampled_from(["auto", "hybrid", "lexical", "semantic"])
CALM = settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])


@CALM
@given(query=QUERIES, mode=MODES, k=st.none() | st.integers(1, 9), budget=st.none() | st.integers(1, 400))
def test_any_text_is_a_question(vault: Path, query: str, mode: str, k: int | None, budget: int | None) -> None:
    bounds = [*(["--k", str(k)] if k else []), *(["--budget", str(budget)] if budget else [])]
    said = call("recall", "--json", "--no-journal", "--now", NOW, "--mode", mode, *bounds, "--", query)
    assert (said.code, said.err) == (0, "")
    document = json.loads(said.out)
    check(document, vault)
    assert len(document["results"]) <= (k or 10**6)


@CALM
@given(query=QUERIES, budget=st.integers(1, 300))
def test_what_is_printed_fits_the_budget(vault: Path, query: str, budget: int) -> None:
    said = call("recall", "--no-journal", "--now", NOW, "--budget", str(budget), "--", query)
    assert said.code == 0
    assert count(said.out.rstrip("\n")) <= budget


# --- filters ---------------------------------------------------------------------------------------------------------

SCOPED = """---
scope: agent:moss
---
# Plans of the agent ⟦agent:moss⟧

Garbled tiles and the roof of The Castle: nobody else is to know. ⟦agent:moss⟧

## Retain
- W(scope=project:tern) @Tern: The roof of the tile server is a secret. ⟦project:tern⟧
- O(c=7, scope=user:nora) @Peter: Malformed, and private all the same: the roof, the tiles. ⟦user:nora⟧
- B(scope=family) @[[The Castle]]: The roof and the stove are a surprise. ⟦custom:family⟧
  Not a word of the tiles to anybody. ⟦custom:family⟧
- S(scope=global) @Peter: Talks of roofs and tiles to anyone. ⟦global⟧
- W(scope=user:nora) @Peter: LONG ⟦user:nora⟧
""".replace("LONG", "The tiles of the roof lie under the stove, and nobody but Nora may count them. " * 12)
OPEN = """# Said on the roof ⟦global⟧

Tiles, roof, stove, The Castle: anybody may know this. ⟦global⟧

## Retain
- W @Tern: A roof of tiles, known to all. ⟦global⟧
- W(scope=agent:moss) @Tern: A roof of tiles, for one agent only. ⟦agent:moss⟧
"""
SCOPES = ["global", "agent:moss", "project:tern", "user:nora", "family"]
NAMES = {
    "Tern": ("tern", r"tiles?\W+servers?"),
    "Tomas Ek": ("tomas",),
    "the boathouse": ("castle", "boat house", "boathouse"),
}
ABOUT = ["roof tiles", "The Castle", "Peter", "what happened around Nov 7", "secret", "stove", "last week", "why?"]


@pytest.fixture(scope="module")
def scoped(indexed_sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    root = tmp_path_factory.mktemp("scoped") / "Notes"
    shutil.copytree(indexed_sample, root)
    put(root, "Agent plans.md", SCOPED)
    put(root, "Open.md", OPEN)
    with at_home(root.parent):
        of = memory(root)
        of.index()
        yield of


def scopes_of(result: Result) -> set[str]:
    """The scopes of the cited lines, wherever in them the passage was cut; a line without a mark has its note's."""
    if result.path == "memory/2025-11-26.md" and result.content.startswith("  - "):
        return {"project:tern"}  # what is listed below a session's line has its scope
    text, own = {"Agent plans.md": (SCOPED, "agent:moss"), "Open.md": (OPEN, "global")}.get(result.path, ("", ""))
    if not text:
        return set(re.findall(r"\(.*scope=([a-z]+:[a-z]+)", result.content)) or {"global"}
    lines = text.split("\n")[result.start_line - 1 : result.end_line]
    return set(re.findall("⟦(.*?)⟧", "\n".join(lines))) or {own}


@CALM
@given(query=st.sampled_from(ABOUT) | QUERIES, scopes=st.sets(st.sampled_from(SCOPES), min_size=1), mode=MODES)
def test_a_scope_never_leaks(scoped: Memory, query: str, scopes: set[str], mode: str) -> None:
    answer = ask(scoped, query, scope=sorted(scopes), mode=mode, k=200)
    allowed = {"custom:family" if scope == "family" else scope for scope in scopes}
    if query == "roof tiles":  # each scope finds its own
        assert all(any(f"⟦{scope}⟧" in result.content for result in answer.results) for scope in allowed)
    for result in answer.results:
        # The Guide shows two scoped facts in one code fence: as plain text it has the scope of the first.
        if not result.path.startswith("Guide/"):
            assert scopes_of(result) <= allowed, result


@CALM
@given(
    query=st.sampled_from(ABOUT),
    mode=MODES,
    since=st.none() | st.sampled_from(["2025-10-15", "2025-10", "50d"]),
    until=st.none() | st.sampled_from(["2025-11-10", "2025-10", "last week"]),
    kind=st.none() | st.sampled_from(sorted(KINDS)),
    entity=st.none() | st.sampled_from(sorted(NAMES)),
    tag=st.none() | st.sampled_from(["tern", "castle", "#health"]),
    as_of=st.none() | st.sampled_from(["2025-10-20", "2025-11"]),
)
def test_every_result_satisfies_the_filters(
    sample: Memory, query: str, mode: str, since: str | None, until: str | None, kind: str | None, entity: str | None,
    tag: str | None, as_of: str | None,
) -> None:  # fmt: skip
    options = {"since": since, "until": until, "kind": kind, "entity": entity, "tag": tag, "as-of": as_of}
    answer = ask(sample, query, mode=mode, k=50, **options)
    filters = answer.request.filters
    for result in answer.results:
        first, _, last = (result.occurred or result.date or "").partition("/")
        assert not filters.since or (last or first) >= filters.since.isoformat()
        assert not filters.until or "" < first <= filters.until.isoformat()
        assert not filters.as_of or (result.date or "") <= filters.as_of.isoformat()
        assert not kind or result.kind == kind
        text = (sample.vault.root / result.path).read_text("utf-8")
        if entity and not result.truncated:
            assert re.search("|".join(NAMES[entity]), f"{result.path} {result.content}", re.I)
        if tag:
            name = tag.lstrip("#")
            assert re.search(rf"#{name}\b|^tags:.*\b{name}\b", text, re.M)


# --- rare words ------------------------------------------------------------------------------------------------------


def rare_words(root: Path) -> list[str]:
    """Long words of the logs that stand in the vault once, also by their first five letters (so by their stem)."""
    texts = [file.read_text("utf-8") for file in root.rglob("*.md") if file.parent.name not in ("Archive", "Templates")]
    words = Counter(word for text in texts for word in re.findall(r"[a-z]{7,}", text.casefold()))
    starts = Counter(start for text in texts for start in re.findall(r"(?=([a-z]{5}))", text.casefold()))
    logs = "\n".join(file.read_text("utf-8") for file in (root / "memory").glob("*.md"))
    alone = (w for w, n in words.items() if n == 1 and starts[w[:5]] == 1 and not re.search("(?:ing|ed|er|ly|s)$", w))
    return sorted(word for word in alone if re.search(rf"\b{word}\b", logs))


@pytest.mark.parametrize("mode", ["auto", "lexical"])
def test_a_rare_word_puts_its_passage_first(sample: Memory, mode: str) -> None:
    words = rare_words(sample.vault.root)
    assert len(words) > 40
    requests = [build({"query": word, "now": NOW, "mode": mode, "k": 2}, sample.config) for word in words]
    answers = sample.answers(requests, keep=False)
    ranks = {word: found_at(answer, ANY, word) for word, answer in zip(words, answers, strict=True)}
    assert None not in ranks.values(), [word for word, rank in ranks.items() if rank is None]
    # A neighbour of the line may come before it, but seldom.
    assert sum(rank != 1 for rank in ranks.values()) <= len(words) / 40, {w: r for w, r in ranks.items() if r != 1}


def test_who_asks_for_more_gets_more_and_what_is_left_is_counted(tmp_path: Path) -> None:
    of = memory(fill(tmp_path, {f"log {n}.md": f"- boat number {n}\n" for n in range(400)}))
    of.index()
    assert len(ask(of, "boat", k=1000).results) == 400
    few = ask(of, "boat", k=10)
    assert few.omitted["beyond_pool"] > 100
    assert sum(few.omitted.values()) + len(few.results) == 400
    assert "beyond_pool" not in ask(of, "number 7", k=500).omitted
