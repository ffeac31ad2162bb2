"""Makes one command of the benchmarks: `python -m tests.benchmarks quality|speed|scale`, from the repository's root."""

import argparse
from collections import defaultdict
from pathlib import Path

from tests.benchmarks import own, quality, scale, speed

HELP = """figures for README and Guide: prints, asserts nothing

quality takes folders of notes with a questions.jsonl: {"question", "asked_on"?, "category_name"?} and either
"evidence": [["path.md", line], ...] or "relevant": {"path.md": grade}. LoCoMo (one daily log a session) and
Cranfield (one note a document) are what our figures come from; neither is shipped, LoCoMo is CC BY-NC.
Without folders only the repository's own questions are asked."""


def main() -> None:
    """Read the command line and print what it asks for."""
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m tests.benchmarks", description=HELP, formatter_class=formatter)
    parts = parser.add_subparsers(dest="part", required=True)
    asked = parts.add_parser("quality", help="evidence recall, nDCG@10, hit@5 of our own questions")
    asked.add_argument("vaults", nargs="*", type=Path)
    asked.add_argument("--no-own", action="store_true", help="leave the repository's own questions out")
    timed = parts.add_parser("speed", help="index and recall on a made-up vault")
    timed.add_argument("--notes", type=int, default=1000)
    timed.add_argument("--passages", type=int, default=12, help="of a note")
    timed.add_argument("--repeat", type=int, default=5)
    grown = parts.add_parser("scale", help="how recall grows with the index; embedder, exactness, churn")
    grown.add_argument("--sizes", default="10000,30000,100000", help="add 1000000 for the large one: some minutes")
    grown.add_argument("--folder", type=Path, help="keep vaults and indexes here and reuse them")
    grown.add_argument("--questions", type=int, default=100)
    grown.add_argument("--churn", type=int, default=30_000, help="passages of the churn test; 0 leaves it out")
    given = parser.parse_args()
    if given.part == "speed":
        speed.run(given.notes, given.passages, given.repeat)
    elif given.part == "scale":
        scale.run([int(size) for size in given.sizes.split(",")], given.folder, given.questions, given.churn)
    else:
        print_quality(given.vaults, not given.no_own)


def print_quality(vaults: list[Path], with_own: bool) -> None:
    """Print evidence recall and nDCG by vault and category, and the hits of our own questions."""
    groups: dict[tuple[str, str], list[quality.Score]] = defaultdict(list)
    for score in (score for vault in vaults for score in quality.scores(vault)):
        for group in ("all", score.vault, score.question.category):
            groups[score.measure, group].append(score)
    for (measure, group), scores in sorted(groups.items(), key=lambda item: _order(item[0])):
        mean = sum(score.value for score in scores) / len(scores)
        rendered = sum(score.rendered_tokens for score in scores) / len(scores)
        print(f"{'@' + measure if measure.isdigit() else measure:8} {group:16} {mean:.4f}  n={len(scores):<5}"
              f" rendered {rendered:.0f} tokens")  # fmt: skip
    for hits in [own.sample_hits(), *own.script_hits()] if with_own else []:
        print(f"{hits.name:18} hit@1 {hits.first}/{hits.asked}  hit@5 {hits.five}/{hits.asked}")


def _order(key: tuple[str, str]) -> tuple[int, bool, str]:
    return int(key[0]) if key[0].isdigit() else 1 << 30, key[1] != "all", key[1]


if __name__ == "__main__":
    main()
