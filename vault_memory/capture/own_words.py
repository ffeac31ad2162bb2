"""Extracts the sentences a message's sender typed: no code, tags, letters, quotations or pasted text. Pure."""

import re
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from vault_memory.capture.remember_requests import SAYING, is_request
from vault_memory.text.word_classes import MONTHS, joined, pattern_of

TYPED_CHARS, TYPED_LINES = 1500, 12
"""A longer message is taken as pasted, except for its first and last paragraphs."""

END_CHARS = 8000
"""How much is read at each end of a message, code and tags aside; the middle of a longer one was pasted."""

_SAYING = "|".join([*sorted(SAYING), "say", "wrote", "writes", "schrieb", "schreibt", "écrit", "escribió", "escreveu"])
_TEXTS = joined(r"""
    docs?|documentation|readme|manual|wiki|page|site|website|article|book|blog|post|thread|ticket|issue|slack|
    e?-?mails?|message|letter|contract|spec|handbook|guide|notes|flyer|changelog|transcript|reviews?|logs?|output|
    doku|handbuch|anleitung|seite|nachricht|brief|vertrag|fehler|manuel|lettre|contrat|correo|mensaje|carta|contrato|
    mensagem|página
""")
_SHOWN = joined(r"""
    text|title|heading|headline|caption|banner|header|footer|sign|poster|card|label|subject|
    texte?|titel|überschrift|plakat|aushang|schild|fußzeile|betreff|titre|affiche|panneau|objet|texto|título|cartel|
    asunto|cartaz|placa|assunto
""")
"""Texts that others are to read, which an order may change."""
_WRITING = joined(r"""
    write|draft|compose|reply|answer|respond|rewrite|reword|rephrase|translate|text|tell|(?:be)?schreibe?|entw[ie]rf|
    formuliere?|antworte?|beantworte|übersetze?|écri[st]|écrivez|rédige[zr]?|réponds?|répondez|tradui[st]|traduisez|
    escrib[ea]|redacta|responde?|contesta|traduc[ea]|tradu[cz]a?|escrev[ae]|redige|redija
""")
_EDITING = joined(r"""
    change|edit|update|set|put|add|make|ändere?|setze?|schreibe?|füge?|changez?|modifiez?|mets|mettez|ajoutez?|cambia|
    modifica|pon|añade|muda|altera|põe|coloca|adiciona
""")
"""The imperatives of writing a text, and of changing one."""
_LEAD_IN = re.compile(
    rf"^(?=[^\n]*\b(?:{_SAYING}|{_TEXTS}|sent|here'?s|here is|pasted?|from|error|hier ist|voici|aquí está|aqui está)\b)"
    r"[^\n]*:[ \t]*$(?!\n+\0)",
    re.IGNORECASE | re.MULTILINE,
)
"""A line that announces a pasted text."""
_QUOTING = re.compile(
    rf"(?:^|(?<=[.!?] ))(?:[^\n:.!?]{{0,60}}?\b(?<!\bi )(?<!\bwe )(?<!\bich )(?<!\bje )(?:{_SAYING})|"
    rf"[^\n:.!?]{{0,60}}?\b(?:from|aus|von|vom|extrait|de|del|da|do|du) (?:[\w'’-]+ ){{0,3}}?(?:{_TEXTS})|"
    rf"(?:(?:please|now|then|also|ok|and|can you|could you|bitte|jetzt|por favor),? )*(?!(?:answer|reply|text \w+) ?:)"
    rf"(?:(?:{_WRITING})\b|"
    rf"(?:{_EDITING})\b(?=[^\n:]{{0,140}}\b(?:{_TEXTS}|{_SHOWN})\b))[^\n:.!?]{{0,80}}?) ?: +"
    r"(?P<quoted>\S[^\n]*(?:\n[^\n]+)*)",
    re.IGNORECASE | re.MULTILINE,
)
"""A source, or an order to write something, a colon, and the quoted text up to the end of the paragraph."""
_LETTER = pattern_of(r"""
    (?m)(?:^(?i:hi|hello|hey|dear|good (?:morning|afternoon)|hallo|liebe[rs]?|sehr geehrte[rs]?|guten (?:tag|morgen)|
    moin|bonjour|salut|ch[eè]re?s?|hola|buen[oa]s|estimad[oa]s?|querid[oa]s?|olá|oi|bom dia|car[oa]s?|prezad[oa]s?)\b
    [^\n.?!:]{0,50}[,!:]?[ \t]*$|\A)(?s:.{0,4000}?)
    (?:^|(?<=[.!?] ))(?i:(?:with )?(?:kind|best|warm)(?:est)? (?:regards|wishes)|regards|best|cheers|sincerely|yours|
    (?:mit )?(?:freundlichen|besten|lieben|viele|liebe|beste|herzliche) grü(?:ß|ss)en?|mfg|cordialement|bien à vous|
    (?:un )?saludos?(?: cordial(?:es)?)?|atentamente|atenciosamente|abraços?|cumprimentos|um abraço)
    (?: \w+)?,?\s+[A-ZÄÖÜÉÁ][\w-]+(?: [A-ZÄÖÜÉÁ][\w.-]+){0,2}[ \t.]*$
""")
"""A letter: from a salutation, or the beginning of the message, to a closing with a name after it."""
_MAIL = re.compile(
    r"^(?:(?:Subject|Betreff|Objet|Asunto|Assunto): .*$|(?:(?:From|To|Von|An|De|À|Para): .*\n){2})", re.MULTILINE
)
_END = re.compile(
    r"(?<=[.!?…])(?<!\b\d\.)(?<!\b\d\d\.)(?<!\b[A-Z]\.)(?<!\b[DMS][rst]\.)(?<!\b(?:Mrs|[DS]ra)\.)(?<!\b(?:i\.e|e\.g)\.)\s+(?=\S)"
    rf"|(?<=\d\.)\s+(?=[A-ZÄÖÜÉ])(?!(?i:{MONTHS}))|(?<=[!?])(?=[^\W\d_a-z])|(?<=\s[:;][)DP])\s+|\n+"
)
"""The end of a sentence: not after an initial, a title, or an ordinal before a month."""
_MARK = re.compile(
    r"```|~~~|^---(?=-*[ \t]*$)|<(?P<slash>/?)(?P<tag>[a-z][\w-]*)(?:\s[^<>]*)?>", re.IGNORECASE | re.MULTILINE
)
"""The start or end of a block, either code or tagged content: inserted by a tool, or pasted."""
_QUOTATION = re.compile(r"[\"“„«‟”]((?:[^\"“”„‟«»\n]|\n(?!\n))*)[\"“”»]")
LONG_QUOTATION = 25
"""A quotation of at least this many characters is somebody else's text, a shorter one a name or a word."""
_QUOTED = re.compile(r"^\s*[\"“„«].{20,}")
_TALK = re.compile(r"^\W?\d{1,2}:\d\d(?::\d\d)?\W+\w[^\n:]{0,30}:[ \t][^\n]*$", re.MULTILINE)
"""A line of a pasted chat: time, name, and what was said."""
_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL)"
_COMMAND = r"(?!(?:is|are|was|ist|sind|war|est|sont|es|son|é|são)\b)(?:[a-z./~_]|[A-Z_]+=)"
_OUTPUT = re.compile(
    rf"^[ \t]*(?:\[?(?:\d{{4}}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d|\[{_LEVEL} *\]|"
    rf"{_LEVEL}(?::|[ \t]+\S{{0,12}}\d:\d\d))[^\n]*$|"
    r"^## [^\n]+\.md[^\n]*(?:\n[^\n]+)+|^[ \t]*(?:L\d+ (?:[-*+>|#]|\d+[.)]) |\||>(?!>> \S))[^\n]*$|"
    rf"^[ \t]*(?:\$ {_COMMAND}|>>> \S)[^\n]*(?:\n[^\n]+)*",
    re.MULTILINE,
)
"""A log line, recognised by a time to the second, or by a level in brackets or before a colon or time; a line of a note
as recall cites it, a quoted line or a row of a table; or a command after its prompt, with its output."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Control characters, which nobody types: the line was pasted from a terminal."""


class SessionTurn(NamedTuple):
    """One message of a session; `number` is the one used in citations."""

    number: int
    by_user: bool
    text: str
    day: date | None = None


def split_sentences(text: str) -> Iterator[str]:
    """The sentences of a message, without quoted or pasted text."""
    for part in _END.split(_typed(_without_quotations(text))):
        sentence = part.strip()
        if sentence and not _QUOTED.search(sentence) and not _CONTROL.search(sentence):
            yield sentence


def last_question(text: str) -> str:
    """The question at the end of a message; "" for none."""
    *_, last = ("", *split_sentences(text))
    return last if last.endswith("?") else ""


def ends(text: str) -> str:
    """The beginning and the end of a long text."""
    return text if len(text) <= 2 * END_CHARS else f"{text[:END_CHARS]}\n\n{text[-END_CHARS:]}"


def _typed(text: str) -> str:
    """The typed part of a message: up to a mail, and of a long one only its short first and last paragraphs."""
    mail = _MAIL.search(text)
    text = text[: mail.start()] if mail else text
    if len(text) <= TYPED_CHARS and text.count("\n") <= TYPED_LINES:
        return text
    paragraphs = [part for part in re.split(r"\n\s*\n", text) if part.strip()]
    first_and_last = paragraphs[:1] + paragraphs[1:][-1:]
    return "\n".join(part for part in first_and_last if len(part) <= TYPED_CHARS and part.count("\n") <= 2)


def _without_quotations(text: str) -> str:
    """A message without code, blocks, letters, quotations, chats, logs, and the text that a line of it announces."""
    text = _LETTER.sub("\0", ends(_without_blocks(text)))
    text = _QUOTATION.sub(lambda found: "\0" if len(found[1]) >= LONG_QUOTATION else found[0], text)
    for pasted in (_TALK, _OUTPUT):
        text = pasted.sub("\0", text)
    text = _QUOTING.sub(lambda found: found[0] if is_request(found[0][: -len(found["quoted"])]) else "\0", text)
    announced = next((lead.start() for lead in _LEAD_IN.finditer(text) if not is_request(lead[0])), len(text))
    return text[:announced].replace("\0", "")


def _without_blocks(text: str) -> str:
    """A message without code, and without anything between a tag and the next one that closes it."""
    blocks: list[tuple[int, int]] = []
    # By name, the end of the next mark that closes such a block.
    nearest = dict.fromkeys(("```", "~~~", "---"), len(text))
    for mark in reversed(list(_MARK.finditer(text))):
        name = (mark["tag"] or mark[0]).lower()
        if not mark["slash"] and name in nearest:
            blocks.append((mark.start(), nearest[name]))
        if mark["slash"] or not mark["tag"]:
            nearest[name] = mark.end()
    parts, at = [], 0
    for start, end in reversed(blocks):
        if start >= at:
            parts.append(text[at:start])
            at = end
    return "\n".join([*parts, text[at:]])
