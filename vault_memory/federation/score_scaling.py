"""Owns how scores of several roots are made comparable: by how much of the question each root knows. Pure.

A root scores against what it holds: where a word of the question stands nowhere in it, the others make up the whole
question, and lines full of common words would come before the one line of another root that has the rare word. So each
root's scores count by the share of the question's words that it knows at all, each word weighed by how rare it is in
all roots together, as one index of everything would weigh it. A root alone, or one that knows all words, keeps its own.
Scores may be negative: what is taken is a part of how far one lies above the worst that any root gave, so that nothing
rises by it.
"""

from collections import Counter
from collections.abc import Sequence

from vault_memory.search.answer import Answer
from vault_memory.search.candidates import note_frequency


def scaled(answers: Sequence[Answer]) -> list[Answer]:
    """The answers in the same order, with scores that may be compared."""
    shares = known_shares(answers)
    worst = min((0.0, *(r.score for answer in answers for r in answer.results)))
    return [
        answer if share == 1 else _nearer(worst, answer, share) for answer, share in zip(answers, shares, strict=True)
    ]


def _nearer(worst: float, answer: Answer, share: float) -> Answer:
    return answer._replace(results=[r._replace(score=worst + (r.score - worst) * share) for r in answer.results])


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
