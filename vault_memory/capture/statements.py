"""Finds the statements worth keeping in a session by their grammatical form. Pure.

Precision before recall. Clauses that order, suppose, joke or are about the day are dropped from both ends of a
sentence. The rest is kept if it has the form of something lasting (`is_lasting_fact`): a rule, change, preference or
cause, or a long sentence with several marks of one. What was retracted later is not kept.
"""

import math
import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from vault_memory.capture import exclusions
from vault_memory.capture.cases import CURE, case_part, is_case, join_cases
from vault_memory.capture.clauses import MAX_WORDS, MIN_WORDS, clauses, is_question, is_sentence, lasting_part
from vault_memory.capture.own_words import TYPED_CHARS, SessionTurn, ends, last_question, split_sentences
from vault_memory.capture.remember_requests import (
    MARKS,
    MAX_CHARS,
    STANDING,
    asks_to_remember,
    find_asked_politely,
    find_request,
    is_off_the_record,
)
from vault_memory.capture.retractions import RETRACTION, SessionReview, telling_words
from vault_memory.text.terms import folded
from vault_memory.text.word_classes import (
    LANGUAGES,
    MONTHS,
    Grammar,
    count_words,
    grammar_of,
    language_of,
    lowered,
    pattern_of,
    words_of,
)

CORRECTING_MESSAGES = 2
"""How many messages, from the retracting one on, are searched for a correction."""

CORRECTION_SENTENCES = 3
"""How many sentences of a message, from the retracting one on, are searched for a correction."""

MAX_RENUMBERING = 10
"""A longer sentence does more than correct a number."""

USUAL_WORDS, LEAST_SCORE = 8, 2.0
"""Fitted, with the weights of 1/2 in is_lasting_fact, by logistic regression to 389 sentences of 55 labelled sessions.
The threshold was lowered from 2.2 once orders, wishes and symptoms were excluded beforehand: on twelve further sessions
recall of clear statements rises from .56 to .63, precision falls from .87 to .85."""

TASK_CHARS = 300
"""A longer message sets a task: only one of the 152 statements in those sessions is in such a message."""

LEAD_WORDS = 3
"""The minimum number of words before a colon that announces a statement. Of 17 such sentences in 67 labelled sessions
16 are worth keeping, of which only eight are found without this rule."""

AGREEING_WORDS = 5
"""The maximum length of an answer that only agrees ("Yes, please do")."""

PLAIN_ANSWER_WORDS = 3
"""The maximum length of an answer that surely adds nothing to what it agrees to ("Yes, please do")."""

UNTOLD = "(looks like a secret)"
"""The text of a statement in place of a secret."""

RULE_WORDS = 5
"""The minimum length of a rule."""

_NAME_WITHIN = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][a-z]{2,}")

_BULLET = re.compile(r"^(?:[-*+•]|\d{1,2}[.)])\s+")
_NUMBERED = re.compile(r"\b([^\W\d]{3,}) (\d+(?:[.:]\d+)*)\b")
_DAY = r"\d{1,2}(?:st|nd|rd|th|er|\.)?"
_DATE = re.compile(rf"\b(?:\d{{4}}-\d\d-\d\d|{_DAY}(?: de| of)? (?:{MONTHS})|(?:{MONTHS}) {_DAY})\b")
_VALUE = re.compile(rf"{_DATE.pattern}|(?<![\w.])\d+(?:[.:]\d+)*(?!\w)", re.IGNORECASE)
_ASSENT = pattern_of(r"""
    (?:yes|yep|yup|yeah|exactly|right|correct|indeed|ja|jep|genau|richtig|stimmt|oui|exact(?:ement)?|tout à fait|sí|
    exacto|claro|sim|isso|exato)\b
""")
_STATE_QUESTION = pattern_of(r"""
    (?:\W|so |then |also |und |et |e |y )*(?:is|are|does|do (?!you want)|has|have|was|were|ist|sind|hat|haben|war|
    est(?:-ce)?|sont|a-t-|es|está|son|tiene|é|são|tem)\b
""")
"""A question about how things are, not about what to do."""
_MARKED_END = re.compile(r"[,;:.–—(]\s*$")
_TASK = re.compile(
    r"(?:\w+[aei]r(?:se|l[oa]s?)?) (?:el|la|los|las|os?|as?)\b|.*\bzu \w+en\W*$|(?:how|what|why|qué|cómo) "
)
"""The beginning of a task or a question, as the content of a request to remember."""
_RULE = pattern_of(r"""
    \b(?:ha(?:s|ve) to|needs? to|tienen? que|têm? (?:que|de)|every \w+day|(?:mon|tues|wednes|thurs|fri|satur|
    sun)days|week(?:day|end)s|(?:mon|diens|donners|frei|sams|sonn)tags|mittwochs|(?:les?|los|el|às?|nas?)[ ]
    (?:lundis?|mardis?|mercredis?|jeudis?|vendredis?|samedis?|dimanches?|lunes|martes|miércoles|jueves|viernes|
    sábados?|domingos?|segundas?|terças?|quartas?|quintas?|sextas?))\b|
    \b(?:(?:is|are) called (?!twice|once|by|from|in|with|when|on|for|every|again)|we call |name is |
    (?:heiß(?:t|en)|nennen wir|s'appelle(?:nt)?|on appelle|se llaman?|llamamos|se chamam?|chamamos)\b)|
    , (?:and |et |y |e |und )?(?:not|no|never|nicht|kein\w*|nie|pas|jamais|não|nunca|sin|sem|sans|ohne|without|only|nur|
    seulement|uniquement|solo|sólo|só|apenas|somente)\b
""")
"""An obligation, a recurring weekday, a name given to something, or a contrast (", not …")."""
_CHANGE = pattern_of(r"""
    \b(?:now|jetzt|nun|maintenant|désormais|ahora|agora)\b.*(?:\b(?:instead of|rather than|statt|au lieu d|
    e[nm] vez de)\b|, (?:and )?(?:not|no longer|nicht|plus|ya no|não)\b)|
    , (?:and )?(?:no longer|nicht mehr|ya no|não mais)\b|\bnicht mehr\b.*, sondern\b
""")
"""Says what holds now, and what held before."""
_DENIAL = re.compile(
    r"^(?:(?:no|nope|nein|nee|non|não)\b[,.:!]+|(?:actually|sorry|eigentlich|en fait|en realidad|na verdade)\b,?)\s*"
)
_COPULAS = frozenset(("is", "are", "ist", "sind", "est", "sont", "es", "son", "é", "são", "was", "war", "era", "foi"))


_LASTING = frozenset(("soy", "sou"))
_BEING = frozenset(("am", "i'm", "im", "bin", "suis")) | _LASTING
"""Forms of "I am"; those of LASTING say what somebody is, and not how they are today."""
_PLACING = frozenset(("in", "at", "for", "as", "bei", "für", "als", "chez", "comme", "à", "en", "para", "como", "em"))
"""What follows a verb of living or working that says where or as what."""
MAX_LIKED_WORDS = 2
"""What is liked or hated in more words is seldom meant in general."""
_CONDITION = re.compile(
    r"(?:\w*in?toleran|allerg|alerg|\w*vegetari|vegan|c(?:o?e|œ)lia[ck]|zoliak|diabet|asthma|asmat|schwanger|pregnan|embaraz)"
)
"""Beginnings of words, without accents, for how somebody lives with food or illness, in five languages."""
_OWN_NAME = re.compile(
    r"\w+ (?:{noun} |(?:{noun} ){{1,3}}(?:is|are|est|sont|es|son|é|são) {title}?)[A-ZÀ-Ý][a-zà-ü]".format(
        noun=r"(?![A-Z][a-z])[\w-]+",
        title=r"(?:(?:l[ea]|el|[oa]) (?i:do[cu]t(?:eur|or)[ae]?|[ds]ra?\.?|prof\w*\.?|mme|señora?|senhora?) )",
    )
)
_OWN_NAME_GERMAN = re.compile(
    r"\w+ (?:[A-ZÄÖÜ][\w-]+ |(?:[\w-]+ ){1,3}(?:ist|sind|heißt|heißen) [A-ZÄÖÜ][\w-]*\.? )[A-ZÄÖÜ]"
)
"""What is one's own with its name, behind it or a copula: "my sister Greta", "my dentist is Dr Bell". In German, where
every noun is capitalised, the name after a copula has two words."""
_GERMAN_TRADE = re.compile(r"[Ii]ch bin [A-ZÄÖÜ]\w+[.!]?$")
"""A noun without an article: "ich bin Lehrerin"."""


class Cue(NamedTuple):
    """The type of a statement: its kind (W, B, O, S), category, and how certainly it is worth keeping (0..1)."""

    name: str
    kind: str
    category: str
    certainty: float = 0.8


REQUEST = Cue("request", "S", "patterns", 1.0)
PROFILE = Cue("profile", "W", "profile")
PREFERENCE = Cue("preference", "O", "preferences")
OTHERS_PREFERENCE = Cue("preference", "O", "entities")
RULE = Cue("rule", "S", "patterns")
CAUSE = Cue("cause", "B", "cases")
CHANGE = Cue("change", "B", "events")
FACT = Cue("fact", "W", "entities")
ANSWER = Cue("answer", "W", "entities", 0.5)
"""An affirmed question of the agent: no word marks it as lasting, so it must pass the gate as well."""


class Statement(NamedTuple):
    """A statement worth keeping; `message` is the number of its message (1-based), for a log that of its line,
    `sentence` the original wording, and `is_request` whether that asks to remember it."""

    text: str
    cue: Cue
    message: int
    sentence: str
    is_request: bool = False
    subject: str = ""
    """The name a sentence of a log is about, if it is known as a name from elsewhere."""
    is_of_name: bool = False
    """Whether it is from a log and about a possible name."""
    confidence: float = 1.0
    """How much of it is in the user's own words, 0..1."""
    is_secret: bool = False
    """Whether it is a request to remember what looks like a secret, which is not in `text`."""
    is_taken_back: bool = False
    """Whether the user retracted or corrected it later in the session."""


class Setting(NamedTuple):
    """The context of a sentence in its session."""

    sets_task: bool = False
    """Whether its message sets the task: it is the user's first, or a long one."""
    question: str = ""
    """The agent's question that its message answers; "" for none."""
    names: Collection[str] = ()
    """The known names, in lower case."""


class Spoken(NamedTuple):
    """The languages that are read, and the usual one of a session, "" for none of them."""

    languages: Sequence[str]
    usual: str = ""

    def grammar(self, sentence: str) -> Grammar | None:
        """The grammar of a sentence's language; None if it is none of those read."""
        name = language_of(words_of(sentence), self.languages, self.usual)
        return grammar_of(name) if name else None

    def is_past(self, sentence: str) -> bool:
        """Whether a sentence is in a past tense."""
        grammar = self.grammar(sentence)
        return grammar is not None and grammar.past.search(lowered(sentence)) is not None


def find_statements(
    messages: Sequence[SessionTurn], languages: tuple[str, ...], names: Collection[str] = ()
) -> list[Statement]:
    """The statements of a session's user that are worth keeping, in order, including those retracted later.

    `names` are known names in lower case.
    """
    words = [word for said in messages if said.by_user for word in words_of(said.text[:TYPED_CHARS])]
    spoken = Spoken(languages, language_of(words, languages))
    found: list[Statement] = []
    question, earlier = "", None
    for said in messages:
        if said.by_user:
            sets_task = earlier is None or len(said.text) > TASK_CHARS
            if agreed := _agreed(said, question, earlier, spoken):
                found.append(agreed)
            else:
                found += _of_message(said, Setting(sets_task, question, names), spoken)
            question, earlier = "", said
        else:
            question = last_question(said.text)
    # A request to remember may point back to a sentence that was already found as a statement.
    found = list({(one.message, one.sentence): one for one in found}.values())
    review = SessionReview(messages)
    taken = {one: review.taken_back_at(one.sentence, one.message, is_request=one.is_request) for one in found}
    corrected = {
        old: new for old, at in taken.items() if not old.is_secret and (new := _correction(old, at, review, spoken))
    }
    instead = {new.sentence: new for new in corrected.values()}
    others = (one for one in found if one.sentence not in instead)
    marked = (one._replace(is_taken_back=taken[one] is not None or one in corrected) for one in others)
    return sorted([*marked, *instead.values()], key=lambda one: one.message)


def is_statable(sentence: str) -> bool:
    """Whether a sentence has a lasting part: it is not all question, guess, joke, task or matter of the day."""
    grammar = Spoken([*LANGUAGES]).grammar(sentence)
    return grammar is not None and lasting_part(sentence, grammar) != ""


def why_left_out(sentence: str, spoken: Spoken) -> str:
    """Why a sentence is no statement, in words."""
    grammar, lower = spoken.grammar(sentence), lowered(sentence)
    if grammar is None:
        return "in no language that is read"
    reasons = {
        "a question": is_question(sentence, grammar),
        "a joke or irony": exclusions.is_ironic(lower, is_reply=True),
        "what somebody else says": exclusions.is_foreign(sentence),
        "a guess or a condition": exclusions.supposes(lower) or grammar.unreal.search(lower),
        "about the day, or one of many": exclusions.is_passing(lower),
        "how it is going": exclusions.STATUS.search(lower),
        "too long": count_words(sentence) > MAX_WORDS,
        "a task, or about the matter at hand": not lasting_part(sentence, grammar),
    }
    return next((reason for reason, holds in reasons.items() if holds), "nothing in it says that it lasts")


def _of_message(said: SessionTurn, setting: Setting, spoken: Spoken) -> Iterator[Statement]:
    """The statements in one message of the user."""
    before: list[str] = []
    is_announced, context = False, f"{setting.question} {said.text}"
    for place, line in enumerate(join_cases(split_sentences(said.text), spoken.grammar)):
        sentence, is_bullet = _BULLET.sub("", line), _BULLET.match(line) is not None
        text, points_back = find_request(sentence)
        statement: Statement | None = None
        if is_announced or text:
            statement = read_request(text or sentence, said.number, sentence, spoken, context)
            is_announced = is_announced and is_bullet
        elif points_back and (sentence.endswith(":") or (sentence.endswith("?") and not before)):
            is_announced = True
        elif points_back and before:
            meant = next((one for one in reversed(before) if not spoken.is_past(one)), before[-1])
            statement = read_request(meant, said.number, meant, spoken, context)
        elif not points_back and not exclusions.is_secret(sentence, context):
            statement = _assent(sentence, setting.question if place == 0 else "", said.number, spoken)
            statement = statement or _read(sentence, said.number, setting, spoken)
        before += [sentence] if count_words(sentence) >= MIN_WORDS else []
        if statement:
            yield statement


def _read(sentence: str, message: int, setting: Setting, spoken: Spoken) -> Statement | None:
    """The statement that a sentence makes by its form, or None."""
    grammar = spoken.grammar(sentence) if len(sentence) <= MAX_CHARS else None
    if grammar is None:
        return None
    if text := case_part(sentence, grammar):  # "great, …" opens irony as well as an account of a bug
        return Statement(_capitalised(text), CAUSE, message, sentence)
    if exclusions.is_ironic(lowered(sentence), is_reply=bool(setting.question)):
        return None
    text = lasting_part(sentence, grammar)
    text = _announced(sentence, grammar) or (text if text and is_lasting_fact(text, grammar, setting) else "")
    return Statement(_capitalised(text), cue_of(text, grammar), message, sentence) if text else None


def _announced(sentence: str, grammar: Grammar) -> str:
    """The lasting part of what a sentence announces with a colon ("one more, chisel it in stone: …"), or puts into a
    polite question; else ""."""
    lead, _, rest = sentence.partition(": ")
    if asked := find_asked_politely(sentence):
        rest = asked
    elif count_words(lead) < LEAD_WORDS or exclusions.is_foreign(sentence) or exclusions.GUESS.search(lowered(lead)):
        return ""
    text = lasting_part(rest, grammar)
    return "" if len(words_of(text)) < MIN_WORDS or exclusions.STATUS.search(lowered(text)) else text


def read_request(text: str, message: int, sentence: str, spoken: Spoken, context: str = "") -> Statement | None:
    """The statement that a request asks to remember, without trailing clauses about the day; None if unfit."""
    if len(text) > MAX_CHARS or exclusions.JOKE.search(lowered(sentence)):
        return None
    parts = clauses(text)
    last = next((place for place, part in enumerate(parts) if exclusions.is_passing(lowered(part))), len(parts))
    if 0 < last < len(parts) and not _MARKED_END.search(parts[last - 1]):
        last = len(parts)  # "nothing but fixes until May" does not divide into a clause and a remainder
    lasting = "".join(parts[:last]).rstrip(MARKS)
    lower = lowered(lasting)
    if not 2 <= count_words(lasting) <= MAX_WORDS or _TASK.match(lower) or RETRACTION.search(lower):
        return None
    if exclusions.supposes(lower):
        return None
    grammar = Spoken([*LANGUAGES], spoken.usual).grammar(text)
    cue = cue_of(lasting, grammar) if grammar else REQUEST
    asked = Statement(_capitalised(lasting), cue._replace(certainty=1.0), message, sentence, is_request=True)
    return _without_secret(asked, context)


def _without_secret(asked: Statement, context: str) -> Statement:
    """A requested statement, its text replaced if it looks like a secret in its context."""
    is_secret = exclusions.is_secret(asked.sentence, context)
    return asked._replace(text=UNTOLD, is_secret=True) if is_secret else asked


def _assent(sentence: str, question: str, message: int, spoken: Spoken) -> Statement | None:
    """The agent's question with the user's affirmative answer as one statement, or None; of an answer that stands
    alone, without the question."""
    lower, asked = lowered(sentence), lowered(question)
    assent = _ASSENT.match(lower)
    if not (question and assent and _STATE_QUESTION.match(asked)):
        return None
    if exclusions.is_idle(lower) or exclusions.is_passing(asked):
        return None
    if not (count_words(sentence) <= MAX_WORDS and MIN_WORDS <= count_words(question) <= MAX_WORDS):
        return None
    rest, grammar = sentence[assent.end() :].lstrip(MARKS), spoken.grammar(sentence)
    stands_alone = grammar is not None and len(words_of(rest)) >= RULE_WORDS and is_sentence(rest, grammar)
    text = _capitalised(rest) if stands_alone else f"{question} – {_capitalised(sentence)}"
    return Statement(text, ANSWER, message, f"{question} {sentence}", confidence=0.5)


def _agreed(said: SessionTurn, question: str, earlier: SessionTurn | None, spoken: Spoken) -> Statement | None:
    """What the agent offered to remember, named in its question or said before it, if the user's whole answer is that
    they agree; else None."""
    if not _ASSENT.match(lowered(said.text)) or count_words(said.text) > AGREEING_WORDS:
        return None
    points_back, named = asks_to_remember(question)
    if named:
        dialogue, answer = f"{question} {said.text}", words_of(said.text)
        if len(answer) <= PLAIN_ANSWER_WORDS and _is_plain(named, answer, spoken):
            return read_request(named, said.number, dialogue, spoken)
        text, cue = f"{question} – {_capitalised(said.text)}", ANSWER._replace(certainty=1.0)
        return _without_secret(Statement(text, cue, said.number, dialogue, is_request=True), "")
    told = split_sentences(earlier.text) if points_back and earlier else ()
    stated = [one for one in told if count_words(one) >= MIN_WORDS and not (one.endswith("?") or spoken.is_past(one))]
    return read_request(stated[-1], earlier.number, stated[-1], spoken, earlier.text) if stated and earlier else None


def _is_plain(named: str, answer: Sequence[str], spoken: Spoken) -> bool:
    """Whether what the agent offered to remember makes sense without its question and the answer: a sentence about
    neither of the two, to which the answer adds no condition."""
    grammar = spoken.grammar(named)
    if grammar is None or grammar.has("mine ours yours", words_of(named)) or grammar.has("every denying", answer):
        return False
    return named.startswith("„") or is_sentence(named, grammar)


def is_lasting_fact(text: str, grammar: Grammar, setting: Setting) -> bool:
    """Whether a text states something lasting: it has the form of a rule, or is long enough with enough marks."""
    words, lower = words_of(text), lowered(text)
    if _names_change(words, grammar):
        return True
    if exclusions.STATUS.search(lower):
        return False
    parts = clauses(text)
    if _is_marked_change(text, words, grammar):
        return True
    if _is_of_speaker(parts[0], grammar) or _is_of_known_name(parts[0], grammar, setting.names):
        return True
    is_told = grammar.past.search(lowered(parts[0])) is not None and CURE.search(lower) is None
    if not is_told and _is_rule(text, words, grammar, setting):
        return True
    marks = sum(grammar.has(name, words) for name in ("always", "every", "ours", "reasons", "denying"))
    marks += _has_name(text) + any(map(str.isdigit, text)) + bool(setting.question)
    length = 2 * math.log2(len(words) / USUAL_WORDS)
    score = length + min(marks + len(parts) - 1, 4) / 2 - 3 * setting.sets_task - is_told
    return marks > 0 and score >= LEAST_SCORE


def _is_marked_change(text: str, words: Sequence[str], grammar: Grammar) -> bool:
    """Whether a sentence contrasts what holds now of something named or counted with what held before."""
    if len(words) < RULE_WORDS or grammar.has("pointing definite", words[:1]):
        return False
    is_named = _has_name(text) or any(map(str.isdigit, text))
    return is_named and _CHANGE.search(lowered(text)) is not None


def _is_rule(text: str, words: Sequence[str], grammar: Grammar, setting: Setting) -> bool:
    """Whether a sentence states what always is or must be, gives a date, or is about "us" and a name."""
    is_standing = grammar.has("always", words) or STANDING.search(lowered(text)) is not None
    if setting.sets_task and not (is_standing or grammar.has("ours", words)):
        return False
    if len(words) < (USUAL_WORDS if grammar.has("pointing", words[:1]) else RULE_WORDS):
        return False  # the referent of a short "they always say so" is elsewhere
    is_of_us = (_has_name(text) or words[0] in setting.names) and grammar.has("ours", words)
    lower = lowered(text)
    return bool(is_of_us or is_standing or _RULE.search(lower) or _DATE.search(lower))


def _is_of_speaker(clause: str, grammar: Grammar) -> bool:
    """Whether a clause says how its speaker lives, or who or what somebody or something of theirs is.

    What it says must be meant in general: "the", "this" and "here" are about the matter at hand.
    """
    words, lower = words_of(clause), lowered(clause)
    if not grammar.has("mine", words[:1]) or grammar.has("yours", words) or grammar.past.search(lower):
        return False
    if grammar.has("determiners", words[:1]):  # "my dentist is Dr Bell"
        named = _OWN_NAME_GERMAN if grammar is grammar_of("de") else _OWN_NAME
        return named.match(clause) is not None or _is_condition(words)
    verb = next((at for at, word in enumerate(words[:3]) if grammar.has("states likes", [word])), None)
    if verb is None or not all(grammar.has("verbs denying always every", [word]) for word in words[1:verb]):
        return False
    said = words[verb + 1 :]
    if words[verb] in _BEING:
        is_general = bool(said) and not grammar.has("pointing definite", said)
        is_lasting = is_general and words[verb] in _LASTING and not grammar.has("prepositions", said[:1])
        return is_lasting or _is_condition(said) or _GERMAN_TRADE.search(clause) is not None
    if not said or grammar.has("pointing definite", said):
        return False
    if grammar.has("likes", words[verb : verb + 1]):
        return len(said) <= MAX_LIKED_WORDS and not grammar.has("interrogatives pronouns", said)
    return said[0] in _PLACING and (grammar is grammar_of("de") or _has_name(clause))


def _is_condition(words: Sequence[str]) -> bool:
    return any(_CONDITION.match(folded(word)) for word in words)


def _is_of_known_name(clause: str, grammar: Grammar, names: Collection[str]) -> bool:
    """Whether a clause says what a known name is: "Jonas is coeliac"."""
    words = words_of(clause)
    is_so = any(" ".join(words[:at]) in names and _COPULAS.issuperset(words[at : at + 1]) for at in (1, 2, 3))
    return is_so and _is_condition(words) and not grammar.past.search(lowered(clause))


def _has_name(text: str) -> bool:
    return _NAME_WITHIN.search(text) is not None


def _names_change(words: Sequence[str], grammar: Grammar) -> bool:
    """Whether a sentence states a preference, a cause, a change of ours or of a name's, or what a name does."""
    is_of_name = words[0] not in grammar.common and grammar.has("changes", words[1:3])
    is_change = is_of_name or (grammar.has("changes", words) and grammar.has("ours", words))
    return grammar.has("causes", words) or is_change or prefers(words, grammar) or _is_named(words, grammar)


def prefers(words: Sequence[str], grammar: Grammar) -> bool:
    """Whether a sentence opens with a preference of its speaker or of a third person."""
    wishes = [word for word in words[:5] if word in grammar.classes["wishes"]]
    is_own = grammar.has("mine", words[:4]) or words[0] in wishes
    return bool(wishes) and (is_own or grammar.third.search(wishes[0]) is not None)


def _is_named(words: Sequence[str], grammar: Grammar) -> bool:
    """Whether a sentence begins with a name, a third-person verb and an object."""
    if len(words) < 4 or words[0] in grammar.common or words[1] in grammar.openers | _COPULAS:
        return False
    is_thing = words[2] in grammar.classes["determiners"] or words[2][0].isdigit()
    return is_thing and grammar.third.search(words[1]) is not None


def cue_of(text: str, grammar: Grammar) -> Cue:
    """The cue of a text, which decides its kind and category."""
    words = words_of(text)
    for cue, holds in (
        (CAUSE, grammar.has("causes", words) or is_case(text, grammar)),
        (CHANGE, grammar.has("changes", words)),
        (OTHERS_PREFERENCE, grammar.has("wishes", words[:3]) and words[0] not in grammar.common),
        (PREFERENCE, grammar.has("wishes", words[:3])),
        (PREFERENCE, grammar.has("mine", words[:1]) and grammar.has("likes", words[:3])),
        (PROFILE, grammar.has("mine", words[:1]) and not grammar.has("ours", words)),
        (RULE, grammar.has("always every duty", words) or _RULE.search(lowered(text)) is not None),
        (CAUSE, CURE.search(lowered(text)) is not None),
        (CHANGE, _DATE.search(lowered(text)) is not None),
        (PROFILE, grammar.has("mine", words)),
    ):
        if holds:
            return cue
    return FACT


def _capitalised(text: str) -> str:
    text = text.strip()
    return text[:1].upper() + text[1:]


# --- corrections -----------------------------------------------------------------------------------------------------


def _correction(old: Statement, taken_at: int | None, review: SessionReview, spoken: Spoken) -> Statement | None:
    """The correction of a statement that was retracted, or whose next message has a denial ("no, …", "actually …").

    That is a sentence with most of its words and something new, or with another date or number for it; else None.
    """
    own, denial = telling_words(old.text), _DENIAL if taken_at is None else RETRACTION
    first = old.message if taken_at is None else max(old.message, taken_at - 1)
    for said in review.messages_after(first)[: 1 if taken_at is None else CORRECTING_MESSAGES]:
        if is_off_the_record(ends(said.text)):
            continue
        sentences = list(split_sentences(said.text))
        taken = next((at for at, one in enumerate(sentences) if denial.search(lowered(one))), len(sentences))
        for sentence in sentences[taken : taken + CORRECTION_SENTENCES]:
            *_, end = (0, *(one.end() for one in denial.finditer(lowered(sentence))))
            text = _renumbered(old.text, sentence) or _revalued(old.text, sentence[end:])
            text = text or _said_anew(sentence[end:].lstrip(MARKS), own, spoken)
            if text:
                return old._replace(text=_capitalised(text), message=said.number, sentence=sentence)
    return None


def _said_anew(sentence: str, own: set[str], spoken: Spoken) -> str:
    """The clause of a sentence whose words are mostly these and partly new; "" for none."""
    grammar = spoken.grammar(sentence)
    text = lasting_part(sentence, grammar) if grammar else ""
    for clause in clauses(text):
        words = telling_words(clause)
        if count_words(clause) >= MIN_WORDS and words - own and 2 * len(words & own) >= len(words):
            return clause.rstrip(MARKS)
    return ""


def _revalued(text: str, sentence: str) -> str:
    """A text with its date or number replaced by what a sentence gives for the same thing ("it's 21 June"), or ""."""
    old = _VALUE.findall(text)
    for clause in () if sentence.endswith("?") else clauses(sentence):
        said = _VALUE.findall(clause)
        is_other = len(said) == len(old) == 1 and said != old
        if is_other and telling_words(_VALUE.sub("", clause)) <= telling_words(text):
            return _VALUE.sub(str(said[0]), text)
    return ""


def _renumbered(text: str, sentence: str) -> str:
    """A text with its number replaced by the one a sentence gives for the same word ("no, it's port 5434"), or ""."""
    said = _NUMBERED.findall(sentence)
    old = [one for one in _NUMBERED.finditer(text) if len(said) == 1 and one[1].lower() == said[0][0].lower()]
    if len(old) != 1 or old[0][2] == said[0][1] or sentence.endswith("?") or count_words(sentence) > MAX_RENUMBERING:
        return ""
    return f"{text[: old[0].start(2)]}{said[0][1]}{text[old[0].end(2) :]}"
