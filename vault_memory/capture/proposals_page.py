"""The captured facts' block on the page of proposals: an open proposal is a line there, and nowhere else. Pure.

    - [ ] O(scope=project:tern) @Nora: Prefers dark themes. — sessions/claude-code/1a2b#m7 ^p-1a2b3c4d
      instead of ~~Prefers light themes.~~ — memory/2025-11-27.md#L12

A tick writes the fact, with the wording and scope of its line, into the log of the day it was said. `[-]`, or deleting
the line, refuses it for good; any other mark is reported. The closing marker lists the proposals as last written
(`cites`): if more than half are gone at once, or the block is as written, that is no answer. A line that the user
reworded stays as it is; if they delete its `instead of …`, the old fact stays valid beside the new one.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from vault_memory.markdown.provenance import without_citation
from vault_memory.reflect import core_proposals
from vault_memory.reflect.generated_blocks import Block, put_block, read_page, sha
from vault_memory.reflect.user_feedback import REFUSAL, TICK, ProposalLine, read_line

BLOCK = "captured"

PAGE_SCORE = 0.5
"""The score of a proposed page, by which it is ranked among facts."""

_PAGE = "page: "
_HEADING = "## From sessions and logs"
_NONE = "Nothing open."
_INTRO_STARTS = ("Tick what should be kept (`[x]`)", "Tick what should be remembered (`[x]`)")
_INTRO = (
    f"{_INTRO_STARTS[0]}, mark what should not (`[-]`). Applied within a minute while `memory watch` runs, else by the"
    " next command that writes. Without `scope=`: all projects."
)
_INSTEAD = re.compile(r"\s*instead of ~~(?P<text>.*)~~ — (?P<source>\S+)\s*$")
_OLD_REMARKS = re.compile(r"\s*\(kept for \S+; tick to have it hold everywhere\)\s*|\d+ more wait for another day\.")
_HELD = re.compile(r"\d+ held back; `memory proposals --held` lists them\.")
_ITEM = re.compile(r"\s*[-*+](?: |\[)")
_MARKS = re.compile(rb"^[ \t]*[-*+] ?\[[^\]\n]{1,5}\](?= .*\^p-[0-9a-f]{8})", re.MULTILINE)


class Proposal(NamedTuple):
    """A fact that waits for a tick: `text` is that of its bullet, `instead` the fact it replaces and where that
    stands."""

    name: str
    text: str
    score: float = 0.0
    day: str = ""
    """The day it was said; "" if only its citation tells."""
    instead: tuple[str, str] = ("", "")

    @property
    def is_page(self) -> bool:
        """Whether it proposes a page for a name rather than a fact."""
        return wanted_page(self.text) != ""

    @property
    def statement(self) -> str:
        """Its statement alone, without kind, names and citation."""
        return statement(self.text)

    @property
    def source(self) -> str:
        """The message or line that it cites."""
        return self.text.rpartition(" — ")[2]


class PageAnswers(NamedTuple):
    """What the page holds: the proposals' `lines` by name, each with its mark; the names of those that were deleted;
    how many are missing for an unknown reason (`lost`)."""

    lines: Mapping[str, ProposalLine] = {}
    deleted: frozenset[str] = frozenset()
    lost: int = 0
    others: Mapping[str, Sequence[str]] = {}
    """The user's own lines in the block, by the name of the proposal they follow ("": before the first)."""
    outside: frozenset[str] = frozenset()
    """The names of proposals whose line was moved out of the block."""
    instead: Mapping[str, tuple[str, str]] = {}
    """The facts to be replaced, with their sources, by the name of the proposal they stand below."""

    @property
    def ticked(self) -> Sequence[ProposalLine]:
        return [one for one in self.lines.values() if one.mark == TICK]

    @property
    def refused(self) -> Sequence[str]:
        return sorted({name for name, one in self.lines.items() if one.mark == REFUSAL} | self.deleted)

    @property
    def open(self) -> Sequence[Proposal]:
        """The proposals without a clear answer."""
        return [
            Proposal(name, one.text, instead=self.instead.get(name, ("", "")))
            for name, one in self.lines.items()
            if one.mark not in (TICK, REFUSAL)
        ]


def read_answers(path: str, data: bytes) -> PageAnswers:
    """What stands on the page; a ticked duplicate of a line wins, else a marked one. Raises ConflictError."""
    page = read_page(path, data, BLOCK)
    inside, others, instead = _read_block(page.block.lines if page.block else ())
    within = frozenset(one.name for one in inside)
    wanted = within | frozenset(page.block.cites if page.block else ())
    beyond = (read_line(text) for text in [*page.before.splitlines(), *page.after.splitlines()])
    found: dict[str, ProposalLine] = {}
    for one in (*beyond, *inside):
        if one and one.name in wanted:
            other = found.get(one.name)
            found[one.name] = other if other and (other.mark == TICK or (other.mark and not one.mark)) else one
    gone = wanted - found.keys()
    # A list item without a name may be any of the missing ones.
    is_unsure = any(_ITEM.match(text) for texts in others.values() for text in texts)
    is_edited = page.block is not None and not page.block.is_as_written and not is_unsure
    is_refusal = is_edited and (len(gone) == 1 or 2 * len(gone) <= len(wanted))
    deleted, lost = (gone, 0) if is_refusal else (frozenset[str](), len(gone))
    return PageAnswers(found, deleted, lost, others, frozenset(found) - within, instead)


def _read_block(
    lines: Sequence[str],
) -> tuple[list[ProposalLine], dict[str, list[str]], dict[str, tuple[str, str]]]:
    """The proposal lines, the user's own lines by the name they follow, and what is to be replaced by name."""
    found: list[ProposalLine] = []
    others: dict[str, list[str]] = {}
    instead: dict[str, tuple[str, str]] = {}
    name = ""
    for text in lines:
        if one := read_line(text):
            found.append(one)
            name = one.name
        elif replaced := _INSTEAD.match(text):
            instead[name] = (replaced["text"], replaced["source"])
        elif not _is_ours(text):
            others.setdefault(name, []).append(text)
    return found, {name: texts for name, texts in others.items() if any(map(str.strip, texts))}, instead


def _is_ours(text: str) -> bool:
    is_told = text in (_HEADING, _NONE) or text.startswith(_INTRO_STARTS)
    return is_told or bool(_HELD.fullmatch(text) or _OLD_REMARKS.fullmatch(text))


def compose(path: str, before: bytes | None, proposals: Sequence[Proposal], held: int, answers: PageAnswers) -> bytes:
    """The page with these proposals in its block, keeping the user's rewordings and their own lines.

    Raises ConflictError if the markers are broken.
    """
    page = read_page(path, before if before is not None else b"# Proposals\n", BLOCK)
    inside = [one for one in proposals if one.name not in answers.outside]
    texts = list(answers.others.get("", ()))
    for one in inside:
        texts.append(answers.lines[one.name].line if one.name in answers.lines else line(one))
        texts += ["  instead of ~~{}~~ — {}".format(*one.instead)] if one.instead[0] else []
        texts += answers.others.get(one.name, ())
    behind = {"", *(one.name for one in inside)}
    texts += (text for name, own in answers.others.items() if name not in behind for text in own)
    body = "\n".join(texts).strip("\n").split("\n") if texts else []
    lines = [_HEADING, "", *([_INTRO, "", *body] if body else [_NONE])]
    if held:
        lines += ["", f"{held} held back; `memory proposals --held` lists them."]
    if page.block is None and not texts and not held:
        return before if before is not None else b""
    if page.block and page.block.lines == tuple(lines):
        return before or b""
    cites = tuple(one.name for one in proposals)
    return put_block(page, BLOCK, Block(tuple(lines), sha(lines), cites))


def unticked(data: bytes) -> bytes:
    """A page whose proposals have no marks: as an undo puts it back, or its ticks would be carried out again."""
    return _MARKS.sub(lambda found: found[0][: found[0].index(b"[")] + b"[ ]", data)


def has_answers(path: str, data: bytes) -> bool:
    """Whether the page holds a tick, a refusal or a deletion that waits to be carried out; raises ConflictError."""
    answers = read_answers(path, data)
    core = (one.mark for one in core_proposals.lines_on_page(path, data))
    return bool(answers.ticked or answers.refused) or any(mark in (TICK, REFUSAL) for mark in core)


def line(proposal: Proposal) -> str:
    """The line of a proposal on the page."""
    return f"- [ ] {proposal.text} ^p-{proposal.name}"


def statement(text: str) -> str:
    """The statement of a bullet's text, without kind, names and citation."""
    return text.partition(": ")[2].rpartition(" — ")[0] or text


def name_of(text: str) -> str:
    """The id of a statement: a hash of its words, wherever it was said, so that what was refused is not asked again."""
    words = " ".join(re.findall(r"\w+", without_citation(text).casefold()))
    return hashlib.blake2b(words.encode("utf-8", "replace"), digest_size=4).hexdigest()


def older_names(text: str, source: str) -> set[str]:
    """The ids that earlier releases may have given to a statement: hashes of its place and its words from any on, as
    they cut off how a sentence began. The journal has no words of what was forgotten, but still its id."""
    starts = (found.start() for found in re.finditer(r"\b\w", text))
    tails = (tail for at in starts for tail in (text[at:], text[at].upper() + text[at + 1 :]))
    keys = (f"{source.partition('#')[0]}\0{tail}".encode("utf-8", "replace") for tail in tails)
    return {hashlib.blake2b(key, digest_size=4).hexdigest() for key in keys}


def propose_page(name: str, source: str) -> Proposal:
    """The proposal of a page for a name; `source` cites a line that contains it."""
    digits = hashlib.blake2b(f"page\0{name.casefold()}".encode("utf-8", "replace"), digest_size=4).hexdigest()
    return Proposal(digits, f"{_PAGE}{name}, named on several days — {source}", PAGE_SCORE)


def wanted_page(text: str) -> str:
    """The name for which a proposal's text proposes a page; "" if it states a fact."""
    name = text.removeprefix(_PAGE).partition(" — ")[0].partition(",")[0].strip()
    return name if text.startswith(_PAGE) else ""
