"""Other vaults at a prompt: asked from the index they have, in time, and what cannot be asked is said."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from daemons import start_daemon, until
from hooks import asked, logged, settings
from model_server import Model, model_server
from vaults import fill, memory, snapshot

from vault_memory.config import load
from vault_memory.context.bundle import ContextRequest, bundle
from vault_memory.federation import Federation


@pytest.fixture
def work(tmp_path: Path, data: Path) -> Path:
    """A further vault that the settings name, beside one that knows nothing of its subject; neither is indexed."""
    fill(tmp_path / "Main", {"a.md": "# Boats\n\nThe boat is blue.\n"})
    root = fill(tmp_path / "Work", {"z.md": "# Quokka\n\nThe quokka server lives in rack 7 of the cellar.\n"})
    settings(f'[roots]\nvaults = ["{root}"]\n')
    return root


@pytest.fixture
def main(work: Path, tmp_path: Path) -> Path:
    return tmp_path / "Main"


def index_all(main: Path) -> Federation:
    federation = Federation(load(str(main), os.environ))
    list(federation.refresh_further_vaults())
    memory(main).index()
    return federation


QUOKKA = "where is the quokka server?"


def test_a_further_vault_is_asked_too(work: Path, main: Path) -> None:
    index_all(main)
    before = snapshot(work)
    said = asked(main, "s1", QUOKKA, as_process=True)
    assert "rack 7" in said and "roots/work/z.md" in said
    assert asked(main, "s1", QUOKKA, as_process=True) == "" and snapshot(work) == before  # not twice
    daemon = start_daemon(main).settled()
    assert "rack 7" in asked(main, "s2", QUOKKA, as_process=True)
    daemon.kill()


def test_a_further_vault_of_another_project_is_not(work: Path, main: Path) -> None:
    (work / "z.md").write_text("---\nscope: global\n---\n# Quokka\n\nThe quokka server opens itself.\n")
    settings(f'[roots]\nvaults = [{{path = "{work}", scope = "project:secret"}}]\n')
    index_all(main)
    assert asked(main, "s1", QUOKKA, as_process=True) == ""


def test_no_model_is_asked_while_a_prompt_waits(work: Path, main: Path) -> None:
    fill(work, {f"{n}.md": f"# Quokka\n\nThe quokka server was moved {n} times.\n" for n in range(3)})
    with model_server(Model(), Model("qwen3")) as server:
        url = f"http://{server.host}"
        config = replace(
            load(str(main), os.environ), embedding_provider="ollama", embedding_model="nomic-embed-text",
            embedding_url=url, rerank_provider="ollama", rerank_model="qwen3", rerank_url=url,
        )  # fmt: skip
        mine = Federation(config)
        mine.index()
        list(mine.refresh_further_vaults())
        (root,) = mine.further_vaults
        mine.memory_of(root).search.backfill()
        assert server.texts
        server.requests.clear()
        found = bundle(mine, ContextRequest(QUOKKA, core=False, unasked=True), patience=0)
        assert "rack 7" in found.text and server.requests == []
        bundle(mine, ContextRequest(QUOKKA, core=False))
        assert server.asked("/api/embed") and not server.asked("/api/chat")  # reranking is for the own vault


def test_a_further_vault_that_cannot_be_asked_is_said(main: Path, data: Path) -> None:
    memory(main).index()
    assert asked(main, "s1", QUOKKA, as_process=True) == ""
    assert "work has no index that can be used" in logged(data).casefold()
    until(lambda: "rack 7" in asked(main, "s2", QUOKKA, as_process=True))  # it is being built meanwhile


def test_a_further_vault_is_not_brought_up_to_date_while_a_prompt_waits(work: Path, main: Path) -> None:
    federation = index_all(main)
    (work / "z.md").write_text("---\nscope: agent:x\n---\n# Quokka\n\nThe quokka server is a secret.\n")
    found = bundle(federation, ContextRequest(QUOKKA, core=False, unasked=True), patience=0)
    assert found.text == "" and any("work has changed" in why for _, why in found.degraded)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a file that makes its reader wait")
def test_a_vault_that_hangs_keeps_no_other_from_answering(work: Path, main: Path, tmp_path: Path, data: Path) -> None:
    """As on a network drive that is gone: here its index is a pipe that nobody writes to."""
    fill(main, {"b.md": "# Quokka\n\nThe quokka server is painted green.\n"})
    hung = fill(tmp_path / "Hung", {"h.md": "# Quokka\n\nThe quokka server hums.\n"})
    settings(f'[roots]\nvaults = ["{hung}", "{work}"]\n', hooks="seconds = 8")
    federation = index_all(main)
    daemon = start_daemon(main).settled()
    index = federation.memory_of(federation.further_vaults[0]).index_file.path
    index.unlink()
    os.mkfifo(index)
    answer = federation.recall(QUOKKA)
    assert {result.path for result in answer.results} == {"b.md", "roots/work/z.md"}
    assert any("hung did not answer in time" in why for _, why in answer.degraded)
    for session in ("s1", "s2"):
        said = asked(main, session, QUOKKA, as_process=True)
        assert "painted green" in said and "rack 7" in said and "hums" not in said
    daemon.kill()
    assert "rack 7" in asked(main, "s3", QUOKKA, as_process=True)
    assert asked(main, "s3", QUOKKA, as_process=True) == "" and "did not answer in time" in logged(data)
