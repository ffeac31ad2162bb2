"""Owns what ranking knows of a passage and what each of it weighs: the one place where the weights live.

`python tests/benchmarks/fit.py` fits them again and prints what they were worth; the Guide tells it to readers.
"""

from typing import NamedTuple


class Features(NamedTuple):
    """What is known of one passage for one question, each 0..1 unless said otherwise; also what each of it weighs.

    The first six are blended by the note's length: the more the note is one thought, the more its own features count.
    """

    coverage: float
    """The share of the question's terms, by rarity, in the passage and, less, around it."""
    semantic: float
    """Cosine of question and passage, -1..1."""
    note_coverage: float
    """The coverage of the note's best passage."""
    note: float
    """BM25 of the note, against the best."""
    similar: float
    """The mean of that of the notes most like it."""
    note_semantic: float
    """Cosine of question and note, -1..1."""
    feedback: float
    """Cosine of the passage and where the best passages of the first round point, -1..1."""
    form: float
    """The share of the question's words that stand there as they were written, for a question of one word; an eighth of
    it for one of two, a 27th for one of three: in a long one no word decides."""
    phrase: float
    """The longest run of the question's words, as a share of them."""
    fact: float
    """1 for what someone wrote down to be remembered."""
    speaker: float
    """1 when the one speaker asked about says it."""
    reply: float
    """The lexical score of the question just before it."""
    question: float
    """1 for what is itself a question, or quotes the one asked."""
    time: float
    """1 for a word of time where the question asks when."""
    date: float
    """How well its day fits the question's time."""
    entity: float
    """How much it is about an entity of the question; above 1 for the entity's own page."""
    title: float
    """How well its note's title, aliases, path and tags match."""
    titled: float
    """The same, for a short question likewise."""
    exact: float
    """1 when it holds a quoted part, path, option or version of the question to the letter."""
    order: float
    """1 for the newest (or oldest) where the question asks for the last (or first), down to 0."""
    aside: float
    """1 for frontmatter and comments, and for code that holds the very question: it is an example of asking it."""
    page: float
    """1 for what reflect wrote: the line that it was told from says it too, and comes first."""


WEIGHTS = Features(
    coverage=6.5,
    semantic=5.5,
    note_coverage=3.0,
    note=1.0,
    similar=2.8,
    note_semantic=1.6,
    feedback=3.8,
    form=4.0,
    phrase=2.5,
    fact=0.5,
    speaker=3.6,
    reply=2.0,
    question=-0.7,
    time=2.3,
    date=3.8,
    entity=1.5,
    title=1.0,
    titled=3.0,
    exact=2.0,
    order=7.0,
    aside=-3.0,
    page=-2.0,
)
"""What each feature adds to a passage's score; rounded, since none is certain.

Those that conversations and graded notes tell something of are fitted (tests/benchmarks/fit.py); note_coverage, form,
phrase, title, titled, exact and order are chosen by known-item questions (tests/benchmarks/known.py); fact, entity,
aside and page by hand on questions about the sample vault. None of these costs the fitted ones more than .003.
"""
