"""Answers questions: query → candidates → ranking → answer, packed into a budget and cited from the current files."""

import json
import math
import time
from collections.abc import Collection, Sequence
from contextlib import closing
from datetime import date
from itertools import starmap
from typing import TYPE_CHECKING

from vault_memory.errors import RemoteError
from vault_memory.markdown import entities, provenance
from vault_memory.markdown.note import ASIDE, Heading, decoded_lines, heading_path
from vault_memory.search import fit_budget, relevance_gate
from vault_memory.search.answer import CLOSEST, Answer, Request, Result, Understanding, without_results
from vault_memory.search.candidates import Finder
from vault_memory.search.fit_budget import Packing
from vault_memory.search.query import matched_words, understand
from vault_memory.search.ranking import Ranking, promoted, rank
from vault_memory.store import journal, note_queries
from vault_memory.store.view import ATTACHMENT, Candidate, Filters, Store
from vault_memory.vault.vault import Vault

if TYPE_CHECKING:
    from vault_memory.embedding.configured_embedder import RemoteEmbedder
    from vault_memory.search.as_of import PastVault
    from vault_memory.search.rerank import Reranker

UNASKED_FLOOR = 0.7
"""An unsolicited result must score at least this share of the best candidate, whether or not that was shown before."""

SHOWN_FLOOR = 0.8
"""It must also score at least this share of the best result shown recently. On four conversations a rephrased question
then adds 33 tokens instead of 167; of the evidence for 600 questions, .794 stays in view instead of .805."""

MAX_ASKERS = 5
"""Finders cached, one per set of scopes."""

DATE_DECIDES, MEANING_DECIDES = "; the date alone decides", "; these are the closest by meaning"
"""What the answer adds when no note contains a word of the question."""


class Recall:
    """Answers questions about one vault from its open index."""

    def __init__(
        self, store: Store, vault: Vault, remote: "RemoteEmbedder | None" = None,
        reranker: "Reranker | None" = None, past: "PastVault | None" = None,
    ) -> None:  # fmt: skip
        self._store, self._vault = store, vault
        self._remote, self._reranker, self._past = remote, reranker, past
        self._finders: dict[object, Finder] = {}

    def answer(self, request: Request) -> Answer:
        """Answer one question from a snapshot of the index; no question text raises.

        Without the snapshot, a concurrent writer could delete and reuse passage ids between two statements.
        """
        started = time.perf_counter()
        with self._store.snapshot():
            day = request.filters.as_of
            is_past = day and not self._past and day < date.today()
            answer = self._answer_as_of(request, day) if day and is_past else self._answer(request)
        return answer._replace(seconds=time.perf_counter() - started)

    def _answer(self, request: Request) -> Answer:
        view = self._store.view_asked_for(request.filters.scopes)
        # A narrowed view gets its own finder: what is cached must come only from what the caller may see.
        seen = (request.filters.scopes, self._store.outdated) if view.is_narrowed else None
        finder = self._finders.pop(seen, None) or Finder(view, self._remote)
        self._finders[seen] = finder
        for oldest in list(self._finders)[:-MAX_ASKERS]:
            del self._finders[oldest]
        finder.refresh()
        try:
            return self._compose(finder, self._ranking(finder, request))
        finally:
            finder.search.release()

    def _answer_as_of(self, request: Request, day: date) -> Answer:
        """Answer from the notes as they were at the end of a day, counting the current results written since."""
        from vault_memory.search.as_of import PastVault

        past, now = PastVault(self._vault, self._store, day), self._answer(request)
        with closing(past.index()) as store:
            answer = Recall(store, past, self._remote, self._reranker, past).answer(request)
        omitted = {**answer.omitted, "later": past.count_later(now.results)}
        return answer._replace(omitted=omitted, generation=now.generation, vault=now.vault)

    def _ranking(self, finder: Finder, request: Request) -> Ranking:
        filters, names = request.filters._replace(scopes=()), finder.names  # scopes are never revealed
        unknown = [name for name in filters.entities if not _is_known(finder, name)]
        allowed = finder.totals.passages
        if any(filters):
            slugs = [slug for name in filters.entities for slug in names.slugs(name)]
            forms = [form for name in filters.entities if name not in unknown for form in names.forms(name)]
            allowed = finder.search.restrict(filters, slugs, forms)
        found = finder.find(understand(request))
        unmet = [*(("entity", f"there is no entity called {name}") for name in unknown), *found.degraded]
        if not allowed and any(request.filters):
            unmet = [each for each in unmet if each[0] != "lexical"]
            unmet += [("filters", _nothing_passes(request.filters))] if not unknown else []
        ranking = rank(found._replace(degraded=unmet), finder)
        if self._reranker:
            try:
                ranking = self._reranker.reordered(request, ranking)
            except RemoteError as error:
                unmet.append(("rerank", f"{error}; kept the order of the ranking"))
        notes = finder.search.notes({ranking.passages[i].note_id for i in ranking.scores})
        return ranking._replace(notes=notes)

    def _compose(self, finder: Finder, ranking: Ranking) -> Answer:
        found, query = ranking.candidates, ranking.candidates.query
        request = query.request
        relevance = relevance_gate.find_relevance(found, finder, list(ranking.scores))
        if relevance.hidden and request.unasked:  # these must come close to the best by themselves
            floor = UNASKED_FLOOR * max(ranking.scores.values(), default=0.0)
            close = (i for i in relevance.hidden if ranking.scores[i] >= floor and i not in relevance.weak)
            relevance = relevance._replace(hidden=tuple(close))
        ranking = promoted(ranking, relevance.hidden) if relevance.hidden else ranking
        limits = request
        if relevance.missing and request.rendered and (request.k or request.unasked) and not request.all:
            closest = CLOSEST + len(relevance.hidden)
            limits = request._replace(k=min(request.k or closest, closest))
        packed, unsure = self._pack(ranking, limits, relevance.weak - ranking.settling)
        results, lost = self._cite(finder, ranking, packed)
        tokens = sum(result.tokens for result in results)
        headers = {result.path: result.header_tokens for result in results}
        is_guess = bool(results) and not found.only_time and any(what == "lexical" for what, _ in found.degraded)
        decides = DATE_DECIDES if found.only_time else MEANING_DECIDES if is_guess else ""
        degraded = [(what, why + decides if what == "lexical" else why) for what, why in found.degraded]
        # Something is always nearest in meaning: without a matching word or name, it is only a guess.
        is_met = bool(found.lexical or found.entity or found.named_notes or found.entity_slugs or query.window)
        # The vault's threshold is the same for every caller.
        is_relevant = not request.unasked or (
            is_met and relevance.asks and relevance.score >= relevance_gate.load_threshold(self._store)
        )
        answer = Answer(
            request=request, results=results, mode=found.mode,
            lanes={"lexical": len(found.lexical), "semantic": len(found.semantic), "entity": len(found.entity),
                   "temporal": len(found.temporal)},
            embedder=found.space.name if found.space else None,
            understood=Understanding(
                tuple(finder.names.shown(slug) or slug for slug in found.entity_slugs),
                query.window and (query.window.span.start, query.window.span.end), query.kinds,
                query.unknown(found.words) if found.mode != "semantic" else (),
            ),
            tokens=tokens,
            rendered_tokens=tokens + sum(headers.values()) + sum(result.citation_tokens for result in results),
            omitted={**packed.omitted, **lost},
            degraded=[*degraded, *unsure], is_guess=is_guess, generation=finder.view.generation,
            notes=found.totals.notes, words=found.words, passages=found.totals.passages, vault=self._vault.root.name,
            is_relevant=is_relevant, missing=relevance.missing, missing_with=relevance.missing_with,
            matched=matched_words(query, results, finder.lexicon.stems) if request.rendered else (),
        )  # fmt: skip
        return answer if answer.is_relevant else without_results(answer)

    def _pack(self, ranking: Ranking, request: Request, weak: Collection[int]) -> tuple[Packing, list[tuple[str, str]]]:
        """Choose what to show, best first, and pack it into the budget; with what to say about the choice."""
        query, notes, past = ranking.candidates.query, ranking.notes, self._past
        showable = self._showable(ranking, request)

        # Nobody who asks for all, or for a time, minds what matches weakly.
        asks_of_time = query.window and not request.unasked
        asks_for_all = request.all or asks_of_time or not (request.k or request.self_contained)
        telling = showable if asks_for_all else [each for each in showable if each.id not in weak]

        # What nobody asked for must come close to the best candidate, and to the best that was shown lately.
        shown = {each.id for each in telling if request.without and journal.passage_key(each.text) in request.without}
        floor = -math.inf
        if request.unasked:
            best_shown = max((ranking.scores[i] for i in shown), default=0.0)
            floor = max(UNASKED_FLOOR * max(ranking.scores.values(), default=0.0), SHOWN_FLOOR * best_shown)
        strong = {each.id: ranking.scores[each.id] for each in telling if ranking.scores[each.id] >= floor}

        # A line of a page gives way to the lines it cites, a fact to the newest in its words. On a past day, what is
        # not known to be of it comes last.
        scores = fit_budget.with_sources(strong, ranking.passages, notes)
        each_note = query.asks_when or query.window is not None or ranking.candidates.only_time
        if not each_note:
            scores = fit_budget.with_newest(scores, ranking.passages, notes)
        wanted = [ranking.passages[i] for i in scores if i not in shown]
        day_of_unknown = past.unknown((each, notes[each.note_id]) for each in wanted) if past else {}
        wanted.sort(key=lambda passage: day_of_unknown.get(passage.id, "") is None)

        # What is printed after a passage: that it is superseded, or from outside.
        marks = {i: new.header_tokens + fit_budget.MARK_TOKENS for i, new in ranking.successors.items()}
        for each in wanted:
            if not provenance.is_trusted(each.by):
                marks[each.id] = marks.get(each.id, 0) + fit_budget.ORIGIN_TOKENS
        headers = {note.id: note.header_tokens for note in notes.values()}
        packed = Packing(request, headers, marks, each_note).fill(wanted, scores)

        packed.omitted["near_duplicates"] += len(strong) - len(scores)
        packed.omitted["below_threshold"] = ranking.below_threshold
        if request.without:
            packed.omitted["shown_before"] = len(scores) - len(wanted)
        if request.unasked:
            packed.omitted["below_floor"] = len(telling) - len(strong)
        if len(telling) < len(showable):
            packed.omitted["weak"] = len(showable) - len(telling)
        if ranking.candidates.beyond_pool:
            packed.omitted["beyond_pool"] = ranking.candidates.beyond_pool
        unsure = [("budget", f"the best result needs {packed.best_needs} tokens")] if packed.best_needs else []
        if past:
            first_parts = [place[0].id for place in packed.places]
            unsure += past.say_unknown([day_of_unknown[i] for i in first_parts if i in day_of_unknown])
        return packed, unsure

    def _showable(self, ranking: Ranking, request: Request) -> list[Candidate]:
        """Drop what was not there on the past day, template boilerplate on generated pages, and elsewhere properties
        that only repeat the file's name and have no word of the question."""
        layout, notes, past = self._store.layout, ranking.notes, self._past
        found = [ranking.passages[i] for i in ranking.scores]
        if past:
            found = [e for e in found if past.holds(notes[e.note_id].path, e.text, e.from_char is not None)]
        ours = {note.id for note in notes.values() if layout.is_page(note.path) or note.path in layout.cores}
        matching = set().union(*ranking.candidates.hits.values()) or ranking.scores.keys()
        asides = {e.id for e in found if e.section == ASIDE and (e.note_id in ours or e.id not in matching)}
        strict = ranking.scores.keys() if request.self_contained else set() if request.all else asides
        return [each for each in found if each.id not in strict or relevance_gate.is_informative(each)]

    def _cite(self, finder: Finder, ranking: Ranking, packed: Packing) -> tuple[list[Result], dict[str, int]]:
        """Return the packed passages as cited results, and how many were lost as their file has changed."""
        names, explains = finder.names, ranking.candidates.query.request.explain
        ranked = {i: place for place, i in enumerate(packed.scores, 1)} if explains else {}
        files: dict[int, tuple[list[str] | None, list[Heading]]] = {}
        lost = {"changed": 0, "unreadable": 0}
        results: list[Result] = []
        for place in packed.places:
            first, note = place[0], ranking.notes[place[0].note_id]
            if note.id not in files:
                files[note.id] = self._lines(note.path), list(starmap(Heading, json.loads(note.headings)))
            lines, headings = files[note.id]
            start = found_at(place, lines or [])
            if lines is None or start is None:
                lost["changed" if lines is not None else "unreadable"] += 1
                continue
            content, truncated = fit_budget.content(place, lines[start - 1] if first.from_char is not None else None)
            since, until = first.occurred_from, first.occurred_to
            life, successor = ranking.lives.get(first.id), ranking.successors.get(first.id)
            mentioned = (names.canonical(name) for name in entities.mentions(content))
            # `ranked` is its rank before duplicates and results over budget were dropped.
            why = {**ranking.explain(first.id), "diversity": {"ranked": ranked[first.id]}} if explains else None
            results.append(Result(
                rank=len(results) + 1, score=packed.scores[first.id], kind=first.kind, date=note.day,
                occurred=since if since == until else f"{since}/{until}",
                entities=tuple(dict.fromkeys(names.shown(s) or s for s in mentioned)),
                confidence=first.confidence, tier=life.tier if life else None, content=content, path=note.path,
                # An attachment has no lines to cite.
                start_line=start * (first.kind != ATTACHMENT),
                end_line=(start + first.end_line - first.start_line) * (first.kind != ATTACHMENT),
                heading=heading_path(headings, first.start_line),
                tokens=sum(p.tokens for p in place) + fit_budget.JOINER_TOKENS * (len(place) - 1), truncated=truncated,
                why=why, superseded_by=successor.source if successor else None,
                key=journal.passage_key(first.text), parts=tuple(journal.passage_key(part.text) for part in place),
                by=first.by, trusted=provenance.is_trusted(first.by), header_tokens=packed.headers.get(note.id, 0),
                citation_tokens=fit_budget.citation_tokens(first) + packed.marks.get(first.id, 0),
            ))  # fmt: skip
        return results, lost

    def _lines(self, path: str) -> list[str] | None:
        """Return a note's current lines: none if the file is gone, None if it cannot be read."""
        try:
            return decoded_lines(self._vault.read(path))[0]
        except FileNotFoundError:
            return []
        except OSError:
            return None


def _is_known(finder: Finder, name: str) -> bool:
    """Return whether an entity is mentioned, has a page or is linked to, by this name or an alias."""
    names = finder.names
    known = names.canonical(name)
    linked = (entities.link_name(target) for target, *_ in note_queries.link_targets(finder.view))
    return names.shown(known) is not None or any(names.canonical(target) == known for target in linked)


def _nothing_passes(filters: Filters) -> str:
    asked = ((name, value) for name, value in filters._asdict().items() if value)
    named = (f"{name}: {', '.join(value) if isinstance(value, tuple) else value}" for name, value in asked)
    return f"no note is left by the filters ({'; '.join(named)})".replace("as_of", "as of")


def found_at(place: Sequence[Candidate], lines: list[str]) -> int | None:
    """Return the line where the passages of one place are now: where they were indexed, else their only occurrence.

    None if the text is gone or ambiguous: a wrong citation is worse than one result fewer.
    """
    first = place[0]
    height = first.end_line - first.start_line + 1

    def stands_at(start: int) -> bool:
        if first.from_char is not None:
            line = lines[start - 1] if 0 < start <= len(lines) else ""
            return all(line[part.from_char : part.to_char] == part.text for part in place)
        return "\n".join(lines[start - 1 : start - 1 + height]) == first.text

    if stands_at(first.start_line):
        return first.start_line
    places = list(filter(stands_at, range(1, len(lines) - height + 2)))
    return places[0] if len(places) == 1 else None
