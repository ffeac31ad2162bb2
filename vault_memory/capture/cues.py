"""The words of five languages that mark a statement as worth keeping, or as not: one table a language.

Each entry is a regular expression over a sentence in small letters; none looks at what the sentence is about. Requests
to remember are known in all of them, whatever languages the settings name.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple


class Cue(NamedTuple):
    """What a statement with this mark is: its kind (W, B, O) and category, and how surely it is to be kept (0..1)."""

    name: str
    kind: str
    category: str
    certainty: float


REQUEST = Cue("request", "S", "patterns", 1.0)
PROFILE = Cue("profile", "W", "profile", 0.8)
PREFERENCE = Cue("preference", "O", "preferences", 0.8)
RULE = Cue("rule", "S", "patterns", 0.8)
CAUSE = Cue("cause", "B", "cases", 0.8)
CHANGE = Cue("change", "B", "events", 0.7)
DEADLINE = Cue("deadline", "B", "events", 0.7)
FACT = Cue("fact", "W", "entities", 0.7)
ANSWER = Cue("answer", "W", "entities", 0.5)
"""What answers a question of the agent's; no word marks it, so that the gate has a say as well."""


def _joined(lines: str) -> str:
    """A pattern that is written over several lines."""
    return "".join(map(str.strip, lines.splitlines()))


TABLE: Mapping[str, Mapping[Cue, str]] = {
    "en": {
        REQUEST: _joined(r"""
            (?:please )?\b(?:remember|keep in mind|note(?: (?:this|that))?(?: down)? (?:for (?:later|
            the (?:future|notes?|record))|that)|(?:one (?:thing )?)?for the (?:record|notes?|future)|
            don'?t forget|make a note|bear in mind|from now on|going forward|
            in (?:the )?future(?=,))\b(?: (?:this|that))?(?! (?:to|when|how|if|where|why|who|what|the time|me|
            us)\b)
        """),
        PROFILE: _joined(r"""
            \bi(?:'m| am) (?:an? |the |on |from |based |allergic|vegan|vegetarian|left-handed|[\w-]*(?:blind|
            deaf)\b)|\bi(?:'ve got| have) an? (?:[\w-]+ ){0,2}(?:allergy|intolerance|condition|daughter|son|dog|
            cat|wife|husband|brother|sister|child|kid)\b|\bi (?:live|work|study|teach)\b|\bmy (?:wife|husband|
            partner|son|daughter|boss|manager|birthday|timezone|time zone)\b|\bof us (?:in|at|on)\b|\b(?:mon|
            tues|wednes|thurs|fri|satur|sun)days? i\b|\bi\b.* on (?:mon|tues|wednes|thurs|fri|satur|sun)days?
        """),
        PREFERENCE: _joined(r"""
            \bi(?:'d| would)? (?:\w+ )?(?:prefer|rather)\b|\b(?:prefers|likes|dislikes|hates|loves)\b|
            \bi (?:really |much |always )?(?:like|love|hate|dislike|avoid|can'?t stand) (?!you|it|that|this|how|
            the idea)|\bi (?:don'?t|do not|never|always|usually) (?!think|know|see|get|remember|understand|want|
            need|have|mind|care|believe|mean|seem|really|even)\w+|\bi(?:'m| am) (?:not )?a fan|\bmy fav\w+|
            \bplease (?:don'?t|never|always)\b|\bsuits me\b|\bworks best for me\b
        """),
        RULE: _joined(r"""
            \b(?:always|never|hard rule|by convention|policy|must(?: not|n'?t)?|nothing but|only ever|(?:is|
            are)(?: not|n'?t) allowed|no \w+ (?:anywhere|at all|ever)|instead of|in this (?:repo|project|team|
            codebase)|we (?:only|don'?t|do not|usually|generally)|our (?:convention|standard|rule|default|
            style))\b|\bonly (?:with|through|via)\b
        """),
        CAUSE: _joined(r"""
            \b(?:fixed|solved|resolved|cured) (?:it|that|this)\b|\b(?:the|root) (?:cause|culprit|reason|trick|
            fix|workaround)\b|\bturn(?:s|ed) out\b|\b(?:was|is|were) (?:caused by|due to|because)\b|
            \bthe \w+ was \w+ing\b
        """),
        CHANGE: _joined(r"""
            \bwe(?:'ve| have)? (?:just )?(?:moved|switched|migrated|changed|decided|agreed|dropped|renamed|
            settled|chose|picked|replaced)\b|\b(?:left|joined) (?:the|our) (?:team|company|project)\b|\bi(?:'ve|
             have)? (?:decided|agreed|moved|switched)\b|\b(?:no longer|any ?more)\b|\b(?:has|have) taken over\b|
            \bsince (?:the|last|DATE)
        """),
        DEADLINE: _joined(r"""
            DATE|\b(?:deadline|due) (?:is|on|by)\b
        """),
        FACT: _joined(r"""
            \b(?:owns|is responsible for|(?:is|'s) in charge of|takes care of|looks after|maintains|(?:is|
            are) called|belongs? to|agreed to|stands for|reports to)\b|\bwe(?:'re| are)? (?:use|using|run on|
            deploy)\b|\b(?:lives?|runs?|is hosted|is stored|is deployed|is located|sits) (?:in|at|on|under)\b|
            \bour \w+ (?:is|are)\b
        """),
    },
    "de": {
        REQUEST: _joined(r"""
            (?:bitte )?(?:für immer )?\b(?:merk(?:e|en)?(?: (?:dir|euch))?|notier(?:e|en)?(?: dir)?|
            vergiss nicht|denk (?:dran|daran)|ab (?:jetzt|sofort)|in zukunft|zum merken|für (?:später|
            die zukunft))\b(?: (?:bitte|dass))?
        """),
        PROFILE: _joined(r"""
            \bich (?:bin (?:allergisch|farbenblind|vegetarier\w*|veganer\w*|linkshänder\w*|von beruf|in|bei|
            auf)|wohne|arbeite|studiere|lebe)\b|\bich habe? eine? (?:\w+ )?(?:allergie|tochter|sohn|hund|katze|
            frau|mann|bruder|schwester)|\bmeine? (?:frau|mann|sohn|tochter|chef\w*|geburtstag)\b|\b(?:montag|
            dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)s\b
        """),
        PREFERENCE: _joined(r"""
            \bich (?:mag|bevorzuge|hasse|nehme lieber|arbeite lieber|möchte (?:immer|nie|kein\w*)|will (?:immer|
            nie|kein\w*))\b|\bmir ist .+ lieber\b|\b(?:schreiben|machen|nutzen|verwenden|sagen|nehmen) wir\b|
            \bwir (?:hier|bei uns)\b
        """),
        RULE: _joined(r"""
            \b(?:immer|nie(?:mals)?|grundsätzlich|ausschließlich|nur (?:noch )?(?:mit|über|per|auf|in)|
            darf(?:st)? (?:\w+ )?(?:nicht|nichts|kein\w*)|nichts verloren|verboten|statt|kein\w* \w+ (?:in|im|
            auf)|(?:unsere|die) regel)\b
        """),
        CAUSE: _joined(r"""
            \b(?:läuft (?:es|das)|lag (?:es )?(?:an|daran)|ursache|hat (?:es )?(?:geholfen|behoben|gelöst)|
            grund (?:war|ist)|behoben|gelöst)\b
        """),
        CHANGE: _joined(r"""
            \b(?:sind|haben|hat|ist) (?:[\w.-]+ ){0,4}(?:umgestiegen|gewechselt|entschieden|beschlossen|
            vereinbart|umgezogen|ersetzt|übernommen|verlassen)\b|\bnicht mehr\b|\bseit (?:dem|der|letzte\w|DATE)
        """),
        DEADLINE: _joined(r"""
            DATE|\b(?:frist|stichtag|abgabetermin)\b
        """),
        FACT: _joined(r"""
            \b(?:gehört|zuständig|verantwortlich|kümmert sich|heißt|heisst|liegt (?:auf|im|in|bei)|steht (?:im|
            in|auf)|läuft (?:auf|unter)|(?:den|die|das) hat|betreut|wir (?:nutzen|verwenden|benutzen))\b
        """),
    },
    "fr": {
        REQUEST: _joined(r"""
            \b(?:retiens|souviens-toi|rappelle-toi|n'oublie pas|garde en tête|à retenir|
            notez?(?: (?:pour la suite|bien|ça))?|pour la suite|désormais|dorénavant|
            à partir de maintenant)\b(?: (?:que|qu'))?
        """),
        PROFILE: _joined(r"""
            \bje suis (?:allergique|daltonien\w*|végétarien\w*|végan\w*|gauch\w+|à|au|en|prof\w*)\b|
            \b(?:j'habite|je travaille)\b|\bj'ai une? (?:\w+ )?(?:allergie|fille|fils|chien|chat|sœur|frère)|
            \bm(?:a|on) (?:femme|mari|fils|fille)\b|\ble (?:lundi|mardi|mercredi|jeudi|vendredi|samedi|
            dimanche)\b
        """),
        PREFERENCE: _joined(r"""
            \b(?:je préfère|j'aime(?:rais)?|je déteste|je n'aime pas|j'évite|je ne \w+ (?:pas|jamais))\b
        """),
        RULE: _joined(r"""
            \b(?:toujours|jamais|uniquement|seulement (?:avec|par|sur)|il (?:ne )?faut|interdit|obligatoire|
            au lieu de|chez nous|on (?:ne )?\w+ (?:pas|jamais))\b
        """),
        CAUSE: _joined(r"""
            \b(?:la cause|c'était (?:bien )?l[ae]|ven(?:ait|ais) d[eu]|ça (?:marche|a réglé)|résolu|corrigé)\b
        """),
        CHANGE: _joined(r"""
            \b(?:nous avons|on a|on est) (?:\w+ ){0,2}(?:décidé|passés?|changé|migré|choisi|convenu|remplacé)\b|
            \bfermée?s? depuis\b|\bn[e'] ?\w+ plus\b
        """),
        DEADLINE: _joined(r"""
            DATE|\b(?:échéance|date limite)\b
        """),
        FACT: _joined(r"""
            \b(?:s'occupe d[eu]|responsable|chargée? d[eu]|s'appelle(?:nt)?|appartient|se trouve|tourne sur|
            on utilise)\b
        """),
    },
    "es": {
        REQUEST: _joined(r"""
            \b(?:recuerda|acuérdate|apunta|ten en cuenta|no olvides|anota|a partir de ahora|
            de ahora en adelante)\b(?: (?:de )?que)?
        """),
        PROFILE: _joined(r"""
            \bsoy (?:alérgic\w|daltónic\w|vegetarian\w|vegan\w|zurd\w|de)\b|\b(?:vivo|trabajo) (?:en|de|para)\b|
            \btengo (?:alergia|un[ao]? (?:hij[oa]|perr\w|gat\w|herman\w))|\bmi (?:mujer|marido|hij[oa]|
            jef[ea])\b|\blos (?:lunes|martes|miércoles|jueves|viernes|sábados|domingos)\b
        """),
        PREFERENCE: _joined(r"""
            \b(?:prefiero|(?:no )?me gusta\w*|odio|me encanta\w*|evito)\b
        """),
        RULE: _joined(r"""
            \b(?:siempre|nunca|jamás|únicamente|solo (?:con|por|en)|no se (?:debe|puede)|prohibido|obligatorio|
            en vez de|en lugar de|hay que)\b
        """),
        CAUSE: _joined(r"""
            \b(?:la causa|era por|se (?:arregló|solucionó|resolvió)|lo (?:arregló|solucionó)|el problema (?:era|
            fue))\b
        """),
        CHANGE: _joined(r"""
            \b(?:hemos|nos hemos) (?:\w+ ){0,2}(?:decidido|cambiado|pasado|acordado|mudado|migrado)\b|
            \b(?:decidimos|cambiamos|pasamos)\b|\bya no\b|\bdesde (?:el|la|DATE)
        """),
        DEADLINE: _joined(r"""
            DATE|\b(?:plazo|fecha límite)\b
        """),
        FACT: _joined(r"""
            \b(?:se encarga de|responsable de|se llama\w*|pertenece a|está en|corre en|usamos|utilizamos)\b
        """),
    },
    "pt": {
        REQUEST: _joined(r"""
            \b(?:lembr[ae](?:-te|-se)?|guard[ae]|anot[ae]|não esque[çc][ea]|tenha em mente|a partir de agora|
            daqui pra frente)(?: (?:disso|isso|disto|que))?(?: p(?:ra|ara) (?:a )?próxima)?\b
        """),
        PROFILE: _joined(r"""
            \bsou (?:alérgic\w|daltônic\w|vegetarian\w|vegan\w|canhot\w|de|d[ao])\b|\b(?:moro|trabalho) (?:em|
            n[ao]|com)\b|\btenho (?:alergia|uma? (?:filh[oa]|cachorr\w|gat\w|irmã\w?))|\bminha (?:mulher|esposa|
            filha|chefe)\b|\bmeu (?:marido|filho|chefe)\b|\b(?:às|aos) (?:segundas|terças|quartas|quintas|
            sextas|sábados|domingos)\b
        """),
        PREFERENCE: _joined(r"""
            \b(?:prefiro|(?:não )?gosto de|odeio|adoro|evito)\b
        """),
        RULE: _joined(r"""
            \b(?:sempre|nunca|jamais|somente|só (?:com|por|em|pode)|não (?:pode|se deve)|proibido|obrigatório|
            em vez de|tem que)\b
        """),
        CAUSE: _joined(r"""
            \b(?:então era|a causa|era por causa|resolv\w+|consert\w+|funciona com|o problema (?:era|foi))\b
        """),
        CHANGE: _joined(r"""
            \b(?:decidimos|mudamos|passamos|trocamos|combinamos|migramos)\b|\bnão \w+ mais\b|\bdesde (?:o|a|
            DATE)
        """),
        DEADLINE: _joined(r"""
            DATE|\b(?:prazo|data limite)\b
        """),
        FACT: _joined(r"""
            \b(?:cuida d[aoe]|responsável|se chama\w*|pertence a|fica em|roda em|usamos)\b
        """),
    },
}

ABOUT = Cue("about", "W", "entities", 0.7)
"""A sentence of a log whose subject is somebody's name: most sentences of a log tell how a day went."""

_NAME = r"(?P<name>[^\W\d_a-z][\w'’-]*(?: [^\W\d_a-z][\w'’-]*)?)(?: \([^()]*\))? "
PRONOUN = re.compile(
    r"(?:She|He|They|We|I|It|This|That|Er|Sie|Es|Il|Elle|Ils|Elles|On|Él|Ella|Ele|Ela|Wir|Ich|Je|Nous)\b"
)

_ABOUT: Mapping[str, str] = {
    "en": _joined(r"""
        (?:(?:now|still|no longer|also|always|never) )?(?:prefers|likes|dislikes|hates|loves|avoids|owns|leads|
        manages|maintains|works (?:at|for|on|from|as)|lives (?:in|at|with)|moved (?:to|from|into)|joined|
        left (?:the|our)|switched|decided (?:to|on|that)|is (?:allergic|responsible|in charge|called|our|based|
        due|moving|joining|leaving)|was (?:promoted|hired)|takes (?:care of|over)|took over|turns \d|launches|
        ships on|starts on|ends on|has decided)\b
    """),
    "de": _joined(r"""
        (?:mag|bevorzugt|hasst|liebt|leitet|betreut|arbeitet (?:bei|als|an|in)|wohnt (?:in|bei)|zieht (?:um|
        nach)|ist (?:zuständig|verantwortlich|allergisch)|hat (?:sich )?(?:entschieden|beschlossen|gewechselt|
        übernommen)|wird \d)\b
    """),
    "fr": _joined(r"""
        (?:préfère|aime|déteste|dirige|travaille (?:chez|à|pour)|habite|est (?:responsable|allergique|chargé)|
        a (?:décidé|déménagé|rejoint|quitté))\b
    """),
    "es": _joined(r"""
        (?:prefiere|odia|dirige|trabaja (?:en|para)|vive en|es (?:alérgic|responsable)\w*|se (?:mudó|encarga)|
        ha decidido|decidió)\b
    """),
    "pt": _joined(r"""
        (?:prefere|odeia|lidera|trabalha (?:em|n[ao]|para)|mora (?:em|n[ao])|é (?:alérgic|responsável)\w*|mudou|
        decidiu|cuida d[aoe])\b
    """),
}
AGREED = re.compile(
    _joined(r"""
    ^(?:we|i)(?: have|'ve)? (?:decided|agreed) (?:to|that|on|not)\b|^wir haben (?:beschlossen|uns (?:für|
    gegen))\b|^(?:on a|nous avons) décidé (?:de|que)\b|^(?:hemos decidido|decidimos) \w+|^decidimos \w+
""")
)

ORDER = (CAUSE, CHANGE, PREFERENCE, PROFILE, RULE, FACT, DEADLINE)
"""In which cues decide what a statement is."""

_MONTHS = _joined(r"""
    jan(?:\.|uary?|uar|vier|eiro)?|feb(?:\.|ruary?|ruar|rero)?|f[eé]v(?:\.|rier|ereiro)?|mar(?:\.|ch|s|zo|ço)?|
    märz|a[pb]r(?:\.|il)?|avril|ma[iy]o?|jun(?:e|i|io|ho)?|juin|jul(?:y|i|io|ho)?|juillet|aug(?:ust)?|août|
    agosto|set(?:embro)?|sep(?:t|tember|tembre|tiembre)?|o[ck]t(?:ober|obre|ubre)?|out(?:ubro)?|nov(?:ember|
    embre|iembre|embro)?|de[cz](?:ember|embro)?|décembre|diciembre|enero
""")
_DAY = r"\d{1,2}(?:st|nd|rd|th|er|\.)?"
DATE = rf"\b(?:\d{{4}}-\d\d-\d\d|{_DAY}(?: de| of)? (?:{_MONTHS})|(?:{_MONTHS}) {_DAY})\b"

HYPOTHESIS = re.compile(
    _joined(r"""
    (?:^|[.,;] )(?:\W|and |but |und |et |e |y )*(?:if|wenn|falls|si|se)\b.*(?:\b(?:would|could|might|had|were|
    hätten?|wären?|wär|könnten?|würden?|\w+rai[st]|fosse|tivesse|\w+ría|hubiera|fuera)\b|\w'd\b)|
    \b(?:would be (?:nice|cool|great)|maybe|perhaps|probably|presumably|i (?:guess|think|wonder|suppose)|might|
    could be|vielleicht|vermutlich|wahrscheinlich|ich glaube|eventuell|peut-être|sans doute|je crois|je pense|
    quizás?|tal vez|creo que|a lo mejor|talvez|acho que|será que)\b
""")
)
IRONY = re.compile(
    _joined(r"""
    (?:\b(?:lol|lmao|rofl|haha\w*|hehe\w*|kkk+|rsrs|mdr|ptdr|jaja\w*|jeje\w*|xd)\b|[:;]-?[)DP](?!\w)|[😂🤣😄😉😜🙃]|
    /s\b|\b(?:yeah right|sure,? because|just kidding|kidding|scherz|witz|blague|broma|brincadeira)\b)
"""),
    re.IGNORECASE,
)
PASSING = re.compile(
    _joined(r"""
    \b(?:today|tomorrow|tmrw|tonight|yesterday|right now|this (?:time|run|week|morning|afternoon|evening|month|
    one)|for now|just now|at the moment|currently|so far|in a (?:minute|sec\w*|bit)|heute|jetzt gerade|diesmal|
    gestern|gerade|im moment|diese woche|aujourd'hui|demain|maintenant|cette (?:fois|semaine)|en ce moment|hoy|
    mañana|ahora|ayer|esta (?:vez|semana)|hoje|amanhã|agora|ontem|dest[ae] vez|dessa vez|est[ae] semana)\b
""")
)
TASK = re.compile(
    _joined(r"""
    (?:(?:ok(?:ay)?|and|now|then|so|please|pls|also|just|go|can you|could you|let'?s|lets|und|dann|bitte|et|
    puis|e|y)\W+)*(?:fix|run|rerun|add|remove|delete|rename|revert|undo|push|pull|commit|check|try|test|show|
    print|make|build|rebuild|bump|open|close|write|rewrite|change|update|look|use|put|leave|drop|turn|plan|book|
    deploy|redeploy|squash|merge|draft|create|implement|refactor|explain|find|give|tell|send|move|copy|install|
    start|stop|restart|keep|skip|ignore|round|split|help|do|go|continue|set|replace|wait|see|get|read|list|
    search|convert|format|clean|zeig|lass|mach|schau|bau|nimm|prüf|teste|starte|füg|ändere?|schreib|relance|
    montre|fais|regarde|ajoute|supprime|mets|lance|corrige|ejecuta|haz|muestra|añade|borra|mira|pon|corre|roda|
    mostra|faz|testa|reinicia|coloca|adiciona|apaga|olha|manda)\b
""")
)
RETRACTION = re.compile(
    _joined(r"""
    \b(?:scrap|forget (?:that|it|about|what)|never ?mind|actually,? no|wait,? no|no,? wait|hm+,? wait|argh,? no|
    undo that|put \S+ back|i was wrong|scratch that|on second thought|i take that back|changed my mind|
    doch nicht|vergiss (?:das|es)|quatsch|ich nehm das zurück|finalement,? non|laisse tomber|oublie|
    en fait,? non|olvida|olvídalo|mejor no|esquece|deixa pra lá|melhor não|na verdade,? não)\b
""")
)
ASSENT = re.compile(
    _joined(r"""
    (?:yes|yep|yup|yeah|exactly|right|correct|indeed|ja|jep|genau|richtig|stimmt|oui|exact(?:ement)?|
    tout à fait|sí|exacto|claro|sim|isso|exato)\b
""")
)
BACKWARD = re.compile(
    _joined(r"""
    (?:it|that|this|they|them|he|she|those|these|its|thats|that's|it's|whats|what's|hes|he's|shes|she's|er|sie|
    es|das|dies|il|elle|ça|c'est|cela|ils|elles|eso|esto|ese|ele|ela|isso|isto|esse)\b
""")
)
"""A statement that begins so speaks of what came before it."""

POINTING = re.compile(
    _joined(r"""
    \b(?:it|that|this one|them|these|those|him|her|ihn|ihm|dies\w*|damit|dafür|ça|celui|celle|lo|eso|isso|ele|
    ela)\b
""")
)

STATE_QUESTION = re.compile(
    _joined(r"""
    (?:\W|so |then |also |und |et |e |y )*(?:is|are|does|do (?!you want)|has|have|was|were|ist|sind|hat|haben|
    war|est(?:-ce)?|sont|a-t-|es|está|son|tiene|é|são|tem)\b
""")
)
"""Asks how something is, not what to do."""

STATES = re.compile(
    _joined(r"""
    \b(?:is|are|was|were|has|have|isn'?t|aren'?t|stays?|wants?|needs?|uses?|ist|sind|war|hat|haben|bleibt|will|
    braucht|est|sont|ont|reste|es|está|son|tiene|queda|é|são|tem|fica|quer)\b
""")
)


@cache
def pattern(cue: Cue, languages: tuple[str, ...]) -> re.Pattern[str]:
    """What a cue looks like in these languages."""
    each = (TABLE[language][cue] for language in languages if language in TABLE)
    return re.compile("|".join(f"(?:{one})" for one in each).replace("DATE", DATE) or r"(?!)")


def subject(languages: tuple[str, ...], sentence: str) -> str:
    """The name that a sentence of a log, in its own letters, says something lasting of; "" for none."""
    found = _about(languages).match(sentence)
    return "" if found is None or PRONOUN.match(sentence) else found["name"]


@cache
def _about(languages: tuple[str, ...]) -> re.Pattern[str]:
    verbs = "|".join(_ABOUT[language] for language in languages if language in _ABOUT)
    return re.compile(f"{_NAME}(?:{verbs})" if verbs else r"(?!)")
