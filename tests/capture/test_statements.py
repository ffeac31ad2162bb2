"""What counts as a statement worth keeping, and what does not."""

import time

import pytest

from vault_memory.capture.log_statements import find_log_statements
from vault_memory.capture.own_words import SessionTurn
from vault_memory.capture.statements import find_statements
from vault_memory.embedding.builtin_embedder import builtin
from vault_memory.write.comparison import SKIP, Comparer, KnownStatement

LANGUAGES = ("en", "de", "fr", "es", "pt")


def kept(*said: tuple[str, str], languages: tuple[str, ...] = LANGUAGES) -> list[tuple[str, str]]:
    """(category, text) of what the user stated; each message is its speaker's letter and its text."""
    messages = [SessionTurn(number, who == "U", text) for number, (who, text) in enumerate(said, start=1)]
    found = find_statements(messages, languages)
    return [(one.cue.category, one.text) for one in found if not one.why]


@pytest.mark.parametrize(
    ("text", "category", "statement"),
    [
        ("Remember that I'm allergic to penicillin.", "profile", "I'm allergic to penicillin."),
        ("ok push it. note for later: the lab closes on Fridays at noon", "patterns", None),
        ("merk dir: Tickets immer mit Nummer im Titel", "patterns", "Tickets immer mit Nummer im Titel"),
        ("retiens que les sauvegardes tournent à 3 h", "entities", "Les sauvegardes tournent à 3 h"),
        ("recuerda que el servidor de pruebas es lento", "entities", "El servidor de pruebas es lento"),
        ("lembra disso: o gerente abre a loja às 8h", "entities", "O gerente abre a loja às 8h"),
        ("We never deploy without a second pair of eyes", "patterns", None),
        ("i prefer tabs over spaces in this project", "preferences", None),
        ("turns out the proxy drops idle connections after 60 s", "cases", None),
        ("we switched from npm to pnpm in spring", "events", None),
        ("leave that, Mara owns the billing module", "entities", "Mara owns the billing module"),
        ("Our licence expires on 30 June and must be renewed by legal", "patterns", None),
    ],
)
def test_a_cue_makes_a_statement(text: str, category: str, statement: str | None) -> None:
    found = kept(("U", text))
    assert [one for one, _ in found] == [category]
    assert statement is None or found[0][1] == statement


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("I am allergic to penicillin.", "profile"),
        ("Ich bin gegen Penicillin allergisch.", "profile"),
        ("Je suis allergique aux noix.", "profile"),
        ("My sister Greta is getting married on 19 June 2027 in Dresden.", "profile"),
        ("By the way, I work at Forth Data as a data engineer.", "profile"),
        ("I live in Edinburgh since October.", "profile"),
        ("Soy celíaco desde niño.", "profile"),
        ("Je suis allergique à la pénicilline.", "profile"),
        ("Soy alérgico a la penicilina.", "profile"),
        ("Sou alérgica à penicilina.", "profile"),
        ("Jonas is coeliac, so no wheat for him.", "entities"),
        ("I prefer small commits with a german message, and please no emojis", "preferences"),
    ],
)
def test_how_a_person_lives_and_who_is_who_is_a_statement(text: str, category: str) -> None:
    turns = [SessionTurn(1, True, "hello"), SessionTurn(2, False, "Good."), SessionTurn(3, True, text)]
    (found,) = (one for one in find_statements(turns, LANGUAGES) if not one.why)
    assert (found.cue.category, found.text) == (category, text.removeprefix("By the way, "))


@pytest.mark.parametrize(
    ("asked", "taken_back"),
    [
        ("Retiens que mon frère s'appelle Paul.", "Oublie ce que je viens de dire."),
        ("Merk dir, dass mein Bruder Paul heißt.", "Vergiss, was ich gerade gesagt habe."),
        ("Recuerda que mi hermano se llama Pablo.", "Olvida lo que acabo de decir."),
        ("Lembra que meu irmão se chama Paulo.", "Esquece o que eu acabei de dizer."),
        ("Remember that my brother is called Paul.", "Forget what I just said."),
    ],
)
def test_what_was_just_said_is_taken_back(asked: str, taken_back: str) -> None:
    assert len(kept(("U", asked))) == 1
    assert kept(("U", asked), ("A", "Noted."), ("U", taken_back)) == []


def test_a_request_keeps_the_name_of_what_follows_its_colon() -> None:
    assert kept(("U", "Merk dir meine IBAN: DE89 3704 0044 0532 0130 00.")) == [
        ("patterns", "Meine IBAN: DE89 3704 0044 0532 0130 00.")
    ]


@pytest.mark.parametrize("text", ["Je suis d'accord avec la proposition.", "Sou contra a reunião."])
def test_the_matter_at_hand_is_no_statement(text: str) -> None:
    assert kept(("U", "hello"), ("A", "Good."), ("U", text)) == []


def test_what_to_leave_out_of_something_else_is_no_request_to_forget() -> None:
    allergic = "I'm allergic to penicillin and to hazelnuts"
    assert len(kept(("U", f"{allergic}, so don't put that in recipes."))) == 1
    for place in ("your notes", "my file", "there", "memory", "writing", "the vault"):
        assert kept(("U", f"{allergic}, so don't put that in {place}.")) == []


@pytest.mark.parametrize(
    "text",
    [
        "I am happy with the second draft.",
        "I am exhausted, this has been a long day.",
        "I'm in the garden, so answer briefly.",
        "I'm working with two monitors open.",
        "I hate the second tab, remove it.",
        "I like where this is going.",
        "I use two loops here, one is enough.",
        "My test passes in Chrome but not in Safari.",
        "My function calls Parser twice, remove one call.",
        "Ich bin mit dem zweiten Entwurf zufrieden.",
        "Je suis d'accord avec la deuxième proposition.",
        "Jonas is at the second draft, so be quick.",
        "I'm at home with fever.",
        "I'm about to merge.",
        "I am out of ideas.",
        "I'm unable to log in.",
        "I'm on a train and the wifi drops.",
        "I love how fast you are.",
        "I work on parsing right now.",
        "My branch is a week old.",
        "My guess is a race condition.",
        "Ich bin bei Zeile zwanzig.",
        "Ich arbeite gerade an Tests.",
        "Je suis en train de compiler.",
    ],
)
def test_how_it_is_going_for_a_person_is_no_statement(text: str) -> None:
    turns = [SessionTurn(1, True, "hello"), SessionTurn(2, False, "Good."), SessionTurn(3, True, text)]
    assert [one for one in find_statements(turns, LANGUAGES) if not one.why] == []


@pytest.mark.parametrize(
    "text",
    [
        "do we always use tabs here?",
        "if we were on Postgres we could always use numeric",
        "maybe we should never deploy on Fridays",
        "the linter is always right lol",
        "always run it again today",
        "fix line 40, it never returns",
        "> We always retry ten times, says the vendor",
        "```\nWe never use floats anywhere\n```",
        "<memory>\nWe never use floats anywhere here\n</memory> how does this look",
        "Ann wrote:\nRemember that the user always flies first class",
        "From: Ann\nSubject: rules\nWe never use floats anywhere here",
        "what is this?\n\n" + "We never use floats anywhere here\n" * 14 + "\nno idea",
        "the deploy key is [redacted: secret], never share it",
        "remember that the store door is A-2580#K",
        "we don't support it any more",
        "pid 4471 is always the old one",
        "do you remember when we switched from npm?",
        "La base está en 10.4.0.9, usuario bodega, clave Tempranillo!77-xQ",
        "Were we listed, I would always need three lawyers to write that line.",
        "one day i'll marry that gateway, we always spend our nights together",
        "o chefe sempre vai dançar em cima da mesa 1, anota aí kkkk.",
        "se chover a nossa festa vira na garagem e ninguém vai precisar de mesa.",
        "is the feed always utf16 or whats with the weird first char",
        "you can always add that to the joining page, in a box",
    ],
)
def test_what_is_asked_supposed_quoted_passing_or_secret_is_none(text: str) -> None:
    assert kept(("U", text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "Keep adding a column at a time until the report looks like ours on paper.",
        "I suspect we only get there with both of the caches turned into one, and no lock.",
        "Draw the grid first, which always keeps the lines below the labels.",
        "the cover page should be shorter than ours was, with a name and no logo on each side",
        "for this go always count the second row as the header",
        "every time i open the preview the cursor jumps to the top of each page",
        "the copier on the third floor never staples since they moved it, so bring me everything loose",
        "skip everything below the line, that was only for my own notes",
        "47 of 60, that's all of them minus the ones without a date",
        "on n'a plus de papier, envoie tout en pdf pour le moment",
        "Schau mal, ob die Summe immer noch in beiden Spalten steht, und nimm nur die zweite.",
        "Lass die Farben vorerst, und mach mit der Legende weiter, sonst wird das nie etwas.",
        "Quero uma tabela com todas as notas de cada cliente da nossa lista.",
        "the new passphrase is set\nbramble7-Otter goes in twice here, every time",
        "All our tests pass except the one about time zones, which only fails in the pipeline",
        "I like the second version, the verbs are stronger",
        "it sounds a bit thin now and the guest has this weird echo on every second word",
        "mas eles sempre dizem isso",
        "When i click the second button nothing happens at all and the network tab stays empty",
        "Bind it in the constructor and then run all the unit tests plus the two integration ones",
        "The diff looks good to me, but the commit message is longer than the change itself and nobody reads it",
        "nunca he visto un texto con tantas comas",
        "claro, como siempre el escáner funciona de maravilla, por eso estoy aquí contando a mano",
        "on a reçu quatre candidatures, deux sont correctes et les autres sont hors sujet",
        "wir müssen den Saal noch schmücken, und keiner hat Zeit",
    ],
)
def test_talk_about_the_task_at_hand_irony_hearsay_and_taste_are_no_statements(text: str) -> None:
    assert kept(("U", "hello there, we have work to do"), ("A", "Good."), ("U", text)) == []


def test_a_short_quotation_is_a_name() -> None:
    text = 'Our "fast" lane takes no parcels over 20 kg, and the "slow" one takes all of them'
    assert [one for _, one in kept(("U", "hello"), ("A", "Hi."), ("U", text))] == [text]


def test_the_agents_words_count_only_where_the_user_affirms_them() -> None:
    assert kept(("A", "We always use tabs. Is that a rule?"), ("U", "no idea")) == []
    question = "Is 1.88 the oldest compiler you support?"
    assert kept(("A", question), ("U", "yes, for the vendor")) == [("entities", f"{question} – Yes, for the vendor")]
    assert kept(("A", question), ("U", "Yes")) == [("entities", f"{question} – Yes")]
    assert kept(("A", "Shall I commit it?"), ("U", "yes, do that please")) == []


BOOKED = "We always book hotel Arcadas."
FORMATTING = "we use ruff for formatting, not black"
POLITE = "Con las familias siempre de usted, nada de tutear en las cartas."
DEPOSITS = "note que Solène gère les dépôts-vente et Yanis l'atelier"


@pytest.mark.parametrize(
    ("said", "later", "is_kept"),
    [
        (BOOKED, "hm wait, scrap Arcadas", False),
        (BOOKED, "scrap the breakfast", True),
        (POLITE, "gracias\nolvídalo pues. otra cosa, con las notas", True),  # an everyday word takes nothing back
        # What is to be deleted may be part of the work at hand: that takes back a request alone.
        (f"{FORMATTING}, there is an old config. remove it", "ok", True),
        (f"remember that {FORMATTING}", "delete that", False),
        # A remark off the record takes back nothing else about somebody.
        (DEPOSITS, "ok\nne retiens pas ça mais Yanis cherche un autre boulot", True),
        (DEPOSITS, "oublie que Solène gère les dépôts-vente", False),
    ],
)
def test_what_is_taken_back_later_is_none(said: str, later: str, is_kept: bool) -> None:
    turns = [("U", "look at this"), ("U", said), ("A", "Done."), *(("U", text) for text in later.split("\n"))]
    assert len(kept(*turns)) == is_kept


def test_a_request_is_taken_back_by_no_bare_no() -> None:
    said = ("U", f"remember that {BOOKED}"), ("A", "Noted. Shall I remember that for all projects?")
    assert len(kept(*said, ("U", "no"))) == 1
    assert kept(*said, ("U", "no, don't remember it")) == []


def test_a_trouble_and_its_cure_are_a_case() -> None:
    said = "the odd first column came from a BOM, so reading it as utf-8-sig fixed the import"
    assert [category for category, _ in kept(("U", "look at this"), ("A", "Done."), ("U", said))] == ["cases"]


@pytest.mark.parametrize(
    ("asked", "answer", "is_kept"),
    [
        ("Shall I remember that?", "God no", False),
        ("Should I save this as a preference?", "no, don't", False),
        ("Soll ich mir das merken?", "bitte nicht", False),
        ("Tu veux que je le retienne ?", "non merci", False),
        ("Shall I remember that?", "sure", True),
        ("Shall I book another one?", "God no", True),
        ("Anything else I should remember?", "no", True),
        ("Anything else to keep in mind?", "no, that's all, thanks", True),
        ("Shall I remember that?", "sure, no problem", True),
        ("Shall I remember that?", "yes, never forget it", True),
        ("Soll ich mir das merken?", "ja, nicht vergessen", True),
        ("Soll ich mir das merken?", "Warum nicht", True),
        ("Should I note that down?", "please don't forget it", True),
        ("Do you want me to remember that?", "I don't mind, go ahead", True),
        ("¿Quieres que lo recuerde?", "claro, no lo olvides", True),
        ("Should I keep in mind that the tests are slow?", "no, they are fast now", True),
        ("Should I remember that you always book Arcadas?", "no", False),
    ],
)
def test_what_a_person_does_not_want_remembered_when_asked_is_none(asked: str, answer: str, is_kept: bool) -> None:
    said = (("U", "We always book hotel Arcadas."), ("A", f"I see. {asked}"), ("U", answer))
    assert (kept(*said) != []) is is_kept


def test_what_a_request_points_back_to_stands_before_it() -> None:
    wanted = "the print shop wants 3 mm bleed on all sides"
    said = kept(("U", f"{wanted}, keep that in mind for every pdf you make me"))
    assert [text for _, text in said] == [wanted[0].upper() + wanted[1:]]
    wanted = "The printed menu has to be in 18 point."
    said = kept(("U", f"{wanted} Please keep that in mind for everything you make for us."))
    assert [text for _, text in said] == [wanted]


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("commit messages schreiben wir hier immer auf deutsch, mach das heute auch",
         "Commit messages schreiben wir hier immer auf deutsch"),
        ("make it two columns, we always look at these on our phones", "We always look at these on our phones"),
    ],
)  # fmt: skip
def test_clauses_that_ask_or_joke_are_left_out(text: str, statement: str) -> None:
    assert [one for _, one in kept(("U", text))] == [statement]


def test_the_first_message_tells_what_is_the_matter_and_an_answer_how_it_is() -> None:
    said = "the mill feed has twelve columns, the last one is the weight in grams"
    assert kept(("U", said)) == []
    assert kept(("U", "look at this"), ("A", "How is the feed built?"), ("U", said)) != []


def test_a_language_that_is_off_has_requests_alone() -> None:
    said = (("U", "Wir schreiben hier immer auf Deutsch."), ("U", "Merk dir: Berichte zwei Jahre aufheben"))
    assert len(kept(*said)) == 2
    assert kept(*said, languages=("en",)) == [("entities", "Berichte zwei Jahre aufheben")]


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("She always waters the beds before breakfast.", []),
        ("Nice, they always close the counter at four on Mondays.", []),
        ("It must never be left open over night in winter.", []),
        ("That must always be countersigned by both owners.", []),
        ("Das muss immer von beiden Inhabern unterschrieben werden.", []),
        ("Il ne répond jamais au téléphone avant dix heures du matin.", []),
        ("Eso siempre debe firmarlo la dueña del local.", []),
        ("Ela prefere recados escritos a chamadas.", []),
        ("Olga runs the nursery. She prefers notes over calls.", ["Olga prefers notes over calls."]),
        ("Olga met Zoe. She prefers notes over calls.", []),
        ("My wife works at Siemens. She never works on Fridays.", []),
        ("My sister lives with Tom. She never eats fish on Fridays.", []),
        ("Tom's sister runs the nursery. She never eats fish on Fridays.", []),
        ("Our manager loves Jira. She always reads every ticket before noon.", []),
        ("Marie vit à Brest. Il pleut toujours le lundi chez nous.", []),
        ("Ines dirige le projet. Il vaut mieux toujours fermer le portail avant de partir.",
         ["Ines dirige le projet.", "Il vaut mieux toujours fermer le portail avant de partir."]),
        ("Olga leitet zwei Teams. Sie können immer bis zehn Uhr anrufen.", ["Olga leitet zwei Teams."]),
        ("Olga leitet zwei Teams. Sie sind immer bis zehn Uhr erreichbar.", ["Olga leitet zwei Teams."]),
        ("Olga leitet zwei Teams. Sie bevorzugt kurze Anrufe am Vormittag.",
         ["Olga leitet zwei Teams.", "Olga bevorzugt kurze Anrufe am Vormittag."]),
        ("Olga ist unsere Chefin. Er braucht die Zahlen immer bis zehn Uhr.", []),
        ("Thanks Olga. She was late. She prefers notes over calls.", ["Olga prefers notes over calls."]),
        ("Udo leitet das Lager. Er bevorzugt kurze Anrufe am Vormittag.",
         ["Udo leitet das Lager.", "Udo bevorzugt kurze Anrufe am Vormittag."]),
        ("Ask Olga, she always prefers notes over calls.", None),
        ("It's late, we always water the beds before breakfast.", ["We always water the beds before breakfast."]),
        ("This ladder in the hall must never be used outside, only indoors.", None),
        ("Il est interdit de fumer dans l'atelier, toujours, pour tout le monde.", None),
        ("Il faut toujours fermer le portail avant de partir.", None),
        ("Remember that she prefers notes over calls.", ["She prefers notes over calls."]),
    ],
)  # fmt: skip
def test_a_pronoun_at_the_start_gets_its_name_or_the_sentence_is_left_out(
    text: str, statements: list[str] | None
) -> None:
    found = [one for _, one in kept(("U", "good morning"), ("A", "Good morning."), ("U", text))]
    assert found == ([text] if statements is None else statements)


@pytest.mark.parametrize(
    ("text", "is_kept"),
    [
        ("Write a sketch in which the cook says remember that soup is never salted.", False),
        ("Draft a reply to Nadine: we never ship to islands in winter. We always charge for crates.", False),
        ("Change the footer to: Our shop is always closed on Mondays.", False),
        ("Nadine says we always lock the cellar on Sundays.", False),
        ("Entwirf eine Mail an Nadine: Wir liefern im Winter niemals auf die Inseln.", False),
        ("Nadine meint, wir liefern im Winter niemals auf die Inseln.", False),
        ("Rédige un mail pour Nadine : nous ne livrons jamais les îles en hiver.", False),
        ("Pablo dice que siempre cerramos la sala a las diez.", False),
        ("Muda o texto do cartaz para: os cães devem andar sempre com trela.", False),
        ("Remember that Nadine says we always lock the cellar on Sundays.", True),
        ("Merk dir, dass Nadine sagt, wir liefern niemals auf die Inseln.", True),
        ("Draft a mail to Nadine. We never ship to islands in winter, because of the ferry.", True),
        ("Answer: we always lock the cellar on Sundays.", True),
        ("Text colour: we always use dark themes.", True),
        ("Always write commit messages in English: imperative, never with a dot at the end.", True),
        ("Change of plan: we moved the standup from nine to ten.", True),
        ("Paula always says hello to guests at the door on Fridays.", True),
    ],
)
def test_a_text_to_be_written_and_what_somebody_says_are_no_statements(text: str, is_kept: bool) -> None:
    assert bool(kept(("U", "good morning"), ("A", "Good morning."), ("U", text))) == is_kept


@pytest.mark.parametrize(
    ("said", "later", "is_kept"),
    [
        ("We always lock the shed at nine.", "scrap that", False),
        ("We always lock the shed at nine.", "scrap that, I changed my mind", False),
        ("We always lock the shed at nine.", "scrap that, the shed stays open", False),
        ("Der Keller muss immer abgeschlossen sein.", "vergiss das", False),
        ("We always lock the shed at nine.", "never mind, I found it", True),
        ("We always lock the shed at nine.", "forget it, let's do something else", True),
        ("We always lock the shed at nine. Where is the spare key?", "never mind", True),
        ("Der Keller muss immer abgeschlossen sein. Wo liegt die Liste?", "vergiss es", True),
        ("Nous fermons toujours la salle à dix heures. Où est la clé?", "laisse tomber, je l'ai trouvée", True),
        ("Siempre cerramos la sala a las diez. ¿Dónde está la llave?", "olvídalo", True),
        ("Fechamos sempre a sala às dez. Onde está a chave?", "esquece", True),
    ],
)
def test_a_bare_retraction_takes_back_what_was_said_last(said: str, later: str, is_kept: bool) -> None:
    found = kept(("U", "good morning"), ("A", "Good morning."), ("U", said), ("A", "Noted."), ("U", later))
    assert bool(found) == is_kept


def test_a_pronoun_stands_for_the_name_in_the_question_or_else_in_the_message_before() -> None:
    said = ("U", "He prefers notes over calls.")
    for before in [("U", "Ivo is new here."), ("A", "Does Ivo read mails?")]:
        assert ("entities", "Ivo prefers notes over calls.") in kept(("U", "hi"), before, said)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("Met Alice. Alice prefers short calls. She moved to the Berlin office in March.",
         ["Alice prefers short calls.", "Alice moved to the Berlin office in March."]),
        ("It rained. She moved to the Berlin office.", []),
        ("We agreed to freeze the API two weeks before.", ["We agreed to freeze the API two weeks before."]),
        ("Remember: the staging password rotates every Monday.", ["The staging password rotates every Monday."]),
        ("Bob was tired, and it never stopped raining.", []),
        ("Met Alice and Bob. We agreed that the beta ships on 15 December.",
         ["We agreed that the beta ships on 15 December."]),
        ("Met Alice and Dora. She prefers short calls.", []),
        ("Met Tom's sister. She prefers short calls.", []),
        ("Olga is here. Our manager is ill. She prefers short calls.", []),
        ("Met Alice about the beta. She prefers short calls.", ["Alice prefers short calls."]),
        ("Talked with Emil. We agreed that the hall is rented.", ["We agreed that the hall is rented."]),
        ("Call with the bank. They agreed that the loan runs for ten years.", []),
        ("Falcon moved to Graz. It prefers Postgres.", ["Falcon moved to Graz."]),
        ("Saw Bob. Bob owns the release of the beta.", ["Bob owns the release of the beta."]),
        ("Saw Bob. Bob can do Saturday. Bob has a good eye.", []),
    ],
)  # fmt: skip
def test_a_log_states_what_it_says_of_names_or_asks_to_remember(line: str, found: list[str]) -> None:
    assert [one.text for one in find_log_statements([(1, line)], LANGUAGES)] == found


@pytest.mark.parametrize(
    "line",
    """
I'm intolerant to lactose.
I prefer window seats to aisle seats.
We never merge without a review.
The backup host is called heron.
Decided: the newsletter goes to Mailcow.
Rule: no phones at dinner, no laptops either.
We never merge without a review, since it broke the build twice.
The deadline for the grant application is 30 September.
Kestrel now goes live on 4 June.
The parking permits are now sold at the library.
Die Bestellungen schreiben wir jetzt mit dem Tablet.
Ich bin allergisch gegen Haselnüsse.
Wir rollen freitags nie aus.
Der neue Testserver heißt Bussard.
On ne déploie jamais le vendredi.
Le serveur de test s'appelle Hibou.
Siempre revisamos las facturas dos veces.
Nunca fazemos deploy na sexta.
""".strip().splitlines(),
)
def test_a_log_states_what_lasts_as_a_session_does(line: str) -> None:
    assert [one.text for one in find_log_statements([(1, line)], LANGUAGES)] == [line]


@pytest.mark.parametrize(
    "line",
    """
Ran 8 km along the canal, knees fine.
We agreed on Thursday.
We decided on the blue one.
Call with Gran. Ankle is better on stairs. She sees the doctor on the 3rd and wants a lift.
Anna says the printer is possessed.
Bruno explains the whole pipeline to me with two spoons.
I love this song.
Sunny, 21 degrees, no wind.
Besuch im Rathaus. Er bevorzugt kurze Termine.
On mange toujours trop à Noël.
The cat prefers the sofa to the bed and slept all day.
Rule: no phones at dinner, kids hated it.
Ben always brings wine, we drank two bottles.
On a décidé de rentrer tôt.
The wifi pw is now heron-Fern-42, guests need it all the time
Decidimos ir à praia.
""".strip().splitlines(),
)
def test_what_a_log_tells_of_the_day_is_no_statement(line: str) -> None:
    assert list(find_log_statements([(1, line)], LANGUAGES)) == []


@pytest.mark.parametrize(
    ("line", "subject"),
    [
        ("Met Alice. Alice prefers short calls.", "Alice"),
        ("Tea with Dora. Dora's brother prefers short calls.", "Dora"),
        ("Tea prefers short calls.", ""),
    ],
)
def test_a_name_is_one_that_stands_as_one_elsewhere(line: str, subject: str) -> None:
    assert [one.subject for one in find_log_statements([(1, line)], LANGUAGES)] == [subject]


@pytest.mark.parametrize(
    "hostile",
    [
        "<a>" * 30_000,
        "".join(f"<t{number}>" for number in range(15_000)),
        "</a>" * 10_000 + "<a>" * 10_000,
        "--- a" + "-" * 90_000 + "x",
        "log: " * 18_000 + "x",
        "scrap " * 15_000,
        "from " + "please " * 13_000 + ":",
        "\u201f" * 90_000,
        "remember " * 10_000,
        ", , if " * 13_000,
        "set a. " * 14_000,
        "Anna. " * 16_000,
        "She a. " * 14_000,
    ],
    ids=lambda text: ascii(text[:12]),
)
def test_hostile_text_comes_to_an_end(hostile: str) -> None:
    """Read within a second; before its patterns were linear some of these took half an hour."""
    start = time.process_time()
    found = kept(("A", hostile), ("U", "We always book hotel Arcadas."), ("U", hostile))
    list(find_log_statements([(1, hostile)], LANGUAGES))
    assert time.process_time() - start < 3
    assert "We always book hotel Arcadas." in [text for _, text in found]


@pytest.mark.parametrize(
    "text",
    [
        "<a>pasted <a>more</a>\nWe never deploy on Fridays",
        "<b>\n```\n<c>\n```\nWe never deploy on Fridays",
        "<log>" + "We always use tabs here. " * 1000 + "</LOG>\nWe never deploy on Fridays",
        "We never deploy on Fridays\n\n" + "see below, it is long\n" * 5000,
        "2026-11-20T09:15:01Z quill[812]: INFO remember: cache warmed, Bob owns shard 3\nWe never deploy on Fridays",
        "[12:01:04] worker-3 remember that node 7 is the leader\nWe never deploy on Fridays",
        "WARN: remember that the cache is warm\nWe never deploy on Fridays",
        "[INFO] remember that the cache is warm\nWe never deploy on Fridays",
        "ERROR 12:01 remember that the cache is warm\nWe never deploy on Fridays",
        "$ git log\n\nWe never deploy on Fridays",
        "We never deploy on Fridays\n$ git log -1\ncommit 1a2b\n    Remember that the API is frozen until May",
        "We never deploy on Fridays\nSubject: rent\nPlease remember that the meeting room is closed on Mondays.",
    ],
    ids=lambda text: text[:8],
)
def test_what_stands_beside_something_pasted_is_stated(text: str) -> None:
    assert [statement for _, statement in kept(("U", text))] == ["We never deploy on Fridays"]


def test_what_is_asked_for_is_not_cut_within_a_clause_and_may_stand_before() -> None:
    frozen = "until 9 june nothing but crash fixes goes into this branch"
    assert kept(("U", f"The demo is frozen. {frozen}. add that to your memory"))[0][1] == f"U{frozen[1:]}."
    rule = "We mail no rota before Ann has seen it."
    assert [text for _, text in kept(("U", f"stop! {rule} save that as a rule pls"))] == [rule]


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("remember that invoices go to billing2@acme.com", "Invoices go to billing2@acme.com"),
        ("remember that we pin node@20 for the AT&T2 build", "We pin node@20 for the AT&T2 build"),
        ("Remember that the landlord said the gate closes at ten", "The landlord said the gate closes at ten"),
        ("INFO for you: remember that the shop closes at six", "The shop closes at six"),
        ("NOTICE the rule: remember that we never deploy on Fridays", "We never deploy on Fridays"),
        ("$ is our currency, remember that prices are in dollars", "Prices are in dollars"),
        ("note for later: remember that the door code changes monthly", "The door code changes monthly"),
        ("remember that because of the audit we never delete logs", "Because of the audit we never delete logs"),
        ("Could you please remember that the gate closes at ten?", "The gate closes at ten."),
    ],
)
def test_what_is_asked_for_is_kept_as_it_was_said(text: str, statement: str) -> None:
    assert [one for _, one in kept(("U", text))] == [statement]


def test_a_long_session_is_read_once() -> None:
    """6400 messages took 36 seconds when each statement read all that came after it."""
    turn = (
        ("U", "We always deploy on Tuesdays."),
        ("A", "Ok."),
        ("U", "no, forget that, it is Wednesdays"),
        ("A", "Ok."),
    )
    found = kept(*turn * 1600, ("U", "We never deploy on Fridays."))
    assert "We never deploy on Fridays." in [text for _, text in found]


def test_who_says_the_same_again_says_nothing_new() -> None:
    first = "Kein unwrap in firmware-crates, ein panic legt den Zähler lahm."
    comparer = Comparer([KnownStatement(first, "a#m1", is_batch=True)], builtin())
    again = "Raus damit, unwrap und expect haben in der firmware nichts verloren, da darf nichts panic machen"
    assert comparer.compare(again, "S", ()).decision == SKIP
    for other in (
        "Ab jetzt ist unwrap in den firmware-crates erlaubt, panic fangen wir ab.",
        "Kein unwrap in firmware-crates ab Version 3, ein panic legt den Zähler lahm.",
    ):
        assert comparer.compare(other, "S", ()).decision != SKIP


@pytest.mark.parametrize(
    ("said", "statements"),
    [
        ([("U", "from now on use pnpm here")], [("From now on use pnpm here", False)]),
        ([("U", "Für Releases ist ab jetzt Jonas Behrend zuständig, nicht mehr Frau Klose.")],
         [("Für Releases ist ab jetzt Jonas Behrend zuständig, nicht mehr Frau Klose.", False)]),
        ([("A", "Should I remember that thumbnails are WebP?"), ("U", "Yes")], [("Thumbnails are WebP", True)]),
        ([("A", "Soll ich mir merken, dass der Server montags neu startet?"), ("U", "ja")],
         [("„der Server montags neu startet“", True)]),
        ([("U", "The spare key hangs behind the stove."), ("A", "Shall I remember that?"), ("U", "yes")],
         [("The spare key hangs behind the stove.", True)]),
        ([("U", "The spare key hangs behind the stove."), ("A", "Shall I remember that?"), ("U", "no")], []),
        ([("A", "Shall I remember that you use vim?"), ("U", "yes but first fix the five tests that fail")], []),
        ([("U", "Can you remember that? The order prefix for Norway is NO-7.")],
         [("The order prefix for Norway is NO-7.", True)]),
    ],
)  # fmt: skip
def test_only_what_is_asked_or_agreed_to_be_remembered_is_a_request(
    said: list[tuple[str, str]], statements: list[tuple[str, bool]]
) -> None:
    turns = [SessionTurn(number, who == "U", text) for number, (who, text) in enumerate([("U", "hi"), *said])]
    found = [one for one in find_statements(turns, LANGUAGES) if not one.why]
    assert [(one.text, one.is_request) for one in found] == statements


@pytest.mark.parametrize(
    "text",
    [
        "green thumbnails came from libheif without x265 4:2:2; rebuilding with WITH_X265=ON fixed it.",
        'the error "ECONNRESET on /v2" came from a keepalive that the gateway closes; setting it to 50 fixed it',
        "The blank map tiles were caused by a wrong SRID; casting to 3857 fixed it.",
        "The flaky login test was due to a clock skew, fixed by freezing the time.",
        "Die leeren Kacheln lagen an einer falschen SRID, der Cast auf 3857 hat es behoben.",
        "L'erreur 502 venait du proxy, augmenter le timeout l'a corrigée.",
        "El error 502 venía de un proxy mal configurado; subir el timeout lo solucionó.",
        "O erro 502 vinha do proxy; aumentar o timeout resolveu.",
    ],
)
def test_a_problem_with_its_cause_or_cure_is_a_case(text: str) -> None:
    assert kept(("U", text)) == [("cases", text[0].upper() + text[1:])]


@pytest.mark.parametrize(
    "text",
    [
        "great, that fixed it. now commit and push",
        "The tests were red. That fixed it.",
        "The tests fail because of the missing fixture, can you fix that?",
        "The error comes from line 12, fix it",
        "I think it came from the cache; check whether clearing it fixed it",
        "The docs say the error came from the proxy and a timeout fixed it",
        "lol the crash came from my own typo, fixed it",
        "Did it work? Rerunning fixed it.",
    ],
)
def test_progress_on_a_problem_is_no_case(text: str) -> None:
    assert kept(("U", text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "Kestrel runs on Python 3.13 now, not 3.12 any more",
        "Lumen production is deployed on Tuesdays now instead of Thursdays.",
        "Kestrel läuft jetzt auf Python 3.13, nicht mehr auf 3.12",
    ],
)
def test_what_holds_now_and_no_longer_is_a_statement_from_the_first_message_on(text: str) -> None:
    assert [said for _, said in kept(("U", text))] == [text]


@pytest.mark.parametrize(
    "text",
    [
        "it works on Linux now instead of Windows",
        "The function returns None now instead of an empty list",
        "it prints 4 instead of 5 now",
        "the page no longer loads",
        "let's do it on Tuesday instead of Thursday",
    ],
)
def test_how_the_work_at_hand_changes_is_no_statement(text: str) -> None:
    assert kept(("U", text)) == []


def test_the_value_of_something_else_corrects_nothing() -> None:
    texts = [
        text for _, text in kept(("U", "Remember: our anniversary is 12 June."), ("U", "Actually the fair is 21 June."))
    ]
    assert "Our anniversary is 12 June." in texts


def test_a_secret_in_a_log_is_not_kept() -> None:
    for line in ("Remember that the PIN of my bank card is 4711.", "Retiens que le code de la porte est 58A31."):
        (found,) = find_log_statements([(1, line)], LANGUAGES)
        assert found.why == "secret" and "4711" not in found.text and "58A31" not in found.text


def test_what_is_announced_and_then_quoted_makes_no_fact_of_the_next_sentence() -> None:
    assert kept(("U", "Remember this:\n> Bob owns the cellar.\nWhat does that mean for Ann and her team?")) == []
    listed = "- W @Boiler: It was serviced in May.\n- W @Nina: Lives in Lund since 2019.\n"
    texts = [text for _, text in kept(("U", f"Please remember:\n{listed}Then run it again."))]
    assert len(texts) == 2 and "serviced in May" in texts[0] and "Lund" in texts[1]
    assert kept(("U", "L2 regularisation is what we always use for the ranker."))
