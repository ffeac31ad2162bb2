"""Recognises sentences not worth keeping: guesses, jokes, matters of the day, hearsay, secrets. Pure.

Each pattern covers all languages and expects lower-case text (`lowered`), except those for secrets.
"""

import re

from vault_memory.capture.remember_requests import SAYING
from vault_memory.sessions.redact import redacted
from vault_memory.text.word_classes import LANGUAGES, grammar_of, language_of, lowered, pattern_of, words_of

_GUESS = pattern_of(r"""
    \b(?:must have|apparently|angeblich|apparemment|al parecer|pelo visto|at least (?:that|i)|maybe|perhaps|probably|
    presumably|i (?:mean|guess|wonder|suppose|suspect|think|hope)|suppose|imagine|i wish|if only|what if|let'?s say|
    in theory|one day|some ?day|ever (?:get|win|have|need|go|move)|as if|obviously|should (?:we|i)|vielleicht|
    vermutlich|wahrscheinlich|eventuell|glaube? ich|ich (?:glaube?|meine)|meine ich|irgendwann|jemals|eines tages|
    stell dir vor|angenommen|peut-être|sans doute|je crois|je pense|un jour|imagine|supposons|quizás?|tal vez|creo que|
    a lo mejor|algún día|supón|imagina|talvez|acho que|será que|um dia|algum dia|suponha)\b
""")
"""Marks a guess or a wish."""
_IF = pattern_of(r"""
    (?:\W|and |but |so |und |et |e |y |ok )*(?:if|when i|quand je|wenn|falls|si|se|were|should|had|
    as long as|tant que(?! (?:t'|vous))|solange|mientras|enquanto)(?!\w)
""")
"""The opening of a conditional clause."""
_JOKE = pattern_of(r"""
    \b(?:lol|jk|let'?s pretend|once upon a time|ha|hah|heh|joking|lmao|rofl|haha\w*|hehe\w*|kkk+|rsrs|mdr|ptdr|
    jaja\w*|jeje\w*|xd)\b|[:;]-?[)dp](?!\w)|[😂🤣😄😉😜🙃🙄😏]|/s\b|\b(?:yeah right|sure,? because|
    (?:just )?kidding|scherz|witz|blague|broma|brincadeira|i swear)\b
""")
_AFFIRMED = re.compile(r"(?:\W|oh |ah |na |mais )*(?:sure|of course|klar|logisch|bien sûr|claro|ah sim|com certeza)\b")
"""Agreement, which is irony unless it answers a question."""
_PASSING = pattern_of(r"""
    \b(?:today|tomorrow|tmrw|tonight|yesterday|right now|th(?:is|e next) (?:time|once|run|hour|week|morning|afternoon|
    evening|month|one|go|round|draft|file|pr|commit|branch|diff|session|task|chat|conversation)|
    that one|for now|just now|^now\b|at the moment|currently|so far|lunch|bye|
    in (?:an?|ten|five|\d+|a few) (?:min(?:utes)?|minute(?! \w)|sec(?:onds?)?|bit|hours?|
    days?)\b|later|next week|by (?:eod|noon|lunch|\w+day)|before (?:lunch|the (?:demo|standup|call|meeting))|
    (?:un)?till? (?:i|we|you|he|she|it|they|some(?:one|body)|then|\w+day|later)|(?:out|away|off|gone) (?:till|until)|
    (?:the|that) (?:first|second|third|last|other|next|latter|former)(?: one)?(?=[.,!]?$|,)|temporarily|vorübergehend|
    erstmal|vorerst|vorhin|soeben|bis morgen|nachher|später|nächste woche|danach|heute|^jetzt|gleich|diesmal|gestern|
    gerade|im moment|diese woche|diese[rs]? (?:sitzung|session|aufgabe|gespräch)|bis dahin|(?<!jeden )(?<!guten )morgen|
    pour (?:l'instant|le moment)|tout à l'heure|tout de suite|ce (?:soir|matin)|cet après-midi|aujourd'hui|demain|
    ^maintenant|cette (?:fois|semaine|session|tâche|conversation)|en ce moment|por ahora|esta (?:tarde|noche|vez|semana|
    sesión|tarea|conversación)|hoy|mañana(?! siempre)|^ahora|ayer|de momento|por enquanto|hoje|amanhã|
    ^agora|ontem|[dn]est[ae] (?:vez|sessão|tarefa|conversa)|dessa vez|est[ae] semana|semana que vem|nu even)\b
""")
"""Refers to this day or this task."""
_GOING_ON = re.compile(r"\b(?:again|still|yet|wieder|noch|nochmal|encore|otra vez|todavía|aún|ainda|de novo)\b")
"""Continues the topic at hand."""
_ONE_OFF = re.compile(
    r"\b\d+ (?:out )?(?:of|von|sur|de) \d+\b|"
    r"\b(?:pid|process|job|run|invoice|line|pr|issue|ticket|order|commit|tag|build|zeile|ligne|linha|línea)\s+#?v?\d"
    r"|(?<![\w.:-])\d{5,}(?![\w:-])|\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b"
)
"""A serial number, count or hash: one instance among many."""
STATUS = pattern_of(r"""
    \b(?:(?:is|are|am|was|were|'s|'m|be|looks?|seems?|got|keeps?) (?:\w+ )?(?:good|great|nice|bad|ugly|better|worse|
    pass(?:es|ed|ing)?|fail(?:s|ed|ing)|broken|green|red|fine|done|ready|wrong|right|missing|gone|stuck|empty|weird|odd|
    stale|ok|okay|crash(?:ed|ing)|hanging|working|running|off)|keeps \w+ing|(?:(?:every|each) (?:single )?time|
    whenever) (?:i|you|it)|(?:jedes ?mal|immer),? wenn ich|sobald ich|chaque fois que|(?:cada|toda) vez que|
    (?:tests?|build|pipeline)s? (?:fails?|pass(?:es)?|is|are)|(?:it|that|this|es|das) (?:looks?|sounds?|feels?|seems?|
    klingt|sieht)|(?:sind|ist) (?:\w+ ){0,2}(?:rot|grün|kaputt|fertig|falsch|leer)|(?:ne |n')?(?:marche|fonctionne)|
    (?:siguen?|fallan?)|funciona)\b
""")
"""Says how something is going at the moment."""
_SECRET = pattern_of(r"""
    \b(?i:pass(?:word|phrase|code)|pin(?: code)?|api[ -]?key|token|credentials?|secret|social security number|ssn|
    passwort|kennwort|mot de passe|code d'accès|contraseña|clave|senha|schlüssel|
    wachtwoord)\b(?:[^.\n]{0,20}?(?:(?i:\bis\b|\blautet\b|\bist\b|\best\b|
    \bes\b|\bé\b)|[:=])|,?)\s*(?!(?i:in|on|at|with|by|under|kept|stored|rotated|the|a|an|not|no|never|always|im|in der|
    dans|en|na|no)\b)(?=\S{6})(?:(?=[a-z]*[A-Z0-9])(?=\S*[\d!#$%&*+=?^_-])\S+)|(?i:\b(?:password|passwort|contraseña|
    senha|mot de passe|passcode|pin)(?:is|ist|es|é|est|lautet)) (?!(?i:in|on|at|the|a|not|no|never|always|im|kept|
    stored|rotated)\b)\S|\[redacted|(?<!\S)(?=\S{0,40}[^\W\d_])(?=[\w-]{0,40}\d)[\w-]{1,40}(?!#\d+\b)[!#$%]\w|
    (?<!\S)(?=\S{0,80}[a-z])(?=\S{0,80}[A-Z])(?=\S{0,80}\d)(?:(?=\S{0,80}[!#$%&*+=?^])\S{8,80}|
    [\w+/=-]{16,80})(?![^\s,.;:])
""")
"""Reveals a secret, or held one that was redacted from a session. The alternative for a code with a sign in it
(`A-2580#K`) is for one of the secrets in 55 labelled sessions, which nothing else here finds."""
_PASSWORD = re.compile(
    r"\b(?:pass(?:word|wort|phrase|code|wd)|pwd?|(?:the|my|our|die|meine|le|mon|el|mi|o|meu) (?:\w+ )?pin|credentials?|"
    r"kennwort|mot de passe|code d'accès|contraseña|senha)s?\b"
)
_CODE = re.compile(r"(?<!\S)(?=\S*[^\W\d_])(?=\S*\d)[^\s,;:]{6,80}")
"""A possible password, in a message that mentions one: letters and digits in one word."""
_REPORTED = pattern_of(r"""
    \b(?:writes?|wrote|claims?|schrieb|schreibt|écrit|escribió|escreveu) ?(?::|["“„«]|,? (?:that|dass|que|qu')\b)|
    \b(?:docs?|documentation|readme|manual|wiki|page|site|website|article|book|blog|post|error|log|output|
    support|message|comment|linter|warning|template|mail|email|ticket|doku|fehler|anleitung|documentación|erreur|notice|
    manuel|mensagem|documentação)s? (?:also )?(?:says?|said|sagt|dit|dice|diz|claims?|
    states?|reads|tells|recommends?|suggests?)\b|
    \b(?:according to|per the|laut|selon|d'après|según|segundo) (?!plan|schedule)
""")
"""Reports what somebody else, or a text, says."""
_SAID = re.compile(
    rf"(?<!\bi )(?<!\bi just )(?<!\bwe )(?<!\bich )(?<!\bwir )(?<!\bs[ei] )\b(?:{'|'.join(sorted(SAYING))})\b"
)
"""A verb of saying with a subject that is not its speaker; "se dice" is what something is called."""


def supposes(lower: str) -> bool:
    """Whether a clause makes what follows it a supposition."""
    return _IF.match(lower) is not None or _GUESS.search(lower) is not None


def is_joke(lower: str, *, is_reply: bool) -> bool:
    """Whether a sentence is a joke or irony; agreement counts as irony unless it is a reply."""
    return _JOKE.search(lower) is not None or (not is_reply and _AFFIRMED.match(lower) is not None)


def is_passing(lower: str) -> bool:
    """Whether a sentence is about this day, or about one instance among many."""
    return _PASSING.search(lower) is not None or _ONE_OFF.search(lower) is not None


def is_idle(lower: str) -> bool:
    """Whether a clause is about this day, continues the topic at hand, guesses or jokes."""
    return is_passing(lower) or any(one.search(lower) for one in (_GOING_ON, _JOKE, _GUESS))


def is_reported(sentence: str) -> bool:
    """Whether a sentence reports what others said: a clause follows the verb of saying ("says hello" reports none)."""
    lower = lowered(sentence)
    said = _SAID.search(lower)
    clause = words_of(lower[said.end() :]) if said else []
    language = language_of(words_of(lower), [*LANGUAGES]) or "en"
    reports = grammar_of(language).has("verbs duty always denying pronouns", clause)
    return reports or _REPORTED.search(lower) is not None


def is_secret(sentence: str, message: str = "") -> bool:
    """Whether a sentence reveals a secret, or may do so since its `message` mentions a password."""
    may_be = _CODE.search(sentence) and _PASSWORD.search(lowered(message))
    return may_be is not None or _SECRET.search(sentence) is not None or redacted(sentence) != sentence
