"""Owns how a forgetting looks: the `forget@1` documents, and the facts that a question may mean. It decides nothing."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vault_memory.rendering.render import Document, schema
from vault_memory.search.answer import Result
from vault_memory.search.pack import clean

if TYPE_CHECKING:
    from vault_memory.write.forget import ForgetResult, Removal


def document(planned: "Removal", done: "ForgetResult | None") -> Document:
    """The `forget@1` document of what is, or would be, taken out."""
    shown = done.removal if done else planned
    return schema("forget") | {
        "path": shown.path, "line": shown.start_line, "end_line": shown.end_line, "source": shown.source,
        "removed": shown.text, "diff": shown.diff, "written": done is not None,
        "kept_in": done.kept_in if done else None, "warnings": list(done.warnings) if done else [], "candidates": [],
    }  # fmt: skip


def candidates_document(found: Sequence[Result]) -> Document:
    """The `forget@1` document of the facts that a question may mean: none is chosen, nothing is written."""
    nothing = dict.fromkeys(("path", "line", "end_line", "source", "removed", "diff"))
    names = ("path", "start_line", "end_line", "source", "kind", "date", "content")
    return schema("forget") | nothing | {
        "written": False, "kept_in": None, "warnings": [],
        "candidates": [{name: getattr(result, name) for name in names} for result in found],
    }  # fmt: skip


def candidates_text(found: Sequence[Result]) -> str:
    """The facts that a question may mean, numbered, each with its citation."""
    lines: list[str] = []
    for number, result in enumerate(found, start=1):
        lines.append(clean(f"{number}. {result.source}"))
        lines += [f"   {clean(line)}" for line in result.content.split("\n")]
    return "\n".join(lines)
