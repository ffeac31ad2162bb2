"""Owns the order of what was found: the preset's scores, then age, then what was superseded behind its successor."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from vault_memory.markdown import supersede
from vault_memory.search import decay
from vault_memory.search.ageing import lives
from vault_memory.search.answer import Request
from vault_memory.search.decay import Life
from vault_memory.search.entities import Names
from vault_memory.search.rank import Ranker
from vault_memory.search.superseded import Successor, superseded
from vault_memory.store.candidate import Candidate, Evidence, Feedback
from vault_memory.store.lanes import Search
from vault_memory.store.lexicon import Lexicon
from vault_memory.store.view import View

AGED = 100
"""So many of the best have their age looked up, or as many as are asked for: it only parts what is nearly alike."""

Explain = Callable[[int], Mapping[str, Any]]


class Ordered(NamedTuple):
    """The candidates in rank order, with what is to be said of each; `below_threshold` were dropped by a preset."""

    passages: Mapping[int, Candidate]
    scores: Mapping[int, float]
    explain: Explain
    lives: Mapping[int, Life]
    successors: Mapping[int, Successor]
    below_threshold: int = 0
    behind: Mapping[int, int] = {}
    """Which of them come right behind which, since they were superseded."""
    judgeable: Sequence[int] = ()
    """Whom a second look may judge, best first, where that is before the end of the pipeline, and what follows then."""
    rejudged: "Callable[[Mapping[int, float]], Ordered] | None" = None


class Ordering:
    """Puts the candidates of a question in order, over one open store."""

    def __init__(self, store: View, search: Search, names: Names) -> None:
        self._store, self._search, self._names = store, search, names
        self._stems = Lexicon(store).stems

    def order(self, request: Request, found: Evidence, feedback: Callable[[Ranker], Feedback]) -> Ordered:
        """Score by the request's preset; `feedback` is what rank.py's second round learns from its first."""
        today = min(request.today, request.filters.as_of or request.today)
        followed = superseded(self._store, self._names, found.passages, today, request.filters)
        # In a time that is asked for, the older holds.
        behind = {} if found.days else {o: n.id for o, n in followed.items() if not self._is_wanted(found, o, n)}
        ordered = Ordered(found.passages, {}, _nothing, {}, followed, behind=behind)
        if request.preset != "tuned":
            return _preset(request, found, ordered._replace(lives=self._lives(found.passages, today)))
        ranker = Ranker(found)
        scores = ranker.rank(feedback(ranker))
        best = list(scores)[: max(AGED, request.wanted)]
        alive = self._lives({i: found.passages[i] for i in best}, today)
        # Who asks for a time asks for what is old, or says himself that the newest is wanted.
        ages = {} if found.days or found.order else alive
        aged = {i: score + _sway(ages.get(i)) for i, score in scores.items()}
        brought = self._search.passages({new for old, new in behind.items() if new not in aged and old in alive})
        behind = {old: new for old, new in behind.items() if new in aged or new in brought}
        least = min(aged.values(), default=0.0)
        ordered = ordered._replace(passages={**found.passages, **brought}, lives=alive, behind=behind)
        return ordered._replace(
            scores=supersede.reordered(aged | dict.fromkeys(brought, least), behind),
            explain=lambda i: _explained(i, ordered, _brought if i in brought else ranker.explain, ages),
        )

    def _is_wanted(self, found: Evidence, old: int, new: Successor) -> bool:
        """Whether a question asks for what the older of two says and the newer does not: "Malmö" wants that line.

        Words for what is asked do not count: "where does he live" is answered by "moved to Lund".
        """
        lost = [term for term, hits in found.hits.items() if old in hits and new.id not in hits]
        if not lost:
            return False
        said = set(self._stems(new.instead_of))
        return any(said.intersection(self._stems(term.strip('"*'))) for term in lost)

    def _lives(self, passages: Mapping[int, Candidate], today: date) -> dict[int, Life]:
        notes = self._search.notes({p.note_id for p in passages.values()})
        return lives(self._store, passages, notes, today)


def _nothing(_: int) -> Mapping[str, Any]:
    return {}


def _sway(life: Life | None) -> float:
    return decay.sway(life.multiplier) if life else 0.0


def _brought(_: int) -> Mapping[str, Any]:
    """Why a passage is there that no lane found: it took the place of one that a lane found."""
    return {"lanes": {}, "note_share": 0.0, "boosts": {}}


def _preset(request: Request, found: Evidence, ordered: Ordered, judged: Mapping[int, float] | None = None) -> Ordered:
    """The order of another preset; `classic` spreads its results, so its places are kept rather than its scores."""
    from vault_memory.search import presets

    ranked = presets.rank(request.preset, found, ordered.lives, request.wanted, judged)
    places = {i: -float(place) for place, i in enumerate(ranked.scores)}
    behind = {old: new for old, new in ordered.behind.items() if old in places and new in places}
    scores = {i: ranked.scores[i] for i in supersede.reordered(places, behind)}

    def explain(passage_id: int) -> Mapping[str, Any]:
        return presets.explain(request.preset, ranked, passage_id) | _history(passage_id, ordered)

    done = ordered._replace(scores=scores, explain=explain, below_threshold=ranked.below_threshold, behind=behind)
    if request.preset != "classic" or judged is not None:
        return done
    return done._replace(
        judgeable=presets.judgeable(found, request.wanted),
        rejudged=lambda judgement: _preset(request, found, ordered, judgement),
    )


def _explained(passage_id: int, ordered: Ordered, explain: Explain, ages: Mapping[int, Life]) -> Mapping[str, Any]:
    """Why a passage has its score."""
    why = explain(passage_id)
    aged = {"age": round(_sway(ages[passage_id]), 4)} if passage_id in ages else {}
    return {**why, "boosts": {**why["boosts"], **aged}} | _history(passage_id, ordered)


def _history(passage_id: int, ordered: Ordered) -> dict[str, Any]:
    said: dict[str, Any] = {}
    if life := ordered.lives.get(passage_id):
        said["life"] = {
            "tier": life.tier, "age_days": life.age_days, "importance": round(life.importance, 3),
            "worth": round(life.worth, 3), "multiplier": round(life.multiplier, 3),
        }  # fmt: skip
    olds = [old for old, new in ordered.successors.items() if new.id == passage_id]
    if olds:
        said["successor_of"] = len(olds)
    return said
