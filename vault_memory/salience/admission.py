"""Two classic scores of what is worth keeping, an extra condition where `capture.admission` asks for it. Pure.

The gating scalar is that of libravdb 1.4.4, the admission score AMAC-v1 of memory-lancedb-pro, with one weakness fixed:
in its balanced preset the category prior alone reaches the rejection threshold, so that only events could ever be
rejected. Here the prior is multiplied by the utility, the probability that the statement lasts.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

GATE = 0.35
"""The gating scalar from which a text is kept."""


class Preset(NamedTuple):
    """Weights of the parts (they sum to 1), and `reject`, the minimum score for a statement to be kept."""

    utility: float
    confidence: float
    novelty: float
    recency: float
    prior: float
    reject: float


PRESETS: Mapping[str, Preset] = {
    "balanced": Preset(0.1, 0.1, 0.1, 0.1, 0.6, 0.45),
    "conservative": Preset(0.16, 0.16, 0.18, 0.08, 0.42, 0.52),
    "high-recall": Preset(0.08, 0.10, 0.08, 0.14, 0.60, 0.34),
}

PRIORS: Mapping[str, float] = {
    "profile": 0.95, "preferences": 0.9, "patterns": 0.85, "cases": 0.8, "entities": 0.75, "events": 0.45,
}  # fmt: skip

DECAY = math.log(2) / 30
"""Decay rate per day: the recency of a statement is half restored 30 days after a similar one was last made."""


class AdmissionInput(NamedTuple):
    """Inputs of the admission score, all 0..1 but `gap_days`: days since something similar was said, None if never."""

    utility: float
    confidence: float
    similarity: float
    gap_days: float | None = None


def admission(category: str, evidence: AdmissionInput, preset: Preset) -> float:
    """The AMAC-v1 score of a statement, 0..1."""
    recency = 1.0 if evidence.gap_days is None else 1 - math.exp(-DECAY * evidence.gap_days)
    return (
        preset.utility * evidence.utility
        + preset.confidence * evidence.confidence
        + preset.novelty * (1 - max(0.0, evidence.similarity))
        + preset.recency * recency
        + preset.prior * PRIORS[category] * evidence.utility
    )


class Gating(NamedTuple):
    """The gating scalar `G` and its components, all 0..1, named as in libravdb's RPC."""

    G: float
    T: float
    H: float
    R: float
    D: float
    InputFreq: float
    MemSaturation: float
    P: float
    A: float
    Dtech: float
    Gconv: float
    Gtech: float


def gating_scalar(text: str, known: Sequence[float], turns: Sequence[float]) -> Gating:
    """How far a text is worth keeping in the long term; `known` and `turns` are its cosine similarities to the nearest
    passages in memory and to the preceding turns."""
    nearest = sorted((max(0.0, one) for one in known), reverse=True)[:5]
    novelty = 1 - sum(nearest) / len(nearest) if nearest else 1.0
    frequency = min(sum(one > 0.8 for one in turns[:10]) / 5, 1.0)
    saturation = min(sum(one > 0.85 for one in known) / 3, 1.0)
    repetition = frequency * (1 - saturation)
    technical = min(_sum(_TECHNICAL, text) / 1.5, 1.0)
    density = min(_sum(_TALK, text), 1.0)
    specific = min(_sum(_SPECIFIC, text) / max(len(text.split()) / 100, 1.0), 1.0)
    actionable = min(_sum(_ACTIONS, text), 1.0)
    of_code = min(_sum(_CODE, text), 1.0)
    talk = 0.35 * novelty + 0.40 * repetition + 0.25 * density
    tech = 0.40 * specific + 0.35 * actionable + 0.25 * of_code
    gate = (1 - technical) * talk + technical * tech
    return Gating(
        gate, technical, novelty, repetition, density, frequency, saturation, specific, actionable, of_code, talk, tech
    )


def _sum(weights: Mapping[re.Pattern[str], float], text: str) -> float:
    return sum(weight for pattern, weight in weights.items() if pattern.search(text))


def _weights(**given: tuple[float, str]) -> Mapping[re.Pattern[str], float]:
    return {re.compile(pattern, re.IGNORECASE): weight for weight, pattern in given.values()}


_PATH = r"(?:^|\s|`)(?:~?/|\.{1,2}/)?[\w.-]+/[\w./-]+|[\w-]\.(?:py|js|ts|go|rs|c|cpp|java|sh|toml|json|ya?ml|md)\b"
_FUNCTION = r"\b(?:def|fn|func|function|class|struct)\s+\w+|\w\(\)"
_URL = r"https?://\S+"
_ERROR = r"(?:Error|Exception|panic|SIG[A-Z]{3,4})\b|\bexit code \d|Traceback"

_TECHNICAL = _weights(
    fence=(0.5, r"```"), path=(0.4, _PATH), function=(0.4, _FUNCTION),
    shell=(0.4, r"(?:^|\s)\$ \w|`(?:git|npm|pip|uv|cargo|docker|make|go|kubectl|sudo) "), url=(0.3, _URL),
    trace=(0.5, r"Traceback|^\s+at \w|\bline \d+, in\b"), hash=(0.3, r"\b[0-9a-f]{7,40}\b"),
)  # fmt: skip
_TALK = _weights(
    date=(0.3, r"\b\d{4}-\d\d-\d\d\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"
          r"|\b\d{1,2}(?:st|nd|rd|th|\.)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"),
    quantity=(0.2, r"\d"), name=(0.3, r"(?<!^)(?<![.!?] )\b(?-i:[A-Z][a-z]{2,})"),
    preference=(0.4, r"\b(?:prefer|like|love|hate|always|never|want|favou?rite)\w*"),
    fact=(0.3, r"\b(?:is|are|was|were|has|have|means|owns)\b"),
)  # fmt: skip
_SPECIFIC = _weights(
    path=(0.4, _PATH), function=(0.3, _FUNCTION), error=(0.5, _ERROR),
    git=(0.4, r"\b(?:commit|branch|merge|rebase|PR)\b"), url=(0.3, _URL),
)  # fmt: skip
_ACTIONS = _weights(
    decision=(0.5, r"\b(?:decided|decision|chose|agreed|we(?:'ll| will) use|settled)\b"),
    fix=(0.4, r"\b(?:fix(?:ed|es)?|solved|resolved|workaround)\b"),
    milestone=(0.3, r"\b(?:released?|shipped|deployed|deadline|launch\w*|milestone)\b"),
    configuration=(0.4, r"\b(?:config\w*|setting|env(?:ironment)?|flag|option|version)\b"),
)  # fmt: skip
_CODE = _weights(
    function=(0.4, _FUNCTION), structure=(0.3, r"\b(?:module|package|class|schema|table|api|endpoint|architecture)\b"),
    dependency=(0.3, r"\b(?:depend\w*|library|import|upgrade|requirement)\w*"), test=(0.2, r"\btests?\b"),
    documentation=(0.2, r"\b(?:docs?|readme|documentation|comment)\b"),
)  # fmt: skip
