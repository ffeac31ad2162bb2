"""Owns what the tools and resources of the MCP server answer: short text, notes framed as data, what was left out told.

It knows the vault (desk.py) and nothing of the protocol. What is wrong is raised as an error of errors.py.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from vault_memory.agents import frame, mcp_tools
from vault_memory.agents.desk import Desk
from vault_memory.errors import RefusedError, UsageError, VaultMemoryError
from vault_memory.files import pathnames
from vault_memory.notes import provenance, retain
from vault_memory.notes.parse import parse
from vault_memory.notes.scopes import GLOBAL
from vault_memory.rendering import render
from vault_memory.retrieval import request
from vault_memory.retrieval.answer import SESSION

if TYPE_CHECKING:
    from vault_memory.writing.writer import Bullet

Arguments = Mapping[str, Any]

FRAME_TOKENS = 25
"""What the frame costs: taken off the budget, for everything that is handed over counts."""

NOTE_TOKENS = 100
"""What is kept for the line below the frame, a quarter of the budget at the most; passages may leave it more."""

MOST_UNASKED, MOST_UNASKED_TOKENS = 50, 10_000
"""What an agent gets at most that names no limit: settings may come with a vault, and must not flood it."""

LONGEST_FACT = 2000
"""The characters of a fact; what is longer is a note, or several facts."""


MOST_CALLED = 5
"""So many notes of one name are told of."""


class Caller(NamedTuple):
    """The vault that is asked, and which agent asks: the name its client gave, "" for none."""

    desk: Desk
    agent: str

    @property
    def scopes(self) -> tuple[str, ...]:
        """What is open to the agent."""
        return self.desk.scopes(self.agent)


def search(caller: Caller, given: Arguments) -> str:
    """Passages for a question, and in a line below them what is to be known of the answer."""
    if not given["query"].strip():
        raise UsageError("`query` says nothing.", "Ask in plain words.")
    scopes = caller.scopes
    found = caller.desk.recall(_options(caller, given, scopes))
    if found is None:
        return (
            "There is no index of this vault yet, nothing was searched. It is being built now: ask again in a moment."
        )
    said = [each.replace("(--k shows more)", "(max_results shows more)") for each in found["said"]]
    notes = [*said, *(["index up to date"] if found["index"]["fresh"] else [])]
    text, room = "", _budget(caller, given)
    if found["results"]:
        text = frame.framed(found["text"]) + "\n"
        room -= FRAME_TOKENS + found["rendered_tokens"] + _size(frame.defused(found["text"])) - _size(found["text"])
    return text + _within(room, [*notes, f"scopes: {', '.join(scopes)}"])


def _within(room: int, notes: Sequence[str]) -> str:
    """What is to be known of an answer, in so many tokens at the most: none is less than a byte."""
    text = frame.defused("; ".join(notes))
    if _size(text) <= room:
        return text
    return text.encode("utf-8", "replace")[: max(0, room - _size("…"))].decode("utf-8", "ignore") + "…" * (room > 2)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _budget(caller: Caller, given: Arguments) -> int:
    return int(given.get("budget", min(caller.desk.config().recall_budget, MOST_UNASKED_TOKENS)))


def _options(caller: Caller, given: Arguments, scopes: Sequence[str]) -> dict[str, Any]:
    config, budget = caller.desk.config(), _budget(caller, given)
    for_passages = budget - FRAME_TOKENS - min(NOTE_TOKENS, budget // 4)
    # Either alone leaves the other unlimited on the command line; an agent is never flooded.
    k = given.get("max_results", None if "budget" in given else min(config.recall_k, MOST_UNASKED))
    kinds = given.get("kinds", [])
    source = "notes" if SESSION not in kinds else "sessions" if len(kinds) == 1 else "all"
    return {
        "query": given["query"], "source": source, "k": k, "budget": max(for_passages, 1),
        "since": given.get("since"), "until": given.get("until"), "entity": given.get("entities", []),
        "kind": kinds, "scope": list(scopes), "telling": True,
    }  # fmt: skip


def get(caller: Caller, given: Arguments) -> str:
    """Lines of a note, each with its number."""
    named, lines = request.span(given["path"], None)
    path = pathnames.inside(named)
    if "start_line" in given or "line_count" in given:
        first = given.get("start_line", lines[0] if lines else 1)
        count = given.get("line_count")
        lines = first, first + count - 1 if count else None
    return _excerpt(caller, path, lines)


def _excerpt(caller: Caller, path: str, lines: tuple[int, int | None] | None) -> str:
    excerpt = caller.desk.read(path, lines, caller.scopes)
    if excerpt.not_found:
        return f"There is no note {_shown(path)} (nothing was read).{_called_so(caller, path)}"
    if excerpt.end_line < excerpt.start_line:
        return frame.defused(render.past_the_end(excerpt))
    texts, letter = excerpt.text.split("\n"), "m" if excerpt.path.startswith("sessions/") else "L"
    marks, of_all = _origins(texts, excerpt.origins)
    body = "\n".join(
        f"{letter}{number} {render.clean(text)}{mark}"
        for number, (text, mark) in enumerate(zip(texts, marks, strict=True), excerpt.start_line)
    )
    last = f"-{letter}{excerpt.end_line}" if excerpt.end_line > excerpt.start_line else ""
    said = [f"{_shown(excerpt.path)}#{letter}{excerpt.start_line}{last}, as the file is now"]
    said += [f"all of it{of_all}: not the user's own words"] if of_all else []
    if excerpt.line_cut:
        said.append(f"{letter}{excerpt.end_line} is longer than can be shown; memory_search finds what else it says")
    if excerpt.end_line < excerpt.lines and excerpt.truncated:
        said.append(f"cut here; go on with start_line {excerpt.end_line + 1}")
    return f"{frame.framed(body)}\n{'; '.join(said)}"


def _called_so(caller: Caller, path: str) -> str:
    """Where the note is that a wikilink would open: links in notes name no folders."""
    name = re.split(r"[|#]", path.removeprefix("[[").removesuffix("]]"))[0]
    found: list[str] = []
    with suppress(VaultMemoryError):  # without an index nothing is to be said of names
        found = caller.desk.notes_called(name, caller.scopes) if name.strip() else []
    return f" Called so: {_shown(', '.join(found[:MOST_CALLED]))}" if found else ""


def _origins(texts: Sequence[str], origins: Sequence[str]) -> tuple[list[str], str]:
    """What is written behind each line that came from outside; where all did, what is said once of them all."""
    marks = [provenance.mark(by) if text.strip() else "" for text, by in zip(texts, origins, strict=False)]
    marks += [""] * (len(texts) - len(marks))
    found = {mark for mark, text in zip(marks, texts, strict=True) if text.strip()}
    if len(found) == 1 and "" not in found:
        return [""] * len(texts), found.pop()
    return marks, ""


def store(caller: Caller, given: Arguments) -> str:
    """Write a fact, or with a title a note, and say where it stands."""
    content, taken_out = _own_words(given["content"])
    content = content.strip()
    if not content:
        raise UsageError("There is nothing to store, but for what memory itself had answered.", "")
    _refuse_secrets("stored", content, given.get("title", ""), *given.get("entities", ()))
    scope = _scope(caller, given)
    if "title" in given:
        return _filed(caller, given, content, scope) + taken_out
    if len(content) > LONGEST_FACT:
        raise UsageError(f"A fact has {LONGEST_FACT:,} characters at most.", "Split it, or give a title for a note.")
    content = _one_fact(content)
    bullet = request.bullet(content, given.get("kind", "world"), given.get("entities", ()), scope=scope)
    signed = _signed(bullet, caller.agent)
    if stands := caller.desk.standing(signed, _known_to(scope)):
        return _stands(stands) + taken_out
    done = caller.desk.retain(signed)
    shown = frame.framed(render.clean(done.bullet))
    return _written(f"Stored at {done.path}#L{done.line}", done.warning, shown) + taken_out


def _scope(caller: Caller, given: Arguments) -> str:
    """For whom a text is stored, "" for everybody; raises UsageError for a scope that the agent does not see."""
    scope = retain.normal_scope(given.get("scope", GLOBAL))
    if scope not in caller.scopes:
        raise UsageError("You may not store for that scope.", f"You see {', '.join(caller.scopes)}.")
    return "" if scope == GLOBAL else scope


def _known_to(scope: str) -> tuple[str, ...]:
    """The scopes in which a text may stand that everybody it is stored for knows then."""
    return (GLOBAL, scope) if scope else (GLOBAL,)


def _stands(where: str) -> str:
    return f"That stands already at {_shown(where)}: nothing was written."


def _one_fact(text: str) -> str:
    """A fact without the mark of a list; raises UsageError for a list, and for a bullet as notes have them.

    Kind and names of such a bullet would be lost in its text.
    """
    bullets = [line for line in text.split("\n") if re.match(r"[ \t]*[-*+][ \t]", line)]
    if len(bullets) > 1:
        raise UsageError("This is a list.", "Store one fact a call, or give a title for a note.")
    if not bullets or not text.startswith(bullets[0]):
        return text
    if any(retain.facts(parse("x.md", f"## Retain\n{text}\n".encode()), None)):
        raise UsageError("This is a bullet with its keys.", "Give its text alone; `kind` and `entities` say the rest.")
    return text[1:].lstrip()


def _own_words(text: str) -> tuple[str, str]:
    """The text without what memory itself had answered, which it must not learn again, and what is said of that."""
    kept = frame.unframed(text)
    return kept, "" if kept == text else "\nWhat memory itself had answered was left out of it."


def _refuse_secrets(what: str, *texts: str) -> None:
    """Raise RefusedError for a text with a secret: whoever sent it must know, so that nothing is quietly changed."""
    from vault_memory.conversations.redact import redacted

    kinds = {kind for text in texts for kind in _kinds(redacted(text)) - _kinds(text)}
    if kinds:
        raise RefusedError(
            f"This holds what looks like a secret ({', '.join(sorted(kinds))}): nothing was {what}.",
            "Leave it out, and say where it is kept instead: notes are plain text.",
        )


def _kinds(text: str) -> set[str]:
    return set(re.findall(r"\[redacted: ([a-z-]+)\]", text))


def _signed(bullet: "Bullet", agent: str) -> "Bullet":
    """The fact with who it is from."""
    return replace(bullet, by=_by(bullet.text, agent))


def _by(text: str, agent: str) -> str:
    return provenance.of_stored(text, f"agent:{agent or 'unknown'}")


def _filed(caller: Caller, given: Arguments, content: str, scope: str) -> str:
    from vault_memory.writing.filing import Filing

    by = provenance.least((_by(given["title"], caller.agent), _by(content, caller.agent)))
    names = tuple(name.lstrip("@") for name in given.get("entities", ()))
    filing = Filing(given["title"], content, given.get("kind", "world"), names, by, scope)
    if stands := caller.desk.standing_note(filing, _known_to(scope)):
        return _stands(stands)
    done = caller.desk.file(filing)
    return _written(f"Stored as {_shown(done.path)}", done.warning)


def _written(what: str, warning: str, shown: str = "") -> str:
    state = f"{what}. {frame.defused(render.clean(warning))}" if warning else f"{what}; it can be found now."
    return f"{state}\n{shown}" if shown else state


def status(caller: Caller, given: Arguments) -> str:
    """How vault and index are, a line each."""
    from vault_memory.rendering.report import status_text

    text = status_text(caller.desk.status(caller.scopes))
    return frame.defused(f"{text}\nscopes   {', '.join(caller.scopes)}\nagent    {caller.agent or 'not named'}")


def edit(caller: Caller, given: Arguments) -> str:
    """Edit a core file, and say how it is undone."""
    from vault_memory.writing.amending import Amendment

    if not caller.desk.config().mcp_edit:
        raise RefusedError("memory_edit is switched off.", "The user can switch it on: [mcp] edit = true.")
    file = caller.desk.core_file(pathnames.inside(given["file"]) if "file" in given else "")
    text, taken_out = _own_words(given["text"])
    _refuse_secrets("changed", text)
    by = _by(text, caller.agent)
    if not provenance.is_trusted(by):
        raise RefusedError(
            "What came from outside does not go into core memory.",
            "Keep it with memory_store; the user may put it there.",
        )
    done = caller.desk.amend(Amendment(file, given["action"], text, given.get("old", ""), by), caller.scopes)
    undo = f"Edited {_shown(done.path)}. Undo: memory reflect --undo {done.run}"
    return (
        f"{undo}\n{frame.framed(render.clean(done.diff))}" + (f"\n{done.warning}" if done.warning else "") + taken_out
    )


def reflected(caller: Caller, document: Mapping[str, Any]) -> str:
    """What a reflect did, from its document, as far as the asker may see the pages; raises UsageError where it is none.

    How many pages and opinions it looked at is not told: among them are those of other scopes.
    """
    if "pages" not in document:
        error = document.get("error", {})
        raise UsageError(str(error.get("message", "reflect ended without a word")), str(error.get("next_step", "")))
    pages = _open_pages(caller, document["pages"])
    skipped = _open_pages(caller, document["skipped"])
    verb = "would be written" if document["dry_run"] else "written"
    named = ", ".join(pages[:20]) + (f" and {len(pages) - 20} more" if len(pages) > 20 else "")
    said = [f"{render.plural(len(pages), 'page')} {verb}{': ' + named if named else ''}"]
    if skipped:
        said.append(f"{len(skipped)} skipped, the first: {skipped[0]}")
    if document["run"] and pages:
        said.append(f"undo with: memory reflect --undo {document['run']}")
    return frame.defused(render.clean("\n".join(said)))


def _open_pages(caller: Caller, pages: Sequence[Mapping[str, Any]]) -> list[str]:
    """The paths of those pages that are in an open scope; one that is yet to be made is for everybody."""
    paths = [str(page["path"]) for page in pages]
    return [path for path in paths if caller.desk.is_open(path, caller.scopes)]


TOOLS: Mapping[str, Callable[[Caller, Arguments], str]] = {
    "memory_search": search, "memory_get": get, "memory_store": store, "memory_status": status, "memory_edit": edit,
}  # fmt: skip
"""`memory_reflect` is a process of its own: mcp_server.py runs it."""


# --- resources -------------------------------------------------------------------------------------------------------


def core(caller: Caller) -> str:
    """The core files, one after the other."""
    found = caller.desk.core_files()
    if not found:
        return "There is no core memory yet: `memory.md` in the vault is missing."
    return "\n\n".join(_excerpt(caller, path, None) for path in found)


def entity(caller: Caller, name: str) -> str:
    """What is known of an entity: page, opinions, facts."""
    if not name.strip() or len(name) > 200:
        raise UsageError("This is no entity's name.", "")
    found = caller.desk.entity(name, caller.scopes)
    if found is None:
        near = ", ".join(caller.desk.similar_names(name, caller.scopes))
        return f"Nothing is known of {_shown(name)}." + (f" Known are: {_shown(near)}" if near else "")
    return f"{frame.framed(render.entity_text(found))}\nscopes: {', '.join(caller.scopes)}"


def note(caller: Caller, path: str) -> str:
    """A whole note, 10,000 characters of it at most."""
    return _excerpt(caller, pathnames.inside(path), None)


def resource(caller: Caller, uri: str) -> str:
    """What a URI of this server names; raises UsageError for one that names nothing here."""
    if uri == mcp_tools.CORE_URI:
        return core(caller)
    for start, read in ((mcp_tools.ENTITY_URI, entity), (mcp_tools.NOTE_URI, note)):
        if uri.startswith(start):
            return read(caller, _decoded(uri.removeprefix(start)))
    raise UsageError("There is no such resource.", "memory://core, memory://entity/NAME and memory://note/PATH are.")


def _decoded(text: str) -> str:
    from urllib.parse import unquote_to_bytes

    try:
        return unquote_to_bytes(text).decode("utf-8")
    except UnicodeDecodeError as error:
        raise RefusedError("What is percent-encoded there is not UTF-8.", "Encode the name as UTF-8.") from error


def _shown(text: str) -> str:
    return frame.defused(render.clean(text))
