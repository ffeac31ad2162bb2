"""What a sentence is made of, by closed classes of words: one small table a language, and what asks to remember.

What somebody states for good looks alike in any language: it has a subject, speaks of every time and not of this day,
gives a reason, answers or corrects. None of that needs to know what a sentence is about, so that the tables hold only
words of which a grammar lists all. **A further language** is one more entry of LANGUAGES: fill each field with the
words that a grammar of it lists under that head (`past` and `unreal` are patterns of whole words; leave a field empty
where the language has none), and put its words for remembering into REMEMBER, which is read whatever languages are on.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple


class Cue(NamedTuple):
    """What a statement is: its kind (W, B, O, S) and category, and how surely it is to be kept (0..1)."""

    name: str
    kind: str
    category: str
    certainty: float = 0.8


REQUEST = Cue("request", "S", "patterns", 1.0)
PROFILE = Cue("profile", "W", "profile")
PREFERENCE = Cue("preference", "O", "preferences")
RULE = Cue("rule", "S", "patterns")
CAUSE = Cue("cause", "B", "cases")
CHANGE = Cue("change", "B", "events")
FACT = Cue("fact", "W", "entities")
ANSWER = Cue("answer", "W", "entities", 0.5)
"""What affirms a question of the agent's: no word of it says that it lasts, so that the gate has a say as well."""


class Language(NamedTuple):
    """Closed classes of a language's words: each a text of words, but for the patterns `past` and `unreal`."""

    determiners: str
    pronouns: str
    prepositions: str
    verbs: str
    """Finite forms of to be, to have, to do, to go, to stay and the like, as they stand second in a sentence."""
    ours: str
    mine: str
    yours: str
    pointing: str
    """What stands for something that only the talk before it names."""
    always: str
    """How often, how many, when as a rule: words of every time, of all and of none."""
    duty: str
    denying: str
    reasons: str
    questions: str
    """Words that ask, at the beginning of a sentence without a question mark."""
    asking: str
    """Verbs that ask, at the beginning of a sentence."""
    wishes: str
    causes: str
    changes: str
    orders: str
    """The commonest verbs, as orders, that a reader could take for a subject."""
    third: str
    """How verbs end of what he, she or it does now."""
    past: str
    unreal: str
    """Forms of what is only supposed."""


LANGUAGES: Mapping[str, Language] = {
    "en": Language(
        determiners="""the a an each every no all any both some most half my our your their his its one two three four
            five nobody everybody everyone anyone nothing everything none there only""",
        pronouns="i i'm im i've i'd i'll we we're we've we'll us you he she it they it's its that's thats theres who",
        prepositions="""in on at for from to of with without by under over after before since until about between into
            as per during and or but than""",
        verbs="""is are isn't aren't was were has have hasn't haven't does do doesn't don't dont doesnt can can't cannot
            cant may will won't gets get goes go wants needs stays stay keeps lives live runs comes come takes""",
        ours="we we're we've we'll us our ours here",
        mine="i i'm im i've my me mine i'd",
        yours="you your u ur you're youre",
        pointing="""it it's its this that that's thats these those they them they're he she his her hes shes whats
            what's""",
        always="""always never ever only usually normally everywhere anywhere nowhere whenever every each all nobody
            nothing none neither both daily weekly monthly nightly yearly mondays tuesdays wednesdays thursdays fridays
            saturdays sundays weekdays weekends forever anymore""",
        duty="must mustn't may allowed forbidden banned mandatory required policy rule convention",
        denying="not no never don't dont doesn't doesnt isn't aren't won't can't cant cannot nobody none without nor",
        reasons="because since cause cuz otherwise so",
        questions="who what why how whats whoever",
        asking="is are does do did can could should would will has have isn't was were",
        wishes="prefer prefers like likes love loves hate hates rather dislike dislikes favourite favorite avoid fan",
        causes="culprit turned turns workaround",
        changes="""moved switched migrated changed decided agreed dropped replaced renamed settled chose left joined
            anymore longer became""",
        orders="""fix run rerun add remove delete rename revert push pull check try test show print make build open
            close write change update look use put leave drop turn plan book deploy create find give tell send move
            copy start stop keep skip split help wait see read bump squash commit remind convert turn rip lose""",
        third="s",
        past=r"was|were|had|did|got|went|came|wrote|gave|told|asked|said|thought|saw|made|took|ran|broke|lost|found|"
        r"knew|felt|began|brought|bought|sent|spent|heard|met|fell|forgot|"
        r"understood|"
        r"(?<!\b(?:is|be|ts) )(?<!\b(?:are|get) )(?<!\bgets )(?<!\b(?:the|our) )(?<!\balways )(?<!\bnever )\w{3,}ed",
        unreal=r"would|could|might|wouldn't|couldn't|\w+'d(?! (?:rather|prefer|like|better)\b)",
    ),
    "de": Language(
        determiners="""der die das den dem des ein eine einen einem einer kein keine keinen keiner jeder jede jedes alle
            niemand nichts unser unsere unseren unserem mein meine meinen dein zwei drei man beide nur""",
        pronouns="ich wir du er sie es uns mir mich dir wer",
        prepositions="""in im an am auf bei für von vom zu zum zur mit ohne über unter nach vor seit ab aus um durch bis
            und oder als zwischen dort hier dann""",
        verbs="""ist sind war waren hat haben wird werden kann können muss müssen darf dürfen soll sollen gilt gelten
            geht gehen bleibt liegt steht läuft kommt""",
        ours="wir uns unser unsere unseren unserem unserer hier man",
        mine="ich mein meine meinen meiner mir mich",
        yours="du dein deine dir dich ihr euch",
        pointing="es das dies dieser diese dieses er sie ihn ihm ihnen damit dafür da",
        always="""immer nie niemals nur stets jeder jede jedes jeden alle überall niemand nichts grundsätzlich
            ausschließlich täglich wöchentlich monatlich montags dienstags mittwochs donnerstags freitags samstags
            sonntags meistens komplett""",
        duty="muss müssen darf dürfen soll sollen verboten erlaubt pflicht vorschrift regel gilt gelten braucht",
        denying="nicht kein keine keinen nie niemals nichts ohne niemand",
        reasons="weil denn sonst damit deshalb",
        questions="wer was wann warum welche welcher welches wieso ob",
        asking="ist sind hat haben kann können soll sollen geht gibt macht läuft",
        wishes="mag bevorzuge lieber hasse liebe bevorzugt hasst liebt gern",
        causes="ursache schuld lag",
        changes="umgestiegen gewechselt entschieden beschlossen vereinbart umgezogen ersetzt übernommen mehr",
        orders="zeig lass mach schau bau nimm prüf teste starte füg schreib",
        third="t",
        past=r"war|waren|hatten?|wurden?|ging|kam|sah|\w{3,}ten?|ge\w{3,}t(?! (?:wird|werden))",
        unreal="wären?|wär|hätten?|würden?|könnten?|müssten?",
    ),
    "fr": Language(
        determiners="""le la les l' un une des du au aux ce cette ces chaque tout tous toute toutes aucun aucune mon ma
            mes notre nos votre vos leur leurs deux trois rien personne""",
        pronouns="je j' nous on tu vous il elle ils elles c' ça qui",
        prepositions="""de d' à en dans sur sous pour par avec sans chez entre depuis avant après et ou que qu' comme
            dès""",
        verbs="est sont a ont doit doivent peut peuvent faut va vont fait font reste se s' ne n'",
        ours="nous on notre nos chez ici",
        mine="je j' mon ma mes moi me m'",
        yours="tu te t' toi ton ta tes vous vos votre",
        pointing="il elle ils elles ça c' ce cela ceci celui celle lui leur",
        always="""toujours jamais seulement uniquement chaque tout tous toute toutes partout personne rien aucun aucune
            lundi mardi mercredi jeudi vendredi samedi dimanche""",
        duty="doit doivent faut peut peuvent interdit obligatoire règle convention",
        denying="ne n' pas jamais rien aucun aucune sans personne plus",
        reasons="parce puisque sinon car donc",
        questions="qui quoi pourquoi comment combien",
        asking="est-ce",
        wishes="préfère aime déteste évite préfères",
        causes="cause coupable faute venait",
        changes="décidé passé passés changé migré choisi convenu remplacé fermé quitté plus",
        orders="relance montre fais regarde ajoute supprime mets lance corrige",
        third="e",
        past=r"était|étaient|avait|avaient|ai|avons|(?:a|est) \w+é",
        unreal=r"\w{2,}rai[st]|\w{2,}raient",
    ),
    "es": Language(
        determiners="""el la los las un una unos unas cada todo toda todos todas ningún ninguna mi mis nuestro nuestra
            nuestros nuestras su sus dos tres nadie nada este esta ese esa""",
        pronouns="yo nosotros tú él ella ellos se nos me quien",
        prepositions="de del a al en con sin por para sobre entre desde hasta y o que como según tras",
        verbs="es son está están ha han debe deben puede pueden va van hay tiene tienen se",
        ours="nosotros nos nuestro nuestra nuestros nuestras aquí",
        mine="yo mi mis me mí",
        yours="tú te tu tus ti usted",
        pointing="él ella ello eso esto ese esa lo le les",
        always="""siempre nunca jamás solo sólo cada todo todos toda todas nadie nada únicamente lunes martes miércoles
            jueves viernes sábados domingos""",
        duty="debe deben puede pueden prohibido obligatorio regla norma",
        denying="no nunca jamás nada nadie sin ningún ninguna tampoco ni",
        reasons="porque pues sino así",
        questions="qué quién cuándo cómo cuál dónde cuánto",
        asking="",
        wishes="prefiero prefiere gusta odio odia encanta evito",
        causes="causa culpa arregló solucionó resolvió",
        changes="decidimos decidido cambiado cambiamos pasado acordado mudado migrado ya dejamos",
        orders="ejecuta haz muestra añade borra mira pon corre prueba quita",
        third="[ae]",
        past=r"era|fue|fueron|había|hizo|\w{2,}(?:ó|aba|ieron|aron)",
        unreal=r"\w{2,}ría[ns]?|\w{2,}(?:iera|ara|áramos|iéramos)[ns]?",
    ),
    "pt": Language(
        determiners="""o a os as um uma uns umas cada todo toda todos todas nenhum nenhuma meu minha meus minhas nosso
            nossa nossos nossas seu sua dois duas três ninguém nada este esta esse essa dona""",
        pronouns="eu nós você ele ela eles elas se gente quem",
        prepositions="de do da dos das em no na nos nas com sem por pra para ao aos às sobre entre desde até e ou que",
        verbs="é são está estão tem têm deve devem pode podem vai vão fica ficam há",
        ours="nós nosso nossa nossos nossas aqui gente",
        mine="eu meu minha meus minhas me mim",
        yours="tu você te teu tua",
        pointing="ele ela isso isto esse essa aquilo",
        always="""sempre nunca jamais só apenas somente cada todo toda todos todas ninguém nada segunda terça quarta
            quinta sexta sábado domingo""",
        duty="deve devem pode podem proibido obrigatório regra precisa",
        denying="não nunca jamais nada ninguém sem nenhum nenhuma nem",
        reasons="porque pois senão então",
        questions="qual onde quanto será",
        asking="",
        wishes="prefiro prefere gosto odeio adoro evito",
        causes="causa culpa resolvem resolveu",
        changes="decidimos mudamos passamos trocamos combinamos migramos mais mudou",
        orders="roda mostra faz testa reinicia coloca adiciona apaga olha manda tira gera deixa",
        third="[ae]",
        past=r"era|foi|foram|tinha|estava|tava|fez|\w{2,}(?:ou|ava|aram|eram)",
        unreal=r"\w{2,}ria[ms]?|\w{2,}(?:asse|esse|isse)[ms]?|fosse",
    ),
}

WORD = re.compile(r"\b[cdjlmnst]['’]|[^\W_]+(?:['’.@/:-][^\W_]+)*|--?\w+", re.IGNORECASE)
"""A word, as this module counts them: with what an apostrophe, a dot or a hyphen joins, but `l'` and its like alone."""


class Grammar:
    """One language's classes as sets and patterns."""

    def __init__(self, language: Language) -> None:
        self.classes: Mapping[str, frozenset[str]] = {
            name: frozenset(text.split()) for name, text in language._asdict().items() if name not in _PATTERNS
        }
        self.common = frozenset().union(*(self.classes[name] for name in _COMMON))
        self.openers = frozenset().union(*(self.classes[name] for name in _OPENERS))
        self.third = re.compile(rf"(?:{language.third})$")
        self.past, self.unreal = (re.compile(rf"\b(?:{text})\b") for text in (language.past, language.unreal))

    def has(self, name: str, words: Sequence[str]) -> bool:
        """Whether some of these words are of a class."""
        return not self.classes[name].isdisjoint(words)


_PATTERNS = frozenset(("third", "past", "unreal"))
_OPENERS = ("determiners", "pronouns", "prepositions", "always", "denying", "reasons", "questions", "mine")
_COMMON = (*_OPENERS, "verbs", "ours", "yours", "pointing", "duty", "wishes", "changes")

LEAST_COMMON = 0.15
"""A sentence in a language has at least this share of its common words; one in Dutch has less of any of the five."""


@cache
def grammar(name: str) -> Grammar:
    """The classes of a language, by its short name."""
    return Grammar(LANGUAGES[name])


def language_of(words: Sequence[str], languages: Sequence[str], usual: str = "") -> str:
    """The language of which a text has the most common words, of two equal ones the `usual`; "" for none."""
    counts = {name: sum(word in grammar(name).common for word in words) for name in languages if name in LANGUAGES}
    best = max(counts, key=lambda name: (counts[name], name == usual), default="")
    return best if best and counts[best] >= max(1.0, LEAST_COMMON * len(words)) else ""


# --- what is read in all languages ----------------------------------------------------------------------------------


def _joined(lines: str) -> str:
    """A pattern that is written over several lines."""
    return "".join(map(str.strip, lines.splitlines()))


_STEMS = _joined(r"""
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
_TIMES = _joined(r"""
    from (?:now|here|today|this point) (?:on(?:wards?)?(?: out)?|forward)|going forwards?|henceforth|
    in (?:the |all )?future|(?:ab (?:jetzt|sofort|heute)|von (?:nun|jetzt) an)|in zukunft|künftig|zukünftig|à l'avenir|
    désormais|dorénavant|à partir (?:de maintenant|d'aujourd'hui)|(?:a partir de|de) ahora(?: en adelante)?|
    (?:de aquí )?en adelante|en el futuro|en lo sucesivo|
    (?:a partir de agora|de agora em diante|(?:daqui|de hoje) (?:p(?:a)?ra (?:a )?frente|(?:em|por) diante))|no futuro|
    vanaf nu|voortaan|in het vervolg|d'?\ ?ora in (?:poi|avanti)|in futuro|från och med nu|framöver|fra nå av|
    fremover|od teraz|na przyszłość|od teď|впредь|отныне|надалі
""")
_PLACES = _joined(r"""
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
REMEMBER = re.compile(rf"\b(?P<time>{_TIMES})(?!\w)|\b(?:{_STEMS})(?!\w)|\b(?:{_PLACES})(?!\w)|\b{_KEEPING}")
"""Asks to remember something, wherever in a clause: what says so itself, and where or till when something is kept."""

FILLER = re.compile(
    _joined(r"""
    (?:\W*\b(?:this|that|it|these|one|down|please|pls|too|also|of|well|forever|note|us|me(?= please)|dir|euch|das|
    es|auf|ab|dies|bitte|fest|dran|mal|auch|ça|cela|bien|ceci|une fois pour toutes|s'il te plaît|le|la|les|esto|eso|
    siempre|por favor|disso|isso|disto|isto|aí|de|dit|even|ook|alsjeblieft|questo|det här|detta|också|si|
    sobie)(?!\w))*
""")
)
"""What stands between a request and what is to be remembered."""

PLACE = re.compile(r"(?:as|to|in|into|for|under|on|als|zu|zur|auf|dans|comme|pour|en|como|para|na|no)\b")
"""What says where or as what it is to be kept begins so."""

THAT = re.compile(r"[^;:.!?]{0,40}?\b(?:that|dass|daß|que|qu'|dat|che|att|at|że|že|что|що)(?!\w)(?=\s+\w)")
COLON = re.compile(r"[^.!?]{0,60}?:(?=\s+\S)")
NO_REQUEST = re.compile(
    _joined(r"""
    \s*(?:,? (?:zu|om te)\b|(?:please )?to\b(?! self)|when|how|if|where|why|who|what|whether|me|us|you|the time|
    de \w+[aei]r\b|onde|dónde|où|wo)(?!\w)|[^:,;.!?]{0,30}?\b(?:to|in|into) (?:the |an? )?(?:[\w/-]+\.\w|readme|
    config|file|script|code|repo|docs?|changelog|issue|ticket|variable)
""")
)
"""What follows a word for remembering where it asks to do something, or whether somebody remembers, or names a file."""

REFUSED = re.compile(
    _joined(r"""
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

TASK = re.compile(
    r"(?:\w+[aei]r(?:se|l[oa]s?)?) (?:el|la|los|las|os?|as?)\b|.*\bzu \w+en\W*$|(?:how|what|why|qué|cómo) "
)
"""Begins what is to be done or found out, where somebody asks to remember it."""

MONTHS = _joined(r"""
    jan(?:\.|uary?|uar|vier|eiro)?|feb(?:\.|ruary?|ruar|rero)?|f[eé]v(?:\.|rier|ereiro)?|mar(?:\.|ch|s|zo|ço)?|märz|
    a[pb]r(?:\.|il)?|avril|ma[iy]o?|jun(?:e|i|io|ho)?|juin|jul(?:y|i|io|ho)?|juillet|aug(?:ust)?|août|agosto|
    set(?:embro)?|sep(?:t|tember|tembre|tiembre)?|o[ck]t(?:ober|obre|ubre)?|out(?:ubro)?|
    nov(?:ember|embre|iembre|embro)?|de[cz](?:ember|embro)?|décembre|diciembre|enero
""")
_DAY = r"\d{1,2}(?:st|nd|rd|th|er|\.)?"
DATE = re.compile(rf"\b(?:\d{{4}}-\d\d-\d\d|{_DAY}(?: de| of)? (?:{MONTHS})|(?:{MONTHS}) {_DAY})\b")

SUPPOSED = re.compile(
    _joined(r"""
    \b(?:must have|apparently|angeblich|apparemment|al parecer|pelo visto|at least (?:that|i)|maybe|perhaps|
    probably|presumably|i (?:mean|guess|wonder|suppose|think)|suppose|imagine|i wish|if only|what if|let'?s say|
    in theory|one day|some ?day|ever (?:get|win|have|need|go|move)|as if|obviously|should (?:we|i)|vielleicht|
    vermutlich|wahrscheinlich|eventuell|ich (?:glaube|meine)|meine ich|irgendwann|jemals|eines tages|stell dir vor|
    angenommen|peut-être|sans doute|je crois|je pense|un jour|imagine|supposons|quizás?|tal vez|creo que|a lo mejor|
    algún día|supón|imagina|talvez|acho que|será que|um dia|algum dia|suponha)\b
""")
)
"""Marks what is said as a guess or a wish."""

IF = re.compile(r"(?:\W|and |but |und |et |e |y |ok )*(?:if|wenn|falls|si|se|were|should|had)\b")
"""Begins a clause that supposes something."""

IRONY = re.compile(
    _joined(r"""
    \b(?:lol|ha|hah|heh|joking|lmao|rofl|haha\w*|hehe\w*|kkk+|rsrs|mdr|ptdr|jaja\w*|jeje\w*|xd)\b|[:;]-?[)DP](?!\w)|
    [😂🤣😄😉😜🙃🙄😏]|/s\b|\b(?:yeah right|sure,? because|(?:just )?kidding|scherz|witz|
    blague|broma|brincadeira|i swear)\b
"""),
    re.IGNORECASE,
)
SARCASM = re.compile(
    _joined(r"""
    ^(?:\W|oh |ah |ach |well |na |mais |pues |yeah )*(?:great|brilliant|fantastic|wonderful|lovely|awesome|marvell?ous|
    super|toll|wunderbar|klasse|herrlich|génial|bravo|magnifique|quel(?:le)? \w+|genial|fant[aá]stico|qué bien|
    estupendo|perfe(?:c|k)?to?|maravilh\w+|ótimo|beleza|que \w+a)\b[\s,]+(?=\w)|
    ^(?:\W|oh |ah |ach |well |na |mais |pues )*(?:yeah|sure|right|klar|ja|oui|sí|claro|sim|yes)\b,? (?:because|cause|
    weil|
    parce|porque)\b|\b(?:of course|no doubt|natürlich|bien sûr|évidemment|por supuesto|com certeza|selbstverständlich|
    (?:just )?like (?:an?|some|the) \w+\W*$|wie eine? \w+\W*$|comme une? \w+\W*$|com[ou] uma? \w+\W*$|
    on (?:this|the) (?:planet|earth)|in the (?:world|universe)|(?:exactly|just) what (?:an?|every|i|we)|
    than any(?:one|body)|if we ask|(?:million|thousand|hundred|billion)s? (?:times|of|years))\b
""")
)
"""Means the opposite: praises or affirms what nobody asked, compares it with what it is not, or exceeds all measure."""
HEARSAY = re.compile(
    _joined(r"""
    \b(?:thinks?|believes?|claims?|reckons?|insists?|swears?|complains?|told me|says|said)(?: (?:that|the|he|she|it|
    they|we|i|this|my|our|nobody|
    everyone))\b|\b(?:behauptet|meint|findet|glaubt|sagt|schwört),? (?:dass|er|sie|wir|es|die|der|das)\b|
    \b(?:prétend|croit|affirme|dit|jure|dice|dijo|piensa|cree|jura|fal(?:a|ou)|disse|diz|acha) (?:que\b|qu')
""")
)
"""Hands on what somebody else holds to be so."""
AFFIRMED = re.compile(r"(?:\W|oh |ah |na |mais )*(?:sure|of course|klar|logisch|bien sûr|claro|ah sim|com certeza)\b")
"""Affirms, which no question before makes irony."""
PASSING = re.compile(
    _joined(r"""
    \b(?:today|tomorrow|tmrw|tonight|yesterday|right now|th(?:is|e next) (?:time|once|run|week|morning|afternoon|
    evening|month|one|round|draft|file|pr|commit|branch|diff)|that one|for now|just now|^now\b|at the moment|
    currently|so far|again|still|lunch|bye|in (?:an?|ten|five|\d+|a few) (?:min(?:utes)?|minute(?! \w)|sec(?:onds?)?|
    bit|
    hours?|days?)\b|later|next week|by (?:eod|noon|lunch|\w+day)|before (?:lunch|noon|the (?:demo|standup|call|
    meeting))|until (?:i|we|then|\w+day|later)|(?:out|away|off|gone) (?:till|until)|(?:the|that) (?:first|second|
    third|last|other|next|latter|former)(?: one)?(?=[.,!]?$|,)|temporarily|meanwhile|afterwards|vorübergehend|
    erstmal|bis morgen|nachher|später|nächste woche|danach|heute|^jetzt|gleich|diesmal|gestern|gerade|im moment|
    diese woche|wieder|noch immer|immer noch|nochmal|bis dahin|(?<!jeden )(?<!guten )morgen|noch nicht|pour l'instant|
    tout à l'heure|tout de suite|ce (?:soir|matin)|
    aujourd'hui|demain|^maintenant|cette (?:fois|semaine)|en ce moment|encore|por ahora|esta (?:tarde|noche|vez|
    semana)|hoy|mañana(?! siempre)|^ahora|ayer|otra vez|todavía|aún|ainda|de momento|por enquanto|hoje|amanhã|^agora|
    ontem|dest[ae] vez|
    dessa vez|est[ae] semana|semana que vem|de novo|nu even)\b
""")
)
"""Speaks of this day and this task."""

STATUS = re.compile(
    _joined(r"""
    \b(?:(?:is|are|was|were|'s|be|looks?|seems?|got|keeps?) (?:\w+ )?(?:pass(?:es|ed|ing)?|fail(?:s|ed|ing)|broken|
    green|red|fine|done|ready|wrong|right|missing|gone|stuck|empty|weird|odd|stale|ok|okay|crash(?:ed|ing)|hanging|
    working|running|off)|(?:tests?|build|pipeline)s? (?:fails?|pass(?:es)?|is|are)|typo|err(?:or|ors|ored)|
    too (?:many|much)|takes forever|(?:nobody|no one) (?:knows|understands)|niemand weiß|personne ne sait|nadie sabe|
    ninguém sabe|(?:sind|ist) (?:\w+ ){0,2}(?:rot|grün|kaputt|fertig|falsch|leer)|(?:ne |
    n')?(?:marche|fonctionne)|(?:siguen?|fallan?)|funciona)\b|
    \d[\w%]* (?:\w+ )?(?:instead of|rather than|au lieu de|statt|en vez de|em vez de) \d
""")
)
"""Says how something goes at the moment."""

SECRET = re.compile(
    _joined(r"""
    \b(?i:pass(?:word|phrase|code)|pin(?: code)?|api[ -]?key|token|credentials?|secret|passwort|kennwort|
    mot de passe|code d'accès|contraseña|clave|senha|schlüssel|wachtwoord)\b(?:[^.\n]{0,20}?(?:(?i:\bis\b|
    \blautet\b|\bist\b|\best\b|\bes\b|\bé\b)|[:=])|,?)\s*(?!(?i:in|on|at|with|by|under|kept|stored|rotated|the|a|an|
    not|no|never|always|im|in der|dans|en|na|no)\b)(?=\S{6})(?:(?=[a-z]*[A-Z0-9])(?=\S*[\d!#$%&*+=?^_-])\S+)|
    (?i:\b(?:password|passwort|contraseña|senha|mot de passe|passcode|pin)(?:is|ist|es|é|est|lautet)) (?!(?i:in|on|
    at|the|a|not|no|never|always|im|kept|stored|rotated)\b)\S|\[redacted|
    (?<!\S)(?=\S{0,80}[a-z])(?=\S{0,80}[A-Z])(?=\S{0,80}\d)(?:(?=\S{0,80}[!#$%&*+=?^])\S{8,80}|
    [\w+/=-]{16,80})(?![^\s,.;:])
""")
)
"""Says what a secret is; the known shapes of keys are gone from a session before."""

REPORTED = re.compile(
    _joined(r"""
    \b(?:says?|said|wrote|writes|claims?|schrieb|schreibt|sagt|dit|écrit|a écrit|dice|escribió|diz|escreveu) ?(?::|
    ["“„«])|\b(?:docs?|documentation|readme|manual|wiki|page|site|website|article|book|blog|post|error|log|output|
    support|message|comment|linter|warning|template|mail|email|ticket|doku|fehler|anleitung|documentación|erreur|
    notice|manuel|mensagem|documentação)s? (?:also )?(?:says?|said|claims?|states?|reads|tells|recommends?|
    suggests?|sagt|dit|dice|diz)\b|, (?:says|sagt|dit|dice|diz) \w+\W*$|\b(?:according to|
    in the (?:example|docs?|readme|manual)|per the|laut|selon|d'après|según|segundo) (?!plan|schedule)
""")
)
"""Hands on what somebody else said, or a text."""

LEAD_IN = re.compile(
    _joined(r"""
    ^(?=[^\n]*\b(?:says?|said|wrote|writes|sent|here'?s|here is|pasted?|from|e?-?mail|slack|message|ticket|issue|
    page|site|docs?|readme|wiki|article|post|thread|review|logs?|output|error|letter|flyer|contract|spec|changelog|
    transcript|hier ist|schreibt|schrieb|fehler|nachricht|voici|message|écrit|aquí está|mensaje|correo|dice|
    aqui está|mensagem|diz|escreveu)\b)[^\n]*:[ \t]*$(?!\n+\0)
"""),
    re.IGNORECASE | re.MULTILINE,
)
"""A line that announces a text."""

QUOTING = re.compile(
    _joined(r"""
    (?:^|(?<=[.!?] ))[^\n:.!?]{0,60}?\b(?:(?<!\bi )(?<!\bwe )(?<!\bich )(?<!\bje )
    (?:says?|said|wrote|writes|schrieb|schreibt|sagte?|dit|écrit|dice|dijo|escribió|diz|disse|escreveu)|
    (?:from|aus|von|vom|extrait|de|del|da|do|du) (?:[\w'’-]+ ){0,3}?(?:docs?|documentation|readme|manual|wiki|page|
    site|website|article|book|blog|post|thread|ticket|issue|slack|e?-?mails?|message|letter|contract|spec|handbook|
    guide|notes|doku|handbuch|anleitung|seite|nachricht|brief|vertrag|manuel|lettre|contrat|correo|mensaje|carta|
    contrato|mensagem|página)) ?: +(?P<quoted>\S[^\n]*(?:\n[^\n]+)*)
"""),
    re.IGNORECASE | re.MULTILINE,
)
"""A source before a colon, and what it says, up to the end of the paragraph."""

LETTER = re.compile(
    _joined(r"""
    (?:^(?i:hi|hello|hey|dear|good (?:morning|afternoon)|hallo|liebe[rs]?|sehr geehrte[rs]?|guten (?:tag|morgen)|moin|
    bonjour|salut|ch[eè]re?s?|hola|buen[oa]s|estimad[oa]s?|querid[oa]s?|olá|oi|bom dia|car[oa]s?|prezad[oa]s?)\b
    [^\n.?!:]{0,50}[,!:]?[ \t]*$|\A)(?s:.{0,4000}?)
    (?:^|(?<=[.!?] ))(?i:(?:with )?(?:kind|best|warm)(?:est)? (?:regards|wishes)|regards|best|cheers|sincerely|yours|
    (?:mit )?(?:freundlichen|besten|lieben|viele|liebe|beste|herzliche) grü(?:ß|ss)en?|mfg|cordialement|bien à vous|
    (?:un )?saludos?(?: cordial(?:es)?)?|atentamente|atenciosamente|abraços?|cumprimentos|um abraço)
    (?: \w+)?,?\s+[A-ZÄÖÜÉÁ][\w-]+(?: [A-ZÄÖÜÉÁ][\w.-]+){0,2}[ \t.]*$
"""),
    re.MULTILINE,
)
"""From a salutation, or else the beginning, to a closing with a name below it."""

RETRACTION = re.compile(
    _joined(r"""
    \b(?:scrap|forget (?:that|it|about|what|the|everything|my)|after all|ignore (?:that|what i)|strike that|
    cancel that|correction|my mistake|i misspoke|let'?s not|on reflection|never ?mind|actually,? no|wait,? no|
    no,? wait|hm+,? wait|argh,? no|undo that|put \S+ back|i was wrong|scratch that|on second thoughts?|
    take (?:it|that) back|disregard|bin (?:that|it)|drop (?:that|the idea)|got (?:it|that) wrong|or rather|
    ignore my|changed my mind|doch nicht|doch lieber|nein,? doch|ach (?:nee|nein)|lassen wir|vergiss (?:das|es|die|den)|
    streich das|
    kommando zurück|ich hab mich (?:geirrt|vertan)|quatsch|ich nehm das zurück|finalement,? non|laisse tomber|
    oublie|tout compte fait|réflexion faite|je me suis trompée?|en fait,? non|olvida|olvídalo|mejor no|al final no|
    espera, (?:no|lo)|ya no lo|
    me equivoqué|esquece|deixa (?:pra lá|isso)|pensando bem|me enganei|melhor não|na verdade,? não)\b
""")
)
INTERRUPTION = re.compile(r"\b(?:wait|hold on|halt|warte|attends|espera|ai não|peraí|argh,? no|oops)\b")
"""With what somebody begins who takes back what was said just before."""
ASSENT = re.compile(
    _joined(r"""
    (?:yes|yep|yup|yeah|exactly|right|correct|indeed|ja|jep|genau|richtig|stimmt|oui|exact(?:ement)?|tout à fait|sí|
    exacto|claro|sim|isso|exato)\b
""")
)
STATE_QUESTION = re.compile(
    _joined(r"""
    (?:\W|so |then |also |und |et |e |y )*(?:is|are|does|do (?!you want)|has|have|was|were|ist|sind|hat|haben|war|
    est(?:-ce)?|sont|a-t-|es|está|son|tiene|é|são|tem)\b
""")
)
"""Asks how something is, not what to do."""

PLEASE = re.compile(
    r"\b(?:please|pls|plz|bitte|stp|s'il te plaît|por favor|(?:can|could|would) (?:you|u)|let'?s|let us|tu peux|mal)\b"
)
DONT = frozenset(("don't", "dont"))
_QUANTIFIERS = """all every each only both everything anyone everyone nothing none there nobody niemand nadie ninguém
    personne anymore forever alle jede jeder jedes jeden nur überall nichts komplett meistens tout tous
    toute toutes chaque seulement uniquement rien partout todo todos toda todas cada solo sólo nada
    únicamente só apenas somente"""
QUANTIFIERS = frozenset(_QUANTIFIERS.split())
"""Words of how many that tell as often of what lies before somebody as of what lasts."""
NAMING = re.compile(
    r"\b(?:(?:is|are) called (?!twice|once|by|from|in|with|when|on|for|every|again)|we call |heiß(?:t|en)\b|"
    r"nennen wir\b|"
    r"s'appelle(?:nt)?\b|on appelle\b|se llaman?\b|llamamos\b|se chamam?\b|chamamos\b|name is\b)"
)
"""Tells what somebody or something is called."""
HAS_TO = re.compile(r"\b(?:ha(?:s|ve) to|needs? to|tienen? que|têm? (?:que|de)|every \w+day)\b")
OPINION = re.compile(
    r"\w+ \w+ (?:how|it)\b|"
    r"\w+(?:'\w+)? (?:\w+ ){0,2}?(?:the|this|that|it|how|der|den|das|die|es|dies\w*|le|la|ce|cette|ça|"
    r"el|este|esta|lo|[oa]|esse|do|da) .*(?:[.,] |\b(?:but|aber|mais|pero|mas|one)\b)"
)
"""Likes or dislikes one thing that lies before both, and not another."""
UNDER_WAY = re.compile(
    r"\b(?:is|are|am|i'm|we're|they're|it's|he's|she's) (?:\w+ )?(?!\w*thing)\w{2,}ing\b|\best\w+ \w+ndo\b|"
    r"\b(?:a|ont|as|ai|avons) (?:\w+ )?\w{2,}(?:ée?s?|u|is)\b|"
    r"\b(?:he|ha|hemos|han) \w+[dst]o\b|\b(?:have|has|\w+'ve) (?:\w+ )?(?:been|put|sold|gone|got|had|\w+e[dn])\b"
)
"""Tells what somebody is doing, or has done."""
NO = frozenset(("no", "kein", "keine", "keinen", "pas", "sin", "sem", "nada", "nunca", "jamais"))
COPULAS = frozenset(("is", "are", "ist", "sind", "est", "sont", "es", "son", "é", "são", "was", "war", "era", "foi"))
CONJUNCTIONS = frozenset(("and", "or", "but", "than", "und", "oder", "als", "et", "ou", "y", "o", "e", "n"))
YOU = frozenset(word for language in LANGUAGES.values() for word in language.yours.split())
LINKS = frozenset(("but", "then", "and", "aber", "dann", "und", "mais", "et", "pero", "y", "mas", "e"))
TELLERS = frozenset(("i", "i'll", "i've", "he", "she", "they", "can't", "cannot", "ich", "je", "yo", "eu", "to"))
"""Who does not ask to remember, but tells that somebody does or does not."""

HABIT = re.compile(r"(?:so (?:arbeit|mach|mag|soll)|that'?s (?:how|the way)|c'est comme|así|assim|zo )")
"""Says that what was asked for just before it holds every time."""
CONSEQUENCE = re.compile(r"(?:so|then|which|because|und|also|donc)\b")
CONTRAST = re.compile(
    r", (?:and |et |y |e |und )?"
    r"(?:not|no|never|nicht|kein\w*|nie|pas|jamais|não|nunca|sin|sem|sans|ohne|without|only|nur|seulement|"
    r"uniquement|solo|sólo|só|apenas|somente) "
)
PRONOUN = re.compile(
    r"(?:(?P<one>She|He|Er|Sie|Il|Elle|Él|Ella|Ele|Ela)|They|It|This|That|These|Es|Ils|Elles|Ellos|Ellas|Eles|Elas)\b"
)
"""Begins a sentence whose subject only the one before it names: `one` stands for one person or thing with a name."""
POINTERS = frozenset(("it", "they", "them", "he", "she", "him", "elle", "ils", "ella", "ellos", "ela", "eles"))
"""Stand for what was named before, within a sentence."""
AGREED = re.compile(
    r"(?:we|i)(?: have|'ve)? (?:decided|agreed) (?:to|that|on|not)\b|wir haben (?:beschlossen|uns (?:für|gegen))\b|"
    r"(?:on a|nous avons) décidé (?:de|que)\b|(?:hemos decidido|decidimos) \w+"
)
