"""Owns what a searchable term is, on both sides: the text given to FTS5 when indexing and the MATCH text of a question.

FTS5's unicode61 splits at spaces and punctuation and drops symbols. Two kinds of text would be lost, so both sides
rewrite them alike: scripts without spaces become overlapping pairs of characters (the usual CJK bigrams: a word of two
characters is found, which trigrams cannot), and symbol words (`c++`, `c#`, emoji) become letters that spell them.
"""

import re
from collections.abc import Iterator

# Han, kana, bopomofo, Hangul is left out (it has spaces); Thai, Lao, Burmese, Khmer, Tibetan are in.
_SPACELESS = (
    "\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003134f"
)
_RUN = re.compile(f"[{_SPACELESS}]+")
_SYMBOLS = re.compile(
    r"(?<!\w)(?P<word>\w{1,12}(?:\+\+|#))(?![\w+#])"
    "|(?P<emoji>[\u2190-\u21ff\u2300-\u23ff\u2460-\u27bf\u2900-\u297f\u2b00-\u2bff\U0001f000-\U0001faff])"
)
_MARK = re.compile(r"\s*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?|#{1,6}[ \t]+|>[ \t]?)+")
_RETAIN_HEAD = re.compile(r"[WBOS](?:\([^()]*\)|(?=[ \t]*[@:]))")


def index_text(text: str) -> str:
    """The text FTS5 gets for a passage: `text` plus its rewritten runs and symbol words; plain ASCII stays as it is."""
    extra: list[str] = []
    if "+" in text or "#" in text or not text.isascii():
        extra = [_spelled(match[0]) for match in _SYMBOLS.finditer(text)]
    if not text.isascii():
        text = _RUN.sub(lambda match: f" {' '.join(pairs(match[0]))} ", text)
    return f"{text} {' '.join(extra)}" if extra else text


def body(text: str, is_fact: bool = False) -> str:
    """A passage's text without its list, heading or quote mark, and a fact's without `O(c=0.9)`.

    Kind and keys of a fact are columns; as words they would be noise in every fact.
    """
    mark = _MARK.match(text)
    text = text[mark.end() :] if mark else text
    head = _RETAIN_HEAD.match(text) if is_fact else None
    return text[head.end() :].lstrip() if head else text


def pairs(run: str) -> Iterator[str]:
    """Overlapping pairs of a run of characters, and its last character alone, so that each character begins a term."""
    for i in range(len(run) - 1):
        yield run[i : i + 2]
    yield run[-1]


def match_terms(word: str) -> list[str]:
    """The FTS5 MATCH phrases that stand for one word of a question, safely quoted; [] for bare punctuation.

    A word with punctuation inside (`tile-server`, `app.py`) is one phrase; FTS5 splits it as it did when indexing.
    """
    phrases = [f'"{_spelled(m[0])}"' for m in _SYMBOLS.finditer(word)]
    for run in _RUN.findall(word):
        # A run is found by its pairs in order; its last character stands alone only at the end of a run.
        phrases.append('"' + " ".join(list(pairs(run))[:-1]) + '"' if len(run) > 1 else f'"{run}"*')
    rest = _SYMBOLS.sub(" ", _RUN.sub(" ", word))
    phrases += [quoted(part) for part in rest.split() if re.search(r"[^\W_]", part)]
    return phrases


def quoted(text: str) -> str:
    """`text` as an FTS5 string: no character in it is an operator any more."""
    return '"' + text.replace('"', " ").replace("\0", " ").strip() + '"'


def _spelled(symbol: str) -> str:
    return "x" + "".join(f"{ord(c):x}" if not c.isalnum() else c.lower() for c in symbol) + "x"
