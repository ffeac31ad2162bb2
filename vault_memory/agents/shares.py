"""Owns how scores of several roots are made comparable: by how much of the question each root knows. Pure.

A root scores against what it holds: where a word of the question stands nowhere in it, the others make up the whole
question, and lines full of common words would come before the one line of another root that has the rare word. So each
root's scores count by the share of the question's words that it knows at all, each word weighed by how rare it is in
all roots together, as one index of everything would weigh it. A root alone, or one that knows all words, keeps its own.
"""

from collections import Counter
from collections.abc import Sequence

from vault_memory.ranking.noterank import note_frequency
from vault_memory.retrieval.answer import Answer


def scaled(answers: Sequence[Answer]) -> list[Answer]:
    """The answers in the same order, with scores that may be compared."""
    shares = known_shares(answers)
    return [
        answer if share == 1 else answer._replace(results=[r._replace(score=r.score * share) for r in answer.results])
        for answer, share in zip(answers, shares, strict=True)
    ]


def known_shares(answers: Sequence[Answer]) -> list[float]:
    """For each root the share of the question's words that stand in it, by their rarity in all of them."""
    total = sum(answer.passages for answer in answers)
    holding: Counter[str] = Counter()
    for answer in answers:
        holding.update(answer.words)
    rarity = {word: note_frequency(total, count) for word, count in holding.items()}
    whole = sum(rarity.values())
    return [
        sum(r for word, r in rarity.items() if word in answer.words) / whole if whole else 1.0 for answer in answers
    ]
