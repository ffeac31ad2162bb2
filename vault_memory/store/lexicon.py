"""The terms of an index: the stems of a text, and in how many passages and notes a term stands."""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from sys import intern
from typing import NamedTuple

import apsw

from vault_memory.store.rows import KINDS, PASSAGES, Store
from vault_memory.store.view import View
from vault_memory.text import terms
from vault_memory.text.languages import STOP_WORDS

FREQUENT_SHARE = 500
"""Terms in more than one of this many passages have their counts kept."""

SAMPLE = 1000
"""From so many notes it is learnt how much a frequent term keeps to few notes."""

REMEMBERED_TEXTS = 1 << 14
"""Of so many passages the stems are remembered (some 400 bytes each): about what 1,000 notes have, or 40 questions."""


class TermCounts(NamedTuple):
    """In how many passages and in how many notes a term stands."""

    passages: int
    notes: int


class Lexicon:
    """The terms of one open store."""

    def __init__(self, store: View) -> None:
        self._store = store
        self._tokenize = store.connection.fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "2"])
        # By text, not by id: ids are given again after a note has changed, and a text has the same stems for ever.
        self.of_passage = lru_cache(maxsize=REMEMBERED_TEXTS)(self._of_passage)

    def reset(self) -> None:
        """Forget what was counted: the index has changed. Stems of texts are the same for ever."""
        self.__dict__.pop("frequent", None)

    def stems(self, text: str) -> list[str]:
        """The stems of a text, in order, by FTS5's own tokenizer."""
        data, reason = text.encode("utf-8", "replace"), apsw.FTS5_TOKENIZE_DOCUMENT
        # Without offsets and colocated stems the result is a list of texts.
        return self._tokenize(data, reason, None, include_offsets=False, include_colocated=False)  # type: ignore[return-value]

    def _of_passage(self, text: str, kind: str) -> tuple[str, ...]:
        """The stems of a passage, as they were indexed; each is one object wherever it stands, so that few are kept."""
        body = terms.body(text, kind not in ("note", "page"))
        stems = self.stems(terms.index_text(body, with_bases=False))
        if not self._irregular.isdisjoint(stems):  # mostly it is, and a third of the work of looking at the words
            stems += self.stems(" ".join(terms.bases(body)))
        return tuple(map(intern, stems))

    @cached_property
    def _irregular(self) -> frozenset[str]:
        """The stems of all irregular forms."""
        return frozenset(self.stems(" ".join(terms.BASES)))

    @cached_property
    def idle(self) -> frozenset[str]:
        """The stems of words that say nothing of their subject."""
        return frozenset(self.stems(terms.index_text(" ".join(STOP_WORDS))))

    def count(self, phrase: str) -> TermCounts:
        """In how many passages and notes an FTS5 phrase stands; a frequent word's list is not walked for it."""
        stem = " ".join(self.stems(phrase.strip('"*')))
        known = self.frequent.get(stem)
        if known and not phrase.endswith("*"):
            return known
        sql = (
            "SELECT count(*), count(DISTINCT p.note_id) FROM main.passage_fts f CROSS JOIN passage p ON p.id = f.rowid"
            " WHERE f.passage_fts MATCH ?"
        )
        return TermCounts(*next(self._store.rows(sql, phrase)))

    @cached_property
    def frequent(self) -> dict[str, TermCounts]:
        """The counts of the frequent stems, some thousand at most."""
        return {row[0]: TermCounts(row[1], row[2]) for row in self._store.rows("SELECT * FROM frequent")}

    def refresh(self, store: Store) -> None:
        """Note which terms stand in many passages, and in how many; only when the index has grown or shrunk.

        A term's own count costs a walk through its whole list (10 ms at 100,000 passages), so recall asks here first.
        """
        total = int(self._store.one("SELECT count(*) FROM passage"))
        counted = int(self._store.meta("frequent_at") or 0)
        if abs(total - counted) * 10 <= counted:
            return
        connection = self._store.connection
        connection.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab('main', 'passage_fts', 'row')"
        )
        sql = "SELECT term, doc FROM temp.vocabulary WHERE doc > ?"
        passages: dict[str, int] = dict(self._store.rows(sql, max(total // FREQUENT_SHARE, 10)))
        spread = self._spread(passages.keys())
        rows = ((term, count, max(round(count * spread.get(term, 1.0)), 1)) for term, count in passages.items())
        connection.execute("DELETE FROM frequent")
        connection.executemany("INSERT INTO frequent VALUES(?, ?, ?)", rows)
        store.set_meta("frequent_at", total)

    def _spread(self, wanted: Iterable[str]) -> dict[str, float]:
        """For each term, its notes for each of its passages, in a sample of the notes."""
        frequent = set(wanted)
        passages: Counter[str] = Counter()
        notes: Counter[str] = Counter()
        for note in self._sample():
            held = [frequent.intersection(stems) for stems in note]
            for found in held:
                passages.update(found)
            notes.update(set().union(*held))
        return {term: notes[term] / count for term, count in passages.items()}

    def _sample(self) -> Iterator[list[tuple[str, ...]]]:
        """The stems of the passages of `SAMPLE` notes or somewhat more, spread evenly over the vault by path."""
        paths = [row[0] for row in self._store.rows("SELECT path FROM note ORDER BY path")]
        step = max(len(paths) // SAMPLE, 1)
        sql = f"SELECT p.text, p.kind FROM note n CROSS JOIN {PASSAGES} WHERE n.path = ? LIMIT 500"
        for path in paths[::step]:
            yield [self._of_passage(text, KINDS[kind]) for text, kind in self._store.rows(sql, path)]
