"""Takes secrets out of texts: what they look like, and what stands in their place.

A secret is known by one of four things: a shape of its own (a vendor's token that is short, a key's armour, a
password's hash), a name beside it in whatever syntax (`_NAMED`), the place in a command, a header or a URL that takes
nothing else, or that it is long and random (the last rule). The table follows the public rule set of gitleaks (MIT) in
its own words.

Libraries were weighed on the shapes of tests/sessions/secret_shapes.txt: detect-secrets takes 0.6 s to import and had
its last release in 2024, kingfisher takes 4.4 s to compile its rules, redact-secret (a beta) lets seven in ten through.
"""

import math
import re
from collections import Counter
from functools import cache
from typing import NamedTuple

from vault_memory.text.terms import STOP_WORDS


class Rule(NamedTuple):
    """One kind of secret: what is printed for it, texts of which one is there when it is, and its pattern.

    The group `secret`, where there is one, is what goes; `is_guess` says that it goes only where it looks random.
    """

    name: str
    hints: tuple[str, ...]
    source: str
    flags: int = 0
    is_guess: bool = False

    @property
    def pattern(self) -> re.Pattern[str]:
        """Compiled when a hint of it is met: all of them take a hook longer than what it does."""
        return _compiled(self.source, self.flags)


@cache
def _compiled(source: str, flags: int) -> re.Pattern[str]:
    return re.compile(source, flags)


MIN_ENTROPY = 1.5
"""Bits a character of what only its name makes a secret: `tiger` has 2.3, `aaaa1111` 1."""

MAX_READ_AGAIN = 256
"""Characters of a value that was no secret in which another name may stand, as in `key="ApiKey" value="…"`."""

LONGEST_WORD = 20
"""Letters of what may follow `password:` in prose; `correcthorsebatterystaple` has 25."""

_END = r"(?![A-Za-z0-9_-])"


def _rule(name: str, hints: str, pattern: str, flags: int = 0, is_guess: bool = False) -> Rule:
    is_guess = is_guess or any(f"(?P<{group}>" in pattern for group in ("typed", "random", "hook", "phrase", "card"))
    return Rule(name, tuple(hints.split(" ")), pattern, flags, is_guess)


def _split(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SECRET_NAMES = (
    r"pass(?:word|wd|phrase|code)|pwd|secret[_-]?key|secret|credential|api[_-]?key|(?:access|account|auth|private)[_-]?key"
    r"|client[_-]?secret|token|mnemonic"
)
_NAMED = (
    rf"(?:(?P<name>{_SECRET_NAMES})|(?:(?<![A-Za-z])|(?-i:(?<=[a-z0-9])(?=[A-Z])))"
    r"(?:(?P<short>pass|pwd?|psk)|(?P<auth>auth)|(?P<key>key(?:[_-]?data)?)))"
    r"(?:s|_?id|[_-]?value|[_-]base|[_-]?[0-9]{1,2}|[_-](?:prod|dev|test|staging|live|main|old|new))?"
)
"""An identifier's end that says that a secret follows; `auth` and `key` say it of what looks random alone."""

_GIVES = (
    r"(?P<by>[\"'`*\\\])]{0,4}[ \t]{0,4}"
    r"(?:=>|:=|->|==?|:[ \t]?[|>]-?\r?\n|:(?:[ \t]?[&\w<>\[\].|?]{1,30}[ \t]?=)?)[ \t]{0,16}"
    r"|[\"']?>|[\"']?\s{1,4}value\s?=\s?|[\"']>\s{0,40}<value>"
    r"|[\"']\s?,\s{0,20}[\"']value[\"']\s?:\s?|[\"']?\r?\n[ \t]{0,20}value:[ \t]{1,4}"
    r"|</key>\s{0,40}<string>|(?P<called>\()(?=[\"'])|(?P<listing>[\"']\s{0,4},\s{0,4})(?=[\"'])"
    r"|[\"'\])]{0,3}\s?(?:\|\||\?\?|or)\s?(?=[\"']))(?:[NbrfuL@$](?=[\"']))?"
)
"""What stands between a name and its value: in settings, JSON, YAML, XML, a property list, a call, a default."""

_VALUE = (
    r"(?:(?P<quote>\\?[\"'`])(?P<quoted>(?![\s,;.)])(?:(?!(?P=quote))[^\r\n]){4,8192})(?P=quote)"
    r"|\[[ \t]?(?P<listed>[\"'][^\]\r\n]{6,2000})\]|(?P<bare>[^\s\"'`,;<>()\[\]{}]{4,8192}))"
)

_OF_WHAT = (
    r"(?:[ \t](?:at|for|of|on|to|in|from|für|zu|zum|von|am|im|till|för|på|i|av|du|de|des|pour|del|para|do|da|van|voor)"
    r"[ \t][^\n:;,\"]{1,60}?)?"
)
"""What a password may be said to be of, between its name and its value."""

_IS = (
    r"(?:['’]s[ \t]{1,4}|[ \t](?:is|was|ist|war|lautet|är|var|est|es|[éè]|e[\u0300\u0301]):?[ \t]{1,4}"
    r"|[ \t\xa0\u202f]?[:=][ \t\xa0]{0,4})"
)

_PASSWORD_NAMES = (
    r"pass(?:wor[dt]|phrase|code)|kennwort|l(?:ö|o\u0308)senord(?:et)?|mot[ \t]de[ \t]passe"
    r"|contrase(?:ñ|n\u0303)a|senha|wachtwoord|(?:wlan|wi-?fi)[- ]?(?:schlüssel|key)"
)
"""What a password is called in a sentence."""

_PASSWORD_HINTS = "passwor passphrase passcode kennwort senord passe contrase senha wachtwoord wlan wi-fi wifi"

_WORD = r"[^\W_]{1,24}"
"""One word of a passphrase: letters and digits."""

_COMMAND = r"[^\n|;&]{0,200}?"
"""What may stand between a command and its option."""

_TYPED = r"(?P<secret>[^\s\"'`|]{4,256})"

RULES = (
    _rule("private-key", "PRIVATE",
          r"----[- ]BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?[- ]----"
          r"(?:[^-]*+(?:-(?!---[- ](?:BEGIN|END) )[^-]*+)*+"
          r"----[- ]END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?[- ]----"
          r"|[\sA-Za-z0-9+/=:,\\-]*)", re.DOTALL),
    _rule("private-key", "PRIVATE",
          r"(?<![A-Za-z0-9/=])(?:[A-Za-z0-9+/]{16,100}={0,2}(?:\\n|\s[>+|]?){1,20}){1,200}"
          r"-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY-----"),
    _rule("private-key", "Private-Lines:", r"Private-Lines: \d+(?P<secret>(?:\s+[A-Za-z0-9+/=]{16,100}(?=\s|\Z))+)"),
    _rule("private-key", '"kty"', r"\"(?:d|k|p|q|d[pq]|qi)\"\s?:\s?\"(?P<secret>[\w-]{16,2000})\""),
    _rule("password-hash", ":::", r"(?<![0-9A-Fa-f])[0-9A-Fa-f]{32}:[0-9A-Fa-f]{32}(?=:::)"),
    _rule("password-hash", "*", r"(?<![\w*])\*[0-9A-F]{40}(?![\w*])"),
    _rule("password-hash", "$",
          r"\$(?:\d[a-z]?|g?y|apr1|argon2[a-z]{0,2}|pbkdf2[\w-]{0,12}|scrypt|P|H|md5|sha\d{1,3})\$[\w./$=,+-]{20,512}"),
    _rule("password-hash", "pbkdf2 scrypt argon2 bcrypt SCRAM-SHA",
          r"\b(?:pbkdf2|scrypt|argon2|bcrypt|SCRAM-SHA)[\w-]{0,12}[$:][\w:$+/=-]{0,80}\$[\w./+=:$-]{20,512}"),
    _rule("password-hash", "{SSHA {SHA {CRYPT} {SMD5} {MD5}", r"\{(?:S?SHA\d{0,3}|CRYPT|S?MD5)\}[\w+/=$.-]{16,256}"),
    _rule("aws-key", "AKIA ASIA ABIA ACCA A3T", r"\b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b"),
    _rule("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"\bgh[opusr]_[A-Za-z0-9_]{36,255}"),
    _rule("github-token", "github_pat_", r"\bgithub_pat_[A-Za-z0-9_]{22,255}"),
    _rule("gitlab-token", "glpat- gldt- glrt- glptt- glcbt-", r"\bgl(?:pat|dt|rt|ptt|cbt)-[A-Za-z0-9_.-]{20,300}"),
    _rule("cookie", "cookie",
          r"\bcookie[\"']?:[ \t]{0,4}[\"']?(?P<secret>[\w.-]{1,64}=[^\s\"'<>;]{8,4096}"
          r"(?:;[ \t]?[\w.-]{1,64}=[^\s\"'<>;]{1,4096})*)",
          re.IGNORECASE),
    _rule("slack-token", "xox xapp-", r"\b(?:xox[a-z](?:\.xox[a-z])?|xapp)-[A-Za-z0-9%-]{10,250}"),
    _rule("anthropic-key", "sk-ant-", r"\bsk-ant-[A-Za-z0-9_-]{20,250}"),
    _rule("openai-key", "sk-", r"\bsk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{20,250}"),
    _rule("openai-key", "sk-", r"\bsk-[A-Za-z0-9]{32,64}" + _END),
    _rule("openrouter-key", "sk-or-", r"\bsk-or-(?:v\d-)?[A-Za-z0-9]{32,128}"),
    _rule("google-key", "AIza", r"\bAIza[A-Za-z0-9_-]{35}" + _END),
    _rule("google-token", "ya29. GOCSPX-", r"\bya29\.[A-Za-z0-9_-]{20,}|\bGOCSPX-[A-Za-z0-9_-]{24,40}"),
    _rule("stripe-key", "k_live_ k_test_", r"\b[spr]k_(?:live|test)_[A-Za-z0-9]{16,250}"),
    _rule("stripe-key", "whsec_", r"\bwhsec_[A-Za-z0-9]{24,250}"),
    _rule("twilio-key", "SK AC", r"\b(?:SK|AC)[0-9a-f]{32}\b"),
    _rule("telegram-token", ":AA", r"(?<!\d)\d{8,10}:AA[A-Za-z0-9_-]{33}" + _END),
    _rule("databricks-token", "dapi", r"\bdapi[a-f0-9]{32}(?:-\d)?\b"),
    _rule("azure-key", "AccountKey= AccessKey=", r"(?:Account|SharedAccess)Key=(?P<secret>[A-Za-z0-9+/=]{40,100})"),
    _rule("age-key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    _rule("atlassian-token", "ATATT3", r"\bATATT3[A-Za-z0-9_=-]{100,300}"),
    _rule("pulumi-token", "pul-", r"\bpul-[a-f0-9]{40}" + _END),
    _rule("square-token", "sq0", r"\bsq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,43}"),
    _rule("mailgun-key", "key-", r"\bkey-[a-f0-9]{32}" + _END),
    _rule("signature", "sig Sig",
          r"[?&](?:sig|signature|X-Amz-Signature|X-Goog-Signature)=(?P<secret>[\w%+/=-]{20,1024})"),
    _rule("password", "curl http", rf"\b(?:curl|https?)\b(?P<typed>{_COMMAND} (?:-[ua] ?|--user[ =]|--auth[ =])"
          rf"[\"']?[^\s:\"'-][^\s:\"']{{0,64}}:){_TYPED}"),
    _rule("password", "mysql mariadb 7z rar",
          rf"\b(?:(?:mysql|mariadb)(?:dump|admin)?|7z|rar)\b(?P<typed>{_COMMAND} -p[\"']?){_TYPED}"),
    _rule("password", "sshpass login mongo twine", r"\b(?:sshpass|mongo[a-z]{0,8}|twine"
          rf"|(?:docker|podman|nerdctl|oc|az|cf|helm|skopeo|buildah)\b{_COMMAND}\blogin)\b"
          rf"(?P<typed>{_COMMAND} -p[ =]?[\"']?){_TYPED}"),
    _rule("password", "-cli zip sqlcmd bcp mosquitto_ ldap smbclient",
          rf"\b(?P<typed>[a-z]{{4,8}}-cli\b{_COMMAND} -a |(?:zip|sqlcmd|bcp|mosquitto_[ps]ub)\b{_COMMAND} -P ?"
          rf"|ldap[a-z]{{3,8}}\b{_COMMAND} -w |smbclient\b{_COMMAND}%)[\"']?{_TYPED}"),
    _rule("password", "ssh-keygen SecureString net -password xfreerdp pass: connect",
          rf"(?P<typed>\bssh-keygen\b{_COMMAND} -N [\"']?|\bConvertTo-SecureString (?:-String )?[\"']"
          rf"|\bnet user \S{{1,64}} |\bgeneric-password\b{_COMMAND} -w [\"']?|\bxfreerdp\b{_COMMAND} /p:"
          rf"|-pass(?:in|out)? pass:|\bconnect \S{{1,64}} password ){_TYPED}"),
    _rule("password", "htpasswd chpasswd sudo -stdin",
          r"(?P<typed>\bhtpasswd -[a-zA-Z]{0,4}b[a-zA-Z]{0,4} \S{1,200} \S{1,64} "
          r"|\becho [\"']?[^\s:\"'|]{1,64}:(?=\S{1,256} ?\| ?(?:sudo )?chpasswd)"
          r"|\becho [\"']?(?:-n )?[\"']?(?=\S{1,256} ?\|(?: ?sudo -\w{0,4}S|[^\n|;&]{1,200}-stdin)))"
          rf"[\"']?{_TYPED}"),
    _rule("password", "machine default",
          r"\b(?:machine\s{1,8}\S{1,200}|default)\s{1,20}login\s{1,8}\S{1,128}\s{1,20}password\s{1,8}(?P<secret>\S{1,256})"),
    _rule("password", "login user account password",
          rf"\b(?P<typed>(?:login|user(?:name)?|account)\s{{1,8}}\S{{1,128}}\s{{1,20}}password\s{{1,8}}){_TYPED}"),
    _rule("password", "pass pwd", r"(?<![A-Za-z])(?:pass(?:word|wd|wort)?|pwd)[ \t]{1,4}"
          r"(?P<strong>(?=\S{0,63}[A-Za-z])(?=\S{0,63}\d)(?=\S{0,63}[!@#$%^&*+?=~])[^\s\"'`,;<>()\[\]{}]{8,64})(?<![.:])",
          re.IGNORECASE, is_guess=True),
    _rule("password", "requirepass masterauth add-authtoken",
          rf"(?P<typed>\b(?:requirepass|masterauth|add-authtoken)[ \t]{{1,4}}[\"']?){_TYPED}"),
    _rule("password", "_PASS _PWD _PW _TOKEN _SECRET _KEY",
          r"(?P<typed>\b[A-Z][A-Z0-9_]{0,40}_(?:PASS(?:WORD|WD|PHRASE)?|PWD?|TOKEN|SECRET|KEY)[ \t]{1,4}[\"']?)"
          r"(?P<secret>[^\s\"'`,;<>()\[\]{}=:][^\s\"'`,;<>()\[\]{}]{5,4096})"),
    _rule("password", "identified password", r"\b(?P<typed>(?:identified\b[^\n;']{0,60}?\bby"
          r"|(?:user|role|login|with)\b[^\n;']{0,80}?\bpassword)\s{0,4}=?\s{0,4}N?')(?P<secret>[^'\n]{3,256})(?=')",
          re.IGNORECASE),
    _rule("password", "passw", r"passw[^()\n]{0,200}\)\s{0,8}VALUES\s{0,8}\((?P<secret>[^()\n]{4,2000})\)",
          re.IGNORECASE),
    _rule("password", "WIFI:", r"\bWIFI:[^\n]{0,200}?\bP:(?P<secret>[^;\n]{4,128});"),
    _rule("password", "login credential creds zugangsdaten",
          r"\b(?:log-?in|credentials?|creds|zugangsdaten)[ \t]{0,4}:?[ \t]{1,4}[^\s:/]{2,40}(?P<typed>[ \t]?[/:][ \t]?)"
          r"(?P<secret>[^\s/:\"'`,;<>()\[\]{}]{6,64})(?![^\s,;.!?)])", re.IGNORECASE),
    _rule("password", ":", r"(?P<typed>^[ \t]{0,8}[\w.*-]{1,100}:(?:\d{2,5}|\*):[\w*-]{1,64}:[\w.*@-]{1,64}:)"
          r"(?P<secret>[^\s:]{4,256})$", re.MULTILINE),
    _rule("password", "auth redential type=", r"(?:\bauth[ \t]?=[ \t]?\([\"'][^\"'\n]{1,64}[\"'],[ \t]?"
          r"|Credentials?\([^()\n]{1,200}?,[ \t]?|type=[\"']password[\"'][^<>\n]{0,200}?\bvalue=)"
          r"(?P<typed>[\"'])(?P<secret>[^\"'\n]{4,512})(?=[\"'])"),
    _rule("password", "pw", rf"(?<![A-Za-z])pw(?:{_IS}|[ \t]{{1,4}})"
          r"(?P<secret>(?=\S{0,64}\d)(?=\S{0,64}[A-Za-z])[^\s\"'`,;<>()\[\]{}]{6,64})", is_guess=True),
    _rule("pin", "PIN", r"\bPIN(?:[ -]?[Cc]ode)?(?:[ \t](?:is|of|for|to)\b[^\n:;,\"\d]{0,40})?[ \t]?[:=]?[ \t]{0,4}"
          r"(?P<secret>\d{4,8})(?![.,]?\d)"),
    _rule("jwt", "eyJ", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*"),
    _rule("bearer-token", "earer", r"\b[Bb]earer\s+(?P<secret>[A-Za-z0-9_.~+/=-]{16,2048})", is_guess=True),
    _rule("basic-login", "asic", r"\b[Bb]asic\s+(?P<secret>[A-Za-z0-9+/]{12,512}={1,2})"),
    _rule("authorization", "authorization",
          r"\bauthorization[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?:(?:[a-z-]{3,20})[ \t]{1,4})?"
          r"(?:[^\n]{0,400}?\bresponse=\")?(?P<secret>[^\s\"',;<>\[\]{}$][^\s\"',;<>\[\]{}]{11,4096})",
          re.IGNORECASE, is_guess=True),
    _rule("login", "auth login",
          r"\b(?:auth|login)[ \t]{1,4}(?P<secret>[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})\b"),
    _rule("webhook", "hook",
          r"\bhttps?://[^\s\"'<>]{0,200}?hook[^\s\"'<>/]{0,100}/(?P<hook>[^\s\"'<>()]{12,1024})"),
    _rule("url-token", "://", r"\b[a-z][a-z0-9+.-]{1,20}://(?P<random>[^\s/:@\"'<>]{16,256})@", is_guess=True),
    _rule("url-password", "://", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"'<>]{0,64}:(?P<secret>[^\s/@\"'<>]{3,256})@"),
    _rule("secret", "--",
          rf"(?<![\w-])--(?:[a-z0-9]{{1,20}}-){{0,3}}(?P<name>{_SECRET_NAMES}|pass)[ \t]{{1,4}}(?=[^\s-]){_VALUE}",
          re.IGNORECASE, is_guess=True),
    _rule("password", "passphrase",
          rf"(?<![A-Za-z])passphrase{_OF_WHAT}{_IS}(?P<words>{_WORD}(?:[ \t-]{{1,2}}{_WORD}){{3,11}}+)(?![^\s,;.!?)])",
          re.IGNORECASE, is_guess=True),
    _rule("seed-phrase", "seed mnemonic phrase backup wallet",
          r"\b(?:seed|mnemonic|recovery|backup|wallet)\b[^\n:=]{0,40}?(?:[:=]|\bis\b)[\s\"'`*]{0,6}"
          r"(?P<phrase>(?:\d{1,2}[.)]\s?)?[^\W\d_]{2,12}(?:[\s,]{1,3}(?:\d{1,2}[.)]\s?)?[^\W\d_]{2,12}){11,23}+)(?!\w)",
          re.IGNORECASE, is_guess=True),
    _rule("secret", "pass pwd pw psk secret credential key token auth mnemonic",
          _NAMED + _GIVES + _VALUE, re.IGNORECASE, is_guess=True),
    _rule("secret", "token key secret schlüssel clave clé chave nyckel sleutel",
          rf"(?<![A-Za-z])(?:token|key|secret|schlüssel|clave|clé|chave|nyckel|sleutel){_OF_WHAT}(?:{_IS}|[ \t])[\"'`]?"
          r"(?P<random>(?:0x)?[A-Za-z0-9][\w.~+/=-]{15,4096})", re.IGNORECASE),
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
    _rule("card-number", "3 4 5 6",
          r"(?<![\w.+-])(?P<card>(?:4\d{3}|5[1-5]\d\d|6011|65\d\d)\d{12}|3[47]\d{13})(?![\w.-])"),
    _rule("token", "", r"(?<![A-Za-z0-9_./%+@&?#~-])"
          r"(?P<random>[A-Za-z0-9][A-Za-z0-9_.+/-]{25,}+(?:={1,2}(?:_[\w+/-]{1,512})?)?)"),
)  # fmt: skip
"""In this order: what is more particular comes first, and names what goes."""

_HINTS = [(hint, number, bool(rule.flags & re.IGNORECASE)) for number, rule in enumerate(RULES) for hint in rule.hints]
_EXACT = [(hint, number) for hint, number, is_folded in _HINTS if not is_folded]
_FOLDED = [(hint, number) for hint, number, is_folded in _HINTS if is_folded]
"""Nearly every message holds no secret: to know that must cost little."""

_PLACEHOLDER = re.compile(
    r"(?i)^(?:\$|%|<|\{|\*{3}|x{4}|\.{3}|your|my[_-]|example|changeme|placeholder|redacted|none$|null$|true$|false$"
    r"|undefined$|process\.env|os\.environ|env\.|secrets\.|config\.|self\.|args\.|[a-z_]\w{0,20}(?:\.[a-z_]\w{0,20})+$|/|~/|\./|https?://[^@]*$"
    r"|[^\s]{0,40}(?:\.\.\.|…|x{4,}|\*{3,})$"
    rf"|[a-z_]*(?:{_SECRET_NAMES})[a-z_]*$)"
)

_NO_KEY = re.compile(
    r"(?i)(?:public|cache|finger|sha-?\d+|\bh1|base64|digest|integrity|checksum|hash)[\w -]{0,12}[^\w\n]{0,4}$"
)
"""What stands before a long random text that is none: a digest, a public key, a picture."""

_QUERY = re.compile(r"[?&][\w.-]{1,30}=$")
"""What stands before a value of a URL: of those only a name tells which are secret."""

_HASH_NAME = re.compile(r"(?i)(?:sha-?\d|md5|h1[-_.]|blake|git-|commit|rev-|AAAA)")
_WORDS = re.compile(r"(?<![A-Za-z0-9])(?:[A-Z]?[a-z]{3,}+|[A-Z]{4,}+)(?![A-Za-z0-9])")
"""Words in a value: two of them, as in `Linux-node-3f78…`, are in no key."""

_HEX = re.compile(r"[0-9a-f]+")
_UUID = re.compile(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_PREFIX = re.compile(r"(?:[A-Za-z0-9]{1,16}([_.-])(?=.{26})){1,3}")


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

VALUE_GROUPS = ("secret", "words", "phrase", "hook", "random", "strong", "quoted", "listed", "bare")
"""What goes of a match is the first of these groups that is there, or all of it."""

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
        text = _apply(RULES[number], text)
    return text


def _apply(rule: Rule, text: str) -> str:
    kept, done, at = [], 0, 0
    pattern = rule.pattern
    while match := pattern.search(text, at):
        group = next((name for name in VALUE_GROUPS if match.groupdict().get(name) is not None), 0)
        start, end = match.span(group)
        at = max(end, match.start() + 1)
        if rule.is_guess and not _looks_random(match[group], match):
            at = at if end - start > MAX_READ_AGAIN else max(start, match.start() + 1)
            continue
        kept += [text[done:start], f"[redacted: {'password' if _is_password(match.groupdict()) else rule.name}]"]
        done = end
    return "".join((*kept, text[done:]))


def _is_password(groups: dict[str, str | None]) -> bool:
    """Whether a value's name says that it is a password: one may be made of words."""
    return bool(groups.get("short")) or (groups.get("name") or "").casefold().startswith(("pass", "pwd"))


def _looks_random(value: str, match: re.Match[str]) -> bool:
    """Whether a value is one chosen to be secret, rather than a word, a variable or a form to fill in."""
    groups = match.groupdict()
    if value.startswith("[redacted") or _PLACEHOLDER.search(value):
        return False
    if typed := groups.get("typed"):  # in a place that takes nothing else
        is_word = value.rstrip(".,;:!?)").isalpha() or not any(map(str.isalpha, value))
        return not is_word or typed.endswith(("'", '"', ":")) or (typed.endswith("-p") and " -u" in typed)
    if "phrase" in groups:
        return _is_seed_phrase(re.findall(r"[^\W\d_]+", value.casefold()))
    if "words" in groups:
        said = re.split(r"[\s-]+", value.casefold())
        return _SENTENCE_WORDS.isdisjoint(said) and not said[0].endswith("ed")  # `rotated yesterday`
    if "card" in groups:
        return _has_luhn_sum(value)
    if "cited" in groups:  # nobody cites how it is with a password
        return True
    if "alone" in groups:
        return value.casefold() not in _STATE_WORDS and not value.casefold().endswith("ed")
    if "hook" in groups:
        return any(_UUID.match(part) or _is_scrambled(part, 8) for part in re.split(r"[/@?]", value))
    if "random" in groups:
        return _is_token(value, match)
    if _entropy(value) < MIN_ENTROPY:
        return False
    if told := groups.get("told"):  # in a sentence, where nearly every other word could follow
        return _has_both(value) or (groups.get("quoted") is not None and "phrase" in told.casefold() and " " in value)
    return _is_named_secret(value, groups, match) if "by" in groups else _has_both(value) or _is_scrambled(value, 16)


def _is_named_secret(value: str, groups: dict[str, str | None], match: re.Match[str]) -> bool:
    before, is_quoted = match.string[max(0, match.start() - 48) : match.start()], groups.get("quoted") is not None
    if groups.get("key"):
        is_hex = _HEX.fullmatch(value) and not re.search(r"[A-Za-z][_.-]?$", before)
        is_other = is_hex or len(_WORDS.findall(value)) > 1 or _UUID.fullmatch(value) or _NO_KEY.search(before)
        return not is_other and _is_scrambled(value.strip(), 16)
    if groups.get("auth"):
        return _is_scrambled(value, 12) and value != value.lower()
    if groups.get("called") and not _is_password(groups):  # get_secret("db-1") names it
        return False
    by = groups.get("by") or ""
    if groups.get("listing") and not re.search(r"\([ \t]?[\"'][\w.-]{0,40}$", before):
        return False
    if groups.get("listing") or by.strip() == "==":  # ("DB_PASSWORD", "…"), but not ("password", "login")
        return is_quoted and " " not in value and _has_both(value)
    if (is_quoted and " " in value and not _is_password(groups)) or match.string[match.end() : match.end() + 1] == "(":
        return False
    if match.string[match.end("name") :][:1] in ("s", "S") and (groups.get("name") or "").casefold() == "token":
        return not value.isidentifier() and _has_both(value)  # budget_tokens=limit, but tokens: ["…"]
    is_tight = by == "="  # DB_PASSWORD=hunter: an assignment in a shell or a file of settings
    if (_is_password(groups) and value.isalpha() and len(value) > LONGEST_WORD) or _is_scrambled(value, 16):
        return True
    if len(value) < 6 and not (is_tight and _is_password(groups)):
        return False
    is_marked = any(not (char.isalnum() or char in "._-/:") for char in (value if is_quoted else value.rstrip("!?")))
    return _has_both(value) or is_marked or is_tight or by.endswith(">") or (is_quoted and " " not in value)


def _is_seed_phrase(words: list[str]) -> bool:
    """Whether words may be a wallet's: 12, 15, 18, 21 or 24 of them, with hardly one that sentences need."""
    needed = sum(word in STOP_WORDS or word in _SENTENCE_WORDS for word in words)
    return not len(words) % 3 and needed <= len(words) // 6 and all(3 <= len(word) <= 8 for word in words)


def _has_both(value: str) -> bool:
    """Whether there are letters and digits in it, as words have not."""
    return any(char.isdigit() for char in value) and any(char.isalpha() for char in value)


def _is_token(value: str, match: re.Match[str]) -> bool:
    """Whether a long text is a key or token: random, and behind a short prefix, a name or in no format of digests."""
    value = value.strip("._-+/")
    if _HASH_NAME.match(value) or _UUID.fullmatch(value):
        return False
    if match.string[match.end() : match.end() + 1] == "(":  # a function of a name that long
        return False
    if match.start("random") > match.start():  # a name stands before it
        return len(_WORDS.findall(value)) < 2 and _is_scrambled(value, 16)
    before = match.string[max(0, match.start() - 40) : match.start()]
    if (
        re.search(r"\.[a-z][a-z0-9]{1,4}$", value)
        or _NO_KEY.search(before)
        or value.startswith("0x")
        or _QUERY.search(before)
    ):
        return False
    if prefix := _PREFIX.match(value):
        body = value[prefix.end() :]
        if _UUID.fullmatch(body):
            return prefix[0].isupper()
        return (
            len(_WORDS.findall(body)) < 2
            and _is_scrambled(body, 20)
            and not (prefix[1] == "-" and _HEX.fullmatch(body))
        )
    has_all = value != value.lower() and value != value.upper()
    return has_all and len(value) >= 40 and not set("/+") & set(value) and _is_scrambled(value, 40, len(value) + 1)


def _is_scrambled(value: str, length: int, longest: int = LONGEST_WORD) -> bool:
    """Whether a text goes to and fro between digits and letters, or has a part that is longer than any word."""
    runs = re.findall(r"[a-z]+|[A-Z]+|[0-9]+", value)
    size, changes = sum(map(len, runs)), len(runs) - 1
    digits = sum(len(run) for run in runs if run.isdigit())
    if longest <= LONGEST_WORD and any(len(run) > LONGEST_WORD + 4 and run.isalpha() for run in runs):
        return True
    if digits < 2:  # camelCase changes less often
        return size >= length and changes >= size * 0.45
    parts = re.findall(rf"[A-Za-z0-9]{{{longest},}}+", value)
    if any(not part.isalpha() and not part.isdigit() for part in parts):
        return True
    words = sum(map(len, _WORDS.findall(value)))
    return digits < size >= length and size // 16 <= digits and changes >= size * 0.25 and words <= size * 0.25


def _has_luhn_sum(number: str) -> bool:
    digits = [int(char) for char in reversed(number) if char.isdigit()]
    return sum(digits[::2]) % 10 == -sum(sum(divmod(2 * each, 10)) for each in digits[1::2]) % 10


def _entropy(text: str) -> float:
    counts = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts) if text else 0.0
