"""What a searchable term is, on both sides: the text given to FTS5 when indexing and the MATCH text of a question.

FTS5's unicode61 splits at spaces and punctuation and drops symbols. Two kinds of text would be lost, so both sides
rewrite them alike: scripts without spaces become overlapping pairs of characters (the usual CJK bigrams: a word of two
characters is found, which trigrams cannot), and symbol words (`c++`, `c#`, emoji) become letters that spell them.
Where marks stand on a character (Thai, Khmer …) a pair is of two characters with their marks. Other words are folded
by languages.py, which is given text with symbols and runs already found; irregular English forms get their base beside
them, since no stemmer joins them.
"""

import re
from collections.abc import Iterator, Sequence

from vault_memory.text.languages import folded, without_idle, without_particle

# English words whose forms no stemmer joins: irregular verbs and plurals. A text that says "bought" is searchable as
# "buy" too. Forms that are as often another word (bit, ground, lay, led, lives, rose, wound) are left alone.
_FORMS = """
bear bore borne|beat beaten|become became|begin began begun|bend bent|bite bitten|bleed bled|blow blew blown
break broke broken|bring brought|build built|burn burnt|buy bought|catch caught|choose chose chosen|come came
creep crept|deal dealt|dig dug|draw drew drawn|dream dreamt|drink drank drunk|drive drove driven|eat ate eaten
fall fell fallen|feed fed|feel felt|fight fought|find found|flee fled|fly flew flown|forbid forbade forbidden
forget forgot forgotten|forgive forgave forgiven|freeze froze frozen|give gave given|go went gone|grow grew grown
hang hung|hear heard|hide hid hidden|hold held|keep kept|kneel knelt|lay laid|learn learnt|leave left|lend lent
light lit|lose lost|make made|mean meant|meet met|pay paid|ride rode ridden|ring rang rung|run ran|say said
see saw seen|seek sought|sell sold|send sent|shake shook shaken|shine shone|shoot shot|show shown|shrink shrank shrunk
sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid|speak spoke spoken|spend spent|spill spilt|spin spun
spoil spoilt|stand stood|steal stole stolen|stick stuck|strike struck|swear swore sworn|sweep swept|swim swam swum
take took taken|teach taught|tear tore torn|think thought|throw threw thrown|understand understood|wake woke woken
wear wore worn|weep wept|win won|write wrote written|child children|foot feet|goose geese|knife knives|man men
mouse mice|person people|shelf shelves|tooth teeth|wife wives|woman women
"""

_ROWS = (row.split() for row in re.split(r"[|\n]", _FORMS.strip()))
BASES = {form: base for base, *forms in _ROWS for form in forms}
"""Irregular form → the word it is a form of, both in small letters."""

_FORMED = frozenset(BASES)
_NO_LETTERS = {n: " " for n in range(128) if not chr(n).isalpha()} | dict.fromkeys(map(ord, "’‘“”„«»…–—"), " ")

_QUOTES = {ord('"'): " ", 0: " "}
"""What would end a string of FTS5."""

# Han, kana, bopomofo, Thai, Lao, Burmese, Khmer, Tibetan. Hangul has spaces, but a word carries its particles with it.
_SPACELESS = (
    "\u0e00-\u0e4e\u0e80-\u0ece\u0f00-\u0fff\u1000-\u109f\u1780-\u17d3\u3005-\u3007\u3040-\u30ff\u3100-\u312f"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f\ue500-\uefff"
)
_HANGUL = re.compile("[\uac00-\ud7a3]+")
_CLUSTER = re.compile("[\u0e40-\u0e44\u0ec0-\u0ec4]?.[\ue000-\uefff\u0e30\u0e32\u0e33\u0e45\u0eb0\u0eb2\u0eb3]*", re.S)
"""A character with its marks, which `folded` made private-use letters, and the vowels written before and after it."""
_RUN = re.compile(f"[{_SPACELESS}]+")
_SYMBOLS = re.compile(
    r"(?<!\w)(?P<word>\w{1,12}(?:\+\+|#))(?![\w+#])"
    "|(?P<emoji>[\u2190-\u21ff\u2300-\u23ff\u2460-\u27bf\u2900-\u297f\u2b00-\u2bff\U0001f000-\U0001faff])"
)
_MARK = re.compile(r"\s*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?|#{1,6}[ \t]+|>[ \t]?)+")
_RETAIN_HEAD = re.compile(r"[WBOS](?:\([^()]*\)|(?=[ \t]*[@:]))")


def index_text(text: str, with_bases: bool = True) -> str:
    """The text FTS5 gets for a passage: `text`, its runs rewritten, plus symbol words and bases of irregular forms."""
    extra = bases(text) if with_bases else []
    if "+" in text or "#" in text or not text.isascii():
        extra += [_spelled(match[0]) for match in _SYMBOLS.finditer(text)]
    if not text.isascii():
        text = _RUN.sub(lambda match: f" {' '.join(pairs(_CLUSTER.findall(match[0])))} ", folded(text))
    return f"{text} {' '.join(extra)}" if extra else text


def has_runs(text: str) -> bool:
    """Whether a text has a run of a script without spaces, which becomes pairs."""
    return _RUN.search(text) is not None


def body(text: str, is_fact: bool = False) -> str:
    """A passage's text without its list, heading or quote mark, and a fact's without `O(c=0.9)`.

    Kind and keys of a fact are columns; as words they would be noise in every fact.
    """
    mark = _MARK.match(text)
    text = text[mark.end() :] if mark else text
    head = _RETAIN_HEAD.match(text) if is_fact else None
    return text[head.end() :].lstrip() if head else text


def pairs(run: Sequence[str]) -> Iterator[str]:
    """Overlapping pairs of a run of characters, and its last character alone, so that each character begins a term."""
    for i in range(len(run) - 1):
        yield run[i] + run[i + 1]
    yield run[-1]


def match_terms(word: str) -> list[str]:
    """The FTS5 MATCH phrases that stand for one word of a question, safely quoted; [] for bare punctuation.

    A word with punctuation inside (`tile-server`, `app.py`) is one phrase; FTS5 splits it as it did when indexing.
    """
    phrases = [f'"{_spelled(m[0])}"' for m in _SYMBOLS.finditer(word)]
    if word.isascii():
        rest = _SYMBOLS.sub(" ", word)
    else:
        rest = folded(_SYMBOLS.sub(" ", word))
        for run in _RUN.findall(rest):
            phrases += _run_terms(run)
        rest = _RUN.sub(" ", rest)
    parts = (BASES.get(part.lower(), part) for part in rest.split() if re.search(r"[^\W_]", part))
    phrases += [f'"{part.translate(_QUOTES).strip()}"' for part in parts]
    return list(dict.fromkeys(phrases))


def _run_terms(run: str) -> Iterator[str]:
    """The terms of a run in a question, which may be a whole sentence: the pairs of what does not merely ask.

    Each pair is a term of its own, so that its rarity tells a word from grammar. What is one character is a prefix.
    """
    for part in [run] if _HANGUL.fullmatch(run) else without_idle(run):
        clusters = _CLUSTER.findall(without_particle(part) if _HANGUL.fullmatch(part) else part)
        yield from (f'"{pair}"' for pair in list(pairs(clusters))[:-1])
        if len(clusters) == 1:
            yield f'"{clusters[0]}"*'


def quoted(text: str) -> str:
    """`text` as an FTS5 string, one phrase as it stands in the index: no character in it is an operator any more."""
    if not text.isascii():
        text = _RUN.sub(lambda m: f" {' '.join(list(pairs(_CLUSTER.findall(m[0])))[:-1]) or m[0]} ", folded(text))
    return f'"{text.translate(_QUOTES).strip()}"'


def _spelled(symbol: str) -> str:
    return "x" + "".join(f"{ord(c):x}" if not c.isalnum() else c.lower() for c in symbol) + "x"


def bases(text: str) -> list[str]:
    """The base of each irregular form in a text, each once, in a fixed order."""
    found = _FORMED.intersection(text.lower().translate(_NO_LETTERS).split())
    return sorted({BASES[form] for form in found}) if found else []
