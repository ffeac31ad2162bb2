"""Trains the judgement of `vault_memory/salience` on the corpus and prints what it is worth on writers left out.

    python tools/train [--out FILE] [--folder DIR] [--curve] [--families] [--tenth | --digest]

The same corpus gives the same bytes. `--curve` also learns from a tenth, a quarter and a half of the writers;
`--families` leaves out one family of features after another. GUIDE.md says how the corpus is written.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import voices as corpus
from figures import LASTING, area, lasting, session_row, tables
from learn import Floats
from training import (
    HEADS,
    Example,
    all_names,
    cross_validated,
    examples,
    make_weights,
    matrix,
    sharpness,
    source_digest,
)

from vault_memory.salience.features import Sentence
from vault_memory.salience.model import WEIGHTS_PATH

SHARES = (0.1, 0.25, 0.5, 1.0)
FAMILIES = {
    "words": "w",
    "word pairs": "p",
    "pieces of words": "c",
    "sentence before": "b",
    "sentence after": "f",
    "agent": "a",
}


def main(arguments: list[str] | None = None) -> int:
    """Train, write the weights, print the figures; return the exit code."""
    parser = argparse.ArgumentParser(prog="python tools/train", description="Train the judgement on the corpus.")
    parser.add_argument("--out", type=Path, default=WEIGHTS_PATH, help="the file of weights to write")
    parser.add_argument("--folder", type=Path, default=corpus.FOLDER, help="the corpus")
    parser.add_argument("--digest", action="store_true", help="print the hash of corpus and trainer, train nothing")
    parser.add_argument("--tenth", action="store_true", help="learn from every tenth writer only, without figures")
    parser.add_argument("--curve", action="store_true", help="also learn from parts of the corpus")
    parser.add_argument("--families", action="store_true", help="also leave out each family of features")
    chosen = parser.parse_args(arguments)
    if chosen.digest:
        print(source_digest(chosen.folder))
        return 0
    voices = corpus.read_corpus(chosen.folder)
    if chosen.tenth:
        chosen.out.write_bytes(make_weights(voices[::10], "", [1.0] * len(HEADS)))
        return 0
    rows = examples(voices)
    print(f"{len(rows)} sentences by {len(voices)} writers", flush=True)
    seen = matrix(rows)
    logits = {head.name: cross_validated(head, rows, seen) for head in HEADS}
    sharp = [sharpness(head, rows, logits[head.name]) for head in HEADS]
    logits = {head.name: by * logits[head.name] for head, by in zip(HEADS, sharp, strict=True)}
    print("\n".join(tables(rows, logits)), flush=True)
    if chosen.curve:
        print("\n".join(_curve(rows)), flush=True)
    if chosen.families:
        print("\n".join(_families(rows)), flush=True)
    data = make_weights(voices, source_digest(chosen.folder), sharp)
    chosen.out.write_bytes(data)
    print(f"{chosen.out}: {len(data)} bytes, calibrated by {sharp}")
    return 0


def _sessions(rows: Sequence[Example]) -> list[Example]:
    return [row for row in rows if not row.line.keep]


def _curve(rows: Sequence[Example]) -> Iterator[str]:
    yield "\nlearning curve, by share of the writers"
    sessions = _sessions(rows)
    seen = matrix(sessions)
    for share in SHARES:
        yield f"{share:.0%}: {_told(sessions, cross_validated(HEADS[0], sessions, seen, share))}"


def _families(rows: Sequence[Example]) -> Iterator[str]:
    yield "\nwithout a family of features"
    sessions = _sessions(rows)
    for family, letter in FAMILIES.items():

        def names(sentence: Sentence, letter: str = letter) -> tuple[Iterable[str], Iterable[str]]:
            own, context = all_names(sentence)
            return (name for name in own if name[0] != letter), (name for name in context if name[0] != letter)

        told = _told(sessions, cross_validated(HEADS[0], sessions, matrix(sessions, names)))
        yield f"{family:16} {told}"


def _told(rows: Sequence[Example], logits: Floats) -> str:
    last = lasting(logits)
    wanted = [row.line.label in LASTING for row in rows]
    return f"area {area(last, wanted):.3f}  at .5: {session_row(rows, last, 0.5)}"


if __name__ == "__main__":
    sys.exit(main())
