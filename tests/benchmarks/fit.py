"""Fits the weights of search/ranking.py: `python -m tests.benchmarks.fit VAULT… [--without]`.

The ranking is a weighted sum of features, so the chance that a passage is the evidence is modelled as the softmax of
its score among the question's candidates (conditional logit, McFadden 1974; ListNet with its top-one probability, Cao
et al. 2007), for vaults of graded notes by note. Newton's method finds the weights; a penalty holds each near where it
stands, so that what the vaults say nothing about stays. Deterministic; some minutes.

Questions made from each vault's own lines (known.py) are not fitted to; their mean reciprocal rank is printed as
`known`. A heading that changes places with what it heads is left out of this model.

Printed are the figures of the present weights, of the weights fitted to all vaults, and of each vault under the weights
fitted to the others: the last is what a vault never seen may expect. `--without` prints what each feature is worth: the
figures with its weight at 0 and the others as they are.
"""

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tests.benchmarks.known import known_items
from tests.benchmarks.quality import Judged, gathered, ndcg, opened, questions
from vault_memory.search.ranking import WEIGHTS
from vault_memory.store.view import Candidate

Floats = npt.NDArray[np.float64]

BUDGETS = (500, 1000, 2000)
SCALES = (0.125, 0.18, 0.25, 0.35, 0.5, 0.7, 1.0, 1.4)
"""How much likelier a point of score makes a passage: the best of these for the weights at the start."""

HOLD = 0.02
"""How firmly a weight is held where it stands, against one question's log likelihood for a change by its own size."""

GRADED = 0.25
"""How much all questions of graded notes count against all questions of evidence lines."""


NEUTRAL = [-1.0 if name in ("question", "aside", "page") else 1.0 for name in WEIGHTS]
"""Weights that know nothing but which way each feature points."""


class Asked(NamedTuple):
    """One question's candidates: features, shape (candidates, features); what each is worth, summing to 1, or none."""

    vault: str
    category: str
    features: Floats
    target: Floats
    group: npt.NDArray[np.int64]
    """The number of each candidate's note where whole notes are relevant, else its own."""
    tokens: list[int]
    held: list[frozenset[int]]
    """Which pieces of the evidence each candidate holds."""
    pieces: int
    paths: list[str]
    question: Judged

    @property
    def is_known(self) -> bool:
        """Whether the question was made from the vault itself: for judging only, not for fitting."""
        return self.category.startswith("known")


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vaults", nargs="+", type=Path, help="folders with notes, perhaps questions.jsonl")
    parser.add_argument("--without", action="store_true", help="print what each feature is worth, and do not fit")
    options = parser.parse_args(arguments)
    asked = [row for folder in options.vaults for row in read(folder)]
    told = [row for row in asked if not row.is_known]
    present = np.array(list(WEIGHTS.values()))
    print(_line("present weights", asked, present))
    if options.without:
        for number, name in enumerate(WEIGHTS):
            print(_line(f"without {name}", asked, np.where(np.arange(len(present)) == number, 0.0, present)))
        return
    fitted = fit(told, present)
    print(_line("fitted to all", asked, fitted))
    for vault in dict.fromkeys(row.vault for row in told):
        # From NEUTRAL: the present weights were fitted to the vault left out, too.
        others = fit([row for row in told if row.vault != vault], np.array(NEUTRAL))
        print(_line(f"{vault}, fitted to the others", [row for row in told if row.vault == vault], others))
    for name, old, new in zip(WEIGHTS, present, fitted, strict=True):
        print(f"{name:14} {old:6.2f} -> {new:6.2f}")


def read(folder: Path) -> list[Asked]:
    """Every question of a vault with its candidates."""
    asked = questions(folder) if (folder / "questions.jsonl").exists() else []
    with opened(folder) as memory, memory.index_file.reading() as (store, _):
        paths: dict[int, str] = dict(store.rows("SELECT id, path FROM note"))
        return [
            _asked(
                folder.name,
                question,
                list(found.passages.values()),
                paths,
                [[scorer.features(i).get(name, 0.0) for name in WEIGHTS] for i in found.passages],
            )
            for question, found, scorer in gathered(memory, [*asked, *known_items(memory)])
        ]


def _asked(
    vault: str, question: Judged, passages: list[Candidate], paths: dict[int, str], features: list[list[float]]
) -> Asked:
    where = [paths[p.note_id] for p in passages]
    pieces = sorted(question.evidence)
    held = [
        frozenset(n for n, (path, line) in enumerate(pieces) if path == at and p.start_line <= line <= p.end_line)
        for p, at in zip(passages, where, strict=True)
    ]
    group = np.arange(len(passages))
    worth = np.array([float(len(found)) for found in held])
    if question.relevant:
        _, group = np.unique(np.array(where), return_inverse=True)
        grades = {number: 2.0 ** question.relevant.get(at, 0) - 1 for number, at in zip(group, where, strict=True)}
        worth = np.array([grades[number] for number in range(len(grades))])
    return Asked(
        vault, question.category, np.array(features, float).reshape(-1, len(WEIGHTS)),
        worth / worth.sum() if worth.any() else worth,
        group, [p.tokens for p in passages], held, len(pieces), where, question,
    )  # fmt: skip


# --- fitting ---------------------------------------------------------------------------------------------------------


def fit(asked: Iterable[Asked], start: Floats, rounds: int = 50) -> Floats:
    """The weights that make the evidence likeliest, each held near `start` and scaled like it."""
    rows = [row for row in asked if row.target.any()]
    graded = sum(bool(row.question.relevant) for row in rows)
    shares = [GRADED / graded if row.question.relevant else 1 / (len(rows) - graded) for row in rows]
    scale = min(SCALES, key=lambda s: sum(w * _loss(row, s * start) for row, w in zip(rows, shares, strict=True)))
    prior = start * scale
    hold = HOLD / np.maximum(np.abs(prior), scale) ** 2

    def total(weights: Floats) -> float:
        held = 0.5 * float(hold @ (weights - prior) ** 2)
        return held + sum(share * _loss(row, weights) for row, share in zip(rows, shares, strict=True))

    weights, loss = prior.copy(), total(prior)
    for _ in range(rounds):
        gradient, curvature = hold * (weights - prior), np.diag(hold)
        for row, share in zip(rows, shares, strict=True):
            pull, bend = _slope(row, weights)
            gradient += share * pull
            curvature += share * bend
        step = np.linalg.solve(curvature, gradient)
        while (after := total(weights - step)) > loss and np.abs(step).max() > 1e-4:
            step /= 2  # a whole Newton step may lead past the valley
        weights, before, loss = weights - step, loss, after
        if before - loss < 1e-7:
            break
    return weights / scale


def _chances(row: Asked, weights: Floats) -> tuple[Floats, Floats]:
    """The logarithms of each candidate's chance, and of each group's."""
    scores = row.features @ weights
    peak = np.full(row.group.max() + 1, -np.inf)
    np.maximum.at(peak, row.group, scores)
    groups = peak + np.log(np.bincount(row.group, weights=np.exp(scores - peak[row.group])))
    total = groups.max() + np.log(np.exp(groups - groups.max()).sum())
    return scores - total, groups - total


def _loss(row: Asked, weights: Floats) -> float:
    """-sum target * log(chance of its note, or of the passage)."""
    return float(-row.target @ _chances(row, weights)[1])


def _slope(row: Asked, weights: Floats) -> tuple[Floats, Floats]:
    """Gradient and curvature of one question's loss; within a note the curvature is left out, which only slows."""
    alone, together = _chances(row, weights)
    chance = np.exp(alone)
    wanted = row.target[row.group] * np.exp(alone - together[row.group])
    expected = chance @ row.features
    bend = (row.features * chance[:, None]).T @ row.features - np.outer(expected, expected)
    return expected - wanted @ row.features, bend


# --- figures ---------------------------------------------------------------------------------------------------------


def _line(label: str, asked: Sequence[Asked], weights: Floats) -> str:
    """Evidence recall at each budget, that of multi-hop questions, and nDCG@10."""
    lines = [row for row in asked if not row.question.relevant and not row.is_known]
    known = [row for row in asked if row.is_known]
    hops = [row for row in lines if row.category == "multi-hop"]
    graded = [row for row in asked if row.question.relevant]
    parts = [f"{label:32}"]
    for name, rows in (("all", lines), ("multi-hop", hops)):
        if rows:
            parts.append(
                f"{name} " + " / ".join(f"{np.mean([_recall(r, weights, b) for r in rows]):.4f}" for b in BUDGETS)
            )
    if graded:
        parts.append(f"nDCG@10 {np.mean([_gain(row, weights) for row in graded]):.4f}")
    if known:
        parts.append(f"known {np.mean([_place(row, weights) for row in known]):.4f}")
    return "  ".join(parts)


def _order(row: Asked, weights: Floats) -> list[int]:
    order: list[int] = np.argsort(-(row.features @ weights), kind="stable").tolist()
    return order


def _recall(row: Asked, weights: Floats, budget: int) -> float:
    """The share of the evidence that fits, taken in order; near repeats are not dropped here, as packing would."""
    found: set[int] = set()
    for n in _order(row, weights):
        if row.tokens[n] <= budget:
            budget -= row.tokens[n]
            found |= row.held[n]
    return len(found) / row.pieces


def _place(row: Asked, weights: Floats) -> float:
    """The reciprocal rank of the first candidate that holds a line of the item."""
    return next((1 / place for place, n in enumerate(_order(row, weights), 1) if row.held[n]), 0.0)


def _gain(row: Asked, weights: Floats) -> float:
    return ndcg([row.paths[n] for n in _order(row, weights)], row.question.relevant)


if __name__ == "__main__":
    main()
