"""Packs ranked passages into a budget: what is handed over, and what was left out and why. Pure.

Before that, the lines a page's line was told from stand in its place, where the search has found them too.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote

from vault_memory.markdown.entities import link_name
from vault_memory.markdown.provenance import without_citation
from vault_memory.search.answer import Request
from vault_memory.store.view import PAGE, Candidate, NoteInfo
from vault_memory.text import terms
from vault_memory.text.output import CONTROL

MARK_TOKENS = 16
"""The most that ` ← older; see ` and a line number cost, besides the path."""

ORIGIN_TOKENS = 8
"""The most that saying of a passage that it came from outside costs (provenance.origin_suffix)."""

JOINER = " … "
JOINER_TOKENS = 2
ESCAPE_TOKENS = 4
"""The most that a control character costs more when it is printed as an escape."""

_PLAIN_GAPS = ("", " ", "  ")
"""What may stand between two parts joined as the line has them: it costs no more than the joiner; other space might."""

FILL_SHARE = 0.5
"""Least score of a passage, against the best that did not fit, for it to stand in its place."""

MOST_TIMES = 4
"""So often the same words are taken where each note counts: a daily line leaves room for others."""

_ARTICLES = frozenset(("a", "an", "the"))


class Packing:
    """What was taken, in rank order, each a list of passages of one place; and why the rest was not.

    Besides its text a passage costs `headers`, naming its note, by note id, and `marks`, what is printed behind it.
    `each_note` keeps the same words from another note: who asks when wants every time. `best_needs` are the tokens
    that the best passage of all needs, when it did not fit; else 0.
    """

    def __init__(
        self, request: Request, headers: Mapping[int, int] = {}, marks: Mapping[int, int] = {}, each_note: bool = False
    ) -> None:
        self.places: list[list[Candidate]] = []
        self.tokens = self.rendered_tokens = 0
        self.over_budget = self.over_k = self.near_duplicates = self.best_needs = 0
        self.headers, self.marks = headers, marks
        self._request, self._each_note = request, each_note
        self._least_score = float("-inf")
        self._notes: set[int] = set()
        self._lines: dict[tuple[int, int], list[Candidate]] = {}
        self._times: Counter[tuple[str, ...]] = Counter()
        self._said: set[tuple[object, ...]] = set()
        self._before = {said(text) for text in request.handed_over} - {()}

    def fill(self, ranked: Iterable[Candidate], scores: Mapping[int, float] = {}) -> "Packing":
        """Take passages in order while they fit; one that does not is passed over for shorter ones nearly as good.

        Parts of one long line share a place, so that it is cited once. `scores` are those of the ranking.
        """
        for n, passage in enumerate(ranked):
            self._take(passage, scores.get(passage.id, 0.0), is_best=n == 0)
        return self

    def _take(self, passage: Candidate, score: float, is_best: bool) -> None:
        request, line = self._request, (passage.note_id, passage.start_line)
        part_of = self._lines.get(line) if passage.from_char is not None else None
        if part_of is None and request.k is not None and len(self.places) >= request.k:
            self.over_k += 1
            return
        # With its citation and its note's name where they are still to be printed.
        tokens = passage.tokens + (JOINER_TOKENS if part_of else 0)
        rendered = tokens + (0 if passage.note_id in self._notes else self.headers.get(passage.note_id, 0))
        if part_of is None:
            rendered += citation_tokens(passage) + self.marks.get(passage.id, 0)
        used = self.rendered_tokens + rendered if request.rendered else self.tokens + tokens
        # Nothing much worse stands in the place of what did not fit, nor a heading, which answers nothing.
        is_worse = score < self._least_score or (passage.section < 0 and self.over_budget)
        if request.budget_tokens is not None and (used > request.budget_tokens or is_worse):
            self.over_budget += 1
            if is_best:
                self.best_needs = rendered if request.rendered else tokens
            self._least_score = max(self._least_score, FILL_SHARE * score if score > 0 else self._least_score)
            return
        # What it says: its words in order without articles, marks and a fact's keys. Nothing looser: one number, name
        # or `not` more makes it another statement.
        text = terms.body(without_citation(passage.text), passage.kind not in ("note", PAGE)).casefold()
        if passage.kind == PAGE:
            text = text.partition(" — [")[0]  # where it was told from
        words = _words_of(text) or (text,)
        named = (passage.note_id if self._each_note else None, *words)
        is_worn = self._times[words] >= MOST_TIMES
        if named in self._said or words in self._before or is_worn:
            self.near_duplicates += 1
            return
        self._said.add(named)
        self._times[words] += 1
        self.tokens += tokens
        self.rendered_tokens += rendered
        self._notes.add(passage.note_id)
        if part_of is not None:
            part_of.append(passage)
            return
        self.places.append(place := [passage])
        if passage.from_char is not None:
            self._lines[line] = place


def citation_tokens(passage: Candidate) -> int:
    """The most that `L123 ` before each line, its line end and escapes for control characters cost.

    cl100k_base makes one token of three digits; `L`, the space and the line end are one each at the most.
    """
    lines = sum(3 + (len(str(n)) + 2) // 3 for n in range(passage.start_line, passage.end_line + 1))
    return lines + ESCAPE_TOKENS * len(CONTROL.findall(passage.text))


def said(text: str) -> tuple[str, ...]:
    """What a line says, whatever its mark, kind and keys: its words in order without articles."""
    return _words_of(terms.body(text, True))


def _words_of(text: str) -> tuple[str, ...]:
    return tuple(word for word in re.findall(r"\w+", text.casefold()) if word not in _ARTICLES)


def content(place: list[Candidate], line: str | None) -> tuple[str, bool]:
    """The text of one place and whether it is only part of its line; parts stand in the line's order.

    `line` is the whole line where the place is parts of one: neighbouring parts are joined as the line has them.
    """
    if line is None or place[0].from_char is None:
        return place[0].text, False
    texts: list[str] = []
    end = -1
    for part in sorted(place, key=lambda p: p.from_char or 0):
        begin, stop = part.from_char or 0, part.to_char or 0
        if texts and line[end:begin] in _PLAIN_GAPS:
            texts[-1] += line[end:begin] + part.text
        else:
            texts.append(part.text)
        end = stop
    joined = JOINER.join(texts)
    return joined, joined.strip() != line.strip()


# --- pages and what they were told from ------------------------------------------------------------------------------

_CITED = re.compile(
    r"(?:\[\[(?P<wiki>[^\[\]|#]+)(?:#\^(?P<block>[^\[\]|]+))?(?:\|[^\[\]]*)?\]\]"
    r"|\[[^\[\]]*\]\((?P<file>[^()\s#]+)(?:#\^(?P<id>[^()\s]+))?\))(?P<lines>(?: |, )L\d+(?:, L\d+)*)?"
)


def with_sources(
    scores: Mapping[int, float], passages: Mapping[int, Candidate], notes: Mapping[int, NoteInfo]
) -> dict[int, float]:
    """The scores, best first, without the lines of pages that cite others of these passages; those rise instead.

    A cited line that no longer says what the page says of it is another line by now.
    """
    pages = [passages[i] for i in scores if passages[i].kind == PAGE]
    if not pages:
        return dict(scores)
    by_note: dict[str, list[tuple[str, Candidate]]] = {}
    for passage in (passages[i] for i in scores):
        if passage.kind != PAGE:
            path = notes[passage.note_id].path
            by_note.setdefault(link_name(path), []).append((path, passage))
    raised = dict(scores)
    for page in pages:
        if sources := list(_sources(page.text, by_note)):
            score = raised.pop(page.id)
            raised |= {source.id: max(score, raised[source.id]) for source in sources}
    return dict(sorted(raised.items(), key=lambda pair: -pair[1]))


def _sources(text: str, by_note: Mapping[str, Iterable[tuple[str, Candidate]]]) -> Iterable[Candidate]:
    for name in {link_name(name) for name, _, _ in _citations(text)}:
        for path, passage in by_note.get(name, ()):
            if cites(text, path, passage.start_line, passage.text):
                yield passage


def cites(told: str, path: str, line: int, text: str) -> bool:
    """Whether a page's line was told from this line of a note, and the note still says it."""
    for name, block, lines in _citations(told):
        is_named = bool(block) and text.rstrip().endswith(f"^{block}")
        if name in (link_name(path), path.removesuffix(".md"), path) and (is_named or line in lines):
            from vault_memory.markdown.fact_text import TRACEABLE, traced  # lazy: few answers hold a page's line

            return traced(told.rpartition(" — ")[0], text) >= TRACEABLE
    return False


def _citations(told: str) -> Iterator[tuple[str, str, set[int]]]:
    """The notes that a page's line cites at its end, with the block id and the lines of each."""
    before, _, citation = told.rpartition(" — ")
    for cited in _CITED.finditer(citation if before else ""):
        lines = {int(number) for number in re.findall(r"\d+", cited["lines"] or "")}
        yield cited["wiki"] or unquote(cited["file"]), cited["block"] or cited["id"] or "", lines
