"""What a new statement is to a known one: another matter, the same, or what takes its place."""

import pytest

from vault_memory.embedding.builtin_embedder import builtin
from vault_memory.write.comparison import CREATE, SKIP, SUPERSEDE, Comparer, KnownStatement


@pytest.mark.parametrize(
    ("known", "text", "decision"),
    [
        ("Lena's piano lesson is on Monday.", "Lena's swimming lesson is on Wednesday.", CREATE),
        ("The staging database is on port 5433.", "The staging cache is on port 6379.", CREATE),
        ("Releases of tern go out on Tuesdays only.", "The tern demo is always on the second Thursday.", CREATE),
        ("The north gate opens at 7:00.", "The south gate opens at 9:00.", CREATE),
        ("Lena's piano lesson is on Monday.", "Lena's piano lesson moved to Friday.", SUPERSEDE),
        ("The clinic closes at 17:00.", "The clinic now closes at 18:30.", SUPERSEDE),
        ("Die Kasse wird immer montags gezählt.", "Die Kasse wird immer freitags gezählt.", SUPERSEDE),
        ("My daughter is allergic to nuts.", "My son is allergic to nuts.", CREATE),
        ("We always test before a release.", "We never test before a release.", CREATE),
        ("The kitchen is closed in summer.", "The kitchen is open in summer.", CREATE),
        ("Tom likes strong coffee.", "Tom really likes strong coffee.", SKIP),
        ("Pia signs off on all text.", "Pia signs off on all texts.", SKIP),
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_batch", [True, False])
def test_a_statement_is_known_or_replaces_another_only_if_all_its_content_words_agree(
    known: str, text: str, decision: str, is_batch: bool
) -> None:
    comparer = Comparer([KnownStatement(known, "memory/2026-01-01.md#L1", is_batch=is_batch)], builtin())
    assert comparer.compare(text, "W", []).decision == decision
