"""What is known of a file that is no note: its name, and of a canvas what stands on its cards. Pure."""

import json
from collections.abc import Iterator

MAX_CANVAS_BYTES = 5_000_000
"""Of a larger canvas only the name is known: 5 MB are parsed in 0.1 s and hold some 10,000 cards."""


def is_canvas(path: str) -> bool:
    return path[-7:].lower() == ".canvas"


def attachment_text(path: str, data: bytes) -> bytes:
    """A file's name, and below it the texts of a canvas's cards, groups and arrows; a broken canvas is a name only."""
    name = " ".join(path.rpartition("/")[2].split())
    return "\n\n".join((name, *(_card_texts(data) if is_canvas(path) else ()))).encode("utf-8", "replace")


def _card_texts(data: bytes) -> Iterator[str]:
    """The texts of a canvas (jsoncanvas.org) in the order of the file."""
    try:
        loaded = json.loads(data) if len(data) <= MAX_CANVAS_BYTES else None
    except (ValueError, RecursionError):
        return
    for part in ("nodes", "edges"):
        items = loaded.get(part) if isinstance(loaded, dict) else None
        for item in items if isinstance(items, list) else ():
            text = (item.get("text") or item.get("label")) if isinstance(item, dict) else None
            if isinstance(text, str) and text.strip():
                yield text.strip()
