"""What the commands for single notes print: `get`, `retain`, `forget`."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from vault_memory.rendering.common import Document, clean, plural, schema
from vault_memory.search.answer import Result

if TYPE_CHECKING:
    from vault_memory.search.get import Excerpt
    from vault_memory.write.forget import ForgetResult, Removal
    from vault_memory.write.retain import RetainResult


def get_document(excerpt: "Excerpt") -> Document:
    """The `get@1` document."""
    document = asdict(excerpt)
    del document["origins"]  # an asker's own marks
    return schema("get") | document


def unit(path: str) -> str:
    """What a citation of this path counts: messages of a session, lines of any other note."""
    return "message" if path.startswith("sessions/") else "line"


def past_the_end(excerpt: "Excerpt") -> str:
    """What is said of lines that a note does not have."""
    if not excerpt.lines:
        return f"{clean(excerpt.path)} is empty."
    what = unit(excerpt.path)
    return f"{clean(excerpt.path)} has {plural(excerpt.lines, what)}; there is no {what} {excerpt.start_line}."


def retain_document(done: "RetainResult") -> Document:
    """The `retain@1` document."""
    return schema("retain") | asdict(done) | {"source": f"{done.path}#L{done.line}"}


def forget_document(planned: "Removal", done: "ForgetResult | None") -> Document:
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
