"""What a fact claims that a newer one can replace: where somebody lives, works, what they prefer and use. Pure.

Precise over complete, in English; a fact that names the one it replaces (`supersedes=^id`) is read in any language.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from vault_memory.markdown import entities
from vault_memory.markdown.fact_text import sentence
from vault_memory.markdown.replaced_claims import ANY, CHANGES, COUNTRIES, ENDS, PLANNED, SAID, STATES, Claim
from vault_memory.text import date_finder
from vault_memory.text.calendar_days import MONTH_NAMES, WEEKDAY_NAMES

MAX_CHARS = 200
"""A longer sentence says more than one thing."""

_MARKUP = re.compile(
    r"@?\[\[(?:[^\[\]|]*\|)?([^\[\]|#]+)(?:#[^\[\]|]*)?\]\]|(?<!\w)@(?=\w)|[*`_]{1,2}(?=\S)|(?<=\S)[*`]{1,2}"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_a-z])")
_ASIDE = re.compile(r"\s*\([^()]*\)|,?\s+\b(?:because|so that|which|although|though)\b.*$", re.I)
_SEVERAL_CLAUSES = re.compile(r"[;:]\s|, (?!\d)|\b(?:and|or|but|while)\b")
_UNCERTAIN = re.compile(
    r"\?|[\"“”„]|\b(?:will|would|wants?|wanted|plan(?:s|ned|ning)? to|hop(?:es|ed|ing) to|might|could|should|was|were"
    r"|consider\w*|think(?:s|ing)?|thought|going to|used to|maybe|perhaps|probably|likely|if|unless|once|until|till"
    r"|except|sometimes|often|usually|also|too|both|either|another|second|besides|additionally|as well|other|says?|said"
    r"|told|heard|claims|that|had|formerly|previously|originally|for a (?:week|while|month|day)|temporarily|almost"
    r"|nearly|mostly|about to|some of|one of|half)\b|\bmay\b(?! \d)"
)
"""What is not (yet, any more, always, alone) the case claims nothing that could be ended or end anything."""

_CHANGE_WORD = re.compile(r"\b(?:now|nowadays|instead|any ?more|these days|from now on|as of|again)\b", re.I)
_NEGATED = re.compile(r"\b(?:not|never|no|neither|nor|none|nothing|hardly|rarely|cannot)\b|n['’]t\b", re.I)

_MONTHS = "|".join(MONTH_NAMES).lower()
_WEEKDAY = f"(?:{'|'.join(WEEKDAY_NAMES).lower()})"
_SEASON = "spring|summer|autumn|winter"
_DATE = (
    rf"(?:\d{{4}}-\d\d(?:-\d\d)?|(?:19|20)\d\d|(?:last|this|next) (?:week|month|year|{_SEASON}|{_WEEKDAY})"
    rf"|(?:(?:early|late|mid|last|next) )?(?:\d{{1,2}}\.? )?(?:{_MONTHS})\b,?(?: \d{{1,2}}\b,?)?(?: (?:19|20)\d\d)?"
    rf"|(?:{_SEASON}) (?:19|20)\d\d|{_WEEKDAY}\b)"
)
_ADVERBS_AT_END = re.compile(
    r"[\s,]+(?:now|nowadays|instead|any ?more|these days|from now on|again|at the moment|at present|currently)$", re.I
)
"""Adverbs that are no part of a value and bound nothing."""

_HOLDS_FROM = re.compile(
    rf"[\s,]+(?P<how>since|as of|from|starting(?: from| in| on)?|effective) (?P<day>{_DATE})$", re.I
)
_HAPPENED = re.compile(rf"[\s,]+(?:(?:in|on|at|during) )?(?:{_DATE}|yesterday|today)(?=$|,)", re.I)
"""When something changed: no part of a value where a sentence tells of a change."""

_CHANGE_VERB = re.compile(r"\b(?:switch|chang|migrat|mov|convert|relocat|left|quit)", re.I)
_PREPOSITION = "in|on|at|for|during|over|by|through|throughout|outside|within|from|after|before"
_TIMES = (
    rf"(?:{_WEEKDAY}s?|{_MONTHS}|(?:19|20)\d\d|weekdays?|weekends?|mornings?|noon|afternoons?|evenings?|nights?"
    rf"|days?|weeks?|months?|years?|(?:{_SEASON})s?|holidays?|vacations?|term|seasons?|christmas|easter)"
)
_AT_TIMES = re.compile(
    r"[\s,]+(?:(?i:(?:(?:only|mainly|just|mostly) )?"
    rf"(?:(?:(?:{_PREPOSITION}) )?(?:the )?(?:every|each|this|next|last)|{_PREPOSITION}))"
    rf"(?: (?!(?:{_PREPOSITION}|every|each|this|next|last)\b)[a-z0-9][\w.-]*){{0,4}}? (?i:{_TIMES})\b.*"
    r"|(?i:whenever|while|during) .+|(?i:today|tonight|tomorrow|daily|weekly|at times|on and off|part[ -]time))$"
)
"""At certain times only: that is beside what holds always, never against it, and claims nothing."""

_PRONOUNS = frozenset("he she they it i we".split())  # noqa: SIM905
_ARTICLES = frozenset("a an the his her their its my our your of".split())  # noqa: SIM905
_BESIDE_PLACE = r",| (?:with|near|at|on|above|into|since|together|close)\b"
"""Begins what is no part of a place: "Lund, into the flat above the shop" is Lund."""

_ADVERBS = r"(?:(?:has|have|is|are|am|now|currently|nowadays|just|recently|finally|already|really|still) )*"
_WHO = r"(?P<who>(?:[^\s,;:]+ ){0,4}?)"


def _clause(pattern: str) -> re.Pattern[str]:
    return re.compile(_WHO + pattern, re.I)


# `lives in Bern`, `moved to Bern`, `works at Google`, `left Google`, `prefers tea (to coffee) (for breakfast)`,
# `uses vim`, `switched from vim to Helix`, `moved from Zurich to Bern`, which may be two programs as well.
_LIVES = _clause(rf"{_ADVERBS}(?:lives?|living|resides?|residing|based) (?:in|at) (?P<new>.+)")
_MOVED = _clause(rf"{_ADVERBS}(?:moved|moves|relocated|relocates) (?:back )?to (?P<new>.+)")
_WORKS = _clause(rf"{_ADVERBS}(?:works?|working|employed) (?:at|for|by) (?P<new>.+?)(?: as .+)?")
_LEFT = _clause(r"(?:has |have )?(?:left|quit) (?P<old>[\w&. -]+)")
_PREFERS = _clause(
    rf"{_ADVERBS}prefers? (?P<new>.+?)(?:,? (?:over|to|instead of|rather than) (?P<old>.+?))?"
    r"(?P<context> (?:for|when|as) .+)?"
)
_USES = _clause(rf"{_ADVERBS}uses? (?P<new>.+)")
_SWITCHED = _clause(
    rf"{_ADVERBS}(?:switch|chang|migrat|mov|convert|relocat)\w*(?: (?:over|back|away))? from (?P<old>.+?)"
    r" to (?P<new>.+)"
)
_NO_LONGER = _clause(r"(?:is |are |am )?no longer (?P<rest>.+)")
_NOT_ANY_MORE = _clause(r"(?:is|are|am|does|do)(?: not|n['’]t) (?P<rest>.+)")


class _Clause(NamedTuple):
    """One sentence without adverbs of time, the names in the fact's head, whether it is all there is, and its tone."""

    text: str
    subjects: tuple[str, ...]
    is_whole: bool
    how: str

    def claim(self, slot: str, value: str, how: str = "") -> Claim:
        return Claim(slot, value, how or self.how, self.is_whole)


def claims(kind: str, subjects: Sequence[str], narrative: str, day: date | None = None) -> list[Claim]:
    """What one Retain bullet claims of its subject (names in its head); a month without a year is read from `day`."""
    sentences = _SENTENCE.split(_MARKUP.sub(lambda m: m[1] or "", narrative.strip()))
    text = _ASIDE.sub("", sentences[0]).strip().rstrip(".!").strip()
    if not text or len(text) > MAX_CHARS or _UNCERTAIN.search(text.replace("May", "\0")):
        return []
    is_whole = len(sentences) == 1 and not _SEVERAL_CLAUSES.search(text)
    text = re.split(r"[;:]\s", text, maxsplit=1)[0]
    how = CHANGES if _CHANGE_WORD.search(text) else STATES
    timeless, start = _timeless(_trimmed(text), day)
    if not timeless:
        return []
    clause = _Clause(timeless, tuple(subjects), is_whole, how)
    told = _ended(clause) if _NEGATED.search(timeless) else _plain(clause)
    found = [claim._replace(start=start) for claim in told]
    if kind == "experience":
        found = [claim._replace(whole=False) for claim in found if claim.how != STATES]
    return list(dict.fromkeys(found))


def replaces(named: str) -> Claim:
    """What a bullet claims that names the fact whose place it takes, as `note#id` or `#id`."""
    return Claim(f"^{named}".casefold(), "", ENDS)


def date_in(narrative: str, told: date) -> date | None:
    """The day that a bullet's words name, if it is not one from which it holds."""
    span = None if _HOLDS_FROM.search(narrative.rstrip(" .")) else date_finder.occurred(narrative, told)
    return span.start if span else None


_PUT_OFF = re.compile(
    rf"(?P<what>[^.;:]+?) (?:(?:is|are|was|were|has|have|had|been|got|gets) )*"
    rf"(?:moved|postponed|rescheduled|shifted|put off|brought forward) from (?P<old>{_DATE}) to \S",
    re.I,
)


def plans(narrative: str, told: date, occurred: date | None) -> Iterator[Claim]:
    """What a bullet says of a day to come: what is planned for it, and what was planned for another and is moved."""
    text = _MARKUP.sub(lambda m: m[1] or "", narrative.strip())
    if occurred and occurred > told:
        yield Claim(f"{PLANNED}:{occurred}", _value(text), STATES, start=told)
    moved = _PUT_OFF.match(text)
    span = date_finder.occurred(f"on {moved['old']}", told) if moved else None
    if moved and span:
        yield Claim(f"{PLANNED}:{span.start}", _value(moved["what"]), ENDS, start=told)


def denials(kind: str, subjects: Sequence[str], narrative: str) -> Iterator[Claim]:
    """What a bullet says as a whole, or that it is not so: the one takes the place of the other. No single event."""
    said = sentence(narrative, tuple(subjects))
    if kind != "experience" and len(said.words) > 1 and len(narrative) <= MAX_CHARS:
        yield Claim(f"{SAID}:{' '.join(said.words)}", "", ENDS if said.is_denied else STATES)


def _timeless(text: str, day: date | None) -> tuple[str, date | None]:
    """A sentence without the times in it, and the later day from which it holds; "" where it holds at times only."""
    match, start = _HOLDS_FROM.search(text), None
    if match:
        text = _trimmed(text[: match.start()])
        span = date_finder.occurred(f"in {match['day']}", day)
        if match["how"].casefold() != "since":
            if span is None:
                return "", None  # from a day that nobody knows
            start = span.start if day is None or span.start > day else None
    if _CHANGE_VERB.search(text):
        text = _HAPPENED.sub("", text)
    return ("" if _AT_TIMES.search(text) else text), start


def _trimmed(text: str) -> str:
    while (cut := _ADVERBS_AT_END.sub("", text)) != text and cut:
        text = cut
    return text


def _who(clause: _Clause, match: re.Match[str]) -> str | None:
    """Who a clause is about: "" for the fact's subject, a noun of theirs ("brother"), None when unclear."""
    phrase = re.sub(r"['’]s?$", "", match["who"].strip().casefold())
    if not phrase:
        return "" if clause.subjects else None
    if phrase in _PRONOUNS:
        return "" if clause.subjects or phrase in ("i", "we") else None
    names = sorted((name for subject in clause.subjects for name in _names(subject)), key=len, reverse=True)
    if phrase.removeprefix("the ") in names:
        return ""
    owner = "|".join(("his", "her", "their", "its", "my", "our", *(rf"(?:the )?{re.escape(n)}['’]s?" for n in names)))
    owned = re.fullmatch(rf"(?:{owner}) (\S+(?: \S+){{0,3}})", phrase)
    return owned[1] if owned else None


@lru_cache(1024)
def _names(subject: str) -> tuple[str, ...]:
    """What a subject is called in a sentence: whole, or by one of its words."""
    slug = entities.slug(subject)
    return tuple(dict.fromkeys(name for name in (slug.replace("-", " "), *slug.split("-")) if name not in ("", "the")))


def _value(text: str) -> str:
    """The words of a value that tell: case folded, without articles."""
    words = re.findall(r"[\w%€$£.+#'’/:-]+", _trimmed(text.strip()).casefold())
    return " ".join(word.strip(".:'’") for word in words if word not in _ARTICLES)


def _plain(clause: _Clause) -> Iterator[Claim]:
    """What a sentence that denies nothing claims."""
    text = clause.text
    match = _LIVES.fullmatch(text) or _MOVED.fullmatch(text)
    if match and _is_place(match["new"]) and (who := _who(clause, match)) is not None:
        place = _value(re.split(_BESIDE_PLACE, match["new"], maxsplit=1)[0])
        yield clause.claim(f"live:{who}".removesuffix(":"), place, CHANGES if match.re is _MOVED else "")
    if (match := _WORKS.fullmatch(text)) and match["new"][:1].isupper():
        if (who := _who(clause, match)) is not None:
            employer = _value(re.split(r",| (?:in|near|with|from)\b", match["new"], maxsplit=1)[0])
            yield clause.claim(f"work:{who}".removesuffix(":"), employer)
    elif (match := _LEFT.fullmatch(text)) and match["old"][:1].isupper() and _who(clause, match) == "":
        yield clause._replace(is_whole=False).claim("work", _value(match["old"]), ENDS)
    if (match := _PREFERS.fullmatch(text)) and _who(clause, match) == "":
        context = _value(match["context"] or "")
        yield clause.claim("prefer", f"{_value(match['new'])}|{context}")
        if match["old"]:
            yield clause._replace(is_whole=False).claim("prefer", f"{_value(match['old'])}|{context}", ENDS)
    if (match := _USES.fullmatch(text)) and _who(clause, match) == "":
        # It stands beside others, and only "switched from vim" or "no longer uses vim" ends it.
        yield clause.claim("use", _value(match["new"]))
    if (match := _SWITCHED.fullmatch(text)) and _who(clause, match) == "":
        condition = re.search(r" (?:for|when|as) .+", match["new"])
        yield clause.claim(ANY, _value(match["old"] + (condition[0] if condition else "")), ENDS)


def _ended(clause: _Clause) -> Iterator[Claim]:
    """`no longer lives in Zurich`, `does not use vim any more`: what a plain statement of it claims, as over."""
    match = _NO_LONGER.fullmatch(clause.text)
    if not match and clause.how != STATES:
        match = _NOT_ANY_MORE.fullmatch(clause.text)
    if match and _who(clause, match) == "":
        plain = _Clause(match["rest"], clause.subjects or ("i",), clause.is_whole, STATES)
        yield from (claim._replace(how=ENDS) for claim in _plain(plain))


def _is_place(text: str) -> bool:
    """Whether a text names a town or country: a capitalised name; "the Old Town" may be a part of another town."""
    place = _value(re.split(_BESIDE_PLACE, text, maxsplit=1)[0])
    return bool(re.match(r"[^\W\d_a-z]", text)) or (text.startswith("the ") and place in COUNTRIES)
