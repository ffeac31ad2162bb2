"""Which lines a page's line was told from: where the search has found them too, they stand in its place. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote

from vault_memory.markdown.entities import link_name
from vault_memory.markdown.fact_text import TRACEABLE, traced
from vault_memory.store.view import PAGE, Candidate, NoteInfo

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
            return traced(told.rpartition(" — ")[0], text) >= TRACEABLE
    return False


def _citations(told: str) -> Iterator[tuple[str, str, set[int]]]:
    """The notes that a page's line cites at its end, with the block id and the lines of each."""
    before, _, citation = told.rpartition(" — ")
    for cited in _CITED.finditer(citation if before else ""):
        lines = {int(number) for number in re.findall(r"\d+", cited["lines"] or "")}
        yield cited["wiki"] or unquote(cited["file"]), cited["block"] or cited["id"] or "", lines
