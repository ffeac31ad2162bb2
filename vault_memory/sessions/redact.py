"""Redacts secrets in text: keys, tokens, passwords, PINs and card numbers, each replaced by a mark of its kind.

A secret is recognised by its own shape (`_SHAPES`), by a place in a command, header or URL that takes nothing else
(`_PLACES`), by a name next to it in settings, code or a sentence (`_NAMES`), or by being long and random.

Of the 489 shapes in tests/sessions/secret_shapes.txt this misses 22. Libraries miss far more: redact-transcripts 298,
redact-secret 334, agentscrub 345, detect-secrets 413; detect-secrets with its entropy plugins misses 39, but then
redacts something in 82 of the 89 harmless lines of plain_lines.txt next to it.
"""

import re
from base64 import b64decode
from collections.abc import Callable
from typing import NamedTuple

from vault_memory.text.terms import STOP_WORDS


class Rule(NamedTuple):
    """One kind of secret; any text with one contains at least one of the space-separated `hints`.

    The pattern's group `secret` is redacted, or the whole match if there is none. The `judge` rejects matches that are
    a word, a variable or a placeholder.
    """

    name: str
    hints: str
    pattern: str
    judge: Callable[[str, re.Match[str]], bool] | None = None


MAX_READ_AGAIN = 256
"""A rejected value of up to this many characters is searched again, for it may contain the name of the actual secret,
as in `key="ApiKey" value="…"`."""

# --- shapes: certain without a judge ---------------------------------------------------------------------------------

_KEY_TYPE = r"(?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?"

_SHAPES = (
    Rule("private-key", "PRIVATE",  # to its end line, or as far as it looks like a key; or only its last part
         rf"----[- ]BEGIN {_KEY_TYPE}[- ]----"
         rf"(?:[^-]*+(?:-(?!---[- ](?:BEGIN|END) )[^-]*+)*+----[- ]END {_KEY_TYPE}[- ]----|[\sA-Za-z0-9+/=:,\\-]*)"
         r"|(?<![A-Za-z0-9/=])(?:[A-Za-z0-9+/]{16,100}={0,2}(?:\\n|\s[>+|]?){1,20}){1,200}"
         rf"-----END {_KEY_TYPE}-----"),
    Rule("password-hash", "$ { :::",
         r"(?<![0-9A-Fa-f])[0-9A-Fa-f]{32}:[0-9A-Fa-f]{32}(?=:::)|\{(?:S?SHA\d{0,3}|CRYPT|S?MD5)\}[\w+/=$.-]{16,256}"
         r"|\$(?:\d[a-z]?|g?y|apr1|argon2[a-z]{0,2}|pbkdf2[\w-]{0,12}|scrypt|P|H|md5|sha\d{1,3})\$[\w./$=,+-]{20,512}"
         r"|\b(?:pbkdf2|scrypt|argon2|bcrypt|SCRAM-SHA)[\w-]{0,12}[$:][\w:$+/=-]{0,80}\$[\w./+=:$-]{20,512}"),
    Rule("aws-key", "AKIA ASIA ABIA ACCA", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b"),
    Rule("github-token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"\b(?:gh[opusr]|github_pat)_\w{22,255}"),
    Rule("gitlab-token", "glpat- gldt- glrt- glptt- glcbt-", r"\bgl(?:pat|dt|rt|ptt|cbt)-[\w.-]{20,300}"),
    Rule("slack-token", "xox xapp-", r"\b(?:xox[a-z](?:\.xox[a-z])?|xapp)-[A-Za-z0-9%-]{10,250}"),
    Rule("anthropic-key", "sk-ant-", r"\bsk-ant-[\w-]{20,250}"),
    Rule("openai-key", "sk-", r"\bsk-(?:(?:proj|svcacct|admin|None|or)-[\w-]{20,250}|[A-Za-z0-9]{32,64}(?![\w-]))"),
    Rule("google-key", "AIza ya29. GOCSPX-", r"\b(?:AIza[\w-]{35}(?![\w-])|ya29\.[\w-]{20,}|GOCSPX-[\w-]{24,40})"),
    Rule("stripe-key", "k_live_ k_test_ whsec_", r"\b(?:[spr]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,250}"),
    Rule("token", "SK AC dapi pul- key- sq0 ATATT3 ATCTT3 :AA AGE-SECRET-KEY- pplx- HRKU-",
         r"\b(?:(?:SK|AC|dapi|key-)[0-9a-f]{32}|pul-[0-9a-f]{40}|pplx-[0-9A-Za-z]{32,64}"
         r"|HRKU-[0-9A-Za-z_-]{36,64}|sq0(?:atp|csp|idp)-[\w-]{22,43}"
         r"|AT[AC]TT3[\w=-]{100,300}|AGE-SECRET-KEY-1[A-Z0-9]{58})(?![\w-])|(?<!\d)\d{8,10}:AA[\w-]{33}(?![\w-])"),
)  # fmt: skip
"""The last rule is for rarer vendors; the longer tokens of others are recognised as random."""

# --- judges ----------------------------------------------------------------------------------------------------------

LONGEST_WORD = 24
"""Letters; `correcthorsebatterystaple` has 25."""

_PLACEHOLDER = re.compile(
    r"(?i)^(?:\$|%|<|\{|\*{3}|x{4}|\.{3}|your|my[_-]|example|changeme|placeholder|\[?redacted|none$|null$|true$|false$"
    r"|undefined$|[a-z_]\w{0,20}(?:\.[a-z_]\w{0,20})+$|/|~/|\./|https?://[^@]*$|[^\s]{0,40}(?:\.\.\.|…|x{4,}|\*{3,})$)"
)
_WORDS = re.compile(r"(?<![A-Za-z0-9])(?:[A-Z]?[a-z]{3,}+|[A-Z]{4,}+)(?![A-Za-z0-9])")
_DIGEST = re.compile(r"(?i)sha-?\d|md5|h1[-_.]|blake|argon2|pbkdf2|git-|commit|rev-|AAAA")
_UUID = re.compile(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_PREFIX = re.compile(r"(?:[A-Za-z0-9]{1,16}([_.-])(?=.{26})){1,3}")
_BEFORE_NO_KEY = re.compile(
    r"(?i)(?:public|cache|finger|sha-?\d+|\bh1|base64|digest|integrity|checksum|hash)[\w -]{0,12}[^\w\n]{0,4}$"
    r"|[?&][\w.-]{1,30}=$"
)
"""What precedes a long random text that is no secret: a digest, a public key, an image, a URL parameter."""

_STATES = frozenset(
    """bool boolean bytes check correct empty enter hash here hidden identical invalid later lost missing needed
    nothing number okay optional pending plain please public random reset same secure string strong text unknown
    weak wrong""".split()  # noqa: SIM905
)
"""Words that follow `password:` alone without being a password, as `password: string` in code."""


def _has_letters_and_digits(value: str) -> bool:
    """Whether a value has both letters and digits, which words do not."""
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _is_word(value: str) -> bool:
    return value.isalpha() and (value.islower() or value.istitle() or value.isupper()) and len(value) <= LONGEST_WORD


def _is_scrambled(value: str, length: int) -> bool:
    """Whether a value has a part longer than any word, or alternates between letters and digits."""
    if len(_WORDS.findall(value)) > 1:  # `Linux-node-3f78…`
        return False
    is_long = re.search(rf"[a-z]{{{LONGEST_WORD + 1}}}|[A-Z]{{{LONGEST_WORD + 1}}}", value)
    parts = re.findall(r"[A-Za-z0-9]{20,}+", value)
    is_mixed = any(re.search(r"\d.*\d", part) and _has_letters_and_digits(part) for part in parts)
    return bool(is_long) or is_mixed or _alternates(value, length)


def _alternates(value: str, length: int) -> bool:
    runs = re.findall(r"[a-z]+|[A-Z]+|[0-9]+", value)
    size, changes, digits = sum(map(len, runs)), len(runs) - 1, sum(map(str.isdigit, value))
    if digits < 2:  # camelCase changes less often
        return size >= length and changes >= size * 0.45
    words = sum(map(len, _WORDS.findall(value)))
    return digits < size >= length and size // 16 <= digits and changes >= size * 0.25 and words <= size * 0.25


def _is_key(value: str, match: re.Match[str]) -> bool:
    """After a name, or in a place for a key: scrambled, and neither a digest nor a UUID."""
    value = value.strip("._-+/")
    return not (_DIGEST.match(value) or _UUID.fullmatch(value)) and _is_scrambled(value, 16)


def _is_long_key(value: str, match: re.Match[str]) -> bool:
    """Without a name: scrambled after a short prefix, or in mixed case unlike a digest."""
    value, before = value.strip("._-+/"), match.string[max(0, match.start() - 40) : match.start()]
    is_file = re.search(r"\.[a-z][a-z0-9]{1,4}$", value)
    is_other = is_file or match.string.startswith("(", match.end()) or value.startswith("0x")
    if is_other or _DIGEST.match(value) or _UUID.fullmatch(value) or _BEFORE_NO_KEY.search(before):
        return False
    if prefix := _PREFIX.match(value):
        body = value[prefix.end() :]
        return _is_scrambled(body, 20) and not (prefix[1] == "-" and re.fullmatch("[0-9a-f]+", body))
    has_all = value != value.lower() and value != value.upper() and not set("/+") & set(value)
    return has_all and len(value) >= 40 and _alternates(value, 40)


def _is_typed(value: str, match: re.Match[str]) -> bool:
    """In a place for a password: a plain word counts only in quotes, or if a user is given too."""
    before = match.string[match.start() : match.start("secret")]
    is_sure = before[-1:] in ("'", '"', ":") or " -u" in before
    return is_sure or not (_is_word(value.rstrip(".,;:!?)")) or not any(map(str.isalpha, value)))


def _is_credential(value: str, match: re.Match[str]) -> bool:
    return value.endswith("=") or _has_letters_and_digits(value) or _is_scrambled(value, 12)


def _is_basic_auth(value: str, match: re.Match[str]) -> bool:
    """A user, a colon and a password in base64, or else a key."""
    try:
        return re.fullmatch(rb"[!-~]+:[!-~]+", b64decode(value, validate=True)) is not None or _is_key(value, match)
    except ValueError:
        return _is_key(value, match)


def _is_named(value: str, match: re.Match[str]) -> bool:
    """Next to a name in settings, code or markup."""
    by, name, is_quoted, is_password = match["by"], match["name"], match["quote"], match["password"]
    if len(set(value)) < 4 or match.string.startswith("(", match.end()):
        return False
    if name is None:
        before = match.string[max(0, match.start() - 48) : match.start()]
        is_hex = re.fullmatch("[0-9a-f]+", value) and not re.search(r"[A-Za-z][_.-]?$", before)
        return not (is_hex or _BEFORE_NO_KEY.search(before)) and _is_key(value, match)
    if re.fullmatch(f"(?i)[a-z_]*(?:{_PASS}|{_SECRET_NAMES})[a-z_]*", value) or ("(" in by and not is_password):
        return False  # get_secret("db-1") names it
    if "," in by or "==" in by or by.isspace():  # ("DB_PASSWORD", "…"), but not ("password", "login")
        return bool(is_quoted) and len(value) > 5 and " " not in value and _has_letters_and_digits(value)
    if is_quoted and " " in value:
        return is_password is not None
    if match["plural"] and name.casefold() == "token":  # budget_tokens=limit, but tokens: ["…"]
        return not value.isidentifier() and _has_letters_and_digits(value)
    is_tight = by == "="  # DB_PASSWORD=hunter: an assignment in a shell or a settings file
    if len(value) < 6:
        return is_tight and is_password is not None
    is_marked = re.search(r"[^\w.:/-]", value if is_quoted else value.rstrip("!?"))
    is_said = is_marked or is_tight or is_quoted or by.endswith(">") or (is_password and len(value) > LONGEST_WORD)
    return bool(is_said) or _has_letters_and_digits(value) or _is_scrambled(value, 16)


def _is_said(value: str, match: re.Match[str]) -> bool:
    """After a word for password in a sentence: in quotes, of letters and digits, or a lone word after a colon."""
    if match["quote"]:
        return True
    if ":" in match["by"] and value.isalpha():
        is_end = re.match(r"[.!]{0,3}[ \t]{0,8}(?:[\r\n]|\Z)|[.!]{1,3}\s", match.string[match.end() : match.end() + 12])
        word = value.casefold()
        return bool(is_end) and len(word) > 3 and word not in STOP_WORDS | _STATES and not word.endswith("ed")
    if value.isdigit() and not match["by"].isspace():
        return 3 < len(value) < 9
    return (
        len(value) > 5
        and _has_letters_and_digits(value)
        and not (_DIGEST.match(value) or re.match(r"\d+-[a-z]|base64", value))
    )


def _is_phrase(value: str, match: re.Match[str]) -> bool:
    """Words that form a passphrase or a wallet's seed: with hardly any stop words, unlike a sentence."""
    words = re.findall(r"[^\W\d_]+", value.casefold())
    needed = sum(word in STOP_WORDS for word in words)
    if len(words) < 12:
        return not needed and not words[0].endswith("ed")  # "rotated yesterday …"
    return not len(words) % 3 and needed <= len(words) // 6 and all(3 <= len(word) <= 8 for word in words)


def _is_pin(value: str, match: re.Match[str]) -> bool:
    """After a word for PIN: no date ("the door code of 2019"), and no plug or verb ("pin 101", "we pin to 1200")."""
    by = (match["by"] or "").casefold().split()
    if by[-1:] in (["of"], ["for"], ["to"], ["de"], ["für"], ["von"]):
        return False
    if match["pin"] in (None, "PIN"):
        return True
    verbs = [re.fullmatch("is|ist|lautet|est|es|é", word) for word in by]
    is_linked = match.string[match.end("pin") : match.start("secret")].strip() != ""
    return is_linked and len(value) > 3 and (not any(verbs) or verbs[-1] is not None)


def _has_luhn_sum(number: str, match: re.Match[str]) -> bool:
    digits = [int(char) for char in reversed(number) if char.isdigit()]
    return sum(digits[::2]) % 10 == -sum(sum(divmod(2 * each, 10)) for each in digits[1::2]) % 10


# --- places ----------------------------------------------------------------------------------------------------------

_TYPED = r"[\"']?(?P<secret>[^\s\"'`|]{4,256})"
_OPTIONS = {
    "curl|https?": r"(?:-[ua] ?|--user[ =]|--auth[ =])[\"']?[^\s:\"'-][^\s:\"']{0,64}:",
    "(?:mysql|mariadb)(?:dump|admin)?|7z|rar": "-p",
    "sshpass|mongo[a-z]{0,8}|twine|(?:docker|podman|oc|az|cf|helm) login": "-p[ =]?",
    "[a-z]{4,8}-cli|ldap[a-z]{3,8}|ssh-keygen|zip|sqlcmd|bcp|mosquitto_[ps]ub": "(?:-[aNPw] ?|--pass )",
    "security": "-w ",
    "smbclient": r"\S{1,99}%",
    "openssl": "-pass(?:in|out)? pass:",
    "htpasswd": r"-[a-zA-Z]{0,4}b[a-zA-Z]{0,4} \S{1,99} \S{1,64} ",
    "ConvertTo-SecureString": "",
}
"""What precedes the password in a command line, by command."""

_LOCKED = (
    "alarm[ae]?|door|gate|locker|lock|safe|garage[nm]?|garaje|keypad|card|entry|access|(?:haus)?tür|tor|tresor|spind|"
    "schließfach|schloss|zugangs?|(?:ec-?|bank)?karte|alarmanlage|carte|porte|portail|coffre|casier|cadenas|immeuble|"
    "accès|entrée|tarjeta|puerta|portal|caja|taquilla|candado|edificio|acceso|cartão|porta|portão|cofre|cacifo|armário|"
    "cadeado|prédio|acesso|entrada"
)
"""What a code of digits opens. Naming what it does not open instead (zip codes, error codes …) would be endless."""
_IS_OR_OF = "is|of|for|to|ist|lautet|de[rsl]?|für|vo[nm]|zu[mr]?|meiner|d[aou]|(?:c['’])?est|es|é"

_MARK = r"\[redacted: ([a-z-]+)\]"
"""What stands in the place of a secret, which an earlier rule may have put there."""
_ANY_OPTION = "|".join(rf"(?:{command})\b[^\n|;&]{{0,200}}? {option}" for command, option in _OPTIONS.items())

_PLACES = (
    Rule("cookie", "cookie",
         rf"(?i)\bcookie[\"']?:[ \t]{{0,4}}[\"']?(?P<secret>[\w.-]{{1,64}}=(?:{_MARK}|[^\s\"'<>;]{{8,4096}})"
         rf"(?:;[ \t]?[\w.-]{{1,64}}=(?:{_MARK}|[^\s\"'<>;]{{1,4096}}))*)"),
    Rule("signature", "sig Sig",
         r"[?&](?:sig|signature|X-Amz-Signature|X-Goog-Signature)=(?P<secret>[\w%+/=-]{20,1024})"),
    Rule("password", "curl http mysql mariadb 7z rar sshpass mongo twine login -cli zip sqlcmd bcp mosquitto_ ldap "
         "security smbclient ssh-keygen openssl htpasswd SecureString",
         rf"\b(?:{_ANY_OPTION}){_TYPED}", _is_typed),
    Rule("password", "echo",
         r"\becho (?:-n )?[\"']?(?:[^\s:\"'|]{1,64}:)?(?P<secret>[^\s\"'`|]{4,256})[\"']? ?"
         r"\|[^\n|;&]{0,200}?(?:\bsudo -\w{0,4}S|\bchpasswd|-stdin|\bbase64\b)", _is_typed),
    Rule("password", "machine", r"\bmachine\s+\S{1,99}\s+login\s+\S{1,99}\s+password\s+(?P<secret>\S{1,256})"),
    Rule("password", "identified password",
         r"(?i)(?:\bidentified\b[^\n;'\"]{0,60}?\bby|\b(?:user|role|login|with|for)\b[^\n;'\"]{0,80}?\bpassword)"
         r"\s{0,4}=?\s{0,4}(?:N|PASSWORD\()?(?P<q>['\"])(?P<secret>(?:(?!(?P=q))[^\n]){3,256})(?P=q)"),
    Rule("password", "IDENTIFIED BY", r"\bIDENTIFIED BY (?P<secret>[^\s'\";]{3,256})"),
    Rule("password", "WIFI:", r"\bWIFI:[^\n]{0,200}?\bP:(?P<secret>[^;\n]{4,128});"),
    Rule("password", "login log-in credential creds zugangsdaten",
         r"(?i)\b(?:log-?in|credentials?|creds|zugangsdaten)[ \t]{0,4}:?[ \t]{1,4}[^\s:/]{2,40}[ \t]?[/:][ \t]?"
         r"(?P<secret>[^\s/:\"'`,;<>()\[\]{}]{6,64})(?![^\s,;.!?)])", _is_typed),
    Rule("password", "auth redential type=", r"(?:\bauth[ \t]?=[ \t]?\([\"'][^\"'\n]{1,64}[\"'],[ \t]?"
         r"|Credentials?\([^()\n]{1,200}?,[ \t]?|type=[\"']password[\"'][^<>\n]{0,200}?\bvalue=)"
         r"[\"'](?P<secret>[^\"'\n]{4,512})(?=[\"'])", _is_typed),
    Rule("pin", "pin cv code código geheimzahl",
         rf"(?i)\b(?:(?P<pin>pin)(?:[ -]?(?:code|number|nummer))?|cv[vc]2?|digicode|geheimzahl|(?:{_LOCKED})[ -]?code"
         rf"|c(?:ode|ódigo)[ \t](?:secre|(?:[\w'’]{{1,4}}[ \t'’]){{1,2}}(?:{_LOCKED}))\w*)"
         rf"(?P<by>(?:[ \t][^\W\d]{{1,12}})?,?[ \t](?:{_IS_OR_OF})\b[^\n:;,\"\d]{{0,40}})?[ \t]?[:=]?[ \t]{{0,4}}"
         r"(?P<secret>\d{3,8}|(?-i:(?=[A-Z]{0,6}\d)[\dA-Z]{4,8}))(?![.,-]?\w)", _is_pin),
    Rule("authorization", "authorization bearer basic",
         r"(?i)\b(?:authorization[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?:[a-z-]{3,20}[ \t]{1,4})?"
         r"(?:[^\n]{0,400}?\bresponse=\")?|(?:bearer|basic)[ \t]{1,4})(?P<secret>[^\s\"',;<>()\[\]{}]{12,4096})",
         _is_credential),
    Rule("credential", "auth client-key-data",  # in base64, which is short where the password is
         r"(?:(?<![A-Za-z])_auth[ \t]?=[ \t]?|[\"']auth[\"'][ \t]?:[ \t]?|\bclient-key-data:[ \t]?)[\"']?"
         r"(?P<secret>[A-Za-z0-9+/]{8,8192}={0,2})", _is_basic_auth),
    Rule("webhook", "hook", r"\bhttps?://[^\s\"'<>]{0,200}?hook[^\s\"'<>/]{0,100}/(?P<secret>[^\s\"'<>()]{12,1024})",
         _is_key),
    Rule("url-token", "://", r"\b[a-z][a-z0-9+.-]{1,20}://(?P<secret>[^\s/:@\"'<>]{16,256})@", _is_key),
    Rule("url-password", "://", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'<>]{0,64}:(?P<secret>[^\s/@\"'<>]{3,256})@"),
)  # fmt: skip

# --- names -----------------------------------------------------------------------------------------------------------

_PASS = "pass(?:word|wd|phrase|code)|pwd"
_SECRET_NAMES = (
    r"secret[_-]?key|secret|credential|(?:api|access|account|auth|private)[_-]?key"
    r"|client[_-]?secret|token|mnemonic"
)
_APART = r"(?:(?<![A-Za-z])|(?-i:(?<=[a-z0-9])(?=[A-Z])))"
_NAMED = (
    rf"(?:(?P<name>(?P<password>{_PASS}|{_APART}(?:pass|pw|psk))|{_SECRET_NAMES})|{_APART}(?:auth|j?session_?id|key(?:[_-]?data)?))"
    r"(?:(?P<plural>s)|_?id|[_-]value|[_-]base|[_-]?[0-9]{1,2}|[_-](?:prod|dev|test|staging|live|main|old|new))?"
)
"""The end of an identifier that announces a secret; without the group `name`, only a random-looking value counts."""

_GIVES = (
    r"(?P<by>[\"'`*\\\])]{0,4}[ \t]{0,4}"
    r"(?:=>|:=|->|==?|:[ \t]?[|>]-?\r?\n|:(?:[ \t]?[&\w<>\[\].|?]{1,30}[ \t]?=)?)[ \t]{0,16}"
    r"|[\"']?>|[\"']?[\s,>]{1,40}[<\"']?value[\"']?\s?[=:>]\s{0,4}|</key>\s{0,40}<string>|[ \t]{1,4}(?=[\"'])"
    r"|\((?=[\"'])|[\"']\s{0,4},\s{0,4}(?=[\"'])|[\"'\])]{0,3}\s?(?:\|\||\?\?|or)\s?(?=[\"']))(?:[NbrfuL@$](?=[\"']))?"
)
"""What separates a name from its value in settings, JSON, YAML, XML, a property list, a call or a default."""

_VALUE = (
    r"(?P<quote>\\?[\"'`])?(?P<secret>(?(quote)(?![\s,;.)])(?:(?!(?P=quote))[^\r\n]){4,8192}"
    r"|(?:\[[ \t]?[\"'][^\]\r\n]{6,2000}[\"']\]|[^\s\"'`,;<>()\[\]{}]{4,8192})))(?(quote)(?P=quote))"
)
_OF_WHAT = (
    r"(?:[ \t](?:at|for|of|on|to|in|from|für|zu|zum|von|am|im|till|för|på|i|av|du|de|des|pour|del|para|do|da|van|voor)"
    r"[ \t][^\n:;,\"]{1,60}?)?"
)
_IS = (
    r"(?:['’]s[ \t]{1,4}|[ \t](?:is|was|ist|war|lautet|är|var|est|es|[éè]|e[\u0300\u0301]):?[ \t]{1,4}"
    r"|[ \t\xa0\u202f]?[:=][ \t\xa0]{0,4})"
)
"""In a sentence: what the secret is for (`_OF_WHAT`), and the verb or sign that joins it to its name (`_IS`)."""

_PASSWORD_NAMES = (
    r"pass(?:wor[dt]|phrase|code|wd)|pwd?|requirepass|masterauth|authtoken|kennwort|l(?:ö|o\u0308)senord(?:et)?"
    r"|mot[ \t]de[ \t]passe|contrase(?:ñ|n\u0303)a|senha|wachtwoord|(?:wlan|wi-?fi)[- ]?(?:schlüssel|key)"
)
_SAID = (
    r"(?:(?P<quote>[\"'`“„«‘‚])[ \xa0\u202f]?)?(?P<secret>"
    r"(?(quote)(?![\s),;.+\]}\"'`])[^\"`“”„«»\r\n]{3,256}?(?<![\s(\[{,+])"
    r"|[^\s\"'`“„«,;<>()\[\]{}]{3,255}[^\s\"'`,;<>()\[\]{}.:!?]))(?(quote)[ \xa0\u202f]?[\"'`”“»’‘](?!\w))"
)

_NAMES = (
    Rule("password", "passphrase", rf"(?i)(?<![A-Za-z])passphrase{_OF_WHAT}{_IS}"
         r"(?P<secret>[^\W_]{1,24}(?:[ \t-]{1,2}[^\W_]{1,24}){3,10}+)(?![^\s,;.!?)])", _is_phrase),
    Rule("seed-phrase", "seed mnemonic phrase backup wallet words",
         r"(?i)\b(?:seed|mnemonic|recovery|backup|wallet|words)\b[^\n:=]{0,40}?(?:[:=]|\bis\b)[\s\"'`*]{0,6}"
         r"(?P<secret>(?:\d{1,2}[.)]\s?)?[^\W\d_]{2,12}(?:[\s,]{1,3}(?:\d{1,2}[.)]\s?)?[^\W\d_]{2,12}){11,23}+)(?!\w)",
         _is_phrase),
    Rule("secret", "pass pwd pw psk secret credential key token auth mnemonic session", f"(?i){_NAMED}{_GIVES}{_VALUE}",
         _is_named),
    Rule("secret", "token key secret schlüssel clave clé chave nyckel sleutel",
         rf"(?i)(?<![A-Za-z])(?:token|key|secret|schlüssel|clave|clé|chave|nyckel|sleutel)"
         rf"(?:{_OF_WHAT}{_IS}|[ \t])[\"'`]?"
         r"(?P<secret>(?:0x)?[A-Za-z0-9][\w.~+/=-]{15,4096})", _is_key),
    Rule("password", "pass pw masterauth authtoken kennwort senord contrase senha wachtwoord wlan wi-fi wifi",
         rf"(?i)(?<![^\W_])(?:{_PASSWORD_NAMES})\*{{0,2}}(?P<by>{_OF_WHAT}{_IS}|[ \t]{{1,4}})"
         rf"(?:\*\*[ \t]{{0,4}})?{_SAID}", _is_said),
    Rule("card-number", "2 3 4 5 6",
         r"[2-6](?<![0-9.+-][2-6])(?<![0-9] [2-6])[0-9]{3}([ -])(?:[0-9]{4}\1[0-9]{4}\1"
         r"(?:[0-9]{4}(?:\1[0-9]{3})?|[0-9]{1,3})|[0-9]{6}\1[0-9]{4,5})(?![ .-]?[0-9])"
         r"|(?<![\w.+-])(?:(?:4\d{3}|5[1-5]\d\d|6011|65\d\d)\d{12}|3[47]\d{13})(?![\w.-])", _has_luhn_sum),
    Rule("token", "", r"(?<![A-Za-z0-9_./%+@&?#~-])"
         r"(?P<secret>[A-Za-z0-9][A-Za-z0-9_.+/-]{25,}+(?:={1,2}(?:_[\w+/-]{1,512})?)?)", _is_long_key),
)  # fmt: skip

RULES = (*_SHAPES, *_PLACES, *_NAMES)
"""Applied in this order: more specific rules come first, so that theirs is the kind in the mark."""

_UNSEEN = re.compile(
    r"(?<=[!-~])[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]+(?=[!-~])"
)
"""Zero-width characters between two printable ASCII characters: a copied key may contain them."""


def redacted(text: str) -> str:
    """The text with each secret replaced by a mark such as `[redacted: aws-key]`.

    Zero-width characters are dropped from the text if they hid a secret.
    """
    text = _redact(text)
    seen = _UNSEEN.sub("", text) if not text.isascii() else text
    return text if seen == text or (found := _redact(seen)) == seen else found


def kinds(*texts: str) -> set[str]:
    """The kinds of secrets in the texts, not counting those already redacted."""
    return {kind for text in texts for kind in {*re.findall(_MARK, redacted(text))} - {*re.findall(_MARK, text)}}


def _redact(text: str) -> str:
    folded = text.casefold()
    for rule in RULES:  # the hints make it cheap to see that a text has no secret, as most have none
        place = folded if rule.pattern.startswith("(?i)") else text
        if any(hint in place for hint in rule.hints.split(" ")):
            text = _apply(rule, text)
    return text


def _apply(rule: Rule, text: str) -> str:
    kept, done, at = [], 0, 0
    pattern = re.compile(rule.pattern)  # lazily, cached by `re`: compiling all takes longer than a hook's own work
    group = "secret" if "secret" in pattern.groupindex else 0
    while match := pattern.search(text, at):
        start, end = match.span(group)
        at = max(end, match.start() + 1)
        if rule.judge and (_PLACEHOLDER.search(match[group]) or not rule.judge(match[group], match)):
            at = at if end - start > MAX_READ_AGAIN else max(start, match.start() + 1)
            continue
        is_password = match.groupdict().get("password")  # the name says so
        kept += [text[done:start], f"[redacted: {'password' if is_password else rule.name}]"]
        done = end
    return "".join((*kept, text[done:]))
