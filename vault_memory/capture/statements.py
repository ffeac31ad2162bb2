"""Finds the statements in what somebody said that are worth keeping, by explicit cues. Pure.

Precision before completeness: a statement is one sentence that stands by itself. What is a question, a hypothesis, a
joke, a quotation, a task, matter of this day, or was taken back later in the same session, is none.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from vault_memory.capture import cues
from vault_memory.capture.cues import Cue
from vault_memory.embedding.builtin_embedder import builtin

ANSWER_WORDS = 7
"""An answer has so many words, or it says too little without its question."""

MIN_WORDS, SHORT_WORDS, MAX_WORDS = 4, 7, 45
"""A statement has so many words; a short one that points back says nothing by itself."""

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

_MAIL = re.compile(
    r"^(?:(?:From|To|Subject|Von|An|Betreff|De|À|Objet|Para|Asunto|Assunto): .*\n){2}|^-{3,} ?\w.*---$"
    r"|^.{0,80}\b(?:wrote|schrieb|a écrit|escribió|escreveu) ?:$",
    re.MULTILINE,
)
_END = re.compile(
    r"(?<=[.!?…])(?<!\b\d\.)(?<!\b\d\d\.)(?<!\b[A-Z]\.)(?<!\b[DMS][rt]\.)\s+(?=\S)"
    rf"|(?<=\d\.)\s+(?=[A-ZÄÖÜÉ])(?!(?i:{cues.MONTHS}))|(?<=[!?])(?=\w)|\n+"
)
"""Where a sentence ends: not after an initial, a title, or an ordinal before a month."""
_MARK = re.compile(r"```|~~~|<(?P<slash>/?)(?P<tag>[a-z][\w-]*)(?:\s[^<>]*)?>", re.IGNORECASE)
"""Where a block begins or ends, code or what stands between tags: put there by a tool, or pasted."""
_QUOTATION = re.compile(r"[\"“„«‟”][^\"“”„‟«»]{25,}[\"“”»]")
_QUOTED = re.compile(r"^\s*>|^\s*[\"“„«].{20,}|^\s*\|")
_OPENING = re.compile(
    r"^(?:(?:ok(?:ay)?|oh|ah|ach|hm+|so(?! (?:that )?you\b)|and|but|also|well|btw|fyi|nah|nope|yes|yep|yeah|omg|argh|ta"
    r"|ja|gut|und|oui|et|bom|e|olha|sim|y|sí|bueno|bitte|please|pls|exactly|genau|actually|(?:no|nein|nee|non|não)(?=[,.:!]))\b[,.:!]*\s+)+",
    re.IGNORECASE,
)
_ONE_OFF = re.compile(
    r"\b(?:pid|process|job|run|invoice|line|pr|issue|ticket|order|commit|tag|build|zeile|ligne|linha|línea)\s+#?v?\d|\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b"
)
_CLAUSE = re.compile(r"[,;] | (?:so|because|but|und|aber|donc|mais|pero|mas) ")
_CLAUSE_END = re.compile(r"[,.;!?\n]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Nobody types these: the line was pasted from a terminal."""
_BULLET = re.compile(r"^(?:[-*+•]|\d{1,2}[.)])\s+")
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


class SessionTurn(NamedTuple):
    """One message of a session."""

    number: int
    by_user: bool
    text: str


def find_statements(messages: Sequence[SessionTurn], languages: tuple[str, ...]) -> list[Statement]:
    """What a session's user stated that is worth keeping, in the order in which it was said."""
    found: list[Statement] = []
    question = ""
    for said in messages:
        if said.by_user:
            found += _of_message(said, question, languages)
            question = ""
        else:
            question = _last_question(said.text)
    return [one for one in found if not is_taken_back(one, messages)]


def _of_message(said: SessionTurn, question: str, languages: tuple[str, ...]) -> Iterator[Statement]:
    """What one message of the user's states; `question` is the agent's that it answers, or ""."""
    before, is_announced = "", False
    for place, sentence in enumerate(split_sentences(said.text)):
        asked, is_bullet = question if place == 0 else "", _BULLET.match(sentence) is not None
        sentence = _BULLET.sub("", sentence)
        text, points_back = _requested(sentence)
        if is_announced or text:
            statement = _request(text or sentence, said.number, sentence, languages)
            is_announced = is_announced and is_bullet
        elif points_back and sentence.endswith(":"):
            statement, is_announced = None, True
        elif points_back:
            statement = _request(before, said.number, before, languages)
        else:
            statement = _assent(sentence, asked, said.number) or read_statement(sentence, said.number, languages)
            statement = statement or _answer(sentence, asked, said.number)
        before = sentence
        if statement:
            yield statement


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
    """A message without code, blocks, long quotations, and without the text that a line of it announces."""
    text = _QUOTATION.sub("\0", _ends(_without_blocks(text)))
    for lead in cues.LEAD_IN.finditer(text):
        if not cues.request_pattern().search(_lower(lead[0][:TYPED_CHARS])):
            text = text[: lead.start()]
            break
    return text.replace("\0", "")


def is_statable(sentence: str) -> bool:
    """Whether a sentence may state something that lasts: no question, guess, joke, task, nor matter of this day."""
    lower = _lower(sentence)
    return _may_state(lower) and not _is_passing(lower) and bool(_without_lead(sentence))


def is_request(text: str) -> bool:
    """Whether a text begins by asking to remember something."""
    return cues.request_pattern().match(_lower(text)) is not None


def split_sentences(text: str) -> Iterator[str]:
    """The sentences of a message, without what is quoted or pasted."""
    for part in _END.split(_typed(_own_words(text))):
        sentence = part.strip()
        if sentence and not _QUOTED.search(sentence) and not _CONTROL.search(sentence):
            yield sentence


def read_statement(sentence: str, message: int, languages: tuple[str, ...]) -> Statement | None:
    """The statement that a sentence makes by its words, without a request; None where it is not to be kept."""
    text = _without_lead(sentence)
    body = _lower(text)
    if not _may_state(_lower(sentence)) or _count(text) < MIN_WORDS or _is_passing(body) or _is_open(body):
        return None
    cue = _cue_of(body, languages)
    return Statement(_capitalised(text), cue, message, sentence) if cue else None


def _request(text: str, message: int, sentence: str, languages: tuple[str, ...]) -> Statement | None:
    """What somebody asked to remember, as a statement, without clauses at its end that are matter of this day."""
    clauses = [text, *(text[: comma.start()] for comma in reversed(list(_CLAUSE.finditer(text))))]
    lasting = next((clause for clause in clauses if not _is_passing(_lower(clause))), "")
    lower = _lower(lasting)
    if not _may_state(lower.rstrip("?"), least=2):
        return None
    cue = _cue_of(lower, languages) or cues.REQUEST
    return Statement(_capitalised(lasting), cue, message, sentence, is_request=True)


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
            text, _ = _requested(sentence)
            if statement := text and _request(text, number, sentence, languages):
                yield statement
        elif (subject or cues.AGREED.match(lower)) and not _is_passing(lower):
            cue = _cue_of(lower, languages) or cues.ABOUT
            yield Statement(sentence, cues.ABOUT if cue is cues.PROFILE else cue, number, sentence, subject=subject)


def _requested(sentence: str) -> tuple[str, bool]:
    """What a sentence asks to remember, and whether it asks for something that it does not say itself."""
    text, asks = _OPENING.sub("", sentence), False
    while request := cues.request_pattern().search(_lower(text)):
        before, rest = text[: request.start()].strip(" ,;:-–—("), text[request.end() :].lstrip(" ,;:-–—")
        asks = True
        if _count(rest) >= MIN_WORDS - 1:
            text = rest
        elif _count(before) >= MIN_WORDS and not cues.BACKWARD.match(_lower(before)):
            return before, False
        else:
            return "", True
    return (text if asks else ""), False


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
    if _count(text) >= ANSWER_WORDS and cues.STATES.search(_lower(text)) and not cues.POINTING.search(_lower(text)):
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
    if cues.RETRACTION.match(_OPENING.sub("", lower)):
        return False
    return not any(pattern.search(lower) for pattern in (cues.HYPOTHESIS, cues.IRONY, cues.SECRET, cues.REPORTED))


def _without_lead(sentence: str) -> str:
    """A sentence without clauses at its beginning that ask for something or speak of what came before."""
    text = _OPENING.sub("", sentence)
    while (cues.TASK.match(_lower(text)) and not cues.STANDING.search(_lower(text))) or cues.BACKWARD.match(
        _lower(text)
    ):
        _, comma, rest = text.partition(", ")
        if not comma:
            return ""
        text = _OPENING.sub("", rest)
    return text


def _cue_of(lower: str, languages: tuple[str, ...]) -> Cue | None:
    """The first cue that marks a sentence, in small letters; what only describes a moment has none."""
    found = next((cue for cue in cues.ORDER if cues.pattern(cue, languages).search(lower)), None)
    return None if found in cues.WEAK and cues.MOMENT.search(lower) else found


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


def is_taken_back(statement: Statement, messages: Sequence[SessionTurn]) -> bool:
    """Whether the user took a statement back later in the session: by its words, or by the next thing they said."""
    own = _telling(statement.sentence)
    later = [said.text for said in messages if said.by_user and said.number > statement.message]
    same = next((said.text for said in messages if said.number == statement.message), "")
    return any(
        _takes_back(text, retraction, own, is_next=place < 2)
        for place, text in enumerate(map(_ends, [same.rpartition(statement.sentence)[2], *later]))
        for retraction in islice(cues.RETRACTION.finditer(_lower(text)), RETRACTIONS)
    )


def _takes_back(text: str, retraction: re.Match[str], own: set[str], *, is_next: bool) -> bool:
    """Whether a retraction names one of these words in its clause, or in the first one after it that names anything;
    one that opens the very next thing somebody says and names nothing ("scrap that") is about what was said last."""
    start, end = retraction.span()
    before = _telling(_CLAUSE_END.split(text[max(0, start - RETRACTION_CHARS) : start])[-1])
    clause, *further = map(_telling, _CLAUSE_END.split(text[end : end + RETRACTION_CHARS]))
    if is_next and start < AT_ONCE_CHARS and not clause:
        return True
    return bool(own & (before | next(filter(None, [clause, *further]), set())))


def _telling(text: str) -> set[str]:
    """The words of a text that tell what it is about: numbers, and those with a long vector or none."""
    lengths = {word: builtin().word_length(word) for word in _WORD.findall(_lower(text))}
    return {word for word, length in lengths.items() if word.isdigit() or (length or len(word) / 5) >= TELLING_LENGTH}
