"""Owns whose word a clause is: what is only asked, joked or said by others, who decided; must not know kinds. Pure.

In English, by the words around a verb; telling.py asks it, and reads of a sentence what is left.
"""

import re
from typing import NamedTuple

from vault_memory.markdown import telling_words as table

OWN, MENTIONED, NAMED, OTHER = "own", "mentioned", "named", "other"
"""Who decided: the writer or their team; somebody linked; a bare name, who may be out of a book; anybody else."""

DECIDED = re.compile(
    r"\b(?P<done>[Dd]ecided|[Aa]greed (?:to|on|that|with \S+ (?:to|that|on))|[Cc]hose|[Oo]pted|[Ss]ettled on"
    r"|[Ww]ent with|[Pp]icked)\b"
    r"|\b(?:we|team|they|I)\b[^.]{0,20}\bwill (?:use|go with)\b|\b(?:[Ww]ill use|[Ww]ill go with)\b"
    r"|(?:^|\b[Ww]e're |\b[Ww]e are |\bI'm )[Gg]oing with\b(?! (?:my|the|our) (?:kids|family|friends?))|^Decision:"
)
UNDECIDED = re.compile(
    r"(?:\b(?:not|never|nobody|nothing|none|neither|hardly|yet to|failed to|unable to|refused? to|no one)\b|n't\b)"
    r"(?: (?!but\b|and\b|so\b|then\b|we\b|I\b)[\w'-]+){0,3}"
    r" (?:decided?|agreed?|chose|choose|chosen|picke?d?|opt(?:ed)?|settled? on|(?:go|going|gone|went|use) with|use)\b",
    re.I,
)
COUNTS_ONLY = re.compile(
    r"(?: (?:down|up|out|in|off|about|around|only|just|another|the|some))*"
    r" (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d+)\W*$"
)
"""What was only counted tells nothing: "I wrote down five"."""

_JOKED = re.compile(
    r"\b(?:jok(?:ed|es|ing)|kidd(?:ed|ing)|pretend(?:s|ed|ing)?|fantasi[sz](?:ed|es|ing)|daydream(?:ed|s|ing)?"
    r"|imagin(?:ed|es|ing))(?: \w+){0,3}? (?:that|I|we|he|she|they|about)\b",
    re.I,
)
_ASKED = re.compile(
    r"\b(?:ask(?:s|ed|ing)?|wonder(?:s|ed|ing)?|inquired?|enquired?|want(?:s|ed)? to know)\b"
    r"(?: [\w@\[\]|'-]+){0,4}? (?:whether|if|why|how|when|what|which|who|where)\b"
)
_SUBJECT = (
    r"(?:I|we|he|she|they|it|there|you|nobody|everybody|everyone|this|the|our|my|his|her|their|[A-Z\[@][\w\[\]'-]*)"
)
_WHOM = r"(?:me|us|him|her|them|everybody|everyone|[A-Z@\[][\w\[\]'-]*|(?:the|my|our) \w+)"
_SAID = re.compile(
    rf"\b(?:(?:said|says?|claim(?:s|ed)|thinks?|thought|believe[sd]?|insist(?:s|ed)|argue[sd]|reckon(?:s|ed)|swears|swore)"
    rf"(?: to {_WHOM})?(?: that\b|: | (?={_SUBJECT}(?:'\w+)? ))"
    rf"|(?:tells?|told|assure[sd]|reminde?d?s?) {_WHOM}(?: that\b| (?={_SUBJECT}(?:'\w+)? ))"
    r"|(?:wrote|writes|mention(?:s|ed)|announce[sd]|report(?:s|ed)|hears?|heard|suggest(?:s|ed)|propose[sd]|hopes"
    r"|hoped|feared|fears|denie[sd]) that\b)"
)
_OF_ANOTHER = re.compile(r"[^\W_]'s? |\b(?:[Hh]is|[Hh]er|[Tt]heir) ")
"""Who says it belongs to somebody, of whom it may be said: "Ben's mother says he hates it"."""

_HEARSAY = re.compile(r"(?:rumou?rs? ha(?:s|ve) it|according to|supposedly|allegedly)\b", re.I)
_RESUMES = re.compile(r";|, (?:and|but|so|then) (?=(?:I|we)\b)")
_HINTS = frozenset(
    """joked jokes joking kidded kidding pretend pretends pretended pretending fantasised fantasized daydreamed
    daydreaming imagined imagines imagining ask asks asked asking wonder wonders wondered wondering inquire inquired
    enquire enquired know said say says claims claimed think thinks thought believe believes believed insists insisted
    argued argues reckons reckoned swears swore tell tells told assured assures remind reminds reminded wrote writes
    mentions mentioned announced announces reports reported hear hears heard suggests suggested proposed proposes hopes
    hoped feared fears denied denies rumour rumor rumours rumors according supposedly allegedly""".split()  # noqa: SIM905
)
"""Some of them is among the words of every sentence that reports."""

_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_OWN = frozenset(("i", "we", "i've", "we've", "i'd", "we'd", "i'm", "we're", "us", "team"))
_PASSIVE = frozenset(("was", "were", "been", "is", "are", "got"))
_BETWEEN = _PASSIVE | frozenset(
    """have has had having also just finally then both all now together already recently eventually soon really even
    quickly later today yesterday jointly simply always once only only which""".split()  # noqa: SIM905
)
"""What may stand between who decides and the verb."""


class Said(NamedTuple):
    """A sentence as far as its writer vouches for it; `of_themselves` what somebody else says of themselves."""

    own: str
    of_themselves: str


def vouched(text: str, held: frozenset[str], is_turn: bool) -> Said | None:
    """What is left of a sentence without what it asks, or reports of others; None where all of it is a joke.

    In a conversation what others said is told as it is elsewhere: the speaker vouches for it.
    """
    if held.isdisjoint(_HINTS):
        return Said(text, text)
    if _JOKED.search(text) or (not is_turn and _HEARSAY.match(text)):
        return None
    asked = _ASKED.search(text)
    if asked:
        if DECIDED.search(text, asked.end()):
            return Said(left := _without(text, asked.end()), left) if _is_own(text[: asked.start()]) else None
        text = _without(text, asked.end())
    said = None if is_turn else next((one for one in _SAID.finditer(text) if not _is_own(text[: one.start()])), None)
    if not said:
        return Said(text, text)
    left = _without(text, said.end())
    is_of_themselves = re.match(r" ?(?:he|she|they)\b", text[said.end() :]) and not _OF_ANOTHER.search(
        text, 0, said.start()
    )
    return Said(left, text if is_of_themselves else left)


def _without(text: str, start: int) -> str:
    """A sentence without what begins there, up to where the writer goes on in their own words."""
    resumes = _RESUMES.search(text, start)
    return f"{text[:start]} {text[resumes.start() :]}" if resumes else text[:start]


def who_decided(text: str, start: int) -> str:
    """Who decided, by what stands before the verb."""
    clause = re.split(r"[,:;(]\s*|\s[–—-]\s", text[:start])[-1]
    if "[[" in clause or "@" in clause:
        return MENTIONED if not _is_own(clause) else OWN
    if _is_own(clause):
        return OWN
    words = _WORD.findall(clause)
    while words and words[-1].lower() in _BETWEEN:
        words.pop()
    name = words[-1] if words and words[-1].lower() != "and" else words[0] if words else ""
    return NAMED if name[:1].isupper() and name.lower() not in table.NO_SUBJECTS | table.GENERIC else OTHER


def decides_by_name(text: str) -> bool:
    """Whether a text tells that somebody decided who is only called by name."""
    match = DECIDED.search(text)
    return match is not None and bool(match["done"]) and who_decided(text, match.start()) == NAMED


def _is_own(before: str) -> bool:
    """Whether who does what comes next is the writer, by the words before it: nobody named, I, we or the team."""
    words = [word.lower() for word in _WORD.findall(re.split(r"[,:;(]\s*|\s[–—-]\s", before)[-1])]
    is_passive = False
    while words and (words[-1] in _BETWEEN or words[-1].endswith("ly")):
        is_passive = words.pop() in _PASSIVE or is_passive
    if not words or words[-1] in _OWN or table.LEADS.issuperset(words):
        return True
    if is_passive:
        return words[0] not in ("he", "she", "they", "who")
    return words[-1] in ("and", "to") and (table.is_past(words[0]) or not _OWN.isdisjoint(words))
