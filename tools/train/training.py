"""From the corpus to weights: features, the three heads, cross-validation by writer, calibration, whole numbers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import voices as corpus
from learn import Floats, Linear, fit, probabilities
from scipy import sparse
from voices import CATEGORIES, Labelled, Voice

from vault_memory.salience import features, model
from vault_memory.salience.features import BUCKETS, CONTEXT_SHARE, LEAST_FEATURES, Sentence

FOLDS = 5
"""Writers are left out in as many groups; a voice is never split."""

LABELS = tuple("RPXCWOSBN")
NO_CATEGORY = "none"

TRANSFER = ("nl", "pl")
"""Languages that nothing is learnt from: they show what a language is worth that the corpus does not have."""


@dataclass(frozen=True)
class Example:
    """One labelled sentence in its context."""

    voice: Voice
    line: Labelled
    sentence: Sentence


@dataclass(frozen=True)
class Head:
    """One of the model's questions: its answers, and the answer of an example, None where it has none."""

    name: str
    outputs: tuple[str, ...]
    answer: Callable[[Example], str | None]
    strength: float


def _category(example: Example) -> str | None:
    return example.line.category or (NO_CATEGORY if example.line.label == "C" else None)


HEADS = (
    # A log's N is another question than a session's: what an editor wants is not what lasts.
    Head(model.LABEL, LABELS, lambda one: None if one.line.keep == "N" else one.line.label, 12.0),
    Head(model.CATEGORY, (*CATEGORIES, NO_CATEGORY), _category, 8.0),
    Head(model.KEEP, ("K", "M", "N"), lambda one: one.line.keep or None, 4.0),
)


def examples(voices: Iterable[Voice]) -> list[Example]:
    """Every sentence of these voices with its neighbours."""
    found = []
    for voice in voices:
        for block in voice.blocks:
            texts = ["", *(line.text for line in block.lines), ""]
            for place, line in enumerate(block.lines, start=1):
                near = (texts[place - 1], texts[place + 1], block.agent, voice.genre == "log")
                found.append(Example(voice, line, Sentence(line.text, *near)))
    return found


Names = Callable[[Sentence], tuple[Iterable[str], Iterable[str]]]


def all_names(sentence: Sentence) -> tuple[Iterable[str], Iterable[str]]:
    """The names of a sentence's own features and of its context's."""
    return features.own_names(sentence.text), features.context_names(sentence)


def matrix(rows: Sequence[Example], names: Names = all_names) -> sparse.csr_matrix:
    """The features of some examples, shape rows × BUCKETS, as the model weighs them."""
    places: list[int] = []
    values: list[float] = []
    ends = [0]
    for row in rows:
        for part, length in zip(names(row.sentence), (1.0, CONTEXT_SHARE), strict=True):
            found = sorted(features.buckets_of(part))
            places += found
            values += [length / max(len(found), LEAST_FEATURES) ** 0.5] * len(found)
        ends.append(len(places))
    shape = (len(rows), BUCKETS)
    return sparse.csr_matrix((np.array(values), np.array(places, np.int32), np.array(ends)), shape=shape)


def _asked(head: Head, rows: Sequence[Example]) -> tuple[list[int], npt.NDArray[np.int64]]:
    """The places of the examples that a head is asked about, and their answers."""
    answers = [(place, answer) for place, row in enumerate(rows) if (answer := head.answer(row)) is not None]
    return [place for place, _ in answers], np.array([head.outputs.index(answer) for _, answer in answers], np.int64)


def train_head(head: Head, rows: Sequence[Example], seen: sparse.csr_matrix) -> Linear:
    """The weights of one head from the examples it is asked about."""
    places, answers = _asked(head, rows)
    return fit(seen[places], answers, len(head.outputs), head.strength)


def left_out(voices: Sequence[Voice], folds: int = FOLDS) -> list[set[str]]:
    """The groups of writers that are left out in turn, each with voices of every language and genre."""
    ordered = sorted(voices, key=lambda voice: (voice.genre, voice.language, voice.writer))
    return [{voice.writer for voice in ordered[fold::folds]} for fold in range(folds)]


def cross_validated(
    head: Head, rows: Sequence[Example], seen: sparse.csr_matrix, share: float = 1.0, folds: int = FOLDS
) -> Floats:
    """The logits of every example, by weights that have not seen its writer.

    With a `share` below 1 they are learnt from that share of the other writers.
    """
    logits = np.zeros((len(rows), len(head.outputs)))
    for writers in left_out(list({row.voice.writer: row.voice for row in rows}.values()), folds):
        others = {row.voice.writer for row in rows if row.voice.language not in TRANSFER} - writers
        shuffled = sorted(others, key=lambda name: hashlib.sha256(name.encode()).digest())
        kept = set(shuffled[: max(1, round(share * len(shuffled)))])
        learnt = [place for place, row in enumerate(rows) if row.voice.writer in kept]
        told = [place for place, row in enumerate(rows) if row.voice.writer in writers]
        linear = train_head(head, [rows[place] for place in learnt], seen[learnt])
        logits[told] = linear.logits(seen[told])
    return logits


def sharpness(head: Head, rows: Sequence[Example], logits: Floats) -> float:
    """The factor that calibrates logits: of those it makes most likely (Guo et al. 2017, temperature scaling)."""
    learnt = [place for place, row in enumerate(rows) if row.voice.language not in TRANSFER]
    of_learnt, answers = _asked(head, [rows[place] for place in learnt])
    places = [learnt[place] for place in of_learnt]
    factors = np.exp(np.linspace(-0.7, 0.7, 57))
    losses = [
        -float(np.log(probabilities(factor * logits[places])[np.arange(len(places)), answers]).sum())
        for factor in factors
    ]
    return round(float(factors[int(np.argmin(losses))]), 3)


def packed(linears: Sequence[tuple[Head, Linear, float]], digest: str) -> bytes:
    """The bytes of the weights file: each output's weights as whole numbers from -127 to 127 and their scale."""
    outputs, columns = [], []
    for head, linear, sharp in linears:
        for place, name in enumerate(head.outputs):
            weights = linear.weights[:, place]
            unit = float(np.abs(weights).max()) / 127 or 1.0
            columns.append((np.rint(weights / unit).astype(np.int16) + model.ZERO).astype(np.uint8).tobytes())
            outputs.append([head.name, name, float(f"{unit * sharp:.8g}"), float(f"{linear.bias[place] * sharp:.8g}")])
    described = json.dumps({"digest": digest, "outputs": outputs}, separators=(",", ":"))
    return b"".join([model.MAGIC, described.encode(), b"\n", *columns])


def source_digest(folder: Path = corpus.FOLDER) -> str:
    """The hash of all that decides the weights: corpus, trainer and features."""
    here = Path(__file__).parent
    code = [here / name for name in ("voices.py", "learn.py", "training.py")]
    files = [*code, Path(features.__file__), *sorted(folder.glob("*.txt"))]
    whole = hashlib.sha256()
    for file in files:
        whole.update(file.name.encode() + b"\0" + file.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return whole.hexdigest()


def make_weights(voices: Sequence[Voice], digest: str, sharp: Sequence[float]) -> bytes:
    """The weights file learnt from all these voices; `sharp` calibrates each head."""
    rows = examples(voice for voice in voices if voice.language not in TRANSFER)
    seen = matrix(rows)
    return packed([(head, train_head(head, rows, seen), by) for head, by in zip(HEADS, sharp, strict=True)], digest)
