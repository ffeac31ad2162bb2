"""Whether a statement says the same as another, or denies it: the same words with a negation. Pure."""

import re
from functools import lru_cache
from typing import NamedTuple

from vault_memory.markdown.fact_text import without_evidence

_NEGATIONS = frozenset(
    """not no never nicht nie niemals kein keine keinen keinem keiner ne pas jamais nunca não non niet geen nooit inte
    aldrig inga ingen inget ikke aldri ej не никогда nie""".split()  # noqa: SIM905 - reads as prose
)
"""Those of one language count in all ("No 2 pump"): a false one decides nothing unless all other words are alike."""
_WITH_NEGATION = frozenset(
    "do does did longer more any anymore mehr plus más mais più mai meer längre lenger længere больше".split()  # noqa: SIM905 - reads as prose
)
"""What comes with a negation: "does not like", "mag nicht mehr", "n'aime plus"."""

_MARKUP = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]|[@*_`]")
_SHORT_FORMS = (
    (re.compile(r"\bcan(?:['’]t|not)\b"), "can not"),
    (re.compile(r"\bwon['’]t\b"), "will not"),
    (re.compile(r"n['’]t\b"), " not"),
    (re.compile(r"\bn['’](?=\w)"), "ne "),
)
_WORDS = re.compile(r"[^\W_]+")


class Sentence(NamedTuple):
    """The words of a statement as they are compared, without negation, and whether there was one."""

    words: tuple[str, ...]
    is_denied: bool


@lru_cache(1 << 14)
def sentence(text: str, names: tuple[str, ...] = ()) -> Sentence:
    """The words of a statement about somebody of these names, without the one that it begins with."""
    words = _words(text)
    for name in sorted((_words(name) for name in names), key=len, reverse=True):
        if name and words[: len(name)] == name:
            words = words[len(name) :]
            break
    is_denied = not _NEGATIONS.isdisjoint(words)
    if is_denied:
        words = [word for word in words if word not in _NEGATIONS and word not in _WITH_NEGATION]
    return Sentence(tuple(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words), is_denied)


def _words(text: str) -> list[str]:
    text = _MARKUP.sub(lambda match: match[1] or "", without_evidence(text)).casefold()
    for pattern, full in _SHORT_FORMS:
        text = pattern.sub(full, text)
    return _WORDS.findall(text)
