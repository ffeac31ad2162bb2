"""Prints what the judgement is worth on writers left out: by label, language, genre and writer, beside length alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from learn import Floats, probabilities
from training import HEADS, LABELS, Example

LASTING = "RWOSBC"
"""The labels of what capture keeps."""

THRESHOLDS = (0.4, 0.5, 0.55, 0.6, 0.7)


def lasting(label_logits: Floats) -> Floats:
    """How likely each sentence is to say something that lasts, by the logits of the first head."""
    found: Floats = probabilities(label_logits)[:, [LABELS.index(label) for label in LASTING]].sum(axis=1)
    return found


def area(scores: Sequence[float] | Floats, wanted: Sequence[bool]) -> float:
    """The area under the ROC curve: how often a wanted one scores higher than another one; ties count half."""
    order = np.argsort(np.asarray(scores), kind="stable")
    ranks = np.empty(len(order))
    ordered = np.asarray(scores)[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    for start, end in zip(starts, [*starts[1:], len(ordered)], strict=True):
        ranks[order[start:end]] = (start + end + 1) / 2
    good = np.asarray(wanted)
    many = int(good.sum())
    return float((ranks[good].sum() - many * (many + 1) / 2) / max(many * (len(good) - many), 1))


def session_row(rows: Sequence[Example], scores: Floats, threshold: float) -> str:
    """Recall of requests and of the rest, precision, and the refusals captured, at one threshold."""
    labels = [row.line.label for row in rows]
    taken = [label for label, score in zip(labels, scores, strict=True) if score >= threshold]
    good = sum(label in LASTING for label in taken)
    asked, rest = (sum(label in some for label in labels) or 1 for some in ("R", "WOSB"))
    return (
        f"R {taken.count('R') / asked:.2f}  rest {sum(label in 'WOSB' for label in taken) / rest:.2f}"
        f"  precision {good / max(len(taken), 1):.2f}  X captured {taken.count('X')}/{labels.count('X')}"
    )


def log_row(rows: Sequence[Example], keep: Floats) -> str:
    """Of as many lines as an editor would keep: how many of those and how much noise; the same by length alone."""
    said = []
    for scores in (keep, np.array([float(len(row.line.text.split())) for row in rows])):
        wanted = [row.line.keep == "K" for row in rows]
        best = np.argsort(-scores, kind="stable")[: sum(wanted)]
        picked = [rows[place].line.keep for place in best]
        many = max(len(picked), 1)
        said.append(
            f"area {area(scores, [row.line.keep != 'N' for row in rows]):.3f}"
            f" kept {picked.count('K') / many:.2f} noise {picked.count('N') / many:.2f}"
        )
    return f"{said[0]}  |  length alone {said[1]}"


def tables(rows: Sequence[Example], logits: dict[str, Floats]) -> Iterator[str]:
    """Everything by label, language, genre and writer, all on writers left out."""
    label = logits[HEADS[0].name]
    keep = probabilities(logits[HEADS[2].name])[:, 0]
    last = lasting(label)
    sessions = [place for place, row in enumerate(rows) if not row.line.keep]
    logs = [place for place, row in enumerate(rows) if row.line.keep]
    yield from _labels([rows[place] for place in sessions], probabilities(label[sessions]))
    yield ""
    for threshold in THRESHOLDS:
        yield f"sessions at {threshold}: {session_row([rows[p] for p in sessions], last[sessions], threshold)}"
    words = [float(len(rows[place].line.text.split())) for place in sessions]
    wanted = [rows[place].line.label in LASTING for place in sessions]
    yield f"area: lasting or not {area(last[sessions], wanted):.3f}, by length alone {area(words, wanted):.3f}"
    yield f"logs: {log_row([rows[p] for p in logs], keep[logs])}"
    yield from _calibration(last[sessions], wanted)
    by_group: dict[str, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        for group in (f"2 {row.voice.language}", f"3 {row.voice.writer}"):
            by_group[f"{'log' if row.line.keep else 'session'} {group}"].append(place)
    yield "\nby genre, language and writer (sessions at .5)"
    for group, places in sorted(by_group.items()):
        genre, _, name = group.split(" ", 2)
        of = [rows[place] for place in places]
        told = log_row(of, keep[places]) if genre == "log" else session_row(of, last[places], 0.5)
        yield f"{genre:7} {name:30} {len(of):5}  {told}"


def _labels(rows: Sequence[Example], chances: Floats) -> Iterator[str]:
    yield "label  count  precision  recall  area"
    told = chances.argmax(axis=1)
    for place, label in enumerate(LABELS):
        right = [row.line.label == label for row in rows]
        said = told == place
        hits = sum(one and bool(other) for one, other in zip(right, said, strict=True))
        yield (
            f"{label:5} {sum(right):6} {hits / max(int(said.sum()), 1):9.2f} {hits / max(sum(right), 1):8.2f}"
            f"   {area(chances[:, place], right):.3f}"
        )


def _calibration(scores: Iterable[float], wanted: Iterable[bool]) -> Iterator[str]:
    pairs = list(zip(scores, wanted, strict=True))
    yield "calibration, given -> right: " + "  ".join(
        f"{low / 10:.1f}-{low / 10 + 0.2:.1f} -> {sum(good for _, good in some) / len(some):.2f} ({len(some)})"
        for low in (0, 2, 4, 6, 8)
        if (some := [pair for pair in pairs if low / 10 <= pair[0] < low / 10 + 0.2 + (low == 8)])
    )
