"""Finds the statements in what somebody said that are worth keeping, by explicit cues. Pure.

Precision before completeness: a statement is one sentence that stands by itself. What is a question, a hypothesis, a
joke, a quotation, a task, matter of this day, or was taken back later in the same session, is none.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vault_memory.capture import cues
from vault_memory.capture.cues import Cue

MIN_WORDS, SHORT_WORDS, MAX_WORDS = 4, 7, 45
"""A statement has so many words; a short one that points back says nothing by itself."""

TYPED_CHARS, TYPED_LINES = 1500, 12
"""A longer message was pasted, but for what its sender wrote before and after."""

_MAIL = re.compile(
    r"^(?:(?:From|To|Subject|Von|An|Betreff|De|À|Objet|Para|Asunto|Assunto): .*\n){2}|^-{3,} ?\w.*-{3,}$"
    r"|^.{0,80}\b(?:wrote|schrieb|a écrit|escribió|escreveu) ?:$",
    re.MULTILINE,
)
_END = re.compile(r"(?<=[.!?…])\s+(?=\S)|(?<=[!?])(?=\w)|\n+")
_PASTED = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|<(?P<tag>[a-z][\w-]*)(?:\s[^<>]*)?>.*?(?:</(?P=tag)>)",
    re.DOTALL | re.IGNORECASE,
)
"""Code, and what stands between tags: put there by a tool, or pasted."""
_QUOTED = re.compile(r"^\s*>|^\s*[\"“„«].{20,}|^\s*\|")
_OPENING = re.compile(
    r"^(?:(?:ok(?:ay)?|oh|ah|ach|hm+|so|and|but|also|well|btw|fyi|nah|nope|yes|yep|yeah|omg|argh|ta|ja|nein|nee|gut|und|oui|non"
    r"|et|bom|e|olha|sim|não|y|sí|bueno|bitte|please|pls|exactly|genau|as i keep saying|no)\b[,.:!]*\s+)+",
    re.IGNORECASE,
)
_ONE_OFF = re.compile(
    r"\b(?:pid|line|pr|issue|ticket|order|commit|tag|build|port|zeile|ligne|linha|línea)\s+#?v?\d|\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b"
)
_WORD = re.compile(r"\w+")


class Statement(NamedTuple):
    """A sentence worth keeping: its text, what marks it, the message that says it (1-based), the sentence as it was
    said, and whether that asks to remember it."""

    text: str
    cue: Cue
    message: int
    sentence: str
    is_request: bool = False
    subject: str = ""
    """The name of whom a sentence of a log is about."""


class Said(NamedTuple):
    """One message of a session."""

    number: int
    by_user: bool
    text: str


def find_statements(messages: Sequence[Said], languages: tuple[str, ...]) -> list[Statement]:
    """What a session's user stated that is worth keeping, in the order in which it was said."""
    found: list[Statement] = []
    question = ""
    for said in messages:
        if not said.by_user:
            question = _last_question(said.text)
            continue
        for place, sentence in enumerate(split_sentences(said.text)):
            asked = question if place == 0 else ""
            statement = _assent(sentence, asked, said.number) or read_statement(sentence, said.number, languages)
            if statement := statement or _answer(sentence, asked, said.number):
                found.append(statement)
        question = ""
    return [one for one in found if not is_taken_back(one, messages)]


def _typed(text: str) -> str:
    """What of a message its sender typed: of a long one, or from a mail on, only what stands before and after."""
    mail = _MAIL.search(text)
    text = text[: mail.start()] if mail else text
    if len(text) <= TYPED_CHARS and text.count("\n") <= TYPED_LINES:
        return text
    paragraphs = [part for part in re.split(r"\n\s*\n", text) if part.strip()]
    ends = paragraphs[:1] + paragraphs[1:][-1:]
    return "\n".join(part for part in ends if len(part) <= TYPED_CHARS and part.count("\n") <= 2)


def is_statable(sentence: str) -> bool:
    """Whether a sentence may state something that lasts: no question, guess, joke, task, nor matter of this day."""
    lower = _lower(sentence)
    return _may_state(lower) and not _is_passing(lower) and bool(_without_lead(sentence))


def is_request(text: str) -> bool:
    """Whether a text begins by asking to remember something."""
    return cues.pattern(cues.REQUEST, tuple(cues.TABLE)).match(_lower(text)) is not None


def split_sentences(text: str) -> Iterator[str]:
    """The sentences of a message, without what is quoted or pasted."""
    for part in _END.split(_typed(_PASTED.sub("\n", text))):
        sentence = part.strip()
        if sentence and not _QUOTED.search(sentence):
            yield sentence


def read_statement(sentence: str, message: int, languages: tuple[str, ...]) -> Statement | None:
    """The statement that a sentence makes by its words; None where it is not to be kept."""
    lower = _lower(sentence)
    if not _may_state(lower):
        return None
    if text := _requested(sentence):
        found = _cue_of(_lower(text), languages) or cues.REQUEST
        return Statement(_capitalised(text), found, message, sentence, is_request=True)
    text = _without_lead(sentence)
    body = _lower(text)
    if _count(text) < MIN_WORDS or _is_passing(body) or _is_open(body):
        return None
    cue = _cue_of(body, languages)
    return Statement(_capitalised(text), cue, message, sentence) if cue else None


def find_log_statements(line: str, number: int, languages: tuple[str, ...]) -> Iterator[Statement]:
    """The statements that a line of a log makes: of somebody by name, what was agreed, what it says to remember."""
    name = ""
    for sentence in split_sentences(line):
        if name and (pronoun := cues.PRONOUN.match(sentence)):
            sentence = f"{name}{sentence[pronoun.end() :]}"
        subject = cues.subject(languages, sentence)
        name = subject or (name if cues.PRONOUN.match(sentence) else "")
        lower = _lower(sentence)
        if not _may_state(lower) or _is_open(lower):
            continue
        if is_request(sentence):
            if (text := _requested(sentence)) != sentence:
                cue = _cue_of(_lower(text), languages) or cues.REQUEST
                yield Statement(_capitalised(text), cue, number, sentence, is_request=True)
        elif (subject or cues.AGREED.match(lower)) and not _is_passing(lower):
            cue = _cue_of(lower, languages) or cues.ABOUT
            yield Statement(sentence, cues.ABOUT if cue is cues.PROFILE else cue, number, sentence, subject=subject)


def _requested(sentence: str) -> str:
    """What a sentence asks to remember; "" where it asks nothing of the kind."""
    text = ""
    while request := cues.pattern(cues.REQUEST, tuple(cues.TABLE)).search(_lower(text or sentence)):
        rest = (text or sentence)[request.end() :].lstrip(" ,:;-–")
        if _count(rest) < MIN_WORDS - 1:
            return text or _OPENING.sub("", sentence)
        text = rest
    return text


def _assent(sentence: str, question: str, message: int) -> Statement | None:
    """What the agent asked and a person affirmed, where their own words do not say it."""
    lower, asked = _lower(sentence), _lower(question)
    if not (question and cues.ASSENT.match(lower) and cues.STATE_QUESTION.match(asked) and _may_state(lower, least=1)):
        return None
    if cues.STATES.search(_lower(_without_lead(sentence))) or not _may_state(asked.rstrip("?")) or _is_passing(asked):
        return None
    return Statement(f"{question} – {_capitalised(sentence)}", cues.ANSWER, message, f"{question} {sentence}")


def _answer(sentence: str, question: str, message: int) -> Statement | None:
    """What a person answered to the agent's question in a whole sentence."""
    text = _without_lead(sentence)
    if not question or not _may_state(_lower(sentence)) or _is_passing(_lower(sentence)) or _is_open(_lower(text)):
        return None
    if _count(text) > MIN_WORDS and cues.STATES.search(_lower(text)):
        return Statement(_capitalised(text), cues.ANSWER, message, sentence)
    return None


def _is_passing(lower: str) -> bool:
    """Whether a sentence speaks of this day, or of one number among many."""
    return bool(cues.PASSING.search(lower) or _ONE_OFF.search(lower))


def _is_open(lower: str) -> bool:
    """Whether a short sentence speaks of something that only the talk before it names."""
    return _count(lower) <= SHORT_WORDS and cues.POINTING.search(lower) is not None


def _may_state(lower: str, least: int = MIN_WORDS) -> bool:
    if not least <= _count(lower) <= MAX_WORDS or lower.rstrip().endswith("?") or "[redacted" in lower:
        return False
    return not (cues.HYPOTHESIS.search(lower) or cues.IRONY.search(lower))


def _without_lead(sentence: str) -> str:
    """A sentence without clauses at its beginning that ask for something or speak of what came before."""
    text = _OPENING.sub("", sentence)
    while cues.TASK.match(_lower(text)) or cues.BACKWARD.match(_lower(text)):
        _, comma, rest = text.partition(", ")
        if not comma:
            return ""
        text = _OPENING.sub("", rest)
    return text


def _cue_of(lower: str, languages: tuple[str, ...]) -> Cue | None:
    """The first cue that marks a sentence, in small letters."""
    return next((cue for cue in cues.ORDER if cues.pattern(cue, languages).search(lower)), None)


def _last_question(text: str) -> str:
    """The question with which a message ends; "" for none."""
    *_, last = ("", *split_sentences(text))
    return last if last.endswith("?") else ""


def _lower(text: str) -> str:
    return text.casefold().replace("’", "'")


def _count(text: str) -> int:
    return len(_WORD.findall(text))


def _capitalised(text: str) -> str:
    text = text.strip()
    return text[:1].upper() + text[1:]


def is_taken_back(statement: Statement, messages: Sequence[Said]) -> bool:
    """Whether the user took a statement back later in the session."""
    own = {word for word in _WORD.findall(_lower(statement.sentence)) if len(word) > 3 or any(map(str.isdigit, word))}
    return any(
        own & set(_WORD.findall(_lower(said.text)))
        for said in messages
        if said.by_user and said.number > statement.message and cues.RETRACTION.search(_lower(said.text))
    )
