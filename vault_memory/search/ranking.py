"""Ranks candidates: their scores with feedback and age, then what was superseded right behind its successor."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from vault_memory.markdown import supersede
from vault_memory.search import decay
from vault_memory.search.candidates import Candidates, inverse_frequency
from vault_memory.search.decay import Life, Trace
from vault_memory.search.names import Names
from vault_memory.search.scoring import RelevanceFeedback, Scorer
from vault_memory.search.superseded import Successor, superseded
from vault_memory.store import journal, search_rows, usage
from vault_memory.store.candidate import FACTS, Candidate
from vault_memory.store.lanes import Search
from vault_memory.store.lexicon import Lexicon
from vault_memory.store.vectors import combine
from vault_memory.store.view import View

AGED = 100
"""So many of the best have their age looked up, or as many as are asked for: it only parts what is nearly alike."""

FEEDBACK_SHARE = 5
"""No term is learnt that stands in more than one of so many notes, nor one that stands in only one."""

_DATED = frozenset(("note", "session"))
"""What ages without being a fact, where its note has a day."""

_UNFOUND: dict[str, Any] = {"lanes": {}, "note_share": 0.0, "boosts": {}}

Explain = Callable[[int], Mapping[str, Any]]


class Ranking(NamedTuple):
    """The candidates in rank order, with what is to be said of each; `below_threshold` were dropped by a preset."""

    candidates: Candidates
    passages: Mapping[int, Candidate]
    """The candidates, and successors that no lane found."""
    scores: Mapping[int, float] = {}
    """Best first."""
    explain: Explain = lambda _: {}
    lives: Mapping[int, Life] = {}
    """How old facts and dated lines are; of the best only."""
    successors: Mapping[int, Successor] = {}
    behind: Mapping[int, int] = {}
    """Which of them come right behind which, since they were superseded."""
    below_threshold: int = 0
    judgeable: Sequence[int] = ()
    """Whom a second look may judge, best first, where that is before the end of the pipeline, and what follows then."""
    rejudged: "Callable[[Mapping[int, float]], Ranking] | None" = None


class Ranker:
    """Ranks the candidates of a question, over one open store."""

    def __init__(self, store: View, search: Search, names: Names, lexicon: Lexicon) -> None:
        self._store, self._search, self._names, self._lexicon = store, search, names, lexicon

    def rank(self, found: Candidates) -> Ranking:
        """Score by the preset that was asked for."""
        request, passages = found.query.request, found.passages
        today = min(request.today, request.filters.as_of or request.today)
        followed = superseded(self._store, self._names, passages, today, request.filters)
        # In a time that is asked for, the older holds.
        behind = {} if found.days else {o: n.id for o, n in followed.items() if not self._is_wanted(found, o, n)}
        ranking = Ranking(found, passages, successors=followed, behind=behind)
        if request.preset != "tuned":
            return _by_preset(ranking._replace(lives=self._lives(passages, today)))
        scorer = Scorer(found)
        scores = scorer.score(self.feedback(scorer, found))
        alive = self._lives({i: passages[i] for i in list(scores)[: max(AGED, request.wanted)]}, today)
        # Who asks for a time asks for what is old, or says himself that the newest is wanted.
        ages = {} if found.days or found.order else {i: decay.sway(life.multiplier) for i, life in alive.items()}
        aged = {i: score + ages.get(i, 0.0) for i, score in scores.items()}
        brought = self._search.passages({new for old, new in behind.items() if new not in aged and old in alive})
        behind = {old: new for old, new in behind.items() if new in aged or new in brought}
        least = min(aged.values(), default=0.0)
        ranking = ranking._replace(passages={**passages, **brought}, lives=alive, behind=behind)

        def explain(passage_id: int) -> Mapping[str, Any]:
            # What no lane found took the place of one that a lane found.
            why = scorer.explain(passage_id) if passage_id in found.passages else _UNFOUND
            age = {"age": round(ages[passage_id], 4)} if passage_id in ages else {}
            return {**why, "boosts": {**why["boosts"], **age}} | _history(ranking, passage_id)

        return ranking._replace(
            scores=supersede.reordered(aged | dict.fromkeys(brought, least), behind), explain=explain
        )

    def _is_wanted(self, found: Candidates, old: int, new: Successor) -> bool:
        """Whether a question asks for what the older of two says and the newer does not: "Malmö" wants that line.

        Words for what is asked do not count: "where does he live" is answered by "moved to Lund".
        """
        lost = [term for term, hits in found.hits.items() if old in hits and new.id not in hits]
        said = set(self._lexicon.stems(new.instead_of)) if lost else set()
        return any(said.intersection(self._lexicon.stems(term.strip('"*'))) for term in lost)

    # --- feedback ----------------------------------------------------------------------------------------------------

    def feedback(self, scorer: Scorer, found: Candidates) -> RelevanceFeedback:
        """What the best of the first round teach: other words, and a better direction (pseudo-relevance feedback).

        Nothing when nothing was asked that any passage could be best at.
        """
        direction = found.direction
        if not found.rarity and not direction:
            return RelevanceFeedback()
        cosine: Mapping[int, float] = {}
        if direction and (best := scorer.best_passages()):
            vectors = [v for v in self._search.vectors(direction.space, best) if any(v)]
            moved = _halfway(direction.vector, vectors)
            cosine = self._search.cosines(direction.space, found.embeddings, moved)
        return RelevanceFeedback(self._telling(scorer.near_stems(), found.totals.notes), cosine)

    def _telling(self, near: dict[str, int], notes: int) -> dict[str, float]:
        """The inverse document frequency, in notes, of those stems of the best notes that tell something.

        Stems that are not among the frequent ones are rare: how many candidates hold them is near enough.
        """
        frequent, idle, most = self._lexicon.frequent, self._lexicon.idle, notes // FEEDBACK_SHARE
        counts = near | {stem: frequent[stem].notes for stem in near.keys() & frequent.keys()}
        rarity = {count: inverse_frequency(notes, count) for count in set(counts.values())}
        return {
            stem: rarity[count]
            for stem, count in counts.items()
            if 1 < count <= most and len(stem) > 2 and stem not in idle and not stem.isdigit()
        }

    # --- age ---------------------------------------------------------------------------------------------------------

    def _lives(self, passages: Mapping[int, Candidate], today: date) -> dict[int, Life]:
        """How the facts and the lines of dated notes among these passages stand on a day; nothing else ages."""
        notes = self._search.notes({p.note_id for p in passages.values()})
        days = {note.id: date.fromisoformat(note.day).toordinal() if note.day else None for note in notes.values()}
        aging = {i: p for i, p in passages.items() if p.kind in FACTS or (p.kind in _DATED and days[p.note_id])}
        used: dict[int, tuple[int, ...]] = {}
        if usage.is_any(self._store):
            keys = {i: journal.passage_key(p.text) for i, p in aging.items()}
            used = usage.days(self._store, keys, today.toordinal())
        known = search_rows.told_facts(self._store, [i for i, p in aging.items() if p.kind in FACTS], today)
        found: dict[int, Life] = {}
        for i, passage in aging.items():
            trace = Trace(days[passage.note_id], used.get(i, ()))
            if is_fact := passage.kind in FACTS:
                confidence, importance, decided, told_days = known.get(i, (None, None, False, 1))
                if importance is None:
                    importance = decay.importance_of(passage.kind, decided, told_days)
                trace = trace._replace(
                    importance=importance,
                    confidence=1.0 if confidence is None else confidence,
                    dynamic=decay.is_dynamic(passage.text),
                )
            found[i] = decay.life(trace, today.toordinal(), is_fact)
        return found


def _by_preset(ranking: Ranking, judged: Mapping[int, float] | None = None) -> Ranking:
    """The order of another preset; `classic` spreads its results, so its places are kept rather than its scores."""
    from vault_memory.search import presets

    found, request = ranking.candidates, ranking.candidates.query.request
    scored = presets.score(found, ranking.lives, judged)
    places = {i: -float(place) for place, i in enumerate(scored.scores)}
    behind = {old: new for old, new in ranking.behind.items() if old in places and new in places}

    def explain(passage_id: int) -> Mapping[str, Any]:
        steps = {name: round(value, 4) for name, value in scored.steps[passage_id].items()}
        return {"preset": request.preset, "steps": steps} | _history(ranking, passage_id)

    done = ranking._replace(
        scores={i: scored.scores[i] for i in supersede.reordered(places, behind)},
        explain=explain,
        below_threshold=scored.below_threshold,
        behind=behind,
    )
    if request.preset != "classic" or judged is not None:
        return done
    best = presets.judgeable(found, request.wanted)
    return done._replace(judgeable=best, rejudged=lambda judgement: _by_preset(ranking, judgement))


def _halfway(vector: bytes, best: Sequence[bytes]) -> bytes:
    """A direction, halfway to the mean direction of some vectors in the same space."""
    middle = combine(list(map(_unit, best))) if best else vector
    return combine([_unit(vector), _unit(middle)])


def _unit(vector: bytes) -> tuple[bytes, float]:
    """A vector with the weight that makes its length 1."""
    return vector, 1 / (sum(x * x for x in memoryview(vector).cast("b")) ** 0.5 or 1.0)


def _history(ranking: Ranking, passage_id: int) -> dict[str, Any]:
    """What is to be said of a passage's age, and of those whose place it took."""
    told: dict[str, Any] = {}
    if life := ranking.lives.get(passage_id):
        told["life"] = {
            "tier": life.tier, "age_days": life.age_days, "importance": round(life.importance, 3),
            "worth": round(life.worth, 3), "multiplier": round(life.multiplier, 3),
        }  # fmt: skip
    olds = [old for old, new in ranking.successors.items() if new.id == passage_id]
    if olds:
        told["successor_of"] = len(olds)
    return told
