"""The trained judgement: its weights are those of the corpus, it scores anything in time, and training is
deterministic."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.salience.features import Sentence, words
from vault_memory.salience.model import CATEGORY, KEEP, LABEL, WEIGHTS_PATH, Salience, salience

ROOT = Path(__file__).parents[2]
LABELS = "RPXCWOSBN"


def train(*options: str) -> None:
    subprocess.run([sys.executable, "tools/train", *options], cwd=ROOT, check=True, capture_output=True, timeout=900)


def test_a_tenth_of_the_corpus_trains_to_the_same_bytes_twice(tmp_path: Path) -> None:
    one, other = tmp_path / "one.bin", tmp_path / "other.bin"
    for file in (one, other):
        train("--tenth", "--out", str(file))
    assert one.read_bytes() == other.read_bytes()
    chances = Salience(one.read_bytes()).head(LABEL, Sentence("What is the time?"))
    assert max(chances, key=lambda label: chances[label]) == "N"


def test_the_weights_are_those_of_this_corpus_and_trainer() -> None:
    told = subprocess.run(
        [sys.executable, "tools/train", "--digest"], cwd=ROOT, check=True, capture_output=True, text=True, timeout=60
    )
    assert told.stdout.strip() == salience().digest, "run `python tools/train` and commit the weights"


@pytest.mark.slow
def test_training_anew_gives_the_weights_of_the_package(tmp_path: Path) -> None:
    train("--out", str(tmp_path / "anew.bin"))
    assert (tmp_path / "anew.bin").read_bytes() == WEIGHTS_PATH.read_bytes()


def test_the_weights_fit_the_package() -> None:
    assert WEIGHTS_PATH.stat().st_size <= 1_500_000
    with pytest.raises(ValueError, match="ends early"):
        Salience(WEIGHTS_PATH.read_bytes()[:-1])
    with pytest.raises(ValueError, match="not a file"):
        Salience(b"PK")


@given(st.text(), st.text(), st.text(), st.booleans())
def test_any_text_has_probabilities(text: str, before: str, agent: str, is_log: bool) -> None:
    judged = salience().judge(Sentence(text, before, "", agent, is_log))
    assert [*judged.label] == [*LABELS] and [*judged.keep] == ["K", "M", "N"]
    for head in judged:
        assert abs(sum(head.values()) - 1) < 1e-4 and all(0 <= chance <= 1 for chance in head.values())


def test_a_number_has_no_weight_of_its_own_and_accents_and_case_have_none() -> None:
    assert words("Le CAFÉ à 12") == words("le cafe a 99")
    one, other = (salience().head(LABEL, Sentence(f"the host is owl{end}")) for end in (" 12", " 34"))
    assert one == other


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Please remember: the spare key hangs behind the door.", "R"), ("I prefer dark themes in all editors.", "O"),
        ("Our code review takes place on Wednesdays.", "W"), ("What is the time?", "N"), ("run the tests please", "N"),
        ("Please don't put any of this in your notes.", "X"),
    ],
)  # fmt: skip
def test_plain_sentences_are_what_they_are(text: str, label: str) -> None:
    chances = salience().head(LABEL, Sentence(text))
    assert max(chances, key=lambda name: chances[name]) == label


def test_heads_alone_say_what_they_say_together() -> None:
    sentence = Sentence("We moved to Postgres.", agent="Which database do you use?")
    judged = salience().judge(sentence)
    assert (judged.label, judged.category, judged.keep) == tuple(
        salience().head(name, sentence) for name in (LABEL, CATEGORY, KEEP)
    )
