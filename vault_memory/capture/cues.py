"""Words that mark a statement as lasting: one small table of cues per language. Pure.

**To add a language**, add an entry to CUES. Each field is a pattern of alternatives in lower case. Where single
words decide, as for "always", "never" and "prefer", they are classes (`always`, `wishes` …) in text/word_classes.py.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from vault_memory.text.word_classes import Grammar, joined, lowered, words_of

PHRASE_WORDS = 3
"""The longest name of a thing or person that is read."""

AT_HAND = "definite indefinite pointing yours"
"""Classes of words that point to the matter at hand."""


class Cues(NamedTuple):
    """The cues of one language."""

    standing: str
    """From now on: makes a rule even of an order ("from now on use tabs")."""
    obliged: str
    """An obligation, beside the words of `duty`."""
    recurring: str
    """A day or time that comes again."""
    decided: str
    """That the speaker or "we" decided, up to what was decided."""
    that: str
    """What leads in a clause that holds from then on."""
    to_use: str
    """What leads in a choice or habit, which lasts unless it is of the matter at hand."""
    called: str
    """A name given to something, before the name."""
    in_charge: str
    """What follows the name of who has a duty ("is responsible for")."""
    charge_of: str
    """What precedes that name, where the duty comes first ("is owned by")."""
    due: str
    """A deadline."""
    uses: str
    """Forms of "use" and its like that open an order or follow "we": with `instead_of` a choice that lasts."""
    instead_of: str
    """What precedes the rejected one of two things."""
    contrast: str
    """The same after a comma, where the whole sentence must be long enough to stand alone."""
    not_this: str
    """The opening of "no X but Y", save for its idioms ("no problem")."""
    but_that: str
    """The link of "no X but Y", before the Y."""
    lives: str
    """The opening of a sentence in which the speaker says what they do or never do in life."""
    being: str
    """The opening of a sentence that says what the speaker or one of their family is, up to the noun."""


CUES: Mapping[str, Cues] = {
    "en": Cues(
        standing=r"""
            from (?:now|here|this point) (?:on(?:wards?)?(?: out)?|forward)|(?:from|starting) (?:today|tomorrow) on|
            ^(?:from|starting|beginning) (?:today|tomorrow)(?!')|as of (?:now|today),? (?:we|i|all|every|no|only)|
            going forwards?|henceforth|in (?:the |all )?future""",
        obliged=r"ha(?:s|ve) to|needs? to",
        recurring=r"""
            every (?:other |second )?(?:\w+day|day|week|month|quarter|year|morning|evening|night)|
            (?:mon|tues|wednes|thurs|fri|satur|sun)days|week(?:day|end)s""",
        decided=r"(?:i|we)(?: have|'ve)? (?:now |finally |also )?(?:decided|agreed)",
        that="that|:",
        to_use="on|to use|not to|to (?:only|always|never|stop|quit)",
        called=r"""
            (?:is|are) called (?!twice|once|by|from|in|with|when|on|for|every|again|inside|too|often|only|after|before|
            at)|name is""",
        in_charge=r"(?:is|are) (?:responsible for|in charge of)|(?:looks?|look) after|takes? care of",
        charge_of=r"(?:owned|run|managed|maintained|handled|looked after) by",
        due=r"due(?! to)|deadline|no later than|must be in|(?:has|have) to be in",
        uses=r"uses?|write|speak|pay|quote",
        instead_of=r"instead of|rather than",
        contrast=r", (?:and )?(?:not|no|never|without|only)",
        not_this=r"no (?!problem|luck|need|idea|wonder|worries|rush|hurry|clue|way|doubt|pressure|errors?|warnings?)",
        but_that=r",? but|, (?:only|just)",
        lives=r"""
            i (?:(?:don't|do not|dont|never|only|always|also) )?
            (?:live|work|use|eat|drink|speak|own|drive|smoke)""",
        being=r"""
            (?:i'm|im|i am|my (?:wife|husband|partner|(?:girl|boy)friend|son|daughter|brother|sister|mother|father|mum|
            mom|dad|aunt|uncle|grand(?:mother|father|ma|pa)|cousin) is) an? (?!(?:bit|little|lot|tad|touch|few|couple|
            (?:\w+ )?fan|mess|pain|idiot|fool|wreck|week|day|month|hour|minute|step|moment|second|big|huge)\b)""",
    ),
    "de": Cues(
        standing=r"""
            (?:ab|von) (?:jetzt|sofort|heute|morgen|nun)(?: an)?(?! (?:abend|nacht|mittag|nachmittag|früh|auf))|
            in zukunft|künftig|zukünftig""",
        obliged="",
        recurring=r"""
            (?:mon|diens|donners|frei|sams|sonn)tags|mittwochs|
            jede[nrsm]? (?:zweiten? )?(?:\w+tag|mittwoch|tag|woche|monat|quartal|jahr|morgen|abend|nacht)""",
        decided=r"""
            (?:ich habe?|wir haben) (?:(?:jetzt|nun|gemeinsam) )?(?:beschlossen|entschieden|vereinbart)|
            (?:ich habe? mich|wir haben uns) (?:\w+ )?(?=(?:für|gegen) [^,]+ entschieden)""",
        that="dass|:",
        to_use=r"für|gegen|nur|nie|kein\w*|nicht",
        called=r"(?<!\bdas )heiß(?:t|en)|nennen wir",
        in_charge=r"(?:ist|sind) (?=.*(?:zuständig|verantwortlich))|kümmer(?:t|n) sich um|betreu(?:t|en)",
        charge_of=r"(?:ist|sind)(?= [\w-]+(?: [\w-]+)? (?:zuständig|verantwortlich))|kümmert sich",
        due=r"abgabe\w*|frist|fällig|spätestens|stichtag|\w+schluss|bis (?:zum|ende|anfang|mitte)",
        uses=r"nutz(?:e|en|t)?|benutz(?:e|en|t)?|verwende[nt]?|nimm|nehmen|schreib(?:e|en)?|zahlen|bezahlen|sprechen",
        instead_of=r"(?:an)?statt|anstelle von",
        contrast=r", (?:und )?(?:nicht|kein\w*|nie|ohne|nur)",
        not_this=r"kein\w* (?!problem|fehler|ahnung|wunder|zufall|witz|scherz|bug|panik|stress|eile|sorge)",
        but_that=r",? sondern|, nur",
        lives=r"""
            ich (?:leb|wohn|arbeit|benutz|nutz|verwend|ess|trink|sprech|vertrag|fahr|rauch|besitz)e""",
        being=r"""
            (?:ich bin|meine? (?:frau|mann|partner(?:in)?|freund(?:in)?|sohn|tochter|bruder|schwester|mutter|vater|mama|
            papa|tante|onkel|oma|opa) ist) (?:\w{4,}er? )?(?-i:(?=[A-ZÄÖÜ]))
            (?!(?:fan|feuer|gold|ihrer|meinung|ansicht)\b)""",
    ),
    "fr": Cues(
        standing=r"""
            à l'avenir|désormais|dorénavant|
            à (?:partir|compter) (?:de (?:maintenant|demain)|d'aujourd'hui)|dès (?:maintenant|aujourd'hui)""",
        obliged="",
        recurring=r"""
            (?:les?|chaque|tous les) (?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)s?|
            chaque (?:jour|semaine|mois|trimestre|année|matin|soir)|tous les (?:jours|mois|ans|matins|soirs)""",
        decided=r"(?:j'ai|on a|nous avons) (?:enfin )?(?:décidé|convenu)",
        that="que|qu'|:",
        to_use="d'utiliser|d'employer|de ne (?:plus|pas|jamais)",
        called=r"s'appelle(?:nt)?",
        in_charge=r"""
            (?:(?:est|sont) (?:(?:la |le |les )?responsables?|chargée?s?|en charge)|s'occupe(?:nt)?) d(?:es?|u|')""",
        charge_of=r"gérée?s? par|c'est(?= [\w-]+ (?:\w+ )?qui s'occupe)",
        due=r"date limite|échéance|à rendre|au plus tard|avant (?:le|fin)|dûe?s?(?! à)|remise",
        uses=r"utilis(?:e|ons|ez)|emploie|employons|prends|écris|écrivons|écrit|parlons|paie|payons",
        instead_of=r"(?:au lieu|à la place) (?:des?|du|d')|plutôt qu(?:e|')",
        contrast=r", (?:et )?(?:pas|jamais|non|sans|seulement|uniquement)",
        not_this=r"pas (?:de |d')(?!souci|problème|panique|chance|erreur|bug|stress|idée|doute)",
        but_that=r",? mais(?: plutôt)?(?: d(?:es|u|e la|e l'))?|, (?:seulement|uniquement|juste)",
        lives=r"""
            (?:je |j')(?:ne |n')?
            (?:habite|vis|travaille|utilise|mange|bois|parle|conduis|fume|possède)(?: (?:pas|plus|jamais))?""",
        being=r"""
            (?:je suis|(?:ma|mon) (?:femme|mari|conjointe?|copine|copain|fils|fille|frère|s(?:œ|oe)ur|mère|père|maman|
            papa|tante|oncle) est) (?!(?:fi[eè]re?|derni[eè]re?|premi[eè]re?|enti[eè]re?|étrang[eè]re?|lég[eè]re?|
            heureuse|curieuse|sérieuse|furieuse|triste|meilleure?|bien|rien|moyenn?e?|ancienn?e?)\b)
            (?=\w{3,}(?:(?:i|g|ch)[eè]re?|eure?|euse|rice|ienn?e?|iste|ologue)\b|(?:médecin|prof|avocate?|étudiante?|
            végane?|sourde?)\b)""",
    ),
    "es": Cues(
        standing=r"""
            (?:a partir de|desde|de) (?:ahora|hoy|mañana)(?: mismo)?(?: en adelante)?(?! (?:y )?(?:hasta|a mañana))|
            en adelante|en el futuro""",
        obliged=r"tienen? que|hay que",
        recurring=r"""
            (?:los|el|cada|todos los) (?:lunes|martes|miércoles|jueves|viernes|sábados?|domingos?)|
            cada (?:día|semana|mes|trimestre|año|mañana|noche)|todos los (?:días|meses|años)""",
        decided=r"(?:he|hemos) (?:decidido|acordado)|(?:decid|acord)(?:í|é|imos|amos)",
        that="que|:",
        to_use="usar|utilizar|no|nunca|dejar de",
        called=r"se llaman? (?!al?\b|dos veces|una vez|desde|por|cuando|en\b|de nuevo|con\b)",
        in_charge=r"(?:(?:es|son) (?:la |el )?(?:responsable|encargad[oa])s?|se (?:encargan?|ocupan?)) del?",
        charge_of=r"(?:gestionad|llevad|mantenid)[oa]s? por",
        due=r"plazo|fecha límite|vence|a más tardar|entrega|se entrega|antes del",
        uses=r"us(?:a|amos|ar|e)|utiliz(?:a|amos|ar|e)|escrib(?:e|imos)|hablamos|pag(?:a|amos)",
        instead_of=r"en (?:vez|lugar) del?",
        contrast=r", (?:y )?(?:no|nunca|sin|solo|sólo)",
        not_this=r"(?:nada de|ningún|no) (?!problema|pasa|error|prisa)",
        but_that=r",? sino|, (?:solo|sólo)",
        lives=r"""
            (?:yo )?(?:vivo|bebo|como(?= carne| pescado| gluten)|fumo|conduzco|(?:(?:no|nunca|solo|sólo|siempre) )
            (?:como|trabajo|uso|utilizo|hablo|vivo|bebo|fumo|conduzco|tomo))""",
        being=r"""
            (?:(?:yo )?soy|mi (?:mujer|esposa|marido|esposo|pareja|novi[oa]|hij[oa]|herman[oa]|madre|padre|mamá|papá|
            tí[oa]|abuel[oa]) es)[ ]
            (?!(?:consciente|(?:in)?capaz|partidari[oa]|nuev[oa]|idiota|tont[oa]|mal[oa]|fan)\b)""",
    ),
    "pt": Cues(
        standing=r"""
            (?:a partir|daqui|desde) (?:de )?(?:agora|hoje|amanhã)(?! até)|de (?:agora|hoje) em diante|
            (?:daqui|de hoje) (?:p(?:a)?ra (?:a )?frente|em diante)|no futuro""",
        obliged=r"têm? (?:que|de)",
        recurring=r"""
            (?:às?|nas?|toda) (?:segundas?|terças?|quartas?|quintas?|sextas?)|(?:aos|todo) (?:sábados?|domingos?)|
            cada (?:dia|semana|mês|trimestre|ano)|todos os (?:dias|meses|anos)""",
        decided=r"(?:decidi|combin(?:ei|á|a)|acord(?:ei|á|a))(?:mos)?",
        that="que|:",
        to_use="usar|utilizar|não|nunca|deixar de",
        called=r"(?:se chamam?|chamam?-se) (?!ao?\b|duas vezes|uma vez|quando|em\b|de novo)",
        in_charge=r"""
            (?:é|são) (?:[oa]s? )?responsáve(?:l|is) p(?:or|el[oa]s?)|(?:cuida|trata|se ocupa|toma conta)m? d[eoa]s?""",
        charge_of=r"(?:gerid|cuidad|mantid)[oa]s? (?:por|pel[oa])",
        due=r"prazo|data limite|vence|entreg(?:a|ue)|até (?:o |ao )?(?:dia|fim|final)",
        uses=r"us(?:a|amos|ar|e)|utiliz(?:a|amos|ar|e)|escreve(?:mos)?|falamos|pag(?:a|amos)",
        instead_of=r"(?:em (?:vez|lugar)|ao invés) d[eoa]",
        contrast=r", (?:e )?(?:não|nunca|sem|só|apenas|somente)",
        not_this=r"(?:nada de|nenhum\w*|não) (?!problema|faz|erro|pressa)",
        but_that=r",? (?:e sim|mas sim|mas)|, (?:só|apenas)",
        lives=r"""
            (?:eu )?(?:moro|vivo|bebo|fumo|(?:(?:não|nunca|só|sempre) )
            (?:como|trabalho|uso|utilizo|falo|moro|vivo|bebo|fumo|conduzo|dirijo|tomo))""",
        being=r"""
            (?:(?:eu )?sou|(?:a |o )?(?:meu|minha) (?:mulher|esposa|marido|esposo|parceir[oa]|namorad[oa]|filh[oa]|
            irmão|irmã|mãe|pai|ti[oa]|av[óô]) é)[ ]
            (?!(?:consciente|(?:in)?capaz|nov[oa]|péssim[oa]|idiota|burr[oa]|fã)\b)""",
    ),
}


@cache
def _pattern(language: str, cue: str, start: str) -> re.Pattern[str]:
    alternatives = joined(getattr(CUES[language], cue)) or "(?!)"
    return re.compile(rf"{start}(?:{alternatives})(?:(?<!\w)|(?!\w))", re.IGNORECASE)


def find_cue(cue: str, text: str, grammar: Grammar, *, at_start: bool = False) -> re.Match[str] | None:
    """Where a text has a cue (a field of Cues), or opens with it."""
    start = "^" if at_start else r"(?:(?<!\w)|(?!\w))"
    return _pattern(grammar.name, cue, start).search(text.replace("’", "'"))


def is_cued(text: str, grammar: Grammar) -> bool:
    """Whether a text has a cue strong enough to make a statement even of a short sentence."""
    readers = (decides, chooses, _names, _puts_in_charge, _sets_deadline, _tells_of_life)
    return any(reader(text, grammar) for reader in readers)


def decides(text: str, grammar: Grammar) -> bool:
    """Whether a text tells a decision that outlasts the matter at hand ("I decided to take a nap" does not)."""
    found = find_cue("decided", text, grammar)
    if not found:
        return False
    rest = text[found.end() :].lstrip(" ,")
    for cue, classes in (("that", "pointing yours"), ("to_use", AT_HAND)):
        if lasting := find_cue(cue, rest, grammar, at_start=True):
            what = words_of(rest[lasting.end() :])[:2]
            return not (grammar.has(classes, what[:1]) or grammar.has("pointing yours", what))
    is_ours = "mos" in found[0].lower()  # "we" in the ending of the verb
    return is_ours and not grammar.has("pointing yours", words_of(rest)[:PHRASE_WORDS])


def chooses(text: str, grammar: Grammar) -> bool:
    """Whether a text prefers one thing to another, in general: "use tabs, not spaces", "no tabs but spaces"."""
    if opening := find_cue("not_this", text, grammar, at_start=True):
        rest = text[opening.end() :]
        link = find_cue("but_that", rest, grammar)
        pair = [words_of(rest[: link.start()]), words_of(rest[link.end() :])] if link else [[]]
        # "But" may also begin a new clause: "no sound but video works".
        is_alike = len({each[-1].endswith("s") for each in pair if each}) == 1
        return is_alike and all(0 < len(each) <= PHRASE_WORDS and not grammar.has_common(each) for each in pair)
    using = find_cue("uses", text, grammar)
    rejected = find_cue("instead_of", text, grammar) or find_cue("contrast", text, grammar)
    if not using or not rejected or len(words_of(text[: using.start()])) > PHRASE_WORDS:
        return False
    chosen, other = words_of(text[using.end() : rejected.start()]), words_of(text[rejected.end() :])[:PHRASE_WORDS]
    if grammar.has(AT_HAND, [*chosen, *other]) or grammar.has("determiners pronouns reasons", other[:1]):
        return False
    return not any(len(word) == 1 or word.isdigit() for word in [*chosen, *other])


def _names(text: str, grammar: Grammar) -> bool:
    """Whether a text says what something is called."""
    found = find_cue("called", text, grammar)
    before, after = (words_of(text[: found.start()]), words_of(text[found.end() :])) if found else ([], [])
    is_clear = not grammar.has("pointing interrogatives yours", before)
    return bool(before and after) and is_clear and after[0] not in grammar.common


def _puts_in_charge(text: str, grammar: Grammar) -> bool:
    """Whether a text says which person is in charge of something."""
    for cue in ("in_charge", "charge_of"):
        duty = find_cue(cue, text, grammar)
        before, after = (text[: duty.start()], text[duty.end() :]) if duty else ("", "")
        person = before if cue == "in_charge" else after.partition(",")[0].strip().partition(" ")[0]
        is_clear = not grammar.has("pointing interrogatives yours", words_of(before + after))
        if is_clear and _is_person(person, grammar):
            return True
    return False


def _is_person(text: str, grammar: Grammar) -> bool:
    """Whether a text may name a person: "Mara", "Mara Klein", "my sister", "o Bruno"."""
    names = text.strip(" .,;!").split()
    words = words_of(" ".join(names))
    if not 0 < len(names) == len(words) <= PHRASE_WORDS:
        return False
    if len(words) > 1 and grammar.has("mine ours", words[:2]):
        return True
    # Portuguese names have an article ("o Bruno"); a name alone may be typed small.
    has_article = grammar.name == "pt" and len(words) > 1 and words[0] in ("a", "o")
    is_name = all(map(str.isalpha, names)) and not grammar.has_common(words[has_article:])
    return is_name and (len(words) == 1 or all(map(str.istitle, names[has_article:])))


def _sets_deadline(text: str, grammar: Grammar) -> bool:
    """Whether a text says when something is due, by its month or as often as it comes again."""
    is_due = find_cue("due", text, grammar) is not None and not grammar.past.search(lowered(text))
    return is_due and bool(grammar.month.search(text) or find_cue("recurring", text, grammar))


def _tells_of_life(text: str, grammar: Grammar) -> bool:
    """Whether a text says what its speaker or one of their family does in life or is."""
    if found := find_cue("lives", text, grammar, at_start=True):
        rest = words_of(text[found.end() :])
        is_vague = len(rest) == 1 and grammar.has_common(rest) and not grammar.has("denying", rest)
        return not (is_vague or grammar.has("definite pointing yours interrogatives", rest))
    found = find_cue("being", text, grammar, at_start=True)
    rest = words_of(text[found.end() :]) if found else []
    return bool(rest) and not grammar.has_common(rest[:1]) and not grammar.has("pointing yours", rest)
