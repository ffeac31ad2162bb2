"""Finds the statements worth keeping in a session by their grammatical form. Pure.

Precision before recall. Clauses that order, suppose, joke or are about the day are dropped from both ends of a
sentence. The rest is kept if it has the form of something lasting (`is_lasting_fact`): a rule, change, preference or
case, or a long sentence with several marks of one. What was retracted later is not kept.
"""

import math
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vault_memory.capture import exclusions
from vault_memory.capture.clauses import MAX_WORDS, MIN_WORDS, OPENING, clauses, lasting_part
from vault_memory.capture.corrections import find_correction
from vault_memory.capture.cues import chooses, decides, find_cue, is_cued
from vault_memory.capture.own_words import TYPED_CHARS, SessionTurn, last_question, split_sentences
from vault_memory.capture.remember_requests import (
    MARKS,
    MAX_CHARS,
    asks_to_remember,
    find_request,
)
from vault_memory.capture.retractions import SessionReview
from vault_memory.capture.subjects import continues, names_within, self_contained
from vault_memory.text.terms import folded
from vault_memory.text.word_classes import (
    LANGUAGES,
    Grammar,
    count_words,
    grammar_of,
    language_of,
    lowered,
    pattern_of,
    words_of,
)

USUAL_WORDS, LEAST_SCORE = 8, 2.0
"""Fitted, with the weights of 1/2 in is_lasting_fact, by logistic regression to 389 sentences of 55 labelled sessions.
The threshold was lowered from 2.2 once orders, wishes and symptoms were excluded beforehand: on twelve further sessions
recall of clear statements rises from .56 to .63, precision falls from .87 to .85."""

RULE_WORDS = 5
"""The minimum length of a rule."""

AGREEING_WORDS = 5
"""The maximum length of an answer that only agrees ("Yes, please do")."""

UNTOLD = "(looks like a secret)"
"""The text of a statement in place of a secret."""

SECRET, TAKEN_BACK = "secret", "taken back"
"""Reasons why a statement is not kept."""

_NAME_WITHIN = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][a-z]{2,}")
_BULLET = re.compile(r"^(?:[-*+•]|\d{1,2}[.)])\s+")
_ASSENT = pattern_of(r"""
    (?:yes|yep|yup|yeah|exactly|right|correct|indeed|ja|jep|genau|richtig|stimmt|oui|exact(?:ement)?|tout à fait|sí|
    exacto|claro|sim|isso|exato)\b
""")
_CONSENT = pattern_of(r"""
    (?:sure|of course|go ahead|please do|do (?:it|that)|klar|gern(?:e)?|mach (?:das|mal)|bien sûr|vas-y|por supuesto|
    vale|dale|com certeza|pode ser)\b
""")
"""Agreement to an offer: after a question how things are, it may be irony."""
_STATE_QUESTION = pattern_of(r"""
    (?:\W|so |then |also |und |et |e |y )*(?:is|are|does|do (?!you want)|has|have|was|were|ist|sind|hat|haben|war|
    est(?:-ce)?|sont|a-t-|es|está|son|tiene|é|são|tem)\b
""")
"""A question about how things are, not about what to do."""
_BEING = frozenset(("am", "i'm", "im", "bin", "suis", "soy", "sou", "estoy", "estou"))
"""Forms of "I am", which mostly say how somebody is from today on."""
_CONDITION = re.compile(
    r"\b(?:\w*in?toleran|al{1,2}ergi[cqs]|\w*vegetari|vegan|c(?:o?e|œ)lia[ck]|zoliak|diabet|asthma|asmat|schwanger|pregnan|"
    r"embaraz)"
)
"""Beginnings of words, without accents, for how somebody lives with food or illness, in five languages. Adjectives,
since a noun ("the allergy") mostly takes up what was said before."""
_CAUSE = pattern_of(r"""
    \b(?:(?:came|comes|stems?|stemmed) from|caused by|(?:is|was|were|are) (?:because of|due to)|
    (?:kam|kamen|kommt) vom?|(?:lag|liegt) (?:\w+ )?(?:an|am|daran)|(?:ven|provien|proven)(?:ait|t) d|
    (?:ven|provien|vin)[íhi]\w* d|(?:debid|devid)[oa]s? (?:a|ao|al|à)|
    (?:ursache|cause|causa) (?:\w+ )?(?:is|was|ist|war|est|était|es|era|foi))
""")
_CURE = pattern_of(r"""
    \b(?:fixe[sd]|fix(?=:| is | was )|solve[sd]|resolve[sd]|cure[sd]|helped|behob\w+|behebt|geholfen|gelöst|löste?|
    corrigée?s?|corrigi[óu]|réglée?s?|résolue?s?|arregl\w+|solucion\w+|resolvi\w+|resolveu|consert\w+)\b
""")
"""What caused a problem, and what solved it."""


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
NOTHING = Cue("nothing", "", "")


class Statement(NamedTuple):
    """A statement worth keeping, or a sentence that is none (its cue is NOTHING), and then `why`.

    `message` is the number of its message (1-based), for a log that of its line, `sentence` the original wording, and
    `is_request` whether that asks to remember it.
    """

    text: str
    cue: Cue
    message: int
    sentence: str
    is_request: bool = False
    subject: str = ""
    """The name a sentence of a log is about, if it is known as a name from elsewhere."""
    confidence: float = 1.0
    """How much of it is in the user's own words, 0..1."""
    why: str = ""
    """Why it is not kept (TAKEN_BACK later in the session; a SECRET, which is not in `text`); "" if it is."""


class Context(NamedTuple):
    """What a message of the user stands in: the agent's `question` that it answers, the sentence before it (`topic`),
    and whether it is the first of its session, which says what is to be done."""

    question: str
    topic: str
    sets_task: bool


class Spoken(NamedTuple):
    """The languages that are read, and the usual one of a session, "" for none of them."""

    languages: Sequence[str]
    usual: str = ""

    def grammar(self, sentence: str) -> Grammar | None:
        """The grammar of a sentence's language; None if it is none of those read."""
        name = language_of(words_of(sentence), self.languages, self.usual)
        return grammar_of(name) if name else None


def find_statements(messages: Sequence[SessionTurn], languages: Sequence[str]) -> list[Statement]:
    """The statements of a session's user, in order, and the sentences that are none, each with its reason."""
    words = [word for said in messages if said.by_user for word in words_of(said.text[:TYPED_CHARS])]
    spoken = Spoken(languages, language_of(words, languages))
    found: list[Statement] = []
    question, earlier = "", None
    for said in messages:
        if said.by_user:
            topic = question or (found[-1].sentence if found else "")
            context = Context(question, topic, sets_task=earlier is None)
            found += _agreed(said, question, earlier, spoken) or _of_message(said, context, spoken)
            question, earlier = "", said
        else:
            question = last_question(said.text)
    # A request to remember may point back to a sentence that was already found as a statement.
    found = list({(one.message, one.sentence): one for one in found}.values())
    review = SessionReview(messages)
    used = set[tuple[int, str]]()
    reviewed = [_reviewed(one, messages, review, used) for one in found]
    # A correction is no statement of its own.
    kept = [one for one, was in zip(reviewed, found, strict=True) if (was.message, was.sentence) not in used]
    return sorted(kept, key=lambda one: one.message)


def _reviewed(
    one: Statement, messages: Sequence[SessionTurn], review: SessionReview, used: set[tuple[int, str]]
) -> Statement:
    """A statement as its speaker corrected or took it back afterwards; adds the corrections to those `used`."""
    while one.cue is not NOTHING and (new := find_correction(one.text, one.sentence, one.message, messages)):
        if exclusions.is_secret(new.text, f"{one.sentence} {new.sentence}"):
            return one._replace(text=UNTOLD, cue=one.cue if one.is_request else NOTHING, sentence=UNTOLD, why=SECRET)
        one = one._replace(text=new.text, message=new.message, sentence=new.sentence)
        used.add((one.message, one.sentence))
    if one.cue is NOTHING or not review.is_taken_back(one.sentence, one.message, is_request=one.is_request):
        return one
    return one._replace(why=TAKEN_BACK)


def is_statable(sentence: str) -> bool:
    """Whether a sentence has a lasting part: it is not all question, guess, joke, task or matter of the day."""
    grammar = Spoken([*LANGUAGES]).grammar(sentence)
    return grammar is not None and lasting_part(sentence, grammar)[0] != ""


def _of_message(said: SessionTurn, context: Context, spoken: Spoken) -> Iterator[Statement]:
    """The sentences of one message of the user."""
    before: list[str] = []
    is_announced, is_list, around = False, False, f"{context.question} {said.text}"
    for place, line in enumerate(split_sentences(said.text)):
        sentence, is_bullet = _BULLET.sub("", line), _BULLET.match(line) is not None
        asked = find_request(sentence)
        statement: Statement | None = None
        is_announced = is_announced and not sentence.endswith("?") and (is_bullet or not is_list)
        is_list = is_announced and is_bullet
        if is_announced or asked.text:
            statement = read_request(asked.text or sentence, said.number, sentence, spoken, around)
            statement = statement and statement._replace(is_request=not asked.is_doubtful)
            is_announced = is_announced and is_bullet
        elif asked.points_back and (sentence.endswith(":") or (sentence.endswith("?") and not before)):
            is_announced = True
        elif asked.points_back and before:
            statement = read_request(before[-1], said.number, before[-1], spoken, around)
        elif exclusions.is_secret(sentence, around):
            statement = Statement(UNTOLD, NOTHING, said.number, UNTOLD, why="a secret")
        else:
            statement = _assent(sentence, context.question if place == 0 else "", said.number)
            statement = statement or _read(sentence, said.number, context, spoken)
        if count_words(sentence) >= MIN_WORDS:
            before.append(sentence)
        if count_words(sentence) >= MIN_WORDS or names_within(sentence):
            topic = f"{context.topic} {sentence}" if continues(OPENING.sub("", sentence)) else sentence
            context = context._replace(topic=topic)
        if statement:
            yield statement


def _read(sentence: str, message: int, context: Context, spoken: Spoken) -> Statement:
    """The statement that a sentence makes by its form, or why it makes none."""
    nothing = Statement("", NOTHING, message, sentence)
    grammar = spoken.grammar(sentence) if len(sentence) <= MAX_CHARS else None
    if grammar is None:
        return nothing._replace(why="in no language that is read")
    if exclusions.is_joke(lowered(sentence), is_reply=bool(context.question)):
        return nothing._replace(why="a joke or irony")
    text, why = lasting_part(sentence, grammar)
    whole = OPENING.sub("", sentence)
    if text and _is_case(whole, words_of(whole), grammar):
        text = whole  # its cure may look like an order
    if text and not (text := _named(text, sentence, context.topic, grammar)):
        return nothing._replace(why="about somebody or something that it does not name")
    if not text or not is_lasting_fact(text, grammar, bool(context.question), context.sets_task):
        return nothing._replace(why=why or "nothing in it says that it lasts")
    return Statement(_capitalised(text), cue_of(text, grammar), message, sentence)


def _named(text: str, sentence: str, topic: str, grammar: Grammar) -> str:
    """The lasting part of a sentence from its first clause on that begins with no open pronoun, or with the name for
    one: that in what precedes it in the sentence, or else in the sentence before (`topic`); "" if there is none."""
    lead, parts = sentence.partition(text)[0], clauses(text)
    for at in range(len(parts)):
        rest = "".join(parts[at:])
        hangs = at > 0 and grammar.has("reasons interrogatives", words_of(rest)[:1])
        if hangs or count_words(rest) < MIN_WORDS:
            break
        if named := self_contained(rest, lead if names_within(lead) else topic, grammar):
            return named
    return ""


def read_request(text: str, message: int, sentence: str, spoken: Spoken, context: str = "") -> Statement | None:
    """The statement that a request asks to remember; None if unfit."""
    if not 2 <= count_words(text) <= MAX_WORDS:
        return None
    grammar = Spoken([*LANGUAGES], spoken.usual).grammar(text)
    recurs = grammar and (grammar.has("always", words_of(text)) or find_cue("recurring", text, grammar))
    is_passing = not recurs and exclusions.is_passing(lowered(clauses(text)[0]))
    if is_passing or exclusions.is_joke(lowered(sentence), is_reply=True):
        return None
    cue = (cue_of(text, grammar) if grammar else REQUEST)._replace(certainty=1.0)
    is_secret = exclusions.is_secret(sentence, context)
    told = UNTOLD if is_secret else _capitalised(text)
    return Statement(told, cue, message, sentence, is_request=True, why=SECRET if is_secret else "")


def _assent(sentence: str, question: str, message: int) -> Statement | None:
    """The agent's question with the user's affirmative answer as one statement, or None."""
    lower, asked = lowered(sentence), lowered(question)
    if not (question and _ASSENT.match(lower) and _STATE_QUESTION.match(asked)):
        return None
    if exclusions.is_idle(lower) or exclusions.is_passing(asked):
        return None
    return Statement(
        f"{question} – {_capitalised(sentence)}", ANSWER, message, f"{question} {sentence}", confidence=0.5
    )


def _agreed(said: SessionTurn, question: str, earlier: SessionTurn | None, spoken: Spoken) -> list[Statement]:
    """What the agent offered to remember, named in its question or said before it, if the user's whole answer is that
    they agree."""
    lower = lowered(said.text)
    if not (_ASSENT.match(lower) or _CONSENT.match(lower)) or count_words(said.text) > AGREEING_WORDS:
        return []
    points_back, text = asks_to_remember(question)
    number, context = said.number, f"{question} {said.text}"
    if points_back and earlier:
        stated = [one for one in split_sentences(earlier.text) if count_words(one) >= MIN_WORDS and one[-1] != "?"]
        text, number, context = (stated[-1] if stated else ""), earlier.number, earlier.text
    asked = read_request(text, number, text, spoken, context)
    return [asked] if asked else []


def is_lasting_fact(text: str, grammar: Grammar, is_answer: bool = False, sets_task: bool = False) -> bool:
    """Whether a text states something lasting: it has the form of a rule, or is long enough with enough marks.

    `sets_task`: it is from the first message of a session, which says what is to be done.
    """
    words, lower, parts = words_of(text), lowered(text), clauses(text)
    if _is_case(text, words, grammar) or prefers(words, grammar) or _is_of_change_or_name(words, grammar):
        return True
    if exclusions.STATUS.search(lower):
        return False
    if _CONDITION.search(folded(text)) or is_cued(text, grammar) or _likes(words_of(parts[0]), grammar):
        return True
    is_told = grammar.past.search(lowered(parts[0])) is not None
    if not is_told and _is_rule(text, words, grammar):
        return True
    marks = sum(grammar.has(name, words) for name in ("always", "every", "ours", "reasons", "denying"))
    marks += _has_name(text) + any(map(str.isdigit, text)) + is_answer
    length = 2 * math.log2(len(words) / USUAL_WORDS)
    return marks > 0 and length + min(marks + len(parts) - 1, 4) / 2 - 3 * sets_task - is_told >= LEAST_SCORE


def _is_case(text: str, words: Sequence[str], grammar: Grammar) -> bool:
    """Whether a text names a cause, or tells a problem and after it what solved it ("that fixed it" names nothing)."""
    if grammar.has("causes", words):
        return True
    cured = (clause for clause in map(lowered, clauses(text)[1:]) if _CURE.search(clause))
    return any(_CAUSE.search(lowered(text)) or not grammar.has("pointing pronouns", words_of(one)[:1]) for one in cured)


def _is_rule(text: str, words: Sequence[str], grammar: Grammar) -> bool:
    """Whether a sentence states what always is or must be, gives a date, or is about "us" and a name."""
    if len(words) < (USUAL_WORDS if grammar.has("pointing", words[:1]) else RULE_WORDS):
        return False  # the referent of a short "they always say so" is elsewhere
    is_of_us = _has_name(text) and grammar.has("ours", words)
    is_standing = grammar.has("always", words) or (find_cue("standing", text, grammar) and _BEING.isdisjoint(words))
    return bool(is_of_us or is_standing or _has_mark_of_rule(text, grammar) or grammar.date.search(text))


def _has_mark_of_rule(text: str, grammar: Grammar) -> bool:
    """Whether a text tells an obligation, a day that comes again, or contrasts two things; an order to use one of two
    things must name them in general."""
    marks = ["obliged", "recurring"] + ["contrast"] * (not find_cue("uses", text, grammar, at_start=True))
    return any(find_cue(mark, text, grammar) for mark in marks)


def _likes(words: Sequence[str], grammar: Grammar) -> bool:
    """Whether a clause says what its speaker likes, in general: "the", "this" and "here" are about the matter at
    hand."""
    verb = next((at for at, word in enumerate(words[1:3], 1) if grammar.has("likes", [word])), None)
    if verb is None or not grammar.has("mine", words[:1]):
        return False
    is_plain = verb == 1 or grammar.has("denying always every", words[1:2])
    return is_plain and not grammar.has("yours pointing definite interrogatives", words[verb + 1 :])


def _has_name(text: str) -> bool:
    return _NAME_WITHIN.search(text) is not None


def _is_of_change_or_name(words: Sequence[str], grammar: Grammar) -> bool:
    """Whether a sentence states a change of ours or of a name's, or what a name does to something."""
    if grammar.has("changes", words) and grammar.has("ours", words):
        return True
    if grammar.has_common(words[:1]) or len(words) < MIN_WORDS:
        return False
    is_verb = words[1] not in grammar.common and grammar.third.search(words[1]) is not None
    return grammar.has("changes", words[1:3]) or (is_verb and grammar.has("determiners", words[2:3]))


def prefers(words: Sequence[str], grammar: Grammar) -> bool:
    """Whether a sentence opens with a preference of its speaker or of a third person."""
    wishes = [word for word in words[:5] if word in grammar.classes["wishes"]]
    is_own = grammar.has("mine", words[:4]) or words[0] in wishes
    return bool(wishes) and (is_own or grammar.third.search(wishes[0]) is not None)


def cue_of(text: str, grammar: Grammar) -> Cue:
    """The cue of a text, which decides its kind and category."""
    words, lower = words_of(text), lowered(text)
    for cue, holds in (
        (CAUSE, _is_case(text, words, grammar)),
        (CHANGE, grammar.has("changes", words)),
        (OTHERS_PREFERENCE, grammar.has("wishes", words[:3]) and words[0] not in grammar.common),
        (PREFERENCE, grammar.has("wishes", words[:3])),
        (PREFERENCE, grammar.has("mine", words[:1]) and grammar.has("likes", words[:3])),
        (PROFILE, grammar.has("mine", words[:1]) and not grammar.has("ours", words)),
        (RULE, grammar.has("always every duty", words) or _has_mark_of_rule(text, grammar) or chooses(text, grammar)),
        (CAUSE, _CURE.search(lower) is not None),
        (CHANGE, decides(text, grammar) or grammar.date.search(text) is not None),
        (PROFILE, grammar.has("mine", words)),
    ):
        if holds:
            return cue
    return FACT


def _capitalised(text: str) -> str:
    text = text.strip(MARKS)
    return text[:1].upper() + text[1:]
