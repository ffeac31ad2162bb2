"""Owns the answering of a question: evidence → ranking → packing → cited results, verified against the files."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vault_memory.embedding.query_vector import QueryEmbedder
from vault_memory.errors import RemoteError
from vault_memory.markdown import entities, provenance
from vault_memory.markdown.note import Heading, decode, heading_path, split_lines
from vault_memory.search import pack, query
from vault_memory.search.answer import Answer, Request, Result, Understood
from vault_memory.search.candidates import ONLY_MEANING, Gatherer, Lanes
from vault_memory.search.entities import Names
from vault_memory.search.ordering import Ordered
from vault_memory.store import journal
from vault_memory.store.candidate import Candidate, tells
from vault_memory.store.filters import Filters
from vault_memory.store.lanes import Search
from vault_memory.store.row_cache import NoteInfo
from vault_memory.store.rows import Store
from vault_memory.store.view import ALL, State, View
from vault_memory.vault.vault import Vault

if TYPE_CHECKING:
    from vault_memory.search.rerank import Reranker


_OTHERS = (
    "SELECT EXISTS (SELECT 1 FROM passage WHERE origin IS NOT NULL) OR EXISTS (SELECT 1 FROM note WHERE origin <> ?)"
)

MOST_ASKERS = 4
"""For so many sets of scopes what was learnt of the index is kept."""


class Recall:
    """Answers questions from one open store."""

    def __init__(
        self, store: Store, vault: Vault, query_embedder: QueryEmbedder, reranker: "Reranker | None" = None
    ) -> None:
        self._store, self._vault, self._query_embedder, self._reranker = store, vault, query_embedder, reranker
        self._everything = _Engine(store.view(ALL), vault, query_embedder, reranker)
        self._narrowed: dict[tuple[tuple[str, ...], tuple[str, ...]], _Engine] = {}

    def answer(self, request: Request) -> Answer:
        """Answer one question from the index as it stands at one moment; this does not raise for the question's text.

        Without a snapshot a writer's re-indexing would delete and reuse passage ids between two statements.
        """
        started = time.perf_counter()
        with self._store.snapshot():
            view = self._store.view(request.filters.scopes)
            answer = (self._for(request.filters.scopes, view) if view.is_narrowed else self._everything).answer(request)
        return answer._replace(seconds=time.perf_counter() - started)

    def _for(self, scopes: tuple[str, ...], view: View) -> "_Engine":
        """What answers those who see only a part: what it learns of the index is learnt of that part."""
        key = (scopes, self._store.outdated)
        known = self._narrowed.pop(key, None) or _Engine(
            view, self._vault, self._query_embedder.for_view(view), self._reranker
        )
        self._narrowed[key] = known
        for oldest in list(self._narrowed)[:-MOST_ASKERS]:
            del self._narrowed[oldest]
        return known


class _Engine:
    """Answers questions from what one view shows."""

    def __init__(self, view: View, vault: Vault, query_embedder: QueryEmbedder, reranker: "Reranker | None") -> None:
        self._store, self._vault, self._reranker = view, vault, reranker
        self._search, self._names = Search(view), Names(view)
        self._gatherer = Gatherer(view, self._search, self._names, query_embedder)
        self._seen: State | None = None

    def answer(self, request: Request) -> Answer:
        self._look_again()
        return self._answer(request)

    def _look_again(self) -> None:
        """Take anew what holds for many questions, once this connection or another has changed the index."""
        seen = self._store.state()
        if seen == self._seen:
            return
        self._notes = int(self._store.one("SELECT count(*) FROM note"))
        self._has_others = bool(self._store.one(_OTHERS, provenance.PERSON))
        self._search.look_again()
        self._names.look_again()
        self._gatherer.look_again()
        self._seen = seen

    def _answer(self, request: Request) -> Answer:
        question = query.understand(request.query, request.today)
        filters, notes = self._filters(request)
        filters = filters._replace(scopes=())  # what they hide is not seen
        try:
            if filters:
                self._search.allowed.restrict(filters, self._slugs(filters.entities), self._forms(filters.entities))
            lanes = self._reranked(self._gatherer.gather(question, request), request)
            answer = self._compose(request, question, lanes)
        finally:
            self._search.allowed.release()
        return answer._replace(degraded=(*notes, *answer.degraded))

    def _reranked(self, lanes: Lanes, request: Request) -> Lanes:
        """The candidates after the configured model's second look; as they were, and said so, when it fails."""
        if not self._reranker:
            return lanes
        try:
            return replace(lanes, ordered=self._reranker.reordered(request, lanes.ordered))
        except RemoteError as error:
            return replace(lanes, degraded=(*lanes.degraded, ("rerank", f"{error}; kept the order of the ranking")))

    def _filters(self, request: Request) -> tuple[Filters, list[tuple[str, str]]]:
        """The filters that hold, and what is to be said of them."""
        filters, notes = request.filters, []
        for name in filters.entities:
            if self._names.shown(self._names.canonical(name)) is None:
                notes.append(
                    ("entity", f"there is no entity called {name}; only notes containing that word were searched")
                )
        return filters, notes

    def _slugs(self, names: Sequence[str]) -> list[str]:
        return [slug for name in names for slug in self._names.slugs(name)]

    def _forms(self, names: Sequence[str]) -> list[str]:
        return [form for name in names for form in self._names.forms(name)]

    def _compose(self, request: Request, question: query.Question, lanes: Lanes) -> Answer:
        ordered = lanes.ordered
        notes = self._search.notes({ordered.passages[i].note_id for i in ordered.scores})
        packed, later, unsure = self._pack(request, question, ordered, notes)
        results, left_out, tokens = self._results(request, packed, notes, lanes)
        window = lanes.window
        return Answer(
            request=request,
            results=results,
            mode=lanes.mode,
            lanes=lanes.sizes,
            embedder=lanes.embedder,
            understood=Understood(
                tuple(self._names.shown(slug) or slug for slug in lanes.about),
                (window.span.start, window.span.end) if window else None,
                question.kinds,
                question.unknown(lanes.words) if lanes.mode != "semantic" else (),
            ),
            tokens=tokens.tokens,
            rendered_tokens=tokens.rendered_tokens,
            omitted={
                "over_budget": packed.over_budget, "over_k": packed.over_k,
                "near_duplicates": packed.near_duplicates, **left_out,
                "below_threshold": ordered.below_threshold, **later,
                **({"beyond_pool": lanes.beyond_pool} if lanes.beyond_pool else {}),
            },
            degraded=[*(lanes.degraded if results else _without_guesses(lanes.degraded)), *unsure],
            generation=self._store.generation,
            notes=self._notes,
            words=lanes.words,
            passages=lanes.passages,
            vault=self._vault.root.name,
            has_footing=lanes.has_footing,
        )  # fmt: skip

    def _pack(
        self, request: Request, question: query.Question, ordered: Ordered, notes: dict[int, NoteInfo]
    ) -> tuple[pack.Packed, dict[str, int], list[tuple[str, str]]]:
        """What fits; under --as-of without what was written later, how much that was, and what is not known of it."""
        scored = [ordered.passages[i] for i in ordered.scores]
        if request.telling:
            scored = [each for each in scored if tells(each, notes[each.note_id].path)]
        least = request.floor * max(ordered.scores.values(), default=0.0)
        candidates = [each for each in scored if not least or ordered.scores[each.id] >= least]
        there = len(candidates)
        if request.without:
            candidates = [each for each in candidates if journal.passage_key(each.text) not in request.without]
        wanted = len(candidates)
        headers, marks = self._costs(ordered, notes)
        when = question.asks_when or question.window is not None
        limits = pack.Limits(request.k, request.budget_tokens, request.rendered, when, request.told)
        packed = pack.pack(candidates, headers, limits, marks, ordered.scores)
        tight = [("budget", f"the best result needs {packed.best_needs} tokens")] if packed.best_needs else []
        before = {"shown_before": there - wanted} if request.without else {}
        before |= {"below_floor": len(scored) - there} if request.floor else {}
        if not request.filters.as_of:
            return packed, before, tight
        from vault_memory.search.as_of import AsOf

        written = AsOf(self._store, self._vault.root, request.filters.as_of, notes)
        while out := written.later(packed.places):
            candidates = [passage for passage in candidates if passage.id not in out]
            packed = pack.pack(candidates, headers, limits, marks, ordered.scores)
        later = {"later": wanted - len(candidates), **before}
        return packed, later, [*tight, *written.unsure(packed.places)]

    def _results(
        self, request: Request, packed: pack.Packed, notes: dict[int, NoteInfo], lanes: Lanes
    ) -> tuple[list[Result], dict[str, int], pack.Packed]:
        """The packed passages as cited results; how many their file does not show now, and what the others cost."""
        ordered = lanes.ordered
        facts = self._facts([place[0].id for place in packed.places])
        outside = self._outside([place[0].id for place in packed.places])
        headers, marks = self._costs(ordered, notes)
        files: dict[int, list[str] | None] = {}
        left_out = {"changed": 0, "unreadable": 0}
        results: list[Result] = []
        kept: list[Candidate] = []
        for place in packed.places:
            first = place[0]
            note = notes[first.note_id]
            if first.note_id not in files:
                files[first.note_id] = self._lines(note.path)
            lines = files[first.note_id]
            start = found_at(place, lines or [])
            if lines is None or start is None:
                left_out["changed" if lines is not None else "unreadable"] += 1
                continue
            kept += place
            line = lines[start - 1] if first.from_char is not None else None
            content, truncated = pack.content(place, line)
            occurred, confidence = facts.get(first.id, (None, None))
            results.append(Result(
                rank=len(results) + 1, score=ordered.scores[first.id], kind=first.kind, date=note.day,
                occurred=occurred, entities=self._mentioned(content), confidence=confidence,
                tier=life.tier if (life := ordered.lives.get(first.id)) else None, content=content, path=note.path,
                start_line=start, end_line=start + first.end_line - first.start_line,
                heading=tuple(heading_path([Heading(*h) for h in json.loads(note.headings)], first.start_line)),
                tokens=sum(p.tokens for p in place) + pack.JOINER_TOKENS * (len(place) - 1), truncated=truncated,
                why=_why(ordered, first.id) if request.explain else None,
                superseded_by=after.source if (after := ordered.successors.get(first.id)) else None,
                key=journal.passage_key(first.text), parts=tuple(journal.passage_key(part.text) for part in place),
                by=(by := outside.get(first.id, provenance.PERSON)), trusted=provenance.is_trusted(by),
                header_tokens=headers.get(note.id, 0),
                citation_tokens=pack.citation_tokens(first) + marks.get(first.id, 0),
            ))  # fmt: skip
        if any(left_out.values()):
            packed = pack.pack(kept, headers, pack.Limits(None, None, request.rendered), marks)
        return results, left_out, packed

    def _facts(self, ids: list[int]) -> dict[int, tuple[str | None, float | None]]:
        """When it occurred and how sure it is, for those passages that are facts."""
        sql = (
            "SELECT passage_id, occurred_from, occurred_to, confidence FROM json_each(?) j"
            " JOIN fact ON passage_id = j.value"
        )
        return {
            row[0]: (row[1] if row[1] == row[2] else f"{row[1]}/{row[2]}", row[3])
            for row in self._store.rows(sql, json.dumps(ids))
        }

    def _outside(self, ids: list[int]) -> dict[int, str]:
        """Who those of these passages are from that no person wrote."""
        if not self._has_others:
            return {}
        sql = (
            "SELECT p.id, coalesce(p.origin, n.origin) AS by FROM json_each(?) j JOIN passage p ON p.id = j.value"
            " JOIN note n ON n.id = p.note_id WHERE by <> ?"
        )
        return dict(self._store.rows(sql, json.dumps(ids), provenance.PERSON))

    def _costs(self, ordered: Ordered, notes: Mapping[int, NoteInfo]) -> tuple[dict[int, int], dict[int, int]]:
        """What naming each note costs, and what is printed behind a passage: superseded, or from outside."""
        marks = {i: new.header_tokens + pack.MARK_TOKENS for i, new in ordered.successors.items()}
        for i, by in self._outside(list(ordered.scores)).items():
            if not provenance.is_trusted(by):
                marks[i] = marks.get(i, 0) + pack.ORIGIN_TOKENS
        return {note.id: note.header_tokens for note in notes.values()}, marks

    def _lines(self, path: str) -> list[str] | None:
        """The lines of a note as the file holds them now: no lines when it is gone, None when it cannot be read."""
        try:
            return split_lines(decode(self._vault.read(path))[0])
        except FileNotFoundError:
            return []
        except OSError:
            return None

    def _mentioned(self, text: str) -> tuple[str, ...]:
        found = {name: self._names.canonical(name) for name in entities.mentions(text)}
        return tuple(dict.fromkeys(self._names.shown(slug) or slug for slug in found.values()))


def _without_guesses(degraded: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """What could not be used, where there are no results that could be called guesses."""
    return [(what, why.removesuffix(f"; {ONLY_MEANING}")) for what, why in degraded]


def _why(ordered: Ordered, passage_id: int) -> dict[str, Any]:
    """What put a passage where it is; `ranked` is its place before repeats and what did not fit went out."""
    ranked = 1 + list(ordered.scores).index(passage_id)
    return {**ordered.explain(passage_id), "diversity": {"ranked": ranked}}


def found_at(place: Sequence[Candidate], lines: list[str]) -> int | None:
    """The line where the passages of one place stand in the file now: where they were indexed, else elsewhere once.

    None when the text is gone: a citation that does not hold is worse than one result less.
    """
    first = place[0]
    if _stands(place, lines, first.start_line):
        return first.start_line
    height = first.end_line - first.start_line + 1
    at = [n for n in range(1, len(lines) - height + 2) if _stands(place, lines, n)]
    return at[0] if len(at) == 1 else None


def _stands(place: Sequence[Candidate], lines: list[str], start: int) -> bool:
    first = place[0]
    if first.from_char is not None:
        line = lines[start - 1] if 0 < start <= len(lines) else ""
        return all(line[p.from_char : p.to_char] == p.text for p in place)
    return "\n".join(lines[start - 1 : start + first.end_line - first.start_line]) == first.text
