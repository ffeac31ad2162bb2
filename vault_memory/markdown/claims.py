"""Owns what a fact claims of its subject: the attribute, the value, and whether it begins or ends. Pure.

Precise over complete: what no rule reads for certain claims nothing, and is then never retired (supersede.py).
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from vault_memory.markdown import claim_words as table
from vault_memory.markdown import entities
from vault_memory.markdown.supersede import ANY, CHANGES, COUNTRIES, DENIES, ENDS, PASSES, REPLACES, STATES, Claim
from vault_memory.text import dates

MAX_WORDS = 12


class _Clause(NamedTuple):
    """One sentence without adverbs of time, the names in the fact's head, whether it is all there is, and its tone.

    `times` is when alone it holds ("on fridays"), or "".
    """

    text: str
    times: str
    subjects: tuple[str, ...]
    whole: bool
    how: str


# --- what a fact claims ----------------------------------------------------------------------------------------------


def claims(kind: str, subjects: Sequence[str], narrative: str, day: dates.date | None = None) -> list[Claim]:
    """What one Retain bullet claims of its subject (names in its head); an experience claims only a change.

    `day` is when it was told or happened: a month without a year is read from there.
    """
    sentences = table.SENTENCE.split(table.MARKUP.sub(lambda m: m[1] or "", narrative.strip()))
    text = table.ASIDE.sub("", sentences[0]).strip().rstrip(".!").strip()
    bounded = table.END.search(text)
    text = table.END.sub("", text)
    if not text or len(text) > 200 or table.OPEN.search(text.replace("May", "\0")) or table.WAS.search(text):
        return []
    whole = len(sentences) == 1 and not re.search(r"[;:]\s|, (?!\d)|\b(?:and|or|but|while)\b", text)
    text = re.split(r"[;:]\s", text, maxsplit=1)[0]
    how = REPLACES if re.search(r"\binstead$", text) else CHANGES if table.CHANGE.search(text) else STATES
    text, begins = _without_start(text)
    times, text = _timed(text)
    clause = _Clause(text, times, tuple(subjects), whole, how)
    found = [claim for rule in _rules(clause) for claim in rule(clause)]
    if kind == "experience":
        found = [claim._replace(whole=False) for claim in found if claim.how != STATES]
    start = dates.occurred(f"in {begins}", day) if begins else None
    if bounded or (begins and not start):
        found = [claim._replace(how=PASSES) for claim in found if not claim.is_negative]
    if start and (day is None or start.start > day):
        found = [claim._replace(start=start.start) for claim in found]
    return list(dict.fromkeys(found))


def _without_start(text: str) -> tuple[str, str]:
    """A sentence without the day it says to hold from, and that day in words or ""; "since" has begun."""
    text, begins = _trimmed(table.LEAD.sub("", text)), ""
    for pattern in (table.BEGIN, table.START):
        if match := pattern.search(text):
            text = _trimmed(text[: match.start()] + text[match.end() :])
            begins = "" if "since" in match[0].casefold() else match["day"]
    return table.LEAD.sub("", text), begins


def _timed(text: str) -> tuple[str, str]:
    """The times at which alone a sentence holds, or "", and the sentence without them; when a change was is no such."""
    match = table.AT_TIMES.search(text)
    rest = _trimmed(text[: match.start()]) if match else ""
    if not match or not rest or re.search(r"\b(?:is|are|am|be|lives?|works?)$", rest, re.I):
        return "", text
    happened = table.EVENT.search(rest) and table.HAPPENED.match(match[0])
    return "" if happened else " ".join(re.findall(r"\w+", match[0].casefold())), rest


def _trimmed(text: str) -> str:
    """A sentence without the adverbs at its end that are no part of a value."""
    while (cut := table.TAIL.sub("", text)) != text and cut:
        text = cut
    return text


def _rules(clause: _Clause) -> "tuple[_Rule, ...]":
    """What reads a clause: of one that denies something only whether that is over."""
    return (_ended, _disliked) if table.NEGATED.search(clause.text) else _RULES


def _who(clause: _Clause, written: str, may_be_noun: bool = False) -> str | None:
    """Who a clause is about: "" for the fact's subject, a noun phrase of theirs ("brother"), None when unclear."""
    words = re.sub(r"['’]s?$", "", written.strip().casefold()).split()
    if not words:
        return "" if clause.subjects else None
    if words[0] in table.NO_SUBJECT:
        return None
    if len(words) == 1 and words[0] in table.PRONOUNS:
        return None if not clause.subjects and words[0] not in ("i", "we") else ""
    phrase = " ".join(words)
    for subject in clause.subjects:
        names = _names(subject)
        if phrase.removeprefix("the ") in names:
            return ""
        for name in names:
            if phrase.startswith((name, f"the {name}")):
                phrase = re.sub(rf"^(?:the )?{re.escape(name)}(?:['’]s?)? ", "", phrase)
    owned = re.fullmatch(r"(?:his|her|their|its|my|our|the) (\S+(?: \S+){0,3})", phrase)
    if owned:
        return _stripped(owned[1])
    named = len(words) == 1 and written.strip()[:1].isupper() and bool(clause.subjects)
    return _stripped(phrase) if may_be_noun or named or phrase != " ".join(words) else None


@lru_cache(1024)
def _names(subject: str) -> tuple[str, ...]:
    """What a subject is called in a sentence: whole, or by one of its words."""
    slug = entities.slug(subject)
    return tuple(dict.fromkeys(name for name in (slug.replace("-", " "), *slug.split("-")) if name not in ("", "the")))


def _stripped(phrase: str) -> str:
    return re.sub(r"\b(?:current|new|present|monthly)\b ?", "", phrase).strip()


def _claim(clause: _Clause, slot: str, value: str, how: str, who: str = "", where: str = "") -> Claim:
    """A claim in its slot, which holds whose it is and when and where alone it holds."""
    limits = " ".join(filter(None, (where, clause.times)))
    return Claim((f"{slot}:{who}" if who else slot) + (f"@{limits}" if limits else ""), value, how, clause.whole)


def _value(text: str) -> str:
    """The words of a value that tell: case folded, without articles."""
    words = re.findall(r"[\w%€$£.+#'’/:-]+", _trimmed(text.strip()).casefold())
    return " ".join(word.strip(".:'’") for word in words if word not in table.ARTICLES)


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


_STEMS = {_lemma(verb) for verb in table.HABITS}
_HATES = {_lemma(verb) for verb in table.HATES}
_VERB_SLOTS = (
    {_lemma(verb): "like" for verb in table.LIKES}
    | {_lemma("prefer"): "prefer", _lemma("live"): "live", _lemma("reside"): "live"}
    | {stem: f"do {stem}" for stem in _STEMS}
)

# --- rules -----------------------------------------------------------------------------------------------------------


def _changed(clause: _Clause) -> Iterable[Claim]:
    """`switched from X to Y`, `moved to Y`: X is over, and Y is where or what it is now."""
    if match := table.MOVED_FROM.fullmatch(clause.text):
        yield from _from_to(clause, match)
    elif match := table.MOVED_TO.fullmatch(clause.text):
        new, who = match["new"], _who(clause, match["who"], may_be_noun=True)
        if who is not None and table.TIME_VALUE.match(new.casefold()) and who:
            yield _claim(clause, "when", _value(new), CHANGES, who)
        elif who is not None and _is_place(new) and _who(clause, match["who"]) is not None:
            yield _claim(clause, "live", _place(new), CHANGES, who)


def _from_to(clause: _Clause, match: re.Match[str]) -> Iterable[Claim]:
    old, new = match["old"], match["new"]
    who = _who(clause, match["who"], may_be_noun=True)
    if who is None:
        return
    if who and (number := _numeric(new)):
        yield _claim(clause, "is", number, CHANGES, who)
    elif who and table.TIME_VALUE.match(new.casefold()):
        yield _claim(clause, "when", _value(new), CHANGES, who)
    elif not who and not _numeric(new):
        context = re.search(r" (?:for|when|as) .+", new)
        if not clause.times:
            yield Claim(ANY, _value(old + (context[0] if context else "")), ENDS, clause.whole)
        if match["verb"].casefold() in ("mov", "relocat") and _is_place(new):
            yield _claim(clause, "live", _place(new), CHANGES)


def _ended(clause: _Clause) -> Iterable[Claim]:
    """`no longer X`, `does not X any more`, `stopped X-ing`, `gave up X`, `left X`."""
    if match := table.STOPPED.fullmatch(clause.text):
        yield from _over(clause, match["who"], f"{match['verb']} {match['rest']}")
    elif match := table.GAVE_UP.fullmatch(clause.text):
        if _who(clause, match["who"]) == "" and not clause.times:
            yield Claim(ANY, _value(match["old"]), ENDS, clause.whole)
    elif match := table.NO_LONGER.fullmatch(clause.text):
        yield from _over(clause, match["who"], ("is " if match["is"] else "") + match["rest"])
    elif clause.how != STATES and (match := table.NOT_ANY_MORE.fullmatch(clause.text)):
        be = match["is"].casefold() in ("is", "are", "am")
        yield from _over(clause, match["who"], ("is " if be else "") + match["rest"])
    elif (match := table.LEFT.fullmatch(clause.text)) and match["old"][:1].isupper():
        left = _claim(clause._replace(whole=False), "work", _value(match["old"]), ENDS)
        yield from [left] if _who(clause, match["who"]) == "" else []


def _over(clause: _Clause, who: str, done: str) -> Iterable[Claim]:
    """What is no longer done: the same claim that a plain statement of it makes, as over."""
    if _who(clause, who) != "":
        return
    plain = _Clause(done, clause.times, clause.subjects or ("i",), clause.whole, STATES)
    rules = (_lived, _worked, _stated)
    for claim in next((found for rule in rules if (found := list(rule(plain)))), []):
        yield claim._replace(how=ENDS)


def _lived(clause: _Clause) -> Iterable[Claim]:
    match = table.LIVES.fullmatch(clause.text)
    who = _who(clause, match["who"]) if match else None
    if match and who is not None and _is_place(match["new"]):
        yield _claim(clause, "live", _place(match["new"]), _how(clause), who)


def _worked(clause: _Clause) -> Iterable[Claim]:
    match = table.WORKS.fullmatch(clause.text)
    who = _who(clause, match["who"]) if match else None
    if match and who is not None and match["new"][:1].isupper():
        new = re.split(r",| (?:in|near|with|from)\b", match["new"], maxsplit=1)[0]
        yield _claim(clause, "work", _value(new), _how(clause), who)


def _preferred(clause: _Clause) -> Iterable[Claim]:
    match = table.PREFERS.fullmatch(clause.text)
    if not match or _who(clause, match["who"]) != "":
        return
    context = _value(match["context"] or "")
    how = _how(clause) if match["old"] else clause.how
    yield _claim(clause, "prefer", f"{_value(match['new'])}|{context}", how)
    if match["old"]:
        yield _claim(clause._replace(whole=False), "prefer", f"{_value(match['old'])}|{context}", ENDS)


def _valued(clause: _Clause) -> Iterable[Claim]:
    """`The rent is 1,200`, `her manager is Anna`, `the fee went up to 300`."""
    match, how = table.WENT.fullmatch(clause.text), CHANGES
    if not match:
        match, how = table.IS.fullmatch(clause.text), _how(clause)
    if not match:
        return
    who, new = _who(clause, match["who"], may_be_noun=True), match["new"]
    if not who:
        if who == "" and (age := re.fullmatch(r"(\d{1,3})(?: years old)?", new)) and clause.subjects:
            yield _claim(clause, "age", age[1], how)
        return
    head = who.split()[-1] if not re.search(r" (?:for|of|in|at|on|to|from) ", who) else who.split()[0]
    if {head, head.removesuffix("s")} & table.EPISODES:
        return
    yield from _one_of(clause, head, who, new, how)


def _one_of(clause: _Clause, head: str, who: str, new: str, how: str) -> Iterable[Claim]:
    """The one value of an attribute: a time, a number, or words where `head` is known to have only one."""
    known = head in table.SINGLE or who.startswith(("favourite ", "favorite "))
    timed = re.sub(r"^(?:(?:planned|scheduled|due) )?(?:(?:on|at|for) )?", "", new)
    core = table.AT_PLACES.sub("", new)
    where = _value(new[len(core) :])
    if table.TIME_VALUE.fullmatch(timed.casefold()) and (timed != new or not timed.isalpha()):
        # What is on Tuesday may be on Thursday as well.
        if known or not timed.isalpha():
            yield _claim(clause, "when", _value(timed), how, who)
    elif number := _numeric(new):
        yield _claim(clause, "is", number, how, who)
    elif number := _numeric(core):
        yield _claim(clause, "is", number, how, who, where)
    elif known and len(core.split()) <= 5 and _fits(head, core):
        yield _claim(clause, "is", _value(core), how, who, where)


def _fits(head: str, value: str) -> bool:
    """Whether a text can be the value of an attribute, rather than something said of it ("her manager is ill")."""
    words = value.split()
    if head in table.NAMED:
        named = all(word[:1].isupper() or word[:1].isdigit() or word in table.PARTICLES for word in words)
        return named and words[-1].casefold() not in table.ADJECTIVES
    if head in table.CODED:
        return any(char.isdigit() or char == "@" for char in value)
    return head == "status" or not table.VAGUE & {words[0].casefold(), words[-1].casefold()}


def _best(clause: _Clause) -> Iterable[Claim]:
    match = table.BEST.fullmatch(clause.text) or table.BEST_IS.fullmatch(clause.text)
    if match and clause.subjects:
        yield _claim(clause, f"best:{_value(match['what'])}", _value(match["new"]), _how(clause))


def _bound(clause: _Clause) -> Iterable[Claim]:
    if (match := table.OF_ONE.fullmatch(clause.text)) and _who(clause, match["who"]) == "":
        yield _claim(clause, match["what"].casefold(), _value(match["new"]), _how(clause))


def _disliked(clause: _Clause) -> Iterable[Claim]:
    match = table.DISLIKES.fullmatch(clause.text)
    if match and _who(clause, match["who"]) == "" and len(_value(match["rest"]).split()) <= MAX_WORDS:
        yield _claim(clause, "like", _value(match["rest"]), _denial(clause))


def _stated(clause: _Clause) -> Iterable[Claim]:
    """Likes, habits and being something: each holds beside others."""
    match = _doing(clause)
    if not match:
        return
    verb, rest = match
    value = _value(rest)
    if len(value.split()) > MAX_WORDS:
        return
    if verb in ("is", "are", "am"):
        yield _claim(clause, "be", value, _how(clause))
    elif _lemma(verb) in _HATES and value:
        yield _claim(clause, "like", value, _denial(clause))
    elif (slot := _VERB_SLOTS.get(_lemma(verb))) and slot != "live":
        value = f"{value}|" if slot == "prefer" else value
        yield _claim(clause, slot, value, _how(clause))


def _denial(clause: _Clause) -> str:
    return DENIES if clause.how == STATES else ENDS


def _doing(clause: _Clause) -> tuple[str, str] | None:
    """The verb of a clause about the fact's own subject and what follows it: with no subject, or one of few words."""
    words = clause.text.split()
    for count in range(min(len(words) - 1, 3) + 1):
        if _who(clause, " ".join(words[:count])) == "":
            rest = [
                w for i, w in enumerate(words[count:]) if i > 2 or w.casefold() not in ("now", "currently", "still")
            ]
            if rest and (
                _lemma(rest[0]) in _VERB_SLOTS or _lemma(rest[0]) in _HATES or rest[0].casefold() in ("is", "are", "am")
            ):
                return rest[0].casefold(), " ".join(rest[1:])
    return None


_Rule = Callable[[_Clause], Iterable[Claim]]
_RULES: tuple[_Rule, ...] = (_changed, _ended, _lived, _worked, _preferred, _valued, _best, _bound, _stated)


def _numeric(text: str) -> str:
    """A number with its unit as `number|unit`, or "" when the text is more than that."""
    match = table.NUMBER.fullmatch(text.strip().casefold())
    if not match:
        return ""
    number = _plain(re.sub(r"[,'’  ](?=\d{3})", "", match["number"]), bool(match["pre"] or match["unit"]))
    unit = " ".join(filter(None, ((match["pre"] or "").strip(), (match["unit"] or "").strip())))
    return f"{number}|{unit}"


def _plain(number: str, counts: bool) -> str:
    """A number as one writes it shortest: 100.00 is 100, and 12,50 kr are 12.5; a bare 1.10 may be a version."""
    if not re.fullmatch(r"\d+[.,]\d{1,2}", number):
        return number
    whole, part = re.split("[.,]", number)
    part = part.rstrip("0") if counts or not part.strip("0") else part
    return f"{whole}.{part}" if part else whole


def _is_place(text: str) -> bool:
    """Whether a text names a town or country: a capitalised name; "the Old Town" may be a part of another town."""
    named = re.match(r"[^\W\d_a-z]", text) or (text.startswith("the ") and _place(text) in COUNTRIES)
    return bool(named) and _place(text) not in table.NO_PLACES


def _place(text: str) -> str:
    """The name of a place alone: "Lund, into the flat above the shop" is Lund."""
    return _value(re.split(r",| (?:with|near|at|on|above|into|since|together|close)\b", text, maxsplit=1)[0])
