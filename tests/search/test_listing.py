"""A question with filters and no words lists what they let through, the newest first; tasks can be filtered."""

import json
from pathlib import Path
from typing import Any

import pytest
from sample import call
from vaults import fill, memory

NOTES = {
    "memory/2025-03-01.md": "- [ ] Call the plumber\n- [x] Pay the rent\n\n"
    "## Retain\n- O @Lea: Likes trains.\n- W @Lea: Has a cat.\n",
    "memory/2025-03-04.md": "# Tuesday\n\n* [ ] Water the fern #home\n\n## Retain\n- O @Lea: Likes Thai food.\n",
    "Projects/Boat.md": "---\ndate: 2025-02-01\n---\n1. [X] Buy tar\n2. [ ] Paint the hull\n"
    "- [-] Given up\n- [link](x)\n",
    "Lists/Some day.md": "- [ ] Learn to sail\n\n```\n- [ ] an example\n```\n",
}


def recalled(root: Path, *words: str) -> list[dict[str, Any]]:
    document: dict[str, list[dict[str, Any]]] = json.loads(call("--vault", str(root), "recall", *words, "--json").out)
    return document["results"]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ("--entity Lea --kind O", ["- O @Lea: Likes Thai food.", "- O @Lea: Likes trains."]),
        ("--entity Lea --since 2025-03-02", ["- O @Lea: Likes Thai food."]),
        (
            "--task open",
            ["* [ ] Water the fern #home", "- [ ] Call the plumber", "2. [ ] Paint the hull", "- [ ] Learn to sail"],
        ),
        ("--task open --tag home", ["* [ ] Water the fern #home"]),
        ("--task done", ["- [x] Pay the rent", "1. [X] Buy tar"]),
        ("--task open hull", ["2. [ ] Paint the hull"]),
    ],
)
def test_what_filters_let_through_is_listed_newest_first(tmp_path: Path, options: str, wanted: list[str]) -> None:
    found = [result["content"] for result in recalled(fill(tmp_path / "vault", NOTES), *options.split())]
    assert found[: len(wanted)] == wanted
    assert len(found) == len(wanted) or "hull" in options


def test_a_list_says_how_much_more_there_is_and_is_not_journalled(tmp_path: Path) -> None:
    notes = {f"memory/2024-{m:02}-{d:02}.md": f"- [ ] Task {m}.{d}\n" for m in range(1, 13) for d in range(1, 29)}
    vault = memory(fill(tmp_path / "vault", notes))
    answer = vault.recall("", task="open", k=10)
    assert [result.path for result in answer.results[:2]] == ["memory/2024-12-28.md", "memory/2024-12-27.md"]
    assert answer.omitted["over_k"] + answer.omitted["beyond_pool"] == 12 * 28 - 10
    assert not list((tmp_path / "vault" / ".memory" / "journal").glob("*"))


def test_nothing_asked_and_no_filter_is_an_error(tmp_path: Path) -> None:
    said = call("--vault", str(fill(tmp_path / "vault", NOTES)), "recall")
    assert said.code == 2
    assert "a filter to list by" in said.err


def test_what_is_only_proposed_is_not_quoted(tmp_path: Path) -> None:
    proposed = "Tick what is to be written.\n\n- [ ] W @Lea: Keeps bees in the orchard. ^p-1a2b3c4d\n"
    marked = f"<!-- memory:begin proposals -->\n{proposed}<!-- memory:end proposals sha=1a2b3c4d -->\n"
    proposals = f"# Proposals\n\n{marked}"
    root = fill(tmp_path / "vault", {"bank/proposals.md": proposals, "a.md": "- Lea sold honey of her bees.\n"})
    for more in ([], ["--all"], ["--budget", "900"]):
        assert [result["path"] for result in recalled(root, "Does Lea keep bees?", *more)] == ["a.md"]


def test_a_persons_own_words_on_the_page_of_proposals_are_quoted(tmp_path: Path) -> None:
    root = fill(tmp_path / "vault", {"bank/proposals.md": "# Proposals\n\nOffer the bank a credit of 5000.\n"})
    assert [result["content"] for result in recalled(root, "credit 5000")] == ["Offer the bank a credit of 5000."]


def test_what_the_templates_say_is_no_answer(tmp_path: Path) -> None:
    root = str(tmp_path / "vault")
    call("init", root)
    page = "---\naliases: []\n---\n# Work\n\nWork begins at nine.\n"
    fill(tmp_path / "vault", {"bank/entities/Work.md": page, "a.md": "---\naliases: [job]\n---\n%% work %%\n"})
    said = call("--vault", root, "recall", "when do I work, and what works?").out
    assert "Work begins at nine." in said and "aliases: []" not in said and "Example" not in said
    assert "%% work %%" in said and "Example" in call("--vault", root, "recall", "--all", "what works").out


def test_an_unknown_entity_lists_nothing_and_is_said_to_be_unknown(tmp_path: Path) -> None:
    notes = {"a.md": "Nobody has paid for the CRDT.\n", "b.md": "See [[Somebody]] on the CRDT.\n"}
    root = str(fill(tmp_path / "vault", notes))
    for words in ([], ["CRDT"]):
        got = call("--vault", root, "recall", *words, "--entity", "Nobody")
        assert got.out == "" and "no entity called Nobody.\n" in got.err and "filters" not in got.err
        assert "See [[Somebody]]" in call("--vault", root, "recall", *words, "--entity", "Somebody").out
