"""Finds what is worth keeping in a session or a log: each sentence is judged (`salience`), then related to its
neighbours.

A request for what stands elsewhere takes it up, a refusal silences what it is about, a correction goes with what it
corrects, and a sentence that says too little by itself brings the one before it along. Nobody's words are changed.
Pure."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from vault_memory.salience.features import Sentence, words
from vault_memory.salience.model import LABEL, Judgement, salience
from vault_memory.sessions import redact
from vault_memory.text.own_words import BULLET, SessionTurn, is_plain, label_of, last_sentence, split_sentences
from vault_memory.text.word_classes import denies, grammars, words_of

PROPOSE, WRITE = 0.55, 0.65
"""From which probability a sentence is proposed, and from which a request is written at once."""

KEEP = 0.3
"""From which probability that an editor would keep it a line of a log is proposed."""

DOUBTFUL, REFUSES = 0.15, 0.5
"""At which share of the probability that it lasts that of a refusal keeps a sentence out, and from which probability
it also silences what it is about. One that is missed does more harm than one too many."""

CORRECTS, POINTS = 0.4, 0.4
"""From which probability a sentence is taken as a correction, or as a request for what stands elsewhere."""

TAKES_BACK = 0.5
"""From which probability that it says nothing new a correction only takes back."""

LASTING = "RWOSBC"
MESSAGES_BACK, LINES_BACK = 3, 40
"""How far back a correction may reach: in messages of a session, in lines of logs."""
BARE_WORDS = 6
"""A refusal of so many words, alone in its message, is about the message before; an answer of so many needs its
question."""

ASKING_WORDS = 3
"""In how many of its first words a sentence says what is to be done with it."""

DENYING_WORDS = 3
"""Among how many of its first words a negation keeps a request from being written unasked; twice as many before a
comma or colon."""

CASE = 0.5
"""From which probability a sentence tells a problem with its cause or cure, which gets a tag of its own."""

SECRET, SILENCED, TAKEN_BACK, CORRECTED = "secret", "asked not to", "taken back", "corrected"
"""Why a statement is not kept."""
UNTOLD = "(looks like a secret)"
"""The text of a statement in place of a secret."""

_REDACTED = re.compile(r"\[redacted: [^\]]*\]")

KINDS = "WOSB"
KIND_OF_CATEGORY = {
    "profile": "W", "preferences": "O", "entities": "W", "events": "B", "cases": "B", "patterns": "S",
}  # fmt: skip


@dataclass(frozen=True)
class Statement:
    """What somebody said that is worth keeping; `message` is the number of its message, or of its line in a log.

    `text` is the person's words, with those they need or correct, `sentence` those of this place alone; `score` is the
    probability that they last; `why` is set if it is not kept after all.
    """

    text: str
    sentence: str
    message: int
    kind: str
    category: str
    score: float
    is_request: bool = False
    is_sure: bool = False
    """Whether it is a request that may be written without asking."""
    why: str = ""
    corrects: str = ""
    """The text of the statement that this one corrects."""


@dataclass(frozen=True)
class _Heard:
    """A sentence of a message with what it was judged to be, and the agent's sentence before the message."""

    text: str
    turn: SessionTurn
    place: int
    agent: str
    judged: Judgement

    @property
    def lasting(self) -> float:
        return lasting(self.judged.label)

    @property
    def asks_for_secret(self) -> bool:
        """Whether it most likely asks to remember a secret, which is said and not kept."""
        chances = self.judged.label
        return chances["R"] == max(chances.values()) and _is_secret(self.text)

    def is_(self, label: str, least: float) -> bool:
        chances = self.judged.label
        return chances[label] >= least and chances[label] >= max(chances[one] for one in "RPXC")


def lasting(chances: Mapping[str, float]) -> float:
    """How likely a sentence is to say something that lasts, 0..1, by the probabilities of its labels."""
    return sum(chances[label] for label in LASTING)


def find_statements(turns: Sequence[SessionTurn]) -> list[Statement]:
    """The statements of a session's user, in order; those not kept have a `why`."""
    session = _Session()
    agent = ""
    for turn in turns:
        if turn.by_user:
            session.hear(turn, agent)
            agent = ""
        else:
            agent = last_sentence(turn.text)
    return sorted(session.found, key=lambda one: one.message)


def silenced(turns: Sequence[SessionTurn]) -> set[int]:
    """The numbers of the user's messages that nobody is shown: not to be remembered, or requests taken back."""
    session = _Session()
    for turn in turns:
        if turn.by_user:
            session.hear(turn, "")
    taken = {one.message for one in session.found if one.is_request and one.why == TAKEN_BACK}
    return session.silenced | taken


class _Session:
    """What has been heard of a session so far."""

    def __init__(self) -> None:
        self.found: list[Statement] = []
        self.silenced: set[int] = set()
        self._numbers: list[int] = []

    def hear(self, turn: SessionTurn, agent: str) -> None:
        """Take in one message of the user."""
        heard = _judged(turn, agent)
        self._numbers.append(turn.number)
        for one in heard:
            if one.is_("X", REFUSES):
                self._silence(one, is_bare=len(heard) == 1 and _is_bare(one.text))
            elif one.is_("C", CORRECTS):
                self._correct(one, heard)
            elif one.is_("P", POINTS):
                self._take_up(one, heard)
            elif (one.lasting >= PROPOSE and not one.text.endswith(":")) or one.asks_for_secret:
                made = _statement(_complete(one, heard), one)
                self._add(replace(made, why=SILENCED if one.judged.label["X"] >= DOUBTFUL * one.lasting else ""))
        if turn.number in self.silenced:
            self._drop(lambda known: known.message == turn.number, SILENCED)

    def _add(self, statement: Statement) -> None:
        self.found.append(_without_secret(statement))

    def _drop(self, is_meant: Callable[[Statement], bool], why: str) -> None:
        self.found = [replace(one, why=one.why or why) if is_meant(one) else one for one in self.found]

    def _silence(self, one: _Heard, is_bare: bool) -> None:
        """A refusal silences its own message, and what it is about: the statement that shares a word with it, or the
        message before if it says nothing else."""
        meant = {one.turn.number, *(self._numbers[-2:-1] if is_bare else ())}
        back = self._numbers[-1 - MESSAGES_BACK : -1]
        about = (known for known in reversed(self.found) if known.message in back)
        shared = next((known for known in about if shares_word(known.sentence, one.text)), None)
        self.silenced |= {*meant, *([shared.message] if shared else [])}
        self._drop(lambda known: known is shared or known.message in meant, SILENCED)

    def _correct(self, one: _Heard, heard: Sequence[_Heard]) -> None:
        """A correction goes with what it corrects; one that says nothing new only takes that back."""
        old = self._corrected(one, heard)
        takes_back = one.judged.category["none"] >= TAKES_BACK
        if old:
            self._drop(lambda known: known is old, TAKEN_BACK if takes_back else CORRECTED)
        if not takes_back and (old or one.lasting >= PROPOSE):
            new = _statement(_complete(one, heard) if old is None else one.text, one)
            text = f"{old.text} → {one.text}" if old else new.text
            self._add(replace(new, text=text, corrects=old.text if old else ""))

    def _corrected(self, one: _Heard, heard: Sequence[_Heard]) -> Statement | None:
        """The statement that a correction is about: the nearest that shares a word with it or with what the agent
        made of it, else that of the sentence right before it."""
        back = self._numbers[-1 - MESSAGES_BACK :]
        near = [known for known in reversed(self.found) if known.message in back and not known.why]
        texts = [one.text, *([one.agent] if one.agent and one.place == 0 else ())]
        shared = next((known for known in near if any(shares_word(known.sentence, text) for text in texts)), None)
        adjacent = heard[one.place - 1].text if one.place else ""
        beside = next((known for known in near if known.sentence == adjacent), None)
        is_bare = one.place == 0 and len(one.text.split()) <= BARE_WORDS
        last = next((known for known in near if is_bare and known.message in back[-2:-1]), None)
        return shared or beside or last

    def _take_up(self, one: _Heard, heard: Sequence[_Heard]) -> None:
        """What a request for something elsewhere means: the sentence before it, else the message before, else what the
        agent said."""
        is_sure = one.judged.label["P"] >= WRITE and is_plain(one.turn.text)
        if one.place:
            self._ask(heard[one.place - 1], heard, is_sure)
            return
        back = self._numbers[-2:-1]
        known = next((known for known in reversed(self.found) if known.message in back and not known.why), None)
        if known:
            self.found = [
                replace(each, is_request=True, is_sure=is_sure and known.is_sure) if each is known else each
                for each in self.found
            ]
        elif one.agent:
            made = _statement(f"{one.agent} – {one.text}", one)
            self._add(replace(made, is_request=True, score=max(made.score, PROPOSE)))

    def _ask(self, meant: _Heard, heard: Sequence[_Heard], is_sure: bool) -> None:
        known = next((each for each in self.found if each.sentence == meant.text), None)
        self.found = [each for each in self.found if each is not known]
        made = _statement(_complete(meant, heard), meant)
        self._add(replace(made, is_request=True, is_sure=is_sure, score=max(made.score, PROPOSE)))


def _is_bare(refusal: str) -> bool:
    """Whether a refusal does not say itself what it is about, as "Off the record: I'm ill." does."""
    return len(refusal.split()) <= BARE_WORDS and not label_of(refusal)


def _judged(turn: SessionTurn, agent: str) -> list[_Heard]:
    """The sentences of a message, each judged among its neighbours."""
    texts = [BULLET.sub("", text) for text in split_sentences(turn.text)]
    near = ["", *texts, ""]
    return [
        _Heard(text, turn, place, agent, salience().judge(Sentence(_masked(text), near[place], near[place + 2], agent)))
        for place, text in enumerate(texts)
    ]


def _masked(text: str) -> str:
    """A sentence with a number for each secret, whose letters say nothing of what is asked."""
    return _REDACTED.sub("0000", redact.redacted(text))


def _statement(text: str, one: _Heard) -> Statement:
    kind, category = _type(one.judged)
    is_request = one.is_("R", 0.5) or one.judged.label["R"] == max(one.judged.label.values())
    is_sure = one.judged.label["R"] >= WRITE and text == one.text and is_writable(one.turn.text, one.text)
    return Statement(text, one.text, one.turn.number, kind, category, round(one.lasting, 4), is_request, is_sure)


def _type(judged: Judgement) -> tuple[str, str]:
    """The kind of fact (W, B, O, S) and the category that a sentence most likely is."""
    chances = {name: chance for name, chance in judged.category.items() if name != "none"}
    if chances["cases"] < CASE:
        del chances["cases"]
    category = max(chances, key=lambda name: chances[name])
    kind = max(KINDS, key=lambda label: judged.label[label])
    return (kind if judged.label[kind] >= judged.label["R"] else KIND_OF_CATEGORY[category]), category


def is_writable(message: str, sentence: str) -> bool:
    """Whether a request may be written without asking: its message is plain sentences and nothing else.

    A label before it ("Remember: …") must be what makes it a request: "Bob: remember that …" is what somebody else
    said. One that denies at its beginning may ask for the contrary ("Merk dir nicht, dass …")."""
    asking = re.split(r"[:,]", " ".join(sentence.split()[: 2 * DENYING_WORDS]), maxsplit=1)
    if denies(" ".join(sentence.split()[:DENYING_WORDS])) or (len(asking) > 1 and denies(asking[0])):
        return False
    label = label_of(sentence)
    if not label or not message.startswith(label):
        return is_plain(message)
    asks = salience().head(LABEL, Sentence(sentence[len(label) :]))["R"] >= PROPOSE
    return not asks and is_plain(label.rstrip(": ")) and is_plain(message[len(label) :])


def _complete(one: _Heard, heard: Sequence[_Heard]) -> str:
    """A sentence, with the one before it if it says too little by itself: it opens with a pronoun, is a short answer,
    or would not be kept without what it answers. An agent's "Done." is nothing to answer."""
    asks = one.agent.endswith("?")
    is_answer = one.place == 0 and asks and len(one.text.split()) <= BARE_WORDS
    alone = lasting(salience().head(LABEL, Sentence(one.text)))
    if not (is_answer or opens_with_pronoun(one.text) or alone < PROPOSE):
        return one.text
    if one.place:
        return f"{heard[one.place - 1].text} {one.text}"
    return f"{one.agent} – {one.text}" if asks or len(one.agent.split()) > BARE_WORDS else one.text


def opens_with_pronoun(sentence: str) -> bool:
    """Whether a sentence begins with a word that points at something before it."""
    first = words_of(sentence[:60])[:1]
    return any(each.has("pointing", first) for each in grammars())


def shares_word(one: str, other: str) -> bool:
    """Whether two texts have a content word in common, by its beginning.

    What begins both ("Remember …", "Don't remember …", "Correction: …") is how something is asked, not what."""
    asked, told = (set(_stems(words(text)[:ASKING_WORDS])) for text in (one, other))
    shared = set(_stems(words(one))) & set(_stems(words(other)))
    return bool(shared - (asked & told))


def _stems(found: Iterable[str]) -> Iterator[str]:
    closed = frozenset().union(*(each.common | each.classes["idle"] for each in grammars()))
    return (word[:5] for word in found if len(word) > 3 and word[0].isalpha() and word not in closed)


def _is_secret(text: str) -> bool:
    return "[redacted: " in text or bool(redact.kinds(text))


def _without_secret(statement: Statement) -> Statement:
    if _is_secret(statement.text):
        return replace(statement, text=UNTOLD, sentence=UNTOLD, why=SECRET, corrects="")
    return statement


# --- logs -----------------------------------------------------------------------------------------------------------


def find_log_statements(lines: Sequence[tuple[int, str]], earlier: Iterable[str] = ()) -> Iterator[Statement]:
    """The statements in the numbered lines of a log; `earlier` are the lines of the logs before it, oldest first."""
    before = list(earlier)[-LINES_BACK:]
    texts = [*(before[-1:] or [""]), *(text for _, text in lines), ""]
    for place, (number, text) in enumerate(lines):
        judged = salience().judge(Sentence(text, texts[place], texts[place + 2], is_log=True))
        if judged.keep["K"] >= KEEP and not text.endswith(":") and not is_refusal(text):
            kind, category = _type(judged)
            old = _corrected_line(text, before) if judged.label["C"] >= CORRECTS else ""
            said = f"{old} → {text}" if old else text
            yield _without_secret(
                Statement(said, text, number, kind, category, round(judged.keep["K"], 4), corrects=old)
            )
        before.append(text)


def is_refusal(text: str) -> bool:
    """Whether a text by itself asks to keep something out of the notes."""
    return salience().head(LABEL, Sentence(text))["X"] >= REFUSES


def _corrected_line(text: str, before: Sequence[str]) -> str:
    """The nearest line before a correction that shares a word with it; for a short one the line right before."""
    shared = next((line for line in reversed(before[-LINES_BACK:]) if shares_word(line, text)), "")
    return shared or (before[-1] if before and len(text.split()) <= BARE_WORDS else "")
