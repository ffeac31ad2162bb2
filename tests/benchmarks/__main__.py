"""Makes one command of the benchmarks: `python -m tests.benchmarks quality|speed|…`, from the repository's root."""

import argparse
import sys
from collections import defaultdict
from pathlib import Path

from tests.benchmarks import quality, soak, speed

HELP = """figures for README and Guide: prints, asserts nothing but what `soak` must find

quality takes folders of notes with a questions.jsonl: {"question", "asked_on"?, "category_name"?} and either
"evidence": [["path.md", line], ...] or "relevant": {"path.md": grade}. LoCoMo (one daily log a session) and
Cranfield (one note a document) are what our figures come from; neither is shipped, LoCoMo is CC BY-NC."""


def main() -> None:
    """Read the command line and print what it asks for."""
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m tests.benchmarks", description=HELP, formatter_class=formatter)
    parts = parser.add_subparsers(dest="part", required=True)
    asked = parts.add_parser("quality", help="evidence recall, nDCG@10")
    asked.add_argument("vaults", nargs="+", type=Path)
    timed = parts.add_parser("speed", help="index and recall on a made-up vault")
    timed.add_argument("--notes", type=int, default=1000)
    timed.add_argument("--passages", type=int, default=12, help="of a note")
    timed.add_argument("--repeat", type=int, default=5)
    worn = parts.add_parser("soak", help="`memory watch` under edits, questions and kill -9; exit code 1 for any fault")
    worn.add_argument("--minutes", type=float, default=10.0)
    worn.add_argument("--notes", type=int, default=1000)
    worn.add_argument("--edits", type=float, default=20.0, help="a second")
    worn.add_argument("--recalls", type=float, default=50.0, help="a second")
    worn.add_argument("--kill-every", type=float, default=60.0, help="seconds; 0 never kills")
    given = parser.parse_args()
    if given.part == "speed":
        speed.run(given.notes, given.passages, given.repeat)
    elif given.part == "soak":
        faults = soak.run(soak.Plan(given.minutes, given.notes, given.edits, given.recalls, given.kill_every))
        sys.exit(1 if faults else 0)
    else:
        print_quality(given.vaults)


def print_quality(vaults: list[Path]) -> None:
    """Print evidence recall and nDCG by vault and category."""
    groups: dict[tuple[str, str], list[quality.Score]] = defaultdict(list)
    for score in (score for vault in vaults for score in quality.scores(vault)):
        for group in ("all", score.vault, score.question.category):
            groups[score.measure, group].append(score)
    for (measure, group), scores in sorted(groups.items(), key=lambda item: _order(item[0])):
        mean = sum(score.value for score in scores) / len(scores)
        rendered = sum(score.rendered_tokens for score in scores) / len(scores)
        print(f"{'@' + measure if measure.isdigit() else measure:8} {group:16} {mean:.4f}  n={len(scores):<5}"
              f" rendered {rendered:.0f} tokens")  # fmt: skip


def _order(key: tuple[str, str]) -> tuple[int, bool, str]:
    return int(key[0]) if key[0].isdigit() else 1 << 30, key[1] != "all", key[1]


if __name__ == "__main__":
    main()
