"""Owns what the tools of the MCP server answer: short text, notes framed as data, what was left out told.

What is read by path or name is mcp_reading.py's. It knows the vault (desk.py) and nothing of the protocol. What is
wrong is raised as an error of errors.py.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vault_memory.agents.mcp_reading import Arguments, Caller, get, shown
from vault_memory.agents.mcp_tools import LONGEST_TEXT
from vault_memory.errors import RefusedError, UsageError
from vault_memory.markdown import facts, provenance
from vault_memory.markdown.parse import parse
from vault_memory.rendering.common import clean, plural, sentence
from vault_memory.search.answer import SESSION
from vault_memory.store.candidate import FACTS
from vault_memory.text import frame, terms
from vault_memory.text.scope_syntax import GLOBAL, normal_scope
from vault_memory.vault import pathnames
from vault_memory.write.retain import parse_bullet

if TYPE_CHECKING:
    from vault_memory.write.retain import Bullet

FRAME_TOKENS = 25
"""What the frame costs: taken off the budget, for everything that is handed over counts."""

NOTE_TOKENS = 100
"""What is kept for the line below the frame, a quarter of the budget at the most; passages may leave it more."""

TIGHT = 200
"""Below so many tokens they are counted, and not bounded by bytes: little would be left. That loads tiktoken once."""

CUT = "cut; memory_get shows the rest"

CUT_SHARE = 12
"""This part of the budget is kept for saying so."""

LONGEST_WORD = 40
"""What is cut is cut between words, unless one is longer than that."""

_PLACE, _WORD = re.compile(r"[Lm]\d+ "), re.compile(r"[^\W_]")
_FIELDS = re.compile(
    r"(?:[\[(][\w -]{1,40}::[^\[\]()\n]*[\])][ \t]*(?=\S)|[\w -]{1,40}::[^,;\n]*[,;][ \t]*(?=[\w -]{1,40}::))+"
)
_ABOUT = re.compile(
    r"(?:@(?:\[\[[^\[\]\n]*\]\]|[\w-]+)[ \t]*)+:[ \t]*|(?:\*\*|__)[^*_\n]{1,40}(?:\*\*|__):?[ \t]*|[\w -]{1,40}::[ \t]*"
)
"""What stands before the words of a line: fields; then whom a fact is about, the name of an entry or a last field."""

MOST_UNASKED, MOST_UNASKED_TOKENS = 50, 10_000
"""What an agent gets at most that names no limit: settings may come with a vault, and must not flood it."""

MOST_UNKNOWN = 8
"""So many words of a question are named that nothing holds."""

MOST_NAMED = 20
"""So many pages that a reflect wrote are named."""

LONGEST_DIFF = 3000
"""The characters of an edit's difference that are answered: who sent it knows the text."""


def search(caller: Caller, given: Arguments) -> str:
    """Passages for a question, and in a line below them what is to be known of the answer."""
    if not given["query"].strip():
        raise UsageError("`query` says nothing.", "Ask in plain words.")
    scopes, budget = caller.scopes, _budget(caller, given)
    options = _options(caller, given, scopes)
    found = caller.desk.recall(options)
    if found is None:
        return (
            "There is no index of this vault yet, nothing was searched. It is being built now: ask again in a moment."
        )
    said = [_clause(each) for each in found["said"]]
    said += [*(["index up to date"] if found["index"]["fresh"] else []), f"scopes: {', '.join(scopes)}"]
    # What is cut off where there is no room for all of it: how much there is besides.
    notes = [*_read_as(found["understood"]), *sorted(said, key=lambda each: _LEFT_OUT.match(each) is not None)]
    if budget < TIGHT or not found["results"]:
        return _tight(caller, options, budget, found, notes)
    text = frame.framed(found["text"]) + "\n"
    room = budget - FRAME_TOKENS - found["rendered_tokens"]
    room -= _bytes(frame.defused(found["text"])) - _bytes(found["text"])
    return text + _within(room, notes, _bytes)


_LEFT_OUT = re.compile(r"left out: |(?:at least )?[\d,]+ more ")


def _clause(note: str) -> str:
    """A note for a person as a part of a line for an agent."""
    note = note.rstrip(".:").replace("use --k to see more", "max_results shows more")
    return note[:1].lower() + note[1:] if note[1:2].islower() else note


def _read_as(understood: Mapping[str, Any]) -> list[str]:
    """What of a question decided without being seen: words that nothing holds, a time that was meant or not."""
    unknown, window = understood["unknown"][:MOST_UNKNOWN], understood["window"]
    said = [f"not found anywhere: {', '.join(word[:LONGEST_WORD] for word in unknown)}"] if unknown else []
    return said + ([f"days asked for: {' to '.join(dict.fromkeys(window))}"] if window else [])


def _tight(caller: Caller, options: Arguments, budget: int, found: Mapping[str, Any], notes: Sequence[str]) -> str:
    """An answer in few tokens, which are counted: where the best passage does not fit, as much of it as does."""
    from vault_memory.text.tokens import count

    text = frame.framed(found["text"]) if found["results"] else ""
    if any(each["what"] == "budget" for each in found["degraded"]):
        best = caller.desk.recall({**options, "k": 1, "budget": None}) or found
        cut = _cut(best, budget - budget // CUT_SHARE, count) if best["results"] else ""
        if cut:
            said = {_clause(sentence(each["why"])) for each in found["degraded"] if each["what"] == "budget"}
            text, notes = cut, [CUT, *(each for each in notes if each not in said)]
    text += "\n" if text else ""
    return text + _within(budget - count(text) - 1, notes, count)


def _cut(best: Mapping[str, Any], most: int, count: Callable[[str], int]) -> str:
    """The beginning of a passage below its note's name, framed in `most` tokens; "" where no word of it fits.

    Its keys are left out, and where nothing else would fit, whom or what it is about.
    """
    name, _, passage = best["text"].partition("\n")
    result = best["results"][0]
    place = _PLACE.match(passage)
    number = place[0] if place else ""
    text = terms.body(passage.removeprefix(number), result["kind"] in FACTS)
    fields = _FIELDS.match(text)
    text = text[fields.end() :] if fields else text
    about = _ABOUT.match(text)
    head, mark = about[0] if about else "", provenance.mark(result["by"])
    found = _beginning((f"{name}\n{number}", head, text.removeprefix(head), mark), most, count)
    return found or (_beginning((f"{name}\n{number}", "", text.removeprefix(head), mark), most, count) if head else "")


def _beginning(parts: tuple[str, str, str, str], most: int, count: Callable[[str], int]) -> str:
    """As much of the third part as fits between the others, framed; "" where that is no word."""
    before, head, passage, mark = parts

    def made(length: int) -> str:
        return frame.framed(f"{before}{head}{passage[:length].rstrip()}{'…' * (length < len(passage))}{mark}")

    length = bisect_right(range(1, len(passage) + 1), most, key=lambda size: count(made(size)))
    if length < len(passage):
        length = max(passage.rfind(" ", 0, length + 1), length - LONGEST_WORD)
    # More characters may by chance be fewer tokens.
    while length > 0 and count(made(length)) > most:
        length -= 1
    return made(length) if _WORD.search(passage, 0, max(length, 0)) else ""


def _within(room: int, notes: Sequence[str], size: Callable[[str], int]) -> str:
    """What is to be known of an answer: as much, from its beginning, as so many tokens hold."""
    text = frame.defused("; ".join(notes))
    if size(text) <= room:
        return text
    words = text.split(" ")
    kept = bisect_right(range(1, len(words)), room, key=lambda number: size(" ".join(words[:number]) + " …"))
    return " ".join(words[:kept]) + " …" if kept else "…" * (size("…") <= room)


def _bytes(text: str) -> int:
    """The most tokens that a text can be: none is less than a byte."""
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


def store(caller: Caller, given: Arguments) -> str:
    """Write a fact, or with a title a note, and say where it stands."""
    content, taken_out = _own_words(given["content"])
    content = content.strip()
    if not content:
        if taken_out:
            raise UsageError("All of it is what memory itself had answered: nothing is stored.", "")
        raise UsageError("`content` says nothing.", "Give the fact in a sentence.")
    _refuse_secrets("stored", content, given.get("title", ""), *given.get("entities", ()))
    scope = _scope(caller, given)
    if "title" in given:
        return _filed(caller, given, content, scope) + taken_out
    if len(content) > LONGEST_TEXT:
        raise UsageError(f"A fact has {LONGEST_TEXT:,} characters at most.", "Split it, or give a title for a note.")
    content = _one_fact(content)
    bullet = parse_bullet(content, given.get("kind", "world"), given.get("entities", ()), scope=scope)
    signed = _signed(bullet, caller.agent)
    done = caller.desk.retain(signed, _known_to(scope))
    if isinstance(done, str):
        return _stands(done) + taken_out
    warning = done.warning or _unseen(caller, done.path, (done.line, done.line))
    return _written("Stored", f"{done.path}#L{done.line}\n{done.bullet}", warning) + taken_out


def _scope(caller: Caller, given: Arguments) -> str:
    """For whom a text is stored; raises UsageError for a scope that the agent does not see."""
    scope = normal_scope(given.get("scope", GLOBAL))
    if scope not in caller.scopes:
        raise UsageError("You may not store for that scope.", f"You see {', '.join(caller.scopes)}.")
    return scope


def _known_to(scope: str) -> tuple[str, ...]:
    """The scopes in which a text may stand that everybody it is stored for knows then."""
    return (GLOBAL,) if scope == GLOBAL else (GLOBAL, scope)


def _stands(where: str) -> str:
    return f"That stands already, and nothing was written:\n{frame.framed(clean(where))}"


def _one_fact(text: str) -> str:
    """A fact without the mark of a list; raises UsageError for a list, and for a bullet as notes have them.

    Kind and names of such a bullet would be lost in its text.
    """
    bullets = [line for line in text.split("\n") if re.match(r"[ \t]*[-*+][ \t]", line)]
    if len(bullets) > 1:
        raise UsageError("This is a list.", "Store one fact a call, or give a title for a note.")
    if not bullets or not text.startswith(bullets[0]):
        return text
    if any(facts.facts(parse("x.md", f"## Retain\n{text}\n".encode()), None)):
        raise UsageError("This is a bullet with its keys.", "Give its text alone; `kind` and `entities` say the rest.")
    return text[1:].lstrip()


def _own_words(text: str) -> tuple[str, str]:
    """The text without what memory itself had answered, which it must not learn again, and what is said of that."""
    kept = frame.stripped(text)
    return kept, "" if kept == text else "\nWhat memory itself had answered was left out of it."


def _refuse_secrets(what: str, *texts: str) -> None:
    """Raise RefusedError for a text with a secret: whoever sent it must know, so that nothing is quietly changed."""
    from vault_memory.sessions.redact import kinds

    if found := kinds(*texts):
        raise RefusedError(
            f"This holds what looks like a secret ({', '.join(sorted(found))}): nothing was {what}.",
            "Leave it out, and say where it is kept instead: notes are plain text.",
        )


def _signed(bullet: "Bullet", agent: str) -> "Bullet":
    """The fact with who it is from."""
    return replace(bullet, by=_by(bullet.text, agent))


def _by(text: str, agent: str) -> str:
    return provenance.of_stored(text, f"agent:{agent or 'unknown'}")


def _filed(caller: Caller, given: Arguments, content: str, scope: str) -> str:
    from vault_memory.write.new_note import NewNote

    by = provenance.least((_by(given["title"], caller.agent), _by(content, caller.agent)))
    names = tuple(name.lstrip("@") for name in given.get("entities", ()))
    filing = NewNote(given["title"], content, given.get("kind", "world"), names, by, scope)
    done = caller.desk.file(filing, _known_to(scope))
    if isinstance(done, str):
        return _stands(done)
    return _written("Stored as a note", done.path, done.warning or _unseen(caller, done.path, None))


def _unseen(caller: Caller, path: str, lines: tuple[int, int] | None) -> str:
    """What is to be said where an agent does not see what it wrote; "" where it does."""
    hidden = caller.desk.hidden(path, lines, caller.scopes)
    return f"You do not see line {hidden} of it: its scope is none of yours." if hidden else ""


def _written(what: str, where: str, warning: str) -> str:
    """That a text was stored and where: the path is framed, for the vault's own settings may name its folder."""
    state = f"{what}. {shown(warning)}" if warning else f"{what}; it can be found now."
    return f"{state}\n{frame.framed(clean(where))}"


def status(caller: Caller, given: Arguments) -> str:
    """How vault and index are, a line each."""
    from vault_memory.rendering.status import status_text

    text = status_text(caller.desk.status(caller.scopes))
    return frame.defused(f"{text}\nscopes   {', '.join(caller.scopes)}\nagent    {caller.agent or 'not named'}")


def edit(caller: Caller, given: Arguments) -> str:
    """Edit a core file, and say how it is undone."""
    from vault_memory.write.edit import EditRequest

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
    done = caller.desk.amend(EditRequest(file, given["action"], text, given.get("old", ""), by), caller.scopes)
    cut = f"{done.diff[:LONGEST_DIFF]}…" if len(done.diff) > LONGEST_DIFF else done.diff
    said = f"Edited. Undo: memory reflect --undo {done.run}\n{frame.framed(clean(cut))}"
    return said + (f"\n{shown(done.warning)}" if done.warning else "") + taken_out


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
    said = f"{plural(len(pages), 'page')} {verb}, {len(skipped):,} skipped"
    if document["run"] and pages:
        said += f"; undo with: memory reflect --undo {document['run']}"
    named = [*pages[:MOST_NAMED], *(f"skipped: {path}" for path in skipped[:1])]
    more = f"\n(and {len(pages) - MOST_NAMED:,} more)" if len(pages) > MOST_NAMED else ""
    return f"{said}\n{frame.framed(clean(chr(10).join(named)))}{more}" if named else said


def _open_pages(caller: Caller, pages: Sequence[Mapping[str, Any]]) -> list[str]:
    """The paths of those pages that are in an open scope; one that is yet to be made is for everybody."""
    paths = [str(page["path"]) for page in pages]
    return [path for path in paths if caller.desk.is_open(path, caller.scopes)]


TOOLS: Mapping[str, Callable[[Caller, Arguments], str]] = {
    "memory_search": search, "memory_get": get, "memory_store": store, "memory_status": status, "memory_edit": edit,
}  # fmt: skip
"""`memory_reflect` is a process of its own: mcp_server.py runs it."""
