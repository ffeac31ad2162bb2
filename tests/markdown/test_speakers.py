"""Who speaks in a line of a conversation."""

import pytest

from vault_memory.markdown.note import speaker


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("- Mara: hello", "mara"),
        ("- **Mara Berg**: hello", "mara berg"),
        ("**Mara:** hello", "mara"),
        ("> Mara: hello", "mara"),
        ("- [14:15] Mara Berg: hello", "mara berg"),
        ("- 10:32 am – Mara: hello", "mara"),
        ("[12/03/2024, 10:32:11] Mara Berg: hello", "mara berg"),
        ("12/03/24, 10:32 - Mara: hello", "mara"),
        ("- mara: hello", ""),
        ("- 09:10 Coffee with Mara: she was late", ""),
        ("10:32: hello", ""),
        ("- https://example.org: x", ""),
    ],
)
def test_who_speaks(text: str, found: str) -> None:
    assert speaker(text) == found
