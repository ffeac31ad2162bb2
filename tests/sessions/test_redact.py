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


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("password=hunter2", "password=[redacted: password]"),
        ("DB_PASSWORD='s3cr3t-pass!'", "DB_PASSWORD='[redacted: password]'"),
        ('"api_key": "9f8e7d6c5b4a"', '"api_key": "[redacted: secret]"'),
        ("export STRIPE_SECRET=abcdefgh12", "export STRIPE_SECRET=[redacted: secret]"),
        ("SECRET_KEY_BASE=kd83hfkd93", "SECRET_KEY_BASE=[redacted: secret]"),
        ("password: correcthorsebatterystaple", "password: [redacted: password]"),
        ("deploy --password kd83hf-x --now", "deploy --password [redacted: password] --now"),
        ("x --auth-token 'kd83hfx'", "x --auth-token '[redacted: secret]'"),
        ("curl -s -u ada:correct https://x.org", "curl -s -u ada:[redacted: password] https://x.org"),
        ("mysql -u root -pkd83hf shop", "mysql -u root -p[redacted: password] shop"),
        ("https://x.org/c?sv=1&sig=" + MIXED + "%3D&x=1", "https://x.org/c?sv=1&sig=[redacted: signature]&x=1"),
        ("Cookie: session=kd83hfkd93; theme=dark", "Cookie: [redacted: cookie]"),
        ("my password is hunter2", "my password is [redacted: password]"),
        ("db password is Tr0ub4dor&3, ok?", "db password is [redacted: password], ok?"),
        ("The wifi password at the Castle: korv-och-brod-77", "The wifi password at the Castle: [redacted: password]"),
        ('my passphrase is "correct horse battery"', 'my passphrase is "[redacted: password]"'),
        (
            "the passphrase of the backup disk is correct horse battery staple. Keep it.",
            "the passphrase of the backup disk is [redacted: password]. Keep it.",
        ),
        ("passphrase = vargen tuba sex lampor fem", "passphrase = [redacted: password]"),
        ("Lösenordet till wifi är krokvik1938", "Lösenordet till wifi är [redacted: password]"),
        ("lo\u0308senord: krokvik1938.", "lo\u0308senord: [redacted: password]."),
        ("Das Passwort für das WLAN ist krokvik1938", "Das Passwort für das WLAN ist [redacted: password]"),
        ("Le mot de passe du wifi est krokvik1938", "Le mot de passe du wifi est [redacted: password]"),
        ("Mot de passe\u202f: krokvik1938", "Mot de passe\u202f: [redacted: password]"),
        ("La contraseña del wifi es krokvik1938", "La contraseña del wifi es [redacted: password]"),
        ("A senha do wifi é krokvik1938", "A senha do wifi é [redacted: password]"),
        ("Het wachtwoord van de wifi is krokvik1938", "Het wachtwoord van de wifi is [redacted: password]"),
        ('The password is "blue monkey"', 'The password is "[redacted: password]"'),
        ("The password is `swordfish`", "The password is `[redacted: password]`"),
        ("The wifi password: 'blue'.", "The wifi password: '[redacted: password]'."),
        ('Password = "Ask Nora, twice"', 'Password = "[redacted: password]"'),
        ("The password is “blue monkey”", "The password is “[redacted: password]”"),
        ("Das Passwort ist „blauer Affe“.", "Das Passwort ist „[redacted: password]“."),
        ('Lösenordet är "blå apa"', 'Lösenordet är "[redacted: password]"'),
        ("Le mot de passe est « singe bleu »", "Le mot de passe est « [redacted: password] »"),
        ("La contraseña es `monoazul`", "La contraseña es `[redacted: password]`"),
        ('A senha é "macaco azul"', 'A senha é "[redacted: password]"'),
        ('Het wachtwoord is "blauwe aap"', 'Het wachtwoord is "[redacted: password]"'),
        ("Wifi password: gurkensalat. Keep it.", "Wifi password: [redacted: password]. Keep it."),
        ("- **Password**: gurkensalat\n- Nora", "- **Password**: [redacted: password]\n- Nora"),
        ("Passwort fürs WLAN, Passwort: Gurkensalat!", "Passwort fürs WLAN, Passwort: [redacted: password]!"),
        ("Mot de passe : concombre", "Mot de passe : [redacted: password]"),
        ('The password "the dog ate, twice" is new', 'The password "[redacted: password]" is new'),
        ('ALTER USER nora IDENTIFIED BY "Tiger"', 'ALTER USER nora IDENTIFIED BY "[redacted: password]"'),
        ("alter user nora; IDENTIFIED BY tiger;", "alter user nora; IDENTIFIED BY [redacted: password];"),
        ("use password hunter2 there", "use password [redacted: password] there"),
        ("PIN 2025, door code: 4471", "PIN [redacted: pin], door code: [redacted: pin]"),
        ("ssid krokvik, pw Tr0ub4dor&3", "ssid krokvik, pw [redacted: password]"),
        ("PIN code 4471 for the door", "PIN code [redacted: pin] for the door"),
        ("The PIN of the alarm is 908070.", "The PIN of the alarm is [redacted: pin]."),
        ("paid with 4111 1111 1111 1111 there", "paid with [redacted: card-number] there"),
        ("Authorization: Bearer abc123DEF456ghi789", "Authorization: Bearer [redacted: authorization]"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic [redacted: authorization]"),
        ("postgres://app:s3cret@db/x", "postgres://app:[redacted: url-password]@db/x"),
        ("AccountKey=" + "aB3+" * 20 + "==;", "AccountKey=[redacted: secret];"),
        (
            "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----\nb",
            "a\n[redacted: private-key]\nb",
        ),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk", "[redacted: private-key]"),
    ],
)
def test_what_its_name_or_place_gives_away_goes(text: str, kept: str) -> None:
    assert redacted(text) == kept


@pytest.mark.parametrize(
    "text",
    [
        "The password is required, and the token: expired.",
        "password = os.environ['PW']",
        "api_key=$API_KEY",
        "password: ********",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "the basic idea of bearer bonds",
        "https://example.org/a:b@c",
        "max_tokens: 2000, tokens: 12345",
        "tokenizer=cl100k_base",
        "self.token = token",
        "Pass --password to the command, or --token instead; --password option, then.",
        "The password: internationalization of passphrases.",
        "Use curl -u user:$PASSWORD https://x.org and mysql -p for a prompt.",
        "Cookie: chocolate chip, and a cookie jar=full",
        "The key-value store, r8_ and gsk_ are prefixes; a pul-lover is no pullover.",
        "see ?sig=short and &signature=none",
        "The signature of f(x) has a cookie: it is sweet.",
        "--secret-key is an option; --api-key $KEY",
        "see docs/secrets/rotation.md",
        "the password is in the safe",
        "The PIN is in the safe, and the pin is 5.",
        "PIN 12 of the GPIO header, pin 1234 of it, and the PIN was changed on 2025-11-27",
        "a pw of 8 letters, and pw tools",
        "my passphrase is correct horse battery",
        "the password is well-known and must be re-entered",
        "The password is: see the safe.",
        "the password is 12 characters long",
        "password is sha256-hashed",
        "my password is [redacted: password]",
        "The passphrase is four words long, and a passphrase: pick five of them.",
        "passphrase was rotated yesterday after lunch; passphrase: str | None = None",
        "Lösenordet till wifi är bytt, och lösenord är hemliga",
        "Das Passwort ist falsch, und das Passwort: siehe Tresor 12",
        "Le mot de passe est obligatoire depuis 2024",
        "La contraseña es incorrecta",
        "A senha é fraca, e a senha do wifi é longa",
        "Het wachtwoord is vergeten, het wachtwoord van Nora was kort",
        "The password for 1Password: ask Nora.",
        "password: required.\nPassword: reset!\nPASSWORD: Changed",
        "Password: none. Password: unknown, password: same; password: weak",
        "Password: strong\npassword: empty\npassword: optional\npassword: expired\nPassword: protected",
        "the password: gurkensalat is what she said, was it?",
        'A password like "blue monkey" is weak',
        'ask("Senha:"), ask("user"); print("senha: " + x + " is it")',
        "the password is `$DB_PASSWORD`, or the password is `os.environ`",
        'The password is in "blue monkey"',
        'The password: see "blue monkey"',
        'password = "" and password: ``',
        "[[Password: gurkensalat]] and [password: note](x.md)",
        "4111 1111 1111 1112",
        "0000 0000 0000 0000",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redacted(text) == text


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


def _shapes() -> Iterator[tuple[str, list[str]]]:
    for line in (HERE / "secret_shapes.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("# "):
            rng = random.Random(line)
            text = re.sub(r"\{([haAbBlwdUkeu])(\d*)\}", lambda field, rng=rng: _fill(field, rng), line).replace(
                "\\n", "\n"
            )
            yield re.sub("[«»]", "", text), re.findall("«(.+?)»", text, re.DOTALL)


def test_secrets_in_every_syntax_go() -> None:
    shapes = list(_shapes())
    through = [text for text, secrets in shapes if any(secret in redacted(text) for secret in secrets)]
    assert len(shapes) > 450
    assert len(through) <= 22, "\n".join(through)


def test_plain_sentences_and_code_stay() -> None:
    lines = (HERE / "plain_lines.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if redacted(line) != line] == []


@pytest.mark.parametrize("unit", UNITS)
def test_hostile_text_comes_to_an_end(unit: str) -> None:
    """Read within a second; with patterns that are not linear it would be an hour."""
    secret = "ghp_" + "a1B2" * 9
    assert secret not in redacted(unit * (300_000 // len(unit)) + f"\n{secret}\n")


@given(st.text())
def test_text_without_secrets_is_never_lost(text: str) -> None:
    assert redacted(text) == text or "[redacted" in redacted(text)
