"""Memory's methods, executed by a vault's running daemon: arguments and results cross its socket as JSON.

pydantic rebuilds the result types from their annotations; bytes travel as base64.
"""

import functools
import inspect
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from pydantic import ConfigDict, create_model
from pydantic_core import to_jsonable_python

from vault_memory.capture.judge import CaptureReport
from vault_memory.capture.proposals_page import Proposal
from vault_memory.config import load
from vault_memory.context.bundle import Bundle
from vault_memory.daemon import client
from vault_memory.embedding.configured_embedder import BackfillReport
from vault_memory.errors import UsageError
from vault_memory.indexing.indexer import Report
from vault_memory.memory import Memory
from vault_memory.reflect.job import ReflectReport
from vault_memory.reflect.opinion_query import Opinion
from vault_memory.salience.admission import Gating
from vault_memory.search.answer import Answer
from vault_memory.search.entity_profile import EntityProfile, EntityRow, KeptFact
from vault_memory.search.get import Excerpt
from vault_memory.store.journal import JournalEntry
from vault_memory.vault.undo_history import UndoReport
from vault_memory.write.forget import ForgetResult, Removal
from vault_memory.write.retain import RetainResult

P = ParamSpec("P")
R = TypeVar("R")

RESULTS: dict[str, Any] = {}
"""The return type of each method of DaemonMemory."""

WRITES = frozenset({"index", "check", "backfill", "retain", "forget", "reflect", "undo", "capture"})
"""The methods that may take long; the daemon runs them apart from questions."""

WAIT_SECONDS = 3600.0
"""How long a call may take; the slowest are a vault's first index and pages written by a model."""


@functools.cache
def _envelope(type_: Any) -> Any:  # noqa: ANN401 - any type that pydantic can read
    """Return a model whose only field, `value`, is of this type."""
    config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")
    return create_model("Envelope", __config__=config, value=(type_, ...))


def run(memory: Memory, name: str, arguments: Mapping[str, Any]) -> str:
    """Call a method of a Memory on behalf of a DaemonMemory and return JSON. Raises what the method raises."""
    if name not in RESULTS:
        raise UsageError(f"`{name}` is not a method of a Memory.", f"Known are: {', '.join(RESULTS)}.")
    if "planned" in arguments:
        try:
            arguments = {"planned": _envelope(Removal).model_validate_json(arguments["planned"]).value}
        except ValueError as error:  # pydantic's
            raise UsageError("`planned` is not what `plan_forget` said.", "Ask it again.") from error
    method = getattr(memory, name)
    try:
        inspect.signature(method).bind(**arguments)
    except TypeError as error:
        what = f"`{name}` cannot be called like this: {error}."
        raise UsageError(what, "Name each argument as the method does.") from error
    value = method(**arguments)
    text: str = _envelope(RESULTS[name]).model_construct(value=value).model_dump_json()
    return text


def _remote(
    method: Callable[Concatenate[Memory, P], R],
    returns: Any,  # noqa: ANN401 - any type that pydantic can read
) -> Callable[Concatenate["DaemonMemory", P], R]:
    """Return the same method, with the same arguments and result, executed by the daemon."""
    name, signature = method.__name__, inspect.signature(method)
    RESULTS[name] = returns

    def call(self: "DaemonMemory", /, *args: P.args, **kwargs: P.kwargs) -> R:
        values = signature.bind(self, *args, **kwargs).arguments
        del values["self"]
        result: R = _envelope(returns).model_validate_json(self._call(name, values)).value
        return result

    functools.update_wrapper(call, method)
    return call


class DaemonMemory:
    """A vault accessed through its running daemon, including further vaults and sessions, with the interface of Memory.

    `vault` is resolved as by Memory. Every method raises NotRunningError if no daemon of this version and with these
    settings answers, and LostError if it goes away during the call. `progress` and `steps` cannot be passed.
    Thread-safe: each call opens its own connection.
    """

    recall = _remote(Memory.recall, Answer)
    get = _remote(Memory.get, Excerpt)
    open_note = _remote(Memory.open_note, tuple[Excerpt, list[str]])
    entity = _remote(Memory.entity, EntityProfile | None)
    entities = _remote(Memory.entities, list[EntityRow])
    similar_names = _remote(Memory.similar_names, list[str])
    notes_called = _remote(Memory.notes_called, list[str])
    notes_below = _remote(Memory.notes_below, list[str])
    opinions = _remote(Memory.opinions, list[Opinion])
    context = _remote(Memory.context, Bundle)
    index = _remote(Memory.index, Report)
    has_index = _remote(Memory.has_index, bool)
    check = _remote(Memory.check, tuple[str, str])
    backfill = _remote(Memory.backfill, BackfillReport | None)
    retain = _remote(Memory.retain, RetainResult)
    plan_forget = _remote(Memory.plan_forget, Removal)
    forget = _remote(Memory.forget, ForgetResult)
    reflect = _remote(Memory.reflect, ReflectReport)
    undo = _remote(Memory.undo, UndoReport)
    facts = _remote(Memory.facts, list[KeptFact])
    journal = _remote(Memory.journal, list[JournalEntry])
    capture = _remote(Memory.capture, CaptureReport)
    proposals = _remote(Memory.proposals, list[Proposal])
    gating_scalar = _remote(Memory.gating_scalar, Gating)

    def __init__(self, vault: str | Path | None = None) -> None:
        self.config = load(os.path.expanduser(vault) if vault else None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Do nothing: no connection stays open between calls."""

    def _call(self, name: str, values: Mapping[str, Any]) -> str:
        """Have the daemon run a method and return its result as JSON."""
        for option in ("progress", "steps"):
            if values.get(option) is not None:
                raise UsageError(f"`{option}` cannot be passed to a daemon.", "Use a Memory in this process for it.")
        if "planned" in values:
            values = {"planned": _envelope(Removal).model_construct(value=values["planned"]).model_dump_json()}
        params = {"name": name, "arguments": to_jsonable_python(values), "process": client.this_process()}
        method = "write" if name in WRITES else "read"
        answer = client.call(client.address(self.config.vault), method, params, WAIT_SECONDS)
        text: str = answer["value"]
        return text
