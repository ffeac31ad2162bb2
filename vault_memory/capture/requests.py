"""Finds what somebody asks to remember, and what they ask not to, in a score of languages. Pure."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from vault_memory.capture.grammar import LANGUAGES, count_words, joined, lowered, words_of

MAX_CHARS = 600
"""A sentence that is read has so many characters."""

MIN_CONTENT_WORDS = 3
"""What is asked for has so many words where it follows the request; what stands before it has one more."""

PLACE_WORDS = 5
"""So many words may say where or as what something is to be kept: "save that as a rule for next time"."""

LEAD_WORDS, NESTED_REQUESTS = 10, 6
"""So many words of a clause may stand before what asks to remember; so many such words of a sentence are tried."""

REFUSALS = 20
"""So many refusals of one message are read."""

_STEMS = joined(r"""
    remember|memori[sz]e|retain|don'?t (?:ever )?forget|never forget|bear in mind|keep in mind|hang on to|
    hold on ?to|(?:make|take|keep|leave|a) (?:a )?(?:mental )?(?:note|record)|
    note(?=:| (?:this|that|it|down|to self|for))|(?:please|just|also) note|n\.?b\.?(?=:)|remind yourself|
    (?:jot|write|note|put|get|mark) (?:(?:this|that|it|these) )?down|make it a (?:rule|habit)|one to keep|
    (?:keep track|take note|store|log|record|save) (?:of )?the fact|it'?s (?:written|noted) down|don'?t lose (?:this|
    it)|
    (?:save|store|log|record|file|memo)(?= (?:this|that|it|somewhere)\b)|
    next time(?! (?:i|we|he|she|they|it|round)\b)|(?:new|standing|house|ground|general) (?:rule|order|policy)(?=[:,])|
    worth (?:remembering|noting|knowing)|
    (?:good|useful) to know|so (?:that )?you(?:'ll)? (?:know|don'?t (?:have to )?ask)|you should know|
    merk(?:e|en|t)?(?='s|[ :,])|notier(?:e|en)?|behalt(?:e|en)?|vergiss (?:bitte )?nicht|nicht vergessen|
    halte?(?= (?:\w+ )?fest)|trage?(?= dir)|mache? dir (?:'?ne|eine) notiz|vermerke?|präge? dir|hinterlege?(?= dir)|
    damit du(?: es| bescheid|'s)? weißt|schreib(?:e|en)?(?= (?:dir|das|es) auf| dir)|speicher(?:e|n)?(?= (?:dir|das))|
    denk(?:e|en)? (?:\w+ )?dara?n|(?:neue|feste) regel(?=:)|gut zu wissen|reten(?:ir|ez)|retiens|
    inscris|pour que tu saches|la prochaine fois(?! (?:je|on|nous|il|elle)\b)|(?:souviens|rappelle)-toi|souvenez-vous|
    n'oublie[zs]? pas|mémorise[zr]?|prends note|pour mémoire|
    à (?:retenir|noter)|not(?:e|ez|er)(?:-le)?(?= (?:que|qu'|pour|bien|ça|dans)| ?:)|enregistre[zr]?(?= (?:que|ça))|
    sache[zs]?(?= que)|nouvelle règle(?= ?:)|recu[eé]rda(?:lo|te)?|recuerdes|acuérdate|ap[uú]nta(?:te|lo)?|
    an[oó]ta(?:te|lo)?|memoriza|toma nota|ten(?:lo)? (?:en cuenta|presente)|(?:no |que no )(?:te |se te )?olvides?|
    para que (?:lo )?sepas|qu[eé]date con|gr[aá]ba(?:te|lo)|deja (?:anotado|apuntado|constancia)|
    la próxima vez(?! (?:yo|voy|vamos)\b)|guarda(?:lo)?(?= (?:esto|eso|que))|que conste|nueva (?:regla|norma)(?=:)|
    lembr[ae](?:-te|-se)?|lembres?|
    anot[ae]|memoriz[ae]|registr?[ae](?= (?:isso|que|aí))|guard[ae](?= (?:isso|isto|que|bem|essa))|
    pra (?:você|vc) saber|da próxima vez(?! (?:eu|a gente|nós)\b)|deix[ae] (?:registrado|anotado)|fi(?:ca|que) sabendo|
    (?:grav|salv)[ae](?= (?:isso|que|aí))|tom[ae] nota|te(?:nha|m|ns) em (?:mente|conta)|
    (?:não (?:se |te )?)esque[çc][ae]s?|
    nova regra(?=:)|onthou(?:d)?|vergeet niet|noteer|goed om te weten|schrijf (?:\w+ )?op|ricorda(?:ti|telo)?|
    tieni (?:presente|a mente|conto)|segna(?:ti|telo)|annota(?:ti)?|prendi nota|non dimenticar[ei]|kom(?:me)? ihåg|
    glöm inte|notera|skriv upp|husk(?=e? )|glem ikke|skriv ned|zapamiętaj|pamiętaj|zanotuj|nie zapomnij|zapamatuj|
    pamatuj|nezapomeň|запомни(?:те)?|помни(?:те)?|не забудь(?:те)?|запиши(?:те)?|имей(?:те)? в виду|запам'ятай|
    пам'ятай
""")
_TIMES = joined(r"""
    from (?:now|here|today|this point) (?:on(?:wards?)?(?: out)?|forward)|going forwards?|henceforth|
    in (?:the |all )?future|(?:ab (?:jetzt|sofort|heute)|von (?:nun|jetzt) an)|in zukunft|künftig|zukünftig|à l'avenir|
    désormais|dorénavant|à partir (?:de maintenant|d'aujourd'hui)|(?:a partir de|de) ahora(?: en adelante)?|
    (?:de aquí )?en adelante|en el futuro|en lo sucesivo|
    (?:a partir de agora|de agora em diante|(?:daqui|de hoje) (?:p(?:a)?ra (?:a )?frente|(?:em|por) diante))|no futuro|
    vanaf nu|voortaan|in het vervolg|d'?\ ?ora in (?:poi|avanti)|in futuro|från och med nu|framöver|fra nå av|
    fremover|od teraz|na przyszłość|od teď|впредь|отныне|надалі
""")
_PLACES = joined(r"""
    (?:in|into|to|for|from|through|auf|im|à|dans|en|na|nel|nella|i) (?:[^\W\d]+ ){0,4}?(?:you know(?: about \w+)?|
    memory|memories|mind|
    notes|notebook|head|skull|gedächtnis|hinterkopf|kopf|notizen|mémoire|tête|esprit|memoria|cabeza|memória|cabeça|
    geheugen|hoofd|notities|minne)|for (?:the |your |our |my )?(?:record|log|(?:future )?reference|notes|later)|
    (?:for|till|until|für|fürs|pour|para|pra|p'ra|per|voor|beim|till) (?:[^\W\d]+ ){0,3}?(?:next time|nächste mal|
    nächsten mal|später|prochaine fois|suite|plus tard|próxima(?: vez)?|más adelante|prossima volta|volgende keer|
    nästa gång|future|zukunft|futuro)
""")
_KEEPING = (
    r"(?:stick|keep|hold|put|get|tuck|file|store|save|take|mark|pin) (?:this|that|it)(?: one)?\b"
    r"(?=[^,;.!?:]{0,40}:(?!\S))"
)
_REMEMBER = re.compile(rf"\b(?P<time>{_TIMES})(?!\w)|\b(?:{_STEMS})(?!\w)|\b(?:{_PLACES})(?!\w)|\b{_KEEPING}")
"""Asks to remember something, wherever in a clause: what says so itself, and where or till when something is kept."""

_FILLER = re.compile(
    joined(r"""
    (?:\W*\b(?:this|that|it|these|one|down|please|pls|too|also|of|well|forever|again|note|us|me(?= please)|dir|euch|
    das|es|auf|ab|dies|bitte|fest|dran|mal|auch|ça|cela|bien|ceci|une fois pour toutes|s'il te plaît|le|la|les|esto|
    eso|siempre|por favor|disso|isso|disto|isto|aí|de|dit|even|ook|alsjeblieft|questo|det här|detta|också|si|sobie)
    (?!['’\w]))*(?:\W*\b(?:that|que|qu'|che|att|at|że|že|что|що)(?!\w|['’]s))?
""")
)
"""What stands between a request and what is to be remembered."""

_NO_REQUEST = re.compile(
    joined(r"""
    \s*(?:,? (?:zu|om te)\b|(?:please )?to\b(?! self)|when|how|if|where|why|who|what|whether|me|us|you|the time|
    de \w+[aei]r\b|onde|dónde|où|wo)(?!\w)|[^:,;.!?]{0,30}?\b(?:to|in|into) (?:the |an? )?(?:[\w/-]+\.\w|readme|
    config|file|script|code|repo|docs?|changelog|issue|ticket|variable)
""")
)
"""What follows a word for remembering where it asks to do something, or whether somebody remembers, or names a file."""

_REFUSED = re.compile(
    joined(r"""
    \b(?P<forgetting>(?:don'?t|not|never|no|não|ne|n'|non|nicht|niet|inte|ikke|nie|не)
    (?: ?(?:ever|you|te|se|bitte|just))? ?
    (?:forget|esque[çc]|oubli|olvid|verg|dimentic|gl[öe]m|zapom|забуд)\w*)|
    \b(?:(?P<subject>(?:i|we|they|he|she|it|ich|wir|man|je|on|nous|yo|eu)(?: (?:do|did|can|will|really|also))?) )?
    (?:don'?t(?! you (?!dare))|not|never|nothing|none|no|nicht|nie|niemals|nichts|ne|n'|pas|jamais|non|nunca|jamás|
    nada|não|niet|nooit|inte|ikke|не|nikdy)(?P<between>(?:(?: |, (?=dass |daß |ever |please |bitte ))
    (?!(?:but|so|aber|mais|pero|mas)\b)[\w'-]+){0,6}?) ?\b(?:remember\w*|memori[sz]\w*|
    (?:retain|note|save|store|log|record|file|keep|jot|write|put|add|commit)(?:d|ed)?
    (?: down)? (?:this|that|it|any of (?:this|it)|my|what i|down|a (?:note|record))\b|
    (?:saved|stored|noted|recorded|kept)(?=\W*$|:)|
    (?:in|into|to|from|for|part of) your (?:[\w-]+ )?(?:memory|memories|notes|mind)|for the record|
    merk(?:e|en|t|st)?|notier\w*|aufschreib\w*|(?:dir|dass du|das) (?:\w+ )?(?:speicher|behalt|behält)\w*|
    in(?:s| dein\w*) gedächtnis|reten(?:ir|ez|u)|retien\w+|not(?:e[rz]?|es|é)|mémoris\w+|enregistr\w+|souvien\w+|
    recuerdes?|acuerdes?|memorices?|guardes?|anotes?|apuntes?|registr?es?|tom(?:es?|a) nota|
    (?:tengas?|tenhas?) (?:en cuenta|em conta)|lembr(?:es?|a|ar)|guard(?:a|ar) (?:isso|isto|que)|
    anot(?:a|ar)|grav(?:es?|a|ar)|onthoud\w*|noteren|noteer|opschrijven|ricord\w+|memorizz\w+|annot\w+|segn\w+|
    ihåg|notera|husk\w*|noter|запомина\w+|запомн\w+|помн\w+|запис\w+|запам'ят\w+)(?!\w)|
    \b(?:merk|notier|behalt|speicher|schreib)(?:e|en|t)?(?: (?:dir|euch|mir|das|es|dies|davon|bitte|mal|ja|bloß|
    mein\w* \w+)){0,4} (?:nicht|nie|nichts)(?!\w)|
    \b(?:retiens|retenez|note[zr]?|enregistre[zr]?|mémorise[zr]?)(?:-le| ça| cela)? (?:pas|jamais)(?!\w)|
    \b(?:onthoud?|noteer|schrijf|bewaar)(?: \w+){0,2} niet(?!\w)|
    \b(?:kom ihåg|notera|skriv)(?: \w+)? inte(?!\w)|\b(?:husk|noter|skriv)(?: \w+)? ikke(?!\w)|
    \bnie (?:\w+ ){0,2}(?:zapamięt\w+|pamięt\w+|zapisuj|notuj|zanotuj)|\bne(?:za)?(?:pamatuj|pisuj)(?!\w)|
    \b(?:forget (?:that|how|why|who|where|when|my|the fact|what (?!i (?:said|wrote|told)))|
    vergiss,? (?:dass|mein\w*|wie|wer|was|wann|wo)|oublie[zs]?,? (?:que|qu'|mon|ma|mes)|olvida,? (?:que|mi)|
    esque[çc]e,? (?:que|o meu|a minha|meu|minha)|vergeet,? (?:dat|mijn)|dimentica (?:che|il mio|la mia)|
    glöm att|glem at|zapomnij,? że|zapomeň,? že|забудь,? что|забудь,? що)(?= ?\w)|
    \boff[ -]the[ -]record(?!\w)|\b(?:just )?between (?:us|you and (?:me|i)|ourselves)(?! and)(?!\w)|
    \b(?:keep|leave|stays?|hold) [^.!?]{0,60}?(?:to yourself|(?:out of|off) (?:your|the) (?:notes|memory|record|log)|
    between us)(?!\w)|\b(?:bleibt|ganz|nur) unter uns|\bunter uns(?: gesagt)?(?=[,.:;!]|$)|
    \bbehalte? \w+ für dich|\b(?:entre n(?:ous|ós|osotros)|entre tú y yo|tra (?:di )?noi)(?=[,.:;!]|$)|
    \bgarde[sz]? [\w ]{1,20} pour (?:toi|vous)|\bguárda(?:te)?lo para ti|
    \b(?:guarda|fica|mantém) (?:isso |isto )?(?:para (?:ti|você)|entre nós|em off)|\bhors micro|\bem off(?!\w)|
    \bhou \w+ voor je|\bonder ons(?=[,.:;!]|$)|\btienilo per te|\bmella?[nm] oss(?=[,.:;!]|$)|
    \b(?:między nami|mezi námi|между нами|між нами)(?!\w)
""")
)
"""Asks not to remember, or to tell nobody: what is said with it is not kept."""

_ANNOUNCED = re.compile(r"[^.!?:]{0,40}:(?=\s+\S+\s+\S)")
_PLACE = re.compile(r"(?:as|to|in|into|for|under|on|als|zu|zur|auf|dans|comme|pour|en|como|para|na|no)\b")
"""What says where or as what it is to be kept begins so."""

_CONSEQUENCE = re.compile(r"(?:so|then|which|because|und|also|donc)\b")
_YOU = frozenset(word for language in LANGUAGES.values() for word in language.yours.split())
_TELLERS = frozenset(("i", "i'll", "i've", "he", "she", "they", "can't", "cannot", "ich", "je", "yo", "eu", "to"))
"""Who does not ask to remember, but tells that somebody does or does not."""

MARKS = " ,;:-–—("
_OPENING = re.compile(
    r"(?:(?:ok(?:ay)?|oh|ah|and|but|also|well|btw|yes|ja|genau|gut|und|oui|et|e|sim|y|sí)\b[,.:!]*\s+)+"
)

_TAG = re.compile(r", (?:please|ok(?:ay)?|yeah|right|ja|gell|oder|hein|d'accord|vale|sí|tá|né)\?$", re.IGNORECASE)
"""Makes a question of what is none."""


def is_request(text: str) -> bool:
    """Whether a sentence asks to remember something."""
    return find_request(text) != ("", False)


def find_request(sentence: str) -> tuple[str, bool]:
    """What a sentence asks to remember, and whether it asks for something that it does not say itself."""
    text = _TAG.sub(".", sentence[:MAX_CHARS])
    lower = lowered(text)
    if any(find_refusals(lower)):
        return "", False
    for request in islice(_REMEMBER.finditer(lower), NESTED_REQUESTS):
        clause = max(lower.rfind(mark, 0, request.start()) for mark in ",;:.–—(") + 1
        lead = words_of(lower[clause : request.start()])
        if lower.endswith("?") and _YOU.isdisjoint(lead):
            continue
        is_task = not request["time"] and _NO_REQUEST.match(lower, request.end())
        if not (is_task or len(lead) > LEAD_WORDS or _is_told(lead)):
            return _content(text, lower, request, clause)
    return "", False


def find_refusals(lower: str) -> Iterator[re.Match[str]]:
    """Where somebody asks not to remember; who tells what they do not remember or note asks for nothing."""
    for found in islice(_REFUSED.finditer(lower), REFUSALS):
        if not found["forgetting"] and (not found["subject"] or count_words(found["between"]) > 1):
            yield found


def _content(text: str, lower: str, request: re.Match[str], clause: int) -> tuple[str, bool]:
    """What is to be remembered: what a colon announces, else what follows the request, or goes before it."""
    link = _ANNOUNCED.match(lower, request.end()) or _FILLER.match(lower, request.end())
    rest = text[link.end() if link else request.end() :].lstrip(MARKS)
    if (
        count_words(rest) >= MIN_CONTENT_WORDS
        and not _is_place(lowered(rest))
        and not _CONSEQUENCE.match(lowered(rest))
    ):
        return find_request(rest)[0] or rest, False  # `for later: remember that …`
    before = text[: request.start() if request["time"] or not clause else clause].strip(MARKS)
    return (before, False) if count_words(before) > MIN_CONTENT_WORDS else ("", True)


def _is_place(lower: str) -> bool:
    """Whether this says no more than where or as what something is to be kept."""
    return count_words(lower) <= PLACE_WORDS and _PLACE.match(lower) is not None


def _is_told(lead: Sequence[str]) -> bool:
    """Whether a word for remembering stands in what somebody tells of themselves, or asks of the agent."""
    if lead[:2] in (["do", "you"], ["did", "you"], ["hast", "du"]):
        return True
    return not _TELLERS.isdisjoint(lead) and _YOU.isdisjoint(lead)
