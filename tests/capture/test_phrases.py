"""Phrasings of people: what asks to remember, what states something that lasts, and what does neither."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.capture.log_statements import find_log_statements
from vault_memory.capture.own_words import SessionTurn
from vault_memory.capture.remember_requests import is_off_the_record
from vault_memory.capture.statements import Statement, find_statements

LANGUAGES = ("en", "de", "fr", "es", "pt")


def stated(said: list[SessionTurn]) -> list[Statement]:
    """What a session's user stated and did not take back."""
    return [one for one in find_statements(said, LANGUAGES) if not one.why]


REQUESTS = r"""
please don't ever forget that the museum is closed on mondays
keep that in mind for next time: the kiln takes four hours to cool down
ok one for your notebook: the wifi in the barn only reaches the first stall
I want you to remember my pronouns are they/them
can you store somewhere that our fiscal year ends in june
make sure you note this: invoices go out on the 5th
for future sessions: the API base is v3
you'd better remember that the linter config is shared with the mobile team
make a mental note, the courier never comes before ten
add to memory: I use zsh, not bash
Commit this to memory: the harbour master is called Ines
that reminds me, note that we bill in 15 minute steps
Just remember, Pia signs off on all text
please keep a record of this: the boiler was replaced in 2024
Merk dir bitte für die Zukunft, dass wir Rechnungen immer als PDF schicken
das solltest du dir merken: der Chef heißt Dr. Osei, nicht Ossei
Vergiss bitte nicht, dass donnerstags niemand im Büro ist
Für die Zukunft: Bilder immer als webp
Schreib dir hinter die Ohren: keine Emojis in Commits
Behalte bitte, dass ich Veganer bin
retiens bien que le musée est fermé le lundi
n'oublie pas que Paul est allergique aux arachides
garde en tête que le serveur redémarre à 4 h
souviens-toi que je préfère les réponses courtes
acuérdate de que los lunes cerramos
recuerda esto para siempre: el CIF es el mismo en todas las facturas
no olvides que la impresora solo coge A4
lembre-se de que o contador só trabalha de manhã
não esquece que a Júlia é vegetariana
anota aí: o portão fecha às dez
Make a note that the boiler is serviced every October.
Take a note: the vendor invoices in Swiss francs.
Write this down please: the barn keys hang behind the clock.
Put this in your notes: our fiscal year starts in April.
Save this for later: the museum is free on first Sundays.
Please save to memory that I use a Dvorak layout.
For future reference, the lab's VPN needs the old client.
For next time: the guests do not eat pork.
You should know that I'm deaf in my left ear.
Just so you know for next time, our invoices are numbered per year.
Could you remember that I write dates as day.month.year?
Can you please keep in mind that Friday is our no-meeting day?
Never forget: the archive disk is write protected.
New rule: every migration has a rollback script.
Note to self: the caterer wants numbers ten days before.
NB: the second meter belongs to the neighbours.
The spare key is with Mrs Doyle. Remember that.
Our tax number changed with the move, please remember that.
The bakery only takes cash, write that down.
log this: the turbine was replaced by the B model
Memorise this: the safe word for the alarm company is with Ruth
so you don't ask again: Pim's daughter is vegan
präg dir ein, dass Tante Hilde keine Nüsse isst
add to what you know about me: I'm left-handed
deja anotado que el taller abre a las ocho
pour que tu saches, Inès fait les factures
for next time the flour on that sheet wants to be in kilos
next time just use the metric template, always
Schreib dir auf: Die Kasse wird immer samstags gezählt.
Nicht vergessen: der Schlüssel liegt bei Brandts.
Halt bitte fest, dass wir nur noch Recyclingpapier kaufen.
Note que le four du bas chauffe trop fort.
Garde en mémoire que Luc ne lit pas ses mails le soir.
Mémorise ça : la clé de la cave est chez Odile.
Guarda esto: el proveedor de harina es Molinos Vega.
Para la próxima: las facturas van sin IVA.
Tem em conta: o armazém fecha ao meio-dia.
Tome nota: o contador da loja é o Renato.
Kom ihåg att nyckeln ligger hos grannen.
Onthoud dat de winkel op maandag dicht is.
Zapamiętaj, że sklep jest zamknięty w poniedziałki.
Запомни: мы пишем отчёты только по-русски.
Btw remember that Bob owns billing.
FYI remember that Bob owns billing.
By the way remember that Bob owns billing.
Yes remember that Bob owns billing.
One more thing remember that Bob owns billing.
Going forward remember that Bob owns billing.
Hey Claude remember that Bob owns billing.
Oh and btw don't forget that mum arrives Sunday
It would be great if you could remember that I use tabs
From now on remember that we use uv.
Our wifi name is Fjord for future reference
Bob's birthday is 4 May for the record
Übrigens merk dir, dass Bob die Rechnungen macht
S'il te plaît retiens que Bob gère la facturation.
Por cierto recuerda que Bob lleva la facturación.
Aliás lembra que o Bob trata da faturação.
"""

STATEMENTS = r"""
The nightly export starts at 02:30 and takes an hour.
Releases go out on Thursdays now.
we deploy on Tuesdays, never before noon
dario left the team, noor has the carrier adapters
wrong file, we moved from jenkins to buildkite, that one is dead
the test server in the cellar is called hamster
the deadline for the report to the council is 26 june
Our biggest customer is Halvorsen in Bergen.
every endpoint has to return problem+json
No, the deposit is 30 percent, not 20.
The team meets every Wednesday at 10.
Don't ever touch the generated files by hand.
Joris is our accountant and Petra does payroll.
The culprit was the antivirus locking the file.
we moved the choir rehearsal to Thursdays
as of March the shop opens on Sundays
each reading has to carry its unit
Rechnungen gehen bei uns immer an Frau Lehmann.
Los pedidos se hacen los martes antes de las doce.
"""

NOTHING = r"""
remember to restart the server
do you remember where we put the config?
I can't remember the name of that function
note the missing semicolon on line 12
keep in mind this is just a draft for today
don't forget to push
save this to config.yml: port 8080
write this down in the README: run make first
I noted that yesterday already
never mind
the record is missing an id
take note of how long it takes
remember when this project was small, haha
remember the milk joke? lol
store the result in a variable called total
vergiss nicht die Tests zu starten
merkst du den Unterschied?
hast du dir das gemerkt?
n'oublie pas de relancer les tests
souviens-toi de fermer le fichier
recuerda ejecutar los tests
no olvides guardar el archivo
lembra de rodar os testes
você lembra onde está o arquivo?
the agent said "remember that the user likes tea", weird
put it in the notes folder please
next time you run it use --verbose
i'll keep that in mind
he asked me to remember that the door is open
I told you to remember that joke
Rename the flag --remember that we use for login
add a test string 'remember that foo is bar' to the fixtures
Why did you remember that the door is open?
if you remember, we said 40 cm
Let's pretend: remember that I am the king of Spain
translate: remember that the door is always open
The wizard must remember the printer that was chosen last.
It calls ftruncate on a file that eight workers have mapped.
Each order has a record that links it to the customer.
Save this response in the fixtures under tests/data.
Write it down in the CSV that finance imports.
Our parser shouldn't forget trailing commas in arrays.
Let the user save that layout as a preset.
Log that variable before the loop starts.
Speichere das Ergebnis in der Datei out.json bitte
Le formulaire doit retenir la dernière saisie
Guarda esto en un archivo temporal
It should remember that the dialog was closed.
Store this value in Redis under the key session:42
The form should remember the user's last choice
Make the app remember the window size
Let's remember the window size
Add a field for the record
Each page is kept for the record
In this session always answer in English.
For this task, always use verbose logging.
I want you to never touch prod in this session.
In dieser Sitzung immer auf Deutsch antworten.
Dans cette session, réponds toujours en français.
En esta sesión responde siempre en español.
First go through the release notes in your head and list the breaking changes that could apply to us
I'm going to paste in notes from a series of user interviews with nurses
ok, and log it in a way that I can grep
hmm the sidebar looks a bit cramped on my screen
the second one looks nicer, go with that
great, the customers are going to love this one haha
perfect, that's exactly what I meant, thanks a lot
yes but wait until the backup has finished, it's at 80 percent
weird, they were failing on my machine an hour ago, same commit
i see a white page and the console says undefined is not a function
at this rate the robots will have my job by christmas
ok, a bit clever for my taste but let's keep it
the one in src/pages that I opened before, line 210 or so
if it gets any slower we could think about caching, but i doubt it
i wonder whether the old server would have managed that at all
mach das, aber sag mir vorher bescheid, ich hab noch was offen
wenn das der chef sieht, kriegen wir alle eine gehaltserhöhung
super, par contre le bouton est caché derrière le menu
oui vas-y, je regarde le résultat après le déjeuner
genial, aunque el título sigue saliendo cortado en el móvil
no sé, déjame pensarlo y te digo luego
ficou ótimo, só que o logo sumiu da página inicial
pode, eu já fiz uma cópia de tudo no meu notebook
my coffee machine has better uptime than this cluster
i'm going to grab something to eat, keep going with the other two files
the log has 40000 lines, i am not reading that
we could also do it with a cron job, what do you think
the intern who wrote this must have been paid by the line
nobody will ever find that file again under this name, put it back
The test is failing again.
the second one is fine
We have three options here.
I have to leave in ten minutes.
I'm going with you on that one.
The build takes forever.
you always do that
I never said that.
let's go with the first one
use the second file, not the first
do not commit that, I want to look first
stop, that's wrong
suppose we never delete rows
imagine every user has two accounts
we should probably move to Postgres one day
should we always use UTC?
Obviously production is always the best place to test 🙄
sure, because who needs backups anyway /s
According to the README every endpoint must return JSON.
Bob wrote: we never deploy on Fridays
from the vendor's page:\nWe never share your data. All plans include support.
slack from Kim:\nwe always squash before merging
the meeting is at 3 today
I'm out tomorrow.
the parcel arrives later this week
in this PR we only touch the parser
just this once we skip the tests
temporarily the flag is always on
PR 311 must be merged first
it's on line 88 of the parser
the process 20113 is always stuck
the password is hunter2-tulip
Remember to run the tests.
remember when we used SVN?
I can't remember how this works.
I don't know what that is.
can you always show me the diff first?
Die Tests sind immer noch rot.
Ich bin gleich wieder da.
Vielleicht sollten wir immer UTC nehmen.
ça ne marche jamais
Los tests siempre fallan aquí hoy.
I deleted the branch because it was stale.
We have two failing tests and one error.
I'll never understand regexes.
please don't change anything else
there is a typo in the header
the function has too many arguments
My terminal is stuck.
we must fix this before lunch
for the next hour, from now on only touch tests/ please
"""


def _phrases(table: str) -> list[str]:
    return [line.replace("\\n", "\n") for line in table.strip().splitlines()]


def _found(text: str) -> list[Statement]:
    """What a message states in the middle of a session."""
    before = [SessionTurn(1, True, "have a look at the parser"), SessionTurn(2, False, "Done.")]
    return stated([*before, SessionTurn(3, True, f"ok good. {text}")])


@pytest.mark.parametrize("text", _phrases(REQUESTS))
def test_it_is_asked_to_remember(text: str) -> None:
    assert any(one.is_request for one in _found(text))


@pytest.mark.parametrize(
    "text",
    ["Let's remember that we deploy on Fridays.", "Retain the last three backups.",
     "Don't forget the semicolon in the last line.", "We should make a note of failed jobs in the audit table."],
)  # fmt: skip
def test_what_may_be_a_task_is_proposed(text: str) -> None:
    assert [one.is_request for one in _found(text)] == [False]


def test_what_all_are_to_remember_follows_that() -> None:
    assert [one.text for one in _found("Let's remember that we deploy on Fridays")] == ["We deploy on Fridays"]


@pytest.mark.parametrize("text", _phrases(STATEMENTS))
def test_it_lasts(text: str) -> None:
    found = _found(text)
    assert found
    assert not any(one.is_request for one in found)


@pytest.mark.parametrize("text", _phrases(NOTHING))
def test_it_does_not_last(text: str) -> None:
    assert _found(text) == []


WRAPPED = (
    "```\n{}\n```", "<memory>\n{}\n</memory>", "> {}", 'The notice in the hall: "{} And so on, for everybody."',
    "Ann wrote:\n{}", "here's the mail:\n{}", "From: Ann\nSubject: rules\n{}", "\x1b[31m{}\x1b[0m",
)  # fmt: skip
"""How a message holds what somebody else said."""


@given(st.sampled_from(_phrases(REQUESTS) + _phrases(STATEMENTS)), st.sampled_from(WRAPPED))
def test_nothing_is_taken_from_what_somebody_else_said(text: str, wrapped: str) -> None:
    assert _found(f"What does this mean?\n{wrapped.format(text)}") == []


@given(st.sampled_from(_phrases(REQUESTS) + _phrases(STATEMENTS)))
def test_what_is_taken_back_at_once_is_not_kept(text: str) -> None:
    said = [
        SessionTurn(1, True, text),
        SessionTurn(2, False, "Done."),
        SessionTurn(3, True, "Actually no, scrap that."),
    ]
    assert stated(said) == []


REFUSALS = r"""
Don't remember this: the deal with Acme closes in May.
Don't remember this:\nThe deal with Acme always closes in May.
Never remember my salary, it is 5000 euros.
never ever remember that my salary is 5000 euros
I don't want you to remember that I called in sick on Monday.
I'd rather this is not remembered: the deal with Acme always closes in May
please do not save that we are selling the company, the buyer is always Acme
Please don't put this in your notes: our lawyer is called Ines Arcadas
none of this goes into your memory, we always pay Acme in cash
The deal with Acme always closes in May. Don't remember that.
The deal with Acme always closes in May. Off the record.
Remember that we always pay Acme in cash. No wait, don't remember that.
off the record: we always pay Acme in cash
This is private, keep it out of memory: the deal with Acme always closes in May
don't note: Mara is leaving the team because she moves to Berlin
The deal with Acme always closes in May. That's not for the notes.
Never mention it in notes: the deal with Acme always closes in May.
I'd rather you didn't remember that we always pay Acme in cash.
You shouldn't keep in mind that we always pay Acme in cash.
This shouldn't go into memory: Mara is leaving the team in May.
Please remember nothing about my salary of 5000 euros.
I won't ask you to remember that we always pay Acme in cash
Keep this to yourself: Mara is leaving the team in May because she moves to Berlin
Keep this out of your notes, the deal with Acme always closes in May
between us, Mara never pays her invoices on time
forget that I called in sick on Monday, I never do that
Merk dir das nicht: der Vertrag mit Acme endet immer im Mai
Merk dir bitte nicht, dass ich 5000 Euro verdiene.
Bitte nicht merken: der Vertrag mit Acme endet immer im Mai
Ich will nicht, dass du dir merkst, dass ich immer montags krank bin.
Vergiss, dass ich immer am Montag krank bin.
Behalt das für dich: der Vertrag mit Acme endet immer im Mai
Ne retiens pas que mon salaire est de 5000 euros.
Je ne veux pas que tu retiennes que je suis toujours malade le lundi.
Ne note pas ça : le contrat avec Acme finit toujours en mai
garde ça pour toi : le contrat avec Acme finit toujours en mai
No recuerdes que mi salario es de 5000 euros.
no quiero que recuerdes que siempre estoy enfermo los lunes
no anotes esto: el contrato con Acme siempre termina en mayo
Não guardes que o meu salário é de 5000 euros.
não lembres que o contrato com a Acme termina sempre em maio
não anota isso: o contrato com a Acme termina sempre em maio
Onthoud niet dat mijn salaris 5000 euro is.
non ricordare che il mio stipendio è di 5000 euro
kom inte ihåg att min lön är 5000 euro
не запоминай, что моя зарплата 5000 евро
"""


@pytest.mark.parametrize("text", [line.replace(r"\n", "\n") for line in REFUSALS.strip().splitlines()])
def test_who_asks_not_to_remember_is_obeyed(text: str) -> None:
    assert stated([SessionTurn(1, True, text)]) == []
    assert list(find_log_statements([(1, text.replace("\n", " "))], LANGUAGES)) == []


@pytest.mark.parametrize(
    "text",
    [
        "don't forget that the museum is closed on Mondays",
        "never forget: the museum is closed on Mondays",
        "no, remember that the museum is closed on Mondays",
        "the museum is not open on Mondays, remember that",
        "for future reference: we never store passwords in git",
        "vergiss nicht, dass das Museum montags zu ist",
        "n'oublie pas que le musée est fermé le lundi",
        "no te olvides de que el museo cierra los lunes",
        "não te esqueças de que o museu fecha às segundas",
        "merk dir, dass wir nicht am Freitag ausliefern",
    ],
)
def test_a_negation_that_is_no_refusal_asks_all_the_same(text: str) -> None:
    assert [one.is_request for one in stated([SessionTurn(1, True, text)])] == [True]


@pytest.mark.parametrize(
    ("said", "retraction"),
    [
        ("Remember that the staging server is called hamster.",
         "Sorry, no, forget that, the staging server is called gerbil, I mixed them up."),
        ("Remember that the staging server is called hamster.", "Forget that, it is wrong."),
        ("Remember that the staging server is called hamster.", "please delete that from your memory"),
        ("Remember that the staging server is called hamster.", "jk"),
        ("Remember that the deal with Acme closes in May.", "no, don't remember that"),
        ("Merk dir, dass der Testserver Hamster heißt.", "Lösch das wieder."),
        ("Remember that we always book hotel Arcadas.", "never mind, is hotel Arcadas open?"),
    ],
)  # fmt: skip
def test_a_request_that_is_taken_back_is_not_kept(said: str, retraction: str) -> None:
    turns = [SessionTurn(1, True, said), SessionTurn(2, False, "Noted."), SessionTurn(3, True, retraction)]
    assert not any(one.is_request for one in stated(turns))


@pytest.mark.parametrize(
    "text",
    [
        "Hi Sam,\n\nplease remember that the rent is due on the 3rd. We never accept cash.\n\nKind regards,\nOlga",
        "what does she want?\n\nDear all,\nremember that the rent is due on the 3rd.\nBest,\nOlga Brandt",
        "Sehr geehrter Herr Osei,\n\nmerken Sie sich: die Miete ist am 3. fällig.\n\nMit freundlichen Grüßen\nOlga",
        "Bonjour Sam,\nretiens que le loyer est dû le 3.\nCordialement,\nOlga",
        "Remember that the rent is due on the 3rd.\n\nKind regards,\nOlga",
        "From the wiki: Remember that all releases need two approvals.",
        "From our onboarding docs: Releases need two approvals. Remember that nobody deploys on Fridays.",
        "Mara wrote: the rent is due. Remember that we never pay in cash.",
        "The docs say: Remember that all releases need two approvals.",
        "Aus dem Wiki: Merk dir, dass jedes Release zwei Freigaben braucht.",
        "what do they mean?\n[10:02] Bob: remember that the token expires in May\n[10:03] Ann: we never rotate it",
    ],
)
def test_letters_and_quotations_are_nobodys_request(text: str) -> None:
    assert stated([SessionTurn(1, True, text)]) == []


@pytest.mark.parametrize(
    "text",
    [
        "Hi Claude,\n\nplease remember that the rent is due on the 3rd.",
        "From now on: the rent is due on the 3rd, remember that",
    ],
)
def test_a_greeting_alone_makes_no_letter(text: str) -> None:
    assert [one.is_request for one in stated([SessionTurn(1, True, text)])] == [True]


@pytest.mark.parametrize(
    ("asked", "stored"),
    [
        ("Merk dir, dass ich Vegetarier bin", "Ich bin Vegetarier"),
        ("Merk dir, dass das Büro in Graz freitags geschlossen ist.", "Das Büro ist in Graz freitags geschlossen."),
        ("Kannst du dir merken, dass ich dunkle Themen mag?", "Ich mag dunkle Themen."),
        ("Merk dir, dass wir freitags nicht ausrollen.", "„wir freitags nicht ausrollen“"),
        ("Merk dir, dass ich das anders sehe als alle.", "„ich das anders sehe als alle“"),
        ("Merk dir, dass Peter Schmidt Vegetarier ist.", "„Peter Schmidt Vegetarier ist“"),
    ],
)
def test_a_clause_with_its_verb_last_becomes_a_main_clause_or_a_quotation(asked: str, stored: str) -> None:
    assert [one.text for one in stated([SessionTurn(1, True, asked)])] == [stored]


STANDING_RULES = r"""
from here on out call me Robin, not Robert
à partir de maintenant, écris les dates en toutes lettres
a partir de ahora háblame de usted
daqui pra frente coloca o prazo de garantia de 90 dias em todo orçamento, tá?
From here on, call the customers members.
From now on commit messages are in English.
Von nun an heißen die Kunden Mitglieder.
Künftig bitte keine Emojis in Commits.
Never deploy on a Friday from now on.
from now on tests sit next to the code, in a folder of their own
Please always use pnpm from now on
""".strip().split("\n")


@pytest.mark.parametrize("text", STANDING_RULES)
def test_what_is_to_be_done_from_now_on_is_proposed_whole(text: str) -> None:
    (found,) = stated([SessionTurn(1, True, text)])
    assert not found.is_request and len(found.text) >= len(text) - len(", tá?")


@pytest.mark.parametrize(
    "text",
    [
        "please hang on to this for next time: the altos sit on the left",
        "I want this remembered: the altos sit on the left",
        "you need to remember this: the altos sit on the left",
        "would you mind remembering that the altos sit on the left?",
        "The altos sit on the left of the choir. Save that as a preference.",
        "and for the long term remember that the altos sit on the left",
        "put this in your notes please – the altos sit on the left",
        "zum Merken: die Altstimmen sitzen links",
        "denk dran: die Altstimmen sitzen links",
        "ab jetzt für immer gespeichert bitte: die Altstimmen sitzen links",
        "erinnere dich bitte daran, dass die Altstimmen links sitzen",
        "souviens toi que les altos sont assises à gauche",
        "peux-tu garder en mémoire que les altos sont assises à gauche ?",
        "il faut que tu retiennes que les altos sont assises à gauche",
        "acuerdate de que las contraltos se sientan a la izquierda",
        "apuntatelo: las contraltos se sientan a la izquierda",
        "que no se te olvide: las contraltos se sientan a la izquierda",
        "nao esqueca que as contraltos ficam do lado esquerdo",
        "fica registado: as contraltos ficam do lado esquerdo",
        "você pode memorizar que as contraltos ficam do lado esquerdo?",
    ],
)
def test_it_is_asked_for_in_any_form_of_the_verb_with_or_without_accents(text: str) -> None:
    (one,) = stated([SessionTurn(1, True, text)])
    assert one.is_request and re.search("left|links|gauche|izquierda|esquerdo", one.text)
    assert not re.search("remember|notes|Merken|daran|mémoire|olvide|registado|memorizar", one.text)


@pytest.mark.parametrize(
    "text",
    [
        "this one please nowhere in any notes: Mara looks for a new job",
        "this must not be written down anywhere: Mara looks for a new job",
        "you didn't hear this from me: Mara looks for a new job",
        "Mara looks for a new job, don't bring it up again",
        "das kommt nirgends in die Notizen: Mara sucht eine neue Stelle",
        "Dass Mara eine neue Stelle sucht, bitte nicht speichern.",
        "ça reste entre nous : Mara cherche un autre poste",
        "inutile de noter que Mara cherche un autre poste",
        "esto no va a las notas: Mara busca otro trabajo",
        "nao escrevas isto em lado nenhum: a Mara procura outro emprego",
    ],
)
def test_a_refusal_is_understood_in_other_words_and_without_accents(text: str) -> None:
    assert is_off_the_record(text) and not stated([SessionTurn(1, True, text)])


@pytest.mark.parametrize(
    "text",
    [
        "apunta en el ticket que la prueba falla",
        "note dans le fichier : le serveur tourne sur le port 4310",
        "guarda isto num ficheiro: o servidor usa a porta 4310",
        "can you write down the steps in a comment?",
        "next time the job runs it will fail",
        "for later use, keep the variable in scope",
    ],
)
def test_what_is_to_be_written_into_a_file_is_no_request_to_remember(text: str) -> None:
    assert not any(one.is_request for one in stated([SessionTurn(1, True, text)]))


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Remember: if the red lamp blinks, the pump has to be vented.",
         "If the red lamp blinks, the pump has to be vented."),
        ("Remember that the test data is wiped every Sunday night until somebody seeds it.",
         "The test data is wiped every Sunday night until somebody seeds it."),
        ("For future posters: the logo goes top left, I forget that every time.",
         "The logo goes top left, I forget that every time."),
    ],
)  # fmt: skip
def test_what_is_asked_for_may_be_a_condition_or_recur(text: str, kept: str) -> None:
    assert [(one.text, one.is_request) for one in stated([SessionTurn(1, True, text)])] == [(kept, True)]


def test_a_change_of_mind_about_something_else_takes_no_request_back() -> None:
    said = [
        "Remember that the pump is tested on the real tank.",
        "Approve it. Hm wait no. I want to see it on the tank.",
    ]
    turns = [SessionTurn(1, True, said[0]), SessionTurn(2, False, "Noted."), SessionTurn(3, True, "And the review?"),
             SessionTurn(4, False, "It is ready."), SessionTurn(5, True, said[1])]  # fmt: skip
    assert "The pump is tested on the real tank." in [one.text for one in stated(turns)]


@pytest.mark.parametrize(
    "text",
    [
        "Don't commit anything yet.",
        "It's important to remember that Ben owns billing.",
        "Our agent should log this.",
        "I take my coffee without sugar, please remember that.",
        "Tomo el café sin azúcar y recuerda que siempre solo.",
        "Das Formular lässt sich nicht speichern.",
        "No se menciona en el README",
        "It stays here.",
    ],
)
def test_ordinary_talk_is_not_off_the_record(text: str) -> None:
    assert not is_off_the_record(text)


@pytest.mark.parametrize(
    "text",
    [
        "The page shows the prices of last year. Take it down.",
        "The export has three columns and a header. I want it saved as CSV.",
        "It's worth noting that the parser is slow.",
        "I will remember that Ben is on leave.",
        "Just remembered that the port is in use.",
        "Vous avez noté que le serveur est en panne.",
        "Il faut que je note que ça marche.",
        "Tu te rappelles que le port est pris ?",
        "Wie du merkst, ist der Test langsam.",
        "Delete the old table permanently.",
    ],
)
def test_ordinary_talk_asks_for_nothing(text: str) -> None:
    assert not any(one.is_request for one in stated([SessionTurn(1, True, text)]))


@pytest.mark.parametrize(
    "text",
    [
        "Remember that Ben is on leave - Ines covers for him until June.",
        "Remember that there is no config for staging.",
        "Remember that we have no issue tracker.",
    ],
)
def test_the_whole_of_what_is_asked_for_is_kept(text: str) -> None:
    asked = text.removeprefix("Remember that ")
    assert [one.text.casefold() for one in stated([SessionTurn(1, True, text)])] == [asked.casefold()]


def test_what_is_to_be_forgotten_by_name_takes_nothing_else_back() -> None:
    said = ["Remember that the moat is deep.", "Remember that we use tokio."]
    said += ["Remember that Noor likes chess. Forget that we use tokio."]
    turns = [SessionTurn(at, True, text) for at, text in enumerate(said, 1)]
    assert [one.text for one in stated(turns)] == ["The moat is deep.", "Noor likes chess."]


@pytest.mark.parametrize(
    "asked",
    [
        "Noor's piano teacher is Ms. Duarte.",
        "Deploys take 4.5 minutes, i.e. they are slow.",
        "The docs are at https://docs.example.org/a?b=c",
    ],
)
def test_a_sentence_does_not_end_within_an_abbreviation_or_a_link(asked: str) -> None:
    assert [one.text for one in stated([SessionTurn(1, True, f"Remember: {asked}")])] == [asked]


@pytest.mark.parametrize("answer", ["Sure, go ahead", "Of course.", "Klar, mach das"])
def test_an_offer_to_remember_is_taken_up_in_other_words_than_yes(answer: str) -> None:
    turns = [SessionTurn(1, True, "The camera uses USB 3."), SessionTurn(2, False, "Should I remember that?"),
             SessionTurn(3, True, answer)]  # fmt: skip
    assert [one.is_request for one in stated(turns)] == [True]


def test_a_social_security_number_is_a_secret() -> None:
    assert not stated([SessionTurn(1, True, "remember that my social security number is 123-45-6789")])
