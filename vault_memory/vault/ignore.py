"""Owns the reading of filters: globs of the settings and Obsidian's excluded files as patterns for paths. Pure.

Obsidian's filters may be regular expressions, and a vault may come from anywhere (law 8): one whose matching can take
for ever is refused, and reported, before it meets a path.
"""

import fnmatch
import re
from collections.abc import Iterable
from typing import NamedTuple

MAX_FILTERED_CHARS = 500
"""A longer path counts as left out where an expression would have to be tried on it: its time grows steeply."""
MAX_REPEATS = 3
"""Unbounded repeats in a row, and one more for an expression that may begin anywhere: 500 characters take 0.2 s."""
MAX_WAYS = 1000
"""Ways through the alternatives and optional parts of an expression."""

_ESCAPED = re.compile(r"\\(?:[1-9]|.)|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_REPEAT = re.compile(r"([*+?]|\{\d*,?\d*\})[?+]?")


class IgnoreRules(NamedTuple):
    """Texts that a path may begin with, globs for the whole of it, expressions found in it; and what is amiss."""

    prefixes: tuple[str, ...] = ()
    globs: tuple[re.Pattern[str], ...] = ()
    expressions: tuple[re.Pattern[str], ...] = ()
    problems: tuple[str, ...] = ()

    def leave_out(self, path: str) -> bool:
        """Whether a relative path (of a folder with a `/` at its end) is left out."""
        if path.startswith(self.prefixes):
            return True
        if not (self.globs or self.expressions):  # most vaults: 20,000 paths come by
            return False
        too_long = len(path) > MAX_FILTERED_CHARS and bool(self.expressions)
        return too_long or any(g.match(path) for g in self.globs) or any(e.search(path) for e in self.expressions)


def filters(globs: Iterable[str], excluded: object, more: Iterable[str] = ()) -> IgnoreRules:
    """Read the settings' globs, Obsidian's `userIgnoreFilters` (any JSON) and more beginnings of paths."""
    prefixes, expressions, problems = list(more), [], []
    for text in excluded if isinstance(excluded, list) else []:
        if not isinstance(text, str) or not text:
            continue
        if len(text) > 2 and text[0] == text[-1] == "/":  # /regular expression/, as Obsidian reads it
            try:
                expressions.append(expression(text[1:-1]))
            except ValueError as error:
                problems.append(f"the filter `{text}` is not used: {error}")
        else:
            prefixes.append(text)
    return IgnoreRules(tuple(prefixes), tuple(p for g in globs for p in glob(g)), tuple(expressions), tuple(problems))


def glob(text: str) -> list[re.Pattern[str]]:
    """The patterns of a glob: `**/` also stands for no folder at all."""
    forms = dict.fromkeys((text, re.sub(r"(?:^|(?<=/))\*\*/", "", text)))
    return [re.compile(fnmatch.translate(form)) for form in forms if form]


def expression(text: str) -> re.Pattern[str]:
    """Compile a regular expression; raises ValueError for a wrong one, or one that may take for ever on some path."""
    try:
        compiled = re.compile(text, re.DOTALL)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"it is no regular expression ({error})") from error
    if _may_take_long(text):
        raise ValueError("its matching could take for ever; write it without a repeat of repeats or of alternatives")
    return compiled


def _may_take_long(text: str) -> bool:
    """Whether an expression repeats what has several ways itself, or has too many ways in a row.

    Strict rather than clever: the engine tries every way, so ways multiply; some harmless expressions are refused too.
    """
    if re.search(r"\\[1-9]|\(\?P=|\(\?\(", text):  # what refers back to a group
        return True
    text = _ESCAPED.sub("x", text)
    anchored = text.startswith("^") and "|" not in text
    repeats, ways = int(not anchored), 1
    groups = [[1, 0]]  # of each open group: its alternatives, and whether it has ways inside
    at = 0
    while at < len(text):
        repeat = _REPEAT.match(text, at)
        if repeat and repeat[0] != "{}":
            groups[-1][1] = 1
            repeats, ways = (repeats, ways * 2) if repeat[1] == "?" else (repeats + 1, ways)
            at = repeat.end()
            continue
        if text[at] == "(":
            groups.append([1, 0])
            at += text.startswith("(?", at)  # that mark is no repeat
        elif text[at] == "|":
            groups[-1][0] += 1
        elif text[at] == ")" and len(groups) > 1:
            alternatives, inside = groups.pop()
            ways *= alternatives
            inside |= alternatives > 1
            groups[-1][1] |= inside
            after = _REPEAT.match(text, at + 1)
            if inside and after and after[1] != "?":
                return True
        at += 1
    return repeats > MAX_REPEATS or ways > MAX_WAYS
