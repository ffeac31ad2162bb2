"""Prompts that have to do with no notes, by language: greetings, talk about the conversation, chores, errors.

What they reach in a vault says what any prompt reaches there (relevance_gate.py). None is from a benchmark.
"""

_LINES = """
Hello
Hi, shall we begin?
Good afternoon! How is it going?
Are you still with me?
Back from lunch, let's go on
Hey, I have a small task for you
Happy Friday!
Hi again, it's me
Thank you, much better now
Great job, exactly right
That is not what I asked for, read it again
This still doesn't work and I'm getting annoyed
Okay, goodbye for today
Never mind, forget it
Sorry, my mistake
You are right, I was wrong
yes please
no, leave it as it is
go ahead
sounds good
Keep going until it is done
Do it once more, but shorter
Revert your last change
What did you just change and why?
Explain your previous answer in simpler words
Sum up what we have done so far in five bullets
Can you check your work again?
Stop. Wait for me before doing anything else.
Which of the two options would you pick?
Show me the plan first, then start
Use fewer words next time
What can you do for me?
Let's take the second point on your list now
Rename this variable to something more descriptive
Add type hints to all public functions in this file
Split this class into two smaller ones
Run the test suite and fix whatever fails
Why does this loop never terminate?
Write a regular expression that matches an IPv4 address
Convert this callback code to async and await
Add logging to the request handler, at debug level
Make a new branch, commit everything and push it
Write a shell script that deletes files older than thirty days
How do I mock the clock in a unit test?
Upgrade all dependencies to their latest versions and resolve the conflicts
Remove unused imports everywhere and format the code
Generate a TypeScript interface from this JSON
Review this diff for security problems
Implement pagination for the list endpoint
Write a docstring for every function in utils
Replace the global state by dependency injection
Why is my component rendering twice?
Create a REST endpoint that returns the current user
Add a dark mode toggle to the settings page
Port this script from Python to Go
The build passes locally but fails in CI, what could be different?
Find the memory leak in this C program
Explain what this recursive function returns for an input of four
Make the sidebar collapse on narrow screens
Store the upload in a bucket instead of on disk
Validate the form before it is submitted and show the errors
Make the command line tool print JSON when asked to
Speed up the image on the landing page
Write a migration that adds a nullable column to the orders table
Set up a pipeline that builds and deploys on every tag
How many threads should a connection pool have?
What is the difference between a process and a thread?
How does garbage collection work?
What is the boiling point of water at two thousand metres?
Who wrote Pride and Prejudice?
How long do I boil an egg?
What is the time difference between London and Tokyo?
When should I use a queue rather than a stack?
Is it better to rent or to buy?
Explain compound interest to a child
What does idempotent mean?
Which sorting algorithm is stable?
Write a short poem about autumn
Give me five names for a coffee shop
Translate this sentence into French: "The train leaves at noon from platform two."
Correct the spelling: "Their going to recieve the packege tommorow."
Write a friendly reminder about an unpaid bill
Make this paragraph sound more formal: "We kind of think the numbers look okay."
Draft a cover letter for a job as a data analyst
Turn these bullets into a short announcement for customers
Write release notes from this list of merged changes
Suggest a title for a talk about testing
Plan a three day trip to Rome
Give me a recipe for pancakes without eggs
Recommend a good book on statistics
Act as a strict teacher and ask me ten questions on photosynthesis, one at a time, and wait for my answers
I have a spreadsheet with sales by region and month. Write a formula that sums the last quarter for each region and \
explain how it works step by step
We want to move our service from one server to containers. List what has to change, in which order, what may go \
wrong, and how long each step takes
Please read the following log and tell me what went wrong, then propose a fix and a test that would have caught it
My laptop gets hot and the fan is loud whenever I open more than a few tabs. What can I check, and what should I try \
first?
What follows is the transcript of an interview. Pull out the main complaints, group them, and count how often each \
came up
TypeError: unsupported operand type(s) for +: 'int' and 'str'
fatal: refusing to merge unrelated histories
ModuleNotFoundError: No module named 'requests'
Segmentation fault (core dumped)
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
panic: runtime error: index out of range [3] with length 3

goroutine 1 [running]:
main.main()
    /home/dev/main.go:14 +0x1d
---
ld: symbol(s) not found for architecture arm64
clang: error: linker command failed with exit code 1
---
java.lang.OutOfMemoryError: Java heap space
    at java.base/java.util.Arrays.copyOf(Arrays.java:3537)
    at com.acme.Report.render(Report.java:210)
---
error: failed to push some refs to 'origin'
hint: Updates were rejected because the remote contains work that you do not have locally.
---
why does this happen?

Error: listen EADDRINUSE: address already in use :::8080
    at Server.setupListenHandle [as _listen2] (node:net:1817:16)
---
ERROR: duplicate key value violates unique constraint "accounts_email_key"
DETAIL:  Key (email)=(a@b.example) already exists.
---
The pod is in CrashLoopBackOff, here are the events:
Warning  BackOff  2m (x12 over 5m)  kubelet  Back-off restarting failed container
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
