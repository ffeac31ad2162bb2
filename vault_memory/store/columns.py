"""Owns what is stored of a fact besides its passage. Pure data."""

from typing import NamedTuple


class FactColumns(NamedTuple):
    """What is stored of a fact; `wording` hashes what it says, `key` is what the journal knows its words by."""

    confidence: float | None
    importance: float | None
    occurred_from: str | None
    occurred_to: str | None
    block_id: str | None
    narrative: str
    wording: int
    key: int
    decided: bool
    """Whether a decision is in it (decay.py)."""
    part: int


class InferredColumns(NamedTuple):
    """What is stored of what a line of a log without facts tells (reflect/infer.py)."""

    line: int
    kind: str
    text: str
    speaker: str | None
    occurred_from: str | None
    occurred_to: str | None
    key: int
    decided: bool
