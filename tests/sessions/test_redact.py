"""Secrets in what was said: each row of the table, and what only looks like one."""

import random
import re
import string
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.sessions.redact import redacted

HERE = Path(__file__).parent
ALNUM = string.ascii_letters + string.digits
ALPHABETS = {
    "h": "0123456789abcdef", "a": ALNUM, "A": string.ascii_uppercase + string.digits, "b": ALNUM + "+/",
    "B": ALNUM + "+/", "l": string.ascii_lowercase + string.digits, "w": ALNUM + "_-", "d": string.digits,
    "U": string.ascii_uppercase + "234567", "k": "".join(sorted(set(ALNUM) - set("0OIl"))), "e": ALNUM + "./",
}  # fmt: skip
UNITS = [
    "a", "A1", "key=", "key='", "token: ", "key || '", 'name":"key","value":"', "docker login ", "mysql ", "curl -u ",
    '"kty":"d"', "authorization: ", "mnemonic: ", "seed word ", "word ", "$2b$", "WIFI:", "password for a ", "https://hook/",
    "user a password ", "tskey-a1-", "-----BEGIN PRIVATE KEY-----", "abcdefghijklmnop1234\n", "sha256-", "echo \"a",
]  # fmt: skip
"""Pieces of secrets, of which a hostile text repeats one."""

MIXED = "aZ3kQ9xLm2Vb7NcR5tYw8PdF4gHs6JuE1oTi0"
SECRETS = [
    ("aws-key", "AKIA" + "QYLPMN5HFIQR7XYA"),
    ("github-token", "ghp_" + MIXED[:36]),
    ("github-token", "github_pat_" + MIXED),
    ("gitlab-token", "glpat-" + MIXED[:20]),
    ("slack-token", "xoxb-123456789012-" + MIXED[:24]),
    ("anthropic-key", "sk-ant-api03-" + MIXED),
    ("openai-key", "sk-proj-" + MIXED),
    ("openai-key", "sk-" + MIXED[:36] + "abcdefghijkl"),
    ("openai-key", "sk-or-v1-" + "0123456789abcdef" * 4),
    ("google-key", "AIza" + MIXED[:35]),
    ("google-key", "ya29." + MIXED),
    ("stripe-key", "sk_live_" + MIXED[:24]),
    ("stripe-key", "whsec_" + MIXED[:32]),
    ("token", "SK" + "0123456789abcdef" * 2),
    ("token", "123456789:AA" + MIXED[:33]),
    ("token", "pul-" + "0123456789" * 4),
    ("token", "tvly-dev-" + MIXED[:32]),
    ("token", "sq0atp-" + MIXED[:22]),
    ("token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"),
]


@pytest.mark.parametrize(("name", "secret"), SECRETS, ids=lambda v: v[:16])
def test_a_token_with_a_shape_of_its_own_goes(name: str, secret: str) -> None:
    assert redacted(f"Use {secret} here.") == f"Use [redacted: {name}] here."


def test_what_its_name_or_place_gives_away_goes_and_all_else_stays() -> None:
    wrong = []
    for line in _lines("marked_lines.txt"):
        text = line.encode("latin-1", "backslashreplace").decode("unicode-escape")
        wanted = re.sub(r"«([a-z-]+): .+?»", r"[redacted: \1]", text, flags=re.DOTALL)
        if (found := redacted(re.sub(r"«[a-z-]+: (.+?)»", r"\1", text, flags=re.DOTALL))) != wanted:
            wrong.append((wanted, found))
    assert wrong == []


def test_a_cookie_with_a_token_goes_as_a_whole() -> None:
    assert redacted(f"Cookie: d=xoxd-{MIXED}; x=1 was sent") == "Cookie: [redacted: cookie] was sent"


@pytest.mark.parametrize("unseen", ["\u200b", "\u200d", "\ufeff", "\u00ad", "\u2060\u200b"])
def test_what_cannot_be_seen_hides_no_key(unseen: str) -> None:
    key = "AKIA" + "QYLPMN5HFIQR7XYA"
    for at in (4, 10, 19):
        assert redacted(f"Use {key[:at]}{unseen}{key[at:]} here.") == "Use [redacted: aws-key] here."
    assert redacted(f"x{unseen}{key}") == f"x{unseen}[redacted: aws-key]"
    assert redacted(f"pass{unseen}word=hunt{unseen}er2") == "password=[redacted: password]"


def _fill(field: re.Match[str], rng: random.Random) -> str:
    kind, size = field[1], int(field[2] or 0)
    if kind == "u":
        return str(uuid.UUID(int=rng.getrandbits(128), version=4))
    text = "".join(rng.choice(ALPHABETS[kind]) for _ in range(size))
    return text[:-1] + "=" if kind == "b" else text


def _lines(name: str) -> list[str]:
    """The lines of a table beside this file, without remarks."""
    lines = (HERE / name).read_text("utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("# ")]


def _shapes() -> Iterator[tuple[str, list[str]]]:
    for line in _lines("secret_shapes.txt"):
        rng = random.Random(line)
        text = re.sub(r"\{([haAbBlwdUkeu])(\d*)\}", lambda field, rng=rng: _fill(field, rng), line).replace("\\n", "\n")
        yield re.sub("[«»]", "", text), re.findall("«(.+?)»", text, re.DOTALL)


def test_secrets_in_every_syntax_go() -> None:
    shapes = list(_shapes())
    through = [text for text, secrets in shapes if any(secret in redacted(text) for secret in secrets)]
    assert len(shapes) > 450
    assert len(through) <= 22, "\n".join(through)


def test_plain_sentences_and_code_stay() -> None:
    assert [line for line in _lines("plain_lines.txt") if redacted(line) != line] == []


@pytest.mark.parametrize("unit", UNITS)
def test_hostile_text_comes_to_an_end(unit: str) -> None:
    """Read within a second; with patterns that are not linear it would be an hour."""
    secret = "ghp_" + "a1B2" * 9
    assert secret not in redacted(unit * (300_000 // len(unit)) + f"\n{secret}\n")


@given(st.text())
def test_text_without_secrets_is_never_lost(text: str) -> None:
    assert redacted(text) == text or "[redacted" in redacted(text)
