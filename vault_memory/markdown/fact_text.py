"""The text of a fact: rendered and clipped for a page, its sources and names, its words for comparison. Pure."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache
from typing import NamedTuple

from vault_memory.markdown import entities
from vault_memory.text.calendar_days import MONTH_NAMES, WEEKDAY_NAMES
from vault_memory.text.terms import STOP_WORDS

TRACEABLE = 0.4
"""The share of a line's content words that its cited source must contain."""

MUCH_TOO_LONG = 1.5
"""A sentence longer than this many times the limit is cut at a word; below that a whole sentence reads better."""

_WIKILINK = re.compile(r"!?@?\[\[([^\[\]|#]*)(#[^\[\]|]*)?(?:\|([^\[\]]*))?\]\]")
_MDLINK = re.compile(r"!?\[([^\[\]]*)\]\((?!https?://)[^()\s]*\)")
_IMAGE = re.compile(r"!(\[[^\[\]]*\]\()")
_MENTION = re.compile(r"(?<![\w@/.])@(?=[^\W\d_])")
_TAGS = re.compile(r"(?:\s+#[^\s#]*[^\W\d][\w/-]*)+$")
_TRAILING_MENTIONS = re.compile(r"(?<=[.!?])(?:\s+@(?:\[\[[^\[\]]*\]\]|[\w-]+))+$")
"""Mentions after a fact's last sentence, which are there for the index only."""

_SENTENCE = re.compile(r"(?<=[\w)\]”\"'%`*]{3}[.!?])\s+(?=[^\W_a-z]|[“\"(\[*`])|(?<=;)\s+")
_FIRST_END = re.compile(r"(?<=\w)[.;!?](?:\s|$)")
_DOUBLE_BRACKET = re.compile(r"\[(?=\[)|\](?=\])")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def readable(text: str, exists: Callable[[str], bool]) -> str:
    """A fact's text for a page, without tags and mention marks; a link stays if its target exists."""

    def link(match: re.Match[str]) -> str:
        target, anchor, shown = match[1].strip(), match[2] or "", (match[3] or "").strip()
        if target and exists(target):
            return f"[[{target}{anchor}{f'|{shown}' if shown else ''}]]"
        return shown or target.rsplit("/", 1)[-1] or anchor.lstrip("#^")

    text = _TRAILING_MENTIONS.sub("", _TAGS.sub("", without_evidence(one_line(text))))
    text = _IMAGE.sub(r"\1", _MDLINK.sub(r"\1", text))
    text = _MENTION.sub("", _WIKILINK.sub(link, text))
    loose = _WIKILINK.sub("", text)
    if "[[" in loose or "]]" in loose:
        # An unclosed bracket would swallow the citation after it.
        text = _DOUBLE_BRACKET.sub("\\g<0>\u200b", text)
    return text.rstrip(".").rstrip() if not text.endswith("..") else text


def clipped(text: str, most: int, count: Callable[[str], int]) -> str:
    """The text cut to whole sentences within `most` tokens, at least the first, with `…` if any are left out."""
    if count(text) <= most:
        return text
    parts = _SENTENCE.split(text)
    kept = parts[0]
    for part in parts[1:]:
        if count(f"{kept} {part} …") > most:
            break
        kept = f"{kept} {part}"
    if count(kept) > most * MUCH_TOO_LONG:
        kept = _first_words(kept, most, count)
    return kept if len(kept) >= len(text) else f"{kept.rstrip('.;… ')} …"


def first_sentence(text: str) -> str:
    """A text up to the end of its first sentence or clause."""
    return _FIRST_END.split(text, maxsplit=1)[0]


def traced(line: str, source: str, cited: int = 1) -> float:
    """The share of a line's words that occur in its source, 0..1; each of the `cited` line numbers counts as a miss."""
    every, theirs = _words(_WIKILINK.sub(" ", line)), _words(source)
    content = every - STOP_WORDS
    return min((len(need & theirs) / (len(need) + cited) for need in (every, content) if need), default=1.0)


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.casefold()) if len(word) > 1}


def _first_words(text: str, most: int, count: Callable[[str], int]) -> str:
    """The first words that fit into `most` tokens, at least one, without cutting through a link or code."""
    words = text.split(" ")
    kept = max(1, bisect_right(range(1, len(words) + 1), most, key=lambda n: count(" ".join(words[:n]))))
    text = " ".join(words[:kept])
    while kept > 1 and (text.count("[[") > text.count("]]") or text.count("`") % 2):
        kept -= 1
        text = " ".join(words[:kept])
    return text.rstrip(",:;–—-( ")


def one_line(text: str) -> str:
    """A fact's text on one line, with comment marks defused, which could open or close one of ours."""
    return " ".join(text.replace("<!--", "‹!--").replace("-->", "--›").replace("%%", "%\u200b%").split())


# --- cited evidence --------------------------------------------------------------------------------------------------

_CITED = r"(?:\[\[[^\[\]]+\]\]|\d{4}-\d{2}-\d{2})(?: L\d+(?:, L\d+)*)?"
_EVIDENCE = re.compile(rf"(?:^|(?<=[.!?…])\s+)Evidence: (?:{_CITED}(?:[.,;]|,? and\b|\s&)?\s*)+$")
"""A list of citations at the end of a statement and nothing else: prose after the word is part of the statement."""

_TARGET = re.compile(r"\[\[(?P<note>[^\[\]|#]+)(?:#\^(?P<block>[\w-]+))?|(?<![\[\w])(?P<day>\d{4}-\d{2}-\d{2})")


class EvidenceSource(NamedTuple):
    """A cited note, as linked, case folded; with a block id, only the fact with that id."""

    note: str
    block_id: str | None = None


def without_evidence(text: str) -> str:
    """A statement without its cited evidence."""
    return _EVIDENCE.sub("", text) if "Evidence: " in text else text


def sources(text: str) -> frozenset[EvidenceSource]:
    """The evidence a statement cites: `Evidence: [[2025-10-29]], [[2025-11-11#^late]].`"""
    match = _EVIDENCE.search(text) if "Evidence: " in text else None
    targets = _TARGET.finditer(match[0]) if match else ()
    return frozenset(
        EvidenceSource((one["note"] or one["day"]).strip().removesuffix(".md").casefold(), one["block"])
        for one in targets
    )


LONGEST_NAME_WORDS = 4
"""Maximum number of words in a name."""

_NAME_WORD = re.compile(r"[^\W_]+(?:[-.][^\W_]+)*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;…])[\W_]*$")
_CALENDAR = frozenset(name.casefold() for name in (*WEEKDAY_NAMES, *MONTH_NAMES))


class NameIndex:
    """Finds entities by name: `forms` pairs names with slugs, `texts` returns the texts they occur in."""

    def __init__(self, forms: Iterable[tuple[str, str]], texts: Callable[[], Iterable[str]]) -> None:
        self._forms: dict[tuple[str, ...], set[str]] = {}
        for form, slug in forms:
            self._forms.setdefault(tuple(_NAME_WORD.findall(form.casefold())), set()).add(slug)
        self._first = {form[0] for form in self._forms if form}
        self._texts = texts

    @cached_property
    def _small_words(self) -> frozenset[str]:
        return frozenset(word for text in self._texts() for word in _NAME_WORD.findall(text) if word[0].islower())

    def slugs(self, text: str, canonical: Callable[[str], str]) -> list[str]:
        """The entities mentioned or named in a text, each once; a name shared by two counts for neither."""
        mentioned = map(canonical, entities.mentions(text))
        return list(dict.fromkeys((*mentioned, *self.named(readable(text, lambda _: False)))))

    def named(self, text: str) -> Iterator[str]:
        """Yield the entities named in a text, in order; a name shared by two counts for neither."""
        words = list(_NAME_WORD.finditer(text))
        at = 0
        while at < len(words):
            end = at + 1
            if words[at][0][0].isupper() and words[at][0].casefold() in self._first:
                for longer in range(min(at + LONGEST_NAME_WORDS, len(words)), at, -1):
                    slugs = self._forms.get(tuple(word[0].casefold() for word in words[at:longer]), set())
                    if len(slugs) == 1 and (longer > at + 1 or self._is_name(text, words[at])):
                        yield from slugs
                        end = longer
                        break
            at = end

    def _is_name(self, text: str, word: re.Match[str]) -> bool:
        """Whether a capitalised single word is a name: no day or month, and not just the start of a sentence."""
        folded = word[0].casefold()
        if folded in _CALENDAR:
            return False
        return not _SENTENCE_START.search(text[: word.start()]) or folded not in self._small_words


# --- whether two statements say the same ------------------------------------------------------------------------------

_NEGATIONS = frozenset(
    """not no never nicht nie niemals kein keine keinen keinem keiner ne pas jamais nunca não non niet geen nooit inte
    aldrig inga ingen inget ikke aldri ej не никогда nie""".split()  # noqa: SIM905 - reads as prose
)
"""All languages in one set ("No 2 pump"): a false hit matters only if all other words are the same."""
_WITH_NEGATION = frozenset(
    "do does did longer more any anymore mehr plus más mais più mai meer längre lenger længere больше".split()  # noqa: SIM905 - reads as prose
)
"""Words that accompany a negation: "does not like", "mag nicht mehr", "n'aime plus"."""

_STATEMENT_MARKUP = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]|[@*_`]")
_SHORT_FORMS = (
    (re.compile(r"\bcan(?:['’]t|not)\b"), "can not"),
    (re.compile(r"\bwon['’]t\b"), "will not"),
    (re.compile(r"n['’]t\b"), " not"),
    (re.compile(r"\bn['’](?=\w)"), "ne "),
)
_STATEMENT_WORD = re.compile(r"[^\W_]+")


class Sentence(NamedTuple):
    """The words of a statement for comparison, without negation, and whether there was one."""

    words: tuple[str, ...]
    is_denied: bool


@lru_cache(1 << 14)
def sentence(text: str, names: tuple[str, ...] = ()) -> Sentence:
    """The words of a statement about somebody with these names, without a name it begins with."""
    words = _statement_words(text)
    for name in sorted((_statement_words(name) for name in names), key=len, reverse=True):
        if name and words[: len(name)] == name:
            words = words[len(name) :]
            break
    is_denied = not _NEGATIONS.isdisjoint(words)
    if is_denied:
        words = [word for word in words if word not in _NEGATIONS and word not in _WITH_NEGATION]
    return Sentence(tuple(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words), is_denied)


def _statement_words(text: str) -> list[str]:
    text = _STATEMENT_MARKUP.sub(lambda match: match[1] or "", without_evidence(text)).casefold()
    for pattern, full in _SHORT_FORMS:
        text = pattern.sub(full, text)
    return _STATEMENT_WORD.findall(text)


_ACTIVE = re.compile(r"!(?=\[)|<(?=[A-Za-z/!?%])|`(?=\$?=)")
_INERT = {"!": "\\!", "<": "&lt;", "`": "'"}


def inert(text: str) -> str:
    """A text in which nothing is loaded or run when an editor shows it: no image or embed, HTML, template or query."""
    return _ACTIVE.sub(lambda found: _INERT[found[0]], text)
