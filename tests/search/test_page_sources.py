"""What reflect wrote never stands beside the line that it cites."""

from datetime import UTC, datetime
from pathlib import Path

from asking import ask
from reflecting import reflect, rewrite, small_vault
from vaults import memory


def found(root: Path, query: str, k: int | None = None) -> dict[str, str]:
    answer = ask(memory(root), query, datetime(2025, 12, 10, 12, tzinfo=UTC), k=k, budget_tokens=None)
    return {result.content: result.source for result in answer.results}


def test_a_line_of_a_page_gives_way_to_the_line_that_it_cites(tmp_path: Path) -> None:
    reflect(small_vault(tmp_path))
    for query in ("the broken lamp of the lighthouse", "the harbour freezes in hard winters"):
        texts = found(tmp_path, query)
        assert any(source.startswith("memory/2025") for source in texts.values())
        assert not [text for text in texts if " — [[2025-" in text]


def test_it_stays_where_the_cited_line_says_something_else_by_now(tmp_path: Path) -> None:
    reflect(small_vault(tmp_path))
    rewrite(tmp_path, "memory/2025-11-05.md", "The harbour freezes in hard winters. ^frozen", "The harbour is open.")
    assert any("hard winters — [[2025-11-05#^frozen]]" in text for text in found(tmp_path, "harbour in hard winters"))


def test_it_stays_where_the_cited_line_is_too_weak_to_be_shown(tmp_path: Path) -> None:
    """The log knows him as Odd, and only the page knows that Oddvar is he."""
    reflect(small_vault(tmp_path))
    assert any("keeps bees now" in text for text in found(tmp_path, "Oddvar", k=8))
