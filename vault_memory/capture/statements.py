"""Finds the statements in what somebody said that are worth keeping, by how they are built. Pure.

Precision before completeness. A sentence is cut into clauses; those that ask for something, suppose, joke, or speak of
this day are dropped from both ends; what is left is kept if it is built like what lasts (`is_lasting_fact`): a rule, a
custom of ours, a wish, a name, a cause. What was taken back later is none.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import dropwhile, islice
from typing import NamedTuple

from vault_memory.capture import cues
from vault_memory.capture.cues import Cue, Grammar
from vault_memory.capture.names import names_within
from vault_memory.embedding.builtin_embedder import builtin

MIN_WORDS, MAX_WORDS, MAX_CHARS = 4, 45, 600
"""A statement has so many words, and a sentence that is read so many characters."""

REPLY_SENTENCES = 2
"""So many sentences of a message answer the question before it."""

PLACE_WORDS = 5
"""So many words may say where or as what something is to be kept: "save that as a rule for next time"."""

LEAD_WORDS, NESTED_REQUESTS = 10, 6
"""So many words of a clause may stand before what asks to remember; so many such words of a sentence are tried."""

SHORT = 7
"""A sentence of fewer words tells nothing by itself, but for names, rules of somebody's own, and wishes."""

TYPED_CHARS, TYPED_LINES = 1500, 12
"""A longer message was pasted, but for what its sender wrote before and after."""

END_CHARS = 8000
"""So much is read of each end of a message, code and tags aside; what is longer was pasted."""

TELLING_LENGTH = 1.0
"""The length of a word's vector from which it is about something; function words are shorter."""

AT_ONCE_CHARS = 12
"""What begins so early in the next message takes back what was said last."""

RETRACTIONS, RETRACTION_CHARS = 20, 300
"""So many retractions of one message are read, and so many characters to each side of one: more is no speech."""

CORRECTION_SENTENCES = 3
"""So many sentences, from the one that takes something back, may say what is so instead."""

MAX_RENUMBERING = 10
"""A sentence of more words says more than another number of what was said."""

_MAIL = re.compile(
    r"^(?:(?:From|To|Subject|Von|An|Betreff|De|À|Objet|Para|Asunto|Assunto): .*\n){2}|^-{3,} ?\w.*---$"
    r"|^.{0,80}\b(?:wrote|schrieb|a écrit|escribió|escreveu) ?:$",
    re.MULTILINE,
)
_END = re.compile(
    r"(?<=[.!?…])(?<!\b\d\.)(?<!\b\d\d\.)(?<!\b[A-Z]\.)(?<!\b[DMS][rt]\.)\s+(?=\S)"
    rf"|(?<=\d\.)\s+(?=[A-ZÄÖÜÉ])(?!(?i:{cues.MONTHS}))|(?<=[!?])(?=\w)|(?<=\s[:;][)DP])\s+|\n+"
)
"""Where a sentence ends: not after an initial, a title, or an ordinal before a month."""
_MARK = re.compile(r"```|~~~|<(?P<slash>/?)(?P<tag>[a-z][\w-]*)(?:\s[^<>]*)?>", re.IGNORECASE)
"""Where a block begins or ends, code or what stands between tags: put there by a tool, or pasted."""
_QUOTATION = re.compile(r"[\"“„«‟”][^\"“”„‟«»]{25,}[\"“”»]")
_QUOTED = re.compile(r"^\s*>|^\s*[\"“„«].{20,}|^\s*\|")
_OPENING = re.compile(
    r"^(?:(?:ok(?:ay)?|oh|ah|ach|hm+|and|but|also|well|btw|fyi|omg|argh|ta|nah|nope|yes|yep|yeah|exactly|exact|right|ja"
    r"|genau|gut|und|oui|et|bom|e|o|olha|sim|y|sí|bueno|en|top|cool|nice|first|second|third"
    r"|(?:no|nein|nee|non|não|so|ah non)(?=[,.:!]))\b[,.:!]*\s+)+",
    re.IGNORECASE,
)
_TAG = re.compile(
    r", (?:\w+ )?(?:please|ok(?:ay)?|yeah|right|ja|gell|oder|hein|d'accord|vale|sí|tá|né|ok)\?$", re.IGNORECASE
)
_ONE_OFF = re.compile(
    r"\b(?:pid|process|job|run|invoice|line|pr|issue|ticket|order|commit|tag|build|zeile|ligne|linha|línea)\s+#?v?\d"
    r"|(?<![\w.:-])\d{5,}(?![\w:-])|\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b"
)
_BREAK = re.compile(r"[,;:]\s+|\s[–—-]+\s|\s(?=(?:but|so|cause|because|aber|denn|donc|mais|pero|mas)\s)")
"""Where one clause of a sentence ends."""
_MARKS = " ,;:-–—("
_CLAUSE_END = re.compile(r"[,.;!?\n]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Nobody types these: the line was pasted from a terminal."""
_BULLET = re.compile(r"^(?:[-*+•]|\d{1,2}[.)])\s+")
_WORD = re.compile(r"\w+")
_CAPITAL = r"[^\W\d_a-z](?:[\w-]|['’](?!s\b))*"
_SUBJECT = re.compile(
    rf"(?P<name>{_CAPITAL}(?: {_CAPITAL})?)(?:['’]s \w+)?(?: (?:and|und|et|y|e) {_CAPITAL})?(?: \([^()]*\))? "
    r"(?=(?P<verb>[\w'’-]+))"
)
_VERB_LAST = re.compile(r"\b(?:dass|daß|dat)$")
"""Puts the verb last: without it what follows is no sentence."""
_NUMBERED = re.compile(r"\b([^\W\d]{3,}) (\d+(?:[.:]\d+)*)\b")
_IS_NAME = re.compile(
    r"\b(?:is|are|ist|sind|est|es|é) [A-ZÄÖÜÉ]\w+|^[A-ZÄÖÜÉ]\w+ (?:[A-ZÄÖÜÉ]\w+ )?(?:is|ist|est|es|é) \w"
)


class Statement(NamedTuple):
    """A sentence worth keeping: its text, what marks it, the message that says it (1-based), the sentence as it was
    said, and whether that asks to remember it."""

    text: str
    cue: Cue
    message: int
    sentence: str
    is_request: bool = False
    subject: str = ""
    """The name of whom a sentence of a log is about, where it stands as one elsewhere too."""
    is_of_name: bool = False
    """Whether a log says it of what may be a name."""
    confidence: float = 1.0
    """How much of it its person said in these words, 0..1."""


class SessionTurn(NamedTuple):
    """One message of a session."""

    number: int
    by_user: bool
    text: str


class Setting(NamedTuple):
    """Where in a session a sentence stands."""

    is_first: bool = False
    """In the first message, which says what is the matter and what to do."""
    is_reply: bool = False
    """In an answer to the agent's question."""
    is_opening: bool = False
    """The first sentence of its message."""


def find_statements(messages: Sequence[SessionTurn], languages: tuple[str, ...]) -> list[Statement]:
    """What a session's user stated that is worth keeping, in the order in which it was said."""
    found: list[Statement] = []
    question, is_first = "", True
    usual = _usual_language(messages, languages)
    for said in messages:
        if not said.by_user:
            question = _last_question(said.text)
            continue
        setting = Setting(is_first, is_reply=bool(question))
        found += _of_message(said, question, setting, (languages, usual))
        question, is_first = "", False
    kept = [one for one in found if not is_taken_back(one, messages)]
    for old in found:
        if old not in kept and (new := _correction(old, messages, (languages, usual))):
            kept = [*(one for one in kept if one.sentence != new.sentence), new]
    return sorted(kept, key=lambda one: one.message)


def _correction(old: Statement, messages: Sequence[SessionTurn], spoken: tuple[Sequence[str], str]) -> Statement | None:
    """What took a statement's place when it was taken back: what says most of it anew, or another number of it."""
    own = _telling(old.text)
    for said in messages:
        if not said.by_user or said.number <= old.message or any(_refusals(_lower(_ends(said.text)))):
            continue
        sentences = list(split_sentences(said.text))
        taken = next((at for at, one in enumerate(sentences) if cues.RETRACTION.search(_lower(one))), len(sentences))
        for sentence in sentences[taken : taken + CORRECTION_SENTENCES]:
            *_, end = (0, *(one.end() for one in cues.RETRACTION.finditer(_lower(sentence))))
            text = _renumbered(old.text, sentence) or _said_anew(sentence[end:].lstrip(_MARKS), own, spoken)
            if text:
                return old._replace(text=_capitalised(text), message=said.number, sentence=sentence)
    return None


def _said_anew(sentence: str, own: set[str], spoken: tuple[Sequence[str], str]) -> str:
    """The part of a sentence that says most of these words, and something new of them; "" for none."""
    languages, usual = spoken
    name = cues.language_of(words_of(sentence), languages, usual)
    text = _lasting(sentence, cues.grammar(name)) if name else ""
    for span in _clauses(text):
        words = _telling(clause := text[slice(*span)])
        if _count(clause) >= MIN_WORDS and words - own and 2 * len(words & own) >= len(words):
            return clause
    return ""


def _renumbered(text: str, sentence: str) -> str:
    """A text with the number that a sentence ("no, it's port 5434") says of the same word; "" for none."""
    said = _NUMBERED.findall(sentence)
    old = [one for one in _NUMBERED.finditer(text) if len(said) == 1 and one[1].lower() == said[0][0].lower()]
    if len(old) != 1 or old[0][2] == said[0][1] or sentence.endswith("?") or _count(sentence) > MAX_RENUMBERING:
        return ""
    return f"{text[: old[0].start(2)]}{said[0][1]}{text[old[0].end(2) :]}"


def _usual_language(messages: Sequence[SessionTurn], languages: Sequence[str]) -> str:
    words = [word for said in messages if said.by_user for word in words_of(said.text[:TYPED_CHARS])]
    return cues.language_of(words, languages)


def _of_message(
    said: SessionTurn, question: str, setting: Setting, spoken: tuple[Sequence[str], str]
) -> Iterator[Statement]:
    """What one message of the user's states; `question` is the agent's that it answers, or ""."""
    before, is_announced = "", False
    for place, sentence in enumerate(split_sentences(said.text)):
        asked, is_bullet = question if place == 0 else "", _BULLET.match(sentence) is not None
        sentence = _BULLET.sub("", sentence)
        text, points_back = _requested(sentence)
        if is_announced or text:
            statement = _request(text or sentence, said.number, sentence, spoken)
            is_announced = is_announced and is_bullet
        elif points_back and sentence.endswith(":"):
            statement, is_announced = None, True
        elif points_back and _count(before) < MIN_WORDS:
            statement = None
        elif points_back:
            statement = _request(before, said.number, before, spoken)
        else:
            here = setting._replace(is_opening=place == 0, is_reply=setting.is_reply and place < REPLY_SENTENCES)
            statement = _assent(sentence, asked, said.number) or _read(sentence, said.number, here, spoken)
        before = sentence
        if statement:
            yield statement


def is_statable(sentence: str) -> bool:
    """Whether a sentence may state something that lasts: no question, guess, joke, task, nor matter of this day."""
    name = cues.language_of(words_of(sentence), [*cues.LANGUAGES])
    return bool(name and _lasting(sentence, cues.grammar(name)))


def is_request(text: str) -> bool:
    """Whether a sentence asks to remember something."""
    return _requested(text) != ("", False)


def _read(sentence: str, message: int, setting: Setting, spoken: tuple[Sequence[str], str]) -> Statement | None:
    """The statement that a sentence makes by how it is built; None where there is none."""
    if len(sentence) > MAX_CHARS:
        return None
    languages, usual = spoken
    name = cues.language_of(words_of(sentence), languages, usual)
    text = _lasting(sentence, cues.grammar(name)) if name else ""
    if not text or _is_sarcastic(sentence, setting):
        return None
    if setting.is_opening:
        setting = setting._replace(is_opening=_OPENING.sub("", sentence).startswith(text))
    grammar = cues.grammar(name)
    if not is_lasting_fact(text, grammar, setting) or _needs_context(text, grammar):
        return None
    return Statement(_capitalised(text), _cue_of(text, cues.grammar(name)), message, sentence)


def _is_sarcastic(sentence: str, setting: Setting) -> bool:
    """Whether a sentence means the opposite of what it says."""
    lower = _lower(sentence)
    is_affirmed = not setting.is_reply and cues.AFFIRMED.match(lower) is not None
    return is_affirmed or any(pattern.search(lower) for pattern in (cues.IRONY, cues.SARCASM, cues.HEARSAY))


def is_lasting_fact(text: str, grammar: Grammar, setting: Setting) -> bool:
    """Whether a text says what is so for good, by how it is built, and not how things are or went."""
    words, lower = words_of(text), _lower(text)
    start = _lower(text[slice(*_clauses(text)[0])])
    first = words_of(start)
    is_we = grammar.has("pronouns", words[:1]) or words[:2] == ["a", "gente"] or words[0].endswith("mos")
    is_ours, is_change = _is_ours(first, grammar), grammar.has("changes", first)
    is_duty = grammar.has("duty", words[1:]) or cues.HAS_TO.search(start) is not None
    read = words if _is_ours(words, grammar) else first
    is_always = not (grammar.classes["always"] - cues.QUANTIFIERS).isdisjoint(read)
    is_contrast = cues.CONTRAST.search(lower) is not None and (is_ours or is_always or grammar.has("verbs", words))
    is_ban = words[0] in cues.NO and grammar.has("always", words[1:]) and not grammar.has("questions", words)
    is_rule = is_duty or is_contrast or is_always or is_ban
    is_named = _is_named(words, grammar) or cues.NAMING.search(lower) is not None
    is_custom = (is_ours and (is_rule or is_change)) or (is_always and read is words)
    is_cause = grammar.has("causes", first)
    is_wish = grammar.has("wishes", words[:3])
    if (is_wish and cues.OPINION.match(lower)) or (is_we and is_duty and not is_always):
        return False
    if cues.UNDER_WAY.search(start) or (grammar.past.search(start) and not (is_duty or is_change or is_cause)):
        return False
    if is_cause or is_wish or is_custom:
        return True
    if (
        cues.STATUS.search(lower)
        or (grammar.has("pointing", words[:1]) and not setting.is_reply)
        or (setting.is_first and not (is_rule or is_named))
        or (len(words) < SHORT and not is_named)
    ):
        return False
    clauses = [words_of(text[slice(*span)]) for span in _clauses(text)]
    return (
        is_rule
        or is_named
        or (setting.is_reply and len(clauses) > 1)
        or (is_ours and grammar.has("always", first))
        or (grammar.has("ours", words) and _IS_NAME.search(text) is not None)
        or any(grammar.has("reasons", one[:1]) and grammar.has("denying", one) for one in clauses[1:])
    )


def _is_ours(words: Sequence[str], grammar: Grammar) -> bool:
    """Whether words speak of "us", be it by the ending of a verb."""
    return grammar.has("ours", words) or any(word.endswith("mos") for word in words)


def _is_named(words: Sequence[str], grammar: Grammar) -> bool:
    """Whether a sentence says of a name, which nothing stands before, that it does something with a thing."""
    if len(words) < 4 or words[0] in grammar.common or words[1] in grammar.openers | cues.COPULAS:
        return False
    return grammar.third.search(words[1]) is not None and (
        words[2] in grammar.classes["determiners"] or words[2][0].isdigit()
    )


def _lasting(sentence: str, grammar: Grammar) -> str:
    """What of a sentence may last: without clauses at its ends that ask, suppose, joke, or speak of this day."""
    lower, text = _lower(sentence), _OPENING.sub("", sentence)
    if not MIN_WORDS <= _count(sentence) <= MAX_WORDS or lower.rstrip(" .").endswith(":"):
        return ""
    if _is_question(text, grammar) or _is_foreign(sentence):
        return ""
    spans = _clauses(text)
    first, is_supposed = 0, False
    while first < len(spans):
        clause = text[slice(*spans[first])]
        is_supposed = is_supposed or _supposes(clause, grammar)
        if is_supposed:
            return ""
        if not _drops(clause, grammar, is_start=True):
            break
        first += 1
    last = first
    while last < len(spans) and not _drops(text[slice(*spans[last])], grammar, is_start=False):
        last += 1
    if first == last:
        return ""
    kept = text[spans[first][0] : spans[last - 1][1]]
    if first and cues.CONSEQUENCE.match(_lower(kept)):
        return ""
    if first and cues.HABIT.match(_lower(kept)):
        kept = text[: spans[last - 1][1]]
    return kept.strip() if _count(kept) >= MIN_WORDS else ""


def _is_foreign(sentence: str) -> bool:
    """Whether a sentence hands on what others said, or a secret."""
    return bool(cues.SECRET.search(sentence) or cues.REPORTED.search(_lower(sentence)))


def _needs_context(text: str, grammar: Grammar) -> bool:
    """Whether what a sentence is about stands before it: it names nothing before its first "it" or "they"."""
    (start, end), *_ = _clauses(text)
    words = words_of(text[start:end])
    at = next((place for place, word in enumerate(words) if word in cues.POINTERS), 0)
    is_named = grammar.has("determiners", words[1:at])
    return at > 0 and not is_named and words[0] in grammar.openers - grammar.classes["determiners"] | {"only"}


def _clauses(text: str) -> list[tuple[int, int]]:
    """Where each clause of a text begins and ends."""
    ends = list(_BREAK.finditer(text))
    starts = [0, *(one.end() for one in ends)]
    return list(zip(starts, [*(one.start() for one in ends), len(text)], strict=True))


def _drops(clause: str, grammar: Grammar, is_start: bool) -> bool:
    """Whether a clause is none that a statement may begin with, or go on with."""
    lower, words = _lower(clause), words_of(clause)
    if not words:
        return is_start
    if _is_passing(lower) or cues.IRONY.search(lower) or cues.SUPPOSED.search(lower) or cues.RETRACTION.search(lower):
        return True
    if not is_start and grammar.unreal.search(lower):
        return True
    return _is_order(clause, words, grammar, is_start)


def _supposes(clause: str, grammar: Grammar) -> bool:
    """Whether a sentence that goes on from this clause is a supposition."""
    lower = _lower(clause)
    return cues.IF.match(lower) is not None or bool(grammar.unreal.search(lower) or cues.SUPPOSED.search(lower))


def _is_order(clause: str, words: Sequence[str], grammar: Grammar, is_start: bool) -> bool:
    """Whether a clause tells the agent to do something, once: no subject stands before what it begins with."""
    lower = _lower(clause)
    words = [*dropwhile(cues.LINKS.__contains__, words)] or words
    if words[0] in grammar.classes["yours"]:
        return True
    if grammar.has("always", [*words[:3], *words[-2:]]) or cues.CONTRAST.search(lower) or words[0] in cues.NO:
        return False
    if words[0] in grammar.classes["wishes"] | grammar.classes["ours"]:
        return False
    if words[0] in cues.DONT or words[0] in grammar.classes["orders"] or cues.PLEASE.search(lower):
        return True
    if words[0] in grammar.openers or not words[0][0].isalpha() or (clause[0].isupper() and not is_start):
        return False
    if len(words) < 3:
        return is_start
    second = words[1]
    if second in grammar.classes["verbs"] | grammar.classes["duty"] | grammar.classes["denying"] | cues.CONJUNCTIONS:
        return False
    if second in grammar.classes["prepositions"] and any(grammar.has(name, words[2:6]) for name in ("always", "duty")):
        return False
    return (second in grammar.openers or second in grammar.classes["pointing"]) and not words[0].endswith("s")


def _is_question(sentence: str, grammar: Grammar) -> bool:
    """Whether a sentence asks, with or without its mark."""
    first = words_of(sentence[:40])[:1]
    return (
        sentence.rstrip().endswith("?")
        or grammar.has("questions", first)
        or (first != [] and first[0] in grammar.classes["asking"])
    )


def _request(text: str, message: int, sentence: str, spoken: tuple[Sequence[str], str]) -> Statement | None:
    """What somebody asked to remember, as a statement, without clauses at its end that are matter of this day."""
    if len(text) > MAX_CHARS or cues.IRONY.search(sentence) or _is_foreign(sentence):
        return None
    name = cues.language_of(words_of(text), [*cues.LANGUAGES], spoken[1])
    spans = _clauses(text)
    last = next((place for place, span in enumerate(spans) if _is_passing(_lower(text[slice(*span)]))), len(spans))
    if 0 < last < len(spans) and not re.search(r"[,;:.–—(]", text[spans[last - 1][1] - 1 : spans[last][0] + 1]):
        last = len(spans)  # "nothing but fixes until May" is no clause and a rest
    lasting = text[: spans[last - 1][1]].strip() if last else ""
    lower = _lower(lasting)
    if (
        not 2 <= _count(lasting) <= MAX_WORDS
        or cues.TASK.match(lower)
        or cues.SUPPOSED.search(lower)
        or cues.RETRACTION.search(lower)
    ):
        return None
    if name and _supposes(lasting, cues.grammar(name)):
        return None
    cue = _cue_of(lasting, cues.grammar(name)) if name else cues.REQUEST
    return Statement(_capitalised(lasting), cue._replace(certainty=1.0), message, sentence, is_request=True)


def _requested(sentence: str) -> tuple[str, bool]:
    """What a sentence asks to remember, and whether it asks for something that it does not say itself."""
    text = _TAG.sub(".", _OPENING.sub("", sentence[:MAX_CHARS]))
    lower = _lower(text)
    if any(_refusals(lower)):
        return "", False
    for request in islice(cues.REMEMBER.finditer(lower), NESTED_REQUESTS):
        clause = max(lower.rfind(mark, 0, request.start()) for mark in ",;:.–—(") + 1
        lead = words_of(lower[clause : request.start()])
        if lower.endswith("?") and cues.YOU.isdisjoint(lead):
            continue
        if not (cues.NO_REQUEST.match(lower, request.end()) or len(lead) > LEAD_WORDS or _is_told(lead)):
            return _content(text, lower, request, clause)
    return "", False


def _refusals(lower: str) -> Iterator[re.Match[str]]:
    """Where somebody asks not to remember; who tells what they do not remember or note asks for nothing."""
    for found in islice(cues.REFUSED.finditer(lower), RETRACTIONS):
        if not found["forgetting"] and (not found["subject"] or _count(found["between"]) > 1):
            yield found


def _content(text: str, lower: str, request: re.Match[str], clause: int) -> tuple[str, bool]:
    """What is to be remembered: what a colon or "that" announces, else what follows the request, or goes before it."""
    for pattern in (cues.COLON, cues.THAT):
        link = pattern.match(lower, request.end())
        if link and _count(text[link.end() :]) >= MIN_WORDS - 2 and not _is_place(lower[link.end() :]):
            start = text.rfind(" ", 0, link.end()) + 1 if _VERB_LAST.search(link[0]) else link.end()
            return _inner(text[start:].lstrip(_MARKS)), False
    filler = cues.FILLER.match(lower, request.end())
    rest = text[filler.end() if filler else request.end() :].lstrip(_MARKS)
    if _count(rest) >= MIN_WORDS - 1 and not _is_place(_lower(rest)) and not cues.CONSEQUENCE.match(_lower(rest)):
        return _inner(rest), False
    before = text[: request.start() if request["time"] or not clause else clause].strip(_MARKS)
    return (before, False) if _count(before) >= MIN_WORDS else ("", True)


def _is_place(lower: str) -> bool:
    """Whether this says no more than where or as what something is to be kept."""
    return _count(lower) <= PLACE_WORDS and cues.PLACE.match(lower.lstrip()) is not None


def _inner(text: str) -> str:
    """What is asked for within what was asked for: `for later: remember that …`."""
    inner, _ = _requested(text) if len(text) < MAX_CHARS else ("", False)
    return inner or text


def _is_told(lead: Sequence[str]) -> bool:
    """Whether a word for remembering stands in what somebody tells of themselves, or asks of the agent."""
    if lead[:2] in (["do", "you"], ["did", "you"], ["hast", "du"]):
        return True
    return not cues.TELLERS.isdisjoint(lead) and cues.YOU.isdisjoint(lead)


def _assent(sentence: str, question: str, message: int) -> Statement | None:
    """What the agent asked and a person affirmed, where their own words do not say it."""
    lower, asked = _lower(sentence), _lower(question)
    if not (question and cues.ASSENT.match(lower) and cues.STATE_QUESTION.match(asked)):
        return None
    if not 2 <= _count(sentence) <= MAX_WORDS or any(
        pattern.search(lower) for pattern in (cues.IRONY, cues.SUPPOSED, cues.PASSING)
    ):
        return None
    if cues.PASSING.search(asked) or not MIN_WORDS <= _count(question) <= MAX_WORDS:
        return None
    return Statement(
        f"{question} – {_capitalised(sentence)}", cues.ANSWER, message, f"{question} {sentence}", confidence=0.5
    )


def _cue_of(text: str, grammar: Grammar) -> Cue:
    """What kind of statement a text is."""
    words, lower = words_of(text), _lower(text)
    for cue, holds in (
        (cues.CAUSE, grammar.has("causes", words)),
        (cues.CHANGE, grammar.has("changes", words)),
        (cues.PREFERENCE, grammar.has("wishes", words[:3])),
        (cues.PROFILE, bool(words) and words[0] in grammar.classes["mine"] and not grammar.has("ours", words)),
        (cues.RULE, grammar.has("always", words) or grammar.has("duty", words)),
        (cues.CHANGE, cues.DATE.search(lower) is not None),
        (cues.PROFILE, grammar.has("mine", words)),
    ):
        if holds:
            return cue
    return cues.FACT


def words_of(text: str) -> list[str]:
    """The words of a text in small letters."""
    return [word.replace("’", "'").lower() for word in cues.WORD.findall(text)]


def find_log_statements(
    line: str, number: int, languages: tuple[str, ...], names: Collection[str] = ()
) -> Iterator[Statement]:
    """The statements that a line of a log makes: of somebody by name, what was agreed, what it says to remember.

    `names` are known from elsewhere.
    """
    known, before = {*names, *names_within(line)}, ""
    for sentence in () if any(_refusals(_lower(line))) else split_sentences(line):
        if pronoun := cues.PRONOUN.match(sentence):
            named = _named_in(before, known, languages) if pronoun["one"] else set()
            if len(named) == 1:
                sentence = f"{named.pop()}{sentence[pronoun.end() :]}"
        before, language = sentence, cues.language_of(words_of(sentence), languages)
        subject = _subject(sentence, cues.grammar(language), known) if language else ""
        text, _ = _requested(sentence)
        if text:
            if statement := _request(text, number, sentence, (languages, "")):
                yield statement
        elif language and not cues.PRONOUN.match(sentence) and _lasts_in_log(sentence, subject, cues.grammar(language)):
            cue = _cue_of(sentence, cues.grammar(language))
            cue = cues.FACT if cue is cues.PROFILE else cue
            about = subject if subject in known else ""
            yield Statement(sentence, cue, number, sentence, subject=about, is_of_name=subject != "")


def _named_in(sentence: str, known: Collection[str], languages: Sequence[str]) -> set[str]:
    """The names that a sentence of a log holds."""
    language = cues.language_of(words_of(sentence), languages)
    first = _subject(sentence, cues.grammar(language), known) if language else ""
    return {*names_within(sentence), *filter(None, [first])}


def _subject(sentence: str, grammar: Grammar, known: Collection[str]) -> str:
    """The name with which a sentence of a log begins, and of which it goes on to tell; "" for none."""
    found = _SUBJECT.match(sentence)
    if not found or words_of(found["name"])[0] in grammar.common:
        return ""
    verb = _lower(found["verb"])
    is_verb = any(grammar.has(name, [verb]) for name in ("verbs", "duty", "always", "wishes", "changes")) or (
        verb not in grammar.common and (grammar.third.search(verb) or grammar.past.match(verb))
    )
    is_done = grammar.past.fullmatch(_lower(found["name"])) is not None and found["name"] not in known
    return found["name"] if is_verb and not is_done else ""


def _lasts_in_log(sentence: str, subject: str, grammar: Grammar) -> bool:
    """Whether a sentence of a log tells of what was agreed or has changed, or of a name what is so as a rule."""
    lower, words = _lower(sentence), words_of(sentence)
    if (
        _lasting(sentence, grammar) != sentence.strip()
        or _needs_context(sentence, grammar)
        or cues.STATUS.search(lower)
    ):
        return False
    if cues.AGREED.match(lower):
        return True
    if not subject or grammar.has("changes", words) or grammar.has("wishes", words):
        return bool(subject)
    is_told = grammar.past.search(lower) is not None
    verb = words_of(_SUBJECT.sub("", sentence))[:1]
    return not is_told and (cues.COPULAS.isdisjoint(verb) or is_lasting_fact(sentence, grammar, Setting()))


def _is_passing(lower: str) -> bool:
    """Whether a sentence speaks of this day, or of one number among many."""
    return bool(cues.PASSING.search(lower) or _ONE_OFF.search(lower))


def _last_question(text: str) -> str:
    """The question with which a message ends; "" for none."""
    *_, last = ("", *split_sentences(text))
    return last if last.endswith("?") else ""


def _lower(text: str) -> str:
    return text.lower().replace("’", "'")


def _count(text: str) -> int:
    return len(_WORD.findall(text))


def _capitalised(text: str) -> str:
    text = text.strip()
    return text[:1].upper() + text[1:]


def split_sentences(text: str) -> Iterator[str]:
    """The sentences of a message, without what is quoted or pasted."""
    for part in _END.split(_typed(_own_words(text))):
        sentence = part.strip()
        if sentence and not _QUOTED.search(sentence) and not _CONTROL.search(sentence):
            yield sentence


def _typed(text: str) -> str:
    """What of a message its sender typed: of a long one, or from a mail on, only what stands before and after."""
    mail = _MAIL.search(text)
    text = text[: mail.start()] if mail else text
    if len(text) <= TYPED_CHARS and text.count("\n") <= TYPED_LINES:
        return text
    paragraphs = [part for part in re.split(r"\n\s*\n", text) if part.strip()]
    ends = paragraphs[:1] + paragraphs[1:][-1:]
    return "\n".join(part for part in ends if len(part) <= TYPED_CHARS and part.count("\n") <= 2)


def _without_blocks(text: str) -> str:
    """A message without code, and without what stands between a tag and the next that closes it."""
    blocks: list[tuple[int, int]] = []
    nearest = {"```": len(text), "~~~": len(text)}  # by name, the end of the next mark that closes such a block
    for mark in reversed(list(_MARK.finditer(text))):
        name = (mark["tag"] or mark[0]).lower()
        if not mark["slash"] and name in nearest:
            blocks.append((mark.start(), nearest[name]))
        if mark["slash"] or not mark["tag"]:
            nearest[name] = mark.end()
    parts, at = [], 0
    for start, end in reversed(blocks):
        if start >= at:
            parts.append(text[at:start])
            at = end
    return "\n".join([*parts, text[at:]])


def _ends(text: str) -> str:
    """The beginning and the end of a long text."""
    return text if len(text) <= 2 * END_CHARS else f"{text[:END_CHARS]}\n\n{text[-END_CHARS:]}"


def _own_words(text: str) -> str:
    """A message without code, blocks, letters, quotations, and without the text that a line of it announces."""
    text = _QUOTATION.sub("\0", cues.LETTER.sub("\0", _ends(_without_blocks(text))))
    text = cues.QUOTING.sub(lambda found: found[0] if is_request(found[0][: -len(found["quoted"])]) else "\0", text)
    for lead in cues.LEAD_IN.finditer(text):
        if not is_request(lead[0]):
            text = text[: lead.start()]
            break
    return text.replace("\0", "")


def is_taken_back(statement: Statement, messages: Sequence[SessionTurn]) -> bool:
    """Whether the user took a statement back later in the session: by its words, or by the next thing they said,
    or asked in the same message that something be not remembered."""
    own = _telling(statement.sentence)
    later = [said.text for said in messages if said.by_user and said.number > statement.message]
    same = next((said.text for said in messages if said.number == statement.message), "")
    if not statement.is_request and any(_refusals(_lower(_ends(same)))):
        return True
    return any(
        _takes_back(text, retraction, own, is_next=place < 2)
        for place, text in enumerate(map(_ends, [same.rpartition(statement.sentence)[2], *later]))
        for retraction in _retractions(_lower(text), is_next=place == 1)
    )


def _retractions(lower: str, *, is_next: bool) -> Iterator[re.Match[str]]:
    yield from islice(cues.RETRACTION.finditer(lower), RETRACTIONS)
    yield from _refusals(lower)
    if is_next and (interruption := cues.INTERRUPTION.search(lower, 0, AT_ONCE_CHARS)):
        yield interruption


def _takes_back(text: str, retraction: re.Match[str], own: set[str], *, is_next: bool) -> bool:
    """Whether a retraction names one of these words in its clause, or in the first one after it that names anything.

    In the very next thing somebody says it may also name them anywhere around, or nothing at all ("scrap that").
    """
    start, end = retraction.span()
    near = text[max(0, start - RETRACTION_CHARS) : start]
    before = _telling(near if is_next else _CLAUSE_END.split(near)[-1])
    clause, *further = map(_telling, _CLAUSE_END.split(text[end : end + RETRACTION_CHARS]))
    if is_next and start < AT_ONCE_CHARS and not clause:
        return True
    after = set().union(clause, *further) if is_next else next(filter(None, [clause, *further]), set())
    return bool(own & (before | after))


def _telling(text: str) -> set[str]:
    """The words of a text that tell what it is about: numbers, and those with a long vector or none."""
    lengths = {word: builtin().word_length(word) for word in _WORD.findall(_lower(text))}
    return {word for word, length in lengths.items() if word.isdigit() or (length or len(word) / 5) >= TELLING_LENGTH}
