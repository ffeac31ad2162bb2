"""Ranks by the formulas common in other programs: the presets `weighted`, `classic` and `rrf`. Pure.

`tuned` (ranking.py) is the default and better on every measure; these stay selectable for comparison and are tested
against hand-computed values. None of them credits a passage with words of its neighbours (its
vector includes them anyway). Ties keep the order of the candidates.
"""

import math
from collections.abc import Mapping, Sequence

from vault_memory.search.candidates import Candidates
from vault_memory.search.decay import BETA, Life, half_life

VECTOR, WORDS = 0.7, 0.3
EXACT, EXACT_SHARE = 0.75, 0.92
"""A passage with at least this lexical score keeps at least this share of it, whatever its cosine."""

RRF_K = 60
"""Reciprocal rank fusion after Cormack, Clarke & Büttcher 2009."""

MIN_SCORE, HARD_MINIMUM, LEAST_RECENCY = 0.3, 0.35, 0.1
MMR_LAMBDA = 0.7
"""Maximal marginal relevance after Carbonell & Goldstein 1998."""

JUDGED, OWN = 0.6, 0.4
"""Weights of a second model's judgement (rerank.py) and of the score before it."""

ANCHOR_CHARS = 500
IMPORTANCE_BASE = 0.7

Steps = dict[int, dict[str, float]]
"""By passage, best first: each step of its score, ending in `score`."""


def score(found: Candidates, lives: Mapping[int, Life], judged: Mapping[int, float] | None = None) -> tuple[Steps, int]:
    """Return the steps of each score under the request's preset (not `tuned`), and how many a threshold dropped.

    `judged` is for `classic`: the scores of a second model.
    """
    preset, limit = found.query.request.preset, found.query.request.wanted
    if preset == "classic":
        return classic(found, lives, limit, judged)
    return (weighted(found, limit) if preset == "weighted" else rrf(found, limit)), 0


def weighted(found: Candidates, limit: int) -> Steps:
    """0.7·vector + 0.3·BM25, but at least 0.92·BM25 if BM25 is ≥ 0.75, so that an exact hit is not outvoted."""
    words, near = lanes(found, limit)
    steps: Steps = {}
    for i in found.passages:
        if i in words or i in near:
            vector, word = min(max(found.cosine.get(i, 0.0), 0.0), 1.0), words.get(i, 0.0)
            fused = max(VECTOR * vector + WORDS * word, EXACT_SHARE * word if word >= EXACT else 0.0)
            steps[i] = {"vector": vector, "words": word, "score": fused}
    return _best_first(steps)


def rrf(found: Candidates, limit: int) -> Steps:
    """The sum of 1/(60 + rank) over the two lanes."""
    both = lanes(found, limit)
    steps: Steps = {i: {} for i in found.passages if any(i in lane for lane in both)}
    for name, lane in zip(("lexical", "semantic"), both, strict=True):
        for place, passage_id in enumerate(lane, 1):
            steps[passage_id][name] = 1 / (RRF_K + place)
    return _best_first({i: {**step, "score": sum(step.values())} for i, step in steps.items()})


def classic(
    found: Candidates, lives: Mapping[int, Life], limit: int, judged: Mapping[int, float] | None = None
) -> tuple[Steps, int]:
    """The original pipeline: minimum → rerank → recency → importance → length → hard minimum → MMR → limit.

    `judged` contains a second model's scores, 0..1, for the best passages above MIN_SCORE; they count 0.6. What the two
    minima drop is counted, since it often includes hits by keywords alone.
    """
    steps = weighted(found, limit)
    for passage_id, step in steps.items():
        if step["score"] >= MIN_SCORE:
            life, model = lives.get(passage_id), (judged or {}).get(passage_id)
            if model is not None:
                step["rerank"] = model
                step["score"] = JUDGED * model + OWN * step["score"]
            tier = (life.tier if life else None) or "working"
            step["recency"] = 1.0
            if life and life.age_days:  # the original form, exp(-λ·d^β): one half at HL only for β = 1
                loss = math.log(2) / half_life(life.importance)
                step["recency"] = max(LEAST_RECENCY, math.exp(-loss * life.age_days ** BETA[tier]))
            step["importance"] = IMPORTANCE_BASE + (1 - IMPORTANCE_BASE) * (life.importance if life else 0.5)
            # 1 up to 500 characters, then falling with the logarithm.
            chars = len(found.passages[passage_id].text)
            step["length"] = 1 / (1 + 0.5 * math.log2(max(chars / ANCHOR_CHARS, 1.0)))
            step["score"] *= step["recency"] * step["importance"] * step["length"]
    good = {i for i, step in steps.items() if step["score"] >= (HARD_MINIMUM if "recency" in step else MIN_SCORE)}
    kept = {i: steps[i] for i in found.passages if i in good}
    scores = {i: step["score"] for i, step in _best_first(kept).items()}
    return {i: kept[i] for i in mmr(scores, found.stems, limit)}, len(steps) - len(kept)


# --- formulas --------------------------------------------------------------------------------------------------------


def lanes(found: Candidates, limit: int) -> tuple[dict[int, float], dict[int, float]]:
    """Return the best max(20, 2·limit) of each lane: BM25 relative to the best, and cosines, both 0..1."""
    words = _best({i: found.lexical[i] for i in found.passages if i in found.lexical}, limit)
    best = max(words.values(), default=0.0) or 1.0
    plain = {i: c for i, p in found.passages.items() if (c := found.cosine.get(i, 0.0)) > 0 and p.section >= 0}
    return {i: s / best for i, s in words.items()}, {i: min(c, 1.0) for i, c in _best(plain, limit).items()}


def mmr(scores: Mapping[int, float], stems: Mapping[int, Sequence[str]], limit: int) -> list[int]:
    """Choose `limit` ids greedily by λ·score - (1-λ)·(highest Jaccard similarity to one already chosen)."""
    left = {i: frozenset(stems.get(i, ())) for i in _best(scores, limit)}
    likest = dict.fromkeys(left, 0.0)
    chosen: list[int] = []
    while left and len(chosen) < limit:
        best = max(left, key=lambda i: MMR_LAMBDA * scores[i] - (1 - MMR_LAMBDA) * likest[i])
        chosen.append(best)
        taken = left.pop(best)
        for other, words in left.items():
            likest[other] = max(likest[other], len(taken & words) / (len(taken | words) or 1))
    return chosen


def _best(scores: Mapping[int, float], limit: int) -> dict[int, float]:
    return dict(sorted(scores.items(), key=lambda pair: -pair[1])[: max(20, 2 * limit)])


def _best_first(steps: Steps) -> Steps:
    return dict(sorted(steps.items(), key=lambda pair: -pair[1]["score"]))
