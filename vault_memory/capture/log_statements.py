"""Finds what daily logs state, of somebody by name, what was agreed or is to be remembered, and whom they name. Pure.

A name is written with a capital within a sentence, and nowhere with a small letter. German logs name nobody, for every
noun has a capital there.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from vault_memory.capture import exclusions
from vault_memory.capture.clauses import clauses, lasting_part
from vault_memory.capture.own_words import split_sentences
from vault_memory.capture.requests import find_refusals, find_request
from vault_memory.capture.statements import (
    FACT,
    PROFILE,
    Setting,
    Spoken,
    Statement,
    cue_of,
    is_lasting_fact,
    read_request,
)
from vault_memory.markdown.claims import claims
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


# --- names -----------------------------------------------------------------------------------------------------------

NAME_DAYS = 3
"""A name is proposed that stands in the logs of so many days."""

MAX_NAME_WORDS = 3
"""Names of people, places and firms seldom have more words; a headline has."""

_SPELLED = re.compile(r"(?<![\w@#/.-])[^\W\d_]\w*(?![\w/@-])")
_START = re.compile(r"(?:^|[.!?:;…])[\W_]*$")
_WORD = re.compile(r"[^\W\d_]+")


def find_names(logs: Iterable[tuple[str, Sequence[tuple[int, str]]]], languages: Sequence[str]) -> dict[str, list[str]]:
    """The names in logs (path and numbered lines) that stand within a sentence in one of them, each with a line of each
    log that holds it; a name of which each word stands somewhere with a small letter is none."""
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
    """Words with a capital that stand side by side, and where; a word of capitals alone is an abbreviation."""
    runs: list[list[re.Match[str]]] = []
    for word in _SPELLED.finditer(text):
        if word[0][0].isupper() and not word[0].isupper():
            is_next = runs and len(runs[-1]) < MAX_NAME_WORDS and text[runs[-1][-1].end() : word.start()] == " "
            runs[-1:] = [[*runs[-1], word]] if is_next else [*runs[-1:], [word]]
    return ((run[0].start(), text[run[0].start() : run[-1].end()]) for run in runs)


def names_within(text: str) -> set[str]:
    """The names that stand within sentences of a text."""
    return {name for name, is_within in _names_in(text) if is_within}
