"""What tests of answers share: one question to a Memory, without a trace in the journal."""

from datetime import UTC, datetime
from typing import Any

from vault_memory.memory import Memory
from vault_memory.search.answer import Answer, Request
from vault_memory.search.recall_options import build

NOON = datetime(2025, 12, 1, 12, tzinfo=UTC)


def ask(of: Memory, query: str, now: datetime = NOON, **fields: Any) -> Answer:
    """The answer to a question with these fields of a Request."""
    (answer,) = of.answers([Request(query, now, **fields)], keep=False)
    return answer


def ask_with(of: Memory, query: str, **options: object) -> Answer:
    """The answer to a question with these options of the command line."""
    (answer,) = of.answers([build({"query": query, **options}, of.config)], keep=False)
    return answer
