"""Finds lasting statements in daily logs, and names. Pure.

A log is mostly about the day, so a sentence must state by its form that it lasts, as in a session, and be about more
than the day: no story, and nothing that only the lines around it explain.

A name is capitalised within a sentence and nowhere written in lower case. German logs yield no names, since German
capitalises every noun.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from vault_memory.capture import exclusions
from vault_memory.capture.clauses import OPENING, clauses, lasting_part
from vault_memory.capture.own_words import split_sentences
from vault_memory.capture.remember_requests import find_request, is_off_the_record
from vault_memory.capture.statements import (
    CHANGE,
    FACT,
    Spoken,
    Statement,
    cue_of,
    is_lasting_fact,
    read_request,
)
from vault_memory.capture.subjects import continues, names_in, names_within, self_contained, subject_of
from vault_memory.markdown.claims import claims
from vault_memory.text.word_classes import Grammar, count_words, language_of, lowered, pattern_of, words_of

_DEMONSTRATIVE = pattern_of(r"""
    \b(?:this|these|those|there|dies\w*|damit|dafür|davon|ça|cela|ceci|celui|celle|cet(?:te)?|ces?|est[aeo]s?|es[aeo]s?|
    aquell?[aeo]?s?|n?ess[ae]s?|nest[ae]s?|isso|isto|d?aquel[ae]s?|aquilo|àquel[ae]s?)\b
""")
_PERSONAL = pattern_of(r"\b(?:it|its|them|him|he|she|they|ihn|ihm|er|il|elle|lui|él|ella|ello|lo|ele|ela)\b")
"""Words whose referent is elsewhere; a personal pronoun may take up what a sentence is about."""
_ANNOUNCED = pattern_of(r"""
    (?:\w+ ){0,2}?(?:decided|agreed|settled|decision|agreement|rule|deadline|beschlossen|entschieden|vereinbart|
    abgemacht|beschluss|entscheidung|regel|frist|décidé|convenu|décision|règle|échéance|decidido|acordado|acuerdo|
    decisión|regla|plazo|acordo|combinado|decisão|regra|prazo)(?: (?:with|mit|avec|con|com) \w+(?: \w+)?)?[ ]?:
""")
"""What announces a decision, a rule or a deadline."""
_TOPIC = re.compile(r"(?::|;|\s[–—-]+)\s*$")
"""The end of a clause that says what the next one is about."""
_ONE_DAY = pattern_of(r"""
    (?<!every )(?<!each )\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\bthe \d{1,2}(?:st|nd|rd|th)\b(?! of )|
    \b(?:am|bis|nächsten|diesen|kommenden) (?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag)\b|
    (?<!chaque )(?<!le )(?<!les )\b(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)\b
""")
"""A day of this week or month, which its name alone tells only today."""
_TOO_MUCH = pattern_of(r"""
    \b(?:always|toujours|immer|siempre|sempre)\b(?: \w+){0,3}
    (?:[ ]too|[ ]trop|[ ]zu (?:viele?|wenig|lange?|spät)|[ ]demasiad[oa]s?|[ ]demais)\b
""")
"""A complaint, which states no rule."""
SPECIFIC_WORDS = 7
"""The number of words from which a change says what it is about, even without a name."""
LOG_WORDS = 24
"""The maximum number of words of a statement in a log: the day's stories are long."""
ANTECEDENT_WORDS = 12
"""How many words may precede a pronoun that is replaced: in more of them somebody else may be meant."""
MIN_ANNOUNCED = 3
"""The minimum number of words after what announces them."""
REQUEST_WORDS = 6
"""The maximum number of words of a request in a log, before what to remember: without this limit 10 lines of the sample
vault's logs are taken for requests, with it 3."""


def find_log_statements(
    lines: Sequence[tuple[int, str]], languages: Sequence[str], names: Collection[str] = ()
) -> Iterator[Statement]:
    """The statements in the numbered lines of a log; `names` are names known from elsewhere."""
    usual = _language([text for _, text in lines], languages)
    spoken = Spoken(languages, usual)
    known = {*names, *(() if usual == "de" else (name for _, text in lines for name in names_within(text)))}
    for number, line in lines:
        before = ""
        for sentence in () if is_off_the_record(line) else split_sentences(line):
            asked = find_request(sentence).text
            if asked:
                statement = _asked(asked, number, sentence, spoken)
            else:
                statement = _stated(_self_contained(sentence, before, spoken, known), number, spoken, known)
            before = f"{before} {sentence}" if continues(sentence) else sentence
            if statement:
                yield statement


def _language(texts: Sequence[str], languages: Sequence[str]) -> str:
    return language_of([word for text in texts for word in words_of(text)], (*languages, "de"))


def _self_contained(sentence: str, before: str, spoken: Spoken, known: Collection[str]) -> str:
    """A sentence with a known name in place of the pronoun that it begins with, or as it is; "" if it needs another."""
    grammar = spoken.grammar(sentence)
    if grammar is None:
        return sentence
    near = before if count_words(before) <= ANTECEDENT_WORDS else ""
    named = self_contained(sentence, near, grammar)
    return named if named == sentence or any(map(named.startswith, known)) else ""


def _asked(text: str, number: int, sentence: str, spoken: Spoken) -> Statement | None:
    """The statement that a sentence of a log asks to remember: "noted down" after it is just a report of the day."""
    before, _, _ = sentence.casefold().rpartition(text.rstrip(".").casefold())
    return read_request(text, number, sentence, spoken) if 0 < len(before.split()) <= REQUEST_WORDS else None


def _stated(sentence: str, number: int, spoken: Spoken, known: Collection[str]) -> Statement | None:
    """The statement that a sentence of a log makes by its form."""
    grammar = spoken.grammar(sentence)
    if grammar is None or exclusions.is_secret(sentence, sentence):
        return None
    whole, text = OPENING.sub("", sentence), lasting_part(sentence, grammar)[0]
    if not text or not (whole.startswith(text) or _TOPIC.search(whole.partition(text)[0])):
        return None
    subject = subject_of(text, grammar)
    if not _lasts(text, subject, grammar):
        return None
    is_change = announces(text) or grammar.has("now", words_of(text))
    cue = CHANGE if is_change else cue_of(text, grammar)
    return Statement(text[:1].upper() + text[1:], cue, number, sentence, subject=subject if subject in known else "")


def announces(sentence: str) -> bool:
    """Whether a sentence opens by announcing a decision, a rule or a deadline ("Decided: …")."""
    return _ANNOUNCED.match(lowered(sentence)) is not None


def _lasts(sentence: str, subject: str, grammar: Grammar) -> bool:
    """Whether a sentence of a log lasts by its form and can be understood alone."""
    lower, words, parts = lowered(sentence), words_of(sentence), clauses(sentence)
    at = 1 if len(parts) > 1 and _TOPIC.search(parts[0]) else 0
    first = parts[at]
    if len(words) > LOG_WORDS or any(one.search(lower) for one in (_DEMONSTRATIVE, _ONE_DAY, _TOO_MUCH)):
        return False
    is_change = grammar.has("changes", words)
    if not is_change and any(_tells_of_the_past(part, grammar) for part in parts[at + 1 :]):
        return False
    if _PERSONAL.search(lowered(first)) and grammar.has("pronouns", words[:1]):
        return False
    if announced := _ANNOUNCED.match(lower):
        rest = words_of(sentence[announced.end() :])
        return len(rest) >= MIN_ANNOUNCED and (grammar.has_verb(rest) or grammar.has("mine ours denying", rest))
    if is_change and len(words) < SPECIFIC_WORDS and not names_within(sentence):
        return False
    if grammar.past.search(lowered(first)) and not is_change:
        return False
    if not _has_subject(words_of(first), grammar):
        return False
    if subject and claims("W", (subject,), sentence):
        return True
    if grammar.has("now", words) and len(words) >= SPECIFIC_WORDS and not grammar.has("mine", words):
        return True  # it is otherwise than before
    # `sets_task`: that a sentence of a log is rich in detail says nothing.
    return not (subject and _tells(sentence, grammar)) and is_lasting_fact(sentence, grammar, sets_task=True)


def _tells_of_the_past(clause: str, grammar: Grammar) -> bool:
    """Whether a clause after the first one tells what happened; its subject comes first, and a reason may be past."""
    return bool(grammar.past.search(lowered(clause.partition(" ")[2]))) and not grammar.has(
        "reasons", words_of(clause)[:1]
    )


def _tells(sentence: str, grammar: Grammar) -> bool:
    """Whether a sentence about a name tells what they say ("Ann thinks the oven is old"), or did with the writer."""
    first = clauses(sentence)[0]
    words, is_fact = words_of(first), cue_of(sentence, grammar) is FACT
    is_of_writer = grammar.has("mine", words) and not grammar.has("always", words)
    return is_of_writer or first.rstrip().endswith(":") or (is_fact and grammar.has("verbs", words[3:]))


def _has_subject(words: Sequence[str], grammar: Grammar) -> bool:
    """Whether a clause has a subject and a verb: the notes of a day often begin with their verb, or have none."""
    if grammar.has("mine ours", words[:1]):
        return True
    if grammar.has("always", words[:1]):  # without a pronoun, as in Spanish
        return not grammar.has("determiners prepositions", words[1:2])
    is_third = any(grammar.third.search(word) and word not in grammar.common for word in words[1:])
    return not grammar.has("verbs duty", words[:1]) and (is_third or grammar.has("verbs duty changes wishes", words))


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
