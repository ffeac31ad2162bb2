"""The explicit cues of a statement in five languages, and what only looks like one."""

import pytest

from vault_memory.capture.cues import CUES
from vault_memory.capture.own_words import SessionTurn
from vault_memory.capture.statements import find_statements
from vault_memory.text.word_classes import LANGUAGES

CUED = """
No tabs but spaces.
Use pnpm, not npm.
We use poetry instead of pip.
My dog is called Biscuit.
I decided that invoices are numbered per year.
I've decided to use Hugo for my website.
We've decided: releases go out on Tuesdays.
From today on we never ship on Fridays.
I'm a nurse at the county hospital.
My wife is a dentist.
I don't eat meat.
Mara is responsible for billing.
The billing module is owned by Mara.
The report is due on 30 September.
The thesis must be in by the end of June.
Kein npm, sondern pnpm.
Wir nutzen Postgres statt MySQL.
Meine Frau heißt Ines.
Ich habe beschlossen, kein Fleisch mehr zu essen.
Ab heute verschicken wir Rechnungen nur noch per Mail.
Ich bin Krankenschwester in Bonn.
Für den Einkauf ist Petra verantwortlich.
Der Antrag muss bis Ende Mai raus.
Die Frist für den Einspruch endet am 30.9.
Pas de tabulations mais des espaces.
Mon fils s'appelle Basile.
J'ai décidé que les factures partent en PDF.
À partir d'aujourd'hui on ne livre plus le vendredi.
Je suis infirmière à Lyon.
Claire est responsable de la caisse.
La date limite du dossier est fin mars.
Nada de npm, sino pnpm.
Nuestro gato se llama Michi.
Decidí usar Hugo para mi web.
A partir de hoy no enviamos facturas en papel.
Soy enfermera en un hospital de Burgos.
Andrés se encarga de los envíos.
El plazo de la beca termina el 30 de junio.
Nada de npm, e sim pnpm.
O meu cão chama-se Rex.
Decidi usar Hugo no meu site.
De hoje em diante não entregamos às sextas.
Sou enfermeira num hospital do Porto.
A Joana é responsável pelas compras.
O prazo da bolsa termina a 30 de junho.
"""

NOT_CUED = """
Use the second one, not the first.
Use column B, not C.
Use a set instead of a list.
No luck but thanks.
No sound but video works.
The hook is called too often.
I decided to take the bus today.
I decided to take a nap.
I decided on the blue one.
Starting tomorrow I'm away.
From today's log I see three errors.
I'm a bit tired.
I'm a week behind with this.
I don't live there.
The cache is responsible for the slow start.
That's handled by Redux.
The crash is due to a missing header.
Set 10 as the limit of the list.
Kein Wunder, sondern dein Commit.
Das heißt, es geht nicht.
Ich habe beschlossen, die Zeile zu löschen.
Ab morgen bin ich weg.
Ich bin gespannt auf das Ergebnis.
Das Modul kümmert sich um die Fehler.
Pas de souci mais merci.
J'ai décidé de supprimer cette branche.
Je suis prête à continuer.
Le cache est responsable de la lenteur.
Usa tu idea en vez de la mía.
La función se llama dos veces.
He decidido borrar esa línea.
Soy yo otra vez.
Use a tua ideia em vez da minha.
Decidi apagar o segundo parágrafo.
Sou eu de novo.
O prazo acaba hoje.
"""


def _is_kept(text: str) -> bool:
    before = [SessionTurn(1, True, "hello"), SessionTurn(2, False, "Good.")]
    return any(not one.why for one in find_statements([*before, SessionTurn(3, True, text)], [*LANGUAGES]))


@pytest.mark.parametrize("text", CUED.strip().splitlines())
def test_a_cue_makes_a_statement(text: str) -> None:
    assert _is_kept(text)


@pytest.mark.parametrize("text", NOT_CUED.strip().splitlines())
def test_the_matter_at_hand_is_no_cue(text: str) -> None:
    assert not _is_kept(text)


def test_each_language_has_cues() -> None:
    assert CUES.keys() == LANGUAGES.keys()
