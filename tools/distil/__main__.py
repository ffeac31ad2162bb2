"""Makes the builtin vectors: texts, source model, training, file.

    python tools/distil [--out DIR] [--cache DIR]

`sources.py` says which texts, `corpus.py` what of them, `teacher.py` what is asked of
sentence-transformers/all-MiniLM-L6-v2, `student.py` how the vectors are learnt. Same input, same seeds, one thread:
the same machine gives the same bytes; another processor may round a component differently. The format of the file is
described in `vault_memory/embedding/builtin_embedder.py`.
"""

import argparse
import hashlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import student
from corpus import Corpus
from sources import SOURCES, unpacked
from teacher import VOCABULARY_SHA256, WEIGHTS_SHA256, Teacher, model_folder

from vault_memory.embedding.builtin_embedder import BUILTIN_PATH, CONTINUATION, HEADER, MAGIC
from vault_memory.errors import VaultMemoryError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

TEXTS = 32_768
"""Of the shuffled passages; with twice as many the recall was the same within its noise."""

PROVENANCE = {
    "made_by": "python -m vault_memory.distil",  # as it was called then: the same bytes
    "source": "sentence-transformers/all-MiniLM-L6-v2",
    "source_licence": "Apache-2.0",
    "source_weights_sha256": WEIGHTS_SHA256,
    "source_vocabulary_sha256": VOCABULARY_SHA256,
    "method": "token states in context, PCA, half whitening, SIF, trained on sentence vectors and pairs, int8",
    "texts": TEXTS,
    "text_sources": [f"{source.name} {source.version} ({source.licence})" for source in SOURCES],
    "dimensions": student.DIMENSIONS,
    "sif_coefficient": student.SIF_COEFFICIENT,
    "whitening": student.WHITENING,
}


def main(arguments: list[str] | None = None) -> int:
    """Make the artefact and print its size and sha256; return the exit code."""
    parser = argparse.ArgumentParser(prog="python tools/distil", description="Make the vectors.")
    parser.add_argument("--out", type=Path, default=Path(BUILTIN_PATH).parent, help="folder to write to")
    parser.add_argument("--cache", type=Path, default=Path("distil-cache"), help="folder for packages and vectors")
    chosen = parser.parse_args(arguments)
    try:
        artefact = make(chosen.cache)
        chosen.out.mkdir(parents=True, exist_ok=True)
        (chosen.out / os.path.basename(BUILTIN_PATH)).write_bytes(artefact)
    except VaultMemoryError as error:
        print(f"{error}\n{error.next_step}", file=sys.stderr)
        return error.exit_code
    print(f"{len(artefact)} bytes, sha256 {hashlib.sha256(artefact).hexdigest()}")
    return 0


def make(cache: Path) -> bytes:
    """Return the artefact's bytes: ten to twenty minutes on one core, nearly all of it the source model's.

    Raises UsageError when a package or the model is missing or not the one that is meant.
    """
    teacher = Teacher(model_folder())
    sources = {source.name: source for source in SOURCES}
    passages, pairs = Corpus(lambda name: unpacked(sources[name], cache)).collect()
    texts = passages[:TEXTS]
    left, right = ([pair[side] for pair in pairs] for side in (0, 1))
    lesson = student.Lesson(
        teacher.tokens(texts), teacher.teach(texts, cache / "taught"), teacher.alone(), teacher.special,
        teacher.tokens(left), teacher.tokens(right),
    )  # fmt: skip
    kept = [row for row, special in enumerate(teacher.special) if not special]
    return packed([teacher.vocabulary[row] for row in kept], student.learn(lesson)[kept].astype("f8"))


def packed(tokens: list[str], vectors: "Floats") -> bytes:
    """Return the file: tokens sorted by bytes, weights, int8 vectors, the note on where it all comes from."""
    import numpy as np

    texts = [token.encode() for token in tokens]
    order = sorted(range(len(texts)), key=texts.__getitem__)
    peaks = np.abs(vectors).max(axis=1)
    weights = np.rint(65535 * peaks / peaks.max()).astype("<u2")[order]
    mantissas = np.rint(127 * vectors / peaks[:, None]).astype(np.int8)[order]
    starts = np.cumsum([0] + [len(texts[row]) for row in order]).astype("<u4")
    longest = max(len(token.removeprefix(CONTINUATION)) for token in tokens)
    header = HEADER.pack(MAGIC, len(tokens), vectors.shape[1], longest, int(starts[-1]))
    note = json.dumps(PROVENANCE, sort_keys=True).encode()
    text = b"".join(texts[row] for row in order)
    return b"".join((header, starts.tobytes(), weights.tobytes(), mantissas.tobytes(), text, note))


if __name__ == "__main__":
    sys.exit(main())
