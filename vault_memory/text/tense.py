"""Which way a text looks in time: ahead, back or neither, by its verbs; must not know dates. English only.

A day without a year, and a weekday, is then the next, the last or the nearest one.
"""

import re
from collections.abc import Sequence

AHEAD, PAST, NEAR = "ahead", "before", "near"
"""Modes of `spans.resolve`."""

# "does Will come?" names him; at the beginning it asks.
_SURELY_AHEAD = (
    r"\b(?:will|won['’]t|shall)\b|^\s*(?:Will|Won['’]t|Shall)\b|['’]ll\b"
    r"|\b(?:is|are|am|['’]s|['’]re) going to\b|\b(?:upcoming|gonna)\b"
)
_AHEAD = (
    r"\b(?:plan|plans|planned|planning|due|schedules?|scheduled|deadlines?|appointments?|agenda|next|coming up|happens?"
    r"|takes? place|expires?|arrives?|departs?|leaves|starts|begins|ends|booked|must|should|need to|needs to"
    r"|have to|has to|to be done|am i free|are we free|do (?:i|we) have)\b"
    r"|(?:\b(?:is|are)|['’]s) on(?=\s*(?:$|[?.!,0-9]|(?:in|on|at|this|next|for|mon|tue|wed|thu|fri|sat|sun|jan|feb|mar"
    r"|apr|may|jun|jul|aug|sep|oct|nov|dec)))"
    r"|\b(?:is|are|am)\b[^.?!]{0,40}\b(?:coming|arriving|visiting|leaving|meeting|travelling|flying|starting|happening)\b"
)
_PAST_WORDS = frozenset(
    """did didn't was wasn't were weren't had hadn't been ago ate became began bought broke brought built came caught
    chose did drank drove fell felt flew forgot fought found gave grew happened heard held kept knew lay led left lost
    made met paid ran rang said sang sat saw sent slept sold spent spoke stood swam swore taught thought threw told took
    understood went woke won wore wrote yesterday""".split()  # noqa: SIM905 - long
)
_NOT_PAST = frozenset(
    """bed bleed booked breed exceed feed indeed invited need planned proceed red scheduled seed shed speed succeed
    supposed expected weed wed""".split()  # noqa: SIM905 - long
)
# What is said, agreed or moved on one day may well be of another.
_ANNOUNCES = frozenset(
    """agreed announced arranged asked confirmed decided delayed feared had heard hoped learned learnt moved offered
    ordered postponed promised proposed rescheduled said set suggested thought told wanted was were wrote""".split()  # noqa: SIM905
)
_NEAR_WORDS = 5


def of_question(text: str, lead: str) -> str:
    """The mode for a question; `lead` is the preposition before the day it names."""
    plain = text.lower()
    if re.search(_SURELY_AHEAD, text):
        return AHEAD
    ahead = re.search(_AHEAD, plain) is not None
    if any(map(_is_past, re.findall(r"[a-z]+(?:['’]t)?", plain))):
        return NEAR if ahead and lead == "for" else PAST  # "what was planned for May" may still be to come
    if lead == "since":
        return PAST
    return AHEAD if ahead else NEAR


def of_fact(words: Sequence[str]) -> str:
    """The mode for a fact that names a day, from its words up to there in lower case, punctuation among them."""
    clause = list(words)[-_NEAR_WORDS:]
    for at in range(len(clause) - 1, -1, -1):
        word = clause[at]
        if word in ("will", "shall", "due", "deadline"):
            return AHEAD
        if word == "born":
            return PAST
        if word in _ANNOUNCES or word in ("to", ".", ";", ":"):
            return NEAR
        if _is_past(word):
            return PAST
    return NEAR


def _is_past(word: str) -> bool:
    word = word.replace("’", "'")
    return word in _PAST_WORDS or (len(word) > 3 and word.endswith("ed") and word not in _NOT_PAST)
