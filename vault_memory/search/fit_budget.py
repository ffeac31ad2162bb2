"""Packs ranked passages into a token budget, and counts what was left out and why. Pure.

`with_sources` first replaces a page's line by the lines it cites, if the search found those too.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import unquote

from vault_memory.markdown import provenance
from vault_memory.markdown.entities import link_name
from vault_memory.markdown.provenance import without_citation
from vault_memory.search.answer import Request
from vault_memory.store.view import FACTS, PAGE, Candidate, NoteInfo
from vault_memory.text import terms
from vault_memory.text.output import CONTROL

MARK_TOKENS = 16
"""The most tokens that ` ← older; see ` and a line number cost, besides the path."""

ORIGIN_TOKENS = 8
"""The most tokens that the mark of an outside origin costs (provenance.origin_suffix)."""

JOINER = " … "
JOINER_TOKENS = 2
ESCAPE_TOKENS = 4
"""The most extra tokens that a control character costs when printed as an escape."""

_PLAIN_GAPS = ("", " ", "  ")
"""Gaps kept as they are between two parts of a line: they cost no more tokens than the joiner; others might."""

FILL_SHARE = 0.5
"""A passage may fill the room left by better ones that did not fit only if it scores this share of the best of those.
"""

MAX_REPEATS = 4
"""How often the same words are taken if every note counts, so that a daily line leaves room for others."""

_ARTICLES = frozenset(("a", "an", "the"))


class Packing:
    """The passages taken, in rank order, as a list of parts per place; `omitted` counts the rest by reason.

    Besides its text a passage costs its note's header (`headers`, by note id) and the marks printed after it (`marks`,
    by passage id). `each_note` keeps the same words from other notes: a question asking when wants every time.
    `best_needs` is the number of tokens the best passage needs if it did not fit, else 0.
    """

    def __init__(
        self, request: Request, headers: Mapping[int, int] = {}, marks: Mapping[int, int] = {}, each_note: bool = False
    ) -> None:
        self.places: list[list[Candidate]] = []
        self.tokens = self.rendered_tokens = self.best_needs = 0
        self.omitted = {"over_budget": 0, "over_k": 0, "near_duplicates": 0}
        self.headers, self.marks = headers, marks
        self.scores: Mapping[int, float] = {}
        self._request, self._max_notes = request, MAX_REPEATS if each_note else 1

    def fill(self, ranked: Sequence[Candidate], scores: Mapping[int, float] = {}) -> "Packing":
        """Take passages in order while they fit, skipping one that does not for shorter ones nearly as good.

        Parts of one long line share a place, so that it is cited once. `scores` come from the ranking.
        """
        request, self.scores = self._request, scores
        handed_over = {said(text) for text in request.handed_over} - {()}
        notes_with: dict[tuple[str, ...], set[int]] = defaultdict(set)  # words taken → the notes they were taken from
        headed_notes: set[int] = set()
        parted_lines: dict[tuple[int, int], list[Candidate]] = {}  # note and line → the place of its parts
        least_score = -math.inf
        for passage in ranked:
            line, is_part = (passage.note_id, passage.start_line), passage.from_char is not None
            place = parted_lines.get(line) if is_part else None
            if place is None and request.k is not None and len(self.places) >= request.k:
                self.omitted["over_k"] += 1
                continue
            # Include the citation and the note's header unless already printed.
            tokens = passage.tokens + (JOINER_TOKENS if place else 0)
            rendered = tokens + (0 if passage.note_id in headed_notes else self.headers.get(passage.note_id, 0))
            if place is None:
                rendered += citation_tokens(passage) + self.marks.get(passage.id, 0)
            used = self.rendered_tokens + rendered if request.rendered else self.tokens + tokens
            # Do not fill the room of what did not fit with something much worse, or with a heading, which answers
            # nothing.
            score = scores.get(passage.id, 0.0)
            is_worse = score < least_score or (passage.section < 0 and self.omitted["over_budget"])
            if request.budget_tokens is not None and (used > request.budget_tokens or is_worse):
                self.omitted["over_budget"] += 1
                if passage is ranked[0]:
                    self.best_needs = rendered if request.rendered else tokens
                least_score = max(least_score, FILL_SHARE * score if score > 0 else least_score)
                continue
            words = _compared_words(passage)
            notes = notes_with[words]
            if passage.note_id in notes or len(notes) >= self._max_notes or words in handed_over:
                self.omitted["near_duplicates"] += 1
                continue
            notes.add(passage.note_id)
            headed_notes.add(passage.note_id)
            self.tokens += tokens
            self.rendered_tokens += rendered
            if place is None:
                self.places.append(place := [])
                if is_part:
                    parted_lines[line] = place
            place.append(passage)
        return self


def _compared_words(passage: Candidate) -> tuple[str, ...]:
    """Return what makes two passages near-duplicates: their words in order, without articles, marks and a fact's keys.

    Nothing looser: one more number, name or `not` makes it another statement.
    """
    text = terms.body(without_citation(passage.text), passage.kind not in ("note", PAGE)).casefold()
    if passage.kind == PAGE:
        text = text.partition(" — [")[0]  # without its citation
    return _words(text) or (text,)


def citation_tokens(passage: Candidate) -> int:
    """Return the most tokens that `L123 ` before each line, its line end and escaped control characters cost.

    cl100k_base makes one token of three digits; `L`, the space and the line end are at most one each.
    """
    lines = sum(3 + (len(str(n)) + 2) // 3 for n in range(passage.start_line, passage.end_line + 1))
    return lines + ESCAPE_TOKENS * len(CONTROL.findall(passage.text))


def said(text: str) -> tuple[str, ...]:
    """Return a line's words in order, without its mark, kind, keys and articles."""
    return _words(terms.body(text, True))


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in re.findall(r"\w+", text.casefold()) if word not in _ARTICLES)


def content(place: list[Candidate], line: str | None) -> tuple[str, bool]:
    """Return the text of one place, parts in line order, and whether it is only part of its line.

    `line` is the whole line if the place consists of parts; adjacent parts keep the line's own gap.
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


# --- pages and the lines they cite -----------------------------------------------------------------------------------

_CITED = re.compile(
    r"(?:\[\[(?P<wiki>[^\[\]|#]+)(?:#\^(?P<block>[^\[\]|]+))?(?:\|[^\[\]]*)?\]\]"
    r"|\[[^\[\]]*\]\((?P<file>[^()\s#]+)(?:#\^(?P<id>[^()\s]+))?\))(?P<lines>(?: |, )L\d+(?:, L\d+)*)?"
)


def with_sources(
    scores: Mapping[int, float], passages: Mapping[int, Candidate], notes: Mapping[int, NoteInfo]
) -> dict[int, float]:
    """Return the scores, best first, with each page line that cites others of these passages replaced by them.

    The cited lines rise to its score. A cited line that no longer says what the page says has since been changed.
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


def with_newest(
    scores: Mapping[int, float], passages: Mapping[int, Candidate], notes: Mapping[int, NoteInfo]
) -> dict[int, float]:
    """Return the scores with facts in the same words exchanged, so that the newest trusted one comes first.

    Only the first is packed, and an older one may differ in what is no word: its confidence, its origin.
    """
    same: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for i in scores:
        if passages[i].kind in FACTS:
            same[said(without_citation(passages[i].text))].append(i)

    def age(i: int) -> tuple[bool, str, str, int]:
        note = notes[passages[i].note_id]
        return provenance.is_trusted(passages[i].by), note.day or "", note.path, passages[i].start_line

    place = {i: i for i in scores}
    for ids in same.values():
        place.update(zip(ids, sorted(ids, key=age, reverse=True), strict=True))
    return {place[i]: score for i, score in scores.items()}


def _sources(text: str, by_note: Mapping[str, Iterable[tuple[str, Candidate]]]) -> Iterable[Candidate]:
    for name in {link_name(name) for name, _, _ in _citations(text)}:
        for path, passage in by_note.get(name, ()):
            if cites(text, path, passage.start_line, passage.text):
                yield passage


def cites(told: str, path: str, line: int, text: str) -> bool:
    """Return whether a page's line cites this line of a note, and the note still says it."""
    for name, block, lines in _citations(told):
        is_named = bool(block) and text.rstrip().endswith(f"^{block}")
        if name in (link_name(path), path.removesuffix(".md"), path) and (is_named or line in lines):
            from vault_memory.markdown.fact_text import TRACEABLE, traced  # lazy: few answers contain a page's line

            return traced(told.rpartition(" — ")[0], text) >= TRACEABLE
    return False


def _citations(told: str) -> Iterator[tuple[str, str, set[int]]]:
    """Yield the notes that a page's line cites at its end, each with its block id and lines."""
    before, _, citation = told.rpartition(" — ")
    for cited in _CITED.finditer(citation if before else ""):
        lines = {int(number) for number in re.findall(r"\d+", cited["lines"] or "")}
        yield cited["wiki"] or unquote(cited["file"]), cited["block"] or cited["id"] or "", lines
