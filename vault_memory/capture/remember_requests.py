"""Finds requests to remember something, and requests not to, in thirteen languages. Pure.

**To add a language**, add an entry to WORDS. Each field is a pattern of alternatives in lower case.
"""

import re
from collections.abc import Sequence
from itertools import chain, islice
from typing import NamedTuple

from vault_memory.text.word_classes import (
    LANGUAGES,
    count_words,
    grammar_of,
    grammars,
    joined,
    language_of,
    lowered,
    pattern_of,
    unaccented,
    words_of,
)

MAX_CHARS = 600
"""How many characters of a sentence are read."""

MIN_CONTENT_WORDS = 3
"""The minimum number of words to remember if they follow the request; if they precede it, one more."""

PLACE_WORDS = 5
"""The longest phrase that says where or as what to keep something: "save that as a rule for next time"."""

LEAD_WORDS, NESTED_REQUESTS = 10, 6
"""How many words of a clause may precede a request to remember, and how many matches per sentence are tried."""

REFUSALS = 20
"""How many refusals of one message are read."""


class RequestWords(NamedTuple):
    """The words of one language for remembering and forgetting."""

    keep: str
    """Requests to remember."""
    kept: str
    """All forms of the words for remembering: after a negation they are a refusal."""
    forget: str
    """The stem of the verb for forgetting: a request if negated."""
    no: str
    """Negations."""
    refused: str
    """Other requests not to remember: to forget something, or to tell nobody."""
    places: str = ""
    """Where, or until when, to keep something."""
    store: str = ""
    """Requests that programs get as well: they need a whole clause to remember, or one before them."""


class RememberRequest(NamedTuple):
    """A request to remember: the text to remember, or that this was said elsewhere (`points_back`)."""

    text: str = ""
    points_back: bool = False
    is_doubtful: bool = False
    """Whether it may be a task: what follows is no clause ("don't forget the semicolon"), or "we" are to remember."""


WORDS = {
    "en": RequestWords(
        keep=r"""
            remember|rem(?:em)?ber|rmbr|(?<=mind )(?:remembering|noting)|(?:keep|put) (?:this|that|it) on file|
            memori[sz]e|retain|
            (?:bear|keep) in mind|worth (?:remembering|noting|keeping)(?= ?:|\W*$)|
            (?:store|save|keep) (?:this|that|it) (?:permanently|for good)|
            (?:hang|hold) on to (?:this|that|it)(?= ?:| for (?:next|later|the))|
            (?:put|keep) (?:this|that|it) somewhere (?:safe|you)|
            i(?:'d like| would like| want| need) (?:this|that|it) (?:remembered|noted|kept|saved)(?= ?:|\W*$)|
            (?:make|take|keep|leave|a) (?:a )?(?:mental )?(?:note|record)(?! (?:on|in|under|next to) )|
            note(?=:| (?:this|that|it|down|to self|for))|(?:please|just|also) note|n\.?b\.?(?=:)|
            (?:jot|write|note|put|get|mark) (?:(?:this|that|it|these) )?down|take this down(?= ?:)|
            next time(?! (?:i|we|he|she|they|it|round|you|the|an?|my|our|this|that)\b)|
            (?:new|standing|house|ground|general) (?:rule|order|policy)(?=:)|
            so (?:that )?you(?:'ll)? (?:know|don'?t (?:have to )?ask)|you should know""",
        kept=r"""
            remember\w*|memori[sz]\w*|(?:keep|bear) in mind|(?:make|take) a note|note(?=:)|
            (?!put (?:this|that|it) (?:in|into|on) (?!(?:\w+ ){0,2}(?:records?|logs?|files?|vault|profile|writing|
            there)\b))
            (?:retain|note|save|store|log|record|file|keep|jot|write|put|add|commit)(?:d|ed)?
            (?: down)? (?:this|that|it|anything (?:about|of|i)|any of (?:this|it)|my|what i|down|a (?:note|record))\b|
            (?:bring (?:it|this|that) up|mention (?:it|this|that))(?: again)?(?=\W*$|[,:])|
            (?:saved|stored|noted|recorded|kept)(?=\W*$|:)|(?:echo|repeat|leak) (?:this|that|it)\b|
            carry (?:this|that|it) over|
            (?:in|into|to|from|for|part of) (?:your (?:[\w-]+ )?|the |any )?(?:memory|memories|notes|mind)|
            (?:written|writing)(?: (?:this|that|it))? down|notes (?:about|of|on) (?:this|that|it)(?! in\b)|
            for the record""",
        forget="forget",
        no=r"(?:\w+n't|(?:do|does|did|wo|ca|must)nt)(?! you (?!dare))|cannot|not|never|nothing|nowhere|none|no",
        refused=r"""
            (?<!\bi )(?<!\bwe )forget (?:that|how|why|who|where|when|my|the fact|
            what (?!i (?:said|wrote|told)))(?= ?\w)|
            (?:remember|note|save|store|keep) nothing|(?:didn'?t|never) hear(?:d)? (?:this|that|it) from me|
            (?:this|that) stays here|without (?:noting|saving|writing|storing)|off[ -]the[ -]record|
            (?:this|that|it)(?:'s| is| stays) (?:private|confidential|(?:a )?secret|(?:just|only) for you)|
            (?:just )?between (?:us|you and (?:me|i)|ourselves)(?! and (?!not\b|no\b))|
            not for (?:any|your|the) (?:file|notes?|record|memory)s?|
            (?:keep|leave|stays?|hold) [^.!?]{0,60}?(?:to yourself|between us|
            (?:out of|off) (?:your |the |any )?(?:notes|memory|record|log))""",
        places=r"""
            (?:in|into|to|for) (?:[^\W\d]+ ){0,4}?you know(?: about \w+)?|in mind|(?:in|to|into|for) memory|
            (?:in|into|to|for) (?:your|the|my|our) (?:[^\W\d]+ ){0,3}?(?:memory|memories|mind|(?<!release )notes|
            notebook)|(?:into|through) your (?:[^\W\d]+ )?(?:head|skull)|
            for (?:the |your |our |my )?(?:record|log|(?:future )?reference|notes|later(?! use))|
            (?:for|till|until) (?:[^\W\d]+ ){0,3}?(?:next time|future(?: \w+(?=:))?|long term(?= remember))|
            as (?:a|my) (?:\w+ )?preference|(?:update|add to|extend) your (?:notes|memory)""",
        store=r"""
            (?:save|store|log|record|file|memo)(?= (?:this|that|it|somewhere)\b)
            (?! \w+ (?:in|to|into|under|on) (?!your|memory))""",
    ),
    "de": RequestWords(
        keep=r"""
            merk(?:e|en)?(?!')|dir merkst|merk's|merkt(?= euch)|vermerken|vermerke?(?= dir)|notier(?:e|en|st)?|
            notiz(?=:)|aufschreib(?:en|st)|erinner(?:e|n)? dich (?:\w+ ){0,3}?da?ran|speicher(?:e|n)? dir(?: ab)?|
            (?:ab)?gespeichert(?= bitte| ?:)|(?:dauerhaft|bitte) (?:ab)?speichern(?= ?:)|behalt(?:e|en)?|
            halte?(?= (?:\w+ )?fest)|
            mache? dir (?:'?ne|eine) notiz|präge? dir|damit du(?: es| bescheid|'s)? weißt|
            schreib(?:e|en)?(?=(?: (?:dir|das|es|bitte|mal|irgendwo))+ auf| dir)|
            denk(?:e|en|t)? (?:\w+ ){0,4}?da?ran""",
        kept=r"""
            merk(?:e|en|t|st)?|notier\w*|aufschreib\w*|
            (?:dir|dass (?:du|sie)|das) (?:\w+ ){0,2}?(?:speicher|behalt|behält)\w*|
            in(?:s| dein\w*) gedächtnis|
            in (?:die|deine[nr]?) notizen|schreib(?:e|en)?(?= \w+)|
            speicher(?:e|n)?(?= \w+)|
            (?<=bitte nicht )speichern""",
        forget="verg[ie]ss|vergess",
        no=r"nicht|nie|niemals|nichts|nirgend\w+",
        refused=r"""
            keine notiz\w*|nirgend\w+ (?:stehen|auftauchen|notiert|notieren|speichern)|
            vergiss,? (?:dass|mein\w*|wie|wer|was|wann|wo)(?= \w)|(?:bleibt|ganz|nur) unter uns|
            das (?:ist|bleibt) (?:privat|vertraulich|geheim)|
            unter uns(?: gesagt)?(?=[,.:;!]|$)|behalte? \w+ für dich""",
        places=r"""
            (?:in|auf|im) (?:[^\W\d]+ ){0,4}?(?:gedächtnis|hinterkopf|kopf|notizen)|trag bei dir ein|
            (?:für|fürs|beim) (?:[^\W\d]+ ){0,3}?(?:nächste mal|nächsten mal|später|zukunft)""",
        store="speicher(?:e|n)?(?= (?:dir|das))",
    ),
    "fr": RequestWords(
        keep=r"""
            reten(?:ir|ez)|retien(?:s|nes)|pour que tu saches|te (?:souviennes|rappelles)|t'en souvenir|
            (?:souviens|rappelle)[- ](?:toi|t'en)|t'en souviens|souvenez-vous|mémorise[zr]?|
            prends note|à (?:retenir|noter|conserver|garder(?= ?:))|
            not(?:e|ez|er)(?:-le)?(?= (?:que|qu'|pour|bien|ça|dans|quelque)| ?:)""",
        kept=r"""
            reten(?:ir|ez|u)|retien\w+|not(?:e[rz]?|es|é)|mémoris\w+|enregistr\w+|souvien\w+|
            gard\w+ (?:(?:une )?trace|rien)|
            reparl\w+""",
        forget="oubli",
        no="ne |n'|pas|jamais|non|nulle part|inutile de",
        refused=r"""
            oublie[zs]?,? (?:que|qu'|mon|ma|mes)(?= ?\w)|entre nous(?= ?[,.:;!]|$)|
            garde[sz]? [\w ]{1,20} pour (?:toi|vous)|hors micro|
            c'est (?:privé|confidentiel|un secret)""",
        places=r"""
            (?:à|dans|en) (?:[^\W\d]+ ){0,4}?(?:mémoire|tête|esprit)|
            (?:à|dans|en) (?:tes|vos) notes|pour (?:[^\W\d]+ ){0,3}?(?:prochaine fois|suite|plus tard)""",
        store="enregistre[zr]?(?= (?:bien )?(?:que|ça))",
    ),
    "es": RequestWords(
        keep=r"""
            recuerd(?:a|es)(?:lo|te)?|acuerd(?:ate|es)|recordar(?=(?:lo)? que)|(?:ap[uú]nta|an[oó]ta)(?:te)?(?:lo)?|
            memoriza(?:lo|r)?|toma nota|
            (?:ten(?:lo)?|tuvieras) (?:en cuenta|presente)|para que (?:lo )?(?:sepas|recuerdes)|
            quédate con (?:ese|este) dato|(?:que )?no se (?:te|os) olvid\w+|
            deja (?:anotado|apuntado|constancia)""",
        kept=r"""
            recuerd[ae]s?|acuerdes?|memorices?|guardes?|anotes?|apuntes?|registr?es?|tomes? nota|tengas? en cuenta|
            (?:va a las|(?:a|en) tus) notas|(?:lo|esto|eso) (?:\w+ ){0,3}(?:menciones|mencionar|repitas)""",
        forget="olvid",
        no="no|nunca|jamás|nada",
        refused=r"""
            olvida,? (?:que|mi)(?= \w)|entre (?:nosotros|tú y yo)(?= ?[,.:;!]|$)|guárda(?:te)?lo para ti|
            (?:es|esto es) (?:privado|confidencial|un secreto)""",
        places=r"""
            en (?:[^\W\d]+ ){0,4}?(?:memoria|cabeza)|(?:a|en) tus notas|como preferencia|
            para (?:[^\W\d]+ ){0,3}?(?:próxima(?: vez)?|más adelante|futuro)""",
        store="graba(?:te|lo|telo)|guarda(?:te|lo|telo)?(?= (?:esto|eso|que))",
    ),
    "pt": RequestWords(
        keep=r"""
            lembr(?:a|e|es|ar|asses)(?:-te|-se)?|fi(?:ca|que) com (?:esta|essa) informação|anot[ae]|
            fi(?:ca|que) (?:registr?ado|anotado)(?! n[oa] )|memoriz(?:a|e|ar)|
            decora(?= (?:isso|isto|que))|
            apont(?:a|ar|e)(?= (?:que|isso|isto|aí))|pra (?:você|vc) saber|deix[ae] (?:registrado|anotado)|
            tom[ae] nota|te(?:nha|m|ns) em (?:mente|conta)""",
        kept=r"""
            lembr(?:es?|a|ar)|guard(?:a|ar) (?:isso|isto|que)|guardes?|anot(?:a|ar|es?)|grav(?:es?|a|ar)|tom[ae] nota|
            tenhas? em conta|escrev(?:as|a|er) (?:isso|isto)|
            regist(?:es?|ar)|salv(?:e|es|ar) (?:isso|isto|nada)""",
        forget="esque[çc]",
        no="não|nunca|nada",
        refused=r"""
            esque[çc]e,? (?:que|o meu|a minha|meu|minha)(?= \w)|
            (?:guarda|fica|mantém) (?:isso |isto )?(?:para (?:ti|você)|entre nós|em off)|
            entre nós(?=[,.:;!]|$)|em off|
            (?:isso é|isto é) (?:privado|confidencial|segredo)""",
        places=r"""
            (?:em|na) (?:[^\W\d]+ ){0,4}?(?:memória|cabeça)|(?:nas|às) (?:tuas|suas) notas|
            como preferência|(?:para|pra|p'ra) (?:[^\W\d]+ ){0,3}?próxima(?: vez)?""",
        store="(?:registr?|grav|salv)[ae](?= (?:isso|que|aí))|guard[ae](?= (?:isso|isto|que|bem|essa))",
    ),
    "nl": RequestWords(
        keep=r"onthou(?:d)?|noteer|goed om te weten|schrijf (?:\w+ )?op",
        kept=r"onthoud\w*|noteren|noteer|opschrijven|schrijf|bewaar",
        forget="verge[et]",
        no="niet|nooit",
        refused=r"vergeet,? (?:dat|mijn)(?= \w)|hou \w+ voor je|onder ons(?=[,.:;!]|$)",
        places=r"in (?:[^\W\d]+ ){0,4}?(?:geheugen|hoofd|notities)|voor (?:[^\W\d]+ ){0,3}?volgende keer",
    ),
    "it": RequestWords(
        keep=r"""
            ricorda(?:ti|telo)?|tieni (?:presente|a mente|conto)|segna(?:ti|telo)|annota(?:ti)?|prendi nota""",
        kept=r"ricord\w+|memorizz\w+|annot\w+|segn\w+",
        forget="dimentic",
        no="non|mai",
        refused=r"dimentica (?:che|il mio|la mia)(?= \w)|tra (?:di )?noi(?=[,.:;!]|$)|tienilo per te",
        places=r"(?:nel|nella|in) (?:[^\W\d]+ ){0,4}?memoria|per (?:[^\W\d]+ ){0,3}?(?:prossima volta|futuro)",
    ),
    "sv": RequestWords(
        keep="kom(?:me)? ihåg|notera|skriv upp",
        kept="ihåg|notera|skriv",
        forget="gl[öe]m",
        no="inte",
        refused=r"glöm att(?= \w)|mellan oss(?=[,.:;!]|$)",
        places=r"(?:i|till) (?:[^\W\d]+ ){0,3}?(?:minne|nästa gång)",
    ),
    "no": RequestWords(
        keep="husk(?=e? )|skriv ned",
        kept=r"husk\w*|noter\w*|skriv",
        forget="glem",
        no="ikke",
        refused=r"glem at(?= \w)|mellom oss(?=[,.:;!]|$)",
    ),
    "pl": RequestWords(
        keep="zapamiętaj|pamiętaj|zanotuj",
        kept=r"zapamięt\w+|pamięt\w+|zapisuj|notuj|zanotuj",
        forget="zapom",
        no="nie",
        refused=r"zapomnij,? że(?= \w)|między nami",
    ),
    "cs": RequestWords(
        keep="zapamatuj|pamatuj",
        kept="zapamatuj|pamatuj|nezapisuj|nezapamatuj",
        forget="nezapom",
        no="nikdy|ne",
        refused=r"zapomeň,? že(?= \w)|mezi námi|ne(?:za)?(?:pamatuj|pisuj)",
    ),
    "ru": RequestWords(
        keep="запомни(?:те)?|помни(?:те)?|запиши(?:те)?|имей(?:те)? в виду",
        kept=r"запомина\w+|запомн\w+|помн\w+|запис\w+",
        forget="забу[дв]",
        no="не",
        refused=r"забудь,? что(?= \w)|между нами",
    ),
    "uk": RequestWords(
        keep="запам'ятай|пам'ятай",
        kept=r"запам'ят\w+|пам'ят\w+",
        forget="забу[дв]",
        no="не",
        refused=r"забудь,? що(?= \w)|між нами",
    ),
}  # fmt: skip


_NEGATED_BEHIND = ("de", "fr", "nl", "sv", "no")
"""Languages in which the negation follows the verb."""

_TELLER = "(?:i|we|they|he|she|it|ich|wir|man|je|on|nous|yo|eu)(?: (?:do|did|can|will|really|also))?"
"""A subject that turns a negation into a report ("I don't remember …") rather than a refusal."""


def _any_of(field: str) -> str:
    return "|".join(pattern for words in WORDS.values() if (pattern := joined(getattr(words, field))))


_POLITE = r"(?: ?(?:ever|you|te|se|l[oae]s?|bitte|just|please|l'))? ?"
_NOT_FORGET = "|".join(
    rf"(?:{words.no}){_POLITE}(?:{words.forget})\w*(?: (?:{words.no}))?"
    rf"|(?:{words.forget})\w*(?: bitte| das| es)? (?:{words.no})"
    for words in WORDS.values()
)
_FORGETTING = re.compile(unaccented(rf"\b(?:{_NOT_FORGET})(?!\w)"))
_REMEMBER = re.compile(
    unaccented(
        rf"(?<![\w'\"“‘`/-])(?:{_NOT_FORGET}|{_any_of('keep')}|(?P<store>{_any_of('store')})|"
        rf"(?P<place>{_any_of('places')}))(?!\w)"
    )
)
"""A request to remember: the verb for it, or where or until when to keep something. Like all patterns made of WORDS it
is for `unaccented` text, since many type without accents."""


def _refusals_in(language: str) -> re.Pattern[str]:
    """The refusals of one language; group `forgetting` is the opposite, a request, and `subject` marks a report."""
    words = WORDS[language]
    kept, no = joined(words.kept), words.no
    joint = "(?: |, (?=dass |daß |ever |please |bitte ))(?!(?:but|so|aber|mais|pero|mas)\\b)"
    behind = rf"|\b(?:{kept})(?: [\w-]+){{0,4}}? (?:{no})(?!\w)" if language in _NEGATED_BEHIND else ""
    return re.compile(
        unaccented(
            rf"\b(?P<forgetting>(?:{no}){_POLITE}(?:{words.forget})\w*)"
            rf"|\b(?:(?P<subject>{_TELLER}) )?(?:{no})(?P<between>(?:{joint}[\w'-]+){{0,8}}?) ?\b(?:{kept})(?!\w)"
            rf"{behind}|\b(?:{joined(words.refused)})(?!\w)"
        )
    )


_KEPT = [re.compile(unaccented(rf"\b(?:{joined(words.kept)})(?!\w)")) for words in WORDS.values()]
_REFUSED = list(map(_refusals_in, WORDS))
"""Requests not to remember or to tell nobody, by language: statements of a message with one are not kept."""

_FILLER = pattern_of(r"""
    (?:\W*\b(?:this|that|it|these|one|down|please|pls|too|also|of|well|forever|again|note|us|me(?= please)|dir|euch|
    das|es|auf|ab|dies|bitte|fest|dran|mal|auch|ça|cela|bien|ceci|une fois pour toutes|s'il te plaît|le|la|les|esto|
    eso|siempre|por favor|disso|isso|disto|isto|aí|de|dit|even|ook|alsjeblieft|questo|det här|detta|också|si|sobie)
    (?!['’\w]))*(?:\W*\b(?:that|que|qu'|che|att|at|że|že|что|що)(?!\w|['’]s))?
""")
"""Filler words between a request and what to remember."""

_NO_REQUEST = pattern_of(r"""
    [^.!?:]* zu \w+en\W*$|\s*(?:de )?\w+[aei]r(?:se|l[oa]s?)? (?:el|la|l[oe]s|las|os?|as?)\b|
    \s*(?:of )?(?:,? (?:zu|om te)\b|(?:please )?to\b(?! self)|when|how|if|where|why|who|what|whether|me|us|you|the time|
    de \w+[aei]r\b|onde|dónde|où|wo|(?:this|that|it) as [\w/-]+\.\w+)(?!\w)|
    (?!,? (?:that|there|que|dass|we|i)\b)[^:,;.!?]{0,30}?\b(?:to|in|into|im|ins?|en|dans|no|na|num|numa|em)[ ]
    (?:(?:the|an?|der|die|das|dem|den|el|un|una|la|le|une|o|um|uma) )?(?:[\w/-]+\.\w|readme|config|files?|scripts?|
    code|repo|docs?|changelog|issue|ticket|variable|comment|datei|kommentar|fichier|commentaire|fichero|archivo|
    comentario|ficheiro|arquivo|comentário|código)
""")
"""What follows a word for remembering if it is no request: a task, a question whether one remembers, a file name."""

_ANNOUNCED = re.compile(r"(?:[^.!?:]{0,40}:|(?: (?:this|that|it|please|pls|bitte))* [–—-])(?=\s+\S+\s+\S)")
_PLACE = re.compile(r"(?:as|to|in|into|for|under|on|als|zu|zur|auf|dans|comme|pour|en|como|para|na)\b")
"""The beginning of a phrase that says where or as what to keep something."""

_YOU = frozenset(word for language in LANGUAGES.values() for word in language.yours.split())
_TELLERS = frozenset(
    ("i", "i'll", "i've", "he", "she", "it", "il", "elle", "they", "can't", "cannot", "ich", "je", "yo", "eu", "to")
)
"""Subjects and the like before a word for remembering that make it a report rather than a request."""

_AUXILIARIES = frozenset(
    ("have", "has", "had", "ai", "as", "a", "avez", "avons", "ont", "hat", "habe", "haben", "he", "ha")
)
"""Words before a participle, which tells of the past: without accents "noté" looks like an order."""

_ADDRESSING = _YOU | {"please", "pls", "bitte", "favor", "stp", "svp"}
_ASIDES = frozenset(
    ("also", "just", "ok", "okay", "right", "so", "then", "now", "oh", "hey", "well", "better", "aussi",
     "always", "still", "dauerhaft", "unbedingt", "siempre", "toujours", "bien", "sempre", "try", "mind")
)  # fmt: skip
"""Words that may stand between the beginning of a clause, or those that address somebody, and a request."""
_OPENING = pattern_of(r"""
    (?:(?:and|but|oh|ah|hey|hi|hello|also|ok|okay|so|then|now|btw|fyi|yes|yeah|yep|by the way|for your information|
    (?:one|another) (?:(?:more|last|final|other) )?thing|going forward|moving forward|from now on|let(?:'?s| us)|
    claude(?: code)?|codex|gemini|copilot|und|ja|übrigens|bitte|ab (?:jetzt|sofort)|et|oui|au fait|désormais|
    s'? ?il (?:te|vous) plaît|y|sí|por cierto|por favor|e|sim|aliás|a propósito) )+|
    (?:(?:it|that)(?:'d| would| will) )?(?:would )?be (?:[^\W\d]+ ){1,2}if you (?:could|might|would|can)\b|
    i(?:'d| would) (?:appreciate it|be (?:glad|grateful|happy)) if you (?:could|might|would|can)\b
""")
"""Asides that may begin a clause before a request, and the roundabout "it would be great if you could …"."""
_LETS = frozenset(("let", "let's", "lets"))
"""Words that ask all, the speaker included."""

_FOR_THE_RECORD = pattern_of(r"for (?:the record|(?:your |the |my |our )?future reference)\W*$")
_BEING = frozenset(("is", "isn't", "are", "aren't", "am", "i'm", "we're"))
_POINTERS = frozenset(("a", "an", "the", "this", "that", "these", "those"))
"""Words before a thing that "for the record" may be about: "there is a field for the record"."""

_OURS = frozenset().union(*(each.classes["ours"] for each in grammars()))
_CLOSED = frozenset().union(*(each.common | each.classes["idle"] for each in grammars()))
_WANTING = frozenset(("want", "need", "needs", "like", "möchte", "veux", "faut", "quiero", "quero", "preciso"))
"""Words by which somebody asks for something without naming who is to do it."""

_NOUN_MARKS = frozenset().union(*(each.classes["determiners"] for each in grammars())) | {"this", "that"}
"""Words after which a word for remembering is a noun: "a file that two services write to"."""

_OBJECTS = frozenset(("that", "this", "it", "das", "es", "ça", "le", "lo", "eso", "esto", "isso", "isto"))
"""Pronouns for something said before, as the object of a word for remembering."""

_THAT = frozenset(("that", "que", "qu'", "che", "att", "at", "że", "že", "что", "що", "dass", "daß"))
"""Conjunctions, most of them pronouns as well, before what to remember."""

_DENIAL = pattern_of(r"""
    \W*(?:(?!(?:yes|yeah|yep|sure|ok(?:ay)?|why|ja|gern|klar|warum|wieso|oui|pourquoi|sí|claro|sim|por|porque)\b)
    [\w']+\W+)?(?:no(?:pe)?|nah|don'?t|never|nein|nee|nicht|non|não|pas)\b
    (?! (?:(?:hay )?problem|worr|mind|schlimm))
""")
"""The opening of an answer that declines."""

SAYING = frozenset(
    ("says", "said", "thinks", "reckons", "insists", "sagt", "sagte", "meint", "meinte", "behauptet", "dit", "affirme",
     "prétend", "pense", "dice", "dijo", "opina", "afirma", "diz", "disse", "acha")
)  # fmt: skip
"""Verbs of saying and thinking in the third person: what follows is somebody else's."""

_REPORTING = SAYING | frozenset(
    ("told", "asked", "said", "why", "did", "was", "were", "war", "warum", "pourquoi", "if", "wenn", "falls")
)
"""Words before a request that report or suppose one."""
_ASKING = frozenset(
    ("can", "could", "would", "will", "kannst", "könntest", "würdest", "peux", "pourrais", "pouvez",
     "pourriez", "puedes", "podrías", "pode", "poderia", "podes", "podias")
)  # fmt: skip
"""Words that open a polite request."""

_SUBORDINATE = pattern_of(r"""
    (?i:da(?:ss|ß)) (?P<subject>(?:(?:der|die|das|ein|eine|kein|keine|meine?|unsere?) (?:[a-zäöüß][\w-]* )?)?
    [A-ZÄÖÜ][\w-]*(?= (?!de[rs]\b|vo[nm]\b|und\b|oder\b)[^\WA-ZÄÖÜ])|(?:ich|wir|du|er|sie|es|man)(?= ))
    (?P<middle>(?: [^\s,;.:]+)*?) (?P<verb>bin|bist|ist|sind|war|waren|habe?|hast|hat|haben|hatten?|werde|wird|werden|
    muss|müssen|darf|dürfen|kann|können|soll|sollen|will|wollen|mag|mögen|möchten?)(?=\s*(?:$|[,;.:]))
""")
"""A German subordinate clause in which the end of the subject is certain and the last word is an auxiliary verb."""
MARKS = " ,;:-–—("
TAG = re.compile(r", (?:please|ok(?:ay)?|yeah|right|ja|gell|oder|hein|d'accord|vale|sí|tá|né)\?$", re.IGNORECASE)
"""A question tag, which makes a statement look like a question."""


def is_request(text: str) -> bool:
    """Whether a sentence asks to remember something."""
    return find_request(text) != RememberRequest()


def asks_to_remember(question: str) -> tuple[bool, str]:
    """(True, "") if the agent asks whether to remember something said before, (False, text) if its question contains
    the text to remember, (False, "") if it asks neither."""
    text = question.rstrip("?! ")
    lower = lowered(text)
    request = next(filter(None, (one.search(unaccented(lower)) for one in (_REMEMBER, *_KEPT))), None)
    if request is None:
        return False, ""
    link = _FILLER.match(lower, request.end())
    rest = text[link.end() if link else request.end() :].strip(MARKS)
    if count_words(rest) >= MIN_CONTENT_WORDS and not _is_place(lowered(rest)):
        return False, _as_main_clause(rest)
    return not _OBJECTS.isdisjoint(words_of(lower)), ""


def without_forgetting(lower: str) -> str:
    """A text with each "don't forget" blanked out, offsets unchanged."""
    places = [one.span() for one in _FORGETTING.finditer(unaccented(lower))]
    return "".join(
        " " if any(start <= at < end for start, end in places) else letter for at, letter in enumerate(lower)
    )


def denies_request(answer: str) -> bool:
    """Whether the answer to "shall I remember this?" is no; "don't forget it" is a yes."""
    return _DENIAL.match(without_forgetting(lowered(answer)).lstrip()) is not None


def find_request(sentence: str) -> RememberRequest:
    """The request that a sentence makes; an empty one for none."""
    text = TAG.sub(".", sentence[:MAX_CHARS])
    lower = lowered(text)
    if find_refusals(lower):
        return RememberRequest()
    for request in islice(_REMEMBER.finditer(unaccented(lower)), NESTED_REQUESTS):
        clause = max(lower.rfind(mark, 0, request.start()) for mark in ",;:.–—(") + 1
        said = words_of(lower[clause : request.start()])
        if _is_for_the_record(lower, request, said):
            return RememberRequest(text[: request.start()].strip(MARKS))
        opening = _OPENING.match(" ".join([*said, ""]))
        lead = said[len(words_of(opening[0])) :] if opening else said
        is_polite = not _ASKING.isdisjoint(
            word.partition("-")[0] for word in [one for one in lead if one not in _YOU][:1]
        )
        if lower.endswith("?") and not is_polite:
            continue
        announced = _ANNOUNCED.match(lower, request.end())
        if announced and request["place"] and "this" in lead[:1]:
            lead = []  # "this is one to keep for next time: …"
        if lead[-1:] == ["to"] and (announced or (opening and "thing" in words_of(opening[0]))):
            lead.pop()  # "one thing to keep in mind: …"
        is_task = _NO_REQUEST.match(lower, request.end()) or (not announced and _is_thing_to_store(lower, request))
        if not (is_task or len(lead) > LEAD_WORDS or _is_told(lead)) and _opens_clause(lead, request, announced):
            asked = _content(text, lower, request, clause)
            is_ours = not (_ours_of(lower) | _LETS).isdisjoint(said)
            if not _LETS.isdisjoint(said) and (asked.points_back or asked.is_doubtful):
                continue  # "let's remember the last choice" is a task
            return asked._replace(is_doubtful=asked.is_doubtful or is_ours)
    return RememberRequest()


def find_refusals(lower: str) -> Sequence[re.Match[str]]:
    """The requests not to remember; "I don't remember …" is a report and not one of them."""
    found = islice(chain.from_iterable(one.finditer(unaccented(lower)) for one in _REFUSED), REFUSALS)
    asked = (one for one in found if not one["forgetting"])
    return [one for one in asked if not one["subject"] or count_words(one["between"] or "") > 1]


def is_off_the_record(text: str) -> bool:
    """Whether a text asks not to remember something: it must not be quoted, nor serve as a title."""
    return bool(find_refusals(lowered(text)))


def _content(text: str, lower: str, request: re.Match[str], clause: int) -> RememberRequest:
    """What to remember: what follows the request's colon, else what follows the request, else what precedes it."""
    before = text[: clause or request.start()].strip(MARKS)
    filler, announced = _FILLER.match(lower, request.end()), _ANNOUNCED.match(lower, request.end())
    start = filler.end() if filler else request.end()
    if announced and not any(each.has("mine", words_of(lower[start : announced.end()])[:1]) for each in grammars()):
        start = announced.end()  # "remember my IBAN: …" names what follows
    rest = text[start:].lstrip(MARKS)
    if _REMEMBER.match(unaccented(lowered(rest))):  # "note for later: remember that …"
        rest = find_request(rest).text or rest
    pointing = [*words_of(lower[clause : request.start()])[-1:], *words_of(request[0])]
    is_object = not _OBJECTS.isdisjoint(pointing)  # "keep that in mind for …"
    if _PLACE.match(lowered(rest)) and not announced and (is_object or count_words(before) > MIN_CONTENT_WORDS):
        rest = ""
    is_linked = not _THAT.isdisjoint([*words_of(filler[0] if filler else ""), *words_of(rest)[:2]])
    rest = _as_main_clause(re.sub(r"[?\s]+$", ".", rest))  # "could you remember that …?" says it
    if count_words(rest) >= MIN_CONTENT_WORDS and not _is_place(lowered(rest)):
        is_noun = not is_linked and words_of(rest)[0] in _NOUN_MARKS and ":" not in rest and not _is_clause(rest)
        return RememberRequest(rest, is_doubtful=is_noun and announced is None)
    return RememberRequest(before) if count_words(before) > MIN_CONTENT_WORDS else RememberRequest(points_back=True)


def _as_main_clause(text: str) -> str:
    """A German subordinate clause in main-clause word order, or quoted as it is if that order is uncertain."""
    if not lowered(text).startswith(("dass ", "daß ")):
        return text
    if found := _SUBORDINATE.match(text):
        return f"{found['subject']} {found['verb']}{found['middle']}{text[found.end() :]}"
    return f"„{text[text.index(' ') + 1 :].rstrip(' .')}“"


def _is_place(lower: str) -> bool:
    """Whether a text only says where or as what to keep something."""
    return count_words(lower) <= PLACE_WORDS and _PLACE.match(lower) is not None


def _opens_clause(lead: Sequence[str], request: re.Match[str], announced: re.Match[str] | None) -> bool:
    """Whether a request opens its clause, as a command does, or follows words that address somebody: after a subject or
    an article, its words are about something else ("the form should remember …", "a file that …")."""
    addressed = [not (_ADDRESSING | _ASKING).isdisjoint(re.split("['-]", word)) for word in lead]
    to_you = max((at for at, is_addressed in enumerate(addressed) if is_addressed), default=-1)
    rest = [word for word in lead[to_you + 1 :] if word not in _ASIDES | _WANTING]
    if request["place"]:
        rest = rest[1:] if rest[:1] and rest[0] not in _CLOSED else rest  # "add that to your memory"
    elif to_you < 0 and not _NOUN_MARKS.isdisjoint(rest[-1:]) and rest[-1] not in _OBJECTS - {"this", "that"}:
        return False
    return _CLOSED.issuperset(rest) or (announced is not None and not _is_clause(" ".join(rest)))


def _is_for_the_record(lower: str, request: re.Match[str], lead: Sequence[str]) -> bool:
    """Whether "for the record" ends a clause that says what something is ("our wifi name is Fjord for the record"),
    rather than what a thing in it is for ("the order has a field for the record", "it is kept for the record")."""
    if not _FOR_THE_RECORD.match(lower, request.start()) or len(lead) <= MIN_CONTENT_WORDS or _is_told(lead[1:]):
        return False
    english = grammar_of("en")
    if english.has("pointing questions definite", [word for word in lead[:1] if word != "the"]):
        return False
    is_state = not _BEING.isdisjoint(lead[:-1]) or english.has("states likes wishes", lead[:2])
    is_for_it = lead[-2] in _POINTERS or lead[-1] in ("kept", "written") or english.past.fullmatch(lead[-1])
    return is_state and not is_for_it and not english.has("interrogatives", lead)


def _ours_of(lower: str) -> frozenset[str]:
    """The words for "we" and "our" in the language of a text, or in any if that is unknown: "on" is one in French."""
    language = language_of(words_of(lower), [*LANGUAGES])
    return grammar_of(language).classes["ours"] if language else _OURS


def _is_thing_to_store(lower: str, request: re.Match[str]) -> bool:
    """Whether what follows a request is the name of a thing or of a place, as in "store this value in Redis"."""
    link = _FILLER.match(lower, request.end())
    end = link.end() if link else request.end()
    words, rest = words_of(lower[request.start() : end]), lower[end:]
    if _OBJECTS.isdisjoint(words) or _is_place(rest) or count_words(rest) < MIN_CONTENT_WORDS:
        return False
    is_that = words[-1] in _THAT
    if request["store"]:
        return not (is_that and _is_clause(rest))
    return not is_that and (_PLACE.match(rest.lstrip()) is not None or not _is_clause(rest))


def _is_clause(text: str) -> bool:
    """Whether a text may have a verb; in an unknown language it may."""
    language = language_of(words_of(text), [*LANGUAGES])
    return not language or grammar_of(language).has_verb(words_of(text))


def _is_told(lead: Sequence[str]) -> bool:
    """Whether a word for remembering, preceded by these words, is part of a report or a question, not a request."""
    if not (_TELLERS - {"to"} | _AUXILIARIES).isdisjoint(lead[-1:]):
        return True
    if lead[:1] == ["try"] or (not _WANTING.isdisjoint(lead) and "to" not in lead):
        return False  # "I want this remembered"
    return not _REPORTING.isdisjoint(lead) or (not _TELLERS.isdisjoint(lead) and _YOU.isdisjoint(lead))
