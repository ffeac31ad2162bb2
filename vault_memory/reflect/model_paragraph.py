"""Adds a paragraph by the configured model to the head of a page, with citations, within a share of the page's tokens.

If the model fails, the page is as it would be without one. A page keeps its paragraph while its facts are the same: the
text is recovered from what was last written, so a new index or a hand edit needs no new text.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from vault_memory.errors import RemoteError
from vault_memory.reflect.edit_plan import Draft
from vault_memory.reflect.fact import Citations, Fact
from vault_memory.reflect.generated_blocks import Block, Line, fact_name
from vault_memory.reflect.model_writer import Ask, ModelWriter, fact_line
from vault_memory.reflect.page_drafts import PageJob, PageJobs, Subject

MIN_FACTS = 4
"""Fewer facts than this are as quick to read as a paragraph about them."""

PARAGRAPH_SHARE = 1 / 3
"""The paragraph's maximum share of the page's token limit."""

SENTENCE_TOKENS = 50
"""Roughly the cost of a sentence with its citations."""

_SENTENCE = "retold"
"""The slot of a sentence starts with this; the names of the facts it cites follow."""

_MARK = "retold of"
"""The slot of the blank line before the paragraph starts with this; a hash of the method and the facts follows."""


class ModelUse(NamedTuple):
    """How the model was used in a run; `why` is the reason the first of the `failed` pages failed."""

    method: str
    pages: int = 0
    failed: int = 0
    why: str = ""


class ModelParagraphs:
    """The paragraphs of one run. `last` returns the lines of a written block by its hash.

    If `asks` is False, as in a dry run, paragraphs are only kept, and no new ones are written.
    """

    def __init__(self, writer: ModelWriter, last: Callable[[str], Sequence[Line] | None], asks: bool = True) -> None:
        self._writer, self._last, self._asks = writer, last, asks
        self.model = ModelUse(writer.method)

    @property
    def ask(self) -> Ask | None:
        """The function that asks the model a question; None in a dry run."""
        return self._writer.ask if self._asks else None

    def signature(self, signature: bytes) -> bytes:
        """The signature of a page the model is done with, whether or not it wrote something usable."""
        return hashlib.blake2b(signature + self._writer.method.encode("utf-8", "replace"), digest_size=16).digest()

    def add(
        self, draft: Draft, job: PageJob, subject: Subject, present: Block | None, jobs: PageJobs
    ) -> tuple[Draft, bytes]:
        """The draft with its paragraph, and the page's signature: the job's own if the model must be asked again."""
        done = self.signature(job.signature)
        # Tiers and opinions change from day to day and need no new text.
        basis = repr((self._writer.method, sorted((fact.key, fact.path) for fact in subject.own)))
        mark = Line("", slot=f"{_MARK} {hashlib.blake2b(basis.encode('utf-8', 'replace'), digest_size=16).hexdigest()}")
        last = self._last(present.sha) if present else None
        if present and last and mark in last:
            return self._place(job, subject, [mark, *_find_sentences(last, present.yours, jobs)], jobs) or draft, done
        # The model gets only facts in the draft, and none from outside: those may contain a prompt injection, and would
        # lose their mark.
        keys = dict.fromkeys(key for line in draft.lines for key in line.keys)
        facts = [jobs.by_key[key] for key in keys if key in jobs.by_key and jobs.by_key[key].is_trusted]
        if len(facts) < MIN_FACTS or subject.tokens * PARAGRAPH_SHARE < SENTENCE_TOKENS:
            return draft, done
        if not self._asks:
            return draft, job.signature
        try:
            sentences = self._ask_model(subject, facts, jobs)
            found = self._place(job, subject, [mark, *sentences], jobs)
            if found is None:
                what = f"what {self._writer.method} wrote has no room on its page"
                raise RemoteError(what, "If this goes on, use another model.", "unusable")
        except RemoteError as error:
            self.model = self.model._replace(failed=self.model.failed + 1, why=self.model.why or str(error))
            # An unusable answer will be unusable tomorrow: asking again in every run would starve the other pages.
            return draft, done if error.kind == "unusable" else job.signature
        self.model = self.model._replace(pages=self.model.pages + 1)
        return found, done

    def _ask_model(self, subject: Subject, facts: Sequence[Fact], jobs: PageJobs) -> list[Line]:
        """Have the model write sentences about these facts; raises RemoteError if none is usable."""
        given = [
            fact_line(fact, () if fact.subjects == (subject.slug,) else [*map(jobs.name, fact.subjects)])
            for fact in facts
        ]
        names = (subject.name, *jobs.forms(subject.slug))
        sentences = self._writer.write(names, given, f"what {subject.what} {subject.name}")
        cite = jobs.context.cite
        return [_line(one.text.rstrip(".").rstrip(), [facts[n - 1] for n in one.facts], cite) for one in sentences]

    def _place(self, job: PageJob, subject: Subject, paragraph: list[Line], jobs: PageJobs) -> Draft | None:
        """The draft of a page with a paragraph, cut from its end to fit; None if no sentence fits."""
        while len(paragraph) > 1 and jobs.context.tokens(paragraph) + 1 > int(subject.tokens * PARAGRAPH_SHARE):
            paragraph.pop()
        draft = job.draft(paragraph) if len(paragraph) > 1 else None
        return draft and draft._replace(by=self._writer.method)


def _find_sentences(last: Sequence[Line], yours: frozenset[int], jobs: PageJobs) -> Iterator[Line]:
    """The page's sentences that the user has not changed, with citations updated to the current lines."""
    known = {fact_name(key): fact for key, fact in jobs.by_key.items()}
    for place, line in enumerate(last):
        name, *cited = line.slot.split(" ")
        text, dash, _ = line.text.partition(" — [[")
        if name == _SENTENCE and place not in yours and set(cited) <= known.keys() and dash:
            yield _line(text, [known[one] for one in cited], jobs.context.cite)


def _line(text: str, facts: Sequence[Fact], cite: Citations) -> Line:
    """A sentence with its citations. It has no keys: its facts are also listed below, and stay if it is deleted."""
    notes: dict[str, dict[int, Fact]] = {}
    for fact in facts:
        notes.setdefault(f"{fact.path}#{fact.block_id or ''}", {})[fact.line] = fact
    cited = ", ".join(cite.several([group[line] for line in sorted(group)]) for group in notes.values())
    return Line(f"{text} — {cited}", slot=" ".join((_SENTENCE, *dict.fromkeys(fact_name(fact.key) for fact in facts))))
