"""Finds lasting statements in daily logs (about a name, agreements, requests to remember), and names. Pure.

A name is capitalised within a sentence and nowhere written in lower case. German logs yield no names, since German
capitalises every noun.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from vault_memory.capture.clauses import clauses, lasting_part
from vault_memory.capture.own_words import split_sentences
from vault_memory.capture.remember_requests import find_request, is_off_the_record
from vault_memory.capture.statements import (
    FACT,
    PROFILE,
    Spoken,
    Statement,
    cue_of,
    is_lasting_fact,
    read_request,
)
from vault_memory.capture.subjects import SUBJECT, names_in, names_within, self_contained, subject_of
from vault_memory.markdown.claims import claims
from vault_memory.text.word_classes import Grammar, language_of, lowered, words_of

_AGREED = re.compile(
    r"(?:we|i)(?: have|'ve)? (?:decided|agreed) (?:to|that|on|not)\b|wir haben (?:beschlossen|uns (?:für|gegen))\b|"
    r"(?:on a|nous avons) décidé (?:de|que)\b|(?:hemos decidido|decidimos) \w+"
)


def find_log_statements(
    line: str, number: int, languages: Sequence[str], names: Collection[str] = ()
) -> Iterator[Statement]:
    """The statements in a line of a log; `names` are names known from elsewhere."""
    spoken, known, before = Spoken(languages), {*names, *names_within(line)}, ""
    for sentence in () if is_off_the_record(line) else split_sentences(line):
        grammar = spoken.grammar(sentence)
        stands_alone = self_contained(sentence, before, grammar) if grammar else ""
        before = sentence = stands_alone or sentence
        text = find_request(sentence).text
        if text:
            if statement := read_request(text, number, sentence, spoken):
                yield statement
        elif grammar and stands_alone:
            subject = subject_of(sentence, grammar)
            if _lasts(sentence, subject, grammar):
                cue = cue_of(sentence, grammar)
                cue = FACT if cue is PROFILE else cue
                about = subject if subject in known else ""
                yield Statement(sentence, cue, number, sentence, subject=about, is_of_name=subject != "")


def _lasts(sentence: str, subject: str, grammar: Grammar) -> bool:
    """Whether a sentence of a log states an agreement, a change, or something that generally holds of a name."""
    lower, words = lowered(sentence), words_of(clauses(sentence)[0])
    if lasting_part(sentence, grammar)[0] != sentence.strip():
        return False
    if _AGREED.match(lower):
        return True
    if not subject or (grammar.past.search(lower) and not grammar.has("changes", words)):
        return False
    if grammar.has("changes wishes", words) or claims("W", (subject,), sentence):
        return True
    # Sentences with "is", "has" or "can" mostly concern the day: 1 of 12 in the sample vault's logs was worth keeping.
    verb = words_of(SUBJECT.sub("", sentence))[:1]
    return not grammar.has("verbs", verb) and is_lasting_fact(sentence, grammar)


# --- names -----------------------------------------------------------------------------------------------------------

NAME_DAYS = 3
"""A name is proposed once it occurs in the logs of this many days."""

_WORD = re.compile(r"[^\W\d_]+")


def find_names(logs: Iterable[tuple[str, Sequence[tuple[int, str]]]], languages: Sequence[str]) -> dict[str, list[str]]:
    """The names in logs (path and numbered lines), each with one line reference per log that contains it.

    A name must occur within a sentence at least once, and not all of its words may also occur in lower case.
    """
    found: dict[str, dict[str, str]] = {}
    within, small = set[str](), set[str]()
    for path, lines in logs:
        words = _WORD.findall(" ".join(text for _, text in lines))
        small.update(filter(str.islower, words))
        if language_of([word.casefold() for word in words], (*languages, "de")) == "de":
            continue
        for number, text in lines:
            for name, is_within in names_in(text):
                found.setdefault(name, {}).setdefault(path, f"{path}#L{number}")
                within |= {name} if is_within else set()
    return {name: [*found[name].values()] for name in within if not small.issuperset(name.casefold().split())}
