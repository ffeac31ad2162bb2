"""Parses a question: content terms, names, candidate entities, time window, kind and recency hints.

Pure; accepts any text, and none of it reaches FTS5 unquoted.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from vault_memory.markdown import entities
from vault_memory.search.answer import Request, Result
from vault_memory.text import terms
from vault_memory.text.calendar_days import CALENDAR_WORDS, may_hold_date
from vault_memory.text.terms import STOP_WORDS

if TYPE_CHECKING:
    from vault_memory.text.date_finder import Window

MAX_TITLE_WORDS, MIN_WHOLE, MAX_SPOKEN = 8, 4, 24
"""In words: the longest title or file name looked for in a question; the shortest question whose verbatim occurrence
counts as a quotation, since an answer may well contain a shorter one; and how much of a long question is compared."""

_ORDER_WORDS = frozenset("last latest first earliest most recent recently newest time times tried try".split())  # noqa: SIM905
"""Words that only select one of several ("last time we tried …"), ignored once that is understood."""

_PERIOD_WORDS = frozenset(
    """anything everything something things stuff events event news new going been done doing summary summarize
    summarise recap overview review highlights list show give notes note important notable interesting
    happens happening plan plans planned planning scheduled due upcoming coming take takes took place
    say said told talk talked talking discussed mentioned wrote written noted logged recorded""".split()  # noqa: SIM905
)
"""Words that ask what happened in a period ("a summary of last week"); beside a time they add no content."""

_OF_TIME = CALENDAR_WORDS | _ORDER_WORDS | {"ago", "next"}

_WORD = re.compile(r"[^\s\"“”„]+")
_QUOTED = re.compile(r"[\"“„]([^\"“”„]{2,200})[\"”“]")
_EDGE = "@()[]{}<>«»‹›.,;:!?¡¿…'’‘`*_~|،؛؟।॥。、！？：；「」『』（）《》"
_HYPHENATED = r"[^\W\d_]+(?:-[^\W\d_]+)+"
_CAMEL = re.compile("[a-z][A-Z]")
_PARTS = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")
_ATTACHED = re.compile(
    r"['’]s$|^(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu|un|all|dall|dell|nell|sull)['’](?=\w)", re.IGNORECASE
)
"""What an apostrophe joins to a word: the English possessive, French and Italian articles and pronouns ("l'alcool")."""
_NAME = re.compile(r"(?<![\w@])[^\W\d_a-z][\w'’-]*")
_LATEST = r"\b(?:last time|latest|most recent(?:ly)?|newest)\b"
_EARLIEST = r"\b(?:first time|earliest|originally)\b"
_DID = r"\bdid [\w ]{1,40}? (last|first) (\w+)"
_WHEN = re.compile(
    r"\b(?:when|what (?:date|day|month|year|time)|how long|since when)\b"
    r"|\b(?:which|what) (?:month|year|date|day|week)\b",
    re.I,
)
_OPINION = r"\b(?:prefer\w*|opinions?|thinks?|thought|believe\w*|feels?|favou?rites?|(?:dis)?likes?|hates?|loves?)\b"
_EXPERIENCE = r"\b(?:did (?:i|we)|have (?:i|we)|(?:i|we) (?:tried|did|went|fixed|built|made))\b"
_KIND_HINTS = (("opinion", re.compile(_OPINION, re.I)), ("experience", re.compile(_EXPERIENCE, re.I)))


_ERROR = re.compile(
    r"Traceback \(most|^\s+at \S+[(:]|\bline \d+, in \w|\b[A-Z]\w*(?:Error|Exception)\b|\b(?:error|panic|fatal|errno|"
    r"fehler|erreur|errore|erro)(?:\[\w+\])?: |\bSIG(?:SEGV|ABRT|KILL|BUS)\b|\bexit (?:code|status) [1-9]"
    r"|\b[A-Z]+_ERR_\w+",
    re.MULTILINE,
)


class Query(NamedTuple):
    """A question and how it was understood."""

    request: Request
    text: str = ""
    words: Sequence[str] = ()
    """Its content words, case folded."""
    spoken_words: Sequence[str] = ()
    """All words from the first to the last one that is no stop word, case folded."""
    phrases: Sequence[str] = ()
    """FTS5 phrases for the content words."""
    title_phrases: Sequence[str] = ()
    """The same for all words that are not stop words, including those of a time."""
    date_phrases: Sequence[str] = ()
    """The same for the spellings of its day or month."""
    fallback_phrases: Sequence[str] = ()
    """Phrases of the time that are searched only if nothing is known of that time."""
    full_text: str = ""
    """The normalised question, to detect quotations of it; "" if it is short or nothing but its `spoken_words`."""
    exact: Sequence[str] = ()
    """Texts that should occur verbatim: quoted parts, paths, options, versions."""
    files: Sequence[str] = ()
    """Runs of words that may be a note's path or file name, case folded."""
    names: Sequence[str] = ()
    """Its capitalised words."""
    entity_slugs: Sequence[str] = ()
    """Runs of one to four words that may name an entity."""
    title_slugs: Mapping[str, bool] = {}
    """Runs of words that may be a note's whole title; False for a single word not written as a name."""
    window: "Window | None" = None
    unread: str = ""
    """Why a date was not read."""
    kinds: tuple[str, ...] = ()
    asks_when: bool = False
    holds_error: bool = False
    """Whether it contains an error message or a stack trace."""
    wants_latest: bool = False
    wants_earliest: bool = False

    def others(self) -> Iterator["Query"]:
        """Yield the question for each other year that its day may belong to."""
        from vault_memory.text import date_finder

        for span in self.window.others if self.window else ():
            named, _ = date_finder.spelled(span)
            window = self.window and self.window._replace(span=span, others=())
            yield self._replace(window=window, date_phrases=tuple(map(terms.quoted, named)))

    def unknown(self, known: Iterable[str]) -> tuple[str, ...]:
        """Return its words none of whose phrases is `known`.

        Words of time, scripts without spaces and the function words of its language do not count.
        """
        phrases = {phrase.casefold() for phrase in known}
        words = [word for word in self.words if word not in _OF_TIME and not terms.RUN.search(word)]
        words = [word for word in words if any(map(str.isalnum, word))]
        unknown = [word for word in words if phrases.isdisjoint(map(str.casefold, phrases_of([word])))]
        return tuple(without_function_words(self.text, unknown))


def understand(request: Request) -> Query:
    """Parse a question; never raises."""
    text = request.query.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")
    window, unread, named, loosely = _read_time(text, request.today) if may_hold_date(text) else (None, "", [], [])
    # Strip surrounding punctuation, but keep a word that is nothing else (`->`, `??`).
    written = [word.strip(_EDGE) or word for word in _WORD.findall(text)]
    spoken = [_ATTACHED.sub("", word) or word for word in written]
    # "What is a DID?" asks for a name, unless the whole question is in capitals.
    names_in_capitals = {word for word in spoken if len(word) > 1 and word.isupper() and not text.isupper()}
    told = [word.casefold() for word in spoken if word in names_in_capitals or not _is_stop_word(word.casefold())]
    idle = {word.strip(_EDGE) for word in window.text.casefold().split()} if window else set()
    latest, earliest = _wanted_ends(text)
    idle |= _ORDER_WORDS if latest or earliest else set()
    content = [w for w in spoken if w in names_in_capitals or not (_is_stop_word(w.casefold()) or w.casefold() in idle)]
    content = without_function_words(text, content) if window else content  # "was war am 5. November 2026?"
    of_time = content if window and all(w.casefold() in _PERIOD_WORDS for w in content) else []
    content = content if not of_time else []
    # A note that quotes the whole question ("what does Peter prefer?") asks it, but does not answer it.
    words = re.findall(r"\w+", text.casefold())[:MAX_SPOKEN]
    telling = [i for i, word in enumerate(words) if word not in STOP_WORDS]
    quotable = tuple(words[telling[0] : telling[-1] + 1]) if telling else ()
    # All runs of up to four words, longest first, for entity lookup.
    runs = (spoken[i : i + length] for length in (4, 3, 2, 1) for i in range(len(spoken) - length + 1))
    slugs = (entities.slug(" ".join(run)) for run in runs if len(run) > 1 or run[0].casefold() not in STOP_WORDS)
    literal = (w for w in spoken if _has_inner_symbol(w) and not re.fullmatch(_HYPHENATED, w))
    names = (_ATTACHED.sub("", name) for name in _NAME.findall(text) if name.casefold() not in STOP_WORDS)
    return Query(
        request,
        text,
        words=tuple(dict.fromkeys(word.casefold() for word in content)),
        spoken_words=quotable,
        full_text=" ".join(words) if len(words) >= MIN_WHOLE and len(words) > len(quotable) else "",
        # In a question of stop words only ("to be or not to be"), they are the content.
        phrases=phrases_of(content) or (() if window else phrases_of(spoken)),
        title_phrases=tuple(dict.fromkeys(phrase for word in told for phrase in terms.match_terms(word))),
        date_phrases=tuple(map(terms.quoted, named)),
        fallback_phrases=(*map(terms.quoted, loosely), *phrases_of(of_time)),
        exact=tuple(dict.fromkeys((*_QUOTED.findall(text), *literal))),
        files=tuple(_files(spoken)),
        names=tuple(dict.fromkeys(names)),
        entity_slugs=tuple(dict.fromkeys(filter(None, slugs))),
        title_slugs=_title_slugs(spoken, set(content)) | _title_slugs(written, set(content)),
        window=window,
        unread=unread,
        kinds=tuple(kind for kind, hint in _KIND_HINTS if hint.search(text)),
        asks_when=_WHEN.search(text) is not None,
        holds_error=_ERROR.search(text) is not None,
        wants_latest=latest,
        wants_earliest=earliest,
    )


def without_function_words(text: str, words: list[str]) -> list[str]:
    """Drop the function words of a text's language from some of its words."""
    if not words:
        return words
    from vault_memory.text.word_classes import function_words  # lazy: in most questions every word is known

    idle = function_words(text)
    return [word for word in words if not (idle and idle.issuperset(re.findall(r"\w+", terms.folded(word))))]


def _read_time(text: str, today: date) -> "tuple[Window | None, str, list[str], list[str]]":
    """Return the window a question asks about, or why its date was not read; and the spellings of that window."""
    from vault_memory.text import date_finder  # lazy: most questions contain none

    if window := date_finder.find_window(text, today):
        return window, "", *date_finder.spelled(window.span)
    unread = ""
    if doubt := date_finder.ambiguous(text):
        unread = f"{doubt[0]} may be {doubt[1][0]} or {doubt[1][1]}: write it so"
    return None, unread, [], []


def matched_words(query: Query, results: Iterable[Result], stems: Callable[[str], list[str]]) -> tuple[str, ...]:
    """Return the results' words that share a stem with the question; in scripts without spaces, the question's own."""
    wanted = {stem for phrase in (*query.phrases, *query.date_phrases) for stem in stems(phrase)}
    words = {word for result in results for word in re.findall(r"\w+", result.content.casefold())}
    alike = (w for w in words if not terms.RUN.search(w) and not wanted.isdisjoint(stems(terms.index_text(w))))
    return (*sorted(alike), *filter(terms.RUN.search, query.words))


def _wanted_ends(question: str) -> tuple[bool, bool]:
    """Return whether the newest answer is asked for ("last time", "when did I last see P"), and whether the oldest."""
    did = re.search(_DID, question, re.I)
    # "when did Peter last visit", but not "did Peter last week": no calendar word may follow.
    which = did[1].lower() if did and did[2].lower() not in CALENDAR_WORDS else ""
    return (
        which == "last" or re.search(_LATEST, question, re.I) is not None,
        which == "first" or re.search(_EARLIEST, question, re.I) is not None,
    )


def _is_stop_word(word: str) -> bool:
    """Return whether a word carries no content: a stop word or a contraction of one (won't, who'd)."""
    head, mark, _ = word.replace("’", "'").partition("'")
    return word in STOP_WORDS or (bool(mark) and (head in STOP_WORDS or head == "won"))


def phrases_of(words: list[str]) -> tuple[str, ...]:
    """Return the FTS5 phrases for some words; for one with symbols inside, first the whole, then its parts."""
    found: dict[str, None] = {}
    for word in words:
        found |= dict.fromkeys(terms.match_terms(word))
        if _has_inner_symbol(word) or _CAMEL.search(word):
            # `tile-server` is one phrase, but a note may say only "the server": its parts count too.
            parts = [p for p in _PARTS.split(word) if len(p) > 2 and p.casefold() not in STOP_WORDS]
            found |= dict.fromkeys(terms.quoted(part) for part in parts)
    return tuple(found)


def _has_inner_symbol(word: str) -> bool:
    word = word if word.isascii() else terms.without_marks(word)
    return re.search(r"\w[^\w\s'’]+\w|\w_\w|\w[+#]+$|^[-/.#]+\w", word) is not None


def _title_slugs(words: list[str], content: set[str]) -> dict[str, bool]:
    """Return the runs of words that may be a title, by slug; each contains a content word."""
    found: dict[str, bool] = {}
    for start, first in enumerate(words):
        for end in range(start + 1, min(start + MAX_TITLE_WORDS, len(words)) + 1):
            # The first word of a question is capitalised anyway.
            is_name = end - start > 1 or (start > 0 and first[:1].isupper())
            if not content.isdisjoint(words[start:end]):
                slug = entities.slug(" ".join(words[start:end]))
                found[slug] = found.get(slug, False) or is_name
    return found


def _files(words: list[str]) -> Iterator[str]:
    """Yield runs of words that may be a note's path or file name: the last one ends in `.md` or contains a slash."""
    for end, word in enumerate(words, 1):
        folded = word.casefold()
        if folded.endswith(".md") or "/" in folded.strip("/"):
            for start in range(max(end - MAX_TITLE_WORDS, 0), end):
                yield " ".join(words[start:end]).casefold().removesuffix(".md").lstrip("./") + ".md"
