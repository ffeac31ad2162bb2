"""A configured model on the pages of reflect: what stands there, what stays, and that a bad one changes no byte."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import pytest
from model_server import Model, ModelServer, model_server
from reflecting import block, rewrite, texts
from sample import call
from vaults import age, fill, memory

from vault_memory.markdown.fact_text import TRACEABLE, traced
from vault_memory.reflect.job import ReflectReport
from vault_memory.rendering.reflect import reflect_document, reflect_text

NOW = datetime(2026, 1, 10, 12, tzinfo=UTC)
METHOD = "ollama/llama3.2"
MARTA, JOREN = "bank/entities/Marta.md", "bank/entities/Joren.md"
MONTH = "bank/summaries/2025-11.md"

_DEEDS = (
    "Planted {n} rows of barley behind the mill and mended the wooden gate beside the orchard.",
    "Repaired the sluice of the mill pond together with two carpenters who came from Hallvik.",
    "Bought {n} sacks of rye at the market and carried them home across the frozen meadow.",
    "Taught the choir of the village a new song and arranged the evening programme for winter.",
    "Decided to sell the old tractor because the engine fails whenever the weather turns damp.",
)


def logs(days: int = 24) -> dict[str, str]:
    """Logs of November, two facts a day about two people; made by rule, so that pages are full."""
    found = {}
    for n in range(days):
        day = date(2025, 11, 2) + timedelta(days=n)
        one, other = (_DEEDS[(n + k) % len(_DEEDS)].format(n=n + 3) for k in (0, 2))
        found[f"memory/{day}.md"] = f"# {day}\n\n## Retain\n- W @Marta: {one}\n- B @Joren: {other} ^j{n}\n"
    return found


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server(Model("llama3.2")) as running:
        yield running


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return fill(tmp_path / "v", logs())


def reflect(root: Path, server: ModelServer | None, *, dry_run: bool = False, **more: Any) -> ReflectReport:
    """Run reflect, with the model of a server if one is given; the pages then look saved a while ago."""
    named: dict[str, Any] = {}
    if server:
        url = f"http://{server.host}"
        named = {"reflect_provider": "ollama", "reflect_model": "llama3.2", "reflect_url": url}
    done = memory(root, **(named | more)).reflect(now=NOW.isoformat(), dry_run=dry_run)
    for path in texts(root):
        age(root / path, 60)
    return done


def plain(tmp_path: Path) -> dict[str, bytes]:
    """The files of the same vault after a run without a model."""
    root = fill(tmp_path / "plain", logs())
    assert reflect(root, None).model is None
    return texts(root)


def retold(data: bytes, name: str = "facts") -> list[str]:
    """The sentences of a page's paragraph: the lines that are neither bullet nor heading, and cite something."""
    return [line for line in block(data, name) if re.match(r"[^-#*…\d].*? — \[\[", line)]


def asked(server: ModelServer) -> int:
    return server.asked("/api/chat")


def answer(*rows: tuple[str, list[int]]) -> Callable[[dict[str, Any]], str]:
    return lambda _: json.dumps({"sentences": [{"text": text, "facts": facts} for text, facts in rows]})


# --- what stands on the page -----------------------------------------------------------------------------------------


def test_a_paragraph_stands_behind_the_opening_line_and_says_who_wrote_it(root: Path, server: ModelServer) -> None:
    done = reflect(root, server)
    assert done.model is not None and done.model.method == METHOD
    assert (done.model.failed, done.model.why) == (0, "") and done.model.pages == asked(server) > 2
    for path, name in ((MARTA, "facts"), (MONTH, "summary")):
        page = (root / path).read_bytes()
        lines = block(page, name)
        sentences = retold(page, name)
        assert sentences, page
        at = lines.index(sentences[0])
        assert (lines[at - 1], " facts on " in lines[at - 2]) == ("", True)
        assert lines[at : at + len(sentences) + 1] == [*sentences, ""]
        assert f" by={METHOD} -->".encode() in page
    month = (root / MONTH).read_text("utf-8")
    assert month.count(f"\nwritten: {METHOD}\n") == 1 and "extractive" not in month


def test_every_citation_leads_to_a_line_in_which_the_sentence_is_found_again(root: Path, server: ModelServer) -> None:
    server.trouble.reply = one_of_two
    reflect(root, server)
    seen = 0
    for path in (MARTA, JOREN, MONTH):
        for sentence in retold((root / path).read_bytes(), "summary" if path == MONTH else "facts"):
            text, _, cited = sentence.partition(" — ")
            found = list(cited_lines(root, cited))
            seen += len(found)
            assert found and all(traced(text, line, len(found)) >= TRACEABLE for line in found)
    assert seen >= 6


def one_of_two(body: dict[str, Any]) -> str:
    """Sentences of one fact each that cite another one too, which says something else."""
    facts = json.loads(body["messages"][-1]["content"])["facts"]
    both = islice(pairwise(facts), 2)
    rows = [{"text": one["text"].partition(": ")[2], "facts": [one["n"], other["n"]]} for one, other in both]
    return json.dumps({"sentences": rows})


def cited_lines(root: Path, cited: str) -> Iterator[str]:
    """The text of the lines that a citation names."""
    for name, anchor, numbers in re.findall(r"\[\[([^\]#]+)(?:#\^(\w+))?\]\]((?: L\d+)?(?:, L\d+)*)", cited):
        lines = (root / f"memory/{name}.md").read_text("utf-8").splitlines()
        if anchor:
            yield from (line for line in lines if line.endswith(f"^{anchor}"))
        yield from (lines[int(number) - 1] for number in re.findall(r"\d+", numbers))


# --- what a fact means for an opinion --------------------------------------------------------------------------------


def test_a_model_says_once_what_a_related_fact_means_for_an_opinion(tmp_path: Path, server: ModelServer) -> None:
    root = fill(tmp_path / "v", {
        "memory/2025-11-03.md": "## Retain\n- O(c=0.6) @Anna: Mag das neue Büro.\n",
        "memory/2025-11-09.md": "## Retain\n- B @Anna: Hasst das neue Büro.\n",
    })  # fmt: skip
    pairs: list[dict[str, str]] = []

    def contradicts(body: dict[str, Any]) -> str:
        pairs.append(json.loads(body["messages"][-1]["content"]))
        return json.dumps({"relation": "contradicts", "quote": "Hasst das neue Büro"})

    server.trouble.reply = contradicts
    reflect(root, server, dry_run=True)
    assert pairs == []
    reflect(root, server)
    assert pairs == [{"opinion": "Mag das neue Büro.", "fact": "Hasst das neue Büro."}]
    against = (root / "bank/opinions.md").read_text("utf-8").partition("against")[2]
    assert "Hasst das neue Büro" in against
    assert reflect(root, server).edits == () and len(pairs) == 1


# --- what stays ------------------------------------------------------------------------------------------------------


def test_a_new_index_a_hand_edit_and_a_moved_line_cost_no_new_text(root: Path, server: ModelServer) -> None:
    reflect(root, server)
    sentences, before = retold((root / MARTA).read_bytes()), asked(server)
    assert call("--vault", str(root), "index", "--rebuild").code == 0
    rewrite(root, MARTA, "…and ", "A line of my own.\n\n…and ")
    for path in logs():
        rewrite(root, path, "## Retain", "A word more.\n\n## Retain")
    server.trouble.reply = answer(("Marta repaired the sluice of the mill pond together with two carpenters.", [1]))
    done = reflect(root, server)
    assert (asked(server), [one.path for one in done.edits]) == (before, [MARTA])
    page = (root / MARTA).read_bytes()
    assert b"A line of my own." in page
    strip = lambda lines: [re.sub(r"L\d+", "L", line) for line in lines]  # noqa: E731
    assert strip(retold(page)) == strip(sentences) and retold(page) != sentences
    for sentence in retold(page):
        text, _, cited = sentence.partition(" — ")
        assert all(traced(text, line) >= TRACEABLE for line in cited_lines(root, cited))
    assert reflect(root, server).edits == ()


def test_a_sentence_that_was_deleted_stays_away_and_its_facts_stay(root: Path, server: ModelServer) -> None:
    reflect(root, server)
    page = (root / MARTA).read_text("utf-8")
    first, *rest = retold(page.encode())
    bullets = [line for line in block(page.encode()) if line.startswith("- ")]
    rewrite(root, MARTA, f"{first}\n", "")
    fill(root, {"memory/2026-01-08.md": "## Retain\n- W @Joren: Sold the barley to a brewer from Hallvik.\n"})
    reflect(root, server)
    after = (root / MARTA).read_bytes()
    assert retold(after) == rest
    assert [line for line in block(after) if line.startswith("- ")] == bullets
    shutil.rmtree(root / ".memory/history")
    fill(root, {"memory/2026-01-09.md": "## Retain\n- W @Marta: Sold the barley to a brewer from Hallvik.\n"})
    reflect(root, server)
    assert first not in block((root / MARTA).read_bytes())


def test_without_the_model_the_pages_become_those_without_it_and_back(
    root: Path, server: ModelServer, tmp_path: Path
) -> None:
    reflect(root, server)
    with_model = texts(root)
    reflect(root, None)
    assert texts(root) == plain(tmp_path)
    reflect(root, server)
    assert texts(root) == with_model


# --- a bad model -----------------------------------------------------------------------------------------------------

BAD: dict[str, Callable[[dict[str, Any]], str]] = {
    "nonsense": lambda _: "Sure! I would be glad to help with that.",
    "a comment mark": answer(("Marta repaired <!-- memory:end facts --> the sluice of the mill pond.", [1, 2, 3])),
}  # fmt: skip


@pytest.mark.parametrize("reply", BAD.values(), ids=BAD)
def test_a_babbling_model_changes_no_byte(
    root: Path, server: ModelServer, tmp_path: Path, reply: Callable[[dict[str, Any]], str]
) -> None:
    server.trouble.reply = reply
    check_failed(reflect(root, server))
    assert texts(root) == plain(tmp_path)


def check_failed(done: ReflectReport) -> None:
    """The run went as without a model and says what was wrong with it."""
    assert done.exit_code == 0 and done.edits
    assert done.model is not None and done.model.pages == 0 and done.model.failed > 2 and done.model.why
    document = reflect_document(done)["model"]
    assert document == {"method": METHOD, "pages": 0, "failed": done.model.failed, "why": done.model.why}
    said = reflect_text(done)
    assert f"! {METHOD} failed on {done.model.failed} pages: " in said and "tries again" in said


def test_a_model_that_fails_once_costs_one_page_and_is_asked_again_in_the_next_run(
    root: Path, server: ModelServer
) -> None:
    server.trouble.busy_times, server.trouble.busy_status = 1, 418
    first = reflect(root, server)
    assert first.model is not None and first.model.failed == 1 and first.model.pages > 2
    before = asked(server)
    second = reflect(root, server)
    assert second.model is not None and (second.model.failed, second.model.pages) == (0, 1)
    assert (asked(server), len(second.edits)) == (before + 1, 1)
    assert reflect(root, server).edits == ()


def test_pages_that_came_to_nothing_are_asked_for_again_only_when_their_facts_change(
    root: Path, server: ModelServer
) -> None:
    server.trouble.reply = lambda _: "Sure! I would be glad to help with that."
    reflect(root, server)
    tried = asked(server)
    reflect(root, server)
    assert asked(server) == tried > 0
    server.trouble.reply = None
    fill(root, {"memory/2026-01-08.md": "## Retain\n- W @Marta: Sold the barley to a brewer from Hallvik.\n"})
    done = reflect(root, server)
    assert done.model is not None and done.model.pages > 0


# --- a dry run -------------------------------------------------------------------------------------------------------


def test_a_dry_run_does_not_ask_and_says_so(root: Path, server: ModelServer) -> None:
    done = reflect(root, server, dry_run=True)
    assert asked(server) == 0 and done.edits
    assert f"{METHOD} is not asked in a dry run" in reflect_text(done)
    assert "not asked" in reflect_document(done)["model"]["why"]
    assert METHOD.encode() not in b"".join(one.after for one in done.edits)
