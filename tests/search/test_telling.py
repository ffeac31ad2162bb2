"""Which passages tell something by themselves."""

import pytest

from vault_memory.markdown.note import ASIDE
from vault_memory.search.relevance_gate import is_informative
from vault_memory.store.view import Candidate


def passage(text: str, section: int = 0) -> Candidate:
    return Candidate(1, 1, 1, 1, None, None, "note", 5, section, text)


@pytest.mark.parametrize(
    ("text", "does"),
    [
        ("tags: [boat]\naliases:\n  - old boat\ndate: 2025-01-02", False), ("title: \"x\"\nby: web", False),
        ("tags: [book]\nauthor: Hanne Voss", True), ("attendees:\n  - Ada\n  - Ida", True), ("email:", False),
        ("rating: []\nnote: \"\"", False), ("%% author: me %%", False), ("<!-- to: do\nmore: so -->", False),
        ("  - Ada", False), ("Geburtstag: 2.5.1980", True), ("see also: [[Boats]]", True),
    ],
)  # fmt: skip
def test_properties_tell_unless_they_are_only_the_file_s_own(text: str, does: bool) -> None:
    assert is_informative(passage(text, section=ASIDE)) == does


def test_what_a_plugin_runs_tells_nothing() -> None:
    assert not is_informative(passage("```dataview\nLIST FROM #boat\n```"))
    assert not is_informative(passage(" ~~~~ tasks\nnot done"))
    assert is_informative(passage("```python\nprint('base')\n```"))
    assert is_informative(passage("`dataview` is a plugin"))
