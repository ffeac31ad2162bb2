"""Which lines a page's line was told from: where the search has found them too, they stand in its place. Pure."""

import re
from collections.abc import Iterable, Mapping
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
    by_note: dict[str, list[Candidate]] = {}
    for passage in (passages[i] for i in scores):
        if passage.kind != PAGE:
            path = notes[passage.note_id].path
            for name in {link_name(path), path.removesuffix(".md"), path}:
                by_note.setdefault(name, []).append(passage)
    raised = dict(scores)
    for page in pages:
        if sources := list(_sources(page.text, by_note)):
            score = raised.pop(page.id)
            raised |= {source.id: max(score, raised[source.id]) for source in sources}
    return dict(sorted(raised.items(), key=lambda pair: -pair[1]))


def _sources(text: str, by_note: Mapping[str, Iterable[Candidate]]) -> Iterable[Candidate]:
    told, _, citation = text.rpartition(" — ")
    for cited in _CITED.finditer(citation if told else ""):
        block, name = cited["block"] or cited["id"], cited["wiki"] or unquote(cited["file"])
        lines = {int(number) for number in re.findall(r"\d+", cited["lines"] or "")}
        for passage in by_note.get(name, ()):
            is_named = block is not None and passage.text.rstrip().endswith(f"^{block}")
            if (is_named or passage.start_line in lines) and traced(told, passage.text) >= TRACEABLE:
                yield passage
