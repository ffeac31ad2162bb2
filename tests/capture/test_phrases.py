"""Phrasings of people: what asks to remember, what states something that lasts, and what does neither."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_memory.capture.statements import SessionTurn, Statement, find_statements

LANGUAGES = ("en", "de", "fr", "es", "pt")

REQUESTS = r"""
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
From here on, call the customers members.
From now on commit messages are in English.
Note to self: the caterer wants numbers ten days before.
NB: the second meter belongs to the neighbours.
The spare key is with Mrs Doyle. Remember that.
Our tax number changed with the move, please remember that.
The bakery only takes cash, write that down.
log this: the turbine was replaced by the B model
Memorise this: the safe word for the alarm company is with Ruth
so you don't ask again: Pim's daughter is vegan
next time just use the metric template, always
Schreib dir auf: Die Kasse wird immer samstags gezählt.
Nicht vergessen: der Schlüssel liegt bei Brandts.
Halt bitte fest, dass wir nur noch Recyclingpapier kaufen.
Von nun an heißen die Kunden Mitglieder.
Künftig bitte keine Emojis in Commits.
Note que le four du bas chauffe trop fort.
Garde en mémoire que Luc ne lit pas ses mails le soir.
Mémorise ça : la clé de la cave est chez Odile.
À l'avenir, écris les montants avec une espace.
Guarda esto: el proveedor de harina es Molinos Vega.
Para la próxima: las facturas van sin IVA.
Tem em conta: o armazém fecha ao meio-dia.
Tome nota: o contador da loja é o Renato.
De agora em diante, os relatórios vão em PDF.
Kom ihåg att nyckeln ligger hos grannen.
Onthoud dat de winkel op maandag dicht is.
Vanaf nu schrijven we alle bonnen in het Nederlands.
D'ora in poi i preventivi vanno in PDF.
Zapamiętaj, że sklep jest zamknięty w poniedziałki.
Запомни: мы пишем отчёты только по-русски.
"""

STATEMENTS = r"""
The nightly export starts at 02:30 and takes an hour.
Our biggest customer is Halvorsen in Bergen.
every endpoint has to return problem+json
No, the deposit is 30 percent, not 20.
The team meets every Wednesday at 10.
Don't ever touch the generated files by hand.
Joris is our accountant and Petra does payroll.
I like my coffee plans simple, so keep itineraries to one page
Backups live on the NAS in the attic.
The culprit was the antivirus locking the file.
we moved the choir rehearsal to Thursdays
as of March the shop opens on Sundays
each reading has to carry its unit
Rechnungen gehen bei uns immer an Frau Lehmann.
Los pedidos se hacen los martes antes de las doce.
"""

NOTHING = r"""
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
"""


def _phrases(table: str) -> list[str]:
    return [line.replace("\\n", "\n") for line in table.strip().splitlines()]


def _found(text: str) -> list[Statement]:
    """What a message states in the middle of a session."""
    before = [SessionTurn(1, True, "have a look at the parser"), SessionTurn(2, False, "Done.")]
    return find_statements([*before, SessionTurn(3, True, f"ok good. {text}")], LANGUAGES)


@pytest.mark.parametrize("text", _phrases(REQUESTS))
def test_it_is_asked_to_remember(text: str) -> None:
    assert any(one.is_request for one in _found(text))


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
    assert find_statements(said, LANGUAGES) == []
