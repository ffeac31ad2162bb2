"""Normalises text into search terms, identically for indexing (the text given to FTS5) and for questions (MATCH).

FTS5's unicode61 splits at spaces and punctuation and drops symbols, and no single stemmer covers every language. So
both sides rewrite alike: scripts without spaces become overlapping pairs of characters with their marks (CJK bigrams
find a two-character word, trigrams cannot), symbol words (`c++`, `c#`, emoji) are spelled in letters, and irregular
English forms get their base form added. Other languages are folded; folding too much conflates two words but loses
none. The suffix rules are light stemmers after Savoy (Russian), Larkey's light10 (Arabic), Ramanathan & Rao (Hindi).
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise

_OTHER_STOP_WORDS = frozenset(
    # Russian, Arabic, Hindi, Korean, Greek, Hebrew
    """а без бы был была были было быть в вам вас во вот все вы где да для до его ее если есть еще ещё же за и из или
    им их как какая какие какого какое какой какую к кем ко когда кого кому кто куда ли мне мной мои мой моя мы на нам
    нас наш не него нее нет ни но о об он она они оно от откуда по под почему при про с сколько со так там то тоже
    только ты у уже чего чей чем что чтобы это этот эта эти я
    من في على إلى الى عن ما ماذا متى أين اين كيف لماذا هل كم أي اي هو هي هم الذي التي هذا هذه كان كانت لمن بماذا
    مع أن ان لا لم لن قد ثم أو او عند عنده لي لنا أنا نحن
    का की के को में से पर है हैं था थी थे हो हुआ हुई क्या कौन कब कहाँ कहां क्यों कैसे कैसा कैसी किस किसे किसको किसने
    कितना कितने कितनी कौनसा सा सी और या यह वह ये वे मैं हम हमने मैंने मेरा मेरे मेरी ने तो भी ही गया गई गए रहा रही रहे
    뭐 뭐지 뭐야 무엇 무슨 누구 누가 언제 어디 어디서 어디에서 어떤 어떻게 어느 왜 몇 얼마 얼마나 그
    이 저 것 거 수 나 내 우리 있나 있어 있나요 했지 했어 했더라 하나요 되나요 이었지 였지
    ο η το οι τα του της των τον την και να σε με για από που τι ποιος ποια ποιο πότε πού πώς γιατί πόσο είναι ήταν
    מה מי מתי איפה איך למה כמה האם של את על עם הוא היא זה
    אני אנחנו""".split()  # noqa: SIM905 - as a list it is 200 lines
)

STOP_WORDS = frozenset(
    """a about above after again against all also am an and any are aren as at be because been before being below
    between both but by can cannot could couldn d did didn do does doesn doing don down during each few for from
    further get gets got had hadn has hasn have haven having he her here hers herself him himself his how i if in into
    is isn it its itself just let ll m me might more most must my myself no nor not of off on once one only or other our
    ours ourselves out over own re s same shan she should shouldn so some such t than that the their theirs them
    themselves then there these they this those through to too under until up us ve very was wasn we were weren what
    when where which while who whom whose why will with would wouldn you your yours yourself yourselves many much
    may shall upon within without tell know happened happen""".split()  # noqa: SIM905 - as a list it is 180 lines
).union(_OTHER_STOP_WORDS)
"""Words of a question that say nothing about its subject; the last English ones come from questions to this tool."""

_IDLE = (
    # Chinese, simplified and traditional
    "什么时候|什麼時候|为什么|為什麼|什么|什麼|怎么样|怎麼樣|怎么|怎麼|怎样|怎樣|如何|哪里|哪裡|哪儿|哪个|哪個|哪些|哪天|哪"
    "|谁|誰|多少|多久|几点|幾點|几|幾|有没有|有沒有|是不是|能不能|可以|吗|嗎|呢|吧|的|了|是|在"
    # Japanese: を is always a particle, other particles only after Han or katakana
    "|でしたっけ|だっけ|でしょうか|でしょう|ですか|でしたか|でした|です|ましたか|ました|ますか|ます|ください"
    "|どのくらい|どのように|どうやって|どうして|なぜ|どこ|どれ|どの|どう|いつ|いくら|いくつ|なん[でのに]?|何|誰|だれ"
    "|という|について|から|まで|より|った|ている|ていた|てい|れば|ればいい|ように|んだ|さん|を"
    "|(?<=[\u30a0-\u30ff\u4e00-\u9fff])[はがにでとものへや](?![\u3041-\u309f])"
    # Thai, at syllable boundaries
    "|(?<![เแโใไ])(?:ใคร|อะไร|ทำไม|เมื่อไหร่|เมื่อไร|ที่ไหน|แบบไหน|ไหน|อย่างไร|ยังไง|เท่าไหร่|เท่าไร|กี่|ไหม|หรือเปล่า|บ้าง)"
    "(?![\ue000-\uefff\u0e30\u0e32\u0e33\u0e45])"
)
_PARTICLES = (
    "에서는|에서|에게서|에게|한테서|한테|께서|으로는|으로|부터|까지|이랑|하고|보다|처럼|마다|이나|이라고|라고"
    "|에는|에도|은|는|이|가|을|를|에|의|도|로|와|과|랑|만|께"
)
_HINDI_MARKS = "\u093e\u093f\u0940\u0941\u0942\u0947\u0948\u094b\u094c"
_RUSSIAN = re.compile(
    "(?<=[а-я]{3})(?:иями|ениями|ями|ами|ией|иям|ием|иях|ого|его|ому|ему|ыми|ими|ешь|ете|ишь|ите"
    "|ов|ев|ей|ой|ий|ый|ая|яя|ое|ее|ие|ые|ия|ию|ии|ым|им|ом|ем|ую|юю|ою|ею|их|ых|ам|ям|ах|ях|ть|ет|ют|ут|ит|ат|ят"
    "|ла|ло|ли|[уюаяоеиыьйл])(?:сь|ся)?$"
)
_ARABIC_HEAD = re.compile("^(?:وال|بال|كال|فال|لل|ال|و(?=[ء-ي]{3}))(?=[ء-ي]{2})")
_ARABIC_TAIL = re.compile("(?<=[ء-ي]{2})(?:ها|ان|ات|ون|ين|يه|ه|ي)$")
_HINDI = re.compile(f"(?<=[\u0904-\u094d]{{2}})(?:[{_HINDI_MARKS}]?\u0902|[{_HINDI_MARKS}])+$")
_KIND = re.compile("(?P<russian>[\u0400-\u04ff]+)|(?P<arabic>[\u0620-\u06ff]+)|(?P<hindi>[\u0900-\u097f]+)")
_PRESENTATION = re.compile("[\ufb00-\ufdff\ufe70-\uffef]+")
_WITH_MARKS = re.compile("[\u0900-\u1aff]+")
"""The Indic and South-East Asian scripts, whose marks are part of a word."""


def folded(text: str) -> str:
    """`text` in one spelling: composed, without full-width and presentation forms, accents and vowel points.

    Marks that are part of a word (Devanagari, Thai …) become private-use letters, at which FTS5 does not split.
    """
    if text.isascii():
        return text
    text = _PRESENTATION.sub(lambda m: unicodedata.normalize("NFKC", m[0]), unicodedata.normalize("NFC", text))
    return _lettered(_KIND.sub(_stemmed, "".join(map(_fold, text))))


def _lettered(text: str) -> str:
    """`text` with private-use letters for the marks that are part of a word."""
    return _WITH_MARKS.sub(
        lambda m: "".join(chr(ord(c) - 0x0900 + 0xE000) if unicodedata.category(c)[0] == "M" else c for c in m[0]), text
    )


def without_marks(text: str) -> str:
    """`text` without combining marks, which regular expressions do not count as part of a word."""
    return "".join(c for c in text if unicodedata.category(c)[0] != "M")


def starts_no_cluster(text: str, at: int) -> bool:
    """Whether a cut before `text[at]` would separate a character from its marks."""
    if not 0 < at < len(text) or text[at].isascii():
        return False
    code = ord(text[at])
    is_mark = unicodedata.category(text[at])[0] == "M" or code in (0x0E33, 0x0EB3, 0x200D)
    return is_mark or 0x1F3FB <= code <= 0x1F3FF or text[at - 1] == "\u200d"


def _stemmed(match: re.Match[str]) -> str:
    word = match[0]
    if match["russian"]:
        return _RUSSIAN.sub("", word)
    if match["arabic"]:
        return _ARABIC_TAIL.sub("", _ARABIC_HEAD.sub("", word))
    return _HINDI.sub("", word)


_LATIN = {"ł": "l", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ß": "ss", "ı": "i"}
"""Letters without a Unicode decomposition, as they are usually transliterated."""

_ALIKE = {"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ة": "ه", "ؤ": "و", "ئ": "ي", "ـ": "", "\u0901": "\u0902"}
"""Interchangeable spellings: alef, ya, ta marbuta, tatweel; chandrabindu for anusvara."""


@lru_cache(maxsize=1 << 16)
def _fold(character: str) -> str:
    if character.isascii() or character in _ALIKE:
        return _ALIKE.get(character, character)
    if unicodedata.category(character) == "Nd":
        return str(unicodedata.digit(character))
    code = ord(character)
    if 0x0900 <= code <= 0x1AFF:
        return "".join(c for c in unicodedata.normalize("NFD", character) if c != "\u093c")  # the nukta is optional
    if code >= 0x2E80 and not 0xA640 <= code <= 0xAB6F:
        return character
    bare = "".join(c for c in unicodedata.normalize("NFD", character) if not unicodedata.combining(c))
    return "".join(_LATIN.get(c, c) for c in bare.casefold())


# --- terms -----------------------------------------------------------------------------------------------------------

# Irregular English forms that no stemmer conflates: worth .006 of the evidence found in 500 tokens of conversations.
# Forms that are as often another word (bit, lay, led, rose) are left out.
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
"""Irregular form → its base form, both in lower case."""

_NO_LETTERS = {n: " " for n in range(128) if not chr(n).isalpha()} | dict.fromkeys(map(ord, "’‘“”„«»…–—"), " ")

_QUOTES = {ord('"'): " ", 0: " "}
"""Characters that would end an FTS5 string."""

# Han, kana, bopomofo, Thai, Lao, Burmese, Khmer, Tibetan. Hangul has spaces, but its words include their particles.
_SPACELESS = (
    "\u0e00-\u0e4e\u0e80-\u0ece\u0f00-\u0fff\u1000-\u109f\u1780-\u17d3\u3005-\u3007\u3040-\u30ff\u3100-\u312f"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f\ue500-\uefff"
)
_HANGUL = re.compile("[\uac00-\ud7a3]+")
_CLUSTER = re.compile("[\u0e40-\u0e44\u0ec0-\u0ec4]?.[\ue000-\uefff\u0e30\u0e32\u0e33\u0e45\u0eb0\u0eb2\u0eb3]*", re.S)
"""A character with its marks (private-use letters after `folded`) and the vowels written before and after it."""
RUN = re.compile(f"[{_SPACELESS}]+")
"""A run of a script without spaces, to be split into pairs."""
_SYMBOLS = re.compile(
    r"(?<!\w)(?P<word>\w{1,12}(?:\+\+|#))(?![\w+#])"
    "|(?P<emoji>[\u2190-\u21ff\u2300-\u23ff\u2460-\u27bf\u2900-\u297f\u2b00-\u2bff\U0001f000-\U0001faff])"
)
_MARK = re.compile(r"\s*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?|#{1,6}[ \t]+|>[ \t]?)+")
FEWEST_BLOB_CHARS = 72
"""Between a base64 line in a mail (76 characters) and a SHA-256 digest (64), which people search for."""

LEAST_IN_WORDS = 0.3

_BLOB = re.compile(rf"\bdata:[\w.+-]+/[\w.+-]+(?:;[\w.+=-]+)*,[^\s)\">]*|[A-Za-z0-9+/=_-]{{{FEWEST_BLOB_CHARS},}}")
_SMALL = re.compile("[a-z]{4,}")
_UNSPACED = re.compile(r"(?<![!-~])[!-~]{31,}")
_TASK = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])[ \t]+\[([ xX])\](?:\s|$)")
_RETAIN_HEAD = re.compile(r"[WBOS](?:\([^()]*\)|(?=[ \t]*[@:]))")


def index_text(text: str, with_bases: bool = True) -> str:
    """The text FTS5 gets for a passage: `text` with unspaced runs as pairs, plus symbol words and base forms."""
    extra = bases(text) if with_bases else []
    if "+" in text or "#" in text or not text.isascii():
        extra += [_spelled(match[0]) for match in _SYMBOLS.finditer(text)]
    if not text.isascii():
        # The last character stands alone after the pairs, so that each character begins a term.
        text = RUN.sub(lambda m: f" {' '.join(_pairs([*_CLUSTER.findall(m[0]), '']))} ", folded(text))
    return f"{text} {' '.join(extra)}" if extra else text


def task(text: str) -> str | None:
    """The state of a list item that is a task, "open" or "done"; None for any other item or task state."""
    found = _TASK.match(text)
    return ("open" if found[1] == " " else "done") if found else None


def body(text: str, is_fact: bool = False) -> str:
    """A passage's text without its list, heading or quote mark, blobs and, for a fact, its head such as `O(c=0.9)`.

    The kind and keys of a fact are stored as columns; as words they would be noise in every fact.
    """
    mark = _MARK.match(text)
    text = without_blobs(text[mark.end() :] if mark else text)
    head = _RETAIN_HEAD.match(text) if is_fact else None
    return text[head.end() :].lstrip() if head else text


def without_blobs(text: str) -> str:
    """`text` without data URIs and encoded bytes (base64, compressed drawings).

    Runs of lower-case letters tell words from encoded bytes: of random characters hardly a tenth is in runs of four.
    """
    return _BLOB.sub(_unless_words, text) if len(text) > FEWEST_BLOB_CHARS else text


def gaps_between_blobs(text: str) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text that `without_blobs` keeps: (from, to) offsets; nothing if they are only punctuation
    around blobs."""
    begin = 0
    spans = [match.span() for match in _BLOB.finditer(text) if _unless_words(match) == " "]
    for start, end in (*spans, (len(text), len(text))):
        if not spans or any(map(str.isalnum, text[begin:start])):
            yield begin, start
        begin = end


def _unless_words(match: re.Match[str]) -> str:
    run = match[0]
    if run.startswith("data:"):
        return " "
    is_mixed = any(map(str.isupper, run)) and any(map(str.islower, run))  # people search for long hashes
    return " " if is_mixed and sum(map(len, _SMALL.findall(run))) < len(run) * LEAST_IN_WORDS else run


def is_machine_text(line: str) -> bool:
    """Whether a long line is minified code or data: most of it is long unspaced runs with braces."""
    return 2 * sum(len(run) for run in _UNSPACED.findall(line) if "{" in run) > len(line)


def match_terms(word: str) -> list[str]:
    """The FTS5 MATCH phrases for one word of a question, safely quoted; [] for bare punctuation.

    A word with inner punctuation (`tile-server`, `app.py`) is one phrase, which FTS5 splits as it did when indexing.
    """
    phrases = [f'"{_spelled(m[0])}"' for m in _SYMBOLS.finditer(word)]
    if word.isascii():
        rest = _SYMBOLS.sub(" ", word)
    else:
        rest = folded(_SYMBOLS.sub(" ", word))
        for run in RUN.findall(rest):
            phrases += _run_terms(run)
        rest = RUN.sub(" ", rest)
    parts = (BASES.get(part.lower(), part) for part in rest.split() if re.search(r"[^\W_]", part))
    phrases += [f'"{part.translate(_QUOTES).strip()}"' for part in parts]
    return list(dict.fromkeys(phrases))


@cache
def _asking() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns for the question words of a folded run, and for the particle at the end of a Korean word."""
    return re.compile(_lettered(_IDLE)), re.compile(f"(?<=[\uac00-\ud7a3])(?:{_PARTICLES})$")


def _run_terms(run: str) -> Iterator[str]:
    """Yield a term for each pair outside the question words, so that rarity tells words from grammar; or a prefix."""
    idle, particle = _asking()
    for part in [run] if _HANGUL.fullmatch(run) else [part for part in idle.split(run) if part] or [run]:
        clusters = _CLUSTER.findall(particle.sub("", part) if _HANGUL.fullmatch(part) else part)
        yield from (f'"{pair}"' for pair in _pairs(clusters))
        if len(clusters) == 1:
            yield f'"{clusters[0]}"*'


def quoted(text: str) -> str:
    """`text` as one quoted FTS5 phrase, rewritten as in the index; none of its characters acts as an operator."""
    if not text.isascii():
        text = RUN.sub(lambda m: f" {' '.join(_pairs(_CLUSTER.findall(m[0]))) or m[0]} ", folded(text))
    return f'"{text.translate(_QUOTES).strip()}"'


def _pairs(run: Sequence[str]) -> Iterator[str]:
    return map("".join, pairwise(run))


def _spelled(symbol: str) -> str:
    return "x" + "".join(f"{ord(c):x}" if not c.isalnum() else c.lower() for c in symbol) + "x"


def bases(text: str) -> list[str]:
    """The base forms of the irregular forms in a text, unique and sorted."""
    found = BASES.keys() & text.lower().translate(_NO_LETTERS).split()
    return sorted({BASES[form] for form in found}) if found else []
