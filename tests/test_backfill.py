"""Configured embedders in an index: backfill, one space a question, switching, what a server can do wrong."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from model_server import Model, ModelServer, free_port, model_server
from vaults import command, fill, index_digest, memory, opened, put, run

from vault_memory import spaces
from vault_memory.answer import Answer, Request
from vault_memory.memory import Memory
from vault_memory.store import Store

NOTES = {
    "memory/2025-11-10.md": "# Monday\n\nThe boat engine was serviced by the harbour.\n\nBread with rye and walnuts.\n",
    "memory/2025-11-12.md": "# Wednesday\n\nThe dentist found nothing.\n\n- a ladder for the attic\n- paint for the door\n",
    "Projects/Tern.md": "# Tern\n\nThe tile index is kept on two nodes.\n\n## Costs\n\nRent is due on the first.\n",
}


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with model_server() as running:
        yield running


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return fill(tmp_path / "Notes", NOTES)


def with_ollama(root: Path, server: ModelServer, **settings: object) -> Memory:
    """A Memory whose embedder is the server's."""
    url = f"http://{server.host}"
    return memory(root, embedding_provider="ollama", embedding_url=url, **{"embedding_batch": 4, **settings})


def ask(of: Memory, query: str, **more: Any) -> Answer:
    request = Request(query, datetime(2025, 12, 1, 9, tzinfo=UTC), **more)
    (answer,) = of.recall([request], keep=False)
    return answer


def whys(answer: Answer) -> str:
    return " | ".join(f"{what}: {why}" for what, why in answer.degraded)


def passages(of: Memory) -> int:
    with opened(of) as store:
        return int(store.one("SELECT count(*) FROM passage"))


# --- the path from notes to answers ------------------------------------------------------------------------------------


def test_backfill_gives_every_passage_a_vector_and_recall_uses_them(vault: Path, server: ModelServer) -> None:
    mine = with_ollama(vault, server)
    mine.index()
    filled = mine.backfill()
    assert filled and filled.stopped is None
    assert (filled.done, filled.waiting, filled.passages) == (passages(mine), 0, passages(mine))
    answer = ask(mine, "engine of the boat")
    assert answer.embedder == "ollama/nomic-embed-text@1"
    assert not answer.degraded
    assert answer.results[0].content == "The boat engine was serviced by the harbour."


def test_passages_and_questions_get_the_models_prefixes(vault: Path, server: ModelServer) -> None:
    mine = with_ollama(vault, server)
    mine.index()
    mine.backfill()
    assert all(text.startswith("search_document: ") for text in server.texts)
    server.requests.clear()
    ask(mine, "engine of the boat")
    assert server.texts == ["search_query: engine of the boat"]


def test_a_passage_is_embedded_with_those_beside_it_in_its_section(vault: Path, server: ModelServer) -> None:
    mine = with_ollama(vault, server, embedding_document_prefix="")
    mine.index()
    mine.backfill()
    assert "a ladder for the attic\nThe dentist found nothing.\npaint for the door" in server.texts
    assert "The tile index is kept on two nodes." in server.texts  # what stands under the next heading is not beside it
    assert "Tern" in server.texts  # a heading stands alone
