"""Finds what a line of a daily log states: of somebody by name, what was agreed, what it says to remember. Pure."""

import re
from collections.abc import Collection, Iterator

from vault_memory.capture import exclusions
from vault_memory.capture.own_words import split_sentences
from vault_memory.capture.prose_names import names_within
from vault_memory.capture.requests import find_refusals, find_request
from vault_memory.capture.statements import (
    FACT,
    PROFILE,
    Setting,
    Spoken,
    Statement,
    clauses,
    cue_of,
    is_lasting_fact,
    lasting_part,
    read_request,
)
from vault_memory.markdown.claims import claims
from vault_memory.text.word_classes import Grammar, lowered, words_of

_CAPITAL = r"[^\W\d_a-z](?:[\w-]|['’](?!s\b))*"
_SUBJECT = re.compile(
    rf"(?P<name>{_CAPITAL}(?: {_CAPITAL})?)(?:['’]s \w+)?(?: (?:and|und|et|y|e) {_CAPITAL})?(?: \([^()]*\))? "
    r"(?=(?P<verb>[\w'’-]+))"
)
_PRONOUN = re.compile(
    r"(?:(?P<one>She|He|Er|Sie|Il|Elle|Él|Ella|Ele|Ela)|They|It|This|That|These|Es|Ils|Elles|Ellos|Ellas|Eles|Elas)\b"
)
"""Begins a sentence whose subject only the one before it names: `one` stands for one person or thing with a name."""
_AGREED = re.compile(
    r"(?:we|i)(?: have|'ve)? (?:decided|agreed) (?:to|that|on|not)\b|wir haben (?:beschlossen|uns (?:für|gegen))\b|"
    r"(?:on a|nous avons) décidé (?:de|que)\b|(?:hemos decidido|decidimos) \w+"
)


def find_log_statements(
    line: str, number: int, languages: tuple[str, ...], names: Collection[str] = ()
) -> Iterator[Statement]:
    """The statements that a line of a log makes; `names` are known from elsewhere."""
    spoken, known, before = Spoken(languages), {*names, *names_within(line)}, ""
    for sentence in () if find_refusals(lowered(line)) else split_sentences(line):
        if pronoun := _PRONOUN.match(sentence):
            grammar = spoken.grammar(before)
            first = _subject(before, grammar, known) if grammar else ""
            named = {*names_within(before), *filter(None, [first])} if pronoun["one"] else set[str]()
            if len(named) == 1:
                sentence = f"{named.pop()}{sentence[pronoun.end() :]}"
        before, grammar = sentence, spoken.grammar(sentence)
        text, _ = find_request(sentence)
        if text:
            if statement := read_request(text, number, sentence, spoken):
                yield statement
        elif grammar and not _PRONOUN.match(sentence):
            subject = _subject(sentence, grammar, known)
            if _lasts(sentence, subject, grammar):
                cue = cue_of(sentence, grammar)
                cue = FACT if cue is PROFILE else cue
                about = subject if subject in known else ""
                yield Statement(sentence, cue, number, sentence, subject=about, is_of_name=subject != "")


def _subject(sentence: str, grammar: Grammar, known: Collection[str]) -> str:
    """The name with which a sentence of a log begins, and of which it goes on to tell; "" for none."""
    found = _SUBJECT.match(sentence)
    if not found or words_of(found["name"])[0] in grammar.common:
        return ""
    verb = lowered(found["verb"])
    is_verb = grammar.has("verbs duty always every wishes changes", [verb]) or (
        verb not in grammar.common and (grammar.third.search(verb) or grammar.past.match(verb))
    )
    is_done = grammar.past.fullmatch(lowered(found["name"])) is not None and found["name"] not in known
    return found["name"] if is_verb and not is_done else ""


def _lasts(sentence: str, subject: str, grammar: Grammar) -> bool:
    """Whether a sentence of a log tells of what was agreed or has changed, or of a name what is so as a rule."""
    lower, words = lowered(sentence), words_of(clauses(sentence)[0])
    if lasting_part(sentence, grammar) != sentence.strip() or exclusions.STATUS.search(lower):
        return False
    if _AGREED.match(lower):
        return True
    if not subject or (grammar.past.search(lower) and not grammar.has("changes", words)):
        return False
    if grammar.has("changes wishes", words) or claims("W", (subject,), sentence):
        return True
    # What somebody is, has or can is mostly of the day: 1 of 12 in the sample vault's logs was worth keeping.
    verb = words_of(_SUBJECT.sub("", sentence))[:1]
    return not grammar.has("verbs", verb) and is_lasting_fact(sentence, grammar, Setting())
