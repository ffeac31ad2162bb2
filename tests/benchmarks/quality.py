"""The quality figures: vaults with known answers, asked in this process, and what share of the evidence came back.

A vault folder holds notes and `questions.jsonl`, one object a line with `question`, perhaps `asked_on` and
`category_name` (or `category`), and either of
- `evidence` [[path, line], …]: evidence recall, the share of those lines handed over within a budget of tokens
  (`audit.evidence` replaces it; questions audited as ambiguous and those of category 5 are left out);
- `relevant` {path: grade}: nDCG@10 over the distinct notes of the answer, in order.
"""

import json
import math
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from vault_memory.config import Config
from vault_memory.memory import Memory
from vault_memory.search.answer import Request, Result
from vault_memory.search.candidates import Candidates, Finder
from vault_memory.search.query import understand
from vault_memory.search.ranking import Scorer
from vault_memory.search.recall_options import build
from vault_memory.store.view import ALL
from vault_memory.text import tokens

BUDGETS = (250, 500, 1000, 2000)
CUT_LINE_TOKENS, CUT_SHARE, CUT_WORDS = 120, 0.4, 8
"""A line counts as handed over in parts when it is this long, this share came, in parts of so many words."""


class Judged(NamedTuple):
    """A question with the lines that answer it, or the notes that are relevant to it with their grades."""

    id: str
    text: str
    now: str | None
    category: str
    evidence: frozenset[tuple[str, int]]
    relevant: dict[str, float]


class Score(NamedTuple):
    """One question's figure: `measure` is a budget in tokens, or `nDCG@10`."""

    vault: str
    question: Judged
    measure: str
    value: float
    rendered_tokens: int


def questions(folder: Path) -> list[Judged]:
    """The questions of a vault that have an answer in it. Raises OSError or ValueError where there is no such file."""
    rows = [json.loads(line) for line in (folder / "questions.jsonl").open(encoding="utf-8")]
    return [found for number, row in enumerate(rows) if (found := _judged(row, str(row.get("id", number))))]


def _judged(row: dict[str, Any], name: str) -> Judged | None:
    audit = row.get("audit") or {}
    lines = audit.get("evidence") or row.get("evidence") or []
    relevant = row.get("relevant") or {}
    answerable = relevant or (lines and row.get("category") not in (5, "abstention"))
    if not answerable or audit.get("type") == "AMBIGUOUS":
        return None
    category = str(row.get("category_name") or row.get("category"))
    evidence = frozenset((path, line) for path, line in lines)
    return Judged(name, row["question"], row.get("asked_on"), category, evidence, relevant)


@contextmanager
def opened(folder: Path) -> Iterator[Memory]:
    """An indexed copy of a vault without its questions; the vault itself is not touched."""
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary) / folder.name
        shutil.copytree(folder, root, ignore=shutil.ignore_patterns("questions.jsonl", "index.json", ".memory"))
        memory = Memory(Config(vault=root))
        memory.index()
        yield memory


def scores(folder: Path, budgets: Iterable[int] = BUDGETS) -> Iterator[Score]:
    """Ask every question of a vault, within each budget, and judge the answers."""
    asked = questions(folder)
    with opened(folder) as memory:
        texts = {str(p.relative_to(memory.vault.root)): p for p in memory.vault.root.rglob("*.md")}
        lines = {path: file.read_text("utf-8", "replace").split("\n") for path, file in texts.items()}
        wanted = [(q, b) for q in asked for b in ([0] if q.relevant else budgets)]
        for (question, budget), answer in zip(
            wanted, memory.answers((request(q, b, memory) for q, b in wanted), keep=False), strict=True
        ):
            if question.relevant:
                value = ndcg([r.path for r in answer.results], question.relevant)
            else:
                value = len(question.evidence & covered(answer.results, lines)) / len(question.evidence)
            measure = "nDCG@10" if question.relevant else str(budget)
            yield Score(folder.name, question, measure, value, answer.rendered_tokens)


def request(question: Judged, budget: int, memory: Memory) -> Request:
    """The request for a question; budget 0 asks for a hundred results instead."""
    bound = {"budget": budget} if budget else {"k": 100}
    return build({"query": question.text, "now": question.now, **bound}, memory.config)


def gathered(memory: Memory, asked: Iterable[Judged]) -> Iterator[tuple[Judged, Candidates, Scorer]]:
    """Each question with its candidates ranked, before packing: for fitting weights."""
    with memory.index_file.reading() as (store, _):
        finder = Finder(store.view(ALL))
        for question in asked:
            found = finder.find(understand(request(question, 0, memory)))
            scorer = Scorer(found)
            scorer.score(*scorer.learn(finder))
            yield question, found, scorer


def ndcg(paths: Iterable[str], relevant: dict[str, float], k: int = 10) -> float:
    """Normalised discounted cumulative gain of the distinct paths (Järvelin & Kekäläinen 2002)."""
    order = list(dict.fromkeys(paths))[:k]
    best = sorted(relevant.values(), reverse=True)[:k]
    return _gain([relevant.get(path, 0.0) for path in order]) / (_gain(best) or 1.0)


def _gain(grades: Iterable[float]) -> float:
    return sum((2**grade - 1) / math.log2(place + 2) for place, grade in enumerate(grades))


def covered(results: Iterable[Result], lines: dict[str, list[str]]) -> set[tuple[str, int]]:
    """The lines that the results hand over, whole or in large parts."""
    found = set()
    for result in results:
        for number in range(result.start_line, result.end_line + 1):
            whole = lines[result.path][number - 1].strip()
            if whole and (whole in result.content or (result.truncated and _mostly(whole, result.content))):
                found.add((result.path, number))
    return found


def _mostly(whole: str, content: str) -> bool:
    parts = [part.strip(" …\n") for part in content.split(" … ")]
    length = tokens.count(whole)
    shown = sum(tokens.count(part) for part in parts if part in whole)
    return length > CUT_LINE_TOKENS and min(len(p.split()) for p in parts) >= CUT_WORDS and shown >= CUT_SHARE * length
