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
from vault_memory.markdown.claims import claims
from vault_memory.markdown.entities import MAX_NAME_WORDS
from vault_memory.text.calendar_days import CALENDAR_WORDS
from vault_memory.text.word_classes import Grammar, language_of, lowered, words_of

_CAPITAL = r"[^\W\d_a-z](?:[\w-]|['’](?!s\b))*"
_SUBJECT = re.compile(
    rf"(?P<name>{_CAPITAL}(?: {_CAPITAL})?)(?:['’]s \w+)?(?: (?:and|und|et|y|e) {_CAPITAL})?(?: \([^()]*\))? "
    r"(?=(?P<verb>[\w'’-]+))"
)
_PRONOUN = re.compile(
    r"(?:(?P<one>She|He|Er|Sie|Il|Elle|Él|Ella|Ele|Ela)|They|It|This|That|These|Es|Ils|Elles|Ellos|Ellas|Eles|Elas)\b"
)
"""A pronoun at the start of a sentence, whose referent is in the sentence before; `one` is a personal singular."""
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
        if pronoun := _PRONOUN.match(sentence):
            grammar = spoken.grammar(before)
            first = _subject(before, grammar) if grammar else ""
            named = {*names_within(before), *filter(None, [first])} if pronoun["one"] else set[str]()
            if len(named) == 1:
                sentence = f"{named.pop()}{sentence[pronoun.end() :]}"
        before, grammar = sentence, spoken.grammar(sentence)
        text = find_request(sentence).text
        if text:
            if statement := read_request(text, number, sentence, spoken):
                yield statement
        elif grammar and not _PRONOUN.match(sentence):
            subject = _subject(sentence, grammar)
            if _lasts(sentence, subject, grammar):
                cue = cue_of(sentence, grammar)
                cue = FACT if cue is PROFILE else cue
                about = subject if subject in known else ""
                yield Statement(sentence, cue, number, sentence, subject=about, is_of_name=subject != "")


def _subject(sentence: str, grammar: Grammar) -> str:
    """The name that a sentence of a log begins with, if a verb follows it; "" for none."""
    found = _SUBJECT.match(sentence)
    if not found or words_of(found["name"])[0] in grammar.common:
        return ""
    verb = lowered(found["verb"])
    is_verb = grammar.third.search(verb) or grammar.past.match(verb) or grammar.has("verbs duty changes", [verb])
    return found["name"] if is_verb else ""


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
    verb = words_of(_SUBJECT.sub("", sentence))[:1]
    return not grammar.has("verbs", verb) and is_lasting_fact(sentence, grammar)


# --- names -----------------------------------------------------------------------------------------------------------

NAME_DAYS = 3
"""A name is proposed once it occurs in the logs of this many days."""

_SPELLED = re.compile(r"(?<![\w@#/.-])[^\W\d_]\w*(?![\w/@-])")
_START = re.compile(r"(?:^|[.!?:;…])[\W_]*$")
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
            for name, is_within in _names_in(text):
                found.setdefault(name, {}).setdefault(path, f"{path}#L{number}")
                within |= {name} if is_within else set()
    return {name: [*found[name].values()] for name in within if not small.issuperset(name.casefold().split())}


def _names_in(text: str) -> Iterator[tuple[str, bool]]:
    for start, run in _capitalised(text):
        is_within = _START.search(text[:start]) is None
        rest = run.partition(" ")[2]
        name = rest if rest and not is_within else run  # the first word may have its capital from the sentence
        if len(name) > 2 and CALENDAR_WORDS.isdisjoint(name.casefold().split()):
            yield name, is_within or name == rest


def _capitalised(text: str) -> Iterator[tuple[int, str]]:
    """Runs of adjacent capitalised words with their offsets; words all in capitals are abbreviations and left out."""
    runs: list[list[re.Match[str]]] = []
    for word in _SPELLED.finditer(text):
        if word[0][0].isupper() and not word[0].isupper():
            is_next = runs and len(runs[-1]) < MAX_NAME_WORDS and text[runs[-1][-1].end() : word.start()] == " "
            runs[-1:] = [[*runs[-1], word]] if is_next else [*runs[-1:], [word]]
    return ((run[0].start(), text[run[0].start() : run[-1].end()]) for run in runs)


def names_within(text: str) -> set[str]:
    """The names within the sentences of a text, not only at their start."""
    return {name for name, is_within in _names_in(text) if is_within}
