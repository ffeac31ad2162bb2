"""What a new statement is to a known one: another matter, the same, or what takes its place."""

import pytest

from vault_memory.embedding.builtin_embedder import builtin
from vault_memory.write.comparison import CREATE, SKIP, SUPERSEDE, Comparer, KnownStatement


@pytest.mark.parametrize(
    ("known", "text", "decision"),
    [
        ("Lena's piano lesson is on Monday.", "Lena's swimming lesson is on Wednesday.", CREATE),
        ("The staging database is on port 5433.", "The staging cache is on port 6379.", CREATE),
        ("Releases of tern go out on Tuesdays only.", "The tern demo is always on the second Thursday.", CREATE),
        ("The north gate opens at 7:00.", "The south gate opens at 9:00.", CREATE),
        ("Lena's piano lesson is on Monday.", "Lena's piano lesson moved to Friday.", SUPERSEDE),
        ("The clinic closes at 17:00.", "The clinic now closes at 18:30.", SUPERSEDE),
        ("Die Kasse wird immer montags gezählt.", "Die Kasse wird immer freitags gezählt.", SUPERSEDE),
        ("Die Miete beträgt 1200 Euro.", "Die Miete beträgt jetzt 1250 Euro.", SUPERSEDE),
        ("Das Treffen ist am Montag.", "Das Treffen ist jetzt am Dienstag.", SUPERSEDE),
        ("La réunion est le lundi.", "La réunion est maintenant le mardi.", SUPERSEDE),
        ("La reunión es el lunes.", "La reunión es ahora el martes.", SUPERSEDE),
        ("A reunião é na segunda.", "A reunião agora é na terça.", SUPERSEDE),
        ("The meeting is on Monday.", "The meeting is on Tuesday instead.", SUPERSEDE),
        ("The car insurance costs 400 euros.", "The house insurance now costs 600 euros.", CREATE),
        ("Lenas Klavierstunde ist am Montag.", "Lenas Schwimmstunde ist jetzt am Mittwoch.", CREATE),
        ("My daughter is allergic to nuts.", "My son is allergic to nuts.", CREATE),
        ("We always test before a release.", "We never test before a release.", CREATE),
        ("The kitchen is closed in summer.", "The kitchen is open in summer.", CREATE),
        ("Tom likes strong coffee.", "Tom really likes strong coffee.", SKIP),
        ("Ann reports to Bob.", "Bob reports to Ann.", CREATE),
        ("Anna berichtet an Bernd.", "Bernd berichtet an Anna.", CREATE),
        ("We deploy with Ansible on Hetzner.", "On Hetzner we deploy with Ansible.", SKIP),
        ("Das Treffen mit Anna ist am Montag.", "Am Montag ist das Treffen mit Anna.", SKIP),
        ("Bob deploys.", "Only Bob deploys.", CREATE),
        ("Only Bob deploys.", "Bob deploys.", SKIP),
        ("Bernd macht die Releases.", "Nur Bernd macht die Releases.", CREATE),
        ("Bob drinks more coffee than tea.", "Bob drinks less coffee than tea.", CREATE),
        ("Bernd trinkt mehr Kaffee als Tee.", "Bernd trinkt weniger Kaffee als Tee.", CREATE),
        ("We run the tests before the build.", "We run the tests after the build.", CREATE),
        ("Wir testen vor dem Build.", "Wir testen nach dem Build.", CREATE),
        ("I hate the dark theme.", "I like the dark theme.", CREATE),
        ("Ich hasse das dunkle Design.", "Ich mag das dunkle Design.", CREATE),
        ("Das Treffen ist am Montag.", "Das Treffen ist jetzt am Montag.", SKIP),
        ("Pia signs off on all text.", "Pia signs off on all texts.", SKIP),
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_batch", [True, False])
def test_a_statement_is_known_or_replaces_another_only_if_all_its_content_words_agree(
    known: str, text: str, decision: str, is_batch: bool
) -> None:
    comparer = Comparer([KnownStatement(known, "memory/2026-01-01.md#L1", is_batch=is_batch)], builtin())
    assert comparer.compare(text, "W", []).decision == decision
