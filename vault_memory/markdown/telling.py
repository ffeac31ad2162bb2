"""Owns whether an English sentence tells something to remember, and of what kind; must not know notes. Pure.

By rules, precise over complete; the first that holds gives the kind:
- a decision of the writer or the team ("we decided to …", "will use …", "Decision: …"): experience, or world for how
  things shall be; of somebody else with a name, when nothing else is told: observation (reported.py);
- a preference ("I love …", "my favourite …", "Nora prefers …"): opinion;
- what I or we did, in the past or perfect ("I went to …", "we've been playing …"): experience;
- a state of someone's life ("I have two kids", "I work as …", "my sister lives in …"): world;
- a plan with a verb of commitment ("I'm going to …", "we plan to …", "I'll … on Friday"): world;
- a past form at the beginning, as logs are written ("Rang the plumber"): experience;
- somebody's change of state ("Nora moved to …", "the office is now …"): world;
- somebody linked or mentioned, with a verb in the past ("[[Nora]] called about …"): observation;
- an event with a date and a verb ("The boiler broke yesterday"): observation, or world where it is still to come;
- what somebody says of themselves in a conversation in so many words: observation.
Questions, greetings, thanks, compliments, wishes, advice and exclamations without content tell nothing. Other languages
than English yield nothing.
"""

import re
from typing import NamedTuple

from vault_memory.markdown import telling_words as table
from vault_memory.markdown.likes import ADVERBS, DENIED, FIRST, NO_OBJECT, WORD, prefers, thinks, words_of
from vault_memory.markdown.reported import COUNTS_ONLY, DECIDED, OTHER, OWN, UNDECIDED, Said, vouched, who_decided

WORLD, EXPERIENCE, OPINION, OBSERVATION = "world", "experience", "opinion", "observation"


class Place(NamedTuple):
    """Where a sentence stands: in somebody's turn of a conversation; behind a time of day; behind a ticked box; behind
    the name of somebody who is quoted in a log, whose I is not the writer's."""

    is_turn: bool = False
    is_logged: bool = False
    is_done: bool = False
    is_quoted: bool = False


class _Sentence(NamedTuple):
    """A sentence with its words in lower case, in order and as a set: most rules ask first whether a word is
    there."""

    text: str
    words: list[str]
    held: frozenset[str]
    place: Place


ANYWHERE = Place()
LEAST_WORDS = 2
IN_PASSING_WORDS = 4
"""What no rule reads tells something with so many words that mean anything by themselves, in one's own turn."""

_BEING = re.compile(
    rf"(?<![\w'.-])(?:I'm|I am|[Ww]e're|[Ww]e are|(?P<past>I was|[Ww]e were|(?:I|[Ww]e)(?:'ve| have) {ADVERBS}been))"
    rf" {ADVERBS}(?P<verb>[\w-]+)(?=(?P<rest>.*))"
)
_UNREAL = re.compile(
    r"\b(?:[Ii]f only|(?:would|could|should|might|must)(?:n't)? have|'d have|I wish|as if"
    r"|like (?:just |only )?yesterday"
    r"|[Pp]retend|[Dd]reamed|[Dd]reamt|(?:had|have|[Ii]n) (?:a|my|the) (?:\w+ )?(?:dream|nightmare)"
    r"|(?:was|were|been) (?:just |only )?(?:(?:going|about) to (?!(?:the|an?|my|our|his|her|their)\b|[A-Z])"
    r"|gonna\b|supposed to|meant to))\b"
)
_OF_NOTHING = re.compile(
    r"\b(?:[Dd]ecided|[Aa]greed|[Cc]hose|[Pp]icked)(?: on| to do)? (?:it|this|that|so)"
    r"(?=[.!,;]|$| (?:on|by|at|in|last|yesterday|today)\b)"
)
"""What was decided nobody will know."""

_LEADS_NOWHERE = re.compile(
    r"\bsince (?:we|I) (?:last |just )?(?:talked|spoke|chatted|saw|met|caught|wrote)\b"
    r"|\bhow (?:far|much|hard|long) (?:I|we)'ve \w+"
)
_DESCRIBES = re.compile(r" [a-z]+(?: [a-z]+)? (?:is|are|was|were|will|would|has|have|had|can|could|came|went)\b")
_TAKES = re.compile(
    r" (?:[A-Z@\[\d]|(?:the|an?|my|our|his|her|their|its|some|all|both|to|with|for|at|in|on|off|up|out|down|from"
    r"|about|it"
    r"|them|this|that)\b)"
)
_GOOD_TIME = re.compile(
    r" (?:(?:a|an|the|such|so much|lots of|some|more) )*(?:\w+ )?(?:blast|fun|time|feeling|day|idea|point|look|chance"
    r"|doubt|lot|clue|question|moment|words|luck|to)\b"
)
_USED_TO_MIND = re.compile(r" to (?:prefer|like|love|hate|enjoy|adore|dislike|think|believe|want)\b")
_PLAIN = r"(?!(?:if|when|whether|that|which|who|where|not|says?|said)\b)[^\s,;:]+"
_OFF = re.compile(
    rf"[\"'“*_(]*(?:@|\[\[|(?!An? )[A-Z])[^\s,;:]*(?: {_PLAIN}){{0,4}}"
    r" (?:is|are|has been|have been) (?:now |all )?(?:cancelled|canceled|postponed|called off|rescheduled)\b"
)
_STATE = re.compile(
    r" *(?:an? (?!bit|little|lot|mess|tad|fan|big|huge|believer|while|hundred|sucker)\w|allerg|vegan|vegetarian"
    r"|pregnant|married|single|divorced|engaged|retired|intolerant|diabetic|dyslexic|colou?r-?blind|left-handed"
    r"|afraid of|from\b"
    r"|based (?:in|at|on)|back (?:in|from|at|to)\b|in (?:my|the|charge|love|Year|grade|third|first|final|[A-Z])"
    r"|at (?:the|a|home|work|[A-Z])|on (?:a|the|holiday|leave|call|parental)|off to|responsible for"
    r"|(?:\d+|[a-z]+ty)\b(?!%)|the (?:owner|head|manager|eldest|oldest|youngest|only)|self-employed|unemployed"
    r"|due in|in charge)"
)
_RELATION = re.compile(
    rf"\b(?:[Mm]y|[Oo]ur) (?:[\w'-]+ ){{0,2}}?(?:{table.RELATIONS})(?:ren|s|'s \w+)?,?(?: [A-Z][\w'-]+,?)?"
    r"(?: (?:also|just|now|still|recently|finally|always|and (?:I|my \w+)))* (?P<verb>[a-z]+)(?P<rest>.*)"
)
_NAMED = re.compile(r"\b(?:his|her|its|their|the (?:dog|cat|baby|puppy|kitten)'s) names? (?:is|are|was)\b", re.I)
_PLAN = re.compile(
    rf"\b(?:(?:I'm|I am|[Ww]e're|[Ww]e are) {ADVERBS}(?:going to|gonna|about to|planning (?:to|on|an?|our|my)"
    rf"|set to|due to|scheduled to)|(?:I|[Ww]e) {ADVERBS}(?:plan(?:ned)? (?:to|on)|intend to"
    r"|have (?:an? )?appointment))"
    r" ?(?P<verb>\w+)"
)
_PLANNED = re.compile(rf"(?:Gonna|Going to|Planning to) (?!(?:{'|'.join(sorted(table.NO_PLANS))})\b)[a-z]")
_WILL = re.compile(
    r"\b(?:I|[Ww]e)(?:'ll| will| shall) (?!be\b|never|always|keep|try|let\b|see\b|check|look|definitely)\w+"
)
_CHANGE = re.compile(
    r"\b(?:moved (?:to|in|out|into|from|back)|(?:started|stopped) (?:an?|at|as|her|his|their|school|nursery|work"
    r"|\w+ing)\b"
    r"|quit|got (?:an?|the|her|his|their|married|engaged|divorced"
    r"|promoted|accepted|fired|hired|into)|bought|adopted|no longer|(?:is|are) now|signed up|joined"
    r"|passed (?:the|her|his|their|an?|all|away|out)|became|was born|were born|died|retired|graduated|sold"
    r"|switched (?:to|from)|resigned"
    r"|broke up|split up|gave birth|(?:is|are) pregnant|turned \d+|lives in|works (?:at|for|as)|dropped out|(?:is"
    r"|was) hired|(?:is|are|'s) (?:allergic|vegan|vegetarian|married|moving|leaving|retiring|getting (?:married"
    r"|divorced))"
    r"|has (?:\w+ )?(?:kids?|children|sons?|daughters?|twins))\b"
)
_SOMEBODY = re.compile(r"(?:[\"'“*_(]*)(?:@|\[\[|[Mm]y |[Oo]ur |[A-Z][\w'-]+(?: (?:and |& )?[A-Z][\w'-]+)* \w)")
_PREFERS = re.compile(rf"\b(?P<verb>{'|'.join(sorted(table.LIKES_OF_OTHERS))}|can't stand)\b(?P<rest>.*)")
_MENTION = re.compile(r"\[\[(?!\d{4}-(?:\d{2}|W))[^\[\]]|(?<![\w@/.])@(?:\w|\[\[)")
_DATED = re.compile(
    r"\b(?:yesterday|tonight|tomorrow|today"
    r"|(?:last|next|this|this past) (?:night|week|weekend|month|year|summer|winter|spring|autumn|fall|morning"
    r"|afternoon"
    r"|evening|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september"
    r"|october|november|december)|(?:on|by|until|till|since|from) (?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|(?:\d+|an?|one|two|three|four|five|six|seven|a few|a couple of) (?:day|week|month|year)s? ago"
    r"|(?:in|on|by|until|since) (?:\d+(?:st|nd|rd|th)? )?(?:january|february|march|april|may|june|july|august"
    r"|september"
    r"|october|november|december)|\d{1,2}(?:st|nd|rd|th)? (?:of )?"
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov"
    r"|dec)[a-z]* \d{1,2}(?:st|nd|rd|th)?|\d{4}-\d{2}-\d{2}"
    r"|(?:in|since|until|by) (?:19|20)\d\d)\b",
    re.I,
)
_AHEAD = re.compile(
    r"\b(?:is|are|will|starts|begins|ends|opens|closes|comes|arrives|leaves|goes|happens|expires|visits|flies|returns"
    r"|takes place|moves)\b|\w'(?:ll|re) "
)


def kind_of(text: str, place: Place = ANYWHERE) -> str | None:
    """The kind of what a sentence tells, or None when it tells nothing; apostrophes are straight ones."""
    words = words_of(text)
    if len(words) < LEAST_WORDS or words[0] in table.HEADS or (words[0], words[1]) in table.HEAD_PAIRS or "?" in text:
        return None
    held = frozenset(words)
    is_mine = not table.MINE.isdisjoint(held)
    if place.is_quoted and is_mine:
        return None
    if place.is_turn and not is_mine and not table.YOU.isdisjoint(held):
        return None
    if not table.UNREAL_HINTS.isdisjoint(held) and _UNREAL.search(text):
        return None
    if held & table.DECISION_HINTS and _OF_NOTHING.search(text):
        return None
    if "since" in held or "how" in held:
        text = _LEADS_NOWHERE.sub(" ", text)
    said = vouched(text, held, place.is_turn)
    sentence = _Sentence(text, words, held, place)
    kind = _told(said, sentence) if said else None
    if kind == EXPERIENCE and place.is_quoted:
        return None
    return kind if kind and (says_something(words) or (is_mine and _names_one_thing(sentence))) else None


def _told(said: Said, whole: _Sentence) -> str | None:
    """The kind of what a sentence tells by what its writer vouches for."""
    own, others = _of(said.own, whole), _of(said.of_themselves, whole)
    is_mine = not table.MINE.isdisjoint(own.held)
    kind = _decision(own) or (_mine(own) if is_mine else None) or (_others(others) if others.words else None)
    return kind or _decision(own, is_own=False) or _in_passing(own)


def _of(text: str, whole: _Sentence) -> _Sentence:
    """What is left of a sentence, read anew; mostly that is all of it."""
    if text == whole.text:
        return whole
    words = words_of(text)
    return _Sentence(text, words, frozenset(words), whole.place)


def elaborates(text: str, kind: str = OBSERVATION) -> bool:
    """Whether a sentence behind one that tells something tells more of it ("Her name's Coco and she's adorable").

    More of an opinion only where it takes up what that is of: else somebody would be said to hold what is a fact.
    """
    words = words_of(text)
    if kind == OPINION and words and words[0] not in table.TAKES_UP:
        return False
    if len(words) < LEAST_WORDS or "?" in text or words[0] in table.HEADS or (words[0], words[1]) in table.HEAD_PAIRS:
        return False
    return table.YOU.isdisjoint(words) and says_something(words)


def says_something(words: list[str]) -> bool:
    """Whether there are two among these words that mean anything by themselves, and all read as English."""
    return len(set(words) - table.GENERIC) > 1 and table.is_english(words)


def _decision(sentence: _Sentence, is_own: bool = True) -> str | None:
    """What the writer decided; what others did is no deed of theirs, and in a log told only of those with a name."""
    match = DECIDED.search(sentence.text) if sentence.held & table.DECISION_HINTS else None
    if not match or UNDECIDED.search(sentence.text):
        return None
    if not match["done"]:
        return WORLD if is_own else None
    who = who_decided(sentence.text, match.start())
    if is_own:
        return EXPERIENCE if who == OWN else None
    return OBSERVATION if sentence.place.is_turn or who != OTHER else None


def _mine(sentence: _Sentence) -> str | None:
    """What a sentence with I, we, my or our tells of whose it is."""
    text, held = sentence.text, sentence.held
    if (held & table.LIKE_HINTS and prefers(text)) or (not sentence.place.is_turn and thinks(text)):
        return OPINION
    for match in FIRST.finditer(text):
        if UNDECIDED.search(text, match.start(), match.end("verb")):
            continue
        if kind := _deed(match["aux"] or "", match["verb"].lower(), match["rest"]):
            return kind
    if held & table.BEING_HINTS and (kind := _being(text)):
        return kind
    if (held & table.OWNERS and _relation(text)) or (held & table.NAME_HINTS and _NAMED.search(text)):
        return WORLD
    plan = _PLAN.search(text) if held & table.PLAN_HINTS else None
    if plan and plan["verb"].lower() not in table.NO_PLANS:
        return WORLD
    denied = DENIED.search(text) if not table.DENIED_HINTS.isdisjoint(held) else None
    if denied and not NO_OBJECT.match(denied["rest"]):
        return WORLD
    will = held & table.WILL_HINTS and held.isdisjoint(table.YOU) and _WILL.search(text)
    return WORLD if will and _is_dated(sentence) else None


def _deed(aux: str, verb: str, rest: str) -> str | None:
    """The kind of what "I <verb> <rest>" tells."""
    if aux == "'d":
        return EXPERIENCE if table.is_past(verb) and verb not in table.UNMARKED else None
    if aux and verb in table.COUNTS:
        return None if _GOOD_TIME.match(f" {verb}{rest}") else WORLD
    if aux and verb == "got":
        return WORLD
    if verb == "had" and rest.startswith(" to "):
        return EXPERIENCE
    if verb == "used" and _USED_TO_MIND.match(rest):
        return None
    if COUNTS_ONLY.match(rest) or (verb == "did" and rest.startswith(" not ")):
        return None
    if verb in ("was", "were", "been") or (verb in ("had", "got", "did") and _GOOD_TIME.match(rest)):
        return None
    if verb == "got" and not table.STATES_OF_MIND.isdisjoint(words_of(rest)[:2]):
        return None
    if table.is_past(verb) or (verb in table.UNMARKED and verb not in ("let", "become", "bet")):
        return EXPERIENCE
    if aux or verb not in table.LIVES or verb in ("have", "keep", "share") or NO_OBJECT.match(rest):
        return None
    return WORLD


def _being(text: str) -> str | None:
    """What "I'm …", "I was …", "I've been …" tell: a state of somebody's life, or what they do for a while."""
    for match in _BEING.finditer(text):
        verb, rest = match["verb"].lower(), match["rest"]
        is_doing = verb.endswith("ing") and len(verb) > 4
        is_search = verb == "looking" and rest.startswith((" into ", " for "))
        if verb not in table.NO_DOINGS or is_search if is_doing else _STATE.match(match["verb"] + rest):
            return EXPERIENCE if match["past"] else WORLD
        if match["past"] and verb == "to" and rest.strip():
            return EXPERIENCE
    return None


def _relation(text: str) -> bool:
    match = _RELATION.search(text)
    if not match:
        return False
    verb = match["verb"]
    return verb in table.LIVES_OF_OTHERS or verb in ("love", "like", *table.LIKES_OF_OTHERS) or table.is_past(verb)


def _others(sentence: _Sentence) -> str | None:
    """What a sentence without a telling I or we tells: of its writer in a log, else of others."""
    text, first = sentence.text, sentence.words[0]
    if _logged(sentence):
        return EXPERIENCE
    if _PLANNED.match(text):
        return WORLD
    if first in table.NO_SUBJECTS:
        return None
    if not table.OFF_HINTS.isdisjoint(sentence.held) and _OFF.match(text):
        return WORLD
    if first not in table.MINE or first in table.OWNERS:
        is_mentioned = ("[[" in text or "@" in text) and _MENTION.search(text) is not None
        if kind := _of_somebody(sentence, is_mentioned):
            return kind
    if "if" not in sentence.held and _is_dated(sentence):
        return OBSERVATION if _is_past(sentence) else WORLD if _AHEAD.search(text) else None
    return None


def _of_somebody(sentence: _Sentence, is_mentioned: bool) -> str | None:
    """What a sentence tells that begins with a name or "my …"."""
    if (not is_mentioned and table.OTHERS_HINTS.isdisjoint(sentence.held)) or not _SOMEBODY.match(sentence.text):
        return None
    if _CHANGE.search(sentence.text):
        return WORLD
    match = _PREFERS.search(sentence.text)
    if match and not NO_OBJECT.match(match["rest"]):
        return OPINION
    return OBSERVATION if is_mentioned and _is_past(sentence) else None


def _in_passing(sentence: _Sentence) -> str | None:
    """What somebody says of themselves in a conversation ("This necklace was a gift of my grandma, from Sweden")."""
    is_own = sentence.place.is_turn and not table.MINE.isdisjoint(sentence.held) and table.YOU.isdisjoint(sentence.held)
    return OBSERVATION if is_own and len(sentence.held - table.GENERIC) >= IN_PASSING_WORDS else None


def _is_past(sentence: _Sentence) -> bool:
    return any(map(table.is_past, sentence.words[1:]))


def _names_one_thing(sentence: _Sentence) -> bool:
    """Whether one word that means something goes with a date ("I graduated last week") or with words in quotes."""
    if sentence.held <= table.GENERIC or not table.is_english(sentence.words):
        return False
    return "__" in sentence.text or _is_dated(sentence)


def _is_dated(sentence: _Sentence) -> bool:
    is_hinted = not table.DATE_HINTS.isdisjoint(sentence.held) or "20" in sentence.text
    return is_hinted and _DATED.search(sentence.text) is not None


def _logged(sentence: _Sentence) -> bool:
    """Whether a sentence begins with what its writer did, as telegraphic logs are written."""
    words = sentence.words
    verb = next((word for word in words if word not in table.LEADS), "") if words[0] in table.LEADS else words[0]
    if not table.is_past(verb) and verb not in table.UNMARKED:
        return False
    if sentence.place.is_turn and not table.YOU.isdisjoint(sentence.held):
        return False
    found = WORD.finditer(sentence.text.lower())
    at = next(match for match in found if match[0] == verb)
    is_first = sentence.text[: at.start()].strip("*_( ") == "" or words[0] in table.LEADS
    place = sentence.place._replace(is_logged=sentence.place.is_logged or not table.BACK.isdisjoint(words))
    return is_first and _is_deed(verb, sentence.text[at.end() :], place)


def _is_deed(verb: str, rest: str, place: Place) -> bool:
    """Whether the past form that a sentence begins with tells a deed; `rest` is what follows it."""
    if rest.startswith(" not ") and UNDECIDED.match(rest, 1):
        return False
    if (
        COUNTS_ONLY.match(rest)
        or verb in table.STATES_OF_MIND
        or rest[:1] in (",", "!", ".", ":", "-", "'")
        or rest.startswith(" by ")
    ):
        return False
    if verb in table.UNMARKED:
        return (place.is_logged or place.is_done) and verb not in ("let", "bet", "cost")
    if verb in ("was", "were", "had", "got", "did", "been"):
        return verb in ("had", "got", "did") and not _GOOD_TIME.match(rest)
    return not (verb.endswith("ed") and (_DESCRIBES.match(rest) or (place.is_done and not _TAKES.match(rest))))
