"""Computes the threshold for unsolicited answers in a vault, from what everyday prompts reach there.

The prompts, by language, concern no notes: greetings, talk about the conversation, chores, errors. In notes about
programming the threshold is thus higher for prompts about code. None is from a benchmark. Twice as many, of which these
are every second one by figure, gave the same figures on seven vaults within .03.
"""

from datetime import UTC, datetime

from vault_memory.search.answer import Request
from vault_memory.search.candidates import Finder
from vault_memory.search.query import understand
from vault_memory.search.relevance_gate import META, USUAL, find_score
from vault_memory.store.view import ALL, Store

QUANTILE = 0.9
"""The threshold is halfway between this quantile of the figures of `PROMPTS` in these notes and the usual figure: on
seven vaults of four kinds 2 to 7 % of other everyday prompts pass, a sixth in notes on programming."""

OTHER_LANGUAGE = 0.5
"""A language is measured if the notes know at least this share as many of its prompts' words as of the English ones.
English notes know .05 to .52 as many, which saves a sixth to a third of the time."""

_LINES = """
Hello
Hi, shall we begin?
Good afternoon! How is it going?
Hey, I have a small task for you
Thank you, much better now
That is not what I asked for, read it again
This still doesn't work and I'm getting annoyed
Okay, goodbye for today
Never mind, forget it
You are right, I was wrong
no, leave it as it is
go ahead
sounds good
Keep going until it is done
What did you just change and why?
Sum up what we have done so far in five bullets
Stop. Wait for me before doing anything else.
Which of the two options would you pick?
Show me the plan first, then start
Use fewer words next time
Convert this callback code to async and await
Make a new branch, commit everything and push it
How do I mock the clock in a unit test?
Upgrade all dependencies to their latest versions and resolve the conflicts
Remove unused imports everywhere and format the code
Generate a TypeScript interface from this JSON
Review this diff for security problems
Implement pagination for the list endpoint
Replace the global state by dependency injection
Create a REST endpoint that returns the current user
Find the memory leak in this C program
Explain what this recursive function returns for an input of four
Make the sidebar collapse on narrow screens
Validate the form before it is submitted and show the errors
Make the command line tool print JSON when asked to
What is the difference between a process and a thread?
How does garbage collection work?
What is the boiling point of water at two thousand metres?
What is the time difference between London and Tokyo?
Explain compound interest to a child
What does idempotent mean?
Write a short poem about autumn
Correct the spelling: "Their going to recieve the packege tommorow."
Write a friendly reminder about an unpaid bill
Make this paragraph sound more formal: "We kind of think the numbers look okay."
Suggest a title for a talk about testing
Plan a three day trip to Rome
Give me a recipe for pancakes without eggs
We want to move our service from one server to containers. List what has to change, in which order, what may go \
wrong, and how long each step takes
ModuleNotFoundError: No module named 'requests'
curl: (60) SSL certificate problem: unable to get local issuer certificate
"""

_BLOCKS = """
fix this

Traceback (most recent call last):
  File "/srv/app/worker.py", line 88, in run
    result = self.handle(job)
  File "/srv/app/jobs.py", line 31, in handle
    return HANDLERS[job.kind](job.payload)
KeyError: 'resize'
---
ld: symbol(s) not found for architecture arm64
clang: error: linker command failed with exit code 1
---
error: failed to push some refs to 'origin'
hint: Updates were rejected because the remote contains work that you do not have locally.
---
ERROR: duplicate key value violates unique constraint "accounts_email_key"
DETAIL:  Key (email)=(a@b.example) already exists.
"""

_GERMAN = """
Hallo, wie geht es dir heute?
Guten Morgen! Fangen wir an?
Vielen Dank, das hat geklappt
Nein, das ist falsch, lies es noch einmal
ja bitte, mach weiter
Fasse zusammen, was wir bisher gemacht haben
Kannst du deine letzte Änderung rückgängig machen?
Was meinst du, welche der beiden Möglichkeiten ist besser?
Zeig mir zuerst den Plan und warte dann auf mich
Das funktioniert immer noch nicht, woran liegt das?
Schreibe Tests für diese Funktion und behebe die Fehler
Benenne diese Variable um und entferne doppelten Code
Warum bricht das Programm mit dieser Meldung ab?
Erstelle eine Tabelle, die drei Datenbanken vergleicht
Was ist der Unterschied zwischen einem Prozess und einem Thread?
Wie lange muss ein Ei kochen?
Warum ist der Himmel blau?
Wer hat den Buchdruck erfunden?
Übersetze diesen Satz ins Englische: „Der Zug fährt um zwölf Uhr ab.“
Schreib eine höfliche E-Mail an den Vermieter wegen der kaputten Heizung
Kürze diesen Absatz auf zwei Sätze
Schlage fünf Namen für ein Café vor
"""

_FRENCH = """
Bonjour, comment vas-tu aujourd'hui ?
Salut ! On commence ?
Merci beaucoup, ça marche
Non, c'est faux, relis ma question
oui, continue s'il te plaît
Résume ce que nous avons fait jusqu'ici
Peux-tu annuler ta dernière modification ?
Qu'en penses-tu, laquelle des deux solutions est la meilleure ?
Montre-moi d'abord le plan, puis attends-moi
Ça ne fonctionne toujours pas, d'où vient le problème ?
Écris des tests pour cette fonction et corrige les erreurs
Renomme cette variable et supprime le code en double
Pourquoi le programme s'arrête-t-il avec ce message ?
Fais un tableau qui compare trois bases de données
Quelle est la différence entre un processus et un thread ?
Combien de temps faut-il pour cuire un œuf ?
Pourquoi le ciel est-il bleu ?
Qui a inventé l'imprimerie ?
Traduis cette phrase en anglais : « Le train part à midi. »
Écris un courriel poli au propriétaire à propos du chauffage en panne
Raccourcis ce paragraphe en deux phrases
Propose cinq noms pour un café
"""

_SPANISH = """
Hola, ¿cómo estás hoy?
¡Buenos días! ¿Empezamos?
Muchas gracias, ha funcionado
No, eso está mal, léelo otra vez
sí, sigue por favor
Resume lo que hemos hecho hasta ahora
¿Puedes deshacer tu último cambio?
¿Qué opinas, cuál de las dos opciones es mejor?
Enséñame primero el plan y después espera
Sigue sin funcionar, ¿cuál es el problema?
Escribe pruebas para esta función y corrige los errores
Cambia el nombre de esta variable y elimina el código repetido
¿Por qué se detiene el programa con este mensaje?
Haz una tabla que compare tres bases de datos
¿Cuál es la diferencia entre un proceso y un hilo?
¿Cuánto tiempo se cuece un huevo?
¿Por qué el cielo es azul?
¿Quién inventó la imprenta?
Traduce esta frase al inglés: «El tren sale al mediodía.»
Escribe un correo amable al casero sobre la calefacción averiada
Acorta este párrafo a dos frases
Propón cinco nombres para una cafetería
"""

_PORTUGUESE = """
Olá, como você está hoje?
Bom dia! Vamos começar?
Muito obrigado, funcionou
Não, isso está errado, leia de novo
sim, continue por favor
Resuma o que fizemos até agora
Você pode desfazer a sua última alteração?
O que você acha, qual das duas opções é melhor?
Mostre-me primeiro o plano e depois espere
Ainda não funciona, qual é o problema?
Escreva testes para esta função e corrija os erros
Mude o nome desta variável e remova o código repetido
Por que o programa para com esta mensagem?
Faça uma tabela que compare três bancos de dados
Qual é a diferença entre um processo e uma thread?
Quanto tempo leva para cozinhar um ovo?
Por que o céu é azul?
Quem inventou a imprensa?
Traduza esta frase para o inglês: "O trem parte ao meio-dia."
Escreva um e-mail educado ao proprietário sobre o aquecimento quebrado
Encurte este parágrafo para duas frases
Sugira cinco nomes para um café
"""

PROMPTS = {
    "en": (*_LINES.strip().split("\n"), *_BLOCKS.strip().split("\n---\n")),
    "de": tuple(_GERMAN.strip().split("\n")),
    "fr": tuple(_FRENCH.strip().split("\n")),
    "es": tuple(_SPANISH.strip().split("\n")),
    "pt": tuple(_PORTUGUESE.strip().split("\n")),
}


def compute_threshold(finder: Finder) -> float:
    """Compute the threshold for unsolicited answers over a finder's view from the figures of everyday prompts there.

    The language that reaches the highest figures, that of the notes, decides.
    """
    now = datetime.now(UTC)
    highest = 0.0
    least_known = 0.0
    for language, prompts in PROMPTS.items():
        queries = [understand(Request(prompt, now, mode="lexical")) for prompt in prompts]
        phrases = [phrase for query in queries for phrase in query.phrases]
        known = sum(finder.lexicon.count(phrase).passages > 0 for phrase in phrases) / len(phrases)
        if known < least_known:
            continue
        if language == "en":
            least_known = OTHER_LANGUAGE * known
        reached = [find_score(finder.find(query), finder) for query in queries]
        highest = max(highest, sorted(reached)[int(QUANTILE * len(reached))])
    return (highest + USUAL) / 2


def store_threshold(store: Store) -> None:
    """Compute the threshold of an index that has grown or shrunk much, over all scopes, and store it in the index."""
    least = compute_threshold(Finder(store.view(ALL)))
    with store.writing():
        store.set_meta(META, f"{least:.4f}")
