"""The training: token vectors whose weighted sums point where the source model's sentence vectors do.

Method (after tokenlearn, Minish Lab: https://github.com/MinishLab/tokenlearn, with changes that were measured):

1. A token begins as its mean last state over all its places in the texts, mixed with its state alone for rare ones;
   centred, put on the first principal components of the sentence vectors, each divided by the fourth root of its
   variance, and multiplied by the SIF weight a / (a + p) (Arora et al. 2017), p from counts in the texts.
2. Then gradient steps (Adam) turn and stretch the vectors, so that a text's sum comes near its sentence vector
   (cosine), and nearer to the text it is paired with than to others' (InfoNCE, van den Oord et al. 2018).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from teacher import Taught

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

DIMENSIONS = 128
WHITENING = 0.5
SIF_COEFFICIENT = 1e-4
ALONE = 20.0
"""A token's state alone counts as much as so many places in the texts."""
ZIPF_SHARE = 0.2
"""Share of Zipf's law over the order of the vocabulary in a token's frequency: for what the texts do not hold."""
SEED, EPOCHS, BATCH, RATE = 1, 8, 1024, 0.006
PAIR_WEIGHT, TEMPERATURE = 0.1, 0.05

Tokens = Sequence[Sequence[int]]


class Lesson(NamedTuple):
    """All that training takes."""

    tokens: Tokens
    """Of each text; `taught.sentences` has its row."""
    taught: Taught
    alone: "Floats"
    special: Sequence[bool]
    left: Tokens
    right: Tokens
    """Of the texts that belong together."""


def learn(lesson: Lesson) -> "Floats":
    """Return the token vectors, (tokens, DIMENSIONS), their weights multiplied in; special tokens have zeros."""
    import torch

    torch.set_num_threads(1)
    targets, start = _start(lesson)
    size = float(start.norm(dim=1)[~torch.tensor(lesson.special)].mean())
    vectors = torch.nn.Parameter(start / size)
    optimizer = torch.optim.Adam([vectors], lr=RATE)
    steps = list(_steps(len(lesson.tokens), len(lesson.left)))
    for done, (texts, pairs) in enumerate(steps):
        sums = _directions(vectors, [lesson.tokens[row] for row in texts])
        loss = (1 - (sums * targets[texts]).sum(1)).mean()
        left = _directions(vectors, [lesson.left[row] for row in pairs])
        right = _directions(vectors, [lesson.right[row] for row in pairs])
        loss = loss + PAIR_WEIGHT * _contrast(left @ right.T / TEMPERATURE)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        optimizer.param_groups[0]["lr"] = RATE * (1 - (done + 1) / len(steps))
    learnt: Floats = vectors.detach().numpy()
    return learnt


def _start(lesson: Lesson) -> tuple[Any, Any]:
    """The sentence vectors to come near, and the token vectors to begin with."""
    import numpy as np
    import torch

    centred = lesson.taught.sentences - lesson.taught.sentences.mean(axis=0)
    centred = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    variances, axes = np.linalg.eigh((centred.T @ centred / len(centred)).astype(np.float64))
    variances, axes = variances[::-1][:DIMENSIONS], axes[:, ::-1][:, :DIMENSIONS]
    # An eigenvector's sign is arbitrary: the largest loading decides.
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(DIMENSIONS)])
    projection = axes * variances ** (-WHITENING / 2)
    frequency = _frequencies(lesson)
    weights = SIF_COEFFICIENT / (SIF_COEFFICIENT + frequency)
    states = (lesson.taught.states + ALONE * lesson.alone) / (lesson.taught.counts + ALONE)[:, None]
    middle = ((frequency * weights) @ states) / (frequency @ weights)
    vectors = (states - middle) @ projection * weights[:, None]
    vectors[np.array(lesson.special)] = 0
    targets = torch.tensor((centred @ projection).astype(np.float32))
    return torch.nn.functional.normalize(targets, dim=1), torch.tensor(vectors.astype(np.float32))


def _frequencies(lesson: Lesson) -> Any:  # noqa: ANN401 - a numpy array of float64
    import numpy as np

    size = len(lesson.special)
    counts = np.bincount(np.concatenate([np.array(row, np.int64) for row in lesson.tokens]), minlength=size)
    zipf = 1.0 / np.arange(2, size + 2)
    zipf[np.array(lesson.special)] = 0.0
    zipf *= ZIPF_SHARE * counts.sum() / zipf.sum()
    return (counts + zipf) / (counts.sum() + zipf.sum())


def _steps(texts: int, pairs: int) -> Any:  # noqa: ANN401 - an iterator of two numpy arrays
    """For each step, rows of texts and rows of pairs, shuffled anew each epoch."""
    import numpy as np

    for epoch in range(EPOCHS):
        order = np.random.RandomState(epoch + 100 * SEED).permutation(texts)
        paired = np.random.RandomState(epoch).permutation(pairs)
        for step in range(texts // BATCH):
            first = step * (BATCH // 2) % (pairs - BATCH // 2)
            yield order[step * BATCH : (step + 1) * BATCH], paired[first : first + BATCH // 2]


def _directions(vectors: Any, texts: Tokens) -> Any:  # noqa: ANN401 - torch tensors
    """The unit vector of each text's sum."""
    import torch

    flat = torch.tensor([token for text in texts for token in text], dtype=torch.long)
    starts = torch.tensor([0, *(len(text) for text in texts)]).cumsum(0)[:-1]
    sums = torch.nn.functional.embedding_bag(flat, vectors, starts, mode="sum")
    return torch.nn.functional.normalize(sums, dim=1)


def _contrast(similarity: Any) -> Any:  # noqa: ANN401 - torch tensors
    import torch

    own = torch.arange(len(similarity))
    entropy = torch.nn.functional.cross_entropy
    return (entropy(similarity, own) + entropy(similarity.T, own)) / 2
