"""Owns the other ways to rank: `weighted`, `classic` and `rrf`, as other programs do it. Pure.

`tuned` (rank.py) is the default and better at every measured point; these stay selectable to compare with, and are
held to hand-computed values. DESIGN.md §7 and §8. None of them spreads words to the lines around a passage (its vector
is made with them). What scores alike keeps the order of the candidates.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from vault_memory.search.decay import BETA, Life, classic_recency
from vault_memory.store.candidate import Evidence

VECTOR, WORDS = 0.7, 0.3
EXACT, EXACT_SHARE = 0.75, 0.92
"""A passage that words find this surely keeps this share of their score, whatever its meaning says."""

RRF_K = 60
"""Reciprocal rank fusion after Cormack, Clarke & Büttcher 2009."""

MIN_SCORE, HARD_MINIMUM = 0.3, 0.35
MMR_LAMBDA = 0.7
"""Maximal marginal relevance after Carbonell & Goldstein 1998."""

JUDGED, OWN = 0.6, 0.4
"""How much the judgement of a second model (rerank.py) and the score before it count."""

ANCHOR_CHARS = 500
IMPORTANCE_BASE = 0.7


class Ranked(NamedTuple):
    """Passage ids with their scores, best first; the steps that made each score; how many a threshold dropped."""

    scores: Mapping[int, float]
    steps: Mapping[int, Mapping[str, float]]
    below_threshold: int = 0


def pool_size(limit: int) -> int:
    """How many candidates each lane may bring: max(20, 2·limit)."""
    return max(20, 2 * limit)


def rank(
    preset: str, found: Evidence, lives: Mapping[int, Life], limit: int, judged: Mapping[int, float] | None = None
) -> Ranked:
    """Rank by the preset of that name; raises KeyError for `tuned`, which is rank.py's. `judged` is for `classic`."""
    if preset == "classic":
        return classic(found, lives, limit, judged)
    return {"weighted": weighted, "rrf": rrf}[preset](found, lives, limit)


# --- lanes -----------------------------------------------------------------------------------------------------------


def lanes(found: Evidence, limit: int) -> tuple[dict[int, float], dict[int, float]]:
    """The best of both lanes: BM25 over the best one's and cosines, both 0..1; what neither holds is no candidate."""
    size = pool_size(limit)
    words = _best({i: found.lexical[i] for i in found.passages if i in found.lexical}, size)
    best = max(words.values(), default=0.0) or 1.0
    plain = {i: c for i, p in found.passages.items() if (c := found.cosine.get(i, 0.0)) > 0 and not p.is_heading}
    return {i: s / best for i, s in words.items()}, {i: min(c, 1.0) for i, c in _best(plain, size).items()}


def _best(scores: Mapping[int, float], size: int) -> dict[int, float]:
    return dict(sorted(scores.items(), key=lambda pair: -pair[1])[:size])


def fused(vector: float, words: float) -> float:
    """0.7·vector + 0.3·words, at least 0.92·words where words ≥ 0.75: an exact hit is not outvoted."""
    score = VECTOR * vector + WORDS * words
    return max(score, EXACT_SHARE * words) if words >= EXACT else score


# --- presets ---------------------------------------------------------------------------------------------------------


def weighted(found: Evidence, lives: Mapping[int, Life], limit: int) -> Ranked:
    """0.7·vector + 0.3·BM25 with the exact-match floor; age plays no part."""
    words, _ = lanes(found, limit)
    steps = {i: _fused_step(found, words, i) for i in _candidates(found, limit)}
    return _ordered(steps)


def rrf(found: Evidence, lives: Mapping[int, Life], limit: int) -> Ranked:
    """The sum of 1/(60 + rank) over the two lanes; age plays no part."""
    steps: dict[int, dict[str, float]] = {i: {} for i in _candidates(found, limit)}
    for name, lane in zip(("lexical", "semantic"), lanes(found, limit), strict=True):
        for place, passage_id in enumerate(lane, 1):
            steps[passage_id][name] = 1 / (RRF_K + place)
    return _ordered({i: {**step, "score": sum(step.values())} for i, step in steps.items()})


def classic(
    found: Evidence, lives: Mapping[int, Life], limit: int, reranked: Mapping[int, float] | None = None
) -> Ranked:
    """The original pipeline: minimum → rerank → recency → importance → length → hard minimum → MMR → limit.

    `reranked` holds scores 0..1 of a second model for those it judged, the best of `judgeable`; they count 0.6. What
    the two minima drop is counted, since a hit by keywords alone is often among it.
    """
    words, _ = lanes(found, limit)
    steps: dict[int, dict[str, float]] = {}
    dropped = 0
    for passage_id in _candidates(found, limit):
        step = _fused_step(found, words, passage_id)
        if step["score"] >= MIN_SCORE:
            _aged(step, lives.get(passage_id), len(found.passages[passage_id].text), (reranked or {}).get(passage_id))
        if step["score"] < (HARD_MINIMUM if "recency" in step else MIN_SCORE):
            dropped += 1
        else:
            steps[passage_id] = step
    ordered = _ordered(steps)
    chosen = mmr(ordered.scores, found.stems, limit)
    return Ranked({i: ordered.scores[i] for i in chosen}, ordered.steps, dropped)


def judgeable(found: Evidence, limit: int) -> list[int]:
    """Those that reach the second model in `classic`: what the first minimum leaves, best first."""
    words, _ = lanes(found, limit)
    scores = {i: _fused_step(found, words, i)["score"] for i in _candidates(found, limit)}
    return sorted((i for i, score in scores.items() if score >= MIN_SCORE), key=lambda i: -scores[i])


def _aged(step: dict[str, float], life: Life | None, chars: int, reranked: float | None) -> None:
    """Apply what the classic pipeline does between its two minima; each factor is kept for --explain."""
    if reranked is not None:
        step["rerank"] = reranked
        step["score"] = JUDGED * reranked + OWN * step["score"]
    tier = (life.tier if life else None) or "working"
    step["recency"] = classic_recency(life.age_days, life.half_life_days, BETA[tier]) if life else 1.0
    step["importance"] = IMPORTANCE_BASE + (1 - IMPORTANCE_BASE) * (life.importance if life else 0.5)
    step["length"] = length_norm(chars)
    step["score"] *= step["recency"] * step["importance"] * step["length"]


def length_norm(chars: int) -> float:
    """1 up to 500 characters, then 1/(1 + 0.5·log2(chars/500))."""
    return 1 / (1 + 0.5 * math.log2(max(chars / ANCHOR_CHARS, 1.0)))


def mmr(scores: Mapping[int, float], stems: Mapping[int, Sequence[str]], limit: int) -> list[int]:
    """Choose `limit` ids, each time the best λ·score - (1-λ)·likeness to the likest chosen; likeness is Jaccard's."""
    left = {i: frozenset(stems.get(i, ())) for i in _best(scores, pool_size(limit))}
    likest = dict.fromkeys(left, 0.0)
    chosen: list[int] = []
    while left and len(chosen) < limit:
        best = max(left, key=lambda i: MMR_LAMBDA * scores[i] - (1 - MMR_LAMBDA) * likest[i])
        chosen.append(best)
        taken = left.pop(best)
        for other, words in left.items():
            likest[other] = max(likest[other], len(taken & words) / (len(taken | words) or 1))
    return chosen


# --- shared ----------------------------------------------------------------------------------------------------------


def _candidates(found: Evidence, limit: int) -> list[int]:
    both = set().union(*lanes(found, limit))
    return [i for i in found.passages if i in both]


def _fused_step(found: Evidence, words: Mapping[int, float], passage_id: int) -> dict[str, float]:
    vector, word = min(max(found.cosine.get(passage_id, 0.0), 0.0), 1.0), words.get(passage_id, 0.0)
    return {"vector": vector, "words": word, "score": fused(vector, word)}


def _ordered(steps: Mapping[int, Mapping[str, float]]) -> Ranked:
    scores = {i: step["score"] for i, step in steps.items()}
    return Ranked(dict(sorted(scores.items(), key=lambda pair: -pair[1])), steps)


def explain(preset: str, ranked: Ranked, passage_id: int) -> dict[str, Any]:
    """Why a passage has its score under a preset: each step's value."""
    return {"preset": preset, "steps": {name: round(value, 4) for name, value in ranked.steps[passage_id].items()}}
