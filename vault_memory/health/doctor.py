"""Checks vault, index and agents for problems and says how to fix them (doctor); checks the notes' format (lint)."""

import difflib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault_memory.embedding.builtin_embedder import builtin
from vault_memory.errors import BusyError, IndexUnusableError, RemoteError, UsageError, VaultMemoryError
from vault_memory.health import status
from vault_memory.integrations import hook_log, install, settings_edit, settings_paths
from vault_memory.markdown.entities import link_name
from vault_memory.markdown.note import Problem
from vault_memory.reflect.model_writer import configured_writer
from vault_memory.search.names import Names
from vault_memory.sessions import projects
from vault_memory.startup import __version__
from vault_memory.store import embedding_rows, journal, note_queries, schema
from vault_memory.store.content_digest import damage
from vault_memory.store.view import Store, View
from vault_memory.text.output import plural
from vault_memory.text.scope_syntax import folder_key
from vault_memory.vault import locations, safe_files
from vault_memory.vault.walk import Walk

if TYPE_CHECKING:
    from vault_memory.config import Config
    from vault_memory.embedding.configured_embedder import RemoteEmbedder
    from vault_memory.federation import Federation
    from vault_memory.indexing.index_file import Freshness
    from vault_memory.indexing.indexer import Progress
    from vault_memory.memory import Memory


@dataclass(frozen=True)
class Check:
    """The result of one check; `level` is ok, notice, warning or error; `fix` says what to do about it."""

    name: str
    level: str
    message: str
    fix: str = ""


def doctor(memory: "Federation", fix: bool = False) -> list[Check]:
    """Check everything that commonly goes wrong; `fix` repairs derived data and never touches a note."""
    done = list(_repair(memory)) if fix else []
    return [*_checks(memory), *done]


def _repair(memory: "Federation") -> Iterator[Check]:
    """Rebuild an unusable index; delete the vectors of a model that has changed."""
    with suppress(VaultMemoryError):  # the checks report what is wrong
        if any(check.level == "error" for check in _index(memory, memory.vault.walk())):
            memory.index(rebuild=True)
            yield Check("index", "ok", "was unusable; rebuilt")
        elif (remote := memory.search.remote) and _model_change(memory, remote):
            path = memory.index_file.path
            with locations.writer_lock(path, 5.0), Store.opened(path) as store:
                embedding_rows.drop_space(store, embedding_rows.all_spaces(store)[remote.id])
            yield Check("vectors", "ok", f"vectors of {remote.id} were deleted")


def _checks(memory: "Federation") -> Iterator[Check]:
    """Run all checks; one that raises is reported as an error and does not stop the others."""
    walk = memory.vault.walk()
    for name, part in _PARTS.items():
        try:
            yield from part(memory, walk)
        except VaultMemoryError as error:
            yield Check(name, "error", str(error), error.next_step)


def _notes(memory: "Federation", walk: Walk) -> Iterator[Check]:
    holds = f"{plural(len(walk.notes), 'note')} in {plural(walk.folders, 'folder')}"
    yield Check("vault", "ok", f"{memory.vault.root}: {holds}")
    for problem in walk.skipped:
        yield Check("files", "notice", f"{problem.path}: {problem.message}")


def _settings(memory: "Federation", walk: Walk) -> Iterator[Check]:
    config = memory.config
    for sentence in config.problems:
        yield Check("settings", "error", sentence, "Fix it: until then other commands refuse to run.")
    for sentence in config.ignored:
        yield Check("settings", "warning", sentence, "Move it to your own settings file, if you trust it.")
    for sentence in config.unknown:
        yield Check("settings", "warning", sentence, "It has no effect: correct its name or delete it.")
    if clash := memory.vault.layout.clash:
        yield Check("settings", "warning", clash, "Give one of them another name below [vault] in its settings.")
    # Scopes that may cover more or less than intended: folders that do not exist, names that several projects share.
    paths = [f"{folder_key(path)}/" for path in walk.files] if config.folder_scopes else []
    for folder, scope in config.folder_scopes:
        if folder and not any(path.startswith(f"{folder}/") for path in paths):
            what = f"`scopes.{folder}` ({scope}) names a folder without notes"
            yield Check("scopes", "notice", what, "Correct the name if it is misspelt.")
    for name, found in projects.list_shared_names(config, os.environ):
        others = ", ".join(f"{folder} is project:{name}-{projects.hash_folder(folder)}" for folder in found[1:])
        what = f"{len(found)} folders are called {name}: {found[0]} is project:{name}, {others}"
        yield Check("scopes", "notice", what, "Say in `[projects]` of your own settings which project each is.")


def _places(memory: "Federation", walk: Walk) -> Iterator[Check]:
    """Where the index is, and whether the file system allows the safest way of writing notes."""
    path, why = memory.index_file.path, memory.index_file.place
    if locations.is_writable(path):
        where = f"in the vault: {path}" if why == "vault" else f"at {path}: {why}"
        yield Check("place", "ok", f"the index is {where}")
    else:
        level, what = ("warning", "it cannot be updated") if path.exists() else ("error", "there can be none")
        cannot = f"the index folder {path.parent} cannot be written: {what}"
        mend = "Set `index.path` in your own settings file to a folder that can be written."
        yield Check("place", level, cannot, mend)
    folder = locations.derived(memory.vault.root, "tmp")  # create nothing in a vault that was never written to
    with suppress(OSError):
        if folder and folder.is_dir() and not safe_files.can_exchange(folder):
            what = "this file system cannot swap two files in one step: a save during a write is noticed late"
            yield Check("writing", "notice", what, "Save and close a note before `retain` or `reflect` writes to it.")


def _index(memory: "Federation", walk: Walk) -> Iterator[Check]:
    if not memory.index_file.path.exists():
        yield Check("index", "notice", "there is no index yet", "Run `memory index`, or just ask.")
    elif why := memory.index_file.unusable():
        yield Check("index", "error", f"the index cannot be used: {why}", "Run `memory index`.")
    else:
        yield _inspect_index(memory)


def _inspect_index(memory: "Federation") -> Check:
    try:
        with Store.opened(memory.index_file.path) as store:
            if store.is_frozen:
                frozen = f"it answers as it is, and cannot be updated or checked: {schema.CANNOT_WRITE}"
                return Check("index", "warning", frozen, "Free some space.")
            verdict = damage(store)
    except BusyError:
        busy = "another program is writing the index, so it was not checked"
        return Check("index", "notice", busy, "Try again in a moment.")
    except IndexUnusableError as error:
        verdict = str(error)
    if verdict:
        return Check("index", "error", f"the index is damaged: {verdict}", "Run `memory index --rebuild`.")
    state = status.index_status(memory)
    if state["pending"]:
        return Check("index", "notice", f"sound, but {plural(state['pending'], 'note')} behind", "Run `memory index`.")
    held = (plural(state[f"{noun}s"], noun) for noun in ("note", "passage", "fact"))
    return Check("index", "ok", f"sound and up to date: {', '.join(held)}")


def _reflect(memory: "Federation", walk: Walk) -> Iterator[Check]:
    """What the last reflect could not write, since nobody watches it at night."""
    last = status.last_reflect(memory)
    if last and (last.skipped or not last.ok):
        what = "failed" if not last.ok else f"skipped {plural(last.skipped, 'page')}; the first"
        when = f"the last one, {last.at.astimezone():%Y-%m-%d %H:%M},"
        yield Check("reflect", "warning", f"{when} {what}: {last.why}", last.next_step)


def _embedder(memory: "Federation", walk: Walk) -> Iterator[Check]:
    yield Check("embedder", "ok", f"{builtin().id}, {builtin().dimensions} dimensions")
    yield Check("sqlite-vec", "ok", embedding_rows.vector_version())


def _models(memory: "Federation", walk: Walk) -> Iterator[Check]:
    """The configured model servers: are they reachable, with model and key, and do the vectors fit the index?"""
    remote, reranker = memory.search.remote, memory.search.reranker
    if remote:
        yield _ask_server("model", remote.id, lambda: _embedding_model(memory, remote))
    if reranker:
        yield _ask_server("rerank", memory.config.rerank_model, reranker.check, "is there")
    memory.search.close()
    if writer := configured_writer(memory.config):
        yield _ask_server("writer", writer.method, writer.check, "is available and writes summaries")


def _ask_server(name: str, model: str, ask: Callable[[], Check | None], answer: str = "") -> Check:
    try:
        return ask() or Check(name, "ok", f"{model} {answer}")
    except RemoteError as error:
        return Check(name, "warning", f"{model}: {error}", error.next_step)


def _embedding_model(memory: "Federation", remote: "RemoteEmbedder") -> Check:
    context_tokens = remote.find_model()
    if changed := _model_change(memory, remote):
        from vault_memory.embedding.configured_embedder import AFTER_MODEL_CHANGE

        return Check("model", "error", changed, AFTER_MODEL_CHANGE)
    key = f", key in ${remote.endpoint.key_env}" if remote.endpoint.key_env else ""
    reads = f", reads {context_tokens:,} tokens" if context_tokens else ""
    return Check("model", "ok", f"{remote.id}{reads}, {remote.where}{key}")


def _is_usable(memory: "Federation") -> bool:
    with suppress(VaultMemoryError):
        return memory.has_index()
    return False


def _model_change(memory: "Federation", remote: "RemoteEmbedder") -> str:
    """How the configured model differs from the one that made the index's vectors, or ""."""
    from vault_memory.embedding.configured_embedder import recognise

    if not _is_usable(memory):
        remote.probe()
        return ""
    with Store.opened(memory.index_file.path) as store:
        return recognise(store, remote)


def _vectors(memory: "Federation", walk: Walk) -> Iterator[Check]:
    """Vectors that are still to be made, or cannot be made."""
    if not _is_usable(memory):
        return
    state = status.index_status(memory)
    for each in (each for each in state["embedders"] if each["configured"]):
        name, passages = each["id"], f"{state['passages']:,} passages"
        if each["passages"] + each["without"] < state["passages"]:
            missing = f"{name} has vectors for {each['passages']:,} of {passages}"
            yield Check("vectors", "notice", missing, "Run `memory index`.")
        if each["without"]:
            lacks = f"{name} has no usable vector for {each['without']:,} of {passages}"
            again = "They are found by words only; `memory index --rebuild` asks the model again."
            yield Check("vectors", "notice", lacks, again)


def forget_sessions(memory: "Federation") -> Check:
    """Delete the texts of agents whose sessions were switched off; raises UsageError if there are none."""
    from vault_memory.sessions import session_root

    left = session_root.unwanted_texts(memory.config, os.environ)
    if not left.texts:
        on = ", ".join(memory.config.sessions_tools)
        why = f"Those of {on} are switched on." if on else "None are kept."
        raise UsageError("There are no texts of sessions that are switched off.", why)
    session_root.forget(left.tools, memory.config, os.environ)
    memory.refresh_sessions()
    return Check("sessions", "ok", f"texts of {plural(left.texts, 'session')} were deleted")


# --- other sources ---------------------------------------------------------------------------------------------------


def _sessions(memory: "Federation", walk: Walk) -> Iterator[Check]:
    """Texts of agents' sessions: how many, missing source folders, and texts left from switched-off agents."""
    from vault_memory.sessions import readers, session_root

    if found := status.sessions(memory):
        for tool in found["tools"]:
            folder = readers.tool_folder(tool, memory.config, os.environ)
            if not folder.is_dir():
                what = f"there is no folder {folder}, so nothing of {tool} is read"
                yield Check("sessions", "notice", what, "Correct `sessions` in your settings if it is elsewhere.")
        held = f"{plural(found['transcripts'], 'session')} in {found['folder']} ({found['bytes'] / 1e6:.1f} MB)"
        behind = Check("sessions", "notice", f"{held}, {found['pending']:,} behind", "Run `memory index`.")
        yield behind if found["pending"] else Check("sessions", "ok", held)
    if (left := session_root.unwanted_texts(memory.config, os.environ)).texts:
        held = f"{plural(left.texts, 'session')} of {', '.join(left.tools)} ({left.bytes / 1e6:.1f} MB)"
        kept = f"texts of {held} are kept in {left.folder}, though switched off"
        only = "some may be the only copy, for tools delete their transcripts"
        yield Check("sessions", "notice", kept, f"`memory doctor --forget sessions` deletes them; {only}.")


def _further_vaults(memory: "Federation", walk: Walk) -> Iterator[Check]:
    for each in status.further(memory):
        where = f"{each['name']} ({each['path']})"
        if each["why_not"]:
            why = f"{each['name']} cannot be searched: {each['why_not']}"
            yield Check("roots", "warning", why, "Correct `roots`, or mount it.")
        elif each["pending"] or not each["fresh"]:
            behind = f"is {plural(each['pending'], 'note')} behind" if each["pending"] else "has no index yet"
            yield Check("roots", "notice", f"{where} {behind}", "Run `memory index`.")
        else:
            held = f"{plural(each['notes'], 'note')}, {each['scope']}"
            yield Check("roots", "ok", f"{where} is up to date: {held}")


Part = Callable[["Federation", Walk], Iterable[Check]]

_PARTS: Mapping[str, Part] = {
    "files": _notes, "settings": _settings, "place": _places, "index": _index, "reflect": _reflect,
    "embedder": _embedder, "models": _models, "vectors": _vectors, "sessions": _sessions, "roots": _further_vaults,
}  # fmt: skip
"""Part of a vault → the function that checks it; each runs independently of the others."""


def daemon_checks(health: Mapping[str, Any] | None) -> Iterator[Check]:
    """Check the daemon by its answer to `health` (None if none is running)."""
    if health is None:
        yield Check("daemon", "notice", "not running; every command scans the vault itself", "Run `memory watch`.")
        return
    yield Check("daemon", "ok", f"process {health['pid']} answers at {health['socket']}; its log is {health['log']}")
    if health["version"] != __version__:
        what = f"the daemon is version {health['version']}, this is {__version__}, so it is not used"
        yield Check("version", "warning", what, "Restart it.")
    if health["why"]:
        yield Check("watching", "warning", f"it checks every few seconds: {health['why']}", health["mend"] or "")
    if health["trouble"]:
        what = f"the index cannot be updated: {health['trouble']['what']}"
        yield Check("indexing", "error", what, health["trouble"]["mend"])
    if health["settings"]:
        yield Check("settings", "warning", f"the daemon still uses its old ones: {health['settings']}", "Fix the file.")


# --- agents: which vault each uses, whether its program exists, whose hooks failed -----------------------------------

FAILURE_DAYS = 7
"""Older failures are not mentioned."""


def agent_checks(config: "Config", folder: Path, environ: Mapping[str, str]) -> Iterator[Check]:
    """Check each agent with an installed vault, as seen from a working folder."""
    project = projects.checkout(folder) or folder
    program = settings_paths.Program((settings_edit.NAME,), config.hooks_seconds)
    for agent in settings_paths.AGENTS:
        seen: set[str] = set()
        for scope in settings_paths.SCOPES:
            try:
                target = settings_paths.target(agent, settings_paths.InstallPlace(scope, project, environ), program)
            except UsageError:
                continue  # this agent has no such scope
            files = {os.path.realpath(settings.file) for settings in target.settings}
            commands = [] if files & seen else install.find_commands(target)  # at home both scopes use the same files
            seen |= files
            if commands:
                in_project = scope == "project"
                name = settings_paths.NAMES[agent] + (" in this project" if in_project else "")
                again = f"`memory install {agent}{' --scope project' if in_project else ''}`"
                amiss = list(_installation_checks(name, again, commands, config.vault))
                yield from amiss or [Check("agents", "ok", f"{name} uses this vault")]
    since = datetime.now(UTC) - timedelta(days=FAILURE_DAYS)
    failed = [line for line in hook_log.last_failures(str(config.vault), environ) if line.at >= since]
    if failed:
        at, who, how, why = failed[-1]
        times = f", {len(failed)} times in {FAILURE_DAYS} days" if len(failed) > 1 else ""
        faster = "`memory service install` makes hooks faster. " if how == hook_log.TOO_LATE else ""
        log = hook_log.folder(environ) / hook_log.NAME
        what = f"{who} last failed on {at.astimezone():%Y-%m-%d %H:%M}{times}: {why}"
        yield Check("hooks", "warning", what, f"{faster}See {log} for more.")


def _installation_checks(name: str, again: str, commands: Sequence[Sequence[str]], mine: Path) -> Iterator[Check]:
    """Check the programs and vaults that an agent's settings name; `again` is the command that reinstalls it."""

    def in_a_line(path: object) -> str:  # a project's file is untrusted: it could imitate a line of our output
        return " ".join(str(path).split())

    for program in sorted({words[0] for words in commands}):
        if os.path.isabs(program) and not os.access(program, os.X_OK):
            what = f"{name} starts {in_a_line(program)}, which does not exist"
            yield Check("agents", "warning", what, f"{again} sets the program you are running now.")
    for vault in sorted({settings_edit.find_vault(words) for words in commands} - {""}):
        if not os.path.isdir(vault):
            what = f"{name} uses the vault {in_a_line(vault)}, which does not exist"
            yield Check("agents", "warning", what, f"Mount its drive, or switch to this vault with {again}.")
        elif os.path.realpath(vault) != os.path.realpath(mine):
            what = f"{name} uses the vault {in_a_line(vault)}, not this one"
            yield Check("agents", "notice", what, f"{again} switches it to this one.")


# --- lint ------------------------------------------------------------------------------------------------------------


def lint(memory: "Memory", progress: "Progress | None" = None) -> list[Problem]:
    """Every problem with the notes' format: stored ones, skipped files, names that look misspelt, forgotten facts."""

    def problems(view: View, freshness: "Freshness") -> list[Problem]:
        found = [Problem(*row) for row in note_queries.note_problems(view)] + memory.vault.walk().skipped
        found += freshness.report.failed if freshness.report else []
        return sorted({*found, *_doubtful_names(view), *_forgotten_again(view), *_replacing_none(view)})

    return memory.index_file.read(problems, (), progress)


def _doubtful_names(view: View) -> Iterator[Problem]:
    """Names that nearly match a page's (suggested, never resolved), and aliases that several pages claim."""
    names = Names(view)
    pages = sorted({slug for _, slug, *_ in note_queries.page_names(view)})
    for text, slug, path, line in note_queries.names_mentioned_once(view):
        for close in difflib.get_close_matches(slug, pages, n=1, cutoff=0.84) if len(slug) > 3 else ():
            shown = names.shown(names.canonical(close))
            yield Problem(path, line, f"`{text}` looks like `{shown}`: are they the same?")
    for slug, paths in names.claimed.items():
        for path in paths:
            others = " and ".join(other for other in paths if other != path)
            what = f"the alias `{slug}` is claimed by {others} too: `@{slug}` means none of them"
            yield Problem(path, 1, what, "warning")


def _forgotten_again(view: View) -> Iterator[Problem]:
    """Forgotten facts that are in a note again; recall finds them, because the notes are authoritative."""
    if days := journal.forgotten(view):
        for path, line, text in note_queries.fact_texts(view):
            if day := days.get(journal.passage_key(text)):
                what = f"forgotten on {day}, and here again: delete it, or `memory retain` it to keep it"
                yield Problem(path, line, what)


def _replacing_none(view: View) -> Iterator[Problem]:
    """Facts with a `supersedes=` that names no fact: nothing is replaced."""
    named = {(name, block.casefold()) for path, block in note_queries.block_ids(view)
             for name in (path, link_name(path).casefold())}  # fmt: skip
    for path, line, slot in note_queries.replaced_ids(view):
        note, _, block = slot[1:].rpartition("#")
        if (note or path, block) not in named:
            yield Problem(path, line, f"`supersedes` names no fact: there is none with `^{block}`", "warning")
