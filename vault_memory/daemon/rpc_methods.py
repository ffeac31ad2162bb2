"""The daemon's RPC methods: each parses its parameters, calls a Memory and returns a document.

Parameters and documents are those of the commands; an invalid parameter raises UsageError.
"""

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from vault_memory.errors import UsageError
from vault_memory.federation import Federation
from vault_memory.rendering import recall as printing
from vault_memory.rendering.common import index_state_document, schema
from vault_memory.search import recall_options
from vault_memory.search.recall_options import OPTIONS

if TYPE_CHECKING:
    from vault_memory.indexing.indexer import Progress

Params = Mapping[str, Any]
Document = dict[str, Any]


class Method(NamedTuple):
    """A method's implementation, its parameters, and whether it may take long and so runs apart from questions."""

    run: "Callable[[Federation, Params, Progress | None], Document]"
    takes: frozenset[str] = frozenset()
    is_slow: bool = False


def call(name: str, memory: Federation, params: Params, progress: "Progress | None" = None) -> Document:
    """Run a method; raises UsageError for an unknown parameter, and whatever `progress` raises.

    An exception from `progress` ends slow work between two notes and leaves the index consistent.
    """
    method = METHODS[name]
    if unknown := sorted(params.keys() - method.takes):
        known = ", ".join(sorted(method.takes))
        raise UsageError(f"`{unknown[0]}` is not a parameter of this.", f"Known are: {known}.")
    return method.run(memory, params, progress)


_NO_OPTIONS = frozenset({"as_text", "no_journal", "self_contained"})
"""The parameters of recall that the command line does not have."""


def _recall(memory: Federation, params: Params, progress: "Progress | None") -> Document:
    """Return the `recall@1` document; `as_text` adds the same as Markdown and the notes to print with it.

    `self_contained` drops results that mean nothing by themselves; `no_journal` keeps the question out of the journal.
    """
    started = time.perf_counter()
    as_text = recall_options.flag(params, "as_text")
    options = {key: value for key, value in params.items() if key not in _NO_OPTIONS}
    asked = recall_options.build(options, memory.config, as_text, recall_options.flag(params, "self_contained"))
    answer = memory.answer(asked, progress, journal=not recall_options.flag(params, "no_journal"))
    document = printing.recall_document(answer) | {"seconds": round(time.perf_counter() - started, 4)}
    if as_text:
        document["before"], document["notes"] = printing.recall_notes(answer)
        document["text"] = printing.recall_text(document["results"])
        document["left_out"] = printing.left_out_notes(answer.omitted)
        document["matched"], document["links"] = list(answer.matched), memory.config.terminal_links
    return document


def _context(memory: Federation, params: Params, progress: "Progress | None") -> Document:
    """Return the `context@1` document; with a `patience` of 0 it neither waits nor builds an index."""
    from vault_memory.context.bundle import parse_request

    patience = params.get("patience", 1.0)
    if isinstance(patience, bool) or not isinstance(patience, int | float):
        raise UsageError("`patience` must be a number of seconds.", "For example 0.")
    wanted = parse_request({key: value for key, value in params.items() if key != "patience"}, memory.config)
    return printing.context_document(memory.bundle(wanted, patience, progress), wanted)


def _status(memory: Federation, params: Params, progress: "Progress | None") -> Document:
    from vault_memory.health.status import status

    return status(memory, recall_options.scopes(params))


def _get(memory: Federation, params: Params, progress: "Progress | None") -> Document:
    from vault_memory.rendering.notes import get_document

    lines = None if params.get("lines") is None else _text(params, "lines")
    most, scopes = recall_options.count(params, "max_tokens"), recall_options.scopes(params)
    return get_document(memory.open_note(_text(params, "path"), lines, most, scopes)[0])


def _entity(memory: Federation, params: Params, progress: "Progress | None") -> Document:
    from vault_memory.rendering.notes import entity_document

    name = _text(params, "name")
    profile = memory.entity(name, progress, recall_options.scopes(params))
    return entity_document(profile, name) | index_state_document(memory.index_state)


def _entities(memory: Federation, params: Params, progress: "Progress | None") -> Document:
    from vault_memory.rendering.notes import entities_document

    rows = memory.entities(progress, recall_options.scopes(params))
    return entities_document(rows) | index_state_document(memory.index_state)


def _opinions(memory: Federation, params: Params, progress: "Progress | None") -> Document:
    from vault_memory.rendering.notes import opinions_document

    entity = params.get("entity") and _text(params, "entity")
    held = memory.opinions(entity or None, progress, recall_options.scopes(params))
    return opinions_document(held) | index_state_document(memory.index_state)


def _retain(memory: Federation, params: Params, progress: "Progress | None") -> Document:
    from vault_memory.rendering.notes import retain_document

    kind, scope, day = (_text(params, key) if key in params else "" for key in ("kind", "scope", "date"))
    done = memory.retain(
        _text(params, "text"), kind=kind or "world", entities=recall_options.texts(params, "entity"),
        confidence=params.get("confidence"), date=day, scope=scope,
    )  # fmt: skip
    return retain_document(done) | {"dry_run": False}


def _reflect(memory: Federation, params: Params, progress: "Progress | None") -> Document:
    from vault_memory.reflect.job import Steps
    from vault_memory.rendering.reflect import reflect_document

    flags = {name: recall_options.flag(params, name) for name in ("dry_run", "force", "apply_core")}
    since, now = (None if params.get(name) is None else _text(params, name) for name in ("since", "now"))
    # Writing always runs to completion; only indexing and planning can be interrupted.
    steps = Steps(progress, progress)
    done = memory.reflect(since=since, now=now, only=recall_options.texts(params, "only"), steps=steps, **flags)
    return reflect_document(done)


def _gating_scalar(memory: Federation, params: Params, progress: "Progress | None") -> Document:
    turns, scopes = recall_options.texts(params, "turns"), recall_options.scopes(params)
    return schema("gating_scalar") | memory.gating_scalar(_text(params, "text"), turns=turns, scopes=scopes)._asdict()


def _index(memory: Federation, params: Params, progress: "Progress | None") -> Document:
    from vault_memory.rendering.status import index_document

    paths = recall_options.texts(params, "paths")
    done = memory.index(paths, rebuild=recall_options.flag(params, "rebuild"), progress=progress)
    return index_document(done, None, None if paths else memory.refresh_sessions())


def _memory_method(memory: Federation, params: Params, progress: "Progress | None") -> Document:
    """Call the method `name` of Memory with `arguments` for a `DaemonMemory`; `value` is its result as JSON."""
    from vault_memory.daemon.daemon_memory import run

    arguments = params.get("arguments", {})
    if not isinstance(arguments, dict):
        raise UsageError("`arguments` must be an object.", "Name each argument as the method does.")
    return {"value": run(memory, _text(params, "name"), arguments)}


METHODS: Mapping[str, Method] = {
    "recall": Method(
        _recall, _NO_OPTIONS.union(OPTIONS, (option.replace("-", "_") for option in OPTIONS)),
    ),
    "context": Method(_context, frozenset({"prompt", "budget", "scope", "format", "source", "without", "without_core",
                                          "unasked", "recent_days", "summaries", "project", "also", "now",
                                          "patience"})),
    "status": Method(_status, frozenset({"scope"})),
    "get": Method(_get, frozenset({"path", "lines", "max_tokens", "scope"})),
    "entity": Method(_entity, frozenset({"name", "scope"})),
    "entities": Method(_entities, frozenset({"scope"})),
    "opinions": Method(_opinions, frozenset({"entity", "scope"})),
    "retain": Method(_retain, frozenset({"text", "kind", "entity", "confidence", "scope", "date"}), is_slow=True),
    "reflect": Method(_reflect, frozenset({"since", "now", "only", "dry_run", "force", "apply_core"}), is_slow=True),
    "gating_scalar": Method(_gating_scalar, frozenset({"text", "turns", "scope"})),
    "index": Method(_index, frozenset({"paths", "rebuild"}), is_slow=True),
    "read": Method(_memory_method, frozenset({"name", "arguments"})),
    "write": Method(_memory_method, frozenset({"name", "arguments"}), is_slow=True),
}  # fmt: skip
"""All methods but `health` and `shutdown`, which the daemon handles itself."""


def _text(params: Params, name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"`{name}` must be text.", "Give it as text.")
    return value
