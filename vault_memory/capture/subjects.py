"""Finds names in prose, the name a sentence begins with, and the one that its first pronoun stands for. Pure."""

import re
from collections.abc import Iterator

from vault_memory.markdown.entities import MAX_NAME_WORDS
from vault_memory.text.calendar_days import CALENDAR_WORDS
from vault_memory.text.word_classes import Grammar, lowered, pattern_of, words_of

_CAPITAL = r"[^\W\d_a-z](?:[\w-]|['’](?!s\b))*"
_SUBJECT = re.compile(
    rf"(?P<name>{_CAPITAL}(?: {_CAPITAL})?)(?:['’]s \w+)?(?: (?:and|und|et|y|e) {_CAPITAL})?(?: \([^()]*\))? "
    r"(?=(?P<verb>[\w'’-]+))"
)
"""A name at the beginning of a sentence, with what belongs to it, and the word after it."""
_PERSON = re.compile(r"(?:she|he|er|sie|il|elle|él|ella|ele|ela)\b", re.IGNORECASE)
"""A pronoun for one person; the others stand for things and situations, whose names are not known to be names."""
_IMPERSONAL = pattern_of(r"""
    (?:it's|it (?:is|was)|es (?:ist|war|wird)|il est)(?: [\w-]+){1,4},? (?:(?:to|that|who|dass|que)\b|d['e]|
    (?:[\w-]+ ){0,4}zu \w+en\b)|es gibt\b|il (?:ne )?(?:faut|y a|n'y a|pleut|neige|suffit|s'agit|semble|paraît|
    vaut (?:\w+ )?mieux|fait (?:\w+ )?(?:beau|froid|chaud|nuit|jour))\b
""")
"""A sentence whose pronoun stands for nothing: what it says follows ("it is forbidden to smoke")."""
_MANY = re.compile(r"sie (?:sind|tun|\w+(?:en|eln|ern))\b", re.IGNORECASE)
"""A German pronoun that stands for several, or for the person spoken to."""
_SHE_IS = re.compile(r"\bist (?:die|\w+e) [A-ZÄÖÜ]\w+in\b")
"""What a German sentence says only of a woman."""
_MENTION = re.compile(
    rf"(?P<word>[^\W\d_]+),? (?:(?:with|mit|avec|con|com) )?(?P<name>{_CAPITAL}(?: {_CAPITAL})?)"
    r"(?:[.,!;:…]|$| (?P<after>[\w'’-]+))"
)
"""A name after a single word ("Thanks Olga", "Call with Olga about …", "Does Olga …")."""
_SPELLED = re.compile(r"(?<![\w@#/.-])[^\W\d_]\w*(?![\w/@-])")
_START = re.compile(r"(?:^|[.!?:;…])[\W_]*$")


def continues(sentence: str) -> bool:
    """Whether a sentence begins with a pronoun for one person, and so is about whom the one before is about."""
    return _PERSON.match(sentence) is not None


def self_contained(sentence: str, before: str, grammar: Grammar) -> str:
    """A sentence with the name that the one before is about in place of the pronoun that it begins with, if there is no
    other; "" if it begins with a pronoun that cannot be replaced so."""
    if not _points(sentence, grammar):
        return sentence
    person = _PERSON.match(sentence)
    if not person or _MANY.match(sentence) or (person[0].lower() == "er" and _SHE_IS.search(before)):
        return ""
    name = _topic_of(before.lstrip(), grammar)
    names = {name, *(one for one in names_within(before) if not _is_noun(one, before, grammar))}
    return f"{name}{sentence[person.end() :]}" if name and len(names) == 1 else ""


def _topic_of(text: str, grammar: Grammar) -> str:
    """The name that a text is about: the subject of its first sentence, or its first words' only one; "" for none."""
    if name := subject_of(text, grammar):
        return "" if text.startswith((f"{name}'s", f"{name}’s")) else name
    found = _MENTION.match(text)
    if not found:
        return ""
    word, after = lowered(found["word"]), lowered(found["after"] or "")
    is_asked = grammar.has("questions", [word])
    is_called = word not in grammar.common and (not after or grammar.has("prepositions", [after]))
    return found["name"] if is_asked or is_called else ""


def subject_of(sentence: str, grammar: Grammar) -> str:
    """The name that a sentence begins with, if a verb follows it; "" for none."""
    found = _SUBJECT.match(sentence)
    if not found or words_of(found["name"])[0] in grammar.common:
        return ""
    verb = lowered(found["verb"])
    is_verb = grammar.third.search(verb) or grammar.past.match(verb) or grammar.has("verbs duty changes", [verb])
    return found["name"] if is_verb else ""


def names_in(text: str) -> Iterator[tuple[str, bool]]:
    """The possible names in a text, and whether each is certainly one: it does not begin a sentence."""
    for start, run in _capitalised(text):
        is_within = _START.search(text[max(0, start - 20) : start]) is None
        rest = run.partition(" ")[2]
        name = rest if rest and not is_within else run  # the first word may have its capital from the sentence
        if len(name) > 2 and CALENDAR_WORDS.isdisjoint(name.casefold().split()):
            yield name, is_within or name == rest


def names_within(text: str) -> set[str]:
    """The names within the sentences of a text, not only at their start."""
    return {name for name, is_within in names_in(text) if is_within}


def _points(sentence: str, grammar: Grammar) -> bool:
    """Whether a sentence begins with a pronoun that stands for something said before: "this" before a noun is none, nor
    is "it" before what is said of nothing ("it is forbidden to …")."""
    words, rest = words_of(sentence[:80]), sentence.partition(" ")[2]
    if not grammar.has("pointing", words[:1]) or _IMPERSONAL.match(lowered(sentence)):
        return False
    if grammar.has("pronouns", words[:1]) or grammar.has("verbs duty always denying", words[1:2]):
        return True
    is_verb = not rest[:1].isupper() and grammar.third.search(words[1]) if len(words) > 1 else True
    return bool(is_verb) and not grammar.has("verbs duty always denying pronouns", words[2:3])


def _is_noun(name: str, text: str, grammar: Grammar) -> bool:
    """Whether a capitalised word of a text follows an article, as a German noun does."""
    before = words_of(text.partition(name)[0])[-1:]
    return grammar.has("determiners definite", before)


def _capitalised(text: str) -> Iterator[tuple[int, str]]:
    """Runs of adjacent capitalised words with their offsets; words all in capitals are abbreviations and left out."""
    runs: list[list[re.Match[str]]] = []
    for word in _SPELLED.finditer(text):
        if word[0][0].isupper() and not word[0].isupper():
            is_next = runs and len(runs[-1]) < MAX_NAME_WORDS and text[runs[-1][-1].end() : word.start()] == " "
            runs[-1:] = [[*runs[-1], word]] if is_next else [*runs[-1:], [word]]
    return ((run[0].start(), text[run[0].start() : run[-1].end()]) for run in runs)
