"""Owns what a fact claims of its subject, and when a newer claim takes the place of an older one. Pure.

Retired facts are worse than repeated ones, so every rule asks for the same subject, the same attribute and a claim
that can hold only one way at a time; what is merely similar ("likes tea", "likes trains") never meets. Known gaps are
in the Guide. What a claim is:
- a *slot* holds one value at a time (where someone lives, a rent, the best place for something): a new value ends it;
- a *state* holds beside others (uses, likes, prefers): only words of change about that very thing end it.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from vault_memory import entities

STATES, CHANGES, REPLACES, ENDS = "states", "changes", "replaces", "ends"
"""How a claim is made: plainly, with a word of change ("now"), "now … instead" of the only one, or as over."""

ANY = "any"
"""The slot of "switched from X": ends X whatever was said to be done with it."""

MAX_WORDS = 12


class Claim(NamedTuple):
    """What a fact says of its subject: `slot` is the attribute, `value` its words; `whole` when it says nothing else.

    Only a fact that says nothing else can be superseded: the rest of it may still hold.
    """

    slot: str
    value: str
    how: str = STATES
    whole: bool = True


class Told(NamedTuple):
    """A claim with who it is about and when: `day` it was written down and `since` it holds, as ordinals."""

    key: int
    subject: str
    claim: Claim
    day: int
    since: int
    note: int = 0
    line: int = 0


class _Clause(NamedTuple):
    """One sentence without adverbs of time, the names in the fact's head, whether it is all there is, and its tone."""

    text: str
    subjects: tuple[str, ...]
    whole: bool
    how: str


_MARKUP = re.compile(
    r"@?\[\[(?:[^\[\]|]*\|)?([^\[\]|#]+)(?:#[^\[\]|]*)?\]\]|(?<!\w)@(?=\w)|[*`_]{1,2}(?=\S)|(?<=\S)[*`]{1,2}"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_a-z])")
_ASIDE = re.compile(r"\s*\([^()]*\)|,?\s+\b(?:because|so that|which|although|though)\b.*$", re.I)
# What is not (yet, any more, always, alone) the case claims nothing that could be ended or end anything.
_OPEN = re.compile(
    r"\?|[\"“”„]|\b(?:will|would|wants?|wanted|plan(?:s|ned|ning)? to|hop(?:es|ed|ing) to|might|could|should|consider\w*"
    r"|thinking|thinks?|thought|going to|used to|maybe|perhaps|probably|likely|if|unless|once|until|except|sometimes"
    r"|often|usually|mostly|also|too|both|either|another|second|besides|additionally|as well|other|says?|said|told"
    r"|heard|claims|that|had|were|formerly|previously|originally|for a (?:week|while|month|day)|temporarily|almost"
    r"|nearly|about to|some of|one of|half)\b|\bmay\b(?! \d)",
)
_WAS = re.compile(r"\bwas\b(?! (?:raised|increased|reduced|lowered|changed|cut|moved|renamed|promoted))")
_CHANGE = re.compile(r"\b(?:now|nowadays|instead|any ?more|these days|from now on|as of|again)\b", re.I)
_TAIL = re.compile(
    r"[\s,]+(?:now|nowadays|instead|any ?more|these days|from now on|again|today|at the moment|currently"
    r"|(?:since|as of|from|starting|in|on) (?:(?:early|late|mid|last|this|next) )?(?:\d{1,2}\.? )?(?:(?:january|february"
    r"|march|april|may|june|july|august|september|october|november|december|monday|tuesday|wednesday|thursday|friday"
    r"|saturday|sunday|spring|summer|autumn|winter|year|month|week)\b,?)?(?: ?\d{1,2},?)?(?: ?(?:19|20)\d\d)?"
    r"|(?:in )?(?:19|20)\d\d)$",
    re.I,
)
_LEAD = re.compile(r"^(?:(?:now|nowadays|currently|these days|today|as of [\w ]+|since [\w ]+|from now on),? )+", re.I)
_PRONOUNS = frozenset("he she they it i we".split())
_NO_SUBJECT = frozenset(
    "a an some one two three many most people everyone everybody someone no all every each any several few this these"
    " there here what who".split()
)
_ARTICLES = frozenset("a an the his her their its my our your of".split())
_ADVERBS = r"(?:(?:has|have|is|are|now|currently|nowadays|just|recently|finally|already|officially|really|still) )*"
_WHO = r"(?P<who>(?:[^\s,;:]+ ){0,4}?)"

_NUMBER = re.compile(
    r"(?P<pre>(?:[a-z]{2,3}|[$€£¥])\s?)?(?P<number>\d(?:[\d.,'’  ]*\d)?)\s?(?P<unit>%|[€$£¥]|[^\W\d_]+(?:(?: an?| per|/) ?\w+)?)?$",
)
_TIME_VALUE = re.compile(
    r"(?:(?:on|at|for) )?(?:\d{1,2}:\d\d|\d{4}-\d\d-\d\d|(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?,? ?)?"
    r"(?:\d{1,2}\.? )?(?:january|february|march|april|may|june|july|august|september|october|november|december)"
    r"(?: \d{1,2})?|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)(?:,? (?:at )?[\d:. apm]+)?",
)
SINGLE = frozenset(
    "phone telephone mobile number address email password passphrase birthday surname job title role position manager"
    " boss supervisor doctor dentist partner wife husband landlord employer rate rent salary price fee budget deadline"
    " version release port timezone status location quota limit username login nickname hometown capital owner"
    " maintainer lead editor size weight height temperature iban colour color default provider supplier".split()
)
"""Attributes with one value at a time, whatever the value; others only where the value is a number."""

EPISODES = frozenset(
    "bill invoice quote run swim trip ride walk meeting visit lunch dinner breakfast ticket order match game score"
    " weather delivery flight train call session test result lap time photo order purchase payment claim estimate".split()
)
"""What each happening has its own of: two bills are two bills."""

HABITS = frozenset(
    "use drink eat drive play smoke take own rent wear read watch speak study attend ride practise practice support"
    " maintain run teach sing paint collect follow host deploy work employ subscribe train coach tolerate need".split()
)
_LIKES = frozenset("like love enjoy adore favour favor".split())
_HATES = frozenset("hate dislike detest loathe".split())

COUNTRIES = frozenset(
    "europe asia africa america england scotland wales ireland britain uk usa us germany france spain portugal italy"
    " switzerland austria belgium netherlands holland luxembourg denmark sweden norway finland iceland poland czechia"
    " slovakia hungary romania bulgaria greece turkey ukraine russia china japan korea india pakistan thailand vietnam"
    " indonesia australia canada mexico brazil argentina chile peru egypt morocco kenya nigeria israel skåne bavaria"
    " texas california".split()
)
"""A country and a town in it are no contradiction."""


# --- what a fact claims ----------------------------------------------------------------------------------------------


def claims(kind: str, subjects: Sequence[str], narrative: str) -> list[Claim]:
    """What one Retain bullet claims of its subject (names in its head); an experience claims only a change."""
    sentences = _SENTENCE.split(_MARKUP.sub(lambda m: m[1] or "", narrative.strip()))
    text = _ASIDE.sub("", sentences[0]).strip().rstrip(".!").strip()
    if not text or len(text) > 200 or _OPEN.search(text.replace("May", "\0")) or _WAS.search(text):
        return []
    whole = len(sentences) == 1 and not re.search(r"[;:]\s|, (?!\d)|\b(?:and|or|but|while)\b", text)
    text = re.split(r"[;:]\s", text, maxsplit=1)[0]
    how = REPLACES if re.search(r"\binstead$", text) else CHANGES if _CHANGE.search(text) else STATES
    clause = _Clause(_without_tail(_LEAD.sub("", text)), tuple(subjects), whole, how)
    found = [claim for rule in _RULES for claim in rule(clause)]
    if kind == "experience":
        found = [claim._replace(whole=False) for claim in found if claim.how != STATES]
    return list(dict.fromkeys(found))


def _without_tail(text: str) -> str:
    """A sentence without the adverbs of time at its end, for these are no part of a value."""
    while (cut := _TAIL.sub("", text)) != text and cut:
        text = cut
    return text


def _who(clause: _Clause, written: str, may_be_noun: bool = False) -> str | None:
    """Who a clause is about: "" for the fact's subject, a noun phrase of theirs ("brother"), None when unclear."""
    words = re.sub(r"['’]s?$", "", written.strip().casefold()).split()
    if not words:
        return "" if clause.subjects else None
    if words[0] in _NO_SUBJECT:
        return None
    if len(words) == 1 and words[0] in _PRONOUNS:
        return None if not clause.subjects and words[0] not in ("i", "we") else ""
    phrase = " ".join(words)
    for subject in clause.subjects:
        names = {entities.slug(subject).replace("-", " "), *entities.slug(subject).split("-")} - {"the"}
        if phrase.removeprefix("the ") in names:
            return ""
        for name in names:
            phrase = re.sub(rf"^(?:the )?{re.escape(name)}(?:['’]s?)? ", "", phrase)
    owned = re.fullmatch(r"(?:his|her|their|its|my|our|the) (\S+(?: \S+){0,3})", phrase)
    if owned:
        return _stripped(owned[1])
    named = len(words) == 1 and written.strip()[:1].isupper() and bool(clause.subjects)
    return _stripped(phrase) if may_be_noun or named or phrase != " ".join(words) else None


def _stripped(phrase: str) -> str:
    return re.sub(r"\b(?:current|new|present|monthly)\b ?", "", phrase).strip()


def _slot(name: str, who: str) -> str:
    return f"{name}:{who}" if who else name


def _value(text: str) -> str:
    """The words of a value that tell: case folded, without articles."""
    words = re.findall(r"[\w%€$£.+#'’/:-]+", _without_tail(text.strip()).casefold())
    return " ".join(word.strip(".:'’") for word in words if word not in _ARTICLES)


def _how(clause: _Clause) -> str:
    return CHANGES if clause.how == REPLACES else clause.how


def _lemma(verb: str) -> str:
    """A verb's stem, near enough to know `smokes`, `smoking` and `smoke` for one."""
    verb = verb.casefold()
    for ending in ("ies", "ing", "es", "ed", "s", "e"):
        if verb.endswith(ending) and len(verb) - len(ending) >= 2:
            verb = verb[: -len(ending)] + ("y" if ending == "ies" else "")
            break
    if len(verb) > 3 and verb[-1] == verb[-2] and verb[-1] not in "ls":
        verb = verb[:-1]
    return verb.removesuffix("e")


_STEMS = {_lemma(verb) for verb in HABITS}
_VERB_SLOTS = (
    {_lemma(verb): "like" for verb in _LIKES}
    | {_lemma("prefer"): "prefer", _lemma("live"): "live", _lemma("reside"): "live"}
    | {stem: f"do {stem}" for stem in _STEMS}
)

# --- what takes the place of what -------------------------------------------------------------------------------------


def supersedes(newer: Claim, older: Claim) -> bool:
    """Whether a newer claim of the same subject takes the place of an older one; who and when is the caller's."""
    if not older.whole:
        return False
    if newer.slot == ANY:
        return older.how != ENDS and older.slot != "like" and _bare(older.value) == newer.value
    if newer.slot != older.slot:
        return False
    if ENDS in (newer.how, older.how):
        return newer.how != older.how and _same(newer.value, older.value)
    if not _is_exclusive(newer.slot):
        return newer.slot == "prefer" and newer.how != STATES and _prefers_otherwise(newer.value, older.value)
    return _comparable(newer.value, older.value) and not _same(newer.value, older.value)


def _is_exclusive(slot: str) -> bool:
    return slot not in ("like", "prefer", "be") and not slot.startswith("do ")


def _bare(value: str) -> str:
    """A preference without its empty context, a number without its unit."""
    return value.removesuffix("|")


def _same(one: str, other: str) -> bool:
    """Whether two values are one: equal, or the one says the other more fully ("Bern", "Bern Switzerland")."""
    first, second = (set(value.split("|")[0].split()) for value in (one, other))
    alike = first <= second or second <= first if "|" not in one and one and other else first == second
    return alike and (one.partition("|")[2] == other.partition("|")[2] or not all("|" in v for v in (one, other)))


def _comparable(one: str, other: str) -> bool:
    """Whether two values can be rivals: numbers of one unit, no country against a town in it."""
    if ("|" in one) != ("|" in other):
        return False
    if "|" in one:
        units = {value.partition("|")[2] for value in (one, other)}
        return len(units) == 1 or "" in units
    return (one.split()[-1] in COUNTRIES) == (other.split()[-1] in COUNTRIES) if one and other else False


def _prefers_otherwise(newer: str, older: str) -> bool:
    """Whether two preferences are about the same thing: the same context, or the same kind of thing at the end."""
    new, new_context = newer.split("|")
    old, old_context = older.split("|")
    if new == old or new_context != old_context:
        return False
    return bool(new_context) or (len(new.split()) > 1 and new.split()[-1:] == old.split()[-1:])


def successors(told: Iterable[Told], today: int) -> dict[int, int]:
    """Which memory takes the place of which, by key: the newest that does, unless the older was said again since.

    Newer is what was written later and holds from no earlier day; what holds only from after `today` replaces nothing
    yet. Two claims of one day are told apart by their lines in one note, and not at all in two.
    """
    groups: dict[str, list[Told]] = {}
    for one in told:
        groups.setdefault(one.subject, []).append(one)
    return {key: to for group in groups.values() for key, to in _in_group(group, today)}


def _in_group(group: Sequence[Told], today: int) -> Iterable[tuple[int, int]]:
    for older in group:
        later = [t for t in group if t.key != older.key and _is_newer(t, older) and t.since <= today]
        rivals = [t for t in later if supersedes(t.claim, older.claim) or _replaces_only(t, older, group)]
        if not rivals:
            continue
        newest = max(rivals, key=lambda t: (t.day, t.note, t.line))
        again = (
            t for t in later if t.claim[:2] == older.claim[:2] and (t.claim.how == ENDS) == (older.claim.how == ENDS)
        )
        if not any(_is_newer(t, newest) for t in again):
            yield older.key, newest.key


def _is_newer(one: Told, other: Told) -> bool:
    if one.day == other.day:
        return one.note == other.note and one.line > other.line and one.since >= other.since
    return one.day > other.day and one.since >= other.since


def _replaces_only(newer: Told, older: Told, group: Sequence[Told]) -> bool:
    """`now prefers Y instead`: ends the only preference there was; of several nobody knows which."""
    if newer.claim.how != REPLACES or older.claim.slot != "prefer" or not older.claim.whole:
        return False
    before = {t.claim.value for t in group if t.claim.slot == "prefer" and t.claim.how != ENDS and _is_newer(newer, t)}
    return before == {older.claim.value} != {newer.claim.value}


# --- rules -----------------------------------------------------------------------------------------------------------

_MOVED_FROM = re.compile(
    rf"{_WHO}{_ADVERBS}(?P<verb>switch|chang|migrat|mov|convert|relocat|rose|went|fell|drop|increas|rais|reduc)\w*"
    r"(?: (?:up|down|over|back|away))? from (?P<old>.+?) to (?P<new>.+)", re.I,
)  # fmt: skip
_MOVED_TO = re.compile(
    rf"{_WHO}(?:{_ADVERBS})(?:was |is )?(?:moved|moves|relocated|relocates) (?:back )?to (?P<new>.+)", re.I
)
_LIVES = re.compile(rf"{_WHO}{_ADVERBS}(?:lives?|living|resides?|residing|based) (?:in|at) (?P<new>.+)", re.I)
_WORKS = re.compile(rf"{_WHO}{_ADVERBS}(?:works?|working|employed) (?:at|for|by) (?P<new>.+?)(?: as .+)?", re.I)
_LEFT = re.compile(rf"{_WHO}(?:has |have )?(?:left|quit) (?P<old>[\w&. -]+)", re.I)
_NO_LONGER = re.compile(rf"{_WHO}(?P<is>is |are |am )?no longer (?P<rest>.+)", re.I)
_NOT_ANY_MORE = re.compile(rf"{_WHO}(?P<is>is|are|am|does|do)(?: not|n['’]t) (?P<rest>.+)", re.I)
_STOPPED = re.compile(rf"{_WHO}(?:has |have )?(?:stopped|quit|given up|gave up) (?P<verb>\w+ing)\b ?(?P<rest>.*)", re.I)
_GAVE_UP = re.compile(rf"{_WHO}(?:has |have )?(?:given up|gave up) (?:on )?(?P<old>.+)", re.I)
_VERB = re.compile(rf"{_WHO}{_ADVERBS}(?P<verb>[a-z]+)(?: (?P<rest>.+))?", re.I)
_PREFERS = re.compile(
    rf"{_WHO}{_ADVERBS}prefers? (?P<new>.+?)(?:,? (?:over|to|instead of|rather than) (?P<old>.+?))?"
    r"(?P<context> (?:for|when|as) .+)?", re.I,
)  # fmt: skip
_IS = re.compile(
    rf"(?P<who>(?:[^\s,;:]+ ){{0,6}}?)(?:is|are|costs?|comes to|amounts to)(?: now| currently)? (?P<new>.+)", re.I
)
_WENT = re.compile(
    r"(?P<who>(?:[^\s,;:]+ ){1,6}?)(?:has |have )?(?:was |been )?(?:rose|risen|went up|gone up|went down|gone down|dropped|fell"
    r"|raised|increased|reduced|lowered|changed|cut)(?: from .+?)? to (?P<new>.+)", re.I,
)  # fmt: skip
_BEST = re.compile(
    r"(?P<new>(?:[^\s,;:]+ ){1,4})is (?:now )?the (?:right|best|better|proper|preferred) (?P<what>\w+ (?:for|to) .+)",
    re.I,
)
_OF_ONE = re.compile(rf"{_WHO}{_ADVERBS}(?P<what>reports to|married to|engaged to|assigned to) (?P<new>.+)", re.I)


def _changed(clause: _Clause) -> Iterable[Claim]:
    """`switched from X to Y`, `moved to Y`: X is over, and Y is where or what it is now."""
    if match := _MOVED_FROM.fullmatch(clause.text):
        yield from _from_to(clause, match)
    elif match := _MOVED_TO.fullmatch(clause.text):
        new, who = match["new"], _who(clause, match["who"], may_be_noun=True)
        if who is not None and _TIME_VALUE.match(new.casefold()) and who:
            yield Claim(_slot("when", who), _value(new), CHANGES, clause.whole)
        elif who is not None and _is_place(new) and _who(clause, match["who"]) is not None:
            yield Claim(_slot("live", who), _place(new), CHANGES, clause.whole)


def _from_to(clause: _Clause, match: re.Match[str]) -> Iterable[Claim]:
    old, new = match["old"], match["new"]
    who = _who(clause, match["who"], may_be_noun=True)
    if who is None:
        return
    if who and (number := _numeric(new)):
        yield Claim(_slot("is", who), number, CHANGES, clause.whole)
    elif who and _TIME_VALUE.match(new.casefold()):
        yield Claim(_slot("when", who), _value(new), CHANGES, clause.whole)
    elif not who and not _numeric(new):
        context = re.search(r" (?:for|when|as) .+", new)
        yield Claim(ANY, _value(old + (context[0] if context else "")), ENDS, clause.whole)
        if match["verb"].casefold() in ("mov", "relocat") and _is_place(new):
            yield Claim("live", _place(new), CHANGES, clause.whole)


def _ended(clause: _Clause) -> Iterable[Claim]:
    """`no longer X`, `does not X any more`, `stopped X-ing`, `gave up X`, `left X`."""
    if match := _STOPPED.fullmatch(clause.text):
        yield from _over(clause, match["who"], f"{match['verb']} {match['rest']}")
    elif match := _GAVE_UP.fullmatch(clause.text):
        if _who(clause, match["who"]) == "":
            yield Claim(ANY, _value(match["old"]), ENDS, clause.whole)
    elif match := _NO_LONGER.fullmatch(clause.text):
        yield from _over(clause, match["who"], ("is " if match["is"] else "") + match["rest"])
    elif clause.how != STATES and (match := _NOT_ANY_MORE.fullmatch(clause.text)):
        be = match["is"].casefold() in ("is", "are", "am")
        yield from _over(clause, match["who"], ("is " if be else "") + match["rest"])
    elif (match := _LEFT.fullmatch(clause.text)) and match["old"][:1].isupper():
        if _who(clause, match["who"]) == "":
            yield Claim("work", _value(match["old"]), ENDS, False)


def _over(clause: _Clause, who: str, done: str) -> Iterable[Claim]:
    """What is no longer done: the same claim that a plain statement of it makes, as over."""
    if _who(clause, who) != "":
        return
    plain = _Clause(done, clause.subjects or ("i",), clause.whole, STATES)
    rules = (_lived, _worked, _stated)
    for claim in next((found for rule in rules if (found := list(rule(plain)))), []):
        yield claim._replace(how=ENDS)


def _lived(clause: _Clause) -> Iterable[Claim]:
    match = _LIVES.fullmatch(clause.text)
    who = _who(clause, match["who"]) if match else None
    if match and who is not None and _is_place(match["new"]):
        yield Claim(_slot("live", who), _place(match["new"]), _how(clause), clause.whole)


def _worked(clause: _Clause) -> Iterable[Claim]:
    match = _WORKS.fullmatch(clause.text)
    who = _who(clause, match["who"]) if match else None
    if match and who is not None and match["new"][:1].isupper():
        yield Claim(_slot("work", who), _value(match["new"]), _how(clause), clause.whole)


def _preferred(clause: _Clause) -> Iterable[Claim]:
    match = _PREFERS.fullmatch(clause.text)
    if not match or _who(clause, match["who"]) != "":
        return
    context = _value(match["context"] or "")
    how = _how(clause) if match["old"] else clause.how
    yield Claim("prefer", f"{_value(match['new'])}|{context}", how, clause.whole)
    if match["old"]:
        yield Claim("prefer", f"{_value(match['old'])}|{context}", ENDS, False)


def _valued(clause: _Clause) -> Iterable[Claim]:
    """`The rent is 1,200`, `her manager is Anna`, `the fee went up to 300`."""
    match, how = _WENT.fullmatch(clause.text), CHANGES
    if not match:
        match, how = _IS.fullmatch(clause.text), _how(clause)
    if not match:
        return
    who, new = _who(clause, match["who"], may_be_noun=True), match["new"]
    if not who:
        if who == "" and (age := re.fullmatch(r"(\d{1,3})(?: years old)?", new)) and clause.subjects:
            yield Claim("age", age[1], how, clause.whole)
        return
    head = who.split()[-1] if not re.search(r" (?:for|of|in|at|on|to|from) ", who) else who.split()[0]
    if head in EPISODES or head.endswith("s") and head.rstrip("s") in EPISODES:
        return
    timed = re.sub(r"^(?:(?:planned|scheduled|due) )?(?:(?:on|at|for) )?", "", new)
    if _TIME_VALUE.fullmatch(timed.casefold()) and (timed != new or not timed.isalpha()):
        yield Claim(_slot("when", who), _value(timed), how, clause.whole)
    elif number := _numeric(new):
        yield Claim(_slot("is", who), number, how, clause.whole)
    elif (head in SINGLE or who.startswith(("favourite ", "favorite "))) and len(new.split()) <= 5:
        yield Claim(_slot("is", who), _value(new), how, clause.whole)


def _best(clause: _Clause) -> Iterable[Claim]:
    if (match := _BEST.fullmatch(clause.text)) and clause.subjects:
        yield Claim(f"best:{_value(match['what'])}", _value(match["new"]), _how(clause), clause.whole)


def _bound(clause: _Clause) -> Iterable[Claim]:
    if (match := _OF_ONE.fullmatch(clause.text)) and _who(clause, match["who"]) == "":
        yield Claim(match["what"].casefold(), _value(match["new"]), _how(clause), clause.whole)


def _stated(clause: _Clause) -> Iterable[Claim]:
    """Likes, habits and being something: each holds beside others."""
    hated = re.fullmatch(
        rf"{_WHO}(?:does not|doesn['’]t|do not|don['’]t|cannot|can['’]t) (?:like|love|enjoy|stand|bear) (?P<rest>.+)",
        clause.text, re.I,
    )  # fmt: skip
    if hated:
        if _who(clause, hated["who"]) == "" and len(_value(hated["rest"]).split()) <= MAX_WORDS:
            yield Claim("like", _value(hated["rest"]), ENDS, clause.whole)
        return
    match = _doing(clause)
    if not match:
        return
    verb, rest = match
    value = _value(rest)
    if len(value.split()) > MAX_WORDS:
        return
    if verb in ("is", "are", "am"):
        yield Claim("be", value, _how(clause), clause.whole)
    elif _lemma(verb) in {_lemma(v) for v in _HATES} and value:
        yield Claim("like", value, ENDS, clause.whole)
    elif (slot := _VERB_SLOTS.get(_lemma(verb))) and slot != "live":
        value = f"{value}|" if slot == "prefer" else value
        yield Claim(slot, value, _how(clause), clause.whole)


def _doing(clause: _Clause) -> tuple[str, str] | None:
    """The verb of a clause about the fact's own subject and what follows it: with no subject, or one of few words."""
    words = clause.text.split()
    for count in range(min(len(words) - 1, 3) + 1):
        if _who(clause, " ".join(words[:count])) == "":
            rest = [
                w for i, w in enumerate(words[count:]) if i > 2 or w.casefold() not in ("now", "currently", "still")
            ]
            if rest and (
                _lemma(rest[0]) in _VERB_SLOTS
                or _lemma(rest[0]) in {_lemma(v) for v in _HATES}
                or rest[0].casefold() in ("is", "are", "am")
            ):
                return rest[0].casefold(), " ".join(rest[1:])
    return None


_RULES = (_changed, _ended, _lived, _worked, _preferred, _valued, _best, _bound, _stated)


def _numeric(text: str) -> str:
    """A number with its unit as `number|unit`, or "" when the text is more than that."""
    match = _NUMBER.fullmatch(text.strip().casefold())
    if not match:
        return ""
    number = re.sub(r"[,'’  ](?=\d{3})", "", match["number"])
    unit = " ".join(filter(None, ((match["pre"] or "").strip(), (match["unit"] or "").strip())))
    return f"{number}|{unit}"


def _is_place(text: str) -> bool:
    """Whether a text names a place: a capitalised name, perhaps with its country or a preposition before it."""
    return re.match(r"(?:the )?[^\W\d_a-z]", text) is not None


def _place(text: str) -> str:
    """The name of a place alone: "Lund, into the flat above the shop" is Lund."""
    return _value(re.split(r",| (?:with|near|at|on|above|into|since|together|close)\b", text, maxsplit=1)[0])
