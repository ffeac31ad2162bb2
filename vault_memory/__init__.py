"""vault-memory: a long-term memory kept in Markdown files you own.

from vault_memory import Memory

with Memory("~/Notes") as memory:
    for result in memory.recall("what does Peter prefer?", k=5).results:
        print(result.source, result.content)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vault_memory.capture.judge import CaptureItem, CaptureReport
    from vault_memory.capture.proposals_page import Proposal
    from vault_memory.context.bundle import Bundle
    from vault_memory.daemon.daemon_memory import DaemonMemory
    from vault_memory.embedding.configured_embedder import BackfillReport
    from vault_memory.errors import (
        BusyError,
        ConflictError,
        IndexUnusableError,
        LostError,
        NotRunningError,
        NoVaultError,
        RefusedError,
        RemoteError,
        UsageError,
        VaultError,
        VaultMemoryError,
    )
    from vault_memory.federation import Federation
    from vault_memory.indexing.indexer import Report
    from vault_memory.memory import Memory
    from vault_memory.reflect.job import ReflectReport
    from vault_memory.reflect.opinion_query import Opinion
    from vault_memory.salience.admission import Gating
    from vault_memory.search.answer import Answer, Result
    from vault_memory.search.entity_profile import EntityProfile, EntityRow, FactLine, KeptFact
    from vault_memory.search.get import Excerpt
    from vault_memory.startup import __version__
    from vault_memory.store.journal import JournalEntry
    from vault_memory.vault.undo_history import UndoReport
    from vault_memory.write.forget import ForgetResult, Removal
    from vault_memory.write.retain import RetainResult

__all__ = [
    "Answer", "BackfillReport", "Bundle", "BusyError", "CaptureItem", "CaptureReport", "ConflictError",
    "DaemonMemory", "EntityProfile", "EntityRow", "Excerpt", "FactLine", "Federation", "ForgetResult", "Gating",
    "IndexUnusableError", "JournalEntry", "KeptFact", "LostError", "Memory", "NoVaultError", "NotRunningError",
    "Opinion", "Proposal", "ReflectReport", "RefusedError", "RemoteError", "Removal", "Report", "Result",
    "RetainResult", "UndoReport", "UsageError", "VaultError", "VaultMemoryError", "__version__",
]  # fmt: skip

_MODULES = {
    "Answer": "search.answer", "BackfillReport": "embedding.configured_embedder", "Bundle": "context.bundle",
    "CaptureItem": "capture.judge", "CaptureReport": "capture.judge", "DaemonMemory": "daemon.daemon_memory",
    "EntityProfile": "search.entity_profile", "EntityRow": "search.entity_profile", "Excerpt": "search.get",
    "FactLine": "search.entity_profile", "Federation": "federation", "ForgetResult": "write.forget",
    "Gating": "salience.admission",
    "JournalEntry": "store.journal", "KeptFact": "search.entity_profile", "Memory": "memory",
    "Opinion": "reflect.opinion_query", "Proposal": "capture.proposals_page", "ReflectReport": "reflect.job",
    "Removal": "write.forget", "Report": "indexing.indexer", "Result": "search.answer", "RetainResult": "write.retain",
    "UndoReport": "vault.undo_history", "__version__": "startup",
}  # fmt: skip
"""Public name → the module that defines it; names not listed come from `errors`. Each is imported on first access, so
that the command line starts without any of them."""


def __getattr__(name: str) -> Any:  # noqa: ANN401 - any of the public names
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES.get(name, 'errors')}"), name)
    return value


def __dir__() -> list[str]:
    return __all__
