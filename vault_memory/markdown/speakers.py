"""How a line of a conversation begins, and whether a note reads as one. Pure."""

import re
from collections import Counter
from collections.abc import Collection

from vault_memory.markdown.note import BLANK, HEADING, TEXT, Note

SPEAKER = re.compile(
    r"\s*(?:[-*+>]\s+|\d{1,9}[.)]\s+)*"  # a list item, a quotation
    r"(?:\[[^\[\]]{1,30}\]\s*|\(?\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?:\s?[AaPp][Mm])?\)?[\s,–-]+"  # [10:32], 10:32 -
    r"|\d[\d/.-]{5,9},?\s+\d{1,2}:\d\d(?::\d\d)?(?:\s?[AaPp][Mm])?\s+-\s+)?"  # 12/03/24, 10:32 - (exported chats)
    r"(?:\*\*|__|@)?(?P<name>[^\W\d_a-z][\w.'’-]{0,30}(?: [^\W\d_a-z][\w.'’-]{0,30}){0,3})(?:\*\*|__)?"
    r":(?:\*\*|__)?(?:\s|$)"
)
"""How a line of a conversation begins: `- Name: …`, `**Name:** …`, `[10:32] Name Surname: …`."""

MAX_LABEL_CHARS = 160
"""So long are a mark, a time and a name before the colon at the most."""

LEAST_TURNS, LEAST_TOGETHER = 2, 5
"""Who speaks so often in a note is one of those who talk; of fewer turns together it is a log that quotes somebody."""

MODELS = frozenset(("assistant", "ai", "bot", "system", "model", "claude", "chatgpt", "gpt", "gemini", "copilot"))
"""Who talks as one of these is nobody, and of two turns it is a conversation."""

_NO_NAMES = frozenset(
    """note notes todo idea ideas lunch dinner breakfast weather mood q a question answer update updates decision
    decisions action actions summary agenda tldr pros cons result results goal goals plan status topic fact facts tip
    warning example source sources reference references definition date time place location attendees participants ps
    today yesterday tomorrow morning afternoon evening monday tuesday wednesday thursday friday saturday sunday next
    done wins sleep work home health food money reading links weekend week later also me myself highlight highlights
    gratitude garden kitchen house car boat office school family kids finance training sport music travel writing review
    retro retrospective standup decided agreed learned learnt finished noticed discussed shipped planned bought
    yes no ok so well and but then first second finally""".split()  # noqa: SIM905 - long
)
_SPOKEN = re.compile(r"\b(?:I|[Yy]ou|[Ww]e|[Mm]y|me|us)\b|\?")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")


def turn(text: str) -> re.Match[str] | None:
    """How a line begins that may be somebody's turn; its group `name` says whose."""
    return SPEAKER.match(text) if ":" in text[:MAX_LABEL_CHARS] else None


def _may_be_name(label: str) -> bool:
    """Whether what stands before a colon may be somebody's name."""
    return label.casefold() not in _NO_NAMES


def speaker(text: str) -> str:
    """Who says a line of a conversation (`- Name: …`), case folded, or ""."""
    match = turn(text)
    return match["name"].casefold() if match else ""


def talking(note: Note) -> frozenset[str]:
    """Who talks in a note that reads as a conversation, case folded; nobody in any other.

    Two or more labels that may be names stand on two or more lines each, on five or more together, and on half of the
    lines that have a list mark or a label; a quarter of them speak of I, you or we, or ask: labels of topics
    (`Garden:`) do not.
    """
    found: Counter[str] = Counter()
    spoken: Counter[str] = Counter()
    lines = 0
    for number, line in enumerate(note.lines, 1):
        if note.states[number - 1] != TEXT or line.lstrip().startswith(">") or (note.owned and note.is_owned(number)):
            continue
        name = speaker(line)
        lines += bool(name) or _ITEM.match(line) is not None
        if name and name not in _NO_NAMES:
            found[name] += 1
            spoken[name] += _SPOKEN.search(line) is not None
    often = {name: count for name, count in found.items() if count >= LEAST_TURNS}
    turns = sum(often.values())
    least = LEAST_TOGETHER if MODELS.isdisjoint(often) else LEAST_TURNS
    is_talk = len(often) > 1 and turns >= least and 2 * turns >= lines
    is_spoken = 4 * sum(map(spoken.__getitem__, often)) >= turns
    return frozenset(often) if is_talk and is_spoken else frozenset()


class Turns:
    """Whose words the lines of a conversation are, asked for from the first line to the last.

    The line below a turn goes on with it. What stands apart from it in its section may be anybody's.
    """

    def __init__(self, names: Collection[str]) -> None:
        self._names = names
        self._section_has_turns = False
        self.speaker = ""
        """Whose turn goes on, as written; "" for nobody's."""
        self.is_quoted = False
        """Whether what goes on stands behind the name of somebody else, though the note is no conversation."""

    def take(self, line: str, state: int) -> tuple[int, bool]:
        """Go to the next line; says where its text begins, and whether it is known whose words they are."""
        if state in (BLANK, HEADING):
            self.speaker, self.is_quoted = "", False
            self._section_has_turns = self._section_has_turns and state == BLANK
            return 0, False
        match = turn(line)
        is_item = _ITEM.match(line) is not None and not line[0].isspace()
        self.is_quoted = _may_be_name(match["name"]) if match else self.is_quoted and not is_item
        if match and match["name"].casefold() in self._names:
            self.speaker, self._section_has_turns, self.is_quoted = match["name"], True, False
            return match.end(), True
        if self.speaker and is_item:
            self.speaker = ""
        return 0, not self._section_has_turns or bool(self.speaker)
