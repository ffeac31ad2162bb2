"""Recognises a problem that is told together with what caused and solved it. Pure."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import dropwhile

from vault_memory.capture import exclusions
from vault_memory.capture.clauses import LINKS, MAX_WORDS, OPENING, clauses, is_question
from vault_memory.capture.remember_requests import MARKS
from vault_memory.capture.retractions import RETRACTION
from vault_memory.text.word_classes import Grammar, count_words, lowered, pattern_of, words_of

_CAUSE = pattern_of(r"""
    \b(?:(?:came|comes|coming|stems?|stemmed) from|caused by|(?:is|was|were|are) (?:because of|due to)|
    (?:kam|kamen|kommt|kommen) (?:\w+ )?(?:von|vom|daher)|(?:lag|lagen|liegt) (?:\w+ )?(?:an|am|daran)|verursacht|
    (?:ven|provien|proven)(?:ait|aient|t) d(?:e|es|u|'un|'une)|causée?s? par|(?:était|étaient|est) dûe?s? (?:à|au)|
    (?:venían?|provenían?|viene) de|(?:vinham?|veio|vieram) d[aeo]s?|causad[ao]s? (?:por|pel[ao])|
    (?:debid|devid)[oa]s? (?:a|ao|al|à)|
    (?:ursache|cause|causa) (?:\w+ )?(?:is|was|ist|war|est|était|es|era|fue|é|foi))\b
""")
CURE = pattern_of(r"""
    \b(?:fixe[sd]|fix(?=:| is | was )|solve[sd]|resolve[sd]|cure[sd]|helped|behob\w+|behebt|geholfen|gelöst|
    löste?|corrigée?s?|corrigi[óu]|réglée?s?|résolue?s?|arregl\w+|solucion\w+|resolvi\w+|resolveu|consert\w+)\b
""")
"""A verb for what solves a problem."""
_THIS_CURES = pattern_of(r"""
    \b(?P<itself>(?:fixed|solved|resolved|cured) (?:by|with)|(?:behoben|gelöst) (?:durch|mit|indem)|
    (?:corrigée?s?|réglée?s?|résolue?s?) (?:en|par|avec)|(?:arregla|soluciona|resuelt)d?[oa]s? con|
    (?:resolvid|consertad|corrigid)[oa]s? com)\b|\b(?:(?:fixe[sd]|solve[sd]|resolve[sd]|cure[sd])[ ]
    (?:it|that|this|them|the (?:\w+ )?(?:problem|issue|error|bug))|
    (?:hat|haben) (?:das problem |den fehler |es |das |sie )?(?:behoben|gelöst)|
    (?:behebt|behob|löst|löste) (?:es|das)|l(?:'a|es a) (?:corrigée?s?|réglée?s?|résolue?s?)|
    (?:l[oae]s?|el problema|el error) (?:arregl|solucion|corrigi|resolvi)ó|
    (?:resolveu|consertou|corrigiu)(?: (?:o problema|o erro|isso))?)(?!\w)
""")
"""Says that something solved what was told before; `itself` if what solved it follows."""
_MARKED = re.compile(r"[.!?…;:,]$")


def is_case(text: str, grammar: Grammar) -> bool:
    """Whether a text tells a problem with its cause and its cure, or a problem and after it what solved it."""
    lower = lowered(text)
    if _CAUSE.search(lower) and CURE.search(lower):
        return True
    others = [clause for part in re.split(r"(?<=[.!]) ", text) for clause in clauses(part)][1:]
    return any(_cures(clause, grammar) for clause in others)


def case_part(sentence: str, grammar: Grammar) -> str:
    """The part of a sentence that tells a case, up to its cure; "" if it tells none for certain."""
    text = OPENING.sub("", sentence)
    if not is_case(text, grammar) or count_words(text) > MAX_WORDS or is_question(text, grammar):
        return ""
    if exclusions.is_foreign(sentence) or exclusions.JOKE.search(lowered(text)) or RETRACTION.search(lowered(text)):
        return ""
    parts = clauses(text)
    last = max(at for at, part in enumerate(parts) if _CAUSE.search(lowered(part)) or CURE.search(lowered(part)))
    told = [*dropwhile(_is_exclamation, parts[: last + 1])]
    if any(exclusions.supposes(lower) or exclusions.is_passing(lower) for lower in map(lowered, told)):
        return ""
    return "".join(told).rstrip(MARKS)


def _is_exclamation(clause: str) -> bool:
    """Whether a clause is a word such as "great", which says nothing of the case."""
    return len(words_of(clause)) == 1 and not CURE.search(lowered(clause))


def join_cases(sentences: Iterable[str], grammar_of: Callable[[str], Grammar | None]) -> Iterator[str]:
    """The sentences of a message; those of one case ("The tiles were blank. Casting to 3857 fixed it.") as one."""
    group: list[str] = []
    for sentence in sentences:
        grammar = grammar_of(sentence)
        if group and grammar and not group[-1].endswith(("?", ":")) and _continues(sentence, grammar):
            group.append(sentence)
        else:
            yield from _as_one(group, grammar_of)
            group = [sentence]
    yield from _as_one(group, grammar_of)


def _as_one(group: list[str], grammar_of: Callable[[str], Grammar | None]) -> list[str]:
    text = " ".join(one if _MARKED.search(one) else f"{one};" for one in group[:-1]) + " ".join(["", *group[-1:]])
    grammar = grammar_of(text)
    is_one = len(group) > 1 and count_words(text) <= MAX_WORDS and grammar is not None and is_case(text, grammar)
    return [text] if is_one else group


def _continues(sentence: str, grammar: Grammar) -> bool:
    """Whether a sentence gives the cause or the cure of what the one before it tells."""
    is_of_that = grammar.has("pointing", words_of(sentence)[:1]) or lowered(sentence).startswith(("the cause", "cause"))
    return (is_of_that and _CAUSE.search(lowered(sentence)) is not None) or _cures(sentence, grammar)


def _cures(clause: str, grammar: Grammar) -> bool:
    """Whether a clause names what solved the problem told before it; "that fixed it" does not."""
    found = _THIS_CURES.search(lowered(clause))
    subject = [*dropwhile(LINKS.__contains__, words_of(clause[: found.start()] if found else ""))]
    if not found or not subject:
        return found is not None and found["itself"] is not None
    is_pronoun = grammar.has("pronouns pointing", subject[:1]) and not grammar.has("determiners", subject[:1])
    return found["itself"] is not None or not (is_pronoun or (subject[1:] == [] and grammar.has("pointing", subject)))
