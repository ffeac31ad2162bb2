"""Closed word classes (function words) of the supported languages, one small table per language.

A lasting statement looks alike in any language: it has a subject, speaks of all times rather than of today, gives a
reason, answers or corrects. Recognising this takes no knowledge of the topic, so the tables contain only words that a
grammar can list exhaustively. **To add a language**, add an entry to LANGUAGES: fill each field with the words that a
grammar lists under that heading (`past`, `unreal` and `months` are patterns of whole words; leave a field empty if
the language has none). Only search and comparison read them: what is worth keeping is learnt (`salience/`).
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from vault_memory.text.terms import folded


class Language(NamedTuple):
    """The closed word classes of a language, as space-separated words; some fields are patterns."""

    determiners: str
    pronouns: str
    prepositions: str
    verbs: str
    """Finite forms of frequent verbs (be, have, do, go, stay …), as they occur second in a sentence."""
    ours: str
    mine: str
    yours: str
    pointing: str
    """Words that refer to something named only earlier in the conversation."""
    always: str
    """Adverbs of habit: how often, when as a rule."""
    every: str
    """Quantifiers for all and none: as often about the matter at hand as about what lasts."""
    duty: str
    denying: str
    reasons: str
    questions: str
    """Words that make a sentence a question when they begin it, even without a question mark."""
    wishes: str
    """Verbs of preferring one thing to another."""
    likes: str
    """Verbs of liking and disliking in the first person: a preference unless it is about the matter at hand."""
    states: str
    """First-person forms of being, living, working, using and the like: they say how somebody lives."""
    definite: str
    """Definite articles, unless they also mark what is meant in general, and "here": the matter at hand."""
    causes: str
    changes: str
    now: str
    """Adverbs that say that something is otherwise than before."""
    contrasts: str
    """Words that turn a statement about the same things into another: only, more, less, before, after …"""
    third: str
    """The ending of verbs in the third person singular, present tense."""
    past: str
    unreal: str
    """Conditional and subjunctive forms."""
    interrogatives: str
    """Question words, in any position."""
    idle: str
    """Further function words and forms of auxiliary verbs: never the subject of a question."""
    indefinite: str
    """Indefinite articles."""
    months: str
    """A pattern of the months' names and short forms, read in any case."""


LANGUAGES: Mapping[str, Language] = {
    "en": Language(
        determiners="""the a an each every no all any both some most half my our your their his its one two three four
            five nobody everybody everyone anyone nothing everything none there only""",
        pronouns="i i'm im i've i'd i'll we we're we've we'll us you he she it they it's its that's thats theres who",
        prepositions="""in on at for from to of with without by under over after before since until about between into
            as per during and or but than""",
        verbs="""is are isn't aren't was were has have hasn't haven't does do doesn't don't dont doesnt can can't cannot
            cant may will won't gets get goes go wants needs stays stay keeps lives live runs comes come takes""",
        ours="we we're we've we'll us our ours",
        mine="i i'm im i've my me mine i'd",
        yours="you your u ur you're youre",
        pointing="""it it's its this that that's thats these those they them they're he she his her hes shes whats
            what's""",
        always="""always never ever usually normally everywhere anywhere whenever daily weekly monthly
            nightly yearly""",
        every="only every each all nobody nothing none both forever anymore",
        duty="must mustn't may allowed forbidden banned mandatory required policy rule convention",
        denying="not no never don't dont doesn't doesnt isn't aren't won't can't cant cannot nobody none without nor",
        reasons="because since cause cuz otherwise so",
        questions="""who what why how whats whoever is are does do did can could should would will has have isn't was
            were""",
        wishes="prefer prefers rather",
        likes="hate love like enjoy dislike",
        states="i'm im am live work use eat drink speak",
        definite="the here",
        causes="culprit turned turns workaround",
        changes="""moved switched migrated changed decided agreed dropped replaced renamed settled chose left joined
            became""",
        now="now nowadays currently meanwhile henceforth instead",
        contrasts="only more less fewer most least before after over under above below until except unless",
        third="s",
        past=r"was|were|had|did|got|went|came|wrote|gave|told|asked|said|thought|saw|made|took|ran|broke|lost|found|"
        r"knew|felt|began|brought|bought|sent|spent|heard|met|fell|forgot|understood|ate|drank|slept|drove|flew|swam|"
        r"sang|woke|wore|threw|spoke|"
        r"(?<!\b(?:is|be|ts) )(?<!\b(?:are|get) )(?<!\bgets )(?<!ing )(?<!\b(?:the|our) )(?<!\balways )(?<!\bnever )"
        r"\w{3,}ed",
        unreal=r"(?:would|could|should|might)(?:n't)?|\w+'d(?! (?:rather|prefer|like|better)\b)",
        interrogatives="who whom whose what which when where why how",
        idle="",
        indefinite="a an",
        months=r"jan(?:\.|uary)?|feb(?:\.|ruary)?|mar(?:\.|ch)?|apr(?:\.|il)?|(?-i:May)|may(?!,? (?!\d{4})\w)|"
        r"june?|july?|aug(?:\.|ust)?|sept?(?:\.|ember)?|oct(?:\.|ober)?|nov(?:\.|ember)?|dec(?:\.|ember)?",
    ),
    "de": Language(
        determiners="""der die das den dem des ein eine einen einem einer kein keine keinen keiner jeder jede jedes alle
            niemand nichts unser unsere unseren unserem mein meine meinen dein zwei drei man beide nur""",
        pronouns="ich wir du er sie es uns mir mich dir wer",
        prepositions="""in im an am auf bei für gegen von vom zu zum zur mit ohne über unter nach vor seit ab aus um
            durch bis statt und oder als zwischen dort hier dann""",
        verbs="""ist sind war waren hat haben wird werden kann können muss müssen darf dürfen soll sollen gilt gelten
            geht gehen bleibt liegt steht läuft kommt""",
        ours="wir uns unser unsere unseren unserem unserer man",
        mine="ich mein meine meinen meiner mir mich",
        yours="du dein deine dir dich ihr euch",
        pointing="""es das dies dieser diese dieses er sie ihn ihm ihnen damit dafür daran darauf dazu davon darüber
            da""",
        always="""immer nie niemals stets grundsätzlich ausschließlich täglich wöchentlich monatlich""",
        every="nur jeder jede jedes jeden alle überall niemand nichts meistens komplett",
        duty="muss müssen darf dürfen soll sollen verboten erlaubt pflicht vorschrift regel gilt gelten braucht",
        denying="nicht kein keine keinen nie niemals nichts ohne niemand",
        reasons="weil denn sonst damit deshalb",
        questions="""wer was wann warum welche welcher welches wieso ob ist sind
            hat haben kann können soll sollen geht gibt macht läuft""",
        wishes="bevorzuge bevorzugt lieber",
        likes="hasse liebe mag",
        states="bin wohne lebe arbeite benutze nutze verwende esse trinke spreche vertrage",
        definite="der die das den dem des im am vom zum zur beim ins ans hier",
        causes="ursache schuld lag",
        changes="umgestiegen gewechselt entschieden beschlossen vereinbart umgezogen ersetzt übernommen",
        now="jetzt nun nunmehr inzwischen mittlerweile derzeit aktuell fortan künftig stattdessen",
        contrasts="""nur ausschließlich lediglich mehr weniger meisten wenigsten vor nach bevor nachdem über unter
            bis außer""",
        third="t",
        past=r"war|waren|hatten?|wurden?|ging|kam|sah|ge\w{3,}t(?! (?:wird|werden))",
        unreal="wären?|wär|hätten?|würden?|könnten?|müssten?|sollten?",
        interrogatives="""wer wen wem wessen was wann wo wohin woher wie wieso weshalb warum welche welcher welches
            welchen welchem womit wofür wozu worüber worauf woran wovon wieviel wieviele""",
        idle="""viel viele vielen vieler wenig wenige wenigen mehr etwas einige einigen manche manchen alles allen aller
            sehr auch noch schon doch mal eigentlich ja nein mich sich euch ihr ihre ihren ihrem ihrer sein seine
            seinen seinem seiner meinem deinen deinem deiner euer eure dieser diesen diesem jene jener jenes deren
            dessen ans ins beim während wegen trotz hinter neben wenn dass ob weil obwohl aber sondern sowie
            bevor nachdem jetzt nun so bin bist seid sei gewesen wäre habe hast habt hatte hatten gehabt wirst werde
            wurde wurden worden würde würden kannst könnt konnte konnten könnte könnten musst müsst musste mussten
            müsste darfst dürft durfte durften dürfte sollst sollt sollte sollten will willst wollt wollen wollte
            wollten mag magst mögen möchte möchten tun tut gibt macht machen kommen
            stehen liegen bleiben erst zuerst solange sonst jetzt""",
        indefinite="ein eine einen einem einer",
        months=r"jan(?:\.|uar)?|feb(?:\.|ruar)?|märz|apr(?:\.|il)?|mai|juni?|juli?|aug(?:\.|ust)?|sept?(?:\.|ember)?|"
        r"okt(?:\.|ober)?|nov(?:\.|ember)?|dez(?:\.|ember)?",
    ),
    "fr": Language(
        determiners="""le la les l' un une des du au aux ce cette ces chaque tout tous toute toutes aucun aucune mon ma
            mes notre nos votre vos leur leurs deux trois rien personne""",
        pronouns="je j' nous on tu vous il elle ils elles c' ça qui",
        prepositions="""de d' à au aux en dans sur sous pour par avec sans chez entre depuis avant après et ou que qu'
            comme dès""",
        verbs="est sont a ont doit doivent peut peuvent faut va vont fait font reste se s' ne n'",
        ours="nous on notre nos chez",
        mine="je j' mon ma mes moi me m'",
        yours="tu te t' toi ton ta tes vous vos votre",
        pointing="il elle ils elles ça c' ce cela ceci celui celle lui leur dessus dedans",
        always="toujours jamais aucun aucune",
        every="seulement uniquement chaque tout tous toute toutes partout personne rien",
        duty="doit doivent faut peut peuvent interdit obligatoire règle convention",
        denying="ne n' pas jamais rien aucun aucune sans personne plus",
        reasons="parce puisque sinon car donc",
        questions="qui quoi pourquoi comment combien est-ce",
        wishes="préfère préfères",
        likes="déteste aime adore",
        states="suis habite vis travaille utilise mange bois parle",
        definite="le la l' ici",
        causes="cause coupable faute venait",
        changes="décidé passé passés changé migré choisi convenu remplacé fermé quitté",
        now="maintenant désormais dorénavant actuellement plutôt",
        contrasts="seul seule seuls seules seulement uniquement plus moins avant après sur sous dessus dessous sauf",
        third="e",
        past=r"était|étaient|avait|avaient|ai|avons|est \w+é|(?:a|ont) (?:\w+ )?\w{2,}(?:ée?s?|u|is)",
        unreal=r"\w{2,}rai[st]|\w{2,}raient",
        interrogatives="""qui que quoi quel quelle quels quelles quand où comment combien pourquoi lequel laquelle
            lesquels lesquelles""",
        idle="""si lorsque afin ni mais dont y en eux soi moi se ses sa son ton te cet cette ceux celles cela au contre
            vers pendant sous selon très moins trop peu beaucoup assez autant encore déjà aussi suis es sommes êtes
            sois soit étais était étions étiez étaient été être avoir ai as avons avez avais avait avions aviez
            avaient eu fais faire faites faisons dois devons devez devrait devoir peux pouvons pouvez pourrait
            pouvoir vais vas allons allez aller veux veut voulons voulez veulent vouloir t n s""",
        indefinite="un une",
        months=r"janv(?:\.|ier)?|févr(?:\.|ier)?|mars|avr(?:\.|il)|mai|juin|juil(?:\.|let)?|août|sept(?:\.|embre)?|oct(?:\.|obre)?|"
        r"nov(?:\.|embre)?|déc(?:\.|embre)?",
    ),
    "es": Language(
        determiners="""el la los las un una unos unas cada todo toda todos todas ningún ninguna mi mis nuestro nuestra
            nuestros nuestras su sus dos tres nadie nada este esta ese esa""",
        pronouns="yo nosotros tú él ella ellos se nos me quien",
        prepositions="de del a al en con sin por para sobre entre desde hasta y o que como según tras",
        verbs="es son está están ha han debe deben puede pueden va van hay tiene tienen se",
        ours="nosotros nos nuestro nuestra nuestros nuestras",
        mine="yo mi mis me mí conmigo soy vivo",
        yours="tú te tu tus ti usted",
        pointing="él ella ello eso esto ese esa lo le les",
        always="siempre nunca jamás",
        every="solo sólo cada todo todos toda todas nadie nada únicamente",
        duty="debe deben puede pueden prohibido obligatorio regla norma",
        denying="no nunca jamás nada nadie sin ningún ninguna tampoco ni",
        reasons="porque pues sino así",
        questions="qué quién cuándo cómo cuál dónde cuánto",
        wishes="prefiero prefiere",
        likes="odio detesto adoro gusta gustan",
        states="soy vivo trabajo uso bebo hablo",
        definite="el la al del aquí",
        causes="causa culpa arregló solucionó resolvió",
        changes="decidimos decidido cambiado cambiamos pasado acordado mudado migrado dejamos",
        now="ahora actualmente ya",
        contrasts="solo sólo solamente únicamente más menos antes después sobre bajo hasta excepto salvo",
        third="[ae]",
        past=r"era|fue|fueron|había|hizo|\w{2,}(?:ó|aba|ieron|aron)|(?:he|ha|hemos|han) \w+[dst]o",
        unreal=r"\w{2,}ría[ns]?|\w{2,}(?:iera|ara|áramos|iéramos)[ns]?",
        interrogatives="qué quién quiénes cuál cuáles cuándo cuánto cuánta cuántos cuántas cómo dónde adónde",
        idle="""si aunque cuando donde mientras pero contra hacia bajo durante muy mucho mucha muchos muchas poco poca
            pocos pocas más menos tan tanto tanta también ya aún todavía te os les lo le ti sí contigo conmigo
            vosotros ustedes este esta estos estas esos esas aquel aquella aquello aquellos algún alguno alguna
            algunos algunas algo alguien soy eres somos sois ser sea era eran fue fueron sido estoy estás estamos
            estar estaba estaban he has hemos haber había tengo tienes tenemos tener tenía hago haces hace hacemos
            hacen hacer puedo puedes podemos poder debo debes debemos deber voy vas vamos ir quiero quieres quiere
            queremos quieren""",
        indefinite="un una unos unas",
        months=r"ene(?:\.|ro)?|feb(?:\.|rero)?|mar(?:\.|zo)|abr(?:\.|il)?|mayo|jun(?:\.|io)?|jul(?:\.|io)?|ago(?:\.|sto)?|sep(?:\.|tiembre)?|"
        r"set(?:\.|iembre)|oct(?:\.|ubre)?|nov(?:\.|iembre)?|dic(?:\.|iembre)?",
    ),
    "pt": Language(
        determiners="""o a os as um uma uns umas cada todo toda todos todas nenhum nenhuma meu minha meus minhas nosso
            nossa nossos nossas seu sua dois duas três ninguém nada este esta esse essa dona""",
        pronouns="eu nós você ele ela eles elas se gente quem",
        prepositions="""de do da dos das em no na nos nas com sem por pra para ao à aos às sobre entre desde até e ou
            que""",
        verbs="é são está estão tem têm deve devem pode podem vai vão fica ficam há",
        ours="nós nosso nossa nossos nossas gente",
        mine="eu meu minha meus minhas me mim comigo sou moro vivo",
        yours="tu você te teu tua",
        pointing="ele ela eles elas isso isto esse essa aquilo",
        always="sempre nunca jamais",
        every="só apenas somente cada todo toda todos todas ninguém nada",
        duty="deve devem pode podem proibido obrigatório regra precisa",
        denying="não nunca jamais nada ninguém sem nenhum nenhuma nem",
        reasons="porque pois senão então",
        questions="qual onde quanto será",
        wishes="prefiro prefere",
        likes="odeio detesto adoro gosto",
        states="sou moro vivo trabalho uso bebo falo",
        definite="o a ao à do da no na aqui",
        causes="causa culpa resolvem resolveu",
        changes="decidimos mudamos passamos trocamos combinamos migramos mudou",
        now="agora atualmente já",
        contrasts="só apenas somente unicamente mais menos antes depois sobre sob acima abaixo até exceto salvo",
        third="[ae]",
        past=r"era|foi|foram|tinha|estava|tava|fez|\w{2,}(?:ou|ava|aram|eram)",
        unreal=r"\w{2,}ria[ms]?|\w{2,}(?:asse|esse|isse)[ms]?|fosse",
        interrogatives="que quê quem qual quais quando quanto quanta quantos quantas como onde aonde",
        idle="""se embora mas contra durante sob muito muita muitos muitas pouco pouca poucos poucas mais menos tão
            tanto tanta também já ainda lhe lhes lo la te ti si comigo contigo vocês dele dela deles delas pelo pela
            pelos pelas num numa neste nesta nesse nessa disso este estes estas esses essas aquele aquela aqueles
            aquelas algum alguma alguns algumas algo alguém tua teus tuas seus suas vosso sou és somos ser seja era
            eram foi foram sido estou estás estamos estar estava estavam tenho tens temos ter tinha tinham faço faz
            fazem fazemos fazer posso podes podemos poder devo devemos dever vou vais vamos ir quero queres quer
            queremos querem""",
        indefinite="um uma uns umas",
        months=r"jan(?:\.|eiro)?|fev(?:\.|ereiro)?|mar(?:\.|ço)?|abr(?:\.|il)?|maio|jun(?:\.|ho)?|jul(?:\.|ho)?|ago(?:\.|sto)?|set(?:\.|embro)?|"
        r"out(?:\.|ubro)?|nov(?:\.|embro)?|dez(?:\.|embro)?",
    ),
}

_WORD = re.compile(r"\b[cdjlmnst]['’]|[^\W_]+(?:['’.@/:-][^\W_]+)*|--?\w+", re.IGNORECASE)
"""A word: parts joined by an apostrophe, a dot or a hyphen are one, but elided articles (`l'`, `d'`) stand alone."""

_RUN = re.compile(r"\w+")

_DAY = r"\d{1,2}(?:st|nd|rd|th|er|\.)?"
_NUMERIC = r"(?<=am |um |is |om )\d{1,2}\.\d{1,2}\.(?:\d\d){0,2}|\d{1,2}[./]\d{1,2}[./]20\d\d"
"""A date in numbers with its year, or as German gives it after "am", "zum", "bis" or "vom"."""


class Grammar:
    """One language's classes as sets and patterns."""

    def __init__(self, name: str) -> None:
        language = LANGUAGES[name]
        self.name = name
        self.classes: Mapping[str, frozenset[str]] = {
            name: frozenset(text.split()) for name, text in language._asdict().items()
        }
        self.common = frozenset().union(*(self.classes[name] for name in _COMMON))
        self.openers = frozenset().union(*(self.classes[name] for name in _OPENERS))
        self.third = re.compile(rf"(?:{language.third})$")
        self.past, self.unreal = (re.compile(rf"\b(?:{text})\b") for text in (language.past, language.unreal))
        months = rf"(?:{language.months})"
        self.date = re.compile(
            rf"(?<![\w.])(?:\d{{4}}-\d\d-\d\d|{_DAY}(?: d?[eo]f?)? {months}|{months} {_DAY}|{_NUMERIC})(?!\w)",
            re.IGNORECASE,
        )
        self.month = re.compile(rf"(?<!\w){months}(?!\w)", re.IGNORECASE)
        """A day with its month, in a text that is not lowered: "May" is a month, "may" a verb."""

    def has(self, names: str, words: Sequence[str]) -> bool:
        """Whether any of these words is in any of these classes (names separated by spaces)."""
        return any(not self.classes[name].isdisjoint(words) for name in names.split())

    def has_common(self, words: Sequence[str]) -> bool:
        """Whether any of these words is a function word."""
        return not (self.common | self.classes["idle"]).isdisjoint(words)

    def has_verb(self, words: Sequence[str]) -> bool:
        """Whether a clause may have a finite verb, judging by closed word classes and endings."""
        is_of_name = any(self.third.search(word) or self.past.fullmatch(word) for word in words[1:3])
        return is_of_name or self.has("verbs duty changes wishes", words[:VERB_WORDS])


_OPENERS = ("determiners", "pronouns", "prepositions", "always", "every", "denying", "reasons", "questions", "mine")
_COMMON = (*_OPENERS, "verbs", "ours", "yours", "pointing", "duty", "wishes", "changes")

_CLOSED = (
    *("determiners", "pronouns", "prepositions", "verbs", "ours", "mine", "yours", "pointing", "denying", "reasons"),
    *("questions", "interrogatives", "idle"),
)

VERB_WORDS = 6
"""How many words at the beginning of a clause are searched for its verb."""

LEAST_IDLE = 2
"""Function words, interrogatives counted twice, needed to identify a question's language: "car" alone is not French."""

LEAST_COMMON = 0.15
"""Minimum share of a language's common words in a sentence of it; a Dutch sentence has less of each of the five."""


@cache
def grammar_of(name: str) -> Grammar:
    """The word classes of a language, by its short name."""
    return Grammar(name)


@cache
def grammars() -> Sequence[Grammar]:
    """The word classes of all languages."""
    return [grammar_of(name) for name in LANGUAGES]


def language_of(words: Sequence[str], languages: Sequence[str], usual: str = "") -> str:
    """The language whose common words are most frequent in a text; `usual` wins a tie; "" if none has enough."""
    counts = {name: sum(word in grammar_of(name).common for word in words) for name in languages if name in LANGUAGES}
    best = max(counts, key=lambda name: (counts[name], name == usual), default="")
    return best if best and counts[best] >= max(1.0, LEAST_COMMON * len(words)) else ""


def denies(text: str) -> bool:
    """Whether a text contains a negation in any of the languages."""
    words = words_of(text)
    return any(word.endswith("n't") for word in words) or any(each.has("denying", words) for each in grammars())


@cache
def _closed(language: str, names: Sequence[str] = _CLOSED) -> frozenset[str]:
    """The folded words of some classes of a language."""
    return frozenset(_RUN.findall(folded(" ".join(getattr(LANGUAGES[language], name) for name in names))))


def function_words(text: str) -> frozenset[str]:
    """The folded function words of a text's dominant language; empty for English, where they are stop words."""
    words = _RUN.findall(folded(text.lower()))
    asking = ("interrogatives",)
    counts = {name: sum((w in _closed(name)) + (w in _closed(name, asking)) for w in words) for name in LANGUAGES}
    most = max(counts, key=lambda name: counts[name])
    return _closed(most) if most != "en" and counts[most] >= LEAST_IDLE else frozenset()


def joined(lines: str) -> str:
    """Join a pattern that is written over several lines."""
    return "".join(map(str.strip, lines.splitlines()))


def pattern_of(lines: str) -> re.Pattern[str]:
    """The regular expression that is written over several lines."""
    return re.compile(joined(lines))


def words_of(text: str) -> list[str]:
    """The words of a text in lower case."""
    return [lowered(word) for word in _WORD.findall(text)]


def lowered(text: str) -> str:
    """A text in lower case, with straight apostrophes."""
    return text.lower().replace("’", "'")


def unaccented(text: str) -> str:
    """A text without accents, as many type it; every character keeps its place."""
    return text if text.isascii() else "".join(unicodedata.normalize("NFD", one)[0] for one in text)


def count_words(text: str) -> int:
    return len(_RUN.findall(text))


MONTHS = "|".join(language.months for language in LANGUAGES.values())
