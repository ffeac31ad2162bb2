"""Extracts from a fact the claims that a newer fact can replace: where somebody lives, works, what they use. Pure.

English only, and precision over recall; a fact that names the one it replaces (`supersedes=^id`) works in any language.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from vault_memory.markdown import entities
from vault_memory.markdown.fact_text import sentence
from vault_memory.markdown.supersession import ANY, CHANGES, ENDS, PLANNED, SAID, STATES, Claim
from vault_memory.text import date_finder

MAX_CHARS = 200
"""A longer sentence is taken to say more than one thing."""

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
"""Words that mark what is not (yet, any more, always, only) the case: such a sentence yields no claims."""

_CHANGE_WORD = re.compile(r"\b(?:now|nowadays|instead|any ?more|these days|from now on|as of|again)\b", re.I)
_NEGATED = re.compile(r"\b(?:not|never|no|neither|nor|none|nothing|hardly|rarely|cannot)\b|n['’]t\b", re.I)
_ADVERBS_AT_END = re.compile(
    r"[\s,]+(?:now|nowadays|instead|any ?more|these days|from now on|again|at the moment|at present|currently)$", re.I
)
"""Adverbs that neither belong to a value nor limit it."""

_HOLDS_FROM = re.compile(
    r"(?<![\s,])[\s,]+(?P<how>since|as of|from|starting(?: from| in| on)?|effective) (?P<day>\S+(?: \S+){0,3})$", re.I
)

_PRONOUNS = frozenset("he she they it i we".split())  # noqa: SIM905
_ARTICLES = frozenset("a an the his her their its my our your of".split())  # noqa: SIM905
_ADVERBS = r"(?:(?:has|have|is|are|am|now|currently|nowadays|just|recently|finally|already|really|still) )*"
_WHO = r"(?P<who>(?:[^\s,;:]+ ){0,4}?)"


def _clause(pattern: str) -> re.Pattern[str]:
    return re.compile(_WHO + pattern, re.I)


_NAMES = r"(?-i:[^\W\d_a-z][\w'’.-]*(?:,? [^\W\d_a-z][\w'’.-]*)*)"
"""The name of a place or a company, and nothing more: a home "in summer" does not contradict the usual one."""

_PLACE = r"(?-i:(?:\d[\w/-]* )?[^\W\d_a-z][\w'’.-]*(?:,? (?:\d[\w/-]*|[^\W\d_a-z][\w'’.-]*))*)"
"""The name of a place, or an address with its numbers."""

_COMPANY = r"(?:,? (?:with|near|above|together|close) .+)?"
"""With whom or near what somebody lives: that is no part of the place."""

_CONDITION = r" (?:for|when|as|in|on|at|during|while|before|after|by|every|each) .+"
"""For what, when or where: a conditional claim never contradicts an unconditional one."""

# `lives in Bern`, `moved to Bern`, `works at Google`, `left Google`, `prefers tea (to coffee) (for breakfast)`,
# `uses vim`, `switched from vim to Helix`, `moved from Zurich to Bern` (which may also be two programs).
_HOME = rf"(?:lives?|living|resides?|residing|based) (?:in|at) (?P<new>{_PLACE})"
_LIVES = _clause(rf"{_ADVERBS}{_HOME}{_COMPANY}")
_MOVED = _clause(rf"{_ADVERBS}(?:moved|moves|relocated|relocates) (?:back )?to (?P<new>{_PLACE})(?:,? (?!for\b).*)?")
_WORKS = _clause(
    rf"{_ADVERBS}(?:works?|working|employed) (?:at|for|by) (?P<new>{_NAMES})(?: in {_NAMES})?(?: as an? \w+(?: \w+)?)?"
)
_LEFT = _clause(rf"(?:has |have )?(?:left|quit) (?P<old>{_NAMES})(?:,? (?:to|for|in|on|after|because|last)\b.*)?")
_PREFERS = _clause(
    rf"{_ADVERBS}prefers? (?P<new>.+?)(?:,? (?:over|to|instead of|rather than) (?P<old>.+?))?(?P<context>{_CONDITION})?"
)
_USES = _clause(rf"{_ADVERBS}uses? (?P<new>.+)")
_SWITCHED = _clause(
    rf"{_ADVERBS}(?:switch|chang|migrat|mov|convert|relocat)\w*(?: (?:over|back|away))? from (?P<old>.+?)"
    r" to (?P<new>.+)"
)
_NO_LONGER = _clause(r"(?:is |are |am )?no longer (?P<rest>.+)")
_NOT_ANY_MORE = _clause(r"(?:is|are|am|does|do)(?: not|n['’]t) (?P<rest>.+)")


class _Clause(NamedTuple):
    """A sentence without adverbs of time, the names in the fact's head, whether it is the whole fact, and its tone."""

    text: str
    subjects: tuple[str, ...]
    is_whole: bool
    how: str

    def claim(self, slot: str, value: str, how: str = "") -> Claim:
        return Claim(slot, value, how or self.how, self.is_whole)


def claims(kind: str, subjects: Sequence[str], narrative: str, day: date | None = None) -> list[Claim]:
    """The claims of a Retain bullet about its subjects (names in its head); a yearless month is resolved by `day`."""
    sentences = _SENTENCE.split(_MARKUP.sub(lambda m: m[1] or "", narrative.strip()))
    text = _ASIDE.sub("", sentences[0]).strip().rstrip(".!").strip()
    if not text or len(text) > MAX_CHARS or _UNCERTAIN.search(text.replace("May", "\0")):
        return []
    is_whole = len(sentences) == 1 and not _SEVERAL_CLAUSES.search(re.sub(_HOME, "", text, flags=re.I))
    text = re.split(r"[;:]\s", text, maxsplit=1)[0]
    how = CHANGES if _CHANGE_WORD.search(text) else STATES
    text, start = _begun(_trimmed(text), day)
    clause = _Clause(text, tuple(subjects), is_whole, how)
    found = [claim._replace(start=start) for claim in (_ended if _NEGATED.search(text) else _told)(clause)]
    if kind == "experience":
        found = [claim._replace(whole=False) for claim in found if claim.how != STATES]
    return list(dict.fromkeys(found))


def replaces(named: str) -> Claim:
    """The claim of a bullet that names the fact it replaces, as `note#id` or `#id`."""
    return Claim(f"^{named}".casefold(), "", ENDS)


def date_in(narrative: str, told: date) -> date | None:
    """The day that a bullet's text names, unless the bullet only holds from that day on; else None."""
    text = narrative.rstrip(" .")
    span = date_finder.occurred(narrative, told) if _begun(text, told)[0] == text else None
    return span.start if span else None


_PUT_OFF = re.compile(
    r"(?P<what>[^.;:]+?) (?:(?:is|are|was|were|has|have|had|been|got|gets) )*"
    rf"{date_finder.RESCHEDULED} from (?P<old>[^.;:]{{1,40}}?) to \S",
    re.I,
)


def plans(narrative: str, told: date, occurred: date | None) -> Iterator[Claim]:
    """Yield a bullet's claims about days to come: what is planned for one, and what was moved away from another."""
    text = _MARKUP.sub(lambda m: m[1] or "", narrative.strip())
    if occurred and occurred > told:
        yield Claim(f"{PLANNED}:{occurred}", _value(text), STATES, start=told)
    moved = _PUT_OFF.match(text[:MAX_CHARS])
    span = date_finder.days_alone(moved["old"], told) if moved else None
    if moved and span:
        yield Claim(f"{PLANNED}:{span.start}", _value(moved["what"]), ENDS, start=told)


def denials(kind: str, subjects: Sequence[str], narrative: str) -> Iterator[Claim]:
    """Yield the whole bullet as a claim, affirmed or denied: either replaces the other. Not for experiences."""
    said = sentence(narrative, tuple(subjects))
    if kind != "experience" and len(said.words) > 1 and len(narrative) <= MAX_CHARS:
        yield Claim(f"{SAID}:{' '.join(said.words)}", "", ENDS if said.is_denied else STATES)


def _begun(text: str, day: date | None) -> tuple[str, date | None]:
    """A sentence without the day from which it holds, and that day if it is later than `day`."""
    match = _HOLDS_FROM.search(text)
    span = date_finder.days_alone(match["day"], day) if match else None
    if not match or not span:
        return text, None
    is_later = match["how"].casefold() != "since" and (day is None or span.start > day)
    return _trimmed(text[: match.start()]), span.start if is_later else None


def _trimmed(text: str) -> str:
    while (cut := _ADVERBS_AT_END.sub("", text)) != text and cut:
        text = cut
    return text


def _is_subject(clause: _Clause, match: re.Match[str]) -> bool:
    """Whether a clause is about the fact's subject, or about its writer."""
    who = match["who"].strip().casefold()
    if who in _PRONOUNS or not who:
        return bool(clause.subjects) or who in ("i", "we")
    return any(who.removeprefix("the ") in _names(subject) for subject in clause.subjects)


@lru_cache(1024)
def _names(subject: str) -> tuple[str, ...]:
    """The names of a subject in a sentence: the whole name, or any of its words."""
    slug = entities.slug(subject)
    return tuple(dict.fromkeys(name for name in (slug.replace("-", " "), *slug.split("-")) if name not in ("", "the")))


def _value(text: str) -> str:
    """The significant words of a value: case folded, without articles."""
    words = re.findall(r"[\w%€$£.+#'’/:-]+", _trimmed(text.strip()).casefold())
    return " ".join(word.strip(".:'’") for word in words if word not in _ARTICLES)


def _ended(clause: _Clause) -> Iterator[Claim]:
    """Yield what a sentence says has ended: "no longer lives in Zurich", "does not use vim any more"."""
    match = _NO_LONGER.fullmatch(clause.text)
    if not match and clause.how == CHANGES:
        match = _NOT_ANY_MORE.fullmatch(clause.text)
    if match and _is_subject(clause, match):
        plain = clause._replace(text=match["rest"], subjects=clause.subjects or ("i",))
        yield from (claim._replace(how=ENDS) for claim in _told(plain))


def _told(clause: _Clause) -> Iterator[Claim]:
    """Yield the claims of a sentence."""
    text = clause.text
    patterns = (_LIVES, _MOVED, _WORKS, _LEFT, _PREFERS, _USES, _SWITCHED)
    match = next(filter(None, (pattern.fullmatch(text) for pattern in patterns)), None)
    if not match or not _is_subject(clause, match):
        return
    said = {name: _value(value or "") for name, value in match.groupdict().items()}
    if match.re in (_LIVES, _MOVED):
        parts = map(_value, date_finder.without_days(match["new"]).split(","))
        yield clause.claim("live", ", ".join(filter(None, parts)), CHANGES if match.re is _MOVED else "")
    elif match.re is _WORKS:
        yield clause.claim("work", said["new"])
    elif match.re is _LEFT:
        yield clause._replace(is_whole=False).claim("work", said["old"], ENDS)
    elif match.re is _PREFERS:
        yield clause.claim("prefer", f"{said['new']}|{said['context']}")
        if match["old"]:
            yield clause._replace(is_whole=False).claim("prefer", f"{said['old']}|{said['context']}", ENDS)
    elif match.re is _USES:
        # Coexists with other uses; only "switched from vim" ends it.
        yield clause.claim("use", said["new"])
    else:
        condition = re.search(_CONDITION, date_finder.without_days(match["new"]))
        yield clause.claim(ANY, _value(match["old"] + (condition[0] if condition else "")), ENDS)
