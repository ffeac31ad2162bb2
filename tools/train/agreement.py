"""How far two readers of the corpus agree: Cohen's kappa between the columns of second-reading.tsv."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

READING = Path(__file__).with_name("second-reading.tsv")
LASTING = "RWOSB"
Pairs = list[tuple[str, str]]


def kappa(pairs: Pairs) -> float:
    """Agreement beyond chance of (first, second) labels (Cohen 1960): 1 is full agreement, 0 that of chance."""
    firsts, seconds = Counter(first for first, _ in pairs), Counter(second for _, second in pairs)
    seen = sum(first == second for first, second in pairs) / len(pairs)
    chance = sum(firsts[label] * seconds[label] for label in firsts) / len(pairs) ** 2
    return 1.0 if chance == 1 else (seen - chance) / (1 - chance)


def main() -> None:
    with READING.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    pairs = [(row["writer"], row["first label"].split(), row["second label"].split()) for row in rows]
    sessions: Pairs = [(first[0], second[0]) for writer, first, second in pairs if "-log-" not in writer]
    logs: Pairs = [(first[0], second[0]) for writer, first, second in pairs if "-log-" in writer]
    categories: Pairs = [(a[-1], b[-1]) for _, a, b in pairs if len(a[-1]) > 1 and len(b[-1]) > 1]
    print(f"sessions, nine labels      {kappa(sessions):.2f}  ({len(sessions)} sentences)")
    print(f"sessions, lasting or not   {kappa([(str(a in LASTING), str(b in LASTING)) for a, b in sessions]):.2f}")
    print(f"logs, K M N                {kappa(logs):.2f}  ({len(logs)} lines)")
    print(f"logs, K or not             {kappa([(str(a == 'K'), str(b == 'K')) for a, b in logs]):.2f}")
    print(f"categories                 {kappa(categories):.2f}  ({len(categories)} where both gave one)")


if __name__ == "__main__":
    main()
