"""Follows what the best lines name (a ticket, a machine, a case number) to the fact that matters most about it.

Who asks why something happened uses the words of the trouble, and finds the guesses, which use them too; what settled
the matter has words of its own, and shares only the identifier with them.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from vault_memory.search.candidates import Finder
from vault_memory.search.decay import Life
from vault_memory.store.view import FACTS, Candidate
from vault_memory.text.terms import quoted

BEST_LINES, FIRST_LINES = 8, 3
"""What two of so many of the best lines name, and one of the first, is what the question is about."""

MOST_FACTS = 50
"""What more passages name than this is no thread but the subject of the vault."""

_IDENTIFIER = re.compile(r"(?<![\w-])(?=[\w.-]*\d)[^\W\d_]\w*(?:[-.]\w+)*")
"""A word that begins with a letter and holds a digit: `HO-212`, `tern-2`, `BN-2025-4471`."""


def leading_facts(
    best: Sequence[Candidate], finder: Finder, lives_of: Callable[[Mapping[int, Candidate]], Mapping[int, Life]]
) -> dict[Candidate, int]:
    """For what the best lines name, the fact that weighs more than they do, with the first of them that names it."""
    naming: dict[str, list[Candidate]] = defaultdict(list)
    for passage in best:
        for name in dict.fromkeys(map(str.casefold, _IDENTIFIER.findall(passage.text))):
            naming[name].append(passage)
    found: dict[Candidate, int] = {}
    for name, lines in naming.items():
        if len(lines) < 2 or lines[0] not in best[:FIRST_LINES]:
            continue
        ids = [i for i, _ in finder.search.lexical([quoted(name)], MOST_FACTS + 1)]
        passages = finder.search.passages(ids) if len(ids) <= MOST_FACTS else {}
        facts = {i: passage for i, passage in passages.items() if passage.kind in FACTS}
        lives = lives_of(facts | {line.id: line for line in lines})
        weights = {i: life.importance for i, life in lives.items()}
        most = max(facts, key=lambda i: (weights[i], -(lives[i].age_days or 0), i), default=None)
        others = [weights.get(line.id, 0.0) for line in lines if line.id != most]
        if most is not None and most != lines[0].id and weights[most] > max(others):
            found.setdefault(facts[most], lines[0].id)
    return found
