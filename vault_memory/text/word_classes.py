"""Closed word classes (function words) of five languages, one small table per language, for search and comparison.

They tell what a statement says besides its grammar; what is worth keeping is learnt (`salience/`). **To add a
language**, add an entry to LANGUAGES: fill each field with the words that a grammar lists under that heading.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from vault_memory.text.terms import folded


class Language(NamedTuple):
    """The closed word classes of a language, as space-separated words."""

    closed: str
    """Determiners, pronouns, prepositions, frequent verbs in a finite form, conjunctions, and what opens a question."""
    habit: str
    """Adverbs of habit, quantifiers for all and none, and words of duty."""
    denying: str
    pointing: str
    """Words that refer to something named only earlier in the conversation."""
    changes: str
    """Verbs of changing and deciding, in the past."""
    wishes: str
    """Verbs of preferring one thing to another."""
    likes: str
    """Verbs of liking and disliking in the first person."""
    now: str
    """Adverbs that say that something is otherwise than before."""
    contrasts: str
    """Words that turn a statement about the same things into another: only, more, less, before, after …"""
    interrogatives: str
    """Question words, in any position."""
    idle: str
    """Further function words and forms of auxiliary verbs: never the subject of a question."""


LANGUAGES: Mapping[str, Language] = {
    "en": Language(
        closed="""the a an each every no all any both some most half my our your their his its one two three four five
            nobody everybody everyone anyone nothing everything none there only i i'm im i've i'd i'll we we're we've
            we'll us you he she it they it's that's thats theres who in on at for from to of with without by under over
            after before since until about between into as per during and or but than is are isn't aren't was were has
            have hasn't haven't does do doesn't don't dont doesnt can can't cannot cant may will won't gets get goes go
            wants needs stays stay keeps lives live runs comes come takes ours me mine u ur you're youre because cause
            cuz otherwise so what why how whats whoever did could should would""",
        habit="""always never ever usually normally everywhere anywhere whenever daily weekly monthly nightly yearly
            only every each all nobody nothing none both forever anymore must mustn't may allowed forbidden banned
            mandatory required policy rule convention""",
        denying="not no never don't dont doesn't doesnt isn't aren't won't can't cant cannot nobody none without nor",
        pointing="""it it's its this that that's thats these those they them they're he she his her hes shes whats
            what's""",
        changes="""moved switched migrated changed decided agreed dropped replaced renamed settled chose left joined
            became""",
        wishes="prefer prefers rather",
        likes="hate love like enjoy dislike",
        now="now nowadays currently meanwhile henceforth instead",
        contrasts="only more less fewer most least before after over under above below until except unless",
        interrogatives="who whom whose what which when where why how",
        idle="",
    ),
    "de": Language(
        closed="""der die das den dem des ein eine einen einem einer kein keine keinen keiner jeder jede jedes alle
            niemand nichts unser unsere unseren unserem mein meine meinen dein zwei drei man beide nur ich wir du er sie
            es uns mir mich dir wer in im an am auf bei für gegen von vom zu zum zur mit ohne über unter nach vor seit
            ab aus um durch bis statt und oder als zwischen dort hier dann ist sind war waren hat haben wird werden kann
            können muss müssen darf dürfen soll sollen gilt gelten geht gehen bleibt liegt steht läuft kommt unserer
            meiner deine dich ihr euch weil denn sonst damit deshalb was wann warum welche welcher welches wieso ob gibt
            macht""",
        habit="""immer nie niemals stets grundsätzlich ausschließlich täglich wöchentlich monatlich nur jeder jede jedes
            jeden alle überall niemand nichts meistens komplett muss müssen darf dürfen soll sollen verboten erlaubt
            pflicht vorschrift regel gilt gelten braucht""",
        denying="nicht kein keine keinen nie niemals nichts ohne niemand",
        pointing="es das dies dieser diese dieses er sie ihn ihm ihnen damit dafür daran darauf dazu davon darüber da",
        changes="umgestiegen gewechselt entschieden beschlossen vereinbart umgezogen ersetzt übernommen",
        wishes="bevorzuge bevorzugt lieber",
        likes="hasse liebe mag",
        now="jetzt nun nunmehr inzwischen mittlerweile derzeit aktuell fortan künftig stattdessen",
        contrasts="""nur ausschließlich lediglich mehr weniger meisten wenigsten vor nach bevor nachdem über unter bis
            außer""",
        interrogatives="""wer wen wem wessen was wann wo wohin woher wie wieso weshalb warum welche welcher welches
            welchen welchem womit wofür wozu worüber worauf woran wovon wieviel wieviele""",
        idle="""viel viele vielen vieler wenig wenige wenigen mehr etwas einige einigen manche manchen alles allen aller
            sehr auch noch schon doch mal eigentlich ja nein mich sich euch ihr ihre ihren ihrem ihrer sein seine seinen
            seinem seiner meinem deinen deinem deiner euer eure dieser diesen diesem jene jener jenes deren dessen ans
            ins beim während wegen trotz hinter neben wenn dass ob weil obwohl aber sondern sowie bevor nachdem jetzt
            nun so bin bist seid sei gewesen wäre habe hast habt hatte hatten gehabt wirst werde wurde wurden worden
            würde würden kannst könnt konnte konnten könnte könnten musst müsst musste mussten müsste darfst dürft
            durfte durften dürfte sollst sollt sollte sollten will willst wollt wollen wollte wollten mag magst mögen
            möchte möchten tun tut gibt macht machen kommen stehen liegen bleiben erst zuerst solange sonst""",
    ),
    "fr": Language(
        closed="""le la les l' un une des du au aux ce cette ces chaque tout tous toute toutes aucun aucune mon ma mes
            notre nos votre vos leur leurs deux trois rien personne je j' nous on tu vous il elle ils elles c' ça qui de
            d' à en dans sur sous pour par avec sans chez entre depuis avant après et ou que qu' comme dès est sont a
            ont doit doivent peut peuvent faut va vont fait font reste se s' ne n' moi me m' te t' toi ton ta tes parce
            puisque sinon car donc quoi pourquoi comment combien est-ce""",
        habit="""toujours jamais aucun aucune seulement uniquement chaque tout tous toute toutes partout personne rien
            doit doivent faut peut peuvent interdit obligatoire règle convention""",
        denying="ne n' pas jamais rien aucun aucune sans personne plus",
        pointing="il elle ils elles ça c' ce cela ceci celui celle lui leur dessus dedans",
        changes="décidé passé passés changé migré choisi convenu remplacé fermé quitté",
        wishes="préfère préfères",
        likes="déteste aime adore",
        now="maintenant désormais dorénavant actuellement plutôt",
        contrasts="seul seule seuls seules seulement uniquement plus moins avant après sur sous dessus dessous sauf",
        interrogatives="""qui que quoi quel quelle quels quelles quand où comment combien pourquoi lequel laquelle
            lesquels lesquelles""",
        idle="""si lorsque afin ni mais dont y en eux soi moi se ses sa son ton te cet cette ceux celles cela au contre
            vers pendant sous selon très moins trop peu beaucoup assez autant encore déjà aussi suis es sommes êtes sois
            soit étais était étions étiez étaient été être avoir ai as avons avez avais avait avions aviez avaient eu
            fais faire faites faisons dois devons devez devrait devoir peux pouvons pouvez pourrait pouvoir vais vas
            allons allez aller veux veut voulons voulez veulent vouloir t n s""",
    ),
    "es": Language(
        closed="""el la los las un una unos unas cada todo toda todos todas ningún ninguna mi mis nuestro nuestra
            nuestros nuestras su sus dos tres nadie nada este esta ese esa yo nosotros tú él ella ellos se nos me quien
            de del a al en con sin por para sobre entre desde hasta y o que como según tras es son está están ha han
            debe deben puede pueden va van hay tiene tienen mí conmigo soy vivo te tu tus ti usted porque pues sino así
            qué quién cuándo cómo cuál dónde cuánto""",
        habit="""siempre nunca jamás solo sólo cada todo todos toda todas nadie nada únicamente debe deben puede pueden
            prohibido obligatorio regla norma""",
        denying="no nunca jamás nada nadie sin ningún ninguna tampoco ni",
        pointing="él ella ello eso esto ese esa lo le les",
        changes="decidimos decidido cambiado cambiamos pasado acordado mudado migrado dejamos",
        wishes="prefiero prefiere",
        likes="odio detesto adoro gusta gustan",
        now="ahora actualmente ya",
        contrasts="solo sólo solamente únicamente más menos antes después sobre bajo hasta excepto salvo",
        interrogatives="qué quién quiénes cuál cuáles cuándo cuánto cuánta cuántos cuántas cómo dónde adónde",
        idle="""si aunque cuando donde mientras pero contra hacia bajo durante muy mucho mucha muchos muchas poco poca
            pocos pocas más menos tan tanto tanta también ya aún todavía te os les lo le ti sí contigo conmigo vosotros
            ustedes este esta estos estas esos esas aquel aquella aquello aquellos algún alguno alguna algunos algunas
            algo alguien soy eres somos sois ser sea era eran fue fueron sido estoy estás estamos estar estaba estaban
            he has hemos haber había tengo tienes tenemos tener tenía hago haces hace hacemos hacen hacer puedo puedes
            podemos poder debo debes debemos deber voy vas vamos ir quiero quieres quiere queremos quieren""",
    ),
    "pt": Language(
        closed="""o a os as um uma uns umas cada todo toda todos todas nenhum nenhuma meu minha meus minhas nosso nossa
            nossos nossas seu sua dois duas três ninguém nada este esta esse essa dona eu nós você ele ela eles elas se
            gente quem de do da dos das em no na nos nas com sem por pra para ao à aos às sobre entre desde até e ou que
            é são está estão tem têm deve devem pode podem vai vão fica ficam há me mim comigo sou moro vivo tu te teu
            tua porque pois senão então qual onde quanto será""",
        habit="""sempre nunca jamais só apenas somente cada todo toda todos todas ninguém nada deve devem pode podem
            proibido obrigatório regra precisa""",
        denying="não nunca jamais nada ninguém sem nenhum nenhuma nem",
        pointing="ele ela eles elas isso isto esse essa aquilo",
        changes="decidimos mudamos passamos trocamos combinamos migramos mudou",
        wishes="prefiro prefere",
        likes="odeio detesto adoro gosto",
        now="agora atualmente já",
        contrasts="só apenas somente unicamente mais menos antes depois sobre sob acima abaixo até exceto salvo",
        interrogatives="que quê quem qual quais quando quanto quanta quantos quantas como onde aonde",
        idle="""se embora mas contra durante sob muito muita muitos muitas pouco pouca poucos poucas mais menos tão
            tanto tanta também já ainda lhe lhes lo la te ti si comigo contigo vocês dele dela deles delas pelo pela
            pelos pelas num numa neste nesta nesse nessa disso este estes estas esses essas aquele aquela aqueles
            aquelas algum alguma alguns algumas algo alguém tua teus tuas seus suas vosso sou és somos ser seja era eram
            foi foram sido estou estás estamos estar estava estavam tenho tens temos ter tinha tinham faço faz fazem
            fazemos fazer posso podes podemos poder devo devemos dever vou vais vamos ir quero queres quer queremos
            querem""",
    ),
}


_WORD = re.compile(r"\b[cdjlmnst]['’]|[^\W_]+(?:['’.@/:-][^\W_]+)*|--?\w+", re.IGNORECASE)
"""A word: parts joined by an apostrophe, a dot or a hyphen are one, but elided articles (`l'`, `d'`) stand alone."""

_RUN = re.compile(r"\w+")

LEAST_IDLE = 2
"""Function words, interrogatives counted twice, needed to identify a question's language: "car" alone is not French."""

LEAST_COMMON = 0.15
"""Minimum share of a language's common words in a sentence of it; a Dutch sentence has less of each of the five."""


class Grammar:
    """One language's classes as sets; `common` are its function words and those of changing and wishing."""

    def __init__(self, language: Language) -> None:
        self.classes: Mapping[str, frozenset[str]] = {
            name: frozenset(text.split()) for name, text in language._asdict().items()
        }
        names = ("closed", "habit", "denying", "pointing", "changes", "wishes")
        self.common = frozenset().union(*(self.classes[name] for name in names))

    def has(self, name: str, words: Sequence[str]) -> bool:
        """Whether any of these words is in this class."""
        return not self.classes[name].isdisjoint(words)


@cache
def grammar_of(name: str) -> Grammar:
    """The word classes of a language, by its short name."""
    return Grammar(LANGUAGES[name])


@cache
def grammars() -> Sequence[Grammar]:
    """The word classes of all languages."""
    return [grammar_of(name) for name in LANGUAGES]


def language_of(words: Sequence[str]) -> str:
    """The language whose common words are most frequent in a text; "" if none has enough."""
    counts = {name: sum(word in grammar_of(name).common for word in words) for name in LANGUAGES}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] >= max(1.0, LEAST_COMMON * len(words)) else ""


def denies(text: str) -> bool:
    """Whether a text contains a negation in any of the languages."""
    words = words_of(text)
    return any(word.endswith("n't") for word in words) or any(each.has("denying", words) for each in grammars())


@cache
def _folded_words(language: str, *names: str) -> frozenset[str]:
    """The folded words of some classes of a language."""
    return frozenset(_RUN.findall(folded(" ".join(getattr(LANGUAGES[language], name) for name in names))))


def function_words(text: str) -> frozenset[str]:
    """The folded function words of a text's dominant language; empty for English, where they are stop words."""
    words = _RUN.findall(folded(text.lower()))
    closed = {
        name: _folded_words(name, "closed", "denying", "pointing", "interrogatives", "idle") for name in LANGUAGES
    }
    asking = {name: _folded_words(name, "interrogatives") for name in LANGUAGES}
    counts = {name: sum((word in closed[name]) + (word in asking[name]) for word in words) for name in LANGUAGES}
    most = max(counts, key=lambda name: counts[name])
    return closed[most] if most != "en" and counts[most] >= LEAST_IDLE else frozenset()


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, with straight apostrophes."""
    return [word.lower().replace("’", "'") for word in _WORD.findall(text)]
