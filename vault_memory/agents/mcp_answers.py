"""The answers of the MCP server's tools and resources: short text, notes framed as data, omissions reported.

A path or name from the vault also goes inside the frame, because it may be worded like an instruction.
"""

import json
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

from vault_memory.agents import mcp_tools
from vault_memory.agents.mcp_tools import LONGEST_TEXT
from vault_memory.agents.vault_session import VaultSession
from vault_memory.config import Config
from vault_memory.context.prompt_sheet import LEGEND
from vault_memory.errors import BusyError, ConflictError, RefusedError, UsageError, VaultMemoryError, error_from
from vault_memory.federation import SESSIONS_OFF
from vault_memory.markdown import facts, provenance
from vault_memory.markdown.parse import parse
from vault_memory.rendering.common import place
from vault_memory.rendering.notes import entity_text, past_the_end
from vault_memory.rendering.recall import left_out_notes
from vault_memory.search.answer import SESSION
from vault_memory.search.get import Excerpt, parse_span
from vault_memory.startup import own_command
from vault_memory.text import agent_frame
from vault_memory.text.output import clean, plural
from vault_memory.text.scope_syntax import GLOBAL, normal_scope
from vault_memory.vault.vault import inside
from vault_memory.write.comparison import SAME, Comparison
from vault_memory.write.retain import parse_bullet

Arguments = Mapping[str, Any]
Span = tuple[int, int | None]

MAX_NAMESAKES, MAX_FOLDER_ENTRIES = 5, 40

FRAME_TOKENS = 25
"""The cost of the frame, deducted from the budget, since everything in the answer counts."""

NOTE_TOKENS = 100
"""Reserved for the line below the frame, at most a quarter of the budget; it also gets what passages leave unused."""

CUT_NOTICE, CUT_NOTICE_TOKENS = "cut; memory_get shows the rest", 12

DEFAULT_RESULTS_LIMIT, DEFAULT_TOKENS_LIMIT = 50, 10_000
"""The maximum for an agent that sets no limit: settings may come with a vault, and must not flood the agent."""

LEFT_OUT_OPTIONS = {"over_k": "max_results", "over_budget": "budget"}
"""The argument to raise for each reason why results were left out."""

MAX_PAGES = 20
LONGEST_DIFF = 3000
"""How many characters of an edit's diff are shown: the agent that sent it knows the text."""

_MESSAGES = re.compile(r"#m(\d{1,9})(?:-m?\d{1,9})?$")


class Caller(NamedTuple):
    """The vault and the agent that calls, by the name its client gave ("" for none).

    `structured` collects the structured content that accompanies the text.
    """

    vault: VaultSession
    agent: str
    structured: dict[str, Any] | None = None

    def structure(self, **values: Any) -> None:  # noqa: ANN401 - JSON can be anything
        """Add values to the structured content, with the frame's note.

        Claude Code shows its model this instead of the text, so it must lack nothing that the text says.
        """
        if self.structured is not None:
            self.structured.update({agent_frame.NAME: agent_frame.NOTE} | values)

    @property
    def scopes(self) -> tuple[str, ...]:
        return self.vault.scopes(self.agent)


def search(caller: Caller, given: Arguments) -> str:
    """Return the passages for a question, followed by a line of remarks on the answer."""
    filters = ("since", "until", "entities", "kinds")
    if not given["query"].strip() and not any(map(given.get, filters)):
        raise UsageError("`query` says nothing.", "Ask in plain words.")
    config, scopes = caller.vault.config(), caller.scopes
    budget = int(given.get("budget", min(config.recall_budget, DEFAULT_TOKENS_LIMIT)))
    options = _options(config, given, scopes, budget)
    found = caller.vault.recall(options)
    if found is None:
        return "This vault has no index yet, so nothing was searched. It is being built now: ask again in a moment."
    text = agent_frame.framed(found["text"]) + "\n" if found["text"] else ""
    if any(each["what"] == "budget" for each in found["degraded"]):
        best = caller.vault.recall({**options, "k": 1, "budget": None}) or found
        if best["text"]:
            cut = f"{_cut_best(best['text'], budget - CUT_NOTICE_TOKENS)}\n{CUT_NOTICE}"
            caller.structure(known=best["known"], passages=[], text=cut)
            return cut
    room = budget - FRAME_TOKENS - found["rendered_tokens"]
    room -= _most_tokens(agent_frame.defused(found["text"])) - _most_tokens(found["text"])
    before, notes = agent_frame.defused(" ".join(found["before"])), _remarks(found, scopes)
    if _most_tokens(before) > room // 2:
        before, notes = "", [_clause(before), *notes]
    after = _fit_remarks(max(room - _most_tokens(before), 0), notes)
    caller.structure(known=found["known"], before=before, passages=list(map(_passage, found["results"])), notes=after)
    return f"{before}\n{text}{after}" if before else text + after


def _passage(result: Mapping[str, Any]) -> dict[str, str]:
    """Return a passage as structured content, under the names of `recall@1`."""
    names = ["source", "content", *(["superseded_by"] if result["superseded_by"] else [])]
    names += [] if result["trusted"] else ["by"]
    return {name: inline(str(result[name])) for name in names}


def _remarks(found: Mapping[str, Any], scopes: Sequence[str]) -> list[str]:
    """Return the remarks on an answer, from how the question was understood to what the kind letters mean."""
    window = found["understood"]["window"]
    notes = [f"days asked for: {' to '.join(dict.fromkeys(window))}"] if window else []
    notes += map(_clause, found["notes"])
    notes += ["index up to date"] if found["index"]["fresh"] else []
    notes += [f"scopes: {', '.join(scopes)}"]
    notes += map(_clause, left_out_notes(found["omitted"], LEFT_OUT_OPTIONS))
    return [*notes, *([LEGEND] if any(each["kind"] in facts.KINDS.values() for each in found["results"]) else [])]


def _clause(sentence: str) -> str:
    words = sentence.rstrip(".:")
    return words[:1].lower() + words[1:] if words[1:2].islower() else words


def _cut_best(text: str, most: int) -> str:
    """Return the beginning of the best passage, framed, in `most` tokens (counted: the bound would leave nothing)."""
    from vault_memory.text.tokens import count

    kept = text
    while len(kept) > 1 and count(agent_frame.framed(kept)) > most:
        kept = kept[: len(kept) * 4 // 5].rstrip() + "…"
    return agent_frame.framed(kept)


def _fit_remarks(room: int, notes: Sequence[str]) -> str:
    """Join the remarks, cut to what is certain to fit into `room` tokens."""
    text = agent_frame.defused("; ".join(notes))
    if _most_tokens(text) <= room:
        return text
    return text.encode()[: max(room - 4, 0)].decode("utf-8", "ignore").rpartition(" ")[0] + " …" if room > 4 else ""


def _most_tokens(text: str) -> int:
    """Return an upper bound on the tokens of a text: a token is at least one byte."""
    return len(text.encode("utf-8", "replace"))


def _options(config: Config, given: Arguments, scopes: Sequence[str], budget: int) -> dict[str, Any]:
    for_passages = budget - FRAME_TOKENS - min(NOTE_TOKENS, budget // 4)
    # On the command line either limit alone leaves the other unlimited; here the budget always applies.
    k = given.get("max_results", None if "budget" in given else min(config.recall_k, DEFAULT_RESULTS_LIMIT))
    kinds = given.get("kinds", [])
    source = "notes" if SESSION not in kinds else "sessions" if len(kinds) == 1 else "all"
    return {
        "query": given["query"], "source": source, "k": k, "budget": max(for_passages, 1),
        "since": given.get("since"), "until": given.get("until"), "entity": given.get("entities", []),
        "kind": kinds, "scope": list(scopes), "self_contained": True,
    }  # fmt: skip


def store(caller: Caller, given: Arguments) -> str:
    """Store a fact, or a note if there is a title, and report where."""
    content, taken_out = _drop_own_answers(given["content"])
    content = content.strip()
    if not content:
        why = "only repeats what memory itself answered: nothing was stored" if taken_out else "says nothing"
        raise UsageError(f"`content` {why}.", "Give the fact in a sentence.")
    _refuse_secrets("stored", content, given.get("title", ""), *given.get("entities", ()))
    scope = normal_scope(given.get("scope", GLOBAL))
    if scope not in caller.scopes:
        raise UsageError("You cannot store to that scope.", f"You see {', '.join(caller.scopes)}.")
    text = (_store_note if "title" in given else _store_fact)(caller, given, content, scope) + taken_out
    caller.structure(text=text)
    return text


def _store_fact(caller: Caller, given: Arguments, content: str, scope: str) -> str:
    if len(content) > LONGEST_TEXT:
        raise UsageError(f"A fact has {LONGEST_TEXT:,} characters at most.", "Split it, or give a title for a note.")
    bullet = parse_bullet(_check_one_fact(content), given.get("kind", "world"), given.get("entities", ()), scope=scope)
    bullet = replace(bullet, by=_find_origin(bullet.text, caller.agent))
    is_wanted = bool(given.get("even_if_similar"))
    done = caller.vault.memory().retain_once(bullet, _scopes_beside(scope), even_if_similar=is_wanted)
    if isinstance(done, Comparison):
        assert done.known, "a fact resembles another one"
        if done.decision == SAME:
            return _report_known(caller, done.known.source)
        caller.structure(stored=False, similar=inline(done.known.source))
        alike = agent_frame.framed(clean(f"{done.known.source}\n{done.known.text}"))
        again = "If yours is newer or says something else, call again with even_if_similar."
        return f"The notes say nearly this, and nothing was written:\n{alike}\n{again}"
    return _confirm(caller, "Stored", (done.source, done.bullet, done.resembles), done.warning)


def _store_note(caller: Caller, given: Arguments, content: str, scope: str) -> str:
    from vault_memory.write.new_note import NewNote

    by = provenance.least_trusted((_find_origin(given["title"], caller.agent), _find_origin(content, caller.agent)))
    names = tuple(name.lstrip("@") for name in given.get("entities", ()))
    kind = str(given.get("kind", "world"))
    filing = NewNote(given["title"], content, facts.KINDS.get(kind) or kind, names, by, scope)
    done = caller.vault.memory().create_note(filing, _scopes_beside(scope))
    if isinstance(done, str):
        return _report_known(caller, done)
    return _confirm(caller, "Stored as a note", (done.path,), done.warning)


def _scopes_beside(scope: str) -> tuple[str, ...]:
    """Return the scopes in which an existing text is visible to everybody the new one is stored for."""
    return (GLOBAL,) if scope == GLOBAL else (GLOBAL, scope)


def _report_known(caller: Caller, where: str) -> str:
    caller.structure(stored=False, same=inline(where))
    return f"The notes already say this; nothing was written:\n{agent_frame.framed(clean(where))}"


def _check_one_fact(text: str) -> str:
    """Return a fact without its list marker; raises UsageError for a list, and for a bullet in the syntax of notes.

    The kind and names of such a bullet would be lost in its text.
    """
    bullets = [line for line in text.split("\n") if re.match(r"[ \t]*[-*+][ \t]", line)]
    if len(bullets) > 1:
        raise UsageError("This is a list.", "Store one fact a call, or give a title for a note.")
    if not bullets or not text.startswith(bullets[0]):
        return text
    if any(facts.facts(parse("x.md", f"## Retain\n{text}\n".encode()), None)):
        step = "Give its text alone; `kind` and `entities` say the rest."
        raise UsageError("This is a whole bullet, with its keys.", step)
    return text[1:].lstrip()


def _drop_own_answers(text: str) -> tuple[str, str]:
    """Return the text without memory's own answers, which must not be stored again, and a sentence that says so."""
    kept = agent_frame.stripped(text)
    return kept, "" if kept == text else "\nWhat memory itself had answered was left out."


def _refuse_secrets(what: str, *texts: str) -> None:
    """Raise RefusedError for a text with a secret; removing it silently would leave the caller unaware."""
    from vault_memory.sessions.redact import kinds

    if found := kinds(*texts):
        why = f"This holds what looks like a secret ({', '.join(sorted(found))}): nothing was {what}."
        raise RefusedError(why, "Leave it out, and say where it is kept instead: notes are plain text.")


def _find_origin(text: str, agent: str) -> str:
    return provenance.stored_origin(text, f"agent:{agent or 'unknown'}")


def _confirm(caller: Caller, what: str, lines: Sequence[str], warning: str) -> str:
    """Confirm that a text was stored; the first of these lines says where.

    The lines are framed, because the vault's own settings may choose the folder's name.
    """
    caller.structure(stored=True, source=inline(lines[0]))
    state = f"{what}. {inline(warning)}" if warning else f"{what}; it can be found now."
    return f"{state}\n{agent_frame.framed(clean(chr(10).join(filter(None, lines))))}"


def status(caller: Caller, given: Arguments) -> str:
    from vault_memory.rendering.status import status_text

    text = status_text(caller.vault.status(caller.scopes))
    return agent_frame.defused(f"{text}\nscopes   {', '.join(caller.scopes)}\nagent    {caller.agent or 'not named'}")


def edit(caller: Caller, given: Arguments) -> str:
    """Edit a core file, and say how to undo it."""
    from vault_memory.context import note_pieces
    from vault_memory.write.edit import EditRequest

    if not caller.vault.config().mcp_edit:
        raise RefusedError("memory_edit is switched off.", "The user can switch it on: [mcp] edit = true.")
    allowed = list(note_pieces.core_names(caller.vault.memory().vault))
    file = inside(given["file"]) if "file" in given else allowed[0]
    if file not in allowed:
        # The core files are not listed: the settings that name them may come with the vault and are untrusted text.
        raise ConflictError(f"{file} is not a core file.", "Leave `file` out for the first; memory://core shows them.")
    text, taken_out = _drop_own_answers(given["text"])
    _refuse_secrets("changed", text)
    by = _find_origin(text, caller.agent)
    if not provenance.is_trusted(by):
        step = "Keep it with memory_store; the user may put it there."
        raise RefusedError("What came from outside does not go into core memory.", step)
    wanted = EditRequest(file, given["action"], text, given.get("old", ""), by)
    done = caller.vault.memory().edit(wanted, caller.scopes)
    cut = f"{done.diff[:LONGEST_DIFF]}…" if len(done.diff) > LONGEST_DIFF else done.diff
    warning = f"\n{inline(done.warning)}" if done.warning else ""
    return f"Edited. Undo: memory undo {done.run}\n{agent_frame.framed(clean(cut))}{warning}{taken_out}"


def reflect(caller: Caller, given: Arguments) -> str:
    """Reflect, and report on the pages the caller may see; raises the error it ended with.

    It runs in a separate process, since it needs much memory and must not slow answers; the process goes on if the call
    is cancelled, as what it writes can be undone.
    """
    options = ["--dry-run"] if given.get("dry_run") else []
    command = own_command(caller.vault.config().vault, "--json", "reflect", *options)
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    document: dict[str, Any] = json.loads(done.stdout or b"{}")
    if "pages" not in document:
        raise error_from(document.get("error", {}), "reflect ended without saying why")
    pages = _open_pages(caller, document["pages"])
    skipped = _open_pages(caller, document["skipped"])
    verb = "would be written" if document["dry_run"] else "written"
    said = f"{plural(len(pages), 'page')} {verb}, {len(skipped):,} skipped"
    if document["run"] and pages:
        said += f"; undo with: memory undo {document['run']}"
    named = [*pages[:MAX_PAGES], *(f"skipped: {path}" for path in skipped[:1])]
    more = f"\n(and {len(pages) - MAX_PAGES:,} more)" if len(pages) > MAX_PAGES else ""
    return f"{said}\n{agent_frame.framed(clean(chr(10).join(named)))}{more}" if named else said


def _open_pages(caller: Caller, pages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the paths of the pages in an open scope; a page that does not exist yet counts as open."""
    paths = [str(page["path"]) for page in pages]
    vault = caller.vault.memory().vault
    return [path for path in paths if not vault.locate(path) or not _read(caller, path).not_found]


# --- reading: notes, folders, resources ------------------------------------------------------------------------------


def get(caller: Caller, given: Arguments) -> str:
    """Return numbered lines of a note, or the contents of a folder."""
    named, lines = parse_span(given["path"], None)
    path = inside(named)
    if not path or (named.endswith("/") and not path.casefold().endswith(".md")):
        why = _explain_unread(caller, path)
        return _list_folder(caller, path) or f"There is no folder {inline(named)} with notes in it {why}."
    if "start_line" in given or "line_count" in given:
        cited = _MESSAGES.search(path) if path.startswith("sessions/") else None
        first = given.get("start_line", lines[0] if lines else int(cited[1]) if cited else 1)
        count = given.get("line_count")
        lines = first, first + count - 1 if count else None
    excerpt, called = _read(caller, path, lines), list[str]()
    if excerpt.not_found:
        with suppress(BusyError):  # the index is still being built, so names cannot be looked up
            excerpt, called = caller.vault.indexed().open_note(path, lines, scopes=caller.scopes)
    if not excerpt.not_found:
        text = render_excerpt(excerpt)
        values = {name: getattr(excerpt, name) for name in ("start_line", "end_line", "lines", "truncated")}
        caller.structure(path=inline(excerpt.path), **values, text=text)
        return text
    if folder := _list_folder(caller, path):
        return folder
    called = [each for each in called if each != path]  # the page of proposals is there, but not for agents
    listed = "\n".join(map(place, called[:MAX_NAMESAKES]))
    said = f"There is no note {inline(path)} {_explain_unread(caller, path)}."
    return f"{said} Notes with that name:\n{agent_frame.framed(listed)}" if called else said


def _read(caller: Caller, path: str, lines: Span | None = None) -> Excerpt:
    """Read lines of a note, with those outside the open scopes blank; raises as `Memory.get` does."""
    return caller.vault.memory().get(path, lines, scopes=caller.scopes)


def _explain_unread(caller: Caller, path: str) -> str:
    is_off = f"{path}/".startswith("sessions/") and not caller.vault.config().sessions_tools
    return f"(nothing was read{': ' + SESSIONS_OFF if is_off else ''})"


def _list_folder(caller: Caller, path: str) -> str:
    """List what the caller may see of a folder: notes, or else sessions (newest first); "" if there is nothing."""
    below, sessions = list[str](), list[str]()
    with suppress(VaultMemoryError):
        below = caller.vault.indexed().notes_below(path, caller.scopes)
    with suppress(VaultMemoryError):
        sessions = [] if below else list(map(str, caller.vault.memory().sessions_below(path, caller.scopes)))
    if not (below or sessions):
        return ""
    start = len(path) + 1 if path else 0
    folders = Counter(note[: note.index("/", start) + 1] for note in below if "/" in note[start:])
    entries = [f"{name} ({plural(count, 'note')})" for name, count in folders.items()]
    entries += [*(note for note in below if "/" not in note[start:]), *sessions]
    what = f"{inline(path)} is a folder" if path else "This is the vault's own folder"
    noun = "note" if below else "session"
    more = f", the first {MAX_FOLDER_ENTRIES} of {len(entries):,} entries" if len(entries) > MAX_FOLDER_ENTRIES else ""
    said = f"{what} of {plural(len(below or sessions), noun)}{more}. Name a {noun} to read it; memory_search finds"
    return f"{said} what they say.\n{agent_frame.framed(chr(10).join(map(place, entries[:MAX_FOLDER_ENTRIES])))}"


def render_excerpt(excerpt: Excerpt) -> str:
    """Render the lines of an excerpt under the note's path, followed by remarks."""
    if excerpt.end_line < excerpt.start_line:
        return agent_frame.defused(past_the_end(excerpt))
    is_session = excerpt.path.startswith("sessions/")
    texts, letter = excerpt.text.split("\n"), "m" if is_session else "L"
    marks, of_all = _mark_origins(texts, excerpt.origins)
    last = f"-{letter}{excerpt.end_line}" if excerpt.end_line > excerpt.start_line else ""
    numbered = (
        f"{letter}{number} {clean(text)}{mark}" if text.strip() else ""
        for number, (text, mark) in enumerate(zip(texts, marks, strict=True), excerpt.start_line)
    )
    # A line hidden from the caller is blank and must be indistinguishable from an empty one (search/get.py).
    body = [
        f"## {place(excerpt.path)}#{letter}{excerpt.start_line}{last}",
        *(line for line, _ in groupby(numbered)),
    ]
    said = ["as the session says now" if is_session else "as the file is now"]
    if excerpt.missing_section:
        said.append(f"it has no heading or block {inline(excerpt.missing_section)}, so this is from the whole note")
    said += [f"all of it{of_all}: not the user's own words"] if of_all else []
    if excerpt.line_cut:
        said.append(f"{letter}{excerpt.end_line} is longer than can be shown; memory_search finds what else it says")
    if excerpt.end_line < excerpt.lines and excerpt.truncated:
        said.append(f"cut here; go on with start_line {excerpt.end_line + 1}")
    return f"{agent_frame.framed(chr(10).join(body))}\n{'; '.join(said)}"


def _mark_origins(texts: Sequence[str], origins: Sequence[str]) -> tuple[list[str], str]:
    """Return a suffix for each line that came from outside; if all share one, return that once instead."""
    marks = [provenance.origin_suffix(by) if text.strip() else "" for text, by in zip(texts, origins, strict=False)]
    marks += [""] * (len(texts) - len(marks))
    found = {mark for mark, text in zip(marks, texts, strict=True) if text.strip()}
    if len(found) == 1 and "" not in found:
        return [""] * len(texts), found.pop()
    return marks, ""


# --- resources -------------------------------------------------------------------------------------------------------


def core(caller: Caller) -> str:
    """Return the core files, one after the other."""
    from vault_memory.context import note_pieces

    vault = caller.vault.memory().vault
    paths: dict[str, None] = {}
    for name in note_pieces.core_names(vault):
        with suppress(RefusedError):  # a file that leads out of the vault must not hide the others
            paths |= dict.fromkeys(filter(None, [vault.locate(name)]))
    excerpts = [_read(caller, path) for path in paths]
    # A file that the caller may not see is treated like one that does not exist.
    found = [render_excerpt(each) for each in excerpts if not each.not_found and each.end_line >= each.start_line]
    return "\n\n".join(found) or "There is no core memory yet."


def entity(caller: Caller, name: str) -> str:
    """Return what is known of an entity: page, opinions, facts."""
    if not name.strip():
        raise UsageError("This is not an entity's name.", "")
    memory = caller.vault.indexed()
    found = memory.entity(name, scopes=caller.scopes)
    if found is None:
        near = "\n".join(memory.similar_names(name, caller.scopes))
        return f"No facts about {inline(name)}." + (f" Known are:\n{agent_frame.framed(clean(near))}" if near else "")
    return f"{agent_frame.framed(entity_text(found))}\nscopes: {', '.join(caller.scopes)}"


def resource(caller: Caller, uri: str) -> str:
    """Return the resource at a URI of this server; raises UsageError for an unknown URI."""
    from urllib.parse import unquote

    if uri == mcp_tools.CORE_URI:
        return core(caller)
    if uri.startswith(mcp_tools.ENTITY_URI):
        return entity(caller, unquote(uri.removeprefix(mcp_tools.ENTITY_URI)))
    if uri.startswith(mcp_tools.NOTE_URI):
        return get(caller, {"path": unquote(uri.removeprefix(mcp_tools.NOTE_URI))})
    raise UsageError("There is no such resource.", "memory://core, memory://entity/NAME and memory://note/PATH are.")


def inline(text: str) -> str:
    return agent_frame.defused(clean(text))


TOOLS: Mapping[str, Callable[[Caller, Arguments], str]] = {
    "memory_search": search, "memory_get": get, "memory_store": store, "memory_reflect": reflect,
    "memory_status": status, "memory_edit": edit,
}  # fmt: skip
