"""Takes secrets out of texts: what they look like, and what stands in their place.

A table after the public rule set of gitleaks (MIT), whose shapes of tokens it follows in its own words: a token with a
shape of its own is known by it; a value that only its name gives away must look random too. A library was weighed:
detect-secrets takes 0.6 s to import, 1 ms a line, brings an HTTP client, and knows neither Anthropic's keys nor
OpenAI's of today.
"""

import math
import re
from collections import Counter
from functools import partial
from typing import NamedTuple


class Rule(NamedTuple):
    """One kind of secret: what is printed for it, texts of which one is there when it is, and its pattern.

    The group `secret`, where there is one, is what goes; `is_guess` says that it goes only where it looks random.
    """

    name: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    is_guess: bool = False


MIN_ENTROPY = 2.5
"""Bits a character of what only its name makes a secret: `changeme` has 2.75, `aaaa1111` 1."""

LONGEST_WORD = 20
"""Letters of what may follow `password:` in prose; `correcthorsebatterystaple` has 25."""

_END = r"(?![A-Za-z0-9_-])"


def _rule(name: str, hints: str, pattern: str, flags: int = 0, is_guess: bool = False) -> Rule:
    return Rule(name, tuple(hints.split(" ")), re.compile(pattern, flags), is_guess)


def _split(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SECRET_NAMES = (
    r"pass(?:word|wd|phrase)|pwd|secret[_-]?key|secret|credential|api[_-]?key|access[_-]?key|private[_-]?key"
    r"|client[_-]?secret|token"
)
_VALUE = r"""(?:(?P<quote>["'`])(?P<quoted>[^"'`\r\n]{6,256})(?P=quote)|(?P<bare>[^\s"'`,;<>()\[\]{}]{6,256}))"""

_OF_WHAT = (
    r"(?:[ \t](?:at|for|of|on|to|in|from|für|zu|zum|von|am|im|till|för|på|i|av|du|de|des|pour|del|para|do|da|van|voor)"
    r"[ \t][^\n:;,\"]{1,60}?)?"
)
"""What a password may be said to be of, between its name and its value."""

_IS = (
    r"(?:[ \t](?:is|was|ist|war|lautet|är|var|est|es|[éè]|e[\u0300\u0301]):?[ \t]{1,4}"
    r"|[ \t\xa0\u202f]?[:=][ \t\xa0]{0,4})"
)

_PASSWORD_NAMES = (
    r"pass(?:wor[dt]|phrase|code)|kennwort|l(?:ö|o\u0308)senord(?:et)?|mot[ \t]de[ \t]passe"
    r"|contrase(?:ñ|n\u0303)a|senha|wachtwoord"
)
"""What a password is called in a sentence."""

_PASSWORD_HINTS = "passwor passphrase passcode kennwort senord passe contrase senha wachtwoord"

_WORD = r"[^\W_]{1,24}"
"""One word of a passphrase: letters and digits."""

_COMMAND = r"[^\n|;&]{0,200}?"
"""What may stand between a command and its option."""

RULES = (
    _rule("private-key", "PRIVATE",
          r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
          r"(?:[^-]*+(?:-(?!----(?:BEGIN|END) )[^-]*+)*+-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
          r"|[\sA-Za-z0-9+/=:,\\-]*)", re.DOTALL),
    _rule("aws-key", "AKIA ASIA ABIA ACCA A3T", r"\b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b"),
    _rule("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"\bgh[opusr]_[A-Za-z0-9_]{36,255}"),
    _rule("github-token", "github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{22,255}"),
    _rule("gitlab-token", "glpat- gldt- glrt- glptt- glcbt-", r"\bgl(?:pat|dt|rt|ptt|cbt)-[A-Za-z0-9_.-]{20,300}"),
    _rule("slack-token", "xox xapp-", r"\b(?:xox[a-z](?:\.xox[a-z])?|xapp)-[A-Za-z0-9-]{10,250}"),
    _rule("slack-webhook", "hooks.slack.com", r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9+/]{20,200}"),
    _rule("discord-webhook", "api/webhooks/", r"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/\d+/[\w-]{30,}"),
    _rule("anthropic-key", "sk-ant-", r"\bsk-ant-[A-Za-z0-9_-]{20,250}"),
    _rule("openai-key", "sk-", r"\bsk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,250}"),
    _rule("openai-key", "sk-", r"\bsk-[A-Za-z0-9]{32,64}" + _END),
    _rule("openrouter-key", "sk-or-", r"\bsk-or-(?:v\d-)?[A-Za-z0-9]{32,128}"),
    _rule("google-key", "AIza", r"\bAIza[A-Za-z0-9_-]{35}" + _END),
    _rule("google-token", "ya29. GOCSPX-", r"\bya29\.[A-Za-z0-9_-]{20,}|\bGOCSPX-[A-Za-z0-9_-]{24,40}"),
    _rule("stripe-key", "k_live_ k_test_", r"\b[spr]k_(?:live|test)_[A-Za-z0-9]{16,250}"),
    _rule("stripe-key", "whsec_", r"\bwhsec_[A-Za-z0-9]{24,250}"),
    _rule("npm-token", "npm_", r"\bnpm_[A-Za-z0-9]{36}" + _END),
    _rule("pypi-token", "pypi-", r"\bpypi-[A-Za-z0-9_-]{50,}"),
    _rule("huggingface-token", "hf_", r"\bhf_[A-Za-z0-9]{30,60}" + _END),
    _rule("sendgrid-key", "SG.", r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}"),
    _rule("twilio-key", "SK AC", r"\b(?:SK|AC)[0-9a-f]{32}\b"),
    _rule("telegram-token", ":AA", r"\b\d{8,10}:AA[A-Za-z0-9_-]{33}" + _END),
    _rule("digitalocean-token", "do", r"\bdo[opr]_v1_[a-f0-9]{64}\b"),
    _rule("databricks-token", "dapi", r"\bdapi[a-f0-9]{32}(?:-\d)?\b"),
    _rule("azure-key", "AccountKey= AccessKey=", r"(?:Account|SharedAccess)Key=(?P<secret>[A-Za-z0-9+/=]{40,100})"),
    _rule("vault-token", "hvs. hvb.", r"\bhv[sb]\.[A-Za-z0-9_-]{24,300}"),
    _rule("age-key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    _rule("groq-key", "gsk_", r"\bgsk_[A-Za-z0-9]{40,64}" + _END),
    _rule("xai-key", "xai-", r"\bxai-[A-Za-z0-9]{60,120}" + _END),
    _rule("shopify-token", "shp", r"\bshp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}" + _END),
    _rule("docker-token", "dckr_", r"\bdckr_[op]at_[A-Za-z0-9_-]{27,40}"),
    _rule("grafana-token", "glsa_", r"\bglsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}" + _END),
    _rule("atlassian-token", "ATATT3", r"\bATATT3[A-Za-z0-9_=-]{100,300}"),
    _rule("linear-key", "lin_", r"\blin_(?:api|oauth)_[A-Za-z0-9]{40,64}" + _END),
    _rule("figma-token", "figd_", r"\bfigd_[A-Za-z0-9_-]{36,64}"),
    _rule("notion-token", "ntn_", r"\bntn_[A-Za-z0-9]{40,60}" + _END),
    _rule("pulumi-token", "pul-", r"\bpul-[a-f0-9]{40}" + _END),
    _rule("replicate-token", "r8_", r"\br8_[A-Za-z0-9]{37,40}" + _END),
    _rule("tavily-key", "tvly-", r"\btvly-(?:dev-|prod-)?[A-Za-z0-9]{24,64}" + _END),
    _rule("postman-key", "PMAK-", r"\bPMAK-[A-Za-z0-9]{24}-[A-Za-z0-9]{34}" + _END),
    _rule("square-token", "sq0", r"\bsq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,43}"),
    _rule("mailgun-key", "key-", r"\bkey-[a-f0-9]{32}" + _END),
    _rule("signature", "sig", r"[?&](?:sig|signature|X-Amz-Signature|X-Goog-Signature)=(?P<secret>[\w%+/=-]{20,1024})"),
    _rule("cookie", "cookie:",
          r"\bcookie:[ \t]{0,4}(?P<secret>[\w.-]{1,64}=[^\s\"'<>;]{8,4096}"
          r"(?:;[ \t]?[\w.-]{1,64}=[^\s\"'<>;]{1,4096})*)",
          re.IGNORECASE),
    _rule("password", "curl", rf"\bcurl\b(?P<typed>{_COMMAND} (?:-u|--user)[ =]?[\"']?[^\s:\"']{{1,64}}:)"
          r"(?P<secret>[^\s\"'`]{4,256})", is_guess=True),
    _rule("password", "mysql mariadb", rf"\b(?:mysql|mariadb)(?:dump|admin)?\b(?P<typed>{_COMMAND} -p[\"']?)"
          r"(?P<secret>[^\s\"'`]{4,256})", is_guess=True),
    _rule("password", "pw", r"(?<![A-Za-z])pw[ \t]?[:=]?[ \t]{1,4}"
          r"(?P<secret>(?=\S{0,64}\d)(?=\S{0,64}[A-Za-z])[^\s\"'`,;<>()\[\]{}]{6,64})", is_guess=True),
    _rule("pin", "PIN", r"\bPIN(?:[ -]?[Cc]ode)?(?:[ \t](?:is|of|for|to)\b[^\n:;,\"\d]{0,40})?[ \t]?[:=]?[ \t]{0,4}"
          r"(?P<secret>\d{4,8})(?![.,]?\d)"),
    _rule("jwt", "eyJ", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*"),
    _rule("bearer-token", "earer", r"\b[Bb]earer\s+(?P<secret>[A-Za-z0-9_.~+/=-]{16,2048})", is_guess=True),
    _rule("basic-login", "asic", r"\b[Bb]asic\s+(?P<secret>[A-Za-z0-9+/]{12,512}={1,2})"),
    _rule("url-password", "://", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'<>]{0,64}:(?P<secret>[^\s/@\"'<>]{3,256})@"),
    _rule("secret", "--",
          rf"(?<![\w-])--(?:[a-z0-9]{{1,20}}-){{0,3}}(?P<name>{_SECRET_NAMES})[ \t]{{1,4}}(?=[^\s-]){_VALUE}",
          re.IGNORECASE, is_guess=True),
    _rule("password", "passphrase",
          rf"(?<![A-Za-z])passphrase{_OF_WHAT}{_IS}(?P<words>{_WORD}(?:[ \t-]{{1,2}}{_WORD}){{3,11}}+)(?![^\s,;.!?)])",
          re.IGNORECASE, is_guess=True),
    _rule("secret", "pass pwd secret credential key token",
          rf"(?<![A-Za-z])(?P<name>{_SECRET_NAMES})s?(?:_?id|[_-]?value|[_-]base)?[\"'`*]{{0,2}}"
          rf"(?P<by>[ \t]{{0,4}}(?:=>|:=|[=:])[ \t]{{0,4}}){_VALUE}", re.IGNORECASE, is_guess=True),
    _rule("password", _PASSWORD_HINTS,
          rf"(?<![A-Za-z])(?P<told>{_PASSWORD_NAMES}){_OF_WHAT}{_IS}"
          r"(?:(?P<quote>[\"'`])(?P<quoted>[^\"'`\r\n]{6,256})(?P=quote)"
          r"|(?P<bare>(?!sha|md5|base64|argon2|pbkdf2|[0-9]+-)[^\s\"'`,;<>()\[\]{}]{5,255}[^\s\"'`,;<>()\[\]{}.:!?]))",
          re.IGNORECASE, is_guess=True),
    _rule("password", _PASSWORD_HINTS,
          rf"(?<![A-Za-z])(?P<cited>{_PASSWORD_NAMES})\*{{0,2}}{_OF_WHAT}{_IS}(?:\*\*[ \t]{{0,4}})?"
          r"(?:(?P<quote>[\"'`])(?P<quoted>(?![\s),;+\]}])(?:(?!(?P=quote))[^\r\n]){3,256}(?<![\s(\[{,+]))(?P=quote)(?!\w)"
          r"|[“„«‘‚][ \xa0\u202f]?"
          r"(?P<secret>[^\s“”„«»‘’‚](?:[^“”„«»‘’‚\r\n]{1,254}[^\s“”„«»‘’‚]))[ \xa0\u202f]?[”“»’‘])",
          re.IGNORECASE, is_guess=True),
    _rule("password", _PASSWORD_HINTS,
          rf"(?<![^\W_])(?P<alone>{_PASSWORD_NAMES})\*{{0,2}}[ \t\xa0\u202f]?:(?:\*\*)?[ \t\xa0]{{1,4}}"
          r"(?P<bare>[^\W\d_]{4,24}+)(?=[.!]{1,3}(?:\s|\Z)|[ \t]{0,8}(?:[\r\n]|\Z))", re.IGNORECASE, is_guess=True),
    _rule("card-number", "2 3 4 5 6",
          r"[2-6](?<![0-9.+-][2-6])(?<![0-9] [2-6])(?P<card>[0-9]{3}([ -])(?:[0-9]{4}\2[0-9]{4}\2"
          r"(?:[0-9]{4}(?:\2[0-9]{3})?|[0-9]{1,3})|[0-9]{6}\2[0-9]{4,5}))(?![ .-]?[0-9])", is_guess=True),
)  # fmt: skip
"""In this order: what is more particular comes first, and names what goes."""

_HINTS = [
    (hint, number, bool(rule.pattern.flags & re.IGNORECASE)) for number, rule in enumerate(RULES) for hint in rule.hints
]
_EXACT = [(hint, number) for hint, number, is_folded in _HINTS if not is_folded]
_FOLDED = [(hint, number) for hint, number, is_folded in _HINTS if is_folded]
"""Nearly every message holds no secret: to know that must cost little."""

_PLACEHOLDER = re.compile(
    r"(?i)^(?:\$|%|<|\{|\*{3}|x{4}|\.{3}|your|my[_-]|example|changeme|placeholder|redacted|none$|null$|true$|false$"
    r"|undefined$|process\.env|os\.environ|env\.|secrets\.|config\.|self\.|args\.|[a-z_]+\.[a-z_.]+$|/|~/|\./|https?://[^@]*$)"
)


_SENTENCE_WORDS = _split(
    "a about after all also always an and any around as ask asked at be been before behind being below between by can "
    "changed characters defaults different each empty every expected for forgotten from gone had has hashed have "
    "hidden if in incorrect inside into invalid it its kept known letters long lost mandatory may minimum missing "
    "must my near need needed needs never no none not now of off on once only optional or our out over per pick "
    "random read required same see set shared short should since still stored string strong than that the their then "
    "this through to too typed under unknown unset until up use used using very was we weak what when which will with "
    "within without words written wrong you your dans das dem den der die el en est för im inte ist la le les nicht "
    "och på und är"
)
"""Words of sentences about a passphrase, which is made of others."""

_STATE_WORDS = _SENTENCE_WORDS | _split(
    "above anything attempt bool boolean bytes check confidential correct done enter etc fail fails fine good "
    "hash here hint identical input later manager nothing number object okay pending plain prompt public reset "
    "right secure soon str tbd temporary text there todo valid varchar yes "
    "abgelaufen falsch fehlt geheim geändert geschützt gleich keine keines keins leer nötig oben pflicht richtig "
    "schwach sicher siehe stark unbekannt unten unverändert vergessen zurückgesetzt erforderlich "
    "bytt fattas fel glömt hemligt inget krävs nedan okänt ovan rätt saknas samma skyddat starkt svagt tomt utgånget "
    "valfritt ändrat återställt obligatoriskt "
    "aucun changé expiré facultatif faible faux fort identique inconnu inchangé manquant même modifié "
    "obligatoire optionnel oublié perdu protégé requis réinitialisé vide "
    "cambiada caducada correcta desconocida débil expirada fuerte incorrecta misma necesaria ninguna obligatoria "
    "olvidada opcional perdida protegida requerida restablecida vacía "
    "alterada correta desconhecida errada esquecida forte fraca incorreta mesma mudada necessária nenhuma obrigatória "
    "redefinida vazia "
    "beveiligd fout geen gereset gewijzigd hetzelfde juist leeg onbekend onjuist ontbreekt optioneel sterk veranderd "
    "vereist vergeten verlopen verplicht zwak"
)
"""What may stand alone behind `password:` and says how it is with it, or of what type it is."""

_UNSEEN = re.compile(
    r"(?<=[!-~])[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]+(?=[!-~])"
)
"""What has no width, between two characters of a kind that keys are made of: a copied key may hold it."""


def redacted(text: str) -> str:
    """The text with `[redacted: aws-key]` in place of each secret; everything else stays as it is."""
    text = _redact(text)
    seen = _UNSEEN.sub("", text) if not text.isascii() else text
    if seen == text or (found := _redact(seen)) == seen:
        return text
    return found


def kinds(*texts: str) -> set[str]:
    """What secrets are in some texts, by their names; marks of ours that stand there already are none."""
    return {kind for text in texts for kind in _find_marks(redacted(text)) - _find_marks(text)}


def _find_marks(text: str) -> set[str]:
    return set(re.findall(r"\[redacted: ([a-z-]+)\]", text))


def _redact(text: str) -> str:
    folded = text.casefold()
    there = [number for hint, number in _EXACT if hint in text]
    there += [number for hint, number in _FOLDED if hint in folded]
    for number in sorted(set(there)):
        text = RULES[number].pattern.sub(partial(_replace, RULES[number]), text)
    return text


def _replace(rule: Rule, match: re.Match[str]) -> str:
    groups = match.groupdict()
    group = next((name for name in ("secret", "words", "quoted", "bare") if groups.get(name) is not None), None)
    if rule.is_guess and not _looks_random(match[group or 0], groups):
        return match[0]
    name = "password" if _is_password(groups.get("name")) else rule.name
    if group is None:
        return f"[redacted: {name}]"
    start, end = (at - match.start() for at in match.span(group))
    return f"{match[0][:start]}[redacted: {name}]{match[0][end:]}"


def _is_password(name: str | None) -> bool:
    """Whether a value's name says that it is a password: one may be made of words."""
    return (name or "").casefold().startswith(("pass", "pwd"))


def _looks_random(value: str, groups: dict[str, str | None]) -> bool:
    """Whether a named value is one chosen to be secret, rather than a word, a variable or a form to fill in."""
    if value.startswith("[redacted") or _PLACEHOLDER.search(value):
        return False
    if "typed" in groups:  # behind an option that takes nothing else
        return True
    if "words" in groups:
        said = re.split(r"[\s-]+", value.casefold())
        return _SENTENCE_WORDS.isdisjoint(said) and not said[0].endswith("ed")  # `rotated yesterday`
    if "card" in groups:
        return _has_luhn_sum(value)
    if "cited" in groups:  # nobody cites how it is with a password
        return True
    if "alone" in groups:
        return value.casefold() not in _STATE_WORDS and not value.casefold().endswith("ed")
    if _entropy(value) < MIN_ENTROPY:
        return False
    mixed = any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
    if told := groups.get("told"):  # in a sentence, where nearly every other word could follow
        return mixed or (groups.get("quoted") is not None and "phrase" in told.casefold() and " " in value)
    marked = any(not (char.isalnum() or char in "._-/:") for char in value)
    tight = groups.get("by") == "="  # DB_PASSWORD=hunter: an assignment in a shell or a file of settings
    if _is_password(groups.get("name")) and value.isalpha() and len(value) > LONGEST_WORD:
        return True
    return mixed or marked or tight or (groups.get("quoted") is not None and " " not in value)


def _has_luhn_sum(number: str) -> bool:
    digits = [int(char) for char in reversed(number) if char.isdigit()]
    return sum(digits[::2]) % 10 == -sum(sum(divmod(2 * each, 10)) for each in digits[1::2]) % 10


def _entropy(text: str) -> float:
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts) if text else 0.0
