"""Composes the captured facts' block on the page of proposals and reads the user's answers from it. Pure.

    - [ ] O(scope=project:tern) @Nora: Prefers dark themes. — sessions/claude-code/1a2b#m7 ^p-1a2b3c4d
      instead of ~~Prefers light themes.~~ — memory/2025-11-27.md#L12

A tick writes the fact, with the wording and scope of its line, into the log of the day it was said. `[-]`, or deleting
the line, refuses it for good; any other mark is reported. Missing lines do not count as refused if more than half are
gone at once, or if the block is unedited: the page may be older than the journal. A line that the user reworded stays
as it is; if they delete its `instead of …`, the old fact stays valid beside the new one.
"""

import hashlib
import re
from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

from vault_memory.reflect.generated_blocks import Block, Page, put_block, read_page, sha
from vault_memory.reflect.user_feedback import REFUSAL, TICK, ProposalLine, read_line

BLOCK = "captured"

PAGE_SCORE = 0.5
"""The score of a proposed page, by which it is ranked among facts."""

_PAGE = "page: "
_HEADING = "## From sessions and logs"
_NONE = "Nothing open."
_INTRO_START = "Tick what should be remembered (`[x]`)"
_INTRO = (
    f"{_INTRO_START}, mark what should not (`[-]`); it happens at the next `memory capture`."
    " What has no `scope=` will hold everywhere."
)
_INSTEAD = re.compile(r"\s*instead of ~~.*~~ — \S+\s*$")
_KEPT_FOR = re.compile(r"\s*\(kept for \S+; tick to have it hold everywhere\)\s*")
_ITEM = re.compile(r"\s*[-*+](?: |\[)")
_HELD = re.compile(r"\d+ more wait for another day\.")


class OpenProposal(NamedTuple):
    """A proposal; `name` is its id, `text` the fact as the text of a bullet, `day` the day it was said."""

    name: str
    text: str
    day: str
    score: float = 0.0
    proposed: str = ""
    """The day it was put on the page; "" if not yet."""
    found: str = ""
    """The day it was found."""
    is_personal: bool = False
    """Whether it is about the speaker or their preferences: once ticked, reflect asks whether to add it to the core."""
    replaces: int = 0
    """The key of the statement it replaces (`statement_key`); 0 for none."""
    state: str = ""
    """The journal's last event: "proposed", "held", "accepted", "declined" or "folded"."""
    kept_for: str = ""
    """The scope in which it is already kept: the proposal is to make it hold everywhere."""
    is_unticked: bool = False
    """Whether the run that accepted it was undone: the tick restored with the page no longer counts."""

    @property
    def is_page(self) -> bool:
        """Whether it proposes a page for a name rather than a fact."""
        return wanted_page(self.text) != ""

    @property
    def remark(self) -> str:
        """Where it holds once ticked, in words; "" if its line says so."""
        remark = f"kept for {self.kept_for}; tick to have it hold everywhere"
        return remark if self.kept_for else "everywhere" if self.is_personal else ""

    @property
    def statement(self) -> str:
        """Its statement alone, without kind, names and citation."""
        return statement(self.text)

    @property
    def source(self) -> str:
        """The message or line that it cites."""
        return self.text.rpartition(" — ")[2]


class PageAnswers(NamedTuple):
    """The user's answers: the proposals' `lines` that are still on the page, by name, each with its mark; the names of
    those that they deleted; and how many are missing for an unknown reason (`lost`)."""

    lines: Mapping[str, ProposalLine] = {}
    deleted: frozenset[str] = frozenset()
    lost: int = 0
    others: Mapping[str, Sequence[str]] = {}
    """The user's own lines in the block, by the name of the proposal they follow ("": before the first)."""
    outside: frozenset[str] = frozenset()
    """The names of proposals whose line was moved out of the block."""
    beside: frozenset[str] = frozenset()
    """The names of proposals without an `instead of …` line: accepting them replaces nothing."""

    @property
    def ticked(self) -> Sequence[ProposalLine]:
        return [one for one in self.lines.values() if one.mark == TICK]

    @property
    def refused(self) -> Sequence[str]:
        return sorted({name for name, one in self.lines.items() if one.mark == REFUSAL} | self.deleted)


def read_answers(page: Page, shown: Sequence[OpenProposal]) -> PageAnswers:
    """The answers to the `shown` proposals, from anywhere on the page; a ticked duplicate wins, else a marked one."""
    wanted = {one.name for one in shown}
    inside, others, instead = _read_block(page.block.lines if page.block else ())
    beyond = map(read_line, [*page.before.splitlines(), *page.after.splitlines()])
    found: dict[str, ProposalLine] = {}
    for one in (*beyond, *inside):
        if one and one.name in wanted:
            other = found.get(one.name)
            found[one.name] = other if other and (other.mark == TICK or (other.mark and not one.mark)) else one
    within = frozenset(one.name for one in inside)
    gone = wanted - found.keys()
    # A list item without a name may be any of the missing ones.
    is_unsure = any(_ITEM.match(text) for texts in others.values() for text in texts)
    is_edited = page.block is not None and not page.block.is_as_written and not is_unsure
    is_refusal = is_edited and (len(gone) == 1 or 2 * len(gone) <= len(wanted))
    deleted, lost = (frozenset(gone), 0) if is_refusal else (frozenset[str](), len(gone))
    return PageAnswers(found, deleted, lost, others, frozenset(found) - within, within - instead)


def read_unknown(page: Page, known: Container[str]) -> list[OpenProposal]:
    """The proposals in the block that are not among the known ones: their journal is on another device, or lost."""
    inside, _, _ = _read_block(page.block.lines if page.block else ())
    texts = {one.name: one.text for one in inside if one.name not in known}
    return [OpenProposal(name, text, _day_of(text.rpartition(" — ")[2])) for name, text in texts.items()]


def _day_of(source: str) -> str:
    """The day of the cited log; "" for a session."""
    day = re.search(r"\d{4}-\d\d-\d\d", source)
    return day[0] if day else ""


def _read_block(lines: Sequence[str]) -> tuple[list[ProposalLine], dict[str, list[str]], frozenset[str]]:
    """The proposal lines, the user's own lines by the name they follow, and the names with an `instead of` line."""
    found: list[ProposalLine] = []
    others: dict[str, list[str]] = {}
    instead: set[str] = set()
    name = ""
    for text in lines:
        if one := read_line(text):
            found.append(one)
            name = one.name
        elif _INSTEAD.match(text):
            instead.add(name)
        elif _KEPT_FOR.fullmatch(text):
            continue
        elif text not in (_HEADING, _NONE) and not text.startswith(_INTRO_START) and not _HELD.fullmatch(text):
            others.setdefault(name, []).append(text)
    return found, {name: texts for name, texts in others.items() if any(map(str.strip, texts))}, frozenset(instead)


def compose(
    path: str, before: bytes | None, proposals: Sequence[OpenProposal], held: int, answers: PageAnswers,
    old: Mapping[int, tuple[str, str]],
) -> bytes:  # fmt: skip
    """The page with these proposals in its block, keeping the user's rewordings and their own lines.

    `old` are the statements to be replaced, with their sources, by key (`statement_key`). Raises ConflictError if the
    markers are broken.
    """
    page = read_page(path, before if before is not None else b"# Proposals\n", BLOCK)
    inside = [one for one in proposals if one.name not in answers.outside]
    texts = list(answers.others.get("", ()))
    for one in inside:
        texts.append(answers.lines[one.name].line if one.name in answers.lines else line(one))
        if one.replaces in old and one.name not in answers.beside:
            texts.append("  instead of ~~{}~~ — {}".format(*old[one.replaces]))
        texts += [f"  ({one.remark})"] if one.kept_for else []
        texts += answers.others.get(one.name, ())
    behind = {"", *(one.name for one in inside)}
    texts += (text for name, own in answers.others.items() if name not in behind for text in own)
    body = "\n".join(texts).strip("\n").split("\n") if texts else []
    lines = [_HEADING, "", *([_INTRO, "", *body] if body else [_NONE])]
    if held:
        lines += ["", f"{held} more wait for another day."]
    if page.block is None and not texts and not held:
        return before if before is not None else b""
    if page.block and page.block.lines == tuple(lines):
        return before or b""
    return put_block(page, BLOCK, Block(tuple(lines), sha(lines)))


def line(proposal: OpenProposal) -> str:
    """The line of a proposal on the page."""
    return f"- [ ] {proposal.text} ^p-{proposal.name}"


def statement(text: str) -> str:
    """The statement of a bullet's text, without kind, names and citation."""
    return text.partition(": ")[2].rpartition(" — ")[0] or text


def propose_page(name: str, source: str) -> OpenProposal:
    """The proposal of a page for a name; `source` cites a line that contains it."""
    digits = hashlib.blake2b(f"page\0{name.casefold()}".encode("utf-8", "replace"), digest_size=4).hexdigest()
    return OpenProposal(digits, f"{_PAGE}{name}, named on several days — {source}", "", PAGE_SCORE)


def wanted_page(text: str) -> str:
    """The name for which a proposal's text proposes a page; "" if it states a fact."""
    name = text.removeprefix(_PAGE).partition(" — ")[0].partition(",")[0].strip()
    return name if text.startswith(_PAGE) else ""
