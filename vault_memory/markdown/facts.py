"""Parses the Retain sections of a note into facts and format problems.

    - <KIND>[(key=value, …)] [@Entity …]: <narrative, self-contained text> [^block-id]

Pure. A bullet that seems meant as a fact but is malformed is never dropped: it stays plain text (the index has every
line) and is reported. The reference is the Guide's page "Vault format".
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from vault_memory.markdown import entities, provenance
from vault_memory.markdown.links import block_id
from vault_memory.markdown.note import BLANK, CODE, COMMENT, HEADING, TEXT, Note, Problem, is_note_path
from vault_memory.text import date_finder
from vault_memory.text.calendar_days import Span
from vault_memory.text.date_grammar import parse_t
from vault_memory.text.scope_syntax import NO_SCOPE, agent_project, is_scope, normal_scope

KINDS = {"W": "world", "B": "experience", "O": "opinion", "S": "observation"}
"""The letter of each kind of fact and its name in answers."""

DEFAULT_OPINION_CONFIDENCE = 0.7


@dataclass(frozen=True, slots=True)
class RetainFact:
    """One Retain bullet; lines are 1-based, `confidence` and `importance` are in 0..1 or None if not given."""

    kind: str
    start_line: int
    end_line: int
    narrative: str
    entities: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()
    """The entities before the colon: what the fact is about."""
    confidence: float | None = None
    importance: float | None = None
    occurred: Span | None = None
    scope: str | None = None
    block_id: str | None = None
    by: str | None = None
    """Its origin (provenance.py), if the bullet says so."""
    supersedes: str | None = None
    """The fact it replaces, as `note#block-id`, or `#block-id` for one in the same note."""


class ListItem(NamedTuple):
    """A list item: its lines, and its text after the marker and task box, continuation lines joined by a space."""

    start_line: int
    end_line: int
    text: str


_DECISION = re.compile(
    r"\b(?:decid(?:e|es|ed)|decision|chose|chosen|agreed|must(?:n't)?|never|always|allergic|deadline|signed|promised?"
    r"|important|critical|forbidden|required|password|emergency|root cause|the cause of)\b",
    re.I,
)

BULLET = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?(.*)$")
_ENTITY = rf"@(?:\[\[[^\[\]]+\]\]|{entities.WORD})"
# Possessive throughout: with backtracking a long run of spaces without a colon takes cubic time.
HEAD = re.compile(
    r"([WBOS])(?!\w)[ \t]*+(?:\(([^()]*+)\))?"
    rf"((?:[ \t]*+{_ENTITY})?+(?:[ \t]*+(?<!\w){_ENTITY})*+)"
    r"([^:]*+):[ \t]*(.*)$"
)
# Seems meant as a fact: a kind, or a word that could be one, followed by keys or an entity.
_MEANT_AS_FACT = re.compile(r"(?:~~)?(?P<kind>\w{1,2})[ \t]*+(?:\([^()]*+\)[ \t]*+)?(?:@[^:]*+)?:|[WBOS][ \t]*+[(@]")
_NO_SPACE = re.compile(r"[ \t]*[-*+](?:[WBOS])[ \t]*+(?:\([^()]*+\)[ \t]*+)?(?:@[^:]*+)?:")
_FACT_REFERENCE = re.compile(r"\[\[(?P<note>[^\[\]#|]*)#\^(?P<id>[\w-]+)\]\]|\^(?P<own>[\w-]+)")
_LINK = re.compile(r"\[\[[^\[\]]*\]\]")  # "Evidence: [[2025-10-29]]" cites a day; it does not say when it happened


def facts(note: Note, mentioned: date | None, problems: list[Problem] | None = None) -> Iterator[RetainFact]:
    """Yield the note's facts in order, relative dates resolved against `mentioned`; collects `problems`."""
    problems = [] if problems is None else problems
    for start, end in _sections(note):
        for bullet in bullets(note, start, end):
            try:
                fact = _fact(note, bullet, mentioned, problems)
            except _MalformedError as error:
                problems.append(Problem(note.path, bullet.start_line, f"{error}; indexed as plain text"))
            else:
                if fact:
                    yield fact
        for number in range(start, end + 1):
            line = note.lines[number - 1]
            if line.lstrip(" \t")[:1] in ("-", "*", "+") and _NO_SPACE.match(line) and _holds_facts(note, number):
                problems.append(Problem(note.path, number, "no space after the bullet: plain text"))


def _sections(note: Note) -> Iterator[tuple[int, int]]:
    """Yield the (first, last) line of each Retain section's body; a section nested in another is not yielded again."""
    if not is_note_path(note.path) or agent_project(note.path):
        return  # an agent's own notes are no evidence: they may repeat what it was given from here
    last = len(note.lines)
    if note.path == note.layout.opinions:
        yield 1, last
        return
    done = 0
    for index, heading in enumerate(note.headings):
        if heading.text.casefold() != "retain" or heading.line <= done:
            continue
        done = next((h.line - 1 for h in note.headings[index + 1 :] if h.level <= heading.level), last)
        yield heading.line + 1, done


def bullets(note: Note, start: int, end: int) -> Iterator[ListItem]:
    """Yield the list items of lines `start`..`end`; indented lines belong to one unless they seem meant as facts."""
    number = start
    while number <= end:
        match = BULLET.match(note.lines[number - 1]) if _holds_facts(note, number) else None
        if match and number in note.uncommented:
            match = BULLET.match(note.shown(number))  # a comment may hide the bullet itself
        if not match:
            number += 1
            continue
        indent, parts, last = len(match[1].expandtabs(4)), [match[2].strip()], number
        while last < end and _continues(note, last + 1, indent):
            last += 1
            parts.append(note.shown(last).strip())
        yield ListItem(number, last, " ".join(parts).strip())
        number = last + 1


def _holds_facts(note: Note, number: int) -> bool:
    return note.states[number - 1] == TEXT and not (note.owned and note.is_owned(number))


def _continues(note: Note, number: int, indent: int) -> bool:
    line = note.lines[number - 1]
    if note.states[number - 1] in (BLANK, CODE, COMMENT, HEADING):
        return False
    lead = line[: len(line) - len(line.lstrip(" \t"))]
    if len(lead.expandtabs(4)) <= indent:
        return False
    inner = BULLET.match(line)
    return not (inner and _MEANT_AS_FACT.match(inner[2]))


class _MalformedError(Exception):
    """Why a bullet that was meant as a fact is read as plain text."""


def _fact(note: Note, bullet: ListItem, mentioned: date | None, problems: list[Problem]) -> RetainFact | None:
    """Read one bullet; None for plain text, raises _MalformedError if it was meant as a fact."""
    match = HEAD.match(bullet.text)
    if reason := _malformed(bullet.text, match):
        raise _MalformedError(reason)
    if not match:
        return None
    values = read_keys(match[2] or "")
    occurred = parse_t(values["t"]) if "t" in values else None
    if "t" in values and occurred is None:
        raise _MalformedError(f"`t={values['t']}` is not an ISO date or from/to")
    named = _FACT_REFERENCE.fullmatch(values["supersedes"]) if "supersedes" in values else None
    if "supersedes" in values and not named:
        what = "names no fact: write `[[note#^block-id]]` or `^block-id`"
        raise _MalformedError(f"`supersedes={values['supersedes']}` {what}")
    confidence, scope = _number(values, "c"), values.get("scope")
    identifier = block_id(match[5])
    narrative = match[5][: match[5].rindex("^")].rstrip() if identifier else match[5].strip()
    head = list(entities.mentions(match[3]))
    by = provenance.normal(values["by"]) if "by" in values else None
    notices = _notices(match[4].strip(), head, by, scope)
    problems += (Problem(note.path, bullet.start_line, message) for message in notices)
    return RetainFact(
        kind=match[1],
        start_line=bullet.start_line,
        end_line=bullet.end_line,
        narrative=narrative,
        entities=tuple({entities.slug(n): n for n in (*entities.mentions(narrative), *head)}.values()),
        heads=tuple(head),
        block_id=identifier,
        confidence=DEFAULT_OPINION_CONFIDENCE if confidence is None and match[1] == "O" else confidence,
        importance=_number(values, "i"),
        occurred=occurred or date_finder.occurred(_LINK.sub(" ", narrative), mentioned),
        scope=normal_scope(scope) if scope else None,
        by=by,
        supersedes=f"{named['note'] or ''}#{named['id'] or named['own']}" if named else None,
    )


def _malformed(text: str, match: re.Match[str] | None) -> str:
    """Why a bullet that was meant as a fact is not one, or ""."""
    if match:
        rest = match[4].strip()
        if rest and not match[3] and (rest[0].isalpha() or rest.startswith("[[")):
            return f"`{rest}` stands before the colon: an entity is written `@Name` or `@[[Name]]`"
        if rest and ("=" in rest or not match[4][0].isspace()):
            return f"`{rest}` does not belong before the colon"
        return "" if match[5].strip() else "a fact without text"
    meant = _MEANT_AS_FACT.match(text)
    if not meant:
        return ""
    if text.startswith("~~"):
        return "a struck-out fact"
    kind = meant["kind"]
    if kind and kind not in KINDS:
        marked = "@" in meant[0] or "(" in meant[0]
        return f"`{kind}` is not a kind (W, B, O or S)" if marked else ""
    return "not a fact: expected `KIND(keys) @Entity: text`" if "@" in text or "(" in text else ""


def _notices(rest: str, names: list[str], by: str | None, scope: str | None) -> Iterator[str]:
    if by == provenance.UNCLEAR:
        yield f"`by=` is none of {provenance.KNOWN}: it counts as from outside"
    if scope and not is_scope(scope):
        yield f"`scope={scope}` {NO_SCOPE}"
    if rest and names:
        yield f"`@{names[-1]} {rest}` gives the entity {names[-1]}: write `@[[{names[-1]} {rest}]]`"


def read_keys(text: str) -> dict[str, str]:
    """Read a head's `key=value, …`; raises _MalformedError."""
    values: dict[str, str] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        key, equals, value = (x.strip() for x in part.partition("="))
        if not equals or key not in ("c", "i", "t", "scope", "by", "supersedes"):
            hint = "; a decimal number is written 0.9" if part.isdigit() else ""
            raise _MalformedError(f"`{part}` is not a key (c=, i=, t=, scope=, by=, supersedes=){hint}")
        if key in values:
            raise _MalformedError(f"`{key}=` is there twice")
        values[key] = value
    if values.get("scope") == "":
        raise _MalformedError("`scope=` names no scope")
    return values


def _number(values: dict[str, str], key: str) -> float | None:
    """The value of a key, a number from 0 to 1, or None if absent; raises _MalformedError."""
    if key not in values:
        return None
    if re.fullmatch(r"\d*\.?\d+|\d+\.", values[key], re.ASCII) and float(values[key]) <= 1:
        return float(values[key])
    raise _MalformedError(f"`{key}={values[key]}` is not a number from 0 to 1")


@lru_cache(maxsize=1 << 12)
def is_decision(text: str) -> bool:
    """Whether a fact is about a decision, or something that must not be forgotten."""
    return _DECISION.search(text) is not None
